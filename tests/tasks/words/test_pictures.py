"""Maps of words show what their records hold, and names do not cover each other."""

from __future__ import annotations

import numpy as np
import pytest

from seriatim.show.places import HEIGHT, VIEWS, extent
from seriatim.tasks.words.pictures import word_map
from tests.drawn import HOSTILE, data_in, sound, texts_in


def mapped(words, arrows=(), seed: int = 0, shares=(0.5, 0.25)) -> dict:
    """A map with words anywhere."""
    where = np.random.default_rng(seed).normal(size=(len(words), 2)).tolist()
    points = [{"word": word, "x": x, "y": y} for word, (x, y) in zip(words, where)]
    shares = None if shares is None else list(shares)
    return {"kind": "map", "model": "cbow", "points": points, "arrows": list(map(list, arrows))} | {
        "plane": "pca",
        "shares": shares,
    }


def test_every_word_has_its_mark_and_every_pair_its_arrow():
    record = mapped(["paris", "france", "tokyo", "japan", "sea"], [(0, 1), (2, 3)])
    chart = sound(word_map(record))
    where = {(each["word"], each["x"], each["y"]) for each in record["points"]}
    assert {(row["word"], row["x"], row["y"]) for row in chart.rows} == where
    drawn = [row for row in data_in(chart) if "x2" in row]
    told = {(row["word"], row["pair"]) for row in drawn}
    assert told == {
        ("paris", "france"),
        ("tokyo", "japan"),
        ("paris", "tokyo"),
        ("france", "japan"),
    }
    assert {row["word"]: row["pair"] for row in chart.rows} == {
        "paris": "france",
        "france": "paris",
        "tokyo": "japan",
        "japan": "tokyo",
        "sea": "",
    }
    assert "75 % of the variance" in chart.says and "Arrows lead from the first" in chart.says
    assert {"paris", "france", "tokyo", "japan", "sea"} <= set(texts_in(chart.svg()))


def test_only_two_pairs_are_a_parallelogram():
    three = word_map(mapped("abcdef", [(0, 1), (2, 3), (4, 5)]))
    assert len([row for row in data_in(three) if "x2" in row]) == 3
    assert "t-SNE" in word_map(mapped("abcd", shares=None)).says


@pytest.mark.parametrize("many, arrows", [(200, []), (24, [(i, i + 1) for i in range(0, 24, 2)])])
def test_names_that_are_shown_do_not_cover_each_other(many, arrows):
    chart = word_map(mapped([f"word{i}" for i in range(many)], arrows))
    rows = [row for row in data_in(chart) if "size" in row]
    scales = chart.body["layer"][-1]["encoding"]
    (left, right), (low, high) = (scales[key]["scale"]["domain"] for key in "xy")
    for view, wide in VIEWS.items():
        boxes = []
        for row in (row for row in rows if row[view]):
            x = (row["x"] - left) / (right - left) * wide + row[f"{view}_dx"]
            y = (high - row["y"]) / (high - low) * HEIGHT + row[f"{view}_dy"]
            across, down = (side / 2 - 0.6 for side in extent(row["word"], row["size"]))
            boxes.append((x - across, y - down, x + across, y + down))
        boxes = np.array(boxes)
        assert len(boxes) >= many * (0.2 if view == "narrow" else 0.3)
        meet = np.minimum(boxes[:, None, 2:], boxes[None, :, 2:]) > np.maximum(
            boxes[:, None, :2], boxes[None, :, :2]
        )
        assert meet.all(2).sum() == len(boxes)  # each meets itself
        assert boxes[:, :2].min() > -2 and boxes[:, 2].max() < wide + 2
    assert ("left out" in chart.says) == any(not row["narrow"] for row in rows)


def test_a_wide_picture_has_more_names_than_a_narrow_one():
    chart = word_map(mapped([f"word{i}" for i in range(200)]))
    shown = [len(texts_in(chart.svg(width=width))) for width in (640, 390)]
    assert shown[0] > shown[1] > 40


def test_names_are_values_and_all_words_in_one_place_are_drawn():
    sound(word_map(mapped(HOSTILE, [(0, 1)])))
    record = mapped("abcd")
    record["points"] = [each | {"x": 0.0, "y": 0.0} for each in record["points"]]
    assert len(sound(word_map(record)).rows) == 4


def test_of_very_many_words_the_first_are_drawn():
    chart = word_map(mapped([f"w{i}" for i in range(1200)], [(0, 1), (1100, 1)]))
    assert len(chart.rows) == 1000 and len([row for row in data_in(chart) if "x2" in row]) == 1
