"""A fitted language model that reads for another network: vectors of symbols in their context.

    v_t = h_t       what the language model makes of x_1 .. x_t, behind its last layer

Unlike word vectors, which are a table, this is a whole network; its output layer is left out. What
is needed to lay it out again goes with its weights, so that a run stands alone.
Shapes: B rows, P time, D width.
"""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from seriatim.errors import ConfigError
from seriatim.models.network import Network
from seriatim.models.options import NetworkOptions
from seriatim.settings import build


class Reader(nn.Module):
    """START and a sequence in, a vector for each of its symbols out."""

    def __init__(self, vocabulary: int, options: NetworkOptions, frozen: bool):
        super().__init__()
        self.network, self.frozen = Network(vocabulary, options), frozen
        self.network.output = self.network.bias = None  # it is not asked what comes next
        for each in self.network.parameters() if frozen else ():
            each.requires_grad_(False)

    @classmethod
    def of(cls, model: Network, frozen: bool) -> Reader:
        """A copy of a fitted network, without what answers and what votes beside it."""
        known = {each.name: getattr(model.options, each.name) for each in fields(NetworkOptions)}
        options = NetworkOptions(**known | {"word_vectors": "", "frozen": False})
        made = cls(model.vocabulary, options, frozen)
        own = made.network.state_dict()
        made.network.load_state_dict({name: model.state_dict()[name].clone() for name in own})
        return made

    @classmethod
    def from_bytes(cls, content: Tensor, frozen: bool) -> Reader:
        """The network that `to_bytes` described, without weights; ValueError if it cannot be."""
        if content.dtype != torch.uint8 or content.dim() != 1:
            raise ValueError("the encoder is not described")
        try:
            known = json.loads(bytes(content.tolist()))
            options: Any = build(NetworkOptions, known["options"], "encoder")
            return cls(int(known["vocabulary"]), options, frozen)
        except (TypeError, KeyError, UnicodeDecodeError, ConfigError) as error:
            raise ValueError(f"the encoder is not described: {error}") from None

    def to_bytes(self) -> Tensor:
        """What is needed to lay it out again: its options and its vocabulary, as JSON."""
        options = {key: value for key, value in asdict(self.network.options).items()}
        known = {"vocabulary": self.network.vocabulary, "options": options}
        return torch.from_numpy(np.frombuffer(json.dumps(known).encode(), np.uint8).copy())

    @property
    def width(self) -> int:
        """D."""
        return self.network.options.width

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """(B, P) symbols, (B,) lengths -> (B, P, D)."""
        longest = self.network.longest
        if longest is not None and x.shape[1] >= longest:
            raise ConfigError(
                "the encoder cannot read a sequence that long",
                got=f"{x.shape[1]} symbols",
                do=f"Give sequences of fewer than {longest}",
            )
        if self.frozen:
            self.network.eval()  # no dropout, in training either
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.frozen):
            symbols = self.network.opened(x)  # (B, 1 + P)
            empty = self.network.empty(len(x))
            return self.network.run(symbols, empty, lengths + 1)[0][:, 1:]
