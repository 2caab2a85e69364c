"""JSON lines: an object a line, all with the same keys.

    bytes -> are all lines made alike? -> polars, told the types of the first line -> columns -> fields
                     no -> line by line: slow, but it can name the line that is wrong

Told the types, polars refuses what does not fit them, but for three things: to a column of text it
takes anything, a key that is not there is null, and one that is there twice or not in the first
line is passed over. So quotes and colons are counted in every line. Shapes: N bytes, L lines, S
rows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from seriatim.data.columns import (
    CHANNELS,
    LABELS,
    TOKENS,
    family,
    field_of,
    field_of_kind,
    kind_of,
    no_label,
    number_field,
    text_field,
)
from seriatim.data.files import utf8
from seriatim.data.sequences import NUMBERS, Field, Table, offsets_of
from seriatim.errors import DataError, keep

if TYPE_CHECKING:
    import polars

CONTROL = bytes(sorted({*range(32)} - {ord("\n")}))  # no line of JSON has one inside a string


HALF = re.compile(rb"\\u[dD]")  # may be half of a surrogate pair, which is no text


DEEPEST = 3  # an object, in it a list, in it lists


MARKS = np.zeros(256, np.int8)  # by how much a byte changes the depth


MARKS[[*b"{["]], MARKS[[*b"}]"]] = 1, -1


def read_jsonl(
    path: str,
    problems: list[DataError] | None = None,
    gaps: bool = False,
    encoding: str = "",
    notes: list[str] | None = None,
) -> Table:
    """An object a line: text, numbers, truth values, lists of them, and lists of channels."""
    return objects(utf8(path, encoding, notes), path, problems, gaps)


def objects(
    content: bytes | bytearray,
    path: str,
    problems: list[DataError] | None = None,
    gaps: bool = False,
) -> Table:
    """The fields of JSON objects, one a line."""
    return quick_objects(content, path, gaps) or careful_objects(
        (line.removesuffix("\r") for line in content.decode().split("\n")), path, problems, gaps
    )


# All lines at once


def quick_objects(content: bytes | bytearray, path: str, gaps: bool) -> Table | None:
    """The fields as polars reads them; None where it might read them differently from us, or not at all."""
    try:
        first = json_object(first_line(content), path, 1, None, gaps)
    except DataError:
        return None
    kinds = {name: kind_of(value) for name, value in first.items()}
    content = bytes(content.replace(b"\r\n", b"\n").removesuffix(b"\r"))
    counted = counts_of(content, len(kinds))
    if counted is None:
        return None
    lines, quotes = counted
    frame = frame_of(content, kinds, len(lines))
    if frame is None or (quotes != quotes_of(frame, kinds)).any():
        return None
    fields = {name: quick_field(name, kind, frame[name], gaps) for name, kind in kinds.items()}
    found = {name: column for name, column in fields.items() if column is not None}
    return (found, lines) if len(found) == len(fields) else None


def first_line(content: bytes | bytearray) -> str:
    """The first line that is not blank."""
    start = 0
    while start < len(content):
        stop = content.find(b"\n", start)
        stop = len(content) if stop < 0 else stop
        line = content[start:stop].decode()
        if line.strip():
            return line
        start = stop + 1
    return ""


def counts_of(content: bytes, keys: int) -> tuple[np.ndarray, np.ndarray] | None:
    """(S,) the lines that hold rows, and (S,) how many quotes each has, not counting those inside of strings.

    None if a line has not as many colons as there are keys, lists deeper than any field, or bytes
    that are not sure.
    """
    if len(content.translate(None, CONTROL)) < len(content) or HALF.search(content):
        return None
    plain = content.replace(b"\\\\", b"__").replace(b'\\"', b"__")  # as long as it was
    values = np.frombuffer(plain, np.uint8)  # (N,)
    ends = np.append(np.flatnonzero(values == ord("\n")), len(values))  # (L,)
    quotes = np.flatnonzero(values == ord('"'))
    colons = np.flatnonzero(values == ord(":"))
    colons = colons[np.searchsorted(quotes, colons) % 2 == 0]
    marks = np.flatnonzero(MARKS[values])
    marks = marks[np.searchsorted(quotes, marks) % 2 == 0]
    depth = np.cumsum(MARKS[values[marks]], dtype=np.int64)
    many = np.diff(np.searchsorted(colons, ends), prepend=0)  # (L,)
    rows = np.flatnonzero(many)
    if not len(rows) or depth.max(initial=0) > DEEPEST or (many[rows] != keys).any():
        return None
    return rows + 1, np.diff(np.searchsorted(quotes, ends), prepend=0)[rows]


def frame_of(content: bytes, kinds: dict[str, str], rows: int) -> polars.DataFrame | None:
    """The rows, with a value for every key; None if polars says no."""
    import polars

    number = polars.Float64()
    types: dict[str, polars.DataType] = {
        "text": polars.String(),
        "number": number,
        "truth value": polars.Boolean(),
        "list of text": polars.List(polars.String()),
        "list of number": polars.List(number),
        CHANNELS: polars.List(polars.List(number)),
    }
    if any(family(kind) not in types for kind in kinds.values()):
        return None
    schema = {name: types[family(kind)] for name, kind in kinds.items()}
    try:
        frame = polars.read_ndjson(content, schema=schema)
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException):
        return None
    there = frame.height == rows and not sum(frame.null_count().row(0))
    return frame if there else None


def quotes_of(frame: polars.DataFrame, kinds: dict[str, str]) -> np.ndarray:
    """(S,) how many quotes each row is written with: two for a key, and for a text."""
    names = len(kinds) + sum(kind == "text" for kind in kinds.values())
    many = np.full(frame.height, 2 * names)
    for name, kind in kinds.items():
        if kind == "list of text":
            many += 2 * frame[name].list.len().to_numpy().astype(np.int64)
    return many


def quick_field(name: str, kind: str, values: polars.Series, gaps: bool) -> Field | None:
    """A column as the field its name and kind call for; None if a value is not what it should be."""
    if kind == "text" and name not in LABELS | TOKENS:
        return text_field(values)
    if kind == "text" and name in LABELS and not gaps and (values == "").any():
        return None
    if kind == "number":
        return None if name in LABELS else number_field(values.to_numpy())
    if kind == "list of text":
        flat = values.explode()
        return Field.of_symbols(values.to_list()) if flat.null_count() == empties(values) else None
    if kind.startswith("list"):
        return numbers_field(values, channels=kind != "list of number")
    return field_of_kind(name, kind, values.to_list())


def empties(lists: polars.Series) -> int:
    """How many lists are empty: each becomes a null where lists are joined."""
    return int((lists.list.len() == 0).sum())


def numbers_field(lists: polars.Series, channels: bool) -> Field | None:
    """Numbers of each row, or equally many channels of them; None if one is missing."""
    lengths = lists.list.len().to_numpy().astype(np.int64)  # (S,)
    flat = lists.filter(lists.list.len() > 0).explode()
    shape: tuple[int, ...] = (-1,)
    if channels:
        if flat.null_count():
            return None
        sizes = flat.list.len()
        if sizes.n_unique() != 1 or not sizes[0]:
            return None
        shape, flat = (-1, int(sizes[0])), flat.explode()
    if flat.null_count():
        return None
    return Field(flat.to_numpy().reshape(shape), offsets_of(lengths), NUMBERS)


# Line by line


def careful_objects(
    lines: Iterable[str], path: str, problems: list[DataError] | None = None, gaps: bool = False
) -> Table:
    """The same, with the line of whatever is wrong."""
    rows: list[dict[str, Any]] = []
    numbers: list[int] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            rows.append(json_object(line, path, number, rows[0] if rows else None, gaps))
            numbers.append(number)
        except DataError as error:
            keep(error, problems)
    return {
        name: field_of(name, [row[name] for row in rows], path, numbers, gaps)
        for name in (rows[0] if rows else ())
    }, np.array(numbers, np.int64)


def json_object(
    line: str, path: str, number: int, first: dict[str, Any] | None, gaps: bool = False
) -> dict[str, Any]:
    """The object of a line, with the same keys as the first one, and with its labels unless there
    may be gaps."""
    try:
        row = json.loads(line)
        if "\\u" in line:
            json.dumps(row, ensure_ascii=False).encode()  # half of a surrogate pair is no text
    except (ValueError, RecursionError) as error:
        raise DataError("this line is not JSON", got=error, file=path, line=number) from None
    if not isinstance(row, dict):
        raise DataError(
            "this line is not a JSON object",
            got=line,
            file=path,
            line=number,
            do='Write one object a line: {"text": "...", "label": "..."}',
        )
    if first is not None and row.keys() != first.keys():
        raise DataError(
            "the keys differ from those of the first row",
            got=", ".join(row),
            file=path,
            line=number,
            do=f"Expected: {', '.join(first)}",
        )
    for name in row:
        if name in LABELS and row[name] in (None, ""):  # a class without a name is missing
            if not gaps:
                raise no_label(path, number, name)
            row[name] = ""
    return row
