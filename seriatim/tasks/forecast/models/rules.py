"""Forecasts by rules: the ladder's floor for numbers, and often hard to beat.

    persistence      y_{T+h} = y_T                                    the last value
    seasonal         y_{T+h} = y_{T+h-kS}                             the value a season ago
    mean             y_{T+h} = mean of the context
    drift            y_{T+h} = y_T + h (y_T - y_{T-P+1}) / (P - 1)
    smoothing        level, trend and season, each a mean that forgets (Holt 1957, Winters 1960); the trend fades (Gardner and McKenzie 1985)
    autoregression   y_t = b + sum_k A_k y_{t-k} + noise              least squares, forecast step by step (Yule 1927)

What a rule is unsure of is what it got wrong before: the quantiles of its errors h steps ahead, on
the training data. Shapes: B rows, P context, H horizon, C channels, Q levels, N times.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numba import njit
from scipy.optimize import minimize
from torch import Tensor

from seriatim.batches import Batch
from seriatim.errors import DataError
from seriatim.models.base import Model
from seriatim.tasks.forecast.codec import Signals, of_windows
from seriatim.tasks.forecast.options import AutoregressionOptions, RuleOptions, SmoothingOptions

LEVELS = np.arange(1, 20) / 20  # of the quantiles that forecasts come with


CALM = 0.05  # what is added to the deviation of a window, lest one in which nothing happens outweighs all others


MOST = 4000  # windows of the training data on which errors are looked at


def origins_of(signals: Signals, horizon: int, least: int = 1) -> np.ndarray:
    """Every place of the series with at least so many values before it and a whole horizon after
    it."""
    offsets = signals.x.offsets - signals.x.offsets[0]
    return np.concatenate(
        [np.arange(begin + least, end - horizon + 1) for begin, end in pairwise(offsets)]
    )


class Rule(Model):
    """A forecast from a window, and its errors."""

    draws_paths = False  # whole futures, step by step; otherwise each step is said by itself

    def __init__(self, vocabulary: int, options: RuleOptions, known: int = 0, season: int = 1):
        self.vocabulary, self.options, self.known = vocabulary, options, known
        self.season = options.season or season
        self.errors = torch.zeros(options.horizon, vocabulary, len(LEVELS))  # (H, C, Q)

    # -- what differs
    def learn(self, signals: Signals) -> Iterator[dict[str, Any]]:
        """Whatever is to be learned besides the errors."""
        return iter(())

    def rule(self, batch: Batch) -> Tensor:
        """(B, P, C) pasts -> (B, H, C)."""
        raise NotImplementedError

    # -- the same for all
    def fitting(self, signals: Signals) -> Iterator[dict[str, Any]]:
        """Learn the rule, then how wrong it was at each horizon on the training data."""
        places = origins_of(signals, self.options.horizon)
        if not len(places):
            raise DataError(
                "the training data is too short",
                got=f"{len(signals.x.flat)} steps for a horizon of {self.options.horizon}",
                do="Give more, or a smaller --horizon",
            )
        yield from self.learn(signals)
        some = places[np.linspace(0, len(places) - 1, min(MOST, len(places))).astype(np.int64)]
        batch = of_windows(signals, some, self.options.context, self.options.horizon)
        wrong = (batch.y - self.rule(batch)).double()  # (W, H, C)
        self.errors = (
            torch.quantile(wrong, torch.from_numpy(LEVELS), 0).permute(1, 2, 0).float().contiguous()
        )
        yield {"words": "errors", "share": 1.0}

    @torch.no_grad()
    def forecast(self, batch: Batch, paths: int, seed: int) -> tuple[Tensor, Tensor, Tensor | None]:
        """Mean (B, H, C), quantiles (B, H, C, Q), and no paths."""
        mean = self.rule(batch)
        return mean, mean[..., None] + self.errors, None

    def arrays(self) -> dict[str, Tensor]:
        """The errors of the past, and what the rule learned besides."""
        return {"errors": self.errors} | self.learned()

    def learned(self) -> dict[str, Tensor]:
        """What the rule itself learned, by name."""
        return {}

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave; raises ValueError if it does not fit."""
        wanted = {name: (array.shape, array.dtype) for name, array in self.arrays().items()}
        if {name: (array.shape, array.dtype) for name, array in arrays.items()} != wanted:
            raise ValueError(f"arrays that do not fit: {', '.join(sorted(arrays))}")
        for name, array in arrays.items():
            setattr(self, name, array)


class Persistence(Rule):
    """The last value stays."""

    def rule(self, batch: Batch) -> Tensor:
        """(B, H, C) the last value of the past."""
        return batch.x[:, -1:].expand(-1, self.options.horizon, -1)


class SeasonalNaive(Rule):
    """The last season comes again."""

    def rule(self, batch: Batch) -> Tensor:
        """(B, H, C) the value a season ago."""
        season = min(self.season, batch.x.shape[1])
        return batch.x[:, batch.x.shape[1] - season + torch.arange(self.options.horizon) % season]


class Mean(Rule):
    """The mean of what is seen of the past."""

    def rule(self, batch: Batch) -> Tensor:
        """(B, H, C) the mean of the past."""
        return batch.x.mean(1, keepdim=True).expand(-1, self.options.horizon, -1)


class Drift(Rule):
    """The line through the first and the last value that are seen goes on."""

    def rule(self, batch: Batch) -> Tensor:
        """(B, H, C) the last value and the mean step, as often as there are steps."""
        slope = (batch.x[:, -1:] - batch.x[:, :1]) / max(1, batch.x.shape[1] - 1)
        return batch.x[:, -1:] + slope * torch.arange(1, self.options.horizon + 1)[:, None]


@njit(nogil=True, cache=True)
def smoothed(x, speeds, season):
    """(B, P) values -> level (B,), trend (B,) and season (B, S) at the end, and the mean squared
    error one step ahead."""
    alpha, beta, gamma, stay = speeds
    rows, time = x.shape
    level, trend, cycle, wrong = np.zeros(rows), np.zeros(rows), np.zeros((rows, season)), 0.0
    for row in range(rows):
        now = x[row, :season].mean()
        for place in range(season):
            cycle[row, place] = x[row, place] - now if season > 1 else 0.0
        slope = (
            (x[row, season : 2 * season].mean() - now) / season
            if season > 1 and time >= 2 * season
            else 0.0
        )
        for t in range(season, time):
            error = x[row, t] - (now + stay * slope + cycle[row, t % season])
            wrong += error * error
            now += stay * slope + alpha * error
            slope = stay * slope + alpha * beta * error
            if season > 1:
                cycle[row, t % season] += gamma * (1 - alpha) * error
        level[row], trend[row] = now, slope
    return level, trend, cycle, wrong / max(1, rows * (time - season))


class ExponentialSmoothing(Rule):
    """How fast each mean forgets is found for each channel, by its one-step errors on the training
    data."""

    options: SmoothingOptions

    def __init__(self, vocabulary: int, options: SmoothingOptions, known: int = 0, season: int = 1):
        super().__init__(vocabulary, options, known, season)
        self.speeds = torch.full(
            (vocabulary, 4), 0.1, dtype=torch.float64
        )  # of level, trend and season; how much of the trend stays

    def learn(self, signals: Signals) -> Iterator[dict[str, Any]]:
        """The speeds of each channel that leave the least one-step error on the training data."""
        season = self.in_season(self.options.context)
        for c in range(self.vocabulary):
            yield {"words": "smoothing", "share": c / self.vocabulary}
            rows = [
                signals.x.row(s)[-max(1000, 4 * season) :, c].astype(np.float64)
                for s in range(min(20, len(signals)))
            ]
            series = [row for row in rows if len(row) > max(2, 2 * season)]
            if not series:
                raise DataError(
                    "the training data is too short for this season",
                    got=f"{max(map(len, rows))} steps, a season of {season}",
                    do="Give more, or --seasonal false",
                )

            def cost(raw: np.ndarray, series: list[np.ndarray] = series) -> float:
                """What these weights cost on the past."""
                return float(
                    np.mean([smoothed(row[None], self.bounded(raw), season)[3] for row in series])
                )

            starts = ([0.0, -2.0, -1.0, 2.0], [-2.0, -4.0, -2.0, 2.0])
            best = min(
                (
                    minimize(
                        cost,
                        start,
                        method="Nelder-Mead",
                        options={"maxiter": 150, "xatol": 1e-2, "fatol": 1e-5},
                    )
                    for start in starts
                ),
                key=lambda found: found.fun,
            )
            self.speeds[c] = torch.from_numpy(self.bounded(best.x))

    def bounded(self, raw: np.ndarray) -> np.ndarray:
        """(4,) any numbers -> speeds between 0 and 1; without a trend its speed is 0."""
        speeds = 1 / (1 + np.exp(-np.clip(raw, -30, 30)))
        return speeds * np.array([1.0, float(self.options.trend), 1.0, 1.0])

    def in_season(self, context: int) -> int:
        """Steps of the season, 1 if there is none or not enough is seen of it."""
        return self.season if self.options.seasonal and context >= 2 * self.season else 1

    def rule(self, batch: Batch) -> Tensor:
        """(B, H, C) level, faded trend and season, smoothed over the past of each row."""
        x, horizon = batch.x.double().numpy(), self.options.horizon
        season, ahead = self.in_season(x.shape[1]), np.arange(1, horizon + 1)
        columns = []
        for c in range(self.vocabulary):
            speeds = self.speeds[c].numpy()
            level, trend, cycle, _ = smoothed(np.ascontiguousarray(x[..., c]), speeds, season)
            fading = np.cumsum(speeds[3] ** ahead)  # (H,)
            columns.append(
                level[:, None]
                + trend[:, None] * fading
                + cycle[:, (x.shape[1] - 1 + ahead) % season]
            )
        return torch.from_numpy(np.stack(columns, -1)).float()

    def learned(self) -> dict[str, Tensor]:
        """The speeds of each channel."""
        return {"speeds": self.speeds}


class Autoregression(Rule):
    """Unlike a rule without parameters it learns how much each of the last values says; and it
    draws whole paths, a step at a time."""

    draws_paths = True
    options: AutoregressionOptions

    def __init__(
        self, vocabulary: int, options: AutoregressionOptions, known: int = 0, season: int = 1
    ):
        super().__init__(vocabulary, options, known, season)
        inputs = options.order * (vocabulary if options.cross else 1)
        self.weights = torch.zeros(vocabulary, inputs + 1, dtype=torch.float64)  # the last is b
        self.noise = torch.zeros(
            vocabulary, vocabulary, dtype=torch.float64
        )  # a root of the covariance of the errors

    def learn(self, signals: Signals) -> Iterator[dict[str, Any]]:
        """Weights of the last values by least squares, and how far they were off."""
        yield {"words": "least squares", "share": 0.0}
        order, wrong = self.options.order, []
        places = origins_of(signals, 1, order)
        if len(places) <= self.weights.shape[1]:
            raise DataError(
                "the training data is too short for this order",
                got=f"{len(places)} steps, {self.weights.shape[1]} weights",
                do="Choose a smaller --order",
            )
        batch = of_windows(signals, places, order, 1)
        x, y = batch.x.double(), batch.y[:, 0].double()  # (N, P, C), (N, C)
        for c in range(self.vocabulary):
            table = self.table(x, c)
            self.weights[c] = torch.linalg.lstsq(table, y[:, c : c + 1], driver="gelsd").solution[
                :, 0
            ]
            wrong.append(y[:, c] - table @ self.weights[c])
        covariance = torch.cov(torch.stack(wrong)).reshape(self.vocabulary, -1)
        values, vectors = torch.linalg.eigh(covariance)
        self.noise = vectors * values.clamp(min=0).sqrt()

    def table(self, x: Tensor, c: int) -> Tensor:
        """(N, P, C) the last values -> (N, inputs + 1)."""
        heard = x.flatten(1) if self.options.cross else x[..., c]
        return torch.cat([heard, torch.ones(len(x), 1, dtype=x.dtype)], 1)

    def ahead(self, x: Tensor, noise: Tensor | None = None) -> Tensor:
        """(B, P, C) pasts, (B, H, C) errors to come -> (B, H, C)."""
        x, order = x.double()[:, -self.options.order :], self.options.order
        for h in range(self.options.horizon):
            following = torch.stack(
                [self.table(x[:, -order:], c) @ self.weights[c] for c in range(self.vocabulary)], 1
            )  # (B, C)
            x = torch.cat(
                [x, (following if noise is None else following + noise[:, h])[:, None]], 1
            )
        return x[:, order:]

    def rule(self, batch: Batch) -> Tensor:
        """(B, H, C) step by step, without noise."""
        return self.ahead(batch.x).float()

    @torch.no_grad()
    def forecast(self, batch: Batch, paths: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
        """Mean, quantiles and paths of each row, from noise that is drawn once for all of them."""
        generator = torch.Generator().manual_seed(seed)
        throws = (
            torch.empty(paths, self.options.horizon, self.vocabulary, dtype=torch.float64).normal_(
                generator=generator
            )
            @ self.noise.T
        )
        many = (
            self.ahead(batch.x.repeat_interleave(paths, 0), throws.repeat(len(batch.x), 1, 1))
            .float()
            .unflatten(0, (-1, paths))
        )  # (B, S, H, C)
        mean = self.rule(batch)
        return (
            mean,
            torch.quantile(many, torch.from_numpy(LEVELS).float(), 1).permute(1, 2, 3, 0),
            many,
        )

    def learned(self) -> dict[str, Tensor]:
        """The weights, and the noise."""
        return {"weights": self.weights, "noise": self.noise}
