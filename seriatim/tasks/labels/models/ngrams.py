"""Runs of symbols as features: which n-grams does a sequence have, and where?

An n-gram is known as a pair: the number of its first n - 1 symbols among the known ones, and its
last symbol; so a number of any length fits into an integer, and a table for each length, sorted,
finds them all at once. Nothing that is unknown is a feature. Shapes: B rows, P time, N places, F
features.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from seriatim.codecs.symbols import UNKNOWN
from seriatim.data.sequences import Field


class NgramIndex:
    """The n-grams of the training data, numbered: a sorted table of pairs for each length."""

    def __init__(self, vocabulary: int, longest: int):
        self.vocabulary, self.tables = vocabulary, [np.zeros(0, np.int64) for _ in range(longest)]
        self.edge: int | None = None  # a symbol that n-grams may begin or end with, not more

    @property
    def firsts(self) -> np.ndarray:
        """The number of the first feature of each length, and of all features."""
        return np.concatenate([[0], np.cumsum([len(table) for table in self.tables])])

    def learn(self, x: Field, least: int) -> None:
        """Know all n-grams of these sequences that at least so many of them have."""
        row, places = rows_of(x.lengths), np.arange(len(x.flat))
        before = np.zeros(
            len(places), np.int64
        )  # (N,) number of the n-gram that ends before each place
        for level in range(len(self.tables)):
            keys = self.keys(x.flat, before, row, level)
            possible = keys >= 0
            found, which = np.unique(keys[possible], return_inverse=True)
            if least > 1:
                once = np.unique(
                    which * len(x) + row[possible]
                )  # each n-gram once for each sequence
                found = found[np.bincount(once // max(1, len(x)), minlength=len(found)) >= least]
            self.tables[level] = found
            before = self.look(keys, level)

    def find(self, x: Field) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Every n-gram that is known: its number, the row and the place where it ends, and its
        length."""
        row, places = rows_of(x.lengths), np.arange(len(x.flat))
        before, found = np.zeros(len(places), np.int64), []
        for level in range(len(self.tables)):
            before = self.look(self.keys(x.flat, before, row, level), level)
            known = np.flatnonzero(before >= 0)
            found.append(
                (
                    before[known] + self.firsts[level],
                    row[known],
                    known,
                    np.full(len(known), level + 1),
                )
            )
        number, rows, ends, lengths = map(np.concatenate, zip(*found, strict=True))
        return number, rows, ends, lengths

    def keys(
        self, symbols: np.ndarray, before: np.ndarray, row: np.ndarray, level: int
    ) -> np.ndarray:
        """(N,) the n-gram of this length that ends at each place as one integer; -1 where there is
        none."""
        prefix = before if level == 0 else np.concatenate([[-1], before[:-1]])
        fits = (prefix >= 0) & (symbols != UNKNOWN)
        if level:
            fits[1:] &= row[1:] == row[:-1]
        if level and self.edge is not None:
            alone = level == 1  # what is gone on from is one symbol, the first
            fits[1:] &= (symbols[:-1] != self.edge) | (alone & (symbols[1:] != self.edge))
        return np.where(fits, prefix * self.vocabulary + symbols, -1)

    def look(self, keys: np.ndarray, level: int) -> np.ndarray:
        """(N,) the number of each n-gram among those of its length, -1 if unknown."""
        table = self.tables[level]
        if not len(table):
            return np.full(len(keys), -1)
        place = np.minimum(np.searchsorted(table, keys), len(table) - 1)
        return np.where((table[place] == keys) & (keys >= 0), place, -1)

    def arrays(self) -> dict[str, Tensor]:
        """The tables by length."""
        return {
            f"grams.{level + 1}": torch.from_numpy(table) for level, table in enumerate(self.tables)
        }

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave; raises ValueError if it does not fit."""
        for level in range(len(self.tables)):
            table = arrays.get(f"grams.{level + 1}", torch.zeros(0))
            if (
                table.dtype != torch.int64
                or table.ndim != 1
                or (table[1:] <= table[:-1]).any()
                or (len(table) and int(table[0]) < 0)
            ):
                raise ValueError(f"grams.{level + 1} is not a table of n-grams")
            self.tables[level] = table.numpy()


def rows_of(lengths: np.ndarray) -> np.ndarray:
    """(N,) the sequence that each place belongs to."""
    return np.repeat(np.arange(len(lengths)), lengths)


def field_of(x: Tensor, lengths: Tensor) -> Field:
    """(B, P) padded rows -> the same without padding."""
    real = torch.arange(x.shape[1]) < lengths[:, None]
    return Field(x[real].numpy(), np.concatenate([[0], np.cumsum(lengths.numpy())]), "symbols")
