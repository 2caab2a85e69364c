"""How far is it? A loop that may take long tells whoever listens; where nobody does, nothing happens."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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
    """The items, one after another; what is done is told before each but the first."""
    begin = time.perf_counter()
    for number, item in enumerate(items):
        if number and LISTENERS:
            share, seconds = number / len(items), time.perf_counter() - begin
            LISTENERS[-1]({"event": "pass", "words": words, "share": share, "seconds": seconds, "remaining": seconds / share - seconds})
        yield item
