"""Linear maps, the same as torch's, fast for a few rows too.

    y = W x + b

A large matrix and a few rows are the work of every step of generation; see `few` for how it is done there.
"""
from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

FEW, LARGE = 32, 1 << 19                   # rows up to which, and weights from which on, a product of our own is worth it
WORTH = 4                                  # rows worth another thread: it has to read all weights, too
POOL = ThreadPoolExecutor(thread_name_prefix="rows")


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """(..., I), (O, I), (O,) -> (..., O)."""
    rows = x.numel() // max(1, x.shape[-1])
    if torch.is_grad_enabled() or not 0 < rows <= FEW or weight.numel() < LARGE or not x.dtype == weight.dtype == torch.float32 or not weight.is_contiguous():
        return F.linear(x, weight, bias)
    from seriatim.layers.few import product  # compiled code is loaded by those who need it
    added = np.empty(0, np.float32) if bias is None else bias.detach().numpy()
    x, matrix, y = x.reshape(rows, -1).contiguous().numpy(), weight.detach().numpy(), torch.empty(*x.shape[:-1], len(weight))
    out = y.view(rows, -1).numpy()
    share_rows(lambda some: product(x[some], matrix, added, out[some]), rows)
    return y


def share_rows(work: Callable[[slice], None], rows: int) -> None:
    """Do the work for all rows: some of them in each thread."""
    count = max(1, min(torch.get_num_threads(), rows // WORTH))
    parts = [slice(number * rows // count, (number + 1) * rows // count) for number in range(count)]
    waiting = [POOL.submit(work, part) for part in parts[1:]]
    work(parts[0])
    for each in waiting:
        each.result()


class Linear(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)
