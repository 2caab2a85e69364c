"""Dates in any usual form -> seconds since 1970.

    2024-03-07   2024-03-07T14:30:00.5+01:00   2024/03/07   20240307   202403   2024-03   2024Q1   2024
    07.03.2024   03/07/2024   7 Mar 2024   March 7, 2024   March 2024   3/7/24 2:30 PM
    03.2024   03/2024   2024.03   2024/03

A moment without a zone is one of UTC, so that summer time does not exist; a month, quarter or year
is its beginning. Between slashes the month comes first, unless a cell of the column begins with a
number above 12. Numbers can be dates too: 20240307, 2024, decimal years (1749.042), or seconds
since 1970 and thousandths of them. Shapes: N cells of a column.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from seriatim.data.columns import texts_of
from seriatim.data.sequences import Field

if TYPE_CHECKING:
    import polars

DAY = 86_400  # seconds


YEAR = 365.2425 * DAY  # the mean one of the calendar


EPOCH = date(1970, 1, 1).toordinal()


MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)


YEARS, DAYS, WORD = r"(?P<year>[12]\d{3})", r"(?P<day>\d{1,2})", r"(?P<word>[a-z]{3,9})"


CLOCK = (
    r"(?:(?:t|,? +)(?P<hour>\d{1,2})(?::(?P<minute>\d\d)(?::(?P<second>\d\d(?:\.\d+)?))?)?"
    r"(?: *(?P<half>[ap])\.?m\.?)?"
    r" *(?P<zone>z|utc|gmt|[+-]\d\d:?(?:\d\d)?)?)?"
)


FORMS = [
    re.compile(form)
    for form in (
        YEARS + r"-(?P<month>\d{1,2})-" + DAYS + CLOCK,  # 2024-03-07
        YEARS + r"/(?P<month>\d{1,2})/" + DAYS + CLOCK,  # 2024/03/07
        YEARS + r"(?P<month>\d\d)(?P<day>\d\d)" + CLOCK,  # 20240307
        DAYS + r"\.(?P<month>\d{1,2})\." + YEARS + CLOCK,  # 07.03.2024
        r"(?P<left>\d{1,2})/(?P<right>\d{1,2})/(?P<year>[12]\d{3}|\d\d)" + CLOCK,  # 03/07/2024
        DAYS + r"[ -]" + WORD + r"\.?,?[ -]" + YEARS + CLOCK,  # 7 Mar 2024
        WORD + r"\.? " + DAYS + r",? " + YEARS + CLOCK,  # March 7, 2024
        YEARS + r"[-/](?P<month>\d{1,2})",  # 2024-03
        YEARS + r"\.(?P<month>\d\d)",  # 2024.03
        r"(?P<month>\d{1,2})[./]" + YEARS,  # 03.2024
        r"(?P<year>1[5-9]\d\d|2[01]\d\d)(?P<month>\d\d)",  # 202403
        YEARS + r"[ -]?q(?P<quarter>[1-4])",  # 2024Q1
        r"q(?P<quarter>[1-4])[ -]?" + YEARS,  # Q1 2024
        WORD + r"\.?[ -]" + YEARS,  # Mar 2024
        YEARS,
    )
]  # 2024


MONTHLY = r"^(?:\d{1,2}\.[12]\d{3}|[12]\d{3}\.\d\d)$"  # months that look like numbers


YEARLY = 12  # months


FEWEST_MONTHS = 3  # different ones, from which on cells are believed to be months


ZONED = r"\d:\d\d\S* *(z|utc|gmt|[+-]\d\d:?(?:\d\d)?)$"  # a time of day, and its zone


DIGITS = re.compile("[0-9]+")


LONGEST = 40  # bytes of a cell that is looked at together with others


MANY = 16  # cells for which that is worth the trouble


FEW = 0.01  # of a column: cells of a shape for which it is not


PATIENCE = 8  # how many such shapes of one length are looked at


NONE, DOUBTFUL = "none", "doubtful"  # instead of a form


YEARS_SURE = (1500, 2199)  # which any form takes for years


MOST_DIGITS = 15  # and a point, of seconds that float64 holds


Parts = dict[str, str | None]  # what a date is made of, as written: the groups of its form


def moments_of(cells: Sequence[str] | Field | np.ndarray) -> np.ndarray:
    """(N,) seconds since 1970, nan where a cell is no date.

    All cells of a column at once, because they decide together what comes first.

    >>> moments_of(["1970-01-02", "1 Jan 1970 00:00:05", "soon"]).tolist()
    [86400.0, 5.0, nan]
    """
    if isinstance(cells, np.ndarray):
        return moments_of_numbers(cells)
    column = cells if isinstance(cells, Field) else Field.of_text(cells)
    shapes, rest = shapes_of(column)
    known: dict[str, Parts] = {}
    single: dict[int, Parts] = {}
    for row in rest.tolist():
        cell = str(column.raw(row))
        if cell not in known:
            known[cell] = parts_of(cell)
        single[row] = known[cell]
    day_first = any((shape.part("left") > 12).any() for shape in shapes) or any(
        int(part.get("left") or 0) > 12 for part in single.values()
    )
    moments = np.full(len(column), np.nan)
    for shape in shapes:
        moments[shape.rows] = shape.seconds(day_first)
    for row, part in single.items():
        moments[row] = seconds_of(part, day_first)
    return moments


def are_months(cells: polars.Series) -> bool:
    """Whether cells that could be numbers are months, 03.2024 or 2024.03, all of them: from 1 to 12, in
    steps that a year is made of, and few left out between the first and the last.

    >>> import polars
    >>> are_months(polars.Series(["11.2023", "12.2023", "01.2024"]))
    True
    """
    found = cells.unique().str.strip_chars()
    found = found.filter(found != "")
    if len(found) < FEWEST_MONTHS or not found.str.contains(MONTHLY).all():
        return False
    moments = moments_of(found.to_list())
    if np.isnan(moments).any():
        return False
    months = np.unique(moments.astype("datetime64[s]").astype("datetime64[M]").astype(np.int64))
    steps = np.diff(months)
    if not len(steps) or YEARLY % steps.min():
        return False
    return bool(steps.sum() <= 2 * len(steps) * steps.min())


def zones_in(column: Field) -> list[str]:
    """The zones that times of a column are written in, "" for none.

    >>> zones_in(Field.of_text(["2024-03-07 14:30+01:00", "2024-07-07 14:30+02:00", "2024-03-07"]))
    ['', '+01:00', '+02:00']
    """
    import polars

    cells = polars.Series(texts_of(column), dtype=polars.String)
    zones = cells.str.to_lowercase().str.extract(ZONED, 1).fill_null("").unique()
    return sorted({"utc" if zone in ("z", "gmt") else zone for zone in zones.to_list()})


# Cell by cell


def parts_of(cell: str) -> Parts:
    """What a date is made of, as written; nothing if it is none."""
    if cell.isascii() and not DIGITS.search(cell):
        return {}  # as most words are
    match = form_of(cell.lower())
    return {} if match is None else match.groupdict()


def form_of(cell: str) -> re.Match[str] | None:
    """The first form that a cell has, in small letters."""
    start, stop = len(cell) - len(cell.lstrip()), len(cell.rstrip())
    return next(filter(None, (form.fullmatch(cell, start, stop) for form in FORMS)), None)


def seconds_of(part: Parts, day_first: bool) -> float:
    """The parts of a date -> seconds since 1970, nan if there is no such day or hour."""
    written = part.get("year")
    if written is None:
        return np.nan
    try:
        year, month, day = int(written), month_of(part, day_first), day_of(part, day_first)
        year += 0 if len(written) == 4 else century_of(year)
        return (date(year, month, day).toordinal() - EPOCH) * DAY + clock_of(part) - zone_of(part)
    except ValueError:
        return np.nan


def century_of(year: int) -> int:
    """What two digits of a year leave out, as POSIX has it."""
    return 2000 if year < 69 else 1900


def month_of(part: Parts, day_first: bool) -> int:
    """The number of the month: as a word, by its quarter, or a number."""
    if word := part.get("word"):
        return 1 + [name.startswith(word) for name in MONTHS].index(True)
    if quarter := part.get("quarter"):
        return 3 * int(quarter) - 2
    return int(part.get("month") or (part.get("right") if day_first else part.get("left")) or 1)


def day_of(part: Parts, day_first: bool) -> int:
    """The number of the day; the first where there is none."""
    return int(part.get("day") or (part.get("left") if day_first else part.get("right")) or 1)


def clock_of(part: Parts) -> float:
    """Seconds since midnight."""
    hour, minute, second = (
        int(part.get("hour") or 0),
        int(part.get("minute") or 0),
        float(part.get("second") or 0),
    )
    if part.get("half"):
        if not 1 <= hour <= 12:
            raise ValueError("there is no such hour before or after noon")
        hour = hour % 12 + 12 * (part["half"] == "p")
    seconds = 3600 * hour + 60 * minute + second
    if minute > 59 or second >= 60 or seconds > DAY:  # 24:00 is the end of a day
        raise ValueError("there is no such time of day")
    return seconds


def zone_of(part: Parts) -> int:
    """Seconds by which the clocks of a zone are ahead."""
    zone = (part.get("zone") or "z").replace(":", "")
    if zone[0] not in "+-":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[3:] or 0)
    if hours > 14 or minutes > 59:
        raise ValueError("there is no such zone")
    return (3600 * hours + 60 * minutes) * (-1 if zone[0] == "-" else 1)


# Whole columns: cells that differ in their digits only are made of the same parts


@dataclass(frozen=True)
class Shape:
    """Cells of one shape, n of them: the same length, the same signs, digits in the same places."""

    rows: np.ndarray  # (n,) where they stand in their column
    cells: np.ndarray  # (n, L) their bytes
    form: re.Match[str]  # of one of them, blanks around it included; the zone is the same in all

    def part(self, name: str) -> np.ndarray:
        """(n,) a part that is a whole number; zeros where the form has none."""
        if not self.has(name):
            return np.zeros(len(self.rows), np.int64)
        return self.number(*self.form.span(name))

    def number(self, start: int, stop: int) -> np.ndarray:
        """(n,) the whole number between two places."""
        number = np.zeros(len(self.rows), np.int64)
        for place in range(start, stop):
            number = 10 * number + (self.cells[:, place] - ord("0"))
        return number

    def second(self) -> np.ndarray:
        """(n,) seconds with their fraction: 05.25 is 525 hundredths, rounded once, as by float()."""
        written = self.form.groupdict().get("second")
        if not written:
            return np.zeros(len(self.rows))
        start, stop = self.form.span("second")
        places = max(0, len(written) - 3)
        fraction = self.number(stop - places, stop)
        return (self.number(start, start + 2) * 10**places + fraction) / float(10**places)

    def sure(self) -> np.ndarray:
        """(n,) where digits cannot make it another form: a usual year, and one of four quarters."""
        if len(self.form.groupdict().get("second") or "") > MOST_DIGITS:
            return np.zeros(len(self.rows), bool)
        sure = np.ones(len(self.rows), bool)
        if len(self.form["year"]) == 4:
            year = self.part("year")
            sure &= (year >= YEARS_SURE[0]) & (year <= YEARS_SURE[1])
        if self.has("quarter"):
            quarter = self.part("quarter")
            sure &= (quarter >= 1) & (quarter <= 4)
        return sure

    def has(self, name: str) -> bool:
        """Whether the form has such a part."""
        return bool(self.form.groupdict().get(name))

    def seconds(self, day_first: bool) -> np.ndarray:
        """(n,) seconds since 1970, nan where there is no such day or hour."""
        try:
            zone = zone_of(self.form.groupdict())
            month = self.month(day_first)
        except ValueError:
            return np.full(len(self.rows), np.nan)
        year = self.part("year")
        if len(self.form["year"]) == 2:
            year = year + np.where(year < 69, century_of(0), century_of(69))
        if self.has("left"):
            day = self.part("left" if day_first else "right")
        else:
            day = self.part("day") if self.has("day") else np.ones_like(year)
        months = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
        first, after = months.astype("datetime64[D]"), (months + 1).astype("datetime64[D]")
        there = (month >= 1) & (month <= 12) & (day >= 1) & (day <= (after - first).astype(int))
        clock = self.clock()
        days = first.astype(np.int64) + day - 1
        return np.where(there, days * DAY + clock - zone, np.nan)

    def month(self, day_first: bool) -> np.ndarray:
        """(n,) the number of the month."""
        if self.has("word"):
            return np.full(len(self.rows), month_of(self.form.groupdict(), day_first))
        if self.has("quarter"):
            return 3 * self.part("quarter") - 2
        if self.has("left"):
            return self.part("right" if day_first else "left")
        return self.part("month") if self.has("month") else np.ones(len(self.rows), np.int64)

    def clock(self) -> np.ndarray:
        """(n,) seconds since midnight, nan where there is no such time of day."""
        hour, minute, second = self.part("hour"), self.part("minute"), self.second()
        there = (minute <= 59) & (second < 60)
        if half := self.form.groupdict().get("half"):
            there &= (hour >= 1) & (hour <= 12)
            hour = hour % 12 + 12 * (half == "p")
        seconds = 3600 * hour + 60 * minute + second
        return np.where(there & (seconds <= DAY), seconds, np.nan)


def shapes_of(column: Field) -> tuple[list[Shape], np.ndarray]:
    """The shapes in which many cells of a column are dates, and the rows that must be looked at one by one.

    A row in neither is no date.
    """
    shapes: list[Shape] = []
    rest: list[np.ndarray] = [np.flatnonzero(column.lengths > LONGEST)]
    short = column.lengths[column.lengths <= LONGEST]
    for length in np.flatnonzero(np.bincount(short, minlength=1)).tolist():
        rows = np.flatnonzero(column.lengths == length)
        cells = np.zeros((len(rows), 0), np.uint8)
        if length:
            cells = sliding_window_view(column.values, length)[column.offsets[rows]]  # (n, L)
        patience = PATIENCE
        while len(rows) > MANY and patience:
            alike, form = shape_of(cells)
            found, cells_found = rows[alike], cells[alike]
            if isinstance(form, re.Match):
                shape = Shape(found, cells_found, form)
                sure = shape.sure()
                shapes.append(Shape(found[sure], cells_found[sure], form))
                rest.append(found[~sure])
            elif form == DOUBTFUL:
                rest.append(found)
            patience -= len(found) < FEW * len(column)
            rows, cells = rows[~alike], cells[~alike]
        rest.append(rows)
    return shapes, np.sort(np.concatenate(rest))


def shape_of(cells: np.ndarray) -> tuple[np.ndarray, re.Match[str] | str]:
    """(n, L) bytes -> (n,) which cells have the shape of the first one, and the form this has.

    Or whether it has NONE whatever its digits are, or may have one for some of them: DOUBTFUL.
    """
    signs = np.where(cells - ord("0") <= 9, ord("0"), cells)  # bytes: what is below 0 wraps around
    alike = (signs == signs[0]).all(1)
    text = signs[0].tobytes().decode("latin-1").lower()
    if not text.isascii():
        return alike, DOUBTFUL
    form = form_of(usual_digits(text))
    if form is None:  # in q12024 the year is not where the digits begin
        return alike, DOUBTFUL if "q" in text else NONE
    if form.groupdict().get("zone"):
        start, stop = form.span("zone")
        alike &= (cells[:, start:stop] == cells[0, start:stop]).all(1)
        zone = cells[0, start:stop].tobytes().decode().lower()
        form = form_of(usual_digits(text[:start]) + zone + text[stop:]) or form
    return alike, form


def usual_digits(text: str) -> str:
    """The text with digits that any form takes: 2020-20-20 is no day, but made of the same parts as one."""
    return DIGITS.sub(lambda run: ("20" * LONGEST)[: len(run[0])], text)


# Numbers


def moments_of_numbers(numbers: np.ndarray) -> np.ndarray:
    """Numbers that are times: dates without signs between, decimal years, else seconds since 1970.

    Or thousandths of these.
    """
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
    """Seconds since 1970, or thousandths, millionths or billionths of them, as their size tells.

    Those beyond the year 5138 are nan.
    """
    size = np.abs(numbers).max(initial=0)
    moments = numbers / 1000.0 ** sum(size >= bound for bound in (1e11, 1e14, 1e17))
    return np.where(np.abs(moments) < 1e11, moments, np.nan)


def decimal_years(years: np.ndarray) -> np.ndarray:
    """Years with a fraction, of equal length; or months, where they are months apart.

    Such are 1749.042 and 1749.123, or 1949 and 1949.083.
    """
    first = years.min()
    months = (years - first) * 12
    if (
        np.abs(months - np.round(months)).max() < 0.15
        and len(np.unique(np.round(months))) == len(np.unique(years)) > 1
    ):
        index = np.floor((first - 1970) * 12 + 0.1) + np.round(months)  # months since 1970
        return (
            index.astype(np.int64)
            .astype("datetime64[M]")
            .astype("datetime64[s]")
            .astype(np.float64)
        )
    return (years - 1970) * YEAR
