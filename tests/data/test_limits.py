"""Bombs: small files that unpack to huge ones, and parsers that must be linear in what they read."""

from __future__ import annotations

import gzip
import io
import lzma
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars
import pytest

from seriatim.data import limits
from seriatim.data.formats import parquet as module
from seriatim.data.formats import read_files
from seriatim.data.formats.delimited import MOST_COLUMNS
from seriatim.data.formats.svg import transform
from seriatim.errors import ConfigError, DataError, SeriatimError

LONG = 10**6


@pytest.fixture(autouse=True)
def small(monkeypatch) -> None:
    """What may be unpacked freely is little here."""
    monkeypatch.setattr(limits, "FREE", 10**5)


def npz(points: np.ndarray) -> bytes:
    """Drawings, packed."""
    np.savez_compressed(file := io.BytesIO(), points=points, offsets=np.array([0, len(points)]))
    return file.getvalue()


BOMBS = {
    "a.txt.gz": lambda: gzip.compress(b"a b\n" * LONG),
    "a.txt.xz": lambda: lzma.compress(b"a b\n" * LONG),
    "a.csv.gz": lambda: gzip.compress(b"a,b\n" * LONG),
    "a.vec.gz": lambda: gzip.compress(b"a 1 2\n" * LONG),
    "a.npz": lambda: npz(np.zeros((LONG, 3))),
    "a.mid.xz": lambda: lzma.compress(b"MThd" + bytes(LONG)),
    "a.parquet": lambda: parquet({"text": ["a" * 1000] * 3000}),
    "b.parquet": lambda: parquet({"numbers": [[1] * LONG]}),
}


def parquet(columns: dict) -> bytes:
    """A table, packed."""
    polars.DataFrame(columns).write_parquet(file := io.BytesIO(), compression="zstd")
    return file.getvalue()


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_with_the_way_out(tmp_path, name, monkeypatch):
    path = tmp_path / name
    path.write_bytes(BOMBS[name]())
    read = read_vectors if ".vec" in name else read_files
    with pytest.raises(DataError, match="times its size") as caught:
        read(str(path))
    assert "SERIATIM_MOST_EXPANSION" in caught.value.do and str(path) in str(caught.value)
    monkeypatch.setenv("SERIATIM_MOST_EXPANSION", "100000")
    try:
        read(str(path))
    except SeriatimError as error:  # it is zeros and the like: refused, but not for its size
        assert "times" not in str(error) and "more than" not in str(error)


def test_a_decoder_that_runs_out_of_memory_is_told_so():
    words = io.BytesIO(b"memory allocation of 400 bytes failed\nnote: run with RUST_BACKTRACE\n")
    assert "times its size" in str(module.refused("a.parquet", 10, -6, words))
    assert "odd" in str(module.refused("a.parquet", 10, 1, io.BytesIO(b"Traceback\nodd\n")))


def read_vectors(path: str) -> object:
    """Word vectors."""
    from seriatim.tasks.words.files import read_vectors

    return read_vectors(path)


def test_an_archive_that_lies_about_its_sizes(tmp_path):
    content = bytearray(npz(np.zeros((LONG, 3))))
    for place in range(len(content) - 4):
        if content[place : place + 4] == (24 * LONG + 128).to_bytes(4, "little"):
            content[place : place + 4] = (100).to_bytes(4, "little")
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(SeriatimError):
        read_files(tmp_path / "a.npz")


@pytest.mark.parametrize("said", ["0", "-1", "many", "1e", "nan"])
def test_limits_are_numbers(tmp_path, monkeypatch, said):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"a"))
    monkeypatch.setenv("SERIATIM_MOST_EXPANSION", said)
    with pytest.raises(ConfigError, match="SERIATIM_MOST_EXPANSION"):
        read_files(tmp_path / "a.txt.gz")


# -- parsers that are linear: what took minutes takes moments, or is refused
def test_transforms_are_read_in_one_go():
    for text in ("a" * LONG, "a " * LONG, "(" * LONG, "translate(1) " * 1000 + "a" * LONG):
        with pytest.raises(ValueError, match="transform"):
            transform(text)
    assert np.allclose(transform(" translate(1),scale(2)\n"), [[2, 0, 1], [0, 2, 0], [0, 0, 1]])


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_a_table_has_no_million_columns(tmp_path, name):
    mark = "," if name == "a.csv" else "\t"
    row = mark.join(map(str, range(LONG))) + "\n"
    (tmp_path / name).write_text(row + row)
    with pytest.raises(DataError, match=f"at most {MOST_COLUMNS:,} columns"):
        read_files(tmp_path / name)


HOSTILE = {
    "deep.jsonl": b"[" * LONG,
    "deeper.jsonl": b'{"a":' * LONG,
    "deep.svg": b"<svg>" + b"<g>" * 20_000 + b"</g>" * 20_000 + b"</svg>",
    "path.svg": b'<svg><path d="' + b"M0 0" + b"1" * LONG + b'"/></svg>',
    "letters.svg": b'<svg><path d="M0 0' + b"z" * 100_000 + b'"/></svg>',
    "transform.svg": b'<svg><path transform="' + b"a" * LONG + b'" d="M0 0L1 1"/></svg>',
    "many.conllu": b"1\ta" + b"\t_" * LONG + b"\n",
    "long.conllu": b"1\t" + b"a" * LONG + b"\t_" * 8 + b"\n",
    "numbers.conllu": b"9" * LONG + b"\ta" + b"\t_" * 8 + b"\n",
    "quotes.csv": b'a,b\n"' + b'""' * LONG,
    "digits.csv": b"a,b\n1," + b"9" * LONG + b"\n",
    "digits.jsonl": b'{"a": ' + b"9" * LONG + b"}\n",
    "tags.bio": b"a " * LONG,
    "strokes.ndjson": b'{"drawing": ' + b"[" * LONG + b"}",
    "notes.mid": b"MThd\0\0\0\6\0\1\xff\xff\0\x60"
    + b"MTrk\xff\xff\xff\xff"
    + b"\0\x90\x40\x40" * LONG,
    "empty.mid": b"MThd\0\0\0\6\0\1\xff\xff\0\x60" + b"MTrk\0\0\0\0" * 100_000,
}
READ = """
import resource, sys
from seriatim.data.formats import read_files
import polars, numpy
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
from seriatim.errors import SeriatimError
for path in sys.argv[1:]:
    try:
        read_files(path, **({"input_format": "quickdraw"} if path.endswith("ndjson") else {}))
    except SeriatimError as error:
        assert len(str(error)) < 3000, (path, len(str(error)))
print("all read")
"""


def test_long_and_deep_files_are_read_or_refused_in_linear_time(tmp_path):
    for name, content in HOSTILE.items():
        (tmp_path / name).write_bytes(content)
    found = subprocess.run(
        [sys.executable, "-c", READ, *(str(tmp_path / name) for name in HOSTILE)],
        cwd=Path(__file__).parent.parent.parent,
        capture_output=True,
        text=True,
    )
    assert found.stdout == "all read\n", found.stderr
