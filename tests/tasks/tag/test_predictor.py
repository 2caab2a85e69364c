"""Taggers: known and unknown words, spans, chains of tags, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from seriatim import fit
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import ConfigError, DataError
from seriatim.tasks.labels.tables import best_lines, tag_lines
from seriatim.verbs import call
from tests.labellers import HEARD, TRAIN, fitted
from tests.labels import tagged


def test_known_and_unknown_words_and_whole_sentences_are_told_apart():
    data = tagged(
        [["the", "dog"], ["zebra"], ["the", "zebra", "run"]],
        [["DET", "NOUN"], ["NOUN"], ["DET", "NOUN", "VERB"]],
    )
    predictor = fitted("tag")
    record, found = (
        predictor.evaluate(data),
        [each["tags"] for each in predictor.predict(data)["items"]],
    )
    right = [
        [a == b for a, b in zip(data.fields["tags"].raw(s), row, strict=True)]
        for s, row in enumerate(found)
    ]
    assert record["unknown"] == 2 and record["symbols"] == 6 and record["sequences"] == 3
    assert record["known_words"] == {
        "accuracy": (sum(right[0]) + right[2][0] + right[2][2]) / 4,
        "words": 4,
    }
    assert record["unknown_words"] == {"accuracy": (right[1][0] + right[2][1]) / 2, "words": 2}
    assert (
        record["whole_sequences"] == pytest.approx(np.mean([all(row) for row in right]))
        and "spans" not in record
    )


def test_tags_of_spans_have_figures_of_spans():
    rows = [[f"w{i}", "of", f"x{i % 7}", "said"] for i in range(40)]
    data = tagged(
        rows,
        [
            ["B-PER", "I-PER", "I-PER", "O"] if i % 2 else ["B-ORG", "O", "B-PER", "O"]
            for i in range(40)
        ],
    )
    for chain in (False, True):
        record = fit("tag", "window", data, updates=3, width=8, chain=chain).evaluate(data)
        assert {each["name"] for each in record["spans"]["types"]} == {"ORG", "PER"} and record[
            "spans"
        ]["support"] == 60


def test_a_chain_never_finds_tags_that_make_no_sense_and_says_when_the_truth_makes_none():
    rows = [[f"w{i}", "of", "said"] for i in range(40)]
    data = tagged(
        rows, [["B-PER", "I-PER", "O"] if i % 2 else ["O", "B-ORG", "I-ORG"] for i in range(40)]
    )
    predictor = fit("tag", "window", data, updates=1, width=8, chain=True, seed=3)
    for record in predictor.predict(data)["items"]:
        assert all(
            tag[0] != "I" or before[1:] == tag[1:]
            for before, tag in zip(["O", *record["tags"]], record["tags"])
        )
    nonsense = predictor.evaluate(tagged([["w1", "of"]], [["I-PER", "O"]]))
    assert nonsense["log_loss"] is None and json.dumps(nonsense, allow_nan=False)
    assert (
        fit("tag", "window", data, updates=1, width=8, chain=True, constrained=False).evaluate(
            tagged([["w1"]], [["I-PER"]])
        )["log_loss"]
        > 0
    )


def test_tokens_are_told_as_they_stand_in_the_data_with_their_tags():
    records = fitted("tag").predict(tagged([["The", "ZEBRA"], []], [["DET", "NOUN"], []]))["items"]
    assert [record["tokens"] for record in records] == [["The", "ZEBRA"], []] and [
        len(record["tags"]) for record in records
    ] == [2, 0]
    assert all(0 < chance <= 1 for chance in records[0]["probabilities"])


@pytest.mark.parametrize(
    "data, words",
    [
        (tagged([["a", "b"]] * 2, [["X"], ["Y"]]), "not as many"),
        (TRAIN, "no tag"),
        (tagged([["a"]] * 20, [["X"]] * 20), "the same label"),
        (
            Sequences(
                {"tokens": Field.of_symbols([["a"]] * 9), "tags": Field.of_numbers([[1.0]] * 9)}
            ),
            "numbers",
        ),
        (tagged([[]] * 9, [[]] * 9), "no symbols"),
        (
            Sequences({"tokens": Field.of_symbols([["a"]] * 9), "tags": Field.of_text(["X"] * 9)}),
            "the same label",
        ),
    ],
    ids=str,
)
def test_tags_that_cannot_be_learned_from_are_refused(data, words):
    with pytest.raises(DataError, match=words):
        fit("tag", "window", data, data, updates=1, width=8)


# Rows of tags, and files written again


def test_the_best_rows_of_tags_come_first_and_only_of_models_that_judge_them_together():
    found = fitted("chain").best(HEARD[:3], count=4)["items"]
    assert [len(each["results"]) for each in found] == [4, 4, 4]
    for item, said in zip(found, fitted("chain").predict(HEARD[:3])["items"], strict=True):
        chances = [row["log_prob"] for row in item["results"]]
        assert chances == sorted(chances, reverse=True)
        assert item["results"][0]["tags"] == said["tags"]
    with pytest.raises(ConfigError, match="chain="):
        fitted("tag").best(HEARD[:1])
    with pytest.raises(ConfigError, match="at least one row"):
        fitted("chain").best(HEARD[:1], count=0)


def test_a_file_is_not_annotated_without_a_place_to_write(tmp_path):
    (tmp_path / "a.bio").write_text("the X\ndog X\n\n")
    with pytest.raises(ConfigError, match="out="):
        fitted("tag").annotate(tmp_path / "a.bio")
    record = call("annotate", fitted("tag"), tmp_path / "a.bio", out=tmp_path / "b.bio")
    assert (record["kind"], record["sequences"], record["tags"]) == ("annotated", 1, 2)
    tags = fitted("tag").predict(["the dog"])["items"][0]["tags"]
    lines = (tmp_path / "b.bio").read_text().split("\n")
    assert [line.split()[-1] for line in lines[:2]] == tags


def test_series_without_tags_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("who,pulse\na,1\n")
    with pytest.raises(DataError, match=r"no tag for each element.*label="):
        fit("tag", "hmm", tmp_path / "a.csv", series="who")


# As the command line prints it


def test_lines_of_tags():
    items = [{"tokens": ["a", "b"], "tags": ["X", "Y"]}, {"tokens": [], "tags": []}]
    assert tag_lines({"items": items}) == "a\tX\nb\tY\n\n"
    rows = [{"tags": ["X", "Y"], "log_prob": -0.5}, {"tags": ["Y", "Y"], "log_prob": -1.25}]
    assert best_lines({"items": [{"results": rows}]}) == "-0.5000\tX Y\n-1.2500\tY Y\n"
