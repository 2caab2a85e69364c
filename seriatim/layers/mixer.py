"""What all mixers have in common: they let positions hear each other, and carry a state.

    y, state = mixer(x, state, lengths)                (B, T, D), state -> (B, T, D), state afterwards

The state is a tensor or some of them, rows first in each. A block of a stack is a mixer, too: one with
norms, residuals and a feed-forward part around it. Shapes: B rows, T time, D width.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

MixerState = Tensor | tuple[Tensor, ...]


class Mixer(nn.Module):
    """The interface; how a position hears the others is the subclass's `forward`."""

    def empty(self, rows: int, device: torch.device | None = None) -> MixerState:
        """The state before anything is read, on a device; None: the CPU."""
        raise NotImplementedError


def mixers(blocks: nn.ModuleList) -> list[Mixer]:
    """The blocks of a stack, the first first."""
    return [each for each in blocks if isinstance(each, Mixer)]
