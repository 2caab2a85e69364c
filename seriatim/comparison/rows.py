"""Rows of a comparison: the units they are of, several seeds as one, and how much of the data are copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from seriatim.data.sequences import Sequences
from seriatim.data.splits import equal_groups
from seriatim.errors import ConfigError
from seriatim.settings import build
from seriatim.tasks.base import Task

Row = dict[str, Any]


def copies(data: Sequences) -> float:
    """The share of sequences that are copies of one before; 0 for a stream or a series."""
    if data.by == "stream" or data.is_series or len(data) < 2:
        return 0.0
    return 1 - len(np.unique(equal_groups(data))) / len(data)


def over_seeds(rows: list[Row], keys: Sequence[str]) -> Row:
    """One row for several seeds: means of their figures, each beside it; what it cost is the sum."""
    first = rows[0]
    if len(rows) == 1:
        return first
    mean = {
        key: float(np.mean([row[key] for row in rows]))
        for key in (*keys, "valid", "valid_ties")
        if all(isinstance(row.get(key), (int, float)) for row in rows)
    }
    seconds = sum(row["seconds"] for row in rows)
    return first | mean | {"by_seed": [row[keys[0]] for row in rows], "seconds": seconds}


def units_of(units: str, settings: Mapping[str, Any], room: Task) -> list[str]:
    """The units to be compared, or one that is not named."""
    names = list(dict.fromkeys(each.strip() for each in units.split(",") if each.strip()))
    if not names:
        return [""]
    if "unit" in settings:
        raise ConfigError("one unit or several", got="--unit and --units", do="Leave one out")
    if room.figures[0].key not in room.across_units:
        raise ConfigError(
            f"figures of {room.name} are not the same for every unit",
            got=f"--units {units}",
            do="Compare one --unit at a time",
        )
    for name in names:
        build(room.coding, {"unit": name}, "codec")
    return names
