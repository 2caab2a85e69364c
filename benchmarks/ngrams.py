"""Counting and scoring words against KenLM: time, memory, and the same numbers.

    pip install -c constraints.txt -e '.[benchmark]'
    python benchmarks/ngrams.py [words, default 5,000,000]

KenLM's own programs `lmplz` and `query` are looked for on the PATH or in the folder KENLM_BIN; the `kenlm` package's source
distribution holds their sources (cmake, Boost). Data: wiki100 in SERIATIM_DATA or ../shared/data.
"""

from __future__ import annotations

import lzma
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kenlm
from record import write_row

import seriatim as st
from seriatim.measuring.likelihood import score

DATA = Path(os.environ.get("SERIATIM_DATA") or Path(__file__).parents[2] / "shared/data")
WORDS = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000
TIMES = 3  # the best of so many, ours and theirs by turns
PACKAGES = ("kenlm", "numpy")


def program(name: str) -> str | None:
    return shutil.which(name, path=os.environ.get("KENLM_BIN")) or shutil.which(name)


def run(*command: str, **files) -> tuple[float, float]:
    """Wall-clock seconds of a program, and its peak of resident memory in MB."""
    begin = time.perf_counter()
    child = subprocess.Popen(
        command, stderr=subprocess.DEVNULL, **{"stdout": subprocess.DEVNULL, **files}
    )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{command[0]} failed with {child.returncode}")
    return time.perf_counter() - begin, usage.ru_maxrss / 1e3


def timed(best: dict[str, float], name: str, work: Callable[[], Any]) -> Any:
    """The result, and the best time so far under this name."""
    begin = time.perf_counter()
    result = work()
    best[name] = min(best.get(name, math.inf), time.perf_counter() - begin)
    return result


def fit(text: Path, out: Path, *settings: str) -> tuple[float, float]:
    return run(
        sys.executable,
        "-m",
        "seriatim",
        "fit",
        "language",
        "kneser-ney",
        str(text),
        "--unit",
        "token",
        "--by",
        "line",
        "--order",
        "5",
        "--out",
        str(out),
        "--overwrite",
        *settings,
    )


def build(text: Path, folder: Path) -> None:
    """From a text file to a model on disk, the whole program, its start included."""
    ours, theirs = [], []
    for _ in range(TIMES):
        ours.append(fit(text, folder / "run"))
        with open(text) as source, open(folder / "kenlm.arpa", "w") as target:
            theirs.append(
                run(
                    program("lmplz"),
                    "-o",
                    "5",
                    "-S",
                    "800M",
                    "-T",
                    str(folder),
                    stdin=source,
                    stdout=target,
                )
            )
    (seconds, memory), (seconds_2, memory_2) = min(ours), min(theirs)
    write_row(
        "ngrams.py",
        f"build a 5-gram of {WORDS:,} words, text to disk",
        f"{seconds:.1f} s, {memory:.0f} MB",
        f"lmplz -S 800M: {seconds_2:.1f} s, {memory_2:.0f} MB",
        f"{seconds_2 / seconds:.2f} times as fast",
        PACKAGES,
    )


def bounded(text: Path, folder: Path) -> None:
    """All of wiki100 in a gigabyte, with the same weights as without a limit."""
    seconds, memory = fit(text, folder / "bounded", "--memory", "1GB")
    seconds_2, memory_2 = fit(text, folder / "free")
    same = (folder / "bounded/weights.safetensors").read_bytes() == (
        folder / "free/weights.safetensors"
    ).read_bytes()
    write_row(
        "ngrams.py",
        "build a 5-gram of all 16.7 M words with --memory 1GB",
        f"{seconds:.1f} s, {memory:.0f} MB",
        f"without the limit: {seconds_2:.1f} s, {memory_2:.0f} MB",
        "the same bytes" if same else "DIFFERENT WEIGHTS",
        PACKAGES,
    )
    begin = time.perf_counter()
    st.load(folder / "free").model.tables.child(
        1, *[st.load(folder / "free").model.tables.keys[0][5:6]] * 2
    )
    write_row(
        "ngrams.py",
        f"open its model of {(folder / 'free/weights.safetensors').stat().st_size / 1e6:.0f} MB and look something up",
        f"{(time.perf_counter() - begin) / 2 * 1e3:.0f} ms",
        "",
        "most of it is the vocabulary",
        PACKAGES,
    )


def scoring(rest: list[str], folder: Path) -> None:
    """Sentences never seen, from strings to log-probabilities."""
    ours, theirs = st.load(folder / "run"), kenlm.Model(str(folder / "kenlm.arpa"))
    words = sum(len(line.split()) + 1 for line in rest)
    best: dict[str, float] = {}
    for _ in range(TIMES + 2):
        scores_2 = timed(best, "their score", lambda: [theirs.score(line) for line in rest])
        timed(
            best,
            "their full_scores",
            lambda: [[each[0] for each in theirs.full_scores(line)] for line in rest],
        )
        scores = timed(best, "our score", lambda: ours.score(st.Sequences.of(rest, unit="token")))
        timed(
            best,
            "our full scores",
            lambda: score(
                ours.model, ours.codec.encode(st.Sequences.of(rest, unit="token").main), "line"
            ),
        )
    apart = max(
        abs(a["log_prob"] / math.log(10) - b)
        for a, b in zip(scores["items"], scores_2, strict=True)
    )
    speed = {name: f"{words / seconds / 1e6:.2f} M words/s" for name, seconds in best.items()}
    write_row(
        "ngrams.py",
        f"score {words:,} words: a number for each sentence, from Python",
        speed["our score"],
        f"kenlm's score: {speed['their score']}",
        f"{best['their score'] / best['our score']:.2f} times as fast; scores differ by at most {apart:.1e} (log10)",
        PACKAGES,
    )
    write_row(
        "ngrams.py",
        f"score {words:,} words: a number for each word, from Python",
        speed["our full scores"],
        f"kenlm's full_scores: {speed['their full_scores']}",
        f"{best['their full_scores'] / best['our full scores']:.1f} times as fast",
        PACKAGES,
    )
    if program("query"):
        (folder / "rest.txt").write_text("\n".join(rest) + "\n")
        run(
            str(Path(program("query")).with_name("build_binary")),
            str(folder / "kenlm.arpa"),
            str(folder / "kenlm.bin"),
        )
        with open(folder / "rest.txt") as source, open(folder / "empty.txt", "w+") as nothing:
            loading = min(
                run(program("query"), "-v", "summary", str(folder / "kenlm.bin"), stdin=nothing)[0]
                for _ in range(TIMES)
            )
            seconds = float("inf")
            for _ in range(TIMES):
                source.seek(0)
                seconds = min(
                    seconds,
                    run(program("query"), "-v", "summary", str(folder / "kenlm.bin"), stdin=source)[
                        0
                    ],
                )
        seconds -= loading
        write_row(
            "ngrams.py",
            f"score {words:,} words, whole text",
            f"{speed['our score']} (two threads)",
            f"KenLM's query, C++: {words / seconds / 1e6:.2f} M words/s (one thread)",
            f"{seconds / best['our score']:.2f} times as fast",
            PACKAGES,
        )


if __name__ == "__main__":
    if program("lmplz") is None:
        raise SystemExit(
            "lmplz is not on the PATH and not in KENLM_BIN: see the head of this script"
        )
    with lzma.open(DATA / "text/wiki100.txt.xz", "rt") as file:
        lines = file.read().splitlines()
    with tempfile.TemporaryDirectory() as name:
        folder, taken, count = Path(name), 0, 0
        while taken < len(lines) and count < WORDS:
            count += len(lines[taken].split())
            taken += 1
        (folder / "some.txt").write_text("\n".join(lines[:taken]) + "\n")
        (folder / "all.txt").write_text("\n".join(lines) + "\n")
        build(folder / "some.txt", folder)
        scoring([line for line in lines[taken : taken + 30_000] if line.strip()], folder)
        bounded(folder / "all.txt", folder)
