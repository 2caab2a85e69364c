"""What models return: distributions that can be asked for a log-probability, a sample or the mode.

A distribution may be lazy: `log_prob(y)` computes only what is asked for, `log_probs()` the whole rows
that sampling and beam search need. Indexing and `concatenate` work on the leading (rows, time) axes.
Shapes: ... any leading axes, V symbols.
"""
from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F


class Distribution:
    """The interface."""

    def log_prob(self, y: Tensor) -> Tensor:
        """(...) outcomes -> (...) natural-log probabilities."""
        return self.log_probs().gather(-1, y[..., None])[..., 0]

    def log_probs(self) -> Tensor:
        """(..., V) natural-log probabilities of all symbols."""
        raise TypeError(f"{type(self).__name__} has no finite set of outcomes")

    def __getitem__(self, index) -> Distribution:
        raise TypeError(f"{type(self).__name__} cannot be indexed")

    @classmethod
    def concatenate(cls, parts: Sequence[Distribution], axis: int) -> Distribution:
        raise TypeError(f"{cls.__name__} cannot be concatenated")

    def mode(self) -> Tensor:
        return self.log_probs().argmax(-1)

    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        p = self.log_probs().exp()
        return torch.multinomial(p.reshape(-1, p.shape[-1]), 1, generator=generator).reshape(p.shape[:-1])


class Categorical(Distribution):
    """One symbol of V: softmax of the logits."""

    def __init__(self, logits: Tensor):
        self.logits = logits                                           # (..., V)

    def log_prob(self, y: Tensor) -> Tensor:
        flat = F.cross_entropy(self.logits.reshape(-1, self.logits.shape[-1]), y.reshape(-1), reduction="none")
        return -flat.reshape(y.shape)

    def log_probs(self) -> Tensor:
        return F.log_softmax(self.logits, -1)

    def __getitem__(self, index) -> Categorical:
        return Categorical(self.logits[index])

    @classmethod
    def concatenate(cls, parts: Sequence[Categorical], axis: int) -> Categorical:
        return cls(torch.cat([part.logits for part in parts], axis))


class Mixed(Distribution):
    """p(y) = sum_i w_i p_i(y), as lazy as its parts."""

    def __init__(self, parts: Sequence[Distribution], log_weights: Tensor):
        self.parts, self.log_weights = list(parts), log_weights        # (parts,)

    def _mix(self, columns: list[Tensor]) -> Tensor:
        stacked = torch.stack([column.double() for column in columns], -1)
        return torch.logsumexp(stacked + self.log_weights.double(), -1)

    def log_prob(self, y: Tensor) -> Tensor:
        return self._mix([part.log_prob(y) for part in self.parts])

    def log_probs(self) -> Tensor:
        return self._mix([part.log_probs() for part in self.parts])

    def __getitem__(self, index) -> Mixed:
        return Mixed([part[index] for part in self.parts], self.log_weights)

    @classmethod
    def concatenate(cls, parts: Sequence[Mixed], axis: int) -> Mixed:
        columns = zip(*(mixed.parts for mixed in parts), strict=True)
        return cls([type(column[0]).concatenate(column, axis) for column in columns], parts[0].log_weights)
