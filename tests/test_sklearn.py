"""The estimators keep scikit-learn's rules, and are the models that the other doors give."""

from __future__ import annotations

import pickle

import numpy as np
import pandas
import polars
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import seriatim as st
from seriatim.errors import ConfigError, DataError
from seriatim.sklearn import (
    Forecaster,
    SequenceClassifier,
    SequenceRegressor,
    SequenceTagger,
    TextVectors,
)
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


@pytest.mark.parametrize(("place", "nothing"), [(0, None), (1, float("nan")), (1, pandas.NA)])
def test_a_missing_text_is_refused_with_its_row(place, nothing):
    gap = [*TEXTS[:place], nothing, *TEXTS[place + 1 :]]
    words = f"row {place} of X is missing"
    values = [float(len(text)) for text in TEXTS]
    for kind, said in ((SequenceClassifier, LABELS), (SequenceRegressor, values)):
        model = kind("linear", settings={"strength": 1.0}).fit(TEXTS, said)
        for some in (gap, np.array(gap, object), pandas.Series(gap), pandas.DataFrame({"t": gap})):
            with pytest.raises(DataError, match=words):
                model.predict(some)
            with pytest.raises(DataError, match=words):
                kind("linear").fit(some, said)
    vectors = TextVectors(width=4, minimum_count=1, updates=1).fit(TEXTS)
    for ask in (vectors.transform, vectors.fit):
        with pytest.raises(DataError, match=words):
            ask(gap)
    rows, tags = [["the", "cat"], ["a", "dog"]], [["D", "N"], ["D", "N"]]
    tagger = SequenceTagger("hmm").fit(rows, tags)
    some = [*rows[:place], nothing, *rows[place + 1 :]]
    for ask in (tagger.predict, lambda X: tagger.fit(X, tags)):
        with pytest.raises(DataError, match=words):
            ask(some)


def test_a_frame_of_one_text_column_is_its_column():
    plain = SequenceClassifier("linear").fit(TEXTS, LABELS)
    for kind in (pandas.DataFrame, polars.DataFrame):
        frame = kind({"review": TEXTS})
        model = SequenceClassifier("linear").fit(frame, LABELS)
        assert np.array_equal(model.predict_proba(frame), plain.predict_proba(TEXTS))
    assert plain.predict(np.array(TEXTS, object)[:, None]).tolist() == plain.predict(TEXTS).tolist()


def test_one_text_is_no_list_and_settings_are_a_dict():
    model = SequenceClassifier("linear").fit(TEXTS, LABELS)
    for ask in (model.predict, lambda X: model.fit(X, LABELS), TextVectors().fit):
        with pytest.raises(DataError, match="Give a list of texts"):
            ask("great food")
    with pytest.raises(ConfigError, match="settings are a dict"):
        SequenceClassifier("linear", settings=[1]).fit(TEXTS, LABELS)


# -- series
def monthly(months: int = 60) -> pandas.Series:
    """A season of four, and some noise, by the month."""
    noise = np.random.default_rng(0).normal(size=months)
    index = pandas.date_range("2020-01-01", periods=months, freq="MS")
    return pandas.Series(np.resize([10.0, 20, 30, 20], months) + noise, index=index, name="sold")


def test_a_forecaster_is_the_model_of_the_other_doors():
    y = monthly()
    asked = {"horizon": 4, "context": 8}
    model = clone(Forecaster("lags-ridge", **asked)).fit(y)
    item = st.fit("forecast", "lags-ridge", y, **asked).predict(y)["items"][0]["channels"]["sold"]
    found = model.predict()
    assert found.tolist() == item["mean"] and found.name == "sold"
    assert found.index.tolist() == pandas.date_range("2025-01-01", periods=4, freq="MS").tolist()
    assert model.predict(3).tolist() == item["mean"][2:3]
    assert pickle.loads(pickle.dumps(model)).predict([1, 4]).tolist() == found.iloc[[0, 3]].tolist()
    assert model.get_params()["horizon"] == 4


def test_quantiles_and_intervals_have_the_columns_of_sktime():
    model = Forecaster("seasonal").fit(monthly(), fh=[1, 2])
    low = model.predict_quantiles([1, 2], alpha=[0.05, 0.95])
    assert low.columns.tolist() == [("sold", 0.05), ("sold", 0.95)]
    both = model.predict_interval([1, 2], coverage=[0.5, 0.9])
    assert both.columns.tolist() == [
        ("sold", share, side) for share in (0.5, 0.9) for side in ("lower", "upper")
    ]
    assert both[("sold", 0.9, "lower")].tolist() == low[("sold", 0.05)].tolist()
    assert (both[("sold", 0.9, "lower")] < model.predict()).all()
    with pytest.raises(ConfigError, match=r"Ask for 0\.1"):
        model.predict_quantiles(alpha=0.11)
    with pytest.raises(ConfigError, match="the steps 1 to 2"):
        model.predict(3)


def test_forecasts_have_the_form_of_what_was_given():
    y = monthly()
    asked = {"horizon": 2, "settings": {"season": 4}}
    array = Forecaster("seasonal", **asked).fit(y.to_numpy()).predict()
    assert array == pytest.approx(y.iloc[-4:-2])
    period = Forecaster("seasonal", **asked).fit(y.to_period("M")).predict()
    assert period.index.astype(str).tolist() == ["2025-01", "2025-02"]
    wide = pandas.DataFrame({"a": y, "b": 2 * y})
    both = Forecaster("seasonal", **asked).fit(wide).predict()
    assert both.columns.tolist() == ["a", "b"] and both["b"].tolist() == pytest.approx(2 * array)
    long = polars.DataFrame(
        {"unique_id": ["p"] * 60 + ["q"] * 60, "ds": [*y.index] * 2, "y": [*y, *(3 * y)]}
    )
    several = Forecaster("seasonal", **asked).fit(long).predict()
    assert several["series"].to_list() == ["p", "p", "q", "q"]
    assert several["y"].to_list() == pytest.approx([*array, *(3 * array)])


@pytest.mark.parametrize("dated", [False, True])
def test_what_is_known_in_advance_is_looked_at(dated):
    x = np.random.default_rng(1).normal(size=(64, 1))
    y, index = 3 * x[:60, 0] + 1, pandas.date_range("2020-01-01", periods=64, freq="MS")
    X = pandas.DataFrame({"promo": x[:, 0]}, index=index) if dated else x
    y = pandas.Series(y, index=index[:60]) if dated else y
    model = Forecaster("lags-ridge", horizon=4, context=4).fit(y, X[:60])
    assert np.asarray(model.predict(X=X[60:])) == pytest.approx(3 * x[60:, 0] + 1, abs=0.01)
    with pytest.raises(DataError, match="fitted with X"):
        model.predict()
    with pytest.raises(DataError, match="a row for each"):
        Forecaster().fit(y, X)
    if dated:
        with pytest.raises(DataError, match="the same times"):
            Forecaster().fit(y, x[:60])
        words = "X has no column promo, which it had in fit.*Received: .*p. Give it; new is p"
        with pytest.raises(DataError, match=words):
            model.predict(X=X[60:].rename(columns={"promo": "p"}))


# -- vectors
SMALL = {"width": 8, "minimum_count": 1, "random_state": 0, "settings": {"subsample": 0.0}}


def test_texts_become_vectors_in_a_pipeline():
    texts = [f"{a} {b} {n}" for n in range(25) for a, b in (("tea", "cup"), ("win", "cash")) * 2]
    labels = [0, 1] * 50
    model = make_pipeline(TextVectors(**SMALL, epochs=20), LogisticRegression(C=100))
    assert cross_val_score(model, texts, labels, cv=3).mean() > 0.9


def test_vectors_are_means_of_word_vectors_and_repeatable():
    model = clone(TextVectors(**SMALL)).fit(TEXTS)
    found = model.transform(["zzz", "", TEXTS[0], TEXTS[0].split()])
    words = model.predictor_.codec.pieces_of(TEXTS[0])
    assert found[2] == pytest.approx(np.mean([model.predictor_.vector(w) for w in words], 0))
    assert not found[:2].any() and found[3] == pytest.approx(found[2])
    assert np.array_equal(clone(model).fit_transform(TEXTS), model.transform(TEXTS))
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.transform(TEXTS), model.transform(TEXTS))
    with pytest.raises(DataError, match="texts are wanted"):
        model.transform(np.zeros((2, 3)))


@pytest.mark.parametrize(("kind", "frame"), [("pandas", pandas), ("polars", polars)])
def test_vectors_come_as_frames_if_asked(kind, frame):
    found = TextVectors(**SMALL).set_output(transform=kind).fit_transform(TEXTS)
    assert isinstance(found, frame.DataFrame) and found.shape == (len(TEXTS), 8)
    assert list(found.columns)[:2] == ["textvectors0", "textvectors1"]
