"""Subwords: pieces between characters and words, learned from the training data.

Unlike characters, frequent strings become one symbol; unlike words, nothing is unknown, since every
piece is made of the 256 bytes in the end. Byte-pair encoding merges the most frequent pair again and
again (Sennrich et al. 2016); the unigram method keeps the pieces that make the text most likely (Kudo
2018). Both by the `tokenizers` library. The text is encoded line by line, so that a cut between lines
never changes a symbol.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from seriatim.codecs.symbols import SPECIALS, STOP, UNKNOWN, Codec
from seriatim.config import CodecOptions
from seriatim.data.sequences import SYMBOLS, Field, offsets_of
from seriatim.errors import ConfigError

DEFAULT_SIZE = 1000
LEAST_SIZE = 260                         # 256 bytes, the special symbols, and two that the unigram method adds
CHUNK = 4096                             # lines encoded at a time


class Subwords(Codec):
    """Byte-level pieces; the tokenizer's own JSON is kept beside the symbols."""

    def __init__(self, options: CodecOptions, tokenizer: Tokenizer):
        names = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
        if [number for _, number in names] != list(range(len(names))):
            raise ValueError("its subwords are not numbered without a gap")
        super().__init__(options, (name for name, _ in names))
        tokenizer.encode_special_tokens = True                      # text that looks like </s> is text
        self.tokenizer = tokenizer

    @classmethod
    def fit(cls, column: Field, options: CodecOptions) -> Codec:
        if options.vocabulary is not None and options.vocabulary < LEAST_SIZE:
            raise ConfigError("a vocabulary of subwords holds at least the 256 bytes and the special symbols", got=options.vocabulary,
                              do=f"Choose a vocabulary of {LEAST_SIZE} or more, or unit byte")
        common = {"vocab_size": options.vocabulary or DEFAULT_SIZE, "special_tokens": list(SPECIALS),
                  "initial_alphabet": pre_tokenizers.ByteLevel.alphabet(), "show_progress": False}
        if options.method == "unigram":
            tokenizer, trainer = Tokenizer(models.Unigram()), trainers.UnigramTrainer(unk_token=SPECIALS[UNKNOWN], **common)
        else:
            tokenizer = Tokenizer(models.BPE())
            trainer = trainers.BpeTrainer(min_frequency=options.minimum_count, **common)
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        tokenizer.train_from_iterator((line for text in Codec(options, SPECIALS).texts(column) for line in lines_of(text)), trainer)
        return cls(options, tokenizer)

    def encode(self, column: Field) -> Field:
        parts, lengths = [np.zeros(0, np.int32)], []
        for text in self.texts(column):
            lines, length = lines_of(text), 0
            for start in range(0, len(lines), CHUNK):
                encoded = self.tokenizer.encode_batch_fast(lines[start:start + CHUNK], add_special_tokens=False)
                ids = [i for line in encoded for i in line.ids]
                parts.append(np.array(ids, np.int32))
                length += len(ids)
            lengths.append(length)
        return Field(np.concatenate(parts), offsets_of(lengths), SYMBOLS)

    def decode(self, ids: Iterable[int]) -> str:
        return self.tokenizer.decode([i for i in map(int, ids) if i not in (UNKNOWN, STOP)], skip_special_tokens=False)

    def pieces(self, column: Field) -> list[str]:
        return [self.symbols[i] for i in self.encode(column).values]

    def to_json(self) -> dict[str, Any]:
        return super().to_json() | {"tokenizer": self.tokenizer.to_str()}

    @classmethod
    def from_json(cls, record: dict[str, Any], options: CodecOptions) -> Codec:
        try:
            tokenizer = Tokenizer.from_str(record["tokenizer"])
        except KeyboardInterrupt:
            raise
        except BaseException as error:                              # plain Exception, or a panic, which is not even one
            raise ValueError(error) from None
        codec = cls(options, tokenizer)
        if codec.symbols != record["symbols"]:
            raise ValueError("its tokenizer and its symbols differ")
        return codec


def lines_of(text: str) -> list[str]:
    """The lines of a text with their endings; half of a surrogate pair, which is no Unicode, becomes a question mark."""
    return text.encode("utf-8", "replace").decode().splitlines(keepends=True)
