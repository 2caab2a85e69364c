"""A mean of the weights, which is often better than the weights themselves.

moving        m <- d m + (1 - d) w                    after every update plateau       m = mean of
all w                       since validation stopped improving (ASGD, Merity et al. 2018)
checkpoints   m = mean of w at the last validations   Vaswani et al. 2017
"""

from __future__ import annotations

import torch
from torch import Tensor

from seriatim.models.recipe import TrainingOptions
from seriatim.training.schedule import Progress

Arrays = dict[str, Tensor]


class RunningMean:
    """The mean of the weights, if one is kept; numbers that are not learned are taken as they
    are."""

    def __init__(self, options: TrainingOptions, progress: Progress):
        self.options, self.progress = options, progress
        self.mean: Arrays = {}
        self.recent: list[
            Arrays
        ] = []  # average checkpoints: the weights at the last few validations

    @torch.no_grad()
    def updated(self, weights: Arrays) -> None:
        """The weights after one more update."""
        o, p = self.options, self.progress
        waiting = o.average == "plateau" and not p.averaged and p.worse < 2
        if o.average in ("no", "checkpoints") or waiting:
            return
        keep = o.average_decay if o.average == "moving" else p.averaged / (p.averaged + 1)
        p.averaged += 1
        for name, value in weights.items():
            if name in self.mean and value.is_floating_point():
                self.mean[name].mul_(keep).add_(value, alpha=1 - keep)
            else:
                self.mean[name] = value.clone()

    def validated(self, weights: Arrays) -> None:
        """The weights at a validation, which nobody will change."""
        if self.options.average != "checkpoints":
            return
        self.recent = [*self.recent, weights][-self.options.checkpoints :]
        self.mean = {
            name: torch.stack([each[name] for each in self.recent]).mean(0)
            if value.is_floating_point()
            else value
            for name, value in weights.items()
        }
