"""Results in files: drawings as svg, pictures as png, melodies as MIDI, texts as lines, anything as JSON."""

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
PIXELS = re.compile(r"[0-9| ]+")
NOTES = re.compile(r"((\d{1,3}\+)*\d{1,3}|\.)( ((\d{1,3}\+)*\d{1,3}|\.))*")
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
    if ending == ".png":
        return keep_pictures(items, path, record.get("columns"))
    if ending in (".mid", ".midi"):
        return keep_music(items, path, record.get("roll"))
    if ending == ".json":
        write_bytes(path, json.dumps(items, ensure_ascii=False, indent=1).encode())
    elif ending == ".txt" and all("text" in each for each in items):
        write_bytes(path, "".join(each["text"] + "\n" for each in items).encode())
    else:
        raise ConfigError(
            "the ending says how results are written",
            got=out,
            do="Choose .svg for drawings, .png for pictures, .mid for melodies, .txt for texts, "
            ".json for anything",
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


def keep_pictures(items: list[Item], path: Path, columns: int | None) -> list[str]:
    """Pictures side by side in one file, so many in a row."""
    from seriatim.data.formats.png import picture_of, write_png

    if not all("numbers" in each or PIXELS.fullmatch(each.get("text", "")) for each in items):
        raise ConfigError(
            "only pictures are written as png",
            got="other results",
            do="Fit a model to pictures; choose .txt or .json for this one",
        )
    pictures = [
        np.array(each["numbers"]) if "numbers" in each else picture_of(each["text"].split())
        for each in items
    ]
    write_png(pictures, path, columns or min(COLUMNS, len(items)))
    return [str(path)]


def keep_music(items: list[Item], path: Path, roll: dict[str, Any] | None) -> list[str]:
    """A file for each melody, or each sequence of sets of notes, numbered if there are several; `roll`
    says how long the steps of sets are."""
    texts = [each.get("text", "") for each in items]
    form = MELODY if roll is None else NOTES
    if not all(form.fullmatch(text) for text in texts):
        raise ConfigError(
            "only melodies, and sets of notes, are written as MIDI",
            got="other results",
            do="Fit a model to tunes; choose .txt or .json for this one",
        )
    numbered = [path.with_stem(f"{path.stem}-{number}") for number in range(1, len(items) + 1)]
    paths = [path] if len(items) == 1 else numbered
    for each, text in zip(paths, texts, strict=True):
        keep_tune(text, each, roll)
    return list(map(str, paths))


def keep_tune(text: str, path: Path, roll: dict[str, Any] | None) -> None:
    """One melody, or one sequence of sets of notes."""
    from seriatim.data.formats.midi import parse_melody, write_midi, write_roll

    if roll is None:
        write_midi(parse_melody(text), path)
        return
    steps = [[] if step == "." else list(map(int, step.split("+"))) for step in text.split()]
    write_roll(steps, path, roll["grid"], roll["struck"])
