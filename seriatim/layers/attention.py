"""Self-attention: a position hears each earlier one directly, weighted by how well it fits.

    a_ts = softmax_s(score(q_t, k_s)),   y_t = sum_s a_ts v_s                              Vaswani et al. 2017

    dot       q . k                            scaled    q . k / sqrt(E)
    bilinear  q^T B k                          mlp       u . tanh(A q + B k)               Luong 2015, Bahdanau 2015

In its simplest form q, k and v are x itself, and there is nothing to learn; maps make them W x, and heads
do so several times side by side. Unlike a convolution the weights depend on the content. A mask hides the
future, and each position looks back over a window of `context` positions.
Shapes: B rows, T time, S keys, H heads, E = D / H, D width.
"""
from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seriatim.errors import ConfigError
from seriatim.layers.positions import rotate


class Attention(nn.Module):
    """A mixer. State: keys and values of the window (B, S, H, E), their positions (B, S; -1 for none),
    and how many positions each row has seen (B,)."""

    def __init__(self, width: int, heads: int, context: int, score: str = "scaled", maps: bool = True, rotary: bool = True):
        super().__init__()
        if width % heads or (rotary and (width // heads) % 2):
            raise ConfigError("each attention head needs an even, whole number of the width", got=f"width {width}, heads {heads}",
                              do="Choose a width that is a multiple of twice the heads")
        self.heads, self.context, self.score, self.rotary = heads, context, score, rotary
        self.width, size = width, width // heads
        self.inward = nn.Linear(width, 3 * width) if maps else None
        self.outward = nn.Linear(width, width) if maps else nn.Identity()
        self.between = nn.Parameter(torch.eye(size).repeat(heads, 1, 1) / size ** 0.5) if score == "bilinear" else None       # (H, E, E)
        self.inner = nn.ModuleList([nn.Linear(size, size), nn.Linear(size, size, bias=False), nn.Linear(size, 1, bias=False)]) if score == "mlp" else None

    def empty(self, rows: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        nothing = torch.zeros(rows, 0, self.heads, self.width // self.heads)
        return nothing, nothing, torch.zeros(rows, 0, dtype=torch.long), torch.zeros(rows, dtype=torch.long)

    def forward(self, x: Tensor, state, lengths: Tensor | None = None):
        q, k, v, mask, after = self.prepared(x, state, lengths)
        q, k, v = (part.transpose(1, 2) for part in (q, k, v))                      # (B, H, T or S, E)
        if self.inner is not None:
            y = torch.softmax(self.scores(q, k, mask), -1) @ v
        else:
            q = q if self.between is None else q @ self.between
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None, scale=None if self.score == "scaled" else 1.0)
        return self.outward(y.transpose(1, 2).flatten(2)), after                    # (B, T, D)

    def prepared(self, x: Tensor, state, lengths: Tensor | None = None):
        """Queries (B, T, H, E), keys and values (B, S, H, E), the mask (B, 1, T, S; None: plain causal), and the state afterwards."""
        keys, values, places, seen = state
        time = x.shape[1]
        parts = (x, x, x) if self.inward is None else self.inward(x).chunk(3, -1)
        q, k, v = (part.unflatten(-1, (self.heads, -1)) for part in parts)
        here = seen[:, None] + torch.arange(time)                                   # (B, T)
        if self.rotary:
            q, k = rotate(q, here), rotate(k, here)
        if keys.shape[1] == 0 and time <= self.context:                             # nothing behind
            mask = None
        else:
            k, v, here, reach = torch.cat([keys.to(k.dtype), k], 1), torch.cat([values.to(v.dtype), v], 1), here, torch.cat([places, here], 1)
            distance = here[:, :, None] - reach[:, None]                            # (B, T, S)
            mask = ((distance >= 0) & (distance < self.context) & (reach[:, None] >= 0))[:, None]
        return q, k, v, mask, self.remember(k, v, here if mask is None else reach, seen, time, lengths)

    def scores(self, q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
        """(B, H, T, E), (B, H, S, E) -> (B, H, T, S), minus infinity where nothing may be heard."""
        if self.inner is not None:
            query, key, out = self.inner
            found = out(torch.tanh(query(q)[:, :, :, None] + key(k)[:, :, None]))[..., 0]
        else:
            found = (q if self.between is None else q @ self.between) @ k.transpose(2, 3) / (q.shape[-1] ** 0.5 if self.score == "scaled" else 1.0)
        if mask is None:
            mask = torch.ones(found.shape[-2:], dtype=torch.bool).tril()
        return found.masked_fill(~mask, -torch.inf)

    def weights(self, x: Tensor, state) -> Tensor:
        """(B, H, T, S): who hears whom, and how much."""
        q, k, _, mask, _ = self.prepared(x, state)
        return torch.softmax(self.scores(q.transpose(1, 2), k.transpose(1, 2), mask), -1)

    def remember(self, keys: Tensor, values: Tensor, places: Tensor, seen: Tensor, time: int, lengths: Tensor | None):
        """The state afterwards: the last context - 1 keys and values; shorter rows are moved to the right."""
        if lengths is not None:
            index = torch.arange(keys.shape[1]) - (time - lengths)[:, None]         # (B, S)
            places = torch.where(index < 0, -1, places.gather(1, index.clamp(min=0)))
            index = index.clamp(min=0)[..., None, None].expand_as(keys)
            keys, values = keys.gather(1, index), values.gather(1, index)
        kept = slice(max(0, keys.shape[1] - self.context + 1), None)
        return keys[:, kept], values[:, kept], places[:, kept], seen + (time if lengths is None else lengths)
