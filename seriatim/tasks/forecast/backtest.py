"""Walk-forward: at each origin the future is forecast from the past alone, and then it comes.

    |--- known ---|-- gap --|--- horizon ---|
                  origin                         then the origin moves on by the stride

Forecasts are made in batches, and no origin depends on another. Every one is used whose whole horizon
comes: near the end only first steps would be judged, which are easier than the last. Of a series
without room for a horizon as much is judged as there is. Nothing from the end on is judged, and nothing
that was put into a gap. Shapes: O origins, P context, H horizon, C channels, Q
levels, S series or paths, N times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from seriatim.batches import bounds_of
from seriatim.data.moments import moments_of
from seriatim.data.sequences import Sequences
from seriatim.errors import ConfigError, DataError
from seriatim.models.base import evaluating
from seriatim.progress import passing
from seriatim.tasks.forecast.codec import SeriesCodec, Signals, of_windows
from seriatim.tasks.forecast.metrics import mase_scale
from seriatim.tasks.forecast.models.mixture import ForecastModel
from seriatim.tasks.forecast.models.rules import LEVELS
from seriatim.tasks.forecast.options import KNOWN, BacktestOptions

CELLS = 1 << 22  # numbers of a batch: origins x (context + paths x horizon) x channels
FEWEST_APART = 3  # differences that MASE may be scaled by
PER_SERIES = 3  # origins of each of several series that a comparison looks at, at least


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


@dataclass(frozen=True)
class Span:
    """What is judged: of each series the rows from one on and before another."""

    begin: np.ndarray  # (S,) rows of each series
    end: np.ndarray  # (S,)

    @classmethod
    def of(cls, data: Sequences, options: BacktestOptions) -> Span:
        """As asked for: by default the last fifth, up to the end."""
        return cls(moment(data, options.begin, KNOWN), moment(data, options.end, 1.0))


def origins(
    data: Sequences, options: BacktestOptions, ahead: tuple[int, int], span: Span | None = None
) -> np.ndarray:
    """(O,) places, in all series one after another, from which the future is forecast, after a gap
    for so many steps; every one whose whole horizon comes, or with something to judge."""
    gap, horizon = ahead
    span = Span.of(data, options) if span is None else span
    offsets = data.field("values").offsets - data.field("values").offsets[0]
    found = []
    for first, last, offset in zip(span.begin, span.end, offsets[:-1], strict=True):
        begin = max(1, first - gap)
        latest = last - gap - (horizon if options.whole else 1)
        if options.whole and latest < begin < last - gap:  # no room for a horizon
            latest = begin
        found.append(np.arange(begin, latest + 1, options.stride) + offset)
    places = np.concatenate(found)
    if not len(places):
        raise DataError(
            "there is nothing to forecast",
            got=f"from row {span.begin.tolist()[:3]} to {span.end.tolist()[:3]}",
            file=data.origin,
            do="Choose another --begin or --end",
        )
    return places


def some_origins(data: Sequences, ahead: tuple[int, int], span: Span, most: int) -> np.ndarray:
    """Equally many origins of each of several series, with a whole horizon where there is room for
    one, the last of which ends where the series does: as a user would ask at its end."""
    gap, horizon = ahead
    offsets = data.field("values").offsets - data.field("values").offsets[0]
    each = max(PER_SERIES, most // len(data))
    found = []
    for first, last, offset in zip(span.begin, span.end, offsets[:-1], strict=True):
        latest = max(first, last - horizon) - gap
        places = np.linspace(latest, max(1, first - gap), each).round().astype(np.int64)
        found.append(np.unique(places[(places > 0) & (places < last - gap)]) + offset)
    return np.concatenate(found)


def overlapping(signals: Signals, places: np.ndarray, horizon: int) -> int:
    """How many origins of a series, in a row, have horizons that meet."""
    begin, _ = bounds_of(signals.x, places)
    steps = np.diff(places)[np.diff(begin) == 0]
    return math.ceil(horizon / int(steps.min())) if len(steps) else 1


def batches_of(
    places: np.ndarray, model: ForecastModel, options: BacktestOptions
) -> list[np.ndarray]:
    """Origins in groups whose forecasts, drawn paths included, fit into memory."""
    drawn = model.options.reach * (options.paths if model.draws_paths else 1)
    many = max(1, CELLS // ((drawn + model.options.context) * model.vocabulary))
    return [places[begin : begin + many] for begin in range(0, len(places), many)]


def last_values(signals: Signals, places: np.ndarray, many: int = 1) -> np.ndarray:
    """(O, N, C) the last so many values before each origin, as given."""
    begin, _ = bounds_of(signals.x, places)
    back = np.arange(-many, 0)
    return signals.raw.flat[np.maximum(places[:, None] + back, begin[:, None])]


def summed_from(signals: Signals, places: np.ndarray, codec: SeriesCodec) -> np.ndarray:
    """(O, N, C) as many values before each origin as it takes to sum up differences."""
    return last_values(signals, places, max(1, codec.options.difference))


def owners_of(signals: Signals, places: np.ndarray) -> np.ndarray:
    """(O,) the number of the series that each origin is of."""
    return np.searchsorted(signals.x.offsets - signals.x.offsets[0], places, "left") - 1


def sample_paths(
    model: ForecastModel, codec: SeriesCodec, signals: Signals, places: np.ndarray, paths: int
) -> np.ndarray:
    """(O, S, H, C) whole futures from each origin, in the unit of the data."""
    batch = of_windows(signals, places, model.options.context, model.options.reach)
    drawn = model.forecast(batch, paths, 0)[2] if model.draws_paths else None
    if drawn is None:
        raise ConfigError(
            "this model says each step by itself and draws no paths",
            got=f"{paths} paths",
            do="Fit autoregression, or a network with --strategy recursive",
        )
    past, scale = summed_from(signals, places, codec), scale_at(signals, places)
    mean, unit = (each[:, None] for each in scale)
    values = codec.decode(drawn.double().numpy(), past[:, None], mean, unit)
    return values[:, :, model.options.gap :]


def check_walk(model: ForecastModel, codec: SeriesCodec) -> None:
    """Refuse what this model cannot be asked for."""
    if codec.options.difference and not model.draws_paths:
        raise ConfigError(
            "differences are summed up along paths, which this model does not draw",
            got=f"difference {codec.options.difference}",
            do="Use autoregression, or a network with --strategy recursive",
        )


def scale_at(signals: Signals, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and unit of the series of each origin, (O, 1, C) both."""
    series = owners_of(signals, places)
    return signals.mean[series][:, None], signals.unit[series][:, None]


def forecast(
    model: ForecastModel,
    codec: SeriesCodec,
    signals: Signals,
    places: np.ndarray,
    options: BacktestOptions,
    offsets: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The point forecast (O, H, C) and quantiles (O, H, C, Q), in the unit of the data, those within
    the gap left out. Offsets (H, C, Q) from the point forecast take the place of the model's own
    quantiles.

    The point forecast is the middle of what the model sees, taken back to the data: their mean, and
    with logarithms their median. It lies inside every interval.
    """
    check_walk(model, codec)
    found: list[tuple[np.ndarray, np.ndarray]] = []
    for some in passing("forecasting", batches_of(places, model, options)):
        batch = of_windows(signals, some, model.options.context, model.options.reach)
        with evaluating(model):
            said = model.forecast(batch, options.paths, 0)
        mean, quantiles = (each.double().numpy() for each in said[:2])
        paths = None if said[2] is None else said[2].double().numpy()
        if offsets is not None:
            quantiles, paths = mean[..., None] + offsets, None
        past, scale = summed_from(signals, some, codec), scale_at(signals, some)
        found.append(in_the_unit_of_the_data(codec, scale, past, mean, quantiles, paths))
    mean, quantiles = (np.concatenate([each[i] for each in found]) for i in (0, 1))
    return mean[:, model.options.gap :], quantiles[:, model.options.gap :]


def what_came(
    signals: Signals, places: np.ndarray, ahead: tuple[int, int], ends: np.ndarray | None = None
) -> np.ndarray:
    """(O, H, C) the values that were forecast from each origin, after a gap for so many steps; nan
    from the end of a series on, or from that which is given for each origin, (O,), and where they
    had been put into gaps."""
    _, end = bounds_of(signals.x, places)
    end = end if ends is None else np.minimum(end, ends)
    steps = places[:, None] + ahead[0] + np.arange(ahead[1])  # (O, H)
    values = signals.truth[np.minimum(steps, len(signals.truth) - 1)]
    return np.where((steps < end[:, None])[..., None], values, np.nan)


def in_the_unit_of_the_data(
    codec: SeriesCodec,
    scale: tuple[np.ndarray, np.ndarray],
    past: np.ndarray,
    mean: np.ndarray,
    quantiles: np.ndarray,
    paths: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    """What a model says, decoded: the point forecast (O, H, C) and quantiles (O, H, C, Q), taken
    from its paths (O, S, H, C) where it draws any."""
    middle = codec.decode(mean, past, *scale)
    if paths is None:
        levels = codec.decode(np.moveaxis(quantiles, -1, 0), past, *scale)  # (Q, O, H, C)
    else:
        deep = (each[:, None] for each in scale)
        drawn = codec.decode(paths, past[:, None], *deep)  # (O, S, H, C)
        levels = np.quantile(drawn, LEVELS, 1)
    levels = codec.whole(levels)
    below, above = np.flatnonzero(LEVELS < 0.5), np.flatnonzero(LEVELS > 0.5)
    levels[below] = np.minimum(levels[below], middle)
    levels[above] = np.maximum(levels[above], middle)
    return middle + 0.0, np.moveaxis(levels, 0, -1) + 0.0  # -0 is 0


def naive(season: int, signals: Signals, places: np.ndarray, ahead: tuple[int, int]) -> np.ndarray:
    """(O, H, C) what the seasonal naive forecast says: the value a season ago, of the last whole
    season before the origin."""
    begin, _ = bounds_of(signals.x, places)
    back = (ahead[0] + np.arange(ahead[1])) % season - season
    return signals.raw.flat[np.maximum(places[:, None] + back, begin[:, None])]


def naive_scale(signals: Signals, until: np.ndarray, season: int) -> np.ndarray:
    """(S, C) for MASE: what the seasonal naive forecast gets wrong one step ahead, in the first rows
    of each series, those before the first origin; where these are too short for it, what the last
    value does; nan where so few differences are known that they tell nothing."""
    offsets = signals.x.offsets - signals.x.offsets[0]
    scales = []
    for first, many, lag in zip(
        offsets[:-1], rows_before(signals, until), scale_lags(signals, until, season), strict=True
    ):
        values = signals.truth[first : first + many]
        if len(values) <= lag:
            scales.append(np.full(values.shape[1], np.nan))
            continue
        apart = values[lag:] - values[:-lag]  # (n, C)
        known = (~np.isnan(apart)).sum(0) >= FEWEST_APART
        scales.append(np.where(known, mase_scale(values, int(lag)), np.nan))
    return np.stack(scales)


def scale_lags(signals: Signals, until: np.ndarray, season: int) -> np.ndarray:
    """(S,) how many steps the values are apart by which MASE scales each series: a season, or, where
    too few values are that far apart, one."""
    return np.where(rows_before(signals, until) >= season + FEWEST_APART, season, 1)


def rows_before(signals: Signals, until: np.ndarray) -> np.ndarray:
    """(S,) how many rows of each series its scale is taken from."""
    return np.minimum(signals.x.lengths, np.maximum(2, until))
