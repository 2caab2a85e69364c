"""Files that are whole or not there: written under a temporary name, synced, renamed.

Arrays are kept as safetensors and records as JSON, so that nothing read here can execute code. A crash
at any point leaves the previous good file; the points are named so that tests can crash at each.
"""
from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from seriatim.errors import RunError

POINTS = ("nothing written", "half written", "written", "synced", "renamed")
reached: Callable[[str], None] = lambda point: None    # tests replace this to stop the process at a point


def write_bytes(path: Path, content: bytes) -> None:
    """Replace a file in one step."""
    temporary = path.with_name(path.name + ".partial")
    try:
        with open(temporary, "wb") as file:
            reached("nothing written")
            file.write(content[:len(content) // 2])
            file.flush()
            reached("half written")
            file.write(content[len(content) // 2:])
            reached("written")
            file.flush()
            os.fsync(file.fileno())
            reached("synced")
        os.replace(temporary, path)
        reached("renamed")
        sync_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise RunError(f"cannot write {path}", got=error.strerror or error,
                       do="Free some space or choose another folder with --out; the earlier file is untouched") from None


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power cut, where the system can."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_json(path: Path, record: Any) -> None:
    write_bytes(path, (json.dumps(record, indent=1, ensure_ascii=True, allow_nan=False) + "\n").encode())


def read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise RunError(f"cannot read {path}", got=getattr(error, "strerror", None) or error, do="Check the run folder") from None


def read_json(path: Path) -> Any:
    try:
        return json.loads(read_bytes(path))
    except (ValueError, RecursionError) as error:
        raise RunError(f"{path} is damaged", got=error, do="Restore it or fit again") from None


def write_arrays(path: Path, arrays: dict[str, Any], record: Any = None) -> None:
    """Tensors by name, and a JSON record beside them in the same file."""
    from safetensors.torch import save
    metadata = None if record is None else {"record": json.dumps(record)}
    write_bytes(path, save({name: array.contiguous() for name, array in arrays.items()}, metadata))


def read_arrays(path: Path) -> tuple[dict[str, Any], Any]:
    """What `write_arrays` wrote. The header is checked against the file's size before anything is allocated."""
    from safetensors import SafetensorError, safe_open
    try:
        with safe_open(path, "pt") as file:
            record = (file.metadata() or {}).get("record")
            return {name: file.get_tensor(name) for name in file.keys()}, None if record is None else json.loads(record)  # noqa: SIM118
    except (SafetensorError, ValueError, OSError, RecursionError) as error:
        raise RunError(f"{path} cannot be read", got=error, do="Restore it or fit again") from None


def checksum(path: Path) -> str:
    return hashlib.sha256(read_bytes(path)).hexdigest()
