"""Contextual vectors: those that the answer is read from, of every layer, in language and labels."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import seriatim
from seriatim.data.sequences import Sequences
from seriatim.errors import ConfigError
from seriatim.models.base import evaluating
from seriatim.models.contextual import while_reading
from seriatim.records import array_of
from seriatim.show.vectors import vector_lines, vector_rows
from seriatim.tasks.labels.codec import of_examples
from tests.labels import messages, sentences
from tests.terminal import good

SMALL = {"width": 8, "updates": 3, "threads": 1, "seed": 1}
TEXTS = ["the river bank", "the bank of england", "a"]


def language(spec: str, **settings):
    lines = Sequences.of([f"{text} {i}" for text in TEXTS for i in range(20)], unit="word")
    return seriatim.fit("language", spec, lines, **SMALL | settings)


@pytest.mark.parametrize("spec", ("gru", "lstm", "transformer", "convolution"))
def test_the_last_layer_is_what_the_next_symbol_is_read_from(spec):
    model = language(spec)
    ids = model.codec.encode(model.data(TEXTS).main)
    items = model.embed(TEXTS)["items"]
    for s, item in enumerate(items):
        assert item["text"] == TEXTS[s] and item["tokens"] == TEXTS[s].split()
        with evaluating(model.model):
            symbols = torch.tensor([[model.model.vocabulary, *ids.row(s).tolist()]])
            hidden = model.model.run(symbols, model.model.empty(1))[0][0, 1:]
        width = model.model.options.width
        assert np.allclose(array_of(item["vectors"]), hidden[:, :width], atol=1e-5)


def test_layers_are_counted_from_one():
    model = language("lstm", layers=2)
    one, two, last = (model.embed(TEXTS[:1], layer=n)["items"][0]["vectors"] for n in (1, 2, 0))
    assert one != two and two == last  # without a norm behind the blocks
    with pytest.raises(ConfigError, match="no such layer"):
        model.embed(TEXTS, layer=3)


def test_a_word_depends_on_what_stands_before_it_and_the_mean_is_theirs():
    model = language("gru")
    river, england = (array_of(item["vectors"]) for item in model.embed(TEXTS[:2])["items"])
    assert np.allclose(river[0], england[0]) and not np.allclose(river[2], england[1], atol=1e-3)
    mean = model.embed(TEXTS[:2], each="sequence")["items"][1]["vector"]
    assert np.allclose(mean, england.mean(0), atol=1e-5)


@pytest.mark.parametrize("spec", ("gru", "transformer"))
def test_long_texts_are_read_in_pieces(spec, monkeypatch):
    model = language(spec, **({"context": 9} if spec == "transformer" else {}))
    row = np.random.default_rng(0).integers(2, model.codec.size, 50)
    whole = while_reading(model.model, row, 0, spec)
    monkeypatch.setattr("seriatim.models.contextual.CHUNK", 7)
    assert np.allclose(while_reading(model.model, row, 0, spec), whole, atol=1e-5)


@pytest.mark.parametrize("task", ("classify", "tag"))
@pytest.mark.parametrize("spec", ("lstm", "transformer"))
def test_labels_have_the_vectors_before_the_pooling(task, spec):
    data = messages(40) if task == "classify" else sentences(40)
    model = seriatim.fit(task, spec, data, **SMALL)
    items = model.embed(data[:3])["items"]
    examples, network = model.codec.encode(data[:3]), model.model
    with evaluating(network):
        batch = of_examples(examples, np.arange(3))
        hidden = network.stack(network.embedded(batch), batch.x_lengths)  # (3, P, D)
    for s, item in enumerate(items):
        many = int(examples.x.lengths[s])
        assert len(item["tokens"]) == many
        assert np.allclose(array_of(item["vectors"]), hidden[s, :many], atol=1e-5)
    means = model.embed(data[:3], each="sequence")["items"]
    assert np.allclose(means[0]["vector"], array_of(items[0]["vectors"]).mean(0), atol=1e-5)


def test_an_extra_position_is_not_among_them_and_numbers_are_steps():
    with_unit = seriatim.fit("classify", "transformer", messages(40), pool="unit", **SMALL)
    item = with_unit.embed(["a b c"])["items"][0]
    assert len(item["vectors"]) == len(item["tokens"]) == 3
    x = np.random.default_rng(0).normal(size=(30, 4, 2)).tolist()
    numeric = seriatim.fit("classify", "gru", (x, ["a", "b"] * 15), **SMALL)
    assert numeric.embed(x[:1])["items"][0]["tokens"] == ["1", "2", "3", "4"]


def test_what_counts_is_refused_and_tables_show_symbols(tmp_path):
    with pytest.raises(ConfigError, match="counts"):
        seriatim.fit("classify", "naive-bayes", messages(40)).embed(["a"])
    model = language("gru")
    with pytest.raises(ConfigError, match="counts"):
        seriatim.fit("language", "markov", Sequences.of(TEXTS, unit="word")).embed(["a"])
    record = model.embed(TEXTS[:2])
    assert vector_lines(record).splitlines()[0].startswith("the\t")
    rows = vector_rows(record)
    assert [row["token"] for row in rows] == [
        *["the", "river", "bank", "the", "bank", "of", "england"]
    ]
    assert rows[3]["sequence"] == 2 and {"vector 0", "vector 7"} <= rows[0].keys()
    model.save(tmp_path / "run")
    out = good("embed", tmp_path / "run", "--text", "the bank", "--each", "sequence").out
    assert len(out.split("\t")) == 8
