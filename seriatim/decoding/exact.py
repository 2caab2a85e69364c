"""The most probable sequence of all, for models whose state says little."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.decoding.beam import beam
from seriatim.decoding.options import DecodingOptions
from seriatim.decoding.results import Result
from seriatim.errors import ConfigError
from seriatim.models.base import Model, State, asked, leaves, select

STATES = 1 << 22  # most beginnings compared at a step of an exact search


BEGINNINGS = 1 << 24  # and in all its steps


# share by which the score of one sequence may differ when it is computed in other company: networks
# compute in 32 bits, and a product of matrices rounds by its shape
NOISE = 1e-5


def best(model: Model, batch: Batch, options: DecodingOptions, forbidden: Sequence[int]) -> Result:
    """The most probable sequence of exactly `length` symbols, by dynamic programming over states
    (Viterbi).

    Of all beginnings that lead to the same state only the likeliest can be part of the best; and
    none that is less likely than a whole sequence already found by beam search. For models that
    look back a fixed number of symbols, whose states meet again.
    """
    narrow = replace(options, beam=8, count=1, length_penalty=0.0)
    guess = beam(model, batch, narrow, (), forbidden)[0]
    bound = -1e300
    if guess and len(guess[0].symbols) == options.length:
        bound = max(bound, guess[0].log_prob - NOISE * (1 + abs(guess[0].log_prob)))
    model = asked(model)
    following, state = model.start(batch)
    total = torch.zeros(1, dtype=torch.double)  # (S,) the likeliest way to each state
    steps: list[tuple[list[int], list[int]]] = []  # how each was reached
    compared = 0
    for _ in range(options.length):
        scores = total[:, None] + following.log_probs().double()  # (S, V)
        scores[:, list(forbidden)] = -torch.inf
        parents, symbols = (scores >= bound).nonzero(as_tuple=True)
        if not len(parents):
            break
        compared += len(parents)
        if len(parents) > STATES or compared > BEGINNINGS:
            raise ConfigError(
                "too many states to search them all",
                got=f"{compared:,} beginnings compared after {len(steps)} symbols",
                do="Search exactly for fewer symbols, with a count model of lower order, or with --beam",
            )
        total = scores[parents, symbols]
        following, state = model.step(symbols, select(state, parents))
        kept = likeliest_by_state(total, state)
        steps.append((parents[kept].tolist(), symbols[kept].tolist()))
        total, state, following = total[kept], select(state, kept), following[kept]
    return traced(total, steps)


def likeliest_by_state(total: Tensor, state: State) -> Tensor:
    """Of all beginnings that meet in a state, the likeliest: their numbers."""
    keys = torch.cat(
        [leaf.cpu().reshape(len(total), -1).double() for leaf in leaves(state).values()], 1
    ).numpy()
    order = (
        np.lexsort((-total.numpy(), *keys.T))
        if keys.shape[1]
        else np.argsort(-total.numpy(), kind="stable")
    )
    first = np.ones(len(order), bool)
    first[1:] = (keys[order[1:]] != keys[order[:-1]]).any(1)
    return torch.from_numpy(order[first])


def traced(total: Tensor, steps: list[tuple[list[int], list[int]]]) -> Result:
    """The best of all ways, from its end to its beginning."""
    if not steps:
        return Result([])
    place = int(total.argmax())
    result = Result([], float(total[place]))
    for parents, symbols in reversed(steps):
        result.symbols.append(symbols[place])
        place = parents[place]
    result.symbols.reverse()
    return result
