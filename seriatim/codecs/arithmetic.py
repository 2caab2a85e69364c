"""Arithmetic coding: a choice of probability p takes -log2 p bits, and many choices the sum of theirs.

All that is written is one number in [0, 1). Each choice narrows the interval in which it lies to the
part that belongs to it (Rissanen 1976; with whole numbers and a carry, Martin 1979). There are three
coders with one method, so that how something is written is said once, and what it costs, how it is
written and how it is read again cannot drift apart:

    Price      adds up what choices cost, in nats
    Encoder    choices -> bytes
    Decoder    bytes -> the same choices

Shapes: K choices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

SCALE = 1 << 32  # what probabilities are multiplied by to become whole numbers


WHOLE, LEAST = (
    1 << 64,
    1 << 56,
)  # the interval at first, and how small it may be before a byte is settled


class Frequencies:
    """How much of the interval belongs to each of K choices, in whole numbers of at least 1."""

    def __init__(self, counts: Sequence[int] | np.ndarray):
        self.ends = np.cumsum(np.asarray(counts, np.int64))  # (K,)
        self.total = int(self.ends[-1])

    @classmethod
    def of(cls, p: np.ndarray) -> Frequencies:
        """(K,) probabilities, which need not add up to 1; what is left by rounding belongs to the
        likeliest."""
        p = np.nan_to_num(p.astype(np.float64))
        counts = (p / p.sum() * (SCALE - len(p))).astype(np.int64) + 1
        counts[p.argmax()] += SCALE - counts.sum()
        return cls(counts)

    def bounds(self, choice: int) -> tuple[int, int]:
        """Where the part of a choice begins and ends."""
        return int(self.ends[choice - 1]) if choice else 0, int(self.ends[choice])

    def find(self, place: int) -> int:
        """The choice to whose part a place belongs."""
        return int(np.searchsorted(self.ends, place, "right"))

    def nats(self, choice: int) -> float:
        """What a choice costs."""
        begin, end = self.bounds(choice)
        return math.log(self.total / (end - begin))


class Equal(Frequencies):
    """Many choices, each as likely as the others."""

    def __init__(self, many: int):
        self.total = many

    def bounds(self, choice: int) -> tuple[int, int]:
        """One place for each."""
        return choice, choice + 1

    def find(self, place: int) -> int:
        """A place is a choice."""
        return place


class Coder:
    """What chooses: see above."""

    def choose(self, frequencies: Frequencies, choice: int | None) -> int:
        """Write a choice, or read it (then it is None); the choice."""
        raise NotImplementedError

    def mark(self) -> None:
        """All that belongs to a symbol has been chosen."""


class Price(Coder):
    """What choices cost, in nats; in all, and up to each mark."""

    def __init__(self) -> None:
        self.nats, self.marks = 0.0, [0.0]

    def choose(self, frequencies: Frequencies, choice: int | None) -> int:
        """Add what it costs."""
        if choice is None:
            raise ValueError("only a choice that is known has a price")
        self.nats += frequencies.nats(choice)
        return choice

    def mark(self) -> None:
        """Remember what it has cost up to here."""
        self.marks.append(self.nats)


class Encoder(Coder):
    """Choices -> bytes."""

    def __init__(self) -> None:
        self.written, self.low, self.range = bytearray(), 0, WHOLE

    def choose(self, frequencies: Frequencies, choice: int | None) -> int:
        """Narrow the interval to the part of this choice."""
        if choice is None:
            raise ValueError("only a choice that is known can be written")
        begin, end = frequencies.bounds(choice)
        step = self.range // frequencies.total
        self.low, self.range = self.low + begin * step, (end - begin) * step
        self.carry()
        while self.range < LEAST:
            self.written.append(self.low >> 56)
            self.low, self.range = (self.low << 8) % WHOLE, self.range << 8
        return choice

    def carry(self) -> None:
        """Where the lower end has grown over a byte, add it to those that are written."""
        if self.low < WHOLE:
            return
        self.low -= WHOLE
        place = len(self.written) - 1
        while self.written[place] == 255:
            self.written[place] = 0
            place -= 1
        self.written[place] += 1

    def finish(self) -> bytes:
        """The shortest number inside the interval; zeros at its end need not be written."""
        for bits in range(56, -8, -8):
            number = -(-self.low >> bits) << bits
            if number < self.low + self.range:
                break
        self.low = number
        self.carry()
        return bytes(self.written + self.low.to_bytes(8, "big")).rstrip(b"\0")


class Decoder(Coder):
    """Bytes -> the choices that were written."""

    def __init__(self, written: bytes):
        self.written, self.place, self.range = written, 8, WHOLE
        self.value = int.from_bytes(written[:8].ljust(8, b"\0"), "big")  # above the lower end

    def choose(self, frequencies: Frequencies, choice: int | None) -> int:
        """The choice in whose part the number lies."""
        step = self.range // frequencies.total
        found = frequencies.find(min(self.value // step, frequencies.total - 1))
        begin, end = frequencies.bounds(found)
        self.value, self.range = self.value - begin * step, (end - begin) * step
        while self.range < LEAST:
            following = self.written[self.place] if self.place < len(self.written) else 0
            self.value, self.range = self.value << 8 | following, self.range << 8
            self.place += 1
        return found
