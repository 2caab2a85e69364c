"""What is read and what is to be written: a codec for the source and one for the target, or one
for both.

The source may be anything that tells what to write: a sequence of symbols, a label (a sequence of
one symbol), or numbers, which are scaled by the training data: a row of equally many numbers each
is a vector, rows of different lengths are sequences. There may be further sources beside it, each
with a codec of its own (`--also`): a text and a picture, a question and a document.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from seriatim.batches import Batch, empty, pad
from seriatim.codecs.options import CodecOptions
from seriatim.codecs.scaled import Scaled
from seriatim.codecs.symbols import STOP, UNKNOWN, Codec, fit_codec, load_codec, reading_codec
from seriatim.data.sequences import NUMBERS, SYMBOLS, TEXT, Field, Sequences, offsets_of
from seriatim.errors import ConfigError, DataError
from seriatim.settings import build
from seriatim.tasks.translate.sources import SOURCE, TARGET, further_source, further_sources


def of_pairs(pairs: EncodedPairs, rows: np.ndarray) -> Batch:
    """Whole sources, with their targets where these are known, each with its STOP. A source of
    numbers is (B, P, D)."""
    x, lengths = as_read(pairs.x, rows)
    also = tuple(as_read(column, rows) for column in pairs.also)
    if not len(pairs.y):
        return Batch(x, lengths, empty(len(rows)), empty(len(rows)).bool(), also=also)
    y = pad([np.append(pairs.y.row(s), STOP) for s in rows])
    return Batch(x, lengths, *y, also=also)


def as_read(column: Field, rows: np.ndarray) -> tuple[Tensor, Tensor]:
    """Some sources of one kind: (B, P) symbols or (B, P, D) numbers, and (B,) lengths."""
    sources = [column.row(s) for s in rows]
    lengths = torch.tensor([len(source) for source in sources])
    x = (
        pad_sequence([torch.from_numpy(source) for source in sources], batch_first=True)
        if column.kind == NUMBERS
        else pad(sources)[0]
    )
    if not x.shape[1]:
        x = x.new_zeros(len(x), 1, *x.shape[2:])  # where there are no numbers, a zero is read
    return x, lengths


MOST_RATIO = 1e6  # symbols of a target for one of its source


@dataclass(frozen=True)
class EncodedPairs:
    """Sources and targets in numbers; without targets where there are none. Further sources stand
    in the order in which they were named."""

    x: Field
    y: Field
    also: tuple[Field, ...] = ()

    def __len__(self) -> int:
        return len(self.x)

    @property
    def columns(self) -> tuple[Field, ...]:
        """The columns of encoded data: sources and targets."""
        return self.x, self.y, *self.also

    @property
    def sources(self) -> tuple[Field, ...]:
        """All that is read."""
        return self.x, *self.also

    @property
    def lengths(self) -> np.ndarray:
        """(S,) how much is read of each pair, of all its sources together."""
        lengths: np.ndarray = np.stack([column.lengths for column in self.sources]).sum(0)
        return lengths

    def take(self, rows: slice | np.ndarray) -> EncodedPairs:
        """Some of the pairs."""
        y = self.y.take(rows) if len(self.y) else self.y
        return EncodedPairs(self.x.take(rows), y, tuple(each.take(rows) for each in self.also))

    def alone(self) -> EncodedPairs:
        """The sources without their targets."""
        nothing = Field(np.zeros(0, np.int32), np.zeros(1, np.int64), SYMBOLS)
        return replace(self, y=nothing)

    def with_targets(self, several: Iterable[Iterable[int]]) -> EncodedPairs:
        """The one source that this is, with each of several targets."""
        rows = [np.array(list(each), np.int32) for each in several]
        again = self.take(np.zeros(len(rows), np.int64))
        flat = np.concatenate(rows) if rows else np.zeros(0, np.int32)
        return replace(again, y=Field(flat, offsets_of(map(len, rows)), SYMBOLS))


class PairCodec:
    """Sources and targets <-> numbers; and how long targets are."""

    def __init__(
        self,
        options: CodecOptions,
        source: Codec | Scaled,
        target: Codec,
        ratio: float = 1.0,
        longest: int = 0,
        also: Mapping[str, Codec | Scaled] | None = None,
    ):
        self.options, self.source, self.target = options, source, target
        self.also = dict(also or {})  # the codec of each further source, by its name
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
            return cls(kept, both, both, also=further_codecs(data, options))
        return cls(
            kept,
            source_codec(source, options),
            fit_codec(target, unit_of(target, options, options.target_unit or options.unit)),
            also=further_codecs(data, options),
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
    def sizes(self) -> tuple[Any, ...]:
        """What a model is told besides: how many symbols the source has, how many channels if it
        is numbers, whether both share a vocabulary, how many symbols it will learn from, and of
        each further source how many symbols and channels it has."""
        shared = self.source is self.target
        further = tuple(map(sizes_of, self.also.values()))
        return *sizes_of(self.source), shared, self.seen, further

    def encode(self, data: Sequences, paired: bool = True) -> EncodedPairs:
        """Sources and, unless there are none, targets in numbers."""
        y = (
            self.target.encode(data.field(TARGET))
            if paired
            else Field(np.zeros(0, np.int32), np.zeros(1, np.int64), SYMBOLS)
        )
        further = (
            encode_source(codec, further_source(data, name)) for name, codec in self.also.items()
        )
        return EncodedPairs(encode_source(self.source, data.field(SOURCE)), y, tuple(further))

    def learn_lengths(self, pairs: EncodedPairs) -> None:
        """From the pairs of training."""
        read = sum(len(column.flat) for column in pairs.sources)
        self.seen = read + len(pairs.y.flat)
        self.ratio = min(MOST_RATIO, len(pairs.y.flat) / max(1, read))
        self.longest = (
            int(np.quantile(pairs.y.lengths, 0.999, method="higher")) if len(pairs.y) else 0
        )

    def room(self, lengths: np.ndarray) -> np.ndarray:
        """How many symbols the targets of sources of these lengths may have: what nearly all have,
        or twice as many as usual and some more."""
        return np.maximum(30 + np.ceil(2 * max(1.0, self.ratio) * lengths), self.longest).astype(
            np.int64
        )

    def unknown(self, pairs: EncodedPairs, s: int) -> int:
        """How many symbols of the sources of a pair the model does not know."""
        symbols = (column.row(s) for column in pairs.sources if column.kind != NUMBERS)
        return sum(int((each == UNKNOWN).sum()) for each in symbols)

    def source_pieces(self, pairs: EncodedPairs, s: int = 0) -> list[str]:
        """What is read of a pair, position by position: symbols by name, a vector by the name of its
        source, a step of numbers by that and its place."""
        codecs = (self.source, *self.also.values())
        return [
            piece
            for name, codec, column in zip((SOURCE, *self.also), codecs, pairs.sources, strict=True)
            for piece in pieces_of(codec, column.row(s), name) or [name]
        ]

    def origins(self, pairs: EncodedPairs, s: int = 0) -> list[str]:
        """Which source each position that is read belongs to."""
        several = zip((SOURCE, *self.also), pairs.sources, strict=True)
        return [name for name, column in several for _ in range(max(1, len(column.row(s))))]

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
                **self.further_json(),
            },
        }

    def further_json(self) -> dict[str, Any]:
        """The same of further sources, where there are some."""
        found = {name: codec.to_json() for name, codec in self.also.items()}
        return {"also": found} if found else {}

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
            source = target if other is None else opened_source(other, where)
            further = record["pair"].get("also", {})
            if not isinstance(further, dict) or not all(further):
                raise ValueError("its further sources have no names")
            also = {name: opened_source(each, where) for name, each in further.items()}
            return cls(options, source, target, ratio, longest, also)


def source_codec(column: Field, options: CodecOptions) -> Codec | Scaled:
    """The codec of a source: numbers are scaled, all else are symbols."""
    if column.kind == NUMBERS:
        return Scaled.fit(column)
    return fit_codec(column, unit_of(column, options, options.unit))


def further_codecs(data: Sequences, options: CodecOptions) -> dict[str, Codec | Scaled]:
    """The codec of each further source; texts are cut into the unit of the source."""
    plain = replace(options, tokenizer="")
    names = further_sources(data)
    return {name: source_codec(further_source(data, name), plain) for name in names}


def encode_source(codec: Codec | Scaled, column: Field) -> Field:
    """A source in numbers. Symbols end in STOP, so that there is always something to read."""
    x = codec.encode(column)
    if isinstance(codec, Scaled):
        return x
    return replace(
        x,
        values=np.insert(x.flat, x.offsets[1:] - x.offsets[0], STOP),
        offsets=x.offsets - x.offsets[0] + np.arange(len(x.offsets)),
    )


def sizes_of(codec: Codec | Scaled) -> tuple[int, int]:
    """How many symbols a source has, and how many channels if it is numbers."""
    return (0, codec.size) if isinstance(codec, Scaled) else (codec.size, 0)


def pieces_of(codec: Codec | Scaled, ids: np.ndarray, name: str) -> list[str]:
    """What is read of the source of this name; of numbers, which step."""
    if not isinstance(codec, Scaled):
        return [codec.shown(codec.symbols[i]) for i in ids]
    return [name] if codec.vector else [f"{name} {t + 1}" for t in range(len(ids))]


def opened_source(record: Any, where: str) -> Codec | Scaled:
    """The codec of a source from its record: of numbers or of symbols."""
    return Scaled.from_json(record) if "mean" in record else load_codec(record, where)


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
