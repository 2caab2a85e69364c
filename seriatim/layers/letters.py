"""A word read letter by letter: what its spelling says about it, so that unknown words say something too.

    convolution   max_t relu(A [e_{t-1}, e_t, e_{t+1}])                                 dos Santos and Zadrozny 2014
    lstm          [last state onward ; last state backward]                             Lample et al. 2016

Each different word of a batch is read once. Shapes: U words, L letters, E width of what is said.
"""
from __future__ import annotations

import torch
from torch import Tensor, nn

from seriatim.layers.both import Both
from seriatim.layers.convolution import Convolution
from seriatim.layers.pool import Pool


class Letters(nn.Module):
    def __init__(self, kind: str, letters: int, width: int):
        super().__init__()
        self.embedding = nn.Embedding(letters + 2, width)                           # the last two: a word begins, a word ends
        self.mixer = Both("lstm", width, "tanh", "orthogonal", 0.0) if kind == "lstm" else Convolution(width, 3, 1, False, "relu", centred=True)
        self.pool = Pool("last" if kind == "lstm" else "max", width, both=True)

    def forward(self, letters: Tensor) -> Tensor:
        """(U, L) letters, 0 behind the end -> (U, E)."""
        count, edge = len(letters), self.embedding.num_embeddings - 2
        lengths = (letters > 0).sum(1)                                              # (U,)
        framed = torch.cat([torch.full((count, 1), edge), letters, torch.zeros(count, 1, dtype=torch.long)], 1)        # (U, L + 2)
        framed[torch.arange(count), lengths + 1] = edge + 1
        y = self.mixer(self.embedding(framed), self.mixer.empty(count), lengths + 2)[0]
        return self.pool(y, lengths + 2)
