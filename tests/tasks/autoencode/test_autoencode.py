"""Sequences through one vector and back: the model, the estimates against integrals, the codec, the predictor, the command line."""

from __future__ import annotations

import json
import math
from itertools import product

import numpy as np
import pytest
import torch

import seriatim as st
from seriatim import fit
from seriatim.cli.main import main
from seriatim.data.formats.svg import read_svg
from seriatim.data.sequences import NUMBERS, Field, Sequences
from seriatim.errors import ConfigError, DataError
from seriatim.measuring.measured import Measured
from seriatim.models.ladder import create
from seriatim.show.files import keep
from seriatim.show.vectors import vector_lines
from seriatim.tasks.autoencode.codec import Samples, of_samples
from seriatim.tasks.autoencode.likelihood import (
    bound,
    information,
    likelihood,
    report,
    vectors,
    verdict,
)
from seriatim.tasks.autoencode.metrics import p_of_difference
from seriatim.tasks.autoencode.models import divergence
from seriatim.tasks.autoencode.options import WritingOptions
from seriatim.tasks.autoencode.tables import (
    label_lines,
    neighbour_lines,
    vector_figures,
    written_lines,
)
from seriatim.tasks.autoencode.writing import plan_of
from tests.ladder import parts_of

VOCABULARY, ROWS = 9, 5
RUNGS = {
    "decoder": ("decoder", {}),
    "decoder, labels": ("decoder", {"labels": (3, 2)}),
    "rnn, state": ("rnn", {"into": "state"}),
    "gru, every": ("gru", {"into": "every"}),
    "lstm": ("lstm", {}),
    "lstm, plain": ("lstm", {"variational": False}),
    "lstm, labels": ("lstm", {"labels": (3,)}),
    "lstm, without inputs": ("lstm", {"teacher_forcing": False}),
    "transformer": ("transformer", {}),
    "transformer, state": ("transformer", {"into": "state"}),
    "convolution": ("gru", {"mixer": "convolution", "layers": 2}),
    "transformer reads, gru writes": ("gru", {"encoder_mixer": "attention", "heads": 2}),
    "numbers": ("lstm", {"channels": 2}),
    "numbers, transformer": ("transformer", {"channels": 3}),
    "numbers, decoder": ("decoder", {"channels": 1}),
}


def made(name: str):
    spec, chosen = RUNGS[name]
    chosen = (
        {"width": 16, "latent": 0 if spec == "decoder" else 4, "dropout": 0.0}
        | ({"heads": 2} if spec == "transformer" else {})
        | chosen
    )
    labels, channels = chosen.pop("labels", ()), chosen.pop("channels", 0)
    torch.manual_seed(1)
    return create(
        parts_of(spec, chosen, "autoencode"), 3 if channels else VOCABULARY, channels, labels
    ).eval()


def samples_for(model, lengths=(4, 1, 7, 3, 6)) -> Samples:
    rng = np.random.default_rng(3)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    labels = np.array(
        [[rng.integers(names.num_embeddings) for names in model.names] for _ in lengths], np.int64
    ).reshape(len(lengths), -1)
    if not model.channels:
        return Samples(
            Field(rng.integers(2, VOCABULARY, offsets[-1]).astype(np.int32), offsets, "symbols"),
            labels,
        )
    values = np.column_stack(
        [rng.standard_normal((offsets[-1], model.channels)), rng.integers(0, 2, offsets[-1])]
    ).astype(np.float32)
    values[offsets[1:] - 1, -1] = 2
    return Samples(Field(values, offsets, NUMBERS), labels)


# The model


@pytest.mark.parametrize("name", ["lstm", "lstm, plain", "numbers", "transformer"])
def test_the_vector_is_all_that_the_decoder_knows(name):
    """With its own vector in the place of another's, a sequence costs what it costs."""
    model = made(name)
    samples = samples_for(model)
    batch = of_samples(samples, np.arange(ROWS))
    other = of_samples(samples.take(np.arange(ROWS)[::-1]), np.arange(ROWS))
    with torch.no_grad():
        own, _ = model.encode(batch)
        first = model.rewrite(batch, own)
        assert torch.allclose(
            first.log_prob(batch.y), model.predict(batch).log_prob(batch.y), atol=1e-6
        )
        changed = model.rewrite(batch, model.encode(other)[0]).log_prob(batch.y)
    assert not torch.allclose(changed[0], first.log_prob(batch.y)[0], atol=1e-4)


def test_without_inputs_the_past_is_not_heard():
    model = made("lstm, without inputs")
    batch = of_samples(samples_for(model), np.arange(ROWS))
    with torch.no_grad():
        code, _ = model.encode(batch)
        before = model.rewrite(batch, code).log_probs()
        batch.y[:, 0] = 2
        assert torch.equal(model.rewrite(batch, code).log_probs(), before)


def test_the_price_of_the_vector_rises_as_it_is_told():
    for annealing, expected in (
        ("none", [1, 1, 1, 1, 1]),
        ("linear", [0, 1 / 3, 5 / 6, 1, 1]),
        ("cyclic", [0, 2 / 3, 0, 1, 0]),
    ):
        model = create(
            parts_of(
                "gru",
                {
                    "annealing": annealing,
                    "rising": 0.3 if annealing != "cyclic" else 0.6,
                    "width": 8,
                },
                "autoencode",
            ),
            VOCABULARY,
        )
        found = []
        for spent in (0.0, 0.1, 0.25, 0.4, 0.5):
            model.spent = spent
            found.append(model.price())
        assert found == pytest.approx(expected)


def test_nats_that_are_free_are_not_paid_for():
    """Free is what tells vectors apart, not what they have in common; without anything free, it is the mean KL."""
    made = lambda free: create(
        parts_of("gru", {"free_bits": free, "latent": 3, "width": 8}, "autoencode"), VOCABULARY
    )
    mean, spread = torch.randn(50, 3), torch.randn(50, 3)
    assert float(made(0.0).charged(mean, spread)) == pytest.approx(
        float(divergence(mean, spread).mean(0).sum()), rel=1e-5
    )
    same = torch.full((50, 3), 2.0)  # all in one place, with the variance of the prior
    assert float(made(0.5).charged(same, torch.zeros(50, 3))) == pytest.approx(
        3 * (2.0 + 0.5), rel=1e-5
    )
    assert float(made(0.5).charged(mean, spread)) >= float(made(0.0).charged(mean, spread))


def test_divergence_is_that_of_torch():
    mean, spread = torch.randn(6, 3), torch.randn(6, 3)
    expected = torch.distributions.kl_divergence(
        torch.distributions.Normal(mean, (spread / 2).exp()), torch.distributions.Normal(0, 1)
    )
    assert torch.allclose(divergence(mean, spread), expected, atol=1e-5)


# The estimates


def test_the_likelihood_is_the_integral_over_the_vector():
    """With two numbers in the vector, log p(x) = log int p(x | z) p(z) dz can be summed on a grid."""
    torch.manual_seed(0)
    model = create(
        parts_of("gru", {"latent": 2, "width": 12, "dropout": 0.0}, "autoencode"), VOCABULARY
    ).eval()
    samples = samples_for(model)
    axis = torch.linspace(-5, 5, 81)
    grid = torch.cartesian_prod(axis, axis)  # (N, 2)
    exact = []
    with torch.inference_mode():
        for s in range(ROWS):
            batch = of_samples(samples, np.full(len(grid), s))
            written = (model.rewrite(batch, grid).log_prob(batch.y) * batch.y_mask).sum(1).double()
            prior = -(grid.double() ** 2).sum(1) / 2 - math.log(2 * math.pi)
            exact.append(
                float(torch.logsumexp(written + prior, 0) + 2 * math.log(float(axis[1] - axis[0])))
            )
    assert np.allclose(likelihood(model, samples, 1500), exact, atol=0.1)
    found = [bound(model, samples, seed) for seed in range(30)]
    lower = -np.mean([each.written + each.said.sum(1) for each in found], 0)
    assert (lower < exact).all() and np.allclose(
        np.mean([likelihood(model, samples, 1, seed) for seed in range(30)], 0), lower, atol=0.5
    )


def test_without_a_vector_the_likelihood_is_exact_and_sums_to_one():
    """Over all sequences up to a length, and the rest that is longer."""
    torch.manual_seed(0)
    model = create(
        parts_of("decoder", {"width": 8, "latent": 0, "dropout": 0.0}, "autoencode"), 3
    ).eval()
    rows = [row for length in range(6) for row in product((0, 2), repeat=length)]  # STOP is 1
    column = Field(
        np.array([symbol for row in rows for symbol in row], np.int32),
        np.concatenate([[0], np.cumsum([len(row) for row in rows])]),
        "symbols",
    )
    found = np.exp(likelihood(model, Samples(column, np.zeros((len(rows), 0), np.int64)), 1)).sum()
    with torch.inference_mode():
        longer = 0.0
        for row in product((0, 2), repeat=6):
            batch = of_samples(
                Samples(
                    Field(np.array(row, np.int32), np.array([0, 6]), "symbols"),
                    np.zeros((1, 0), np.int64),
                ),
                np.arange(1),
            )
            longer += float(model.predict(batch).log_prob(batch.y)[0, :6].sum().exp())
    assert found + longer == pytest.approx(1.0, abs=1e-5)


def test_information_of_normals_is_what_theory_says():
    """Means N(0, a^2) and deviation b: I = log(1 + a^2 / b^2) / 2 for each number."""
    rng = np.random.default_rng(0)
    mean, spread = rng.normal(0, 2.0, (2000, 2)), np.full((2000, 2), math.log(0.25))
    assert information(mean, spread, rng.standard_normal((2000, 2))) == pytest.approx(
        2 * math.log(1 + 4 / 0.25) / 2, abs=0.15
    )
    assert information(
        np.zeros((50, 3)), np.zeros((50, 3)), rng.standard_normal((50, 3))
    ) == pytest.approx(0.0, abs=1e-9)


def test_a_report_knows_whether_the_vector_is_used():
    model = made("lstm")
    samples = samples_for(model)
    for each in (*model.bridge, model.every):
        torch.nn.init.zeros_(each.weight)  # deaf to the vector
    found = report(model, samples)
    assert (
        found["shuffled"] == pytest.approx(0.0, abs=1e-5)
        and found["words"].startswith("the vector is not used")
        and "--free-bits" in found["words"]
    )
    good = {
        "sequences": 9,
        "written": 50.0,
        "shuffled": 10.0,
        "active": 20,
        "latent": 32,
        "said": 8.0,
        "information": 5.0,
    }
    assert verdict(good, True).startswith("the vector is used:") and "a little" in verdict(
        good | {"shuffled": 1.0}, True
    )
    assert "not used" in verdict(good | {"active": 0}, True) and "one sequence" in verdict(
        good | {"sequences": 1}, True
    )


# The predictor


@pytest.fixture(scope="module")
def grammar():
    """A variational gru on sentences of the grammar, just long enough that it uses its vector."""
    return fit(
        "autoencode",
        "gru",
        st.read("sentences:count=1500,seed=1"),
        updates=160,
        width=48,
        latent=8,
        free_bits=0.3,
        threads=1,
        validations=3,
    )


@pytest.fixture(scope="module")
def shapes():
    """A variational gru on drawings with their names."""
    return fit(
        "autoencode",
        "gru",
        st.read("drawings:count=300,seed=1"),
        updates=60,
        width=32,
        latent=6,
        condition="label",
        threads=1,
        validations=2,
    )


@pytest.fixture(scope="module")
def labelled():
    """Words that depend on a label: a decoder conditioned on it."""
    rng = np.random.default_rng(0)
    labels = ["ham" if each else "spam" for each in rng.random(400) < 0.7]
    texts = [
        " ".join(
            rng.choice(["win", "cash", "now"] if label == "spam" else ["see", "you", "soon"], 4)
        )
        for label in labels
    ]
    data = Sequences({"text": Field.of_text(texts), "label": Field.of_labels(labels)})
    return fit(
        "autoencode",
        "decoder",
        data,
        updates=80,
        width=24,
        condition="label",
        threads=1,
        validations=2,
    ), data


def test_what_a_fit_says_of_its_loss_has_no_comma_of_its_own(grammar):
    """It stands before another: "best after so many updates"."""
    assert grammar.metrics["per"] == "nats per symbol with the vector's included"


def test_a_variational_model_learns_and_says_whether_its_vector_is_used(grammar):
    found = grammar.evaluate("sentences:count=200,seed=9", draws=16)
    assert found["entropy"] < found["nats_per_symbol"] < found["bound_per_symbol"] < 3.2
    assert grammar.metrics["report"]["shuffled"] > 0.5 and grammar.metrics["report"][
        "words"
    ].startswith("the vector is used")
    assert found["rewritten"]["word_error"] < found["rewritten"]["by_chance"]["word_error"]


def test_everything_is_the_same_after_saving(grammar, shapes, tmp_path):
    for name, model, data in (
        ("g", grammar, "sentences:count=20,seed=3"),
        ("s", shapes, "drawings:count=4,seed=3"),
    ):
        again = st.load(model.save(tmp_path / name))
        assert np.allclose(
            *([each["vector"] for each in which.embed(data)["items"]] for which in (again, model)),
            atol=1e-5,
        )
        assert np.allclose(
            *(
                [each["log_prob"] for each in which.score(data)["items"]]
                for which in (again, model)
            ),
            atol=1e-4,
        )
        assert all(
            same(*pair)
            for pair in zip(
                *(which.generate(count=3, length=20)["items"] for which in (again, model)),
                strict=True,
            )
        )


def same(first: dict, second: dict) -> bool:
    """The same text or numbers, up to the last bits that another place in memory may change."""
    return (
        np.allclose(first["numbers"], second["numbers"], atol=1e-4)
        if "numbers" in first
        else first["text"] == second["text"]
    )


def test_the_way_between_begins_and_ends_where_it_should(grammar):
    first, last = "the cat sees a dog .", "every king sleeps ."
    record = grammar.interpolate([first, last], count=5)
    way, ends = record["items"], grammar.reconstruct([first, last])["items"]
    assert len(way) == 5 and [way[0]["text"], way[-1]["text"]] == [each["text"] for each in ends]
    assert record["columns"] is None and written_lines(record).splitlines()[0] == way[0]["text"]
    grid = grammar.interpolate([first, last], ends="1,2,1,2", count=3)
    assert len(grid["items"]) == 9 and grid["columns"] == 3
    assert grid["items"][0]["text"] == way[0]["text"]
    with pytest.raises(ConfigError, match="between two"):
        grammar.interpolate([first])
    with pytest.raises(ConfigError, match="between two"):
        grammar.interpolate([first, last], ends="1,2,2")
    with pytest.raises(DataError, match="no sequence 3"):
        grammar.interpolate([first, last], ends="1,3")


def test_vectors_are_added_and_subtracted(grammar):
    a, b = "the cat sees a dog .", "every king sleeps ."

    def combined(text, **settings):
        return grammar.analogy(text, **settings)["items"][0]["text"]

    whole = grammar.reconstruct([a])["items"][0]["text"]
    assert combined(f"{a} - {b} + {b}") == combined(a) == whole
    assert combined("1 - 2 + 2", of=[a, b]) == whole


def test_the_nearest_neighbour_of_a_sequence_is_itself(grammar):
    data = st.read("sentences:count=50,seed=5")
    text = " ".join(data.main.raw(17))
    record = grammar.neighbours(data, to=text, top=3)
    assert record["items"][0] == {"sequence": text, "cosine": pytest.approx(1.0, abs=1e-5)}
    assert neighbour_lines(record).splitlines()[0] == f"  1.0000  {text}"
    assert "'zebra'" in grammar.neighbours(data, to="the zebra")["notes"][0]
    with pytest.raises(ConfigError, match="of what"):
        grammar.neighbours(data)


def test_a_vector_is_a_line_of_numbers(grammar):
    record = grammar.embed("sentences:count=3,seed=5")
    assert [len(each["vector"]) for each in record["items"]] == [8] * 3
    assert [len(line.split("\t")) for line in vector_lines(record).splitlines()] == [8] * 3


def test_what_was_measured_is_summarised_the_same_when_it_was_kept(
    grammar, shapes, labelled, tmp_path
):
    for name, model, data in (
        ("grammar", grammar, "sentences:count=20,seed=3"),
        ("shapes", shapes, "drawings:count=4,seed=3"),
        ("labelled", labelled[0], labelled[1][:20]),
    ):
        measured = model.measure(data, draws=4)
        measured.save(tmp_path / name)
        again = Measured.load(tmp_path / name)
        assert model.summarise(again) == model.summarise(measured)
        assert model.row(again)["nats_per_symbol"] == model.summarise(measured)["nats_per_symbol"]
        assert vector_figures(model.summarise(again)).row_count > 5
        assert p_of_difference(measured, again) == 1.0 and measured.item(0)["item"] == 0
    assert model.evaluate(data, against=model, draws=4)["against"]["p"] == 1.0


def test_samples_of_a_row_do_not_depend_on_how_many_there_are(grammar, shapes):
    for model in (grammar, shapes):
        several = model.generate(count=4, seed=3, length=20)["items"]
        single = model.generate(count=1, seed=5, length=20)["items"]
        assert same(several[2], single[0])


def test_drawings_are_written_grids_and_completed(shapes, tmp_path):
    corpus = "drawings:count=5,seed=2"
    data = st.read(corpus)
    begun = data.main.raw(0)
    part = max(1, round(0.5 * len(begun)))
    record = shapes.complete(data, number=1, part=0.5, count=2, temperature=0.5, length=20)
    assert len(record["items"]) == 2
    for item in record["items"]:
        rows = np.array(item["numbers"])
        assert np.allclose(rows[:part], begun[:part], atol=1e-4) and len(rows) > part
    rows = [data.main.raw(s) for s in range(5)]
    assert shapes.neighbours(rows, to=begun, top=1)["items"][0]["sequence"] == 1
    run = str(shapes.save(tmp_path / "run"))
    found = st.call("neighbours", run, corpus, to="2", top=1)
    assert found["items"][0]["sequence"] == 2
    assert len(st.call("analogy", run, "1 - 2 + 3", of=corpus, length=20)["items"]) == 1
    grid = st.call("interpolate", run, corpus, ends="1,2,3,4", count=3, length=30)
    assert keep(grid, tmp_path / "grid.svg") == [str(tmp_path / "grid.svg")]
    assert read_svg(str(tmp_path / "grid.svg"))[0]["strokes"].flat.shape[1] == 3
    assert "a drawing" in written_lines(grid)
    with pytest.raises(ConfigError, match="of this name"):
        st.call("generate", run, label="stars")
    with pytest.raises(ConfigError, match="do not begin with text"):
        shapes.generate("a star")
    with pytest.raises(ConfigError, match="kind the model reads"):
        shapes.analogy("a star")


def test_a_writer_that_is_told_the_label_is_a_classifier(labelled):
    model, data = labelled
    assert model.evaluate(data)["classified"]["accuracy"] > 0.99
    record = model.predict(["win cash now", "see you soon"])
    found = record["items"]
    assert [line.split("\t")[0] for line in label_lines(record).splitlines()] == ["spam", "ham"]
    assert [each["label"] for each in found] == ["spam", "ham"] and sum(
        each["probability"] for each in found[0]["probabilities"]
    ) == pytest.approx(1)
    spam = {"win", "cash", "now"}
    (one,) = model.generate(label="spam", length=8, seed=1)["items"]
    assert set(one["text"].split()) <= spam
    several = model.generate(count=60, length=8)
    drawn = [set(each["text"].split()) <= spam for each in several["items"]]
    assert written_lines(several).splitlines()[0].split("\t")[0] in ("spam", "ham")
    assert 0.1 < np.mean(drawn) < 0.55  # as often as in training, 30 %


def test_a_beam_without_a_vector_gives_its_best(labelled):
    found = labelled[0].generate("see", label="ham", beam=4, count=3, length=6)["items"]
    assert len({each["text"] for each in found}) == 3 and all(
        each["condition"] == {"label": "ham"} and each["text"].startswith("see") for each in found
    )


def test_threads_that_share_the_vectors_write_what_one_would(grammar):
    latents, labels = (
        np.random.default_rng(0).standard_normal((12, 8)).astype(np.float32),
        np.zeros((12, 0), np.int64),
    )
    plan = plan_of(grammar.codec, WritingOptions, {"beam": 2, "length": 12}, "generate")
    threads, found = torch.get_num_threads(), []
    for many in (1, 2):
        torch.set_num_threads(many)
        try:
            with torch.inference_mode():
                found.append([each["text"] for each in grammar.write(latents, labels, plan)])
        finally:
            torch.set_num_threads(threads)
    assert found[0] == found[1] and len(set(found[0])) > 6


def test_posteriors_are_bayes_rule_by_hand(labelled):
    model, data = labelled
    samples = model.samples(data).take(slice(0, 10))
    joint = np.stack(
        [
            likelihood(model.model, Samples(samples.x, np.full((10, 1), label)), 1)
            for label in (0, 1)
        ],
        1,
    )
    joint += np.log(model.metrics["shares"]["label"])
    assert np.allclose(
        model.posterior(samples), joint - np.log(np.exp(joint).sum(1, keepdims=True)), atol=1e-6
    )


def test_a_plain_vector_has_no_probability(tmp_path):
    model = fit(
        "autoencode",
        "gru",
        st.read("sentences:count=200"),
        updates=10,
        width=16,
        latent=4,
        variational=False,
        threads=1,
    )
    assert model.metrics["per"] == "nats per symbol given its vector"
    with pytest.raises(ConfigError, match="no probability"):
        model.score("sentences:count=5")
    assert (
        "no likelihood" in model.evaluate("sentences:count=20")["protocol"]["nats"]
        and len(model.generate(count=2)["items"]) == 2
    )


def test_a_fit_that_was_stopped_goes_on_to_the_same_bits(tmp_path):
    settings = {
        "updates": 12,
        "width": 16,
        "latent": 4,
        "word_dropout": 0.3,
        "threads": 1,
        "checkpoint_seconds": 0.0,
    }
    data = st.read("sentences:count=200")
    whole = fit("autoencode", "gru", data, **settings)
    out = str(tmp_path / "run")
    events = st.run("fit", "autoencode", data, model="gru", out=out, **settings)
    seen = 0
    with pytest.raises(GeneratorExit):
        for event in events:
            seen += event["event"] in ("step", "begin", "validation")
            if seen == 4:
                events.close()
                raise GeneratorExit
    again = fit("autoencode", "gru", data, out=tmp_path / "run", resume=True, **settings)
    assert all(
        torch.equal(first, second)
        for first, second in zip(
            whole.model.arrays().values(), again.model.arrays().values(), strict=True
        )
    )


def test_what_makes_no_sense_is_refused(grammar, labelled):
    with pytest.raises(DataError, match="one stream"):
        fit("autoencode", "gru", st.read("markov:length=500"), updates=1)
    with pytest.raises(ConfigError, match="no vectors"):
        labelled[0].interpolate(["a", "b"])
    with pytest.raises(ConfigError, match="no vectors"):
        labelled[0].embed(["a", "b"])
    with pytest.raises(ConfigError, match="no labels"):
        grammar.generate(label="spam")
    with pytest.raises(ConfigError, match=r"no labels.*embed"):
        grammar.predict(["the cat sleeps ."])
    with pytest.raises(ConfigError, match="empty text"):
        grammar.analogy("the cat - ")
    with pytest.raises(ConfigError, match="unknown setting 'exact'"):
        grammar.generate(exact=True)
    with pytest.raises(ConfigError, match="numbers are completed"):
        grammar.complete(["the cat sleeps ."])
    with pytest.raises(DataError, match="not what this model"):
        grammar.embed(Sequences({"values": Field.of_numbers([np.zeros((3, 2))])}))


def test_a_prompt_comes_back_as_it_was_typed(grammar):
    record = grammar.generate("the zebra", length=6, seed=1)
    assert record["items"][0]["text"].startswith("the zebra")
    assert record["notes"] == ["the model does not know 'zebra'"]


def test_a_field_to_be_conditioned_on_must_be_there_before_anything_is_done(tmp_path):
    table = tmp_path / "table.csv"
    rows = [f"{'one two'} {i},{'ab'[i % 2]},x{i}" for i in range(40)]
    table.write_text("\n".join(["words,author,note", *rows]))
    with pytest.raises(DataError, match="no field 'writer' to be conditioned on"):
        fit("autoencode", "gru", table, field="words", condition="writer", updates=1)
    settings = {"updates": 2, "width": 8, "latent": 2, "threads": 1}
    model = fit("autoencode", "gru", table, field="words", condition="author", **settings)
    assert model.codec.conditions["author"].names == ["a", "b"]
    assert "one" in model.codec.number and "x1" not in model.codec.number
    assert len(model.reconstruct(table)["items"]) == 40
    assert st.read(str(table), unit="character").unit == "character"
    letters = st.read(str(table), unit="character", field="words")
    assert fit("autoencode", "gru", letters, **settings).unit == "character"


def test_a_fit_that_is_refused_leaves_nothing(tmp_path):
    with pytest.raises(ConfigError, match="smooth"):
        fit(
            "autoencode",
            "gru",
            st.read("drawings:count=30"),
            out=tmp_path / "run",
            updates=2,
            width=8,
            label_smoothing=0.1,
        )
    assert not (tmp_path / "run").exists()


def test_numbers_of_one_channel_are_read_and_written():
    rng = np.random.default_rng(0)
    rows = [np.sin(np.arange(rng.integers(8, 15)) + phase) for phase in rng.random(60)]
    model = fit(
        "autoencode",
        "gru",
        Sequences({"values": Field.of_numbers(rows)}),
        updates=20,
        width=16,
        latent=2,
        threads=1,
    )
    assert (
        np.array(model.generate(temperature=0.5, seed=1)["items"][0]["numbers"]).shape[1] == 1
        and model.evaluate(Sequences({"values": Field.of_numbers(rows[:5])}))["symbols"] > 30
    )


# The command line


def test_from_fit_to_melodies_on_the_command_line(tmp_path, capsys):
    run, tune = str(tmp_path / "run"), tmp_path / "tune.mid"

    def done(*words: str) -> int:
        return main([str(word) for word in words])

    small = ("--updates", "12", "--width", "24", "--latent", "4")
    fitted = done(
        "fit", "autoencode", "gru", "tunes:count=60", *small, "--out", run, "--format", "json"
    )
    assert fitted == 0
    assert json.loads(capsys.readouterr().out)["report"]["latent"] == 4
    assert done("generate", run, "--length", "12", "--seed", "2", "--out", tune) == 0
    assert len(st.read(str(tune))[0]["tokens"]) > 0
    capsys.readouterr()
    evaluated = done("evaluate", run, "tunes:count=8,seed=4", "--draws", "2", "--format", "json")
    assert evaluated == 0 and json.loads(capsys.readouterr().out)["sequences"] == 8
    assert done("embed", run, "tunes:count=3,seed=4", "--format", "json") == 0
    assert len(json.loads(capsys.readouterr().out)["items"]) == 3
    near = ("--to", "C4:1/4 D4:1/4", "--top", "2")
    assert done("neighbours", run, "tunes:count=5,seed=4", *near) == 0
    assert done("interpolate", run, "tunes:count=2,seed=4", "--count", "3") == 0
    assert len(capsys.readouterr().out.splitlines()) == 5
    few = ("--valid", tune, "--updates", "2", "--width", "8", "--out", run + "2")
    assert done("fit", "autoencode", "gru", tune, tune, tune, *few) == 0
    for wrong in (
        ("interpolate", run, "--text", "a", "--count", "3"),
        ("complete", run, "tunes:count=2,seed=4"),
        ("analogy", run),
        ("generate", run, "--out", "x.pdf"),
    ):
        assert done(*wrong) == 2
    assert vectors(st.load(run).model, st.load(run).samples("tunes:count=3"))[0].shape == (3, 4)
