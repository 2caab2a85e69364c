"""A file under audit: its sequences cut into symbols, with what the checks ask for, computed when
asked and then kept.

Text is cut at blanks once, on whole arrays; all that looks at spelling looks at different words
only. Shapes: S sequences, N symbols of all of them, V different symbols, C classes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from seriatim.codecs.cutting import expanded, words_of
from seriatim.codecs.symbols import WORD
from seriatim.data.columns import LABELS
from seriatim.data.sequences import NUMBERS, SYMBOLS, TEXT, Field, Sequences, offsets_of
from seriatim.errors import ConfigError, DataError, nearest, shorten
from seriatim.tasks.sets.codec import EMPTY, PLUS

UNITS = ("word", "token", "character", "byte")


# the unit of sets, and the share of steps with several elements, of so many sequences, that tells
# them from text
STEP, JOINED, FIRST = "step", 0.1, 1000


BINS = 20


POINTS = 60  # of the growth of the vocabulary, at most


SHOWN = 10  # lines, or words, of a finding


GOLDEN, STIR = np.uint64(0x9E3779B97F4A7C15), ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))


DIGITS = re.compile(r"\d+")


Finding = dict[str, Any]  # severity, what, got, do, file, lines, places


def finding(
    severity: str,
    what: str,
    file: str,
    *,
    got: str = "",
    do: str = "",
    lines: Sequence[int] | np.ndarray = (),
    places: int = 0,
) -> Finding:
    """Something worth knowing: an "error" spoils what is learned or measured, a "warning" may, a
    "note" does not. It is about so many `places`, of which `lines` has some."""
    return {
        "severity": severity,
        "what": what,
        "got": got,
        "do": do,
        "file": file,
        "lines": [int(line) for line in lines[:SHOWN]],
        "places": max(places, len(lines)),
    }


@dataclass(eq=False)
class Split:
    """One of the files that belong together: train, dev or test."""

    name: str  # train, dev, test
    file: str  # its path, or its name where it has none
    data: Sequences
    column: Field  # what is modelled: text or symbols
    label: Field | None  # one symbol a sequence
    tags: Field | None  # one symbol a token
    others: dict[str, Field]  # whatever else there is
    unit: str

    def __len__(self) -> int:
        return len(self.data)

    @cached_property
    def lines(self) -> np.ndarray:
        """(S,) the line of each sequence in its file or, where it has none, its number."""
        return np.arange(1, len(self) + 1) if self.data.lines is None else self.data.lines

    @cached_property
    def words(self) -> Field:
        """What stands between blanks; symbols given as such are not cut."""
        return words_of(self.column) if self.column.kind == TEXT else self.column

    @property
    def empty(self) -> np.ndarray:
        """(S,) nothing to see in it."""
        return self.words.lengths == 0

    @cached_property
    def symbols(self) -> Field:
        """What is counted."""
        if self.column.kind == SYMBOLS or self.unit in ("token", STEP):
            return self.words
        if self.unit == "word":
            return cut_further(self.words, WORD.findall)
        return characters(self.column, self.unit)

    @cached_property
    def elements(self) -> Field:
        """What is known or unknown: symbols; of sets what they have in them."""
        return cut_further(self.words, elements_of) if self.unit == STEP else self.symbols

    @cached_property
    def near(self) -> Field:
        """The words lower-cased, and every number 0: what near copies have in common. The numbers
        in sets are names, and stay."""
        if self.unit == STEP:
            return self.words
        names = [DIGITS.sub("0", name.lower()) for name in names_in(self.words)]
        number = {name: i for i, name in enumerate(dict.fromkeys(names))}
        table = np.fromiter((number[name] for name in names), np.int32, len(names))
        return Field(
            table[self.words.flat],
            self.words.offsets - self.words.offsets[0],
            SYMBOLS,
            tuple(number),
        )

    def text(self, s: int) -> str:
        """Sequence s as it is shown, cut in the middle where it is long."""
        raw = self.column.raw(s)
        return shorten(raw if isinstance(raw, str) else " ".join(map(str, raw)), 90)


def part_of(
    data: Sequences,
    name: str,
    file: str,
    field: str | None = None,
    label: str | None = None,
    unit: str | None = None,
) -> Split:
    """The field that is modelled, and the labels or tags that go with it."""
    if unit is not None and unit not in UNITS:
        raise ConfigError("symbols are not counted by this unit", got=unit, do=nearest(unit, UNITS))
    found = usual_label(data) if label is None else label
    labels = None if found is None else labels_of(data.field(found))
    rest = {key: column for key, column in data.fields.items() if key != found}
    column = Sequences(rest, origin=data.origin).main if field is None else data.field(field)
    if column.kind == NUMBERS or not len(data):
        raise DataError(
            "there is nothing to look at" if not len(data) else "numbers are not text",
            file=data.origin,
            do="Name a field of text with --field",
        )
    tags = rest.pop("tags", None) if labels is None else None
    others = {key: other for key, other in rest.items() if other is not column}
    if unit is None or column.kind != TEXT:
        unit = usual_unit(column, labels is None and tags is None)
    return Split(name, file, data, column, labels, tags, others, unit)


def usual_label(data: Sequences) -> str | None:
    """The first field that is named as labels are, and has one for each sequence."""
    return next(
        (name for name, column in data.fields.items() if name in LABELS and one_each(column)), None
    )


def usual_unit(column: Field, alone: bool) -> str:
    """What is counted unless one says so; sets have neither labels nor tags."""
    if alone and are_sets(column):
        return STEP
    return "word" if column.kind == TEXT else "token"


def are_sets(column: Field) -> bool:
    """Whether so many of the first steps have several elements, 60+64+67, that this is no text; C++
    has none."""
    some = column.take(slice(0, FIRST))
    steps = words_of(some) if some.kind == TEXT else some
    several = [PLUS in name and all(elements_of(name)) for name in names_in(steps)]
    joined = np.array(several, np.bool_)[steps.flat]
    return bool(len(joined)) and float(joined.mean()) >= JOINED


def names_in(column: Field) -> tuple[str, ...]:
    """(V,) the names of a column's symbols."""
    return column.names or ()


def elements_of(step: str) -> list[str]:
    """What is in the set that a step names."""
    return [] if step == EMPTY else step.split(PLUS)


def one_each(column: Field) -> bool:
    """Whether every sequence has one symbol."""
    return column.kind == SYMBOLS and bool((column.lengths == 1).all())


def labels_of(column: Field) -> Field:
    """A field as one symbol for each sequence, whatever it holds."""
    if one_each(column):
        return column
    written = (
        str
        if column.kind != NUMBERS
        else lambda number: np.format_float_positional(number, trim="-")
    )  # 2001, not 2001.0
    raws = (column.raw(s) for s in range(len(column)))
    return Field.of_labels(
        raw if isinstance(raw, str) else " ".join(map(written, raw)) for raw in raws
    )


def cut_further(words: Field, cut: Callable[[str], list[str]]) -> Field:
    """Each word cut into pieces."""
    pieces = list(map(cut, names_in(words)))
    number: dict[str, int] = {}
    table = np.array(
        [number.setdefault(piece, len(number)) for some in pieces for piece in some], np.int32
    )
    # (V,) pieces of each different word
    many = np.fromiter(map(len, pieces), np.int64, len(pieces))
    before = offsets_of(many[words.flat])  # (N + 1,)
    return Field(
        table[expanded(words.flat, many)],
        before[words.offsets - words.offsets[0]],
        SYMBOLS,
        tuple(number),
    )


def characters(column: Field, unit: str) -> Field:
    """Characters, or bytes, as symbols."""
    flat, offsets = column.flat, column.offsets - column.offsets[0]
    if unit == "character":
        text = flat.tobytes().decode("utf-8", "surrogatepass")
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(flat & 0xC0 != 0x80)])[offsets]
        flat = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    codes, numbers = np.unique(flat, return_inverse=True)
    return Field(numbers.astype(np.int32), offsets, SYMBOLS, tuple(map(chr, codes)))


def fingerprints(column: Field, number: dict[str, int]) -> np.ndarray:
    """(S,) 64 bits for each sequence of symbols, the same for equal ones in all files: each symbol
    and its place stirred together (the last steps of SplitMix64, Steele et al. 2014), and added up.
    Among a million, two different ones are alike once in thirty million times."""
    offsets, lengths = column.offsets - column.offsets[0], column.lengths
    names = names_in(column)
    table = np.fromiter(
        (number.setdefault(name, len(number)) for name in names), np.uint64, len(names)
    )
    mixed = np.arange(len(column.flat), dtype=np.uint64)  # (N,)
    mixed -= np.repeat(offsets[:-1], lengths).astype(np.uint64)  # the place in its sequence
    mixed = (mixed << np.uint64(32)) + table[column.flat] + GOLDEN
    for shift, factor in STIR:
        mixed ^= mixed >> np.uint64(shift)
        mixed *= np.uint64(factor)
    total = np.concatenate(
        [np.zeros(1, np.uint64), np.cumsum(mixed ^ mixed >> np.uint64(31), dtype=np.uint64)]
    )
    return total[offsets[1:]] - total[offsets[:-1]] + lengths.astype(np.uint64)


def groups(columns: Sequence[Field]) -> list[np.ndarray]:
    """(S,) for each file: the same number for equal sequences of symbols, in whatever file."""
    number: dict[str, int] = {}
    found = [fingerprints(column, number) for column in columns]
    _, group = np.unique(np.concatenate([np.zeros(0, np.uint64), *found]), return_inverse=True)
    return np.split(group, np.cumsum([len(each) for each in found])[:-1]) if found else []


def statistics(part: Split) -> dict[str, Any]:
    """How much there is, how long the sequences are, and how often each class or tag occurs."""
    symbols, lengths = part.symbols, part.symbols.lengths
    low, first, median, third, most, high = map(
        float, np.quantile(lengths, [0, 0.25, 0.5, 0.75, 0.99, 1])
    )
    step = max(1, int(np.ceil((most - low + 1) / (BINS - 1))))
    # the last bin takes the rest
    edges = np.append(int(low) + step * np.arange(BINS), max(int(high) + 1, int(low) + step * BINS))
    return {
        "name": part.name,
        "file": part.file,
        "unit": part.unit,
        "sequences": len(part),
        "symbols": len(symbols.flat),
        "different": int(np.count_nonzero(np.bincount(symbols.flat))),
        "growth": growth(symbols),
        "empty": int(part.empty.sum()),
        "length": {
            "least": int(low),
            "first_quartile": first,
            "median": median,
            "third_quartile": third,
            "quantile_99": most,
            "most": int(high),
            "histogram": {
                "edges": edges.tolist(),
                "counts": np.histogram(lengths, edges)[0].tolist(),
            },
        },
        "classes": None if part.label is None else frequencies(part.label),
        "tags": None if part.tags is None else frequencies(part.tags),
    }


def growth(symbols: Field) -> dict[str, list[int]]:
    """How many different symbols there are among the first so many, at evenly spaced logarithms of
    their number: the growth of the vocabulary (Heaps 1978).

    >>> growth(Field.of_symbols([["a", "b"], ["a", "c"]]))
    {'symbols': [1, 2, 3, 4], 'different': [1, 2, 2, 3]}
    """
    flat = symbols.flat
    many = len(flat)
    if not many:
        return {"symbols": [], "different": []}
    first = np.full(int(flat.max()) + 1, many, np.int64)  # (V,) where each comes first
    first[flat[::-1]] = np.arange(many - 1, -1, -1)  # of several places the last written stays
    new = np.sort(first[first < many])
    read = np.unique(np.geomspace(1, many, POINTS).round().astype(np.int64))
    return {"symbols": read.tolist(), "different": np.searchsorted(new, read).tolist()}


def frequencies(column: Field) -> dict[str, int]:
    """How often each symbol occurs, the most frequent first."""
    names = names_in(column)
    counts = np.bincount(column.flat, minlength=len(names))
    return {names[i]: int(counts[i]) for i in np.argsort(-counts, kind="stable") if counts[i]}
