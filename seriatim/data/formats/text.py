"""Text, as one stream or a sequence a line, and parallel files, whose lines belong together.

Bytes stay bytes, so that 100 MB cost 100 MB. Shapes: N bytes, S lines.
"""

from __future__ import annotations

import numpy as np

from seriatim.data.columns import texts_of
from seriatim.data.files import add_notes, blank_left_out, utf8
from seriatim.data.looks import LABEL
from seriatim.data.sequences import TEXT, Field, Table, offsets_of
from seriatim.errors import DataError

VISIBLE = np.array([not bytes([byte]).isspace() for byte in range(256)])


def read_text(
    path: str, by: str, gaps: bool = False, encoding: str = "", notes: list[str] | None = None
) -> Table:
    """All of a file as one sequence, or each line; blank ones are skipped unless there may be gaps."""
    values = np.frombuffer(utf8(path, encoding, notes), np.uint8)
    if by != "line":
        return {"text": Field(values, offsets_of([len(values)]), TEXT)}, None
    column, lines = text_lines(values, skip_blank=not gaps)
    blank = 0 if gaps else int((values == ord("\n")).sum() + (values[-1] != ord("\n"))) - len(lines)
    add_notes(notes, path, blank_left_out(blank))
    return {"text": column}, lines


def read_labelled(
    path: str, gaps: bool = False, encoding: str = "", notes: list[str] | None = None
) -> Table:
    """Lines that begin with their label: `LABEL:sub text`."""
    values = np.frombuffer(utf8(path, encoding, notes), np.uint8)
    column, lines = text_lines(values, skip_blank=not gaps)
    labels, texts = [], []
    for line, number in zip(texts_of(column), lines.tolist()):
        label, _, text = line.lstrip().partition(" ")
        if not LABEL.fullmatch(label):
            if not gaps:
                raise DataError(
                    "this line does not begin with a label as the others do",
                    got=line,
                    file=path,
                    line=number,
                    do="Give it one, or read all as text: --input-format text",
                )
            label, text = "", line
        labels.append(label)
        texts.append(text)
    return {"label": Field.of_labels(labels), "text": Field.of_text(texts)}, lines


def read_parallel(*paths: str, encoding: str = "", notes: list[str] | None = None) -> Table:
    """Files of equally many lines: a source and its targets."""
    contents = (np.frombuffer(utf8(path, encoding, notes), np.uint8) for path in paths)
    columns = [text_lines(content, skip_blank=False)[0] for content in contents]
    counts = [len(column) for column in columns]
    if len(set(counts)) > 1:
        raise DataError(
            "parallel files need equally many lines",
            file=", ".join(paths),
            got=", ".join(map(str, counts)),
            do="Line i of each file belongs together, so keep empty lines",
        )
    names = ["source", "target"] + [f"target{i}" for i in range(2, len(paths))]
    return dict(zip(names, columns)), np.arange(1, counts[0] + 1)


def text_lines(values: np.ndarray, skip_blank: bool) -> tuple[Field, np.ndarray]:
    """Each line a sequence, without its ending: (N,) bytes -> the field of S lines, (S,) line numbers."""
    newlines = np.flatnonzero(values == ord("\n"))
    starts = np.append(0, newlines + 1)
    stops = np.append(newlines, len(values))
    lines = np.arange(1, len(starts) + 1)
    if starts[-1] == len(values):  # nothing follows the last newline
        starts, stops, lines = starts[:-1], stops[:-1], lines[:-1]
    if skip_blank:
        written = np.logical_or.reduceat(VISIBLE[values], starts)  # (S,) is there anything to see?
        starts, stops, lines = starts[written], stops[written], lines[written]
    edges = np.zeros(len(values) + 1, np.int8)  # +1 where a line begins, -1 where it ends
    edges[starts] += 1
    edges[stops] -= 1
    inside = np.cumsum(edges[:-1], dtype=np.int8).view(bool)  # (N,)
    return Field(values[inside], offsets_of(stops - starts), TEXT), lines
