"""What the rows and moments of data in memory are called, given to the frames that are made of them.

A frame or a column of pandas has an index: what is said of its rows has the same. Moments with a zone
are read as UTC: those that are forecast have the zone again.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

MOMENT = "time"  # the column of a frame with moments


@dataclass(frozen=True)
class NamesOfRows:
    """The index of what was given, of pandas, and the zone of its moments."""

    index: Any = None
    zone: str | None = None

    def given_to(self, frame: Any, items: int) -> Any:
        """The frame with the zone, and of pandas with the index where it has a row for each."""
        timed = MOMENT in frame.columns
        if self.zone is not None and timed:
            frame = zoned(frame, self.zone)
        rows = None if self.index is None or timed else len(self.index)
        if rows is not None and rows == items == len(frame) and not is_polars(frame):
            frame.index = self.index
        return frame


def names_of_rows(given: Any) -> NamesOfRows:
    """Those of a frame or a column of pandas or polars; of anything else none."""
    pandas, polars = (sys.modules.get(name) for name in ("pandas", "polars"))
    if pandas is not None and isinstance(given, (pandas.DataFrame, pandas.Series)):
        columns = [given.index, *([] if given.ndim == 1 else map(given.get, given.columns))]
        zones = [zone_of(each.dtype, "tz") for each in columns if each.ndim == 1]
        return NamesOfRows(given.index, next(filter(None, zones), None))
    if polars is not None and isinstance(given, (polars.DataFrame, polars.Series)):
        columns = given.get_columns() if isinstance(given, polars.DataFrame) else [given]
        zones = [zone_of(each.dtype, "time_zone") for each in columns]
        return NamesOfRows(None, next(filter(None, zones), None))
    return NamesOfRows()


def zone_of(dtype: Any, name: str) -> str | None:
    """The zone of a column of moments, if it has one."""
    zone = getattr(dtype, name, None)
    return None if zone is None else str(zone)


def is_polars(frame: Any) -> bool:
    """Whether a frame is of polars."""
    return type(frame).__module__.split(".")[0] == "polars"


def zoned(frame: Any, zone: str) -> Any:
    """Moments of UTC in another zone; steps without dates as they are."""
    if is_polars(frame):
        import polars

        if frame[MOMENT].dtype != polars.Datetime:
            return frame
        moment = polars.col(MOMENT).dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
        return frame.with_columns(moment)
    if frame[MOMENT].dtype.kind != "M":
        return frame
    moments = frame[MOMENT].dt.tz_localize("UTC").dt.tz_convert(zone)
    return frame.assign(**{MOMENT: moments})
