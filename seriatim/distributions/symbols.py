"""What models return: distributions that can be asked for a log-probability, a sample or the mode.

A distribution may be lazy: `log_prob(y)` computes only what is asked for, `log_probs()` the whole
rows that sampling and beam search need. Indexing and `concatenate` work on the leading (rows, time)
axes. Shapes: ... any leading axes, V symbols.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from seriatim.errors import RunError
from seriatim.layers.devices import home, wide
from seriatim.layers.linear import linear


class Distribution:
    """The interface."""

    def log_prob(self, y: Tensor) -> Tensor:
        """(...) outcomes -> (...) natural-log probabilities."""
        return self.log_probs().gather(-1, y[..., None])[..., 0]

    def total(self, y: Tensor, weights: Tensor, smoothing: float = 0.0) -> Tensor:
        """sum weights * log_prob(y): what a loss is made of. With smoothing, that share of every
        target is spread over all outcomes (Szegedy et al. 2016)."""
        fits = (self.log_prob(y) * weights).sum()
        return (
            (1 - smoothing) * fits + smoothing * (self.mean_log_prob() * weights).sum()
            if smoothing
            else fits
        )

    def log_probs(self) -> Tensor:
        """(..., V) natural-log probabilities of all symbols."""
        raise TypeError(f"{type(self).__name__} has no finite set of outcomes")

    def best(self, many: int) -> tuple[np.ndarray, np.ndarray]:
        """Of (R, V): the `many` likeliest symbols of each row, their log-probabilities and their
        numbers, (R, K) each; equals by their numbers."""
        return ranked(self.log_probs(), many)[:2]

    def mean_log_prob(self) -> Tensor:
        """(...) natural-log probabilities, averaged over all outcomes: what label smoothing asks
        for."""
        return self.log_probs().mean(-1)

    def home(self) -> Distribution:
        """The same, with its numbers on the CPU."""
        found = copy(self)
        for name, value in vars(self).items():
            vars(found)[name] = value.home() if isinstance(value, Distribution) else home(value)
        return found

    def __getitem__(self, index: Any) -> Self:
        raise TypeError(f"{type(self).__name__} cannot be indexed")

    @classmethod
    def concatenate(cls, parts: Sequence[Self], axis: int) -> Self:
        """Several of one kind as one, along one of the leading axes."""
        raise TypeError(f"{cls.__name__} cannot be concatenated")

    def mode(self) -> Tensor:
        """(...) the likeliest outcomes."""
        return self.log_probs().argmax(-1)

    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        """(...) outcomes drawn by their probability."""
        p = self.log_probs().exp()
        return drawn(p.reshape(-1, p.shape[-1]), generator).reshape(p.shape[:-1])


def drawn(p: Tensor, generator: torch.Generator | None) -> Tensor:
    """(N, V) probabilities -> (N, 1) outcomes; an error where weights made no numbers of them."""
    try:
        return torch.multinomial(p, 1, generator=generator)
    except RuntimeError as error:
        raise RunError(
            "the probabilities of this model are not numbers",
            got=error,
            do="Its weights are damaged, or fitting went astray: restore the run, or fit again",
        ) from None


class Categorical(Distribution):
    """One symbol of V: softmax of the logits."""

    def __init__(self, logits: Tensor):
        self._logits = logits

    @property
    def logits(self) -> Tensor:
        """(..., V) log-probabilities but for a constant."""
        return self._logits

    def log_prob(self, y: Tensor) -> Tensor:
        """(...) symbols -> (...), without the rows of all symbols."""
        logits = self.logits
        flat = F.cross_entropy(
            logits.reshape(-1, logits.shape[-1]), y.reshape(-1), reduction="none"
        )
        return -flat.reshape(y.shape)

    def log_probs(self) -> Tensor:
        """(..., V) log softmax."""
        return F.log_softmax(self.logits, -1)

    def best(self, many: int) -> tuple[np.ndarray, np.ndarray]:
        """The likeliest are found among the logits; only those are made probabilities."""
        values, symbols, total = ranked(self.logits, many, normal=True)
        return values - total[:, None], symbols

    def __getitem__(self, index: Any) -> Self:
        return type(self)(self.logits[index])

    @classmethod
    def concatenate(cls, parts: Sequence[Self], axis: int) -> Self:
        """Their logits side by side."""
        return cls(torch.cat([part.logits for part in parts], axis))


def ranked(x: Tensor, many: int, normal: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(R, V) -> the `many` largest of each row (all, if there are fewer), equals by their numbers,
    and their numbers, (R, K) each; if `normal`, log sum exp of each row (R,)."""
    many = min(many, x.shape[-1])
    if x.shape[-1] <= SORTED:
        best = x.sort(dim=-1, descending=True, stable=True)
        return (
            best.values[:, :many].numpy(),
            best.indices[:, :many].numpy(),
            x.logsumexp(-1).numpy() if normal else np.empty(0),
        )
    from seriatim.layers import kernels as few

    array, rows = x.contiguous().numpy(), len(x)
    found = (
        np.empty((rows, many), array.dtype),
        np.empty((rows, many), np.int64),
        np.empty(rows if normal else 0, array.dtype),
    )
    few.ranked(array, many, *found)
    return found


class Readout(Categorical):
    """The same, not yet computed: softmax(W h + b) of vectors h. Of a large vocabulary, a loss and
    its gradient need never be seen whole."""

    def __init__(self, hidden: Tensor, weight: Tensor, bias: Tensor | None):
        self.hidden, self.weight, self.bias = hidden, weight, bias  # (..., D), (V, D), (V,)

    @property
    def logits(self) -> Tensor:
        """(..., V) computed now."""
        return linear(self.hidden, self.weight, self.bias).float()

    def total(self, y: Tensor, weights: Tensor, smoothing: float = 0.0) -> Tensor:
        """As for any other; where there are many logits, without ever holding all of them."""
        if y.numel() * len(self.weight) < FEW:
            return super().total(y, weights, smoothing)
        return Total.apply(
            self.hidden.flatten(0, -2),
            self.weight,
            self.bias,
            y.flatten(),
            weights.flatten(),
            smoothing,
        )

    def home(self) -> Categorical:
        """Asked from the CPU, computed where its weights are."""
        return self if self.hidden.is_cpu else Abroad(self, self.hidden.device)

    def __getitem__(self, index: Any) -> Self:
        index = index if isinstance(index, tuple) else (index,)
        return type(self)(self.hidden[(*index, ..., slice(None))], self.weight, self.bias)

    @classmethod
    def concatenate(cls, parts: Sequence[Self], axis: int) -> Self:
        """Their hidden vectors side by side; all have the same weights."""
        return cls(torch.cat([part.hidden for part in parts], axis), parts[0].weight, parts[0].bias)


class Abroad(Categorical):
    """A readout on another device, asked from the CPU: it computes there, and only answers come home."""

    def __init__(self, inner: Categorical, device: torch.device):
        self.inner, self.device = inner, device

    @property
    def logits(self) -> Tensor:
        """(..., V) brought home."""
        return self.inner.logits.cpu()

    def log_prob(self, y: Tensor) -> Tensor:
        """(...) symbols -> (...), brought home."""
        return self.inner.log_prob(y.to(self.device)).cpu()

    def log_probs(self) -> Tensor:
        """(..., V) brought home."""
        return self.inner.log_probs().cpu()

    def __getitem__(self, index: Any) -> Self:
        return type(self)(self.inner[home(index)], self.device)

    @classmethod
    def concatenate(cls, parts: Sequence[Self], axis: int) -> Self:
        """Side by side, there."""
        inner = [part.inner for part in parts]
        return cls(type(inner[0]).concatenate(inner, axis), parts[0].device)


SORTED = 256  # symbols up to which all of a row are sorted


# logits that are not worth it; that are computed and forgotten together
FEW, CELLS = 1 << 20, 1 << 23


class Total(torch.autograd.Function):
    """sum_n w_n q_n . log softmax(W h_n + b), q_n = (1 - s) onehot(y_n) + s / V. The gradient is
    found along the way, a few rows at a time, while their logits are in the cache: with p the
    softmax, dh = w W^T (q - p) and dW = sum_n w_n (q_n - p_n) h_n^T."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        y: Tensor,
        weights: Tensor,
        smoothing: float,
    ) -> Tensor:
        """(N, D), (V, D), (V,), (N,), (N,) -> the sum."""
        where = weight.device.type
        kind = torch.get_autocast_dtype(where) if torch.is_autocast_enabled(where) else weight.dtype
        h, matrix, rows = hidden.to(kind), weight.to(kind), max(1, CELLS // len(weight))
        found, learning = wide(hidden.new_zeros(())), any(ctx.needs_input_grad)
        dh, dw, db = (
            torch.empty_like(h),
            torch.zeros_like(matrix),
            hidden.new_zeros(len(weight), dtype=torch.float32),
        )
        for i in range(0, len(h), rows):
            part = slice(i, i + rows)
            scores = F.log_softmax(
                F.linear(h[part], matrix, None if bias is None else bias.to(kind)).float(), 1
            )  # (rows, V)
            place = y[part, None]
            fits = scores.gather(1, place)[:, 0]
            found += (
                (fits if not smoothing else (1 - smoothing) * fits + smoothing * scores.mean(1))
                * weights[part]
            ).sum()
            if learning:
                p = scores.exp_()
                p = (p if not smoothing else p.sub_(smoothing / len(weight))).mul_(
                    -weights[part, None]
                )
                # w (q - p)
                p.scatter_add_(1, place, (1 - smoothing) * weights[part, None].to(p.dtype))
                db += p.sum(0)
                p = p.to(kind)
                torch.mm(p, matrix, out=dh[part])
                dw.addmm_(p.t(), h[part])
        ctx.save_for_backward(dh, dw, db)
        ctx.kinds = hidden.dtype, weight.dtype, bias
        return found.to(torch.float32)

    @staticmethod
    def backward(ctx: Any, by: Tensor) -> tuple[Tensor | None, ...]:
        """What was found along the way, times the slope of whatever follows."""
        dh, dw, db = ctx.saved_tensors
        hidden, weight, bias = ctx.kinds
        return (
            dh.to(hidden).mul_(by),
            dw.to(weight).mul_(by),
            None if bias is None else db.mul_(by),
            None,
            None,
            None,
        )


class Bernoulli(Distribution):
    """A set: each of V elements is in it or not, whatever the others are. Outcomes are multi-hot,
    (..., V).

    p(S) = prod_m sigmoid(a_m)^[m in S] (1 - sigmoid(a_m))^[m not in S]
    """

    def __init__(self, logits: Tensor):
        self.logits = logits  # (..., V)

    def log_prob(self, y: Tensor) -> Tensor:
        """(..., V) multi-hot sets -> (...)."""
        return -F.binary_cross_entropy_with_logits(self.logits, y, reduction="none").sum(-1)

    def mean_log_prob(self) -> Tensor:
        """(...) averaged over all sets."""
        # each element is in half of all sets
        return self.log_prob(torch.full_like(self.logits, 0.5))

    def mean(self) -> Tensor:
        """(..., V) the probability of each element."""
        return torch.sigmoid(self.logits)

    def mode(self) -> Tensor:
        """(..., V) the elements that are more probable than not."""
        return (self.logits > 0).to(self.logits.dtype)

    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        """(..., V) each element drawn by itself."""
        return torch.bernoulli(self.mean(), generator=generator)

    def __getitem__(self, index: Any) -> Self:
        return type(self)(self.logits[index])

    @classmethod
    def concatenate(cls, parts: Sequence[Self], axis: int) -> Self:
        """Their logits side by side."""
        return cls(torch.cat([part.logits for part in parts], axis))


class Mixed(Distribution):
    """p(y) = sum_i w_i p_i(y), as lazy as its parts."""

    def __init__(self, parts: Sequence[Distribution], log_weights: Tensor):
        self.parts, self.log_weights = list(parts), log_weights  # (parts,)

    def _mix(self, columns: list[Tensor]) -> Tensor:
        stacked = torch.stack([column.double() for column in columns], -1)
        return torch.logsumexp(stacked + self.log_weights.double(), -1)

    def log_prob(self, y: Tensor) -> Tensor:
        """(...), in double precision."""
        return self._mix([part.log_prob(y) for part in self.parts])

    def log_probs(self) -> Tensor:
        """(..., V), in double precision."""
        return self._mix([part.log_probs() for part in self.parts])

    def __getitem__(self, index: Any) -> Self:
        return type(self)([part[index] for part in self.parts], self.log_weights)

    @classmethod
    def concatenate(cls, parts: Sequence[Self], axis: int) -> Self:
        """Part by part; all have the same weights."""
        columns = zip(*(mixed.parts for mixed in parts), strict=True)
        return cls(
            [type(column[0]).concatenate(column, axis) for column in columns], parts[0].log_weights
        )
