"""A small, fitted model of every rung: a new model adds a row here, not a test file."""
from __future__ import annotations

from functools import cache

import numpy as np
import torch

from seriatim.models import MODELS, create, parse
from seriatim.models.base import Model
from tests.conftest import symbols

VOCABULARY = 7
SMALL = {"width": 16, "layers": 2, "heads": 2, "context": 6, "kernel": 3, "order": 2, "dropout": 0.3, "window": 9}
VARIANTS = {                                   # parts of the frame that no rung has by default
    "rnn, sigmoid": ("rnn", {"activation": "sigmoid", "initial": "uniform"}),
    "rnn, relu": ("rnn", {"activation": "relu"}),
    "lstm, coupled": ("lstm", {"mixer": "coupled"}),
    "lstm, weights dropped, tied": ("lstm", {"weight_dropout": 0.5, "tied": True}),
    "gru, residual": ("gru", {"residual": True, "feed_forward": 2.0, "feed": "gated", "norm": "rms"}),
    "convolution, plain": ("convolution", {"gated": False, "activation": "relu"}),
    "attention, simple": ("transformer", {"maps": False, "score": "dot", "heads": 1, "positions": "none"}),
    "attention, bilinear, sinusoidal": ("transformer", {"score": "bilinear", "positions": "sinusoidal", "norm_place": "after", "feed": "relu"}),
    "attention, mlp": ("transformer", {"score": "mlp", "positions": "none", "norm": "rms", "feed": "gated"}),
    "attention, learned": ("transformer", {"positions": "learned", "context": 64, "feed": "gelu-tanh", "tied": True}),
    "lstm, direct": ("lstm", {"direct": 4, "cells": 50, "direct_dropout": 0.5}),
    "transformer, direct": ("transformer", {"direct": 3, "cells": 50}),
}
RUNGS = [*MODELS["language"], *VARIANTS, "unigram+markov", "kneser-ney+cache", "markov+lstm+transformer"]


def settings_for(name: str) -> dict:
    """Those of the small settings that this rung has."""
    spec, own = VARIANTS.get(name, (name, {}))
    parts = parse(spec, {})
    return {key: value for key, value in SMALL.items() if any(hasattr(part.options, key) for part in parts)} | own


def spec_of(name: str) -> str:
    return VARIANTS.get(name, (name, {}))[0]


@cache
def small_model(name: str, add: float | None = None) -> Model:
    """Counts are counted, weights are random but not small."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    settings = settings_for(name) | ({} if add is None else {"add": add})
    model = create(parse(spec_of(name), settings), VOCABULARY)
    training = symbols(rng.integers(0, VOCABULARY, rng.integers(1, 12)) for _ in range(40))
    for part in getattr(model, "parts", [model]):
        if isinstance(part, torch.nn.Module):
            part.eval()
            for parameter in part.parameters():
                parameter.data += (0.05 if "relu" in name else 0.3) * torch.randn_like(parameter)        # a relu recurrence explodes
        else:
            part.count(training, stop=True)
    return model


def random_rows(rows: int, time: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).integers(0, VOCABULARY, (rows, time)))
