"""Context in, distribution out: the interface of every rung.

    start(batch)        what is expected first, given nothing, a prompt or a source; and the State
    step(y, state)      the same, one output later
    extend(y, state)    the same, many outputs later: the distributions after each of y
    predict(batch)      every output position at once (teacher forcing)

A State is a value: a nest of tuples of tensors, **rows first in every leaf**, passed in and
returned, never kept on the model. `select(state, rows)` is all that beam search needs,
`detach(state)` all that truncated backpropagation needs. A model gives `start` and one of `step`
and `extend`; one that does not generate gives `predict` alone.
Shapes: B rows, T time.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from seriatim.batches import Batch
from seriatim.data.sequences import Field
from seriatim.distributions.symbols import Distribution
from seriatim.layers.attention import chosen
from seriatim.layers.devices import home, to
from seriatim.parallel import settle

# Tensor | tuple[State, ...]: how deep, only the model knows that made it, and nobody else asks
State = Any


class Model:
    """Anything that predicts the next element of a sequence."""

    options: Any = None  # the record of options it was made by, of the rung's own class
    vocabulary: int  # V, how many symbols it chooses from
    warm: int = 512  # how far back it needs to have read when it is asked in the middle of a stream
    longest: int | None = None  # how many symbols it can read at all
    learns: Literal["by counting", "by gradients", "its own way"] = "by counting"
    # whether parts of a batch may be computed side by side: the loss is a mean over its places
    divisible: bool = False
    ends: bool = True  # whether it says how likely a sequence ends
    # it answers before its first update, by what counts beside it: that is judged, too
    knows: bool = False
    # folder of the pretrained model that it stands on: what that has read is unknown
    pretrained: str = ""
    # share of its training that is over, for what changes in its course; told by training
    spent: float = 0.0

    @property
    def parts(self) -> Sequence[Model]:
        """What it is mixed of: of one model, itself."""
        return [self]

    @property
    def device(self) -> torch.device:
        """Where it takes batches: the CPU, but for networks that were placed elsewhere."""
        return torch.device("cpu")

    def start(self, batch: Batch) -> tuple[Distribution, State]:
        """What comes first after batch.x: (B,) distributions, and the state."""
        raise TypeError(f"{type(self).__name__} does not generate")

    def step(self, y: Tensor, state: State) -> tuple[Distribution, State]:
        """(B,) outputs -> (B,) distributions of the next ones."""
        following, state = self.extend(y[:, None], state)
        return following[:, 0], state

    def extend(self, y: Tensor, state: State) -> tuple[Distribution, State]:
        """(B, T) outputs -> (B, T) distributions, each of what follows."""
        columns = []
        for t in range(y.shape[1]):
            following, state = self.step(y[:, t], state)
            columns.append(following[:, None])
        return type(columns[0]).concatenate(columns, 1), state

    def rewind(self, after: State, before: State, y: Tensor, kept: int) -> State:
        """The state after only the first `kept` of (B, T) outputs, which led from the state
        `before` to `after`."""
        return self.extend(y[:, :kept], before)[1]

    def unroll(self, batch: Batch, state: State = None) -> tuple[Distribution, State]:
        """The distribution of each of batch.y given those before it, and the state before the last.

        With a state, the batch continues the one that left it.
        """
        if state is not None:
            if batch.before is None:
                raise ValueError("a batch that continues another knows the symbol before it")
            return self.extend(torch.cat([batch.before[:, None], batch.y[:, :-1]], 1), state)
        first, state = self.start(batch)
        if batch.y.shape[1] == 1:
            return first[:, None], state
        rest, state = self.extend(batch.y[:, :-1], state)
        return type(first).concatenate([first[:, None], rest], 1), state

    def predict(self, batch: Batch) -> Distribution:
        """The distribution of each of batch.y given those before it: (B, T)."""
        return self.unroll(batch)[0]

    def loss(
        self, batch: Batch, state: State = None, smoothing: float = 0.0
    ) -> tuple[Tensor, State]:
        """Mean negative log-probability of what counts in batch.y, and the state to carry on."""
        distribution, state = self.unroll(batch, state)
        weights = batch.y_mask / batch.y_mask.sum().clamp(min=1)
        return -distribution.total(batch.y, weights, smoothing), state

    def sweep(self, ids: Field, stop: bool) -> np.ndarray | None:
        """(N,) log-probability of every symbol of a corpus (and, with `stop`, of the end of each
        sequence), all at once; None: it walks."""
        return None

    def counting(self, *data: Any, **how: Any) -> Iterator[dict[str, Any]]:
        """Learn by counting, telling how far it is; of what, its task says."""
        raise TypeError(f"{type(self).__name__} does not count")

    def count(self, ids: Field, stop: bool) -> None:
        """Learn by counting."""
        for _ in self.counting(ids, stop):
            pass

    def learning(
        self, lesson: Any, options: Any, checkpoint: Path | None
    ) -> Generator[dict[str, Any], None, None]:
        """Learn in its own way, as events: for a model that neither counts nor goes through the gradient loop."""
        raise TypeError(f"{type(self).__name__} has no way of its own to learn")

    def trace(self, batch: Batch) -> dict[str, Tensor]:
        """What happened inside, by name; empty for a model with nothing to show."""
        return {}

    def quantise(self) -> bool:
        """Compute in 8 bits where that makes inference faster; whether there is anything to quantise."""
        return False

    # -- keeping it
    def arrays(self) -> dict[str, Tensor]:
        """All that was learned, by name: what a run folder stores."""
        raise TypeError(f"{type(self).__name__} cannot be saved")

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave; raises ValueError if it does not fit."""
        raise TypeError(f"{type(self).__name__} cannot be loaded")

    def size(self) -> int:
        """Number of learned values."""
        return sum(array.numel() for array in self.arrays().values())


# logarithms, where minus infinity stands for what is impossible; a back-off weight may be nothing
LOGARITHMS = re.compile(r"(.*\.)?(log_(?P<kind>[pg])\.\d+(\.means)?|log_weights)")


def check_finite(arrays: dict[str, Tensor]) -> None:
    """A ValueError if there is an array with numbers in it that no fit leaves there."""
    for name, array in arrays.items():
        if not array.is_floating_point():
            continue
        logarithms = LOGARITHMS.fullmatch(name)
        if logarithms is None:
            wrong = not bool(array.isfinite().all())
        else:
            nothing = logarithms["kind"] == "g"
            wrong = bool(array.isposinf().any()) or (not nothing and bool(array.isnan().any()))
        if wrong:
            raise ValueError(f"numbers that are not finite, in {name}")


class NeuralModel(nn.Module, Model):
    """A model that learns by gradients. What it keeps is torch's state_dict."""

    learns = "by gradients"

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        return next((each.device for each in self.parameters()), torch.device("cpu"))

    def arrays(self) -> dict[str, Tensor]:
        """Torch's state_dict."""
        return {name: value.detach() for name, value in self.state_dict().items()}

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave; raises ValueError if it does not fit."""
        own = self.state_dict()
        wanted = {name: (value.shape, value.dtype) for name, value in own.items()}
        found = {name: (value.shape, value.dtype) for name, value in arrays.items()}
        if wanted != found:
            wrong = sorted(
                name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name)
            )
            raise ValueError(f"arrays that do not fit: {', '.join(wrong[:5])}")
        # a model laid out without memory takes the arrays as they are
        self.load_state_dict(arrays, assign=any(value.is_meta for value in own.values()))


class Abroad(Model):
    """A model on another device, asked from the CPU: what it is given is moved there, what it says is
    brought home. Its states stay where they are."""

    def __init__(self, inner: Model):
        self.inner, self.options, self.vocabulary = inner, inner.options, inner.vocabulary
        self.warm, self.longest = inner.warm, inner.longest

    def start(self, batch: Batch) -> tuple[Distribution, State]:
        """What comes first."""
        following, state = self.inner.start(to(batch, self.inner.device))
        return following.home(), state

    def step(self, y: Tensor, state: State) -> tuple[Distribution, State]:
        """The same, one output later."""
        following, state = self.inner.step(y.to(self.inner.device), state)
        return following.home(), state

    def extend(self, y: Tensor, state: State) -> tuple[Distribution, State]:
        """The same, many outputs later."""
        following, state = self.inner.extend(y.to(self.inner.device), state)
        return following.home(), state

    def rewind(self, after: State, before: State, y: Tensor, kept: int) -> State:
        """The state after only the first `kept` outputs."""
        return self.inner.rewind(after, before, y.to(self.inner.device), kept)

    def unroll(self, batch: Batch, state: State = None) -> tuple[Distribution, State]:
        """Every output position at once, and the state."""
        following, state = self.inner.unroll(to(batch, self.inner.device), state)
        return following.home(), state

    def predict(self, batch: Batch) -> Distribution:
        """Every output position at once."""
        return self.inner.predict(to(batch, self.inner.device)).home()

    def loss(
        self, batch: Batch, state: State = None, smoothing: float = 0.0
    ) -> tuple[Tensor, State]:
        """The loss of a batch."""
        loss, state = self.inner.loss(to(batch, self.inner.device), state, smoothing)
        return home(loss), state

    def trace(self, batch: Batch) -> dict[str, Tensor]:
        """What happened inside."""
        return home(self.inner.trace(to(batch, self.inner.device)))


def asked(model: Model) -> Model:
    """A model as it is asked from the CPU: itself, or the one abroad."""
    return model if model.device.type == "cpu" else Abroad(model)


@contextmanager
def evaluating(model: Model, gradients: bool = False) -> Iterator[None]:
    """Within this, a model answers: without dropout and (unless they are asked for) without gradients, even in the
    middle of its training. One that is not being trained is not touched, so that many threads may ask it."""
    busy = [part for part in model.parts if isinstance(part, nn.Module) and part.training]
    settle()
    for part in busy:
        part.eval()
    try:
        with torch.inference_mode(not gradients):
            yield
    finally:
        for part in busy:
            part.train()


class Shared(tuple):
    """What many rows of a state have in common, kept once: (owner, part, ...). Row r looks at row
    owner[r] of each part (M, ...)."""

    def select(self, rows: Tensor) -> Shared:
        """Those that nobody looks at any more are left out."""
        owner, *parts = self
        owner = owner[rows.to(owner.device)]
        used = torch.zeros(len(parts[0]), dtype=torch.bool, device=owner.device)
        used[owner] = True
        return (
            Shared((owner, *parts))
            if used.all()
            else Shared((used.cumsum(0)[owner] - 1, *(part[used] for part in parts)))
        )

    def grouped(self) -> tuple[int, tuple[Tensor, ...]]:
        """How many rows look at each, one group after another, and the parts; where they do not lie
        in equal groups, a copy for each row."""
        owner, *parts = self
        beams, rest = divmod(len(owner), len(parts[0])) if len(parts[0]) else (1, 0)
        every = torch.arange(len(parts[0]), device=owner.device)
        if not rest and torch.equal(owner, every.repeat_interleave(beams)):
            return beams, tuple(parts)
        return 1, tuple(part[owner] for part in parts)


def select(state: State, rows: Tensor) -> State:
    """Keep, repeat or reorder the rows of a state."""
    if isinstance(state, Shared):
        return state.select(rows)
    return (
        tuple(select(part, rows) for part in state)
        if isinstance(state, tuple)
        else chosen(state, rows)
    )


def detach(state: State) -> State:
    """The same state, without its history: gradients stop here."""
    return type(state)(map(detach, state)) if isinstance(state, tuple) else state.detach()


def leaves(state: State, name: str = "state") -> dict[str, Tensor]:
    """The tensors of a state by their place in the nest, so that it can be saved."""
    if not isinstance(state, tuple):
        return {name: state}
    if isinstance(state, Shared):
        state = tuple(part[state[0]] for part in state[1:])
    return {
        key: leaf
        for i, part in enumerate(state)
        for key, leaf in leaves(part, f"{name}.{i}").items()
    }


def regrow(found: dict[str, Tensor], name: str = "state") -> State:
    """The state whose `leaves` these are; None if there are none."""
    if name in found:
        return found[name]
    parts: list[State] = []
    while any(
        key == f"{name}.{len(parts)}" or key.startswith(f"{name}.{len(parts)}.") for key in found
    ):
        parts.append(regrow(found, f"{name}.{len(parts)}"))
    return tuple(parts) if parts else None
