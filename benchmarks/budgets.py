"""Does a comparison keep its time, on a quiet machine and beside four busy processes?

    python benchmarks/budgets.py [NAME ...] [--minutes 1]

NAME is one of shakespeare, docs, sms, ewt, wnut, dates, etth1, m4; without names all are run. The peer is the clock: seconds that passed from
the start of the command to its end, imports, reading and report included, by those asked for.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from record import write_row

DATA = Path(os.environ.get("SERIATIM_DATA", Path(__file__).parent.parent.parent / "shared/data"))
BUSY = 4  # processes that do nothing but compute

SETS: dict[str, list[str]] = {
    "shakespeare": ["language", "text/tinyshakespeare.txt"],
    "docs": ["language", "python-docs"],
    "sms": ["classify", "classify/SMSSpamCollection", "--columns", "label,text", "--distinct"],
    "ewt": ["tag", "tag/en_ewt-ud-train.conllu.xz"],
    "wnut": ["tag", "tag/wnut17train.conll.gz"],
    "dates": ["translate", "dates"],
    "etth1": ["forecast", "series/ETTh1.csv", "--horizon", "24"],
    "m4": ["forecast", "series/m4-weekly-train.csv.xz", "--horizon", "13"],
}


def command(name: str, folder: Path) -> list[str]:
    """What is typed; compressed files are laid open, so that their names say what they are."""
    task, source, *more = SETS[name]
    path = DATA / source
    if path.suffix in (".gz", ".xz"):
        opener = gzip.open if path.suffix == ".gz" else lzma.open
        plain = folder / path.stem.replace(".conll", ".tsv").replace(".tsvu", ".conllu")
        with opener(path) as file:
            plain.write_bytes(file.read())
        path = plain
        if name == "wnut":
            more = ["--input-format", "columns"]
    found = str(path) if path.exists() else source
    if name == "sms":
        more += ["--input-format", "tsv"]
    return [sys.executable, "-m", "seriatim", "compare", task, found, *more]


def timed(name: str, minutes: float, busy: int) -> tuple[float, float, int]:
    """Seconds that passed by those asked for, the longest slot by a share, and how many networks."""
    with tempfile.TemporaryDirectory() as folder:
        asked = [*command(name, Path(folder)), "--minutes", str(minutes), "--out", f"{folder}/out"]
        beside = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
        try:
            begin = time.perf_counter()
            done = subprocess.run(asked, capture_output=True, text=True)
            passed = time.perf_counter() - begin
        finally:
            for process in beside:
                process.kill()
                process.wait()
        if done.returncode:
            raise SystemExit(f"{' '.join(asked)}\n{done.stderr[-2000:]}")
        table = json.loads((Path(folder) / "out/table.json").read_text())
        slots = [
            row["seconds"]
            for row in table["rows"]
            if row.get("updates") is not None and "+" not in row["model"]
        ]  # a mixture's seconds are those of its parts
        share = table["slot_seconds"] or 1.0
        return passed / (60 * minutes), max(slots, default=0.0) / share, len(slots)


def main() -> None:
    """Each data set, quiet and busy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(SETS))
    parser.add_argument("--minutes", type=float, default=1.0)
    given = parser.parse_args()
    for name in given.names:
        for busy in (0, BUSY):
            passed, slot, networks = timed(name, given.minutes, busy)
            beside = f"beside {busy} busy processes" if busy else "quiet"
            write_row(
                "budgets.py",
                f"compare {' '.join(SETS[name][:2])} --minutes {given.minutes:g}, {beside}",
                f"{60 * given.minutes * passed:.1f} s",
                f"asked for: {60 * given.minutes:.0f} s",
                f"{passed:.2f} of the time; longest of {networks} fits {slot:.2f} of its share",
            )


if __name__ == "__main__":
    main()
