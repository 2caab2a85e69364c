"""Recurrence: a position hears the past through one vector, updated symbol by symbol.

    rnn      h_t = g(W x_t + U h_{t-1} + b),  g: tanh, sigmoid or relu          Elman 1990
    gru      h_t = (1 - z) n + z h_{t-1},  n = tanh(W x_t + r (U h_{t-1}))      Cho et al. 2014
    lstm     c_t = f c_{t-1} + i tanh(W x_t + U h_{t-1}),  h_t = o tanh(c_t)    Hochreiter 1997
    coupled  the lstm with f = 1 - i: what comes in is what goes out            Greff et al. 2017

The lstm's forget gate is that of Gers 2000. The gates z, r, f, i, o are sigmoids of x_t and h_{t-1}.
Shapes: B rows, T time, D width, G gates.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from seriatim.layers.dropout import dropout
from seriatim.layers.mixer import Mixer, MixerState

KERNELS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


# what the rows of the weights are, D each
PARTS = {
    "rnn": ("recurrent",),
    "gru": ("reset", "update", "candidate"),
    "lstm": ("input", "forget", "candidate", "output"),
    "coupled": ("input", "candidate", "output"),
}


ACTIVATIONS = {"tanh": torch.tanh, "sigmoid": torch.sigmoid, "relu": torch.relu}


class Recurrent(Mixer):
    """A mixer around torch's own kernels. State: h (B, D); for the lstm (h, c). Its inputs may have
    another size than its outputs."""

    def __init__(
        self,
        cell: str,
        width: int,
        activation: str = "tanh",
        initial: str = "orthogonal",
        weight_dropout: float = 0.0,
        inputs: int | None = None,
    ):
        super().__init__()
        inputs = inputs or width
        self.width, self.pair, self.weight_dropout = (
            width,
            cell in ("lstm", "coupled"),
            weight_dropout,
        )
        self.parts = PARTS[cell]
        if cell in KERNELS and (cell != "rnn" or activation != "sigmoid"):
            settings = {"nonlinearity": activation} if cell == "rnn" else {}
            self.cell = KERNELS[cell](inputs, width, batch_first=True, **settings)
        else:
            self.cell = Stepwise(cell, width, activation, inputs)
        for name, parameter in self.cell.named_parameters():
            if name.startswith("weight_hh") and initial == "orthogonal":
                for block in parameter.data.split(width):
                    nn.init.orthogonal_(block)
            elif name.startswith("weight_ih"):
                nn.init.xavier_uniform_(parameter)
            elif name.startswith("bias"):
                nn.init.zeros_(parameter)
        if cell == "lstm":  # remember at first: forget gate open
            self.cell.bias_ih_l0.data[width : 2 * width] = 1.0

    def empty(self, rows: int) -> MixerState:
        """h, or h and c, of zeros."""
        zeros = torch.zeros(rows, self.width)
        return (zeros, zeros) if self.pair else zeros

    def run(self, x: Tensor | PackedSequence, inner: MixerState) -> Any:
        """The cell, in training with some of its recurrent weights left out (Merity et al.
        2018)."""
        if not self.weight_dropout or not self.training:
            return self.cell(x, inner)
        dropped = {
            name: dropout(weight, self.weight_dropout)
            for name, weight in self.cell.named_parameters()
            if name.startswith("weight_hh")
        }
        return functional_call(self.cell, dropped, (x, inner))

    def forward(
        self, x: Tensor, state: MixerState, lengths: Tensor | None = None
    ) -> tuple[Tensor, MixerState]:
        """(B, T, D), state -> (B, T, D), state after each row's length."""
        inner: MixerState = (
            tuple(part[None] for part in state) if isinstance(state, tuple) else state[None]
        )  # (1, B, D)
        if lengths is None:
            y, inner = self.run(x, inner)
        elif isinstance(self.cell, Stepwise):
            y, inner = self.cell(x, inner, lengths)
        else:
            packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            packed, inner = self.run(packed, inner)
            y = pad_packed_sequence(packed, batch_first=True, total_length=x.shape[1])[0]
        return y, tuple(part[0] for part in inner) if isinstance(inner, tuple) else inner[0]

    def recurrent_matrices(self) -> dict[str, Tensor]:
        """U, (D, D): what h_{t-1} is multiplied with; one for each gate."""
        return dict(zip(self.parts, self.cell.weight_hh_l0.split(self.width), strict=True))

    def gates(self, x: Tensor, hidden: Tensor, state: MixerState) -> Tensor | None:
        """(B, T, D) inputs and outputs of this layer -> (B, T, G, D) how far each gate stood open;
        None where there are none.

        lstm and coupled: input, forget, output; gru: reset, update.
        """
        first = state[0] if isinstance(state, tuple) else state  # (B, D)
        before = torch.cat([first[:, None], hidden[:, :-1]], 1)  # (B, T, D) h_{t-1}
        total = F.linear(x, self.cell.weight_ih_l0, self.cell.bias_ih_l0) + F.linear(
            before, self.cell.weight_hh_l0, self.cell.bias_hh_l0
        )
        opened = {
            name: torch.sigmoid(part)
            for name, part in zip(self.parts, total.split(self.width, -1), strict=True)
        }
        if "input" in opened and "forget" not in opened:
            opened["forget"] = 1 - opened["input"]
        names = [
            name for name in ("input", "forget", "output", "reset", "update") if name in opened
        ]
        return torch.stack([opened[name] for name in names], 2) if names else None


class Stepwise(nn.Module):
    """All cells, written out a step at a time; names as in torch. For those torch has no kernel
    for, and for weights that are not float32."""

    def __init__(self, cell: str, width: int, activation: str, inputs: int | None = None):
        super().__init__()
        self.kind, self.gates, self.activation, self.pair = (
            cell,
            len(PARTS[cell]),
            ACTIVATIONS[activation],
            cell in ("lstm", "coupled"),
        )
        self.weight_ih_l0, self.weight_hh_l0 = (
            nn.Parameter(torch.empty(self.gates * width, each)) for each in (inputs or width, width)
        )
        self.bias_ih_l0, self.bias_hh_l0 = (
            nn.Parameter(torch.zeros(self.gates * width)) for _ in range(2)
        )
        self.maps: tuple[nn.Module, nn.Module] | None = (
            None  # other maps of the input and of h, if not these
        )
        nn.init.xavier_uniform_(self.weight_hh_l0)

    @classmethod
    def of(cls, kernel: nn.RNNBase) -> Stepwise:
        """The same as one of torch's kernels."""
        made = cls(
            next(name for name, each in KERNELS.items() if isinstance(kernel, each)),
            kernel.hidden_size,
            getattr(kernel, "nonlinearity", "tanh"),
            kernel.input_size,
        )
        made.load_state_dict(kernel.state_dict())
        return made

    def step(
        self, x: Tensor, past: Tensor, h: Tensor, c: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        """(B, G D) from the input, (B, G D) from h, (B, D) h and c before -> after."""
        if self.kind == "gru":
            r, z = torch.sigmoid(x[:, : 2 * h.shape[1]] + past[:, : 2 * h.shape[1]]).chunk(2, -1)
            n = torch.tanh(x[:, 2 * h.shape[1] :] + r * past[:, 2 * h.shape[1] :])
            return n + z * (h - n), None
        if c is None:
            return self.activation(x + past), None
        i, *f, g, o = (x + past).chunk(self.gates, -1)
        i = torch.sigmoid(i)
        c = (torch.sigmoid(f[0]) if f else 1 - i) * c + i * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c

    def forward(
        self, x: Tensor, inner: MixerState, lengths: Tensor | None = None
    ) -> tuple[Tensor, MixerState]:
        """(B, T, I), (1, B, D) h or h and c -> (B, T, D), and (1, B, D) after each row's length: as
        torch's kernels have it."""
        inward, recurrent = self.maps or (
            lambda x: F.linear(x, self.weight_ih_l0, self.bias_ih_l0),
            lambda h: F.linear(h, self.weight_hh_l0, self.bias_hh_l0),
        )
        total = inward(x)  # (B, T, G D) all inputs at once
        h, c = (inner[0][0], inner[1][0]) if self.pair else (inner[0], None)  # (B, D)
        hidden, cells = [], []
        for t in range(x.shape[1]):
            h, c = self.step(total[:, t], recurrent(h), h, c)
            hidden.append(h)
            if c is not None:
                cells.append(c)
        y = torch.stack(hidden, 1)  # (B, T, D)
        if lengths is not None:
            rows = torch.arange(len(y))
            h = y[rows, lengths - 1]
            c = torch.stack(cells, 1)[rows, lengths - 1] if cells else None
        return y, (h[None] if c is None else (h[None], c[None]))
