"""Pictures of forecasts.

    forecast   what was and what comes: the mean, and intervals as a fan
    origins    what came, and what was forecast of it from origin after origin
    horizon    the error over the number of steps ahead

"""
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from seriatim.backtesting import forecast, origins
from seriatim.config import BacktestOptions
from seriatim.figures import ACCENT, INK, SOFT, beside, entitle, format_of, new_axes, readable, rendered
from seriatim.models.rules import LEVELS
from seriatim.storage import write_bytes

BANDS = ((0.05, 0.95, 0.15), (0.1, 0.9, 0.2), (0.25, 0.75, 0.3))
MOST_CHANNELS, MOST_ORIGINS = 4, 12


def panels(count: int, height: float = 2.4):
    """One below the other."""
    figure, _ = new_axes(9.0, 0.8 + height * count)
    figure.clear()
    found = figure.subplots(count, 1, squeeze=False, sharex=True)[:, 0]
    for axes in found:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#e7eaec", linewidth=0.8)
        axes.set_axisbelow(True)
    return figure, found


def fan(record: dict[str, Any], format: str = "svg") -> bytes:
    names = list(record["channels"])[:MOST_CHANNELS]
    figure, several = panels(len(names))
    for axes, name in zip(several, names, strict=True):
        channel = record["channels"][name]
        past, mean = np.array(record["past"][name]), np.array(channel["mean"])
        before, ahead = np.arange(-len(past) + 1, 1), np.arange(1, len(mean) + 1)
        axes.plot(before, past, color=INK, linewidth=1.1)
        for low, high, depth in BANDS:
            axes.fill_between(ahead, channel["quantiles"][f"{low:g}"], channel["quantiles"][f"{high:g}"], color=ACCENT, alpha=depth, linewidth=0)
        axes.plot(ahead, mean, color=ACCENT, linewidth=1.6)
        axes.set_ylabel(readable(name), color=INK)
    several[-1].set_xlabel(f"steps; 0 is {readable(str(record['last']))}", color=SOFT)
    entitle(several[0], f"{readable(record['model'])}: mean, and 50, 80 and 90 %")
    return rendered(figure, format)


def walked(record: dict[str, Any], format: str = "svg") -> bytes:
    names = record["names"][:MOST_CHANNELS]
    figure, several = panels(len(names))
    for c, (axes, name) in enumerate(zip(several, names, strict=True)):
        axes.plot(np.arange(len(record["values"])) + record["first"], np.array(record["values"])[:, c], color=INK, linewidth=1.1)
        for place, mean in zip(record["origins"], record["means"], strict=True):
            axes.plot(np.arange(place, place + len(mean)), np.array(mean)[:, c], color=ACCENT, linewidth=1.2, alpha=0.8)
        axes.set_ylabel(readable(name), color=INK)
    several[-1].set_xlabel("row", color=SOFT)
    entitle(several[0], f"{readable(record['model'])}: forecasts from origin after origin")
    return rendered(figure, format)


def by_horizon(record: dict[str, Any], format: str = "svg") -> bytes:
    figure, axes = new_axes(7.0, 4.0)
    steps = [each["h"] for each in record["by_horizon"]]
    for name, colour in (("mae", ACCENT), ("rmse", INK), ("crps", SOFT)):
        values = [each[name] for each in record["by_horizon"]]
        if all(value is not None for value in values):
            axes.plot(steps, values, color=colour, label=name.upper(), linewidth=1.6, marker="o" if len(steps) < 30 else None, markersize=3)
    axes.set(xlabel="steps ahead", ylabel="error", ylim=(0, None))
    axes.legend(frameon=False, fontsize=9, labelcolor=INK)
    entitle(axes, f"{readable(record['model'])}: error by horizon, {record['origins']:,} origins")
    return rendered(figure, format)


PICTURES = {"forecast": fan, "origins": walked, "horizon": by_horizon}


def draw(what: str, record: dict[str, Any], path: str | Path) -> Path:
    write_bytes(Path(path), PICTURES[what](record, format_of(path)))
    return Path(path)


def draw_run(run: str, what: str, file: str, out: str | Path | None) -> dict[str, Any]:
    """The record behind a picture of a run on a file, and the picture: in the run's folder if `out` is not given."""
    from seriatim.errors import ConfigError
    from seriatim.predictor import load
    predictor = load(run)
    if predictor.task != "forecast":
        raise ConfigError("this picture is of forecasts", got=f"a model of {predictor.task}", do="Give a run of `fit forecast`")
    out = beside(run, f"{what}.png") if out is None else out
    format_of(out)
    data = predictor.data(file)
    values, names = data.field("values"), predictor.codec.channels
    if what == "forecast":
        record = predictor.predict(data)[0]
        shown = values.row(0)[-3 * max(predictor.horizon, 16):]
        record |= {"past": {name: shown[:, c].tolist() for c, name in enumerate(names)}, "last": f"row {len(values.row(0))}", "model": predictor.spec}
    elif what == "horizon":
        record = predictor.evaluate(data)
    else:
        first = len(values.row(0)) - MOST_ORIGINS * predictor.horizon
        first = max(1, len(values.row(0)) // 2 if first < len(values.row(0)) // 2 else first)
        options = BacktestOptions(begin=str(first), stride=predictor.horizon)
        places = origins(data, options)
        places = places[places < len(values.row(0))]
        _, mean, _ = forecast(predictor.model, predictor.codec, data, predictor.codec.encode(data), places, options)
        begin = max(0, first - 2 * predictor.horizon)
        record = {"version": 1, "kind": "origins", "model": predictor.spec, "names": names, "first": begin, "values": values.row(0)[begin:].tolist(),
                  "origins": places.tolist(), "means": mean.tolist(), "levels": LEVELS.tolist()}
    return record | {"picture": str(draw(what, record, out))}
