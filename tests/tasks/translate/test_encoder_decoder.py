"""Models that translate: what they hear of the source, and the parts they are made of. What every model must do:
tests/conformance.py."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
from torch import nn

from seriatim.batches import Batch
from seriatim.data.sequences import NUMBERS, Field, offsets_of
from seriatim.errors import ConfigError
from seriatim.layers.cross import Cross
from seriatim.models.base import Shared
from seriatim.models.ladder import create
from seriatim.models.mixture import Mixture
from seriatim.tasks.translate import TASK
from seriatim.tasks.translate.codec import EncodedPairs, of_pairs
from tests.conftest import symbols
from tests.ladder import parts_of
from tests.specimens import TRANSLATORS

VOCABULARY, SOURCES = 7, 9
SMALL = {"width": 16, "layers": 2, "heads": 2, "dropout": 0.3}
EVERY = [*TASK.rungs, *TRANSLATORS, "lexicon+gru+transformer", "joint+lstm"]
COUNTED = [name for name, rung in TASK.rungs.items() if rung.counts]
NETWORKS = [name for name in EVERY if name.split("+")[0] not in COUNTED]
every_model = pytest.mark.parametrize("name", EVERY)


def source_rows(seed: int = 0, count: int = 6) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, SOURCES, rng.integers(1, 9)) for _ in range(count)]


def made(name: str, **more):
    """A model of this name, untrained."""
    spec, own = TRANSLATORS.get(
        name, ("transformer" if name in ("shared", "numbers") else name, {})
    )
    settings = (
        {} if spec in COUNTED else SMALL | ({"maps": True} if "+" in spec else {}) | own | more
    )
    sizes = (
        (VOCABULARY, 0, True)
        if name == "shared"
        else (0, 3, False)
        if name == "numbers"
        else (SOURCES, 0, False)
    )
    model = create(parts_of(spec, settings, "translate"), VOCABULARY, *sizes)
    if getattr(model, "source_ngrams", None) is not None:
        counted = of_pairs(
            EncodedPairs(symbols(source_rows(3, 200)), symbols([[0]] * 200)), np.arange(200)
        )
        model.source_ngrams.count([(counted.x, counted.x_lengths)])
    return model


@cache
def model_of(name: str):
    torch.manual_seed(0)
    model = made(name)
    rng = np.random.default_rng(0)
    pairs = EncodedPairs(
        symbols(rng.integers(0, SOURCES, rng.integers(1, 6)) for _ in range(40)),
        symbols(rng.integers(0, VOCABULARY, rng.integers(0, 6)) for _ in range(40)),
    )
    for part in model.parts:
        if isinstance(part, nn.Module):
            part.eval()
            for parameter in part.parameters():
                parameter.data += 0.2 * torch.randn_like(parameter)
        else:
            for _ in part.counting_pairs(pairs):
                pass
    return model


def batch_for(name: str, rows: list[np.ndarray], y: torch.Tensor) -> Batch:
    if name == "numbers":
        values = [
            np.random.default_rng(len(row)).normal(size=(len(row), 3)).astype(np.float32)
            for row in rows
        ]
        x = Field(np.concatenate(values), offsets_of(map(len, values)), NUMBERS)
    else:
        x = symbols(row % (VOCABULARY if name == "shared" else SOURCES) for row in rows)
    batch = of_pairs(EncodedPairs(x, symbols([[0]] * len(rows))), np.arange(len(rows)))
    return Batch(batch.x, batch.x_lengths, y, torch.ones_like(y, dtype=torch.bool))


def targets(rows: int, time: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).integers(0, VOCABULARY, (rows, time)))


def answers(name: str, rows: list[np.ndarray], y: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return model_of(name).predict(batch_for(name, rows, y)).log_probs().double()


def close(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.shape == b.shape and bool(torch.allclose(a.double(), b.double(), atol=2e-5, rtol=0))


@every_model
def test_what_is_written_depends_on_the_source(name):
    y = targets(6, 5)
    assert not close(answers(name, source_rows(), y), answers(name, source_rows(1), y))


def test_what_rows_share_is_kept_once_and_dropped_with_its_last_row():
    part = torch.arange(12.0).reshape(4, 3)
    state = Shared((torch.arange(4), part)).select(torch.tensor([3, 3, 1, 1]))
    assert state[0].tolist() == [1, 1, 0, 0] and torch.equal(state[1], part[[1, 3]])
    beams, (same,) = state.select(torch.tensor([2, 3, 0, 1])).grouped()
    assert beams == 2 and same is not None and same.shape == (2, 3)
    assert (
        state.select(torch.tensor([0, 2, 3])).grouped()[0] == 1
    )  # groups of unequal size are laid out


@pytest.mark.parametrize(
    "name", [name for name in NETWORKS if "vector" not in name and name != "numbers"]
)
def test_what_is_heard_of_the_source_sums_to_one(name):
    rows, y = source_rows(), targets(6, 5)
    traced = model_of(name).trace(batch_for(name, rows, y))
    layers = 2 if model_of(name).options.mixer == "attention" else 1
    assert list(traced) == [f"attention.{layer}" for layer in range(layers)]
    for weights in traced.values():
        assert weights.shape[0] == 6 and weights.shape[2:] == (5, max(map(len, rows)))
        assert close(weights.sum(-1), torch.ones(weights.shape[:3]))
        for i, row in enumerate(rows):
            assert not weights[i, :, :, len(row) :].any()


def test_bilinear_attention_is_the_formula_of_the_lectures():
    """r = V s, u = F^T r, a = softmax(u), c = F a."""
    torch.manual_seed(0)
    part, memory, states = (
        Cross(6, 1, "bilinear", maps=False),
        torch.randn(1, 4, 6),
        torch.randn(1, 3, 6),
    )
    part.between.data = torch.randn(1, 6, 6)
    with torch.no_grad():
        found = part(states, *part.remember(memory), None, 1)[0]
    F, V = memory[0].T, part.between[0].T  # columns are the states of the encoder
    for t in range(3):
        assert close(found[t], F @ torch.softmax(F.T @ (V @ states[0, t]), 0))


@pytest.mark.parametrize("score", ["dot", "scaled", "bilinear", "mlp"])
def test_beams_of_one_source_hear_what_each_would_hear_alone(score):
    torch.manual_seed(0)
    part, memory, x = Cross(8, 2, score, maps=True), torch.randn(3, 5, 8), torch.randn(6, 2, 8)
    mask = (torch.arange(5) < torch.tensor([5, 2, 3])[:, None])[:, None, None]
    with torch.no_grad():
        keys, values = part.remember(memory)
        alone = [
            part(
                x[row : row + 1],
                *(each[row // 2 : row // 2 + 1] for each in (keys, values, mask)),
                1,
            )
            for row in range(6)
        ]
        assert close(part(x, keys, values, mask, 2), torch.cat(alone))
        heard = part.weights(x, keys, values, mask, 2)
    assert heard.shape == (6, 2, 2, 5) and close(heard.sum(-1), torch.ones(6, 2, 2))


def test_multi_head_cross_attention_equals_torchs():
    torch.manual_seed(0)
    part, twin = Cross(8, 2, "scaled", maps=True), nn.MultiheadAttention(8, 2, batch_first=True)
    twin.in_proj_weight.data = torch.cat([part.inward.weight, part.across.weight]).data
    twin.in_proj_bias.data = torch.cat([part.inward.bias, part.across.bias]).data
    twin.out_proj.weight.data, twin.out_proj.bias.data = (
        part.outward.weight.data,
        part.outward.bias.data,
    )
    memory, x, lengths = torch.randn(3, 5, 8), torch.randn(3, 4, 8), torch.tensor([5, 2, 3])
    real = torch.arange(5) < lengths[:, None]
    with torch.no_grad():
        assert close(
            part(x, *part.remember(memory), real[:, None, None], 1),
            twin(x, memory, memory, key_padding_mask=~real)[0],
        )


def test_one_vector_is_given_to_every_step_and_every_output():
    """Where both maps ignore it, the source matters only through the first state."""
    model = made("vector").eval()
    rows, y = source_rows(), targets(6, 5)

    def told(x: list[np.ndarray]) -> torch.Tensor:
        with torch.no_grad():
            return model.predict(batch_for("vector", x, y)).log_probs()

    with torch.no_grad():
        for part in model.bridge:
            part.weight.zero_()
    assert not close(told(rows), told(source_rows(1)))  # by steps and outputs alone
    for part in (model.entry, model.exit):
        part.weight.data[:, 16:] = 0
    assert close(told(rows), told(source_rows(1)))


def test_own_guesses_take_the_place_of_inputs_as_training_goes_on():
    model = made("gru", scheduled_sampling=1.0, dropout=0.0).train()
    batch = batch_for("gru", source_rows(), targets(6, 5))
    inputs, begin = model.opened(batch.y[:, :-1]), model.opening(batch)
    model.spent = 0.0
    assert torch.equal(model.guessed(inputs, begin), inputs)
    model.spent = 1.0
    own = model.read(model.run(inputs, begin)[0]).mode()
    assert torch.equal(model.guessed(inputs, begin), torch.cat([inputs[:, :1], own[:, :-1]], 1))


def test_a_mixture_is_the_mean_of_its_parts():
    parts = [model_of("gru"), model_of("transformer")]
    y = targets(6, 5)
    with torch.no_grad():
        mixed = Mixture(parts).predict(batch_for("gru", source_rows(), y)).log_probs().exp()
    assert close(
        mixed,
        (answers("gru", source_rows(), y).exp() + answers("transformer", source_rows(), y).exp())
        / 2,
    )


@pytest.mark.parametrize("name", ["gru, attends before", "lstm, attends before"])
def test_a_decoder_that_attends_before_its_step_is_the_formula_of_bahdanau(name):
    model, rows = model_of(name), source_rows()[:1]
    y = targets(1, 5)
    batch = batch_for(name, rows, y)
    inputs = model.embed(model.opened(y[:, :-1]))  # (1, T, D)
    found = []
    with torch.no_grad():
        memory, _, *inner = model.opening(batch)
        keys, values = memory[2:4]  # (1, H, P, E)
        for t in range(5):
            s = inner[-1][0] if isinstance(inner[-1], tuple) else inner[-1]  # s_{t-1}
            q = (s if model.cross.inward is None else model.cross.inward(s)).view(
                model.cross.heads, -1
            )
            if model.cross.between is not None:
                u = torch.stack([keys[0, 0] @ (model.cross.between[0].T @ q[0])])
            else:
                query, _, out = model.cross.inner
                u = out(torch.tanh(query(q)[:, None] + keys[0]))[..., 0]
            c = (u.softmax(-1)[:, None] @ values[0])[:, 0].reshape(1, -1)  # (1, D)
            x = model.entry(torch.cat([inputs[:, t], model.cross.outward(c)], -1))[:, None]
            for place, block in enumerate(model.blocks):
                x, inner[place] = block(x, inner[place])
            found.append(model.read(model.norm(x)[:, 0]).log_probs())
    assert close(answers(name, rows, y)[0], torch.cat(found))


def test_who_attends_before_a_step_has_a_state_to_ask_with():
    for settings in ({"mixer": "convolution"}, {"mixer": "none"}, {"input_feeding": True}):
        with pytest.raises(ConfigError, match="before"):
            made("gru", attends="before", **settings)
    with pytest.raises(ConfigError, match="before"):
        made("transformer", attends="before")


def test_attending_is_a_word_or_yes_or_no():
    for asked, meant in ((True, "after"), ("yes", "after"), ("before", "before"), (False, "no")):
        options = parts_of("gru", {"attends": asked}, "translate")[0].options
        assert options.attends == meant and bool(options.attends) == (meant != "no")
    with pytest.raises(ConfigError, match="never"):
        parts_of("gru", {"attends": "never"}, "translate")


def test_what_cannot_be_fed_is_refused():
    for settings in (
        {"input_feeding": True, "attends": False},
        {"input_feeding": True, "mixer": "attention"},
    ):
        with pytest.raises(ConfigError, match="fed"):
            made("gru", **settings)


def test_a_lexicon_finds_which_symbols_go_together():
    """Each symbol of the source has one translation; expectation and maximisation find it."""
    rng = np.random.default_rng(0)
    rows = [rng.integers(2, SOURCES, rng.integers(1, 8)) for _ in range(300)]
    model = create(
        parts_of("lexicon", {"spread": 10.0}, "translate"), SOURCES + 1, SOURCES, 0, False
    )
    for _ in model.counting_pairs(EncodedPairs(symbols(rows), symbols([row + 1 for row in rows]))):
        pass
    table = model.rows(torch.arange(2, SOURCES)[None])[0]  # a row for each symbol
    assert (
        table.argmax(1).tolist() == list(range(3, SOURCES + 1))
        and float(table.sum(1).max()) <= 1 + 1e-5
    )


def test_expectation_and_maximisation_equal_a_slow_twin():
    pairs = EncodedPairs(symbols([[2, 3], [2], [3, 4, 2]]), symbols([[2, 3], [2], [4, 3]]))
    model = create(
        parts_of("lexicon", {"rounds": 3, "spread": 0.5, "least": 0.0}, "translate"), 6, 6, 0, False
    )
    for _ in model.counting_pairs(pairs):
        pass
    t = {}
    for round_ in range(3):
        counts: dict[tuple[int, int], float] = {}
        for s in range(3):
            x, y = pairs.x.row(s).tolist(), [*pairs.y.row(s).tolist(), 1]
            for j, symbol in enumerate(y):
                near = [
                    np.exp(-abs(i - j * len(x) / len(y)) / (0.5 * len(x)))
                    * (t[x[i], symbol] if round_ else 1.0)
                    for i in range(len(x))
                ]
                for i, each in enumerate(near):
                    counts[x[i], symbol] = counts.get((x[i], symbol), 0.0) + each / sum(near)
        t = {
            key: value / sum(n for (first, _), n in counts.items() if first == key[0])
            for key, value in counts.items()
        }
    found = {
        (int(key) // 6, int(key) % 6): float(value) for key, value in zip(model.keys, model.values)
    }
    assert found.keys() == t.keys() and all(
        found[key] == pytest.approx(t[key], abs=1e-6) for key in t
    )


@torch.no_grad()
def test_uniform_attention_across_is_the_mean_of_the_source():
    torch.manual_seed(0)
    part, memory, x = Cross(8, 2, "uniform", maps=True), torch.randn(2, 5, 8), torch.randn(2, 3, 8)
    keys, values = part.remember(memory)
    mask = (torch.arange(5) < torch.tensor([5, 2])[:, None])[:, None, None]
    y = part(x, keys, values, mask, 1)
    for row, length in enumerate((5, 2)):
        expected = part.outward(part.across(memory[row, :length]).mean(0))
        assert close(y[row], expected.expand(3, 8))
    assert close(part.weights(x, keys, values, mask, 1)[1, 0, 0], torch.tensor([0.5, 0.5, 0, 0, 0]))


@torch.no_grad()
def test_heads_across_may_have_their_own_width():
    torch.manual_seed(0)
    part, memory, x = Cross(4, 2, "dot", True, 3), torch.randn(1, 5, 4), torch.randn(1, 1, 4)
    keys, values = part.remember(memory)
    assert keys.shape == (1, 2, 5, 3) and part.outward.weight.shape == (4, 6)
    k, v = part.across(memory[0]).chunk(2, -1)
    q = part.inward(x[0, 0])
    each = [(k[:, some] @ q[some]).softmax(0) @ v[:, some] for some in (slice(0, 3), slice(3, 6))]
    assert close(part(x, keys, values, None, 1)[0, 0], part.outward(torch.cat(each)))
