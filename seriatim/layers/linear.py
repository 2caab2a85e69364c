"""Linear maps, the same as torch's, fast for a few rows too.

    y = W x + b

A few rows are little work, which the usual kernels leave to one thread; cut into as many parts as there are threads it is given to all.
One thread is faster with a few rows when they are the columns: (W x^T)^T.
"""
from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

FEW, FEWER = 64, 8                         # rows up to which a map is cut; up to which they are made columns


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """(..., I), (O, I), (O,) -> (..., O)."""
    threads, rows = torch.get_num_threads(), x.numel() // max(1, x.shape[-1])
    cut, turned = threads > 1 and 0 < rows <= FEW and len(weight) % threads == 0, threads == 1 and 2 < rows <= FEWER
    if torch.is_grad_enabled() or x.dtype != weight.dtype or not (cut or turned):
        return F.linear(x, weight, bias)
    if turned:
        y = torch.mm(weight, x.reshape(rows, -1).t()).t().contiguous().view(*x.shape[:-1], -1)
        return y if bias is None else y.add_(bias)
    parts = weight.view(threads, -1, x.shape[-1]).mT                                # (threads, I, O / threads)
    y = torch.bmm(x.reshape(1, rows, -1).expand(threads, -1, -1), parts)            # (threads, rows, O / threads)
    y = y.transpose(0, 1).reshape(*x.shape[:-1], len(weight))
    return y if bias is None else y + bias


class Linear(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)
