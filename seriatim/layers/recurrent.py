"""Recurrence: a position hears the past through one vector, updated symbol by symbol.

    rnn    h_t = tanh(W x_t + U h_{t-1} + b)                                            Elman 1990
    gru    h_t = (1 - z) n + z h_{t-1},  n = tanh(W x_t + r (U h_{t-1}))                Cho et al. 2014
    lstm   c_t = f c_{t-1} + i tanh(W x_t + U h_{t-1}),  h_t = o tanh(c_t)              Hochreiter 1997, Gers 2000

The gates z, r, f, i, o are sigmoids of x_t and h_{t-1}. Shapes: B rows, T time, D width.
"""
from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

CELLS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


class Recurrent(nn.Module):
    """A mixer around torch's own kernels. State: h (B, D); for the lstm (h, c)."""

    def __init__(self, cell: str, width: int):
        super().__init__()
        self.width, self.pair = width, cell == "lstm"
        self.cell = CELLS[cell](width, width, batch_first=True)
        for name, parameter in self.cell.named_parameters():
            if name.startswith("weight_hh"):
                for block in parameter.data.split(width):
                    nn.init.orthogonal_(block)
            elif name.startswith("weight"):
                nn.init.xavier_uniform_(parameter)
            else:
                nn.init.zeros_(parameter)
        if self.pair:                                                  # remember at first: forget gate open
            self.cell.bias_ih_l0.data[width:2 * width] = 1.0

    def empty(self, rows: int) -> Tensor | tuple[Tensor, Tensor]:
        zeros = torch.zeros(rows, self.width)
        return (zeros, zeros) if self.pair else zeros

    def forward(self, x: Tensor, state, lengths: Tensor | None = None):
        """(B, T, D), state -> (B, T, D), state after each row's length."""
        inner = tuple(part[None] for part in state) if self.pair else state[None]   # (1, B, D)
        if lengths is None:
            y, inner = self.cell(x, inner)
        else:
            packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            packed, inner = self.cell(packed, inner)
            y = pad_packed_sequence(packed, batch_first=True, total_length=x.shape[1])[0]
        return y, tuple(part[0] for part in inner) if self.pair else inner[0]
