"""What goes in and what comes out: a codec for the sequences, a closed list of labels, and the letters words are written with.

A symbol that is unknown as it stands is looked for in lower case. Where word vectors are given, the vocabulary is that of the training
data and theirs, so that a word never seen in training is known if it has a vector. Shapes: N symbols, S sequences, U different words, L letters.
"""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from seriatim.codecs.symbols import SPECIALS, UNKNOWN, Codec, Labels, Tokens, codec_class, fit_codec
from seriatim.config import CodecOptions
from seriatim.data.sequences import NUMBERS, SYMBOLS, TEXT, Field, Sequences
from seriatim.errors import DataError

HALF = 16                                  # of a long word its first and last so many letters are read
FIRST_LETTER = 2                           # 0 is behind the end of a word, 1 a letter never seen in training


@dataclass(frozen=True)
class Examples:
    """Sequences in numbers and what is to be said about them: a label for each sequence, or a tag for each of its symbols."""

    x: Field                               # (N,) symbols
    y: Field                               # (N,) a tag each; or (S,) one label a sequence
    words: np.ndarray | None = None        # (N,) which of U different words each symbol is, known or not
    letters: np.ndarray | None = None      # (U, L) their letters in numbers: 0 behind the end, 1 for a letter never seen in training

    def __len__(self) -> int:
        return len(self.x)


class Labelled:
    """Sequences and their labels <-> numbers."""

    def __init__(self, inputs: Codec, labels: Labels, letters: Iterable[str], target: str, own: int):
        self.inputs, self.labels, self.letters, self.target, self.own = inputs, labels, list(letters), target, own

    @classmethod
    def fit(cls, data: Sequences, options: CodecOptions, target: str, more: Iterable[str] = ()) -> Labelled:
        """Vocabulary, labels and letters of the training data; `more` words are known besides."""
        inputs = fit_codec(data.main, options)
        own = inputs.size
        if more and isinstance(inputs, Tokens):
            inputs = inputs.knowing(more)
        letters = {letter for name in inputs.named(data.main).names for letter in name} if isinstance(inputs, Tokens) else ()
        return cls(inputs, Labels.fit(target_of(data, target)), sorted(letters), target, own)

    @property
    def options(self) -> CodecOptions:
        return self.inputs.options

    @property
    def size(self) -> int:
        return self.inputs.size

    @property
    def symbols(self) -> list[str]:
        return self.inputs.symbols

    @property
    def number(self) -> dict[str, int]:
        return self.inputs.number

    @property
    def sizes(self) -> tuple[int, int, int]:
        """What a model is told besides the size of the vocabulary: how many labels there are, letters, and symbols of the training data."""
        return self.labels.size, len(self.letters) + FIRST_LETTER, self.own

    def with_unseen(self, data: Sequences) -> Labelled:
        """The same, and behind its labels those that the data has besides."""
        return Labelled(self.inputs, self.labels.with_unseen(target_of(data, self.target)), self.letters, self.target, self.own)

    def encode(self, data: Sequences, labelled: bool = True) -> Examples:
        """Sequences in numbers, with the letters of their words; without their labels where there are none."""
        words = letters = None
        if isinstance(self.inputs, Tokens):
            given = self.inputs.named(data.main)
            table = np.array([self.find(name) for name in given.names], np.int32)
            x = Field(table[given.flat], given.offsets - given.offsets[0], SYMBOLS)
            used, words = np.unique(given.flat, return_inverse=True)
            letters = self.spelled([given.names[i] for i in used])
        else:
            x = self.inputs.encode(data.main)
        y = Field(np.zeros(0, np.int32), np.zeros(1, np.int64), SYMBOLS)
        if labelled:
            y = self.labels.encode(target_of(data, self.target), data.lines, data.origin)
        if labelled and self.target == "tags" and not np.array_equal(x.lengths, y.lengths):
            wrong = int(np.flatnonzero(x.lengths != y.lengths)[0])
            raise DataError("a sequence has not as many tags as symbols", got=f"{y.lengths[wrong]} and {x.lengths[wrong]}", file=data.origin,
                            line=None if data.lines is None else int(data.lines[wrong]), do="Give tokens with a tag each, for instance as CoNLL-U")
        return Examples(x, y, words, letters)

    def find(self, name: str) -> int:
        return self.number.get(name) or self.number.get(name.lower(), UNKNOWN)

    def spelled(self, names: list[str]) -> np.ndarray:
        """(U, L) letters of words in numbers."""
        short = [name if len(name) <= 2 * HALF else name[:HALF] + name[-HALF:] for name in names]
        lengths = np.fromiter(map(len, short), np.int64, len(short))
        codes = np.frombuffer("".join(short).encode("utf-32-le", "surrogatepass"), np.uint32)
        known = np.array([ord(letter) for letter in self.letters] or [0], np.uint32)         # in order
        place = np.minimum(np.searchsorted(known, codes), len(known) - 1)
        filled = np.zeros((len(short), int(lengths.max(initial=1))), np.int32)
        filled[np.arange(filled.shape[1]) < lengths[:, None]] = np.where(known[place] == codes, place + FIRST_LETTER, 1)
        return filled

    def pieces(self, column: Field) -> list[list[str]]:
        """The symbols of each sequence as they stand in the data."""
        if not isinstance(self.inputs, Tokens):
            ids = self.inputs.encode(column)
            return [[self.symbols[i] for i in ids.row(s)] for s in range(len(ids))]
        given = self.inputs.named(column)
        return [[given.names[i] for i in given.row(s)] for s in range(len(given))]

    def pieces_of(self, text: str) -> list[str]:
        return self.inputs.pieces_of(text)

    def to_json(self) -> dict[str, Any]:
        return self.inputs.to_json() | {"labels": self.labels.names, "letters": "".join(self.letters), "target": self.target, "own": self.own}

    @classmethod
    def from_json(cls, record: dict[str, Any], inputs: Codec) -> Labelled:
        names, letters, target, own = record["labels"], record["letters"], record["target"], record["own"]
        if not (isinstance(names, list) and all(isinstance(name, str) for name in names) and len(set(names)) == len(names) > 0):
            raise ValueError("its labels are not a list of names")
        if not isinstance(letters, str) or sorted(set(letters)) != list(letters) or target not in ("label", "tags"):
            raise ValueError("its letters are not an alphabet")
        if not isinstance(own, int) or not 0 < own <= inputs.size:
            raise ValueError("it has not so many symbols of its own")
        return cls(inputs, Labels(names), letters, target, own)


def cut_once(data: Sequences, options: CodecOptions) -> Sequences:
    """The same data with its text cut into words, if it is to be words."""
    if options.unit not in ("word", "token") or data.main.kind != TEXT:
        return data
    name = next(name for name, column in data.fields.items() if column is data.main)
    return replace(data, fields=data.fields | {name: codec_class(options.unit)(options, SPECIALS).named(data.main)})


def target_of(data: Sequences, target: str) -> Field:
    """The labels or tags of the data as names; texts and numbers, too, can be names of labels."""
    if target not in data.fields:
        what = "label for each sequence" if target == "label" else "tag for each element"
        raise DataError(f"{data.origin} has no {what}", got=f"fields: {', '.join(data.fields)}",
                        do="Name the columns with --columns label,text, or the field with --label NAME" if target == "label" else
                        "Give CoNLL-U, two columns, or a table with the fields tokens and tags")
    column = data.fields[target]
    if target == "label" and column.kind == NUMBERS and (column.lengths == 1).all() and column.values.ndim == 1:
        column = Field.of_labels(np.format_float_positional(value, trim="-") if np.isfinite(value) else "" for value in column.flat)
    elif column.kind == TEXT or (target == "label" and column.kind == SYMBOLS and (column.lengths != 1).any()):
        column = Field.of_labels(str(column.raw(s)) if column.kind == TEXT else " ".join(column.raw(s)) for s in range(len(column)))
    if column.kind != SYMBOLS:
        raise DataError(f"field {target!r} of {data.origin} holds numbers", do="Labels are names; numbers are forecast")
    missing = np.flatnonzero(np.array([not name for name in column.names], bool)[column.flat])
    if len(missing):
        s = int(np.searchsorted(column.offsets - column.offsets[0], missing[0], "right")) - 1
        raise DataError(f"missing value in field {target!r}", file=data.origin, line=None if data.lines is None else int(data.lines[s]),
                        do="Give every sequence its labels, or leave it out")
    return column
