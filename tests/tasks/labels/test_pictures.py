"""Tables and pictures of labels show the figures of their records, whatever the names and however many labels."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from rich.console import Console

import seriatim
from seriatim.errors import RunError
from seriatim.measuring.resampling import wilson
from seriatim.tasks.labels.metrics import calibration, precision_curve, report
from seriatim.tasks.labels.pictures import confusion, explanation, precision, reliability
from seriatim.tasks.labels.tables import label_figures
from tests.drawn import HOSTILE, data_in, sound, texts_in
from tests.labels import messages, sentences


def labelled(names, seed: int = 0) -> dict:
    """Each label truly occurs in proportion to its place from the end, and one in five is taken for the next."""
    generator = np.random.default_rng(seed)
    truth = np.repeat(np.arange(len(names)), 5 * np.arange(len(names), 0, -1))
    return report(truth, (truth + (generator.random(len(truth)) < 0.2)) % len(names), names)


def shown(record: dict, width: int = 80) -> str:
    console = Console(width=width, file=io.StringIO())
    console.print(label_figures(record))
    return console.file.getvalue()


def test_a_table_shows_headline_labels_and_matrix():
    floor = {"majority": 0.75, "majority_label": "ham"}
    text = shown(report(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]), ["ham", "spam"]) | floor)
    assert re.search(
        r"accuracy +0\.7500 +\(95 % interval 0\.3006 to 0\.9544\)", text
    ) and re.search(r"majority +0\.7500 +\(of always saying ham", text)
    assert re.search(r"balanced accuracy +0\.8333", text)
    assert re.search(
        r"macro F1 +0\.7333 +\(precision 0\.7500, recall 0\.8333\)", text
    ) and re.search(r"Matthews +0\.5774", text)
    assert re.search(r"spam +0\.5000 +1\.0000 +0\.6667 +█+ +1\n", text)
    assert re.search(r"true \\ found +ham spam\nham +2 +1\s+spam +· +1", text)


def test_many_labels_show_the_ten_most_frequent_confusions_instead():
    record = labelled([f"label-{i}" for i in range(13)])
    lines = shown(record).splitlines()
    rows = lines[1 + next(place for place, line in enumerate(lines) if "of the true" in line) :]
    mistakes = sorted(
        (
            count
            for k, counts in enumerate(record["confusion"])
            for j, count in enumerate(counts)
            if j != k
        ),
        reverse=True,
    )
    assert [int(row.split()[2]) for row in rows] == mistakes[:10]
    true, found, times, share, _ = rows[0].split()
    support = next(each["support"] for each in record["classes"] if each["name"] == true)
    assert int(found.split("-")[1]) == int(true.split("-")[1]) + 1 and float(
        share
    ) == pytest.approx(100 * int(times) / support, abs=0.05)


@pytest.mark.parametrize(
    "names",
    [
        ["[bold]a[/nothing]", "b\nc"],
        [f"a very long name of a label, number {i}" for i in range(12)],
    ],
)
def test_no_name_breaks_a_table_and_no_column_is_lost(names):
    record = labelled(names)
    matrix = shown(record).split("true \\ found")[1].splitlines()[1:]
    assert [
        [0 if cell == "·" else int(cell) for cell in row.split()[-len(names) :]] for row in matrix
    ] == record["confusion"]


def calibrated(log_probs, truth) -> dict:
    found = calibration(np.array(log_probs), np.array(truth))
    return {"log_loss": found.pop("log_loss"), "calibration": found}


PNG = b"\x89PNG"


@pytest.mark.parametrize("what", ["confusion", "reliability", "precision"])
def test_an_evaluation_is_drawn_and_another_ending_is_refused_before_anything_is_written(
    tmp_path, what
):
    model = seriatim.fit("classify", "naive-bayes", messages(60))
    data, asked = messages(40, seed=1), {"positive": "spam"} if what == "precision" else {}
    chart = seriatim.plot(model, data, what=what, out=tmp_path / "a.png", **asked)
    assert (tmp_path / "a.png").read_bytes().startswith(PNG)
    assert chart.what == what and chart.written == str(tmp_path / "a.png")
    again = seriatim.evaluate(model, data, **asked).plot(what)
    assert again.body == chart.body and again.rows == chart.rows
    with pytest.raises(RunError, match="png, svg, pdf, html, json"):
        seriatim.plot(model, data, what=what, out=tmp_path / "a.jpeg", **asked)
    assert [each.name for each in tmp_path.iterdir()] == ["a.png"]


def test_every_count_but_zero_stands_in_its_cell():
    record = labelled(["one", "two", "three"])
    chart = sound(confusion(record))
    names = [each["name"] for each in record["classes"]]
    told = {(row["true"], row["found"]): (row["count"], row["share"]) for row in chart.rows}
    for i, true in enumerate(names):
        for j, found in enumerate(names):
            count = record["confusion"][i][j]
            if count:
                share = count / record["classes"][i]["support"]
                assert told.pop((true, found)) == (count, pytest.approx(share))
    assert not told
    right = {(row["true"], row["found"]) for row in data_in(chart) if row.get("right")}
    assert right == {(name, name) for name in names}
    words = texts_in(chart.svg())
    assert {"one", "two", "three", "found", "true"} <= set(words)
    assert f"{100 * record['accuracy']:.1f} % of {record['labels']:,} are right" in chart.says


def test_of_very_many_labels_the_most_frequent_are_drawn():
    chart = confusion(labelled([f"label-{i}" for i in range(64)]))
    assert {row["true"] for row in data_in(chart)} == {f"label-{i}" for i in range(60)}
    assert "The 60 most frequent of 64 labels" in chart.says and len(data_in(chart)) == 3600


def test_names_are_values_and_two_that_look_alike_stay_two():
    chart = sound(confusion(labelled([*HOSTILE, "x" * 40 + "1", "x" * 40 + "2"])))
    names = {row["true"] for row in data_in(chart)}
    assert len(names) == len(HOSTILE) + 2 and {"$x$", "x" * 23 + "…", "x" * 23 + "… (2)"} <= names


def test_a_reliability_diagram_tells_bins_with_their_intervals():
    record = calibrated(np.log([[0.9, 0.1], [0.4, 0.6]]), [0, 0])
    chart = sound(reliability(record))
    bins = [each for each in record["calibration"]["bins"] if each["count"]]
    assert [(row["confidence"], row["right"], row["labels"]) for row in chart.rows] == [
        (each["confidence"], each["accuracy"], each["count"]) for each in bins
    ]
    for row in chart.rows:
        low, high = wilson(round(row["right"] * row["labels"]), row["labels"])
        assert (row["low"], row["high"]) == (low, high)
        assert row["from"] <= row["confidence"] <= row["to"]
    assert "Calibration error 0.3500, log loss 0.5108, Brier 0.3700" in chart.says
    assert "log loss infinite" in reliability(calibrated([[0.0, -np.inf]], [1])).says


def test_the_curve_of_a_record_is_that_of_scikit_learn():
    from sklearn.metrics import average_precision_score, precision_recall_curve

    model = seriatim.fit("classify", "naive-bayes", two_labels(80))
    data = two_labels(60, seed=1)
    found = model.evaluate(data)["curve"]
    measured = model.measure(data)
    positive = measured["names"].index(found["positive"])
    scores, truth = np.exp(measured["log_probs"][:, positive]), measured["truth"] == positive
    precision, recall, thresholds = precision_recall_curve(truth, scores)
    told = {each["threshold"]: (each["precision"], each["recall"]) for each in found["points"]}
    expected = dict(zip(thresholds.tolist(), zip(precision.tolist(), recall.tolist())))
    assert len(told) == len(set(scores.tolist()))
    for threshold, values in told.items():
        assert values == pytest.approx(expected[threshold])
    average = average_precision_score(truth, scores)
    assert found["average_precision"] == pytest.approx(average)
    assert found["share"] == truth.mean() and found["positive"] != model.commonest


def test_a_long_curve_is_told_by_some_of_its_points():
    generator = np.random.default_rng(0)
    positive = generator.random(5000) < 0.1
    scores = generator.normal(size=5000) + 2 * positive
    some, all_points = precision_curve(scores, positive), precision_curve(scores, positive, 10**6)
    assert len(all_points) == 5000 and 100 < len(some) <= 200
    assert some[0] == all_points[0] and some[-1] == all_points[-1]
    assert all(each in all_points for each in some)
    steps = np.abs(np.diff([[*each.values()] for each in some], axis=0)).sum(1)
    assert steps.max() < 1.2  # no part of the curve is passed over but its first jumps


def test_precision_is_drawn_with_the_threshold_that_is_chosen():
    model = seriatim.fit("classify", "naive-bayes", two_labels(80))
    data = two_labels(60, seed=1)
    plain = model.evaluate(data)
    chart = sound(precision(plain))
    assert chart.rows == plain["curve"]["points"]
    assert f"recall of '{plain['curve']['positive']}' if" in chart.says
    assert chart.title.endswith(f"threshold of '{plain['curve']['positive']}'")
    assert "Marked: from 0.5 on" in chart.says and "average precision" in chart.says
    chosen = model.evaluate(data, positive="spam", most_false=0.2)
    chart = sound(precision(chosen))
    assert f"from {chosen['threshold']['threshold']:.3g} on" in chart.says
    marked = [row for row in data_in(chart) if "false" in row and "words" not in row]
    assert marked == [{k: v for k, v in chosen["threshold"].items()}]


def test_precision_needs_a_label_with_a_threshold():
    model = seriatim.fit("classify", "naive-bayes", messages(60))
    record = model.evaluate(messages(40, seed=1))
    assert record["curve"] is None
    with pytest.raises(RunError, match=r"positive="):
        precision(record)
    alike = seriatim.fit("classify", "naive-bayes", two_labels(80))
    assert alike.evaluate(only(two_labels(60, seed=1), "ham"))["curve"] is None


def test_an_explanation_is_drawn_symbol_by_symbol():
    model = seriatim.fit("classify", "naive-bayes", messages(60))
    record = seriatim.call("explain", model, "free cash and tea free")
    chart = sound(record.plot())
    told = [(row["symbol"], row["adds"]) for row in chart.rows]
    symbols = [(each["symbol"], each["contribution"]) for each in record["symbols"]]
    assert told == [("before any symbol", record["before"]), *symbols]
    drawn = [row for row in data_in(chart) if "side" in row]
    assert [row["side"] for row in drawn[1:]] == [
        "for" if weight >= 0 else "against" for _, weight in symbols
    ]
    assert f"why '{record['label']}'?" in chart.title and "exactly" in chart.says


def test_of_a_long_text_the_symbols_that_weigh_most_are_drawn_in_their_order():
    weights = np.linspace(-1, 1, 101)
    chart = sound(explanation(explained([(f"w{i}", weights[i]) for i in range(101)])))
    heavy = sorted(range(101), key=lambda i: -abs(weights[i]))[:40]
    assert [row["symbol"] for row in chart.rows[1:]] == [f"w{i}" for i in sorted(heavy)]
    assert "The 40 of 101 symbols that weigh most" in chart.says


@pytest.mark.parametrize("weights", [[0.0], [1e-9], [-3.0], [1e6, -1e6], [2.0, 1.0]])
def test_bars_figures_and_names_have_room(weights):
    chart = sound(explanation(explained([(f"word{i}", w) for i, w in enumerate(weights)], gap=0.5)))
    assert "gap of +0.50" in chart.says


def test_blanks_and_strange_symbols_are_seen():
    chart = sound(explanation(explained([(name, 0.5) for name in [" ", "\n", *HOSTILE]])))
    assert [row["symbol"] for row in chart.rows[1:4]] == ["␣", "⏎", "<script>alert(1)</s…"]


def test_names_of_tags_are_turned_where_they_would_run_together():
    """Seven tags had B-LOCB-ORGB-PER above their columns, and were called labels below."""
    tags = ["O", *(f"{where}-{kind}" for where in "BI" for kind in ("LOC", "ORG", "PER"))]

    def angle(names) -> int:
        """How far the names above the columns are turned."""
        body = str(confusion(labelled(names)).body)
        return int(re.findall(r"'labelAngle': (-?\d+)", body)[0])

    assert (angle(tags), angle(["ham", "spam"]), angle("abcdefg")) == (-90, 0, 0)
    model = seriatim.fit("tag", "most-frequent", sentences(20))
    said = confusion(model.evaluate(sentences(20))).says
    assert "each true tag (rows) was found to be each tag" in said and "label" not in said


def explained(symbols, gap: float = 0.0) -> dict:
    """The record of an explanation."""
    rows = [{"symbol": name, "contribution": float(weight)} for name, weight in symbols]
    return {
        "kind": "explanation",
        "model": "linear",
        "label": "<b>",
        "method": "exact",
        "probability": 0.9,
        "logit": 1.0,
        "before": -0.1,
        "symbols": rows,
        "end": None,
        "gap": gap,
    }


def two_labels(many: int, seed: int = 0):
    """Messages of two labels, which share words."""
    return only(messages(2 * many, seed=seed), "ham", "spam")


def only(data, *labels: str):
    """The sequences that have one of these labels."""
    return data[[s for s in range(len(data)) if data[s]["label"][0] in labels]]


def test_the_same_record_gives_the_same_picture():
    assert confusion(labelled("abc")).svg() == confusion(labelled("abc")).svg()
