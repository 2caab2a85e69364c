"""Linear maps, the same as torch's, fast for a few rows too.

    y = W x + b

A large matrix and a few rows are the work of every step of generation; see `few` for how it is done
there. Some more rows are little work, which the usual kernels leave to one thread; cut into as many
parts as there are threads it is given to all.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

FEW, LARGE = 8, 1 << 19  # rows up to which, and weights from which on, compiled code is worth it


SOME = 64  # rows up to which a map is cut


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """(..., I), (O, I), (O,) -> (..., O)."""
    rows = x.numel() // max(1, x.shape[-1])
    threads, few = (
        torch.get_num_threads(),
        rows <= FEW
        and weight.numel() >= LARGE
        and weight.is_contiguous()
        and weight.dtype == torch.float32,
    )
    if (
        torch.is_grad_enabled()
        or x.dtype != weight.dtype
        or not x.is_cpu
        or not (few or (threads > 1 and rows <= SOME and len(weight) % threads == 0))
        or not rows
    ):
        return F.linear(x, weight, bias)
    if not few:
        parts = weight.view(threads, -1, x.shape[-1]).mT  # (threads, I, O / threads)
        # (threads, rows, O / threads)
        y = torch.bmm(x.reshape(1, rows, -1).expand(threads, -1, -1), parts)
        y = y.transpose(0, 1).reshape(*x.shape[:-1], len(weight))
        return y if bias is None else y + bias
    from seriatim.layers.kernels import product

    y = torch.empty(*x.shape[:-1], len(weight), device="cpu")
    product(
        x.reshape(rows, -1).contiguous().numpy(),
        weight.detach().numpy(),
        np.empty(0, np.float32) if bias is None else bias.detach().numpy(),
        y.view(rows, -1).numpy(),
    )
    return y


class Linear(nn.Linear):
    """Torch's module, fast for a few rows too."""

    def forward(self, x: Tensor) -> Tensor:
        """(..., I) -> (..., O)."""
        return linear(x, self.weight, self.bias)
