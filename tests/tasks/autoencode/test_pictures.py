"""Pictures of vectors and of what is written from them show what their records hold."""

from __future__ import annotations

import json

import numpy as np
import pytest

import seriatim as st
from seriatim.data.formats.strokes import drawing_of
from seriatim.errors import RunError
from seriatim.tasks.autoencode.pictures import (
    Sheet,
    completion,
    drawings,
    interpolation,
    latent,
    reconstruction,
    roll,
)
from tests.drawn import HOSTILE, data_in, sound, texts_in

CORNER = drawing_of([np.array([[1, 1], [5, 1], [5, 4]]), np.array([[3, 3]])]).tolist()
TUNE = "C4:1/4 R:1/8 F#5:3/8"


def record_of(kind: str, items, **more) -> dict:
    """What an autoencoder gives."""
    return {"kind": kind, "task": "autoencode", "model": "lstm", "items": list(items)} | more


def vectors(many: int, label=lambda s: "", text=lambda s: "", width: int = 5) -> dict:
    """Vectors anywhere, in groups of three."""
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(many, width)) + 4 * (np.arange(many) % 3)[:, None]
    return record_of(
        "vectors",
        (
            {"vector": row.tolist()}
            | ({"label": label(s)} if label(s) else {})
            | ({"text": text(s)} if text(s) else {})
            for s, row in enumerate(rows)
        ),
    )


# -- vectors
def test_vectors_lie_where_scikit_learn_puts_them():
    from sklearn.decomposition import PCA

    record = vectors(40, label=lambda s: "abc"[s % 3])
    chart = sound(latent(record))
    found = np.array([[row["x"], row["y"]] for row in chart.rows])
    plane = PCA(2).fit(np.array([each["vector"] for each in record["items"]]))
    expected = plane.transform(np.array([each["vector"] for each in record["items"]]))
    assert np.abs(found) == pytest.approx(np.abs(expected), abs=1e-4)
    assert [row["label"] for row in chart.rows] == ["abc"[s % 3] for s in range(40)]
    share = f"{100 * plane.explained_variance_ratio_.sum():.0f} % of the variance"
    assert share in chart.says and "Each label is named" in chart.says
    assert {"a", "b", "c"} <= set(texts_in(chart.svg()))


def test_labels_are_told_apart_by_colour_and_shape_and_the_rarest_are_grey():
    chart = latent(vectors(60 * 31, label=lambda s: f"label{min(s % 60, 29)}"))
    marks = {row["label"]: (row["colour"], row["shape"]) for row in data_in(chart)}
    assert len({each for name, each in marks.items() if each[0] != "others"}) == 28
    assert sum(colour == "others" for colour, _ in marks.values()) == 2
    assert marks["label29"] == ("0", "circle")  # the most frequent
    assert "circles, crosses, triangles, squares" in chart.says and "the rest in grey" in chart.says
    some = latent(vectors(120, label=lambda s: f"label{s % 12}"))
    assert "other marks: circles, crosses." in some.says and "grey" not in some.says
    large = latent(vectors(30, label=lambda s: "abc"[s % 3])).body["layer"][0]["layer"][1]["mark"]
    assert some.body["layer"][0]["layer"][1]["mark"]["size"] > large["size"]  # shapes are seen


def test_without_labels_some_texts_are_named():
    chart = sound(latent(vectors(300, text=lambda s: f"text {s}")))
    named = [text for text in texts_in(chart.svg()) if text.startswith("text ")]
    assert 20 < len(named) < 300 and chart.rows[7]["text"] == "text 7"
    assert "named" not in chart.says


@pytest.mark.parametrize("many, width", [(1, 4), (2, 1), (5, 1)])
def test_few_vectors_and_short_ones_are_drawn(many, width):
    assert len(sound(latent(vectors(many, width=width))).rows) == many


def test_very_many_vectors_are_drawn_in_part_and_names_are_values():
    chart = latent(vectors(4000))
    assert len(chart.rows) == 3000 and "3,000 of 4,000 are drawn" in chart.says
    sound(latent(vectors(30, label=lambda s: HOSTILE[s % len(HOSTILE)])))
    sound(latent(vectors(30, text=lambda s: HOSTILE[s % len(HOSTILE)])))
    with pytest.raises(RunError, match="nothing to draw"):
        latent(record_of("vectors", []))


# -- drawings
def test_each_drawing_stands_in_its_cell_stroke_by_stroke():
    chart = sound(drawings(record_of("generated", [{"numbers": CORNER}] * 3)))
    points = [row for row in data_in(chart) if "stroke" in row]
    assert [row["stroke"] for row in points[:4]] == ["1.1"] * 3 + ["1.2"]
    assert [row["dot"] for row in points[:4]] == [False] * 3 + [True]
    assert {row["unit"] for row in points} == {0, 1, 2}
    u, v = (np.array([row[key] for row in points[:4]]) for key in "uv")
    assert u == pytest.approx([0.08, 0.92, 0.92, 0.5], abs=1e-3)  # as wide as the cell allows
    assert np.diff(v[[0, 1, 2]]) == pytest.approx([0, 0.63], abs=1e-3)
    assert "3 drawings" in chart.says and len(chart.rows) == 12


def test_what_was_begun_is_grey_and_the_pen_goes_on_from_there():
    chart = sound(completion(record_of("completion", [{"numbers": CORNER}], begun=2)))
    points = [row for row in data_in(chart) if "stroke" in row]
    grey = [row for row in points if row["given"]]
    rest = [row for row in points if not row["given"]]
    assert [row["stroke"] for row in grey] == ["1.1", "1.1"]
    assert [row["stroke"] for row in rest] == ["1.1+", "1.1+", "1.2"]
    assert (grey[-1]["u"], grey[-1]["v"]) == (rest[0]["u"], rest[0]["v"])


def test_originals_stand_above_what_is_drawn_again():
    again = {"numbers": CORNER, "original": CORNER}
    chart = sound(reconstruction(record_of("reconstructions", [again] * 3)))
    points = [row for row in data_in(chart) if "stroke" in row]
    for row in points:
        assert row["unit"] == (row["drawing"] - 1) // 2
        assert row["given"] == (row["drawing"] % 2 == 1) == (row["v"] < 1)


def test_a_grid_stays_a_grid_and_a_strip_a_strip():
    grid = sound(interpolation(record_of("interpolation", [{"numbers": CORNER}] * 9, columns=3)))
    assert "A grid between four" in grid.says and "3 by 3" in grid.says
    sheet = Sheet(9, columns=3)
    assert sheet.columns == {"wide": 3, "narrow": 3}
    strip = interpolation(record_of("interpolation", [{"numbers": CORNER}] * 5, columns=None))
    assert "in 5 equal steps" in strip.says and Sheet(5).columns["wide"] == 5


@pytest.mark.parametrize("many, tall", [(1, 1), (7, 1), (16, 1), (40, 1), (64, 1), (20, 2)])
def test_a_narrow_sheet_has_room_in_the_height_of_a_wide_one(many, tall):
    sheet = Sheet(many, tall)
    assert sheet.high(sheet.units, "narrow") <= sheet.height
    assert sheet.columns["narrow"] <= sheet.columns["wide"]


def test_of_very_many_drawings_the_first_are_drawn():
    chart = drawings(record_of("generated", [{"numbers": CORNER}] * 100))
    assert "The first 64 of 100" in chart.says
    assert max(row["drawing"] for row in chart.rows) == 64


def test_what_each_is_conditioned_on_is_said_and_broken_drawings_are_left_out():
    items = [{"numbers": CORNER, "condition": {"label": name}} for name in HOSTILE]
    chart = sound(drawings(record_of("generated", items)))
    assert {row["label"] for row in data_in(chart) if "label" in row} > {"$x$"}
    wrong = [{"numbers": [[1.0, float("inf"), 0.0]]}, {"numbers": CORNER}]
    assert {row["drawing"] for row in drawings(record_of("generated", wrong)).rows} == {2}


def test_numbers_of_another_kind_are_lines():
    rows = [{"numbers": [[0.5, 1.0], [0.25, 2.0], [0.5, 3.0]]}] * 2
    chart = sound(drawings(record_of("generated", rows)))
    assert [row["value"] for row in chart.rows[:3]] == [0.5, 0.25, 0.5]
    assert {row["channel"] for row in chart.rows} == {1, 2}
    with pytest.raises(RunError, match="only melodies"):
        roll(record_of("generated", rows))


# -- melodies
def test_a_melody_is_bars_of_pitch_and_time():
    chart = sound(roll(record_of("generated", [{"text": TUNE}])))
    assert chart.rows == [
        {"melody": "melody 1", "note": "C4", "from": 0.0, "to": 0.25},
        {"melody": "melody 1", "note": "F#5", "from": 0.375, "to": 0.75},
    ]
    assert [row["row"] for row in data_in(chart)] == [60, 78]
    assert drawings(record_of("generated", [{"text": TUNE}])).rows == chart.rows
    again = {"text": TUNE, "original": "D4:1/2"}
    both = sound(reconstruction(record_of("reconstructions", [again, again])))
    assert {row["melody"] for row in both.rows} > {"melody 1", "melody 1, again"}
    three = interpolation(record_of("interpolation", [{"text": TUNE}] * 3, columns=None))
    assert {row["melody"] for row in three.rows} == {f"{p} % of the way" for p in (0, 50, 100)}


def test_long_melodies_and_many_are_drawn_in_part():
    long = " ".join(["C4:1/1"] * 30)
    chart = sound(roll(record_of("generated", [{"text": long}] * 9 + [{"text": ""}])))
    assert "The first 8 of 10" in chart.says and "first 24 whole notes" in chart.says
    assert len([row for row in data_in(chart) if row["to"] > 24]) == 0


# -- texts
def test_words_that_the_text_before_does_not_have_are_in_colour():
    texts = ["the cat sleeps .", "the dog sleeps .", "a dog runs home ."]
    record = record_of("interpolation", ({"text": text} for text in texts), columns=None)
    chart = sound(interpolation(record))
    new = [row["word"] for row in data_in(chart) if row["role"] == "new"]
    assert new == ["dog", "a", "runs", "home"]
    assert [row["text"] for row in chart.rows] == texts
    assert [row["word"] for row in data_in(chart) if row["role"] == "place"] == [
        "0 %",
        "50 %",
        "100 %",
    ]


def test_long_and_strange_texts_are_laid_out_in_lines():
    record = record_of("interpolation", ({"text": text} for text in [*HOSTILE, ""]), columns=None)
    chart = sound(interpolation(record))
    assert max(row["x"] + 6.65 * len(row["word"]) for row in data_in(chart)) < 350
    pairs = [{"text": "the dog", "original": "the cat"}]
    again = sound(reconstruction(record_of("reconstructions", pairs)))
    assert [row["word"] for row in data_in(again) if row["role"] == "new"] == ["dog"]
    with pytest.raises(RunError, match="texts are read"):
        drawings(record_of("generated", [{"text": "the cat"}]))


# -- from a model
def test_records_of_a_model_are_drawn_by_their_verbs(tmp_path):
    small = {"updates": 4, "width": 8, "latent": 3, "threads": 1}
    model = st.fit("autoencode", "gru", "drawings:count=40", **small)
    data = "drawings:count=6,seed=2"
    found = st.call("embed", model, data)
    names = [each["label"] for each in st.read(data)]
    assert [[each["label"]] for each in found["items"]] == names
    assert found.plot().what == "latent"
    asked = {
        "latent": (data, {}),
        "interpolation": (data, {"ends": "1,2,3,4", "count": 3, "length": 6}),
        "drawings": (None, {"count": 4, "length": 6}),
        "reconstruction": (data, {}),
        "completion": (data, {"number": 2, "part": 0.5, "count": 2, "length": 6}),
    }
    assert {*asked, "roll"} == set(model.task.pictures)
    for what, (given, options) in asked.items():
        chart = st.plot(model, given, what=what, out=tmp_path / f"{what}.json", **options)
        assert chart.what == what and sound(chart).rows
        assert json.loads((tmp_path / f"{what}.json").read_text())["description"]
    again = st.call("reconstruct", model, data)["items"][0]["original"]
    assert np.array(again) == pytest.approx(st.read(data)[0]["strokes"])
