"""How language models read data: as a stream, or line by line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import LONGEST, Batch, buckets, line_epoch, readers, stream_epoch
from seriatim.codecs.symbols import Codec, fit_and_encode
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import DataError
from seriatim.measuring.likelihood import MOST_LOOKED_AT, mean_loss, score
from seriatim.models.base import Model
from seriatim.models.ladder import Part
from seriatim.models.recipe import TrainingOptions
from seriatim.progress import note
from seriatim.tasks.base.cut import MOST_TEST, Cut, Settings
from seriatim.training.lesson import Judged, Lesson


class LanguageLesson(Lesson):
    """Predict the next symbol, from nothing or a prompt: x is empty, y the sequence itself.

    By line, each sequence ends in STOP; by stream, the text goes on and its state is carried.
    """

    def __init__(self, train: Field, valid: Field | None, by: str):
        if not len(train.flat):
            raise DataError("the training data is empty", do="Give a longer text")
        if valid is not None and not len(valid.flat):
            raise DataError("there is nothing to validate on", do="Give longer validation data")
        self.train, self.valid, self.by = train, valid, by
        self.symbols, self.steady = len(train.flat), by == "stream"

    def counting(self, model: Model) -> Iterator[dict[str, Any]]:
        """Let a count model read the data."""
        return model.counting(self.train, stop=self.by == "line")

    def epoch(self, number: int, options: TrainingOptions) -> Iterator[Batch]:
        """The batches of one pass; the same for the same seed and number."""
        generator = np.random.default_rng([options.seed, number])
        if self.by == "stream":
            return stream_epoch(self.train, options.rows, options.length, generator)
        return line_epoch(self.train, options.rows * options.length, generator)

    def steps_per_epoch(self, options: TrainingOptions) -> int:
        """How many batches a pass has."""
        if self.by == "line":
            groups = buckets(self.train.lengths, options.rows * options.length)
            longest = (self.train.lengths[rows].max() for rows in groups)
            return sum(math.ceil((each + 1) / LONGEST) for each in longest)
        rows = readers(len(self.train.flat), options.rows, options.length)
        return math.ceil(math.ceil(len(self.train.flat) / rows) / options.length)

    @property
    def held(self) -> Field:
        """The validation data, which a lesson with a network or a mixture has."""
        if self.valid is None:
            raise DataError("there is nothing to validate on", do="Give validation data")
        return self.valid

    def judged(self, model: Model) -> Judged:
        """What `validate` looks at."""
        learned = self.valid is not None and np.array_equal(self.valid.flat, self.train.flat)
        return Judged("nats per token of what was learned" if learned else "nats per token")

    def validate(self, model: Model) -> float:
        """Nats per symbol of the validation data."""
        most = self.some(min(MOST_LOOKED_AT, len(self.held.flat)), least=256)
        return mean_loss(model, self.held, self.by, most)

    def opinions(self, models: Sequence[Model]) -> tuple[Tensor, ...]:
        """What the weights of a mixture are found from: (N, M) log-probabilities of held symbols."""
        several = [torch.from_numpy(score(each, self.held, self.by).values) for each in models]
        return (torch.stack(several, 1),)


class LanguageCut(Cut):
    """Text as it is: a stream, or a sequence a line."""

    numeric = False

    def fit_codec(
        self, train: Sequences, settings: Settings, more: list[str]
    ) -> tuple[Codec, Field]:
        """The vocabulary of the training text."""
        codec, ids = fit_and_encode(train.main, self.coding(train, settings))
        if not codec.tells_all:
            codec.learn_side(train.main)
        return codec, ids

    def encode(self, codec: Codec, data: Sequences) -> Field:
        """The text in numbers."""
        return codec.encode(data.main)

    def lesson(self, train: Field, valid: Field | None, by: str, codec: Codec) -> LanguageLesson:
        """What comes next?"""
        return LanguageLesson(train, valid, by)

    def hold_out(self, data: Sequences, parts: list[Part]) -> tuple[Sequences, Sequences]:
        """Training and validation data; of a text that is too short for both, all of it twice, which
        is said. The weights of a mixture cannot be found so."""
        try:
            return super().hold_out(data, parts)
        except DataError:
            if len(parts) > 1 or not len(data.main.flat):
                raise
        note(
            f"{data.origin} is too short to hold anything out: all of it is learned, and validation "
            "looks at the same, which says nothing of other texts; give some with --valid"
        )
        return data, data

    def some_test(self, test: Sequences) -> Sequences:
        """As much of the test part as is scored: whole lines, or the beginning of a stream."""
        if test.by == "stream":
            return super().some_test(test)
        most = int((test.main.offsets - test.main.offsets[0] <= MOST_TEST).sum()) - 1
        return test[: max(1, most)]
