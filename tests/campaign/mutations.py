"""Accidents and malice: what happens to the bytes of a file, and to the values of a record."""

from __future__ import annotations

import copy
import random
import re
from typing import Any

NUMBERS = [
    b"-1",
    b"0",
    b"99999999999999999999",
    b"1e308",
    b"-1e-400",
    b"nan",
    b"inf",
    b"2147483648",
]
NUMBERS += [b"4294967295", b"9" * 400, b"0x10", b"1.5", b"1e400", b"-9223372036854775809", b""]
WORDS = [
    bytes(4),
    b"\xff" * 4,
    b"\x7f\xff\xff\xff",
    b"\x80\0\0\0",
    b"\xff\xff\xff\x7f",
    b"\0\0\0\x80",
]
WORDS += [b"\xff" * 8, b"\xff" * 7 + b"\x7f", bytes(8)]
MARKS = [
    b"\0",
    b"\n",
    b"\r",
    b'"',
    b"\t",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\x1b[2J",
    b"[" * 50,
]
MARKS += [
    "\u202e".encode(),
    "\u2028".encode(),
    b"[/red]",
    b"{",
    b"}",
    b"(",
    b")",
    b",",
    b"|",
    b"<!--",
]
DIGITS = re.compile(rb"\d+")
LONGEST = 1 << 17  # bytes that a mutation may grow to


def mutate(content: bytes, dice: random.Random) -> bytes:
    """The content after one to four accidents."""
    for _ in range(dice.randint(1, 4)):
        accident = dice.choice(
            [
                flipped,
                cut,
                repeated,
                spliced,
                truncated,
                hostile_number,
                hostile_word,
                marked,
                shuffled,
            ]
        )
        content = accident(content, dice)[:LONGEST]
    return content


def place(content: bytes, dice: random.Random) -> tuple[int, int]:
    """A piece of it: where it begins and ends."""
    begin = dice.randrange(len(content) + 1)
    return begin, min(len(content), begin + dice.choice([1, 2, 4, 8, 30, 200]))


def flipped(content: bytes, dice: random.Random) -> bytes:
    """Bits that are others."""
    begin, end = place(content, dice)
    piece = bytes(byte ^ 1 << dice.randrange(8) for byte in content[begin:end])
    return content[:begin] + piece + content[end:]


def cut(content: bytes, dice: random.Random) -> bytes:
    """A piece that is missing."""
    begin, end = place(content, dice)
    return content[:begin] + content[end:]


def repeated(content: bytes, dice: random.Random) -> bytes:
    """A piece that comes again and again."""
    begin, end = place(content, dice)
    return content[:begin] + content[begin:end] * dice.choice([2, 3, 9, 100]) + content[end:]


def spliced(content: bytes, dice: random.Random) -> bytes:
    """A piece of it where another one was."""
    begin, end = place(content, dice)
    other, last = place(content, dice)
    return content[:begin] + content[other:last] + content[end:]


def truncated(content: bytes, dice: random.Random) -> bytes:
    """The beginning, or the end."""
    begin = dice.randrange(len(content) + 1)
    return content[:begin] if dice.random() < 0.7 else content[begin:]


def hostile_number(content: bytes, dice: random.Random) -> bytes:
    """A number that nobody expects, where one is written."""
    found = list(DIGITS.finditer(content[:20_000]))
    if not found:
        return flipped(content, dice)
    chosen = dice.choice(found)
    return content[: chosen.start()] + dice.choice(NUMBERS) + content[chosen.end() :]


def hostile_word(content: bytes, dice: random.Random) -> bytes:
    """A number of four or eight bytes that nobody expects."""
    begin, word = dice.randrange(len(content) + 1), dice.choice(WORDS)
    return content[:begin] + word + content[begin + len(word) :]


def marked(content: bytes, dice: random.Random) -> bytes:
    """A mark where there was none."""
    begin = dice.randrange(len(content) + 1)
    return content[:begin] + dice.choice(MARKS) + content[begin:]


def shuffled(content: bytes, dice: random.Random) -> bytes:
    """Two lines change places."""
    lines = content.split(b"\n")
    i, j = dice.randrange(len(lines)), dice.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]
    return b"\n".join(lines)


# -- values
VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    3,
    7,
    255,
    65536,
    10**6,
    2**31,
    2**32,
    2**53,
    2**63,
]
VALUES += [
    10**12,
    10**30,
    -(10**9),
    0.0,
    -0.0,
    0.5,
    1e-300,
    1e30,
    1e308,
    float("nan"),
    float("inf"),
]
VALUES += [
    "",
    " ",
    "a",
    "..",
    "\0",
    "/",
    "[/red]",
    "\x1b[2J",
    "\ud800",
    "é" * 1000,
    "1",
    "none",
    "-1",
]
VALUES += [
    [],
    {},
    [1],
    [None],
    {"": 1},
    {"a": {}},
    [[[[[[[[[[[]]]]]]]]]]],
    "x" * 100_000,
    [0] * 10_000,
]
VALUES += ["attention", "lstm", "linear", "unigram", "byte", "word", "subword", "(a|aa)+$", "line"]


def hostile(record: Any, dice: random.Random) -> Any:
    """A record in which one to three values, keys or lengths are others."""
    record = copy.deepcopy(record)
    for _ in range(dice.choice([1, 1, 1, 2, 3])):
        holders = list(inner(record))
        if not holders:
            return dice.choice(VALUES)
        change(dice.choice(holders), dice)
    return record if dice.random() < 0.98 else dice.choice(VALUES)


def inner(record: Any) -> Any:
    """All tables and lists of a record that hold something; of long ones not all."""
    waiting = [record]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict | list) and each:
            yield each
            values = list(each.values()) if isinstance(each, dict) else each
            waiting += [value for value in values[:200] if isinstance(value, dict | list)]


def change(holder: Any, dice: random.Random) -> None:
    """One change within a table or a list."""
    key = dice.choice(list(holder)) if isinstance(holder, dict) else dice.randrange(len(holder))
    how = dice.random()
    if how < 0.6:
        holder[key] = near(holder[key], dice)
    elif how < 0.75:
        del holder[key]
    elif isinstance(holder, dict):
        name = dice.choice(["", "..", "extra", str(key) + "x", "0", "nothere", "[/red]"])
        holder[name] = dice.choice(VALUES)
    else:
        holder.insert(key, holder[key] if dice.random() < 0.5 else dice.choice(VALUES))


def near(value: Any, dice: random.Random) -> Any:
    """Another value: of the same kind and plausible, or anything."""
    if dice.random() < 0.5:
        if type(value) is int:
            return dice.choice(
                [value + 1, value - 1, 2 * value, -value, 10 * value, 1000 * value, 10**9]
            )
        if type(value) is float:
            return dice.choice([value * 1e6, -value, 0.0, value + 1, 1e-12, 1e12])
        if isinstance(value, bool):
            return not value
        if isinstance(value, str):
            return dice.choice([value + "x", value[:-1], value * 50, value.upper()])
        if isinstance(value, list) and value:
            return dice.choice([value[:-1], value + value[-1:], value[::-1], value * 2])
    return dice.choice(VALUES)
