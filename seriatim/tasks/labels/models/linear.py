"""A linear model of n-grams, or of what numbers look like: the strong baseline that networks have
to beat.

    logits = b + sum over n-grams f of  x_f r_fc v_fc

v and b by softmax regression, with a penalty on the squares of v;

    counts   x how often, r = 1
    tf-idf   x = count * log((1 + S) / (1 + sequences with f)) + 1, each row of length one, r = 1
    bayes    x = 1 if it is there, r the log-ratio of naive Bayes, label against the others
             (Wang and Manning 2012)

Unlike naive Bayes, whose weights are counts, these are found together: two n-grams that say the
same share what they say. Where sequences are numbers, features are their traits (see
`seriatim.tasks.labels.models.statistics`), each with mean zero and variance one in the training
data. Shapes: B rows, S sequences, F features, K labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.data.sequences import Field
from seriatim.tasks.labels.codec import Examples
from seriatim.tasks.labels.models.bayes import Weighed, first_times, fitting
from seriatim.tasks.labels.models.statistics import count_of, traits
from seriatim.tasks.labels.options import LinearOptions, RidgeOptions


class LinearClassifier(Weighed):
    """Naive Bayes' features with weights that are found together, by regression."""

    options: LinearOptions | RidgeOptions

    def __init__(
        self,
        vocabulary: int,
        options: LinearOptions | RidgeOptions,
        labels: int,
        letters: int = 0,
        own: int = 0,
        channels: int = 0,
    ):
        super().__init__(vocabulary, options, labels, letters, own, channels)
        self.rarity = torch.zeros(0, dtype=torch.float64)  # (F,) of tf-idf
        self.scale = torch.ones(
            2, count_of(channels), dtype=torch.float64
        )  # (2, F) mean and deviation of traits

    def amounts(self, found: tuple[np.ndarray, ...], rows: int) -> np.ndarray:
        """How much each n-gram found counts, by the weighting that was chosen."""
        if self.options.weighting == "counts":
            return super().amounts(found, rows)
        if self.options.weighting == "bayes":
            return first_times(found, rows)
        rare = self.rarity.numpy()[found[0]]
        share = first_times(found, rows)  # 1 / n where it stands n times
        squares = np.bincount(
            found[1], (rare / share) ** 2 * share, rows
        )  # (S,) each n-gram of a row once
        return rare / np.sqrt(np.maximum(squares, 1e-12))[found[1]]

    def counting(self, examples: Examples) -> Iterator[dict[str, Any]]:
        """Know the features of the training data, then find their weights."""
        x = self.learn_traits(examples.x) if self.channels else self.learn_grams(examples.x)
        yield {"words": "weights", "share": 0.2}
        self.weights, self.prior = map(torch.from_numpy, self.solve(x, examples.y.flat))
        yield {"words": "weights", "share": 1.0}

    def learn_grams(self, x: Field) -> Any:
        """(S, F) sparse: how much each n-gram of a sequence counts."""
        from scipy.sparse import csr_matrix  # type: ignore[import-untyped]  # has no stubs

        rows = len(x)
        self.grams.learn(x, self.options.least)
        found, features = self.grams.find(x), int(self.grams.firsts[-1])
        self.rarity = torch.from_numpy(
            np.log((1 + rows) / (1 + np.bincount(found[0], first_times(found, rows), features))) + 1
        )
        return csr_matrix((self.amounts(found, rows), (found[1], found[0])), (rows, features))

    def learn_traits(self, x: Field) -> np.ndarray:
        """(S, F) on one scale."""
        found = traits((x.row(s) for s in range(len(x))), self.channels)
        deviation = found.std(0)
        self.scale = torch.from_numpy(
            np.stack([found.mean(0), np.where(deviation > 1e-9, deviation, 1.0)])
        )
        return (found - self.scale[0].numpy()) / self.scale[1].numpy()

    def solve(self, x: Any, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(F, K) weights and (K,) bias."""
        ratio = (
            self.ratios(x, y)
            if self.options.weighting == "bayes" and not self.channels
            else np.ones((1, 1))
        )
        return regression(x, y, self.labels, ratio, self.options.strength)

    def scores(self, batch: Batch) -> Tensor:
        """(B, K) logits."""
        if not self.channels:
            return super().scores(batch)
        found = torch.from_numpy(
            traits(
                (
                    row[:length]
                    for row, length in zip(batch.x.numpy(), batch.x_lengths.tolist(), strict=True)
                ),
                self.channels,
            )
        )
        return ((found - self.scale[0]) / self.scale[1]) @ self.weights + self.prior

    def ratios(self, x: Any, y: np.ndarray) -> np.ndarray:
        """(F, K) log of how much more frequent an n-gram is under a label than under the others."""
        counts = np.stack([np.asarray(x[y == label].sum(0))[0] for label in range(self.labels)], 1)
        own, others = counts + 1.0, counts.sum(1, keepdims=True) - counts + 1.0
        return np.log(own / own.sum(0)) - np.log(others / others.sum(0))

    def arrays(self) -> dict[str, Tensor]:
        """Prior and weights, and what scales the features."""
        return (
            {"prior": self.prior, "weights": self.weights, "scale": self.scale}
            if self.channels
            else {**super().arrays(), "rarity": self.rarity}
        )

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave; raises ValueError if it does not fit."""
        if not self.channels:
            super().load_arrays(arrays)
            self.rarity = fitting(arrays, "rarity", len(self.weights))
            return
        self.prior, self.scale = (
            fitting(arrays, "prior", self.labels),
            fitting(arrays, "scale", *self.scale.shape),
        )
        self.weights = fitting(arrays, "weights", self.scale.shape[1], self.labels)


def regression(
    x: Any, y: np.ndarray, labels: int, ratio: np.ndarray, strength: float
) -> tuple[np.ndarray, np.ndarray]:
    """Softmax regression by L-BFGS: (F, K) weights r v and (K,) bias, where v minimises strength *
    sum of losses + |v|^2 / 2."""
    from scipy.optimize import minimize  # type: ignore[import-untyped]  # has no stubs

    rows, features = x.shape
    truth = np.eye(labels)[y]  # (S, K)

    def cost(flat: np.ndarray) -> tuple[float, np.ndarray]:
        """The penalised loss of these weights, and its slope."""
        v, bias = flat[:-labels].reshape(features, labels), flat[-labels:]
        logits = x @ (v * ratio) + bias  # (S, K)
        logits -= logits.max(1, keepdims=True)
        total = np.log(np.exp(logits).sum(1))
        error = np.exp(logits - total[:, None]) - truth
        gradient = strength * (x.T @ error) * ratio + v
        loss = strength * (total - logits[np.arange(rows), y]).sum() + 0.5 * (v**2).sum()
        return loss, np.concatenate([gradient.ravel(), strength * error.sum(0)])

    best = minimize(
        cost,
        np.zeros(features * labels + labels),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 300, "gtol": 1e-4 * max(1.0, strength)},
    )
    return best.x[:-labels].reshape(features, labels) * ratio, best.x[-labels:]
