"""The loss of a batch and its gradients, from parts of it that are computed side by side.

    d mean(l) / dW  =  sum_parts (n_part / n) d mean(l of the part) / dW

The operations of a small network are so short that threads which share each of them mostly wait for
each other. Here each thread has rows of its own, all the way forward and back. Each part has random
numbers of its own, and the parts are added up in their order: who is first does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor, nn

from seriatim.batches import Batch
from seriatim.layers.devices import dice
from seriatim.layers.randomness import drawn_from, generator
from seriatim.parallel import Workers, flushed


def add_gradients(
    loss: Callable[[Batch], Tensor],
    batch: Batch,
    parameters: Sequence[nn.Parameter],
    parts: int,
    workers: Workers,
    context: Callable[[], AbstractContextManager[Any]],
) -> float:
    """The loss of the batch; its gradients are added to those that the parameters have. `context`
    is entered by every thread."""
    seeds = torch.randint(2**62, (parts,), generator=generator(), device="cpu").tolist()
    count = batch.y_mask.sum().clamp(min=1)
    wanted = [each for each in parameters if each.requires_grad]

    def work(part: int) -> tuple[float, tuple[Tensor | None, ...]]:
        """The loss of a part and its gradients."""
        # every so many-th row: all parts have long and short ones
        rows = batch.rows(slice(part, None, parts))
        with flushed(), drawn_from(dice(batch.y.device, seeds[part])):
            with context():
                value = loss(rows) * (rows.y_mask.sum() / count)
            return value.item(), torch.autograd.grad(value, wanted, allow_unused=True)

    found = workers.map(work, range(parts))
    for each, *gradients in zip(wanted, *(gradients for _, gradients in found), strict=True):
        for gradient in gradients:
            if gradient is not None:
                each.grad = gradient if each.grad is None else each.grad.add_(gradient)
    return sum(value for value, _ in found)
