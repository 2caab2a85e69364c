"""What decoding gives: a sequence, how likely it is, and whether it came to its end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


def ranked(log_prob: float, length: int, penalty: float) -> float:
    """What a sequence is ranked by: its log-probability by its length, the end included, to this
    power."""
    return log_prob / max(1, length) ** penalty


@dataclass
class Result:
    """A sequence written by a model."""

    symbols: list[int]
    log_prob: float = 0.0  # of all its symbols, under the model itself
    ended: bool = False  # by a stop symbol, which is not among the symbols
    score: float = 0.0  # what it is ranked by

    def ranked(self, penalty: float) -> float:
        """What it is ranked by."""
        return ranked(self.log_prob, len(self.symbols) + self.ended, penalty)

    def take(self, symbol: int, log_prob: float, stops: Sequence[int]) -> bool:
        """Write one more symbol; False if that ends it, or if nothing may follow."""
        if log_prob == -math.inf:
            return False
        self.log_prob += log_prob
        self.ended = symbol in stops
        if not self.ended:
            self.symbols.append(symbol)
        return not self.ended
