"""kill -9 at named points of writes and at random moments, and SIGTERM: whatever strikes, the fit that
is gone on with comes to the same bytes, no folder is unreadable and nothing is left lying.

Two at a time. Each worker has imported everything and forks the processes that are struck, so that a kill costs
tenths of a second; one in ten is started as a user would start it, by a command.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from seriatim import storage
from tests.campaign.cases import (
    ALWAYS,
    CASES,
    Case,
    Figures,
    Known,
    child,
    chosen,
    ended,
    imported,
    kill,
    learned,
    ordinary,
    spread,
    workshop,
)
from tests.examples import Workshop

WORKERS = 2
ORDINARY = 10  # one in so many is started by a command
CHUNK = 10  # kills of a case that one worker does, one after another
IN_A_ROW = 3  # kills of one folder, at random moments
TRIES = 5  # for each kill that is wanted; some come too late
KINDS = ("different", "unreadable", "leftovers", "failed")


class Tally:
    """What was found."""

    def __init__(self) -> None:
        self.kills = self.ordinary = 0
        self.different = self.unreadable = self.leftovers = self.failed = 0
        self.problems: list[str] = []
        self.codes: dict[str, int] = {}

    def wrong(self, kind: str, words: str) -> None:
        """One that went wrong."""
        setattr(self, kind, getattr(self, kind) + 1)
        self.problems.append(words)

    def add(self, other: Tally) -> None:
        """What another one found, too."""
        for name in ("kills", "ordinary", *KINDS):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.problems += other.problems
        for code, many in other.codes.items():
            self.codes[code] = self.codes.get(code, 0) + many


class Site:
    """Where one case is struck, again and again."""

    def __init__(self, name: str, known: Known, made: Workshop, home: Path, dice: random.Random):
        self.name, self.case, self.known, self.made = name, CASES[name], known, made
        self.out, self.said, self.dice, self.tally = home / "run", home / "said", dice, Tally()
        imported(ALWAYS)
        imported(known.modules)

    def ready(self) -> None:
        """What is there before, and nothing else."""
        for place in (self.out, self.out.with_name("run.new"), self.out.with_name("run.old")):
            shutil.rmtree(place, ignore_errors=True)
        self.said.unlink(missing_ok=True)
        if self.case.replacing:
            assert ended(child(lambda: self.case.prepare(self.made, self.out))) == 0

    def command(self) -> int:
        """The fit as a command, in a process of its own."""
        return ordinary(["-m", "seriatim", *self.case.typed(self.made, self.out)], self.said)

    def forked(self) -> int:
        """The command line in a process that has imported everything."""

        def work() -> int:
            from seriatim.cli.start import start

            sys.argv = ["seriatim", *self.case.typed(self.made, self.out)]
            return start()

        return child(work, self.said)

    def wait(self, process: int, by_command: bool) -> None:
        """For a random moment of the fit; that of a command begins when it has written something,
        since most of its time is its start."""
        before, late = self.written(), time.perf_counter() + 3 * self.known.ordinary
        while by_command and self.written() == before and time.perf_counter() < late:
            time.sleep(0.005)
            if os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                return
        time.sleep(self.dice.uniform(0, self.known.seconds))

    def written(self) -> list[int]:
        """When files were last made in the folder, and in the one that is to replace it."""
        places = (self.out, self.out.with_name("run.new"))
        return [place.stat().st_mtime_ns for place in places if place.is_dir()]

    def settle(self) -> None:
        """After a death: look at the folder, go on to the end, and look again."""
        case, out, wrong = self.case, self.out, self.tally.wrong
        if ended(child(lambda: not case.readable(out))):
            wrong("unreadable", f"{self.name}: unreadable")
        code = ended(child(lambda: case.do(self.made, out)))
        if code:
            wrong("failed", f"{self.name}: going on ended with {code}")
            return
        if case.result(out) != self.known.expected:
            wrong("different", f"{self.name}: other bytes")
        if case.left(out) or (case.replacing and not (out / "notes.txt").is_file()):
            wrong("leftovers", f"{self.name}: {case.left(out)}")
        if ended(child(lambda: not case.readable(out))):
            wrong("unreadable", f"{self.name}: unreadable at its end")


# -- what strikes: each gets a site and numbers, and every tenth number is a command
def struck_at_points(site: Site, steps: list[tuple[int, int]]) -> None:
    """Die at these named points: the number of the kill, and that of the point."""
    for number, step in steps:
        site.ready()
        by_command = number % ORDINARY == 0
        if by_command:
            words = [site.name, str(site.made.folder), str(site.out), str(step)]
            process = ordinary(["-m", "tests.campaign.kills", *words], site.said)
        else:
            process = child(lambda s=step: dying(site.case, site.made, site.out, s))
        struck = ended(process) == -signal.SIGKILL
        site.tally.kills += struck
        site.tally.ordinary += struck and by_command
        if not struck:
            site.tally.wrong("failed", f"{site.name}: not struck at point {step}")
        site.settle()


def dying(case: Case, made: Workshop, folder: Path, step: int) -> None:
    """Do it, and die at the n-th named point."""
    left = [step]

    def reached(point: str) -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    storage.reached = reached
    case.do(made, folder)


def struck_at_random(site: Site, numbers: list[int]) -> None:
    """kill -9 at random moments, again and again until the fit survives."""
    waiting, tries = list(numbers), TRIES * len(numbers)
    while waiting and tries:
        site.ready()
        for _ in range(IN_A_ROW):
            tries -= 1
            by_command = waiting[0] % ORDINARY == 0
            process = (
                site.command()
                if by_command
                else child(lambda: site.case.do(site.made, site.out), site.said)
            )
            site.wait(process, by_command)
            kill(process, signal.SIGKILL)
            if ended(process) != -signal.SIGKILL:
                break  # it was done before
            waiting.pop(0)
            site.tally.kills += 1
            site.tally.ordinary += by_command
            if not waiting:
                break
        site.settle()


def struck_by_terms(site: Site, numbers: list[int]) -> None:
    """SIGTERM at random moments to the command line: exit 143, no traceback, the same bytes later."""
    waiting, tries = list(numbers), TRIES * len(numbers)
    while waiting and tries:
        tries -= 1
        site.ready()
        by_command = waiting[0] % ORDINARY == 0
        process = site.command() if by_command else site.forked()
        site.wait(process, by_command)
        kill(process, signal.SIGTERM)
        code = ended(process)
        site.tally.codes[str(code)] = site.tally.codes.get(str(code), 0) + 1
        words = site.said.read_text(errors="replace") if site.said.exists() else ""
        if code not in (0, 143, -15) or "Traceback" in words:  # done before, or not yet heeded
            site.tally.wrong("failed", f"{site.name}: exit {code}, {words[-300:]}")
        if code == 143:
            waiting.pop(0)
            site.tally.kills += 1
            site.tally.ordinary += by_command
        site.settle()


STRIKES: dict[str, Callable[[Site, list], None]] = {
    "points": struck_at_points,
    "random": struck_at_random,
    "terms": struck_by_terms,
}


# -- two at a time
Task = tuple[str, str, Known, list, int]


def within(task: Task) -> Tally:
    """In a worker: some kills of a case."""
    strike, name, known, numbers, seed = task
    dice = random.Random(f"{strike} {name} {numbers} {seed}")
    with tempfile.TemporaryDirectory(prefix="campaign-") as home:
        site = Site(name, known, MADE[0], Path(home), dice)
        STRIKES[strike](site, numbers)
        return site.tally


def look(name: str) -> Known:
    """In a worker: what comes of a case if nobody stops it."""
    with tempfile.TemporaryDirectory(prefix="campaign-") as home:
        return learned(CASES[name], MADE[0], Path(home))


MADE: list[Workshop] = []  # what the workers inherit


@contextmanager
def workers() -> Iterator[multiprocessing.pool.Pool]:
    """Two processes with everything imported and nothing computed."""
    MADE[:] = [workshop()]
    imported(ALWAYS)
    pool = multiprocessing.get_context("fork").Pool(WORKERS)
    try:
        yield pool
        pool.close()
    except BaseException:
        pool.terminate()
        raise
    finally:
        pool.join()


def struck(
    strike: str, names: list[str], seed: int, plan: Callable[[dict[str, Known]], dict[str, list]]
) -> Figures:
    """Strike all these cases, as often as the plan says when they are known."""
    total = Tally()
    with workers() as pool:
        known = dict(zip(names, pool.map(look, names, chunksize=1), strict=True))
        tasks: list[Task] = []
        planned = plan(known)
        for name in sorted(planned, key=lambda each: -known[each].seconds):
            several = planned[name]
            for begin in range(0, len(several), CHUNK):
                tasks.append((strike, name, known[name], several[begin : begin + CHUNK], seed))
        for found in pool.imap_unordered(within, tasks):
            total.add(found)
    points = sum(each.points for each in known.values())
    return vars(total) | {"cases": len(planned), "points": points}


def numbered(count: int, names: list[str], dice: random.Random) -> dict[str, list[int]]:
    """So many kills over all cases; their numbers, so that every tenth can be another."""
    several = iter(range(count))
    return {
        name: [next(several) for _ in range(share)]
        for name, share in spread(count, names, dice).items()
    }


def at_points(count: int, seed: int = 0, names: str = "") -> Figures:
    """kill -9 at named points of every write; a count of 0 takes every point there is."""
    dice, cases = random.Random(seed), list(chosen(names))

    def plan(known: dict[str, Known]) -> dict[str, list]:
        shares = spread(count, cases, dice) if count else {n: known[n].points for n in cases}
        found, number = {}, 0
        for name, share in shares.items():
            several = range(1, known[name].points + 1)
            steps = sorted(dice.sample(several, min(share, len(several))))
            found[name] = list(enumerate(steps, number))
            number += len(steps)
        return found

    return struck("points", cases, seed, plan)


def at_random(count: int, seed: int = 0, names: str = "") -> Figures:
    """kill -9 at random moments."""
    dice, cases = random.Random(seed), list(chosen(names))
    found = struck("random", cases, seed, lambda known: numbered(count, cases, dice))
    return {key: value for key, value in found.items() if key != "points"}


def terminated(count: int, seed: int = 0, names: str = "") -> Figures:
    """SIGTERM at random moments."""
    dice, cases = random.Random(seed), list(chosen(names))
    found = struck("terms", cases, seed, lambda known: numbered(count, cases, dice))
    return {key: value for key, value in found.items() if key != "points"}


if __name__ == "__main__":
    case_name, folder, run, place = sys.argv[1:]
    dying(CASES[case_name], Workshop(Path(folder), 0), Path(run), int(place))
