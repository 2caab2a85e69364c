"""Models of sequences whose every step is a set: what comes next is a probability for each element.

    x_t = sum of E[m] over m in S_{t-1},   h = blocks(x),   p(m in S_t | S_1 .. S_{t-1}) = sigmoid(W h_t + b)_m

Unlike `Network`, whose softmax chooses one of V symbols, here V coins are thrown at every step,
independent of each other once the past is known (the RNN with which Boulanger-Lewandowski et al.
2012 begin, on piano rolls). START is one more element, V, in a set of its own. Several models answer
together by a product of their coins, logit p = sum_i a_i logit p_i. Shapes: B rows, T time, D width,
V elements, M parts, N sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from seriatim.batches import Batch
from seriatim.data.sequences import Field
from seriatim.distributions.symbols import Bernoulli, Distribution
from seriatim.models.base import Model, State
from seriatim.models.mixture import LEAST, ProductOfExperts
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


class PooledCoins(ProductOfExperts):
    """Several models of sets together. Unlike labels, of which one is true, every element has a coin
    of its own; one power of each part holds for all of them."""

    def _mix(self, answers: Sequence[tuple[Distribution, State]]) -> tuple[Distribution, State]:
        distributions, states = zip(*answers, strict=True)
        coins = [each for each in distributions if isinstance(each, Bernoulli)]
        if len(coins) < len(distributions):
            raise TypeError("sets are mixed of coins")
        said = torch.stack([each.logits.double() for each in coins], -1)  # (..., V, M)
        pooled = said.clamp(LEAST, -LEAST) @ self.log_weights.exp()
        return Bernoulli(pooled.float()), tuple(states)

    def weigh(self, *opinions: Tensor) -> None:
        """The powers under which (N, V) held-out sets are most probable, from (N, M, V) logits. The
        loss is convex in them; a hair of weight on their squares keeps parts that say the same from
        running apart."""
        from scipy.optimize import minimize  # type: ignore[import-untyped]  # has no stubs

        given, sets = opinions
        said, truth = given.double().clamp(LEAST, -LEAST), sets.double()
        start = np.full(said.shape[1], 1 / said.shape[1])

        def loss(powers: np.ndarray) -> tuple[float, np.ndarray]:
            """(M,) powers -> the mean loss of an element, and its gradient."""
            logits = torch.einsum("nmv,m->nv", said, torch.from_numpy(powers))
            worth = F.binary_cross_entropy_with_logits(logits, truth)
            slope = torch.einsum("nv,nmv->m", torch.sigmoid(logits) - truth, said) / truth.numel()
            return float(worth) + 0.5e-4 * float((powers**2).sum()), slope.numpy() + 1e-4 * powers

        found = (
            minimize(loss, start, jac=True, bounds=[(1e-6, 10)] * len(start)).x
            if len(truth)
            else start
        )
        self.log_weights = torch.from_numpy(found).log()
