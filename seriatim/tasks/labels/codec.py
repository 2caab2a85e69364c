"""What goes in and what comes out: a codec for the sequences, a closed list of labels or a scale of
values, and the letters words are written with.

Sequences are symbols, or numbers on a scale. A symbol that is unknown as it stands is looked for in
lower case. Where word vectors are given, the vocabulary is that of the training data and theirs, so
that a word never seen in training is known if it has a vector.
Shapes: N symbols or steps, S sequences, C channels, U different words, L letters.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch

from seriatim.batches import Batch, empty, pad
from seriatim.codecs.options import CodecOptions
from seriatim.codecs.scaled import Scaled, check_finite
from seriatim.codecs.symbols import (
    PADDING,
    SPECIALS,
    UNKNOWN,
    Codec,
    Labels,
    Tokens,
    codec_class,
    fit_codec,
    load_codec,
    reading_codec,
)
from seriatim.data.columns import number_in
from seriatim.data.objects import FORMS, MEMORY
from seriatim.data.sequences import KINDS, NUMBERS, SYMBOLS, TEXT, Field, Sequences
from seriatim.errors import ConfigError, DataError, nearest
from seriatim.settings import build


def of_examples(examples: Examples, rows: np.ndarray) -> Batch:
    """Whole sequences, with their tags, labels or values where these are known: y is (B, P), (B, 1)
    or (B, 1, 1). Numbers are (B, P, C)."""
    x, mask = pad([examples.x.row(s) for s in rows])  # (B, P)
    if not x.shape[1]:  # nothing is read like a single unknown word
        x = torch.full((len(rows), 1, *x.shape[2:]), PADDING, dtype=x.dtype)
    if not len(examples.y):
        y, counted = empty(len(rows)), empty(len(rows)).bool()
    else:
        y, counted = pad([examples.y.row(s) for s in rows])
        if not y.shape[1]:
            y = torch.zeros(x.shape[:2], dtype=torch.long)
            counted = torch.zeros_like(y, dtype=torch.bool)
    given = None if examples.given is None else (examples.given, rows)
    also = None
    if examples.also is not None:
        also = pad([examples.also.row(s) for s in rows])[0].long()  # (B, P, J)
        if not also.shape[1]:
            also = torch.full((len(rows), 1, also.shape[2]), PADDING, dtype=also.dtype)
    beside = None
    if examples.beside is not None:
        beside = pad([examples.beside.row(s) for s in rows])[0]  # (B, T, K)
        if not beside.shape[1]:
            beside = torch.zeros(*y.shape, beside.shape[2])
    if examples.words is None or examples.letters is None:
        return Batch(x, mask.sum(1), y, counted, beside=beside, further=also, given=given)
    offsets = examples.x.offsets
    used, where = np.unique(
        np.concatenate([examples.words[offsets[s] : offsets[s + 1]] for s in rows]),
        return_inverse=True,
    )
    words = torch.zeros_like(x)  # padding is said to be a word without letters, the first
    words[:, : mask.shape[1]][mask] = torch.from_numpy(where) + 1
    nothing = np.zeros((1, examples.letters.shape[1]), examples.letters.dtype)
    letters = np.concatenate([nothing, examples.letters[used]])  # (U, L)
    longest = max(1, int((letters > 0).sum(1).max()))
    spelled = torch.from_numpy(letters[:, :longest].astype(np.int64))
    return Batch(
        x, mask.sum(1), y, counted, None, words, spelled, beside=beside, further=also, given=given
    )


HALF = 16  # of a long word its first and last so many letters are read


STEP = "step"  # the unit of numbers


TARGETS = {
    "label": "label for each sequence",
    "tags": "tag for each element",
    "value": "value for each sequence",
    "labels": "list of labels for each sequence",
}
BAR = "|"  # between the labels of a sequence, in one cell


FIRST_LETTER = 2  # 0 is behind the end of a word, 1 a letter never seen in training


@dataclass(frozen=True)
class Examples:
    """Sequences in numbers and what is to be said about them: a label or a value for each sequence,
    or a tag for each of its symbols."""

    x: Field  # (N,) symbols, or (N, C) numbers
    y: Field  # (N,) a tag each; (S,) one label a sequence; or (S, 1) one value
    words: np.ndarray | None = None  # (N,) which of U different words each symbol is, known or not
    letters: np.ndarray | None = None  # (U, L) their letters in numbers, see `FIRST_LETTER`
    blanks: np.ndarray | None = None  # of letters and bytes, the numbers of those that part words
    given: Field | None = None  # the texts or words that x was made of; numbers have none
    beside: Field | None = None  # (N, K) what another model says of each label, as long as y
    also: Field | None = None  # (N, J) symbols of further fields, as long as x

    def __len__(self) -> int:
        return len(self.x)

    def evenly(self, many: int) -> Examples:
        """So many sequences, evenly spaced: a file may have its labels one after another."""
        if many >= len(self):
            return self
        chosen = np.zeros(len(self), bool)
        chosen[np.linspace(0, len(self) - 1, many).astype(np.int64)] = True
        return self.some(chosen)

    def some(self, chosen: np.ndarray) -> Examples:
        """The sequences that (S,) a mask chooses."""
        rows, own = np.flatnonzero(chosen), np.repeat(chosen, self.x.lengths)
        words = None if self.words is None else self.words[own]
        given = None if self.given is None else self.given.take(rows)
        beside = None if self.beside is None else self.beside.take(rows)
        also = None if self.also is None else self.also.take(rows)
        x, y = self.x.take(rows), self.y.take(rows)
        return replace(self, x=x, y=y, words=words, given=given, beside=beside, also=also)

    @property
    def columns(self) -> tuple[Field, ...]:
        """The columns of encoded data: what is read, and what is to be said about it."""
        return (self.x, self.y) if self.also is None else (self.x, self.y, self.also)


class LabelCodec:
    """Sequences and their labels, tags or values <-> numbers."""

    def __init__(
        self,
        inputs: Codec | Scaled,
        labels: Labels | Scaled,
        letters: Iterable[str],
        target: str,
        own: int,
        also: Mapping[str, Tokens] | None = None,
    ):
        self.also = dict(also or {})  # further fields by name, and the vocabulary of each
        self.inputs, self.said, self.letters = inputs, labels, list(letters)
        self.target, self.own = target, own

    @classmethod
    def fit(
        cls, data: Sequences, options: CodecOptions, target: str, more: Iterable[str] = ()
    ) -> LabelCodec:
        """Vocabulary, labels and letters of the training data; `more` words are known besides."""
        said = target_of(data, target)
        labels: Labels | Scaled = Scaled.of_steps(said) if target == "value" else Labels.fit(said)
        also = further_fields(data)
        if data.main.kind == NUMBERS:
            return cls(scale_of(data, more), labels, (), target, 0)
        inputs = fit_codec(data.main, options)
        own = inputs.size
        if more and isinstance(inputs, Tokens):
            inputs = inputs.knowing(more)
        letters: set[str] = set()
        if isinstance(inputs, Tokens):
            letters = {letter for name in inputs.named(data.main).names or () for letter in name}
        return cls(inputs, labels, sorted(letters), target, own, also)

    def reading_vectors(self, data: Sequences) -> LabelCodec:
        """The same labels of rows of equally many numbers, each one step of as many channels."""
        found = copy(self)
        found.inputs = Scaled.learned(data.main, vector=True)
        return found

    def reading_with(self, inputs: Codec, data: Sequences) -> LabelCodec:
        """The same labels of sequences that another codec cuts, with the letters of its words."""
        letters: set[str] = set()
        if isinstance(inputs, Tokens):
            letters = {letter for name in inputs.named(data.main).names or () for letter in name}
        return type(self)(inputs, self.said, sorted(letters), self.target, inputs.size, self.also)

    @property
    def text(self) -> Codec:
        """The codec of the sequences, where these are symbols."""
        if isinstance(self.inputs, Scaled):
            raise TypeError("these sequences are numbers")
        return self.inputs

    @property
    def labels(self) -> Labels:
        """The names of labels or tags, where it is these that are said."""
        if isinstance(self.said, Scaled):
            raise TypeError("what is said are values")
        return self.said

    @property
    def scale(self) -> Scaled:
        """The scale of the values, where it is these that are said."""
        if isinstance(self.said, Labels):
            raise TypeError("what is said are labels")
        return self.said

    @property
    def options(self) -> CodecOptions:
        """How text is cut; numbers have nothing to cut."""
        return CodecOptions() if isinstance(self.inputs, Scaled) else self.inputs.options

    @property
    def channels(self) -> int:
        """C, of numbers; 0: what is read is symbols."""
        return self.inputs.size if isinstance(self.inputs, Scaled) else 0

    @property
    def unit(self) -> str:
        """What one element of a sequence is called."""
        return STEP if self.channels else self.options.unit

    @property
    def size(self) -> int:
        """V, the symbols that are known; of numbers C."""
        return self.inputs.size

    @property
    def symbols(self) -> list[str]:
        """The names of the symbols."""
        return self.text.symbols

    @property
    def number(self) -> dict[str, int]:
        """The number of each symbol."""
        return self.text.number

    @property
    def sizes(self) -> tuple[int, ...]:
        """What a model is told besides the size of the vocabulary: how many labels there are,
        letters, symbols of the training data, channels, and symbols of each further field."""
        further = [each.size for each in self.also.values()]
        return self.said.size, len(self.letters) + FIRST_LETTER, self.own, self.channels, *further

    def with_unseen(self, data: Sequences) -> LabelCodec:
        """The same, and behind its labels those that the data has besides."""
        return LabelCodec(
            self.inputs,
            self.labels.with_unseen(target_of(data, self.target)),
            self.letters,
            self.target,
            self.own,
            self.also,
        )

    def encode(self, data: Sequences, labelled: bool = True) -> Examples:
        """Sequences in numbers, with the letters of their words; without their labels where there
        are none."""
        words = letters = None
        given = None if self.channels else data.main
        if isinstance(self.inputs, Tokens):
            given = self.inputs.named(data.main)
            names = given.names or ()
            table = np.array([self.find(name) for name in names], np.int32)
            x = Field(table[given.flat], given.offsets - given.offsets[0], SYMBOLS)
            used, words = np.unique(given.flat, return_inverse=True)
            letters = self.spelled([names[i] for i in used])
        else:
            if self.channels and data.main.kind == NUMBERS:
                check_finite(data.main, data.lines, data.origin)
            x = self.inputs.encode(data.main)
        also = self.beside_each(data, x) if self.also else None
        if not labelled:
            nothing = Field(np.zeros(0, np.int32), np.zeros(1, np.int64), SYMBOLS)
            return Examples(x, nothing, words, letters, self.blanks, given, also=also)
        said = target_of(data, self.target)
        y = (
            self.said.encode(said)
            if isinstance(self.said, Scaled)
            else self.said.encode(said, data.lines, data.origin)
        )
        if self.target == "tags" and not np.array_equal(x.lengths, y.lengths):
            wrong = int(np.flatnonzero(x.lengths != y.lengths)[0])
            raise DataError(
                f"a sequence has not as many tags as {'steps' if self.channels else 'symbols'}",
                got=f"{y.lengths[wrong]} and {x.lengths[wrong]}",
                file=data.origin,
                line=None if data.lines is None else int(data.lines[wrong]),
                do="Give every step, a list of numbers, its tag"
                if self.channels
                else "Give tokens with a tag each, for instance as CoNLL-U, "
                "and leave --unit as it is",
            )
        return Examples(x, y, words, letters, self.blanks, given, also=also)

    def beside_each(self, data: Sequences, x: Field) -> Field:
        """(N, J) symbols of the further fields, one of each beside every symbol."""
        columns = []
        for name, codec in self.also.items():
            ids = codec.encode(further_field(data, name))
            wrong = np.flatnonzero(ids.lengths != x.lengths)
            if len(wrong):
                s = int(wrong[0])
                raise DataError(
                    f"the field {name!r} has not as many symbols as the sequence",
                    got=f"{ids.lengths[s]} and {x.lengths[s]}",
                    file=data.origin,
                    line=None if data.lines is None else int(data.lines[s]),
                    do="Give tokens, and one of each further field beside every token",
                )
            columns.append(ids.flat)
        return Field(np.stack(columns, 1), x.offsets - x.offsets[0], SYMBOLS)

    @property
    def blanks(self) -> np.ndarray | None:
        """The numbers of the symbols that part words, where symbols are letters or bytes."""
        if self.channels or self.unit not in ("character", "byte"):
            return None
        parting = string.whitespace if self.unit == "byte" else None
        numbers = [
            number
            for number, symbol in enumerate(self.symbols)
            if (symbol.isspace() if parting is None else symbol in parting)
        ]
        return np.array(numbers, np.int64)

    def find(self, name: str) -> int:
        """The number of a symbol, as it stands or in lower case."""
        return self.number.get(name) or self.number.get(name.lower(), UNKNOWN)

    def spelled(self, names: list[str]) -> np.ndarray:
        """(U, L) letters of words in numbers."""
        short = [name if len(name) <= 2 * HALF else name[:HALF] + name[-HALF:] for name in names]
        lengths = np.fromiter(map(len, short), np.int64, len(short))
        codes = np.frombuffer("".join(short).encode("utf-32-le", "surrogatepass"), np.uint32)
        known = np.array([ord(letter) for letter in self.letters] or [0], np.uint32)  # in order
        place = np.minimum(np.searchsorted(known, codes), len(known) - 1)
        filled = np.zeros((len(short), int(lengths.max(initial=1))), np.int32)
        filled[np.arange(filled.shape[1]) < lengths[:, None]] = np.where(
            known[place] == codes, place + FIRST_LETTER, 1
        )
        return filled

    def pieces(self, column: Field) -> list[list[str]]:
        """The symbols of each sequence as they stand in the data; steps of numbers are counted."""
        if self.channels:
            return [[str(step + 1) for step in range(many)] for many in column.lengths.tolist()]
        if not isinstance(self.inputs, Tokens):
            ids = self.inputs.encode(column)
            shown = self.text.shown
            return [[shown(self.symbols[i]) for i in ids.row(s)] for s in range(len(ids))]
        given = self.inputs.named(column)
        names = given.names or ()
        return [[names[i] for i in given.row(s)] for s in range(len(given))]

    def pieces_of(self, text: str) -> list[str]:
        """The symbols of a text by name."""
        return self.text.pieces_of(text)

    def to_json(self) -> dict[str, Any]:
        """All that `from_json` needs."""
        inputs = (
            {"version": 1, "options": asdict(self.options), "numbers": self.inputs.to_json()}
            if isinstance(self.inputs, Scaled)
            else self.inputs.to_json()
        )
        labels = self.said.to_json() if isinstance(self.said, Scaled) else self.said.names
        return inputs | {
            "labels": labels,
            "letters": "".join(self.letters),
            "target": self.target,
            "own": self.own,
            **self.as_in_python(),
            **(
                {"also": [[name, each.to_json()] for name, each in self.also.items()]}
                if self.also
                else {}
            ),
        }

    def as_in_python(self) -> dict[str, str]:
        """What labels were in Python, where that was not text."""
        known = "" if isinstance(self.said, Scaled) else self.said.python
        return {"python": known} if known else {}

    @classmethod
    def from_json(cls, record: dict[str, Any], where: str) -> LabelCodec:
        """The codec that wrote this record, checked; `where` names the file in errors."""
        with reading_codec(where):
            build(CodecOptions, record["options"], where)  # refused before all else
            inputs: Codec | Scaled = (
                Scaled.from_json(record["numbers"])
                if "numbers" in record
                else load_codec(record, where)
            )
            letters, target, own = record["letters"], record["target"], record["own"]
            alphabet = isinstance(letters, str) and sorted(set(letters)) == list(letters)
            if not alphabet or target not in TARGETS:
                raise ValueError("its letters are not an alphabet")
            if not isinstance(own, int) or not (
                own == 0 if isinstance(inputs, Scaled) else 0 < own <= inputs.size
            ):
                raise ValueError("it has not so many symbols of its own")
            said = said_in(record["labels"], target, record.get("python", ""))
            also = {name: further_codec(each, where) for name, each in record.get("also", [])}
            if also and isinstance(inputs, Scaled):
                raise ValueError("numbers have no further fields")
            return cls(inputs, said, letters, target, own, also)


def further_codec(record: Any, where: str) -> Tokens:
    """The codec of a further field, checked."""
    found = load_codec(record, where)
    if not isinstance(found, Tokens):
        raise ValueError("a further field holds tokens")
    return found


def further_fields(data: Sequences) -> dict[str, Tokens]:
    """The vocabulary of each further field that is to be read beside the words."""
    names = data.also
    if names and data.main.kind == NUMBERS:
        raise ConfigError(
            "further symbols are read beside symbols, and these are numbers",
            got=f"--also {','.join(names)}",
            do="Leave that out",
        )
    if len(set(names)) < len(names):
        raise ConfigError("a field is read once", got=f"--also {','.join(names)}")
    options = CodecOptions(unit="token")
    return {name: Tokens.fit(further_field(data, name), options) for name in names}


def further_field(data: Sequences, name: str) -> Field:
    """A field of symbols beside the words, or of text with blanks between them."""
    column = data.fields.get(name)
    if column is None or column is data.main or column.kind == NUMBERS:
        what = "has no field" if column is None else "does not hold further symbols in the field"
        raise DataError(
            f"{data.origin} {what} {name!r}, which is to be read beside the words",
            got=f"fields: {', '.join(data.fields)}",
            do="Give a symbol of it for every word: a list a sequence, or a column of CoNLL-U "
            "named with --columns form,upos,xpos",
        )
    return column


def said_in(record: Any, target: str, python: Any) -> Labels | Scaled:
    """Labels or a scale from JSON; raises ValueError if they are none."""
    if target == "value":
        return Scaled.from_json(record)
    if not (
        isinstance(record, list)
        and all(isinstance(name, str) for name in record)
        and len(set(record)) == len(record) > 0
    ):
        raise ValueError("its labels are not a list of names")
    if python not in KINDS:
        raise ValueError(f"labels are no {python}")
    labels = Labels(record, python)
    if len(labels.values) != labels.size:  # a name that is no such value raises, too
        raise ValueError("its labels are not what they are said to be")
    return labels


def scale_of(data: Sequences, more: Iterable[str]) -> Scaled:
    """The scale of the numbers that are read."""
    if more:
        raise ConfigError(
            "word vectors are for words, and these are numbers",
            got=data.origin,
            do="Leave out --word-vectors",
        )
    check_finite(data.main, data.lines, data.origin)
    return Scaled.of_steps(data.main)


def cut_once(data: Sequences, options: CodecOptions) -> Sequences:
    """The same data with its text cut into words, if it is to be words."""
    if options.unit not in ("word", "token") or data.main.kind != TEXT:
        return data
    name = next(name for name, column in data.fields.items() if column is data.main)
    return replace(
        data,
        fields=data.fields | {name: codec_class(options.unit)(options, SPECIALS).named(data.main)},
    )


def target_of(data: Sequences, target: str) -> Field:
    """The labels or tags of the data as names, or its values; texts and numbers, too, can be names
    of labels."""
    if target == "value":
        return values_of(data)
    if target == "labels":
        return lists_of(data)
    column = given_target(data, target)
    column = as_labels(column) if target == "label" else as_symbols(column)
    if column.kind != SYMBOLS:
        raise DataError(
            f"field {target!r} of {data.origin} holds numbers",
            do="Labels are names; for one number a sequence there is regress",
        )
    unnamed = np.array([not name for name in column.names or ()], bool)
    missing = np.flatnonzero(unnamed[column.flat])
    if len(missing):
        s = int(np.searchsorted(column.offsets - column.offsets[0], missing[0], "right")) - 1
        raise DataError(
            f"missing value in field {target!r}",
            file=data.origin,
            line=None if data.lines is None else int(data.lines[s]),
            do="Give every sequence its labels, or leave it out",
        )
    return column


def as_labels(column: Field) -> Field:
    """One name for each sequence, of numbers and of several symbols too."""
    single = bool((column.lengths == 1).all())
    if column.kind == NUMBERS and single and column.values.ndim == 1:
        names = (
            np.format_float_positional(value, trim="-") if np.isfinite(value) else ""
            for value in column.flat
        )
        return replace(Field.of_labels(names), python=column.python)
    if column.kind == SYMBOLS and not single:
        return Field.of_labels(" ".join(column.raw(s)) for s in range(len(column)))
    return as_symbols(column)


def as_symbols(column: Field) -> Field:
    """A text is a name."""
    if column.kind != TEXT:
        return column
    return Field.of_labels(str(column.raw(s)) for s in range(len(column)))


def given_target(data: Sequences, target: str) -> Field:
    """The field of labels, tags or values."""
    if target in data.fields:
        return data.fields[target]
    ways = {
        "label": "Name the columns with --columns label,text, or the field with --label NAME",
        "tags": "Give CoNLL-U, two columns (a token and its tag a line, a blank or a tab between "
        f"them{marked_pairs(data)}), a table with the fields tokens and tags, or with "
        "--series one whose column of tags is named with --label",
        "labels": "Give a field of lists called labels, a column with | between labels, or name "
        "another with --label NAME",
        "value": "Give a field of numbers called value, or name another with --label NAME",
    }
    if data.columns and target != "tags":
        raise unnamed_column(data, target)
    raise DataError(
        f"{data.origin} has no {TARGETS[target]}",
        got=f"fields: {', '.join(data.fields)}",
        do=f"Give {FORMS[target]}" if data.origin == MEMORY else ways[target],
    )


def unnamed_column(data: Sequences, target: str) -> DataError:
    """The error of a table of several columns, none of which is the target."""
    asked, names = data.read_as.get("label", ""), ", ".join(data.columns)
    if asked and asked not in data.columns:
        what, do = f"{data.origin} has no column {asked!r}", nearest(asked, data.columns)
        return DataError(what, got=f"columns: {names}", do=do)
    return DataError(
        f"{data.origin} has no column that is known to hold the {target}",
        got=f"columns: {names}",
        do="Name it with --label NAME",
    )


def marked_pairs(data: Sequences) -> str:
    """What to do about lines that are two cells with another mark between them."""
    name = data.main_name()
    column = None if name is None else data.fields[name]
    if column is None or column.kind != TEXT:
        return ""
    lines = [str(column.raw(s)) for s in range(min(len(column), 100))]
    for mark in ";,|":
        if lines and all(line.count(mark) == 1 and len(line) > 2 for line in lines):
            return f"; here it is {mark!r}, and tr '{mark}' '\\t' < FILE > OTHER makes tabs of it"
    return ""


def lists_of(data: Sequences) -> Field:
    """The labels of each sequence, each once: lists of names, or names with bars between. An empty
    list is one, too."""
    column = given_target(data, "labels")
    if column.kind == NUMBERS:
        raise DataError(
            f"field 'labels' of {data.origin} holds numbers",
            do="Labels are names; for numbers there is regress",
        )
    rows = []
    for s in range(len(column)):
        given = column.raw(s)
        cells = [given] if isinstance(given, str) else given
        names = (name.strip() for cell in cells for name in str(cell).split(BAR))
        rows.append(list(dict.fromkeys(name for name in names if name)))
    return Field.of_symbols(rows)


def vectors_of(data: Sequences, name: str, column: Field) -> Field:
    """(S, K) the numbers of each sequence, K of them the same for all."""
    wide = int(column.lengths[0])
    finite = np.isfinite(column.flat)
    owner = np.repeat(np.arange(len(column)), column.lengths)
    odd = np.flatnonzero((column.lengths != wide) | (column.lengths == 0))
    wrong = odd if len(odd) else owner[~finite]
    if not len(wrong):
        table = column.flat.astype(np.float64).reshape(len(column), wide)
        return Field(table, np.arange(len(column) + 1), NUMBERS)
    s = int(wrong[0])
    many = f"{column.lengths[s]} here, {wide} in the first sequence"
    raise DataError(
        f"field {name!r} has not as many numbers for each sequence"
        if len(odd)
        else f"field {name!r} holds a number here that is missing or infinite",
        got=many if len(odd) else column.row(s).tolist(),
        file=data.origin,
        line=None if data.lines is None else int(data.lines[s]),
        do="Give every sequence a list of as many values, or leave it out",
    )


def values_of(data: Sequences) -> Field:
    """(S,) one number for each sequence, or (S, K) where each has a list of K: of the field `label`
    if that is the one chosen, or there is no `value`. Numbers written as text are numbers."""
    chosen = data.fields.get("label")
    name = (
        "label"
        if chosen is not None and (chosen.kind == NUMBERS or "value" not in data.fields)
        else "value"
    )
    column = given_target(data, name)
    if column.kind == NUMBERS and column.values.ndim > 1:
        raise DataError(
            f"field {name!r} of {data.origin} does not hold one number for each sequence, or one "
            "list of numbers",
            got="lists of lists",
            do="Name another with --label NAME",
        )
    if column.kind == NUMBERS and (column.lengths != 1).any():
        return vectors_of(data, name, column)
    written = (
        [str(each) for each in column.flat]
        if column.kind == NUMBERS
        else ["".join(column.raw(s)) for s in range(len(column))]
    )
    cells = list(map(number_in, written))
    for s, number in enumerate(cells):
        if number is None or not np.isfinite(number):
            raise DataError(
                f"field {name!r} holds no number here",
                got=written[s],
                file=data.origin,
                do="Give every sequence its value, or leave it out",
                line=None if data.lines is None else int(data.lines[s]),
            )
    return Field(np.array(cells, np.float64), np.arange(len(cells) + 1), NUMBERS)
