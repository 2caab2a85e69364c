"""A hidden Markov model: symbols are said by states that are never seen.

    p(x_1 .. x_T) = sum over all s of  begin[s_1] emission[s_1, x_1] product_t transition[s_t-1, s_t] emission[s_t, x_t]

Unlike an n-gram, which knows the last few symbols and nothing else, the belief about the state sums up the whole past, in as many numbers
as there are states; it is all that is kept. The states are found by expectation and maximisation (Baum et al. 1970): count how often each
step and each symbol of each state is expected, then make relative frequencies of these counts; the data never become less probable.
Expected counts are the gradient of log p(x) with respect to the logarithms of the probabilities (Eisner 2016), which a chain has.
Shapes: B rows, T time, S states, V symbols.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from seriatim.batches import Batch, buckets, pad
from seriatim.chains import Chain
from seriatim.codecs.symbols import STOP
from seriatim.config import HiddenOptions
from seriatim.data.sequences import Field
from seriatim.distributions import Distribution
from seriatim.models.base import Model, State
from seriatim.models.counts import Progress
from seriatim.models.endings import taken

PIECE = 256                                # symbols after which a sequence is cut for learning, as if it began anew
NEVER = 1e-50                              # what is expected less often than this does not happen
CELLS = 1 << 21                            # places x states that are looked at together


class HiddenMarkov(Model):
    """The state is the belief: p(hidden state | all symbols so far), (B, S), before the next symbol."""

    def __init__(self, vocabulary: int, options: HiddenOptions):
        self.vocabulary, self.options = vocabulary, options
        states, rng = options.states, np.random.default_rng(options.seed)
        self.begin = torch.from_numpy(rng.dirichlet(np.ones(states)))                        # (S,)
        self.transition = torch.from_numpy(rng.dirichlet(np.ones(states), states))           # (S, S)
        self.emission = torch.from_numpy(rng.dirichlet(np.ones(vocabulary), states))         # (S, V)

    # -- learning
    def counting(self, ids: Field, stop: bool) -> Iterator[Progress]:
        """Sweep over the data until that gains little."""
        batches, before = self.cut(ids, stop), np.inf
        symbols = sum(int(lengths.sum()) for _, lengths in batches)
        for sweep in range(1, self.options.sweeps + 1 if symbols else 1):
            log_prob, counts = self.expect(batches)
            self.maximise(*counts)
            nats = -log_prob / symbols
            yield {"words": f"sweep {sweep}: {nats:.4f} nats per symbol", "share": sweep / self.options.sweeps}
            if before - nats < self.options.tolerance:
                break
            before = nats
        if symbols:
            self.maximise(*counts[:2], counts[2] + self.options.add)

    def cut(self, ids: Field, stop: bool) -> list[tuple[Tensor, Tensor]]:
        """(B, T) symbols and (B,) lengths: pieces of similar length together."""
        rows = [np.append(ids.row(s), STOP) if stop else ids.row(s) for s in range(len(ids))]
        pieces = [row[begin:begin + PIECE] for row in rows for begin in range(0, len(row), PIECE)]
        padded = (pad([pieces[i] for i in group]) for group in buckets(np.array([*map(len, pieces)], np.int64), CELLS // self.options.states))
        return [(x, mask.sum(1)) for x, mask in padded]

    def expect(self, batches: Sequence[tuple[Tensor, Tensor]]) -> tuple[float, list[Tensor]]:
        """The log-probability of the data, and how often each beginning, step and symbol is expected, shaped as the probabilities."""
        logs = [table.log().requires_grad_() for table in (self.begin, self.transition, self.emission)]
        begin, transition, emission = logs
        total = 0.0
        for x, lengths in batches:
            found = Chain(F.embedding(x, emission.t()), transition, begin, torch.zeros_like(begin), lengths).log_partition().sum()
            found.backward()
            total += found.item()
        return total, [table.grad for table in logs]

    def maximise(self, begin: Tensor, transition: Tensor, emission: Tensor) -> None:
        """Relative frequencies of counts; a state that was never visited stays as it is."""
        self.begin, self.transition, self.emission = (
            torch.where(counts.sum(-1, keepdim=True) > 0, F.threshold(counts / counts.sum(-1, keepdim=True), NEVER, 0.0), table)
            for counts, table in ((begin, self.begin), (transition, self.transition), (emission, self.emission)))

    # -- answering
    def start(self, batch: Batch) -> tuple[Distribution, State]:
        belief = self.begin.expand(len(batch.x), -1)
        for t in range(batch.x.shape[1]):
            belief = torch.where(t < batch.x_lengths[:, None], self.after(belief, batch.x[:, t]), belief)
        return Emitted(belief, self.emission), belief

    def step(self, y: Tensor, state: State) -> tuple[Distribution, State]:
        belief = self.after(state, y)
        return Emitted(belief, self.emission), belief

    def after(self, belief: Tensor, y: Tensor) -> Tensor:
        """(B, S) belief, (B,) symbols -> (B, S). A symbol that no state says tells nothing."""
        joint = belief * self.emission[:, y].t()
        total = joint.sum(1, keepdim=True)
        return torch.where(total > 0, joint / total, belief) @ self.transition

    def trace(self, batch: Batch) -> dict[str, Tensor]:
        """(B, T, S) the belief before each place of y."""
        return {"belief": self.unroll(batch)[0].belief}

    # -- keeping
    def arrays(self) -> dict[str, Tensor]:
        return {"begin": self.begin, "transition": self.transition, "emission": self.emission}

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        left = dict(arrays)
        tables = [taken(left, name, torch.float64, *table.shape) for name, table in self.arrays().items()]
        if left or any((table < 0).any() or (table.sum(-1) - 1).abs().max() > 1e-6 for table in tables):
            raise ValueError("the arrays are not the probabilities of a hidden Markov model")
        self.begin, self.transition, self.emission = tables


class Emitted(Distribution):
    """p(x) = sum_s belief[s] emission[s, x], computed when asked."""

    def __init__(self, belief: Tensor, emission: Tensor):
        self.belief, self.emission = belief, emission                        # (..., S), (S, V)

    def log_prob(self, y: Tensor) -> Tensor:
        return (self.belief * F.embedding(y, self.emission.t())).sum(-1).log()

    def log_probs(self) -> Tensor:
        return (self.belief @ self.emission).log()

    def __getitem__(self, index) -> Emitted:
        index = index if isinstance(index, tuple) else (index,)
        return Emitted(self.belief[(*index, ..., slice(None))], self.emission)

    @classmethod
    def concatenate(cls, parts: Sequence[Emitted], axis: int) -> Emitted:
        return cls(torch.cat([part.belief for part in parts], axis), parts[0].emission)
