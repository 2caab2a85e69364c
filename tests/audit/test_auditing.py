"""The auditor: its counts against slow ones, and each thing it looks for in data that has it and in data that has not."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from seriatim.audit.check import check, findings, names_of
from seriatim.audit.hints import guessed, table_of
from seriatim.audit.parts import groups, part_of
from seriatim.data import read
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import ConfigError, DataError

WORDS = ["a", "B", "b", "c1", "c22", "Ä", "ä", "d-e"]
texts = some.lists(
    some.lists(some.sampled_from(WORDS), max_size=3).flatmap(
        lambda words: some.sampled_from([" ".join(words), "  ".join(words) + " "])
    ),
    min_size=1,
    max_size=12,
)


def labelled(rows: list[tuple[str, str]], **more: list[str]) -> Sequences:
    fields = {
        "text": Field.of_text(text for text, _ in rows),
        "label": Field.of_labels(label for _, label in rows),
    }
    return Sequences(fields | {name: Field.of_text(values) for name, values in more.items()})


def said(record: dict | list, words: str) -> list[dict]:
    """The findings that say this."""
    return [
        each
        for each in (record["findings"] if isinstance(record, dict) else record)
        if words in each["what"]
    ]


def prose(rows: int, seed: int = 0, words: int = 300) -> list[str]:
    """Sentences of which hardly two are alike."""
    dice = random.Random(seed)
    names = ["".join(dice.choices("abcdefghij", k=5)) for _ in range(words)]
    return [
        " ".join(names[int(words * dice.random() ** 3)] for _ in range(dice.randint(6, 12)))
        for _ in range(rows)
    ]


# Counts


@settings(max_examples=60, deadline=None)
@given(some.lists(texts, min_size=1, max_size=3))
def test_copies_are_those_that_sets_find(files):
    record = check(
        [Sequences.of(each) for each in files], names=[str(i) for i in range(len(files))]
    )
    exact = [[" ".join(text.split()) for text in each if text.split()] for each in files]
    near = [[re.sub(r"\d+", "0", text.lower()) for text in each] for each in exact]
    for place, each in enumerate(record["files"]):
        found = each["duplicates"]
        assert found["copies"] == len(exact[place]) - len(set(exact[place])) and found[
            "different"
        ] == len(set(exact[place]))
        assert found["near_copies"] == len(set(exact[place])) - len(set(near[place])) and each[
            "empty"
        ] == len(files[place]) - len(exact[place])
        for example in found["examples"]:
            assert (
                example["times"]
                == len(example["lines"])
                == exact[place].count(" ".join(files[place][example["lines"][0] - 1].split()))
                > 1
            )
    across = iter(record["across"])
    for later in range(len(files)):
        for earlier in range(later):
            found, known = next(across), set(exact[earlier])
            assert (found["file"], found["other"]) == (str(later), str(earlier))
            assert found["copies"] == sum(text in known for text in exact[later])
            assert found["copies"] + found["near_copies"] == sum(
                text in set(near[earlier]) for text in near[later]
            )


rows = some.lists(some.lists(some.sampled_from("abc"), max_size=4), max_size=30)


@settings(max_examples=60, deadline=None)
@given(rows, rows)
def test_groups_are_equal_for_equal_sequences_and_only_for_them(one, other):
    found = (
        np.concatenate(groups([Field.of_symbols(one), Field.of_symbols(other)]))
        if one or other
        else []
    )
    contents = [tuple(row) for row in one + other]
    assert all(
        (found[i] == found[j]) == (contents[i] == contents[j])
        for i in range(len(contents))
        for j in range(i)
    )


@pytest.mark.parametrize(
    "unit, symbols, different",
    [(None, 5, 5), ("word", 5, 5), ("token", 3, 3), ("character", 9, 7), ("byte", 11, 8)],
)
def test_symbols_are_counted_by_the_unit(unit, symbols, different):
    record = check([Sequences.of(["été, a", "b!", " "])], unit=unit)
    assert [record["files"][0][name] for name in ("symbols", "different", "empty")] == [
        symbols,
        different,
        1,
    ]


@settings(max_examples=50, deadline=None)
@given(some.lists(some.integers(0, 300), min_size=1, max_size=200))
def test_lengths_have_their_quantiles_and_a_histogram_with_every_sequence(lengths):
    record = check([Sequences.of(["x " * length for length in lengths])])["files"][0]["length"]
    edges, counts = record["histogram"]["edges"], record["histogram"]["counts"]
    assert counts == [
        sum(low <= length < high for length in lengths) for low, high in pairwise(edges)
    ] and sum(counts) == len(lengths)
    assert (record["least"], record["most"], record["median"]) == (
        min(lengths),
        max(lengths),
        np.median(lengths),
    ) and len(counts) == 20


def test_classes_tags_and_unknown_words_are_counted():
    record = check(
        [
            labelled([("a b c", "x"), ("a", "y"), ("d", "x")]),
            labelled([("a e e", "y"), ("f d", "z")]),
        ],
        names=["train", "test"],
    )
    assert [each["classes"] for each in record["files"]] == [{"x": 2, "y": 1}, {"y": 1, "z": 1}]
    assert (
        record["files"][1]["unknown"] == {"tokens": 3 / 5, "types": 2 / 4}
        and record["files"][0]["unknown"] is None
    )
    tokens = Sequences(
        {
            "tokens": Field.of_symbols([["a", "b"], ["c"]]),
            "tags": Field.of_symbols([["N", "V"], ["N"]]),
        }
    )
    assert check([tokens])["files"][0]["tags"] == {"N": 2, "V": 1}


def test_a_part_of_a_file_knows_only_the_words_that_are_in_it():
    data = Sequences(
        {
            "tokens": Field.of_symbols([["a"], ["a", "b"]]),
            "tags": Field.of_symbols([["N"], ["N", "V"]]),
        }
    )
    record = check([data[:1], data[1:]], names=["train", "test"])
    assert record["files"][1]["unknown"] == {"tokens": 1 / 2, "types": 1 / 2} and said(
        record, "tags that train does not have: 1"
    )


def test_a_record_is_plain():
    record = check(["python-lines:lines=300", "python-lines:lines=300,seed=1"])
    assert json.loads(json.dumps(record, allow_nan=False)) == record and record["version"] == 1
    assert record["kind"] == "audit"
    assert (
        all(
            each.keys() == {"severity", "what", "got", "do", "file", "lines", "places"}
            for each in record["findings"]
        )
        and record["findings"]
    )


# What it finds


def test_contradictions_are_found_in_a_file_and_across():
    train, test = (
        labelled([("a b", "x"), ("c", "x"), ("a  b", "y"), ("c", "x")]),
        labelled([("c", "y"), ("a b", "y"), ("d", "y")]),
    )
    record = check([train, test], names=["train", "test"])
    [inside], [across] = (
        said(record, "equal sequences with different labels: 2"),
        said(record, "in train with different labels: 1"),
    )
    assert (inside["lines"], inside["got"], inside["file"]) == (
        [1, 3],
        "'a b': x and y",
        "train",
    ) and (across["lines"], across["file"]) == ([1], "test")
    assert record["across"][0]["contradicting"] == 1


def test_sentences_tagged_in_different_ways_are_found_with_the_word():
    data = Sequences(
        {
            "tokens": Field.of_symbols([["the", "Bank"]] * 3),
            "tags": Field.of_symbols([["D", "N"], ["D", "N"], ["D", "P"]]),
        }
    )
    assert said(check([data]), "different tags: 3")[0]["got"] == "'the Bank': 'Bank' is N and P"


@pytest.mark.parametrize("shared, severity", [(1, "warning"), (60, "error")])
def test_copies_across_are_an_error_when_they_are_much_of_the_test(shared, severity):
    train, test = prose(400, 1), prose(100, 2)
    record = check(
        [Sequences.of(train), Sequences.of(train[:shared] + test)], names=["train", "test"]
    )
    [found] = said(record, "are in train too")
    assert (
        found["severity"] == severity
        and found["lines"] == list(range(1, min(shared, 10) + 1))
        and f"too: {shared} (" in found["what"]
    )


def test_labels_and_tags_that_the_first_file_lacks_are_found():
    [found] = said(
        check(
            [labelled([("a", "x"), ("b", "y")]), labelled([("c", "x"), ("d", "z"), ("e", "z")])],
            names=["train", "test"],
        ),
        "labels that train",
    )
    assert (found["got"], found["lines"]) == ("'z' 2", [2, 3])
    one, other = (
        {"tokens": Field.of_symbols([["a", "b"]]), "tags": Field.of_symbols([tags])}
        for tags in (["N", "V"], ["N", "X"])
    )
    assert (
        said(
            check([Sequences(one), Sequences(other)], names=["train", "test"]),
            "tags that train does not have: 1",
        )[0]["got"]
        == "'X' 1"
    )


@pytest.mark.parametrize(
    "text, words",
    [
        ("lost \ufffd here", "U+FFFD"),
        ("bell \x07", "control"),
        ("it\x92s", "control"),
        ("form\x0cfeed", "control"),
        ("cafÃ© au lait", "such as Ã©"),
        ("donâ€™t", "such as Ã©"),
        ("5Â£ or 5Â\xa0£", "such as Ã©"),
        ("Ð¿Ñ€Ð¸Ð²ÐµÑ‚", "such as Ã©"),
    ],
)
def test_suspicious_characters_are_found_in_text_and_in_tokens(text, words):
    for data in (
        Sequences.of(["plain", "café £5 – “Spaß” привет", text]),
        Sequences({"tokens": Field.of_symbols([["plain"], ["»Ä«", "", "ß»"], [text]])}),
    ):
        found = said(check([data]), "sequences with")
        assert [each["lines"] for each in found if words in each["what"]] == [[3]] and all(
            each["lines"] == [3] for each in found
        )


def test_far_longer_sequences_are_found_longest_first():
    [found] = said(check([Sequences.of([*prose(50), "x " * 200, "y " * 500])]), "far longer")
    assert found["lines"] == [52, 51]
    assert not said(check([Sequences.of(prose(50))]), "far longer")


def test_tokens_without_tags_are_an_error():
    data = Sequences(
        {"tokens": Field.of_symbols([["a"], ["a", "b"]]), "tags": Field.of_symbols([["N"], ["N"]])}
    )
    [found] = said(check([data]), "more tokens than tags")
    assert (found["severity"], found["lines"]) == ("error", [2])


def test_one_class_is_an_error_and_small_ones_are_noted():
    assert said(check([labelled([("a", "x"), ("b", "x")])]), "same label")[0]["severity"] == "error"
    assert (
        said(
            check(
                [labelled([(text, "rare" if i == 0 else "x") for i, text in enumerate(prose(20))])]
            ),
            "fewer than 5",
        )[0]["got"]
        == "'rare' 1"
    )


# What gives the label away


@settings(max_examples=60, deadline=None)
@given(some.lists(some.tuples(some.integers(0, 3), some.integers(0, 2)), min_size=1, max_size=40))
def test_a_guess_follows_the_majority_of_the_others(pairs):
    right = 0
    for i, (value, label) in enumerate(pairs):
        others = Counter(other for j, (one, other) in enumerate(pairs) if one == value and j != i)
        right += (
            bool(others)
            and others[label] == max(others.values())
            and list(others.values()).count(others[label]) == 1
        )
    assert guessed(*np.array(pairs).T) == pytest.approx(right / len(pairs))


@settings(max_examples=40, deadline=None)
@given(
    some.lists(
        some.tuples(some.text("ab ", max_size=9), some.sampled_from("xy")), min_size=1, max_size=20
    ),
    some.permutations(range(3)),
)
def test_sequences_with_a_word_are_counted_by_class(rows, order):
    part = part_of(labelled([("a b ab", "x"), *rows]), "train", "train")
    asked = np.array(order[:2])
    expected = [
        [
            sum(
                part.symbols.names[i] in text.split() and label == name
                for text, label in [("a b ab", "x"), *rows]
            )
            for name in part.label.names
        ]
        for i in asked
    ]
    assert table_of(part, part.label, asked).tolist() == expected


def two_classes(rows: int = 400) -> list[tuple[str, str]]:
    dice = random.Random(5)
    return [(text, dice.choice("xy")) for text in prose(rows, 3)]


def test_honest_data_gives_nothing_away():
    record = check(
        [labelled(two_classes(), source=[f"{random.Random(i).random():.1f}" for i in range(400)])]
    )
    assert not record["findings"], record["findings"]


@pytest.mark.parametrize(
    "change, words, severity",
    [
        (
            lambda text, label: f"{text} SIGNATURE" if label == "x" else text,
            "words nearly always with one label: 1",
            "warning",
        ),
        (
            lambda text, label: (
                f"{text} and more of it" if label == "x" and text[0] in "abc" else text
            ),
            "words nearly always with one label",
            "note",
        ),
        (lambda text, label: f"{text} x" if label == "x" else text, "name of a label", "warning"),
        (
            lambda text, label: text + " w0" * (40 if label == "x" else 0),
            "the length of a sequence alone",
            "warning",
        ),
    ],
)
def test_what_gives_the_label_away_is_found(change, words, severity):
    assert (
        said(
            check([labelled([(change(text, label), label) for text, label in two_classes()])]),
            words,
        )[0]["severity"]
        == severity
    )


def test_a_sorted_file_and_a_telling_field_are_found():
    rows = sorted(two_classes(), key=lambda row: row[1])
    assert said(check([labelled(rows)]), "order of the file alone")
    other = two_classes()
    assert said(
        check(
            [labelled(other, station=[f"s{label}{i % 5}" for i, (_, label) in enumerate(other)])]
        ),
        "the field 'station' alone",
    )
    numbers = Field.of_numbers([[i + 1000 * (label == "x")] for i, (_, label) in enumerate(other)])
    data = labelled(other)
    assert said(check([Sequences(data.fields | {"id": numbers})]), "the field 'id' alone")


# Files


def test_what_is_wrong_with_lines_does_not_end_the_check(tmp_path):
    (tmp_path / "a.tsv").write_bytes(b"label\ttext\nx\tone two\nx\ty\tz\n\tthree\ny\tfour\r\nq\n")
    (tmp_path / "b.jsonl").write_text(
        '{"text": "one two", "label": "x"}\n{"text": \n{"text": "five", "label": ""}\n{"other": 1}\n'
        '{"text": "six", "label": "y"}\n'
    )
    (tmp_path / "c.bio").write_text("a X\nb\n\nc Y\n")
    (tmp_path / "d.csv").write_bytes("text\né, damaged: ".encode() + b"\xe9\n")
    record = check([tmp_path / name for name in ("a.tsv", "b.jsonl", "c.bio", "d.csv", "none.txt")])
    assert [each["sequences"] for each in record["files"]] == [2, 2, 2] and [
        each["name"] for each in record["files"]
    ] == ["a.tsv", "b.jsonl", "c.bio"]
    errors = {
        (each["file"].rpartition("/")[2], *each["lines"])
        for each in record["findings"]
        if each["severity"] == "error" and "are in" not in each["what"]
    }
    assert errors == {
        ("a.tsv", 3),
        ("a.tsv", 4),
        ("a.tsv", 6),
        ("b.jsonl", 2),
        ("b.jsonl", 3),
        ("b.jsonl", 4),
        ("c.bio", 2),
        ("d.csv", 2),
        ("none.txt",),
    }
    assert said(record, "lines end in different ways")[0]["lines"] == [5]


def test_problems_that_say_the_same_are_one_finding_with_all_lines(tmp_path):
    (tmp_path / "a.csv").write_text("label,text\n" + "x,a\n,b\n" * 3)
    [found] = said(check([tmp_path / "a.csv"]), "missing value in column 'label', 3 times")
    assert found["lines"] == [3, 5, 7]


def test_text_is_read_by_line_unless_told(tmp_path):
    (tmp_path / "a.txt").write_text("one two\none two\n")
    assert check([tmp_path / "a.txt"])["files"][0]["duplicates"]["copies"] == 1
    assert check([tmp_path / "a.txt"], by="stream")["files"][0]["sequences"] == 1


def test_any_field_can_be_the_label_or_be_looked_at(tmp_path):
    (tmp_path / "a.csv").write_text("title,mood,year\na b,good day,2001\nc,bad,2002\n")
    record = check([tmp_path / "a.csv"], label="mood")["files"][0]
    assert record["classes"] == {"good day": 1, "bad": 1} and record["symbols"] == 3
    record = check([tmp_path / "a.csv"], label="year", field="mood")["files"][0]
    assert record["classes"] == {"2001": 1, "2002": 1} and record["symbols"] == 3
    assert "no field 'mod'" in check([tmp_path / "a.csv"], label="mod")["findings"][0]["what"]
    assert "numbers" in check([tmp_path / "a.csv"], field="year")["findings"][0]["what"]


def test_names_are_what_tells_files_apart():
    assert names_of(["x/en-ud-train.conllu.xz", "x/en-ud-dev.conllu.xz"]) == ["train", "dev"]
    assert names_of(["a/train.tsv"]) == ["train.tsv"] and names_of(["train.tsv", "test.tsv"]) == [
        "train",
        "test",
    ]
    assert names_of(["a/train.tsv", "b/train.tsv"]) == ["a/train.tsv", "b/train.tsv"] and names_of(
        ["a.txt", "a.b.txt"]
    ) == ["a", "a.b"]
    assert names_of(["a.txt", "a.txt"]) == ["a.txt (1)", "a.txt (2)"] and names_of(
        [Sequences.of(["a"])]
    ) == ["memory"]


def test_settings_that_make_no_sense_are_refused():
    for wrong in (
        {"files": []},
        {"files": ["python-lines"], "unit": "subword"},
        {"files": ["python-lines"], "names": ["a", "b"]},
    ):
        with pytest.raises(ConfigError):
            check(**wrong)


# What a fit warns of


def test_findings_are_the_cheap_ones():
    train, valid = (
        labelled([("a b", "x"), ("", "y"), ("a b", "y"), ("c d", "y")]),
        labelled([("c d", "z"), ("e", "x")]),
    )
    found = findings(train, valid)
    assert {each["what"].partition(":")[0] for each in found} == {
        "empty sequences",
        "equal sequences with different labels",
        "sequences that are in training data too",
        "sequences that are in training data with different labels",
        "labels that training data does not have",
    }
    assert [each["severity"] for each in found] == sorted(
        (each["severity"] for each in found), key=("error", "warning", "note").index
    )
    assert len(findings(train)) == 2 and not findings(
        labelled([("a", "x"), ("b", "y")]), labelled([("c", "x")])
    )


def test_streams_and_numbers_have_no_findings():
    numbers = Sequences({"pulse": Field.of_numbers([[1.0, 2.0]])})
    assert findings(read("markov:length=100")) == findings(numbers, numbers) == []


# Public data


def test_messages_of_which_many_are_copies(public_data):
    record = check(
        [public_data / "classify" / "SMSSpamCollection"], input_format="tsv", columns="label,text"
    )
    figures = record["files"][0]
    assert (
        figures["sequences"],
        figures["duplicates"]["different"],
        figures["duplicates"]["copies"],
    ) == (5_574, 5_160, 414)
    assert figures["classes"] == {"ham": 4_827, "spam": 747} and said(record, "control characters")


def test_treebanks_share_short_sentences(public_data):
    record = check(
        [public_data / "tag" / f"en_ewt-ud-{part}.conllu.xz" for part in ("dev", "test")]
    )
    assert [each["sequences"] for each in record["files"]] == [2_001, 2_077] and record["across"][
        0
    ]["copies"] == 73
    assert not [each for each in record["findings"] if each["severity"] == "error"]


def test_a_part_needs_sequences():
    with pytest.raises(DataError, match="nothing to look at"):
        part_of(Sequences.of([]), "train", "train")


# Sets


def test_steps_that_are_sets_are_counted_as_steps_and_their_elements_known_or_not():
    train, test = ["60+64 . 60", "67 60+67 64+60+67 .", "60 . ."], ["60+64+99 60", "64 99+98 . 60"]
    record = check([Sequences.of(train), Sequences.of(test)], names=["train", "test"])
    assert [(each["unit"], each["symbols"], each["different"]) for each in record["files"]] == [
        ("step", 10, 6),
        ("step", 6, 5),
    ]
    assert record["files"][1]["unknown"] == {"tokens": 3 / 8, "types": 2 / 4} and said(
        record, "elements that train does not have: 37.5 %"
    )
    assert said(record, "steps are sets")[0]["got"].startswith(
        "3 elements, 1.0 in a set; 40.0 %"
    ) and not said(record, "no set")
    assert not said(
        check([Sequences.of(["60+61 62", "70+71 72"])]), "near copies"
    )  # numbers are names here


def test_a_step_that_is_no_set_is_told_with_its_line():
    record = check([Sequences.of(["60+64 . 60+67", "60++64 .", "60+60", ".+60 61+62"])])
    [found] = said(record, "a step that is no set: 3")
    assert (
        found["severity"] == "error" and found["lines"] == [2, 3, 4] and found["got"] == "'60++64'"
    )


@pytest.mark.parametrize(
    "text", ["I write C++ . C++ , too", "a sum : 1 + 2 and so on", "what is this"]
)
def test_text_is_not_taken_for_sets_and_sets_are_text_if_that_is_said(text):
    assert check([Sequences.of([text])])["files"][0]["unit"] == "word"
    record = check([Sequences.of(["60+64 . 67"])], unit="word")
    assert record["files"][0]["unit"] == "word" and not said(record, "sets")
