r"""What the symbols of a text do not tell, so that all of it can be charged, written and restored.

    unit word or token    the blanks before each word, given what stands on both sides
    --lower               which words have capitals, given the word and what stands before it
    what is unknown       its letters, one by one, the end included

Each is a small table of counts from the training text, asked through a coder: one function says what
it costs, writes it and reads it again (`seriatim.codecs.arithmetic`). Whatever was never seen is
reached by an escape, in the end to any character of Unicode, so that every text can be restored.
Shapes: K choices.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from seriatim.codecs.arithmetic import Coder, Equal, Frequencies

UNICODE = 0x110000  # number of code points: what an unseen character costs, log(UNICODE)


SOME = 2_000_000  # characters of the training text that are looked at


MOST_BLANKS, MOST_WORDS = 64, 5000  # kinds of blanks, and words with capitals, that are kept


BLANK = re.compile(r"\s*")


RUN = re.compile(
    r"[^\W\d_][\w\u0307]*"
)  # U+0307: what the capital I with a dot leaves behind, lower-cased


ANY = Equal(UNICODE)


ODD = Frequencies([1_000_000, 1])  # whether a text is one that the rules below cannot restore


LOWER, TITLE, UPPER, MIXED, OTHER = range(5)  # how a word is written


Counts = Mapping[str, Mapping[str, int]]


class Mismatch(Exception):
    """A text that does not follow from its symbols by the rules: it is written letter by letter."""


class Letters:
    """A string letter by letter, each as frequent as in training: its end, an escape, the letters."""

    def __init__(self, counts: Mapping[str, int]):
        self.letters = [letter for letter in counts if letter]
        self.number = {letter: i for i, letter in enumerate(self.letters, 2)}
        seen = [counts[letter] + 1 for letter in self.letters]
        self.frequencies = Frequencies([counts.get("", 0) + 1, 1, *seen])

    def write(self, coder: Coder, text: str | None) -> str:
        """Write a text, or read one."""
        wanted: Iterator[str] | None = None if text is None else iter(text)
        found: list[str] = []
        while True:
            letter = None if wanted is None else next(wanted, "")
            number = None if letter is None else self.number.get(letter, 1) if letter else 0
            number = coder.choose(self.frequencies, number)
            if not number:
                return "".join(found)
            if number == 1:
                found.append(chr(coder.choose(ANY, ord(letter) if letter else None)))
            else:
                found.append(self.letters[number - 2])


class Table:
    """p(choice | context) from counts, mixed with p(choice): as much as there are different choices
    after the context (Witten and Bell 1991)."""

    def __init__(self, counts: Counts, choices: list[str]):
        self.counts, self.number = counts, {choice: i for i, choice in enumerate(choices)}
        whole = np.full(len(choices), 0.5)  # (K,)
        for seen in counts.values():
            whole += self.column(seen)
        self.whole, self.known = whole / whole.sum(), dict[str, Frequencies]()

    def column(self, seen: Mapping[str, int]) -> np.ndarray:
        """(K,) the counts of all choices; those that are not among them count for the last."""
        found = np.zeros(len(self.number))
        for choice, n in seen.items():
            found[self.number.get(choice, len(found) - 1)] += n
        return found

    def after(self, context: str) -> Frequencies:
        """What is expected after a context."""
        if context not in self.known:
            self.known[context] = Frequencies.of(self.p(self.counts.get(context, {}), self.whole))
        return self.known[context]

    def p(self, seen: Mapping[str, int], lower: np.ndarray) -> np.ndarray:
        """(K,) counts mixed with what is expected anyway."""
        column, kinds = self.column(seen), max(1, len(seen))
        return (column + kinds * lower) / (column.sum() + kinds)


class Blanks:
    """What stands between two words. The context: what kind of character stands before and behind,
    and with what the blanks before the word before began."""

    def __init__(self, counts: Counts):
        self.counts, whole = counts, Counter({"": 1, " ": 1, "\n": 1})
        for seen in counts.values():
            whole.update(seen)
        self.kinds = sorted(whole, key=lambda blanks: (-whole[blanks], blanks))[:MOST_BLANKS]
        self.table = Table(counts, [*self.kinds, "other"])
        letters = Counter[str]()
        for blanks, n in whole.items():
            letters.update({"": n} | {letter: n * blanks.count(letter) for letter in blanks})
        self.letters = Letters(letters)

    def write(self, coder: Coder, context: str, blanks: str | None) -> str:
        """Write what stands there, or read it."""
        other = len(self.kinds)
        number = None if blanks is None else self.table.number.get(blanks, other)
        number = coder.choose(self.table.after(context), number)
        return self.kinds[number] if number < other else self.letters.write(coder, blanks)


def count_blanks(
    counts: dict[str, Counter[str]], text: str, words: Iterable[re.Match[str]]
) -> None:
    """Count the blanks of a text, before its words and behind the last one."""
    place, before, blanks = 0, "", ""
    for word in words:
        context = context_of(before, blanks, word[0])
        blanks = text[place : word.start()]
        counts[context][blanks] += 1
        place, before = word.end(), word[0]
    counts[context_of(before, blanks, "")][text[place:]] += 1


def context_of(before: str, blanks: str, word: str) -> str:
    """What the blanks between two words depend on."""
    return kind_of(before[-1:]) + kind_of(word[:1]) + blanks[:1]


def kind_of(character: str) -> str:
    """Letters and digits are alike, marks are themselves; nothing is a line."""
    return "|" if not character else "a" if character.isalnum() else character


class Case:
    """How lower-cased words were written. The context: the mark before the word and how the word
    before was written; then the word itself."""

    def __init__(self, places: Counts, words: Counts):
        self.places, self.words = places, words
        self.table, self.known = Table(places, list("01234")), dict[str, Frequencies]()

    def write(self, coder: Coder, low: str, raw: str | None, letters: Letters) -> str:
        """Write how the words of a lower-cased text were written, or read it; the text as it was."""
        if raw is None:
            return self.read(coder, low, letters)
        for context, run, written in runs_of(low, raw):
            self.word(coder, context, run, written, letters)
        return raw

    def read(self, coder: Coder, low: str, letters: Letters) -> str:
        """The text as it was."""
        parts, place, last = [], 0, LOWER
        for run in RUN.finditer(low):
            context = place_of(low, run.start(), last)
            last, written = self.word(coder, context, run[0], None, letters)
            parts += [low[place : run.start()], written]
            place = run.end()
        return "".join([*parts, low[place:]])

    def word(
        self, coder: Coder, context: str, low: str, written: str | None, letters: Letters
    ) -> tuple[int, str]:
        """Write how one word was written, or read it; in which way, and the word."""
        way = None if written is None else way_of(written, low)
        way = coder.choose(self.expected(context, low), way)
        return way, self.write_word(coder, way, low, written, letters)

    def expected(self, context: str, word: str) -> Frequencies:
        """How a word is expected to be written."""
        if word not in self.words:
            return self.table.after(context)
        key = f"{context} {word}"
        if key not in self.known:
            lower = self.table.p(self.places.get(context, {}), self.table.whole)
            self.known[key] = Frequencies.of(self.table.p(self.words[word], lower))
        return self.known[key]

    def write_word(
        self, coder: Coder, way: int, low: str, written: str | None, letters: Letters
    ) -> str:
        """What is still open once it is known how a word is written."""
        if way == OTHER:
            return letters.write(coder, written)
        if way != MIXED:
            return (low, low[:1].upper() + low[1:], low.upper())[way]
        capital = [
            coder.choose(Equal(2), None if written is None else int(written[i] != letter))
            for i, letter in enumerate(low)
        ]
        return "".join(a.upper() if big else a for a, big in zip(low, capital, strict=True))


def count_capitals(
    places: dict[str, Counter[str]], words: dict[str, Counter[str]], low: str, raw: str
) -> None:
    """Count how words are written: by what stands before them, and by themselves."""
    try:
        for context, word, written in runs_of(low, raw):
            way = str(way_of(written, word))
            places[context][way] += 1
            words[word][way] += 1
    except Mismatch:  # what came before it counts
        return


def capitalised(words: Mapping[str, Counter[str]]) -> Counts:
    """The most frequent words that are not always written small."""
    kept = [word for word, seen in words.items() if set(seen) != {str(LOWER)}]
    kept.sort(key=lambda word: (-words[word].total(), word))
    return {word: words[word] for word in kept[:MOST_WORDS]}


def way_of(written: str, low: str) -> int:
    """How a word is written."""
    if written == low:
        return LOWER
    if written == low[:1].upper() + low[1:]:
        return TITLE
    if written == low.upper():
        return UPPER
    pairs = list(zip(written, low, strict=False))
    mixed = len(written) == len(low) and all(a in (b, b.upper()) for a, b in pairs)
    return MIXED if mixed else OTHER


def runs_of(low: str, raw: str) -> Iterator[tuple[str, str, str]]:
    """The words of a lower-cased text: their context, they themselves, and as they were written."""
    starts: Any = range(len(low) + 1)  # where each place of the lower-cased text was before
    if len(raw) != len(low):
        lengths = [len(letter.lower()) for letter in raw]
        starts = np.append(np.repeat(np.arange(len(raw)), lengths), len(raw)).tolist()
    last, place = LOWER, 0
    for run in RUN.finditer(low):
        if raw[starts[place] : starts[run.start()]] != low[place : run.start()]:
            raise Mismatch
        written = raw[starts[run.start()] : starts[run.end()]]
        yield place_of(low, run.start(), last), run[0], written
        last, place = way_of(written, run[0]), run.end()
    if raw[starts[place] :] != low[place:]:
        raise Mismatch


def place_of(low: str, place: int, last: int) -> str:
    """What the capitals of a word depend on: the two characters before it, letters and digits being
    alike, and how the word before was written."""
    return "".join(map(kind_of, low[max(0, place - 2) : place])) + str(last)


class Side:
    """All of it, as one value: counts of blanks, of places and of words with capitals."""

    def __init__(self, blanks: Counts, places: Counts, words: Counts):
        self.blanks, self.case = Blanks(blanks), Case(places, words)

    def to_json(self) -> dict[str, Any]:
        """What is kept."""
        return {"blanks": self.blanks.counts, "places": self.case.places, "words": self.case.words}

    @classmethod
    def from_json(cls, record: Any) -> Side:
        """The same from a record, checked."""
        tables = [record[name] for name in ("blanks", "places", "words")]
        for table in tables:
            check_counts(table)
        return cls(*tables)


def check_counts(table: Any) -> None:
    """Raises ValueError unless this is a table of counts."""
    sound = isinstance(table, dict) and all(
        isinstance(seen, dict)
        and all(isinstance(n, int) and 0 <= n < 1 << 40 for n in seen.values())
        for seen in table.values()
    )
    if not sound:
        raise ValueError("its counts of blanks and capitals are not counts")
