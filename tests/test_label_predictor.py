"""Predictors of labels and tags: figures against scikit-learn, thresholds, calibration, folds, what is kept, and what is refused."""
from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn import metrics

import seriatim
from seriatim.comparison import SPLIT, compare, parts_of
from seriatim.data.sequences import Field, Sequences
from seriatim.data.splits import folds
from seriatim.errors import ConfigError, DataError, SeriatimError
from seriatim.fitting import fit, hold_out
from seriatim.label_predictor import Classifier, Labeller, Tagger
from seriatim.predictor import load
from seriatim.verbs import inspect
from tests.labels import labelled, messages, pairs, sentences, tagged

TRAIN, TEST = messages(60), messages(40, seed=1)
SPOKEN, HEARD = sentences(60), sentences(30, seed=1)
SMALL = {"width": 8, "steps": 4}
TINY = SMALL | {"embedding": 6, "letter_width": 4}
KINDS = {"majority": ("classify", "majority", {}), "naive-bayes": ("classify", "naive-bayes", {"ngram": 2}), "markov-bayes": ("classify", "markov-bayes", {}),
         "linear": ("classify", "linear", {"weighting": "tf-idf"}), "gru": ("classify", "gru", SMALL | {"letters": "convolution", "letter_width": 4}),
         "subwords": ("classify", "mean", SMALL | {"unit": "subword", "vocabulary": 300}), "mixture": ("classify", "naive-bayes+linear+mean", {"steps": 3}),
         "tag": ("tag", "gru", TINY), "chain": ("tag", "window", TINY | {"chain": True}), "taggers": ("tag", "window+rnn", TINY)}
every_kind = pytest.mark.parametrize("name", KINDS)


@cache
def fitted(name: str) -> Labeller:
    task, spec, settings = KINDS[name]
    return fit(task, spec, TRAIN if task == "classify" else SPOKEN, **settings)


def other(name: str) -> Sequences:
    """Data that it has not seen."""
    return TEST if KINDS[name][0] == "classify" else HEARD


def truth_of(name: str) -> list[str]:
    column = other(name).fields["label" if KINDS[name][0] == "classify" else "tags"]
    return [column.names[i] for i in column.flat]


def found_by(predictor: Labeller, data: Sequences) -> list[str]:
    records = predictor.predict(data)
    return [record["label"] for record in records] if isinstance(predictor, Classifier) else [tag for record in records for tag in record["tags"]]


# Figures


@every_kind
def test_figures_are_scikit_learns_of_what_is_predicted(name):
    predictor = fitted(name)
    record, truth, found = predictor.evaluate(other(name)), truth_of(name), found_by(fitted(name), other(name))
    names = predictor.codec.labels.names
    assert record["accuracy"] == pytest.approx(metrics.accuracy_score(truth, found)) and record["count"] == len(truth)
    assert record["macro"]["f1"] == pytest.approx(metrics.f1_score(truth, found, average="macro", zero_division=0))
    assert record["matthews"] == pytest.approx(metrics.matthews_corrcoef(truth, found), abs=1e-9)
    assert record["confusion"] == metrics.confusion_matrix(truth, found, labels=names).tolist() and [each["name"] for each in record["classes"]] == names
    low, high = record["interval"]
    assert low <= record["accuracy"] <= high and json.loads(json.dumps(record, allow_nan=False)) == record


@pytest.mark.parametrize("name", [name for name, (task, *_) in KINDS.items() if task == "classify"])
def test_log_loss_is_that_of_the_predicted_probabilities(name):
    predictor = fitted(name)
    names, records = predictor.codec.labels.names, predictor.predict(TEST)
    chances = np.array([[{each["label"]: each["probability"] for each in record["probabilities"]}[label] for label in names] for record in records])
    record = predictor.evaluate(TEST)
    assert chances.sum(1) == pytest.approx(np.ones(40), abs=1e-6)
    assert record["calibration"]["log_loss"] == pytest.approx(metrics.log_loss(truth_of(name), chances / chances.sum(1, keepdims=True), labels=names), abs=1e-6)
    assert record["nats_per_label"] == pytest.approx(record["calibration"]["log_loss"], abs=1e-6)


def test_known_and_unknown_words_and_whole_sentences_are_told_apart():
    data = tagged([["the", "dog"], ["zebra"], ["the", "zebra", "run"]], [["DET", "NOUN"], ["NOUN"], ["DET", "NOUN", "VERB"]])
    predictor = fitted("tag")
    record, found = predictor.evaluate(data), [each["tags"] for each in predictor.predict(data)]
    right = [[a == b for a, b in zip(data.fields["tags"].raw(s), row, strict=True)] for s, row in enumerate(found)]
    assert record["unknown"] == 2 and record["symbols"] == 6 and record["sequences"] == 3
    assert record["known_words"] == {"accuracy": (sum(right[0]) + right[2][0] + right[2][2]) / 4, "words": 4}
    assert record["unknown_words"] == {"accuracy": (right[1][0] + right[2][1]) / 2, "words": 2}
    assert record["whole_sequences"] == pytest.approx(np.mean([all(row) for row in right])) and "spans" not in record


def test_tags_of_spans_have_figures_of_spans():
    rows = [[f"w{i}", "of", f"x{i % 7}", "said"] for i in range(40)]
    data = tagged(rows, [["B-PER", "I-PER", "I-PER", "O"] if i % 2 else ["B-ORG", "O", "B-PER", "O"] for i in range(40)])
    for chain in (False, True):
        record = fit("tag", "window", data, steps=3, width=8, chain=chain).evaluate(data)
        assert {each["name"] for each in record["spans"]["types"]} == {"ORG", "PER"} and record["spans"]["support"] == 60


def test_a_chain_never_finds_tags_that_make_no_sense_and_says_when_the_truth_makes_none():
    rows = [[f"w{i}", "of", "said"] for i in range(40)]
    data = tagged(rows, [["B-PER", "I-PER", "O"] if i % 2 else ["O", "B-ORG", "I-ORG"] for i in range(40)])
    predictor = fit("tag", "window", data, steps=1, width=8, chain=True, seed=3)
    for record in predictor.predict(data):
        assert all(tag[0] != "I" or before[1:] == tag[1:] for before, tag in zip(["O", *record["tags"]], record["tags"]))
    nonsense = predictor.evaluate(tagged([["w1", "of"]], [["O", "I-PER"]]))
    assert nonsense["nats_per_label"] is None and json.dumps(nonsense, allow_nan=False)
    assert fit("tag", "window", data, steps=1, width=8, chain=True, constrained=False).evaluate(tagged([["w1"]], [["I-PER"]]))["nats_per_label"] > 0


def test_the_data_it_was_trained_on_is_known_again():
    assert [fitted("naive-bayes").evaluate(data)["protocol"]["seen_in_training"] for data in (TRAIN, TEST)] == [True, False]
    assert fitted("gru").evaluate(TRAIN)["protocol"]["seen_in_training"]


# Predictions


def test_the_likeliest_labels_come_first_and_no_more_than_asked_for():
    for top in (1, 2, 3, 9):
        for record in fitted("naive-bayes").predict(TEST, top=top):
            chances = [each["probability"] for each in record["probabilities"]]
            assert len(chances) == min(top, 3) and chances == sorted(chances, reverse=True) and record["label"] == record["probabilities"][0]["label"]


def test_tokens_are_told_as_they_stand_in_the_data_with_their_tags():
    records = fitted("tag").predict(tagged([["The", "ZEBRA"], []], [["DET", "NOUN"], []]))
    assert [record["tokens"] for record in records] == [["The", "ZEBRA"], []] and [len(record["tags"]) for record in records] == [2, 0]
    assert all(0 < chance <= 1 for chance in records[0]["probabilities"])


def test_data_without_labels_can_be_predicted_and_not_evaluated(tmp_path):
    (tmp_path / "new.txt").write_text("free cash\n\nthe desk\n")
    (tmp_path / "new.csv").write_text("text\nfree cash\nthe desk\n")
    first, second = (fitted("naive-bayes").predict(tmp_path / name) for name in ("new.txt", "new.csv"))
    assert first == second and [record["label"] for record in first] == ["spam", "work"]
    assert [record["tokens"] for record in fitted("tag").predict(str(tmp_path / "new.txt"))] == [["free", "cash"], ["the", "desk"]]
    with pytest.raises(DataError, match="no label for each sequence"):
        fitted("naive-bayes").evaluate(tmp_path / "new.txt")
    with pytest.raises(DataError, match="no tag for each element"):
        fitted("tag").evaluate(tmp_path / "new.csv")


def test_a_threshold_keeps_its_promise():
    predictor = fit("classify", "gru", TRAIN, width=8, steps=12)
    record = predictor.evaluate(TEST, positive="spam", most_false=0.2)["threshold"]
    taken = [each["label"] == "spam" for each in predictor.predict(TEST, positive="spam", at=record["threshold"])]
    true = [label == "spam" for label in truth_of("gru")]
    false = sum(t and not y for t, y in zip(taken, true)) / true.count(False)
    assert record["positive"] == "spam" and false == pytest.approx(record["false"]) and false <= 0.2
    assert sum(t and y for t, y in zip(taken, true)) / true.count(True) == pytest.approx(record["recall"])
    assert predictor.evaluate(TEST, positive="spam")["threshold"]["false"] <= 0.001


def test_below_its_threshold_a_label_is_not_chosen_even_if_it_is_the_likeliest():
    for at, expected in ((0.0, {"spam"}), (1.0, {"ham", "work"})):
        assert {record["label"] for record in fitted("naive-bayes").predict(TEST, positive="spam", at=at)} == expected
    for record in fitted("naive-bayes").predict(TEST, positive="spam"):
        chance = next(each["probability"] for each in record["probabilities"] if each["label"] == "spam")
        assert (record["label"] == "spam") == (chance >= 0.5)


def test_calibration_lowers_the_loss_on_validation_data_and_changes_no_label(tmp_path):
    train, valid = messages(60), labelled([(label if i % 4 else "ham", text) for i, (label, text) in enumerate(pairs(60, seed=2))])         # too sure of itself
    plain, calibrated = (fit("classify", "naive-bayes", train, valid, calibrate=calibrate) for calibrate in (False, True))
    before, after = (each.evaluate(valid) for each in (plain, calibrated))
    assert calibrated.temperature > 1.2 and plain.temperature == 1 and after["protocol"]["temperature"] == calibrated.metrics["temperature"]
    assert after["calibration"]["log_loss"] < before["calibration"]["log_loss"] - 0.01 and after["confusion"] == before["confusion"]
    assert load(calibrated.save(tmp_path / "run")).predict(TEST) == calibrated.predict(TEST) != plain.predict(TEST)
    assert fit("classify", "gru", train, calibrate=True, **SMALL).temperature > 0


# What is kept


@every_kind
def test_a_saved_run_answers_the_same(name, tmp_path):
    predictor, data = fitted(name), other(name)
    again = load(predictor.save(tmp_path / "run"))
    assert type(again) is type(predictor) is (Classifier if KINDS[name][0] == "classify" else Tagger)
    assert again.predict(data) == predictor.predict(data) and again.settings() == predictor.settings() and again.metrics == predictor.metrics
    assert seriatim.evaluate(tmp_path / "run", data)["confusion"] == predictor.evaluate(data)["confusion"]


@pytest.mark.parametrize("name", ["naive-bayes", "gru", "mixture", "tag", "chain"])
def test_in_eight_bits_the_answers_are_nearly_the_same(name, tmp_path):
    fitted(name).save(tmp_path / "run")
    whole, rounded = (load(tmp_path / "run", bits=bits).evaluate(other(name)) for bits in (32, 8))
    assert rounded["nats_per_label"] == pytest.approx(whole["nats_per_label"], abs=0.05)


def test_files_are_read_written_again_and_evaluated(tmp_path):
    (tmp_path / "train.tsv").write_text("".join(f"{label}\t{text}\n" for label, text in [("label", "text"), *pairs(60)]))
    predictor = fit("classify", "naive-bayes", tmp_path / "train.tsv", tmp_path / "train.tsv", out=tmp_path / "run")
    assert load(tmp_path / "run").evaluate(str(tmp_path / "train.tsv"))["accuracy"] == predictor.evaluate(TRAIN)["accuracy"] > 0.9
    file = tmp_path / "new.conllu"
    file.write_bytes(b"# text = the dog\r\n1\tthe\t_\t_\t_\tX=Y\t_\t_\t_\t_\r\n2-3\tdogcat\t_\t_\t_\t_\t_\t_\t_\t_\r\n2\tdog\t_\tX\t_\t_\t_\t_\t_\t_\r\n\r\n")
    record = fitted("tag").rewrite(file, tmp_path / "again.conllu")
    tags = fitted("tag").predict(tagged([["the", "dog"]], [["DET", "NOUN"]]))[0]["tags"]
    assert (record["tags"], record["sequences"]) == (2, 1)
    old, new = (path.read_bytes().decode().split("\n") for path in (file, tmp_path / "again.conllu"))
    cells = [line.split("\t") for line in new]
    assert [cells[1][3], cells[3][3]] == tags and [old[i] for i in (0, 2, 4, 5)] == [new[i] for i in (0, 2, 4, 5)]


def test_whatever_the_column_of_the_texts_is_called_labels_are_not_predicted_from_themselves(tmp_path):
    (tmp_path / "mail.csv").write_text("label,message\n" + "".join(f"{label},{text}\n" for label, text in pairs(60)))
    predictor = fit("classify", "naive-bayes", tmp_path / "mail.csv")
    assert "cash" in predictor.codec.number and "spam" not in predictor.codec.number
    assert predictor.predict(TEST) == fit("classify", "naive-bayes", TRAIN).predict(TEST)


# Comparisons


def test_compare_ranks_by_accuracy_and_marks_what_is_tied(tmp_path):
    record = compare("classify", messages(150), "majority,naive-bayes,linear", out=tmp_path / "out")
    rows = record["rows"]
    assert record["figure"] == "accuracy" and record["higher_is_better"] and [row["status"] for row in rows] == ["ok"] * 3
    assert [row["accuracy"] for row in rows] == sorted((row["accuracy"] for row in rows), reverse=True) and rows[-1]["model"] == "majority"
    assert rows[0]["tied"] and not rows[-1]["tied"] and rows[-1]["p"] < 0.05
    for row in rows:
        assert load(tmp_path / "out" / row["run"]).evaluate(parts_of(messages(150), "classify")[2])["accuracy"] == row["accuracy"]


@pytest.mark.parametrize("task, models, data", [("classify", "naive-bayes,mean", messages(50)), ("tag", "window,window+rnn", sentences(50))])
def test_in_folds_every_sequence_is_the_test_once(task, models, data, tmp_path):
    record = compare(task, data, models, folds=3, steps=2, out=tmp_path / "out", **({"width": 8} if task == "tag" else {}))
    column = data.fields["label" if task == "classify" else "tags"]
    for row in record["rows"]:
        support = dict(zip((each["name"] for each in row["classes"]), map(sum, row["confusion"]), strict=True))
        assert row["status"] == "ok" and support == Counter(column.names[i] for i in column.flat) and row["run"] is None
        assert row["accuracy"] == pytest.approx(np.trace(row["confusion"]) / np.sum(row["confusion"]))
    assert record["folds"] == 3 and len(list((tmp_path / "out" / "runs").iterdir())) == 6


def test_folds_give_the_figures_of_their_fits_put_together():
    data = messages(60)
    row = compare("classify", data, "naive-bayes", folds=3)["rows"][0]
    right = 0
    for train, test in folds(data, 3, how="stratify"):
        inner = hold_out(train, SPLIT[0], "stratify")[0]
        right += np.trace(fit("classify", "naive-bayes", inner).evaluate(test)["confusion"])
    assert row["accuracy"] == pytest.approx(right / 60)


def test_a_rung_that_fails_keeps_its_row_with_the_reason():
    rows = compare("classify", messages(60), "majority,transformer", width=7, steps=2)["rows"]
    assert [(row["model"], row["status"]) for row in rows] == [("majority", "ok"), ("transformer", "failed")] and "width 7" in rows[1]["reason"]


def test_of_equal_sequences_only_the_first_is_kept():
    data = labelled([("ham", "tea"), ("spam", "cash"), ("spam", "tea"), ("ham", "tea")])
    assert [data.distinct()[s] for s in range(2)] == [{"label": ["ham"], "text": "tea"}, {"label": ["spam"], "text": "cash"}]
    assert len(data.distinct()) == 2


# Labels that training did not have


@pytest.mark.parametrize("name", ["naive-bayes", "gru", "tag", "chain"])
def test_labels_unseen_in_training_are_wrong_in_every_figure(name):
    predictor, whole = fitted(name), other(name)
    target = "label" if KINDS[name][0] == "classify" else "tags"
    column = whole.fields[target]
    strange = replace(column, values=np.where(np.arange(len(column.values)) % 5 == 0, len(column.names), column.values).astype(np.int32),
                      names=(*column.names, "aa"))
    record = predictor.evaluate(replace(whole, fields=whole.fields | {target: strange}))
    truth, found, names = [strange.names[i] for i in strange.flat], found_by(predictor, whole), [*predictor.codec.labels.names, "aa"]
    assert record["accuracy"] == pytest.approx(metrics.accuracy_score(truth, found)) and record["unseen_labels"] == {"aa": truth.count("aa")}
    assert record["macro"]["f1"] == pytest.approx(metrics.f1_score(truth, found, average="macro", zero_division=0))
    assert record["confusion"] == metrics.confusion_matrix(truth, found, labels=names).tolist()
    assert record["calibration"]["log_loss"] is None and record["nats_per_label"] is None and json.loads(json.dumps(record, allow_nan=False)) == record
    if target == "label":
        seen = np.array([label != "aa" for label in truth])
        assert record["log_loss_of_seen"] == pytest.approx(predictor.evaluate(whole[seen])["calibration"]["log_loss"])


def test_a_label_that_only_one_fold_has_is_in_its_row_and_wrong():
    data = labelled([*pairs(60, labels=2), ("aa", "toast")])
    row = compare("classify", data, "naive-bayes", folds=3)["rows"][0]
    assert row["status"] == "ok" and [each["name"] for each in row["classes"]] == ["aa", "ham", "spam"]
    assert sum(row["confusion"][0]) == 1 and row["confusion"][0][0] == 0 and np.sum(row["confusion"]) == 61 and row["log_loss"] is None
    assert row["confusion"][1][1] + row["confusion"][2][2] > 50


# What is refused


BAD_DATA = {
    "no labels": (Sequences.of(["a", "b"]), "no label"), "one label": (labelled([("ham", f"tea {i}") for i in range(30)]), "the same label"),
    "a stream": (Sequences.of(["to be or not to be " * 50], by="stream"), "no label"),
    "a missing label": (labelled([("ham", "tea"), ("", "cash")] * 20), "missing"),
    "no words": (labelled([("ham", " "), ("spam", "")] * 20), "no symbols|too short"), "nothing": (labelled([]), "no symbols|too short"),
    "one sequence": (labelled([("ham", "tea")]), "the same label|too short"),
    "numbers": (Sequences({"label": Field.of_labels("ab" * 20), "x": Field.of_numbers([[1.0]] * 40)}), "nothing to be labelled"),
    "not a number": (Sequences({"label": Field.of_numbers([[1.0], [np.nan]] * 20), "text": Field.of_text(map(str, range(40)))}), "missing"),
    "tokens with tags": (SPOKEN, "no label")}


@pytest.mark.parametrize("model", ["naive-bayes", "mean", "linear"])
@pytest.mark.parametrize("kind", BAD_DATA)
def test_data_that_cannot_be_learned_from_is_refused_by_our_own_errors(kind, model):
    data, words = BAD_DATA[kind]
    with pytest.raises(DataError, match=words):
        fit("classify", model, data, **({"steps": 1} if model == "mean" else {}))


@pytest.mark.parametrize("data, words", [
    (tagged([["a", "b"]] * 2, [["X"], ["Y"]]), "not as many"), (TRAIN, "no tag"), (tagged([["a"]] * 20, [["X"]] * 20), "the same label"),
    (Sequences({"tokens": Field.of_symbols([["a"]] * 9), "tags": Field.of_numbers([[1.0]] * 9)}), "numbers"), (tagged([[]] * 9, [[]] * 9), "no symbols"),
    (Sequences({"tokens": Field.of_symbols([["a"]] * 9), "tags": Field.of_text(["X"] * 9)}), "the same label")], ids=str)
def test_tags_that_cannot_be_learned_from_are_refused(data, words):
    with pytest.raises(DataError, match=words):
        fit("tag", "window", data, data, steps=1, width=8)


def test_labels_may_be_numbers_texts_and_the_answers_of_a_table():
    texts = TRAIN.fields["text"]
    for column in (Field.of_numbers([[i % 2] for i in range(60)]), Field.of_text("ab"[i % 2] for i in range(60))):
        for model, settings in (("naive-bayes", {}), ("mean", {"steps": 1})):
            assert fit("classify", model, Sequences({"label": column, "text": texts}), **settings).codec.labels.size == 2


def test_labels_that_training_did_not_have_are_no_part_of_validation():
    strange = labelled([("eggs", "free cash"), *pairs(20, seed=2)])
    one, other = (fit("classify", "naive-bayes+mean", TRAIN, valid, steps=3, seed=1) for valid in (strange, strange[1:]))
    assert one.metrics["weights"] == other.metrics["weights"] and one.evaluate(TEST)["confusion"] == other.evaluate(TEST)["confusion"]
    with pytest.raises(DataError, match="'eggs'"):
        fit("classify", "mean", TRAIN, strange[:1], steps=1)
    with pytest.raises(DataError, match="no label"):
        fit("classify", "mean", TRAIN, Sequences.of(["free cash"]), steps=1)


@pytest.mark.parametrize("ask, words", [
    (lambda p: p.predict(TEST, top=0), "--top"), (lambda p: p.predict(TEST, positive="spma"), "spma"), (lambda p: p.predict(TEST, at=0.5), "--positive"),
    (lambda p: p.predict(TEST, positive="spam", at=float("nan")), "nan"), (lambda p: p.predict(TEST, positive="spam", at=1.5), "1.5"),
    (lambda p: p.evaluate(TEST, positive="spma"), "spma"), (lambda p: p.evaluate(TEST, most_false=0.1), "--positive"),
    (lambda p: p.evaluate(TEST, positive="spam", most_false=float("nan")), "nan"), (lambda p: p.evaluate(TEST, positive="spam", most_false=-0.1), "share"),
    (lambda p: p.score(TEST), "neither writes nor scores"), (lambda p: p.generate("free"), "neither writes"), (lambda p: p.stream("free"), "neither writes"),
    (lambda p: p.export("x.arpa"), "run folder"), (lambda p: p.predict(Sequences.of(["free cash"], by="stream")), "--by line"),
    (lambda p: inspect(p, "surprisal", "free cash"), "only models of language"),
    (lambda p: inspect(p, "influence", "free cash"), "only models of language"),
    (lambda p: inspect(p, "gradient", "free cash"), "only models of language"), (lambda p: p.evaluate(TEST[:0]), "nothing to evaluate")])
def test_a_classifier_refuses_what_makes_no_sense(ask, words):
    with pytest.raises(SeriatimError, match=words):
        ask(fitted("naive-bayes"))


@pytest.mark.parametrize("task, model, settings, words", [
    ("clasify", "mean", {}, "'classify'"), ("classify", "naive-byes", {}, "'naive-bayes'"), ("classify", "skip-gram", {}, "task classify"),
    ("tag", "naive-bayes", {}, "task tag"), ("classify", "naive-bayes", {"ngrm": 2}, "ngram"), ("classify", "mean", {"pool": "sum"}, "pool"),
    ("classify", "mean", {"chain": True}, "chain"), ("classify", "naive-bayes", {"ngram": 9}, "at most 8"),
    ("classify", "naive-bayes", {"add": float("nan")}, "add"),
    ("classify", "gru", {"width": 7}, "even"), ("classify", "gru", {"letters": "lstm", "unit": "character"}, "--unit word"),
    ("tag", "gru", {"chain": True, "label_smoothing": 0.1}, "--chain"), ("tag", "gru", {"calibrate": True}, "calibrate"),
    ("language", "markov", {"calibrate": True}, "calibrate"), ("classify", "mean", {"vectors": "nowhere.txt"}, "nowhere")])
def test_settings_that_make_no_sense_are_refused(task, model, settings, words):
    with pytest.raises(SeriatimError, match=words):
        fit(task, model, SPOKEN if task == "tag" else TRAIN, **settings)


def test_comparisons_that_make_no_sense_are_refused():
    for task, data, settings, error in (("classify", TRAIN, {"folds": 1}, ConfigError), ("language", Sequences.of(["a b"] * 20), {"folds": 2}, ConfigError),
                                        ("classify", TRAIN, {"models": "majority", "width": 8}, ConfigError), ("classify", TRAIN[:2], {}, DataError),
                                        ("classify", TRAIN[:3], {"folds": 5}, DataError), ("classify", Sequences.of(["a"] * 9), {}, DataError)):
        with pytest.raises(error):
            compare(task, data, **({"models": "majority"} if task == "classify" else {"models": "unigram"}) | settings)
