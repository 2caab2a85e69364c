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
from collections.abc import Collection, Iterable
from functools import cache
from typing import Any, Self

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from seriatim.codecs.options import CodecOptions
from seriatim.codecs.symbols import SPECIALS, STOP, UNKNOWN, Codec, text_of_bytes
from seriatim.codecs.tokenizer_files import LINE_END, checked
from seriatim.data.sequences import SYMBOLS, Field, offsets_of
from seriatim.errors import ConfigError

DEFAULT_SIZE = 1000


LEAST_SIZE = 260  # 256 bytes, the special symbols, and two that the unigram method adds


CHUNK = 4096  # lines encoded at a time


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
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
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
                encoded = self.tokenizer.encode_batch_fast(
                    lines[start : start + CHUNK], add_special_tokens=False
                )
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
        check(tokenizer, options)
        codec = (
            Foreign(options, tokenizer, record["end"])
            if "end" in record
            else cls(options, tokenizer)
        )
        if codec.symbols != record["symbols"]:
            raise ValueError("its tokenizer and its symbols differ")
        return codec


class Foreign(Subwords):
    """A tokenizer made elsewhere, whose symbol `end` ends a text. Ours are UNKNOWN, which never
    occurs, then `end` as STOP, then its others in their order. Unlike our own it may put the end of
    a line and the blanks around it into one piece."""

    def __init__(self, options: CodecOptions, tokenizer: Tokenizer, end: int):
        check(tokenizer, options)
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

    def encode(self, column: Field) -> Field:
        """Text -> our numbers of the tokenizer's symbols."""
        found = super().encode(column)
        return Field(self.ours[found.flat], found.offsets, SYMBOLS)

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


def trainer_of(options: CodecOptions) -> trainers.Trainer:
    """What learns the subwords, by the method asked for."""
    size, alphabet = options.vocabulary or DEFAULT_SIZE, pre_tokenizers.ByteLevel.alphabet()
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
    cuts = {
        state(each) for each in (pre_tokenizers.ByteLevel(add_prefix_space=False), line_by_line())
    }
    plain = normalizer is None or (options.lower and isinstance(normalizer, normalizers.Lowercase))
    added = [token for token in tokenizer.get_added_tokens_decoder().values() if not token.special]
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
        ("it does not write bytes", isinstance(tokenizer.decoder, decoders.ByteLevel)),
        ("it swallows blanks", not any(token.lstrip or token.rstrip for token in added)),
        (
            "it does not have all bytes",
            tokenizer.get_vocab().keys() >= set(pre_tokenizers.ByteLevel.alphabet()),
        ),
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
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )


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
