"""Small pictures: what an independent writer writes arrives, in every way rows are filtered."""

import struct
import zlib

import numpy as np
import pytest

import seriatim as st
from seriatim.data.formats import png, read_files
from seriatim.errors import ConfigError, DataError
from seriatim.show.files import keep
from seriatim.tasks import task


def part(name, inside):
    check = struct.pack(">I", zlib.crc32(name + inside))
    return struct.pack(">I", len(inside)) + name + inside + check


def made(pixels, filters=0, depth=8, colour=None, interlaced=0):
    """A file by the specification: (H, W) or (H, W, 3) bytes, each row filtered as said."""
    pixels = np.asarray(pixels, np.uint8)
    height, width = pixels.shape[:2]
    size = 1 if pixels.ndim == 2 else pixels.shape[2]
    colour = {1: 0, 3: 2, 4: 6}[size] if colour is None else colour
    rows = pixels.reshape(height, width * size).astype(int)
    filters = [filters] * height if isinstance(filters, int) else filters
    out = b""
    for i, kind in enumerate(filters):
        out += bytes([kind])
        for j in range(width * size):
            a = rows[i, j - size] if j >= size else 0
            b = rows[i - 1, j] if i else 0
            c = rows[i - 1, j - size] if i and j >= size else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            guess = [0, a, b, (a + b) // 2, paeth][kind]
            out += bytes([(rows[i, j] - guess) % 256])
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced)
    packed = zlib.compress(out)
    data = part(b"IDAT", packed[:5]) + part(b"IDAT", packed[5:])
    return (
        b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"tEXt", b"x") + data + part(b"IEND", b"")
    )


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="a.png"):
        (tmp_path / name).write_bytes(content)
        return str(tmp_path / name)

    return write_file


GREY = np.random.default_rng(0).integers(0, 256, (6, 5))
COLOURS = np.random.default_rng(1).integers(0, 256, (6, 5, 3))


@pytest.mark.parametrize("filters", [0, 1, 2, 3, 4, [4, 1, 3, 2, 0, 4]])
def test_rows_arrive_however_they_were_filtered(write, filters):
    data = read_files(write(made(GREY, filters)))
    assert np.array_equal(data.main.values, GREY / 255) and len(data) == 1
    light = COLOURS @ [0.299, 0.587, 0.114] / 255
    assert np.allclose(read_files(write(made(COLOURS, filters))).main.values, light)


@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_what_pillow_writes_arrives_and_the_other_way(tmp_path, mode):
    image = pytest.importorskip("PIL.Image")
    array = (GREY if mode == "L" else COLOURS).astype(np.uint8)
    image.fromarray(array).save(tmp_path / "a.png", optimize=True)
    found = read_files(tmp_path / "a.png").main.values
    expected = array if mode == "L" else array @ [0.299, 0.587, 0.114]
    assert np.allclose(found, expected / 255)
    png.write_png([found], tmp_path / "b.png")
    assert np.array_equal(np.asarray(image.open(tmp_path / "b.png")), np.round(expected))


def test_pixels_are_symbols_rounded_to_some_greys(write):
    path = write(made([[0, 100], [200, 255]]))
    data = read_files(path, input_format="pixels", own={"greys": 2})
    assert data[0]["tokens"] == ["0", "0", "|", "255", "255", "|"]
    data = read_files(path, input_format="pixels", own={"greys": 4})
    assert data[0]["tokens"] == ["0", "85", "|", "170", "255", "|"]
    assert len(task("language").cut.sequences(path).main.flat) == 6
    with pytest.raises(ConfigError, match="2 to 256 greys"):
        read_files(path, input_format="pixels", own={"greys": 1})


def test_pictures_are_written_side_by_side(tmp_path):
    one, two = np.zeros((2, 2)), np.array([[1.0, 7.0, -1.0]])
    png.write_png([one, two, one], tmp_path / "a.png", columns=2)
    sheet = read_files(tmp_path / "a.png").main.values
    half = 128 / 255
    assert sheet.shape == (6, 8) and sheet[0].tolist() == [0, 0, half, half, half, 1, 1, 0]


HEAD = made(GREY)


@pytest.mark.parametrize(
    "content, words",
    [
        (b"GIF89a", "not a PNG"),
        (HEAD[:-20], "ends too early"),
        (HEAD[:40] + b"\xff" + HEAD[41:], "checksum"),
        (made(GREY, interlaced=1), "interlaced"),
        (made(GREY, depth=16), "16 bits"),
        (made(GREY, colour=3), "palette"),
        (made(np.zeros((2, 2, 4))), "transparency"),
        (made(np.zeros((1, 257))), "at most 256 x 256"),
        (png.SIGNATURE + part(b"IEND", b""), "how large"),
        (png.SIGNATURE + part(b"IHDR", HEAD[16:29]) + part(b"IDAT", b"xxxx"), "cannot be unpacked"),
        (
            png.SIGNATURE + part(b"IHDR", HEAD[16:29]) + part(b"IDAT", zlib.compress(b"\0")),
            "missing",
        ),
        (
            png.SIGNATURE + part(b"IHDR", HEAD[16:29]) + part(b"IDAT", zlib.compress(b"\7" * 36)),
            "row 1 is written in an unknown way",
        ),
    ],
)
def test_what_cannot_be_read_is_said(write, content, words):
    path = write(content)
    with pytest.raises(DataError, match=words) as caught:
        read_files(path)
    assert caught.value.file == path


def test_a_bomb_is_unpacked_no_further_than_its_pixels(write, monkeypatch):
    packed = zlib.compress(bytes(10**7))
    content = png.SIGNATURE + part(b"IHDR", HEAD[16:29]) + part(b"IDAT", packed)
    assert read_files(write(content)).main.values.shape == (6, 5)


@pytest.fixture
def pictures(tmp_path):
    """Bars that stand and bars that lie."""
    for i in range(8):
        picture = np.zeros((6, 6))
        picture[:, i % 6] = 1 - i / 20
        (tmp_path / "pictures").mkdir(exist_ok=True)
        png.write_png([picture], tmp_path / "pictures" / f"stands-{i}.png")
        png.write_png([picture.T], tmp_path / "pictures" / f"lies-{i}.png")
    return tmp_path / "pictures"


def test_pictures_are_classified_and_written(pictures, tmp_path):
    files = sorted(pictures.iterdir())
    model = st.fit("classify", "linear", pictures)
    assert model.evaluate(pictures)["accuracy"] > 0.8
    small = st.fit("autoencode", "gru", files, valid=files, width=8, latent=2, updates=2)
    keep(small.generate(length=4, count=3), tmp_path / "out.png")
    assert read_files(tmp_path / "out.png").main.values.shape[1] == 3 * 6 + 2 * 2


def test_a_language_of_pixels_writes_pictures_row_by_row(pictures, tmp_path):
    model = st.fit("language", "markov", sorted(pictures.iterdir()), greys=2, order=12)
    record = model.generate(length=42, seed=3)
    assert set(record["items"][0]["text"].split()) <= {"0", "255", "|"}
    keep(record, tmp_path / "out.png")
    assert 0 < read_files(tmp_path / "out.png").main.values.shape[0] <= 42
    with pytest.raises(ConfigError, match="only pictures"):
        keep({"items": [{"text": "a tune"}]}, tmp_path / "other.png")
