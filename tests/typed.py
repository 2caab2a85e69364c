"""What Python's door looks like to an editor and to mypy: `python -m tests.typed` writes
`seriatim/typed.pyi` from the cards and their option records; a test holds the two together.

A typed dict for the settings of every task's fits and comparisons and for the options of every verb,
with its help; a class for what a fit of every task gives, with its verbs; `fit` and `compare`
overloaded by the name of the task.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import seriatim
from seriatim.audit.options import CheckOptions
from seriatim.fitting_options import CompareOptions, FitOptions
from seriatim.models.recipe import TrainingOptions
from seriatim.runs.predictor import Predictor
from seriatim.settings import MemorySize, Numbers, Way
from seriatim.tasks import tasks
from seriatim.tasks.base import Task, Verb

FILE = Path(seriatim.__file__).parent / "typed.pyi"
HEAD = '''"""Settings, options and what fits give, by task. Written by `python -m tests.typed`: do not edit."""

# mypy: disable-error-code="override"

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack, overload

from seriatim.data.sequences import Sequences
from seriatim.faces import Result
from seriatim.models.base import Model
from seriatim.models.ladder import Rung
from seriatim.runs.predictor import Predictor, Source
from seriatim.show.charts import Chart
'''
WORDS = "Words = str | float | PathLike[str]  # as it would be typed\n"
NAMES = {int: "int", float: "float", bool: "bool", str: "Words"}
NAMES |= {MemorySize: "int | str", Numbers: "int | str | Sequence[int]"}
RUN = "Predictor | str | Path | Sequence[Predictor | str | Path]"
OWN = "type[Model] | Rung"
EVENT = "Callable[[dict[str, Any]], object] | None"
Keys = dict[str, tuple[str, str]]  # name -> its type and its help


# -- typed dicts
def keys_of(*records: type) -> Keys:
    """The settings of some records; of one that several have with different types, either."""
    found: Keys = {}
    for cls in records:
        hints = typing.get_type_hints(cls)
        for each in fields(cls):
            kind = type_of(hints[each.name], each.metadata["choices"])
            known, words = found.get(each.name, (kind, each.metadata["help"]))
            either = dict.fromkeys([*known.split(" | "), *kind.split(" | ")])
            found[each.name] = (" | ".join(either), words)
    return found


def type_of(hint: Any, choices: Iterable[Any] | None) -> str:
    """How a type is written; choices are literals."""
    if isinstance(hint, types.UnionType):
        inner = next(each for each in hint.__args__ if each is not type(None))
        return f"{type_of(inner, choices)} | None"
    if choices:
        words = f"Literal[{', '.join(map(repr, choices))}]"
        return f"{words} | bool" if issubclass(hint, Way) else words
    return NAMES[hint]


def typed_dict(name: str, keys: Keys, base: str = "TypedDict") -> str:
    """A typed dict, none of whose keys must be there."""
    head = f"class {name}({base}, total=False):\n"
    if not keys:
        return head + "    pass\n"
    lines = []
    for key, (kind, words) in keys.items():
        lines += [f"    {key}: {kind}", f'    """{words.replace(chr(34), chr(39))}"""']
    return head + "\n".join(lines) + "\n"


def title(*names: str) -> str:
    """The name of a class."""
    return "".join(name.title().replace("-", "").replace("_", "") for name in names)


def without(keys: Keys, *names: str) -> Keys:
    """The same without those that are arguments of their own."""
    return {key: each for key, each in keys.items() if key not in names}


def settings(room: Task) -> Keys:
    """All that a fit of a room may be asked for, whichever the model."""
    rungs = [rung.options for rung in room.rungs.values()]
    return keys_of(room.fitting, room.reading, room.coding, *rungs, TrainingOptions)


def common() -> Keys:
    """The settings that the fits of all rooms have alike."""
    first, *others = map(settings, tasks())
    return {
        key: each
        for key, each in first.items()
        if all(other.get(key, ("",))[0] == each[0] for other in others)
    }


def dicts(room: Task) -> Iterator[str]:
    """The typed dicts of a room."""
    own = title(room.name)
    yield typed_dict(f"{own}Settings", without(settings(room), *common()), "Settings")
    fit = without(keys_of(FitOptions), "out")
    yield typed_dict(f"{own}Fit", without(fit, *settings(room)), f"{own}Settings")
    if room.figures:
        compare = without(keys_of(CompareOptions), "out", "models", *settings(room))
        parts = {name: ("Source", "a file of its own") for name in ("valid", "test")}
        yield typed_dict(f"{own}Compare", compare | parts, f"{own}Settings")
    for name, verb in room.verbs.items():
        keys = keys_of(verb.options)
        if "against" in keys:
            keys["against"] = ("Predictor | None", keys["against"][1])
        if keys:
            yield typed_dict(title(own, name), keys)


# -- what fits give
def first_of(cls: type, method: str, verb: Verb) -> str:
    """The first argument of a verb's method."""
    if verb.reads == "nothing":
        return ""
    name = list(inspect.signature(getattr(cls, method)).parameters)[1]
    kind = {"data": "Source", "text": "str", "file": "str | Path"}[verb.reads]
    return f", {name}: {kind}" + (" = ..." if verb.optional else "")


def predictor(room: Task) -> str:
    """The class of what a fit of this room gives: its Predictor, whose verbs are typed."""
    cls = room.predictor_class
    lines = [f"class Fitted{title(room.name)}({cls.__name__}):"]
    for name, verb in room.verbs.items():
        if not verb.runs:
            continue
        method = name if name in dir(cls) else verb.method
        asked = f", **options: Unpack[{title(room.name, name)}]" if fields(verb.options) else ""
        lines.append(f"    def {method}(self{first_of(cls, method, verb)}{asked}) -> Result:")
        lines.append(f'        """{verb.summary}"""')
    return "\n".join(lines) + "\n"


def any_predictor() -> str:
    """What opening a folder gives: of which task is not known before, so all verbs are there."""
    several: dict[str, list[Verb]] = {}
    others: dict[str, None] = {}
    for room in tasks():
        for name, verb in room.verbs.items():
            several.setdefault(name, []).extend([verb] if verb.runs else [])
        others |= dict.fromkeys(name for name in dir(room.predictor_class) if name[0] != "_")
    lines = ["class AnyPredictor(Predictor):"]
    for name, verbs in several.items():
        if verbs:
            kind = "Source" if all(each.reads == "data" for each in verbs) else "Any"
            given = "" if verbs[0].reads == "nothing" else f", given: {kind} = ..., /"
            lines.append(
                f"    def {name}(self{given}, **options: Unpack[Any{title(name)}]) -> Result: ..."
            )
    known = {*dir(Predictor), *several}
    lines += [f"    {name}: Any" for name in sorted(others) if name not in known]
    return "\n".join(lines) + "\n"


def any_dicts() -> Iterator[str]:
    """The options of each verb in whichever room, by method and by function."""
    names = dict.fromkeys(name for room in tasks() for name in room.verbs)
    reading = without(keys_of(*(room.reading for room in tasks())))
    for name in names:
        rooms = [room for room in tasks() if name in room.verbs]
        keys = keys_of(*(room.verbs[name].options for room in rooms))
        if "against" in keys:
            keys["against"] = (f"{RUN} | None", keys["against"][1])
        yield typed_dict(f"Any{title(name)}", keys)
        if name in ("evaluate", "score", "generate", "predict"):
            more = {
                "int8": ("bool", "8 bits"),
                "device": ("str", "where"),
                "with_runs": ("Sequence[Any]", "more runs"),
            }
            more |= {"report": ("str | Path", "page to write")} if name == "evaluate" else {}
            read = reading if any(r.verbs[name].reads == "data" for r in rooms) else {}
            own = without(read, *keys) | more
            yield typed_dict(f"{title(name)}Options", own, f"Any{title(name)}")
    pictures = [each.verbs[p.verb].options for each in tasks() for p in each.pictures.values()]
    yield typed_dict("PlotOptions", keys_of(*pictures, CheckOptions) | reading)
    yield typed_dict("Check", keys_of(CheckOptions))
    yield typed_dict("Reading", reading | {"unit": ("str", "what counts as a symbol")})


# -- functions
def functions() -> Iterator[str]:
    """Python's verbs."""
    kept = f"out: str | Path | None = ..., progress: bool | None = ..., on_event: {EVENT} = ..."
    for room in tasks():
        own = title(room.name)
        yield (
            f"@overload\ndef fit(task: Literal[{room.name!r}], model: str, train: Source, "
            f"valid: Source | None = ..., *, {kept}, **settings: Unpack[{own}Fit]) -> Fitted{own}:\n"
            f'    """Fit a model by name: {room.question}"""\n'
        )
        yield (
            f"@overload\ndef fit(task: Literal[{room.name!r}], model: {OWN}, train: Source, "
            f"valid: Source | None = ..., *, {kept}, **settings: Any) -> Fitted{own}:\n"
            f'    """Fit a class of your own: its options are settings, too."""\n'
        )
    for room in tasks():
        if room.figures:
            yield (
                f"@overload\ndef compare(task: Literal[{room.name!r}], data: Source, "
                f"models: str | Sequence[str] | None = ..., *, {kept}, "
                f"**settings: Unpack[{title(room.name)}Compare]) -> Result: ...\n"
            )
            yield (
                f"@overload\ndef compare(task: Literal[{room.name!r}], data: Source, "
                f"models: Sequence[str | {OWN}], *, {kept}, **settings: Any) -> Result: ...\n"
            )
    for name in ("evaluate", "score", "predict"):
        options = f"{name.title()}Options"
        yield f"def {name}(run: {RUN}, data: Source, **options: Unpack[{options}]) -> Result: ...\n"
    names = ", ".join(repr(room.name) for room in tasks())
    yield f"""\
def generate(run: {RUN}, prompt: str | None = ..., **options: Unpack[GenerateOptions]) -> Result: ...
def check(*data: Source, **options: Unpack[Check]) -> Result: ...
def conform(model: Model | {OWN} | Predictor, data: Source | None = ...) -> Result: ...
def load(
    folder: str | Path,
    verify: bool = ...,
    int8: bool = ...,
    device: str = ...,
    mute: str = ...,
) -> AnyPredictor: ...
def split(task: Literal[{names}], data: Source, **settings: Unpack[Reading]) -> tuple[Sequences, Sequences | None, Sequences]: ...
def plot(run: {RUN}, data: Source | None = ..., *, what: str = ..., out: str | Path | None = ..., **options: Unpack[PlotOptions]) -> Chart: ...
"""


def text() -> str:
    """The whole file."""
    imports = "\n".join(
        f"from {room.predictor_class.__module__} import {room.predictor_class.__name__}"
        for room in sorted(tasks(), key=lambda each: each.predictor)
    )
    parts = [HEAD.rstrip() + "\n" + imports + "\n", WORDS, typed_dict("Settings", common())]
    for room in tasks():
        parts += [*dicts(room), predictor(room)]
    return "\n".join([*parts, *any_dicts(), any_predictor(), *functions()])


def main() -> None:
    """Write it."""
    FILE.write_text(text())


if __name__ == "__main__":
    main()
