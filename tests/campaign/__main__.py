"""python -m tests.campaign [PART ...] [--count N] [--seed N] [--out docs/reliability.md]

Figures are printed and, with --out, written into the table between the two marks of that file; a part
that is not run keeps its row.
"""

from __future__ import annotations

import argparse
import datetime
import json
import time
from collections.abc import Callable
from pathlib import Path

from tests.campaign import children, readers, values
from tests.campaign.cases import CASES, Figures
from tests.campaign.disk import disks
from tests.campaign.flips import flips
from tests.campaign.kills import KINDS, at_points, at_random, terminated
from tests.campaign.threads import threads

BEGIN, END = "<!-- campaign -->", "<!-- end of the campaign -->"
HEAD = "| part | tried | went wrong | day, seed, seconds |\n|---|---|---|---|\n"


def of_kills(found: Figures) -> tuple[str, str]:
    """Kills in words."""
    points = f" of {found['points']:,} points" if "points" in found else ""
    many = ", ".join(f"{code}: {times}" for code, times in sorted(found["codes"].items()))
    codes = f", exit codes {many}" if many else ""
    wrong = ", ".join(f"{found[each]} {each}" for each in KINDS)
    tried = f"{found['kills']:,} kills{points}, {found['cases']} families and settings"
    return f"{tried}, {found['ordinary']} of them commands{codes}", wrong


def of_flips(found: Figures) -> tuple[str, str]:
    """Flips in words."""
    largest = f"{found['largest'] / 1e6:,.0f} MB"
    names = f"{len(found['files'])} files each, {', '.join(found['files'])}"
    tried = f"{found['flips']:,} flips, {found['runs']} runs of up to {names}, up to {largest}"
    return tried, f"{len(found['missed'])} not detected"


def of_disks(found: Figures) -> tuple[str, str]:
    """Full disks in words."""
    acts = "a fit, a save, an overwrite, an export"
    tried = f"{found['offsets']} offsets of {acts}, by {found['by']}: {found['errors']} errors"
    tried += f", {found['succeeded']} had room enough"
    return tried, f"{len(found['problems'])} problems"


def of_threads(found: Figures) -> tuple[str, str]:
    """Threads in words."""
    tried = f"{found['calls']:,} calls of {found['questions']} verbs of models, 8 threads"
    memory = ", ".join(f"{size:,} MB at {share}" for share, size in found["megabytes"].items())
    grown = f"{found['grown']:+.1%} from half to the end"
    return tried, f"{found['different']} different; memory {memory}: {grown}"


# what runs, how often in the whole campaign, and its row
Part = tuple[Callable[..., Figures], int, Callable[[Figures], tuple[str, str]]]
PARTS: dict[str, Part] = {
    "kill -9 at named points": (at_points, 0, of_kills),
    "kill -9 at random moments": (at_random, 300, of_kills),
    "SIGTERM": (terminated, 100, of_kills),
    "bit flips": (flips, 1000, of_flips),
    "full disk": (disks, 50, of_disks),
    "threads": (threads, 10_000, of_threads),
    "malformed files": (readers.run, 10_000, children.row),
    "hostile values": (values.run, 2_000, children.row),
}
NAMES = ("points", "kills", "sigterm", "flips", "disk", "threads", "readers", "values")
SHORT = dict(zip(NAMES, PARTS, strict=True))


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(SHORT)}")
    parser.add_argument("--count", type=int, help="how often, instead of as in the whole campaign")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", default="", help=f"; between; of {'; '.join(CASES)}")
    parser.add_argument("--out", help="a page with a table between two marks")
    asked = parser.parse_args()
    wrong = 0
    for short in asked.parts or SHORT:
        name = SHORT[short]
        run, usual, words = PARTS[name]
        begin = time.perf_counter()
        only = asked.cases.replace(";", ",") if words is children.row else asked.cases
        found = run(usual if asked.count is None else asked.count, asked.seed, only)
        seconds = time.perf_counter() - begin
        tried, failed = words(found)
        print(f"{name}: {tried}; {failed}; {seconds:.0f} s", flush=True)
        problems = found.get("problems") or found.get("missed") or []
        wrong += bool(problems)
        if problems:
            print(json.dumps(problems[:20], indent=1), flush=True)
        if asked.out:
            day = datetime.datetime.now(datetime.UTC).date()
            write(Path(asked.out), name, [tried, failed, f"{day}, {asked.seed}, {seconds:.0f}"])
    return int(wrong > 0)


def write(page: Path, name: str, cells: list[str]) -> None:
    """Replace, or add, a row of the table."""
    text = page.read_text()
    before, rest = text.split(BEGIN)
    table, after = rest.split(END)
    rows = {line.split("|")[1].strip(): line for line in table.splitlines() if line[:1] == "|"}
    rows[name] = f"| {name} | " + " | ".join(cells) + " |"
    lines = "".join(f"{rows[each]}\n" for each in PARTS if each in rows)
    page.write_text(f"{before}{BEGIN}\n{HEAD}{lines}{END}{after}")


if __name__ == "__main__":
    raise SystemExit(main())
