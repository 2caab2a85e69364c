"""Drawings: what a file draws arrives, what is written is read back, and whatever is wrong is a DataError."""

from __future__ import annotations

import io
import math
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from hypothesis.extra import numpy as arrays

from seriatim.data import read
from seriatim.data.corpora.drawings import SHAPES, drawings
from seriatim.data.formats import svg
from seriatim.data.formats.strokes import (
    drawing_of,
    read_ndjson,
    read_npz,
    resized,
    simplified,
    strokes_of,
)
from seriatim.data.formats.svg import arc, bezier, draw, read_svg, transform, write_svg
from seriatim.data.sequences import NUMBERS, SYMBOLS
from seriatim.errors import ConfigError, DataError

POSITIONS = arrays.arrays(
    np.float64,
    some.tuples(some.integers(1, 9), some.just(2)),
    elements=some.floats(-1000, 1000, width=32),
)
STROKES = some.lists(POSITIONS, min_size=1, max_size=5)
LINES = [
    '{"word": "cat", "countrycode": "DE", "drawing": [[[1, 3], [2, 2]], [[3], [7]]]}',
    "",
    '{"word": "dog", "drawing": [[[0.5, 1], [0, 1], [0, 16]]]}',
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("strokes")


@pytest.fixture
def write(tmp_path):
    def write_file(name: str, content: str | bytes) -> str:
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return str(tmp_path / name)

    return write_file


# The same drawing, otherwise


@given(STROKES)
def test_strokes_become_rows_and_again_strokes(given_strokes):
    drawing = drawing_of(given_strokes)
    again = strokes_of(drawing)
    assert [len(stroke) for stroke in again] == [
        len(stroke) for stroke in given_strokes
    ] and drawing[-1, 2] == 1
    assert all(np.allclose(one, other, atol=1e-9) for one, other in zip(again, given_strokes))
    without_last_lift = drawing * [1, 1, 0] if len(given_strokes) == 1 else drawing
    assert len(strokes_of(without_last_lift)) == len(given_strokes)


@given(STROKES, some.floats(1, 500))
def test_a_resized_drawing_fills_its_square_and_keeps_its_proportions(given_strokes, size):
    before = np.concatenate(given_strokes)
    after = np.concatenate(strokes_of(resized(drawing_of(given_strokes), size)))
    extent = before.max(0) - before.min(0)
    if extent.max() > 1e-3:
        assert np.allclose(
            after.max(0) - after.min(0), extent / extent.max() * size, rtol=1e-4, atol=1e-4
        )
    assert np.allclose((after.max(0) + after.min(0)) / 2, size / 2, rtol=1e-4)


def recursive(points: np.ndarray, tolerance: float) -> list:
    """The slow twin of `simplified`: one point at a time, by recursion."""
    if len(points) < 3:
        return points.tolist()

    def distance(point):
        along = points[-1] - points[0]
        share = np.dot(point - points[0], along) / np.dot(along, along) if along.any() else 0
        return math.dist(point, points[0] + min(max(share, 0), 1) * along)

    far = [distance(point) for point in points[1:-1]]
    if max(far) <= tolerance:
        return [points[0].tolist(), points[-1].tolist()]
    middle = far.index(max(far)) + 1
    return recursive(points[: middle + 1], tolerance)[:-1] + recursive(points[middle:], tolerance)


@settings(deadline=None)
@given(
    arrays.arrays(
        np.float64, some.tuples(some.integers(1, 30), some.just(2)), elements=some.integers(-20, 20)
    ),
    some.floats(0.05, 20),
)
def test_simplified_agrees_with_its_recursive_twin(points, tolerance):
    assert simplified(points, tolerance).tolist() == recursive(points, tolerance)


def test_a_long_stroke_is_simplified_without_recursion():
    corners = np.cumsum(np.tile([[1.0, 0], [0, 1]], (2000, 1)), axis=0)
    assert len(simplified(corners, 0.1)) == 4000 and len(simplified(corners, 1)) == 2


# Quick, Draw!


def test_simplified_and_raw_drawings_of_quick_draw(write):
    fields, lines = read_ndjson(write("a.ndjson", "\n".join(LINES)))
    assert fields["strokes"].row(0).tolist() == [[1, 2, 0], [2, 0, 1], [0, 5, 1]]
    assert fields["strokes"].row(1).tolist() == [[0.5, 0, 0], [0.5, 1, 1]]
    assert fields["label"].raw(1) == ["dog"] and lines.tolist() == [1, 3]


def test_without_words_there_are_no_labels_and_by_its_ending_the_file_is_a_table(write):
    path = write("a.ndjson", '{"drawing": [[[1], [2]]]}\n')
    assert list(read_ndjson(path)[0]) == ["strokes"]
    with pytest.raises(DataError, match="Expected in every row"):
        read(path)
    assert read(path, input_format="quickdraw")[0]["strokes"].tolist() == [[1, 2, 1]]


def test_problems_of_single_lines_are_collected(write):
    problems = []
    data = read(
        write("a.ndjson", "\n".join([*LINES, "{", '{"drawing": [[[1], [1]]]}'])),
        input_format="quickdraw",
        problems=problems,
    )
    assert len(data) == 2 and [problem.line for problem in problems] == [4, 5]


WRONG_LINES = {
    "not JSON": ("{", "not JSON"),
    "too deep": ("[" * 100_000, "not JSON"),
    "half a pair": ('{"word": "\\ud800", "drawing": []}', "not JSON"),
    "no object": ("[1]", "no drawing"),
    "no drawing": ('{"word": "cat"}', "no drawing"),
    "no stroke": ('{"word": "cat", "drawing": []}', "no drawing"),
    "word": ('{"word": 5, "drawing": [[[1], [1]]]}', "no drawing"),
    "no word": ('{"drawing": [[[1], [1]]]}', "some have none"),
    "ragged": ('{"word": "cat", "drawing": [[[1, 2], [1]]]}', "as many x as y"),
    "no point": ('{"word": "cat", "drawing": [[[], []]]}', "as many x as y"),
    "text": ('{"word": "cat", "drawing": [[["1"], ["2"]]]}', "as many x as y"),
    "only x": ('{"word": "cat", "drawing": [[[1, 2]]]}', "as many x as y"),
    "large": ('{"word": "cat", "drawing": [[[%s], [1]]]}' % ("9" * 40), "as many x as y"),
    "flat": ('{"word": "cat", "drawing": [1, 2]}', "as many x as y"),
    "NaN": ('{"word": "cat", "drawing": [[[NaN], [1]]]}', "not finite"),
    "far": ('{"word": "cat", "drawing": [[[1], [-1e10]]]}', "not finite"),
}


@pytest.mark.parametrize("case", WRONG_LINES)
def test_a_wrong_line_is_named(write, case):
    line, words = WRONG_LINES[case]
    path = write("a.ndjson", LINES[0] + "\n" + line + "\n")
    with pytest.raises(DataError, match=words) as caught:
        read_ndjson(path)
    assert (caught.value.file, caught.value.line) == (path, 2)


# Archives of arrays


GOOD = {
    "points": np.array([[1, 2, 0], [3, 4, 1], [5, 6, 1]], np.int16),
    "offsets": np.array([0, 2, 3], np.int32),
    "labels": np.array([1, 0], np.uint8),
    "classes": np.array(["cat", "żółw"]),
}


def archive(**changed) -> bytes:
    content = {name: array for name, array in (GOOD | changed).items() if array is not None}
    np.savez_compressed(file := io.BytesIO(), **content)
    return file.getvalue()


def entries(**changed: bytes) -> bytes:
    """The archive with some of its files as these bytes."""
    with (
        zipfile.ZipFile(io.BytesIO(archive())) as old,
        zipfile.ZipFile(file := io.BytesIO(), "w") as new,
    ):
        for name in old.namelist():
            new.writestr(name, changed.get(name.removesuffix(".npy"), old.read(name)))
    return file.getvalue()


def header(kind: str, shape: str, content: bytes = bytes(12)) -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + content


def test_arrays_of_an_archive(write):
    data = read(write("a.npz", archive(points=np.asfortranarray(GOOD["points"]))))
    assert (
        data[0]["strokes"].tolist() == [[1, 2, 0], [3, 4, 1]]
        and data[1]["label"] == ["cat"]
        and data[0]["label"] == ["żółw"]
    )
    assert (data.field("strokes").kind, data.field("label").kind, data.unit, len(data)) == (
        NUMBERS,
        SYMBOLS,
        None,
        2,
    )
    assert list(read_npz(write("b.npz", archive(labels=None, classes=None)))[0]) == ["strokes"]


WRONG_ARCHIVES = {
    "pickled": (archive(points=np.array([{}], object)), "pickled"),
    "no zip": (b"points", "not an archive"),
    "cut": (archive()[:-30], "not an archive"),
    "no points": (archive(points=None), "no array called 'points'"),
    "two columns": (archive(points=GOOD["points"][:, :2]), "rows of dx"),
    "NaN": (archive(points=GOOD["points"] * [1, np.nan, 1]), "point 1 of drawing 1"),
    "pen": (
        archive(points=GOOD["points"] * [[1, 1, 1], [1, 1, 1], [1, 1, 2]]),
        "point 1 of drawing 2",
    ),
    "far": (archive(points=GOOD["points"] * 1e9), "impossible"),
    "text": (archive(points=np.array([["a", "b", "c"]])), "rows of dx"),
    "offsets fall": (archive(offsets=np.array([0, 3, 2, 3])), "at least one point"),
    "offsets short": (archive(offsets=np.array([0, 2])), "at least one point"),
    "no offsets": (archive(offsets=np.zeros(0, int)), "at least one point"),
    "offsets in a square": (archive(offsets=np.zeros((2, 2), int)), "in a row"),
    "offsets wrap": (archive(offsets=np.array([0, 2**64 - 1, 3], np.uint64)), "at least one point"),
    "broken offsets": (archive(offsets=np.array([0, 3.0])), "in a row"),
    "no names": (archive(classes=None), "number of a name"),
    "few labels": (archive(labels=np.array([1])), "number of a name"),
    "no such name": (archive(labels=np.array([0, 2])), "not the number"),
    "negative": (archive(labels=np.array([0, -1])), "not the number"),
    "names": (entries(classes=header("<U3", "(1,)", b"\xff" * 12)), "number of a name|not text"),
    "not an array": (entries(points=b"some text"), "does not begin"),
    "empty": (entries(points=b""), "does not begin"),
    "huge shape": (entries(points=header("<i4", "(1000000000000, 3)")), "should hold"),
    "endless": (entries(points=header("<U0", "(999999999999999999, 3)")), "neither"),
    "structure": (entries(points=header("|V12", "(1,)")), "neither"),
    "long header": (entries(points=header("<i4", "(1, 3)" + " " * 20_000)), "does not begin"),
}


@pytest.mark.parametrize("case", WRONG_ARCHIVES)
def test_a_wrong_archive_is_refused(write, case):
    content, words = WRONG_ARCHIVES[case]
    path = write("a.npz", content)
    with pytest.raises(DataError, match=words) as caught:
        read_npz(path)
    assert caught.value.file == path


def test_the_size_of_an_archive_is_known_before_it_is_unpacked(write, monkeypatch):
    path = write("a.npz", archive())
    monkeypatch.setenv("SERIATIM_MOST_BYTES", "500")
    with pytest.raises(DataError, match="more than 500 bytes"):
        read_npz(path)


def test_public_drawings_of_quick_draw(public_data):
    data = read(str(public_data / "sketch" / "quickdraw344x25_stroke3.npz"))
    assert (
        len(data) == 8_600
        and len(data.field("label").names) == 344
        and np.bincount(data.field("label").flat).tolist() == [25] * 344
    )
    assert data.main is data.field("strokes") and all(
        row["strokes"][-1, 2] == 1 for row in data[:100]
    )


def test_equal_drawings_stay_together_and_equal_labels_do_not(write):
    train, test = read("drawings:count=200,seed=3").split(0.5, 0.5)
    assert len(train) == len(test) == 100 and set(train.field("label").flat) & set(
        test.field("label").flat
    )


# SVG


def positions(path: str) -> list[complex]:
    drawing = read_svg(path)[0]["strokes"].row(0)
    return [complex(*point) for stroke in strokes_of(drawing) for point in stroke]


@settings(deadline=None)
@given(STROKES, some.integers(8, 300))
def test_what_is_written_is_read_back(folder, given_strokes, size):
    drawing = drawing_of(given_strokes)
    write_svg([drawing], folder / "a.svg", size=size)
    again = read_svg(str(folder / "a.svg"))[0]["strokes"].row(0)
    expected = resized(drawing, 0.8 * size)
    assert again[:, 2].tolist() == drawing[:, 2].tolist()
    assert (
        np.abs(np.cumsum(again[:, :2], 0) - np.cumsum(expected[:, :2], 0) - 0.1 * size).max()
        < 0.006
    )


def test_a_grid_of_drawings_has_each_in_its_cell(folder):
    square = drawing_of([np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * 7.0])
    write_svg([square] * 5, folder / "grid.svg", columns=3, size=10)
    found = strokes_of(read_svg(str(folder / "grid.svg"))[0]["strokes"].row(0))
    assert [(stroke[0] // 10).tolist() for stroke in found] == [
        [0, 0],
        [1, 0],
        [2, 0],
        [0, 1],
        [1, 1],
    ]
    assert found[0].tolist() == [[1, 1], [9, 1], [9, 9], [1, 9]]


def test_what_cannot_be_drawn_is_not_written(folder):
    for wrong in (
        dict(drawings=[]),
        dict(drawings=[np.ones((1, 3))], columns=0),
        dict(drawings=[np.ones((1, 3))], size=0),
    ):
        with pytest.raises(ConfigError):
            write_svg(path=folder / "no.svg", **wrong)
    for rows in (np.zeros((0, 3)), np.ones((1, 2)), np.full((1, 3), np.nan), np.full((1, 3), 2.0)):
        with pytest.raises(DataError):
            write_svg([rows], folder / "no.svg")
    assert not (folder / "no.svg").exists()


@pytest.mark.parametrize(
    "data, expected",
    [
        ("M1 2L3 4", [[1 + 2j, 3 + 4j]]),
        ("m1,2 3,4", [[1 + 2j, 4 + 6j]]),
        ("M1 2 3 4-5-6", [[1 + 2j, 3 + 4j, -5 - 6j]]),
        ("M1 1h5v5H2V2", [[1 + 1j, 6 + 1j, 6 + 6j, 2 + 6j, 2 + 2j]]),
        ("M1 1h1 2", [[1 + 1j, 2 + 1j, 4 + 1j]]),
        ("M0 0L1 0L1 1zl5 5", [[0, 1, 1 + 1j, 0], [0, 5 + 5j]]),
        ("M0 0L1 0L0 0z", [[0, 1, 0]]),
        ("M1 1zz", [[1 + 1j]]),
        ("M1 1M2 2", []),
        ("M.5.5l1e1.5", [[0.5 + 0.5j, 10.5 + 1j]]),
        ("M1 1m1 1l1 0", [[2 + 2j, 3 + 2j]]),
        ("M0 0A0 5 0 0 1 3 3", [[0, 3 + 3j]]),
        ("", []),
    ],
)
def test_straight_paths(data, expected):
    assert draw(data) == expected


def bernstein(points: list[complex], share: float) -> complex:
    degree = len(points) - 1
    return sum(
        math.comb(degree, k) * (1 - share) ** (degree - k) * share**k * point
        for k, point in enumerate(points)
    )


@given(some.lists(some.complex_numbers(max_magnitude=1000), min_size=2, max_size=4))
def test_curves_are_those_of_bernstein(points):
    expected = [bernstein(points, k / svg.PIECES) for k in range(1, svg.PIECES + 1)]
    assert np.allclose(bezier(points), expected)


def test_smooth_curves_go_on_as_the_one_before():
    assert draw("M0 0C0 1 1 2 2 2S4 1 4 0") == draw("M0 0C0 1 1 2 2 2C3 2 4 1 4 0")
    assert draw("M0 0q1 1 2 0t2 0t2 0") == draw("M0 0q1 1 2 0q1-1 2 0q1 1 2 0")
    assert draw("M0 0L2 2s2 2 4 0") == draw("M0 0L2 2c0 0 2 2 4 0") and draw(
        "M0 0C1 1 1 1 2 2T3 3"
    ) == draw("M0 0C1 1 1 1 2 2Q2 2 3 3")


def arc_of_the_standard(x1, y1, x2, y2, rx, ry, degrees, large, positive):
    """Centre, radii, first angle and sweep by the formulas F.6.5 and F.6.6 of SVG 1.1."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    x, y = c * (x1 - x2) / 2 + s * (y1 - y2) / 2, -s * (x1 - x2) / 2 + c * (y1 - y2) / 2
    grown = math.sqrt(max(1, x * x / rx**2 + y * y / ry**2))
    rx, ry = rx * grown, ry * grown
    root = math.sqrt(
        max(
            0,
            (rx * rx * ry * ry - rx * rx * y * y - ry * ry * x * x)
            / (rx * rx * y * y + ry * ry * x * x),
        )
    )
    root = root if large != positive else -root
    cx, cy = root * rx * y / ry, -root * ry * x / rx
    first = math.atan2((y - cy) / ry, (x - cx) / rx)
    sweep = (math.atan2((-y - cy) / ry, (-x - cx) / rx) - first) % (2 * math.pi)
    centre = complex(c * cx - s * cy + (x1 + x2) / 2, s * cx + c * cy + (y1 + y2) / 2)
    return centre, rx, ry, first, sweep if positive else sweep - 2 * math.pi


@given(
    *[some.integers(-20, 20)] * 4,
    *[some.floats(0.5, 30)] * 2,
    some.floats(-400, 400),
    some.booleans(),
    some.booleans(),
)
def test_arcs_are_those_of_the_standard(x1, y1, x2, y2, rx, ry, degrees, large, positive):
    found = arc(complex(x1, y1), complex(x2, y2), rx, ry, degrees, large, positive)
    if (x1, y1) == (x2, y2):
        assert found == []
        return
    centre, rx, ry, first, sweep = arc_of_the_standard(
        x1, y1, x2, y2, rx, ry, degrees, large, positive
    )
    angles = first + sweep * np.arange(1, len(found) + 1) / len(found)
    turn = complex(math.cos(math.radians(degrees)), math.sin(math.radians(degrees)))
    assert np.allclose(
        found, centre + turn * (rx * np.cos(angles) + 1j * ry * np.sin(angles)), atol=1e-4
    )


def test_flags_of_an_arc_may_stand_together():
    assert draw("M0 0a5 5 0 015 5") == draw("M0 0a5 5 0 0 1 5 5") != draw("M0 0a5 5 0 0 0 5 5")


def test_shapes_are_outlines(write):
    path = write(
        "a.svg",
        '<svg xmlns="http://www.w3.org/2000/svg"><line x1="1" y1="2" x2="3px" y2="4"/><polyline points="0,0 1,1"/>'
        '<polygon points="0 0 1 0 1 1"/><rect x="1" y="1" width="2" height="3"/><text>no line</text><defs><path d="M0 0h9"/></defs></svg>',
    )
    assert positions(path) == [
        1 + 2j,
        3 + 4j,
        0,
        1 + 1j,
        0,
        1,
        1 + 1j,
        0,
        1 + 1j,
        3 + 1j,
        3 + 4j,
        1 + 4j,
        1 + 1j,
    ]
    ring = np.array(positions(write("b.svg", '<svg><circle cx="5" cy="5" r="2"/></svg>')))
    assert np.allclose(abs(ring - 5 - 5j), 2) and len(ring) == 4 * svg.PIECES + 1
    oval = np.array(positions(write("c.svg", '<svg><ellipse rx="4" ry="2"/></svg>')))
    assert np.allclose((oval.real / 4) ** 2 + (oval.imag / 2) ** 2, 1)
    rounded = np.array(positions(write("d.svg", '<svg><rect width="8" height="6" rx="1"/></svg>')))
    assert (
        rounded[0] == 1
        and (rounded.real.max(), rounded.imag.max()) == (8, 6)
        and np.abs(rounded - (8 + 6j)).min() > 0.4
    )


def test_transforms_apply_from_the_inside_out(write):
    assert positions(
        write(
            "a.svg",
            '<svg><g transform="translate(10,20)"><path d="M1 2h1" transform="scale(2)"/></g></svg>',
        )
    ) == [12 + 24j, 14 + 24j]
    turned = transform("rotate(90 1 1), skewX(45) skewY(0) matrix(1 0 0 1 0 1) translate(3)") @ [
        1,
        1,
        1,
    ]
    assert np.allclose(turned, transform("rotate(90 1 1)") @ [6, 2, 1]) and np.allclose(
        turned, [0, 6, 1]
    )


BOMB = '<!DOCTYPE svg [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><svg><path d="M0 0"/>&b;</svg>'
WRONG_PICTURES = (
    {
        "entities": (BOMB, None, "entities"),
        "cut": ("<svg>\n<path", 2, "not SVG"),
        "no XML": ("M0 0", 1, "not SVG"),
        "other": ("<html/>", None, "not SVG"),
        "nothing": ("<svg><g/></svg>", None, "no line"),
        "only moves": ('<svg><path d="M0 0M1 1"/></svg>', None, "no line"),
        "deep": ("<g>" * 10_000, 1, "not SVG"),
        "strange entity": ("<svg>&what;</svg>", 1, "not SVG"),
        "binary": (b"<svg>\0</svg>", None, "binary"),
        "latin1": (b"<svg>\n\xe9</svg>", 2, "UTF-8"),
    }
    | {
        f"path {data}": (f'<svg><path d="{data}"/></svg>', None, "cannot be drawn")
        for data in (
            "L1 1",
            "1 1",
            "M1",
            "M1 1L",
            "M1 1X",
            "M1 1h1z1",
            "M1 1l1 nan",
            "M1 1L1e10 1",
            "M0 0C1 1 2 2",
            "M0 0a1 1 0 2 0 1 1",
            "M0 0" + "h9e8" * 3,
        )
    }
    | {
        f"transform {text}": (
            f'<svg><path d="M0 0h1" transform="{text}"/></svg>',
            None,
            "cannot be drawn|impossible",
        )
        for text in (
            "turn(5)",
            "scale()",
            "scale(2) 5",
            "rotate(1 2)",
            "translate(1em)",
            "scale(9e8)scale(9e8)",
            "scale(9e8)" * 40,
        )
    }
    | {
        f"shape {tag}": (f"<svg><{tag}/></svg>", None, "cannot be drawn")
        for tag in ('line x1="5%"', 'circle r=""', 'polygon points="1 2 3"', 'rect width="1 2"')
    }
)


@pytest.mark.parametrize("case", WRONG_PICTURES)
def test_a_wrong_picture_is_refused(write, case):
    content, line, words = WRONG_PICTURES[case]
    path = write("a.svg", content)
    with pytest.raises(DataError, match=words) as caught:
        read(path)
    assert (caught.value.file, caught.value.line) == (path, line)


def test_a_picture_is_read_as_a_sequence_of_numbers(write):
    data = read(write("a.svg", '<svg><path d="M1 2h3"/></svg>'))
    assert (len(data), data.by, data.unit, data.main.kind) == (1, "line", None, NUMBERS) and data[
        0
    ]["strokes"].tolist() == [[1, 2, 0], [3, 0, 1]]


# Generated drawings


def test_without_noise_a_drawing_is_its_shape_but_for_size_tilt_and_start():
    data = drawings("drawings:count=300,noise=0,seed=5")
    assert {*data.field("label").names} == {*SHAPES} and len(SHAPES) == 12
    for row in data:
        shape = [np.array(stroke, float) for stroke in SHAPES[row["label"][0]]]
        found = strokes_of(row["strokes"])
        assert [len(stroke) for stroke in found] == [len(stroke) for stroke in shape]
        radii, expected = (
            np.concatenate([np.sort(np.hypot(*once(stroke).T)) for stroke in strokes])
            for strokes in (found, shape)
        )
        size = radii.max() / expected.max()
        assert np.allclose(radii, size * expected) and 0.5 <= size <= 1


def once(stroke: np.ndarray) -> np.ndarray:
    """The points of a stroke without the one it comes back to."""
    return stroke[:-1] if np.allclose(stroke[0], stroke[-1]) else stroke


def test_drawings_are_tilted_and_begin_anywhere():
    data = drawings("drawings:count=600,noise=0")
    first = {
        name: [row["strokes"] for row in data if row["label"] == [name]]
        for name in ("arrow", "circle")
    }
    tilts = np.array([np.arctan(rows[1, 1] / rows[1, 0]) for rows in first["arrow"]])
    assert -0.4 <= tilts.min() < -0.3 and 0.3 < tilts.max() <= 0.4
    assert (
        {np.sign(rows[0, 0]) for rows in first["arrow"]}
        == {-1, 1}
        == {np.sign(rows[0, 1]) for rows in first["circle"]}
    )


def test_noise_moves_each_point_by_its_share_of_the_size():
    clean, noisy, same = (
        read(f"drawings:count=400,seed=2{noise}") for noise in (",noise=0", "", ",noise=0.02")
    )
    assert np.array_equal(noisy.main.values, same.main.values)
    strays = np.concatenate(
        [
            np.cumsum(one["strokes"] - other["strokes"], axis=0)[:, :2]
            for one, other in zip(clean, noisy)
        ]
    )
    sizes = 7 / 12  # the mean square of sizes between 1/2 and 1
    assert np.isclose(np.sqrt((strays**2).mean()), 0.02 * np.sqrt(sizes), rtol=0.05)


@pytest.mark.parametrize(
    "name, words",
    [
        ("drawings:count=0", "at least 1"),
        ("drawings:noise=-1", "at least 0"),
        ("drawings:size=3", "size"),
    ],
)
def test_settings_that_make_no_sense_are_refused(name, words):
    with pytest.raises(ConfigError, match=words):
        read(name)
