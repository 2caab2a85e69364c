"""How data with lists of labels become lessons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.data.options import LabelledOptions
from seriatim.data.sequences import Sequences
from seriatim.errors import DataError
from seriatim.models.base import Model
from seriatim.tasks.base.cut import Settings
from seriatim.tasks.labels.codec import Examples, target_of
from seriatim.tasks.labels.cut import ClassifyCut, ClassifyLesson
from seriatim.tasks.marks.codec import MarksCodec
from seriatim.tasks.marks.metrics import logits_of, nats_of
from seriatim.training.lesson import Judged


class MarksLesson(ClassifyLesson):
    """A coin for each label of each sequence: x is the sequence, y a row of zeros and ones."""

    def judged(self, model: Model) -> Judged:
        """What `validate` looks at."""
        return Judged("nats per sequence")

    def validate(self, model: Model) -> float:
        """Nats per sequence of the validation data."""
        some = self.looked_at
        return float(nats_of(logits_of(model, some), some.y.flat).mean())

    def opinions(self, models: Sequence[Model]) -> tuple[Tensor, ...]:
        """What the powers of a pool are found from: (S, M, K) logits of the validation data, and its
        (S, K) marks."""
        said = [torch.from_numpy(logits_of(model, self.held)) for model in models]
        return torch.stack(said, 1), torch.from_numpy(self.held.y.flat)


class MarksCut(ClassifyCut):
    """Sequences of symbols or numbers, with a list of labels each, which may be empty."""

    how, target, wants = "shuffle", "labels", "labels"
    audited = False

    # -- reading
    def asked(self, reading: Any) -> dict[str, Any]:
        """What `read` is asked for; the field of labels is found afterwards."""
        return super().asked(reading) | {"label": None}

    def read(self, paths: list[Any], reading: Any, unit: str | None, gaps: bool) -> Sequences:
        """As others with labels; an empty list is no gap."""
        data = super().read(paths, reading, unit, True)
        name = reading.label
        if not name or reading.series or (gaps and name not in data.fields):
            return data
        rest = {key: column for key, column in data.fields.items() if key not in (name, "labels")}
        return replace(data, fields=rest | {"labels": data.field(name)})

    def series_in(self, table: Sequences, reading: LabelledOptions) -> Sequences:
        """The series of a long table, with the labels of the whole."""
        found = super().series_in(table, reading)
        kept = {"labels" if key == "label" else key: each for key, each in found.fields.items()}
        return replace(found, fields=kept)

    # -- from data to numbers
    def fit_codec(
        self, train: Sequences, settings: Settings, more: list[str]
    ) -> tuple[MarksCodec, Examples]:
        """The vocabulary and the labels of the training data."""
        self.check_marked(train)
        codec = MarksCodec.fit(train, self.coding(train, settings), self.target, more)
        assert isinstance(codec, MarksCodec)
        return codec, codec.encode(train)

    def check_marked(self, train: Sequences) -> None:
        """Refuse training data in which there is nothing to be told apart."""
        said = target_of(train, self.target)
        several = {frozenset(said.row(s).tolist()) for s in range(len(said))}
        if len(several) < 2:
            names = [said.symbol_names[i] for i in np.unique(said.flat)]
            raise DataError(
                "all of the training data has the same labels",
                got=", ".join(names) or "no label at all",
                file=train.origin,
                do="Give sequences that differ in what is true of them",
            )

    def encode(self, codec: MarksCodec, data: Sequences) -> Examples:  # type: ignore[override]
        """Validation data in numbers; labels that training did not have are left out."""
        return codec.encode(data)

    def lesson(  # type: ignore[override]
        self, train: Examples, valid: Examples | None, by: str, codec: MarksCodec
    ) -> MarksLesson:
        """Which labels?"""
        return MarksLesson(train, valid)
