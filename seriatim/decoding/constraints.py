"""What results must or must not have: how they begin, phrases that come and phrases that never do,
room.

A beginning is asked how far it has come with the phrases it must have (`Met`); symbols that may not
follow get a probability of nothing (`Demands.apply`). Shapes: B, R rows, V symbols.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from seriatim.distributions.symbols import Distribution


@dataclass(frozen=True)
class Demands:
    """What results are to be like, besides likely. Phrases are rows of symbols."""

    prefix: tuple[int, ...] = ()
    must: tuple[tuple[int, ...], ...] = ()
    # how each of these is written where a result begins, if that is different
    openings: tuple[tuple[int, ...], ...] = ()
    never: tuple[tuple[int, ...], ...] = ()
    most: Tensor | None = None  # (B,) how many symbols each row may have

    def room(self, rows: int, length: int) -> list[int]:
        """How many symbols each of so many rows may have, and no more than this length."""
        return [length] * rows if self.most is None else self.most.clamp(max=length).tolist()

    def rows(self, which: Sequence[int] | Tensor) -> Demands:
        """The same for some of the rows."""
        return self if self.most is None else replace(self, most=self.most[which])

    @property
    def ways(self) -> tuple[Way, ...]:
        """All ways to write what must come: each phrase anywhere, then each at the beginning."""
        every = [(self.must, False), (self.openings, True)]
        return tuple(
            Way(i, phrase, opening)
            for phrases, opening in every
            for i, phrase in enumerate(phrases)
            if phrase
        )

    def apply(self, log_probs: Tensor, written: Sequence[Sequence[int]]) -> Tensor:
        """(R, V) log-probabilities, what each row has written -> the same, minus infinity where a
        symbol may not follow."""
        if not (self.prefix or self.never) or not len(written):
            return log_probs
        log_probs, place = log_probs.clone(), len(written[0])
        if place < len(self.prefix):
            kept = log_probs[:, self.prefix[place]].clone()
            log_probs[:] = -torch.inf
            log_probs[:, self.prefix[place]] = kept
        for phrase in self.never:
            rows = [
                row
                for row, symbols in enumerate(written)
                if tuple(symbols[len(symbols) - len(phrase) + 1 :]) == phrase[:-1]
            ]
            log_probs[rows, phrase[-1]] = -torch.inf
        return log_probs


class Way(NamedTuple):
    """How a phrase may be written."""

    phrase: int  # its number
    symbols: tuple[int, ...]
    opening: bool  # only where a result begins

    def after(self, place: int, symbol: int) -> int:
        """How many of its symbols stand at the end of a beginning that had `place` of them, after
        one more; -1 if it can never come."""
        if self.opening:
            return (
                place + 1
                if 0 <= place < len(self.symbols) and self.symbols[place] == symbol
                else -1
            )
        seen = (*self.symbols[:place], symbol)
        return next(
            many
            for many in range(min(len(seen), len(self.symbols)), -1, -1)
            if seen[len(seen) - many :] == self.symbols[:many]
        )


@dataclass(frozen=True)
class Met:
    """How far a beginning has come with the phrases it must have. They may overlap."""

    places: tuple[int, ...]  # for each way how many of its symbols it ends with
    done: frozenset[int] = frozenset()

    def after(self, symbol: int, ways: Sequence[Way]) -> Met:
        """And after one more symbol."""
        places = tuple(
            way.after(place, symbol) for way, place in zip(ways, self.places, strict=True)
        )
        return Met(
            places,
            self.done
            | {
                way.phrase
                for way, place in zip(ways, places, strict=True)
                if place == len(way.symbols)
            },
        )

    def open(self, ways: Sequence[Way]) -> list[tuple[Way, int]]:
        """The ways that may still bring it further, and how far each has come."""
        return [
            (way, place)
            for way, place in zip(ways, self.places, strict=True)
            if way.phrase not in self.done and place >= 0
        ]

    def wanted(self, ways: Sequence[Way]) -> list[int]:
        """The symbols that would bring it further."""
        return list(dict.fromkeys(way.symbols[place] for way, place in self.open(ways)))

    def count(self, ways: Sequence[Way]) -> int:
        """How many symbols of the phrases it has, and of the one it is in the middle of."""
        return sum(
            len(way.symbols) for way in ways if way.phrase in self.done and not way.opening
        ) + max((place for _, place in self.open(ways)), default=0)


class Allowed(Distribution):
    """What is left of distributions where some symbols may not follow."""

    def __init__(self, log_probs: Tensor):
        self.left = log_probs  # (R, V)

    def log_probs(self) -> Tensor:
        """(R, V), minus infinity where nothing may follow."""
        return self.left
