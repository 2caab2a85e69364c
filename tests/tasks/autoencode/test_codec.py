"""Sequences with what is given: numbers as moves and states, labels beside them, and the grammar they may come from."""

from __future__ import annotations

import json
import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from hypothesis.extra.numpy import arrays

from seriatim.codecs.options import CodecOptions
from seriatim.data.corpora.grammar import RULES, nats, sentences, words
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import DataError
from seriatim.tasks.autoencode.codec import Conditioned
from seriatim.tasks.autoencode.moves import Moves


@settings(max_examples=40, deadline=None)
@given(
    some.lists(
        arrays(
            np.float64,
            some.tuples(some.integers(1, 6), some.just(3)),
            elements=some.floats(-1e6, 1e6),
        ),
        min_size=1,
        max_size=4,
    ),
    some.booleans(),
)
def test_numbers_come_back_as_they_were(rows, pen):
    if pen:
        for row in rows:
            row[:, 2] = row[:, 2] > 0
            row[-1, 2] = 1  # a drawing ends with its last stroke
    column = Field.of_numbers(rows)
    codec = Moves.from_json(json.loads(json.dumps(Moves.fit(column, pen).to_json())))
    encoded = codec.encode(column)
    assert [encoded.row(s)[-1, -1] for s in range(len(rows))] == [codec.end] * len(rows) and (
        encoded.flat[:, -1] == codec.end
    ).sum() == len(rows)
    for s, row in enumerate(rows):
        assert np.allclose(
            codec.decode(encoded.row(s)),
            row,
            rtol=1e-5,
            atol=1e-5 * max(codec.deviation) + 1e-6 * np.abs(np.concatenate(rows)).max(),
        )


def test_a_codec_of_sequences_and_labels_is_the_same_after_saving():
    data = Sequences(
        {
            "text": Field.of_text(["a b", "b"]),
            "author": Field.of_labels(["x", "y"]),
            "year": Field.of_numbers([[1999], [2001]]),
        }
    )
    codec = Conditioned.fit(data, CodecOptions(unit="word", condition="author,year"))
    again = Conditioned.from_json(json.loads(json.dumps(codec.to_json())), "here")
    assert again.encode(data).labels.tolist() == codec.encode(data).labels.tolist() == [
        [0, 0],
        [1, 1],
    ] and again.sizes == codec.sizes == (0, (2, 2))
    with pytest.raises(DataError, match="does not have"):
        codec.encode(
            Sequences(
                {
                    "text": Field.of_text(["a"]),
                    "author": Field.of_labels(["z"]),
                    "year": Field.of_numbers([[1999]]),
                }
            )
        )
    with pytest.raises(DataError, match="no field 'autor'"):
        Conditioned.fit(data, CodecOptions(unit="word", condition="autor"))


@pytest.mark.parametrize(
    "values, words",
    [
        ([[0.0, 1.0], [np.nan, 1.0]], "sequence 1 has a number"),
        ([[0.0, 1.0, 2.0]], "rows of dx, dy"),
    ],
)
def test_numbers_that_cannot_be_drawn_are_refused(values, words):
    pen = len(values[0]) == 3
    with pytest.raises(DataError, match=words):
        Moves.fit(Field.of_numbers([np.array(values)]), pen)


def test_the_entropy_of_the_grammar_is_that_of_all_its_phrases():
    def phrases(symbol: str):
        if symbol not in RULES:
            return [((symbol,), 1.0)]
        return [
            (sum((part for part, _ in parts), ()), weight * math.prod(p for _, p in parts))
            for weight, rule in RULES[symbol]
            for parts in product(*map(phrases, rule.split()))
        ]

    for symbol in ("NP", "VERB", "ADV"):
        found = phrases(symbol)
        assert len({text for text, _ in found}) == len(found)  # no phrase has two derivations
        assert nats(symbol) == pytest.approx(-sum(p * math.log(p) for _, p in found)) and sum(
            p for _, p in found
        ) == pytest.approx(1)
        assert words(symbol) == pytest.approx(sum(p * len(text) for text, p in found))
    assert sentences("sentences:count=3,seed=1").main.raw(1)[-1] in (".", "?")
