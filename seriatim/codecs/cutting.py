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

BLOCK = 1 << 23  # bytes looked at in one go


LONG = 64  # bytes; longer words are rare and compared one by one


SLOTS = 18  # bits of the table that finds equal words


VISIBLE = np.array([not (byte < 0x80 and chr(byte).isspace()) for byte in range(256)])


WIDE_BLANKS = [chr(code).encode() for code in range(0x80, 0x3001) if chr(code).isspace()]


KEEP = np.array([(1 << 8 * length) - 1 for length in range(8)] + [2**64 - 1] * 2, np.uint64)


MIXERS = [
    np.uint64(odd)
    for odd in (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xC2B2AE3D27D4EB4F, 0xA0761D6478BD642F)
]


def words_of(column: Field, cut: Callable[[str], list[str]] | None = None) -> Field:
    """Each sequence split at blanks: the words by number, with their names in order of first appearance.

    With `cut`, each word is cut further; it is called once for each different word of a block.
    """
    flat, bounds = column.flat, column.offsets - column.offsets[0]
    number: dict[str, int] = {}
    values, offsets, found = [np.zeros(0, np.int32)], np.zeros(len(bounds), np.int64), 0

    def look(block: tuple[int, int]) -> tuple[slice, np.ndarray, np.ndarray, list[str]]:
        """The words of a block by number, and the names of the different ones."""
        rows, before, content, starts, stops = places(flat, bounds, *block)
        which, first = distinct(content, starts, stops)  # (M,), (U,)
        return rows, before, which, names_of(content, starts[first], stops[first])

    for rows, before, which, names in side_by_side(look, blocks(flat, bounds, BLOCK)):
        if cut is not None:
            pieces = list(map(cut, names))
            names = list(chain.from_iterable(pieces))
            many = np.fromiter(
                map(len, pieces), np.int64, len(pieces)
            )  # (U,) pieces of each different word
            before = np.concatenate([np.zeros(1, np.int64), np.cumsum(many[which])])[before]
            which = expanded(which, many)
        table = np.fromiter(
            (number.setdefault(name, len(number)) for name in names), np.int32, len(names)
        )
        values.append(table[which])
        offsets[rows] = found + before
        found += len(which)
    offsets[np.searchsorted(bounds, len(flat)) :] = found
    return Field(np.concatenate(values), offsets, SYMBOLS, tuple(number))


class Lexicon:
    """Known words by number: those of up to 7 bytes in a table of integers, where each is looked
    for at home and behind it; longer ones by name."""

    def __init__(self, number: dict[str, int], unknown: int):
        self.number, self.unknown = number, unknown
        short = [
            (word, i)
            for word, i in (
                (name.encode("utf-8", "surrogatepass"), i) for name, i in number.items()
            )
            if 0 < len(word) <= 7
        ]
        keys = np.array(
            [int.from_bytes(word, "little") | len(word) << 56 for word, _ in short], np.uint64
        )
        home = self.home(keys)
        order = np.argsort(home)
        slot = np.maximum.accumulate(home[order] - np.arange(len(keys))) + np.arange(len(keys))
        self.keys, self.numbers = (
            np.zeros((1 << SLOTS) + len(keys) + 1, np.uint64),
            np.full((1 << SLOTS) + len(keys) + 1, unknown, np.int32),
        )
        self.keys[slot], self.numbers[slot] = (
            keys[order],
            np.array([i for _, i in short], np.int32)[order],
        )

    @staticmethod
    def home(keys: np.ndarray) -> np.ndarray:
        """The slot in which each integer is looked for first."""
        return ((keys * MIXERS[0]) >> np.uint64(64 - SLOTS)).view(np.int64)

    def encode(self, column: Field) -> Field:
        """Each sequence split at blanks, as the numbers of its words."""
        flat, bounds = column.flat, column.offsets - column.offsets[0]
        values, offsets, found = [np.zeros(0, np.int32)], np.zeros(len(bounds), np.int64), 0
        for rows, before, some in side_by_side(
            lambda block: self.look(flat, bounds, block), blocks(flat, bounds, BLOCK // 4)
        ):
            values.append(some)
            offsets[rows] = found + before
            found += len(some)
        offsets[np.searchsorted(bounds, len(flat)) :] = found
        return Field(np.concatenate(values), offsets, SYMBOLS)

    def look(
        self, flat: np.ndarray, bounds: np.ndarray, block: tuple[int, int]
    ) -> tuple[slice, np.ndarray, np.ndarray]:
        """The words of a block as numbers of this lexicon."""
        rows, before, content, starts, stops = places(flat, bounds, *block)
        lengths = stops - starts
        long, short = np.flatnonzero(lengths > 7), np.flatnonzero(lengths <= 7)
        found = np.empty(len(starts), np.int32)
        key = short_keys(content, starts[short], lengths[short])
        slot = self.home(key)
        wrong = np.flatnonzero(self.keys[slot] != key)
        while len(wrong):
            wrong = wrong[self.keys[slot[wrong]] != 0]  # an empty slot: it is not known
            slot[wrong] += 1
            wrong = wrong[self.keys[slot[wrong]] != key[wrong]]
        found[short] = self.numbers[slot]
        which, first = distinct(content, starts[long], stops[long])
        table = [
            self.number.get(name, self.unknown)
            for name in names_of(content, starts[long[first]], stops[long[first]])
        ]
        found[long] = np.array(table, np.int32)[which]
        return rows, before, found


def places(
    flat: np.ndarray, bounds: np.ndarray, begin: int, end: int
) -> tuple[slice, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A block: the sequences that begin in it, how many words come before each; its bytes, and
    where words begin and end in them."""
    rows = slice(np.searchsorted(bounds, begin), np.searchsorted(bounds, end))
    content = np.concatenate(
        [flat[begin:end], np.zeros(8, np.uint8)]
    )  # room to read 8 bytes anywhere
    starts, stops = word_places(content[:-8], bounds[rows] - begin)  # (M,), (M,)
    return rows, np.searchsorted(starts, bounds[rows] - begin), content, starts, stops


def names_of(content: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> list[str]:
    """The text between places."""
    raw = content.tobytes()
    return [
        raw[start:stop].decode("utf-8", "surrogatepass")
        for start, stop in zip(starts.tolist(), stops.tolist())
    ]


def short_keys(content: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """(M,) words of up to 7 bytes as integers: their bytes, and their length in the highest one."""
    eights = np.ndarray(
        (len(content) - 7,), np.uint64, content, strides=(1,)
    )  # the 8 bytes from each place on
    return (eights[starts] & KEEP[lengths]) | (lengths.astype(np.uint64) << np.uint64(56))


def expanded(which: np.ndarray, many: np.ndarray) -> np.ndarray:
    """Words as the numbers of their pieces, where the pieces of word u are `many[u]` consecutive numbers."""
    repeated = many[which]
    shift = (np.cumsum(many) - many)[which] - (np.cumsum(repeated) - repeated)
    return np.repeat(shift, repeated) + np.arange(repeated.sum())


def blocks(flat: np.ndarray, bounds: np.ndarray, most: int) -> Iterator[tuple[int, int]]:
    """The bytes in blocks that end between words."""
    begin = 0
    while begin < len(flat):
        end, size = len(flat), most
        while begin + size < len(flat):
            blanks = np.flatnonzero(~VISIBLE[flat[begin + size // 2 : begin + size]])
            bound = bounds[np.searchsorted(bounds, begin + size, "right") - 1]
            if bound > begin or len(blanks):
                end = max(
                    int(bound) if bound > begin else 0,
                    begin + size // 2 + int(blanks[-1]) + 1 if len(blanks) else 0,
                )
                break
            size *= 2  # a word longer than a block
        yield begin, end
        begin = end


def word_places(content: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(N,) bytes, places where sequences begin -> (M,) where words begin, (M,) where they end."""
    visible = VISIBLE[content]
    if len(content) and content.max() >= 0x80:
        for blank in WIDE_BLANKS:
            places = np.flatnonzero(content[: len(content) - len(blank) + 1] == blank[0])
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


def distinct(
    content: np.ndarray, starts: np.ndarray, stops: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Equal words, equal numbers: (M,) number of each word in [0, U), (U,) an example of each; in
    order of first appearance."""
    eights = np.ndarray(
        (len(content) - 7,), np.uint64, content, strides=(1,)
    )  # the 8 bytes from each place on
    lengths = stops - starts
    example = np.zeros(
        len(starts), np.int64
    )  # for each word an equal one, the same for all equal ones
    short, open_ = np.flatnonzero(lengths <= 7), np.flatnonzero((lengths > 7) & (lengths <= LONG))
    example[short] = short[examples(short_keys(content, starts[short], lengths[short]))]
    prefix, depth = np.zeros(len(open_), np.uint64), 0
    while len(open_):
        rest = np.minimum(lengths[open_] - depth, 9)  # 9: it goes on
        piece = examples(eights[starts[open_] + depth] & KEEP[rest]).astype(np.uint64)
        longer = (
            prefix << np.uint64(28) | piece << np.uint64(4) | rest.astype(np.uint64)
        )  # places in a block need at most 24 bits
        prefix = examples(longer)
        ending = rest <= 8
        example[open_[ending]] = open_[prefix[ending]]
        prefix, open_, depth = prefix[~ending].astype(np.uint64), open_[~ending], depth + 8
    seen: dict[bytes, int] = {}
    for i in np.flatnonzero(lengths > LONG):
        example[i] = seen.setdefault(content[starts[i] : stops[i]].tobytes(), int(i))
    return in_order(example)


def examples(keys: np.ndarray) -> np.ndarray:
    """(M,) integers -> (M,) the place of an equal one, the same for all equal ones: each writes its
    place into a slot, and whoever finds an equal integer there is settled; the others try again
    elsewhere."""
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
    values, inverse = np.unique(
        keys[open_], return_inverse=True
    )  # very many different ones: sort the rest
    first = np.zeros(len(values), np.int64)
    first[inverse] = open_
    example[open_] = first[inverse]
    return example


def in_order(example: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same as numbers in [0, U) in order of first appearance: (M,) numbers, (U,) first places."""
    first = np.full(len(example), len(example))
    first[example[::-1]] = np.arange(
        len(example) - 1, -1, -1
    )  # the last to write is the first to appear
    order = np.sort(first[first < len(example)])
    number = np.zeros(len(example), np.int64)
    number[example[order]] = np.arange(len(order))
    return number[example], order
