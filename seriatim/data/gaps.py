"""Gaps in series: cells that are missing, and rows that are missing between times on a regular grid.
They are refused or filled, never passed over, and what was put in is known afterwards. Shapes: N
rows, C channels, K inputs known in advance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from seriatim.data.sequences import Sequences
from seriatim.data.steps import step_of
from seriatim.errors import DataError

FILLS = ("refuse", "previous", "linear", "mean", "keep")


SAME = 1e-6  # seconds; float64 tells no finer ones apart
SHOWN = 3  # channels that end early are named
MOST_ROWS = 10_000_000  # of a grid whose holes are filled


LATEST = 3  # the hour of the night at which clocks are put back, at most
TWICE = "Name the column that tells series apart, with --series; or leave one of the rows out"
CLOCKS_BACK = (
    "Local clocks were put back then, and nothing else is there twice: write the time zone with every"
    " time, {0}+02:00 and then {0}+01:00 for instance, or write UTC"
)
CLOCKS_FORWARD = (
    "Local clocks were put forward then, and no other hour is missing: this one never was, so do not fill"
    " it. Write the time zone with every time, +01:00 and then +02:00 for instance, or write UTC"
)


Piece = tuple[np.ndarray, np.ndarray, np.ndarray]  # of one series: times, cells, which were put in


class Place(TypedDict):
    """Where a row is, for an error."""

    file: str
    line: int | None


def place(data: Sequences, row: int) -> Place:
    """The file and the line of a row."""
    return {"file": data.origin, "line": None if data.lines is None else int(data.lines[row])}


def refuse_gaps(data: Sequences, rows: np.ndarray, gaps: np.ndarray, names: Sequence[str]) -> None:
    """An error if any cell of these rows is missing, (n, C + K)."""
    places, columns = np.nonzero(gaps)
    if len(places):
        many = f"{len(places)} number{'s are' if len(places) > 1 else ' is'} missing"
        raise DataError(
            f"{many}, the first in column {names[columns[0]]!r}",
            **place(data, rows[places[0]]),
            do=f"Say how to fill gaps (--fill): {', '.join(FILLS[1:])}",
        )


def refuse_missing_rows(
    data: Sequences, groups: dict[str, np.ndarray], moments: np.ndarray | None
) -> None:
    """An error if rows are missing between the times of any series."""
    if moments is None:
        return
    total, first, several, known = 0, "", 0, dict[bytes, int]()
    forward = True  # all holes so far are hours that local clocks skip
    where: Place = {"file": data.origin, "line": None}
    for rows in groups.values():
        time = moments[rows]
        key = time.tobytes()
        if key not in known:
            apart = len(time) > 1 and bool((np.diff(time) >= SAME).all())  # else refused later
            step = step_of(time) if apart else None
            between = np.round(step.between(time)) if step else np.zeros(0)
            known[key] = int((between[between > 1] - 1).sum())
            if known[key]:
                forward = forward and clocks_go_forward(time, np.flatnonzero(between > 1))
            if known[key] and step and not first:
                hole = int(np.flatnonzero(between > 1)[0]) + 1
                first, where = f"{step.words}; {written(time[hole])}", place(data, rows[hole])
        total, several = total + known[key], several + (known[key] > 0)
    if total:
        of = f" of {several:,} series" if len(groups) > 1 else ""
        step_words, _, moment = first.partition("; ")
        raise DataError(
            f"{total:,} row{'s are' if total > 1 else ' is'} missing{of}, the first before this one"
            f" ({step_words})",
            got=moment,
            **where,
            do=CLOCKS_FORWARD
            if forward
            else f"Say how to fill gaps (--fill): {', '.join(FILLS[1:])}",
        )


def filled_remark(made: Sequences, fill: str) -> list[str]:
    """How many values were put in, and what they know."""
    if "filled" not in made.fields:
        return []
    put_in = made.fields["filled"].flat
    many = f"{int((put_in > 0).sum()):,} of {put_in.size:,} values were missing"
    ahead = {
        "linear": ", between its neighbours, so that it knows the next value",
        "mean": ", by the mean of the whole series, its end included",
    }
    return [f"{many} and are filled{ahead.get(fill, '')}; no figure is measured on them"]


def early_ends(made: Sequences, fill: str) -> list[str]:
    """Which channels of a wide table end before the others do, and what becomes of them."""
    values, time = made.field("values"), made.field("time")
    found = []
    for s in range(len(made)):
        absent = np.isnan(values.row(s))  # (n, C)
        if "filled" in made.fields:
            absent = absent | (made.fields["filled"].row(s) > 0)
        absent = absent[: len(absent) - rows_to_come(absent)]
        for c, name in enumerate(values.names or ()):
            there = np.flatnonzero(~absent[:, c])
            if len(there) and there[-1] + 1 < len(absent) and absent.shape[1] > 1:
                found.append(f"{name} at {written(float(time.row(s)[there[-1]]))}")
    if not found:
        return []
    more = ", ..." if len(found) > SHOWN else ""
    ends = "channels end" if len(found) > 1 else "channel ends"
    return [
        f"{len(found):,} {ends} early: {', '.join(found[:SHOWN])}{more}; what follows is"
        f" {'not known' if fill == 'keep' else f'filled ({fill})'}, and all are forecast from the common"
        " end: a long table (unique_id, ds, y) forecasts each from its own"
    ]


def rows_to_come(absent: np.ndarray) -> int:
    """(n, C) what is absent in rows in order -> how many rows at the end have nothing."""
    there = np.flatnonzero(~absent.all(1))
    return len(absent) - (int(there[-1]) + 1 if len(there) else 0)


def one_series(
    data: Sequences,
    rows: np.ndarray,
    moments: np.ndarray | None,
    values: np.ndarray,
    names: Sequence[str],
    fill: str,
    grids: dict[bytes, np.ndarray],
    coming: int,
    channels: int,
) -> Piece:
    """Times in order and values without gaps, for these rows in order, the last of which are still
    to come: (n,), (n, C + K); and which were put in, (n, C + K).

    `grids` keeps the times with those that were missing: series often have the same ones.
    """
    if moments is None:
        count = np.arange(len(rows), dtype=np.float64)
        return without_gaps(data, rows, count, values[rows], names, fill, coming, channels)
    time = moments[rows]
    equal = np.flatnonzero(np.diff(time) < SAME)
    if len(equal):
        raise DataError(
            "another row of the same series has the same time",
            got=written(time[equal[0]]),
            **place(data, rows[equal[0] + 1]),
            do=CLOCKS_BACK.format(written(time[equal[0]]))
            if clocks_go_back(time, equal)
            else TWICE,
        )
    key = time.tobytes()
    if key not in grids:
        grids[key] = with_missing_rows(data, rows, time, fill)
    grid = grids[key]
    if len(grid) == len(time):  # nothing is missing
        return without_gaps(data, rows, grid, values[rows], names, fill, coming, channels)
    cells = np.full((len(grid), values.shape[1]), np.nan)
    cells[np.searchsorted(grid, time)] = values[rows]
    return without_gaps(data, rows, grid, cells, names, fill, coming, channels)


def clocks_go_back(time: np.ndarray, equal: np.ndarray) -> bool:
    """Whether the times in order that are there twice, at these places, are all of one hour a year,
    of a night in October or November, as where local clocks are put back."""
    twice = np.rint(time[equal]).astype("datetime64[s]")
    hours = twice.astype("datetime64[h]")
    night = (hours - twice.astype("datetime64[D]")).astype(np.int64) <= LATEST
    autumn = np.isin(twice.astype("datetime64[M]").astype(np.int64) % 12, (9, 10))
    years = len(np.unique(twice.astype("datetime64[Y]")))
    by_the_hour = bool((time % 86_400 != 0).any())
    return by_the_hour and bool(night.all() and autumn.all()) and len(np.unique(hours)) == years


def clocks_go_forward(time: np.ndarray, holes: np.ndarray) -> bool:
    """Whether each of the holes behind these places is an hour of a Sunday night in March, once a year,
    as where local clocks are put forward."""
    before, behind = (np.rint(time[holes + i]).astype("datetime64[s]") for i in (0, 1))
    hours = (behind - behind.astype("datetime64[D]")).astype("timedelta64[h]").astype(np.int64)
    march = behind.astype("datetime64[M]").astype(np.int64) % 12 == 2
    sunday = (behind.astype("datetime64[D]").astype(np.int64) + 3) % 7 == 6
    years = len(np.unique(behind.astype("datetime64[Y]")))
    an_hour = (behind - before).astype(np.int64) <= 2 * 3600
    return bool(an_hour.all() and march.all() and sunday.all() and (hours <= LATEST).all()) and (
        len(holes) == years
    )


def without_gaps(
    data: Sequences,
    rows: np.ndarray,
    time: np.ndarray,
    cells: np.ndarray,
    names: Sequence[str],
    fill: str,
    coming: int,
    channels: int,
) -> Piece:
    """Times and cells of one series, filled; what is still to come stays as it is."""
    gaps = np.isnan(cells)
    ahead = cells[len(cells) - coming :, :channels].copy()
    cells = filled(data, rows, time, cells, names, fill)
    cells[len(cells) - coming :, :channels] = ahead
    return time, cells, gaps & ~np.isnan(cells)


def with_missing_rows(data: Sequences, rows: np.ndarray, time: np.ndarray, fill: str) -> np.ndarray:
    """The times and those between that a regular grid would have: (n,) -> (n',)."""
    step = step_of(time)
    between = np.round(step.between(time))  # (n - 1,)
    holes = np.flatnonzero(between > 1)
    missing = int((between[holes] - 1).sum())
    if missing > MOST_ROWS:
        raise DataError(
            f"{missing} rows are missing, too many to be filled",
            got=step.words,
            file=data.origin,
            do="Leave out the column of the time, to count rows instead",
        )
    return np.sort(
        np.concatenate([time, *(step.after(time[i], int(between[i]) - 1) for i in holes)])
    )


def filled(
    data: Sequences,
    rows: np.ndarray,
    time: np.ndarray,
    cells: np.ndarray,
    names: Sequence[str],
    fill: str,
) -> np.ndarray:
    """(n, C + K) without gaps, unless they are kept."""
    if fill in ("refuse", "keep"):  # refused already
        return cells
    for name, column in zip(names, cells.T):  # views: cells are filled in place
        there = ~np.isnan(column)
        if not there.any() or (fill == "previous" and not there[0]):
            raise DataError(
                f"nothing comes before the first gap of column {name!r}"
                if there.any()
                else f"column {name!r} of this series has no number",
                **place(data, rows[0]),
                do="Leave it out, or keep the gaps",
            )
        if fill == "linear":
            column[~there] = np.interp(time[~there], time[there], column[there])
        elif fill == "mean":
            column[~there] = column[there].mean()
        else:
            column[:] = column[np.maximum.accumulate(np.where(there, np.arange(len(there)), 0))]
    return cells


def written(time: float) -> str:
    """A moment for people; a small number is that of a row."""
    return (
        f"{time:g}"
        if abs(time) < 86_400
        else str(np.datetime64(round(time), "s")).replace("T", " ").removesuffix(" 00:00:00")
    )
