"""Words on whole arrays against str.split and the regular expression, one text after another."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from seriatim.codecs import cutting
from seriatim.codecs.cutting import words_of
from seriatim.codecs.symbols import WORD
from seriatim.data.sequences import Field

LETTERS = some.sampled_from(
    [
        *"aaabb1'-.,",
        *"\t \n\r\x0b\x0c\x1c\x85\xa0\u1680\u2003\u2028\u202f\u205f\u3000",
        "é",
        "漢",
        "\0",
        "\x07",
        "\u200b",
        "😀",
    ]
)
TEXTS = some.lists(
    some.one_of(
        some.text(LETTERS, max_size=30), some.text(max_size=20), some.text("ab", max_size=90)
    ),
    max_size=8,
)


def rows(column: Field) -> list[list[str]]:
    return [[column.names[i] for i in column.row(s)] for s in range(len(column))]


@pytest.mark.parametrize("block", [8, 64, cutting.BLOCK])
@settings(max_examples=150, deadline=None)
@given(texts=TEXTS)
def test_words_are_those_of_split(block, texts):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting, "BLOCK", block)
        assert rows(words_of(Field.of_text(texts))) == [text.split() for text in texts]
        assert rows(words_of(Field.of_text(texts), WORD.findall)) == [
            [p for word in text.split() for p in WORD.findall(word)] for text in texts
        ]


@settings(max_examples=100, deadline=None)
@given(texts=TEXTS)
def test_cutting_between_blanks_is_cutting_the_whole_text(texts):
    assert rows(words_of(Field.of_text(texts), WORD.findall)) == [
        WORD.findall(text) for text in texts
    ]


def test_a_part_of_a_column_is_cut_like_a_whole_one():
    column = Field.of_text(["one two", "", "three", "four five six"])
    assert rows(words_of(column.take(slice(1, 3)))) == [[], ["three"]]


@pytest.mark.parametrize("slots", [1, 3])
def test_equal_integers_are_found_whatever_the_table(monkeypatch, slots):
    monkeypatch.setattr(cutting, "SLOTS", slots)
    keys = np.random.default_rng(0).integers(0, 200, 3000).astype(np.uint64)
    example = cutting.examples(keys)
    assert np.array_equal(keys[example], keys)
    assert len(np.unique(example)) == len(np.unique(keys))


def test_words_longer_than_any_limit_are_words():
    texts = ["x" * 10_000_000 + " y " + "x" * 10_000_000 + " " + "x" * 9_999_999]
    found = words_of(Field.of_text(texts))
    assert found.flat.tolist() == [0, 1, 0, 2] and [len(name) for name in found.names] == [
        10_000_000,
        1,
        9_999_999,
    ]


@pytest.mark.parametrize("block", [8, 64, cutting.BLOCK])
@settings(max_examples=100, deadline=None)
@given(texts=TEXTS, known=TEXTS)
def test_known_words_have_their_numbers_and_others_are_unknown(block, texts, known):
    number = {
        word: i
        for i, word in enumerate(dict.fromkeys(word for text in known for word in text.split()), 2)
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting, "BLOCK", block)
        patch.setattr(cutting, "SLOTS", 3 if block == 8 else cutting.SLOTS)
        ids = cutting.Lexicon(number, 0).encode(Field.of_text(texts))
    assert [ids.row(s).tolist() for s in range(len(ids))] == [
        [number.get(word, 0) for word in text.split()] for text in texts
    ]
