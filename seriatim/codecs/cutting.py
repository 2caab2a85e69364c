"""Text -> its words as numbers, on whole arrays: no loop over words, only over different words.

    bytes -> where words begin and end -> 8 bytes of each word as one integer -> equal integers, equal numbers

A word of up to 7 bytes fits into one integer with its length and is compared exactly; a longer one is the
pair (number of its beginning, next 8 bytes), again and again. Text is read a block at a time, so that
memory stays bounded. Shapes: N bytes of a block, M words, U different words.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

import numpy as np

from seriatim.data.sequences import SYMBOLS, Field
from seriatim.parallel import side_by_side

BLOCK = 1 << 23                                        # bytes looked at in one go
LONG = 64                                              # bytes; longer words are rare and compared one by one
SLOTS = 18                                             # bits of the table that finds equal words
VISIBLE = np.array([not (byte < 0x80 and chr(byte).isspace()) for byte in range(256)])
WIDE_BLANKS = [chr(code).encode() for code in range(0x80, 0x3001) if chr(code).isspace()]
KEEP = np.array([(1 << 8 * length) - 1 for length in range(8)] + [2**64 - 1] * 2, np.uint64)
MIXERS = [np.uint64(odd) for odd in (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xC2B2AE3D27D4EB4F, 0xA0761D6478BD642F)]


def words_of(column: Field, cut: Callable[[str], list[str]] | None = None) -> Field:
    """Each sequence split at blanks: the words by number, with their names in order of first appearance.

    With `cut`, each word is cut further; it is called once for each different word of a block.
    """
    flat, bounds = column.flat, column.offsets - column.offsets[0]
    number: dict[str, int] = {}
    values, offsets, found = [np.zeros(0, np.int32)], np.zeros(len(bounds), np.int64), 0

    def look(block: tuple[int, int]) -> tuple[slice, np.ndarray, np.ndarray, list[str]]:
        begin, end = block
        rows = slice(np.searchsorted(bounds, begin), np.searchsorted(bounds, end))         # the sequences that begin in this block
        content = np.concatenate([flat[begin:end], np.zeros(8, np.uint8)])                 # room to read 8 bytes anywhere
        starts, stops = word_places(content[:-8], bounds[rows] - begin)                    # (M,), (M,)
        which, first = distinct(content, starts, stops)                                    # (M,), (U,)
        raw = content.tobytes()
        names = [raw[start:stop].decode("utf-8", "surrogatepass") for start, stop in zip(starts[first].tolist(), stops[first].tolist())]
        return rows, np.searchsorted(starts, bounds[rows] - begin), which, names

    for rows, before, which, names in side_by_side(look, blocks(flat, bounds)):
        ends = range(len(which) + 1)
        if cut is not None:
            pieces = list(map(cut, names))
            names = list(chain.from_iterable(pieces))
            many = np.fromiter(map(len, pieces), np.int64, len(pieces))                    # (U,) pieces of each different word
            ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(many[which])])
            which = expanded(which, many)
        table = np.fromiter((number.setdefault(name, len(number)) for name in names), np.int32, len(names))
        values.append(table[which])
        offsets[rows] = found + (before if cut is None else ends[before])
        found += ends[-1]
    offsets[np.searchsorted(bounds, len(flat)):] = found
    return Field(np.concatenate(values), offsets, SYMBOLS, tuple(number))


def expanded(which: np.ndarray, many: np.ndarray) -> np.ndarray:
    """Words as the numbers of their pieces, where the pieces of word u are `many[u]` consecutive numbers."""
    repeated = many[which]
    shift = (np.cumsum(many) - many)[which] - (np.cumsum(repeated) - repeated)
    return np.repeat(shift, repeated) + np.arange(repeated.sum())


def blocks(flat: np.ndarray, bounds: np.ndarray) -> Iterator[tuple[int, int]]:
    """The bytes in blocks that end between words."""
    begin = 0
    while begin < len(flat):
        end, size = len(flat), BLOCK
        while begin + size < len(flat):
            blanks = np.flatnonzero(~VISIBLE[flat[begin + size // 2:begin + size]])
            bound = bounds[np.searchsorted(bounds, begin + size, "right") - 1]
            if bound > begin or len(blanks):
                end = max(int(bound) if bound > begin else 0, begin + size // 2 + int(blanks[-1]) + 1 if len(blanks) else 0)
                break
            size *= 2                                                                      # a word longer than a block
        yield begin, end
        begin = end


def word_places(content: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(N,) bytes, places where sequences begin -> (M,) where words begin, (M,) where they end."""
    visible = VISIBLE[content]
    if len(content) and content.max() >= 0x80:
        for blank in WIDE_BLANKS:
            places = np.flatnonzero(content[:len(content) - len(blank) + 1] == blank[0])
            for i in range(1, len(blank)):
                places = places[content[places + i] == blank[i]]
            for i in range(len(blank)):
                visible[places + i] = False
    begins, ends = visible.copy(), visible.copy()
    begins[1:] &= ~visible[:-1]
    ends[:-1] &= ~visible[1:]
    inner = bounds[(bounds > 0) & (bounds < len(content))]
    begins[inner] = visible[inner]
    ends[inner - 1] = visible[inner - 1]
    return np.flatnonzero(begins), np.flatnonzero(ends) + 1


def distinct(content: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Equal words, equal numbers: (M,) number of each word in [0, U), (U,) an example of each; in order of first appearance."""
    eights = np.ndarray((len(content) - 7,), np.uint64, content, strides=(1,))             # the 8 bytes from each place on
    lengths = stops - starts
    example = np.zeros(len(starts), np.int64)                                              # for each word an equal one, the same for all equal ones
    short, open_ = np.flatnonzero(lengths <= 7), np.flatnonzero((lengths > 7) & (lengths <= LONG))
    key = (eights[starts[short]] & KEEP[lengths[short]]) | (lengths[short].astype(np.uint64) << np.uint64(56))
    example[short] = short[examples(key)]
    prefix, depth = np.zeros(len(open_), np.uint64), 0
    while len(open_):
        rest = np.minimum(lengths[open_] - depth, 9)                                       # 9: it goes on
        piece = examples(eights[starts[open_] + depth] & KEEP[rest]).astype(np.uint64)
        longer = prefix << np.uint64(28) | piece << np.uint64(4) | rest.astype(np.uint64)  # places in a block need at most 24 bits
        prefix = examples(longer)
        ending = rest <= 8
        example[open_[ending]] = open_[prefix[ending]]
        prefix, open_, depth = prefix[~ending].astype(np.uint64), open_[~ending], depth + 8
    seen: dict[bytes, int] = {}
    for i in np.flatnonzero(lengths > LONG):
        example[i] = seen.setdefault(content[starts[i]:stops[i]].tobytes(), i)
    return in_order(example)


def examples(keys: np.ndarray) -> np.ndarray:
    """(M,) integers -> (M,) the place of an equal one, the same for all equal ones: each writes its place into a slot, and whoever
    finds an equal integer there is settled; the others try again elsewhere."""
    example, open_ = np.zeros(len(keys), np.int64), np.arange(len(keys))
    for mixer in MIXERS:
        asked = keys[open_]
        slot = ((asked * mixer) >> np.uint64(64 - SLOTS)).astype(np.int64)
        table = np.zeros(1 << SLOTS, np.int64)
        table[slot] = open_
        winner = table[slot]
        equal = keys[winner] == asked
        example[open_[equal]] = winner[equal]
        open_ = open_[~equal]
        if not len(open_):
            break
    values, inverse = np.unique(keys[open_], return_inverse=True)                          # very many different ones: sort the rest
    first = np.zeros(len(values), np.int64)
    first[inverse] = open_
    example[open_] = first[inverse]
    return example


def in_order(example: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same as numbers in [0, U) in order of first appearance: (M,) numbers, (U,) first places."""
    first = np.full(len(example), len(example))
    first[example[::-1]] = np.arange(len(example) - 1, -1, -1)                             # the last to write is the first to appear
    order = np.sort(first[first < len(example)])
    number = np.zeros(len(example), np.int64)
    number[example[order]] = np.arange(len(order))
    return number[example], order
