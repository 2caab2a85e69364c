"""Columns of a table -> fields: what the name of a column and its cells call for.

    text cells    numbers where (nearly) all of them are, labels and tokens by their names, else text
    JSON values   text, numbers, truth values, lists of them: one kind in all rows

Whole columns are turned at once, by polars; only cells that it does not take for numbers are looked
at one by one. Shapes: S rows, a cell in each.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from seriatim.data.sequences import NUMBERS, TEXT, Field, offsets_of
from seriatim.errors import DataError

if TYPE_CHECKING:
    import polars

# columns with one symbol a sequence
LABELS = set("label labels class category target_label tag".split())  # noqa: SIM905


TOKENS = {"tokens", "tags"}  # columns with symbols between blanks


PAIR = {"source", "target"}  # columns of what is translated: as written, 007 too


MISSING = {"", "nan", "na", "n/a", "null", "none"}


ENOUGH = 0.9  # a column with this share of numbers is meant to be numbers


MOST_JOINED = 2**31  # bytes that polars puts into one text


# Cells of text


def number_in(cell: str) -> float | None:
    """The number a cell holds, nan for a missing one, None for anything else."""
    if cell.strip().lower() in MISSING:
        return math.nan
    try:
        return None if "_" in cell else float(cell)  # float("1_2") is 12, a name for most
    except ValueError:
        return None


def numbers_in(cells: polars.Series) -> tuple[np.ndarray, np.ndarray] | None:
    """(S,) the numbers of cells, nan where one is missing, and (S,) which cells are anything else.

    None if so many are something else that the column is not meant to be numbers.
    """
    import polars

    numbers = cells.cast(polars.Float64, strict=False).fill_null(math.nan).to_numpy(writable=True)
    other = np.zeros(len(cells), bool)
    rows = np.flatnonzero(~np.isfinite(numbers))  # what polars takes for a number is one
    most = 1 + (1 - ENOUGH) * len(cells)
    known: dict[str, float | None] = {}
    strange = 0
    for some in np.array_split(rows, 1 + len(rows) // 10_000):
        for row, cell in zip(some.tolist(), cells.gather(some).to_list()):
            if cell not in known:
                known[cell] = number_in(cell)
            number = known[cell]
            other[row], numbers[row] = number is None, math.nan if number is None else number
            strange += number is None
        if strange > most:
            return None
    return numbers, other


def texts_of(column: Field) -> list[str]:
    """All cells of a column of text."""
    content = column.flat.tobytes()
    places = (column.offsets - column.offsets[0]).tolist()
    if content.isascii():
        text = content.decode()
        return [text[start:stop] for start, stop in pairwise(places)]
    return [
        content[start:stop].decode("utf-8", "surrogatepass") for start, stop in pairwise(places)
    ]


def text_field(cells: polars.Series) -> Field:
    """Text as UTF-8 bytes, a cell each."""
    offsets = offsets_of(cells.str.len_bytes().to_numpy().astype(np.int64))
    few = offsets[-1] < MOST_JOINED
    text = cells.str.join("").item() if few and len(cells) else "".join(cells.to_list())
    return Field(np.frombuffer(text.encode(), np.uint8), offsets, TEXT)


def no_label(path: str, line: int | None, name: str) -> DataError:
    """The error of a row whose label is missing."""
    return DataError(
        f"missing value in column {name!r}",
        file=path,
        line=line,
        do="Give every row a label, or leave the row out",
    )


# Values of JSON


def field_of(
    name: str, values: Sequence[Any], path: str, lines: Sequence[int], gaps: bool = False
) -> Field:
    """A column whose rows are all of one kind, as the field its name and kind call for.

    With `gaps`, null among numbers is nan.
    """
    kinds = [kind_of(value) for value in values]
    if gaps and "number" in kinds:
        values = [math.nan if value is None else value for value in values]
        kinds = ["number" if value != value else kind_of(value) for value in values]
    expected = next((kind for kind in kinds if kind != "empty list"), "list of text")
    known = family(expected) in FIELDS
    alike = {expected, "empty list"} if expected.startswith("list") else {expected}
    for kind, value, line in zip(kinds, values, lines):
        if kind not in alike or not known:
            raise DataError(
                f"{kind} in column {name!r}",
                file=path,
                line=line,
                got=None if isinstance(value, (list, dict)) else value,
                do=f"Expected in every row: {expected if known else ', or '.join(FIELDS)}",
            )
    return field_of_kind(name, expected, values)


def field_of_kind(name: str, kind: str, values: Sequence[Any]) -> Field:
    """Values of one kind as a field: tokens and labels by the name of the column, else by the kind."""
    if name in TOKENS and kind == "text":
        return Field.of_symbols(value.split() for value in values)
    if name in LABELS and not kind.startswith("list"):
        return label_field(values)
    return FIELDS[family(kind)](values)


def family(kind: str) -> str:
    """Lists of channels have equally many in every row; how many is no matter for which field they make."""
    return kind.partition(",")[0]


def kind_of(value: object) -> str:
    """What a value is, in words: a key of FIELDS, or something that no field holds.

    Lists of lists also say how many numbers each has.
    """
    if not isinstance(value, list):
        return scalar_kind(value)
    if value and all(
        isinstance(item, list) and item and {*map(scalar_kind, item)} == {"number"}
        for item in value
    ):
        return ", ".join([CHANNELS, *(f"{size} each" for size in sorted({*map(len, value)}))])
    kinds = {scalar_kind(item) for item in value}
    return f"list of {' and '.join(sorted(kinds))}" if kinds else "empty list"


def scalar_kind(value: object) -> str:
    """What a value that is no list is, in words."""
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool):
        return "truth value"
    if isinstance(value, (int, float)):
        if value != value:
            return "NaN"
        return "number" if abs(value) <= sys.float_info.max else "number out of range"
    return "missing value" if value is None else "nested value"


def label_field(values: Iterable[str | float | bool]) -> Field:
    """One symbol for each sequence; what is not text is written as in JSON."""
    return Field.of_labels(
        value if isinstance(value, str) else json.dumps(value) for value in values
    )


def number_field(values: Sequence[float] | np.ndarray) -> Field:
    """One number for each sequence."""
    return Field(np.array(values, np.float64), np.arange(len(values) + 1), NUMBERS)


def channels_field(values: Sequence[list[list[float]]]) -> Field:
    """Equally many numbers at every step: (T, D) for each sequence, some of which may be empty."""
    wide = next(len(value[0]) for value in values if value)
    return Field.of_numbers(np.array(value, np.float64).reshape(-1, wide) for value in values)


CHANNELS = "list of lists of numbers"


FIELDS: dict[str, Callable[..., Field]] = {
    "text": Field.of_text,
    "number": number_field,
    "truth value": label_field,
    "list of text": Field.of_symbols,
    "list of number": Field.of_numbers,
    CHANNELS: channels_field,
}
