"""kill -9 at named points of writes and at random moments, and SIGTERM: whatever strikes, the fit that
is gone on with comes to the same bytes, no folder is unreadable and nothing is left lying."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from seriatim import storage
from tests.campaign.cases import Case, Figures, child, chosen, ended, kill, spread, whole, workshop
from tests.examples import Workshop

STEPS = "steps"  # the file in which a child counts


def counting(case: Case, made: Workshop, folder: Path) -> int:
    """How many named points a fit passes."""
    ready(case, made, folder)
    count = folder.parent / STEPS

    def reached(point: str) -> None:
        with open(count, "ab") as file:
            file.write(b".")

    def work() -> None:
        storage.reached = reached
        case.do(made, folder)

    assert ended(child(work)) == 0
    return count.stat().st_size


def dying(case: Case, made: Workshop, folder: Path, step: int) -> None:
    """Do it, and die at the n-th named point."""
    left = [step]

    def reached(point: str) -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    storage.reached = reached
    case.do(made, folder)


def ready(case: Case, made: Workshop, folder: Path) -> None:
    """What is there before."""
    if case.replacing:
        assert ended(child(lambda: case.prepare(made, folder))) == 0


class Tally:
    """What was found, over all cases."""

    def __init__(self) -> None:
        self.kills = self.different = self.unreadable = self.leftovers = self.failed = 0
        self.cases: set[str] = set()
        self.problems: list[str] = []

    def wrong(self, kind: str, words: str) -> None:
        """One that went wrong."""
        setattr(self, kind, getattr(self, kind) + 1)
        self.problems.append(words)

    def figures(self) -> Figures:
        """As a record."""
        found = {name: value for name, value in vars(self).items() if name != "cases"}
        return found | {"cases": len(self.cases)}


def settle(tally: Tally, name: str, case: Case, made: Workshop, out: Path, expected: dict) -> None:
    """After a death: look at the folder, go on to the end, and look again."""
    tally.cases.add(name)
    if ended(child(lambda: not case.readable(out))):
        tally.wrong("unreadable", f"{name}: unreadable")
    code = ended(child(lambda: case.do(made, out)))
    if code:
        tally.wrong("failed", f"{name}: going on ended with {code}")
        return
    if case.result(out) != expected:
        tally.wrong("different", f"{name}: other bytes")
    if case.left(out) or (case.replacing and not (out / "notes.txt").is_file()):
        tally.wrong("leftovers", f"{name}: {case.left(out)}")
    if ended(child(lambda: not case.readable(out))):
        tally.wrong("unreadable", f"{name}: unreadable at its end")


def at_points(count: int, seed: int = 0, names: str = "") -> Figures:
    """kill -9 at named points of every write; a count of 0 takes every point there is."""
    made, dice, tally, points = workshop(), random.Random(seed), Tally(), 0
    cases = chosen(names)
    shares = spread(count, list(cases), dice) if count else dict.fromkeys(cases, 0)
    for name, share in shares.items():
        with tempfile.TemporaryDirectory() as home:
            expected, _ = whole(cases[name], made, Path(home, "whole"))
            steps = counting(cases[name], made, Path(home, "counted"))
            points += steps
            several = range(1, steps + 1)
            if share and share < steps:
                several = sorted(dice.sample(several, share))
            for step in several:
                out = Path(home, "run")
                ready(cases[name], made, out)
                if ended(child(lambda s=step, o=out, n=name: dying(cases[n], made, o, s))) == -9:
                    tally.kills += 1
                settle(tally, name, cases[name], made, out, expected)
                shutil.rmtree(out, ignore_errors=True)
    return tally.figures() | {"points": points}


def at_random(count: int, seed: int = 0, names: str = "") -> Figures:
    """kill -9 at random moments, again and again until the fit survives."""
    made, dice, tally, cases = workshop(), random.Random(seed), Tally(), chosen(names)
    for name, share in spread(count, list(cases), dice).items():
        case = cases[name]
        with tempfile.TemporaryDirectory() as home:
            expected, seconds = whole(case, made, Path(home, "whole"))
            while share > 0:
                out = Path(home, "run")
                ready(case, made, out)
                for _ in range(min(share, 3)):
                    process = child(lambda o=out, c=case: c.do(made, o))
                    time.sleep(dice.uniform(0, seconds))
                    kill(process, signal.SIGKILL)
                    struck, share = ended(process) == -9, share - 1
                    tally.kills += struck
                    if not struck:
                        break
                settle(tally, name, case, made, out, expected)
                shutil.rmtree(out, ignore_errors=True)
    return tally.figures()


def terminated(count: int, seed: int = 0, names: str = "") -> Figures:
    """SIGTERM at random moments to the command line: exit 143, no traceback, the same bytes later."""
    from seriatim.cli.main import main

    made, dice, tally, cases = workshop(), random.Random(seed), Tally(), chosen(names)
    cases = {name: case for name, case in cases.items() if not case.replacing}
    codes: dict[int, int] = {}
    for name, share in spread(count, list(cases), dice).items():
        case = cases[name]
        with tempfile.TemporaryDirectory() as home:
            expected, seconds = whole(case, made, Path(home, "whole"))
            for _ in range(share):
                out, said = Path(home, "run"), Path(home, "said")

                def work(case: Case = case, out: Path = out) -> int:
                    """The command line, as if it had a process of its own."""
                    sys.argv = ["seriatim", *case.typed(made, out)]
                    return main()

                process = child(work, quiet=said)
                time.sleep(dice.uniform(0.01, seconds))
                kill(process, signal.SIGTERM)
                code = ended(process)
                codes[code] = codes.get(code, 0) + 1
                tally.kills += code in (143, -15)  # it had no time to heed it
                words = said.read_text(errors="replace") if said.exists() else ""
                if code not in (0, 143, -15) or "Traceback" in words:
                    tally.wrong("failed", f"{name}: exit {code}, {words[-300:]}")
                settle(tally, name, case, made, out, expected)
                shutil.rmtree(out, ignore_errors=True)
                said.unlink(missing_ok=True)
    return tally.figures() | {"codes": {str(code): many for code, many in sorted(codes.items())}}
