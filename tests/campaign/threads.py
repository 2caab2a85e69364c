"""One Predictor, eight threads, all verbs: every answer is the one that is given alone, and the memory
does not grow."""

from __future__ import annotations

import gc
import json
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from seriatim.tasks import task as card_of
from seriatim.verbs import call
from tests.campaign.cases import Figures, workshop
from tests.examples import EXAMPLES, Workshop

THREADS = 8
SHARES = (10, 50, 100)  # percent of the calls after which memory is looked at
FLAT = 0.02  # it may grow by less, from half to the end
MANY = 5_000  # calls; of fewer, it is told and not judged
TIMES = ("seconds", "symbols_per_second")
Asked = tuple[str, Callable[[], str]]


def timeless(value: Any) -> Any:
    """A record without what the clock says."""
    if isinstance(value, dict):
        return {key: timeless(each) for key, each in value.items() if key not in TIMES}
    return [timeless(each) for each in value] if isinstance(value, list) else value


def questions(made: Workshop, tasks: list[str]) -> list[Asked]:
    """Every verb of every model of these tasks, but for those that write files."""
    found: list[Asked] = []
    for task in tasks:
        for verb, asks in EXAMPLES[task].asks.items():
            if not card_of(task).verbs[verb].runs:
                continue
            for ask in asks:
                if "out" in ask.options:
                    continue
                data, options = made.data(task, ask.data), made.options(task, ask)
                for role in made.roles(task, ask):
                    model = made.predictor(task, role)

                    def answer(v=verb, m=model, d=data, o=options) -> str:
                        """What the verb gives, as text."""
                        return json.dumps(timeless(call(v, m, d, **o)), sort_keys=True)

                    found.append((f"{task} {role} {verb}", answer))
    return found


def memory() -> int:
    """Bytes of this process that are in memory; 0 where that is not told."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * 4096


def threads(count: int, seed: int = 0, names: str = "") -> Figures:
    """So many calls, by eight threads."""
    made, dice = workshop(), random.Random(seed)
    tasks = names.split(";") if names else list(EXAMPLES)
    asked = questions(made, tasks)
    alone = [answer() for _, answer in asked]
    drawn = [dice.randrange(len(asked)) for _ in range(count)]
    different: list[str] = []

    def one(number: int) -> None:
        """Ask once more."""
        name, answer = asked[number]
        if answer() != alone[number]:
            different.append(name)

    marks, begin = {}, 0
    with ThreadPoolExecutor(THREADS) as pool:
        for share in SHARES:
            end = count * share // 100
            for _ in pool.map(one, drawn[begin:end]):
                pass
            gc.collect()
            marks[f"{share} %"], begin = memory(), end
    grown = marks["100 %"] / max(1, marks["50 %"]) - 1
    problems = sorted(set(different))
    if grown >= FLAT and count >= MANY:
        problems.append(f"memory grew by {grown:.1%} from half to the end")
    return {
        "calls": count,
        "different": len(different),
        "questions": len({name for name, _ in asked}),
        "problems": problems,
        "megabytes": {share: round(bytes_ / 1e6) for share, bytes_ in marks.items()},
        "grown": grown,
    }
