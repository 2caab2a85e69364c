"""What goes in and what comes out: sequences, labels and letters become numbers and come back, and what does not fit is told."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from seriatim.codecs.options import UNITS, CodecOptions
from seriatim.codecs.symbols import SPECIALS, UNKNOWN
from seriatim.data import read
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import DataError, SeriatimError
from seriatim.tasks.labels.codec import FIRST_LETTER, HALF, Examples, LabelCodec, target_of
from tests.labels import labelled, messages, sentences, tagged

token = some.text(some.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=40)
rows_of_tokens = some.lists(some.lists(token, max_size=6), min_size=1, max_size=6)


def fitted(data: Sequences, unit: str = "token", target: str = "label", **options) -> LabelCodec:
    return LabelCodec.fit(data, CodecOptions(unit=unit, **options), target)


def same(one: Examples, other: Examples) -> bool:
    return all(
        np.array_equal(getattr(a, name), getattr(b, name))
        for a, b in ((one.x, other.x), (one.y, other.y))
        for name in ("flat", "lengths")
    )


def spelling(codec: LabelCodec, letters: np.ndarray) -> str:
    """A row of letters as a person would read it."""
    return "".join("?" if i == 1 else codec.letters[i - FIRST_LETTER] for i in letters if i)


def shortened(name: str) -> str:
    """What is read of a word."""
    return name if len(name) <= 2 * HALF else name[:HALF] + name[-HALF:]


# There and back


@settings(deadline=None, max_examples=60)
@given(rows_of_tokens.filter(any), some.data())
def test_training_tokens_and_their_labels_come_back(rows, data):
    labels = data.draw(
        some.lists(
            some.sampled_from(["ham", "spam", "Ünknown"]), min_size=len(rows), max_size=len(rows)
        )
    )
    given = Sequences(
        {"label": Field.of_labels(labels), "tokens": Field.of_symbols(rows)}, unit="token"
    )
    if all(name in SPECIALS for row in rows for name in row):
        return
    codec = fitted(given)
    found = codec.encode(given)
    assert [[codec.symbols[i] for i in found.x.row(s)] for s in range(len(rows))] == [
        [SPECIALS[UNKNOWN] if name in SPECIALS else name for name in row] for row in rows
    ]
    assert codec.pieces(given.main) == rows and codec.labels.decode(found.y.flat) == labels


@settings(deadline=None, max_examples=60)
@given(rows_of_tokens.filter(any), some.data())
def test_training_tags_come_back_one_for_each_token(rows, data):
    tags = [[data.draw(some.sampled_from(["NOUN", "VERB", "X"])) for _ in row] for row in rows]
    given = tagged([["a", *row] for row in rows], [["X", *row] for row in tags])
    codec = fitted(given, target="tags")
    found = codec.encode(given)
    assert [codec.labels.decode(found.y.row(s)) for s in range(len(rows))] == [
        ["X", *row] for row in tags
    ]
    assert np.array_equal(found.x.offsets, found.y.offsets)


@settings(deadline=None, max_examples=40)
@given(rows_of_tokens, some.integers(0, 5), some.integers(0, 5))
def test_a_part_of_the_data_is_encoded_as_in_the_whole(rows, start, length):
    given = Sequences(
        {
            "label": Field.of_labels(str(i % 2) for i in range(len(rows) + 1)),
            "tokens": Field.of_symbols([["a"], *rows]),
        },
        unit="token",
    )
    codec, part = fitted(given), slice(start, start + length)
    whole, found = codec.encode(given), codec.encode(given[part])
    assert [found.x.row(s).tolist() for s in range(len(found))] == [
        whole.x.row(s).tolist() for s in range(len(whole))[part]
    ]
    assert found.y.flat.tolist() == whole.y.flat[part].tolist()
    assert [spelling(codec, found.letters[word]) for word in found.words] == [
        name for row in [["a"], *rows][part] for name in map(shortened, row)
    ]


def test_what_is_unknown_is_looked_for_in_lower_case():
    codec = fitted(labelled([("a", "the Paris metro"), ("b", "paris")]))
    names = [
        codec.symbols[i]
        for i in codec.encode(
            labelled([("a", "The THE the Paris PARIS Metro London </s> <unk>")])
        ).x.flat
    ]
    assert names == ["the", "the", "the", "Paris", "paris", "metro", "<unk>", "<unk>", "<unk>"]


def test_rare_words_are_unknown_and_keep_their_letters():
    codec = fitted(labelled([("a", "tea tea rum"), ("b", "tea")]), minimum_count=2)
    found = codec.encode(labelled([("a", "rum tea")]))
    assert found.x.flat.tolist() == [UNKNOWN, codec.number["tea"]]
    assert [spelling(codec, found.letters[word]) for word in found.words] == ["rum", "tea"]


def test_more_words_are_known_besides_but_only_where_words_are_symbols():
    data = messages(20)
    known = LabelCodec.fit(data, CodecOptions(unit="word"), "label", ["zebra", "tea"])
    assert (
        known.encode(labelled([("ham", "zebra")])).x.flat.tolist() == [known.size - 1]
        and known.symbols.count("tea") == 1
    )
    assert all(
        LabelCodec.fit(data, CodecOptions(unit=unit), "label", ["zebra"]).size
        == fitted(data, unit).size
        for unit in ("character", "byte", "subword")
    )


# Letters


@settings(deadline=None, max_examples=100)
@given(some.lists(token, min_size=1, max_size=6), some.lists(token, max_size=6))
def test_letters_spell_the_words_and_long_words_keep_both_ends(seen, others):
    codec = fitted(labelled([("a", " ".join(seen)), ("b", "x")]))
    letters = codec.spelled([*seen, *others])
    for name, row in zip([*seen, *others], letters, strict=True):
        kept = shortened(name)
        assert (row > 0).sum() == len(kept) and not row[len(kept) :].any()
        assert [i - FIRST_LETTER for i in row[: len(kept)]] == [
            codec.letters.index(letter) if letter in codec.letters else 1 - FIRST_LETTER
            for letter in kept
        ]
    assert letters.shape[1] <= 2 * HALF and letters.max() < codec.sizes[1]


def test_each_different_word_is_spelled_once():
    codec = fitted(labelled([("a", "to be or not to be"), ("b", "be")]))
    found = codec.encode(labelled([("a", "be To be"), ("b", ""), ("b", "to not")]))
    assert len(found.letters) == 4 and found.words.tolist()[0] == found.words.tolist()[2]
    assert [spelling(codec, found.letters[word]) for word in found.words] == [
        "be",
        "?o",
        "be",
        "to",
        "not",
    ]


# Units


@pytest.mark.parametrize("unit", UNITS)
def test_every_unit_cuts_the_text_as_its_codec_does(unit):
    data = labelled([("b", "Mum's tea, too"), ("a", ""), ("b", "grüß 漢字")])
    codec = fitted(data, unit)
    found = codec.encode(data)
    assert [codec.inputs.decode(found.x.row(s)).split() for s in range(3)] == [
        data.main.raw(s).split() for s in range(3)
    ]
    assert [
        len(pieces) for pieces in codec.pieces(data.main)
    ] == found.x.lengths.tolist() and found.x.lengths[1] == 0
    assert codec.labels.names == ["a", "b"] and found.y.flat.tolist() == [1, 0, 1]
    assert (found.letters is not None) == (found.words is not None) == (unit in ("word", "token"))
    assert codec.sizes == (2, len(codec.letters) + FIRST_LETTER, codec.size, 0) and bool(
        codec.letters
    ) == (unit in ("word", "token"))


@pytest.mark.parametrize(
    "unit, first", [("character", "grüß"), ("byte", ["g", "r", "⟨C3⟩", "⟨BC⟩", "⟨C3⟩", "⟨9F⟩"])]
)
def test_pieces_of_characters_and_bytes_are_these(unit, first):
    data = labelled([("a", "grüß"), ("b", "gr")])
    assert fitted(data, unit).pieces(data.main) == [list(first), ["g", "r"]]


def test_without_labels_there_is_no_y():
    codec = fitted(messages(20), "word")
    found = codec.encode(Sequences.of(["free cash", ""]), labelled=False)
    assert len(found) == 2 and len(found.y) == 0


# Labels that are not symbols


@pytest.mark.parametrize(
    "column, names",
    [
        (Field.of_numbers([[1], [2.5], [1234567], [1234568]]), ["1", "2.5", "1234567", "1234568"]),
        (Field.of_numbers([[-0.1], [1e-7], [3], [3]]), ["-0.1", "0.0000001", "3", "3"]),
        (Field.of_text(["good", "very bad", "good", "é"]), ["good", "very bad", "good", "é"]),
        (
            Field.of_symbols([["very", "good"], ["bad"], ["bad"], ["very", "bad"]]),
            ["very good", "bad", "bad", "very bad"],
        ),
    ],
    ids=["numbers", "shares", "text", "lists"],
)
def test_texts_numbers_and_lists_are_names_of_labels(column, names):
    data = Sequences({"label": column, "text": Field.of_text(["a", "b", "c", "d"])})
    assert [target_of(data, "label").raw(s) for s in range(4)] == [[name] for name in names]
    assert fitted(data).encode(data[1:]).y.names == tuple(sorted(set(names)))


@pytest.mark.parametrize(
    "column",
    [
        Field.of_numbers([[1], [np.nan]]),
        Field.of_numbers([[1], [np.inf]]),
        Field.of_text(["good", ""]),
        Field.of_symbols([["good"], []]),
        Field.of_symbols([["good"], [""]]),
    ],
    ids=["nan", "infinite", "text", "list", "name"],
)
def test_a_missing_label_is_told_by_file_and_line(column):
    data = Sequences(
        {"label": column, "text": Field.of_text(["a", "b"])},
        origin="messages.csv",
        lines=np.array([2, 7]),
    )
    with pytest.raises(DataError, match=r"messages.csv:7: missing"):
        target_of(data, "label")


@pytest.mark.parametrize(
    "target, column",
    [
        ("label", Field.of_numbers([[1, 2], [3]])),
        ("label", Field.of_numbers([[[1, 2]], [[3, 4]]])),
        ("tags", Field.of_numbers([[1], [2]])),
    ],
)
def test_numbers_that_are_no_labels_are_refused(target, column):
    with pytest.raises(DataError, match="holds numbers"):
        target_of(Sequences({target: column, "text": Field.of_text(["a", "b"])}), target)


# What does not fit


def test_data_without_labels_or_tags_says_what_it_has():
    with pytest.raises(
        DataError,
        match=r"no label for each sequence. Received: fields: text.*pairs \(text, label\)",
    ):
        fitted(Sequences.of(["a"]))
    with pytest.raises(DataError, match=r"no tag for each element.*pairs \(tokens, tags\)"):
        fitted(messages(3), target="tags")


def test_a_label_that_training_did_not_have_is_told_by_file_and_line(tmp_path):
    file = tmp_path / "test.tsv"
    file.write_text("label\ttext\nham\tone\n\nspma\ttwo\n")
    with pytest.raises(DataError, match=r"test.tsv:4: a label .*'spma'.*ham, spam"):
        fitted(messages(20, labels=2), "word").encode(read(str(file)))


def test_a_tag_that_training_did_not_have_is_told_by_the_line_of_its_sentence():
    data = tagged(
        [["dog"], ["the", "dog"]],
        [["NOUN"], ["DET", "NUON"]],
        origin="t.conllu",
        lines=np.array([1, 4]),
    )
    with pytest.raises(DataError, match=r"t.conllu:4: .*'NUON'"):
        fitted(sentences(20), target="tags").encode(data)


def test_tags_that_are_not_as_many_as_the_tokens_are_told_by_file_and_line():
    data = tagged(
        [["the"], ["the", "dog"]], [["DET"], ["DET"]], origin="t.jsonl", lines=np.array([1, 2])
    )
    with pytest.raises(
        DataError, match=r"t.jsonl:2: .*not as many tags as symbols. Received: 1 and 2"
    ):
        fitted(sentences(20), target="tags").encode(data)
    with pytest.raises(DataError, match=r"memory: .*not as many"):
        fitted(sentences(20), "character", target="tags").encode(sentences(3))


def test_texts_that_are_all_empty_teach_nothing_but_can_be_asked_about():
    with pytest.raises(DataError, match="no symbols"):
        fitted(labelled([("a", ""), ("b", " ")]))
    found = fitted(messages(20), "word").encode(labelled([("ham", ""), ("ham", "")]))
    assert (
        found.x.lengths.tolist() == [0, 0]
        and len(found.words) == 0
        and found.letters.shape == (0, 1)
    )


# Kept


@pytest.mark.parametrize("unit", UNITS)
def test_a_saved_codec_gives_the_same_numbers(unit):
    data, other = messages(40), messages(20, seed=1)
    codec = fitted(data, unit)
    again = LabelCodec.from_json(json.loads(json.dumps(codec.to_json())), "codec.json")
    assert (
        isinstance(again, LabelCodec)
        and again.to_json() == codec.to_json()
        and again.target == "label"
    )
    assert same(again.encode(other), codec.encode(other))
    if codec.letters:
        assert np.array_equal(again.encode(other).letters, codec.encode(other).letters)


DAMAGED = {
    "labels": [[], ["a", "a"], "ab", [1, 2], None, {"a": 0}],
    "letters": ["aa", ["a", "b"], None, 3],
    "target": ["tag", "", None, []],
    "symbols": [["a"], None],
    "options": [{"unit": "wrod"}, 7],
}


@pytest.mark.parametrize(
    "key, value", [(key, value) for key, values in DAMAGED.items() for value in values], ids=repr
)
def test_a_damaged_record_is_refused(key, value):
    record = fitted(messages(20)).to_json() | {key: value}
    with pytest.raises(SeriatimError, match=r"codec\.json"):
        LabelCodec.from_json(record, "codec.json")


@pytest.mark.parametrize("key", ["letters", "target"])
def test_a_record_with_something_missing_is_refused(key):
    record = fitted(messages(20)).to_json()
    del record[key]
    with pytest.raises(DataError, match=f"'{key}'"):
        LabelCodec.from_json(record, "codec.json")
