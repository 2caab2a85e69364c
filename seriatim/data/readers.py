"""Files as published -> Sequences: text, tables, tagged sentences, parallel files, drawings, melodies; plain, .gz or .xz.

    path -> bytes, unpacked -> UTF-8, checked -> lines -> rows -> fields

A reader returns its fields and the line where each sequence began. Whatever is wrong with a file is a
DataError that names the file, the line where there is one, and the way out.
"""
from __future__ import annotations

import csv
import io
import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from operator import itemgetter

import numpy as np

from seriatim.data.conllu import COLUMNS_ENDINGS, read_document
from seriatim.data.files import MOST_BYTES, bare_ending, lines_of, unpacked, utf8
from seriatim.data.melodies import read_melody
from seriatim.data.sequences import NUMBERS, TEXT, Field, Sequences, Table, offsets_of
from seriatim.data.strokes import read_ndjson, read_npz
from seriatim.data.svg import read_svg
from seriatim.data.tagged import LAYOUTS
from seriatim.errors import ConfigError, DataError, keep, nearest

ENDINGS = {".txt": "text", ".text": "text", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl",
           ".ndjson": "jsonl", ".parquet": "parquet", ".conllu": "conllu", ".svg": "svg", ".npz": "strokes", ".mid": "midi",
           ".midi": "midi"} | dict.fromkeys(COLUMNS_ENDINGS, "columns")
LABELS = {"label", "labels", "class", "category", "target_label", "tag"}    # columns with one symbol a sequence
TOKENS = {"tokens", "tags"}                                                 # columns with symbols between blanks
PAIR = {"source", "target"}                                                 # columns of what is translated: as written, 007 too
MISSING = {"", "nan", "na", "n/a", "null", "none"}
ENOUGH = 0.9                                            # a column with this share of numbers is meant to be numbers
VISIBLE = np.array([not bytes([byte]).isspace() for byte in range(256)])


def read_files(*paths: str, format: str | None = None, by: str | None = None, unit: str | None = None,
               columns: str | Sequence[str] | None = None, problems: list[DataError] | None = None, notes: list[str] | None = None,
               gaps: bool = False) -> Sequences:
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
    options = checked_options(paths, format, by, columns)
    if problems is not None and format in TOLERANT:
        options["problems"] = problems
    if notes is not None and format in ("csv", "tsv"):
        options["notes"] = notes
    if gaps and format in GAPPY:
        options["gaps"] = True
    fields, lines = FORMATS[format](*paths, **options)
    stream = format == "text" and by != "line"
    data = Sequences(fields, by="stream" if stream else "line", unit=unit, origin=", ".join(paths), lines=lines)
    if not len(data):
        raise DataError("the file holds no sequence", file=data.origin, do=f"Check that its format is {format}")
    return data


def format_of(path: str) -> str:
    """The format a file's ending stands for."""
    return ENDINGS.get(bare_ending(path), "text")


def checked_options(paths: Sequence[str], format: str, by: str | None, columns: str | Sequence[str] | None) -> dict:
    """What the reader of a format is given besides its paths."""
    if format not in FORMATS:
        raise ConfigError("unknown format", got=format, do=nearest(format, FORMATS))
    if by not in (None, "stream", "line"):
        raise ConfigError("unknown way to cut text", got=by, do=nearest(by, ["stream", "line"]))
    if by == "stream" and format != "text":
        raise ConfigError("only text is read as a stream", got=f"format {format}")
    if columns is not None and format not in ("csv", "tsv", "conllu"):
        raise ConfigError("columns are named for csv, tsv and conllu only", got=f"format {format}")
    if (len(paths) > 1) != (format == "parallel"):
        raise ConfigError(f"format {format!r} reads {'two or more files' if format == 'parallel' else 'one file'}",
                          got=", ".join(paths))
    if format == "text":
        return {"by": by or "stream"}
    return {} if columns is None else {"columns": columns}


# Text: bytes stay bytes, so that 100 MB cost 100 MB


def read_text(path: str, by: str, gaps: bool = False) -> Table:
    values = np.frombuffer(utf8(path), np.uint8)
    if by == "stream":
        return {"text": Field(values, offsets_of([len(values)]), TEXT)}, None
    column, lines = text_lines(values, skip_blank=not gaps)
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


def read_conllu(path: str, columns: str | Sequence[str] | None = None, problems: list[DataError] | None = None) -> Table:
    names = None if columns is None else column_names(columns, ConfigError)
    if names is not None and len(names) != 2:
        raise ConfigError("of CoNLL-U two columns are read, tokens and tags", got=", ".join(names), do="Write for instance form,xpos")
    for name in names or ():
        if name not in LAYOUTS["conllu"].place:
            raise ConfigError("unknown column of CoNLL-U", got=name, do=nearest(name, LAYOUTS["conllu"].place))
    return read_document(path, "conllu", problems).fields(names)


def read_columns(path: str, problems: list[DataError] | None = None) -> Table:
    return read_document(path, "columns", problems).fields()


# Tables: rows of cells -> columns of one kind -> fields


def read_csv(path: str, columns: str | Sequence[str] | None = None, problems: list[DataError] | None = None, notes: list[str] | None = None,
             gaps: bool = False) -> Table:
    return table(csv_rows(path), columns, path, problems, notes, gaps)


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


def read_tsv(path: str, columns: str | Sequence[str] | None = None, problems: list[DataError] | None = None, notes: list[str] | None = None,
             gaps: bool = False) -> Table:
    return table(((number, line.split("\t")) for number, line in enumerate(lines_of(path), 1) if line), columns, path, problems, notes, gaps)


def table(rows: Iterator[tuple[int, list[str]]], columns: str | Sequence[str] | None, path: str, problems: list[DataError] | None,
          notes: list[str] | None, gaps: bool) -> Table:
    """The fields of rows of text cells; the first row is the header unless the columns are named, or if it has such names all the same."""
    first, header = next(rows, (1, []))
    names = column_names(header, DataError, file=path, line=first) if columns is None else column_names(columns, ConfigError)
    pairs = list(zip((cell.strip().lower() for cell in header), (name.lower() for name in names)))
    named = len(header) == len(names) and (all(cell == name for cell, name in pairs) or any({cell, name} <= LABELS for cell, name in pairs))
    if named and columns is not None and notes is not None:
        notes.append(f"{path}:{first} names the columns, and is left out as a header")
    cells, lines = [], []
    for line, row in rows if named or not header else chain([(first, header)], rows):
        if len(row) != len(names):
            keep(DataError(f"columns found: {len(row)}, expected: {len(names)}", got=row, file=path, line=line,
                           do=f"The columns are: {', '.join(names)}" if len(names) > 1 or ";" not in names[0] else
                           "Its columns lie between semicolons: put commas between them, and points into the numbers, 1234.5"), problems)
        else:
            cells.append(row)
            lines.append(line)
    for place, name in enumerate(names):
        if name in LABELS and not gaps and not all(map(itemgetter(place), cells)):
            cells, lines = labelled(cells, lines, place, name, path, problems)
    written = LABELS | TOKENS | {"text"} | (PAIR if set(names) >= PAIR else set())
    columns = ((name, column if name in written else numbers_or_text(name, column, path, lines, gaps)) for name, column in zip(names, zip(*cells)))
    return {name: field_of_kind(name, "text" if isinstance(column[0], str) else "number", column) for name, column in columns}, np.array(lines, np.int64)


def labelled(cells: list[list[str]], lines: list[int], place: int, name: str, path: str,
             problems: list[DataError] | None) -> tuple[list[list[str]], list[int]]:
    """The rows that have a label."""
    for row, line in zip(cells, lines):
        if not row[place]:
            keep(no_label(path, line, name), problems)
    return [row for row in cells if row[place]], [line for row, line in zip(cells, lines) if row[place]]


def no_label(path: str, line: int, name: str) -> DataError:
    return DataError(f"missing value in column {name!r}", file=path, line=line, do="Give every row a label, or leave the row out")


def column_names(names: str | Iterable[str], error: type[DataError | ConfigError], **place) -> list[str]:
    names = [name.strip() for name in (names.split(",") if isinstance(names, str) else names)]
    if not names or not all(names) or len(set(names)) < len(names):
        raise error("every column needs a name of its own", got=names,
                    do="Correct the header, or name the columns where the file has none", **place)
    return names


def numbers_or_text(name: str, cells: Sequence[str], path: str, lines: Sequence[int], gaps: bool) -> Sequence:
    """Cells as numbers if all of them are, or all that are not missing where gaps may be; else as they are."""
    numbers = [number_in(cell) for cell in cells]
    finite = sum(number is not None and math.isfinite(number) for number in numbers)
    missing = sum(number is not None and math.isnan(number) for number in numbers) if gaps else 0
    if not finite or finite < ENOUGH * (len(cells) - missing):
        return cells
    for number, cell, line in zip(numbers, cells, lines):
        if number is not None and not math.isfinite(number) and not (gaps and math.isnan(number)):
            raise DataError(f"{'missing value' if math.isnan(number) else 'infinite number'} in column {name!r}", got=repr(cell), file=path, line=line,
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


def read_jsonl(path: str, problems: list[DataError] | None = None, gaps: bool = False) -> Table:
    return objects(lines_of(path), path, problems, gaps)


def objects(lines: Iterable[str], path: str, problems: list[DataError] | None = None, gaps: bool = False) -> Table:
    """The fields of JSON objects, one a line, all with the same keys."""
    rows, numbers = [], []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            rows.append(json_object(line, path, number, rows[0] if rows else None, gaps))
            numbers.append(number)
        except DataError as error:
            keep(error, problems)
    return {name: field_of(name, [row[name] for row in rows], path, numbers, gaps)
            for name in (rows[0] if rows else ())}, np.array(numbers, np.int64)


def json_object(line: str, path: str, number: int, first: dict | None, gaps: bool = False) -> dict:
    """The object of a line, with the same keys as the first one, and with its labels unless there may be gaps."""
    try:
        row = json.loads(line)
        if "\\u" in line:
            json.dumps(row, ensure_ascii=False).encode()                    # half of a surrogate pair is no text
    except (ValueError, RecursionError) as error:
        raise DataError("this line is not JSON", got=error, file=path, line=number) from None
    if not isinstance(row, dict):
        raise DataError("this line is not a JSON object", got=line, file=path, line=number,
                        do='Write one object a line: {"text": "...", "label": "..."}')
    if first is not None and row.keys() != first.keys():
        raise DataError("the keys differ from those of the first row", got=", ".join(row), file=path,
                        line=number, do=f"Expected: {', '.join(first)}")
    for name in LABELS & row.keys():
        if row[name] in (None, ""):                                         # a class without a name is missing
            if not gaps:
                raise no_label(path, number, name)
            row[name] = ""
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


def read_parquet(path: str, gaps: bool = False) -> Table:
    child = subprocess.run([sys.executable, "-P", "-c", PARQUET_TO_JSON, str(MOST_BYTES)], input=unpacked(path),
                           capture_output=True, check=False)
    if child.returncode:
        complaint = child.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise DataError("this cannot be read as parquet", file=path,
                        got=complaint if child.returncode > 0 else f"its decoder ended with signal {-child.returncode}",
                        do="Write it again, with columns of text, numbers or lists of them")
    fields, _ = objects(child.stdout.decode().split("\n"), path, gaps=gaps)
    return fields, None


# From the values of one column to a field


def field_of(name: str, values: Sequence, path: str, lines: Sequence[int], gaps: bool = False) -> Field:
    """A column whose rows are all of one kind, as the field its name and kind call for; with `gaps`, null among numbers is nan."""
    kinds = [kind_of(value) for value in values]
    if gaps and "number" in kinds:
        absent = [value is None or value != value for value in values]
        kinds = ["number" if gap else kind for gap, kind in zip(absent, kinds)]
        values = [math.nan if gap else value for gap, value in zip(absent, values)]
    expected = next((kind for kind in kinds if kind != "empty list"), "list of text")
    for kind, value, line in zip(kinds, values, lines):
        alike = kind == expected or (kind == "empty list" and expected.startswith("list"))
        if not alike or family(expected) not in FIELDS:
            raise DataError(f"{kind} in column {name!r}", file=path, line=line,
                            got=None if isinstance(value, (list, dict)) else value,
                            do=f"Expected in every row: {expected if family(expected) in FIELDS else ', or '.join(FIELDS)}")
    return field_of_kind(name, expected, values)


def field_of_kind(name: str, kind: str, values: Sequence) -> Field:
    if name in TOKENS and kind == "text":
        return Field.of_symbols(value.split() for value in values)
    if name in LABELS and not kind.startswith("list"):
        return label_field(values)
    return FIELDS[family(kind)](values)


def family(kind: str) -> str:
    """Lists of channels have equally many in every row; how many is no matter for which field they make."""
    return kind.partition(",")[0]


def kind_of(value: object) -> str:
    """What a value is, in words: a key of FIELDS, with lists of lists also how many numbers each has, or something no field holds."""
    if not isinstance(value, list):
        return scalar_kind(value)
    if value and all(isinstance(item, list) and item and {*map(scalar_kind, item)} == {"number"} for item in value):
        return ", ".join([CHANNELS, *(f"{size} each" for size in sorted({*map(len, value)}))])
    kinds = {scalar_kind(item) for item in value}
    return f"list of {' and '.join(sorted(kinds))}" if kinds else "empty list"


def scalar_kind(value: object) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool):
        return "truth value"
    if isinstance(value, (int, float)):
        return "NaN" if value != value else "number" if abs(value) <= sys.float_info.max else "number out of range"
    return "missing value" if value is None else "nested value"


def label_field(values: Iterable[str | float | bool]) -> Field:
    return Field.of_labels(value if isinstance(value, str) else json.dumps(value) for value in values)


def number_field(values: Sequence[float]) -> Field:
    """One number for each sequence."""
    return Field(np.array(values, np.float64), np.arange(len(values) + 1), NUMBERS)


def channels_field(values: Sequence[list[list[float]]]) -> Field:
    """Equally many numbers at every step: (T, D) for each sequence, some of which may be empty."""
    wide = next(len(value[0]) for value in values if value)
    return Field.of_numbers(np.array(value, np.float64).reshape(-1, wide) for value in values)


CHANNELS = "list of lists of numbers"
FIELDS: dict[str, Callable[..., Field]] = {
    "text": Field.of_text, "number": number_field, "truth value": label_field,
    "list of text": Field.of_symbols, "list of number": Field.of_numbers, CHANNELS: channels_field}

GAPPY = ("text", "csv", "tsv", "jsonl", "parquet")                     # formats in which something can be missing
TOLERANT = {"csv", "tsv", "jsonl", "conllu", "columns", "quickdraw"}    # formats whose lines can be wrong one by one

FORMATS: dict[str, Callable[..., Table]] = {
    "text": read_text, "csv": read_csv, "tsv": read_tsv, "jsonl": read_jsonl, "parquet": read_parquet,
    "conllu": read_conllu, "columns": read_columns, "parallel": read_parallel,
    "quickdraw": read_ndjson, "strokes": read_npz, "svg": read_svg, "midi": read_melody}
