"""Counting by sorting: every n-gram of a corpus as one integer, level by level.

An n-gram is its first n-1 symbols, already numbered as a node of level n-1, and its last symbol:

    key(w1 .. wn) = node(w1 .. w(n-1)) * base + wn

Each level is the sorted array of its keys; a node's number is its place there, so that its children lie
side by side on the next level. START (= V) stands before the beginning of every sequence. No
dictionary, no string, and every look-up is a binary search on whole arrays.
Shapes: N symbols, M queries, K nodes of a level, V symbols of the vocabulary.
"""
from __future__ import annotations

import numpy as np

from seriatim.codecs.symbols import STOP
from seriatim.data.sequences import Field


class Counts:
    """How often each n-gram of length 1 to `length` occurred."""

    def __init__(self, base: int, keys: list[np.ndarray], counts: list[np.ndarray]):
        self.base = base                       # V + 1: the vocabulary and START
        self.keys, self.counts = keys, counts  # of level n at [n - 1]: (K,) int64 each
        self.children = []                     # of level n - 1 at [n - 1]: (K + 1,) where each node's children begin
        self.totals = []                       # of level n - 1 at [n - 1]: (K,) how often each node was followed
        parents = 1
        for key, count in zip(keys, counts, strict=True):
            begins = np.searchsorted(key, np.arange(parents + 1, dtype=np.int64) * base)
            cumulative = np.concatenate([np.zeros(1, np.int64), np.cumsum(count)])
            self.children.append(begins)
            self.totals.append(np.diff(cumulative[begins]))
            parents = len(key)

    @classmethod
    def of(cls, ids: Field, length: int, vocabulary: int, stop: bool) -> Counts:
        """Count a corpus; with `stop`, every sequence ends in STOP."""
        start, base = vocabulary, vocabulary + 1
        symbols, counted = padded(ids, length - 1, start, stop)       # (N,), (N,)
        node = np.zeros(len(symbols), np.int64)                       # of the n-gram that ends at each place
        keys, counts = [], []
        for _ in range(length):
            before = np.concatenate([np.zeros(1, np.int64), node[:-1]])
            key, node = np.unique(before * base + symbols, return_inverse=True)
            keys.append(key)
            counts.append(np.bincount(node[counted], minlength=len(key)))
        return cls(base, keys, counts)

    def find(self, grams: np.ndarray) -> np.ndarray:
        """(M, n) symbols -> (M,) nodes of level n, -1 for those never seen."""
        node = np.zeros(len(grams), np.int64)
        for level in range(grams.shape[1]):
            node = self.child(level, node, grams[:, level])
        return node

    def child(self, level: int, node: np.ndarray, symbol: np.ndarray) -> np.ndarray:
        """(M,) nodes of a level, (M,) symbols -> (M,) nodes of the next level, -1 for those never seen."""
        wanted = node * self.base + symbol
        place = np.searchsorted(self.keys[level], wanted)
        place[place == len(self.keys[level])] = 0
        return np.where((node >= 0) & (self.keys[level][place] == wanted), place, -1)

    def total(self, level: int, node: np.ndarray) -> np.ndarray:
        """How often each node of a level was followed by anything; 0 for -1."""
        return np.where(node >= 0, self.totals[level][node], 0)

    def count(self, level: int, node: np.ndarray) -> np.ndarray:
        """How often each node of a level >= 1 occurred; 0 for -1."""
        return np.where(node >= 0, self.counts[level - 1][node], 0)

    def rows(self, level: int, node: np.ndarray) -> np.ndarray:
        """(M,) nodes of a level -> (M, V) counts of what followed each."""
        begins = self.children[level]
        first = np.where(node >= 0, begins[node], 0)
        many = np.where(node >= 0, begins[node + 1] - first, 0)
        row = np.repeat(np.arange(len(node)), many)
        place = np.repeat(first - np.cumsum(many) + many, many) + np.arange(many.sum())
        dense = np.zeros((len(node), self.base), np.int64)
        dense[row, self.keys[level][place] % self.base] = self.counts[level][place]
        return dense[:, :-1]                                          # START never follows


def padded(ids: Field, before: int, start: int, stop: bool) -> tuple[np.ndarray, np.ndarray]:
    """All sequences end to end, each after `before` STARTs: symbols, and which of them are to be counted."""
    lengths = ids.lengths + stop
    ends = np.cumsum(lengths + before)
    symbols = np.full(ends[-1] if len(ends) else 0, start, np.int64)
    counted = np.ones(len(symbols), bool)
    for i in range(before):
        counted[ends - lengths - before + i] = False
    if stop:
        symbols[ends - 1] = STOP
    inside = counted.copy()
    inside[ends - 1] &= not stop
    symbols[inside] = ids.flat
    return symbols, counted
