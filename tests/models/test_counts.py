"""Counting and count models against a slow twin made of dictionaries."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim.batches import of_lines, prompts
from seriatim.codecs.symbols import STOP
from seriatim.decoding.decode import decode
from seriatim.decoding.options import DecodingOptions
from seriatim.models.ngrams.counts import Counts
from seriatim.models.ngrams.ngram import Markov
from seriatim.models.ngrams.options import MarkovOptions
from seriatim.models.ngrams.tables import Tables
from tests.conftest import symbols

V = 5
corpora = st.lists(st.lists(st.integers(0, V - 1), max_size=8), min_size=1, max_size=8)


def after(model, context) -> torch.Tensor:
    """(V,) what a model says after a context that may begin with STARTs."""
    begun = [symbol for symbol in context if symbol != V]
    state = model.start(prompts([np.array(begun, int)]))[1]
    if len(begun) == len(context) and len(
        context
    ):  # in the middle of a sequence: without the START
        state = torch.full((1, model.reach), -1)
        for symbol in context:
            state = model.advance(torch.tensor([[symbol]]), state)[:, 0]
    return torch.from_numpy(model.log_probs(state.numpy()))[0]


def slow_counts(rows, length: int, stop: bool) -> Counter:
    counts: Counter = Counter()
    for row in rows:
        begun = [V] + list(row) + [STOP] * stop  # no n-gram reaches beyond START
        for t in range(1, len(begun)):
            for n in range(1, min(length, t + 1) + 1):
                counts[tuple(begun[t - n + 1 : t + 1])] += 1
    return counts


@settings(max_examples=60, deadline=None)
@given(corpora, st.integers(1, 5), st.booleans())
def test_sorted_counts_equal_a_dictionary(rows, length, stop):
    if not stop and not any(rows):
        return
    counts, slow = Counts.of(symbols(rows), length, V, stop), slow_counts(rows, length, stop)
    for gram, n in slow.items():
        node = Tables(counts.base, counts.keys, [], [], [], []).find(np.array([gram]))[0]
        assert counts.counts[len(gram) - 1][node] == n
        if len(gram) > 1:
            ending = counts.endings[len(gram) - 1][node]
            assert Tables(counts.base, counts.keys, [], [], [], []).spelled(
                len(gram) - 1, np.array([ending])
            ).tolist() == [list(gram[1:])]
    assert sum(int(level.sum()) for level in counts.counts) == sum(slow.values()) + len(
        rows
    )  # START itself is counted, too


@settings(max_examples=60, deadline=None)
@given(corpora, st.integers(0, 3), st.sampled_from([0.0, 0.05, 1.0, 2.5]))
def test_markov_probabilities_are_the_textbook_formula(rows, order, add):
    model = Markov(V, MarkovOptions(order=order, add=add))
    model.count(symbols(rows), stop=True)
    slow = slow_counts(rows, order + 1, True)
    for context in [(V,) * order, *[gram for gram in slow if len(gram) == order][:6], (3,) * order]:
        used = context
        while used and not any(slow[(*used, w)] for w in range(V)):
            used = used[1:]  # the longest seen ending
        total = sum(slow[(*used, w)] for w in range(V))
        expected = np.array([(slow[(*used, w)] + add) / (total + add * V) for w in range(V)])
        assert np.allclose(after(model, context).exp(), expected, atol=1e-6)


def test_a_symbol_never_seen_after_a_seen_context_is_impossible_without_pseudo_counts():
    model = Markov(V, MarkovOptions(order=1, add=0.0))
    model.count(symbols([[2, 3, 2, 3]]), stop=True)
    batch = of_lines(symbols([[2, 2]]), np.array([0]))
    assert torch.isneginf(model.predict(batch).log_prob(batch.y)[0, 1])


def test_a_stream_has_no_end_and_lines_have_one():
    rows = symbols([[2, 3, 4, 2, 3]])
    streamed, lined = (Markov(V, MarkovOptions(order=1, add=0.0)) for _ in range(2))
    streamed.count(rows, stop=False)
    lined.count(rows, stop=True)
    assert after(streamed, (3,))[STOP].exp() == 0
    assert after(lined, (3,))[STOP].exp() == pytest.approx(0.5)


def test_trace_tells_which_order_answered():
    model = Markov(V, MarkovOptions(order=2, add=0.0))
    model.count(symbols([[2, 3, 4]]), stop=True)
    batch = of_lines(symbols([[2, 3, 3, 4]]), np.array([0]))
    assert model.trace(batch)["order"].tolist() == [[1, 2, 2, 1, 2]]


def test_generation_from_relative_frequencies_never_fails_whatever_the_prompt():
    model = Markov(V, MarkovOptions(order=3, add=0.0))
    model.count(symbols([[2, 3, 4, 2, 3]]), stop=True)
    for prompt in ([], [4, 4, 4], [0, 0], [2, 3]):
        result = decode(
            model, prompts([np.array(prompt, int)]), DecodingOptions(length=20), stops=(STOP,)
        )[0][0]
        assert result.ended or len(result.symbols) == 20


def test_counting_a_million_symbols_keeps_every_count():
    ids = symbols([np.random.default_rng(0).integers(0, V, 1_000_000)])
    counts = Counts.of(ids, 3, V, stop=False)
    assert [int(level.sum()) for level in counts.counts] == [1_000_001, 1_000_000, 999_999]


@pytest.mark.parametrize("broken", ["unsorted", "missing", "short", "outside"])
def test_damaged_counts_are_refused(broken):
    model = Markov(V, MarkovOptions(order=1))
    model.count(symbols([[2, 3, 4, 2]]), stop=True)
    arrays = {name: array.clone() for name, array in model.arrays().items()}
    if broken == "unsorted":
        arrays["keys.2"] = arrays["keys.2"].flip(0)
    elif broken == "missing":
        del arrays["log_g.1"]
    elif broken == "short":
        arrays["counts.2"] = arrays["counts.2"][:-1]
    else:
        arrays["keys.2"][-1] = 10**12
    with pytest.raises(ValueError):
        model.load_arrays(arrays)
