"""Truncated backpropagation through time: what is carried from one batch of a stream to the next.

The state before the oldest batch through which gradients still flow, and those batches: they are
run once more with every new one, so that its gradients reach further back than one batch is long.
"""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.models.base import Model, State, detach, leaves, regrow
from seriatim.models.recipe import TrainingOptions


class Past:
    """What came before the next batch."""

    def __init__(self) -> None:
        self.carried: State = None  # before the batches behind, without a history
        self.behind: list[Batch] = []
        self.states: list[
            State
        ] = []  # after each of these, with their history, while a batch is on its way

    def forget(self) -> None:
        """Begin anew."""
        self.carried, self.behind, self.states = None, [], []

    def enter(self, model: Model, batch: Batch, options: TrainingOptions) -> tuple[Batch, State]:
        """The batch, and the state to begin it with: none where nothing is carried."""
        nothing = self.carried is None and not self.behind
        if batch.before is None or not options.stateful or nothing:
            self.forget()
            batch = replace(batch, before=None)
        state, self.states = self.carried, []
        for each in self.behind:
            state = model.unroll(each, state)[1]
            self.states.append(state)
        return batch, state

    def leave(self, batch: Batch, state: State, options: TrainingOptions) -> None:
        """The batch was learned, and this is the state after it."""
        if not options.stateful or state is None:
            return
        self.behind.append(batch)
        self.states.append(state)
        while len(self.behind) > max(0, math.ceil(options.bptt / options.length) - 1):
            self.behind.pop(0)
            self.carried = detach(self.states.pop(0))  # the state before those that are left
        self.states = []

    def arrays(self) -> dict[str, Tensor]:
        """All of it, for a checkpoint."""
        found = {} if self.carried is None else leaves(self.carried)
        for number, batch in enumerate(self.behind):
            found |= {f"behind.{number}.y": batch.y, f"behind.{number}.mask": batch.y_mask}
            if batch.before is not None:
                found[f"behind.{number}.before"] = batch.before
        return found

    def take_up(self, arrays: dict[str, Tensor], behind: list[dict[str, Tensor]]) -> None:
        """What `arrays` gave; the batches behind one by one."""
        self.carried = regrow(arrays)
        self.behind = [
            Batch(
                each["y"][:, :0],
                torch.zeros(len(each["y"]), dtype=torch.long, device=each["y"].device),
                each["y"],
                each["mask"],
                each.get("before"),
            )
            for each in behind
        ]
