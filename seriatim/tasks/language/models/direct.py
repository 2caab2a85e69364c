"""A network and n-grams that vote beside it.

    p(y_t | y_1 .. y_{t-1}) = softmax(W h_t + b + v_t)

h_t is what the network makes of all that came before, v_t what the last few symbols say by
themselves: see `layers.votes`. Unlike the network alone it need not spend its width on what can be
looked up. Shapes: B rows, T time, D width, V symbols.
"""

from __future__ import annotations

from dataclasses import replace

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


USUAL_DIRECT, USUAL_CELLS, USUAL_NUMBERS = 8, 1 << 18, 1 << 24  # unless something else is asked for


FEW, LEAST_WIDTH = 258, 128  # symbols, such as bytes, and width of a network beside which they vote


class Voting(Network):
    """Hidden vectors have the votes behind them: D + V numbers. The state has the last symbols at
    its end."""

    def __init__(self, vocabulary: int, options: LanguageOptions, direct: int, cells: int):
        if vocabulary * cells > MOST:
            raise ConfigError(
                "a table of votes would be too large",
                got=f"{cells:,} cells of {vocabulary:,} symbols each",
                do=f"Use --cells {max(1, MOST // vocabulary)} or fewer, or leave --direct out: it is meant for characters",
            )
        super().__init__(vocabulary, options)
        self.votes = Votes(vocabulary, direct, cells, options.direct_dropout)

    def empty(self, rows: int) -> State:
        """The state before anything was read: that of the network, and of the votes."""
        return *self.resting(rows), self.votes.empty(rows, self.device)

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
    direct = usual_direct(vocabulary, options) if options.direct is None else options.direct
    cells = options.cells or max(1, min(USUAL_CELLS, USUAL_NUMBERS // vocabulary))
    refuse_idle(
        replace(options, direct=direct),
        "direct",
        ("cells", "direct_dropout"),
        "the votes of the last symbols",
        USUAL_DIRECT,
    )
    if not direct:
        return Network(vocabulary, options)
    return Voting(vocabulary, options, direct, cells)


def usual_direct(vocabulary: int, options: LanguageOptions) -> int:
    """How many symbols vote if nothing is said: beside gates, where there are few symbols and the
    network is not a small one to look into."""
    gated = options.mixer in ("lstm", "gru") and options.width >= LEAST_WIDTH
    return USUAL_DIRECT if gated and vocabulary <= FEW else 0
