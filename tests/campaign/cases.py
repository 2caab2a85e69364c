"""What is killed, filled up and flipped: fits of many families and settings, each with a small run."""

from __future__ import annotations

import atexit
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import seriatim as st
from seriatim import storage
from seriatim.errors import RunError
from tests.examples import EXAMPLES, Workshop

Figures = dict[str, Any]
NETWORK = {
    "width": 12,
    "rows": 4,
    "length": 12,
    "updates": 12,
    "validations": 3,
    "dropout": 0.2,
    "checkpoint_seconds": 0.0,
    "threads": 1,
}
FEW = {"updates": 8, "validations": 2, "checkpoint_seconds": 0.0, "threads": 1}
ALWAYS = ["seriatim.fitting", "seriatim.cli.printing", "seriatim.cli.main"]
ALWAYS += ["numba", "sklearn.linear_model"]
KEPT = ("weights.safetensors", "codec.json", "config.toml", "seen.safetensors")  # of a run


@dataclass(frozen=True)
class Case:
    """One fit, or a comparison, that can be begun and gone on with."""

    task: str
    model: str
    settings: dict[str, Any] = field(default_factory=dict)
    replacing: bool = False  # an earlier run
    compared: bool = False

    def do(self, workshop: Workshop, out: Path) -> None:
        """Begin it, or go on."""
        data = workshop.train(self.task, "neural")
        asked = self.settings | {"out": str(out), "resume": True}
        if self.compared:
            st.call("compare", self.task, data, models=self.model, **asked)
        else:
            more = {"overwrite": True} if self.replacing else {}
            st.call("fit", self.task, data, model=self.model, **asked, **more)

    def typed(self, workshop: Workshop, out: Path) -> list[str]:
        """The same as a command."""
        data = str(workshop.train(self.task, "neural"))
        verb = ["compare", self.task, data, "--models", self.model]
        words = verb if self.compared else ["fit", self.task, self.model, data]
        for name, value in self.settings.items():
            words += [f"--{name.replace('_', '-')}", str(value).lower()]
        more = ["--overwrite"] if self.replacing else []
        return [*words, "--out", str(out), "--resume", *more]

    def prepare(self, workshop: Workshop, out: Path) -> None:
        """What is there before."""
        if self.replacing:
            data = workshop.train(self.task, "neural")
            st.fit(self.task, "markov", data, out=out, order=1)
            (out / "notes.txt").write_text("mine")

    def result(self, out: Path) -> dict[str, bytes]:
        """The bytes that must be the same whatever happened."""
        runs = sorted((out / "runs").iterdir()) if self.compared else [out]
        kept = [run / name for run in runs for name in KEPT]
        return {str(each.relative_to(out)): each.read_bytes() for each in kept if each.is_file()}

    def left(self, out: Path) -> list[str]:
        """What should not be there any more."""
        names = [each.name for each in out.rglob("*")] + [each.name for each in beside(out)]
        return [
            name
            for name in names
            if name.endswith((".partial", ".new", ".old"))
            or name.startswith(("checkpoint-", ".replacing", "ids.npy"))
        ]

    def readable(self, out: Path) -> bool:
        """Whether what is there is a run, or says that it is none yet."""
        try:
            for run in sorted((out / "runs").glob("*")) if self.compared else [out]:
                st.load(run)
        except RunError as error:
            told = ("unfinished", "not a run folder", "no such folder")
            return not self.replacing and any(words in str(error) for words in told)
        return True


def beside(out: Path) -> list[Path]:
    """What stands beside a folder under its name."""
    return [each for each in out.parent.glob(f"{out.name}.*") if each != out]


CASES: dict[str, Case] = {
    "kneser-ney": Case("language", "kneser-ney", {"order": 3}),
    "kneser-ney, memory bound": Case("language", "kneser-ney", {"order": 3, "memory": 1}),
    "word vectors": Case("words", "skip-gram", FEW | {"width": 8}),
    "lstm": Case("language", "lstm", NETWORK | {"layers": 2}),
    "transformer": Case("language", "transformer", NETWORK | {"heads": 2, "context": 12}),
    "lstm, direct": Case("language", "lstm", NETWORK | {"direct": 3, "cells": 64}),
    "gru, accumulate 4": Case("language", "gru", NETWORK | {"accumulate": 4}),
    "lstm, average": Case("language", "lstm", NETWORK | {"average": "moving"}),
    "lstm, reach beyond a batch": Case("language", "lstm", NETWORK | {"bptt": 24}),
    "translator": Case("translate", "gru", FEW | {"width": 12, "rows": 4, "unit": "token"}),
    "tagger with a chain": Case("tag", "lstm", FEW | {"width": 8, "rows": 4, "chain": True}),
    "classifier": Case("classify", "lstm", FEW | {"width": 8, "rows": 4}),
    "forecaster": Case(
        "forecast", "gru", FEW | {"width": 8, "rows": 4, "horizon": 3, "context": 8}
    ),
    "autoencoder": Case(
        "autoencode", "gru", FEW | {"width": 8, "rows": 4, "latent": 2, "length": 8}
    ),
    "mixture": Case("language", "kneser-ney+lstm", NETWORK),
    "replacing a run": Case("language", "lstm", NETWORK, replacing=True),
    "comparison": Case(
        "language", "unigram,lstm", NETWORK | {"updates": 4}, replacing=False, compared=True
    ),
}


@dataclass(frozen=True)
class Known:
    """What comes of a case if nobody stops it."""

    expected: dict[str, bytes]
    seconds: float  # in a forked child, which has imported everything
    ordinary: float  # the same, started as a user would start it
    modules: list[str]  # what it imports
    points: int  # named points of writes that it passes


# -- children that may die
def child(work: Callable[[], int | None], quiet: Path | None = None) -> int:
    """Do this in a forked child; its process id. What it says goes into a file."""
    sys.stdout.flush()
    made = os.fork()
    if made:
        return made
    code = 70
    try:
        if quiet is not None:
            handle = os.open(quiet, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(handle, 1)
            os.dup2(handle, 2)
        code = work() or 0
    except RunError as error:
        code = 0 if "holds a finished fit" in str(error) else 71
    finally:
        os._exit(code)


def ordinary(arguments: list[str], quiet: Path) -> int:
    """`python` with these arguments, as a user would start it: nothing is imported before."""
    return child(lambda: os.execv(sys.executable, [sys.executable, *arguments]), quiet)


def ended(process: int) -> int:
    """The exit code of a child; that of a signal is negative."""
    _, status = os.waitpid(process, 0)
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def imported(names: list[str]) -> None:
    """Import what children will need, so that they have it from the beginning; nothing is computed
    here, since the threads of some libraries do not survive a fork."""
    for name in names:
        if name not in sys.modules and not name.startswith(("__", "pytest")):
            with suppress(Exception):
                import_module(name)


def learned(case: Case, workshop: Workshop, home: Path) -> Known:
    """Do it three times, in children: the first tells what it imports and which points it passes,
    the second how long it takes, the third is a command. All come to the same bytes."""
    first, second, third, names = (home / name for name in ("first", "second", "third", "names"))
    imported(ALWAYS)
    for out in (first, second, third):
        assert ended(child(lambda o=out: case.prepare(workshop, o))) == 0

    def counted() -> None:
        """Do it, and tell what was imported; a point is a letter in a file."""
        with open(home / "points", "ab", buffering=0) as file:
            storage.reached = lambda point: file.write(b".") and None
            case.do(workshop, first)
        names.write_text("\n".join(sys.modules))

    assert ended(child(counted)) == 0, case
    imported(names.read_text().splitlines())
    begin = time.perf_counter()
    assert ended(child(lambda: case.do(workshop, second))) == 0, case
    seconds, begin = time.perf_counter() - begin, time.perf_counter()
    command = ["-m", "seriatim", *case.typed(workshop, third)]
    assert ended(ordinary(command, home / "said")) == 0, (home / "said").read_text()
    slow, expected = time.perf_counter() - begin, case.result(first)
    assert expected == case.result(second) == case.result(third), case
    points = (home / "points").stat().st_size
    return Known(expected, seconds, slow, names.read_text().splitlines(), points)


def workshop() -> Workshop:
    """Data for all, in a folder that goes with the process."""
    made = Workshop(Path(tempfile.mkdtemp(prefix="seriatim-")), 0)
    atexit.register(shutil.rmtree, made.folder, ignore_errors=True)
    for task in EXAMPLES:
        made.place(task)
    return made


def chosen(names: str = "") -> dict[str, Case]:
    """The cases that are asked for; all, if none is named."""
    return {name: case for name, case in CASES.items() if not names or name in names.split(";")}


def spread(count: int, names: list[str], dice: random.Random) -> dict[str, int]:
    """So many tries over all of them, as evenly as it goes."""
    shares = dict.fromkeys(names, count // len(names))
    for name in dice.sample(names, count % len(names)):
        shares[name] += 1
    return {name: share for name, share in shares.items() if share}


def kill(process: int, number: int) -> None:
    """Send a signal, if there is still somebody."""
    with suppress(ProcessLookupError):
        os.kill(process, number)
