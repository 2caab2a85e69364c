"""From distributions to sequences, symbol by symbol: greedy and sampling. Knows start, step, select
and nothing else.

Every row has its own random numbers and its own history, and rows that have ended are dropped, so
that a row's result does not depend on its neighbours. Shapes: B rows, V symbols.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.decoding.constraints import Demands
from seriatim.decoding.options import DecodingOptions
from seriatim.decoding.results import Result
from seriatim.models.base import Model, asked, select


def sample(
    model: Model,
    batch: Batch,
    options: DecodingOptions,
    seeds: Sequence[int],
    stops: Sequence[int],
    forbidden: Sequence[int],
    demands: Demands | None = None,
) -> list[Result]:
    """Symbol by symbol; the most likely one at temperature 0. Where not even the prefix may be
    written, there is no result."""
    growing = sampling(model, batch, options, seeds, stops, forbidden, demands)
    found, least = deque(growing, maxlen=1)[0], len(demands.prefix) if demands else 0
    return [each if len(each.symbols) >= least else Result([], -np.inf) for each in found]


def sampling(
    model: Model,
    batch: Batch,
    options: DecodingOptions,
    seeds: Sequence[int],
    stops: Sequence[int],
    forbidden: Sequence[int],
    demands: Demands | None = None,
) -> Generator[list[Result], None, None]:
    """The same, showing the results as they grow: once before the first symbol and once after
    each."""
    model, demands = asked(model), demands or Demands()
    most = demands.room(len(seeds), options.length)
    results = [Result([]) for _ in seeds]
    yield results
    dice = [np.random.default_rng(seed) for seed in seeds]
    following, state = model.start(batch)
    alive, used = list(range(len(results))), already(batch, model.vocabulary, options)
    for number in range(max(most, default=0)):
        throws = [dice[i].random() for i in alive] if options.temperature else None
        allowed = demands.apply(following.log_probs(), [results[i].symbols for i in alive])
        symbols, values = choose(allowed, used, options, forbidden, throws)
        drawn = zip(alive, symbols.tolist(), values, strict=True)
        kept = [
            row
            for row, (i, symbol, value) in enumerate(drawn)
            if results[i].take(symbol, value, stops) and number + 1 < most[i]
        ]
        yield results
        if not kept:
            break
        if len(kept) < len(alive):
            rows = torch.tensor(kept)
            alive, symbols, state = [alive[row] for row in kept], symbols[rows], select(state, rows)
            used = None if used is None else used[rows]
        if used is not None:
            used[torch.arange(len(kept)), symbols] = True
        following, state = model.step(symbols, state)


def already(batch: Batch, vocabulary: int, options: DecodingOptions) -> Tensor | None:
    """(B, V) the symbols of the prompts, if repetitions are to be told."""
    if options.repetition_penalty == 1:
        return None
    used = torch.zeros(len(batch.x), vocabulary, dtype=torch.bool)
    for row, (prompt, length) in enumerate(zip(batch.x, batch.x_lengths, strict=True)):
        used[row, prompt[:length]] = True
    return used


def choose(
    log_probs: Tensor,
    used: Tensor | None,
    options: DecodingOptions,
    forbidden: Sequence[int],
    throws: Sequence[float] | None,
) -> tuple[Tensor, list[float]]:
    """(B, V) log-probabilities -> (B,) symbols, by a throw of each row's dice or the likeliest; and
    their log-probabilities, -inf if none may follow."""
    weights = shape(
        log_probs if throws is None else log_probs.double(), used, options, forbidden
    )  # (B, V)
    symbols = weights.argmax(-1) if throws is None else draw(weights, throws)
    values, allowed = (
        each.gather(1, symbols[:, None])[:, 0].tolist() for each in (log_probs, weights)
    )
    return symbols, [
        -np.inf if weight == -np.inf else value
        for value, weight in zip(values, allowed, strict=True)
    ]


def shape(
    log_probs: Tensor, used: Tensor | None, options: DecodingOptions, forbidden: Sequence[int]
) -> Tensor:
    """(B, V) log-probabilities -> (B, V) log-weights to draw from: -inf where a symbol may not be
    drawn."""
    weights = (
        log_probs.index_fill(-1, torch.tensor(forbidden), -torch.inf) if forbidden else log_probs
    )
    if used is not None and options.repetition_penalty != 1:
        weights = torch.where(used, weights * options.repetition_penalty, weights)
    if options.temperature not in (0, 1):
        weights = weights / options.temperature
    if options.top_k and options.top_k < weights.shape[-1]:
        best = weights.topk(options.top_k)
        weights = torch.full_like(weights, -torch.inf).scatter(-1, best.indices, best.values)
    if options.min_p:
        weights = weights.masked_fill(
            weights < weights.max(-1, keepdim=True).values + np.log(options.min_p), -torch.inf
        )
    if options.top_p < 1:
        ranked, order = torch.softmax(weights, -1).sort(dim=-1, descending=True, stable=True)
        beyond = ranked.cumsum(-1) - ranked >= options.top_p  # keeps at least the first
        weights = weights.masked_fill(beyond.gather(-1, order.argsort(-1)), -torch.inf)
    return weights


def draw(weights: Tensor, throws: Sequence[float]) -> Tensor:
    """(B, V) log-weights, a throw between 0 and 1 for each row -> (B,) symbols."""
    cumulative = torch.softmax(weights, -1).nan_to_num().cumsum(-1)
    return (cumulative > torch.tensor(throws)[:, None] * cumulative[:, -1:]).double().argmax(-1)


def one_row(batch: Batch, row: int) -> Batch:
    """Without padding."""
    one = batch.rows(slice(row, row + 1))
    return replace(one, x=one.x[:, : one.x_lengths[0]])
