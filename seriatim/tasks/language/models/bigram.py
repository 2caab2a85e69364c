"""The linear rung: logits from the last symbol alone."""

from __future__ import annotations

from torch import Tensor, nn

from seriatim.distributions.symbols import Categorical
from seriatim.layers.block import Alone
from seriatim.models.network import Network
from seriatim.models.options import NetworkOptions
from seriatim.tasks.language.options import BigramOptions


class Bigram(Network):
    """The linear model: logits = A x, x the one-hot last symbol. Unlike Markov of order 1 it is
    trained by gradients; at the optimum its softmax is the table of relative frequencies. The state
    is empty."""

    def __init__(self, vocabulary: int, options: BigramOptions):
        super().__init__(
            vocabulary, NetworkOptions(width=vocabulary, layers=1, mixer="convolution", kernel=1)
        )
        self.blocks, self.output, self.bias = nn.ModuleList([Alone()]), None, None
        nn.init.zeros_(self.embedding.weight)  # each row: the logits after a symbol

    def read(self, hidden: Tensor) -> Categorical:
        """The rows that were looked up are the logits."""
        return Categorical(hidden)

    def quantise(self) -> bool:
        """It is looked up, not multiplied."""
        return False
