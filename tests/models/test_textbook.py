"""Counting as textbooks do it: what the first symbol follows, whether the end counts, whose V."""

from __future__ import annotations

import math

import numpy as np
import pytest

import seriatim
from seriatim.batches import prompts
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import ConfigError
from seriatim.models.ngrams.ngram import Markov
from seriatim.models.ngrams.options import MarkovOptions
from tests.conftest import symbols

TEXTS = [
    "congratulations you have won a prize",
    "you have won a car",
    "she won a prize",
    "he has won a bike",
]
TEXTBOOK = {"first": "unigram", "ends": False}


def lines(*texts: str) -> Sequences:
    return Sequences.of(list(texts), unit="word")


def fitted(**settings):
    return seriatim.fit("language", "markov", lines(*TEXTS), **{"order": 2, **settings})


def p_of(model, text: str) -> float:
    return math.exp(model.score(lines(text))["items"][0]["log_prob"])


def following(model, text: str) -> dict[str, float]:
    found = model.predict(lines(text), top=20)["items"][0]["next"]
    return {each["symbol"]: each["probability"] for each in found if each["probability"]}


def test_the_first_word_is_a_unigram_and_the_end_has_no_factor():
    plain, textbook = fitted(add=0), fitted(add=0, **TEXTBOOK)
    assert p_of(plain, "you have won a prize") == pytest.approx(1 / 4 * 1 * 1 * 1 * 1 / 2 * 1)
    assert p_of(textbook, "you have won a prize") == pytest.approx(2 / 20 * 1 * 1 * 1 * 1 / 2)
    assert textbook.score(lines("you have won a prize"))["items"][0]["tokens"] == 5
    assert p_of(fitted(add=0, first="unigram"), "a prize") == pytest.approx(4 / 24 * 2 / 4)


def slow(texts: list[str], order: int, k: float, text: str) -> float:
    """The equations of the lecture with dictionaries."""
    rows = [each.split() for each in texts]
    kinds = len({word for row in rows for word in row})
    p, words = 1.0, text.split()
    for i, word in enumerate(words):
        context = words[max(0, i - order) : i]
        n = len(context)
        stretches = [row[j : j + n + 1] for row in rows for j in range(len(row) - n)]
        seen = [each for each in stretches if each[:n] == context]
        p *= (seen.count([*context, word]) + k) / (len(seen) + k * kinds)
    return p


@pytest.mark.parametrize("order", (0, 1, 2, 3))
@pytest.mark.parametrize("k", (1.0, 0.1))
def test_the_closed_model_is_the_equation_everywhere(order, k):
    model = fitted(order=order, add=k, closed=True, **TEXTBOOK)
    for text in ("you have won a prize", "a a a a", "he won prize car a prize", "bike you"):
        assert p_of(model, text) == pytest.approx(slow(TEXTS, order, k, text), rel=1e-5)


def test_laplace_counts_the_words_that_were_seen():
    assert following(fitted(add=1), "you have won a")["prize"] == pytest.approx(3 / 17)
    closed = fitted(add=1, closed=True, **TEXTBOOK)
    assert following(closed, "you have won a")["prize"] == pytest.approx(3 / 15)
    unseen = following(closed, "prize a")
    assert list(unseen.values()) == pytest.approx([1 / 11] * 11)
    assert "<unk>" not in following(closed, "you") and "</s>" not in following(closed, "you")
    with_ends = fitted(add=1, closed=True)
    assert following(with_ends, "you have won a")["prize"] == pytest.approx(3 / 16)
    assert p_of(with_ends, "she won a prize") > 0


@pytest.mark.parametrize("add", (None, 0.0, 0.5))
@pytest.mark.parametrize("first", ("start", "unigram"))
@pytest.mark.parametrize("ends", (True, False))
@pytest.mark.parametrize("closed", (True, False))
def test_all_sums_to_one(add, first, ends, closed):
    model = fitted(add=add, first=first, ends=ends, closed=closed)
    for text in ("", "you have won a", "prize a", "nothing known"):
        assert sum(following(model, text).values()) == pytest.approx(1, abs=1e-5)
    assert ("</s>" in following(model, "")) == (ends and (add != 0 or first == "unigram"))


@pytest.mark.parametrize("closed", (True, False))
def test_a_sweep_is_the_walk(closed):
    model = Markov(6, MarkovOptions(order=3, add=0.5, first="unigram", closed=closed))
    rows = [np.random.default_rng(i).integers(2, 6, 9).tolist() for i in range(4)]
    model.count(symbols(rows[:3]), stop=True)
    swept = model.sweep(symbols(rows), stop=True)
    walked = []
    for row in rows:
        for i, symbol in enumerate([*row, 1]):
            following = model.start(prompts([np.array(row[:i], int)]))[0]
            walked.append(float(following.log_probs()[0][symbol]))
    assert np.allclose(swept, walked, atol=1e-6)


def test_a_model_without_ends_has_no_figure_where_ends_are_charged():
    record = fitted(add=1, ends=False).evaluate(lines("you have won a prize"))
    assert record["nats_per_token"] is None and record["impossible"] == 1
    stream = Sequences({"text": Field.of_text([" ".join(TEXTS)])}, by="stream", unit="word")
    model = seriatim.fit("language", "markov", stream, order=1, add=1, ends=False, closed=True)
    assert model.evaluate(stream)["nats_per_token"] > 0


def test_it_comes_back_from_its_folder(tmp_path):
    model = fitted(add=1, closed=True, **TEXTBOOK)
    model.save(tmp_path / "run")
    again = seriatim.load(tmp_path / "run")
    assert p_of(again, "you have a prize") == p_of(model, "you have a prize")
    row = again.ngrams("prize a *")["rows"][0]
    assert row["probability"] == pytest.approx(1 / 11)
    assert again.ngrams("you *")["rows"][0]["probability"] == pytest.approx(3 / 13)


def labelled(spec: str, **settings):
    rows = (
        ["won a prize", "won a car now", "see you", "you see me now", "a car"],
        ["spam", "spam", "ham", "ham", "ham"],
    )
    return seriatim.fit("classify", spec, rows, unit="word", **settings)


def chances(model, text: str) -> dict[str, float]:
    found = model.predict([text], probabilities=True)["items"][0]["probabilities"]
    return {each["label"]: each["probability"] for each in found}


def test_naive_bayes_is_the_markov_classifier_of_order_zero():
    bayes = labelled("naive-bayes", add=1)
    counting = labelled("markov-bayes", order=0, add=1, closed=True, **TEXTBOOK)
    for text in ("won a prize", "now", "never heard of", "you won a car you never heard of"):
        assert chances(bayes, text) == pytest.approx(chances(counting, text), rel=1e-5)
    with_end = labelled("markov-bayes", order=0, add=1)
    text = "you won a car you see"
    assert chances(with_end, text) != pytest.approx(chances(bayes, text), rel=1e-3)


def test_a_classifier_of_order_one_by_hand():
    model = labelled("markov-bayes", order=1, add=1, closed=True, **TEXTBOOK)
    # words: won a prize car now see you me, 8; spam has 7, won twice, "won a" twice
    spam = 2 / 5 * (2 + 1) / (7 + 8) * (2 + 1) / (2 + 8)
    ham = 3 / 5 * (0 + 1) / (8 + 8) * (0 + 1) / (0 + 8)
    assert chances(model, "won a")["spam"] == pytest.approx(spam / (spam + ham), rel=1e-5)


def test_textbook_counting_is_of_markov_alone():
    with pytest.raises(ConfigError, match="textbook"):
        labelled("markov-bayes", counts="kneser-ney", closed=True)
