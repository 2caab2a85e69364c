"""A stack over sequences that are there from beginning to end, so that each position may see what
comes after it.

Unlike the stack of `Network`, which goes on with a sequence, this one reads a whole: to label it,
or to translate it. Recurrence runs both ways, convolutions are centred, attention is not masked.
Shapes: B rows, P time, D width.
"""

from __future__ import annotations

from torch import Tensor, nn

from seriatim.layers.bidirectional import Both
from seriatim.layers.block import NORMS, Alone
from seriatim.layers.convolution import Convolution
from seriatim.layers.mixer import Mixer, mixers
from seriatim.layers.positions import Frame
from seriatim.models.network import block, dilation, mixer, places, recurrence
from seriatim.models.options import WholeOptions


def hearing(options: WholeOptions, layer: int) -> Mixer:
    """The part that hears the other positions, for one layer."""
    if options.mixer == "none":
        return Alone()
    if not options.bidirectional or options.mixer == "attention":
        return mixer(options, layer)
    if options.mixer == "convolution":
        return Convolution(
            options.width,
            options.kernel,
            dilation(options, layer),
            options.gated,
            options.activation,
            centred=True,
        )
    return Both(options.width, lambda width, inputs: recurrence(options, width, inputs))


class Whole(nn.Module):
    """One stack for every mixer, without a state."""

    def __init__(self, options: WholeOptions):
        super().__init__()
        width, self.bidirectional = options.width, options.bidirectional
        self.blocks = nn.ModuleList(
            block(options, hearing(options, layer)) for layer in range(options.layers)
        )
        self.places = places(options)
        self.norm = (
            NORMS[options.norm](width)
            if options.residual and options.norm_place == "before"
            else nn.Identity()
        )

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """(B, P, D) embedded symbols, (B,) lengths of at least one -> (B, P, D) after all
        blocks."""
        frame: tuple[Frame, ...] = ()
        if self.places is not None and self.bidirectional:
            x, shared = self.places.whole(x, lengths)
            frame = (shared,)
        elif self.places is not None:
            x, _, shared = self.places(x, self.places.empty(len(x), x.device), lengths)
            frame = (shared,)
        for each in mixers(self.blocks):
            x, _ = each(x, each.empty(len(x), x.device), lengths, *frame)
        return self.norm(x)
