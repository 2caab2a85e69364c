"""One block of a stack: norm, mixer, residual; norm, feed-forward, residual, each part optional.

Without residual and feed-forward this is a layer of the plain recurrent network of 1990; with both it is
a layer of the Transformer (norm first: Xiong et al. 2020). Shapes: B rows, T time, D width.
"""
from __future__ import annotations

from torch import Tensor, nn


class Block(nn.Module):
    def __init__(self, width: int, mixer: nn.Module, residual: bool, feed_forward: float, dropout: float):
        super().__init__()
        self.residual = residual
        self.mixer = mixer
        self.norm = nn.LayerNorm(width) if residual else nn.Identity()
        self.dropout = nn.Dropout(dropout)
        inner = int(width * feed_forward)
        self.feed_forward = None if not inner else nn.Sequential(
            nn.LayerNorm(width) if residual else nn.Identity(), nn.Linear(width, inner), nn.GELU(), nn.Linear(inner, width), nn.Dropout(dropout))

    def forward(self, x: Tensor, state, lengths: Tensor | None = None):
        y, state = self.mixer(self.norm(x), state, lengths)
        x = self.dropout(y) + (x if self.residual else 0)
        if self.feed_forward is not None:
            x = self.feed_forward(x) + (x if self.residual else 0)
        return x, state                                                             # (B, T, D)
