"""A linear model of n-grams, or of what numbers look like: the strong baseline that networks have
to beat.

    logits = (b + sum over n-grams f of  x_f r_fc v_fc) / t

Unlike naive Bayes, whose weights are counts, these are found together: two n-grams that say the
same share what they say. v and b are a support vector machine for each label against the others,

    min  |v_c|^2 / 2 + C sum over sequences of max(0, 1 - y (b_c + x . r_c v_c))^2

by liblinear (Fan et al. 2008): r = 1, or with the weighting `bayes` the log-ratio of naive Bayes,
label against the others (NBSVM, Wang and Manning 2012). The temperature t makes probabilities of
its margins. Words also give runs of their letters, where that helps: then n-grams of words and
runs of letters are weighed apart and each have half of a row's length. What was not asked for is
found by guessing sequences held out of training: how long n-grams are, the strength C, whether
letters are read, and t. N sequences do not tell losses apart that differ by less than 1 / N nats:
of strengths C that are as good, the penalty that binds most is taken; and t is found as if one of
N + 2 were the next likeliest label, so that where all are right nothing is certain. Where sequences
are numbers, their traits go into a softmax regression, whose strength is found likewise.
Shapes: S sequences, F features, K labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.data.sequences import Field
from seriatim.errors import ConfigError
from seriatim.tasks.labels.codec import FIRST_LETTER, Examples
from seriatim.tasks.labels.metrics import cooled, temperature
from seriatim.tasks.labels.models.bayes import fitting
from seriatim.tasks.labels.models.features import Featured, rarity_of, weighed
from seriatim.tasks.labels.models.ngrams import NgramIndex
from seriatim.tasks.labels.models.spelling import PREFIX, Spelling
from seriatim.tasks.labels.options import LinearOptions

FOLDS = 5
ENOUGH = 1000  # sequences to be guessed; of less data more folds are held out, one after another
MOST = 20_000  # sequences that trials look at
STRENGTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)  # that are tried, from 1 on
WORDS, LETTERS = (2, 1), (5, 3)  # lengths of n-grams that are tried
ROUGHLY, CLOSELY = 1e-1, 1e-3  # how near to the minimum a trial has to come, and the model
HALF = 0.5**0.5  # of the length of a row, which n-grams of words and runs of letters share
DUAL = 10.0  # the strength up to which the dual is quicker, where rows are of length one
ABSENT = -30.0  # the logit of a label that was not there
LIBLINEAR = Lock()  # its dice are one for the whole process: each fit throws them alone, anew


@dataclass(frozen=True)
class Plan:
    """How n-grams are weighed, how long they are, and how far weights may grow."""

    weighting: str
    ngram: int
    strength: float
    spelling: bool = False  # runs of letters inside words, too


class LinearClassifier(Featured):
    """A support vector machine for each label, and how sure its margins may be."""

    options: LinearOptions

    def __init__(
        self,
        vocabulary: int,
        options: LinearOptions,
        labels: int,
        letters: int = 0,
        own: int = 0,
        channels: int = 0,
    ):
        super().__init__(vocabulary, options, labels, letters, own, channels)
        self.weighting = options.weighting
        words = letters > FIRST_LETTER and not channels and options.spelling != "no"
        if options.spelling == "yes" and not words:
            raise ConfigError(
                "there are no words whose letters could be read",
                got="spelling yes",
                do="Choose --unit word or token, or leave out --spelling",
            )
        self.letters, self.spelling = letters, Spelling(letters) if words else None
        self.plan, self.heat = Plan(options.weighting, options.ngram, options.strength), 1.0
        self.letter_rarity = torch.zeros(0, dtype=torch.float64)  # (F',) of tf-idf
        self.letter_weights = torch.zeros(0, labels, dtype=torch.float64)

    def learn_grams(self, examples: Examples) -> Any:
        """(S, F) counts of n-grams, as long as any that are tried."""
        self.grams = NgramIndex(self.vocabulary, max(self.lengths(examples)))
        return super().learn_grams(examples)

    def lengths(self, examples: Examples) -> tuple[int, ...]:
        """Up to how many symbols n-grams may have: as asked for, or what is tried."""
        if self.channels:
            return (0,)
        if self.options.ngram:
            return (self.options.ngram,)
        return WORDS if examples.blanks is None else LETTERS

    def solve(self, x: Any, examples: Examples) -> Iterator[dict[str, Any]]:
        """Try, choose, and fit what was chosen to all of the data."""
        y = examples.y.flat
        if not x.shape[1]:  # nothing is known of any sequence
            self.count_labels(y)
            self.weights = torch.zeros(0, self.labels, dtype=torch.float64)
            return
        letters = None
        if self.spelling is not None and examples.words is not None:
            letters = self.spelling.learn(examples)
        trials = self.trials(x, letters, examples)
        plan = trials.best(
            self.weighting, self.lengths(examples), self.options.strength, self.options.spelling
        )
        features = chosen(x, letters, trials.firsts, plan)
        weights, bias = fitted(features, y, self.labels, plan, CLOSELY)
        t = trials.temperature(plan)
        self.plan, self.heat = plan, t
        self.prior = torch.from_numpy(bias / t)
        self.keep(x, letters, torch.from_numpy(weights / t), plan)
        if trials.folds:
            yield {"note": trials.told(plan)}

    def keep(self, x: Any, letters: Any, weights: Tensor, plan: Plan) -> None:
        """The (F, K) weights that were found, those of letters apart, and what weighs features."""
        if self.channels:
            self.weights = weights
            return
        self.grams.tables = self.grams.tables[: plan.ngram]
        many = int(self.grams.firsts[-1])
        self.weights, self.rarity = weights[:many], torch.from_numpy(rarity_of(x)[:many])
        if not plan.spelling:
            self.spelling = None
            return
        self.letter_weights, self.letter_rarity = (
            weights[many:],
            torch.from_numpy(rarity_of(letters)),
        )
        if plan.weighting == "tf-idf":  # as if what is read were of length one, each for itself
            self.weights, self.letter_weights = HALF * self.weights, HALF * self.letter_weights

    def trials(self, x: Any, letters: Any, examples: Examples) -> Trials:
        """What trials are made on: all of the data, or as many sequences as are enough."""
        rows = np.arange(len(examples))
        if len(rows) > MOST:
            rows = np.sort(np.random.default_rng(0).permutation(len(rows))[:MOST])
        y = examples.y.flat[rows]
        firsts = None if self.channels else self.grams.firsts
        letters = None if letters is None else letters[rows]
        folds = held_out(examples.x.take(rows), y)
        return Trials(x[rows], y, self.labels, firsts, folds, letters)

    def out_of_fold(self, examples: Examples) -> np.ndarray:
        """(S, K) logits of the sequences that it was fitted to, each from weights that were fitted
        without it: on those of its own it would be too sure."""
        y = examples.y.flat
        found = np.tile(self.prior.numpy(), (len(y), 1))
        if not len(self.weights):
            return found
        x = self.weigh(self.counts(self.edged(examples.x)))
        if self.spelling is not None:
            from scipy.sparse import hstack

            x = hstack([x, self.weigh_letters(self.spelling.of(examples))]).tocsr()
            x.data *= HALF if self.weighting == "tf-idf" else 1.0
        fold = folds_of(examples.x, y)
        for held in (fold == each for each in range(FOLDS)):
            if held.any() and not held.all():
                weights, bias = fitted(x[~held], y[~held], self.labels, self.plan, ROUGHLY)
                found[held] = (x[held] @ weights + bias) / self.heat
        return found

    # -- what is said, that of letters beside that of n-grams
    def scores(self, batch: Batch) -> Tensor:
        """(B, K) logits."""
        if self.spelling is None:
            return super().scores(batch)
        letters = self.weigh_letters(self.spelling.counts(batch))
        return super().scores(batch) + torch.from_numpy(letters @ self.letter_weights.numpy())

    def contributions(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """(B, P, K) what each symbol adds, and (B, K) the prior."""
        added, before = super().contributions(batch)
        if self.spelling is None:
            return added, before
        counts = self.spelling.counts(batch)
        amounts = self.weigh_letters(counts)
        amounts.data /= counts.data  # of each time that a run stands there
        return added + self.spelling.shares(batch, amounts, self.letter_weights.numpy()), before

    def weigh_letters(self, counts: Any) -> Any:
        """(S, F') counts of runs of letters -> the same as weighed."""
        return weighed_letters(counts, self.weighting, self.letter_rarity.numpy())

    # -- what is kept
    def arrays(self) -> dict[str, Tensor]:
        """What n-grams need, and the same of letters."""
        if self.spelling is None:
            return super().arrays()
        own = {"weights": self.letter_weights, "rarity": self.letter_rarity}
        named = {PREFIX + name: array for name, array in own.items()}
        return {**super().arrays(), **self.spelling.arrays(), **named}

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave; raises ValueError if it does not fit."""
        levels = sum(name.startswith("grams.") for name in arrays)
        self.grams = NgramIndex(self.vocabulary, levels)
        super().load_arrays(arrays)
        if not any(name.startswith(PREFIX) for name in arrays):
            self.spelling = None
            return
        if self.letters <= FIRST_LETTER:
            raise ValueError("it has weights of letters, and there are none to be read")
        self.spelling = Spelling(self.letters)
        self.spelling.load_arrays(arrays)
        many = self.spelling.size
        self.letter_weights = fitting(arrays, PREFIX + "weights", many, self.labels)
        self.letter_rarity = fitting(arrays, PREFIX + "rarity", many)


# -- what is best on sequences held out of training


class Trials:
    """Plans, each by how well sequences are guessed that it was not fitted to."""

    def __init__(
        self,
        x: Any,
        y: np.ndarray,
        labels: int,
        firsts: np.ndarray | None,
        folds: list[np.ndarray],
        letters: Any = None,
    ):
        self.x, self.y, self.labels, self.firsts, self.folds = x, y, labels, firsts, folds
        self.letters = letters
        self.tried: dict[Plan, tuple[float, float, float]] = {}  # wrong, nats, temperature

    def best(
        self, weighting: str, lengths: tuple[int, ...], strength: float, spelling: str = "no"
    ) -> Plan:
        """Of the longest n-grams first whether letters make labels likelier, which says more than
        the few that change, then the strength; without letters, then whether shorter ones do."""
        always = spelling == "yes" and self.letters is not None
        best = Plan(weighting, lengths[0], strength or 1.0, always)
        if not self.folds:
            return best
        if self.letters is not None and spelling == "found":
            best = min(best, replace(best, spelling=True), key=self.nats)
        if not strength:
            best = self.stronger(best)
        shorter = [] if best.spelling else [replace(best, ngram=each) for each in lengths[1:]]
        return min(best, *shorter, key=self.wrong) if shorter else best

    def stronger(self, best: Plan) -> Plan:
        """From the usual strength upwards or downwards as long as that helps."""
        usual = STRENGTHS.index(1.0)
        for side in (STRENGTHS[usual + 1 :], STRENGTHS[:usual][::-1]):
            moved = False
            for each in side:
                other = replace(best, strength=each)
                if self.wrong(other) >= self.wrong(best):
                    break
                best, moved = other, True
            if moved:
                break
        return self.bound(best, [each for each in STRENGTHS if each < best.strength])

    def bound(self, best: Plan, weaker: list[float]) -> Plan:
        """The least strength that these sequences do not tell from the best: as many labels wrong
        or fewer, and nats within 1 / N."""
        wrong, nats = self.wrong(best)
        for each in weaker[::-1]:
            other = replace(best, strength=each)
            if self.wrong(other)[0] > wrong or self.nats(other) > nats + self.told_apart:
                break
            best = other
        return best

    @property
    def told_apart(self) -> float:
        """Nats a label that can be told apart, by as many as are held out."""
        return 1 / max(1, sum(int(held.sum()) for held in self.folds))

    def wrong(self, plan: Plan) -> tuple[float, float]:
        """The share of labels that are wrong; between equals, nats."""
        if plan not in self.tried:
            self.tried[plan] = self.guessed(plan)
        return self.tried[plan][:2]

    def nats(self, plan: Plan) -> float:
        """Nats a label."""
        return self.wrong(plan)[1]

    def temperature(self, plan: Plan) -> float:
        """That of its margins; 1 where nothing could be held out."""
        if not self.folds:
            return 1.0
        self.wrong(plan)
        return self.tried[plan][2]

    def guessed(self, plan: Plan) -> tuple[float, float, float]:
        """The share of held out labels that are wrong, nats a label, and the temperature."""
        x, y, margins, truth = chosen(self.x, self.letters, self.firsts, plan), self.y, [], []
        for held in self.folds:
            weights, bias = fitted(x[~held], y[~held], self.labels, plan, ROUGHLY)
            margins.append(x[held] @ weights + bias)
            truth.append(y[held])
        found, true = np.concatenate(margins), np.concatenate(truth)
        t = temperature(found, true, doubt=True)
        nats = -float(cooled(found, t)[np.arange(len(true)), true].mean())
        return float((found.argmax(1) != true).mean()), nats, t

    def told(self, plan: Plan) -> str:
        """What was chosen, in words."""
        many = sum(int(held.sum()) for held in self.folds)
        share = f"{100 * (1 - self.tried[plan][0]):.1f} %"
        common = 100 * np.bincount(self.y).max() / len(self.y)
        right = f"{share} of {many:,} training sequences right, each guessed from the others"
        right += f" (the commonest label alone: {common:.1f} %)"
        length = f"n-grams of up to {plan.ngram}, weighed by {plan.weighting}, "
        spelled = "runs of letters, " if plan.spelling else ""
        return f"{length if plan.ngram else ''}{spelled}strength {plan.strength:g}: {right}"


def held_out(x: Field, y: np.ndarray) -> list[np.ndarray]:
    """(S,) masks of sequences that are guessed from the others: as many as give enough; none where
    there are too few."""
    fold = folds_of(x, y)
    many = max(1, min(FOLDS, round(FOLDS * ENOUGH / max(1, len(x)))))
    masks = [fold == each for each in range(many)]
    return [held for held in masks if held.any() and len(np.unique(y[~held])) > 1]


def folds_of(x: Field, y: np.ndarray) -> np.ndarray:
    """(S,) the fold of each sequence: equal ones together, of each label a fifth."""
    number: dict[bytes, int] = {}
    group = np.array(
        [number.setdefault(x.row(s).tobytes(), len(number)) for s in range(len(x))], np.int64
    )
    _, first = np.unique(group, return_index=True)  # (G,)
    order = np.lexsort((np.random.default_rng(0).permutation(len(first)), y[first]))
    fold = np.empty(len(first), np.int64)
    fold[order] = np.arange(len(first)) % FOLDS
    return fold[group]


# -- solvers


def chosen(x: Any, letters: Any, firsts: np.ndarray | None, plan: Plan) -> Any:
    """The features of a plan, as weighed: of counts of n-grams those short enough, with those of
    letters beside them; or traits."""
    if firsts is None:
        return x
    some = x[:, : firsts[plan.ngram]]
    features = weighed(some, plan.weighting, rarity_of(some))
    if not plan.spelling:
        return features
    from scipy.sparse import hstack  # type: ignore[import-untyped]  # has no stubs

    beside = weighed_letters(letters, plan.weighting, rarity_of(letters))
    both = hstack([features, beside]).tocsr()
    if plan.weighting == "tf-idf":
        both.data *= HALF
    return both


def weighed_letters(counts: Any, weighting: str, rarity: np.ndarray) -> Any:
    """(S, F') counts of runs of letters -> as weighed; of tf-idf their logarithm counts, since a
    run stands in many words of a text that have little to do with one another."""
    if weighting == "tf-idf":
        counts = counts.copy()
        counts.data = 1 + np.log(counts.data)
    return weighed(counts, weighting, rarity)


def fitted(
    x: Any, y: np.ndarray, labels: int, plan: Plan, near: float
) -> tuple[np.ndarray, np.ndarray]:
    """(S, F) features, (S,) labels -> (F, K) weights and (K,) bias."""
    if isinstance(x, np.ndarray):
        return regression(x, y, labels, plan.strength)
    if plan.weighting != "bayes":
        unit = plan.weighting == "tf-idf" and plan.strength <= DUAL
        return machines(x, y, labels, plan.strength, near, dual=unit)
    ratio = ratios(x, y, labels)
    weights, bias = np.zeros((x.shape[1], labels)), np.zeros(labels)
    for label in range(1 if labels == 2 else 0, labels):
        scaled = x.copy()
        scaled.data *= ratio[scaled.indices, label]
        own = (y == label).astype(np.int64)
        found, shift = machines(scaled, own, 2, plan.strength, near, dual=False)
        weights[:, label], bias[label] = found[:, 1] * ratio[:, label], shift[1]
    if labels == 2:
        weights[:, 0], bias[0] = -weights[:, 1], -bias[1]
    return weights, bias


def machines(
    x: Any, y: np.ndarray, labels: int, strength: float, near: float, dual: bool
) -> tuple[np.ndarray, np.ndarray]:
    """A support vector machine for each label against the others; of two labels, one and its
    mirror image, each with half of the margin. A label that is not there is not found.

    The dual is quicker where rows are of length one and weights may not grow too far; elsewhere it
    may take forever, and the primal does not.
    """
    from sklearn.svm import LinearSVC  # type: ignore[import-untyped]  # has no stubs

    there = np.unique(y)
    if len(there) < 2:
        return spread_out(np.zeros((1, x.shape[1])), np.zeros(1), there, labels)
    solver = LinearSVC(C=strength, tol=near, dual=dual, random_state=0)
    with LIBLINEAR:
        solver.fit(x, y)
    return spread_out(solver.coef_, solver.intercept_, there, labels)


def spread_out(
    weights: np.ndarray, bias: np.ndarray, there: np.ndarray, labels: int
) -> tuple[np.ndarray, np.ndarray]:
    """What scikit-learn keeps, (1 or K, F) and (1 or K,) of the labels that are there -> (F, K) and
    (K,) of all."""
    found, shift = np.zeros((weights.shape[1], labels)), np.full(labels, ABSENT)
    if len(there) > 2:
        found[:, there], shift[there] = weights.T, bias
    else:
        sides = np.array([-0.5, 0.5])[-len(there) :]
        found[:, there], shift[there] = weights.T * sides, bias * sides
    return found, shift


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

    found = LogisticRegression(C=strength, max_iter=1000).fit(x, y)
    return spread_out(found.coef_, found.intercept_, np.unique(y), labels)
