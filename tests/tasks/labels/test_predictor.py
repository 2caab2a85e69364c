"""Predictors of labels and tags: figures against scikit-learn, folds, what is kept, and what is
refused."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics

import seriatim
from seriatim import compare, fit, load
from seriatim.data.sequences import Sequences
from seriatim.errors import ConfigError, DataError, SeriatimError
from seriatim.measuring.measured import Measured
from seriatim.tasks.classify.predictor import Classifier
from seriatim.tasks.tag.predictor import Tagger
from tests.labellers import HEARD, KINDS, SPOKEN, TEST, TRAIN, fitted, found_by, other, truth_of
from tests.labels import messages, pairs, sentences, tagged

every_kind = pytest.mark.parametrize("name", KINDS)


# Figures


@every_kind
def test_figures_are_scikit_learns_of_what_is_predicted(name):
    predictor = fitted(name)
    record, truth, found = (
        predictor.evaluate(other(name)),
        truth_of(name),
        found_by(fitted(name), other(name)),
    )
    names = predictor.codec.labels.names
    assert record["accuracy"] == pytest.approx(metrics.accuracy_score(truth, found)) and record[
        "labels"
    ] == len(truth)
    assert record["macro"]["f1"] == pytest.approx(
        metrics.f1_score(truth, found, average="macro", zero_division=0)
    )
    assert record["matthews"] == pytest.approx(metrics.matthews_corrcoef(truth, found), abs=1e-9)
    assert (
        record["confusion"] == metrics.confusion_matrix(truth, found, labels=names).tolist()
        and [each["name"] for each in record["classes"]] == names
    )
    low, high = record["interval"]["accuracy"]
    assert (
        low <= record["accuracy"] <= high
        and json.loads(json.dumps(record, allow_nan=False)) == record
    )


def test_the_data_it_was_trained_on_is_known_again():
    shares = [
        fitted("naive-bayes").evaluate(data)["protocol"]["seen_in_training"]
        for data in (TRAIN, TEST)
    ]
    assert shares[0] == 1 and shares[1] < 1
    assert fitted("gru").evaluate(TRAIN)["protocol"]["seen_in_training"] > 0.8


def test_data_without_labels_can_be_predicted_and_not_evaluated(tmp_path):
    (tmp_path / "new.txt").write_text("free cash\n\nthe desk\n")
    (tmp_path / "new.csv").write_text("text\nfree cash\nthe desk\n")
    first, second = (
        fitted("naive-bayes").predict(tmp_path / name)["items"] for name in ("new.txt", "new.csv")
    )
    assert [first[0], first[2]] == second and len(first) == 3  # a blank line has an answer, too
    assert [record["label"] for record in second] == ["spam", "work"]
    assert [
        record["tokens"] for record in fitted("tag").predict(str(tmp_path / "new.txt"))["items"]
    ] == [["free", "cash"], [], ["the", "desk"]]
    with pytest.raises(DataError, match="no label for each sequence"):
        fitted("naive-bayes").evaluate(tmp_path / "new.txt")
    with pytest.raises(DataError, match="no tag for each element"):
        fitted("tag").evaluate(tmp_path / "new.csv")


# What is kept


@every_kind
def test_a_saved_run_answers_the_same(name, tmp_path):
    predictor, data = fitted(name), other(name)
    again = load(predictor.save(tmp_path / "run"))
    assert (
        type(again) is type(predictor) is (Classifier if KINDS[name][0] == "classify" else Tagger)
    )
    assert (
        again.predict(data) == predictor.predict(data)
        and again.settings() == predictor.settings()
        and again.metrics == predictor.metrics
    )
    assert (
        seriatim.evaluate(tmp_path / "run", data)["confusion"]
        == predictor.evaluate(data)["confusion"]
    )


@pytest.mark.parametrize("name", ["gru", "mixture", "tag", "chain"])
def test_in_eight_bits_the_answers_are_nearly_the_same(name, tmp_path):
    fitted(name).save(tmp_path / "run")
    whole, rounded = (
        load(tmp_path / "run", int8=int8).evaluate(other(name)) for int8 in (False, True)
    )
    assert rounded["log_loss"] == pytest.approx(whole["log_loss"], abs=0.05)


@pytest.mark.parametrize("name", ["naive-bayes", "gru", "tag", "chain"])
def test_what_was_measured_is_kept_and_says_the_same(name, tmp_path):
    predictor = fitted(name)
    asked = {"positive": "spam", "most_false": 0.2} if KINDS[name][0] == "classify" else {}
    column = other(name).fields["label" if asked else "tags"]
    strange = replace(
        column, names=tuple("zz" if i == 0 else n for i, n in enumerate(column.names))
    )
    data = replace(other(name), fields=other(name).fields | {"label" if asked else "tags": strange})
    for given in (other(name), data):  # the second has a label that training did not have
        if asked and "spam" not in given.fields["label"].names:
            continue
        measured = predictor.measure(given, **asked)
        measured.save(tmp_path / "measured.safetensors")
        again = Measured.load(tmp_path / "measured.safetensors")
        assert predictor.summarise(again) == predictor.summarise(measured)
        assert predictor.row(again) == predictor.row(measured)
        assert predictor.compared(again, measured)["p"] == 1
        merged = [
            predictor.merged([one, other]) for one, other in ((again, again), (measured,) * 2)
        ]
        assert predictor.summarise(merged[0]) == predictor.summarise(merged[1])


def test_a_model_is_compared_with_another_on_the_same_data():
    record = fitted("naive-bayes").evaluate(TEST, against=fitted("majority"))
    assert record["against"]["model"] == "majority" and record["against"]["p"] < 0.05
    assert record["against"]["test"].startswith("McNemar")
    tags = fitted("tag").evaluate(HEARD, against=fitted("tag"))["against"]
    assert tags["p"] == 1 and "bootstrap" in tags["test"]


def test_texts_in_memory_are_labelled_and_tagged():
    labels = fitted("naive-bayes").predict(["free cash", "the desk"])["items"]
    assert [each["label"] for each in labels] == ["spam", "work"]
    tags = fitted("tag").predict(["the dog", "a"])["items"]
    assert [each["tokens"] for each in tags] == [["the", "dog"], ["a"]]


def test_files_are_read_written_again_and_evaluated(tmp_path):
    (tmp_path / "train.tsv").write_text(
        "".join(f"{label}\t{text}\n" for label, text in [("label", "text"), *pairs(60)])
    )
    predictor = fit(
        "classify",
        "naive-bayes",
        tmp_path / "train.tsv",
        tmp_path / "train.tsv",
        out=tmp_path / "run",
    )
    assert (
        load(tmp_path / "run").evaluate(str(tmp_path / "train.tsv"))["accuracy"]
        == predictor.evaluate(TRAIN)["accuracy"]
        > 0.9
    )
    file = tmp_path / "new.conllu"
    file.write_bytes(
        b"# text = the dog\r\n1\tthe\t_\t_\t_\tX=Y\t_\t_\t_\t_\r\n2-3\tdogcat\t_\t_\t_\t_\t_\t_\t_\t_\r\n2\tdog\t_\tX\t_\t_\t_\t_\t_\t_\r\n\r\n"
    )
    record = fitted("tag").annotate(file, out=tmp_path / "again.conllu")
    tags = fitted("tag").predict(tagged([["the", "dog"]], [["DET", "NOUN"]]))["items"][0]["tags"]
    assert (record["tags"], record["sequences"]) == (2, 1)
    old, new = (
        path.read_bytes().decode().split("\n") for path in (file, tmp_path / "again.conllu")
    )
    cells = [line.split("\t") for line in new]
    assert [cells[1][3], cells[3][3]] == tags and [old[i] for i in (0, 2, 4, 5)] == [
        new[i] for i in (0, 2, 4, 5)
    ]


@pytest.mark.parametrize(
    "task, models, data",
    [("classify", "naive-bayes,mean", messages(50)), ("tag", "window,window+rnn", sentences(50))],
)
def test_in_folds_every_sequence_is_the_test_once(task, models, data, tmp_path):
    record = compare(
        task,
        data,
        models,
        folds=3,
        updates=2,
        out=tmp_path / "out",
        **({"width": 8} if task == "tag" else {}),
    )
    column = data.fields["label" if task == "classify" else "tags"]
    for row in record["rows"]:
        support = dict(
            zip((each["name"] for each in row["classes"]), map(sum, row["confusion"]), strict=True)
        )
        assert (
            row["status"] == "ok"
            and support == Counter(column.names[i] for i in column.flat)
            and row["run"] is None
        )
        assert row["accuracy"] == pytest.approx(
            np.trace(row["confusion"]) / np.sum(row["confusion"])
        )
    assert record["folds"] == 3 and len(list((tmp_path / "out" / "runs").iterdir())) == 6


# Labels that training did not have


@pytest.mark.parametrize("name", ["naive-bayes", "gru", "tag", "chain"])
def test_labels_unseen_in_training_are_wrong_in_every_figure(name):
    predictor, whole = fitted(name), other(name)
    target = "label" if KINDS[name][0] == "classify" else "tags"
    column = whole.fields[target]
    strange = replace(
        column,
        values=np.where(
            np.arange(len(column.values)) % 5 == 0, len(column.names), column.values
        ).astype(np.int32),
        names=(*column.names, "aa"),
    )
    record = predictor.evaluate(replace(whole, fields=whole.fields | {target: strange}))
    truth, found, names = (
        [strange.names[i] for i in strange.flat],
        found_by(predictor, whole),
        [*predictor.codec.labels.names, "aa"],
    )
    assert record["accuracy"] == pytest.approx(metrics.accuracy_score(truth, found)) and record[
        "unseen_labels"
    ] == {"aa": truth.count("aa")}
    assert record["macro"]["f1"] == pytest.approx(
        metrics.f1_score(truth, found, average="macro", zero_division=0)
    )
    assert record["confusion"] == metrics.confusion_matrix(truth, found, labels=names).tolist()
    assert record["log_loss"] is None and json.loads(json.dumps(record, allow_nan=False)) == record
    if target == "label":
        seen = np.array([label != "aa" for label in truth])
        assert record["log_loss_of_seen"] == pytest.approx(
            predictor.evaluate(whole[seen])["log_loss"]
        )


@pytest.mark.parametrize(
    "task, model, settings, words",
    [
        ("clasify", "mean", {}, "'classify'"),
        ("classify", "naive-byes", {}, "'naive-bayes'"),
        ("classify", "skip-gram", {}, "task classify"),
        ("tag", "naive-bayes", {}, "task tag"),
        ("classify", "naive-bayes", {"ngrm": 2}, "ngram"),
        ("classify", "mean", {"pool": "sum"}, "pool"),
        ("classify", "mean", {"chain": True}, "chain"),
        ("classify", "naive-bayes", {"ngram": 9}, "at most 8"),
        ("classify", "naive-bayes", {"add": float("nan")}, "add"),
        ("classify", "gru", {"width": 7}, "even"),
        ("classify", "gru", {"letters": "lstm", "unit": "character"}, 'unit="word"'),
        ("tag", "gru", {"chain": True, "label_smoothing": 0.1}, "chain="),
        ("tag", "gru", {"calibrate": True}, "calibrate"),
        ("language", "markov", {"calibrate": True}, "calibrate"),
        ("classify", "mean", {"word_vectors": "nowhere.txt"}, "nowhere"),
    ],
)
def test_settings_that_make_no_sense_are_refused(task, model, settings, words):
    with pytest.raises(SeriatimError, match=words):
        fit(task, model, SPOKEN if task == "tag" else TRAIN, **settings)


def test_comparisons_that_make_no_sense_are_refused():
    for task, data, settings, error in (
        ("classify", TRAIN, {"folds": 1}, ConfigError),
        ("language", Sequences.of(["a b"] * 20), {"folds": 2}, ConfigError),
        ("classify", TRAIN, {"models": "majority", "width": 8}, ConfigError),
        ("classify", TRAIN[:2], {}, DataError),
        ("classify", TRAIN[:3], {"folds": 5}, DataError),
        ("classify", Sequences.of(["a"] * 9), {}, DataError),
    ):
        with pytest.raises(error):
            compare(
                task,
                data,
                **({"models": "majority"} if task == "classify" else {"models": "unigram"})
                | settings,
            )
