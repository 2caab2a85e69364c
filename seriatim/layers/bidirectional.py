"""Recurrence both ways: one half of the width reads from left to right, the other from right to
left.

    y_t = [h_t ; g_t],   h_t from x_1 .. x_t,   g_t from x_T .. x_t        Schuster and Paliwal 1997

Unlike one recurrence it needs the end of the sequence before it can say anything, so that it labels
sequences and cannot go on with them. Each row is turned round at its own end, so that padding is
read last and never heard. Shapes: B rows, T time, D width.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from seriatim.errors import ConfigError
from seriatim.layers.mixer import Mixer
from seriatim.layers.recurrent import Recurrent


class Both(Mixer):
    """A mixer without a state."""

    def __init__(self, width: int, one: Callable[[int, int], Recurrent]):
        """`one` makes the recurrence of a direction, given its width and that of its inputs."""
        super().__init__()
        if width % 2:
            raise ConfigError(
                "to read both ways, the width is halved",
                got=f"width {width}",
                do="Choose an even --width",
            )
        self.onward, self.backward = (one(width // 2, width) for _ in range(2))

    def empty(self, rows: int, device: torch.device | None = None) -> Tensor:
        """Nothing is carried."""
        return torch.zeros(rows, 0, device=device)

    def forward(self, x: Tensor, state: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """(B, T, D), (B,) lengths -> (B, T, D), half of it from each direction."""
        turn = turned(x.shape[1], lengths)[..., None].expand_as(x)  # (B, T, D)
        start = self.onward.empty(len(x), x.device)
        before = self.onward(x, start)[0]  # (B, T, D / 2)
        after = self.backward(x.gather(1, turn), start)[0]
        return torch.cat([before, after.gather(1, turn[..., : after.shape[-1]])], -1), state


def turned(time: int, lengths: Tensor) -> Tensor:
    """(B, T): for each place the place it has when the row is turned round at its end; padding
    stays where it is."""
    places = torch.arange(time, device=lengths.device).expand(len(lengths), -1)
    return torch.where(places < lengths[:, None], lengths[:, None] - 1 - places, places)
