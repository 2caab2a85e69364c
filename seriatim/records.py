"""Records: what every verb gives, through every door. Plain JSON values, with a kind and a version.

    {"kind": "evaluation", "version": 1, "task": "sets", "model": "lstm", ...}

`null` stands for infinity and for what is not a number; an array of more than 10,000 numbers is
`{"dtype", "shape", "base64"}`. The same thing has the same key in every task.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from typing import Any

VERSION = 1
LARGE = 10_000  # numbers; larger arrays are written as bytes

Record = dict[str, Any]


def record(kind: str, **values: Any) -> Record:
    """A record of this kind; its values are made plain."""
    return {"kind": kind, "version": VERSION, **{key: plain(each) for key, each in values.items()}}


def plain(value: Any) -> Any:
    """The same value as JSON has it."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(each) for each in value]
    if hasattr(value, "dtype"):  # a number or an array of numpy or torch
        return plain_array(value)
    return str(value)


def plain_array(array: Any) -> Any:
    """Numbers as nested lists, or as bytes where they are many."""
    array = array.numpy() if hasattr(array, "numpy") else array
    if array.size <= LARGE:
        return plain(array.tolist())
    array = array.copy(order="C")
    return {
        "dtype": str(array.dtype),
        "shape": list(array.shape),
        "base64": base64.b64encode(array.tobytes()).decode("ascii"),
    }


def array_of(value: Any) -> Any:
    """The array that `plain_array` wrote, as numbers or as bytes.

    >>> import numpy as np
    >>> many = np.arange(20_000.0).reshape(200, 100)
    >>> bool((array_of(plain_array(many)) == many).all())
    True
    """
    import numpy as np

    if not isinstance(value, Mapping):
        return np.array(value)
    raw = base64.b64decode(value["base64"])
    return np.frombuffer(raw, value["dtype"]).reshape(value["shape"])


def finite(value: float) -> float | None:
    """JSON has no infinity: what is impossible has no figure."""
    return value if math.isfinite(value) else None


def safe_exp(value: float) -> float:
    """e to this power; infinite where that is too large for a float."""
    return math.exp(value) if value < 700 else math.inf
