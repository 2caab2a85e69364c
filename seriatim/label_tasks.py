"""The tasks that say something about sequences: a label or a value for each, or a tag for each of its elements. See `seriatim.tasks`."""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim import batches
from seriatim.batches import Batch
from seriatim.codecs.labelled import Examples, Labelled, cut_once, target_of
from seriatim.config import CodecOptions, TrainingOptions
from seriatim.data.sequences import NUMBERS, Sequences
from seriatim.densities import log_normal
from seriatim.errors import ConfigError, DataError
from seriatim.labelling import answers, estimates
from seriatim.models.base import Model
from seriatim.settings import build

Settings = dict[str, Any]


class Classify:
    """One label for each sequence: x is the sequence, y its label."""

    held_share, how, target = 0.1, "stratify", "label"

    def __init__(self, train: Examples, valid: Examples | None, by: str, codec: Labelled):
        self.train, self.valid, self.symbols = train, valid, len(train.x.flat)

    @classmethod
    def given(cls, data: Sequences) -> Sequences:
        """The data with its labels as names, whatever they were."""
        if data.fields.get(cls.target) is data.main:
            raise DataError(f"{data.origin} has labels and nothing to be labelled", got=f"fields: {', '.join(data.fields)}",
                            do="Give texts or tokens, too; the field that holds them is named with --field")
        return replace(data, fields=data.fields | {cls.target: target_of(data, cls.target)})

    @classmethod
    def codec_options(cls, data: Sequences, settings: Settings) -> CodecOptions:
        if data.main.kind == NUMBERS:
            if settings:
                raise ConfigError("numbers are not cut into symbols", got=", ".join(settings), do="Leave that out; they are scaled by the training data")
            return CodecOptions()
        return build(CodecOptions, {"unit": "word" if data.unit in (None, "character") else data.unit} | settings, "codec")

    @classmethod
    def cut(cls, data: Sequences, settings: Settings) -> Sequences:
        """The data with its text cut into words, once for all that look at them."""
        return cut_once(data, cls.codec_options(data, settings))

    @classmethod
    def learn_codec(cls, train: Sequences, settings: Settings, more: list[str]) -> tuple[Labelled, Examples]:
        codec = Labelled.fit(train, cls.codec_options(train, settings), cls.target, more)
        if codec.labels.size < 2:
            raise DataError("all of the training data has the same label", got=repr(codec.labels.names[0]), file=train.origin,
                            do="Give sequences of at least two labels")
        return codec, codec.encode(train)

    @classmethod
    def encode(cls, codec: Labelled, data: Sequences) -> Examples:
        """Validation data in numbers, without sequences that have a label never seen in training: whatever is learned, they are wrong."""
        column = target_of(data, cls.target)
        strange = np.array([name not in codec.labels.number for name in column.names], bool)[column.flat]
        known = np.ones(len(data), bool)
        known[np.repeat(np.arange(len(data)), column.lengths)[strange]] = False
        if len(data) and not known.any():
            raise DataError("every sequence to validate on has a label that the training data does not have", got=repr(column.names[column.flat[0]]),
                            file=data.origin, do="Known labels: " + ", ".join(codec.labels.names[:20]))
        return codec.encode(data if known.all() else data[known])

    def counting(self, model: Model) -> Iterator[dict[str, Any]]:
        return model.counting(self.train)

    def epoch(self, number: int, options: TrainingOptions) -> Iterator[Batch]:
        generator = np.random.default_rng([options.seed, number])
        for rows in batches.buckets(self.train.x.lengths, options.rows * options.length, generator):
            yield batches.of_examples(self.train, rows)

    def steps_per_epoch(self, options: TrainingOptions) -> int:
        return len(batches.buckets(self.train.x.lengths, options.rows * options.length))

    def valid_loss(self, model: Model) -> float:
        """The share of labels that are wrong; between equals a trace of the nats per label decides. Nats alone would stop a network long
        before its labels are best: it becomes too sure of its mistakes, which a temperature repairs."""
        found = answers(model, self.valid, self.target == "tags")
        return float((found.found != self.valid.y.flat).mean()) + 1e-6 * min(10.0, found.loss)

    def opinions(self, models: Sequence[Model]) -> tuple[Tensor, Tensor]:
        """What the powers of a pool are found from: (N, M, K) log-probabilities of the validation data, and its (N,) labels."""
        said = [answers(model, self.valid, self.target == "tags").log_probs for model in models]
        return torch.from_numpy(np.stack(said, 1)), torch.from_numpy(self.valid.y.flat)


class Regress(Classify):
    """One value for each sequence: x is the sequence, y its value."""

    how, target = "shuffle", "value"

    def __init__(self, train: Examples, valid: Examples | None, by: str, codec: Labelled):
        super().__init__(train, valid, by, codec)
        self.unit = math.log(codec.labels.deviation[0])                             # nats that the scale takes from every value

    @classmethod
    def given(cls, data: Sequences) -> Sequences:
        """The data with its values as numbers, whatever they were."""
        values = target_of(data, cls.target)
        rest = {name: column for name, column in data.fields.items() if name not in ("label", "value")}
        if Sequences(rest).main_name() is None:
            raise DataError(f"{data.origin} has values and nothing to be read", got=f"fields: {', '.join(data.fields)}",
                            do="Give texts, tokens or rows of numbers, too; the field that holds them is named with --field")
        return replace(data, fields=rest | {cls.target: values})

    @classmethod
    def learn_codec(cls, train: Sequences, settings: Settings, more: list[str]) -> tuple[Labelled, Examples]:
        codec = Labelled.fit(train, cls.codec_options(train, settings), cls.target, more)
        values = target_of(train, cls.target).flat
        if (values == values[0]).all():
            raise DataError("all of the training data has the same value", got=values[0], file=train.origin, do="Give sequences of different values")
        return codec, codec.encode(train)

    @classmethod
    def encode(cls, codec: Labelled, data: Sequences) -> Examples:
        return codec.encode(data)

    def valid_loss(self, model: Model) -> float:
        """Nats per value of the validation data."""
        mean, deviation = map(torch.from_numpy, estimates(model, self.valid))
        return self.unit - float(log_normal(torch.from_numpy(self.valid.y.flat[:, 0]), mean, deviation).mean())


class Tag(Classify):
    """One tag for each element: y is as long as x."""

    how, target = None, "tags"
