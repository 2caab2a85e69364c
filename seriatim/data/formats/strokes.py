"""Drawings as movements of a pen: the files they are published in, the same with fewer points or
another size.

    a row        (dx, dy, lifted): the pen moves by (dx, dy); lifted is 1 where a stroke ends, else 0
    positions    the running sums of (dx, dy): the pen begins at (0, 0), x grows to the right and y downwards

Ha and Eck, "A Neural Representation of Sketch Drawings" (2017), call these rows stroke-3. Whatever
is wrong with a file is a DataError that names it, and the line or the drawing. Nothing that is read
here can execute code. Shapes: N points of all drawings, S drawings, T points of one, K points of
one stroke.
"""

from __future__ import annotations

import io
import json
import math
import re
import zipfile
from collections.abc import Sequence
from lzma import LZMAError
from struct import error as StructError
from zlib import error as ZlibError

import numpy as np

from seriatim.data.files import lines_of, unpacked
from seriatim.data.limits import allowed, too_large
from seriatim.data.sequences import NUMBERS, Field, Table
from seriatim.errors import DataError, SeriatimError, keep

FARTHEST = 1e9  # what moves farther than this is an accident


LINE = 'A line is {"word": "cat", "drawing": [[[0, 9, 9], [0, 0, 5]], ...]}: the x and the y of each stroke'


ARRAYS = "The arrays are points (N, 3), offsets (S + 1,), and perhaps labels (S,) with the names in classes"


MAGIC = b"\x93NUMPY"


HEADER = re.compile(
    r"\{'descr': '([^']*)', 'fortran_order': (False|True), 'shape': \(([\d, ]{0,60})\), \}\s*",
    re.ASCII,
)


KINDS = re.compile(r"[<>|=]([iu][1248]|f[248]|[US][1-9]\d{0,4})", re.ASCII)


DAMAGE = (
    zipfile.BadZipFile,
    ZlibError,
    LZMAError,
    StructError,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,
    OverflowError,
    MemoryError,
)


# The same drawing, otherwise


def strokes_of(drawing: np.ndarray) -> list[np.ndarray]:
    """(T, 3) -> the strokes, (K, 2) positions each; what follows the last lift of the pen is a stroke too."""
    positions = np.cumsum(drawing[:, :2], axis=0)  # (T, 2)
    return [
        stroke for stroke in np.split(positions, np.flatnonzero(drawing[:, 2]) + 1) if len(stroke)
    ]


def drawing_of(strokes: Sequence[np.ndarray]) -> np.ndarray:
    """Strokes, (K, 2) positions each with K at least 1 -> (T, 3)."""
    lifted = np.concatenate([np.arange(len(stroke)) == len(stroke) - 1 for stroke in strokes])
    return moved(np.concatenate(strokes), lifted)


def moved(positions: np.ndarray, lifted: np.ndarray) -> np.ndarray:
    """(T, 2) positions and (T,) lifts of the pen -> (T, 3)."""
    return np.column_stack([np.diff(positions, axis=0, prepend=0.0), lifted])


def resized(drawing: np.ndarray, size: float) -> np.ndarray:
    """The drawing in the middle of a square of this side, from (0, 0), as large as fits; its
    proportions stay."""
    positions = np.cumsum(drawing[:, :2], axis=0)
    low, high = positions.min(0), positions.max(0)
    scale = size / max((high - low).max(), 1e-9)  # a dot has no size and stays a dot
    return moved((positions - (low + high) / 2) * scale + size / 2, drawing[:, 2])


def simplified(points: np.ndarray, tolerance: float) -> np.ndarray:
    """A stroke with fewer points, (K, 2) -> (fewer, 2): those left out were no farther than
    `tolerance` from the line now drawn in their place.

    Of the points between two that are kept, the farthest from the line between them is kept too, if
    it is too far (Ramer 1972; Douglas and Peucker 1973).
    """
    kept = np.zeros(len(points), bool)
    kept[[0, -1]] = True
    spans = [(0, len(points) - 1)]
    while spans:
        first, last = spans.pop()
        between = distances(points[first + 1 : last], points[first], points[last])
        if len(between) and between.max() > tolerance:
            middle = first + 1 + int(between.argmax())
            kept[middle] = True
            spans += [(first, middle), (middle, last)]
    return points[kept]


def distances(points: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """(K, 2) points -> (K,) how far each is from the straight line between two others, its ends included."""
    along = end - start
    share = np.clip(
        (points - start) @ along / max(along @ along, np.finfo(float).tiny), 0, 1
    )  # (K,) where on the line the nearest place is
    return np.hypot(*(points - start - share[:, None] * along).T)


def check_rows(values: np.ndarray, offsets: np.ndarray, file: str | None = None) -> None:
    """Refuse what cannot be drawn: (N, 3) rows, (S + 1,) offsets."""
    if values.ndim != 2 or values.shape[1] != 3 or values.dtype.kind not in "iuf":
        raise DataError(
            "a drawing has rows of dx, dy and lifted",
            got=f"shape {values.shape} of {values.dtype}",
            file=file,
        )
    if (
        not len(offsets)
        or offsets[0] != 0
        or offsets[-1] != len(values)
        or not (np.diff(offsets) > 0).all()
    ):
        raise DataError(
            "each drawing needs at least one point, and each point a drawing",
            file=file,
            got=f"{len(values):,} points, {max(len(offsets) - 1, 0):,} drawings",
            do="Offsets rise from 0 to the number of points",
        )
    far = ~(np.abs(values.astype(np.float64)) <= FARTHEST).all(1)  # (N,) also what is not a number
    wrong = np.flatnonzero(far | ~np.isin(values[:, 2], (0, 1)))
    if len(wrong):
        drawing = np.searchsorted(offsets, wrong[0], side="right")  # counted from 1
        raise DataError(
            f"point {wrong[0] - offsets[drawing - 1] + 1} of drawing {drawing} is impossible",
            got=values[wrong[0]].tolist(),
            file=file,
            do=f"dx and dy are finite, at most {FARTHEST:g}, and lifted is 0 or 1",
        )


# Quick, Draw! as published: JSON, a drawing a line


def read_ndjson(path: str, problems: list[DataError] | None = None) -> Table:
    """Quick, Draw!, simplified or raw: the word is the `label`; the times of raw strokes are left out."""
    drawings: list[np.ndarray] = []
    words: list[str | None] = []
    lines: list[int] = []
    for number, line in enumerate(lines_of(path), 1):
        if not line.strip():
            continue
        try:
            drawing, word = drawing_in(line, path, number)
            if words and (word is None) != (words[0] is None):
                raise DataError(
                    "some drawings have a word, some have none",
                    got=line,
                    file=path,
                    line=number,
                    do="Give each a word, or none",
                )
        except DataError as error:
            keep(error, problems)
        else:
            drawings.append(drawing)
            words.append(word)
            lines.append(number)
    fields = {"strokes": Field.of_numbers(drawings)}
    labels = [word for word in words if word is not None]
    if labels:  # all have one, or none
        fields["label"] = Field.of_labels(labels)
    return fields, np.array(lines, np.int64)


def drawing_in(line: str, path: str, number: int) -> tuple[np.ndarray, str | None]:
    """The drawing of a line, (T, 3), and its word, if there is one."""
    try:
        row = json.loads(line)
        word = row.get("word") if isinstance(row, dict) else None
        str(word).encode()  # half of a surrogate pair is no text
    except (ValueError, RecursionError) as error:
        raise DataError(
            "this line is not JSON", got=error, file=path, line=number, do=LINE
        ) from None
    drawing = row.get("drawing") if isinstance(row, dict) else None
    if (
        not isinstance(drawing, list)
        or not drawing
        or not (word is None or (isinstance(word, str) and word))
    ):
        raise DataError("this line holds no drawing", got=line, file=path, line=number, do=LINE)
    return drawing_of([stroke_in(stroke, path, number) for stroke in drawing]), word


def stroke_in(stroke: object, path: str, number: int) -> np.ndarray:
    """[[x, ...], [y, ...]], with or without times -> (K, 2) positions."""
    try:
        table = np.array(stroke)  # (2 or 3, K)
    except ValueError:
        table = np.zeros(0)  # rows of different lengths
    if (
        table.ndim != 2
        or len(table) not in (2, 3)
        or not table.shape[1]
        or table.dtype.kind not in "iuf"
    ):
        raise DataError(
            "a stroke has as many x as y, and at least one of each",
            got=stroke,
            file=path,
            line=number,
            do=LINE,
        )
    if not (np.abs(table[:2].astype(np.float64)) <= FARTHEST).all():
        raise DataError(
            f"a point is not finite, or beyond {FARTHEST:g}", got=stroke, file=path, line=number
        )
    return table[:2].T.astype(np.float64)


# Archives of arrays


def read_npz(path: str) -> Table:
    """Arrays of numbers: `points` of all drawings end to end, `offsets` that tell where each
    begins, their `labels` as numbers of `classes`."""
    arrays = arrays_in(path)
    missing = [name for name in ("points", "offsets") if name not in arrays]
    if missing:
        raise DataError(
            f"there is no array called {missing[0]!r}", got=", ".join(arrays), file=path, do=ARRAYS
        )
    points, offsets = arrays["points"], arrays["offsets"]
    if offsets.ndim != 1 or offsets.dtype.kind not in "iu":
        raise DataError(
            "offsets are whole numbers in a row",
            got=f"shape {offsets.shape} of {offsets.dtype}",
            file=path,
            do=ARRAYS,
        )
    offsets = offsets.astype(np.int64)
    check_rows(points, offsets, path)
    fields = {"strokes": Field(points.astype(np.float64), offsets, NUMBERS)}
    return fields | (
        {"label": labels_in(arrays, len(offsets) - 1, path)} if "labels" in arrays else {}
    ), None


def labels_in(arrays: dict[str, np.ndarray], count: int, path: str) -> Field:
    """The name of each drawing."""
    labels, classes = arrays["labels"], arrays.get("classes", np.zeros(0))
    if (
        labels.shape != (count,)
        or labels.dtype.kind not in "iu"
        or classes.ndim != 1
        or classes.dtype.kind != "U"
    ):
        raise DataError(
            "each drawing needs a label, which is the number of a name in classes",
            file=path,
            do=ARRAYS,
            got=f"{count} drawings, labels {labels.shape} of {labels.dtype},"
            f" classes {classes.shape} of {classes.dtype}",
        )
    if labels.min() < 0 or labels.max() >= len(classes):
        raise DataError(
            "a label is not the number of a name",
            got=f"{labels.min()} to {labels.max()} of {len(classes)} names",
            file=path,
            do=ARRAYS,
        )
    try:
        names = classes.tolist()
        "".join(names).encode()
    except ValueError as error:  # no code points of Unicode
        raise DataError("the names of the classes are not text", got=error, file=path) from None
    return Field.of_labels(names[label] for label in labels.tolist())


def arrays_in(path: str) -> dict[str, np.ndarray]:
    """The arrays of an .npz file by their names."""
    try:
        content = unpacked(path)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            if sum(entry.file_size for entry in entries) > allowed(len(content)):
                raise too_large(path, len(content))
            return {
                entry.filename.removesuffix(".npy"): array_in(archive, entry, path)
                for entry in entries
            }
    except SeriatimError:
        raise
    except DAMAGE as error:
        raise DataError(
            "this is not an archive of arrays, or it is damaged",
            got=error,
            file=path,
            do=f"Write it with numpy.savez. {ARRAYS}",
        ) from None


def array_in(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: str) -> np.ndarray:
    """One array, after its header agreed with the size of the entry; objects, which are pickled and
    could run anything, are refused."""
    with archive.open(entry) as file:
        start = file.read(8)
        digits = 2 if start[6:7] == b"\1" else 4
        length = int.from_bytes(file.read(digits), "little")
        header = HEADER.fullmatch(file.read(min(length, 10_000)).decode("latin-1"))
        if not start.startswith(MAGIC) or header is None:
            raise ValueError(f"{entry.filename} does not begin as an array does")
        kind, fortran, numbers = header.groups()
        if kind == "|O":
            raise DataError(
                f"the array {entry.filename!r} is pickled, and to read it could run anything",
                file=path,
                do=f"Where you trust it, write its rows end to end with numpy.savez. {ARRAYS}",
            )
        if not KINDS.fullmatch(kind):
            raise ValueError(f"{entry.filename} holds neither numbers nor text, but {kind!r}")
        shape = tuple(map(int, re.findall(r"\d+", numbers)))
        size = math.prod(shape) * np.dtype(kind).itemsize
        if size != entry.file_size - len(start) - digits - length:
            raise ValueError(f"{entry.filename} should hold {size:,} bytes for its shape {shape}")
        return np.frombuffer(file.read(size), kind).reshape(
            shape, order="F" if fortran == "True" else "C"
        )
