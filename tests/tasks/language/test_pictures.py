"""Pictures of language models show the figures of their records, whatever the symbols are called."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import seriatim
from seriatim.data.sequences import Sequences
from seriatim.errors import ConfigError, RunError
from seriatim.plotting import drawn, joined
from seriatim.show.attention import FAINT, attention, head, lines
from seriatim.show.tables import BITS
from seriatim.show.texts import boxed
from seriatim.show.units import units
from seriatim.show.weights import LEAST, MOST, cells_of, heat, symbol
from seriatim.tasks.language.gate_pictures import gates
from seriatim.tasks.language.pictures import (
    COLUMNS,
    FLOOR,
    LINES,
    frequency,
    gradient,
    impulse,
    influence,
    positions,
    surprisal,
)
from tests.drawn import data_in, sound

HOSTILE = ["<script>alert(1)</script>", "$x$", "\ud800", "a" * 300, "שלום", "datum.x'\"", ""]
SMALL = {"updates": 2, "width": 8, "length": 8, "rows": 2}

GERMAN = "Das Mädchen fährt mit dem großen Rad. Ein Mädchen fährt. 🐈 猫\n" * 6


def whole(chart) -> str:
    """The chart as SVG, checked for what must not be there."""
    svg = chart.svg()
    assert svg.startswith("<svg") and "<script" not in svg
    json.dumps(chart.record(), allow_nan=False)
    assert chart.rows and all(isinstance(row, dict) for row in chart.rows)
    return svg


# -- phrases over time
def phrases(names, smoothed, every="year", periods=("1843", "1844", "1845", "1846"), smooth=1):
    return {
        "data": "news.csv",
        "every": every,
        "unit": "word",
        "smooth": smooth,
        "periods": list(periods),
        "tokens": [100] * len(periods),
        "phrases": [
            {
                "phrase": name,
                "count": 3,
                "counts": [None if value is None else 1 for value in values],
                "frequency": values,
                "smoothed": values,
            }
            for name, values in zip(names, smoothed)
        ],
    }


def test_phrases_are_lines_with_gaps_and_names_that_keep_apart():
    record = phrases(["steam", "sail"], [[1.0, 2.0, None, 4.0], [1.0, 2.0, None, 4.1]])
    chart = frequency(record)
    whole(chart)
    assert [row["drawn"] for row in chart.rows if row["phrase"] == "steam"] == [1.0, 2.0, 4.0]
    rows = [row for row in data_in(chart) if row["name"] == "steam" and "name_at" not in row]
    assert {(row["period"], row["part"], row["alone"]) for row in rows} == {
        ("1843", 0, False),
        ("1844", 0, False),
        ("1846", 1, True),
    }
    ends = {row["name"]: row["name_at"] for row in data_in(chart) if "name_at" in row}
    assert abs(ends["sail"] - ends["steam"]) >= 13 * 1.06 * 4.1 / 300 - 1e-9
    assert "mean of 3 years" in chart.says
    assert "mean" not in frequency(record | {"smooth": 0}).says


@pytest.mark.parametrize(
    "every, periods",
    [("year", ["1843"]), ("month", ["1900-01", "1900-03"]), ("day", ["2024-01-01", "2024-03-05"])],
)
def test_phrases_of_every_kind_of_period(every, periods):
    record = phrases(HOSTILE, [[0.0] * len(periods)] * len(HOSTILE), every, periods)
    svg = whole(frequency(record))
    assert "$x$" in svg and "a" * 30 not in svg


def test_phrases_without_any_text_are_refused():
    with pytest.raises(RunError, match="nothing to draw"):
        frequency(phrases(["steam"], [[None] * 4]))


# -- by distance
def run(model, values, radii=(), factor=0.5, by_layer=(0.5, 1.0)):
    return {
        "run": f"runs/{model}",
        "model": model,
        "unit": "character",
        "distances": list(range(1, len(values) + 1)),
        "values": values,
        "radii": [{"layer": 0, "matrix": "recurrent", "radius": each} for each in radii],
        "factor": factor,
        "by_layer": list(by_layer),
    }


def test_the_gradient_over_depth_stands_below_where_there_are_several_layers():
    deep, flat = run("rnn", [1.0, 0.5], by_layer=[1e-3, 0.1, 1.0]), run("lstm", [1.0, 0.9])
    chart = gradient({"runs": [deep, flat]})
    assert "layer (0: embedding)" in whole(sound(chart))
    seen = [(row["model"], row["layer"]) for row in chart.rows if "layer" in row]
    assert seen == [("rnn", 0), ("rnn", 1), ("rnn", 2), ("lstm", 0), ("lstm", 1)]
    assert "vconcat" not in gradient({"runs": [flat]}).body


def test_gradients_of_several_runs_are_in_one_picture_with_factor_and_radius():
    record = {"runs": [run("rnn", [1.0, 0.5, 1e-19], [1.62]), run("lstm", [1.0, 0.9, 0.8], [1, 2])]}
    chart = gradient(record)
    svg = whole(chart)
    assert "×0.50, radius 1.62" in svg and "radius 2" not in svg and "characters back" in svg
    seen = [row["norm of d loss / d x"] for row in chart.rows]
    assert seen == [1.0, 0.5, 1e-19, 1.0, 0.9, 0.8]


def test_runs_of_the_same_model_are_told_apart_and_hostile_names_are_names():
    record = {"runs": [run(name, [1.0, 0.5], factor=None) for name in (*HOSTILE, "rnn", "rnn")]}
    record["runs"][-1]["run"] = "runs/second"
    svg = whole(gradient(record))
    assert "second" in svg


def test_influence_ends_where_nothing_is_left():
    record = {
        "runs": [run("kneser-ney", [2.0, 1.0, 0.0, 0.0]), run("lstm", [1.0, None, 0.1, FLOOR / 10])]
    }
    chart = influence(record)
    svg = whole(chart)
    assert "nothing beyond 2" in svg
    told = {row["name"]: row["told"] for row in data_in(chart) if "name_at" in row}
    assert told == {"kneser-ney": "nothing beyond 2", "lstm": ""}
    rows = [row for row in data_in(chart) if "name_at" not in row]
    assert [row["x"] for row in rows if row["name"] == "kneser-ney"] == [1, 2]
    assert [(row["x"], row["part"]) for row in rows if row["name"] == "lstm"] == [(1, 0), (3, 1)]
    assert len(chart.rows) == 8  # the table has them all
    with pytest.raises(RunError, match="nothing to draw"):
        influence({"runs": [run("uniform", [0.0, 0.0])]})


@pytest.mark.parametrize("kind", ["rotary", "sinusoidal", "learned", "concatenated"])
def test_positions_are_a_map_with_a_cell_for_each_feature(kind):
    vectors = [[0.0, 1.0, 0.5], [-1.0, 0.25, 0.125]]
    chart = positions({"model": "transformer", "positions": kind, "vectors": vectors})
    assert f"{kind} positions" in whole(sound(chart))
    assert [row["value"] for row in chart.rows] == [*vectors[0], *vectors[1]]
    assert [(row["position"], row["feature"]) for row in chart.rows[2:4]] == [(0, 3), (1, 1)]


def test_of_many_positions_the_first_are_drawn():
    vectors = np.zeros((100, 200)).tolist()
    chart = positions({"model": "transformer", "positions": "rotary", "vectors": vectors})
    assert len(chart.rows) == MOST and "first 25 of 100" in chart.says


# -- attention
def attended(tokens, heads=2):
    rng = np.random.default_rng(0)
    maps = []
    for place in range(2 * heads):
        weights = np.tril(rng.dirichlet(np.ones(len(tokens)), len(tokens)))
        weights /= weights.sum(1, keepdims=True)
        maps.append(
            {
                "layer": place // heads,
                "head": place % heads,
                "distance": 1.0,
                "entropy_bits": 1.0,
                "weights": weights.tolist(),
            }
        )
    return {"model": "transformer", "unit": "subword", "tokens": tokens, "maps": maps}


def test_the_overview_has_a_map_for_each_head_with_the_weights_of_the_record():
    record = attended(["<s>", " fährt", " ", "\n"])
    chart = attention(record)
    svg = whole(chart)
    assert all(f"layer {a}, head {b}" in svg for a in (1, 2) for b in (1, 2))
    for place, view in enumerate(chart.body["concat"]):
        weights = record["maps"][place]["weights"]
        for cell in chart.data_of(view):
            assert cell["weight"] == pytest.approx(weights[cell["row"]][cell["column"]], abs=1e-4)
            assert cell["attends"] == ["<s>", "·fährt", "␣", "⏎"][cell["row"]]


def test_large_maps_are_cut_and_that_is_said():
    tokens = [str(i) for i in range(120)]
    record = attended(tokens)
    for each in record["maps"]:
        each["weights"] = [[0.03] * 120] * 120
    assert len(cells_of(record["maps"][0]["weights"], tokens, tokens)) == MOST
    chart = attention(record)
    assert "2,500 largest" in chart.says and len(chart.rows) == 4 * 2_500


@pytest.mark.parametrize("draw", [head, lines])
def test_one_head_names_its_rows_and_columns(draw):
    record = attended(["<s>", *HOSTILE, "twice", "twice"])
    chart = draw(record)
    svg = whole(chart)
    assert "layer 1, head 1" in chart.title and "3 more" in chart.says
    assert svg.count(">twice<") == 4 and "$x$" in svg
    least = LEAST if draw is head else FAINT
    weights = np.array(record["maps"][0]["weights"])
    assert len(chart.rows) == (weights >= least).sum()
    assert sorted(row["weight"] for row in chart.rows) == pytest.approx(
        sorted(weights[weights >= least]), abs=1e-4
    )
    assert "There are" not in draw(record | {"maps": record["maps"][1:2]}).says


def test_few_cells_have_figures_and_one_symbol_is_enough():
    _, rows = heat([[1.0]], ["a"], ["b"])
    assert rows[0] == {"attends": "a", "attended to": "b", "weight": 1.0, "hundredths": "100"}
    assert symbol("\u202e\n x") == "·⏎·x"


def test_the_layer_and_the_head_are_chosen_by_the_verb():
    data = Sequences.of(["the cat sat on the mat and the cat slept"] * 5, "stream")
    model = seriatim.fit("language", "transformer", data, heads=2, layers=2, **SMALL)
    every = model.attention(["the cat"])
    assert len(every["maps"]) == 4
    one = model.attention(["the cat"], layer=2, head=1)
    assert one["maps"] == [every["maps"][2]]
    assert [each["layer"] for each in model.attention(["the cat"], layer=1)["maps"]] == [0, 0]
    assert [each["head"] for each in model.attention(["the cat"], head=2)["maps"]] == [1, 1]
    with pytest.raises(ConfigError, match="2 layers of 2 heads"):
        model.attention(["the cat"], layer=3)
    assert {drawn(one, what).title for what in ("head", "lines")} == {
        "transformer: layer 2, head 1"
    }


# -- surprisal
def surprising(symbols, unit="character", by="stream", bits=1.5):
    tokens = [
        {"symbol": each, "bits": bits, "side_bits": 0.5, "unknown": False} for each in symbols
    ]
    return {
        "model": "markov",
        "unit": unit,
        "by": by,
        "bits_per_character": bits,
        "bits": None if bits is None else bits * len(tokens),
        "side_bits": 0.5 * len(tokens),
        "impossible": 0 if bits is not None else len(tokens),
        "tokens": tokens,
    }


def letters_of(chart) -> list[str]:
    """The text that is drawn, line by line, without the meaning of its grounds."""
    boxes = [row for row in data_in(chart) if "place" in row]
    return [
        "".join(
            each["letter"]
            for each in sorted(
                (box for box in boxes if box["line"] == line), key=lambda box: box["column"]
            )
        )
        for line in range(max(box["line"] for box in boxes) + 1)
    ]


def test_the_text_is_drawn_as_it_is_and_broken_at_blanks():
    text = "the quick brown fox jumps over the lazy dog and runs away, then\nit sleeps"
    chart = surprisal(surprising(text))
    whole(chart)
    assert letters_of(chart) == [text[:59], "then⏎", "it sleeps"]
    assert "".join(letters_of(surprisal(surprising("x" * 150)))) == "x" * 150
    words = surprisal(surprising(["big"] * 40, "word"))
    boxes = [row for row in data_in(words) if "place" in row]
    assert max(box["column"] for box in boxes) < COLUMNS and boxes[3]["column"] == 4


def test_the_bits_of_the_table_add_up_to_those_of_the_title():
    record = surprising("ab" * 4_000)
    chart = surprisal(record)
    assert sum(row["bits"] for row in chart.rows) == pytest.approx(record["bits"])
    assert sum(row["side bits"] for row in chart.rows) == pytest.approx(record["side_bits"])
    assert "12,000.0 bits for 8,000 symbols" in chart.title
    assert f"first {COLUMNS * LINES:,} of 8,000" in chart.says
    assert len(chart.rows) == MOST + 1


def test_grounds_follow_the_bits_and_the_impossible_has_the_strongest():
    record = surprising("abc")
    for row, bits in zip(record["tokens"], (0.1, 5.0, None)):
        row["bits"] = bits
    chart = surprisal(record | {"bits": None, "bits_per_character": None, "impossible": 1})
    whole(chart)
    grounds = [row["ground"] for row in data_in(chart) if "place" in row]
    assert grounds[:2] == [0.1, 5.0] and grounds[2] > BITS[-1]
    assert "impossible" in chart.title and "probability 0" in chart.says
    told = "".join(row["letter"] for row in data_in(chart) if "place" not in row)
    assert told == " 0–0.5  0.5–1  1–2  2–4  4–8  8–16  16 or more bits "


@pytest.mark.parametrize("by, unit", [("line", "token"), ("stream", "character")])
def test_hostile_symbols_are_drawn_as_text(by, unit):
    record = surprising([*HOSTILE, "</s>"], unit, by)
    chart = surprisal(record)
    whole(chart)
    assert letters_of(chart)[-1].endswith("⏎" if by == "line" else "</s>")
    assert len(chart.rows) == len(HOSTILE) + 1
    assert boxed("中e\u0301") == [("中", 2), ("e\u0301", 1)]


# -- gates and units
def gated(symbols, layers=1, unit="character"):
    """A record of gates with a value of its own in each place."""
    rng = np.random.default_rng(0)
    items = []
    for layer in range(1, layers + 1):
        for gate in ("reset", "update"):
            series = {key: rng.random(len(symbols)).tolist() for key in ("mean", "closed", "open")}
            whole = {key: float(np.mean(each)) for key, each in series.items()}
            items.append({"layer": layer, "gate": gate, "units": 4, **whole, "by_symbol": series})
    return {"model": "gru", "cell": "gru", "unit": unit, "symbols": symbols, "items": items}


@pytest.mark.parametrize("layers", [1, 2])
def test_each_gate_is_a_row_below_the_text_with_the_means_of_the_record(layers):
    record = gated(list("so much\ndepends"), layers)
    chart = gates(record)
    svg = whole(sound(chart))
    rows = [row for row in data_in(chart) if "gate" in row]
    assert len(rows) == len(record["symbols"]) * 2 * layers == len(chart.rows)
    names = [f"{each['layer']} " * (layers > 1) + each["gate"] for each in record["items"]]
    for place, each in enumerate(record["items"]):
        told = sorted((r for r in rows if r["gate"] == names[place]), key=lambda r: r["place"])
        assert {row["line"] for row in told} == {place + 1}
        for key in ("mean", "closed", "open"):
            assert [row[key] for row in told] == pytest.approx(each["by_symbol"][key], abs=1e-4)
    assert all(f">{name}<" in svg for name in names)
    letters = [row for row in data_in(chart) if "letter" in row and "place" in row]
    assert "".join(row["letter"] for row in letters) == "so much⏎depends"
    assert chart.rows[0]["mean"] == record["items"][0]["by_symbol"]["mean"][0]


def test_of_a_long_text_the_first_lines_have_gates():
    chart = gates(gated(["x"] * 2_000))
    assert f"first {COLUMNS * (LINES // 4):,} of 2,000" in chart.says
    assert "half" not in whole(gates(gated(HOSTILE, unit="token")))


def followed(symbols, marker="line", unit="character", halves=True):
    """A record of two units."""
    rng = np.random.default_rng(1)
    items = [
        {
            "layer": 1,
            "unit": number,
            "correlation": found if marker else None,
            "mean": 0.0,
            "deviation": 0.5,
            "values": rng.uniform(-0.8, 0.8, len(symbols)).tolist(),
        }
        for number, found in ((7, 0.75), (3, None))
    ]
    half = {"layer": 1, "unit": 7, "first": 0.8, "second": -0.25, "symbols": [3, 4]}
    return {
        "model": "lstm",
        "unit": unit,
        "symbols": symbols,
        "marker": marker,
        "marked": [float(i % 3) for i in range(len(symbols))] if marker else None,
        "searched": 64,
        "halves": half if marker and halves else None,
        "items": items,
    }


def test_each_unit_colours_the_text_by_what_it_says():
    record = followed(list("so much"))
    chart = units(record)
    svg = whole(sound(chart))
    largest = max(abs(value) for each in record["items"] for value in each["values"])
    for heading, series, top in (
        ("the marker: place in the line", record["marked"], 2.0),
        ("layer 1, unit 7: r = +0.75", record["items"][0]["values"], largest),
        ("layer 1, unit 3: always the same", record["items"][1]["values"], largest),
    ):
        assert heading in svg
        rows = [row for row in data_in(chart) if row.get("block") == heading]
        rows.sort(key=lambda row: row["place"])
        assert [row["value"] for row in rows] == pytest.approx(series, abs=1e-4)
        assert [row["share"] for row in rows] == pytest.approx(
            [value / top for value in series], abs=1e-3
        )
        assert "".join(row["letter"] for row in rows) == "so much"
    assert "of 64 units" in chart.says and "+0.80" in chart.says and "-0.25" in chart.says
    assert [row["value"] for row in chart.rows[:7]] == record["items"][0]["values"]
    assert chart.rows[2]["marker"] == 2.0


def test_units_without_a_marker_are_told_by_how_much_they_change():
    chart = units(followed(list("so much"), marker=""))
    assert "layer 1, unit 7: deviation 0.50" in whole(sound(chart))
    assert "those that change most" in chart.says and "r:" not in chart.says
    assert "luck cannot be told" in units(followed(list("so"), halves=False)).says
    long = units(followed(["y"] * 9_000))
    assert f"first {22 * COLUMNS:,} of 9,000" in long.says  # 72 lines for three blocks
    whole(units(followed(HOSTILE, unit="word")))


# -- a push
def pushed(activation="linear"):
    """A record of two radii, one of which is too large in the end and one nothing."""
    items = [
        {"radius": 0.5, "norms": [1.0, 0.5, 0.0], "powers": [1.0, 0.5, 0.25], "factor": 0.5},
        {"radius": 2.0, "norms": [1.0, 3.0, None], "powers": [1.0, 2.0, 4.0], "factor": None},
    ]
    if activation != "linear":
        items = [each | {"powers": None} for each in items]
    return {"activation": activation, "width": 3, "steps": 2, "items": items}


def test_a_push_is_a_line_for_each_radius_beside_its_powers():
    chart = impulse(pushed())
    svg = whole(sound(chart))
    assert "radius 0.5" in svg and "radius 2" in svg and "Dashed" in chart.says
    rows = [row for row in data_in(chart) if "kind" in row and "name_at" not in row]
    for kind, radius, expected in (
        ("what is left", 0.5, [(0, 1.0), (1, 0.5)]),
        ("what is left", 2.0, [(0, 1.0), (1, 3.0)]),
        ("power of the radius", 0.5, [(0, 1.0), (1, 0.5), (2, 0.25)]),
        ("power of the radius", 2.0, [(0, 1.0), (1, 2.0), (2, 4.0)]),
    ):
        some = [row for row in rows if row["kind"] == kind and row["radius"] == radius]
        assert [(row["x"], row["value"]) for row in some] == expected
    through = impulse(pushed("tanh"))
    assert "tanh" in through.says and "Dashed" not in through.says
    assert len(through.rows) == 4
    with pytest.raises(RunError, match="nothing to draw"):
        impulse({"steps": 1, "items": [{"radius": 1.0, "norms": [0.0], "powers": None}]})


# -- pieces are text
@pytest.mark.parametrize("unit", ["subword", "byte"])
def test_records_and_pictures_have_pieces_as_the_text_they_stand_for(unit):
    data = Sequences.of([GERMAN], "stream", unit)
    options = {"vocabulary": 300} if unit == "subword" else {}
    model = seriatim.fit(
        "language", "transformer", data, unit=unit, heads=2, layers=1, **options, **SMALL
    )
    text = "Mädchen fährt 🐈"
    tokens = model.attention([text])["tokens"]
    bits = [row["symbol"] for row in model.surprisal([text])["tokens"]]
    following = [each["symbol"] for each in model.predict([text], top=400)["items"][0]["next"]]
    for symbols in (tokens[1:], bits):
        assert as_bytes(symbols) == text.encode()
    assert not any(mark in each for each in (*tokens, *bits, *following) for mark in "ĠĊÃ")
    assert "⟨C3⟩" in following
    counts = seriatim.fit("language", "kneser-ney", data, unit=unit, order=2, **options)
    rows = counts.ngrams("Mädchen*", top=300)["rows"]
    assert not any("Ġ" in name for row in rows for name in row["orders"][0]["ngram"])
    assert "⟨C3⟩" in [row["symbol"] for row in rows]
    if unit == "subword":
        assert " Mädchen" in following and " fährt" in following
        assert "·fährt" in drawn(model.attention([text]), "lines").svg()


def as_bytes(symbols) -> bytes:
    """What shown pieces stand for."""
    found = b""
    for part in "".join(symbols).replace("⟩", "⟨").split("⟨"):
        hexadecimal = len(part) == 2 and part == part.upper() and part.isalnum()
        found += bytes.fromhex(part) if hexadecimal else part.encode()
    return found


def test_real_records_are_drawn(tmp_path):
    data = Sequences.of(["the cat sat on the mat and the dog slept under the tree " * 5], "stream")
    runs = [seriatim.fit("language", name, data, **SMALL) for name in ("rnn", "lstm")]
    for what in ("gradient", "influence"):
        record = joined([getattr(each, what)(data) for each in runs])
        chart = drawn(record, what)
        whole(chart)
        assert [chart.rows[0]["model"], chart.rows[-1]["model"]] == ["rnn", "lstm"]
        measured = [value for each in record["runs"] for value in each["values"]]
        assert [list(row.values())[2] for row in chart.rows] == measured
    record = runs[0].surprisal(["the cat"])
    assert math.isclose(sum(row["bits"] for row in drawn(record).rows), record["bits"])
