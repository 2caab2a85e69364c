"""Several forecasters together: the weighted mean of what they say, level by level.

    Q(p) = sum_i w_i Q_i(p)        quantile functions averaged (Vincent 1912; Ratcliff 1979)

Unlike the mean of densities, which is wider than each of them where they disagree about the place,
the mean of quantiles is as wide as they are on average, wherever it lies. The weights are those of
least absolute error of the point forecast on validation data. Each part reads as much of a window as
it would by itself. Shapes: B rows, P context, H horizon, C channels, Q levels, M parts, N values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.errors import ConfigError
from seriatim.models.base import Model, State
from seriatim.models.mixture import Mixture, of_least_error
from seriatim.tasks.forecast.codec import known_in
from seriatim.tasks.forecast.models.network import ForecastNetwork
from seriatim.tasks.forecast.models.rules import Rule


class MeanOfForecasts(Mixture):
    """The weighted mean of what rules and networks say of the next steps."""

    draws_paths = False  # futures of different models are not added up

    def __init__(self, parts: Sequence[Model]):
        super().__init__(parts)
        kinds = [each for each in parts if isinstance(each, Rule | ForecastNetwork)]
        if len(kinds) < len(parts):
            raise TypeError("forecasts are mixed of forecasters")
        self.forecasters = kinds
        ahead = {(each.options.gap, each.options.horizon) for each in kinds}
        if len(ahead) > 1:
            raise ConfigError(
                "models are mixed that forecast the same steps",
                got=", ".join(f"{steps} after {gap}" for gap, steps in sorted(ahead)),
                do="Fit all with the same --horizon and --gap",
            )
        context = max(each.options.context for each in kinds)
        self.options = replace(kinds[0].options, context=context)
        self.hears = any(each.hears for each in kinds)

    @property
    def rests_on(self) -> int | None:
        """Errors of a step from which quantiles were taken, of the part that has the fewest."""
        rules = [each.rests_on for each in self.forecasters if isinstance(each, Rule)]
        return min((each for each in rules if each is not None), default=None)

    def reads(self, learned: int) -> int:
        """As many as the part that reads most."""
        return max(each.reads(learned) for each in self.forecasters)

    @torch.no_grad()
    def forecast(self, batch: Batch, paths: int, seed: int) -> tuple[Tensor, Tensor, None]:
        """Mean (B, H, C), quantiles (B, H, C, Q), and no paths."""
        said = [
            each.forecast(latest(batch, each.options.context), paths, seed)
            for each in self.forecasters
        ]
        mean = torch.stack([each[0].double() for each in said], -1)  # (B, H, C, M)
        quantiles = torch.stack([each[1].double() for each in said], -1)  # (B, H, C, Q, M)
        weights = self.log_weights.exp()
        return (mean @ weights).float(), (quantiles @ weights).float(), None

    @torch.no_grad()
    def loss(
        self, batch: Batch, state: State = None, smoothing: float = 0.0
    ) -> tuple[Tensor, State]:
        """The mean absolute error of what is judged: there is no density to take a logarithm of."""
        gap = self.options.gap
        wrong = (self.forecast(batch, 1, 0)[0] - batch.y)[:, gap:].abs()  # (B, H, C)
        return wrong.nansum() / (~wrong.isnan()).sum().clamp(min=1), ()

    def weigh(self, *opinions: Tensor) -> None:
        """The weights of least absolute error, from (N, M) point forecasts of (N,) held values."""
        said, truth = opinions
        self.log_weights = of_least_error(said, truth).log()


def latest(batch: Batch, context: int) -> Batch:
    """The same windows with no more than so much of their past."""
    before = batch.x.shape[1] - context
    if before <= 0:
        return batch
    return replace(
        batch,
        x=batch.x[:, before:],
        x_lengths=batch.x_lengths.clamp(max=context),
        known=known_in(batch)[:, before:],
    )


ForecastModel = Rule | ForecastNetwork | MeanOfForecasts
