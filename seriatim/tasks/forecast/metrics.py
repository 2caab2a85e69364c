"""How far forecasts are from what came, and how sure that is: arrays in, plain records out.

With y what came, m the mean forecast and x_q its quantile at level q:

    MASE              mean |y - m| / s,  s = mean |y_t - y_t-season| of what came before, of each series       Hyndman and Koehler 2006
    sMAPE             mean 2 |y - m| / (|y| + |m|), from 0 to 2                                               Makridakis 1993
    CRPS              2 mean max(q (y - x_q), (q - 1) (y - x_q)), over equally spaced levels                  Laio and Tamea 2007
    standard error    sqrt(v / O) of a mean over origins,  V of which overlap,  v = sum_k cov(x_t, x_t-k), |k| < V
                      or, if that is more, v = sum_k (1 - |k| / V) cov(x_t, x_t-k)                            Newey and West 1987
                      times O / sqrt((O - V) (O - V + 1)), with O / V - 1 degrees of freedom                  Harvey, Leybourne and Newbold 1997
    Diebold-Mariano   mean d / its standard error, as a Student t,  d the differences of two losses           Diebold and Mariano 1995
    conformal         a new residual is as likely to fall into any of the n + 1 gaps between old ones         Linusson et al. 2014

Of several series, each figure is the mean over series of that of each: the largest does not decide
for all. The mean over all origins alike stands beside it, `pooled`. Intervals and tests then ask what
other series would have said. What is not known, nan in the truth, is counted nowhere. A figure of
nothing at all is None.
Shapes: O origins, H horizon, C channels, Q levels, S series; N times, V origins in a row that overlap.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit

from seriatim.errors import ConfigError, DataError
from seriatim.measuring.measured import Measured, check_paired
from seriatim.measuring.resampling import Record, drawn_together, side_by_side

INTERVALS = {
    "50": (0.25, 0.75),
    "80": (0.1, 0.9),
    "90": (0.05, 0.95),
    "95": (0.025, 0.975),
}  # name: levels of its ends


EVEN = np.arange(1, 20) / 20  # the levels that CRPS is taken over, where there are more


FEWEST = 4  # origins that do not overlap, or series: an interval of fewer says nothing


Cells = dict[str, np.ndarray]  # figure -> (O, H, C), nan where it is not known


@dataclass(frozen=True)
class Forecasts:
    """What was forecast from each origin, H steps ahead, and what came."""

    truth: np.ndarray  # (O, H, C), nan where it is not known
    mean: np.ndarray  # (O, H, C)
    levels: np.ndarray  # (Q,) of the quantiles, rising
    quantiles: np.ndarray | None  # (O, H, C, Q)
    scale: np.ndarray  # (C,) of `mase_scale`, on the training data; (O, C) of several series
    time: np.ndarray | None = None  # (O,)
    overlap: int | None = (
        None  # V, origins in a row whose horizons meet; None: one step apart, so as many as the horizon has steps
    )
    series: np.ndarray | None = None  # (O,) which series each origin is of; None: all of one

    @property
    def owners(self) -> np.ndarray:
        """(O,) the series of each origin, those that there are numbered from 0."""
        if self.series is None:
            return np.zeros(len(self.truth), np.int64)
        return np.unique(self.series, return_inverse=True)[1]

    def __post_init__(self) -> None:
        check_shapes(self)
        check_numbers(self)


def report(forecasts: Forecasts, naive: Forecasts | None = None) -> Record:
    """Every figure of forecasts from origins in the order of time; `naive` are those of a simpler
    forecaster, from the same origins.

    >>> truth, scale = np.array([[[3.0], [4.0]], [[5.0], [np.nan]]]), np.array([0.5])
    >>> figures = report(Forecasts(truth, np.full((2, 2, 1), 3.0), np.array([]), None, scale))
    >>> figures["mae"], figures["mase"], figures["by_origin"]
    (1.0, 2.0, [0.5, 2.0])
    """
    if naive is not None and not np.array_equal(forecasts.truth, naive.truth, equal_nan=True):
        raise DataError(
            "two forecasters are compared on the same truth",
            got=f"shapes {forecasts.truth.shape}, {naive.truth.shape}",
            do="Give both the same origins",
        )
    cells, (origins, horizon, channels) = cells_of(forecasts), forecasts.truth.shape
    overlap, owners = forecasts.overlap or horizon, forecasts.owners
    several = int(owners.max()) + 1
    coverage, width = inside(forecasts)
    against_naive = None
    if naive is not None:
        against_naive = against(cells, cells_of(naive), overlap, owners)
    return {
        **figures(cells, owners),
        "coverage": coverage,
        "width": width,
        "pooled": figures(cells, np.zeros_like(owners)) if several > 1 else None,
        "by_series": by_series(forecasts, cells) if several > 1 else None,
        "by_horizon": [
            {"h": h + 1, "origins": int((~np.isnan(cells["mae"][:, h])).any(1).sum())}
            | figures({name: values[:, h] for name, values in cells.items()}, owners)
            for h in range(horizon)
        ],
        "by_channel": [
            {"channel": c, **figures({k: values[..., c] for k, values in cells.items()}, owners)}
            for c in range(channels)
        ],
        "by_origin": by_origin(cells),
        "interval": bounds(cells, overlap, owners),
        "against_naive": against_naive,
        "origins": origins,
        "horizon": horizon,
        "channels": channels,
    }


# What was measured


def measured_forecasts(forecasts: Forecasts, naive: np.ndarray, facts: dict[str, Any]) -> Measured:
    """Forecasts as they are kept; `naive` (O, H, C) is what a simpler forecaster says. The loss of
    an origin is its mean absolute error, in the unit of MASE."""
    if forecasts.quantiles is None or forecasts.time is None:
        raise DataError("forecasts are measured with their quantiles and times", got=forecasts)
    arrays = {
        "loss": mean_scaled(forecasts),
        "truth": forecasts.truth,
        "answers": forecasts.mean,
        "quantiles": forecasts.quantiles,
        "levels": forecasts.levels,
        "naive": naive,
        "scale": forecasts.scale,
        "time": forecasts.time,
        "series": forecasts.owners if forecasts.series is None else forecasts.series,
    }
    return Measured(arrays, facts | {"overlap": forecasts.overlap})


def mean_scaled(forecasts: Forecasts) -> np.ndarray:
    """(O,) the mean absolute error of each origin in the unit of MASE; nan where there is none."""
    cells = cells_of(forecasts)["mase"]  # (O, H, C)
    count = (~np.isnan(cells)).sum((1, 2))
    total = np.nansum(cells, (1, 2))
    return np.divide(total, count, out=np.full(len(cells), np.nan), where=count > 0)


def forecasts_in(measured: Measured) -> Forecasts:
    """What a model forecast."""
    truth, mean, levels = (measured[name] for name in ("truth", "answers", "levels"))
    return Forecasts(
        truth,
        mean,
        levels,
        measured["quantiles"],
        measured["scale"],
        measured["time"],
        measured["overlap"],
        measured["series"],
    )


def naive_in(measured: Measured) -> Forecasts:
    """What the seasonal naive forecast says of the same."""
    truth, mean, levels = (measured[name] for name in ("truth", "naive", "levels"))
    scale, time, overlap = (measured[name] for name in ("scale", "time", "overlap"))
    return Forecasts(truth, mean, levels, None, scale, time, overlap, measured["series"])


def p_of_difference(first: Measured, second: Measured) -> float:
    """How probable so large a difference of two models' errors is by chance: Diebold and Mariano's
    test, on the absolute errors of each origin, in the unit of MASE; of several series on their
    means, as if each had come by itself."""
    check_paired(first, second)
    if not np.array_equal(first["truth"], second["truth"], equal_nan=True):
        shapes = " and ".join(str(each["truth"].shape) for each in (first, second))
        raise DataError(
            "two forecasters are compared on the same truth",
            got=f"shapes {shapes}",
            do="Give both the same origins, and the same --horizon",
        )
    owners = np.unique(first["series"], return_inverse=True)[1]
    losses, overlap = (first.loss, second.loss), first["overlap"]
    if owners.max() > 0:
        losses, overlap = (
            (means_of_series(losses[0], owners), means_of_series(losses[1], owners)),
            1,
        )
    known = ~(np.isnan(losses[0]) | np.isnan(losses[1]))
    enough = int(known.sum()) > overlap
    return diebold_mariano(*losses, overlap)[1] if enough else 1.0


def drawn_mase(several: Sequence[Measured]) -> np.ndarray:
    """(M, R) mean MASE of several models, if other series had been drawn; of one, other runs of
    origins as long as their horizons meet."""
    first = several[0]
    owners = np.unique(first["series"], return_inverse=True)[1]
    losses = [each.loss for each in several]
    length = first["overlap"] or 1
    if owners.max() > 0:
        losses, length = [means_of_series(each, owners) for each in losses], 1
    known = ~np.isnan(np.stack(losses)).any(0)
    cuts = np.arange(0, int(known.sum()), length)
    return drawn_together([each[known] for each in losses], cuts)


# Figures


def cells_of(forecasts: Forecasts) -> Cells:
    """What each figure is the mean of. A channel that never changed in training has no scale, and
    no MASE."""
    truth, mean, scale = (
        np.asarray(values, np.float64)
        for values in (forecasts.truth, forecasts.mean, forecasts.scale)
    )
    scale = scale[:, None] if scale.ndim == 2 else scale  # (O, 1, C) of several series
    absolute, size = abs(truth - mean), abs(truth) + abs(mean)  # (O, H, C) each
    scaled = np.divide(absolute, scale, out=np.full_like(absolute, np.nan), where=scale > 0)
    cells = {
        "mae": absolute,
        "mse": absolute**2,
        "mase": scaled,
        "smape": 2 * absolute / np.where(size == 0, 1, size),
    }
    return (
        cells
        if forecasts.quantiles is None
        else {**cells, "crps": crps(truth, forecasts.levels, forecasts.quantiles)}
    )


def crps(truth: np.ndarray, levels: np.ndarray, quantiles: np.ndarray) -> np.ndarray:
    """(O, H, C), (Q,), (O, H, C, Q) -> (O, H, C) twice the mean pinball loss, of the levels that are
    evenly spaced where there are more."""
    total, places = np.zeros_like(truth), evenly_spaced(levels)
    for place in places:
        level, gap = levels[place], truth - quantiles[..., place]  # gap: (O, H, C)
        total += np.maximum(level * gap, (level - 1) * gap)
    return 2 * total / len(places)


def evenly_spaced(levels: np.ndarray) -> np.ndarray:
    """The places of 0.05, 0.1 .. 0.95 if all are there, else of all levels."""
    near = np.abs(np.asarray(levels)[:, None] - EVEN).min(1) < 1e-9  # (Q,)
    return np.flatnonzero(near) if near.sum() == len(EVEN) else np.arange(len(levels))


def figures(cells: Cells, owners: np.ndarray) -> Record:
    """Each figure as the mean of its cells; of several series as the mean of theirs."""
    each = {name: means_of_series(values, owners) for name, values in cells.items()}  # (S,)
    means = {name: mean_known(values) for name, values in each.items()}
    return {
        "mae": means["mae"],
        "rmse": mean_known(np.sqrt(each["mse"])),
        "mse": means["mse"],
        "mase": means["mase"],
        "smape": means["smape"],
        "crps": means.get("crps"),
    }


def means_of_series(values: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """(O, ...) values, (O,) whose they are -> (S,) the mean of each series; nan if it has none."""
    rows = values.reshape(len(values), -1)
    known = ~np.isnan(rows)
    total = np.bincount(owners, np.where(known, rows, 0.0).sum(1))
    count = np.bincount(owners, known.sum(1))
    return np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0)


def by_series(forecasts: Forecasts, cells: Cells) -> list[Record]:
    """The figures of each series by itself, by its number; with the share of what came that lies
    inside each of its intervals."""
    assert forecasts.series is not None
    owners = forecasts.owners
    each = {name: means_of_series(values, owners) for name, values in cells.items()}
    each["rmse"] = np.sqrt(each["mse"])
    numbers = np.unique(forecasts.series)
    names = [name for name in ("mase", "mae", "rmse", "smape", "crps") if name in each]
    shares = {
        name: means_of_series(within, owners) for name, (within, _) in intervals_of(forecasts)
    }
    return [
        {"series": int(number)}
        | {name: mean_known(each[name][s : s + 1]) for name in names}
        | {"coverage": {k: float(some[s]) for k, some in shares.items() if not np.isnan(some[s])}}
        for s, number in enumerate(numbers)
    ]


def mean_known(values: np.ndarray) -> float | None:
    """The mean of what is not nan; None if there is nothing."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else None


def by_origin(cells: Cells) -> list[float | None]:
    """(O,) the mean absolute error of each origin."""
    return [mean_known(values) for values in cells["mae"]]


def inside(forecasts: Forecasts) -> tuple[dict[str, float], dict[str, float]]:
    """The share of the truth within each interval whose two levels there are, ends included, and
    the interval's mean width; of several series the means of theirs."""
    shares: dict[str, float] = {}
    widths: dict[str, float] = {}
    owners = forecasts.owners
    for name, (within, wide) in intervals_of(forecasts):
        shares[name] = float(np.nanmean(means_of_series(within, owners)))
        widths[name] = float(np.nanmean(means_of_series(wide, owners)))
    return shares, widths


def intervals_of(forecasts: Forecasts) -> Iterator[tuple[str, tuple[np.ndarray, np.ndarray]]]:
    """Each interval whose two levels there are, by its name: (O, H, C) whether the truth is inside,
    and (O, H, C) how wide it is; nan where the truth is not known."""
    quantiles, truth = forecasts.quantiles, forecasts.truth
    known = ~np.isnan(truth)
    if quantiles is None:
        return
    for name, ends in INTERVALS.items():
        places = [
            int(place)
            for end in ends
            for place in np.flatnonzero(np.isclose(forecasts.levels, end))
        ]
        if len(places) == 2:
            low, high = (quantiles[..., place] for place in places)
            within = np.where(known, (low <= truth) & (truth <= high), np.nan)
            yield name, (within, np.where(known, high - low, np.nan).astype(np.float64))


# How sure


def bounds(cells: Cells, overlap: int, owners: np.ndarray) -> dict[str, list[float] | None]:
    """95 % intervals of the figures, if other origins had come, or other series where there are
    several; symmetric in logarithms, for errors are positive. None where they are too few."""
    powers = {"mae": 1.0, "rmse": 0.5, "mase": 1.0}
    sources = {"mae": "mae", "rmse": "mse", "mase": "mase"}
    found: dict[str, list[float] | None] = {}
    for name, power in powers.items():
        values = cells[sources[name]]
        if owners.max() > 0:
            each = means_of_series(values, owners) ** power
            sums, count, power, overlap = each, np.ones(len(each)), 1.0, 1
        else:
            sums, count = np.nansum(values, (1, 2)), (~np.isnan(values)).sum((1, 2))
        known = (count > 0) & ~np.isnan(sums)
        enough = int(known.sum()) >= FEWEST * overlap
        found[name] = interval(sums[known], count[known], overlap, power) if enough else None
    return found


def interval(sums: np.ndarray, count: np.ndarray, overlap: int, power: float) -> list[float]:
    """(O,) sums of so many numbers each -> the ends for their mean, to a power."""
    mean = sums.sum() / count.sum()
    if not mean:
        return [0.0, 0.0]
    error, freedom = standard_error(
        (sums / mean - count) / count.mean(), overlap
    )  # of the logarithm of the mean
    reach = -stdtrit(freedom, 0.025) * error
    return [float((mean * math.exp(sign * reach)) ** power) for sign in (-1, 1)]


def standard_error(values: np.ndarray, overlap: int) -> tuple[float, float]:
    """(O,) one for each origin -> the standard error of their mean, and its degrees of freedom.

    Newey and West's weights keep the variance above zero, but make it too small where neighbours
    overlap, so they count only where the plain sum is smaller still. An interval of 95 % by this
    holds the truth in 90 to 97 % of all cases, from however few origins.
    """
    count, centred = len(values), values - values.mean()
    covariances = (
        np.array([centred[lag:] @ centred[: count - lag] for lag in range(overlap)]) / count
    )  # (V,)
    variance = max(
        2 * float(weights @ covariances) - covariances[0]
        for weights in (np.ones(overlap), 1 - np.arange(overlap) / overlap)
    )
    return math.sqrt(max(0.0, variance) * count / ((count - overlap) * (count - overlap + 1))), max(
        1.0, count / overlap - 1
    )


def against(cells: Cells, naive: Cells, overlap: int, owners: np.ndarray) -> Record:
    """The share of the naive forecaster's absolute error that is gone, of several series in the unit
    of MASE, and whether that may be chance; None where it cannot be said."""
    several = owners.max() > 0
    if several:
        loss, simple = (means_of_series(each["mase"], owners) for each in (cells, naive))  # (S,)
        error, naive_error = mean_known(loss), mean_known(simple)
        overlap = 1
    else:
        loss, simple = (np.array(by_origin(each), np.float64) for each in (cells, naive))  # (O,)
        error, naive_error = mean_known(cells["mae"]), mean_known(naive["mae"])
    enough = (~np.isnan(loss)).sum() > overlap
    statistic, p = diebold_mariano(loss, simple, overlap) if enough else (math.nan, None)
    return {
        "skill": 1 - error / naive_error if naive_error and error is not None else None,
        "diebold_mariano": statistic if math.isfinite(statistic) else None,
        "p": p,
    }


def diebold_mariano(first: np.ndarray, second: np.ndarray, overlap: int) -> tuple[float, float]:
    """(O,), (O,) losses of two forecasters, one for each origin -> the statistic, negative where
    the first loses less, and its two-sided p."""
    first, second = side_by_side(first, second)
    apart = np.asarray(first, np.float64) - second
    apart = apart[~np.isnan(apart)]  # (O,)
    if overlap < 1:
        raise ConfigError(
            "an origin overlaps at least with itself",
            got=overlap,
            do="Give 1 where horizons do not meet",
        )
    if len(apart) <= overlap:
        raise DataError(
            f"more origins than overlap with each other, {overlap}, are needed",
            got=len(apart),
            do="Forecast from more origins",
        )
    mean, (error, freedom) = float(apart.mean()), standard_error(apart, overlap)
    if not error:  # always the same difference
        return (math.copysign(math.inf, mean), 0.0) if mean else (0.0, 1.0)
    return mean / error, float(2 * stdtr(freedom, -abs(mean / error)))


# What is needed beforehand


def mase_scale(values: np.ndarray, season: int) -> np.ndarray:
    """(N, C) training data -> (C,) mean absolute error if each value is forecast to be that of one
    season before; nan if there are no two.

    >>> mase_scale(np.array([[1.0], [2.0], [4.0], [8.0]]), season=2)
    array([4.5])
    """
    values = np.asarray(values, np.float64)
    if season < 1:
        raise ConfigError("a season is at least 1 step", got=season)
    if values.ndim != 2 or len(values) <= season:
        raise DataError(
            f"values are times x channels, and more times than a season, {season}",
            got=f"shape {values.shape}",
        )
    apart = abs(values[season:] - values[:-season])  # (N - season, C)
    count = (~np.isnan(apart)).sum(0)  # (C,)
    return np.divide(np.nansum(apart, 0), count, out=np.full(count.shape, np.nan), where=count > 0)


def conformal(residuals: np.ndarray, levels: Sequence[float] | np.ndarray) -> np.ndarray:
    """(O, H, C) truth minus mean forecast, on data not used for training -> (H, C, Q) what to add
    to a mean forecast for its quantiles.

    Of n residuals, in order, the ceil((n + 1) q)-th is exceeded with probability 1 - q at most;
    below the median it is the floor. So an interval covers what its levels say at least, if the new
    residual could as well have been any of the old ones.
    """
    residuals, levels = np.asarray(residuals, np.float64), np.asarray(levels, np.float64)
    check_levels(levels)
    if residuals.ndim != 3 or not residuals.size:
        raise DataError(
            "residuals are origins x horizon x channels", got=f"shape {residuals.shape}"
        )
    ordered = np.moveaxis(np.sort(residuals, 0), 0, -1)  # (H, C, O), nan last
    count = (~np.isnan(ordered)).sum(-1, keepdims=True)  # (H, C, 1)
    ranks = np.round((count + 1) * levels, 9)  # (H, C, Q) 0.29 * 100 is less than 29 in binary
    below, above = (
        np.where(upper, np.ceil(ranks), np.floor(ranks)).astype(int)
        for upper in (levels > 0.5, levels >= 0.5)
    )
    if (below < 1).any() or (above > count).any():
        outermost = min(levels.min(), 1 - levels.max())
        raise DataError(
            "there are too few residuals for the outermost level",
            got=f"{count.min()} for a level of {outermost:g}",
            do=f"Give those of {math.ceil(round(1 / outermost - 1, 9))} origins at least, or leave that level out",
        )
    return (
        np.take_along_axis(ordered, below - 1, -1) + np.take_along_axis(ordered, above - 1, -1)
    ) / 2  # the median may lie between two


def conformal_offsets(residuals: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """The same from however few residuals: a level that so few cannot tell is the outermost of them."""
    residuals = np.asarray(residuals, np.float64)
    count = int((~np.isnan(residuals)).sum(0).min())
    able = np.minimum(levels, 1 - levels) * (count + 1) > 1 - 1e-9
    found = np.empty((*residuals.shape[1:], len(levels)))
    found[..., able] = conformal(residuals, levels[able])
    found[..., ~able & (levels < 0.5)] = np.nanmin(residuals, 0)[..., None]
    found[..., ~able & (levels > 0.5)] = np.nanmax(residuals, 0)[..., None]
    return found


# Checks


def check_shapes(forecasts: Forecasts) -> None:
    """An error unless truth, forecasts and quantiles fit together."""
    shape = np.shape(forecasts.truth)
    if len(shape) != 3 or 0 in shape:
        raise DataError("the truth is origins x horizon x channels", got=f"shape {shape}")
    several = np.ndim(forecasts.scale) == 2
    expected = {
        "mean": shape,
        "scale": (shape[0], shape[2]) if several else shape[2:],
        "quantiles": (*shape, len(forecasts.levels)),
        "time": shape[:1],
        "series": shape[:1],
    }
    for name, needed in expected.items():
        values = getattr(forecasts, name)
        if values is not None and np.shape(values) != needed:
            raise DataError(
                f"{name} must have the shape {needed}, for a truth of {shape}", got=np.shape(values)
            )


def check_numbers(forecasts: Forecasts) -> None:
    """An error unless there is a truth, and a finite forecast wherever there is."""
    known = ~np.isnan(forecasts.truth)
    if not known.any() or np.isinf(forecasts.truth).any():
        raise DataError(
            "the truth must be numbers, or nan where it is not known but not everywhere",
            got=forecasts.truth,
        )
    if not np.isfinite(forecasts.mean[known]).all():
        raise DataError("forecasts must be numbers wherever the truth is known", got=forecasts.mean)
    if forecasts.quantiles is not None:
        check_levels(forecasts.levels)
        if not np.isfinite(forecasts.quantiles[known]).all():
            raise DataError(
                "quantiles must be numbers wherever the truth is known", got=forecasts.quantiles
            )


def check_levels(levels: np.ndarray) -> None:
    """An error unless levels rise between 0 and 1."""
    if (
        np.ndim(levels) != 1
        or not len(levels)
        or not 0 < levels[0] <= levels[-1] < 1
        or not (np.diff(levels) > 0).all()
    ):
        raise ConfigError("levels rise and lie between 0 and 1", got=levels)
