"""The time of a comparison: it ends when it was asked to, whoever else uses the machine.

    begin |reading|counting| network | network | ... | report| end
                            <------->   equal slots: building, learning, scoring and all

A model that counts has a slot, too, and mostly needs a small part of it. It cannot be stopped halfway;
so parts of the data tell beforehand how long it would take.

What one network leaves unused is not given to the next: their budgets are equal. What one takes too
much is taken from those that follow. Where slots would be too short for anything to be learned, fewer
networks have one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

REPORT = 0.03  # of the time, and two seconds: for the table, the picture and the page
MOST_SCORED = 0.3  # of a slot, at most, kept for scoring before it is known how long that takes
SCORED = 0.2  # of a slot, for scoring: more test than that is left out
LEAST_TEST = 0.05  # of the test part, however long that takes
CHEAP = 2.0  # seconds of counting that are never too many
SHORT = 20.0  # seconds of a slot that are too few for trials
LEAST = 0.5  # seconds of learning, however little time there is
SHORTEST = 2.5  # seconds of a slot: in fewer, a busy machine cannot even keep to them


class Budget:
    """So many minutes since `begin` for so many networks."""

    def __init__(
        self,
        minutes: float,
        begin: float,
        networks: float,
        share: float | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ):
        self.clock, self.left = clock, networks
        self.share = share  # seconds of a slot, once that is settled: a resumed comparison knows it
        self.whole = whole = 60 * minutes
        self.end = begin + whole if share is None else clock() + share * networks + REPORT * whole
        self.report = 2.0 + REPORT * whole
        self.slot = (0.0, 0.0)  # when that of the present network begins and ends
        self.tails: list[float] = []  # seconds that scoring took, of the networks before

    def spent(self) -> float:
        """The share of the time that is over."""
        return 1 - (self.end - self.clock()) / self.whole

    def leaves(self, seconds: float) -> bool:
        """Whether so much can still be done before the report."""
        return self.clock() + seconds <= self.end - self.report

    def left_over(self) -> float:
        """Seconds until the report."""
        return max(0.0, self.end - self.report - self.clock())

    def dealt_out(self) -> bool:
        """Whether no network has a slot any more."""
        return self.share is not None and self.left < 0.5  # a mixture's is a part of one

    def short(self) -> bool:
        """Whether the slot of the present network is too short for trials."""
        begin, end = self.slot
        return end - begin < SHORT

    def counting(self, models: int) -> float:
        """Seconds for the next of so many models that count, and what its trials took: as much as
        everyone would have who is still to come."""
        return max(CHEAP, (self.end - self.report - self.clock()) / max(1, self.left + models))

    def affordable(self, seconds: float) -> float:
        """The share of the test that each network can score, if all of it takes so many seconds."""
        even = (self.end - self.report - self.clock()) / max(1, self.left)
        return 1.0 if seconds <= SCORED * even else max(LEAST_TEST, SCORED * even / seconds)

    def begin(self) -> None:
        """The slot of the next network."""
        now = self.clock()
        time_left = self.end - self.report - now
        if self.share is None:  # the first: now it is known what the others took
            self.left = min(self.left, max(1, time_left // SHORTEST))
        even = time_left / max(1, self.left)
        if self.share is None:
            self.share = max(LEAST, even)
        self.left -= 1
        self.slot = (now, now + max(LEAST, min(even, self.share)))

    def minutes(self, scoring: float) -> float:
        """How long the network of this slot may learn from now on, if scoring takes so many seconds
        by a trial: what it took others says more."""
        begin, end = self.slot
        if self.tails:
            usual = sum(self.tails) / len(self.tails)
            scoring = min(2 * usual, max(usual / 2, scoring))
        kept = min(scoring, MOST_SCORED * (end - begin))
        return max(LEAST, end - self.clock() - kept) / 60

    def learned(self) -> None:
        """The network of this slot has learned; what follows is its tail."""
        self.tail = self.clock()

    def scored(self) -> None:
        """The network of this slot has its row."""
        self.tails.append(self.clock() - self.tail)


def projected(trials: Sequence[tuple[float, float]], whole: float = 1.0) -> float:
    """Seconds that all of the data would take, by trials (share of the data, seconds): one alone is
    taken as proportional; of several the last go on as they grew, which leaves out what a model
    takes however little it reads."""
    share, seconds = trials[-1]
    if len(trials) == 1:
        return seconds * whole / share
    less, before = trials[-2]
    straight = seconds + max(0.0, seconds - before) / (share - less) * (whole - share)
    if min(before, seconds) <= 0:
        return straight
    power = math.log(seconds / before) / math.log(share / less)
    return max(straight, seconds * (whole / share) ** power) if power > 1 else straight
