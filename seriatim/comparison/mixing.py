"""The best that counts and the best network, answering together: a row of a comparison like any other,
or the reason why there is none.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

from seriatim.comparison.budget import Budget
from seriatim.comparison.judgement import Judgement
from seriatim.comparison.trials import Round
from seriatim.errors import SeriatimError
from seriatim.models.mixture import Mixture
from seriatim.runs.predictor import Predictor
from seriatim.tasks.base import Figure, Task

Event = dict[str, Any]
Row = dict[str, Any]


class Mixing:
    """The part of a comparison that mixes."""

    room: Task
    figure: Figure
    judgement: Judgement
    counting: list[str]
    rows: list[Row]
    # the best that counts and the best network, each with its validation figure and its name
    best: dict[str, tuple[tuple[float, ...], str, Callable[[], Predictor]]]
    mixes: bool
    unmixed: str  # why nothing is mixed, if that was meant to be
    interrupted: bool
    measuring: dict[str, Any]
    budget: Budget | None
    coding: Callable[[], dict[str, Any]]
    row_of: Callable[..., Row]
    chosen_by: Callable[..., dict[str, float | None]]
    said: Callable[[Row], str]

    def remember(self, name: str, predictor: Callable[[], Predictor], row: Row) -> None:
        """Keep a fitted model, or where it is, if it is the best of its kind so far: they are mixed
        in the end."""
        kind = "counts" if name in self.counting else "network"
        if not self.mixes or row["status"] != "ok" or row["valid"] is None:
            return
        value = self.judgement.place(row, "valid")
        if kind not in self.best or value < self.best[kind][0]:
            self.best[kind] = (value, name, predictor)

    def mixture(self, rounds: list[Round], folder: Path | None) -> Generator[Event, None, None]:
        """The best that counts and the best network, answering together: weighed on the validation
        data, a row like any other."""
        valid, train, test = rounds[0]
        cut = self.room.cut
        if self.mixes and not self.interrupted:
            self.unmixed = self.why_unmixed(valid is not None or cut.walks)
        if not self.mixes or self.unmixed or self.interrupted:
            return
        (_, first, counted), (_, second, learned) = self.best["counts"], self.best["network"]
        name, begin = f"{first}+{second}", time.perf_counter()
        try:
            counting, network = counted(), learned()
            together = counting.joined([network])
            mixed = together.model
            assert isinstance(mixed, Mixture)
            if valid is None:
                _, valid = cut.hold_out(train, together.parts)
            held = cut.encode(together.codec, cut.cut(valid, self.coding()))
            lesson = cut.lesson(held, held, together.by, together.codec)
            mixed.weigh(*lesson.opinions(mixed.parts))
            measured = together.measure(test, **self.measuring)
            spent = [row["seconds"] for row in self.rows if row["model"] in (first, second)]
            seconds = sum(spent) + time.perf_counter() - begin
            together.metrics = dict(network.metrics) | {"seconds": seconds}
            run = None if folder is None else folder / "runs" / name
            row = self.row_of(name, together, measured, rounds, seconds, run)
            row |= self.chosen_by(together, together, rounds)
            row["weights"] = mixed.weights()
            row["unfinished"] = next(e["unfinished"] for e in self.rows if e["model"] == second)
            if run is not None and not run.exists():
                together.save(run)
            self.judgement.measured[name] = [measured]
            self.rows.append(row)
            yield {"event": "rung", "model": name, "words": self.said(row)}
        except (SeriatimError, TypeError):  # tags by chains, say
            self.unmixed = f"{first} and {second} cannot answer together"

    def why_unmixed(self, known: bool) -> str:
        """Why nothing is mixed, if so."""
        if not known:
            return "there are no validation data to weigh its parts on"
        if len(self.best) < 2:
            missing = "that counts" if "counts" not in self.best else "that learns by gradients"
            return f"no model {missing} has a figure on the validation data"
        needed = self.both_score(*(self.best[kind][1] for kind in ("counts", "network")))
        if self.budget is not None and not self.budget.leaves(needed):
            return f"to score it would take about {needed:.1f} s, and no time is left"
        return ""

    def both_score(self, first: str, second: str) -> float:
        """Seconds that two models take to score what a network scores, and half as much again."""
        speed = {row["model"]: row.get("symbols_per_second") for row in self.rows}
        slower = (speed.get(second) or 1.0) / (speed.get(first) or 1.0)
        tails = self.budget.tails if self.budget is not None else []
        return 1.5 * (1 + slower) * max(tails, default=0)
