"""Why this label: contributions are what they are defined to be, and they add up, or the gap is told."""

from __future__ import annotations

import copy
import io
import json
from functools import cache

import numpy as np
import pytest
from rich.console import Console

from seriatim import fit
from seriatim.errors import ConfigError, DataError
from seriatim.tasks.classify.predictor import Classifier
from seriatim.tasks.labels.tables import explanation
from seriatim.verbs import call
from tests.labels import labelled, messages, sentences

TEXT = "free the cash and win Mum free zzz"
SMALL = {"width": 8, "updates": 15, "rate": 0.05, "dropout": 0.0}
ADDITIVE = {
    "majority": ("majority", {}),
    "naive-bayes": ("naive-bayes", {}),
    "runs": ("naive-bayes", {"ngram": 3, "presence": True}),
    "markov-bayes": ("markov-bayes", {"order": 2}),
    "linear": ("linear", {}),
    "tf-idf": ("linear", {"weighting": "tf-idf"}),
    "counts": ("linear", {"weighting": "counts", "ngram": 1}),
    "characters": ("naive-bayes", {"unit": "character", "ngram": 3}),
}
NETWORKS = {
    "mean": ("mean", SMALL),
    "last": ("lstm", SMALL | {"pool": "last"}),
    "attention": ("gru", SMALL | {"pool": "attention"}),
    "transformer": ("transformer", SMALL | {"heads": 2}),
    "unit": ("transformer", SMALL | {"heads": 2, "pool": "unit"}),
    "convolution": ("convolution", SMALL),
    "letters": ("mean", SMALL | {"letters": "convolution", "letter_width": 4}),
}


@cache
def fitted(name: str) -> Classifier:
    spec, settings = (ADDITIVE | NETWORKS).get(name, (name, {"updates": 3}))
    return fit("classify", spec, messages(60, seed=3), **settings)


def values(record: dict) -> np.ndarray:
    return np.array([each["contribution"] for each in record["symbols"]])


def logit(predictor: Classifier, text: str, label: str) -> float:
    """The log-probability of a label, counted from the mean of all labels."""
    chances = {
        each["label"]: np.log(each["probability"])
        for each in predictor.predict(labelled([("ham", text)]))["items"][0]["probabilities"]
    }
    return chances[label] - sum(chances.values()) / len(chances)


# Exact


@pytest.mark.parametrize("name", ADDITIVE)
def test_exact_contributions_add_up(name):
    predictor = fitted(name)
    for label in ("", "ham", "spam", "work"):
        record = predictor.explain(TEXT, label=label)
        assert record["method"] == "exact" and abs(record["gap"]) < 1e-9
        parts = [record["before"], *values(record), record["end"] or 0.0]
        assert sum(parts) == pytest.approx(record["logit"], abs=1e-9)
        assert record["logit"] == pytest.approx(logit(predictor, TEXT, record["label"]), abs=1e-9)


@pytest.mark.parametrize("name", ADDITIVE)
def test_what_speaks_for_one_label_speaks_against_the_others(name):
    records = [fitted(name).explain(TEXT, label=label) for label in ("ham", "spam", "work")]
    assert sum(map(values, records)) == pytest.approx(
        np.zeros(len(records[0]["symbols"])), abs=1e-9
    )
    assert sum(record["before"] for record in records) == pytest.approx(0, abs=1e-9) and sum(
        record["probability"] for record in records
    ) == pytest.approx(1)


def test_the_end_of_a_text_is_told_by_itself():
    """It was booked as there before any symbol, which is the prior of the label."""
    predictor = fitted("markov-bayes")
    texts = ("free cash", "free the cash and win Mum")
    one, other = (predictor.explain(text, label="spam") for text in texts)
    prior = predictor.model.prior.numpy()
    spam = predictor.codec.labels.number["spam"]
    assert one["before"] == other["before"] == pytest.approx(prior[spam] - prior.mean())
    assert one["end"] != other["end"] and fitted("naive-bayes").explain(TEXT)["end"] is None
    assert predictor.explain(TEXT, method="occlusion")["end"] is None
    terminal = Console(file=io.StringIO(), width=80)
    terminal.print(explanation(other))
    shown = terminal.file.getvalue()
    assert "end of the text" in shown and f"and end {other['end']:+.3f} = logit" in shown
    chart = call("explain", predictor, texts[1], label="spam").plot()
    assert chart.rows[-1] == {"symbol": "end of the text", "adds": other["end"]}


def test_contributions_to_naive_bayes_are_its_weights():
    predictor = fitted("naive-bayes")
    record, weights = (
        predictor.explain("free zzz the", label="spam"),
        predictor.model.weights.numpy(),
    )
    rows = {
        predictor.codec.symbols[int(key)]: row
        for key, row in zip(predictor.model.grams.tables[0], weights, strict=True)
    }
    spam = predictor.codec.labels.number["spam"]
    assert [each["symbol"] for each in record["symbols"]] == ["free", "zzz", "the"]
    assert values(record) == pytest.approx(
        [rows["free"][spam] - rows["free"].mean(), 0.0, rows["the"][spam] - rows["the"].mean()],
        abs=1e-12,
    )


# Occlusion


@pytest.mark.parametrize(
    "name", ["naive-bayes", "tf-idf", "mean", "transformer", "naive-bayes+mean"]
)
def test_occlusion_is_how_far_the_logit_falls_when_a_word_becomes_unknown(name):
    predictor, words = fitted(name), TEXT.split()
    record = predictor.explain(TEXT, label="spam", method="occlusion")
    whole = logit(predictor, TEXT, "spam")
    fallen = [
        whole - logit(predictor, " ".join([*words[:t], "qqq", *words[t + 1 :]]), "spam")
        for t in range(len(words))
    ]
    assert values(record) == pytest.approx(fallen, abs=1e-5) and record["logit"] == pytest.approx(
        whole, abs=1e-5
    )
    assert record["before"] == pytest.approx(
        logit(predictor, " ".join(["qqq"] * len(words)), "spam"), abs=1e-5
    )
    assert record["gap"] == pytest.approx(whole - record["before"] - sum(fallen), abs=1e-4)


def test_occlusion_of_words_that_stand_for_themselves_is_exact():
    one, other = (
        fitted("naive-bayes").explain(TEXT, label="spam", method=method)
        for method in ("occlusion", "exact")
    )
    assert values(one) == pytest.approx(values(other), abs=1e-9) and abs(one["gap"]) < 1e-9


def test_an_unknown_word_adds_nothing_unless_its_letters_are_read():
    for method in ("occlusion", "gradient"):
        plain, spelled = (
            values(fitted(name).explain(TEXT, label="spam", method=method))
            for name in ("mean", "letters")
        )
        assert abs(plain[-1]) < 1e-6 and abs(spelled[-1]) > 1e-6 and abs(plain[0]) > 1e-3


# Integrated gradients


@pytest.mark.parametrize("name", NETWORKS)
def test_integrated_gradients_nearly_add_up(name):
    record = fitted(name).explain(TEXT, label="spam")
    assert record["method"] == "gradient" and np.abs(values(record)).max() > 1e-3
    assert abs(record["gap"]) < (
        0.05 if name in ("convolution", "letters") else 5e-3
    )  # the largest value of a filter has corners


def test_integrated_gradients_of_a_linear_model_are_its_terms():
    """One block that hears nothing but itself, and a mean: each word adds (e - u) W / length."""
    predictor = fit("classify", "mean", messages(60, seed=3), **SMALL, beside="no")
    table, head, spam = (
        predictor.model.embedding.weight.detach(),
        predictor.model.head.weight.detach(),
        predictor.codec.labels.number["spam"],
    )
    ids = predictor.codec.encode(labelled([("ham", TEXT)])).x.flat
    expected = (table[ids] - table[0]) @ (head[spam] - head.mean(0)) / len(ids)
    record = predictor.explain(TEXT, label="spam", method="gradient")
    assert values(record) == pytest.approx(expected.numpy(), abs=1e-5) and abs(record["gap"]) < 1e-5


def test_what_counts_beside_a_network_adds_its_own_terms():
    whole = fitted("mean")
    name, counting = whole.model.counted
    trust = float(whole.model.trust.detach())
    network = copy.copy(whole)
    network.model = copy.deepcopy(whole.model)
    network.model.counted = None
    alone = copy.copy(whole)
    alone.model = counting
    several, terms, bare = (
        values(each.explain(TEXT, label="spam")) for each in (whole, alone, network)
    )
    assert name == "linear" and np.abs(terms).max() > 0.1
    assert several == pytest.approx(trust * terms + bare, abs=1e-5)


def test_explaining_changes_nothing():
    predictor = fitted("transformer")
    before = predictor.predict(labelled([("ham", TEXT)]))
    assert (
        predictor.explain(TEXT) == predictor.explain(TEXT)
        and predictor.predict(labelled([("ham", TEXT)])) == before
    )


# The record


@pytest.mark.parametrize("name", ["naive-bayes", "last", "naive-bayes+mean"])
def test_the_label_that_is_found_is_explained_with_the_probability_that_is_predicted(name):
    predictor = fitted(name)
    record, best = (
        predictor.explain(TEXT),
        predictor.predict(labelled([("ham", TEXT)]))["items"][0]["probabilities"][0],
    )
    assert (record["label"], record["method"]) == (
        best["label"],
        {"naive-bayes": "exact", "last": "gradient"}.get(name, "occlusion"),
    )
    assert record["probability"] == pytest.approx(best["probability"], abs=1e-6)
    assert (
        json.loads(json.dumps(record, allow_nan=False)) == record
        and record["text"] == TEXT
        and record["kind"] == "explanation"
    )


def test_a_calibrated_model_tells_its_calibrated_probability():
    predictor = fit("classify", "naive-bayes", messages(60, seed=3), calibrate=True)
    assert predictor.temperature != pytest.approx(1, abs=0.01)
    best = predictor.predict(labelled([("ham", TEXT)]))["items"][0]["probabilities"][0]
    assert predictor.explain(TEXT)["probability"] == pytest.approx(best["probability"], abs=1e-9)


def test_characters_are_explained_one_by_one():
    record = fitted("characters").explain("free NOW", label="spam")
    assert [each["symbol"] for each in record["symbols"]] == list("free NOW")


# What cannot be explained


@pytest.mark.parametrize(
    "name, label, method, words",
    [
        ("naive-bayes", "spma", "", "spma"),
        ("naive-bayes", "", "exakt", "exact"),
        ("naive-bayes", "", "gradient", "occlusion"),
        ("mean", "", "exact", "occlusion"),
        ("naive-bayes+mean", "", "gradient", "occlusion"),
        ("naive-bayes+mean", "", "exact", "occlusion"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(name, label, method, words):
    with pytest.raises(ConfigError, match=words):
        fitted(name).explain(TEXT, label=label, method=method)


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_nothing_cannot_be_explained(text):
    with pytest.raises(DataError, match="nothing to explain"):
        fitted("naive-bayes").explain(text)


def test_tags_are_not_explained():
    tagger = fit("tag", "gru", sentences(40), updates=1, width=8, embedding=4, letter_width=4)
    with pytest.raises(ConfigError, match="a verb of classify"):
        call("explain", tagger, "the dog")
