"""Phrases: found as gensim finds them, joined as a slow twin joins them, and written as the words they are."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from seriatim import fit, load
from seriatim.codecs.cutting import words_of
from seriatim.codecs.options import CodecOptions
from seriatim.codecs.phrases import Phrases, find_phrases, joined
from seriatim.codecs.symbols import (
    LONG_TEXT,
    SPECIALS,
    UNKNOWN,
    WORD,
    fit_and_encode,
    fit_codec,
    load_codec,
)
from seriatim.data.sequences import Field
from seriatim.errors import ConfigError, DataError

patient = settings(deadline=None, max_examples=60)
WORDS = some.sampled_from(["a", "b", "c", "a_b", "b_c", "<unk>", "."])
ROWS = some.lists(some.lists(WORDS, max_size=12), min_size=1, max_size=6)
DICE = random.Random(0)
NEW_YORK = [
    " ".join(
        [
            *DICE.choices([f"w{i}" for i in range(60)], k=6),
            DICE.choice(["new york", "new york city", "new", "york", "city"]),
        ]
    )
    for _ in range(150)
]
COMMON = {"phrases": 2, "phrase_score": 2.0, "minimum_count": 5}


def rows_of(column: Field) -> list[list[str]]:
    return [column.raw(s) for s in range(len(column))]


def slow_pairs(rows: list[list[str]], minimum: int, threshold: float) -> set[tuple[str, str]]:
    words, pairs = (
        Counter(word for row in rows for word in row),
        Counter(pair for row in rows for pair in pairwise(row)),
    )
    return {
        (a, b)
        for (a, b), n in pairs.items()
        if (n - minimum) / (words[a] * words[b]) * (len(words) + len(pairs)) > threshold
    }


def slow_join(row: list[str], pairs) -> list[str]:
    found, place = [], 0
    while place < len(row):
        two = tuple(row[place : place + 2])
        found.append("_".join(two) if two in pairs else row[place])
        place += 2 if two in pairs else 1
    return found


@patient
@given(ROWS, some.sets(some.tuples(WORDS, WORDS), max_size=8))
def test_a_round_joins_from_left_to_right_like_its_slow_twin(rows, pairs):
    assert rows_of(joined(Field.of_symbols(rows), pairs)) == [slow_join(row, pairs) for row in rows]
    part = Field.of_symbols([["a", "b"], *rows, ["b", "c"]]).take(
        slice(1, -1)
    )  # a view that does not begin at 0
    assert rows_of(joined(part, pairs)) == [slow_join(row, pairs) for row in rows]


@patient
@given(
    some.lists(some.lists(some.sampled_from("abcd"), max_size=12), min_size=1, max_size=6),
    some.integers(1, 2),
    some.sampled_from([0.1, 1.0, 3.0]),
)
def test_phrases_are_the_pairs_that_score_above_the_threshold_round_by_round(
    rows, minimum, threshold
):
    found, text = find_phrases(
        Field.of_symbols(rows),
        CodecOptions(minimum_count=minimum, phrases=2, phrase_score=threshold),
        (),
    )
    for pairs in found.rounds:
        assert set(pairs) == slow_pairs(rows, minimum, threshold)
        rows = [slow_join(row, set(pairs)) for row in rows]
    assert rows_of(text) == rows


def test_phrases_are_those_of_gensim(public_data):
    gensim = pytest.importorskip("gensim.models.phrases")
    rows = [
        line.lower().split()
        for line in (public_data / "text" / "tinyshakespeare.txt").read_text().splitlines()[:8000]
    ]
    found, text = find_phrases(
        Field.of_symbols(rows), CodecOptions(minimum_count=3, phrases=2, phrase_score=4.0), ()
    )
    pairs = gensim.Phrases(rows, min_count=3, threshold=4.0)
    assert {"_".join(pair) for pair in found.rounds[0]} == pairs.export_phrases().keys() and len(
        found.rounds[0]
    ) > 50
    first = [list(row) for row in pairs[rows]]
    longer = gensim.Phrases(
        first, min_count=3, threshold=4.0, delimiter="+"
    )  # so that a_b with c is not a with b_c
    assert {"+".join(pair) for pair in found.rounds[1]} == longer.export_phrases().keys() and len(
        found.rounds[1]
    ) > 3
    assert rows_of(text) == [[word.replace("+", "_") for word in row] for row in longer[first]]


@pytest.mark.parametrize("unit", ["word", "token"])
@settings(patient, max_examples=25)
@given(rows=ROWS, rounds=some.integers(1, 3))
def test_what_is_written_does_not_change(unit, rows, rounds):
    text = Field.of_text(map(" ".join, rows))
    rows = rows_of(words_of(text, WORD.findall if unit == "word" else None))
    if not {word for row in rows for word in row} - {*SPECIALS}:
        return
    plain, codec = (
        fit_codec(text, CodecOptions(unit=unit, phrases=number, phrase_score=0.1))
        for number in (0, rounds)
    )
    before, after = plain.encode(text), codec.encode(text)
    assert [codec.decode(after.row(s)) for s in range(len(after))] == [
        plain.decode(before.row(s)) for s in range(len(before))
    ]
    for pairs in codec.phrases.rounds:
        rows = [slow_join(row, {*pairs}) for row in rows]
    assert [[codec.symbols[i] for i in after.row(s)] for s in range(len(after))] == [
        ["<unk>" if word in SPECIALS else word for word in row] for row in rows
    ]
    again = load_codec(json.loads(json.dumps(codec.to_json())), "codec.json")
    assert (
        again.encode(text).flat.tolist() == after.flat.tolist()
        and again.phrases.rounds == codec.phrases.rounds
    )


def test_phrases_of_two_and_more_words_are_symbols_and_the_rest_stays_apart():
    text = Field.of_text(NEW_YORK)
    codec, ids = fit_and_encode(text, CodecOptions(unit="word", **COMMON))
    assert codec.phrases.rounds == [[("new", "york")], [("new_york", "city")]]
    assert ids.flat.tolist() == codec.encode(text).flat.tolist()
    assert codec.pieces_of("New york, new york city w1 york") == [
        "New",
        "york",
        ",",
        "new_york_city",
        "w1",
        "york",
    ]
    assert (
        codec.decode(codec.encode_text("w1 w2 new york city, new york"))
        == "w1 w2 new york city \ufffd new york"
    )
    assert (
        codec.encode_text("new_york").tolist() == codec.encode_text("new york").tolist()
    )  # written with the link it is the phrase, too
    lower = fit_codec(
        Field.of_text([line.title() for line in NEW_YORK]),
        CodecOptions(unit="token", lower=True, **COMMON),
    )
    assert lower.pieces_of("NEW York") == ["new_york"]


def test_a_long_text_of_tokens_is_encoded_like_short_ones():
    codec = fit_codec(Field.of_text(NEW_YORK), CodecOptions(unit="token", **COMMON))
    times = 1 + LONG_TEXT // len("".join(NEW_YORK))
    assert (
        codec.encode(Field.of_text(NEW_YORK * times)).flat.tolist()
        == codec.encode(Field.of_text(NEW_YORK)).flat.tolist() * times
    )


def test_phrases_left_out_of_the_vocabulary_fall_apart():
    assert fit_codec(
        Field.of_text(NEW_YORK), CodecOptions(unit="word", **COMMON, vocabulary=4)
    ).pieces_of("new york city") == ["new", "york", "city"]
    assert Phrases([[("a", "b"), ("c", "d")], [("a_b", "c"), ("e", "f")]]).only(
        ["a_b_c", "e", "f"]
    ).rounds == [[("a", "b")], [("a_b", "c")]]


def test_names_stay_clear():
    """Where a_b is a word, a and b stay apart; and of two ways to write one name the first is taken. Special symbols are in no phrase."""
    rows = [["a", "b"], ["a_b"], ["<unk>", "c"]] * 5
    options = CodecOptions(minimum_count=1, phrases=1, phrase_score=0.1)
    assert find_phrases(Field.of_symbols(rows), options, SPECIALS)[0].rounds == [[]]
    clash, _ = find_phrases(Field.of_symbols([["a_b", "c"], ["a", "b_c"]] * 5), options, SPECIALS)
    assert clash.rounds == [[("a_b", "c")]] and clash.words("a_b_c") == ("a_b", "c")


@pytest.mark.parametrize(
    "phrases",
    [
        None,
        3,
        [],
        [[]],
        [[["a", "b"]]],
        [[["a", "b"]], 3],
        [[["a"]], []],
        [[["a", 3]], []],
        [["ab"], []],
        [[["a", "b"]] * 2, []],
        [[["a_b", "c"], ["a", "b_c"]], []],
    ],
    ids=str,
)
def test_damaged_phrases_are_refused(phrases):
    record = json.loads(
        json.dumps(
            fit_codec(Field.of_text(NEW_YORK), CodecOptions(unit="word", phrases=2)).to_json()
        )
    )
    with pytest.raises(DataError, match=r"codec\.json"):
        load_codec(record | {"phrases": phrases}, "codec.json")


def test_only_words_and_tokens_make_phrases():
    with pytest.raises(ConfigError, match="words or tokens"):
        fit_codec(Field.of_text(NEW_YORK), CodecOptions(unit="character", phrases=1))


@pytest.mark.parametrize("task, model", [("words", "cbow"), ("language", "kneser-ney")])
def test_phrases_serve_every_task_and_come_back_from_a_run_folder(task, model, tmp_path):
    (tmp_path / "text.txt").write_text("\n".join(NEW_YORK))
    small = {"width": 4, "threads": 1} if task == "words" else {}
    fitted = fit(
        task,
        model,
        str(tmp_path / "text.txt"),
        out=tmp_path / "run",
        unit="word",
        **COMMON,
        **small,
    )
    again = load(tmp_path / "run")
    assert again.codec.pieces_of("new york") == fitted.codec.pieces_of("new york") == ["new_york"]
    if task == "words":
        assert len(again.neighbours("new_york", top=3)["found"]) == 3
    else:
        assert UNKNOWN not in again.codec.encode_text("new york") and "new york" in again.text(
            "w1 w2", length=60, seed=1
        )
