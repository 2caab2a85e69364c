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
    of few residuals  t_df(q) r sqrt(1 + 1 / n),  df = max(3, n - 1), as a Student t of their size; of the step h
                      r^2 = (n m_h + m) / (n + 1),  m_h the mean square of its n, m the mean of those of all steps

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
from seriatim.measuring.resampling import Record, drawn_groups, side_by_side

INTERVALS = {
    "50": (0.25, 0.75),
    "80": (0.1, 0.9),
    "90": (0.05, 0.95),
    "95": (0.025, 0.975),
}  # name: levels of its ends


EVEN = np.arange(1, 20) / 20  # the levels that CRPS is taken over, where there are more


SAME = 1e-6  # relative: what differs by less in every part is the same forecast, but for rounding
FEWEST = 4  # origins that do not overlap, or series: an interval of fewer says nothing


MANY_GROUPS = 10  # channels of one series, from which on they are resampled
FEW_BLOCKS = 8  # of origins, at least, that are resampled where there are as many origins


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
        "by_horizon": by_horizon(cells, owners),
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
    """(M, R) mean MASE of several models, if other series had been drawn; of one, other channels, if
    they are many, or other runs of origins, whichever varies more."""
    forecasts = [forecasts_in(each) for each in several]
    cells = np.stack([scaled_errors(each) for each in forecasts])  # (M, O, H, C)
    cells = np.where(np.isnan(cells).any(0), np.nan, cells)
    owners = forecasts[0].owners
    if owners.max() > 0:
        means = np.stack([means_of_series(each, owners) for each in cells])  # (M, S)
        return drawn_groups(with_values(np.stack([means, ~np.isnan(means)], -1)))
    by_origin = sums_known(cells, (2, 3))  # (M, O, 2)
    length = block_of(by_origin.shape[1], forecasts[0].overlap or 1)
    cuts = np.arange(0, by_origin.shape[1], length)
    drawn = drawn_groups(np.add.reduceat(by_origin, cuts, 1))
    by_channel = sums_known(cells, (1, 2))  # (M, C, 2)
    if by_channel.shape[1] < MANY_GROUPS:
        return drawn
    return max(drawn_groups(by_channel), drawn, key=how_far_apart)


def how_far_apart(draws: np.ndarray) -> float:
    """(M, R) -> how much the differences between models vary, in the mean over all of them."""
    return float((draws - draws.mean(0)).std(1).mean())


def sums_known(cells: np.ndarray, axes: tuple[int, int]) -> np.ndarray:
    """(M, O, H, C) -> (M, G, 2) sums over these axes, and of how many; without groups of nothing."""
    return with_values(np.stack([np.nansum(cells, axes), (~np.isnan(cells)).sum(axes)], -1))


def with_values(groups: np.ndarray) -> np.ndarray:
    """(M, G, 2) sums and numbers without the groups in which nothing is known."""
    return groups[:, groups[0, :, 1] > 0]


def block_of(origins: int, overlap: int) -> int:
    """How many origins in a row are drawn together: as many as have horizons that meet, but such
    that there are eight blocks. Three blocks, each as long as it should be, tell less than eight that
    are too short: by so few, Student's t widens an interval to three times its length."""
    return max(1, min(overlap, origins // FEW_BLOCKS))


# Figures


def cells_of(forecasts: Forecasts) -> Cells:
    """What each figure is the mean of. A channel that never changed in training has no scale, and
    no MASE."""
    truth, mean = (np.asarray(each, np.float64) for each in (forecasts.truth, forecasts.mean))
    absolute, size = abs(truth - mean), abs(truth) + abs(mean)  # (O, H, C) each
    cells = {
        "mae": absolute,
        "mse": absolute**2,
        "mase": scaled_errors(forecasts),
        "smape": 2 * absolute / np.where(size == 0, 1, size),
    }
    return (
        cells
        if forecasts.quantiles is None
        else {**cells, "crps": crps(truth, forecasts.levels, forecasts.quantiles)}
    )


def scaled_errors(forecasts: Forecasts) -> np.ndarray:
    """(O, H, C) absolute errors in the unit of MASE; nan where there is none."""
    truth, mean, scale = (
        np.asarray(each, np.float64) for each in (forecasts.truth, forecasts.mean, forecasts.scale)
    )
    scale = scale[:, None] if scale.ndim == 2 else scale  # (O, 1, C) of several series
    absolute = abs(truth - mean)
    return np.divide(absolute, scale, out=np.full_like(absolute, np.nan), where=scale > 0)


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


def by_horizon(cells: Cells, owners: np.ndarray) -> list[Record]:
    """The figures of each step, of several series means over those that have all steps, so that no
    step rests on other series than another; over all, where there is none."""
    known = ~np.isnan(cells["mae"])  # (O, H, C)
    several = owners.max() > 0
    each_step = [np.bincount(owners, each) > 0 for each in np.asarray(known.any(2)).T]
    whole = np.asarray(np.all(each_step, axis=0))  # (S,)
    rows = whole[owners] if whole.any() else np.ones(len(owners), bool)  # (O,)
    who = np.unique(owners[rows], return_inverse=True)[1]
    return [
        {"h": h + 1, "origins": int(known[rows, h].any(1).sum())}
        | ({"series": int((np.bincount(who, known[rows, h].any(1)) > 0).sum())} if several else {})
        | figures({name: values[rows, h] for name, values in cells.items()}, who)
        for h in range(known.shape[1])
    ]


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
    if np.allclose(loss, simple, rtol=SAME, atol=0.0, equal_nan=True):  # it is the naive forecast
        loss, error = simple, naive_error
    enough = (~np.isnan(loss)).sum() > overlap
    statistic, p = diebold_mariano(loss, simple, overlap) if enough else (math.nan, None)
    return {
        "skill": 1 - error / naive_error if naive_error and error is not None else None,
        "diebold_mariano": statistic if math.isfinite(statistic) else None,
        "p": p,
    }


def over_naive(
    truth: np.ndarray, said: np.ndarray, naive: np.ndarray, scale: np.ndarray, owners: np.ndarray
) -> float | None:
    """The share of the naive forecast's absolute error that is gone, (O, H, C) truth and what both
    say, (O, C) scale, (O,) owners; of several series in the unit of MASE."""
    several = bool(owners.max() > owners.min())
    unit = np.where(scale > 0, scale, np.nan)[:, None] if several else np.ones((1, 1, 1))
    owners = np.unique(owners, return_inverse=True)[1]
    error, simple = (
        mean_known(means_of_series(abs(truth - each) / unit, owners)) for each in (said, naive)
    )
    return 1 - error / simple if simple and error is not None else None


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
        raise DataError(
            "there are too few errors on validation data to take intervals from",
            got=f"{count.min()} of a step",
            do=f"Give those of {fewest_for(levels)} origins at least: more data to validate on, or a"
            " smaller --horizon or --context",
        )
    return (
        np.take_along_axis(ordered, below - 1, -1) + np.take_along_axis(ordered, above - 1, -1)
    ) / 2  # the median may lie between two


def conformal_offsets(residuals: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """The same from however few residuals: steps of which so few are known that they cannot tell the
    outermost level have those of Student's t.

    >>> conformal_offsets(np.array([[[3.0]], [[-3.0]], [[3.0]]]), np.array([0.025, 0.5])).round(3)
    array([[[-11.024,   0.   ]]])
    """
    residuals, levels = np.asarray(residuals, np.float64), np.asarray(levels, np.float64)
    enough = count_known(residuals) >= fewest_for(levels)  # (H, C)
    found = student_offsets(residuals, levels)
    if enough.any():
        found[enough] = conformal(residuals[:, enough][..., None], levels)[:, 0]
    return found


def student_offsets(residuals: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """(O, H, C) residuals -> (H, C, Q) what to add to a mean forecast, if they are a Student t about
    it; a channel of which none is known is as wrong as the others."""
    count = count_known(residuals)  # (H, C)
    squares = np.nansum(residuals**2, 0)
    if not count.any():
        raise DataError(
            "there are no errors to take intervals from",
            got=f"residuals of the shape {residuals.shape}, none of them known",
            do="Give more training data, or less of it filled",
        )
    each = np.divide(squares, count, out=np.full(squares.shape, np.nan), where=count > 0)
    there = ~np.isnan(each)
    steps = there.sum(0)  # (C,)
    mean = np.divide(
        np.nansum(each, 0), steps, out=np.full(steps.shape, each[there].mean()), where=steps > 0
    )
    size = np.sqrt((squares + mean) / (count + 1) * (1 + 1 / np.maximum(1, count)))  # (H, C)
    return size[..., None] * stdtrit(np.maximum(3, count - 1)[..., None], levels)


def count_known(residuals: np.ndarray) -> np.ndarray:
    """(O, H, C) residuals -> (H, C) how many there are of each step."""
    return np.asarray((~np.isnan(residuals)).sum(0))


def fewest_known(residuals: np.ndarray) -> int:
    """(O, H, C) residuals -> how many there are of a step at least, of those channels that have any."""
    count = count_known(residuals)
    return int(count[count > 0].min())


def fewest_for(levels: np.ndarray) -> int:
    """How many residuals it takes to tell the outermost of these levels: 39 for 0.025."""
    outermost = min(float(np.min(levels)), 1 - float(np.max(levels)))
    return math.ceil(round(1 / outermost - 1, 9))


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


def mostly_nothing(forecasts: Forecasts) -> list[str]:
    """A note on series that are mostly zero, where the forecast that nothing comes has the smaller
    absolute error: a mean may be right, and absolute errors still favour the median."""
    truth = forecasts.truth[np.isfinite(forecasts.truth)]
    zeros = float((truth == 0).mean()) if truth.size else 0.0
    wrong = float(np.nanmean(np.abs(forecasts.truth - forecasts.mean))) if truth.size else 0.0
    nothing = float(np.abs(truth).mean()) if truth.size else 0.0
    if zeros < 0.5 or nothing >= wrong:
        return []
    return [
        f"{100 * zeros:.0f} % of the values to be forecast are 0, and to say 0 each time has MAE "
        f"{nothing:.4g}, less than its {wrong:.4g}: look at RMSE and CRPS, or at the quantiles"
    ]
