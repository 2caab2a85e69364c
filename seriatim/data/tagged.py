"""Tagged sentences: a token a line, a blank line between sentences. Lines in, `tokens` and `tags` out.

CoNLL-U keeps the word form in column 2 of 10 and the universal tag in column 4; plain columns keep the
token first and the tag last.
"""
from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import numpy as np

from seriatim.data.sequences import Field
from seriatim.errors import DataError

WORD = re.compile(r"[0-9]+")                        # 7
NOT_A_WORD = re.compile(r"[0-9]+[-.][0-9]+")        # 7-8, the surface form of two words; 7.1, a word left unsaid


def conllu_pair(line: str) -> tuple[str, str] | None:
    """Form and universal tag of a CoNLL-U line; None for a comment, a range of words or an empty node."""
    if line.startswith("#"):
        return None
    cells = line.split("\t")
    if len(cells) != 10:
        raise ValueError(f"a CoNLL-U line has 10 columns between tabs, this one has {len(cells)}")
    if NOT_A_WORD.fullmatch(cells[0]):
        return None
    if not WORD.fullmatch(cells[0]):
        raise ValueError("a CoNLL-U line begins with the number of its word")
    return cells[1], cells[3]


def columns_pair(line: str) -> tuple[str, str]:
    """First and last column of a line, between tabs where it has any, else between blanks."""
    cells = line.split("\t") if "\t" in line else line.split()
    if len(cells) < 2:
        raise ValueError("a line needs a token and a tag, this one has a single column")
    return cells[0].strip(), cells[-1].strip()


def tagged(lines: Iterable[str], pair_of: Callable[[str], tuple[str, str] | None],
           file: str) -> tuple[dict[str, Field], np.ndarray]:
    """The fields of tagged sentences, and the line of the first token of each."""
    tokens: list[list[str]] = []
    tags: list[list[str]] = []
    first: list[int] = []
    inside = False
    for number, line in enumerate(lines, 1):
        if not line.strip():
            inside = False
            continue
        try:
            pair = pair_of(line)
            if pair and not all(pair):
                raise ValueError("the token or its tag is empty")
        except ValueError as error:
            raise DataError(str(error), got=line, file=file, line=number) from None
        if pair:
            if not inside:
                inside = True
                tokens.append([])
                tags.append([])
                first.append(number)
            tokens[-1].append(pair[0])
            tags[-1].append(pair[1])
    return {"tokens": Field.of_symbols(tokens), "tags": Field.of_symbols(tags)}, np.array(first, np.int64)
