"""The linear model of runs of symbols: its solvers and its weighting against scikit-learn, its log-ratios and word edges by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from seriatim.codecs.options import CodecOptions
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import ConfigError
from seriatim.tasks.labels.codec import Examples, LabelCodec, of_examples
from seriatim.tasks.labels.models.linear import (
    STRENGTHS,
    LinearClassifier,
    Plan,
    fitted,
    held_out,
    machines,
    ratios,
    regression,
)
from seriatim.tasks.labels.models.spelling import Spelling
from seriatim.tasks.labels.options import LinearOptions
from tests.conftest import symbols
from tests.labels import K, V, answers, counted, examples, grams_of, table

WEIGHTINGS = pytest.mark.parametrize("weighting", ["counts", "tf-idf", "bayes"])


def twin_of(x: np.ndarray, y: np.ndarray, strength: float) -> LinearSVC:
    """The dual of the same problem, solved far more exactly."""
    return LinearSVC(C=strength, dual=True, tol=1e-9, max_iter=200_000, random_state=0).fit(x, y)


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


# Solvers


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize(
    ("strength", "dual"), [(0.1, True), (1.0, True), (0.1, False), (1.0, False), (20.0, False)]
)
def test_machines_are_those_of_an_exact_solver(labels, strength, dual):
    dice = np.random.default_rng(0)
    x, y = dice.poisson(0.7, (80, 6)).astype(float), dice.integers(0, labels, 80)
    y[x[:, 0] > 1] = 0
    weights, bias = machines(csr_matrix(x), y, labels, strength, 1e-6, dual)
    twin, margins = twin_of(x, y, strength), x @ weights + bias
    assert weights.shape == (6, labels) and bias.shape == (labels,)
    if labels == 2:
        assert np.allclose(margins[:, 1] - margins[:, 0], twin.decision_function(x), atol=2e-3)
        assert np.array_equal(weights[:, 0], -weights[:, 1])
    else:
        assert np.allclose(margins, twin.decision_function(x), atol=2e-3)


def test_a_label_that_is_not_there_is_not_found():
    x = csr_matrix(np.eye(4))
    for y, found in (([0, 0, 3, 3], {0, 3}), ([2, 2, 2, 2], {2}), ([0, 1, 3, 3], {0, 1, 3})):
        weights, bias = machines(x, np.array(y), 4, 1.0, 1e-3, True)
        assert set((x @ weights + bias).argmax(1)) <= found


def test_ratios_scale_what_each_machine_sees():
    """Weights r v with a penalty on v alone are those of inputs that are r times as large."""
    dice = np.random.default_rng(1)
    x, y = (dice.random((50, 4)) < 0.5).astype(float), dice.integers(0, 3, 50)
    weights, bias = fitted(csr_matrix(x), y, 3, Plan("bayes", 1, 1.0), 1e-6)
    ratio = ratios(csr_matrix(x), y, 3)
    for label in range(3):
        twin = twin_of(x * ratio[:, label], y == label, 1.0)
        expected = twin.decision_function(x * ratio[:, label]) / 2
        assert np.allclose(x @ weights[:, label] + bias[label], expected, atol=2e-3)


def test_traits_of_numbers_go_into_a_softmax_regression():
    dice = np.random.default_rng(0)
    x, y = dice.normal(size=(80, 3)), dice.integers(0, 3, 80)
    y[x[:, 0] > 1] = 0
    weights, bias = regression(x, y, 3, 2.0)
    twin = LogisticRegression(C=2.0, tol=1e-10, max_iter=10_000).fit(x, y)
    logits = x @ weights + bias
    logits -= np.logaddexp.reduce(logits, axis=1, keepdims=True)
    assert np.allclose(logits, twin.predict_log_proba(x), atol=2e-3)


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
    options = LinearOptions(ngram=1, weighting="bayes")
    model = counted(LinearClassifier(V, options, 2), data)
    ratio = ratios(csr_matrix(matrix(model, data)), data.y.flat, 2)[
        columns(model, [(2,), (3,), (4,)])
    ]
    expected = [math.log(own / 6) - math.log(other / 5) for own, other in ((3, 1), (2, 2), (1, 2))]
    assert ratio[:, 0] == pytest.approx(expected, abs=1e-12) and ratio[:, 1] == pytest.approx(
        [-value for value in expected], abs=1e-12
    )


def test_ratios_of_several_labels_are_each_against_all_the_others():
    data = examples()
    model = counted(LinearClassifier(V, LinearOptions(ngram=1, weighting="bayes"), K), data)
    (counts, known), y = table(data, 1), data.y.flat
    ratio = ratios(csr_matrix(matrix(model, data)), y, K)[columns(model, known)]
    for label in range(K):
        own, others = (np.minimum(counts, 1)[some].sum(0) + 1 for some in (y == label, y != label))
        assert np.allclose(
            ratio[:, label], np.log(own / own.sum()) - np.log(others / others.sum()), atol=1e-12
        )


# The whole


@pytest.mark.parametrize(
    "weighting, labels", [("counts", 2), ("counts", 3), ("tf-idf", 2), ("tf-idf", 3)]
)
def test_the_model_is_a_machine_on_its_inputs_whose_margins_have_a_temperature(weighting, labels):
    data, other = examples(60), examples(30, seed=1)
    data = Examples(data.x, symbols([[min(y, labels - 1)] for y in data.y.flat]))
    options = LinearOptions(ngram=2, weighting=weighting, strength=0.5)
    model = counted(LinearClassifier(V, options, labels), data)
    twin = twin_of(matrix(model, data), data.y.flat, 0.5)
    margins = twin.decision_function(matrix(model, other))
    found = answers(model, other)
    ours = found[:, 1] - found[:, 0] if labels == 2 else found - found[:, :1]
    theirs = margins if labels == 2 else margins - margins[:, :1]
    t = float((theirs * theirs).sum() / (theirs * ours).sum())
    assert t > 0 and np.allclose(t * ours, theirs, atol=5e-3)


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


# What is found on sequences held out


def test_held_out_sequences_have_no_equals_in_the_rest_and_every_label_has_its_share():
    data = examples(400)
    folds = held_out(data.x, data.y.flat)
    assert len(folds) == 5 and sum(held.sum() for held in folds) == 400
    rows = [data.x.row(s).tobytes() for s in range(400)]
    for held in folds:
        assert not {rows[s] for s in np.flatnonzero(held)} & {
            rows[s] for s in np.flatnonzero(~held)
        }
    assert len(held_out(symbols([[i % 9, i] for i in range(6000)]), np.arange(6000) % 3)) == 1
    assert held_out(symbols([[2], [3]]), np.array([0, 1])) == []


def test_what_was_not_asked_for_is_found_and_what_was_asked_for_is_kept():
    """The label is whether 2 stands before 3: pairs tell, single symbols do not."""
    dice = np.random.default_rng(0)
    rows = [list(dice.permutation([2, 3, 4, 5])) for _ in range(200)]
    labels = [[int("2, 3" in ", ".join(map(str, row)))] for row in rows]
    data = Examples(symbols(rows), symbols(labels))
    model = LinearClassifier(V, LinearOptions(), 2)
    notes = [each["note"] for each in model.counting(data) if "note" in each]
    assert len(model.grams.tables) == 2 and "n-grams of up to 2" in notes[0]
    assert "100.0 % of 200 training sequences right" in notes[0]
    assert any(f"strength {each:g}" in notes[0] for each in STRENGTHS)
    asked = LinearOptions(ngram=1, weighting="counts", strength=7.0)
    model = LinearClassifier(V, asked, 2)
    notes = [each["note"] for each in model.counting(data) if "note" in each]
    assert len(model.grams.tables) == 1 and model.weighting == "counts"
    assert "strength 7" in notes[0]


# The edges of words


LETTERED = {"a": 2, "b": 3, "c": 4, " ": 5, "\n": 6}


def written(texts: list[str], labels: list[int]) -> Examples:
    rows = [[LETTERED[letter] for letter in text] for text in texts]
    return Examples(symbols(rows), symbols([[y] for y in labels]), blanks=np.array([5, 6]))


def edged(model: LinearClassifier, text: str) -> list[tuple[int, ...]]:
    """The runs that a model finds in a text, by their symbols."""
    x = model.edged(written([text], [0]).x)
    found = model.grams.find(x)
    return sorted(
        tuple(x.flat[end - length + 1 : end + 1]) for end, length in zip(found[2], found[3])
    )


def test_letters_know_where_words_begin_and_end():
    texts = ["ab c", " ab\nc", "c", ""]
    data = written(texts, [0, 0, 1, 1])
    model = counted(LinearClassifier(7, LinearOptions(ngram=3), 2), data)
    oracle = CountVectorizer(analyzer="char_wb", ngram_range=(1, 3)).build_analyzer()
    letters = {letter: number for letter, number in LETTERED.items() if number < 5} | {" ": 1}
    for text in texts[:3]:
        expected = {tuple(letters[letter] for letter in run) for run in oracle(text)}
        assert set(edged(model, text)) == expected - {(1, 1)} | {(1,)}


def test_what_letters_and_edges_add_makes_up_the_answer():
    texts = ["ab c", " ab\nc", "c", "", "ba", "bb a", "abc"] * 3
    data = written(texts, [len(text) % 2 for text in texts])
    model = counted(LinearClassifier(7, LinearOptions(), 2), data)
    batch = of_examples(data, np.arange(7))
    added, before = model.contributions(batch)
    assert added.shape == (*batch.x.shape, 2)
    assert not added[torch.arange(batch.x.shape[1]) >= batch.x_lengths[:, None]].any()
    assert torch.allclose(before + added.sum(1), model.predict(batch).logits, atol=1e-9, rtol=0)
    again = LinearClassifier(7, LinearOptions(), 2)
    again.load_arrays(model.arrays())
    assert np.array_equal(answers(again, data), answers(model, data))


# The letters of words


ENDINGS = {0: ["ing", "ness"], 1: ["ed", "ous"]}


def inflected(count: int = 120, seed: int = 0) -> tuple[list[str], list[int]]:
    """Texts of words that are new nearly every time: only their endings tell the label."""
    dice = np.random.default_rng(seed)
    labels = dice.integers(0, 2, count)
    stems = dice.integers(97, 123, (count, 3, 4))
    texts = [
        " ".join("".join(map(chr, stem)) + str(dice.choice(ENDINGS[int(y)])) for stem in three)
        for y, three in zip(labels, stems)
    ]
    return texts, labels.tolist()


def spelled_out(seed: int = 0) -> tuple[LabelCodec, Examples]:
    texts, labels = inflected(seed=seed)
    data = Sequences({"text": Field.of_text(texts), "label": Field.of_labels(map(str, labels))})
    codec = LabelCodec.fit(data, CodecOptions(unit="word"), "label")
    return codec, codec.encode(data)


def of_words(codec: LabelCodec, **asked) -> LinearClassifier:
    return LinearClassifier(codec.size, LinearOptions(**asked), *codec.sizes)


def test_letters_tell_where_words_do_not():
    """Words are unknown to one another here; nearly all held-out labels are right by letters."""
    codec, data = spelled_out()
    right = {}
    for spelling in ("no", "found"):
        notes = [
            e["note"] for e in of_words(codec, spelling=spelling).counting(data) if "note" in e
        ]
        right[spelling] = float(notes[0].split(": ")[1].split(" %")[0])
    assert right["no"] < 70 and right["found"] > 95 and "runs of letters" in notes[0]


def test_runs_of_letters_are_those_of_scikit_learn_inside_words():
    codec, data = spelled_out()
    spelling = Spelling(codec.sizes[1])
    counts = spelling.learn(data)
    oracle = CountVectorizer(analyzer="char_wb", ngram_range=(3, 5), lowercase=False)
    assert np.array_equal(
        np.sort(counts.toarray(), axis=None),
        np.sort(oracle.fit_transform(inflected()[0]).toarray(), axis=None),
    )
    batch = of_examples(data, np.arange(20))
    assert np.array_equal(spelling.counts(batch).toarray(), counts[:20].toarray())


@WEIGHTINGS
def test_what_words_and_their_letters_add_makes_up_the_answer(weighting):
    codec, data = spelled_out()
    model = counted(of_words(codec, spelling="yes", weighting=weighting), data)
    batch = of_examples(data, np.arange(30))
    added, before = model.contributions(batch)
    assert torch.allclose(before + added.sum(1), model.predict(batch).logits, atol=1e-9, rtol=0)
    again = of_words(codec, weighting=weighting)
    again.load_arrays(model.arrays())
    assert np.array_equal(answers(again, data), answers(model, data))
    for key in ("spelling.weights", "spelling.rarity", "spelling.grams.4"):
        with pytest.raises(ValueError):
            of_words(codec).load_arrays(model.arrays() | {key: model.arrays()[key][:-1]})


def test_letters_are_refused_where_there_are_no_words():
    with pytest.raises(ConfigError, match="no words"):
        LinearClassifier(V, LinearOptions(spelling="yes"), K)
