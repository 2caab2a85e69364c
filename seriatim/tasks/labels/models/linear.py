"""A linear model of n-grams, or of what numbers look like: the strong baseline that networks have
to beat.

    logits = (b + sum over n-grams f of  x_f r_fc v_fc) / t

Unlike naive Bayes, whose weights are counts, these are found together: two n-grams that say the
same share what they say. v and b are a support vector machine for each label against the others,

    min  |v_c|^2 / 2 + C sum over sequences of max(0, 1 - y (b_c + x . r_c v_c))^2

by liblinear (Fan et al. 2008): r = 1, or with the weighting `bayes` the log-ratio of naive Bayes,
label against the others (NBSVM, Wang and Manning 2012). The temperature t makes probabilities of
its margins. What was not asked for is found by guessing sequences held out of training: how
n-grams are weighed, how long they are, the strength C, and t. Where sequences are numbers, their
traits go into a softmax regression, whose strength is found likewise.
Shapes: S sequences, F features, K labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.data.sequences import Field
from seriatim.tasks.labels.codec import Examples
from seriatim.tasks.labels.metrics import cooled, temperature
from seriatim.tasks.labels.models.bayes import fitting
from seriatim.tasks.labels.models.features import Featured, rarity_of, weighed
from seriatim.tasks.labels.models.ngrams import NgramIndex
from seriatim.tasks.labels.options import WEIGHTINGS, LinearOptions

FOLDS = 5
ENOUGH = 1000  # sequences to be guessed; of less data more folds are held out, one after another
MOST = 20_000  # sequences that trials look at
STRENGTHS = (0.1, 0.3, 1.0, 3.0)  # that are tried
TEXTS, LETTERS = (2, 1), (5, 3)  # lengths of n-grams that are tried: of words, and of letters


@dataclass(frozen=True)
class Plan:
    """How n-grams are weighed, how long they are, and how far weights may grow."""

    weighting: str = "tf-idf"
    ngram: int = 2
    strength: float = 1.0


class LinearClassifier(Featured):
    """A support vector machine for each label, and how sure its margins may be."""

    options: LinearOptions

    def learn_grams(self, examples: Examples) -> Any:
        """(S, F) counts of n-grams, as long as any that are tried."""
        lengths = TEXTS if examples.blanks is None else LETTERS
        self.grams = NgramIndex(self.vocabulary, self.options.ngram or lengths[0])
        return super().learn_grams(examples)

    def solve(self, x: Any, examples: Examples) -> Iterator[dict[str, Any]]:
        """Try, choose, and fit what was chosen to all of the data."""
        y, rows = examples.y.flat, np.arange(len(examples))
        if not x.shape[1]:  # nothing is known of any sequence
            self.count_labels(y)
            self.weights = torch.zeros(0, self.labels, dtype=torch.float64)
            return
        if len(rows) > MOST:
            rows = np.random.default_rng(0).permutation(len(rows))[:MOST]
        firsts = None if self.channels else self.grams.firsts
        folds = held_out(examples.x.take(rows), y[rows])
        trials = Trials(x[rows], y[rows], self.labels, firsts, folds)
        usual = Plan(
            self.options.weighting or "tf-idf",
            0 if self.channels else len(self.grams.tables),
            self.options.strength or 1.0,
        )
        plan = trials.best(usual, self.open(examples)) if folds else usual
        weights, bias = fitted(chosen(x, firsts, plan), y, self.labels, plan)
        t = trials.temperature(plan) if folds else 1.0
        self.take(plan, weights / t, bias / t, x)
        if trials.tried:
            yield {"note": trials.told(plan)}

    def open(self, examples: Examples) -> dict[str, tuple[Any, ...]]:
        """What was not asked for, and is to be tried."""
        o = self.options
        tried: dict[str, tuple[Any, ...]] = {} if o.strength else {"strength": STRENGTHS}
        if not self.channels and not o.ngram:
            tried["ngram"] = TEXTS if examples.blanks is None else LETTERS
        if not self.channels and not o.weighting:
            tried["weighting"] = ("tf-idf", "bayes")
        return tried

    def take(self, plan: Plan, weights: np.ndarray, bias: np.ndarray, x: Any) -> None:
        """Keep what was found, and of the n-grams those that are short enough."""
        self.weights, self.prior = torch.from_numpy(weights), torch.from_numpy(bias)
        self.weighting = plan.weighting
        if not self.channels:
            self.grams.tables = self.grams.tables[: plan.ngram]
            self.rarity = torch.from_numpy(rarity_of(x)[: len(weights)])

    def arrays(self) -> dict[str, Tensor]:
        """Those of the features, and how n-grams are weighed."""
        if self.channels:
            return super().arrays()
        number = float(WEIGHTINGS.index(self.weighting))
        return {**super().arrays(), "weighting": torch.tensor([number], dtype=torch.float64)}

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave; raises ValueError if it does not fit."""
        if not self.channels:
            levels = sum(name.startswith("grams.") for name in arrays)
            self.grams = NgramIndex(self.vocabulary, levels)
            number = int(fitting(arrays, "weighting", 1))
            if not 0 <= number < len(WEIGHTINGS):
                raise ValueError("weighting is not known")
            self.weighting = WEIGHTINGS[number]
        super().load_arrays(arrays)


# -- what is best on sequences held out of training


class Trials:
    """Plans, each by how well sequences are guessed that it was not fitted to."""

    def __init__(
        self, x: Any, y: np.ndarray, labels: int, firsts: np.ndarray | None, folds: list[np.ndarray]
    ):
        self.x, self.y, self.labels, self.firsts, self.folds = x, y, labels, firsts, folds
        self.tried: dict[Plan, tuple[float, float, float]] = {}  # wrong, nats, temperature

    def best(self, plan: Plan, tried: dict[str, tuple[Any, ...]]) -> Plan:
        """One setting after another, each at the best of those before it; the strength again for
        another weighting, whose features are larger."""
        for name in ("strength", "ngram", "weighting"):
            plans = [replace(plan, **{name: value}) for value in tried.get(name, ())]
            if name == "weighting":
                strengths = tried.get("strength", (plan.strength,))
                plans = [replace(each, strength=c) for each in plans for c in strengths]
            plan = min([plan, *plans], key=self.wrong)
        return plan

    def wrong(self, plan: Plan) -> tuple[float, float]:
        """The share of labels that are wrong; between equals, nats."""
        if plan not in self.tried:
            self.tried[plan] = self.guessed(plan)
        return self.tried[plan][:2]

    def temperature(self, plan: Plan) -> float:
        """That of its margins."""
        self.wrong(plan)
        return self.tried[plan][2]

    def guessed(self, plan: Plan) -> tuple[float, float, float]:
        """The share of held out labels that are wrong, nats a label, and the temperature."""
        x, y, margins, truth = chosen(self.x, self.firsts, plan), self.y, [], []
        for held in self.folds:
            weights, bias = fitted(x[~held], y[~held], self.labels, plan)
            margins.append(x[held] @ weights + bias)
            truth.append(y[held])
        found, true = np.concatenate(margins), np.concatenate(truth)
        t = temperature(found, true)
        nats = -float(cooled(found, t)[np.arange(len(true)), true].mean())
        return float((found.argmax(1) != true).mean()), nats, t

    def told(self, plan: Plan) -> str:
        """What was chosen, in words."""
        many = sum(int(held.sum()) for held in self.folds)
        right = f"{100 * (1 - self.tried[plan][0]):.1f} % of {many:,} held-out sequences right"
        length = f"n-grams of up to {plan.ngram}, weighed by {plan.weighting}, "
        return f"{length if plan.ngram else ''}strength {plan.strength:g}: {right}"


def held_out(x: Field, y: np.ndarray) -> list[np.ndarray]:
    """(S,) masks of sequences that are guessed from the others: equal ones together, of each label
    a fifth. As many as give enough; none where there are too few."""
    number: dict[bytes, int] = {}
    group = np.array([number.setdefault(x.row(s).tobytes(), len(number)) for s in range(len(x))])
    _, first = np.unique(group, return_index=True)  # (G,)
    order = np.lexsort((np.random.default_rng(0).permutation(len(first)), y[first]))
    fold = np.empty(len(first), np.int64)
    fold[order] = np.arange(len(first)) % FOLDS
    many = max(1, min(FOLDS, round(FOLDS * ENOUGH / max(1, len(x)))))
    masks = [fold[group] == each for each in range(many)]
    return [held for held in masks if held.any() and len(np.unique(y[~held])) > 1]


# -- solvers


def chosen(x: Any, firsts: np.ndarray | None, plan: Plan) -> Any:
    """The features of a plan, as weighed: of counts of n-grams those short enough, or traits."""
    if firsts is None:
        return x
    some = x[:, : firsts[plan.ngram]]
    return weighed(some, plan.weighting, rarity_of(some))


def fitted(x: Any, y: np.ndarray, labels: int, plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """(S, F) features, (S,) labels -> (F, K) weights and (K,) bias."""
    if isinstance(x, np.ndarray):
        return regression(x, y, labels, plan.strength)
    if plan.weighting != "bayes":
        return machines(x, y, labels, plan.strength)
    ratio = ratios(x, y, labels)
    weights, bias = np.zeros((x.shape[1], labels)), np.zeros(labels)
    for label in range(1 if labels == 2 else 0, labels):
        scaled = x.copy()
        scaled.data *= ratio[scaled.indices, label]
        found, shift = machines(scaled, (y == label).astype(np.int64), 2, plan.strength)
        weights[:, label], bias[label] = found[:, 1] * ratio[:, label], shift[1]
    if labels == 2:
        weights[:, 0], bias[0] = -weights[:, 1], -bias[1]
    return weights, bias


def machines(x: Any, y: np.ndarray, labels: int, strength: float) -> tuple[np.ndarray, np.ndarray]:
    """A support vector machine for each label against the others; of two labels, one and its
    mirror image, each with half of the margin. A label that is not there is not found."""
    from sklearn.svm import LinearSVC  # type: ignore[import-untyped]  # has no stubs

    there = np.unique(y)
    weights, bias = np.zeros((x.shape[1], labels)), np.full(labels, -1.0)
    if len(there) < 2:
        bias[there] = 1.0
        return weights, bias
    # in the primal, where nothing is drawn: two threads do not disturb each other
    found = LinearSVC(C=strength, dual=False).fit(x, y)
    if len(there) > 2:
        weights[:, there], bias[there] = found.coef_.T, found.intercept_
    else:
        weights[:, there] = np.stack([-found.coef_[0], found.coef_[0]], 1) / 2
        bias[there] = np.array([-0.5, 0.5]) * found.intercept_[0]
    return weights, bias


def ratios(x: Any, y: np.ndarray, labels: int) -> np.ndarray:
    """(F, K) log of how much more frequent an n-gram is under a label than under the others."""
    counts = x.T @ np.eye(labels)[y]  # (F, K)
    own, others = counts + 1.0, counts.sum(1, keepdims=True) - counts + 1.0
    return np.log(own / own.sum(0)) - np.log(others / others.sum(0))


def regression(
    x: np.ndarray, y: np.ndarray, labels: int, strength: float
) -> tuple[np.ndarray, np.ndarray]:
    """Softmax regression: (F, K) weights and (K,) bias; strength * sum of losses + |v|^2 / 2."""
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

    there = np.unique(y)
    weights, bias = np.zeros((x.shape[1], labels)), np.full(labels, -30.0)
    found = LogisticRegression(C=strength, max_iter=1000).fit(x, y)
    if len(there) > 2:
        weights[:, there], bias[there] = found.coef_.T, found.intercept_
    else:
        weights[:, there] = np.stack([-found.coef_[0], found.coef_[0]], 1) / 2
        bias[there] = np.array([-0.5, 0.5]) * found.intercept_[0]
    return weights, bias
