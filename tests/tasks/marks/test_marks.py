"""Several things that may be true of a sequence: rungs, figures, files, memory, refusals."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
import torch
from sklearn import metrics

import seriatim as st
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import ConfigError, DataError
from seriatim.fitting import fit_events
from seriatim.tasks import task
from seriatim.tasks.marks.metrics import mark_report, nats_of
from seriatim.tasks.marks.models import Frequencies
from seriatim.tasks.marks.network import MarksNetwork
from seriatim.tasks.marks.options import FrequenciesOptions
from tests.terminal import good

OWN = {"weather": ("sun", "rain"), "sport": ("ball", "goal"), "vote": ("law", "party")}
QUICK = {"width": 32, "rate": 2e-2, "dropout": 0.0, "threads": 1}


def articles(count: int, seed: int = 0) -> list[tuple[str, list[str]]]:
    """Texts, and of which of three things they speak: of any, of all, of none."""
    dice, found = random.Random(seed), []
    every = [word for words in OWN.values() for word in words] + ["the", "a", "on"] * 2
    for _ in range(count):
        words = dice.choices(every, k=dice.randint(2, 6))
        found.append((" ".join(words), [name for name, own in OWN.items() if {*own} & {*words}]))
    return found


def waves(count: int, seed: int = 0) -> tuple[list[np.ndarray], list[list[str]]]:
    """Numbers that are high, that go up, both or neither."""
    dice, rows, marks = np.random.default_rng(seed), [], []
    for high, rises in dice.integers(0, 2, (count, 2)):
        row = 3.0 * high + 2.0 * rises * np.linspace(0, 1, 8) + dice.normal(0, 0.2, 8)
        rows.append(row[:, None])
        marks.append(["high"] * bool(high) + ["rises"] * bool(rises))
    return rows, marks


@pytest.mark.parametrize(
    ("spec", "settings", "least"),
    [
        ("linear", {}, 0.9),
        ("mean", QUICK | {"updates": 150}, 0.9),
        ("gru", QUICK | {"updates": 60}, 0.9),
        ("convolution", QUICK | {"updates": 60}, 0.9),
        ("linear+mlp", QUICK | {"updates": 60}, 0.9),
    ],
)
def test_rungs_learn_what_is_true_and_come_back_from_their_folder(spec, settings, least, tmp_path):
    model = st.fit("marks", spec, articles(200), out=tmp_path / "run", **settings)
    test = articles(60, seed=1)
    found = model.evaluate(test)
    assert found["micro_f1"] > least and found["macro_f1"] > least
    floor = st.fit("marks", "frequencies", articles(200)).evaluate(test)
    assert found["bits_per_sequence"] < 0.6 * floor["bits_per_sequence"]
    again = st.load(tmp_path / "run")
    texts = [text for text, _ in test]
    assert again.predict(texts)["items"] == model.predict(texts)["items"]
    assert again.evaluate(test)["bits_per_sequence"] == found["bits_per_sequence"]


@pytest.mark.parametrize(
    ("spec", "settings"), [("linear", {}), ("gru", QUICK | {"updates": 100}), ("frequencies", {})]
)
def test_numbers_are_marked_too(spec, settings):
    found = st.fit("marks", spec, waves(150), **settings).evaluate(waves(60, 1))
    assert found["exact"] > (0.1 if spec == "frequencies" else 0.9)


# Figures


def test_figures_are_scikit_learns():
    dice = np.random.default_rng(0)
    truth, logits = dice.random((50, 4)) < 0.4, dice.normal(0, 2, (50, 4))
    found = logits >= 0
    record = mark_report(truth, found, list("abcd"))
    assert record["micro_f1"] == pytest.approx(metrics.f1_score(truth, found, average="micro"))
    assert record["macro_f1"] == pytest.approx(metrics.f1_score(truth, found, average="macro"))
    assert record["exact"] == pytest.approx(metrics.accuracy_score(truth, found))
    said = torch.distributions.Bernoulli(logits=torch.from_numpy(logits))
    assert np.allclose(nats_of(logits, truth), -said.log_prob(torch.from_numpy(1.0 * truth)).sum(1))


def test_the_floor_by_hand():
    """Three of four sequences have a: (3 + 1) / (4 + 2); none has both."""
    data = [("x", ["a"]), ("y", ["a"]), ("z", ["a"]), ("w", ["b"])]
    model = st.fit("marks", "frequencies", data)
    item = model.predict(["x"])["items"][0]
    assert {each["label"]: each["probability"] for each in item["probabilities"]} == pytest.approx(
        {"a": 4 / 6, "b": 2 / 6}
    )
    assert item["labels"] == ["a"]
    scored = model.score([("x", ["a"]), ("x", [])])["items"]
    assert [each["log_prob"] for each in scored] == pytest.approx(
        [np.log(4 / 6 * 4 / 6), np.log(2 / 6 * 4 / 6)], rel=1e-6
    )
    assert isinstance(model.model, Frequencies) and model.model.options == FrequenciesOptions()


def test_a_coin_is_the_sigmoid_of_an_affine_map_of_what_was_read():
    """p(y[m] = 1) = sigmoid(b'[m] + sum_i v[m, i] h[i])."""
    model = st.fit("marks", "mlp", articles(40), updates=2, width=4, dropout=0.0, threads=1)
    network = model.model
    assert isinstance(network, MarksNetwork)
    seen: list[torch.Tensor] = []
    handle = network.head.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    item = model.predict(["sun and ball"], top=3)["items"][0]
    handle.remove()
    h, v, b = seen[-1][0].clone(), network.head.weight.detach(), network.head.bias.detach()
    by_hand = [float(torch.sigmoid(b[m] + (v[m] * h).sum())) for m in range(3)]
    said = {each["label"]: each["probability"] for each in item["probabilities"]}
    assert [said[name] for name in sorted(OWN)] == pytest.approx(by_hand, rel=1e-5)


def test_a_logistic_regression_for_each_label_is_scikit_learns():
    from sklearn.linear_model import LogisticRegression

    data = waves(80)
    model = st.fit("marks", "linear", data, strength=1.0)
    examples = model.codec.encode(model.data(data))
    x = model.model.learn_traits(examples.x)
    for k in (0, 1):
        twin = LogisticRegression(C=1.0, max_iter=1000).fit(x, examples.y.flat[:, k] > 0)
        assert np.allclose(model.model.weights[:, k], twin.coef_[0], atol=1e-6)


# Files and memory


def test_files_and_memory_say_the_same(tmp_path):
    data = articles(40)
    (tmp_path / "a.jsonl").write_text(
        "".join(json.dumps({"text": text, "labels": marks}) + "\n" for text, marks in data)
    )
    rows = "".join(f"{text},{'|'.join(marks)}\n" for text, marks in data)
    (tmp_path / "a.csv").write_text("text,labels\n" + rows)
    (tmp_path / "b.csv").write_text("text,subjects\n" + rows)
    (tmp_path / "a.tsv").write_text("text\tlabels\n" + rows.replace(",", "\t"))
    texts, lists = [text for text, _ in data], [marks for _, marks in data]
    whole = Sequences({"text": Field.of_text(texts), "labels": Field.of_symbols(lists)})
    forms = [
        tmp_path / "a.jsonl",
        tmp_path / "a.csv",
        tmp_path / "a.tsv",
        data,
        (texts, lists),
        {"text": texts, "labels": lists},
        whole,
    ]
    several = [st.fit("marks", "linear", form, strength=1.0) for form in forms]
    several.append(st.fit("marks", "linear", tmp_path / "b.csv", label="subjects", strength=1.0))
    first = several[0].predict(texts)["items"]
    assert any(not marks for marks in lists)  # empty lists among them
    for other in several[1:]:
        assert other.codec.labels.names == sorted(OWN) and other.predict(texts)["items"] == first
    assert several[-1].evaluate(tmp_path / "b.csv")["labels"] == sum(map(len, lists))


def test_folds_hold_out_and_the_best_is_ranked_by_bits():
    record = st.compare("marks", articles(100), "frequencies,linear", folds=4)
    assert record["figure"] == "bits_per_sequence"
    first, second = record["rows"]
    assert (first["model"], second["model"]) == ("linear", "frequencies")
    assert second["against"]["word"] == "better"
    low, high = first["interval"]["bits_per_sequence"]
    assert low < first["bits_per_sequence"] < high


def test_a_label_that_training_did_not_have_is_left_out_and_counted():
    model = st.fit("marks", "linear", articles(60), strength=1.0)
    found = model.evaluate([("sun", ["weather", "new"]), ("ball", ["sport"])])
    assert (found["unknown"], found["labels"]) == (1, 2)
    assert [each["unknown"] for each in model.score([("sun", ["new"])])["items"]] == [1]


def test_a_killed_fit_goes_on_to_the_same_bits(tmp_path):
    settings = {"width": 8, "updates": 6, "rows": 4, "length": 16, "patience": 0, "threads": 1}
    settings |= {"checkpoint_seconds": 0.0}
    whole = st.fit("marks", "gru", articles(40), out=tmp_path / "whole", **settings)
    asked = settings | {"out": str(tmp_path / "halves")}
    events = fit_events(task("marks"), "gru", articles(40), settings=asked)
    for event in events:
        if event["event"] == "validation" and event["step"] >= 3:
            break
    events.close()
    again = st.fit("marks", "gru", articles(40), out=tmp_path / "halves", resume=True, **settings)
    for name, array in whole.model.arrays().items():
        assert torch.equal(array, again.model.arrays()[name]), name


def test_the_command_line(tmp_path):
    file = tmp_path / "a.tsv"
    rows = "".join(f"{text}\t{'|'.join(marks)}\n" for text, marks in articles(60))
    file.write_text("text\tlabels\n" + rows)
    run = str(tmp_path / "run")
    good("fit", "marks", "linear", str(file), "--out", run)
    assert "micro F1" in good("evaluate", run, str(file)).out
    (tmp_path / "new.txt").write_text("sun law\nthe a\n")
    first, second = good("predict", run, str(tmp_path / "new.txt"), "--top", 1).out.splitlines()[
        -2:
    ]
    assert first.split("\t")[0] == "vote|weather" and second.split("\t")[0] == ""
    lower = good("predict", run, str(tmp_path / "new.txt"), "--threshold", 0).out.splitlines()[-1]
    assert lower.split("\t")[0] == "sport|vote|weather"
    assert len(good("score", run, str(file)).out.splitlines()) == 60


def test_what_makes_no_sense_is_refused_in_words():
    with pytest.raises(DataError, match=r"same labels.*no label at all"):
        st.fit("marks", "linear", {"text": ["a b", "c d"] * 9, "labels": [[], []] * 9})
    with pytest.raises(DataError, match=r"same labels.*x"):
        st.fit("marks", "linear", [("a b", ["x"]), ("c d", ["x"])] * 9)
    with pytest.raises(DataError, match="no list of labels for each sequence"):
        st.fit("marks", "linear", Sequences({"text": Field.of_text(["a", "b"])}))
    with pytest.raises(DataError, match="holds numbers"):
        st.fit("marks", "linear", {"text": ["a b", "c d"] * 9, "labels": [[1.5, 2.0], [2.5]] * 9})
    with pytest.raises(ConfigError, match="threshold"):
        st.fit("marks", "frequencies", articles(20)).predict(["a"], threshold=2.0)
