"""What a file looks like whose ending says nothing, or text: a table of some kind?

Look("columns", "tags")      a word and its tag a line, blank lines between sentences
Look("tsv", "label")         a label, a tab and a text a line
Look("labelled", "label")    lines that begin with their label: LABEL:sub text
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from seriatim.data.files import MARKS, opened
from seriatim.data.formats.tagged import DOCUMENT

HEAD = 1 << 18  # bytes that are looked at
FEWEST = 4  # lines, of which less can be told
LABEL = re.compile(r"[A-Za-z_]+:\w+")


@dataclass(frozen=True)
class Look:
    """What a file may be read as."""

    format: str
    holds: str  # what a task may want of it: label, tags
    words: str


COLUMNS = Look("columns", "tags", "this is a table of words and their tags")
TABLE = Look("tsv", "label", "this is a table, its columns between tabs")
LABELLED = Look("labelled", "label", "its lines begin with a label")


def first_lines(path: str, encoding: str = "") -> list[str]:
    """The lines at the beginning of a file, to look at."""
    with opened(path) as file:
        content = file.read(HEAD)
    marked = next((name for mark, name in MARKS.items() if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(encoding or marked, "replace").removeprefix("\ufeff")
    except LookupError:
        return []
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if len(content) == HEAD or not lines[-1] else lines


def looks_like(path: str, encoding: str = "") -> Look | None:
    """What the first lines of a file are; None where they are text."""
    lines = first_lines(path, encoding)
    written = [line for line in lines if line.strip() and not line.startswith(DOCUMENT)]
    if len(written) < FEWEST:
        return None
    tabs = {line.count("\t") for line in written}
    if tabs == {0}:
        return without_tabs(written, blank=len(written) < len(lines))
    if len(tabs) > 1:
        return None
    rows = [line.split("\t") for line in written]
    if len(written) < len(lines) and are_tagged(rows):
        return COLUMNS
    return TABLE


def without_tabs(lines: list[str], blank: bool) -> Look | None:
    """The same of lines in which there are only blanks between words."""
    rows = [line.split() for line in lines]
    if blank and len({*map(len, rows)}) == 1 and len(rows[0]) > 1 and are_tagged(rows):
        return COLUMNS
    labels = [row[0] for row in rows]
    if all(len(row) > 1 and LABEL.fullmatch(row[0]) for row in rows):
        return LABELLED if len(set(labels)) <= len(labels) // 2 else None
    return None


def are_tagged(rows: list[list[str]]) -> bool:
    """Whether rows have a word first and a tag last: single ones, and few different tags."""
    pairs = [(row[0].strip(), row[-1].strip()) for row in rows]
    single = all(word and tag and " " not in word + tag for word, tag in pairs)
    return single and len({tag for _, tag in pairs}) <= len(pairs) // 2


def fits(path: str, format: str, encoding: str = "") -> bool:
    """Whether a file may be of a format as far as its first lines tell: not if it is plain text."""
    whole = first_lines(path, encoding)
    lines = [line for line in whole if line.strip()]
    if format in ("tsv", "conllu"):
        return all("\t" in line for line in lines if not line.startswith("#"))
    if format == "csv":
        return all("," in line or ";" in line for line in lines)
    if format == "columns":
        words = [line for line in lines if not line.startswith(DOCUMENT)]
        if all("\t" in line for line in words):
            return True
        sizes, parted = {len(line.split()) for line in words}, len(lines) < len(whole)
        return sizes == {2} or (parted and len(sizes) == 1 and max(sizes) in (3, 4))
    return True
