"""Axes of time: ticks at round moments of one kind, and which year it is.

axis = time_axis(low, high)      moments are thousandths of seconds since 1970, UTC
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

MOST_TICKS = 7
DAY = 86_400_000  # thousandths of seconds
YEARS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
MONTHS = (1, 2, 3, 6)
# minutes between ticks of less than a few months: from one minute to four weeks
MINUTES = (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720)
DAYS = (1, 2, 4, 7, 14, 28)


def time_axis(low: float, high: float, **look: Any) -> Any:
    """The axis of moments between two, named by what its ticks count; with the year where they do
    not tell it."""
    import altair as alt

    ticks, form, words = ticks_of(low, high)
    if len(ticks) < 2:
        return alt.Axis(labelOverlap=True, tickCount=6, title="time", **look)
    return alt.Axis(values=ticks, format=form, title=words, labelOverlap=True, **look)


def ticks_of(low: float, high: float) -> tuple[list[float], str, str]:
    """Round moments between two, how they are written, and what they are.

    >>> ticks, form, words = ticks_of(0, 40 * DAY)
    >>> len(ticks), form, words
    (6, '%-d %b', 'day, 1970')
    >>> ticks_of(0, 3 * 365 * DAY)[1:]
    ('%b %Y', 'month')
    """
    first, last = moment(low), moment(high)
    years = f"{first.year}" if first.year == last.year else f"{first.year} to {last.year}"
    span = (high - low) / DAY
    if span > 4 * 365:
        step = least_step(YEARS, span / 365)
        return stamps(yearly(first, last, step), low, high), "%Y", "year"
    if span > 100:
        step = least_step(MONTHS, span / 30.5)
        return stamps(monthly(first, last, step), low, high), "%b %Y", "month"
    if span > 3:
        step = least_step(DAYS, span)
        return stamps(evenly(first, last, 1440 * step), low, high), "%-d %b", f"day, {years}"
    step = least_step(MINUTES, 1440 * span)
    found = stamps(evenly(first, last, step), low, high)
    if first.date() == last.date():
        return found, "%H:%M", f"time, {first.date()}"
    return found, "%-d %b %H:%M", f"time, {years}"


def least_step(steps: tuple[int, ...], many: float) -> int:
    """The least of some steps with which there are few ticks."""
    return next((step for step in steps if many / step <= MOST_TICKS), steps[-1])


def moment(stamp: float) -> datetime:
    """A moment, UTC."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=stamp)


def stamps(moments: Iterator[datetime], low: float, high: float) -> list[float]:
    """Moments as thousandths of seconds, those that are drawn."""
    begin = datetime(1970, 1, 1, tzinfo=UTC)
    found = [(each - begin) / timedelta(milliseconds=1) for each in moments]
    return [each for each in found if low <= each <= high]


def yearly(first: datetime, last: datetime, step: int) -> Iterator[datetime]:
    """The beginnings of years that are divided by a step."""
    for year in range(max(1, first.year), last.year + 1):
        if year % step == 0:
            yield datetime(year, 1, 1, tzinfo=UTC)


def monthly(first: datetime, last: datetime, step: int) -> Iterator[datetime]:
    """The beginnings of every so many months, January among them."""
    for year in range(first.year, last.year + 1):
        for month in range(1, 13, step):
            yield datetime(year, month, 1, tzinfo=UTC)


def evenly(first: datetime, last: datetime, minutes: int) -> Iterator[datetime]:
    """Every so many minutes, from the beginning of the first day on."""
    at = first.replace(hour=0, minute=0, second=0, microsecond=0)
    step = timedelta(minutes=minutes)
    while at <= last:
        yield at
        at += step
