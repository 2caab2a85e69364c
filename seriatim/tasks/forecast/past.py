"""How much of the past forecasts begin with, and what is said of those that begin with too little.

A model that reads P values is given P: where a series begins later, its first value stands for those
that are missing, and what the model says of such a past may be nonsense. How many values it reads its
model says, `reads`; a network and a regression on lags no more than the windows had that they learned
from, `least_past`. Shapes: O origins, S series.
"""

from __future__ import annotations

import numpy as np

from seriatim.batches import bounds_of
from seriatim.measuring.measured import Measured
from seriatim.tasks.forecast.codec import Signals

MORE = "give more of the past"
BEFORE = f"{MORE}, or what came before as `past`"
OF_ORIGINS = "levels"  # of a Measured, all arrays but this one have a row for each origin


def past_at(signals: Signals, places: np.ndarray) -> np.ndarray:
    """(O,) how many values of its series lie before each origin."""
    begin, _ = bounds_of(signals.x, places)
    return places - begin


def enough_of(measured: Measured) -> np.ndarray:
    """(O,) which forecasts are judged: those with enough of the past, and those of series that have
    none with enough."""
    if "past" not in measured:  # of an earlier version
        return np.ones(len(measured.loss), bool)
    enough, owners = measured["past"] >= measured["reads"], measured["series"]
    some = np.bincount(owners, enough) > 0  # (S,)
    return enough | ~some[owners]


def part_of(measured: Measured, chosen: np.ndarray) -> Measured:
    """The same of some of the origins."""
    arrays = measured.arrays.items()
    return Measured(
        {name: each if name == OF_ORIGINS else each[chosen] for name, each in arrays},
        measured.facts,
    )


def too_little(past: np.ndarray, reads: int, do: str = MORE) -> list[str]:
    """A note on the forecasts that begin with less of the past, (O,), than their model reads."""
    short = past[past < reads]
    if not len(short):
        return []
    least, most = (f"{int(each):,}" for each in (short.min(), short.max()))
    there = least if least == most else f"{least} to {most}"
    which = f"{len(short):,} of {len(past):,} forecasts begin"
    which = "the forecast begins" if len(past) == 1 else which
    return [
        f"{which} with {there} of the {reads:,} values of the past that the model reads, and may be"
        f" far off; {do}"
    ]


def left_out(measured: Measured, judged: Measured) -> list[str]:
    """What is said of the forecasts that are not judged, and of judged ones with too little."""
    if "past" not in measured:
        return []
    many, reads = len(measured.loss) - len(judged.loss), measured["reads"]
    words = (
        f"{many:,} of {len(measured.loss):,} forecasts are not judged: they begin with fewer than the"
        f" {reads:,} values of the past that the model reads; {BEFORE}"
    )
    return [*([words] if many else []), *too_little(judged["past"], reads, BEFORE)]
