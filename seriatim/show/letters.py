"""Letters that a terminal obeys instead of showing them: escape sequences, other control characters,
and those that turn the direction of writing. From models or data they are shown by their numbers."""

from __future__ import annotations

import re
from typing import TextIO

OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def harmless(text: str) -> str:
    r"""The text with visible escapes; tabs and ends of lines stay.

    >>> print(harmless("a\x1b[31mred\u202eder\n"), end="")
    a\x1b[31mred\u202eder
    """
    return OBEYED.sub(lambda found: numbered(found[0]), text)


def harmless_json(text: str) -> str:
    """The same for JSON, which stays valid and means the same: between its strings there are none."""
    return OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def numbered(letter: str) -> str:
    """A letter by its number, as Python writes it."""
    number = ord(letter)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def shown_on(stream: TextIO, text: str) -> str:
    """The text itself in a file or a pipe, a harmless one on a terminal."""
    return harmless(text) if stream.isatty() else text
