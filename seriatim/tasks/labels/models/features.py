"""What linear models look at: n-grams of symbols, or traits of numbers.

    counts   x how often the n-gram stands in the sequence
    tf-idf   x = count * (log((1 + S) / (1 + sequences with it)) + 1), each row of length one
    bayes    x = 1 if it is there

Letters know where words begin and end: blanks are edges, so are the two ends of the sequence, and
an n-gram may begin or end with an edge but has none inside (the `char_wb` of scikit-learn). Where
sequences are numbers, features are their traits (see `seriatim.tasks.labels.models.statistics`),
each with mean zero and variance one in the training data.
Shapes: B rows, P time, S sequences, F features, K labels, V symbols.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.codecs.symbols import STOP
from seriatim.data.sequences import SYMBOLS, Field, offsets_of
from seriatim.tasks.labels.codec import Examples
from seriatim.tasks.labels.models.bayes import Weighed, first_times, fitting
from seriatim.tasks.labels.models.ngrams import field_of
from seriatim.tasks.labels.models.statistics import count_of, traits

EDGE = STOP  # the end of a sequence is no symbol of any: its number serves for the edge of a word


class Featured(Weighed):
    """Naive Bayes' features with weights that are found together: `solve` is all there is."""

    weighting = "tf-idf"

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
        self.rarity = torch.zeros(0, dtype=torch.float64)  # (F,) of tf-idf
        self.edges = torch.zeros(0, dtype=torch.float64)  # (V,) 1 where a symbol is a blank
        # (2, F) mean and deviation of traits
        self.scale = torch.ones(2, count_of(channels), dtype=torch.float64)

    def counting(self, examples: Examples) -> Iterator[dict[str, Any]]:
        """Know the features of the training data, then find their weights."""
        if self.channels:
            x = self.learn_traits(examples.x)
        else:
            x = self.learn_grams(examples)
        yield {"words": "weights", "share": 0.2}
        yield from self.solve(x, examples)
        yield {"words": "weights", "share": 1.0}

    def solve(self, x: Any, examples: Examples) -> Iterator[dict[str, Any]]:
        """Find `weights` and `prior` of (S, F) traits, or of counts of n-grams; tells what is worth
        knowing."""
        raise TypeError(f"{type(self).__name__} does not say how it finds weights")

    # -- n-grams
    def learn_grams(self, examples: Examples) -> Any:
        """(S, F) sparse: how often each n-gram stands in a sequence."""
        if examples.blanks is not None:
            self.edges = torch.zeros(self.vocabulary, dtype=torch.float64)
            self.edges[examples.blanks] = 1.0
            self.grams.edge = EDGE
        x = self.edged(examples.x)
        self.grams.learn(x, self.options.least)
        return self.counts(x)

    def counts(self, x: Field) -> Any:
        """(S, F) sparse: how often each known n-gram stands in each of these sequences."""
        from scipy.sparse import csr_matrix  # type: ignore[import-untyped]  # has no stubs

        found = self.grams.find(x)
        shape = len(x), int(self.grams.firsts[-1])
        return csr_matrix((np.ones(len(found[0])), (found[1], found[0])), shape)

    def edged(self, x: Field) -> Field:
        """The same sequences, between two edges and with edges for blanks, where words are known."""
        if not len(self.edges):
            return x
        lengths = x.lengths + 2
        offsets = offsets_of(lengths)
        flat = np.full(offsets[-1], EDGE, x.flat.dtype)
        inner = np.ones(len(flat), bool)
        inner[offsets[:-1]] = inner[offsets[1:] - 1] = False
        flat[inner] = np.where(self.edges.numpy()[x.flat] > 0, EDGE, x.flat)
        return Field(flat, offsets, SYMBOLS)

    def amounts(self, found: tuple[np.ndarray, ...], rows: int) -> np.ndarray:
        """How much each n-gram found counts, by the weighting that was chosen."""
        if self.weighting == "counts":
            return super().amounts(found, rows)
        if self.weighting == "bayes":
            return first_times(found, rows)
        rare = self.rarity.numpy()[found[0]]
        share = first_times(found, rows)  # 1 / n where it stands n times
        # (S,) each n-gram of a row once
        squares = np.bincount(found[1], (rare / share) ** 2 * share, rows)
        return rare / np.sqrt(np.maximum(squares, 1e-12))[found[1]]

    def contributions(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """(B, P, K) what the n-grams around each symbol add, and (B, K) the prior; an edge's share
        goes to the symbol beside it."""
        if not len(self.edges):
            return super().contributions(batch)
        x = self.edged(field_of(batch.x, batch.x_lengths))
        found = self.grams.find(x)
        amounts = torch.from_numpy(self.amounts(found, len(batch.x)))
        values = self.weights[torch.from_numpy(found[0])] * amounts[:, None]
        lengths = batch.x_lengths
        wide = self.spread(lengths + 2, batch.x.shape[1] + 2, found, values)  # (B, P + 2, K)
        first, last = wide[:, 0], wide[torch.arange(len(wide)), lengths + 1]  # (B, K) of the ends
        behind = torch.arange(batch.x.shape[1]) >= lengths[:, None]
        added = wide[:, 1:-1].masked_fill(behind[..., None], 0.0)
        rows = torch.arange(len(wide))[lengths > 0]
        added[rows, 0] += first[rows]
        added[rows, lengths[rows] - 1] += last[rows]
        nothing = (lengths == 0)[:, None]
        return added, self.prior + torch.where(nothing, first + last, 0.0)

    def scores(self, batch: Batch) -> Tensor:
        """(B, K) logits: the same sums at once."""
        if self.channels:
            return self.traits_of(batch) @ self.weights + self.prior
        counts = self.counts(self.edged(field_of(batch.x, batch.x_lengths)))
        return torch.from_numpy(self.weigh(counts) @ self.weights.numpy()) + self.prior

    def weigh(self, counts: Any) -> Any:
        """(S, F) counts -> (S, F) as weighed."""
        return weighed(counts, self.weighting, self.rarity.numpy())

    # -- numbers
    def learn_traits(self, x: Field) -> np.ndarray:
        """(S, F) on one scale."""
        found = traits((x.row(s) for s in range(len(x))), self.channels)
        deviation = found.std(0)
        self.scale = torch.from_numpy(
            np.stack([found.mean(0), np.where(deviation > 1e-9, deviation, 1.0)])
        )
        return (found - self.scale[0].numpy()) / self.scale[1].numpy()

    def traits_of(self, batch: Batch) -> Tensor:
        """(B, F) on the same scale."""
        pairs = zip(batch.x.numpy(), batch.x_lengths.tolist(), strict=True)
        found = torch.from_numpy(traits((row[:length] for row, length in pairs), self.channels))
        return (found - self.scale[0]) / self.scale[1]

    # -- what is kept
    def arrays(self) -> dict[str, Tensor]:
        """Prior and weights, and what makes the features."""
        if self.channels:
            return {"prior": self.prior, "weights": self.weights, "scale": self.scale}
        edges = {"edges": self.edges} if len(self.edges) else {}
        return {**super().arrays(), "rarity": self.rarity, **edges}

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave; raises ValueError if it does not fit."""
        if not self.channels:
            super().load_arrays(arrays)
            self.rarity = fitting(arrays, "rarity", len(self.weights))
            if "edges" in arrays:
                self.edges, self.grams.edge = fitting(arrays, "edges", self.vocabulary), EDGE
            return
        self.prior = fitting(arrays, "prior", self.labels)
        self.scale = fitting(arrays, "scale", *self.scale.shape)
        self.weights = fitting(arrays, "weights", self.scale.shape[1], self.labels)


def rarity_of(counts: Any) -> np.ndarray:
    """(S, F) counts -> (F,) the idf of tf-idf, as scikit-learn has it."""
    rows, features = counts.shape
    return np.log((1 + rows) / (1 + np.bincount(counts.indices, minlength=features))) + 1


def weighed(counts: Any, weighting: str, rarity: np.ndarray) -> Any:
    """(S, F) counts, of which each n-gram stands once in a row -> (S, F) as weighed."""
    if weighting == "counts":
        return counts
    found = counts.copy()
    if weighting == "bayes":
        found.data[:] = 1.0
        return found
    found.data *= rarity[found.indices]
    row = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
    squares = np.bincount(row, found.data**2, found.shape[0])
    found.data /= np.sqrt(np.maximum(squares, 1e-12))[row]
    return found
