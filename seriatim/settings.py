"""Settings: what a field of an option record may hold, and the way from text, flags and TOML to a
checked record and back.

An unknown key is an error that names the nearest one, and all problems are reported at once. The
records themselves, with every default, stand beside the code that uses them.
"""

from __future__ import annotations

import math
import os
import sys
import tomllib
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, asdict, field, fields, make_dataclass
from datetime import UTC, date, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from seriatim.errors import ConfigError, nearest

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

YES, NO = ("yes", "true", "1"), ("no", "false", "0")
Options = TypeVar("Options", bound="DataclassInstance")


def option(
    default: Any,
    help: str,
    *,
    choices: tuple | None = None,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
) -> Any:
    """A field with its help text and the values it may take."""
    return field(
        default=default,
        metadata={"help": help, "choices": choices, "least": least, "most": most, "above": above},
    )


class MemorySize(int):
    """A number of bytes, also written 500MB or 1.5GB."""

    def __new__(cls, value: int | str) -> MemorySize:
        for unit, size in (("kb", 10**3), ("mb", 10**6), ("gb", 10**9), ("tb", 10**12)):
            if isinstance(value, str) and value.strip().lower().endswith(unit):
                return super().__new__(cls, float(value.strip()[:-2]) * size)
        return super().__new__(cls, value)


class Numbers(tuple):
    """Whole numbers, also written 0,0,1."""

    def __new__(cls, value: Any = ()) -> Numbers:
        parts = (
            value.split(",")
            if isinstance(value, str)
            else [value]
            if isinstance(value, int)
            else value
        )
        return super().__new__(cls, (int(part) for part in parts))


class Way(str):
    """How a thing is done: a word. Yes is the usual way, no is not at all."""

    usual: str

    def __new__(cls, value: object) -> Way:
        word = str(value).lower()
        if word in YES + NO:
            word = cls.usual if word in YES else NO[0]
        return super().__new__(cls, word)

    def __bool__(self) -> bool:
        return self != NO[0]


WANTED: dict[type, str] = {
    int: "a whole number",
    MemorySize: "a number of bytes such as 500MB or 2GB",
    Numbers: "whole numbers such as 0,0,1",
}


def build(
    cls: type[Options],
    values: Mapping[str, Any],
    where: str = "settings",
    do: str = "See the flags with --help",
) -> Options:
    """Check a mapping against a dataclass; all problems in one error."""
    if not isinstance(values, Mapping):
        raise ConfigError(f"{where}: settings are a table", got=repr(values), do=do)
    known = {f.name: f for f in fields(cls)}
    hints = typing.get_type_hints(cls)
    problems, kept = [], {}
    for key, value in values.items():
        name = key.replace("-", "_")
        if name not in known:
            hint = nearest(name, known) if known else "there are none here"
            problems.append(f"unknown setting {key!r}: {hint}")
            continue
        try:
            kept[name] = convert(value, hints[name])
            problems.extend(
                f"{key}: {words}" for words in violations(kept[name], known[name].metadata)
            )
        except ValueError as error:
            problems.append(f"{key}: {error}")
    if problems:
        raise ConfigError(f"{where}: " + "; ".join(problems), do=do)
    return cls(**kept)


def convert(value: Any, hint: Any) -> Any:
    """A value of the type that the hint asks for, from itself or from its text; a moment of Python,
    numpy or pandas is its text."""
    value = plain(value)
    if isinstance(hint, types.UnionType):
        if value is None or value in ("none", ""):
            return None
        hint = next(kind for kind in hint.__args__ if kind is not type(None))
    if hint is bool:
        return truth(value)
    if issubclass(hint, Way) and isinstance(value, bool):
        return hint(value)
    if hint is str and isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, bool) or not isinstance(
        value, (int, float, str, list, tuple) if hint is Numbers else (int, float, str)
    ):
        raise ValueError(f"must be {hint.__name__}, received {value!r}")
    return made(value, hint)


def plain(value: Any) -> Any:
    """A moment as text, one with a zone as UTC, which data are read in; numbers of numpy as Python's.

    >>> plain(date(2024, 6, 1)), plain(datetime.fromisoformat("2024-06-01T02:00+02:00"))
    ('2024-06-01', '2024-06-01 00:00:00')
    """
    numpy, pandas = (sys.modules.get(name) for name in ("numpy", "pandas"))
    if numpy is not None and isinstance(value, numpy.datetime64):
        return str(value.astype("datetime64[us]")).replace("T", " ")
    if numpy is not None and isinstance(value, numpy.generic):
        return value.item()
    if pandas is not None and isinstance(value, pandas.Period):
        value = value.to_timestamp()
    if isinstance(value, datetime):
        moment = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
        return str(moment)
    return str(value) if isinstance(value, date) else value


def made(value: Any, hint: type) -> Any:
    """hint(value), without what would be lost silently; a ValueError says what is wanted."""
    try:
        converted = hint(value)
    except (ValueError, TypeError, OverflowError):
        wanted = WANTED.get(hint, "a number")
        raise ValueError(f"must be {wanted}, received {value!r}") from None
    if issubclass(hint, int) and isinstance(value, float) and value != converted:
        raise ValueError(f"must be a whole number, received {value!r}")
    if hint is float and not math.isfinite(converted):
        raise ValueError(f"must be finite, received {value!r}")
    return converted


def truth(value: Any) -> bool:
    """A yes or no, from itself or from a word for it."""
    word = str(value).lower()
    if word not in YES + NO:
        raise ValueError(f"must be true or false, received {value!r}")
    return word in YES


def violations(value: Any, rule: Mapping[str, Any]) -> list[str]:
    """What is wrong with a value, by the rule of its field."""
    if value is None:
        return []
    if isinstance(value, tuple):
        return [words for each in value for words in violations(each, rule)]
    found = []
    if rule.get("choices") and value not in rule["choices"]:
        found.append(f"received {value!r}; {nearest(str(value), map(str, rule['choices']))}")
    for bound, wrong, words in (
        ("least", lambda v, b: v < b, "at least"),
        ("most", lambda v, b: v > b, "at most"),
        ("above", lambda v, b: v <= b, "above"),
    ):
        if rule.get(bound) is not None and wrong(value, rule[bound]):
            found.append(f"must be {words} {rule[bound]}, received {value}")
    return found


def changed(options: Any) -> dict[str, Any]:
    """The settings that differ from their defaults."""
    return {
        f.name: getattr(options, f.name)
        for f in fields(options)
        if f.default is MISSING or getattr(options, f.name) != f.default
    }


def refuse_idle(options: Any, switch: str, names: tuple[str, ...], what: str, usual: int) -> None:
    """Settings of a part that is switched off are a mistake."""
    idle = [
        f"--{name.replace('_', '-')} {value}"
        for name, value in changed(options).items()
        if name in names
    ]
    if idle and not getattr(options, switch):
        raise ConfigError(
            f"this is for {what}, and there are none",
            got=" ".join(idle),
            do=f"Add --{switch.replace('_', '-')} {usual}, or leave it out",
        )


def to_toml(tables: Mapping[str, Any]) -> str:
    """Tables of plain values as TOML; a dataclass is a table, None is left out."""
    lines = []
    for title, table in tables.items():
        table = table if isinstance(table, Mapping) else asdict(table)
        lines.append(f"[{title}]")
        lines += [
            f"{key} = {toml_value(value)}" for key, value in table.items() if value is not None
        ]
        lines.append("")
    return "\n".join(lines)


def toml_value(value: Any) -> str:
    """One plain value, or a list of them, as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = "".join(
            c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08X}" for c in value
        )
        return f'"{escaped}"'
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return repr(value)


def from_toml(text: str, where: str) -> dict[str, Any]:
    """TOML as a mapping; a ConfigError names the line that is wrong."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"{where} is not valid TOML", got=error, do="Correct the line it names"
        ) from None


def names_of(cls: type) -> set[str]:
    """The names of the fields of an option record."""
    return {each.name for each in fields(cls)}


def named(code: str) -> Any:
    """The function or class that "module:name" names; loaded when it is needed, not before."""
    module, names = code.split(":")
    found: Any = import_module(module)
    for name in names.split("."):
        found = getattr(found, name)
    return found


def some_of(cls: type, name: str, names: str, **defaults: Any) -> type:
    """An option record with some of the fields of another, in which some defaults may be others."""
    chosen = {each.name: each for each in fields(cls) if each.name in names.split()}
    hints = typing.get_type_hints(cls)
    made = [
        (each, hints[each], field(default=defaults.get(each, f.default), metadata=f.metadata))
        for each, f in chosen.items()
    ]
    return make_dataclass(name, made, frozen=True, namespace={"__doc__": cls.__doc__})
