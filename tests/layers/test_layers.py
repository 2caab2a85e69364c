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
from seriatim.layers.recurrent import PARTS, STATES, Recurrent, Stepwise
from seriatim.models.ladder import create
from seriatim.models.ngrams.ngram import Markov
from seriatim.models.ngrams.options import MarkovOptions
from seriatim.models.options import CELLS, WITH_CELL
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


# Cells between the rnn and the lstm


def equation(kind: str, cell, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor):
    """One step of a cell, from its equation: h and c afterwards. W x and U h are normalised where
    the cell has gains."""
    width = h.shape[1]

    def inward(x):
        found = x @ cell.weight_ih_l0.T
        return (found if cell.gain_ih_l0 is None else standard(found)) + cell.bias_ih_l0

    def recurrent(h, rows=slice(None)):
        found = h @ cell.weight_hh_l0[rows].T
        return (found if cell.gain_hh_l0 is None else standard(found)) + cell.bias_hh_l0[rows]

    def standard(z):
        return (z - z.mean(-1, keepdim=True)) / (
            z.var(-1, correction=0, keepdim=True) + 1e-5
        ).sqrt()

    if kind == "additive":
        return h + inward(x).tanh(), c
    if kind == "additive-recurrent":
        return h + (inward(x) + recurrent(h)).tanh(), c
    if kind == "rnn":
        return (inward(x) + recurrent(h)).tanh(), c
    if kind == "gru-before":
        wr, wz, wn = inward(x).split(width, 1)
        ur, uz = recurrent(h, slice(0, 2 * width)).split(width, 1)
        r, z = (wr + ur).sigmoid(), (wz + uz).sigmoid()
        return (1 - z) * h + z * (wn + recurrent(r * h, slice(2 * width, None))).tanh(), c
    if kind == "gru":
        wr, wz, wn = inward(x).split(width, 1)
        ur, uz, un = recurrent(h).split(width, 1)
        z = (wz + uz).sigmoid()
        return (1 - z) * (wn + (wr + ur).sigmoid() * un).tanh() + z * h, c
    if kind == "coupled":
        i, g, o = (inward(x) + recurrent(h)).split(width, 1)
        f = -i
    elif kind == "no-output-gate":
        i, f, g = (inward(x) + recurrent(h)).split(width, 1)
        o = torch.full_like(i, 1e9)
    else:
        i, f, g, o = (inward(x) + recurrent(h)).split(width, 1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * (c if cell.linear else c.tanh()), c


@torch.no_grad()
@pytest.mark.parametrize("norm_inside", [False, True])
@pytest.mark.parametrize("output", ["tanh", "linear"])
@pytest.mark.parametrize("kind", PARTS)
def test_a_cell_is_its_equation(kind, output, norm_inside):
    torch.manual_seed(0)
    mixer, x = Recurrent(kind, D, cell_output=output, norm_inside=norm_inside), inputs()
    if not isinstance(mixer.cell, Stepwise):
        mixer.cell = Stepwise.of(mixer.cell)
    for each in mixer.cell.parameters():  # gains stay one
        each.add_(0.1 * torch.randn_like(each) if each.dim() > 1 else 0.0)
    state = h, c = torch.randn(B, D), torch.randn(B, D)
    y, after = mixer(x, state if mixer.pair else h)
    for t in range(T):
        h, c = equation(kind, mixer.cell, x[:, t], h, c)
        assert torch.allclose(y[:, t], h, atol=1e-5)
    last = after if mixer.pair else (after,)
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(last, (h, c), strict=False))


def test_two_steps_of_the_additive_cells_by_hand():
    x, log3 = torch.ones(1, 2, 1), math.log(3) / 2  # tanh(log(3) / 2) = 1/2
    for kind, second in (("additive", 1.0), ("additive-recurrent", 0.5 + math.tanh(log3 + 0.5))):
        mixer = Recurrent(kind, 1)
        mixer.cell.weight_ih_l0.data.fill_(log3)
        if kind == "additive-recurrent":
            mixer.cell.weight_hh_l0.data.fill_(1.0)
        y, _ = mixer(x, mixer.empty(1))
        assert y[0, :, 0].tolist() == pytest.approx([0.5, second])


@torch.no_grad()
@pytest.mark.parametrize("norm_inside", [False, True])
@pytest.mark.parametrize("kind", PARTS)
def test_gates_and_recurrent_matrices_of_every_cell(kind, norm_inside):
    torch.manual_seed(0)
    mixer, x = Recurrent(kind, D, norm_inside=norm_inside), inputs()
    hidden, _ = mixer(x, mixer.empty(B))
    gates = mixer.gates(x, hidden, mixer.empty(B))
    names = {"lstm": 3, "coupled": 3, "no-output-gate": 2, "gru": 2, "gru-before": 2}
    assert (0 if gates is None else gates.shape[2]) == names.get(kind, 0)
    assert len(mixer.recurrent_matrices()) == (0 if kind == "additive" else len(PARTS[kind]))
    if kind == "no-output-gate":  # c_1 = i g, so the first output tells the gate
        i = gates[:, 0, 0]
        assert ((hidden[:, 0].atanh() / i).abs() < 1).all()
    if kind == "lstm":
        assert (hidden.abs() <= gates[:, :, 2]).all()  # |o tanh(c)| <= o


@torch.no_grad()
@pytest.mark.parametrize("initial", ["orthogonal", "uniform"])
@pytest.mark.parametrize("radius", [0.5, 1.0, 1.5])
def test_recurrent_matrices_begin_at_the_radius_asked_for(radius, initial):
    torch.manual_seed(0)
    for matrix in (
        Recurrent("lstm", D, initial=initial, radius=radius).recurrent_matrices().values()
    ):
        assert float(torch.linalg.eigvals(matrix).abs().max()) == pytest.approx(radius, rel=1e-4)


def test_weights_of_a_cell_written_out_are_dropped_in_rows_of_different_lengths_too():
    torch.manual_seed(0)
    x, cell = torch.randn(2, 6, 8), Recurrent("coupled", 8, weight_dropout=0.5)
    lengths = torch.tensor([6, 4])
    assert not torch.equal(*(cell(x, cell.empty(2), lengths)[0] for _ in range(2)))


@pytest.mark.parametrize(
    "mixer, asked",
    [
        ("rnn", {"cell_output": "linear"}),
        ("gru", {"cell_output": "linear"}),
        ("attention", {"norm_inside": True}),
        ("convolution", {"radius": 0.5}),
        ("additive", {"radius": 0.5}),
        ("attention", {"dilation": 1}),
    ],
)
@pytest.mark.parametrize("task", ["language", "classify", "translate", "autoencode"])
def test_settings_that_mean_nothing_for_a_mixer_are_refused(mixer, asked, task):
    sizes = {"language": (), "classify": (3, 0, 0, 0), "translate": (7,), "autoencode": ()}[task]
    settings = {"mixer": mixer, "width": 8, "heads": 2, "layers": 1} | asked
    parts = parse("transformer" if mixer == "attention" else "gru", settings, task)
    with pytest.raises(ConfigError, match=next(iter(asked))):
        create(parts, 7, *sizes)


def test_the_cells_that_may_be_chosen_are_those_there_are():
    assert set(CELLS) == set(PARTS)
    assert set(WITH_CELL) == {cell for cell, many in STATES.items() if many == 2}


# Attention that does not ask, heads of their own width, places side by side, plain convolution


@torch.no_grad()
@pytest.mark.parametrize("maps", [False, True])
def test_uniform_attention_is_the_mean_of_what_is_heard(maps):
    torch.manual_seed(0)
    part, x = Attention(8, 2, score="uniform", maps=maps, rotary=False), inputs()
    values = part.inward(x) if maps else x
    found = heard(part, x, 4, "none")[0]
    for t in range(T):
        mean = values[:, max(0, t - 3) : t + 1].mean(1)
        assert torch.allclose(found[:, t], part.outward(mean), atol=1e-6)
    weights = part.weights(x[:1, :3], part.empty(1), None, frame_of(part, x[:1, :3], 4))
    expected = torch.tensor([[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]])
    assert torch.allclose(weights[0, 0], expected)


def frame_of(mixer: Attention, x: torch.Tensor, context: int):
    """What a layer is told of the places of x."""
    places = Places("none", mixer.width, mixer.size, context)
    return places(x, places.empty(len(x)))[2]


@torch.no_grad()
@pytest.mark.parametrize("score", ["dot", "scaled", "bilinear", "mlp"])
def test_heads_of_their_own_width_are_full_maps_of_the_vectors(score):
    torch.manual_seed(0)
    part, x = Attention(4, 3, score=score, rotary=False, head_width=4), torch.randn(1, 5, 4)
    assert part.inward.weight.shape == (36, 4) and part.outward.weight.shape == (4, 12)
    found = []
    for head in range(3):
        w, b = (
            each.view(3, 3, 4, -1)[:, head]
            for each in (part.inward.weight, part.inward.bias[:, None])
        )
        q, k, v = (x[0] @ w[i].T + b[i, :, 0] for i in range(3))
        if score == "mlp":
            query, key, out = part.inner
            fits = out(torch.tanh(query(q)[:, None] + key(k)[None]))[..., 0]
        else:
            between = part.between[head] if score == "bilinear" else torch.eye(4)
            fits = q @ between @ k.T / (2.0 if score == "scaled" else 1.0)
        later = torch.ones(5, 5, dtype=torch.bool).triu(1)
        found.append(fits.masked_fill(later, -torch.inf).softmax(-1) @ v)
    expected = part.outward(torch.cat(found, -1))
    places = Places("none", 4, 4, 9)
    frame = places(x, places.empty(1))[2]
    assert torch.allclose(part(x, part.empty(1), None, frame)[0][0], expected, atol=1e-5)
    assert part.empty(2)[0].shape == (2, 3, 0, 4)


def test_head_widths_that_cannot_be_are_refused():
    with pytest.raises(ConfigError, match="odd"):
        Attention(8, 2, head_width=3)
    with pytest.raises(ConfigError, match="maps"):
        Attention(8, 2, maps=False, head_width=4)
    assert Attention(8, 3, rotary=False, head_width=3).size == 3  # 8 / 3 is no number of features


@torch.no_grad()
def test_concatenated_places_are_sines_and_cosines_beside_the_vector():
    torch.manual_seed(0)
    places, x = Places("concatenated", 4, 2, 9), torch.randn(2, 3, 4)
    y = places(x, places.empty(2))[0]
    for t in range(3):
        p = torch.tensor([math.sin(t), math.cos(t), math.sin(t / 100), math.cos(t / 100)])
        both = torch.cat([x[:, t], p.expand(2, 4)], -1)
        expected = both @ places.joint.weight.T + places.joint.bias
        assert torch.allclose(y[:, t], expected, atol=1e-6)
    assert torch.allclose(places.whole(x, torch.tensor([3, 3]))[0], y, atol=1e-6)


@pytest.mark.parametrize("asked, expected", [(0, [1, 2, 4]), (1, [1, 1, 1]), (3, [3, 3, 3])])
@pytest.mark.parametrize("task", ["language", "tag"])
def test_dilation_doubles_with_each_layer_unless_it_is_given(asked, expected, task):
    settings = {"layers": 3, "width": 4, "kernel": 3, "dilation": asked}
    settings |= {} if task == "language" else {"letters": "no"}
    sizes = () if task == "language" else (3, 0)
    model = create(parse("convolution", settings, task), 7, *sizes)
    blocks = model.blocks if task == "language" else model.stack.blocks
    assert [block.mixer.weights.dilation[0] for block in blocks] == expected


def test_head_widths_mean_nothing_without_attention():
    settings = {"width": 8, "head_width": 4}
    with pytest.raises(ConfigError, match="head_width"):
        create(parse("gru", settings), 7)
    create(parse("gru", settings, "translate"), 7, 7)  # which attends to its source
    with pytest.raises(ConfigError, match="head_width"):
        create(parse("gru", settings | {"attends": "no"}, "translate"), 7, 7)


def test_a_model_that_is_laid_out_without_memory_is_not_scaled():
    with torch.device("meta"):
        cell = Recurrent("lstm", D, radius=0.5)
    assert cell.cell.weight_hh_l0.is_meta
