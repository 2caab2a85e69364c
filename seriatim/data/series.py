"""A table of numbers over time -> series: channels side by side, one series after another.

    wide    date, load, price            a column a channel
    long    series, date, value          several series in any order, with one channel or more
    rows    series, value, value, ...    a row a series, as long as it is

Gaps are refused or filled, never passed over: cells that are missing, and rows that are missing
between times on a regular grid. Irregular times stay as they are. Shapes: N rows, C channels, K
inputs known in advance.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from seriatim.data.columns import ENOUGH, number_in, numbers_in, texts_of
from seriatim.data.gaps import (
    FILLS,
    Piece,
    early_ends,
    filled_remark,
    one_series,
    place,
    refuse_gaps,
    refuse_missing_rows,
    rows_to_come,
)
from seriatim.data.moments import YEARS_SURE, moments_of, zones_in
from seriatim.data.sequences import NUMBERS, SYMBOLS, TEXT, Field, Sequences, offsets_of
from seriatim.data.steps import Step, alike, step_of
from seriatim.errors import ConfigError, DataError, nearest
from seriatim.progress import note

# columns that tell the time
TIMES = ("date", "datetime", "timestamp", "time", "ds", "period", "month", "year")


# and in other languages, where the cells are dates
ABROAD = "datum zeit zeitpunkt monat jahr tag mois année annee jour fecha mes año ano dia día anno"
TIMES_ABROAD = tuple(ABROAD.split())


SERIES = ("series", "unique_id", "item_id", "id")  # columns that tell series apart


COUNTS = (
    "rownames",
    "index",
    "row",
    "id",
    "no",
    "unnamed: 0",
    "t",
    "step",
    "n",
    "i",
)  # columns that number the rows


SHOWN = 12  # names of channels that are said


MANY_ROWS = 20  # from which on a column that goes up by one counts them, whatever its name


MARKED = re.compile(r"[+-]?\d[\d.,' ]*")  # numbers as people write them: 1,234.5 or 3,14


def series_of(
    data: Sequences,
    time: str | None = None,
    series: str | None = None,
    channels: Sequence[str] | None = None,
    known: Sequence[str] = (),
    fill: str = "refuse",
    ahead: bool = False,
    notes: list[str] | None = None,
) -> Sequences:
    """A table as `read` gives it -> fields `values` (N, C), `time` (N,), `known` (N, K) and `name`.

    The last two only if inputs are known, and if there are several series. Columns that are not
    named are found: the time by its name or because it holds dates, the series by its name; all
    other columns of numbers are channels. `known` are inputs that are known in advance. `fill` says
    what becomes of gaps: "refuse", "previous" value, "linear" in time, "mean" of the series, "keep"
    as nan; which values were put in stands in a field `filled` (N, C). Without a time, rows are
    counted. Rows behind the last value, of which only inputs are known, are no gaps: with `ahead`
    they are kept, otherwise left out. A list of `notes` takes what is worth knowing.
    """
    if fill not in FILLS:
        raise ConfigError("unknown way to fill gaps", got=fill, do=nearest(fill, FILLS))
    if data.is_series:
        if any((time, series, channels, known)):
            raise ConfigError(
                "these are series already, without columns to choose from", got=data.origin
            )
        return data
    columns = {name: cells_of(data, name) for name in data.fields}
    time, series, channels = parts_to_play(data, columns, time, series, channels, known, notes)
    names = (*channels, *known)
    values = np.stack([numbers_of(data, name, columns[name]) for name in names], 1)  # (N, C + K)
    moments = None if time is None else times_of(data, time, columns[time])  # (N,)
    if notes is not None and time is not None:
        notes += zones_remark(columns[time])
    groups = {data.origin: np.arange(len(data))}
    if series is not None:
        groups = rows_of_each(data, series, columns[series])
    if moments is not None:
        groups = in_order(groups, moments)
    groups, coming = with_rows_to_come(groups, values[:, : len(channels)], bool(known), ahead)
    if fill == "refuse":
        for name, rows in groups.items():
            gaps = np.isnan(values[rows])
            gaps[len(rows) - coming[name] :, : len(channels)] = False
            refuse_gaps(data, rows, gaps, names)
        refuse_missing_rows(data, groups, moments)
    grids: dict[bytes, np.ndarray] = {}
    pieces = [
        one_series(data, rows, moments, values, names, fill, grids, coming[name], len(channels))
        for name, rows in groups.items()
    ]
    made = joined(data.origin, list(groups), pieces, tuple(channels), tuple(known))
    if notes is not None:
        notes += filled_remark(made, fill) + early_ends(made, fill)
    parts = {"time": [time], "series": [series], "channels": channels, "known": known}
    said = data.told.replace(" sequences", " rows").replace(" sequence ", " row ")
    many = f", {len(made):,} series" if len(made) > 1 else ""
    return replace(made, told=said + parts_said(parts) + many if data.told else "")


def parts_said(parts: dict[str, Sequence[str | None]]) -> str:
    """Which columns play which part, for the line that says how a table was read."""
    said = [] if parts["time"] != [None] else ["no time: rows are counted"]
    for part, names in parts.items():
        there = [repr(name) for name in names if name is not None]
        more = f" and {len(there) - SHOWN:,} more" if len(there) > SHOWN else ""
        if there:
            said.append(f"{part} {', '.join(there[:SHOWN])}{more}")
    return f"; {', '.join(said)}"


def in_order(groups: dict[str, np.ndarray], moments: np.ndarray) -> dict[str, np.ndarray]:
    """The rows of each series in the order of their times."""
    return {name: rows[np.argsort(moments[rows], kind="stable")] for name, rows in groups.items()}


def with_rows_to_come(
    groups: dict[str, np.ndarray], values: np.ndarray, known: bool, ahead: bool
) -> tuple[dict[str, np.ndarray], dict[str, int]]:
    """The rows of each series in order, and how many at their ends are still to come: none, unless
    something is known of them and they are asked for."""
    if not known:
        return groups, dict.fromkeys(groups, 0)
    coming = {name: rows_to_come(~np.isfinite(values[rows])) for name, rows in groups.items()}
    if ahead:
        return groups, coming
    kept = {name: rows[: len(rows) - coming[name]] for name, rows in groups.items()}
    return kept, dict.fromkeys(groups, 0)


def zones_remark(cells: Cells) -> list[str]:
    """What to say of times that are written in several zones."""
    zones = zones_in(cells.values) if isinstance(cells.values, Field) else []
    if len(zones) < 2:
        return []
    plain = "; those without a zone are taken for UTC" if "" in zones else ""
    written = ", ".join(zone for zone in zones if zone)
    return [f"times of several zones ({written}) are read as moments of UTC{plain}"]


def common_step(data: Sequences) -> Step:
    """The step of all series; an error if they have several."""
    time = data.field("time")
    longest = int(np.argmax(time.lengths))
    step, grids = step_of(time.row(longest)), set()
    for s in range(len(data)):
        row = time.row(s)
        key = row.tobytes()
        if len(row) < 3 or key in grids:
            continue
        grids.add(key)
        other = step_of(row)
        if "irregular" not in (step.kind, other.kind) and not alike(step, other):
            names = data.fields["name"].symbol_names if "name" in data.fields else ()
            who = [names[int(data.fields["name"].row(each)[0])] for each in (longest, s)]
            raise DataError(
                "the series of one file have several steps",
                got=f"{who[0]} {step.words}, {who[1]} {other.words}",
                file=data.origin,
                do="Forecast them apart, or bring them to one step",
            )
    return step


def series_with(
    data: Sequences,
    name: str,
    series: str,
    time: str | None = None,
    channels: Sequence[str] | None = None,
    fill: str = "refuse",
) -> Sequences:
    """The series of a long table, each a sequence, with what is said of the whole.

    That is a label or a value, the same in all of its rows (if it is there).
    """
    data.field(series)  # an error with the nearest name if there is none
    groups = rows_of_each(data, series, cells_of(data, series))
    notes: list[str] = []
    found = series_of(
        replace(data, fields={key: column for key, column in data.fields.items() if key != name}),
        time,
        series,
        channels,
        fill=fill,
        notes=notes,
    )
    for words in notes:
        note(words)
    named = {"name": Field.of_labels(list(groups))}  # one series alone has a name, too
    found = replace(found, fields=named | {k: f for k, f in found.fields.items() if k != "filled"})
    read_as = {"channels": ",".join(found.fields["values"].names or ())}  # of later files, too
    firsts = np.array([rows[0] for rows in groups.values()])
    if name in data.fields:
        refuse_differences(data, name, cells_of(data, name), list(groups.values()))
        found = replace(found, fields=found.fields | {name: data.fields[name].take(firsts)})
    lines = None if data.lines is None else data.lines[firsts]
    settled = data.read_as | read_as
    return replace(found, by="line", lines=lines, read_as=settled, columns=tuple(data.fields))


def series_tagged(
    data: Sequences,
    name: str,
    series: str,
    time: str | None = None,
    channels: Sequence[str] | None = None,
) -> Sequences:
    """The series of a long table, each a sequence, with the tag of each row if there is one."""
    data.field(series)  # an error with the nearest name if there is none
    rest = replace(data, fields={key: each for key, each in data.fields.items() if key != name})
    columns = {key: cells_of(rest, key) for key in rest.fields}
    time, _, _ = parts_to_play(rest, columns, time, series, channels, ())
    groups = rows_of_each(rest, series, columns[series])
    if time is not None:
        groups = in_order(groups, times_of(rest, time, columns[time]))
    found = series_of(rest, time, series, channels)
    kept = {key: each for key, each in found.fields.items() if key != "filled"}
    firsts = np.array([rows[0] for rows in groups.values()])
    if name in data.fields:
        cells = cells_of(data, name)
        tags = [[str(cells.at(int(row))) for row in rows] for rows in groups.values()]
        kept["tags"] = Field.of_symbols(tags)
    lines = None if data.lines is None else data.lines[firsts]
    return replace(found, fields=kept, by="line", lines=lines)


def refuse_differences(
    data: Sequences, name: str, cells: Cells, groups: Sequence[np.ndarray]
) -> None:
    """An error if a column differs between the rows of one series."""
    numbers = cells.values if isinstance(cells.values, np.ndarray) else cells.numbered[0]  # (N,)
    for rows in groups:
        others = np.flatnonzero(numbers[rows] != numbers[rows[0]])
        if len(others):
            other = int(rows[others[0]])
            raise DataError(
                f"column {name!r} does not hold the same in all rows of a series",
                got=f"{cells.at(int(rows[0]))} and {cells.at(other)}",
                **place(data, other),
                do="Name the column that tells series apart with --series, and what is said of each"
                " with --label",
            )


# Which column is what


@dataclass(frozen=True, eq=False)
class Cells:
    """A column as one cell a row; what is found out about all of them is kept, since several ask for it."""

    values: np.ndarray | Field  # (N,) numbers, or N texts

    def __len__(self) -> int:
        return len(self.values)

    def at(self, row: int) -> str | float:
        """What one cell holds."""
        return (
            self.values[row] if isinstance(self.values, np.ndarray) else str(self.values.raw(row))
        )

    @cached_property
    def moments(self) -> np.ndarray:
        """(N,) the cells as times, in seconds since 1970; nan where one is none."""
        return moments_of(self.values)

    @cached_property
    def numbered(self) -> tuple[np.ndarray, list[str]]:
        """(N,) the cells by number, in order of first appearance, and what each number stands for."""
        if isinstance(self.values, Field):
            known: dict[str, int] = {}
            numbers = [known.setdefault(cell, len(known)) for cell in texts_of(self.values)]
            return np.array(numbers, np.int64), list(known)
        bits, first, number = np.unique(  # by their bits: 0 and -0 are not the same
            self.values.view(np.int64), return_index=True, return_inverse=True
        )
        order = np.argsort(first)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        values = bits[order].view(np.float64)
        return place[number], [np.format_float_positional(value, trim="-") for value in values]

    @cached_property
    def numbers(self) -> tuple[np.ndarray, np.ndarray] | None:
        """(N,) the cells as numbers, and (N,) which are none; None if they are not meant to be."""
        if isinstance(self.values, np.ndarray):
            return self.values, np.zeros(len(self.values), bool)
        import polars

        return numbers_in(polars.Series(texts_of(self.values), dtype=polars.String))


def cells_of(data: Sequences, name: str) -> Cells:
    """A column of a table."""
    column = data.fields[name]
    if column.kind == TEXT:
        return Cells(column)
    if column.values.ndim > 1 or not (column.lengths == 1).all():
        raise DataError(
            f"column {name!r} does not hold one value a row",
            file=data.origin,
            do="Write a row for each time, with a number in each column",
        )
    if column.kind == NUMBERS:
        return Cells(column.flat.astype(np.float64))
    return Cells(Field.of_text(column.symbol_names[i] for i in column.flat))


def parts_to_play(
    data: Sequences,
    columns: dict[str, Cells],
    time: str | None,
    series: str | None,
    channels: Sequence[str] | None,
    known: Sequence[str],
    notes: list[str] | None = None,
) -> tuple[str | None, str | None, Sequence[str]]:
    """The columns of the time, of the series and of the channels: as named, else as found."""
    named = [name for name in (time, series, *(channels or ()), *known) if name is not None]
    for name in named:
        data.field(name)  # an error with the nearest name if there is none
    if len(set(named)) < len(named):
        raise ConfigError("a column has only one part to play", got=", ".join(named))
    free = {name: cells for name, cells in columns.items() if name not in named}
    series = series or next(filter(None, (tells_apart(free, name) for name in SERIES)), None)
    free = {name: cells for name, cells in free.items() if name != series}
    time = time or tells_time(free)
    free = {name: cells for name, cells in free.items() if name != time}
    if series is None and time is not None:
        series = repeats_times(free, columns[time])
        free = {name: cells for name, cells in free.items() if name != series}
    apart = None if series is None else columns[series].numbered[0]  # (N,)
    if time is None and apart is not None:
        time = counted_in_disorder(free, apart, notes)
        free = {name: cells for name, cells in free.items() if name != time}
    if channels is None:
        channels = but_counters(channels_among(data, free), columns, apart, notes)
    return time, series, channels


def counted_in_disorder(
    columns: dict[str, Cells], apart: np.ndarray, notes: list[str] | None
) -> str | None:
    """The first column that counts the rows of every series, where these stand in another order: it
    is their time; None if there is none, or the order is that of the rows."""
    counted = [name for name, cells in columns.items() if counts(name, cells, apart)]
    if not counted:
        return None
    numbers, rows = columns[counted[0]].numbers, np.argsort(apart, kind="stable")
    assert numbers is not None
    steps = np.diff(numbers[0][rows])[np.diff(apart[rows]) == 0]
    if (steps == 1).all():
        return None
    if notes is not None:
        notes.append(f"column {counted[0]!r} counts the rows of each series and is their time")
    return counted[0]


def but_counters(
    found: Sequence[str],
    columns: dict[str, Cells],
    apart: np.ndarray | None,
    notes: list[str] | None,
) -> Sequence[str]:
    """The same columns without those that count the rows, if that leaves any."""
    counted = [name for name in found if counts(name, columns[name], apart)]
    if not counted or len(counted) == len(found):
        return found
    if notes is not None:
        names = ", ".join(map(repr, counted))
        notes.append(f"column {names} counts the rows and is left out; --channels takes it")
    return [name for name in found if name not in counted]


def repeats_times(columns: dict[str, Cells], time: Cells) -> str | None:
    """The first column of names that tells rows of the same time apart; None if no time comes
    again, or no column does."""
    moments = time.moments
    if len(np.unique(moments, equal_nan=False)) == len(moments):
        return None
    for name, cells in columns.items():
        if not isinstance(cells.values, Field) or are_numbers(cells) or not come_again(cells):
            continue
        pairs = np.stack([cells.numbered[0].astype(np.float64), moments], 1)  # (N, 2)
        if len(np.unique(pairs, axis=0)) == len(pairs):
            return name
    return None


def tells_apart(columns: dict[str, Cells], wanted: str) -> str | None:
    """The column of that name, if its cells come again."""
    return next(
        (name for name, cells in columns.items() if name.lower() == wanted and come_again(cells)),
        None,
    )


def come_again(cells: Cells) -> bool:
    """Whether any two cells are equal; what is not a number is equal to nothing."""
    if isinstance(cells.values, np.ndarray):
        return len(np.unique(cells.values, equal_nan=False)) < len(cells)
    return len(cells.numbered[1]) < len(cells)


def tells_time(columns: dict[str, Cells]) -> str | None:
    """The column of the time: by its name, where there are several one that can be read.

    Else the first text that is dates.
    """
    named = sorted(
        (name for name in columns if name.lower() in TIMES),
        key=lambda name: TIMES.index(name.lower()),
    )
    named += [
        name
        for name, cells in columns.items()
        if name.lower() in TIMES_ABROAD and calendar_there(cells)
    ]
    dated = (
        name
        for name in [*named, *columns]
        if (name in named or isinstance(columns[name].values, Field)) and are_dates(columns[name])
    )
    return next(dated, named[0] if named else None)


def calendar_there(cells: Cells) -> bool:
    """Whether cells are dates even if nobody calls them so: texts, or whole numbers that are written
    as years, months or days are."""
    if isinstance(cells.values, Field):
        return are_dates(cells)
    known = cells.values[np.isfinite(cells.values)]
    if not len(known) or (known != np.floor(known)).any() or known.min() < YEARS_SURE[0]:
        return False
    sure = known.max() <= YEARS_SURE[1] or known.min() > 100 * YEARS_SURE[0]
    return bool(sure and np.isfinite(moments_of([str(int(each)) for each in known])).all())


def are_dates(cells: Cells) -> bool:
    """Whether nearly all cells can be read as times."""
    return bool(np.isfinite(cells.moments).mean() >= ENOUGH)


def channels_among(data: Sequences, columns: dict[str, Cells]) -> list[str]:
    """The columns of numbers."""
    found = [name for name, cells in columns.items() if are_numbers(cells)]
    if not found:
        raise DataError(
            "no column of numbers is left for a channel",
            got=", ".join(data.fields),
            file=data.origin,
            do=how_numbers_are_written(columns),
        )
    return found


def how_numbers_are_written(columns: dict[str, Cells]) -> str:
    """What to do about a table in which no numbers were found."""
    if any(";" in name for name in columns):
        return (
            "Its columns lie between semicolons: put commas between them, and points into the"
            " numbers, 1234.5"
        )
    if any(
        isinstance(cells.values, Field) and len(cells) and MARKED.fullmatch(str(cells.at(0)))
        for cells in columns.values()
    ):
        return "Write numbers with a point and without marks between thousands: 1234.5"
    return "Give at least one, beside the time and the name of the series"


def are_numbers(cells: Cells) -> bool:
    """Whether cells are numbers or meant to be; then those that are not will be an error."""
    if isinstance(cells.values, np.ndarray):
        return bool(np.isfinite(cells.values).any())
    if cells.numbers is None:
        return False
    numbers, other = cells.numbers
    there = int((~np.isnan(numbers)).sum())
    return there > 0 and there >= ENOUGH * (there + int(other.sum()))


def counts(name: str, cells: Cells, apart: np.ndarray | None) -> bool:
    """Whether a column numbers the rows: by what it holds, and of few rows by its name, too. `apart`
    are the (N,) numbers of the series, each of which may be counted anew; its rows may stand in any
    order."""
    numbers = np.zeros(0) if cells.numbers is None else cells.numbers[0]
    if len(numbers) < 2 or (len(numbers) < MANY_ROWS and name.lower() not in COUNTS):
        return False
    steps = np.diff(numbers)  # (N - 1,)
    if apart is not None:
        rows = np.lexsort((numbers, apart))
        steps = np.diff(numbers[rows])[np.diff(apart[rows]) == 0]
    return bool(len(steps)) and bool((steps == 1).all())


# From cells to arrays


def numbers_of(data: Sequences, name: str, cells: Cells) -> np.ndarray:
    """(N,) numbers, nan where they are missing."""
    if isinstance(cells.values, np.ndarray):
        if np.isinf(cells.values).any():
            row = int(np.flatnonzero(np.isinf(cells.values))[0])
            raise DataError(
                f"infinite number in column {name!r}",
                got=str(cells.values[row]),
                **place(data, row),
                do="Leave it empty (nan) where a number is missing, or leave the row out",
            )
        return cells.values
    if cells.numbers is not None:
        numbers, other = cells.numbers
        if not (other | np.isinf(numbers)).any():
            return numbers
    for row, cell in enumerate(texts_of(cells.values)):
        number = number_in(cell)
        if number is None or math.isinf(number):
            raise DataError(
                f"column {name!r} is for numbers",
                got=repr(cell),
                **place(data, row),
                do="Leave a cell empty where a number is missing",
            )
    raise AssertionError("a cell that is no number was not found again")


def times_of(data: Sequences, name: str, cells: Cells) -> np.ndarray:
    """(N,) seconds since 1970."""
    moments = cells.moments
    wrong = np.flatnonzero(np.isnan(moments))
    if len(wrong):
        raise DataError(
            f"column {name!r} is for times, and this is none",
            got=repr(cells.at(int(wrong[0]))),
            **place(data, wrong[0]),
            do="Write 2024-03-07 or 2024-03-07 14:30; in 03/07/2024 the order must be the same in"
            " all rows",
        )
    return moments


def rows_of_each(data: Sequences, series: str, cells: Cells) -> dict[str, np.ndarray]:
    """The rows of each series, in order of first appearance."""
    numbers, written = cells.numbered
    names = [name.strip() for name in written]
    nameless = [number for number, name in enumerate(names) if name in ("", "nan")]
    if nameless:
        raise DataError(
            f"column {series!r} does not say which series this row belongs to",
            **place(data, int(np.flatnonzero(np.isin(numbers, nameless))[0])),
        )
    once = Field.of_labels(names)  # blanks around a name do not count
    number = once.values[numbers]  # (N,)
    rows = np.argsort(number, kind="stable")  # (N,) series by series
    return dict(zip(once.symbol_names, np.split(rows, np.cumsum(np.bincount(number))[:-1])))


def joined(
    origin: str,
    names: list[str],
    pieces: list[Piece],
    channels: tuple[str, ...],
    known: tuple[str, ...],
) -> Sequences:
    """The series one after another."""
    offsets = offsets_of(len(time) for time, _, _ in pieces)
    values = np.concatenate([cells for _, cells, _ in pieces])  # (N, C + K)
    put_in = np.concatenate([mask[:, : len(channels)] for _, _, mask in pieces])  # (N, C)
    fields = {
        "values": Field(values[:, : len(channels)], offsets, NUMBERS, channels),
        "time": Field(np.concatenate([time for time, _, _ in pieces]), offsets, NUMBERS),
    }
    if known:
        fields["known"] = Field(values[:, len(channels) :], offsets, NUMBERS, known)
    if put_in.any():
        fields["filled"] = Field(put_in.astype(np.float64), offsets, NUMBERS, channels)
    if len(pieces) > 1:
        fields["name"] = Field(
            np.arange(len(pieces), dtype=np.int32),
            np.arange(len(pieces) + 1),
            SYMBOLS,
            tuple(names),
        )
    return Sequences(fields, by="stream" if len(pieces) == 1 else "line", origin=origin)


def cut_series(data: Sequences, begin: float, end: float, before: int = 0) -> Sequences:
    """From one share of every series to another, and so many steps before that; names stay."""
    offsets = data.field("values").offsets - data.field("values").offsets[0]
    lengths = np.diff(offsets)
    first = offsets[:-1] + np.maximum(0, np.floor(lengths * begin + 1e-9).astype(np.int64) - before)
    return rows_of(data, first, offsets[:-1] + np.floor(lengths * end + 1e-9).astype(np.int64))


def rows_of(data: Sequences, first: np.ndarray, last: np.ndarray) -> Sequences:
    """Some rows of every series, from one place on and before another, (S,) both; names stay."""
    rows = np.concatenate([np.arange(a, b) for a, b in zip(first, last, strict=True)])
    fields = {
        name: column
        if name == "name"
        else Field(column.flat[rows], offsets_of(last - first), column.kind, column.names)
        for name, column in data.fields.items()
    }
    return Sequences(fields, by=data.by, unit=data.unit, origin=data.origin)
