"""Counting by sorting: every n-gram of a corpus as one integer, level by level.

An n-gram is its first n-1 symbols, already numbered as a node of level n-1, and its last symbol:

    key(w1 .. wn) = node(w1 .. w(n-1)) * base + wn

Each level is the sorted array of its keys; a node's number is its place there, so that its children lie
side by side on the next level. START (= V) stands once before the beginning of every sequence, and no
n-gram reaches beyond it. No dictionary, no string, and every look-up is a binary search on whole arrays.
Shapes: N symbols, M queries, K nodes of a level, V symbols of the vocabulary.
"""
from __future__ import annotations

import numpy as np

from seriatim.codecs.symbols import STOP
from seriatim.data.sequences import Field, offsets_of


class Counts:
    """How often each n-gram of length 1 to `length` occurred."""

    def __init__(self, base: int, keys: list[np.ndarray], counts: list[np.ndarray]):
        self.base = base                       # V + 1: the vocabulary and START
        self.keys, self.counts = keys, counts  # of level n at [n - 1]: (K,) int64 each
        self.children = []                     # of level n - 1 at [n - 1]: (K + 1,) where each node's children begin
        self.totals = []                       # of level n - 1 at [n - 1]: (K,) how often each node was followed
        self.endings: list[np.ndarray] = []    # of level n at [n - 1]: (K,) the node of level n - 1 without the first symbol; after counting only
        parents = 1
        for key, count in zip(keys, counts, strict=True):
            begins = np.searchsorted(key, np.arange(parents + 1, dtype=np.int64) * base)
            cumulative = np.concatenate([np.zeros(1, np.int64), np.cumsum(count)])
            self.children.append(begins)
            self.totals.append(np.diff(cumulative[begins]))
            parents = len(key)

    @classmethod
    def of(cls, ids: Field, length: int, vocabulary: int, stop: bool) -> Counts:
        """Count a corpus; every sequence begins after START, and with `stop` it ends in STOP."""
        symbols, place = laid_out(ids, vocabulary, stop)              # (N,), (N,)
        node = np.zeros(len(symbols), np.int64)                       # of the n-gram that ends at each place; -1 if it would begin too early
        keys, counts, endings = [], [], []
        for n in range(1, length + 1):
            shorter, inside = node, place >= n - 1
            before = np.concatenate([np.zeros(1, np.int64), shorter[:-1]])
            key, found = np.unique(before[inside] * (vocabulary + 1) + symbols[inside], return_inverse=True)
            node = np.full(len(symbols), -1)
            node[inside] = found
            count, ending = np.bincount(found, minlength=len(key)), np.zeros(len(key), np.int64)
            if n == 1:
                count[key == vocabulary] = 0                          # START stands there, but it is never predicted
            ending[found] = shorter[inside]
            keys.append(key)
            counts.append(count)
            endings.append(ending)
        made = cls(vocabulary + 1, keys, counts)
        made.endings = endings
        return made

    def find(self, grams: np.ndarray) -> np.ndarray:
        """(M, n) symbols -> (M,) nodes of level n, -1 for those never seen."""
        node = np.zeros(len(grams), np.int64)
        for level in range(grams.shape[1]):
            node = self.child(level, node, grams[:, level])
        return node

    def child(self, level: int, node: np.ndarray, symbol: np.ndarray) -> np.ndarray:
        """(M,) nodes of a level, (M,) symbols -> (M,) nodes of the next level, -1 for those never seen."""
        keys, wanted = self.keys[level], node * self.base + symbol
        place = np.searchsorted(keys, wanted)
        return np.where((node >= 0) & (at(keys, place) == wanted), place, -1)

    def total(self, level: int, node: np.ndarray) -> np.ndarray:
        """How often each node of a level was followed by anything; 0 for -1."""
        return np.where(node >= 0, at(self.totals[level], node), 0)

    def count(self, level: int, node: np.ndarray) -> np.ndarray:
        """How often each node of a level >= 1 occurred; 0 for -1."""
        return np.where(node >= 0, at(self.counts[level - 1], node), 0)

    def rows(self, level: int, node: np.ndarray) -> np.ndarray:
        """(M,) nodes of a level -> (M, V) counts of what followed each."""
        row, symbol, place = self.children_of(level, node)
        dense = np.zeros((len(node), self.base - 1), np.int64)
        dense[row, symbol] = self.counts[level][place]
        return dense

    def children_of(self, level: int, node: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(M,) nodes of a level -> all their children: the row each belongs to, its symbol, and its node on the next level."""
        begins = self.children[level]
        first = np.where(node >= 0, begins[node], 0)
        many = np.where(node >= 0, begins[node + 1] - first, 0)
        row = np.repeat(np.arange(len(node)), many)
        place = np.repeat(first - np.cumsum(many) + many, many) + np.arange(many.sum())
        symbol = self.keys[level][place] % self.base
        predicted = symbol < self.base - 1                            # START never follows
        return row[predicted], symbol[predicted], place[predicted]


def at(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """values[places], with -1 where a place is outside."""
    inside = (places >= 0) & (places < len(values))
    found = np.full(places.shape, -1, values.dtype)
    found[inside] = values[places[inside]]
    return found


def laid_out(ids: Field, start: int, stop: bool) -> tuple[np.ndarray, np.ndarray]:
    """All sequences end to end, each after START: symbols, and the place of each in its sequence (START: 0)."""
    lengths = ids.lengths + 1 + stop
    offsets = offsets_of(lengths)
    symbols = np.full(offsets[-1], start, np.int64)
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    inside = place > 0
    if stop:
        symbols[offsets[1:] - 1] = STOP
        inside[offsets[1:] - 1] = False
    symbols[inside] = ids.flat
    return symbols, place
