"""Dropout: in training each number is left out with probability p, the others grow by as much.

    y = x m / (1 - p),   m = 0 with probability p, else 1                                  Srivastava et al. 2014

Unlike torch's, which draws a random number for each of x, this draws one for four of them, of 16 bits each: with two threads an update of a small
Transformer spends a tenth of its time there. The probability is that of the nearest 1 / 65,536. What is drawn while a network is trained comes from
`dice`: parts of a batch that are computed side by side have dice of their own, so that it does not matter who is first.
"""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import local

import torch
from torch import Tensor, nn
from torch.nn import functional as F

LEVELS = 1 << 16
OWN = local()


def dice() -> torch.Generator | None:
    """The generator of this thread, if it has one of its own."""
    return getattr(OWN, "generator", None)


@contextmanager
def thrown(seed: int) -> Iterator[None]:
    """Within this, what this thread draws depends on the seed alone."""
    OWN.generator = torch.Generator().manual_seed(seed)
    try:
        yield
    finally:
        OWN.generator = None


def dropout(x: Tensor, p: float) -> Tensor:
    if torch.compiler.is_compiling():                                               # which draws in its own way, in the same pass as what is around it
        return F.dropout(x, p)
    out = round(LEVELS * p)                                                         # of all levels
    if out in (0, LEVELS):
        return x * (out == 0)
    count = x.numel()
    levels = torch.empty((count + 3) // 4, dtype=torch.int64).random_(-2 ** 63, None, generator=dice()).view(torch.int16)[:count].view(x.shape)
    return x * (levels >= out - LEVELS // 2).to(x.dtype).mul_(LEVELS / (LEVELS - out))


class Dropout(nn.Dropout):
    def forward(self, x: Tensor) -> Tensor:
        return dropout(x, self.p) if self.training and self.p else x
