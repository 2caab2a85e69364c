"""From distributions to sequences: greedy, sampling, beam search, and the best of all. Knows start, step, select and nothing else.

Every row has its own random numbers and its own history, and rows that have ended are dropped, so that a
row's result does not depend on its neighbours. Shapes: B rows, W beams, V symbols.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.config import DecodingOptions
from seriatim.errors import ConfigError
from seriatim.models.base import Model, leaves, select

STATES = 1 << 22                           # most beginnings compared at a step of an exact search


@dataclass
class Result:
    """A sequence written by a model."""
    symbols: list[int]
    log_prob: float = 0.0                  # of all its symbols, under the model itself
    ended: bool = False                    # by a stop symbol, which is not among the symbols
    score: float = 0.0                     # beam search: what it was ranked by


def decode(model: Model, batch: Batch, options: DecodingOptions, stops: Sequence[int] = (), forbidden: Sequence[int] = ()) -> list[list[Result]]:
    """For each row of the batch, `options.count` results (beam: the best of them first)."""
    with torch.inference_mode():
        if options.exact:
            return [[best(model, one_row(batch, row), options, [*stops, *forbidden])] for row in range(len(batch.x))]
        if options.beam:
            return beam(model, batch, options, stops, forbidden)
        rows = torch.arange(len(batch.x)).repeat_interleave(options.count)
        many = Batch(batch.x[rows], batch.x_lengths[rows], batch.y[rows], batch.y_mask[rows])
        seeds = [options.seed + i % options.count for i in range(len(rows))]
        results = sample(model, many, options, seeds, stops, forbidden)
        return [results[i:i + options.count] for i in range(0, len(results), options.count)]


def sample(model: Model, batch: Batch, options: DecodingOptions, seeds: Sequence[int], stops: Sequence[int], forbidden: Sequence[int]) -> list[Result]:
    """Symbol by symbol; the most likely one at temperature 0."""
    return deque(sampling(model, batch, options, seeds, stops, forbidden), maxlen=1)[0]


def sampling(model: Model, batch: Batch, options: DecodingOptions, seeds: Sequence[int], stops: Sequence[int],
             forbidden: Sequence[int]) -> Iterator[list[Result]]:
    """The same, showing the results as they grow: once before the first symbol and once after each."""
    results = [Result([]) for _ in seeds]
    yield results
    dice = [np.random.default_rng(seed) for seed in seeds]
    following, state = model.start(batch)
    alive = list(range(len(results)))
    used = torch.zeros(len(alive), following.log_probs().shape[-1], dtype=torch.bool)          # (B, V) already written
    for row, (prompt, length) in enumerate(zip(batch.x, batch.x_lengths, strict=True)):
        used[row, prompt[:length]] = True
    for number in range(options.length):
        log_probs = following.log_probs().double()
        weights = shape(log_probs, used, options, forbidden)                                   # (B, V)
        symbols = weights.argmax(-1) if options.temperature == 0 else draw(weights, [dice[i] for i in alive])
        kept = []
        for row, (i, symbol) in enumerate(zip(alive, symbols.tolist(), strict=True)):
            if weights[row, symbol] == -torch.inf:                                             # nothing may follow
                continue
            results[i].log_prob += log_probs[row, symbol].item()
            if symbol in stops:
                results[i].ended = True
            else:
                results[i].symbols.append(symbol)
                kept.append(row)
        yield results
        if not kept or number + 1 == options.length:
            break
        rows = torch.tensor(kept)
        alive, symbols, used = [alive[row] for row in kept], symbols[rows], used[rows]
        used[torch.arange(len(kept)), symbols] = True
        following, state = model.step(symbols, state if len(kept) == len(weights) else select(state, rows))


def shape(log_probs: Tensor, used: Tensor, options: DecodingOptions, forbidden: Sequence[int]) -> Tensor:
    """(B, V) log-probabilities -> (B, V) log-weights to draw from: -inf where a symbol may not be drawn."""
    weights = log_probs.clone()
    if forbidden:
        weights[:, list(forbidden)] = -torch.inf
    if options.repetition_penalty != 1:
        weights = torch.where(used, weights * options.repetition_penalty, weights)
    if options.temperature not in (0, 1):
        weights = weights / options.temperature
    if options.top_k and options.top_k < weights.shape[-1]:
        best = weights.topk(options.top_k)
        weights = torch.full_like(weights, -torch.inf).scatter(-1, best.indices, best.values)
    if options.min_p:
        weights[weights < weights.max(-1, keepdim=True).values + np.log(options.min_p)] = -torch.inf
    if options.top_p < 1:
        ranked, order = torch.softmax(weights, -1).sort(dim=-1, descending=True, stable=True)
        beyond = ranked.cumsum(-1) - ranked >= options.top_p                                   # keeps at least the first
        weights[beyond.gather(-1, order.argsort(-1))] = -torch.inf
    return weights


def draw(weights: Tensor, dice: Sequence[np.random.Generator]) -> Tensor:
    """(B, V) log-weights -> (B,) symbols, one throw of each row's own dice."""
    cumulative = torch.softmax(weights, -1).nan_to_num().cumsum(-1)
    throw = torch.tensor([each.random() for each in dice])[:, None] * cumulative[:, -1:]
    return (cumulative > throw).double().argmax(-1)


def beam(model: Model, batch: Batch, options: DecodingOptions, stops: Sequence[int], forbidden: Sequence[int]) -> list[list[Result]]:
    """The W likeliest beginnings at each step; a finished one is ranked by log p / length^penalty."""
    rows, width = len(batch.x), max(options.beam, options.count)
    wide = torch.arange(rows).repeat_interleave(width)
    following, state = model.start(batch)
    following, state = following[wide], select(state, wide)
    total = torch.full((rows, width), -torch.inf, dtype=torch.double)                          # (B, W)
    total[:, 0] = 0.0                                                                          # all beams begin alike
    written: list[list[list[int]]] = [[[] for _ in range(width)] for _ in range(rows)]
    finished: list[list[Result]] = [[] for _ in range(rows)]
    alive = list(range(rows))

    def finish(row: int, symbols: list[int], log_prob: float, ended: bool) -> None:
        score = log_prob / max(1, len(symbols) + ended) ** options.length_penalty
        finished[row].append(Result(symbols, log_prob, ended, score))

    for _ in range(options.length):
        log_probs = following.log_probs().double().clone()
        log_probs[:, list(forbidden)] = -torch.inf
        size = log_probs.shape[-1]
        joint = (total[:, :, None] + log_probs.view(len(alive), width, size)).flatten(1)       # (B, W V)
        best = joint.sort(dim=-1, descending=True, stable=True)
        kept, parents, symbols, totals = [], [], [], []
        for place, row in enumerate(alive):
            live = []
            for value, cell in zip(best.values[place, :width * (len(stops) + 1)].tolist(), best.indices[place].tolist()):
                if value == -np.inf or len(live) == width:
                    break
                parent, symbol = divmod(cell, size)
                if symbol in stops:
                    finish(row, written[row][parent], value, True)
                else:
                    live.append((parent, symbol, value))
            enough = sorted((result.score for result in finished[row]), reverse=True)[width - 1:width]
            bound = live[0][2] / options.length ** options.length_penalty if live else -np.inf
            if not live or (enough and enough[0] >= bound):
                if not enough:
                    for parent, symbol, value in live:
                        finish(row, written[row][parent] + [symbol], value, False)
                    if not live:                                                               # nothing may follow
                        for parent in range(width):
                            if total[place, parent] > -torch.inf:
                                finish(row, written[row][parent], total[place, parent].item(), False)
                written[row] = []
                continue
            live += [(live[0][0], live[0][1], -np.inf)] * (width - len(live))
            written[row] = [written[row][parent] + [symbol] for parent, symbol, _ in live]
            kept.append(row)
            parents += [place * width + parent for parent, _, _ in live]
            symbols += [symbol for _, symbol, _ in live]
            totals.append([value for _, _, value in live])
        alive = kept
        if not alive:
            break
        total = torch.tensor(totals, dtype=torch.double)
        following, state = model.step(torch.tensor(symbols), select(state, torch.tensor(parents)))
    for place, row in enumerate(alive):
        for number in range(width):
            if total[place, number] > -torch.inf:
                finish(row, written[row][number], total[place, number].item(), False)
    return [sorted(each, key=lambda result: -result.score)[:options.count] for each in finished]


def one_row(batch: Batch, row: int) -> Batch:
    return Batch(batch.x[row:row + 1, :batch.x_lengths[row]], batch.x_lengths[row:row + 1], batch.y[row:row + 1], batch.y_mask[row:row + 1])


def best(model: Model, batch: Batch, options: DecodingOptions, forbidden: Sequence[int]) -> Result:
    """The most probable sequence of exactly `length` symbols, by dynamic programming over states (Viterbi).

    Of all beginnings that lead to the same state only the likeliest can be part of the best; and none that is less likely than a
    whole sequence already found by beam search. For models that look back a fixed number of symbols, whose states meet again.
    """
    guess = beam(model, batch, replace(options, beam=8, count=1, length_penalty=0.0), (), forbidden)[0]
    bound = guess[0].log_prob if guess and len(guess[0].symbols) == options.length else -torch.inf
    following, state = model.start(batch)
    total, steps = torch.zeros(1, dtype=torch.double), []                        # (S,) likeliest way to each state; how each was reached
    for _ in range(options.length):
        scores = total[:, None] + following.log_probs().double()                 # (S, V)
        scores[:, list(forbidden)] = -torch.inf
        parents, symbols = (scores >= max(bound - 1e-9, -1e300)).nonzero(as_tuple=True)
        if not len(parents):
            break
        if len(parents) > STATES:
            raise ConfigError("too many states to search them all", got=f"{len(parents):,} after {len(steps)} symbols",
                              do="Search exactly with a count model of lower order, or with --beam")
        total = scores[parents, symbols]
        following, state = model.step(symbols, select(state, parents))
        keys = torch.cat([leaf.reshape(len(symbols), -1).double() for leaf in leaves(state).values()], 1).numpy()
        order = np.lexsort((-total.numpy(), *keys.T)) if keys.shape[1] else np.argsort(-total.numpy(), kind="stable")
        first = np.ones(len(order), bool)
        first[1:] = (keys[order[1:]] != keys[order[:-1]]).any(1)                 # the likeliest of those that meet
        kept = torch.from_numpy(order[first])
        steps.append((parents[kept].tolist(), symbols[kept].tolist()))
        total, state, following = total[kept], select(state, kept), following[kept]
    if not steps:
        return Result([])
    place = int(total.argmax())
    result = Result([], float(total[place]))
    for parents, symbols in reversed(steps):
        result.symbols.append(symbols[place])
        place = parents[place]
    result.symbols.reverse()
    return result
