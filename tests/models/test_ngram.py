"""Modified Kneser-Ney: KenLM's own numbers, a slow twin, and small data that must not abort."""

from __future__ import annotations

import lzma
import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import seriatim
from seriatim.codecs.symbols import STOP
from seriatim.models.ngrams.ngram import Ngram
from seriatim.models.ngrams.options import NgramOptions
from seriatim.models.ngrams.smoothing import FALLBACK, three_discounts
from tests.conftest import symbols
from tests.models.test_counts import after

V = 5


def test_every_probability_and_back_off_is_that_of_kenlm(public_data):
    """The ARPA file that lmplz wrote for the same text, line by line."""
    train = seriatim.read(str(public_data / "oracle/ewt.train.txt.gz"), by="line", unit="token")
    predictor = seriatim.fit("language", "kneser-ney", train, order=4)
    model, number = (
        predictor.model,
        {**predictor.codec.number, "</s>": STOP, "<s>": predictor.codec.size},
    )
    grams: dict[int, list] = defaultdict(list)
    with lzma.open(public_data / "oracle/kenlm_ewt4.arpa.xz", "rt", encoding="utf-8") as file:
        for line in file:
            parts = line.rstrip("\n").split("\t")
            if len(parts) >= 2:
                words = parts[1].split(" ")
                grams[len(words)].append(
                    (
                        [number[word] for word in words],
                        float(parts[0]),
                        float(parts[2]) if len(parts) > 2 else 0.0,
                    )
                )
    assert {n: len(found) for n, found in grams.items()} == {
        n: len(model.tables.keys[n - 1]) for n in (1, 2, 3, 4)
    }
    for n, found in grams.items():
        node = model.tables.find(np.array([gram for gram, _, _ in found]))
        p, g = (np.array([row[i] for row in found]) for i in (1, 2))
        seen = (node >= 0) & np.array(
            [gram != [number["<s>"]] for gram, _, _ in found]
        )  # <s> alone is never predicted
        assert seen.sum() >= len(found) - 2
        assert np.abs(model.tables.log_p[n - 1][node[seen]] / math.log(10) - p[seen]).max() < 1e-5
        if n < 4:
            assert np.abs(model.tables.log_g[n][node[seen]] / math.log(10) - g[seen]).max() < 1e-5


def test_every_sentence_scores_as_in_kenlm(public_data):
    train = seriatim.read(str(public_data / "oracle/ewt.train.txt.gz"), by="line", unit="token")
    predictor = seriatim.fit("language", "kneser-ney", train, order=4)
    rows = [
        line.split("\t")
        for line in (public_data / "oracle/kenlm_ewt4_dev_scores.tsv")
        .read_text(encoding="utf-8")
        .splitlines()
    ]
    dev = seriatim.Sequences.of([row[2] for row in rows], unit="token")
    scores = predictor.score(dev)["items"]
    assert (
        max(
            abs(each["log_prob"] / math.log(10) - float(row[0]))
            for each, row in zip(scores, rows, strict=True)
        )
        < 1e-3
    )
    assert [each["unknown"] for each in scores] == [int(row[1]) for row in rows]
    assert predictor.evaluate(dev)["perplexity"] == pytest.approx(405.258, abs=0.001)


def slow(rows, order: int):
    """The equations with dictionaries: a function from context and symbol to probability."""
    counts: dict[tuple, int] = defaultdict(int)
    for row in rows:
        begun = [V, *row, STOP]
        for n in range(1, order + 1):
            for t in range(n - 1, len(begun)):
                counts[tuple(begun[t - n + 1 : t + 1])] += 1
    adjusted: dict[tuple, int] = {}
    for gram, count in counts.items():
        left = {other[0] for other in counts if len(other) == len(gram) + 1 and other[1:] == gram}
        adjusted[gram] = count if len(gram) == order or gram[0] == V else len(left)
    adjusted.pop((V,), None)
    discounts = {}
    for n in range(1, order + 1):
        t = np.bincount([min(a, 7) for gram, a in adjusted.items() if len(gram) == n], minlength=8)
        found = three_discounts(t)
        discounts[n] = FALLBACK if found is None else tuple(found[1:])

    def p(context: tuple, w: int) -> float:
        lower = p(context[1:], w) if context else 1 / V
        followed = {v: adjusted.get((*context, v), 0) for v in range(V)}
        total = sum(followed.values())
        if not total:
            return lower
        cut = {v: (0.0, *discounts[len(context) + 1])[min(a, 3)] for v, a in followed.items()}
        return (followed[w] - cut[w]) / total + sum(cut.values()) / total * lower

    return p


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.lists(st.integers(0, V - 1).filter(lambda w: w != STOP), max_size=7),
        min_size=1,
        max_size=7,
    ),
    st.integers(1, 4),
)
def test_it_equals_the_equations_with_dictionaries(rows, order):
    model = Ngram(V, NgramOptions(order=order))
    model.count(symbols(rows), stop=True)
    p = slow(rows, order)
    for context in [
        (V,) * (order - 1),
        (2, 3, 4)[: order - 1],
        (2, 2, 2)[: order - 1],
        (V, V, 3)[3 - (order - 1) :],
    ]:
        expected = [
            p(tuple(context[max((i for i, s in enumerate(context) if s == V), default=0) :]), w)
            for w in range(V)
        ]
        row = after(model, context).exp()
        assert np.allclose(row, expected, atol=1e-6) and row.sum() == pytest.approx(1, abs=1e-5)


def test_data_too_small_for_discounts_falls_back_and_does_not_abort():
    model = Ngram(V, NgramOptions(order=3))
    model.count(symbols([[2]]), stop=True)
    assert [tuple(discount) for discount in model.discounts] == [(0.0, *FALLBACK)] * 3
    assert after(model, (V, 2)).exp().sum() == pytest.approx(1, abs=1e-6)


def test_orders_beyond_any_sequence_and_of_many_symbols_work():
    data = seriatim.read("python-docs").part(0, 20_000)
    figures = [
        seriatim.fit("language", "kneser-ney", data, order=order).evaluate(data)["nats_per_token"]
        for order in (1, 3, 12, 20)
    ]
    assert figures == sorted(figures, reverse=True)


def test_tiny_shakespeare_at_order_six(public_data):
    train, test = seriatim.read(str(public_data / "text/tinyshakespeare.txt")).split(0.9, 0.1)
    assert (
        seriatim.fit("language", "kneser-ney", train, order=6).evaluate(test)["nats_per_token"]
        <= 1.523
    )
