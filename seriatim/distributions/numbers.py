"""Distributions of numbers, for forecasts and pen strokes. Unlike symbols they have a density, a
mean, quantiles and a distance to what happened.

    normal       p(y) = exp(-z^2 / 2) / (s sqrt(2 pi)),     z = (y - m) / s
    Student t    p(y) ~ (1 + z^2 / v)^(-(v + 1) / 2) / s
    mixture      p(y) = sum_m w_m prod_c normal(y_c; m_mc, s_mc)                  (Bishop 1994)
    strokes      p(y, state) = p(state) sum_m w_m normal(y; m_m, S_m)             (Graves 2013)
    quantiles    no density: values below which y lies with given probabilities   (Koenker 1978)

The distance is the continuous ranked probability score, which is the absolute error of a forecast
that is sure of itself:

    crps(F, y) = int (F(x) - [y <= x])^2 dx = E|X - y| - E|X - X'| / 2   (Gneiting and Raftery 2007)

A nan among the outcomes is a channel nobody has seen: `log_prob` is that of the others, `crps` is
nan there. Strokes have no gaps.
Shapes: ... any leading axes, C channels, M components, S states, Q levels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Self

import torch
from torch import Tensor

from seriatim.distributions.symbols import Categorical, Distribution
from seriatim.layers.devices import wide

HALVINGS = 60  # of the interval in which a quantile of a mixture lies


class Density(Distribution):
    """The interface, of outcomes (..., C). Parameters are tensors with the same leading axes, in
    the order of the constructor."""

    parameters: tuple[Tensor, ...]

    def mean(self) -> Tensor:
        """(..., C)."""
        raise NotImplementedError

    def quantile(self, levels: Tensor) -> Tensor:
        """(Q,) probabilities -> (..., C, Q) the numbers below which each channel lies with them,
        without gradients."""
        raise NotImplementedError

    def crps(self, y: Tensor) -> Tensor:
        """(..., C) outcomes -> (..., C), each channel by itself, in its own unit."""
        raise NotImplementedError

    def cooled(self, temperature: float) -> Density:
        """The same, sharper below 1 and flatter above: variances times the temperature, logits
        divided by it (Ha and Eck 2017)."""
        raise NotImplementedError

    def __getitem__(self, index: Any) -> Self:
        return type(self)(*(each[index] for each in self.parameters))

    @classmethod
    def concatenate(cls, parts: Sequence[Self], axis: int) -> Self:
        """Their parameters side by side."""
        return cls(
            *(
                torch.cat(column, axis)
                for column in zip(*(part.parameters for part in parts), strict=True)
            )
        )


def log_normal(y: Tensor, mean: Tensor, deviation: Tensor) -> Tensor:
    """Log-density of each number; 0 where y is nan."""
    z = (torch.where(y.isnan(), mean, y) - mean) / deviation
    return (-z * z / 2 - deviation.log() - math.log(2 * math.pi) / 2).masked_fill(y.isnan(), 0.0)


def expected_distance(mean: Tensor, deviation: Tensor) -> Tensor:
    """E|X| of a normal X."""
    z = mean / deviation
    return mean * torch.erf(z / math.sqrt(2)) + deviation * math.sqrt(2 / math.pi) * torch.exp(
        -z * z / 2
    )


class Normal(Density):
    """Each channel by itself."""

    def __init__(self, mean: Tensor, deviation: Tensor):
        self.parameters = self.location, self.deviation = mean, deviation  # (..., C) both

    def log_prob(self, y: Tensor) -> Tensor:
        """(..., C) numbers -> (...), summed over the channels."""
        return log_normal(y, self.location, self.deviation).sum(-1)

    @torch.no_grad()
    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        """(..., C) numbers drawn."""
        return self.location + self.deviation * torch.empty_like(self.location).normal_(
            generator=generator
        )

    def mean(self) -> Tensor:
        """(..., C) the location itself."""
        return self.location

    @torch.no_grad()
    def quantile(self, levels: Tensor) -> Tensor:
        """(Q,) -> (..., C, Q): the location and so many deviations."""
        return self.location[..., None] + self.deviation[..., None] * torch.special.ndtri(
            levels
        ).to(self.deviation.dtype)

    def crps(self, y: Tensor) -> Tensor:
        """In closed form."""
        return expected_distance(y - self.location, self.deviation) - self.deviation / math.sqrt(
            math.pi
        )

    def cooled(self, temperature: float) -> Normal:
        """With a smaller or larger deviation."""
        return Normal(self.location, self.deviation * math.sqrt(temperature))


def log_student(z: Tensor, freedom: Tensor) -> Tensor:
    """Log-density of each number at location 0 and scale 1."""
    v = wide(freedom)  # log-gammas of large numbers lie close to each other
    constant = torch.lgamma((v + 1) / 2) - torch.lgamma(v / 2) - torch.log(v * math.pi) / 2
    return constant.to(freedom.dtype) - (freedom + 1) / 2 * torch.log1p(z * z / freedom)


def by_scipy(function: Callable, *numbers: Tensor) -> Tensor:
    """A function of scipy.special on each number, without gradients."""
    return torch.as_tensor(
        function(*(each.detach().double().numpy() for each in numbers)), device="cpu"
    )


class StudentT(Density):
    """Each channel by itself, with tails as heavy as the degrees of freedom are few; the mean and
    the crps need more than 1."""

    def __init__(self, location: Tensor, scale: Tensor, freedom: Tensor):
        # (..., C) each
        self.parameters = self.location, self.scale, self.freedom = (location, scale, freedom)

    def log_prob(self, y: Tensor) -> Tensor:
        """(..., C) numbers -> (...), summed over the channels."""
        z = (torch.where(y.isnan(), self.location, y) - self.location) / self.scale
        return (log_student(z, self.freedom) - self.scale.log()).masked_fill(y.isnan(), 0.0).sum(-1)

    @torch.no_grad()
    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        """By polar coordinates (Bailey 1994): sqrt(v (u^(-2 / v) - 1)) cos(2 pi w) of two uniform
        numbers u, w."""
        shape, kind = (2, *self.location.shape), wide(self.location[:0]).dtype
        u, w = torch.rand(shape, generator=generator, dtype=kind, device=self.location.device)
        radius = torch.sqrt(self.freedom * torch.expm1(-2 / self.freedom * torch.log1p(-u)))
        return self.location + self.scale * (radius * torch.cos(2 * math.pi * w)).to(
            self.scale.dtype
        )

    def mean(self) -> Tensor:
        """(..., C) the location itself."""
        return self.location

    @torch.no_grad()
    def quantile(self, levels: Tensor) -> Tensor:
        """(Q,) -> (..., C, Q), by scipy."""
        from scipy.special import stdtrit  # type: ignore[import-untyped]  # has no stubs

        z = by_scipy(stdtrit, self.freedom[..., None], levels)  # (..., C, Q)
        return self.location[..., None] + self.scale[..., None] * z.to(self.scale.dtype)

    @torch.no_grad()
    def crps(self, y: Tensor) -> Tensor:
        """The closed form of Jordan, Krueger and Lerch (2019), without gradients."""
        from scipy.special import betaln, stdtr

        v, z = self.freedom.double(), ((y - self.location) / self.scale).double()
        spread = (
            by_scipy(lambda v: betaln(0.5, v - 0.5) - 2 * betaln(0.5, v / 2), v).exp() * v.sqrt()
        )
        found = z * (2 * by_scipy(stdtr, v, z) - 1) + 2 * (
            log_student(z, v).exp() * (v + z * z) - spread
        ) / (v - 1)
        return self.scale * found.to(self.scale.dtype)

    def cooled(self, temperature: float) -> StudentT:
        """With a smaller or larger scale."""
        return StudentT(self.location, self.scale * math.sqrt(temperature), self.freedom)


class MixtureDensity(Density):
    """A component is chosen for all channels together; within it they are normal and
    independent."""

    def __init__(self, logits: Tensor, means: Tensor, deviations: Tensor):
        # (..., M), (..., M, C), (..., M, C)
        self.parameters = self.logits, self.means, self.deviations = (logits, means, deviations)

    def log_prob(self, y: Tensor) -> Tensor:
        """(..., C) numbers -> (...)."""
        return self.mixed(log_normal(y[..., None, :], self.means, self.deviations).sum(-1))

    def mixed(self, log_prob: Tensor) -> Tensor:
        """(..., M) log-probabilities under each component -> (...)."""
        return torch.logsumexp(self.logits.log_softmax(-1) + log_prob, -1)

    @torch.no_grad()
    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        """(..., C): first a component, then numbers of it."""
        chosen = Categorical(self.logits).sample(generator)[..., None, None]
        means, deviations = (
            torch.take_along_dim(each, chosen, -2)[..., 0, :]
            for each in (self.means, self.deviations)
        )
        return Normal(means, deviations).sample(generator)

    def mean(self) -> Tensor:
        """(..., C) the mean of the components' means, as each counts."""
        return (self.logits.softmax(-1)[..., None] * self.means).sum(-2)

    @torch.no_grad()
    def quantile(self, levels: Tensor) -> Tensor:
        """By bisection: it lies between the lowest and the highest quantile of the components."""
        # (..., M, 1, 1)
        levels, weights = levels.double(), self.logits.double().softmax(-1)[..., None, None]
        # (..., M, C, 1)
        means, deviations = self.means.double()[..., None], self.deviations.double()[..., None]
        each = means + deviations * torch.special.ndtri(levels)  # (..., M, C, Q)
        low, high = each.amin(-3), each.amax(-3)  # (..., C, Q)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            below = (
                weights * torch.special.ndtr((middle[..., None, :, :] - means) / deviations)
            ).sum(-3) < levels
            low, high = torch.where(below, middle, low), torch.where(below, high, middle)
        return high.to(self.means.dtype)

    def crps(self, y: Tensor) -> Tensor:
        """The closed form of Grimit et al. (2006)."""
        weights = self.logits.softmax(-1)[..., None]  # (..., M, 1)
        # (..., C)
        away = (weights * expected_distance(y[..., None, :] - self.means, self.deviations)).sum(-2)
        (m, other_m), (s, other_s), (w, other_w) = (
            (x[..., None, :], x[..., None, :, :]) for x in (self.means, self.deviations, weights)
        )
        apart = (w * other_w * expected_distance(m - other_m, torch.hypot(s, other_s))).sum(
            (-3, -2)
        )
        return away - apart / 2

    def cooled(self, temperature: float) -> MixtureDensity:
        """Fewer components count, and each is narrower; or the other way round."""
        return MixtureDensity(
            self.logits / temperature, self.means, self.deviations * math.sqrt(temperature)
        )


class Strokes(MixtureDensity):
    """A move and what happens then: outcomes are (..., C + 1), how far each channel moves and the
    number of a state, such as whether a pen is lifted.

    Within a component the channels are correlated: y_c = m_c + d_c (z_c + sum_{k < c} t_ck z_k), z
    normal. Two channels with tilt t have the correlation t / sqrt(1 + t^2), which is never quite 1
    whatever t is. The state is a symbol: mean, quantile and crps are of the move alone.
    """

    def __init__(
        self, logits: Tensor, means: Tensor, scales: Tensor, tilts: Tensor, states: Tensor
    ):
        """(..., M), (..., M, C), (..., M, C), (..., M, C (C - 1) / 2) row after row, (..., S)."""
        wider = torch.stack(
            [1 + tilts[..., below(c)].square().sum(-1) for c in range(means.shape[-1])], -1
        )
        super().__init__(logits, means, scales * wider.sqrt())
        self.scales, self.tilts, self.states = scales, tilts, states
        self.parameters = logits, means, scales, tilts, states

    def log_prob(self, y: Tensor) -> Tensor:
        """(..., C + 1) moves and states -> (...)."""
        distance = (y[..., None, :-1] - self.means) / self.scales  # (..., M, C)
        z: list[Tensor] = []
        for c in range(distance.shape[-1]):
            z.append(distance[..., c] - tilted(self.tilts, c, z))
        square = sum(each * each for each in z)  # (..., M)
        moves = -square / 2 - self.scales.log().sum(-1) - math.log(2 * math.pi) * len(z) / 2
        return self.mixed(moves) + Categorical(self.states).log_prob(y[..., -1].long())

    @torch.no_grad()
    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        """(..., C + 1) moves and states."""
        chosen = Categorical(self.logits).sample(generator)[..., None, None]
        means, scales, tilts = (
            torch.take_along_dim(each, chosen, -2)[..., 0, :]
            for each in (self.means, self.scales, self.tilts)
        )
        z = torch.empty_like(means).normal_(generator=generator).unbind(-1)
        moves = means + scales * torch.stack(
            [each + tilted(tilts, c, z) for c, each in enumerate(z)], -1
        )
        return torch.cat(
            [moves, Categorical(self.states).sample(generator)[..., None].to(moves.dtype)], -1
        )

    def crps(self, y: Tensor) -> Tensor:
        """(..., C + 1) outcomes -> (..., C), of the move alone."""
        return super().crps(y[..., :-1])

    def cooled(self, temperature: float) -> Strokes:
        """The last state keeps its probability: it is the end, and what is cooled would never come
        to it."""
        states = self.states.log_softmax(-1)
        others = (states[..., :-1] / temperature).log_softmax(-1) + torch.logsumexp(
            states[..., :-1], -1, keepdim=True
        )
        return Strokes(
            self.logits / temperature,
            self.means,
            self.scales * math.sqrt(temperature),
            self.tilts,
            torch.cat([others, states[..., -1:]], -1),
        )


def below(c: int) -> slice:
    """Where the tilts of channel c against those before it stand."""
    return slice(c * (c - 1) // 2, c * (c + 1) // 2)


def tilted(tilts: Tensor, c: int, z: Sequence[Tensor]) -> Tensor | int:
    """What the channels before it say about channel c."""
    return sum(tilt * each for tilt, each in zip(tilts[..., below(c)].unbind(-1), z))


class Quantiles(Density):
    """The numbers below which each channel lies with increasing probabilities; values that cross
    are sorted (Chernozhukov et al. 2010).

    `log_prob` is no probability: minus it is twice the pinball loss, mean over levels and summed
    over channels, so that it is a loss like any other. For all else, quantiles between two levels
    lie on a line, and beyond the last ones stay where they are.
    """

    def __init__(self, levels: Tensor, values: Tensor):
        # (Q,), (..., C, Q)
        self.levels, self.values = levels.to(values.dtype), values.sort(-1).values

    def log_prob(self, y: Tensor) -> Tensor:
        """(..., C) numbers -> (...) minus the loss; see above."""
        return -self.crps(y).masked_fill(y.isnan(), 0.0).sum(-1)

    @torch.no_grad()
    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        """(..., C) numbers at random levels."""
        return self.at(torch.empty_like(self.values[..., :1]).uniform_(generator=generator))[..., 0]

    def mean(self) -> Tensor:
        """(..., C), each value as wide as its levels."""
        edges = torch.cat([-self.levels[:1], self.levels, 2 - self.levels[-1:]])
        # a value stands for half the way to its neighbours
        return (self.values * (edges[2:] - edges[:-2]) / 2).sum(-1)

    @torch.no_grad()
    def quantile(self, levels: Tensor) -> Tensor:
        """(N,) levels -> (..., C, N), on lines between those that are known."""
        return self.at(levels.expand(*self.values.shape[:-1], -1))

    def at(self, levels: Tensor) -> Tensor:
        """(..., C, N) levels -> (..., C, N) where each lies."""
        levels = levels.to(self.levels.dtype).contiguous()
        left = (torch.searchsorted(self.levels, levels, right=True) - 1).clamp(min=0)
        right = (left + 1).clamp(max=len(self.levels) - 1)
        gap = (self.levels[right] - self.levels[left]).clamp(min=1e-12)
        share = ((levels - self.levels[left]) / gap).clamp(0, 1)
        return torch.lerp(self.values.gather(-1, left), self.values.gather(-1, right), share)

    def crps(self, y: Tensor) -> Tensor:
        """Twice the pinball loss, mean over levels: with ever more of them, evenly spaced, the
        crps."""
        above = y[..., None] - self.values  # (..., C, Q)
        return 2 * torch.maximum(self.levels * above, (self.levels - 1) * above).mean(-1)

    def cooled(self, temperature: float) -> Quantiles:
        """The median stays, the others come nearer."""
        median = self.at(torch.full_like(self.values[..., :1], 0.5))  # (..., C, 1)
        return Quantiles(self.levels, median + (self.values - median) * math.sqrt(temperature))

    def __getitem__(self, index: Any) -> Self:
        return type(self)(self.levels, self.values[index])

    @classmethod
    def concatenate(cls, parts: Sequence[Self], axis: int) -> Self:
        """Their values side by side; all have the same levels."""
        return cls(parts[0].levels, torch.cat([part.values for part in parts], axis))


class Bins(Density):
    """Numbers sorted into intervals, as if they were symbols: softmax over them, flat within each.
    Outcomes beyond the ends count as the outermost."""

    def __init__(self, edges: Tensor, logits: Tensor):
        self.edges, self.logits = edges.to(logits.dtype), logits  # (V + 1,), (..., C, V)

    @property
    def widths(self) -> Tensor:
        """(V,) of all intervals."""
        return self.edges.diff()

    def place(self, y: Tensor) -> Tensor:
        """(..., C) numbers -> (..., C) the interval of each."""
        return torch.searchsorted(
            self.edges[1:-1].contiguous(), y.nan_to_num().contiguous(), right=True
        )

    def log_prob(self, y: Tensor) -> Tensor:
        """(..., C) numbers -> (...), summed over the channels."""
        place = self.place(y)
        found = (
            self.logits.log_softmax(-1).gather(-1, place[..., None])[..., 0]
            - self.widths.log()[place]
        )
        return found.masked_fill(y.isnan(), 0.0).sum(-1)

    @torch.no_grad()
    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        """(..., C): first an interval, then a place in it."""
        place = Categorical(self.logits).sample(generator)
        return self.edges[place] + self.widths[place] * torch.rand(
            place.shape, generator=generator, dtype=self.edges.dtype, device=place.device
        )

    def mean(self) -> Tensor:
        """(..., C) of the middles of the intervals."""
        return (self.logits.softmax(-1) * (self.edges[1:] + self.edges[:-1]) / 2).sum(-1)

    @torch.no_grad()
    def quantile(self, levels: Tensor) -> Tensor:
        """(Q,) -> (..., C, Q), on a line within an interval."""
        p = self.logits.softmax(-1)
        below = torch.cat([torch.zeros_like(p[..., :1]), p.cumsum(-1)], -1)  # (..., C, V + 1)
        asked = levels.to(p.dtype).expand(*p.shape[:-1], -1).contiguous()
        place = (torch.searchsorted(below.contiguous(), asked, right=True) - 1).clamp(
            0, p.shape[-1] - 1
        )
        share = (asked - below.gather(-1, place)) / p.gather(-1, place).clamp(min=1e-12)
        return self.edges[place] + self.widths[place] * share.clamp(0, 1)

    def crps(self, y: Tensor) -> Tensor:
        """By its quantiles, 99 of them."""
        levels = torch.arange(1, 100, device=y.device) / 100
        return Quantiles(levels, self.quantile(levels)).crps(y)

    def cooled(self, temperature: float) -> Bins:
        """With sharper or flatter probabilities of the intervals."""
        return Bins(self.edges, self.logits / temperature)

    def __getitem__(self, index: Any) -> Self:
        return type(self)(self.edges, self.logits[index])

    @classmethod
    def concatenate(cls, parts: Sequence[Self], axis: int) -> Self:
        """Their logits side by side; all have the same edges."""
        return cls(parts[0].edges, torch.cat([part.logits for part in parts], axis))


class Shifted(Density):
    """The same, moved by (..., C): what is said of a number is said of its distance from
    another."""

    def __init__(self, inner: Density, by: Tensor):
        self.inner, self.by = inner, by

    def log_prob(self, y: Tensor) -> Tensor:
        """(..., C) numbers -> (...), of what they were before."""
        return self.inner.log_prob(y - self.by)

    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        """(..., C) numbers, moved."""
        return self.inner.sample(generator) + self.by

    def mean(self) -> Tensor:
        """(..., C), moved."""
        return self.inner.mean() + self.by

    def quantile(self, levels: Tensor) -> Tensor:
        """(Q,) -> (..., C, Q), moved."""
        return self.inner.quantile(levels) + self.by[..., None]

    def crps(self, y: Tensor) -> Tensor:
        """(..., C) -> (..., C): a distance, which does not change."""
        return self.inner.crps(y - self.by)

    def cooled(self, temperature: float) -> Shifted:
        """What is moved is cooled."""
        return Shifted(self.inner.cooled(temperature), self.by)

    def __getitem__(self, index: Any) -> Self:
        return type(self)(self.inner[index], self.by[index])

    @classmethod
    def concatenate(cls, parts: Sequence[Self], axis: int) -> Self:
        """What is moved, and by how much, side by side."""
        return cls(
            type(parts[0].inner).concatenate([part.inner for part in parts], axis),
            torch.cat([part.by for part in parts], axis),
        )
