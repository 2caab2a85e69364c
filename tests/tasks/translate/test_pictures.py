"""Pictures of translators show the figures of their records, whatever the symbols are called."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

import seriatim
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import RunError
from seriatim.measuring.resampling import wilson
from seriatim.plotting import drawn
from seriatim.tasks.translate.pictures import DEEP, WIDE, alignment, lengths, tree

HOSTILE = ["<script>alert(1)</script>", "$x$", "\ud800", "a" * 300, "שלום", "datum.x'\"", ""]


def whole(chart) -> str:
    """The chart as SVG, checked for what must not be there."""
    svg = chart.svg()
    assert svg.startswith("<svg") and "<script" not in svg
    json.dumps(chart.record(), allow_nan=False)
    return svg


# -- alignment
def test_an_alignment_has_the_weights_of_its_record():
    weights = [[0.9, 0.1, 0.0], [0.01, 0.5, 0.49]]
    record = {
        "model": "gru",
        "source": [" girl", "twice", "twice"],
        "target": [" Mädchen", "</s>"],
        "text": "Mädchen",
        "origins": ["source"] * 3,
        "heads": [weights, weights],
        "weights": weights,
    }
    chart = alignment(record)
    svg = whole(chart)
    assert "·Mädchen" in svg and svg.count(">twice<") == 2 and "mean of 2 heads" in chart.says
    assert [row["weight"] for row in chart.rows] == [0.9, 0.1, 0.5, 0.49]
    assert chart.rows[0]["attends"] == "·Mädchen" and chart.rows[0]["attended to"] == "·girl"


def test_hostile_symbols_are_names():
    weights = [[1 / len(HOSTILE)] * len(HOSTILE)] * len(HOSTILE)
    record = {
        "model": "gru",
        "source": HOSTILE,
        "target": HOSTILE,
        "text": HOSTILE[0],
        "origins": ["source"] * len(HOSTILE),
        "heads": [weights],
        "weights": weights,
    }
    svg = whole(alignment(record))
    assert "$x$" in svg and "שלום" in svg and "a" * 60 not in svg


# -- the tree
def node(number, step, parent, symbol="a", fate="kept", log_prob=-1.0, score=None):
    return {
        "node": number,
        "step": step,
        "parent": parent,
        "symbol": symbol,
        "fate": fate,
        "log_prob": log_prob,
        "score": score,
    }


def searched(nodes):
    return {
        "model": "gru",
        "source": "a",
        "beam": 2,
        "nodes": nodes,
        "results": [{"target": "a"}] if nodes else [],
    }


def marks_of(chart) -> list[list[dict]]:
    """The marks of each band."""
    return [chart.data_of(view) for view in chart.body["concat"]]


def test_a_tree_tells_kept_pruned_and_ended_apart_and_follows_the_best():
    nodes = [
        node(0, 0, -1, "A", log_prob=-0.1),
        node(1, 0, -1, "B", log_prob=-0.5),
        node(2, 0, -1, "C", "pruned", -3.0),
        node(3, 1, 1, "</s>", "ended", -0.6, score=-0.3),
        node(4, 1, 0, "</s>", "ended", -0.9, score=-0.45),
    ]
    chart = tree(searched(nodes))
    svg = whole(chart)
    assert "end: score -0.30" in svg and "A (-0.10)" in svg and "C (-3.00)" in svg
    (band,) = marks_of(chart)
    assert {mark["node"] for mark in band if mark["best"]} == {1, 3}
    by = {mark["node"]: mark for mark in band}
    assert by[0]["y"] < by[1]["y"] < by[2]["y"] and by[3]["from_y"] == by[1]["y"]
    assert by[3]["from_x"] == by[1]["end"] < by[3]["to_x"] and by[0]["to_x"] is None
    assert [row["log prob"] for row in chart.rows] == [-0.1, -0.5, -3.0, -0.6, -0.9]


def test_a_long_tree_goes_on_below_and_ends_where_that_is_said():
    nodes = [node(i, i, i - 1, f"symbol {i}") for i in range(DEEP + 3)]
    chart = tree(searched(nodes))
    whole(chart)
    bands = marks_of(chart)
    assert f"first {DEEP} of {DEEP + 3} steps" in chart.says and len(chart.rows) == DEEP
    assert len(bands) > 1 and all(mark["end"] <= WIDE + 4 for band in bands for mark in band)
    for before, after in pairwise(bands):
        assert after[0]["again"] and after[0]["node"] == before[-1]["node"]
        assert after[1]["from_x"] == after[0]["end"]


def test_hostile_trees_and_empty_ones():
    nodes = [node(i, 0, -1, name, log_prob=-float(i)) for i, name in enumerate(HOSTILE)]
    assert "$x$" in whole(tree(searched(nodes)))
    with pytest.raises(RunError, match="nothing to draw"):
        tree(searched([]))


# -- by length
def measured(groups):
    return {
        "model": "gru",
        "data": "test.tsv",
        "by_length": [
            {"from": a, "to": b, "sources": n, "exact": exact, "token_error": wrong}
            for a, b, n, exact, wrong in groups
        ],
    }


def test_errors_by_length_have_their_intervals():
    record = measured([(1, 4, 50, 0.9, 0.02), (5, 9, 20, 0.25, 1.4)])
    chart = lengths(record)
    svg = whole(chart)
    assert "exact targets" in svg and "edits per symbol" in svg and "70 sources" in chart.says
    assert (chart.rows[1]["low"], chart.rows[1]["high"]) == wilson(5, 20)
    assert [row["edits per symbol"] for row in chart.rows] == [0.02, 1.4]
    exact, edits = chart.body["vconcat"]  # each on an axis of its own: none is crushed by the other
    top = [panel["layer"][-1]["encoding"]["y"]["scale"]["domain"][1] for panel in (exact, edits)]
    assert top == [1.04, pytest.approx(1.04 * 1.4)]
    whole(lengths(measured([(3, 3, 1, 0.0, 0.0)])))
    with pytest.raises(RunError, match="nothing to draw"):
        lengths(measured([]))


# -- pieces are text
def test_records_have_pieces_as_the_text_they_stand_for():
    sources = [f"{each} {i}" for i in range(20) for each in ("a girl rides", "the girl sings 猫")]
    targets = [f"{each} {i}" for i in range(20) for each in ("Ein Mädchen fährt", "Sie singt 🐈")]
    fields = {"source": Field.of_text(sources), "target": Field.of_text(targets)}
    model = seriatim.fit(
        "translate",
        "gru",
        Sequences(fields),
        unit="subword",
        vocabulary=310,
        width=16,
        heads=1,
        updates=3,
    )
    record = model.alignment("a girl 猫", target="Ein Mädchen fährt Öl")
    assert "".join(record["source"][:-1]).startswith("a girl ")
    assert " Mädchen" in record["target"] and " fährt" in record["target"]
    assert "⟨C3⟩" in record["target"] and "⟨96⟩" in record["target"]  # Ö was never merged
    symbols = {node["symbol"] for node in model.tree("a girl rides", beam=3)["nodes"]}
    for name in (*record["source"], *record["target"], *symbols):
        assert not set(name) & set("ĠÃ¤")
    assert "·fährt" in drawn(record).svg()
