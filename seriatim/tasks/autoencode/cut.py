"""How autoencoders read data: whole sequences, each with what it is conditioned on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
from torch import Tensor

from seriatim.batches import MOST_READ, Batch, buckets, evenly, refuse_long
from seriatim.codecs.options import CodecOptions
from seriatim.data.options import TextOptions
from seriatim.data.sequences import NUMBERS, Sequences
from seriatim.errors import DataError
from seriatim.models.base import Model
from seriatim.models.ladder import Part
from seriatim.models.recipe import TrainingOptions
from seriatim.settings import build
from seriatim.tasks.autoencode.codec import (
    Conditioned,
    Samples,
    condition_names,
    condition_of,
    of_samples,
)
from seriatim.tasks.autoencode.likelihood import judged
from seriatim.tasks.autoencode.models import Autoencoder
from seriatim.tasks.base.cut import MOST_JUDGED, Cut, Settings
from seriatim.training.lesson import Lesson

MOST_LOOKED = 20_000  # symbols, or rows of numbers, that are looked at for one figure


class AutoencodeLesson(Lesson):
    """Write a sequence again from one vector, or from a condition: x is the sequence, and so is
    y."""

    def __init__(self, train: Samples, valid: Samples | None):
        if not len(train.x.flat):
            raise DataError("the training data is empty", do="Give sequences, one a line")
        if valid is None or not len(valid):
            raise DataError("there is nothing to validate on", do="Give validation data")
        self.train, self.valid, self.symbols = train, valid, len(train.x.flat)

    def groups(
        self, options: TrainingOptions, generator: np.random.Generator | None = None
    ) -> list[np.ndarray]:
        """The sequences of each batch, of similar length."""
        return buckets(self.train.x.lengths, options.rows * options.length, generator)

    def epoch(self, number: int, options: TrainingOptions) -> Iterator[Batch]:
        """The batches of one pass; the same for the same seed and number."""
        for rows in self.groups(options, np.random.default_rng([options.seed, number])):
            yield of_samples(self.train, rows)

    def steps_per_epoch(self, options: TrainingOptions) -> int:
        """How many batches a pass has."""
        return len(self.groups(options))

    def validate(self, model: Model) -> float:
        """Nats per symbol: the bound, with what may be said for nothing."""
        assert isinstance(model, Autoencoder)
        return judged(model, self.looked_at(self.valid))

    def looked_at(self, samples: Samples) -> Samples:
        """Some of the sequences, evenly spread: enough to know, and little beside an epoch."""
        return samples.take(
            evenly(samples.x.lengths, self.some(MOST_JUDGED), self.some(MOST_LOOKED))
        )

    def counting(self, model: Model) -> NoReturn:
        """All autoencoders are networks."""
        raise NotImplementedError(type(model).__name__)

    def opinions(self, models: Sequence[Model]) -> tuple[Tensor, ...]:
        """Autoencoders are not mixed."""
        return ()


class AutoencodeCut(Cut):
    """Sequences, one a line: of words if nothing else is said, of tokens, or of numbers."""

    how, by = "shuffle", "line"

    # -- reading
    def asked(self, reading: TextOptions) -> dict[str, Any]:
        """All fields are read: the one that is written, and those it may be conditioned on."""
        return super().asked(reading) | {"field": None}

    def read(self, paths: list[Any], reading: Any, unit: str | None, gaps: bool) -> Sequences:
        """Files as Sequences; the field that was asked for is the text."""
        data = super().read(paths, replace(reading, distinct=False), unit, gaps)
        if reading.field:
            main = data.field(reading.field)
            rest = {k: v for k, v in data.fields.items() if k not in ("text", reading.field)}
            data = replace(data, fields={"text": main} | rest)
        return data.distinct() if reading.distinct else data

    def prepare(self, data: Sequences, settings: Settings) -> Sequences:
        """Numbers of one channel are numbers in channels, too. Fields to be conditioned on must be
        there before the data is divided."""
        for name in condition_names(str(settings.get("condition") or "")):
            condition_of(data, name)
        alone = all(
            column.kind == NUMBERS or name in ("label", "tags")
            for name, column in data.fields.items()
        )
        if not alone:
            return data
        single = {
            name: replace(column, values=column.values[:, None])
            for name, column in data.fields.items()
            if column.kind == NUMBERS and column.values.ndim == 1 and name not in ("label", "time")
        }
        return replace(data, fields=data.fields | single)

    # -- from data to numbers
    def fit_codec(
        self, train: Sequences, settings: Settings, more: list[str]
    ) -> tuple[Conditioned, Samples]:
        """Vocabulary or scale, and the names of what is conditioned on."""
        known = {"unit": train.unit or self.unit} | dict(settings)
        codec = Conditioned.fit(train, build(CodecOptions, known, "codec"))
        return codec, codec.encode(train)

    def encode(self, codec: Conditioned, data: Sequences) -> Samples:
        """Sequences in numbers, with their conditions."""
        return codec.encode(data)

    def lesson(
        self, train: Samples, valid: Samples | None, by: str, codec: Conditioned
    ) -> AutoencodeLesson:
        """Can it be written again?"""
        return AutoencodeLesson(train, valid)

    def check(
        self, model: Model, parts: Sequence[Part], codec: Any, train: Any, origin: str
    ) -> None:
        """Sequences are read whole."""
        refuse_long(train.x, MOST_READ)
