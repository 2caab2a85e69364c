"""The codec of labels, with a row of zeros and ones for what is said: 1 where a label is true.

A label that training did not have is left out of its list, and counted, as elements of sets are.
Shapes: S sequences, K labels.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from seriatim.data.sequences import NUMBERS, Field, Sequences
from seriatim.tasks.labels.codec import Examples, LabelCodec, target_of


class MarksCodec(LabelCodec):
    """Sequences and which labels are true of each."""

    def encode(self, data: Sequences, labelled: bool = True) -> Examples:
        """Sequences in numbers, and (S, K) ones for the labels that are true of each."""
        found = super().encode(data, labelled=False)
        return replace(found, y=self.marked(data)) if labelled else found

    def marked(self, data: Sequences) -> Field:
        """(S, K) zeros and ones."""
        numbers, owner = self.numbered(data)
        rows = np.zeros((len(data), self.labels.size), np.float32)
        known = numbers >= 0
        rows[owner[known], numbers[known]] = 1
        return Field(rows, np.arange(len(data) + 1), NUMBERS)

    def unknown(self, data: Sequences) -> np.ndarray:
        """(S,) how many labels of each sequence training did not have."""
        numbers, owner = self.numbered(data)
        return np.bincount(owner[numbers < 0], minlength=len(data))

    def numbered(self, data: Sequences) -> tuple[np.ndarray, np.ndarray]:
        """The number of every label that is given, -1 of an unknown one, and whose it is."""
        said = target_of(data, self.target)
        table = [self.labels.number.get(name, -1) for name in said.symbol_names]
        numbers = np.array(table, np.int64)[said.flat] if table else np.zeros(0, np.int64)
        return numbers, np.repeat(np.arange(len(said)), said.lengths)
