"""From a path to checked bytes and lines, and back: plain, .gz or .xz as the ending says.

Whatever keeps a file from being read is a DataError with the way out; a file is written whole or not at all.
"""

from __future__ import annotations

import codecs
import gzip
import io
import lzma
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TextIO
from weakref import WeakKeyDictionary

from seriatim.errors import DataError, nearest, shorten
from seriatim.storage import replacing

MOST_BYTES = 8 * 10**9  # of one file, unpacked: a small archive may hold a huge one


CHUNK = 1 << 24


STANDARD_INPUT = "-"  # as a path


OPENERS: dict[str, Callable] = {".gz": gzip.open, ".xz": lzma.open}


PACKERS: dict[str, Callable[[Any], Any]] = {
    ".gz": partial(gzip.GzipFile, "", "wb", 4, mtime=0),
    ".xz": partial(lzma.LZMAFile, mode="wb", preset=1),
}


def bare_ending(path: str) -> str:
    """The ending of a name, apart from that of a packed file."""
    name = Path(path.lower())
    return Path(name.stem).suffix if name.suffix in OPENERS else name.suffix


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """A file to be read, unpacked as its ending says, or standard input.

    Whatever keeps it from being read is a DataError.
    """
    try:
        with (
            io.BytesIO(drained(sys.stdin))
            if path == STANDARD_INPUT
            else OPENERS.get(Path(path).suffix.lower(), open)(path, "rb") as file
        ):
            yield file
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error, MemoryError) as error:
        raise DataError(
            "the file is damaged or too large", got=error, file=path, do="Fetch or pack it again"
        ) from None
    except FileNotFoundError:
        raise DataError("there is no such file", file=path, do=similar_files(path)) from None
    except IsADirectoryError:
        raise DataError("this is a folder", file=path, do="Name a file inside it") from None
    except (OSError, ValueError) as error:
        raise DataError(
            "the file cannot be read", got=error, file=path, do="Check its name and rights"
        ) from None


DRAINED: WeakKeyDictionary[TextIO, bytes] = WeakKeyDictionary()  # as long as the stream lives


DRAINING = threading.Lock()


def drained(stream: TextIO) -> bytes:
    """All bytes of a stream, which gives them once; kept, so that it can be read again like a file."""
    with DRAINING:  # a second thread waits for what the first one reads
        if stream not in DRAINED:
            DRAINED[stream] = stream.buffer.read()
        return DRAINED[stream]


@contextmanager
def packed(path: Path) -> Iterator[BinaryIO]:
    """A file to be written, packed as its ending says; it takes its name when all of it is on disk."""
    with replacing(path) as file, PACKERS.get(path.suffix.lower(), nullcontext)(file) as out:
        yield out


def unpacked(path: str) -> bytearray:
    """The bytes of a file, decompressed as its ending says."""
    content = bytearray()
    with opened(path) as file:
        while chunk := file.read(CHUNK):
            content += chunk
            if len(content) > MOST_BYTES:
                raise DataError(
                    f"the file holds more than {MOST_BYTES:,} bytes",
                    file=path,
                    do="Cut it into smaller files",
                )
    return content


def similar_files(path: str) -> str:
    """A hint for a path that leads nowhere: the nearest name in the same folder."""
    try:
        names = sorted(entry.name for entry in Path(path).parent.iterdir())
    except OSError:
        return f"There is no folder {str(Path(path).parent)!r} either"
    return shorten(nearest(Path(path).name, names)) if names else "Its folder is empty"


def checked(path: str) -> bytearray:
    """The bytes of a text file as they are, known to be UTF-8."""
    content = unpacked(path)
    if content in (b"", codecs.BOM_UTF8):
        raise DataError("the file is empty", file=path, do="Give a file with at least one line")
    if 0 in content[:4096]:
        raise DataError(
            "this looks like a binary file", file=path, do="Give UTF-8 text, or name its format"
        )
    # A chunk at a time: as text it may be four times as large.
    decoder = codecs.getincrementaldecoder("utf-8")()
    for begin in range(0, len(content), CHUNK):
        held = len(decoder.getstate()[0])  # bytes of a character that was cut
        try:
            decoder.decode(content[begin : begin + CHUNK], begin + CHUNK >= len(content))
        except UnicodeDecodeError as error:
            place = begin - held + error.start
            raise DataError(
                "this is not UTF-8",
                got=f"byte 0x{content[place]:02x}",
                file=path,
                line=content.count(b"\n", 0, place) + 1,
                do="Convert it, for instance: iconv -f latin1 -t utf-8 OLD > NEW",
            ) from None
    return content


def utf8(path: str) -> bytearray:
    """The same without a byte order mark."""
    content = checked(path)
    if content.startswith(codecs.BOM_UTF8):
        del content[: len(codecs.BOM_UTF8)]
    return content


def lines_of(path: str) -> list[str]:
    """The lines of a text file without their endings; only \\n and \\r\\n end a line."""
    return [line.removesuffix("\r") for line in utf8(path).decode().removesuffix("\n").split("\n")]
