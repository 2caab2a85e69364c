"""Rows of sequences as rectangles: padded, bucketed by length, or cut from a stream.

Shapes: B rows, P condition, T time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from seriatim.codecs.symbols import PADDING, STOP
from seriatim.data.sequences import Field
from seriatim.errors import DataError

# symbols of a sequence that is tagged, or that a network reads; of a source and of a target
MOST_READ, MOST_PAIRED = 100_000, 10_000


LONGEST = 1024  # symbols of a line that are read before an update; longer ones in pieces


@dataclass(frozen=True)
class Batch:
    """What a model is given (x), what it must predict (y), and which places count."""

    x: Tensor  # (B, P) the condition: nothing (P = 0), a prompt, a source
    x_lengths: Tensor  # (B,)   how much of each row of x is real
    y: Tensor  # (B, T)
    y_mask: Tensor  # (B, T) True where y counts
    before: Tensor | None = (
        None  # (B,)   stream: the symbol before y, when its state is carried over
    )
    words: Tensor | None = None  # (B, P) which of U different words each symbol of x is
    letters: Tensor | None = None  # (U, L) their letters, 0 behind the end of each
    labels: Tensor | None = None  # (B, G) what is known of each sequence
    known: Tensor | None = (
        None  # (B, P + T, K) numbers: what is known in advance, of the past and of the future
    )
    beside: Tensor | None = None  # (B, T, K) what another model says of each label
    further: Tensor | None = None  # (B, P, J) symbols of further fields beside each symbol of x
    # the texts or words that x was made of, and which of them: for what reads text itself
    given: tuple[Field, np.ndarray] | None = None
    # what is read beside x, each with its (B,) lengths: (B, P) symbols or (B, P, C) numbers
    also: tuple[tuple[Tensor, Tensor], ...] = ()

    def __len__(self) -> int:
        return len(self.y)

    def rows(self, which: Sequence[int] | slice | Tensor) -> Batch:
        """Some of the rows of prompts or pairs, and what is known of them."""
        return Batch(
            self.x[which],
            self.x_lengths[which],
            self.y[which],
            self.y_mask[which],
            labels=None if self.labels is None else self.labels[which],
            also=tuple((x[which], lengths[which]) for x, lengths in self.also),
        )


def refuse_long(sequences: Field, most: int) -> None:
    """An error if a sequence is so long that reading it whole would take all memory."""
    longest = int(sequences.lengths.max(initial=0))
    if longest > most:
        raise DataError(
            "a sequence is too long to be read as a whole",
            got=f"{longest:,} symbols in sequence {int(sequences.lengths.argmax()) + 1:,}",
            do=f"Cut it into pieces of at most {most:,}, or leave it out; "
            "is a line ending missing?",
        )


def empty(rows: int) -> Tensor:
    """(B, 0): no symbols in any row."""
    return torch.zeros(rows, 0, dtype=torch.long)


def prompts(rows: Sequence[np.ndarray]) -> Batch:
    """A batch that asks: what comes after each of these?"""
    x, mask = pad(rows)
    return Batch(x, mask.sum(1), empty(len(rows)), empty(len(rows)).bool())


def pad(rows: Sequence[np.ndarray]) -> tuple[Tensor, Tensor]:
    """Rows of different lengths -> (B, T) symbols, or (B, T, C) numbers, and (B, T) mask."""
    lengths = np.array([len(row) for row in rows], np.int64)
    channels = np.shape(rows[0])[1:] if len(rows) else ()
    filled = np.full(
        (len(rows), lengths.max(initial=0), *channels),
        PADDING,
        np.float32 if channels else np.int64,
    )
    mask = np.arange(filled.shape[1]) < lengths[:, None]
    filled[mask] = np.concatenate(rows) if len(rows) else 0
    return torch.from_numpy(filled), torch.from_numpy(mask)


def of_lines(ids: Field, rows: np.ndarray) -> Batch:
    """Whole sequences, each with its STOP."""
    y, mask = pad([np.append(ids.row(s), STOP) for s in rows])
    return Batch(empty(len(rows)), torch.zeros(len(rows), dtype=torch.long), y, mask)


def bounds_of(column: Field, origins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(B,) places -> where the series of each begins and ends. The end of one is an origin of it,
    not of the next."""
    offsets = column.offsets - column.offsets[0]
    s = np.searchsorted(offsets, origins, "left") - 1
    return offsets[s], offsets[s + 1]


def buckets(
    lengths: np.ndarray, symbols: int, generator: np.random.Generator | None = None
) -> list[np.ndarray]:
    """Row numbers grouped by similar length, at most `symbols` padded places a group; shuffled if a
    generator is given.

    Lengths are (N,), or (N, 2) of sources and targets: rows are then alike in the longer of both,
    and within that in each.
    """
    sides = lengths[:, None] if lengths.ndim == 1 else lengths
    longest = sides.max(1, initial=0)
    order = np.arange(len(lengths)) if generator is None else generator.permutation(len(lengths))
    order = order[np.lexsort((*sides[order].T[::-1], longest[order]))]
    groups, start = [], 0
    for stop in range(1, len(order) + 1):
        if stop == len(order) or (stop + 1 - start) * (longest[order[stop]] + 1) > symbols:
            groups.append(order[start:stop])
            start = stop
    return groups if generator is None else [groups[i] for i in generator.permutation(len(groups))]


def evenly(lengths: np.ndarray, rows: int, symbols: int) -> np.ndarray:
    """Row numbers evenly spread over all: at most so many, with about so many symbols at most."""
    many = min(rows, max(1, int(symbols / max(1.0, float(lengths.mean())))), len(lengths))
    return np.unique(np.linspace(0, len(lengths) - 1, many).astype(np.int64))


def line_epoch(ids: Field, symbols: int, generator: np.random.Generator) -> Iterator[Batch]:
    """One pass over independent sequences; very long ones come in pieces that continue each
    other."""
    for rows in buckets(ids.lengths, symbols, generator):
        yield from pieces(of_lines(ids, rows), LONGEST)


def pieces(batch: Batch, length: int) -> Iterator[Batch]:
    """A batch cut in time; each piece but the first continues the one before it, so that a state
    can be carried."""
    for t in range(0, batch.y.shape[1], length):
        yield replace(
            batch,
            y=batch.y[:, t : t + length],
            y_mask=batch.y_mask[:, t : t + length],
            before=batch.y[:, t - 1] if t else None,
        )


def readers(symbols: int, rows: int, length: int) -> int:
    """How many readers a stream has room for: as many as asked, if each gets a whole chunk."""
    return max(1, min(rows, symbols // (length + 1)))


def stream_epoch(
    ids: Field, rows: int, length: int, generator: np.random.Generator
) -> Iterator[Batch]:
    """One pass over a stream: B readers, evenly spaced from a random place on, advance together by
    `length` symbols."""
    stream = ids.flat
    rows = readers(len(stream), rows, length)
    span = -(-len(stream) // rows)  # symbols for each reader
    begin = generator.integers(len(stream)) + np.arange(rows) * span  # (B,)
    last = None
    for t in range(0, span, length):
        places = begin[:, None] + np.arange(t, min(t + length, span))  # (B, T)
        y = torch.from_numpy(stream[places % len(stream)].astype(np.int64))
        yield Batch(
            empty(rows),
            torch.zeros(rows, dtype=torch.long),
            y,
            torch.ones_like(y, dtype=torch.bool),
            last,
        )
        last = y[:, -1]
