"""Whether the first row of a table names its columns; and what they are called if it does not.

A row names columns unless it cannot: a number stands over numbers, a label comes again below, a text
is too long for a name. Of pairs, words over words, it does so only if they are what columns are called,
or alone begin with capitals. Names that everybody uses are known in any case: Label, TEXT.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise

from seriatim.data.columns import ENOUGH, LABELS, PAIR, TOKENS, number_in

LOOKED_AT = 1000  # rows
MOST_COLUMNS = 50  # that are looked at
LONG = 60  # letters; names are shorter
WORDS = re.compile(r"[^\W\d_]+")
SENTENCE = re.compile(r"\S+\s+\S+\s+\S.*[.!]")  # three words or more, and an end

TEXTS = "text sentence content review message body comment tweet document question utterance"
LABELLED = "label labels class category sentiment intent topic polarity"
VALUES = "value values score rating target y"
SYNONYMS = {  # of what a task wants, the likeliest first
    "text": TEXTS.split(),
    "label": LABELLED.split(),
    "value": VALUES.split(),
    "labels": ["labels", "topics", "genres", "categories", "keywords"],
}
KNOWN = LABELS | TOKENS | PAIR | {"text", "value"}  # names that are read in a way of their own
USUAL = KNOWN | {name for names in SYNONYMS.values() for name in names}
CALLED = """
source target src tgt trg input output question answer prompt response text label from to x y
word translation sentence original corrected singular plural present past infinitive lemma form
spelling pronunciation phonemes date number roman sum result query reply context summary
english german french spanish italian portuguese dutch russian chinese japanese polish czech swedish
danish norwegian finnish hungarian turkish greek arabic hebrew hindi korean latin ukrainian romanian
en de fr es it pt nl ru zh ja pl cs sv da no fi hu tr el ar he hi ko uk ro
"""
PAIRED = frozenset(CALLED.split())  # what columns of pairs are called
SOME = 0.05  # of cells, that begin with a capital though most do not
OTHERS = "id index date time ds timestamp unique_id name title user lang language"
USUAL |= {*OTHERS.split()}


def known_name(name: str) -> str:
    """A name as it is known: Label is label; others stay as they are."""
    plain = name.strip().lower()
    return plain if plain in KNOWN else name


def why_no_header(header: Sequence[str], below: Sequence[Sequence[str]], wants: str = "") -> str:
    """Why the first row cannot name the columns, in words; nothing if it can."""
    cells = [cell.strip() for cell in header[:MOST_COLUMNS]]
    some = list(zip(cells, below))
    if not some or not below[0] or {cell.lower() for cell in cells} & USUAL:
        return ""
    if any(over_another_kind(cell, column) for cell, column in some):
        return ""
    pair = pair_there(some) if wants == "pair" else ""
    return number_there(some) or label_there(some) or text_there(cells) or pair


def pair_there(some: list[tuple[str, Sequence[str]]]) -> str:
    """Words over words are a pair like those below, unless they are names of columns, or the only
    ones with capitals."""
    cells = [cell for cell, _ in some]
    capitals = all(
        cell[:1].isupper() and sum(each[:1].isupper() for each in column) <= SOME * len(column)
        for cell, column in some
    )
    if len(cells) < 2 or names_pair(cells) or capitals:
        return ""
    return f"{' and '.join(map(repr, cells[:2]))} are no names of columns"


def names_pair(cells: Sequence[str]) -> bool:
    """Whether all cells are what columns of pairs are called: `source`, `English sentence`, `tgt_2`."""
    several = [WORDS.findall(cell.lower()) for cell in cells]
    return all(words and PAIRED.issuperset(words) for words in several)


def number_there(some: list[tuple[str, Sequence[str]]]) -> str:
    """A number that stands over numbers names no column, unless numbers count the columns."""
    figures = [cell for cell, column in some if is_figure(cell) and mostly_numbers(column)]
    if figures and not counting(list(map(float, figures))):
        return f"a number stands there: {figures[0]}"
    return ""


def label_there(some: list[tuple[str, Sequence[str]]]) -> str:
    """A cell that comes again in a column of few different ones is a label."""
    for cell, column in some:
        if cell and cell in column and len(set(column)) <= max(1, len(column) // 2):
            return f"{cell!r} comes again below"
    return ""


def text_there(cells: list[str]) -> str:
    """Names are no sentences."""
    for cell in cells:
        if len(cell) > LONG or SENTENCE.fullmatch(cell):
            return "a text stands there"
    return ""


def is_figure(cell: str) -> bool:
    """Whether a cell is a number, and none that is missing."""
    number = number_in(cell)
    return number is not None and math.isfinite(number)


def mostly_numbers(column: Sequence[str]) -> bool:
    """Whether a column is meant to be numbers."""
    return sum(number_in(each) is not None for each in column) >= ENOUGH * len(column)


def over_another_kind(cell: str, column: Sequence[str]) -> bool:
    """Whether a cell is no number and stands over numbers, or has no digit and stands over what
    always has: dates."""
    if not cell or number_in(cell) is not None:
        return False
    digits = sum(any(letter.isdigit() for letter in each) for each in column)
    no_digit = not any(letter.isdigit() for letter in cell)
    return mostly_numbers(column) or (no_digit and digits == len(column) > 1)


def counting(numbers: list[float]) -> bool:
    """Whether numbers go up by one: 0, 1, 2 or 2001, 2002 are names of columns."""
    steps = {b - a for a, b in pairwise(numbers)}
    return len(numbers) > 1 and steps == {1.0}


def guessed_names(columns: Sequence[Sequence[str]], wants: str = "") -> list[str]:
    """Names for columns that have none: the longest texts are `text`; what comes again and again is
    the `label`, or numbers the `value`, if that is wanted; of pairs the first are `source` and
    `target`."""
    names = [f"column{place}" for place in range(1, len(columns) + 1)]
    if len(columns) < 2 or len(columns) > MOST_COLUMNS:
        return names
    numeric = [all(number_in(cell) is not None for cell in column) for column in columns]
    if wants == "pair":
        texts = [place for place, figures in enumerate(numeric) if not figures]
        source, target = texts[:2] if len(texts) > 1 else (0, 1)
        names[source], names[target] = "source", "target"
        return names
    return texts_and_answers(columns, numeric, names, wants)


def texts_and_answers(
    columns: Sequence[Sequence[str]], numeric: list[bool], names: list[str], wants: str
) -> list[str]:
    """The same of texts that have a label or a value each."""
    lengths = [sum(map(len, column)) / len(column) for column in columns]
    longest = max(range(len(columns)), key=lambda place: (not numeric[place], lengths[place]))
    others = [place for place in range(len(columns)) if place != longest]
    if numeric[longest]:
        return names
    if wants == "value":
        chosen = next((place for place in others if numeric[place]), None)
    else:
        different = {place: len(set(columns[place])) for place in others}
        chosen = min(others, key=lambda place: different[place])
        if different[chosen] > len(columns[chosen]) // 2:
            chosen = None
    if chosen is not None:
        names[chosen] = "value" if wants == "value" else "label"
        names[longest] = "text"
    return names
