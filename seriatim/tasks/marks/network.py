"""Networks of several things that may be true of a sequence.

    p(m) = sigmoid(b_m + sum_i v_mi h_i),   h = f(pool(blocks(x)))

Unlike the network of classify, whose softmax chooses one of K labels, it has a coin for each.
Shapes: B rows, D width, K labels.
"""

from __future__ import annotations

from torch import Tensor

from seriatim.distributions.symbols import Bernoulli
from seriatim.tasks.labels.models.network import SequenceLabeller


class MarksNetwork(SequenceLabeller):
    """The stack of classify under K coins."""

    def said(self, hidden: Tensor) -> Bernoulli:  # type: ignore[override]
        """(B, D) what was read of each sequence -> whether each label is true of it."""
        return Bernoulli(self.head(hidden).float())
