"""Run folders as a stranger would hand them over: changed, and signed anew, so that checksums agree."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any


def sign(folder: Path) -> None:
    """Write size and checksum of every file into the manifest, as whoever changed them would."""
    file = folder / "manifest.json"
    manifest = json.loads(file.read_bytes())
    for name, entry in manifest["files"].items():
        content = (folder / name).read_bytes()
        entry |= {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    file.write_text(json.dumps(manifest))


def copied(run: Path, folder: Path) -> Path:
    """A copy of a run, to be changed."""
    return Path(shutil.copytree(run, folder, dirs_exist_ok=True))


def changed(run: Path, folder: Path, name: str, change: Callable[[Any], Any]) -> Path:
    """A copy of a run in which one JSON file is another, signed anew."""
    copy = copied(run, folder)
    record = json.loads((copy / name).read_bytes())
    answer = change(record)
    (copy / name).write_text(json.dumps(record if answer is None else answer))
    if name != "manifest.json":
        sign(copy)
    return copy
