"""Settings: what a field of an option record may hold, and the way from text, flags and TOML to a checked record and back.

An unknown key is an error that names the nearest one, and all problems are reported at once. The records themselves, with every default,
are in `seriatim.config`.
"""
from __future__ import annotations

import math
import os
import tomllib
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, asdict, field, fields
from typing import Any, TypeVar

from seriatim.errors import ConfigError, nearest

Options = TypeVar("Options")


def option(default: Any, help: str, *, choices: tuple | None = None, least: float | None = None,
           most: float | None = None, above: float | None = None) -> Any:
    """A field with its help text and the values it may take."""
    return field(default=default, metadata={"help": help, "choices": choices, "least": least, "most": most, "above": above})


class Bytes(int):
    """A number of bytes, also written 500MB or 1.5GB."""

    def __new__(cls, value: int | str) -> Bytes:
        for unit, size in (("kb", 10**3), ("mb", 10**6), ("gb", 10**9), ("tb", 10**12)):
            if isinstance(value, str) and value.strip().lower().endswith(unit):
                return super().__new__(cls, float(value.strip()[:-2]) * size)
        return super().__new__(cls, value)


class Numbers(tuple):
    """Whole numbers, also written 0,0,1."""

    def __new__(cls, value: Any = ()) -> Numbers:
        parts = value.split(",") if isinstance(value, str) else [value] if isinstance(value, int) else value
        return super().__new__(cls, (int(part) for part in parts))


def build(cls: type[Options], values: Mapping[str, Any], where: str = "settings", do: str = "See the flags with --help") -> Options:
    """Check a mapping against a dataclass; all problems in one error."""
    if not isinstance(values, Mapping):
        raise ConfigError(f"{where}: settings are a table", got=repr(values), do=do)
    known = {f.name: f for f in fields(cls)}
    hints = typing.get_type_hints(cls)
    problems, kept = [], {}
    for key, value in values.items():
        name = key.replace("-", "_")
        if name not in known:
            problems.append(f"unknown setting {key!r}: {nearest(name, known) if known else 'there are none here'}")
            continue
        try:
            kept[name] = convert(value, hints[name])
            problems.extend(f"{key}: {words}" for words in violations(kept[name], known[name].metadata))
        except ValueError as error:
            problems.append(f"{key}: {error}")
    if problems:
        raise ConfigError(f"{where}: " + "; ".join(problems), do=do)
    return cls(**kept)


def convert(value: Any, hint: Any) -> Any:
    """A value of the type that the hint asks for, from itself or from its text."""
    if isinstance(hint, types.UnionType):
        if value is None or value in ("none", ""):
            return None
        hint = next(kind for kind in hint.__args__ if kind is not type(None))
    if hint is bool:
        word = str(value).lower()
        if word not in ("true", "false", "1", "0", "yes", "no"):
            raise ValueError(f"must be true or false, received {value!r}")
        return word in ("true", "1", "yes")
    if hint is str and isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, bool) or not isinstance(value, (int, float, str, list, tuple) if hint is Numbers else (int, float, str)):
        raise ValueError(f"must be {hint.__name__}, received {value!r}")
    try:
        converted = hint(value)
    except (ValueError, TypeError, OverflowError):
        wanted = {int: "a whole number", Bytes: "a number of bytes such as 500MB or 2GB", Numbers: "whole numbers such as 0,0,1"}.get(hint, "a number")
        raise ValueError(f"must be {wanted}, received {value!r}") from None
    if issubclass(hint, int) and isinstance(value, float) and value != converted:
        raise ValueError(f"must be a whole number, received {value!r}")
    if hint is float and not math.isfinite(converted):
        raise ValueError(f"must be finite, received {value!r}")
    return converted


def violations(value: Any, rule: Mapping[str, Any]) -> list[str]:
    """What is wrong with a value, by the rule of its field."""
    if value is None:
        return []
    if isinstance(value, tuple):
        return [words for each in value for words in violations(each, rule)]
    found = []
    if rule.get("choices") and value not in rule["choices"]:
        found.append(f"received {value!r}; {nearest(str(value), map(str, rule['choices']))}")
    for bound, wrong, words in (("least", lambda v, b: v < b, "at least"), ("most", lambda v, b: v > b, "at most"),
                                ("above", lambda v, b: v <= b, "above")):
        if rule.get(bound) is not None and wrong(value, rule[bound]):
            found.append(f"must be {words} {rule[bound]}, received {value}")
    return found


def changed(options: Any) -> dict[str, Any]:
    """The settings that differ from their defaults."""
    return {f.name: getattr(options, f.name) for f in fields(options)
            if f.default is MISSING or getattr(options, f.name) != f.default}


def refuse_idle(options: Any, switch: str, names: tuple[str, ...], what: str, usual: int) -> None:
    """Settings of a part that is switched off are a mistake."""
    idle = [f"--{name.replace('_', '-')} {value}" for name, value in changed(options).items() if name in names]
    if idle and not getattr(options, switch):
        raise ConfigError(f"this is for {what}, and there are none", got=" ".join(idle), do=f"Add --{switch} {usual}, or leave it out")


def to_toml(tables: Mapping[str, Any]) -> str:
    """Tables of plain values as TOML; a dataclass is a table, None is left out."""
    lines = []
    for title, table in tables.items():
        table = table if isinstance(table, Mapping) else asdict(table)
        lines.append(f"[{title}]")
        lines += [f"{key} = {toml_value(value)}" for key, value in table.items() if value is not None]
        lines.append("")
    return "\n".join(lines)


def toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08X}" for c in value)
        return f'"{escaped}"'
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return repr(value)


def from_toml(text: str, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{where} is not valid TOML", got=error, do="Correct the line it names") from None
