"""A pretrained encoder, frozen, under linear models: what it says, what is kept, what is refused."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import seriatim as st
from seriatim.errors import ConfigError, RunError
from seriatim.models.pretrained import Encoder, folder_of
from seriatim.tasks.labels.models.pretrained import TrialsOfVectors
from tests.pretrained import encoder

SUBJECTS = ("film", "prize", "entry", "a watch", "what", "your ok", "to", "now")
GOOD = [f"{word} {word} {each} {word}" for word in ("wonderful", "joy") for each in SUBJECTS]
BAD = [f"{word} {word} {each} {word}" for word in ("free", "claim") for each in SUBJECTS]
DATA = (GOOD * 2 + BAD * 2, ["good"] * 32 + ["bad"] * 32)
VALUES = (DATA[0], [1.0] * 32 + [0.0] * 32)


@pytest.fixture
def folder(tmp_path) -> Path:
    return Path(shutil.copytree(encoder(), tmp_path / "encoder"))


def test_vectors_are_means_of_the_librarys(folder):
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)
    found = Encoder(str(folder)).pooled([*GOOD, BAD[0].split()])
    for text, vector in zip([*GOOD, BAD[0]], found):
        with torch.no_grad():
            hidden = model.eval()(**tokenizer(text, return_tensors="pt")).last_hidden_state
        np.testing.assert_allclose(vector, hidden[0].mean(0), rtol=1e-4, atol=1e-5)


def test_labels_are_found_and_kept(folder, tmp_path):
    model = st.fit(
        "classify", "pretrained", DATA, pretrained=str(folder), out=str(tmp_path / "run")
    )
    asked = [GOOD[1], BAD[1], GOOD[2]]
    labels = [each["label"] for each in model.predict(asked)["items"]]
    assert labels == ["good", "bad", "good"]
    again = st.load(tmp_path / "run")
    assert [each["label"] for each in again.predict(asked)["items"]] == labels
    assert not list((tmp_path / "run").glob("*encoder*"))
    assert (tmp_path / "run" / "weights.safetensors").stat().st_size < 5_000
    record = again.evaluate(DATA)
    assert record["accuracy"] > 0.9 and any("unknown" in each for each in record["notes"])
    assert record["parameters"] > Encoder(str(folder)).size
    with pytest.raises(ConfigError, match="encoder"):
        again.explain("a joy")


def test_values_are_found_and_kept(folder, tmp_path):
    model = st.fit("regress", "pretrained", VALUES, pretrained=str(folder), out=str(tmp_path / "r"))
    high, low = (each["value"] for each in model.predict([GOOD[1], BAD[1]])["items"])
    assert high > low + 0.2
    again = st.load(tmp_path / "r").predict([GOOD[1]])["items"][0]["value"]
    assert again == pytest.approx(high, abs=1e-5)


def test_a_run_says_when_its_encoder_is_gone_or_another(folder, tmp_path):
    out = str(tmp_path / "run")
    st.fit("classify", "pretrained", DATA, pretrained=str(folder), out=out)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"layer_norm_eps": 0.1}))
    with pytest.raises(RunError, match="not the one"):
        st.load(out)
    shutil.rmtree(folder)
    with pytest.raises(RunError, match="gone"):
        st.load(out)


def test_a_comparison_has_its_row_where_a_folder_is_named(folder):
    texts = [f"{text} {number}" for number in range(8) for text in DATA[0][::4] + BAD]
    labels = ["bad" if text.rsplit(" ", 1)[0] in BAD else "good" for text in texts]
    found = st.compare(
        "classify",
        (texts, labels),
        models="majority,linear,pretrained",
        pretrained=str(folder),
        minutes=0.5,
    )
    rows = {row["model"]: row for row in found["rows"]}
    assert rows["pretrained"]["pretrained"] == str(folder)
    assert rows["linear"]["pretrained"] is None
    assert "pretraining data unknown" in found._repr_html_()


def test_without_a_folder_it_is_not_compared():
    from seriatim.comparison.running import chosen
    from seriatim.tasks.classify import TASK

    assert "pretrained" not in chosen(TASK, "", {})
    assert "pretrained" in chosen(TASK, "", {"pretrained": "folder"})


def test_what_is_no_such_folder_is_refused(folder, tmp_path):
    for settings, words in (({}, "folder"), ({"pretrained": str(tmp_path)}, "config.json")):
        with pytest.raises((ConfigError, RunError), match=words):
            st.fit("classify", "pretrained", DATA, **settings)
    numbers = ([[1.0, 2.0], [3.0, 4.0]] * 10, ["a", "b"] * 10)
    with pytest.raises(ConfigError, match="reads text"):
        st.fit("classify", "pretrained", numbers, pretrained=str(folder))
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(RunError, match="pickles") as caught:
        folder_of(str(folder))
    assert "save_pretrained" in caught.value.do


@pytest.mark.parametrize(
    "change",
    [
        {"vocab_size": 10**12},
        {"num_hidden_layers": 10**9},
        {"model_type": "nothing"},
        {"auto_map": {"AutoModel": "evil.Model"}, "model_type": "evil"},
    ],
)
def test_a_folder_of_strangers_is_checked(folder, change):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | change))
    with pytest.raises(RunError):
        Encoder(str(folder))


def test_without_the_library_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ConfigError, match=r"pip install 'seriatim\[pretrained\]'"):
        Encoder(encoder())


def test_the_strength_is_that_of_least_nats_on_held_out_labels():
    dice = np.random.default_rng(0)
    x, y = dice.normal(size=(300, 60)), np.repeat([0, 1], 150)
    x[:, 0] += y  # one feature says something, the others nothing
    trials = TrialsOfVectors(x, y, 2, None, [np.arange(300) % 3 == each for each in range(3)])
    found = trials.best("tf-idf", (0,), 0.0)
    assert found.strength < 0.1
    assert trials.nats(found) <= min(each[1] for each in trials.tried.values())
