"""Taggers that count: the most frequent tag of each word, and the hidden Markov model of tags.

    p(x, y) = product of p(y_t | y_t-n .. y_t-1) p(x_t | y_t),  p(x_t | y_t) ~ p(y_t | x_t) / p(y_t)

Both factors are relative frequencies of tagged text, as in TnT (Brants 2000): a context of tags
leans on the shorter one, a word on its ending. Unlike a network nothing is trained: one pass over
the text is all. Of numbers, most-frequent knows the commonest tag, and hmm a normal distribution of
the numbers of each tag:

    p(x_t | y_t = k) = product over channels of normal(x_tc; m_kc, s_kc)

whose mean and variance lean, with the weight of one step, on those of all steps, 0 and 1.
Shapes: B rows, P time, U different words, V symbols, K tags, C channels.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.codecs.symbols import UNKNOWN
from seriatim.data.sequences import Field
from seriatim.distributions.chains import Chain
from seriatim.distributions.numbers import log_normal
from seriatim.distributions.symbols import Categorical, Distribution
from seriatim.models.base import Model, State
from seriatim.models.ngrams.counts import Progress, laid_out, taken
from seriatim.tasks.labels.codec import Examples
from seriatim.tasks.tag.models.endings import Endings, lean
from seriatim.tasks.tag.options import HmmOptions, MostFrequentOptions

LEAST = 1e-6  # variance, in units of that of all numbers


class MostFrequent(Model):
    """Every word the tags it had in training, whatever stands around it. Rare words lean on their
    endings; of unknown ones these are all that is known, or without letters, what words seen once
    are."""

    def __init__(
        self,
        vocabulary: int,
        options: MostFrequentOptions,
        labels: int,
        letters: int = 0,
        own: int = 0,
        channels: int = 0,
    ):
        self.vocabulary, self.options, self.labels = vocabulary, options, labels
        self.channels = channels
        self.counts = torch.zeros(vocabulary, labels, dtype=torch.int32)
        self.tags = self.unseen = torch.full(
            (labels,), 1 / labels, dtype=torch.float64
        )  # p(tag) of any word, and of words never seen
        self.endings: Endings | None = None

    def counting(self, examples: Examples) -> Iterator[Progress]:
        """Learn the tags of words, and of endings where the words are spelled."""
        yield {"words": "counting words", "share": 0.0}
        if self.channels:
            counts = np.bincount(examples.y.flat, minlength=self.labels)
            self.tags = torch.from_numpy(lean(counts, np.full(self.labels, 1 / self.labels), 1.0))
            return
        y, known = (
            examples.y.flat,
            tag_counts(examples.x.flat, examples.y.flat, self.vocabulary, self.labels),
        )
        words = (
            known
            if examples.words is None or examples.letters is None
            else tag_counts(examples.words, y, len(examples.letters), self.labels)
        )  # (U, K)
        once = words.sum(1) == 1
        once[UNKNOWN] |= examples.words is None
        tags = lean(words.sum(0), np.full(self.labels, 1 / self.labels), 1.0)
        unseen = lean(words[once].sum(0), tags, 1.0)
        known[UNKNOWN] = 0
        self.counts, self.tags, self.unseen = (
            torch.from_numpy(array) for array in (known, tags, unseen)
        )
        if examples.letters is not None:
            yield {"words": "counting endings", "share": 0.5}
            self.endings = Endings.learn(examples.letters, words, unseen, self.options)

    def alone(self, batch: Batch) -> Tensor:
        """(B, P, K) p(tag | word), each word by itself; numbers say nothing."""
        if self.channels:
            return self.tags.expand(*batch.x.shape[:2], self.labels)
        counts, guess, trust = self.counts[batch.x], self.unseen, self.options.word_trust
        if self.endings is not None and batch.letters is not None:
            guess = torch.from_numpy(self.endings(batch.letters.numpy(), self.unseen.numpy()))[
                batch.words
            ]
        return (counts + trust * guess) / (counts.sum(-1, keepdim=True) + trust)

    def predict(self, batch: Batch) -> Distribution:
        """(B, P) the distribution of the tag of each word by itself."""
        return Categorical(self.alone(batch).log())

    def unroll(self, batch: Batch, state: State = None) -> tuple[Distribution, State]:
        """The same; nothing is carried on."""
        return self.predict(batch), ()

    # -- keeping
    def arrays(self) -> dict[str, Tensor]:
        """Counts of tags by word, of tags, what unknown words are, and the endings."""
        return {"counts": self.counts, "tags": self.tags, "unseen": self.unseen} | (
            {} if self.endings is None else self.endings.arrays()
        )

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave; raises ValueError if it does not fit."""
        left = dict(arrays)
        self.take(left)
        if left:
            raise ValueError(f"arrays of another model: {', '.join(sorted(left))}")

    def take(self, left: dict[str, Tensor]) -> None:
        """Take what belongs to this model out of the arrays."""
        self.counts = taken(left, "counts", torch.int32, self.vocabulary, self.labels)
        self.tags, self.unseen = (
            taken(left, name, torch.float64, self.labels) for name in ("tags", "unseen")
        )
        self.endings = (
            Endings.of_arrays(left, self.labels, self.options.suffix)
            if "endings.keys" in left
            else None
        )

    def size(self) -> int:
        """Counts that are not zero."""
        return sum(int(torch.count_nonzero(array)) for array in self.arrays().values())


class HmmTagger(MostFrequent):
    """Unlike MostFrequent it judges all tags of a row together, by which follow each other."""

    options: HmmOptions

    def __init__(
        self,
        vocabulary: int,
        options: HmmOptions,
        labels: int,
        letters: int = 0,
        own: int = 0,
        channels: int = 0,
    ):
        super().__init__(vocabulary, options, labels, letters, own, channels)
        # of numbers, by tag: mean and variance
        self.normals = torch.zeros(2, labels, channels, dtype=torch.float64)
        self.steps = torch.full(
            (labels + 1,) * (options.order + 1), 1 / (labels + 1), dtype=torch.float64
        )  # p(the last | those before)

    def counting(self, examples: Examples) -> Iterator[Progress]:
        """As the model below, and which tags follow which."""
        yield from super().counting(examples)
        if self.channels:
            self.normals = torch.from_numpy(normals_of(examples, self.labels))
        steps = np.full(self.labels + 1, 1 / (self.labels + 1))
        for length in range(1, self.options.order + 2):
            yield {
                "words": f"counting runs of {length} tags",
                "share": length / (self.options.order + 2),
            }
            steps = lean(tag_grams(examples.y, self.labels, length), steps, self.options.tag_trust)
        self.steps = torch.from_numpy(steps)

    def predict(self, batch: Batch) -> Chain:
        """(B,) chains of tags."""
        unary, steps, tags = self.emitted(batch), self.steps.log(), self.labels
        begin, end = (
            steps[(tags,) * self.options.order][:tags],
            steps[..., tags],
        )  # (K,), (K + 1, ...)
        if self.options.order == 1:
            steps, end = steps[:tags, :tags], end[:tags]  # START is the beginning and nothing else
        return Chain(unary, steps, begin, end, batch.x_lengths)

    def emitted(self, batch: Batch) -> Tensor:
        """(B, P, K) log p(x_t | tag), but for what is the same for all tags."""
        if not self.channels:
            return self.alone(batch).log() - self.tags.log()
        mean, deviation = self.normals[0], self.normals[1].sqrt()  # (K, C) both
        return log_normal(batch.x.double()[..., None, :], mean, deviation).sum(-1)

    def arrays(self) -> dict[str, Tensor]:
        """As below, the steps from tag to tag, and of numbers what those of each tag are."""
        normals = {"normals": self.normals} if self.channels else {}
        return super().arrays() | {"steps": self.steps} | normals

    def take(self, left: dict[str, Tensor]) -> None:
        """Take its own out of the arrays that are left."""
        super().take(left)
        self.steps = taken(left, "steps", torch.float64, *self.steps.shape)
        if self.channels:
            self.normals = taken(left, "normals", torch.float64, *self.normals.shape)
            if not bool((self.normals[1] > 0).all()):
                raise ValueError("normals have variances that are none")


def normals_of(examples: Examples, labels: int) -> np.ndarray:
    """(2, K, C) mean and variance of the numbers of each tag.

    >>> from seriatim.data.sequences import NUMBERS
    >>> def field(values):
    ...     return Field(np.array(values), np.array([0, len(values)]), NUMBERS)
    >>> normals_of(Examples(field([[1.0], [3.0]]), field([0, 0])), 2).round(4).tolist()
    [[[1.3333], [0.0]], [[1.2963], [1.0]]]
    """
    x, y = examples.x.flat.astype(np.float64), examples.y.flat
    member = (y[:, None] == np.arange(labels)).astype(np.float64)  # (N, K)
    many = member.sum(0)[:, None] + 1
    mean = member.T @ x / many  # (K, C)
    squares = member.T @ x**2 - 2 * mean * (member.T @ x) + (many - 1) * mean**2
    return np.stack([mean, np.maximum(LEAST, (squares + 1) / many)])


def tag_counts(words: np.ndarray, y: np.ndarray, many: int, labels: int) -> np.ndarray:
    """(N,) words and their tags -> (many, K) how often each word had each tag."""
    return (
        np.bincount(words.astype(np.int64) * labels + y, minlength=many * labels)
        .reshape(many, labels)
        .astype(np.int32)
    )


def tag_grams(y: Field, labels: int, length: int) -> np.ndarray:
    """(K + 1, ...) how often each run of tags occurred. Number K stands before the beginning of a
    row and behind its end."""
    symbols = laid_out(y, labels, stop=False).astype(np.int64)  # what ends a row begins the next
    newer, code = symbols[:-1], symbols[1:]
    for back in range(1, length):
        code = code + newer * (labels + 1) ** back
        newer = np.where(
            newer == labels, labels, np.roll(symbols, back)[:-1]
        )  # before the beginning there is only K
    return np.bincount(code, minlength=(labels + 1) ** length).reshape((labels + 1,) * length)
