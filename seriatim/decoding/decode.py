"""From a model and a prompt to results: greedy, sampled, searched, drafted."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial

import numpy as np
import torch

from seriatim.batches import Batch
from seriatim.decoding.beam import beam
from seriatim.decoding.constraints import Demands
from seriatim.decoding.exact import best
from seriatim.decoding.options import DecodingOptions
from seriatim.decoding.results import Result
from seriatim.decoding.sampling import one_row, sample
from seriatim.decoding.speculative import speculating
from seriatim.errors import ConfigError
from seriatim.models.base import Model
from seriatim.parallel import Workers, settle

MANY = 4  # rows from which on they are shared, for each thread


def decode(
    model: Model,
    batch: Batch,
    options: DecodingOptions,
    stops: Sequence[int] = (),
    forbidden: Sequence[int] = (),
    draft: Model | None = None,
    demands: Demands | None = None,
) -> list[list[Result]]:
    """For each row of the batch, `options.count` results (beam: the best of them first). A draft
    changes nothing but the time it takes.

    Many rows are shared by as many threads as torch has, each with rows of its own: there is less
    to wait for than within each operation.
    """
    work = partial(
        decode_part, model, options=options, stops=stops, forbidden=forbidden, draft=draft
    )
    demands = demands or Demands()
    if options.beam or options.exact:
        return in_parts(work, batch, demands, [options.seed] * len(batch.x))
    rows = torch.arange(len(batch.x)).repeat_interleave(options.count)  # one for each result
    seeds = [options.seed + i % options.count for i in range(len(rows))]
    found = in_parts(work, batch.rows(rows), demands.rows(rows), seeds)
    return [
        [each for (each,) in found[i : i + options.count]]
        for i in range(0, len(found), options.count)
    ]


def in_parts(
    work: partial[list[list[Result]]], batch: Batch, demands: Demands, seeds: list[int]
) -> list[list[Result]]:
    """The results of all rows, by one thread or, if there are many, by several."""
    threads = settle()
    elsewhere = any(part.device.type != "cpu" for part in work.args[0].parts)
    if threads == 1 or elsewhere or len(batch.x) < MANY * threads:
        return work(batch, demands, seeds)
    parts = [
        (batch.rows(part), demands.rows(part), [seeds[row] for row in part])
        for part in (each.tolist() for each in np.array_split(np.arange(len(batch.x)), threads))
    ]
    with Workers(threads) as workers:
        found = workers.map(lambda part: work(*part), parts)
    return [each for some in found for each in some]


@torch.inference_mode()
def decode_part(
    model: Model,
    batch: Batch,
    demands: Demands,
    seeds: Sequence[int],
    options: DecodingOptions,
    stops: Sequence[int],
    forbidden: Sequence[int],
    draft: Model | None,
) -> list[list[Result]]:
    """By one thread: for each row its results, drawn with its seed if they are drawn."""
    if options.exact:
        return [
            [best(model, one_row(batch, row), options, [*stops, *forbidden])]
            for row in range(len(batch.x))
        ]
    if options.beam:
        return beam(model, batch, options, stops, forbidden, demands)
    if draft is not None:
        return [
            deque(
                speculating(model, draft, one_row(batch, row), options, seed, stops, forbidden),
                maxlen=1,
            )[0]
            for row, seed in enumerate(seeds)
        ]
    return [[result] for result in sample(model, batch, options, seeds, stops, forbidden, demands)]


def refuse_beyond(model: Model, batch: Batch, options: DecodingOptions) -> None:
    """Refuse, before anything is written, what would lead beyond the positions that a model has
    learned."""
    prompt = int(batch.x_lengths.max()) if len(batch.x) else 0
    if model.longest is None or prompt + options.length <= model.longest:
        return
    room = model.longest - prompt
    raise ConfigError(
        f"this model has {model.longest} learned positions and can read no further",
        got=f"--length {options.length} after a prompt of {prompt} symbols",
        do=(f"Choose a --length of at most {room}, " if room > 0 else "Shorten the prompt, ")
        + "or fit a model with --positions rotary or a larger --context",
    )
