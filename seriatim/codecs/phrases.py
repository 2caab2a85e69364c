"""Phrases: two words that stand together more often than chance become one symbol, new york ->
new_york (Mikolov et al. 2013).

    score(a, b) = (count(a b) - minimum) N / (count(a) count(b)),    N: different words and pairs

What scores above a threshold is joined, from left to right and never across two sequences. A second
round joins phrases with words or phrases, new_york with city, and so on. A name is written in one
way only: where a_b is a word of the text, a and b stay apart. Shapes: M words of text, P places
where two words are joined.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain
from typing import Any

import numpy as np

from seriatim.codecs.options import CodecOptions
from seriatim.data.sequences import SYMBOLS, Field

Pair = tuple[str, str]


LINK = "_"


class Phrases:
    """The pairs that are joined, round by round.

    >>> phrases = Phrases([[("new", "york")], [("new_york", "city")]])
    >>> phrases.join(Field.of_symbols([["a", "new", "york", "taxi"]])).raw(0)
    ['a', 'new_york', 'taxi']
    >>> phrases.words("new_york_city")
    ('new', 'york', 'city')
    """

    def __init__(self, rounds: Sequence[Collection[Pair]] = ()):
        self.rounds: list[list[Pair]] = []
        self.parts: dict[str, tuple[str, ...]] = {}  # phrase -> its words
        for pairs in rounds:
            self.add(pairs)

    def add(self, pairs: Collection[Pair], taken: Collection[str] = ()) -> None:
        """One more round, without pairs whose name is taken, be it by a word or by other words joined."""
        self.rounds.append([])
        for pair in pairs:
            name, words = LINK.join(pair), self.words(pair[0]) + self.words(pair[1])
            if name not in taken and self.parts.setdefault(name, words) == words:
                self.rounds[-1].append(pair)

    def words(self, symbol: str) -> tuple[str, ...]:
        """The words of a phrase; a word is its own."""
        return self.parts.get(symbol, (symbol,))

    def join(self, given: Field) -> Field:
        """The same sequences with their phrases joined."""
        for pairs in self.rounds:
            given = joined(given, pairs)
        return given

    def only(self, known: Collection[str]) -> Phrases:
        """The same without those that are not known, nor needed for one that is: their words stay apart."""
        rounds, needed = [], set(known)
        for pairs in reversed(self.rounds):
            rounds.append([pair for pair in pairs if LINK.join(pair) in needed])
            needed.update(chain.from_iterable(rounds[-1]))
        return Phrases(rounds[::-1])

    @classmethod
    def from_json(cls, rounds: Any, number: int) -> Phrases:
        """The pairs of so many rounds from a record, checked."""
        sound = (
            isinstance(rounds, list)
            and len(rounds) == number
            and all(isinstance(pairs, list) for pairs in rounds)
        )
        if not sound or not all(
            isinstance(pair, list)
            and len(pair) == 2
            and all(isinstance(word, str) for word in pair)
            for pair in chain(*rounds)
        ):
            raise ValueError(f"its phrases are not {number} rounds of pairs")
        phrases = cls([[(first, second) for first, second in pairs] for pairs in rounds])
        if [len(pairs) for pairs in rounds] != [len(set(pairs)) for pairs in phrases.rounds]:
            raise ValueError("two of its phrases have the same name")
        return phrases


def find_phrases(
    given: Field, options: CodecOptions, apart: Collection[str]
) -> tuple[Phrases, Field]:
    """The phrases of the training data, and the same data with them joined; words in `apart` are in none."""
    phrases, taken, apart = Phrases(), {*given.symbol_names}, {*apart}
    for _ in range(options.phrases):
        pairs = standing_together(given, options.minimum_count, options.phrase_score)
        phrases.add([pair for pair in pairs if not apart.intersection(pair)], taken)
        given = joined(given, phrases.rounds[-1])
    return phrases, given


def standing_together(given: Field, minimum: int, threshold: float) -> list[Pair]:
    """The pairs of words with a score above the threshold."""
    given = merged(given)
    counts = np.bincount(given.flat, minlength=len(given.symbol_names))
    keys, together = np.unique(
        keys_at(given, beside(given)), return_counts=True
    )  # one for each different pair
    first, second = np.divmod(keys, max(1, len(given.symbol_names)))
    scores = (
        (together - minimum)
        / (counts[first] * counts[second])
        * (np.count_nonzero(counts) + len(keys))
    )
    return [
        (given.symbol_names[a], given.symbol_names[b])
        for a, b in zip(first[scores > threshold].tolist(), second[scores > threshold].tolist())
    ]


def joined(given: Field, pairs: Collection[Pair]) -> Field:
    """One round: where two pairs overlap, the left one is joined."""
    given = merged(given)
    number = {name: i for i, name in enumerate(given.symbol_names)}
    known = {
        number[a] * len(given.symbol_names) + number[b]: LINK.join((a, b))
        for a, b in pairs
        if a in number and b in number
    }
    keys = np.array(sorted(known), np.int64)  # as in `keys_at`
    names = np.array(
        [number.setdefault(known[key], len(number)) for key in keys.tolist()], np.int32
    )
    places, which = occurrences(given, keys)
    chosen = every_other(places)
    places, which = places[chosen], which[chosen]  # (P,) each
    values, stays = given.flat.copy(), np.ones(len(given.flat), bool)  # (M,) each
    values[places], stays[places + 1] = names[which], False
    return Field(
        values[stays],
        given.offsets - np.searchsorted(places + 1, given.offsets),
        SYMBOLS,
        tuple(number),
    )


def occurrences(given: Field, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(P,) the places where one of some pairs stands, in order, and (P,) which one."""
    begins, ends = np.zeros((2, len(given.symbol_names)), np.bool_)
    begins[keys // max(1, len(given.symbol_names))] = ends[
        keys % max(1, len(given.symbol_names))
    ] = True
    places = beside(given)
    places = places[
        begins[given.flat[places]] & ends[given.flat[places + 1]]
    ]  # few are left to be looked for
    asked = keys_at(given, places)
    which = np.searchsorted(keys, asked)
    found = np.append(keys, -1)[which] == asked
    return places[found], which[found]


def merged(given: Field) -> Field:
    """The same with offsets from 0 and each name once: lower-casing may have made two of them equal."""
    number: dict[str, int] = {}
    table = np.array(
        [number.setdefault(name, len(number)) for name in given.symbol_names], np.int32
    )
    return Field(table[given.flat], given.offsets - given.offsets[0], SYMBOLS, tuple(number))


def beside(given: Field) -> np.ndarray:
    """The places with a right neighbour in the same sequence."""
    inside = np.ones(len(given.flat), bool)  # (M,)
    inside[given.offsets[1:][given.lengths > 0] - 1] = False
    return np.flatnonzero(inside)


def keys_at(given: Field, places: np.ndarray) -> np.ndarray:
    """The words at these places and beside them, each pair as one integer."""
    return given.flat[places].astype(np.int64) * len(given.symbol_names) + given.flat[places + 1]


def every_other(places: np.ndarray) -> np.ndarray:
    """(P,) places in order -> (P,) in each run of consecutive ones, every other, beginning with the first."""
    begins = np.flatnonzero(np.diff(places, prepend=-2) != 1)  # where runs begin
    return (
        np.arange(len(places)) - np.repeat(begins, np.diff(begins, append=len(places)))
    ) % 2 == 0
