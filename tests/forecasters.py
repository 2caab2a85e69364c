"""Small series, and small models that forecast them."""

from __future__ import annotations

import numpy as np

from seriatim.data.sequences import NUMBERS, SYMBOLS, Field, Sequences, offsets_of
from seriatim.models.ladder import create
from seriatim.tasks.forecast import TASK

RULES = [name for name, rung in TASK.rungs.items() if rung.counts]
NETWORKS = {
    "linear": {},
    "convolution": {"density": "square", "normalise": "mean"},
    "rnn": {"density": "student"},
    "gru": {"density": "mixture"},
    "lstm": {"density": "quantiles", "channel_independent": False},
    "transformer": {"density": "bins", "heads": 2},
    "gru by steps": {"strategy": "recursive"},
    "rnn by steps": {"strategy": "recursive", "density": "square"},
    "lstm by steps": {"strategy": "recursive", "density": "mixture", "channel_independent": False},
    "transformer by steps": {"strategy": "recursive", "heads": 2, "positions": "sinusoidal"},
}
SMALL = {"horizon": 5, "context": 12}


def series(*rows, known=None, step: float = 3600.0) -> Sequences:
    """Series of these values, hourly."""
    rows = [np.asarray(row, np.float64).reshape(len(row), -1) for row in rows]
    offsets = offsets_of(map(len, rows))
    fields = {
        "values": Field(np.concatenate(rows), offsets, NUMBERS, tuple("abc"[: rows[0].shape[1]])),
        "time": Field(
            np.concatenate([1.7e9 + step * np.arange(len(row)) for row in rows]), offsets, NUMBERS
        ),
    }
    if known is not None:
        fields["known"] = Field(
            np.asarray(known, np.float64).reshape(len(known), -1), offsets, NUMBERS, ("k",)
        )
    if len(rows) > 1:
        fields["name"] = Field(
            np.arange(len(rows), dtype=np.int32),
            np.arange(len(rows) + 1),
            SYMBOLS,
            tuple(f"s{i}" for i in range(len(rows))),
        )
    return Sequences(fields, by="stream" if len(rows) == 1 else "line", origin="test")


def noise(length: int, channels: int = 1, seed: int = 0) -> np.ndarray:
    return 10 + np.cumsum(np.random.default_rng(seed).normal(size=(length, channels)), 0)


def made(name: str, channels: int = 2, known: int = 0, **more):
    spec = name.removesuffix(" by steps")
    own = NETWORKS.get(name, {})
    sizes = (
        {}
        if spec in RULES
        else {"width": 8, "dropout": 0.0}
        | ({"layers": 1} if spec in ("convolution", "transformer") else {})
    )
    parts = TASK.parts(spec, SMALL | sizes | own | more)
    return create(parts, channels, known, 4, mixture=TASK.mixture)
