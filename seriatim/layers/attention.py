"""Self-attention: a position attends to each earlier one directly, weighted by how well it fits.

    a_ts = softmax_s(score(q_t, k_s)),   y_t = sum_s a_ts v_s                    Vaswani et al. 2017

    dot       q . k                            scaled    q . k / sqrt(E)
    bilinear  q^T B k                          mlp       u . tanh(A q + B k)
    uniform   0: a is 1 / (number of positions heard), the mean of what is there

bilinear and mlp are those of Luong et al. 2015 and of Bahdanau et al. 2015. uniform asks nothing, so
that only values are mapped: a bag of vectors, which shows what asking is worth.
In its simplest form q, k and v are x itself, and there is nothing to learn; maps make them W x, and
heads do so several times side by side. Unlike a convolution the weights depend on the content. A
mask hides the future, and each position looks back over a window of `context` positions. A head has
E = D / H numbers, or as many as it is given: the outward map is then H E -> D.
Shapes: B rows, T time, S keys, H heads, E features of a head, D width.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seriatim.errors import ConfigError
from seriatim.layers.linear import Linear
from seriatim.layers.mixer import Mixer
from seriatim.layers.positions import Frame, rotate

CELLS = 1 << 24  # numbers that an mlp score may hold at a time


SPARE = 8  # a memory that grows step by step is laid out for so many more


Memory = tuple[Tensor, Tensor]  # keys and values, (B, H, S, E) each


class MultiHead(nn.Module):
    """Heads, maps and scores: what self-attention and attention across two sequences share."""

    inward: Linear | None  # queries, keys and values are maps of the vectors, or the vectors
    outward: nn.Module
    between: nn.Parameter | None  # (H, E, E) of a bilinear score
    inner: nn.ModuleList | None  # of an mlp score: maps of queries, of keys, and to a number

    def __init__(
        self,
        width: int,
        heads: int,
        score: str = "scaled",
        maps: bool = True,
        rotary: bool = True,
        head_width: int = 0,
    ):
        super().__init__()
        refuse_sizes(width, heads, maps, rotary, head_width)
        self.heads, self.score, self.width = heads, score, width
        self.size = size = head_width or width // heads
        self.inward = Linear(width, self.kinds * heads * size) if maps else None
        self.outward = Linear(heads * size, width) if maps else nn.Identity()
        self.between = (
            nn.Parameter(torch.eye(size).repeat(heads, 1, 1) / size**0.5)
            if score == "bilinear"
            else None
        )
        self.inner = (
            nn.ModuleList(
                [
                    nn.Linear(size, size),
                    nn.Linear(size, size, bias=False),
                    nn.Linear(size, 1, bias=False),
                ]
            )
            if score == "mlp"
            else None
        )

    @property
    def kinds(self) -> int:
        """What is mapped of each vector: query, key and value, or only the value."""
        return 1 if self.score == "uniform" else 3

    def fits(self, q: Tensor, k: Tensor) -> Tensor:
        """(B, H, T, E), (B, H, S, E) -> (B, H, T, S): how well each query fits each key."""
        if self.inner is not None:
            query, key, out = self.inner
            return out(torch.tanh(query(q)[:, :, :, None] + key(k)[:, :, None]))[..., 0]
        return (
            (q if self.between is None else q @ self.between)
            @ k.transpose(2, 3)
            / (q.shape[-1] ** 0.5 if self.score == "scaled" else 1.0)
        )


def refuse_sizes(width: int, heads: int, maps: bool, rotary: bool, head_width: int) -> None:
    """Sizes that heads cannot have."""
    if head_width and not maps:
        raise ConfigError(
            "without maps a head is a part of the vector, and has no width of its own",
            got=f"--head-width {head_width} --maps false",
            do="Leave out one of them",
        )
    if head_width and rotary and head_width % 2:
        raise ConfigError(
            "rotary positions turn pairs of numbers, and this head has an odd one",
            got=f"--head-width {head_width}",
            do="Choose an even one, or other --positions",
        )
    if not head_width and (width % heads or (rotary and (width // heads) % 2)):
        raise ConfigError(
            "each attention head needs an even, whole number of the width",
            got=f"width {width}, heads {heads}",
            do="Choose a width that is a multiple of twice the heads",
        )


class Attention(MultiHead, Mixer):
    """A mixer. State: keys and values of the window (B, H, S or more, E); how many of them are
    filled is known from the places."""

    muted: tuple[int, ...] = ()  # heads that are switched off

    def empty(self, rows: int, device: torch.device | None = None) -> Memory:
        """Neither keys nor values."""
        nothing = torch.zeros(rows, self.heads, 0, self.size, device=device)
        return nothing, nothing

    def forward(
        self, x: Tensor, state: Memory, lengths: Tensor | None, frame: Frame
    ) -> tuple[Tensor, Memory]:
        """(B, T, D), state -> (B, T, D), state after each row's length."""
        q, k, v, after = self.prepared(x, state, frame)
        if self.inner is not None:
            y = self.piecewise(q, k, v, frame)
        else:
            q = q if self.between is None else q @ self.between
            y = F.scaled_dot_product_attention(
                q,
                k,
                v,
                attn_mask=frame.mask,
                is_causal=frame.mask is None and frame.time > 1,
                scale=None if self.score == "scaled" else 1.0,
            )
        return self.outward(self.said(y).transpose(1, 2).flatten(2)), after  # (B, T, D)

    def said(self, y: Tensor) -> Tensor:
        """(B, H, T, E) -> the same, zeros where a head is switched off."""
        if not self.muted:
            return y
        off = torch.zeros(self.heads, dtype=torch.bool, device=y.device)
        off[list(self.muted)] = True
        return y.masked_fill(off[:, None, None], 0.0)

    def prepared(
        self, x: Tensor, state: Memory, frame: Frame
    ) -> tuple[Tensor, Tensor, Tensor, Memory]:
        """Queries (B, H, T, E), keys and values (B, H, S, E), and the state afterwards."""
        parts = (
            x[:, :, None].expand(-1, -1, self.kinds, -1)
            if self.inward is None
            else self.inward(x).unflatten(-1, (self.kinds, -1))
        )  # (B, T, 3 or 1, H E)
        *asking, v = parts.unflatten(-1, (self.heads, -1)).permute(2, 0, 3, 1, 4)  # (B, H, T, E)
        q, k = asking or (torch.zeros_like(v), torch.zeros_like(v))
        if frame.turn is not None:
            q, k = rotate(q, frame.turn), rotate(k, frame.turn)
        k, v = (joined(old, new) for old, new in zip(state, (k, v), strict=True))
        return q, k, v, (kept(k, frame), kept(v, frame))

    def piecewise(self, q: Tensor, k: Tensor, v: Tensor, frame: Frame) -> Tensor:
        """(B, H, T, E), some queries at a time with the keys that they can reach: an mlp looks at
        every pair of them with E numbers."""
        before, keys = k.shape[2] - frame.time, k.shape[2]
        many = max(
            1,
            min(
                frame.context,
                CELLS // (max(1, len(q)) * self.heads * self.size * min(keys, 3 * frame.context)),
            ),
        )
        found = []
        for t in range(0, frame.time, many):
            begin, end = (
                max(0, before + t - frame.context + 1),
                min(keys, before + t + many + (frame.context if frame.mask is not None else 0)),
            )
            mask = None if frame.mask is None else frame.mask[:, :, t : t + many, begin:end]
            found.append(
                torch.softmax(self.scores(q[:, :, t : t + many], k[:, :, begin:end], mask), -1)
                @ v[:, :, begin:end]
            )
        return torch.cat(found, 2)

    def scores(self, q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
        """The same, minus infinity where nothing may be attended to."""
        found = self.fits(q, k)
        if mask is None:
            mask = torch.ones(found.shape[-2:], dtype=torch.bool, device=q.device).tril(
                found.shape[-1] - found.shape[-2]
            )
        return found.masked_fill(~mask, -torch.inf)

    def weights(self, x: Tensor, state: Memory, lengths: Tensor | None, frame: Frame) -> Tensor:
        """(B, H, T, S): who attends to whom, and how much; given what `forward` is."""
        q, k, _, _ = self.prepared(x, state, frame)
        return torch.softmax(self.scores(q, k, frame.mask), -1)


class Room:
    """An array (B, H, more than S, E) with room behind what is filled."""

    def __init__(self, array: Tensor, filled: int):
        self.array, self.filled = array, filled

    def part(self, begin: int, end: int) -> Tensor:
        """What lies there, which knows where it lies."""
        result = self.array[:, :, begin:end]
        vars(result)["place"] = (self, end)
        return result


def place_of(memory: Tensor) -> tuple[Room, int] | None:
    """The room of which a memory is a part, and where in it the memory ends; None: it is whole."""
    return getattr(memory, "place", None)


def joined(old: Tensor, new: Tensor) -> Tensor:
    """(B, H, S, E), (B, H, T, E) -> (B, H, S + T, E): one after the other.

    Without gradients the result is a part of a longer array, and if nobody has written behind `old`
    yet, the new ones are simply put there: a step then costs the same however long the memory is.
    """
    size, count = old.shape[2], new.shape[2]
    if size == 0:
        return new
    if torch.is_grad_enabled() and (old.requires_grad or new.requires_grad):
        return torch.cat([old.to(new.dtype), new], 2)
    room, begin, end = behind(old, count, new.dtype)
    room.array[:, :, end : end + count] = new
    return room.part(begin, end + count)


def behind(old: Tensor, count: int, dtype: torch.dtype) -> tuple[Room, int, int]:
    """A room that holds `old` from one place to another, and has places behind it that are now
    taken."""
    size, place = old.shape[2], place_of(old)
    if place is not None:
        room, end = place
        if room.array.shape[2] >= end + count and room.filled == end:
            room.filled = end + count
            return room, end - size, end
    length = size + count + max(SPARE, size // 2)
    array = torch.empty(*old.shape[:2], length, old.shape[3], dtype=dtype, device=old.device)
    array[:, :, :size] = old
    return Room(array, size + count), 0, size


def chosen(memory: Tensor, rows: Tensor) -> Tensor:
    """Rows of a memory, with the room behind it."""
    place, rows = place_of(memory), rows.to(memory.device)
    if place is None:
        return memory[rows]
    room, end = place
    return Room(room.array.index_select(0, rows), end).part(end - memory.shape[2], end)


def shortened(memory: Tensor, front: int, back: int) -> Tensor:
    """Without its first and last few; new ones can still be put behind it, over those it
    forgets."""
    begin, end, place = front, memory.shape[2] - back, place_of(memory)
    if place is None:
        return memory[:, :, begin:end]
    room, last = place
    if back and room.filled == last:
        room.filled = last - back
    return room.part(last - memory.shape[2] + begin, last - back)


def kept(memory: Tensor, frame: Frame) -> Tensor:
    """What is remembered: the last context - 1 keys or values; shorter rows are moved to the
    right."""
    if frame.shift is not None:
        index = torch.arange(memory.shape[2], device=memory.device) - frame.shift[:, None]  # (B, S)
        memory = memory.gather(2, index.clamp(min=0)[:, None, :, None].expand_as(memory))
    return (
        memory
        if memory.shape[2] < frame.context
        else shortened(memory, memory.shape[2] - frame.context + 1, 0)
    )
