r"""How a text was written of which a tokenizer made elsewhere tells only the pieces.

    piece       it stands for         the text may have
    ##ing       ing, hung on          ING
    ▁the        a blank, then the     The, at the end of a line or at its beginning
    <0xC3>      a part of a letter    the letter, with the byte behind it
    [UNK]       nothing known         猫

Whatever a tokenizer does to a text first (lower case, accents, normal forms, blanks), its pieces come
in the order of the text, so that the text falls into one part for each piece and what is left behind the
last one. A part is written beside its piece as `word` and `--lower` write theirs: its blanks, then how
its letters were written, each given what stands before (`seriatim.codecs.side`). Where to part is free,
since all parts together are the text; it only costs more where it is done badly. Shapes: T pieces.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tokenizers import AddedToken

from seriatim.codecs.arithmetic import Coder, Price
from seriatim.codecs.side import (
    BLANK,
    LOWER,
    Letters,
    Side,
    capitalised,
    context_of,
    kind_of,
    way_of,
)
from seriatim.codecs.tokenizer_files import META

AS_IS = "="  # in place of blanks: those that the piece stands for


BYTE = re.compile("<0x([0-9A-F]{2})>")


ALONE, HUNG, STRANGE = "_", "#", "?"  # a piece that says nothing of blanks; that has none; unknown

WriteBlanks = Callable[[Coder, str, str | None], str]
WriteWord = Callable[[Coder, str, str, str | None, Letters], tuple[int, str]]


class Surface(NamedTuple):
    """What a piece stands for: blanks, then letters; and what is known of the blanks before it."""

    blanks: str
    core: str
    mark: str


UNSEEN = Surface("", "\ufffd", STRANGE)  # what an unknown piece stands for


def surface_of(text: str, mark: str = ALONE) -> Surface:
    """What a piece of this text stands for."""
    found = BLANK.match(text)
    blanks = "" if found is None else found[0]
    return Surface(blanks, text[len(blanks) :], blanks[:1] or mark)


def surfaces(
    model: Mapping[str, Any],
    names: Sequence[str],
    added: Mapping[int, AddedToken],
    letters: Mapping[str, int],
) -> list[Surface | bytes]:
    """What each piece stands for, by number; bytes that are not whole letters are left as bytes.
    `letters` are the bytes of a byte-level tokenizer; others have none."""
    fallback = bool(model.get("byte_fallback"))
    prefix = model.get("continuing_subword_prefix") or ""

    def stands_for(number: int, name: str) -> Surface | bytes:
        """What one piece stands for."""
        if number in added:
            return surface_of(added[number].content)
        byte = BYTE.fullmatch(name) if fallback else None
        if byte is not None:
            return bytes([int(byte[1], 16)])
        if letters and all(letter in letters for letter in name):
            return whole_or_bytes(bytes(letters[letter] for letter in name))
        if prefix:
            hung = name.startswith(prefix)
            return Surface("", name[len(prefix) :], HUNG) if hung else surface_of(" " + name)
        return surface_of(name.replace(META, " "))

    return [stands_for(number, name) for number, name in enumerate(names)]


def whole_or_bytes(content: bytes) -> Surface | bytes:
    """What bytes stand for, if they are whole letters."""
    try:
        return surface_of(content.decode())
    except UnicodeDecodeError:
        return content


def groups(ids: Iterable[int], known: Sequence[Surface | bytes]) -> Iterator[tuple[int, Surface]]:
    """Pieces that make whole letters together: how many they are, and what they stand for."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    many, text = 0, ""
    for number in ids:
        each = known[number]
        if isinstance(each, bytes):
            many, text = many + 1, text + decoder.decode(each)
            if decoder.getstate()[0]:
                continue
            yield many, surface_of(text)
        else:
            if many:
                yield many, surface_of(text + decoder.decode(b"", True))
                decoder.reset()
            yield 1, each
        many, text = 0, ""
    if many:
        yield many, surface_of(text + decoder.decode(b"", True))


def parts_of(text: str, offsets: Sequence[tuple[int, int]]) -> list[str]:
    """(1 + T,) a text in parts: one for each piece, which the tokenizer found between two places, and
    what is left. A part begins with the blanks before its letters; letters between two pieces, which
    the tokenizer dropped, belong to the first."""
    found, place = [], 0
    for i, (_, end) in enumerate(offsets):
        following = offsets[i + 1][0] if i + 1 < len(offsets) else end
        if following > end:
            end += len(text[end:following].rstrip())
        end = max(place, min(end, following) if following < end else end)
        found.append(text[place:end])
        place = end
    return [*found, text[place:]]


def write(
    coder: Coder,
    pieces: Iterable[tuple[int, Surface]],
    parts: Sequence[str] | None,
    write_blanks: WriteBlanks,
    write_word: WriteWord,
    letters: Letters,
) -> str:
    """Write the parts of a text beside its pieces, or read them; the text."""
    found: list[str] = []
    place, last, blanks, way = 0, "", "", LOWER  # last: the two letters before
    for many, (usual, core, mark) in pieces:
        given = written = None
        if parts is not None:
            part = "".join(parts[place : place + many])
            given = surface_of(part).blanks
            written, given = part[len(given) :], AS_IS if given == usual else given
        context = kind_of(last[-1:]) + kind_of(core[:1]) + mark + blanks[:1]
        got = write_blanks(coder, context, given)
        blanks = usual if got == AS_IS else got
        before = "".join(map(kind_of, (last + blanks)[-2:])) + str(way)
        way, word = write_word(coder, before, core, written, letters)
        found += [blanks, word]
        place, last = place + many, (last + blanks + word)[-2:]
        for _ in range(many):
            coder.mark()
    left = None if parts is None else parts[place]
    found.append(write_blanks(coder, context_of(last, blanks, ""), left))
    return "".join(found)


class Learned:
    """Counts of how parts are written: takes the place of a `Side` while texts are looked at."""

    def __init__(self) -> None:
        self.blanks, self.places, self.words = (
            defaultdict[str, Counter[str]](Counter) for _ in range(3)
        )
        self.cores = Counter[str]()

    def look(self, pieces: Iterable[tuple[int, Surface]], parts: Sequence[str]) -> None:
        """Count one text."""
        write(Price(), pieces, parts, self.write_blanks, self.write_word, Letters({}))

    def write_blanks(self, coder: Coder, context: str, blanks: str | None) -> str:
        """Count blanks."""
        self.blanks[context][blanks or ""] += 1
        return blanks or ""

    def write_word(
        self, coder: Coder, context: str, low: str, written: str | None, letters: Letters
    ) -> tuple[int, str]:
        """Count how letters are written."""
        written = written or ""
        way = way_of(written, low)
        self.places[context][str(way)] += 1
        self.words[low][str(way)] += 1
        self.cores[written] += 1
        return way, written

    def side(self) -> Side:
        """What was learned."""
        return Side(self.blanks, self.places, capitalised(self.words))


def types_in(part: Any) -> list[str]:
    """The types of a part of a tokenizer's JSON, and of what is in it."""
    if isinstance(part, dict):
        inner = [name for value in part.values() for name in types_in(value)]
        return [part["type"], *inner] if isinstance(part.get("type"), str) else inner
    return [name for value in part for name in types_in(value)] if isinstance(part, list) else []
