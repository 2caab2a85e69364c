"""A translator that counts: which symbols go with which, where they stand, and which follow each
other.

    p(y_t | x, y_1 .. y_{t-1})  ~  (sum_i a(i | t) t(y_t | x_i))  p(y_t | y_{t-n+1} .. y_{t-1}) / p(y_t)

The table t is found by expectation and maximisation (IBM's models 1 and 2: Brown et al. 1993),
positions lean to the diagonal (Dyer et al. 2013), and a Kneser-Ney model of the target says what
follows what. Unlike an encoder-decoder it learns nothing of the sentence as a whole: what a symbol
becomes does not depend on its neighbours, and order that is not nearly that of the source is beyond
it. The rung that others must beat. Shapes: B rows, P source, V symbols of the target, N cells (a
symbol of the target beside one of the source), K different pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.codecs.symbols import STOP
from seriatim.data.sequences import SYMBOLS, Field
from seriatim.distributions.symbols import Categorical, Distribution
from seriatim.errors import ConfigError
from seriatim.models.base import Shared, State
from seriatim.models.ngrams.ngram import Ngram
from seriatim.models.ngrams.options import NgramOptions
from seriatim.tasks.translate.codec import EncodedPairs
from seriatim.tasks.translate.models.counted import CountedPairs, refuse_further
from seriatim.tasks.translate.options import LexiconOptions

MOST_CELLS = 20_000_000  # of the training data that are aligned


FLOOR = 1e-6  # share of a symbol that any source explains


TINY = 1e-9  # what a translation that is not in the table counts beside one that is


ALIGNMENT = "alignment"  # the name of what `trace` gives


class LexicalTranslator(CountedPairs):
    """State: what is kept of the source (Shared: lengths, and for each position the table's row),
    the place, and the state of the n-grams."""

    def __init__(
        self,
        vocabulary: int,
        options: LexiconOptions,
        sources: int,
        numbers: int = 0,
        shared: bool = False,
        seen: int = 0,
        further: tuple[tuple[int, int], ...] = (),
    ):
        refuse_further(further)
        if numbers:
            raise ConfigError(
                "a lexicon needs symbols to look up",
                got="a source of numbers",
                do="Use an encoder-decoder",
            )
        self.vocabulary, self.options, self.sources = vocabulary, options, sources
        self.language = Ngram(vocabulary, NgramOptions(order=options.order))
        self.keys = torch.zeros(0, dtype=torch.int64)  # (K,) source * V + target, in order
        self.values = torch.zeros(0)  # (K,) t(target | source)
        self.once = torch.full((vocabulary,), 1 / vocabulary)  # p(y)
        self.ratio = torch.ones(1)  # symbols of a target for each of its source

    def counting_pairs(self, pairs: EncodedPairs) -> Iterator[dict[str, Any]]:
        """Align the pairs, keep the table, and count the n-grams of the targets."""
        with_ends = ended(pairs.y)
        counts = np.bincount(with_ends.flat, minlength=self.vocabulary) + 1.0
        self.once = torch.from_numpy(counts / counts.sum()).float()
        self.ratio = torch.tensor([len(with_ends.flat) / max(1, len(pairs.x.flat))])
        kept = int(
            np.searchsorted(np.cumsum(pairs.x.lengths * with_ends.lengths), MOST_CELLS, "right")
        )
        if kept < len(pairs):
            yield {
                "note": f"the lexicon is learned from the first {max(1, kept):,} of {len(pairs):,} pairs"
            }
        yield from self.align(
            pairs.x.take(slice(0, max(1, kept))), with_ends.take(slice(0, max(1, kept)))
        )
        for progress in self.language.counting(pairs.y, stop=True):
            yield (
                progress
                if "note" in progress
                else progress | {"share": 0.9 + 0.1 * progress["share"]}
            )

    def align(self, x: Field, y: Field) -> Iterator[dict[str, Any]]:
        """Expectation: of which symbol of the source is each symbol of the target the translation?
        Maximisation: count that."""
        sources, targets, place, group = cells(x, y, self.options.spread)
        keys, where = np.unique(
            sources * np.int64(self.vocabulary) + targets, return_inverse=True
        )  # (K,), (N,)
        first = (keys // self.vocabulary).astype(np.int64)
        values = np.ones(len(keys))
        for number in range(self.options.rounds):
            yield {"words": "aligning", "share": 0.9 * number / self.options.rounds}
            share = place * values[where]  # (N,)
            share /= np.bincount(group, share)[group]
            counts = np.bincount(where, share, len(keys))
            values = counts / np.bincount(first, counts)[first]
        likely = values >= self.options.least
        self.keys, self.values = (
            torch.from_numpy(keys[likely]),
            torch.from_numpy(values[likely]).float(),
        )

    # -- asking
    def rows(self, x: Tensor) -> Tensor:
        """(B, P) symbols -> (B, P, V) t( . | symbol)."""
        table = torch.zeros(*x.shape, self.vocabulary)
        begin, end = (
            torch.searchsorted(self.keys, (x + more) * self.vocabulary) for more in (0, 1)
        )
        for place in torch.nonzero(end > begin).tolist():
            some = slice(int(begin[tuple(place)]), int(end[tuple(place)]))
            table[tuple(place)][self.keys[some] % self.vocabulary] = self.values[some]
        return table

    def start(self, batch: Batch) -> tuple[Distribution, State]:
        """The first symbol of each target, and the state that holds the source."""
        nothing = Batch(batch.x[:, :0], torch.zeros_like(batch.x_lengths), batch.y, batch.y_mask)
        following, inner = self.language.start(nothing)
        memory = Shared((torch.arange(len(batch.x)), batch.x_lengths, self.rows(batch.x)))
        return self.joint(memory, torch.zeros(len(batch.x), dtype=torch.long), following), (
            memory,
            torch.zeros(len(batch.x), dtype=torch.long),
            inner,
        )

    def step(self, y: Tensor, state: State) -> tuple[Distribution, State]:
        """What follows y at the next place."""
        memory, place, inner = state
        following, inner = self.language.step(y, inner)
        return self.joint(memory, place + 1, following), (memory, place + 1, inner)

    def joint(self, memory: Shared, place: Tensor, following: Distribution) -> Categorical:
        """(B,) places, what the n-grams expect -> (B,) distributions."""
        owner, lengths, table = memory
        a = self.near(place, lengths[owner], table.shape[1])
        translated = torch.bmm(a[:, None], table[owner])[:, 0]  # (B, V)
        translated = (1 - FLOOR) * translated + FLOOR * self.once
        return Categorical(translated.log() + following.log_probs().float() - self.once.log())

    def near(self, place: Tensor, lengths: Tensor, sources: int) -> Tensor:
        """(B,) places of targets, lengths of sources -> (B, P) a: how near the diagonal each place
        of a source is, with sum 1."""
        there = torch.arange(sources)
        far = (there - (place / self.ratio)[:, None]).abs() / (
            self.options.spread * lengths[:, None]
        )
        a = torch.exp(-far.clamp(max=60.0)) * (there < lengths[:, None])
        return a / a.sum(1, keepdim=True)

    def trace(self, batch: Batch) -> dict[str, Tensor]:
        """alignment (B, 1, T, P): of which symbol of the source each of y is the translation, as
        the table and the places tell; where the table does not know it, as the places do alone."""
        table, wanted = self.rows(batch.x), batch.y[:, None].expand(-1, batch.x.shape[1], -1)
        known = table.gather(2, wanted).transpose(1, 2)  # (B, T, P) t(y | x)
        owner = torch.arange(len(batch.x))
        near = torch.stack(
            [
                self.near(owner.new_full(owner.shape, t), batch.x_lengths, batch.x.shape[1])
                for t in range(batch.y.shape[1])
            ],
            1,
        )  # (B, T, P)
        both = (known + TINY) * near
        return {ALIGNMENT: (both / both.sum(-1, keepdim=True))[:, None]}

    # -- keeping it
    def arrays(self) -> dict[str, Tensor]:
        """The table, the frequencies, the ratio of lengths, and the n-grams."""
        own = {"keys": self.keys, "values": self.values, "once": self.once, "ratio": self.ratio}
        return own | {f"language.{name}": array for name, array in self.language.arrays().items()}

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave; raises ValueError if it does not fit."""
        own = {"keys": self.keys, "values": self.values, "once": self.once, "ratio": self.ratio}
        missing = own.keys() - arrays.keys()
        if missing:
            raise ValueError(f"arrays that are missing: {', '.join(sorted(missing))}")
        keys, values, once, ratio = (arrays[name] for name in own)
        sound = (
            all(arrays[name].dtype == each.dtype for name, each in own.items())
            and keys.shape == values.shape
            and once.shape == (self.vocabulary,)
            and ratio.shape == (1,)
        )
        if not sound or (
            len(keys)
            and (
                bool((keys[1:] <= keys[:-1]).any())
                or int(keys[0]) < 0
                or int(keys[-1]) >= self.sources * self.vocabulary
            )
        ):
            raise ValueError("its translations are not a table")
        self.keys, self.values, self.once, self.ratio = keys, values, once, ratio
        self.language.load_arrays(
            {
                name.removeprefix("language."): array
                for name, array in arrays.items()
                if name.startswith("language.")
            }
        )


def ended(y: Field) -> Field:
    """The same sequences, each with its STOP."""
    offsets = y.offsets - y.offsets[0]
    return Field(np.insert(y.flat, offsets[1:], STOP), offsets + np.arange(len(offsets)), SYMBOLS)


def cells(
    x: Field, y: Field, spread: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Every symbol of a target beside every one of its source: (N,) sources, targets, how near the
    diagonal, and which symbol of the target."""
    many = np.repeat(
        x.lengths, y.lengths
    )  # for each symbol of the targets, the length of its source
    group = np.repeat(np.arange(len(y.flat)), many)  # (N,)
    inside = np.arange(len(group)) - np.repeat(
        np.cumsum(many) - many, many
    )  # (N,) place in the source
    source = np.repeat(np.repeat(x.offsets[:-1] - x.offsets[0], y.lengths), many) + inside
    ratio = np.repeat(
        x.lengths / np.maximum(1, y.lengths), y.lengths
    )  # for each symbol of the targets
    here = (np.arange(len(y.flat)) - np.repeat(y.offsets[:-1] - y.offsets[0], y.lengths)) * ratio
    far = np.abs(inside - here[group]) / (spread * many[group])
    return (
        x.flat[source].astype(np.int64),
        y.flat[group].astype(np.int64),
        np.exp(-np.minimum(far, 60.0)),
        group,
    )
