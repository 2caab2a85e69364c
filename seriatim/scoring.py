"""How likely is this text? The log-probability of every symbol, by any model: the one yardstick.

Lines are scored whole, each with its STOP. A stream is cut into blocks that run side by side; each block
is preceded by as many symbols before it as the model asks for, read but not scored, and its state is carried to its end.
Shapes: R blocks, N symbols.
"""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import MOST_PAIRED, Batch, buckets, of_lines, of_pairs, of_sets, pad, prompts, refuse_long
from seriatim.codecs.pairs import Pairs
from seriatim.data.sequences import NUMBERS, SYMBOLS, Field, offsets_of
from seriatim.distributions import Distribution
from seriatim.models.base import Model
from seriatim.waiting import passing

BLOCK = 8                         # symbols of a stream scored in one go, in multiples of those read before them
ROWS, CHUNK = 16, 256             # blocks side by side, and most symbols of a row between two looks
PLACES = 16384                    # padded places in a batch of lines
CELLS = 1 << 26                   # most places x vocabulary held at a time


def score(model: Model, ids: Field, by: str) -> Field:
    """Natural-log probability of each symbol, sequence by sequence (lines: STOP is scored last)."""
    offsets = offsets_of(ids.lengths + (by == "line"))
    if hasattr(model, "parts"):                                                   # a mixture: each part in its own best way
        parts = [score(part, ids, by).values + weight for part, weight in zip(model.parts, model.log_weights.tolist(), strict=True)]
        return Field(np.logaddexp.reduce(parts), offsets, SYMBOLS)
    swept = model.sweep(ids, stop=by == "line")
    if swept is not None:
        return Field(swept.astype(np.float64), offsets, SYMBOLS)
    training = isinstance(model, torch.nn.Module) and model.training
    if training:
        model.eval()
    with torch.inference_mode():
        scored = score_stream(model, ids) if by == "stream" else score_lines(model, ids)
    if training:
        model.train()
    return scored


def score_lines(model: Model, ids: Field) -> Field:
    offsets = offsets_of(ids.lengths + 1)
    values = np.zeros(offsets[-1])
    for rows in passing("scoring", buckets(ids.lengths, PLACES)):
        batch = of_lines(ids, rows)
        log_prob = walk(model, batch, batch.y)                                    # (B, T)
        for row, s in enumerate(rows):
            values[offsets[s]:offsets[s + 1]] = log_prob[row, :offsets[s + 1] - offsets[s]]
    return Field(values, offsets, SYMBOLS)


def score_stream(model: Model, ids: Field) -> Field:
    stream = ids.flat
    values = np.zeros(len(stream))
    block = min(BLOCK * model.warm, (model.longest or 10**12) - model.warm - 1)
    begins = np.arange(0, len(stream), block)
    for i in passing("scoring", range(0, len(begins), ROWS)):
        rows = begins[i:i + ROWS]
        y, mask = pad([stream[begin:begin + block] for begin in rows])            # (R, block)
        log_prob = walk(model, prompts([stream[max(0, begin - model.warm):begin] for begin in rows]), y)
        values[rows[0]:rows[-1] + block] = log_prob[mask.numpy()]                 # blocks lie end to end
    return Field(values, ids.offsets - ids.offsets[0], SYMBOLS)


def walk(model: Model, batch: Batch, y: Tensor) -> np.ndarray:
    """(B, T) log-probabilities of y after batch.x."""
    return torch.cat([following.log_prob(some) for following, some in walking(model, batch, y)], 1).numpy()


def walking(model: Model, batch: Batch, y: Tensor) -> Iterator[tuple[Distribution, Tensor]]:
    """What is expected after batch.x and what comes, y, a chunk at a time with the state carried: memory stays bounded."""
    following, state = model.start(batch)
    yield following[:, None], y[:, :1]
    chunk = max(1, min(CHUNK * max(1, ROWS // len(y)), CELLS // (model.vocabulary * len(y))))
    for t in passing("scoring", range(0, y.shape[1] - 1, chunk)):
        stop = min(t + chunk, y.shape[1] - 1)
        following, state = model.extend(y[:, t:stop], state)
        yield following, y[:, t + 1:stop + 1]


@dataclass(frozen=True)
class SetScores:
    """What a model says about each of N sets."""
    log_prob: Field                # (N,) natural-log probability, sequence by sequence
    found: np.ndarray              # (N,) how many elements it takes for likelier than not
    right: np.ndarray              # (N,) how many of these are in the set
    true: np.ndarray               # (N,) how many are in the set


def score_sets(model: Model, sets: Field) -> SetScores:
    """Every set of every sequence, each sequence from its beginning; the end is not scored."""
    offsets = sets.offsets - sets.offsets[0]
    values = np.zeros((4, offsets[-1]))
    training = isinstance(model, torch.nn.Module) and model.training
    if training:
        model.eval()
    with torch.inference_mode():
        for rows in passing("scoring", buckets(sets.lengths, PLACES)):
            batch = of_sets(sets, rows)
            columns = []
            for following, y in walking(model, batch, batch.y):
                found = following.mode()
                columns.append(torch.stack([following.log_prob(y), found.sum(-1), (found * y).sum(-1), y.sum(-1)]))      # (4, B, T')
            places = np.concatenate([np.arange(offsets[s], offsets[s + 1]) for s in rows])
            values[:, places] = torch.cat(columns, 2)[:, batch.y_mask].numpy()
    if training:
        model.train()
    return SetScores(Field(values[0], offsets, NUMBERS), *values[1:].astype(np.int64))


def score_pairs(model: Model, pairs: Pairs) -> Field:
    """Natural-log probability of each symbol of the targets given their sources, STOP last."""
    offsets = offsets_of(pairs.y.lengths + 1)
    if hasattr(model, "parts"):
        parts = [score_pairs(part, pairs).values + weight for part, weight in zip(model.parts, model.log_weights.tolist(), strict=True)]
        return Field(np.logaddexp.reduce(parts), offsets, SYMBOLS)
    for column in (pairs.x, pairs.y):
        refuse_long(column, MOST_PAIRED)
    values = np.zeros(offsets[-1])
    training = isinstance(model, torch.nn.Module) and model.training
    if training:
        model.eval()
    with torch.inference_mode():
        for rows in passing("scoring", buckets(np.maximum(pairs.x.lengths, pairs.y.lengths), PLACES // 4)):
            batch = of_pairs(pairs, rows)
            log_prob = model.predict(batch).log_prob(batch.y).numpy()                  # (B, T)
            places = np.concatenate([np.arange(offsets[s], offsets[s + 1]) for s in rows])
            values[places] = log_prob[batch.y_mask.numpy()]
    if training:
        model.train()
    return Field(values, offsets, SYMBOLS)


def mean_loss(model: Model, ids: Field, by: str, most: int = 50_000) -> float:
    """Nats per symbol of the first `most` symbols: what training looks at."""
    if by == "stream":
        ids = Field(ids.flat[:most], np.array([0, min(most, len(ids.flat))]), SYMBOLS)
    else:
        ids = ids.take(slice(0, max(1, int(np.searchsorted(ids.offsets - ids.offsets[0], most)))))
    return float(-score(model, ids, by).values.mean())
