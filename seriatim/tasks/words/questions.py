"""Files that word vectors are judged by: analogies, and similarities as people see them.

    analogies       ": capitals", the name of a section, then four words a line: Athens Greece Oslo Norway
    similarities    word, word and score a line, with commas, tabs or blanks between

Shapes: Q questions.
"""

from __future__ import annotations

import csv

import numpy as np

from seriatim.data.columns import number_in
from seriatim.data.files import lines_of
from seriatim.errors import DataError, nearest


def begins_with_a_section(path: str) -> bool:
    """Whether a file is one of analogies, not of similarities."""
    return next((line for line in lines_of(path) if line.strip()), "").lstrip().startswith(":")


def check_questions(path: str) -> None:
    """Refuse a file that words cannot be evaluated on."""
    (read_questions if begins_with_a_section(path) else read_pairs)(path)


def read_questions(path: str) -> tuple[list[str], np.ndarray, list[str]]:
    """The names of the sections, (Q,) the section of each question, and the words, four for each
    question."""
    sections: dict[str, int] = {}
    section, words, current = [], [], None
    for line, text in enumerate(lines_of(path), 1):
        pieces = text.split()
        if pieces and pieces[0].startswith(":"):
            name = text.strip()[1:].strip()
            current = sections.setdefault(name, len(sections))
        elif len(pieces) == 4:
            current = sections.setdefault("unnamed", len(sections)) if current is None else current
            section.append(current)
            words += pieces
        elif pieces:
            raise DataError(
                f"a question has four words, not {len(pieces)}",
                got=text,
                file=path,
                line=line,
                do='Write "Athens Greece Oslo Norway", and ": capitals" above the questions of a section',
            )
    if not section:
        raise DataError(
            "the file holds no question",
            file=path,
            do='Write four words a line, for instance "Athens Greece Oslo Norway"',
        )
    return list(sections), np.array(section), words


def read_pairs(path: str, column: str | None = None) -> list[tuple[str, str, float]]:
    """Word, word and score of each line; other columns, lines that begin with #, and a header are
    passed over. Without a name the third column has the scores."""
    lines = [
        (line, text)
        for line, text in enumerate(lines_of(path), 1)
        if text.strip() and not text.startswith("#")
    ]
    rows = [(line, cells_of(text, lines[0][1], path, line)) for line, text in lines]
    names = rows[0][1][2:] if rows else []
    place, pairs = 2 if column is None else column_of(column, names, path), []
    form = "Each line is word, word, score"
    if len(names) > 1:
        form += f"; or name the column of the scores with --column: {', '.join(names)}"
    for line, cells in rows[column is not None :]:
        if len(cells) <= place or not all(cells[:2]):
            raise DataError(
                "two words and a score are expected",
                got=" ".join(cells),
                file=path,
                line=line,
                do=form,
            )
        score = number_in(cells[place])
        if score is not None and np.isfinite(score):
            pairs.append((cells[0], cells[1], score))
        elif line > lines[0][0]:  # the first line may be a header
            raise DataError(
                "the score is not a number", got=repr(cells[place]), file=path, line=line, do=form
            )
    if not pairs:
        raise DataError("the file holds no pair of words with a score", file=path, do=form)
    return pairs


def column_of(name: str, names: list[str], path: str) -> int:
    """The place of a column, whose name stands behind the two words of the header."""
    if name not in names:
        raise DataError(
            f"there is no column {name!r} behind the two words", file=path, do=nearest(name, names)
        )
    return 2 + names.index(name)


def cells_of(text: str, first: str, path: str, line: int) -> list[str]:
    """A line cut at tabs, commas or blanks, as the first line of the file has them."""
    if "," not in first or "\t" in first:
        return [cell.strip() for cell in text.split("\t" if "\t" in first else None)]
    try:
        return [cell.strip() for cell in next(csv.reader([text], strict=True))]
    except csv.Error as error:
        raise DataError(
            "this row is not valid csv",
            got=error,
            file=path,
            line=line,
            do="Close the quotes, and double those inside",
        ) from None
