"""Walk-forward: at each origin the future is forecast from the past alone, and then it comes.

    |--- known ---|-- gap --|--- horizon ---|
                  origin                         then the origin moves on by the stride

Forecasts are made in batches, and no origin depends on another; every one with something to compare
is used, those near the end with as much of their horizon as there is. Shapes: O origins, P context,
H horizon, C channels, Q levels, N times.
"""

from __future__ import annotations

import math

import numpy as np

from seriatim.batches import bounds_of
from seriatim.data.moments import moments_of
from seriatim.data.sequences import NUMBERS, Field, Sequences, offsets_of
from seriatim.errors import ConfigError, DataError
from seriatim.models.base import evaluating
from seriatim.progress import passing
from seriatim.tasks.forecast.codec import SeriesCodec, Signals, of_windows
from seriatim.tasks.forecast.metrics import mase_scale
from seriatim.tasks.forecast.models.network import ForecastModel
from seriatim.tasks.forecast.models.rules import LEVELS
from seriatim.tasks.forecast.options import BacktestOptions

CELLS = 1 << 21  # numbers of a batch: origins x paths x horizon x channels


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
                raise ConfigError(
                    "this is neither a row, a share nor a date",
                    got=words,
                    do="Write for instance 8640, 0.8 or 2017-06-01",
                ) from None
            rows.append(int(np.searchsorted(column.row(s), found)))
            continue
        whole = words and "." not in words and float(words).is_integer()
        rows.append(int(min(many, value if whole else round(value * many))))
    return np.array(rows)


def origins(data: Sequences, options: BacktestOptions) -> np.ndarray:
    """(O,) places, in all series one after another, from which the future is forecast."""
    begin, end = moment(data, options.begin, 0.8), moment(data, options.end, 1.0)
    offsets = data.field("values").offsets - data.field("values").offsets[0]
    found = [
        np.arange(max(1, first - options.gap), last - options.gap, options.stride) + offset
        for first, last, offset in zip(begin, end, offsets[:-1], strict=True)
    ]
    places = np.concatenate(found)
    if not len(places):
        raise DataError(
            "there is nothing to forecast",
            got=f"from row {begin.tolist()[:3]} to {end.tolist()[:3]}",
            file=data.origin,
            do="Choose another --begin or --end",
        )
    return places


def overlapping(signals: Signals, places: np.ndarray, horizon: int) -> int:
    """How many origins of a series, in a row, have horizons that meet."""
    begin, _ = bounds_of(signals.x, places)
    steps = np.diff(places)[np.diff(begin) == 0]
    return math.ceil(horizon / int(steps.min())) if len(steps) else 1


def batches_of(
    places: np.ndarray, model: ForecastModel, options: BacktestOptions
) -> list[np.ndarray]:
    """Origins in groups whose forecasts, drawn paths included, fit into memory."""
    cells = model.options.horizon * model.vocabulary
    many = max(1, CELLS // (cells * (options.paths if model.draws_paths else 1)))
    return [places[begin : begin + many] for begin in range(0, len(places), many)]


def last_values(signals: Signals, places: np.ndarray, codec: SeriesCodec) -> np.ndarray:
    """(O, N, C) as many values before each origin, as given, as it takes to sum up differences."""
    begin, _ = bounds_of(signals.x, places)
    back = np.arange(-max(1, codec.options.difference), 0)
    return signals.raw.flat[np.maximum(places[:, None] + back, begin[:, None])]


def sample_paths(
    model: ForecastModel,
    codec: SeriesCodec,
    data: Sequences,
    signals: Signals,
    places: np.ndarray,
    paths: int,
) -> np.ndarray:
    """(O, S, H, C) whole futures, one origin for each series, in the unit of the data."""
    batch = of_windows(signals, places, model.options.context, model.options.horizon)
    drawn = model.forecast(batch, paths, 0)[2] if model.draws_paths else None
    if drawn is None:
        raise ConfigError(
            "this model says each step by itself and draws no paths",
            got=f"{paths} paths",
            do="Fit autoregression, or a network with --strategy recursive",
        )
    past, several = last_values(signals, places, codec), drawn.double().numpy()
    return np.stack(
        [codec.decode(several[s], past[s], codec.name_of(data, s)) for s in range(len(places))]
    )


def check_walk(model: ForecastModel, codec: SeriesCodec, options: BacktestOptions) -> None:
    """Refuse what this model cannot be asked for."""
    if options.gap >= model.options.horizon:
        raise ConfigError(
            "the gap is a part of the horizon, of which something must be left",
            got=f"gap {options.gap}, horizon {model.options.horizon}",
            do="Fit with a larger --horizon",
        )
    if codec.options.difference and not model.draws_paths:
        raise ConfigError(
            "differences are summed up along paths, which this model does not draw",
            got=f"difference {codec.options.difference}",
            do="Use autoregression, or a network with --strategy recursive",
        )


def forecast(
    model: ForecastModel,
    codec: SeriesCodec,
    data: Sequences,
    signals: Signals,
    places: np.ndarray,
    options: BacktestOptions,
    offsets: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Truth (O, H, C), mean (O, H, C), quantiles (O, H, C, Q), in the unit of the data, those
    within the gap left out. Offsets (H, C, Q) from the mean take the place of the model's own
    quantiles."""
    check_walk(model, codec, options)
    horizon = model.options.horizon
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []
    for some in passing("forecasting", batches_of(places, model, options)):
        batch = of_windows(signals, some, model.options.context, horizon)
        with evaluating(model):
            said = model.forecast(batch, options.paths, 0)
        mean, quantiles = (each.double().numpy() for each in said[:2])
        paths = None if said[2] is None else said[2].double().numpy()
        if offsets is not None:
            quantiles, paths = mean[..., None] + offsets, None
        truth, past = what_came(signals, some, horizon), last_values(signals, some, codec)
        series = np.searchsorted(signals.x.offsets - signals.x.offsets[0], some, "left") - 1
        for s in np.unique(series):
            rows, name = series == s, codec.name_of(data, int(s))
            drawn = None if paths is None else paths[rows]
            decoded = in_the_unit_of_the_data(
                codec, name, past[rows], mean[rows], quantiles[rows], drawn
            )
            found.append((some[rows], truth[rows], *decoded))
    order = np.argsort(np.concatenate([each[0] for each in found]), kind="stable")
    truth, mean, quantiles = (np.concatenate([each[i] for each in found])[order] for i in (1, 2, 3))
    return truth[:, options.gap :], mean[:, options.gap :], quantiles[:, options.gap :]


def what_came(signals: Signals, places: np.ndarray, horizon: int) -> np.ndarray:
    """(O, H, C) the values from each origin on, as given; nan behind the end of a series."""
    _, end = bounds_of(signals.x, places)
    ahead = places[:, None] + np.arange(horizon)  # (O, H)
    values = signals.raw.flat[np.minimum(ahead, end[:, None] - 1)]
    return np.where((ahead < end[:, None])[..., None], values, np.nan)


def in_the_unit_of_the_data(
    codec: SeriesCodec,
    name: str,
    past: np.ndarray,
    mean: np.ndarray,
    quantiles: np.ndarray,
    paths: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    """What a model says of one series, decoded: mean (O, H, C) and quantiles (O, H, C, Q), taken
    from its paths (O, S, H, C) where it draws any."""
    if paths is None:
        levels = codec.decode(np.moveaxis(quantiles, -1, 0), past, name)  # (Q, O, H, C)
        return codec.decode(mean, past, name), np.moveaxis(levels, 0, -1)
    drawn = codec.decode(paths, past[:, None], name)  # (O, S, H, C)
    bent = codec.options.log or codec.options.difference
    middle = drawn.mean(1) if bent else codec.decode(mean, past, name)
    return middle, np.moveaxis(np.quantile(drawn, LEVELS, 1), 0, -1)


def naive(season: int, signals: Signals, places: np.ndarray, horizon: int, gap: int) -> np.ndarray:
    """(O, H, C) what the seasonal naive forecast says: the value a season ago, of the last whole
    season before the origin."""
    begin, _ = bounds_of(signals.x, places)
    back = np.arange(horizon) % season - season
    return signals.raw.flat[np.maximum(places[:, None] + back, begin[:, None])][:, gap:]


def naive_scale(data: Sequences, season: int) -> np.ndarray:
    """(C,) for MASE: what the seasonal naive forecast gets wrong one step ahead, on the training
    data."""
    values = data.field("values")
    scales = [
        mase_scale(values.row(s), min(season, max(1, len(values.row(s)) - 1)))
        for s in range(len(data))
    ]
    return np.nanmean(np.stack(scales), 0)


def before_the_first(data: Sequences, options: BacktestOptions) -> Sequences:
    """What was there before the first origin: the scale of MASE is taken from it."""
    first = np.maximum(2, moment(data, options.begin, 0.8))
    values = data.field("values")
    offsets = values.offsets - values.offsets[0]
    rows = np.concatenate(
        [np.arange(begin, begin + many) for begin, many in zip(offsets[:-1], first, strict=True)]
    )
    column = Field(values.flat[rows], offsets_of(first), NUMBERS, values.names)
    return Sequences({"values": column}, origin=data.origin)
