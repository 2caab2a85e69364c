"""Lag tables: every cell against the series it comes from."""

import csv
from pathlib import Path

import numpy as np
import pytest

import seriatim as st
from seriatim.errors import ConfigError, DataError
from seriatim.tasks.forecast.lag_tables import lag_table, lags

LONG = "series,day,load,wind\n" + "".join(
    f"{name},2024-01-{d:02d},{scale * d * d},{d + 0.5}\n"
    for name, scale, days in (("a", 1, 9), ("b", 10, 8), ("short", 5, 4))
    for d in range(1, days + 1)
)


@pytest.fixture
def table(tmp_path):
    (tmp_path / "load.csv").write_text(LONG)
    return tmp_path / "load.csv"


def test_a_table_has_what_came_before_and_what_is_to_be_learned(table, tmp_path):
    record = lags(
        table,
        lags=3,
        horizon=2,
        windows=(2,),
        known="wind",
        channels="load",
        out=str(tmp_path / "out.csv"),
    )
    with open(tmp_path / "out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == record["columns"] and record["targets"] == ["load +1", "load +2"]
    # of 9 days: from the fourth to the eighth; of 8 days one fewer; of 4 days none
    assert [row["series"] for row in rows] == ["a"] * 5 + ["b"] * 4
    assert (record["rows"], record["series"], record["left_out"]) == (9, 2, 1)
    assert record["notes"] == ["too short, and left out: short"]
    for row in rows:
        day, scale = int(row["time"][-2:]), 1 if row["series"] == "a" else 10
        for k in (1, 2, 3):
            assert float(row[f"load lag {k}"]) == scale * (day - k) ** 2
        assert float(row["load mean of 2"]) == scale * ((day - 1) ** 2 + (day - 2) ** 2) / 2
        assert float(row["load largest of 2"]) == scale * (day - 1) ** 2
        assert float(row["wind"]) == day + 0.5
        assert float(row["load +1"]) == scale * day**2
        assert float(row["load +2"]) == scale * (day + 1) ** 2
    assert [row["time"] for row in rows[:2]] == ["2024-01-04", "2024-01-05"]


def test_it_is_written_as_its_ending_says(table, tmp_path):
    import polars

    for name, read in (
        ("a.parquet", polars.read_parquet),
        ("a.tsv", lambda path: polars.read_csv(path, separator="\t")),
    ):
        lags(table, lags=2, out=str(tmp_path / name))
        assert read(tmp_path / name)["load lag 1"][0] == 4.0
    with pytest.raises(ConfigError, match="csv, tsv or parquet"):
        lags(table, out="table.txt")


def test_the_horizon_of_one_has_the_name_of_its_channel():
    data = st.read({"y": np.arange(6.0), "z": np.arange(6.0) ** 2}, time=None, fill="refuse")
    columns, short = lag_table(data, lags=2)
    assert list(columns) == ["time", "y lag 1", "y lag 2", "z lag 1", "z lag 2", "y", "z"]
    assert columns["z"].tolist() == [4, 9, 16, 25] and columns["time"][0] == "2" and not short


def test_what_makes_no_sense_is_refused(table):
    data = st.read({"y": np.arange(6.0)}, fill="refuse")
    with pytest.raises(DataError, match="too little to look back on"):
        lag_table(data, lags=6)
    with pytest.raises(ConfigError, match="1 or more"):
        lag_table(data, lags=0)
    with pytest.raises(ConfigError, match="lagz"):
        lags(table, lagz=3)


def test_from_the_command_line(table, tmp_path, monkeypatch):
    from tests.terminal import good, refused

    monkeypatch.chdir(tmp_path)  # of which `refused` looks at every file
    out = tmp_path / "table.csv"
    said = good("lags", table, "--lags", 2, "--channels", "load", "--out", out)
    assert "load lag 2" in said.out and "to be learned: load" in said.out
    assert Path(out).read_text().splitlines()[1] == "2024-01-03,a,4.0,1.0,9.0"
    record = good("lags", table, "--lags", 2, "--format", "json").json()
    assert record["kind"] == "lags" and record["written"] == []
    refused("lags", table, "--lags", 0, code=2, words="lags")
    assert "--lags" in good("lags", "--help").out
