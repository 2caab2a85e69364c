"""Work on several items at once, results in order. Threads, because numpy lets them run side by side."""
from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
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
