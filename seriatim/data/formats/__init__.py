"""Files as published -> Sequences, plain, .gz or .xz: a file for each format or family, and a row of FORMATS.

    path -> bytes, unpacked -> UTF-8, checked -> rows -> fields

A reader returns its fields and the line where each sequence began. Whatever is wrong with a file is
a DataError that names the file, the line where there is one, and the way out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from seriatim.data.files import bare_ending
from seriatim.data.sequences import Sequences, Table
from seriatim.errors import ConfigError, DataError, nearest


@dataclass(frozen=True)
class Format:
    """How a format is read: the file endings that stand for it, its reader, and what that can be
    asked for."""

    reads: str  # "module:function" of (path, ...) -> Table; the module is loaded when it is used
    endings: tuple[str, ...] = ()
    streams: bool = False  # takes `by`: one stream, or a sequence a line
    parallel: bool = False  # several files whose lines belong together
    columns: bool = False  # takes the names of `columns`
    problems: bool = False  # lines can be wrong one by one
    notes: bool = False  # has something to tell though nothing is wrong
    gaps: bool = False  # something can be missing


FORMATS: dict[str, Format] = {
    "text": Format(
        "seriatim.data.formats.text:read_text", (".txt", ".text"), streams=True, gaps=True
    ),
    "csv": Format(
        "seriatim.data.formats.delimited:read_csv",
        (".csv",),
        columns=True,
        problems=True,
        notes=True,
        gaps=True,
    ),
    "tsv": Format(
        "seriatim.data.formats.delimited:read_tsv",
        (".tsv", ".tab"),
        columns=True,
        problems=True,
        notes=True,
        gaps=True,
    ),
    "jsonl": Format(
        "seriatim.data.formats.jsonl:read_jsonl", (".jsonl", ".ndjson"), problems=True, gaps=True
    ),
    "parquet": Format("seriatim.data.formats.parquet:read_parquet", (".parquet",), gaps=True),
    "conllu": Format(
        "seriatim.data.formats.conllu:read_conllu", (".conllu",), columns=True, problems=True
    ),
    "columns": Format(
        "seriatim.data.formats.conllu:read_columns", (".conll", ".bio", ".iob"), problems=True
    ),
    "parallel": Format("seriatim.data.formats.text:read_parallel", parallel=True),
    "quickdraw": Format("seriatim.data.formats.strokes:read_ndjson", problems=True),
    "strokes": Format("seriatim.data.formats.strokes:read_npz", (".npz",)),
    "svg": Format("seriatim.data.formats.svg:read_svg", (".svg",)),
    "midi": Format("seriatim.data.formats.midi:read_melody", (".mid", ".midi"), notes=True),
    "roll": Format("seriatim.data.formats.midi:read_roll"),
}


def read_files(
    *paths: str,
    format: str | None = None,
    by: str | None = None,
    unit: str | None = None,
    columns: str | Sequence[str] | None = None,
    problems: list[DataError] | None = None,
    notes: list[str] | None = None,
    gaps: bool = False,
) -> Sequences:
    """Read a file, or several whose lines belong together; "-" is standard input.

    The format follows from the file's ending unless it is given; several paths are parallel files.
    `by` cuts text: "stream", all of it one sequence, or "line". `columns` names the columns of a table
    without a header, or those of CoNLL-U to be read as tokens and tags: "form,xpos". A list of `problems`
    takes whatever is wrong with a single line, which is then left out; one of `notes` what is worth knowing
    though nothing is wrong. With `gaps`, what is missing is left as it is: blank lines of text are sequences,
    missing labels are empty and missing numbers nan.

    >>> read_files("train.de.gz", "train.en.gz")                                   # doctest: +SKIP
    >>> read_files("SMSSpamCollection", format="tsv", columns="label,text")        # doctest: +SKIP
    """
    paths = tuple(map(str, paths))
    if not paths:
        raise ConfigError("no file was named", do="Give at least one path")
    format = format or (format_of(paths[0]) if len(paths) == 1 else "parallel")
    row = checked_format(paths, format, by, columns)
    asked: dict[str, tuple[bool, Any]] = {  # whether the format can be asked for it, and what for
        "by": (row.streams, by or "stream"),
        "columns": (row.columns, columns),
        "problems": (row.problems, problems),
        "notes": (row.notes, notes),
        "gaps": (row.gaps, gaps),
    }
    options = {name: value for name, (able, value) in asked.items() if able}
    fields, lines = reader_of(row)(*paths, **options)
    stream = row.streams and by != "line"
    data = Sequences(
        fields, by="stream" if stream else "line", unit=unit, origin=", ".join(paths), lines=lines
    )
    if not len(data):
        raise DataError(
            "the file holds no sequence", file=data.origin, do=f"Check that its format is {format}"
        )
    return data


def format_of(path: str) -> str:
    """The format a file's ending stands for; text where it stands for none."""
    ending = bare_ending(path)
    return next((name for name, row in FORMATS.items() if ending in row.endings), "text")


def checked_format(
    paths: Sequence[str], format: str, by: str | None, columns: str | Sequence[str] | None
) -> Format:
    """The row of a format, if that can be asked for what is asked."""
    if format not in FORMATS:
        raise ConfigError("unknown format", got=format, do=nearest(format, FORMATS))
    row = FORMATS[format]
    if by not in (None, "stream", "line"):
        raise ConfigError("unknown way to cut text", got=by, do=nearest(by, ["stream", "line"]))
    if by == "stream" and not row.streams:
        raise ConfigError("only text is read as a stream", got=f"format {format}")
    if columns is not None and not row.columns:
        *able, last = (name for name, each in FORMATS.items() if each.columns)
        raise ConfigError(
            f"columns are named for {', '.join(able)} and {last} only", got=f"format {format}"
        )
    if (len(paths) > 1) != row.parallel:
        raise ConfigError(
            f"format {format!r} reads {'two or more files' if row.parallel else 'one file'}",
            got=", ".join(paths),
        )
    return row


def reader_of(row: Format) -> Callable[..., Table]:
    """The function that reads a format."""
    module, _, name = row.reads.partition(":")
    return getattr(import_module(module), name)
