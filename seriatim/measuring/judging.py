"""Which of several models is best, and how sure is that? Three words for a difference.

    better       the interval of the difference lies on one side of zero, and reaches beyond the margin
    equivalent   it lies within the margin on both sides: whatever the difference is, it is small
    undecided    neither: a larger test might tell

All of it rests on draws: the figure of each model as it would be if other test data had been drawn,
the same draws for every model, so that what makes an item hard for all of them cancels. "better" is
said of all rungs at once (the largest of their deviations is what must be exceeded, Dunnett's way),
"equivalent" by two one-sided tests (Schuirmann 1987). The set of models that may be best is the model
confidence set of Hansen, Lunde and Nason (2011) on the same draws; `arch` computes it for means of
losses alone, and F1, chrF and means over series are none, so it is written here and held against
`arch` where both apply. Shapes: M models, R draws; smaller is better throughout.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import stdtrit

from seriatim.measuring.measured import Measured
from seriatim.measuring.resampling import NORMAL

BETTER, EQUIVALENT, UNDECIDED, WORSE = "better", "equivalent", "undecided", "worse"
UNFINISHED = "unfinished"  # the winner is against a rung whose time was over: no verdict
LEVEL = 0.05  # of error: of "better" for all rungs together, of "equivalent" for each
FEW_ITEMS = 30  # of a test: nothing is told apart by fewer
BLOCK = 20  # symbols of a stream that count as an item: neighbours depend on each other
MAY_BE_BEST = 0.1  # a model leaves the confidence set if it is this improbable to be best
TINY = 1e-12  # a deviation below this share of the figure is rounding


def judged(
    draws: np.ndarray,
    values: np.ndarray,
    winner: int,
    margin: float,
    items: int | None = None,
    within: float | None = None,
) -> list[dict[str, Any] | None]:
    """(M, R) draws, (M,) figures -> what the winner is against each of the others: the word, the
    difference and its interval; None for the winner itself and for one that has no figure. Equivalent
    is what differs by less than `within`, or else than the margin's share of the winner's figure. Two
    that differ in none of so many `items` may still in three of that many (the rule of three): as long
    as that is more than the margin, they are not shown to be equivalent."""
    known = np.isfinite(values)
    apart = values - values[winner]  # (M,) above zero: the winner is ahead
    with np.errstate(invalid="ignore"):
        moved = draws - draws[winner] - apart[:, None]  # (M, R) how far chance moves it
    spread = np.where(known, moved.std(1, ddof=1), 0.0)
    least = TINY * max(abs(float(values[winner])), TINY)
    others = [m for m in range(len(values)) if m != winner and known[m] and spread[m] > least]
    largest = np.zeros(draws.shape[1])
    for m in others:
        largest = np.maximum(largest, np.abs(moved[m]) / spread[m])
    together = float(np.quantile(largest, 1 - LEVEL)) if others else 0.0
    size = abs(float(values[winner]))
    within = margin * size if within is None else within
    share = within / size if size else margin
    found: list[dict[str, Any] | None] = []
    for m in range(len(values)):
        if m == winner or not known[m]:
            found.append(None)
            continue
        sides = np.quantile(moved[m], [LEVEL, 1 - LEVEL]) + apart[m]  # two one-sided tests
        low, high = apart[m] - together * spread[m], apart[m] + together * spread[m]
        word = word_for(float(low), float(high), float(sides[0]), float(sides[1]), within)
        alike = spread[m] <= least and items is not None and share * items < 3
        found.append(
            {
                "word": UNDECIDED if alike and word == EQUIVALENT else word,
                "difference": float(apart[m]),
                "low": float(low),
                "high": float(high),
            }
        )
    return found


def word_for(low: float, high: float, least: float, most: float, within: float) -> str:
    """The word for a difference, by its interval for all rungs at once and by its own."""
    if -within < least and most < within:
        return EQUIVALENT
    if low > 0:
        return BETTER
    return WORSE if high < 0 else UNDECIDED


def may_be_best(draws: np.ndarray, values: np.ndarray, level: float = MAY_BE_BEST) -> np.ndarray:
    """(M, R) draws, (M,) figures -> (M,) which models are in the model confidence set: as long as
    the largest difference in it is too large to be chance, the worst is left out."""
    inside = np.isfinite(values)
    while inside.sum() > 1:
        rows = np.flatnonzero(inside)
        apart = values[rows][:, None] - values[rows]  # (m, m)
        moved = draws[rows][:, None] - draws[rows] - apart[..., None]  # (m, m, R)
        spread = moved.std(2, ddof=1)
        least = TINY * max(abs(float(values[rows].min())), TINY)
        different = spread > least
        with np.errstate(invalid="ignore", divide="ignore"):
            size = np.where(different, apart / spread, np.where(apart > least, np.inf, 0.0))
            chance = np.where(different[..., None], np.abs(moved) / spread[..., None], 0.0)
        p = float((chance.max((0, 1)) >= size.max()).mean())
        if p >= level:
            break
        inside[rows[int(size.max(1).argmax())]] = False
    return inside


def items_of(measured: Measured) -> int:
    """Of how many items something was measured: of a stream blocks of some symbols."""
    several = len(measured.loss)
    return several // BLOCK if measured.facts.get("by") == "stream" else several


def over_seeds(draws: np.ndarray, values: np.ndarray, seed: int = 0) -> np.ndarray:
    """(S, R) draws of the same model from S seeds, (S,) their figures -> (R,) of their mean, if other
    test data and other seeds had been drawn; few seeds vary less among themselves than they should."""
    count, resamples = draws.shape
    if count == 1:
        return draws[0]
    picks = np.random.default_rng(seed).integers(count, size=(resamples, count))  # (R, S)
    drawn = draws[picks, np.arange(resamples)[:, None]].mean(1)
    wider = float(stdtrit(count - 1, 0.975)) / NORMAL * np.sqrt(count / (count - 1))
    return drawn + (wider - 1) * (values[picks].mean(1) - values.mean())
