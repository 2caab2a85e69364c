"""Every smoothing against the same equations with dictionaries, and what all of them must keep."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from seriatim.codecs.symbols import STOP, UNKNOWN
from seriatim.models.ngrams.counts import sorted_pairs
from seriatim.models.ngrams.ngram import Ngram
from seriatim.models.ngrams.options import NgramOptions
from seriatim.models.ngrams.smoothing import (
    FALLBACK,
    RELIABLE,
    SMOOTHING,
    good_turing_discounts,
    one_discount,
    three_discounts,
)
from seriatim.storage import Space
from tests.conftest import symbols
from tests.models.test_counts import after

V = 5
patient = settings(max_examples=40, deadline=None)
corpora = some.lists(
    some.lists(some.integers(0, V - 1).filter(lambda w: w != STOP), max_size=9),
    min_size=1,
    max_size=9,
)


def fitted(rows, **options) -> Ngram:
    model = Ngram(V, NgramOptions(**options))
    model.count(symbols(rows), stop=True)
    return model


class Slow:
    """p(w | context) by recursion over dictionaries."""

    def __init__(self, rows, order: int, smoothing: str):
        self.order, self.smoothing = order, smoothing
        self.a: dict[tuple, int] = defaultdict(int)
        for row in rows:
            begun = [V, *row, STOP]
            for n in range(1, order + 1):
                for t in range(n - 1, len(begun)):
                    self.a[tuple(begun[t - n + 1 : t + 1])] += 1
        if SMOOTHING[smoothing].continuation:
            seen = dict(self.a)
            for gram in seen:
                if len(gram) < order and gram[0] != V:
                    self.a[gram] = len(
                        {
                            longer[0]
                            for longer in seen
                            if longer[1:] == gram and len(longer) == len(gram) + 1
                        }
                    )
        del self.a[(V,)]

    def t(self, n: int) -> np.ndarray:
        return np.bincount(
            [min(a, 7) for gram, a in self.a.items() if len(gram) == n], minlength=8
        )[:7]

    def taken(self, n: int, a: int) -> float:
        if not a:
            return 0.0
        if self.smoothing == "modified-kneser-ney":
            found = three_discounts(self.t(n))
            return (FALLBACK if found is None else found[1:])[min(a, 3) - 1]
        found = one_discount(self.t(n))
        return FALLBACK[0] if found is None else found[1]

    def factor(self, n: int, r: int) -> float:
        found = good_turing_discounts(self.t(n))
        if r > RELIABLE or r == 0:
            return 1.0
        return 1 - FALLBACK[min(r, 3) - 1] / r if found is None else found[r]

    def p(self, context: tuple, w: int) -> float:
        lower = [self.p(context[1:], v) for v in range(V)] if context else [1 / V] * V
        a = [self.a.get((*context, v), 0) for v in range(V)]
        total, kinds, n = sum(a), sum(count > 0 for count in a), len(context) + 1
        if not total:
            return lower[w]
        if self.smoothing == "witten-bell":
            return (a[w] + kinds * lower[w]) / (total + kinds)
        if self.smoothing == "good-turing":
            kept, free = (
                [self.factor(n, count) * count for count in a],
                1 - sum(lower[v] for v in range(V) if a[v]),
            )
            if free < 1e-5:
                return kept[w] / sum(kept)
            total += sum(kept) > total - 1e-9
            return kept[w] / total if a[w] else (1 - sum(kept) / total) / free * lower[w]
        taken = [self.taken(n, count) for count in a]
        return (a[w] - taken[w] + sum(taken) * lower[w]) / total


@pytest.mark.parametrize("smoothing", SMOOTHING)
@patient
@given(rows=corpora, order=some.integers(1, 4))
def test_probabilities_are_those_of_the_equations(smoothing, rows, order):
    model, slow = fitted(rows, order=order, smoothing=smoothing), Slow(rows, order, smoothing)
    for context in [
        (V,) * (order - 1),
        (2, 3, 4)[: order - 1],
        (2, 2, 2)[: order - 1],
        (V, V, 3)[3 - (order - 1) :],
    ]:
        begun = context[max((i for i, symbol in enumerate(context) if symbol == V), default=0) :]
        row = after(model, context).exp()
        assert np.allclose(row, [slow.p(tuple(begun), w) for w in range(V)], atol=1e-6)
        assert row.sum() == pytest.approx(1, abs=1e-5)


def test_enough_data_needs_no_fallback_and_too_little_says_so():
    rows = np.random.default_rng(0).zipf(1.3, (2000, 12)).clip(2, 5000)
    for smoothing in ("modified-kneser-ney", "absolute", "good-turing"):
        model = Ngram(5001, NgramOptions(order=2, smoothing=smoothing))
        notes = [
            each["note"] for each in model.counting(symbols(rows), stop=True) if "note" in each
        ]
        assert not any("2-grams" in note for note in notes)
    notes = [
        each["note"]
        for each in Ngram(V, NgramOptions(order=2)).counting(symbols([[2, 3]]), stop=True)
        if "note" in each
    ]
    assert notes[1] == "too few 2-grams to estimate their discounts: 0.5, 1, 1.5 are used"


@patient
@given(corpora)
def test_a_closed_vocabulary_leaves_nothing_for_the_unknown(rows):
    model = fitted(rows, order=3, closed=True)
    row = after(model, (2, 3)).exp()
    assert row.sum() == pytest.approx(1, abs=1e-5)
    assert (row[UNKNOWN] == 0) == (not any(UNKNOWN in each for each in rows))


@pytest.mark.parametrize("smoothing", SMOOTHING)
def test_counting_on_disk_gives_the_same_bits(smoothing, monkeypatch):
    rows = [np.random.default_rng(seed).geometric(0.3, 400).clip(2, 40) for seed in range(60)]
    inside = Ngram(41, NgramOptions(order=5, smoothing=smoothing))
    inside.count(symbols(rows), stop=True)
    monkeypatch.setattr("seriatim.models.ngrams.counts.BLOCK", 500)  # many blocks
    made = []
    monkeypatch.setattr(
        Space,
        "empty",
        lambda self, length, kind, real=Space.empty: (
            made.append(self.on_disk),
            real(self, length, kind),
        )[1],
    )
    outside = Ngram(41, NgramOptions(order=5, smoothing=smoothing, memory=1000))
    words = [
        each["words"] for each in outside.counting(symbols(rows), stop=True) if "words" in each
    ]
    assert all(made) and {*words} == {f"counting {n}-grams" for n in range(2, 6)} | {
        f"smoothing {n}-grams" for n in range(1, 6)
    }
    for name, array in inside.arrays().items():
        assert array.numpy().tobytes() == outside.arrays()[name].numpy().tobytes(), name


def test_pairs_too_wide_for_one_integer_are_sorted_all_the_same():
    context, symbol, end = (np.random.default_rng(i).integers(0, 50, 300) for i in range(3))
    narrow, wide = (
        sorted_pairs(context, symbol, end, 50, 50),
        sorted_pairs(context, symbol, end, 2**40, 2**40),
    )
    assert all(np.array_equal(a, b) for a, b in zip(narrow, wide, strict=True))
