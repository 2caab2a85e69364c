"""A bit of a byte is flipped, anywhere in any file of a run: `verify` says so, and it does not open,
unless it is the card, which is for people."""

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path
from typing import Any

import seriatim as st
from seriatim.errors import SeriatimError
from seriatim.runs.folder import CARD
from tests.campaign.cases import CASES, Figures, workshop

LARGE = {"width": 1400, "layers": 2, "rows": 1, "length": 4, "updates": 1, "threads": 1}  # 125 MB
SHARE = 20  # one flip in so many is in the large run


def flips(count: int, seed: int = 0, names: str = "") -> Figures:
    """So many flips over all files of runs of several families, and of one with large weights."""
    made, dice = workshop(), random.Random(seed)
    with tempfile.TemporaryDirectory() as home:
        cases = {n: c for n, c in CASES.items() if not (c.replacing or c.compared)}
        wanted = [name for name in cases if not names or name in names.split(";")]
        runs = []
        for name in wanted:
            runs.append(Path(home, str(len(runs))))
            cases[name].do(made, runs[-1])
        large = []
        if count >= SHARE:
            large = [Path(home, "large")]
            st.fit("language", "lstm", made.train("language", "neural"), out=large[0], **LARGE)
        return flipped(count, dice, runs, large)


def flipped(count: int, dice: random.Random, runs: list[Path], large: list[Path]) -> Figures:
    """Flip, look, put back."""
    found: dict[str, Any] = {"flips": 0, "detected": 0, "missed": [], "files": set(), "largest": 0}
    for number in range(count):
        run = dice.choice(large if large and number % SHARE == 0 else runs)
        file = dice.choice(sorted(run.iterdir()))
        size = file.stat().st_size
        place, bit = dice.randrange(size), 1 << dice.randrange(8)
        flip(file, place, bit)
        if noticed(run):
            found["detected"] += 1
        else:
            found["missed"].append(f"{file.name}, byte {place} of {size}")
        flip(file, place, bit)
        found["flips"] += 1
        found["files"].add(file.name)
        found["largest"] = max(found["largest"], size)
    for run in (*runs, *large):
        st.load(run)  # as it was
    return found | {"files": sorted(found["files"]), "runs": len(runs) + len(large)}


def noticed(run: Path) -> bool:
    """Whether `verify` says that the run is not whole and it does not open; it may, if all that is
    wrong is its card."""
    try:
        record = st.call("verify", run)
    except SeriatimError:
        record = {"whole": False, "runs": [{"files": []}]}
    wrong = {each["file"] for each in record["runs"][0]["files"] if each["found"] != "as written"}
    try:
        st.load(run)
    except SeriatimError:
        return not record["whole"]
    return not record["whole"] and wrong == {CARD}


def flip(file: Path, place: int, bit: int) -> None:
    """Flip a bit where it stands."""
    with open(file, "r+b") as handle:
        handle.seek(place)
        changed = handle.read(1)[0] ^ bit
        handle.seek(place)
        handle.write(bytes([changed]))
        handle.flush()
        os.fsync(handle.fileno())
