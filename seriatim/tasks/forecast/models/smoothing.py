"""Means that forget: level, trend and season of a window, and where they lead.

    smoothing    l_t = l_{t-1} + f b_{t-1} + a e_t,   b_t = f b_{t-1} + a b e_t,   s_t = s_{t-S} + g (1 - a) e_t
                 y_{T+h} = l_T + (f + .. + f^h) b_T + s_{T+h-kS}                     Holt 1957, Winters 1960, Gardner and McKenzie 1985
    theta        the mean of a line through all and of a level of twice the distances from it    Assimakopoulos and Nikolopoulos 2000

with e_t what was wrong one step ahead. Unlike the rules without parameters, how fast each mean
forgets is found by these errors: of one series on its training data, of several anew for each
window, for what suits one does not suit another. Level, trend and season begin with the line and the
cycle through the first values. Shapes: B rows, P context, H horizon, C channels, S season.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.compiling import njit
from seriatim.errors import DataError
from seriatim.tasks.forecast.codec import Signals
from seriatim.tasks.forecast.models.rules import Rule
from seriatim.tasks.forecast.options import SmoothingOptions, ThetaOptions

FADING = (0.8, 0.995)  # how much of a trend stays after a step, at least and at most


STARTS = np.array(  # where the search begins: level, trend and season as logits, how much stays
    [[0.0, -2.0, -1.0, 2.0], [-2.0, -4.0, -2.0, 2.0], [2.0, -3.0, -2.0, 0.0]]
)


AT_FIRST = 10  # values whose line a trend begins with, where there is no season


SEASONS = 4  # or so many seasons


LAST = 1000  # values of a long series from which its speeds are found


TOLD = 1.645  # standard errors that an autocorrelation is away from zero, to be taken for a season


@njit(nogil=True, cache=True)
def bounded(raw, free):
    """(4,) any numbers -> speeds of level, trend and season between 0 and 1, and how much of the
    trend stays; what is not free is 0."""
    speeds = np.zeros(4)
    for i in range(4):
        speeds[i] = 1 / (1 + np.exp(-min(30.0, max(-30.0, raw[i])))) if free[i] else 0.0
    speeds[3] = FADING[0] + (FADING[1] - FADING[0]) * speeds[3]
    return speeds


@njit(nogil=True, cache=True)
def line_through(x):
    """(n,) values -> where the line of least squares is before the first of them, and its slope."""
    n = len(x)
    if n < 2:
        return x[0], 0.0
    middle, mean = (n - 1) / 2, x.mean()
    above = below = 0.0
    for t in range(n):
        above += (t - middle) * x[t]
        below += (t - middle) ** 2
    slope = above / below
    return mean - slope * (middle + 1), slope


@njit(nogil=True, cache=True)
def begun(x, season, trending):
    """(n,) values -> level and slope before the first of them, and the cycle (S,)."""
    cycle = np.zeros(season)
    if season == 1:
        first = x[: min(len(x), AT_FIRST)]
        level, slope = line_through(first)
        return (level, slope, cycle) if trending else (first.mean(), 0.0, cycle)
    many = min(len(x) // season, SEASONS)
    means = np.zeros(many)
    for j in range(many):
        means[j] = x[j * season : (j + 1) * season].mean()
    slope = (means[many - 1] - means[0]) / (season * (many - 1))
    middle, mean = (many * season - 1) / 2, means.mean()
    for t in range(many * season):
        cycle[t % season] += (x[t] - mean - slope * (t - middle)) / many
    cycle -= cycle.mean()
    return (mean - slope * (middle + 1), slope, cycle) if trending else (means[0], 0.0, cycle)


@njit(nogil=True, cache=True)
def smoothed(x, speeds, season, level, slope, cycle):
    """(n,) values, from a beginning on -> level and slope at the end, and the sum of squared errors
    one step ahead; the cycle (S,) goes on in place."""
    alpha, beta, gamma, stay = speeds
    wrong = 0.0
    for t in range(len(x)):
        error = x[t] - (level + stay * slope + cycle[t % season])
        wrong += error * error
        level += stay * slope + alpha * error
        slope = stay * slope + alpha * beta * error
        if season > 1:
            cycle[t % season] += gamma * (1 - alpha) * error
    return level, slope, wrong


@njit(nogil=True, cache=True)
def searched(x, starts, free, season):
    """(n,) values -> the speeds (4,) that leave the least error, by steps along each of them that
    are halved where none helps."""
    level, slope, cycle = begun(x, season, free[1])
    best, least = starts[0].copy(), np.inf
    for start in starts:
        wrong = smoothed(x, bounded(start, free), season, level, slope, cycle.copy())[2]
        if wrong < least:
            best, least = start.copy(), wrong
    step = 2.0
    while step > 0.05:
        helped = False
        for i in range(4):
            for sign in (-1.0, 1.0):
                trial = best.copy()
                trial[i] += sign * step
                if not free[i] or abs(trial[i]) > 8:
                    continue
                wrong = smoothed(x, bounded(trial, free), season, level, slope, cycle.copy())[2]
                if wrong < least * (1 - 1e-6):
                    best, least, helped = trial, wrong, True
        if not helped:
            step /= 2
    return bounded(best, free)


@njit(nogil=True, cache=True)
def ahead(x, lengths, speeds, starts, free, season, horizon):
    """(B, P) windows, of which the last so many values are real, (B,) -> (B, H) forecasts; without
    speeds (0,) they are searched for in each window."""
    rows, context = x.shape
    said = np.zeros((rows, horizon))
    for row in range(rows):
        real = x[row, context - lengths[row] :]
        here = season if len(real) >= 2 * season else 1
        own = speeds if len(speeds) else searched(real, starts, free, here)
        level, slope, cycle = begun(real, here, free[1])
        level, slope, _ = smoothed(real, own, here, level, slope, cycle)
        fading, gone = 1.0, 0.0
        for h in range(horizon):
            fading *= own[3]
            gone += fading
            said[row, h] = level + gone * slope + cycle[(len(real) + h) % here]
    return said


class ExponentialSmoothing(Rule):
    """Level, trend and season."""

    options: SmoothingOptions
    windows_looked_at = 1000

    def __init__(self, vocabulary: int, options: SmoothingOptions, known: int = 0, season: int = 1):
        super().__init__(vocabulary, options, known, season)
        self.speeds = torch.zeros(vocabulary, 4, dtype=torch.float64)  # zeros: anew for each window

    def learn(self, signals: Signals) -> Iterator[dict[str, Any]]:
        """Of one series, the speeds of each channel that leave the least error."""
        season = self.in_season
        if len(signals) > 1:
            return
        for c in range(self.vocabulary):
            yield {"words": "smoothing", "share": c / self.vocabulary}
            series = signals.x.row(0)[-max(LAST, 4 * season) :, c].astype(np.float64)
            if len(series) <= max(2, 2 * season):
                raise DataError(
                    "the training data is too short for this season",
                    got=f"{len(series)} steps, a season of {season}",
                    do="Give more, or --seasonal false",
                )
            self.speeds[c] = torch.from_numpy(searched(series, STARTS, self.free, season))

    @property
    def free(self) -> np.ndarray:
        """(4,) which speeds there are."""
        trend = self.options.trend
        return np.array([True, trend, self.options.seasonal, trend])

    @property
    def needed(self) -> int:
        """Two seasons."""
        return 2 * self.in_season

    @property
    def in_season(self) -> int:
        """Steps of the season, 1 if there is none or a window does not hold two of them."""
        seen = self.options.context >= 2 * self.season
        return self.season if self.options.seasonal and seen else 1

    def rule(self, batch: Batch) -> Tensor:
        """(B, H, C) level, faded trend and season, smoothed over the past of each row."""
        x, lengths = batch.x.double().numpy(), batch.x_lengths.numpy()
        columns = []
        for c in range(self.vocabulary):
            known = self.speeds[c].numpy()
            speeds = known if known.any() else np.zeros(0)
            past = np.ascontiguousarray(x[..., c])
            more = (STARTS, self.free, self.in_season, self.options.reach)
            columns.append(ahead(past, lengths, speeds, *more))
        return torch.from_numpy(np.stack(columns, -1)).float()

    def learned(self) -> dict[str, Tensor]:
        """The speeds of each channel."""
        return {"speeds": self.speeds}


@njit(nogil=True, cache=True)
def seasonal_part(x, season):
    """(n,) values -> (S,) how much each place of a season is above the rest, by the means around
    each value; zeros where the season cannot be told from chance."""
    n, cycle = len(x), np.zeros(season)
    if season < 2 or n < 3 * season:
        return cycle
    centred, total = x - x.mean(), 0.0
    power = (centred**2).sum()
    if power <= 0:
        return cycle
    correlation = 0.0
    for lag in range(1, season + 1):
        correlation = (centred[lag:] * centred[: n - lag]).sum() / power
        total += correlation**2 if lag < season else 0.0
    if abs(correlation) <= TOLD * np.sqrt((1 + 2 * total) / n):
        return cycle
    half, count = season // 2, np.zeros(season)
    for t in range(half, n - half):
        around = x[t - half : t + half + 1].sum()
        if season % 2 == 0:
            around -= (x[t - half] + x[t + half]) / 2
        cycle[t % season] += x[t] - around / season
        count[t % season] += 1
    cycle /= np.maximum(count, 1)
    return cycle - cycle.mean()


@njit(nogil=True, cache=True)
def level_of(x, alpha):
    """(n,) values -> their mean that forgets, and the sum of squared errors one step ahead."""
    level, wrong = x[0], 0.0
    for t in range(1, len(x)):
        error = x[t] - level
        wrong += error * error
        level += alpha * error
    return level, wrong


@njit(nogil=True, cache=True)
def theta_ahead(x, lengths, season, horizon):
    """(B, P) windows, of which the last so many values are real, (B,) -> (B, H) forecasts."""
    rows, context = x.shape
    said = np.zeros((rows, horizon))
    for row in range(rows):
        real = x[row, context - lengths[row] :]
        n = len(real)
        cycle = seasonal_part(real, season)
        level, slope = line_through(real - np.array([cycle[t % season] for t in range(n)]))
        bent = np.zeros(n)  # twice as far from the line
        for t in range(n):
            bent[t] = 2 * (real[t] - cycle[t % season]) - (level + slope * (t + 1))
        best, least = 0.5, np.inf
        step, middle = 0.25, 0.5
        while step > 0.004:
            for alpha in (middle - step, middle, middle + step):
                wrong = level_of(bent, min(0.999, max(0.01, alpha)))[1]
                if wrong < least:
                    best, least = min(0.999, max(0.01, alpha)), wrong
            middle, step = best, step / 2
        last = level_of(bent, best)[0]
        for h in range(horizon):
            line = level + slope * (n + 1 + h)
            said[row, h] = (line + last) / 2 + cycle[(n + h) % season]
    return said


class Theta(Rule):
    """A level of the last values, moved along half the slope of all."""

    options: ThetaOptions
    windows_looked_at = 1000

    @property
    def needed(self) -> int:
        """Three seasons."""
        return 3 * self.season if self.options.seasonal else 1

    def rule(self, batch: Batch) -> Tensor:
        """(B, H, C) the mean of the line and of the level of what is bent away from it."""
        x, lengths = batch.x.double().numpy(), batch.x_lengths.numpy()
        season = self.season if self.options.seasonal else 1
        columns = [
            theta_ahead(np.ascontiguousarray(x[..., c]), lengths, season, self.options.reach)
            for c in range(self.vocabulary)
        ]
        return torch.from_numpy(np.stack(columns, -1)).float()
