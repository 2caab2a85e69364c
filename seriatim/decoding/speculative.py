"""A cheap model guesses ahead, the real one checks: the same text, sooner (Leviathan et al. 2023).

Unlike rejection sampling, draft and model throw the same dice: where both draw the same symbol time
is won, and where they do not the model's own symbol stands. So the draft decides how long it takes
and nothing else.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.decoding.options import DecodingOptions
from seriatim.decoding.results import Result
from seriatim.decoding.sampling import already, choose
from seriatim.distributions.symbols import Distribution
from seriatim.models.base import Model, State, asked


class Throws:
    """The dice of one result: for each place one throw, whoever asks and how often."""

    def __init__(self, seed: int, options: DecodingOptions, forbidden: Sequence[int]):
        self.dice, self.options, self.forbidden = np.random.default_rng(seed), options, forbidden
        self.thrown: list[float] = []

    def choose(self, following: Distribution, place: int, used: Tensor | None) -> tuple[int, float]:
        """The symbol drawn for a place, and its log-probability."""
        while len(self.thrown) <= place:
            self.thrown.append(self.dice.random())
        throws = self.thrown[place : place + 1] if self.options.temperature else None
        symbols, values = choose(following.log_probs(), used, self.options, self.forbidden, throws)
        return int(symbols), values[0]


class Draft:
    """The cheap model and how far it has read."""

    def __init__(self, model: Model, batch: Batch):
        self.model = model
        self.following, self.state = model.start(batch)

    def guess(
        self, first: int, place: int, tries: int, throws: Throws, used: Tensor | None
    ) -> tuple[list[int], list[State]]:
        """A symbol that was drawn and so many that may follow it; and the state after reading
        each."""
        read, states, used = [first], list[State](), None if used is None else used.clone()
        for number in range(tries + 1):
            self.following, self.state = self.model.step(torch.tensor(read[-1:]), self.state)
            states.append(self.state)
            if used is not None:
                used[0, read[-1]] = True
            if number < tries:
                read.append(throws.choose(self.following, place + number, used)[0])
        return read, states


def speculating(
    model: Model,
    draft: Model,
    batch: Batch,
    options: DecodingOptions,
    seed: int,
    stops: Sequence[int],
    forbidden: Sequence[int],
) -> Generator[list[Result], None, None]:
    """What `sampling` gives for one row, symbol for symbol, with fewer steps of the model.

    The draft writes a few symbols ahead; the model reads all of them at once and throws for each
    place itself.
    """
    model, draft = asked(model), asked(draft)
    result, throws = Result([]), Throws(seed, options, forbidden)
    yield [result]
    if not options.length:
        return
    used = already(batch, model.vocabulary, options)
    following, state = model.start(batch)
    guesser = Draft(draft, batch)
    pending = throws.choose(following, 0, used)  # drawn, but not yet read by anyone
    while True:
        going = result.take(*pending, stops)
        yield [result]
        place = len(result.symbols)
        if not going or place == options.length:
            return
        tries = min(options.ahead, options.length - place - 1)
        read, states = guesser.guess(pending[0], place, tries, throws, used)
        answers, after = model.extend(torch.tensor([read]), state)
        for number in range(tries + 1):
            if used is not None:
                used[0, read[number]] = True
            pending = throws.choose(answers[:, number], place + number, used)
            if number == tries or pending[0] != read[number + 1]:
                break
            going = result.take(*pending, stops)
            yield [result]
            if not going:
                return
        if number < tries:
            after = model.rewind(after, state, torch.tensor([read]), number + 1)
        state, guesser.state = after, states[number]
