"""Models that count: uniform, unigram and Markov.

    p(w | c) = (#(c w) + k) / (#(c) + k V)          c: the last `order` symbols, k: the pseudo-count

With k = 0 these are relative frequencies. A context never seen has none, and with k > 0 the formula would
forget all and say 1 / V; the answer is instead that of its longest seen ending (the oldest symbol is
dropped first), in the last resort the unigram. The state is the last `order` symbols.
"""
from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.config import MarkovOptions, UniformOptions, UnigramOptions
from seriatim.data.sequences import Field
from seriatim.distributions import Categorical, Distribution
from seriatim.models.base import Model, State
from seriatim.models.counts import Counts


class Uniform(Model):
    """Below the ladder: every symbol is equally likely, whatever came before. The state is empty."""

    def __init__(self, vocabulary: int, options: UniformOptions):
        self.vocabulary = vocabulary

    def start(self, batch: Batch) -> tuple[Distribution, State]:
        state = torch.zeros(len(batch.x), 0)
        return Categorical(torch.zeros(len(batch.x), self.vocabulary)), state

    def step(self, y: Tensor, state: State) -> tuple[Distribution, State]:
        return Categorical(torch.zeros(len(y), self.vocabulary)), state

    def count(self, ids: Field, stop: bool) -> None:
        """There is nothing to count."""

    def arrays(self) -> dict[str, Tensor]:
        return {}

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        if arrays:
            raise ValueError(f"a uniform model has no arrays, received {sorted(arrays)}")


class Ngram(Model):
    """A model that looks at the last `reach` symbols and no further. The state is these symbols, START before the first."""

    vocabulary: int
    reach: int

    def log_prob(self, contexts: np.ndarray, y: np.ndarray) -> np.ndarray:
        """(M, reach) contexts, (M,) symbols -> (M,): touches only the cells asked for."""
        raise TypeError(f"{type(self).__name__} does not say")

    def log_probs(self, contexts: np.ndarray) -> np.ndarray:
        """(M, reach) contexts -> (M, V)."""
        raise TypeError(f"{type(self).__name__} does not say")

    def start(self, batch: Batch) -> tuple[Distribution, State]:
        begin = torch.full((len(batch.x), self.reach), self.vocabulary)           # START everywhere
        seen = torch.cat([begin, batch.x], 1)                                     # (B, reach + P)
        places = batch.x_lengths[:, None] + torch.arange(self.reach)              # (B, reach)
        state = seen.gather(1, places)
        return Counted(self, state), state

    def extend(self, y: Tensor, state: State) -> tuple[Distribution, State]:
        seen = torch.cat([state, y], 1)                                           # (B, reach + T)
        contexts = seen[:, 1:].unfold(1, self.reach, 1) if self.reach else seen[..., None][..., :0]  # (B, T, reach)
        return Counted(self, contexts), seen[:, seen.shape[1] - self.reach:]


class Markov(Ngram):
    """What followed the last `order` symbols in training."""

    def __init__(self, vocabulary: int, options: MarkovOptions):
        self.vocabulary, self.reach, self.add = vocabulary, options.order, options.add
        nothing = [np.zeros(0, np.int64)] * (self.reach + 1)
        self.counts = Counts(vocabulary + 1, nothing, nothing)

    def count(self, ids: Field, stop: bool) -> None:
        """Learn: count every n-gram of the training data."""
        self.counts = Counts.of(ids, self.reach + 1, self.vocabulary, stop)

    def log_prob(self, contexts: np.ndarray, y: np.ndarray) -> np.ndarray:
        node, level = self.longest(contexts)
        count, total = np.zeros(len(y)), np.zeros(len(y))
        for depth in np.unique(level):
            rows = level == depth
            total[rows] = self.counts.total(depth, node[rows])
            count[rows] = self.counts.count(depth + 1, self.counts.child(depth, node[rows], y[rows]))
        return self.smooth(count, total)

    def log_probs(self, contexts: np.ndarray) -> np.ndarray:
        node, level = self.longest(contexts)
        count = np.zeros((len(contexts), self.vocabulary))
        for depth in np.unique(level):
            rows = level == depth
            count[rows] = self.counts.rows(depth, node[rows])
        return self.smooth(count, count.sum(-1, keepdims=True))

    def longest(self, contexts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The node that answers for each context, and its level: the longest ending ever seen."""
        node, level = self.counts.find(contexts), np.full(len(contexts), self.reach)
        lost = np.arange(len(contexts))
        for depth in range(self.reach - 1, -1, -1):
            lost = lost[self.counts.total(depth + 1, node[lost]) == 0]
            node[lost] = self.counts.find(contexts[lost, self.reach - depth:])
            level[lost] = depth
        return node, level

    def smooth(self, count: np.ndarray, total: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.log(count + self.add) - np.log(total + self.add * self.vocabulary)

    def trace(self, batch: Batch) -> dict[str, Tensor]:
        """The order that answered at each place of y."""
        contexts = self.unroll(batch)[0].contexts
        level = self.longest(contexts.reshape(-1, self.reach).numpy())[1]
        return {"order": torch.from_numpy(level).reshape(batch.y.shape)}

    def arrays(self) -> dict[str, Tensor]:
        levels = enumerate(zip(self.counts.keys, self.counts.counts, strict=True), 1)
        return {f"{name}.{n}": torch.from_numpy(array) for n, level in levels for name, array in zip(("keys", "counts"), level)}

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        levels = range(1, self.reach + 2)
        wanted = {f"{name}.{n}" for n in levels for name in ("keys", "counts")}
        if set(arrays) != wanted or any(a.dtype != torch.int64 or a.dim() != 1 for a in arrays.values()):
            raise ValueError(f"a Markov model of order {self.reach} has the arrays {sorted(wanted)}")
        keys, counts = ([arrays[f"{name}.{n}"].numpy() for n in levels] for name in ("keys", "counts"))
        nodes = 1
        for key, count in zip(keys, counts, strict=True):
            if len(key) != len(count) or np.any(np.diff(key) <= 0) or np.any(count < 0) or np.any((key < 0) | (key >= nodes * (self.vocabulary + 1))):
                raise ValueError("counts and keys do not belong together")
            nodes = len(key)
        self.counts = Counts(self.vocabulary + 1, keys, counts)

    def size(self) -> int:
        return int(np.count_nonzero(self.counts.counts[-1]))


class Unigram(Markov):
    """Markov of order 0: unlike Uniform, frequent symbols are likely."""

    def __init__(self, vocabulary: int, options: UnigramOptions):
        super().__init__(vocabulary, MarkovOptions(order=0, add=options.add))


class Counted(Distribution):
    """What a count model says after given contexts, looked up when asked."""

    def __init__(self, model: Ngram, contexts: Tensor):
        self.model, self.contexts = model, contexts                               # (..., reach)

    def log_prob(self, y: Tensor) -> Tensor:
        contexts = self.contexts.reshape(math.prod(y.shape), self.contexts.shape[-1])
        return torch.from_numpy(self.model.log_prob(contexts.numpy(), y.reshape(-1).numpy())).reshape(y.shape)

    def log_probs(self) -> Tensor:
        shape = self.contexts.shape[:-1]
        contexts = self.contexts.reshape(math.prod(shape), self.contexts.shape[-1])
        return torch.from_numpy(self.model.log_probs(contexts.numpy())).reshape(*shape, self.model.vocabulary)

    def __getitem__(self, index) -> Counted:
        return Counted(self.model, self.contexts[index])

    @classmethod
    def concatenate(cls, parts: list[Counted], axis: int) -> Counted:
        return cls(parts[0].model, torch.cat([part.contexts for part in parts], axis))
