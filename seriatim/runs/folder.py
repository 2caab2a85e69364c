"""The run folder while it is being written: one process at a time, the plan first, events as they come."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from seriatim import __version__
from seriatim.errors import RunError
from seriatim.runs.places import MANIFEST, PLAN, Place, clear
from seriatim.settings import to_toml
from seriatim.storage import checksums, read_bytes, write_bytes, write_json

Event = dict[str, Any]
FORMAT = 3  # of run folders; another number is refused
FILES = ("config.toml", "codec.json", "weights.safetensors", "metrics.json")  # of a finished one
SEEN = "seen.safetensors"  # what was learned from, if it is known
EVENTS = "events.jsonl"  # what happened, of a fit
CARD = "card.md"  # for people: `verify` looks at it, opening does not


def start_folder(
    settings: Mapping[str, Any],
    codec: Mapping[str, Any],
    out: Path,
    resume: bool,
    overwrite: bool,
    digest: str = "",
) -> Place:
    """Write the plan of a fit; when resuming, check that it is the same plan on the same data."""
    wanted = to_toml({**settings, "data": {"fingerprint": digest}})
    place = Place(out, resume, overwrite)
    file = place.folder / PLAN
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
                    f"{out} was begun with other settings or data",
                    got="; ".join(changed[:6]),
                    do="Repeat the first command, or add --overwrite",
                )
            place.begin()
        else:
            write_bytes(file, wanted.encode())
        write_json(place.folder / "codec.json", codec)
    except BaseException:
        place.abandon()
        place.lock.release()
        raise
    return place


def seal(folder: Path, known: Mapping[str, str], going_on: bool = False) -> None:
    """The manifest, which has the size and the checksum of every file (some are known already): a
    folder that has it is finished. Then the checkpoints have served, unless the fit may be gone on
    with."""
    names = [
        name for name in (*FILES, SEEN, EVENTS, CARD) if name in FILES or (folder / name).is_file()
    ]
    found = checksums([folder / name for name in names if name not in known])
    files = {
        name: {
            "sha256": known.get(name) or found[folder / name],
            "bytes": (folder / name).stat().st_size,
        }
        for name in names
    }
    write_json(folder / MANIFEST, {"format": FORMAT, "seriatim": __version__, "files": files})
    if not going_on:
        clear(folder)


class Log:
    """Events as they come, one JSON record a line; the file is the source of every curve drawn later."""

    def __init__(self, folder: Path | None):
        self.file = None if folder is None else folder / EVENTS

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
    for line in read_bytes(Path(folder) / EVENTS).splitlines():
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            continue
