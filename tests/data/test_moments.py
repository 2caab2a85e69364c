"""Dates in every usual form come back as the moment they name; steps and the calendar agree with the standard library's."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from seriatim.data import moments
from seriatim.data.moments import DAY, MONTHS, moments_of, parts_of, seconds_of, shapes_of
from seriatim.data.sequences import Field
from seriatim.data.steps import Step, calendar, season_of, step_of

MOMENTS = some.datetimes(datetime(1000, 1, 1), datetime(2999, 12, 30)).map(
    lambda moment: moment.replace(microsecond=0)
)
DAYS = {  # a date with its day
    "2024-03-07": lambda d: f"{d.year}-{d.month:02}-{d.day:02}",
    "2024/3/7": lambda d: f"{d.year}/{d.month}/{d.day}",
    "20240307": lambda d: f"{d.year}{d.month:02}{d.day:02}",
    "07.03.2024": lambda d: f"{d.day:02}.{d.month:02}.{d.year}",
    "7 Mar 2024": lambda d: f"{d.day} {MONTHS[d.month - 1][:3].title()} {d.year}",
    "07-MAR-2024": lambda d: f"{d.day:02}-{MONTHS[d.month - 1][:3].upper()}-{d.year}",
    "March 7, 2024": lambda d: f"{MONTHS[d.month - 1].title()} {d.day}, {d.year}",
    "mar. 7 2024": lambda d: f"{MONTHS[d.month - 1][:3]}. {d.day} {d.year}",
}
CLOCKS = {  # what can stand behind it: the text, and the moment it leaves
    "": (lambda d: "", lambda d: d.replace(hour=0, minute=0, second=0)),
    "T14": (lambda d: f"T{d:%H}", lambda d: d.replace(minute=0, second=0)),
    " 14:30": (lambda d: f" {d:%H:%M}", lambda d: d.replace(second=0)),
    "T14:30:05": (lambda d: f"T{d:%H:%M:%S}", lambda d: d),
    " 2:30:05 PM": (
        lambda d: f" {d.hour % 12 or 12}:{d:%M:%S} {'PM' if d.hour > 11 else 'a.m.'}",
        lambda d: d,
    ),
}
PERIODS = {  # months, quarters, years
    "2024-03": lambda d: f"{d.year}-{d.month:02}",
    "Mar 2024": lambda d: f"{MONTHS[d.month - 1][:3].title()} {d.year}",
    "March 2024": lambda d: f"{MONTHS[d.month - 1].title()} {d.year}",
    "2024Q1": lambda d: f"{d.year}Q{(d.month + 2) // 3}",
    "2024-q1": lambda d: f"{d.year}-q{(d.month + 2) // 3}",
    "Q1 2024": lambda d: f"Q{(d.month + 2) // 3} {d.year}",
    "2024": lambda d: f"{d.year}",
}


def seconds(moment: datetime | date) -> float:
    moment = (
        moment if isinstance(moment, datetime) else datetime(moment.year, moment.month, moment.day)
    )
    return (
        moment.replace(tzinfo=moment.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    ).total_seconds()


def array(moments) -> np.ndarray:
    return np.array([seconds(moment) for moment in moments])


# Dates


@pytest.mark.parametrize("form", DAYS)
@settings(max_examples=50)
@given(moment=MOMENTS, clock=some.sampled_from(list(CLOCKS)))
def test_a_day_and_a_time_of_day_in_every_form(form, clock, moment):
    clock, kept = CLOCKS[clock]
    assert moments_of([DAYS[form](moment) + clock(moment)]).tolist() == [seconds(kept(moment))]


@pytest.mark.parametrize("form", PERIODS)
@settings(max_examples=30)
@given(moment=MOMENTS)
def test_a_month_a_quarter_or_a_year_is_its_beginning(form, moment):
    month = (
        1
        if form == "2024"
        else 3 * ((moment.month + 2) // 3) - 2
        if "q" in form.lower()
        else moment.month
    )
    assert moments_of([f" {PERIODS[form](moment)} "]).tolist() == [
        seconds(date(moment.year, month, 1))
    ]


@given(
    moment=MOMENTS,
    hours=some.integers(-12, 14),
    minutes=some.sampled_from([0, 30, 45]),
    separator=some.sampled_from("T "),
)
def test_zones_are_moved_to_utc_so_that_summer_time_does_not_matter(
    moment, hours, minutes, separator
):
    there = moment.replace(
        tzinfo=timezone(timedelta(hours=hours, minutes=minutes if hours < 14 else 0))
    )
    text = there.isoformat(separator)
    assert moments_of([text, text[:-3] + text[-2:], f"{moment}Z"]).tolist() == [
        seconds(there),
        seconds(there),
        seconds(moment),
    ]


def test_fractions_of_a_second_and_the_end_of_a_day():
    found = moments_of(["1970-01-01 00:00:00.25", "1970-01-01T24:00", "1970-01-02 00:00:01.5+01"])
    assert found.tolist() == [0.25, DAY, DAY + 1.5 - 3600]


@given(days=some.lists(some.dates(date(1970, 1, 1), date(2068, 12, 31)), min_size=1))
def test_between_slashes_the_month_comes_first_unless_the_column_says_otherwise(days):
    month_first, day_first = (
        [form(day) for day in days]
        for form in (
            lambda d: f"{d.month}/{d.day:02}/{d.year}",
            lambda d: f"{d.day:02}/{d.month}/{d.year}",
        )
    )
    assert (
        moments_of(month_first).tolist()
        == moments_of([f"{day:%m/%d/%y}" for day in days]).tolist()
        == array(days).tolist()
    )
    assert moments_of([*day_first, "13/01/2024"])[:-1].tolist() == array(days).tolist()
    assert np.isnan(moments_of(["13/01/2024", "01/13/2024", "01/02/2024"])).tolist() == [
        False,
        True,
        False,
    ]  # both: the column contradicts itself


@pytest.mark.parametrize(
    "cell",
    [
        "",
        "soon",
        "nan",
        "2024-13-01",
        "2023-02-29",
        "31.04.2024",
        "2024-03-07 25:00",
        "2024-03-07 24:01",
        "2024-03-07 12:60",
        "2024-03-07 13:00 pm",
        "2024-03-07 12:00+15:00",
        "2024Q5",
        "7 Foo 2024",
        "03-07-24",
        "0999-01-01",
        "2024-03-07x",
        "12",
        "202413",
        "1.5",
    ],
)
def test_what_is_no_date_is_not_a_number(cell):
    assert np.isnan(moments_of([cell])).all()


@settings(max_examples=30)
@given(moments=some.lists(MOMENTS.filter(lambda moment: moment.year > 1973), min_size=1))
def test_seconds_since_1970_and_parts_of_them_are_told_by_their_size(moments):
    times = array(moments)
    for scale in (1, 1000):
        np.testing.assert_allclose(moments_of((times + 0.5) * scale), times + 0.5)
    np.testing.assert_allclose(moments_of(times[times < 4e9] * 1e9), times[times < 4e9], atol=1e-3)
    assert moments_of(np.array([np.nan, 1.5, 2.0]))[1:].tolist() == [1.5, 2.0]


@given(days=some.lists(some.dates(date(1500, 1, 1), date(2199, 12, 31)), min_size=1))
def test_whole_numbers_can_be_dates(days):
    assert (
        moments_of(np.array([float(f"{day:%Y%m%d}") for day in days])).tolist()
        == array(days).tolist()
    )
    assert (
        moments_of(np.array([float(f"{day:%Y%m}") for day in days])).tolist()
        == array(day.replace(day=1) for day in days).tolist()
    )
    assert (
        moments_of(np.array([float(day.year) for day in days])).tolist()
        == array(date(day.year, 1, 1) for day in days).tolist()
    )


@given(
    first=some.integers(12 * 1000, 12 * 2900),
    size=some.sampled_from([1, 2, 3, 6]),
    shift=some.sampled_from([0, 0.5]),
    digits=some.sampled_from([3, 4, 12]),
)
def test_decimal_years_a_month_apart_are_months(first, size, shift, digits):
    months = first + size * np.arange(13)
    found = moments_of(np.round((months + shift) / 12, digits))
    assert (
        found.tolist()
        == array(date(month // 12, month % 12 + 1, 1) for month in months.tolist()).tolist()
    )


@pytest.mark.parametrize(
    "many, words, season",
    [(365, "daily", 7), (365.25, "daily", 7), (52, "weekly", 52), (24 * 365.25, "hourly", 24)],
)
def test_other_decimal_years_are_years_of_equal_length(many, words, season):
    times = moments_of(1990.1 + np.arange(3000) / many)
    step = step_of(times)
    assert (step.words, season_of(step)) == (words, season) and abs(
        times[0] - seconds(date(1990, 2, 6))
    ) < DAY


# Steps


def months_after(day: datetime, months: int, last: bool = False) -> datetime:
    """The slow twin: the same day of a later month, or the last one there is."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    for number in range(31 if last else day.day, 0, -1):
        try:
            return day.replace(year=year, month=month + 1, day=number)
        except ValueError:
            pass
    raise AssertionError


STEPS = {  # the name in words -> the next moment, the season
    "hourly": (lambda d: d + timedelta(hours=1), 24),
    "every 15 minutes": (lambda d: d + timedelta(minutes=15), 96),
    "daily": (lambda d: d + timedelta(1), 7),
    "every minute": (lambda d: d + timedelta(minutes=1), 1440),
    "every 10 seconds": (lambda d: d + timedelta(seconds=10), 6),
    "every second": (lambda d: d + timedelta(seconds=1), 60),
    "weekly": (lambda d: d + timedelta(7), 52),
    "every 2 weeks": (lambda d: d + timedelta(14), 26),
    "every 10 days": (lambda d: d + timedelta(10), 1),
    "every 90 minutes": (lambda d: d + timedelta(minutes=90), 16),
    "every weekday": (lambda d: d + timedelta(3 if d.weekday() == 4 else 1), 5),
    "monthly": (lambda d: months_after(d, 1), 12),
    "quarterly": (lambda d: months_after(d, 3), 4),
    "yearly": (lambda d: months_after(d, 12), 1),
    "every 2 months": (lambda d: months_after(d, 2), 6),
    "every 5 years": (lambda d: months_after(d, 60), 1),
}
STARTS = some.datetimes(datetime(1980, 1, 1), datetime(2030, 1, 1)).map(
    lambda moment: moment.replace(day=min(moment.day, 27), microsecond=0)
)


def walk(start: datetime, following, many: int) -> list[datetime]:
    moments = [start]
    while len(moments) < many:
        moments.append(following(moments[-1]))
    return moments


@pytest.mark.parametrize("words", STEPS)
@settings(max_examples=25)
@given(start=STARTS, many=some.integers(12, 30), holes=some.sets(some.integers(1, 6), max_size=2))
def test_the_step_is_found_with_holes_or_without_and_goes_on(words, start, many, holes):
    following, season = STEPS[words]
    start = start - timedelta(max(0, start.weekday() - 4)) if words == "every weekday" else start
    moments = walk(start, following, many + 5)
    kept = array(moment for i, moment in enumerate(moments[:many]) if i not in holes)
    step = step_of(kept)
    assert (step.words, season_of(step)) == (words, season)
    assert step.after(kept[-1], 5).tolist() == array(moments[many:]).tolist()
    assert np.round(step.between(kept)).sum() == many - 1


@given(
    year=some.integers(1980, 2030),
    month=some.integers(1, 12),
    size=some.sampled_from([1, 3, 12]),
    many=some.integers(3, 30),
)
def test_the_last_days_of_months_are_regular(year, month, size, many):
    start = months_after(datetime(year, month, 1), 0, last=True)
    moments = [months_after(start, size * i, last=True) for i in range(many + 4)]
    step = step_of(array(moments[:many]))
    assert (
        step == Step("month", size, last=True)
        and step.after(seconds(moments[many - 1]), 4).tolist() == array(moments[many:]).tolist()
    )


def test_a_month_too_short_for_a_day_takes_its_last():
    assert (
        Step("month", 1.0).after(seconds(date(2024, 1, 30)), 3).tolist()
        == array([date(2024, 2, 29), date(2024, 3, 30), date(2024, 4, 30)]).tolist()
    )


@given(first=some.integers(0, 10**6), many=some.integers(2, 50))
def test_numbers_of_rows_have_rows_for_steps(first, many):
    step = step_of(np.arange(first, first + many, dtype=float))
    assert (step, step.words, season_of(step), step.after(5.0, 2).tolist()) == (
        Step("row", 1.0),
        "rows",
        1,
        [6.0, 7.0],
    )


@pytest.mark.parametrize(
    "times",
    [
        [0, 10, 25, 31, 50],
        [seconds(date(2024, 1, 5)), seconds(date(2024, 1, 17)), seconds(date(2024, 3, 2))],
        [7.0],
        [],
    ],
)
def test_what_has_no_step_is_irregular(times):
    step = step_of(np.array(times, float))
    assert (step.kind, step.words, season_of(step)) == ("irregular", "irregular", 1) and (
        step.between(np.array(times)) == 1
    ).all()


# The calendar


@settings(max_examples=30)
@given(moments=some.lists(MOMENTS, min_size=1, max_size=20))
def test_the_calendar_is_that_of_the_standard_library(moments):
    features, names = calendar(array(moments), Step("irregular", 1.0))
    length = [
        (months_after(moment.replace(day=1), 1) - moment.replace(day=1)).days for moment in moments
    ]
    cycles = {
        "hour of day": [(d.hour * 3600 + d.minute * 60 + d.second) / DAY for d in moments],
        "day of week": [d.weekday() / 7 for d in moments],
        "day of month": [(d.day - 1) / many for d, many in zip(moments, length)],
        "month of year": [(d.month - 1) / 12 for d in moments],
    }
    assert names == [f"{cycle}, {wave}" for cycle in cycles for wave in ("sine", "cosine")]
    expected = [
        wave(2 * np.pi * np.array(cycle)) for cycle in cycles.values() for wave in (np.sin, np.cos)
    ]
    np.testing.assert_allclose(features, np.stack(expected, 1), atol=1e-6)


@pytest.mark.parametrize(
    "words, expected",
    [
        ("hourly", "hour week day month"),
        ("daily", "week day month"),
        ("every weekday", "week day month"),
        ("weekly", "day month"),
        ("monthly", "month"),
        ("yearly", ""),
        ("every 90 minutes", "hour week day month"),
    ],
)
def test_the_calendar_has_what_varies_from_step_to_step(words, expected):
    times = array(walk(datetime(2024, 1, 1), STEPS[words][0], 900))
    features, names = calendar(times, step_of(times))
    cycles = {
        "hour": "hour of day",
        "week": "day of week",
        "day": "day of month",
        "month": "month of year",
    }
    assert names == [
        f"{cycles[each]}, {wave}" for each in expected.split() for wave in ("sine", "cosine")
    ]
    assert features.shape == (900, len(names)) and (np.ptp(features, 0) > 0.1).all()


def test_rows_have_no_calendar():
    assert calendar(np.arange(5.0), Step("row", 1.0))[0].shape == (5, 0)


# Whole columns


WRITTEN = some.one_of(
    some.builds(
        lambda form, clock, moment, zone: DAYS[form](moment) + CLOCKS[clock][0](moment) + zone,
        some.sampled_from(list(DAYS)),
        some.sampled_from(list(CLOCKS)),
        MOMENTS,
        some.sampled_from(["", "Z", " UTC", "+01:00", "-0530", "+99"]),
    ),
    some.builds(
        lambda form, moment: PERIODS[form](moment), some.sampled_from(list(PERIODS)), MOMENTS
    ),
    some.from_regex(r"\A\d{1,2}/\d{1,2}/(\d\d|[0-3]\d{3})( \d\d:\d\d(:\d\d\.\d{1,18})?)?\Z"),
    some.from_regex(r"\A\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,9})?\Z"),
    some.from_regex(r"\A(\d{4,8}|\d{4}[- ]?[qQ]\d|[qQ]\d[- ]?\d{4}|\d{4}-\d{1,2})\Z"),
    some.text("0123456789-/:. qTmar", max_size=12),
    some.text(max_size=5),
)


@settings(max_examples=400)
@given(
    cells=some.lists(some.tuples(WRITTEN, some.sampled_from(["", " "])), min_size=1, max_size=12)
)
def test_cells_that_are_read_together_are_read_as_one_by_one(cells):
    cells = [blank + cell + blank for cell, blank in cells]
    parts = [parts_of(cell) for cell in cells]
    day_first = any(int(part.get("left") or 0) > 12 for part in parts)
    alone = np.array([seconds_of(part, day_first) for part in parts])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moments, "MANY", 0)
        np.testing.assert_array_equal(moments_of(cells), alone)
    np.testing.assert_array_equal(moments_of(cells * 17), np.tile(alone, 17))


def test_a_long_column_is_read_together():
    days = [date(2000, 1, 1) + timedelta(days=i) for i in range(3000)]
    for form in ("%Y-%m-%d", "%d %b %Y", "%m/%d/%y", "%Y-%m-%dT%H:%M:%S+00:00", " %d.%m.%Y "):
        shapes, rest = shapes_of(Field.of_text(day.strftime(form) for day in days))
        assert not len(rest) and sum(len(shape.rows) for shape in shapes) == 3000
        assert moments_of([day.strftime(form) for day in days]).tolist() == array(days).tolist()
