"""Lines of tagged sentences: where the cells of a word stand in its line, so that each can be read
and replaced.

    joint.join(cells(line)) == line

CoNLL-U (universaldependencies.org/format.html) has ten columns between tabs; plain columns have the token
first and the tag last, between tabs where a line has any, else between blanks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

WORD = re.compile(r"[0-9]+")  # 7


NOT_A_WORD = re.compile(
    r"[0-9]+[-.][0-9]+"
)  # 7-8, the surface form of two words; 7.1, a word left unsaid


DOCUMENT = "-DOCSTART-"  # begins the line between two documents, which is no word


def conllu_cells(line: str) -> list[str] | None:
    """The ten cells of a word; None for a comment, a range of words or an empty node."""
    if line.startswith("#"):
        return None
    cells = line.split("\t")
    if len(cells) != 10:
        raise ValueError(f"a CoNLL-U line has 10 columns between tabs, this one has {len(cells)}")
    if NOT_A_WORD.fullmatch(cells[0]):
        return None
    if not WORD.fullmatch(cells[0]):
        raise ValueError("a CoNLL-U line begins with the number of its word")
    return cells


def columns_cells(line: str) -> list[str] | None:
    """Five pieces: what stands before the token, the token, what stands between, the tag, what
    stands behind; None for the mark between two documents."""
    if line.startswith(DOCUMENT):
        return None
    separator = "\t" if "\t" in line else None
    first, *more = line.split(separator, 1)
    if not more:
        raise ValueError(
            "a line needs a token and a tag with a blank or a tab between them, this one has a "
            "single column"
        )
    last = more[0].rsplit(separator, 1)[-1]
    token, tag = first.strip(), last.strip()
    if not token or not tag:
        raise ValueError("the token or its tag is empty")
    start, end = len(line) - len(line.lstrip()), len(line.rstrip())
    stop, begin = start + len(token), end - len(tag)
    return [line[:start], token, line[stop:begin], tag, line[end:]]


@dataclass(frozen=True)
class Layout:
    """How a format writes a word."""

    cells: Callable[
        [str], list[str] | None
    ]  # of a line without its ending; ValueError for what is no such line
    joint: str
    place: dict[str, int]  # of each column among the cells
    pair: tuple[str, str]  # the columns read as tokens and as tags unless others are named


CONLLU = ("form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")


FORM, TAG = "form tag".split()  # noqa: SIM905


LAYOUTS = {
    "conllu": Layout(
        conllu_cells, "\t", {name: place for place, name in enumerate(CONLLU, 1)}, ("form", "upos")
    ),
    "columns": Layout(columns_cells, "", {FORM: 1, TAG: 3}, (FORM, TAG)),
}
