"""Who attends to whom while a model reads: a map for each layer and head, as plain records.

    a_ts = softmax_s(score(q_t, k_s))       how much of what stands at s is taken at t

The maps are heard beside the model's own computation, which stays as it is. Shapes: B rows, H heads,
T time, S keys.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from threading import get_ident
from typing import Any

import torch
from torch import Tensor, nn

from seriatim.errors import ConfigError
from seriatim.layers.attention import Attention
from seriatim.records import Record, plain_array

MOST_SHOWN = 64  # symbols of an attention map


def attended(parts: Sequence[nn.Module], run: Callable[[], Any]) -> list[Tensor]:
    """What each of the parts that attend weighs while something runs: (B, H, T, S) each; one after
    another where symbols were fed one by one."""
    found: list[list[Tensor]] = [[] for _ in parts]
    mine = get_ident()  # others may be asking the same model

    def hear(seen: list[Tensor], part: Any, given: Any, _: Any) -> None:
        """What this thread hears."""
        if get_ident() == mine:
            seen.append(part.weights(*given))

    handles = [
        each.register_forward_hook(partial(hear, seen))
        for each, seen in zip(parts, found, strict=True)
    ]
    try:
        with torch.no_grad():
            run()
    finally:
        for handle in handles:
            handle.remove()
    return [torch.cat(several, 2) for several in found]


def mute(layers: Sequence[Attention], asked: str) -> list[str]:
    """Switch off heads of these layers, such as "0.1,1.3": head 1 of layer 0 and head 3 of layer 1,
    counted as the maps of `attention` count them; all others are on. Gives those that are off, in
    order."""
    found: dict[int, set[int]] = {}
    there = f"It has {len(layers)} layers of {layers[0].heads} heads, counted from 0, such as 0.1"
    for word in asked.split(","):
        layer, _, head = word.strip().partition(".")
        if not (layer + head).isdecimal() or not layer or not head:
            raise ConfigError("a head is named by its layer and its number", got=word, do=there)
        if int(layer) >= len(layers) or int(head) >= layers[int(layer)].heads:
            raise ConfigError("this model has no such head", got=word, do=there)
        found.setdefault(int(layer), set()).add(int(head))
    for number, each in enumerate(layers):
        each.muted = tuple(sorted(found.get(number, ())))
    return [f"{layer}.{head}" for layer in sorted(found) for head in sorted(found[layer])]


def attending(model: nn.Module) -> list[Attention]:
    """The parts of a model that attend within one sequence, the first layer first."""
    return [each for each in model.modules() if isinstance(each, Attention)]


def maps_of(stacked: Sequence[Tensor], layer: int, head: int) -> list[Record]:
    """The heads of the layers (H, T, T) that are asked for, counted from 1; 0: all."""
    every = [(place, each) for place, heads in enumerate(stacked) for each in range(len(heads))]
    found = [(a, b) for a, b in every if layer in (0, a + 1) and head in (0, b + 1)]
    if not found:
        raise ConfigError(
            "this model has no such head",
            got=f"layer {layer}, head {head}",
            do=f"It has {len(stacked)} layers of {len(stacked[0])} heads, counted from 1; 0: all",
        )
    return [map_of(a, b, stacked[a][b].double()) for a, b in found]


def map_of(layer: int, head: int, weights: Tensor) -> Record:
    """(T, T) the weights of a head, and how far and how widely it looks."""
    places = torch.arange(len(weights), device=weights.device)
    away = (places[:, None] - places).abs()
    return {
        "layer": layer,
        "head": head,
        "distance": float((weights * away).sum(-1).mean()),
        "entropy_bits": float(-torch.xlogy(weights, weights).sum(-1).mean() / math.log(2)),
        "weights": plain_array(weights),
    }


def refusal(spec: str) -> ConfigError:
    """What is said of a model that has no maps."""
    return ConfigError(
        "only a model with attention has attention maps", got=spec, do="Fit a transformer"
    )
