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
ROWS, OUTPUTS = 4, 2048                    # rows, or outputs of a single one, that are worth another thread
POOL = ThreadPoolExecutor(thread_name_prefix="rows")


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """(..., I), (O, I), (O,) -> (..., O)."""
    rows = x.numel() // max(1, x.shape[-1])
    if torch.is_grad_enabled() or not 0 < rows <= FEW or weight.numel() < LARGE or not x.dtype == weight.dtype == torch.float32 or not weight.is_contiguous():
        return F.linear(x, weight, bias)
    from seriatim.layers.few import product  # compiled code is loaded by those who need it
    y, w, b = torch.empty(*x.shape[:-1], len(weight)), weight.detach().numpy(), np.empty(0, np.float32) if bias is None else bias.detach().numpy()
    given, made = x.reshape(rows, -1).contiguous().numpy(), y.view(rows, -1).numpy()
    if rows == 1:
        share(lambda some: product(given, w[some], b[some], made[:, some]), len(w), OUTPUTS)
    else:
        share(lambda some: product(given[some], w, b, made[some]), rows, ROWS)
    return y


def share(work: Callable[[slice], None], count: int, worth: int) -> None:
    """Do the work for all of `count`: some of them in each thread, if so many are worth one."""
    threads = max(1, min(torch.get_num_threads(), count // worth))
    parts = [slice(number * count // threads, (number + 1) * count // threads) for number in range(threads)]
    waiting = [POOL.submit(work, part) for part in parts[1:]]
    work(parts[0])
    for each in waiting:
        each.result()


class Linear(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)
