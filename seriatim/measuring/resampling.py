"""Intervals and tests by resampling: what is drawn are groups of items that depend on each other.

Shapes: N items, G groups, R resamples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import stdtrit

from seriatim.data.sequences import Field
from seriatim.errors import DataError

Record = dict[str, Any]


MOST_GROUPS, RESAMPLES = 2000, 1000


NORMAL = 1.959963984540054  # 95 % of a normal distribution lie within so many standard deviations


def wilson(correct: int, count: int) -> tuple[float, float]:
    """95 % interval of a share; unlike p ± 1.96 sqrt(p (1 - p) / N) it stays between 0 and 1, and
    is right where p is near them."""
    share, squared = correct / count, NORMAL**2 / count
    middle, half = share + squared / 2, math.sqrt(share * (1 - share) * squared + squared**2 / 4)
    return max(0.0, (middle - half) / (1 + squared)), min(1.0, (middle + half) / (1 + squared))


# Two models on the same examples


def mcnemar(first_right: np.ndarray, second_right: np.ndarray) -> Record:
    """Whether two models differ where one alone is right: p of the exact two-sided binomial
    test."""
    first, second = (column.astype(bool) for column in side_by_side(first_right, second_right))
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    fewer, count = min(only_first, only_second), only_first + only_second
    places = np.arange(1, fewer + 1)
    # (fewer + 1,) log of count over i
    log_ways = np.append(0.0, np.cumsum(np.log((count + 1 - places) / places)))
    log_p = float(np.logaddexp.reduce(log_ways)) - (count - 1) * math.log(2)
    return {"only_first": only_first, "only_second": only_second, "p": math.exp(min(0.0, log_p))}


def paired_bootstrap(
    first: np.ndarray, second: np.ndarray, groups: np.ndarray | None = None
) -> Record:
    """The mean of (N,) `first` minus that of (N,) `second`, with its 95 % interval and two-sided p.

    `groups`: (G + 1,) offsets of what is drawn together, such as the tokens of a sentence; None
    draws each example by itself.
    """
    first, second = (column.astype(np.float64) for column in side_by_side(first, second))
    offsets = np.arange(len(first) + 1) if groups is None else np.asarray(groups)
    if offsets[0] != 0 or offsets[-1] != len(first) or (np.diff(offsets) < 0).any():
        raise DataError(f"offsets rise from 0 to the number of examples, {len(first)}", got=offsets)
    # (R,)
    draws = drawn_means(sums_between(first - second, np.unique(offsets[offsets < len(first)])))
    return {
        "difference": float((first - second).mean()),
        "interval": np.quantile(draws, [0.025, 0.975]).tolist(),
        "p": two_sided(draws),
    }


def two_sided(draws: np.ndarray) -> float:
    """(R,) differences, as drawn -> how probable one this far from zero is if there is none."""
    return min(1.0, 2 * (int(min((draws <= 0).sum(), (draws >= 0).sum())) + 1) / (len(draws) + 1))


def sums_between(values: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """(N,) values, (G,) where groups begin -> (G, 2) sums and numbers of values; neighbours join
    where there are over MOST_GROUPS."""
    cuts = cuts[:: max(1, len(cuts) // MOST_GROUPS)]
    return np.stack([np.add.reduceat(values, cuts), np.diff(np.append(cuts, len(values)))], 1)


def group_starts(offsets: np.ndarray) -> np.ndarray:
    """(G + 1,) offsets -> where the groups begin that have something in them."""
    return np.unique(offsets[:-1][np.diff(offsets) > 0])


def resample(groups: int, seed: int = 0, samples: int = RESAMPLES) -> np.ndarray:
    """(R, G) how often each group is drawn: the same draws for every model, so that they can be
    paired."""
    return np.random.default_rng(seed).multinomial(groups, np.full(groups, 1 / groups), samples)


def drawn_means(groups: np.ndarray) -> np.ndarray:
    """(G, 2) sums and numbers of values -> (R,) the mean of all values, if other groups had been
    drawn. Few groups vary less among themselves than they should, so draws are widened as Student's
    t is wider than the normal distribution."""
    sums = resample(len(groups)) @ groups  # (R, 2)
    return widened(sums[:, 0] / sums[:, 1], groups[:, 0].sum() / groups[:, 1].sum(), len(groups))


def widened(draws: np.ndarray, value: float, groups: int) -> np.ndarray:
    """(R,) draws of a figure by so few groups, as far from it as they should be."""
    if groups < 2:
        return draws
    wider = float(stdtrit(groups - 1, 0.975)) / NORMAL * math.sqrt(groups / (groups - 1))
    return value + wider * (draws - value)


def drawn_together(several: Sequence[np.ndarray], cuts: np.ndarray) -> np.ndarray:
    """(N,) values of each of M models on the same items, (G,) where groups begin -> (M, R) their
    means, if other groups had been drawn: the same for all, so that they can be paired."""
    return drawn_groups(np.stack([sums_between(values, cuts) for values in several]))


def drawn_groups(groups: np.ndarray) -> np.ndarray:
    """(M, G, 2) sums and numbers of values of each group by M models -> (M, R) the same."""
    count = groups.shape[1]
    sums = resample(count) @ groups  # (M, R, 2)
    means = groups[..., 0].sum(1) / groups[..., 1].sum(1)
    drawn = sums[..., 0] / sums[..., 1]
    return np.stack([widened(each, mean, count) for each, mean in zip(drawn, means)])


def interval(groups: np.ndarray) -> tuple[float, float]:
    """95 % interval of the mean of all values."""
    return middle_of(drawn_means(groups))


def middle_of(draws: np.ndarray) -> tuple[float, float]:
    """Where the middle 95 % of (R,) draws lie."""
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(low), float(high)


# Several regions of one long stream, put end to end: what is alike for longer than a region is
# seen only by comparing regions, and what differs between far parts of the text is in every test,
# so that only neighbouring regions are compared (Wolter 1984). G = 2r halves of r regions, e what
# each half adds to the mean beyond its share of it, E the same of both halves:
#
#     v = (1 - w) G / (G - 1) sum e_g^2  +  w r / (2 (r - 1)) sum (E_i+1 - E_i)^2,    w = 2/3

NEIGHBOURS = 2 / 3  # of the variance come from the differences of neighbours, the rest from halves


def drawn_over_regions(halves: np.ndarray, seed: int = 0) -> np.ndarray:
    """(2r, 2) sums and numbers of values of the halves of r regions -> (R,) the mean of all values,
    if other places of the text had been drawn: normal, with the variance v, as wide as Student's t
    (a wild bootstrap). The same draws for every model, so that they can be paired."""
    count, regions = len(halves), len(halves) // 2
    total = halves.sum(0)
    mean = total[0] / total[1]
    apart = (halves[:, 0] - mean * halves[:, 1]) / total[1]  # (2r,) e
    steps = np.diff(apart.reshape(regions, 2).sum(1))  # (r - 1,)
    parts = np.concatenate(
        [
            math.sqrt((1 - NEIGHBOURS) * count / (count - 1)) * apart,
            math.sqrt(NEIGHBOURS * regions / (2 * (regions - 1))) * steps,
        ]
    )  # (3r - 1,) whose squares sum to v
    chance = np.random.default_rng(seed).standard_normal((RESAMPLES, len(parts)))
    wider = float(stdtrit(freedom(regions), 0.975)) / NORMAL
    return mean + wider * (chance @ parts)


def freedom(regions: int) -> float:
    """Degrees of freedom of v, after Satterthwaite: 2r - 1 of halves; the r - 1 differences share
    their ends, and have 2 (r - 1)^2 / (3r - 4)."""
    steps = 2 * (regions - 1) ** 2 / (3 * regions - 4)
    return 1 / ((1 - NEIGHBOURS) ** 2 / (2 * regions - 1) + NEIGHBOURS**2 / steps)


def halves_of(values: np.ndarray, regions: int) -> np.ndarray:
    """(N,) values of regions of one size -> (2r, 2) sums and numbers of values of their halves."""
    return sums_between(values, np.arange(2 * regions) * len(values) // (2 * regions))


# Checks


def side_by_side(*columns: np.ndarray) -> list[np.ndarray]:
    """Columns as arrays: (N,) each, the same N for all and not 0."""
    arrays = [np.asarray(column) for column in columns]
    if len({array.shape for array in arrays}) > 1 or arrays[0].ndim != 1 or not len(arrays[0]):
        raise DataError(
            "one value for each example is compared, and for one example at least",
            got=f"shapes {[array.shape for array in arrays]}",
        )
    return arrays


FIRST_BLOCK = 200  # symbols of a stream that always go together
FEW_BLOCKS = 12  # fewer blocks than these tell too little about each other
GROWN = 0.95  # of the largest standard error: what is as good as all of it


def grouped(values: np.ndarray, layout: Field, by: str) -> np.ndarray:
    """(G, 2): the sum of the values and their number, for each group that is resampled together."""
    cuts = (
        np.arange(0, len(values), block_length(values))
        if by == "stream"
        else (layout.offsets - layout.offsets[0])[:-1]
    )
    return sums_between(values, cuts)


def block_length(values: np.ndarray) -> int:
    """How many neighbours of a stream go together in a resample: twice as many, and again, as long
    as that makes the standard error of the mean larger. Neighbours that are alike, a topic, a
    speaker, make it too small; blocks longer than their likeness do not."""
    values = np.nan_to_num(values, posinf=0.0)  # what is impossible has no interval anyway
    longest = max(1, len(values) // FEW_BLOCKS)
    lengths = [min(FIRST_BLOCK, longest)]
    while 2 * lengths[-1] <= longest:
        lengths.append(2 * lengths[-1])
    lengths.append(longest)
    errors = [standard_error(values, length) for length in lengths]
    enough = GROWN * max(errors)
    return next(length for length, error in zip(lengths, errors) if error >= enough)


def standard_error(values: np.ndarray, length: int) -> float:
    """Of the mean of a stream, by the means of blocks of this length; what is left over at the end
    is not looked at."""
    blocks = values[: len(values) // length * length].reshape(-1, length).mean(1)
    return float(blocks.std(ddof=1) / math.sqrt(len(blocks))) if len(blocks) > 1 else 0.0


def blocks_in_words(values: np.ndarray) -> str:
    """What is resampled of a stream; where the standard error might still grow, that is said."""
    length = block_length(values)
    words = f"blocks of {length:,} symbols"
    if 4 * length > len(values) // FEW_BLOCKS:
        words += ", as long as this text allows: the interval may be too narrow"
    return words
