"""Sequences of numbers that are written from beginning to end: drawings, curves, gestures.

    a row     (y_1 .. y_C, state)      how far each channel moves, or where it is, and what happens then
    drawings  (dx, dy, state)          state 0: the pen stays down, 1: it is lifted, 2: the drawing is over
    others    (y_1 .. y_C, state)      state 0: it goes on, 1: it is over

Unlike a symbol, a number has a scale, found in the training data: of drawings one for both
channels, so that they keep their proportions, of others one for each, with the mean taken away. The
end is the state of the last row. Shapes: N rows of all sequences, T rows of one, C channels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seriatim.data.sequences import NUMBERS, Field
from seriatim.errors import DataError

STROKES = "strokes"


LARGEST = 1e15  # what is farther away is an accident


class Moves:
    """Numbers <-> scaled rows with a state."""

    def __init__(self, mean: list[float], deviation: list[float], pen: bool):
        self.mean, self.deviation, self.pen = mean, deviation, pen

    @classmethod
    def fit(cls, column: Field, pen: bool, origin: str = "memory") -> Moves:
        """The scale of training data; with a pen, the last channel says whether it is lifted."""
        table = table_of(column, pen, origin)
        channels = table.shape[1] - pen
        if pen:
            return cls([0.0] * channels, [float(table[:, :-1].std()) or 1.0] * channels, pen)
        return cls(table.mean(0).tolist(), [each or 1.0 for each in table.std(0).tolist()], pen)

    @property
    def channels(self) -> int:
        """C, the numbers of a row without its state."""
        return len(self.mean)

    @property
    def states(self) -> int:
        """How many states a row may have."""
        return 3 if self.pen else 2

    @property
    def end(self) -> int:
        """The state in which all is over."""
        return self.states - 1

    def encode(self, column: Field, origin: str = "memory") -> Field:
        """(N, C) numbers, or (N, 3) strokes -> (N, C + 1)."""
        table = table_of(column, self.pen, origin)
        if table.shape[1] - self.pen != self.channels:
            raise DataError(
                "these are not the numbers this model was trained on",
                got=f"{table.shape[1]} channels",
                file=origin,
                do=f"Give sequences with {self.channels + self.pen}",
            )
        offsets = column.offsets - column.offsets[0]
        states = table[:, -1].copy() if self.pen else np.zeros(len(table))
        states[offsets[1:] - 1] = self.end
        moves = (table[:, : self.channels] - np.array(self.mean)) / np.array(self.deviation)
        return Field(np.column_stack([moves, states]).astype(np.float32), offsets, NUMBERS)

    def decode(self, rows: np.ndarray) -> np.ndarray:
        """(T, C + 1) -> (T, C) numbers, or (T, 3) strokes."""
        moves = rows[:, :-1].astype(np.float64) * np.array(self.deviation) + np.array(self.mean)
        return np.column_stack([moves, (rows[:, -1] > 0).astype(np.float64)]) if self.pen else moves

    def to_json(self) -> dict[str, Any]:
        """All that `from_json` needs."""
        return {"mean": self.mean, "deviation": self.deviation, "pen": self.pen}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Moves:
        """The scale that wrote this record; raises ValueError, TypeError or KeyError if it is
        none."""
        mean, deviation = ([float(each) for each in record[name]] for name in ("mean", "deviation"))
        pen = record["pen"]
        scaled = (
            len(mean) == len(deviation) > 0
            and bool(np.isfinite(mean).all())
            and all(0 < each < np.inf for each in deviation)
        )
        if not scaled or type(pen) is not bool:
            raise ValueError("its numbers cannot be scaled")
        return cls(mean, deviation, pen)


def table_of(column: Field, pen: bool, origin: str) -> np.ndarray:
    """(N, C) all rows, each finite, and at least one in each sequence."""
    table = column.flat.reshape(len(column.flat), -1).astype(np.float64)
    if not len(column):
        raise DataError("there are no sequences", file=origin)
    if not (column.lengths > 0).all():
        raise DataError(
            f"sequence {int(np.argmin(column.lengths)) + 1} is empty, and needs at least one row "
            "of numbers",
            file=origin,
            do="Leave it out",
        )
    wrong = np.flatnonzero(~(np.abs(table) <= LARGEST).all(1))
    if len(wrong):
        s = int(
            np.searchsorted(column.offsets - column.offsets[0], wrong[0], "right")
        )  # counted from 1
        raise DataError(
            f"sequence {s} has a number that is missing, infinite or beyond {LARGEST:g}",
            file=origin,
            do="Leave it out, or fill the gap",
        )
    if pen and (table.shape[1] != 3 or not np.isin(table[:, 2], (0, 1)).all()):
        raise DataError(
            "strokes are rows of dx, dy and whether the pen is lifted, 0 or 1",
            got=f"{table.shape[1]} columns",
            file=origin,
        )
    return table
