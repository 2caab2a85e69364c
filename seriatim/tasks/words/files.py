"""Files of word vectors, as word2vec, GloVe, fastText and their readers know them; and our own,
which is mapped into memory.

    word2vec           a line "N D", then a line for each word: the word and its D numbers
    fasttext           the same, with the ending .vec
    glove              the same without the first line; a word may hold blanks: the last D fields
                       are the numbers
    word2vec-binary    a line "N D", then for each word: its UTF-8, a blank, D little-endian
                       float32, and mostly a newline
    fastText's model   .bin, told by its first bytes, read and never written: see fasttext.py
    safetensors        two arrays: "vectors", (N, D) float32, and "words", their UTF-8 with newlines between

All but the last may be packed, .gz or .xz. Memory grows with what was read, never with what a
header says. Whatever is wrong with a file is a DataError that names it and the line, or the word of
a binary file, and nothing is returned. Shapes: N words, D numbers each, R rows of a block.
"""

from __future__ import annotations

import math
import operator
import os
import re
import stat
import sys
from array import array
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np

from seriatim.data.files import OPENERS, bare_ending, opened, packed
from seriatim.data.pickles import refuse_pickle
from seriatim.errors import ConfigError, DataError, RunError, nearest
from seriatim.storage import read_arrays, write_arrays
from seriatim.tasks.words.fasttext import MAGIC, read_fasttext

FORMATS = ("word2vec", "word2vec-binary", "glove", "fasttext", "safetensors")


ENDINGS = {
    ".bin": "word2vec-binary",
    ".safetensors": "safetensors",
    ".vec": "fasttext",
}  # others: the first lines tell


BLOCK = 1 << 20  # bytes read in one go


NUMBERS = 1 << 17  # numbers written or checked in one go


MOST_WIDTH = 1 << 17  # of a vector


MOST_WORD = 1 << 20  # bytes of a word


MOST_LINE = 1 << 22  # bytes of a line: room for both


HEADER = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(-?\d{1,18})\s+(-?\d{1,18})\s*"
)  # a byte order mark may come before it


BLANK = re.compile(r"[ \t\n\v\f\r]")  # what ends a word for readers in C; a no-break space does not


CUT = "The file may have been cut short: fetch or write it again"


BARE = "if it is text without a header, name the format glove"


def read_vectors(
    path: str | Path, format: str | None = None, most: int | None = None
) -> tuple[list[str], np.ndarray]:
    """The words and their (N, D) float32 vectors; `most` reads only the first so many.

    Without a format the ending tells it or, for most, the first lines: two whole numbers and
    nothing else are a header. A word that comes again is left out. Vectors from safetensors stay on
    disk until they are looked at.

    >>> words, vectors = read_vectors("glove.6B.100d.txt", most=50_000)            # doctest: +SKIP
    """
    path, format = str(path), checked_format(str(path), format)
    if most is not None and (not hasattr(most, "__index__") or operator.index(most) < 1):
        raise ConfigError("`most` is a whole number of words, 1 or more", got=most)
    with opened(path) as file:
        if format == "safetensors":
            return read_safetensors(path, most)
        reading = VectorReader(path, file, most)
        if reading.head.startswith(MAGIC):
            return read_fasttext(path, file, most)
        format = format or reading.guess()
        if format == "word2vec-binary":
            reading.read_binary()
        else:
            reading.read_text(headed=format != "glove")
        return list(reading.words), np.frombuffer(reading.values, np.float32).reshape(
            len(reading.words), -1
        )


def write_vectors(
    path: str | Path, words: Sequence[str], vectors: np.ndarray, format: str | None = None
) -> None:
    """Write N words and their (N, D) vectors as float32: all or nothing, atomically.

    Without a format the ending tells it, and for endings that tell nothing it is word2vec. What is
    read again is the same to the bit.
    """
    path = checked_path(path)
    format = checked_format(str(path), format) or (
        "glove" if bare_ending(str(path)) == ".glove" else "word2vec"
    )
    words = list(words)
    vectors = checked_vectors(words, vectors)
    encoded = checked_words(words, format)
    if format == "safetensors":
        from torch import from_numpy

        stored = {
            "vectors": vectors,
            "words": np.frombuffer(bytearray(b"\n".join(encoded)), np.uint8),
        }
        write_arrays(
            path,
            {
                name: from_numpy(np.require(stored[name], requirements=["C", "W"]))
                for name in stored
            },
        )
        return
    blocks = (
        binary_blocks(encoded, vectors)
        if format == "word2vec-binary"
        else text_blocks(words, vectors)
    )
    with packed(path) as out:
        if format != "glove":
            out.write(b"%d %d\n" % vectors.shape)
        for number, block in enumerate(blocks):
            out.write(plainly_a_word(block) if format == "glove" and number == 0 else block)


# What is asked for


def checked_format(path: str, format: str | None) -> str | None:
    """The format asked for or told by the ending; None where the first lines must tell."""
    if format is not None and format not in FORMATS:
        raise ConfigError(
            "unknown format of word vectors", got=format, do=nearest(str(format), FORMATS)
        )
    format = format or ENDINGS.get(bare_ending(path))
    if format == "safetensors" and Path(path).suffix.lower() in OPENERS:
        raise ConfigError(
            "safetensors are mapped into memory, so they cannot be packed",
            got=path,
            do="Leave out the ending .gz or .xz",
        )
    return format


def checked_path(path: str | Path) -> Path:
    """A path that can be one; an error if not."""
    path = Path(path)
    try:
        known = path.name and b"\0" not in os.fsencode(path)
    except ValueError:
        known = False
    if not known:
        raise ConfigError(
            "this is no name of a file", got=repr(str(path)), do="Give a path that ends with a name"
        )
    return path


def checked_vectors(words: list[str], vectors: np.ndarray) -> np.ndarray:
    """The vectors as (N, D) float32, all finite, one for each word."""
    try:
        given = np.asarray(vectors)
    except ValueError:
        given = np.empty(0, object)  # rows of different lengths
    if given.ndim != 2 or given.dtype.kind not in "fiu":
        raise ConfigError(
            "vectors are an array of numbers with two axes, words and width",
            got=f"shape {given.shape}, {given.dtype}",
        )
    if len(words) != len(given):
        raise ConfigError(
            "every word needs one vector", got=f"{len(words):,} words, {len(given):,} vectors"
        )
    if not len(words) or not 1 <= given.shape[1] <= MOST_WIDTH:
        raise ConfigError(
            f"at least one word is needed, and vectors of 1 to {MOST_WIDTH:,} numbers",
            got=f"shape {given.shape}",
        )
    with np.errstate(over="ignore"):
        given = given.astype(np.float32, copy=False)
    row = first_infinite(given)
    if row is not None:
        raise ConfigError(
            "a vector has a value that is not finite as float32",
            got=f"the vector of {words[row]!r}, row {row}",
            do="Look for what made it, or leave the word out",
        )
    return given


def checked_words(words: list[str], format: str) -> list[bytes]:
    """The words as UTF-8, known to come back from a file of this format."""
    encoded: dict[bytes, None] = {}
    for word in words:
        if not isinstance(word, str):
            raise ConfigError("words are text", got=repr(word))
        if format == "safetensors" and "\n" in word:
            raise ConfigError(
                "a word with a newline cannot be written",
                got=repr(word),
                do="Leave it out or rename it",
            )
        if format != "safetensors" and (not word or BLANK.search(word)):
            raise ConfigError(
                f"{'a word with a blank' if word else 'an empty word'} cannot be written as {format}",
                got=repr(word),
                do="Put another sign in place of blanks, or choose the format safetensors, which "
                "allows all but newlines",
            )
        try:
            content = word.encode()
        except UnicodeEncodeError:
            raise ConfigError(
                "half of a surrogate pair is no text, so this word cannot be written",
                got=ascii(word),
                do="Leave it out",
            ) from None
        if len(content) > MOST_WORD:
            raise ConfigError(
                f"a word takes more than {MOST_WORD:,} bytes", got=word, do="Leave it out"
            )
        if content in encoded:
            raise ConfigError(
                "a word is listed twice", got=repr(word), do="Keep one vector for each word"
            )
        encoded[content] = None
    return list(encoded)


def first_infinite(vectors: np.ndarray) -> int | None:
    """The first of (N, D) vectors that has a value which is not finite, found in blocks: they may
    be larger than the memory."""
    rows = rows_of_a_block(vectors)
    for begin in range(0, len(vectors), rows):
        sound = np.isfinite(vectors[begin : begin + rows]).all(1)  # (R,)
        if not sound.all():
            return begin + int(np.argmin(sound))
    return None


def rows_of_a_block(vectors: np.ndarray) -> int:
    """How many rows are written at a time."""
    return max(1, NUMBERS // vectors.shape[1])


# Reading


class VectorReader:
    """A file on its way into words and vectors, a row at a time."""

    def __init__(self, path: str, file: BinaryIO, most: int | None):
        self.path, self.file, self.most, self.counts_words = path, file, most, False
        self.words: dict[str, None] = {}  # in the order of the file, each once
        self.values = array("f")  # (N, D), as far as read
        self.repeated = 0  # rows whose word had been there
        self.count: int | None = None  # how many rows a header promises
        self.packed = Path(path).suffix.lower() in OPENERS
        status = os.fstat(file.fileno())
        self.size = status.st_size if stat.S_ISREG(status.st_mode) and not self.packed else None
        self.head = file.read(BLOCK)
        if not self.head:
            raise self.wrong("the file is empty", do="Give a file with at least one word")
        refuse_pickle(path, self.head)

    def wrong(
        self, what: str, number: int | None = None, got: object = None, do: str = ""
    ) -> DataError:
        """What is wrong with a line or, in a binary file, with a word, counted from 1."""
        got = got.decode("utf-8", "replace") if isinstance(got, bytes) else got
        if number is not None and self.counts_words:
            what, number = f"word {number:,}: {what}", None
        return DataError(what, got=got, file=self.path, line=number, do=do)

    def guess(self) -> str:
        """Whether a text file begins with a header. Two whole numbers are one, unless the next
        lines are too short for it: then they are a word and its vector of one number. Where both
        fit, in one dimension, the ending .glove decides."""
        first, *more = self.head.split(b"\n", 3)
        found = HEADER.fullmatch(first)
        pairs = len(more) == 3 and all(len(line.split()) == 2 for line in more[:2])
        return (
            "glove"
            if found is None
            or (pairs and (int(found[2]) != 1 or bare_ending(self.path) == ".glove"))
            else "word2vec"
        )

    def pieces(self) -> Iterator[bytes]:
        """The content of the file, a block at a time."""
        piece = self.head
        while piece:
            yield piece
            piece = self.file.read(BLOCK)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines with their numbers. The last must end, or be the last that the header promises:
        a file that is cut does not go unnoticed."""
        number, rest = 0, b""
        for piece in self.pieces():
            *whole, rest = (rest + piece).split(b"\n")
            for line in whole:
                number += 1
                if len(line) > MOST_LINE:
                    raise self.wrong(
                        f"this line is longer than {MOST_LINE:,} bytes",
                        number,
                        got=line[:BLOCK],
                        do="Each word has a line of its own",
                    )
                yield number, line
            if len(rest) > MOST_LINE:
                raise self.wrong(
                    f"this line is longer than {MOST_LINE:,} bytes",
                    number + 1,
                    got=rest[:BLOCK],
                    do="Each word has a line of its own",
                )
        if rest and len(self.words) + self.repeated + 1 == self.count:
            yield number + 1, rest
        elif rest:
            raise self.wrong(
                "the last line does not end with a newline",
                number + 1,
                got=rest[-100:],
                do=f"{CUT}; if it is whole, add a newline",
            )

    def header(self, line: bytes, least: int, more: int, missing: int = 0) -> tuple[int, int]:
        """N and D as a first line states them, if the file is large enough for that: a row takes
        `least` bytes for a number, and `more`; so many bytes may be missing at the end."""
        found = HEADER.fullmatch(line)
        if found is None:
            raise self.wrong(
                "the first line is no header",
                1,
                got=line[:1000],
                do=f"Expected: how many words, and how many numbers each; {BARE}",
            )
        count, width = int(found[1]), int(found[2])
        if count < 1 or not 1 <= width <= MOST_WIDTH:
            raise self.wrong(
                f"there must be 1 word or more, and 1 to {MOST_WIDTH:,} numbers each",
                1,
                got=line,
                do="Correct the first line",
            )
        if (
            self.size is not None
            and count * (width * least + more) - missing > self.size - len(line) - 1
        ):
            raise self.wrong(
                f"the header promises more than the {self.size:,} bytes of this file can hold",
                1,
                got=line,
                do=f"{CUT}; {BARE}",
            )
        return count, width

    def take(self, number: int, word: bytes, row: array) -> None:
        """Add a word and its vector, or only count it if the word is there."""
        if not math.isfinite(sum(row)):  # a sum of float32 as float64 does not overflow
            raise self.wrong(
                "a value is not finite as float32",
                number,
                got=word,
                do="Leave this word out, or make its vector again",
            )
        try:
            text = word.decode()
        except UnicodeDecodeError as error:
            raise self.wrong(
                "this word is not UTF-8",
                number,
                got=f"byte 0x{word[error.start]:02x} in {word[:100]!r}",
                do="Convert the file to UTF-8, or make it again",
            ) from None
        if text in self.words:
            self.repeated += 1
        else:
            self.words[text] = None
            self.values += row

    def read_text(self, headed: bool) -> None:
        """Lines of a word and its numbers, behind a header or without one."""
        lines, number, width = self.lines(), 0, 0
        if headed:
            number, first = next(lines, (1, b""))
            self.count, width = self.header(
                first, 2, 2, 1
            )  # a blank and a digit; a letter and a newline; the last newline
        for number, line in lines:
            if len(self.words) + self.repeated == self.count:
                raise self.wrong(
                    f"more words than the {self.count:,} of the header",
                    number,
                    got=line,
                    do=f"Correct the first line; {BARE}",
                )
            width = width or self.width(line)
            self.take(number, *self.row(number, line, width, headed))
            if len(self.words) == self.most:
                return
        if self.count is not None and len(self.words) + self.repeated < self.count:
            raise self.wrong(
                f"the header promises {self.count:,} words, the file has {len(self.words) + self.repeated:,}",
                number,
                do=f"{CUT}; {BARE}",
            )

    def width(self, line: bytes) -> int:
        """How many numbers the first line without a header has: all that stand at its end but the
        first field, which is a word."""
        fields = line.split()[1:]
        width = next(
            (place for place, field in enumerate(reversed(fields)) if not is_number(field)),
            len(fields),
        )
        if not 1 <= width <= MOST_WIDTH:
            raise self.wrong(
                f"expected a word and 1 to {MOST_WIDTH:,} numbers",
                1,
                got=line,
                do="Give a text file of word vectors, or name its format",
            )
        return width

    def row(self, number: int, line: bytes, width: int, headed: bool) -> tuple[bytes, array]:
        """A line -> its word and its numbers. What is left of the numbers may hold blanks, as in
        GloVe's 840B, but no further number."""
        word, *fields = line.rsplit(None, width) or [b""]
        parts = word.split()
        if (
            len(fields) != width
            or word[:1].isspace()
            or (len(parts) > 1 and (headed or is_number(parts[-1])))
        ):
            raise self.wrong(
                f"expected a word and {width:,} numbers between blanks",
                number,
                got=line,
                do=f"The {'header' if headed else 'first line'} tells how many numbers a word has",
            )
        try:
            if b"_" in line[len(word) :]:
                raise ValueError  # float() lets an underscore pass
            return word, array("f", list(map(float, fields)))
        except ValueError:
            raise self.wrong(
                "this is not a number",
                number,
                got=next(field for field in fields if not is_number(field)),
                do=f"After the word come {width:,} numbers between blanks",
            ) from None

    def read_binary(self) -> None:
        """Words and packed numbers behind a header."""
        pieces = self.pieces()
        first, _, content = next(pieces).partition(b"\n")
        count, width = self.header(first, 4, 2)  # a letter and a blank
        self.counts_words, place = True, 0
        for number in range(1, count + 1):
            while (begin := content.find(b" ", place, place + MOST_WORD + 2) + 1) == 0 or len(
                content
            ) < begin + 4 * width:
                more = next(pieces, b"")
                if begin == 0 and len(content) > place + MOST_WORD:
                    raise self.wrong(
                        "no blank ends this word",
                        number,
                        got=content[place : place + 100],
                        do="Check that the format is word2vec-binary",
                    )
                if not more:
                    raise self.wrong(
                        f"the file ends here, the header promises {count:,} words", number, do=CUT
                    )
                content, place = content[place:] + more, 0
            word = content[place : begin - 1].lstrip(b"\n")
            if not word or b"\n" in word:
                raise self.wrong(
                    "a word is not empty and has no newline",
                    number,
                    got=repr(word),
                    do="Check the file, and the width that its header states",
                )
            row = array("f", content[begin : begin + 4 * width])
            if sys.byteorder == "big":
                row.byteswap()
            self.take(number, word, row)
            if len(self.words) == self.most:
                return
            place = begin + 4 * width
        for rest in chain([content[place:]], pieces):
            if rest.strip():
                raise self.wrong(
                    f"something follows after the {count:,} words of the header",
                    got=repr(rest.strip()[:100]),
                    do="Correct the first line",
                )


def is_number(field: bytes) -> bool:
    """Whether a field can be read as a number."""
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field


AGAIN = "Give a file that `write_vectors` wrote"


def arrays_of(path: str) -> tuple[np.ndarray, bytes]:
    """The vectors, and the words as they lie in the file, checked."""
    try:
        arrays, _ = read_arrays(Path(path), mapped=True)
    except RunError as error:
        raise DataError(
            "the file cannot be read as safetensors",
            got=error.got,
            file=path,
            do="Fetch or write it again",
        ) from None
    kinds = {
        name: f"{name} {str(arrays[name].dtype).removeprefix('torch.')} {tuple(arrays[name].shape)}"
        for name in arrays
    }
    if not {"vectors", "words"} <= arrays.keys():
        raise DataError(
            "the arrays `vectors` and `words` are expected",
            got=", ".join(kinds.values()) or "none",
            file=path,
            do=AGAIN,
        )
    for name, kind, axes in (("vectors", "float32", 2), ("words", "uint8", 1)):
        if str(arrays[name].dtype) != f"torch.{kind}" or arrays[name].dim() != axes:
            raise DataError(
                f"the array `{name}` is not {kind} with {axes} axes",
                got=kinds[name],
                file=path,
                do=AGAIN,
            )
    if not arrays["vectors"].numel():
        raise DataError(
            "there is no word, or vectors have no numbers",
            got=kinds["vectors"],
            file=path,
            do=AGAIN,
        )
    return arrays["vectors"].numpy(), arrays["words"].numpy().tobytes()


def read_safetensors(path: str, most: int | None) -> tuple[list[str], np.ndarray]:
    """The vectors lie in the mapped file, unless a word comes twice."""
    vectors, content = arrays_of(path)
    try:
        words = content.decode().split("\n")
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"word {number:,}: this is not UTF-8",
            got=f"byte 0x{content[error.start]:02x}",
            file=path,
            do=AGAIN,
        ) from None
    if len(words) != len(vectors):
        raise DataError(
            "every word needs one vector",
            got=f"{len(words):,} words, {len(vectors):,} vectors",
            file=path,
            do=AGAIN,
        )
    # of a word that comes again, the first counts
    rows = sorted({word: row for row, word in reversed(list(enumerate(words)))}.values())[:most]
    vectors = vectors[:most] if len(set(words)) == len(words) else vectors[rows]
    bad = first_infinite(vectors)
    if bad is not None:
        raise DataError(
            f"word {rows[bad] + 1:,}: a value is not finite",
            got=words[rows[bad]],
            file=path,
            do="Leave this word out, or make its vector again",
        )
    return [words[row] for row in rows], vectors


# Writing


def text_blocks(words: list[str], vectors: np.ndarray) -> Iterator[bytes]:
    """The lines of N words and their (N, D) vectors, a block at a time."""
    rows = rows_of_a_block(vectors)
    pattern = "%s" + " %.*g" * vectors.shape[1] + "\n"
    for begin in range(0, len(words), rows):
        block = vectors[begin : begin + rows]  # (R, D)
        cells = np.empty(
            (len(block), 1 + 2 * block.shape[1]), object
        )  # (R, 1 + 2 D): the word, then digits and number in turn
        cells[:, 0] = words[begin : begin + rows]
        cells[:, 1::2], cells[:, 2::2] = digits(block), block
        yield (pattern * len(block) % tuple(cells.ravel())).encode()


def digits(block: np.ndarray) -> np.ndarray:
    """How many digits bring each float32 back: 6 or 9. Six must lead clear of the middle between
    two float32, for most readers go through float64: 7.038531e-26 is nearest to one float32, and
    becomes its neighbour on that way."""
    size = np.abs(block)  # (R, D)
    gap = size - np.nextafter(
        size, np.float32(0)
    )  # to the next below; above it is as wide or wider
    scale = 10.0 ** (5 - np.floor(np.log10(np.where(size > 0, size, 1), dtype=np.float64)))
    return np.where(np.abs(np.rint(size * scale) / scale - size) < 0.4999 * gap, 6, 9)


def plainly_a_word(block: bytes) -> bytes:
    """Lines whose first is not taken for a header: "5 3" becomes "5 3.0"."""
    first, newline, rest = block.partition(b"\n")
    return first + b".0" + newline + rest if HEADER.fullmatch(first) else block


def binary_blocks(words: list[bytes], vectors: np.ndarray) -> Iterator[bytes]:
    """The same as word2vec.c writes it: word, blank, numbers, newline."""
    rows = rows_of_a_block(vectors)
    for begin in range(0, len(words), rows):
        block = vectors[begin : begin + rows].astype("<f4", order="C", copy=False)
        yield b"".join(
            b"%b %b\n" % (word, row.tobytes())
            for word, row in zip(words[begin : begin + rows], block)
        )
