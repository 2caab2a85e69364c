"""The pairs that a sentence teaches, against loops by hand and against the windows of a fit."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import torch

import seriatim
from seriatim.data.sequences import Sequences
from seriatim.errors import ConfigError, DataError
from seriatim.tasks.words.models import kernels
from seriatim.tasks.words.pairs import START, pairs, words_in
from tests.terminal import good

FANTASIES = "The history of AI is a history of fantasies, possibilities"


def test_the_pairs_of_the_lecture():
    record = pairs(FANTASIES, window=1, start=True, punctuation=False)
    assert [tuple(each.values()) for each in record["rungs"]["predictor"]] == [
        (START, "the"),
        ("the", "history"),
        ("history", "of"),
        ("of", "ai"),
        ("ai", "is"),
        ("is", "a"),
        ("a", "history"),
        ("history", "of"),
        ("of", "fantasies"),
        ("fantasies", "possibilities"),
    ]
    assert record["rungs"]["cbow"][1]["shares"] == {"the": 0.5, "of": 0.5}


def test_skip_gram_pairs_are_all_within_the_window():
    words = ["shall", "i", "compare", "thee", "to", "a", "summers", "day"]
    found = pairs(" ".join(words), window=2)["rungs"]["skip-gram"]
    expected = [
        (words[j], words[i])
        for i in range(len(words))
        for j in range(len(words))
        if i != j and abs(i - j) <= 2
    ]
    assert sorted((each["input"], each["target"]) for each in found) == sorted(expected)


@pytest.mark.parametrize(("rung", "kind"), [("skip-gram", 0), ("cbow", 1), ("predictor", 2)])
def test_a_fit_with_fixed_windows_reads_these_pairs(rung, kind):
    words = ["the", "cat", "sat", "on", "the", "mat"]
    number = {word: 2 + i for i, word in enumerate(dict.fromkeys(words))}
    text = np.array([number[word] for word in words], np.int32)
    centres, (members, owners) = np.zeros(6, np.int32), np.zeros((2, 24), np.int32)
    window = 1 if rung == "predictor" else 2
    keep, dice = np.ones(len(number) + 2, np.float32), np.array([1], np.uint64)
    _, many = kernels.windows(text, 0, 6, kind, window, False, keep, dice, centres, members, owners)
    name = {i: word for word, i in number.items()}
    read = sorted((name[m], name[centres[o]]) for m, o in zip(members[:many], owners[:many]))
    told = pairs("the cat sat on the mat", window=window)["rungs"][rung]
    single = [(one, e["target"]) for e in told for one in e.get("context", [e.get("input")])]
    assert read == sorted(single)


def test_what_is_a_word_is_chosen():
    assert words_in("Oh, no!", lower=False, punctuation=True) == ["Oh", ",", "no", "!"]
    assert words_in("Oh, no!", lower=True, punctuation=False) == ["oh", "no"]
    with pytest.raises(ConfigError, match="no word"):
        pairs("...", punctuation=False)


def test_the_command_prints_a_table():
    out = good("pairs", "--text", "the cat sat", "--window", 1, "--start").out
    assert "<start> -> the" in out and "the sat -> cat" in out and "the -> cat, sat -> cat" in out
    assert good("pairs", "the cat", "--format", "json").json() == pairs("the cat")


def of_letters(**settings):
    lines = [" ".join(each) for each in permutations("abcdef", 4)]
    own = {"width": 6, "minimum_count": 1, "epochs": 1, "threads": 1, "subsample": 0, "seed": 1}
    return seriatim.fit("words", "cbow", Sequences.of(lines, unit="word"), **own | settings)


@pytest.mark.parametrize("output", ("negative", "softmax", "hierarchical"))
def test_an_analogy_is_the_mode_of_the_prediction(output):
    model = of_letters(output=output)
    found = model.analogy("a - b + c", top=10, method="prediction")["found"]
    assert {each["word"] for each in found} == {"d", "e", "f"}
    number, E = model.codec.number, model.model.inputs
    total = E[number["a"]] - E[number["b"]] + E[number["c"]]
    scores = model.model.missing([total.numpy()])
    expected = sorted("def", key=lambda word: -scores[number[word]])
    assert [each["word"] for each in found] == expected
    assert found[0]["probability"] == pytest.approx(float(np.exp(scores[number[expected[0]]])))
    if output == "softmax":
        p = torch.softmax((model.model.outputs @ total)[2:], 0)
        assert found[0]["probability"] == pytest.approx(float(p[number[expected[0]] - 2]), rel=1e-4)
    with pytest.raises(DataError):
        model.analogy("a - zebra", method="prediction")


def test_vectors_without_an_output_layer_predict_nothing(tmp_path):
    of_letters().export(out=tmp_path / "v.txt")
    with pytest.raises(ConfigError, match="output layer"):
        seriatim.load(tmp_path / "v.txt").analogy("a - b", method="prediction")
