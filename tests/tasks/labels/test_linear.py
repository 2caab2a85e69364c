"""The linear model of runs of symbols: its regression and its weighting against scikit-learn, its log-ratios by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from seriatim.tasks.labels.codec import Examples, of_examples
from seriatim.tasks.labels.models.linear import LinearClassifier, regression
from seriatim.tasks.labels.options import LinearOptions
from tests.conftest import symbols
from tests.labels import K, V, answers, counted, examples, grams_of, table

WEIGHTINGS = pytest.mark.parametrize("weighting", ["counts", "tf-idf", "bayes"])


def twin_of(x: np.ndarray, y: np.ndarray, strength: float) -> LogisticRegression:
    """scikit-learn keeps one vector for two labels, where ours are two that mirror each other: their squares together are half of its own."""
    return LogisticRegression(
        C=strength * (2 if y.max() == 1 else 1), tol=1e-10, max_iter=10_000
    ).fit(x, y)


def matrix(model: LinearClassifier, data: Examples) -> np.ndarray:
    """(S, F) what the regression sees."""
    found = model.grams.find(data.x)
    return csr_matrix(
        (model.amounts(found, len(data)), (found[1], found[0])),
        (len(data), int(model.grams.firsts[-1])),
    ).toarray()


def rows_of(data: Examples) -> list[list[int]]:
    return [data.x.row(s).tolist() for s in range(len(data))]


def columns(model: LinearClassifier, known: list) -> np.ndarray:
    """The place of each run among the features of the model."""
    return np.array([model.grams.find(symbols([run]))[0][-1] for run in known])


# Regression


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("strength", [0.1, 1.0, 20.0])
def test_regression_is_scikit_learns(labels, strength):
    dice = np.random.default_rng(0)
    x, y = dice.poisson(0.7, (80, 6)).astype(float), dice.integers(0, labels, 80)
    y[x[:, 0] > 1] = 0
    weights, bias = regression(csr_matrix(x), y, labels, np.ones((1, 1)), strength)
    twin = twin_of(x, y, strength)
    logits = x @ weights + bias
    assert weights.shape == (6, labels) and bias.shape == (labels,)
    assert np.allclose(
        logits - np.logaddexp.reduce(logits, axis=1, keepdims=True),
        twin.predict_log_proba(x),
        atol=2e-3,
    )
    if labels == 3:
        assert np.allclose(weights.T, twin.coef_, atol=2e-3)
    else:
        assert np.allclose(weights[:, 1] - weights[:, 0], twin.coef_[0], atol=2e-3) and np.allclose(
            weights[:, 1], -weights[:, 0], atol=2e-3
        )


def test_the_ratio_is_a_scale_under_the_penalty():
    """Weights r v with a penalty on v alone are those of inputs that are r times as large."""
    dice = np.random.default_rng(1)
    x, y, ratio = dice.random((50, 4)), dice.integers(0, 2, 50), dice.random(4) + 0.5
    weights, bias = regression(csr_matrix(x), y, 2, np.stack([ratio, ratio], 1), 1.0)
    scaled, other = regression(csr_matrix(x * ratio), y, 2, np.ones((1, 1)), 1.0)
    assert np.allclose(x @ weights + bias, (x * ratio) @ scaled + other, atol=1e-3)


# What a run weighs


@pytest.mark.parametrize("ngram", [1, 2])
def test_tf_idf_is_scikit_learns(ngram):
    data, other = examples(), examples(30, seed=1)
    model = counted(LinearClassifier(V, LinearOptions(ngram=ngram, weighting="tf-idf"), K), data)
    twin = TfidfVectorizer(analyzer=lambda row: grams_of(row, ngram), norm="l2", smooth_idf=True)
    twin.fit(rows_of(data))
    order = columns(model, sorted(twin.vocabulary_, key=twin.vocabulary_.get))
    assert np.allclose(model.rarity.numpy()[order], twin.idf_, atol=1e-12)
    for each in (data, other):
        assert np.allclose(
            matrix(model, each)[:, order], twin.transform(rows_of(each)).toarray(), atol=1e-12
        )


def test_counts_are_counts_and_presence_is_one_at_most():
    data = examples()
    counts, known = table(data, 2)
    for weighting, expected in (("counts", counts), ("bayes", np.minimum(counts, 1))):
        model = counted(LinearClassifier(V, LinearOptions(ngram=2, weighting=weighting), K), data)
        assert np.allclose(matrix(model, data)[:, columns(model, known)], expected, atol=1e-12)


def test_ratios_of_naive_bayes_by_hand():
    """Three rows of label 0 have 2, 2 and 3, one of label 1 has 3 and 4; each count is one more than it was."""
    data = Examples(symbols([[2, 2], [2], [3], [3, 4]]), symbols([[0], [0], [0], [1]]))
    model = counted(LinearClassifier(V, LinearOptions(ngram=1), 2), data)
    ratio = model.ratios(csr_matrix(matrix(model, data)), data.y.flat)[
        columns(model, [(2,), (3,), (4,)])
    ]
    expected = [math.log(own / 6) - math.log(other / 5) for own, other in ((3, 1), (2, 2), (1, 2))]
    assert ratio[:, 0] == pytest.approx(expected, abs=1e-12) and ratio[:, 1] == pytest.approx(
        [-value for value in expected], abs=1e-12
    )


def test_ratios_of_several_labels_are_each_against_all_the_others():
    data = examples()
    model = counted(LinearClassifier(V, LinearOptions(ngram=1), K), data)
    (counts, known), y = table(data, 1), data.y.flat
    ratio = model.ratios(csr_matrix(matrix(model, data)), y)[columns(model, known)]
    for label in range(K):
        own, others = (np.minimum(counts, 1)[some].sum(0) + 1 for some in (y == label, y != label))
        assert np.allclose(
            ratio[:, label], np.log(own / own.sum()) - np.log(others / others.sum()), atol=1e-12
        )


# The whole


@pytest.mark.parametrize(
    "weighting, labels", [("counts", 2), ("counts", 3), ("tf-idf", 2), ("tf-idf", 3), ("bayes", 2)]
)
def test_the_model_is_scikit_learns_regression_on_its_inputs(weighting, labels):
    data, other = examples(60), examples(30, seed=1)
    data = Examples(data.x, symbols([[min(y, labels - 1)] for y in data.y.flat]))
    model = counted(
        LinearClassifier(V, LinearOptions(ngram=2, weighting=weighting, strength=0.5), labels), data
    )
    x, asked = matrix(model, data), matrix(model, other)
    if weighting == "bayes":  # of more labels, each has inputs of its own
        ratio = model.ratios(csr_matrix(x), data.y.flat)[:, 0]
        x, asked = x * ratio, asked * ratio
    assert np.allclose(
        answers(model, other), twin_of(x, data.y.flat, 0.5).predict_log_proba(asked), atol=5e-3
    )


@WEIGHTINGS
def test_what_each_symbol_adds_makes_up_the_answer_and_padding_adds_nothing(weighting):
    model, batch = (
        counted(LinearClassifier(V, LinearOptions(ngram=3, weighting=weighting), K), examples()),
        of_examples(examples(20, seed=1), np.arange(20)),
    )
    added, before = model.contributions(batch)
    assert not added[torch.arange(batch.x.shape[1]) >= batch.x_lengths[:, None]].any()
    assert torch.allclose(before + added.sum(1), model.predict(batch).logits, atol=1e-9, rtol=0)


@WEIGHTINGS
def test_arrays_come_back_and_damaged_ones_are_refused(weighting):
    options = LinearOptions(weighting=weighting)
    model, again, other = (
        counted(LinearClassifier(V, options, K), examples()),
        LinearClassifier(V, options, K),
        examples(20, seed=1),
    )
    arrays = model.arrays()
    again.load_arrays({key: array.clone() for key, array in arrays.items()})
    assert np.array_equal(answers(again, other), answers(model, other))
    for key, array in arrays.items():
        for damaged in ({}, {key: array[:-1]}, {key: array.float()}):
            with pytest.raises(ValueError):
                LinearClassifier(V, options, K).load_arrays(
                    {name: value for name, value in arrays.items() if name != key} | damaged
                )


def test_rare_runs_are_left_out():
    data = Examples(symbols([[2, 3], [2, 3], [2, 2, 4]]), symbols([[0], [1], [1]]))
    sizes = [
        int(
            counted(LinearClassifier(V, LinearOptions(ngram=2, least=least), 2), data).grams.firsts[
                -1
            ]
        )
        for least in (1, 2, 3, 4)
    ]
    assert sizes == [6, 3, 1, 0]  # 2, 3, 4, 2 3, 2 2, 2 4; then 2, 3, 2 3; then 2; then nothing


def test_nothing_known_leaves_what_was_believed_before():
    data = Examples(symbols([[2, 3], [3], [3, 3], [4]]), symbols([[0], [1], [1], [1]]))
    model = counted(LinearClassifier(V, LinearOptions(least=9), 2), data)
    assert np.exp(answers(model, data)) == pytest.approx(np.tile([0.25, 0.75], (4, 1)), abs=1e-3)
