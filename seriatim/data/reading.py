"""Data in: files as published, and corpora that need no download."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from seriatim.data.headers import SYNONYMS, known_name
from seriatim.data.objects import table_of
from seriatim.data.sequences import SYMBOLS, TEXT, Field, Sequences
from seriatim.errors import ConfigError, DataError
from seriatim.progress import note

Names = Sequence[str]  # with commas between, or several
STEPS = 64  # of a sequence, where a stream of tokens is cut into some


def read(
    *paths: Any,
    input_format: str | None = None,
    by: str | None = None,
    unit: str | None = None,
    columns: str | Names | None = None,
    field: str | None = None,
    label: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    distinct: bool = False,
    time: str | None = None,
    series: str | None = None,
    channels: str | Names | None = None,
    known: str | Names | None = None,
    fill: str | None = None,
    sample_rate: int | None = None,
    frame: int | None = None,
    greys: int | None = None,
    grid: int | None = None,
    struck: bool = False,
    problems: list[DataError] | None = None,
    notes: list[str] | None = None,
    gaps: bool = False,
    wants: str = "",
) -> Sequences:
    """Read a file (or parallel files), standard input ("-"), a built-in corpus by its name, or what
    is in memory already: lists, pairs, columns, arrays, frames (see `seriatim.data.objects`).

    How a file is read is said by the names of the command line, which `seriatim.data.options`
    explains. `unit` is what counts as a symbol (of text None: whoever reads it decides). If any of
    `time`, `series`, `channels`, `known` and `fill` is given, a table is made into series over time.

    `problems`, if given, takes what is wrong with single lines, which are then left out, and `notes`
    what is worth knowing; otherwise that is told to whoever listens. With `gaps`, what is missing is
    left as it is: blank lines, labels (empty, or no such field) and numbers (nan). What a task `wants`
    ("label", "value", "tags") is looked for where columns have other names, or none.

    >>> data = read("markov:length=1000,seed=3")
    >>> data.by, len(data), round(data.entropy, 3)
    ('stream', 1, 0.957)
    """
    told: list[str] = [] if notes is None else notes
    over_time = any((time, series, channels, known, fill))
    if len(paths) == 1 and not isinstance(paths[0], (str, PathLike)):
        refuse_of_files(input_format=input_format, encoding=encoding, decimal=decimal)
        kind, missing = wants or ("series" if over_time else ""), gaps or over_time
        data = table_of(paths[0], kind, columns, label, field, by, unit, missing, told)
    elif len(paths) == 1 and names_corpus(paths[0]):
        data = corpus(str(paths[0]), by, unit)
    else:
        from seriatim.data.formats import read_files

        cells: Any = {"columns": columns, "decimal": decimal, "gaps": gaps or over_time}
        text: Any = {"by": by, "unit": unit, "encoding": encoding, "problems": problems}
        own = {"sample_rate": sample_rate, "frame": frame, "greys": greys}
        own |= {"grid": grid, "struck": struck}
        data = read_files(
            *paths, input_format=input_format, **text, **cells, notes=told, wants=wants, own=own
        )
    data = as_named(data, label, field, wants, gaps or over_time, told)
    if over_time:
        data = in_series(data, label, time, series, channels, known, fill, told)
    if notes is None:
        tell(told, data)
    return data.distinct() if distinct else data


def tell(notes: list[str], data: Sequences) -> None:
    """Notes, and how the data was read, for whoever listens."""
    for words in notes:
        note(words)
    note(data.told, "read")


def refuse_of_files(**asked: str | None) -> None:
    """What is in memory has neither a format nor an encoding."""
    given = [f"--{name.replace('_', '-')} {value}" for name, value in asked.items() if value]
    if given:
        raise ConfigError(
            "this is for files, and the data is in memory", got=", ".join(given), do="Leave it out"
        )


def as_named(
    data: Sequences, label: str | None, field: str | None, wants: str, gaps: bool, notes: list[str]
) -> Sequences:
    """The same with the fields that were named, or are wanted, in their places."""
    if wants in SYNONYMS:
        data = renamed(data, label, field, wants, notes)
    used = [(label, "holds the labels"), (field, "is read")]
    chosen = "".join(f"; {name!r} {words}" for name, words in used if name)
    data = replace(data, told=data.told + chosen if data.told else "")
    label, field = (name and known_name(name) for name in (label, field))
    data = data.labelled(None if gaps and label not in data.fields else label).only(field)
    return replace(data, unit="token") if data.main_kind() == SYMBOLS and not data.unit else data


def in_series(
    table: Sequences,
    label: str | None,
    time: str | None,
    series: str | None,
    channels: str | Names | None,
    known: str | Names | None,
    fill: str | None,
    notes: list[str],
) -> Sequences:
    """A table as series over time; with a `label`, one for each series."""
    from seriatim.data.series import series_of, series_with

    chosen, inputs = (
        each.split(",") if isinstance(each, str) else each for each in (channels, known)
    )
    if label and series:
        made = series_with(table, "label", series, time, chosen, fill or "refuse")
    else:
        made = series_of(table, time, series, chosen, inputs or (), fill or "refuse", notes=notes)
    return replace(made, read_as=table.read_as)


def renamed(
    data: Sequences, label: str | None, field: str | None, wants: str, notes: list[str]
) -> Sequences:
    """The same with the fields that are wanted under the names by which they are known, if they have
    others that are usual: sentiment is a label, review a text."""
    fields = dict(data.fields)
    for name, chosen in ((wants, label), ("text", field)):
        if chosen or name in fields or (name == "text" and "tokens" in fields):
            continue
        plain = {key.lower(): key for key in fields}
        found = next((plain[each] for each in SYNONYMS[name] if each in plain), None)
        if found is not None:
            fields = {name if key == found else key: column for key, column in fields.items()}
            notes.append(f"{data.origin}: the field {found!r} is taken for the {name}")
    return replace(data, fields=fields)


def names_corpus(path: str) -> bool:
    """Whether this is the name of a built-in corpus, and of no file."""
    from seriatim.data.corpora.table import is_corpus

    return is_corpus(str(path)) and not Path(path).exists()


def corpus(name: str, by: str | None, unit: str | None) -> Sequences:
    """A built-in corpus, as it is or (by="line") cut into sequences."""
    from seriatim.data.corpora.table import open_corpus

    data = open_corpus(name)
    data = replace(data, unit=unit or data.unit)
    return in_lines(data) if by == "line" and data.by == "stream" else data


def in_lines(data: Sequences) -> Sequences:
    """A stream as many sequences: text at its lines, tokens every 64 steps."""
    if data.main.kind == TEXT:
        text = str(data.main.raw(0))
        column = Field.of_text(line for line in text.splitlines() if line.strip())
        return Sequences({"text": column}, by="line", unit=data.unit, origin=data.origin)
    if data.main.kind != SYMBOLS:
        raise ConfigError(
            "a stream of numbers has no lines",
            got=data.origin,
            do='Leave that out, or give by="stream"',
        )
    start, stop = data.main.offsets[[0, -1]]
    column = replace(data.main, offsets=np.append(np.arange(start, stop, STEPS), stop))
    return Sequences({"tokens": column}, by="line", unit=data.unit, origin=data.origin)
