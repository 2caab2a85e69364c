"""Subwords: pieces between characters and words, learned from the training data.

Unlike characters, frequent strings become one symbol; unlike words, nothing is unknown, since every
piece is made of the 256 bytes in the end. Byte-pair encoding merges the most frequent pair again and
again (Sennrich et al. 2016); the unigram method keeps the pieces that make the text most likely (Kudo
2018). Both by the `tokenizers` library. The text is encoded line by line, so that a cut between lines
never changes a symbol.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from seriatim.codecs.symbols import SPECIALS, STOP, UNKNOWN, Codec
from seriatim.config import CodecOptions
from seriatim.data.sequences import SYMBOLS, TEXT, Field, offsets_of

DEFAULT_SIZE = 1000
CHUNK = 4096                             # lines encoded at a time


class Subwords(Codec):
    """Byte-level pieces; the tokenizer's own JSON is kept beside the symbols."""

    def __init__(self, options: CodecOptions, tokenizer: Tokenizer):
        names = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
        super().__init__(options, (name for name, _ in names))
        self.tokenizer = tokenizer

    @classmethod
    def fit(cls, column: Field, options: CodecOptions) -> Codec:
        common = {"vocab_size": options.vocabulary or DEFAULT_SIZE, "special_tokens": list(SPECIALS),
                  "initial_alphabet": pre_tokenizers.ByteLevel.alphabet(), "show_progress": False}
        if options.method == "unigram":
            tokenizer, trainer = Tokenizer(models.Unigram()), trainers.UnigramTrainer(unk_token=SPECIALS[UNKNOWN], **common)
        else:
            tokenizer = Tokenizer(models.BPE())
            trainer = trainers.BpeTrainer(min_frequency=options.minimum_count, **common)
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        tokenizer.train_from_iterator((line for lines in texts(column, options.lower) for line in lines), trainer)
        return cls(options, tokenizer)

    def encode(self, column: Field) -> Field:
        parts, lengths = [np.zeros(0, np.int32)], []
        for lines in texts(column, self.options.lower):
            length = 0
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
        except Exception as error:                                  # the library raises plain Exception
            raise ValueError(error) from None
        codec = cls(options, tokenizer)
        if codec.symbols != record["symbols"]:
            raise ValueError("its tokenizer and its symbols differ")
        return codec


def texts(column: Field, lower: bool) -> Iterator[list[str]]:
    """Each sequence as a list of lines with their endings."""
    for s in range(len(column)):
        raw = column.raw(s)
        text = raw if column.kind == TEXT else " ".join(raw)
        yield (text.lower() if lower else text).splitlines(keepends=True)
