"""Weights in 8 bits: close to what they stand for, and no row hears its neighbours."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from seriatim import fit, load
from seriatim.batches import Batch, empty
from seriatim.data import read
from seriatim.errors import ConfigError
from seriatim.layers.int8 import Int8Linear
from seriatim.layers.recurrent import KERNELS, Stepwise
from seriatim.models.base import Model
from tests.ladder import RUNGS, VOCABULARY, random_rows, small_model


def test_a_map_in_8_bits_is_off_by_less_than_its_steps_allow():
    torch.manual_seed(0)
    x, linear = torch.randn(5, 7, 96), nn.Linear(96, 40)
    exact, rounded = linear(x).detach(), Int8Linear(linear.weight, linear.bias)(x)
    step = linear.weight.abs().amax(1) / 127 / 2  # (40,) largest error of a weight
    most = x.abs().amax(-1, keepdim=True)
    bound = (
        x.abs().sum(-1, keepdim=True) * step + (linear.weight.abs().sum(1) + 96 * step) * most / 63
    )  # an input is off by a whole step at most
    assert rounded.shape == exact.shape and ((rounded - exact).abs() <= bound).all()
    assert (rounded - exact).norm() < 0.03 * exact.norm()


def test_a_row_of_an_8_bit_map_does_not_hear_its_neighbours():
    torch.manual_seed(0)
    x, map8 = (
        torch.randn(16, 24) * torch.logspace(-3, 3, 16)[:, None],
        Int8Linear(torch.randn(9, 24), None),
    )
    x[3] = 0
    together = map8(x)
    for row in range(16):
        assert torch.equal(map8(x[row : row + 1])[0], together[row])
    assert torch.equal(together[3], torch.zeros(9))


@pytest.mark.parametrize("name", KERNELS)
def test_a_cell_written_out_is_torchs_own(name):
    torch.manual_seed(0)
    kernel, x, state = (
        KERNELS[name](6, 6, batch_first=True),
        torch.randn(3, 5, 6),
        torch.randn(1, 3, 6),
    )
    state = (state, torch.randn(1, 3, 6)) if name == "lstm" else state
    y, after = kernel(x, state)
    ours, ours_after = Stepwise.of(kernel)(x, state)
    assert torch.allclose(ours, y, atol=1e-6)
    for a, b in zip(
        ours_after if name == "lstm" else [ours_after],
        after if name == "lstm" else [after],
        strict=True,
    ):
        assert torch.allclose(a, b, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in RUNGS if "relu" not in name])
def test_a_model_in_8_bits_predicts_nearly_the_same(name):
    model, y = small_model(name), random_rows(6, 8)
    small: Model = copy.deepcopy(model)
    small.quantise()
    batch = Batch(
        empty(6), torch.zeros(6, dtype=torch.long), y, torch.ones_like(y, dtype=torch.bool)
    )
    with torch.inference_mode():
        p, q = (each.predict(batch).log_probs().exp() for each in (model, small))
    assert q.shape[-1] == VOCABULARY and torch.allclose(
        q.sum(-1), torch.ones(6, 8, dtype=q.dtype), atol=1e-4
    )
    assert (p - q).abs().mean() < 0.02
    if any(isinstance(part, nn.Linear) for part in getattr(model, "modules", list)()):
        assert not torch.equal(p, q)  # something was rounded


def test_a_run_in_8_bits_says_that_it_cannot_be_saved(tmp_path):
    fit("language", "lstm", read("markov:length=2000"), updates=2, width=8, out=tmp_path / "run")
    small = load(tmp_path / "run", int8=True)
    assert (
        small.generate(length=5, seed=1)
        and small.evaluate(read("markov:length=500"))["tokens"] == 500
    )
    with pytest.raises(ConfigError, match="8 bits"):
        small.save(tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_draft_from_a_run_folder_changes_nothing_and_must_know_the_same_symbols(tmp_path):
    data = read("markov:length=3000")
    valid = read("markov:length=500,seed=1")
    model = fit("language", "transformer", data, valid, updates=3, width=8, heads=2)
    draft = fit("language", "kneser-ney", data, valid, out=tmp_path / "counts")
    plain = model.text("ab", length=40, seed=2)
    assert model.text("ab", length=40, seed=2, draft=tmp_path / "counts") == plain
    assert (
        "".join(model.stream("ab", length=40, seed=2, draft=str(tmp_path / "counts"))) == plain
        and draft.spec == "kneser-ney"
    )
    fit("language", "unigram", read("brackets:length=300"), out=tmp_path / "other")
    with pytest.raises(ConfigError, match="other symbols"):
        model.generate("ab", draft=tmp_path / "other")
    with pytest.raises(ConfigError, match="search"):
        model.generate("ab", draft=tmp_path / "counts", beam=2)
