"""What is tried before a comparison deals out its time: how long scoring takes, how long counting.

Nothing that is tried is kept. What takes seconds the first time is done once beforehand; how much of
the test can be scored is found by an untrained network; how long a model that counts would take is
found on growing parts of the data, for it cannot be stopped halfway.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from seriatim.comparison.budget import CHEAP, Budget, projected
from seriatim.data.sequences import Sequences
from seriatim.errors import SeriatimError
from seriatim.fitting import fit_events, untrained
from seriatim.fitting_options import CompareOptions
from seriatim.progress import exhausted, listening, until
from seriatim.tasks.base import Task
from seriatim.training.trials import survives_bfloat16

Round = tuple[Sequences | None, Sequences, Sequences]  # validation, training, test
FEW_SYMBOLS = 5_000  # of a test part: so little is always scored whole
FEW_ITEMS = 100  # sequences of a test: fewer are never left, and no ground for a verdict
SLICE = 20_000  # symbols of training data, by which an untrained network gets its vocabulary
TRIALS = (1 / 64, 1 / 16, 1 / 4)  # shares of the data, by which slow counting is known before
FIRST = 8.0  # seconds of a first trial: compiling takes some
PART = 0.25  # of the time that is left, which a first trial may take
WARM = 0.1  # seconds of a first trial that say nothing about how long reading takes
TRIED = 1 / 32  # of the test part, scored before a network learns, to know how long that takes
GROWING = (1 / 128, 1 / 32, 1 / 8)  # of the test part: little is slower
PATIENCE = 0.04  # of all the time, after which that is known well enough
EACH = 15  # seconds that a network should have at least, when more time is advised
LATE = 0.15  # of all the time: if so much has gone before anything is fitted, nothing is warmed up


def spec_of(name: str) -> str:
    """The model of a row: 'lstm@word' is an lstm, by word."""
    return name.partition("@")[0]


def asked_of(rounds: Sequence[Round]) -> int:
    """How many symbols are scored of a rung: of the test, and of the validation data by which the
    winner is chosen."""
    chosen_by = [] if len(rounds) > 1 or rounds[0][0] is None else [rounds[0][0]]
    return sum(len(each.main.flat) for each in [*chosen_by, *(test for _, _, test in rounds)])


class Trials:
    """The part of a comparison that tries before it fits."""

    room: Task
    options: CompareOptions
    names: list[str]
    counting: list[str]
    learning: list[str]
    plans: Mapping[str, Mapping[str, Any]]
    measuring: dict[str, Any]
    budget: Budget | None
    test_share: float

    def warmed(self, rounds: list[Round]) -> list[Round]:
        """The same, when what takes seconds the first time (compiled code, what the processor can
        do) has been done once: otherwise the first model would pay for all. Where it is late already,
        and networks are to come, nothing is."""
        late = self.budget is not None and self.budget.spent() > LATE
        if self.options.resume or (late and self.learning):
            return rounds
        few = self.room.cut.some_of(rounds[0][1], self.slice_of(rounds[0][1]))
        by_clock = self.learning if self.budget is not None else []
        for name in (by_clock or self.counting)[:1]:
            asked = dict(self.plans[name]) | ({"updates": 1} if name in self.learning else {})
            with suppress(SeriatimError, RuntimeError), listening(lambda event: None):
                survives_bfloat16()
                exhausted(fit_events(self.room, spec_of(name), few, None, asked, compared=True))
        return rounds

    def slice_of(self, train: Sequences) -> float:
        """The share of the training data by which an untrained network gets its vocabulary."""
        return min(1.0, SLICE / max(1, len(train.main.flat)))

    def affordable(self, rounds: list[Round]) -> list[Round]:
        """The same with as much of the test as can be scored in a fifth of a slot, by an untrained
        network that has seen a little of the data: on a busy machine scoring may take longer than
        learning. All rungs are measured on the same part."""
        if self.budget is None or not self.learning or self.options.resume:
            return rounds
        (_, train, test), cut = rounds[0], self.room.cut
        if len(test.main.flat) < FEW_SYMBOLS:
            return rounds
        try:
            few = cut.some_of(train, self.slice_of(train))
            name = self.learning[-1]
            predictor = untrained(self.room, spec_of(name), few, self.plans[name])
            predictor.measure(cut.some_of(test, GROWING[0]), **self.measuring)  # it may compile
            before = self.budget.spent()
            for share in GROWING:
                some, begin = cut.some_of(test, share), self.budget.clock()
                predictor.measure(some, **self.measuring)
                took = self.budget.clock() - begin
                if self.budget.spent() > before + PATIENCE:
                    break
        except SeriatimError:  # the fit itself will say what is wrong
            return rounds
        if len(some.main.flat) == len(test.main.flat):  # of some tasks all is always scored
            return rounds
        each = took / max(1, len(some.main.flat))
        share = self.budget.affordable(each * asked_of(rounds) * self.options.seeds)
        least = FEW_ITEMS / len(test) if len(test) > 1 else FEW_SYMBOLS / len(test.main.flat)
        self.test_share = min(1.0, max(share, least))
        if self.test_share == 1:
            return rounds
        return [(v, t, cut.some_of(tested, self.test_share)) for v, t, tested in rounds]

    def too_slow(self, name: str, rounds: list[Round]) -> str:
        """Why a model is not run beside others: one that counts would take more than its slot, and for
        a network nothing is left but the time to score it. A rule without anything to learn is never
        too slow, nor tried: most of what a trial takes is the same for little data and for much."""
        rung = self.room.rungs.get(spec_of(name))
        if self.budget is None or len(self.names) == 1 or (rung is not None and rung.always):
            return ""
        if name in self.learning:
            return self.no_time(name)
        to_come = self.counting[self.counting.index(name) :]
        limit = self.budget.counting(len(to_come))
        seconds, about = self.expected(name, rounds, limit)
        if seconds <= max(CHEAP, limit):
            return ""
        return (
            f"it would take {about} {seconds:.0f} s, and has {limit:.1f} s here; "
            f"give more --minutes, or run it alone: --models {name}"
        )

    def no_time(self, name: str) -> str:
        """Why a network is not run: slots were too short for all, or to score it would end later than
        all of it is to."""
        assert self.budget is not None
        known = self.budget.tails
        in_time = not known or self.budget.leaves(sum(known) / len(known))
        if in_time and not self.budget.dealt_out():
            return ""
        spent = self.budget.spent() * self.budget.whole
        enough = math.ceil((spent + EACH * len(self.learning)) / 30) / 2  # by half a minute
        return (
            f"no time is left: the others took {spent:.0f} of {self.budget.whole:.0f} s; --minutes "
            f"{enough:g} would leave some for all, --models {name} runs it alone"
        )

    def expected(self, name: str, rounds: list[Round], limit: float) -> tuple[float, str]:
        """Seconds that a model that counts would take, by growing parts of the data, until that can
        be told from the limit, and whether that is about what it takes or the least; 0 if it can
        learn from none of them: then there is little data. What a part takes beyond a smaller one
        is chance to a degree, and is multiplied by what is left of the data: so a larger part is
        tried as long as that takes half of the limit at most. The first time may take longer, for it
        compiles what is kept from then on: it is no measure."""
        trials: list[tuple[float, float]] = []
        times = len(rounds) * (2 if self.room.cut.walks else 1)  # fitted once more to choose
        least = max(CHEAP, limit) / 2
        for part in TRIALS:
            allowed = limit if trials else self.first_time(limit)
            share, seconds = self.tried(name, rounds[0], part, allowed)
            if not share or (trials and share <= trials[-1][0]):
                continue
            if not trials and seconds > WARM and projected([(share, seconds)]) > limit:
                share, seconds = self.tried(name, rounds[0], part, limit)
            seconds *= times
            trials.append((share, seconds))
            if seconds > limit:
                return seconds, "more than"
            if projected(trials) <= limit:
                break
            if len(trials) > 1 and projected(trials, 4 * share) / times > least:
                break
        return projected(trials) if trials else 0.0, "about"

    def first_time(self, limit: float) -> float:
        """Seconds that a first trial may take: what compiles is no slow model. Where no network
        waits, there are some even if no time is left."""
        if self.budget is None:
            return limit
        least = 0.0 if self.learning else FIRST
        return max(limit, PART * self.budget.left_over(), least)

    def tried(self, name: str, parts: Round, share: float, limit: float) -> tuple[float, float]:
        """A fit to a part of the data, and its measuring: the share it really was, 0 if that is too
        little for this model, and how many seconds it took; one that takes longer than the limit
        ends there, since all of the data would take no less."""
        assert self.budget is not None
        (_, train, test), clock = parts, self.budget.clock
        begin = clock()
        try:
            few, some = self.room.cut.tried_on(train, test, share)
            with listening(lambda event: None):
                predictor = until(
                    fit_events(
                        self.room, spec_of(name), few, None, self.plans[name], compared=True
                    ),
                    lambda: clock() > begin + max(CHEAP, limit),
                )
                if predictor is not None:
                    predictor.measure(some, **self.measuring)
        except (SeriatimError, MemoryError, RuntimeError):
            return 0.0, 0.0
        return len(few.main.flat) / len(train.main.flat), clock() - begin
