"""Forecasts as lines, and how good they are as a table."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.table import Table

SHOWN = 12                                 # horizons that are shown


def number(value: float | None, form: str = "{:.5g}") -> str:
    return "-" if value is None else form.format(value)


def forecast_lines(records: list[dict[str, Any]]) -> Iterator[str]:
    """A line for each step: the series if there are several, the moment, for each channel mean and the ends of nine tenths, then its sample paths."""
    for record in records:
        many, channels = len(records) > 1, record["channels"]
        columns = {f"{name}{what}": column for name, channel in channels.items() for what, column in (
            ("", channel["mean"]), (" 5 %", channel["quantiles"]["0.05"]), (" 95 %", channel["quantiles"]["0.95"]),
            *((f" path {number}", path) for number, path in enumerate(channel.get("paths", []), 1)))}
        yield "\t".join([*(["series"] if many else []), "time", *columns])
        for h, moment in enumerate(record["time"]):
            yield "\t".join([*([record["series"]] if many else []), moment, *(f"{column[h]:.6g}" for column in columns.values())])


def forecast_figures(record: dict[str, Any]) -> Table:
    """The record of a `ForecastPredictor`'s evaluation."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    bounds = (record["interval"] or {}).get("mae")
    table.add_row("MASE", number(record["mase"], "{:.4f}"))
    table.add_row("MAE", number(record["mae"]) + ("" if not bounds or bounds[0] is None else f"   (95 % interval {bounds[0]:.5g} to {bounds[1]:.5g})"))
    table.add_row("RMSE", number(record["rmse"]))
    table.add_row("sMAPE", number(record["smape"], "{:.4f}"))
    table.add_row("CRPS", number(record["crps"]))
    if record["scaled"]:
        table.add_row("scaled", "MSE {mse:.4f}, MAE {mae:.4f}".format(**record["scaled"]))
    for name, share in record["coverage"].items():
        table.add_row(f"inside {name} %", f"{100 * share:.1f} %   (mean width {record['width'][name]:.5g})")
    if record["against_naive"]:
        against = record["against_naive"]
        test = f"Diebold-Mariano {number(against['diebold_mariano'], '{:.2f}')}, p = {number(against['p'], '{:.2g}')}"
        gone = None if against["skill"] is None else 100 * against["skill"]
        table.add_row("against naive", f"{number(gone, '{:+.1f} %')} ({test})")
    steps = record["by_horizon"]
    for each in steps if len(steps) <= SHOWN else [steps[round(i * (len(steps) - 1) / (SHOWN - 1))] for i in range(SHOWN)]:
        errors = ", ".join(f"{name.upper()} {number(each[name])}" for name in ("mae", "rmse", "crps"))
        table.add_row(f"  {each['h']} step{'s' * (each['h'] > 1)} ahead", errors)
    for each, name in zip(record["by_channel"], record["channel_names"], strict=True) if record["channels"] > 1 else ():
        table.add_row(f"  {name}", f"MASE {number(each['mase'], '{:.4f}')}, MAE {number(each['mae'])}")
    table.add_row("origins", f"{record['origins']:,}, {record['seconds']:.1f} s")
    for name, value in record["protocol"].items():
        table.add_row(f"protocol: {name.replace('_', ' ')}", str(value))
    return table
