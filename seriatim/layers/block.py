"""One block of a stack: norm, mixer, residual; norm, cross-attention, residual; norm, feed-forward,
residual, each part optional.

    before   x + mixer(norm(x)),   x + feed(norm(x))               the norm first: Xiong et al. 2020
    after    norm(x + mixer(x)),   norm(x + feed(x))               as in the first Transformer

Without residual and feed-forward this is a layer of the plain recurrent network of 1990; with both
it is a layer of the Transformer. Shapes: B rows, T time, D width.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seriatim.layers.cross import Cross
from seriatim.layers.dropout import Dropout
from seriatim.layers.linear import Linear
from seriatim.layers.mixer import Mixer, MixerState

NORMS = {"layer": nn.LayerNorm, "rms": nn.RMSNorm}


class FeedForward(nn.Module):
    """The same two maps at every position: W2 g(W1 x), g: relu, gelu; or gated: W2 (silu(W1 x) * W3
    x), Shazeer 2020."""

    def __init__(self, width: int, inner: int, kind: str):
        super().__init__()
        self.kind = kind
        self.inward = Linear(width, 2 * inner if kind == "gated" else inner)
        self.outward = Linear(inner, width)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, D) -> (B, T, D), each position by itself."""
        return self.outward(self.bent(self.inward(x)))  # (B, T, inner) between

    def bent(self, x: Tensor) -> Tensor:
        """The nonlinearity between both maps: (..., inner), or (..., 2 inner) if gated -> (..., inner)."""
        if self.kind == "gated":
            gate, value = x.chunk(2, -1)
            return F.silu(gate) * value
        return (
            F.relu(x)
            if self.kind == "relu"
            else F.gelu(x, approximate="tanh" if self.kind == "gelu-tanh" else "none")
        )


class Alone(Mixer):
    """A mixer that hears nothing but its own position. The state is empty."""

    def empty(self, rows: int, device: torch.device | None = None) -> Tensor:
        """Nothing is carried."""
        return torch.zeros(rows, 0, device=device)

    def forward(
        self, x: Tensor, state: Tensor, lengths: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Both as they are."""
        return x, state


class Block(Mixer):
    """A mixer with what stands around it in a stack."""

    mixer: Mixer
    cross: Cross | None
    feed_forward: FeedForward | None
    norm: nn.Module  # before the mixer or after it; the others likewise
    norm_cross: nn.Module
    norm_2: nn.Module

    def __init__(
        self,
        width: int,
        mixer: Mixer,
        residual: bool,
        norm: str,
        norm_place: str,
        inner: int,
        feed: str,
        dropout: float,
        cross: Cross | None = None,
    ):
        super().__init__()
        self.residual, self.after = residual, norm_place == "after"
        self.mixer, self.feed_forward = mixer, FeedForward(width, inner, feed) if inner else None
        self.norm = NORMS[norm](width) if residual else nn.Identity()
        self.norm_2 = NORMS[norm](width) if residual and inner else nn.Identity()
        asks = cross is not None and (self.after or cross.score != "uniform")
        self.cross, self.norm_cross = (
            cross,
            NORMS[norm](width) if residual and asks else nn.Identity(),
        )
        self.dropout = Dropout(dropout)

    def empty(self, rows: int, device: torch.device | None = None) -> MixerState:
        """The state of its mixer."""
        return self.mixer.empty(rows, device)

    def forward(
        self,
        x: Tensor,
        state: MixerState,
        lengths: Tensor | None = None,
        *frame: Any,
        memory: tuple = (),
    ) -> tuple[Tensor, MixerState]:
        """(B, T, D), state -> (B, T, D), state after each row's length. A mixer of attention is
        given its frame, too, one of trees which places belong together, and a block with cross-attention what it hears of another sequence."""
        y, state = self.mixer(x if self.after else self.norm(x), state, lengths, *frame)
        x = self.dropout(y) + (x if self.residual else 0)
        x = self.norm(x) if self.after else x
        if self.cross is not None:
            x = self.dropout(self.cross(x if self.after else self.norm_cross(x), *memory)) + (
                x if self.residual else 0
            )
            x = self.norm_cross(x) if self.after else x
        if self.feed_forward is not None:
            y = self.dropout(self.feed_forward(x if self.after else self.norm_2(x)))
            x = y + (x if self.residual else 0)
            x = self.norm_2(x) if self.after else x
        return x, state  # (B, T, D)
