"""The estimators keep scikit-learn's rules, and are the models that the other doors give."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import seriatim as st
from seriatim.errors import ConfigError, DataError
from seriatim.sklearn import SequenceClassifier, SequenceRegressor, SequenceTagger
from tests.labels import pairs

PAIRS = pairs(60, seed=2)
LABELS, TEXTS = [each[0] for each in PAIRS], [each[1] for each in PAIRS]


@parametrize_with_checks([SequenceClassifier(), SequenceRegressor()])
def test_every_rule_of_scikit_learn(estimator, check):
    check(estimator)


def test_it_is_the_model_of_the_other_doors():
    found = SequenceClassifier("linear").fit(TEXTS, LABELS)
    other = st.fit("classify", "linear", (TEXTS, LABELS))
    items = other.predict(TEXTS, probabilities=True)["items"]
    assert found.predict(TEXTS).tolist() == [each["label"] for each in items]
    chances = found.predict_proba(TEXTS)
    assert chances[0].max() == pytest.approx(items[0]["probabilities"][0]["probability"], abs=1e-12)
    assert found.classes_.tolist() == sorted(set(LABELS))


def test_pipelines_searches_and_folds():
    lower = FunctionTransformer(lambda texts: [text.lower() for text in texts])
    model = make_pipeline(lower, SequenceClassifier("naive-bayes"))
    assert cross_val_score(model, TEXTS, LABELS, cv=3).mean() > 0.6
    search = GridSearchCV(
        SequenceClassifier("naive-bayes"),
        {"settings": [{"add": 0.1}, {"add": 1.0}]},
        cv=2,
        n_jobs=2,
    )
    search.fit(TEXTS, LABELS)
    assert search.best_params_["settings"] in ({"add": 0.1}, {"add": 1.0})


def test_a_network_with_a_seed_is_repeatable_and_kept_as_files():
    asked = {"width": 8, "updates": 3, "random_state": 3}
    model = SequenceClassifier("gru", **asked).fit(TEXTS, LABELS)
    again = clone(model).fit(TEXTS, LABELS)
    assert np.array_equal(model.predict_proba(TEXTS), again.predict_proba(TEXTS))
    opened = pickle.loads(pickle.dumps(model))
    assert np.array_equal(model.predict_proba(TEXTS), opened.predict_proba(TEXTS))
    assert b"torch" not in pickle.dumps(model)  # files of the run, no objects of others


def test_a_tagger_takes_lists_of_lists():
    rows, tags = [["the", "cat"], ["a", "dog"]] * 10, [["D", "N"], ["D", "N"]] * 10
    model = SequenceTagger("hmm").fit(rows, tags)
    assert model.predict([["the", "dog"]]) == [["D", "N"]] and model.score(rows, tags) == 1.0
    with pytest.raises(DataError, match="tokens are texts"):
        model.predict([[{"word": "the"}]])


def test_numbers_in_two_and_three_dimensions():
    dice = np.random.default_rng(0)
    x = dice.normal(size=(80, 6, 2))
    y = (x[:, -1, 0] > 0).astype(int)
    model = SequenceClassifier("linear").fit(x, y)
    assert model.predict_proba(x).shape == (80, 2) and model.score(x, y) > 0.7
    value = SequenceRegressor("linear").fit(x[:, :, 0], x[:, :, 0].mean(1))
    mean, deviation = value.predict(x[:, :, 0], return_std=True)
    assert mean.shape == deviation.shape == (80,) and (deviation > 0).all()


def test_a_mistyped_setting_is_told_with_the_nearest_name():
    with pytest.raises(ConfigError, match="ngram"):
        SequenceClassifier("linear", settings={"ngrams": 2}).fit(TEXTS, LABELS)
