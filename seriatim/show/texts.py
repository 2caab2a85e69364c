"""A text as a picture: its symbols in lines of boxes, a box for each letter, on grounds that tell
something of them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from seriatim.show.charts import Row, readable
from seriatim.show.tables import visible

COLUMNS, LINES = 60, 60  # letters in a line of a picture of text, and lines
LETTER, HIGH = 6.0, 17  # pixels of a letter's box
APART = ("word", "token")  # units between which there is a blank


def named_in_text(symbol: str) -> str:
    """A symbol as it stands in a text that is drawn."""
    return readable(visible(symbol))


def laid(names: Sequence[str], apart: bool, breaks: bool = True) -> Iterator[Row]:
    """A box for each letter of some symbols: the place of its symbol, from 1 on, its line and its
    column. Lines are as long as there is room, and are broken at blanks, and where (breaks) they end
    in the text."""
    line, column = 0, 0
    needed = needs(names, apart)
    for place, name in enumerate(names, 1):
        cells = boxed(name)[:COLUMNS]
        wide = 0 if name in (" ", "⏎") else sum(each for _, each in cells)  # they may hang over
        if column + wide > COLUMNS or (column and column + needed[place - 1] > COLUMNS):
            line, column = line + 1, 0
        for letter, many in cells:
            for more in range(many):
                shown = "" if more else letter
                yield {"place": place, "line": line, "column": column, "letter": shown}
                column += 1
        ends = breaks and name.endswith("⏎")
        line, column = (line + 1, 0) if ends else (line, column + apart)


def needs(names: Sequence[str], apart: bool) -> list[int]:
    """Boxes up to the end of the word that a symbol begins, where lines may be broken before it: at
    blanks, or between words that stand apart. Elsewhere 0, as of words longer than a line."""
    found = [0] * len(names)
    if apart:
        return found
    long = 0
    for place in range(len(names) - 1, -1, -1):
        name = names[place]
        if name[-1:] in (" ", "⏎"):  # a blank may stand at the end of a line
            long = 0
        long += sum(wide for _, wide in boxed(name.rstrip(" ⏎")))
        begins = name.startswith(" ") or not place or names[place - 1][-1:] in (" ", "⏎")
        if begins:
            found[place] = long if long <= COLUMNS else 0
            long = 0
    return found


def boxed(name: str) -> list[tuple[str, int]]:
    """Letters with the boxes that each takes: marks belong to the letter before them, and the signs
    of Chinese and such take two.

    >>> boxed("né"), len(boxed("e\\u0301")), boxed("中")
    ([('n', 1), ('é', 1)], 1, [('中', 2)])
    """
    found: list[tuple[str, int]] = []
    for letter in name:
        if unicodedata.combining(letter) and found:
            found[-1] = found[-1][0] + letter, found[-1][1]
        else:
            found.append((letter, 2 if unicodedata.east_asian_width(letter) in "WF" else 1))
    return found
