"""From vectors and labels to sequences: texts symbol by symbol, numbers row by row.

Shapes: R sequences, L latent, K conditions together, G conditions, C channels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch, empty, prompts
from seriatim.codecs.symbols import STOP, UNKNOWN
from seriatim.decoding.decode import decode
from seriatim.decoding.options import DecodingOptions
from seriatim.decoding.results import Result
from seriatim.decoding.sampling import sample
from seriatim.errors import ConfigError, nearest
from seriatim.layers.devices import home, to
from seriatim.settings import build
from seriatim.tasks.autoencode.codec import Conditioned
from seriatim.tasks.autoencode.likelihood import MOST_POINTS, drawn
from seriatim.tasks.autoencode.models import Autoencoder, Writer

ROWS = 256  # sequences that are written side by side
FORBIDDEN = (UNKNOWN,)  # symbols that are never written

Item = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """How sequences are to be written."""

    options: DecodingOptions
    stops: tuple[int, ...] = (STOP,)  # symbols that end a text
    most: int = MOST_POINTS  # rows of numbers

    def seeds(self, at: int, rows: int) -> list[int]:
        """Each sequence has its own dice."""
        return [self.options.seed + at + i for i in range(rows)]


def plan_of(
    codec: Conditioned, cls: type, settings: Mapping[str, Any], verb: str, many: bool = False
) -> Plan:
    """What was asked for, checked; `many`: the number of results is one of a search."""
    checked: Any = build(cls, settings, verb)
    names = {each.name for each in fields(DecodingOptions)} - (set() if many else {"count"})
    shared = [each.name for each in fields(cls) if each.name in names]
    options = DecodingOptions(**{name: getattr(checked, name) for name in shared})
    if codec.numeric and options.beam:
        raise ConfigError(
            "numbers are drawn, and not searched", got=f"--beam {options.beam}", do="Leave it out"
        )
    stops = {STOP}
    if options.stop:
        if options.stop not in codec.number:
            raise ConfigError(
                "the stop symbol is not in the vocabulary",
                got=repr(options.stop),
                do=nearest(options.stop, map(repr, codec.symbols[2:50])),
            )
        stops.add(codec.number[options.stop])
    most = options.length if "length" in settings else MOST_POINTS
    return Plan(options, tuple(stops), most)


@torch.inference_mode()
def write(
    model: Autoencoder,
    codec: Conditioned,
    latents: np.ndarray,
    labels: np.ndarray,
    plan: Plan,
    begun: list[np.ndarray] | None = None,
    prompt: str = "",
) -> list[Item]:
    """(R, L) vectors and (R, G) labels -> R sequences, each after what is begun."""
    found: list[Item] = []
    for at in range(0, len(latents), ROWS):
        some = slice(at, at + ROWS)
        vectors, names = torch.from_numpy(latents[some]), torch.from_numpy(labels[some])
        conditions = home(model.condition(*to((vectors, names), model.device)))
        beginnings = None if begun is None else begun[some]
        seeds = plan.seeds(at, len(conditions))
        if codec.moves is not None:
            items = numbers(model, codec, conditions, plan, seeds, beginnings)
        else:
            items = texts(model, codec, conditions, plan, seeds, beginnings, prompt)
        found += [
            item | conditioned(codec, row) for item, row in zip(items, labels[some], strict=True)
        ]
    return found


def conditioned(codec: Conditioned, row: np.ndarray) -> Item:
    """(G,) labels by their names, as they stand in an item."""
    pairs = zip(codec.conditions.items(), row.tolist(), strict=True)
    which = {name: labels.names[number] for (name, labels), number in pairs}
    return {"condition": which} if which else {}


def texts(
    model: Autoencoder,
    codec: Conditioned,
    conditions: Tensor,
    plan: Plan,
    seeds: list[int],
    begun: list[np.ndarray] | None,
    prompt: str,
) -> list[Item]:
    """(R, K) conditions -> texts."""
    rows = [np.zeros(0, np.int64)] * len(conditions) if begun is None else begun
    batch, writer, options = replace(prompts(rows), labels=conditions), Writer(model), plan.options
    if options.beam:
        single = replace(options, count=1)
        several = decode(writer, batch, single, plan.stops, FORBIDDEN)
        results = [each[0] for each in several]
    else:
        results = sample(writer, batch, options, seeds, plan.stops, FORBIDDEN)
    drawn_at_random = options.temperature and not options.beam
    return [
        text_item(codec, result, row, prompt, seed if drawn_at_random else None)
        for result, row, seed in zip(results, rows, seeds, strict=True)
    ]


def best_texts(
    model: Autoencoder, codec: Conditioned, labels: np.ndarray, plan: Plan, prompt: str
) -> list[Item]:
    """The best sequences of a beam after a prompt: without a vector there is nothing else by which
    they could differ. (1, G) labels."""
    assert codec.text is not None
    row = codec.text.encode_text(prompt)
    with torch.inference_mode():
        told = to((torch.zeros(1, 0), torch.from_numpy(labels)), model.device)
        conditions = home(model.condition(*told))
        batch = replace(prompts([row]), labels=conditions)
        found = decode(Writer(model), batch, plan.options, plan.stops, FORBIDDEN)[0]
    which = conditioned(codec, labels[0])
    return [text_item(codec, result, row, prompt, None) | which for result in found]


def text_item(
    codec: Conditioned, result: Result, row: np.ndarray, prompt: str, seed: int | None
) -> Item:
    """A text that was written, the prompt as it was typed."""
    assert codec.text is not None
    return {
        "text": codec.text.continue_text(prompt, row, result.symbols),
        "log_prob": result.log_prob if result.log_prob > -math.inf else None,
        "tokens": len(result.symbols),
        "ended": result.ended,
        "seed": seed,
    }


def numbers(
    model: Autoencoder,
    codec: Conditioned,
    conditions: Tensor,
    plan: Plan,
    seeds: list[int],
    begun: list[np.ndarray] | None,
) -> list[Item]:
    """(R, K) conditions -> rows of numbers, as the data has them."""
    assert codec.moves is not None
    start = None if begun is None else begun_numbers(begun)
    rest = drawn(model, conditions, seeds, plan.options.temperature, start, plan.most)
    items = []
    for i, each in enumerate(rest):
        rows = each if begun is None else np.concatenate([begun[i], each])
        items.append(
            {
                "numbers": codec.moves.decode(rows).tolist(),
                "points": len(rows),
                "ended": bool(rows[-1, -1] == codec.moves.end),
                "seed": seeds[i],
            }
        )
    return items


def begun_numbers(rows: list[np.ndarray]) -> Batch:
    """Beginnings (P, C + 1) of equal length as a batch."""
    x = torch.from_numpy(np.stack(rows))
    return Batch(x, torch.full((len(rows),), x.shape[1]), empty(len(rows)), empty(len(rows)).bool())
