"""Sequences, and what is known about each of them: symbols or numbers that are written, and the labels that say what to write.

A sequence of symbols has the vocabulary of `seriatim.codecs.symbols`, one of numbers the rows of `seriatim.codecs.moves`. Every field that is
given is a closed list of names: an author, a class, a style. Shapes: S sequences, G fields given.
"""
from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from seriatim.codecs.labelled import target_of
from seriatim.codecs.moves import STROKES, Moves
from seriatim.codecs.symbols import UNKNOWN, Codec, Labels, fit_codec, load_codec
from seriatim.config import CodecOptions
from seriatim.data.sequences import NUMBERS, SYMBOLS, Field, Sequences
from seriatim.errors import ConfigError, DataError, nearest


@dataclass(frozen=True)
class Samples:
    """Sequences in numbers, and what is given with each."""
    x: Field
    labels: np.ndarray                     # (S, G)

    def __len__(self) -> int:
        return len(self.x)

    def take(self, rows: slice | np.ndarray) -> Samples:
        return Samples(self.x.take(rows), self.labels[rows])


class Conditioned:
    """Sequences and their labels <-> numbers."""

    def __init__(self, options: CodecOptions, inputs: Codec | Moves, given: dict[str, Labels]):
        self.options, self.inputs, self.given = options, inputs, given

    @classmethod
    def fit(cls, data: Sequences, options: CodecOptions) -> Conditioned:
        names = [name.strip() for name in options.given.split(",") if name.strip()]
        given = {name: Labels.fit(labels_in(data, name)) for name in names}
        column = main_of(data, names)
        options = replace(options, unit="token") if column.kind == SYMBOLS else options
        inputs = Moves.fit(column, data.fields.get(STROKES) is column, data.origin) if column.kind == NUMBERS else fit_codec(column, options)
        return cls(options, inputs, given)

    @property
    def numeric(self) -> bool:
        return isinstance(self.inputs, Moves)

    @property
    def unit(self) -> str:
        return "point" if self.numeric else self.options.unit

    @property
    def size(self) -> int:
        """V, the symbols that can be written; of numbers the states that can follow a move."""
        return self.inputs.states if self.numeric else self.inputs.size

    @property
    def symbols(self) -> list[str]:
        return [] if self.numeric else self.inputs.symbols

    @property
    def number(self) -> dict[str, int]:
        return {} if self.numeric else self.inputs.number

    @property
    def sizes(self) -> tuple[int, tuple[int, ...]]:
        """What a model is told besides: how many channels numbers have, and how many names each field that is given."""
        return self.inputs.channels if self.numeric else 0, tuple(labels.size for labels in self.given.values())

    def encode(self, data: Sequences, labelled: bool = True) -> Samples:
        """Sequences in numbers, with what is given; without it where it is asked for."""
        column = main_of(data, list(self.given))
        if (column.kind == NUMBERS) != self.numeric:
            raise DataError(f"{data.origin} is not what this model was trained on", got=column.kind,
                            do="Give sequences of numbers" if self.numeric else "Give text or symbols")
        x = self.inputs.encode(column, data.origin) if self.numeric else self.inputs.encode(column)
        columns = [labels.encode(labels_in(data, name), data.lines, data.origin).flat for name, labels in self.given.items()] if labelled else []
        return Samples(x, np.stack(columns, 1).astype(np.int64) if columns else np.zeros((len(x), len(columns)), np.int64))

    def unknown(self, samples: Samples) -> int:
        return 0 if self.numeric else int((samples.x.flat == UNKNOWN).sum())

    def number_of(self, name: str, label: str) -> int:
        """The number of a label of a field that is given."""
        if label not in self.given[name].number:
            raise ConfigError(f"the training data has no {name} of this name", got=repr(label), do=nearest(label, self.given[name].names))
        return self.given[name].number[label]

    def pieces_of(self, text: str) -> list[str]:
        return [] if self.numeric else self.inputs.pieces_of(text)

    def decode(self, ids: Any) -> str:
        return self.inputs.decode(ids)

    def to_json(self) -> dict[str, Any]:
        return {"version": 1, "options": asdict(self.options),
                "conditioned": {"inputs": self.inputs.to_json(), "given": {name: labels.names for name, labels in self.given.items()}}}

    @classmethod
    def from_json(cls, record: dict[str, Any], options: CodecOptions, where: str) -> Conditioned:
        inputs, given = record["conditioned"]["inputs"], record["conditioned"]["given"]
        sound = all(isinstance(names, list) and names and all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
                    for names in given.values())
        found = Moves.from_json(inputs) if "pen" in inputs else load_codec(inputs, where)
        if not sound or not isinstance(found, (Codec, Moves)):
            raise ValueError("its labels are not lists of names, or its sequences not of one kind")
        return cls(options, found, {name: Labels(names) for name, names in given.items()})


def main_of(data: Sequences, given: list[str]) -> Field:
    """The field that is written: the main one, or the only one of numbers."""
    others = {name: column for name, column in data.fields.items() if name not in given}
    numbers = [column for name, column in others.items() if column.kind == NUMBERS and name not in ("label", "time")]
    if len(numbers) == 1 and all(column.kind == NUMBERS or name in ("label", "tags") for name, column in others.items()):
        return numbers[0]
    if not others:
        raise DataError(f"{data.origin} has nothing to be written but what is given", got=", ".join(data.fields), do="Give another field, or leave out --given")
    return replace(data, fields=others).main


def labels_in(data: Sequences, name: str) -> Field:
    """A field that is given, as names."""
    return target_of(data.labelled(data_field(data, name)), "label")


def data_field(data: Sequences, name: str) -> str:
    if name not in data.fields:
        raise DataError(f"{data.origin} has no field {name!r} to be given", got=", ".join(data.fields), do=nearest(name, data.fields))
    return name
