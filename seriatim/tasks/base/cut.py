"""From anything to a lesson: how a task reads data, divides it, turns it into numbers and teaches it.

    source -> sequences -> prepare -> hold_out / divide -> cut -> codec, encode -> Lesson

Each room has a Cut of its own; what is usual stands here. `sequences` is the one way in: every verb
reads its data through it, through every door.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seriatim.codecs.options import CodecOptions
from seriatim.data import read
from seriatim.data.classes import read_classes
from seriatim.data.formats import FORMATS, format_of
from seriatim.data.objects import at_hand, files_in
from seriatim.data.options import TextOptions
from seriatim.data.sequences import NUMBERS, SAID, TEXT, Field, Sequences, joined
from seriatim.data.splits import folds, is_single_stream, passages, spread, subset
from seriatim.errors import ConfigError, DataError, SeriatimError
from seriatim.measuring.fingerprint import pieces_of
from seriatim.progress import note
from seriatim.settings import build

if TYPE_CHECKING:
    from seriatim.models.base import Model
    from seriatim.models.ladder import Part
    from seriatim.tasks.base import Task
    from seriatim.training.lesson import Lesson

Source = Any  # whatever `seriatim.data.objects` understands
Settings = Mapping[str, Any]
SPLIT = (0.05, 0.85, 0.10)  # validation, training, test: of a stream in this order
MOST_TEST = 200_000  # characters of the test part that are scored in a comparison
MOST_JUDGED = 1000  # items of the validation data that are looked at while fitting


class Cut:
    """How a task cuts x and y from data."""

    held_share = 0.05  # of the training data, for validation where none is given
    how: str | None = None  # in which way data are divided: see `seriatim.data.splits`
    by = ""  # how text is cut unless something else is asked for; "": as its format is
    folded = False  # whether a comparison may have folds
    grows = True  # whether some of the data is a smaller case of all of them
    # whether measuring walks through the end of the data alone, which is what `hold_out` sets aside
    walks = False
    parallel = False  # whether two files may belong together, line by line
    wants = ""  # what the data must have besides: label, value, tags or pair; or be: series
    numeric = True  # whether sequences may be numbers; otherwise whole numbers are symbols
    untokenized = ""  # why no tokenizer made elsewhere is of use here, if none is
    audited = False  # whether the data is looked at for copies and contradictions before a fit

    def __init__(self, task: Task):
        self.task = task

    @property
    def unit(self) -> str:
        """What counts as a symbol unless the data or the user say something else."""
        return self.task.usual_unit

    # -- the one way in
    def sequences(
        self, source: Source, reading: Any = None, *, unit: str | None = None, gaps: bool = False
    ) -> Sequences:
        """Anything as Sequences: these, a file or a built-in corpus (a Path, a string), paths that
        belong together (a list of Path), a text (a string with a blank in it), or whatever is in
        memory: see `seriatim.data.objects`. With `gaps`, labels may be missing."""
        reading = build(self.task.reading, {}) if reading is None else reading
        source = at_hand(source)
        if isinstance(source, Sequences):
            return self.in_sequences(source)
        paths = files_in(source)
        if paths is not None:
            return self.in_sequences(self.read(paths, reading, unit, gaps))
        if isinstance(source, str):
            source, reading = [source], self.as_stream(reading)
        data = self.read([self.in_memory(source)], reading, unit, gaps)
        return self.in_sequences(self.in_kind(data, unit))

    def in_sequences(self, data: Sequences) -> Sequences:
        """The same; a stream is refused where each sequence has an answer of its own."""
        if self.by == "line" and data.by == "stream":
            raise DataError(
                f"{data.origin} is one stream, and {self.task.name} reads a sequence a line",
                got="by stream",
                do='Read it by line: leave out --by stream, or give by="line" to `st.read`',
            )
        return data

    def in_kind(self, data: Sequences, unit: str | None) -> Sequences:
        """What was in memory, its numbers as symbols where these are wanted."""
        return data if self.numeric else in_symbols(data, self.task.name)

    def in_memory(self, thing: Any) -> Any:
        """What is in memory, in a form that every task understands."""
        return thing

    def as_stream(self, reading: Any) -> Any:
        """How one text is read: as a stream, unless sequences are, or something else was said."""
        free = not self.by and "by" in vars(reading) and not reading.by
        return replace(reading, by="stream") if free else reading

    def read(self, paths: list[Any], reading: Any, unit: str | None, gaps: bool) -> Sequences:
        """Files, or one thing in memory, as Sequences, read as asked for."""
        notes: list[str] = []
        if not self.numeric:
            reading = as_symbols(paths, reading)
        asked = self.asked(reading) | {"unit": unit, "gaps": gaps, "notes": notes}
        files = all(isinstance(path, str) for path in paths)
        single = len(paths) > 1 and all(FORMATS[format_of(path)].single for path in paths)
        classes = files and (len(paths) > 1 or Path(paths[0]).is_dir())
        if self.wants == "label" and classes and not (single and gaps):
            one = partial(read, **asked | {"gaps": True, "label": None})
            data = read_classes(paths, unit, reading.encoding, notes, one)
        elif single:
            data = joined([read(path, **asked) for path in paths])
        elif len(paths) == 1 or self.parallel:
            data = read(*paths, **asked)
        else:
            raise ConfigError(
                f"one file is read for {self.task.name}",
                got=" ".join(paths),
                do="Give one; two files whose lines belong together are for pairs of sequences",
            )
        notes += self.remarks(data, reading, paths)
        data = self.one_field(data, reading, notes)
        for words in notes:
            note(words)
        note(data.told, "read")
        return data.distinct() if reading.distinct else data

    def asked(self, reading: TextOptions) -> dict[str, Any]:
        """What `read` is asked for."""
        return {
            "input_format": reading.input_format or None,
            "by": reading.by or self.by or None,
            "columns": reading.columns or None,
            "decimal": reading.decimal or None,
            "field": reading.field or None,
            "encoding": reading.encoding or None,
            "wants": self.wants,
            **own_options(reading),
        }

    def remarks(self, data: Sequences, reading: TextOptions, paths: list[str]) -> list[str]:
        """What a reader should know about how the file was understood."""
        return []

    def one_field(self, data: Sequences, reading: TextOptions, notes: list[str]) -> Sequences:
        """The data with the field that is read as its main one: of several that could be, where
        none was named, the longest, which is said and kept for later files."""
        readable = {
            name: float(column.lengths.mean())
            for name, column in data.fields.items()
            if column.kind != NUMBERS and name not in SAID
        }
        if reading.field or len(readable) < 2 or {"text", "tokens"} & data.fields.keys():
            return data
        name = max(readable, key=lambda each: readable[each])
        names = ", ".join(map(repr, readable))
        notes.append(f"of the fields {names} the longest is read, {name!r}; or name one: --field")
        told = f"{data.told}; {name!r} is read" if data.told else ""
        read_as = {**data.read_as, "field": name}
        return replace(data.only(name), told=told, read_as=read_as, columns=tuple(data.fields))

    def united(
        self, several: Sequence[Sequences | None], settings: Settings
    ) -> Sequence[Sequences | None]:
        """Training data and others that belong to them, with the unit that the former call for
        where nobody said it; most rooms have one unit for all data."""
        return several

    # -- from data to numbers
    def prepare(self, data: Sequences, settings: Settings) -> Sequences:
        """The data as the task needs it, checked before it is divided."""
        return data

    def coding(self, data: Sequences, settings: Settings) -> CodecOptions:
        """The options of the codec: as asked for, as the data say, or as is usual here."""
        build(self.task.coding, settings, "codec")  # only what this room has
        return build(CodecOptions, {"unit": data.unit or self.unit} | dict(settings), "codec")

    def cut(self, data: Sequences, settings: Settings) -> Sequences:
        """The data cut into symbols, where more than one look at them."""
        return data

    def fit_codec(self, train: Sequences, settings: Settings, more: list[str]) -> tuple[Any, Any]:
        """The codec, fitted on the training data and `more` words, and these data in numbers."""
        raise NotImplementedError

    def could_be(self, data: Sequences, parts: Sequence[Part] = ()) -> str:
        """How data were understood that could be something else, by what these parts read; or
        nothing."""
        return ""

    def codec_for(self, parts: Sequence[Part], codec: Any, train: Sequences) -> Any:
        """The codec, or the one by which these parts read the same data."""
        return codec

    def encode(self, codec: Any, data: Sequences) -> Any:
        """Data in numbers."""
        return codec.encode(data)

    def lesson(self, train: Any, valid: Any, by: str, codec: Any) -> Lesson:
        """What training sees."""
        raise NotImplementedError

    # -- what is known again
    def by_key(self, data: Sequences) -> Sequences:
        """The data with that as main field by which sequences are equal: most have it there."""
        return data

    def pieces(self, data: Sequences) -> np.ndarray:
        """(P,) uint64: hashes of the pieces by which these data are known again if they are learned
        from: sequences, or passages of a stream."""
        return pieces_of(data)

    # -- parts of the data
    def hold_out(self, data: Sequences, parts: list[Part]) -> tuple[Sequences, Sequences]:
        """Training and validation data; of a stream its beginning is held out, so that training
        reaches up to the end."""
        try:
            valid, train = data.split(self.held_share, 1 - self.held_share, how=self.how)
            return train, valid
        except SeriatimError as error:
            raise self.too_short(data, error) from None

    def too_short(self, data: Sequences, error: SeriatimError) -> DataError:
        """Why nothing can be held out."""
        share = f"{100 * self.held_share:.0f} %"
        return DataError(
            f"{data.origin} is too short to set {share} aside for validation",
            got=error.got,
            do="Give more that is different (equal sequences stay together), "
            "or validation data with --valid",
        )

    def divide(self, data: Sequences) -> tuple[Sequences | None, Sequences, Sequences]:
        """Validation, training and test, for a comparison."""
        try:
            if is_single_stream(data):
                valid, train, test = spread(data, SPLIT)
            else:
                valid, train, test = data.split(*SPLIT, how=self.how)
        except SeriatimError as error:
            raise DataError(
                f"{data.origin} is too short to be divided into validation, training and test",
                got=error.got,
                do="Give a longer text, or more sequences that are different: "
                "equal ones stay together",
            ) from None
        return valid, train, self.some_test(test)

    def some_test(self, test: Sequences) -> Sequences:
        """As much of the test part as is scored: of a long stream passages from all of it."""
        if test.by == "stream" and len(test.main.flat) > MOST_TEST:
            return passages(test, MOST_TEST / len(test.main.flat))
        return test

    def official(self, train: Sequences) -> dict[str, Any]:
        """What a test that was given apart is measured with: for most nothing more."""
        return {}

    def some_of(self, data: Sequences, share: float) -> Sequences:
        """About this share of the data, to see how long something takes: passages of a stream, or
        sequences evenly spaced."""
        if is_single_stream(data):
            return passages(data, share)
        many = max(1, int(share * len(data)))
        return data[np.linspace(0, len(data) - 1, many).astype(int)]

    def subset(self, train: Sequences, share: float, seed: int) -> Sequences:
        """About this share of the training data, as it might have been all: see `splits.subset`."""
        return subset(train, share, seed)

    def amount(self, train: Sequences) -> tuple[int, str]:
        """How much training data this is, and of what: elements of a stream, else sequences."""
        if is_single_stream(train):
            return len(train.main.flat), "characters" if train.main.kind == TEXT else "elements"
        return len(train), "sequences"

    def tried_on(
        self, train: Sequences, test: Sequences, share: float
    ) -> tuple[Sequences, Sequences]:
        """About this share of what is fitted to and measured on, to see how long both take."""
        return self.some_of(train, share), self.some_of(test, share)

    def folds(self, data: Sequences, k: int) -> list[tuple[Sequences | None, Sequences, Sequences]]:
        """k times training and test; equal sequences stay together, and labels keep their shares.
        A model that needs validation data sets some of its training data aside."""
        if not self.folded:
            raise ConfigError(
                "folds are for labels and values", got=self.task.name, do="Leave out --folds"
            )
        return [(None, train, test) for train, test in folds(data, k, how=self.how)]

    # -- refusals
    def unable(self, data: Sequences) -> list[str]:
        """Rungs that cannot read such data at all: not compared unless they are named."""
        return []

    def readable(self, parts: Sequence[Part], codec: Any, data: Sequences) -> None:
        """Refuse sequences that these models cannot read, by their lines."""

    def check_parts(self, parts: Sequence[Part]) -> None:
        """Refuse settings that do not go together."""

    def check(
        self, model: Model, parts: Sequence[Part], codec: Any, train: Any, origin: str
    ) -> None:
        """Refuse data that this model cannot learn from, before anything is written."""


def own_options(reading: Any) -> dict[str, Any]:
    """What is asked of one format alone."""
    names = {name for row in FORMATS.values() for name in row.own}
    return {name: value for name, value in vars(reading).items() if name in names and value}


def as_symbols(paths: list[Any], reading: Any) -> Any:
    """How files are read that could be numbers, where symbols are wanted."""
    files = all(isinstance(path, str) for path in paths)
    formats = {FORMATS[format_of(path)].symbols for path in paths} if files else set()
    other = len(formats) == 1 and not reading.input_format and formats.pop()
    return replace(reading, input_format=other) if other else reading


def are_whole(column: Field) -> bool:
    """Whether these are whole numbers, one a step."""
    flat = column.flat
    return flat.ndim == 1 and bool((np.isfinite(flat) & (flat == np.floor(flat))).all())


def in_symbols(data: Sequences, task: str) -> Sequences:
    """Sequences of whole numbers as symbols, for a task that has no use for others."""
    name = data.main_name()
    column = None if name is None else data.fields[name]
    if name is None or column is None or column.kind != NUMBERS:
        return data
    if not are_whole(column):
        raise DataError(
            f"{task} reads symbols, and these are numbers that are not whole",
            got=f"{len(data):,} sequences of numbers",
            do="Give texts, or lists of tokens or of whole numbers",
        )
    rows = (column.row(s).astype(np.int64).tolist() for s in range(len(column)))
    rest = {key: each for key, each in data.fields.items() if key != name}
    return replace(
        data, fields={"tokens": Field.of_symbols(rows)} | rest, unit=data.unit or "token"
    )
