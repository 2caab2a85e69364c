"""Sequences whose every step is a set <-> rows of zeros and ones: a piano roll, the notes that
sound.

    60+64+67 . 62      three steps: a set of three elements, the empty set, a set of one

Steps stand between blanks, the elements of a step are joined by "+", and "." is the empty set.
Unlike the codecs of symbols there is nothing to stand for an element that the training data does
not have: it is left out of its set, and counted. Shapes: N steps, U different steps, V elements, S
sequences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from seriatim.batches import Batch, empty
from seriatim.codecs.options import CodecOptions
from seriatim.codecs.symbols import SPECIALS, Tokens, reading_codec
from seriatim.data.sequences import NUMBERS, Field
from seriatim.errors import DataError
from seriatim.settings import build


def set_prompts(rows: Sequence[np.ndarray]) -> Batch:
    """A batch that asks: which set comes after each of these? x is (B, P, V), of V elements."""
    x = pad_sequence([torch.from_numpy(row) for row in rows], batch_first=True)
    return Batch(x, torch.tensor([len(row) for row in rows]), x[:, :0], empty(len(rows)).bool())


def of_sets(sets: Field, rows: np.ndarray) -> Batch:
    """Whole sequences of sets: y is (B, T, V), and the end is not predicted."""
    asked = set_prompts([sets.row(s) for s in rows])
    mask = torch.arange(asked.x.shape[1]) < asked.x_lengths[:, None]
    return Batch(asked.y, torch.zeros_like(asked.x_lengths), asked.x, mask)


EMPTY, PLUS = ".", "+"


class SetCodec:
    """The elements of the training data, most frequent first."""

    sizes: tuple[int, ...] = ()  # further sizes that a model must know: none

    def __init__(self, options: CodecOptions, elements: Iterable[str]):
        self.options, self.symbols = options, list(elements)
        self.number = {name: i for i, name in enumerate(self.symbols)}

    @property
    def size(self) -> int:
        """V, the number of elements a set may have."""
        return len(self.symbols)

    @classmethod
    def fit(
        cls,
        column: Field,
        options: CodecOptions,
        lines: np.ndarray | None = None,
        origin: str | None = None,
    ) -> SetCodec:
        """The elements of the training data; rare ones are left out."""
        steps, parts = cls(options, ()).cut(column, lines, origin)
        times = np.bincount(steps.flat, minlength=len(parts)).tolist()  # (U,)
        counts: Counter[str] = Counter()
        for elements, n in zip(parts, times, strict=True):
            counts.update(dict.fromkeys(elements, n))
        kept = [
            name
            for name in sorted(counts, key=lambda name: (-counts[name], name))
            if counts[name] >= options.minimum_count
        ]
        if not kept:
            raise DataError(
                "the training data has no elements",
                got=f"{len(steps.flat):,} steps, all of them empty"
                if not counts
                else f"none that is in {options.minimum_count} sets",
                file=origin,
                do="Give steps such as 60+64+67, or a smaller minimum count",
            )
        return cls(options, kept[: options.vocabulary])

    def cut(
        self, column: Field, lines: np.ndarray | None = None, origin: str | None = None
    ) -> tuple[Field, list[list[str]]]:
        """The steps of each sequence by number, and the elements of each different one."""
        steps = Tokens(self.options, SPECIALS).named(column)
        names = steps.names or ()
        parts = [[] if name == EMPTY else name.split(PLUS) for name in names]
        for number, elements in enumerate(parts):
            if len(set(elements)) == len(elements) and not {"", EMPTY}.intersection(elements):
                continue
            places = np.flatnonzero(steps.flat == number)
            if len(places):  # a name may be left over from another part of the data
                s = int(np.searchsorted(steps.offsets - steps.offsets[0], places[0], "right")) - 1
                raise DataError(
                    "a step is different names with + between, or . for the empty set",
                    got=repr(names[number]),
                    file=origin,
                    line=None if lines is None else int(lines[s]),
                    do="For instance: 60+64+67 . 62",
                )
        return steps, parts

    def encode(
        self, column: Field, lines: np.ndarray | None = None, origin: str | None = None
    ) -> Field:
        """Text or given steps -> (N, V) ones for the elements that are in the set, zeros for the
        others."""
        steps, parts = self.cut(column, lines, origin)
        table = np.zeros((len(parts), self.size), np.float32)  # (U, V)
        for row, elements in zip(table, parts, strict=True):
            row[[self.number[name] for name in elements if name in self.number]] = 1
        return Field(table[steps.flat], steps.offsets - steps.offsets[0], NUMBERS)

    def encode_text(self, text: str) -> np.ndarray:
        """(T, V) the sets of one text."""
        return self.encode(Field.of_text([text])).values

    def unknown(self, column: Field) -> np.ndarray:
        """(S,) how many elements of each sequence are left out."""
        steps, parts = self.cut(column)
        missing = np.array(
            [sum(name not in self.number for name in elements) for elements in parts], np.int64
        )  # (U,)
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(missing[steps.flat])])
        return np.diff(before[steps.offsets - steps.offsets[0]])

    def pieces_of(self, text: str) -> list[str]:
        """The elements of all steps, one after another."""
        steps, parts = self.cut(Field.of_text([text]))
        return [name for number in steps.flat for name in parts[number]]

    def decode(self, sets: np.ndarray) -> str:
        """(T, V) zeros and ones -> text; of each set short names first, so that numbers are in
        order."""
        names = ([self.symbols[i] for i in np.flatnonzero(row)] for row in sets)
        return " ".join(
            PLUS.join(sorted(each, key=lambda name: (len(name), name))) or EMPTY for each in names
        )

    def to_json(self) -> dict[str, Any]:
        """All that `from_json` needs."""
        return {"version": 1, "options": asdict(self.options), "elements": self.symbols}

    @classmethod
    def from_json(cls, record: dict[str, Any], where: str) -> SetCodec:
        """The codec that wrote this record, checked; `where` names the file in errors."""
        with reading_codec(where):
            options, names = build(CodecOptions, record["options"], where), record["elements"]
            if not (
                isinstance(names, list)
                and all(isinstance(name, str) for name in names)
                and len(set(names)) == len(names) > 0
            ):
                raise ValueError("its elements are not a list of names")
            if any(PLUS in name or name.split() != [name] or name == EMPTY for name in names):
                raise ValueError("its elements are not names that can stand in a set")
            return cls(options, names)
