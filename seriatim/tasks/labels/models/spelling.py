"""Runs of letters inside words as features: what words that are spelled alike have in common.

Unlike n-grams of words, which know "slow-paced" or "walked" or nothing, the letters of a word never
seen in training still say something. A word stands between two edges; runs of three to five letters
are known, an edge being a letter; in a sequence they are counted as often as its words have them.
Shapes: B rows, P time, S sequences, N places, U different words, L letters, F features, K labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.codecs.symbols import STOP, UNKNOWN
from seriatim.data.sequences import SYMBOLS, Field, offsets_of
from seriatim.tasks.labels.codec import FIRST_LETTER, Examples
from seriatim.tasks.labels.models.ngrams import NgramIndex, rows_of

SHORTEST, LONGEST = 3, 5  # letters of a run
PREFIX = "spelling."  # of what is kept


class Spelling:
    """The runs of letters of the training words, numbered."""

    def __init__(self, letters: int):
        self.index = NgramIndex(letters, LONGEST)

    def learn(self, examples: Examples) -> Any:
        """Know the runs of these words; (S, F) sparse: how often each stands in a sequence."""
        if examples.words is None or examples.letters is None:
            raise TypeError("these sequences have no words")
        used, words = np.unique(examples.words, return_inverse=True)
        letters = examples.letters[used]
        self.index.learn(framed(letters), 1)
        return in_rows(words, rows_of(examples.x.lengths), len(examples), self.runs(letters))

    def of(self, examples: Examples) -> Any:
        """(S, F) sparse: how often each known run stands in a sequence."""
        if examples.words is None or examples.letters is None:
            raise TypeError("these sequences have no words")
        rows = rows_of(examples.x.lengths)
        return in_rows(examples.words, rows, len(examples), self.runs(examples.letters))

    def runs(self, letters: np.ndarray) -> Any:
        """(U, L) words in letters -> (U, F) sparse: how often each run stands in a word."""
        from scipy.sparse import csr_matrix  # type: ignore[import-untyped]  # has no stubs

        number, word, _, length = self.index.find(framed(letters))
        long, firsts = length >= SHORTEST, self.index.firsts
        first = firsts[SHORTEST - 1]
        found = np.ones(long.sum()), (word[long], number[long] - first)
        return csr_matrix(found, (len(letters), int(firsts[-1] - first)))

    def read(self, batch: Batch) -> tuple[np.ndarray, np.ndarray, Any]:
        """(N,) the word at each place of a batch and the row it stands in, and (U, F) its runs."""
        if batch.words is None or batch.letters is None:
            raise TypeError("these sequences have no words")
        real = torch.arange(batch.x.shape[1]) < batch.x_lengths[:, None]
        row = rows_of(batch.x_lengths.numpy())
        return batch.words[real].numpy(), row, self.runs(batch.letters.numpy())

    def counts(self, batch: Batch) -> Any:
        """(B, F) sparse: how often each run stands in a row."""
        words, row, runs = self.read(batch)
        return in_rows(words, row, len(batch.x), runs)

    def shares(self, batch: Batch, amounts: Any, weights: np.ndarray) -> Tensor:
        """(B, F) what a run counts each time it stands in a row, (F, K) weights -> (B, P, K) what
        each word adds."""
        words, row, runs = self.read(batch)
        added = torch.zeros(*batch.x.shape[:2], weights.shape[1], dtype=torch.float64)
        real = torch.arange(batch.x.shape[1]) < batch.x_lengths[:, None]
        added[real] = torch.from_numpy(runs[words].multiply(amounts[row]).tocsr() @ weights)
        return added

    @property
    def size(self) -> int:
        """F, how many runs are known."""
        firsts = self.index.firsts
        return int(firsts[-1] - firsts[SHORTEST - 1])

    def arrays(self) -> dict[str, Tensor]:
        """The tables by length."""
        return {PREFIX + name: table for name, table in self.index.arrays().items()}

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave; raises ValueError if it does not fit."""
        own = [name for name in arrays if name.startswith(PREFIX)]
        self.index.load_arrays({name.removeprefix(PREFIX): arrays[name] for name in own})


def framed(letters: np.ndarray) -> Field:
    """(U, L) words in letters, 0 behind the end -> each between two edges."""
    lengths = (letters > 0).sum(1)
    offsets = offsets_of(lengths + 2)
    flat = np.full(offsets[-1], STOP, np.int64)
    inner = np.ones(len(flat), bool)
    inner[offsets[:-1]] = inner[offsets[1:] - 1] = False
    spelled = letters[letters > 0]
    flat[inner] = np.where(spelled < FIRST_LETTER, UNKNOWN, spelled)
    return Field(flat, offsets, SYMBOLS)


def in_rows(words: np.ndarray, row: np.ndarray, rows: int, runs: Any) -> Any:
    """(N,) words and the rows they stand in, (U, F) runs of each word -> (S, F) runs of each row."""
    from scipy.sparse import csr_matrix

    return csr_matrix((np.ones(len(words)), (row, words)), (rows, runs.shape[0])) @ runs
