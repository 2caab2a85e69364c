"""Rows of BENCHMARKS.md: what was measured, against whom, when and with which versions."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from datetime import date
from importlib.metadata import version
from pathlib import Path

TABLE = Path(__file__).parent.parent / "BENCHMARKS.md"
HEAD = """# Benchmarks

Each row is written by the script it names, which runs us and a peer in one process on the same machine.
Machines are shared and noisy: only ratios count.

| script | what | ours | peer | ratio or difference | date, versions |
|---|---|---|---|---|---|
"""


def write_row(
    script: str,
    what: str,
    ours: str,
    peer: str,
    ratio: str,
    packages: tuple[str, ...] = ("torch", "numpy"),
) -> None:
    """Print a row and put it in the table, in place of the one with the same script and title."""
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    row = f"| {script} | {what} | {ours} | {peer} | {ratio} | {date.today()}, Python {platform.python_version()}, {versions} |"
    print(row)
    lines = (TABLE.read_text() if TABLE.exists() else HEAD).splitlines()
    kept = [line for line in lines if not line.startswith(f"| {script} | {what} |")]
    TABLE.write_text("\n".join([*kept, row]) + "\n")


def best_of(work: Callable[[], object], times: int) -> float:
    """Seconds of the fastest of several runs, after one to warm up."""
    work()
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return min(found)
