"""Models of several things that may be true of a sequence, without gradients: a coin for each label.

    frequencies    p(m) = (n_m + add) / (S + 2 add)
    linear         p(m) = sigmoid(b_m + x . w_m),  w_m minimises  nats + |w_m|^2 / (2 strength)

Unlike the models of classify, whose softmax chooses one of K labels, the coins do not depend on each
other once the sequence is read. x of the linear model are the n-grams or the traits of those of
classify and regress; how strong is found by letting each fifth of the training data be guessed from
the others. Shapes: B rows, S sequences, F features, K labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.distributions.symbols import Bernoulli
from seriatim.models.base import State
from seriatim.tasks.labels.codec import Examples
from seriatim.tasks.labels.models.features import Featured, rarity_of
from seriatim.tasks.labels.options import RidgeOptions
from seriatim.tasks.marks.metrics import nats_of
from seriatim.tasks.marks.options import FrequenciesOptions
from seriatim.tasks.sets.models import Frequencies as OfSets

STRENGTHS = 10.0 ** np.arange(-2, 3)  # that are tried
FOLDS = 5


class Frequencies(OfSets):
    """The floor: each label by its own frequency, whatever is read."""

    def __init__(
        self,
        vocabulary: int,
        options: FrequenciesOptions,
        labels: int,
        letters: int = 0,
        own: int = 0,
        channels: int = 0,
    ):
        super().__init__(labels, options)  # type: ignore[arg-type]  # has the same `add`

    def counting(  # type: ignore[override]
        self, examples: Examples
    ) -> Iterator[dict[str, Any]]:
        """A label is counted once for each sequence it is true of."""
        return super().counting(examples.y, stop=False)

    def unroll(self, batch: Batch, state: State = None) -> tuple[Bernoulli, State]:
        """(B, 1) the same coins for every sequence."""
        return Bernoulli(self.logits().float().expand(len(batch.x), 1, -1)), ()


class OneAgainstRest(Featured):
    """A logistic regression for each label, all of one strength."""

    options: RidgeOptions

    def __init__(
        self,
        vocabulary: int,
        options: RidgeOptions,
        labels: int,
        letters: int = 0,
        own: int = 0,
        channels: int = 0,
    ):
        super().__init__(vocabulary, options, labels, letters, own, channels)
        self.weighting = options.weighting

    def said(self, scores: Tensor) -> Bernoulli:  # type: ignore[override]
        """(B, K) scores -> coins."""
        return Bernoulli(scores.float())

    def solve(self, x: Any, examples: Examples) -> Iterator[dict[str, Any]]:
        """(F, K) weights and (K,) their logits where all features are zero."""
        if not self.channels:
            self.rarity = torch.from_numpy(rarity_of(x))
            x = self.weigh(x)
        y = examples.y.flat > 0  # (S, K)
        strengths = [self.options.strength] if self.options.strength else list(STRENGTHS)
        best = strengths[0]
        if len(strengths) > 1:
            best = min((nats_of(out_of_fold(x, y, each), y).mean(), each) for each in strengths)[1]
        yield {"words": "weights", "share": 0.8}
        weights, prior = regressions(x, y, float(best))
        self.weights, self.prior = torch.from_numpy(weights), torch.from_numpy(prior)


def regressions(x: Any, y: np.ndarray, strength: float) -> tuple[np.ndarray, np.ndarray]:
    """(S, F) sparse or not, (S, K) -> (F, K) weights and (K,) biases; of a label that is true of
    all or of none its frequency alone, with one of either added."""
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

    weights, prior = np.zeros((x.shape[1], y.shape[1])), np.zeros(y.shape[1])
    for k, true in enumerate(y.T):
        if true.all() or not true.any():
            prior[k] = np.log((true.sum() + 1) / ((~true).sum() + 1))
            continue
        found = LogisticRegression(C=strength, max_iter=1000).fit(x, true)
        weights[:, k], prior[k] = found.coef_[0], found.intercept_[0]
    return weights, prior


def out_of_fold(x: Any, y: np.ndarray, strength: float) -> np.ndarray:
    """(S, K) logits of each fold, guessed from the others."""
    fold, found = np.arange(len(y)) % FOLDS, np.zeros(y.shape)
    for number in range(min(FOLDS, len(y))):
        held = fold == number
        if held.all():
            continue
        weights, prior = regressions(x[~held], y[~held], strength)
        found[held] = x[held] @ weights + prior
    return found
