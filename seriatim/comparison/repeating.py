"""A comparison done again from its record: what it rests on, and whether that is still so.

Every comparison carries its `provenance`: the number of the protocol (docs/evaluation.md), versions,
threads, seed, fingerprints of the data, and all that was asked for. With `--updates` or `--epochs`
the same machine gives the same figures; with `--minutes` the clock decides how far networks come.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seriatim import __version__
from seriatim.data.sequences import Sequences
from seriatim.errors import ConfigError, DataError, RunError
from seriatim.measuring.fingerprint import fingerprint
from seriatim.parallel import settle
from seriatim.records import Record
from seriatim.storage import read_json

PROTOCOL = 2  # of comparisons: raised when the same record would be measured in another way
OF_ITSELF = ("out", "resume", "track", "repeat")  # options that change no figure
PARTS = ("data", "valid", "test")
VERSIONS = ("seriatim", "torch", "numpy", "python", "threads", "protocol")


def recorded(path: str | Path) -> Record:
    """The record of a comparison: of its folder, or of its table.json."""
    file = Path(path)
    file = file / "table.json" if file.is_dir() else file
    if not file.is_file():
        raise RunError(f"there is no comparison in {path}", do="Give its folder, or its table.json")
    found = read_json(file)
    rests_on = found.get("provenance") if isinstance(found, dict) else None
    whole = isinstance(rests_on, dict) and isinstance(rests_on.get("asked"), dict)
    if not whole or found.get("kind") != "comparison" or not isinstance(found.get("task"), str):
        raise RunError(
            f"{file} is no record of a comparison that can be done again",
            got="a record without provenance" if isinstance(found, dict) else "no record",
            do="Compare anew, with the command that stands in it",
        )
    return found


def repeated(room: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What is asked for when a comparison is done again: all that its record says, and where the new
    one is kept; validation and test data are held against its fingerprints. Anything else that was
    said must agree with it."""
    found = recorded(asked["repeat"])
    if room != found["task"]:
        raise ConfigError(
            "a comparison is done again with its own task",
            got=f"{room}, and the record is of {found['task']}",
            do="Leave it out, or compare anew",
        )
    before = found["provenance"]["asked"]
    other = [
        name
        for name, value in asked.items()
        if name not in (*OF_ITSELF, *PARTS) and str(value) != str(before.get(name, ""))
    ]
    if other:
        raise ConfigError(
            "a comparison that is done again takes its settings from its record",
            got=", ".join(other),
            do="Leave them out, or compare anew",
        )
    return dict(before) | {name: asked[name] for name in (*OF_ITSELF, *PARTS) if name in asked}


def fingerprint_of(data: Sequences | None) -> str | None:
    """What the data was: every column, with the names of its symbols; None if there is none."""
    if data is None:
        return None
    digest = hashlib.sha256()
    for name in sorted(data.fields):
        column = data.fields[name]
        digest.update(f"{name} {column.kind} {column.names} {fingerprint(column)}".encode())
    return digest.hexdigest()


def provenance(
    asked: Mapping[str, Any], data: Sequences, valid: Sequences | None, test: Sequences | None
) -> Record:
    """All that the result of a comparison rests on, besides the machine."""
    import numpy
    import torch

    return {
        "protocol": PROTOCOL,
        "seriatim": __version__,
        "torch": str(torch.__version__),
        "numpy": numpy.__version__,
        "python": platform.python_version(),
        "threads": settle(),
        "seed": int(asked.get("seed", 0)),
        "data_fingerprint": fingerprint_of(data),
        "valid_fingerprint": fingerprint_of(valid),
        "test_fingerprint": fingerprint_of(test),
        "asked": {name: value for name, value in asked.items() if name not in OF_ITSELF},
    }


def differences(before: Record, now: Record) -> list[str]:
    """What is another than it was; other data are refused."""
    names = (f"{part}_fingerprint" for part in PARTS)
    parts = [name for name in names if before.get(name) != now[name]]
    if parts:
        raise DataError(
            "these are not the data of the comparison that is to be done again",
            got=f"another {', '.join(parts)}",
            do="Give the same files, or compare anew",
        )
    return [
        f"{name} {before.get(name)} then, {now[name]} now"
        for name in VERSIONS
        if before.get(name) != now[name]
    ]
