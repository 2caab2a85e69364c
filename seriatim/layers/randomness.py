"""Random numbers of a fit: from a generator of its own, never from torch's, which all threads
share.

    with seeded(seed) as generator: model = create(...)          initial weights
    with drawn_from(generator): loss = model.loss(batch)[0]      dropout, noise, whatever is drawn while it learns

Which generator is drawn from is a context variable: parts of a batch that are computed side by side
have one each, so that it does not matter who is first. Outside of both, what is drawn is drawn from
torch's own, as with any module.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

GENERATOR: ContextVar[torch.Generator | None] = ContextVar("generator", default=None)


BORROWING = Lock()


def generator() -> torch.Generator | None:
    """What is drawn from here; None: torch's own."""
    return GENERATOR.get()


@contextmanager
def drawn_from(own: torch.Generator) -> Iterator[None]:
    """Within this, layers draw from this generator."""
    before = GENERATOR.set(own)
    try:
        yield
    finally:
        GENERATOR.reset(before)


@contextmanager
def seeded(seed: int) -> Iterator[torch.Generator]:
    """Within this, all that torch draws in this thread comes from a new generator, initial weights
    included."""
    own = torch.Generator(device="cpu").manual_seed(seed)
    with Redirected(own), drawn_from(own):
        yield own


@contextmanager
def borrowed() -> Iterator[None]:
    """Within this, torch's own generator goes on where that of the context stands, and is put back:
    for compiled code, which draws from no other. One at a time."""
    own = generator()
    if own is None:
        yield
        return
    with BORROWING, torch.random.fork_rng(devices=[]):
        torch.set_rng_state(own.get_state())
        try:
            yield
        finally:
            own.set_state(torch.get_rng_state())


class Redirected(TorchDispatchMode):
    """Operations of this thread that would draw from torch's own generator draw from another."""

    def __init__(self, own: torch.Generator):
        super().__init__()
        self.own = own

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        packet, name = func.overloadpacket, func._overloadname
        twin = "generator" if name == "default" else f"{name}_generator"
        if any(each.name == "generator" for each in func._schema.arguments):
            kwargs["generator"] = kwargs.get("generator") or self.own
        elif twin in packet.overloads():  # torch.rand and others: an operation of its own
            func, kwargs["generator"] = getattr(packet, twin), self.own
        return func(*args, **kwargs)


def uniform(shape: Sequence[int], device: torch.device) -> Tensor:
    """Numbers between 0 and 1, drawn on a device."""
    if torch.compiler.is_compiling():  # compiled code draws in its own way
        return torch.rand(shape, device=device)
    return torch.rand(shape, generator=generator(), device=device)


def normal_like(x: Tensor) -> Tensor:
    """Standard normal numbers, in the shape and type of x."""
    if torch.compiler.is_compiling():
        return torch.randn_like(x)
    return torch.empty_like(x).normal_(generator=generator())
