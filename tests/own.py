"""Models as somebody else writes them, in a notebook: rungs of no ladder."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from seriatim.batches import Batch
from seriatim.distributions.symbols import Categorical
from seriatim.models.base import Model, NeuralModel


def last_of(batch: Batch, start: int) -> Tensor:
    """(B,) the last symbol of each prompt, or the start."""
    begin = torch.full((len(batch.x), 1), start)
    return torch.cat([begin, batch.x], 1).gather(1, batch.x_lengths[:, None])[:, 0]


class Again(Model):
    """The last symbol again with probability q.

    The state is that symbol; V stands for the start."""

    @dataclass(frozen=True)
    class Options:
        """How sure it is."""

        q: float = 0.5

    def __init__(self, vocabulary: int, options: Options):
        self.vocabulary, self.q = vocabulary, options.q

    def counting(self, ids, stop):
        yield from ()

    def start(self, batch):
        last = last_of(batch, self.vocabulary)
        return self.following(last), last

    def step(self, y, state):
        return self.following(y), y

    def following(self, last: Tensor) -> Categorical:
        """(B,) -> (B,) distributions."""
        same = nn.functional.one_hot(last, self.vocabulary + 1)[:, :-1].bool()
        return Categorical(torch.where(same, self.q, (1 - self.q) / (self.vocabulary - 1)).log())

    def arrays(self):
        return {}


class TableNet(NeuralModel):
    """Logits of the last symbol, learned by gradients."""

    def __init__(self, vocabulary: int, options: object):
        super().__init__()
        self.vocabulary = vocabulary
        self.table = nn.Embedding(vocabulary + 1, vocabulary)

    def start(self, batch):
        last = last_of(batch, self.vocabulary)
        return Categorical(self.table(last)), last

    def step(self, y, state):
        return Categorical(self.table(y)), y


class Stumbling(Again):
    """Wrong: it has a misprint."""

    def step(self, y, state):
        return self.folowing(y), y
