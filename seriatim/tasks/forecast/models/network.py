"""Networks that forecast: the stack of the language models between numbers.

    whole   h = blocks(x_1 .. x_P),   y_{P+1} .. y_{P+H} ~ head(A_1 h_P) .. head(A_H h_P)           the whole horizon at once
    step    y_{t+1} ~ head(h_t),      each value an input of the next                               drawn step by step, whole paths

Unlike `Network` what comes out is a density: normal, Student t, a mixture of normals, quantiles, or
bins, in which numbers are symbols. With `square` the mean alone is learned, by squared error;
deviations, one for each step of the horizon and each channel, are those of the errors on validation
data. Everything is said relative to the last value, or to the mean of the window and in units of
its deviation (Kim et al. 2022); with `linear`, also to a linear map of the past (Zeng et al. 2023),
which the network has only to correct. Channels are forecast each from its own past by the same
network (Nie et al. 2023), or all from the past of all. Shapes: B rows, P context, H horizon, C
channels, K known inputs, I channels of one row, R = B C / I rows, S paths, D width.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from seriatim.batches import Batch
from seriatim.distributions.heads import HEADS
from seriatim.distributions.numbers import Density, Normal, Shifted
from seriatim.layers.devices import dice, to
from seriatim.layers.linear import Linear
from seriatim.models.base import Model, State, select
from seriatim.models.network import Network
from seriatim.tasks.forecast.codec import known_in
from seriatim.tasks.forecast.models.rules import CALM, LEVELS
from seriatim.tasks.forecast.options import ForecastOptions

AHEAD = 64  # numbers that tell what is known of one step of the horizon, before its head


def at_home(density: Density) -> Density:
    """The same on the CPU, where scipy is."""
    found = density.home()
    assert isinstance(found, Density)
    return found


class Rescaled(Shifted):
    """The same in another unit, (..., C), then moved."""

    def __init__(self, inner: Density, by: Tensor, unit: Tensor):
        super().__init__(inner, by)
        self.unit = unit

    def log_prob(self, y: Tensor) -> Tensor:
        """The density of the inner unit, and the logarithm of the change of unit."""
        return self.inner.log_prob((y - self.by) / self.unit) - self.unit.log().masked_fill(
            y.isnan(), 0.0
        ).sum(-1)

    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        """A draw in the unit of the data."""
        return self.inner.sample(generator) * self.unit + self.by

    def mean(self) -> Tensor:
        """The mean in the unit of the data."""
        return self.inner.mean() * self.unit + self.by

    def quantile(self, levels: Tensor) -> Tensor:
        """The quantiles in the unit of the data."""
        return self.inner.quantile(levels) * self.unit[..., None] + self.by[..., None]

    def crps(self, y: Tensor) -> Tensor:
        """The CRPS in the unit of the data."""
        return self.inner.crps((y - self.by) / self.unit) * self.unit

    def cooled(self, temperature: float) -> Rescaled:
        """The inner distribution cooled, in the same unit."""
        return Rescaled(self.inner.cooled(temperature), self.by, self.unit)

    def __getitem__(self, index) -> Rescaled:
        return Rescaled(self.inner[index], self.by[index], self.unit[index])


class SquareHead(nn.Module):
    """With deviations of 1, as they are in training, minus the log-density is half the squared
    error."""

    def __init__(self, width: int, channels: int):
        super().__init__()
        self.linear = Linear(width, channels)

    def forward(self, hidden: Tensor) -> Normal:
        """(..., D) hidden vectors -> normals of deviation one, whose log-density is the squared
        error."""
        mean = self.linear(hidden).float()
        return Normal(mean, torch.ones_like(mean))


class ForecastNetwork(Network):
    """State, step by step: what is known of the future (R, H, K), how far it is (R,), which channel
    (R,), then the states of the blocks."""

    options: ForecastOptions
    deviation: Tensor | None
    hears = True  # what is known in advance

    def __init__(self, vocabulary: int, options: ForecastOptions, known: int = 0, season: int = 1):
        super().__init__(vocabulary, options)
        self.known, self.inner, width = (
            known,
            1 if options.channel_independent else vocabulary,
            options.width,
        )
        whole = options.strategy == "direct"
        # numbers are read by a linear map, in the place of a table
        self.add_module("embedding", nn.Linear(self.inner + known, width))
        self.output, self.bias = None, None
        self.ahead = Linear(width, options.reach * min(AHEAD, width)) if whole else None
        self.lags = nn.Linear(options.context, options.reach) if whole and options.linear else None
        if self.lags is not None:
            nn.init.zeros_(self.lags.weight)
            nn.init.zeros_(self.lags.bias)
        more = {
            "quantiles": {"levels": LEVELS.tolist()},
            "mixture": {"components": options.components},
            "bins": {"bins": options.bins},
        }
        head = HEADS.get(options.density, SquareHead)
        self.density = head(
            min(AHEAD, width) + known if whole else width,
            self.inner,
            **more.get(options.density, {}),
        )
        self.register_buffer(
            "deviation",
            torch.ones(options.reach if whole else 1, vocabulary) if head is SquareHead else None,
        )

    @property
    def draws_paths(self) -> bool:
        """Whether it draws whole futures step by step, rather than say each step by itself."""
        return self.options.strategy == "recursive"

    def reads(self, learned: int) -> int:
        """The context, or what there was of it where it learned."""
        return min(self.options.context, learned)

    # -- channels side by side, or each as a row of its own
    def fold(self, x: Tensor) -> Tensor:
        """(B, T, C) -> (R, T, I)."""
        return (
            x
            if self.inner == x.shape[-1] and not self.options.channel_independent
            else x.transpose(1, 2).reshape(-1, x.shape[1], 1)
        )

    def unfold(self, x: Tensor, channel: int) -> Tensor:
        """(R, ...) with I channels at one place of the shape -> (B, ...) with C there."""
        if not self.options.channel_independent:
            return x
        return x.select(channel, 0).unflatten(0, (-1, self.vocabulary)).movedim(1, channel)

    def repeated(self, known: Tensor) -> Tensor:
        """What is known in advance, a row for each channel where channels are read apart."""
        return (
            known.repeat_interleave(self.vocabulary, 0)
            if self.options.channel_independent
            else known
        )

    def channel(self, rows: int) -> Tensor:
        """(R,) which channel is the first of each row."""
        return torch.arange(rows, device=self.device) % (self.vocabulary // self.inner)

    def widened(self, density: Density, channel: Tensor) -> Density:
        """(R, T) densities, those of squared errors with the deviations that were found."""
        if self.deviation is None:
            return density
        deviation = self.deviation.unflatten(1, (-1, self.inner))[:, channel].transpose(
            0, 1
        )  # (R, H, I)
        mean = density.mean()
        return Normal(mean, deviation.expand_as(mean))

    # -- the whole horizon at once
    def level(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """(R, P, I) -> what is subtracted and in which unit the rest is said, (R, 1, I) both."""
        last = x[:, -1:]
        if self.options.normalise == "mean":
            return x.mean(1, keepdim=True), x.std(1, keepdim=True, correction=0) + CALM
        return last if self.options.normalise == "last" else torch.zeros_like(
            last
        ), torch.ones_like(last)

    def spread(self, batch: Batch) -> Density:
        """(R, H) densities of I channels."""
        x, known, context = self.fold(batch.x), self.repeated(known_in(batch)), batch.x.shape[1]
        level, unit = self.level(x)
        moved = (x - level) / unit
        hidden, _ = self.through(
            self.dropout(self.embedding(torch.cat([moved, known[:, :context]], -1))),
            self.empty(len(x)),
        )
        assert self.ahead is not None
        coming = self.ahead(hidden[:, -1]).unflatten(-1, (self.options.reach, -1))  # (R, H, AHEAD)
        density = self.widened(
            self.density(torch.cat([coming, known[:, context:]], -1)), self.channel(len(x))
        )
        return Rescaled(
            density,
            level
            if self.lags is None
            else level + unit * self.lags(moved.transpose(1, 2)).transpose(1, 2),
            unit,
        )

    # -- step by step
    def expected(
        self, inputs: Tensor, known: Tensor, channel: Tensor, state: State
    ) -> tuple[Density, State]:
        """(R, T, I) values, (R, T, K) what is known of the next steps, (R,) channels -> (R, T)
        densities of these."""
        hidden, state = self.through(
            self.dropout(self.embedding(torch.cat([inputs, known], -1))), state
        )
        return Shifted(self.widened(self.density(hidden), channel), inputs), state

    def start(self, batch: Batch) -> tuple[Density, State]:
        """The first step after the past of each row, and the state."""
        x, known, context = self.fold(batch.x), self.repeated(known_in(batch)), batch.x.shape[1]
        channel = self.channel(len(x))
        found, state = self.expected(x, known[:, 1 : context + 1], channel, self.empty(len(x)))
        return found[:, -1], (known[:, context:], torch.zeros_like(channel), channel, *state)

    def step(self, y: Tensor, state: State) -> tuple[Density, State]:
        """(R, I) values -> (R,) densities of the next."""
        known, place, channel, *inner = state
        after = (place + 1).clamp(max=known.shape[1] - 1)
        coming = known[torch.arange(len(y), device=y.device), after][:, None]  # (R, 1, K)
        found, inner = self.expected(y[:, None], coming, channel, tuple(inner))
        return found[:, 0], (known, after, channel, *inner)

    extend = Model.extend  # what is known of the future is looked up step by step

    # -- learning and asking
    def loss(
        self, batch: Batch, state: State = None, smoothing: float = 0.0
    ) -> tuple[Tensor, State]:
        """Mean negative log-density of a value; of quantiles, twice the mean pinball loss."""
        density, y = self.judged(batch)
        return -density.log_prob(y).sum() / (~y.isnan()).sum().clamp(min=1), ()

    def judged(self, batch: Batch) -> tuple[Density, Tensor]:
        """(R, T) densities and the (R, T, I) values that came: those of the horizon, or step by
        step all but the first."""
        y = self.fold(batch.y)
        if self.options.strategy == "direct":
            return self.spread(batch), y
        values = torch.cat([self.fold(batch.x), y], 1)  # (R, P + H, I)
        known, rows = self.repeated(known_in(batch))[:, 1:], len(values)
        return self.expected(
            values[:, :-1].nan_to_num(), known, self.channel(rows), self.empty(rows)
        )[0], values[:, 1:]

    @torch.no_grad()
    def settle(self, batches: Iterable[Batch]) -> None:
        """Learned by squared error, take the deviations from the errors on other data."""
        deviation, above = self.deviation, torch.special.ndtr(torch.ones(1, device="cpu"))
        assert deviation is not None
        count = torch.zeros((), dtype=torch.long, device="cpu")
        total = torch.zeros((), device="cpu")
        for there, came in (self.judged(to(batch, self.device)) for batch in batches):
            density, y = at_home(there), came.cpu()
            mean = density.mean()
            wrong = (y - mean) / (density.quantile(above)[..., 0] - mean)  # in deviations
            squares = self.unfold(wrong, 2).square()  # (B, T, C)
            total, count = total + squares.nansum(0), count + (~squares.isnan()).sum(0)
        if len(deviation) == 1:
            total, count = total.sum(0, keepdim=True), count.sum(0, keepdim=True)
        variance = torch.where(count > 0, total / count.clamp(min=1), 1.0)  # (H, C)
        deviation *= variance.sqrt().clamp(min=1e-4).to(deviation.device)

    @torch.no_grad()
    def forecast(self, batch: Batch, paths: int, seed: int) -> tuple[Tensor, Tensor, Tensor | None]:
        """Mean (B, H, C), quantiles (B, H, C, Q); step by step also paths (B, S, H, C); all on the
        CPU, wherever they are computed."""
        batch = to(batch, self.device)
        levels = torch.from_numpy(LEVELS).float()
        if self.options.strategy == "direct":
            density = at_home(self.spread(batch))
            return self.unfold(density.mean(), 2), self.unfold(density.quantile(levels), 2), None
        generator = dice(self.device, seed)
        following, state = self.start(batch)
        rows = len(batch.x) * (self.vocabulary if self.options.channel_independent else 1)
        many = torch.arange(rows, device=self.device).repeat_interleave(paths)
        following, state, columns = following[many], select(state, many), []
        for h in range(self.options.reach):
            columns.append(following.sample(generator))  # (R S, I)
            if h + 1 < self.options.reach:
                following, state = self.step(columns[-1], state)
        drawn = self.unfold(
            torch.stack(columns, 1).unflatten(0, (-1, paths)), 3
        ).cpu()  # (B, S, H, C)
        return drawn.mean(1), torch.quantile(drawn, levels, 1).permute(1, 2, 3, 0), drawn
