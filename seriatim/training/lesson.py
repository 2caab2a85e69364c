"""What training sees of a task: batches to learn from, and a figure that says how well.

A task cuts its data in its own way and subclasses `Lesson`; a count model reads through `counting`,
a network goes through `epoch` again and again, and both are judged by `validate`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from seriatim.batches import Batch
from seriatim.models.base import Model
from seriatim.models.recipe import TrainingOptions

# "event" names its kind; the progress bar, the log and the page read the same ones
Event = dict[str, Any]


FINEST = 10_000  # parts of one that a share is told in, at most


@dataclass(frozen=True)
class Judged:
    """What validation looks at, and how its figure is said: the one home of that. `validate` gives
    less for better: where the words name a figure of which more is better, what is missing to one.

    >>> wrong = Judged("share of labels wrong", items=30)
    >>> wrong.shown(7 / 30 + 4e-7), wrong.said(7 / 30 + 4e-7), wrong.least
    (0.23333333333333334, 'share of labels wrong 0.233', 0.03333333333333333)
    """

    words: str = "nats per symbol"
    higher: bool = False
    items: int | None = (
        None  # of a share: of how many; a trace that decides between equals is no news
    )

    @property
    def least(self) -> float:
        """The least by which two of its values differ; zero of a figure that is no share."""
        return 1 / min(self.items, FINEST) if self.items else 0.0

    def rounded(self, loss: float) -> float:
        """What `validate` gave without the trace that decides between equals: what is recorded."""
        parts = min(self.items, FINEST) if self.items else 0
        return round(loss * parts) / parts if parts and math.isfinite(loss) else loss

    def shown(self, loss: float) -> float:
        """The figure that the words name."""
        loss = self.rounded(loss)
        return max(0.0, 1 - loss) if self.higher else loss

    def said(self, loss: float) -> str:
        """'nats per token 1.512', 'span F1 0.431'."""
        return f"{self.words} {self.shown(loss):.3f}"


class Lesson(ABC):
    """The data of one fit, as a model learns from it."""

    symbols: int  # how large the training data is, for messages
    share_read: float = 1.0  # of the validation data, the last time; of little data it is all
    judged_share: float = 1.0  # of the validation data, that `validate` reads: see `some`
    steady: bool = False  # all batches have one shape: worth compiling for

    @abstractmethod
    def counting(self, model: Model) -> Iterator[dict[str, Any]]:
        """Let a count model read the data, telling how far it is."""

    def epoch(self, number: int, options: TrainingOptions) -> Iterator[Batch]:
        """The batches of one pass; the same for the same seed and number. A room whose models all
        count needs none."""
        raise TypeError(f"{type(self).__name__} has no batches")

    def steps_per_epoch(self, options: TrainingOptions) -> int:
        """How many batches a pass has."""
        raise TypeError(f"{type(self).__name__} has no batches")

    def validate(self, model: Model) -> float:
        """What training looks at, on validation data: lower is better."""
        raise TypeError(f"{type(self).__name__} does not validate")

    def some(self, many: int, least: int = 32) -> int:
        """Of so many items of validation data, how many are looked at."""
        found = min(many, max(least, math.ceil(self.judged_share * many)))
        self.share_read = found / max(1, many)
        return found

    def judged(self, model: Model) -> Judged:
        """What `validate` looks at."""
        return Judged()

    def opinions(self, models: Sequence[Model]) -> tuple[Tensor, ...]:
        """What the weights of a mixture are found from."""
        raise TypeError(f"{type(self).__name__} has no mixtures")

    def begin(self, model: Model) -> None:
        """Tell a model what it needs to know of the data before it learns: most need nothing."""
        return None

    def end(self, model: Model) -> float | None:
        """Find, on validation data, what is found when a model has learned: for most there is
        nothing. What `validate` gives then, if that is something else."""
        return None
