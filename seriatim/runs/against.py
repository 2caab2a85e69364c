"""What one model is against another on the same data: by how much, how sure, and which is better."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from seriatim.measuring.judging import BETTER, FEW_ITEMS, LEVEL, UNDECIDED, WORSE

if TYPE_CHECKING:
    from seriatim.tasks.base import Figure


def difference(mine: float | None, theirs: float | None, figure: Figure) -> float:
    """How far a figure lies above that of the other model: infinitely, where it is impossible for
    one of them; nan where neither has it."""
    if mine is None and theirs is None:
        return math.nan
    gone = -math.inf if figure.higher else math.inf
    return (gone if mine is None else mine) - (gone if theirs is None else theirs)


def told_apart(
    figure: Figure, apart: float, bounds: tuple[float, float], p: float, items: int, more: str = ""
) -> dict[str, Any]:
    """The record of a difference of a figure, with its 95 % interval, and in words, to which `more`
    may be added. One of the two is better only if the test and the interval say so, on enough items."""
    low, high = bounds
    sure = p < LEVEL and items >= FEW_ITEMS and (low > 0 or high < 0)
    word = UNDECIDED if not sure else BETTER if figure.signed(apart) < 0 else WORSE
    known = all(map(math.isfinite, (apart, low, high)))
    return {
        "figure": figure.key,
        "difference": apart if known else None,
        "interval": {"confidence": 0.95, "difference": [low, high] if known else [None, None]},
        "p": p,
        "test": figure.test_name,
        "word": word,
        "words": f"{in_words(figure, apart, low, high)}, p = {p:.3g} ({figure.test_name}){more}: "
        + (word if word == UNDECIDED else f"this model is {word}"),
    }


def in_words(figure: Figure, apart: float, low: float, high: float) -> str:
    """The difference as it stands in a table."""
    if math.isnan(apart):
        return f"neither has a {figure.title}"
    if math.isinf(apart):
        which = "this model" if figure.signed(apart) > 0 else "the other one"
        return f"{figure.title} impossible for {which}"
    above, least, most = (signed(figure, each) for each in (apart, low, high))
    if low == high == apart == 0:
        return f"{figure.title} {above} (the same on every part of the data)"
    return f"{figure.title} {above} ({least} to {most})"


def signed(figure: Figure, value: float) -> str:
    """A difference in the form of its figure, with its sign."""
    return ("-" if value < 0 else "+") + figure.written(abs(value))
