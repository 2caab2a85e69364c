"""Files as published -> Sequences, plain, .gz or .xz: a file for each format or family, and a row of FORMATS.

    path -> bytes, unpacked -> UTF-8, checked -> rows -> fields

A reader returns its fields and the line where each sequence began. Whatever is wrong with a file is
a DataError that names the file, the line where there is one, and the way out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from seriatim.data.files import STANDARD_INPUT, bare_ending
from seriatim.data.looks import COLUMNS, looks_like
from seriatim.data.marks import MARKS
from seriatim.data.sequences import Sequences, Table
from seriatim.errors import ConfigError, DataError, nearest

SHOWN = 10  # fields that are told


@dataclass(frozen=True)
class Format:
    """How a format is read: the file endings that stand for it, its reader, and what that can be
    asked for."""

    reads: str  # "module:function" of (path, ...) -> Table; the module is loaded when it is used
    endings: tuple[str, ...] = ()
    streams: bool = False  # takes `by`: one stream, or a sequence a line; "" as is usual for it
    parallel: bool = False  # several files whose lines belong together
    columns: bool = False  # takes the names of `columns`
    problems: bool = False  # lines can be wrong one by one
    gaps: bool = False  # something can be missing
    text: bool = False  # has an `encoding`, and `notes` on how it was read
    notes: bool = False  # has something else to tell though nothing is wrong
    header: bool = False  # may have one or not: takes what is wanted, tells what was settled
    single: bool = False  # a file is one sequence: several are read together
    own: tuple[str, ...] = ()  # options that no other format has
    sets: str = ""  # the format that reads all that sounds at once in such a file, as sets
    symbols: str = ""  # the format that reads such a file where symbols are wanted, and not numbers


FORMATS: dict[str, Format] = {
    "text": Format(
        "seriatim.data.formats.text:read_text",
        (".txt", ".text"),
        streams=True,
        gaps=True,
        text=True,
    ),
    "csv": Format(
        "seriatim.data.formats.delimited:read_csv",
        (".csv",),
        columns=True,
        problems=True,
        gaps=True,
        text=True,
        header=True,
    ),
    "tsv": Format(
        "seriatim.data.formats.delimited:read_tsv",
        (".tsv", ".tab"),
        columns=True,
        problems=True,
        gaps=True,
        text=True,
        header=True,
    ),
    "jsonl": Format(
        "seriatim.data.formats.jsonl:read_jsonl",
        (".jsonl", ".ndjson"),
        problems=True,
        gaps=True,
        text=True,
    ),
    "parquet": Format("seriatim.data.formats.parquet:read_parquet", (".parquet",), gaps=True),
    "conllu": Format(
        "seriatim.data.formats.conllu:read_conllu",
        (".conllu",),
        columns=True,
        problems=True,
        text=True,
    ),
    "columns": Format(
        "seriatim.data.formats.conllu:read_columns",
        (".conll", ".bio", ".iob"),
        problems=True,
        text=True,
    ),
    "labelled": Format("seriatim.data.formats.text:read_labelled", gaps=True, text=True),
    "parallel": Format("seriatim.data.formats.text:read_parallel", parallel=True, text=True),
    "quickdraw": Format("seriatim.data.formats.strokes:read_ndjson", problems=True),
    "strokes": Format("seriatim.data.formats.strokes:read_npz", (".npz",)),
    "fasta": Format(
        "seriatim.data.formats.fasta:read_fasta",
        (".fasta", ".fa", ".fna", ".faa", ".ffn", ".fastq", ".fq"),
        streams=True,
        problems=True,
        text=True,
    ),
    "pgn": Format("seriatim.data.formats.pgn:read_pgn", (".pgn",), text=True),
    "moves": Format("seriatim.data.formats.pgn:read_moves", (".moves",), text=True),
    "wav": Format(
        "seriatim.data.formats.wav:read_wav",
        (".wav", ".wave"),
        single=True,
        own=("sample_rate", "frame"),
    ),
    "png": Format("seriatim.data.formats.png:read_png", (".png",), single=True, symbols="pixels"),
    "pixels": Format("seriatim.data.formats.png:read_pixels", own=("greys",)),
    "svg": Format("seriatim.data.formats.svg:read_svg", (".svg",), single=True),
    "midi": Format(
        "seriatim.data.formats.midi:read_melody",
        (".mid", ".midi"),
        notes=True,
        single=True,
        sets="roll",
    ),
    "roll": Format("seriatim.data.formats.midi:read_roll", own=("grid", "struck")),
}


def read_files(
    *paths: str,
    input_format: str | None = None,
    by: str | None = None,
    unit: str | None = None,
    columns: str | Sequence[str] | None = None,
    problems: list[DataError] | None = None,
    notes: list[str] | None = None,
    gaps: bool = False,
    encoding: str | None = None,
    wants: str = "",
    decimal: str | None = None,
    own: Mapping[str, Any] | None = None,
) -> Sequences:
    """Read a file, or several whose lines belong together; "-" is standard input.

    The format follows from the file's ending unless it is given; several paths are parallel files.
    `by` cuts text: "stream", all of it one sequence, or "line". `columns` names the columns of a table
    without a header, or those of CoNLL-U to be read as tokens and tags: "form,xpos". A list of `problems`
    takes whatever is wrong with a single line, which is then left out; one of `notes` what is worth knowing
    though nothing is wrong. With `gaps`, what is missing is left as it is: blank lines of text are sequences,
    missing labels are empty and missing numbers nan. `encoding` is UTF-8 unless it is given, or the file
    says or shows otherwise, `decimal` ("comma", "point") the mark before decimals in csv and tsv. What a
    task `wants` ("label", "value" or "tags") is looked for in tables without a header and in text that is one. `own` are options of this format alone.

    >>> read_files("train.de.gz", "train.en.gz")                                   # doctest: +SKIP
    >>> read_files("SMSSpamCollection", input_format="tsv", columns="label,text")  # doctest: +SKIP
    """
    paths = tuple(map(str, paths))
    notes = [] if notes is None else notes
    settled: dict[str, str] = {}
    format = input_format
    if format is None and len(paths) == 1:
        format = noticed(paths[0], encoding or "", wants, columns is not None, notes, settled)
    format = format or "parallel"
    row = checked_format(paths, format, by, columns, encoding, decimal)
    if decimal and not row.header:
        notes.append(
            f"{', '.join(paths)}: a decimal {decimal} is for csv and tsv, not for {format}"
        )
    asked: dict[str, Any] = {
        "by": by or "",
        "columns": columns,
        "problems": problems,
        "notes": notes,
        "gaps": gaps,
        "encoding": encoding or "",
        "wants": wants,
        "settled": settled,
        "decimal": decimal or "",
        **{name: value for name, value in (own or {}).items() if value},
    }
    notes += [
        f"{', '.join(paths)}: --{name.replace('_', '-')} is not for {format}, and left out"
        for name in (own or {}).keys() - set(row.own)
        if asked.get(name)
    ]
    options = options_of(row, asked)
    fields, lines = reader_of(row)(*paths, **options)
    alone = all(len(column) == 1 for column in fields.values())
    by = "stream" if row.streams and by != "line" and alone else "line"
    origin = ", ".join(paths)
    data = Sequences(fields, by=by, unit=unit, origin=origin, lines=lines, read_as=settled)
    if not len(data):
        raise DataError(
            "the file holds no sequence", file=data.origin, do=f"Check that its format is {format}"
        )
    return replace(data, told=understood(data, format, columns, settled))


def options_of(row: Format, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Of what is asked, that for which the format can be asked."""
    able = {
        "by": row.streams,
        "columns": row.columns,
        "problems": row.problems,
        "notes": row.text or row.notes,
        "gaps": row.gaps,
        "encoding": row.text,
        "wants": row.header,
        "settled": row.header,
        "decimal": row.header,
    } | dict.fromkeys(row.own, True)
    return {name: value for name, value in asked.items() if able.get(name)}


def understood(
    data: Sequences, format: str, columns: str | Sequence[str] | None, settled: dict[str, str]
) -> str:
    """How a file was read, in a line."""
    many = f"{len(data):,} sequence{'s' * (len(data) != 1)}"
    how = {"text": f"text by {data.by}", "labelled": "lines that begin with their label"}
    words = f"{data.origin}: read as {how.get(format, format)}, {many}"
    if FORMATS[format].header:
        words += " without a header" if columns or "columns" in settled else " below a header"
    if len(data.fields) > 1:
        words += f"; fields {', '.join(list(data.fields)[:SHOWN])}"
    if len(data.fields) > SHOWN:
        words += f" and {len(data.fields) - SHOWN:,} more"
    return words


def noticed(
    path: str, encoding: str, wants: str, named: bool, notes: list[str], settled: dict[str, str]
) -> str:
    """The format of a file by its ending; text that is a table is read as what is wanted, which is
    settled and noted, or else as text, with a note on what it looks like."""
    format = format_of(path)
    tagged = format == "tsv" and wants == COLUMNS.holds and not named
    if path == STANDARD_INPUT or not (format == "text" or tagged):
        return format
    looks = looks_like(path, encoding)
    if format == "tsv" and looks != COLUMNS:
        return format
    if looks is None:
        return format
    if looks.holds == wants and not named:
        notes.append(f"{path}: {looks.words}; read so: otherwise say --input-format {format}")
        settled["input_format"] = looks.format
        return looks.format
    if looks.format != "labelled":
        notes.append(f"{path}: {looks.words}, read as text; say --input-format {looks.format}")
    return format


def format_of(path: str) -> str:
    """The format a file's ending stands for; text where it stands for none."""
    ending = bare_ending(path)
    return next((name for name, row in FORMATS.items() if ending in row.endings), "text")


def checked_format(
    paths: Sequence[str],
    format: str,
    by: str | None,
    columns: str | Sequence[str] | None,
    encoding: str | None,
    decimal: str | None,
) -> Format:
    """The row of a format, if that can be asked for what is asked."""
    if format not in FORMATS:
        raise ConfigError("unknown format", got=format, do=nearest(format, FORMATS))
    row = FORMATS[format]
    if not paths:
        raise ConfigError("no file was named", do="Give at least one path")
    if by not in (None, "stream", "line"):
        raise ConfigError("unknown way to cut text", got=by, do=nearest(by, ["stream", "line"]))
    if encoding and not row.text:
        raise ConfigError("only text has an encoding", got=f"format {format}", do="Leave it out")
    if decimal and decimal not in MARKS:
        raise ConfigError("unknown decimal mark", got=decimal, do=nearest(decimal, MARKS))
    if by == "stream" and not row.streams:
        raise ConfigError("only texts are read as a stream", got=f"format {format}")
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
