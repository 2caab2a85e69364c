"""Forecasts by rules: the ladder's floor for numbers, and often hard to beat.

    persistence      y_{T+h} = y_T                                    the last value
    seasonal         y_{T+h} = y_{T+h-kS}                             the value a season ago
    mean             y_{T+h} = mean of the context
    drift            y_{T+h} = y_T + h (y_T - y_{T-P+1}) / (P - 1)
    autoregression   y_t = b + sum_k A_k y_{t-k} + noise              least squares, forecast step by step (Yule 1927)

What a rule is unsure of is what it got wrong before: the quantiles of its errors h steps ahead, of
several series in the unit of each; where there are too few of them, those of Student's t. A rule that learns much is too sure of what it learned from: it
learns from the beginning of the data first, and its errors are those on the rest. Shapes: B rows, P
context, H horizon, C channels, Q levels, N times, W windows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch, bounds_of
from seriatim.errors import DataError
from seriatim.models.base import Model
from seriatim.tasks.forecast.codec import Signals, judged_windows, of_windows
from seriatim.tasks.forecast.metrics import conformal_offsets, fewest_known
from seriatim.tasks.forecast.options import AutoregressionOptions, RuleOptions

# of the quantiles that forecasts come with
LEVELS = np.concatenate([[0.025], np.arange(1, 20) / 20, [0.975]])


HELD = 0.2  # share of the training windows of each series, the last, on which a rule is judged


CALM = 0.05  # what is added to the deviation of a window, lest one in which nothing happens outweighs all others


def origins_of(signals: Signals, horizon: int, least: int = 1) -> np.ndarray:
    """Every place of the series with at least so many values before it and a whole horizon after
    it."""
    offsets = signals.x.offsets - signals.x.offsets[0]
    return np.concatenate(
        [np.arange(begin + least, end - horizon + 1) for begin, end in pairwise(offsets)]
    )


def least_past(signals: Signals, context: int, horizon: int) -> int:
    """How many values lie before the first window that is learned from: a whole context where the
    series is long enough, half of it, or of most of several, where it is short."""
    return max(1, min(context, room_of(signals, horizon) // 2))


def room_of(signals: Signals, horizon: int) -> int:
    """How much of a past the last window of a series has, or of nearly all series."""
    lengths = signals.x.lengths
    return int(lengths.max() if len(signals) == 1 else np.quantile(lengths, 0.1)) - horizon


def parted(signals: Signals, places: np.ndarray, horizon: int) -> tuple[np.ndarray, np.ndarray]:
    """Windows of the beginning of each series, and those of its end, on which these are judged: what
    the former were to forecast is over before the latter begin."""
    begin, _ = bounds_of(signals.x, places)
    _, first, count = np.unique(begin, return_index=True, return_counts=True)
    number = np.arange(len(places)) - np.repeat(first, count)  # (W,) of each window in its series
    cut = np.maximum(1, (np.repeat(count, count) * (1 - HELD)).astype(np.int64))
    return places[number < cut - horizon], places[number >= cut]


def some_of(places: np.ndarray, most: int) -> np.ndarray:
    """At most so many of these places, evenly spaced."""
    return places[np.linspace(0, len(places) - 1, min(most, len(places))).astype(np.int64)]


def real_past(batch: Batch) -> Tensor:
    """(B, P) which values of the windows are real: the last so many of each."""
    context = batch.x.shape[1]
    return torch.arange(context) >= context - batch.x_lengths[:, None]


class Rule(Model):
    """A forecast from a window, and its errors."""

    draws_paths = False  # whole futures, step by step; otherwise each step is said by itself
    hears = False  # what is known in advance
    rests_on: int | None = None  # errors of a step, the fewest, when quantiles were taken from them
    windows_looked_at = 4000  # of the training data, on which errors are looked at

    def __init__(self, vocabulary: int, options: RuleOptions, known: int = 0, season: int = 1):
        self.vocabulary, self.options, self.known = vocabulary, options, known
        self.season = season
        self.errors = torch.zeros(options.reach, vocabulary, len(LEVELS))  # (H, C, Q)

    # -- what differs
    @property
    def needed(self) -> int:
        """How much of a past it takes to say all that it can."""
        return 1

    def reads(self, learned: int) -> int:
        """How many values of the past it takes for real; `learned`: so many had all the windows that
        could be learned from."""
        return min(self.needed, self.options.context)

    def learn(self, signals: Signals) -> Iterator[dict[str, Any]]:
        """Whatever is to be learned besides the errors."""
        return iter(())

    def rule(self, batch: Batch) -> Tensor:
        """(B, P, C) pasts -> (B, H, C)."""
        raise NotImplementedError

    # -- the same for all
    def fitting(self, signals: Signals) -> Iterator[dict[str, Any]]:
        """Learn the rule, then how wrong it was at each horizon on the training data."""
        places = origins_of(signals, self.options.reach)
        if not len(places):
            raise DataError(
                "the training data is too short",
                got=f"{len(signals.x.flat)} steps for a horizon of {self.options.reach}",
                do="Give more, or a smaller --horizon",
            )
        yield from self.learn(signals)
        yield {"words": "errors", "share": 0.99}
        self.take_errors(signals, places)

    def take_errors(self, signals: Signals, places: np.ndarray) -> None:
        """How wrong it is in these windows is how unsure it will be; those with little of a past say
        nothing of the others, and what was put into gaps says nothing at all."""
        begin, _ = bounds_of(signals.x, places)
        room = min(self.options.context, room_of(signals, self.options.reach))
        least = min(room, max(room // 2, self.needed))
        some = some_of(places[places - begin >= least], self.windows_looked_at)
        batch = judged_windows(signals, some, self.options.context, self.options.reach)
        wrong = (batch.y - self.rule(batch)).double().numpy()  # (W, H, C)
        self.errors = torch.from_numpy(conformal_offsets(wrong, LEVELS)).float()
        self.rests_on = None if self.draws_paths else fewest_known(wrong)

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
        return batch.x[:, -1:].expand(-1, self.options.reach, -1)


class SeasonalNaive(Rule):
    """The last season comes again."""

    def reads(self, learned: int) -> int:
        """A season."""
        return min(self.season, self.options.context)

    def rule(self, batch: Batch) -> Tensor:
        """(B, H, C) the value a season ago."""
        context = batch.x.shape[1]
        season = min(self.season, context)
        return batch.x[:, context - season + torch.arange(self.options.reach) % season]


class Mean(Rule):
    """The mean of what is seen of the past."""

    def rule(self, batch: Batch) -> Tensor:
        """(B, H, C) the mean of the past."""
        real = real_past(batch)[..., None]  # (B, P, 1)
        mean = (batch.x * real).sum(1, keepdim=True) / real.sum(1, keepdim=True)
        return mean.expand(-1, self.options.reach, -1)


class Drift(Rule):
    """The line through the first and the last value that are seen goes on."""

    def rule(self, batch: Batch) -> Tensor:
        """(B, H, C) the last value and the mean step, as often as there are steps."""
        steps = (batch.x_lengths - 1).clamp(min=1)[:, None, None]
        slope = (batch.x[:, -1:] - batch.x[:, :1]) / steps
        return batch.x[:, -1:] + slope * torch.arange(1, self.options.reach + 1)[:, None]


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

    def reads(self, learned: int) -> int:
        """As many as it weighs."""
        return min(self.options.order, self.options.context)

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
        covariance *= len(places) / (len(places) - self.weights.shape[1])  # what fitting took away
        values, vectors = torch.linalg.eigh(covariance)
        self.noise = vectors * values.clamp(min=0).sqrt()

    def table(self, x: Tensor, c: int) -> Tensor:
        """(N, P, C) the last values -> (N, inputs + 1)."""
        heard = x.flatten(1) if self.options.cross else x[..., c]
        return torch.cat([heard, torch.ones(len(x), 1, dtype=x.dtype)], 1)

    def ahead(self, x: Tensor, noise: Tensor | None = None) -> Tensor:
        """(B, P, C) pasts, (B, H, C) errors to come -> (B, H, C)."""
        x, order = x.double()[:, -self.options.order :], self.options.order
        for h in range(self.options.reach):
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
            torch.empty(paths, self.options.reach, self.vocabulary, dtype=torch.float64).normal_(
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
