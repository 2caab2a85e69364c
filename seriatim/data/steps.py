"""Steps of time: how far apart the moments of a series are, which one comes next, what the calendar
says of it.

    second    the same number of seconds apart: hourly, daily, every 15 minutes
    weekday   daily from Monday to Friday: Saturdays and Sundays are not missing
    month     on the same day of every month, quarter or year, or on its last one
    row       numbered, for want of a time
    irregular anything else

The usual step is the median one. Times are regular if every difference is a multiple of it; where
it is more than one, rows are missing. Shapes: N moments, K features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seriatim.data.moments import DAY, YEAR

WEEK = 7 * DAY


ROWS = 1e8  # steps of one second before 1973 are numbers of rows


NEAR = 0.01  # of a step: how far from a multiple of it a difference may be


UNITS = ((WEEK, "week"), (DAY, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


ADVERBS = {
    "year": "yearly",
    "quarter": "quarterly",
    "month": "monthly",
    "week": "weekly",
    "day": "daily",
    "hour": "hourly",
}


@dataclass(frozen=True)
class Step:
    """From one moment to the next."""

    kind: str  # "second", "weekday", "month", "row" or "irregular"
    size: (
        float  # seconds, weekdays, months or rows; of irregular times the median number of seconds
    )
    last: bool = False  # months: the day is the last one of its month

    def after(self, time: float, many: int) -> np.ndarray:
        """The next moments: (many,)."""
        ahead = np.arange(1, many + 1)
        if self.kind == "month":
            return self.months_after(time, ahead)
        if self.kind == "weekday":
            day, clock = day_of(time), time % DAY
            return seconds(np.busday_offset(day, ahead * int(self.size), roll="backward")) + clock
        return time + self.size * ahead

    def months_after(self, time: float, ahead: np.ndarray) -> np.ndarray:
        """The same day so many steps later, or the last one of a month that is too short for it."""
        day, clock = day_of(time), time % DAY
        months = day.astype("datetime64[M]") + (ahead * int(self.size)).astype(np.int64)  # (many,)
        place = np.int64(31) if self.last else (day - day.astype("datetime64[M]")).astype(np.int64)
        return (
            seconds(months.astype("datetime64[D]") + np.minimum(place, month_length(months) - 1))
            + clock
        )

    def between(self, time: np.ndarray) -> np.ndarray:
        """How many steps it is from each moment to the next, not always a whole number: (N - 1,)."""
        if self.kind == "irregular":
            return np.ones(max(len(time) - 1, 0))
        if self.kind == "weekday":
            return np.diff(np.busday_count("1970-01-01", day_of(time))) / self.size
        return (
            np.diff(
                day_of(time).astype("datetime64[M]").astype(np.int64)
                if self.kind == "month"
                else time
            )
            / self.size
        )

    @property
    def words(self) -> str:
        """For people: "hourly", "every 15 minutes", "monthly", "rows"."""
        if self.kind == "month":
            return spoken(self.size, ((12, "year"), (3, "quarter"), (1, "month")))
        return (
            spoken(self.size, UNITS)
            if self.kind == "second"
            else {"row": "rows", "weekday": "every weekday"}.get(self.kind, self.kind)
        )


def spoken(size: float, units: Sequence[tuple[int, str]]) -> str:
    """A step in the largest unit that gives a whole number; decimal years give 1.0007 days, which is one."""
    counts = [(size / unit, name) for unit, name in units]
    whole = [
        (round(many), name)
        for many, name in counts
        if 0.5 < many < 1000 and abs(many - round(many)) < 0.005 * many
    ]
    rough = [(float(f"{many:.3g}"), name) for many, name in counts if many >= 1] or counts[-1:]
    many, unit = (whole or rough)[0]
    return f"every {many} {unit}s" if many != 1 else ADVERBS.get(unit, f"every {unit}")


def step_of(time: np.ndarray) -> Step:
    """The usual step of moments in order.

    >>> step_of(np.array([0, 900, 1800, 3600])).words
    'every 15 minutes'
    """
    if len(time) < 2:
        return Step("irregular", 1.0)
    usual = middle(np.diff(time))
    kind = "row" if usual == 1 and np.abs(time).max() < ROWS else "second"
    for step in (month_step(time), weekday_step(time, usual), Step(kind, usual)):
        if step is not None and regular(step.between(time)):
            return step
    return Step("irregular", usual)


def alike(first: Step, second: Step) -> bool:
    """Whether two steps are the same, but for rounding; a daily series may be short of weekends."""
    days = {("weekday", 1.0), ("second", 86_400.0)}
    if {(first.kind, first.size), (second.kind, second.size)} <= days:
        return True
    return first.kind == second.kind and abs(first.size - second.size) < 0.01 * first.size


def regular(between: np.ndarray) -> bool:
    """Whether all differences are whole numbers of steps, and none is zero."""
    return bool((between > 0.5).all() and (np.abs(between - np.round(between)) < NEAR).all())


def middle(differences: np.ndarray) -> float:
    """The median, or the smaller of two: one that occurs."""
    return float(np.quantile(differences, 0.5, method="lower"))


def month_step(time: np.ndarray) -> Step | None:
    """Months, if all moments are on the same day of theirs, or on the last, at the same time of day."""
    days = day_of(time)
    months = days.astype("datetime64[M]")
    place = (days - months.astype("datetime64[D]")).astype(np.int64)  # (N,) 0 is the first
    last = bool((place == month_length(months) - 1).all())
    if np.ptp(time % DAY) > 1 or not (last or np.ptp(place) == 0):
        return None
    return Step("month", max(1.0, middle(np.diff(months.astype(np.int64)))), last)


def weekday_step(time: np.ndarray, usual: float) -> Step | None:
    """Weekdays, if days follow each other over weekends without any of these."""
    days = day_of(time)
    over = np.diff(time).max() > 1.5 * DAY and bool(np.is_busday(days).all())
    return (
        Step("weekday", 1.0) if over and abs(usual - DAY) < 1 and np.ptp(time % DAY) <= 1 else None
    )


def season_of(step: Step) -> int:
    """Steps of the usual season, 1 where there is none: a minute for seconds, a day for minutes and
    hours, a week for days, a year for the rest.

    >>> [season_of(Step("second", size)) for size in (1, 60, 3600, 86_400, 604_800)]
    [60, 1440, 24, 7, 52]
    >>> season_of(Step("month", 3))
    4
    """
    if step.kind not in ("second", "month"):
        return 5 if step.kind == "weekday" else 1
    cycles = (12,) if step.kind == "month" else (60, DAY, WEEK, YEAR)
    steps = next((cycle / step.size for cycle in cycles if step.size < 0.99 * cycle), 1)
    return round(steps) if abs(steps - round(steps)) < 0.01 * steps else 1


def calendar(time: np.ndarray, step: Step) -> tuple[np.ndarray, list[str]]:
    """Sine and cosine of hour of day, day of week, day of month and month of year, those that such
    steps let vary: (N, K), their names."""
    days = day_of(time)
    months = days.astype("datetime64[M]")
    cycles = {
        "hour of day": time % DAY / DAY,
        "day of week": (days.astype(np.int64) + 3) % 7 / 7,  # Monday is 0
        "day of month": (days - months.astype("datetime64[D]")).astype(np.int64)
        / month_length(months),
        "month of year": months.astype(np.int64) % 12 / 12,
    }
    chosen = [name for name in cycles if varies(name, step)]
    waves = [wave(2 * np.pi * cycles[name]) for name in chosen for wave in (np.sin, np.cos)]
    return np.stack(waves, 1) if waves else np.zeros((len(time), 0)), [
        f"{name}, {wave}" for name in chosen for wave in ("sine", "cosine")
    ]


def varies(cycle: str, step: Step) -> bool:
    """Whether a part of the date is not the same at every step."""
    if step.kind in ("row", "month"):
        return step.kind == "month" and cycle == "month of year" and step.size % 12 != 0
    if cycle == "hour of day":
        return step.kind == "irregular" or (step.kind == "second" and step.size % DAY != 0)
    return not (cycle == "day of week" and step.kind == "second" and step.size % WEEK == 0)


# Days and months of the calendar


def day_of(time: np.ndarray | float) -> np.ndarray:
    """The day of a moment."""
    return np.floor(np.asarray(time) / DAY).astype(np.int64).astype("datetime64[D]")


def seconds(days: np.ndarray) -> np.ndarray:
    """Days as seconds since 1970."""
    return days.astype("datetime64[s]").astype(np.float64)


def month_length(months: np.ndarray) -> np.ndarray:
    """The number of days in each month."""
    return ((months + 1).astype("datetime64[D]") - months.astype("datetime64[D]")).astype(np.int64)
