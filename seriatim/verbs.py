"""The verbs on a run folder: what the command line does, as functions."""
from __future__ import annotations

from pathlib import Path
from typing import Any

from seriatim.data.sequences import Sequences
from seriatim.exploring import continuations
from seriatim.predictor import Predictor, load

Run = Predictor | str | Path


def opened(run: Run) -> Predictor:
    return run if isinstance(run, Predictor) else load(run)


def evaluate(run: Run, data: Sequences | str | Path) -> dict[str, Any]:
    """How well a run predicts some data: figures, intervals and protocol."""
    return opened(run).evaluate(data)


def score(run: Run, data: Sequences | str | Path) -> list[dict[str, Any]]:
    """The natural-log probability of each sequence."""
    return opened(run).score(data)


def generate(run: Run, prompt: str = "", **settings: Any) -> str | list[str]:
    """Text written by a run after a prompt."""
    return opened(run).generate(prompt, **settings)


def predict(run: Run, data: Sequences | str | Path, top: int = 5) -> list[dict[str, Any]]:
    """The likeliest next symbols after each sequence."""
    return opened(run).predict(data, top)


def ngrams(run: Run, pattern: str, top: int = 20) -> dict[str, Any]:
    """What stands at the * of a pattern such as "won a *", with counts and back-off: see `seriatim.exploring`."""
    return continuations(opened(run), pattern, top)
