"""Drawings in and out of SVG, the vector graphics of the web.

Of a file the lines are read: paths with all their commands, lines, polygons, rectangles, circles
and ellipses, moved and turned as their `transform` says; colours, fillings and texts are passed
over. Curves and arcs become short straight lines. A point (x, y) is the complex number x + iy here,
so that turning it is a product.

    curve    p(t) = the sum over k of  binomial(n, k) (1 - t)^(n - k) t^k p_k          (Bezier; n = 2 or 3)
    arc      p(t) = centre + exp(i angle) (rx cos t + i ry sin t)                      (SVG 1.1, appendix F.6)

Shapes: K points of one stroke.
"""

from __future__ import annotations

import cmath
import math
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum, auto
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from seriatim.data.files import utf8
from seriatim.data.formats.strokes import FARTHEST, check_rows, drawing_of, resized, strokes_of
from seriatim.data.sequences import Field, Table
from seriatim.errors import ConfigError, DataError, SeriatimError, shorten
from seriatim.storage import write_bytes

PIECES = 8  # straight lines for a curve, or for a quarter of a turn


HIDDEN = {
    "defs",
    "symbol",
    "clipPath",
    "mask",
    "marker",
    "pattern",
}  # elements that are not drawn where they stand


COUNTS = {
    "m": 2,
    "l": 2,
    "h": 1,
    "v": 1,
    "c": 6,
    "s": 4,
    "q": 4,
    "t": 2,
    "a": 7,
    "z": 0,
}  # numbers of each command of a path


BLANKS = " \t\r\n\f,"


NUMBER = re.compile(r"[\s,]*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)", re.ASCII)


FLAG = re.compile(r"[\s,]*([01])")


STEP = re.compile(r"[\s,]*+(\w++)\s*+\(([^()]*+)\)")


MARGIN = 0.1  # around a drawing that is written, as a share of its cell


def read_svg(path: str) -> Table:
    """One drawing: all the lines of a file, in their order."""
    text = utf8(path).decode()
    if "<!ENTITY" in text:
        raise DataError(
            "the file declares entities, which may grow without end",
            file=path,
            do="Save it as plain SVG",
        )
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise DataError("this is not SVG", got=error, file=path, line=error.position[0]) from None
    if name_of(root) != "svg":
        raise DataError("this is XML, but not SVG", got=f"<{name_of(root)}>", file=path)
    try:
        with np.errstate(all="ignore"):  # what becomes infinite is refused below
            strokes = [
                stroke
                for element, matrix in drawn(root)
                for stroke in placed(draw(outline(element)), matrix)
            ]
    except SeriatimError:
        raise
    except (ValueError, ArithmeticError) as error:
        raise DataError(
            "a shape cannot be drawn",
            got=error,
            file=path,
            do="Save it as plain SVG, with shapes as paths",
        ) from None
    if not strokes:
        raise DataError(
            "the file draws no line",
            file=path,
            do="Shapes are path, line, polyline, polygon, rect, circle and ellipse",
        )
    drawing = drawing_of(strokes)
    check_rows(drawing, np.array([0, len(drawing)]), path)
    return {"strokes": Field.of_numbers([drawing])}, None


def name_of(element: ElementTree.Element) -> str:
    """The name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def drawn(root: ElementTree.Element) -> Iterator[tuple[ElementTree.Element, np.ndarray]]:
    """The elements of a file in their order, each with the transform of all that surround it."""
    waiting = [(root, np.eye(3))]
    while waiting:
        element, matrix = waiting.pop()
        if name_of(element) not in HIDDEN:
            matrix = matrix @ transform(element.get("transform", ""))
            yield element, matrix
            waiting += [(child, matrix) for child in reversed(element)]


class Transform(StrEnum):
    """The transform that only shifts; the others are matched by their names."""

    TRANSLATE = auto()


def transform(text: str) -> np.ndarray:
    """The matrix of "translate(5) rotate(90)", to be applied from right to left: (3, 3)."""
    matrix, place = np.eye(3), 0
    while found := STEP.match(text, place):  # from one to the next: linear, whatever the text is
        matrix, place = matrix @ step(found[1], numbers_in(found[2])), found.end()
    if text[place:].strip(BLANKS):
        raise ValueError(f"transform {shorten(text)!r}")
    return matrix


def shifted(x: float, y: float) -> np.ndarray:
    """A shift as a matrix: (3, 3)."""
    return step("matrix", (1, 0, 0, 1, x, y))


def step(name: str, given: Sequence[float]) -> np.ndarray:
    """One transform as a matrix: (3, 3)."""
    match name, given:
        case "matrix", [a, b, c, d, e, f]:
            return np.array([[a, c, e], [b, d, f], [0, 0, 1]])
        case Transform.TRANSLATE, [x, *y] if len(y) < 2:
            return shifted(x, sum(y))
        case "scale", [x, *y] if len(y) < 2:
            return step("matrix", (x, 0, 0, given[-1], 0, 0))
        case "rotate", [angle]:
            turn = cmath.rect(1, math.radians(angle))
            return step("matrix", (turn.real, turn.imag, -turn.imag, turn.real, 0, 0))
        case "rotate", [angle, x, y]:
            return shifted(x, y) @ step("rotate", (angle,)) @ shifted(-x, -y)
        case "skewX", [angle]:
            return step("matrix", (1, 0, math.tan(math.radians(angle)), 1, 0, 0))
        case "skewY", [angle]:
            return step("matrix", (1, math.tan(math.radians(angle)), 0, 1, 0, 0))
    raise ValueError(f"transform {name!r} of {len(given)} numbers")


def placed(strokes: list[list[complex]], matrix: np.ndarray) -> Iterator[np.ndarray]:
    """Strokes where their transform puts them, (K, 2) each."""
    for stroke in strokes:
        points = np.array(stroke)
        yield np.column_stack([points.real, points.imag]) @ matrix[:2, :2].T + matrix[:2, 2]


# Shapes as paths


def outline(element: ElementTree.Element) -> str:
    """The shape of an element as the data of a path; nothing where there is no shape."""
    match name_of(element):
        case "path":
            return element.get("d", "")
        case "polyline" | "polygon" as name:
            points = element.get("points", "").strip(BLANKS)
            return f"M{points}{'z' if name == 'polygon' else ''}" if points else ""
        case "line":
            return "M{} {}L{} {}".format(*lengths(element, "x1", "y1", "x2", "y2"))
        case "rect":
            return rectangle(*lengths(element, "x", "y", "width", "height", "rx", "ry"))
        case "circle":
            return ellipse(*lengths(element, "cx", "cy", "r", "r"))
        case "ellipse":
            return ellipse(*lengths(element, "cx", "cy", "rx", "ry"))
    return ""


def lengths(element: ElementTree.Element, *names: str) -> list[float]:
    """The numbers of some attributes; 0 where there is none."""
    texts = [element.get(name, "0").strip().removesuffix("px") for name in names]
    numbers = [numbers_in(text) for text in texts]
    if any(len(each) != 1 for each in numbers):
        raise ValueError(f"<{name_of(element)}> with {dict(zip(names, texts))}")
    return [each[0] for each in numbers]


def rectangle(x: float, y: float, width: float, height: float, rx: float, ry: float) -> str:
    """With round corners, if they have a radius."""
    rx, ry = min(rx or ry, width / 2), min(ry or rx, height / 2)
    right, down = width - 2 * rx, height - 2 * ry
    corner = f"a{rx} {ry} 0 0 1"
    return (
        f"M{x + rx} {y}h{right}{corner} {rx} {ry}v{down}{corner} {-rx} {ry}"
        f"h{-right}{corner} {-rx} {-ry}v{-down}{corner} {rx} {-ry}z"
    )


def ellipse(x: float, y: float, rx: float, ry: float) -> str:
    """Two arcs, each half of it."""
    half = f"a{rx} {ry} 0 1 1"
    return f"M{x + rx} {y}{half} {-2 * rx} 0{half} {2 * rx} 0z"


# Paths


def numbers_in(body: str, arc: bool = False) -> list[float]:
    """The numbers of a text; those of an arc have two flags in the middle, which may stand
    together: "5 5 0 01.5 3"."""
    found: list[float] = []
    place = 0
    while match := (FLAG if arc and len(found) % 7 in (3, 4) else NUMBER).match(body, place):
        found.append(float(match[1]))
        place = match.end()
    if body[place:].strip(BLANKS) or any(abs(number) > FARTHEST for number in found):
        raise ValueError(f"numbers {body!r}")
    return found


def commands(data: str) -> Iterator[tuple[str, list[float]]]:
    """The commands of a path with their numbers; what follows without a letter repeats the last
    one, and moves become lines."""
    before, *rest = re.split(r"([A-DF-Za-df-z])", data)  # e is part of a number
    if before.strip(BLANKS) or (rest and rest[0] not in "Mm"):
        raise ValueError(f"path {data!r}, which does not begin with M")
    for letter, body in zip(rest[::2], rest[1::2]):
        count, numbers = COUNTS.get(letter.lower()), numbers_in(body, letter in "Aa")
        if count is None or bool(count) != bool(numbers) or (count and len(numbers) % count):
            raise ValueError(f"command {letter}{body} of a path")
        yield letter, numbers[:count]
        again = {"M": "L", "m": "l"}.get(letter, letter)
        for begin in range(count, len(numbers), count or 1):
            yield again, numbers[begin : begin + count]


def draw(data: str) -> list[list[complex]]:
    """The strokes of a path, as positions."""
    pen = Pen()
    for letter, numbers in commands(data):
        pen.follow(letter, numbers)
        if not abs(pen.place) <= FARTHEST:
            raise ValueError(f"a path that leaves the page at {letter} {numbers}")
    return pen.strokes


class Pen:
    """Where we are in a path, and what has been drawn."""

    def __init__(self) -> None:
        self.strokes: list[list[complex]] = []
        self.place = self.begin = self.control = (
            0j  # control: the last but one point of the curve before
        )
        self.down = False  # whether the last stroke goes on
        self.before = ""  # the command before this one

    def follow(self, letter: str, numbers: list[float]) -> None:
        """One command; a small letter counts from where we are."""
        base, command = self.place if letter.islower() else 0j, letter.lower()
        points = [base + complex(x, y) for x, y in zip(numbers[::2], numbers[1::2])]
        if command == "m":
            self.place = self.begin = points[0]
            self.down = False
        elif command == "z":
            self.close()
        elif command in "lhv":
            across, down = base.real + numbers[0], base.imag + numbers[-1]
            self.line(
                [
                    complex(
                        across if command != "v" else self.place.real,
                        down if command != "h" else self.place.imag,
                    )
                ]
            )
        elif command == "a":
            self.line(arc(self.place, base + complex(*numbers[5:]), *numbers[:5]))
        else:
            self.curve(command, points)
        self.before = command

    def line(self, points: list[complex]) -> None:
        """Draw through these points, from where the pen is."""
        if points and not self.down:
            self.strokes.append([self.place])
            self.down = True
        if points:
            self.strokes[-1] += points
            self.place = points[-1]

    def close(self) -> None:
        """Back to where the stroke began; a stroke that did not leave its beginning is a dot."""
        if self.down and not cmath.isclose(self.place, self.begin, abs_tol=1e-9):
            self.line([self.begin])
        elif self.before == "m":
            self.strokes.append([self.begin])
        self.place, self.down = self.begin, False

    def curve(self, command: str, points: list[complex]) -> None:
        """c and q give their control points; s and t continue the curve before them, if it is of
        their kind."""
        if command in "st":
            alike = self.before and self.before in {"s": "cs", "t": "qt"}[command]
            points = [2 * self.place - self.control if alike else self.place, *points]
        self.control = points[-2]
        self.line(bezier([self.place, *points]))


def bezier(points: list[complex]) -> list[complex]:
    """PIECES points of a curve behind its first one, as weighted means of neighbours, again and
    again (de Casteljau)."""
    share, means = np.arange(1, PIECES + 1) / PIECES, np.array(points)[:, None]
    while len(means) > 1:
        means = (1 - share) * means[:-1] + share * means[1:]  # (n, PIECES) -> (n - 1, PIECES)
    return means[0].tolist()


def arc(
    start: complex, end: complex, rx: float, ry: float, angle: float, large: float, positive: float
) -> list[complex]:
    """Points of an arc behind its start: in a frame where the ellipse is the circle of radius 1,
    then back."""
    if cmath.isclose(start, end, rel_tol=1e-12, abs_tol=1e-12):
        return []
    rx, ry, turn = abs(rx), abs(ry), cmath.rect(1, math.radians(angle))
    if min(rx, ry) < 1e-9:
        return [end]
    first, last = (
        complex((point / turn).real / rx, (point / turn).imag / ry) for point in (start, end)
    )
    stretch = max(1.0, abs(last - first) / 2)  # a radius that is too small grows
    first, last = first / stretch, last / stretch
    aside = (
        1j
        * (last - first)
        / abs(last - first)
        * math.sqrt(max(0.0, 1 - abs(last - first) ** 2 / 4))
    )
    centre = (first + last) / 2 + (aside if large != positive else -aside)
    sweep = cmath.phase((last - centre) / (first - centre)) % (2 * math.pi) - (
        0 if positive else 2 * math.pi
    )
    pieces = math.ceil(PIECES * abs(sweep) / (math.pi / 2))
    around = centre + (first - centre) * np.exp(
        1j * sweep * np.arange(1, pieces) / pieces
    )  # (pieces - 1,)
    return [*(turn * stretch * (around.real * rx + 1j * around.imag * ry)).tolist(), end]


# Writing


def write_svg(
    drawings: Sequence[np.ndarray], path: str | Path, columns: int = 1, size: int = 96
) -> None:
    """A grid of drawings, (T, 3) each, in cells of this size; the file is written whole or not at all."""
    if not len(drawings) or columns < 1 or size < 1:
        raise ConfigError(
            "a picture needs drawings, columns and cells",
            got=f"{len(drawings)} drawings, {columns} columns, cells of {size}",
        )
    for drawing in drawings:
        check_rows(drawing, np.array([0, len(drawing)]))
    paths = [
        cell(drawing, complex(i % columns, i // columns) * size, size)
        for i, drawing in enumerate(drawings)
    ]
    width, height = columns * size, -(-len(drawings) // columns) * size
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" style="background:white" '
        f'fill="none" stroke="black" stroke-width="{short(size / 64)}"'
        f' stroke-linecap="round" stroke-linejoin="round">'
    )
    write_bytes(Path(path), "\n".join([head, *paths, "</svg>\n"]).encode())


def cell(drawing: np.ndarray, corner: complex, size: int) -> str:
    """One drawing as a path, its strokes one after another; a dot is a stroke that is closed where
    it began."""
    shift = np.array([corner.real, corner.imag]) + MARGIN * size
    strokes = [stroke + shift for stroke in strokes_of(resized(drawing, (1 - 2 * MARGIN) * size))]
    data = "".join(
        "M" + "L".join(f"{short(x)} {short(y)}" for x, y in stroke) + "z" * (len(stroke) == 1)
        for stroke in strokes
    )
    return f'<path d="{data}"/>'


def short(number: float) -> str:
    """A number with at most two decimals."""
    return f"{number:.2f}".rstrip("0").rstrip(".")
