"""What is right for each source: equal sources have several references, and so have further columns.

Shapes: S pairs, S' different sources.
"""

from __future__ import annotations

import re
from collections.abc import Hashable

import numpy as np

from seriatim.codecs.symbols import UNKNOWN, Codec
from seriatim.data.sequences import TEXT, Field, Sequences
from seriatim.tasks.translate.search import distinct
from seriatim.tasks.translate.sources import SOURCE, TARGET, further_source, further_sources

Places = list[list[tuple[int, int]]]  # for each source its references: column and row


def further(data: Sequences) -> list[str]:
    """The columns of further references: target2, target3, ..."""
    return [name for name in data.fields if re.fullmatch(rf"{TARGET}\d+", name)]


def gathered(data: Sequences) -> tuple[np.ndarray, Places]:
    """(S',) the first place of each different source, and for each of these its references. Empty
    cells of further columns are none. Sources are equal if all that stands beside them is."""
    sources = [data.field(SOURCE), *(further_source(data, each) for each in further_sources(data))]
    keys = (tuple(key_of(column, s) for column in sources) for s in range(len(data)))
    first, owner = distinct(keys)
    right: Places = [[] for _ in first]
    lengths = [data.fields[name].lengths for name in further(data)]
    for s, number in enumerate(owner):
        more = ((column, s) for column, each in enumerate(lengths, 1) if each[s])
        right[number] += [(0, s), *more]
    return first, right


def references(codec: Codec, data: Sequences, right: Places) -> list[list[str]]:
    """The references of each source as texts."""
    columns = [rewritten(codec, data.fields[name]) for name in (TARGET, *further(data))]
    return [[written(columns[column], s) for column, s in several] for several in right]


def reference_symbols(codec: Codec, data: Sequences, right: Places) -> list[list[list[str]]]:
    """The references of each source as symbols of the target; an unknown one is like no other."""
    columns = [codec.encode(data.fields[name]) for name in (TARGET, *further(data))]

    def symbol_names(column: int, s: int) -> list[str]:
        """Those of one reference."""
        row = columns[column].row(s)
        return [codec.symbols[i] if i != UNKNOWN else f"<unk {s}>" for i in row]

    return [[symbol_names(column, s) for column, s in several] for several in right]


def rewritten(codec: Codec, column: Field) -> Field:
    """References as this codec would write them, where it does not keep every blank."""
    if codec.lossless or column.kind != TEXT:
        return column
    ids = codec.encode(column)
    return Field.of_text(
        str(column.raw(s)) if UNKNOWN in ids.row(s) else codec.decode(ids.row(s))
        for s in range(len(column))
    )


def written(column: Field, s: int) -> str:
    """A sequence as text: symbols with blanks between."""
    raw = column.raw(s)
    if isinstance(raw, str):
        return raw
    return " ".join(map(str, raw if isinstance(raw, list) else raw.tolist()))


def key_of(column: Field, s: int) -> Hashable:
    """What equal sequences share, as they were given: to a codec others may look alike."""
    raw = column.raw(s)
    if isinstance(raw, str):
        return raw
    return tuple(raw) if isinstance(raw, list) else np.asarray(raw).tobytes()
