"""Which tokenizers of others may be built: an allow-list over their JSON, held against it before the
library that builds them sees it.

A tokenizer is a small program: a normalizer may write a million letters for one, a pattern may
search for ever, padding may ask for gigabytes, truncation leaves out text silently. So every part
is one of those that we write ourselves or that common tokenizers have, patterns and what is put
for them are compared letter by letter, and nothing is larger than the file that holds it. A table
of letters to be replaced (Precompiled) is a program as data and not among them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
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
    wrong,
    yes_or_no,
)

LINE_END = "\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]"  # where str.splitlines cuts
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"  # contractions; letters, digits, marks with a blank before; blanks
CL100K, QWEN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
    + digits
    + r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    for digits in (r"\p{N}{1,3}", r"\p{N}")
)  # GPT-4 and Llama 3: up to three digits; Qwen: each by itself
PATTERNS = (GPT2, CL100K, QWEN)  # that a tokenizer of others may cut at: these, letter by letter
SPACE, BLANKS, OUTER = (
    " ",
    " {2,}",
    r"\A +|(?<! ) +\z",
)  # what may be replaced: one, several, outer ones
META = "▁"  # what sentencepiece writes for a blank
MOST_SYMBOLS, LONGEST_PIECE = 1 << 24, 1 << 16
MOST_PARTS = 8  # of a sequence of normalizers, pre-tokenizers or decoders
LONGEST_WORD = 200  # letters of a word that WordPiece looks through
NOTHING = among(None)
NUMBER = whole(0, MOST_SYMBOLS)
PIECE = text(most=LONGEST_PIECE)
BYTES = table(
    {"type": among("ByteLevel")},
    {"add_prefix_space": yes_or_no, "trim_offsets": yes_or_no, "use_regex": yes_or_no},
)
METASPACE = table(
    {"type": among("Metaspace"), "replacement": among(META)},
    {
        "prepend_scheme": among("always", "first", "never"),
        "split": yes_or_no,
        "add_prefix_space": yes_or_no,
        "str_rep": among(META),
    },
)
LINES = table(
    {
        "type": among("Split"),
        "pattern": table({"Regex": among(LINE_END)}),
        "behavior": among("MergedWithPrevious"),
        "invert": among(False),
    }
)
SPLIT = table(
    {
        "type": among("Split"),
        "pattern": table({"Regex": among(*PATTERNS)}),
        "behavior": among("Isolated"),
        "invert": among(False),
    }
)
BEHAVIOURS = among(
    "Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"
)  # of marks


def bare(name: str) -> Shape:
    """A part that has nothing to be chosen."""
    return table({"type": among(name)})


def parted(shapes: Mapping[str, Sequence[Shape]], inner: str, once: Sequence[str] = ()) -> Shape:
    """A shape: one of these parts by its type, or a sequence of them, in which some come at most
    once."""

    def single(value: Any, where: str) -> None:
        """Refuses a part that is none of them."""
        known = shapes.get(value["type"]) if named(value) else None
        if known is None:
            raise wrong(where, " or ".join(shapes), value)
        problems: list[ValueError] = []
        for shape in known:
            try:
                return check(value, shape, where)
            except ValueError as error:
                problems.append(error)
        raise problems[0]

    def named(value: Any) -> bool:
        """Whether it says what it is."""
        return isinstance(value, dict) and isinstance(value.get("type"), str)

    def several(value: Any, where: str) -> None:
        """Refuses what is neither one of them nor a sequence of them."""
        if not named(value) or value["type"] != "Sequence":
            return single(value, where)
        check(
            value, table({"type": among("Sequence"), inner: listed(single, 0, MOST_PARTS)}), where
        )
        kinds = [each["type"] for each in value[inner]]
        for name in once:
            if kinds.count(name) > 1:
                raise wrong(where, f"parts of which one is {name}", kinds)

    return several


def replacing(pattern: Mapping[str, str], *contents: str) -> Shape:
    """A shape: this is replaced by one of these."""
    how = {kind: among(words) for kind, words in pattern.items()}
    return table({"type": among("Replace"), "pattern": table(how), "content": among(*contents)})


NORMALIZERS = {
    **{name: (bare(name),) for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents")},
    "BertNormalizer": (
        table(
            {
                "type": among("BertNormalizer"),
                "clean_text": yes_or_no,
                "handle_chinese_chars": yes_or_no,
                "strip_accents": among(None, True, False),
                "lowercase": yes_or_no,
            }
        ),
    ),
    "Prepend": (table({"type": among("Prepend"), "prepend": among(META)}),),
    "Replace": (
        replacing({"String": SPACE}, META),
        replacing({"Regex": BLANKS}, SPACE, META),
        replacing({"Regex": OUTER}, ""),
    ),
}
PRE_TOKENIZERS = {
    **{name: (bare(name),) for name in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer")},
    "ByteLevel": (BYTES,),
    "Metaspace": (METASPACE,),
    "Digits": (table({"type": among("Digits"), "individual_digits": yes_or_no}),),
    "Punctuation": (table({"type": among("Punctuation")}, {"behavior": BEHAVIOURS}),),
    "Split": (SPLIT, LINES),
}
DECODERS = {
    **{name: (bare(name),) for name in ("ByteFallback", "Fuse")},
    "ByteLevel": (BYTES,),
    "Metaspace": (METASPACE,),
    "WordPiece": (
        table({"type": among("WordPiece"), "prefix": text(most=16), "cleanup": yes_or_no}),
    ),
    "Replace": (replacing({"String": META}, SPACE),),
    "Strip": (
        table(
            {
                "type": among("Strip"),
                "content": among(SPACE),
                "start": whole(0, 1),
                "stop": whole(0, 1),
            }
        ),
    ),
}
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
        "byte_fallback": yes_or_no,
        "ignore_merges": yes_or_no,
    },
)
UNIGRAM = table(
    {"type": among("Unigram"), "unk_id": optional(NUMBER), "vocab": lambda value, where: None},
    {"byte_fallback": yes_or_no},
)
WORD_PIECE = table(
    {
        "type": among("WordPiece"),
        "vocab": mapping(NUMBER, PIECE, MOST_SYMBOLS),
        "unk_token": PIECE,
        "continuing_subword_prefix": text(most=16),
        "max_input_chars_per_word": whole(1, LONGEST_WORD),
    }
)


def _any(value: Any, where: str) -> None:
    """Looked at elsewhere."""


def model(value: Any, where: str) -> None:
    """A shape: byte pairs, unigrams, or parts of words."""
    kind = value.get("type") if isinstance(value, dict) else None
    if kind == "Unigram":
        check(value, UNIGRAM, where)
        pairs(value["vocab"], f"{where}.vocab", PIECE, real())
    elif kind == "WordPiece":
        check(value, WORD_PIECE, where)
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
        "normalizer": optional(parted(NORMALIZERS, "normalizers")),
        "pre_tokenizer": optional(
            parted(PRE_TOKENIZERS, "pretokenizers", ("ByteLevel", "Metaspace"))
        ),
        "decoder": optional(parted(DECODERS, "decoders")),
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
