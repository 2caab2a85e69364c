"""Which tokenizers of others may be built: an allow-list over their JSON, held against it before the
library that builds them sees it.

A tokenizer is a small program: a normalizer may write a million letters for one, a pattern may
search for ever, padding may ask for gigabytes, truncation leaves out text silently. So every part
is one of those that we write ourselves or that GPT-2 has, patterns are compared letter by letter,
and nothing is larger than the file that holds it.
"""

from __future__ import annotations

import json
from typing import Any

from seriatim.shapes import (
    Shape,
    among,
    check,
    listed,
    mapping,
    optional,
    real,
    table,
    text,
    whole,
    yes_or_no,
)

LINE_END = "\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]"  # where str.splitlines cuts
PATTERNS = (LINE_END,)  # that a tokenizer may cut at: these, letter by letter
MOST_SYMBOLS, LONGEST_PIECE = 1 << 24, 1 << 16
NOTHING = among(None)
NUMBER = whole(0, MOST_SYMBOLS)
PIECE = text(most=LONGEST_PIECE)
BYTES = table(
    {"type": among("ByteLevel")},
    {"add_prefix_space": yes_or_no, "trim_offsets": yes_or_no, "use_regex": yes_or_no},
)
CUT = table(
    {"type": among("ByteLevel"), "add_prefix_space": among(False), "trim_offsets": yes_or_no},
    {"use_regex": among(True)},
)
SPLIT = table(
    {
        "type": among("Split"),
        "pattern": table({"Regex": among(*PATTERNS)}),
        "behavior": among("MergedWithPrevious"),
        "invert": among(False),
    }
)
ADDED = table(
    {"id": NUMBER, "content": text("(?s:.+)", LONGEST_PIECE), "special": yes_or_no},
    {
        "single_word": among(False),
        "lstrip": yes_or_no,
        "rstrip": yes_or_no,
        "normalized": yes_or_no,
    },
)
BYTE_PAIR = table(
    {"vocab": mapping(NUMBER, PIECE, MOST_SYMBOLS), "merges": lambda value, where: None},
    {
        "type": among("BPE"),
        "dropout": among(None, 0, 0.0),
        "unk_token": optional(PIECE),
        "continuing_subword_prefix": among(None, ""),
        "end_of_word_suffix": among(None, ""),
        "fuse_unk": yes_or_no,
        "byte_fallback": among(False),
        "ignore_merges": yes_or_no,
    },
)
UNIGRAM = table(
    {"type": among("Unigram"), "unk_id": optional(NUMBER), "vocab": lambda value, where: None},
    {"byte_fallback": among(False)},
)


def sequence(value: Any, where: str) -> None:
    """A shape: cut at the ends of lines, then as GPT-2 does; or only the latter."""
    if isinstance(value, dict) and value.get("type") == "Sequence":
        check(value, table({"type": among("Sequence"), "pretokenizers": listed(_any, 2, 2)}), where)
        check(value["pretokenizers"][0], SPLIT, f"{where}.pretokenizers[0]")
        check(value["pretokenizers"][1], CUT, f"{where}.pretokenizers[1]")
    else:
        check(value, CUT, where)


def _any(value: Any, where: str) -> None:
    """Looked at elsewhere."""


def model(value: Any, where: str) -> None:
    """A shape: byte pairs, or unigrams."""
    if isinstance(value, dict) and value.get("type") == "Unigram":
        check(value, UNIGRAM, where)
        pairs(value["vocab"], f"{where}.vocab", PIECE, real())
    else:
        check(value, BYTE_PAIR, where)
        merges = value["merges"]
        if isinstance(merges, list) and merges and isinstance(merges[0], list):
            pairs(merges, f"{where}.merges", PIECE, PIECE)
        else:
            check(merges, listed(PIECE, 0, MOST_SYMBOLS), f"{where}.merges")


def pairs(value: Any, where: str, first: Shape, second: Shape) -> None:
    """A shape: a list of pairs."""
    check(value, listed(listed(_any, 2, 2), 0, MOST_SYMBOLS), where)
    for place, (one, other) in enumerate(value):
        first(one, f"{where}[{place}]")
        second(other, f"{where}[{place}]")


TOKENIZER = table(
    {
        "added_tokens": listed(ADDED, 0, MOST_SYMBOLS),
        "normalizer": optional(table({"type": among("Lowercase")})),
        "pre_tokenizer": sequence,
        "decoder": BYTES,
        "model": model,
    },
    {
        "version": text(most=20),
        "truncation": NOTHING,
        "padding": NOTHING,
        "post_processor": optional(BYTES),
    },
)
IDLE = (
    "truncation",
    "padding",
    "post_processor",
)  # what a file of others may have, and is not used


def checked(source: str, ours: bool = True) -> str:
    """The JSON of a tokenizer, if all of it is allowed; a ValueError names the part that is not. What
    others wrote for programs of their own, `IDLE`, is left out of theirs, and refused in ours."""
    try:
        record = json.loads(source)
    except RecursionError:
        raise ValueError("it is too deep") from None
    if isinstance(record, dict) and not ours:
        record |= dict.fromkeys(IDLE)
    check(record, TOKENIZER, "tokenizer")
    return json.dumps(record)
