"""Dates in any usual form -> seconds since 1970.

    2024-03-07   2024-03-07T14:30:00.5+01:00   2024/03/07   20240307   202403   2024-03   2024Q1   2024
    07.03.2024   03/07/2024   7 Mar 2024   March 7, 2024   March 2024   3/7/24 2:30 PM

A moment without a zone is one of UTC, so that summer time does not exist; a month, quarter or year is its
beginning. Between slashes the month comes first, unless a cell of the column begins with a number above 12.
Numbers can be dates too: 20240307, 2024, decimal years (1749.042), or seconds since 1970 and thousandths of them.
Shapes: N cells of a column.
"""
from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

import numpy as np

DAY = 86_400                                        # seconds
YEAR = 365.2425 * DAY                               # the mean one of the calendar
EPOCH = date(1970, 1, 1).toordinal()
MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")

YEARS, DAYS, WORD = r"(?P<year>[12]\d{3})", r"(?P<day>\d{1,2})", r"(?P<word>[a-z]{3,9})"
CLOCK = (r"(?:(?:t|,? +)(?P<hour>\d{1,2})(?::(?P<minute>\d\d)(?::(?P<second>\d\d(?:\.\d+)?))?)?(?: *(?P<half>[ap])\.?m\.?)?"
         r" *(?P<zone>z|utc|gmt|[+-]\d\d:?(?:\d\d)?)?)?")
FORMS = [re.compile(form) for form in (
    YEARS + r"-(?P<month>\d{1,2})-" + DAYS + CLOCK,                                         # 2024-03-07
    YEARS + r"/(?P<month>\d{1,2})/" + DAYS + CLOCK,                                         # 2024/03/07
    YEARS + r"(?P<month>\d\d)(?P<day>\d\d)" + CLOCK,                                        # 20240307
    DAYS + r"\.(?P<month>\d{1,2})\." + YEARS + CLOCK,                                       # 07.03.2024
    r"(?P<left>\d{1,2})/(?P<right>\d{1,2})/(?P<year>[12]\d{3}|\d\d)" + CLOCK,             # 03/07/2024
    DAYS + r"[ -]" + WORD + r"\.?,?[ -]" + YEARS + CLOCK,                                   # 7 Mar 2024
    WORD + r"\.? " + DAYS + r",? " + YEARS + CLOCK,                                         # March 7, 2024
    YEARS + r"-(?P<month>\d{1,2})",                                                         # 2024-03
    r"(?P<year>1[5-9]\d\d|2[01]\d\d)(?P<month>\d\d)",                                       # 202403
    YEARS + r"[ -]?q(?P<quarter>[1-4])",                                                    # 2024Q1
    r"q(?P<quarter>[1-4])[ -]?" + YEARS,                                                    # Q1 2024
    WORD + r"\.?[ -]" + YEARS,                                                              # Mar 2024
    YEARS)]                                                                                 # 2024


def moments_of(cells: Sequence[str] | np.ndarray) -> np.ndarray:
    """(N,) seconds since 1970, nan where a cell is no date: all cells of a column, because they decide together what comes first.

    >>> moments_of(["1970-01-02", "1 Jan 1970 00:00:05", "soon"]).tolist()
    [86400.0, 5.0, nan]
    """
    if isinstance(cells, np.ndarray):
        return moments_of_numbers(cells)
    parts = [parts_of(cell) for cell in cells]
    day_first = any(int(part.get("left") or 0) > 12 for part in parts)
    return np.array([seconds_of(part, day_first) for part in parts], np.float64)


def parts_of(cell: str) -> dict[str, str | None]:
    """What a date is made of, as written; nothing if it is none."""
    cell = cell.strip().lower()
    return next((match.groupdict() for match in (form.fullmatch(cell) for form in FORMS) if match), {})


def seconds_of(part: dict[str, str | None], day_first: bool) -> float:
    """The parts of a date -> seconds since 1970, nan if there is no such day or hour."""
    try:
        year, month, day = int(part["year"]), month_of(part, day_first), day_of(part, day_first)
        year += 0 if len(part["year"]) == 4 else 2000 if year < 69 else 1900            # as POSIX has it
        return (date(year, month, day).toordinal() - EPOCH) * DAY + clock_of(part) - zone_of(part)
    except (KeyError, ValueError):
        return np.nan


def month_of(part: dict[str, str | None], day_first: bool) -> int:
    if part.get("word"):
        return 1 + [name.startswith(part["word"]) for name in MONTHS].index(True)
    if part.get("quarter"):
        return 3 * int(part["quarter"]) - 2
    return int(part.get("month") or (part.get("right") if day_first else part.get("left")) or 1)


def day_of(part: dict[str, str | None], day_first: bool) -> int:
    return int(part.get("day") or (part.get("left") if day_first else part.get("right")) or 1)


def clock_of(part: dict[str, str | None]) -> float:
    """Seconds since midnight."""
    hour, minute, second = int(part.get("hour") or 0), int(part.get("minute") or 0), float(part.get("second") or 0)
    if part.get("half"):
        if not 1 <= hour <= 12:
            raise ValueError("there is no such hour before or after noon")
        hour = hour % 12 + 12 * (part["half"] == "p")
    seconds = 3600 * hour + 60 * minute + second
    if minute > 59 or second >= 60 or seconds > DAY:                                    # 24:00 is the end of a day
        raise ValueError("there is no such time of day")
    return seconds


def zone_of(part: dict[str, str | None]) -> int:
    """Seconds by which the clocks of a zone are ahead."""
    zone = (part.get("zone") or "z").replace(":", "")
    if zone[0] not in "+-":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[3:] or 0)
    if hours > 14 or minutes > 59:
        raise ValueError("there is no such zone")
    return (3600 * hours + 60 * minutes) * (-1 if zone[0] == "-" else 1)


def moments_of_numbers(numbers: np.ndarray) -> np.ndarray:
    """Numbers that are times: dates without signs between, decimal years, else seconds since 1970 or thousandths of them."""
    moments = np.full(len(numbers), np.nan)
    there = np.isfinite(numbers)
    given = numbers[there]
    if (given == np.floor(given)).all() and np.abs(given).max(initial=0) < 1e8:
        written = moments_of([str(int(number)) for number in given])
        moments[there] = written if np.isfinite(written).all() else epochs(given)
    elif ((given >= 1000) & (given < 3000)).all():
        moments[there] = decimal_years(given)
    else:
        moments[there] = epochs(given)
    return moments


def epochs(numbers: np.ndarray) -> np.ndarray:
    """Seconds since 1970, or thousandths, millionths or billionths, as their size tells; nan beyond the year 5138."""
    size = np.abs(numbers).max(initial=0)
    moments = numbers / 1000.0 ** sum(size >= bound for bound in (1e11, 1e14, 1e17))
    return np.where(np.abs(moments) < 1e11, moments, np.nan)


def decimal_years(years: np.ndarray) -> np.ndarray:
    """Years with a fraction: months where they are months apart (1749.042, 1749.123 or 1949, 1949.083), else years of equal length."""
    first = years.min()
    months = (years - first) * 12
    if np.abs(months - np.round(months)).max() < 0.15 and len(np.unique(np.round(months))) == len(np.unique(years)) > 1:
        index = np.floor((first - 1970) * 12 + 0.1) + np.round(months)                  # months since 1970
        return index.astype(np.int64).astype("datetime64[M]").astype("datetime64[s]").astype(np.float64)
    return (years - 1970) * YEAR
