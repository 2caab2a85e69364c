"""Heads: from hidden vectors to distributions of numbers.

    deviation = 1e-4 + softplus(a),  tilt = 20 tanh(a / 20),  freedom = 2 + softplus(a),  a = W h + b

One linear map makes all parameters; its parts are cut and bent to where they are allowed (Bishop
1994; Graves 2013; Salinas et al. 2020).
Shapes: ... any leading axes, D width, C channels, M components, S states, Q levels.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seriatim.distributions.numbers import (
    Bins,
    MixtureDensity,
    Normal,
    Quantiles,
    Strokes,
    StudentT,
)
from seriatim.errors import ConfigError
from seriatim.layers.linear import Linear


def positive(x: Tensor) -> Tensor:
    """Deviations: never so small that one lucky guess outweighs all others."""
    return F.softplus(x) + 1e-4


class NormalHead(nn.Module):
    """A mean and a deviation for each channel."""

    def __init__(self, width: int, channels: int):
        super().__init__()
        self.linear = Linear(width, 2 * channels)

    def forward(self, hidden: Tensor) -> Normal:
        """(..., D) -> (...) distributions of C numbers."""
        mean, deviation = self.linear(hidden).float().chunk(2, -1)  # (..., C) both
        return Normal(mean, positive(deviation))


class StudentHead(nn.Module):
    """More than 2 degrees of freedom, so that the variance is finite."""

    def __init__(self, width: int, channels: int):
        super().__init__()
        self.linear = Linear(width, 3 * channels)

    def forward(self, hidden: Tensor) -> StudentT:
        """(..., D) -> (...) distributions of C numbers."""
        location, scale, freedom = self.linear(hidden).float().chunk(3, -1)  # (..., C) each
        return StudentT(location, positive(scale), 2 + F.softplus(freedom))


class QuantileHead(nn.Module):
    """Levels are probabilities in increasing order."""

    levels: Tensor  # (Q,)

    def __init__(self, width: int, channels: int, levels: Sequence[float]):
        super().__init__()
        if not levels or not all(
            low < high for low, high in zip([0.0, *levels], [*levels, 1.0], strict=True)
        ):
            raise ConfigError(
                "Levels of quantiles lie between 0 and 1, each above the one before",
                got=levels,
                do="For instance 0.1 0.5 0.9",
            )
        self.linear = Linear(width, channels * len(levels))
        # known, not loaded: also in a model that is laid out without memory
        self.register_buffer("levels", torch.tensor(levels, device="cpu"), persistent=False)

    def forward(self, hidden: Tensor) -> Quantiles:
        """(..., D) -> (...) distributions of C numbers."""
        return Quantiles(
            self.levels, self.linear(hidden).float().unflatten(-1, (-1, len(self.levels)))
        )


class MixtureHead(nn.Module):
    """Several normals, and how much each counts."""

    def __init__(self, width: int, channels: int, components: int):
        super().__init__()
        self.sizes = components, components * channels, components * channels
        self.linear = Linear(width, sum(self.sizes))

    def forward(self, hidden: Tensor) -> MixtureDensity:
        """(..., D) -> (...) distributions of C numbers."""
        logits, *rest = self.linear(hidden).float().split(self.sizes, -1)
        # (..., M, C) both
        means, deviations = (each.unflatten(-1, (self.sizes[0], -1)) for each in rest)
        return MixtureDensity(logits, means, positive(deviations))


class BinHead(nn.Module):
    """Intervals of equal width from -reach to reach."""

    edges: Tensor  # (V + 1,) of V intervals

    def __init__(self, width: int, channels: int, bins: int, reach: float = 4.0):
        super().__init__()
        self.linear = Linear(width, channels * bins)
        # known, not loaded: also in a model that is laid out without memory
        edges = torch.linspace(-reach, reach, bins + 1, device="cpu")
        self.register_buffer("edges", edges, persistent=False)

    def forward(self, hidden: Tensor) -> Bins:
        """(..., D) -> (...) distributions of C numbers."""
        return Bins(
            self.edges, self.linear(hidden).float().unflatten(-1, (-1, len(self.edges) - 1))
        )


class StrokeHead(nn.Module):
    """Correlated normals for moves of any number of channels, and a state: a pen that is down or
    lifted, an end."""

    def __init__(self, width: int, channels: int, components: int, states: int):
        super().__init__()
        self.sizes = (
            components,
            components * channels,
            components * channels,
            components * (channels * (channels - 1) // 2),
            states,
        )
        self.linear = Linear(width, sum(self.sizes))

    def forward(self, hidden: Tensor) -> Strokes:
        """(..., D) -> (...) distributions of a move and a state."""
        logits, *rest, states = self.linear(hidden).float().split(self.sizes, -1)
        # (..., M, C) twice, (..., M, C (C - 1) / 2)
        means, scales, tilts = (each.unflatten(-1, (self.sizes[0], -1)) for each in rest)
        return Strokes(logits, means, positive(scales), 20 * torch.tanh(tilts / 20), states)


HEADS: dict[str, type[nn.Module]] = {
    "normal": NormalHead,
    "student": StudentHead,
    "quantiles": QuantileHead,
    "mixture": MixtureHead,
    "bins": BinHead,
    "strokes": StrokeHead,
}
