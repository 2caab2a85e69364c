"""The same model under other numbers: its symbols are those of another codec, in another order.

Two runs of one file may know the same symbols in another order (one of them set some of the data
aside). To draft for each other, or to be mixed, one of them is read through the other's numbers.
A model that reads a source of other symbols than it writes has numbers for these, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.distributions.symbols import Categorical, Distribution
from seriatim.models.base import Model, State, asked


class Renumbered(Model):
    """A model whose symbol i is the inner model's symbol `number[i]`, and symbol i of its source
    `source[i]`: the same numbers if nothing is said; of what is read beside it `also`. A source of
    numbers stays as it is."""

    def __init__(
        self,
        inner: Model,
        number: Sequence[int],
        source: Sequence[int] | None = None,
        also: Sequence[Sequence[int]] = (),
    ):
        self.inner, self.number = inner, torch.as_tensor(number)
        self.source = self.number if source is None else torch.as_tensor(source)
        self.also = [torch.as_tensor(each) for each in also]
        self.vocabulary, self.warm, self.longest = inner.vocabulary, inner.warm, inner.longest

    def start(self, batch: Batch) -> tuple[Distribution, State]:
        """What comes first, by these numbers."""
        following, state = asked(self.inner).start(self.read(batch))
        return self.renumbered(following), state

    def read(self, batch: Batch) -> Batch:
        """A batch whose prompts or sources have the inner numbers."""
        also = tuple(
            (by_number(x, number), lengths)
            for number, (x, lengths) in zip(self.also, batch.also, strict=True)
        )
        return replace(batch, x=by_number(batch.x, self.source), also=also)

    def step(self, y: Tensor, state: State) -> tuple[Distribution, State]:
        """The same, one output later."""
        following, state = asked(self.inner).step(self.number[y], state)
        return self.renumbered(following), state

    def extend(self, y: Tensor, state: State) -> tuple[Distribution, State]:
        """The same, many outputs later."""
        following, state = asked(self.inner).extend(self.number[y], state)
        return self.renumbered(following), state

    def renumbered(self, following: Distribution) -> Categorical:
        """(..., V) by the inner numbers -> by these."""
        return Categorical(following.log_probs()[..., self.number])

    def rewind(self, after: State, before: State, y: Tensor, kept: int) -> State:
        """The state after only the first `kept` outputs."""
        return asked(self.inner).rewind(after, before, self.number[y], kept)

    def trace(self, batch: Batch) -> dict[str, Tensor]:
        """What happened inside the inner model."""
        return asked(self.inner).trace(replace(self.read(batch), y=self.number[batch.y]))

    def size(self) -> int:
        """As many parameters as the inner model has."""
        return self.inner.size()

    def quantise(self) -> bool:
        """The inner model, if it can be."""
        return self.inner.quantise()


def by_number(x: Tensor, number: Tensor) -> Tensor:
    """Symbols by other numbers; numbers as they are."""
    return x if x.is_floating_point() else number[x]


def matched(model: Model, symbols: Sequence[str], wanted: Sequence[str]) -> Model | None:
    """A model of these symbols as one of the wanted ones; None if they are not the same symbols."""
    number = numbering(symbols, wanted)
    if number is None or number == list(range(len(wanted))):
        return None if number is None else model
    return Renumbered(model, number)


def numbering(symbols: Sequence[str], wanted: Sequence[str]) -> list[int] | None:
    """The number of each wanted symbol among these; None if they are not the same symbols."""
    number = {symbol: i for i, symbol in enumerate(symbols)}
    if len(symbols) != len(wanted) or number.keys() != set(wanted):
        return None
    return [number[symbol] for symbol in wanted]
