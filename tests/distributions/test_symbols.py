"""Distributions that are not computed before they are asked."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim.distributions import symbols as distributions
from seriatim.distributions.symbols import Categorical, Readout, ranked


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("bias", [True, False])
def test_a_total_found_in_pieces_has_the_value_and_the_gradient_of_the_whole(
    bias, smoothing, monkeypatch
):
    monkeypatch.setattr(distributions, "FEW", 0)
    monkeypatch.setattr(distributions, "CELLS", 5 * 30)  # five rows at a time
    torch.manual_seed(0)
    h, w, b = torch.randn(4, 6, 8), torch.randn(30, 8), torch.randn(30) if bias else None
    y, weights = torch.randint(0, 30, (4, 6)), torch.rand(4, 6) * (torch.rand(4, 6) > 0.3)
    found = []
    for lazy in (False, True):
        leaves = [each.clone().requires_grad_() for each in (h, w, b) if each is not None]
        hidden, weight, rest = (*leaves, None)[:3]
        whole = (
            Readout(hidden, weight, rest)
            if lazy
            else Categorical(torch.nn.functional.linear(hidden, weight, rest))
        )
        value = whole.total(y, weights, smoothing)
        (3 * value).backward()
        found.append([value.detach(), *(each.grad for each in leaves)])
    for plain, pieces in zip(*found, strict=True):
        assert torch.allclose(plain, pieces, atol=1e-5)


def test_a_readout_is_indexed_and_joined_like_its_logits():
    torch.manual_seed(0)
    lazy = Readout(torch.randn(4, 6, 8), torch.randn(30, 8), torch.randn(30))
    whole = Categorical(lazy.logits)
    for index in (
        2,
        slice(1, 3),
        (slice(None), 0),
        torch.tensor([3, 0, 0]),
        (torch.tensor([1, 2]), torch.tensor([5, 0])),
        (slice(None), None, 1),
    ):
        assert torch.allclose(lazy[index].log_probs(), whole[index].log_probs(), atol=1e-6)
    both = Readout.concatenate([lazy[:, :1], lazy], 1)
    assert torch.allclose(
        both.log_probs(), Categorical.concatenate([whole[:, :1], whole], 1).log_probs(), atol=1e-6
    )


@given(
    rows=st.integers(1, 4),
    size=st.integers(1, 400),
    many=st.integers(1, 12),
    levels=st.integers(1, 60),
    double=st.booleans(),
    seed=st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_the_likeliest_are_those_of_a_stable_sort_with_equals_and_impossible_ones(
    rows, size, many, levels, double, seed
):
    dice = np.random.default_rng(seed)
    x = torch.from_numpy(
        dice.integers(-levels, levels + 1, (rows, size)).astype(
            np.float64 if double else np.float32
        )
        / 7
    )
    x += 1e-9 * torch.from_numpy(dice.integers(0, 3, x.shape)).to(
        x.dtype
    )  # what only doubles tell apart
    x[:, 1:][torch.from_numpy(dice.random((rows, size - 1)) < 0.2)] = -torch.inf
    for sorted_up_to in (0, 1000):  # compiled, and by torch
        distributions.SORTED, usual = sorted_up_to, distributions.SORTED
        try:
            values, symbols, total = ranked(x, many, normal=True)
            log_probs, _ = Categorical(x).best(many)
        finally:
            distributions.SORTED = usual
        order = np.argsort(-x.numpy(), 1, kind="stable")[:, :many]
        assert np.array_equal(symbols, order) and np.array_equal(
            values, np.take_along_axis(x.numpy(), order, 1)
        )
        assert np.allclose(total, torch.logsumexp(x, 1), atol=1e-5)
        assert np.allclose(
            log_probs, np.take_along_axis(torch.log_softmax(x, 1).numpy(), order, 1), atol=1e-5
        )
