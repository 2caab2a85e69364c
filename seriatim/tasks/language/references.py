"""What compressors that everybody has reach on the same text: lines to be held against, no models.

    bits per character = 8 (bytes of training and test together - bytes of training alone) / characters

The training text is given first, so that a compressor knows it as a model does. bzip2 sorts blocks of
900 kB and forgets what was before; xz remembers 64 MB.
"""

from __future__ import annotations

import bz2
import lzma
from collections.abc import Callable
from typing import Any

from seriatim.data.sequences import TEXT, Sequences

MOST = 50_000_000  # bytes of training text that are given first: more would take minutes


def with_bz2(train: Sequences, test: Sequences) -> dict[str, Any]:
    """bzip2 -9, after the last 900 kB of the training text, which is all it can remember."""
    return after(lambda text: bz2.compress(text, 9), train, test, 900_000)


def with_xz(train: Sequences, test: Sequences) -> dict[str, Any]:
    """xz -9 --extreme, after the training text."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]
    return after(
        lambda text: lzma.compress(text, lzma.FORMAT_RAW, filters=filters), train, test, MOST
    )


def after(
    compress: Callable[[bytes], bytes], train: Sequences, test: Sequences, most: int
) -> dict[str, Any]:
    """Bits per character of a test text that stands after so many bytes of the training text."""
    asked = text_of(test)
    known = text_of(train)[-max(1, most - len(asked)) :]
    size = len(compress(known + asked)) - len(compress(known))
    return {"value": 8 * size / len(asked.decode("utf-8", "surrogatepass"))}


def text_of(data: Sequences) -> bytes:
    """All of it as one text, as `evaluate` counts its characters: lines with their ends, tokens with
    blanks between."""
    if data.main.kind == TEXT and data.by == "stream":
        return data.main.flat.tobytes()
    rows = (data.main.raw(s) for s in range(len(data)))
    texts = (row if isinstance(row, str) else " ".join(map(str, row)) for row in rows)
    return "".join(f"{text}\n" if data.by == "line" else text for text in texts).encode(
        "utf-8", "surrogatepass"
    )
