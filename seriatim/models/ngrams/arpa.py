"""ARPA files, the common tongue of n-gram models: what KenLM and SRILM write we read, and what we
write they read.

    \\data\\
    ngram 1=4                           how many n-grams of each length
    ngram 2=1

    \\1-grams:
    -0.7<TAB><unk><TAB>0                log10 p(w), the word, log10 g of the word as a context
    0<TAB><s><TAB>-0.3                  never predicted, its p means nothing
    -0.5<TAB></s><TAB>0
    -0.2<TAB>cat<TAB>-0.1

    \\2-grams:
    -0.4<TAB><s> cat                    the longest n-grams are no contexts

    \\end\\

Both ways go through whole blocks of lines as arrays; only the names of different words, and
whatever is wrong, are looked at one by one.
Shapes: N bytes and R rows of a block, M n-grams, n their length, V symbols.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from seriatim.codecs.cutting import distinct
from seriatim.codecs.symbols import SPECIALS, STOP, UNKNOWN
from seriatim.data.files import packed, utf8
from seriatim.errors import DataError
from seriatim.models.ngrams.options import NgramOptions
from seriatim.models.ngrams.tables import Tables
from seriatim.parallel import side_by_side

ENDINGS = (".arpa", ".arpa.gz", ".arpa.xz")


BEGIN = "<s>"  # START in a file


ZERO = -99.0  # log10 of nothing, as SRILM writes it


TEN = math.log(10)


ROWS = 1 << 16  # n-grams written in one go


BLOCK = 1 << 23  # bytes read in one go


MOST_ORDER = NgramOptions.__dataclass_fields__["order"].metadata["most"]


ROUNDING = 1e-5  # log10 p may be above 0 by this much


WIDEST = 40  # characters of a number


UNWRITABLE = re.compile(r"[\s\0\ud800-\udfff]")


# words may hold any other blank
VISIBLE = np.array([byte not in b" \t\r\n" for byte in range(256)])


COLUMNS = (
    "Columns: log10 p, the words, and unless they are the longest log10 of the back-off weight"
)


NEWLINE = np.array([ord("\n")], np.uint8)


DATA, COUNT = (
    re.compile(rb"^\\data\\[ \t\r]*$", re.MULTILINE),
    re.compile(rb"ngram\s+(\d{1,9})\s*=\s*(\d{1,18})"),
)


# Writing


def write_arpa(path: Path, tables: Tables, symbols: list[str]) -> None:
    """The tables of a model whose V symbols have these names -> a file, packed if it ends in .gz or
    .xz."""
    names, sizes = np.array([*written_names(symbols), BEGIN], object), list(map(len, tables.keys))
    with packed(path) as out:
        out.write(b"\\data\\\n" + b"".join(b"ngram %d=%d\n" % row for row in enumerate(sizes, 1)))
        for n, size in enumerate(sizes, 1):
            out.write(b"\n\\%d-grams:\n" % n)
            for first in range(0, size, ROWS):
                row = np.arange(first, min(first + ROWS, size))
                # START is the second unigram, as lmplz has it
                node = np.where(row == 1, size - 1, row - (row > 1)) if n == 1 else row
                out.write(lines(tables, n, node, names).encode())
        out.write(b"\n\\end\\\n")


def lines(tables: Tables, n: int, node: np.ndarray, names: np.ndarray) -> str:
    """(R,) nodes of level n -> their lines; nine digits bring the same float32 back."""
    longest = n == len(tables.keys)
    p = decimal(np.minimum(tables.log_p[n - 1][node], 0))
    cells = np.empty((len(node), n + 2 - longest), object)  # p, the words, g
    cells[:, 0] = np.where(node < tables.base - 1, p, 0) if n == 1 else p
    cells[:, 1 : n + 1] = names[tables.spelled(n, node)]
    if not longest:
        cells[:, -1] = decimal(tables.log_g[n][node])
    line = "%.9g\t" + " ".join(["%s"] * n) + ("\n" if longest else "\t%.9g\n")
    return line * len(node) % tuple(cells.ravel())


def decimal(logarithm: np.ndarray) -> np.ndarray:
    """Natural logarithms -> those to base 10; minus infinity is written as a number, and minus zero
    as zero."""
    return np.maximum(logarithm / np.float64(TEN), ZERO) + 0.0


def written_names(symbols: list[str]) -> list[str]:
    """Names that can stand in a file, all different: what cannot, blanks above all, becomes
    <U+0020>."""
    special = {*SPECIALS, "<UNK>", BEGIN}
    plain = {
        symbol
        for symbol in symbols[len(SPECIALS) :]
        if symbol and symbol not in special and not UNWRITABLE.search(symbol)
    }
    names, taken = list(SPECIALS), plain | special
    for symbol in symbols[len(SPECIALS) :]:
        name = symbol
        if symbol not in plain:
            name = UNWRITABLE.sub(lambda found: code_point(found[0]), symbol) or "<U+>"
            while name in taken:
                name = code_point(name[0]) + name[1:]
            taken.add(name)
        names.append(name)
    return names


def code_point(character: str) -> str:
    """A character as it is written where it cannot stand itself."""
    return f"<U+{ord(character):04X}>"


# Reading


def read_arpa(path: str) -> tuple[list[str], Tables]:
    """A file, plain, .gz or .xz -> the names of the V symbols, and the tables of the model."""
    return Reading(path).result()


@dataclass(frozen=True)
class Section:
    """The n-grams of one length: how many the header promises, the place of its title, and the
    bytes from begin to end."""

    n: int
    count: int
    title: int
    begin: int
    end: int


@dataclass(frozen=True)
class Rows:
    """R lines of a section, cut into numbers and words."""

    places: np.ndarray  # (R,) where in the file each line begins
    log_p: np.ndarray  # (R,) float32, natural logarithms
    log_g: np.ndarray  # (R,) float32
    words: np.ndarray  # (R, n) which of the names each word is
    names: list[bytes]


class Reading:
    """A file on its way into tables, shortest n-grams first."""

    def __init__(self, path: str):
        self.path, self.content = path, utf8(path)
        self.symbols, self.number = (
            list(SPECIALS),
            {b"<unk>": UNKNOWN, b"<UNK>": UNKNOWN, b"</s>": STOP, b"<s>": -1},
        )

    def result(self) -> tuple[list[str], Tables]:
        """The names of the symbols, and all levels of the tables."""
        sections, tables = (
            list(self.sections()),
            Tables(0, [], [], [np.zeros(1, np.float32)], [], []),
        )
        for section in sections:
            self.take_level(section, section is sections[-1], tables)
        return self.symbols, tables

    # -- where things are
    def wrong(self, what: str, place: int, do: str = "", got: object = None) -> DataError:
        """What is wrong with the line at a place."""
        line = self.line(place).decode("utf-8", "replace")
        return DataError(
            what,
            got=line if got is None else got,
            file=self.path,
            line=self.content.count(b"\n", 0, place) + 1,
            do=do,
        )

    def line(self, place: int) -> bytes:
        """The line that begins at a place, without its end."""
        end = self.content.find(b"\n", place)
        return bytes(self.content[place : len(self.content) if end < 0 else end])

    def sections(self) -> Iterator[Section]:
        """The sections in order, after a header that agrees with them."""
        data = DATA.search(self.content)
        if data is None:
            raise self.wrong(
                "this is not an ARPA file, and not a run folder",
                0,
                do="An ARPA file has a line \\data\\ before its n-grams",
            )
        title = self.next_title(data.end())
        counts = self.counts(data, title)
        for n, count in enumerate(counts, 1):
            if self.line(title).strip() != b"\\%d-grams:" % n:
                raise self.wrong(
                    f"here the section \\{n}-grams: should begin",
                    title,
                    do="Sections follow each other as the header lists them",
                )
            begin = min(title + len(self.line(title)) + 1, len(self.content))
            end = self.next_title(begin - 1)
            yield Section(n, count, title, begin, end)
            title = end
        if self.line(title).strip() != b"\\end\\":
            raise self.wrong(
                "here the file should end, with \\end\\",
                title,
                do=f"The header lists n-grams up to length {len(counts)}",
            )
        rest = self.content[title + len(self.line(title)) :]
        if rest.strip():
            raise self.wrong(
                "something follows after \\end\\",
                len(self.content) - len(rest.lstrip()),
                do="Remove it",
            )

    def next_title(self, place: int) -> int:
        """The next line that begins with a backslash."""
        found = self.content.find(b"\n\\", place)
        if found < 0:
            raise self.wrong(
                "the file ends without \\end\\",
                len(self.content.rstrip()) - 1,
                do="It may have been cut short: fetch or write it again",
            )
        return found + 1

    def counts(self, data: re.Match, end: int) -> list[int]:
        """How many n-grams of each length the header promises."""
        counts: list[int] = []
        for found in re.compile(rb"[^\n]+").finditer(self.content, data.end(), end):
            entry = COUNT.fullmatch(found[0].strip())
            if entry is None and found[0].strip():
                raise self.wrong(
                    "this is no line of a header", found.start(), do="Expected: ngram LENGTH=COUNT"
                )
            if entry is not None:
                if int(entry[1]) != len(counts) + 1 or len(counts) == MOST_ORDER:
                    raise self.wrong(
                        f"lengths go 1, 2, 3 and so on, up to {MOST_ORDER}",
                        found.start(),
                        do=f"Expected length {len(counts) + 1}",
                    )
                counts.append(int(entry[2]))
        if not counts:
            raise self.wrong(
                "the header lists no n-grams", data.start(), do="Expected below: ngram 1=COUNT"
            )
        return counts

    def blocks(self, section: Section) -> Iterator[tuple[int, int]]:
        """The bytes of a section in blocks of whole lines."""
        begin, end = section.begin, -1
        while end < section.end:
            end = section.end
            if begin + BLOCK < end:
                end = (
                    self.content.rfind(b"\n", begin, begin + BLOCK) + 1
                    or self.content.find(b"\n", begin + BLOCK, end) + 1
                    or end
                )
            yield begin, end
            begin = end

    # -- from lines to arrays
    def rows(self, section: Section, last: bool, block: tuple[int, int]) -> Rows:
        """The lines of a block: a number, n words, and perhaps a second number."""
        n, (begin, end) = section.n, block
        content = np.concatenate(
            [
                NEWLINE,
                np.frombuffer(self.content, np.uint8, end - begin, begin),
                np.repeat(NEWLINE, WIDEST),
            ]
        )
        visible = VISIBLE[content]  # (N,)
        edges = np.flatnonzero(visible[1:] != visible[:-1]) + 1
        starts, stops = edges[::2], edges[1::2]  # of all words and numbers
        places = np.flatnonzero(content[:-WIDEST] == NEWLINE) + 1  # of all lines
        first = np.searchsorted(starts, places)
        many = np.diff(first, append=len(starts))
        # (R,), as all that follows
        places, first, many = places[many > 0] + begin - 1, first[many > 0], many[many > 0]
        self.check(
            (many != n + 1) & (many != n + 2),
            places,
            f"a line of this section has {n + 1} or {n + 2} columns",
            COLUMNS,
        )
        p, g = self.numbers(content, starts[first], stops[first], places), np.zeros(len(first))
        lends = np.flatnonzero(many == n + 2)
        g[lends] = self.numbers(
            content, starts[first[lends] + n + 1], stops[first[lends] + n + 1], places[lends]
        )
        self.check(
            np.isnan(p) | (p > ROUNDING),
            places,
            "this is no logarithm of a probability",
            "It is 0 or less",
        )
        self.check(
            np.isnan(g) | (g > -ZERO),
            places,
            "this is no logarithm of a back-off weight",
            "It is mostly 0 or less",
        )
        self.check(
            (g != 0) & last, places, "the longest n-grams have no back-off weight", "Leave it out"
        )
        word = (first[:, None] + np.arange(1, n + 1)).ravel()
        words, example = distinct(content, starts[word], stops[word])
        raw, example = content.tobytes(), word[example]
        names = [
            raw[start:stop]
            for start, stop in zip(starts[example].tolist(), stops[example].tolist(), strict=True)
        ]
        return Rows(places, natural(np.minimum(p, 0)), natural(g), words.reshape(-1, n), names)

    def check(self, bad: np.ndarray, places: np.ndarray, what: str, do: str) -> None:
        """Refuse the first line, if any, that is bad."""
        if bad.any():
            raise self.wrong(what, int(places[np.argmax(bad)]), do=do)

    def numbers(
        self, content: np.ndarray, starts: np.ndarray, stops: np.ndarray, places: np.ndarray
    ) -> np.ndarray:
        """(M,) numbers as written in a block -> (M,) float64."""
        lengths = stops - starts
        self.check(lengths > WIDEST, places, "this is not a number", COLUMNS)
        width = int(lengths.max(initial=1))
        written = np.ndarray((len(content) - width + 1, width), np.uint8, content, strides=(1, 1))[
            starts
        ]  # (M, width)
        written[np.arange(width) >= lengths[:, None]] = 0
        values, plain = plain_numbers(written, lengths)
        unusual = np.flatnonzero(~plain)
        for i, text in zip(
            unusual.tolist(), written[unusual].view(f"S{width}").ravel().tolist(), strict=True
        ):
            try:
                values[i] = float(text.replace(b"_", b"?"))  # float() lets an underscore pass
            except ValueError:
                raise self.wrong(
                    "this is not a number",
                    int(places[i]),
                    COLUMNS,
                    got=text.decode("utf-8", "replace"),
                ) from None
        return values

    # -- from arrays to tables
    def take_level(self, section: Section, last: bool, tables: Tables) -> None:
        """Add the n-grams of a section to the tables; a context that is not among the shorter
        n-grams is added to those."""
        n = section.n

        def look(block: tuple[int, int]) -> tuple[np.ndarray, ...]:
            """The context and the last symbol of each n-gram of a block, its numbers, and the contexts
            that are missing."""
            rows = self.rows(section, last, block)
            grams = self.numbered(rows, n)  # (R, n)
            context = tables.find(grams[:, :-1])
            return context, grams[:, -1], rows.log_p, rows.log_g, grams[context < 0, :-1]

        parts = (
            map(look, self.blocks(section)) if n == 1 else side_by_side(look, self.blocks(section))
        )
        # (M,) each; (.., n - 1) the contexts that are missing
        context, symbol, log_p, log_g, lost = map(np.concatenate, zip(*parts))
        if len(context) != section.count:
            raise self.wrong(
                f"this section has {len(context):,} n-grams, the header says {section.count:,}",
                section.title,
                do="The file may have been cut short: fetch or write it again",
            )
        if len(lost):
            context = moved(context, insert(tables, lost))
            context[context < 0] = tables.find(lost)
        keys = context * np.int64(tables.base) + symbol
        order = np.argsort(keys)
        keys, log_p, log_g = keys[order], log_p[order], log_g[order]
        again = np.flatnonzero(keys[1:] == keys[:-1])
        if len(again):
            raise self.wrong(
                "this n-gram is listed twice",
                self.place_of(section, max(order[again[0]], order[again[0] + 1])),
                do="Remove one of the two",
            )
        if n == 1:
            tables.base, self.number[b"<s>"] = len(self.symbols) + 1, len(self.symbols)
            keys, log_p, log_g = (
                np.arange(tables.base),
                spread(keys, log_p, tables.base, -np.inf),
                spread(keys, log_g, tables.base, 0),
            )
            log_p[-1] = -np.inf  # START is never predicted
        tables.keys.append(keys)
        tables.log_p.append(log_p)
        if not last:
            tables.log_g.append(log_g)
        tables.counts.append(np.zeros(0, np.int32))
        tables.amounts.append(np.zeros(0, np.uint8))

    def numbered(self, rows: Rows, n: int) -> np.ndarray:
        """(R, n) the words of some lines as symbols. Those of level 1 are the vocabulary."""
        if n == 1:
            for name in rows.names:
                if self.number.setdefault(name, len(self.symbols)) == len(self.symbols):
                    self.symbols.append(name.decode())
        table = np.array([self.number.get(name, -1) for name in rows.names], np.int64)
        grams = table[rows.words]
        if n > 1:
            self.check(
                (grams < 0).any(1),
                rows.places,
                "this line has a word that is not among the 1-grams",
                "List it there",
            )
        return grams

    def place_of(self, section: Section, row: int) -> int:
        """Where the line of an n-gram begins, counted from the first of its section."""
        for block in self.blocks(section):
            places = self.rows(section, False, block).places
            if row < len(places):
                return int(places[row])
            row -= len(places)
        return section.begin


def natural(decimals: np.ndarray) -> np.ndarray:
    """Logarithms to base 10 -> natural ones; -99 and less is minus infinity."""
    return np.where(decimals > ZERO, np.maximum(decimals, ZERO) * TEN, -np.inf).astype(np.float32)


def spread(places: np.ndarray, values: np.ndarray, length: int, otherwise: float) -> np.ndarray:
    """Values at their places, -1 being the last, and something else between them."""
    dense = np.full(length, otherwise, np.float32)
    dense[places] = values
    return dense


def plain_numbers(written: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(M, width) characters -> (M,) the numbers they are, and (M,) whether they are written
    plainly: -12.345."""
    columns = np.ascontiguousarray(written.T)  # (width, M)
    digit, points = columns - ord("0"), columns == ord(".")
    value, digits, decimals = (
        np.zeros(len(written), np.int64),
        np.zeros(len(written), np.int8),
        np.zeros(len(written), np.int8),
    )
    for place in range(len(columns)):
        inside = digit[place] < 10
        value = np.where(inside, value * 10 + digit[place], value)
        digits += inside
        decimals += np.where(points[place], lengths - 1 - place, 0).astype(np.int8)
    negative = columns[0] == ord("-")
    plain = (
        (digits + points.sum(0) + negative == lengths)
        & (points.sum(0) < 2)
        & (digits > 0)
        & (digits < 19)
    )
    return np.where(negative, -1, 1) * value / 10.0**decimals, plain


# N-grams that a file left out though longer ones begin with them


def insert(tables: Tables, grams: np.ndarray) -> np.ndarray:
    """Put (M, n) n-grams that are missing into level n, and their contexts into the levels below: p
    is what it was through the shorter ones, and nothing is lent, so that no probability changes.
    Returns the places of the level before which they went."""
    n = grams.shape[1]
    context = tables.find(grams[:, :-1])
    if np.any(context < 0):
        insert(tables, grams[context < 0, :-1])
        context = tables.find(grams[:, :-1])
    added, example = np.unique(context * np.int64(tables.base) + grams[:, -1], return_index=True)
    places = np.searchsorted(tables.keys[n - 1], added)
    tables.log_p[n - 1] = np.insert(tables.log_p[n - 1], places, backed_off(tables, grams[example]))
    tables.log_g[n] = np.insert(tables.log_g[n], places, 0)
    tables.keys[n - 1] = np.insert(tables.keys[n - 1], places, added)
    if n < len(tables.keys):
        node, symbol = np.divmod(tables.keys[n], tables.base)
        tables.keys[n] = moved(node, places) * tables.base + symbol
    return places


def moved(node: np.ndarray, places: np.ndarray) -> np.ndarray:
    """(M,) nodes of a level as they are numbered after others were put before these places."""
    return node + np.searchsorted(places, node, "right")


def backed_off(tables: Tables, grams: np.ndarray) -> np.ndarray:
    """(M, n) n-grams -> (M,) log-probability of the last symbol of each."""
    found = tables.log_p[0][grams[:, -1]]
    for level in range(1, grams.shape[1]):
        context = tables.find(grams[:, -1 - level : -1])
        known = np.flatnonzero(context >= 0)
        child = tables.child(level, context[known], grams[known, -1])
        found[known] += tables.log_g[level][context[known]]
        found[known[child >= 0]] = tables.log_p[level][child[child >= 0]]
    return found
