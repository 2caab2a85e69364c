"""Words as vectors: predictor, cbow, skip-gram (Mikolov et al. 2013). A word is known by the
company it keeps.

    predictor   h = the vector of the word before
    cbow        h = (1 / 2k) sum of the vectors of the k words on each side
    skip-gram   h = the vector of each of them, one guess for each
    p(word | h) = softmax(U h)

Unlike a network for language these models have no hidden layer and no order, and are not asked what
comes next: the guess is only the occasion to learn the vectors. The softmax over all words is
replaced by a few comparisons: with words drawn at random (negative sampling), or along the word's
way through a Huffman tree (hierarchical softmax). With subwords a word's vector is the mean of its
own and those of its runs of characters (Bojanowski et al. 2017). Shapes: V words, D width, B
buckets.
"""

from __future__ import annotations

import heapq
from collections.abc import Generator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.models.base import Model
from seriatim.tasks.words.options import VectorsOptions

FIRST = 2  # words before this one are <unk> and </s>, which have no vectors


@dataclass(frozen=True)
class VectorTables:
    """What the inner loop looks up, found once from the words and their counts."""

    keep: np.ndarray  # (V,) chance to stay in the text
    part_offsets: np.ndarray  # (V + 1,), with `parts`: the rows of `inputs` that make up a word
    parts: np.ndarray
    chance: np.ndarray  # (V,), with `other`: alias table of the words drawn at random
    other: np.ndarray
    path_offsets: np.ndarray  # (V + 1,), with `nodes` and `codes`: each word's way through the tree
    nodes: np.ndarray
    codes: np.ndarray


class Vectors(Model):
    """`inputs` (V + B, D) are the vectors asked for, `outputs` those they are compared with;
    `counts` (V,) how often each word was read."""

    KINDS = {"skip-gram": 0, "cbow": 1, "predictor": 2}  # as in kernels.py
    learns = "its own way"
    per = "nats per place"  # what its loss is

    def __init__(self, vocabulary: int, options: VectorsOptions, kind: str):
        self.vocabulary, self.options, self.kind = vocabulary, options, kind
        rows = vocabulary + (options.buckets if options.subwords else 0)
        self.inputs, self.outputs = (
            torch.zeros(rows, options.width),
            torch.zeros(vocabulary, options.width),
        )
        self.counts = torch.zeros(vocabulary, dtype=torch.int64)
        self.made_of: tuple[np.ndarray, np.ndarray] | None = None

    def learning(
        self, lesson: Any, options: Any, checkpoint: Path | None
    ) -> Generator[dict[str, Any], None, None]:
        """The text in rounds, by compiled loops: see `seriatim.tasks.words.training`."""
        from seriatim.tasks.words.training import loop_of

        return loop_of(self, lesson, options, checkpoint).run()

    def begin(self, counts: np.ndarray, seed: int) -> None:
        """Small random inputs, outputs of zero."""
        generator = torch.Generator().manual_seed(seed)
        self.counts = torch.from_numpy(counts.astype(np.int64))
        self.inputs = (
            torch.rand(self.inputs.shape, generator=generator) - 0.5
        ) / self.options.width
        self.outputs = torch.zeros_like(self.outputs)

    def tables(self, words: list[str]) -> VectorTables:
        """What the inner loop looks up: subsampling, parts, words to draw, ways through the
        tree."""
        o, counts = self.options, self.counts.numpy().astype(np.float64)
        counts[:FIRST] = 0
        share = counts / max(1.0, counts.sum())
        with np.errstate(divide="ignore", invalid="ignore"):
            keep = (
                np.where(share > 0, (np.sqrt(share / o.subsample) + 1) * o.subsample / share, 1.0)
                if o.subsample
                else np.ones(len(counts))
            )
        chance, other = alias_table(np.where(counts > 0, counts**o.power, 0.0))
        paths = huffman(counts) if o.output == "hierarchical" else [([], [])] * 0
        nodes, codes = ([each[i] for each in paths] for i in (0, 1))
        return VectorTables(
            np.minimum(keep, 1.0).astype(np.float32),
            *self.parts_of(words),
            chance,
            other,
            offsets(nodes),
            flat(nodes, np.int32),
            flat(codes, np.float32),
        )

    def parts_of(self, words: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """The rows of `inputs` that make up each word of the vocabulary, as offsets and rows; found
        once, for hashing takes time."""
        if self.made_of is None:
            pieces = [self.rows_of(word, number) for number, word in enumerate(words)]
            self.made_of = offsets(pieces), flat(pieces, np.int32)
        return self.made_of

    def rows_of(self, word: str, number: int | None) -> list[int]:
        """The rows of `inputs` of a word: its own, if it has one, and those of its runs of
        characters, found by a hash."""
        own = [] if number is None else [number]
        if not self.options.subwords or (number is not None and number < FIRST):
            return own
        shortest, longest = self.options.subwords[0], self.options.subwords[-1]
        marked = f"<{word}>"
        runs = (
            marked[i : i + size]
            for size in range(shortest, longest + 1)
            for i in range(len(marked) - size + 1)
        )
        return own + [
            self.vocabulary + fnv(run) % self.options.buckets for run in runs if run != marked
        ]

    def vectors(self, words: list[str]) -> np.ndarray:
        """(V, D) the vectors of the vocabulary; with subwords each the mean of its parts."""
        if not self.options.subwords:
            return self.inputs.numpy()
        begins, rows = map(torch.from_numpy, self.parts_of(words))
        return torch.nn.functional.embedding_bag(
            rows.long(), self.inputs, begins, mode="mean", include_last_offset=True
        ).numpy()

    def ranked(self, words: list[str]) -> tuple[list[str], np.ndarray]:
        """The words that have vectors, the most frequent first, and their (N, D) vectors."""
        order = FIRST + np.argsort(-self.counts.numpy()[FIRST:], kind="stable")
        return [words[number] for number in order], self.vectors(words)[order]

    def vector_of(self, word: str, number: int | None) -> np.ndarray | None:
        """(D,) the vector of any word; None for one that has none."""
        rows = self.rows_of(word, number)
        return self.inputs[rows].mean(0).numpy() if rows else None

    def missing(self, around: list[np.ndarray]) -> np.ndarray:
        """(V,) log-probability of each word to stand between words with these vectors.

        cbow and predictor: softmax of U times their mean. skip-gram: the product of what each of
        them says, made to sum to one. After negative sampling U h is the logarithm of p(word | h) /
        q(word) (Levy and Goldberg 2014), so log q of the words drawn is added.
        """
        hidden = torch.from_numpy(np.stack(around))  # (words around, D)
        scores = (
            hidden if self.kind == "skip-gram" else hidden.mean(0, keepdim=True)
        ) @ self.outputs.T
        if self.options.output == "hierarchical":
            scores = self.along(scores)
        elif self.options.output == "negative":
            scores = scores + self.options.power * self.counts.clamp(min=1).log()
        scores[:, :FIRST] = -torch.inf
        each = torch.log_softmax(scores, 1).sum(0)  # (V,)
        return torch.log_softmax(each, 0).numpy()

    def along(self, scores: Tensor) -> Tensor:
        """(H, V) products with the nodes of the tree -> (H, V) log-probability of each word: that
        of its turns, one after the other."""
        counts = self.counts.numpy().astype(np.float64)
        counts[:FIRST] = 0
        found = [
            torch.where(torch.tensor(codes) == 0, 1.0, -1.0) * scores[:, nodes]
            for nodes, codes in huffman(counts)
        ]
        return torch.stack([torch.nn.functional.logsigmoid(each).sum(1) for each in found], 1)

    # -- keeping it
    def arrays(self) -> dict[str, Tensor]:
        """Both sides, and the counts."""
        return {"inputs": self.inputs, "outputs": self.outputs, "counts": self.counts}

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave; raises ValueError if it does not fit."""
        wanted = {name: (value.shape, value.dtype) for name, value in self.arrays().items()}
        if wanted != {name: (value.shape, value.dtype) for name, value in arrays.items()}:
            raise ValueError("vectors of another size")
        self.inputs, self.outputs, self.counts = (
            arrays[name] for name in ("inputs", "outputs", "counts")
        )

    @cached_property
    def number(self) -> int:
        """The kind as kernels know it."""
        return self.KINDS[self.kind]


class SkipGram(Vectors):
    """Each word around a place guesses the word there, by itself."""

    def __init__(self, vocabulary: int, options: VectorsOptions):
        super().__init__(vocabulary, options, "skip-gram")


class Bag(Vectors):
    """cbow: the mean of the words around a place guesses the word there."""

    def __init__(self, vocabulary: int, options: VectorsOptions):
        super().__init__(vocabulary, options, "cbow")


class Before(Vectors):
    """The word before a place guesses the word there."""

    def __init__(self, vocabulary: int, options: VectorsOptions):
        super().__init__(vocabulary, options, "predictor")


def offsets(rows: list[list]) -> np.ndarray:
    """Where each row begins in `flat`, and where the last one ends."""
    return np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)


def flat(rows: list[list], kind: type) -> np.ndarray:
    """The values of all rows, one after another."""
    return np.fromiter((value for row in rows for value in row), kind)


def fnv(text: str) -> int:
    """A hash of 32 bits that is the same everywhere (Fowler, Noll and Vo)."""
    found = 2166136261
    for byte in text.encode():
        found = ((found ^ byte) * 16777619) & 0xFFFFFFFF
    return found


def alias_table(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(V,) weights -> a table from which one draws in two throws (Vose 1991): chance to stay at a
    place, and where to go otherwise."""
    size, total = len(weights), weights.sum()
    scaled = (weights if total else np.ones(size)) * (size / (total or size))
    chance, other = np.ones(size, np.float32), np.arange(size, dtype=np.int32)
    small, large = (
        [i for i in range(size) if scaled[i] < 1],
        [i for i in range(size) if scaled[i] >= 1],
    )
    while small and large:
        poor, rich = small.pop(), large.pop()
        chance[poor], other[poor] = scaled[poor], rich
        scaled[rich] -= 1 - scaled[poor]
        (small if scaled[rich] < 1 else large).append(rich)
    for left in small:  # by rounding only
        if weights[left] == 0 and total:
            chance[left], other[left] = 0.0, int(weights.argmax())
    return chance, other


def huffman(counts: np.ndarray) -> list[tuple[list[int], list[float]]]:
    """The way of each word from the root of a Huffman tree: inner nodes (0 to V - 2) and the turns
    taken, 1 to the left."""
    size = len(counts)
    queue = [(count, number) for number, count in enumerate(counts.tolist())]
    heapq.heapify(queue)
    above, turn = [0] * (2 * size - 1), [0.0] * (2 * size - 1)
    for inner in range(size, 2 * size - 1):
        (first, left), (second, right) = heapq.heappop(queue), heapq.heappop(queue)
        above[left] = above[right] = inner
        turn[left] = 1.0
        heapq.heappush(queue, (first + second, inner))
    found = []
    for word in range(size):
        nodes, codes, here = [], [], word
        while here != 2 * size - 2:
            codes.append(turn[here])
            here = above[here]
            nodes.append(here - size)
        found.append((nodes[::-1], codes[::-1]))
    return found
