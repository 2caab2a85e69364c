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

from seriatim.data.limits import Unpacking, most_bytes, too_large
from seriatim.data.pickles import refuse_pickle
from seriatim.errors import ConfigError, DataError, SeriatimError, nearest, shorten
from seriatim.storage import replacing

CHUNK = 1 << 24


STANDARD_INPUT = "-"  # as a path


RETURN = b"\r"


MARKS = {  # at the beginning of a file; the longer first
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


NOT_WESTERN = b"\x81\x8d\x8f\x90\x9d"  # bytes that windows-1252 does not have


CONTROLS = bytes(byte for byte in range(32) if byte not in b"\t\n\r\f\x1b")


NO_ENCODINGS = {"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape"} | {
    "base64",
    "bz2",
    "hex",
    "quopri",
    "rot13",
    "uu",
    "zlib",
}


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
        with io.BytesIO(drained(sys.stdin)) if path == STANDARD_INPUT else unpacking(path) as file:
            yield file
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error, MemoryError) as error:
        raise DataError(
            "the file is damaged or too large", got=error, file=path, do="Fetch or pack it again"
        ) from None
    except FileNotFoundError:
        raise DataError("there is no such file", file=path, do=similar_files(path)) from None
    except IsADirectoryError:
        raise DataError("this is a folder", file=path, do="Name a file inside it") from None
    except SeriatimError:
        raise
    except (OSError, ValueError) as error:
        raise DataError(
            "the file cannot be read", got=error, file=path, do="Check its name and rights"
        ) from None


def unpacking(path: str) -> BinaryIO:
    """A file to be read, which may not unpack to more than is allowed."""
    opener = OPENERS.get(Path(path).suffix.lower())
    if opener is None:
        return open(path, "rb")
    return io.BufferedReader(Unpacking(opener(path, "rb"), path), 1 << 18)


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
    """The bytes of a file, decompressed as its ending says; no pickle, which is refused."""
    content = bytearray()
    with opened(path) as file:
        while chunk := file.read(CHUNK):
            content += chunk
            if len(content) > most_bytes():
                raise too_large(path)
    refuse_pickle(path, content)
    return content


def similar_files(path: str) -> str:
    """A hint for a path that leads nowhere: the nearest name in the same folder."""
    try:
        names = sorted(entry.name for entry in Path(path).parent.iterdir())
    except OSError:
        return f"There is no folder {str(Path(path).parent)!r} either"
    return shorten(nearest(Path(path).name, names)) if names else "Its folder is empty"


# -- from bytes to text


def utf8(path: str, encoding: str = "", notes: list[str] | None = None) -> bytearray:
    """A text file as UTF-8, without a byte order mark, and with \\n at the end of every line; the
    notes take what had to be changed."""
    content, marked = unified(path, encoding, notes)
    content, words = one_line_ending(content)
    said = [*(["a byte order mark is left out"] if marked else []), *words]
    add_notes(notes, path, said)
    return content


def unified(
    path: str, encoding: str = "", notes: list[str] | None = None
) -> tuple[bytearray, bool]:
    """A text file as UTF-8, its lines as they are, and whether a byte order mark of UTF-8 was left
    out. The encoding is UTF-8, or what a mark or the user says, or, if there are notes to say so, a
    guess."""
    content = unpacked(path)
    if content in (b"", codecs.BOM_UTF8):
        raise DataError("the file is empty", file=path, do="Give a file with at least one line")
    if encoding:
        return told_encoding(content, path, encoding), False
    for mark, name in MARKS.items():
        if content.startswith(mark):
            add_notes(notes, path, [f"read as {name}, as its byte order mark says"])
            return transcoded(content, path, name), False
    if 0 in content[:4096]:
        raise DataError(
            "this looks like a binary file", file=path, do="Give text, or name its format"
        )
    wrong = first_not_utf8(content)
    if wrong is not None:
        name = guessed_encoding(content)
        if notes is None or not name:
            raise DataError(
                "this is not UTF-8",
                got=f"byte 0x{content[wrong]:02x}",
                file=path,
                line=line_at(content, wrong),
                do="Correct the line, or name the encoding of the file with --encoding",
            )
        line = line_at(content, wrong)
        words = f"read as {name}: not UTF-8 at line {line}; say --encoding to be sure"
        add_notes(notes, path, [words])
        return transcoded(content, path, name), False
    marked = content.startswith(codecs.BOM_UTF8)
    if marked:
        del content[: len(codecs.BOM_UTF8)]
    return content, marked


def add_notes(notes: list[str] | None, path: str, several: list[str]) -> None:
    """What is worth knowing about a file."""
    if notes is not None:
        notes += [f"{path}: {words}" for words in several]


def blank_left_out(lines: int) -> list[str]:
    """What is said of so many blank lines that are not read."""
    if not lines:
        return []
    return [f"{lines:,} blank line{' is' if lines == 1 else 's are'} left out"]


def line_at(content: bytearray, place: int) -> int:
    """The number of the line that a place is in."""
    return content.count(b"\n", 0, place) + 1


def first_not_utf8(content: bytearray) -> int | None:
    """The place of the first byte that is not UTF-8; a chunk at a time: as text it may be four times
    as large."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for begin in range(0, len(content), CHUNK):
        held = len(decoder.getstate()[0])  # bytes of a character that was cut
        try:
            decoder.decode(content[begin : begin + CHUNK], begin + CHUNK >= len(content))
        except UnicodeDecodeError as error:
            return begin - held + error.start
    return None


def guessed_encoding(content: bytearray) -> str:
    """Western text of one byte a letter; nothing if it is UTF-8 that was damaged, or no text at all."""
    sound = content.decode("utf-8", "ignore")
    strange = len(content) - len(sound.encode())  # bytes that are not UTF-8
    letters = len(sound) - len(content.translate(None, bytes(range(128, 256))))  # not ASCII
    controls = len(content) - len(content.translate(None, CONTROLS))
    if letters >= strange or controls > len(content) // 100:
        return ""
    return "latin-1" if any(byte in content for byte in NOT_WESTERN) else "windows-1252"


def told_encoding(content: bytearray, path: str, encoding: str) -> bytearray:
    """The same from the encoding that was asked for."""
    return transcoded(content, path, encoding_called(encoding))


def encoding_called(encoding: str) -> str:
    """The name of an encoding of text as Python knows it."""
    try:
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        name = ""
    if not name or name in NO_ENCODINGS:
        raise ConfigError(
            "there is no such encoding",
            got=encoding,
            do="Name one as Python does: utf-8, latin-1, windows-1252, utf-16, shift_jis, ...",
        )
    return name


def transcoded(content: bytearray, path: str, encoding: str) -> bytearray:
    """The same as UTF-8, without a byte order mark."""
    try:
        text = bytes(content).decode(encoding)
        return bytearray(text.removeprefix("\ufeff").encode())
    except (UnicodeError, LookupError) as error:
        place = getattr(error, "start", 0)
        raise DataError(
            f"this is not {encoding}",
            got=getattr(error, "reason", error),
            file=path,
            line=line_at(content, place),
            do="Name another with --encoding, or leave that out: then it is guessed",
        ) from None


def one_line_ending(content: bytearray) -> tuple[bytearray, list[str]]:
    """The same with \\n at the end of every line, and what was there before, in words. A \\r alone
    ends a line where most lines end so; elsewhere it is a character like others."""
    if RETURN not in content:
        return content, []
    both, said = content.count(b"\r\n"), []
    if both:
        said.append(f"lines end with \\r\\n, read as \\n ({both:,} times)")
        content = content.replace(b"\r\n", b"\n")
    alone = content.count(RETURN)
    if alone > content.count(b"\n"):
        said.append(f"lines end with \\r, read as \\n ({alone:,} times)")
        content = content.replace(RETURN, b"\n")
    return content, said


def lines_of(path: str, encoding: str = "", notes: list[str] | None = None) -> list[str]:
    """The lines of a text file without their endings."""
    return utf8(path, encoding, notes).decode().removesuffix("\n").split("\n")
