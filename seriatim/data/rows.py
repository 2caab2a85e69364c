"""Files with a row for each series: its name, then its numbers, as many as it has.

    "W1",1089.2,1078.91,1079.88
    "W2",195.928,194.796

So competitions publish them. A header, if there is one, calls its columns after their places, or has
the times. Shapes: n values of one series.
"""

from __future__ import annotations

import csv
import re

import numpy as np

from seriatim.data.columns import ENOUGH, number_in
from seriatim.data.files import utf8
from seriatim.data.gaps import Piece, refuse_gaps, without_gaps
from seriatim.data.moments import moments_of
from seriatim.data.sequences import Field, Sequences
from seriatim.data.series import joined

NUMBERED = re.compile(r"\D*?(\d+)")  # a column that is called after its place: V2, 3, step 4


LEAST_CELLS = 4  # a name and three numbers, where no header says what they are


def series_in_rows(
    path: str,
    separator: str,
    fill: str = "refuse",
    notes: list[str] | None = None,
    encoding: str = "",
) -> Sequences | None:
    """A file with a row for each series, its name first, then its numbers, as many as it has.

    Columns are called after their places, or are dates, or have no names. None if the file is
    something else: a row for each time.
    """
    said: list[str] = []
    content = utf8(path, encoding, said)
    if not begins_so(content, separator):
        return None
    rows = cells_in(content.decode(), separator)
    times = header_in(rows[0])
    body = rows if times is None else rows[1:]
    names = [row[0].strip() for row in body]
    if not body or len(set(names)) < len(names) or not all(tells_row(row, 2) for row in body):
        return None
    if np.isfinite(moments_of(names)).mean() >= ENOUGH:
        return None
    lines = np.arange(len(body)) + (1 if times is None else 2)
    table = Sequences({"name": Field.of_labels(names)}, origin=path, lines=lines)
    pieces = [piece_of_row(table, s, row[1:], times, fill) for s, row in enumerate(body)]
    if notes is not None:
        notes += [*said, remark(pieces, times is not None and len(times) > 0)]
    return joined(path, names, pieces, ("value",), ())


def begins_so(content: bytearray, separator: str) -> bool:
    """Whether the first two lines can be those of such a file."""
    second = content.find(b"\n", content.find(b"\n") + 1)
    begin = cells_in(content[: second if second > 0 else len(content)].decode(), separator)
    if not begin or not (header_in(begin[0]) is not None or tells_row(begin[0], LEAST_CELLS)):
        return False
    return all(tells_row(row, 2) and np.isnan(moments_of([row[0]])[0]) for row in begin[1:])


def remark(pieces: list[Piece], dated: bool) -> str:
    """How such a file was read."""
    lengths = [len(time) for time, _, _ in pieces]
    low, high = f"{min(lengths):,}", f"{max(lengths):,}"
    many = low if low == high else f"{low} to {high}"
    by = ", dated by the header" if dated else ""
    return f"read as series in rows: {len(pieces):,} series of {many} values{by}"


def cells_in(text: str, separator: str) -> list[list[str]]:
    """The rows of a text that are not blank, without the empty cells at their ends."""
    rows = []
    lines = text.splitlines()
    tabs = (line.split("\t") for line in lines)  # which know no quotes
    for row in csv.reader(lines) if separator == "," else tabs:
        last = next((i for i in range(len(row), 0, -1) if row[i - 1].strip()), 0)
        if last:
            rows.append(row[:last])
    return rows


def header_in(row: list[str]) -> np.ndarray | None:
    """The times that a header has, none if its columns are numbered; None if it is no such header."""
    others = [cell.strip() for cell in row[1:]]
    if not others or number_in(row[0]) is not None:
        return None
    moments = moments_of(others)
    if np.isfinite(moments).all() and (np.diff(moments) > 0).all() and len(others) > 1:
        return moments
    places = [NUMBERED.fullmatch(cell) for cell in others]
    if any(place is None for place in places):
        return None
    numbers = np.array([int(place[1]) for place in places if place is not None])
    return np.zeros(0) if (np.diff(numbers) == 1).all() else None


def tells_row(row: list[str], least: int) -> bool:
    """Whether a row is a name and then numbers, some of which may be missing."""
    if len(row) < least or number_in(row[0]) is not None:
        return False
    return numbers_in_row(row[1:]) is not None


def numbers_in_row(cells: list[str]) -> np.ndarray | None:
    """(n,) the numbers of cells, nan where one is missing; None if any is something else."""
    try:
        return np.array(list(map(float, cells)))
    except ValueError:
        numbers = [number_in(cell) for cell in cells]
        return None if None in numbers else np.array(numbers, np.float64)


def piece_of_row(
    table: Sequences, s: int, cells: list[str], times: np.ndarray | None, fill: str
) -> Piece:
    """One series of a file with a row for each, filled."""
    numbers = numbers_in_row(cells)
    assert numbers is not None
    values = numbers[:, None]  # (n, 1)
    rows = np.full(len(values), s)
    if fill == "refuse":
        refuse_gaps(table, rows, np.isnan(values), ("value",))
    time = np.arange(len(values), dtype=np.float64)
    if times is not None and len(times) >= len(values):
        time = times[: len(values)]
    return without_gaps(table, rows, time, values, ("value",), fill, 0, 1)
