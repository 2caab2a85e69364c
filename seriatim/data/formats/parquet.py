"""Parquet, read by polars in a process of its own.

Polars ends the whole process when a damaged file states an absurd size. So another one reads the
file, with a bound on its memory, and hands the rows back as JSON lines, which state no sizes.
"""

from __future__ import annotations

import subprocess
import sys

from seriatim.data.files import MOST_BYTES, unpacked
from seriatim.data.formats.jsonl import objects
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
sys.stdout.buffer.write(frame.write_ndjson().encode())
"""


def read_parquet(path: str, gaps: bool = False) -> Table:
    """The columns of a parquet file: text, numbers, truth values, lists of them; dates as text."""
    child = subprocess.run(
        [sys.executable, "-P", "-c", PARQUET_TO_JSON, str(MOST_BYTES)],
        input=unpacked(path),
        capture_output=True,
        check=False,
    )
    if child.returncode:
        complaint = child.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        signal = f"its decoder ended with signal {-child.returncode}"
        raise DataError(
            "this cannot be read as parquet",
            file=path,
            got=complaint if child.returncode > 0 else signal,
            do="Write it again, with columns of text, numbers or lists of them",
        )
    fields, _ = objects(child.stdout, path, gaps=gaps)
    return fields, None
