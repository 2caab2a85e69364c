"""The card of a room: all that the rest of the house may know of a task. Nothing here imports torch.

What is special to a task stands in its room, `seriatim/tasks/<task>/`; its card names the code by
strings, so that help stays light. What is not on the card does not exist.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from seriatim.codecs.options import CodecOptions
from seriatim.data.options import TextOptions
from seriatim.errors import ConfigError
from seriatim.models.ladder import MIXTURE, Part, Rung, parse, rung_of
from seriatim.settings import named, names_of

if TYPE_CHECKING:
    from seriatim.data.sequences import Sequences
    from seriatim.tasks.base.cut import Cut


@dataclass(frozen=True)
class NoOptions:
    """Nothing can be asked for."""


@dataclass(frozen=True)
class Figure:
    """What a task is measured by: its key in records, its title in tables, and how it is written."""

    key: str
    title: str
    form: str = "{:.3f}"
    words: str = ""  # in a sentence: "2.01 bits per character"
    higher: bool = False  # is better
    test: str = ""  # "module:function": two Measured -> how probable their difference is by chance
    test_name: str = ""
    # "module:function": M Measured -> (M, R) the figure of each, if other test data had been drawn
    draws: str = "seriatim.measuring.measured:drawn_losses"
    wide: bool = False  # left out of a narrow table
    shown: bool = True  # in tables; otherwise only in table.csv and table.json
    ties: str = ""  # key of the figure by which models are ordered that have the same value of this
    most: float | None = None  # what it can reach, where there is such a limit
    told: str = ""  # key in the protocol of what must be known of it, told below every table
    also: str = ""  # key of one that the field looks at, too: told where it names another winner

    def signed(self, value: Any) -> float:
        """The value as rows are sorted by it, the best first; none is last."""
        if value is None:
            return math.inf
        return -value if self.higher else value

    def write(self, value: Any) -> str:
        """The value as it stands in a table."""
        return "impossible" if value is None else self.written(value)

    def beside(self, value: Any) -> str:
        """The same beside the first figure: blank where there is none."""
        return "" if value is None else self.written(value)

    def written(self, value: float) -> str:
        """A number in its form; what rounds to zero has no sign."""
        words = self.form.format(value)
        return words.removeprefix("-") if not words.strip("-0.%,") else words


@dataclass(frozen=True)
class Verb:
    """Something a fitted model of this room does: a method of its Predictor.

    `reads` says what it is given: "data" (sequences, by the one way in), "text" (one text),
    "texts" (some texts), "file" (a path, as it is) or "nothing". `gives` is the kind of its record.
    """

    summary: str
    method: str
    gives: str
    reads: str = "data"
    options: type = NoOptions
    table: str = ""  # "module:function": its record -> what is printed; default: as JSON
    rows: str = ""  # "module:function": its record -> rows of a frame; default: its items
    pieces: bool = False  # its items do not depend on each other: some sequences at a time will do
    argument: str = ""  # what the text is called: prompt, pattern, ...
    fields: bool = False  # the text may be a dict: what stands beside it in a row of a table
    optional: bool = False  # the text may be left out
    gaps: bool = False  # labels may be missing in the data
    example: str = ""
    runs: bool = True  # asked of a run; otherwise of the data alone, "module:function" in `method`


@dataclass(frozen=True)
class Picture:
    """A picture: the verb that gives its record, and what draws it: record -> Chart."""

    verb: str
    draw: str  # "module:function"
    summary: str
    several: bool = False  # of several runs: their records are drawn together


@dataclass(frozen=True)
class Task:
    """The card. A closed list: shared machinery asks for nothing else."""

    name: str
    question: str
    example: str
    rungs: Mapping[str, Rung]
    figures: tuple[Figure, ...]  # the first one ranks unless `ranking` says another; empty: none
    cut_by: str  # "module:Class", a Cut: from data to lessons
    predictor: str  # "module:Class": what is kept, and its verbs
    codec: str  # "module:function": its JSON, the name of its file -> codec
    verbs: Mapping[str, Verb]
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    ranking: str = ""  # "module:function": training data -> the key of the figure that ranks
    reading: type = TextOptions  # how its files are read
    coding: type = CodecOptions  # how its sequences become numbers
    fitting: type = NoOptions  # what a fit may be asked for besides
    mixture: str | None = MIXTURE
    openers: tuple[
        str, ...
    ] = ()  # "module:function": a path of others' making -> Predictor, or None
    usual_unit: str = (
        "character"  # what counts as a symbol unless the data or the user say something else
    )
    # by name, "module:function": training and test data -> its figure, by tools of others
    references: Mapping[str, str] = field(default_factory=dict)
    across_units: tuple[str, ...] = ()  # keys of figures that are the same whatever the unit is
    kept: str = ""  # a command to try on a run, with {run}
    floor: str = ""  # the rung that looks at nothing: who is not better has learned nothing
    extra: str = ""  # of the package: what its figures need besides a lean install

    def __post_init__(self) -> None:
        if self.figures and not self.figures[0].test:
            raise TypeError(f"the first figure of {self.name} ranks models, and names no test")

    @cached_property
    def cut(self) -> Cut:
        """How data become lessons."""
        return named(self.cut_by)(self)

    @property
    def predictor_class(self) -> Any:
        """What a fit of this room gives: a class of Predictors."""
        return named(self.predictor)

    def figure(self, key: str) -> Figure:
        """A figure by its key."""
        return next(each for each in self.figures if each.key == key)

    def ranked_by(self, key: str) -> tuple[Figure, ...]:
        """All figures, the one that ranks first."""
        first = self.figure(key)
        return first, *(each for each in self.figures if each is not first)

    def ranking_figure(self, train: Sequences) -> Figure:
        """The figure that ranks models of such data."""
        return self.figure(named(self.ranking)(train)) if self.ranking else self.figures[0]

    def rung(self, name: str) -> Rung:
        """A rung of this room by its name."""
        return rung_of(name, self.rungs)

    def parts(
        self,
        spec: str,
        settings: Mapping[str, Any],
        numbers: bool = False,
        besides: Iterable[str] = (),
    ) -> list[Part]:
        """'lstm' or 'markov+lstm', with settings for whichever part has them -> its parts. Any other
        setting is refused, with the nearest name of these, of what all models share, and of those
        that there are `besides`."""
        names = spec.split("+")
        for name in names:
            self.rung(name)
        if self.mixture is None and len(names) > 1:
            raise ConfigError(f"models of {self.name} are not mixed", got=spec, do="Fit one model")
        return parse(spec, settings, self.rungs, numbers, self.shared.union(besides))

    @property
    def shared(self) -> set[str]:
        """The settings of a fit that are of no model: of reading, of the codec, of the fit itself."""
        return names_of(self.reading) | names_of(self.coding) | names_of(self.fitting)
