"""Hidden layers: a multilayer perceptron without its last, affine layer.

    h_j = g(W_j h_{j-1} + b_j),   j = 1 .. L;   g: relu, tanh, sigmoid, gelu

Unlike a feed-forward part of a block it changes the width once and stands behind the positions, on
the one vector that a sequence has become. Shapes: B rows, I inputs, D width.
"""

from __future__ import annotations

from torch import Tensor, nn

from seriatim.layers.dropout import Dropout
from seriatim.layers.recurrent import ACTIVATIONS


class Hidden(nn.Module):
    """L maps, each with the same nonlinearity behind it."""

    def __init__(self, inputs: int, width: int, layers: int, activation: str, dropout: float):
        super().__init__()
        self.maps = nn.ModuleList(
            nn.Linear(width if layer else inputs, width) for layer in range(layers)
        )
        self.bent, self.dropout = ACTIVATIONS[activation], Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """(B, I) -> (B, D); without layers x itself."""
        for number, each in enumerate(self.maps):
            x = self.bent(each(self.dropout(x) if number else x))  # (B, D)
        return x
