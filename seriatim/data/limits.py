"""How far a file may unpack: a small archive may hold a huge one, and none is believed.

    SERIATIM_MOST_BYTES       of one file, unpacked: 8GB
    SERIATIM_MOST_EXPANSION   how many times its own size it may become: 100

Both are asked while a file is unpacked, not afterwards. Whatever becomes no larger than `FREE` may be
packed as tightly as it likes.
"""

from __future__ import annotations

import io
import os
from typing import Any

from seriatim.errors import ConfigError, DataError
from seriatim.settings import MemorySize

MOST_BYTES, MOST_EXPANSION = 8 * 10**9, 100
FREE = 1 << 26  # bytes
BYTES, EXPANSION = "SERIATIM_MOST_BYTES", "SERIATIM_MOST_EXPANSION"


def most_bytes() -> int:
    """Bytes of one file, unpacked."""
    return setting(BYTES, MOST_BYTES)


def most_expansion() -> int:
    """How many times its own size a file may become."""
    return setting(EXPANSION, MOST_EXPANSION)


def setting(name: str, usual: int) -> int:
    """A limit that may be set in the environment."""
    said = os.environ.get(name, "").strip()
    try:
        found = MemorySize(said) if said else usual
    except (ValueError, OverflowError):
        found = 0
    if found < 1:
        raise ConfigError(f"{name} is a number, 1 or more", got=said, do=f"Set it to {usual}, say")
    return int(found)


def allowed(packed: int) -> int:
    """To how many bytes a packed file of this size may unpack."""
    return min(most_bytes(), max(FREE, packed * most_expansion()))


def too_large(path: str, packed: int | None = None) -> DataError:
    """The error of a file that unpacks to more; of one that is not packed, there is only the total."""
    if packed is None or allowed(packed) == most_bytes():
        return DataError(
            f"the file holds more than {most_bytes():,} bytes",
            file=path,
            do=f"Cut it into smaller files, or set {BYTES}, in bytes",
        )
    return DataError(
        f"the file unpacks to more than {allowed(packed):,} bytes, {most_expansion()} times its size",
        got=f"{packed:,} bytes, packed",
        file=path,
        do=f"If you trust it, unpack it yourself, or set {EXPANSION} to more than {most_expansion()}",
    )


class Unpacking(io.RawIOBase):
    """A file that is unpacked as it is read, and counted."""

    def __init__(self, inner: Any, path: str):
        self.inner, self.path, self.read_so_far = inner, path, 0
        self.packed = os.path.getsize(path)
        self.most = allowed(self.packed)

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """The next bytes; an error as soon as they are too many."""
        count = self.inner.readinto(buffer)
        self.read_so_far += count
        if self.read_so_far > self.most:
            raise too_large(self.path, self.packed)
        return count

    def fileno(self) -> int:
        """The number of the file beneath."""
        return self.inner.fileno()

    def close(self) -> None:
        """The file beneath is closed, too."""
        self.inner.close()
        super().close()
