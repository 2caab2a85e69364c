"""Steps in compiled code are the steps that torch takes."""

from __future__ import annotations

import copy
from itertools import chain

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from seriatim.batches import Batch, empty, prompts
from seriatim.decoding.decode import decode
from seriatim.decoding.options import DecodingOptions
from seriatim.layers import linear
from seriatim.layers.kernels import product
from seriatim.layers.stepping import plain
from seriatim.models.base import select
from seriatim.models.ladder import create
from tests.ladder import parts_of as parse

V = 40


def model_of(task: str = "language", **changes):
    torch.manual_seed(0)
    settings = {"layers": 2, "width": 32, "heads": 4, "context": 12, "dropout": 0.1} | changes
    sizes = (V,) if task == "language" else (V, V, 0, True)
    model = create(parse("transformer", settings, task), *sizes).eval()
    for each in model.parameters():
        torch.nn.init.normal_(each, 0.1, 0.3)  # gains and shifts, too, are not what they begin with
    return model


def both_ways(model, work):
    """What compiled code gives, then what torch gives."""
    found = []
    for quick in (True, False):
        model.quick = quick
        with torch.inference_mode():
            found.append(work())
    return found


@given(
    rows=st.integers(1, 19),
    inputs=st.integers(1, 70),
    outputs=st.integers(1, 9),
    biased=st.booleans(),
    seed=st.integers(0, 99),
)
@settings(max_examples=40, deadline=None)
def test_a_product_is_a_product_for_any_shape(rows, inputs, outputs, biased, seed):
    dice = np.random.default_rng(seed)
    x, w, b = (
        dice.standard_normal(shape, np.float32)
        for shape in ((rows, inputs), (outputs, inputs), (outputs if biased else 0,))
    )
    y = np.full((rows, outputs), np.nan, np.float32)
    product(x, w, b, y)
    assert np.allclose(y, x @ w.T + (b if biased else 0), atol=1e-4)


@pytest.mark.parametrize("rows", [1, 7])
def test_a_large_map_of_a_few_rows_is_torchs(rows, monkeypatch):
    monkeypatch.setattr(linear, "LARGE", 1)
    x, weight, bias = torch.randn(rows, 1, 24), torch.randn(50, 24), torch.randn(50)
    with torch.inference_mode():
        for given in (bias, None):
            assert torch.allclose(
                linear.linear(x, weight, given), F.linear(x, weight, given), atol=1e-5
            )


@pytest.mark.parametrize("rows", [1, 7, 21])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"norm": "rms", "feed_forward_activation": "gated"},
        {"positions": "learned", "feed_forward_activation": "gelu-tanh", "context": 40},
        {"positions": "sinusoidal", "score": "dot", "feed_forward_activation": "relu"},
    ],
)
def test_steps_are_those_of_torch_beyond_the_window_too(changes, rows):
    model, symbols = model_of(**changes), torch.randint(2, V, (rows, 30))
    assert all(map(plain, model.blocks))

    def walk():
        following, state = model.start(prompts(list(symbols[:, :5].numpy())))
        found = [following.log_probs()]
        for t in range(5, 30):
            following, state = model.step(symbols[:, t], state)
            found.append(following.log_probs())
        return torch.stack(found)

    compiled, usual = both_ways(model, walk)
    assert torch.allclose(compiled, usual, atol=1e-4)


def test_a_state_that_was_gone_on_from_can_be_gone_on_from_again():
    model = model_of()

    def walk():
        _, state = model.start(prompts([np.array([3, 4]), np.array([5, 6])]))
        first, later = model.step(torch.tensor([7, 8]), state)
        model.step(torch.tensor([9, 9]), later)
        again, _ = model.step(torch.tensor([7, 8]), state)
        turned, _ = model.step(torch.tensor([8, 7]), select(state, torch.tensor([1, 0])))
        return first.log_probs(), again.log_probs(), turned.log_probs().flip(0)

    for one, other in zip(*both_ways(model, walk), strict=True):
        assert torch.allclose(one, other, atol=1e-5)
    first, again, turned = walk()
    assert torch.allclose(first, again, atol=1e-5) and torch.allclose(first, turned, atol=1e-5)


@pytest.mark.parametrize("score", ["scaled", "dot"])
def test_a_translator_in_compiled_code_finds_the_same(score):
    model = model_of("translate", score=score, tied=True)
    x, lengths = torch.randint(2, V, (3, 7)), torch.tensor([7, 3, 5])
    batch = Batch(x, lengths, empty(3), empty(3).bool())
    compiled, usual = both_ways(
        model, lambda: decode(model, batch, DecodingOptions(length=9, beam=2, count=2), (1,))
    )
    for one, other in zip(chain(*compiled), chain(*usual), strict=True):
        assert one.symbols == other.symbols and one.log_prob == pytest.approx(
            other.log_prob, abs=1e-4
        )


def test_a_copy_of_a_model_steps_with_its_own_weights():
    model = model_of()
    model.quick = True
    with torch.inference_mode():
        _, state = model.start(prompts([np.array([3])]))
        before = model.step(torch.tensor([4]), state)[0].log_probs()
    other = copy.deepcopy(model)
    with torch.no_grad():
        for each in other.blocks.parameters():
            each.mul_(2)
    compiled, usual = both_ways(
        other,
        lambda: other.step(torch.tensor([4]), other.start(prompts([np.array([3])]))[1])[
            0
        ].log_probs(),
    )
    assert torch.allclose(compiled, usual, atol=1e-4) and not torch.allclose(
        compiled, before, atol=1e-2
    )


def test_what_compiled_code_does_not_know_is_left_to_torch():
    for changes in (
        {"score": "mlp"},
        {"score": "bilinear"},
        {"maps": False},
        {"norm_place": "after"},
        {"feed_forward": 0.0},
    ):
        assert not any(map(plain, model_of(**changes).blocks))
    small = model_of()
    assert not small.quick  # loading compiled code would take longer
    small.quantise()
    assert small.quick is False
