"""What counts as one symbol where nobody said it: what the pairs themselves call for.

    targets without blanks                characters: words, sums, dates, numbers; but subwords where
                                          sources are long texts
    targets of a few pieces with blanks   tokens, such as phonemes; sources without blanks characters
    all others                            subwords

A target of one word that is cut into subwords is learned as one name among a thousand: what a model
knows of past tenses it cannot then say of a word that it has not seen.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from seriatim.codecs.units import one_word_each, said, some, words_alone
from seriatim.data.sequences import TEXT, Field, Sequences
from seriatim.tasks.translate.sources import SOURCE, TARGET

LONG = 300  # bytes of a usual source from which on characters are too many
PIECES, TIMES = 100, 20  # so few different pieces, each so often on average, are symbols


@dataclass(frozen=True)
class Units:
    """What counts as a symbol of the source and of the target, and why."""

    source: str
    target: str
    why: str

    def said(self) -> str:
        """One line: what was assumed, and how to say otherwise."""
        if self.source == self.target:
            return said(self.source, self.why)
        return (
            f"unit: {self.source} of the source and {self.target} of the target, since {self.why}; "
            "--unit and --target-unit say otherwise"
        )


def units_of(data: Sequences, shared: bool = False) -> Units:
    """What pairs call for; with one vocabulary for both sides one unit for both."""
    source, target = data.field(SOURCE), data.field(TARGET)
    texts = [column for column in (source, target) if column.kind == TEXT]
    if not texts:
        return Units("token", "token", "the data are symbols")
    if target.kind == TEXT and words_alone(target):
        if source.kind == TEXT and np.median(source.lengths) > LONG:
            return Units("subword", "subword", "sources are long texts")
        return Units("character", "character", "targets have no blanks")
    if target.kind == TEXT and not few_pieces(target):
        return Units("subword", "subword", "targets have blanks")
    if shared:
        return Units("subword", "subword", "both share a vocabulary")
    if source.kind != TEXT or few_pieces(source):
        return Units(
            "token", "token", f"there are at most {PIECES} different pieces between blanks"
        )
    unit = "character" if words_alone(source) else "subword"
    blanks = "no blanks" if unit == "character" else "blanks"
    return Units(unit, "token", f"sources have {blanks}, and targets few different pieces")


def few_pieces(column: Field) -> bool:
    """Whether texts with blanks are made of a few pieces that come again and again."""
    texts = some(column)
    if one_word_each(texts):
        return False
    times = Counter[str]()
    for text in texts:
        times.update(text.split())
        if len(times) > PIECES:
            return False
    return times.total() >= TIMES * len(times)
