"""Dropout: in training each number is left out with probability p, the others grow by as much.

    y = x m / (1 - p),   m = 0 with probability p, else 1                     Srivastava et al. 2014

Unlike torch's, which draws a random number for each of x, this draws one for four of them, of 16
bits each: with two threads an update of a small Transformer spends a tenth of its time there. The
probability is that of the nearest 1 / 65,536. Where the numbers come from: see `randomness`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seriatim.layers.randomness import generator

LEVELS = 1 << 16


def dropout(x: Tensor, p: float) -> Tensor:
    """Leave out each of x with probability p."""
    if (
        torch.compiler.is_compiling()
    ):  # which draws in its own way, in the same pass as what is around it
        return F.dropout(x, p)
    out = round(LEVELS * p)  # of all levels
    if out in (0, LEVELS):
        return x * (out == 0)
    count = x.numel()
    levels = (
        torch.empty((count + 3) // 4, dtype=torch.int64, device=x.device)
        .random_(-(2**63), None, generator=generator())
        .view(torch.int16)[:count]
        .view(x.shape)
    )
    return x * (levels >= out - LEVELS // 2).to(x.dtype).mul_(LEVELS / (LEVELS - out))


class Dropout(nn.Dropout):
    """The same as a layer: in training, and not otherwise."""

    def forward(self, x: Tensor) -> Tensor:
        """x of any shape."""
        return dropout(x, self.p) if self.training and self.p else x
