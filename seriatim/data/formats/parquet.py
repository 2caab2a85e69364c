"""Parquet, read by polars in a process of its own.

Polars ends the whole process when a damaged file states an absurd size. So another one reads the
file, with a bound on its memory, and hands the rows back as JSON lines, which state no sizes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from typing import BinaryIO

from seriatim.data.files import CHUNK, unpacked
from seriatim.data.formats.jsonl import objects
from seriatim.data.limits import allowed, too_large
from seriatim.data.sequences import Table
from seriatim.errors import DataError

PARQUET_TO_JSON = """
import sys, polars
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
except (ImportError, ValueError):
    pass
frame = polars.read_parquet(sys.stdin.buffer).with_columns(polars.selectors.decimal().cast(polars.Float64))
for rows in frame.iter_slices(100_000):
    sys.stdout.buffer.write(rows.write_ndjson().encode())
"""
ITSELF = 10**9  # bytes of address space that the other process needs for itself
COPIES = 6  # of the rows, while they are unpacked and written as JSON
FEW_THREADS = {"POLARS_MAX_THREADS": "1", "MALLOC_ARENA_MAX": "2"}  # each takes address space


def read_parquet(path: str, gaps: bool = False) -> Table:
    """The columns of a parquet file: text, numbers, truth values, lists of them; dates as text."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as complaints:
        packed = given.write(unpacked(path))
        given.seek(0)
        most = allowed(packed)
        with subprocess.Popen(
            [sys.executable, "-P", "-c", PARQUET_TO_JSON, str(ITSELF + COPIES * most)],
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=complaints,
            env=os.environ | FEW_THREADS,
        ) as child:
            assert child.stdout is not None
            written = bytearray()
            while len(written) <= most and (piece := child.stdout.read(CHUNK)):
                written += piece
            if len(written) > most:
                child.kill()
                raise too_large(path, packed)
        if child.returncode:
            raise refused(path, packed, child.returncode, complaints)
    fields, _ = objects(written, path, gaps=gaps)
    return fields, None


def refused(path: str, packed: int, code: int, complaints: BinaryIO) -> DataError:
    """What is wrong, by the last words of the process that could not read the file."""
    complaints.seek(0)
    words = complaints.read(CHUNK).decode(errors="replace").strip()
    complaint = words.rpartition("\n")[2]
    if "memory allocation of" in words or "MemoryError" in words:
        return too_large(path, packed)
    return DataError(
        "this cannot be read as parquet",
        file=path,
        got=complaint if code > 0 else f"its decoder ended with signal {-code}",
        do="Write it again, with columns of text, numbers or lists of them",
    )
