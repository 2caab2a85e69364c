"""Data in: files as published, and corpora that need no download."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seriatim.data.reading import read as read


def __getattr__(name: str) -> Any:
    """`read`, loaded when it is used: options of reading are wanted without it."""
    if name != "read":
        raise AttributeError(f"module 'seriatim.data' has no attribute {name!r}")
    from seriatim.data.reading import read

    return read
