"""How far forecasts are from what came, and how sure that is: arrays in, plain records out.

With y what came, m the mean forecast and x_q its quantile at level q:

    MASE              mean |y - m| / s,  s = mean |y_t - y_t-season| of the training data                     Hyndman and Koehler 2006
    sMAPE             mean 2 |y - m| / (|y| + |m|), from 0 to 2                                               Makridakis 1993
    CRPS              2 mean max(q (y - x_q), (q - 1) (y - x_q)), over equally spaced levels                  Laio and Tamea 2007
    moving blocks     a bootstrap that draws neighbours together, for their errors overlap                    Künsch 1989
    Diebold-Mariano   mean d / sqrt(v / O),  d the differences of two losses,
                      v = sum_k (1 - |k| / H) cov(d_t, d_t-k), |k| < H                                        Newey and West 1987
                      times sqrt((O - H) (O - H + 1)) / O, as a Student t                                     Harvey, Leybourne and Newbold 1997
    conformal         a new residual is as likely to fall into any of the n + 1 gaps between old ones         Linusson et al. 2014

What is not known, nan in the truth, is counted nowhere. A figure of nothing at all is None.
Shapes: O origins, H horizon, C channels, Q levels; N times, M blocks, K blocks in a draw, R resamples.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.special import ndtr, stdtr, stdtrit

from seriatim.agreement import RESAMPLES, Record, side_by_side
from seriatim.errors import ConfigError, DataError

INTERVALS = {"50": (0.25, 0.75), "80": (0.1, 0.9), "90": (0.05, 0.95), "95": (0.025, 0.975)}      # name: levels of its ends
FEWEST_BLOCKS = 4                         # with fewer, an interval of 95 % holds the truth in half of all cases

Cells = dict[str, np.ndarray]             # figure -> (O, H, C), nan where it is not known


@dataclass(frozen=True)
class Forecasts:
    """What was forecast from each origin, H steps ahead, and what came."""

    truth: np.ndarray                     # (O, H, C), nan where it is not known
    mean: np.ndarray                      # (O, H, C)
    levels: np.ndarray                    # (Q,) of the quantiles, rising
    quantiles: np.ndarray | None          # (O, H, C, Q)
    scale: np.ndarray                     # (C,) of `mase_scale`, on the training data
    time: np.ndarray | None = None        # (O,)

    def __post_init__(self) -> None:
        check_shapes(self)
        check_numbers(self)


def report(forecasts: Forecasts, naive: Forecasts | None = None) -> Record:
    """Every figure of forecasts from origins in the order of time; `naive` are those of a simpler forecaster, from the same origins.

    >>> truth, scale = np.array([[[3.0], [4.0]], [[5.0], [np.nan]]]), np.array([0.5])
    >>> figures = report(Forecasts(truth, np.full((2, 2, 1), 3.0), np.array([]), None, scale))
    >>> figures["mae"], figures["mase"], figures["by_origin"]
    (1.0, 2.0, [0.5, 2.0])
    """
    if naive is not None and not np.array_equal(forecasts.truth, naive.truth, equal_nan=True):
        raise DataError("two forecasters are compared on the same truth", got=f"shapes {forecasts.truth.shape}, {naive.truth.shape}",
                        do="Give both the same origins")
    cells, (origins, horizon, channels) = cells_of(forecasts), forecasts.truth.shape
    coverage, width = inside(forecasts)
    return {**figures(cells), "coverage": coverage, "width": width,
            "by_horizon": [{"h": h + 1, **figures({name: values[:, h] for name, values in cells.items()})} for h in range(horizon)],
            "by_channel": [{"channel": c, **figures({name: values[..., c] for name, values in cells.items()})} for c in range(channels)],
            "by_origin": by_origin(cells), "interval": bounds(cells), "against_naive": None if naive is None else against(cells, cells_of(naive)),
            "origins": origins, "horizon": horizon, "channels": channels}


# Figures


def cells_of(forecasts: Forecasts) -> Cells:
    """What each figure is the mean of. A channel that never changed in training has no scale, and no MASE."""
    truth, mean, scale = (np.asarray(values, np.float64) for values in (forecasts.truth, forecasts.mean, forecasts.scale))
    absolute, size = abs(truth - mean), abs(truth) + abs(mean)                                  # (O, H, C) each
    scaled = np.divide(absolute, scale, out=np.full_like(absolute, np.nan), where=scale > 0)
    cells = {"mae": absolute, "mse": absolute ** 2, "mase": scaled, "smape": 2 * absolute / np.where(size == 0, 1, size)}
    return cells if forecasts.quantiles is None else {**cells, "crps": crps(truth, forecasts.levels, forecasts.quantiles)}


def crps(truth: np.ndarray, levels: np.ndarray, quantiles: np.ndarray) -> np.ndarray:
    """(O, H, C), (Q,), (O, H, C, Q) -> (O, H, C) twice the mean pinball loss."""
    total = np.zeros_like(truth)
    for place, level in enumerate(levels):
        gap = truth - quantiles[..., place]                                                     # (O, H, C)
        total += np.maximum(level * gap, (level - 1) * gap)
    return 2 * total / len(levels)


def figures(cells: Cells) -> Record:
    means = {name: mean_known(values) for name, values in cells.items()}
    root = None if means["mse"] is None else math.sqrt(means["mse"])
    return {"mae": means["mae"], "rmse": root, "mse": means["mse"], "mase": means["mase"], "smape": means["smape"], "crps": means.get("crps")}


def mean_known(values: np.ndarray) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else None


def by_origin(cells: Cells) -> list[float | None]:
    """(O,) the mean absolute error of each origin."""
    return [mean_known(values) for values in cells["mae"]]


def inside(forecasts: Forecasts) -> tuple[dict[str, float], dict[str, float]]:
    """The share of the truth within each interval whose two levels there are, ends included, and the interval's mean width."""
    shares, widths = {}, {}
    known = ~np.isnan(forecasts.truth)
    for name, ends in INTERVALS.items() if forecasts.quantiles is not None else ():
        places = [int(place) for end in ends for place in np.flatnonzero(np.isclose(forecasts.levels, end))]
        if len(places) == 2:
            truth, low, high = (values[known] for values in (forecasts.truth, *(forecasts.quantiles[..., place] for place in places)))
            shares[name], widths[name] = float(((low <= truth) & (truth <= high)).mean()), float((high - low).mean(dtype=np.float64))
    return shares, widths


# How sure


def bounds(cells: Cells) -> dict[str, list[float] | None]:
    """95 % intervals of the figures, as if other blocks of consecutive origins had come; None where there are too few of them.

    Percentiles of few blocks are too narrow, so they are taken further out, as Student's t is wider than a normal (Hesterberg 2015).
    Where errors overlap as much as they can, such an interval still holds the truth in 87 % of all cases only.
    """
    absolute, squared = cells["mae"], cells["mse"]
    sums = np.stack([np.nansum(absolute, (1, 2)), np.nansum(squared, (1, 2)), (~np.isnan(absolute)).sum((1, 2))], 1)      # (O, 3)
    sums = sums[sums[:, 2] > 0]
    length = block_length(len(sums), absolute.shape[1])
    drawn = len(sums) // length                                                                 # K
    if drawn < FEWEST_BLOCKS:
        return {"mae": None, "rmse": None}
    blocks = sliding_window_view(sums, length, 0).sum(-1)                                       # (M, 3)
    starts = np.random.default_rng(0).integers(len(blocks), size=(RESAMPLES, drawn))            # (R, K)
    absolute, squared, count = (column[starts].sum(1) for column in blocks.T)                   # (R,) each
    tail = ndtr(math.sqrt(drawn / (drawn - 1)) * stdtrit(drawn - 1, 0.025))
    low_high = np.quantile([absolute / count, np.sqrt(squared / count)], [tail, 1 - tail], axis=1)      # (2, 2)
    return dict(zip(("mae", "rmse"), low_high.T.tolist()))


def block_length(origins: int, horizon: int) -> int:
    """How many consecutive origins are drawn together: as many as overlap, and more where there are many."""
    return max(horizon, round(origins ** (1 / 3)))


def against(cells: Cells, naive: Cells) -> Record:
    """The share of the naive forecaster's absolute error that is gone, and whether that may be chance; None where it cannot be said."""
    error, naive_error = mean_known(cells["mae"]), mean_known(naive["mae"])
    losses = [np.array(by_origin(each), np.float64) for each in (cells, naive)]                 # (O,) each, nan for None
    horizon = cells["mae"].shape[1]
    enough = (~np.isnan(losses[0])).sum() > horizon
    statistic, p = diebold_mariano(*losses, horizon) if enough else (math.nan, None)
    return {"skill": 1 - error / naive_error if naive_error else None, "diebold_mariano": statistic if math.isfinite(statistic) else None, "p": p}


def diebold_mariano(first: np.ndarray, second: np.ndarray, horizon: int) -> tuple[float, float]:
    """(O,), (O,) losses of two forecasters, one for each origin -> the statistic, negative where the first loses less, and its two-sided p.

    With weights that fall to 0 the variance is never negative, but too small where losses of neighbours overlap: of equal forecasters
    about a tenth then differs with p < 0.05, and from few origins a sixth.
    """
    first, second = side_by_side(first, second)
    apart = np.asarray(first, np.float64) - second
    apart = apart[~np.isnan(apart)]                                                             # (O,)
    count = len(apart)
    if horizon < 1:
        raise ConfigError("a horizon is at least 1", got=horizon)
    if count <= horizon:
        raise DataError(f"more origins than steps of the horizon, {horizon}, are needed", got=count, do="Forecast from more origins")
    mean = float(apart.mean())
    centred = apart - mean
    covariances = [float(centred[lag:] @ centred[:count - lag]) / count for lag in range(horizon)]      # (H,)
    variance = 2 * sum((1 - lag / horizon) * each for lag, each in enumerate(covariances)) - covariances[0]
    if variance <= 0:                                                                           # always the same difference
        return (math.copysign(math.inf, mean), 0.0) if mean else (0.0, 1.0)
    statistic = mean / math.sqrt(variance / count) * math.sqrt((count - horizon) * (count - horizon + 1)) / count
    return statistic, float(2 * stdtr(count - 1, -abs(statistic)))


# What is needed beforehand


def mase_scale(values: np.ndarray, season: int) -> np.ndarray:
    """(N, C) training data -> (C,) mean absolute error if each value is forecast to be that of one season before; nan if there are no two.

    >>> mase_scale(np.array([[1.0], [2.0], [4.0], [8.0]]), season=2)
    array([4.5])
    """
    values = np.asarray(values, np.float64)
    if season < 1:
        raise ConfigError("a season is at least 1 step", got=season)
    if values.ndim != 2 or len(values) <= season:
        raise DataError(f"values are times x channels, and more times than a season, {season}", got=f"shape {values.shape}")
    apart = abs(values[season:] - values[:-season])                                             # (N - season, C)
    count = (~np.isnan(apart)).sum(0)                                                           # (C,)
    return np.divide(np.nansum(apart, 0), count, out=np.full(count.shape, np.nan), where=count > 0)


def conformal(residuals: np.ndarray, levels: Sequence[float] | np.ndarray) -> np.ndarray:
    """(O, H, C) truth minus mean forecast, on data not used for training -> (H, C, Q) what to add to a mean forecast for its quantiles.

    Of n residuals, in order, the ceil((n + 1) q)-th is exceeded with probability 1 - q at most; below the median it is the floor. So an
    interval covers what its levels say at least, if the new residual could as well have been any of the old ones.
    """
    residuals, levels = np.asarray(residuals, np.float64), np.asarray(levels, np.float64)
    check_levels(levels)
    if residuals.ndim != 3 or not residuals.size:
        raise DataError("residuals are origins x horizon x channels", got=f"shape {residuals.shape}")
    ordered = np.moveaxis(np.sort(residuals, 0), 0, -1)                                         # (H, C, O), nan last
    count = (~np.isnan(ordered)).sum(-1, keepdims=True)                                         # (H, C, 1)
    ranks = np.round((count + 1) * levels, 9)                                                   # (H, C, Q) 0.29 * 100 is less than 29 in binary
    below, above = (np.where(upper, np.ceil(ranks), np.floor(ranks)).astype(int) for upper in (levels > 0.5, levels >= 0.5))
    if (below < 1).any() or (above > count).any():
        outermost = min(levels.min(), 1 - levels.max())
        raise DataError("there are too few residuals for the outermost level", got=f"{count.min()} for a level of {outermost:g}",
                        do=f"Give those of {math.ceil(round(1 / outermost - 1, 9))} origins at least, or leave that level out")
    return (np.take_along_axis(ordered, below - 1, -1) + np.take_along_axis(ordered, above - 1, -1)) / 2      # the median may lie between two


# Checks


def check_shapes(forecasts: Forecasts) -> None:
    shape = np.shape(forecasts.truth)
    if len(shape) != 3 or 0 in shape:
        raise DataError("the truth is origins x horizon x channels", got=f"shape {shape}")
    expected = {"mean": shape, "scale": shape[2:], "quantiles": (*shape, len(forecasts.levels)), "time": shape[:1]}
    for name, needed in expected.items():
        values = getattr(forecasts, name)
        if values is not None and np.shape(values) != needed:
            raise DataError(f"{name} must have the shape {needed}, for a truth of {shape}", got=np.shape(values))


def check_numbers(forecasts: Forecasts) -> None:
    known = ~np.isnan(forecasts.truth)
    if not known.any() or np.isinf(forecasts.truth).any():
        raise DataError("the truth must be numbers, or nan where it is not known but not everywhere", got=forecasts.truth)
    if not np.isfinite(forecasts.mean[known]).all():
        raise DataError("forecasts must be numbers wherever the truth is known", got=forecasts.mean)
    if forecasts.quantiles is not None:
        check_levels(forecasts.levels)
        if not np.isfinite(forecasts.quantiles[known]).all():
            raise DataError("quantiles must be numbers wherever the truth is known", got=forecasts.quantiles)


def check_levels(levels: np.ndarray) -> None:
    if np.ndim(levels) != 1 or not len(levels) or not 0 < levels[0] <= levels[-1] < 1 or not (np.diff(levels) > 0).all():
        raise ConfigError("levels rise and lie between 0 and 1", got=levels)
