"""A task is what a model is asked to do: how x and y are cut from the data, and what is measured while fitting.

Training knows no task by name; it asks one of these for batches and for the loss on held-out data. A new
task is a class with the same five methods and a row in TASKS.
"""
from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim import batches
from seriatim.batches import Batch
from seriatim.codecs.symbols import UNKNOWN, Codec
from seriatim.config import TrainingOptions
from seriatim.data.sequences import Field
from seriatim.errors import DataError
from seriatim.models.base import Model
from seriatim.scoring import mean_loss, score
from seriatim.words import Words as WordVectors


class Language:
    """Predict the next symbol, from nothing or a prompt: x is empty, y the sequence itself.

    By line, each sequence ends in STOP; by stream, the text goes on and on and its state is carried.
    """

    def __init__(self, train: Field, valid: Field | None, by: str, codec: Codec | None = None):
        self.train, self.valid, self.by = train, valid, by
        if not len(train.flat):
            raise DataError("the training data is empty", do="Give a longer text")

    def counting(self, model: Model) -> Iterator[dict[str, Any]]:
        """Let a count model read the data, telling how far it is."""
        return model.counting(self.train, stop=self.by == "line")

    def epoch(self, number: int, options: TrainingOptions) -> Iterator[Batch]:
        """The batches of one pass; the same for the same seed and number."""
        generator = np.random.default_rng([options.seed, number])
        if self.by == "stream":
            return batches.stream_epoch(self.train, options.rows, options.length, generator)
        return batches.line_epoch(self.train, options.rows * options.length, generator)

    def steps_per_epoch(self, options: TrainingOptions) -> int:
        if self.by == "line":
            groups = batches.buckets(self.train.lengths, options.rows * options.length)
            return sum(math.ceil((self.train.lengths[rows].max() + 1) / batches.LONGEST) for rows in groups)
        rows = batches.readers(len(self.train.flat), options.rows, options.length)
        return math.ceil(math.ceil(len(self.train.flat) / rows) / options.length)

    def valid_loss(self, model: Model) -> float:
        """What training looks at: nats per symbol of the validation data."""
        return mean_loss(model, self.valid, self.by)

    def valid_scores(self, model: Model) -> Tensor:
        """(N,) log-probability of each held-out symbol, for the weights of a mixture."""
        return torch.from_numpy(score(model, self.valid, self.by).values)


class Words:
    """Find a vector for each word: the text itself, without words that are unknown, and with a mark between its sequences."""

    def __init__(self, train: Field, valid: Field | None, by: str, codec: Codec):
        self.by, self.words = by, codec.symbols
        self.text, self.held = between(train), between(valid)
        self.counts = np.bincount(train.flat, minlength=codec.size)                 # (V,)
        if not len(self.text):
            raise DataError("the training data has no known words", do="Give a longer text, or lower --minimum-count")

    def watched(self, model: Model) -> dict[str, float | None]:
        """What is looked at while fitting, besides the loss: how well the vectors do on a file of analogies or of similarities."""
        if not model.options.watch:
            return {}
        record = WordVectors(*model.ranked(self.words)).evaluate(model.options.watch)
        return {"analogies": record["accuracy"]} if record["kind"] == "analogies" else {"similarity": record["spearman"]}


def between(ids: Field) -> np.ndarray:
    """(N,) int32 numbers of the known words, with -1 between sequences; read-only, as it is when it lies on disk."""
    marked = ids.flat if len(ids) == 1 else np.insert(ids.flat, (ids.offsets - ids.offsets[0])[1:-1], -1)
    text = marked[marked != UNKNOWN]
    text.flags.writeable = False                                                    # so that loops are compiled once for both
    return text


TASKS = {"language": Language, "words": Words}
