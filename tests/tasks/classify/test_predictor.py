"""Classifiers: probabilities, thresholds, calibration, comparisons, what counts as a symbol, and what
is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics

import seriatim
from seriatim import compare, fit, load
from seriatim.data.sequences import Field, Sequences
from seriatim.data.splits import folds
from seriatim.errors import ConfigError, DataError, SeriatimError
from seriatim.tasks import task as room
from seriatim.tasks.base.cut import SPLIT
from seriatim.verbs import call
from tests.labellers import KINDS, SMALL, SPOKEN, TEST, TRAIN, fitted, truth_of
from tests.labels import labelled, messages, pairs


@pytest.mark.parametrize("name", [name for name, (task, *_) in KINDS.items() if task == "classify"])
def test_log_loss_is_that_of_the_predicted_probabilities(name):
    predictor = fitted(name)
    names, records = predictor.codec.labels.names, predictor.predict(TEST)["items"]
    chances = np.array(
        [
            [
                {each["label"]: each["probability"] for each in record["probabilities"]}[label]
                for label in names
            ]
            for record in records
        ]
    )
    record = predictor.evaluate(TEST)
    assert chances.sum(1) == pytest.approx(np.ones(40), abs=1e-6)
    assert record["log_loss"] == pytest.approx(
        metrics.log_loss(truth_of(name), chances / chances.sum(1, keepdims=True), labels=names),
        abs=1e-6,
    )
    assert "log_loss" not in record["calibration"] and "nats_per_label" not in record


def test_the_likeliest_labels_come_first_and_no_more_than_asked_for():
    for top in (1, 2, 3, 9):
        for record in fitted("naive-bayes").predict(TEST, top=top)["items"]:
            chances = [each["probability"] for each in record["probabilities"]]
            assert (
                len(chances) == min(top, 3)
                and chances == sorted(chances, reverse=True)
                and record["label"] == record["probabilities"][0]["label"]
            )


def test_a_threshold_keeps_its_promise():
    predictor = fit("classify", "gru", TRAIN, width=8, updates=12)
    record = predictor.evaluate(TEST, positive="spam", most_false=0.2)["threshold"]
    taken = [
        each["label"] == "spam"
        for each in predictor.predict(TEST, positive="spam", threshold=record["threshold"])["items"]
    ]
    true = [label == "spam" for label in truth_of("gru")]
    false = sum(t and not y for t, y in zip(taken, true)) / true.count(False)
    assert record["positive"] == "spam" and false == pytest.approx(record["false"]) and false <= 0.2
    assert sum(t and y for t, y in zip(taken, true)) / true.count(True) == pytest.approx(
        record["recall"]
    )
    assert predictor.evaluate(TEST, positive="spam")["threshold"]["false"] <= 0.001


def test_below_its_threshold_a_label_is_not_chosen_even_if_it_is_the_likeliest():
    for at, expected in ((0.0, {"spam"}), (1.0, {"ham", "work"})):
        assert {
            record["label"]
            for record in fitted("naive-bayes").predict(TEST, positive="spam", threshold=at)[
                "items"
            ]
        } == expected
    for record in fitted("naive-bayes").predict(TEST, positive="spam")["items"]:
        chance = next(
            each["probability"] for each in record["probabilities"] if each["label"] == "spam"
        )
        assert (record["label"] == "spam") == (chance >= 0.5)


def test_calibration_lowers_the_loss_on_validation_data_and_changes_no_label(tmp_path):
    train, valid = (
        messages(60),
        labelled(
            [(label if i % 4 else "ham", text) for i, (label, text) in enumerate(pairs(60, seed=2))]
        ),
    )  # too sure of itself
    plain, calibrated = (
        fit("classify", "naive-bayes", train, valid, calibrate=calibrate)
        for calibrate in (False, True)
    )
    before, after = (each.evaluate(valid) for each in (plain, calibrated))
    assert (
        calibrated.temperature > 1.2
        and plain.temperature == 1
        and after["protocol"]["temperature"] == calibrated.metrics["temperature"]
    )
    assert (
        after["log_loss"] < before["log_loss"] - 0.01 and after["confusion"] == before["confusion"]
    )
    assert (
        load(calibrated.save(tmp_path / "run")).predict(TEST)
        == calibrated.predict(TEST)
        != plain.predict(TEST)
    )
    assert fit("classify", "gru", train, calibrate=True, **SMALL).temperature > 0


def test_a_model_that_counts_has_nothing_to_compute_in_eight_bits(tmp_path):
    fitted("naive-bayes").save(tmp_path / "run")
    with pytest.raises(ConfigError, match="8 bits"):
        load(tmp_path / "run", int8=True)


def test_runs_of_the_same_labels_answer_together_and_others_are_refused():
    together = fitted("naive-bayes").joined([fit("classify", "markov-bayes", TRAIN)])
    assert together.spec == "naive-bayes+markov-bayes"
    assert together.evaluate(TEST)["accuracy"] > 0.8
    for stranger in (fit("classify", "naive-bayes", messages(60, labels=2)), fitted("tag")):
        with pytest.raises(ConfigError, match="same symbols and labels"):
            fitted("naive-bayes").joined([stranger])


def test_texts_are_cut_into_words_unless_the_data_or_the_user_say_something_else(tmp_path):
    (tmp_path / "a.tsv").write_text(
        "".join(f"{label}\t{text}\n" for label, text in [("label", "text"), *pairs(60)])
    )
    file = str(tmp_path / "a.tsv")
    units = {
        "word": [file, seriatim.read(file), seriatim.read(file, unit="word"), TRAIN],
        "character": [seriatim.read(file, unit="character")],
        "byte": [seriatim.read(file, unit="byte")],
    }
    for unit, several in units.items():
        for data in several:
            assert fit("classify", "naive-bayes", data).unit == unit
    model = fit("classify", "naive-bayes", seriatim.read(file, unit="character"), unit="word")
    assert model.unit == "word" and "cash" in model.codec.number
    compared = compare("classify", seriatim.read(file, unit="character"), "naive-bayes")
    assert compared["unit"] == "character"


def names(count: int, seed: int) -> Sequences:
    """Single words whose label is how they end; hardly any is in other data."""
    dice, ends = np.random.default_rng(seed), {"one": "ka", "other": "on"}
    rows = [str(label) for label in dice.choice(list(ends), count)]
    letters = ["".join(dice.choice(list("bdfglmprstuv"), 6)) for _ in rows]
    return labelled([(row, word + ends[row]) for row, word in zip(rows, letters, strict=True)])


def told(*given, **settings) -> tuple[object, list[str]]:
    """What a verb gives, and what was said of units."""
    events: list[dict] = []
    found = call(*given, listen=events.append, **settings)
    return found, [each["words"] for each in events if "unit:" in str(each.get("words"))]


@pytest.mark.parametrize("task", ["classify", "regress"])
def test_single_words_are_read_by_character_which_is_said_once(task):
    train, valid = names(200, 0), names(40, 1)
    if task == "regress":
        train, valid = (
            Sequences({"text": each.main, "value": Field.of_numbers([[i] for i in column.flat])})
            for each in (train, valid)
            for column in [each.field("label")]
        )
    found, said = told("fit", task, train, model="linear", valid=valid)
    words = "unit: character, since texts have no blanks; --unit says otherwise"
    assert (found.unit, said) == ("character", [words])
    compared, said = told("compare", task, train, models="linear", test=valid)
    assert (compared["unit"], said) == ("character", [words])
    record, said = told("compare", task, train, models="linear", unit="word")
    assert (record["unit"], said) == ("word", [])


def test_what_is_said_of_words_keeps_single_words_whole():
    train, valid = names(200, 0), names(40, 1)
    asked = [{"unit": "word"}, {"spelling": "yes"}, {"vocabulary": 100}]
    for settings in asked:
        model, said = told("fit", "classify", train, model="linear", **settings)
        assert (model.unit, said) == ("word", [])
    assert fit("classify", "linear", replace(train, unit="word")).unit == "word"
    right = [
        fit("classify", "naive-bayes", train, **each).evaluate(valid) for each in ({}, asked[0])
    ]
    assert right[0]["accuracy"] > right[1]["accuracy"] + 0.3
    tagged, said = told("fit", "tag", SPOKEN, model="most-frequent")
    assert (tagged.unit, said) == ("token", [])


def test_whatever_the_column_of_the_texts_is_called_labels_are_not_predicted_from_themselves(
    tmp_path,
):
    (tmp_path / "mail.csv").write_text(
        "label,message\n" + "".join(f"{label},{text}\n" for label, text in pairs(60))
    )
    predictor = fit("classify", "naive-bayes", tmp_path / "mail.csv")
    assert "cash" in predictor.codec.number and "spam" not in predictor.codec.number
    assert predictor.predict(TEST) == fit("classify", "naive-bayes", TRAIN).predict(TEST)


def test_compare_ranks_by_accuracy_and_marks_what_is_tied(tmp_path):
    record = compare("classify", messages(600), "majority,naive-bayes,linear", out=tmp_path / "out")
    rows = record["rows"]
    assert (
        record["figure"] == "accuracy"
        and record["higher_is_better"]
        and [row["status"] for row in rows] == ["ok"] * 3
    )
    others = [row["accuracy"] for row in rows[1:]]  # after the winner, chosen on validation data
    assert others == sorted(others, reverse=True) and rows[-1]["model"] == "majority"
    assert rows[0]["tied"] and not rows[-1]["tied"] and rows[-1]["against"]["word"] == "better"
    for row in rows:
        assert (
            load(tmp_path / "out" / row["run"]).evaluate(
                room("classify").cut.divide(messages(600))[2]
            )["accuracy"]
            == row["accuracy"]
        )


def test_folds_give_the_figures_of_their_fits_put_together():
    data = messages(60)
    row = compare("classify", data, "naive-bayes", folds=3)["rows"][0]
    right = 0
    for train, test in folds(data, 3, how="stratify"):
        inner = train.split(SPLIT[0], 1 - SPLIT[0], how="stratify")[1]
        right += np.trace(fit("classify", "naive-bayes", inner).evaluate(test)["confusion"])
    assert row["accuracy"] == pytest.approx(right / 60)


def test_a_rung_that_fails_keeps_its_row_with_the_reason():
    rows = compare("classify", messages(60), "majority,transformer", width=7, updates=2)["rows"]
    assert [(row["model"], row["status"]) for row in rows] == [
        ("majority", "ok"),
        ("transformer", "failed"),
    ] and "width 7" in rows[1]["reason"]


def test_of_equal_sequences_only_the_first_is_kept():
    data = labelled([("ham", "tea"), ("spam", "cash"), ("spam", "tea"), ("ham", "tea")])
    assert [data.distinct()[s] for s in range(2)] == [
        {"label": ["ham"], "text": "tea"},
        {"label": ["spam"], "text": "cash"},
    ]
    assert len(data.distinct()) == 2


def test_a_label_that_only_one_fold_has_is_in_its_row_and_wrong():
    data = labelled([*pairs(60, labels=2), ("aa", "toast")])
    row = compare("classify", data, "naive-bayes", folds=3)["rows"][0]
    assert row["status"] == "ok" and [each["name"] for each in row["classes"]] == [
        "aa",
        "ham",
        "spam",
    ]
    assert (
        sum(row["confusion"][0]) == 1
        and row["confusion"][0][0] == 0
        and np.sum(row["confusion"]) == 61
        and row["log_loss"] is None
    )
    assert row["confusion"][1][1] + row["confusion"][2][2] > 50


BAD_DATA = {
    "no labels": (Sequences.of(["a", "b"]), "no label"),
    "one label": (labelled([("ham", f"tea {i}") for i in range(30)]), "the same label"),
    "a stream": (Sequences.of(["to be or not to be " * 50], by="stream"), "is one stream"),
    "a missing label": (labelled([("ham", "tea"), ("", "cash")] * 20), "missing"),
    "no words": (labelled([("ham", " "), ("spam", "")] * 20), "no symbols|too short"),
    "nothing": (labelled([]), "no symbols|too short"),
    "one sequence": (labelled([("ham", "tea")]), "the same label|too short"),
    "numbers": (
        Sequences({"label": Field.of_labels("ab" * 20), "x": Field.of_numbers([[1.0]] * 40)}),
        "nothing to be labelled",
    ),
    "not a number": (
        Sequences(
            {
                "label": Field.of_numbers([[1.0], [np.nan]] * 20),
                "text": Field.of_text(map(str, range(40))),
            }
        ),
        "missing",
    ),
    "tokens with tags": (SPOKEN, "no label"),
}


@pytest.mark.parametrize("model", ["naive-bayes", "mean", "linear"])
@pytest.mark.parametrize("kind", BAD_DATA)
def test_data_that_cannot_be_learned_from_is_refused_by_our_own_errors(kind, model):
    data, words = BAD_DATA[kind]
    with pytest.raises(DataError, match=words):
        fit("classify", model, data, **({"updates": 1} if model == "mean" else {}))


def test_labels_may_be_numbers_texts_and_the_answers_of_a_table():
    texts = TRAIN.fields["text"]
    for column in (
        Field.of_numbers([[i % 2] for i in range(60)]),
        Field.of_text("ab"[i % 2] for i in range(60)),
    ):
        for model, settings in (("naive-bayes", {}), ("mean", {"updates": 1})):
            assert (
                fit(
                    "classify", model, Sequences({"label": column, "text": texts}), **settings
                ).codec.labels.size
                == 2
            )


def test_labels_that_training_did_not_have_are_no_part_of_validation():
    strange = labelled([("eggs", "free cash"), *pairs(20, seed=2)])
    one, other = (
        fit("classify", "naive-bayes+mean", TRAIN, valid, updates=3, seed=1)
        for valid in (strange, strange[1:])
    )
    assert (
        one.metrics["weights"] == other.metrics["weights"]
        and one.evaluate(TEST)["confusion"] == other.evaluate(TEST)["confusion"]
    )
    with pytest.raises(DataError, match="'eggs'"):
        fit("classify", "mean", TRAIN, strange[:1], updates=1)
    with pytest.raises(DataError, match="no label"):
        fit("classify", "mean", TRAIN, Sequences.of(["free cash"]), updates=1)


@pytest.mark.parametrize(
    "ask, words",
    [
        (lambda p: p.predict(TEST, top=0), "top="),
        (lambda p: p.predict(TEST, positive="spma"), "spma"),
        (lambda p: p.predict(TEST, threshold=0.5), "positive="),
        (lambda p: p.predict(TEST, positive="spam", threshold=float("nan")), "nan"),
        (lambda p: p.predict(TEST, positive="spam", threshold=1.5), "1.5"),
        (lambda p: p.evaluate(TEST, positive="spma"), "spma"),
        (lambda p: p.evaluate(TEST, most_false=0.1), "positive="),
        (lambda p: p.evaluate(TEST, positive="spam", most_false=float("nan")), "nan"),
        (lambda p: p.evaluate(TEST, positive="spam", most_false=-0.1), "at least 0"),
        (lambda p: p.evaluate(TEST, postive="spam"), "'positive'"),
        (lambda p: call("score", p, TEST), "a verb of language"),
        (lambda p: call("generate", p, "free"), "a verb of language"),
        (lambda p: call("export", p, out="x.arpa"), "a verb of language"),
        (lambda p: p.predict(Sequences.of(["free cash"], by="stream")), "Read it by line"),
        (lambda p: call("surprisal", p, ["free cash"]), "a verb of language"),
        (lambda p: call("influence", p, ["free cash"]), "a verb of language"),
        (lambda p: call("gradient", p, ["free cash"]), "a verb of language"),
        (lambda p: p.evaluate(TEST[:0]), "nothing to evaluate"),
    ],
)
def test_a_classifier_refuses_what_makes_no_sense(ask, words):
    with pytest.raises(SeriatimError, match=words):
        ask(fitted("naive-bayes"))
