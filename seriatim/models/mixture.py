"""A mixture of models is a model: the weighted mean of what its parts say.

    p(y | past) = sum_i w_i p_i(y | past)

Unlike any part alone it can lean on counts where counts are strong and on a network where they are
sparse. The weights are fitted on validation data by expectation-maximisation: each part is given the
share of every symbol that it explains, and the shares become the weights. The state is the tuple of the
parts' states. Shapes: M parts, N symbols.
"""
from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.chains import Chain
from seriatim.distributions import Categorical, Distribution, Mixed
from seriatim.models.base import Model, State


class Mixture(Model):
    def __init__(self, parts: Sequence[Model]):
        self.parts, self.vocabulary = list(parts), parts[0].vocabulary
        self.warm = max(part.warm for part in parts)
        self.log_weights = torch.full((len(self.parts),), -math.log(len(self.parts)), dtype=torch.float64)

    def _mix(self, answers: Sequence[tuple[Distribution, State]]) -> tuple[Distribution, State]:
        distributions, states = zip(*answers, strict=True)
        single = [Categorical(each.log_marginals()) if isinstance(each, Chain) else each for each in distributions]       # tags one by one
        return Mixed(single, self.log_weights), tuple(states)

    def start(self, batch: Batch) -> tuple[Distribution, State]:
        return self._mix([part.start(batch) for part in self.parts])

    def extend(self, y: Tensor, state: State) -> tuple[Distribution, State]:
        return self._mix([part.extend(y, inner) for part, inner in zip(self.parts, state, strict=True)])

    def unroll(self, batch: Batch, state: State = None) -> tuple[Distribution, State]:
        states = [None] * len(self.parts) if state is None else state
        return self._mix([part.unroll(batch, inner) for part, inner in zip(self.parts, states, strict=True)])

    def shrink(self) -> None:
        for part in self.parts:
            part.shrink()

    def weigh(self, log_probs: Tensor, rounds: int = 200) -> None:
        """Fit the weights by EM, from (N, M) log-probabilities of held-out symbols under each part."""
        log_weights = torch.full((log_probs.shape[1],), 1 / log_probs.shape[1], dtype=torch.float64).log()
        possible = log_probs.double()[torch.isfinite(log_probs).any(1)]
        for _ in range(rounds if len(possible) else 0):
            share = torch.softmax(possible + log_weights, 1)                        # (N, M) who explains what
            log_weights = share.mean(0).log()
        self.log_weights = log_weights

    def arrays(self) -> dict[str, Tensor]:
        inner = {f"{i}.{name}": array for i, part in enumerate(self.parts) for name, array in part.arrays().items()}
        return {"log_weights": self.log_weights} | inner

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        weights = arrays.get("log_weights")
        if weights is None or weights.shape != self.log_weights.shape or weights.dtype != torch.float64:
            raise ValueError(f"a mixture of {len(self.parts)} needs as many log_weights")
        self.log_weights = weights
        for i, part in enumerate(self.parts):
            part.load_arrays({name[len(f"{i}."):]: array for name, array in arrays.items() if name.startswith(f"{i}.")})

    def size(self) -> int:
        return sum(part.size() for part in self.parts) + len(self.parts)
