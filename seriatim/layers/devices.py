"""Where networks compute: on the CPU, or on an accelerator that this torch can use.

Within a model, tensors are made on the device of a tensor at hand. Batches are moved where a model is
trained (`training.loop`) or asked (`models.base.asked`), and what it says is brought home there, so
that all that reads it is on the CPU. A run folder knows no device. Nothing here imports torch before
it is used: options name the choices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from seriatim.errors import ConfigError

if TYPE_CHECKING:
    import torch

ACCELERATORS = ("cuda", "mps")  # the first that is there is taken
CHOICES = ("auto", "cpu", *ACCELERATORS)
HELP = "where networks compute; auto: cuda, else mps, else cpu"

Value = TypeVar("Value")


class Parted(Protocol):
    """A model, or several that are mixed."""

    @property
    def parts(self) -> Sequence[Any]:
        """What it is mixed of: of one model, itself."""


def available(name: str) -> bool:
    """Whether this torch, on this machine, can compute there."""
    import torch

    return name == "cpu" or bool(torch.get_device_module(name).is_available())


def chosen(name: str) -> torch.device:
    """The device of this name; auto: the first accelerator that is there, else the CPU."""
    import torch

    if name not in CHOICES:
        raise ConfigError("there is no such device", got=name, do=f"Known: {', '.join(CHOICES)}")
    found = [each for each in (*ACCELERATORS, "cpu") if available(each)]
    if name == "auto":
        return torch.device(found[0])
    if name not in found:
        raise ConfigError(
            "this device is not here",
            got=f"--device {name}; torch {torch.__version__} has {', '.join(found)}",
            do="Use --device auto, or install a torch that is built for this device",
        )
    return torch.device(name)


def place(model: Parted, device: torch.device) -> None:
    """Let the networks of a model compute there; what counts stays on the CPU."""
    from torch import nn

    for part in model.parts:
        if isinstance(part, nn.Module):
            part.to(device)


def to(value: Value, device: torch.device) -> Value:
    """The same on a device: a tensor, or what holds some, as batches, states and arrays by name do."""
    from torch import Tensor

    found: Any = value
    if isinstance(value, Tensor):
        found = value.to(device)
    elif isinstance(value, dict):
        found = {name: to(each, device) for name, each in value.items()}
    elif isinstance(value, (tuple, list)):
        found = type(value)(to(each, device) for each in value)
    elif is_dataclass(value) and not isinstance(value, type):
        moved = {each.name: to(getattr(value, each.name), device) for each in fields(value)}
        found = replace(value, **moved)
    return found


def home(value: Value) -> Value:
    """The same on the CPU."""
    import torch

    return to(value, torch.device("cpu"))


def dice(device: torch.device, seed: int) -> torch.Generator:
    """Random numbers of a device."""
    import torch

    return torch.Generator(device=device).manual_seed(seed)


def wide(x: torch.Tensor) -> torch.Tensor:
    """In double precision, where the device has it."""
    return x.float() if x.device.type == "mps" else x.double()
