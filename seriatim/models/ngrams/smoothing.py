"""From counts to probabilities: what a context keeps for the symbols it has seen, and what it lends
to the shorter one.

    p(w | c) = share(c w) + g(c) p(w | c')          c': c without its oldest symbol

Each method below is one function of the same arrays, for the n-grams of one length; all share the
counting and the tables. a is the count of an n-gram, A = sum_w a(c w) that of its context, T(c) the
number of different symbols after c, t_i the number of n-grams counted i times.

    add                  (a + k) / (A + k V), and nothing is lent; relative frequencies for k = 0
    witten-bell          share = a / (A + T),  g = T / (A + T)                      Witten and Bell 1991
    absolute             share = (a - D) / A,  g = D T / A,  D = t1 / (t1 + 2 t2)   Ney et al. 1994
    kneser-ney           the same, but a shorter n-gram counts the different symbols before it
    modified-kneser-ney  the same with D1, D2, D3 for n-grams counted once, twice, more
    good-turing          share = d(a) a / A for a <= 5; only unseen symbols borrow     Katz 1987

Kneser and Ney 1995; the modified form is that of Chen and Goodman 1999.
Shapes: K n-grams, C contexts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

# discounts where there is too little data to estimate them, as KenLM's --discount_fallback
FALLBACK = (0.5, 1.0, 1.5)


RELIABLE = 5  # Good-Turing: counts above this are left as they are


STATISTICS = RELIABLE + 2  # t_i is needed for i below this


@dataclass(frozen=True)
class Level:
    """The n-grams of one length (or a block of them that holds whole contexts)."""

    a: np.ndarray  # (K,) how much each counts
    context: np.ndarray  # (K,) which context it belongs to, in [0, C)
    total: np.ndarray  # (C,) sum of a
    lower: np.ndarray  # (K,) p(w | c')
    discount: np.ndarray  # what `discounts` returned for the whole level

    def sum(self, values: np.ndarray) -> np.ndarray:
        """(K,) -> (C,): the sum over the n-grams of each context."""
        return np.bincount(self.context, values, len(self.total))


Answer = tuple[np.ndarray, np.ndarray]  # (K,) p, (C,) g


def interpolated(level: Level, share: np.ndarray, g: np.ndarray) -> Answer:
    """What all methods but two do: seen symbols borrow from the shorter context, too."""
    return share + g[level.context] * level.lower, g


def add(level: Level, k: float, vocabulary: int) -> Answer:
    """A pseudo-count k for every symbol; nothing is left for the shorter context."""
    everything = level.total + k * vocabulary
    return (level.a + k) / everything[level.context], k / everything


def discounted(level: Level) -> Answer:
    """Absolute discounting in all its forms: D(a) is taken from each count, and all that was taken
    is lent."""
    taken = level.discount[np.minimum(level.a, len(level.discount) - 1)]
    return interpolated(
        level, (level.a - taken) / level.total[level.context], level.sum(taken) / level.total
    )


def witten_bell(level: Level) -> Answer:
    """A context lends as often as it met something new."""
    kinds = level.sum((level.a > 0).astype(np.float64))
    everything = level.total + kinds
    return interpolated(level, level.a / everything[level.context], kinds / everything)


def good_turing(level: Level) -> Answer:
    """Counts up to RELIABLE are discounted, and only unseen symbols borrow."""
    kept = np.append(level.discount, 1.0)[np.minimum(level.a, len(level.discount))] * level.a
    # (C,) of the shorter context, for symbols not seen here
    free = 1 - level.sum(np.where(level.a > 0, level.lower, 0.0))
    closed = free < 1e-5  # nobody to lend to
    # nothing to lend: pretend that one more symbol was seen
    greedy = ~closed & (level.sum(kept) > level.total - 1e-9)
    everything = np.where(closed, level.sum(kept), level.total + greedy)
    p = kept / everything[level.context]
    g = np.where(closed, 0.0, (1 - level.sum(p)) / np.where(closed, 1.0, free))
    return np.where(level.a > 0, p, g[level.context] * level.lower), g


def one_discount(t: np.ndarray) -> np.ndarray | None:
    """D = t1 / (t1 + 2 t2), for every count; None if it cannot be estimated."""
    return np.array([0.0, t[1] / (t[1] + 2 * t[2])]) if t[1] and t[2] else None


def three_discounts(t: np.ndarray) -> np.ndarray | None:
    """Y = t1 / (t1 + 2 t2),  Di = i - (i + 1) Y t(i+1) / ti."""
    if not t[1:5].all():
        return None
    y = t[1] / (t[1] + 2 * t[2])
    found = np.array([0.0] + [i - (i + 1) * y * t[i + 1] / t[i] for i in (1, 2, 3)])
    return found if np.all((found >= 0) & (found <= np.arange(4))) else None


def good_turing_discounts(t: np.ndarray) -> np.ndarray | None:
    """r* = (r + 1) t(r+1) / t_r,  d_r = (r* / r - x) / (1 - x)  with  x = (k + 1) t(k+1) / t1:
    the factor for each count r up to k; None if they cannot be estimated."""
    if not t[1:].all():
        return None
    x = (RELIABLE + 1) * t[RELIABLE + 1] / t[1]
    d = (
        [((r + 1) * t[r + 1] / t[r] / r - x) / (1 - x) for r in range(1, RELIABLE + 1)]
        if x < 1
        else [0.0]
    )
    return np.array([1.0, *d]) if all(0 < each <= 1 for each in d) else None


@dataclass(frozen=True)
class Smoothing:
    """A method: how probabilities come from counts, how discounts come from counts of counts, and
    what they are in the last resort."""

    weigh: Callable[[Level], Answer]
    discounts: Callable[[np.ndarray], np.ndarray | None] = lambda t: np.zeros(1)
    fallback: tuple[float, ...] = ()
    continuation: bool = False  # shorter n-grams count the different symbols before them
    taken: Callable[[np.ndarray, np.ndarray], np.ndarray] = lambda discount, a: discount[
        np.minimum(a, len(discount) - 1)
    ]


SMOOTHING = {
    "modified-kneser-ney": Smoothing(
        discounted, three_discounts, (0.0, *FALLBACK), continuation=True
    ),
    "kneser-ney": Smoothing(discounted, one_discount, (0.0, FALLBACK[0]), continuation=True),
    "absolute": Smoothing(discounted, one_discount, (0.0, FALLBACK[0])),
    "witten-bell": Smoothing(witten_bell),
    "good-turing": Smoothing(
        good_turing,
        good_turing_discounts,
        (1.0, *(1 - FALLBACK[min(r, 3) - 1] / r for r in range(1, RELIABLE + 1))),
        taken=lambda discount, a: a * (1 - np.append(discount, 1.0)[np.minimum(a, len(discount))]),
    ),
}
