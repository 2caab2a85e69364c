"""Flags, derived from the option records of the rooms: what this verb, task and model have.

Nothing slow is imported, so that help answers at once. The flag of `top_k` is `--top-k`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any, NoReturn

from seriatim.errors import ConfigError

WORDS = ("true", "false", "yes", "no", "1", "0")  # what may follow a flag that says yes or no


@dataclass
class Flag:
    """One setting as a flag: where it comes from, and what it is if nothing is said."""

    name: str
    help: str
    default: Any
    switch: bool = False  # yes or no
    many: bool = False  # several words may follow
    metavar: str = "X"
    choices: tuple[Any, ...] = ()

    @property
    def spelling(self) -> str:
        """As it is written."""
        return "--" + self.name.replace("_", "-")

    @property
    def words(self) -> str:
        """Its help, with the values it may have and its default."""
        choices = ", ".join(filter(None, map(str, self.choices)))
        default = (
            "" if self.default in (None, "", (), False) else f" (default {plain(self.default)})"
        )
        return (self.help + (f": {choices}" if choices else "") + default).replace("%", "%%")


def plain(value: Any) -> str:
    """A default as one would type it."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


@dataclass
class Group:
    """Flags that belong together, under a title."""

    title: str
    flags: list[Flag] = field(default_factory=list)


def flag_of(each: Field[Any], default: Any) -> Flag:
    """The flag of a field of an option record."""
    rule = each.metadata
    switch = isinstance(each.default, bool)
    choices = tuple(rule["choices"] or ())
    return Flag(each.name, rule["help"], default, switch, False, metavar_of(each, choices), choices)


def metavar_of(each: Field[Any], choices: tuple[Any, ...]) -> str:
    """What stands for the value in help: N for a number, nothing for a switch."""
    if isinstance(each.default, bool):
        return ""
    kind = str(each.type).split(" ")[0]
    return "N" if kind in ("int", "float") else "X"


def group_of(title: str, cls: type, known: Mapping[str, Any] | None = None) -> Group:
    """The flags of an option record; `known` are defaults that differ from the record's own."""
    known = known or {}
    return Group(title, [flag_of(each, known.get(each.name, each.default)) for each in fields(cls)])


def merged(title: str, several: Iterable[tuple[type, Mapping[str, Any]]]) -> Group:
    """The flags of several records, each once; where defaults differ, none is shown."""
    found: dict[str, Flag] = {}
    for cls, known in several:
        for each in fields(cls):
            flag = flag_of(each, known.get(each.name, each.default))
            if each.name in found and found[each.name].default != flag.default:
                found[each.name].default = None
            found.setdefault(each.name, flag)
    return Group(title, list(found.values()))


class Parser(argparse.ArgumentParser):
    """argparse, with our own errors and no abbreviations."""

    def __init__(self, *arguments: Any, **settings: Any):
        formatter = argparse.RawDescriptionHelpFormatter
        settings |= {"allow_abbrev": False, "formatter_class": formatter}
        super().__init__(*arguments, **settings)

    def error(self, message: str) -> NoReturn:
        """Refuse, in our words."""
        raise ConfigError(message, do=f"See `{self.prog} --help`")


def add_groups(parser: argparse.ArgumentParser, groups: Iterable[Group]) -> dict[str, Flag]:
    """Add the flags to a parser, each name once; the flags by their spelling."""
    taken: dict[str, Flag] = {}
    for group in groups:
        place = parser.add_argument_group(group.title)
        for flag in group.flags:
            if flag.spelling in taken:
                continue
            taken[flag.spelling] = flag
            more: dict[str, Any] = {"nargs": "+", "action": "extend"} if flag.many else {}
            place.add_argument(
                flag.spelling,
                dest=flag.name,
                default=argparse.SUPPRESS,
                metavar=flag.metavar,
                help=flag.words,
                **more,
            )
    return taken


def spelled_out(arguments: list[str], flags: Mapping[str, Flag]) -> list[str]:
    """Switches with their value: `--chain` becomes `--chain=true`, unless a value follows. What is
    true unless something is said is there to be told otherwise, so that the next word is its value."""
    found, rest = [], list(arguments)
    while rest:
        word = rest.pop(0)
        flag = flags.get(word)
        if flag is None or not flag.switch:
            found.append(word)
        elif rest and (
            rest[0].lower() in WORDS or (flag.default is True and not rest[0].startswith("-"))
        ):
            found.append(f"{word}={rest.pop(0)}")
        else:
            found.append(f"{word}=true")
    return found


def positionals(arguments: list[str], flags: Mapping[str, Flag]) -> list[str]:
    """The words of a command that are no flags, nor the values of flags."""
    found, rest = [], list(arguments)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--") or word == "--":
            found.append(word)
            continue
        flag = flags.get(word)
        if "=" in word or word == "--help":
            continue
        if flag is not None and flag.switch:
            if rest and rest[0].lower() in WORDS:
                rest.pop(0)
        elif rest:
            rest.pop(0)
    return [word for word in found if word != "-h"]
