"""A linear model of n-grams: the strong baseline that networks have to beat.

    logits = b + sum over n-grams f of  x_f r_fc v_fc,     v and b by softmax regression, with a penalty on the squares of v

    counts   x how often, r = 1
    tf-idf   x = count * log((1 + S) / (1 + sequences with f)) + 1, each row of length one, r = 1
    bayes    x = 1 if it is there, r the log-ratio of naive Bayes, label against the others         Wang and Manning 2012

Unlike naive Bayes, whose weights are counts, these are found together: two n-grams that say the same share what they say.
Shapes: S sequences, F features, K labels.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.codecs.labelled import Examples
from seriatim.config import LinearOptions
from seriatim.models.bayes import Weighed, first_times, fitting


class Linear(Weighed):
    options: LinearOptions

    def __init__(self, vocabulary: int, options: LinearOptions, labels: int, letters: int = 0, own: int = 0):
        super().__init__(vocabulary, options, labels)
        self.rarity = torch.zeros(0, dtype=torch.float64)                           # (F,) of tf-idf

    def amounts(self, found: tuple[np.ndarray, ...], rows: int) -> np.ndarray:
        if self.options.weighting == "counts":
            return super().amounts(found, rows)
        if self.options.weighting == "bayes":
            return first_times(found, rows)
        rare = self.rarity.numpy()[found[0]]
        share = first_times(found, rows)                                            # 1 / n where it stands n times
        squares = np.bincount(found[1], (rare / share) ** 2 * share, rows)          # (S,) each n-gram of a row once
        return rare / np.sqrt(np.maximum(squares, 1e-12))[found[1]]

    def counting(self, examples: Examples) -> Iterator[dict[str, Any]]:
        from scipy.sparse import csr_matrix
        y, rows = examples.y.flat, len(examples)
        self.grams.learn(examples.x, self.options.least)
        found, features = self.grams.find(examples.x), int(self.grams.firsts[-1])
        yield {"words": "n-grams", "share": 0.1}
        self.rarity = torch.from_numpy(np.log((1 + rows) / (1 + np.bincount(found[0], first_times(found, rows), features))) + 1)
        x = csr_matrix((self.amounts(found, rows), (found[1], found[0])), (rows, features))
        ratio = self.ratios(x, y) if self.options.weighting == "bayes" else np.ones((1, 1))
        yield {"words": "weights", "share": 0.2}
        weights, bias = regression(x, y, self.labels, ratio, self.options.strength)
        self.weights, self.prior = torch.from_numpy(weights), torch.from_numpy(bias)
        yield {"words": "weights", "share": 1.0}

    def ratios(self, x: Any, y: np.ndarray) -> np.ndarray:
        """(F, K) log of how much more frequent an n-gram is under a label than under the others."""
        counts = np.stack([np.asarray(x[y == label].sum(0))[0] for label in range(self.labels)], 1)
        own, others = counts + 1.0, counts.sum(1, keepdims=True) - counts + 1.0
        return np.log(own / own.sum(0)) - np.log(others / others.sum(0))

    def arrays(self) -> dict[str, Tensor]:
        return {**super().arrays(), "rarity": self.rarity}

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        super().load_arrays(arrays)
        self.rarity = fitting(arrays, "rarity", len(self.weights))


def regression(x: Any, y: np.ndarray, labels: int, ratio: np.ndarray, strength: float) -> tuple[np.ndarray, np.ndarray]:
    """Softmax regression by L-BFGS: (F, K) weights r v and (K,) bias, where v minimises strength * sum of losses + |v|^2 / 2."""
    from scipy.optimize import minimize
    rows, features = x.shape
    truth = np.eye(labels)[y]                                                       # (S, K)

    def cost(flat: np.ndarray) -> tuple[float, np.ndarray]:
        v, bias = flat[:-labels].reshape(features, labels), flat[-labels:]
        logits = x @ (v * ratio) + bias                                             # (S, K)
        logits -= logits.max(1, keepdims=True)
        total = np.log(np.exp(logits).sum(1))
        error = np.exp(logits - total[:, None]) - truth
        gradient = strength * (x.T @ error) * ratio + v
        loss = strength * (total - logits[np.arange(rows), y]).sum() + 0.5 * (v ** 2).sum()
        return loss, np.concatenate([gradient.ravel(), strength * error.sum(0)])

    best = minimize(cost, np.zeros(features * labels + labels), jac=True, method="L-BFGS-B", options={"maxiter": 300, "gtol": 1e-4 * max(1.0, strength)})
    return best.x[:-labels].reshape(features, labels) * ratio, best.x[-labels:]
