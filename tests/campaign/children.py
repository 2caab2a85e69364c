"""Work in child processes of bounded memory and time: what they report, and what became of those that
did not come back.

A batch is a range of numbers, each the seed of one case. The child writes the number of the case it is
at, so that a crash, an endless loop or an exhausted memory is known by its number, and the rest of the
batch goes on in another child.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
SPACE = 1_500_000_000  # bytes of address space
BESIDE = SPACE  # beyond what libraries have taken, where they alone take most of that
SECONDS = 10.0  # of processor time for one case
BATCH = 1_000  # cases of one child
WORKERS = 2  # children at a time
Report = dict[str, Any]


def both(
    module: str, cases: list[str], count: int, seed: int, slow: tuple[str, ...] = ()
) -> dict[str, Report]:
    """So many of each case, two children at a time; those that take longest first."""
    found = {case: empty() for case in cases}
    parts = [(case, at) for case in cases for at in range(0, count, BATCH)]
    parts.sort(key=lambda part: part[0] not in slow)

    def one(part: tuple[str, int]) -> tuple[str, Report]:
        """A batch, in a folder of its own."""
        case, begin = part
        with tempfile.TemporaryDirectory(prefix="campaign-") as place:
            end = min(count, begin + BATCH)
            return case, batches(module, case, begin, end, seed, Path(place))

    left = {case: sum(part[0] == case for part in parts) for case in cases}
    with ThreadPoolExecutor(WORKERS) as pool:
        for done in as_completed([pool.submit(one, part) for part in parts]):
            case, report = done.result()
            add(found[case], report)
            left[case] -= 1
            if not left[case]:
                print(told(case, found[case]), flush=True)
                for wrong in found[case]["wrong"][:5]:
                    print("   ", wrong, flush=True)
    return found


def empty() -> Report:
    """Nothing found yet."""
    report: Report = dict.fromkeys(("cases", "accepted", "refused", "peak", "space"), 0)
    return report | {"wrong": [], "seconds": 0.0}


def add(total: Report, found: Report) -> None:
    """What another batch found, too."""
    for key in ("cases", "accepted", "refused", "seconds"):
        total[key] += found.get(key, 0)
    for key in ("peak", "space"):
        total[key] = max(total[key], found.get(key, 0))
    total["wrong"] += found["wrong"]


def batches(module: str, case: str, begin: int, end: int, seed: int, place: Path) -> Report:
    """All cases from `begin` to `end`, however many children that takes."""
    total = empty()
    while begin < end:
        found, reached = batch(module, case, begin, end, seed, place)
        add(total, found | {"cases": reached - begin})
        begin = reached
    return total


def batch(
    module: str, case: str, begin: int, end: int, seed: int, place: Path
) -> tuple[Report, int]:
    """One child; its report, and the number of the case to go on with."""
    mark = place / "at"
    mark.write_text(str(begin))
    report = place / "report.json"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", module, "--child", case, str(begin), str(end), str(seed)]
    started = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        code = subprocess.run(
            [*command, str(place)],
            cwd=ROOT,
            env=os.environ
            | {"OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1", "MALLOC_ARENA_MAX": "1"},
            stdout=said,
            stderr=said,
        ).returncode
        said.seek(0)
        words = said.read()[-300:].decode(errors="replace")
    if code == 0 and report.is_file():
        return json.loads(report.read_text()), end
    at = int(mark.read_text())
    kept = json.loads(report.read_text()) if report.is_file() else {}
    ending = {"case": case, "number": at, "seed": seed, "error": f"ended with {code}: {words}"}
    seconds = time.perf_counter() - started
    wrong = [*kept.get("wrong", []), ending]
    counts = {key: kept.get(key, 0) for key in ("accepted", "refused")}
    return {**counts, "wrong": wrong, "seconds": seconds}, at + 1


def child(arguments: list[str], prepare: Callable[[str, Path], Callable[[int, int], bool]]) -> None:
    """Within a child: `prepare` imports what is needed and gives a function of a number and a seed,
    which says whether the case was accepted; whatever it raises is wrong."""
    case, begin, end, seed, folder = arguments
    place = Path(folder)
    one = prepare(case, place)
    signal.signal(signal.SIGPROF, too_long)
    space = SPACE if taken() < SPACE / 2 else taken() + BESIDE
    resource.setrlimit(resource.RLIMIT_AS, (space, space))
    found: Report = {"accepted": 0, "refused": 0, "wrong": [], "space": space // 10**6}
    started = time.perf_counter()
    for number in range(int(begin), int(end)):
        (place / "at").write_text(str(number))
        limit_time()
        try:
            found["accepted" if one(number, int(seed)) else "refused"] += 1
        except BaseException as error:  # whatever it is, it is not ours
            words = f"{type(error).__name__}: {str(error)[:200]}"
            found["wrong"].append(
                {"case": case, "number": number, "seed": int(seed), "error": words}
            )
        (place / "report.json").write_text(json.dumps(found))
    found["seconds"] = time.perf_counter() - started
    found["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024  # MB
    (place / "report.json").write_text(json.dumps(found))


def limit_time() -> None:
    """Another case begins: an error after so many seconds of processor time; where no Python is run
    meanwhile, the system ends the process a little later."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    spent = resource.getrusage(resource.RUSAGE_SELF)
    most = int(spent.ru_utime + spent.ru_stime + SECONDS) + 5
    resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))


def too_long(number: int, frame: Any) -> None:
    """A case that does not end."""
    raise TimeoutError(f"more than {SECONDS:g} s")


def taken() -> int:
    """Bytes of address space that this process has taken."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmSize:")[1].split()[0]) * 1024


def together(found: dict[str, Report]) -> Report:
    """The figures of several cases, and the sum of them."""
    return {
        "each": found,
        "cases": sum(each["cases"] for each in found.values()),
        "accepted": sum(each["accepted"] for each in found.values()),
        "refused": sum(each["refused"] for each in found.values()),
        "space": max((each["space"] for each in found.values()), default=0),
        "problems": [wrong for each in found.values() for wrong in each["wrong"]],
    }


def row(found: Report) -> tuple[str, str]:
    """The same in words, for a table: what was tried, and what went wrong."""
    many = len(found["each"])
    tried = f"{found['cases']:,} of {many} kinds: {found['refused']:,} refused, {found['accepted']:,} accepted"
    return (
        f"{tried}; {found['space']:,} MB of address space",
        f"{len(found['problems'])} not our error",
    )


def told(name: str, found: Report) -> str:
    """A line about a case."""
    return (
        f"{name:<14} {found['cases']:>7,} cases  {found['accepted']:>6,} accepted  "
        f"{found['refused']:>7,} refused  {len(found['wrong'])} wrong  "
        f"{found['peak']} of {found['space']} MB  {found['seconds']:.0f} s"
    )
