"""Each mixer against a slow twin written from its equation."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from seriatim.batches import of_lines
from seriatim.errors import ConfigError
from seriatim.layers.attention import Attention
from seriatim.layers.convolution import Convolution
from seriatim.layers.dropout import Dropout
from seriatim.layers.linear import linear
from seriatim.layers.positions import Places, rotate, turn
from seriatim.layers.recurrent import Recurrent
from seriatim.models.ladder import create
from seriatim.models.ngrams.ngram import Markov
from seriatim.models.ngrams.options import MarkovOptions
from seriatim.tasks.language.models.bigram import Bigram
from seriatim.tasks.language.options import BigramOptions
from tests.conftest import symbols
from tests.ladder import parts_of as parse

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
        z = (
            x[:, t] @ mixer.cell.weight_ih_l0.T
            + h @ mixer.cell.weight_hh_l0.T
            + mixer.cell.bias_ih_l0
            + mixer.cell.bias_hh_l0
        )
        i, f, g, o = z.chunk(4, -1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
    y, (last, cell) = mixer(x, mixer.empty(B))
    assert (
        torch.allclose(y[:, -1], h, atol=1e-6)
        and torch.allclose(last, h, atol=1e-6)
        and torch.allclose(cell, c, atol=1e-6)
    )


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
    assert Recurrent("lstm", D).cell.bias_ih_l0[D : 2 * D].eq(1).all()


@torch.no_grad()
@pytest.mark.parametrize("dilation", [1, 2, 4])
def test_convolution_is_its_sum(dilation):
    mixer, x = Convolution(D, 3, dilation), inputs()
    y, _ = mixer(x, mixer.empty(B))
    for t in range(T):
        z = mixer.weights.bias + sum(
            x[:, t - k * dilation] @ mixer.weights.weight[:, :, 2 - k].T
            for k in range(3)
            if t - k * dilation >= 0
        )
        assert torch.allclose(y[:, t], z[:, :D] * z[:, D:].sigmoid(), atol=1e-5)


def heard(mixer: Attention, x: torch.Tensor, context: int, positions: str = "rotary"):
    """What a layer of attention makes of x, from nothing."""
    places = Places(positions, mixer.width, mixer.width // mixer.heads, context)
    return mixer(x, mixer.empty(len(x)), None, places(x, places.empty(len(x)))[2])


@torch.no_grad()
@pytest.mark.parametrize("context", [1, 3, 64])
def test_attention_is_its_weighted_sum_over_the_window(context):
    mixer, x, heads = Attention(D, 2), inputs(), 2
    y, _ = heard(mixer, x, context)
    q, k, v = mixer.inward(x).view(B, T, 3, heads, D // heads).unbind(2)
    angles = turn(torch.arange(T).expand(B, T), D // heads)
    q, k = (rotate(each.transpose(1, 2), angles).transpose(1, 2) for each in (q, k))
    for t in range(T):
        window = slice(max(0, t - context + 1), t + 1)
        weights = torch.softmax(
            torch.einsum("bhe,bshe->bsh", q[:, t], k[:, window]) / math.sqrt(D // heads), 1
        )
        expected = mixer.outward(torch.einsum("bsh,bshe->bhe", weights, v[:, window]).reshape(B, D))
        assert torch.allclose(y[:, t], expected, atol=1e-5)


def test_rotation_makes_scores_depend_on_distance_alone():
    torch.manual_seed(0)
    q, k = torch.randn(1, 1, 1, 8), torch.randn(1, 1, 1, 8)
    at = lambda place, x: rotate(x, turn(torch.tensor([[place]]), 8))
    assert torch.allclose((at(5, q) * at(2, k)).sum(), (at(105, q) * at(102, k)).sum(), atol=1e-4)
    assert not torch.allclose((at(5, q) * at(2, k)).sum(), (at(5, q) * at(3, k)).sum(), atol=1e-4)


def test_the_attention_state_never_grows_beyond_its_window():
    _, state = heard(Attention(D, 2), inputs(), 4)
    assert state[0].shape == (B, 2, 3, D // 2)


def test_a_width_that_heads_cannot_share_is_refused():
    with pytest.raises(ConfigError, match="width 10, heads 4"):
        Attention(10, 4)


# The linear bigram, coupled gates, and attention written out


def test_a_trained_bigram_is_the_table_of_relative_frequencies():
    rng = np.random.default_rng(0)
    rows = symbols([rng.choice(5, 40, p=[0.1, 0.1, 0.5, 0.2, 0.1]) for _ in range(30)])
    counted, linear = Markov(5, MarkovOptions(order=1, add=0.0)), Bigram(5, BigramOptions())
    counted.count(rows, stop=True)
    batch = of_lines(rows, np.arange(30))
    optimiser = torch.optim.LBFGS(
        linear.parameters(), lr=1.0, max_iter=200, line_search_fn="strong_wolfe"
    )

    def closure():
        optimiser.zero_grad()
        loss = linear.loss(batch)[0]
        loss.backward()
        return loss

    optimiser.step(closure)
    ours, theirs = (model.predict(batch).log_prob(batch.y).detach() for model in (linear, counted))
    assert torch.allclose(
        ours.exp()[batch.y_mask].double(), theirs.exp()[batch.y_mask].double(), atol=2e-3
    )


def test_coupled_gates_and_a_sigmoid_recurrence_are_their_equations():
    torch.manual_seed(0)
    x, h, c = torch.randn(3, 5, 4), torch.randn(3, 4), torch.randn(3, 4)
    coupled = Recurrent("coupled", 4)
    y, (last, cell) = coupled(x, (h, c))
    for t in range(5):
        i, g, o = (
            x[:, t] @ coupled.cell.weight_ih_l0.T
            + coupled.cell.bias_ih_l0
            + h @ coupled.cell.weight_hh_l0.T
        ).split(4, 1)
        c = c + torch.sigmoid(i) * (torch.tanh(g) - c)
        h = torch.sigmoid(o) * torch.tanh(c)
        assert torch.allclose(y[:, t], h, atol=1e-6)
    assert torch.allclose(last, h, atol=1e-6) and torch.allclose(cell, c, atol=1e-6)
    plain, h = Recurrent("rnn", 4, "sigmoid"), torch.zeros(3, 4)
    y, _ = plain(x, h)
    for t in range(5):
        h = torch.sigmoid(
            x[:, t] @ plain.cell.weight_ih_l0.T
            + plain.cell.bias_ih_l0
            + h @ plain.cell.weight_hh_l0.T
        )
        assert torch.allclose(y[:, t], h, atol=1e-6)


def test_weights_are_dropped_in_training_only():
    torch.manual_seed(0)
    x, cell = torch.randn(2, 6, 8), Recurrent("lstm", 8, weight_dropout=0.5)
    once, twice = (cell(x, cell.empty(2))[0] for _ in range(2))
    assert not torch.equal(once, twice)
    cell.eval()
    assert torch.equal(cell(x, cell.empty(2))[0], cell(x, cell.empty(2))[0])
    assert torch.allclose(cell(x, cell.empty(2))[0], cell.cell(x, None)[0])


@pytest.mark.parametrize("score", ["dot", "scaled", "bilinear", "mlp"])
def test_attention_is_a_weighted_mean_by_its_scoring_function(score):
    torch.manual_seed(0)
    part, x = Attention(8, 2, score=score, rotary=False), torch.randn(1, 6, 8)
    q, k, v = (each.reshape(6, 2, 4) for each in part.inward(x[0]).chunk(3, -1))
    found = torch.zeros(6, 2, 4)
    for t in range(6):
        for head in range(2):
            window = list(range(max(0, t - 2), t + 1))
            if score == "mlp":
                query, key, out = part.inner
                fits = torch.stack(
                    [out(torch.tanh(query(q[t, head]) + key(k[s, head])))[0] for s in window]
                )
            else:
                between = part.between[head] if score == "bilinear" else torch.eye(4)
                fits = torch.stack([q[t, head] @ between @ k[s, head] for s in window]) / (
                    2.0 if score == "scaled" else 1.0
                )
            found[t, head] = torch.softmax(fits, 0) @ v[window, head]
    assert torch.allclose(
        heard(part, x, 3, "none")[0][0], part.outward(found.reshape(6, 8)), atol=1e-5
    )


def test_simple_attention_has_nothing_to_learn():
    part, x = Attention(4, 1, score="dot", maps=False, rotary=False), torch.randn(1, 5, 4)
    assert not list(part.parameters())
    fits = (x[0] @ x[0].T).masked_fill(~torch.ones(5, 5, dtype=torch.bool).tril(), -torch.inf)
    assert torch.allclose(
        heard(part, x, 9, "none")[0][0], torch.softmax(fits, -1) @ x[0], atol=1e-5
    )


@pytest.mark.parametrize("rows", [0, 1, 5, 64, 65])
def test_a_map_given_to_all_threads_is_the_same_map(rows, monkeypatch):
    torch.manual_seed(0)
    x, weight, bias = torch.randn(rows, 1, 6), torch.randn(12, 6), torch.randn(12)
    for threads in (1, 2, 3, 5):
        monkeypatch.setattr(torch, "get_num_threads", lambda threads=threads: threads)
        with torch.inference_mode():
            assert torch.allclose(
                linear(x, weight, bias), torch.nn.functional.linear(x, weight, bias), atol=1e-6
            )
            assert torch.allclose(
                linear(x, weight), torch.nn.functional.linear(x, weight), atol=1e-6
            )
    leaf = weight.clone().requires_grad_()
    linear(x, leaf).sum().backward()
    assert leaf.grad.shape == weight.shape


def test_tied_weights_make_bounded_vectors_longer():
    for name, task, longer in (
        ("lstm", "language", 4),
        ("transformer", "language", 1),
        ("gru", "translate", 4),
        ("transformer", "translate", 1),
    ):
        model = create(
            parse(name, {"width": 16, "tied": True}, task),
            9,
            *((9, 0, True) if task == "translate" else ()),
        ).eval()
        hidden = torch.rand(2, 16)
        wanted = hidden @ model.embedding.weight[:-1].T * longer / 4 + model.bias
        assert torch.allclose(model.read(hidden).logits, wanted, atol=1e-5)


def test_dropout_leaves_out_its_share_keeps_the_mean_and_passes_gradients_where_it_kept():
    torch.manual_seed(0)
    x = torch.ones(300, 1001, requires_grad=True)
    y = Dropout(0.3)(x)
    y.sum().backward()
    assert (y == 0).float().mean().item() == pytest.approx(
        0.3, abs=0.003
    ) and y.mean().item() == pytest.approx(1, abs=0.005)
    assert torch.equal(x.grad, y.detach())
    dropped = (y == 0).float()
    assert (
        abs(
            torch.corrcoef(torch.stack([dropped[:, :-1].flatten(), dropped[:, 1:].flatten()]))[
                0, 1
            ].item()
        )
        < 0.01
    )  # neighbours share a draw


@pytest.mark.parametrize("p, training", [(0.5, False), (0.0, True), (1.0, True)])
def test_dropout_of_nothing_or_of_all_is_torchs(p, training):
    x = torch.randn(4, 5)
    assert torch.equal(Dropout(p).train(training)(x), torch.nn.Dropout(p).train(training)(x))
