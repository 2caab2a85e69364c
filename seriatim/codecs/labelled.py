"""What goes in and what comes out: a codec for the sequences, a closed list of labels or a scale of values, and the letters words are written with.

Sequences are symbols, or numbers on a scale. A symbol that is unknown as it stands is looked for in lower case. Where word vectors are given, the
vocabulary is that of the training data and theirs, so that a word never seen in training is known if it has a vector.
Shapes: N symbols or steps, S sequences, C channels, U different words, L letters.
"""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from seriatim.codecs.scaled import Scaled, check_finite
from seriatim.codecs.symbols import SPECIALS, UNKNOWN, Codec, Labels, Tokens, codec_class, fit_codec
from seriatim.config import CodecOptions
from seriatim.data.readers import number_in
from seriatim.data.sequences import NUMBERS, SYMBOLS, TEXT, Field, Sequences
from seriatim.errors import ConfigError, DataError

HALF = 16                                  # of a long word its first and last so many letters are read
TARGETS = {"label": "label for each sequence", "tags": "tag for each element", "value": "value for each sequence"}
FIRST_LETTER = 2                           # 0 is behind the end of a word, 1 a letter never seen in training


@dataclass(frozen=True)
class Examples:
    """Sequences in numbers and what is to be said about them: a label or a value for each sequence, or a tag for each of its symbols."""

    x: Field                               # (N,) symbols, or (N, C) numbers
    y: Field                               # (N,) a tag each; (S,) one label a sequence; or (S, 1) one value
    words: np.ndarray | None = None        # (N,) which of U different words each symbol is, known or not
    letters: np.ndarray | None = None      # (U, L) their letters in numbers: 0 behind the end, 1 for a letter never seen in training

    def __len__(self) -> int:
        return len(self.x)


class Labelled:
    """Sequences and their labels, tags or values <-> numbers."""

    def __init__(self, inputs: Codec | Scaled, labels: Labels | Scaled, letters: Iterable[str], target: str, own: int):
        self.inputs, self.labels, self.letters, self.target, self.own = inputs, labels, list(letters), target, own

    @classmethod
    def fit(cls, data: Sequences, options: CodecOptions, target: str, more: Iterable[str] = ()) -> Labelled:
        """Vocabulary, labels and letters of the training data; `more` words are known besides."""
        said = target_of(data, target)
        labels = Scaled.of_steps(said) if target == "value" else Labels.fit(said)
        if data.main.kind == NUMBERS:
            return cls(scale_of(data, target, more), labels, (), target, 0)
        inputs = fit_codec(data.main, options)
        own = inputs.size
        if more and isinstance(inputs, Tokens):
            inputs = inputs.knowing(more)
        letters = {letter for name in inputs.named(data.main).names for letter in name} if isinstance(inputs, Tokens) else ()
        return cls(inputs, labels, sorted(letters), target, own)

    @property
    def options(self) -> CodecOptions:
        return CodecOptions() if self.channels else self.inputs.options

    @property
    def channels(self) -> int:
        """C, of numbers; 0: what is read is symbols."""
        return self.inputs.size if isinstance(self.inputs, Scaled) else 0

    @property
    def unit(self) -> str:
        return "step" if self.channels else self.options.unit

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
    def sizes(self) -> tuple[int, int, int, int]:
        """What a model is told besides the size of the vocabulary: how many labels there are, letters, symbols of the training data, and channels."""
        return self.labels.size, len(self.letters) + FIRST_LETTER, self.own, self.channels

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
            if self.channels and data.main.kind == NUMBERS:
                check_finite(data.main, data.lines, data.origin)
            x = self.inputs.encode(data.main)
        y = Field(np.zeros(0, np.int32), np.zeros(1, np.int64), SYMBOLS)
        if labelled:
            said = target_of(data, self.target)
            y = self.labels.encode(said) if self.target == "value" else self.labels.encode(said, data.lines, data.origin)
        if labelled and self.target == "tags" and not np.array_equal(x.lengths, y.lengths):
            wrong = int(np.flatnonzero(x.lengths != y.lengths)[0])
            raise DataError("a sequence has not as many tags as symbols", got=f"{y.lengths[wrong]} and {x.lengths[wrong]}", file=data.origin,
                            line=None if data.lines is None else int(data.lines[wrong]),
                            do="Give tokens with a tag each, for instance as CoNLL-U, and leave --unit as it is")
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
        inputs = {"version": 1, "options": asdict(self.options), "numbers": self.inputs.to_json()} if self.channels else self.inputs.to_json()
        labels = self.labels.to_json() if self.target == "value" else self.labels.names
        return inputs | {"labels": labels, "letters": "".join(self.letters), "target": self.target, "own": self.own}

    @classmethod
    def from_json(cls, record: dict[str, Any], inputs: Codec | Scaled) -> Labelled:
        names, letters, target, own = record["labels"], record["letters"], record["target"], record["own"]
        if target != "value" and not (isinstance(names, list) and all(isinstance(name, str) for name in names) and len(set(names)) == len(names) > 0):
            raise ValueError("its labels are not a list of names")
        if not isinstance(letters, str) or sorted(set(letters)) != list(letters) or target not in TARGETS:
            raise ValueError("its letters are not an alphabet")
        if not isinstance(own, int) or not (own == 0 if isinstance(inputs, Scaled) else 0 < own <= inputs.size):
            raise ValueError("it has not so many symbols of its own")
        return cls(inputs, Scaled.from_json(names) if target == "value" else Labels(names), letters, target, own)


def scale_of(data: Sequences, target: str, more: Iterable[str]) -> Scaled:
    """The scale of the numbers that are read."""
    if target == "tags":
        raise DataError("tags are given to symbols, and these are numbers", file=data.origin, do="Give tokens with a tag each")
    if more:
        raise ConfigError("word vectors are for words, and these are numbers", got=data.origin, do="Leave out --vectors")
    check_finite(data.main, data.lines, data.origin)
    return Scaled.of_steps(data.main)


def cut_once(data: Sequences, options: CodecOptions) -> Sequences:
    """The same data with its text cut into words, if it is to be words."""
    if options.unit not in ("word", "token") or data.main.kind != TEXT:
        return data
    name = next(name for name, column in data.fields.items() if column is data.main)
    return replace(data, fields=data.fields | {name: codec_class(options.unit)(options, SPECIALS).named(data.main)})


def target_of(data: Sequences, target: str) -> Field:
    """The labels or tags of the data as names, or its values; texts and numbers, too, can be names of labels."""
    if target == "value":
        return values_of(data)
    column = given_target(data, target)
    if target == "label" and column.kind == NUMBERS and (column.lengths == 1).all() and column.values.ndim == 1:
        column = Field.of_labels(np.format_float_positional(value, trim="-") if np.isfinite(value) else "" for value in column.flat)
    elif column.kind == TEXT or (target == "label" and column.kind == SYMBOLS and (column.lengths != 1).any()):
        column = Field.of_labels(str(column.raw(s)) if column.kind == TEXT else " ".join(column.raw(s)) for s in range(len(column)))
    if column.kind != SYMBOLS:
        raise DataError(f"field {target!r} of {data.origin} holds numbers", do="Labels are names; for one number a sequence there is regress")
    missing = np.flatnonzero(np.array([not name for name in column.names], bool)[column.flat])
    if len(missing):
        s = int(np.searchsorted(column.offsets - column.offsets[0], missing[0], "right")) - 1
        raise DataError(f"missing value in field {target!r}", file=data.origin, line=None if data.lines is None else int(data.lines[s]),
                        do="Give every sequence its labels, or leave it out")
    return column


def given_target(data: Sequences, target: str) -> Field:
    if target in data.fields:
        return data.fields[target]
    ways = {"label": "Name the columns with --columns label,text, or the field with --label NAME",
            "tags": "Give CoNLL-U, two columns, or a table with the fields tokens and tags",
            "value": "Give a field of numbers called value, or name another with --label NAME"}
    raise DataError(f"{data.origin} has no {TARGETS[target]}", got=f"fields: {', '.join(data.fields)}", do=ways[target])


def values_of(data: Sequences) -> Field:
    """(S,) one number for each sequence: of the field `label` if that is the one chosen, or there is no `value`. Numbers written as text are numbers."""
    chosen = data.fields.get("label")
    name = "label" if chosen is not None and (chosen.kind == NUMBERS or "value" not in data.fields) else "value"
    column = given_target(data, name)
    if column.kind == NUMBERS and (column.values.ndim > 1 or (column.lengths != 1).any()):
        raise DataError(f"field {name!r} of {data.origin} does not hold one number for each sequence", do="Name another with --label NAME")
    written = [str(each) for each in column.flat] if column.kind == NUMBERS else ["".join(column.raw(s)) for s in range(len(column))]
    cells = list(map(number_in, written))
    for s, number in enumerate(cells):
        if number is None or not np.isfinite(number):
            raise DataError(f"field {name!r} holds no number here", got=written[s], file=data.origin, do="Give every sequence its value, or leave it out",
                            line=None if data.lines is None else int(data.lines[s]))
    return Field(np.array(cells, np.float64), np.arange(len(cells) + 1), NUMBERS)
