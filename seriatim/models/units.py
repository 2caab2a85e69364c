"""Hidden units along a text, and which of them follow what can be seen in it.

    r_u = sum_t (h_tu - mean_u) (m_t - mean) / (T s_u s)         s: standard deviations

h_t is the output of a layer once symbol t has been read, m a marker of the text
(`seriatim.models.markers`). The unit of the greatest |r| was found by search: among hundreds of
units one follows anything a little, by luck. So the search is also made on the first half of the
text alone, and the unit that it finds is measured on the second half, which had no say.
Karpathy et al. 2015 found units of an lstm for quotes, brackets and the place in the line by eye.
Shapes: T symbols, U units.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seriatim.errors import ConfigError, DataError
from seriatim.models.markers import marked
from seriatim.records import Record

FEWEST = 30  # symbols that a correlation rests on
FLAT = 1e-9  # deviations below are those of a unit that always says the same

Layers = Sequence[tuple[int, np.ndarray]]  # each with its number, from 1 on, and (T, U) outputs


def told_units(
    layers: Layers, symbols: Sequence[str], apart: bool, marker: str, unit: int, count: int
) -> dict[str, Any]:
    """What a record tells of units along a text: the one that is asked for, in each layer; those that
    follow a marker best; or those that change most. Symbols that stand `apart` are words."""
    values = np.concatenate([each for _, each in layers], 1).astype(np.float64)  # (T, U) of all
    places = [(layer, u + 1) for layer, each in layers for u in range(each.shape[1])]
    deviations = values.std(0)
    wanted = np.array([unit in (0, number) for _, number in places])
    if not wanted.any():
        raise ConfigError(
            "this layer has no such unit",
            got=f"unit {unit}",
            do=f"It has {max(each.shape[1] for _, each in layers)}, counted from 1; 0: all",
        )
    seen = followed(values, symbols, marker, apart) if marker else None
    worth = deviations if seen is None else np.abs(np.nan_to_num(seen["correlations"]))
    order = np.argsort(np.where(wanted, -worth, np.inf), kind="stable")
    chosen = order[: min(count, int(wanted.sum()))].tolist()
    items = [
        {
            "layer": places[u][0],
            "unit": places[u][1],
            "correlation": None if seen is None else number(seen["correlations"][u]),
            "mean": float(values[:, u].mean()),
            "deviation": float(deviations[u]),
            "values": values[:, u].tolist(),
        }
        for u in chosen
    ]
    return {
        "symbols": list(symbols),
        "marker": marker,
        "marked": None if seen is None else seen["marked"],
        "searched": int(wanted.sum()),
        "halves": None if seen is None else halves(values, seen["marked"], wanted, places),
        "items": items,
    }


def followed(
    values: np.ndarray, symbols: Sequence[str], marker: str, apart: bool
) -> dict[str, Any]:
    """(T, U) values -> the marker, and how each unit correlates with it."""
    if len(symbols) < FEWEST:
        raise DataError(
            f"a correlation over fewer than {FEWEST} symbols tells nothing",
            got=f"{len(symbols)} symbols",
            do="Give a longer text",
        )
    series = np.array(marked(symbols, marker, apart))
    if series.std() < FLAT:
        raise DataError(
            f"the marker {marker} is the same throughout this text, so nothing can follow it",
            got=f"{series[0]:g} at each of {len(series)} symbols",
            do=f"Give a text in which the {marker} changes, or another marker",
        )
    return {"marked": series.tolist(), "correlations": correlations(values, series)}


def correlations(values: np.ndarray, series: np.ndarray) -> np.ndarray:
    """(T, U) values, (T,) -> (U,) Pearson's r; nan of a unit that always says the same."""
    apart, beside = values - values.mean(0), series - series.mean()
    scale = values.std(0) * series.std() * len(series)
    flat = (values.std(0) < FLAT) | (series.std() < FLAT)
    return np.where(flat, np.nan, (apart * beside[:, None]).sum(0) / np.where(flat, 1.0, scale))


def halves(
    values: np.ndarray, series: Sequence[float], wanted: np.ndarray, places: list[tuple[int, int]]
) -> Record | None:
    """The best unit of the first half, and what it is worth in the second; None where the marker
    does not change in one of them."""
    middle = len(values) // 2
    some = np.array(series)
    if min(some[:middle].std(), some[middle:].std()) < FLAT:
        return None
    first = correlations(values[:middle], some[:middle])
    best = int(np.argmax(np.where(wanted, np.abs(np.nan_to_num(first)), -1.0)))
    second = correlations(values[middle:, best : best + 1], some[middle:])[0]
    return {
        "layer": places[best][0],
        "unit": places[best][1],
        "first": number(first[best]),
        "second": number(second),
        "symbols": [middle, len(values) - middle],
    }


def number(value: float) -> float | None:
    """A correlation; none of a unit that always says the same."""
    return float(value) if np.isfinite(value) else None
