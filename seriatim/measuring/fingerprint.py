"""What data was: known again when it is scored, or resumed on.

    fingerprint(column)       all of it: a fit is not resumed on other data
    pieces_of(data)           a hash for each sequence, or for each passage of a stream
    Seen.of(pieces)           what was learned from; `share` says how much of other data was in it

Passages of a stream are 48 characters of a line, or 12 tokens, starting everywhere, and lines too
short for that as a whole: so a part of the training text is known again wherever it begins, and in
whatever order its lines are. Of a long stream an eighth of the passages is looked at, chosen by the
hash itself, and of all pieces at most 2^17 are kept: those with the smallest hashes, which are the
same ones in any other data.
Shapes: N values, S sequences, P pieces, K pieces that are kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from seriatim.data.sequences import NUMBERS, SYMBOLS, TEXT, Field, Sequences

MOST = 1 << 17  # pieces that are kept
PASSAGE = {TEXT: 48, SYMBOLS: 12}  # characters, tokens
SHORT = 24  # characters of a line below which it is said too often to tell anything
LONG = 1 << 22  # values of a stream, of which not all passages are looked at
SAMPLED = np.uint64(1 << 61)  # but those with hashes below: an eighth
BLOCK = 1 << 20  # values that are stirred at a time
ALL, TEST = "this data", "the test"
SOME = 0.01  # a share of seen data above which it is told
MUCH = 0.1  # from which on figures are not those of new data
NEWLINE = ord("\n")

# a polynomial in an odd number modulo 2^64, whose powers have inverses
FACTOR = 0x9E3779B97F4A7C15
INVERSE = pow(FACTOR, -1, 1 << 64)
STIR = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))  # SplitMix64, Steele et al. 2014


def fingerprint(*columns: Field | None) -> str:
    """What the data was, all of it."""
    digest = hashlib.sha256()
    for column in columns:
        if column is not None:
            digest.update(np.ascontiguousarray(column.flat).tobytes())
            digest.update(np.ascontiguousarray(column.offsets - column.offsets[0]).tobytes())
    return digest.hexdigest()


# -- what was seen


@dataclass(frozen=True, eq=False)
class Seen:
    """The pieces of what was learned from."""

    hashes: np.ndarray  # (K,) uint64, sorted, each once
    most: int  # pieces with a larger hash were not kept

    @classmethod
    def of(cls, pieces: np.ndarray) -> Seen:
        """(P,) hashes -> those that are kept."""
        hashes = np.unique(pieces)
        if len(hashes) > MOST:
            return cls(hashes[:MOST], int(hashes[MOST - 1]))
        of_long = len(hashes) > 8 and hashes[-1] < SAMPLED  # by chance once in a hundred million
        return cls(hashes, int(SAMPLED) - 1 if of_long else 2**64 - 1)

    def share(self, pieces: np.ndarray) -> float | None:
        """How much of other data was seen, 0 to 1; None if nothing can be said."""
        asked = pieces[pieces <= np.uint64(self.most)]
        if not len(self.hashes) or not len(asked):
            return None
        places = np.searchsorted(self.hashes, asked) % len(self.hashes)
        return float((self.hashes[places] == asked).mean())

    def arrays(self) -> dict[str, np.ndarray]:
        """As it is kept; files know no unsigned numbers of 64 bits."""
        return {
            "hashes": self.hashes.view(np.int64),
            "most": np.array([self.most], np.uint64).view(np.int64),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Seen:
        """What `arrays` gave; a ValueError if it is something else."""
        hashes, most = arrays["hashes"], arrays["most"]
        sound = hashes.dtype == most.dtype == np.int64 and hashes.ndim == 1 and most.shape == (1,)
        unsigned = hashes.view(np.uint64) if sound else hashes
        if not sound or (unsigned[1:] <= unsigned[:-1]).any():
            raise ValueError("these are no hashes of pieces")
        return cls(unsigned, int(most.view(np.uint64)[0]))


def caution(share: float | None, of: str = ALL) -> list[str]:
    """What a reader of figures must be told, if some of the data, or of what is judged of them, was
    seen."""
    if share is None or share <= SOME:
        return []
    words = seen_of(share, of)
    return [f"{words}: the figures are not about new data" if share >= MUCH else words]


def seen_of(share: float, of: str) -> str:
    """How much was seen, of what."""
    return (
        f"{seen_in_words(share)} of {of} {'was' if of in (ALL, TEST) else 'were'} seen in training"
    )


def seen_in_words(share: float | None) -> str:
    """A share as a person reads it."""
    if share is None:
        return "not known"
    if share == 0:
        return "none"
    return "< 1 %" if share < 0.005 else f"{100 * share:.0f} %"


# -- from data to pieces


def pieces_of(data: Sequences) -> np.ndarray:
    """(P,) uint64: the passages of a stream; else a hash for each sequence that is not empty, of its
    main field, or of source and target together."""
    if {"source", "target"} <= data.fields.keys():
        both = [whole(data.fields[name]) for name in ("source", "target")]
        return stirred(both[0] * np.uint64(3) + both[1])
    name = data.main_name()
    if name is None:  # a number each, in one or several fields
        return whole_rows([column for column in data.fields.values() if column.kind == NUMBERS])
    column = data.main
    if data.by == "stream" and column.kind in PASSAGE:
        return passages(column)
    return whole(column)[column.lengths > 0]


def whole_rows(columns: list[Field]) -> np.ndarray:
    """(S,) a hash for each row of several fields."""
    total = np.zeros(len(columns[0]) if columns else 0, np.uint64)
    for column in columns:
        total = stirred(total * np.uint64(3) + whole(column))
    return total


def whole(column: Field) -> np.ndarray:
    """(S,) a hash for each sequence."""
    offsets = column.offsets - column.offsets[0]
    return spans(column, offsets[:-1], offsets[1:])


def passages(column: Field) -> np.ndarray:
    """(P,) hashes of the passages of a stream, an eighth of them if it is long."""
    reach = 4 * PASSAGE[column.kind]  # a character has at most four bytes
    if column.kind == TEXT and len(column.flat) < PASSAGE[TEXT] and NEWLINE not in column.flat:
        return np.zeros(0, np.uint64)  # where its line begins and ends nobody knows
    found = [np.zeros(0, np.uint64)]
    for first, last in pairwise((column.offsets - column.offsets[0]).tolist()):
        for start in range(first, last, BLOCK):
            stop = min(last, start + BLOCK + reach)
            cut = start > first and column.flat[start - 1] != NEWLINE, stop < last
            starts, stops = windows(column, start, stop, cut)
            mine = starts < start + BLOCK  # what begins later belongs to the next block
            hashes = spans(column, starts[mine], stops[mine])
            found.append(hashes[hashes < SAMPLED] if len(column.flat) > LONG else hashes)
    return np.concatenate(found)


def windows(
    column: Field, start: int, stop: int, cut: tuple[bool, bool]
) -> tuple[np.ndarray, np.ndarray]:
    """Where the passages of a piece of a stream begin and end: so many elements from everywhere; of
    text none goes beyond its line, and a short line is one by itself, unless it is cut."""
    size = PASSAGE[column.kind]
    if column.kind != TEXT:
        starts = np.arange(start, stop - size + 1)
        return starts, starts + size
    values = column.flat[start:stop]
    places = np.append(np.flatnonzero(values & 0xC0 != 0x80), len(values))  # of each character
    letters = np.arange(len(places) - 1)
    ends = np.append(np.flatnonzero(values[places[:-1]] == NEWLINE), len(letters))  # of lines
    lengths = np.diff(ends, prepend=-1) - 1
    room = np.repeat(ends, lengths + 1)[: len(letters)] - letters  # up to the end of the line
    long = np.flatnonzero(room >= size)
    whole_line = (lengths >= SHORT) & (lengths < size)
    whole_line[0] &= not cut[0]
    whole_line[-1] &= not cut[1]
    last = ends[whole_line]
    first = last - lengths[whole_line]
    starts = np.append(places[long], places[first])
    stops = np.append(places[long + size], places[last])
    order = np.argsort(starts, kind="stable")
    return start + starts[order], start + stops[order]


def spans(column: Field, starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """(P,) a hash for each span of values: sum over i of code(value i) FACTOR^i, stirred.

    With running sums it takes one pass, however much the spans overlap.
    """
    found = np.empty(len(starts), np.uint64)
    if not len(starts):
        return found
    code = coded(column)
    edges = np.searchsorted(starts, np.arange(starts[0], starts[-1] + BLOCK, BLOCK))
    for first, last in zip(edges, np.append(edges[1:], len(starts))):
        if first == last:
            continue
        begin, end = int(starts[first]), int(stops[first:last].max())
        powers = powers_of(FACTOR, end - begin)
        running = np.zeros(end - begin + 1, np.uint64)
        np.cumsum(code(begin, end) * powers, out=running[1:])
        here, there = starts[first:last] - begin, stops[first:last] - begin
        back = powers_of(INVERSE, int(here.max()) + 1)[here]
        found[first:last] = (running[there] - running[here]) * back
        found[first:last] += (there - here).astype(np.uint64)
    return stirred(found)


class coded:
    """The values of a column as 64 bits each, the same for the same name or number in any data."""

    def __init__(self, column: Field):
        self.flat, self.table = column.flat, None
        if column.kind == TEXT:
            self.table = stirred(np.arange(256, dtype=np.uint64))
        elif column.kind == SYMBOLS:
            names = (name.encode("utf-8", "surrogatepass") for name in column.symbol_names)
            digests = b"".join(hashlib.blake2b(name, digest_size=8).digest() for name in names)
            self.table = np.frombuffer(digests, np.uint64)

    def __call__(self, begin: int, end: int) -> np.ndarray:
        """(end - begin,) the codes of some values."""
        some = self.flat[begin:end]
        if self.table is not None:
            return self.table[some]
        numbers = np.ascontiguousarray(some, np.float64).view(np.uint64)
        rows = stirred(numbers.reshape(len(some), -1))
        total = np.zeros(len(some), np.uint64)
        for channel in rows.T:
            total = stirred(total * np.uint64(3) + channel)
        return total


def powers_of(factor: int, count: int) -> np.ndarray:
    """(count,) 1, factor, factor^2, ... modulo 2^64."""
    powers = np.full(count, factor, np.uint64)
    powers[:1] = 1
    return np.cumprod(powers, dtype=np.uint64)


def stirred(values: np.ndarray) -> np.ndarray:
    """Every bit of a number depends on all of them."""
    mixed = values + np.uint64(FACTOR)
    for shift, factor in STIR:
        mixed ^= mixed >> np.uint64(shift)
        mixed *= np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))
