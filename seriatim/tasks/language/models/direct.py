"""A network and n-grams that vote beside it.

    p(y_t | y_1 .. y_{t-1}) = softmax(W h_t + b + v_t)

h_t is what the network makes of all that came before, v_t what the last few symbols say by
themselves: see `layers.votes`. Unlike the network alone it need not spend its width on what can be
looked up. Shapes: B rows, T time, D width, V symbols.
"""

from __future__ import annotations

import torch
from torch import Tensor

from seriatim.distributions.symbols import Categorical
from seriatim.errors import ConfigError
from seriatim.layers.direct import Votes
from seriatim.models.base import Model, State
from seriatim.models.network import Network
from seriatim.settings import refuse_idle
from seriatim.tasks.language.options import LanguageOptions

MOST = 1 << 27  # numbers in the table: half a gigabyte


class Voting(Network):
    """Hidden vectors have the votes behind them: D + V numbers. The state has the last symbols at
    its end."""

    def __init__(self, vocabulary: int, options: LanguageOptions):
        if vocabulary * options.cells > MOST:
            raise ConfigError(
                "a table of votes would be too large",
                got=f"{options.cells:,} cells of {vocabulary:,} symbols each",
                do=f"Use --cells {max(1, MOST // vocabulary)} or fewer, or leave --direct out: it is meant for characters",
            )
        super().__init__(vocabulary, options)
        self.votes = Votes(vocabulary, options.direct, options.cells, options.direct_dropout)

    def empty(self, rows: int) -> State:
        """The state before anything was read: that of the network, and of the votes."""
        return *self.resting(rows), self.votes.empty(rows)

    def run(
        self, symbols: Tensor, state: State, lengths: Tensor | None = None
    ) -> tuple[Tensor, State]:
        """(B, T) symbols -> hidden vectors with the votes beside them, and the state."""
        hidden, inner = super().run(symbols, state[:-1], lengths)
        votes, last = self.votes(symbols, state[-1], lengths)
        return torch.cat([hidden, votes], -1), (*inner, last)  # (B, T, D + V)

    def read(self, hidden: Tensor) -> Categorical:
        """Without votes behind it, a hidden vector is read as of the network alone."""
        votes = hidden[..., self.options.width :]
        found = self.categorical(hidden[..., : self.options.width])
        return Categorical(found.logits + votes) if votes.shape[-1] else found

    def rewind(self, after: State, before: State, y: Tensor, kept: int) -> State:
        """The state after only the first `kept` outputs."""
        return Model.rewind(self, after, before, y, kept)  # the last symbols are read again


def network(vocabulary: int, options: LanguageOptions) -> Network:
    """With direct connections or without."""
    refuse_idle(options, "direct", ("cells", "direct_dropout"), "the votes of the last symbols", 8)
    return (Voting if options.direct else Network)(vocabulary, options)
