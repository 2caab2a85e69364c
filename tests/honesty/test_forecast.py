"""Findings 3 and 14: series in units of their own, intervals that hold, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from seriatim.data.sequences import Sequences
from seriatim.tasks import task
from tests.honesty import seriatim

AHEAD = ("--horizon", 4, "--context", 12)


def written(folder: Path, name: str, header: str, rows) -> Path:
    """A table in a file."""
    path = folder / name
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def months(count: int) -> list[str]:
    """Dates a month apart."""
    return [str(np.datetime64("2000-01") + i) for i in range(count)]


def panel(folder: Path, series: dict[str, np.ndarray], name: str = "panel.csv") -> Path:
    """A long table of monthly series."""
    rows = [
        (who, when, repr(float(value)))
        for who, values in series.items()
        for when, value in zip(months(len(values)), values, strict=True)
    ]
    return written(folder, name, "unique_id,ds,y", rows)


def seasonal(seed: int, count: int = 60, noise: float = 0.1) -> np.ndarray:
    """A year that comes again, and a little noise."""
    rng = np.random.default_rng(seed)
    return np.tile(rng.normal(size=12), count // 12) + noise * rng.normal(size=count)


def uneven() -> dict[str, np.ndarray]:
    """Small seasonal series beside one that is large and goes its own way."""
    walk = 1e6 * np.cumsum(np.random.default_rng(9).normal(size=60)) + 1e7
    return {f"small{i}": 5 + seasonal(i) for i in range(8)} | {"large": walk}


def fitted(folder: Path, model: str, path: Path, *more: object) -> str:
    """A run."""
    run = folder / f"run-{model}-{path.stem}"
    said = seriatim("fit", "forecast", model, path, "--out", run, *more)
    assert said.code == 0, said.err
    return str(run)


def mean_mase(forecasts: dict, series: dict[str, np.ndarray], horizon: int) -> float:
    """The mean over series of MASE at their ends, by hand."""
    found = []
    for name, values in series.items():
        past, truth = values[:-horizon], values[-horizon:]
        scale = np.abs(past[12:] - past[:-12]).mean()
        found.append(np.abs(truth - forecasts[name]).mean() / scale)
    return float(np.mean(found))


def test_figures_of_several_series_are_means_over_them(tmp_path):
    """Finding 14: the largest series decided; pooled figures stand beside the mean now."""
    series = uneven()
    past = panel(tmp_path, {name: values[:-4] for name, values in series.items()}, "past.csv")
    whole = panel(tmp_path, series)
    run = fitted(tmp_path, "seasonal", past, *AHEAD)
    asked = ("--begin", "56", "--stride", 4, "--format", "json")
    record = seriatim("evaluate", run, whole, *asked).record
    naive = {name: values[-16:-12] for name, values in series.items()}
    assert record["mase"] == pytest.approx(mean_mase(naive, series, 4), rel=1e-3)
    assert record["pooled"]["mae"] == pytest.approx(record["mae"], rel=1e-6)  # equally many origins
    assert len(record["by_series"]) == 9 and record["origins"] == 9


def test_the_comparison_ranks_by_what_users_see_at_the_end(tmp_path):
    """Finding 14: lags-ridge was ranked first with a mean MASE of 13, seasonal had 1.19."""
    series, horizon = uneven(), 4
    whole = panel(tmp_path, series)
    past = panel(tmp_path, {name: values[:-4] for name, values in series.items()}, "past.csv")
    models = ("seasonal", "lags-ridge", "mean")
    asked = ("--models", ",".join(models), "--out", tmp_path / "compared", "--format", "json")
    said = seriatim("compare", "forecast", whole, *AHEAD, *asked)
    ranked = [row["model"] for row in said.record["rows"]]
    seen = {}
    for model in models:
        run = fitted(tmp_path, model, past, *AHEAD)
        items = seriatim("predict", run, past, "--format", "json").record["items"]
        means = {item["series"]: np.array(item["channels"]["y"]["mean"]) for item in items}
        seen[model] = mean_mase(means, series, horizon)
    assert ranked == sorted(models, key=seen.__getitem__)
    assert all(row["mase"] < 2 * seen[row["model"]] for row in said.record["rows"])


def test_series_of_a_hundredth_and_of_ten_millions_are_both_served(tmp_path):
    """Finding 14: -0.0242 was said of the small one; [-455.9, 313.2] of a series at 18.1."""
    small, large = 0.01 + 0.001 * seasonal(1), 1e7 + 1e6 * seasonal(2)
    path = panel(tmp_path, {"small": small, "large": large})
    for model in ("seasonal", "lags-ridge", "smoothing"):
        run = fitted(tmp_path, model, path, "--horizon", 4, "--context", 36)
        record = seriatim("predict", run, path, "--format", "json").record
        for item, values in zip(record["items"], (small, large), strict=True):
            said, reach = item["channels"]["y"], np.ptp(values)
            bounds = np.array([said["quantiles"]["0.025"], said["quantiles"]["0.975"]])
            assert (np.abs(np.array(said["mean"]) - values.mean()) < reach).all(), model
            assert (np.diff(bounds, axis=0) < 2 * reach).all(), model


def test_a_point_forecast_lies_inside_its_own_band(tmp_path):
    """Finding 14: air passengers, seasonal: mean 360, quantiles 361/388/413, levels to 0.05/0.95."""
    values = 100 + 3.0 * np.arange(96) + 10 * np.tile(np.arange(12), 8)
    path = written(tmp_path, "grows.csv", "date,y", zip(months(96), values, strict=True))
    run = fitted(tmp_path, "seasonal", path, "--horizon", 6)
    (item,) = seriatim("predict", run, path, "--format", "json").record["items"]
    said = item["channels"]["y"]
    levels = list(said["quantiles"])
    assert levels[0] == "0.025" and levels[-1] == "0.975"
    table, mean = np.array(list(said["quantiles"].values())), np.array(said["mean"])
    assert (table[:10] <= mean + 1e-9).all() and (table[-10:] >= mean - 1e-9).all()


def test_intervals_of_boosted_trees_hold(tmp_path):
    """Finding 14: lags-boosting held 66.5 % of its 90 %: errors on what it had learned."""
    values = np.random.default_rng(0).normal(size=500)
    path = written(tmp_path, "noise.csv", "y", ([each] for each in values))
    past = written(tmp_path, "past.csv", "y", ([each] for each in values[:350]))
    run = fitted(tmp_path, "lags-boosting", past, "--horizon", 2, "--trees", 20)
    coverage = seriatim("evaluate", run, path, "--begin", "350", "--format", "json").record[
        "coverage"
    ]
    assert coverage["90"] > 0.84 and coverage["95"] > 0.9


def test_a_season_that_is_not_known_is_said(tmp_path):
    """Finding 14: integer `ds`: season 1, seasonal = persistence, silently."""
    path = written(tmp_path, "a.csv", "ds,y", enumerate(seasonal(0)))
    run = tmp_path / "run"
    said = seriatim("fit", "forecast", "seasonal", path, *AHEAD, "--out", run)
    assert "no season is known" in said.err and "--season" in said.err
    said = seriatim("fit", "forecast", "seasonal", path, *AHEAD, "--season", 12, "--out", f"{run}2")
    assert said.code == 0 and "no season" not in said.err
    record = seriatim("evaluate", f"{run}2", path, "--format", "json").record
    assert record["protocol"]["season"] == 12 and record["mase"] < 1.5


def test_nothing_from_the_end_on_is_judged(tmp_path):
    """Finding 14: --end reached past itself."""
    values = np.cumsum(np.random.default_rng(1).normal(size=60))
    changed = np.where(np.arange(60) < 50, values, 1e4)
    rows = {
        name: zip(months(60), each, strict=True) for name, each in (("a", values), ("b", changed))
    }
    one, other = (written(tmp_path, f"{name}.csv", "date,y", each) for name, each in rows.items())
    run = fitted(tmp_path, "persistence", one, *AHEAD)
    asked = ("--begin", "40", "--end", "50", "--whole", "false", "--format", "json")
    first, second = (seriatim("evaluate", run, path, *asked).record for path in (one, other))
    assert first["mae"] == second["mae"] and first["origins"] == 10


def test_filled_gaps_are_not_scored(tmp_path):
    """Finding 14: numbers that were put into gaps counted as truth."""
    values = np.random.default_rng(2).normal(size=40)
    rows = [(when, "" if i in (35, 36) else values[i]) for i, when in enumerate(months(40))]
    path = written(tmp_path, "gaps.csv", "date,y", rows)
    run = fitted(tmp_path, "persistence", path, "--horizon", 1, "--fill", "previous")
    record = seriatim("evaluate", run, path, "--begin", "30", "--format", "json").record
    last = values.copy()
    last[35:37] = values[34]
    judged = [i for i in range(30, 40) if i not in (35, 36)]
    assert record["mae"] == pytest.approx(
        np.abs(values[judged] - last[np.array(judged) - 1]).mean()
    )


def test_after_a_gap_the_whole_horizon_is_forecast(tmp_path):
    """Finding 14: --gap 3 cut a horizon of 6 to 3."""
    path = written(tmp_path, "a.csv", "date,y", zip(months(60), seasonal(3), strict=True))
    run = fitted(tmp_path, "seasonal", path, "--horizon", 6, "--gap", 3)
    record = seriatim("evaluate", run, path, "--format", "json").record
    assert [each["h"] for each in record["by_horizon"]] == [1, 2, 3, 4, 5, 6]
    (item,) = seriatim("predict", run, path, "--format", "json").record["items"]
    assert item["time"][0] == "2005-04-01" and len(item["time"]) == 6


def test_what_a_rung_does_not_look_at_is_said_and_a_run_reads_as_it_was_fitted(tmp_path):
    """Finding 14: --known was ignored silently by three rungs; predict had to be told it again."""
    rows = [(when, i % 5, i % 2, i) for i, when in enumerate(months(60))]
    path = written(tmp_path, "a.csv", "date,y,holiday,other", rows)
    future = written(
        tmp_path,
        "b.csv",
        "date,y,holiday,other",
        [*rows, *((when, "", 1, "") for when in months(64)[60:])],
    )
    asked = ("--known", "holiday", "--channels", "y", *AHEAD)
    run = tmp_path / "plain"
    said = seriatim("fit", "forecast", "persistence", path, *asked, "--out", run)
    assert "does not look at what is known in advance (holiday)" in said.err
    run = fitted(tmp_path, "lags-ridge", path, *asked)
    said = seriatim("predict", run, future)
    assert said.code == 0 and said.out.splitlines()[0].startswith("time\ty\t"), said.err
    assert said.out.splitlines()[1].startswith("2005-01-01") and len(said.out.splitlines()) == 5


def test_smoothing_finds_its_speeds_and_does_not_smooth_what_was_never_there(tmp_path):
    """Finding 14: smoothing of log passengers, MAE 56.7 (statsmodels 23.4): the window was longer
    than the series, and began with copies of its first value."""
    rng, time = np.random.default_rng(4), np.arange(132)
    year = np.tile(0.25 * np.sin(2 * np.pi * np.arange(12) / 12), 11)
    values = np.exp(4.7 + 0.01 * time + year + 0.02 * rng.normal(size=132))
    rows = list(zip(months(132), values, strict=True))
    past = written(tmp_path, "past.csv", "date,y", rows[:120])
    run = fitted(tmp_path, "smoothing", past, "--log", "--horizon", 12)
    (item,) = seriatim("predict", run, past, "--format", "json").record["items"]
    wrong = np.abs(np.array(item["channels"]["y"]["mean"]) - values[120:])
    assert wrong.mean() < 0.05 * values[120:].mean()


def test_one_table_has_one_header(tmp_path):
    """Finding 14: `predict` repeated its header for each of 414 series."""
    path = panel(tmp_path, uneven())
    run = fitted(tmp_path, "seasonal", path, *AHEAD)
    lines = seriatim("predict", run, path).out.splitlines()
    assert lines[0].split("\t") == ["series", "time", "y", "y 2.5 %", "y 97.5 %"]
    assert len(lines) == 1 + 9 * 4 and not any(line.startswith("series") for line in lines[1:])


def test_several_steps_are_refused_and_several_zones_said(tmp_path):
    """Finding 14: several frequencies and time zones in one file."""
    rows = [("a", f"2024-01-{i + 1:02d}", i) for i in range(20)]
    rows += [("b", when, i) for i, when in enumerate(months(20))]
    path = written(tmp_path, "two.csv", "series,date,y", rows)
    said = seriatim("fit", "forecast", "mean", path, *AHEAD, "--out", tmp_path / "run")
    assert said.code != 0 and "daily" in said.err and "monthly" in said.err
    zone = lambda hour: "+01:00" if hour < 12 else "+02:00"
    rows = [(f"2024-01-01 {h + (h > 11):02d}:00{zone(h)}", h % 5) for h in range(22)]
    path = written(tmp_path, "zones.csv", "date,y", rows)
    said = seriatim("fit", "forecast", "mean", path, *AHEAD, "--out", tmp_path / "run")
    assert said.code == 0 and "several zones (+01:00, +02:00)" in said.err


def test_series_in_rows_are_read_and_an_official_test_goes_on_from_them(tmp_path):
    """Issue 22: M4 as published, a row a series, rows of different lengths."""
    series = {f"W{i}": np.cumsum(np.random.default_rng(i).normal(size=40 + i)) for i in range(5)}
    width = max(map(len, series.values())) - 4 + 1
    padded = [[who, *v[:-4], *[""] * (width - 1 - len(v[:-4]))] for who, v in series.items()]
    names = ",".join(f'"V{i + 1}"' for i in range(width))
    train = written(tmp_path, "train.csv", names, padded)
    test = written(
        tmp_path, "test.csv", "V1,V2,V3,V4,V5", [[w, *v[-4:]] for w, v in series.items()]
    )
    run = tmp_path / "run"
    said = seriatim("fit", "forecast", "persistence", train, *AHEAD, "--out", run)
    assert "series in rows: 5 series of 36 to 40 values" in said.err
    record = seriatim("evaluate", run, test, "--past", train, "--format", "json").record
    scaled = [
        np.abs(values[-4:] - values[-5]).mean() / np.abs(np.diff(values[:-4])).mean()
        for values in series.values()
    ]
    assert record["origins"] == 5 and record["mase"] == pytest.approx(np.mean(scaled))


def series_from(path: Path) -> Sequences:
    """A file as the room reads it."""
    return task("forecast").cut.sequences(path)


def test_what_was_seen_in_training_is_known_again(tmp_path):
    """Finding 3: `seen in training` was hard-coded False for forecasts. A series that begins
    elsewhere is known by its values, one with dates by these and its values."""
    cut, rng = task("forecast").cut, np.random.default_rng(0)
    values = rng.normal(size=60)
    whole = series_from(written(tmp_path, "a.csv", "y", ([each] for each in values)))
    shifted = series_from(written(tmp_path, "b.csv", "y", ([each] for each in values[7:50])))
    other = series_from(written(tmp_path, "c.csv", "y", ([each] for each in rng.normal(size=60))))
    share = [np.isin(cut.pieces(each), cut.pieces(whole)).mean() for each in (shifted, other)]
    assert share == [1.0, 0.0] and cut.pieces(whole).dtype == np.uint64
    rows = list(zip(months(60), values, strict=True))
    known = cut.pieces(series_from(written(tmp_path, "d.csv", "date,y", rows[:40])))
    later = series_from(written(tmp_path, "e.csv", "date,y", rows[30:]))
    assert np.isin(cut.pieces(later), known).mean() == pytest.approx(1 / 3)


def test_near_the_end_no_first_steps_are_judged_for_whole_horizons(tmp_path):
    """Of 12 origins with a horizon of 12 one had all 12 steps, and the last value was ahead of the
    season by forecasts of one step and two."""
    rows = [(when, 2.5 * i + 30 * np.sin(i * np.pi / 6)) for i, when in enumerate(months(60))]
    path = written(tmp_path, "monthly.csv", "date,y", rows)
    run = fitted(tmp_path, "persistence", path, "--horizon", 12)
    record = seriatim("evaluate", run, path, "--format", "json").record
    values = np.array([value for _, value in rows])
    assert record["origins"] == 1 and record["mae"] == pytest.approx(
        abs(values[48:] - values[47]).mean()
    )
    assert "1, with all of their horizon" in record["protocol"]["origins"]
    some = seriatim("evaluate", run, path, "--whole", "false", "--format", "json").record
    assert some["origins"] == 12 and some["mae"] < record["mae"]
    assert any("1 has a value at the last of their 12 steps" in each for each in some["notes"])


def test_a_comparison_says_how_many_origins_it_looked_at(tmp_path):
    rows = [(i, s, 5 * s + i % 7) for s in range(3) for i in range(900)]
    path = written(tmp_path, "shops.csv", "day,shop,y", rows)
    asked = ("--series", "shop", "--time", "day", "--horizon", 4, "--models", "persistence,mean")
    record = seriatim("compare", "forecast", path, *asked, "--format", "json").record
    assert "399 of 531, evenly spaced" in record["protocol"]["origins"]


def test_an_hour_that_clocks_skip_is_not_to_be_filled(tmp_path):
    hours = np.datetime64("2023-03-20T00:00") + np.arange(24 * 14) * np.timedelta64(1, "h")
    rows = [(str(when).replace("T", " "), i % 24) for i, when in enumerate(hours)]
    skipped = [row for row in rows if row[0] != "2023-03-26 02:00"]
    path = written(tmp_path, "load.csv", "time,y", skipped)
    said = seriatim("fit", "forecast", "persistence", path)
    assert said.code and "put forward then" in said.err and "do not fill" in said.err
    path = written(tmp_path, "load.csv", "time,y", [row for row in rows if row[0] != rows[40][0]])
    assert "Say how to fill gaps" in seriatim("fit", "forecast", "persistence", path).err


def test_channels_are_named_and_those_of_two_values_asked_about(tmp_path):
    rows = [(when, i % 12, int(i % 5 == 0)) for i, when in enumerate(months(60))]
    path = written(tmp_path, "promo.csv", "date,sold,promo", rows)
    said = seriatim("fit", "forecast", "persistence", path, "--out", tmp_path / "run", *AHEAD)
    assert "2 channels are forecast (sold, promo)" in said.err and "--known promo" in said.err
