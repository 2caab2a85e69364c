"""Models of sequences whose every step is a set: what comes next is a probability for each element.

    x_t = sum of E[m] over m in S_{t-1},   h = blocks(x),   p(m in S_t | S_1 .. S_{t-1}) = sigmoid(W h_t + b)_m

Unlike `Network`, whose softmax chooses one of V symbols, here V coins are thrown at every step,
independent of each other once the past is known (the RNN with which Boulanger-Lewandowski et al.
2012 begin, on piano rolls). START is one more element, V, in a set of its own. Shapes: B rows, T
time, D width, V elements.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from seriatim.batches import Batch
from seriatim.data.sequences import Field
from seriatim.distributions.symbols import Bernoulli, Distribution
from seriatim.models.base import Model, State
from seriatim.models.network import Network
from seriatim.tasks.sets.options import FrequenciesOptions


class SetNetwork(Network):
    """The stack of the language models between two multi-hot ends."""

    def embed(self, symbols: Tensor) -> Tensor:
        """(B, T, V) sets, or (B, T, V + 1) with START -> (B, T, D)."""
        return symbols @ self.embedding.weight[: symbols.shape[-1]]

    def opened(self, symbols: Tensor) -> Tensor:
        """(B, T, V) sets -> (B, 1 + T, V + 1): START, then these."""
        opened = F.pad(symbols, (0, 1, 1, 0))
        opened[:, 0, -1] = 1
        return opened

    def read(self, hidden: Tensor) -> Bernoulli:
        """(..., D) hidden vectors -> whether each element is in the set."""
        return Bernoulli(self.categorical(hidden).logits)


class Frequencies(Model):
    """The floor: each element by its own frequency, (n + add) / (N + 2 add), whatever came before.
    The state is empty."""

    def __init__(self, vocabulary: int, options: FrequenciesOptions):
        self.vocabulary, self.options = vocabulary, options
        self.counts = torch.zeros(
            vocabulary + 1, dtype=torch.int64
        )  # the last is N, the number of sets

    def counting(self, ids: Field, stop: bool) -> Iterator[dict[str, Any]]:
        """An element is counted once for each set it is in; the ends of sequences are not
        predicted."""
        self.counts[:-1] = torch.from_numpy((ids.flat > 0).sum(0))
        self.counts[-1] = len(ids.flat)
        yield {"words": "elements", "share": 1.0}

    def logits(self) -> Tensor:
        """(V,) log of how often an element is in a set, over how often it is not."""
        inside, outside = (
            self.counts[:-1] + self.options.add,
            self.counts[-1] - self.counts[:-1] + self.options.add,
        )
        return (inside / outside).log()

    def start(self, batch: Batch) -> tuple[Distribution, State]:
        """The share of sets that each element was in."""
        return Bernoulli(self.logits().expand(len(batch.x), -1)), torch.zeros(len(batch.x), 0)

    def extend(self, y: Tensor, state: State) -> tuple[Distribution, State]:
        """The same after whatever came."""
        return Bernoulli(self.logits().expand(*y.shape)), state

    def arrays(self) -> dict[str, Tensor]:
        """How many sets there were, and in how many each element was."""
        return {"counts": self.counts}

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave; raises ValueError if it does not fit."""
        counts = arrays.get("counts")
        if (
            counts is None
            or counts.shape != self.counts.shape
            or counts.dtype != torch.int64
            or counts.min() < 0
            or counts.max() > counts[-1]
        ):
            raise ValueError("counts that do not fit")
        self.counts = counts
