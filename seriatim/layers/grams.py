"""What stands around a symbol, looked up: a vector for each n-gram that begins, ends or is centred at a place.

    g_t = sum_{n=2..N} ( D[hash(x_t .. x_{t+n-1})] + D[hash(x_{t-n+1} .. x_t)] + D[hash(x_{t-n/2} .. x_{t+n/2})] )      the last for odd n

A stack has to learn from letters that `tion` sounds different from `t`, `i`, `o`, `n`, and spends layers on it; a table is told. Its rows are
shared by whatever n-grams fall on them, and only those that are used learn. Unlike votes (`layers.votes`), which speak for the next symbol, these are
inputs of a stack, and as it reads sequences that are there from beginning to end, they look ahead, too. In training some are not heard, so that
the network does not know sequences by heart. After the n-grams of letters of Bojanowski et al. 2017, around a place instead of within a word.
Shapes: B rows, P places, N longest, K n-grams at a place, D width.
"""
from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seriatim.layers.dropout import Dropout
from seriatim.layers.hashing import longer, row_of

BEGINS, ENDS, CENTRED = range(3)


class Grams(nn.Module):
    def __init__(self, symbols: int, longest: int, cells: int, width: int, dropout: float = 0.0):
        super().__init__()
        self.edge, self.longest = symbols, longest
        self.table = nn.EmbeddingBag(cells, width, mode="sum", sparse=True, _weight=torch.zeros(cells, width))
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """(B, P) symbols, (B,) lengths -> (B, P, D)."""
        cells = self.cells(x, lengths)                                              # (B, P, K)
        heard = self.dropout(torch.ones(cells.shape)).flatten(0, 1)                 # (B P, K)
        return self.table(cells.flatten(0, 1), per_sample_weights=heard).unflatten(0, x.shape)

    def cells(self, x: Tensor, lengths: Tensor) -> Tensor:
        """(B, P) symbols -> (B, P, K): the rows of the table where the n-grams around each place are kept. Beyond both ends is an edge."""
        time, margin, found = x.shape[1], self.longest - 1, []
        inside = torch.where(torch.arange(time) < lengths[:, None], x, self.edge)
        seen = F.pad(inside, (margin, 2 * margin), value=self.edge)                 # (B, P + 3 (N - 1))
        key = torch.zeros(len(x), time + 2 * margin, dtype=torch.long)              # of the n-gram that begins at each place, from margin before the first on
        for n in range(1, self.longest + 1):
            key = longer(key, seen[:, n - 1:n - 1 + time + 2 * margin])
            back = {BEGINS: 0, ENDS: n - 1} | ({CENTRED: n // 2} if n % 2 else {})  # how far before the place it begins
            found += [row_of(longer(key[:, margin - far:margin - far + time], kind), self.table.num_embeddings)
                      for kind, far in back.items() if n > 1]
        return torch.stack(found, 2)
