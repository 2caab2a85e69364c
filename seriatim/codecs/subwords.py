"""Subwords: pieces between characters and words, learned from the training data.

Unlike characters, frequent strings become one symbol; unlike words, nothing is unknown, since every
piece is made of the 256 bytes in the end. Byte-pair encoding merges the most frequent pair again and
again (Sennrich et al. 2016); the unigram method keeps the pieces that make the text most likely (Kudo
2018). Both by the `tokenizers` library. The text is encoded line by line, so that a cut between lines
never changes a symbol. Subwords that others have learned are kept as they are, under our numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers.pre_tokenizers import ByteLevel

from seriatim.codecs.arithmetic import Coder
from seriatim.codecs.options import CodecOptions
from seriatim.codecs.sentencepiece_files import as_tokenizer
from seriatim.codecs.side import SOME
from seriatim.codecs.surfaces import UNSEEN, Learned, groups, parts_of, surfaces, types_in, write
from seriatim.codecs.symbols import SPECIALS, STOP, UNKNOWN, Codec, text_of_bytes
from seriatim.codecs.tokenizer_files import LINE_END, META, PATTERNS, checked
from seriatim.data.pickles import refuse_pickle
from seriatim.data.sequences import SYMBOLS, Field, offsets_of
from seriatim.errors import ConfigError, DataError, SeriatimError

DEFAULT_SIZE = 1000


LEAST_SIZE = 260  # 256 bytes, the special symbols, and two that the unigram method adds


CHUNK = 4096  # lines encoded at a time


SPAN = 1 << 16  # letters that are encoded at a time where lines depend on each other


LARGEST_FILE = 1 << 28  # bytes of a tokenizer


ENDS = (
    "</s>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<eos>",
    "[EOS]",
    "[SEP]",
)  # names that symbols have which end a text, the surest first


SAFE = re.compile(r"(?<=\S\n)(?=\S)")  # between two lines where byte-level tokenizers cut anyway


class Subwords(Codec):
    """Byte-level pieces; the tokenizer's own JSON is kept beside the symbols."""

    def __init__(self, options: CodecOptions, tokenizer: Tokenizer):
        super().__init__(options, names_of(tokenizer))
        tokenizer.encode_special_tokens = True  # text that looks like </s> is text
        self.tokenizer = tokenizer

    @classmethod
    def fit(cls, column: Field, options: CodecOptions) -> Self:
        """A tokenizer trained on the lines of the training data."""
        if options.vocabulary is not None and options.vocabulary < LEAST_SIZE:
            raise ConfigError(
                "a vocabulary of subwords holds at least the 256 bytes and the special symbols",
                got=options.vocabulary,
                do=f"Choose a vocabulary of {LEAST_SIZE} or more, or unit byte",
            )
        tokenizer = Tokenizer(models.Unigram() if options.method == "unigram" else models.BPE())
        tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        tokenizer.train_from_iterator(
            (line for text in Codec(options, SPECIALS).texts(column) for line in lines_of(text)),
            trainer_of(options),
        )
        return cls(options, tokenizer)

    def encode(self, column: Field) -> Field:
        """Text -> the numbers of its subwords, line by line."""
        parts, lengths = [np.zeros(0, np.int32)], []
        for text in self.texts(column):
            lines, length = self.lines(text), 0
            for start in range(0, len(lines), CHUNK):
                encoded = encodings(self.tokenizer, lines[start : start + CHUNK])
                ids = [i for line in encoded for i in line.ids]
                parts.append(np.array(ids, np.int32))
                length += len(ids)
            lengths.append(length)
        return Field(np.concatenate(parts), offsets_of(lengths), SYMBOLS)

    def lines(self, text: str) -> list[str]:
        """What is encoded on its own."""
        return lines_of(text)

    def decode(self, ids: Iterable[int]) -> str:
        """Numbers -> text; the special symbols are not written."""
        return self.tokenizer.decode(
            [i for i in map(int, ids) if i not in (UNKNOWN, STOP)], skip_special_tokens=False
        )

    def pieces(self, column: Field) -> list[str]:
        """The subwords of all sequences by name, one after another."""
        return [self.symbols[i] for i in self.encode(column).values]

    def shown(self, symbol: str) -> str:
        """The text that a piece stands for."""
        return shown(symbol)

    def to_json(self) -> dict[str, Any]:
        """The record of any codec, and the tokenizer's own JSON."""
        return super().to_json() | {"tokenizer": self.tokenizer.to_str()}

    def shared(self) -> Tokenizer:
        """A tokenizer that needs nothing of ours to give the same symbols: it cuts the lines and
        lowers the case itself."""
        tokenizer = tokenizer_of(self.tokenizer.to_str())
        tokenizer.pre_tokenizer = line_by_line()
        if self.options.lower:
            tokenizer.normalizer = normalizers.Lowercase()
        return tokenizer

    @classmethod
    def restored(cls, record: dict[str, Any], options: CodecOptions) -> Codec:
        """The same from a record; one with an `end` was made elsewhere."""
        if not isinstance(record["tokenizer"], str):
            raise ValueError("its tokenizer is no text")
        tokenizer = tokenizer_of(record["tokenizer"])
        if "end" in record:
            codec: Codec = made_elsewhere(options, tokenizer, record["end"])
            codec.spelling = record["spelling"]
        else:
            check(tokenizer, options)
            codec = cls(options, tokenizer)
        if codec.symbols != record["symbols"]:
            raise ValueError("its tokenizer and its symbols differ")
        return codec


class Foreign(Subwords):
    """A tokenizer made elsewhere, whose symbol `end` ends a text. Ours are UNKNOWN, which never
    occurs, then `end` as STOP, then its others in their order. Unlike our own it may put the end of
    a line and the blanks around it into one piece."""

    def __init__(self, options: CodecOptions, tokenizer: Tokenizer, end: int):
        self.check(tokenizer, options)
        names, symbols = names_of(tokenizer), dict.fromkeys(SPECIALS)
        if not isinstance(end, int) or isinstance(end, bool) or not 0 <= end < len(names):
            raise ValueError(f"it has no symbol {end!r} to end with")
        for name in names[:end] + names[end + 1 :]:
            symbols[unused(name, symbols)] = None
        Codec.__init__(self, options, symbols)
        tokenizer.encode_special_tokens = True  # text that looks like <|endoftext|> is text
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self.tokenizer, self.end = tokenizer, end
        self.theirs = np.array(
            [-1, end, *range(end), *range(end + 1, len(names))], np.int32
        )  # (V,) their number of each of ours
        self.ours = np.argsort(self.theirs)[1:].astype(
            np.int32
        )  # (V - 1,) our number of each of theirs

    @classmethod
    def fit(cls, column: Field, options: CodecOptions) -> Foreign:  # type: ignore[override]
        """The tokenizer of a file, which is not needed any more: nothing of the data is learned."""
        with reading_tokenizer(options.tokenizer):
            tokenizer = tokenizer_in(options.tokenizer)
            return made_elsewhere(replace(options, tokenizer=""), tokenizer, end_of(tokenizer))

    def encode(self, column: Field) -> Field:
        """Text -> our numbers of the tokenizer's symbols."""
        found = super().encode(column)
        return Field(self.ours[found.flat], found.offsets, SYMBOLS)

    def check(self, tokenizer: Tokenizer, options: CodecOptions) -> None:
        """Refuse one whose symbols do not tell all of a text."""
        check(tokenizer, options)

    def lines(self, text: str) -> list[str]:
        """Pieces between which the tokenizer would cut anyway."""
        return SAFE.split(text.encode("utf-8", "replace").decode()) if text else []

    def decode(self, ids: Iterable[int]) -> str:
        """Our numbers -> text, by theirs."""
        return self.tokenizer.decode(
            [int(self.theirs[i]) for i in map(int, ids) if i not in (UNKNOWN, STOP)],
            skip_special_tokens=False,
        )

    def to_json(self) -> dict[str, Any]:
        """The record of subwords, and which symbol ends a text."""
        return super().to_json() | {"end": self.end}

    def shared(self) -> Tokenizer:
        """The tokenizer as it came."""
        return tokenizer_of(self.tokenizer.to_str())


class Lossy(Foreign):
    """A tokenizer made elsewhere whose symbols do not tell all of a text: it changes letters first,
    drops blanks, or knows not all characters. What they do not tell is written beside them, part by
    part of the text (`seriatim.codecs.surfaces`). A symbol that stands for no text of its own is
    unknown where a text seems to have it."""

    lossless = False
    left_out = "what its tokenizer leaves out (blanks, letters it changes, unknown pieces)"

    def __init__(self, options: CodecOptions, tokenizer: Tokenizer, end: int):
        super().__init__(options, tokenizer, end)
        parts, names = json.loads(tokenizer.to_str()), names_of(tokenizer)
        added = tokenizer.get_added_tokens_decoder()
        self.of_bytes = "ByteLevel" in types_in(parts["pre_tokenizer"])
        letters = bytes_by_letter() if self.of_bytes else {}
        known = surfaces(parts["model"], names, added, letters)
        self.surfaces = [UNSEEN, *(known[i] for i in self.theirs[1:].tolist())]  # by our numbers
        strange = [number for number, token in added.items() if token.special]
        self.ours[[end, *strange, *unknown_in(parts["model"])]] = UNKNOWN

    def check(self, tokenizer: Tokenizer, options: CodecOptions) -> None:
        """Whatever it loses is written beside its symbols; but what cannot cut all texts is
        refused."""
        model = json.loads(tokenizer.to_str())["model"]
        if options.lower:
            raise ValueError("it is not known to lower the case")
        if model["type"] != "BPE" or model["unk_token"] is not None:
            unknown_in(model)

    def lines(self, text: str) -> list[str]:
        """The text in few parts, since a tokenizer may treat the beginning of one as it likes."""
        parts: list[str] = []
        for line in super().lines(text):
            if parts and len(parts[-1]) < SPAN:
                parts[-1] += line
            else:
                parts.append(line)
        return parts

    def decode(self, ids: Iterable[int]) -> str:
        """Our numbers -> text, as the tokenizer writes it; an unknown symbol is U+FFFD."""
        names = [
            "\ufffd" if i == UNKNOWN else self.tokenizer.id_to_token(int(self.theirs[i])) or ""
            for i in map(int, ids)
            if i != STOP
        ]
        decoder = self.tokenizer.decoder
        return " ".join(names) if decoder is None else decoder.decode(names)

    def shown(self, symbol: str) -> str:
        """The text that a piece stands for; what only hangs on stays as it is."""
        return shown(symbol) if self.of_bytes else symbol.replace(META, " ")

    def parts(self, text: str) -> list[str]:
        """(1 + T,) the parts of a text: one for each of its symbols, and what is left."""
        found, left = [], ""
        for line in self.lines(text):
            offsets = encodings(self.tokenizer, [line], fast=False)[0].offsets
            first, *others = parts_of(line, offsets)
            several = [left + first, *others]
            found += several[:-1]
            left = several[-1]
        return [*found, left]

    def unfold(self, coder: Coder, ids: np.ndarray, text: str | None, pieces: Sequence[str]) -> str:
        """Part by part: its blanks, and how its letters were written."""
        return write(
            coder,
            groups(ids.tolist(), self.surfaces),
            None if text is None else self.parts(text),
            self.beside.blanks.write,
            self.beside.case.word,
            self.speller,
        )

    def learn_side(self, column: Field) -> None:
        """Count in the training text how its parts are written."""
        learned, size = Learned(), 0
        for raw in self.raw_texts(column):
            text = raw[: SOME - size]
            learned.look(groups(self.encode_text(text).tolist(), self.surfaces), self.parts(text))
            size += len(raw)
            if size >= SOME:
                break
        self.side, self.spelling = learned.side(), self.letters(learned.cores)


def made_elsewhere(options: CodecOptions, tokenizer: Tokenizer, end: Any) -> Foreign:
    """The codec of a tokenizer, by whether its symbols tell all of a text."""
    try:
        check(tokenizer, options)
    except ValueError:
        return Lossy(options, tokenizer, end)
    return Foreign(options, tokenizer, end)


def unknown_in(model: dict[str, Any]) -> list[int]:
    """The number of the unknown piece of a model's JSON, if it has one; a ValueError if it is not
    among its pieces."""
    if model["type"] == "Unigram":
        number, many = model["unk_id"], len(model["vocab"])
        if number is None or number >= many:
            raise ValueError("it has no unknown piece")
        return [number]
    name = model["unk_token"]
    if name is None:
        return []
    if name not in model["vocab"]:
        raise ValueError(f"its unknown piece {name!r} is not among its pieces")
    return [model["vocab"][name]]


@contextmanager
def reading_tokenizer(path: str) -> Iterator[None]:
    """Around what makes a codec of a tokenizer's file: whatever is wrong with it is an error that
    names the file."""
    try:
        yield
    except SeriatimError:
        raise
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise DataError(
            "this tokenizer cannot be used",
            got=error,
            file=path,
            do="Give one of common parts (see docs/codecs.md), or learn subwords: --unit subword",
        ) from None


def tokenizer_in(path: str) -> Tokenizer:
    """The tokenizer of a file, whose parts are all allowed."""
    content = read_file(path)
    refuse_pickle(path, content)
    if content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{":
        return tokenizer_of(content.decode("utf-8-sig"), ours=False)
    if content[:1] == b"\n":  # the first field of a message: a piece
        return tokenizer_of(as_tokenizer(content), ours=False)
    raise DataError(
        "this is no tokenizer",
        got=f"a file that begins with {content[:8]!r}",
        file=path,
        do="Give a tokenizer.json of Hugging Face, or a .model of sentencepiece",
    )


def read_file(path: str) -> bytes:
    """A tokenizer's file, if it is one, and not too large."""
    try:
        file = Path(path)
        if file.is_file() and file.stat().st_size <= LARGEST_FILE:
            return file.read_bytes()
        got = "a folder" if file.is_dir() else "a file that is too large" if file.exists() else path
    except (OSError, ValueError) as error:
        got = str(getattr(error, "strerror", None) or error)
    raise DataError(
        "there is no tokenizer to be read here",
        got=got,
        file=path,
        do="Name the file: tokenizer.json, or a .model of sentencepiece",
    )


def end_of(tokenizer: Tokenizer) -> int:
    """Which of its symbols ends a text: one that is known for it, or our own, which is added."""
    added = tokenizer.get_added_tokens_decoder().items()
    special = {token.content: number for number, token in added if token.special}
    for name in ENDS:
        if name in special:
            return special[name]
    name = unused(SPECIALS[STOP], tokenizer.get_vocab())
    tokenizer.add_special_tokens([name])
    return tokenizer.get_vocab()[name]


def trainer_of(options: CodecOptions) -> trainers.Trainer:
    """What learns the subwords, by the method asked for."""
    size, alphabet = options.vocabulary or DEFAULT_SIZE, ByteLevel.alphabet()
    if options.method == "unigram":
        return trainers.UnigramTrainer(
            vocab_size=size,
            special_tokens=list(SPECIALS),
            initial_alphabet=alphabet,
            show_progress=False,
            unk_token=SPECIALS[UNKNOWN],
        )
    return trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(SPECIALS),
        initial_alphabet=alphabet,
        show_progress=False,
        min_frequency=options.minimum_count,
    )


def check(tokenizer: Tokenizer, options: CodecOptions) -> None:
    """Refuse a tokenizer that is not byte-level or would lose something of a text."""
    model, normalizer = tokenizer.model, tokenizer.normalizer
    cuts = {state(each) for each in (ByteLevel(add_prefix_space=False), line_by_line())}
    cuts |= {state(each) for each in map(split_at, PATTERNS)}
    plain = normalizer is None or (options.lower and isinstance(normalizer, normalizers.Lowercase))
    added = [token for token in tokenizer.get_added_tokens_decoder().values() if not token.special]
    inner = tokenizer.get_vocab(with_added_tokens=False)
    controls = [
        token.content
        for token in tokenizer.get_added_tokens_decoder().values()
        if token.special and token.content in inner
    ]

    def apart(control: str) -> bool:
        """Whether the name of a control is more than one piece where it is text."""
        cutter = tokenizer.pre_tokenizer
        return cutter is not None and len(cutter.pre_tokenize_str(control)) > 1

    for wrong, sound in (
        (
            "its model is neither byte-pair nor unigram",
            isinstance(model, (models.BPE, models.Unigram)),
        ),
        ("it drops merges at random", not getattr(model, "dropout", None)),
        (
            "it marks the parts of a word",
            not any(
                getattr(model, key, None)
                for key in ("continuing_subword_prefix", "end_of_word_suffix")
            ),
        ),
        ("it changes the text first", plain),
        (
            "it does not cut the text as GPT-2 does",
            tokenizer.pre_tokenizer is not None and state(tokenizer.pre_tokenizer) in cuts,
        ),
        ("its controls may be text", all(map(apart, controls))),
        ("it does not write bytes", isinstance(tokenizer.decoder, decoders.ByteLevel)),
        ("it swallows blanks", not any(token.lstrip or token.rstrip for token in added)),
        ("it does not have all bytes", tokenizer.get_vocab().keys() >= set(ByteLevel.alphabet())),
    ):
        if not sound:
            raise ValueError(f"the tokenizer is not lossless: {wrong}")


def state(part: Any) -> str:
    """What a pre-tokenizer does, as text to compare; offsets, which we do not use, apart."""
    return json.dumps(json.loads(part.__getstate__()), sort_keys=True).replace(
        '"trim_offsets": false', '"trim_offsets": true'
    )


def line_by_line() -> pre_tokenizers.PreTokenizer:
    """Cut at the ends of lines, then as GPT-2 does."""
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(LINE_END), "merged_with_previous"),
            ByteLevel(add_prefix_space=False),
        ]
    )


def split_at(pattern: str) -> pre_tokenizers.PreTokenizer:
    """Cut by a pattern, then into bytes."""
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), "isolated"),
            ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


def encodings(tokenizer: Tokenizer, lines: list[str], fast: bool = True) -> list[Any]:
    """What a tokenizer makes of lines; places in the text only if it is not to be fast."""
    cut = tokenizer.encode_batch_fast if fast else tokenizer.encode_batch
    try:
        return cut(lines, add_special_tokens=False)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # plain Exception, or a panic, which is not even one
        raise DataError(
            "the tokenizer could not cut this text", got=error, do="Use another tokenizer"
        ) from None


def tokenizer_of(text: str, ours: bool = True) -> Tokenizer:
    """A tokenizer from its JSON, which is checked first; whatever is wrong with it is a ValueError."""
    source = checked(text, ours)
    try:
        return Tokenizer.from_str(source)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # plain Exception, or a panic, which is not even one
        raise ValueError(error) from None


def names_of(tokenizer: Tokenizer) -> list[str]:
    """The subwords by number."""
    names = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    if [number for _, number in names] != list(range(len(names))):
        raise ValueError("its subwords are not numbered without a gap")
    return [name for name, _ in names]


@cache
def bytes_by_letter() -> dict[str, int]:
    """The letter that byte-level pieces have for each byte (GPT-2): its own where it is printed,
    otherwise the next one from U+0100 on."""
    own = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in own]
    return {chr(byte): byte for byte in own} | {
        chr(0x100 + place): byte for place, byte in enumerate(others)
    }


def shown(piece: str) -> str:
    """A byte-level piece as the text that it stands for; bytes that are only part of a character by
    their numbers. What is not made of bytes, as special symbols may be, stays as it is.

    >>> shown("ĠfÃ¤hrt"), shown("Ã"), shown("Ċ"), shown("</s>")
    (' fährt', '⟨C3⟩', '\\n', '</s>')
    """
    number = bytes_by_letter()
    if not all(letter in number for letter in piece):
        return piece
    return text_of_bytes(bytes(number[letter] for letter in piece))


def unused(name: str, taken: Collection[str]) -> str:
    """The name, marked until nothing else has it."""
    while name in taken:
        name += "'"
    return name


def lines_of(text: str) -> list[str]:
    """The lines of a text with their endings; half of a surrogate pair, which is no Unicode,
    becomes a question mark."""
    return text.encode("utf-8", "replace").decode().splitlines(keepends=True)
