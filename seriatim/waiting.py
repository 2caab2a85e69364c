"""How far is it? A loop that may take long tells whoever listens; where nobody does, nothing happens."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

Item = TypeVar("Item")
LISTENERS: list[Callable[[dict[str, Any]], None]] = []             # the last one hears


@contextmanager
def listening(hear: Callable[[dict[str, Any]], None]) -> Iterator[None]:
    """Hear of every loop in the meantime."""
    LISTENERS.append(hear)
    try:
        yield
    finally:
        LISTENERS.remove(hear)


def passing(words: str, items: Sequence[Item]) -> Iterator[Item]:
    """The items, one after another; what is done is told before each but the first. A loop within another tells how far that one is."""
    loop = Loop(len(items), time.perf_counter())
    LOOPS.append(loop)
    try:
        for loop.number, item in enumerate(items):
            if LISTENERS:
                share, seconds = done(), time.perf_counter() - LOOPS[0].begin
                if share:
                    LISTENERS[-1]({"event": "pass", "words": words, "share": share, "seconds": seconds, "remaining": seconds / share - seconds})
            yield item
    finally:
        LOOPS.remove(loop)


@dataclass(eq=False)
class Loop:
    count: int
    begin: float
    number: int = 0


LOOPS: list[Loop] = []                                             # those under way, the outermost first


def done() -> float:
    """The share of the outermost loop."""
    share = 0.0
    for loop in reversed(LOOPS):
        share = (loop.number + share) / loop.count
    return share
