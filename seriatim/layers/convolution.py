"""Causal convolution: a position hears a fixed number of positions before it, all at once.

    gated    y_t = (A x)_t * sigmoid((G x)_t),  (A x)_t = sum_k A_k x_{t - k d}   Dauphin et al. 2017
    plain    y_t = g((A x)_t),  g: tanh, sigmoid or relu

Unlike recurrence nothing is carried from step to step, so that all positions are computed together;
with dilation d doubling from layer to layer the reach grows as 2^layers (van den Oord et al. 2016).
One plain layer over n - 1 positions is the neural n-gram of Bengio et al. 2003: the embeddings of
the last n - 1 symbols, one after another, times a matrix.
Shapes: B rows, T time, D width, R reach.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seriatim.layers.mixer import Mixer
from seriatim.layers.recurrent import ACTIVATIONS


class Convolution(Mixer):
    """A mixer. State: the last R = (kernel - 1) * dilation inputs, (B, R, D). Centred, a position
    hears R / 2 before and after it instead, and nothing is carried."""

    def __init__(
        self,
        width: int,
        kernel: int,
        dilation: int,
        gated: bool = True,
        activation: str = "tanh",
        centred: bool = False,
    ):
        super().__init__()
        self.centred = centred
        self.width, self.reach, self.activation = (
            width,
            (kernel - 1) * dilation,
            None if gated else ACTIVATIONS[activation],
        )
        self.weights = nn.Conv1d(width, 2 * width if gated else width, kernel, dilation=dilation)

    def empty(self, rows: int, device: torch.device | None = None) -> Tensor:
        """(B, R, D) of zeros: as if nothing had been there before."""
        return torch.zeros(rows, self.reach, self.width, device=device)

    def forward(
        self, x: Tensor, state: Tensor, lengths: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """(B, T, D), state -> (B, T, D), state after each row's length."""
        if self.centred:
            real = (
                x
                if lengths is None
                else x * (torch.arange(x.shape[1], device=x.device) < lengths[:, None])[..., None]
            )
            seen = F.pad(real, (0, 0, self.reach // 2, self.reach - self.reach // 2))
        else:
            seen = torch.cat([state, x], 1)  # (B, R + T, D)
        y = self.weights(seen.transpose(1, 2))  # (B, D or 2 D, T)
        # (B, T, D)
        y = (F.glu(y, 1) if self.activation is None else self.activation(y)).transpose(1, 2)
        if self.centred:
            return y, state
        if lengths is None:
            return y, seen[:, seen.shape[1] - self.reach :]
        places = (
            lengths[:, None, None] + torch.arange(self.reach, device=x.device)[:, None]
        )  # (B, R, 1)
        return y, seen.gather(1, places.expand(-1, -1, self.width))
