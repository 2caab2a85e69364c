"""Files of one class each: the name of a file, or of its folder, is the label of what is in it.

pos.txt neg.txt               a sequence a line; labels pos and neg
reviews/pos.txt, neg.txt      a folder of such files
reviews/pos/1.txt, ...        a folder for each class, in which each file is a sequence
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from seriatim.data.columns import texts_of
from seriatim.data.files import utf8
from seriatim.data.formats.text import text_lines
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import ConfigError, DataError

MOST_FILES = 1_000_000  # of a folder
SHOWN = 8  # labels that are told


def read_classes(paths: list[str], unit: str | None, encoding: str, notes: list[str]) -> Sequences:
    """The sequences of files, or of a folder, with the name of each file or folder as the label."""
    labels: list[str] = []
    texts: list[str] = []
    for label, files, whole in classes_in(paths):
        before = len(texts)
        for file in files:
            content = utf8(str(file), encoding, notes)
            lines = text_lines(np.frombuffer(content, np.uint8), skip_blank=True)[0]
            texts += [content.decode()] if whole else texts_of(lines)
        labels += [label] * (len(texts) - before)
    if not texts:
        raise DataError("the files hold no sequence", file=", ".join(paths))
    fields = {"label": Field.of_labels(labels), "text": Field.of_text(texts)}
    counts = [f"{label} {count:,}" for label, count in Counter(labels).most_common(SHOWN)]
    more = " ..." if len(set(labels)) > SHOWN else ""
    origin = ", ".join(paths)
    told = f"{origin}: files of one class each, {len(texts):,} sequences: {', '.join(counts)}{more}"
    return Sequences(fields, unit=unit, origin=origin, told=told)


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
