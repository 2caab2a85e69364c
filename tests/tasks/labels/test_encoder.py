"""A language model that reads for a classifier or a tagger: copied, frozen or not, alone in its run."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import torch

import seriatim
from seriatim.data.sequences import Sequences
from seriatim.errors import ConfigError, RunError
from seriatim.tasks.labels.codec import of_examples
from tests.labels import messages, sentences

SMALL = {"width": 8, "updates": 6, "threads": 1, "seed": 1, "beside": "no"}


def text_of(data: Sequences) -> Sequences:
    return Sequences.of([" ".join(map(str, each.split())) for each in texts_of(data)], unit="word")


def texts_of(data: Sequences) -> list[str]:
    raws = (data.main.raw(s) for s in range(len(data)))
    return [each if isinstance(each, str) else " ".join(map(str, each)) for each in raws]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Language models of the texts of both rooms."""
    place = tmp_path_factory.mktemp("encoders")
    both = Sequences.of(texts_of(messages(60)) + texts_of(sentences(60)), unit="word")
    for spec, settings in (("gru", {}), ("transformer", {"heads": 2, "layers": 1})):
        own = {"width": 12, "updates": 8, "threads": 1, "seed": 2, **settings}
        seriatim.fit("language", spec, both, **own).save(place / spec)
    seriatim.fit("language", "markov", both).save(place / "markov")
    letters = Sequences.of(texts_of(messages(60)), unit="character")
    seriatim.fit("language", "lstm", letters, width=128, updates=2, threads=1).save(
        place / "letters"
    )
    return place


def fitted(task: str, folder, name: str = "gru", spec: str = "mean", **settings):
    data = messages(60) if task == "classify" else sentences(60)
    settings = {**SMALL, "encoder": str(folder / name), **settings}
    spec = spec if task == "classify" or spec != "mean" else "gru"
    return seriatim.fit(task, spec, data, **settings)


@pytest.mark.parametrize("name", ("gru", "transformer"))
@pytest.mark.parametrize("task", ("classify", "tag"))
def test_symbols_are_the_encoders_vectors_in_context(task, name, folder):
    model, encoder = fitted(task, folder, name), seriatim.load(folder / name)
    assert model.codec.symbols == encoder.codec.symbols and model.unit == encoder.unit
    network, texts = model.model, ["the a b", "b a"]
    examples = model.codec.encode(model.data(texts, gaps=True), labelled=False)
    batch = of_examples(examples, np.arange(2))
    with torch.no_grad():
        read = network.reader(batch.x, batch.x_lengths)
    for s, item in enumerate(encoder.embed(texts)["items"]):
        vectors = np.array(item["vectors"])
        assert np.allclose(read[s, : len(vectors)].numpy(), vectors, atol=1e-5)


def weights(model) -> dict[str, torch.Tensor]:
    return {name: each.clone() for name, each in model.model.reader.network.state_dict().items()}


def test_it_is_frozen_unless_it_is_said(folder):
    original = seriatim.load(folder / "gru").model.state_dict()
    frozen, learning = fitted("classify", folder), fitted("classify", folder, encoder_frozen=False)
    for name, each in weights(frozen).items():
        assert torch.equal(each, original[name])
    assert any(not torch.equal(each, original[name]) for name, each in weights(learning).items())
    fit = [p for p in frozen.model.parameters() if p.requires_grad]
    assert not any(p.requires_grad for p in frozen.model.reader.parameters()) and fit


@pytest.mark.parametrize("task", ("classify", "tag"))
def test_the_run_stands_alone(task, folder, tmp_path):
    copied = shutil.copytree(folder, tmp_path / "encoders")
    model = fitted(task, copied, letters="no" if task == "classify" else "convolution")
    model.save(tmp_path / "run")
    shutil.rmtree(copied)
    again, texts = seriatim.load(tmp_path / "run"), ["the a b", "b a"]
    assert again.predict(texts)["items"] == model.predict(texts)["items"]
    assert again.model.size() == model.model.size()
    data = messages(60) if task == "classify" else sentences(60)
    assert any("pretraining" in note for note in again.evaluate(data)["notes"])


def test_votes_of_a_language_model_do_not_come_along(folder):
    model = fitted("classify", folder, "letters")
    assert model.unit == "character" and model.model.reader.width == 128
    assert not any("votes" in name for name in model.model.state_dict())


def test_what_counts_beside_it_and_values_work_with_it(folder):
    told = fitted("classify", folder, beside="linear")
    assert told.model.counted is not None
    texts = texts_of(messages(60))
    own = {key: value for key, value in SMALL.items() if key != "beside"}
    values = [float(len(each)) for each in texts]
    encoder = str(folder / "gru")
    model = seriatim.fit("regress", "mean", (texts, values), encoder=encoder, **own)
    assert model.model.reader is not None and model.evaluate((texts, values))["mae"] > 0


def test_what_cannot_read_is_refused(folder, tmp_path):
    with pytest.raises(ConfigError, match="reads symbols in their context"):
        fitted("classify", folder, "markov")
    with pytest.raises(ConfigError, match="as it cuts them"):
        fitted("classify", folder, unit="character")
    with pytest.raises(ConfigError, match="word vectors"):
        fitted("classify", folder, word_vectors=str(folder / "gru"))
    x = np.random.default_rng(0).normal(size=(30, 4, 2)).tolist()
    with pytest.raises(ConfigError, match="numbers"):
        own = {**SMALL, "encoder": str(folder / "gru")}
        seriatim.fit("classify", "gru", (x, ["a", "b"] * 15), **own)
    with pytest.raises(RunError):
        fitted("classify", tmp_path, "nowhere")
