"""A mixture of models is a model: the weighted mean of what its parts say, or of how they judge it.

    Mixture           p(y | past) = sum_i w_i p_i(y | past)                       of sequences
    ProductOfExperts  p(y | x) = prod_i p_i(y | x)^{a_i} / Z(x),   a_i >= 0       of labels
    MeanOfNormals     y = sum_i w_i m_i,  its spread refitted                     of values

Unlike any part alone it can lean on counts where counts are strong and on a network where they are
sparse. The weights are fitted on validation data by expectation-maximisation: each part is given
the share of every symbol that it explains, and the shares become the weights. Labels are multiplied
instead (Hinton 2002, stacked as in Wolpert 1992): in a mean of probabilities the part that is
surest of itself drowns the others, and naive Bayes is always sure; the powers first make each as
sure as it deserves, as a temperature does (Guo et al. 2017). Values are averaged with the weights
of least absolute error. The state is the tuple of the parts' states.
Shapes: M parts, N symbols, labels or values, K kinds of label.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.distributions.chains import Chain
from seriatim.distributions.numbers import Normal
from seriatim.distributions.symbols import Categorical, Distribution, Mixed
from seriatim.models.base import Model, State, asked

# a log-probability below this counts as this: what one part calls impossible may still be
LEAST = -60.0


ROUNDS = 200  # of expectation and maximisation, or of steps towards the least error
STEP = 2.0  # the first of these steps, in the logarithm of a weight


def of_least_error(said: Tensor, truth: Tensor) -> Tensor:
    """(M,) weights that sum to one, under which the weighted mean of (N, M) numbers has the least
    absolute error from (N,) true ones: exponentiated gradients (Kivinen and Warmuth 1997), of which
    the best is taken. What is nan is left out."""
    known = torch.isfinite(truth) & torch.isfinite(said).all(1)
    said, truth = said[known].double(), truth[known].double()
    best = weights = torch.full((said.shape[1],), 1 / said.shape[1], dtype=torch.float64)
    least = math.inf
    for turn in range(ROUNDS if len(truth) else 0):
        wrong = said @ weights - truth  # (N,)
        error = float(wrong.abs().mean())
        if error < least:
            least, best = error, weights
        slope = (wrong.sign()[:, None] * said).mean(0)  # (M,)
        slope = slope - (weights * slope).sum()
        size = float(slope.abs().max())
        if size == 0:
            break
        weights = torch.softmax(weights.log() - STEP / math.sqrt(turn + 1) * slope / size, 0)
        weights = weights.clamp(min=1e-9) / weights.clamp(min=1e-9).sum()
    return best


class Mixture(Model):
    """The weighted mean of what the parts say."""

    def __init__(self, parts: Sequence[Model]):
        self.members, self.vocabulary = list(parts), parts[0].vocabulary
        self.warm = max(part.warm for part in parts)
        self.ends = any(part.ends for part in parts)
        self.longest = min((part.longest for part in parts if part.longest), default=None)
        self.log_weights = torch.full(
            (len(self.parts),), -math.log(len(self.parts)), dtype=torch.float64
        )

    @property
    def parts(self) -> Sequence[Model]:
        """The models that are mixed."""
        return self.members

    def _mix(self, answers: Sequence[tuple[Distribution, State]]) -> tuple[Distribution, State]:
        distributions, states = zip(*answers, strict=True)
        return Mixed(distributions, self.log_weights), tuple(states)

    def start(self, batch: Batch) -> tuple[Distribution, State]:
        """What the parts expect first, mixed."""
        return self._mix([asked(part).start(batch) for part in self.parts])

    def extend(self, y: Tensor, state: State) -> tuple[Distribution, State]:
        """What the parts expect after each of y, mixed."""
        return self._mix(
            [asked(part).extend(y, inner) for part, inner in zip(self.parts, state, strict=True)]
        )

    def unroll(self, batch: Batch, state: State = None) -> tuple[Distribution, State]:
        """Each part in its own best way, mixed."""
        states = [None] * len(self.parts) if state is None else state
        return self._mix(
            [
                asked(part).unroll(batch, inner)
                for part, inner in zip(self.parts, states, strict=True)
            ]
        )

    def trace(self, batch: Batch) -> dict[str, Tensor]:
        """attention.0 (B, 1, T, P): what the parts that attend hear of the source, the mean over
        their heads, as each counts."""
        found = [
            [
                value
                for name, value in asked(part).trace(batch).items()
                if name.startswith("attention.")
            ]
            for part in self.parts
        ]
        heard = [
            (weight, each[-1].mean(1, keepdim=True))
            for weight, each in zip(self.weights(), found, strict=True)
            if each
        ]
        if not heard:
            return {}
        total = sum((weight * each for weight, each in heard), start=torch.zeros(()))
        return {"attention.0": total / sum(weight for weight, _ in heard)}

    def quantise(self) -> bool:
        """All parts that can be."""
        return any([part.quantise() for part in self.parts])

    def weigh(self, *opinions: Tensor) -> None:
        """Fit the weights by EM, from (N, M) log-probabilities of held-out symbols under each
        part."""
        (log_probs,) = opinions
        log_weights = torch.full(
            (log_probs.shape[1],), 1 / log_probs.shape[1], dtype=torch.float64
        ).log()
        possible = log_probs.double()[torch.isfinite(log_probs).any(1)]
        for _ in range(ROUNDS if len(possible) else 0):
            share = torch.softmax(possible + log_weights, 1)  # (N, M) who explains what
            log_weights = share.mean(0).log()
        self.log_weights = log_weights

    def weights(self) -> list[float]:
        """How much each part counts."""
        return self.log_weights.exp().tolist()

    def arrays(self) -> dict[str, Tensor]:
        """The weights, and the arrays of each part behind its number."""
        inner = {
            f"{i}.{name}": array
            for i, part in enumerate(self.parts)
            for name, array in part.arrays().items()
        }
        return {"log_weights": self.log_weights} | inner

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave; raises ValueError if it does not fit."""
        weights = arrays.get("log_weights")
        if (
            weights is None
            or weights.shape != self.log_weights.shape
            or weights.dtype != torch.float64
        ):
            raise ValueError(f"a mixture of {len(self.parts)} needs as many log_weights")
        self.log_weights = weights
        for i, part in enumerate(self.parts):
            part.load_arrays(
                {
                    name[len(f"{i}.") :]: array
                    for name, array in arrays.items()
                    if name.startswith(f"{i}.")
                }
            )

    def size(self) -> int:
        """Number of learned values, those of the parts and the weights."""
        return sum(part.size() for part in self.parts) + len(self.parts)


class ProductOfExperts(Mixture):
    """Of labels, or of tags one by one. Unlike a mixture it multiplies what the parts say."""

    def __init__(self, parts: Sequence[Model]):
        super().__init__(parts)
        many = len(self.parts)  # equal powers, unless they are fitted: the geometric mean
        self.log_weights = torch.full((many,), -math.log(many), dtype=torch.float64)

    def _mix(self, answers: Sequence[tuple[Distribution, State]]) -> tuple[Distribution, State]:
        distributions, states = zip(*answers, strict=True)
        said = [
            each.log_marginals() if isinstance(each, Chain) else each.log_probs()
            for each in distributions
        ]
        return self.pooled(torch.stack(said, -2).double()), tuple(states)

    def pooled(self, said: Tensor) -> Categorical:
        """(..., M, K) log-probabilities -> (..., K) together."""
        return Categorical(
            torch.einsum("...mk,m->...k", said.clamp(min=LEAST), self.log_weights.exp())
        )

    def weigh(self, *opinions: Tensor) -> None:
        """The powers under which (N,) held-out labels are most probable, from (N, M, K)
        log-probabilities. The loss is convex in them; a hair of weight on their squares keeps parts
        that say the same from running apart."""
        from scipy.optimize import minimize  # type: ignore[import-untyped]  # has no stubs

        given, y = opinions
        said, truth = given.double().clamp(min=LEAST), y.long()
        start = np.full(said.shape[1], 1 / said.shape[1])
        known = said[torch.arange(len(y)), :, truth]  # (N, M)

        def loss(powers: np.ndarray) -> tuple[float, np.ndarray]:
            """(M,) powers -> the mean loss, and its gradient."""
            together = torch.einsum("nmk,m->nk", said, torch.from_numpy(powers)).log_softmax(1)
            slope = torch.einsum("nk,nmk->nm", together.exp(), said) - known
            worth = together.gather(1, truth[:, None]).mean()
            return float(0.5e-3 * (powers**2).sum() - worth), slope.mean(0).numpy() + 1e-3 * powers

        found = (
            minimize(loss, start, jac=True, bounds=[(1e-6, 10)] * len(start)).x
            if len(truth)
            else start
        )
        self.log_weights = torch.from_numpy(found).log()


class MeanOfNormals(Mixture):
    """Of values. Unlike a mixture of densities it says one normal: the weighted mean of the means,
    with the spread of the mixture, times a factor that was found on validation data."""

    def __init__(self, parts: Sequence[Model]):
        super().__init__(parts)
        self.log_scale = torch.zeros(1, dtype=torch.float64)

    def _mix(self, answers: Sequence[tuple[Distribution, State]]) -> tuple[Distribution, State]:
        distributions, states = zip(*answers, strict=True)
        normals = [each for each in distributions if isinstance(each, Normal)]
        if len(normals) < len(distributions):
            raise TypeError("values are mixed of normal distributions")
        means, deviations = (
            torch.stack([each.parameters[i].double() for each in normals], -1) for i in (0, 1)
        )  # (..., M) both
        mean, deviation = self.pooled(means, deviations)
        return Normal(mean, deviation * self.log_scale.exp()), tuple(states)

    def pooled(self, means: Tensor, deviations: Tensor) -> tuple[Tensor, Tensor]:
        """(..., M) means and deviations -> (...) those of the mixture."""
        weights = self.log_weights.exp()
        mean = means @ weights
        variance = (deviations**2 + (means - mean[..., None]) ** 2) @ weights
        return mean, variance.sqrt()

    def weigh(self, *opinions: Tensor) -> None:
        """The weights of least absolute error, from (N, M) means and (N, M) deviations of (N,) held
        values; then the factor under which these are likeliest."""
        means, deviations, truth = (each.double() for each in opinions)
        self.log_weights = of_least_error(means, truth).log()
        mean, deviation = self.pooled(means, deviations)
        squared = ((truth - mean) / deviation).square().mean()
        self.log_scale = (squared.clamp(min=1e-8).log() / 2).reshape(1)
        if not torch.isfinite(self.log_scale):
            self.log_scale = torch.zeros(1, dtype=torch.float64)

    def arrays(self) -> dict[str, Tensor]:
        """Those of a mixture, and the factor."""
        return {"log_scale": self.log_scale} | super().arrays()

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave; raises ValueError if it does not fit."""
        scale = arrays.get("log_scale")
        if scale is None or scale.shape != (1,) or scale.dtype != torch.float64:
            raise ValueError("a mean of values needs one log_scale")
        super().load_arrays(arrays)
        self.log_scale = scale

    def size(self) -> int:
        """Number of learned values, the factor too."""
        return super().size() + 1
