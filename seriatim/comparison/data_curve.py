"""The curve against data: what less of it would have given, and what more would give.

Each rung is fitted to six sizes of the training data, several subsets at the small ones, and measured
on the same test. A law of diminishing returns (`seriatim.measuring.laws`) says what twice and ten times
the data would give, and from which size on one rung is ahead of another. A network that is unfinished
at some size is limited by its time, not by the data: it has no curve. A curve that rises is no law.
Of `--minutes` half is for the curve, in equal shares, small sizes first.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seriatim.comparison.budget import LEAST, REPORT
from seriatim.comparison.trials import Round, spec_of
from seriatim.data.sequences import Sequences
from seriatim.errors import ConfigError, SeriatimError
from seriatim.fitting import fit_events
from seriatim.fitting_options import CompareOptions
from seriatim.measuring.judging import BETTER, FEW_ITEMS, WORSE, judged, over_seeds
from seriatim.measuring.laws import Law, crossing, errors_of, fitted, refused
from seriatim.measuring.measured import Measured
from seriatim.records import Record
from seriatim.settings import named
from seriatim.storage import read_json, write_json
from seriatim.tasks.base import Task
from seriatim.training.loop import relay

if TYPE_CHECKING:
    from seriatim.comparison.running import Comparison
    from seriatim.runs.predictor import Predictor

Event = dict[str, Any]
Row = dict[str, Any]
SHARES = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
SUBSETS = {1 / 32: 4, 1 / 16: 3, 1 / 8: 2}  # of other shares one
TIMES = (2, 10)  # as much data: what is predicted
FARTHEST = 10  # times the data: crossings behind it are not told
TOLD, SURE = 0.5, 0.8  # of draws: from which on a crossing is recorded, and from which on said
HALF = 0.5  # of the time is for the curve
LIMITED = "limited by time, no data curve"
LONGER = 1.5  # than a share of the whole: what counting a part may take


def check_curve(room: Task, options: CompareOptions) -> None:
    """Refuse a curve where less data is no smaller case of the same."""
    if not options.curve:
        return
    if not room.cut.grows:
        raise ConfigError(
            f"there is no curve against data for {room.name}",
            got="--curve",
            do="Leave it out: what a series has is its past, and less of it is another question",
        )
    if options.folds:
        raise ConfigError(
            "a curve is measured on one test", got="--folds and --curve", do="Leave one out"
        )


def seeds_of(share: float) -> range:
    """The seeds of the subsets of this size."""
    return range(SUBSETS.get(share, 1))


class DataCurve:
    """The curve of a comparison that has measured the whole."""

    def __init__(self, comparison: Comparison, parts: Round, folder: Path | None, numbers: bool):
        self.comparison, self.folder, self.numbers = comparison, folder, numbers
        self.valid, self.train, self.test = parts
        self.figure, self.cut = comparison.figure, comparison.room.cut
        self.sign = comparison.judgement.sign
        self.several: dict[float, list[Sequences]] = {1.0: [self.train]}
        self.budget = comparison.budget
        self.end = np.inf  # by the clock
        if self.budget is not None:
            whole = 60 * comparison.options.minutes
            now, resumed = self.budget.clock(), comparison.options.resume
            begin = now - HALF * whole if resumed else comparison.begin
            self.end = begin + whole * (1 - REPORT) - 2

    def measured(self) -> Generator[Event, None, Record | None]:
        """The rungs one after the other, those that count first; then what follows from it."""
        comparison = self.comparison
        order = {name: place for place, name in enumerate(comparison.names)}
        rows = [row for row in comparison.rows if row["model"] in comparison.judgement.measured]
        rows = [row for row in rows if row["model"] in order and row[self.figure.key] is not None]
        rows.sort(key=lambda row: (row["model"] in comparison.learning, order[row["model"]]))
        found: list[Record] = []
        for place, row in enumerate(rows):
            if comparison.interrupted:
                break
            share = (self.end - time.perf_counter()) / (len(rows) - place)
            found.append((yield from self.rung(row, share)))
        if not found:
            return None
        laws = {each["model"]: law for each in found if (law := self.law(each)) is not None}
        return {
            "sizes": [self.cut.amount(self.subsets(share)[0])[0] for share in SHARES],
            "unit": self.cut.amount(self.train)[1],
            "rungs": [self.summary(each, laws.get(each["model"])) for each in found],
            "crossings": self.crossings(laws, found),
        }

    def subsets(self, share: float) -> list[Sequences]:
        """The subsets of a size: the same for every rung."""
        if share not in self.several:
            self.several[share] = [
                self.cut.subset(self.train, share, seed) for seed in seeds_of(share)
            ]
        return self.several[share]

    # -- measuring
    def rung(self, row: Row, seconds: float) -> Generator[Event, None, Record]:
        """The points of one rung, within so many seconds, and why some are not there; found where a
        comparison that is resumed has kept them."""
        name = row["model"]
        file = None if self.folder is None else self.folder / "curve" / f"{name}.json"
        if file is not None and self.comparison.options.resume and file.is_file():
            return read_json(file)
        whole = self.point(1.0, self.comparison.judgement.measured[name], row["by_seed"] or [])
        found: Record = {"model": name, "points": [whole], "why": None}
        if row.get("unfinished"):
            found["why"] = LIMITED
        elif not row["parameters"]:
            found["why"] = "it learns nothing, so that more data changes nothing"
        else:
            before = yield from self.smaller(row, seconds, found)
            found["points"] = [*before, whole]
        if file is not None and not self.comparison.interrupted:
            file.parent.mkdir(exist_ok=True)
            write_json(file, found)
        words = found["why"] or f"curve of {len(found['points'])} sizes"
        yield {"event": "rung", "model": name, "words": words}
        return found

    def smaller(
        self, row: Row, seconds: float, found: Record
    ) -> Generator[Event, None, list[Record]]:
        """The points below the whole, the smallest first; notes in `found` why some are not there."""
        begin = time.perf_counter()
        points: list[Record] = []
        for share in SHARES[:-1]:
            several: list[Measured] = []
            try:
                for seed, part in zip(seeds_of(share), self.subsets(share)):
                    left = seconds - (time.perf_counter() - begin)
                    if self.too_late(row, share, left):
                        found["why"] = "its share of the time was over: more --minutes would help"
                        return points
                    predictor = yield from self.fit(row, part, seed, share, left)
                    if self.comparison.interrupted:
                        found["why"] = "interrupted"
                        return points
                    if predictor.metrics.get("unfinished"):
                        found["why"] = LIMITED
                        return points
                    several.append(predictor.measure(self.test, **self.comparison.measuring))
                values = [predictor.row(each)[self.figure.key] for each in several]
            except (SeriatimError, MemoryError, RuntimeError) as error:  # too little, for this rung
                found["why"] = f"not fitted to 1/{1 / share:.0f} of the data: {error}"
                continue
            if all(value is not None for value in values):
                points.append(self.point(share, several, values))
        return points

    def too_late(self, row: Row, share: float, left: float) -> bool:
        """Whether a fit to this share of the data has no time: counting cannot be stopped halfway."""
        if self.budget is None:
            return False
        counts = row["model"] in self.comparison.counting
        return left <= (LONGER * share * row["seconds"] if counts else LEAST)

    def fit(
        self, row: Row, part: Sequences, seed: int, share: float, left: float
    ) -> Generator[Event, None, Predictor]:
        """One fit to a part of the data, as the whole was fitted."""
        comparison, name = self.comparison, row["model"]
        asked, budget = dict(comparison.plans[name]), None
        if name in comparison.learning:
            asked = comparison.own_epochs(name, self.numbers) | asked
            asked["seed"] = int(comparison.settings.get("seed", 0)) + seed
        if comparison.by_clock(name):
            budget = partial(self.minutes, share, seed, time.perf_counter() + left)
        seen: list[str] = []

        def heard(event: Event) -> Event | None:
            """Of the events of the fit only what it learns from, under the name of the rung."""
            seen.append(event["event"])
            return event | {"model": name, "quiet": True} if event["event"] == "data" else None

        fitting = fit_events(
            comparison.room, spec_of(name), part, self.valid, asked, budget, compared=True
        )
        predictor = yield from relay(fitting, heard)
        comparison.interrupted |= "interrupted" in seen
        return predictor

    def minutes(self, share: float, seed: int, end: float, predictor: Predictor) -> float:
        """How long a network may learn: of what is left of its time as much as its size is of the
        sizes to come, less what scoring took before."""
        to_come = sum(
            each * (len(seeds_of(each)) - (seed if each == share else 0))
            for each in SHARES[:-1]
            if each >= share
        )
        assert self.budget is not None
        tails = self.budget.tails
        scoring = sum(tails) / len(tails) if tails else 0.0
        allowed = (end - time.perf_counter()) * share / to_come - scoring
        return max(LEAST, allowed) / 60

    def point(self, share: float, several: list[Measured], values: list[float]) -> Record:
        """The mean figure of several fits, with an interval that covers them and the test."""
        draws = named(self.figure.draws)(several)  # (S, R)
        known = [
            row[self.figure.key]
            for row in self.comparison.rows
            if self.comparison.judgement.measured.get(row["model"]) is several
        ]
        each = np.array(values or known, float)
        low, high = np.quantile(over_seeds(draws, each), [0.025, 0.975])
        value = float(each.mean())
        return {
            "size": self.cut.amount(self.subsets(share)[0])[0],
            "value": value,
            "low": min(value, float(low)),
            "high": max(value, float(high)),
            "subsets": each.tolist() if share < 1 else [value],
        }

    # -- what follows
    def law(self, found: Record) -> Law | None:
        """The law of a rung; where there is none, `why` says so."""
        if found["why"] in (LIMITED, "interrupted"):
            return None
        points = found["points"]
        sizes = [point["size"] for point in points]
        subsets = [[self.sign * each for each in point["subsets"]] for point in points]
        values = [self.sign * point["value"] for point in points]
        errors = errors_of(sizes, subsets).tolist()
        if why := refused(sizes, values, errors):
            found["why"] = "; ".join(filter(None, (f"no law: {why}", found["why"])))
            return None
        return fitted(sizes, values, errors, self.floor(values))

    def floor(self, values: list[float]) -> float:
        """The least there can be: of a loss 0, of a share -1, of a score in percent -100."""
        if not self.figure.higher:
            return 0.0
        return -1.0 if min(values) >= -1 else -100.0

    def summary(self, found: Record, law: Law | None) -> Record:
        """A rung of the curve: points, law, and what it predicts, in the figure's own sign."""
        told: Record = {**found, "law": None, "predicted": None}
        if law is None:
            return told
        a, b, c = law.parameters[0].tolist()
        told["law"] = {"a": self.sign * a, "b": self.sign * b, "c": c}
        told["predicted"] = []
        test = self.chance(found["model"])
        for times in TIMES:
            expected = law.predicted(times * law.sizes[-1], test)
            low, high = sorted((self.sign * expected.low, self.sign * expected.high))
            value = self.sign * expected.value
            told["predicted"].append({"times": times, "value": value, "low": low, "high": high})
        return told

    def chance(self, model: str) -> float:
        """The standard error of a rung's figure by the chance in the test."""
        rows = [row for row in self.comparison.rows if row["model"] == model]
        draws, _ = self.comparison.judgement.drawn(rows)
        return float(draws[0].std(ddof=1))

    def told_apart(self, first: Row, second: Row) -> bool:
        """Whether one of two rungs is shown to be better at the last size: of the winner the table says
        so, of others the same test of the two alone."""
        judgement = self.comparison.judgement
        for one, other in ((first, second), (second, first)):
            if one["model"] == judgement.winner and other["against"]:
                return other["against"]["word"] in (BETTER, WORSE)
        draws, values = judgement.drawn([first, second])
        (_, found) = judged(draws, values, 0, judgement.margin, judgement.items)
        enough = judgement.items >= FEW_ITEMS
        return enough and found is not None and found["word"] in (BETTER, WORSE)

    def crossings(self, laws: dict[str, Law], rungs: list[Record]) -> list[Record]:
        """Where one rung comes ahead of another, by size; `lead`: where the best of all changes."""
        whole, unit = self.cut.amount(self.train)
        rows = [row for row in self.comparison.rows if row["model"] in laws]
        found: list[Record] = []
        if len(rows) < 2:
            return found
        draws, values = self.comparison.judgement.drawn(rows)
        by_name = {row["model"]: row for row in rows}
        moved = dict(zip((row["model"] for row in rows), draws - values[:, None]))
        for first, second in permutations(laws, 2):
            apart = moved[first] - moved[second]
            cross = crossing(laws[first], laws[second], FARTHEST * whole, apart)
            if cross is None or cross.sure < TOLD:
                continue
            value = laws[second].value(cross.at)
            best = min(self.known_at(cross.at, each, laws) for each in rungs)
            lead = value <= best + abs(best) * self.comparison.options.margin
            told = self.told_apart(by_name[first], by_name[second])
            words = told_of(first, second, cross.at, cross.sure, whole, unit)
            ends = {"at": cross.at, "low": cross.low, "high": cross.high, "sure": cross.sure}
            found.append(
                {
                    "first": first,
                    "second": second,
                    **ends,
                    "lead": lead,
                    "told": told,
                    "words": words,
                }
            )
        return sorted(found, key=lambda each: each["at"])

    def known_at(self, size: float, rung: Record, laws: dict[str, Law]) -> float:
        """What a rung has at a size, smaller is better; one without a law beyond the last size what it
        had there, before its first nothing."""
        if rung["model"] in laws:
            return laws[rung["model"]].value(size)
        points = rung["points"]
        logs = np.log([point["size"] for point in points])
        values = [self.sign * point["value"] for point in points]
        return float(np.interp(np.log(size), logs, values, left=np.inf))


def told_of(first: str, second: str, at: float, sure: float, whole: int, unit: str) -> str:
    """A crossing in words: one that was measured is; one beyond the data may be, for of those that
    were claimed in the back-test too few came about (docs/evaluation.md)."""
    draws = f"{100 * min(sure, 0.99):.0f} % of draws"
    verb = "is" if at <= whole and sure >= SURE else "may be"
    return f"from about {in_words(at)} {unit} on {second} {verb} ahead of {first} (in {draws})"


def in_words(size: float) -> str:
    """A size by two digits: 3.2 M, 45,000.

    >>> in_words(3_217_000), in_words(45_210), in_words(87)
    ('3.2 M', '45,000', '87')
    """
    if size >= 1e6:
        return f"{float(f'{size / 1e6:.2g}'):,g} M"
    return f"{float(f'{size:.2g}'):,.0f}"
