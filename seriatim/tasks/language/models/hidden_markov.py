"""A hidden Markov model: symbols are said by states that are never seen.

    p(x_1 .. x_T) = sum over all s of
        begin[s_1] emission[s_1, x_1] product_t transition[s_t-1, s_t] emission[s_t, x_t]

Unlike an n-gram, which knows the last few symbols and nothing else, the belief about the state sums
up the whole past, in as many numbers as there are states; it is all that is kept. The states are
found by expectation and maximisation (Baum et al. 1970): count how often each beginning, step and
symbol is expected, then make relative frequencies of these counts; the data never become less
probable. Where this ends depends on where it begins, so it begins at several places and goes on
from the best. All messages are scaled to sum to one:

    ahead_t ~ (ahead_t-1 transition) * emission[:, x_t]
        behind_t-1 ~ transition (emission[:, x_t] * behind_t)

Shapes: B rows, T time, S states, V symbols.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from seriatim.batches import Batch, buckets, pad
from seriatim.codecs.symbols import STOP
from seriatim.data.sequences import Field
from seriatim.distributions.symbols import Distribution
from seriatim.models.base import Model, State
from seriatim.models.ngrams.counts import Progress, taken
from seriatim.tasks.language.options import HiddenOptions

PIECE = 256  # symbols after which a sequence is cut for learning, as if it began anew


CELLS = 1 << 21  # places x states that are looked at together


TRIAL, TRIAL_SWEEPS = 20_000, 15  # symbols that a start is tried on, and how often


UNTRIED = 0.01  # pseudo-count of symbols meanwhile: the trial may not have them


NEVER = 1e-50  # what is less probable than this does not happen


Pieces = list[tuple[Tensor, Tensor]]  # (B, T) symbols and (B,) lengths, of similar length together


class HiddenMarkovModel(Model):
    """The state is the belief: p(hidden state | all symbols so far), (B, S), before the next
    symbol."""

    def __init__(self, vocabulary: int, options: HiddenOptions):
        self.vocabulary, self.options = vocabulary, options
        self.scatter(0)

    def scatter(self, start: int) -> None:
        """Draw all probabilities anew; every other start prefers to stay where it is."""
        states, rng, stay = (
            self.options.states,
            np.random.default_rng([self.options.seed, start]),
            0.5 * (start % 2),
        )
        self.begin = torch.from_numpy(rng.dirichlet(np.ones(states)))  # (S,)
        self.transition = torch.from_numpy(
            stay * np.eye(states) + (1 - stay) * rng.dirichlet(np.ones(states), states)
        )  # (S, S)
        self.emission = torch.from_numpy(rng.dirichlet(np.ones(self.vocabulary), states))  # (S, V)

    # -- learning
    def counting(self, ids: Field, stop: bool) -> Iterator[Progress]:
        """Try several starts on some of the data, then sweep over all of it until that gains
        little."""
        rows = (np.append(ids.row(s), STOP) if stop else ids.row(s) for s in range(len(ids)))
        pieces = [row[begin : begin + PIECE] for row in rows for begin in range(0, len(row), PIECE)]
        if not pieces:
            return
        yield from self.starting(self.grouped(pieces[:: 1 + sum(map(len, pieces)) // TRIAL]))
        everything, before = self.grouped(pieces), np.inf
        for sweep in range(1, self.options.sweeps + 1):
            log_prob, counts = self.expect(everything)
            self.maximise(*counts)
            nats = -log_prob / sum(map(len, pieces))
            yield {
                "words": f"sweep {sweep}: {nats:.4f} nats per symbol",
                "share": sweep / self.options.sweeps,
            }
            if before - nats < self.options.tolerance:
                break
            before = nats
        begin, steps, symbols = counts
        self.maximise(begin, steps, symbols + self.options.add)

    def starting(self, some: Pieces) -> Iterator[Progress]:
        """Go to the start from which the data are the most probable after a few sweeps."""
        tried = []
        for start in range(self.options.starts):
            self.scatter(start)
            for _ in range(TRIAL_SWEEPS):
                log_prob, counts = self.expect(some)
                begin, steps, symbols = counts
                self.maximise(begin, steps, symbols + UNTRIED)
            tried.append((log_prob, self.arrays()))
            yield {"words": f"start {start + 1}", "share": (start + 1) / self.options.starts}
        self.load_arrays(max(tried, key=lambda each: each[0])[1])

    def grouped(self, pieces: list[np.ndarray]) -> Pieces:
        """Pieces of similar length side by side."""
        groups = buckets(np.array([*map(len, pieces)], np.int64), CELLS // self.options.states)
        return [
            (x, mask.sum(1)) for x, mask in (pad([pieces[i] for i in group]) for group in groups)
        ]

    def expect(self, pieces: Pieces) -> tuple[float, tuple[Tensor, Tensor, Tensor]]:
        """The log-probability of the data, and how often each beginning, step and symbol is
        expected: (S,), (S, S), (S, V)."""
        total, begin, steps, symbols = (
            0.0,
            torch.zeros_like(self.begin),
            torch.zeros_like(self.transition),
            torch.zeros_like(self.emission).t().contiguous(),
        )
        for x, lengths in pieces:
            inside = torch.arange(x.shape[1])[:, None] < lengths  # (T, B)
            said = torch.where(
                inside[..., None], self.emission.t()[x.t()], 1.0
            )  # (T, B, S): behind the end nothing is
            ahead, scale = self.ahead(said)
            said /= scale
            behind = self.behind(said)
            later = said.mul_(behind).masked_fill_(~inside[..., None], 0.0)[1:]
            steps += ahead[:-1].flatten(0, 1).t() @ later.flatten(0, 1)
            states = ahead.mul_(behind)  # (T, B, S) p(state | all of the row)
            begin += states[0].sum(0)
            symbols.index_add_(0, x.t()[inside], states[inside])
            total += scale.log().sum().item()
        return total, (begin, steps * self.transition, symbols.t())

    def ahead(self, said: Tensor) -> tuple[Tensor, Tensor]:
        """(T, B, S) probability of each symbol in each state -> (T, B, S) p(state | symbols so
        far), (T, B, 1) p(symbol | those before)."""
        found, scale = torch.empty_like(said), torch.empty_like(said[..., :1])
        for t in range(len(said)):
            torch.mul(said[t], found[t - 1] @ self.transition if t else self.begin, out=found[t])
            torch.sum(found[t], 1, keepdim=True, out=scale[t])
            found[t] /= scale[t]
        return found, scale

    def behind(self, said: Tensor) -> Tensor:
        """(T, B, S) the same, scaled -> (T, B, S) p(later symbols | state) on the same scale."""
        found = torch.ones_like(said)
        for t in range(len(said) - 1, 0, -1):
            torch.mm(said[t] * found[t], self.transition.t(), out=found[t - 1])
        return found

    def maximise(self, begin: Tensor, transition: Tensor, emission: Tensor) -> None:
        """Relative frequencies of counts; a state that was never visited stays as it is."""
        self.begin, self.transition, self.emission = (
            torch.where(
                counts.sum(-1, keepdim=True) > 0,
                F.threshold(counts / counts.sum(-1, keepdim=True), NEVER, 0.0),
                table,
            ).contiguous()  # as a file keeps it: products of other layouts differ in the last bit
            for counts, table in (
                (begin, self.begin),
                (transition, self.transition),
                (emission, self.emission),
            )
        )

    # -- answering
    def start(self, batch: Batch) -> tuple[Distribution, State]:
        """What comes first, by the belief in each state after the prompt."""
        belief = self.begin.expand(len(batch.x), -1)
        for t in range(batch.x.shape[1]):
            belief = torch.where(
                t < batch.x_lengths[:, None], self.after(belief, batch.x[:, t]), belief
            )
        return Emitted(belief, self.emission), belief

    def step(self, y: Tensor, state: State) -> tuple[Distribution, State]:
        """What follows y, by the belief after it."""
        belief = self.after(state, y)
        return Emitted(belief, self.emission), belief

    def after(self, belief: Tensor, y: Tensor) -> Tensor:
        """(B, S) belief, (B,) symbols -> (B, S). A symbol that no state says tells nothing."""
        joint = belief * self.emission[:, y].t()
        total = joint.sum(1, keepdim=True)
        return torch.where(total > 0, joint / total, belief) @ self.transition

    def trace(self, batch: Batch) -> dict[str, Tensor]:
        """(B, T, S) the belief before each place of y."""
        found = self.unroll(batch)[0]
        return {"belief": found.belief} if isinstance(found, Emitted) else {}

    # -- keeping
    def arrays(self) -> dict[str, Tensor]:
        """The three tables."""
        return {"begin": self.begin, "transition": self.transition, "emission": self.emission}

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave; raises ValueError if it does not fit."""
        left = dict(arrays)
        tables = [
            taken(left, name, torch.float64, *table.shape) for name, table in self.arrays().items()
        ]
        if left or any(
            (table < 0).any() or (table.sum(-1) - 1).abs().max() > 1e-6 for table in tables
        ):
            raise ValueError("the arrays are not the probabilities of a hidden Markov model")
        self.begin, self.transition, self.emission = tables


class Emitted(Distribution):
    """p(x) = sum_s belief[s] emission[s, x], computed when asked."""

    def __init__(self, belief: Tensor, emission: Tensor):
        self.belief, self.emission = belief, emission  # (..., S), (S, V)

    def log_prob(self, y: Tensor) -> Tensor:
        """(...,) log-probability of symbols."""
        return (self.belief * F.embedding(y, self.emission.t())).sum(-1).log()

    def log_probs(self) -> Tensor:
        """(..., V) of all symbols."""
        return (self.belief @ self.emission).log()

    def __getitem__(self, index) -> Emitted:
        index = index if isinstance(index, tuple) else (index,)
        return Emitted(self.belief[(*index, ..., slice(None))], self.emission)

    @classmethod
    def concatenate(cls, parts: Sequence[Emitted], axis: int) -> Emitted:  # type: ignore[override]
        """Several side by side; the emissions are the same."""
        return cls(torch.cat([part.belief for part in parts], axis), parts[0].emission)
