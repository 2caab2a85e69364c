"""Walk-forward: at each origin the future is forecast from the past alone, and then it comes.

    |--- known ---|-- gap --|--- horizon ---|
                  origin                         then the origin moves on by the stride

Forecasts are made in batches, and no origin depends on another; every one with something to compare is used, those near the end with as much of
their horizon as there is. Shapes: O origins, P context, H horizon, C channels, Q levels, N times.
"""
from __future__ import annotations

import math

import numpy as np
import torch

from seriatim.batches import bounds_of, of_windows
from seriatim.codecs.numbers import NumberCodec, Signals
from seriatim.config import BacktestOptions
from seriatim.data.moments import moments_of
from seriatim.data.sequences import Sequences
from seriatim.deviations import mase_scale
from seriatim.errors import ConfigError, DataError
from seriatim.models.base import Model
from seriatim.models.rules import LEVELS
from seriatim.waiting import passing

CELLS = 1 << 21                            # numbers of a batch: origins x paths x horizon x channels


def moment(data: Sequences, words: str, otherwise: float) -> np.ndarray:
    """For each series the row that a number, a share or a date stands for."""
    column = data.field("time")
    rows = []
    for s in range(len(data)):
        many = len(column.row(s))
        try:
            value = otherwise if not words else float(words)
        except ValueError:
            found = moments_of([words])[0]
            if np.isnan(found):
                raise ConfigError("this is neither a row, a share nor a date", got=words, do="Write for instance 8640, 0.8 or 2017-06-01") from None
            rows.append(int(np.searchsorted(column.row(s), found)))
            continue
        whole = words and "." not in words and float(words).is_integer()
        rows.append(int(min(many, value if whole else round(value * many))))
    return np.array(rows)


def origins(data: Sequences, options: BacktestOptions) -> np.ndarray:
    """(O,) places, in all series one after another, from which the future is forecast."""
    begin, end = moment(data, options.begin, 0.8), moment(data, options.end, 1.0)
    offsets = data.field("values").offsets - data.field("values").offsets[0]
    found = [np.arange(max(1, first - options.gap), last - options.gap, options.stride) + offset
             for first, last, offset in zip(begin, end, offsets[:-1], strict=True)]
    places = np.concatenate(found)
    if not len(places):
        raise DataError("there is nothing to forecast", got=f"from row {begin.tolist()[:3]} to {end.tolist()[:3]}", file=data.origin,
                        do="Choose another --begin or --end")
    return places


def overlapping(signals: Signals, places: np.ndarray, horizon: int) -> int:
    """How many origins of a series, in a row, have horizons that meet."""
    begin, _ = bounds_of(signals.x, places)
    steps = np.diff(places)[np.diff(begin) == 0]
    return math.ceil(horizon / int(steps.min())) if len(steps) else 1


def batches_of(places: np.ndarray, model: Model, options: BacktestOptions, draws: bool) -> list[np.ndarray]:
    many = max(1, CELLS // (model.options.horizon * model.vocabulary * (options.paths if draws else 1)))
    return [places[begin:begin + many] for begin in range(0, len(places), many)]


def draws_paths(model: Model) -> bool:
    return getattr(model.options, "way", "") == "step" or hasattr(model, "noise")


def last_values(signals: Signals, places: np.ndarray, codec: NumberCodec) -> np.ndarray:
    """(O, N, C) as many values before each origin, as given, as it takes to sum up differences."""
    begin, _ = bounds_of(signals.x, places)
    return signals.raw.flat[np.maximum(places[:, None] + np.arange(-max(1, codec.options.difference), 0), begin[:, None])]


def sample_paths(model: Model, codec: NumberCodec, data: Sequences, signals: Signals, places: np.ndarray, paths: int) -> np.ndarray:
    """(O, S, H, C) whole futures, one origin for each series, in the unit of the data."""
    if not draws_paths(model):
        raise ConfigError("this model says each step by itself and draws no paths", got=f"{paths} paths",
                          do="Fit autoregression, or a network with --way step")
    drawn = model.forecast(of_windows(signals, places, model.options.context, model.options.horizon), paths, 0)[2].double().numpy()
    past = last_values(signals, places, codec)
    return np.stack([codec.decode(drawn[s], past[s], codec.name_of(data, s)) for s in range(len(places))])


def forecast(model: Model, codec: NumberCodec, data: Sequences, signals: Signals, places: np.ndarray, options: BacktestOptions,
             offsets: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Truth (O, H, C), mean (O, H, C), quantiles (O, H, C, Q), in the unit of the data, those within the gap left out. Offsets (H, C, Q) from the mean
    take the place of the model's own quantiles."""
    training = isinstance(model, torch.nn.Module) and model.training
    if training:
        model.eval()
    horizon, context, draws = model.options.horizon, model.options.context, draws_paths(model)
    if options.gap >= horizon:
        raise ConfigError("the gap is a part of the horizon, of which something must be left", got=f"gap {options.gap}, horizon {horizon}",
                          do="Fit with a larger --horizon")
    if codec.options.difference and not draws:
        raise ConfigError("differences are summed up along paths, which this model does not draw", got=f"difference {codec.options.difference}",
                          do="Use autoregression, or a network with --way step")
    found: list[tuple[np.ndarray, ...]] = []
    for some in passing("forecasting", batches_of(places, model, options, draws)):
        batch = of_windows(signals, some, context, horizon)
        mean, quantiles, paths = (None if each is None else each.double().numpy() for each in model.forecast(batch, options.paths, 0))
        if offsets is not None:
            quantiles, paths = mean[..., None] + offsets, None
        _, end = bounds_of(signals.x, some)
        ahead = some[:, None] + np.arange(horizon)
        truth = np.where((ahead < end[:, None])[..., None], signals.raw.flat[np.minimum(ahead, end[:, None] - 1)], np.nan)
        past = last_values(signals, some, codec)
        series = np.searchsorted(signals.x.offsets - signals.x.offsets[0], some, "left") - 1
        for s in np.unique(series):
            rows, name = series == s, codec.name_of(data, int(s))
            if paths is not None:
                drawn = codec.decode(paths[rows], past[rows][:, None], name)                    # (O, S, H, C)
                middle = drawn.mean(1) if codec.options.log or codec.options.difference else codec.decode(mean[rows], past[rows], name)
                found.append((some[rows], truth[rows], middle, np.moveaxis(np.quantile(drawn, LEVELS, 1), 0, -1)))
            else:
                levels = codec.decode(np.moveaxis(quantiles[rows], -1, 0), past[rows], name)
                found.append((some[rows], truth[rows], codec.decode(mean[rows], past[rows], name), np.moveaxis(levels, 0, -1)))
    if training:
        model.train()
    order = np.argsort(np.concatenate([each[0] for each in found]), kind="stable")
    truth, mean, quantiles = (np.concatenate([each[i] for each in found])[order] for i in (1, 2, 3))
    return truth[:, options.gap:], mean[:, options.gap:], quantiles[:, options.gap:]


def naive(codec: NumberCodec, data: Sequences, signals: Signals, places: np.ndarray, horizon: int, options: BacktestOptions) -> np.ndarray:
    """(O, H, C) what the seasonal naive forecast says: the value a season ago, of the last whole season before the origin."""
    begin, _ = bounds_of(signals.x, places)
    back = np.arange(horizon) % codec.season - codec.season
    return signals.raw.flat[np.maximum(places[:, None] + back, begin[:, None])][:, options.gap:]


def naive_scale(data: Sequences, season: int) -> np.ndarray:
    """(C,) for MASE: what the seasonal naive forecast gets wrong one step ahead, on the training data."""
    values = data.field("values")
    scales = [mase_scale(values.row(s), min(season, max(1, len(values.row(s)) - 1))) for s in range(len(data))]
    return np.nanmean(np.stack(scales), 0)
