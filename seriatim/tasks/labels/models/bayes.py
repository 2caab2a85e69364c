"""Labels by counting: how would each label have written this sequence?

    p(c | x) ~ p(c) p(x | c)                        Bayes' rule, in logarithms

    majority       p(c) alone
    naive-bayes    p(x | c) = product of p(w | c): each word by itself
    markov-bayes   p(x | c) by any language model that counts, one for each label

Unlike a language model, which says how likely a text is, the ratio of several says who wrote it.
All of them can tell what each symbol contributed, exactly. Unlike the others, `majority` does not
mind whether sequences are symbols or numbers. Shapes: B rows, P time, K labels, F features, N
places.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.codecs.symbols import STOP
from seriatim.distributions.symbols import Categorical, Distribution
from seriatim.errors import ConfigError
from seriatim.models.base import Model, State
from seriatim.models.ngrams.ngram import Markov, Ngram
from seriatim.models.ngrams.options import MarkovOptions, NgramOptions
from seriatim.tasks.labels.codec import Examples
from seriatim.tasks.labels.models.ngrams import NgramIndex, field_of
from seriatim.tasks.labels.options import MajorityOptions, MarkovBayesOptions, NaiveBayesOptions


class Additive(Model):
    """A model whose logits are a sum of what the symbols contribute: `contributions` is all there
    is."""

    def __init__(
        self,
        vocabulary: int,
        options: Any,
        labels: int,
        letters: int = 0,
        own: int = 0,
        channels: int = 0,
    ):
        self.vocabulary, self.options, self.labels, self.channels = (
            vocabulary,
            options,
            labels,
            channels,
        )
        self.prior = torch.full((labels,), -math.log(labels), dtype=torch.float64)

    def contributions(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """(B, P, K) what each symbol adds to the logit of each label, and (B, K) what was there
        before: together, and with what the end adds, they are the logits."""
        raise TypeError(f"{type(self).__name__} does not say what it adds")

    def ending(self, batch: Batch) -> Tensor | None:
        """(B, K) what the end of the sequence adds; None where it is not counted."""
        return None

    def scores(self, batch: Batch) -> Tensor:
        """(B, K)."""
        added, before = self.contributions(batch)
        return before + added.sum(1)

    def said(self, scores: Tensor) -> Distribution:
        """(B, K) scores -> the distribution of the label."""
        return Categorical(scores)

    def predict(self, batch: Batch) -> Distribution:
        """(B,) distributions of the label of each sequence."""
        return self.said(self.scores(batch))

    def unroll(self, batch: Batch, state: State = None) -> tuple[Distribution, State]:
        """(B, 1) the same as a sequence of one output."""
        return self.predict(batch)[:, None], ()

    def count_labels(self, y: np.ndarray, prior: str = "counts") -> None:
        """How likely each label is before anything is read: as often as in training, or all
        alike."""
        if prior == "counts":
            self.prior = (
                torch.from_numpy(np.bincount(y, minlength=self.labels) / max(1, len(y)))
                .clamp(min=1e-12)
                .log()
            )

    def spread(
        self, lengths: Tensor, width: int, found: tuple[np.ndarray, ...], values: Tensor
    ) -> Tensor:
        """(B,) lengths of rows, (N, K) contributions of n-grams -> (B, P, K): each shared among its
        symbols."""
        _, row, place, length = map(torch.from_numpy, found)
        starts = torch.cat([torch.zeros(1, dtype=torch.long), lengths.cumsum(0)])[:-1]
        added = torch.zeros(len(lengths), width, self.labels, dtype=torch.float64)
        for back in range(int(length.max()) if len(length) else 0):
            some = length > back
            added.index_put_(
                (row[some], (place - back - starts[row])[some]),
                (values / length[:, None])[some],
                accumulate=True,
            )
        return added

    def arrays(self) -> dict[str, Tensor]:
        """What was learned, by name."""
        return {"prior": self.prior}

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave; raises ValueError if it does not fit."""
        self.prior = fitting(arrays, "prior", self.labels)


def fitting(arrays: dict[str, Tensor], name: str, *shape: int) -> Tensor:
    """The array of this name and shape."""
    found = arrays.get(name)
    if found is None or found.shape != shape or found.dtype != torch.float64:
        raise ValueError(f"{name} is missing or does not fit")
    return found


class Majority(Additive):
    """Every sequence has the most frequent label."""

    options: MajorityOptions

    def counting(self, examples: Examples) -> Iterator[dict[str, Any]]:
        """Count the labels."""
        self.count_labels(examples.y.flat)
        yield {"words": "labels", "share": 1.0}

    def contributions(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """No symbol adds anything to how frequent labels are."""
        return torch.zeros(*batch.x.shape[:2], self.labels, dtype=torch.float64), self.prior.expand(
            len(batch.x), -1
        )


class Weighed(Additive):
    """A weight for each n-gram and label, however it was found."""

    def __init__(
        self,
        vocabulary: int,
        options: Any,
        labels: int,
        letters: int = 0,
        own: int = 0,
        channels: int = 0,
    ):
        super().__init__(vocabulary, options, labels, letters, own, channels)
        self.grams, self.weights = (
            NgramIndex(vocabulary, options.ngram),
            torch.zeros(0, labels, dtype=torch.float64),
        )

    def amounts(self, found: tuple[np.ndarray, ...], rows: int) -> np.ndarray:
        """(N,) how much each place where an n-gram stands counts."""
        return np.ones(len(found[0]))

    def contributions(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """(B, P, K) the weights of the n-grams that end at each place, and (B, K) the prior."""
        found = self.grams.find(field_of(batch.x, batch.x_lengths))
        values = (
            self.weights[torch.from_numpy(found[0])]
            * torch.from_numpy(self.amounts(found, len(batch.x)))[:, None]
        )
        added = self.spread(batch.x_lengths, batch.x.shape[1], found, values)
        return added, self.prior.expand(len(batch.x), -1)

    def arrays(self) -> dict[str, Tensor]:
        """The prior, the n-grams that are known, and their weights."""
        return {**super().arrays(), **self.grams.arrays(), "weights": self.weights}

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave; raises ValueError if it does not fit."""
        super().load_arrays(arrays)
        self.grams.load_arrays(arrays)
        self.weights = fitting(arrays, "weights", self.grams.firsts[-1], self.labels)


def first_times(found: tuple[np.ndarray, ...], rows: int) -> np.ndarray:
    """(N,) one over how often the n-gram stands in its row: all its places together count once."""
    _, inverse, counts = np.unique(
        found[0] * rows + found[1], return_inverse=True, return_counts=True
    )
    return 1 / counts[inverse]


def refuse_numbers(name: str, channels: int) -> None:
    """An error if what is to be read is numbers."""
    if channels:
        raise ConfigError(
            f"{name} counts symbols, and these are numbers",
            got=f"{channels} channel{'s' * (channels > 1)}",
            do="Models that read numbers: majority, linear, mean, convolution, rnn, gru, lstm, "
            "transformer",
        )


class NaiveBayes(Weighed):
    """p(w | c) = (count of w under c + add) / (count of all words under c + add F)."""

    options: NaiveBayesOptions

    def __init__(
        self,
        vocabulary: int,
        options: NaiveBayesOptions,
        labels: int,
        letters: int = 0,
        own: int = 0,
        channels: int = 0,
    ):
        refuse_numbers("naive-bayes", channels)
        super().__init__(vocabulary, options, labels)

    def amounts(self, found: tuple[np.ndarray, ...], rows: int) -> np.ndarray:
        """How much each n-gram found counts: each time, or only the first in its sequence."""
        return first_times(found, rows) if self.options.presence else super().amounts(found, rows)

    def counting(self, examples: Examples) -> Iterator[dict[str, Any]]:
        """Count labels, n-grams, and n-grams by label; weights are logarithms of their shares."""
        self.count_labels(examples.y.flat, self.options.prior)
        self.grams.learn(examples.x, 1)
        yield {"words": "n-grams", "share": 0.5}
        found = self.grams.find(examples.x)
        cell = found[0] * self.labels + examples.y.flat[found[1]]
        counts = (
            np.bincount(
                cell, self.amounts(found, len(examples)), int(self.grams.firsts[-1]) * self.labels
            ).reshape(-1, self.labels)
            + self.options.add
        )
        self.weights = torch.from_numpy(np.log(counts / counts.sum(0)))  # (F, K)
        yield {"words": "n-grams", "share": 1.0}


def language_model(vocabulary: int, options: MarkovBayesOptions) -> Ngram:
    """The model that is counted for each label."""
    if options.counts in ("unigram", "markov"):
        order = options.order if options.counts == "markov" else 0
        own = MarkovOptions(
            order=order,
            add=options.add,
            first=options.first,
            ends=options.ends,
            closed=options.closed,
        )
        return Markov(vocabulary, own)
    if (options.first, options.ends, options.closed) != ("start", True, False):
        raise ConfigError(
            "first, ends and closed are of textbook counting",
            got=f"counts {options.counts}",
            do="Choose the counts markov or unigram",
        )
    smoothing = "modified-kneser-ney" if options.counts == "kneser-ney" else options.counts
    return Ngram(vocabulary, NgramOptions(order=max(1, options.order), smoothing=smoothing))


class MarkovBayes(Additive):
    """One language model for each label; the end of a sequence counts like a symbol."""

    options: MarkovBayesOptions

    def __init__(
        self,
        vocabulary: int,
        options: MarkovBayesOptions,
        labels: int,
        letters: int = 0,
        own: int = 0,
        channels: int = 0,
    ):
        refuse_numbers("markov-bayes", channels)
        super().__init__(vocabulary, options, labels)
        self.parts_of = [language_model(vocabulary, options) for _ in range(labels)]

    def counting(self, examples: Examples) -> Iterator[dict[str, Any]]:
        """An n-gram model of the sequences of each label."""
        self.count_labels(examples.y.flat, self.options.prior)
        known = np.bincount(examples.x.flat, minlength=self.vocabulary) > 0  # under any label
        known[STOP] = self.options.ends
        for label, model in enumerate(self.parts_of):
            own = examples.x.take(np.flatnonzero(examples.y.flat == label))
            for _ in model.counting(own, stop=True, known=known):
                pass
            yield {"words": "a language model for each label", "share": (label + 1) / self.labels}

    def contributions(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """(B, P, K) the log-probability of each symbol, and (B, K) the prior."""
        return self.swept(batch)[0], self.prior.expand(len(batch.x), -1)

    def ending(self, batch: Batch) -> Tensor:
        """(B, K) the log-probability that it ends here."""
        return self.swept(batch)[1]

    def scores(self, batch: Batch) -> Tensor:
        """(B, K)."""
        added, end = self.swept(batch)
        return self.prior + end + added.sum(1)

    def swept(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """(B, P, K) the log-probability of each symbol, and (B, K) that of the end."""
        ids = field_of(batch.x, batch.x_lengths)
        added = torch.zeros(len(batch.x), batch.x.shape[1] + 1, self.labels, dtype=torch.float64)
        real = (
            torch.arange(batch.x.shape[1] + 1) <= batch.x_lengths[:, None]
        )  # (B, P + 1) with the end
        for label, model in enumerate(self.parts_of):
            swept = torch.from_numpy(model.sweep(ids, stop=True)).double()
            if self.options.closed or not self.options.ends:
                swept[swept.isneginf()] = 0.0  # what nothing is kept for, under any label
            added[..., label][real] = swept.clamp(min=-1e4)
        ends = torch.arange(batch.x.shape[1] + 1) == batch.x_lengths[:, None]
        return (added * ~ends[..., None])[:, :-1], added[ends]

    def arrays(self) -> dict[str, Tensor]:
        """The prior, and what the model of each label learned."""
        return super().arrays() | {
            f"{label}.{name}": array
            for label, model in enumerate(self.parts_of)
            for name, array in model.arrays().items()
        }

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave; raises ValueError if it does not fit."""
        super().load_arrays(arrays)
        for label, model in enumerate(self.parts_of):
            model.load_arrays(
                {
                    name[len(f"{label}.") :]: array
                    for name, array in arrays.items()
                    if name.startswith(f"{label}.")
                }
            )
