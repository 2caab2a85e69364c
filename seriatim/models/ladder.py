"""Rungs, and the way from a name and some settings to a model. Nothing here imports torch.

A rung is a class, the settings that make it this rung, and the recipe it is trained by. A room has
a ladder of them (`Task.rungs`). A mixture is written with a plus: `markov+lstm`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from seriatim.errors import ConfigError, nearest
from seriatim.models.recipe import DEFAULT_MINUTES, TrainingOptions
from seriatim.settings import build, named

if TYPE_CHECKING:
    from seriatim.models.base import Model

LIMITS = {"minutes", "updates", "epochs", "least_updates"}
# settings of training that one may give whatever the model
OF_ANY = {"minutes", "seed", "threads", "device"}
MIXTURE = "seriatim.models.mixture:Mixture"  # the weighted mean of distributions


@dataclass(frozen=True)
class Rung:
    """One row of a ladder.

    `settings` say how it differs from the defaults of its options, `training` how its recipe
    differs from TrainingOptions, `numbers` how again where sequences are numbers, and
    `settings_of_numbers` which settings differ there.
    """

    summary: str
    implementation: str | type[Model]  # module:Class; of a caller's own, the class itself
    options: type
    settings: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    numbers: dict[str, Any] = field(default_factory=dict)
    settings_of_numbers: dict[str, Any] = field(default_factory=dict)
    counts: bool = False  # it counts, and is not trained by gradients
    usual: bool = True  # compared unless models are named
    symbols: bool = False  # it reads symbols and no numbers: not compared on those
    always: bool = False  # there is nothing to learn: measured however little time there is
    needs: str = ""  # the setting without which there is none: compared where that is given
    vectors: bool = False  # rows of equally many numbers are to it one step of as many channels

    @property
    def own(self) -> bool:
        """Whether it is a caller's own, which no run folder can name: see `seriatim.models.own`."""
        return not isinstance(self.implementation, str)

    @property
    def code(self) -> Any:
        """Its class, loaded when it is needed."""
        found = self.implementation
        return named(found) if isinstance(found, str) else found

    def settings_on(self, numbers: bool) -> dict[str, Any]:
        """What makes it this rung, on symbols or on numbers."""
        return self.settings | (self.settings_of_numbers if numbers else {})

    def recipe(self, numbers: bool) -> dict[str, Any]:
        """How it is trained, on symbols or on numbers."""
        return self.training | (self.numbers if numbers else {})


@dataclass(frozen=True)
class Part:
    """A rung with its settings and its recipe, complete and checked."""

    name: str
    rung: Rung
    options: Any
    training: TrainingOptions

    @property
    def counts(self) -> bool:
        """Whether it counts, and is not trained by gradients."""
        return self.rung.counts


def parse(
    spec: str,
    settings: Mapping[str, Any],
    rungs: Mapping[str, Rung],
    numbers: bool = False,
    shared: Iterable[str] = (),
) -> list[Part]:
    """'lstm' or 'markov+lstm', with settings for whichever part has them -> the parts.

    A setting that no part has is an error, which names the nearest one of the parts, or of what is
    `shared` by all models. `numbers` chooses the recipes for sequences of numbers.
    """
    chosen = {name: rung_of(name, rungs) for name in spec.split("+")}
    asked = {key.replace("-", "_"): value for key, value in settings.items()}
    problems = foreign_settings(spec, asked, rungs, shared)
    parts = []
    for name in spec.split("+"):
        try:
            parts.append(part_of(name, chosen[name], asked, numbers))
        except ConfigError as error:
            problems.append(error.what)
    if problems:
        own = any(rung.own for rung in chosen.values())
        do = f"See `seriatim fit TASK {spec.split('+')[0]} --help`" * (not own)
        raise ConfigError("; ".join(dict.fromkeys(problems)), do=do)
    return parts


def rung_of(name: str, rungs: Mapping[str, Rung]) -> Rung:
    """A rung by its name."""
    if name not in rungs:
        raise ConfigError(f"there is no model {name!r}", do=nearest(name, rungs))
    return rungs[name]


def foreign_settings(
    spec: str, asked: Mapping[str, Any], rungs: Mapping[str, Rung], shared: Iterable[str] = ()
) -> list[str]:
    """What is wrong with settings that no part has."""
    known = known_settings(spec, rungs)
    trained = {each.name for each in fields(TrainingOptions)}
    words = {
        key: ", which counts and is not trained"
        if key in trained
        else f": {nearest(key, sorted({*known, *shared}))}"
        for key in asked
        if key not in known
    }
    return [f"{key!r} is not a setting of {spec}{why}" for key, why in words.items()]


def part_of(name: str, rung: Rung, asked: Mapping[str, Any], numbers: bool) -> Part:
    """One part; all that is wrong with its settings in one error."""
    limited = bool(asked.keys() & LIMITS)  # a limit that is given takes the place of the rung's own
    recipe = {
        key: value for key, value in rung.recipe(numbers).items() if not (limited and key in LIMITS)
    }
    found, problems = [], []
    for cls, own in ((rung.options, rung.settings_on(numbers)), (TrainingOptions, recipe)):
        try:
            found.append(choose(cls, own, asked, name))
        except ConfigError as error:
            problems.append(error.what)
    if problems:
        raise ConfigError("; ".join(problems))
    return Part(name, rung, *found)


def known_settings(spec: str, rungs: Mapping[str, Rung]) -> set[str]:
    """The settings of any part of a model; those of training only if one of them is trained."""
    several = [rung_of(name, rungs) for name in spec.split("+")]
    trained = {each.name for each in fields(TrainingOptions)}
    shared = OF_ANY if all(each.counts for each in several) else trained
    return shared.union(*({each.name for each in fields(one.options)} for one in several))


def choose(cls: type, defaults: Mapping[str, Any], asked: Mapping[str, Any], where: str) -> Any:
    """An options record: the class's defaults, then the rung's, then what was asked for."""
    known = {each.name for each in fields(cls)}
    return build(cls, {**defaults, **{k: v for k, v in asked.items() if k in known}}, where)


def create(parts: list[Part], vocabulary: int, *more: Any, mixture: str | None = MIXTURE) -> Model:
    """The model itself, untrained: one part, or several that answer together.

    Some models need more sizes than that of the vocabulary: of how many labels there are, say, or
    of each of several sources.
    """
    made = [part.rung.code(vocabulary, part.options, *more) for part in parts]
    if len(made) == 1:
        return made[0]
    if mixture is None:
        raise ConfigError("these models are not mixed", got="+".join(part.name for part in parts))
    return named(mixture)(made)


def planned(parts: list[Part], threads: int) -> list[Part]:
    """The same parts with what was left open filled in.

    That is the number of threads, and a wall-clock budget shared by those parts that learn.
    """
    many = max(1, sum(not part.counts for part in parts))
    filled = []
    for part in parts:
        options = replace(part.training, threads=part.training.threads or threads)
        if options.minutes or not (options.updates or options.epochs):
            options = replace(options, minutes=(options.minutes or DEFAULT_MINUTES) / many)
        filled.append(replace(part, training=options))
    return filled
