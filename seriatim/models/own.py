"""A class in the place of a name: a model that is written in a notebook is a rung like any other.

    st.fit("language", Again, data, q=0.7);   st.compare("language", data, ["markov", Again])

It stays in memory: a run folder holds no code, and nothing that is read from one ever names any.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from typing import Any

from seriatim.errors import ConfigError
from seriatim.models.base import Model, NeuralModel
from seriatim.models.ladder import Rung

WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_+")
NEEDS: dict[str, tuple[tuple[Any, ...], str]] = {  # what it has of its own, and how that is written
    "__init__": (
        (vars(object)["__init__"], NeuralModel.__init__),
        "def __init__(self, vocabulary, options)",
    ),
    "arrays": ((Model.arrays,), "def arrays(self)"),
}
WHOLE = ("predict", "unroll")  # either says all at once


@dataclass(frozen=True)
class NothingAsked:
    """The options of a class that has none."""


def named_by(cls: type) -> str:
    """What its row is called: its class, in lower case, with dashes.

    >>> [named_by(type(name, (), {})) for name in ("Again", "MyGRUModel", "two_back")]
    ['again', 'my-gru-model', 'two-back']
    """
    return WORDS.sub("-", cls.__name__).lower().strip("-")


def own_rungs(
    given: Iterable[Any], rungs: Mapping[str, Rung], taken: Iterable[str] = ()
) -> tuple[list[str], dict[str, Rung]]:
    """The names of models, some of which are classes or rungs of the caller's own, and these by
    their names. `taken` are the settings of every fit, which no option may be called after."""
    names: list[str] = []
    found: dict[str, Rung] = {}
    for each in given:
        if isinstance(each, str):
            names.append(each)
            continue
        rung = own_rung(each, set(taken))
        name = named_by(rung.code)
        if name in rungs or found.get(name, rung).code is not rung.code:
            raise ConfigError(
                f"there is a model {name!r} already",
                got=f"the class {rung.code.__name__}",
                do="Call the class something else",
            )
        names.append(name)
        found[name] = rung
    return names, found


def own_rung(given: Any, taken: set[str]) -> Rung:
    """The rung that a class makes, or a rung with a class in it."""
    cls = given.implementation if isinstance(given, Rung) else given
    if not (isinstance(cls, type) and issubclass(cls, Model)):
        raise ConfigError(
            "a model is a name, a class derived from Model, or a Rung with such a class",
            got=repr(cls),
            do="Give the class itself, not an object of it"
            if isinstance(cls, Model)
            else "See docs/extending.md",
        )
    counts = cls.counting is not Model.counting
    check(cls, counts)
    if isinstance(given, Rung):
        check_options(cls, given.options, taken)
        return replace(given, counts=counts)
    summary = (cls.__doc__ or cls.__name__).strip().splitlines()[0]
    options = getattr(cls, "Options", NothingAsked)
    check_options(cls, options, taken)
    return Rung(summary, cls, options, counts=counts)


def check(cls: type[Model], counts: bool) -> None:
    """Refuse a class that has not all that a fit asks of it."""
    for name, (without, words) in NEEDS.items():
        if getattr(cls, name) in without:
            raise ConfigError(f"{cls.__name__} has no {name}", do=f"Give it `{words}`")
    if not counts and cls.learns == "by counting":
        raise ConfigError(
            f"{cls.__name__} does not say how it learns",
            got="no counting(ids, stop), and it is no NeuralModel",
            do="Give it `def counting(self, ids, stop)`, with `yield from ()` in it if there is "
            "nothing to learn, or derive it from NeuralModel",
        )
    walks = cls.step is not Model.step or cls.extend is not Model.extend
    whole = cls.start is not Model.start and walks
    if not whole and not any(getattr(cls, name) is not getattr(Model, name) for name in WHOLE):
        raise ConfigError(
            f"{cls.__name__} does not say what it expects",
            got="no start with step, and no predict",
            do="Give it `start(batch)` and `step(y, state)`",
        )


def check_options(cls: type, options: Any, taken: set[str]) -> None:
    """Refuse options that could not be asked for."""
    name = f"{cls.__name__}.Options"
    if not (isinstance(options, type) and is_dataclass(options)):
        raise ConfigError(
            f"{name} is a dataclass", got=repr(options), do="Write @dataclass above it"
        )
    bare = [
        f.name for f in fields(options) if f.default is MISSING and f.default_factory is MISSING
    ]
    if bare:
        raise ConfigError(
            "every option has a default",
            got=f"{name} without one: {', '.join(bare)}",
            do="Give one",
        )
    both = sorted(taken & {f.name for f in fields(options)})
    if both:
        raise ConfigError(
            f"an option of {name} has the name of a setting that all fits have",
            got=", ".join(both),
            do="Call it something else",
        )
