"""What a word is by the way it ends: the tags of words never seen (Brants 2000, "TnT").

    p(tag | l_1 .. l_m) = (c(l_1 .. l_m, tag) + k p(tag | l_2 .. l_m)) / (c(l_1 .. l_m) + k)

where l_m is the last letter. c counts words that are rare in training, since these are most like
words never seen. Words that begin differently are kept apart, where Brants asks whether they are
capitalised: the kind of a letter is the tag that most rare words have which begin with it, so that
capitals, digits and marks are told apart in any script. A word that differs from a known one in its
first letter alone, as at the beginning of a sentence, is judged by that one as much as by its
ending.

Endings of all lengths are rows of one table, found by a key made of the letters. Shapes: U words, L
letters, K tags, M endings, A letters of the alphabet.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from seriatim.models.ngrams.counts import taken
from seriatim.models.ngrams.tables import at
from seriatim.tasks.tag.options import MostFrequentOptions

FACTOR = np.int64(
    6364136223846793005
)  # of keys: letter by letter, key = FACTOR key + letter, modulo 2^64


SHORTEST = 4  # letters of a word that is also known by all of them but the first


class Endings:
    """p(tag | ending) of every ending seen, sorted by key."""

    def __init__(self, keys: np.ndarray, says: np.ndarray, kinds: np.ndarray, longest: int):
        self.keys, self.says, self.kinds, self.longest = (
            keys,
            says,
            kinds,
            longest,
        )  # (M,) int64, (M, K), (A,) a tag each

    @classmethod
    def learn(
        cls, letters: np.ndarray, tags: np.ndarray, unseen: np.ndarray, options: MostFrequentOptions
    ) -> Endings:
        """From (U, L) the letters of words, (U, K) how often each had which tag, and (K,) p(tag) of
        words never seen."""
        times = tags.sum(1)
        rare = (times > 0) & (times <= options.rare)
        kinds = kinds_of(letters[rare, 0], tags[rare], unseen, letters.max(initial=1))
        *endings, (rest, long) = keys_of(letters, kinds, options.suffix)
        says, found = np.tile(unseen, (len(letters), 1)), []  # (U, K) by the longest ending so far
        for key, inside in endings:
            here = rare & inside
            keys, first, place, counts = summed(key[here], tags[here])
            table = lean(counts, says[here][first], options.ending_trust)
            says[here] = table[place]
            found.append((keys, table))
        here = long & (times > 0)
        keys, _, _, counts = summed(rest[here], tags[here])
        found.append((keys, counts / counts.sum(1, keepdims=True)))
        keys, table = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = np.argsort(keys)
        return cls(keys[order], table[order], kinds, options.suffix)

    def __call__(self, letters: np.ndarray, unseen: np.ndarray) -> np.ndarray:
        """(U, L) letters, (K,) what is said of any word -> (U, K) p(tag)."""
        says = np.tile(unseen, (len(letters), 1))
        *endings, rest = keys_of(letters, self.kinds, self.longest)
        for key, inside in endings:
            known, found = self.look_up(key, inside)
            says[known] = found
        known, found = self.look_up(*rest)
        says[known] = (says[known] + found) / 2
        return says

    def look_up(self, key: np.ndarray, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which of the words have an ending that was seen, and their rows."""
        place = np.searchsorted(self.keys, key)
        known = inside & (at(self.keys, place) == key)
        return known, self.says[place[known]]

    def arrays(self) -> dict[str, Tensor]:
        """The tables of endings, by name."""
        return {
            "endings.keys": torch.from_numpy(self.keys),
            "endings.says": torch.from_numpy(self.says),
            "endings.kinds": torch.from_numpy(self.kinds),
        }

    @classmethod
    def of_arrays(cls, left: dict[str, Tensor], labels: int, longest: int) -> Endings:
        """What `arrays` gave, taken out of `left`; ValueError if it does not fit."""
        keys = taken(left, "endings.keys", torch.int64, -1).numpy()
        says = taken(left, "endings.says", torch.float64, len(keys), labels).numpy()
        kinds = taken(left, "endings.kinds", torch.int64, -1).numpy()
        if np.any(np.diff(keys) <= 0) or not len(kinds):
            raise ValueError("the keys of the endings are not in order")
        return cls(keys, says, kinds, longest)


def lean(counts: np.ndarray, shorter: np.ndarray, trust: float) -> np.ndarray:
    """(..., K) counts -> (..., K) relative frequencies, leaning on what a shorter context says as
    if it had been seen `trust` times."""
    return (counts + trust * shorter) / (counts.sum(-1, keepdims=True) + trust)


def keys_of(
    letters: np.ndarray, kinds: np.ndarray, longest: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """(U, L) letters -> the key of each word's last 0, 1 .. letters, and at the end of all but its
    first; and which words are that long."""
    lengths, rows, first = (letters > 0).sum(1), np.arange(len(letters)), letters[:, 0]
    key = kinds[np.where(first < len(kinds), first, 0)] + 1  # (U,)
    found = [(key, lengths >= 0)]
    for length in range(1, min(longest, letters.shape[1]) + 1):
        key = key * FACTOR + letters[rows, lengths - length]
        found.append((key, lengths >= length))
    rest = np.full_like(key, -1)  # no kind, so that no ending has the same key
    for column in letters.T[1:]:
        rest = np.where(column > 0, rest * FACTOR + column, rest)
    return [*found, (rest, lengths >= SHORTEST)]


def kinds_of(first: np.ndarray, tags: np.ndarray, unseen: np.ndarray, most: int) -> np.ndarray:
    """(A,) the tag that most words have which begin with each letter; of a letter that begins none,
    the likeliest tag of all."""
    counts = np.tile(unseen * 1e-6, (most + 1, 1))  # (A, K)
    np.add.at(counts, first, tags)
    return counts.argmax(1)


def summed(
    keys: np.ndarray, tags: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(U,) keys, (U, K) counts of words -> the different keys, a word of each, where each word
    went, and (.., K) the counts of each key."""
    keys, first, place = np.unique(keys, return_index=True, return_inverse=True)
    counts = np.zeros((len(keys), tags.shape[1]))
    np.add.at(counts, place, tags)
    return keys, first, place, counts
