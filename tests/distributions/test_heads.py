"""From hidden vectors to distributions of numbers: the shapes, the bounds, and whether they learn."""

from __future__ import annotations

import pytest
import torch

from seriatim.distributions.heads import HEADS, QuantileHead
from seriatim.errors import ConfigError

D, LEVELS = 8, (0.1, 0.5, 0.9)
OPTIONS = {
    "normal": {"channels": 2},
    "student": {"channels": 2},
    "quantiles": {"channels": 2, "levels": LEVELS},
    "mixture": {"channels": 2, "components": 5},
    "bins": {"channels": 2, "bins": 40},
    "strokes": {"channels": 2, "components": 5, "states": 3},
}
EVERY = pytest.mark.parametrize("name", HEADS)


def made(name: str) -> torch.nn.Module:
    torch.manual_seed(0)
    return HEADS[name](D, **OPTIONS[name])


def outcomes(name: str, *leading: int) -> torch.Tensor:
    y = torch.randn(*leading, 2)
    return torch.cat([y, torch.randint(3, (*leading, 1))], -1) if name == "strokes" else y


@EVERY
def test_a_head_keeps_leading_axes_and_every_weight_is_heard(name):
    head, hidden = made(name), torch.randn(3, 5, D)
    density, y = head(hidden), outcomes(name, 3, 5)
    assert density.sample().shape == y.shape and density.crps(y).shape == density.mean().shape == (
        3,
        5,
        2,
    )
    density.log_prob(y).sum().backward()
    assert all((each.grad != 0).all() for each in head.parameters())
    assert torch.allclose(head(hidden[1]).mean(), density.mean()[1], atol=1e-6)


@EVERY
@pytest.mark.parametrize("size", [1e4, -1e4])
def test_hidden_vectors_of_any_size_give_finite_losses_and_gradients(name, size):
    head = made(name)
    hidden = torch.full((2, D), size, requires_grad=True)
    log_prob = head(hidden).log_prob(outcomes(name, 2))
    log_prob.sum().backward()
    assert torch.isfinite(log_prob).all() and torch.isfinite(hidden.grad).all()


def test_parameters_stay_where_they_are_allowed():
    hidden = 1e4 * torch.randn(100, D)
    assert made("normal")(hidden).deviation.min() >= 1e-4
    assert (
        made("student")(hidden).scale.min() >= 1e-4 and made("student")(hidden).freedom.min() >= 2
    )
    strokes = made("strokes")(hidden)
    assert strokes.scales.min() >= 1e-4 and 19 < strokes.tilts.abs().max() <= 20
    assert made("mixture")(hidden).deviations.min() >= 1e-4


@EVERY
def test_a_head_finds_the_numbers_it_is_shown(name):
    """Two hidden vectors, each with a cloud of its own; the crps shrinks to about what a deviation of 0.1 allows."""
    head, hidden = made(name), torch.eye(2, D).repeat(100, 1)
    y = 3 * hidden[:, :1].sign() * torch.tensor([1.0, -1.0]) + 0.1 * torch.randn(200, 2)
    y = torch.cat([y, hidden[:, :1]], 1) if name == "strokes" else y
    optimiser = torch.optim.Adam(head.parameters(), 0.05)
    for _ in range(300):
        optimiser.zero_grad()
        (-head(hidden).log_prob(y).mean()).backward()
        optimiser.step()
    assert head(hidden).crps(y).mean() < 0.1


@EVERY
def test_in_half_precision_parameters_are_whole_numbers_again(name, bfloat16):
    with torch.autocast("cpu", torch.bfloat16):
        density = made(name)(torch.randn(3, D))
    assert density.mean().dtype == torch.float32


@pytest.mark.parametrize(
    "levels", [(), (0.0, 0.5), (0.5, 1.0), (0.5, 0.5), (0.9, 0.1), (float("nan"),)]
)
def test_levels_out_of_order_or_of_range_are_refused(levels):
    with pytest.raises(ConfigError, match="between 0 and 1"):
        QuantileHead(D, 1, levels)
