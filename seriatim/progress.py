"""How far is it? A loop that may take long tells whoever listens; where nobody does, nothing
happens.

Who listens, and which loops are under way, are context variables: each thread has its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

Item = TypeVar("Item")


Hear = Callable[[dict[str, Any]], None]


LISTENER: ContextVar[Hear | None] = ContextVar("listener", default=None)


@contextmanager
def listening(hear: Hear) -> Iterator[None]:
    """Hear of every loop in the meantime."""
    before = LISTENER.set(hear)
    try:
        yield
    finally:
        LISTENER.reset(before)


BEGAN: ContextVar[float | None] = ContextVar("began", default=None)


@contextmanager
def since(moment: float) -> Iterator[None]:
    """What is done in the meantime began then: when the process did, not when it had its libraries."""
    before = BEGAN.set(moment)
    try:
        yield
    finally:
        BEGAN.reset(before)


def began() -> float:
    """When what is under way began, by `time.perf_counter`."""
    moment = BEGAN.get()
    return time.perf_counter() if moment is None else moment


@dataclass(eq=False)
class Pass:
    """A loop under way."""

    count: int
    begin: float
    number: int = 0


PASSES: ContextVar[tuple[Pass, ...]] = ContextVar("passes", default=())  # the outermost first


def passing(words: str, items: Sequence[Item]) -> Iterator[Item]:
    """The items, one after another; what is done is told before each but the first. A loop within
    another tells how far that one is."""
    this = Pass(len(items), time.perf_counter())
    PASSES.set((*PASSES.get(), this))
    try:
        for this.number, item in enumerate(items):
            hear = LISTENER.get()
            if hear is not None:
                tell(hear, words)
            yield item
    finally:
        PASSES.set(tuple(each for each in PASSES.get() if each is not this))


def tell(hear: Hear, words: str) -> None:
    """Say how far the outermost loop is, if that is anywhere."""
    share, seconds = done(), time.perf_counter() - PASSES.get()[0].begin
    if share:
        hear(
            {
                "event": "pass",
                "words": words,
                "share": share,
                "seconds": seconds,
                "remaining": seconds / share - seconds,
            }
        )


def done() -> float:
    """The share of the outermost loop."""
    share = 0.0
    for each in reversed(PASSES.get()):
        share = (each.number + share) / each.count
    return share


def note(words: str, event: str = "note") -> None:
    """Say something worth knowing to whoever listens; as a "read", how a file was read."""
    hear = LISTENER.get()
    if hear is not None and words:
        hear({"event": event, "words": words})


Returned = TypeVar("Returned")


def exhausted(events: Generator[dict[str, Any], None, Returned]) -> Returned:
    """Run a generator of events to its end, and give what it returns."""
    while True:
        try:
            next(events)
        except StopIteration as end:
            return end.value


def until(
    events: Generator[dict[str, Any], None, Returned], over: Callable[[], bool]
) -> Returned | None:
    """The same, but ended between two events as soon as it is over; then there is nothing to give."""
    while True:
        try:
            next(events)
        except StopIteration as end:
            return end.value
        if over():
            events.close()
            return None
