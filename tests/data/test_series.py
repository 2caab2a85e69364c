"""Tables of numbers over time: what is read is what was written, gaps are said or filled, and errors name file and line."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import numpy as np
import polars
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as some

from seriatim.codecs.options import CodecOptions
from seriatim.codecs.symbols import fit_codec
from seriatim.data import read
from seriatim.data.sequences import NUMBERS, Field, Sequences
from seriatim.data.series import FILLS, series_of
from seriatim.data.steps import Step, season_of, step_of
from seriatim.errors import ConfigError, DataError

BEGIN = datetime(2024, 3, 7, tzinfo=UTC)


@pytest.fixture
def write(tmp_path):
    def write_file(name: str, content: str) -> str:
        path = tmp_path / name
        path.write_text(content)
        return str(path)

    return write_file


def table(time: list, **columns: list) -> Sequences:
    """A table in memory, as `read` gives it: texts and numbers, a sequence a row."""
    fields = {"time": Field.of_text(time)} | {
        name: Field.of_text(cells)
        if isinstance(cells[0], str)
        else Field(np.array(cells, float), np.arange(len(cells) + 1), NUMBERS)
        for name, cells in columns.items()
    }
    return Sequences(fields, origin="memory.csv", lines=np.arange(2, len(time) + 2))


def hours(*numbers: float) -> list[str]:
    return [str(BEGIN + timedelta(hours=number)) for number in numbers]


def values(data: Sequences, s: int = 0) -> list:
    rows = data.field("values").row(s)
    return (rows[:, 0] if rows.shape[1] == 1 else rows).tolist()


def equal(first: Sequences, second: Sequences) -> bool:
    return first.fields.keys() == second.fields.keys() and all(
        np.array_equal(first.field(name).values, second.field(name).values, equal_nan=True)
        and first.field(name).names == second.field(name).names
        and np.array_equal(first.field(name).offsets, second.field(name).offsets)
        for name in first.fields
    )


# Files as published


@pytest.mark.parametrize(
    "name, channels, rows, first, step, words, season",
    [
        ("sunspot.month", ("value",), 3310, "1749-01-01", Step("month", 1.0), "monthly", 12),
        ("AirPassengers", ("value",), 144, "1949-01-01", Step("month", 1.0), "monthly", 12),
        (
            "ETTh1",
            ("HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT"),
            17_420,
            "2016-07-01",
            Step("second", 3600.0),
            "hourly",
            24,
        ),
        (
            "EuStockMarkets",
            ("DAX", "SMI", "CAC", "FTSE"),
            1860,
            "1970-01-01",
            Step("row", 1.0),
            "rows",
            1,
        ),
    ],
)
def test_public_files_are_read_without_a_word_about_them(
    public_data, name, channels, rows, first, step, words, season
):
    data = series_of(read(str(public_data / "series" / f"{name}.csv"), gaps=True))
    time = data.field("time").row(0)
    assert (data.by, list(data.fields), data.field("values").names, data.main.row(0).shape) == (
        "stream",
        ["values", "time"],
        channels,
        (rows, len(channels)),
    )
    assert (step_of(time), step_of(time).words, season_of(step_of(time))) == (step, words, season)
    assert (
        time[0] == np.datetime64(first, "s").astype(float) and not np.isnan(data.main.values).any()
    )


# Columns


LONG = "unique_id,ds,y,x\na,2024-01-02,2,20\nb,2024-01-01,10,1\na,2024-01-01,1,10\nb,2024-01-02,11,2\na,2024-01-03,3,30\n"


def test_series_are_taken_apart_and_each_is_put_in_order(write):
    data = series_of(read(write("a.csv", LONG)), known=["x"])
    assert (
        data.by,
        data.field("values").names,
        data.field("known").names,
        [row["name"] for row in data],
    ) == ("line", ("y",), ("x",), [["a"], ["b"]])
    assert (values(data, 0), values(data, 1)) == ([1, 2, 3], [10, 11]) and data.field("known").row(
        0
    ).tolist() == [[10], [20], [30]]
    assert (
        data.field("time").row(1).tolist()
        == data.field("time").row(0)[:2].tolist()
        == [1704067200, 1704153600]
    )


@settings(max_examples=40)
@given(
    cells=some.integers(1, 4).flatmap(
        lambda width: some.lists(
            some.lists(some.floats(-1e6, 1e6), min_size=width, max_size=width),
            min_size=2,
            max_size=20,
        )
    ),
    data=some.data(),
)
def test_a_wide_table_and_a_long_one_say_the_same(cells, data):
    cells = np.array(cells)  # (T, C)
    time, names = hours(*range(len(cells))), [f"c{i}" for i in range(cells.shape[1])]
    wide = series_of(table(time, **{name: column.tolist() for name, column in zip(names, cells.T)}))
    rows = data.draw(
        some.permutations([(t, c) for t in range(len(cells)) for c in range(len(names))])
    )
    long = series_of(
        table(
            [time[t] for t, _ in rows],
            series=[names[c] for _, c in rows],
            value=[float(cells[t, c]) for t, c in rows],
        )
    )
    for s in range(len(long)):
        c = names.index(long[s]["name"][0]) if len(long) > 1 else 0
        assert values(long, s) == wide.field("values").row(0)[:, c].tolist() and np.array_equal(
            long.field("time").row(s), wide.field("time").row(0)
        )
    order = data.draw(some.permutations(range(len(cells))))
    one = table(
        [time[t] for t in order],
        id=["only"] * len(cells),
        **{name: column[order].tolist() for name, column in zip(names, cells.T)},
    )
    assert equal(series_of(one), wide)  # one series, its rows in any order


def test_columns_are_found_by_their_names_or_by_what_they_hold(write):
    cases = {
        "DATE,a\n2024-01-01,1\n2024-01-02,2\n": "daily",
        "when,a\n1 Jan 2024,1\n2 Jan 2024,2\n": "daily",
        "Year,a\n1999,1\n2000,2\n": "yearly",
        "rownames,a\n1,1\n2,2\n": "rows",
        "index,note,a\n0,x,1\n1,y,2\n": "rows",
        "id,month,a\n1,2024-01,1\n2,2024-02,2\n": "monthly",
        "timestamp,a\n1704067200000,1\n1704070800000,2\n": "hourly",
        "time,a\n1,1\n2,2\n": "rows",
        "period,month,a\nam,202401,1\npm,202402,2\n": "monthly",
    }
    for content, words in cases.items():
        data = series_of(read(write("a.csv", content)))
        assert (
            data.field("values").names,
            values(data),
            step_of(data.field("time").row(0)).words,
        ) == (("a",), [1, 2], words), content


def test_columns_that_are_named_are_taken(write):
    path = write(
        "a.csv",
        "site,day,week,a,b,c\n1,2024-01-01,2024-01-01,1,2,3\n2,2024-01-01,2024-01-01,4,5,6\n1,2024-01-02,2024-01-08,7,8,9\n",
    )
    data = series_of(read(path), time="week", series="site", channels=["c", "a"], known=["b"])
    assert (data.field("values").names, data.field("known").names, data.field("name").names) == (
        ("c", "a"),
        ("b",),
        ("1", "2"),
    )
    assert values(data) == [[3, 1], [9, 7]] and step_of(data.field("time").row(0)).words == "weekly"


def test_series_stay_series():
    data = read("oscillator:length=10")
    assert series_of(data) is data
    with pytest.raises(ConfigError, match="already"):
        series_of(data, channels=["value1"])


# Gaps


GAPS = [None, 1.0, None, None, 4.5, 6.0, None]


def gapped(name: str) -> str:
    """The same table in the text of a format; missing is nothing, NA, null or NaN."""
    rows = [{"date": f"2024-01-0{i}", "a": gap, "b": i} for i, gap in enumerate(GAPS, 1)]
    if name == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in rows).replace("null", "NaN", 1)
    lines = [",".join("" if cell is None else str(cell) for cell in row.values()) for row in rows]
    text = "\n".join(["date,a,b", *lines]).replace(",,", ",NA,", 1)
    return text if name == "csv" else text.replace(",", "\t")


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_missing_numbers_are_read_from_every_table_if_that_is_asked_for(write, ending):
    path = write(f"a.{ending}", "" if ending == "parquet" else gapped(ending))
    if ending == "parquet":
        polars.DataFrame(
            {"date": [f"2024-01-0{i}" for i in range(1, 8)], "a": GAPS, "b": range(1, 8)}
        ).write_parquet(path)
    data = read(path, gaps=True)
    np.testing.assert_array_equal(data.field("a").flat, np.array(GAPS, float))
    assert data.field("b").flat.tolist() == list(range(1, 8))
    np.testing.assert_array_equal(
        series_of(data, fill="keep").field("values").row(0)[:, 0], np.array(GAPS, float)
    )


def test_gaps_are_an_error_unless_they_are_asked_for(write):
    with pytest.raises(DataError, match="missing value in column 'a'"):
        read(write("a.csv", "a\n" + "1\n" * 20 + "NA\n"))
    with pytest.raises(DataError, match="missing value in column 'a'"):
        read(write("a.jsonl", '{"a": 1}\n{"a": null}\n'))
    with pytest.raises(DataError, match="infinite number in column 'a'") as caught:
        read(write("a.csv", "a\n" + "1\n" * 20 + "inf\n"), gaps=True)  # not missing: wrong
    assert caught.value.line == 22
    assert [
        len(read(write("a.txt", "a\n\nb\n"), by="line", gaps=gaps)) for gaps in (False, True)
    ] == [2, 3]
    assert (
        read(write("b.csv", "a,b\nx,\n,\n"), gaps=True).field("b").kind == "text"
    )  # nothing says that these are numbers


def filled_slowly(cells: list[float | None], times: list[float], fill: str) -> list[float] | None:
    """The slow twin: one gap at a time, by looking around."""
    there = [i for i, cell in enumerate(cells) if cell is not None]
    if not there or (fill == "previous" and there[0] > 0):
        return None
    found = []
    for i, time in enumerate(times):
        before, after = (
            max((j for j in there if j <= i), default=there[0]),
            min((j for j in there if j >= i), default=there[-1]),
        )
        if fill == "previous" or before == after:
            found.append(cells[before])
        elif fill == "linear" and before < i < after:
            share = (time - times[before]) / (times[after] - times[before])
            found.append(cells[before] + share * (cells[after] - cells[before]))
        else:
            found.append(cells[after if i < before else before])
    return [
        float(np.mean([cells[j] for j in there])) if fill == "mean" and i not in there else cell
        for i, cell in enumerate(found)
    ]


@settings(max_examples=60)
@given(
    cells=some.lists(some.none() | some.floats(-100, 100), min_size=1, max_size=15),
    holes=some.sets(some.integers(1, 13), max_size=5),
    fill=some.sampled_from(["previous", "linear", "mean"]),
)
def test_cells_and_rows_that_are_missing_are_filled_as_by_hand(cells, holes, fill):
    kept = [hour for hour in range(len(cells)) if hour not in holes or hour == len(cells) - 1]
    steps = sorted(np.diff(kept))
    assume(not steps or steps[(len(steps) - 1) // 2] == 1)  # hourly, whatever is missing
    data = table(hours(*kept), a=[np.nan if cells[hour] is None else cells[hour] for hour in kept])
    expected = filled_slowly(
        [cells[hour] if hour in kept else None for hour in range(len(cells))],
        list(range(len(cells))),
        fill,
    )
    if expected is None:
        with pytest.raises(DataError, match=r"nothing comes before|no column of numbers"):
            series_of(data, fill=fill)
    else:
        np.testing.assert_allclose(values(series_of(data, fill=fill)), expected, atol=1e-9)


def test_rows_that_are_missing_are_put_in_also_between_months_and_weekdays():
    months, lasts = (
        ["2024-01", "2024-02", "2024-04", "2024-05"],
        ["2023-12-31", "2024-01-31", "2024-02-29", "2024-04-30"],
    )
    weekdays = ["2024-03-06", "2024-03-07", "2024-03-08", "2024-03-11", "2024-03-12", "2024-03-14"]
    for time, place, expected in (
        (months, 2, "2024-03"),
        (lasts, 3, "2024-03-31"),
        (weekdays, 5, "2024-03-13"),
    ):
        data = series_of(table(time, a=[float(i) for i in range(len(time))]), fill="keep")
        assert data.field("time").row(0)[place] == np.datetime64(expected, "s").astype(float)
        assert np.isnan(values(data)).tolist() == [i == place for i in range(len(time) + 1)]
        with pytest.raises(DataError, match="1 row is missing") as caught:
            series_of(table(time, a=[1.0] * len(time)))
        assert caught.value.line == place + 2


def test_every_series_has_its_own_grid_and_its_own_mean():
    data = table(
        hours(0, 1, 3, 0, 24, 72), series=[*"aaabbb"], value=[1.0, 3.0, 8.0, 10.0, np.nan, 30.0]
    )
    found = series_of(data, fill="mean")
    assert (values(found, 0), values(found, 1)) == ([1, 3, 4, 8], [10, 20, 20, 30]) and found.field(
        "time"
    ).lengths.tolist() == [4, 4]


@pytest.mark.parametrize("fill", FILLS)
def test_irregular_times_stay_as_they_are(fill):
    times = hours(0, 1.3, 2, 5, 5.7)
    data = series_of(table(times, a=[1.0, 2.0, 3.0, 4.0, 5.0]), fill=fill)
    assert (
        values(data) == [1, 2, 3, 4, 5] and step_of(data.field("time").row(0)).kind == "irregular"
    )
    assert data.field("time").row(0).tolist() == [
        datetime.fromisoformat(time).timestamp() for time in times
    ]


def test_lines_are_straight_in_time_not_in_rows():
    assert values(
        series_of(table(hours(0, 4, 5, 11.7), a=[1.0, np.nan, 6.0, 7.0]), fill="linear")
    ) == [1, 5, 6, 7]


def test_of_two_steps_the_smaller_is_usual():
    assert values(series_of(table(hours(0, 1, 3), a=[1.0, 2.0, 4.0]), fill="linear")) == [
        1,
        2,
        3,
        4,
    ]


# What is wrong


ROWS = "".join(f"2024-01-{day:02},{day}\n" for day in range(1, 21))
WRONG = {  # name -> content, options, line or None, words of the message
    "gap": (
        "date,a\n" + ROWS + "2024-01-21,\n2024-01-22,\n",
        {},
        22,
        "2 numbers are missing, the first in column 'a'.*previous",
    ),
    "hole": (
        "date,a\n" + ROWS + "2024-01-25,1\n",
        {},
        22,
        r"4 rows are missing, the first before this one \(daily\). Received: 2024-01-25",
    ),
    "same time": (
        "date,a\n" + ROWS + "2024-01-05,1\n",
        {},
        22,
        "same time. Received: 2024-01-05.*tells series apart",
    ),
    "same time in a series": (
        "date,id,a\n2024-01-01,x,1\n2024-01-01,y,1\n2024-01-01,x,2\n",
        {},
        4,
        "same time",
    ),
    "no date": ("date,a\n" + ROWS + "soon,1\n", {}, 22, "'soon'"),
    "no date in a column without a name": ("when,a\n" + ROWS + "soon,1\n", {}, 22, "'soon'"),
    "missing date": ("date,a\n" + ROWS + ",1\n", {}, 22, "is for times"),
    "missing year": (
        "year,a\n" + "".join(f"{year},1\n" for year in range(1900, 1930)) + ",1\n",
        {},
        32,
        "is for times",
    ),
    "both orders": ("date,a\n13/01/2024,1\n01/14/2024,2\n", {}, 3, "order"),
    "no number": (
        "date,a\n" + ROWS + "2024-01-21,1O\n",
        {},
        22,
        "column 'a' is for numbers. Received: '1O'",
    ),
    "infinite": (
        "date,a\n2024-01-01,1\n2024-01-02,inf\n",
        {},
        3,
        "column 'a' is for numbers. Received: 'inf'",
    ),
    "text named as channel": (
        "date,a,b\n2024-01-01,1,x\n2024-01-02,2,y\n",
        {"channels": ["b"]},
        2,
        "column 'b' is for numbers",
    ),
    "no channel": (
        "date,note\n2024-01-01,x\n2024-01-02,y\n",
        {},
        None,
        "no column of numbers is left.*date, note",
    ),
    "no name of a series": ("series,a\nx,1\nx,2\n,3\n", {}, 4, "which series"),
    "nothing before": (
        "date,a\n2024-01-01,\n" + ROWS.replace("2024", "2025"),
        {"fill": "previous"},
        2,
        "nothing comes before",
    ),
    "nothing at all": (
        "date,id,a\n2024-01-01,x,1\n2024-01-01,y,\n2024-01-02,x,1\n2024-01-02,y,\n",
        {"fill": "linear"},
        3,
        "has no number",
    ),
    "far future": ("time,a\n1,1\n1e300,1\n", {}, 3, "is for times"),
    "too many rows": ("time,a\n1.5,1\n2,1\n2.5,1\n1e9,1\n", {"fill": "linear"}, None, "too many"),
    "unknown column": ("date,a\n" + ROWS, {"time": "dates"}, None, "Did you mean 'date'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_with_file_and_line(write, case):
    content, options, line, words = WRONG[case]
    path = write("a.csv", content)
    with pytest.raises(DataError, match=words) as caught:
        series_of(read(path, gaps=True), **options)
    assert caught.value.line == line and path in str(caught.value)


def test_lists_are_no_cells(write):
    with pytest.raises(DataError, match="one value a row"):
        series_of(read(write("a.jsonl", '{"a": [1, 2]}\n{"a": [3]}\n')))


@pytest.mark.parametrize(
    "options, words",
    [
        ({"fill": "linaer"}, "Did you mean 'linear'"),
        ({"channels": ["a"], "known": ["a"]}, "one part"),
        ({"time": "a", "channels": ["a"]}, "one part"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options, words):
    with pytest.raises(ConfigError, match=words):
        series_of(table(hours(0, 1), a=[1.0, 2.0]), **options)


# As data among others


def test_a_part_of_a_series_keeps_all_its_numbers_together(write):
    data = series_of(read(write("a.csv", "date,a,x\n" + ROWS.replace("\n", ",7\n"))), known=["x"])
    first, second = data.split(0.5, 0.5)
    assert {name: len(column.flat) for name, column in second.fields.items()} == {
        "values": 10,
        "time": 10,
        "known": 10,
    }
    assert values(first) + values(second) == list(range(1, 21)) and np.shares_memory(
        first.main.flat, data.main.values
    )


def test_series_are_no_text(write):
    with pytest.raises(DataError, match="numbers are not text"):
        fit_codec(series_of(read(write("a.csv", LONG))).main, CodecOptions())


MONTHS = [(2012 + i // 12, i % 12 + 1) for i in range(30)]


@pytest.mark.parametrize("form", ["{1:02}.{0}", "{1}/{0}", "{0}/{1:02}", "{0}.{1:02}"])
def test_months_without_a_day_are_times_though_they_look_like_numbers(write, form):
    rows = [f"{form.format(*month)};{i + 1000}" for i, month in enumerate(MONTHS)]
    path = write("a.csv", "\n".join(["Monat;Menge", *rows]))
    data = read(path, fill="refuse")
    assert step_of(data.field("time").row(0)).words == "monthly"
    assert data.field("values").names == ("Menge",)
    assert data.told.endswith("time 'Monat', channels 'Menge'")


def test_numbers_that_are_no_months_stay_numbers(write):
    for cells in (["1.2012", "13.2012", "2.2012"], ["1.2001", "2.1900", "7.2198"], ["2012.01"] * 3):
        path = write("a.csv", "\n".join(["share,other", *(f"{cell},1" for cell in cells)]))
        assert read(path, fill="refuse").field("values").names == ("share", "other")


@pytest.mark.parametrize("name", ["Jahr", "fecha", "année"])
def test_a_time_is_known_by_its_name_in_other_languages(write, name):
    path = write("a.csv", "\n".join([f"{name},y", *(f"{2000 + i},{i}" for i in range(9))]))
    assert read(path, fill="refuse").field("values").names == ("y",)
    path = write("b.csv", "\n".join([f"{name},y", *(f"{i % 7},{i}" for i in range(9))]))
    assert read(path, fill="refuse").field("values").names == (name, "y")  # no times
