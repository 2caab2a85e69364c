"""Numbers on one scale: mean zero and variance one in every channel, by the training data.

    x' = (x - mean) / deviation

What is read may be sequences, (T,) or (T, D) each, or vectors: rows of equally many numbers, read
at once. What is said, a number for each sequence, is scaled in the same way and back again. Shapes:
N numbers or steps, S sequences, D channels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seriatim.data.sequences import NUMBERS, Field
from seriatim.errors import DataError


class Scaled:
    """Mean and deviation of each channel, learned once and kept with the run."""

    def __init__(self, mean: list[float], deviation: list[float], vector: bool):
        self.mean, self.deviation, self.vector = mean, deviation, vector

    @classmethod
    def fit(cls, column: Field) -> Scaled:
        """Rows of equally many numbers are vectors, others are sequences."""
        return cls.learned(column, column.flat.ndim == 1 and len(set(column.lengths.tolist())) == 1)

    @classmethod
    def of_steps(cls, column: Field) -> Scaled:
        """All are sequences, equally long or not."""
        return cls.learned(column, vector=False)

    @classmethod
    def learned(cls, column: Field, vector: bool) -> Scaled:
        """Mean and deviation of each channel of the training data; one that never varies is only shifted."""
        check_finite(column)
        table = (
            column.flat.reshape(len(column), -1)
            if vector
            else column.flat.reshape(len(column.flat), -1)
        )  # (N, D)
        if not table.size:
            raise DataError(
                "there are no numbers to learn from", got=f"{len(column)} empty sequences"
            )
        return cls(table.mean(0).tolist(), [each or 1.0 for each in table.std(0).tolist()], vector)

    @property
    def size(self) -> int:
        """D."""
        return len(self.mean)

    def encode(self, column: Field) -> Field:
        """Numbers as they were read -> float32 on the scale of the training data."""
        wide = self.size
        channels = 1 if column.flat.ndim == 1 else column.flat.shape[1]
        alike = (
            (column.lengths == wide).all() and channels == 1 if self.vector else channels == wide
        )
        if column.kind != NUMBERS or not alike:
            raise DataError(
                "these are not the numbers this model was trained on",
                got=column.kind
                if column.kind != NUMBERS
                else counted(column)
                if self.vector and channels == 1
                else f"{channels} channel{'s' * (channels > 1)}",
                do=f"Give rows of {wide} numbers"
                if self.vector
                else f"Give sequences of numbers with {wide} channel{'s' * (wide > 1)}",
            )
        check_finite(column)
        table = column.flat.reshape(-1, wide)
        offsets = np.arange(len(column) + 1) if self.vector else column.offsets - column.offsets[0]
        return Field(
            ((table - np.array(self.mean)) / np.array(self.deviation)).astype(np.float32),
            offsets,
            NUMBERS,
        )

    def to_json(self) -> dict[str, Any]:
        """What is kept with a run."""
        return {"mean": self.mean, "deviation": self.deviation, "vector": self.vector}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Scaled:
        """The same from a record, checked."""
        mean, deviation = ([float(each) for each in record[name]] for name in ("mean", "deviation"))
        if (
            not mean
            or len(mean) != len(deviation)
            or not all(np.isfinite(mean))
            or not all(0 < each < np.inf for each in deviation)
        ):
            raise ValueError("its numbers cannot be scaled")
        return cls(mean, deviation, bool(record["vector"]))


def counted(column: Field) -> str:
    """How many numbers rows have, in words."""
    different = sorted(set(column.lengths.tolist()))
    return f"rows of {' or '.join(map(str, different[:3]))} number{'s' * (different != [1])}"


def check_finite(column: Field, lines: np.ndarray | None = None, origin: str | None = None) -> None:
    """An error that names the first sequence with a number that is none."""
    if not column.flat.size:
        return
    wrong = np.flatnonzero(~np.isfinite(column.flat.reshape(len(column.flat), -1)).all(1))
    if len(wrong):
        s = int(np.searchsorted(column.offsets - column.offsets[0], wrong[0], "right")) - 1
        raise DataError(
            f"sequence {s + 1} holds numbers that are missing or infinite",
            file=origin,
            line=None if lines is None else int(lines[s]),
            do="Fill it in, or leave the sequence out",
        )
