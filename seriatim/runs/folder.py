"""The run folder while it is being written: one process at a time, the plan first, events as they come."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from shutil import rmtree
from types import ModuleType
from typing import Any

from seriatim import __version__
from seriatim.errors import RunError
from seriatim.settings import to_toml
from seriatim.storage import checksum, read_bytes, write_bytes, write_json

fcntl: ModuleType | None = None
with suppress(ImportError):  # not every system has it
    fcntl = import_module("fcntl")


Event = dict[str, Any]
FORMAT = 2  # of run folders; another number is refused
FILES = ("config.toml", "codec.json", "weights.safetensors", "metrics.json")  # of a finished one
SEEN = "seen.safetensors"  # what was learned from, if it is known


def prepare(folder: Path, resume: bool, overwrite: bool) -> Lock:
    """An empty folder to write to, or the one to resume in, for us alone; never somebody else's files."""
    try:
        foreign = (
            folder.is_dir()
            and any(file.suffix != ".partial" for file in folder.iterdir())
            and not (folder / "config.toml").is_file()
        )
        if foreign or (folder.exists() and not folder.is_dir()):
            raise RunError(f"{folder} exists and is not a run folder", do="Choose another --out")
        if (folder / "manifest.json").exists() and not overwrite:
            raise RunError(
                f"{folder} holds a finished fit",
                do="Choose another --out, or add --overwrite to replace it",
            )
        if (folder / "config.toml").exists() and not (resume or overwrite):
            raise RunError(
                f"{folder} holds an unfinished fit",
                do="Add --resume to go on with it, or --overwrite to begin anew",
            )
        folder.mkdir(parents=True, exist_ok=True)
        lock = Lock(folder)
        if overwrite:
            for file in sorted(folder.iterdir(), key=lambda file: file.name != "manifest.json"):
                rmtree(file) if file.is_dir() else file.unlink()  # curves for other programs
    except OSError as error:
        raise RunError(
            f"cannot make the folder {folder}", got=error.strerror, do="Choose another --out"
        ) from None
    return lock


def abandon(folder: Path) -> None:
    """Leave nothing of a fit that was refused before it had learned anything."""
    if any(folder.glob("checkpoint-*")):
        return
    for name in ("config.toml", "codec.json", "events.jsonl"):
        (folder / name).unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()


class Lock:
    """One process at a time in a run folder; the system gives it free when the process dies, however
    it dies. The folder itself is locked; where a system cannot do that, a file beside it."""

    def __init__(self, folder: Path):
        self.handle: int | None = None
        self.beside: Any = None
        try:
            if fcntl is not None:
                self.handle = os.open(folder, os.O_RDONLY)
                fcntl.flock(self.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            else:
                from filelock import FileLock

                self.beside = FileLock(folder.with_name(f".{folder.name}.lock"))
                self.beside.acquire(blocking=False)
        except OSError:  # a Timeout of filelock is one
            self.release()
            raise RunError(
                f"another process is fitting in {folder}", do="Wait for it, or choose another --out"
            ) from None

    def release(self) -> None:
        """Let others in."""
        if self.handle is not None:
            os.close(self.handle)
            self.handle = None
        if self.beside is not None:
            self.beside.release()


def start_folder(
    settings: Mapping[str, Any],
    codec: Mapping[str, Any],
    folder: Path,
    resume: bool,
    overwrite: bool,
    digest: str = "",
) -> tuple[Path, Lock]:
    """Write the plan of a fit; when resuming, check that it is the same plan on the same data."""
    wanted = to_toml({**settings, "data": {"fingerprint": digest}})
    lock, file = prepare(folder, resume, overwrite), folder / "config.toml"
    try:
        if resume and file.is_file():
            found = read_bytes(file).decode("utf-8", "replace")
            changed = sorted(
                line
                for line in set(wanted.splitlines()) ^ set(found.splitlines())
                if not line.startswith("checkpoint_seconds")
            )
            if changed:
                raise RunError(
                    f"{folder} was begun with other settings or data",
                    got="; ".join(changed[:6]),
                    do="Repeat the first command, or add --overwrite",
                )
        else:
            write_bytes(file, wanted.encode())
        write_json(folder / "codec.json", codec)
    except BaseException:
        lock.release()
        raise
    return folder, lock


def seal(folder: Path, known: Mapping[str, str]) -> None:
    """The manifest, which has the size and the checksum of every file (some are known already): a
    folder that has it is finished. Then the checkpoints have served."""
    names = [*FILES, SEEN] if (folder / SEEN).is_file() else FILES
    files = {
        name: {
            "sha256": known.get(name) or checksum(folder / name),
            "bytes": (folder / name).stat().st_size,
        }
        for name in names
    }
    write_json(
        folder / "manifest.json", {"format": FORMAT, "seriatim": __version__, "files": files}
    )
    for pattern in ("checkpoint-*", "*.partial", "ids.npy"):
        for leftover in folder.glob(pattern):
            leftover.unlink()


class Log:
    """Events as they come, one JSON record a line; the file is the source of every curve drawn later."""

    def __init__(self, folder: Path | None):
        self.file = None if folder is None else folder / "events.jsonl"

    def add(self, event: Event) -> Event:
        """Write an event, and give it back."""
        if self.file is not None:
            try:
                with open(self.file, "a", encoding="utf-8") as file:
                    file.write(json.dumps(event | {"at": time.time()}) + "\n")
            except OSError as error:
                raise RunError(
                    f"cannot write {self.file}",
                    got=error.strerror,
                    do="Free some space; then repeat the command with --resume",
                ) from None
        return event


def events_of(folder: str | Path) -> Iterator[Event]:
    """The events of a run folder; a last line cut short by a crash is passed over."""
    for line in read_bytes(Path(folder) / "events.jsonl").splitlines():
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            continue
