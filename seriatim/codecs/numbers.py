"""Series of numbers as models see them, and back: logarithms, differences, scaled by the training data.

    v = log y,   w_t = v_t - v_{t-d},   z = (w - mean) / deviation                 each part optional, inverted exactly

What is known in advance (named inputs, the calendar) goes beside the values, scaled in the same way. Everything is fitted on training data only.
Shapes: N times, C channels, K known inputs, H horizon; ... any leading axes.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from seriatim.config import CodecOptions
from seriatim.data.sequences import NUMBERS, Field, Sequences
from seriatim.data.steps import Step, calendar, season_of, step_of
from seriatim.errors import ConfigError, DataError


@dataclass(frozen=True)
class Signals:
    """Series in numbers that models read."""
    x: Field                               # (N, C) float32
    known: Field                           # (N, K) float32, K may be 0
    raw: Field                             # (N, C) float64, as given

    def __len__(self) -> int:
        return len(self.x)


class NumberCodec:
    """Values <-> what models see."""

    unit = "value"

    def __init__(self, options: CodecOptions, channels: list[str], known: list[str], step: Step, season: int,
                 means: Mapping[str, tuple[np.ndarray, np.ndarray]]):
        self.options, self.channels, self.known, self.step, self.season = options, channels, known, step, season
        self.means = dict(means)           # by name of the series, "" for all of them: mean and deviation, (C + K,) both

    @classmethod
    def fit(cls, data: Sequences, options: CodecOptions, season: int = 0) -> NumberCodec:
        values = data.field("values")
        time = data.field("time")
        step = step_of(time.row(int(np.argmax(time.lengths))))
        known = list(data.fields["known"].names) if "known" in data.fields else []
        codec = cls(options, list(values.names), known, step, season or season_of(step), {})
        parts = [np.concatenate([codec.bent(values.row(s), data), codec.inputs(data, s)], 1) for s in range(len(data))]
        names = [codec.name_of(data, s) for s in range(len(data))]
        codec.means[""] = spread(np.concatenate(parts), options)
        if options.each:
            codec.means |= {name: spread(part, options) for name, part in zip(names, parts, strict=True)}
        return codec

    @property
    def size(self) -> int:
        """C, the number of channels."""
        return len(self.channels)

    @property
    def sizes(self) -> tuple[int, int]:
        """What a model is told besides: how many inputs are known in advance, and the season."""
        return len(self.means[""][0]) - self.size, self.season

    @property
    def symbols(self) -> list[str]:
        return self.channels

    @property
    def number(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.channels)}

    def pieces_of(self, text: str) -> list[str]:
        return []

    def name_of(self, data: Sequences, s: int) -> str:
        return data.fields["name"].raw(s)[0] if "name" in data.fields else ""

    def bent(self, values: np.ndarray, data: Sequences | None = None) -> np.ndarray:
        """(N, C) -> (N, C): logarithms and differences; the first few have nothing before them and are nan."""
        if self.options.log:
            if (values <= 0).any():
                raise DataError("only positive numbers have logarithms", got=float(np.nanmin(values)), file=None if data is None else data.origin,
                                do="Leave out --log")
            values = np.log(values)
        if self.options.difference:
            before = np.full_like(values, np.nan)
            before[self.options.difference:] = values[:-self.options.difference]
            values = values - before
        return values

    def inputs(self, data: Sequences, s: int) -> np.ndarray:
        """(N, K) what is known in advance."""
        time = data.field("time").row(s)
        parts = [data.fields["known"].row(s)] if self.known else []
        parts += [calendar(time, self.step)[0]] if self.options.calendar else []
        return np.concatenate(parts, 1) if parts else np.zeros((len(time), 0))

    def encode(self, data: Sequences) -> Signals:
        values = data.field("values")
        found = list(values.names), list(data.fields["known"].names) if "known" in data.fields else []
        if found != (self.channels, self.known):
            raise DataError("these are not the channels this model was trained on", got=", ".join([*found[0], *found[1]]), file=data.origin,
                            do=f"Expected: {', '.join([*self.channels, *self.known])}")
        x, known = [], []
        for s in range(len(data)):
            mean, deviation = self.means.get(self.name_of(data, s), self.means[""])
            table = (np.concatenate([self.bent(values.row(s), data), self.inputs(data, s)], 1) - mean) / deviation
            x.append(np.nan_to_num(table[:, :self.size]).astype(np.float32))          # where nothing is known, what is usual
            known.append(np.nan_to_num(table[:, self.size:]).astype(np.float32))
        offsets = values.offsets - values.offsets[0]
        return Signals(Field(np.concatenate(x), offsets, NUMBERS, values.names), Field(np.concatenate(known), offsets, NUMBERS),
                       Field(values.flat, offsets, NUMBERS, values.names))

    def decode(self, z: np.ndarray, past: np.ndarray, name: str = "") -> np.ndarray:
        """(..., H, C) what a model says of the future, (..., P, C) the values before it as given -> (..., H, C) values."""
        mean, deviation = (each[:self.size] for each in self.means.get(name, self.means[""]))
        w, lag = z * deviation + mean, self.options.difference
        if lag:
            before = np.log(past[..., -lag:, :]) if self.options.log else past[..., -lag:, :]
            values = np.concatenate([np.broadcast_to(before, (*w.shape[:-2], lag, self.size)), w], -2)
            for h in range(w.shape[-2]):
                values[..., lag + h, :] += values[..., h, :]
            w = values[..., lag:, :]
        return np.exp(w) if self.options.log else w

    def to_json(self) -> dict[str, Any]:
        return {"version": 1, "options": asdict(self.options), "channels": self.channels, "known": self.known, "step": asdict(self.step),
                "season": self.season, "means": {name: [each.tolist() for each in pair] for name, pair in self.means.items()}}

    @classmethod
    def from_json(cls, record: dict[str, Any], options: CodecOptions) -> NumberCodec:
        names = [*record["channels"], *record["known"]]
        if not record["channels"] or not all(isinstance(name, str) for name in names) or not isinstance(record["season"], int):
            raise ValueError("its channels have no names")
        means = {name: tuple(np.array(each, np.float64) for each in pair) for name, pair in record["means"].items()}
        shapes = {each.shape for pair in means.values() for each in pair}
        if "" not in means or len(shapes) != 1 or len(next(iter(shapes))) != 1 or not all(np.isfinite(each).all() for pair in means.values() for each in pair):
            raise ValueError("its means do not fit")
        return cls(options, list(record["channels"]), list(record["known"]), Step(**record["step"]), record["season"], means)


def spread(table: np.ndarray, options: CodecOptions) -> tuple[np.ndarray, np.ndarray]:
    """(N, C) -> mean and deviation of each column; one that never changes is left as it is."""
    if options.scale == "none":
        return np.zeros(table.shape[1]), np.ones(table.shape[1])
    some = np.isfinite(table).any(0)
    if not some.all():
        raise ConfigError("a channel has no number to learn from", got=f"channel {int(np.argmin(some)) + 1}", do="Leave it out, or use a smaller --difference")
    deviation = np.nanstd(table, 0)
    return np.nanmean(table, 0), np.where(deviation > 1e-12, deviation, 1.0)
