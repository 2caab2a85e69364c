"""Series of numbers as models see them, and back: logarithms, differences, scaled by the training
data.

    v = log y,   w_t = v_t - v_{t-d},   z = (w - mean) / unit         each part optional, inverted exactly

The unit of one series is its deviation. Of several, each has a mean and a unit of its own, the error
of the naive forecast, mean |w_t - w_{t-season}|: errors in that unit are those that MASE counts, so
that no series outweighs another because it is written in smaller units. A series that was not there
in training, or with less than a season of it, is scaled by what is known of it. What is known in
advance (named inputs, the calendar) goes beside the values, in units of its deviation. Everything is
fitted on training data only.
Shapes: N times, S series, C channels, K known inputs, H horizon; ... any leading axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch, bounds_of
from seriatim.codecs.options import CodecOptions
from seriatim.codecs.symbols import reading_codec
from seriatim.data.sequences import NUMBERS, Field, Sequences
from seriatim.data.series import common_step
from seriatim.data.steps import Step, alike, calendar, season_of
from seriatim.errors import ConfigError, DataError
from seriatim.settings import build
from seriatim.tasks.forecast.metrics import mase_scale

Scale = tuple[np.ndarray, np.ndarray]  # mean and unit, (C + K,) both


def of_windows(signals: Signals, origins: np.ndarray, context: int, horizon: int) -> Batch:
    """Windows of series: x (B, P, C) the last values before each origin, y (B, T, C) those from it
    on, nan where there are none.

    Origins (B,) are places in all series, one after another; a window never reaches into another
    series, and what lies before the beginning of one is its first value: `x_lengths` says how many
    of its last values are real.
    """
    begin, end = bounds_of(signals.x, origins)
    past = np.maximum(origins[:, None] + np.arange(-context, 0), begin[:, None])  # (B, P)
    future = origins[:, None] + np.arange(horizon)  # (B, T)
    inside = future < end[:, None]
    future = np.minimum(future, end[:, None] - 1)
    y = np.where(inside[..., None], signals.x.flat[future], np.float32(np.nan))
    known = torch.from_numpy(signals.known.flat[np.concatenate([past, future], 1)])
    x = torch.from_numpy(signals.x.flat[past])
    return Batch(
        x,
        torch.from_numpy(np.minimum(context, origins - begin)),
        torch.from_numpy(y),
        torch.from_numpy(inside),
        known=known,
    )


def judged_windows(signals: Signals, origins: np.ndarray, context: int, horizon: int) -> Batch:
    """The same, what was put into gaps is nan in y: a model is not as good as it is at what was filled."""
    batch = of_windows(signals, origins, context, horizon)
    future = origins[:, None] + np.arange(horizon)  # (B, T)
    truth = signals.truth[np.minimum(future, len(signals.truth) - 1)]
    return replace(batch, y=batch.y.masked_fill(torch.from_numpy(np.isnan(truth)), torch.nan))


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
    truth: np.ndarray  # (N, C) the same without what was put into gaps, which is nan
    mean: np.ndarray  # (S, C) what was subtracted from each series,
    unit: np.ndarray  # (S, C) and in which unit it is

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
        means: Mapping[str, Scale],
        by_itself: bool = False,
        counts: Sequence[str] = (),
    ):
        self.options, self.channels, self.known = options, channels, known
        self.step, self.season = step, season
        # by name of the series, "" for all of them
        self.means = dict(means)
        self.by_itself = by_itself  # whether each series has a scale of its own
        self.counts = list(counts)  # channels of whole numbers from 0 on: so are their quantiles

    @classmethod
    def fit(cls, data: Sequences, options: CodecOptions) -> SeriesCodec:
        """Step, season and scale of the training data."""
        step = common_step(data)
        codec = cls(options, *names_in(data), step, options.season or season_of(step), {})
        tables = [codec.table(data, s) for s in range(len(data))]
        codec.means[""] = spread(np.concatenate(tables), options)
        codec.by_itself = options.each and len(data) > 1
        codec.counts = counted(data)
        if codec.by_itself:
            for s, table in enumerate(tables):
                if codec.tells_scale(table):
                    codec.means[codec.name_of(data, s)] = codec.own_scale(table)
        return codec

    def tells_scale(self, table: np.ndarray) -> bool:
        """Whether the training rows of a series, (N, C + K), say how large it is: more than a season
        of every channel, and a change in it. Otherwise that is seen when the series is known better."""
        values = table[:, : self.size]
        many = np.isfinite(values).sum(0) > self.season  # (C,)
        return bool(many.all() and (np.nanmax(values, 0) > np.nanmin(values, 0)).all())

    def own_scale(self, table: np.ndarray) -> Scale:
        """(N, C + K) one series -> its mean, and its naive error as the unit: a season before, or,
        where there is no more than one, a step before, or its deviation. A thousandth of its size,
        where it never changes; its size, where one value is all that is known."""
        mean, unit = (each.copy() for each in self.means[""])
        values = table[:, : self.size]
        count = np.isfinite(values).sum(0)  # (C,)
        there = count > 0
        if self.options.scale == "none" or not there.any():
            return mean, unit
        values, count = values[:, there], count[there]
        level = np.nanmean(values, 0)
        size = np.where(level != 0, np.abs(level), 1.0)
        chosen = np.where(count > 1, size / 1000, size)
        steps = [each for each in (1, self.season) if each < len(values)]
        for wrong in [np.nanstd(values, 0), *(mase_scale(values, each) for each in steps)]:
            chosen = np.where(np.nan_to_num(wrong) > 1e-9 * size, wrong, chosen)
        mean[: self.size][there], unit[: self.size][there] = level, chosen
        return mean, unit

    def table(self, data: Sequences, s: int) -> np.ndarray:
        """(N, C + K) one series, bent, and what is known in advance."""
        values = data.field("values").row(s)
        return np.concatenate([self.bent(values, data), self.inputs(data, s)], 1)

    def scale_of(self, data: Sequences, s: int, table: np.ndarray, until: int) -> Scale:
        """The scale of a series: that of training, or by as many of its rows as are known."""
        name = self.name_of(data, s)
        if not self.by_itself:
            return self.means[""]
        return self.means[name] if name in self.means and name else self.own_scale(table[:until])

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

    def encode(self, data: Sequences, until: np.ndarray | None = None) -> Signals:
        """Series of the same channels as those of training, in numbers that models read. `until`
        (S,) says how many rows of each may be looked at for its scale, where training had none;
        default: all."""
        values, found = data.field("values"), names_in(data)
        if found != (self.channels, self.known):
            raise DataError(
                "these are not the channels this model was trained on",
                got=", ".join([*found[0], *found[1]]),
                file=data.origin,
                do=f"Expected: {', '.join([*self.channels, *self.known])}",
            )
        self.check_step(data)
        x, known, scales = [], [], []
        for s in range(len(data)):
            table = self.table(data, s)
            mean, unit = self.scale_of(data, s, table, len(table) if until is None else until[s])
            scales.append((mean[: self.size], unit[: self.size]))
            table = (table - mean) / unit
            # where nothing is known, what is usual
            x.append(np.nan_to_num(table[:, : self.size]).astype(np.float32))
            known.append(np.nan_to_num(table[:, self.size :]).astype(np.float32))
        offsets = values.offsets - values.offsets[0]
        truth = values.flat
        if "filled" in data.fields:
            truth = np.where(data.fields["filled"].flat > 0, np.nan, truth)
        means, units = (np.stack(each) for each in zip(*scales, strict=True))
        return Signals(
            Field(np.concatenate(x), offsets, NUMBERS, values.names),
            Field(np.concatenate(known), offsets, NUMBERS),
            Field(values.flat, offsets, NUMBERS, values.names),
            truth,
            means,
            units,
        )

    def check_step(self, data: Sequences) -> None:
        """Refuse series of another step than those of training."""
        if int(data.field("time").lengths.max()) < 3:
            return
        step = common_step(data)
        if "irregular" in (step.kind, self.step.kind) or alike(step, self.step):
            return
        raise DataError(
            "these series have another step than those of training",
            got=f"{step.words}, not {self.step.words}",
            file=data.origin,
            do="Fit a model to series of this step",
        )

    def decode(
        self, z: np.ndarray, past: np.ndarray, mean: np.ndarray, unit: np.ndarray
    ) -> np.ndarray:
        """(..., H, C) what a model says of the future, (..., P, C) the values before it as given,
        and the scale, (..., 1, C) both -> (..., H, C) values."""
        w, lag = z * unit + mean, self.options.difference
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
            "by_itself": self.by_itself,
            "counts": self.counts,
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
            means = means_in(record["means"])
            by_itself = bool(record.get("by_itself", len(means) > 1))
            step = Step(**record["step"])
            counts = list(record.get("counts", ()))
            if not set(counts) <= set(channels):
                raise ValueError("it counts what is no channel")
            return cls(options, channels, known, step, season, means, by_itself, counts)

    def whole(self, quantiles: np.ndarray) -> np.ndarray:
        """(..., C) quantiles of each channel, of counts as whole numbers from 0 on: between two of
        them lies nothing, and a band that ends a trace above 0 would not hold the zeros."""
        counts = np.array([name in self.counts for name in self.channels])
        return np.where(counts, np.maximum(0, np.rint(quantiles)), quantiles)


def names_in(data: Sequences) -> tuple[list[str], list[str]]:
    """The names of the channels, and of what is known in advance."""
    values, known = data.field("values"), data.fields.get("known")
    return list(values.names or ()), list(known.names or ()) if known is not None else []


def counted(data: Sequences) -> list[str]:
    """The channels that are counts: whole numbers from 0 on, and 0 among them."""
    values, names = data.field("values").flat, data.field("values").names or ()
    with np.errstate(invalid="ignore"):
        whole = (np.isnan(values) | ((values >= 0) & (values == np.rint(values)))).all(0)
    return [name for c, name in enumerate(names) if whole[c] and (values[:, c] == 0).any()]


def means_in(record: dict[str, Any]) -> dict[str, Scale]:
    """Mean and unit of each series from JSON; raises ValueError if they do not fit."""
    means = {}
    for name, (mean, unit) in record.items():
        means[name] = np.array(mean, np.float64), np.array(unit, np.float64)
    arrays = [each for pair in means.values() for each in pair]
    shapes = {each.shape for each in arrays}
    finite = all(np.isfinite(each).all() for each in arrays)
    if "" not in means or len(shapes) != 1 or len(shapes.pop()) != 1 or not finite:
        raise ValueError("its means do not fit")
    return means


def spread(table: np.ndarray, options: CodecOptions) -> Scale:
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
