"""What stands beside the figures of forecasts: from where they were made, and what they do not cover."""

from __future__ import annotations

from collections.abc import Sequence

from seriatim.measuring.measured import Measured
from seriatim.records import Record
from seriatim.tasks.forecast.options import MeasureOptions

MOSTLY = 0.8  # of the forecasts have all of their horizon: nothing is said of the others


def origins_in_words(options: MeasureOptions, origins: tuple[int, int] | None, horizon: int) -> str:
    """From where to where, and how many: all, or some of them."""
    begin, end = options.begin or "the last fifth", options.end or "the end"
    if options.past:
        begin = f"the end of {options.past}"
    words = f"from {begin} to {end}, stride {options.stride}"
    if origins is not None:
        many, every = origins
        words += f": {many:,}" + f" of {every:,}, evenly spaced" * (many < every)
    if horizon == 1:
        return words
    return words + (", with all of their horizon" if options.whole else ", near the end with less")


def of_part_of_the_horizon(measured: Measured, horizon: int) -> list[str]:
    """A note on forecasts of which only the first steps came."""
    whole, many = measured["whole"], len(measured["truth"])
    if whole >= MOSTLY * many:
        return []
    return [
        f"of {many:,} forecasts {whole:,} ha{'s' if whole == 1 else 've'} a value at the last of their"
        f" {horizon:,} steps: figures are more of the first steps, which are easier"
    ]


def channels_judged(channels: Sequence[Record]) -> list[str]:
    """A note on channels of which nothing is judged."""
    some = sum(each["mae"] is not None for each in channels)
    if some == len(channels):
        return []
    return [
        f"{some:,} of {len(channels):,} channels are judged: the others have no value of their own after"
        " the first origin"
    ]


def with_all_steps(steps: Sequence[Record], series: int) -> list[str]:
    """A note on several series some of which have not all steps, and no part in figures by horizon."""
    counts = [each.get("series", series) for each in steps]
    if min(counts) == series:
        return []
    if min(counts) < max(counts):
        return [
            f"by horizon: no series has all {len(steps):,} steps, so that steps rest on different"
            f" series, {min(counts):,} to {max(counts):,} of {series:,}"
        ]
    return [
        f"by horizon: means over the {counts[0]:,} of {series:,} series that have all {len(steps):,} steps;"
        f" {series - counts[0]:,} ha{'s' if series - counts[0] == 1 else 've'} fewer"
    ]
