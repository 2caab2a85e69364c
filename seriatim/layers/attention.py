"""Self-attention: a position hears each earlier one directly, weighted by how well it fits.

    a_ts = softmax_s(q_t . k_s / sqrt(D / H)),   y_t = sum_s a_ts v_s           Vaswani et al. 2017

Unlike a convolution the weights depend on the content. Positions enter by rotating queries and keys
(Su et al. 2021), so that only distances matter and no length is too long; each position looks back over
a window of `context` positions. Shapes: B rows, T time, S keys, H heads, E = D / H, D width.
"""
from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seriatim.errors import ConfigError


class Attention(nn.Module):
    """A mixer. State: keys and values of the window (B, S, H, E), their positions (B, S; -1 for none),
    and how many positions each row has seen (B,)."""

    def __init__(self, width: int, heads: int, context: int):
        super().__init__()
        if width % heads or (width // heads) % 2:
            raise ConfigError("each attention head needs an even, whole number of the width", got=f"width {width}, heads {heads}",
                              do="Choose a width that is a multiple of twice the heads")
        self.heads, self.context = heads, context
        self.inward = nn.Linear(width, 3 * width)
        self.outward = nn.Linear(width, width)

    def empty(self, rows: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        size = self.outward.in_features // self.heads
        nothing = torch.zeros(rows, 0, self.heads, size)
        return nothing, nothing, torch.zeros(rows, 0, dtype=torch.long), torch.zeros(rows, dtype=torch.long)

    def forward(self, x: Tensor, state, lengths: Tensor | None = None):
        keys, values, places, seen = state
        rows, time, width = x.shape
        q, k, v = self.inward(x).view(rows, time, 3, self.heads, -1).unbind(2)      # (B, T, H, E) each
        here = seen[:, None] + torch.arange(time)                                   # (B, T)
        q, k = rotate(q, here), rotate(k, here)
        if keys.shape[1] == 0 and time <= self.context:                             # nothing behind: plain causal
            mask = None
        else:
            k, v, reach = torch.cat([keys, k], 1), torch.cat([values, v], 1), torch.cat([places, here], 1)
            distance = here[:, :, None] - reach[:, None]                            # (B, T, S)
            mask = ((distance >= 0) & (distance < self.context) & (reach[:, None] >= 0))[:, None]
        y = F.scaled_dot_product_attention(*(part.transpose(1, 2) for part in (q, k, v)), attn_mask=mask, is_causal=mask is None)
        y = self.outward(y.transpose(1, 2).reshape(rows, time, width))
        return y, self.remember(k, v, here if mask is None else reach, seen, time, lengths)

    def remember(self, keys: Tensor, values: Tensor, places: Tensor, seen: Tensor, time: int, lengths: Tensor | None):
        """The state afterwards: the last context - 1 keys and values; shorter rows are moved to the right."""
        if lengths is not None:
            index = torch.arange(keys.shape[1]) - (time - lengths)[:, None]         # (B, S)
            places = torch.where(index < 0, -1, places.gather(1, index.clamp(min=0)))
            index = index.clamp(min=0)[..., None, None].expand_as(keys)
            keys, values = keys.gather(1, index), values.gather(1, index)
        kept = slice(max(0, keys.shape[1] - self.context + 1), None)
        return keys[:, kept], values[:, kept], places[:, kept], seen + (time if lengths is None else lengths)


def rotate(x: Tensor, places: Tensor, slowest: float = 10000.0) -> Tensor:
    """Turn each pair of features by an angle that grows with the position: (B, T, H, E), (B, T)."""
    half = x.shape[-1] // 2
    speed = slowest ** (-torch.arange(half, dtype=torch.float32) / half)            # (E / 2,)
    angle = (places[..., None] * speed)[:, :, None]                                 # (B, T, 1, E / 2)
    cosine, sine = angle.cos(), angle.sin()
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cosine - b * sine, a * sine + b * cosine], -1)
