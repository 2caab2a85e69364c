"""Which symbols of a target were written for which symbol of its source, where both go from left to
right.

    p(x, y) = sum_a prod_i q(x_i, y_{a_i} .. y_{a_{i+1} - 1}),   0 <= a_{i+1} - a_i <= L

Each symbol of the source writes up to L symbols of the target, often one, at times none. The table
q of such units is found by expectation and maximisation over all ways to cut the target (Deligne,
Yvon and Bimbot 1995); afterwards the likeliest cut counts. Unlike the lexicon's, where any symbol
may go with any other, this alignment keeps the order, and leaves nothing unexplained. The key of a
unit has its source, then what it writes, as digits to the base V + 1, each symbol plus one, 0 where
nothing is written; only units that can occur are kept. Shapes: S pairs, N source symbols of all
pairs, M cells (a place of a source, one of its target, and how many symbols it writes), K units.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

from seriatim.compiling import njit
from seriatim.data.sequences import Field

TINY = 1e-280  # a number whose inverse is still one


FEW = (
    0.03  # at first: how rare units are that write none, or one more, unless lengths say otherwise
)


@njit(nogil=True, cache=True)
def lay_out(x, x_begin, y, y_begin, base, longest, keys):
    """Fill `keys` (M,) with the unit of every cell; where keys has no room, only count the
    cells."""
    cell = 0
    for s in range(len(x_begin) - 1):
        m = y_begin[s + 1] - y_begin[s]
        for i in range(x_begin[s], x_begin[s + 1]):
            for j in range(m + 1):
                for k in range(min(longest, m - j) + 1):
                    if len(keys):
                        key = np.int64(x[i])
                        for place in range(longest):
                            key = key * base + (y[y_begin[s] + j + place] + 1 if place < k else 0)
                        keys[cell] = key
                    cell += 1
    return cell


@njit(nogil=True, cache=True)
def expect(x_begin, y_begin, longest, where, values, counts):
    """One pass over all pairs: how often each unit is expected (added to counts), and the
    log-likelihood. Rows of the forward table are scaled."""
    total, cell = 0.0, 0
    for s in range(len(x_begin) - 1):
        n, m, first = x_begin[s + 1] - x_begin[s], y_begin[s + 1] - y_begin[s], cell
        cell += n * cells_a_row(m, longest)
        forward = np.zeros((n + 1, m + 1))
        forward[0, 0] = 1.0
        scale = np.ones(n + 1)
        at = first
        for i in range(n):
            for j in range(m + 1):
                for k in range(min(longest, m - j) + 1):
                    forward[i + 1, j + k] += forward[i, j] * values[where[at]]
                    at += 1
            scale[i + 1] = forward[i + 1].sum()
            if scale[i + 1] > 0:
                forward[i + 1] /= scale[i + 1]
        if not forward[n, m] > TINY:
            continue  # no cut, or none within the range of numbers
        total += np.log(forward[n, m]) + np.log(scale).sum()
        backward = np.zeros(m + 1)  # of the row behind
        backward[m] = 1.0 / forward[n, m]
        for i in range(n - 1, -1, -1):
            before, at = np.zeros(m + 1), first + i * cells_a_row(m, longest)
            for j in range(m + 1):
                for k in range(min(longest, m - j) + 1):
                    share = values[where[at]] * backward[j + k] / scale[i + 1]
                    before[j] += share
                    if forward[i, j] > 0:
                        counts[where[at]] += forward[i, j] * share
                    at += 1
            backward = before
    return total


@njit(nogil=True, cache=True)
def likeliest(x_begin, y_begin, longest, where, values, units):
    """Fill `units` (N,) with the unit of each symbol of the sources in the likeliest cut; -1 where
    there is none."""
    cell = 0
    for s in range(len(x_begin) - 1):
        n, m, first = x_begin[s + 1] - x_begin[s], y_begin[s + 1] - y_begin[s], cell
        cell += n * cells_a_row(m, longest)
        best = np.full((n + 1, m + 1), -np.inf)
        best[0, 0] = 0.0
        came, used = np.zeros((n + 1, m + 1), np.int64), np.zeros((n + 1, m + 1), np.int64)
        at = first
        for i in range(n):
            for j in range(m + 1):
                for k in range(min(longest, m - j) + 1):
                    value = best[i, j] + values[where[at]]
                    if value > best[i + 1, j + k]:
                        best[i + 1, j + k], came[i + 1, j + k], used[i + 1, j + k] = (
                            value,
                            k,
                            where[at],
                        )
                    at += 1
        j = m
        for i in range(n, 0, -1):
            units[x_begin[s] + i - 1] = used[i, j] if best[n, m] > -np.inf else -1
            j -= came[i, j]


@njit(nogil=True, cache=True)
def cells_a_row(m, longest):
    """How many cells a symbol of the source has beside a target of m symbols."""
    short = min(longest, m)
    return (m + 1 - short) * (short + 1) + short * (short + 1) // 2


def first_guess(ratio: float, longest: int) -> np.ndarray:
    """(L + 1,) how readily a unit writes so many symbols: mostly one, and otherwise so that lengths
    come out. Far from that, long sequences would have no cut within the range of numbers. Each
    symbol that is written counts the same in all cuts, and is left out.

    >>> first_guess(0.8, 2).round(2).tolist(), first_guess(1.2, 2).round(2).tolist()
    ([0.29, 1.0, 0.03], [0.03, 1.0, 0.3])
    """
    more = np.clip((ratio * (1 + FEW) - 1) / max(1e-9, 2 - ratio), FEW, 1.0)
    none = max(FEW, (1 + 2 * more) / max(1e-9, ratio) - 1 - more)
    return np.array([none, *more ** np.arange(longest)])


def align(
    x: Field, y: Field, base: int, longest: int, rounds: int
) -> Generator[dict[str, Any], None, tuple[np.ndarray, np.ndarray]]:
    """The keys of all units (K,), in order, and the unit of each symbol of the sources (N,), as a
    number among them; tells how far it is."""
    begins = tuple(column.offsets.astype(np.int64) - column.offsets[0] for column in (x, y))
    laid = (x.flat, begins[0], y.flat, begins[1], base, longest)
    keys = np.empty(lay_out(*laid, np.zeros(0, np.int64)), np.int64)
    if len(keys):
        lay_out(*laid, keys)
    keys, where = np.unique(keys, return_inverse=True)  # (K,), (M,)
    written = sum((keys // base**place % base > 0).astype(np.int64) for place in range(longest))
    values = first_guess(len(y.flat) / max(1, len(x.flat)), longest)[written]
    for number in range(rounds):
        yield {"words": "aligning", "share": number / rounds}
        counts = np.zeros(len(keys))
        expect(begins[0], begins[1], longest, where, values, counts)
        values = counts / max(1e-300, counts.sum())
    units = np.full(len(x.flat), -1)
    with np.errstate(divide="ignore"):
        likeliest(begins[0], begins[1], longest, where, np.log(values), units)
    return keys, units
