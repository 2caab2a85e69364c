"""Each mixer against a slow twin written from its equation."""
from __future__ import annotations

import math

import pytest
import torch

from seriatim.errors import ConfigError
from seriatim.layers.attention import Attention, rotate
from seriatim.layers.convolution import Convolution
from seriatim.layers.recurrent import Recurrent

B, T, D = 3, 9, 8


def inputs() -> torch.Tensor:
    torch.manual_seed(1)
    return torch.randn(B, T, D)


@torch.no_grad()
def test_rnn_is_its_equation():
    mixer, x = Recurrent("rnn", D), inputs()
    w, u = mixer.cell.weight_ih_l0, mixer.cell.weight_hh_l0
    b = mixer.cell.bias_ih_l0 + mixer.cell.bias_hh_l0
    h = torch.zeros(B, D)
    for t in range(T):
        h = torch.tanh(x[:, t] @ w.T + h @ u.T + b)
        assert torch.allclose(mixer(x, mixer.empty(B))[0][:, t], h, atol=1e-6)


@torch.no_grad()
def test_lstm_is_its_equation():
    mixer, x = Recurrent("lstm", D), inputs()
    h = c = torch.zeros(B, D)
    for t in range(T):
        z = x[:, t] @ mixer.cell.weight_ih_l0.T + h @ mixer.cell.weight_hh_l0.T + mixer.cell.bias_ih_l0 + mixer.cell.bias_hh_l0
        i, f, g, o = z.chunk(4, -1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
    y, (last, cell) = mixer(x, mixer.empty(B))
    assert torch.allclose(y[:, -1], h, atol=1e-6) and torch.allclose(last, h, atol=1e-6) and torch.allclose(cell, c, atol=1e-6)


@torch.no_grad()
def test_gru_is_its_equation():
    mixer, x = Recurrent("gru", D), inputs()
    h = torch.zeros(B, D)
    for t in range(T):
        a = x[:, t] @ mixer.cell.weight_ih_l0.T + mixer.cell.bias_ih_l0
        b = h @ mixer.cell.weight_hh_l0.T + mixer.cell.bias_hh_l0
        (ra, za, na), (rb, zb, nb) = a.chunk(3, -1), b.chunk(3, -1)
        z = (za + zb).sigmoid()
        h = (1 - z) * torch.tanh(na + (ra + rb).sigmoid() * nb) + z * h
    assert torch.allclose(mixer(x, mixer.empty(B))[1], h, atol=1e-6)


def test_an_lstm_starts_with_its_forget_gate_open():
    assert Recurrent("lstm", D).cell.bias_ih_l0[D:2 * D].eq(1).all()


@torch.no_grad()
@pytest.mark.parametrize("dilation", [1, 2, 4])
def test_convolution_is_its_sum(dilation):
    mixer, x = Convolution(D, 3, dilation), inputs()
    y, _ = mixer(x, mixer.empty(B))
    for t in range(T):
        z = mixer.weights.bias + sum(x[:, t - k * dilation] @ mixer.weights.weight[:, :, 2 - k].T for k in range(3) if t - k * dilation >= 0)
        assert torch.allclose(y[:, t], z[:, :D] * z[:, D:].sigmoid(), atol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("context", [1, 3, 64])
def test_attention_is_its_weighted_sum_over_the_window(context):
    mixer, x, heads = Attention(D, 2, context), inputs(), 2
    y, _ = mixer(x, mixer.empty(B))
    q, k, v = mixer.inward(x).view(B, T, 3, heads, D // heads).unbind(2)
    places = torch.arange(T).expand(B, T)
    q, k = rotate(q, places), rotate(k, places)
    for t in range(T):
        window = slice(max(0, t - context + 1), t + 1)
        weights = torch.softmax(torch.einsum("bhe,bshe->bsh", q[:, t], k[:, window]) / math.sqrt(D // heads), 1)
        expected = mixer.outward(torch.einsum("bsh,bshe->bhe", weights, v[:, window]).reshape(B, D))
        assert torch.allclose(y[:, t], expected, atol=1e-5)


def test_rotation_makes_scores_depend_on_distance_alone():
    torch.manual_seed(0)
    q, k = torch.randn(1, 1, 1, 8), torch.randn(1, 1, 1, 8)
    at = lambda place, x: rotate(x, torch.tensor([[place]]))
    assert torch.allclose((at(5, q) * at(2, k)).sum(), (at(105, q) * at(102, k)).sum(), atol=1e-4)
    assert not torch.allclose((at(5, q) * at(2, k)).sum(), (at(5, q) * at(3, k)).sum(), atol=1e-4)


def test_the_attention_state_never_grows_beyond_its_window():
    mixer, x = Attention(D, 2, 4), inputs()
    _, state = mixer(x, mixer.empty(B))
    assert state[0].shape[1] == 3


def test_a_width_that_heads_cannot_share_is_refused():
    with pytest.raises(ConfigError, match="width 10, heads 4"):
        Attention(10, 4, 8)
