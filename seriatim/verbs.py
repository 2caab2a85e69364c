"""The verbs on a run folder: what the command line does, as functions."""
from __future__ import annotations

from pathlib import Path
from typing import Any

from seriatim.data.sequences import Sequences
from seriatim.errors import ConfigError, nearest
from seriatim.exploring import continuations
from seriatim.inspecting import INSIDE, Text
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


def inspect(runs: Run | list[Run], what: str, text: Text) -> dict[str, Any]:
    """What happens inside: gradient or influence by distance (of several runs, if asked), attention, surprisal. See `seriatim.inspecting`."""
    if what not in INSIDE:
        raise ConfigError("there is nothing of this name to see", got=what, do=nearest(what, INSIDE))
    runs = runs if isinstance(runs, list) else [runs]
    if what in ("gradient", "influence"):
        found = [{"run": None if isinstance(run, Predictor) else str(run)} | INSIDE[what](opened(run), text) for run in runs]
        return {"version": 1, "kind": what, "runs": found, "notes": list(dict.fromkeys(note for each in found for note in each["notes"]))}
    if len(runs) > 1:
        raise ConfigError(f"{what} is shown of one run at a time", got=f"{len(runs)} runs", do="Give one")
    return INSIDE[what](opened(runs[0]), text)
