"""Small pictures, row by row, out of PNG and back: 8 bits a colour, grey or red, green and blue.

    as numbers     a row of the picture a step, its pixels the channels: 0 black, 1 white
    as pixels      0 36 255 | 73 0 ...     a symbol a pixel, rounded to N greys; | ends a row
    grey           0.299 R + 0.587 G + 0.114 B

Palettes, transparency, 16 bits and interlaced rows are refused, and so is what is larger than 256 x 256: a
picture is one sequence here. (World Wide Web Consortium, "Portable Network Graphics", 2nd edition,
2003.) Shapes: H rows, W pixels of a row, B bytes of a pixel.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from seriatim.data.files import unpacked
from seriatim.data.sequences import NUMBERS, Field, Table, offsets_of
from seriatim.errors import ConfigError, DataError
from seriatim.storage import write_bytes

SIGNATURE = b"\x89PNG\r\n\x1a\n"
WIDEST = 256  # pixels, and rows
GREYS = 8
ROW = "|"  # ends a row of pixels
BYTES = {0: 1, 2: 3}  # of a pixel: grey; red, green and blue
LIGHT = np.array([0.299, 0.587, 0.114])
GAP = 2  # pixels between pictures side by side
PAPER = 0.5  # how light they are


def read_png(path: str) -> Table:
    """A picture as the field `values`, (H, W) greys from 0 to 1."""
    picture = grey_of(path)
    return {"values": Field(picture, offsets_of([len(picture)]), NUMBERS)}, None


def read_pixels(path: str, greys: int = GREYS) -> Table:
    """A picture as the field `tokens`: a symbol a pixel, and one behind each row."""
    if not 2 <= greys <= 256:
        raise ConfigError("pixels have 2 to 256 greys", got=greys, do=f"Try {GREYS}")
    levels = np.round(grey_of(path) * (greys - 1))  # (H, W) from 0
    shades = np.round(levels * (255 / (greys - 1))).astype(int)
    tokens = [name for row in shades.tolist() for name in (*map(str, row), ROW)]
    return {"tokens": Field.of_symbols([tokens])}, None


def grey_of(path: str) -> np.ndarray:
    """(H, W) greys from 0 to 1."""
    content = bytes(unpacked(path))
    if not content.startswith(SIGNATURE):
        raise damaged(path, "this is not a PNG file", repr(content[:8]))
    head, packed = b"", bytearray()
    for name, inside in chunks(content, path):
        if name == b"IHDR" and not head:
            head = inside
        elif name == b"IDAT":
            packed += inside
        elif name == b"IEND":
            break
    width, height, size = form_of(head, path)
    rows = unfiltered(inflated(packed, height * (1 + width * size), path), height, size, path)
    pixels = rows.reshape(height, width, size)
    return (pixels @ LIGHT if size == 3 else pixels[..., 0].astype(np.float64)) / 255


def chunks(content: bytes, path: str) -> Iterator[tuple[bytes, bytes]]:
    """Name and content of each part of a file, checked."""
    place = len(SIGNATURE)
    while place < len(content):
        size = int.from_bytes(content[place : place + 4], "big")
        name, inside = content[place + 4 : place + 8], content[place + 8 : place + 8 + size]
        check = content[place + 8 + size : place + 12 + size]
        if len(check) < 4:
            raise damaged(path, "the file ends too early", f"{len(content):,} bytes")
        if zlib.crc32(name + inside).to_bytes(4, "big") != check:
            raise damaged(path, "a part of the file does not have its checksum", repr(name))
        yield name, inside
        place += 12 + size


def form_of(head: bytes, path: str) -> tuple[int, int, int]:
    """Width, height and bytes of a pixel, if they can be read."""
    if len(head) != 13:
        raise damaged(path, "the file does not say how large it is", f"{len(head)} bytes")
    width, height = (int.from_bytes(head[at : at + 4], "big") for at in (0, 4))
    depth, colour, _, _, interlaced = head[8:]
    if depth != 8 or colour not in BYTES or interlaced:
        how = {0: "grey", 2: "colours", 3: "a palette", 4: "grey with transparency"}
        named = how.get(colour, "colours with transparency")
        raise DataError(
            "pictures are read that are grey or red, green and blue, of 8 bits, not interlaced",
            got=f"{named}, {depth} bits{', interlaced' if interlaced else ''}",
            file=path,
            do="Convert it: magick in.png -alpha off -colorspace gray -depth 8 -interlace none"
            " PNG8:out.png; or with Pillow: Image.open('in.png').convert('L').save('out.png')",
        )
    if not (0 < width <= WIDEST and 0 < height <= WIDEST):
        raise DataError(
            f"pictures are read of at most {WIDEST} x {WIDEST} pixels",
            got=f"{width:,} x {height:,}",
            file=path,
            do="Make it smaller: magick in.png -resize 32x32 out.png",
        )
    return width, height, BYTES[colour]


def inflated(packed: bytearray, wanted: int, path: str) -> bytes:
    """The bytes of all rows, as many as there must be, and never more."""
    try:
        found = zlib.decompressobj().decompress(bytes(packed), wanted)
    except zlib.error as error:
        raise damaged(path, "the pixels of the file cannot be unpacked", str(error)) from None
    if len(found) < wanted:
        got = f"{wanted:,} bytes expected, {len(found):,} found"
        raise damaged(path, "pixels are missing", got)
    return found


def unfiltered(content: bytes, height: int, size: int, path: str) -> np.ndarray:
    """(H, W B) bytes, of which each row was written as what it differs by from what is around."""
    table = np.frombuffer(content, np.uint8).reshape(height, -1)
    found = np.zeros((height, table.shape[1] - 1), np.uint8)
    above = np.zeros(found.shape[1], np.uint8)
    for i, row in enumerate(table):
        kind, rest = int(row[0]), row[1:]
        if kind == 0:
            above = rest
        elif kind == 1:  # from the pixel before
            pixels = rest.reshape(-1, size)
            above = np.cumsum(pixels, 0, dtype=np.uint8).reshape(-1)
        elif kind == 2:  # from the one above
            above = rest + above
        elif kind in (3, 4):
            above = between(rest.tolist(), above.tolist(), size, kind == 4)
        else:
            raise damaged(path, f"row {i + 1} is written in an unknown way", str(kind))
        found[i] = above
    return found


def between(rest: list[int], above: list[int], size: int, nearest: bool) -> np.ndarray:
    """A row that differs from the mean of the pixel before and the one above, or from that of
    three to which before + above - corner is nearest (Paeth)."""
    row = [0] * size + rest  # with a black pixel before it
    up = [0] * size + above
    for i in range(size, len(row)):
        a, b, c = row[i - size], up[i], up[i - size]
        if nearest:
            p = a + b - c
            away = (abs(p - a), abs(p - b), abs(p - c))
            guess = (a, b, c)[away.index(min(away))]
        else:
            guess = (a + b) // 2
        row[i] = (row[i] + guess) & 255
    return np.array(row[size:], np.uint8)


def damaged(path: str, what: str, got: str) -> DataError:
    """The error of a file that is damaged."""
    return DataError(what, got=got, file=path, do="It is damaged, or no PNG file: write it again")


# Writing


def picture_of(tokens: Sequence[str]) -> np.ndarray:
    """Pixels as symbols -> (H, W) greys from 0 to 1; what is missing of a row is black.

    >>> picture_of("0 51 | 255".split()).tolist()
    [[0.0, 0.2], [1.0, 0.0]]
    """
    rows: list[list[float]] = [[]]
    for token in tokens:
        if token == ROW:
            rows.append([])
        elif token.isascii() and token.isdigit() and len(token) < 4:
            rows[-1].append(int(token) / 255)
        else:
            raise DataError("this is no pixel", got=token, do=f"Pixels are 0 to 255, and {ROW}")
    rows = rows if rows[-1] or len(rows) == 1 else rows[:-1]
    picture = np.zeros((len(rows), max(1, *map(len, rows), 1)))
    for i, row in enumerate(rows):
        picture[i, : len(row)] = row
    return picture


def write_png(pictures: Sequence[np.ndarray], path: str | Path, columns: int = 8) -> None:
    """Pictures, (H, W) greys from 0 to 1 each, side by side in one file; one alone fills it."""
    if not pictures:
        raise DataError("there is no picture to be written")
    height, width = (max(each.shape[i] for each in pictures) for i in (0, 1))
    columns = min(columns, len(pictures))
    down = -(-len(pictures) // columns)
    sheet = np.full((down * (height + GAP) - GAP, columns * (width + GAP) - GAP), PAPER)  # (H', W')
    for i, each in enumerate(pictures):
        top, left = i // columns * (height + GAP), i % columns * (width + GAP)
        sheet[top : top + each.shape[0], left : left + each.shape[1]] = each
    pixels = np.round(np.nan_to_num(sheet.clip(0, 1)) * 255).astype(np.uint8)
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    size = b"".join(number.to_bytes(4, "big") for number in sheet.shape[::-1])
    parts = [
        (b"IHDR", size + bytes([8, 0, 0, 0, 0])),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    ]
    write_bytes(Path(path), SIGNATURE + b"".join(chunk(*each) for each in parts))


def chunk(name: bytes, inside: bytes) -> bytes:
    """A part of a file, with its length and its checksum."""
    check = zlib.crc32(name + inside).to_bytes(4, "big")
    return len(inside).to_bytes(4, "big") + name + inside + check
