"""Hours of local time that are there twice, where clocks are put back."""

from __future__ import annotations

import pytest

import seriatim as st
from seriatim.errors import DataError


def hours(day: str, twice: int | None, step: int = 60) -> dict:
    """Two days by local time, an hour of the second of which comes twice."""
    before, months = [], day[:8]
    for date in (f"{months}{int(day[8:]) - 1:02d}", day):
        for hour in range(24):
            each = [f"{date} {hour:02d}:{minute:02d}" for minute in range(0, 60, step)]
            before += each * (1 + (date == day and hour == twice))
    return {"time": before, "MW": list(map(float, range(len(before))))}


@pytest.mark.parametrize("step", [60, 15])
@pytest.mark.parametrize(("day", "hour"), [("2023-10-29", 2), ("2023-11-05", 1)])
def test_where_clocks_go_back_the_zone_is_asked_for(day, hour, step):
    with pytest.raises(DataError) as caught:
        st.fit("forecast", "persistence", hours(day, hour, step), horizon=2)
    words = str(caught.value)
    assert "write the time zone" in words and f"{day} {hour:02d}:00:00+02:00" in words


@pytest.mark.parametrize(("day", "hour"), [("2023-10-29", 14), ("2023-07-09", 2)])
def test_other_times_that_come_twice_are_of_other_series(day, hour):
    with pytest.raises(DataError, match="tells series apart"):
        st.fit("forecast", "persistence", hours(day, hour), horizon=2)


def test_days_that_come_twice_are_of_other_series_in_autumn_too():
    days = [f"2023-10-{day:02d}" for day in (1, 2, 2, 3, 4, 5, 6, 7)]
    with pytest.raises(DataError, match="tells series apart"):
        st.fit("forecast", "persistence", {"date": days, "y": list(range(8))}, horizon=2)
