"""The native model of fastText, .bin: words, and the vectors that its own program gives them.

Unlike word2vec a word is the mean of itself and of its n-grams of letters, between < and >:

    v(w) = 1 / (1 + |G(w)|) * (A[w] + sum over g in G(w) of A[N + hash(g) mod B])

A is the input matrix, (N + B, D): N words, B buckets that n-grams share by the FNV-1a hash of their
UTF-8. The file is little-endian: two numbers that name format and version, 12 settings and a
threshold, the dictionary, whether the matrix is quantised, and the matrix. Every size is held
against the file before anything is allocated.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path
from typing import BinaryIO

import numpy as np

from seriatim.compiling import njit
from seriatim.data.files import OPENERS, STANDARD_INPUT, unpacked
from seriatim.errors import DataError

MAGIC = struct.pack("<i", 793712314)  # no header of word2vec begins so: that has digits
VERSIONS = (11, 12)
SETTINGS = struct.Struct("<12id")
COUNTS = struct.Struct("<iiiqq")
SUPERVISED = 3  # the model that learns labels
END = "</s>"  # has no n-grams
MOST_WIDTH = 1 << 17  # of a vector
AGAIN = "The file may have been cut short: fetch or write it again"


def read_fasttext(path: str, file: BinaryIO, most: int | None) -> tuple[list[str], np.ndarray]:
    """The words of a model and their (N, D) float32 vectors, or the first so many of them."""
    if Path(path).suffix.lower() in OPENERS or path == STANDARD_INPUT:
        return FastText(path, bytes(unpacked(path))).read(most)
    content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)  # closed with its last array
    return FastText(path, content).read(most)


class FastText:
    """A model on its way into words and vectors."""

    def __init__(self, path: str, content: bytes | mmap.mmap):
        self.path, self.content, self.place = path, content, len(MAGIC)

    def wrong(self, what: str, got: object = None, do: str = AGAIN) -> DataError:
        """What is wrong with the file."""
        return DataError(what, got=got, file=self.path, do=do)

    def take(self, layout: struct.Struct) -> tuple:
        """The next numbers."""
        begin, self.place = self.place, self.place + layout.size
        if self.place > len(self.content):
            raise self.wrong("this model of fastText ends too early")
        return layout.unpack_from(self.content, begin)

    def read(self, most: int | None) -> tuple[list[str], np.ndarray]:
        """The words and their vectors."""
        (version,) = self.take(struct.Struct("<i"))
        if version not in VERSIONS:
            raise self.wrong(
                "this version of fastText's models is not known",
                got=version,
                do="Write it with fastText 0.2 or later, or give its file .vec",
            )
        width, *_, model, buckets, least, longest, _, _ = self.take(SETTINGS)
        if version == VERSIONS[0] and model == SUPERVISED:
            longest = 0
        if not 1 <= width <= MOST_WIDTH or buckets < 0 or least < 0:
            raise self.wrong(
                "the settings of this model are not those of fastText",
                got=f"width {width}, {buckets} buckets, n-grams from {least} letters",
            )
        words, kept = self.dictionary()
        matrix = self.matrix(len(words), width, buckets)
        n_grams = longest > 0 and buckets > 0 and kept < 0
        vectors = vectors_of(
            words[:most], matrix, len(words), buckets, least, longest if n_grams else 0
        )
        self.finite(words, vectors)
        return self.once(words[:most], vectors)

    def dictionary(self) -> tuple[list[str], int]:
        """The words, without the labels behind them, and how many n-grams a pruned model keeps."""
        entries, count, labels, _, kept = self.take(COUNTS)
        room = len(self.content) - self.place
        if count < 1 or labels < 0 or count + labels != entries or entries * 10 > room:
            raise self.wrong(
                f"the dictionary promises what the {len(self.content):,} bytes of this file cannot "
                "hold",
                got=f"{entries:,} entries: {count:,} words, {labels:,} labels",
            )
        if kept > 0:
            raise self.wrong(*QUANTISED)
        words = []
        for number in range(entries):
            end = self.content.find(b"\0", self.place)
            if end < 0 or end + 10 > len(self.content):
                raise self.wrong(f"the dictionary ends within word {number + 1:,}")
            if number < count:
                words.append(self.word(number, self.content[self.place : end]))
            self.place = end + 10  # a count and a kind follow
        return words, kept

    def word(self, number: int, content: bytes) -> str:
        """A word, whose UTF-8 is checked."""
        try:
            return content.decode()
        except UnicodeDecodeError:
            raise self.wrong(
                f"word {number + 1:,}: this word is not UTF-8",
                got=repr(content[:100]),
                do="Make the model again from UTF-8",
            ) from None

    def matrix(self, count: int, width: int, buckets: int) -> np.ndarray:
        """The input matrix, (N + B, D), where it lies in the file."""
        (quantised,) = self.take(struct.Struct("<?"))
        if quantised:
            raise self.wrong(*QUANTISED)
        rows, columns = self.take(struct.Struct("<qq"))
        if columns != width or rows != count + buckets:
            raise self.wrong(
                "the matrix has not the size of dictionary, buckets and width",
                got=f"{rows:,} x {columns:,} for {count:,} + {buckets:,} rows of {width:,}",
            )
        if 4 * rows * columns > len(self.content) - self.place:
            raise self.wrong(
                f"the matrix is larger than what the {len(self.content):,} bytes of this file hold",
                got=f"{rows:,} x {columns:,}",
            )
        flat = np.frombuffer(self.content, "<f4", rows * columns, self.place)
        return flat.reshape(rows, columns)

    def finite(self, words: list[str], vectors: np.ndarray) -> None:
        """Refuse a vector with a value that is not finite."""
        sound = np.isfinite(vectors).all(1)  # (N,)
        if not sound.all():
            number = int(np.argmin(sound))
            raise self.wrong(
                f"word {number + 1:,}: a value is not finite",
                got=words[number],
                do="Make the model again, with a lower rate",
            )

    def once(self, words: list[str], vectors: np.ndarray) -> tuple[list[str], np.ndarray]:
        """The same without words that come again."""
        if len(set(words)) == len(words):
            return words, vectors
        rows = sorted({word: row for row, word in reversed(list(enumerate(words)))}.values())
        return [words[row] for row in rows], vectors[rows]


QUANTISED = (
    "this model of fastText is quantised, and its vectors are not kept as numbers",
    None,
    "Give the model before it was quantised (.bin), or write its vectors with "
    "`fasttext print-word-vectors`",
)


def vectors_of(
    words: list[str], matrix: np.ndarray, count: int, buckets: int, least: int, longest: int
) -> np.ndarray:
    """(N, D): the mean of a word's own row and those of its n-grams."""
    if not longest:
        return np.array(matrix[: len(words)], np.float32)
    spelled = [b"" if word == END else b"<" + word.encode() + b">" for word in words]
    ends = np.cumsum([0, *map(len, spelled)])
    letters = np.frombuffer(b"".join(spelled) or b"\0", np.uint8)
    out = np.empty((len(words), matrix.shape[1]), np.float32)
    means(letters, ends, matrix, count, buckets, least, longest, out)
    return out


@njit(cache=True, nogil=True)
def means(
    letters: np.ndarray,
    ends: np.ndarray,
    matrix: np.ndarray,
    count: int,
    buckets: int,
    least: int,
    longest: int,
    out: np.ndarray,
) -> None:
    """Fill (N, D) with the means of rows. Letters are UTF-8: a byte 10xxxxxx goes on with one."""
    width = matrix.shape[1]
    for w in range(len(out)):
        begin, end, many = ends[w], ends[w + 1], 1
        out[w] = matrix[w]
        for i in range(begin, end):
            if letters[i] & 0xC0 == 0x80:
                continue
            hashed, j, n = np.uint32(2166136261), i, 1
            while j < end and n <= longest:
                while True:
                    signed = np.uint32(np.int32(np.int8(letters[j])))  # as C's char: with a sign
                    hashed = np.uint32((hashed ^ signed) * np.uint32(16777619))
                    j += 1
                    if j >= end or letters[j] & 0xC0 != 0x80:
                        break
                if n >= least and not (n == 1 and (i == begin or j == end)):
                    row = count + np.int64(hashed) % buckets
                    for d in range(width):
                        out[w, d] += matrix[row, d]
                    many += 1
                n += 1
        if many > 1:
            for d in range(width):
                out[w, d] *= np.float32(1.0 / many)
