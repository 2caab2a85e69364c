"""Brackets among the symbols of a codec, for models that read trees: which they are, and whether each
that opens is closed."""

from __future__ import annotations

import numpy as np

from seriatim.codecs.symbols import SPECIALS, Codec
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import ConfigError, DataError

OPEN, CLOSE = "(", ")"


def brackets_in(codec: Codec) -> tuple[int, int] | None:
    """The numbers of both brackets, if the codec knows them."""
    number = {codec.shown(name): i for i, name in enumerate(codec.symbols)}
    both = number.get(OPEN), number.get(CLOSE)
    return None if None in both else (both[0], both[1])  # type: ignore[return-value]


def check_brackets(codec: Codec, origin: str) -> None:
    """Refuse training data without brackets, or with symbols that hold more than one of them."""
    mixed = [
        codec.shown(name)
        for name in codec.symbols[len(SPECIALS) :]
        if len(codec.shown(name)) > 1 and {OPEN, CLOSE} & set(codec.shown(name))
    ]
    if mixed:
        raise ConfigError(
            "brackets are symbols of their own where trees are read",
            got=", ".join(map(repr, mixed[:5])),
            do="Write blanks around them, or use --unit word or character",
        )
    if brackets_in(codec) is None:
        raise DataError(
            "a tree is read from brackets, and there are none",
            got=f"{codec.size:,} symbols",
            file=origin,
            do="Give texts such as '( and ( or T F ) T )', or choose another model",
        )


def refuse_unbalanced(codec: Codec, data: Sequences, column: Field) -> None:
    """An error that names the first sequence in which a bracket has no partner."""
    both = brackets_in(codec)
    if both is None or not len(column.flat):
        return
    ids = codec.encode(column)
    steps = (ids.flat == both[0]).astype(np.int64) - (ids.flat == both[1])
    depth = np.concatenate([[0], np.cumsum(steps)])
    offsets = ids.offsets - ids.offsets[0]
    filled = np.flatnonzero(ids.lengths > 0)
    if not len(filled):
        return
    lowest = np.minimum.reduceat(depth[1:], offsets[filled]) - depth[offsets[filled]]
    left = depth[offsets[filled + 1]] - depth[offsets[filled]]
    wrong = np.flatnonzero((lowest < 0) | (left != 0))
    if len(wrong):
        s, open_ones = int(filled[wrong[0]]), int(left[wrong[0]])
        lines = data.lines
        raise DataError(
            f"the brackets of sequence {s + 1:,} do not belong together",
            got=f"{open_ones:,} more opened than closed"
            if open_ones > 0
            else f"a {CLOSE!r} that closes nothing",
            file=data.origin,
            line=None if lines is None else int(lines[s]),
            do="Close each bracket that is opened, or leave the sequence out",
        )
