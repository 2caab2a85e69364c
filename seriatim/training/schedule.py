"""Where a fit is, how much of its budget is spent, and how large a step it takes there.

rate(s) = rate s / warmup                       while it rises,  s the share of the budget that is
spent rate(s) = rate f((s - warmup) / (1 - warmup))   afterwards,      f falls from 1 to 0 (linear,
cosine), or otherwise
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

from seriatim.models.recipe import TrainingOptions


@dataclass
class Progress:
    """Where a fit is: plain numbers, saved with every checkpoint."""

    step: int = 0
    epoch: int = 0
    batch: int = 0  # batches of this epoch already used
    seconds: float = 0.0  # wall-clock time spent so far, over all sessions
    looks: list[float] = field(default_factory=list)  # what validation found, each time
    many_looks: int = 0  # how many are planned; 0: as many as were asked for
    judged_share: float = 1.0  # of the validation data, that each of them reads
    best: float = math.inf
    worse: int = 0  # validations since the best one
    loss: float = 0.0  # running mean of the training loss
    norms: float = 0.0  # of the gradient, added up since the last validation
    clipped: int = 0  # updates since then whose gradient was too long
    changes: int = 0  # updates since then
    cuts: int = 0  # how often a plateau has cut the rate
    averaged: int = 0  # updates in the mean of the weights
    rows: int = 0  # sequences side by side, once that is settled
    precision: str = "float32"
    compiled: bool = False
    parts: int = 1  # of a batch, computed side by side
    stopped: str = ""  # why it is over, if it is
    done: bool = False


class Schedule:
    """The budget of a fit."""

    def __init__(self, options: TrainingOptions, progress: Progress):
        self.options, self.progress, self.steps_per_epoch = options, progress, 1
        self.looked = self.looking = 0.0  # when the last validation ended, and how long it took

    def share(self) -> float:
        """How much of the budget is spent, 0 to 1: the nearest of the limits given."""
        return min(1.0, max(self.spent().values()))

    def spent(self) -> dict[str, float]:
        """How much of each limit is spent."""
        o, p, spent = self.options, self.progress, {}
        if o.minutes:  # the last look at the validation data included
            spent["minutes"] = p.seconds / max(1e-3, 60 * o.minutes - self.looking)
        if o.updates:
            spent["updates"] = p.step / o.updates
        if o.epochs:
            whole = max(1, round(o.epochs * self.steps_per_epoch), o.least_updates)
            spent["epochs"] = p.step / whole
        return spent

    def limit(self) -> str:
        """The limit that is nearest."""
        spent = self.spent()
        return max(spent, key=lambda name: spent[name])

    def over(self, before: float, share: float) -> bool:
        """Whether, under a wall-clock budget, another update would end more than half of itself
        too late."""
        return bool(self.options.minutes) and share + (share - before) / 2 >= 1

    def rate(self, share: float) -> float:
        """The learning rate when this share is spent."""
        o = self.options
        if share < o.warmup:
            return o.rate * (share + 1e-3) / (o.warmup + 1e-3)
        rest = (share - o.warmup) / (1 - o.warmup) if o.warmup < 1 else 1.0
        fall = {
            "linear": 1 - rest,
            "cosine": (1 + math.cos(math.pi * rest)) / 2,
            "constant": 1.0,
            "plateau": 0.25**self.progress.cuts,
            "inverse-square-root": (max(o.warmup, 0.01) / max(share, o.warmup, 0.01)) ** 0.5,
        }[o.decay]
        return o.rate * fall

    def validation_due(self, before: float, share: float) -> bool:
        """Whether it is time to look at the validation data: at the end, and at even shares
        before."""
        many = self.progress.many_looks or self.options.validations
        return share >= 1 or (int(share * many) > int(before * many) and self.affordable())

    def affordable(self) -> bool:
        """Under a wall-clock budget, looking at the validation data takes at most a twentieth of
        the time."""
        return not self.options.minutes or self.progress.seconds - self.looked >= 20 * self.looking

    def validated(self, clock: Clock) -> None:
        """The validation data was looked at until now."""
        p = self.progress
        self.looking, p.seconds = clock.now() - p.seconds, clock.now()
        self.looked = p.seconds

    def epochs(self) -> float:
        """How many times the data was read."""
        return self.progress.epoch + self.progress.batch / self.steps_per_epoch


class Clock:
    """Wall-clock time of a fit over all its sessions, and what is due."""

    def __init__(self, before: float):
        self.zero, self.begin = time.perf_counter() - before, before
        self.last: dict[str, float] = {}

    def now(self) -> float:
        """Seconds of the fit so far."""
        return time.perf_counter() - self.zero

    def due(self, what: str, every: float) -> bool:
        """Whether so many seconds have passed since this was due last."""
        if self.now() - self.last.get(what, self.begin) < every:
            return False
        self.last[what] = self.now()
        return True
