"""How likely is this text? The log-probability of every symbol, by any model: the one yardstick.

Lines are scored whole, each with its STOP. A stream is cut into blocks that run side by side; each block
is preceded by the last WARM symbols before it, read but not scored, and its state is carried to its end.
Shapes: R blocks, N symbols.
"""
from __future__ import annotations

import numpy as np
import torch

from seriatim.batches import buckets, of_lines, prompts
from seriatim.data.sequences import SYMBOLS, Field, offsets_of
from seriatim.models.base import Model

BLOCK, WARM = 4096, 512           # symbols of a stream scored in one go, and read before them
ROWS, CHUNK = 16, 256             # blocks side by side, symbols between two looks
LINE_SYMBOLS = 16384              # padded places in a batch of lines


def score(model: Model, ids: Field, by: str) -> Field:
    """Natural-log probability of each symbol, sequence by sequence (lines: STOP is scored last)."""
    training = getattr(model, "training", False)
    for part in getattr(model, "parts", [model]):
        if hasattr(part, "eval"):
            part.eval()
    with torch.inference_mode():
        scored = score_stream(model, ids) if by == "stream" else score_lines(model, ids)
    if training:
        model.train()
    return scored


def score_lines(model: Model, ids: Field) -> Field:
    offsets = offsets_of(ids.lengths + 1)
    values = np.zeros(offsets[-1])
    for rows in buckets(ids.lengths, LINE_SYMBOLS):
        batch = of_lines(ids, rows)
        log_prob = model.predict(batch).log_prob(batch.y).numpy()                 # (B, T)
        for row, s in enumerate(rows):
            values[offsets[s]:offsets[s + 1]] = log_prob[row, :offsets[s + 1] - offsets[s]]
    return Field(values, offsets, SYMBOLS)


def score_stream(model: Model, ids: Field) -> Field:
    stream = ids.flat
    values = np.zeros(len(stream))
    begins = np.arange(0, len(stream), BLOCK)
    for i in range(0, len(begins), ROWS):
        rows = begins[i:i + ROWS]
        blocks = [stream[begin:begin + BLOCK] for begin in rows]
        width = max(map(len, blocks))
        y = torch.zeros(len(rows), width, dtype=torch.long)                       # (R, BLOCK)
        for row, block in enumerate(blocks):
            y[row, :len(block)] = torch.from_numpy(block.astype(np.int64))
        following, state = model.start(prompts([stream[max(0, begin - WARM):begin] for begin in rows]))
        columns = [following.log_prob(y[:, 0])[:, None]]
        for t in range(0, width - 1, CHUNK):
            stop = min(t + CHUNK, width - 1)
            following, state = model.extend(y[:, t:stop], state)
            columns.append(following.log_prob(y[:, t + 1:stop + 1]))
        log_prob = torch.cat(columns, 1).numpy()                                  # (R, BLOCK)
        for row, (begin, block) in enumerate(zip(rows, blocks, strict=True)):
            values[begin:begin + len(block)] = log_prob[row, :len(block)]
    return Field(values, ids.offsets - ids.offsets[0], SYMBOLS)


def mean_loss(model: Model, ids: Field, by: str, most: int = 50_000) -> float:
    """Nats per symbol of the first `most` symbols: what training looks at."""
    if by == "stream":
        ids = Field(ids.flat[:most], np.array([0, min(most, len(ids.flat))]), SYMBOLS)
    else:
        ids = ids.take(slice(0, max(1, int(np.searchsorted(ids.offsets - ids.offsets[0], most)))))
    return float(-score(model, ids, by).values.mean())
