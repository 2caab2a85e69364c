"""Generated pairs of source and target, for the task translate: every target is known to the letter.

    copy, reverse, sort    letters -> the same letters, in this order, from the end, or by rank
    dates                  a date as people write it, in ten languages and in numbers -> 2024-03-07
    roman                  MCMXCIV -> 1994, or the other way

Unlike the sources of `sources.py` they come in pairs, and a target follows from its source without
a doubt. Copying and sorting are from Graves, Wayne and Danihelka, Neural Turing Machines (2014),
reversing from Grefenstette et al., Learning to Transduce with Unbounded Memory (2015).

    generate_pairs("reverse:length=25,count=20000,seed=1")

Sources are distinct by construction: their numbers are drawn without replacement, then written out.
Shapes: S pairs, N letters of all sources, L lengths, V letters of the alphabet.
"""

from __future__ import annotations

import string
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from math import log2

import numpy as np

from seriatim.data.corpora.sources import MOST_LENGTH, MOST_SEED, generate
from seriatim.data.sequences import SYMBOLS, Field, Sequences, offsets_of
from seriatim.errors import ConfigError
from seriatim.settings import option

LETTERS = string.ascii_lowercase + string.ascii_uppercase + string.digits


MOST_COUNT = 1_000_000  # pairs in one sample


class Pairs(ABC):
    """What all of them share: the pairs follow from the generator given to `sample`."""

    seed: int

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> Sequences:
        """Fields called `source` and `target`."""


# LetterPairs in another order


@dataclass(frozen=True)
class LetterPairs(Pairs):
    """Letters drawn one by one, and what becomes of them. Lengths are uniform, but for short ones
    of which there are not so many."""

    count: int = option(20_000, "pairs in a sample", least=1, most=MOST_COUNT)
    least: int = option(1, "letters of the shortest source", least=1, most=10_000)
    length: int = option(25, "letters of the longest source", least=1, most=10_000)
    symbols: int = option(
        26,
        "size of the alphabet: small letters, then capitals, then digits",
        least=2,
        most=len(LETTERS),
    )
    seed: int = option(
        0, "random numbers: the sources of `generate_pairs`", least=0, most=MOST_SEED
    )

    def __post_init__(self) -> None:
        if self.least > self.length:
            raise ConfigError(
                "least must be at most length", got=f"{self.least} and {self.length}", do="Set both"
            )
        if self.count * self.length > MOST_LENGTH:
            raise ConfigError(
                f"count * length must be at most {MOST_LENGTH}", got=self, do="Lower one of them"
            )
        if self.room.sum() < self.count:
            raise ConfigError(
                f"there are only {self.room.sum()} different sources",
                got=self,
                do="Lower count, or raise length or symbols",
            )

    @property
    def alphabet(self) -> tuple[str, ...]:
        """In the order of `sorted`."""
        return tuple(sorted(LETTERS[: self.symbols]))

    @cached_property
    def lengths(self) -> np.ndarray:
        """(L,) the lengths a source may have."""
        return np.arange(self.least, self.length + 1)  # (L,)

    @property
    def begin(self) -> int:
        """So many letters are a number of at most 62 bits."""
        return int(62 / log2(self.symbols))

    @cached_property
    def room(self) -> np.ndarray:
        """How many sources of each length there are, V ** length, or enough of them: (L,)."""
        return np.minimum(self.symbols ** np.minimum(self.lengths, self.begin), self.count)

    def sample(self, rng: np.random.Generator) -> Sequences:
        """Different rows of letters in any order, each with its target."""
        many = self.many(rng)
        rows = [
            self.rows(size, length, rng).ravel()
            for size, length in zip(many.tolist(), self.lengths.tolist())
        ]
        letters = Field(
            np.concatenate(rows, dtype=np.int32),
            offsets_of(np.repeat(self.lengths, many)),
            SYMBOLS,
            self.alphabet,
        )
        source = letters.take(rng.permutation(self.count))
        return Sequences(
            {"source": source, "target": replace(source, values=self.rewritten(source))},
            unit="token",
            origin=repr(self),
        )

    def many(self, rng: np.random.Generator) -> np.ndarray:
        """How many sources have each length: (L,). What finds no room is drawn again from the
        lengths that have some left."""
        many = np.zeros_like(self.lengths)
        while missing := self.count - many.sum():
            free = many < self.room
            many = np.minimum(many + rng.multinomial(missing, free / free.sum()), self.room)
        return many

    def rows(self, size: int, length: int, rng: np.random.Generator) -> np.ndarray:
        """Different rows of letters: (size, length). Already their beginnings differ."""
        begin = min(length, self.begin)
        number = rng.choice(self.symbols**begin, size, replace=False)  # (size,)
        first = number[:, None] // self.symbols ** np.arange(begin) % self.symbols  # (size, begin)
        return np.hstack([first, rng.integers(self.symbols, size=(size, length - begin))])

    @abstractmethod
    def rewritten(self, source: Field) -> np.ndarray:
        """The letters of all targets, which are as long as their sources: (N,)."""


class Copy(LetterPairs):
    """The target is the source: what can be kept at all?"""

    def rewritten(self, source: Field) -> np.ndarray:
        """The same letters."""
        return source.values


class Reverse(LetterPairs):
    """The target is the source read from its end: the first letter is needed last."""

    def rewritten(self, source: Field) -> np.ndarray:
        """The letters of each source from its end."""
        ends = source.offsets[:-1] + source.offsets[1:] - 1  # (S,) first place + last place
        return source.values[np.repeat(ends, source.lengths) - np.arange(len(source.values))]


class Sort(LetterPairs):
    """The target has the letters of the source in the order of `sorted`: nothing of their own order
    is needed."""

    def rewritten(self, source: Field) -> np.ndarray:
        """The letters of each source in order."""
        return source.values[
            np.lexsort((source.values, np.repeat(np.arange(len(source)), source.lengths)))
        ]


# Roman numerals

NUMERALS = {
    "M": 1000,
    "CM": 900,
    "D": 500,
    "CD": 400,
    "C": 100,
    "XC": 90,
    "L": 50,
    "XL": 40,
    "X": 10,
    "IX": 9,
    "V": 5,
    "IV": 4,
    "I": 1,
}


MOST_NUMERAL = 3999


def numeral(number: int) -> str:
    """1994 -> "MCMXCIV"."""
    written = ""
    for letters, value in NUMERALS.items():
        times, number = divmod(number, value)
        written += letters * times
    return written


def texts(pairs: Iterable[tuple[str, str]], origin: object) -> Sequences:
    """Pairs of text, to be read by character."""
    source, target = zip(*pairs)
    return Sequences(
        {"source": Field.of_text(source), "target": Field.of_text(target)},
        unit="character",
        origin=repr(origin),
    )


@dataclass(frozen=True)
class Roman(Pairs):
    """Numbers up to 3999, as the Romans wrote them and as we do."""

    count: int = option(MOST_NUMERAL, "pairs in a sample", least=1, most=MOST_NUMERAL)
    direction: str = option("to-number", "what is the target", choices=("to-number", "from-number"))
    seed: int = option(0, "random numbers: the order of `generate_pairs`", least=0, most=MOST_SEED)

    def sample(self, rng: np.random.Generator) -> Sequences:
        """Different numbers in any order, both ways of writing them side by side."""
        numbers = 1 + rng.permutation(MOST_NUMERAL)[: self.count]
        pairs = [(numeral(number), str(number)) for number in numbers.tolist()]
        return texts(
            pairs if self.direction == "to-number" else [pair[::-1] for pair in pairs], self
        )


# Dates

NUMBERS = " ".join(map(str, range(1, 32)))


@dataclass(frozen=True)
class Language:
    """The forms of a date, and the names they put in: of months, of weekdays from Monday on, of the
    days of a month."""

    forms: tuple[str, ...]
    months: str = NUMBERS
    weekdays: str = NUMBERS
    ordinals: str = NUMBERS


# No two forms give the same text: Italian would say "7 novembre 2024" as French does without "le".
LANGUAGES = {
    "English": Language(
        (
            "{month} {day}, {year}",
            "{day} {month} {year}",
            "{ordinal} of {month} {year}",
            "{weekday}, {day} {month} {year}",
            "{weekday}, {month} {ordinal}, {year}",
        ),
        "January February March April May June July August September October November December",
        "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
        "1st 2nd 3rd 4th 5th 6th 7th 8th 9th 10th 11th 12th 13th 14th 15th 16th "
        "17th 18th 19th 20th 21st 22nd 23rd 24th 25th 26th 27th 28th 29th 30th 31st",
    ),
    "English, short": Language(
        ("{month} {day} {year}", "{day}-{month}-{year}"),
        "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
    ),
    "German": Language(
        ("{day}. {month} {year}", "{weekday}, den {day}. {month} {year}"),
        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
    ),
    "French": Language(
        ("le {ordinal} {month} {year}", "{weekday} {ordinal} {month} {year}"),
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
        "1er" + NUMBERS[1:],
    ),
    "Spanish": Language(
        ("el {day} de {month} de {year}", "{weekday} {day} de {month} de {year}"),
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "lunes martes miércoles jueves viernes sábado domingo",
    ),
    "Portuguese": Language(
        ("{day} de {month} de {year}", "{weekday}, {day} de {month} de {year}"),
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo",
    ),
    "Italian": Language(
        ("{ordinal} {month} {year}", "{weekday} {ordinal} {month} {year}"),
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        "lunedì martedì mercoledì giovedì venerdì sabato domenica",
        "1º" + NUMBERS[1:],
    ),
    "Dutch": Language(
        ("{day} {month} {year}", "{weekday} {day} {month} {year}"),
        "januari februari maart april mei juni juli augustus september oktober november december",
        "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    ),
    "Swedish": Language(
        ("den {day} {month} {year}", "{weekday} {day} {month} {year}"),
        "januari februari mars april maj juni juli augusti september oktober november december",
        "måndag tisdag onsdag torsdag fredag lördag söndag",
    ),
    "Polish": Language(
        ("{day} {month} {year} r.", "{weekday}, {day} {month} {year} r."),
        "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
        "poniedziałek wtorek środa czwartek piątek sobota niedziela",
    ),
    "Japanese": Language(
        ("{year}年{month}月{day}日", "{year}年{month}月{day}日({weekday})"),
        weekdays="月 火 水 木 金 土 日",
    ),
    "Roman": Language(("{day}.{month}.{year}",), "I II III IV V VI VII VIII IX X XI XII"),
    "numbers": Language(
        ("{day:02}.{month:0>2}.{year}", "{month:0>2}/{day:02}/{year}", "{year}/{month}/{day}")
    ),
}


FORMS = [(language, form) for language in LANGUAGES.values() for form in language.forms]


def written(day: date, language: Language, form: str) -> str:
    """A day in one form of a language."""
    return form.format(
        day=day.day,
        month=language.months.split()[day.month - 1],
        year=day.year,
        weekday=language.weekdays.split()[day.weekday()],
        ordinal=language.ordinals.split()[day.day - 1],
    )


@dataclass(frozen=True)
class Dates(Pairs):
    """Any day of the years given, in any of the forms above; the target is that of ISO 8601."""

    count: int = option(20_000, "pairs in a sample", least=1, most=MOST_COUNT)
    first: int = option(
        1900, "first year", least=1583, most=9999
    )  # the first whole year of the calendar
    last: int = option(2099, "last year", least=1583, most=9999)
    seed: int = option(0, "random numbers: the dates of `generate_pairs`", least=0, most=MOST_SEED)

    def __post_init__(self) -> None:
        if self.first > self.last:
            raise ConfigError(
                "first must be at most last", got=f"{self.first} and {self.last}", do="Set both"
            )
        if self.days * len(FORMS) < self.count:
            raise ConfigError(
                f"there are only {self.days * len(FORMS)} different sources",
                got=self,
                do="Lower count, or give more years",
            )

    @property
    def begin(self) -> int:
        """The first day there is, counted as `date.toordinal` does."""
        return date(self.first, 1, 1).toordinal()

    @property
    def days(self) -> int:
        """How many days there are."""
        return date(self.last, 12, 31).toordinal() - self.begin + 1

    def sample(self, rng: np.random.Generator) -> Sequences:
        """Different pairs of a day and a form, written out."""
        places, forms = np.divmod(
            rng.choice(self.days * len(FORMS), self.count, replace=False), len(FORMS)
        )  # (S,) both
        days = [date.fromordinal(self.begin + place) for place in places.tolist()]
        return texts(
            (
                (written(day, *FORMS[form]), day.isoformat())
                for day, form in zip(days, forms.tolist())
            ),
            self,
        )


PAIRS: dict[str, type[Pairs]] = {
    "copy": Copy,
    "reverse": Reverse,
    "sort": Sort,
    "dates": Dates,
    "roman": Roman,
}


def generate_pairs(description: str) -> Sequences:
    """The pairs described, always the same ones; `draw=2` gives others."""
    return generate(description, PAIRS)
