"""Files as published -> Sequences: text, tables, tagged sentences, parallel files; plain, .gz or .xz.

    path -> bytes, unpacked -> UTF-8, checked -> lines -> rows -> fields

A reader returns its fields and the line where each sequence began. Whatever is wrong with a file is a
DataError that names the file, the line where there is one, and the way out.
"""
from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import lzma
import math
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from seriatim.data.sequences import NUMBERS, TEXT, Field, Sequences, offsets_of
from seriatim.data.tagged import columns_pair, conllu_pair, tagged
from seriatim.errors import ConfigError, DataError, nearest, shorten

Table = tuple[dict[str, Field], np.ndarray | None]      # the fields, and (S,) line numbers where lines mean something

MOST_BYTES = 8 * 10**9                                  # of one file, unpacked: a small archive may hold a huge one
CHUNK = 1 << 24
OPENERS: dict[str, Callable] = {".gz": gzip.open, ".xz": lzma.open}
ENDINGS = {".txt": "text", ".text": "text", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl",
           ".ndjson": "jsonl", ".parquet": "parquet", ".conllu": "conllu", ".conll": "columns", ".bio": "columns",
           ".iob": "columns"}
LABELS = {"label", "labels", "class", "category", "target_label", "tag"}    # columns with one symbol a sequence
TOKENS = {"tokens", "tags"}                                                 # columns with symbols between blanks
MISSING = {"", "nan", "na", "n/a", "null", "none"}
ENOUGH = 0.9                                            # a column with this share of numbers is meant to be numbers
VISIBLE = np.array([not bytes([byte]).isspace() for byte in range(256)])


def read_files(*paths: str, format: str | None = None, by: str | None = None, unit: str | None = None,
               columns: str | Sequence[str] | None = None) -> Sequences:
    """Read a file, or several whose lines belong together.

    The format follows from the file's ending unless it is given; several paths are parallel files.
    `by` cuts text: "stream", all of it one sequence, or "line". `columns` names the columns of a table
    without a header.

    >>> read_files("train.de.gz", "train.en.gz")                                   # doctest: +SKIP
    >>> read_files("SMSSpamCollection", format="tsv", columns="label,text")        # doctest: +SKIP
    """
    paths = tuple(map(str, paths))
    if not paths:
        raise ConfigError("no file was named", do="Give at least one path")
    format = format or (format_of(paths[0]) if len(paths) == 1 else "parallel")
    options = checked_options(paths, format, by, columns)
    fields, lines = FORMATS[format](*paths, **options)
    stream = format == "text" and by != "line"
    data = Sequences(fields, by="stream" if stream else "line", unit=unit, origin=", ".join(paths), lines=lines)
    if not len(data):
        raise DataError("the file holds no sequence", file=data.origin, do=f"Check that its format is {format}")
    return data


def format_of(path: str) -> str:
    """The format a file's ending stands for."""
    name = Path(path.lower())
    return ENDINGS.get(Path(name.stem).suffix if name.suffix in OPENERS else name.suffix, "text")


def checked_options(paths: Sequence[str], format: str, by: str | None, columns: str | Sequence[str] | None) -> dict:
    """What the reader of a format is given besides its paths."""
    if format not in FORMATS:
        raise ConfigError("unknown format", got=format, do=nearest(format, FORMATS))
    if by not in (None, "stream", "line"):
        raise ConfigError("unknown way to cut text", got=by, do=nearest(by, ["stream", "line"]))
    if by == "stream" and format != "text":
        raise ConfigError("only text is read as a stream", got=f"format {format}")
    if columns is not None and format not in ("csv", "tsv"):
        raise ConfigError("columns are named for csv and tsv only", got=f"format {format}")
    if (len(paths) > 1) != (format == "parallel"):
        raise ConfigError(f"format {format!r} reads {'two or more files' if format == 'parallel' else 'one file'}",
                          got=", ".join(paths))
    if format == "text":
        return {"by": by or "stream"}
    return {} if columns is None else {"columns": columns}


# From a path to checked lines


def unpacked(path: str) -> bytearray:
    """The bytes of a file, decompressed as its ending says."""
    opener = OPENERS.get(Path(path).suffix.lower(), open)
    content = bytearray()
    try:
        with opener(path, "rb") as file:
            while chunk := file.read(CHUNK):
                content += chunk
                if len(content) > MOST_BYTES:
                    raise DataError(f"the file holds more than {MOST_BYTES:,} bytes", file=path,
                                    do="Cut it into smaller files")
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error, MemoryError) as error:
        raise DataError("the file is damaged or too large", got=error, file=path, do="Fetch or pack it again") from None
    except FileNotFoundError:
        raise DataError("there is no such file", file=path, do=similar_files(path)) from None
    except IsADirectoryError:
        raise DataError("this is a folder", file=path, do="Name a file inside it") from None
    except (OSError, ValueError) as error:
        raise DataError("the file cannot be read", got=error, file=path, do="Check its name and rights") from None
    return content


def similar_files(path: str) -> str:
    """A hint for a path that leads nowhere: the nearest name in the same folder."""
    try:
        names = sorted(entry.name for entry in Path(path).parent.iterdir())
    except OSError:
        return f"There is no folder {str(Path(path).parent)!r} either"
    return shorten(nearest(Path(path).name, names)) if names else "Its folder is empty"


def utf8(path: str) -> bytearray:
    """The bytes of a text file, known to be UTF-8, without a byte order mark."""
    content = unpacked(path)
    if content.startswith(codecs.BOM_UTF8):
        del content[:len(codecs.BOM_UTF8)]
    if not content:
        raise DataError("the file is empty", file=path, do="Give a file with at least one line")
    if 0 in content[:4096]:
        raise DataError("this looks like a binary file", file=path, do="Give UTF-8 text, or name its format")
    decoder = codecs.getincrementaldecoder("utf-8")()                       # a chunk at a time: as text it may be four times as large
    for begin in range(0, len(content), CHUNK):
        held = len(decoder.getstate()[0])                                   # bytes of a character that was cut
        try:
            decoder.decode(content[begin:begin + CHUNK], begin + CHUNK >= len(content))
        except UnicodeDecodeError as error:
            place = begin - held + error.start
            raise DataError("this is not UTF-8", got=f"byte 0x{content[place]:02x}", file=path, line=content.count(b"\n", 0, place) + 1,
                            do="Convert it, for instance: iconv -f latin1 -t utf-8 OLD > NEW") from None
    return content


def lines_of(path: str) -> list[str]:
    """The lines of a text file without their endings; only \\n and \\r\\n end a line."""
    return [line.removesuffix("\r") for line in utf8(path).decode().removesuffix("\n").split("\n")]


# Text: bytes stay bytes, so that 100 MB cost 100 MB


def read_text(path: str, by: str) -> Table:
    values = np.frombuffer(utf8(path), np.uint8)
    if by == "stream":
        return {"text": Field(values, offsets_of([len(values)]), TEXT)}, None
    column, lines = text_lines(values, skip_blank=True)
    return {"text": column}, lines


def read_parallel(*paths: str) -> Table:
    columns = [text_lines(np.frombuffer(utf8(path), np.uint8), skip_blank=False)[0] for path in paths]
    counts = [len(column) for column in columns]
    if len(set(counts)) > 1:
        raise DataError("parallel files need equally many lines", file=", ".join(paths),
                        got=", ".join(map(str, counts)), do="Line i of each file belongs together, so keep empty lines")
    names = ["source", "target"] + [f"target{i}" for i in range(2, len(paths))]
    return dict(zip(names, columns)), np.arange(1, counts[0] + 1)


def text_lines(values: np.ndarray, skip_blank: bool) -> tuple[Field, np.ndarray]:
    """Each line a sequence, without its ending: (N,) bytes -> the field of S lines, (S,) line numbers."""
    newlines = np.flatnonzero(values == ord("\n"))
    starts = np.append(0, newlines + 1)
    returns = (newlines > starts[:-1]) & (values[newlines - 1] == ord("\r"))
    stops = np.append(newlines - returns, len(values))
    lines = np.arange(1, len(starts) + 1)
    if starts[-1] == len(values):                                           # nothing follows the last newline
        starts, stops, lines = starts[:-1], stops[:-1], lines[:-1]
    if skip_blank:
        written = np.logical_or.reduceat(VISIBLE[values], starts)           # (S,) is there anything to see?
        starts, stops, lines = starts[written], stops[written], lines[written]
    edges = np.zeros(len(values) + 1, np.int8)                              # +1 where a line begins, -1 where it ends
    edges[starts] += 1
    edges[stops] -= 1
    inside = np.cumsum(edges[:-1], dtype=np.int8).view(bool)                # (N,)
    return Field(values[inside], offsets_of(stops - starts), TEXT), lines


def read_conllu(path: str) -> Table:
    return tagged(lines_of(path), conllu_pair, path)


def read_columns(path: str) -> Table:
    return tagged(lines_of(path), columns_pair, path)


# Tables: rows of cells -> columns of one kind -> fields


def read_csv(path: str, columns: str | Sequence[str] | None = None) -> Table:
    return table(csv_rows(path), columns, path)


def csv_rows(path: str) -> Iterator[tuple[int, list[str]]]:
    """Rows with the line they begin on; blank lines are skipped."""
    csv.field_size_limit(2**31 - 1)                                         # a cell may be a whole document
    reader = csv.reader(io.StringIO(utf8(path).decode(), newline=""), strict=True)
    line = 1
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError("this row is not valid csv", got=error, file=path, line=line,
                        do='Put cells with quotes in quotes and double those inside: "say ""yes"""') from None


def read_tsv(path: str, columns: str | Sequence[str] | None = None) -> Table:
    return table(((number, line.split("\t")) for number, line in enumerate(lines_of(path), 1) if line), columns, path)


def table(rows: Iterator[tuple[int, list[str]]], columns: str | Sequence[str] | None, path: str) -> Table:
    """The fields of rows of text cells; the first row is the header unless the columns are named."""
    if columns is None:
        line, header = next(rows, (1, []))
        names = column_names(header, DataError, file=path, line=line)
    else:
        names = column_names(columns.split(",") if isinstance(columns, str) else columns, ConfigError)
    cells, lines = [], []
    for line, row in rows:
        if len(row) != len(names):
            raise DataError(f"columns found: {len(row)}, expected: {len(names)}", got=row, file=path, line=line,
                            do=f"The columns are: {', '.join(names)}")
        cells.append(row)
        lines.append(line)
    return {name: field_of(name, numbers_or_text(name, column, path, lines), path, lines)
            for name, column in zip(names, zip(*cells))}, np.array(lines, np.int64)


def column_names(names: Iterable[str], error: type[DataError | ConfigError], **place) -> list[str]:
    names = [name.strip() for name in names]
    if not names or not all(names) or len(set(names)) < len(names):
        raise error("every column needs a name of its own", got=names,
                    do="Correct the header, or name the columns where the file has none", **place)
    return names


def numbers_or_text(name: str, cells: Sequence[str], path: str, lines: Sequence[int]) -> Sequence:
    """Cells as numbers if all of them are, else as they are."""
    if name in LABELS or name in TOKENS or name == "text":
        return cells
    numbers = [number_in(cell) for cell in cells]
    finite = [number is not None and math.isfinite(number) for number in numbers]
    if sum(finite) < ENOUGH * len(cells):
        return cells
    for number, cell, line in zip(numbers, cells, lines):
        if number is not None and not math.isfinite(number):
            raise DataError(f"missing value in column {name!r}", got=repr(cell), file=path, line=line,
                            do="Fill it in or leave the row out")
    return cells if None in numbers else numbers


def number_in(cell: str) -> float | None:
    """The number a cell holds, nan for a missing one, None for anything else."""
    if cell.strip().lower() in MISSING:
        return math.nan
    try:
        return None if "_" in cell else float(cell)                         # float("1_2") is 12, a name for most
    except ValueError:
        return None


def read_jsonl(path: str) -> Table:
    return objects(lines_of(path), path)


def objects(lines: Iterable[str], path: str) -> Table:
    """The fields of JSON objects, one a line, all with the same keys."""
    rows, numbers = [], []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        rows.append(json_object(line, path, number))
        numbers.append(number)
        if rows[-1].keys() != rows[0].keys():
            raise DataError("the keys differ from those of the first row", got=", ".join(rows[-1]), file=path,
                            line=number, do=f"Expected: {', '.join(rows[0])}")
    return {name: field_of(name, [row[name] for row in rows], path, numbers)
            for name in (rows[0] if rows else ())}, np.array(numbers, np.int64)


def json_object(line: str, path: str, number: int) -> dict:
    try:
        row = json.loads(line)
        if "\\u" in line:
            json.dumps(row, ensure_ascii=False).encode()                    # half of a surrogate pair is no text
    except (ValueError, RecursionError) as error:
        raise DataError("this line is not JSON", got=error, file=path, line=number) from None
    if not isinstance(row, dict):
        raise DataError("this line is not a JSON object", got=line, file=path, line=number,
                        do='Write one object a line: {"text": "...", "label": "..."}')
    return row


# Polars ends the whole process when a damaged file states an absurd size, so it reads in a process of its own.
PARQUET_TO_JSON = """
import sys, polars
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
except (ImportError, ValueError):
    pass
frame = polars.read_parquet(sys.stdin.buffer).with_columns(polars.selectors.decimal().cast(polars.Float64))
sys.stdout.buffer.write(frame.write_ndjson().encode())
"""


def read_parquet(path: str) -> Table:
    child = subprocess.run([sys.executable, "-P", "-c", PARQUET_TO_JSON, str(MOST_BYTES)], input=unpacked(path),
                           capture_output=True, check=False)
    if child.returncode:
        complaint = child.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise DataError("this cannot be read as parquet", file=path,
                        got=complaint if child.returncode > 0 else f"its decoder ended with signal {-child.returncode}",
                        do="Write it again, with columns of text, numbers or lists of them")
    fields, _ = objects(child.stdout.decode().split("\n"), path)
    return fields, None


# From the values of one column to a field


def field_of(name: str, values: Sequence, path: str, lines: Sequence[int]) -> Field:
    """A column whose rows are all of one kind, as the field its name and kind call for."""
    if name in LABELS:
        values = [None if value == "" else value for value in values]       # a class without a name is missing
        if None in values:
            raise DataError(f"missing value in column {name!r}", file=path, line=lines[values.index(None)], do="Give every row a label, or leave the row out")
    kinds = [kind_of(value) for value in values]
    expected = next((kind for kind in kinds if kind != "empty list"), "list of text")
    for kind, value, line in zip(kinds, values, lines):
        alike = kind == expected or (kind == "empty list" and expected.startswith("list"))
        if not alike or expected not in FIELDS:
            raise DataError(f"{kind} in column {name!r}", file=path, line=line,
                            got=None if isinstance(value, (list, dict)) else value,
                            do=f"Expected in every row: {expected if expected in FIELDS else ', or '.join(FIELDS)}")
    if name in TOKENS and expected == "text":
        return Field.of_symbols(value.split() for value in values)
    if name in LABELS and not expected.startswith("list"):
        return label_field(values)
    return FIELDS[expected](values)


def kind_of(value: object) -> str:
    """What a value is, in words: a key of FIELDS, or something no field holds."""
    if not isinstance(value, list):
        return scalar_kind(value)
    kinds = {scalar_kind(item) for item in value}
    return f"list of {' and '.join(sorted(kinds))}" if kinds else "empty list"


def scalar_kind(value: object) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool):
        return "truth value"
    if isinstance(value, (int, float)):
        return "number" if abs(value) <= sys.float_info.max else "number out of range"
    return "missing value" if value is None else "nested value"


def label_field(values: Iterable[str | float | bool]) -> Field:
    return Field.of_labels(value if isinstance(value, str) else json.dumps(value) for value in values)


def number_field(values: Sequence[float]) -> Field:
    """One number for each sequence."""
    return Field(np.array(values, np.float64), np.arange(len(values) + 1), NUMBERS)


FIELDS: dict[str, Callable[..., Field]] = {
    "text": Field.of_text, "number": number_field, "truth value": label_field,
    "list of text": Field.of_symbols, "list of number": Field.of_numbers}

FORMATS: dict[str, Callable[..., Table]] = {
    "text": read_text, "csv": read_csv, "tsv": read_tsv, "jsonl": read_jsonl, "parquet": read_parquet,
    "conllu": read_conllu, "columns": read_columns, "parallel": read_parallel}
