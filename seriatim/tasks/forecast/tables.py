"""Forecasts as lines, and how good they are as a table."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from seriatim.records import Record
from seriatim.show.tables import add_protocol

SHOWN = 12  # horizons that are shown


def number(value: float | None, form: str = "{:.5g}") -> str:
    """A figure; a dash where there is none."""
    return "-" if value is None else form.format(value)


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
    if "against" in record:
        other = record["against"]
        words = f"p = {number(other['p'], '{:.2g}')} ({other['test']})"
        table.add_row(f"against {other['model']}", words)
    add_parts(table, record)
    table.add_row("origins", f"{record['origins']:,}, {record['seconds']:.1f} s")
    add_protocol(table, record)
    return table


def add_errors(table: Table, record: Record) -> None:
    """Errors, and how much of the truth lies within each interval."""
    bounds = record["interval"]["mae"]
    known = bounds is not None and bounds[0] is not None
    around = f"   (95 % interval {bounds[0]:.5g} to {bounds[1]:.5g})" if known else ""
    pooled = record["pooled"]
    if pooled is not None:
        beside = f"(pooled: MASE {number(pooled['mase'], '{:.4f}')}, MAE {number(pooled['mae'])})"
        table.add_row("series", f"{record['sequences']:,}; figures are means over them   {beside}")
    table.add_row("MASE", number(record["mase"], "{:.4f}"))
    table.add_row("MAE", number(record["mae"]) + around)
    table.add_row("RMSE", number(record["rmse"]))
    table.add_row("sMAPE", number(record["smape"], "{:.4f}"))
    table.add_row("CRPS", number(record["crps"]))
    if record["scaled"]:
        table.add_row("scaled", "MSE {mse:.4f}, MAE {mae:.4f}".format(**record["scaled"]))
    for name, share in record["coverage"].items():
        width = f"mean width {record['width'][name]:.5g}"
        table.add_row(f"inside {name} %", f"{100 * share:.1f} %   ({width})")


def add_naive(table: Table, record: Record) -> None:
    """How much of the naive forecast's error is gone, and whether that may be chance."""
    against = record["against_naive"]
    if not against:
        return
    statistic, p = number(against["diebold_mariano"], "{:.2f}"), number(against["p"], "{:.2g}")
    gone = None if against["skill"] is None else 100 * against["skill"]
    words = f"{number(gone, '{:+.1f} %')} (Diebold-Mariano {statistic}, p = {p})"
    table.add_row("against naive", words)


def add_parts(table: Table, record: Record) -> None:
    """Errors of some horizons, and of each channel where there are several."""
    steps = record["by_horizon"]
    if len(steps) > SHOWN:
        steps = [steps[round(i * (len(steps) - 1) / (SHOWN - 1))] for i in range(SHOWN)]
    for each in steps:
        names = ("mae", "rmse", "crps")
        errors = ", ".join(f"{name.upper()} {number(each[name])}" for name in names)
        table.add_row(f"  {each['h']} step{'s' * (each['h'] > 1)} ahead", errors)
    if record["channels"] < 2:
        return
    for each, name in zip(record["by_channel"], record["channel_names"], strict=True):
        words = f"MASE {number(each['mase'], '{:.4f}')}, MAE {number(each['mae'])}"
        table.add_row(f"  {name}", words)
