"""Let a model make something, from the command line: texts, drawings, melodies; and keep it in a file.

    generate RUN --between A B, --analogy "a - b + c", --label L, --complete N     of models of autoencode
    generate RUN --out FILE.svg, .mid, .txt, .json                                 of any model whose results can be written so
"""
from __future__ import annotations

import argparse
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from seriatim.data import read
from seriatim.errors import ConfigError, DataError
from seriatim.storage import write_bytes
from seriatim.vector_predictor import terms

VECTORS = ("label", "between", "analogy", "file", "complete", "part")      # flags of `generate` that are for models of autoencode
COLUMNS = 8                                                                # drawings beside each other


def created(predictor: Any, given: argparse.Namespace, settings: dict[str, Any]) -> list[dict[str, Any]]:
    """What a model of autoencode makes, as asked for by the flags."""
    asked = [f"--{name}" for name in ("between", "analogy", "complete") if getattr(given, name) is not None]
    if len(asked) + bool(given.prompt) > 1:
        raise ConfigError("one thing is made at a time", got=" ".join([*asked, *(["--prompt"] if given.prompt else [])]), do="Leave out the others")
    label, data = given.label or "", None if given.file is None else predictor.data(read(given.file, format=given.input_format, by="line"))
    if given.between is not None:
        count = int(settings.pop("count", 7 if len(given.between) == 2 else 5))
        return predictor.between(*(end_of(predictor, data, end) for end in given.between), count=count, label=label, **settings)
    if given.analogy is not None:
        ends = None if data is None else {text: end_of(predictor, data, text) for _, text in terms(given.analogy)}
        return [predictor.combine(given.analogy, ends, label=label, **settings)]
    if given.complete is not None:
        if data is None:
            raise ConfigError("what is completed comes from a file", got="no --file", do="Add --file FILE")
        count = int(settings.pop("count", 1))
        return predictor.complete(chosen(data, given.complete), 1.0 if given.part is None else given.part, count, label, **settings)
    return predictor.generate_records([given.prompt], label=label, **settings)[0]


def end_of(predictor: Any, data: Any, end: str) -> Any:
    """One end of a way: a text, or the number of a sequence of a file."""
    if data is None:
        if predictor.codec.numeric:
            raise ConfigError("drawings and numbers come from a file", got=end, do="Add --file FILE, and give numbers of its sequences")
        return end
    if not end.isdigit():
        raise ConfigError("with --file, sequences are named by their numbers", got=end, do="Give numbers, counted from 1")
    return chosen(data, int(end))


def chosen(data: Any, number: int) -> Any:
    if not 1 <= number <= len(data):
        raise DataError(f"{data.origin} has no sequence {number}", got=f"{len(data):,} sequences", do="They are counted from 1")
    raw = data.main.raw(number - 1)
    return " ".join(raw) if isinstance(raw, list) else raw


def keep(records: list[dict[str, Any]], out: str, columns: int | None = None) -> list[str]:
    """Write results into a file, or a file for each: what the ending says."""
    path, ending = Path(out), Path(out).suffix.lower()
    if ending == ".svg":
        if not all("numbers" in each and len(each["numbers"][0]) == 3 for each in records):
            raise ConfigError("only drawings are written as svg", got="other results", do="Choose .json, or for texts .txt")
        from seriatim.data.svg import write_svg
        write_svg([np.array(each["numbers"]) for each in records], path, columns or min(COLUMNS, len(records)))
        return [str(path)]
    if ending in (".mid", ".midi"):
        from seriatim.data.melodies import parse_melody, write_midi
        if not all(re.fullmatch(r"(\S+:\d+/\d+\s*)+", each.get("text", "")) for each in records):
            raise ConfigError("only melodies are written as MIDI", got="other results", do="Fit a model to tunes; choose .txt or .json for this one")
        paths = [path] if len(records) == 1 else [path.with_stem(f"{path.stem}-{number}") for number in range(1, len(records) + 1)]
        melodies = [parse_melody(each.get("text", "")) for each in records]
        for each, tokens in zip(paths, melodies, strict=True):
            write_midi(tokens, each)
        return list(map(str, paths))
    if ending == ".json":
        write_bytes(path, json.dumps(records, ensure_ascii=False, indent=1).encode())
    elif ending == ".txt" and all("text" in each for each in records):
        write_bytes(path, "".join(each["text"] + "\n" for each in records).encode())
    else:
        raise ConfigError("the ending says how results are written", got=out,
                          do="Choose .svg for drawings, .mid for melodies, .txt for texts, .json for anything")
    return [str(path)]


def told(record: dict[str, Any]) -> str:
    """A result in a line, or in lines."""
    if "text" in record:
        return record["text"]
    rows = record["numbers"]
    if len(rows[0]) == 3 and all(row[2] in (0.0, 1.0) for row in rows):
        strokes = int(sum(row[2] for row in rows)) + (rows[-1][2] == 0)
        return f"a drawing: {len(rows)} point{'s' * (len(rows) > 1)}, {strokes} stroke{'s' * (strokes > 1)} (--out FILE.svg to see it)"
    return "\n".join("\t".join(f"{value:.6g}" for value in row) for row in rows) + "\n"


def grid(given: argparse.Namespace, records: list[dict[str, Any]]) -> int | None:
    """How many results stand beside each other: of four ends as many as below each other."""
    return math.isqrt(len(records)) if given.between is not None and len(given.between) == 4 else None
