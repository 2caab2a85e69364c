"""Which mark stands before the decimals of a column: 1.005,3 or 1,005.3?

    comma    12,5    1.005,3    1.234.567        point    12.5    1,005.3    1,234,567

A column tells it by numbers that can be read in one way only: groups of thousands beside decimals, or
several groups. Others of the same table are then read alike, if they can be.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from seriatim.data.moments import are_months

if TYPE_CHECKING:
    import polars

MARKS = {"comma": (",", "."), "point": (".", ",")}  # before decimals, between thousands
FIGURE = r"^\s*[-+]?\d[\d.,]*[.,]\d+\s*$"  # digits with marks between them
DECIMAL_COMMA = r"^\s*[-+]?\d+,\d+\s*$"
ODD = r",|\.\d*\."  # a comma, or two points: what no number of Python's has
ONE_GROUP = r"^\s*[-+]?[1-9]\d{0,2}[.,]\d{3}\s*$"  # 1.005: a thousand and five, or one and a bit


def group(mark: str) -> str:
    """The pattern of a number in groups of thousands, before its decimals."""
    return rf"[1-9]\d{{0,2}}(?:{re.escape(MARKS[mark][1])}\d{{3}})+"


def whole(mark: str) -> str:
    """The pattern of any number that is written so."""
    decimals = rf"(?:{re.escape(MARKS[mark][0])}\d+)?"
    return rf"^\s*[-+]?(?:{group(mark)}|\d+){decimals}\s*$"


def marked(cells: polars.Series) -> polars.Series:
    """The cells that are digits with marks between them."""
    return cells.filter(cells.str.contains(FIGURE))


def fits(figures: polars.Series, mark: str) -> bool:
    """Whether all figures can be written so."""
    return bool(mark and len(figures)) and bool(figures.str.contains(whole(mark)).all())


def shows(figures: polars.Series, mark: str) -> bool:
    """Whether figures that can be written so have groups beside decimals, or several groups."""
    if not fits(figures, mark):
        return False
    decimal, between = map(re.escape, MARKS[mark])
    grouped = figures.str.contains(rf"^\s*[-+]?{group(mark)}(?:{decimal}\d+)?\s*$").any()
    decimals = figures.str.contains(rf"{decimal}\d+\s*$").any()
    several = figures.str.contains(rf"{between}\d{{3}}{between}\d{{3}}").any()
    return bool(several or (grouped and decimals))


def mark_of(figures: polars.Series, separator: str) -> str:
    """The mark before decimals of a column by its figures; "" if they do not tell. Where semicolons
    part the cells, a comma stands before decimals unless something else is shown."""
    found = [mark for mark in MARKS if shows(figures, mark)]
    if len(found) == 1:
        return found[0]
    commas = separator == ";" and fits(figures, "comma")
    return "comma" if commas and bool(figures.str.contains(DECIMAL_COMMA).any()) else ""


def with_points(cells: polars.Series, mark: str) -> polars.Series:
    """Numbers that are written so with a point before their decimals, and no other mark."""
    import polars

    decimal, between = MARKS[mark]
    bare = cells.str.replace_all(between, "", literal=True).str.replace(decimal, ".", literal=True)
    chosen = polars.when(cells.str.contains(whole(mark))).then(bare).otherwise(cells)
    return polars.select(chosen).to_series()


def read_alike(
    names: Sequence[str], columns: Sequence[polars.Series], separator: str, asked: str
) -> tuple[list[polars.Series], list[str], str]:
    """The columns with their numbers as Python writes them, what is to be said about them, and the
    mark that was found, or asked for."""
    if not asked and separator != ";" and not any(each.str.contains(ODD).any() for each in columns):
        return list(columns), [], ""
    figures = [cells.head(0) if are_months(cells) else marked(cells) for cells in columns]
    own = [asked or mark_of(some, separator) for some in figures]
    known = {each for each in own if each}
    common = known.pop() if len(known) == 1 else ""
    plain, said = [], []
    for name, cells, some, mark in zip(names, columns, figures, own):
        mark = mark or common
        mark = mark if fits(some, mark) else ""
        plain.append(with_points(cells, mark) if mark else cells)
        said += remark(name, some, mark, separator, asked)
    return plain, said, common


def remark(name: str, figures: polars.Series, mark: str, separator: str, asked: str) -> list[str]:
    """What was taken for a mark between thousands; and what could be one, and was not."""
    if not len(figures):
        return []
    if asked:
        words = f"{name!r} has numbers without a decimal {asked}, and is read as it is written"
        return [] if mark else [words]
    grouped = figures.filter(figures.str.contains(rf"^\s*[-+]?{group(mark)}")) if mark else figures
    if mark and len(grouped):
        both = grouped.filter(grouped.str.contains(rf"{re.escape(MARKS[mark][0])}\d+\s*$"))
        one = (both if len(both) else grouped).head(1)
        cell, number = one[0].strip(), with_points(one, mark)[0].strip()
        return [f"{name!r} has marks between thousands: {cell} is {number}"]
    if separator != ";" or not bool(figures.str.contains(ONE_GROUP).all()):
        return []
    cell, other = str(figures[0]).strip(), "point" if mark else "comma"
    return [
        f"{name!r} is read with decimals: {cell} is {cell.replace(',', '.')}; if its marks are between"
        f" thousands, say --decimal {other}"
    ]
