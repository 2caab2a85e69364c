"""What the machine is asked for: work on several items at once, results in order; memory that is kept.

Threads, because numpy and torch let them run side by side.
"""
from __future__ import annotations

import ctypes
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
WORKERS = min(8, os.cpu_count() or 1)


def side_by_side(work: Callable[[Item], Result], items: Iterable[Item], executor: type[Executor] = ThreadPoolExecutor) -> Iterator[Result]:
    """work(item) for each item, in order; never more results waiting than there are workers."""
    with executor(WORKERS) as pool:
        waiting: deque = deque()
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > WORKERS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Within this, an operation of torch is the work of one thread, so that several can be side by side."""
    import torch  # by those who have it already
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@cache
def keep_memory() -> None:
    """Memory that was freed is kept for the next array of its size, where the C library can be told so (glibc).

    Every operation of a network makes an array of some megabytes and soon drops it. Given back to the system each time, it comes back page by page,
    set to zero: a tenth of the time of training.
    """
    try:
        setting = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    for name, value in ((-3, 1 << 25),                      # M_MMAP_THRESHOLD: larger arrays come and go
                        (-1, 1 << 30),                      # M_TRIM_THRESHOLD: how much may lie unused
                        (-8, 1)):                           # M_ARENA_MAX: all threads share it
        setting(name, value)
