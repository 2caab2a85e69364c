"""Trees: which places belong together, and the vectors of them."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

import seriatim
from seriatim.codecs.brackets import brackets_in, check_brackets, refuse_unbalanced
from seriatim.codecs.options import CodecOptions
from seriatim.codecs.symbols import fit_codec
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import ConfigError, DataError
from seriatim.layers.tree import Tree, related, trees_of
from seriatim.models.stack import by_trees
from seriatim.tasks.regress import RUNGS as REGRESS

NUMBER = {"(": 1, ")": 2, "a": 3, "b": 4, "c": 5}


def ids(*rows: str) -> tuple[torch.Tensor, torch.Tensor]:
    lengths = torch.tensor([len(row) for row in rows])
    x = torch.zeros(len(rows), int(lengths.max()), dtype=torch.long)
    for b, row in enumerate(rows):
        x[b, : len(row)] = torch.tensor([NUMBER[c] for c in row])
    return x, lengths


def slowly(row: str) -> tuple[list[int], list[int], list[bool]]:
    """The same with a stack, symbol by symbol."""
    parent, height, closes = [-1] * len(row), [0] * len(row), [False] * len(row)
    inside: list[list[int]] = [[]]
    for p, c in enumerate(row):
        if c == "(":
            inside.append([])
        elif c == ")" and len(inside) > 1:
            children, closes[p] = inside.pop(), True
            for child in children:
                parent[child] = p
            height[p] = 1 + max((height[child] for child in children), default=0)
            inside[-1].append(p)
        elif c != ")":
            inside[-1].append(p)
    return parent, height, closes


def test_places_belong_together_as_a_stack_would_find_them():
    dice = random.Random(0)
    for _ in range(500):
        time = dice.randint(1, 14)
        rows = ["".join(dice.choices("(()) a", k=time)) for _ in range(dice.randint(1, 4))]
        opening, closing = (np.array([[c == mark for c in row] for row in rows]) for mark in "()")
        parent, height, closes = (
            each.reshape(len(rows), time) for each in related(opening, closing)
        )
        for b, row in enumerate(rows):
            local = np.where(parent[b] >= 0, parent[b] - b * time, -1).tolist()
            assert (local, height[b].tolist(), closes[b].tolist()) == slowly(row), row


def test_a_tree_by_hand():
    """( a ( b c ) ): base case, inductive step, inductive step."""
    layer = Tree(1)
    with torch.no_grad():
        (
            layer.inward.weight.fill_(2.0),
            layer.inward.bias.fill_(0.5),
            layer.upward.weight.fill_(-1.0),
        )
    x, lengths = ids("(a(bc))", "b")
    given = torch.tensor([[0, 0.1, 0, 0.2, 0.3, 0, 0], [0.2, 9, 9, 9, 9, 9, 9]])[..., None]
    trees = trees_of(x, lengths, 7, (1, 2))
    with torch.no_grad():
        y, _ = layer(given, layer.empty(2), lengths, trees)
    a, b, c = np.tanh([0.7, 0.9, 1.1])
    inner = np.tanh(0.5 - (b + c))
    whole = np.tanh(0.5 - (a + inner))
    assert np.allclose(y[0, :, 0], [0, a, 0, b, c, inner, whole], atol=1e-6)
    assert y[1, 0, 0] == pytest.approx(b, abs=1e-6)
    assert [len(each.nodes) for each in trees.levels] == [1, 1]


def test_without_brackets_every_place_is_a_word():
    x, lengths = ids("(ab)")
    for trees in (trees_of(x, lengths, 4, None), trees_of(None, lengths, 4, (1, 2))):
        assert not trees.levels and not trees.openings.any() and not trees.closings.any()


# -- brackets as they are written
def test_brackets_are_found_and_lines_without_partners_named():
    texts = Field.of_text(["( a b )", "", "c", "( ( a )", "b )"])
    codec = fit_codec(texts, CodecOptions(unit="token"))
    assert [codec.symbols[i] for i in brackets_in(codec)] == ["(", ")"]
    check_brackets(codec, "memory")
    lines = np.array([1, 2, 3, 7, 9])
    for rows, words in ((slice(0, 4), r"1 more opened.*"), (np.array([0, 4]), "closes nothing")):
        data = Sequences({"text": texts}, origin="trees.txt", lines=lines)[rows]
        with pytest.raises(DataError, match=words) as caught:
            refuse_unbalanced(codec, data, data.main)
        assert caught.value.line in (7, 9) and caught.value.file == "trees.txt"
    refuse_unbalanced(codec, Sequences({"text": texts})[:3], texts.take(slice(0, 3)))


def test_what_has_no_brackets_of_their_own_is_refused():
    for texts, error in ((["a b"], DataError), (["(a b) c", "( d )"], ConfigError)):
        codec = fit_codec(Field.of_text(texts), CodecOptions(unit="token"))
        with pytest.raises(error, match="brackets"):
            check_brackets(codec, "memory")


# -- models
def formula(depth: int, dice: random.Random) -> tuple[str, bool]:
    if not depth or dice.random() < 0.2:
        word = dice.choice("TF")
        return word, word == "T"
    name, rule = dice.choice([("and", all), ("or", any)])
    inside = [formula(depth - 1, dice) for _ in range(dice.choice([2, 2, 3]))]
    return f"( {name} {' '.join(text for text, _ in inside)} )", rule(true for _, true in inside)


def formulas(count: int, seed: int) -> tuple[list[str], list[str]]:
    dice, found = random.Random(seed), {}
    while len(found) < count:
        text, true = formula(4, dice)
        if text.startswith("("):
            found[text] = str(true)
    return list(found), list(found.values())


SETTINGS = {
    "unit": "token", "width": 16, "updates": 150, "rate": 1e-2, "beside": "no", "dropout": 0.0,
    "word_dropout": 0.0, "threads": 1, "seed": 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def model():
    return seriatim.fit("classify", "tree", formulas(500, 0), formulas(60, 1), **SETTINGS)


def test_a_tree_knows_formulas_that_a_bag_of_words_does_not(model, tmp_path):
    test = formulas(150, 2)
    mean = seriatim.fit("classify", "mean", formulas(500, 0), formulas(60, 1), **SETTINGS)
    assert model.evaluate(test)["accuracy"] > 0.9 > 0.8 > mean.evaluate(test)["accuracy"]
    model.save(tmp_path / "run")
    again = seriatim.load(tmp_path / "run")
    asked = ["( and T ( or T F ) )", "( and T ( or F F ) )"]
    assert [item["label"] for item in again.predict(asked)["items"]] == ["True", "False"]
    assert by_trees(again.model)[0].brackets == by_trees(model.model)[0].brackets is not None
    assert again.explain(asked[0])["label"] == "True"
    assert len(again.embed(asked)["items"]) == 2


def test_neighbours_change_no_answer(model):
    texts = ["( and T ( or T F ) )", "T", "( or F ( and T T T ) F )"]
    together = model.predict(texts)["items"]
    for text, item in zip(texts, together, strict=True):
        (alone,) = model.predict([text])["items"]
        for one, other in zip(alone["probabilities"], item["probabilities"], strict=True):
            assert one["probability"] == pytest.approx(other["probability"], abs=1e-5)


def test_unbalanced_brackets_are_refused_with_their_line(model, tmp_path):
    with pytest.raises(DataError, match="sequence 2 do not belong together"):
        model.predict(["( and T T )", "( and T"])
    file = tmp_path / "trees.tsv"
    file.write_text("text\tlabel\n" + "( and T T )\tTrue\n( or F F )\tFalse\n" * 15 + "( T\tTrue\n")
    with pytest.raises(DataError, match="do not belong together") as caught:
        seriatim.fit("classify", "tree", file, file, unit="token", updates=1)
    assert caught.value.line == 32
    with pytest.raises(DataError, match="there are none"):
        seriatim.fit(
            "classify", "tree", (["a b", "c d"] * 9, ["x", "y"] * 9), (["a b"], ["x"]), unit="token"
        )


def test_what_has_no_trees_is_refused():
    numbers = [np.ones((3, 2)) * i for i in range(20)]
    with pytest.raises(ConfigError, match="brackets among symbols"):
        seriatim.fit("classify", "tree", (numbers, ["x", "y"] * 10), updates=1)
    tagged = [(["a", "b"], ["x", "y"])] * 40
    with pytest.raises(ConfigError, match="a tag for each symbol"):
        seriatim.fit("tag", "gru", tagged, tagged, mixer="tree", updates=1)
    with pytest.raises(ConfigError, match="hears none"):
        seriatim.fit("classify", "tree", formulas(40, 0), pool="unit", unit="token", updates=1)
    pairs = ([[1.0, float(i)] for i in range(30)], ["a b"] * 15 + ["b a"] * 15)
    with pytest.raises(ConfigError, match="a source of numbers"):
        seriatim.fit("translate", "gru", pairs, encoder_mixer="tree", unit="token", updates=1)


def test_values_of_trees():
    assert REGRESS["tree"].settings["pool"] == "last" and REGRESS["tree"].symbols
    texts, truth = formulas(80, 4)
    values = [float(each == "True") for each in truth]
    model = seriatim.fit("regress", "tree", (texts, values), unit="token", width=8, updates=5)
    assert len(model.predict(texts[:3])["items"]) == 3


def test_a_translator_reads_trees():
    texts, truth = formulas(300, 5)
    own = {"unit": "token", "width": 16, "heads": 1, "updates": 150, "threads": 1, "seed": 1}
    model = seriatim.fit("translate", "gru", (texts, truth), encoder_mixer="tree", **own)
    found = [item["target"] for item in model.predict(texts[:60])["items"]]
    assert np.mean([a == b for a, b in zip(found, truth[:60], strict=True)]) > 0.7
    assert model.model.encoder.brackets is not None
    for ask in (lambda: model.predict(["( and T"]), lambda: model.generate("T )")):
        with pytest.raises(DataError, match="do not belong together"):
            ask()


def test_a_killed_fit_of_trees_resumes_to_the_same_bits(tmp_path):
    from seriatim.fitting import fit_events
    from seriatim.tasks.classify import TASK

    data = formulas(60, 6)
    settings = SETTINGS | {"updates": 6, "rows": 4, "length": 16, "dropout": 0.3, "patience": 0}
    whole = seriatim.fit("classify", "tree", data, out=tmp_path / "whole", **settings)
    asked = settings | {"checkpoint_seconds": 0.0, "out": str(tmp_path / "halves")}
    events = fit_events(TASK, "tree", data, settings=asked)
    for event in events:
        if event["event"] == "validation" and event["step"] >= 3:
            break
    events.close()
    again = seriatim.fit("classify", "tree", data, out=tmp_path / "halves", resume=True, **settings)
    for name, each in whole.model.arrays().items():
        assert torch.equal(each, again.model.arrays()[name]), name
