"""Tables of cells between commas (csv, as RFC 4180 has it; or semicolons, tabs or bars) or tabs (tsv,
which knows no quotes).

    bytes -> are all rows alike? -> polars -> columns -> fields
                     no -> row by row: slow, but it can name the line that is wrong

Polars fills up rows that are too short, and takes odd quotes in ways of its own. So numpy looks
first at where the quotes, the separators and the ends of the lines are, and polars is asked only
where there can be no two opinions. Shapes: N bytes, S rows, Q quotes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, islice
from typing import TYPE_CHECKING

import numpy as np

from seriatim.data.columns import (
    ENOUGH,
    LABELS,
    PAIR,
    TOKENS,
    field_of_kind,
    no_label,
    number_field,
    numbers_in,
    text_field,
)
from seriatim.data.files import add_notes, blank_left_out, utf8
from seriatim.data.headers import LOOKED_AT, guessed_names, known_name, why_no_header
from seriatim.data.marks import read_alike
from seriatim.data.moments import are_months
from seriatim.data.sequences import Field, Table
from seriatim.errors import ConfigError, DataError, keep, shorten

if TYPE_CHECKING:
    import polars

MOST_COLUMNS = 10_000  # of a table: each costs far more than its bytes


FIRST_LINES = 20  # that are looked at for what parts the cells


SEPARATORS = {"csv": ",", "tsv": "\t"}  # the usual ones: of csv see `separator_of`


MARKS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}  # the likeliest first


QUOTE, NEWLINE, RETURN = b'"\n\r'


QUOTED = re.compile(rb'"[^"]*+"')


DECIMAL_COMMA = re.compile(rb"(?<=\d),(?=\d)")


END = re.compile(r"\r\n|\r|\n|\Z")  # of a row


Row = tuple[int, list[str]]  # the line it begins on, its cells


@dataclass(frozen=True)
class TableRequest:
    """What a table is read with."""

    path: str
    columns: str | Sequence[str] | None = None
    problems: list[DataError] | None = None
    notes: list[str] | None = None
    gaps: bool = False
    wants: str = ""  # what a table without a header should have: label, value, pair
    settled: dict[str, str] = field(default_factory=dict)  # takes how it was read
    separator: str = SEPARATORS["csv"]
    decimal: str = ""  # the mark before decimals: comma or point; "": as it is found


@dataclass(frozen=True)
class Grid:
    """Rows of equally many cells, column by column."""

    columns: list[polars.Series]  # (S,) text each
    lines: np.ndarray  # (S,) the line each row begins on

    def take(self, rows: np.ndarray) -> Grid:
        """Some of the rows."""
        return Grid([column.gather(rows) for column in self.columns], self.lines[rows])


def read_csv(
    path: str,
    columns: str | Sequence[str] | None = None,
    problems: list[DataError] | None = None,
    notes: list[str] | None = None,
    gaps: bool = False,
    encoding: str = "",
    wants: str = "",
    settled: dict[str, str] | None = None,
    decimal: str = "",
) -> Table:
    """Cells between commas, or semicolons, tabs or bars; those that hold such, quotes or line breaks
    stand in quotes."""
    content = utf8(path, encoding, notes)
    settled, mark = {} if settled is None else settled, separator_of(content)
    if mark != "," and notes is not None:
        notes.append(f"{path}: its columns lie between {MARKS[mark]}")
    add_notes(notes, path, blank_left_out(blank_lines(content, True)))
    asked = TableRequest(path, columns, problems, notes, gaps, wants, settled, mark, decimal)
    grid = grid_of(content, mark, True)
    return table(asked, grid, lambda: csv_rows(content.decode(), path, mark))


def read_tsv(
    path: str,
    columns: str | Sequence[str] | None = None,
    problems: list[DataError] | None = None,
    notes: list[str] | None = None,
    gaps: bool = False,
    encoding: str = "",
    wants: str = "",
    settled: dict[str, str] | None = None,
    decimal: str = "",
) -> Table:
    """Cells between tabs, as they are."""
    content = utf8(path, encoding, notes)
    settled = {} if settled is None else settled
    add_notes(notes, path, blank_left_out(blank_lines(content, False)))
    tab = SEPARATORS["tsv"]
    asked = TableRequest(path, columns, problems, notes, gaps, wants, settled, tab, decimal)
    return table(asked, grid_of(content, tab, False), lambda: tsv_rows(content.decode()))


def separator_of(content: bytearray) -> str:
    """What parts the cells of a csv file: a comma, unless the first lines have equally many
    semicolons, tabs or bars, and not equally many commas: all of them; or, where there is no such
    mark, the header and at least half of them, so that a row that is wrong does not hide it."""
    end = 0
    for _ in range(FIRST_LINES):
        end = content.find(b"\n", end) + 1
        if not end:
            break
    head = QUOTED.sub(b"", content[: end or len(content)])
    lines = [line for line in head.split(b"\n") if line]
    alike = parting(lines, 1) or parting(lines, 0.5)
    if b";" in alike and b"," not in DECIMAL_COMMA.sub(b"", head):
        return ";"  # 1,5;2,5
    return alike[0].decode() if alike else ","


def parting(lines: list[bytes], share: float) -> list[bytes]:
    """The marks that such a share of the lines has as often as the first one does, which has some."""
    found = []
    for mark in (mark.encode() for mark in MARKS):
        counts = [line.count(mark) for line in lines]
        if counts and counts[0] and counts.count(counts[0]) >= share * len(counts):
            found.append(mark)
    return found


def blank_lines(content: bytearray, quoted: bool) -> int:
    """How many lines have nothing in them, and are not inside of a cell."""
    if b"\n\n" not in content and not content.startswith(b"\n"):
        return 0
    values = np.frombuffer(content, np.uint8)
    newlines = np.flatnonzero(values == NEWLINE)
    blank = newlines[np.diff(newlines, prepend=-1) == 1]
    return len(blank) - int(inside_quotes(values, blank).sum() if quoted else 0)


# All rows at once


def grid_of(content: bytearray, separator: str, quoted: bool) -> Grid | None:
    """The cells as polars reads them; None where it might read them differently from us, or not at all."""
    import polars

    plain = one_line_ending(content, quoted)
    found = None if plain is None else plain_rows(plain, ord(separator), quoted)
    if found is None:
        return None
    plain, lines, width = found
    names = [str(place) for place in range(width)]
    # A header of our own: so the file never begins with bytes that polars takes for those of an archive.
    table = separator.join(names).encode() + b"\n" + plain
    try:
        frame = polars.read_csv(
            table,
            separator=separator,
            quote_char='"' if quoted else None,
            schema=dict.fromkeys(names, polars.String),
            truncate_ragged_lines=False,
        )
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException):
        return None
    if frame.shape != (len(lines), width):
        return None
    return Grid([column.fill_null("") for column in frame.get_columns()], lines)


def one_line_ending(content: bytearray, quoted: bool) -> bytes | bytearray | None:
    """The same with \\n alone at the end of each line; None if \\r is anywhere else."""
    if RETURN not in content:
        return content
    values = np.frombuffer(content, np.uint8)
    if quoted and inside_quotes(values, np.flatnonzero(values == RETURN)).any():
        return None
    content = content.replace(b"\r\n", b"\n")
    return None if RETURN in content else content


def inside_quotes(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Which places have an odd number of quotes before them."""
    return np.searchsorted(np.flatnonzero(values == QUOTE), places) % 2 == 1


def plain_rows(
    content: bytes | bytearray, separator: int, quoted: bool
) -> tuple[bytes, np.ndarray, int] | None:
    """The content without blank lines, (S,) the line each row begins on, and how many cells each has.

    None if rows differ in that, or if quotes are not where they belong.
    """
    values = np.frombuffer(content, np.uint8)  # (N,)
    newlines = np.flatnonzero(values == NEWLINE)
    cuts = np.flatnonzero(values == separator)
    stops, lines = newlines, np.arange(2, len(newlines) + 2)  # of the line behind each newline
    if quoted and QUOTE in content:
        if not quotes_in_place(values, separator):
            return None
        outside = ~inside_quotes(values, newlines)
        stops, lines = newlines[outside], lines[outside]
        cuts = cuts[~inside_quotes(values, cuts)]
    starts, lines = np.append(0, stops + 1), np.append(1, lines)
    stops = np.append(stops, len(values))
    written = starts < stops  # (S,) blank lines are no rows
    before = np.searchsorted(cuts, starts[written])
    cells = np.searchsorted(cuts, stops[written]) - before + 1
    if not len(cells) or cells[0] > MOST_COLUMNS or (cells != cells[0]).any():
        return None
    blank = stops[~written]
    if len(blank):
        content = np.delete(values, blank[blank < len(values)]).tobytes()
    return bytes(content), lines[written], int(cells[0])


def quotes_in_place(values: np.ndarray, separator: int) -> bool:
    """Whether every quote opens a cell, closes one, or is one of two in a row inside of one."""
    quotes = np.flatnonzero(values == QUOTE)  # (Q,)
    if len(quotes) % 2:
        return False
    opening, closing = quotes[0::2], quotes[1::2]
    before = values[opening[opening > 0] - 1]
    after = values[closing[closing < len(values) - 1] + 1]
    allowed = [separator, NEWLINE, QUOTE]
    return bool(np.isin(before, allowed).all() and np.isin(after, allowed).all())


# Row by row


@cache
def cell_pattern(separator: str) -> re.Pattern[str]:
    """A cell that is quoted, or not."""
    return re.compile(rf'"((?:[^"]++|"")*+)"|(?!")[^{separator}\r\n]*+')


def csv_rows(text: str, path: str, separator: str = ",") -> Iterator[Row]:
    """Rows with the line they begin on; blank lines are skipped."""
    place, line, pattern = 0, 1, cell_pattern(separator)
    while place < len(text):
        begin, first, row = place, line, []
        end = END.match(text, place)  # a blank line
        while end is None:
            cell = pattern.match(text, place)
            if cell is None:
                raise not_csv("unexpected end of data", path, first)
            row.append(cell[0] if cell[1] is None else cell[1].replace('""', '"'))
            place = cell.end()
            end = END.match(text, place)
            if end is None and text[place] != separator:
                raise not_csv(f"{separator!r} expected after '\"'", path, first)
            if end is None and place + 1 == len(text):
                row.append("")  # nothing stands behind the last comma
                end = END.match(text, place + 1)
            place += 1
        place = end.end()
        line += line_ends(text, begin, place)
        if row:
            yield first, row


def line_ends(text: str, begin: int, end: int) -> int:
    """How many lines end in a piece of text: with \\n, \\r\\n or \\r."""
    returns = text.count("\r", begin, end)
    return text.count("\n", begin, end) + returns - text.count("\r\n", begin, end)


def not_csv(why: str, path: str, line: int) -> DataError:
    """The error of a row whose quotes are wrong."""
    return DataError(
        "this row is not valid csv",
        got=why,
        file=path,
        line=line,
        do='Put cells with quotes in quotes and double those inside: "say ""yes"""',
    )


def tsv_rows(text: str) -> Iterator[Row]:
    """Rows with their lines; blank ones are skipped."""
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        cells = line.removesuffix("\r")
        if cells:
            yield number, cells.split("\t")


# From rows to fields


def table(asked: TableRequest, grid: Grid | None, rows: Callable[[], Iterator[Row]]) -> Table:
    """The fields of a grid, or of rows where there is none; the first row is the header.

    Unless the columns are named; but if it has such names all the same, it is left out.
    """
    found = None if grid is None else with_header(asked, grid)
    names, grid = found or checked_rows(asked, rows())
    if not asked.gaps:
        grid = with_labels(asked, names, grid)
    if not len(grid.lines):
        return {}, grid.lines
    written = LABELS | TOKENS | {"text"} | (PAIR if set(names) >= PAIR else set())
    if asked.wants == "pair" and not set(names) >= PAIR:
        written |= set(names[:2])
    columns = dict(zip(names, grid.columns))
    others = [name for name in names if name not in written]
    columns |= zip(others, plainly_written(asked, others, [columns[name] for name in others]))
    fields = {
        name: written_field(name, cells)
        if name in written
        else number_or_text_field(asked, name, cells, grid.lines)
        for name, cells in columns.items()
    }
    return fields, grid.lines


def plainly_written(
    asked: TableRequest, names: list[str], columns: list[polars.Series]
) -> list[polars.Series]:
    """The columns with a point before their decimals, and no marks between thousands; what was
    found out is said, and kept."""
    plain, said, mark = read_alike(names, columns, asked.separator, asked.decimal)
    if mark:
        asked.settled["decimal"] = mark
    if asked.notes is not None:
        asked.notes.extend(f"{asked.path}: {words}" for words in said)
    return plain


def header_of(
    asked: TableRequest, line: int, header: list[str], below: list[list[str]]
) -> tuple[list[str], bool]:
    """The names of the columns, and whether the first row has them; `below` has the first cells of
    each column under it."""
    if asked.columns is None:
        why = why_no_header(header, below, asked.wants)
        if why:
            return without_header(asked, header, below, why), False
        names = column_names(header, DataError, file=asked.path, line=line)
        return list(map(known_name, names)), True
    names = column_names(asked.columns, ConfigError)
    pairs = list(zip((cell.strip().lower() for cell in header), (name.lower() for name in names)))
    named = len(header) == len(names) and (
        all(cell == name for cell, name in pairs)
        or any({cell, name} <= LABELS for cell, name in pairs)
    )
    if named and asked.notes is not None:
        asked.notes.append(f"{asked.path}:{line} names the columns, and is left out as a header")
    return names, named


def without_header(
    asked: TableRequest, header: list[str], below: list[list[str]], why: str
) -> list[str]:
    """Names for the columns of a table that has none; this is said, and kept."""
    columns = [[cell, *cells] for cell, cells in zip(header, below)]
    names = guessed_names(columns, asked.wants)
    asked.settled["columns"] = ",".join(names)
    if asked.notes is not None:
        asked.notes.append(
            f"{asked.path}: the first row is data and no header ({why}); the columns are taken for "
            f"{', '.join(names)}: name them with --columns"
        )
    return names


def with_header(asked: TableRequest, grid: Grid) -> tuple[list[str], Grid] | None:
    """The names of the columns and the rows below; None if there are not as many columns."""
    header = [str(cells[0]) for cells in grid.columns]
    below = [cells.slice(1, LOOKED_AT).to_list() for cells in grid.columns]
    names, named = header_of(asked, int(grid.lines[0]), header, below)
    if len(names) != len(header):
        return None
    return names, grid.take(np.arange(1, len(grid.lines))) if named else grid


def checked_rows(asked: TableRequest, rows: Iterator[Row]) -> tuple[list[str], Grid]:
    """The names of the columns, and the rows that have as many cells; the others are problems."""
    import polars

    first, header = next(rows, (1, []))
    if len(header) > MOST_COLUMNS:
        raise DataError(
            f"a table has at most {MOST_COLUMNS:,} columns",
            got=f"{len(header):,}",
            file=asked.path,
            line=first,
            do="Write one value a row, or sequences as lists in JSON lines",
        )
    some = list(islice(rows, LOOKED_AT))
    alike = [row for _, row in some if len(row) == len(header)]
    names, named = header_of(asked, first, header, list(map(list, zip(*alike))))
    rows = chain(some, rows)
    cells, lines = [], []
    for line, row in rows if named or not header else chain([(first, header)], rows):
        if len(row) == len(names):
            cells.append(row)
            lines.append(line)
        else:
            keep(ragged(asked, names, row, line), asked.problems)
    columns = [polars.Series(column, dtype=polars.String) for column in zip(*cells)]
    return names, Grid(columns, np.array(lines, np.int64))


def ragged(asked: TableRequest, names: list[str], row: list[str], line: int) -> DataError:
    """The error of a row that has more or fewer cells than there are columns."""
    return DataError(
        f"columns found: {len(row)}, expected: {len(names)}",
        got=row,
        file=asked.path,
        line=line,
        do=f"The columns are: {shorten(', '.join(names))}",
    )


def column_names(
    names: str | Sequence[str],
    error: type[DataError | ConfigError],
    file: str | None = None,
    line: int | None = None,
) -> list[str]:
    """The names of columns, each with one of its own."""
    names = [name.strip() for name in (names.split(",") if isinstance(names, str) else names)]
    if not names or not all(names) or len(set(names)) < len(names):
        raise error(
            "every column needs a name of its own",
            got=names,
            do="Correct the header, or name the columns where the file has none",
            file=file,
            line=line,
        )
    return names


def with_labels(asked: TableRequest, names: list[str], grid: Grid) -> Grid:
    """The rows that have their labels; those that have not are problems."""
    for place, name in enumerate(names):
        if name not in LABELS or not len(grid.lines):
            continue
        there = (grid.columns[place] != "").to_numpy()
        for line in grid.lines[~there].tolist():
            keep(no_label(asked.path, line, name), asked.problems)
        if not there.all():
            grid = grid.take(np.flatnonzero(there))
    return grid


def written_field(name: str, cells: polars.Series) -> Field:
    """Cells as they are written: labels, tokens or text."""
    if name in LABELS or name in TOKENS:
        return field_of_kind(name, "text", cells.to_list())
    return text_field(cells)


def number_or_text_field(
    asked: TableRequest, name: str, cells: polars.Series, lines: np.ndarray
) -> Field:
    """Numbers if all cells are, or all that are not missing where gaps may be; else text, as months
    are that look like numbers: 03.2024."""
    found = numbers_in(cells)
    if found is None or are_months(cells):
        return text_field(cells)
    numbers, other = found  # (S,) each
    finite = np.isfinite(numbers)
    missing = np.isnan(numbers) & ~other
    absent = missing.sum() if asked.gaps else 0
    if not finite.any() or finite.sum() < ENOUGH * (len(cells) - absent):
        return text_field(cells)
    wrong = np.flatnonzero(np.isinf(numbers) if asked.gaps else np.isinf(numbers) | missing)
    if len(wrong):
        row = int(wrong[0])
        raise DataError(
            f"{'missing value' if missing[row] else 'infinite number'} in column {name!r}",
            got=repr(cells[row]),
            file=asked.path,
            line=int(lines[row]),
            do="Fill it in or leave the row out",
        )
    return text_field(cells) if other.any() else number_field(numbers)
