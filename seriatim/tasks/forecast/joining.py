"""Series behind those that they go on from: a later file put behind an earlier one.

    ... past ... | hole | ... data ...

A hole at the joint is treated as one inside a file: refused with the number of rows that are missing,
or filled, and what was put in is known afterwards. Shapes: S series, N rows, C channels, K inputs
known in advance, M rows that are missing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from seriatim.data.gaps import FILLS, MOST_ROWS, filled, written
from seriatim.data.sequences import NUMBERS, Field, Sequences, offsets_of
from seriatim.data.steps import Step
from seriatim.errors import DataError
from seriatim.progress import note


def gone_on(
    past: Sequences, data: Sequences, step: Step, fill: str
) -> tuple[Sequences, np.ndarray]:
    """Series behind those that they go on from, known by their names, or one behind the other; and
    (S,) how many rows of each were there before, those put into a hole between included."""
    names = [
        np.array(each.fields["name"].symbol_names)[each.fields["name"].flat]
        if "name" in each.fields
        else np.array([""])
        for each in (past, data)
    ]
    place = {name: s for s, name in enumerate(names[0].tolist())}
    unknown = [name for name in names[1].tolist() if name not in place]
    if unknown or past.field("values").names != data.field("values").names:
        raise DataError(
            "these series do not go on from those",
            got=f"{unknown[0]!r} is not there" if unknown else "other channels",
            file=data.origin,
            do=f"Give the file with what came before: {past.origin} does not have it",
        )
    before = past[np.array([place[name] for name in names[1].tolist()])]
    holes = [
        hole_of(before.field("time").row(s), data.field("time").row(s), step, past.origin)
        for s in range(len(data))
    ]
    check_holes(data, holes, step, fill)
    return behind(before, data, holes, fill), before.field("values").lengths + [
        len(hole) for hole in holes
    ]


def hole_of(old: np.ndarray, new: np.ndarray, step: Step, origin: str) -> np.ndarray:
    """(M,) the moments that are missing between two times on one grid."""
    new = later(old, new, origin)
    if not len(old) or not len(new):
        return np.zeros(0)
    between = float(step.between(np.array([old[-1], new[0]]))[0])
    return step.after(float(old[-1]), min(MOST_ROWS, max(0, round(between) - 1)))


def check_holes(data: Sequences, holes: list[np.ndarray], step: Step, fill: str) -> None:
    """An error, or a note, if rows are missing between what came before and the data."""
    missing, several = sum(map(len, holes)), sum(len(hole) > 0 for hole in holes)
    if not missing:
        return
    are, of = "s are" if missing > 1 else " is", f" of {several:,} series" * (len(holes) > 1)
    first = next(s for s, hole in enumerate(holes) if len(hole))
    if fill == "refuse":
        raise DataError(
            f"{missing:,} row{are} missing{of} between what came before and these data"
            f" ({step.words})",
            got=f"they begin at {written(float(data.field('time').row(first)[0]))}",
            file=data.origin,
            do=f"Give what came between, too, or say how to fill gaps (--fill): {', '.join(FILLS[1:])}",
        )
    note(
        f"{missing:,} row{are} missing{of} between what came before and these data, and"
        f" {'kept as gaps' if fill == 'keep' else f'filled ({fill})'}; no figure is measured on them"
    )


def behind(past: Sequences, data: Sequences, holes: list[np.ndarray], fill: str) -> Sequences:
    """Series s of the data behind series s of the past, with what is put into the hole between;
    where rows are numbered, on from there."""
    rows, origin = range(len(data)), past.origin
    pieces = [together(past, data, s, hole, fill) for s, hole in zip(rows, holes, strict=True)]
    times = [
        np.concatenate([old, hole, later(old, data.field("time").row(s), origin)])
        for s, hole in zip(rows, holes, strict=True)
        for old in (past.field("time").row(s),)
    ]
    offsets = offsets_of(map(len, times))
    cells, put_in = (np.concatenate([each[i] for each in pieces]) for i in (0, 1))
    channels = data.field("values").names
    size = len(channels or ())
    fields = {
        "values": Field(cells[:, :size], offsets, NUMBERS, channels),
        "time": Field(np.concatenate(times), offsets, NUMBERS),
    }
    if "known" in data.fields:
        fields["known"] = Field(cells[:, size:], offsets, NUMBERS, data.field("known").names)
    if put_in.any():
        fields["filled"] = Field(put_in.astype(np.float64), offsets, NUMBERS, channels)
    if "name" in data.fields:
        fields["name"] = data.fields["name"]
    return replace(data, fields=fields, origin=data.origin)


def together(
    past: Sequences, data: Sequences, s: int, hole: np.ndarray, fill: str
) -> tuple[np.ndarray, np.ndarray]:
    """(N, C + K) the cells of a series, old and new, and (N, C) which were put in."""
    parts = []
    for name in ("values", "known"):
        if name in data.fields:
            old, new = past.field(name).row(s), data.field(name).row(s)
            missing = np.full((len(hole), new.shape[1]), np.nan)
            parts.append(np.concatenate([old, missing, new]))
    old, new = (
        each.fields["filled"].row(s) > 0
        if "filled" in each.fields
        else np.zeros(each.field("values").row(s).shape, bool)
        for each in (past, data)
    )
    put_in = np.concatenate([old, np.ones((len(hole), old.shape[1]), bool), new])
    cells = np.concatenate(parts, 1)
    if not len(hole):
        return cells, put_in
    inside = slice(len(old), len(old) + len(hole))
    when = np.concatenate([past.field("time").row(s), hole, data.field("time").row(s)])
    names = [
        *(data.field("values").names or ()),
        *(past.fields["known"].names or () if "known" in data.fields else ()),
    ]
    cells[inside] = filled(data, np.zeros(1, int), when, cells.copy(), names, fill)[inside]
    return cells, put_in & (fill != "keep")


def later(old: np.ndarray, new: np.ndarray, origin: str) -> np.ndarray:
    """Times that go on from others: numbers of rows are counted on, and dates must come after."""
    if len(new) and new[0] == 0 and (np.diff(new) == 1).all():
        return new + old[-1] + 1
    if len(new) and new[0] <= old[-1]:
        raise DataError(
            "these series do not go on from those: they begin before those end",
            file=origin,
            do="Give the file with what came before",
        )
    return new
