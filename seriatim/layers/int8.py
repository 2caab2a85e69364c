"""Eight bits a weight, for inference: a quarter of the memory to move, which is what a step of a
small batch waits for.

    W x  ~  s * m * (Q q),   Q = round(W / s),       s = max |row of W| / 127
                             q = round(x / m * 63),  m = max |x|

Each row of the weights and each row of the input has its own scale, so that a row's result does not
depend on its neighbours. The products are whole numbers, summed exactly.
Shapes: ... any leading axes, I inputs, O outputs.
"""

from __future__ import annotations

import warnings

import torch
from torch import Tensor, nn

from seriatim.errors import ConfigError
from seriatim.layers.recurrent import Stepwise


class Int8Linear(nn.Module):
    """A linear map whose weights (O, I) are stored in eight bits."""

    def __init__(self, weight: Tensor, bias: Tensor | None):
        super().__init__()
        outputs, self.inputs = weight.shape
        self.bias = (
            torch.zeros(outputs, device=weight.device) if bias is None else bias.detach().clone()
        )
        wide = torch.cat(
            [weight.detach(), weight.new_zeros(outputs, 2)], 1
        )  # (O, I + 2), see forward
        scale = (weight.detach().abs().amax(1) / 127).clamp(min=1e-30).double()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # torch means to move these functions some day
                self.packed = torch.ops.quantized.linear_prepack(
                    torch.quantize_per_channel(
                        wide,
                        scale,
                        torch.zeros(outputs, dtype=torch.long, device="cpu"),
                        0,
                        torch.qint8,
                    ),
                    None,
                )
        except (RuntimeError, AttributeError) as error:
            raise ConfigError(
                "this torch cannot compute with 8-bit weights on this machine",
                got=error,
                do="Leave out --int8",
            ) from None

    def forward(self, x: Tensor) -> Tensor:
        """(..., I) -> (..., O)."""
        flat = x.reshape(-1, self.inputs)
        most = torch.linalg.vector_norm(flat, torch.inf, 1, keepdim=True).clamp_(min=1e-30)
        scaled = x.new_empty(len(flat), self.inputs + 2)
        # every row reaches from -1 to 1, so all are cut into the same steps
        scaled[:, -2], scaled[:, -1] = 1.0, -1.0
        torch.div(flat, most, out=scaled[:, :-2])
        y = torch.ops.quantized.linear_dynamic(scaled, self.packed, reduce_range=True)
        return torch.addcmul(self.bias, y, most).unflatten(0, x.shape[:-1])


def quantised(module: nn.Module) -> None:
    """Put 8-bit maps in the place of all linear ones; convolutions and embeddings stay as they are.
    Only for inference."""
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, Int8Linear(child.weight, child.bias))
        elif isinstance(child, nn.RNNBase):
            setattr(module, name, Stepwise.of(child))
            quantised(module)
            return
        elif isinstance(child, Stepwise):
            child.maps = tuple(
                Int8Linear(weight, None if child.norm_inside else bias)
                for weight, bias, _ in child.pieces()
            )
        else:
            quantised(child)
