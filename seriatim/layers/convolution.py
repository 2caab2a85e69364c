"""Causal convolution: a position hears a fixed number of positions before it, all at once.

    y_t = (A x)_t * sigmoid((G x)_t),   (A x)_t = sum_k A_k x_{t - k d}         gated: Dauphin et al. 2017

Unlike recurrence nothing is carried from step to step, so that all positions are computed together; with
dilation d doubling from layer to layer the reach grows as 2^layers (van den Oord et al. 2016).
Shapes: B rows, T time, D width.
"""
from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Convolution(nn.Module):
    """A mixer. State: the last (kernel - 1) * dilation inputs, (B, R, D)."""

    def __init__(self, width: int, kernel: int, dilation: int):
        super().__init__()
        self.width, self.reach, self.dilation = width, (kernel - 1) * dilation, dilation
        self.weights = nn.Conv1d(width, 2 * width, kernel, dilation=dilation)

    def empty(self, rows: int) -> Tensor:
        return torch.zeros(rows, self.reach, self.width)

    def forward(self, x: Tensor, state: Tensor, lengths: Tensor | None = None) -> tuple[Tensor, Tensor]:
        seen = torch.cat([state, x], 1)                                             # (B, R + T, D)
        y = F.glu(self.weights(seen.transpose(1, 2)), 1).transpose(1, 2)            # (B, T, D)
        if lengths is None:
            return y, seen[:, seen.shape[1] - self.reach:]
        places = lengths[:, None, None] + torch.arange(self.reach)[:, None]         # (B, R, 1)
        return y, seen.gather(1, places.expand(-1, -1, self.width))
