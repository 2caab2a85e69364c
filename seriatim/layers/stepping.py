"""One step of a stack of attention without gradients: what `Block.forward` computes, in compiled code.

Unlike the usual way, where every operation is given to all threads, this is the work of one thread, which waits for nobody: many rows are decoded
side by side by several of them (`decoding.decode`). Products of a few rows are compiled, too; those of more are torch's.
Shapes: M rows, D width, H heads, S keys, E features of a head.
"""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seriatim.layers.attention import Attention, behind, kept, part
from seriatim.layers.block import Block
from seriatim.layers.linear import FEW, Linear
from seriatim.layers.positions import Frame

NOTHING = np.empty(0, np.float32)


def plain(block: nn.Module) -> bool:
    """Whether compiled code knows all parts of this block."""
    parts = [] if not isinstance(block, Block) else [block.mixer] + ([] if block.cross is None else [block.cross])
    return bool(parts) and block.residual and not block.after and block.feed_forward is not None and all(
        isinstance(each, Attention) and isinstance(each.inward, Linear) and each.score in ("dot", "scaled") for each in parts)


def can_step(x: Tensor, frame: Frame) -> bool:
    """Whether this is a step, (B, 1, D), that compiled code can take."""
    return frame.time == 1 and frame.mask is None and frame.shift is None and not torch.is_grad_enabled() and x.dtype == torch.float32 and len(x) > 0


def stepped(blocks: Sequence[Block], x: Tensor, states: Sequence[tuple[Tensor, Tensor]], frame: Frame, memories: tuple = ()) -> tuple[Tensor, list]:
    """(B, 1, D) -> (B, 1, D), and the state of each block afterwards."""
    rooms = [[behind(old, 1, x.dtype) for old in state] for state in states]
    turn = [np.empty((len(x), 0), np.float32)] * 2 if frame.turn is None else [each.reshape(len(x), -1).numpy() for each in frame.turn]
    work = [(Layer.of(block), keys.numpy(), values.numpy(), begin, end, remembered(*memories[number]) if memories else ())
            for number, (block, ((keys, begin, end), (values, *_))) in enumerate(zip(blocks, rooms, strict=True))]
    y = x[:, 0].numpy().copy()                                                      # (B, D)
    for layer, keys, values, begin, end, memory in work:
        layer(y, keys, values, begin, end, *turn, *memory)
    after = [tuple(kept(part(room, begin, end + 1), frame) for room, begin, end in each) for each in rooms]
    return torch.from_numpy(y)[:, None], after


def remembered(keys: Tensor, values: Tensor, mask: Tensor | None, beams: int) -> tuple:
    """What a block hears of another sequence, as arrays."""
    return keys.detach().numpy(), values.detach().numpy(), np.empty((len(keys), 0), np.bool_) if mask is None else mask[:, 0, 0].numpy(), beams


class Layer:
    """The weights of one block, as arrays that lie where its own do."""

    def __init__(self, block: Block):
        mixer, feed, cross = block.mixer, block.feed_forward, block.cross
        self.address = mixer.inward.weight.data_ptr()
        self.inward, self.outward, self.scale = (*norm(block.norm), *maps(mixer.inward)), maps(mixer.outward), scale(mixer)
        self.feed_inward, self.feed_outward, self.bent = (*norm(block.norm_2), *maps(feed.inward)), maps(feed.outward), feed.bent
        if cross is not None:
            self.asking, self.hearing, self.cross_scale = (*norm(block.norm_cross), *maps(cross.inward)), maps(cross.outward), scale(cross)

    @classmethod
    def of(cls, block: Block) -> Layer:
        """Made once; and again when the weights lie elsewhere, as after a copy of the model."""
        found = block.__dict__.get("layer")
        if found is None or found.address != block.mixer.inward.weight.data_ptr():
            found = block.__dict__["layer"] = cls(block)
        return found

    def __call__(self, x: np.ndarray, keys: np.ndarray, values: np.ndarray, begin: int, end: int, cosine: np.ndarray, sine: np.ndarray,
                 *memory) -> None:
        """(M, D), changed in place."""
        from seriatim.layers import few  # compiled code is loaded by those who need it
        heard, recalled = few.heard, few.recalled
        add_product, normed = (few.add_product, few.normed) if len(x) <= FEW else (add_many, normed_many)
        y = recalled(normed(x, *self.inward), keys, values, begin, end, cosine, sine, self.scale)
        add_product(y, *self.outward, x)
        if memory:
            y = heard(normed(x, *self.asking), *memory, self.cross_scale)
            add_product(y, *self.hearing, x)
        add_product(self.bent(torch.from_numpy(normed(x, *self.feed_inward))).numpy(), *self.feed_outward, x)


def normed_many(x: np.ndarray, gain: np.ndarray, shift: np.ndarray, least: float, centred: bool, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(M, D) -> (M, O): what `few.normed` computes, by torch."""
    rows, weight = torch.from_numpy(x), torch.from_numpy(gain)
    z = F.layer_norm(rows, gain.shape, weight, torch.from_numpy(shift), least) if centred else F.rms_norm(rows, gain.shape, weight, least)
    return F.linear(z, torch.from_numpy(w), torch.from_numpy(b) if len(b) else None).numpy()


def add_many(x: np.ndarray, w: np.ndarray, b: np.ndarray, y: np.ndarray) -> None:
    """(M, I) -> added to (M, O): what `few.add_product` computes, by torch."""
    total = torch.from_numpy(y)
    total.addmm_(torch.from_numpy(x), torch.from_numpy(w).mT)
    if len(b):
        total.add_(torch.from_numpy(b))


def maps(linear: nn.Linear) -> tuple[np.ndarray, np.ndarray]:
    return linear.weight.detach().numpy(), NOTHING if linear.bias is None else linear.bias.detach().numpy()


def norm(module: nn.LayerNorm | nn.RMSNorm) -> tuple[np.ndarray, np.ndarray, float, bool]:
    """Gain, shift, the least square, and whether the mean is subtracted."""
    shift, least = getattr(module, "bias", None), module.eps or torch.finfo(torch.float32).eps
    return module.weight.detach().numpy(), NOTHING if shift is None else shift.detach().numpy(), least, isinstance(module, nn.LayerNorm)


def scale(attention: Attention) -> np.float32:
    return np.float32((attention.width // attention.heads) ** -0.5 if attention.score == "scaled" else 1)
