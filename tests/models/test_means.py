"""Weights of least error, and means of normals."""

from __future__ import annotations

import pytest
import torch

from seriatim.distributions.numbers import Normal
from seriatim.models.base import Model
from seriatim.models.mixture import MeanOfNormals, of_least_error


class Said(Model):
    """One normal, whatever it is asked."""

    vocabulary = 1

    def __init__(self, mean: float, deviation: float):
        self.normal = Normal(torch.tensor([[[mean]]]), torch.tensor([[[deviation]]]))

    def unroll(self, batch, state=None):
        return self.normal, ()

    def arrays(self):
        return {}

    def load_arrays(self, arrays):
        pass


def test_weights_of_least_error_are_found_on_the_simplex():
    generator = torch.Generator().manual_seed(0)
    said = torch.randn(4000, 3, generator=generator)
    truth = said @ torch.tensor([0.2, 0.7, 0.1])
    assert torch.allclose(
        of_least_error(said, truth), torch.tensor([0.2, 0.7, 0.1]).double(), atol=0.02
    )
    outside = said @ torch.tensor([1.5, -0.5, 0.0])  # the best that sums to one without a minus
    found = of_least_error(said, outside)
    assert found[0] > 0.95 and abs(float(found.sum()) - 1) < 1e-9


def test_a_grid_finds_nothing_better():
    generator = torch.Generator().manual_seed(1)
    said, truth = torch.randn(300, 2, generator=generator), torch.randn(300, generator=generator)
    truth[::7] = torch.nan  # what is not known is left out
    found = of_least_error(said, truth)
    errors = [
        float((said.double() @ torch.tensor([w, 1 - w]).double() - truth).abs().nanmean())
        for w in torch.linspace(0, 1, 201).tolist()
    ]
    own = float((said.double() @ found - truth).abs().nanmean())
    assert own <= min(errors) + 1e-4


def test_a_mean_of_normals_has_the_spread_of_the_mixture_and_its_factor():
    mixed = MeanOfNormals([Said(0.0, 1.0), Said(4.0, 2.0)])
    said = mixed.unroll(None)[0]
    assert float(said.mean()) == pytest.approx(2.0)
    assert float(said.deviation) ** 2 == pytest.approx(0.5 * (1 + 4) + 4.0)
    means = torch.tensor([[0.0, 4.0]]).repeat(100, 1)
    truth = torch.full((100,), 1.0)
    truth[::2] += 0.1
    truth[1::2] -= 0.1
    mixed.weigh(means, torch.tensor([[1.0, 2.0]]).repeat(100, 1), truth)
    assert mixed.weights() == pytest.approx([0.75, 0.25], abs=0.05)
    z = (truth - mixed.unroll(None)[0].mean()) / mixed.unroll(None)[0].deviation
    assert float(z.square().mean()) == pytest.approx(1.0, rel=1e-3)  # as wide as it is wrong


def test_its_arrays_come_back_and_others_are_refused():
    mixed = MeanOfNormals([Said(0.0, 1.0), Said(4.0, 2.0)])
    kept = {name: array.clone() + 1 for name, array in mixed.arrays().items()}
    mixed.load_arrays(kept)
    assert float(mixed.log_scale) == 1.0
    with pytest.raises(ValueError, match="log_scale"):
        mixed.load_arrays({name: each for name, each in kept.items() if name != "log_scale"})
