"""Values that are vectors: K numbers for each sequence, of every rung, in files and in memory."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import seriatim as st
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import DataError
from seriatim.fitting import fit_events
from seriatim.tasks import task
from seriatim.tasks.labels.pictures import scatter
from seriatim.tasks.regress.metrics import scaled_errors, vector_report
from tests.terminal import good

QUICK = {"width": 16, "rate": 2e-2, "dropout": 0.0, "threads": 1}


def doubles(count: int, seed: int = 0) -> tuple[list[np.ndarray], list[list[float]]]:
    """Sequences of numbers; their mean and, a thousand times as large, their first number."""
    dice = np.random.default_rng(seed)
    rows = [dice.normal(dice.normal(), 0.3, dice.integers(3, 9)) for _ in range(count)]
    return rows, [[float(row.mean()), 1000 * float(row[0])] for row in rows]


def words(count: int, seed: int = 0) -> tuple[list[str], list[list[float]]]:
    """Texts; how often each of two words stands there."""
    dice = np.random.default_rng(seed)
    rows = [
        dice.choice(["good", "bad", "plain"], dice.integers(1, 7)).tolist() for _ in range(count)
    ]
    return [" ".join(row) for row in rows], [
        [row.count("good"), 10.0 * row.count("bad")] for row in rows
    ]


def lines(path: Path, rows, values) -> Path:
    """As JSON lines."""
    with path.open("w") as file:
        for row, value in zip(rows, values):
            given = {"text": row} if isinstance(row, str) else {"values": row.tolist()}
            file.write(json.dumps({"value": value} | given) + "\n")
    return path


@pytest.mark.parametrize("kind", [doubles, words])
@pytest.mark.parametrize(
    ("spec", "settings", "least"),
    [
        ("average", {}, -0.1),
        ("linear", {}, 0.5),
        ("gru", QUICK | {"updates": 60}, 0.5),
        ("linear+mean", QUICK | {"updates": 30}, 0.5),
    ],
)
def test_every_rung_learns_vectors_and_comes_back_from_its_folder(
    kind, spec, settings, least, tmp_path
):
    file = lines(tmp_path / "train.jsonl", *kind(120))
    test = kind(60, seed=1)
    model = st.fit("regress", spec, file, out=tmp_path / "run", **settings)
    found = model.evaluate(test)
    assert found["r_squared"] > least and found["mae"] is None
    assert [each["output"] for each in found["by_output"]] == [1, 2]
    deviations = np.array(kind(120)[1]).std(0)
    each = [one["mae"] for one in found["by_output"]]
    if spec in ("average", "linear"):  # all of the data is learned from
        assert found["scaled_mae"] == pytest.approx((each / deviations).mean(), rel=1e-6)
    again = st.load(tmp_path / "run")
    items = model.predict(test[0])["items"]
    assert again.predict(test[0])["items"] == items
    assert len(items[0]["value"]) == len(items[0]["deviation"]) == 2
    low, high = items[0]["interval"]["value"][1]
    assert low < items[0]["value"][1] < high
    assert again.evaluate(test)["by_output"] == found["by_output"]


def test_each_output_of_ridge_and_average_is_that_of_a_fit_to_it_alone():
    rows, values = doubles(80)
    for spec in ("average", "linear"):
        both = st.fit("regress", spec, (rows, values)).predict(rows)["items"]
        for k in (0, 1):
            alone = st.fit("regress", spec, (rows, [each[k] for each in values])).predict(rows)
            for one, other in zip(both, alone["items"]):
                assert one["value"][k] == pytest.approx(other["value"], rel=1e-9)
                assert one["deviation"][k] == pytest.approx(other["deviation"], rel=1e-9)


def test_figures_by_hand():
    truth, mean = np.array([[1.0, 10.0], [3.0, 30.0]]), np.array([[2.0, 10.0], [3.0, 20.0]])
    deviation, scale = np.ones((2, 2)), np.array([2.0, 5.0])
    assert scaled_errors(truth, mean, scale).tolist() == [0.25, 1.0]
    found = vector_report(truth, mean, deviation, np.array([2.0, 20.0]), scale, 1.28)
    assert found["scaled_mae"] == (0.5 / 2 + 5.0 / 5) / 2
    first, second = found["by_output"]
    assert (first["mae"], second["mae"]) == (0.5, 5.0) and first["skill"] == 0.5
    assert found["skill"] == (first["skill"] + second["skill"]) / 2
    assert json.dumps(found, allow_nan=False)


def test_a_comparison_ranks_by_the_scaled_error_and_says_what_it_is():
    record = st.compare("regress", doubles(100), "average,linear")
    assert record["figure"] == "scaled_mae"
    first, second = record["rows"]
    assert first["model"] == "linear" and first["scaled_mae"] < second["scaled_mae"]
    assert "what ranks" in first["protocol"]["scaled_mae"]
    single = st.compare(
        "regress", (doubles(80)[0], [v[0] for v in doubles(80)[1]]), "average,linear"
    )
    assert single["figure"] == "mae" and "by_output" not in single["rows"][0]


def test_one_run_is_told_apart_from_another_and_drawn():
    first, second = (st.fit("regress", spec, doubles(80)) for spec in ("linear", "average"))
    found = first.evaluate(doubles(60, 1), against=second)
    assert found["against"]["p"] < 0.05 and found["against"]["model"] == "average"
    chart = scatter(found)
    assert "In deviations of the training values" in chart.says and len(chart.rows) == 120


def test_lists_of_one_number_are_what_numbers_are():
    rows, values = doubles(60)
    plain, listed = (
        st.fit("regress", "linear", Sequences({"values": Field.of_numbers(rows), "value": said}))
        for said in (
            Field(np.array([v[0] for v in values]), np.arange(61), "numbers"),
            Field.of_numbers([[v[0]] for v in values]),
        )
    )
    assert plain.predict(rows)["items"] == listed.predict(rows)["items"]


def test_the_command_line_prints_four_numbers_a_value(tmp_path):
    file = lines(tmp_path / "train.jsonl", *doubles(60))
    run = str(tmp_path / "run")
    good("fit", "regress", "linear", str(file), "--out", run)
    printed = good("predict", run, str(file)).out.splitlines()
    assert len(printed) == 60 and all(len(line.split("\t")) == 8 for line in printed)
    assert "MAE of the mean" in good("evaluate", run, str(file)).out


def test_a_killed_fit_goes_on_to_the_same_bits(tmp_path):
    """That an answer is a vector changes nothing of how a fit is resumed."""
    settings = {"width": 8, "updates": 6, "rows": 4, "length": 16, "patience": 0, "threads": 1}
    settings |= {"checkpoint_seconds": 0.0}
    whole = st.fit("regress", "gru", doubles(60), out=tmp_path / "whole", **settings)
    asked = settings | {"out": str(tmp_path / "halves")}
    events = fit_events(task("regress"), "gru", doubles(60), settings=asked)
    for event in events:
        if event["event"] == "validation" and event["step"] >= 3:
            break
    events.close()
    again = st.fit("regress", "gru", doubles(60), out=tmp_path / "halves", resume=True, **settings)
    for name, array in whole.model.arrays().items():
        assert np.array_equal(array.numpy(), again.model.arrays()[name].numpy()), name


def test_frames_have_a_column_for_each_output():
    model = st.fit("regress", "linear", doubles(60))
    record = st.predict(model, doubles(3, 1)[0])
    frame = record.to_frame("polars")
    assert frame.columns[:4] == ["value_1", "deviation_1", "value_1_low", "value_1_high"]
    assert frame["value_2"].to_list() == [item["value"][1] for item in record["items"]]
    assert frame["value_2_low"].to_list() == [
        item["interval"]["value"][1][0] for item in record["items"]
    ]
    single = st.fit("regress", "linear", (doubles(60)[0], [v for v, _ in doubles(60)[1]]))
    frame = st.predict(single, doubles(3, 1)[0]).to_frame("polars")
    assert frame.columns == ["value", "deviation", "value_low", "value_high"]


def test_what_is_wrong_is_said_with_its_line(tmp_path):
    rows, values = doubles(20)
    file = lines(tmp_path / "odd.jsonl", rows, [*values[:6], [1.0, 2.0, 3.0], *values[7:]])
    with pytest.raises(DataError, match=r":7: .*not as many numbers.*3 here, 2 in the first"):
        st.fit("regress", "linear", file)
    file = lines(tmp_path / "same.jsonl", rows, [[v, 5.0] for v, _ in values])
    with pytest.raises(DataError, match="same value in place 2 of its list"):
        st.fit("regress", "linear", file)
    with pytest.raises(DataError, match=r"missing or infinite"):
        st.fit("regress", "linear", (rows, [*values[:3], [1.0, float("inf")], *values[4:]]))
    model = st.fit("regress", "linear", (rows, values))
    with pytest.raises(DataError, match="1 each, not 2"):
        model.evaluate((rows, [v for v, _ in values]))
