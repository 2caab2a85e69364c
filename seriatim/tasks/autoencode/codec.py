"""Sequences, and what is known about each of them: symbols or numbers that are written, and the
labels that say what to write.

A sequence of symbols has the vocabulary of `seriatim.codecs.symbols`, one of numbers the rows of
`seriatim.tasks.autoencode.moves`. Every field that is given is a closed list of names: an author,
a class, a style. Shapes: S sequences, G conditions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from seriatim.batches import Batch, pad
from seriatim.codecs.options import CodecOptions
from seriatim.codecs.symbols import (
    STOP,
    UNKNOWN,
    Codec,
    Labels,
    fit_codec,
    load_codec,
    reading_codec,
)
from seriatim.data.sequences import NUMBERS, SYMBOLS, TEXT, Field, Sequences
from seriatim.errors import ConfigError, DataError, nearest
from seriatim.settings import build
from seriatim.tasks.autoencode.moves import STROKES, Moves


def of_samples(samples: Samples, rows: np.ndarray) -> Batch:
    """Whole sequences that are read (x) and written again (y), to their end, and what they are
    conditioned on. Numbers are (B, T, C + 1)."""
    labels = torch.from_numpy(samples.labels[rows])
    if samples.x.kind == NUMBERS:
        y = pad_sequence([torch.from_numpy(samples.x.row(s)) for s in rows], batch_first=True)
        lengths = torch.tensor([len(samples.x.row(s)) for s in rows])
        return Batch(y, lengths, y, torch.arange(y.shape[1]) < lengths[:, None], labels=labels)
    y, mask = pad([np.append(samples.x.row(s), STOP) for s in rows])
    return Batch(y, mask.sum(1), y, mask, labels=labels)


@dataclass(frozen=True)
class Samples:
    """Sequences in numbers, and what each is conditioned on."""

    x: Field
    labels: np.ndarray  # (S, G)

    def __len__(self) -> int:
        return len(self.x)

    @property
    def columns(self) -> tuple[Field, ...]:
        """The columns of encoded data: what is written."""
        return (self.x,)

    def take(self, rows: slice | np.ndarray) -> Samples:
        """Some of the sequences, with what is given."""
        return Samples(self.x.take(rows), self.labels[rows])


class Conditioned:
    """Sequences and their labels <-> numbers."""

    def __init__(self, options: CodecOptions, inputs: Codec | Moves, conditions: dict[str, Labels]):
        self.options, self.inputs, self.conditions = options, inputs, conditions

    @classmethod
    def fit(cls, data: Sequences, options: CodecOptions) -> Conditioned:
        """Vocabulary or scale, and the names of each field that is given, of the training data."""
        names = condition_names(options.condition)
        conditions = {name: Labels.fit(labels_in(data, name)) for name in names}
        column = main_of(data, names)
        if options.tokenizer and column.kind != TEXT:
            raise ConfigError(
                "a tokenizer made elsewhere cuts texts", got=column.kind, do="Leave out --tokenizer"
            )
        options = replace(options, unit="token") if column.kind == SYMBOLS else options
        inputs = (
            Moves.fit(column, data.fields.get(STROKES) is column, data.origin)
            if column.kind == NUMBERS
            else fit_codec(column, options)
        )
        return cls(replace(options, tokenizer=""), inputs, conditions)

    @property
    def moves(self) -> Moves | None:
        """How numbers are written; None where the sequences are symbols."""
        return self.inputs if isinstance(self.inputs, Moves) else None

    @property
    def text(self) -> Codec | None:
        """How symbols are written; None where the sequences are numbers."""
        return self.inputs if isinstance(self.inputs, Codec) else None

    @property
    def numeric(self) -> bool:
        """Whether the sequences are numbers."""
        return self.moves is not None

    @property
    def unit(self) -> str:
        """What one element of a sequence is called."""
        return "point" if self.numeric else self.options.unit

    @property
    def size(self) -> int:
        """V, the symbols that can be written; of numbers the states that can follow a move."""
        return self.inputs.states if isinstance(self.inputs, Moves) else self.inputs.size

    @property
    def symbols(self) -> list[str]:
        """The names of the symbols; numbers have none."""
        return [] if self.text is None else self.text.symbols

    @property
    def number(self) -> dict[str, int]:
        """The number of each symbol; numbers have none."""
        return {} if self.text is None else self.text.number

    @property
    def sizes(self) -> tuple[int, tuple[int, ...]]:
        """What a model is told besides: how many channels numbers have, and how many names each
        field that is given."""
        channels = 0 if self.moves is None else self.moves.channels
        return channels, tuple(labels.size for labels in self.conditions.values())

    def encode(self, data: Sequences, labelled: bool = True) -> Samples:
        """Sequences in numbers, with their conditions, unless `labelled` is false."""
        column = main_of(data, list(self.conditions))
        if (column.kind == NUMBERS) != self.numeric:
            raise DataError(
                f"{data.origin} is not what this model was trained on",
                got=column.kind,
                do="Give sequences of numbers" if self.numeric else "Give text or symbols",
            )
        x = (
            self.inputs.encode(column, data.origin)
            if isinstance(self.inputs, Moves)
            else self.inputs.encode(column)
        )
        if not (labelled and self.conditions):
            return Samples(x, np.zeros((len(x), 0), np.int64))
        columns = [
            labels.encode(labels_in(data, name), data.lines, data.origin).flat
            for name, labels in self.conditions.items()
        ]
        return Samples(x, np.stack(columns, 1).astype(np.int64))  # (S, G)

    def unknown(self, samples: Samples) -> int:
        """How many symbols are not in the vocabulary."""
        return 0 if self.numeric else int((samples.x.flat == UNKNOWN).sum())

    def number_of(self, name: str, label: str) -> int:
        """The number of a label of a condition."""
        if label not in self.conditions[name].number:
            raise ConfigError(
                f"the training data has no {name} of this name",
                got=repr(label),
                do=nearest(label, self.conditions[name].names),
            )
        return self.conditions[name].number[label]

    def pieces_of(self, text: str) -> list[str]:
        """The symbols of a text by name."""
        return [] if self.text is None else self.text.pieces_of(text)

    def decode(self, ids: Iterable[int]) -> str:
        """Numbers of symbols -> text; rows of numbers are decoded by `moves`."""
        if self.text is None:
            raise TypeError("numbers are not written as text")
        return self.text.decode(ids)

    def to_json(self) -> dict[str, Any]:
        """All that `from_json` needs."""
        return {
            "version": 1,
            "options": asdict(self.options),
            "conditioned": {
                "inputs": self.inputs.to_json(),
                "conditions": {name: labels.names for name, labels in self.conditions.items()},
            },
        }

    @classmethod
    def from_json(cls, record: dict[str, Any], where: str) -> Conditioned:
        """The codec that wrote this record, checked; `where` names the file in errors."""
        with reading_codec(where):
            options = build(CodecOptions, record["options"], where)
            inputs, conditions = (
                record["conditioned"]["inputs"],
                record["conditioned"]["conditions"],
            )
            if not all(map(names_differ, conditions.values())):
                raise ValueError("its labels are not lists of names")
            found = Moves.from_json(inputs) if "pen" in inputs else load_codec(inputs, where)
            return cls(options, found, {name: Labels(names) for name, names in conditions.items()})


def names_differ(names: Any) -> bool:
    """Whether this is a list of different names, and not an empty one."""
    return (
        isinstance(names, list)
        and all(isinstance(name, str) for name in names)
        and len(set(names)) == len(names) > 0
    )


def main_of(data: Sequences, conditions: list[str]) -> Field:
    """The field that is written: the main one, or the only one of numbers."""
    others = {name: column for name, column in data.fields.items() if name not in conditions}
    numbers = [
        column
        for name, column in others.items()
        if column.kind == NUMBERS and name not in ("label", "time")
    ]
    if len(numbers) == 1 and all(
        column.kind == NUMBERS or name in ("label", "tags") for name, column in others.items()
    ):
        return numbers[0]
    if not others:
        raise DataError(
            f"{data.origin} has nothing to be written but conditions",
            got=", ".join(data.fields),
            do="Give another field, or leave out --condition",
        )
    return replace(data, fields=others).main


def labels_in(data: Sequences, name: str) -> Field:
    """A condition, as names: a name for each sequence, or a text or a number that is one."""
    column = condition_of(data, name)
    if column.kind == NUMBERS and (column.lengths == 1).all() and column.values.ndim == 1:
        column = Field.of_labels(
            np.format_float_positional(value, trim="-") if np.isfinite(value) else ""
            for value in column.flat
        )
    elif column.kind == TEXT:
        column = Field.of_labels(str(column.raw(s)) for s in range(len(column)))
    elif column.kind == SYMBOLS and (column.lengths != 1).any():
        column = Field.of_labels(" ".join(column.raw(s)) for s in range(len(column)))
    if column.kind != SYMBOLS:
        raise DataError(
            f"field {name!r} of {data.origin} holds numbers",
            do="What sequences are conditioned on has one name for each",
        )
    unnamed = np.array([not each for each in column.names or ()], bool)
    missing = np.flatnonzero(unnamed[column.flat])
    if len(missing):
        s = int(np.searchsorted(column.offsets - column.offsets[0], missing[0], "right")) - 1
        raise DataError(
            f"missing value in field {name!r}",
            file=data.origin,
            line=None if data.lines is None else int(data.lines[s]),
            do="Give every sequence its labels, or leave it out",
        )
    return column


def condition_of(data: Sequences, name: str) -> Field:
    """The field that is a condition, if the data has it."""
    if name not in data.fields:
        raise DataError(
            f"{data.origin} has no field {name!r} to be conditioned on",
            got=", ".join(data.fields),
            do=nearest(name, data.fields),
        )
    return data.fields[name]


def condition_names(condition: str) -> list[str]:
    """The fields of "author, style"."""
    return [name.strip() for name in condition.split(",") if name.strip()]
