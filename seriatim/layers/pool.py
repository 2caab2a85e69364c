"""From the vectors of all positions to one: what a sequence is, taken as a whole.

    last  the vector of the last position (recurrence both ways: where each direction ends)
    mean, max  of each feature over the positions
    attention  sum_t a_t x_t,  a = softmax_t(u . tanh(W x_t))                     Yang et al. 2016
    unit       the same, of an extra position that stands for the whole sequence  Devlin et al. 2019

Shapes: B rows, T time, D width.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Pool(nn.Module):
    """One vector of many, by one of the kinds above."""

    def __init__(self, kind: str, width: int, bidirectional: bool):
        super().__init__()
        self.kind, self.bidirectional = kind, bidirectional
        self.asked = (
            nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1, bias=False))
            if kind == "attention"
            else None
        )

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """(B, T, D) vectors, (B,) lengths -> (B, D); nothing at all gives zeros."""
        real = (torch.arange(x.shape[1], device=x.device) < lengths[:, None])[
            ..., None
        ]  # (B, T, 1)
        if self.kind == "mean":
            return (x * real).sum(1) / lengths.clamp(min=1)[:, None]
        if self.kind == "max":
            return x.masked_fill(~real, -torch.inf).amax(1).where(lengths[:, None] > 0, 0.0)
        if self.kind == "attention":
            return (self.weights(x, lengths)[..., None] * x).sum(1)
        rows, last = torch.arange(len(x), device=x.device), (lengths - 1).clamp(min=0)
        if not self.bidirectional:
            return x[rows, last] * (lengths > 0)[:, None]
        half = x.shape[-1] // 2
        return torch.cat([x[rows, last, :half], x[:, 0, half:]], -1) * (lengths > 0)[:, None]

    def weights(self, x: Tensor, lengths: Tensor) -> Tensor:
        """(B, T): how much each position counts."""
        real = torch.arange(x.shape[1], device=x.device) < lengths[:, None]
        if self.asked is None:
            raise TypeError(f"pooling by {self.kind} has no weights")
        scores = self.asked(x)[..., 0].masked_fill(~real, -torch.inf)
        return torch.softmax(scores.where(lengths[:, None] > 0, 0.0), 1) * real  # (B, T)
