"""Attention across: a position of one sequence attends to the positions of another, which is there from
beginning to end.

    r = V s,   u = F^T r,   a = softmax(u),   c = F a

with the bilinear score: s is a state of the decoder, F has the states of the encoder as columns.

Unlike self-attention queries come from one sequence, keys and values from the other. These are
found once, when the other sequence has been read, and kept. Several rows may hear the same sequence
(the beams of a search): they are its queries side by side, and nothing is copied. Scores, heads and
maps are those of `Attention`. Luong et al. 2015, Bahdanau et al. 2015, Vaswani et al. 2017.
Shapes: R rows, W of them to a sequence, M = R / W sequences, T time, P positions of the other, H
heads, E features of a head, D width.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from seriatim.layers.attention import MultiHead
from seriatim.layers.linear import Linear


class Cross(MultiHead):
    """Unlike `Attention` it is no mixer: it has no state, and is given what was remembered."""

    def __init__(self, width: int, heads: int, score: str, maps: bool, head_width: int = 0):
        super().__init__(width, heads, score, maps, False, head_width)
        inner, asks = self.heads * self.size, score != "uniform"
        self.inward = Linear(width, inner) if maps and asks else None
        self.across = Linear(width, (1 + asks) * inner) if maps else None

    def remember(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """(M, P, D) vectors of the other sequence -> keys and values, (M, H, P, E)."""
        mapped = memory if self.across is None else self.across(memory)
        several = self.across is not None and self.inward is not None
        parts = mapped.chunk(2, -1) if several else (mapped, mapped)
        keys, values = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2).contiguous() for part in parts
        )
        if self.score == "uniform":
            keys = torch.zeros_like(values)
        return (keys if self.inner is None else self.inner[1](keys)), values

    def fits(self, q: Tensor, k: Tensor) -> Tensor:
        """(M, H, W T, E), (M, H, P, E) -> (M, H, W T, P); the keys of an mlp are mapped already."""
        if self.inner is None:
            return super().fits(q, k)
        query, _, out = self.inner
        return out(torch.tanh(query(q)[:, :, :, None] + k[:, :, None]))[..., 0]

    def forward(
        self, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, beams: int
    ) -> Tensor:
        """(R, T, D), what was remembered, (M, 1, 1, P) True where there is something to hear -> (R,
        T, D)."""
        q = self.asked(x, beams)  # (M, H, W T, E)
        if self.inner is not None:
            y = self.shares(q, keys, mask) @ values
        else:
            q = q if self.between is None else q @ self.between
            y = F.scaled_dot_product_attention(
                q, keys, values, attn_mask=mask, scale=None if self.score == "scaled" else 1.0
            )
        return self.outward(y.transpose(1, 2).flatten(2).unflatten(1, (beams, -1)).flatten(0, 1))

    def asked(self, x: Tensor, beams: int) -> Tensor:
        """(R, T, D) -> (M, H, W T, E) queries."""
        if self.score == "uniform":
            q = x.new_zeros(*x.shape[:2], self.heads, self.size)
        else:
            q = (x if self.inward is None else self.inward(x)).unflatten(-1, (self.heads, -1))
        return q.unflatten(0, (-1, beams)).flatten(1, 2).transpose(1, 2)

    def shares(self, q: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
        """(M, H, W T, P): what each query takes of each position, one in all."""
        found = self.fits(q, keys)
        return torch.softmax(found if mask is None else found.masked_fill(~mask, -torch.inf), -1)

    def weights(
        self, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, beams: int
    ) -> Tensor:
        """(R, H, T, P): how much each place is attended to."""
        # (M, H, W, T, P)
        found = self.shares(self.asked(x, beams), keys, mask).unflatten(2, (beams, -1))
        return found.transpose(1, 2).flatten(0, 1)
