"""How likely is this text? The log-probability of every symbol, by any model: the one yardstick.

Lines are scored whole, each with its STOP. A stream is cut into blocks that run side by side; each
block is preceded by as many symbols before it as the model asks for, read but not scored, and its
state is carried to its end. Shapes: R blocks, N symbols.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch, buckets, of_lines, pad, prompts
from seriatim.data.sequences import SYMBOLS, Field, offsets_of
from seriatim.distributions.symbols import Distribution
from seriatim.models.base import Model, asked, evaluating
from seriatim.models.mixture import Mixture
from seriatim.progress import passing

BLOCK = 8  # symbols of a stream scored in one go, in multiples of those read before them


ROWS, CHUNK = 16, 256  # blocks side by side, and most symbols of a row between two looks


PLACES = 16384  # padded places in a batch of lines


MOST_LOOKED_AT = 50_000  # symbols of validation data that training looks at


CELLS = 1 << 26  # most places x vocabulary held at a time


def score(model: Model, ids: Field, by: str) -> Field:
    """Natural-log probability of each symbol, sequence by sequence (lines: STOP is scored last)."""
    offsets = offsets_of(ids.lengths + (by == "line"))
    if isinstance(model, Mixture):  # each part in its own best way
        parts = [
            score(part, ids, by).values + weight
            for part, weight in zip(model.parts, model.log_weights.tolist(), strict=True)
        ]
        return Field(np.logaddexp.reduce(parts), offsets, SYMBOLS)
    swept = model.sweep(ids, stop=by == "line")
    if swept is not None:
        return Field(swept.astype(np.float64), offsets, SYMBOLS)
    with evaluating(model):
        return score_stream(model, ids) if by == "stream" else score_lines(model, ids)


def score_lines(model: Model, ids: Field) -> Field:
    """Independent sequences, each with its STOP, those of similar length together."""
    offsets = offsets_of(ids.lengths + 1)
    values = np.zeros(offsets[-1])
    for rows in passing("scoring", buckets(ids.lengths, PLACES)):
        batch = of_lines(ids, rows)
        log_prob = walk(model, batch, batch.y)  # (B, T)
        for row, s in enumerate(rows):
            values[offsets[s] : offsets[s + 1]] = log_prob[row, : offsets[s + 1] - offsets[s]]
    return Field(values, offsets, SYMBOLS)


def score_stream(model: Model, ids: Field) -> Field:
    """One long sequence, in blocks side by side, each after what stands before it."""
    stream = ids.flat
    values = np.zeros(len(stream))
    block = block_of(model)
    begins = np.arange(0, len(stream), block)
    for i in passing("scoring", range(0, len(begins), ROWS)):
        rows = begins[i : i + ROWS]
        y, mask = pad([stream[begin : begin + block] for begin in rows])  # (R, block)
        log_prob = walk(
            model, prompts([stream[max(0, begin - model.warm) : begin] for begin in rows]), y
        )
        values[rows[0] : rows[-1] + block] = log_prob[mask.numpy()]  # blocks lie end to end
    return Field(values, ids.offsets - ids.offsets[0], SYMBOLS)


def block_of(model: Model) -> int:
    """How many symbols of a stream are scored before what stands before them is read again."""
    return min(BLOCK * model.warm, (model.longest or 10**12) - model.warm - 1)


def walk(model: Model, batch: Batch, y: Tensor) -> np.ndarray:
    """(B, T) log-probabilities of y after batch.x."""
    return torch.cat(
        [following.log_prob(some) for following, some in walking(model, batch, y)], 1
    ).numpy()


def walking(model: Model, batch: Batch, y: Tensor) -> Iterator[tuple[Distribution, Tensor]]:
    """What is expected after batch.x and what comes, y, a chunk at a time with the state carried:
    memory stays bounded."""
    model = asked(model)
    following, state = model.start(batch)
    yield following[:, None], y[:, :1]
    chunk = max(1, min(CHUNK * max(1, ROWS // len(y)), CELLS // (model.vocabulary * len(y))))
    for t in passing("scoring", range(0, y.shape[1] - 1, chunk)):
        stop = min(t + chunk, y.shape[1] - 1)
        following, state = model.extend(y[:, t:stop], state)
        yield following, y[:, t + 1 : stop + 1]


def mean_loss(model: Model, ids: Field, by: str, most: int = MOST_LOOKED_AT) -> float:
    """Nats per symbol of the first `most` symbols: what training looks at."""
    if by == "stream":
        ids = Field(ids.flat[:most], np.array([0, min(most, len(ids.flat))]), SYMBOLS)
    else:
        ids = ids.take(slice(0, max(1, int(np.searchsorted(ids.offsets - ids.offsets[0], most)))))
    return float(-score(model, ids, by).values.mean())
