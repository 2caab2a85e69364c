"""Who has won, how sure that is, and what to keep.

The winner is chosen by its figure on the validation data, so that its figure on the test is not the
luckiest of ten; where there is no common validation data (folds, a short series) by the test, and that is
said. What it is against each other rung is one of three words: see `seriatim.measuring.judging`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seriatim.fitting_options import CompareOptions
from seriatim.measuring.judging import (
    EQUIVALENT,
    FEW_ITEMS,
    UNDECIDED,
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


class Judgement:
    """What was measured of each rung, and what follows."""

    def __init__(self, figure: Figure, margin: float):
        self.figure, self.margin = figure, margin
        self.measured: dict[str, list[Measured]] = {}  # of each seed
        self.winner: str | None = None
        self.chosen_on: str | None = None
        self.validated_on = 0  # items of the validation data by which it was chosen

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
        words = judged(draws, values, good.index(best), self.margin, self.items)
        if self.items < FEW_ITEMS:
            words = [each and each | {"word": UNDECIDED} for each in words]
        inside = may_be_best(draws, values)
        for row, word, may in zip(good, words, inside):
            row["against"], row["tied"] = word, bool(may)

    def chosen(self, good: list[Row], key: str) -> Row:
        """The best by a figure. A mixture that is not better than its parts by the margin is more
        than the data need."""
        by_name = {row["model"]: row for row in good}
        for row in sorted(good, key=lambda row: (self.figure.signed(row[key]), row["seconds"])):
            parts = (
                [by_name.get(part) for part in row["model"].split("+")] if row["weights"] else []
            )
            least = min((self.figure.signed(part[key]) for part in parts if part), default=np.inf)
            if self.figure.signed(row[key]) < least - self.margin * abs(least) or not parts:
                return row
        return good[0]

    @property
    def items(self) -> int:
        """On how many items of the test models were measured."""
        return max((len(each[0].loss) for each in self.measured.values()), default=0)

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


def recommended(
    rows: list[Row], figure: Figure, options: CompareOptions, judgement: Judgement
) -> Record | None:
    """What to keep: the best; the best that is as small and as fast as asked for; and the cheapest
    to fit that was shown equivalent to the best. None before anything was judged."""
    good = {row["model"]: row for row in rows if row["status"] == "ok"}
    if judgement.winner not in good:
        return None
    best = good[judgement.winner]
    fits = [row for row in good.values() if within_limits(row, options)]
    limited = bool(options.max_size or options.min_speed)
    found = min(fits, key=lambda row: figure.signed(chosen_by(row, figure)), default=None)
    alike = [
        row
        for row in good.values()
        if row["against"]
        and row["against"]["word"] == EQUIVALENT
        and not row.get("unfinished")
        and row["seconds"] < min(CHEAPER * best["seconds"], best["seconds"] - 1)
    ]
    cheapest = min(alike, key=lambda row: row["seconds"], default=None)
    return {
        "best": best["model"],
        "limits": {"max_size": options.max_size, "min_speed": options.min_speed}
        if limited
        else None,
        "within_limits": found["model"] if limited and found is not None else None,
        "cheapest_equivalent": None if cheapest is None else cheapest["model"],
    }


def chosen_by(row: Row, figure: Figure) -> float | None:
    """What a row is chosen by: its figure on the validation data, else on the test."""
    return row[figure.key] if row["valid"] is None else row["valid"]


def within_limits(row: Row, options: CompareOptions) -> bool:
    """Whether a model is as small and as fast as was asked for."""
    small = not options.max_size or row["size_bytes"] <= options.max_size
    return small and row["symbols_per_second"] >= (options.min_speed or 0)
