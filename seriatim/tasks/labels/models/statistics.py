"""A sequence of numbers in a few numbers, whatever its length: what a linear model looks at.

    level      mean, deviation, least and largest value
    course     last minus first; mean |x_t - x_t-1|; lag-1 autocorrelation,
               sum (x_t - m)(x_t-1 - m) / sum (x_t - m)^2
    pieces     the means of eight equal pieces, which may end between two steps
    length     log(1 + T)

Shapes: T time, C channels, S sequences, F = 15 C + 1 traits.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

PIECES = 8


EACH = 7 + PIECES  # traits of a channel


def count_of(channels: int) -> int:
    """How many traits sequences of so many channels have."""
    return EACH * channels + 1


def traits(rows: Iterable[np.ndarray], channels: int) -> np.ndarray:
    """(T, C) numbers each -> (S, F); of nothing at all, zeros."""
    found = [np.append(traits_of(np.asarray(row, np.float64)), np.log1p(len(row))) for row in rows]
    return np.stack(found) if found else np.zeros((0, count_of(channels)))


def traits_of(row: np.ndarray) -> np.ndarray:
    """(T, C) -> (15 C,), trait by trait."""
    if not len(row):
        return np.zeros(EACH * row.shape[1])
    mean, steps = row.mean(0), np.diff(row, axis=0)
    moved = row - mean
    squares = (moved**2).sum(0)  # (C,)
    related = np.divide(
        (moved[1:] * moved[:-1]).sum(0),
        squares,
        out=np.zeros_like(squares),
        where=squares > 1e-12 * len(row),
    )
    course = [
        row[-1] - row[0],
        np.abs(steps).mean(0) if len(steps) else np.zeros_like(mean),
        related,
    ]
    return np.concatenate(
        [mean, np.sqrt(squares / len(row)), row.min(0), row.max(0), *course, *pieces_of(row)]
    )


def pieces_of(row: np.ndarray) -> np.ndarray:
    """(T, C) -> (8, C) means of equal pieces, by the differences of the running sum."""
    total = np.concatenate([np.zeros((1, row.shape[1])), np.cumsum(row, 0)])  # (T + 1, C)
    edges = np.linspace(0, len(row), PIECES + 1)
    reached = np.stack([np.interp(edges, np.arange(len(total)), column) for column in total.T], 1)
    return np.diff(reached, axis=0) * PIECES / len(row)
