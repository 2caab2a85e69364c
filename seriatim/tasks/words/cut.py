"""How word vectors read data: the text itself, without what is unknown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
from torch import Tensor

from seriatim.batches import Batch
from seriatim.codecs.options import CodecOptions
from seriatim.codecs.symbols import UNKNOWN, Codec, fit_and_encode
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import DataError
from seriatim.models.base import Model
from seriatim.models.ladder import Part
from seriatim.models.recipe import TrainingOptions
from seriatim.tasks.base.cut import Cut, Settings
from seriatim.tasks.words.metrics import ANALOGIES, evaluate
from seriatim.tasks.words.models.vectors import Vectors
from seriatim.tasks.words.questions import check_questions
from seriatim.tasks.words.space import WordSpace
from seriatim.training.lesson import Lesson


class WordsLesson(Lesson):
    """Find a vector for each word: the text without words that are unknown, and with a mark between
    its sequences. Word vectors learn in their own loop, `seriatim.tasks.words.training`, which reads
    `text` (N,), `held`, `counts` (V,) and `words`; there are no batches."""

    def __init__(self, train: Field, valid: Field, by: str, codec: Codec):
        self.by, self.words, self.symbols = by, codec.symbols, len(train.flat)
        self.text, self.held = between(train), between(valid)
        self.counts = np.bincount(train.flat, minlength=codec.size)  # (V,)
        if not len(self.text):
            raise DataError(
                "the training data has no known words",
                do="Give a longer text, or lower --minimum-count",
            )

    def watched(self, model: Vectors) -> dict[str, float | None]:
        """What is looked at while fitting, besides the loss: how well the vectors do on a file of
        analogies or of similarities."""
        if not model.options.watch:
            return {}
        record = evaluate(WordSpace(*model.ranked(self.words)), model.options.watch)
        if record["questions_are"] == ANALOGIES:
            return {"analogies": record["accuracy"]}
        return {"similarity": record["spearman"]}

    # -- the ways in which other models learn
    def counting(self, model: Model) -> NoReturn:
        """Nothing is counted."""
        raise NotImplementedError(type(model).__name__)

    def epoch(self, number: int, options: TrainingOptions) -> Iterator[Batch]:
        """No batches."""
        return iter(())

    def steps_per_epoch(self, options: TrainingOptions) -> int:
        """No batches."""
        return 0

    def validate(self, model: Model) -> NoReturn:
        """The loop of word vectors has a loss of its own."""
        raise NotImplementedError(type(model).__name__)

    def opinions(self, models: Sequence[Model]) -> tuple[Tensor, ...]:
        """Word vectors are not mixed."""
        return ()


class WordsCut(Cut):
    """Text as it is: a stream, or a sequence a line, cut into words."""

    held_share = 0.01
    numeric = False
    untokenized = "vectors are those of words"

    def coding(self, data: Sequences, settings: Settings) -> CodecOptions:
        """A word seen less than five times has no company to be known by."""
        return super().coding(data, {"minimum_count": 5} | dict(settings))

    def fit_codec(
        self, train: Sequences, settings: Settings, more: list[str]
    ) -> tuple[Codec, Field]:
        """The vocabulary of the training text."""
        return fit_and_encode(train.main, self.coding(train, settings))

    def encode(self, codec: Codec, data: Sequences) -> Field:
        """The text in numbers."""
        return codec.encode(data.main)

    def lesson(self, train: Field, valid: Field, by: str, codec: Codec) -> WordsLesson:
        """Which words stand together?"""
        return WordsLesson(train, valid, by, codec)

    def check(
        self, model: Model, parts: Sequence[Part], codec: Any, train: Any, origin: str
    ) -> None:
        """A file that is to be watched is looked at now, not when some of the work is done."""
        for part in parts:
            if part.options.watch:
                check_questions(part.options.watch)


def between(ids: Field) -> np.ndarray:
    """(N,) int32 numbers of the known words, with -1 between sequences; read-only, as it is when it
    lies on disk."""
    ends = (ids.offsets - ids.offsets[0])[1:-1]
    marked = ids.flat if len(ids) == 1 else np.insert(ids.flat, ends, -1)
    text = marked[marked != UNKNOWN]
    text.flags.writeable = False  # so that loops are compiled once for both
    return text
