"""Numbers over time: what is wrong with them has nothing to do with copies or words.

Gaps, series that never change, series much shorter than others. How they were understood is told
first, for that is what is mostly wrong.
"""

from __future__ import annotations

import numpy as np

from seriatim.audit.parts import Finding, finding
from seriatim.data.gaps import written
from seriatim.data.sequences import Sequences
from seriatim.data.series import are_dates, are_numbers, cells_of, series_of, tells_time
from seriatim.data.steps import step_of
from seriatim.errors import DataError

SHORT = 0.5  # of the length of most series, below which one is short


def over_time(data: Sequences) -> Sequences | None:
    """The same as series, gaps kept, if it is a table with a column of dates and one of numbers at
    least, or of numbers alone; None if it is something else."""
    try:
        columns = {name: cells_of(data, name) for name in data.fields}
        time = tells_time(columns)
        dated = time is not None and are_dates(columns[time])
        numbers = [name for name, cells in columns.items() if name != time and are_numbers(cells)]
        if not numbers or not (dated or len(numbers) == len(columns)):
            return None
        return series_of(data, fill="keep")
    except DataError:
        return None


def of_series(series: Sequences, file: str) -> list[Finding]:
    """What was understood, and what is wrong with it."""
    values, time = series.field("values"), series.field("time")
    lengths, names = values.lengths, series.fields.get("name")
    step = step_of(time.row(int(np.argmax(lengths))))
    first, last = written(float(time.flat.min())), written(float(time.flat.max()))
    channels = ", ".join(values.names or ())
    many = f"{len(series):,} series" if len(series) > 1 else "one series"
    steps = f"{lengths.max():,} steps"
    if lengths.min() < lengths.max():
        steps = f"{lengths.min():,} to {steps}"
    found = [
        finding(
            "note",
            f"numbers over time: {many} of {steps}, {step.words}",
            file,
            got=f"{first} to {last}; {channels}",
            do="seriatim compare forecast FILE tells which model they deserve",
        )
    ]
    gaps = int(np.isnan(values.flat).sum())
    if gaps:
        found.append(
            finding(
                "warning",
                f"values that are missing, rows between others included: {gaps:,} of {values.flat.size:,}",
                file,
                do="A fit asks how to fill them: --fill previous looks back only",
            )
        )
    still: list[str] = []
    short: list[str] = []
    for s in range(len(series)):
        name = "" if names is None else names.symbol_names[int(names.row(s)[0])]
        rows = values.row(s)  # (n, C)
        for c, column in enumerate(rows.T):
            known = column[np.isfinite(column)]
            if len(known) > 1 and known.min() == known.max():
                still.append(" of ".join(filter(None, [(values.names or ())[c], name])))
        if len(rows) < SHORT * np.median(lengths):
            short.append(name)
    told = {"never change": still, "are less than half as long as most": short}
    return found + [
        finding("warning", f"series that {what}: {len(some):,}", file, got=", ".join(some[:5]))
        for what, some in told.items()
        if some
    ]
