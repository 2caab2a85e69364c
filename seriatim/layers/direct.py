"""Direct connections: the last few symbols vote for the next one, whatever a network makes of them.

    v_t = sum_{n=1..N} D[hash(y_{t-n} .. y_{t-1})]

A maximum-entropy n-gram model (Rosenfeld 1996) in a table whose rows are shared by whatever n-grams
fall on them, learned by gradients along with a network as in Mikolov et al. 2011. Unlike counts,
which are mixed with a network after both are done, the table learns only what the network does not
know. Shapes: B rows, T time, N reach, V symbols.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from seriatim.layers.dropout import Dropout
from seriatim.layers.hashing import longer, row_of


class Votes(nn.Module):
    """The state is the last N - 1 symbols."""

    def __init__(self, vocabulary: int, reach: int, cells: int, dropout: float = 0.0):
        super().__init__()
        self.reach, self.vocabulary = reach, vocabulary
        self.table = nn.Embedding(
            cells, vocabulary, sparse=True, _weight=torch.zeros(cells, vocabulary)
        )
        self.dropout = Dropout(dropout)

    def empty(self, rows: int, device: torch.device | None = None) -> Tensor:
        """(B, N - 1) as if START had been there all the time."""
        # as if START had been there all the time
        return torch.full((rows, self.reach - 1), self.vocabulary, device=device)

    def forward(
        self, symbols: Tensor, state: Tensor, lengths: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """(B, T) symbols -> (B, T, V) votes for what follows each, state after each row's
        length."""
        seen = torch.cat([state, symbols], 1)  # (B, N - 1 + T)
        cells = self.cells(seen)
        heard = self.dropout(
            torch.ones(cells.shape, device=cells.device)
        )  # (B, T, N): an n-gram votes, or is silent
        votes = torch.einsum("btnv,btn->btv", self.table(cells), heard)  # (B, T, V)
        time = symbols.shape[1]
        last = seen.new_full((len(seen),), time) if lengths is None else lengths
        return votes, seen.gather(
            1, last[:, None] + torch.arange(self.reach - 1, device=seen.device)
        )

    def cells(self, seen: Tensor) -> Tensor:
        """(B, N - 1 + T) symbols -> (B, T, N): the rows of the table where the n-grams that end at
        each of the last T are kept."""
        time = seen.shape[1] - self.reach + 1
        found, key = [], torch.zeros_like(seen[:, :time])
        for back in range(self.reach):
            begin = self.reach - 1 - back
            key = longer(key, seen[:, begin : begin + time])  # (B, T)
            found.append(row_of(key, self.table.num_embeddings))
        return torch.stack(found, 2)
