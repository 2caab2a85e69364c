"""GloVe: word vectors from counts of which words stand together (Pennington et al. 2014).

    minimise  sum_ij f(x_ij) (w_i . u_j + b_i + c_j - log x_ij)^2,    f(x) = min(1, (x / most)^power)

x_ij is how often words i and j stand within the window, each time one over their distance. Unlike
skip-gram, which reads the text again and again, it reads it once and learns from the table. The
vector of a word is w + u. Shapes: V words, D width, P pairs.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from seriatim.tasks.words.models.vectors import FIRST, Vectors
from seriatim.tasks.words.options import GloveOptions

BLOCK = 1 << 23  # pairs that are put in order at a time


class Glove(Vectors):
    """Like the other word vectors; the last column of `inputs` and `outputs` is a bias."""

    options: GloveOptions
    per = "squared error per pair"

    def __init__(self, vocabulary: int, options: GloveOptions):
        self.vocabulary, self.options, self.kind = vocabulary, options, "glove"
        self.inputs, self.outputs = (
            torch.zeros(vocabulary, options.width + 1),
            torch.zeros(vocabulary, options.width + 1),
        )
        self.counts = torch.zeros(vocabulary, dtype=torch.int64)

    def begin(self, counts: np.ndarray, seed: int) -> None:
        """Small random numbers on both sides, biases included."""
        generator = torch.Generator().manual_seed(seed)
        self.counts = torch.from_numpy(counts.astype(np.int64))
        self.inputs, self.outputs = (
            (torch.rand(self.inputs.shape, generator=generator) - 0.5) / self.options.width
            for _ in range(2)
        )

    def vectors(self, words: list[str]) -> np.ndarray:
        """(V, D) the sum of both sides, without the biases."""
        return (self.inputs + self.outputs)[:, :-1].numpy()

    def vector_of(self, word: str, number: int | None) -> np.ndarray | None:
        """(D,) the vector of a word of the vocabulary; others have none."""
        return None if number is None else (self.inputs + self.outputs)[number, :-1].numpy()

    def missing(self, around: list[np.ndarray]) -> np.ndarray:
        """(V,) log-probability of each word, by the product of what each word around says: x_ij is
        about exp(w_i . u_j + b_i + c_j)."""
        hidden = (
            torch.from_numpy(np.stack(around)) / 2
        )  # w and u are about the same, and a vector is their sum
        scores = hidden @ (self.inputs + self.outputs)[:, :-1].T / 2 + self.outputs[:, -1]
        scores[:, :FIRST] = -torch.inf
        return torch.log_softmax(torch.log_softmax(scores, 1).sum(0), 0).numpy()


def pairs_of(
    text: np.ndarray, window: int, words: int
) -> Iterator[tuple[float, tuple[np.ndarray, np.ndarray, np.ndarray] | None]]:
    """Count which words stand together: yields the share of the text that is read, and at the end
    (P,) first, second and weight."""
    from seriatim.tasks.words.models.kernels import together

    step = max(1, BLOCK // window)
    keys, weights = np.empty(step * window, np.int64), np.empty(step * window, np.float32)
    waiting: list[tuple[np.ndarray, np.ndarray]] = []
    for begin in range(0, len(text), step):
        found = together(text, begin, min(len(text), begin + step), window, words, keys, weights)
        waiting.append(summed(keys[:found], weights[:found]))
        while len(waiting) > 1 and len(waiting[-2][0]) < 2 * len(
            waiting[-1][0]
        ):  # like with like, so that little is sorted twice
            last, before = waiting.pop(), waiting.pop()
            waiting.append(
                summed(*(np.concatenate(parts) for parts in zip(before, last, strict=True)))
            )
        yield min(1.0, (begin + step) / len(text)), None
    keys, weights = summed(*(np.concatenate(parts) for parts in zip(*waiting, strict=True)))
    yield 1.0, ((keys // words).astype(np.int32), (keys % words).astype(np.int32), weights)


def summed(keys: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Equal keys once, with the sum of their weights."""
    order = np.argsort(keys, kind="stable")
    keys, weights = keys[order], weights[order]
    first = (
        np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        if len(keys)
        else np.zeros(0, np.int64)
    )
    return keys[first], np.add.reduceat(weights, first).astype(np.float32) if len(
        first
    ) else weights
