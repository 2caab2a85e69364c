"""A value for a sequence, without gradients: the floor, and the strong baseline that networks have to beat.

    average    y ~ normal(mean, deviation) of the training values, whatever the sequence
    ridge      y ~ normal(b + x . w, s),   w minimises  strength * sum (y - b - x . w)^2 + |w|^2                 Hoerl and Kennard 1970

Unlike the linear model of labels, whose scores are logits, that of values says its score itself. x are the same features: n-grams of symbols, traits of
numbers. How strong, and the deviation s, is found by letting each fifth of the training data be guessed from the others.
Shapes: B rows, S sequences, F features.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.codecs.labelled import Examples
from seriatim.config import AverageOptions, RidgeOptions
from seriatim.densities import Normal
from seriatim.models.base import Model, State
from seriatim.models.bayes import fitting
from seriatim.models.linear import Linear

STRENGTHS = 10.0 ** np.arange(-3, 4)       # that are tried
FOLDS = 5
LEAST = 1e-4                               # deviation, in units of that of all values


class Average(Model):
    options: AverageOptions

    def __init__(self, vocabulary: int, options: AverageOptions, labels: int = 1, letters: int = 0, own: int = 0, channels: int = 0):
        self.vocabulary, self.options = vocabulary, options
        self.normal = torch.tensor([0.0, 1.0], dtype=torch.float64)                  # mean and deviation

    def counting(self, examples: Examples) -> Iterator[dict[str, Any]]:
        y = examples.y.flat.astype(np.float64)
        self.normal = torch.tensor([y.mean(), max(LEAST, y.std())], dtype=torch.float64)
        yield {"words": "values", "share": 1.0}

    def unroll(self, batch: Batch, state: State = None) -> tuple[Normal, State]:
        mean, deviation = self.normal.expand(len(batch.x), 1, 2).chunk(2, -1)        # (B, 1, 1) both
        return Normal(mean, deviation), ()

    def arrays(self) -> dict[str, Tensor]:
        return {"normal": self.normal}

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        self.normal = fitting(arrays, "normal", 2)


class Ridge(Linear):
    options: RidgeOptions

    def __init__(self, vocabulary: int, options: RidgeOptions, labels: int = 1, letters: int = 0, own: int = 0, channels: int = 0):
        super().__init__(vocabulary, options, 1, letters, own, channels)
        self.deviation = torch.ones(1, dtype=torch.float64)

    def said(self, scores: Tensor) -> Normal:
        return Normal(scores, self.deviation.expand_as(scores))

    def solve(self, x: Any, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y = y[:, 0].astype(np.float64)
        strengths = [self.options.strength] if self.options.strength else STRENGTHS
        wrong = [(errors_of(x, y, strength), strength) for strength in strengths]
        least, strength = min(wrong)
        self.deviation = torch.tensor([max(LEAST, np.sqrt(least))], dtype=torch.float64)
        weights, bias = ridge(x, y, strength)
        return weights[:, None], np.array([bias])

    def arrays(self) -> dict[str, Tensor]:
        return {**super().arrays(), "deviation": self.deviation}

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        super().load_arrays(arrays)
        self.deviation = fitting(arrays, "deviation", 1)


def ridge(x: Any, y: np.ndarray, strength: float) -> tuple[np.ndarray, float]:
    """(S, F) sparse or not, (S,) -> (F,) weights and bias."""
    from sklearn.linear_model import Ridge as Solver
    found = Solver(1 / strength, solver="cholesky" if isinstance(x, np.ndarray) else "sparse_cg", tol=1e-6).fit(x, y)
    return found.coef_, float(found.intercept_)


def errors_of(x: Any, y: np.ndarray, strength: float) -> float:
    """The mean squared error of each fold, guessed from the others."""
    fold, wrong = np.arange(len(y)) % FOLDS, np.zeros(len(y))
    for number in range(min(FOLDS, len(y))):
        held = fold == number
        weights, bias = ridge(x[~held], y[~held], strength)
        wrong[held] = y[held] - x[held] @ weights - bias
    return float((wrong ** 2).mean())
