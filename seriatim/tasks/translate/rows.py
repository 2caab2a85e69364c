"""Which rows of a file are pairs: what is left out, and said with its line.

A header among the rows, pairs with an empty side, sequences that are too long to be read whole.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from seriatim.batches import MOST_PAIRED
from seriatim.data.columns import number_in
from seriatim.data.headers import names_pair
from seriatim.data.sequences import TEXT, Field, Sequences
from seriatim.progress import note
from seriatim.tasks.translate.sources import SOURCE, TARGET

SHOWN = 5  # lines that are named


def numbered(data: Sequences) -> Sequences:
    """The same with a number for each row, which stays its own when the data are divided."""
    return data if data.lines is not None else replace(data, lines=np.arange(1, len(data) + 1))


def places(data: Sequences, rows: np.ndarray) -> str:
    """Where rows stand: 'train.tsv, line 17', 'train.tsv, lines 17, 40 and 3 more'."""
    lines = numbered(data).lines
    assert lines is not None
    word = "pair" if data.origin == "memory" else "line"
    named = ", ".join(f"{line:,}" for line in lines[rows[:SHOWN]].tolist())
    more = f" and {len(rows) - SHOWN:,} more" if len(rows) > SHOWN else ""
    where = "" if data.origin == "memory" else f"{data.origin}, "
    return f"{where}{word}{'s' * (len(rows) > 1)} {named}{more}"


def counted(rows: np.ndarray, one: str) -> str:
    """'1 pair has', '3 pairs have'."""
    return f"{len(rows):,} {one}s have" if len(rows) != 1 else f"1 {one} has"


def empty(column: Field) -> np.ndarray:
    """(S,) which texts have nothing but blanks."""
    if column.kind != TEXT:
        return np.zeros(len(column), bool)
    found = column.lengths == 0
    for s in np.flatnonzero(~found).tolist():
        found[s] = column.row(s).tobytes().isspace()
    return found


def with_both_sides(data: Sequences) -> Sequences:
    """The pairs that have a source and a target; how many have not, and where, is said."""
    data = numbered(data)
    without = empty(data.field(SOURCE)) | empty(data.field(TARGET))
    if not without.any():
        return data
    rows = np.flatnonzero(without)
    note(f"{counted(rows, 'pair')} an empty side, left out: {places(data, rows)}")
    return data[np.flatnonzero(~without)]


def too_long(*columns: Field) -> np.ndarray:
    """(S,) which rows have more symbols than can be read as a whole."""
    return np.logical_or.reduce([column.lengths > MOST_PAIRED for column in columns if len(column)])


def tell_long(data: Sequences, rows: np.ndarray, what: str, done: str) -> None:
    """Say which rows are too long, and what is done about it."""
    limit = f"more than {MOST_PAIRED:,} symbols"
    note(f"{counted(rows, what)} {limit}, {done}: {places(data, rows)}; is a line ending missing?")


def without_header(data: Sequences) -> Sequences:
    """The data without a first row that names its columns: cells that are such names, or a word
    above numbers."""
    if len(data) < 2 or data.lines is None or data.lines[0] != 1 or not heads(data):
        return data
    names = ", ".join(repr(str(column.raw(0))) for column in data.fields.values())
    note(f"{data.origin}, line 1 names the columns ({names}), and is left out as a header")
    return data[1:]


def heads(data: Sequences) -> bool:
    """Whether the first row is a header."""
    pair = [data.fields[name] for name in (SOURCE, TARGET) if name in data.fields]
    cells = [str(column.raw(0)) for column in pair if column.kind == TEXT]
    if len(cells) == 2 and names_pair(cells):
        return True
    others = (data.fields[name] for name in data.fields.keys() - {SOURCE, TARGET})
    return any(above_numbers(column) for column in others if column.kind == TEXT)


def above_numbers(column: Field) -> bool:
    """Whether the first cell is the only one that is no number."""
    head, *below = (str(column.raw(s)) for s in range(min(len(column), 100)))
    return number_in(head) is None and all(number_in(cell) is not None for cell in below)
