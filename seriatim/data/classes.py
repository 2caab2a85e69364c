"""Files of one class each: the name of a file, or of its folder, is the label of what is in it.

pos.txt neg.txt               a sequence a line; labels pos and neg
reviews/pos.txt, neg.txt      a folder of such files
reviews/pos/1.txt, ...        a folder for each class, in which each file is a sequence
digits/7_ann_2.wav, ...       sounds, drawings: each a sequence; the name up to the first _, - or .
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from seriatim.data.columns import texts_of
from seriatim.data.files import utf8
from seriatim.data.formats import FORMATS, format_of
from seriatim.data.formats.text import text_lines
from seriatim.data.sequences import Field, Sequences, joined
from seriatim.errors import ConfigError, DataError

MOST_FILES = 1_000_000  # of a folder
SHOWN = 8  # labels that are told


PARTED = re.compile(r"[_\-.]")  # what the label of a name is followed by


def read_classes(
    paths: list[str],
    unit: str | None,
    encoding: str,
    notes: list[str],
    whole: Callable[[str], Sequences],
) -> Sequences:
    """The sequences of files, or of a folder, with the name of each file or folder as the label.
    `whole` reads a file that is one sequence: a sound, a drawing, a melody."""
    singles = single_files(paths)
    if singles:
        return read_singles(paths, singles, whole)
    labels: list[str] = []
    texts: list[str] = []
    for label, files, each_whole in classes_in(paths):
        before = len(texts)
        for file in files:
            content = utf8(str(file), encoding, notes)
            lines = text_lines(np.frombuffer(content, np.uint8), skip_blank=True)[0]
            texts += [content.decode()] if each_whole else texts_of(lines)
        labels += [label] * (len(texts) - before)
    if not texts:
        raise DataError("the files hold no sequence", file=", ".join(paths))
    fields = {"label": Field.of_labels(labels), "text": Field.of_text(texts)}
    origin = ", ".join(paths)
    return Sequences(fields, unit=unit, origin=origin, told=told_of(origin, labels))


def told_of(origin: str, labels: list[str]) -> str:
    """What was read, in a line."""
    counts = [f"{label} {count:,}" for label, count in Counter(labels).most_common(SHOWN)]
    more = " ..." if len(set(labels)) > SHOWN else ""
    many = f"{len(labels):,} sequences"
    return f"{origin}: files of one class each, {many}: {', '.join(counts)}{more}"


def single_files(paths: list[str]) -> list[tuple[str, Path]]:
    """Label and path of files that are one sequence each; none if any file is of another kind."""
    inside = listed(Path(paths[0])) if len(paths) == 1 else [Path(path) for path in paths]
    folders = [each for each in inside if each.is_dir()] if len(paths) == 1 else []
    if folders:
        found = [(each.name, file) for each in folders for file in listed(each) if file.is_file()]
    else:
        found = [(PARTED.split(each.name)[0], each) for each in inside]
    kinds = {format_of(str(file)) for _, file in found}
    return found if kinds and all(FORMATS[kind].single for kind in kinds) else []


def read_singles(
    paths: list[str], files: list[tuple[str, Path]], whole: Callable[[str], Sequences]
) -> Sequences:
    """Files that are one sequence each, with their labels."""
    data = joined([whole(str(file)) for _, file in files])
    labels, origin = [label for label, _ in files], ", ".join(paths[:3])
    fields = data.fields | {"label": Field.of_labels(labels)}
    return replace(data, fields=fields, origin=origin, told=told_of(origin, labels))


def classes_in(paths: list[str]) -> list[tuple[str, list[Path], bool]]:
    """Each label, its files, and whether each of them is one sequence."""
    if len(paths) > 1:
        files = list(map(Path, paths))
        return [(label, [file], False) for label, file in zip(names_of(files), files)]
    inside = listed(Path(paths[0]))
    folders = [each for each in inside if each.is_dir()]
    if folders:
        return [(each.name, [f for f in listed(each) if f.is_file()], True) for each in folders]
    if len(inside) < 2:
        raise DataError(
            "a folder of classes has two files or folders, or more",
            file=paths[0],
            got=", ".join(each.name for each in inside) or "nothing",
            do="Put the texts of each class into a file or a folder of its name",
        )
    return [(label, [file], False) for label, file in zip(names_of(inside), inside)]


def listed(folder: Path) -> list[Path]:
    """What is in a folder, in order; hidden files are not looked at."""
    try:
        found = sorted(each for each in folder.iterdir() if not each.name.startswith("."))
    except OSError as error:
        raise DataError("the folder cannot be read", file=str(folder), got=error) from None
    if len(found) > MOST_FILES:
        raise DataError(f"the folder holds more than {MOST_FILES:,} files", file=str(folder))
    return found


def names_of(files: list[Path]) -> list[str]:
    """What tells files apart: their names without endings, or the endings, or their folders."""
    ways: list[Callable[[Path], str]] = [
        lambda file: file.name.split(".")[0],
        lambda file: file.suffix.removeprefix("."),
        lambda file: file.parent.name,
    ]
    for way in ways:
        names = list(map(way, files))
        if len(set(names)) == len(names) and all(names):
            return names
    raise ConfigError(
        "several files are of one class each, and their names tell which",
        got=" ".join(map(str, files)),
        do="Name each as its class: pos.txt neg.txt; or give one table",
    )
