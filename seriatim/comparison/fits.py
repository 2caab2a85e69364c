"""One fit of a comparison: within what is left of its slot, gone on with where it was killed, and
repeated for longer where its epochs ended it and not its time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from seriatim.comparison.budget import Budget
from seriatim.comparison.trials import TRIED, Round, spec_of
from seriatim.fitting import fit_events
from seriatim.fitting_options import CompareOptions
from seriatim.runs.places import MANIFEST, PLAN, clear, interrupted
from seriatim.runs.predictor import Predictor
from seriatim.storage import read_json, write_json
from seriatim.tasks.base import Task
from seriatim.tasks.opening import load

Event = dict[str, Any]
OFTEN = ("epochs", "least_updates")  # of a recipe: how often small data are read
LONGER = 4  # times as many of them, where time is left
ENOUGH = 2.0  # times what a fit took must be left for a longer one


class Fits:
    """The part of a comparison that fits."""

    room: Task
    options: CompareOptions
    settings: dict[str, Any]
    learning: list[str]
    plans: Mapping[str, Mapping[str, Any]]
    measuring: dict[str, Any]
    budget: Budget | None
    test_share: float
    rehearsed: Callable[..., Any]

    def fit(
        self, name: str, seed: int, parts: Round, run: Path | None, numbers: bool, left: int
    ) -> Generator[Event, None, Predictor]:
        """One fit, within what is left of its slot for so many; of a comparison that was killed, gone
        on with."""
        whole = run is not None and (run / MANIFEST).is_file() and not interrupted(run)
        if run is not None and self.options.resume and whole:
            clear(run)  # its process may have died before it did
            return load(run)
        valid, train, _ = parts
        asked = dict(self.plans[name]) | ({} if run is None else {"out": str(run)})
        if self.options.resume and run is not None:
            asked["resume"] = (run / PLAN).is_file()
        if name in self.learning:
            asked = self.own_epochs(name, numbers) | asked
            asked["seed"] = int(self.settings.get("seed", 0)) + seed
        budget = partial(self.minutes, parts, left) if self.by_clock(name) else None
        before = None if asked.get("resume") else self.rehearsed(name, seed, parts, left)
        fitting = fit_events(
            self.room, spec_of(name), train, valid, asked, budget, compared=True, before=before
        )
        predictor = yield from fitting
        if self.by_clock(name) and len(predictor.parts) == 1:
            predictor = yield from self.longer(name, predictor, parts, asked, left)
        return predictor

    def longer(
        self, name: str, shorter: Predictor, parts: Round, asked: dict[str, Any], left: int
    ) -> Generator[Event, None, Predictor]:
        """A network whose epochs ended it, not its time, again from the beginning with four times as
        many, as long as it is the better for it on the validation data and time is left."""
        valid, train, _ = parts
        again = {key: value for key, value in asked.items() if key not in ("out", "resume")}
        while shorter.metrics.get("stopped") == "epochs":
            minutes = self.minutes(parts, left, shorter)
            if 60 * minutes < ENOUGH * shorter.metrics["seconds"]:
                break
            again |= {key: LONGER * again[key] for key in OFTEN if again.get(key)}
            budget = partial(self.minutes, parts, left)
            predictor = yield from fit_events(
                self.room, spec_of(name), train, valid, again, budget, compared=True
            )
            if predictor.metrics["stopped"] == "interrupted":
                break
            before, now = (each.metrics.get("valid") for each in (shorter, predictor))
            if before is None or now is None or now >= before:
                break
            shorter = predictor
            if "out" in asked:
                shorter.save(asked["out"], overwrite=True)
        return shorter

    def own(self, name: str) -> bool:
        """Whether it is, or has in it, a class of the caller's own: of that no run is kept."""
        return any(self.room.rung(part).own for part in spec_of(name).split("+"))

    def by_clock(self, name: str) -> bool:
        """Whether this model learns until its time is over."""
        return name in self.learning and self.budget is not None

    def minutes(self, parts: Round, left: int, predictor: Predictor) -> float:
        """How long a network may learn, if so many fits share what is left of its slot when all will
        have been scored."""
        assert self.budget is not None
        valid, _, test = parts
        if self.budget.tails and self.budget.short():  # what it took others will do
            return self.budget.minutes(max(self.budget.tails) * left) / left
        begin, some = time.perf_counter(), self.room.cut.some_of(test, TRIED)
        predictor.measure(some, **self.measuring)
        held = 0 if valid is None else len(valid.main.flat)
        whole = len(test.main.flat) * (1 + self.room.cut.walks) + self.test_share * held
        scoring = (time.perf_counter() - begin) * whole / max(1, len(some.main.flat))
        return self.budget.minutes(scoring * left) / left

    def keep_share(self, folder: Path | None) -> None:
        """Write down how long a slot is, for a comparison that goes on with this one."""
        if folder is not None and self.budget is not None:
            plan = read_json(folder / "comparison.json")
            write_json(folder / "comparison.json", plan | {"slot_seconds": self.budget.share})

    def own_epochs(self, name: str, numbers: bool) -> dict[str, Any]:
        """How often a rung reads small data at most, however much time there is."""
        if {"updates", "epochs"} & self.settings.keys():
            return {}
        rungs = [self.room.rung(part) for part in spec_of(name).split("+")]
        several = [each.recipe(numbers) for each in rungs]
        found = {key: max(each.get(key) or 0 for each in several) for key in OFTEN}
        return found if found["epochs"] else {}
