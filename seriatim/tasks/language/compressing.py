r"""Compress a text with a fitted model, and restore it to the byte: the proof of bits per character.

A model that gives the next symbol the probability p lets arithmetic coding write it in -log2 p bits
(`seriatim.codecs.arithmetic`); what symbols do not tell is written behind them
(`seriatim.codecs.side`). So the file has the size that `evaluate` prints, and a header:

    SRT1        4 bytes   what this is
    layout      1         byte order mark, line endings, whether the last line has one and the text
                          another encoding than UTF-8
    checksums   8         of the text, and of what the model expects along its likeliest beginning
    lengths     2 to 18   how many sequences and symbols there are
    encoding              its name, and before that how long it is: only if it is not UTF-8

Writing and reading walk through the same steps of the model, one symbol at a time and with one
thread, so that both see the same numbers to the last bit; another kind of machine may compute others,
which the checksum of the text tells. Shapes: R rows side by side, V symbols.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from seriatim.batches import prompts
from seriatim.codecs.arithmetic import Coder, Decoder, Encoder, Frequencies
from seriatim.codecs.symbols import STOP
from seriatim.data.files import MARKS, encoding_called, first_not_utf8, guessed_encoding, unpacked
from seriatim.data.sequences import SYMBOLS, Field, Sequences, offsets_of
from seriatim.distributions.symbols import Distribution
from seriatim.errors import ConfigError, DataError
from seriatim.measuring.fingerprint import caution
from seriatim.measuring.likelihood import block_of
from seriatim.models.base import Model, asked, evaluating, select
from seriatim.parallel import threads
from seriatim.progress import note, passing
from seriatim.records import finite
from seriatim.storage import write_bytes
from seriatim.tasks.language.metrics import BITS, figures, measure

if TYPE_CHECKING:
    from seriatim.tasks.language.predictor import LanguagePredictor

MAGIC = b"SRT1"


MARK = "\ufeff"  # of the byte order


UTF8 = "utf-8"


ENDINGS = ("\n", "\r\n", "\r")  # of lines


SEVERAL = len(ENDINGS)  # of them in one text


PROBED = 8  # symbols along which two models are told apart


LINES = 32  # sequences that are walked through side by side


MOST = 1 << 40  # symbols


Facts = dict[str, Any]


@dataclass
class Layout:
    """What is not part of the text as models read it: a byte order mark, how lines end, whether the
    last one does, and how letters were written."""

    mark: bool
    endings: list[int]  # of each line, by number
    closed: bool = False
    encoding: str = "utf-8"

    def to_byte(self) -> int:
        """All of it, but for the endings where they are several, and the name of the encoding."""
        return self.mark | self.ending << 1 | self.closed << 3 | (self.encoding != UTF8) << 4

    def name(self) -> bytes:
        """The encoding, if it is not UTF-8."""
        name = b"" if self.encoding == UTF8 else self.encoding.encode()
        return number_to_bytes(len(name)) + name if name else b""

    @property
    def ending(self) -> int:
        """How all lines end, or that they end differently."""
        return SEVERAL if len(set(self.endings)) > 1 else self.endings[0] if self.endings else 0


# -- writing
def compress(predictor: LanguagePredictor, path: str, out: str) -> Facts:
    """A text file -> a smaller one, which `restore` reads."""
    check_out(out, "book.srt")
    content = bytes(unpacked(path))
    text, layout = laid_open(content, path, predictor.reading.encoding)
    lines = [text]
    if predictor.by == "line":
        layout.closed = text.endswith("\n")
        lines = text.removesuffix("\n").split("\n")
    column = Field.of_text(lines)
    data = Sequences({"text": column}, by=predictor.by, unit=predictor.unit, origin=path)
    ids, coder = predictor.codec.encode(column), Encoder()
    pieces, offsets = predictor.codec.pieces(column), ids.offsets - ids.offsets[0]
    with threads(1), evaluating(predictor.model):
        first = likely_beginning(predictor.model)
        code_symbols(predictor, coder, len(ids), len(ids.flat), ids)
    for s, raw in enumerate(lines):
        predictor.codec.restore(coder, ids.row(s), raw, pieces[offsets[s] : offsets[s + 1]])
    if layout.ending == SEVERAL:
        code_endings(coder, len(layout.endings), layout.endings)
    sums = struct.pack(">II", zlib.crc32(content), first)
    lengths = number_to_bytes(len(ids)) + number_to_bytes(len(ids.flat))
    header = MAGIC + bytes([layout.to_byte()]) + sums + lengths + layout.name()
    written = header + coder.finish()
    write_bytes(Path(out), written)
    return sizes(predictor, data, content, written, len(header)) | {"data": path, "out": out}


def sizes(
    predictor: LanguagePredictor, data: Sequences, content: bytes, written: bytes, header: int
) -> Facts:
    """How large the file is, beside what was to be expected, and whether the text was learned from."""
    measured = measure(predictor, data)
    found, nats = figures(measured), float(measured.loss.sum() + measured["side"].sum())
    return {
        "bytes": len(written),
        "header_bytes": header,
        "expected_bits": finite(nats * BITS),
        "original_bytes": len(content),
        "ratio": len(content) / len(written),
        "characters": found["characters"],
        "bits_per_character": 8 * len(written) / found["characters"],
        "bits_per_byte": 8 * len(written) / len(content),
        "bits_per_character_scored": found["bits_per_character"],
        "notes": caution(measured["seen"]),
    }


def laid_open(content: bytes, path: str, told: str) -> tuple[str, Layout]:
    """The bytes of a file -> its text as models read it, and what that leaves out."""
    name = encoding_of(content, path, told)
    mark = content.startswith(MARK.encode(name)) if name.startswith("utf") else False
    text = decoded(content, path, name).removeprefix(MARK if mark else "")
    if not text:
        raise DataError("the file is empty", file=path, do="Give a file with at least one line")
    endings = [ENDINGS.index(each) for each in re.findall("\r\n|\r|\n", text)]
    return re.sub("\r\n?", "\n", text), Layout(mark, endings, encoding=name)


def encoding_of(content: bytes, path: str, told: str) -> str:
    """The encoding that a file is read in: what was told, UTF-8, what its byte order mark says, or a
    guess, which is said; one that says in which order bytes stand."""
    found = next((name for mark, name in MARKS.items() if content.startswith(mark)), UTF8)
    if told:
        found = encoding_called(told).removesuffix("-sig")
    elif found == UTF8 and first_not_utf8(bytearray(content)) is not None:
        found = guessed_encoding(bytearray(content)) or UTF8
        if found != UTF8:
            note(f"{path}: read as {found}: it is not UTF-8")
    if found not in ("utf-16", "utf-32"):
        return found
    return found + ("-be" if content.startswith(MARK.encode(found + "-be")) else "-le")


def decoded(content: bytes, path: str, encoding: str) -> str:
    """The text of a file, from which its bytes can be had again; an error with the line where not."""
    try:
        text = content.decode(encoding)
        again = text.encode(encoding)
    except UnicodeError as error:
        place, got = getattr(error, "start", 0), getattr(error, "reason", error)
    else:
        if again == content:
            return text
        pairs = enumerate(zip(again, content))
        place = next((i for i, (a, b) in pairs if a != b), min(len(again), len(content)))
        got = f"byte 0x{content[place : place + 1].hex()}, which would not come back"
    raise DataError(
        f"this is not {'UTF-8' if encoding == UTF8 else encoding}",
        got=got,
        file=path,
        line=content[:place].decode(encoding, "replace").count("\n") + 1,
        do="Correct the line, or compress with a run that was fitted with the right --encoding",
    )


# -- reading
def restore(predictor: LanguagePredictor, path: str, out: str) -> Facts:
    """The text that was compressed with the same model."""
    check_out(out, "book.txt")
    written = bytes(unpacked(path))
    if not written.startswith(MAGIC) or len(written) < len(MAGIC) + 11:
        raise DataError(
            "this was not written by `compress`", file=path, do="Give a file that it wrote"
        )
    layout, (whole, first) = written[4], struct.unpack(">II", written[5:13])
    sequences, place = number_from_bytes(written, 13, path)
    symbols, place = number_from_bytes(written, place, path)
    encoding, place = name_from_bytes(written, place, path) if layout & 16 else (UTF8, place)
    coder = Decoder(written[place:])
    with threads(1), evaluating(predictor.model):
        if first != likely_beginning(predictor.model):
            raise DataError(
                "this was compressed with another model",
                file=path,
                got=f"{predictor.spec}, which expects something else",
                do="Restore it with the run that compressed it",
            )
        ids = code_symbols(predictor, coder, sequences, symbols, None)
    texts = [predictor.codec.restore(coder, ids.row(s)) for s in range(len(ids))]
    text = "\n".join(texts) + "\n" * bool(layout & 8)
    text = MARK * (layout & 1) + ended(coder, text, layout >> 1 & 3)
    content = text.encode(encoding, "replace")
    if zlib.crc32(content) != whole:
        raise DataError(
            "the text did not come back",
            file=path,
            got="another checksum",
            do="The file is damaged, or this machine computes the model's probabilities otherwise "
            "than the one that compressed it",
        )
    write_bytes(Path(out), content)
    return {"data": path, "out": out, "bytes": len(content), "compressed_bytes": len(written)}


def ended(coder: Coder, text: str, ending: int) -> str:
    """The text with its lines ended as they were."""
    if ending < SEVERAL:
        return text.replace("\n", ENDINGS[ending])
    first, *others = text.split("\n")
    kinds = code_endings(coder, len(others), None)
    return first + "".join(ENDINGS[k] + line for k, line in zip(kinds, others, strict=True))


# -- both ways
def code_symbols(
    predictor: LanguagePredictor, coder: Coder, sequences: int, symbols: int, ids: Field | None
) -> Field:
    """Write symbols, or read so many sequences of so many symbols in all."""
    if predictor.by == "stream":
        stream = code_stream(predictor.model, coder, symbols, None if ids is None else ids.flat)
        return Field(stream, np.array([0, symbols]), SYMBOLS)
    rows: list[list[int]] = []
    for begin in passing("coding", range(0, sequences, LINES)):
        many = min(LINES, sequences - begin)
        wanted = None if ids is None else [ids.row(begin + s).tolist() for s in range(many)]
        rows += code_lines(predictor.model, coder, many, symbols, wanted)
    flat = np.fromiter((i for row in rows for i in row), np.int32)
    return Field(flat, offsets_of(map(len, rows)), SYMBOLS)


def code_stream(model: Model, coder: Coder, symbols: int, wanted: np.ndarray | None) -> np.ndarray:
    """One long sequence in the blocks in which it is scored: each after what stands before it."""
    model = asked(model)
    found, block = np.zeros(symbols, np.int32), block_of(model)
    for begin in passing("coding", range(0, symbols, block)):
        following, state = model.start(prompts([found[max(0, begin - model.warm) : begin]]))
        for place in range(begin, min(begin + block, symbols)):
            if place > begin:
                following, state = model.step(torch.tensor([int(found[place - 1])]), state)
            choice = None if wanted is None else int(wanted[place])
            found[place] = coder.choose(frequencies(following)[0], choice)
    return found


def code_lines(
    model: Model, coder: Coder, many: int, most: int, wanted: Sequence[list[int]] | None
) -> list[list[int]]:
    """Some sequences side by side, each with its STOP: first symbols first."""
    found: list[list[int]] = [[] for _ in range(many)]
    model = asked(model)
    following, state = model.start(prompts([np.zeros(0, np.int64)] * many))
    going = list(range(many))
    while going:
        chosen = []
        for row, expected in zip(going, frequencies(following), strict=True):
            place = len(found[row])
            choice = None if wanted is None else [*wanted[row][place : place + 1], STOP][0]
            chosen.append(coder.choose(expected, choice))
        stay = [i for i, symbol in enumerate(chosen) if symbol != STOP]
        for i in stay:
            found[going[i]].append(chosen[i])
        if not stay or sum(map(len, found)) > most:
            break
        going = [going[i] for i in stay]
        symbols = torch.tensor([chosen[i] for i in stay])
        following, state = model.step(symbols, select(state, torch.tensor(stay)))
    return found


def frequencies(following: Distribution) -> list[Frequencies]:
    """(R,) distributions as whole numbers."""
    return [Frequencies.of(p) for p in following.log_probs().double().exp().numpy()]


def likely_beginning(model: Model) -> int:
    """A checksum of what a model expects along its likeliest beginning: another one differs there."""
    model = asked(model)
    found, (following, state) = 0, model.start(prompts([np.zeros(0, np.int64)]))
    for _ in range(PROBED):
        expected = frequencies(following)[0]
        found = zlib.crc32(expected.ends.tobytes(), found)
        likeliest = int(np.diff(expected.ends, prepend=0).argmax())
        following, state = model.step(torch.tensor([likeliest]), state)
    return found


def code_endings(coder: Coder, many: int, endings: Sequence[int] | None) -> list[int]:
    """How each line ends, as often as lines before it did."""
    counts, found = np.ones(SEVERAL, np.int64), []
    for line in range(many):
        choice = None if endings is None else endings[line]
        found.append(coder.choose(Frequencies(counts), choice))
        counts[found[-1]] += 1
    return found


def number_to_bytes(number: int) -> bytes:
    """Seven bits a byte, the lowest first; the last byte is below 128."""
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def number_from_bytes(written: bytes, place: int, path: str) -> tuple[int, int]:
    """The number at a place, and the place behind it."""
    number, shift = 0, 0
    while place < len(written) and number < MOST:
        number |= (written[place] & 127) << shift
        place, shift = place + 1, shift + 7
        if written[place - 1] < 128:
            return number, place
    raise DataError("the file is damaged", file=path, do="Compress the text again")


def name_from_bytes(written: bytes, place: int, path: str) -> tuple[str, int]:
    """The name of an encoding at a place, and the place behind it."""
    length, place = number_from_bytes(written, place, path)
    try:
        return encoding_called(written[place : place + length].decode("ascii")), place + length
    except (UnicodeError, ConfigError):
        raise DataError("the file is damaged", file=path, do="Compress the text again") from None


def check_out(out: str, example: str) -> None:
    """Refuse to guess where to write."""
    if not out:
        raise ConfigError("nothing says where to write", do=f"Add for instance --out {example}")
