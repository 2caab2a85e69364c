"""Who has won, how sure that is, and what to keep.

The winner is chosen by its figure on the validation data, so that its figure on the test is not the
luckiest of ten; where there is no common validation data (folds, a short series) by the test, and that is
said. Among equals the figure decides that breaks ties (log loss, nats), then the order of the ladder, the
simpler first: never how long something took. What it is against each other rung is one of three words: see `seriatim.measuring.judging`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from seriatim.fitting_options import CompareOptions
from seriatim.measuring.judging import (
    BETTER,
    EQUIVALENT,
    FEW_ITEMS,
    UNDECIDED,
    UNFINISHED,
    WORSE,
    items_of,
    judged,
    may_be_best,
    over_seeds,
)
from seriatim.measuring.measured import Measured
from seriatim.records import Record
from seriatim.settings import named
from seriatim.tasks.base import Figure

Row = dict[str, Any]
CHEAPER = 0.5  # of the seconds of the best, and a second less: what is worth to be told
VALIDATION, TEST = "validation", "test"
ORDER = "the order of the ladder"
CONTRADICTED = "{name} was chosen on validation data, and the test contradicts: {floor}, the floor, is better there"
NOTHING_RIGHT = "none got a single one right"


class Judgement:
    """What was measured of each rung, and what follows."""

    def __init__(
        self,
        figure: Figure,
        margin: float,
        ties: Figure | None = None,
        floor: str = "",
        ladder: Mapping[str, int] | None = None,
    ):
        self.figure, self.margin, self.ties, self.floor = figure, margin, ties, floor
        self.ladder = ladder or {}  # the place of each rung
        self.measured: dict[str, list[Measured]] = {}  # of each seed
        self.winner: str | None = None
        self.chosen_on: str | None = None
        self.validated_on = 0  # items of the validation data by which it was chosen
        self.equals: list[str] = []  # who had the winner's figure where it was chosen
        self.equals_by = ""  # what decided among them
        self.margin_of = ""  # the floor, where the margin is a share of what it leaves to be gained

    def judge(self, rows: list[Row]) -> None:
        """Choose the winner, and write into each row what the winner is against it, and whether it
        may be best as well."""
        good = [row for row in rows if row["status"] == "ok" and row["model"] in self.measured]
        good = [row for row in good if row[self.figure.key] is not None]
        if not good:
            return
        self.chosen_on = VALIDATION if all(row["valid"] is not None for row in good) else TEST
        key = "valid" if self.chosen_on == VALIDATION else self.figure.key
        best = self.chosen(good, key)
        self.winner = best["model"]
        draws, values = self.drawn(good)
        for row, drawn in zip(good, draws):
            if row["by_seed"]:
                low, high = np.sort(np.quantile(drawn, [0.025, 0.975]) * self.sign)
                row["interval"][self.figure.key] = [float(low), float(high)]
        floor = next((row for row in good if row["model"] == self.floor), None)
        least = None if floor is None else floor[self.figure.key]
        within = self.within(best[self.figure.key], least)
        self.margin_of = self.floor if within < self.within(best[self.figure.key], None) else ""
        words = judged(draws, values, good.index(best), self.margin, self.items, within)
        if self.items < FEW_ITEMS:
            words = [each and each | {"word": UNDECIDED} for each in words]
        inside = may_be_best(draws, values)
        for row, word, may in zip(good, words, inside):
            if word is not None and row.get("unfinished"):
                word |= {"word": UNFINISHED}
            row["against"], row["tied"] = word, bool(may)
        self.hold_above(good, draws, values, best, floor)

    def hold_above(
        self, good: list[Row], draws: np.ndarray, values: np.ndarray, best: Row, floor: Row | None
    ) -> None:
        """Write into each row whether it is shown to be better than the floor; None where there is none
        in the table. Of the winner the table says so."""
        if floor is None:
            return
        words = judged(draws, values, good.index(floor), 0.0)
        for row, word in zip(good, words):
            worse = word is not None and word["word"] == WORSE  # the floor is, than this
            row["above_floor"] = worse and self.items >= FEW_ITEMS
        if best is not floor:
            best["above_floor"] = bool(floor["against"] and floor["against"]["word"] == BETTER)

    def within(self, value: float, floor: float | None) -> float:
        """How far a figure may be from this one and be called equivalent: the margin's share of it, or,
        where less, of what the floor leaves to be gained up to the most there can be."""
        whole = abs(value)
        if self.figure.most is not None and floor is not None:
            whole = min(whole, abs(self.figure.most - floor))
        return self.margin * whole

    def chosen(self, good: list[Row], key: str) -> Row:
        """The best by a figure, among equals by the one that breaks ties, then the simpler. A mixture
        that is not better than its parts by the margin is more than the data need."""
        by_name = {row["model"]: row for row in good}
        floor = by_name.get(self.floor, {}).get(key)
        order = sorted(good, key=lambda row: self.place(row, key))
        for row in order:
            parts = [by_name[part] for part in parts_of(row) if part in by_name]
            least = min((self.figure.signed(part[key]) for part in parts), default=np.inf)
            if not parts or self.figure.signed(row[key]) < least - self.within(least, floor):
                break
        else:
            row = order[0]
        self.equals = [e["model"] for e in order if e is not row and e[key] == row[key]]
        self.equals = [name for name in self.equals if not by_name[name]["weights"]]
        others = [self.place(by_name[name], key)[:3] for name in self.equals]
        own, alone = self.place(row, key)[:3], [each for each in others if each[1]]
        told = self.ties is not None and len(alone) < len(others) and own < min(others)
        self.equals_by = self.ties.title if told and self.ties is not None else ORDER
        return row

    def place(self, row: Row, key: str) -> tuple[float, bool, float, int, int]:
        """What rows are sorted by, to choose: the figure, whether it is another model under the name of
        a network that had nothing to add, the figure that breaks ties, and how simple."""
        second = None
        if self.ties is not None:
            second = row.get("valid_ties" if key == "valid" else self.ties.key)
        signed = self.ties.signed(second) if self.ties is not None else 0.0
        alone = bool(row.get("beside_alone"))
        return (self.figure.signed(row[key]), alone, signed, *self.simple(row["model"]))

    def simple(self, name: str) -> tuple[int, int]:
        """How far up the ladder a model stands, a mixture above all."""
        parts = name.partition("@")[0].split("+")
        return len(parts), max(self.ladder.get(part, 0) for part in parts)

    @property
    def items(self) -> int:
        """On how many items of the test models were measured."""
        return max((items_of(each[0]) for each in self.measured.values()), default=0)

    @property
    def of_stream(self) -> bool:
        """Whether items are blocks of a stream."""
        return any(each[0].facts.get("by") == "stream" for each in self.measured.values())

    @property
    def sign(self) -> float:
        """By which figures are multiplied so that smaller is better."""
        return -1.0 if self.figure.higher else 1.0

    def drawn(self, rows: list[Row]) -> tuple[np.ndarray, np.ndarray]:
        """(M, R) the figure of each row if other test data, and seeds, had been drawn, and (M,) the
        figure itself; smaller is better."""
        several = [self.measured[row["model"]] for row in rows]
        flat = named(self.figure.draws)([each for seeds in several for each in seeds]) * self.sign
        draws, values, place = [], [], 0
        for row, seeds in zip(rows, several):
            own = flat[place : place + len(seeds)]
            place += len(seeds)
            each = np.array(row["by_seed"] or [row[self.figure.key]]) * self.sign
            draws.append(over_seeds(own, each))
            values.append(float(each.mean()))
        return np.stack(draws), np.array(values)


def parts_of(row: Row) -> list[str]:
    """The models of which a mixture is one; none of anything else."""
    return row["model"].split("+") if row["weights"] else []


def recommended(
    rows: list[Row], figure: Figure, options: CompareOptions, judgement: Judgement
) -> Record | None:
    """What to keep: the best, or what the test has shown to be better than what was chosen, and why;
    the best that is as small and as fast as asked for; and the cheapest to fit that was shown
    equivalent to the best. None before anything was judged."""
    good = {row["model"]: row for row in rows if row["status"] == "ok"}
    if judgement.winner not in good:
        return None
    name, why = kept_instead(good, figure, judgement)
    best = good[judgement.winner if name is None else name]
    fits = [row for row in good.values() if within_limits(row, options)]
    limited = bool(options.max_size or options.min_speed)
    found = min(fits, key=lambda row: figure.signed(chosen_by(row, figure)), default=None)
    alike = [
        row
        for row in good.values()
        if not why
        and row["against"]
        and row["against"]["word"] == EQUIVALENT
        and not row.get("unfinished")
        and row["seconds"] < min(CHEAPER * best["seconds"], best["seconds"] - 1)
    ]
    cheapest = min(alike, key=lambda row: row["seconds"], default=None)
    return {
        "best": name,
        "why": why or None,
        "limits": {"max_size": options.max_size, "min_speed": options.min_speed}
        if limited
        else None,
        "within_limits": found["model"] if limited and found is not None else None,
        "cheapest_equivalent": None if cheapest is None else cheapest["model"],
    }


def kept_instead(
    good: Mapping[str, Row], figure: Figure, judgement: Judgement
) -> tuple[str | None, str]:
    """What to keep, and why, where that is not the winner: the floor, where the test contradicts what
    was chosen; a part, where its mixture is unfinished or worse on the test; nothing, where no model
    was right of anything."""
    winner = good[str(judgement.winner)]
    if nothing_right(list(good.values()), figure):
        return None, NOTHING_RIGHT
    floor = good.get(judgement.floor)
    if floor is not None and (floor["against"] or {}).get("word") == WORSE:
        return floor["model"], CONTRADICTED.format(name=winner["model"], floor=floor["model"])
    parts = [good[part] for part in parts_of(winner) if part in good]
    key = "valid" if judgement.chosen_on == VALIDATION else figure.key
    if not parts:
        return winner["model"], ""
    part = min(parts, key=lambda row: judgement.place(row, key))
    own = figure.signed(winner[figure.key])
    if any(figure.signed(each[figure.key]) < own for each in parts):
        part = min(parts, key=lambda row: figure.signed(row[figure.key]))
        return part["model"], f"{winner['model']} is worse than it on the test"
    if winner.get("unfinished"):
        return part["model"], f"{winner['model']} is unfinished"
    return winner["model"], ""


def nothing_right(good: list[Row], figure: Figure) -> bool:
    """Whether no model got a single item right: of a figure that grows from 0 up to a most."""
    bounded = figure.higher and figure.most is not None
    return bounded and all(row[figure.key] == 0 for row in good)


def chosen_by(row: Row, figure: Figure) -> float | None:
    """What a row is chosen by: its figure on the validation data, else on the test."""
    return row[figure.key] if row["valid"] is None else row["valid"]


def within_limits(row: Row, options: CompareOptions) -> bool:
    """Whether a model is as small and as fast as was asked for."""
    small = not options.max_size or row["size_bytes"] <= options.max_size
    return small and row["symbols_per_second"] >= (options.min_speed or 0)
