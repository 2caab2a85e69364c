"""What more time would change: the figure of a network over the time it learned.

    figure(t) = a + b t^-c               t in whole fits, up to 1; through three points, each of a fit that
                                         ended there: how much the second half of the time gained
    figure(t) = last - gain log2(t)      from 1 on: the gain of a doubling, on the mean of the last ones

Before the whole fit of a network come two short ones, of a sixteenth and an eighth of its time, each
with a schedule of its own that ends when it does: a point of one long fit, whose rate is still high,
would say nothing. From the three follows what the last doubling of the time gained, by which a fit is
*unfinished*, and what twice and four times the time would give. Nothing of a short fit is kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any

from seriatim.comparison.budget import Budget
from seriatim.comparison.trials import FEW_ITEMS, FEW_SYMBOLS, TRIED, Round
from seriatim.data.sequences import Sequences
from seriatim.errors import SeriatimError, TrainingError
from seriatim.fitting import Fit
from seriatim.fitting_options import CompareOptions
from seriatim.records import Record
from seriatim.runs.predictor import Predictor
from seriatim.tasks.base import Figure, Task
from seriatim.training.loop import FIRST_ROWS, relay

Event = dict[str, Any]
Row = dict[str, Any]
SHORT = (1 / 16, 1 / 8)  # of the time, for the fits before the whole one: less than a fifth
TIMES = (2, 4)  # the time that is predicted for: more was not back-tested
LEAST_SECONDS, LEAST_UPDATES = 1.5, 20  # of a short fit: one of less tells nothing
LOOKED = 1 / 64  # of the time, for measuring a short fit
MOST_LOOKED = 50_000  # symbols of validation data that it is measured on, where no clock decides
CLOSEST = 1.2  # times as much must each point have learned as the one before
MOST_POWER = 16.0  # of the law: what falls more steeply has ended falling
LEAST_LACKING = 1e-3  # to one: a share that is nearer counts as that
NOISE = 0.005  # of a figure, by which two fits differ that are the same
# What it rests on: benchmarks/protocol_time.py, six data sets and three tasks, small networks of up to
# 1,280 updates; see docs/evaluation.md. The law loses to the last slope in what it says of more time.
SPREAD = 0.5  # half of an 80 % interval, in gains of a doubling for each doubling


# -- the law
@dataclass(frozen=True)
class Course:
    """How a figure, of which less is better, falls with time: `last` at 1, the time of the whole
    fit; `gain` is that of a doubling, on the mean of the last ones observed; figures that differ by
    less than `noise` are the same."""

    last: float
    gain: float
    noise: float = 0.0
    height: float = 0.0  # b, where the law holds: last + b (t^-c - 1)
    power: float = 0.0  # c

    def at(self, times: float) -> float:
        """The figure after so many times the time."""
        if self.power and times < 1:
            return self.last + self.height * (times**-self.power - 1)
        return self.last - max(0.0, self.gain) * math.log2(times)

    def unsure(self, times: float) -> float:
        """What the width of an interval there is a multiple of: what was gained by doubling, so
        often as time is doubled."""
        return math.hypot(self.gain, self.noise) * math.log2(times)


def course_through(
    times: Sequence[float], values: Sequence[float], noise: float = 0.0
) -> Course | None:
    """The law through three points, if they fall, and ever more slowly in the logarithm of time;
    else the last slope alone. None if the last is no better than the first: a network
    that has not begun to learn does not tell when it will."""
    (first, second, third), (a, b, c) = times, values
    gain = (b - c) / math.log2(third / second)
    if not a > c + noise:
        return None
    if not a > b > c:
        return Course(c, gain, noise)
    wanted = (a - b) / (b - c)

    def ratio(power: float) -> float:
        """The first fall by the second, of the law with this power; it grows with it."""
        x, y, z = (each**-power for each in (first / third, second / third, 1.0))
        return (x - y) / (y - z)

    low, high = 1e-3, MOST_POWER
    if not ratio(low) < wanted:
        return Course(c, gain, noise)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if ratio(middle) < wanted else (low, middle)
    height = (b - c) / ((second / third) ** -low - 1)
    return Course(c, gain, noise, height, low)


def nothing(why: str, points: Sequence[Record] = ()) -> Record:
    """The course of a network of which nothing is predicted, and why."""
    return {
        "points": list(points),
        "moved": None,
        "last_doubling": None,
        "predicted": None,
        "why": why,
    }


@dataclass(frozen=True)
class Scale:
    """A figure on a scale on which less is better and nothing is out of reach: the logarithm of what
    is positive, and of what a share lacks to one; else as it is."""

    figure: Figure
    kind: str

    @classmethod
    def of(cls, figure: Figure, values: Sequence[float]) -> Scale:
        """The scale for these values."""
        if figure.higher:
            return cls(figure, "as it is" if figure.most is None else "lacking")
        return cls(figure, "logarithm" if min(values) > 0 else "as it is")

    def to(self, value: float) -> float:
        """From the figure to the scale."""
        if self.figure.most is not None and self.kind == "lacking":
            return math.log(max(1 - value / self.figure.most, LEAST_LACKING))
        return math.log(value) if self.kind == "logarithm" else self.figure.signed(value)

    def back(self, place: float) -> float:
        """From the scale to the figure."""
        if self.figure.most is not None and self.kind == "lacking":
            return self.figure.most * (1 - math.exp(place))
        return math.exp(place) if self.kind == "logarithm" else self.figure.signed(place)

    def course(self, times: Sequence[float], values: Sequence[float]) -> Course | None:
        """The law through three figures."""
        noise = NOISE * (abs(values[-1]) if self.kind == "as it is" else 1.0)
        return course_through(times, [self.to(each) for each in values], noise)


def course_of(points: Sequence[Record], figure: Figure, reached: float | None) -> Record:
    """What the points of short fits and of the whole one, the last, say: what the last doubling of
    time gained, as a share of the figure, and what more would give. Points are measured on some of
    the validation data; predictions are moved to where the figure on the test, `reached`, is."""
    times, values = ([point[key] for point in points] for key in ("share", "value"))
    if reached is None or not all(each is not None and math.isfinite(each) for each in values):
        return nothing("a short fit has no figure", points)
    if any(later < CLOSEST * before for before, later in pairwise(times)):
        return nothing("the short fits learned as much as the whole one", points)
    scale = Scale.of(figure, [*values, reached])
    course = scale.course(times, values)
    if course is None:
        return nothing("it was no better than its short fits: it has not begun to learn", points)
    moved = scale.to(reached) - course.last
    predicted = []
    for more in TIMES:
        middle, width = course.at(more) + moved, SPREAD * course.unsure(more)
        low, value, high = sorted(map(scale.back, (middle - width, middle, middle + width)))
        predicted.append({"times": more, "value": value, "low": low, "high": high})
    before = scale.back(course.at(0.5))
    return {
        "points": list(points),
        "moved": reached - values[-1],
        "last_doubling": abs(values[-1] - before) / max(abs(values[-1]), 1e-12),
        "predicted": predicted,
        "why": None,
    }


# -- the short fits
@dataclass
class Short:
    """The short fits of a network: what they reached, on which part of the validation data, and why
    there are none."""

    points: list[Record] = field(default_factory=list)
    looked_at: Sequences | None = None
    why: str = ""


class TimeCurves:
    """The part of a comparison that fits for a short time first."""

    room: Task
    options: CompareOptions
    figure: Figure
    learning: list[str]
    budget: Budget | None
    test_share: float
    interrupted: bool
    minutes: Callable[[Round, int, Predictor], float]
    short: dict[str, Short]

    def rehearsed(
        self, name: str, seed: int, parts: Round, left: int
    ) -> Callable[[Fit], Generator[Event, None, None]] | None:
        """What comes before a fit, once for each network: none for what counts."""
        if name not in self.learning or seed > 0 or name in self.short:
            return None
        return partial(self.short_fits, name, parts, left)

    def short_fits(
        self, name: str, parts: Round, left: int, fit: Fit
    ) -> Generator[Event, None, None]:
        """Two short fits from where this one begins."""
        found = self.short[name] = Short()
        valid = parts[0]
        if valid is None:
            found.why = "there is no common validation data"
        elif len(fit.parts) > 1:
            found.why = "the parts of a mixture are fitted one after another"
        else:
            seconds = None if self.budget is None else 60 * self.minutes(parts, left, fit.predictor)
            limits = [limits_of(fit, share, seconds) for share in SHORT]
            found.why = too_short(limits[0])
            if not found.why:
                yield from self.fitted_shortly(found, valid, seconds, limits, fit)

    def fitted_shortly(
        self,
        found: Short,
        valid: Sequences,
        seconds: float | None,
        limits: list[dict[str, Any]],
        fit: Fit,
    ) -> Generator[Event, None, None]:
        """The same, if measuring takes little of the time."""
        chosen: dict[str, Any] = {}  # by the trials of the first, which the second need not repeat

        def heard(event: Event) -> None:
            """Nobody waits for a short fit; what it tried is kept, and that it was interrupted."""
            self.interrupted = self.interrupted or event["event"] == "interrupted"
            if event["event"] == "trial":
                chosen.update({key: event[key] for key in ("rows", "precision") if key in event})

        try:
            found.looked_at = self.looked_at(valid, seconds, fit.predictor)
            for limit in limits:
                predictor = yield from relay(fit.shorter(**limit, **chosen), heard)
                if self.interrupted:
                    raise TrainingError("it was interrupted in a short fit, before its own")
                found.points.append(self.point_of(predictor, found.looked_at))
        except (SeriatimError, MemoryError, RuntimeError) as error:
            if self.interrupted:
                raise
            found.why = f"a short fit failed: {error or type(error).__name__}"

    def looked_at(self, valid: Sequences, seconds: float | None, predictor: Predictor) -> Sequences:
        """The part of the validation data that short fits, and the whole one beside them, are
        measured on."""
        cut, whole = self.room.cut, len(valid.main.flat)
        share = MOST_LOOKED / whole
        if self.budget is not None and seconds is not None:
            some, begin = cut.some_of(valid, TRIED), self.budget.clock()
            predictor.measure(some)
            spent = max(self.budget.clock() - begin, 1e-9)
            share = LOOKED * seconds / spent * len(some.main.flat) / whole
        least = FEW_ITEMS / len(valid) if len(valid) > 1 else FEW_SYMBOLS / whole
        return cut.some_of(valid, min(1.0, max(least, min(self.test_share, share))))

    def point_of(self, predictor: Predictor, looked_at: Sequences) -> Record:
        """What a fit reached, and what it learned from until then."""
        known = predictor.metrics
        return {
            "share": known["symbols_seen"],  # of the whole fit's, once they are known
            "seconds": known["seconds"],
            "updates": known["updates"],
            "value": predictor.row(predictor.measure(looked_at))[self.figure.key],
        }

    def curved(self, name: str, predictor: Predictor, row: Row) -> Row:
        """The row with the course of its network, and whether it is unfinished by that: whether the
        last doubling of its time gained more than the margin."""
        if name not in self.learning:
            return row
        found = self.short.get(name, Short(why="it was gone on with"))
        row["course"] = nothing(found.why)
        if found.why or found.looked_at is None:
            return row
        points = [*found.points, self.point_of(predictor, found.looked_at)]
        whole = max(1, points[-1]["share"])
        points = [point | {"share": point["share"] / whole} for point in points]
        stopped = row["stopped"]
        if stopped == "patience" or (self.budget is not None and stopped != "minutes"):
            row["course"] = nothing(f"its {stopped} ended it, not its time", points)
            return row
        row["course"] = course_of(points, self.figure, row[self.figure.key])
        if row["course"]["last_doubling"] is not None:
            row["unfinished"] = row["course"]["last_doubling"] > self.options.margin
        return row


def limits_of(fit: Fit, share: float, seconds: float | None) -> dict[str, Any]:
    """The limits of a short fit: a share of each that the whole one has."""
    training = fit.parts[0].training
    if seconds is not None:
        epochs = None if training.epochs is None else share * training.epochs
        return {"minutes": share * seconds / 60, "epochs": epochs}
    planned = [training.updates] if training.updates else []
    if training.epochs:
        known = replace(training, rows=training.rows or FIRST_ROWS)
        planned.append(round(training.epochs * fit.lesson.steps_per_epoch(known)))
    return {"updates": int(share * min(planned, default=0)), "epochs": None}


def too_short(limit: dict[str, Any]) -> str:
    """Why the shortest fit would tell nothing, if so."""
    if "updates" in limit and limit["updates"] < LEAST_UPDATES:
        return f"a sixteenth is {limit['updates']} updates, too few for a fit"
    if "minutes" in limit and 60 * limit["minutes"] < LEAST_SECONDS:
        return f"a sixteenth is {60 * limit['minutes']:.1f} s, too little for a fit"
    return ""
