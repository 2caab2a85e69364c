"""Contextual vectors: what a network makes of each symbol where it stands.

    v_t = the output of layer l at position t        0: behind the last one

Unlike a word vector it depends on the symbols around: on those before it, or on all of them where
the network reads both ways. Layers are heard beside the model's own computation, which stays as it
is.
Shapes: B rows, T time, D width.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from seriatim.errors import ConfigError
from seriatim.models.base import evaluating
from seriatim.models.network import Network
from seriatim.models.stack import Whole

CHUNK = 256  # symbols that are read in one go


def layer_of(stack: Network | Whole, layer: int, spec: str) -> nn.Module:
    """The part of a stack whose output is wanted: a block, counted from 1, or (0) what stands
    behind all of them."""
    if not 0 <= layer <= len(stack.blocks):
        raise ConfigError(
            "this model has no such layer",
            got=f"layer {layer} of {spec}",
            do=f"It has {len(stack.blocks)}, counted from 1; 0 is behind the last",
        )
    return stack.norm if layer == 0 else stack.blocks[layer - 1]


def outputs(part: nn.Module, run: Callable[[], Any]) -> Tensor:
    """(B, T, D) what a part gives while something runs; one after another where symbols were fed in
    pieces."""
    found: list[Tensor] = []
    mine = get_ident()  # others may be asking the same model

    def hear(_: Any, given: Any, output: Any) -> None:
        """What this thread hears."""
        if get_ident() == mine:
            found.append(output[0] if isinstance(output, tuple) else output)

    handle = part.register_forward_hook(hear)
    try:
        run()
    finally:
        handle.remove()
    return torch.cat(found, 1)


def while_reading(model: Network, row: np.ndarray, layer: int, spec: str) -> np.ndarray:
    """(T,) symbols after START -> (T, D) the vector of each once it has been read."""
    part = layer_of(model, layer, spec)

    def read() -> None:
        """START and the symbols, some at a time, with the state carried."""
        symbols = torch.tensor([[model.vocabulary, *row.tolist()]], device=model.device)
        state = model.empty(1)
        for begin in range(0, symbols.shape[1], CHUNK):
            _, state = model.run(symbols[:, begin : begin + CHUNK], state)

    with evaluating(model):
        return outputs(part, read)[0, 1:].cpu().float().numpy()


def refusal(spec: str) -> ConfigError:
    """What is said of a model that makes no vectors."""
    return ConfigError(
        "a model that counts makes no vectors of what it reads",
        got=spec,
        do="Fit a network, for instance gru",
    )


def told(vectors: np.ndarray, tokens: list[str], each: str) -> dict[str, Any]:
    """(T, D) vectors of a sequence and its symbols -> what stands in a record: all of them, or
    (each: sequence) their mean, zeros where there are none."""
    if each == "sequence":
        mean = vectors.mean(0) if len(vectors) else np.zeros(vectors.shape[1])
        return {"vector": mean.astype(float).tolist()}
    return {"tokens": tokens, "vectors": vectors}
