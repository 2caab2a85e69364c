"""Recurrence: a position hears the past through one vector, updated symbol by symbol.

    rnn                 h_t = g(W x_t + U h_{t-1} + b),  g: tanh, sigmoid or relu       Elman 1990
    additive            c_t = c_{t-1} + tanh(W x_t + b),  h = c
    additive-recurrent  c_t = c_{t-1} + tanh(W x_t + U h_{t-1} + b),  h = c
    no-output-gate      the lstm whose o is 1:  h_t = tanh(c_t)
    lstm                c_t = f c_{t-1} + i tanh(W x_t + U h_{t-1}),  h_t = o tanh(c_t)
                                                                              Hochreiter 1997
    coupled             the lstm with f = 1 - i: what comes in is what goes out  Greff et al. 2017
    gru                 h_t = (1 - z) n + z h_{t-1},  n = tanh(W x_t + r (U h_{t-1}))
                                                                              torch, cuDNN
    gru-before          h_t = (1 - z) h_{t-1} + z n,  n = tanh(W x_t + U (r h_{t-1}))
                                                                              Chung et al. 2014

The lstm's forget gate is that of Gers 2000. The gates z, r, f, i, o are sigmoids of x_t and h_{t-1}.
With a linear output of the cell, c_t stands where tanh(c_t) does. With a norm inside, W x_t and
U h_{t-1} are layer-normalised, each over all its rows (Ba et al. 2016).
Shapes: B rows, T time, I inputs, D width, G gates.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
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
    "additive": ("candidate",),
    "additive-recurrent": ("candidate",),
    "no-output-gate": ("input", "forget", "candidate"),
    "lstm": ("input", "forget", "candidate", "output"),
    "coupled": ("input", "candidate", "output"),
    "gru": ("reset", "update", "candidate"),
    "gru-before": ("reset", "update", "candidate"),
}


# vectors that a cell carries: h, or h and c
STATES = {cell: 1 + (cell in ("no-output-gate", "lstm", "coupled")) for cell in PARTS}


ACTIVATIONS = {"tanh": torch.tanh, "sigmoid": torch.sigmoid, "relu": torch.relu, "gelu": F.gelu}


GATES = ("input", "forget", "output", "reset", "update")


class Recurrent(Mixer):
    """A mixer around torch's own kernels, or a cell written out. State: h (B, D), or (h, c). Its
    inputs may have another size than its outputs."""

    def __init__(
        self,
        cell: str,
        width: int,
        activation: str = "tanh",
        initial: str = "orthogonal",
        weight_dropout: float = 0.0,
        inputs: int | None = None,
        cell_output: str = "tanh",
        norm_inside: bool = False,
        radius: float = 0.0,
    ):
        super().__init__()
        inputs = inputs or width
        self.width, self.weight_dropout = width, weight_dropout
        self.pair, self.parts = STATES[cell] == 2, PARTS[cell]
        usual = activation in ("tanh", "relu") if cell == "rnn" else cell_output == "tanh"
        if cell in KERNELS and usual and not norm_inside:
            settings = {"nonlinearity": activation} if cell == "rnn" else {}
            self.cell = KERNELS[cell](inputs, width, batch_first=True, **settings)
        else:
            self.cell = Stepwise(cell, width, activation, inputs, cell_output, norm_inside)
        for name, parameter in self.cell.named_parameters():
            if name.startswith("weight_hh") and initial == "orthogonal":
                for block in parameter.data.split(width):
                    nn.init.orthogonal_(block)
            elif name.startswith("weight_ih"):
                nn.init.xavier_uniform_(parameter)
            elif name.startswith("bias"):
                nn.init.zeros_(parameter)
        if "forget" in self.parts:  # remember at first: forget gate open
            self.cell.bias_ih_l0.data[width : 2 * width] = 1.0
        if radius:
            for matrix in self.recurrent_matrices().values():
                if matrix.is_meta:  # laid out to be filled from a file
                    continue
                matrix.data.mul_(radius / float(torch.linalg.eigvals(matrix.data).abs().max()))

    def empty(self, rows: int, device: torch.device | None = None) -> MixerState:
        """h, or h and c, of zeros."""
        zeros = torch.zeros(rows, self.width, device=device)
        return (zeros, zeros) if self.pair else zeros

    def run(self, x: Tensor | PackedSequence, inner: MixerState, *lengths: Tensor) -> Any:
        """The cell, in training with some of its recurrent weights left out (Merity et al.
        2018)."""
        if not self.weight_dropout or not self.training:
            return self.cell(x, inner, *lengths)
        dropped = {
            name: dropout(weight, self.weight_dropout)
            for name, weight in self.cell.named_parameters()
            if name.startswith("weight_hh")
        }
        return functional_call(self.cell, dropped, (x, inner, *lengths))

    def forward(
        self, x: Tensor, state: MixerState, lengths: Tensor | None = None
    ) -> tuple[Tensor, MixerState]:
        """(B, T, I), state -> (B, T, D), state after each row's length."""
        inner: MixerState = (
            tuple(part[None] for part in state) if isinstance(state, tuple) else state[None]
        )  # (1, B, D)
        if lengths is None:
            y, inner = self.run(x, inner)
        elif isinstance(self.cell, Stepwise):
            y, inner = self.run(x, inner, lengths)
        else:
            packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
            packed, inner = self.run(packed, inner)
            y = pad_packed_sequence(packed, batch_first=True, total_length=x.shape[1])[0]
        return y, tuple(part[0] for part in inner) if isinstance(inner, tuple) else inner[0]

    def recurrent_matrices(self) -> dict[str, Tensor]:
        """U, (D, D): what h_{t-1} is multiplied with; one for each gate, none for `additive`."""
        if isinstance(self.cell, Stepwise) and self.cell.weight_hh_l0 is None:
            return {}
        return dict(zip(self.parts, self.cell.weight_hh_l0.split(self.width), strict=True))

    @property
    def gate_names(self) -> tuple[str, ...]:
        """Its gates in the order in which `gates` gives them.

        lstm and coupled: input, forget, output; no-output-gate: input, forget; gru and gru-before:
        reset, update; rnn and the additive cells: none.
        """
        there = {*self.parts, *(("forget",) if "input" in self.parts else ())}
        return tuple(name for name in GATES if name in there)

    def gates(self, x: Tensor, hidden: Tensor, state: MixerState) -> Tensor | None:
        """(B, T, I) inputs and (B, T, D) outputs of this layer -> (B, T, G, D) how far each gate
        stood open; None where there are none. Torch's own kernels tell nothing of their gates:
        they are computed again, from the weights and the outputs before."""
        if not self.gate_names:
            return None
        first = state[0] if isinstance(state, tuple) else state  # (B, D)
        before = torch.cat([first[:, None], hidden[:, :-1]], 1)  # (B, T, D) h_{t-1}
        if isinstance(self.cell, Stepwise):
            inward, recurrent, *_ = self.cell.mapped()
            past = recurrent(before)
        else:
            inward = partial(F.linear, weight=self.cell.weight_ih_l0, bias=self.cell.bias_ih_l0)
            past = F.linear(before, self.cell.weight_hh_l0, self.cell.bias_hh_l0)
        total = inward(x)[..., : past.shape[-1]] + past  # of gru-before without the candidate
        opened = {
            name: torch.sigmoid(part)
            for name, part in zip(self.parts, total.split(self.width, -1), strict=False)
        }
        if "input" in opened and "forget" not in opened:
            opened["forget"] = 1 - opened["input"]
        return torch.stack([opened[name] for name in self.gate_names], 2)


Map = Callable[[Tensor], Tensor]


class Stepwise(nn.Module):
    """All cells, written out a step at a time; names as in torch. For those torch has no kernel
    for, and for weights that are not float32."""

    weight_hh_l0: nn.Parameter | None  # None: h is not an input
    bias_hh_l0: nn.Parameter | None

    def __init__(
        self,
        cell: str,
        width: int,
        activation: str,
        inputs: int | None = None,
        cell_output: str = "tanh",
        norm_inside: bool = False,
    ):
        super().__init__()
        self.kind, self.width, self.gates = cell, width, len(PARTS[cell])
        self.activation, self.pair = ACTIVATIONS[activation], STATES[cell] == 2
        self.linear, self.norm_inside = cell_output == "linear", norm_inside
        rows, recurs = self.gates * width, cell != "additive"
        self.weight_ih_l0 = nn.Parameter(torch.empty(rows, inputs or width))
        self.weight_hh_l0 = nn.Parameter(torch.empty(rows, width)) if recurs else None
        self.bias_ih_l0 = nn.Parameter(torch.zeros(rows))
        self.bias_hh_l0 = nn.Parameter(torch.zeros(rows)) if recurs else None
        self.gain_ih_l0 = nn.Parameter(torch.ones(rows)) if norm_inside else None
        self.gain_hh_l0 = nn.Parameter(torch.ones(rows)) if norm_inside and recurs else None
        self.maps: tuple[Map, ...] | None = None  # other maps in the place of W and U
        if self.weight_hh_l0 is not None:
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

    def pieces(self) -> list[tuple[Tensor, Tensor, Tensor | None]]:
        """Weight, bias and gain of each map: of the input, then of h; in two pieces where the last
        rows are multiplied with something else."""
        found: list[tuple[Tensor, Tensor, Tensor | None]] = [
            (self.weight_ih_l0, self.bias_ih_l0, self.gain_ih_l0)
        ]
        if self.weight_hh_l0 is None or self.bias_hh_l0 is None:
            return found
        some = 2 * self.width if self.kind == "gru-before" else self.gates * self.width
        for span in (slice(0, some), slice(some, self.gates * self.width)):
            gain = None if self.gain_hh_l0 is None else self.gain_hh_l0[span]
            if span.start < span.stop:
                found.append((self.weight_hh_l0[span], self.bias_hh_l0[span], gain))
        return found

    def mapped(self) -> list[Map]:
        """The maps themselves: W x + b, or with a norm inside gain * norm(W x) + b."""
        pieces = self.pieces()
        if self.maps is None:
            maps: list[Map] = [
                partial(F.linear, weight=weight, bias=None if self.norm_inside else bias)
                for weight, bias, _ in pieces
            ]
        else:
            maps = list(self.maps)
        if not self.norm_inside:
            return maps
        return [
            partial(normed, inner, gain, bias)
            for inner, (_, bias, gain) in zip(maps, pieces, strict=True)
        ]

    def step(
        self, x: Tensor, h: Tensor, c: Tensor | None, recurrent: list[Map]
    ) -> tuple[Tensor, Tensor | None]:
        """(B, G D) from the input, (B, D) h and c before, the maps of h -> h and c after."""
        if self.kind == "additive":
            return h + torch.tanh(x), None
        past = recurrent[0](h)  # (B, G D)
        if self.kind in ("gru", "gru-before"):
            return self.gated(x, past, h, recurrent), None
        if self.kind == "additive-recurrent":
            return h + torch.tanh(x + past), None
        if c is None:
            return self.activation(x + past), None
        parts = dict(zip(PARTS[self.kind], (x + past).chunk(self.gates, -1), strict=True))
        i = torch.sigmoid(parts["input"])
        f = torch.sigmoid(parts["forget"]) if "forget" in parts else 1 - i
        c = f * c + i * torch.tanh(parts["candidate"])
        shown = c if self.linear else torch.tanh(c)
        return (torch.sigmoid(parts["output"]) * shown if "output" in parts else shown), c

    def gated(self, x: Tensor, past: Tensor, h: Tensor, recurrent: list[Map]) -> Tensor:
        """A step of either gru: (B, 3 D) from the input, (B, 3 D or 2 D) from h -> (B, D)."""
        some = 2 * self.width
        r, z = torch.sigmoid(x[:, :some] + past[:, :some]).chunk(2, -1)
        if self.kind == "gru-before":
            n = torch.tanh(x[:, some:] + recurrent[1](r * h))
            return h + z * (n - h)
        n = torch.tanh(x[:, some:] + r * past[:, some:])
        return n + z * (h - n)

    def forward(
        self, x: Tensor, inner: MixerState, lengths: Tensor | None = None
    ) -> tuple[Tensor, MixerState]:
        """(B, T, I), (1, B, D) h or h and c -> (B, T, D), and (1, B, D) after each row's length: as
        torch's kernels have it."""
        inward, *recurrent = self.mapped()
        total = inward(x)  # (B, T, G D) all inputs at once
        h, c = (inner[0][0], inner[1][0]) if self.pair else (inner[0], None)  # (B, D)
        hidden, cells = [], []
        for t in range(x.shape[1]):
            h, c = self.step(total[:, t], h, c, recurrent)
            hidden.append(h)
            if c is not None:
                cells.append(c)
        y = torch.stack(hidden, 1)  # (B, T, D)
        if lengths is not None:
            rows = torch.arange(len(y), device=y.device)
            h = y[rows, lengths - 1]
            c = torch.stack(cells, 1)[rows, lengths - 1] if cells else None
        return y, (h[None] if c is None else (h[None], c[None]))


def normed(inner: Map, gain: Tensor | None, bias: Tensor, x: Tensor) -> Tensor:
    """A map, layer-normalised: gain * (W x - mean) / deviation + bias."""
    found = inner(x)
    return F.layer_norm(found, found.shape[-1:], gain, bias)
