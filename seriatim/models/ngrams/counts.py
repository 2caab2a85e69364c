"""Counting by sorting: every n-gram of a corpus as one integer, level by level.

An n-gram is its first n-1 symbols, already numbered as a node of level n-1, and its last symbol:

    key(w1 .. wn) = node(w1 .. w(n-1)) * base + wn

Each level is the sorted array of its keys; a node's number is its place there, so that its children
lie side by side on the next level. A node of level 1 is a symbol itself. START (= V) stands once
before the beginning of every sequence and nowhere else; being the last symbol, n-grams that begin
with it are the last of their level.

The places of the text, sorted by the n-gram that ends there, need little work to be sorted by the
longer one that ends a symbol later: only within groups of equal n-grams, and an n-gram seen once is
a group of its own. Groups are sorted a block at a time, blocks side by side; all that is longer
than a block lies in a `Space`, which may be on disk. No dictionary, no string.
Shapes: N places, M queries, K nodes of a level.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.codecs.symbols import STOP
from seriatim.data.sequences import Field, offsets_of
from seriatim.parallel import side_by_side
from seriatim.storage import Space

BLOCK = 1 << 19  # places sorted in one go


# what is being done ("words") and how much of it is ("share"); or only a "note"
Progress = dict[str, Any]


class Counts:
    """How often each n-gram of length 1 to `length` occurred, and what it is without its first
    symbol."""

    def __init__(self, base: int):
        self.base = base  # V + 1: the vocabulary and START
        self.keys: list[np.ndarray] = []  # of level n at [n - 1]: (K,) int64
        self.counts: list[np.ndarray] = []  # (K,) how often it occurred
        # (K,) the node of level n - 1 that is left without its first symbol
        self.endings: list[np.ndarray] = []

    @classmethod
    def of(cls, ids: Field, length: int, vocabulary: int, stop: bool) -> Counts:
        """Count a corpus; every sequence begins after START, and with `stop` it ends in STOP."""
        made = cls(vocabulary + 1)
        for _ in made.counting(ids, length, stop, Space()):
            pass
        return made

    def counting(self, ids: Field, length: int, stop: bool, space: Space) -> Iterator[Progress]:
        """The same, telling how far it is."""
        symbols = laid_out(ids, self.base - 1, stop)  # (N + 1,) with a last START
        most = len(symbols) - 1
        self.take_level(
            np.arange(self.base),
            np.bincount(symbols[:-1], minlength=self.base).astype(np.int32),
            np.zeros(self.base, np.int32),
        )
        # (N,) the n-gram that ends at each place; places sorted by it
        node, places = symbols[:-1], None
        for n in range(2, length + 1):
            longer, order = space.empty(most, np.int32), space.empty(most, np.int32)
            keys, counts, endings = (
                space.empty(most, kind) for kind in (np.int64, np.int32, np.int32)
            )
            nodes = filled = done = 0

            def extend(
                block: tuple[int, int, int, int],
                node: np.ndarray = node,
                places: np.ndarray | None = places,
            ) -> tuple:
                """The n-grams of a block, longer by a symbol: see `extended`."""
                return self.extended(symbols, node, places, *block)

            for worked, key, count, ending, end, number in side_by_side(
                extend, self.blocks(len(self.keys))
            ):
                part = slice(nodes, nodes + len(key))
                keys[part], counts[part], endings[part] = key, count, ending
                longer[end] = number + nodes
                order[filled : filled + len(end)] = end
                nodes, filled, done = nodes + len(key), filled + len(end), done + worked
                space.leave(keys, counts, endings, order, places)
                yield {"words": f"counting {n}-grams", "share": min(1.0, done / most)}
            self.take_level(keys[:nodes], counts[:nodes], endings[:nodes])
            node, places = longer, order[:filled]

    def take_level(self, keys: np.ndarray, counts: np.ndarray, endings: np.ndarray) -> None:
        """Add the next longer n-grams."""
        self.keys.append(keys)
        self.counts.append(counts)
        self.endings.append(endings)

    def leave_beginnings(self) -> None:
        """Forget the n-grams that begin with START; START itself stays a symbol."""
        firsts = [self.begins(n) for n in range(2, len(self.keys) + 1)]
        for level, first in enumerate(firsts, 1):
            for arrays in (self.keys, self.counts, self.endings):
                arrays[level] = arrays[level][:first]

    def add_never(self, n: int) -> None:
        """An n-gram of STARTs alone, the last of level n, for all that were never seen."""
        ending = len(self.keys[n - 2]) - 1
        last = ending * np.int64(self.base) + self.base - 1
        self.keys[n - 1] = np.append(self.keys[n - 1], last)
        self.counts[n - 1] = np.append(self.counts[n - 1], np.int32(0))
        self.endings[n - 1] = np.append(self.endings[n - 1], np.int32(ending))

    def blocks(self, level: int) -> Iterator[tuple[int, int, int, int]]:
        """Ranges of nodes of a level that together occurred about BLOCK times: nodes from, to, and
        their places from, to."""
        total = np.cumsum(self.counts[level - 1], dtype=np.int64)  # (K,)
        first = before = 0
        while first < len(total) and before < total[-1]:
            last = max(first + 1, int(np.searchsorted(total, before + BLOCK, "right")))
            yield first, last, before, int(total[last - 1])
            first, before = last, int(total[last - 1])

    def context_blocks(self, n: int) -> Iterator[tuple[int, int, int, int]]:
        """The n-grams of level n in blocks of whole contexts: contexts from, to, and their n-grams
        from, to."""
        keys, contexts = self.keys[n - 1], 1 if n == 1 else len(self.keys[n - 2])
        first = begin = 0
        while first < contexts:
            last = (
                contexts
                if n == 1 or begin + BLOCK >= len(keys)
                else int(keys[begin + BLOCK] // self.base) + 1
            )
            end = len(keys) if last == contexts else int(np.searchsorted(keys, last * self.base))
            yield first, last, begin, end
            first, begin = last, end

    def amounts(self, n: int, continuation: bool) -> np.ndarray:
        """(K,) how much each n-gram of level n counts: how often it occurred, or (unless it is of
        the longest or begins a sequence) how many different symbols occurred before it. START is
        never predicted and counts nothing."""
        amounts = self.counts[n - 1]
        begins = self.begins(n)
        if continuation and n < len(self.keys):
            occurred, amounts = (
                amounts,
                np.bincount(self.endings[n], minlength=len(amounts)).astype(np.int32),
            )
            amounts[begins:] = occurred[begins:]
        if n == 1:
            amounts = np.append(amounts[:-1], 0)
        return amounts

    def begins(self, n: int) -> int:
        """The first n-gram of level n that begins with START."""
        first = self.base - 1
        for level in range(2, n + 1):
            first = int(np.searchsorted(self.keys[level - 1], first * self.base))
        return first

    def extended(
        self,
        symbols: np.ndarray,
        node: np.ndarray,
        places: np.ndarray | None,
        first: int,
        last: int,
        begin: int,
        end_: int,
    ) -> tuple:
        """Nodes first to last of a level, continued by one symbol: the number of places, the new
        level's keys, counts and endings, and the sorted places with the new node of each, counted
        from this block's first."""
        if places is None:  # level 1: not sorted yet
            end = np.flatnonzero((node >= first) & (node < last))
            context = node[end] - first
            many = None
        else:
            end, many = (
                places[begin:end_].astype(np.int64),
                self.counts[len(self.counts) - 1][first:last],
            )
            context = np.repeat(np.arange(last - first, dtype=np.int64), many)
        worked = len(end)
        end = end + 1
        symbol = symbols[end]
        inside = symbol != self.base - 1  # START: the sequence is over
        if not inside.all():
            end, context, symbol = end[inside], context[inside], symbol[inside]
        if many is None:
            context, symbol, end = sorted_pairs(context, symbol, end, last - first, self.base)
        else:
            # the others stand alone, and where they belong
            shared = np.flatnonzero((many > 1)[context])
            _, symbol[shared], end[shared] = sorted_pairs(
                context[shared], symbol[shared], end[shared], last - first, self.base
            )
        new = np.ones(len(end), bool)
        new[1:] = (context[1:] != context[:-1]) | (symbol[1:] != symbol[:-1])
        begins = np.flatnonzero(new)
        key = (context[begins] + first) * np.int64(self.base) + symbol[begins]
        return (
            worked,
            key,
            np.diff(begins, append=len(end)),
            node[end[begins]],
            end,
            np.cumsum(new) - 1,
        )


def sorted_pairs(
    context: np.ndarray, symbol: np.ndarray, end: np.ndarray, contexts: int, base: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All three sorted by context and symbol. Sorting integers is several times faster than sorting
    places, so all goes into one integer."""
    place_bits, symbol_bits = len(end).bit_length(), base.bit_length()
    if contexts.bit_length() + symbol_bits + place_bits > 64:
        order = np.lexsort((symbol, context))
        return context[order], symbol[order], end[order]
    packed = context.astype(np.uint64)
    packed <<= np.uint64(symbol_bits)
    packed |= symbol.astype(np.uint64)
    packed <<= np.uint64(place_bits)
    packed |= np.arange(len(end), dtype=np.uint64)
    packed.sort()
    order = (packed & np.uint64((1 << place_bits) - 1)).astype(np.int64)
    packed >>= np.uint64(place_bits)
    return (
        (packed >> np.uint64(symbol_bits)).astype(np.int64),
        (packed & np.uint64((1 << symbol_bits) - 1)).astype(symbol.dtype),
        end[order],
    )


def laid_out(ids: Field, start: int, stop: bool) -> np.ndarray:
    """All sequences end to end, each after START, and a last START: (N + 1,) int32."""
    lengths = ids.lengths + 1 + stop
    offsets = offsets_of(lengths)
    if offsets[-1] >= 2**31 - 1:
        raise MemoryError("more than two thousand million symbols in one corpus")
    symbols = np.full(offsets[-1] + 1, start, np.int32)
    inside = np.ones(len(symbols), bool)
    inside[offsets] = False
    if stop:
        symbols[offsets[1:] - 1] = STOP
        inside[offsets[1:] - 1] = False
    symbols[inside] = ids.flat
    return symbols


def taken(left: dict[str, Tensor], name: str, kind: torch.dtype, *shape: int) -> Tensor:
    """An array out of a dictionary; ValueError if it is not of this kind and shape, or holds what
    is not a number. -1 is any length."""
    array = left.pop(name, torch.zeros(()))
    if (
        array.dtype != kind
        or array.dim() != len(shape)
        or any(size not in (-1, found) for size, found in zip(shape, array.shape, strict=True))
    ):
        raise ValueError(f"the array {name} is missing or does not fit")
    if not array.isfinite().all():
        raise ValueError(f"the array {name} holds what is not a number")
    return array
