"""Smaller n-gram models: leave out what hardly matters, and store the rest in 8 bits.

An n-gram may go if no longer one begins with it. What a context loses with it, it lends to the
shorter one:

    g(c) = (1 - sum p(w | c)) / (1 - sum p(w | c'))        over the symbols w that c has kept

so that all still sums to one. By count: n-grams seen rarely go. By relative entropy (Stolcke 1998):
those go whose loss would raise the perplexity by less than a threshold:

    D(c w) = - p(c) { p(w|c) [log p(w|c') + log g'(c) - log p(w|c)]
                      + (1 - sum p(v|c)) [log g'(c) - log g(c)] }

with g' the weight that c would have without w, and p(c) how often c occurred.
Shapes: K nodes of a level, C contexts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from seriatim.models.ngrams.tables import Quantised, Tables, every

if TYPE_CHECKING:
    from seriatim.models.ngrams.ngram import Ngram


BLOCK = 1 << 20  # n-grams looked at in one go


def by_count(tables: Tables, least: list[int]) -> list[np.ndarray]:
    """Which n-grams occurred at least `least[n - 1]` times (the last number holds for all longer
    ones); single symbols always stay."""
    return [
        np.ones(len(keys), bool) if n == 0 else tables.counts[n] >= least[min(n, len(least) - 1)]
        for n, keys in enumerate(tables.keys)
    ]


def by_entropy(model: Ngram, threshold: float) -> list[np.ndarray]:
    """Which n-grams are worth keeping: without one of the others, perplexity would rise by less
    than the threshold, in relative terms."""
    tables = model.tables
    places = max(1, int(tables.counts[0].sum()))
    keep = [np.ones(len(tables.keys[0]), bool)]
    for n in range(2, len(tables.keys) + 1):
        context = tables.keys[n - 1] // tables.base
        p, lower = (
            np.exp(every(tables.log_p[n - 1]).astype(np.float64)),
            np.exp(shortened(model, n)),
        )
        contexts = len(tables.keys[n - 2])
        left, left_lower = (
            np.maximum(1 - np.bincount(context, each, contexts), 1e-12) for each in (p, lower)
        )  # (C,) of what c has not seen
        log_g = np.log(left / left_lower)
        without = np.log((left[context] + p) / (left_lower[context] + lower))  # (K,) log g'(c)
        change = p * (np.log(lower) + without - np.log(p)) + left[context] * (
            without - log_g[context]
        )
        keep.append(np.expm1(-tables.counts[n - 2][context] / places * change) >= threshold)
    return keep


def prune(model: Ngram, keep: list[np.ndarray]) -> None:
    """Keep these n-grams, and all that longer ones begin with; weights are found anew from the
    shortest to the longest."""
    old, base = model.tables, model.tables.base
    keep = [each.copy() for each in keep]
    for n in range(len(keep) - 1, 1, -1):
        keep[n - 1][old.keys[n][keep[n]] // base] = True
    model.tables = new = Tables(base, [], [], [], [], [])
    for n, kept in enumerate(keep):
        if n == 0:
            new.take_level(old.keys[0], old.log_p[0], old.log_g[0], old.counts[0], old.amounts[0])
            continue
        number = np.cumsum(keep[n - 1]) - 1  # (C,) the new numbers of the contexts
        parent, symbol = np.divmod(old.keys[n][kept], base)
        keys, log_p = number[parent] * base + symbol, every(old.log_p[n])[kept]
        new.take_level(
            keys,
            log_p,
            np.zeros(len(new.keys[n - 1]), np.float32),
            old.counts[n][kept],
            old.amounts[n][kept],
        )
        p, lower = np.exp(log_p.astype(np.float64)), np.exp(shortened(model, n + 1))
        left, left_lower = (
            1 - np.bincount(number[parent], each, len(new.keys[n - 1])) for each in (p, lower)
        )
        new.log_g[n][:] = np.log(np.maximum(left, 1e-7) / np.maximum(left_lower, 1e-7))


def quantise(tables: Tables) -> None:
    """log p and log g in 8 bits each; counts, which only people need, are left out."""
    tables.log_p = [Quantised.of(every(level)) for level in tables.log_p]
    tables.log_g = [Quantised.of(every(level)) for level in tables.log_g]
    tables.counts, tables.amounts = (
        [np.zeros(0, kind) for _ in tables.keys] for kind in (np.int32, np.uint8)
    )


def shortened(model: Ngram, n: int) -> np.ndarray:
    """(K,) log p(w | c') of every n-gram c w of level n, by the levels below it."""
    found = np.zeros(len(model.tables.keys[n - 1]))
    for begin in range(0, len(found), BLOCK):
        symbols = torch.from_numpy(
            model.tables.spelled(n, np.arange(begin, min(begin + BLOCK, len(found))))
        )  # (M, n)
        state = torch.full((len(symbols), model.reach), -1)
        for t in range(1, n - 1):
            state = model.advance(symbols[:, t : t + 1], state, n - 2)[:, 0]
        found[begin : begin + BLOCK] = model.look_up(state.numpy(), symbols[:, -1].numpy())[0]
    return found
