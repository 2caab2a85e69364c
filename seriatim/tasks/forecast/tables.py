"""Forecasts as lines, and how good they are as a table."""

from __future__ import annotations

import sys
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from seriatim.records import Record
from seriatim.show.frames import moments
from seriatim.show.tables import (
    ORDERS,
    add_against,
    add_protocol,
    bar,
    output,
    sparkline,
    trend,
    visible,
    width_of,
)

SHOWN = 12  # numbers of steps ahead that are shown, about
MOST_TRENDS = 40  # series, or channels of one, whose course is shown
CELLS = 48  # letters of a course, at most
NAME = 24  # letters of the name of a series


def number(value: float | None, form: str = "{:.5g}") -> str:
    """A figure; a dash where there is none, and nothing is below zero that is written as zero."""
    if value is None:
        return "-"
    words = form.format(value)
    return words if any(digit in words for digit in "123456789") else words.replace("-", "")


def forecast_table(record: Record) -> Group | str:
    """In a terminal the course of each series, and the steps in columns below each other, of each
    channel by itself where there is no room for all side by side; in a file a line for each step."""
    if not sys.stdout.isatty():
        return forecast_lines(record)
    width = output().width
    whole = [steps_of(record, list(record["items"][0]["channels"]))]
    if width_of(whole[0]) > width:
        whole = [steps_of(record, [name]) for name in record["items"][0]["channels"]]
    fits = all(width_of(each) <= width for each in whole)
    below = whole if fits else [Text(forecast_lines(record))]
    return Group(trends(record, width), *(each for table in below for each in (Text(), table)))


def steps_of(record: Record, names: list[str]) -> Table:
    """The steps of some channels as a table, with what `forecast_lines` writes."""
    items = [
        {**item, "channels": {name: item["channels"][name] for name in names}}
        for item in record["items"]
    ]
    heads, *rows = (
        line.split("\t") for line in forecast_lines({**record, "items": items}).splitlines()
    )
    words = len(heads) - len(columns_of(items[0]["channels"]))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, head in enumerate(heads):
        side: Any = "left" if place < words else "right"
        table.add_column(Text(visible(head)), justify=side, no_wrap=True)
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    return table


def trends(record: Record, width: int) -> Table:
    """What was and what comes of each series and channel as a row of letters, with the last value
    that is known and the last that is forecast."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for head, side in (("", "left"), ("what was │ what comes", "left"), ("now", "right")):
        justify: Any = side
        table.add_column(head, justify=justify, no_wrap=True)
    table.add_column("then", justify="right", no_wrap=True)
    pairs = [(item, name) for item in record["items"] for name in item["channels"]]
    several = len(record["items"]) > 1
    for item, name in pairs[:MOST_TRENDS]:
        past, coming = item["past"][name], item["channels"][name]["mean"]
        course = trend(past, coming, min(CELLS, max(12, width - NAME - 30)))
        words = " ".join([*([item["series"]] if several else []), name])
        known = [value for value in past if value is not None]
        table.add_row(
            Text(visible(words)[:NAME], overflow="ellipsis"),
            Text.assemble((course[0], "dim"), ("│", "dim"), (course[1], ORDERS[0])),
            number(known[-1] if known else None),
            number(coming[-1]),
        )
    if len(pairs) > MOST_TRENDS:
        table.add_row(Text(f"and {len(pairs) - MOST_TRENDS:,} more", style="dim"))
    return table


def forecast_lines(record: Record) -> str:
    """A line for each step: the series if there are several, the moment, for each channel the point
    forecast and the ends of 95 %, then its sample paths; one header above all."""
    many = len(record["items"]) > 1
    lines: list[str] = []
    for item in record["items"]:
        columns = columns_of(item["channels"])
        if not lines:
            lines.append("\t".join([*(["series"] if many else []), "time", *columns]))
        for h, moment in enumerate(item["time"]):
            said = (number(column[h], "{:.6g}") for column in columns.values())
            lines.append("\t".join([*([item["series"]] if many else []), moment, *said]))
    return "\n".join(lines)


def forecast_rows(record: Record) -> list[dict[str, Any]]:
    """A row for each series, channel and step: its moment, the mean, a column for each quantile, and
    one for each sample path; of a backtest also the origin and what came."""
    rows = []
    for item in record["items"]:
        about = {"series": item["series"]}
        about |= {"origin": item["origin"]} if "origin" in item else {}
        times = moments(item["time"])
        for name, channel in item["channels"].items():
            columns = {"truth": channel["truth"]} if "truth" in channel else {}
            columns |= {"mean": channel["mean"]}
            columns |= {f"quantile {q}": found for q, found in channel["quantiles"].items()}
            paths = enumerate(channel.get("paths", []), 1)
            columns |= {f"path {i}": path for i, path in paths}
            for step, moment in enumerate(times):
                here = {key: column[step] for key, column in columns.items()}
                rows.append({**about, "time": moment, "channel": name, **here})
    return rows


def columns_of(channels: dict[str, Any]) -> dict[str, list[float | None]]:
    """What is written of each channel, a number a step, by title."""
    columns = {}
    for name, channel in channels.items():
        columns[name] = channel["mean"]
        columns[f"{name} 2.5 %"] = channel["quantiles"]["0.025"]
        columns[f"{name} 97.5 %"] = channel["quantiles"]["0.975"]
        for i, path in enumerate(channel.get("paths", []), 1):
            columns[f"{name} path {i}"] = path
    return columns


def forecast_figures(record: Record) -> Table:
    """The record of a `Forecaster`'s evaluation."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    add_errors(table, record)
    add_naive(table, record)
    add_against(table, record)
    add_parts(table, record)
    table.add_row("origins", f"{record['origins']:,}, {record['seconds']:.1f} s")
    add_protocol(table, record)
    return table


def add_errors(table: Table, record: Record) -> None:
    """Errors, and how much of the truth lies within each interval."""
    pooled = record["pooled"]
    if pooled is not None:
        beside = f"(pooled: MASE {number(pooled['mase'], '{:.4f}')}, MAE {number(pooled['mae'])})"
        table.add_row("series", f"{record['sequences']:,}; figures are means over them   {beside}")
    table.add_row("MASE", number(record["mase"], "{:.4f}") + around(record, "mase"))
    table.add_row("MAE", number(record["mae"]) + around(record, "mae"))
    table.add_row("RMSE", number(record["rmse"]))
    table.add_row("sMAPE", number(record["smape"], "{:.4f}"))
    table.add_row("CRPS", number(record["crps"]))
    if record["scaled"]:
        table.add_row("scaled", "MSE {mse:.4f}, MAE {mae:.4f}".format(**record["scaled"]))
    for name, share in record["coverage"].items():
        width = f"   (mean width {record['width'][name]:.5g})"
        filled = Text(bar(share, 12).ljust(12), style=ORDERS[4])
        words = Text(f"{100 * share:5.1f} %  ") + filled + Text(width)
        table.add_row(f"inside {name} %", words)


def around(record: Record, name: str) -> str:
    """The interval of a figure, where there is one."""
    bounds = record["interval"].get(name)
    known = bounds is not None and bounds[0] is not None
    return f"   (95 % interval {bounds[0]:.5g} to {bounds[1]:.5g})" if known else ""


def add_naive(table: Table, record: Record) -> None:
    """How much of the naive forecast's error is gone, and whether that may be chance."""
    against = record["against_naive"]
    if not against:
        return
    statistic, p = number(against["diebold_mariano"], "{:.2f}"), number(against["p"], "{:.2g}")
    gone = None if against["skill"] is None else 100 * against["skill"]
    if gone == 0 and against["diebold_mariano"] in (0, None):
        table.add_row("against naive", "it is the naive forecast")
        return
    words = f"{number(gone, '{:+.1f} %')} (Diebold-Mariano {statistic}, p = {p})"
    table.add_row("against naive", words)
    table.add_row("  which is", record["protocol"]["naive"])


def of_series(record: Record) -> str:
    """Over how many of several series the figures of steps are means."""
    counts = [each["series"] for each in record["by_horizon"] if "series" in each]
    if not counts:
        return ""
    some = (
        f"{min(counts):,}" if min(counts) == max(counts) else f"{min(counts):,} to {max(counts):,}"
    )
    return f"   means over {some} of {len(record['by_series']):,} series"


def add_parts(table: Table, record: Record) -> None:
    """Errors of some horizons, and of each channel where there are several."""
    steps = record["by_horizon"]
    if len(steps) > 1:
        row = sparkline([each["mae"] for each in steps], 24)
        table.add_row("MAE by horizon", Text(row, style=ORDERS[0]) + Text(of_series(record)))
    every = -(-len(steps) // SHOWN)
    if every > 1:
        words = f"of {len(steps)} steps ahead the first, every {every} steps, and the last:"
        table.add_row("", Text(words, "dim"))
        ends = (steps[0], steps[-1])
        steps = [each for h, each in enumerate(steps, 1) if h % every == 0 or each in ends]
    for each in steps:
        names = ("mae", "rmse", "crps")
        errors = ", ".join(f"{name.upper()} {number(each[name])}" for name in names)
        table.add_row(f"  {each['h']} step{'s' * (each['h'] > 1)} ahead", errors)
    if record["channels"] < 2:
        return
    for each, name in zip(record["by_channel"], record["channel_names"], strict=True):
        words = f"MASE {number(each['mase'], '{:.4f}')}, MAE {number(each['mae'])}"
        table.add_row(Text(f"  {visible(name)}"), words)


def lag_lines(record: Record) -> Group:
    """What a lag table has, and its first rows, as far as there is room."""
    many = f"{record['rows']:,} rows, {len(record['columns']):,} columns"
    series = f", {record['series']:,} series" if record["series"] > 1 else ""
    where = "".join(f"; written: {each}" for each in record["written"])
    told = Text(f"{many}{series}; to be learned: {', '.join(record['targets'])}{where}")
    room = max(2, output().width // NAME)
    names = record["columns"]
    kept = range(len(names)) if len(names) <= room else [*range(room - 1), len(names) - 1]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in kept:
        table.add_column(visible(names[column]), justify="right" if column else "left")
    for row in record["first"]:
        cells = (row[column] for column in kept)
        table.add_row(*(visible(c) if isinstance(c, str) else number(c) for c in cells))
    return Group(told, Text(), table)


def lag_rows(record: Record) -> list[dict[str, Any]]:
    """The first rows of a lag table."""
    return [dict(zip(record["columns"], row, strict=True)) for row in record["first"]]
