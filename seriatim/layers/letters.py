"""A word read letter by letter: what its spelling says about it, so that unknown words say
something too.

    convolution   max_t relu(A [e_{t-1}, e_t, e_{t+1}])                 dos Santos and Zadrozny 2014
    lstm          [last state onward ; last state backward]             Lample et al. 2016
    affixes       the convolution, and sum_n A[first n letters] + A[last n letters]

Affixes are kept in a table of hashes, as Brants 2000 counts endings.
Unlike a convolution, which has to find out that endings matter, affixes look them up. Each
different word of a batch is read once.
Shapes: U words, L letters, E width of what is said.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from seriatim.layers.bidirectional import Both
from seriatim.layers.convolution import Convolution
from seriatim.layers.hashing import longer, row_of
from seriatim.layers.pool import Pool
from seriatim.layers.recurrent import Recurrent

AFFIX, ROWS = 4, 1 << 14  # longest beginning and ending; rows of their table


class Letters(nn.Module):
    """From the letters of words to a vector each."""

    def __init__(self, kind: str, letters: int, width: int):
        super().__init__()
        # the last two: a word begins, a word ends
        self.embedding = nn.Embedding(letters + 2, width)
        self.mixer = (
            Both(width, lambda half, inputs: Recurrent("lstm", half, inputs=inputs))
            if kind == "lstm"
            else Convolution(width, 3, 1, False, "relu", centred=True)
        )
        self.pool = Pool("last" if kind == "lstm" else "max", width, bidirectional=True)
        self.affixes = (
            nn.Embedding(ROWS, width, _weight=torch.zeros(ROWS, width))
            if kind == "affixes"
            else None
        )

    def forward(self, letters: Tensor) -> Tensor:
        """(U, L) letters, 0 behind the end -> (U, E)."""
        count, edge = len(letters), self.embedding.num_embeddings - 2
        lengths = (letters > 0).sum(1)  # (U,)
        framed = torch.cat(
            [letters.new_full((count, 1), edge), letters, letters.new_zeros(count, 1)], 1
        )  # (U, L + 2)
        framed[torch.arange(count, device=letters.device), lengths + 1] = edge + 1
        y = self.mixer(
            self.embedding(framed), self.mixer.empty(count, letters.device), lengths + 2
        )[0]
        said = self.pool(y, lengths + 2)  # (U, E)
        return (
            said if self.affixes is None else said + self.affixes(affixes(letters, lengths)).sum(1)
        )


def affixes(letters: Tensor, lengths: Tensor) -> Tensor:
    """(U, L) letters -> (U, 2 AFFIX) rows of the table: of the first letter, the first two ..., of
    the last, the last two ... A word that is shorter has itself in their place."""
    found = []
    for side in (0, 1):
        key = torch.full_like(lengths, side)
        for n in range(AFFIX):
            place = (lengths - 1 - n if side else torch.full_like(lengths, n)).clamp(
                min=0, max=letters.shape[1] - 1
            )
            # (U,)
            key = torch.where(
                n < lengths, longer(key, letters.gather(1, place[:, None])[:, 0]), key
            )
            found.append(row_of(key, ROWS))
    return torch.stack(found, 1)
