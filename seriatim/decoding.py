"""From distributions to sequences: greedy, sampling, beam search, and the best of all. Knows start, step, select and nothing else.

Every row has its own random numbers and its own history, and rows that have ended are dropped, so that a
row's result does not depend on its neighbours. Shapes: B rows, W beams, V symbols.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.beams import Demands, Result, beam
from seriatim.config import DecodingOptions
from seriatim.distributions import Distribution
from seriatim.errors import ConfigError
from seriatim.models.base import Model, leaves, select
from seriatim.parallel import keep_memory, one_thread_each, side_by_side

MANY = 4                                   # rows from which on they are shared, for each thread
STATES = 1 << 22                           # most beginnings compared at a step of an exact search
BEGINNINGS = 1 << 24                       # and in all its steps


def decode(model: Model, batch: Batch, options: DecodingOptions, stops: Sequence[int] = (), forbidden: Sequence[int] = (),
           draft: Model | None = None, demands: Demands | None = None) -> list[list[Result]]:
    """For each row of the batch, `options.count` results (beam: the best of them first). A draft changes nothing but the time it takes.

    Many rows are shared by as many threads as torch has, each with rows of its own: there is less to wait for than within each operation.
    """
    keep_memory()
    demands, seeds = demands or Demands(), [options.seed] * len(batch.x)
    drawn = not (options.beam or options.exact)
    if drawn:                                                             # a row for each result
        rows = torch.arange(len(batch.x)).repeat_interleave(options.count)
        batch, seeds = batch.rows(rows), [options.seed + i % options.count for i in range(len(rows))]
        demands = demands if demands.most is None else replace(demands, most=demands.most[rows])
    work, threads = partial(decode_part, model, options=options, stops=stops, forbidden=forbidden, draft=draft), torch.get_num_threads()
    if threads == 1 or len(batch.x) < MANY * threads:
        results = work(batch, demands, seeds)
    else:
        parts = [(batch.rows(part), demands if demands.most is None else replace(demands, most=demands.most[part]), [seeds[row] for row in part])
                 for part in (each.tolist() for each in np.array_split(np.arange(len(batch.x)), threads))]
        with one_thread_each():
            results = [each for found in side_by_side(lambda part: work(*part), parts) for each in found]
    return [[each for (each,) in results[i:i + options.count]] for i in range(0, len(results), options.count)] if drawn else results


@torch.inference_mode()
def decode_part(model: Model, batch: Batch, demands: Demands, seeds: Sequence[int], options: DecodingOptions, stops: Sequence[int],
                forbidden: Sequence[int], draft: Model | None) -> list[list[Result]]:
    """By one thread: for each row its results, drawn with its seed if they are drawn."""
    if options.exact:
        return [[best(model, one_row(batch, row), options, [*stops, *forbidden])] for row in range(len(batch.x))]
    if options.beam:
        return beam(model, batch, options, stops, forbidden, demands)
    if draft is not None:
        return [deque(speculating(model, draft, one_row(batch, row), options, seed, stops, forbidden), maxlen=1)[0] for row, seed in enumerate(seeds)]
    return [[result] for result in sample(model, batch, options, seeds, stops, forbidden, demands)]


def sample(model: Model, batch: Batch, options: DecodingOptions, seeds: Sequence[int], stops: Sequence[int], forbidden: Sequence[int],
           demands: Demands | None = None) -> list[Result]:
    """Symbol by symbol; the most likely one at temperature 0. Where not even the prefix may be written, there is no result."""
    found, least = deque(sampling(model, batch, options, seeds, stops, forbidden, demands), maxlen=1)[0], len(demands.prefix) if demands else 0
    return [each if len(each.symbols) >= least else Result([], -np.inf) for each in found]


def sampling(model: Model, batch: Batch, options: DecodingOptions, seeds: Sequence[int], stops: Sequence[int],
             forbidden: Sequence[int], demands: Demands | None = None) -> Iterator[list[Result]]:
    """The same, showing the results as they grow: once before the first symbol and once after each."""
    demands = demands or Demands()
    most = [options.length] * len(seeds) if demands.most is None else demands.most.clamp(max=options.length).tolist()
    results = [Result([]) for _ in seeds]
    yield results
    dice = [np.random.default_rng(seed) for seed in seeds]
    following, state = model.start(batch)
    alive, used = list(range(len(results))), already(batch, model.vocabulary, options)
    for number in range(max(most, default=0)):
        throws = [dice[i].random() for i in alive] if options.temperature else None
        symbols, values = choose(demands.apply(following.log_probs(), [results[i].symbols for i in alive]), used, options, forbidden, throws)
        kept = [row for row, (i, symbol, value) in enumerate(zip(alive, symbols.tolist(), values, strict=True))
                if results[i].take(symbol, value, stops) and number + 1 < most[i]]
        yield results
        if not kept:
            break
        if len(kept) < len(alive):
            rows = torch.tensor(kept)
            alive, symbols, used, state = [alive[row] for row in kept], symbols[rows], None if used is None else used[rows], select(state, rows)
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


def choose(log_probs: Tensor, used: Tensor | None, options: DecodingOptions, forbidden: Sequence[int],
           throws: Sequence[float] | None) -> tuple[Tensor, list[float]]:
    """(B, V) log-probabilities -> (B,) symbols, by a throw of each row's dice or the likeliest; and their log-probabilities, -inf if none may follow."""
    weights = shape(log_probs if throws is None else log_probs.double(), used, options, forbidden)               # (B, V)
    symbols = weights.argmax(-1) if throws is None else draw(weights, throws)
    values, allowed = (each.gather(1, symbols[:, None])[:, 0].tolist() for each in (log_probs, weights))
    return symbols, [-np.inf if weight == -np.inf else value for value, weight in zip(values, allowed, strict=True)]


def speculating(model: Model, draft: Model, batch: Batch, options: DecodingOptions, seed: int, stops: Sequence[int],
                forbidden: Sequence[int]) -> Iterator[list[Result]]:
    """What `sampling` gives for one row, symbol for symbol, with fewer steps of the model (Leviathan et al. 2023).

    A cheap draft, thrown for with the same dice, writes a few symbols ahead. The model reads all of them at once and throws for each place itself:
    where both agree time is won, and where they do not the model's own symbol stands. So the draft decides how long it takes and nothing else.
    """
    result, dice, throws = Result([]), np.random.default_rng(seed), []
    yield [result]
    used = already(batch, model.vocabulary, options)
    (following, state), (guess, guessing) = model.start(batch), draft.start(batch)

    def chosen(distribution: Distribution, place: int, used: Tensor | None) -> tuple[int, float]:
        while len(throws) <= place:
            throws.append(dice.random())
        symbols, values = choose(distribution.log_probs(), used, options, forbidden, throws[place:place + 1] if options.temperature else None)
        return int(symbols), values[0]

    if not options.length:
        return
    pending = chosen(following, 0, used)                                  # drawn, but not yet read by anyone
    while True:
        going = result.take(*pending, stops)
        yield [result]
        place = len(result.symbols)
        if not going or place == options.length:
            return
        tries, seen = min(options.ahead, options.length - place - 1), None if used is None else used.clone()
        read, states = [pending[0]], []                                   # what was drawn, then what is guessed to follow
        for number in range(tries + 1):
            guess, guessing = draft.step(torch.tensor(read[-1:]), guessing)
            states.append(guessing)
            if seen is not None:
                seen[0, read[-1]] = True
            if number < tries:
                read.append(chosen(guess, place + number, seen)[0])
        answers, after = model.extend(torch.tensor([read]), state)
        for number in range(tries + 1):
            if used is not None:
                used[0, read[number]] = True
            pending = chosen(answers[:, number], place + number, used)
            if number == tries or pending[0] != read[number + 1]:
                break
            if not result.take(*pending, stops):
                yield [result]
                return
            yield [result]
        state = after if number == tries else model.rewind(after, state, torch.tensor([read]), number + 1)
        guessing = states[number]


def shape(log_probs: Tensor, used: Tensor | None, options: DecodingOptions, forbidden: Sequence[int]) -> Tensor:
    """(B, V) log-probabilities -> (B, V) log-weights to draw from: -inf where a symbol may not be drawn."""
    weights = log_probs.index_fill(-1, torch.tensor(forbidden), -torch.inf) if forbidden else log_probs
    if options.repetition_penalty != 1:
        weights = torch.where(used, weights * options.repetition_penalty, weights)
    if options.temperature not in (0, 1):
        weights = weights / options.temperature
    if options.top_k and options.top_k < weights.shape[-1]:
        best = weights.topk(options.top_k)
        weights = torch.full_like(weights, -torch.inf).scatter(-1, best.indices, best.values)
    if options.min_p:
        weights = weights.masked_fill(weights < weights.max(-1, keepdim=True).values + np.log(options.min_p), -torch.inf)
    if options.top_p < 1:
        ranked, order = torch.softmax(weights, -1).sort(dim=-1, descending=True, stable=True)
        beyond = ranked.cumsum(-1) - ranked >= options.top_p                                   # keeps at least the first
        weights = weights.masked_fill(beyond.gather(-1, order.argsort(-1)), -torch.inf)
    return weights


def draw(weights: Tensor, throws: Sequence[float]) -> Tensor:
    """(B, V) log-weights, a throw between 0 and 1 for each row -> (B,) symbols."""
    cumulative = torch.softmax(weights, -1).nan_to_num().cumsum(-1)
    return (cumulative > torch.tensor(throws)[:, None] * cumulative[:, -1:]).double().argmax(-1)


def one_row(batch: Batch, row: int) -> Batch:
    """Without padding."""
    one = batch.rows(slice(row, row + 1))
    return replace(one, x=one.x[:, :one.x_lengths[0]])


def best(model: Model, batch: Batch, options: DecodingOptions, forbidden: Sequence[int]) -> Result:
    """The most probable sequence of exactly `length` symbols, by dynamic programming over states (Viterbi).

    Of all beginnings that lead to the same state only the likeliest can be part of the best; and none that is less likely than a
    whole sequence already found by beam search. For models that look back a fixed number of symbols, whose states meet again.
    """
    guess = beam(model, batch, replace(options, beam=8, count=1, length_penalty=0.0), (), forbidden)[0]
    bound = guess[0].log_prob if guess and len(guess[0].symbols) == options.length else -torch.inf
    following, state = model.start(batch)
    total, steps, compared = torch.zeros(1, dtype=torch.double), [], 0           # (S,) likeliest way to each state; how each was reached
    for _ in range(options.length):
        scores = total[:, None] + following.log_probs().double()                 # (S, V)
        scores[:, list(forbidden)] = -torch.inf
        parents, symbols = (scores >= max(bound - 1e-9, -1e300)).nonzero(as_tuple=True)
        if not len(parents):
            break
        compared += len(parents)
        if len(parents) > STATES or compared > BEGINNINGS:
            raise ConfigError("too many states to search them all", got=f"{compared:,} beginnings compared after {len(steps)} symbols",
                              do="Search exactly for fewer symbols, with a count model of lower order, or with --beam")
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
