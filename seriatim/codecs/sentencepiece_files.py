"""The model file of sentencepiece as the JSON of a tokenizer. It is a message of protocol buffers, of
which the few fields that matter are read here, with checks, and nothing is executed.

    pieces with scores        a unigram model; or byte pairs, in the order of their scores
    nmt_nfkc, nfkc            NFKC; with nmt control characters are dropped first, and other blanks
                              become blanks. Their own table is a program as data and not used: it
                              differs in a few characters: invisible ones (U+200B, the soft hyphen) are
                              dropped here; the full-width tilde stays there
    remove_extra_whitespaces  several blanks are one, those outside none
    add_dummy_prefix          a blank before the text
    byte_fallback             what is unknown is written as bytes

Control pieces are left out, so that text which looks like one is text. Pieces that their user
defined are cut out of the text before all else.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from seriatim.codecs.tokenizer_files import BLANKS, META, MOST_SYMBOLS, OUTER, SPACE

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6  # types of pieces
UNIGRAM, BYTE_PAIR = 1, 2  # types of models
CLEANED = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": False,
    "strip_accents": False,
    "lowercase": False,
}
NORMALIZERS: dict[str, list[dict[str, Any]]] = {
    "identity": [],
    "nfkc": [{"type": "NFKC"}],
    "nmt_nfkc": [CLEANED, {"type": "NFKC"}],
}
LONGEST = 1 << 10  # bytes of a piece: each place in it is a pair that might make it


@dataclass
class Message:
    """What matters of a model file, with the values that fields have if they are not there."""

    pieces: list[tuple[str, float, int]] = field(default_factory=list)
    kind: int = UNIGRAM
    suffix: bool = False  # blanks stand behind words, not before them
    fallback: bool = False
    name: str = ""  # of the normalizer
    charsmap: bool = False  # whether there is a table of letters to be replaced
    prefix: bool = True
    extra: bool = True  # blanks that are too many are removed
    escape: bool = True


def fields_of(content: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """The fields of a message: number and value, whole or as bytes."""
    place = 0
    while place < len(content):
        key, place = whole_at(content, place)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, place = whole_at(content, place)
            yield number, value
            continue
        if wire == 2:
            size, place = whole_at(content, place)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
        else:
            raise ValueError(f"a field of a kind that there is not: {wire}")
        if size > len(content) - place:
            raise ValueError("it ends in the middle of a field")
        yield number, content[place : place + size]
        place += size


def whole_at(content: memoryview, place: int) -> tuple[int, int]:
    """The number at a place, seven bits a byte, and the place behind it."""
    number = 0
    for shift in range(0, 70, 7):
        if place >= len(content):
            raise ValueError("it ends in the middle of a number")
        byte, place = content[place], place + 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, place
    raise ValueError("a number that is too long")


def read_message(content: bytes) -> Message:
    """A model file -> what matters of it; a ValueError if it is damaged."""
    found = Message()
    for number, value in fields_of(memoryview(content)):
        if number == 1 and isinstance(value, memoryview):
            found.pieces.append(read_piece(value))
            if len(found.pieces) > MOST_SYMBOLS:
                raise ValueError("it has too many pieces")
        elif number == 2 and isinstance(value, memoryview):
            read_trainer(value, found)
        elif number == 3 and isinstance(value, memoryview):
            read_normalizer(value, found)
    return found


def read_piece(content: memoryview) -> tuple[str, float, int]:
    """A piece: its text, score and type."""
    text, score, kind = "", 0.0, NORMAL
    for number, value in fields_of(content):
        if number == 1 and isinstance(value, memoryview):
            text = text_of(value)
        elif number == 2 and isinstance(value, memoryview) and len(value) == 4:
            score = struct.unpack("<f", value)[0]
        elif number == 3 and isinstance(value, int):
            kind = value
    if not text or not math.isfinite(score) or not NORMAL <= kind <= BYTE:
        raise ValueError(f"a piece without text, score or type: {text!r}")
    return text, score, kind


def read_trainer(content: memoryview, found: Message) -> None:
    """How the model was trained."""
    for number, value in fields_of(content):
        if isinstance(value, int):
            if number == 3:
                found.kind = value
            elif number == 24:
                found.suffix = bool(value)
            elif number == 35:
                found.fallback = bool(value)


def read_normalizer(content: memoryview, found: Message) -> None:
    """What is done to a text first."""
    for number, value in fields_of(content):
        if isinstance(value, memoryview):
            if number == 1:
                found.name = text_of(value)
            elif number == 2:
                found.charsmap = len(value) > 0
        elif number == 3:
            found.prefix = bool(value)
        elif number == 4:
            found.extra = bool(value)
        elif number == 5:
            found.escape = bool(value)


def text_of(content: memoryview) -> str:
    """Bytes as text."""
    if len(content) > LONGEST:
        raise ValueError(f"a text of {len(content):,} bytes")
    return bytes(content).decode()


def as_tokenizer(content: bytes) -> str:
    """A model file -> the JSON of a tokenizer that cuts alike; a ValueError says what it has that
    cannot be had here."""
    found = read_message(content)
    users = [text for text, _, kind in found.pieces if kind == USER_DEFINED]
    for wrong, words in (
        (not found.pieces, "it has no pieces"),
        (found.kind not in (UNIGRAM, BYTE_PAIR), "its model is neither unigram nor byte-pair"),
        (found.suffix, "its blanks stand behind words (treat_whitespace_as_suffix)"),
        (not found.escape, "its blanks are not escaped (escape_whitespaces false)"),
        (
            found.charsmap and found.name not in NORMALIZERS,
            f"its normalizer is a table of its own, {found.name!r}; known are "
            + ", ".join(NORMALIZERS),
        ),
        (any(META in text for text in users), "its user defined a piece with a blank"),
    ):
        if wrong:
            raise ValueError(words)
    strange = [text for text, _, kind in found.pieces if kind == UNKNOWN]
    if len(strange) != 1:
        raise ValueError(f"it has {len(strange)} unknown pieces, not one")
    unknown = SPACE + strange[0]  # which no text has, since blanks are written otherwise
    kept = [(unknown, 0.0)]
    kept += [(text, score) for text, score, kind in found.pieces if kind in (NORMAL, BYTE)]
    if len(dict(kept)) != len(kept):
        raise ValueError("it has a piece twice")
    decoders: list[dict[str, Any]] = [
        {"type": "Replace", "pattern": {"String": META}, "content": SPACE},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ]
    if found.prefix:
        decoders.append({"type": "Strip", "content": SPACE, "start": 1, "stop": 0})
    added = [unknown, *dict.fromkeys(users)]
    return json.dumps(
        {
            "added_tokens": [
                {
                    "id": 0 if i == 0 else len(kept) + i - 1,
                    "content": text,
                    "special": i == 0,
                    "normalized": False,
                    "single_word": False,
                    "lstrip": False,
                    "rstrip": False,
                }
                for i, text in enumerate(added)
            ],
            "normalizer": {"type": "Sequence", "normalizers": normalizers_of(found)},
            "pre_tokenizer": None,
            "decoder": {"type": "Sequence", "decoders": decoders},
            "model": model_of(found, kept),
        }
    )


def normalizers_of(found: Message) -> list[dict[str, Any]]:
    """What is done to a text first, in order."""
    parts = list(NORMALIZERS[found.name]) if found.charsmap else []
    if found.extra:
        parts += [
            {"type": "Replace", "pattern": {"Regex": BLANKS}, "content": SPACE},
            {"type": "Replace", "pattern": {"Regex": OUTER}, "content": ""},
        ]
    if found.prefix:
        parts.append({"type": "Prepend", "prepend": META})
    return [*parts, {"type": "Replace", "pattern": {"String": SPACE}, "content": META}]


def model_of(found: Message, kept: list[tuple[str, float]]) -> dict[str, Any]:
    """The model: pieces with scores, or the pairs that make a piece, the best first."""
    if found.kind == UNIGRAM:
        vocabulary = [[text, score] for text, score in kept]
        fallback = {"byte_fallback": found.fallback}
        return {"type": "Unigram", "unk_id": 0, "vocab": vocabulary} | fallback
    numbers = {text: number for number, (text, _) in enumerate(kept)}
    of_bytes = {text for text, _, kind in found.pieces if kind == BYTE}
    merges: list[tuple[float, str, str]] = []
    for text, score in kept[1:]:
        if text in of_bytes:
            continue
        for cut in range(1, len(text)):
            if text[:cut] in numbers and text[cut:] in numbers:
                merges.append((-score, text[:cut], text[cut:]))
    merges.sort(key=lambda merge: merge[0])
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": kept[0][0],
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": True,
        "byte_fallback": found.fallback,
        "ignore_merges": False,
        "vocab": numbers,
        "merges": [[first, second] for _, first, second in merges],
    }
