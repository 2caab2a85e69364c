"""Many sequences in two arrays, values + offsets, with named fields side by side.

    sequence s of a field = values[offsets[s] : offsets[s + 1]]

A slice of consecutive sequences is a view: only the offsets are cut, so that a part of 100 million
symbols costs nothing. Shapes: N values, S sequences, D channels.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np

from seriatim.errors import DataError, nearest

TEXT, SYMBOLS, NUMBERS = "text", "symbols", "numbers"
SAID = ("label", "labels", "tags")  # fields of what is said of sequences
KINDS: dict[str, Callable[[str], Any]] = {  # what labels may be in Python, from their names
    "": str,
    "int": int,
    "float": float,
    "bool": lambda name: name == "true",
}


@dataclass(frozen=True, eq=False)
class Field:
    """One named column of sequences: UTF-8 text, symbols with names, or numbers."""

    values: np.ndarray  # text: (N,) uint8; symbols: (N,) int32; numbers: (N,) or (N, D) float
    offsets: np.ndarray  # (S + 1,) int64
    kind: str  # TEXT, SYMBOLS or NUMBERS
    # symbols: the name of each one; numbers: of each channel, if they have names
    names: tuple[str, ...] | None = None
    python: str = ""  # what its labels were in Python, a key of KINDS

    @classmethod
    def of_text(cls, texts: Iterable[str]) -> Field:
        """Text as UTF-8 bytes, one sequence each."""
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        return cls(np.frombuffer(b"".join(encoded), np.uint8), offsets_of(map(len, encoded)), TEXT)

    @classmethod
    def of_symbols(cls, rows: Iterable[Sequence[Any]]) -> Field:
        """Symbols as given, numbered in order of first appearance."""
        rows = [list(row) for row in rows]
        names, python = names_of([symbol for row in rows for symbol in row])
        number: dict[str, int] = {}
        ids = [number.setdefault(symbol, len(number)) for symbol in names]
        offsets = offsets_of(map(len, rows))
        return cls(np.array(ids, np.int32), offsets, SYMBOLS, tuple(number), python)

    @classmethod
    def of_labels(cls, labels: Iterable[Any]) -> Field:
        """One symbol for each sequence: texts, whole numbers, numbers or truth values, all of a
        kind; None is a label that is missing."""
        names, python = names_of(list(labels))
        number: dict[str, int] = {}
        ids = [number.setdefault(label, len(number)) for label in names]
        return cls(np.array(ids, np.int32), np.arange(len(ids) + 1), SYMBOLS, tuple(number), python)

    @classmethod
    def of_numbers(cls, rows: Iterable[np.ndarray]) -> Field:
        """Numbers, one array for each sequence: (T,) or (T, D)."""
        rows = [np.asarray(row, np.float64) for row in rows]
        values = np.concatenate(rows) if rows else np.zeros(0)
        return cls(values, offsets_of(map(len, rows)), NUMBERS)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def columns(self) -> tuple[Field, ...]:
        """The fields that make up encoded data: of a single one itself."""
        return (self,)

    @property
    def lengths(self) -> np.ndarray:
        """(S,) how long each sequence is."""
        return np.diff(self.offsets)

    @property
    def flat(self) -> np.ndarray:
        """The values of all sequences, one after another."""
        return self.values[self.offsets[0] : self.offsets[-1]]

    def row(self, s: int) -> np.ndarray:
        """The values of sequence s, as a view."""
        return self.values[self.offsets[s] : self.offsets[s + 1]]

    def raw(self, s: int) -> str | list[str] | np.ndarray:
        """Sequence s as a person would write it."""
        row = self.row(s)
        if self.kind == TEXT:
            return row.tobytes().decode("utf-8", "surrogatepass")
        return [self.symbol_names[i] for i in row] if self.kind == SYMBOLS else row

    @property
    def symbol_names(self) -> tuple[str, ...]:
        """The name of each symbol; text and numbers have none."""
        if self.names is None:
            raise TypeError(f"a field of {self.kind} has no names")
        return self.names

    def take(self, rows: slice | np.ndarray) -> Field:
        """Some of the sequences: a view for a slice of step one, a copy otherwise."""
        if isinstance(rows, slice):
            start, stop, step = rows.indices(len(self))
            if step == 1:
                return replace(self, offsets=self.offsets[start : max(start, stop) + 1])
        rows = np.arange(len(self))[rows]  # masks and negative numbers become row numbers
        lengths = self.lengths[rows]
        offsets = offsets_of(lengths)
        index = np.repeat(self.offsets[rows] - offsets[:-1], lengths) + np.arange(
            offsets[-1]
        )  # (N',)
        return replace(self, values=self.values[index], offsets=offsets)


def names_of(values: list[Any]) -> tuple[list[str], str]:
    """Symbols or labels as names, and what they are in Python, a key of KINDS. None is a name
    without letters.

    >>> names_of([0, 1, None]), names_of([True])
    ((['0', '1', ''], 'int'), (['true'], 'bool'))
    """
    if all(type(value) is str for value in values):
        return values, ""
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    python = python_of(plain)
    write = str if python in ("str", "int") else (lambda value: json.dumps(value))
    plain = [float(value) if python == "float" and value is not None else value for value in plain]
    names = ["" if missing(value) else write(value) for value in plain]
    return names, "" if python == "str" else python


def python_of(values: list[Any]) -> str:
    """What all the values are in Python, a key of KINDS or "str"; whole numbers among others count
    as those do."""
    kinds = {type(value).__name__ for value in values if not missing(value)}
    python = "float" if kinds == {"int", "float"} else next(iter(kinds), "str")
    if (len(kinds) > 1 and python != "float") or python not in ("str", *KINDS):
        raise DataError(
            "labels and symbols are texts, whole numbers, numbers or truth values, all of a kind",
            got=" and ".join(sorted(kinds)),
        )
    return python


def missing(value: object) -> bool:
    """Whether there is nothing: None, or what is not a number."""
    return value is None or (isinstance(value, float) and value != value)


Table = tuple[
    dict[str, Field], np.ndarray | None
]  # what a reader returns: fields, and (S,) line numbers where lines mean something


def offsets_of(lengths: Iterable[int]) -> np.ndarray:
    """(S,) lengths -> (S + 1,) offsets."""
    lengths = np.fromiter(lengths, np.int64) if not isinstance(lengths, np.ndarray) else lengths
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


@dataclass(frozen=True, eq=False)
class Sequences:
    """Named fields of equally many sequences, and where they came from."""

    fields: dict[str, Field]
    by: str = (
        "line"  # "stream": one long sequence, its parts depend on each other; "line": independent
    )
    unit: str | None = None  # what counts as a symbol of text; None lets the codec decide
    origin: str = "memory"
    entropy: float | None = None  # generated sources: true nats per symbol, the limit of any model
    lines: np.ndarray | None = field(
        default=None, repr=False
    )  # (S,) line in the file where each sequence began
    # of how many passages of a longer stream, of about one size, this stream was put end to end
    regions: int = field(default=1, repr=False)
    # options that reading settled, and how the file was read, in a line
    read_as: dict[str, str] = field(default_factory=dict, repr=False)
    also: tuple[str, ...] = field(default=(), repr=False)  # fields to be read beside the main one
    told: str = field(default="", repr=False)
    # names of the columns of a table, where not all of them became fields
    columns: tuple[str, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        columns = ", ".join(
            f"{name}: {len(column.flat):,} {'bytes' if column.kind == TEXT else column.kind}"
            for name, column in self.fields.items()
        )
        many = f"{len(self):,} sequence{'s' * (len(self) != 1)}"
        return f"Sequences({self.origin}, by {self.by}, {many}, {columns})"

    @classmethod
    def of(
        cls, texts: Iterable[str] | Iterable[np.ndarray], by: str = "line", unit: str | None = None
    ) -> Sequences:
        """Texts from memory: a sequence each, or (by="stream") one after another as a single one.
        Arrays of numbers are a sequence each, too. Whatever else there is, `st.read` takes."""
        if isinstance(texts, str) and by == "stream":
            texts = [texts]
        if isinstance(texts, (str, bytes)):
            raise DataError(
                "a text by itself goes into a list", got=repr(texts), do="Give [text], or several"
            )
        if not isinstance(texts, (list, tuple, Iterator, np.ndarray)):
            from seriatim.data.objects import holds_columns

            if holds_columns(texts):
                raise DataError(
                    "sequences are made of texts, or of arrays of numbers, and this has columns",
                    got=type(texts).__name__,
                    do="Give it to the verb as it is, or to `st.read`",
                )
        given = list(texts)
        words = [text for text in given if isinstance(text, str)]
        if given and not words and by == "line":
            try:
                return cls({"values": Field.of_numbers(np.asarray(row) for row in given)})
            except (TypeError, ValueError) as error:
                raise DataError(
                    "sequences are texts, or arrays of numbers with equally many channels",
                    got=error,
                ) from None
        if len(words) < len(given):
            raise DataError(
                "sequences are texts, or arrays of numbers",
                got=type(next(text for text in given if not isinstance(text, str))).__name__,
            )
        return cls(
            {"text": Field.of_text(words if by == "line" else ["".join(words)])}, by=by, unit=unit
        )

    def __post_init__(self) -> None:
        sizes = {name: len(column) for name, column in self.fields.items()}
        if len(set(sizes.values())) > 1:
            raise DataError("fields must have equally many sequences", got=sizes)

    def __len__(self) -> int:
        return len(next(iter(self.fields.values()))) if self.fields else 0

    @overload
    def __getitem__(self, rows: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, rows: slice | np.ndarray) -> Sequences: ...

    def __getitem__(self, rows: int | slice | np.ndarray) -> Sequences | dict[str, Any]:
        if isinstance(rows, (int, np.integer)):
            s = range(len(self))[rows]
            return {name: column.raw(s) for name, column in self.fields.items()}
        return replace(
            self,
            fields={name: column.take(rows) for name, column in self.fields.items()},
            lines=None if self.lines is None else self.lines[rows],
        )

    def field(self, name: str) -> Field:
        """A field by its name; an error with the nearest one if there is none."""
        if name not in self.fields:
            raise DataError(
                f"{self.origin} has no field {name!r}",
                got=", ".join(self.fields),
                do=nearest(name, self.fields),
            )
        return self.fields[name]

    @property
    def main(self) -> Field:
        """The field a model reads: text, tokens or numbers in channels, else the first not of
        numbers, else rows of numbers; labels and tags only if there is nothing else."""
        name = self.main_name()
        if name is None:
            raise DataError(
                f"{self.origin} has no field of text or symbols",
                got=", ".join(self.fields) or "no fields",
                do="Name one with --field, or give a text file",
            )
        return self.fields[name]

    def main_name(self) -> str | None:
        """What that field is called; one number for each sequence is nothing to read."""
        able = [name for name, column in self.fields.items() if column.kind != NUMBERS]
        channels = (name for name, column in self.fields.items() if column.values.ndim == 2)
        rows = (
            name
            for name, column in self.fields.items()
            if column.kind == NUMBERS and (column.lengths != 1).any()
        )
        names = (
            "text",
            "tokens",
            *channels,
            *(name for name in able if name not in SAID),
            *rows,
            *able,
        )
        return next((name for name in names if name in self.fields), None)

    @property
    def is_series(self) -> bool:
        """Whether this is numbers over time: a field `values` whose channels have names, beside `time`."""
        values = self.fields.get("values")
        return (
            values is not None
            and values.kind == NUMBERS
            and values.names is not None
            and "time" in self.fields
        )

    def main_kind(self) -> str:
        """The kind of the main field; TEXT if there is nothing to read but a number each."""
        return TEXT if self.main_name() is None else self.main.kind

    def only(self, name: str | None) -> Sequences:
        """The same data with one field as the main one, beside labels, tags or values."""
        kept = {
            key: column
            for key, column in self.fields.items()
            if key in (*SAID, "value") and key != name
        }
        return self if name is None else replace(self, fields={"text": self.field(name)} | kept)

    def labelled(self, name: str | None) -> Sequences:
        """The same data with one field as the labels."""
        kept = {key: column for key, column in self.fields.items() if key not in (name, "label")}
        return (
            self
            if name in (None, "label")
            else replace(self, fields=kept | {"label": self.field(name)})
        )

    def distinct(self) -> Sequences:
        """Of equal sequences only the first."""
        from seriatim.data.splits import equal_groups

        return self[np.sort(np.unique(equal_groups(self), return_index=True)[1])]

    def part(self, start: int, stop: int) -> Sequences:
        """Elements start to stop of a stream, as a view; text is never cut inside a character, and
        all numbers of a series are cut alike."""
        if len(self) != 1:
            raise DataError("only a single stream can be cut inside", got=f"{len(self)} sequences")
        cut = np.array(
            [whole_character(self.main, int(place)) for place in (start, stop)], np.int64
        )
        together = {
            name: column
            for name, column in self.fields.items()
            if column is self.main or (self.is_series and column.kind == NUMBERS)
        }
        return replace(
            self,
            fields={
                name: replace(column, offsets=column.offsets[0] + cut)
                for name, column in together.items()
            },
            lines=None,
            regions=1,
        )

    def split(
        self, *fractions: float, how: str | None = None, seed: int = 0, label: str = "label"
    ) -> tuple[Sequences, ...]:
        """Parts of the given sizes: see `seriatim.data.splits.split`."""
        from seriatim.data.splits import split

        return split(self, fractions, how=how, seed=seed, label=label)


def joined(several: Sequence[Sequences]) -> Sequences:
    """The sequences of all, one after another; they have the same fields."""
    first = several[0]
    if any(each.fields.keys() != first.fields.keys() for each in several):
        raise DataError(
            "files that are read together have the same fields",
            got="; ".join(", ".join(each.fields) for each in several[:5]),
        )
    return replace(
        first,
        fields={name: end_to_end([each.field(name) for each in several]) for name in first.fields},
        lines=None,
        regions=1,
        origin=", ".join(each.origin for each in several[:3])
        + (", ..." if len(several) > 3 else ""),
    )


def end_to_end(columns: Sequence[Field]) -> Field:
    """The sequences of several fields of one kind, one after another."""
    places = [(column, s) for column in columns for s in range(len(column))]
    if columns[0].kind == SYMBOLS:
        return Field.of_symbols(
            [column.symbol_names[i] for i in column.row(s)] for column, s in places
        )
    if columns[0].kind == TEXT:
        return Field.of_text(str(column.raw(s)) for column, s in places)
    return Field.of_numbers(column.row(s) for column, s in places)


def whole_character(column: Field, place: int) -> int:
    """Move a cut into the column, and back to the beginning of the UTF-8 character it falls into."""
    flat = column.flat
    place = min(max(place, 0), len(flat))
    if column.kind == TEXT:
        while 0 < place < len(flat) and flat[place] & 0xC0 == 0x80:
            place -= 1
    return place
