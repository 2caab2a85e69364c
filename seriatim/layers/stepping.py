"""One step of a stack of attention without gradients: what `Block.forward` computes, in compiled
code.

Unlike the usual way, where every operation is given to all threads, this is the work of one thread,
which waits for nobody: many rows are decoded side by side by several of them (`decoding.decode`).
Products of a few rows are compiled, too; those of more are torch's.
Shapes: M rows, D width, H heads, S keys, E features of a head.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seriatim.layers.attention import Attention, Memory, MultiHead, behind, kept
from seriatim.layers.block import Block
from seriatim.layers.linear import FEW, Linear
from seriatim.layers.mixer import Mixer
from seriatim.layers.positions import Frame

NOTHING = np.empty(0, np.float32)


Remembered = tuple[np.ndarray, np.ndarray, np.ndarray, int]  # keys, values, mask, rows to each


def plain(block: nn.Module) -> bool:
    """Whether compiled code knows all parts of this block."""
    if not isinstance(block, Block) or not isinstance(block.mixer, Attention):
        return False
    known = all(
        isinstance(each.inward, Linear)
        and each.score in ("dot", "scaled")
        and each.heads * each.size == each.width
        for each in (block.mixer, block.cross)
        if each is not None
    )
    known = known and not block.mixer.muted
    return known and block.residual and not block.after and block.feed_forward is not None


def can_step(x: Tensor, frame: Frame) -> bool:
    """Whether this is a step, (B, 1, D), that compiled code, which is the CPU's, can take."""
    return (
        x.is_cpu
        and frame.time == 1
        and frame.mask is None
        and frame.shift is None
        and not torch.is_grad_enabled()
        and x.dtype == torch.float32
        and len(x) > 0
    )


def stepped(
    blocks: Sequence[Mixer], x: Tensor, states: Sequence[Memory], frame: Frame, memories: tuple = ()
) -> tuple[Tensor, list[Memory]]:
    """(B, 1, D) -> (B, 1, D), and the state of each block afterwards."""
    rooms = [(behind(keys, 1, x.dtype), behind(values, 1, x.dtype)) for keys, values in states]
    cosine = sine = np.empty((len(x), 0), np.float32)
    if frame.turn is not None:
        cosine, sine = (each.reshape(len(x), -1).numpy() for each in frame.turn)
    work = [
        (
            Layer.of(block),
            keys.array.numpy(),
            values.array.numpy(),
            begin,
            end,
            remembered(*memories[number]) if memories else None,
        )
        for number, (block, ((keys, begin, end), (values, *_))) in enumerate(
            zip(blocks, rooms, strict=True)
        )
    ]
    y = x[:, 0].numpy().copy()  # (B, D)
    for layer, some_keys, some_values, begin, end, memory in work:
        layer(y, some_keys, some_values, begin, end, cosine, sine, memory)
    after = [
        (kept(keys.part(begin, end + 1), frame), kept(values.part(start, stop + 1), frame))
        for (keys, begin, end), (values, start, stop) in rooms
    ]
    return torch.from_numpy(y)[:, None], after


def remembered(keys: Tensor, values: Tensor, mask: Tensor | None, beams: int) -> Remembered:
    """What a block hears of another sequence, as arrays."""
    return (
        keys.detach().numpy(),
        values.detach().numpy(),
        np.empty((len(keys), 0), np.bool_) if mask is None else mask[:, 0, 0].numpy(),
        beams,
    )


class Layer:
    """The weights of one block, as arrays that lie where its own do."""

    def __init__(self, block: Mixer):
        if not isinstance(block, Block) or not isinstance(block.mixer, Attention):
            raise TypeError("compiled code knows blocks around attention alone")
        mixer, feed, cross = block.mixer, block.feed_forward, block.cross
        if feed is None:
            raise TypeError("compiled code knows blocks with a feed-forward part alone")
        self.address = address(block)
        self.inward, self.outward, self.scale = (
            (*norm(block.norm), *maps(mixer.inward)),
            maps(mixer.outward),
            scale(mixer),
        )
        self.feed_inward, self.feed_outward, self.bent = (
            (*norm(block.norm_2), *maps(feed.inward)),
            maps(feed.outward),
            feed.bent,
        )
        if cross is not None:
            self.asking, self.hearing, self.cross_scale = (
                (*norm(block.norm_cross), *maps(cross.inward)),
                maps(cross.outward),
                scale(cross),
            )

    @classmethod
    def of(cls, block: Mixer) -> Layer:
        """Made once; and again when the weights lie elsewhere, as after a copy of the model."""
        found = block.__dict__.get("layer")
        if found is None or found.address != address(block):
            found = block.__dict__["layer"] = cls(block)
        return found

    def __call__(
        self,
        x: np.ndarray,
        keys: np.ndarray,
        values: np.ndarray,
        begin: int,
        end: int,
        cosine: np.ndarray,
        sine: np.ndarray,
        memory: Remembered | None,
    ) -> None:
        """(M, D), changed in place."""
        from seriatim.layers import kernels as few

        heard, recalled = few.heard, few.recalled
        add_product, normed = (
            (few.add_product, few.normed) if len(x) <= FEW else (add_many, normed_many)
        )
        y = recalled(normed(x, *self.inward), keys, values, begin, end, cosine, sine, self.scale)
        add_product(y, *self.outward, x)
        if memory is not None:
            y = heard(normed(x, *self.asking), *memory, self.cross_scale)
            add_product(y, *self.hearing, x)
        add_product(
            self.bent(torch.from_numpy(normed(x, *self.feed_inward))).numpy(), *self.feed_outward, x
        )


def address(block: Mixer) -> int:
    """Where the first of the block's weights lie."""
    attention = block.mixer if isinstance(block, Block) else None
    inward = attention.inward if isinstance(attention, Attention) else None
    if inward is None:
        raise TypeError("compiled code knows attention with maps alone")
    return inward.weight.data_ptr()


def normed_many(
    x: np.ndarray,
    gain: np.ndarray,
    shift: np.ndarray,
    least: float,
    centred: bool,
    w: np.ndarray,
    b: np.ndarray,
) -> np.ndarray:
    """(M, D) -> (M, O): what `few.normed` computes, by torch."""
    rows, weight = torch.from_numpy(x), torch.from_numpy(gain)
    z = (
        F.layer_norm(rows, gain.shape, weight, torch.from_numpy(shift), least)
        if centred
        else F.rms_norm(rows, gain.shape, weight, least)
    )
    return F.linear(z, torch.from_numpy(w), torch.from_numpy(b) if len(b) else None).numpy()


def add_many(x: np.ndarray, w: np.ndarray, b: np.ndarray, y: np.ndarray) -> None:
    """(M, I) -> added to (M, O): what `few.add_product` computes, by torch."""
    total = torch.from_numpy(y)
    total.addmm_(torch.from_numpy(x), torch.from_numpy(w).mT)
    if len(b):
        total.add_(torch.from_numpy(b))


def maps(linear: nn.Module | None) -> tuple[np.ndarray, np.ndarray]:
    """Weights (O, I) and bias (O,), or nothing in its place."""
    if not isinstance(linear, nn.Linear):
        raise TypeError(f"{type(linear).__name__} is no linear map")
    return (
        linear.weight.detach().numpy(),
        NOTHING if linear.bias is None else linear.bias.detach().numpy(),
    )


def norm(module: nn.Module) -> tuple[np.ndarray, np.ndarray, float, bool]:
    """Gain, shift, the least square, and whether the mean is subtracted."""
    if not isinstance(module, (nn.LayerNorm, nn.RMSNorm)):
        raise TypeError(f"{type(module).__name__} is no norm")
    shift, least = getattr(module, "bias", None), module.eps or torch.finfo(torch.float32).eps
    return (
        module.weight.detach().numpy(),
        NOTHING if shift is None else shift.detach().numpy(),
        least,
        isinstance(module, nn.LayerNorm),
    )


def scale(attention: MultiHead) -> np.float32:
    """What the products of queries and keys are multiplied with."""
    return np.float32(attention.size**-0.5 if attention.score == "scaled" else 1)
