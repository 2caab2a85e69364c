"""From text to numbered symbols and back: characters, bytes, words, tokens as given, labels.

The special symbols are defined here and nowhere else:

    UNKNOWN  0     a symbol not in the vocabulary: predicted and scored like any other, never dropped
    STOP     1     the end of a sequence: predicted and scored when sequences are lines
    START          "nothing has been seen yet": never predicted, so it has no number here; each model
                   keeps its own (see `Model.start`)
    PADDING  0     fills the rows of a batch behind their ends; a mask goes with it, and the
                   conformance suite proves that it is never read

A codec is fitted on training data only and saved as JSON.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from seriatim.codecs.arithmetic import Coder, Price
from seriatim.codecs.cutting import Lexicon, words_of
from seriatim.codecs.options import CodecOptions
from seriatim.codecs.phrases import Phrases, find_phrases
from seriatim.codecs.side import (
    ANY,
    BLANK,
    ODD,
    SOME,
    UNICODE,
    Letters,
    Mismatch,
    Side,
    capitalised,
    context_of,
    count_blanks,
    count_capitals,
)
from seriatim.data.sequences import KINDS, NUMBERS, SYMBOLS, TEXT, Field
from seriatim.errors import ConfigError, DataError, SeriatimError
from seriatim.settings import build

UNKNOWN, STOP = 0, 1


PADDING = 0


SPECIALS = ("<unk>", "</s>")


LONG_TEXT = 1 << 16  # bytes worth a table of all known words


class Codec:
    """Raw <-> symbol numbers. A subclass says how text is cut into pieces and joined again."""

    lossless = True  # decode(encode(text)) == text as long as nothing is unknown
    left_out = "the blanks between words"  # what is charged beside the symbols where it is not
    sizes: tuple[int, ...] = ()  # further sizes that a model must know

    def __init__(
        self, options: CodecOptions, symbols: Iterable[str], spelling: dict[str, int] | None = None
    ):
        self.options = options
        self.symbols = list(symbols)  # names by number, the special ones first
        self.spelling = spelling or {}  # training counts of characters, to write unknown words
        self.side: Side | None = None  # what symbols do not tell; None: nothing was learned of it
        self.lexicon: Lexicon | None = None
        self.number = {symbol: i for i, symbol in enumerate(self.symbols) if i != STOP}

    @property
    def size(self) -> int:
        """V, the number of symbols a model may predict."""
        return len(self.symbols)

    @classmethod
    def fit(cls, column: Field, options: CodecOptions) -> Self:
        """The vocabulary of the training data: most frequent first, rare ones left out."""
        counts = cls.count(column, options)
        kept = sorted(
            s for s, n in counts.items() if n >= options.minimum_count and s not in SPECIALS
        )
        kept.sort(key=counts.__getitem__, reverse=True)  # equally frequent ones stay in order
        if options.vocabulary is not None:
            kept = kept[: options.vocabulary - len(SPECIALS)]
        return cls(options, (*SPECIALS, *kept), cls.letters(counts))

    @classmethod
    def count(cls, column: Field, options: CodecOptions) -> Counter[str]:
        """How often each piece comes in the training data."""
        given = cls(options, SPECIALS).named(column)
        counts: Counter[str] = Counter()
        numbers = np.bincount(given.flat, minlength=len(given.symbol_names))
        seen = np.flatnonzero(numbers)
        for i, n in zip(seen.tolist(), numbers[seen].tolist(), strict=True):
            counts[given.symbol_names[i]] += n
        return counts

    @classmethod
    def letters(cls, counts: Counter[str]) -> dict[str, int]:
        """Counts of characters inside words, with the end of each word as ''."""
        codes = np.frombuffer("".join(counts).encode("utf-32-le", "surrogatepass"), np.uint32)
        times = np.repeat(
            np.fromiter(counts.values(), np.int64, len(counts)),
            np.fromiter(map(len, counts), np.int64, len(counts)),
        )
        numbers = np.bincount(codes, times).astype(np.int64)
        return {"": sum(counts.values())} | {
            chr(code): int(numbers[code]) for code in np.flatnonzero(numbers)
        }

    # -- what differs from unit to unit
    word: re.Pattern[str] | None = None  # what blanks stand between; None: they are symbols
    # what stands between two blanks -> its pieces; None: it is one piece
    cut: Callable[[str], list[str]] | None = None

    def join(self, pieces: list[str]) -> str:
        """Pieces -> text."""
        raise TypeError("a codec says how it joins")

    # -- the same for all
    def named(self, column: Field) -> Field:
        """The pieces of each sequence with their names, numbered anyhow; symbols given as such are
        not cut again."""
        if column.kind == NUMBERS:
            raise DataError(
                "numbers are not text", do="Choose a field of text or symbols with --field"
            )
        if column.kind == TEXT and self.cut is not None:
            return words_of(column, self.cut)
        given = words_of(column) if column.kind == TEXT else column
        return (
            replace(given, names=tuple(name.lower() for name in given.symbol_names))
            if self.options.lower
            else given
        )

    def knowing(self, more: Iterable[str]) -> Codec:
        """The same with further symbols, behind its own."""
        wider = copy(self)
        wider.symbols, wider.lexicon = list(dict.fromkeys([*self.symbols, *more])), None
        wider.number = {symbol: i for i, symbol in enumerate(wider.symbols) if i != STOP}
        return wider

    def pieces(self, column: Field) -> list[str]:
        """The pieces of all sequences, one after another."""
        given = self.named(column)
        return [given.symbol_names[i] for i in given.flat]

    def texts(self, column: Field) -> Iterable[str]:
        """Each sequence as text; symbols are joined by blanks."""
        if column.kind == NUMBERS:
            raise DataError(
                "numbers are not text", do="Choose a field of text or symbols with --field"
            )
        texts = (
            str(column.raw(s))
            if column.kind == TEXT
            else " ".join(column.symbol_names[i] for i in column.row(s))
            for s in range(len(column))
        )
        return (text.lower() for text in texts) if self.options.lower else texts

    def encode(self, column: Field) -> Field:
        """Text or given symbols -> numbers in [0, V)."""
        if (
            column.kind == TEXT
            and self.cut is None
            and not (self.options.lower or self.options.phrases)
            and len(column.flat) > LONG_TEXT
        ):
            self.lexicon = self.lexicon or Lexicon(self.number, UNKNOWN)
            return self.lexicon.encode(column)
        given = self.named(column)
        table = np.array([self.number.get(name, UNKNOWN) for name in given.symbol_names], np.int32)
        return Field(table[given.flat], given.offsets - given.offsets[0], SYMBOLS)

    def encode_text(self, text: str) -> np.ndarray:
        """One text -> (T,) numbers."""
        return self.encode(Field.of_text([text])).values

    def pieces_of(self, text: str) -> list[str]:
        """The pieces of one text."""
        return self.pieces(Field.of_text([text]))

    def decode(self, ids: Iterable[int]) -> str:
        """Numbers -> text; the end is not written, an unknown symbol is written as U+FFFD."""
        return self.join(
            [self.symbols[i] if i != UNKNOWN else "\ufffd" for i in map(int, ids) if i != STOP]
        )

    def continue_text(self, prompt: str, prompt_ids: Iterable[int], symbols: Iterable[int]) -> str:
        """The prompt exactly as typed, whatever of it is unknown, and what was written after it:
        symbols that follow the prompt's numbers are decoded with them, so that the blank between
        both is there where it would be within a text.
        """
        before, after = list(prompt_ids), list(symbols)
        known, whole = self.decode(before), self.decode([*before, *after])
        if not whole.startswith(known):
            return prompt + self.decode(after)
        rest = whole[len(known) :]
        if prompt[-1:].isspace() and not self.lossless:  # blanks only separate, and one is there
            rest = rest.removeprefix(" ")
        return prompt + rest

    def shown(self, symbol: str) -> str:
        """A symbol as the text that it stands for: what records call it."""
        return symbol

    # -- what the symbols do not tell
    def learn_side(self, column: Field) -> None:
        """Count in the training text what is needed to restore a text besides its symbols."""
        blanks, places, words = (defaultdict[str, Counter[str]](Counter) for _ in range(3))
        size = 0
        for raw in self.raw_texts(column):
            raw = raw[: SOME - size]
            text = raw.lower() if self.options.lower else raw
            if self.word is not None:
                count_blanks(blanks, text, self.word.finditer(text))
            if self.options.lower:
                count_capitals(places, words, text, raw)
            size += len(raw)
            if size >= SOME:
                break
        self.side = Side(blanks, places, capitalised(words))

    @cached_property
    def beside(self) -> Side:
        """What was learned of it, or nothing."""
        return self.side or Side({}, {}, {})

    @cached_property
    def speller(self) -> Letters:
        """How what is unknown is written."""
        return Letters(self.spelling)

    def raw_texts(self, column: Field) -> Iterator[str]:
        """Each sequence as it is given; symbols are joined by blanks."""
        for s in range(len(column)):
            yield (
                str(column.raw(s))
                if column.kind == TEXT
                else " ".join(column.symbol_names[i] for i in column.row(s))
            )

    def restore(
        self, coder: Coder, ids: np.ndarray, raw: str | None = None, pieces: Sequence[str] = ()
    ) -> str:
        """The text of a sequence from its symbols. What they do not tell is written by the coder, if
        `raw`, the text, and its pieces are given; otherwise it is read."""
        odd = raw is not None and not self.regular(ids, raw, pieces)
        if coder.choose(ODD, int(odd)):
            return self.speller.write(coder, raw)
        return self.follow(coder, ids, raw, pieces)

    def regular(self, ids: np.ndarray, raw: str, pieces: Sequence[str]) -> bool:
        """Whether a text follows from its symbols by the rules."""
        try:
            return self.follow(Price(), ids, raw, pieces) == raw
        except Mismatch:
            return False

    def follow(self, coder: Coder, ids: np.ndarray, raw: str | None, pieces: Sequence[str]) -> str:
        """The same by the rules: first the text in lower case, if it is that, then its capitals."""
        lower = self.options.lower
        text = self.unfold(coder, ids, raw.lower() if raw is not None and lower else raw, pieces)
        return self.beside.case.write(coder, text, raw, self.speller) if lower else text

    def unfold(self, coder: Coder, ids: np.ndarray, text: str | None, pieces: Sequence[str]) -> str:
        """Symbols -> text, apart from its capitals; where they tell all of it, nothing is coded."""
        return self.decode(ids)

    def side_nats(self, column: Field, ids: Field) -> tuple[np.ndarray, np.ndarray]:
        """What it costs to tell what the symbols do not: (N,) nats of each symbol, and (S,) of the
        rest of each sequence. So bits per character price the text itself, whatever was left out of
        the vocabulary, between the words or of the capitals."""
        symbols, rest = np.zeros(len(ids.flat)), np.zeros(len(ids))
        if self.tells_all:
            return symbols, rest
        pieces, offsets = self.pieces(column), ids.offsets - ids.offsets[0]
        for s, raw in enumerate(self.raw_texts(column)):
            begin, end = offsets[s], offsets[s + 1]
            marks, nats = self.price(ids.row(s), raw, pieces[begin:end])
            symbols[begin:end] = np.diff(marks)
            rest[s] = nats - marks[-1]
        return symbols, rest

    def price(self, ids: np.ndarray, raw: str, pieces: Sequence[str]) -> tuple[np.ndarray, float]:
        """(1 + T,) nats up to each symbol of a sequence, and in all."""
        coder = Price()
        coder.choose(ODD, 0)
        try:
            regular = self.follow(coder, ids, raw, pieces) == raw
        except Mismatch:
            regular = False
        if not regular:
            coder = Price()
            coder.choose(ODD, 1)
            self.speller.write(coder, raw)
        if len(coder.marks) != len(ids) + 1:  # not symbol by symbol: the same for each
            return np.linspace(0, coder.nats, len(ids) + 1), coder.nats
        marks = np.array(coder.marks)
        if self.options.lower and len(ids):  # capitals come last: the same for each
            marks += np.linspace(0, coder.nats - marks[-1], len(marks))
        return marks, coder.nats

    @property
    def tells_all(self) -> bool:
        """Whether a text follows from its symbols alone."""
        return self.lossless and not self.options.lower

    def spell(self, piece: str) -> float:
        """Nats to write a piece letter by letter, its end included."""
        coder = Price()
        self.speller.write(coder, piece)
        return coder.nats

    def to_json(self) -> dict[str, Any]:
        """What is kept with a run: options, symbols and the counts of letters."""
        options = {
            "unit": self.options.unit,
            "vocabulary": self.options.vocabulary,
            "lower": self.options.lower,
            "minimum_count": self.options.minimum_count,
            "method": self.options.method,
            "phrases": self.options.phrases,
            "phrase_score": self.options.phrase_score,
        }
        return {
            "version": 1,
            "options": options,
            "symbols": self.symbols,
            "spelling": self.spelling,
        } | ({} if self.side is None else {"side": self.side.to_json()})

    @classmethod
    def from_json(cls, record: dict[str, Any], where: str) -> Codec:
        """The codec that wrote this record, of the class of its unit; `where` names the file in errors."""
        return load_codec(record, where)

    @classmethod
    def restored(cls, record: dict[str, Any], options: CodecOptions) -> Codec:
        """A codec of this class from its record, whose symbols have been checked."""
        return cls(options, record["symbols"], record["spelling"])


class Characters(Codec):
    """One symbol for each Unicode character."""

    def join(self, pieces: list[str]) -> str:
        """Nothing stands between characters."""
        return "".join(pieces)

    def pieces(self, column: Field) -> list[str]:
        """The characters of all sequences, one after another."""
        return [chr(code) for code in self.code_points(column)[0]]

    @classmethod
    def count(cls, column: Field, options: CodecOptions) -> Counter[str]:
        """How often each character comes, counted as code points."""
        codes, numbers = np.unique(
            cls(options, SPECIALS).code_points(column)[0], return_counts=True
        )
        return Counter({chr(code): int(n) for code, n in zip(codes, numbers, strict=True)})

    @classmethod
    def letters(cls, counts: Counter[str]) -> dict[str, int]:
        """None: an unknown character is priced by its place in Unicode."""
        return {}

    def code_points(self, column: Field) -> tuple[np.ndarray, np.ndarray]:
        """All characters as numbers, and the offsets of the sequences in characters."""
        if column.kind != TEXT or self.options.lower:
            column = Field.of_text(self.texts(column))
        flat, offsets = column.flat, column.offsets - column.offsets[0]
        if not len(flat) or flat.max() < 0x80:  # plain ASCII: a byte is a character
            return flat, offsets
        begins = np.concatenate([np.zeros(1, np.int64), np.cumsum(flat & 0xC0 != 0x80)])
        text = flat.tobytes().decode("utf-8", "surrogatepass")
        return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32), begins[offsets]

    def encode(self, column: Field) -> Field:
        """Text -> numbers, by one table over all of Unicode."""
        codes, offsets = self.code_points(column)
        table = np.zeros(UNICODE, np.int32)  # UNKNOWN unless named below
        for i, symbol in enumerate(self.symbols[len(SPECIALS) :], len(SPECIALS)):
            table[ord(symbol)] = i
        return Field(table[codes], offsets, SYMBOLS)

    def unfold(self, coder: Coder, ids: np.ndarray, text: str | None, pieces: Sequence[str]) -> str:
        """What is unknown is written as its place in Unicode."""
        found = []
        for i, number in enumerate(ids.tolist()):
            if number == UNKNOWN:
                found.append(chr(coder.choose(ANY, None if text is None else ord(text[i]))))
            else:
                found.append(self.symbols[number])
            coder.mark()
        return "".join(found)

    def side_nats(self, column: Field, ids: Field) -> tuple[np.ndarray, np.ndarray]:
        """An unknown character costs its place in Unicode."""
        if self.options.lower:
            return super().side_nats(column, ids)
        return np.where(ids.flat == UNKNOWN, math.log(UNICODE), 0.0), np.zeros(len(ids))


class Bytes(Codec):
    """The 256 bytes of UTF-8: nothing is ever unknown, and there is nothing to fit."""

    @classmethod
    def fit(cls, column: Field, options: CodecOptions) -> Self:
        """All 256 bytes, whatever the data is."""
        return cls(options, (*SPECIALS, *(chr(i) for i in range(256))))

    def encode(self, column: Field) -> Field:
        """A byte is its own number, behind the special symbols."""
        if column.kind != TEXT or self.options.lower:
            column = Field.of_text(self.texts(column))
        return Field(
            column.flat.astype(np.int32) + len(SPECIALS),
            column.offsets - column.offsets[0],
            SYMBOLS,
        )

    def pieces(self, column: Field) -> list[str]:
        """The bytes of all sequences by name, one after another."""
        return [self.symbols[i] for i in self.encode(column).values]

    def shown(self, symbol: str) -> str:
        """A byte that is a character by itself, or its number: see `text_of_bytes`."""
        return symbol if symbol in SPECIALS else text_of_bytes(bytes([ord(symbol)]))

    def decode(self, ids: Iterable[int]) -> str:
        """Numbers -> text; bytes that are no UTF-8 are written as U+FFFD."""
        return bytes(i - len(SPECIALS) for i in map(int, ids) if i >= len(SPECIALS)).decode(
            "utf-8", "replace"
        )


def text_of_bytes(content: bytes) -> str:
    """Bytes as text; those that are only part of a character by their numbers.

    >>> text_of_bytes("fährt".encode()), text_of_bytes("ä".encode()[:1] + b"b")
    ('fährt', '⟨C3⟩b')
    """
    text = content.decode("utf-8", "surrogateescape")
    return "".join(
        f"⟨{ord(letter) - 0xDC00:02X}⟩" if "\udc80" <= letter <= "\udcff" else letter
        for letter in text
    )


class Tokens(Codec):
    """Tokens as given: the text is split at blanks. Lossless when tokens stand one blank apart.
    Phrases of them may be one symbol."""

    lossless = False
    word = re.compile(r"\S+")
    phrases = Phrases()

    @classmethod
    def fit(cls, column: Field, options: CodecOptions) -> Self:
        """The phrases of the training data, then its vocabulary with them joined."""
        phrases, joined = find_phrases(cls(options, SPECIALS).named(column), options, SPECIALS)
        codec = super().fit(joined, options)
        codec.phrases = phrases.only(codec.number)
        return codec

    def named(self, column: Field) -> Field:
        """The pieces of each sequence with their phrases joined."""
        return self.phrases.join(super().named(column))

    def join(self, pieces: list[str]) -> str:
        """One blank between tokens, also between those of a phrase."""
        return " ".join(word for piece in pieces for word in self.phrases.words(piece))

    def unfold(self, coder: Coder, ids: np.ndarray, text: str | None, pieces: Sequence[str]) -> str:
        """Word by word: the letters of an unknown one, and the blanks before it."""
        parts, place, before, blanks = [], 0, "", ""
        for i, number in enumerate(ids.tolist()):
            piece = self.symbols[number]
            if number == UNKNOWN:
                piece = self.speller.write(coder, None if text is None else pieces[i])
            for word in self.phrases.words(piece):
                wanted = None if text is None else blanks_at(text, place, word)
                blanks = self.beside.blanks.write(coder, context_of(before, blanks, word), wanted)
                parts += [blanks, word]
                place, before = place + len(blanks) + len(word), word
            coder.mark()
        wanted = None if text is None else blanks_at(text, place, "")
        parts.append(self.beside.blanks.write(coder, context_of(before, blanks, ""), wanted))
        return "".join(parts)

    def to_json(self) -> dict[str, Any]:
        """The record of any codec, and the phrases."""
        return super().to_json() | (
            {"phrases": self.phrases.rounds} if self.options.phrases else {}
        )

    @classmethod
    def restored(cls, record: dict[str, Any], options: CodecOptions) -> Codec:
        """The same from a record that was checked, with its phrases."""
        codec = cls(options, record["symbols"], record["spelling"])
        codec.phrases = Phrases.from_json(record.get("phrases", []), options.phrases)
        return codec


WORD = re.compile(r"\w+(?:['’\-]\w+)*|[^\w\s]")


def blanks_at(text: str, place: int, word: str) -> str:
    """The blanks at a place of a text, behind which a word stands."""
    found = BLANK.match(text, place)
    if found is None or not text.startswith(word, found.end()):
        raise Mismatch
    return found[0]


CLOSING, OPENING = re.compile(r" ([,.;:!?)\]}…])"), re.compile(r"([(\[{]) ")


class Words(Tokens):
    """Words and punctuation marks. The rule: letters, digits and underscores hang together, also across
    a single apostrophe or hyphen inside (don't, well-known); any other character that is not blank is a
    word of its own; blanks only separate. Written again with one blank between words and none before a
    closing mark."""

    word = WORD

    def cut(self, chunk: str) -> list[str]:
        """What stands between two blanks -> its words and marks."""
        return WORD.findall(chunk.lower() if self.options.lower else chunk)

    def join(self, pieces: list[str]) -> str:
        """As tokens, but with no blank before a closing mark or behind an opening one."""
        return OPENING.sub(r"\1", CLOSING.sub(r"\1", super().join(pieces)))


class Labels:
    """A closed list of names, without the special symbols: an unknown label is an error."""

    def __init__(self, names: Iterable[str], python: str = ""):
        self.names, self.python = list(names), python  # what they were in Python: see KINDS
        self.number = {name: i for i, name in enumerate(self.names)}

    @property
    def size(self) -> int:
        """K, the number of names."""
        return len(self.names)

    @property
    def values(self) -> list[Any]:
        """The labels as they were given: texts, numbers or truth values."""
        return [KINDS[self.python](name) for name in self.names]

    @classmethod
    def fit(cls, column: Field) -> Labels:
        """The names that a column really has, in order."""
        names = sorted({column.symbol_names[i] for i in np.unique(column.flat)})
        return cls(names, column.python)

    def with_unseen(self, column: Field) -> Labels:
        """The same names, and behind them those that a column has besides."""
        return Labels(
            [
                *self.names,
                *sorted(
                    {column.symbol_names[i] for i in np.unique(column.flat)} - self.number.keys()
                ),
            ],
            self.python,
        )

    def encode(
        self, column: Field, lines: np.ndarray | None = None, origin: str | None = None
    ) -> Field:
        """Labels -> their numbers; an unknown one is an error with its line."""
        table = np.array([self.number.get(name, -1) for name in column.symbol_names], np.int32)
        values = table[column.flat]
        if len(values) and values.min() < 0:
            place = int(np.argmin(values))
            s = int(np.searchsorted(column.offsets - column.offsets[0], place, "right")) - 1
            raise DataError(
                "a label that the training data does not have",
                got=repr(column.symbol_names[column.flat[place]]),
                do="Known labels: " + ", ".join(self.names[:20]),
                file=origin,
                line=None if lines is None else int(lines[s]),
            )
        return Field(values, column.offsets - column.offsets[0], SYMBOLS, tuple(self.names))

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Numbers -> names."""
        return [self.names[int(i)] for i in ids]

    def to_json(self) -> dict[str, Any]:
        """What is kept with a run."""
        return {"version": 1, "labels": self.names}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Labels:
        """The same from a record."""
        return cls(record["labels"])


def codec_class(unit: str, tokenizer: str = "") -> type[Codec]:
    """The class for a unit; subwords need a library that is loaded only when asked for."""
    if unit == "subword":
        from seriatim.codecs.subwords import Foreign, Subwords

        return Foreign if tokenizer else Subwords
    return {"character": Characters, "byte": Bytes, "word": Words, "token": Tokens}[unit]


def fit_codec(column: Field, options: CodecOptions) -> Codec:
    """The codec of a unit, fitted on training data."""
    if column.kind == NUMBERS:
        raise DataError("numbers are not text", do="Choose a field of text or symbols with --field")
    if options.phrases and options.unit not in ("word", "token"):
        raise ConfigError(
            "phrases are made of words or tokens",
            got=f"--unit {options.unit}",
            do="Add --unit word, or leave out --phrases",
        )
    if options.tokenizer and options.unit != "subword":
        raise ConfigError(
            "a tokenizer made elsewhere cuts texts into subwords",
            got=f"symbols of unit {options.unit}",
            do="Give texts, or leave out --tokenizer",
        )
    codec = codec_class(options.unit, options.tokenizer).fit(column, options)
    if codec.size <= len(SPECIALS):
        raise DataError(
            "the training data has no symbols",
            got=f"{len(column)} sequences, none with a {options.unit}",
            do="Give a longer text or a smaller minimum count",
        )
    return codec


def fit_and_encode(column: Field, options: CodecOptions) -> tuple[Codec, Field]:
    """The codec of a unit and its training data in numbers; the text is cut into words once for both."""
    if options.unit in ("word", "token"):
        column = codec_class(options.unit)(options, SPECIALS).named(column)
    codec = fit_codec(column, options)
    return codec, codec.encode(column)


@contextmanager
def reading_codec(where: str) -> Iterator[None]:
    """Around what builds a codec from its JSON: whatever does not fit is an error that names the file."""
    try:
        yield
    except SeriatimError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"{where} is not a codec of seriatim",
            got=error,
            do="Restore the run folder or fit it again",
        ) from None


def load_codec(record: dict[str, Any], where: str) -> Codec:
    """The codec of a text from its JSON record, checked before anything is built."""
    with reading_codec(where):
        options = build(CodecOptions, record["options"], where)
        check_vocabulary(record["symbols"], record["spelling"], options.unit)
        codec = codec_class(options.unit).restored(record, options)
        codec.side = Side.from_json(record["side"]) if "side" in record else None
        return codec


def check_vocabulary(symbols: Any, spelling: Any, unit: str) -> None:
    """Raises ValueError unless these are different names, the special ones first, and counts of letters."""
    sound = (
        isinstance(symbols, list)
        and all(isinstance(symbol, str) for symbol in symbols)
        and tuple(symbols[: len(SPECIALS)]) == SPECIALS
        and len(set(symbols)) == len(symbols)
        and isinstance(spelling, dict)
        and all(isinstance(n, int) and 0 <= n < 1 << 40 for n in spelling.values())
    )
    rest = symbols[len(SPECIALS) :] if sound else []
    sound = sound and (unit != "character" or all(len(symbol) == 1 for symbol in rest))
    sound = sound and (unit != "byte" or rest == [chr(i) for i in range(256)])
    if not sound:
        raise ValueError("its symbols are not a vocabulary")
