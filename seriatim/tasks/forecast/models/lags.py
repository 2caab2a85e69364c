"""Features of the past and a regression on them: classic learning on series.

    y_{T+h} = y_T + w_h . features(x) + b_h        ridge: w = argmin |D (Y - X w)|^2 + s |w|^2, all horizons at once       Hoerl and Kennard 1970
                                                   D = 1, or 1 / deviation of each window                                  Aitken 1935
    y_{T+1} = y_T + sum of trees                   boosting: a step at a time, each forecast a value of the next           Friedman 2001

Unlike autoregression it looks at whatever features there are (lags, means, deviations, the
calendar), forecasts each horizon directly (ridge) or bends (trees), and what it learns does not
have to be true of every step. The last value is subtracted from all others first, so that a level
never seen before is no surprise. Shapes: B rows, P context, H horizon, C channels, K known inputs,
F features, N windows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.errors import DataError
from seriatim.tasks.forecast.codec import Signals, known_in, of_windows
from seriatim.tasks.forecast.features import past_features
from seriatim.tasks.forecast.models.rules import CALM, Rule, least_past, origins_of, parted, some_of
from seriatim.tasks.forecast.options import LagsOptions

STRENGTHS = 10.0 ** np.arange(-2, 6.5, 0.5)  # penalties that are tried


FEWEST = 10  # windows that something is learned from


JUDGED = 200  # windows on which penalties are judged, evenly spaced


MOST_LEARNED = 50_000  # windows that trees are learned from, evenly spaced


CHUNK = 4096  # windows at a time


LEAVES = 31


class LagsRidge(Rule):
    """One map for all channels, each heard by itself, or one for each."""

    options: LagsOptions
    hears = True

    def __init__(self, vocabulary: int, options: LagsOptions, known: int = 0, season: int = 1):
        super().__init__(vocabulary, options, known, season)
        features = options.context - (not known) + 4 * len(options.windows) + known * options.reach
        self.weights = torch.zeros(
            vocabulary if options.own else 1, features + 1, options.reach, dtype=torch.float64
        )

    def reads(self, learned: int) -> int:
        """The context, or what there was of it where it learned."""
        return min(self.options.context, learned)

    def features(self, batch: Batch, c: int) -> Tensor:
        """(B, P, C) -> (B, F + 1) of one channel, the last a one."""
        x = batch.x[..., c].double()
        last = x[:, -1:]
        parts = [x[:, :-1] - last] + (
            [last] if self.known else []
        )  # the level, where inputs may explain it
        if self.options.windows:
            parts.append(torch.from_numpy(past_features((x - last).numpy(), self.options.windows)))
        if self.known:
            parts.append(known_in(batch)[:, batch.x.shape[1] :].double().flatten(1))
        return torch.cat([*parts, torch.ones(len(x), 1, dtype=torch.float64)], 1)

    def fitting(self, signals: Signals) -> Iterator[dict[str, Any]]:
        """Weights for each channel, or one set for all, and the strength that leaves least error on
        the end of each series, where its errors are looked at, too."""
        reach, context = self.options.reach, self.options.context
        places = origins_of(signals, reach, least_past(signals, context, reach))
        early, late = parted(signals, places, reach)
        if len(early) < FEWEST or not len(late):
            raise DataError(
                "the training data is too short",
                got=f"{len(places)} windows, {len(early)} of which may be learned from, and {FEWEST} are needed",
                do="Give more, or a smaller --context or --horizon",
            )
        own = self.options.own
        every = list(range(self.vocabulary))
        groups = [[c] for c in every] if own else [every]
        whole = self.weights.clone()
        for number, channels in enumerate(groups):
            yield {"words": "least squares", "share": number / len(groups)}
            self.weights[number], whole[number] = self.solved_both(
                signals, places, early, late, channels
            )
        yield {"words": "errors", "share": 0.99}
        self.take_errors(signals, late)
        self.weights = whole

    def solved_both(
        self,
        signals: Signals,
        places: np.ndarray,
        early: np.ndarray,
        late: np.ndarray,
        channels: list[int],
    ) -> tuple[Tensor, Tensor]:
        """The weights by the early windows, with the strength that does best in the late ones, and
        with the same strength by all windows."""
        held, best = self.held(signals, late, channels), np.inf
        rest = np.setdiff1d(places, early, assume_unique=True)
        chosen: tuple[Tensor, Tensor] | None = None
        for weighed in (False,) if self.options.strength else (False, True):
            some, more = (self.products(signals, each, channels, weighed) for each in (early, rest))
            for strength in [self.options.strength] if self.options.strength else STRENGTHS:
                weights = solved(*some, strength)
                wrong = float((held[1] - held[0] @ weights).abs().mean())
                if wrong < best or chosen is None:
                    best = wrong
                    chosen = weights, solved(some[0] + more[0], some[1] + more[1], strength)
        assert chosen is not None
        return chosen

    def tables(
        self, signals: Signals, places: np.ndarray, channels: list[int]
    ) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Features (B, F + 1), what came relative to the last value (B, H), deviations (B, 1): of a
        channel and a few windows at a time."""
        for begin in range(0, len(places), CHUNK):
            batch = of_windows(
                signals, places[begin : begin + CHUNK], self.options.context, self.options.reach
            )
            for c in channels:
                past = batch.x[..., c].double()
                yield (
                    self.features(batch, c),
                    batch.y[..., c].double() - past[:, -1:],
                    past.std(1, keepdim=True, correction=0) + CALM,
                )

    def held(
        self, signals: Signals, places: np.ndarray, channels: list[int]
    ) -> tuple[Tensor, Tensor]:
        """Windows on which penalties are judged."""
        some = some_of(places, JUDGED)
        x, y, _ = zip(*self.tables(signals, some, channels), strict=True)
        return torch.cat(x), torch.cat(y)

    def products(
        self, signals: Signals, places: np.ndarray, channels: list[int], weighed: bool
    ) -> tuple[Tensor, Tensor]:
        """X^T X, X^T Y of all windows and channels, each window divided by its deviation or not."""
        square = cross = torch.zeros((), dtype=torch.float64)
        for x, y, deviation in self.tables(signals, places, channels):
            x, y = (x / deviation, y / deviation) if weighed else (x, y)
            square, cross = square + x.T @ x, cross + x.T @ y
        return square, cross

    def rule(self, batch: Batch) -> Tensor:
        """(B, H, C) the last value and what the features add to it at every horizon."""
        columns = [
            self.features(batch, c) @ self.weights[c if self.options.own else 0]
            + batch.x[:, -1:, c].double()
            for c in range(self.vocabulary)
        ]
        return torch.stack(columns, -1).float()  # (B, H, C)

    def learned(self) -> dict[str, Tensor]:
        """The weights of the features."""
        return {"weights": self.weights}


def solved(square: Tensor, cross: Tensor, strength: float) -> Tensor:
    """The ridge regression, (F + 1, H); the constant is not penalised."""
    penalty = torch.full((len(square),), float(strength), dtype=square.dtype)
    penalty[-1] = 1e-9
    found, wrong = torch.linalg.solve_ex(square + torch.diag(penalty), cross)
    return (
        found
        if not int(wrong) and found.isfinite().all()
        else torch.linalg.lstsq(square + torch.diag(penalty), cross, driver="gelsd").solution
    )


class LagsBoosting(Rule):
    """Trees of scikit-learn, kept as arrays. Each channel has its own."""

    options: LagsOptions
    hears = True

    def __init__(self, vocabulary: int, options: LagsOptions, known: int = 0, season: int = 1):
        super().__init__(vocabulary, options, known, season)
        nodes = options.trees * (2 * LEAVES - 1)
        self.trees = torch.zeros(
            vocabulary, nodes, 5, dtype=torch.float64
        )  # feature (-1: a leaf), threshold, left, right, value
        self.base = torch.zeros(vocabulary, dtype=torch.float64)

    def features(self, x: np.ndarray, known: np.ndarray) -> np.ndarray:
        """(B, P) values, (B, K) known inputs of the next step -> (B, F)."""
        moved = x - x[:, -1:]
        return np.concatenate([moved, past_features(moved, self.options.windows), known], 1)

    def fitting(self, signals: Signals) -> Iterator[dict[str, Any]]:
        """Trees for each channel, a step ahead: by the beginning of each series, to see how wrong
        they are on its end, and then by all of it."""
        places, far = origins_of(signals, 1), origins_of(signals, self.options.reach)
        early, _ = parted(signals, places, self.options.reach)
        _, late = parted(signals, far, self.options.reach)
        if len(early) < FEWEST or not len(late):
            raise DataError(
                "the training data is too short",
                got=f"{len(signals.x.flat)} steps for a horizon of {self.options.reach}",
                do="Give more, or a smaller --horizon",
            )
        yield from self.grown(signals, early, 0.0)
        self.take_errors(signals, late)
        yield from self.grown(signals, places, 0.5)

    def grown(self, signals: Signals, places: np.ndarray, share: float) -> Iterator[dict[str, Any]]:
        """Trees for each channel, by these windows."""
        from sklearn.ensemble import HistGradientBoostingRegressor

        some = some_of(places, MOST_LEARNED)
        batch = of_windows(signals, some, self.options.context, 1)
        self.trees, self.base = torch.zeros_like(self.trees), torch.zeros_like(self.base)
        x, y, known = (
            batch.x.double().numpy(),
            batch.y[:, 0].double().numpy(),
            known_in(batch)[:, -1].double().numpy(),
        )
        size = 2 * LEAVES - 1
        for c in range(self.vocabulary):
            yield {"words": "trees", "share": share + c / self.vocabulary / 2}
            model = HistGradientBoostingRegressor(
                max_iter=self.options.trees,
                max_leaf_nodes=LEAVES,
                early_stopping=False,
                random_state=0,
            )
            model.fit(self.features(x[..., c], known), y[:, c] - x[:, -1, c])
            self.base[c] = float(np.ravel(model._baseline_prediction)[0])
            for number, (tree,) in enumerate(model._predictors):
                nodes = tree.nodes
                columns = [
                    np.where(nodes["is_leaf"], -1, nodes["feature_idx"]),
                    *(nodes[name] for name in ("num_threshold", "left", "right", "value")),
                ]
                table = np.stack(columns, 1)
                self.trees[c, number * size : number * size + len(table)] = torch.from_numpy(
                    np.nan_to_num(table.astype(np.float64), posinf=1e300)
                )

    def answer(self, features: np.ndarray, c: int) -> np.ndarray:
        """(B, F) -> (B,): down every tree at once."""
        size = 2 * LEAVES - 1
        nodes = self.trees[c].numpy().reshape(self.options.trees, size, 5)
        at = np.zeros((len(features), self.options.trees), np.int64)  # (B, trees)
        trees, rows = np.arange(self.options.trees), np.arange(len(features))[:, None]
        for _ in range(size):
            here = nodes[trees, at]  # (B, trees, 5)
            feature = here[..., 0].astype(np.int64)
            inner = feature >= 0
            if not inner.any():
                break
            left = features[rows, np.maximum(feature, 0)] <= here[..., 1]
            at = np.where(inner, np.where(left, here[..., 2], here[..., 3]).astype(np.int64), at)
        return self.base[c].item() + nodes[trees, at][..., 4].sum(1)

    def rule(self, batch: Batch) -> Tensor:
        """(B, H, C) a step at a time, each forecast a value of the next."""
        x, known = batch.x.double().numpy(), known_in(batch).double().numpy()
        for h in range(self.options.reach):
            last = x[:, -self.options.context :]
            following = [
                last[:, -1, c]
                + self.answer(self.features(last[..., c], known[:, self.options.context + h]), c)
                for c in range(self.vocabulary)
            ]
            x = np.concatenate([x, np.stack(following, -1)[:, None]], 1)
        return torch.from_numpy(x[:, -self.options.reach :]).float()

    def learned(self) -> dict[str, Tensor]:
        """The trees as arrays, and where they begin."""
        return {"trees": self.trees, "base": self.base}
