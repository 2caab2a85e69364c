"""Lag tables: series as a table for any regressor, a row for each time, none of which sees what comes.

    time   load lag 1   load lag 2   mean of 24 ...   load                  horizon 1
    time   load lag 1   load lag 2   mean of 24 ...   load +1   load +2     horizon 2

Row t has y_{t-1}, y_{t-2}, ..., the features of the last values that `windows` ask for, the inputs that are known of
t, and the values to be learned: y_t, or y_t .. y_{t+H-1}. Rows of several series stand one below the other. Shapes: n rows of a series, H steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from seriatim.data.options import SeriesOptions
from seriatim.data.sequences import Sequences
from seriatim.data.series import common_step
from seriatim.errors import ConfigError, DataError
from seriatim.records import Record, record
from seriatim.settings import Numbers, build
from seriatim.storage import write_bytes
from seriatim.tasks.base.cut import Source
from seriatim.tasks.forecast import TASK
from seriatim.tasks.forecast.features import feature_table
from seriatim.tasks.forecast.predictor import written

MOST_CELLS = 100_000_000
SHOWN = 5  # rows of the record
ENDINGS = (".csv", ".tsv", ".parquet")

Columns = dict[str, Any]  # a list of texts or an array of numbers each


def lags(
    file: Source,
    *,
    lags: int = 12,
    horizon: int = 1,
    windows: Sequence[int] = (),
    out: str = "",
    **reading: Any,
) -> Record:
    """The verb: a table of lags, written where it is asked for."""
    if out and Path(out).suffix.lower() not in ENDINGS:
        raise ConfigError("a table is written as csv, tsv or parquet", got=out, do="Try table.csv")
    data = TASK.cut.sequences(file, build(SeriesOptions, reading, "lags"))
    columns, short = lag_table(data, lags, horizon, Numbers(windows))
    if out:
        write_table(columns, out)
    notes = [f"too short, and left out: {', '.join(short[:5])}"] if short else []
    ahead = horizon * len(data.field("values").names or ())
    names = list(columns)
    return record(
        "lags",
        task=TASK.name,
        data=data.origin,
        lags=lags,
        horizon=horizon,
        windows=list(Numbers(windows)),
        series=len(data) - len(short),
        left_out=len(short),
        rows=len(columns["time"]),
        columns=names,
        targets=names[len(names) - ahead :],
        first=[[plain(columns[name][row]) for name in names] for row in shown(columns)],
        written=[out] if out else [],
        notes=notes,
    )


def shown(columns: Columns) -> range:
    """The rows of which a record tells."""
    return range(min(SHOWN, len(columns["time"])))


def plain(cell: Any) -> str | float | None:
    """A cell as JSON has it."""
    if isinstance(cell, str):
        return cell
    return float(cell) if np.isfinite(cell) else None


WORDS_OF_A_ROW = ("time", "series")  # the columns that hold no numbers


def lag_table(
    data: Sequences, lags: int = 12, horizon: int = 1, windows: Sequence[int] = ()
) -> tuple[Columns, list[str]]:
    """Series -> columns of equal length, the values to be learned last; and the names of series that
    are too short.

    >>> import seriatim as st
    >>> data = st.read({"load": [1.0, 2, 3, 5], "day": ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"]}, time="day")
    >>> columns, _ = lag_table(data, lags=2)
    >>> list(columns), columns["time"], columns["load lag 1"].tolist(), columns["load"].tolist()
    (['time', 'load lag 1', 'load lag 2', 'load'], ['2024-01-03', '2024-01-04'], [2.0, 3.0], [3.0, 5.0])
    """
    check_asked(lags, horizon, windows)
    values, reach = data.field("values"), max([lags, *windows])
    long, names = values.lengths >= reach + horizon, names_of_series(data)
    many = int((values.lengths[long] - reach - horizon + 1).sum())
    check_size(data, many, (lags + 4 * len(windows) + horizon) * len(values.names or ()), reach)
    step, columns = common_step(data), empty_columns(data)
    for s in np.flatnonzero(long).tolist():
        times = times_of(data, s, reach, horizon, step)
        columns["time"].append(times)
        if "series" in columns:
            columns["series"].append([names[s]] * len(times))
        for name, column in piece_of(data, s, lags, horizon, windows).items():
            columns.setdefault(name, []).append(column)
    joined: Columns = {
        name: [cell for part in parts for cell in part]
        if name in WORDS_OF_A_ROW
        else np.concatenate(parts)
        for name, parts in columns.items()
    }
    return joined, [name for name, enough in zip(names, long.tolist()) if not enough]


def check_asked(lags: int, horizon: int, windows: Sequence[int]) -> None:
    """Refuse to look back or ahead by nothing."""
    if min([lags, horizon, *windows]) < 1:
        got = f"lags {lags}, horizon {horizon}, windows {tuple(windows)}"
        raise ConfigError("lags, horizon and windows are 1 or more", got=got)


def check_size(data: Sequences, many: int, width: int, reach: int) -> None:
    """Refuse a table without rows, or one that is too large."""
    if not many or many * width > MOST_CELLS:
        raise DataError(
            "the table would be too large" if many else "there is too little to look back on",
            got=f"{many:,} rows of {width:,} columns" if many else f"{reach} steps back",
            file=data.origin,
            do="Choose fewer --lags",
        )


def names_of_series(data: Sequences) -> list[str]:
    """What each series is called; one without a name like its file."""
    named = data.fields.get("name")
    if named is None:
        return [data.origin] * len(data)
    return [named.symbol_names[int(named.row(s)[0])] for s in range(len(data))]


def empty_columns(data: Sequences) -> dict[str, list[Any]]:
    """The first columns, for the parts of each series."""
    return {"time": []} | ({"series": []} if "name" in data.fields else {})


def times_of(data: Sequences, s: int, reach: int, horizon: int, step: Any) -> list[str]:
    """The time of each row of a series: of the first value to be learned."""
    time = data.field("time").row(s)
    return [str(written(moment, step)) for moment in time[reach : len(time) - horizon + 1]]


def piece_of(
    data: Sequences, s: int, lags: int, horizon: int, windows: Sequence[int]
) -> dict[str, np.ndarray]:
    """The columns of one series, (n,) each: features, inputs, values to be learned."""
    values, known = data.field("values"), data.fields.get("known")
    rows, channels = values.row(s), values.names or ()  # (N, C)
    reach, last = max([lags, *windows]), len(rows) - horizon + 1
    features: dict[str, np.ndarray] = {}
    targets: dict[str, np.ndarray] = {}
    for c, channel in enumerate(channels):
        table, _, names = feature_table(rows[:last, c], lags, windows)  # (n, F)
        features |= {f"{channel} {name}": table[:, f] for f, name in enumerate(names)}
        ahead = sliding_window_view(rows[reach:, c], horizon)  # (n, H)
        for h in range(horizon):
            targets[channel if horizon == 1 else f"{channel} +{h + 1}"] = ahead[:, h]
    if known is not None:
        inputs = known.row(s)[reach:last]
        features |= {name: inputs[:, k] for k, name in enumerate(known.names or ())}
    return features | targets


def write_table(columns: Columns, out: str) -> None:
    """The table as its ending says, whole or not at all."""
    import io

    import polars

    frame = polars.DataFrame(columns).with_columns(polars.selectors.float().fill_nan(None))
    buffer = io.BytesIO()
    if out.lower().endswith(".parquet"):
        frame.write_parquet(buffer)
    else:
        frame.write_csv(buffer, separator="\t" if out.lower().endswith(".tsv") else ",")
    write_bytes(Path(out), buffer.getvalue())
