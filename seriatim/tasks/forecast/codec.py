"""Series of numbers as models see them, and back: logarithms, differences, scaled by the training
data.

    v = log y,   w_t = v_t - v_{t-d},   z = (w - mean) / deviation         each part optional, inverted exactly

What is known in advance (named inputs, the calendar) goes beside the values, scaled in the same
way. Everything is fitted on training data only. Shapes: N times, C channels, K known inputs, H
horizon; ... any leading axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch, bounds_of
from seriatim.codecs.options import CodecOptions
from seriatim.codecs.symbols import reading_codec
from seriatim.data.sequences import NUMBERS, Field, Sequences
from seriatim.data.steps import Step, calendar, season_of, step_of
from seriatim.errors import ConfigError, DataError
from seriatim.settings import build


def of_windows(
    signals: Signals, origins: np.ndarray, context: int, horizon: int, gap: int = 0
) -> Batch:
    """Windows of series: x (B, P, C) the last values before each origin, y (B, T, C) those from
    `gap` steps after it on, nan where there are none.

    Origins (B,) are places in all series, one after another; a window never reaches into another
    series, and what lies before the beginning of one is its first value.
    """
    begin, end = bounds_of(signals.x, origins)
    past = np.maximum(origins[:, None] + np.arange(-context, 0), begin[:, None])  # (B, P)
    future = origins[:, None] + gap + np.arange(horizon)  # (B, T)
    inside = future < end[:, None]
    future = np.minimum(future, end[:, None] - 1)
    y = np.where(inside[..., None], signals.x.flat[future], np.float32(np.nan))
    known = torch.from_numpy(signals.known.flat[np.concatenate([past, future], 1)])
    x = torch.from_numpy(signals.x.flat[past])
    return Batch(
        x,
        torch.full((len(origins),), context),
        torch.from_numpy(y),
        torch.from_numpy(inside),
        known=known,
    )


def known_in(batch: Batch) -> Tensor:
    """(B, P + T, K) what is known in advance, which every batch of windows has."""
    assert batch.known is not None
    return batch.known


@dataclass(frozen=True)
class Signals:
    """Series in numbers that models read."""

    x: Field  # (N, C) float32
    known: Field  # (N, K) float32, K may be 0
    raw: Field  # (N, C) float64, as given

    def __len__(self) -> int:
        return len(self.x)

    @property
    def columns(self) -> tuple[Field, ...]:
        """The columns of encoded data: the series."""
        return (self.x,)


class SeriesCodec:
    """Values <-> what models see."""

    unit = "value"

    def __init__(
        self,
        options: CodecOptions,
        channels: list[str],
        known: list[str],
        step: Step,
        season: int,
        means: Mapping[str, tuple[np.ndarray, np.ndarray]],
    ):
        self.options, self.channels, self.known = options, channels, known
        self.step, self.season = step, season
        # by name of the series, "" for all of them: mean and deviation, (C + K,) both
        self.means = dict(means)

    @classmethod
    def fit(cls, data: Sequences, options: CodecOptions, season: int = 0) -> SeriesCodec:
        """Step, season and scale of the training data."""
        values = data.field("values")
        time = data.field("time")
        step = step_of(time.row(int(np.argmax(time.lengths))))
        codec = cls(options, *names_in(data), step, season or season_of(step), {})
        parts = [
            np.concatenate([codec.bent(values.row(s), data), codec.inputs(data, s)], 1)
            for s in range(len(data))
        ]
        names = [codec.name_of(data, s) for s in range(len(data))]
        codec.means[""] = spread(np.concatenate(parts), options)
        if options.each:
            codec.means |= {
                name: spread(part, options) for name, part in zip(names, parts, strict=True)
            }
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
        """The names of the channels."""
        return self.channels

    @property
    def number(self) -> dict[str, int]:
        """The number of each channel by name."""
        return {name: i for i, name in enumerate(self.channels)}

    def pieces_of(self, text: str) -> list[str]:
        """Nothing: numbers are not cut from a text."""
        return []

    def name_of(self, data: Sequences, s: int) -> str:
        """What series s is called; "" where series have no names."""
        return str(data.fields["name"].raw(s)[0]) if "name" in data.fields else ""

    def bent(self, values: np.ndarray, data: Sequences | None = None) -> np.ndarray:
        """(N, C) -> (N, C): logarithms and differences; the first few have nothing before them and
        are nan."""
        if self.options.log:
            if (values <= 0).any():
                raise DataError(
                    "only positive numbers have logarithms",
                    got=float(np.nanmin(values)),
                    file=None if data is None else data.origin,
                    do="Leave out --log",
                )
            values = np.log(values)
        if self.options.difference:
            before = np.full_like(values, np.nan)
            before[self.options.difference :] = values[: -self.options.difference]
            values = values - before
        return values

    def inputs(self, data: Sequences, s: int) -> np.ndarray:
        """(N, K) what is known in advance."""
        time = data.field("time").row(s)
        parts = [data.fields["known"].row(s)] if self.known else []
        parts += [calendar(time, self.step)[0]] if self.options.calendar else []
        return np.concatenate(parts, 1) if parts else np.zeros((len(time), 0))

    def encode(self, data: Sequences) -> Signals:
        """Series of the same channels as those of training, in numbers that models read."""
        values, found = data.field("values"), names_in(data)
        if found != (self.channels, self.known):
            raise DataError(
                "these are not the channels this model was trained on",
                got=", ".join([*found[0], *found[1]]),
                file=data.origin,
                do=f"Expected: {', '.join([*self.channels, *self.known])}",
            )
        x, known = [], []
        for s in range(len(data)):
            mean, deviation = self.means.get(self.name_of(data, s), self.means[""])
            table = (
                np.concatenate([self.bent(values.row(s), data), self.inputs(data, s)], 1) - mean
            ) / deviation
            # where nothing is known, what is usual
            x.append(np.nan_to_num(table[:, : self.size]).astype(np.float32))
            known.append(np.nan_to_num(table[:, self.size :]).astype(np.float32))
        offsets = values.offsets - values.offsets[0]
        return Signals(
            Field(np.concatenate(x), offsets, NUMBERS, values.names),
            Field(np.concatenate(known), offsets, NUMBERS),
            Field(values.flat, offsets, NUMBERS, values.names),
        )

    def decode(self, z: np.ndarray, past: np.ndarray, name: str = "") -> np.ndarray:
        """(..., H, C) what a model says of the future, (..., P, C) the values before it as given
        -> (..., H, C) values."""
        mean, deviation = (each[: self.size] for each in self.means.get(name, self.means[""]))
        w, lag = z * deviation + mean, self.options.difference
        if lag:
            before = np.log(past[..., -lag:, :]) if self.options.log else past[..., -lag:, :]
            values = np.concatenate(
                [np.broadcast_to(before, (*w.shape[:-2], lag, self.size)), w], -2
            )
            for h in range(w.shape[-2]):
                values[..., lag + h, :] += values[..., h, :]
            w = values[..., lag:, :]
        return np.exp(w) if self.options.log else w

    def to_json(self) -> dict[str, Any]:
        """All that `from_json` needs."""
        return {
            "version": 1,
            "options": asdict(self.options),
            "channels": self.channels,
            "known": self.known,
            "step": asdict(self.step),
            "season": self.season,
            "means": {name: [each.tolist() for each in pair] for name, pair in self.means.items()},
        }

    @classmethod
    def from_json(cls, record: dict[str, Any], where: str) -> SeriesCodec:
        """The codec that wrote this record, checked; `where` names the file in errors."""
        with reading_codec(where):
            options = build(CodecOptions, record["options"], where)
            channels, known, season = (
                list(record["channels"]),
                list(record["known"]),
                record["season"],
            )
            named = all(isinstance(name, str) for name in [*channels, *known])
            if not channels or not named or not isinstance(season, int):
                raise ValueError("its channels have no names")
            return cls(
                options, channels, known, Step(**record["step"]), season, means_in(record["means"])
            )


def names_in(data: Sequences) -> tuple[list[str], list[str]]:
    """The names of the channels, and of what is known in advance."""
    values, known = data.field("values"), data.fields.get("known")
    return list(values.names or ()), list(known.names or ()) if known is not None else []


def means_in(record: dict[str, Any]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Mean and deviation of each series from JSON; raises ValueError if they do not fit."""
    means = {}
    for name, (mean, deviation) in record.items():
        means[name] = np.array(mean, np.float64), np.array(deviation, np.float64)
    arrays = [each for pair in means.values() for each in pair]
    shapes = {each.shape for each in arrays}
    finite = all(np.isfinite(each).all() for each in arrays)
    if "" not in means or len(shapes) != 1 or len(shapes.pop()) != 1 or not finite:
        raise ValueError("its means do not fit")
    return means


def spread(table: np.ndarray, options: CodecOptions) -> tuple[np.ndarray, np.ndarray]:
    """(N, C) -> mean and deviation of each column; one that never changes is left as it is."""
    if options.scale == "none":
        return np.zeros(table.shape[1]), np.ones(table.shape[1])
    some = np.isfinite(table).any(0)
    if not some.all():
        raise ConfigError(
            "a channel has no number to learn from",
            got=f"channel {int(np.argmin(some)) + 1}",
            do="Leave it out, or use a smaller --difference",
        )
    deviation = np.nanstd(table, 0)
    return np.nanmean(table, 0), np.where(deviation > 1e-12, deviation, 1.0)
