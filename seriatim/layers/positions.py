"""Where does everything stand? Attention alone does not know the order of what it hears; something
must tell.

    rotary      q and k of attention are turned, further with each position      Su et al. 2021
    sinusoidal  x_t + (sin(t / 10000^(2k/D)), cos(t / 10000^(2k/D)))_k           Vaswani et al. 2017
    learned     x_t + P_t, a table with a row for each of `context` positions    Radford et al. 2019
    concatenated  W [x_t ; p_t] + b, p the sinusoidal vectors: what is where, side by side

Rotary positions know only distances; the others know places, and the table ends. Places, the
mask that hides the future and what lies too far back, and the angles are the same for all layers,
so they are found once.
Shapes: B rows, T time, S keys, D width, E features of a head.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from seriatim.errors import ConfigError
from seriatim.layers.linear import Linear


@dataclass
class Frame:
    """What all attention layers share at one time."""

    time: int  # T
    context: int  # how far back a position hears, itself included
    # (B, 1, T, S) True where a key may be heard; None: plain causal, or (T = 1) all of them
    mask: Tensor | None
    turn: tuple[Tensor, Tensor] | None  # rotary: cosine and sine, (B, 1, T, E / 2)
    shift: Tensor | None  # (B,) how far rows that end early are moved to the right


class Places(nn.Module):
    """The first block of a stack of attention. State: the position of each key of the window (B, S;
    -1 for none), and how many positions each row has seen (B,)."""

    def __init__(self, kind: str, width: int, size: int, context: int):
        super().__init__()
        self.kind, self.size, self.context, self.width = kind, size, context, width
        self.table = nn.Parameter(0.02 * torch.randn(context, width)) if kind == "learned" else None
        self.joint = Linear(2 * width, width) if kind == "concatenated" else None

    def empty(self, rows: int, device: torch.device | None = None) -> tuple[Tensor, Tensor]:
        """No keys, and no positions seen."""
        seen = torch.zeros(rows, dtype=torch.long, device=device)
        return seen[:, None][:, :0], seen

    def forward(
        self, x: Tensor, state: tuple[Tensor, Tensor], lengths: Tensor | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor], Frame]:
        """(B, T, D), state -> the same with their places, the state after each row's length, and
        the frame for the layers above."""
        places, seen = state
        time = x.shape[1]
        here = seen[:, None] + torch.arange(time, device=x.device)  # (B, T)
        if places.shape[1] == 0 and time <= self.context:  # nothing behind
            reach, mask = here, None
        else:
            reach = torch.cat([places, here], 1)  # (B, S)
            mask = None
            if time > 1 or reach.shape[1] > self.context or int(places.min()) < 0:
                distance = here[:, :, None] - reach[:, None]  # (B, T, S)
                mask = ((distance >= 0) & (distance < self.context) & (reach[:, None] >= 0))[
                    :, None
                ]
        shift = None
        if lengths is not None:
            shift = time - lengths
            index = torch.arange(reach.shape[1], device=x.device) - shift[:, None]
            reach = torch.where(index < 0, -1, reach.gather(1, index.clamp(min=0)))
        after = (
            reach[:, max(0, reach.shape[1] - self.context + 1) :],
            seen + (time if lengths is None else lengths),
        )
        return (
            self.told(x, here),
            after,
            Frame(
                time, self.context, mask, self.turn(here) if self.kind == "rotary" else None, shift
            ),
        )

    def whole(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Frame]:
        """For sequences that are there from beginning to end: every position may hear every other,
        and padding itself, since a softmax over nothing is not a number."""
        here = torch.arange(x.shape[1], device=x.device).expand(len(x), -1)  # (B, T)
        distance = (here[:, :, None] - here[:, None]).abs()  # (B, T, T)
        mask = (((distance < self.context) & (here < lengths[:, None])[:, None]) | (distance == 0))[
            :, None
        ]
        return self.told(x, here), Frame(
            x.shape[1], self.context, mask, self.turn(here) if self.kind == "rotary" else None, None
        )

    def told(self, x: Tensor, here: Tensor) -> Tensor:
        """The vectors with their places added or beside them, for absolute positions."""
        if self.kind == "sinusoidal":
            return x + waves(here, x.shape[-1])
        if self.joint is not None:
            beside = waves(here, x.shape[-1]).to(x.dtype).expand_as(x)
            return self.joint(torch.cat([x, beside], -1))  # (B, T, 2 D) -> (B, T, D)
        if self.table is None:
            return x
        if here.numel() and int(here.max()) >= len(self.table):
            raise ConfigError(
                f"this model has {len(self.table)} learned positions and can read no further",
                got=f"position {int(here.max())}",
                do="Shorten the prompt or the --length, or fit a model with --positions rotary",
            )
        return x + self.table[here]

    @torch.no_grad()
    def vectors(self, many: int) -> Tensor:
        """(N, D) what the first so many positions are told: what is added, or put beside; of
        rotary positions (N, E) the cosines and sines by which each head is turned; of none (N, 0)."""
        weight = next(self.parameters(), None)
        here = torch.arange(many, device=None if weight is None else weight.device)
        if self.kind in ("sinusoidal", "concatenated"):
            return waves(here, self.width)
        if self.kind == "rotary":
            return torch.cat([each[0, 0] for each in self.turn(here[None])], -1)
        return here.new_zeros(many, 0).float() if self.table is None else self.table[:many].detach()

    def turn(self, here: Tensor) -> tuple[Tensor, Tensor]:
        """The angles of rotary positions, for heads of this size."""
        return turn(here, self.size)


def waves(here: Tensor, width: int) -> Tensor:
    """(B, T) positions -> (B, T, D) p_t: sines and cosines, the first pair the fastest."""
    speed = 10000.0 ** (-torch.arange(0, width, 2, device=here.device) / width)  # (D / 2,)
    angle = here[..., None] * speed  # (B, T, D / 2)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)[..., :width]


def turn(here: Tensor, size: int, slowest: float = 10000.0) -> tuple[Tensor, Tensor]:
    """(B, T) positions -> cosine and sine of the angles, (B, 1, T, E / 2)."""
    speed = slowest ** (
        -torch.arange(size // 2, dtype=torch.float32, device=here.device) / (size // 2)
    )
    angle = (here[..., None] * speed)[:, None]
    return angle.cos(), angle.sin()


def rotate(x: Tensor, turned: tuple[Tensor, Tensor]) -> Tensor:
    """Turn each pair of features by the angle of its position: (B, H, T, E)."""
    cosine, sine = (each.to(x.dtype) for each in turned)
    a, b = x.chunk(2, -1)
    return torch.cat([a * cosine - b * sine, a * sine + b * cosine], -1)
