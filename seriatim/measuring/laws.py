"""What more data would give: a law of diminishing returns, fitted to a few sizes.

    L(n) = a + b n^-c        a the floor, b >= 0, c > 0; smaller is better

Figures that are better when higher go in with their sign turned, and the floor is then minus the best
there can be. The fit is least squares over a grid of c, for each of which a and b are a line; points
are weighed by their errors. It is then moved to go on from the last point. What is not known is drawn:
the points anew from their errors, and the law fitted again to each draw. No law is quite true: errors
have a share of how far a size is behind the last, more so of small sizes, and are larger where the law
leaves more over; and of what it promises beyond the last size a share is doubted. These shares were
decided on the data sets that benchmarks/data_curves.py calls CHOSEN. An interval is that of a figure
measured after a fit to so much data: on the same test, or, with the standard error of the figure on
this test, on another as large.

    law = fitted(sizes, values, errors)      DataError where there is no law: see `refused`
    law.predicted(10 * sizes[-1])            value, low, high: an 80 % interval
    crossing(first, second, up_to)           from which size on the second is ahead, and how sure

Shapes: K sizes, R draws, C exponents, N sizes that are asked for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from seriatim.errors import DataError

LEAST_SIZES = 4  # fewer tell nothing about three parameters
DRAWS = 400
EXPONENTS = np.geomspace(0.05, 2.0, 72)  # (C,)
MISFIT = 0.01  # of what a size is behind the last: how far the truth is from any law
FARTHER = 1.5  # power of how many times smaller than the last a size is: it tells so much less
DOUBT = 0.25  # of what is gained beyond the last size: how far that is from what is measured then
TRACE = 0.002  # of the figure: a rise that is none, whatever the errors say
APART = 2.0  # standard errors of a rise that is one
LOW, HIGH = 0.1, 0.9  # quantiles of an 80 % interval
GRID = 400  # sizes that are looked at for a crossing


@dataclass(frozen=True)
class Expected:
    """A figure that was not measured, with its 80 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Crossing:
    """From which size on a second model is ahead of a first, with its 80 % interval, and the share of
    draws in which it is ahead there at last."""

    at: float
    low: float
    high: float
    sure: float


@dataclass(frozen=True)
class Law:
    """One that was fitted. Row 0 is as measured, the others are as drawn."""

    sizes: np.ndarray  # (K,)
    points: np.ndarray  # (1 + R, K)
    parameters: np.ndarray  # (1 + R, 3) a, b and c
    spread: float  # of fits to other data as large as the last size
    least: float  # no figure is below

    def along(self, sizes: np.ndarray) -> np.ndarray:
        """(N,) sizes -> (1 + R, N) figures: between the sizes that were measured on straight lines in
        the logarithm of the size, beyond the last of them by the law."""
        a, b, c = (self.parameters[:, i, None] for i in range(3))
        logs, eye = np.log(self.sizes), np.eye(len(self.sizes))
        between = self.points @ np.stack([np.interp(np.log(sizes), logs, hat) for hat in eye])
        beyond = np.maximum(a + b * sizes**-c, self.least)
        return np.where(sizes > self.sizes[-1], beyond, between)

    def value(self, size: float) -> float:
        """The figure at a size."""
        return float(self.along(np.array([float(size)]))[0, 0])

    def predicted(self, size: float, test: float = 0.0) -> Expected:
        """What would be measured after a fit to so much data, more than the last size; `test` is the
        standard error of the figure by the chance in the test."""
        chance = np.random.default_rng(1).standard_normal(len(self.points) - 1)
        value = self.value(size)
        doubt = DOUBT * (self.points[0, -1] - value)
        noise = math.hypot(self.spread * math.sqrt(self.sizes[-1] / size), doubt, test)
        several = self.along(np.array([float(size)]))[1:, 0] + noise * chance
        low, high = np.quantile(several, [LOW, HIGH])
        within = [max(self.least, float(each)) for each in (value, low, high)]
        return Expected(within[0], min(within), max(within))


def fitted(
    sizes: Sequence[float], values: Sequence[float], errors: Sequence[float], least: float = 0.0
) -> Law:
    """The law of (K,) values with their standard errors, no floor below `least`."""
    if why := refused(sizes, values, errors):
        raise DataError(f"no law of diminishing returns: {why}")
    known, points, given = (np.asarray(each, float) for each in (sizes, values, errors))
    relative = known / known[-1]
    misfits = MISFIT * behind(points) * relative**-FARTHER
    off = np.maximum(np.hypot(given, misfits), 1e-9 + 1e-6 * np.abs(points))  # (K,)
    wider = inflation(relative, points, off, least)
    chance = np.random.default_rng(0).standard_normal((DRAWS, len(points)))
    drawn = np.vstack([points, points + wider * off * chance])
    found = least_squares(relative, drawn, off, least)
    found[:, 0] += drawn[:, -1] - found[:, :2].sum(1)  # it goes on from the last point
    found[:, 1] *= known[-1] ** found[:, 2]
    return Law(known, drawn, found, float(given[-1]), least)


def inflation(sizes: np.ndarray, points: np.ndarray, errors: np.ndarray, least: float) -> float:
    """How many times larger errors must be for what the law leaves over: at least once."""
    a, b, c = least_squares(sizes, points[None], errors, least)[0]
    left = (a + b * sizes**-c - points) / errors
    return max(1.0, math.sqrt(float((left**2).sum()) / max(1, len(points) - 3)))


def behind(values: np.ndarray) -> np.ndarray:
    """(K,) how far each size is behind the last, and the last behind what the step before it gained:
    what is still to be gained there, about."""
    step = max(0.0, float(values[-2] - values[-1]))
    return np.maximum(values - values[-1], 0.0) + step


def least_squares(
    sizes: np.ndarray, points: np.ndarray, errors: np.ndarray, least: float
) -> np.ndarray:
    """(K,) sizes, (R, K) points, (K,) errors -> (R, 3) a, b and c of the law nearest to each row."""
    weights = 1 / errors**2  # (K,)
    powers = sizes ** -EXPONENTS[:, None]  # (C, K)
    total = weights.sum()
    mean = powers @ weights / total  # (C,)
    centred = powers - mean[:, None]
    middle = points @ weights / total  # (R,)
    slope = points @ (centred * weights).T / (centred**2 @ weights)  # (R, C)
    b = np.maximum(slope, 0.0)
    a = middle[:, None] - b * mean
    below = a < least
    through = (points - least) @ (powers * weights).T / (powers**2 @ weights)  # the floor as given
    a, b = np.where(below, least, a), np.where(below, np.maximum(through, 0.0), b)
    off = a[..., None] + b[..., None] * powers - points[:, None]  # (R, C, K)
    best = (off**2 @ weights).argmin(1)
    rows = np.arange(len(points))
    return np.stack([a[rows, best], b[rows, best], EXPONENTS[best]], 1)


def refused(sizes: Sequence[float], values: Sequence[float], errors: Sequence[float]) -> str:
    """Why there is no law of these points, in words; "" where there is one."""
    if len(sizes) < LEAST_SIZES:
        return f"{len(sizes)} size{'s' * (len(sizes) != 1)} measured, {LEAST_SIZES} are needed"
    if not np.isfinite(values).all():
        return "some of the figures are infinite"
    for j in range(1, len(values)):
        for i in range(j):
            rise = values[j] - values[i]
            if rise > APART * math.hypot(errors[i], errors[j]) + TRACE * abs(values[i]):
                return f"it is worse with {sizes[j]:,.0f} than with {sizes[i]:,.0f}"
    return ""


def errors_of(sizes: Sequence[float], subsets: Sequence[Sequence[float]]) -> np.ndarray:
    """(K,) standard errors of the means of figures measured on several subsets of each size. Fits to
    other data of n elements spread as one over the root of n, so that the sizes with several tell
    about those with one."""
    known = np.asarray(sizes, float)
    pairs = [(n, values) for n, values in zip(known, subsets) if len(values) > 1]
    freedom = sum(len(values) - 1 for _, values in pairs)
    total = sum(n * float(np.var(values, ddof=1)) * (len(values) - 1) for n, values in pairs)
    each = total / max(1, freedom) / known  # (K,) variances of single fits
    return np.sqrt(each / np.array([len(values) for values in subsets]))


def crossing(
    first: Law, second: Law, up_to: float, apart: np.ndarray | None = None
) -> Crossing | None:
    """From which size on, at most `up_to`, the second is ahead of the first; None where the laws do
    not say so: it always was, or never is. `apart` are draws of how far chance in the test moves the
    difference between them."""
    sizes = np.geomspace(max(first.sizes[0], second.sizes[0]), up_to, GRID)
    ahead, *drawn = first.along(sizes) - second.along(sizes)  # (N,) each
    if ahead[0] >= 0 or ahead[-1] <= 0:
        return None
    differences = np.array(drawn) + doubted(first, sizes, 1) - doubted(second, sizes, 2)  # (R, N)
    if apart is not None:
        differences += np.resize(apart, len(differences))[:, None]
    crossed = differences[:, -1] > 0
    places = sizes[last_behind(differences[crossed])] if crossed.any() else sizes[-1:]
    low, high = np.quantile(places, [LOW, HIGH])
    at = float(sizes[last_behind(ahead[None])[0]])
    return Crossing(at, min(at, float(low)), max(at, float(high)), float(crossed.mean()))


def doubted(law: Law, sizes: np.ndarray, seed: int) -> np.ndarray:
    """(N,) sizes -> (R, N) how far off what the law promises beyond the last size may be."""
    chance = np.random.default_rng(seed).standard_normal(len(law.points) - 1)
    gained = np.where(sizes > law.sizes[-1], law.points[0, -1] - law.along(sizes)[0], 0.0)
    return DOUBT * gained * chance[:, None]


def last_behind(differences: np.ndarray) -> np.ndarray:
    """(R, N) how far ahead something is at growing sizes -> (R,) the last place at which it is not;
    the first place where there is none."""
    below = differences <= 0
    return np.where(below.any(1), differences.shape[1] - 1 - below[:, ::-1].argmax(1), 0)


# -- rivals, for the back-test alone
@dataclass(frozen=True)
class Rival:
    """A simpler guess with an interval."""

    middle: Any  # size -> value
    spread: float

    def predicted(self, size: float) -> Expected:
        """The guess, and an interval as wide as the steps so far."""
        value = float(self.middle(size))
        return Expected(value, value - self.spread, value + self.spread)


def last_value(sizes: Sequence[float], values: Sequence[float], width: float = 1.0) -> Rival:
    """More data change nothing; the interval is as wide as the last step, times `width`."""
    return Rival(lambda size: values[-1], width * abs(values[-1] - values[-2]))


def last_slope(sizes: Sequence[float], values: Sequence[float], width: float = 1.0) -> Rival:
    """It goes on as from the last size but one to the last, in the logarithm of the size; the interval
    is as wide as the last step, times `width`."""
    slope = (values[-1] - values[-2]) / math.log(sizes[-1] / sizes[-2])
    return Rival(
        lambda size: values[-1] + slope * math.log(size / sizes[-1]),
        width * abs(values[-1] - values[-2]),
    )
