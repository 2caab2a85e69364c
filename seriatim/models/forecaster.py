"""Networks that forecast: the stack of the language models between numbers.

    whole   h = blocks(x_1 .. x_P),   y_{P+1} .. y_{P+H} ~ head(A_1 h_P) .. head(A_H h_P)           the whole horizon at once
    step    y_{t+1} ~ head(h_t),      each value an input of the next                               drawn step by step, whole paths

Unlike `Network` what comes out is a density: normal, Student t, a mixture of normals, quantiles, or bins, in which numbers are symbols. Everything is
said relative to the last value; with `linear`, also to a linear map of the past (Zeng et al. 2023), which the network has only to correct. Channels are
forecast each from its own past by the same network (Nie et al. 2023), or all from the past of all.
Shapes: B rows, P context, H horizon, C channels, K known inputs, I channels of one row, R = B C / I rows, S paths, D width.
"""
from __future__ import annotations

import torch
from torch import Tensor, nn

from seriatim.batches import Batch
from seriatim.config import ForecastOptions
from seriatim.densities import Density, Shifted
from seriatim.heads import HEADS
from seriatim.layers.linear import Linear
from seriatim.models.base import State, select
from seriatim.models.network import Network
from seriatim.models.rules import LEVELS

AHEAD = 64                                 # numbers that tell what is known of one step of the horizon, before its head


class Forecaster(Network):
    """State, step by step: what is known of the future (R, H, K), how far it is (R,), the last value (R, I), then the states of the blocks."""

    def __init__(self, vocabulary: int, options: ForecastOptions, known: int = 0, season: int = 1):
        super().__init__(vocabulary, options)
        self.known, self.inner, width = known, 1 if options.apart else vocabulary, options.width
        whole = options.way == "whole"
        self.embedding, self.output, self.bias = nn.Linear(self.inner + known, width), None, None
        self.ahead = Linear(width, options.horizon * min(AHEAD, width)) if whole else None
        self.lags = nn.Linear(options.context, options.horizon) if whole and options.linear else None
        if self.lags is not None:
            nn.init.zeros_(self.lags.weight)
            nn.init.zeros_(self.lags.bias)
        more = {"quantiles": {"levels": LEVELS.tolist()}, "mixture": {"components": options.components}, "bins": {"bins": options.bins}}
        self.density = HEADS[options.density](min(AHEAD, width) + known if whole else width, self.inner, **more.get(options.density, {}))

    # -- channels side by side, or each as a row of its own
    def fold(self, x: Tensor) -> Tensor:
        """(B, T, C) -> (R, T, I)."""
        return x if self.inner == x.shape[-1] and not self.options.apart else x.transpose(1, 2).reshape(-1, x.shape[1], 1)

    def unfold(self, x: Tensor, channel: int) -> Tensor:
        """(R, ...) with I channels at one place of the shape -> (B, ...) with C there."""
        if not self.options.apart:
            return x
        return x.select(channel, 0).unflatten(0, (-1, self.vocabulary)).movedim(1, channel)

    def repeated(self, known: Tensor) -> Tensor:
        return known.repeat_interleave(self.vocabulary, 0) if self.options.apart else known

    # -- the whole horizon at once
    def spread(self, batch: Batch) -> Density:
        """(R, H) densities of I channels."""
        x, known, context = self.fold(batch.x), self.repeated(batch.known), batch.x.shape[1]
        last = x[:, -1:]                                                             # (R, 1, I)
        moved = x - last
        hidden, _ = self.through(self.dropout(self.embedding(torch.cat([moved, known[:, :context]], -1))), self.empty(len(x)))
        coming = self.ahead(hidden[:, -1]).unflatten(-1, (self.options.horizon, -1))                              # (R, H, AHEAD)
        density = self.density(torch.cat([coming, known[:, context:]], -1))
        return Shifted(density, last + (0 if self.lags is None else self.lags(moved.transpose(1, 2)).transpose(1, 2)))

    # -- step by step
    def expected(self, inputs: Tensor, known: Tensor, state: State) -> tuple[Density, State]:
        """(R, T, I) values, (R, T, K) what is known of the next steps -> (R, T) densities of these."""
        hidden, state = self.through(self.dropout(self.embedding(torch.cat([inputs, known], -1))), state)
        return Shifted(self.density(hidden), inputs), state

    def start(self, batch: Batch) -> tuple[Density, State]:
        x, known, context = self.fold(batch.x), self.repeated(batch.known), batch.x.shape[1]
        found, state = self.expected(x, known[:, 1:context + 1], self.empty(len(x)))
        return found[:, -1], (known[:, context:], torch.zeros(len(x), dtype=torch.long), *state)

    def step(self, y: Tensor, state: State) -> tuple[Density, State]:
        """(R, I) values -> (R,) densities of the next."""
        known, place, *inner = state
        after = (place + 1).clamp(max=known.shape[1] - 1)
        coming = known[torch.arange(len(y)), after][:, None]                         # (R, 1, K)
        found, inner = self.expected(y[:, None], coming, tuple(inner))
        return found[:, 0], (known, after, *inner)

    # -- learning and asking
    def loss(self, batch: Batch, state: State = None, smoothing: float = 0.0) -> tuple[Tensor, State]:
        """Mean negative log-density of a value; of quantiles, twice the mean pinball loss."""
        y = self.fold(batch.y)
        if self.options.way == "whole":
            log_prob, count = self.spread(batch).log_prob(y), (~y.isnan()).sum()
        else:
            values = torch.cat([self.fold(batch.x), y], 1)                           # (R, P + H, I)
            found, _ = self.expected(values[:, :-1].nan_to_num(), self.repeated(batch.known)[:, 1:], self.empty(len(values)))
            log_prob, count = found.log_prob(values[:, 1:]), (~values[:, 1:].isnan()).sum()
        return -log_prob.sum() / count.clamp(min=1), ()

    @torch.no_grad()
    def forecast(self, batch: Batch, paths: int, seed: int) -> tuple[Tensor, Tensor, Tensor | None]:
        """Mean (B, H, C), quantiles (B, H, C, Q); step by step also paths (B, S, H, C)."""
        levels = torch.from_numpy(LEVELS).float()
        if self.options.way == "whole":
            density = self.spread(batch)
            return self.unfold(density.mean(), 2), self.unfold(density.quantile(levels), 2), None
        generator = torch.Generator().manual_seed(seed)
        following, state = self.start(batch)
        many = torch.arange(len(batch.x) * (self.vocabulary if self.options.apart else 1)).repeat_interleave(paths)
        following, state, columns = following[many], select(state, many), []
        for h in range(self.options.horizon):
            columns.append(following.sample(generator))                              # (R S, I)
            if h + 1 < self.options.horizon:
                following, state = self.step(columns[-1], state)
        drawn = self.unfold(torch.stack(columns, 1).unflatten(0, (-1, paths)), 3)    # (B, S, H, C)
        return drawn.mean(1), torch.quantile(drawn, levels, 1).permute(1, 2, 3, 0), drawn
