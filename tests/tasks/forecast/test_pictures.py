"""Pictures of forecasts: what is in a description is what is in the record."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import numpy as np
import pytest

import seriatim
from seriatim.data.sequences import NUMBERS, Field, Sequences, offsets_of
from seriatim.errors import ConfigError
from seriatim.plotting import drawn
from seriatim.tasks.forecast.pictures import MOST_MARKS, MOST_SERIES, Clock, coverage, thinned
from seriatim.verbs import call
from tests.drawn import datasets

HOSTILE = ["<script>alert(1)</script>", "$x$", "half \ud800", "x" * 300, "שלום עולם"]
DAY = 86400.0


def series(
    names: list[str], channels: list[str], length: int = 90, dated: bool = True
) -> Sequences:
    """Noisy weeks of several series."""
    dice = np.random.default_rng(1)
    offsets = offsets_of([length] * len(names))
    weeks = np.sin(np.arange(length) * 2 * np.pi / 7)[:, None]
    rows = [
        10 * (s + 1) + weeks + 0.3 * dice.standard_normal((length, len(channels)))
        for s in range(len(names))
    ]
    moments = 1.7e9 // DAY * DAY + DAY * np.arange(length) if dated else np.arange(length) * 1.0
    fields = {
        "values": Field(np.concatenate(rows), offsets, NUMBERS, tuple(channels)),
        "time": Field(np.concatenate([moments] * len(names)), offsets, NUMBERS),
    }
    if len(names) > 1:
        fields["name"] = Field.of_labels(names)
    return Sequences(fields, by="stream" if len(names) == 1 else "line", unit="value")


@pytest.fixture(scope="module")
def panel():
    """A model of five series with names of all kinds, and its data."""
    data = series(HOSTILE, ["load", "<b>price</b>"])
    return seriatim.fit("forecast", "persistence", data, horizon=4), data


@pytest.fixture(scope="module")
def alone():
    """The same of one series."""
    data = series(["one"], ["load"])
    return seriatim.fit("forecast", "persistence", data, horizon=4), data


def test_the_fan_has_the_past_the_mean_and_all_ends_at_their_dates(panel):
    model, data = panel
    record = call("predict", model, data)
    item, chart = record["items"][0], record.plot("forecast")
    load = [row for row in chart.rows if row["channel"] == "load"]
    past, coming = load[: len(item["past_time"])], load[len(item["past_time"]) :]
    assert [row["was"] for row in past] == item["past"]["load"]
    assert [row["time"] for row in past] == item["past_time"]
    assert [row["time"] for row in coming] == item["time"]
    channel = item["channels"]["load"]
    assert [row["mean"] for row in coming] == channel["mean"]
    for level in ("0.025", "0.975", "0.1", "0.9", "0.25", "0.75"):
        assert [row["q" + level] for row in coming] == channel["quantiles"][level]
    places = {row["time"]: row["at"] for rows in datasets(chart) for row in rows if "time" in row}
    for moment, place in places.items():
        assert place == 1000 * datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()
    assert len(chart.body["vconcat"]) == 2 and chart.svg().startswith("<svg")
    assert "one of 5" in chart.says


def test_a_series_is_chosen_by_its_name_and_says_so(panel):
    model, data = panel
    whole = call("predict", model, data)["items"]
    for name, item in zip(HOSTILE, whole, strict=True):
        record = call("predict", model, data, only=name)
        assert record["items"] == [item] and record["sequences"] == 5
        chart = drawn(record, "forecast")
        assert "one of 5" in chart.says and chart.svg("dark", 390).startswith("<svg")
        assert name not in json.dumps(chart.body)
        walk = call("backtest", model, data, only=name)
        assert [each["series"] for each in walk["series"]] == [name]
        assert "one of 5" in drawn(walk, "origins").says
    with pytest.raises(ConfigError, match="no series of this name"):
        call("predict", model, data, only="nobody")


def test_origins_have_every_forecast_and_what_came(panel):
    model, data = panel
    record = call("backtest", model, data, only="$x$")
    chart = record.plot("origins")
    load = [row for row in chart.rows if row["channel"] == "load"]
    assert [row["mean"] for row in load] == [
        value for item in record["items"] for value in item["channels"]["load"]["mean"]
    ]
    came = [rows for rows in datasets(chart) if rows and set(rows[0]) == {"time", "at", "came"}]
    shown = record["series"][0]
    assert [row["came"] for row in came[0]] == shown["values"]["load"]
    assert [row["time"] for row in came[0]] == shown["time"]
    assert "80 %" in chart.says  # horizons do not meet, so they have bands
    close = call("backtest", model, data, only="$x$", stride=1)
    assert "80 %" not in close.plot("origins").says


def test_many_origins_are_thinned_out_and_that_is_said():
    assert thinned(list(range(10)), 4) == [0, 3, 6, 9] and thinned([1, 2], 4) == [1, 2]
    data = series([""], ["a"], length=160)
    model = seriatim.fit("forecast", "persistence", data, horizon=60)
    chart = call("backtest", model, data, begin="60", stride=1).plot("origins")
    assert len(chart.rows) <= MOST_MARKS and "of the origins are drawn" in chart.says


def test_rows_without_dates_and_one_step_are_drawn():
    data = series([""], ["a"], dated=False)
    model = seriatim.fit("forecast", "persistence", data, horizon=1)
    record = call("predict", model, data)
    chart = record.plot("forecast")
    assert record["items"][0]["time"] == ["90"] and record["items"][0]["past_time"][-1] == "89"
    assert [row["time"] for row in chart.rows][-2:] == ["89", "90"]
    assert "one of" not in chart.says and chart.svg().startswith("<svg")
    assert "80 %" in call("backtest", model, data, begin="8").plot("origins").says  # 9 is before 10
    for what in ("horizon", "coverage"):
        assert call("evaluate", model, data, begin="0.5").plot(what).svg().startswith("<svg")


def test_moments_that_are_neither_dates_nor_numbers_stand_in_their_order():
    clock = Clock(["a", "b"], 7)
    assert [clock("a"), clock("b")] == [7.0, 8.0] and not clock.dated
    assert Clock(["2024-02-01", "2024-03-01T10:00:00"], 0).dated


def test_horizon_and_coverage_are_those_of_the_record(panel, alone):
    model, data = panel
    record = call("evaluate", model, data, begin="0.5")
    one = call("evaluate", *alone, begin="0.5")
    for each, figures in ((record, ["mase"]), (one, ["mae", "rmse", "crps"])):
        chart = each.plot("horizon")
        assert len(chart.rows) == 4 * len(figures)
        for figure in figures:
            shown = [row["error"] for row in chart.rows if row["figure"] == figure.upper()]
            assert shown == [step[figure] for step in each["by_horizon"]]
    chart = record.plot("coverage")
    whole = {row["interval"]: row["share"] for row in chart.rows if row["series"] == "all"}
    assert whole == {f"{level} %": share for level, share in record["coverage"].items()}
    for level, share in record["coverage"].items():
        each = [some["coverage"][level] for some in record["by_series"]]
        assert np.mean(each) == pytest.approx(share)
        assert len([row for row in chart.rows if row["interval"] == f"{level} %"]) == 6
    assert chart.svg().startswith("<svg") and chart.svg("dark", 390).startswith("<svg")


def test_what_is_not_known_is_not_drawn(panel, alone):
    record = call("evaluate", *alone, begin="0.5")
    record["by_horizon"][0]["crps"] = None
    assert len(record.plot("horizon").rows) == 3 * 4 - 1
    record = call("evaluate", panel[0], panel[1], begin="0.5")
    record["by_horizon"][0]["mase"] = None
    assert len(record.plot("horizon").rows) == 4 - 1
    record["by_series"][0]["coverage"]["50"] = None
    assert len(record.plot("coverage").rows) == 4 * 6 - 1
    many = [{"series": f"s{i}", "coverage": {"50": i / 1000}} for i in range(1000)]
    chart = coverage(record | {"by_series": many})
    assert f"{MOST_SERIES} of 1,000 series" in chart.says


def test_the_horizon_of_a_panel_is_drawn_in_a_unit_of_no_series():
    """Or the largest one would decide; how many origins each step rests on stands beside it."""
    data = series(["a", "b", "still"], ["load"])
    data.field("values").flat[180:] = 42.0
    model = seriatim.fit("forecast", "persistence", data, horizon=4)
    record = call("evaluate", model, data, stride=3)
    chart = record.plot("horizon")
    assert {row["figure"] for row in chart.rows} == {"MASE"}
    assert [row["error"] for row in chart.rows] == [each["mase"] for each in record["by_horizon"]]
    counts = [each["origins"] for each in record["by_horizon"]]
    assert counts == sorted(counts, reverse=True) and counts[0] == record["origins"]
    assert any(words.startswith("MASE: 2 of 3 series") for words in record["notes"])
