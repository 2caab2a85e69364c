"""Looking inside: gradients, influence, attention and surprisal, each against a slow twin or a model whose answer is known."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

import seriatim
from seriatim.batches import Batch, prompts
from seriatim.data.sequences import Sequences
from seriatim.errors import ConfigError, DataError
from seriatim.layers.attention import Attention
from seriatim.layers.positions import Places, turn
from seriatim.layers.recurrent import Stepwise
from seriatim.models.attending import mute
from seriatim.models.markers import marked
from seriatim.models.units import correlations
from seriatim.show.tables import SHADES, shade
from seriatim.tasks.language.impulse import differences
from seriatim.tasks.language.inside import (
    attention_maps,
    divergence,
    gradient_by_distance,
    gradients,
    influence_by_distance,
    some_places,
    surprisal,
)
from seriatim.tasks.language.tables import surprising_text
from seriatim.verbs import call as st_call
from tests.conftest import symbols
from tests.ladder import MODELS, RUNGS, random_rows, small_model
from tests.terminal import SMALL, furnish, good, prose, refused

PNG = b"\x89PNG"
TEXT = prose(30, 3)


def fitted(model: str, text: str = TEXT, by: str = "stream", **settings):
    settings = (
        settings
        if MODELS["language"][model.split("+")[-1]].counts
        else {"updates": 2, "width": 8, "length": 8, "rows": 2, **settings}
    )
    return seriatim.fit(
        "language",
        model,
        Sequences.of(text.splitlines() if by == "line" else [text], by),
        **settings,
    )


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    folder = furnish(tmp_path_factory.mktemp("home"))
    good(
        "fit",
        "language",
        "transformer",
        folder / "book.txt",
        *SMALL,
        "--layers",
        2,
        "--heads",
        2,
        "--out",
        folder / "transformer",
    )
    return folder


# Gradients


@pytest.mark.parametrize(
    "name",
    [
        "rnn",
        "lstm",
        "gru",
        "convolution",
        "transformer",
        "attention, learned",
        "lstm, coupled",
        "bigram",
    ],
)
def test_gradients_are_those_of_finite_differences(name):
    model, contexts, following = (
        small_model(name),
        [random_rows(1, 5)[0].numpy(), random_rows(1, 3, 1)[0].numpy()],
        (2, 4),
    )
    found, layers = gradients(model, tuple(contexts), following)
    assert layers.shape == (2, 1 + len(model.blocks)) and (layers > 0).all()
    assert [len(norms) for norms in found] == [5, 3]
    for context, target, norms in zip(contexts, following, found, strict=True):
        x = model.embedding(model.begin(prompts([context]))).detach()  # (1, 1 + T, D)

        def loss(x, target=target):
            with torch.no_grad():
                return -float(
                    model.read(model.through(x, model.empty(1))[0][:, -1]).log_prob(
                        torch.tensor([target])
                    )[0]
                )

        for distance, norm in enumerate(norms, 1):
            slopes = []
            for feature in range(x.shape[-1]):
                move = torch.zeros_like(x)
                move[0, -distance, feature] = 1e-2
                slopes.append((loss(x + move) - loss(x - move)) / 2e-2)
            assert np.linalg.norm(slopes) == pytest.approx(norm, rel=0.05, abs=2e-4)


@torch.no_grad()
def test_the_gradient_of_each_layer_is_that_of_finite_differences():
    model, contexts = small_model("rnn"), (random_rows(1, 4)[0].numpy(),)
    _, layers = gradients(model, contexts, (2,))
    outputs: list[torch.Tensor] = []
    x = model.embedding(model.begin(prompts(list(contexts))))
    for block in model.blocks:
        x, _ = block(x, block.empty(1))
        outputs.append(x)
    for layer, said in enumerate(outputs, 1):
        slopes = []
        for place in range(said.numel()):
            moved = []
            for step in (1e-2, -1e-2):
                y = said.clone()
                y.view(-1)[place] += step
                for block in list(model.blocks)[layer:]:
                    y, _ = block(y, block.empty(1))
                moved.append(-float(model.read(y[:, -1]).log_prob(torch.tensor([2]))[0]))
            slopes.append((moved[0] - moved[1]) / 2e-2)
        assert np.linalg.norm(slopes) == pytest.approx(layers[0, layer], rel=0.05, abs=2e-4)


def recurrent(cell: str, **weights):
    """A recurrent model of two features with the recurrent matrix, the input matrix and the biases given."""
    predictor = fitted(cell, width=2, **({"activation": "relu"} if cell == "rnn" else {}))
    for name, value in weights.items():
        parameter = getattr(predictor.model.blocks[0].mixer.cell, name)
        parameter.data.copy_(torch.as_tensor(value, dtype=torch.float32).expand(parameter.shape))
    predictor.model.embedding.weight.data.abs_()
    return predictor


@pytest.mark.parametrize("radius", [0.5, 1.5])
def test_a_plain_recurrence_vanishes_or_explodes_by_its_spectral_radius(radius):
    """Positive weights and relu: the recurrence is linear, and each step back multiplies the gradient by the radius."""
    matrix = torch.tensor([[0.6, 0.4], [0.4, 0.6]]) * radius  # eigenvalues radius and 0.2 radius
    predictor = recurrent(
        "rnn", weight_hh_l0=matrix, weight_ih_l0=torch.eye(2), bias_ih_l0=0.01, bias_hh_l0=0.0
    )
    predictor.model.output.weight.data.copy_(
        1e-12 * torch.arange(predictor.codec.size)[:, None].float()
    )  # no saturation of the softmax
    record = gradient_by_distance(predictor, [TEXT[:40]], most=16, places=4)
    assert [each["radius"] for each in record["radii"]] == pytest.approx([radius], rel=1e-5)
    values = np.array(record["values"])
    assert values[3:] / values[2:-1] == pytest.approx(np.full(len(values) - 3, radius), rel=1e-2)
    assert record["factor"] == pytest.approx(radius, rel=0.02)


def test_the_lstm_with_its_forget_gate_open_keeps_its_gradient():
    """Recurrent weights of zero: h carries nothing, and all that goes back goes through the cell, times f at each step."""
    open_gate = torch.tensor(
        [-3.0] * 2 + [9.0] * 2 + [0.0] * 2 + [3.0] * 2
    )  # input, forget, candidate, output
    for shift, factor in ((0.0, 1.0), (9.0, 0.5)):  # f = sigmoid(9), then sigmoid(0)
        bias = open_gate - torch.tensor([0.0] * 2 + [shift] * 2 + [0.0] * 4)
        inward = torch.zeros(8, 2)
        inward[4:6] = torch.eye(2)  # symbols reach the candidate alone
        predictor = recurrent(
            "lstm", weight_hh_l0=0.0, weight_ih_l0=inward, bias_ih_l0=bias, bias_hh_l0=0.0
        )
        record = gradient_by_distance(predictor, [TEXT[:100]], most=20, places=30)
        assert record["factor"] == pytest.approx(factor, abs=0.03)
        assert {each["matrix"]: each["radius"] for each in record["radii"]} == dict.fromkeys(
            ("input", "forget", "candidate", "output"), 0.0
        )


def test_a_mixture_shows_its_network_and_counts_are_refused():
    record = gradient_by_distance(fitted("unigram+lstm"), [TEXT])
    assert record["model"] == "lstm" and "part lstm" in record["notes"][0]
    with pytest.raises(ConfigError, match="influence instead"):
        gradient_by_distance(fitted("markov"), [TEXT])


# What happens in a layer


@pytest.mark.parametrize("name", RUNGS)
def test_traces_have_their_shapes_and_are_what_the_model_computes(name):
    model, y = small_model(name), random_rows(2, 9)
    if not isinstance(model, torch.nn.Module):
        return
    batch = Batch(
        y[:, :0], torch.zeros(2, dtype=torch.long), y, torch.ones_like(y, dtype=torch.bool)
    )
    traced = model.trace(batch)
    kinds = {key.split(".")[0] for key in traced}
    if model.options.mixer == "attention":
        assert kinds == {"attention"}
        for weights in traced.values():
            assert weights.shape == (2, model.options.heads, 9, 9) and torch.allclose(
                weights.sum(-1), torch.ones(()), atol=1e-5
            )
            assert not weights.triu(1).any()
    if "hidden" in kinds:
        assert all(traced[f"hidden.{layer}"].shape == (2, 9, 16) for layer in range(2))
        if not model.options.residual:
            votes = (
                model.votes(model.opened(y[:, :-1]), model.votes.empty(2))[0]
                if hasattr(model, "votes")
                else 0
            )  # are beside what is traced
            assert torch.allclose(
                model.read(model.norm(traced["hidden.1"])).logits + votes,
                model.unroll(batch)[0].logits,
                atol=1e-5,
            )
    for layer, gates in (
        (key.split(".")[1], value) for key, value in traced.items() if key.startswith("gates")
    ):
        assert (
            gates.shape == (2, 9, 3 if model.options.mixer in ("lstm", "coupled") else 2, 16)
            and gates.min() >= 0
            and gates.max() <= 1
        )
        # h_t = o tanh(c_t): no more than the gate lets out
        if gates.shape[2] == 3 and model.options.cell_output == "tanh":
            assert bool((traced[f"hidden.{layer}"].abs() <= gates[:, :, 2] + 1e-6).all())


def test_the_gates_of_the_lstm_make_its_cell():
    """c_t = f c_{t-1} + i g and h_t = o tanh(c_t), with the gates that were traced."""
    model, y = small_model("lstm"), random_rows(1, 6)
    batch = Batch(
        y[:, :0], torch.zeros(1, dtype=torch.long), y, torch.ones_like(y, dtype=torch.bool)
    )
    traced, cell = model.trace(batch), model.blocks[0].mixer.cell
    x, c = model.embedding(torch.cat([model.begin(batch), y[:, :-1]], 1)), torch.zeros(1, 16)
    for t in range(6):
        before = traced["hidden.0"][:, t - 1] if t else torch.zeros(1, 16)
        total = (
            x[:, t] @ cell.weight_ih_l0.T
            + cell.bias_ih_l0
            + before @ cell.weight_hh_l0.T
            + cell.bias_hh_l0
        )
        i, f, o = traced["gates.0"][:, t].unbind(1)
        c = f * c + i * torch.tanh(total[:, 32:48])
        assert torch.allclose(o * torch.tanh(c), traced["hidden.0"][:, t], atol=1e-5)


CELLS = {
    "lstm": ("lstm", {}),
    "gru": ("gru", {}),
    "lstm with norms and a residual": ("lstm", {"norm_inside": True, "residual": True}),
    "coupled": ("lstm", {"mixer": "coupled"}),
    "no-output-gate": ("lstm", {"mixer": "no-output-gate"}),
    "gru-before": ("gru", {"mixer": "gru-before"}),
}


def rolled_out(cell, x, gates, names):
    """(T, I) inputs, (T, G, D) gates -> (T, D) the states that such gates make of them, by the
    equations of the cells: candidates are computed here, gates are not."""
    inward, *recurrent = cell.mapped() if isinstance(cell, Stepwise) else Stepwise.of(cell).mapped()
    width, kind = gates.shape[-1], len(recurrent)
    h, c, found = torch.zeros(1, width), torch.zeros(1, width), []
    for t in range(len(x)):
        opened = dict(zip(names, gates[t][:, None], strict=True))  # (1, D) each
        new, past = inward(x[t : t + 1]), recurrent[0](h)
        if "reset" in opened:
            r, z = opened["reset"], opened["update"]
            if kind == 2:  # the reset stands before the product
                n = torch.tanh(new[:, 2 * width :] + recurrent[1](r * h))
                h = (1 - z) * h + z * n
            else:
                n = torch.tanh(new[:, 2 * width :] + r * past[:, 2 * width :])
                h = (1 - z) * n + z * h
        else:
            at = 1 if "forget" in names and new.shape[1] == 3 * width and "output" in names else 2
            g = torch.tanh((new + past)[:, at * width : (at + 1) * width])
            c = opened["forget"] * c + opened["input"] * g
            h = opened.get("output", torch.ones(())) * torch.tanh(c)
        found.append(h)
    return torch.cat(found)


@pytest.mark.parametrize("name", CELLS)
def test_states_made_of_the_traced_gates_are_those_of_the_model(name):
    spec, settings = CELLS[name]
    predictor = fitted(spec, layers=2, direct=0, **settings)
    model, row = predictor.model.eval(), predictor.codec.encode_text("the cat sat")
    with torch.no_grad():
        traced, x = model.trace(prompts([row])), model.embed(model.begin(prompts([row])))
        for layer, block in enumerate(model.blocks):
            heard, part, gates = block.norm(x), block.mixer, traced[f"gates.{layer}"][0]
            states = rolled_out(part.cell, heard[0], gates, part.gate_names)
            assert torch.allclose(states, part(heard, part.empty(1))[0][0], atol=1e-5)
            x = block(x, block.empty(1))[0]


def test_gates_of_a_record_are_the_means_and_shares_of_the_trace():
    predictor, text = fitted("lstm", layers=2), "the cat"
    model = predictor.model
    for block in model.blocks:  # some gates shut, some open
        block.mixer.cell.bias_ih_l0.data += torch.linspace(-6, 6, 32)
    traced = model.trace(prompts([predictor.codec.encode_text(text)]))
    record = predictor.gates(text)
    assert record["symbols"] == list(text) and record["cell"] == "lstm" and record["notes"] == []
    told = [(each["layer"], each["gate"]) for each in record["items"]]
    assert told == [(layer, gate) for layer in (1, 2) for gate in ("input", "forget", "output")]
    for place, each in enumerate(record["items"]):
        opened = traced[f"gates.{place // 3}"][0, 1:, place % 3]  # (T, D) without START
        assert each["units"] == 8 and len(each["by_symbol"]["mean"]) == 7
        assert each["by_symbol"]["mean"] == pytest.approx(opened.mean(1).tolist(), abs=1e-6)
        assert each["by_symbol"]["closed"] == pytest.approx((opened < 0.1).float().mean(1).tolist())
        assert each["open"] == pytest.approx(float((opened > 0.9).float().mean()))
    assert sum(each["closed"] for each in record["items"]) > 0
    second = predictor.gates(text, layer=2)
    assert second["items"] == record["items"][3:]
    assert [each["gate"] for each in fitted("gru").gates("ab")["items"]] == ["reset", "update"]


def test_gates_that_are_not_there_are_refused():
    for name, settings in (("rnn", {}), ("lstm", {"mixer": "additive"}), ("transformer", {})):
        with pytest.raises(ConfigError, match=r"no gates.*lstm or gru"):
            fitted(name, **settings).gates("ab")
    with pytest.raises(ConfigError, match="no gates"):
        fitted("markov").gates("ab")
    with pytest.raises(ConfigError, match="no such layer"):
        fitted("lstm").gates("ab", layer=2)
    with pytest.raises(DataError, match="no character in this text"):
        fitted("lstm").gates("")
    mixed = fitted("unigram+lstm").gates("aé")
    assert mixed["model"] == "lstm" and "part lstm" in mixed["notes"][0]
    assert "does not know 'é'" in mixed["notes"][1]


# Hidden units


def test_units_are_the_vectors_that_embed_gives():
    model = fitted("gru", layers=2, direct=0)
    text = TEXT[:60]
    record = model.units(text, layer=2, unit=3)
    vectors = np.array(model.embed([text], layer=2)["items"][0]["vectors"])
    (item,) = record["items"]
    assert (item["layer"], item["unit"], record["searched"]) == (2, 3, 1)
    assert item["values"] == pytest.approx(vectors[:, 2].tolist(), abs=1e-6)
    assert record["symbols"] == list(text) and record["marked"] is None
    every = model.units(text, count=3)
    deviations = [each["deviation"] for each in every["items"]]
    assert every["searched"] == 16 and deviations == sorted(deviations, reverse=True)
    assert {(each["layer"], each["unit"]) for each in model.units(text, count=99)["items"]} == {
        (layer, unit) for layer in (1, 2) for unit in range(1, 9)
    }


def test_units_that_follow_a_marker_are_found_by_their_correlation():
    model, text = fitted("lstm", layers=2, direct=0), TEXT[:120]
    record = model.units(text, marker="word", count=16)
    place = np.array(marked(list(text), "word"))
    assert record["marked"] == place.tolist() and record["searched"] == 16
    for each in record["items"]:
        expected = np.corrcoef(each["values"], place)[0, 1]
        assert each["correlation"] == pytest.approx(expected, abs=1e-9)
    strengths = [abs(each["correlation"]) for each in record["items"]]
    assert strengths == sorted(strengths, reverse=True)
    halves = record["halves"]
    assert halves["symbols"] == [60, 60]
    first = {
        (each["layer"], each["unit"]): np.corrcoef(each["values"][:60], place[:60])[0, 1]
        for each in record["items"]
    }
    best = max(first, key=lambda unit: abs(first[unit]))
    assert (halves["layer"], halves["unit"]) == best
    assert halves["first"] == pytest.approx(first[best])
    chosen = next(e for e in record["items"] if (e["layer"], e["unit"]) == best)
    assert halves["second"] == pytest.approx(np.corrcoef(chosen["values"][60:], place[60:])[0, 1])


def test_what_cannot_be_followed_is_refused():
    model = fitted("lstm")
    with pytest.raises(DataError, match=r"fewer than 30 symbols.*29 symbols"):
        model.units("a" * 29, marker="word")
    with pytest.raises(DataError, match="quote is the same throughout"):
        model.units(TEXT[:40], marker="quote")
    with pytest.raises(ConfigError, match=r"no such unit.*8"):
        model.units(TEXT[:40], unit=9)
    with pytest.raises(ConfigError, match="no such layer"):
        model.units(TEXT[:40], layer=3)
    with pytest.raises(ConfigError, match="marker"):
        model.units(TEXT[:40], marker="verse")
    with pytest.raises(ConfigError, match="counts makes no vectors"):
        fitted("markov").units(TEXT[:40])
    once = model.units("(a)" + "a" * 40, marker="bracket")
    assert once["halves"] is None


def test_a_unit_that_always_says_the_same_follows_nothing():
    values, series = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 0.0]]), np.array([0.0, 2.0, 0.0])
    found = correlations(values, series)
    assert np.isnan(found[0]) and found[1] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "marker, text, expected",
    [
        ("quote", 'a "b" c', [0, 0, 1, 1, 0, 0, 0]),
        ("quote", "“a” «b»", [1, 1, 0, 0, 1, 1, 0]),
        ("quote", '"a\n\nb', [1, 1, 1, 0, 0]),
        ("bracket", "a(b[c]d)e)", [0, 1, 1, 1, 1, 1, 1, 0, 0, 0]),
        ("line", "ab\n\nc", [0, 1, 2, 0, 0]),
        ("word", "ab, c3", [1, 2, 0, 0, 1, 2]),
        ("capital", "aBé", [0, 1, 0]),
        ("digit", "a1", [0, 1]),
    ],
)
def test_markers_are_what_stands_in_the_text(marker, text, expected):
    assert marked(list(text), marker) == expected


def test_symbols_of_several_letters_have_the_marker_of_their_last_one():
    assert marked([" the", " cat", "s"], "word") == [3, 3, 4]
    assert marked(["the", "cat"], "word", apart=True) == [3, 3]
    assert marked(["the", "cat"], "word") == [3, 6]
    assert marked(["McX", "x"], "capital") == [1, 0] and marked(["f(x)"], "bracket") == [0]


# A push


def test_a_push_in_a_linear_recurrence_goes_like_the_powers_of_the_radius():
    record = st_call("impulse", radius="0.5,1,2", width=8, steps=400, seed=3)
    assert [each["radius"] for each in record["items"]] == [0.5, 1.0, 2.0]
    for each in record["items"]:
        assert each["norms"][0] == pytest.approx(1.0) and len(each["norms"]) == 401
        assert each["factor"] == pytest.approx(each["radius"], rel=0.02)
        assert each["powers"][3] == each["radius"] ** 3
    half, one, two = (np.array(each["norms"]) for each in record["items"])
    assert half[:60] == pytest.approx(one[:60] * 0.5 ** np.arange(60))
    assert two == pytest.approx(one * 2.0 ** np.arange(401))


def test_a_push_of_one_number_is_its_power_by_hand():
    (item,) = st_call("impulse", radius="0.5", width=1, steps=3)["items"]
    assert item["norms"] == pytest.approx([1, 0.5, 0.25, 0.125]) and item["factor"] == 0.5


def test_a_push_through_tanh_is_the_difference_of_two_readings():
    matrix, inputs = np.array([[0.0, 0.5], [0.25, 0.0]]), np.array([[0.1, 0.2], [0.3, -0.4]])
    found = differences(matrix, inputs, np.array([1.0, 0.0]), "tanh")
    first, pushed = np.tanh([0.1, 0.2]), np.tanh([1.1, 0.2])
    second = np.tanh(matrix @ pushed + inputs[1]) - np.tanh(matrix @ first + inputs[1])
    assert found == pytest.approx([pushed[0] - first[0], np.linalg.norm(second)])
    record = st_call("impulse", radius=1.5, activation="tanh", steps=5)
    assert record["items"][0]["powers"] is None and record["activation"] == "tanh"


def test_a_push_that_is_too_large_or_gone_has_no_figure():
    large, gone = st_call("impulse", radius="100,0.001", steps=400, width=4)["items"]
    assert large["norms"][-1] is None and large["factor"] is None
    assert gone["norms"][-1] == 0.0 and gone["factor"] is None


@pytest.mark.parametrize(
    "radius", ["", "0", "-1", "x", "1,1", "1,inf", "nan", ",".join("123456789")]
)
def test_radii_that_are_none_are_refused(radius):
    with pytest.raises(ConfigError, match="radii are"):
        st_call("impulse", radius=radius)


def test_a_push_is_asked_of_nothing(here):
    with pytest.raises(ConfigError, match="reads nothing"):
        st_call("impulse", "book.txt")
    refused("impulse", "book.txt", code=2, words="nothing more is read")
    assert "radius" in good("impulse", "--steps", 8).out
    assert good("plot", "--what", "impulse", "--out", "i.svg").out == "i.svg\n"
    assert "radius 1.1" in (here / "i.svg").read_text()
    assert seriatim.plot(None, what="impulse", radius="1").rows[0]["radius"] == 1.0


# Influence


@pytest.mark.parametrize(
    "model, settings, reach",
    [
        ("kneser-ney", {"order": 3}, 2),
        ("markov", {"order": 2}, 2),
        ("witten-bell", {"order": 5}, 4),
        ("unigram", {}, 0),
        ("uniform", {}, 0),
        ("bigram", {}, 1),
    ],
)
@pytest.mark.parametrize("by", ["stream", "line"])
def test_an_ngram_hears_as_far_as_it_reaches_and_no_further(model, settings, reach, by):
    if model == "bigram":
        settings = {"width": None}
    record = influence_by_distance(fitted(model, by=by, **settings), [TEXT], most=9)
    assert (
        len(record["values"]) == 9
        and all(value > 0 for value in record["values"][:reach])
        and record["values"][reach:] == [0.0] * (9 - reach)
    )


def test_a_cache_hears_further_than_its_ngram_and_a_convolution_to_its_edge():
    mixture = fitted("kneser-ney+cache", order=3)
    mixture.model.log_weights = torch.tensor([0.5, 0.5], dtype=torch.float64).log()
    assert min(influence_by_distance(mixture, [TEXT], most=12)["values"]) > 0
    values = influence_by_distance(fitted("convolution", layers=2, kernel=3), [TEXT], most=12)[
        "values"
    ]  # 1 + 2 + 4 symbols
    assert max(values[:7]) > 1e-9 and max(values[7:]) < 1e-7


def test_influence_is_the_mean_of_divergences_computed_one_by_one():
    predictor = fitted("kneser-ney", order=3)
    ids = predictor.codec.encode_text(TEXT)
    generator, total = np.random.default_rng(5), np.zeros(2)
    for _, t in some_places(
        predictor.codec.encode(Sequences.of([TEXT], "stream").main), "stream", 2, 6
    ):
        for d in (1, 2):
            changed, others = ids[:t].copy(), ids[ids != ids[t - d]]
            changed[t - d] = others[generator.integers(len(others))]
            p, q = (
                predictor.model.start(prompts([row]))[0].log_probs()[0].double().numpy()
                for row in (ids[:t], changed)
            )
            total[d - 1] += (np.exp(p) * (p - q)).sum()
    record = influence_by_distance(predictor, [TEXT], most=2, places=6, seed=5)
    assert record["values"] == pytest.approx(total / 6, rel=1e-5) and record["places"] == [6, 6]
    assert record == influence_by_distance(predictor, [TEXT], most=2, places=6, seed=5)


def test_a_divergence_of_nothing_is_nothing_and_of_the_impossible_infinite():
    p = torch.tensor([0.5, 0.5, 0.0]).log().double()
    assert divergence(p, p) == 0 and divergence(
        p, torch.tensor([0.25, 0.75, 0.0]).log().double()
    ) == pytest.approx(0.5 * math.log(2) + 0.5 * math.log(2 / 3))
    assert divergence(p, torch.tensor([1.0, 0.0, 0.0]).log().double()) == math.inf
    record = influence_by_distance(
        fitted("markov", "abababababcacacb" * 4, order=1, add=0), ["abababababcacacb" * 4], most=3
    )
    assert (
        record["values"][0] is None
        and "impossible" in record["notes"][0]
        and json.dumps(record, allow_nan=False)
    )


def test_places_lie_inside_and_look_back_as_far_as_they_can():
    ids = symbols([[1] * 30, [1] * 3, [], [1] * 12])
    for by in ("stream", "line"):
        chosen = some_places(ids, by, 10, 8)
        assert (
            chosen
            and all(10 <= t < ids.lengths[s] + (by == "line") for s, t in chosen)
            and len(set(chosen)) == len(chosen)
        )
    assert some_places(symbols([[1, 2]]), "stream", 64, 8) == [(0, 1)]
    with pytest.raises(DataError):
        some_places(symbols([[1]]), "stream", 64, 8)


# Attention and surprisal


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"positions": "learned", "context": 20},
        {"context": 4},
        {"score": "mlp", "positions": "none"},
    ],
)
def test_attention_maps_sum_to_one_and_hear_no_future(settings):
    record = attention_maps(fitted("transformer", heads=2, layers=3, **settings), [TEXT], most=30)
    many = 20 if "learned" in settings.values() else 31
    assert record["tokens"] == ["<s>", *TEXT[: many - 1]] and [
        (each["layer"], each["head"]) for each in record["maps"]
    ] == [(i // 2, i % 2) for i in range(6)]
    for each in record["maps"]:
        weights = np.array(each["weights"])
        assert (
            weights.shape == (many, many)
            and weights.sum(1) == pytest.approx(np.ones(many), abs=1e-5)
            and not np.triu(weights, 1).any()
        )
        if settings.get("context") == 4:
            assert not np.tril(weights, -4).any() and each["distance"] <= 3
    with pytest.raises(ConfigError, match="attention"):
        attention_maps(fitted("lstm"), [TEXT])


@pytest.mark.parametrize("model", ["kneser-ney", "kneser-ney+cache", "lstm", "transformer"])
@pytest.mark.parametrize("by", ["stream", "line"])
def test_surprisals_sum_to_what_evaluate_measures(model, by):
    predictor, text = fitted(model, by=by), "A cat sat.\nÜber\nthe cat.\n"
    data = Sequences.of(text.splitlines() if by == "line" else [text], by)
    record, figures = surprisal(predictor, data), predictor.evaluate(data)
    assert sum(row["bits"] - row["side_bits"] for row in record["tokens"]) == pytest.approx(
        figures["bits_per_token"] * figures["tokens"], rel=1e-9
    )
    assert sum(row["bits"] for row in record["tokens"]) == pytest.approx(
        figures["bits_per_character"] * figures["characters"], rel=1e-9
    )
    assert (
        record["bits_per_character"] == figures["bits_per_character"]
        and len(record["tokens"]) == figures["tokens"]
    )
    assert (
        "".join(row["symbol"] for row in record["tokens"]).replace(
            "</s>", "\n" if by == "line" else ""
        )
        == text
    )
    assert [row["symbol"] for row in record["tokens"] if row["unknown"]] == ["Ü"]


def test_the_impossible_has_no_bits():
    record = surprisal(fitted("markov", order=1, add=0), ["qqq"])
    assert (
        record["bits_per_character"] is None
        and record["impossible"]
        and record["tokens"][1]["bits"] is None
        and json.dumps(record, allow_nan=False)
    )


def test_shades_grow_with_bits_and_the_text_stays_what_it_is():
    assert [shade(bits) for bits in (0.0, 0.5, 3.0, 100.0, None)] == [0, 1, 3, 6, 6] and len(
        SHADES
    ) == 7
    group = surprising_text(surprisal(fitted("markov"), ["the cat\nsat."]))
    assert group.renderables[1].plain == "the cat⏎\nsat." and {
        span.style[-7:] for span in group.renderables[1].spans
    } <= set(SHADES)


# Pictures and the command line


def test_the_command_line_looks_inside(home, here):
    other = home / "other.txt"
    asked = ("plot", home / "lstm", home / "lstm", "--what", "gradient", "--file", other)
    assert good(*asked, "--out", "gradient.png").out == "gradient.png\n"
    assert (here / "gradient.png").read_bytes().startswith(PNG)
    before = set(home.rglob("*"))
    assert "spectral radius" in good("gradient", home / "lstm", other).out
    record = good(
        "plot",
        home / "markov",
        home / "lstm",
        "--what",
        "influence",
        "--file",
        home / "other.txt",
        "--out",
        "i.svg",
        "--format",
        "json",
    ).json()
    assert record["kind"] == "picture" and record["what"] == "influence"
    assert record["written"] == "i.svg" and "markov" in (here / "i.svg").read_text()
    text = ("--text", "The cat sat")
    assert "mean distance" in good("attention", home / "transformer", *text).out
    table = good("surprisal", home / "markov", "--text", "The cat").out.splitlines()
    assert (
        table[0].startswith("markov: ")
        and len(table) == 9
        and table[2].split()[0] == "'T'"
        and set(home.rglob("*")) == before
    )
    heads = good("attention", home / "transformer", *text, "--layer", 2, "--format", "json").json()
    assert [(each["layer"], each["head"]) for each in heads["maps"]] == [(1, 0), (1, 1)]
    good("plot", home / "transformer", "--what", "attention", *text)
    assert (home / "transformer" / "attention.png").read_bytes().startswith(PNG)
    for what in ("head", "lines"):
        asked = ("--what", what, *text, "--layer", 2, "--head", 2, "--out", f"{what}.svg")
        good("plot", home / "transformer", *asked)
        assert "layer 2, head 2" in (here / f"{what}.svg").read_text()
    record = good(
        "plot",
        home / "lines",
        "--what",
        "surprisal",
        "--text",
        "The cat",
        "--format",
        "json",
        "--out",
        "s.pdf",
    ).json()
    assert record["what"] == "surprisal" and (here / "s.pdf").read_bytes().startswith(b"%PDF")


def test_what_cannot_be_seen_is_refused(home):
    refused(
        "plot", home / "markov", "--what", "gradient", "--text", TEXT, code=2, words="influence"
    )
    refused("gradient", home / "markov", "--text", TEXT, code=2, words="transformer, lstm, gru")
    refused(
        "plot", home / "lstm", "--what", "attention", "--text", TEXT, code=2, words="transformer"
    )
    asked = ("--what", "head", "--text", TEXT, "--layer", 3)
    refused("plot", home / "transformer", *asked, code=2, words="2 layers of 2 heads")
    refused("plot", home / "lstm", "--what", "surprisal", code=2, words="surprisal reads data")
    refused(
        "plot",
        home / "lstm",
        "--what",
        "surprisal",
        "--text",
        "a",
        "--file",
        "b",
        code=2,
        words="--file and --text",
    )
    refused("plot", home / "lstm", "--what", "surprisal", "--text", "", code=1, words="longer")
    refused("plot", home / "lstm", "--what", "influence", "--text", "a", code=1, words="too short")
    refused(
        "plot",
        home / "lstm",
        "--what",
        "influence",
        "--file",
        "nowhere.txt",
        code=1,
        words="nowhere.txt",
    )
    refused(
        "plot",
        home / "lstm",
        home / "markov",
        "--what",
        "surprisal",
        "--text",
        "a",
        code=2,
        words="one run",
    )
    refused("plot", home / "lstm", home / "markov", code=2, words="one folder")
    refused("plot", home / "lstm", "--text", "a", code=2, words="--what")
    refused("plot", home / "lstm", "--what", "dreams", "--text", "a", code=2, words="dreams")
    refused(
        "plot",
        home / "lstm",
        "--what",
        "gradient",
        "--text",
        TEXT,
        "--out",
        "x.jpeg",
        code=1,
        words="png, svg, pdf",
    )
    refused(
        "plot", "nowhere", "--what", "gradient", "--text", TEXT, code=1, words="not a run folder"
    )


# Positions


def test_positions_are_what_is_added_to_the_symbols():
    for kind in ("sinusoidal", "learned"):
        places = Places(kind, 6, 2, 9)
        told = places(torch.zeros(1, 5, 6), places.empty(1))[0][0]
        assert torch.allclose(places.vectors(5), told)
    angles = turn(torch.arange(5)[None], 4)
    rotary = torch.cat([angles[0][0, 0], angles[1][0, 0]], -1)
    assert torch.equal(Places("rotary", 8, 4, 9).vectors(5), rotary)
    beside = Places("concatenated", 6, 2, 9)
    assert torch.equal(beside.vectors(4), Places("sinusoidal", 6, 2, 9).vectors(4))


def test_positions_of_a_run_end_where_they_were_learned():
    record = fitted("transformer", positions="learned", context=12).positions(most=20)
    assert record["kind"] == "positions" and record["positions"] == "learned"
    assert len(record["vectors"]) == 12 and record["notes"] == ["only 12 positions are learned"]
    with pytest.raises(ConfigError, match="positions"):
        fitted("transformer", positions="none").positions()
    with pytest.raises(ConfigError, match="attention"):
        fitted("lstm").positions()


# Heads that are switched off


@torch.no_grad()
@pytest.mark.parametrize("score", ["scaled", "mlp"])
def test_a_layer_whose_heads_are_all_switched_off_says_what_zeros_say(score):
    torch.manual_seed(0)
    part, x = Attention(8, 2, score, rotary=False), torch.randn(1, 5, 8)
    places = Places("none", 8, 4, 9)
    frame = places(x, places.empty(1))[2]
    whole = part(x, part.empty(1), None, frame)[0]
    mute([part], "0.0")
    some = part(x, part.empty(1), None, frame)[0]
    y = part.inward(x)[..., 16:].clone()  # values; of the first position the only ones heard
    y[..., :4] = 0
    assert torch.allclose(some[:, 0], part.outward(y[:, 0]), atol=1e-6)
    assert not torch.allclose(some, whole)
    mute([part], "0.1, 0.0")
    silent = part(x, part.empty(1), None, frame)[0]
    assert torch.equal(silent, part.outward(torch.zeros(1, 5, 8)))


@pytest.mark.parametrize("width", [16, 256])  # steps of the wide one are compiled
def test_a_run_whose_heads_are_switched_off_says_so_and_stays_as_it_is(width, tmp_path):
    run = tmp_path / "run"
    sizes = {"width": width, "layers": 2, "heads": 2, "context": 12}
    fitted("transformer", **sizes, feed_forward=2.0).save(run)
    before = (run / "weights.safetensors").read_bytes()
    plain, off = seriatim.load(run), seriatim.load(run, mute="0.0")
    off.generate("a", length=2)
    off.mute("1.1,0.0,0.1")  # once more, after steps were taken
    words = "heads switched off (layer.head, from 0): 0.0, 0.1, 1.1"
    for record in (off.evaluate([TEXT[:40]]), off.surprisal(["abc"]), off.predict(["ab"])):
        assert words in record["notes"]
    assert words not in plain.predict(["ab"])["notes"]
    model = plain.model  # the slow twin: what comes out of these heads is nought
    size = width // 2
    for layer, some in ((0, slice(None)), (1, slice(size, None))):
        model.blocks[layer].mixer.outward.weight.data[:, some] = 0
    symbols = torch.from_numpy(off.codec.encode_text(TEXT[:9]).astype(np.int64))[None]
    batch = Batch(symbols[:, :0], torch.zeros(1, dtype=torch.long), symbols, symbols >= 0)
    with torch.no_grad():
        said = off.model.predict(batch).log_probs()
        assert torch.allclose(said, model.predict(batch).log_probs(), atol=1e-5)
        now, state = off.model.start(batch)
        for t in range(9):
            assert torch.allclose(now.log_probs(), said[:, t], atol=1e-5)
            now, state = off.model.step(symbols[:, t], state)
    assert (run / "weights.safetensors").read_bytes() == before


@pytest.mark.parametrize("heads", ["0", "0.9", "5.0", "a.b", "0.0,,1.0", "-1.0", "0.0.0"])
def test_heads_that_there_are_not_cannot_be_switched_off(heads):
    with pytest.raises(ConfigError, match="counted from 0"):
        fitted("transformer").mute(heads)
    with pytest.raises(ConfigError, match="self-attention"):
        fitted("lstm").mute(heads)
