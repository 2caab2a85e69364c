"""Pictures of forecasts.

forecast   what was and what comes: the mean, and intervals as a fan
origins    what came, and what was forecast of it from origin after origin
horizon    the error over the number of steps ahead
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seriatim.records import Record
from seriatim.show.charts import ACCENT, INK, SOFT, entitle, new_axes, readable, rendered

BANDS = ((0.025, 0.975, 0.15), (0.1, 0.9, 0.2), (0.25, 0.75, 0.3))


MOST_CHANNELS = 4


def panels(count: int, height: float = 2.4) -> tuple[Any, Any]:
    """A figure and its axes, one below the other."""
    figure, _ = new_axes(9.0, 0.8 + height * count)
    figure.clear()
    found = figure.subplots(count, 1, squeeze=False, sharex=True)[:, 0]
    for axes in found:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#e7eaec", linewidth=0.8)
        axes.set_axisbelow(True)
    return figure, found


def fan(record: Record, format: str = "svg") -> bytes:
    """What was and what comes, of the first series: a record of `predict`."""
    item = record["items"][0]
    names = list(item["channels"])[:MOST_CHANNELS]
    figure, several = panels(len(names))
    for axes, name in zip(several, names, strict=True):
        channel = item["channels"][name]
        past, mean = np.array(item["past"][name], float), np.array(channel["mean"], float)
        before, ahead = np.arange(-len(past) + 1, 1), np.arange(1, len(mean) + 1)
        axes.plot(before, past, color=INK, linewidth=1.1)
        for low, high, depth in BANDS:
            ends = (np.array(channel["quantiles"][f"{end:g}"], float) for end in (low, high))
            axes.fill_between(ahead, *ends, color=ACCENT, alpha=depth, linewidth=0)
        axes.plot(ahead, mean, color=ACCENT, linewidth=1.6)
        axes.set_ylabel(readable(name), color=INK)
    several[-1].set_xlabel(f"steps; 0 is row {item['rows']}", color=SOFT)
    entitle(several[0], f"{readable(record['model'])}: point forecast, and 50, 80 and 95 %")
    return rendered(figure, format)


def walked(record: Record, format: str = "svg") -> bytes:
    """What came, and what was forecast of it, of the first series: a record of `backtest`."""
    series, gap = record["series"][0], record["protocol"]["gap"]
    names = record["channel_names"][:MOST_CHANNELS]
    figure, several = panels(len(names))
    for axes, name in zip(several, names, strict=True):
        values = np.array(series["values"][name], float)
        rows = np.arange(len(values)) + series["first"]
        axes.plot(rows, values, color=INK, linewidth=1.1)
        for item in record["items"]:
            if item["series"] != series["series"]:
                continue
            mean, first = np.array(item["channels"][name]["mean"], float), item["origin"] + gap
            ahead = np.arange(first, first + len(mean))
            axes.plot(ahead, mean, color=ACCENT, linewidth=1.2, alpha=0.8)
        axes.set_ylabel(readable(name), color=INK)
    several[-1].set_xlabel("row", color=SOFT)
    entitle(several[0], f"{readable(record['model'])}: forecasts from origin after origin")
    return rendered(figure, format)


def by_horizon(record: Record, format: str = "svg") -> bytes:
    """The error over the number of steps ahead: a record of `evaluate`."""
    figure, axes = new_axes(7.0, 4.0)
    steps = [each["h"] for each in record["by_horizon"]]
    for name, colour in (("mae", ACCENT), ("rmse", INK), ("crps", SOFT)):
        values = [each[name] for each in record["by_horizon"]]
        if all(value is not None for value in values):
            axes.plot(
                steps,
                values,
                color=colour,
                label=name.upper(),
                linewidth=1.6,
                marker="o" if len(steps) < 30 else None,
                markersize=3,
            )
    axes.set(xlabel="steps ahead", ylabel="error", ylim=(0, None))
    axes.legend(frameon=False, fontsize=9, labelcolor=INK)
    entitle(axes, f"{readable(record['model'])}: error by horizon, {record['origins']:,} origins")
    return rendered(figure, format)
