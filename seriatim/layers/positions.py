"""Where am I? Attention alone does not know the order of what it hears; something must tell.

    rotary      inside attention: queries and keys are turned by an angle that grows with the position     Su et al. 2021
    sinusoidal  x_t + (sin(t / 10000^(2k/D)), cos(t / 10000^(2k/D)))_k                                     Vaswani et al. 2017
    learned     x_t + P_t, a table with a row for each of `context` positions                              Radford et al. 2019

Rotary positions know only distances; the other two know places, and the table ends. Shapes: B rows, T time, D width.
"""
from __future__ import annotations

import torch
from torch import Tensor, nn

from seriatim.errors import ConfigError


class Positions(nn.Module):
    """Adds to every vector where it stands. State: how many positions each row has seen (B,)."""

    def __init__(self, kind: str, width: int, longest: int):
        super().__init__()
        self.table = nn.Parameter(0.02 * torch.randn(longest, width)) if kind == "learned" else None

    def empty(self, rows: int) -> Tensor:
        return torch.zeros(rows, dtype=torch.long)

    def forward(self, x: Tensor, seen: Tensor, lengths: Tensor | None = None) -> tuple[Tensor, Tensor]:
        here = seen[:, None] + torch.arange(x.shape[1])                             # (B, T)
        after = seen + (x.shape[1] if lengths is None else lengths)
        if self.table is None:
            speed = 10000.0 ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])     # (D / 2,)
            angle = here[..., None] * speed                                         # (B, T, D / 2)
            return x + torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)[..., :x.shape[-1]], after
        if int(here.max() if here.numel() else 0) >= len(self.table):
            raise ConfigError(f"this model has {len(self.table)} learned positions and can read no further", got=f"position {int(here.max())}",
                              do="Shorten the prompt or the --length, or fit a model with --positions rotary")
        return x + self.table[here], after


def rotate(x: Tensor, places: Tensor, slowest: float = 10000.0) -> Tensor:
    """Turn each pair of features by an angle that grows with the position: (B, T, H, E), (B, T)."""
    half = x.shape[-1] // 2
    speed = slowest ** (-torch.arange(half, dtype=torch.float32) / half)            # (E / 2,)
    angle = (places[..., None] * speed)[:, :, None]                                 # (B, T, 1, E / 2)
    cosine, sine = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cosine - b * sine, a * sine + b * cosine], -1)
