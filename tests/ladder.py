"""A small, fitted model of every rung: a new model adds a row here, not a test file."""

from __future__ import annotations

from functools import cache

import numpy as np
import torch

from seriatim.data.sequences import Field
from seriatim.models.base import Model
from seriatim.models.ladder import Part, create
from seriatim.tasks import task as room
from seriatim.tasks import tasks
from seriatim.verbs import run
from tests.conftest import symbols

VOCABULARY = 7
SMALL = {
    "width": 16,
    "layers": 2,
    "heads": 2,
    "context": 6,
    "kernel": 3,
    "order": 2,
    "dropout": 0.3,
    "window": 9,
}
VARIANTS = {  # parts of the frame that no rung has by default
    "rnn, sigmoid": ("rnn", {"activation": "sigmoid", "initial": "uniform"}),
    "rnn, relu": ("rnn", {"activation": "relu"}),
    "lstm, coupled": ("lstm", {"mixer": "coupled"}),
    "lstm, linear output": ("lstm", {"cell_output": "linear", "norm_inside": True}),
    "gru-before": ("gru", {"mixer": "gru-before", "norm_inside": True, "radius": 0.5}),
    "additive": ("rnn", {"mixer": "additive", "residual": True}),
    "additive-recurrent": ("rnn", {"mixer": "additive-recurrent", "residual": True}),
    "no-output-gate": ("lstm", {"mixer": "no-output-gate"}),
    "lstm, weights dropped, tied": ("lstm", {"weight_dropout": 0.5, "tied": True}),
    "gru, residual": (
        "gru",
        {"residual": True, "feed_forward": 2.0, "feed_forward_activation": "gated", "norm": "rms"},
    ),
    "convolution, plain": ("convolution", {"gated": False, "activation": "relu"}),
    "convolution, not dilated": ("convolution", {"dilation": 1}),
    "attention, simple": (
        "transformer",
        {"maps": False, "score": "dot", "heads": 1, "positions": "none"},
    ),
    "attention, bilinear, sinusoidal": (
        "transformer",
        {
            "score": "bilinear",
            "positions": "sinusoidal",
            "norm_place": "after",
            "feed_forward_activation": "relu",
        },
    ),
    "attention, mlp": (
        "transformer",
        {"score": "mlp", "positions": "none", "norm": "rms", "feed_forward_activation": "gated"},
    ),
    "attention, uniform, concatenated": (
        "transformer",
        {"score": "uniform", "positions": "concatenated", "context": 4},
    ),
    "attention, wide heads": ("transformer", {"head_width": 10, "heads": 3}),
    "attention, learned": (
        "transformer",
        {
            "positions": "learned",
            "context": 64,
            "feed_forward_activation": "gelu-tanh",
            "tied": True,
        },
    ),
    "markov, textbook": ("markov", {"add": 1.0, "first": "unigram", "closed": True}),
    "lstm, direct": ("lstm", {"direct": 4, "cells": 50, "direct_dropout": 0.5}),
    "transformer, direct": ("transformer", {"direct": 3, "cells": 50}),
}
RUNGS = [
    *room("language").rungs,
    *VARIANTS,
    "unigram+markov",
    "kneser-ney+cache",
    "markov+lstm+transformer",
]


def parts_of(
    spec: str, settings: dict, task: str = "language", numbers: bool = False
) -> list[Part]:
    """The parts of a model of some task."""
    return room(task).parts(spec, settings, numbers)


def settings_for(name: str) -> dict:
    """Those of the small settings that this rung has."""
    spec, own = VARIANTS.get(name, (name, {}))
    parts = parts_of(spec, {})
    return {
        key: value
        for key, value in SMALL.items()
        if any(hasattr(part.options, key) for part in parts)
    } | own


def spec_of(name: str) -> str:
    return VARIANTS.get(name, (name, {}))[0]


def training() -> Field:
    """Forty lines of random symbols, to be counted."""
    rng = np.random.default_rng(0)
    return symbols(rng.integers(0, VOCABULARY, rng.integers(1, 12)) for _ in range(40))


@cache
def small_model(name: str, add: float | None = None) -> Model:
    """Counts are counted, weights are random but not small."""
    torch.manual_seed(0)
    settings = settings_for(name) | ({} if add is None else {"add": add})
    model = create(parts_of(spec_of(name), settings), VOCABULARY)
    for part in model.parts:
        if isinstance(part, torch.nn.Module):
            part.eval()
            for parameter in part.parameters():
                parameter.data += (0.05 if "relu" in name else 0.3) * torch.randn_like(
                    parameter
                )  # a relu recurrence explodes
        else:
            part.count(training(), stop=True)
    return model


def random_rows(rows: int, time: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).integers(0, VOCABULARY, (rows, time)))


def fit_events(task: str, spec: str, train, valid=None, *, settings=None, **options):
    """The events of a fit."""
    asked = {key: str(value) if key == "out" else value for key, value in options.items()}
    return run("fit", task, train, model=spec, valid=valid, **asked, **(settings or {}))


MODELS = {each.name: each.rungs for each in tasks()}  # by task, then by name
