"""Labels by counting: against scikit-learn, against the language models they are made of, and by hand; all that symbols add is the answer."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some
from sklearn.naive_bayes import MultinomialNB

from seriatim.models.ladder import create
from seriatim.tasks.labels.codec import Examples, of_examples
from seriatim.tasks.labels.models.bayes import Majority, MarkovBayes, NaiveBayes
from seriatim.tasks.labels.models.ngrams import NgramIndex, field_of
from seriatim.tasks.labels.options import MajorityOptions, MarkovBayesOptions, NaiveBayesOptions
from tests.conftest import symbols
from tests.labels import K, V, answers, counted, examples, grams_of, table
from tests.ladder import parts_of

rows_of_symbols = some.lists(
    some.lists(some.integers(0, V - 1), max_size=7), min_size=1, max_size=6
)
PRIORS = pytest.mark.parametrize("prior", ["counts", "uniform"])


# Runs of symbols


@settings(deadline=None)
@given(rows_of_symbols, rows_of_symbols, some.integers(1, 4), some.integers(1, 3))
def test_runs_are_found_as_by_looking_at_every_place(seen, asked, longest, least):
    grams = NgramIndex(V, longest)
    grams.learn(symbols(seen), least)
    times = Counter(run for row in seen for run in set(grams_of(row, longest)))
    known = {run for run, count in times.items() if count >= least}
    assert grams.firsts.tolist() == [
        sum(len(run) <= n for run in known) for n in range(longest + 1)
    ]
    places = [(s, t) for s, row in enumerate(asked) for t in range(len(row))]
    number, row, place, length = grams.find(symbols(asked))
    found = [
        (s, places[p][1], tuple(asked[s][places[p][1] - n + 1 : places[p][1] + 1]))
        for s, p, n in zip(row, place, length, strict=True)
    ]
    assert all(places[p][0] == s for s, p in zip(row, place, strict=True))
    expected = Counter(
        (s, t, tuple(each[t - n + 1 : t + 1]))
        for s, each in enumerate(asked)
        for n in range(1, longest + 1)
        for t in range(n - 1, len(each))
        if tuple(each[t - n + 1 : t + 1]) in known
    )
    assert Counter(found) == expected
    assert (
        len(set(zip(number.tolist(), (run for *_, run in found), strict=True)))
        == len({run for *_, run in found})
        == len(set(number.tolist()))
    )


@pytest.mark.parametrize("longest", [1, 2, 3])
def test_nothing_at_all_has_no_runs(longest):
    grams = NgramIndex(V, longest)
    grams.learn(symbols([[], []]), 1)
    assert grams.firsts.tolist() == [0] * (longest + 1) and all(
        len(each) == 0 for each in grams.find(symbols([[], [2, 3]]))
    )


def test_padded_rows_lose_their_padding():
    ids = field_of(torch.tensor([[3, 4, 0], [0, 0, 0], [5, 2, 2]]), torch.tensor([2, 0, 3]))
    assert [ids.row(s).tolist() for s in range(3)] == [[3, 4], [], [5, 2, 2]]


# Naive Bayes


@PRIORS
@pytest.mark.parametrize(
    "ngram, add, presence", [(1, 1.0, False), (1, 0.1, True), (2, 0.5, False), (3, 2.0, True)]
)
def test_naive_bayes_is_scikit_learns(ngram, add, presence, prior):
    data, other = examples(), examples(30, seed=1)
    model = counted(
        NaiveBayes(V, NaiveBayesOptions(add=add, ngram=ngram, presence=presence, prior=prior), K),
        data,
    )
    (x, known), y = table(data, ngram), data.y.flat
    x, asked = (
        np.minimum(each, 1) if presence else each for each in (x, table(other, ngram, known)[0])
    )
    twin = MultinomialNB(alpha=add, fit_prior=prior == "counts").fit(x, y)
    assert np.allclose(answers(model, other), twin.predict_log_proba(asked), atol=1e-9, rtol=0)
    assert model.size() == K + (1 + K) * len(known)


def test_naive_bayes_by_hand_and_a_word_said_twice_counts_once_if_only_its_presence_does():
    data = Examples(symbols([[2, 2, 3], [3], [4, 3]]), symbols([[0], [1], [1]]))
    asked = Examples(symbols([[2, 2], [], [5, 0]]), symbols([[0], [0], [0]]))
    for presence, twos, words, times in ((False, 2, 3, 2), (True, 1, 2, 1)):
        model = counted(NaiveBayes(V, NaiveBayesOptions(presence=presence), 2), data)
        odds = math.log(1 / 3 / (2 / 3)) + times * math.log(
            (twos + 1) / (words + 3) / (1 / (3 + 3))
        )
        found = answers(model, asked)
        assert found[0, 0] - found[0, 1] == pytest.approx(odds, abs=1e-12)
        assert np.exp(found[1:]) == pytest.approx(
            np.array([[1 / 3, 2 / 3]] * 2), abs=1e-12
        )  # nothing known: what was believed before


# A language model for each label


COUNTS = {
    "unigram": {"add": 0.5},
    "markov": {"order": 2, "add": 0.1},
    "kneser-ney": {"order": 3},
    "witten-bell": {"order": 2},
    "absolute": {"order": 2},
    "good-turing": {"order": 2},
}


@PRIORS
@pytest.mark.parametrize("counts", COUNTS)
def test_markov_bayes_is_the_sum_of_what_its_language_models_say(counts, prior):
    data, other = examples(60), examples(30, seed=1)
    model = counted(
        MarkovBayes(V, MarkovBayesOptions(counts=counts, prior=prior, **COUNTS[counts]), K), data
    )
    scores = np.zeros((len(other), K))
    for label in range(K):
        alone = create(parts_of(counts, COUNTS[counts]), V)
        alone.count(data.x.take(np.flatnonzero(data.y.flat == label)), stop=True)
        sums = np.add.reduceat(
            alone.sweep(other.x, stop=True).astype(np.float64),
            other.x.offsets[:-1] + np.arange(len(other)),
        )
        scores[:, label] = sums + (
            math.log((data.y.flat == label).mean()) if prior == "counts" else 0.0
        )
    expected = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    assert np.allclose(answers(model, other), expected, atol=1e-9, rtol=0)


def test_an_order_of_nothing_counts_symbols_whatever_the_model():
    models = [
        counted(MarkovBayes(V, MarkovBayesOptions(counts=counts, order=0, add=0.5), K), examples())
        for counts in ("markov", "unigram")
    ]
    assert np.allclose(*(answers(model, examples(10, seed=1)) for model in models), atol=1e-9)
    assert np.isfinite(
        answers(
            counted(
                MarkovBayes(V, MarkovBayesOptions(counts="kneser-ney", order=0), K), examples()
            ),
            examples(10, seed=1),
        )
    ).all()


# All of them


MODELS = {
    "majority": lambda: Majority(V, MajorityOptions(), K),
    "naive-bayes": lambda: NaiveBayes(V, NaiveBayesOptions(), K),
    "runs of three": lambda: NaiveBayes(V, NaiveBayesOptions(ngram=3), K),
    "presence": lambda: NaiveBayes(
        V, NaiveBayesOptions(ngram=2, presence=True, prior="uniform"), K
    ),
    "markov-bayes": lambda: MarkovBayes(V, MarkovBayesOptions(order=2), K),
    "kneser-ney": lambda: MarkovBayes(V, MarkovBayesOptions(counts="kneser-ney", order=2), K),
}
every_model = pytest.mark.parametrize("name", MODELS)


def test_the_majority_is_how_frequent_each_label_was():
    data = examples()
    found = np.exp(answers(counted(MODELS["majority"](), data), examples(5, seed=1)))
    assert found == pytest.approx(
        np.tile(np.bincount(data.y.flat, minlength=K) / len(data), (5, 1)), abs=1e-12
    )


@every_model
def test_what_each_symbol_adds_makes_up_the_answer_and_padding_adds_nothing(name):
    model, batch = (
        counted(MODELS[name](), examples()),
        of_examples(examples(20, seed=1), np.arange(20)),
    )
    added, before = model.contributions(batch)
    assert added.shape == (*batch.x.shape, K) and before.shape == (20, K)
    assert not added[torch.arange(batch.x.shape[1]) >= batch.x_lengths[:, None]].any()
    end = model.ending(batch)
    whole = before + added.sum(1) + (0.0 if end is None else end)
    assert torch.allclose(whole, model.predict(batch).logits, atol=1e-9, rtol=0)


def test_a_run_shares_what_it_says_among_its_symbols():
    data = Examples(symbols([[2, 3], [3, 2]]), symbols([[0], [1]]))
    model = counted(NaiveBayes(V, NaiveBayesOptions(ngram=2), 2), data)
    added, _ = model.contributions(of_examples(data, np.arange(2)))
    pair = model.weights[model.grams.find(symbols([[2, 3]]))[0][-1]]  # (K,) of the run 2 3
    single = model.weights[model.grams.find(symbols([[2], [3]]))[0]]  # (2, K)
    assert torch.allclose(added[0], single + pair / 2, atol=1e-12)


@every_model
def test_arrays_come_back_and_damaged_ones_are_refused(name):
    model, again, other = counted(MODELS[name](), examples()), MODELS[name](), examples(20, seed=1)
    arrays = model.arrays()
    again.load_arrays({key: array.clone() for key, array in arrays.items()})
    assert (
        np.array_equal(answers(again, other), answers(model, other))
        and again.size() == model.size()
    )
    own = {
        key: array for key, array in arrays.items() if not key[0].isdigit()
    }  # the others are of language models
    for key, array in own.items():
        for damaged in ({}, {key: array[:-1]}, {key: array.float()}):
            with pytest.raises(ValueError):
                MODELS[name]().load_arrays(
                    {other: value for other, value in arrays.items() if other != key} | damaged
                )
    if own.keys() != arrays.keys():
        with pytest.raises(ValueError):
            MODELS[name]().load_arrays(
                {key: array for key, array in arrays.items() if not key.startswith("2.")}
            )


@pytest.mark.parametrize(
    "broken",
    [
        torch.tensor([3, 2, 4, 5]),
        torch.tensor([2, 2, 3, 4]),
        torch.tensor([-1, 2, 3, 4]),
        torch.tensor([[2, 3, 4, 5]]),
    ],
    ids=str,
)
def test_a_table_of_runs_that_is_out_of_order_is_refused(broken):
    model = counted(MODELS["naive-bayes"](), examples())
    with pytest.raises(ValueError, match=r"grams\.1 is not a table"):
        MODELS["naive-bayes"]().load_arrays(model.arrays() | {"grams.1": broken})
