"""Pictures are descriptions: what stands in them is what stood in the record, in any colours, at any
width, whatever the names are."""

from __future__ import annotations

import json
import re
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import seriatim
from seriatim.errors import RunError
from seriatim.plotting import COMMON, drawn, learning_of, pictures_of
from seriatim.show.charts import DARK, FORMATS, LIGHT, THEMES, Chart, fitted, powers, spread
from seriatim.show.curves import courses, data_curve, leaderboard, learning, quality, time_curve

HOSTILE = [
    "<script>alert(1)</script>",
    "$x^2$",
    "\ud800",
    "a" * 300,
    "ש‎לום",
    "'] || true || ['",
    "\x1b[31m",
]


def comparison(names=("kneser-ney", "lstm", "markov"), unfinished=("lstm",)) -> dict:
    rows = [
        {
            "model": name,
            "status": "ok",
            "bits": 2.0 + place / 10,
            "interval": {"bits": [1.95 + place / 10, 2.05 + place / 10]},
            "seconds": 0.1 * 3**place,
            "updates": 7 if name in unfinished else None,
            "unfinished": name in unfinished,
        }
        for place, name in enumerate(names)
    ]
    rows.append({"model": "broken", "status": "failed", "reason": "no memory", "bits": None})
    return {
        "kind": "comparison",
        "rows": rows,
        "figure": "bits",
        "higher_is_better": False,
        "data": "folder/book.txt",
        "task": "language",
        "unit": "character",
        "entropy_bits": 1.9,
    }


def course(model: str = "lstm") -> dict:
    looks = [
        {"step": i, "seconds": i / 2, "train": 3 - i / 5, "valid": 3.1 - i / 5}
        | {"rate": 0.01, "gradient_norm": 1.0 + i, "clipped": i / 10}
        for i in range(1, 6)
    ]
    return {
        "kind": "learning",
        "model": model,
        "title": "run",
        "per": "nats per token",
        "higher": False,
        "least": 0.0,
        "ending": "5 updates",
        "looks": looks,
    }


def strings(value) -> list[str]:
    """All keys and values of a description but the values of its data."""
    if isinstance(value, dict):
        rest = {key: each for key, each in value.items() if key not in ("values", "datasets")}
        return [text for key, each in rest.items() for text in [key, *strings(each)]]
    if isinstance(value, list):
        return [text for each in value for text in strings(each)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("draw", [leaderboard, quality])
def test_a_picture_of_a_comparison_holds_its_figures_and_intervals(draw):
    record = comparison()
    chart = draw(record)
    found = {row["model"]: row for row in chart.rows}
    assert list(found) == ["kneser-ney", "lstm", "markov"]  # what failed has no mark
    for row in record["rows"][:3]:
        mine = found[row["model"]]
        assert (mine["value"], [mine["low"], mine["high"]]) == (
            row["bits"],
            row["interval"]["bits"],
        )
        assert mine["state"] == ("unfinished" if row["unfinished"] else "finished")
    assert "Lower is better" in chart.says and "unfinished" in chart.says
    assert chart.title == "book.txt: language by character"
    assert "true entropy" in json.dumps(chart.body)


def predicted() -> dict:
    """The course of a network whose figure on the test is a tenth above that on validation."""
    short = [{"share": s, "seconds": s, "updates": 9, "value": 2.4 - s} for s in (0.1, 0.2, 1.0)]
    later = [
        {"times": 2, "value": 1.9, "low": 1.8, "high": 2.0},
        {"times": 4, "value": 1.7, "low": 1.5, "high": 1.9},
    ]
    return {"points": short, "moved": 0.1, "last_doubling": 0.1, "predicted": later, "why": None}


def test_a_curve_against_time_goes_through_short_fits_to_what_is_predicted():
    record = comparison() | {"references": [{"name": "bz2", "value": 2.1}]}
    assert "nothing is predicted" in time_curve(record).says
    record["rows"][1]["course"] = predicted()
    chart = time_curve(record)
    lstm = [row for row in chart.rows if row["model"] == "lstm"]
    assert [row["what"] for row in lstm] == ["a short fit"] * 2 + ["a fit"] + ["predicted"] * 2
    assert [row["value"] for row in lstm] == pytest.approx([2.4, 2.3, 2.1, 1.9, 1.7])
    seconds = record["rows"][1]["seconds"]
    assert [row["seconds"] for row in lstm] == pytest.approx(
        [0.1, 0.2, seconds, 2 * seconds, 4 * seconds]
    )
    assert [(row["low"], row["high"]) for row in lstm[3:]] == [(1.8, 2.0), (1.5, 1.9)]
    assert len(chart.rows) == 7 and "80 % intervals" in chart.says and "Hollow" in chart.says
    for theme in THEMES:
        drawn_as = chart.svg(theme)
        assert "bz2" in drawn_as and drawn_as.count(">lstm<") == 1


def test_a_comparison_without_a_figure_has_no_picture():
    record = comparison() | {"rows": comparison()["rows"][3:]}
    with pytest.raises(RunError, match="nothing to draw"):
        leaderboard(record)


def with_curve(names=("kneser-ney", "lstm", "markov"), unfinished=("lstm",)) -> dict:
    """A comparison with a curve against data: laws a + b / n, of which the last two cross."""
    rungs = []
    for place, name in enumerate(names):
        a, b = 2.0 - place / 10, 100.0 * (1 + place)
        sizes = [1000] if name in unfinished else [250, 500, 1000]
        points = [
            {"size": n, "value": a + b / n, "low": a + b / n - 0.1, "high": a + b / n + 0.1}
            | {"subsets": [a + b / n]}
            for n in sizes
        ]
        told = [
            {"times": times, "value": a + b / (1000 * times), "low": a, "high": a + 0.1 + b / 1000}
            for times in (2, 10)
        ]
        has = {} if name in unfinished else {"law": {"a": a, "b": b, "c": 1.0}, "predicted": told}
        rung = {"model": name, "points": points, "why": None, "law": None, "predicted": None}
        rungs.append(rung | has)
    ends = {"at": 1500.0, "low": 1200.0, "high": 1900.0, "sure": 0.9, "lead": True}
    words = f"from about 1,500 on {names[-1]} would be ahead of {names[0]}"
    crossing = {"first": names[0], "second": names[-1], **ends, "words": words}
    curve = {"sizes": [250, 500, 1000], "unit": "characters", "rungs": rungs}
    return comparison(names, unfinished) | {"curve": curve | {"crossings": [crossing]}}


def test_a_curve_against_data_has_points_laws_rings_and_hollow_marks():
    chart = data_curve(with_curve())
    measured = [row for row in chart.rows if row["kind"] == "measured"]
    beyond = [row for row in chart.rows if row["kind"] == "predicted"]
    assert [row["size"] for row in measured if row["model"] == "markov"] == [250, 500, 1000]
    assert {row["state"] for row in measured if row["model"] == "lstm"} == {"unfinished"}
    assert {row["model"] for row in beyond} == {"kneser-ney", "markov"}
    assert {round(row["size"]) for row in beyond} >= {1000, 2000, 10_000}
    assert "markov would be ahead of kneser-ney" in chart.says and "Hollow" in chart.says
    assert "all of the data" in json.dumps(chart.body)
    ring = next(row for row in everything(chart) if row.get("size") == 1500.0)
    assert ring["value"] == pytest.approx(1.8 + 300 / 1500)
    ends = {row["model"]: row["name_at"] for row in everything(chart) if "name_at" in row}
    assert len(ends) == 3 and "<svg" in chart.svg("dark", 390)


def everything(chart: Chart) -> list[dict]:
    """All rows that a picture draws."""
    return [row for view in chart.body["layer"] for row in chart.data_of(view)]


def test_lines_near_each_other_share_a_name():
    record = with_curve() | {
        "references": [{"name": "bz2", "value": 2.2}, {"name": "xz", "value": 2.205}]
    }
    assert '"xz, bz2"' in json.dumps(data_curve(record).body)


def test_names_of_lines_near_each_other_stand_above_each_other():
    near = [{"name": "bz2", "value": 2.05}, {"name": "xz", "value": 2.06}]
    record = comparison() | {"references": [*near, {"name": "far", "value": 2.2}]}
    chart = leaderboard(record | {"entropy_bits": None})
    heights = {
        chart.data_of(layer)[0]["words"]: layer["encoding"]["y"]["value"]
        for layer in chart.body["layer"]
        if "words" in chart.data_of(layer)[0] and layer["mark"]["type"] == "text"
    }
    assert heights == {"bz2": -6, "xz": -19, "far": -6}
    assert '"dy": -3' in json.dumps(quality(record).body)  # a name does not lie on its own line


def test_figures_are_named_as_in_tables_and_what_counts_has_no_null():
    record = comparison() | {"figure": "mase"}
    for row in record["rows"]:
        row["mase"], row["interval"] = row["bits"], {}
    for chart in (leaderboard(record), quality(record)):
        body = json.dumps(chart.body)
        assert "MASE (lower is better)" in body and "MASE on the test" in chart.says
        assert "none: it counts" in body and "updates:Q" not in body
        assert "learned" not in chart.rows[0] and chart.rows[0]["updates"] is None


def test_names_beside_marks_never_cover_each_other():
    names = [f"model-{i}" for i in range(12)]
    record = comparison(names)
    for row in record["rows"][:12]:
        row["seconds"], row["bits"] = 10.0, 2.0 + row["bits"] / 1000
    body = json.dumps(quality(record).body)
    heights = sorted({float(x) for x in re.findall(r'"name_at": ([0-9.e-]+)', body)})
    assert len(heights) == 12
    low, high = (
        float(x)
        for x in re.search(
            r'"domain": \[([0-9.e-]+), ([0-9.e-]+)\], "nice": false, "zero"', body
        ).groups()
    )
    assert np.diff(heights).min() >= 12.9 * (high - low) / 300


def test_a_learning_curve_shows_losses_rate_norm_and_clipping():
    chart = learning(course())
    assert chart.rows == course()["looks"]
    assert len(chart.body["vconcat"]) == 4 and "5 updates" in chart.says
    assert "2.1" in chart.says  # the best on validation


def test_a_figure_of_which_more_is_better_is_drawn_as_itself_and_the_training_loss_apart():
    record = course() | {"per": "span F1", "higher": True}
    chart = learning(record)
    assert len(chart.body["vconcat"]) == 5 and "higher is better" in chart.says
    assert f"{max(look['valid'] for look in record['looks']):.4g}" in chart.says
    assert all(row["kind"] == "validation" for row in chart.data_of(chart.body["vconcat"][0]))


def test_an_axis_of_shares_is_at_least_one_item_wide_and_hovers_name_the_figure():
    record = course() | {"per": "share of labels wrong", "least": 1 / 30}
    for look in record["looks"]:
        look["valid"], look["clipped"] = 7 / 30, 0
    chart = learning(record)
    first, clipped = chart.body["vconcat"][0], chart.body["vconcat"][-1]
    low, high = first["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert high - low == pytest.approx(1 / 30) and low < 7 / 30 < high
    assert clipped["encoding"]["y"]["scale"]["domain"] == [0, 1]
    assert {tip["title"] for tip in first["layer"][0]["encoding"]["tooltip"] if "title" in tip} == {
        "updates",
        "share of labels wrong",
    }
    assert len(first["layer"]) == 2  # no layer without rows: its axis would have no extent
    several = courses([record | {"model": name} for name in ("gru", "lstm")])
    low, high = several.body["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert high - low == pytest.approx(1 / 30) and "loss" not in json.dumps(several.body)


def test_before_the_first_update_no_training_loss_is_known(tmp_path):
    """It was drawn as zero."""
    look = {"event": "validation", "seconds": 1.0, "valid": 0.5, "train": 0.0, "gradient_norm": 0.0}
    events = [look | {"step": 0}, look | {"step": 5, "train": 0.7, "gradient_norm": 0.1}]
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(each) + "\n" for each in events))
    looks = learning_of(tmp_path)["looks"]
    assert [each["train"] for each in looks] == [None, 0.7] and looks[0]["gradient_norm"] is None
    assert learning(learning_of(tmp_path)).svg().startswith("<svg")


def test_courses_of_several_fits_have_a_line_each():
    chart = courses([course("gru"), course("lstm")])
    assert {row["model"] for row in chart.rows} == {"gru", "lstm"} and len(chart.rows) == 10


@pytest.mark.parametrize("name", HOSTILE)
def test_names_from_outside_are_values_and_nothing_else(name):
    record = comparison((name, "other")) | {"data": name}
    record["rows"][0]["course"] = predicted()
    curve = data_curve(with_curve((name, "b"), ()))
    charts = (leaderboard(record), quality(record), time_curve(record), curve)
    for chart in (*charts, courses([course(name), course("b")])):
        written = json.dumps(chart.specification(), ensure_ascii=False)
        written.encode()  # no halves of surrogate pairs
        meant = chart.title, chart.says
        body = [text for text in strings(chart.body) if text not in meant]
        assert not any(name[:20] in text for text in body)
        assert chart.svg().startswith("<svg") and "<script" not in chart.svg()


@pytest.mark.parametrize("format", FORMATS)
def test_every_ending_has_its_format(tmp_path, format):
    path = leaderboard(comparison()).save(tmp_path / f"x.{format}")
    begins = {"png": b"\x89PNG", "svg": b"<svg", "pdf": b"%PDF", "html": b"<!doctype", "json": b"{"}
    assert path.read_bytes().startswith(begins[format])
    if format == "json":
        assert "$schema" not in json.loads(path.read_text())


def test_an_unknown_ending_is_refused(tmp_path):
    with pytest.raises(RunError, match=r"png, svg, pdf, html, json"):
        leaderboard(comparison()).save(tmp_path / "x.jpeg")


def test_a_notebook_shows_an_svg_without_script_or_address():
    shown = leaderboard(comparison())._repr_mimebundle_()
    assert set(shown) == {"image/svg+xml", "text/plain"}
    addresses = set(re.findall(r"https?://[^\s\"'<]+", shown["image/svg+xml"]))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "<script" not in shown["image/svg+xml"]


def test_the_same_chart_is_drawn_the_same_twice():
    assert quality(comparison()).svg() == quality(comparison()).svg()


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", [390, 640, 1280])
def test_a_picture_is_as_wide_as_asked(theme, width):
    for chart in (leaderboard(comparison()), quality(comparison()), learning(course())):
        drawn_at = float(re.search(r'<svg [^>]*?width="([0-9.]+)"', chart.svg(theme, width))[1])
        assert width - 60 <= drawn_at <= width + 5
        assert THEMES[theme]["paper"] in chart.svg(theme, width)


def test_grids_have_as_many_columns_as_there_is_room_for():
    body = {"concat": [{"mark": "point", "width": 160}] * 8, "columns": 4}
    assert [fitted(body, width)["columns"] for width in (390, 640, 1280)] == [1, 3, 4]
    assert body["columns"] == 4  # the description itself is not touched


@given(st.lists(st.floats(0, 300), min_size=1, max_size=20))
def test_names_are_spread_and_keep_their_order(places):
    found = spread(places, 10, 0, 300)
    order = np.argsort(places, kind="stable")
    assert (np.diff(np.array(found)[order]) >= 10 - 1e-6).all()
    if all(b - a >= 10 for a, b in zip(sorted(places), sorted(places)[1:])):
        assert found == pytest.approx(places)  # nobody is moved without need


def test_ticks_of_a_logarithmic_axis_are_few_and_round():
    assert powers(0.5, 2) == [1.0] and powers(1e-9, 1e9)[0] >= 1e-9
    assert len(powers(1e-9, 1e9)) <= 12


# -- colours
def light(colour: str) -> np.ndarray:
    """A colour as amounts of light, 0 to 1."""
    values = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(first: str, second: str) -> float:
    """The contrast of the accessibility guidelines, 1 to 21."""
    a, b = (float(light(each) @ [0.2126, 0.7152, 0.0722]) + 0.05 for each in (first, second))
    return max(a, b) / min(a, b)


DEFICIENT = {  # Machado and others 2009, all of one kind of cones missing
    "none": np.eye(3),
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def lab(amounts: np.ndarray) -> np.ndarray:
    """Amounts of light as L*a*b*."""
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    xyz = (to_xyz @ np.clip(amounts, 0, 1)) / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("kind", DEFICIENT)
@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_of_names_are_told_apart_by_every_kind_of_eye(colours, kind):
    seen = [lab(np.array(DEFICIENT[kind]) @ light(each)) for each in colours["names"]]
    nearest = min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2))
    assert nearest > 10  # about 2.3 is just noticeable


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_letters_stand_out_from_their_ground(colours):
    for colour in (colours["ink"], colours["soft"], colours["accent"], *colours["names"]):
        assert contrast(colour, colours["paper"]) >= 4.5
    assert contrast(colours["over"], colours["heat"][-2]) >= 4.5


# -- which picture a record has
def test_a_model_in_memory_has_no_learning_curve_and_says_how_to_keep_one():
    model = seriatim.fit("language", "markov", "markov:length=2000", order=1)
    with pytest.raises(RunError, match=r"a model in memory.*out=FOLDER\) keeps how it learned"):
        seriatim.plot(model)


def test_records_know_their_pictures():
    assert list(pictures_of(comparison())) == ["leaderboard", "quality", "time-curve"]
    assert list(pictures_of(with_curve())) == ["leaderboard", "quality", "curve", "time-curve"]
    assert drawn(comparison()).what == "leaderboard"
    assert drawn(comparison(), "quality").what == "quality"
    with pytest.raises(Exception, match="no such picture"):
        drawn(comparison(), "qualty")
    assert isinstance(drawn(course()), Chart) and set(COMMON) == {
        "learning",
        "leaderboard",
        "quality",
        "curve",
        "time-curve",
    }


def test_parts_of_a_split_are_drawn_beside_each_other_by_names_that_differ():
    chart = seriatim.plot(seriatim.split("classify", "python-lines:lines=300"), what="audit")
    names = {row["file"] for row in chart.rows}
    assert len(names) == 3 and all(
        name.endswith(f"({n})") for n, name in enumerate(sorted(names), 1)
    )
