"""Text, as one stream or a sequence a line, and parallel files, whose lines belong together.

Bytes stay bytes, so that 100 MB cost 100 MB. Shapes: N bytes, S lines.
"""

from __future__ import annotations

import numpy as np

from seriatim.data.files import utf8
from seriatim.data.sequences import TEXT, Field, Table, offsets_of
from seriatim.errors import DataError

VISIBLE = np.array([not bytes([byte]).isspace() for byte in range(256)])


def read_text(path: str, by: str, gaps: bool = False) -> Table:
    """All of a file as one sequence, or each line; blank ones are skipped unless there may be gaps."""
    values = np.frombuffer(utf8(path), np.uint8)
    if by == "stream":
        return {"text": Field(values, offsets_of([len(values)]), TEXT)}, None
    column, lines = text_lines(values, skip_blank=not gaps)
    return {"text": column}, lines


def read_parallel(*paths: str) -> Table:
    """Files of equally many lines: a source and its targets."""
    columns = [
        text_lines(np.frombuffer(utf8(path), np.uint8), skip_blank=False)[0] for path in paths
    ]
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
    returns = (newlines > starts[:-1]) & (values[newlines - 1] == ord("\r"))
    stops = np.append(newlines - returns, len(values))
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
