"""Files of word vectors: what is written comes back to the bit, what others write is read, and whatever is wrong is named with its line."""

from __future__ import annotations

import errno
import gzip
import lzma
import os
import random
import struct
import subprocess
import sys
import tempfile
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from safetensors.numpy import save_file

from seriatim import storage
from seriatim.data.files import unpacked
from seriatim.errors import ConfigError, DataError, RunError, SeriatimError
from seriatim.tasks.words import files as module
from seriatim.tasks.words.files import FORMATS, digits, read_vectors, write_vectors

patient = settings(
    deadline=None, max_examples=15, suppress_health_check=list(HealthCheck)
)  # machines are busy
ENDING = {
    "word2vec": ".txt",
    "word2vec-binary": ".bin",
    "glove": ".glove",
    "fasttext": ".vec",
    "safetensors": ".safetensors",
}
FILES = [
    (format, packing)
    for format in FORMATS
    for packing in ("", ".gz", ".xz")
    if format != "safetensors" or not packing
]
WORDS = ["the", "naïve", "日本", "x\u00a0y", "1_0", "5"]
VECTORS = np.array(
    [
        [0.5, -1.25, 3],
        [1e-45, 3.4028235e38, -0.0],
        [0.1, 0.2, 0.3],
        [7.038531e-26, 1, 2],
        [1e10, -7, 0],
        [4, 5, 6],
    ],
    np.float32,
)
TEXT = b"3 2\nthe 0.5 -1.25\ncat 3 1e-3\ndog -4 5\n"
BINARY = b"3 2\nthe \x00\x00\x00\x3f\x00\x00\xa0\xbf\ncat \x00\x00\x40\x40\x0a\x20\x00\x3f\ndog \x00\x00\x80\xc0\x00\x00\xa0\x40\n"


def stored(folder: Path, content: bytes, name: str) -> Path:
    path = folder / name
    path.write_bytes({".gz": gzip.compress, ".xz": lzma.compress}.get(path.suffix, bytes)(content))
    return path


def complaint(path: Path, **options) -> DataError:
    with pytest.raises(DataError) as caught:
        read_vectors(path, **options)
    assert (
        caught.value.file == str(path)
        and caught.value.what
        and caught.value.do
        and len(str(caught.value)) < 1000 + len(str(path))
    )
    return caught.value


def same(found: tuple[list[str], np.ndarray], words: list[str], vectors: np.ndarray) -> bool:
    return (found[0], found[1].dtype, found[1].shape, found[1].tobytes()) == (
        words,
        np.float32,
        vectors.shape,
        vectors.astype(np.float32).tobytes(),
    )


# What is written comes back


@some.composite
def tables(draw, format: str) -> tuple[list[str], np.ndarray]:
    """Any words that the format holds, and any finite float32."""
    excluded = "\n" if format == "safetensors" else " \t\n\v\f\r"
    word = some.text(
        some.characters(exclude_categories=["Cs"], exclude_characters=excluded),
        min_size=format != "safetensors",
        max_size=6,
    )
    word |= some.sampled_from(
        ["5", "-3", "nan", "1e5", "\ufeff", "\ufeff7", "_", "\u00a0", "\x85", "\0"]
    )
    words = draw(some.lists(word, min_size=1, max_size=6, unique=True))
    width = draw(some.integers(1, 3))
    number = some.floats(width=32, allow_nan=False, allow_infinity=False) | some.integers(
        -9, 9
    ).map(float)
    return words, np.array(
        draw(
            some.lists(
                some.lists(number, min_size=width, max_size=width),
                min_size=len(words),
                max_size=len(words),
            )
        ),
        np.float32,
    )


@pytest.mark.parametrize(("format", "packing"), FILES)
@given(data=some.data())
@patient
def test_any_words_and_vectors_come_back_to_the_bit(format, packing, data):
    words, vectors = data.draw(tables(format))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file{ENDING[format]}{packing}"
        write_vectors(path, words, vectors, format)
        assert same(read_vectors(path, format), words, vectors)
        assert same(
            read_vectors(str(path)), words, vectors
        )  # the ending or the first lines tell the format
        most = data.draw(some.integers(1, len(words) + 1))
        assert same(read_vectors(path, most=most), words[:most], vectors[:most])
        assert os.listdir(folder) == [path.name]


@pytest.mark.parametrize(("format", "packing"), FILES)
def test_blocks_make_no_difference(tmp_path, monkeypatch, format, packing):
    words, vectors = (
        [f"w{i}é" for i in range(300)],
        np.random.default_rng(1).normal(size=(300, 7)).astype(np.float32),
    )
    path = tmp_path / f"file{ENDING[format]}{packing}"
    write_vectors(path, words, vectors)
    content = path.read_bytes()
    monkeypatch.setattr(module, "NUMBERS", 10)
    write_vectors(path, words, vectors)
    assert packing or path.read_bytes() == content
    for block in (100, 173) if format != "safetensors" else ():
        monkeypatch.setattr(module, "BLOCK", block)
        assert same(read_vectors(path, format), words, vectors)


def test_digits_are_few_and_bring_back_every_float32_also_through_float64(tmp_path):
    write_vectors(tmp_path / "file.txt", ["the"], np.array([[0.418, 0.24968, -0.41242, 1e-7]]))
    assert (tmp_path / "file.txt").read_bytes() == b"1 4\nthe 0.418 0.24968 -0.41242 1e-07\n"
    powers = (np.arange(256)[:, None] << 23) + np.arange(-2, 3)  # where the gap changes
    bits = np.concatenate(
        [
            powers[1:].ravel(),
            np.random.default_rng(2).integers(0, 1 << 32, 30_000),
            [0, 1 << 31, 0x15AE43FD],
        ]
    ).astype(np.uint32)
    numbers = bits.view(np.float32)[np.isfinite(bits.view(np.float32))][None]  # (1, M)
    written = [
        f"{number:.{few}g}" for few, number in zip(digits(numbers)[0].tolist(), numbers[0].tolist())
    ]
    assert np.array(list(map(float, written))).astype(np.float32).tobytes() == numbers.tobytes()
    assert float(np.float32(float("7.038531e-26"))) != float(
        np.uint32(0x15AE43FD).view(np.float32)
    )  # why the shortest would not do


@pytest.mark.parametrize(
    "vectors",
    [
        VECTORS.astype(np.float64),
        np.asfortranarray(VECTORS),
        VECTORS[::-1][::-1],
        VECTORS.tolist(),
        np.frombuffer(VECTORS.tobytes(), np.float32).reshape(VECTORS.shape),
    ],
)  # the last is read-only
@pytest.mark.parametrize("format", FORMATS)
def test_arrays_of_any_layout_are_written(tmp_path, format, vectors):
    write_vectors(tmp_path / "file", tuple(WORDS), vectors, format)
    assert same(read_vectors(tmp_path / "file", format), WORDS, VECTORS)


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_read_does_not_hang_on_the_file(tmp_path, format):
    path = tmp_path / f"file{ENDING[format]}"
    write_vectors(path, WORDS, VECTORS)
    words, vectors = read_vectors(path)
    vectors[0] = 1
    assert same(read_vectors(path), WORDS, VECTORS)
    write_vectors(path, words[:3], vectors[:3])
    assert same(read_vectors(path), WORDS[:3], vectors[:3]) and same(
        (words[1:], vectors[1:]), WORDS[1:], VECTORS[1:]
    )


@pytest.mark.skipif(
    not Path("/proc/self/maps").exists(), reason="this system does not tell what is mapped"
)
@pytest.mark.parametrize("most", [None, 3])
def test_safetensors_are_mapped_not_copied(tmp_path, most):
    path = tmp_path / "file.safetensors"
    write_vectors(path, WORDS, VECTORS)
    _, vectors = read_vectors(path, most=most)
    ranges = [
        line.split()[0].split("-")
        for line in Path("/proc/self/maps").read_text().splitlines()
        if line.endswith(str(path))
    ]
    assert any(int(begin, 16) <= vectors.ctypes.data < int(end, 16) for begin, end in ranges)


# What others write


def decoded(content: bytes) -> tuple[list[str], np.ndarray]:
    """word2vec-binary by another hand: as gensim and distance.c do it, byte by byte."""
    first, place = content.split(b"\n")[0], content.index(b"\n") + 1
    count, width = map(int, first.split())
    words, rows = [], []
    for _ in range(count):
        word = b""
        while content[place : place + 1] != b" ":
            word, place = word + content[place : place + 1].replace(b"\n", b""), place + 1
        rows.append(struct.unpack_from(f"<{width}f", content, place + 1))
        words, place = [*words, word.decode()], place + 1 + 4 * width
    return words, np.array(rows, np.float32)


def slow(content: bytes) -> tuple[list[str], np.ndarray]:
    """Text by another hand."""
    lines = [line.split(" ") for line in content.decode().split("\n")[1:-1]]
    return [line[0] for line in lines], np.array(
        [[np.float32(number) for number in line[1:]] for line in lines]
    )


def test_a_binary_file_made_by_hand(tmp_path):
    words, vectors = (
        ["the", "cat", "dog"],
        np.array([[0.5, -1.25], [3, struct.unpack("<f", b"\n \0?")[0]], [-4, 5]]),
    )  # a newline and a blank inside
    assert same(read_vectors(stored(tmp_path, BINARY, "file.bin")), words, vectors)
    bare = BINARY.replace(b"\xbf\n", b"\xbf").replace(b"?\ndog", b"?dog")[
        :-1
    ]  # as gensim writes it
    assert len(bare) == len(BINARY) - 3
    assert same(read_vectors(stored(tmp_path, bare, "file.bin.gz")), words, vectors)
    assert same(decoded(bare), words, vectors) and same(decoded(BINARY), words, vectors)
    write_vectors(tmp_path / "again.bin", words, vectors)
    assert (tmp_path / "again.bin").read_bytes() == BINARY


def test_other_readers_read_what_is_written(tmp_path):
    write_vectors(tmp_path / "file.bin", WORDS, VECTORS)
    assert same(decoded((tmp_path / "file.bin").read_bytes()), WORDS, VECTORS)
    for name, header in {"file.txt": b"", "file.vec": b"", "file.glove": b"\n"}.items():
        write_vectors(tmp_path / name, WORDS, VECTORS)
        assert same(slow(header + (tmp_path / name).read_bytes()), WORDS, VECTORS)
    write_vectors(tmp_path / "file.safetensors", WORDS, VECTORS)
    arrays, _ = storage.read_arrays(tmp_path / "file.safetensors")
    assert same(
        (arrays["words"].numpy().tobytes().decode().split("\n"), arrays["vectors"].numpy()),
        WORDS,
        VECTORS,
    )


@pytest.mark.parametrize(
    "content",
    [
        TEXT,
        TEXT.replace(b"\n", b" \n"),
        TEXT.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + TEXT,
        TEXT.replace(b" ", b"\t"),
    ],
)
@pytest.mark.parametrize(
    "name", ["file.txt", "file.vec", "file", "file.txt.gz", "file.vec.xz", "file.glove"]
)
def test_text_as_published(tmp_path, content, name):
    assert same(
        read_vectors(stored(tmp_path, content, name)),
        ["the", "cat", "dog"],
        np.array([[0.5, -1.25], [3, 1e-3], [-4, 5]]),
    )


@pytest.mark.parametrize("first", [0, 1, 2])
def test_glove_has_words_with_blanks(tmp_path, first):
    lines = [b". . . 0.1 0.2 0.3", b"the 1 2 3", b"at name@domain.com 4 5 6"]
    found = dict(
        zip(
            *read_vectors(
                stored(tmp_path, b"\n".join(lines[first:] + lines[:first]) + b"\n", "glove.txt")
            )
        )
    )
    assert {word: vector.tolist() for word, vector in found.items()} == {
        ". . .": np.array([0.1, 0.2, 0.3], np.float32).tolist(),
        "the": [1, 2, 3],
        "at name@domain.com": [4, 5, 6],
    }
    assert (
        complaint(stored(tmp_path, b"2 1\na b 3\nthe 1\n", "file.vec")).line == 2
    )  # with a header they have none


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        (b"5 3\nthe 1\ncat 2\n", "file.txt", ["5", "the", "cat"]),  # too short for a header
        (b"2 1\nthe 1\ncat 2\n", "file.txt", ["the", "cat"]),  # both fit
        (b"2 1\nthe 1\ncat 2\n", "file.glove", ["2", "the", "cat"]),
        (b"2 1.0\nthe 1\ncat 2\n", "file.txt", ["2", "the", "cat"]),
        (b"-2 1\nthe 1\ncat 2\n", "file.glove.gz", ["-2", "the", "cat"]),
        (b"1 2\nthe 1 2\n", "file.glove", ["the"]),
    ],
)
def test_whether_there_is_a_header(tmp_path, content, name, words):
    assert read_vectors(stored(tmp_path, content, name))[0] == words


def test_a_doubtful_header_is_named(tmp_path):
    for content in (b"5 1\nthe 1\ncat 2\n", b"1 1\nthe 1\ncat 2\n"):
        assert (
            "glove" in complaint(stored(tmp_path, content, "file.txt")).do
            and len(read_vectors(tmp_path / "file.txt", "glove")[0]) == 3
        )


@pytest.mark.parametrize("format", FORMATS)
def test_of_a_word_that_comes_again_the_first_is_kept(tmp_path, monkeypatch, format):
    words, vectors = ["a", "b", "a", "c", "b"], np.arange(10, dtype=np.float32).reshape(5, 2)
    monkeypatch.setattr(
        module, "checked_words", lambda words, format: [word.encode() for word in words]
    )
    write_vectors(tmp_path / "file", words, vectors, format)
    for most in (None, 3, 2, 1):
        assert same(
            read_vectors(tmp_path / "file", format, most),
            ["a", "b", "c"][:most],
            vectors[[0, 1, 3]][:most],
        )


def test_most_looks_no_further(tmp_path):
    for name, content in {
        "a.txt": TEXT[:-3],
        "a.glove": b"a 1\nb 2\nc nan\n",
        "a.bin": BINARY[:-8],
        "a.vec": TEXT.replace(b"dog", b"\xff"),
    }.items():
        path = stored(tmp_path, content, name)
        assert complaint(path) and len(read_vectors(path, most=2)[0]) == 2
    for most in (0, -1, 1.5, "2"):
        with pytest.raises(ConfigError):
            read_vectors(path, most=most)
    assert len(read_vectors(stored(tmp_path, TEXT, "file.txt"), most=np.int64(1))[0]) == 1


def test_a_pipe_is_read(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with ThreadPoolExecutor(1) as beside:
        beside.submit(path.write_bytes, TEXT)
        assert read_vectors(path)[0] == ["the", "cat", "dog"]


@pytest.mark.parametrize(
    "ending, binary",
    [(".txt", False), (".vec", False), (".txt.gz", False), (".bin", True), (".bin.gz", True)],
)
def test_gensim_reads_what_we_write_and_we_read_what_it_writes(tmp_path, ending, binary):
    gensim = pytest.importorskip("gensim.models")
    path, theirs = str(tmp_path / f"ours{ending}"), str(tmp_path / f"theirs{ending}")
    write_vectors(path, WORDS, VECTORS)
    peer = gensim.KeyedVectors.load_word2vec_format(path, binary=binary)
    assert peer.index_to_key == WORDS and peer.vectors.tobytes() == VECTORS.tobytes()
    peer.save_word2vec_format(theirs, binary=binary)
    assert same(read_vectors(theirs), WORDS, VECTORS)


@pytest.mark.parametrize("name", ["file.vec", "file.txt", "file.vec.gz"])
def test_the_last_line_need_not_end_if_it_is_the_last_that_the_header_promises(tmp_path, name):
    expected = read_vectors(stored(tmp_path, TEXT, name))
    assert same(read_vectors(stored(tmp_path, TEXT[:-1], name)), *expected)
    assert same(read_vectors(stored(tmp_path, b"1 1\na 1", name)), ["a"], np.ones((1, 1)))
    twice = b"3 2\nthe 0.5 -1.25\nthe 3 1e-3\ndog -4 5"  # a word that comes again counts, too
    assert read_vectors(stored(tmp_path, twice, name))[0] == ["the", "dog"]
    assert complaint(stored(tmp_path, TEXT.replace(b"3 2\n", b"4 2\n")[:-1], name)).line in (1, 4)
    assert (
        "does not end with a newline" in complaint(stored(tmp_path, TEXT[4:-1], "file.glove")).what
    )


# Whatever is wrong is named


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (TEXT, b"", None),
        (TEXT, b"\n", 1),
        (TEXT, b"\xef\xbb\xbf", 1),
        (TEXT, b"3 2\n", 1),
        (TEXT, b"the\n", 1),
        (TEXT, b"3\n", 1),
        (TEXT, b"3 2 1\n", 1),
        (TEXT, TEXT[:-2], 4),
        (TEXT, TEXT[:-3], 4),
        (TEXT, TEXT[:20], 1),
        (TEXT, TEXT[:21], 3),
        (TEXT, TEXT[:25], 3),
        (TEXT, TEXT + b"\n", 5),
        (TEXT, TEXT.decode().encode("utf-16"), 1),
        (b"3 2", b"3 0", 1),
        (b"3 2", b"0 2", 1),
        (b"3 2", b"-3 2", 1),
        (b"3 2", b"3 -2", 1),
        (b"3 2", b"999999999999999999 2", 1),
        (b"3 2", b"3 999999999999", 1),
        (b"3 2", b"9999999999999999999 2", 1),
        (b"3 2", b"2 2", 4),
        (b"3 2", b"4 2", 4),
        (b"3 2", b"3 3", 2),
        (b"3 2", b"3 1", 2),
        (b"3 2", b"3 2.0", 1),
        (b"3 2\n", b"", 1),
        (b"t 3", b"t", 3),
        (b"t 3", b"t 3 3", 3),
        (b"t 3", b"t x", 3),
        (b"t 3", b"t 1_0", 3),
        (b"t 3", b"t \xd9\xa3", 3),
        (b"t 3", b"t 0x1", 3),
        (b"t 3", b"t nan", 3),
        (b"t 3", b"t -inf", 3),
        (b"t 3", b"t 1e39", 3),
        (b"t 3", b"t 1e999", 3),
        (b"cat", b"", 3),
        (b"cat", b" cat", 3),
        (b"cat", b"c\xe9t", 3),
        (b"cat", b"\xed\xa0\x80", 3),
        (b"cat", b"\n", 3),
    ],
)
def test_damaged_text(tmp_path, old, new, line):
    content = TEXT.replace(old, new)
    error = complaint(stored(tmp_path, content, "file.vec"))
    assert error.line == line
    packed = complaint(stored(tmp_path, content, "file.vec.gz"))
    assert "promises more than" in error.what or (packed.what, packed.line, packed.got) == (
        error.what,
        error.line,
        error.got,
    )
    if content.startswith(b"3 2\n") and line and line > 2 and b"header" not in str(error).encode():
        bare = complaint(
            stored(tmp_path, content[4:], "file.glove")
        )  # the same one line earlier, without a header
        assert (bare.what, bare.line) == (error.what, line - 1)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"the\n", 1),
        (b"the x\n", 1),
        (b"\n", 1),
        (b"1\n", 1),
        (b"the 1 2\ncat 1\n", 2),
        (b"the 1 2\ncat 1 2 3\n", 2),
        (b"the 1 2\ncat x 1 2 3\n", 2),
        (b"the 1 2\n1 2\n", 2),
        (b"the 1 2\n 1 2\n", 2),
        (b"the 1 2\n\ncat 1 2\n", 2),
        (b"the 1 2\n. . 2\n", 2),
        (b"the nan 2\n", 1),
        (b"the 1 2\ncat 1 2", 2),
    ],
)
def test_damaged_glove(tmp_path, content, line):
    assert complaint(stored(tmp_path, content, "file.txt")).line == line
    assert complaint(stored(tmp_path, content, "file.xz"), format="glove").line == line


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (BINARY, b"", "empty"),
        (BINARY, b"\n", "no header"),
        (BINARY, BINARY[4:], "no header"),
        (BINARY, b"\xba\x16\x4f\x2f\x0c\0\0\0", "fastText ends too early"),
        (b"3 2\n", b"3 2\r", "no header"),
        (BINARY, b"3 2", "promises more"),
        (BINARY, b"3 2\n", "promises more"),
        (b"3 2", b"99999999999 2", "promises more"),
        (b"3 2", b"3 9000", "promises more"),
        (b"3 2", b"4 2", "promises more"),
        (BINARY, BINARY[:-14], "promises more"),
        (b"3 2", b"3 0", "1 word or more"),
        (b"3 2", b"-3 2", "1 word or more"),
        (b"3 2", b"3 -2", "1 word or more"),
        (b"3 2", b"3 999999999", "1 word or more"),
        (b"3 2", b"2 2", "something follows"),
        (BINARY, BINARY + b"x", "something follows"),
        (BINARY, BINARY[:-3], "word 3: the file ends"),
        (b"cat", b"c\xe9t", "word 2: this word is not UTF-8"),
        (b"cat", b"", "word 2: a word is not empty"),
        (b"cat", b"c\nt", "word 2: a word is not empty"),
        (b"\x40\x40", b"\x80\x7f", "word 2: a value is not finite"),
        (b"\x40\x40", b"\xc0\x7f", "word 2: a value is not finite"),
        (b"cat ", b"c" * (5 << 20), "word 2: no blank ends"),
        (BINARY, b"1 2\n" + b"c" * (1 << 20), "word 1: the file ends"),
    ],
)
def test_damaged_binary(tmp_path, old, new, what):
    content = BINARY.replace(old, new)
    assert what in complaint(stored(tmp_path, content, "file.bin")).what
    packed = complaint(stored(tmp_path, content, "file.bin.xz"))
    assert what in packed.what or what == "promises more"


@pytest.mark.parametrize(
    "name",
    [
        "file.vec",
        "file.txt",
        "file.bin",
        "file.glove",
        "file.vec.gz",
        "file.bin.xz",
        "file.safetensors",
    ],
)
def test_no_part_of_a_file_that_was_cut_is_returned(tmp_path, name):
    write_vectors(tmp_path / name, WORDS[:3], VECTORS[:3])
    content = (tmp_path / name).read_bytes()
    ends = (
        {content.find(b"\n") + 1, content.rfind(b"\n", 0, -1) + 1}
        if name == "file.glove"
        else set()
    )  # whole lines without a header tell nothing
    whole = (
        content.rfind(b" ") + 1
        if name in ("file.vec", "file.txt")
        else len(content) - name.endswith(".bin")
    )  # the last newline may be missing
    for cut in set(range(whole)) - ends:
        (tmp_path / name).write_bytes(content[:cut])
        complaint(tmp_path / name)


@pytest.mark.parametrize(
    "content",
    [
        b"x" * 10**7,
        b"x" * 10**7 + b"\n",
        b"1 2\n" + b"x" * 10**7 + b" 1 2\n",
        b"the" + b" 1" * (5 * 10**6) + b"\n",
        b"a 1\nb" + b" 1" * (5 * 10**6),
        b"1 " * (5 * 10**6) + b"\n",
        b"1" * 10**7 + b" 2\nthe 1 2\n",
    ],
)
def test_lines_of_ten_megabytes(tmp_path, content):
    for format in (None, "word2vec", "glove", "word2vec-binary"):
        assert complaint(stored(tmp_path, content, "file.txt"), format=format).line in (
            (1, None) if format == "word2vec-binary" else (1, 2)
        )


def test_the_widest_vectors(tmp_path):
    assert (
        complaint(
            stored(tmp_path, b"the" + b" 1" * (module.MOST_WIDTH + 1) + b"\n", "file.txt")
        ).line
        == 1
    )
    assert read_vectors(stored(tmp_path, b"the" + b" 1" * module.MOST_WIDTH + b"\n", "file.txt"))[
        1
    ].shape == (1, module.MOST_WIDTH)


@pytest.mark.parametrize("header", [b"99999999 100000", b"999999999999999999 131072", b"1 131072"])
@pytest.mark.parametrize("name", ["file.vec.gz", "file.bin.gz", "file.vec", "file.bin"])
def test_a_header_takes_no_memory(tmp_path, name, header):
    path = stored(tmp_path, header + b"\nthe 1 2\n", name)
    tracemalloc.start()
    try:
        complaint(path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 24
    finally:
        tracemalloc.stop()


def test_a_packed_file_may_not_be_endless(tmp_path, monkeypatch):
    path = stored(
        tmp_path,
        b"the" + b" 1" * 1000 + b"\n" + (b"cat" + b" 1" * 1000 + b"\n") * 1000,
        "file.txt.gz",
    )
    assert len(read_vectors(path)[0]) == 2
    monkeypatch.setenv("SERIATIM_MOST_BYTES", "1MB")
    assert "more than" in complaint(path).what


@pytest.mark.parametrize(
    "ending", [".txt", ".txt.gz", ".txt.xz", ".vec", ".bin", ".glove", ".safetensors"]
)
def test_paths_that_lead_nowhere(tmp_path, ending):
    assert "no such file" in complaint(tmp_path / f"file{ending}").what
    assert "no such file" in complaint(tmp_path / "nowhere" / f"file{ending}").what
    (tmp_path / f"folder{ending}").mkdir()
    assert "folder" in complaint(tmp_path / f"folder{ending}").what
    complaint(Path(f"a\0b{ending}"))
    complaint(stored(tmp_path, b"", f"empty{ending}"))
    if ending.endswith(("z", "s")):
        (tmp_path / f"file{ending}").write_bytes(b"this is not packed")
        complaint(tmp_path / f"file{ending}")


@pytest.mark.parametrize(
    ("arrays", "what"),
    [
        ({}, "are expected"),
        ({"vectors": VECTORS}, "are expected"),
        ({"words": np.zeros(3, np.uint8)}, "are expected"),
        (
            {"vectors": VECTORS.astype(np.float64), "words": np.zeros(3, np.uint8)},
            "`vectors` is not float32",
        ),
        ({"vectors": VECTORS[0], "words": np.zeros(3, np.uint8)}, "`vectors` is not float32"),
        ({"vectors": VECTORS, "words": np.zeros(3, np.float32)}, "`words` is not uint8"),
        ({"vectors": VECTORS, "words": np.zeros((3, 1), np.uint8)}, "`words` is not uint8"),
        ({"vectors": VECTORS[:, :0], "words": np.zeros(3, np.uint8)}, "no word"),
        ({"vectors": VECTORS[:0], "words": np.zeros(0, np.uint8)}, "no word"),
        ({"vectors": VECTORS, "words": np.frombuffer(b"a\nb", np.uint8)}, "one vector"),
        (
            {"vectors": VECTORS[:2], "words": np.frombuffer(b"a\nb\xff", np.uint8)},
            "word 2: this is not UTF-8",
        ),
        (
            {
                "vectors": np.array([[1], [np.nan]], np.float32),
                "words": np.frombuffer(b"a\nb", np.uint8),
            },
            "word 2: a value is not finite",
        ),
    ],
)
def test_damaged_safetensors(tmp_path, arrays, what):
    save_file(arrays, tmp_path / "file.safetensors")
    assert what in complaint(tmp_path / "file.safetensors").what


# What cannot be written


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "word", ["two words", "", "a\tb", "a\rb", "new\nline", "\ud800", 5, b"the", "the"]
)
def test_words_that_cannot_be_written_are_named(tmp_path, format, word):
    if format == "safetensors" and word in ("two words", "", "a\tb", "a\rb"):
        write_vectors(tmp_path / "file", ["the", word], VECTORS[:2], format)
        assert same(read_vectors(tmp_path / "file", format), ["the", word], VECTORS[:2])
    else:
        with pytest.raises(ConfigError) as caught:
            write_vectors(tmp_path / "file", ["the", word, "another\nline"], VECTORS[:3], format)
        assert caught.value.got == ascii(word) and not os.listdir(tmp_path)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    ("count", "vectors"),
    [
        (2, VECTORS),
        (0, VECTORS[:0]),
        (0, np.zeros((0, 0))),
        (2, np.zeros((2, 0))),
        (3, VECTORS[0]),
        (2, VECTORS[:2, :, None]),
        (2, [[1], [1, 2]]),
        (2, [["1"], ["2"]]),
        (2, VECTORS[:2].astype(complex)),
        (2, VECTORS[:2].astype(object)),
        (2, [[True], [False]]),
        (2, None),
        (2, np.array([[1], [np.nan]])),
        (2, np.array([[1], [-np.inf]], np.float32)),
        (2, np.array([[1], [1e39]])),
        (1, np.zeros((1, module.MOST_WIDTH + 1))),
    ],
)
def test_vectors_that_cannot_be_written(tmp_path, format, count, vectors):
    with pytest.raises(ConfigError) as caught:
        write_vectors(tmp_path / "file", WORDS[:count], vectors, format)
    assert caught.value.got and not os.listdir(tmp_path)


def test_formats_and_names_that_cannot_be(tmp_path):
    for path, format in (
        (tmp_path / "file.txt", "word2vek"),
        (tmp_path / "file.txt", 3),
        (tmp_path / "file.safetensors.gz", None),
        ("file.xz", "safetensors"),
    ):
        with pytest.raises(ConfigError):
            read_vectors(path, format)
        with pytest.raises(ConfigError):
            write_vectors(path, WORDS, VECTORS, format)
    for path, words in (
        ("", ["a"]),
        ("/", ["a"]),
        ("a\0b", ["a"]),
        ("\ud800", ["a"]),
        (tmp_path / "file", ["x" * (module.MOST_WORD + 1)]),
    ):
        with pytest.raises(ConfigError):
            write_vectors(path, words, VECTORS[:1])
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(("format", "packing"), FILES)
@pytest.mark.parametrize(
    ("stopped", "error"),
    [(OSError(errno.ENOSPC, "No space left"), RunError), (KeyboardInterrupt(), KeyboardInterrupt)],
)
def test_whatever_stops_it_the_earlier_file_stays(
    tmp_path, monkeypatch, format, packing, stopped, error
):
    path, folder = (
        tmp_path / f"file{ENDING[format]}{packing}",
        tmp_path / f"folder{ENDING[format]}{packing}",
    )
    write_vectors(path, WORDS[:2], VECTORS[:2])
    with monkeypatch.context() as patch, pytest.raises(error):
        patch.setattr(os, "fsync", Mock(side_effect=stopped))
        write_vectors(path, WORDS, VECTORS)
    assert same(read_vectors(path), WORDS[:2], VECTORS[:2]) and os.listdir(tmp_path) == [path.name]
    folder.mkdir()
    for place in (tmp_path / "nowhere" / path.name, folder):
        with pytest.raises(RunError):
            write_vectors(place, WORDS, VECTORS)


def test_torch_is_loaded_for_safetensors_only(tmp_path):
    program = (
        "import sys; from seriatim.tasks.words.files import *\nfor name in ('a.txt', 'a.bin', 'a.vec.gz', 'a.glove'):\n"
        "    write_vectors(name, ['the'], [[1.5]]); assert read_vectors(name)[0] == ['the']\nassert 'torch' not in sys.modules"
    )
    assert (
        subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=False).returncode == 0
    )


# Random damage


def mutated(content: bytes, chance: random.Random) -> bytes:
    content = bytearray(content)
    for _ in range(chance.choice([1, 1, 1, 2, 5])):
        place = chance.randrange(len(content) + 1)
        if chance.random() < 0.5:
            place = min(place, chance.randrange(12))  # headers above all
        new = [
            b"",
            bytes([chance.randrange(256)]),
            b" ",
            b"\n",
            b"9",
            b"-",
            b"\xff",
            b"nan",
            b"99999999",
            bytes(content[:9]),
        ]
        content[place : place + chance.choice([0, 1, 1, 1, 4, 20])] = chance.choice(new)
    return bytes(content)


@pytest.mark.parametrize("times", [120, pytest.param(5000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("format", "packing"), FILES)
def test_random_damage_is_refused_or_harmless(tmp_path, format, packing, times):
    chance = random.Random(f"{format}{packing}{times}")
    sound, path = (
        tmp_path / f"sound{ENDING[format]}{packing}",
        tmp_path / f"file{ENDING[format]}{packing}",
    )
    write_vectors(sound, WORDS, VECTORS)
    content, inside, refused = sound.read_bytes(), bytes(unpacked(str(sound))), 0
    for _ in range(times):
        if packing and chance.random() < 0.5:
            stored(tmp_path, mutated(inside, chance), path.name)  # packed well, damaged before
        else:
            path.write_bytes(mutated(content, chance))
        try:
            words, vectors = read_vectors(
                path, chance.choice([None, format]), chance.choice([None, None, 2])
            )
        except SeriatimError as error:
            refused += 1
            assert isinstance(error, DataError) and error.file == str(path)
            continue
        assert (
            len(words) == len(set(words)) == len(vectors) > 0
            and vectors.shape[1] > 0
            and vectors.dtype == np.float32
            and np.isfinite(vectors).all()
        )
    assert refused > times / 10
