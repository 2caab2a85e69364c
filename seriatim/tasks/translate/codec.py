"""What is read and what is to be written: a codec for the source and one for the target, or one
for both.

The source may be anything that tells what to write: a sequence of symbols, a label (a sequence of
one symbol), or numbers, which are scaled by the training data: a row of equally many numbers each
is a vector, rows of different lengths are sequences.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from seriatim.batches import Batch, empty, pad
from seriatim.codecs.options import CodecOptions
from seriatim.codecs.scaled import Scaled
from seriatim.codecs.symbols import STOP, Codec, fit_codec, load_codec, reading_codec
from seriatim.data.sequences import NUMBERS, SYMBOLS, TEXT, Field, Sequences
from seriatim.errors import ConfigError, DataError
from seriatim.settings import build


def of_pairs(pairs: EncodedPairs, rows: np.ndarray) -> Batch:
    """Whole sources, with their targets where these are known, each with its STOP. A source of
    numbers is (B, P, D)."""
    sources = [pairs.x.row(s) for s in rows]
    lengths = torch.tensor([len(source) for source in sources])
    x = (
        pad_sequence([torch.from_numpy(source) for source in sources], batch_first=True)
        if pairs.x.kind == NUMBERS
        else pad(sources)[0]
    )
    if not x.shape[1]:
        x = x.new_zeros(len(x), 1, *x.shape[2:])  # where there are no numbers, a zero is read
    if not len(pairs.y):
        return Batch(x, lengths, empty(len(rows)), empty(len(rows)).bool())
    return Batch(x, lengths, *pad([np.append(pairs.y.row(s), STOP) for s in rows]))


SOURCE, TARGET = "source", "target"


MOST_RATIO = 1e6  # symbols of a target for one of its source


@dataclass(frozen=True)
class EncodedPairs:
    """Sources and targets in numbers; without targets where there are none."""

    x: Field
    y: Field

    def __len__(self) -> int:
        return len(self.x)

    @property
    def columns(self) -> tuple[Field, ...]:
        """The columns of encoded data: sources and targets."""
        return self.x, self.y

    def take(self, rows: slice | np.ndarray) -> EncodedPairs:
        """Some of the pairs."""
        return EncodedPairs(self.x.take(rows), self.y.take(rows) if len(self.y) else self.y)


class PairCodec:
    """Sources and targets <-> numbers; and how long targets are."""

    def __init__(
        self,
        options: CodecOptions,
        source: Codec | Scaled,
        target: Codec,
        ratio: float = 1.0,
        longest: int = 0,
    ):
        self.options, self.source, self.target = options, source, target
        self.ratio = ratio  # symbols of the target for one of the source
        self.longest = longest  # what nearly no target exceeds
        self.seen = 0  # symbols of both sides in training, while a model is fitted

    @classmethod
    def fit(cls, data: Sequences, options: CodecOptions) -> PairCodec:
        """The vocabularies of the training data, or one for both."""
        source, target = data.field(SOURCE), data.field(TARGET)
        kept = replace(options, tokenizer="")
        if options.tokenizer and TEXT not in (source.kind, target.kind):
            raise ConfigError(
                "a tokenizer made elsewhere cuts texts, and neither side is one",
                got=f"{source.kind} and {target.kind}",
                do="Leave out --tokenizer",
            )
        if target.kind == NUMBERS:
            raise DataError(
                "the target is to be text or symbols",
                got="numbers",
                file=data.origin,
                do="Numbers are forecast",
            )
        if options.shared:
            if source.kind != target.kind or (options.target_unit or options.unit) != options.unit:
                raise ConfigError(
                    "one vocabulary is for source and target of one kind and unit",
                    got=f"{source.kind} and {target.kind}",
                    do="Leave out --shared or --target-unit",
                )
            both = fit_codec(together(source, target), unit_of(source, options, options.unit))
            return cls(kept, both, both)
        known = (
            Scaled.fit(source)
            if source.kind == NUMBERS
            else fit_codec(source, unit_of(source, options, options.unit))
        )
        return cls(
            kept,
            known,
            fit_codec(target, unit_of(target, options, options.target_unit or options.unit)),
        )

    @property
    def size(self) -> int:
        """V, the symbols of the target."""
        return self.target.size

    @property
    def symbols(self) -> list[str]:
        """The names of the target's symbols."""
        return self.target.symbols

    @property
    def number(self) -> dict[str, int]:
        """The number of each of the target's symbols."""
        return self.target.number

    @property
    def sizes(self) -> tuple[int, int, bool, int]:
        """What a model is told besides: how many symbols the source has, how many channels if it
        is numbers, whether both share a vocabulary, and how many symbols it will learn from."""
        if isinstance(self.source, Scaled):
            return 0, self.source.size, False, self.seen
        return self.source.size, 0, self.source is self.target, self.seen

    def encode(self, data: Sequences, paired: bool = True) -> EncodedPairs:
        """Sources and, unless there are none, targets in numbers."""
        y = (
            self.target.encode(data.field(TARGET))
            if paired
            else Field(np.zeros(0, np.int32), np.zeros(1, np.int64), SYMBOLS)
        )
        return EncodedPairs(self.encode_source(data.field(SOURCE)), y)

    def encode_source(self, column: Field) -> Field:
        """Symbols end in STOP, so that there is always something to read."""
        x = self.source.encode(column)
        if isinstance(self.source, Scaled):
            return x
        return replace(
            x,
            values=np.insert(x.flat, x.offsets[1:] - x.offsets[0], STOP),
            offsets=x.offsets - x.offsets[0] + np.arange(len(x.offsets)),
        )

    def learn_lengths(self, pairs: EncodedPairs) -> None:
        """From the pairs of training."""
        self.seen = len(pairs.x.flat) + len(pairs.y.flat)
        self.ratio = min(MOST_RATIO, len(pairs.y.flat) / max(1, len(pairs.x.flat)))
        self.longest = (
            int(np.quantile(pairs.y.lengths, 0.999, method="higher")) if len(pairs.y) else 0
        )

    def room(self, lengths: np.ndarray) -> np.ndarray:
        """How many symbols the targets of sources of these lengths may have: what nearly all have,
        or twice as many as usual and some more."""
        return np.maximum(30 + np.ceil(2 * max(1.0, self.ratio) * lengths), self.longest).astype(
            np.int64
        )

    def pieces_of(self, text: str) -> list[str]:
        """The symbols of a source that is text, by name."""
        return [] if isinstance(self.source, Scaled) else self.source.pieces_of(text)

    def source_pieces(self, ids: np.ndarray) -> list[str]:
        """The symbols of a source as they are read."""
        if isinstance(self.source, Scaled):
            return []
        return [self.source.shown(self.source.symbols[i]) for i in ids]

    def target_pieces(self, ids: Iterable[int]) -> list[str]:
        """The symbols of a target as they are written."""
        return [self.target.shown(self.target.symbols[i]) for i in ids]

    def decode(self, ids: Iterable[int]) -> str:
        """Numbers of a target -> text."""
        return self.target.decode(ids)

    def to_json(self) -> dict[str, Any]:
        """All that `from_json` needs."""
        return {
            "version": 1,
            "options": asdict(self.options),
            "ratio": self.ratio,
            "longest": self.longest,
            "pair": {
                "source": None if self.source is self.target else self.source.to_json(),
                "target": self.target.to_json(),
            },
        }

    @classmethod
    def from_json(cls, record: dict[str, Any], where: str) -> PairCodec:
        """The codec that wrote this record, checked; `where` names the file in errors."""
        with reading_codec(where):
            options = build(CodecOptions, record["options"], where)
            target = load_codec(record["pair"]["target"], where)
            ratio, longest = float(record["ratio"]), int(record["longest"])
            if not (0 <= ratio <= MOST_RATIO and longest >= 0):
                raise ValueError("its lengths are not lengths")
            other = record["pair"]["source"]
            if other is None:
                return cls(options, target, target, ratio, longest)
            numbers = "mean" in other
            source = Scaled.from_json(other) if numbers else load_codec(other, where)
            return cls(options, source, target, ratio, longest)


def unit_of(column: Field, options: CodecOptions, unit: str) -> CodecOptions:
    """The options of one side; symbols given as such are tokens."""
    given = column.kind == SYMBOLS
    return replace(
        options,
        unit="token" if given else unit,
        tokenizer="" if given else options.tokenizer,
        target_unit=None,
        shared=False,
    )


def together(first: Field, second: Field) -> Field:
    """All sequences of both."""
    offsets = np.concatenate(
        [first.offsets - first.offsets[0], second.offsets[1:] - second.offsets[0] + len(first.flat)]
    )
    if first.kind != SYMBOLS:
        return Field(np.concatenate([first.flat, second.flat]), offsets, first.kind)
    names, more = first.names or (), second.names or ()
    values = np.concatenate([first.flat, second.flat + len(names)])
    return Field(values, offsets, SYMBOLS, (*names, *more))
