"""A value for a sequence, without gradients: the floor, and the strong baseline that networks have
to beat.

    average    y ~ normal(mean, deviation) of the training values, whatever the sequence
    ridge      y ~ normal(b + x . w, s),   w minimises  strength * sum (y - b - x . w)^2 + |w|^2
               (Hoerl and Kennard 1970)

Unlike the linear model of labels, whose scores are logits, that of values says its score itself. x
are the same features: n-grams of symbols, traits of numbers. How strong, and the deviation s, is
found by letting each fifth of the training data be guessed from the others. Shapes: B rows, S
sequences, F features, K values a sequence, each found by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.distributions.numbers import Normal
from seriatim.models.base import Model, State
from seriatim.tasks.labels.codec import Examples
from seriatim.tasks.labels.models.bayes import fitting
from seriatim.tasks.labels.models.features import Featured, rarity_of
from seriatim.tasks.labels.options import AverageOptions, RidgeOptions

STRENGTHS = 10.0 ** np.arange(-3, 4)  # that are tried


FOLDS = 5


LEAST = 1e-4  # deviation, in units of that of all values


class Average(Model):
    """The mean of the training values and their deviation, whatever is read: the floor."""

    options: AverageOptions

    def __init__(
        self,
        vocabulary: int,
        options: AverageOptions,
        labels: int = 1,
        letters: int = 0,
        own: int = 0,
        channels: int = 0,
    ):
        self.vocabulary, self.options, self.labels = vocabulary, options, labels
        # K means, then K deviations
        self.normal = torch.tensor([0.0] * labels + [1.0] * labels, dtype=torch.float64)

    def counting(self, examples: Examples) -> Iterator[dict[str, Any]]:
        """Mean and deviation of the values."""
        columns = list(np.ascontiguousarray(examples.y.flat.astype(np.float64).T))  # K of (S,)
        means, deviations = [y.mean() for y in columns], [max(LEAST, y.std()) for y in columns]
        self.normal = torch.tensor([*means, *deviations], dtype=torch.float64)
        yield {"words": "values", "share": 1.0}

    def unroll(self, batch: Batch, state: State = None) -> tuple[Normal, State]:
        """(B, 1) the same normals for every sequence."""
        # (B, 1, K) both
        mean, deviation = self.normal.expand(len(batch.x), 1, 2 * self.labels).chunk(2, -1)
        return Normal(mean, deviation), ()

    def arrays(self) -> dict[str, Tensor]:
        """What was learned, by name."""
        return {"normal": self.normal}

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave; raises ValueError if it does not fit."""
        self.normal = fitting(arrays, "normal", 2 * self.labels)


class Ridge(Featured):
    """The features of the linear model with one weight each, whose squares are penalised, for a
    value."""

    options: RidgeOptions

    def __init__(
        self,
        vocabulary: int,
        options: RidgeOptions,
        labels: int = 1,
        letters: int = 0,
        own: int = 0,
        channels: int = 0,
    ):
        super().__init__(vocabulary, options, labels, letters, own, channels)
        self.weighting = options.weighting
        self.deviation = torch.ones(labels, dtype=torch.float64)

    def said(self, scores: Tensor) -> Normal:
        """(B, K) scores -> normals around them, as wide as the errors of training."""
        return Normal(scores, self.deviation.expand_as(scores))

    def solve(self, x: Any, examples: Examples) -> Iterator[dict[str, Any]]:
        """(F, K) weights and (K,) the values where all features are zero, each at the strength with
        its least error."""
        if not self.channels:
            self.rarity = torch.from_numpy(rarity_of(x))
            x = self.weigh(x)
        columns = np.ascontiguousarray(examples.y.flat.astype(np.float64).T)  # (K, S)
        strengths = [self.options.strength] if self.options.strength else STRENGTHS
        best = [min((errors_of(x, y, each), each) for each in strengths) for y in columns]
        deviations = [max(LEAST, np.sqrt(least)) for least, _ in best]
        self.deviation = torch.tensor(deviations, dtype=torch.float64)
        found = [ridge(x, y, strength) for y, (_, strength) in zip(columns, best, strict=True)]
        self.weights = torch.from_numpy(np.stack([weights for weights, _ in found], 1))
        self.prior = torch.tensor([bias for _, bias in found], dtype=torch.float64)
        yield {"words": "weights", "share": 0.9}

    def arrays(self) -> dict[str, Tensor]:
        """Those of the linear model, and the deviation."""
        return {**super().arrays(), "deviation": self.deviation}

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave; raises ValueError if it does not fit."""
        super().load_arrays(arrays)
        self.deviation = fitting(arrays, "deviation", self.labels)


def ridge(x: Any, y: np.ndarray, strength: float) -> tuple[np.ndarray, float]:
    """(S, F) sparse or not, (S,) -> (F,) weights and bias."""
    from sklearn.linear_model import Ridge as Solver  # type: ignore[import-untyped]  # has no stubs

    found = Solver(
        1 / strength, solver="cholesky" if isinstance(x, np.ndarray) else "sparse_cg", tol=1e-6
    ).fit(x, y)
    return found.coef_, float(found.intercept_)


def errors_of(x: Any, y: np.ndarray, strength: float) -> float:
    """The mean squared error of each fold, guessed from the others."""
    fold, wrong = np.arange(len(y)) % FOLDS, np.zeros(len(y))
    for number in range(min(FOLDS, len(y))):
        held = fold == number
        weights, bias = ridge(x[~held], y[~held], strength)
        wrong[held] = y[held] - x[held] @ weights - bias
    return float((wrong**2).mean())
