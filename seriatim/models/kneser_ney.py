"""Modified Kneser-Ney: counts of every order at once, each lending to the next.

Unlike Markov, which knows a context or drops it, a longer context always leans on the shorter ones:

    p(w | c) = (a(c w) - D(a(c w))) / a(c ·)  +  g(c) p(w | c without its oldest symbol)
    g(c)     = (D1 N1(c) + D2 N2(c) + D3 N3+(c)) / a(c ·)

a is the count itself for the longest n-grams and for those that begin a sequence; for all others it is the
number of different symbols seen before it, for a word that only ever follows one other is no good guess
elsewhere (Kneser and Ney 1995). Ni(c) is the number of symbols with a(c w) = i (3+: three or more). The
discounts come from the counts of counts, t_i the number of n-grams with a = i (Chen and Goodman 1999):

    Y = t1 / (t1 + 2 t2),   Di = i - (i + 1) Y t(i+1) / ti

The unigram leans on the uniform distribution. The same numbers as KenLM's lmplz, with any order.
Shapes: M queries, K nodes of a level, V symbols.
"""
from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.config import KneserNeyOptions
from seriatim.data.sequences import Field
from seriatim.models.counts import Counts, at
from seriatim.models.ngram import Ngram

FALLBACK = (0.5, 1.0, 1.5)                # discounts where there is too little data to estimate them, as KenLM's --discount_fallback


class KneserNey(Ngram):
    """Interpolated modified Kneser-Ney. `order` is the length of the longest n-gram, so that it looks at order - 1 symbols."""

    def __init__(self, vocabulary: int, options: KneserNeyOptions):
        self.vocabulary, self.reach = vocabulary, options.order - 1
        self.discounts: list[tuple[float, float, float]] = []
        self.take([np.zeros(0, np.int64)] * options.order, [np.zeros(0, np.float32)] * options.order, [np.zeros(1, np.float32)] * options.order)

    def take(self, keys: list[np.ndarray], log_p: list[np.ndarray], log_g: list[np.ndarray]) -> None:
        """The tables: keys and log p of level n at [n - 1], log g of the contexts of level n - 1 at [n - 1]."""
        self.grams = Counts(self.vocabulary + 1, keys, [np.zeros(len(key), np.int64) for key in keys])
        self.log_p, self.log_g = log_p, log_g

    # -- learning
    def count(self, ids: Field, stop: bool) -> None:
        """Learn: count, discount, interpolate, from the shortest n-grams to the longest."""
        counts = Counts.of(ids, self.reach + 1, self.vocabulary, stop)
        adjusted = self.adjust(counts)
        lower, log_p, log_g = np.full(1, 1 / self.vocabulary), [], []
        self.discounts = []
        for level, (key, a) in enumerate(zip(counts.keys, adjusted, strict=True)):
            contexts = 1 if level == 0 else len(counts.keys[level - 1])
            context = key // counts.base                                          # (K,) node of the level before
            self.discounts.append(discounts_of(a))
            discount = np.array([0.0, *self.discounts[-1]])[np.minimum(a, 3)]     # (K,)
            total = np.bincount(context, a, contexts)
            held = np.bincount(context, discount, contexts)
            with np.errstate(invalid="ignore", divide="ignore"):
                g = np.where(total > 0, held / total, 1.0)                        # a context never followed leaves all to the shorter one
                p = np.where(total[context] > 0, (a - discount) / total[context], 0.0) + g[context] * lower[counts.endings[level]]
            if level == 0:
                p[key == self.vocabulary] = 0.0                                   # START is never predicted
            with np.errstate(divide="ignore"):
                log_p.append(np.log(p).astype(np.float32))
                log_g.append(np.log(g).astype(np.float32))
            lower = p
        self.take(counts.keys, log_p, log_g)

    def adjust(self, counts: Counts) -> list[np.ndarray]:
        """a of every level: counts for the longest and for what begins a sequence, else the number of different left neighbours."""
        adjusted, begins = [], counts.keys[0] == self.vocabulary
        for level, count in enumerate(counts.counts):
            if level > 0:
                begins = begins[counts.keys[level] // counts.base]
            if level + 1 == len(counts.counts):
                adjusted.append(count)
            else:
                neighbours = np.bincount(counts.endings[level + 1], minlength=len(count))
                adjusted.append(np.where(begins, count, neighbours))
        return adjusted

    # -- answering
    def log_prob(self, contexts: np.ndarray, y: np.ndarray) -> np.ndarray:
        return self.look_up(contexts, y)[0]

    def look_up(self, contexts: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(M, reach) contexts, (M,) symbols -> (M,) log-probabilities, and the length of the n-gram that gave each."""
        found, used = np.zeros(len(y)), np.zeros(len(y), np.int64)
        open_ = np.arange(len(y))                                                 # those not answered yet
        for depth in range(self.reach, -1, -1):
            node = self.grams.find(contexts[open_, self.reach - depth:])
            child = self.grams.child(depth, node, y[open_])
            hit = child >= 0
            found[open_[hit]] += self.log_p[depth][child[hit]]
            used[open_[hit]] = depth + 1
            found[open_[~hit]] += np.where(node[~hit] >= 0, at(self.log_g[depth], node[~hit]), 0.0)
            open_ = open_[~hit]
        found[open_] -= np.log(self.vocabulary)
        return found, used

    def log_probs(self, contexts: np.ndarray) -> np.ndarray:
        rows = np.full((len(contexts), self.vocabulary), -np.log(self.vocabulary))
        for depth in range(self.reach + 1):
            node = self.grams.find(contexts[:, self.reach - depth:])
            rows += np.where(node >= 0, at(self.log_g[depth], node), 0.0)[:, None]
            row, symbol, place = self.grams.children_of(depth, node)
            rows[row, symbol] = self.log_p[depth][place]
        return rows

    def trace(self, batch: Batch) -> dict[str, Tensor]:
        """The length of the n-gram that answered at each place of y (0: none, the uniform distribution)."""
        contexts = self.unroll(batch)[0].contexts.reshape(-1, self.reach).numpy()
        used = self.look_up(contexts, batch.y.reshape(-1).numpy())[1]
        return {"order": torch.from_numpy(used).reshape(batch.y.shape)}

    # -- keeping
    def arrays(self) -> dict[str, Tensor]:
        tables = {"keys": self.grams.keys, "log_p": self.log_p, "log_g": self.log_g}
        return {f"{name}.{n}": torch.from_numpy(array) for name, levels in tables.items() for n, array in enumerate(levels, 1)}

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        levels, kinds = range(1, self.reach + 2), {"keys": torch.int64, "log_p": torch.float32, "log_g": torch.float32}
        if {name: array.dtype for name, array in arrays.items()} != {f"{name}.{n}": kind for name, kind in kinds.items() for n in levels}:
            raise ValueError(f"a Kneser-Ney model of order {self.reach + 1} has keys, log_p and log_g of that many levels")
        keys, log_p, log_g = ([arrays[f"{name}.{n}"].numpy() for n in levels] for name in kinds)
        nodes = 1
        for key, p, g in zip(keys, log_p, log_g, strict=True):
            sizes = key.ndim == 1 and p.shape == key.shape and g.shape == (nodes,)
            if not sizes or np.any(np.diff(key) <= 0) or np.any((key < 0) | (key >= nodes * (self.vocabulary + 1))):
                raise ValueError("keys, log_p and log_g do not belong together")
            nodes = len(key)
        self.take(keys, log_p, log_g)

    def size(self) -> int:
        return sum(map(len, self.log_p)) + sum(map(len, self.log_g))


def discounts_of(a: np.ndarray) -> tuple[float, float, float]:
    """D1, D2, D3+ from the counts of counts; fixed ones where these cannot be estimated."""
    t = np.bincount(a[(a > 0) & (a <= 4)], minlength=5)
    if t[1:].all():
        y = t[1] / (t[1] + 2 * t[2])
        found = tuple(float(i - (i + 1) * y * t[i + 1] / t[i]) for i in (1, 2, 3))
        if all(0 <= d <= i for i, d in enumerate(found, 1)):
            return found
    return FALLBACK
