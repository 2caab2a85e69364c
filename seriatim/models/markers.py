"""What can be seen in a text itself, symbol by symbol: what a hidden unit may have learned to follow.

    quote      1 inside quotation marks: between " and ", “ and ”, « and »; a blank line ends them
    bracket    1 inside ( ), [ ] or { }
    line       how many characters stand before it in its line
    word       how many letters and digits of its word were read, itself included; 0 between words
    capital    1 of capital letters
    digit      1 of digits

A symbol of several characters has the value of its last one, and of `capital` and `digit` 1 if any
character is one. All know the past alone, as a model that reads forwards does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

OPENING, CLOSING, EITHER = "“«", "”»", '"'
INWARD, OUTWARD = "([{", ")]}"


def quote(text: Sequence[str]) -> Iterator[float]:
    """Whether each character stands inside quotation marks: the first is inside, the last is not."""
    inside, before = False, ""
    for letter in text:
        if letter in OPENING:
            inside = True
        elif letter in CLOSING or (letter == before == "\n"):
            inside = False
        elif letter == EITHER:
            inside = not inside
        before = letter
        yield float(inside)


def bracket(text: Sequence[str]) -> Iterator[float]:
    """Whether any bracket is open; what closes nothing is passed over."""
    deep = 0
    for letter in text:
        deep = deep + 1 if letter in INWARD else max(0, deep - 1) if letter in OUTWARD else deep
        yield float(deep > 0)


def line(text: Sequence[str]) -> Iterator[float]:
    """The place in the line; its end is its last place."""
    place = 0
    for letter in text:
        yield float(place)
        place = 0 if letter == "\n" else place + 1


def word(text: Sequence[str]) -> Iterator[float]:
    """The place in the word, from 1 on; 0 between words."""
    place = 0
    for letter in text:
        place = place + 1 if letter.isalnum() else 0
        yield float(place)


def capital(text: Sequence[str]) -> Iterator[float]:
    """Which characters are capital letters."""
    return (float(letter.isupper()) for letter in text)


def digit(text: Sequence[str]) -> Iterator[float]:
    """Which characters are digits."""
    return (float(letter.isdigit()) for letter in text)


MARKERS: dict[str, Callable[[Sequence[str]], Iterator[float]]] = {
    "quote": quote,
    "bracket": bracket,
    "line": line,
    "word": word,
    "capital": capital,
    "digit": digit,
}
ANYWHERE = ("capital", "digit")  # of a symbol that has one, wherever in it


def marked(symbols: Sequence[str], marker: str, apart: bool = False) -> list[float]:
    """The value of each symbol; between those that stand `apart`, such as words, is a blank.

    >>> marked(list('a "b"'), "quote"), marked(["f", "(", "x)", "12"], "bracket")
    ([0.0, 0.0, 1.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0])
    >>> marked(list("ab\\nc"), "line"), marked([" the", " Cat"], "word"), marked([" Cat"], "capital")
    ([0.0, 1.0, 2.0, 0.0], [3.0, 3.0], [1.0])
    """
    between = " " if apart else ""
    found = list(MARKERS[marker](between.join(symbols)))
    values, begin, choose = [], 0, max if marker in ANYWHERE else last
    for each in symbols:
        end = begin + len(each)
        values.append(choose(found[begin:end]) if each else 0.0)
        begin = end + len(between)
    return values


def last(values: Sequence[float]) -> float:
    """The value of the last character."""
    return values[-1]
