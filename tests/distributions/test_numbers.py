"""Distributions of numbers: against torch and scipy, against numeric integrals, and far out."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some
from scipy import stats
from scipy.integrate import simpson

from seriatim.distributions.numbers import MixtureDensity, Normal, Quantiles, Strokes, StudentT

LEVELS = torch.tensor([0.05, 0.25, 0.5, 0.8, 0.99], dtype=torch.float64)
T = torch.linspace(
    0, 25, 4001, dtype=torch.float64
)  # sinh of it: dense near 0, and far enough for any tail


def made(
    name: str, *leading: int, channels: int = 2, seed: int = 0, spread: float = 1.0
) -> Normal | StudentT | MixtureDensity | Strokes | Quantiles:
    """One of each kind, of random parameters."""
    dice = torch.Generator().manual_seed(seed)

    def numbers(*shape: int) -> torch.Tensor:
        return spread * torch.randn(*leading, *shape, generator=dice, dtype=torch.float64)

    def mixture(channels: int) -> tuple[torch.Tensor, ...]:
        return numbers(3), 2 * numbers(3, channels), numbers(3, channels).exp()

    match name:
        case "normal":
            return Normal(numbers(channels), numbers(channels).exp())
        case "student":
            return StudentT(numbers(channels), numbers(channels).exp(), 2 + numbers(channels).exp())
        case "mixture":
            return MixtureDensity(*mixture(channels))
        case "strokes":
            return Strokes(
                *mixture(channels), numbers(3, channels * (channels - 1) // 2), numbers(4)
            )
        case "quantiles":
            return Quantiles(LEVELS, numbers(channels, len(LEVELS)))


def outcomes(name: str, *leading: int, channels: int = 2, seed: int = 1) -> torch.Tensor:
    """(..., C) what might have happened."""
    dice = torch.Generator().manual_seed(seed)
    y = torch.randn(*leading, channels, generator=dice, dtype=torch.float64)
    return (
        torch.cat([y, torch.randint(4, (*leading, 1), generator=dice)], -1)
        if name == "strokes"
        else y
    )


def cdf(density, channel: int):
    """The distribution function of a channel, by scipy; no leading axes."""
    if isinstance(density, Normal):
        return stats.norm(density.location[channel], density.deviation[channel]).cdf
    if isinstance(density, StudentT):
        return stats.t(
            density.freedom[channel], density.location[channel], density.scale[channel]
        ).cdf
    parts = stats.norm(density.means[:, channel].numpy(), density.deviations[:, channel].numpy())
    return lambda x: parts.cdf(np.asarray(x)[..., None]) @ density.logits.softmax(-1).numpy()


def repeated(density, count: int):
    return density[None][torch.zeros(count, dtype=torch.int64)]


def close(a, b, **within) -> bool:
    return torch.allclose(
        torch.as_tensor(a).double(),
        torch.as_tensor(b).double(),
        **{"rtol": 1e-9, "atol": 1e-9, **within},
    )


EVERY = pytest.mark.parametrize("name", ["normal", "student", "mixture", "strokes", "quantiles"])
GAPS = pytest.mark.parametrize("name", ["normal", "student", "mixture", "quantiles"])
SMOOTH = pytest.mark.parametrize("name", ["normal", "student", "mixture", "strokes"])


# Densities


def test_log_prob_is_that_of_torch():
    own = torch.distributions
    for name, twin in (
        ("normal", lambda d: own.Normal(d.location, d.deviation)),
        ("student", lambda d: own.StudentT(d.freedom, d.location, d.scale)),
    ):
        density, y = made(name, 5, 4), outcomes(name, 5, 4)
        assert close(density.log_prob(y), twin(density).log_prob(y).sum(-1))
    density, y = made("mixture", 5, 4), outcomes("mixture", 5, 4)
    parts = own.Independent(own.Normal(density.means, density.deviations), 1)
    assert close(
        density.log_prob(y),
        own.MixtureSameFamily(own.Categorical(logits=density.logits), parts).log_prob(y),
    )


@pytest.mark.parametrize("channels", [1, 2, 4])
def test_log_prob_of_strokes_is_that_of_scipy(channels):
    density, y = made("strokes", 6, channels=channels), outcomes("strokes", 6, channels=channels)
    for row, found in zip(range(6), density.log_prob(y), strict=True):
        one, p = density[row], 0.0
        for weight, mean, covariance in zip(
            one.logits.softmax(-1), one.means, covariances(one), strict=True
        ):
            p += weight * stats.multivariate_normal(mean, covariance).pdf(y[row, :-1])
        assert close(found, torch.log(p * one.states.softmax(-1)[int(y[row, -1])]))


def covariances(density: Strokes) -> torch.Tensor:
    """(M, C, C), from the tilts written as a matrix."""
    channels = density.means.shape[-1]
    tilt = torch.eye(channels, dtype=torch.float64).repeat(len(density.means), 1, 1)
    rows, columns = torch.tril_indices(channels, channels, -1)
    tilt[:, rows, columns] = density.tilts
    root = density.scales[..., None] * tilt
    return root @ root.transpose(1, 2)


@pytest.mark.parametrize("name", ["normal", "student", "mixture"])
def test_a_density_of_one_number_integrates_to_one(name):
    density, t = made(name, channels=1), torch.cat([-T.flip(0), T[1:]])
    whole = repeated(density, len(t)).log_prob(torch.sinh(t)[:, None]).exp() * torch.cosh(t)
    assert close(torch.trapezoid(whole, t), 1.0, atol=1e-6)


@pytest.mark.parametrize("name", ["mixture", "strokes"])
def test_a_density_of_two_numbers_integrates_to_one(name):
    density, t = made(name, seed=3), torch.linspace(-6, 6, 301, dtype=torch.float64)
    x = torch.cartesian_prod(torch.sinh(t), torch.sinh(t))  # (N, 2)
    states = (
        [torch.cat([x, torch.full((len(x), 1), float(state))], 1) for state in range(4)]
        if name == "strokes"
        else [x]
    )
    p = (
        sum(repeated(density, len(x)).log_prob(each).exp() for each in states).reshape(301, 301)
        * torch.cosh(t)
        * torch.cosh(t)[:, None]
    )
    assert close(torch.trapezoid(torch.trapezoid(p, t), t), 1.0, atol=1e-5)


@SMOOTH
def test_the_mean_is_that_of_the_distribution_function(name):
    density = made(name)
    for channel in range(2):
        below, above = (cdf(density, channel)(sign * T.sinh().numpy()) for sign in (-1, 1))
        mean = simpson(
            (1 - above - below) * T.cosh().numpy(), x=T.numpy()
        )  # int (1 - F(x)) - F(-x) dx
        assert close(density.mean()[channel], mean, atol=1e-3 if name == "student" else 1e-6)


# Samples


@EVERY
def test_the_same_seed_gives_the_same_numbers(name):
    density = made(name, 2, 3)
    first, again, other = (
        density.sample(torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)
    )
    assert first.shape == outcomes(name, 2, 3).shape and first.dtype == torch.float64
    assert first.equal(again) and not first.equal(other)


def drawn(density, count: int = 20000) -> torch.Tensor:
    """(count, C) samples."""
    return repeated(density, count).sample(torch.Generator().manual_seed(0))


@SMOOTH
def test_samples_follow_the_distribution_function(name):
    density = made(name, seed=2)
    y = drawn(density)
    for channel in range(2):
        assert stats.kstest(y[:, channel], cdf(density, channel)).pvalue > 1e-3


@pytest.mark.parametrize("name", ["mixture", "strokes"])
def test_channels_share_the_component_and_are_correlated_within_it(name):
    """The sum of both is again a mixture of normals."""
    density = made(name, seed=2)
    deviation = (
        covariances(density).sum((1, 2)).sqrt()
        if name == "strokes"
        else density.deviations.square().sum(-1).sqrt()
    )
    both = MixtureDensity(density.logits, density.means.sum(-1, keepdim=True), deviation[:, None])
    assert stats.kstest(drawn(density)[:, :2].sum(1), cdf(both, 0)).pvalue > 1e-3


def test_pens_are_drawn_by_their_probability():
    density = made("strokes")
    counts = drawn(density)[:, 2].long().bincount(minlength=4)
    assert stats.chisquare(counts, density.states.softmax(-1) * counts.sum()).pvalue > 1e-3


def test_samples_of_quantiles_lie_below_each_value_as_often_as_its_level_says():
    density = made("quantiles")
    y, place = drawn(density), torch.tensor([0.3, 0.7], dtype=torch.float64)
    assert (y >= density.values[:, 0]).all() and (y <= density.values[:, -1]).all()  # flat tails
    for x, level in ((density.values[:, :-1], LEVELS[:-1]), (density.quantile(place), place)):
        share = (y[..., None] <= x).double().mean(0)  # (C, levels)
        assert ((share - level).abs() < 4 * (level * (1 - level) / len(y)).sqrt()).all()


# Quantiles


@SMOOTH
@settings(max_examples=25, deadline=None)
@given(seed=some.integers(0, 2**32 - 1), spread=some.sampled_from([0.1, 1.0, 4.0]))
def test_quantiles_invert_the_distribution_function(name, seed, spread):
    density = made(name, seed=seed, spread=spread)
    found = density.quantile(LEVELS)
    assert found.shape == (2, len(LEVELS))
    for channel in range(2):
        assert close(cdf(density, channel)(found[channel].numpy()), LEVELS, atol=1e-7)


def test_quantiles_have_the_leading_axes_and_the_kind_of_numbers_of_the_distribution():
    for name in ("normal", "student", "mixture", "strokes", "quantiles"):
        density = made(name, 4, 3)
        found = density.quantile(LEVELS)
        assert found.shape == (4, 3, 2, len(LEVELS)) and (found.diff(dim=-1) > 0).all()
        assert close(found[1, 2], density[1, 2].quantile(LEVELS))
        single = (
            Quantiles(LEVELS, density.values.float())
            if name == "quantiles"
            else type(density)(*(each.float() for each in density.parameters))
        )
        assert (
            single.quantile(LEVELS).dtype
            == single.sample().dtype
            == single.crps(outcomes(name, 4, 3).float()).dtype
            == torch.float32
        )


def test_the_ends_of_a_normal_and_of_a_mixture_are_infinite():
    ends = torch.tensor([0.0, 1.0])
    for name in ("normal", "mixture"):
        assert made(name).quantile(ends).tolist() == [[-math.inf, math.inf]] * 2


@settings(max_examples=50, deadline=None)
@given(
    seed=some.integers(0, 2**32 - 1),
    kept=some.sets(some.sampled_from(range(len(LEVELS))), min_size=1),
)
def test_between_two_levels_quantiles_lie_on_a_line_whose_mean_is_the_mean(seed, kept):
    places = sorted(kept)
    whole = made("quantiles", seed=seed)
    density, u = (
        Quantiles(LEVELS[places], whole.values[:, places].flip(-1)),
        torch.linspace(0, 1, 20001, dtype=torch.float64),
    )
    for values, found, mean in zip(
        density.values, density.quantile(u), density.mean(), strict=True
    ):
        expected = np.interp(u, LEVELS[places], values)
        assert close(found, expected) and close(mean, np.trapezoid(expected, u), atol=1e-6)


# Scores


@SMOOTH
def test_the_closed_forms_of_the_crps_are_the_integral(name):
    for seed in range(5):
        density, y = made(name, seed=seed), outcomes(name, seed=seed)
        for channel in range(2):
            below, above = (
                cdf(density, channel)(float(y[channel]) + sign * T.sinh().numpy())
                for sign in (-1, 1)
            )
            expected = simpson((below**2 + (1 - above) ** 2) * T.cosh().numpy(), x=T.numpy())
            assert close(density.crps(y)[channel], expected, rtol=1e-6)


@EVERY
def test_the_crps_keeps_leading_axes(name):
    density, y = made(name, 4, 3), outcomes(name, 4, 3)
    found = density.crps(y)
    assert found.shape == (4, 3, 2) and close(found[2, 1], density[2, 1].crps(y[2, 1]))


def test_quantiles_are_scored_by_the_pinball_loss():
    density, y = made("quantiles", 3), outcomes("quantiles", 3)
    assert (density.values.diff(dim=-1) > 0).all()  # although they were random
    expected = [
        sum(
            2 * max(level * (y - v), (level - 1) * (y - v))
            for level, v in zip(LEVELS.tolist(), values, strict=True)
        )
        / len(LEVELS)
        for y, values in zip(
            y.flatten().tolist(), density.values.flatten(0, 1).tolist(), strict=True
        )
    ]
    assert close(density.crps(y).flatten(), torch.tensor(expected, dtype=torch.float64)) and close(
        density.log_prob(y), -density.crps(y).sum(-1)
    )


def test_with_many_levels_the_pinball_loss_is_the_crps():
    density, y, levels = (
        made("normal", 5),
        outcomes("normal", 5),
        (torch.arange(2000, dtype=torch.float64) + 0.5) / 2000,
    )
    assert close(Quantiles(levels, density.quantile(levels)).crps(y), density.crps(y), rtol=1e-3)


# Far out


def gradients(parameters: list[torch.Tensor], value) -> tuple[torch.Tensor, ...]:
    assert torch.isfinite(value).all()
    return torch.autograd.grad(value.sum(), parameters, materialize_grads=True)


@EVERY
@pytest.mark.parametrize("deviation", [1e-8, 1e-4, 1e6])
@pytest.mark.parametrize("far", [1e6, -1e6, 0.0])
def test_far_and_narrow_stays_finite_with_finite_gradients(name, far, deviation):
    density, y = made(name, 3), torch.full((3, 2), far)
    if name == "quantiles":
        parameters = [density.values.float()]
        rebuilt = lambda values: Quantiles(LEVELS, deviation * values)
    else:
        parameters = [each.float() for each in density.parameters]
        parameters[2 if name in ("mixture", "strokes") else 1].fill_(deviation)
        rebuilt = type(density)
    if name == "strokes":
        parameters[3] = torch.tensor([5.0, -5.0, 0.1]).expand(3, -1)[..., None].clone()
        y = torch.cat([y, torch.ones(3, 1)], 1)
    leaves = [each.requires_grad_() for each in parameters]
    density = rebuilt(*leaves)
    assert all(torch.isfinite(each).all() for each in gradients(leaves, density.log_prob(y)))
    assert torch.isfinite(density.crps(y)).all() and torch.isfinite(density.quantile(LEVELS)).all()


def test_a_mixture_of_far_apart_needles_has_exact_quantiles():
    density = MixtureDensity(
        torch.zeros(2), torch.tensor([[-1e6], [1e6]]), torch.full((2, 1), 1e-3)
    )
    assert close(
        density.quantile(torch.tensor([0.25, 0.75])), torch.tensor([[-1e6, 1e6]]), rtol=1e-7
    )


def test_student_t_with_many_degrees_of_freedom_is_normal():
    location, scale, y = torch.randn(3, 2), torch.rand(3, 2) + 0.5, torch.randn(3, 2)
    student, normal = StudentT(location, scale, torch.full((3, 2), 1e6)), Normal(location, scale)
    assert close(student.log_prob(y), normal.log_prob(y), atol=1e-4) and close(
        student.crps(y), normal.crps(y), atol=1e-4
    )


# Missing


@GAPS
def test_without_a_channel_log_prob_is_that_of_the_others(name):
    density, y = made(name, 3), outcomes(name, 3)
    if name == "quantiles":
        one = Quantiles(LEVELS, density.values[:, 1:])
    else:
        one = type(density)(
            *(
                each if each is getattr(density, "logits", None) else each[..., 1:]
                for each in density.parameters
            )
        )
    expected = one.log_prob(y[:, 1:2])
    y[:, 0] = math.nan
    assert close(density.log_prob(y), expected)
    assert density.crps(y).isnan().tolist() == [[True, False]] * 3


@GAPS
def test_what_is_missing_has_no_gradient_and_spoils_no_other(name):
    density, y = made(name, 2), outcomes(name, 2)
    y[0] = math.nan
    leaves = [
        each.clone().requires_grad_()
        for each in ([density.values] if name == "quantiles" else density.parameters)
    ]
    again = Quantiles(LEVELS, *leaves) if name == "quantiles" else type(density)(*leaves)
    log_prob = again.log_prob(y)
    assert log_prob[0] == 0
    for each in gradients(leaves, log_prob):
        assert (
            torch.isfinite(each).all() and each[0].abs().max() < 1e-12 and each[1].abs().max() > 0
        )


# Cooling, cutting, joining


@EVERY
def test_cooled_at_one_is_the_same(name):
    density, y = made(name, 4), outcomes(name, 4)
    assert close(density.cooled(1.0).log_prob(y), density.log_prob(y)) and close(
        density.cooled(1.0).crps(y), density.crps(y)
    )


@EVERY
def test_samples_of_what_was_cooled_stand_near_a_mode(name):
    density = made(name, seed=4)
    y = drawn(density.cooled(0.01), 500)
    if name in ("mixture", "strokes"):
        best = density.logits.argmax()
        mode, width = density.means[best], density.deviations[best]
    else:
        mode, width = density.quantile(LEVELS)[:, 2], density.quantile(LEVELS).diff(dim=-1).sum(-1)
    assert ((y[:, :2] - mode).abs() < width).all()
    if name == "strokes":
        ended = y[:, 2] == 3
        assert (y[~ended, 2] == density.states[:3].argmax()).all()
        assert abs(float(ended.double().mean() - density.states.softmax(-1)[3])) < 0.1


@EVERY
def test_a_hotter_distribution_is_as_much_wider_as_the_root_of_the_temperature(name):
    density, levels = made(name, seed=5), torch.tensor([0.25, 0.75], dtype=torch.float64)
    if name in ("mixture", "strokes"):
        density = type(density)(
            *(each[:1] if i < 4 else each for i, each in enumerate(density.parameters))
        )  # one component
    cool, hot = (each.quantile(levels).diff(dim=-1) for each in (density, density.cooled(9.0)))
    assert close(hot, 3 * cool)


@EVERY
def test_densities_are_indexed_and_joined_like_their_log_probs(name):
    whole, y = made(name, 4, 6), outcomes(name, 4, 6)
    log_prob = whole.log_prob(y)
    for index in (
        2,
        slice(1, 3),
        (slice(None), 0),
        torch.tensor([3, 0, 0]),
        (torch.tensor([1, 2]), torch.tensor([5, 0])),
        (slice(None), None, 1),
    ):
        assert close(whole[index].log_prob(y[index]), log_prob[index])
    both = type(whole).concatenate([whole[:, :1], whole], 1)
    assert close(
        both.log_prob(torch.cat([y[:, :1], y], 1)), torch.cat([log_prob[:, :1], log_prob], 1)
    )
