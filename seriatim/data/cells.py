"""Cells as Python has them -> fields: a list, an array, or a column of a frame.

    text, None, numbers, truth values, dates     one value a cell, dates as text: 2024-03-07
    lists and arrays                             a sequence a cell: tokens, numbers, or channels of them

What a column holds is told by its cells, and by its name where there are labels, tokens or tags.
Shapes: S cells.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np

from seriatim.data.columns import LABELS, TOKENS, number_field
from seriatim.data.sequences import NUMBERS, SYMBOLS, TEXT, Field, missing
from seriatim.errors import DataError
from seriatim.progress import note

EXACT = 1 << 53  # whole numbers up to which float64 tells from each other
USUAL = {str, int, float, bool, type(None), list}  # cells that are plain already


# -- one kind of value for each


def plain_cells(column: Any) -> np.ndarray | list[Any]:
    """(S,) numbers, or a list of plain values: texts, truth values, lists, None; dates as text."""
    nw = sys.modules.get("narwhals")
    if nw is not None and isinstance(column, nw.Series):
        return cells_of_series(column)
    if isinstance(column, np.ndarray) and column.ndim == 1:
        if column.dtype.kind in "iuf":
            return column
        return written_times(column) if column.dtype.kind == "M" else plain_list(column.tolist())
    return plain_list(column)


def cells_of_series(column: Any) -> np.ndarray | list[Any]:
    """The same of a column as narwhals has it."""
    import narwhals as nw

    if column.dtype.is_integer() and not column.null_count():
        return column.to_numpy()
    if column.dtype.is_numeric():
        return column.cast(nw.Float64).to_numpy().astype(np.float64)  # null is nan
    if isinstance(column.dtype, nw.Datetime):
        if zone := column.dtype.time_zone:
            local = column.dt.replace_time_zone(None).to_numpy()
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
            tell_changing_clocks(local, column.to_numpy(), zone)
        return written_times(column.to_numpy())
    return plain_list(column.to_list())


def tell_changing_clocks(local: np.ndarray, utc: np.ndarray, zone: str) -> None:
    """Say so where the clocks of a zone change within these times: what was so many hours ago was then
    another hour of the day."""
    ahead = local - utc
    known = ahead[~np.isnat(ahead)]
    if len(known) and (known != known[0]).any():
        note(
            f"times of {zone} are read as those of UTC: clocks change within them, and before and after"
            " that 24 hours ago is another hour of the clock; what follows the clock is forecast an hour"
            " off for a while"
        )


def plain_list(cells: Iterable[Any]) -> list[Any]:
    """Values of libraries as those of Python."""
    given = list(cells)
    return given if {type(each) for each in given} <= USUAL else list(map(plain, given))


def plain(value: Any) -> Any:
    """One value as Python has it; a date as text, and what is missing as None."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and (value is pandas.NA or value is pandas.NaT):
        return None
    if pandas is not None and isinstance(value, pandas.Period):
        value = value.to_timestamp()
    if isinstance(value, datetime):
        moment = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
        return moment.isoformat(sep=" ")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, np.generic):
        return value.item()
    return list(value) if isinstance(value, tuple) else value


def written_times(moments: np.ndarray) -> list[str]:
    """Times as text, as short as all of them allow: 2024-03-07, or with a clock."""
    exact = moments.astype("datetime64[us]")
    there = exact[~np.isnat(exact)]
    units = ("D", "s", "us")
    unit = next(
        each
        for each in units
        if each == "us" or (there == there.astype(f"datetime64[{each}]")).all()
    )
    words = np.datetime_as_string(exact, unit=unit)  # type: ignore[call-overload]
    return ["" if word == "NaT" else word for word in words.tolist()]


# -- numbers


def numbers_in_cells(column: Any) -> np.ndarray | None:
    """Cells that are all numbers, nan where one is missing; None if they are something else, or
    nothing at all. An array of numbers stays as it is."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        return column
    if isinstance(column, (str, bytes, dict, set)) or np.isscalar(column) or column is None:
        return None
    if isinstance(column, (list, tuple)) and column and isinstance(column[0], (str, tuple, list)):
        return None
    cells = plain_cells(column)
    if isinstance(cells, np.ndarray):
        return cells
    figures = {type(cell) for cell in cells if not missing(cell)}
    if not figures or not figures <= {int, float}:
        return None
    if figures == {int} and not any(map(missing, cells)) and max(map(abs, cells)) < EXACT:
        return np.array(cells, np.int64)
    return np.array([np.nan if cell is None else cell for cell in cells], np.float64)


def typed_numbers(numbers: np.ndarray) -> Field:
    """(S,) one number each, which may be labels later."""
    python = "float" if numbers.dtype.kind == "f" else "int"
    if (
        python == "int"
        and len(numbers)
        and max(abs(int(n)) for n in (min(numbers), max(numbers))) > EXACT
    ):
        return Field.of_labels(numbers.tolist())
    return replace(number_field(numbers), python=python)


# -- fields


def field_of_cells(name: str, column: Any, whole: bool, needed: bool) -> Field | None:
    """A column as a field; a cell that is missing is refused if it must be `whole`. None if no field
    can hold it, unless it is `needed`: then that is an error."""
    cells = plain_cells(column)
    gap = first_gap(name, cells) if whole else None
    if gap is not None:
        raise DataError(
            f"row {gap} of {name!r} is missing, counted from 0",
            got=repr(cells[gap]),
            do="Fill it in, or leave the row out",
        )
    try:
        return field_of_plain(name, cells)
    except DataError:
        if needed:
            raise
        return None


def first_gap(name: str, cells: np.ndarray | list[Any]) -> int | None:
    """The first cell that is missing; of labels, one without a name, too."""
    labels = name in LABELS
    if isinstance(cells, np.ndarray):
        gaps = np.flatnonzero(np.isnan(cells)) if labels else np.zeros(0, np.int64)
        return int(gaps[0]) if len(gaps) else None
    rows = (row for row, cell in enumerate(cells) if missing(cell) or (labels and cell == ""))
    return next(rows, None)


def field_of_plain(name: str, cells: np.ndarray | list[Any]) -> Field:
    """Plain cells as the field that they and the name of their column call for."""
    kinds = types_in(cells)
    scalar = not kinds & {list, np.ndarray}
    if name in LABELS and scalar:
        return Field.of_labels(cells if isinstance(cells, list) else cells.tolist())
    if isinstance(cells, np.ndarray):
        return typed_numbers(cells)
    if kinds <= {str}:
        texts = ["" if missing(cell) else cell for cell in cells]
        return Field.of_symbols(map(str.split, texts)) if name in TOKENS else Field.of_text(texts)
    if kinds == {bool}:
        return Field.of_labels(cells)
    numbers = numbers_in_cells(cells)
    if numbers is not None:
        return typed_numbers(numbers)
    if name in TOKENS and not scalar:
        return Field.of_symbols([] if missing(cell) else plain_list(cell) for cell in cells)
    return field_in(cells, True, f"{name!r} holds one kind of value")[1]


def types_in(cells: np.ndarray | list[Any]) -> set[type]:
    """The types of the cells of a list that are not missing; of an array none."""
    if isinstance(cells, np.ndarray):
        return set()
    return {type(cell) for cell in cells if not missing(cell)}


def field_in(items: Sequence[Any], gaps: bool, do: str) -> tuple[str, Field]:
    """Sequences of one kind, and which: texts, token lists, or numbers, alone or in channels."""
    kinds = [kind_of(item) for item in items]
    known = [kind for kind in kinds if kind not in ("", "missing")]
    first = known[0] if known else TEXT
    for place, kind in enumerate(kinds):
        if kind not in (first, "") and not (kind == "missing" and gaps and first == TEXT):
            raise unlike(items[place], place, kind, first, do)
    if first == TEXT:
        blank = [each is None or missing(each) or not len(each) for each in items]  # lists, too
        return TEXT, Field.of_text("" if no else each for no, each in zip(blank, items))
    if first == SYMBOLS:
        return SYMBOLS, Field.of_symbols(plain_list(each) for each in items)
    if first == NUMBERS:
        return NUMBERS, rows_of_numbers(items, do)
    raise DataError("these are no sequences", got=f"{first} {items[0]!r}", do=do)


def unlike(item: Any, place: int, kind: str, first: str, do: str) -> DataError:
    """What is said of a sequence of another kind than the first."""
    words = "these are no sequences"
    if first in (TEXT, SYMBOLS, NUMBERS):
        how = "missing" if kind == "missing" else "not like the others"
        words = f"sequence {place} is {how}, counted from 0"
    return DataError(words, got=f"{type(item).__name__} {item!r}", do=do)


def kind_of(item: Any) -> str:
    """Of which kind a sequence is: TEXT, SYMBOLS or NUMBERS; "" if it is an empty list, "missing", or
    what else it is."""
    if isinstance(item, str):
        return TEXT
    if item is None or missing(item):
        return "missing"
    if isinstance(item, np.ndarray) and item.dtype.kind in "biuf":
        return NUMBERS if item.ndim in (1, 2) else type(item).__name__
    if not isinstance(item, (list, tuple, np.ndarray)):
        return type(item).__name__
    inside = plain_list(item)
    if not inside:
        return ""
    if {type(each) for each in inside} <= {str}:
        return SYMBOLS
    if are_numbers(inside):
        return NUMBERS
    return f"{type(item).__name__} of {inside[0].__class__.__name__}"


def are_numbers(inside: list[Any]) -> bool:
    """Whether these are numbers, not all of them truth values, or lists of numbers."""
    kinds = {type(each) for each in inside}
    flat = kinds <= {int, float, bool} and kinds != {bool}
    return flat or (
        kinds <= {list, np.ndarray}
        and all(isinstance(n, (int, float, np.number)) for each in inside for n in each)
    )


def rows_of_numbers(items: Sequence[Any], do: str) -> Field:
    """Numbers, (T,) or (T, C) for each sequence, some of which may be empty."""
    try:
        rows = [np.asarray(each, np.float64) for each in items]
        wide = next((row.shape[1:] for row in rows if len(row)), ())
        return Field.of_numbers(row if len(row) else np.zeros((0, *wide)) for row in rows)
    except (TypeError, ValueError) as error:
        raise DataError(
            "sequences of numbers have equally many channels", got=error, do=do
        ) from None
