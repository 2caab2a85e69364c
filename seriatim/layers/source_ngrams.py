"""What stands around a symbol, looked up: a vector for each frequent n-gram that begins, ends or is
centred at a place.

    g_t = sum_{n=2..N} ( D[x_t .. x_{t+n-1}] + D[x_{t-n+1} .. x_t] + D[x_{t-h} .. x_{t+h}] )

the last for n = 2 h + 1

A stack has to learn from letters that `tion` sounds different from `t`, `i`, `o`, `n`, and spends
layers on it; a table is told. Only rows that are used learn, and only n-grams that are frequent in
training have one: a rare one is nearly the name of the sequence it stands in, from which the
network would learn that sequence by heart. For the same reason some are not heard in training.
Unlike votes (`layers.votes`), which speak for the next symbol, these are inputs of a stack, and as
it reads sequences that are there from beginning to end, they look ahead, too. After the n-grams of
letters of Bojanowski et al. 2017, around a place instead of within a word.
Shapes: B rows, P places, N longest, K n-grams at a place, C rows of the table, D width.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seriatim.layers.dropout import Dropout
from seriatim.layers.hashing import longer

BEGINS, ENDS, CENTRED = range(3)


NONE = torch.iinfo(torch.int64).max  # behind all keys: a row that is not used


LEAST = 2  # what occurs once has no row


class Grams(nn.Module):
    """Which n-grams have rows is counted before training: see `count`."""

    known: Tensor  # (C,) keys of the n-grams that have a row, in order

    def __init__(self, symbols: int, longest: int, rows: int, width: int, dropout: float = 0.0):
        super().__init__()
        self.edge, self.longest = symbols, longest
        self.table = nn.EmbeddingBag(
            rows, width, mode="sum", sparse=True, _weight=torch.zeros(rows, width)
        )
        self.register_buffer("known", torch.full((rows,), NONE))
        self.dropout = Dropout(dropout)

    def count(self, batches: Iterable[tuple[Tensor, Tensor]]) -> None:
        """Give rows to the n-grams that are most frequent in (B, P) symbols with (B,) lengths."""
        found = [
            self.keys(x, lengths)[
                torch.arange(x.shape[1], device=x.device) < lengths[:, None]
            ].flatten()
            for x, lengths in batches
        ]
        keys, counts = np.unique(torch.cat(found).numpy(), return_counts=True)
        frequent = np.lexsort((keys, -counts))[: len(self.known)]
        kept = np.sort(keys[frequent[counts[frequent] >= LEAST]])
        self.known.fill_(NONE)
        self.known[: len(kept)] = torch.from_numpy(kept)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """(B, P) symbols, (B,) lengths -> (B, P, D)."""
        keys = self.keys(x, lengths).flatten(0, 1)  # (B P, K)
        rows = torch.searchsorted(self.known, keys).clamp(max=len(self.known) - 1)
        heard = self.dropout((self.known[rows] == keys).float())
        return self.table(rows, per_sample_weights=heard).unflatten(0, x.shape)

    def keys(self, x: Tensor, lengths: Tensor) -> Tensor:
        """(B, P) symbols -> (B, P, K): a number for each n-gram around each place. Beyond both ends
        is an edge."""
        time, margin, found = x.shape[1], self.longest - 1, []
        inside = torch.where(torch.arange(time, device=x.device) < lengths[:, None], x, self.edge)
        seen = F.pad(inside, (margin, 2 * margin), value=self.edge)  # (B, P + 3 (N - 1))
        # of the n-gram that begins at each place, from margin before the first on
        key = x.new_zeros(len(x), time + 2 * margin)
        for n in range(1, self.longest + 1):
            key = longer(key, seen[:, n - 1 : n - 1 + time + 2 * margin])
            # how far before the place it begins
            back = {BEGINS: 0, ENDS: n - 1} | ({CENTRED: n // 2} if n % 2 else {})
            found += [
                longer(key[:, margin - far : margin - far + time], kind)
                for kind, far in back.items()
                if n > 1
            ]
        return torch.stack(found, 2)
