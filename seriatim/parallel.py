"""What the machine is asked for: work on several items at once, results in order; numbers of
threads; memory.

Threads, because numpy and torch let them run side by side. What holds of torch's number of threads,
as measured (OpenMP): `torch.set_num_threads` acts on the thread that calls it and on those that
have not yet used torch, whose default it is; threads that have used torch keep theirs. So each
thread has a number of its own, the work of `loss.backward()` is done by the thread that calls it,
and two fits in two threads do not disturb each other. What must be put back is the default:
`set_threads` does so at once. The moment in between is guarded by a lock, which `settle` waits for:
a thread that enters there before its first operation is not given a number meant for another.

Bits of a product of matrices may depend on the number of threads. A fit runs with its own, in
whatever thread it is; parts of a batch that are side by side have one thread each, whoever computes
them.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import copy_context
from functools import cache
from inspect import GEN_CLOSED, getgeneratorstate
from threading import Lock, Thread
from typing import Any, TypeVar

Item = TypeVar("Item")


Result = TypeVar("Result")


Returned = TypeVar("Returned")


WORKERS = min(8, os.cpu_count() or 1)


SETTING = Lock()  # held while torch's default number of threads is not what it was


SMALL = sys.float_info.min  # half of it is next to zero


def side_by_side(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """work(item) for each item, in order; never more results waiting than there are workers.

    Each has the context variables of whoever asks.
    """
    with ThreadPoolExecutor(WORKERS) as pool:
        waiting: deque[Future[Result]] = deque()
        for item in items:
            waiting.append(pool.submit(copy_context().run, work, item))
            if len(waiting) > WORKERS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


class Workers:
    """Threads that are kept until the end of a `with`, for each of which an operation of torch is
    its work alone."""

    def __init__(self, number: int):
        self.pool = ThreadPoolExecutor(number, initializer=begin_alone)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def map(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """work(item) for each item, side by side; results in order."""
        asked = [self.pool.submit(copy_context().run, work, item) for item in items]
        return [each.result() for each in asked]

    def call(self, work: Callable[..., Result], *given: Any) -> Result:
        """work(*given), by one of them."""
        return self.pool.submit(copy_context().run, work, *given).result()

    def close(self) -> None:
        """Send them home."""
        self.pool.shutdown()


def settle() -> int:
    """torch's number of threads for this thread, which from now on is its own."""
    import torch  # by those who have it already

    with SETTING:
        return torch.get_num_threads()


def set_threads(number: int) -> None:
    """Let operations of torch in this thread be shared by so many threads; others, and those to
    come, keep theirs."""
    import torch

    with SETTING:
        if torch.get_num_threads() == number:
            return
        default = by_a_new_thread(torch.get_num_threads)
        torch.set_num_threads(number)
        if default != number:
            by_a_new_thread(lambda: torch.set_num_threads(default))


def begin_alone() -> None:
    """Let operations of torch in this thread, which is new, be its work alone; others keep theirs."""
    import torch

    with SETTING:
        default = torch.get_num_threads()  # it has none of its own yet
        torch.set_num_threads(1)
        if default != 1:
            by_a_new_thread(lambda: torch.set_num_threads(default))


def by_a_new_thread(work: Callable[[], Result]) -> Result:
    """What the work gives in a thread that has done nothing else."""
    found: list[Result] = []
    thread = Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]


@contextmanager
def threads(number: int) -> Iterator[None]:
    """Within this, operations of torch in this thread are shared by so many threads."""
    before = settle()
    set_threads(number)
    try:
        yield
    finally:
        set_threads(before)


@contextmanager
def flushed() -> Iterator[None]:
    """Within this, numbers next to zero count as zero in this thread: they would slow a recurrent
    network down."""
    import torch

    before = SMALL / 2 == 0
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(before)


def throughout(
    events: Generator[Item, None, Returned], context: Callable[[], AbstractContextManager[Any]]
) -> Generator[Item, None, Returned]:
    """The same events; the context holds while the next one is made, and not while somebody looks
    at it.

    So two generators that take turns, or one that is left lying, change nothing for anybody else.
    """
    error: BaseException | None = None
    while True:
        try:
            with context():
                try:
                    event = next(events) if error is None else events.throw(error)
                except StopIteration as end:
                    return end.value
        except KeyboardInterrupt as struck:
            if getgeneratorstate(events) == GEN_CLOSED:  # they have ended by it
                raise
            error = struck
            continue
        try:
            yield event
            error = None
        except GeneratorExit:
            with context():
                events.close()
            raise
        except BaseException as thrown:  # of whoever looks: an interrupt, mostly
            error = thrown


@cache
def keep_memory() -> None:
    """Memory that was freed is kept for the next array of its size, where the C library can be told
    so (glibc).

    Every operation of a network makes an array of some megabytes and soon drops it. Given back to
    the system each time, it comes back page by page, set to zero: a tenth of the time of training.
    It cannot be undone, and holds for the whole process: only the command line, whose process is
    its own, calls this.
    """
    try:
        setting = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    for name, value in (
        (-3, 1 << 25),  # M_MMAP_THRESHOLD: larger arrays come and go
        (-1, 1 << 30),  # M_TRIM_THRESHOLD: how much may lie unused
        (-8, 1),
    ):  # M_ARENA_MAX: all threads share it
        setting(name, value)
