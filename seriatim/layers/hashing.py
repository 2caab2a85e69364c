"""Where in a table something of symbols is kept: runs of symbols become numbers, numbers become
rows, the same on every machine.

key(y_1 .. y_n) = (key(y_1 .. y_{n-1}) + y_n + 1) * m   mod 2^64
"""

from __future__ import annotations

from torch import Tensor

MULTIPLIER, PRIME = 1_000_003, (1 << 61) - 1


def longer(key: Tensor, symbol: Tensor | int) -> Tensor:
    """The key of a run with one more symbol; that of no symbols is zero, or whatever tells one kind
    of run from another."""
    return (key + symbol + 1) * MULTIPLIER


def row_of(key: Tensor, rows: int) -> Tensor:
    """The low bits of a product depend on the low bits alone, so the high ones are mixed in
    first."""
    return (key ^ (key >> 29)) * MULTIPLIER % PRIME % rows
