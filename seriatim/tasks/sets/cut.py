"""How models of sets read data: a sequence of sets a line."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import LONGEST, Batch, buckets, evenly, pieces
from seriatim.codecs.options import CodecOptions
from seriatim.data.formats import FORMATS, format_of
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import ConfigError, DataError
from seriatim.models.base import Model
from seriatim.models.recipe import TrainingOptions
from seriatim.settings import build
from seriatim.tasks.base.cut import MOST_JUDGED, Cut, Settings
from seriatim.tasks.sets.codec import EMPTY, PLUS, SetCodec, of_sets
from seriatim.tasks.sets.metrics import logits_of, score_sets
from seriatim.training.lesson import Judged, Lesson

MOST_LOOKED = 20_000  # sets of the validation data that are looked at while fitting
MOST_CELLS = 4_000_000  # coins of each part by which a mixture is weighed


class SetsLesson(Lesson):
    """Predict the next set, a probability for each element: x is empty, y the sequence itself,
    without an end."""

    def __init__(self, train: Field, valid: Field | None):
        self.train = filled(train)
        self.valid = None if valid is None else filled(valid)
        if not len(self.train):
            raise DataError("the training data is empty", do="Give sequences that have steps")
        if self.valid is not None and not len(self.valid):
            raise DataError("there is nothing to validate on", do="Give longer validation data")
        self.symbols = len(self.train.flat)

    def counting(self, model: Model) -> Iterator[dict[str, Any]]:
        """Let a count model read the sets; the ends of sequences are not predicted."""
        return model.counting(self.train, stop=False)

    def epoch(self, number: int, options: TrainingOptions) -> Iterator[Batch]:
        """The batches of one pass; the same for the same seed and number."""
        generator = np.random.default_rng([options.seed, number])
        for rows in buckets(self.train.lengths, options.rows * options.length, generator):
            yield from pieces(of_sets(self.train, rows), LONGEST)

    def steps_per_epoch(self, options: TrainingOptions) -> int:
        """How many batches a pass has."""
        groups = buckets(self.train.lengths, options.rows * options.length)
        return sum(math.ceil(self.train.lengths[rows].max() / LONGEST) for rows in groups)

    def judged(self, model: Model) -> Judged:
        """What `validate` looks at."""
        return Judged("nats per step")

    def validate(self, model: Model) -> float:
        """Nats per step of the validation data."""
        some = self.looked_at(self.some(MOST_JUDGED), self.some(MOST_LOOKED))
        return float(-score_sets(model, some).log_prob.values.mean())

    def looked_at(self, many: int, long: int) -> Field:
        """At most so many sequences of the validation data, and so many sets, evenly spread."""
        if self.valid is None:
            raise DataError("there is nothing to validate on", do="Give validation data")
        return self.valid.take(evenly(self.valid.lengths, many, long))

    def opinions(self, models: Sequence[Model]) -> tuple[Tensor, ...]:
        """What the powers of a pool are found from: (N, M, V) logits of the validation data, and its
        (N, V) sets."""
        long = max(1, min(MOST_LOOKED, MOST_CELLS // models[0].vocabulary))
        some = self.looked_at(MOST_JUDGED, long)
        said = [torch.from_numpy(logits_of(model, some)) for model in models]
        return torch.stack(said, 1), torch.from_numpy((some.values > 0).astype(np.float32))


class SetsCut(Cut):
    """Sequences of sets, one a line: 60+64+67 . 62."""

    held_share = 0.1
    by, numeric = "line", False
    untokenized = "a step of sets is a token"

    def read(self, paths: list[Any], reading: Any, unit: str | None, gaps: bool) -> Sequences:
        """Files as Sequences; of MIDI all notes, as sets."""
        files = all(isinstance(path, str) for path in paths)
        formats = {FORMATS[format_of(path)].sets for path in paths} if files else set()
        if len(formats) == 1 and not reading.input_format:
            reading = replace(reading, input_format=formats.pop())
        return super().read(paths, reading, unit, gaps)

    def in_memory(self, thing: Any) -> Any:
        """Sequences whose steps are sets, or lists, of elements, as they are written."""
        several = isinstance(thing, (list, tuple)) and thing
        if several and all(isinstance(each, (list, tuple)) for each in thing):
            steps = [step for sequence in thing for step in sequence]
            if steps and all(isinstance(step, (set, frozenset, list, tuple)) for step in steps):
                return [" ".join(map(joined, sequence)) for sequence in thing]
        return thing

    def coding(self, data: Sequences, settings: Settings) -> CodecOptions:
        """A step is a token, whatever the data say."""
        if settings.get("unit", "token") != "token":
            raise ConfigError(
                "a step of sets is a token", got=settings["unit"], do="Leave out --unit"
            )
        return build(CodecOptions, {**settings, "unit": "token"}, "codec")

    def fit_codec(
        self, train: Sequences, settings: Settings, more: list[str]
    ) -> tuple[SetCodec, Field]:
        """The elements of the training data."""
        if more:
            raise ConfigError(
                "sets begin with no word vectors",
                got=f"vectors of {len(more):,} words",
                do="Leave out --word-vectors",
            )
        options = self.coding(train, settings)
        codec = SetCodec.fit(train.main, options, train.lines, train.origin)
        return codec, self.encode(codec, train)

    def encode(self, codec: SetCodec, data: Sequences) -> Field:
        """(N, V) ones for the elements that are in a set, zeros for the others."""
        return codec.encode(data.main, data.lines, data.origin)

    def lesson(self, train: Field, valid: Field | None, by: str, codec: SetCodec) -> SetsLesson:
        """Which elements are in the next set?"""
        return SetsLesson(train, valid)


def joined(step: Iterable[Any]) -> str:
    """The elements of a step as they are written: 60+64+67, or . if there are none."""
    names = sorted(map(str, step))
    wrong = [name for name in names if PLUS in name or name == EMPTY or len(name.split()) != 1]
    if wrong:
        raise DataError(
            "the elements of sets have names without blanks and +",
            got=repr(wrong[0]),
            do="Call it something else",
        )
    return PLUS.join(names) or EMPTY


def filled(sequences: Field) -> Field:
    """Those sequences that have steps."""
    return sequences.take(sequences.lengths > 0)
