"""What records from elsewhere may look like, said as data, and checked before anything is built of them.

    MANIFEST = table({"format": whole(), "files": mapping(table({"bytes": whole(), ...}))})
    check(record, MANIFEST)          a ValueError says where it is wrong, and what was received

A shape is a function of a value and of its place; `table` and `listed` are made of others. Nothing
here is as deep, as long or as large as the one who wrote the file likes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from seriatim.errors import shorten

Shape = Callable[[Any, str], None]
LARGEST = 1 << 53  # whole numbers that every reader of JSON agrees on
LONGEST = 1 << 20  # letters of one text
DEEPEST = 8  # records within records


def check(value: Any, shape: Shape, where: str = "") -> None:
    """Raises ValueError unless the value has the shape."""
    shape(value, where)


def wrong(where: str, wanted: str, value: Any) -> ValueError:
    """What is said of a value at a place."""
    place = f"{where}: " if where else ""
    return ValueError(f"{place}must be {wanted}, received {shorten(repr(value), 80)}")


def whole(least: int = 0, most: int = LARGEST) -> Shape:
    """A whole number between two others."""

    def shape(value: Any, where: str) -> None:
        """Refuses what is no such number."""
        if type(value) is not int or not least <= value <= most:
            raise wrong(where, f"a whole number from {least} to {most}", value)

    return shape


def real(least: float = -math.inf, most: float = math.inf) -> Shape:
    """A finite number between two others, themselves allowed."""

    def shape(value: Any, where: str) -> None:
        """Refuses what is no number, not finite or out of bounds."""
        sound = type(value) in (int, float) and abs(value) < 1e300 and least <= value <= most
        if not sound:
            bounds = "" if (least, most) == (-math.inf, math.inf) else f" from {least} to {most}"
            raise wrong(where, f"a finite number{bounds}", value)

    return shape


def text(pattern: str = "", most: int = LONGEST) -> Shape:
    """A text, of a pattern if one is given."""
    known = re.compile(pattern)

    def shape(value: Any, where: str) -> None:
        """Refuses what is no text, too long or of another pattern."""
        if not isinstance(value, str) or len(value) > most:
            raise wrong(where, f"a text of at most {most} letters", value)
        if pattern and not known.fullmatch(value):
            raise wrong(where, f"a text like {pattern}", value)

    return shape


def among(*known: Any) -> Shape:
    """One of these values, of the same type: 1 is not true."""

    def shape(value: Any, where: str) -> None:
        """Refuses what is none of them."""
        if not any(type(value) is type(each) and value == each for each in known):
            raise wrong(where, " or ".join(map(repr, known)), value)

    return shape


def optional(shape: Shape) -> Shape:
    """Nothing, or a value of a shape."""

    def either(value: Any, where: str) -> None:
        """Refuses what is there and of another shape."""
        if value is not None:
            shape(value, where)

    return either


def listed(shape: Shape, least: int = 0, most: int = LARGEST) -> Shape:
    """A list of values of one shape."""

    def several(value: Any, where: str) -> None:
        """Refuses what is no such list, or holds a value of another shape."""
        if not isinstance(value, list) or not least <= len(value) <= most:
            raise wrong(where, f"a list of {least} to {most}", value)
        for place, each in enumerate(value):
            shape(each, f"{where}[{place}]")

    return several


def mapping(shape: Shape, names: Shape | None = None, most: int = LARGEST) -> Shape:
    """A record whose keys are data, and whose values have one shape."""
    name_of = names or text()

    def several(value: Any, where: str) -> None:
        """Refuses what is no such record, or holds a name or a value of another shape."""
        if not isinstance(value, dict) or len(value) > most:
            raise wrong(where, f"a table of at most {most}", value)
        for name, each in value.items():
            name_of(name, f"a name in {where}" if where else "a name")
            shape(each, f"{where}.{name}" if where else name)

    return several


def table(
    needed: Mapping[str, Shape],
    known: Mapping[str, Shape] | None = None,
    others: Shape | None = None,
) -> Shape:
    """A record with these keys, perhaps with some known ones besides; others are refused, or have a
    shape of their own."""
    shapes = {**needed, **(known or {})}

    def whole_table(value: Any, where: str) -> None:
        """Refuses what is no record, lacks a key or has one too many."""
        if not isinstance(value, dict):
            raise wrong(where, "a table", value)
        missing = [name for name in needed if name not in value]
        if missing:
            raise wrong(where, f"a table with {', '.join(missing)}", ", ".join(map(str, value)))
        for name, each in value.items():
            shape = shapes.get(name, others)
            if shape is None:
                raise wrong(where, f"a table of {', '.join(shapes)}", f"{name!s}")
            shape(each, f"{where}.{name}" if where else str(name))

    return whole_table


def plain(value: Any, where: str = "", deep: int = DEEPEST) -> None:
    """A shape: any JSON, but not too deep, and its numbers finite."""
    if deep < 0:
        raise wrong(where, f"at most {DEEPEST} deep", value)
    if isinstance(value, dict):
        for name, each in value.items():
            plain(each, f"{where}.{name}" if where else str(name), deep - 1)
    elif isinstance(value, list):
        for each in value:
            plain(each, where, deep - 1)
    elif isinstance(value, float) and not math.isfinite(value):
        raise wrong(where, "a finite number", value)
    elif isinstance(value, int) and abs(value) > LARGEST:
        raise wrong(where, f"a number of at most {LARGEST}", value)


def shares(many: int) -> Shape:
    """So many shares of one whole."""
    each = listed(real(0, 1), many, many)

    def shape(value: Any, where: str) -> None:
        """Refuses what is no list of so many shares, or has another sum."""
        each(value, where)
        if abs(sum(value) - 1) > 1e-6:
            raise wrong(where, "shares that sum to 1", value)

    return shape


yes_or_no = among(True, False)
scalar = lambda value, where: plain(value, where, 0)  # a text, a number, true, false or nothing
