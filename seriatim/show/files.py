"""Results in files: drawings as svg, melodies as MIDI, texts as lines, anything as JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from seriatim.errors import ConfigError
from seriatim.records import Record
from seriatim.storage import write_bytes

COLUMNS = 8  # drawings beside each other
MELODY = re.compile(r"(\S+:\d+/\d+\s*)+")

Item = dict[str, Any]


def keep(record: Record, out: str | Path) -> list[str]:
    """Write the items of a record into a file, or into a file for each, as its ending says; the
    names of what was written."""
    path, items = Path(out), record.get("items")
    ending = path.suffix.lower()
    if items is None:
        return keep_figures(record, path)
    if ending == ".svg":
        return keep_drawings(items, path, record.get("columns"))
    if ending in (".mid", ".midi"):
        return keep_melodies(items, path)
    if ending == ".json":
        write_bytes(path, json.dumps(items, ensure_ascii=False, indent=1).encode())
    elif ending == ".txt" and all("text" in each for each in items):
        write_bytes(path, "".join(each["text"] + "\n" for each in items).encode())
    else:
        raise ConfigError(
            "the ending says how results are written",
            got=out,
            do="Choose .svg for drawings, .mid for melodies, .txt for texts, .json for anything",
        )
    return [str(path)]


def keep_figures(record: Record, path: Path) -> list[str]:
    """A record without items, as JSON."""
    if path.suffix.lower() != ".json":
        raise ConfigError(
            "these results are written as .json",
            got=path,
            do="Choose .json; pictures are drawn by `seriatim plot RUN --what PICTURE --out FILE`",
        )
    write_bytes(path, json.dumps(record, ensure_ascii=False, indent=1).encode())
    return [str(path)]


def keep_drawings(items: list[Item], path: Path, columns: int | None) -> list[str]:
    """Drawings side by side in one file, so many in a row."""
    from seriatim.data.formats.svg import write_svg

    if not all("numbers" in each and len(each["numbers"][0]) == 3 for each in items):
        raise ConfigError(
            "only drawings are written as svg",
            got="other results",
            do="Choose .json, or for texts .txt",
        )
    drawings = [np.array(each["numbers"]) for each in items]
    write_svg(drawings, path, columns or min(COLUMNS, len(items)))
    return [str(path)]


def keep_melodies(items: list[Item], path: Path) -> list[str]:
    """A file for each melody, numbered if there are several."""
    from seriatim.data.formats.midi import parse_melody, write_midi

    if not all(MELODY.fullmatch(each.get("text", "")) for each in items):
        raise ConfigError(
            "only melodies are written as MIDI",
            got="other results",
            do="Fit a model to tunes; choose .txt or .json for this one",
        )
    melodies = [parse_melody(each["text"]) for each in items]
    numbered = [path.with_stem(f"{path.stem}-{number}") for number in range(1, len(items) + 1)]
    paths = [path] if len(items) == 1 else numbered
    for each, tokens in zip(paths, melodies, strict=True):
        write_midi(tokens, each)
    return list(map(str, paths))
