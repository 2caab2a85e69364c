"""What a stranger was misled by in the forecast room."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import seriatim as st
from seriatim.comparison.running import Comparison
from seriatim.errors import DataError
from seriatim.fitting_options import CompareOptions
from seriatim.leaderboard import footnotes
from seriatim.measuring.judging import judged
from seriatim.measuring.measured import Measured
from seriatim.tasks import task
from seriatim.tasks.forecast.codec import judged_windows
from seriatim.tasks.forecast.metrics import (
    Forecasts,
    block_of,
    conformal_offsets,
    drawn_mase,
    measured_forecasts,
    report,
)
from seriatim.tasks.forecast.models.rules import LEVELS
from seriatim.tasks.forecast.predictor import with_all_steps
from seriatim.tasks.forecast.tables import forecast_lines, number
from tests.honesty import seriatim


def noise(months: int, seed: int) -> dict:
    """Months of whole numbers from 20 to 80, any as likely as another."""
    values = np.random.default_rng(seed).integers(20, 81, months).astype(float)
    when = [f"{2000 + i // 12}-{i % 12 + 1:02d}-01" for i in range(months)]
    return {"month": when, "tickets": values.tolist()}


# Intervals from few errors


def test_offsets_of_few_errors_are_those_of_a_slow_twin():
    residuals = np.random.default_rng(0).normal(size=(11, 3, 2))
    residuals[4:, 1, 0] = np.nan  # 4 are left
    found = conformal_offsets(residuals, LEVELS)
    for h, c in np.ndindex(3, 2):
        known = [r[~np.isnan(r)] for r in residuals[:, :, c].T]
        squares = [float((r**2).mean()) for r in known]
        n = len(known[h])
        size = math.sqrt((n * squares[h] + sum(squares) / 3) / (n + 1) * (1 + 1 / n))
        assert np.allclose(found[h, c], stats.t(max(3, n - 1)).ppf(LEVELS) * size)
    assert np.allclose(found[..., len(LEVELS) // 2], 0)


def test_where_errors_are_enough_they_are_counted_as_before():
    residuals = np.random.default_rng(1).normal(size=(39, 2, 1))
    residuals[38:, 1] = np.nan
    found = conformal_offsets(residuals, LEVELS)
    assert found[0, 0, 0] == residuals[:, 0, 0].min()
    assert np.allclose(found[1, 0], -found[1, 0, ::-1])
    with pytest.raises(DataError, match="no errors"):
        conformal_offsets(np.full((9, 2, 1), np.nan), LEVELS)


def test_intervals_of_a_short_series_hold_and_say_what_they_rest_on():
    inside = []
    for seed in range(12):
        model = st.fit("forecast", "lags-ridge", noise(72, seed), horizon=6)
        found = model.predict(noise(72, seed))
        said = found["items"][0]["channels"]["tickets"]["quantiles"]
        values = np.arange(20, 81)[:, None]
        inside.append((values >= said["0.025"]) & (values <= said["0.975"]))
        assert "rest on 7 errors" in found["notes"][0]
    assert np.mean(inside) > 0.92
    record = model.evaluate(noise(72, 0))
    assert any("rest on 7 errors" in words for words in record["notes"])
    assert "from 7 errors of each step" in record["protocol"]["intervals"]


def test_what_to_do_about_too_few_errors_is_something_that_can_be_done():
    with pytest.raises(DataError) as caught:
        st.fit("forecast", "mean", noise(60, 0), horizon=6, calibrate=True)
    assert "19 origins" in str(caught.value) and "leave that level" not in str(caught.value)


# A hole between two files


def days(first: int, last: int, names: tuple[str, ...] = ()) -> dict:
    """Days from one number on and before another, of one series or of several."""
    when = [str(np.datetime64("2024-01-01") + i) for i in range(first, last)]
    values = [float(10 * (i % 7) + i) for i in range(first, last)]
    if not names:
        return {"date": when, "y": values}
    every = [name for name in names for _ in when]
    return {"series": every, "date": when * len(names), "y": values * len(names)}


@pytest.mark.parametrize("names", [(), ("a", "b")])
def test_a_hole_between_two_files_is_one_inside_a_file(names, capsys):
    early, late, whole = days(0, 60, names), days(63, 90, names), days(0, 90, names)
    inside = {
        key: [each for each, when in zip(column, whole["date"]) if not "2024-02-29" < when < "2024-03-04"]
        for key, column in whole.items()
    }  # fmt: skip
    model = st.fit("forecast", "seasonal", early, horizon=7)
    missing = 3 * max(1, len(names))
    with pytest.raises(DataError, match=f"{missing} rows are missing"):
        model.evaluate(late, past=early)
    for fill in ("previous", "linear", "mean"):
        model = st.fit("forecast", "seasonal", early, horizon=7, fill=fill)
        one, other = (
            model.measure(late, past=early),
            model.measure(inside, begin="2024-03-04", stride=7),
        )
        for name in ("truth", "answers", "naive", "time", "scale"):
            assert np.array_equal(one[name], other[name], equal_nan=True), (fill, name)


def test_files_that_meet_have_no_hole():
    model = st.fit("forecast", "seasonal", days(0, 60), horizon=7)
    assert model.evaluate(days(60, 90), past=days(0, 60))["mase"] > 0


# Steps that rest on the same series


def test_steps_rest_on_the_series_that_have_all_of_them():
    """A series with one step to be judged, a hundred times as far off, is not in the first alone."""
    truth = np.full((3, 4, 1), np.nan)
    truth[0], truth[1], truth[2, 0] = 1.0, 2.0, 400.0
    found = report(
        Forecasts(
            truth, np.zeros((3, 4, 1)), np.array([]), None, np.ones((3, 1)), series=np.arange(3)
        )
    )
    assert [step["mae"] for step in found["by_horizon"]] == [1.5] * 4
    assert [step["series"] for step in found["by_horizon"]] == [2] * 4
    assert found["mae"] == pytest.approx((1 + 2 + 400) / 3)
    assert with_all_steps(found["by_horizon"], 3) == [
        "by horizon: means over the 2 of 3 series that have all 4 steps; 1 has fewer"
    ]
    none = [{"series": 2}, {"series": 1}]
    assert "no series has all 2 steps" in with_all_steps(none, 3)[0]
    assert not with_all_steps([{"series": 3}, {"series": 3}], 3)


# Scales of short series


def test_series_shorter_than_a_season_are_scaled_by_steps_and_counted():
    lengths = {"long": 60, "short": 9, "tiny": 4}
    rows = [(name, i) for name, many in lengths.items() for i in range(many)]
    values = np.random.default_rng(3).normal(size=len(rows)).tolist()
    data = {
        "series": [name for name, _ in rows],
        "date": [str(np.datetime64("2024-01-01") + i) for _, i in rows],
        "y": values,
    }
    model = st.fit("forecast", "persistence", data, horizon=2)
    record = model.evaluate(data)
    by = {each["series"]: each for each in record["by_series"]}
    short = np.array(values[60:69])
    scale = np.abs(np.diff(short[:7])).mean()  # before its last fifth, a step apart
    assert by["short"]["mase"] == pytest.approx(by["short"]["mae"] / scale)
    assert by["tiny"]["mase"] is None  # 3 values have 2 differences
    assert "2 of 3 series are too short for seasonal differences (7 steps" in record["notes"][0]
    assert "2 of 3 series have one" in record["notes"][1]
    assert "of 2, too short for it, |y(t) - y(t-1)|" in record["protocol"]["scale"]


# Intervals of differences


def wrong_by(errors: np.ndarray, overlap: int) -> Measured:
    """(O, H, C) errors as what was measured, on a scale of 1."""
    origins, _, channels = errors.shape
    found = Forecasts(
        errors, np.zeros_like(errors), np.array([0.5]), np.zeros((*errors.shape, 1)),
        np.ones((origins, channels)), np.arange(origins), overlap, np.zeros(origins, np.int64),
    )  # fmt: skip
    return measured_forecasts(found, np.zeros_like(errors), {})


def persistent(seed: int, count: int) -> np.ndarray:
    """AR(1) of weight 0.5."""
    shocks, values = np.random.default_rng(seed).normal(size=count + 50), [0.0]
    for shock in shocks:
        values.append(0.5 * values[-1] + shock)
    return np.array(values[-count:])


def horizons(seed: int, origins: int, horizon: int) -> tuple[np.ndarray, np.ndarray]:
    """(O, H, 1) errors of the mean and of the last value, walking through one series."""
    series = persistent(seed, origins + horizon)
    at = np.arange(1, origins + 1)[:, None] + np.arange(horizon)
    truth = series[np.minimum(at, len(series) - 1)][..., None]
    return truth, truth - series[:origins, None, None]


def test_blocks_are_as_long_as_horizons_meet_and_eight_at_least():
    found = [block_of(*each) for each in ((400, 24), (39, 14), (100, 96), (7, 3), (40, 1))]
    assert found == [24, 4, 12, 1, 1]


def test_intervals_of_differences_hold():
    """At 39 origins and 14 steps; three blocks of 14 have intervals nearly twice as wide."""
    truth = [float(np.abs(each).mean()) for each in horizons(99, 20_000, 14)]
    held, wide = [], []
    for seed in range(100):
        drawn = drawn_mase([wrong_by(each, 14) for each in horizons(seed, 39, 14)])
        low, high = np.quantile(drawn[1] - drawn[0], [0.025, 0.975])
        held.append(low <= truth[1] - truth[0] <= high)
        wide.append(high - low)
    assert 0.9 <= np.mean(held) <= 1 and np.median(wide) < 0.6


def test_a_model_that_is_better_everywhere_is_better():
    """At all of 39 origins, in all of 19 channels; an interval from three blocks reached over zero."""
    rng = np.random.default_rng(0)
    good = np.abs(rng.normal(0.7, 0.2, (39, 14, 19)))
    bad = good + 0.6 * rng.uniform(0.5, 1.5, (39, 1, 1))
    bad[26:] += 1.5  # worse still at the end
    draws = drawn_mase([wrong_by(good, 14), wrong_by(bad, 14)])
    values = np.array([good.mean(), bad.mean()])
    assert np.allclose(draws.mean(1), values, atol=0.1)
    assert judged(draws, values, 0, 0.01, 39)[1]["word"] == "better"


def test_other_channels_are_drawn_where_they_differ_most():
    rng = np.random.default_rng(1)
    same = np.ones((40, 2, 12))
    apart = same + rng.normal(size=12) * 0.3
    draws = drawn_mase([wrong_by(same, 2), wrong_by(apart, 2)])
    expected = apart[0, 0].std(ddof=1) / np.sqrt(12) * stats.t(11).ppf(0.975) / 1.96
    assert draws[1].std() == pytest.approx(expected, rel=0.1)


# Channels that end early


def ragged() -> dict:
    """A wide table of noise: one channel is there to the end, two are not."""
    values = np.random.default_rng(4).normal(10, 1, (120, 3))
    columns = {name: list(map(float, values[:, c])) for c, name in enumerate(("a", "b", "c"))}
    columns["b"][40:] = [float("nan")] * 80
    columns["c"][70:] = [float("nan")] * 50
    return {"date": [str(np.datetime64("2024-01-01") + i) for i in range(120)], **columns}


def test_channels_that_end_early_are_named_and_not_judged_nor_learned_from(tmp_path):
    data = ragged()
    lines = [
        ",".join("" if value != value else str(value) for value in row)
        for row in zip(*data.values(), strict=True)
    ]
    (tmp_path / "a.csv").write_text(",".join(data) + "\n" + "\n".join(lines) + "\n")
    said = seriatim(
        "fit", "forecast", "persistence", tmp_path / "a.csv", "--horizon", 5, "--fill", "previous"
    )
    assert "2 channels end early: b at 2024-02-09, c at 2024-03-10" in said.err
    assert "a long table (unique_id, ds, y) forecasts each from its own" in said.err
    model = st.fit("forecast", "persistence", data, horizon=5, fill="previous")
    found = model.predict(data)["items"][0]["channels"]
    for name in ("b", "c"):  # a channel of noise is not sure of what it will be
        wide = np.subtract(found[name]["quantiles"]["0.975"], found[name]["quantiles"]["0.025"])
        assert wide.min() > 3
    assert "1 of 3 channels are judged" in model.evaluate(data)["notes"][0]


def test_what_was_filled_is_not_in_windows_by_which_errors_are_seen():
    model = st.fit("forecast", "persistence", ragged(), horizon=5, fill="previous")
    signals = model.codec.encode(model.data(ragged()))
    batch = judged_windows(signals, np.array([10, 38, 80]), 3, 5)
    assert batch.y[0].isfinite().all() and batch.y[:, :, 0].isfinite().all()
    assert batch.y[1, :, 1].isnan().tolist() == [False, False, True, True, True]
    assert batch.y[2, :, 1:].isnan().all() and batch.x.isfinite().all()


# Which naive


def wandering() -> dict:
    """A random walk by the day: the last value is what is to be said of it."""
    values = np.random.default_rng(6).normal(size=200).cumsum() + 100
    return {"date": [str(np.datetime64("2024-01-01") + i) for i in range(200)], "y": values}


def test_which_naive_is_meant_stands_below_the_table():
    asked = {"models": "persistence,drift", "horizon": 3, "minutes": 1}
    record = st.compare("forecast", wandering(), **asked)
    words = next(each for each in footnotes(record, task("forecast")) if "over naive" in each)
    assert "the value 7 steps ago, a season as usual of daily data" in words
    skill = next(row["skill"] for row in record["rows"] if row["model"] == "persistence")
    assert f"the last value is better than that by {100 * skill:.3g} %" in words and skill > 0.2


def test_a_season_that_was_asked_for_or_is_there_is_not_put_down():
    model = st.fit("forecast", "seasonal", days(0, 90), horizon=7, season=7)
    words = model.evaluate(days(0, 90))["protocol"]["naive"]
    assert words == "the value 7 steps ago, a season as was asked for"


# Nothing is below zero that is zero


def test_zero_has_no_sign():
    assert [number(-0.0), number(-1e-9, "{:.4f}"), number(-0.01, "{:+.1f} %")] == [
        "0", "0.0000", "0.0 %",
    ]  # fmt: skip
    assert [number(-0.5), number(-1e-9), number(None)] == ["-0.5", "-1e-09", "-"]
    sold = (np.random.default_rng(0).random(100) < 0.1).astype(float)
    data = {"date": [str(np.datetime64("2024-01-01") + i) for i in range(100)], "sold": sold}
    found = st.fit("forecast", "lags-ridge", data, horizon=3, context=7).predict(data)
    said = found["items"][0]["channels"]["sold"]
    every = np.array([said["mean"], *said["quantiles"].values()])
    assert (every == 0).any() and not np.signbit(every[every == 0]).any()
    assert "\t-0\t" not in forecast_lines(found) + "\t"


# Rules under a clock


def test_rules_are_measured_however_little_time_there_is(monkeypatch):
    """A stranger: 200,000 rows, half a minute, and no model could be measured."""
    under_way = Comparison(
        task("forecast"), CompareOptions(models="seasonal,theta,lags-ridge", minutes=0.1), {}
    )
    under_way.budget = under_way.planned_budget(None)
    monkeypatch.setattr(under_way, "tried", lambda name, parts, share, limit: (share, 1e3))
    assert under_way.too_slow("seasonal", [None]) == ""
    assert "it would take more than 2000 s" in under_way.too_slow("theta", [None])
    rules = [name for name, rung in task("forecast").rungs.items() if rung.always]
    assert rules == ["mean", "persistence", "drift", "seasonal"]


@pytest.mark.parametrize(
    ("took", "tried", "least", "most"),
    [
        ([0.2, 0.2, 0.28, 0.29], 4, 0.6, 0.7),  # as long on all data, but for chance
        ([0.2, 0.2, 0.4, 1.2], 3, 7.0, 10.0),  # as long as there is data: no larger part is tried
    ],
)
def test_what_takes_as_long_on_much_data_as_on_little_is_tried_on_more(
    took, tried, least, most, monkeypatch
):
    """200,000 rows: what a sixteenth took more than a 64th, by chance, was multiplied by twenty."""
    under_way = Comparison(
        task("forecast"), CompareOptions(models="theta,lags-ridge", minutes=0.5), {}
    )
    left = iter(took)
    monkeypatch.setattr(under_way, "tried", lambda name, parts, share, limit: (share, next(left)))
    seconds, about = under_way.expected("theta", [None], 2.0)
    assert least < seconds < most and about == "about" and len([*left]) == len(took) - tried
