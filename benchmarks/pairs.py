"""Do two comparisons of the same data agree? Twenty pairs that differ in their seeds alone.

    python benchmarks/protocol.py pairs [NAME ...] [--pairs 20] [--minutes 1] [--cache FOLDER]

Of each pair the first comparison has one seed, the second another. Counted are the pairs in which
both name a winner that is *better* than the other's winner (wanted: none), and of the gaps between
two rungs that are at least 3 % on the mean of both runs, those that both runs tell apart (*better*;
wanted: at least 18 of 20). A gap is one between a run's winner and another rung, which is finished
in both; of each pair the smallest such gap counts, lest easy ones decide. What was measured is kept,
a line a comparison, and gone on with; fewer than twenty pairs are printed, and no row of the table.
"""

from __future__ import annotations

import json
import lzma
import os
import tempfile
from pathlib import Path
from typing import Any

from record import write_row

import seriatim as st

Row = dict[str, Any]
DATA = Path(os.environ.get("SERIATIM_DATA", Path(__file__).parent.parent.parent / "shared/data"))
WHOLE = 20  # pairs that are a row of the table
GAP = 0.03  # of the better figure, from which on rungs are to be told apart
WIKI = 600_000  # characters of the encyclopaedia
SMS = {"columns": "label,text", "input_format": "tsv"}
SETS: dict[str, tuple[str, str, Row]] = {  # task, data, settings
    "tiny Shakespeare": ("language", "text/tinyshakespeare.txt", {}),
    "rt-polarity": ("classify", "classify/rt-polarity.tsv", {}),
    "wnut17": ("tag", "tag/wnut17train.conll.gz", {}),
    "sunspots": ("forecast", "series/sunspot.month.csv", {"horizon": 12}),
    "piano": ("sets", "piano", {}),
    "python-code": ("language", "python-code", {}),
    "SMS": ("classify", "classify/SMSSpamCollection", SMS),
    "ETTh1": ("forecast", "series/ETTh1.csv", {"horizon": 24}),
    "python-tokens": ("tag", "python-tokens", {}),
    "wiki": ("language", "text/wiki100.txt.xz", {}),
}


def compared(name: str, seed: int, minutes: float) -> Row:
    """What a comparison found: its winner, and of each rung the figure, the word against it, and
    whether it was finished."""
    task, path, settings = SETS[name]
    with tempfile.TemporaryDirectory() as folder:
        source = str(DATA / path) if (DATA / path).is_file() else path
        if path.endswith(".txt.xz"):
            source = str(Path(folder) / "text.txt")
            with lzma.open(DATA / path, "rt") as file:
                Path(source).write_text(file.read(WIKI))
        record = st.compare(task, source, minutes=minutes, seed=seed, **settings)
    rows = [row for row in record["rows"] if row["status"] == "ok"]
    kept = {
        row["model"]: {
            "value": row[record["figure"]],
            "word": (row["against"] or {}).get("word"),
            "unfinished": bool(row.get("unfinished")),
        }
        for row in rows
    }
    winner = (record["recommendation"] or {}).get("best")
    return {"name": name, "seed": seed, "minutes": minutes, "winner": winner, "rungs": kept}


def disagree(first: Row, second: Row) -> bool:
    """Whether each names another winner, and calls it better than that of the other."""
    one, two = first["winner"], second["winner"]
    words = [
        run["rungs"].get(other, {}).get("word") for run, other in ((first, two), (second, one))
    ]
    return one != two and words == ["better", "better"]


def smallest_gap(first: Row, second: Row) -> tuple[str, float, bool] | None:
    """Of the rungs that are at least 3 % behind the winners, on the mean of both, the nearest: its
    name, how far it is behind, and whether both winners are called better."""
    runs, found = (first, second), []
    won = {run["winner"] for run in runs}
    best = sum(run["rungs"][run["winner"]]["value"] for run in runs) / 2
    for name in (first["rungs"].keys() & second["rungs"].keys()) - won:
        pair = [run["rungs"][name] for run in runs]
        if any(each["unfinished"] or each["value"] is None for each in pair):
            continue
        gap = abs(sum(each["value"] for each in pair) / 2 - best) / max(abs(best), 1e-9)
        if gap >= GAP:
            found.append((name, gap, all(each["word"] == "better" for each in pair)))
    return min(found, key=lambda each: each[1], default=None)


def measured(names: list[str], pairs: int, minutes: float, cache: Path) -> list[tuple[Row, Row]]:
    """So many pairs, data sets in turn; those that are kept are not measured again."""
    cache.mkdir(parents=True, exist_ok=True)
    file = cache / "pairs.jsonl"
    lines = file.read_text().splitlines() if file.is_file() else []
    known = {(row["name"], row["seed"], row["minutes"]): row for row in map(json.loads, lines)}
    found = []
    for number in range(pairs):
        name, turn = names[number % len(names)], number // len(names)
        several = []
        for seed in (1000 + 2 * turn, 1001 + 2 * turn):
            key = (name, seed, minutes)
            if key not in known:
                known[key] = compared(*key)
                with file.open("a") as out:
                    out.write(json.dumps(known[key]) + "\n")
            several.append(known[key])
        found.append((several[0], several[1]))
        print(name, [each["winner"] for each in several], smallest_gap(*several), flush=True)
    return found


def main(names: list[str], pairs: int = 20, minutes: float = 1.0, cache: str = "") -> None:
    """All pairs, and what came of them."""
    folder = Path(cache or Path(tempfile.gettempdir()) / "seriatim-protocol")
    found = measured(names or list(SETS), pairs, minutes, folder)
    row = write_row if len(found) >= WHOLE else print
    against = sum(disagree(*pair) for pair in found)
    gaps = [gap for gap in (smallest_gap(*pair) for pair in found) if gap is not None]
    what = f"{len(found)} pairs of comparisons, --minutes {minutes:g}, other seeds"
    row(
        "protocol.py pairs",
        f"{what}: different winners, each called better",
        f"{against} of {len(found)}",
        "",
        "none wanted",
    )
    row(
        "protocol.py pairs",
        f"{what}: the smallest gap of at least {GAP:.0%} told apart in both",
        f"{sum(told for _, _, told in gaps)} of {len(gaps)}",
        "",
        "18 of 20 wanted",
    )
