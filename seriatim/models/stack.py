"""A stack over sequences that are there from beginning to end, so that each position may see what
comes after it.

Unlike the stack of `Network`, which goes on with a sequence, this one reads a whole: to label it,
or to translate it. Recurrence runs both ways, convolutions are centred, attention is not masked, and
brackets may say what belongs together.
Shapes: B rows, P time, D width.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from seriatim.layers.bidirectional import Both
from seriatim.layers.block import NORMS, Alone
from seriatim.layers.convolution import Convolution
from seriatim.layers.mixer import Mixer, mixers
from seriatim.layers.tree import Tree, trees_of
from seriatim.models.ladder import Part
from seriatim.models.network import block, dilation, mixer, places, recurrence
from seriatim.models.options import WholeOptions


def hearing(options: WholeOptions, layer: int) -> Mixer:
    """The part that hears the other positions, for one layer."""
    if options.mixer == "none":
        return Alone()
    if options.mixer == "tree":
        return Tree(options.width)
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

    brackets: tuple[int, int] | None = None  # the numbers of both, for one that reads trees

    def __init__(self, options: WholeOptions):
        super().__init__()
        width, self.bidirectional = options.width, options.bidirectional
        self.by_trees = options.mixer == "tree"
        self.blocks = nn.ModuleList(
            block(options, hearing(options, layer)) for layer in range(options.layers)
        )
        self.places = places(options)
        self.norm = (
            NORMS[options.norm](width)
            if options.residual and options.norm_place == "before"
            else nn.Identity()
        )

    def forward(self, x: Tensor, lengths: Tensor, symbols: Tensor | None = None) -> Tensor:
        """(B, P, D) embedded symbols, (B,) lengths of at least one, for trees the (B, P) symbols
        themselves -> (B, P, D) after all blocks."""
        frame: tuple[Any, ...] = ()
        if self.by_trees:
            numbers = symbols is None or symbols.is_floating_point()
            brackets = None if numbers else self.brackets
            trees = trees_of(symbols, lengths, x.shape[1], brackets)
            x = x.masked_fill((trees.openings | trees.closings)[..., None], 0)
            frame = (trees,)
        elif self.places is not None and self.bidirectional:
            x, shared = self.places.whole(x, lengths)
            frame = (shared,)
        elif self.places is not None:
            x, _, shared = self.places(x, self.places.empty(len(x), x.device), lengths)
            frame = (shared,)
        for each in mixers(self.blocks):
            x, _ = each(x, each.empty(len(x), x.device), lengths, *frame)
        return self.norm(x)


def by_trees(model: Any) -> list[Whole]:
    """The stacks of a model that read trees."""
    networks = (part for part in model.parts if isinstance(part, nn.Module))
    return [
        each
        for network in networks
        for each in network.modules()
        if isinstance(each, Whole) and each.by_trees
    ]


def read_as_trees(parts: Sequence[Part]) -> bool:
    """Whether one of these models reads sequences as trees."""
    return any(isinstance(part.options, WholeOptions) and part.options.trees() for part in parts)
