"""A cache: what was said recently is said again.

Unlike the other count models it learns nothing beforehand; it counts the last `window` symbols as
it reads. Contexts of length 0 to `match` are compared, each leaning on the shorter one with the
weight of `trust` symbols:

    p_d(w) = (c_d(w) + trust p_(d-1)(w)) / (c_d + trust)          p_(-1) = 1 / V

c_d counts the places of the window whose d symbols before are those we have just seen; c_d(w),
those among them where w stands. Alone it is weak; mixed with a model that knows the language it
knows the topic, the names and the habits of this text (Kuhn and De Mori 1990): `kneser-ney+cache`.
The state is the window. Shapes: B rows, T time, W window, M queries, V symbols.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.data.sequences import Field
from seriatim.distributions.symbols import Distribution
from seriatim.models.base import Model, State
from seriatim.models.ngrams.counts import laid_out
from seriatim.models.ngrams.options import CacheOptions

NOTHING = -1  # stands in the window before the first symbol


CELLS = 1 << 24  # places of windows compared in one go


class Cache(Model):
    """Counts of what was read last, and of nothing else."""

    def __init__(self, vocabulary: int, options: CacheOptions):
        self.vocabulary, self.warm, self.match, self.trust = (
            vocabulary,
            options.window,
            options.match,
            options.trust,
        )

    def start(self, batch: Batch) -> tuple[Distribution, State]:
        """The window after the prompt, filled from the right."""
        seen = torch.cat([torch.full((len(batch.x), self.warm), NOTHING), batch.x], 1)  # (B, W + P)
        window = seen.gather(1, batch.x_lengths[:, None] + torch.arange(self.warm))  # (B, W)
        return Cached(self, window), window

    def extend(self, y: Tensor, state: State) -> tuple[Distribution, State]:
        """The window after each of y."""
        seen = torch.cat([state, y], 1)  # (B, W + T)
        return Cached(self, seen.unfold(1, self.warm, 1)[:, 1:]), seen[:, -self.warm :]

    def counting(self, ids: Field, stop: bool) -> Iterator[dict]:
        """There is nothing to count yet."""
        return iter(())

    def arrays(self) -> dict[str, Tensor]:
        """Nothing: it learns nothing beforehand."""
        return {}

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Refuse whatever is given."""
        if arrays:
            raise ValueError(f"a cache keeps no arrays, received {sorted(arrays)}")

    def sweep(self, ids: Field, stop: bool) -> np.ndarray:
        """A corpus at once: equal n-grams have equal numbers, and how many of them lie in a window
        is the difference of two ranks."""
        symbols = laid_out(ids, self.vocabulary, stop)[:-1].astype(np.int64)
        here = np.arange(len(symbols))  # (N,)
        # (N,) where each one's sequence begins
        begin = np.maximum.accumulate(np.where(symbols == self.vocabulary, here, 0)) + 1
        # gram: which d-gram ends here
        p, gram = np.full(len(symbols), 1 / self.vocabulary), np.zeros(len(symbols), np.int64)
        for length in range(self.match + 1):
            # a match and its context lie in the window
            earliest = np.maximum(begin, here - self.warm) + length
            total = (
                np.where(here - 1 < begin, 0, recurrences(np.roll(gram, 1), earliest, here))
                if length
                else np.minimum(here - begin, self.warm)
            )
            gram = np.unique(
                np.roll(gram, 1) * (self.vocabulary + 1) + symbols, return_inverse=True
            )[1]
            inside = here - length >= begin  # the context lies in the sequence
            count = np.where(inside, recurrences(gram, earliest, here), 0)
            p = (count + self.trust * p) / (np.where(inside, total, 0) + self.trust)
        return np.log(p)[symbols != self.vocabulary]

    def matches(self, windows: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """(M, W) windows -> for each length of context the matching places: (C,) rows, and the
        symbol that stood there."""
        rows, places = (windows >= 0).nonzero(as_tuple=True)
        yield rows, windows[rows, places]
        for length in range(1, self.match + 1):
            if length >= windows.shape[1]:
                return
            last = windows[:, -length]  # (M,) the symbol `length` back
            if length == 1:
                rows, places = ((windows[:, :-1] == last[:, None]) & (last >= 0)[:, None]).nonzero(
                    as_tuple=True
                )
                places = places + 1
            else:
                kept = (
                    (places >= length)
                    & (windows[rows, (places - length).clamp(min=0)] == last[rows])
                    & (last[rows] >= 0)
                )
                rows, places = rows[kept], places[kept]
            yield rows, windows[rows, places]

    def probability(self, windows: Tensor, y: Tensor) -> Tensor:
        """(M, W) windows, (M,) symbols -> (M,)."""
        p = torch.full((len(y),), 1 / self.vocabulary, dtype=torch.float64)
        for rows, symbols in self.matches(windows):
            total = torch.bincount(rows, minlength=len(y))
            count = torch.bincount(rows[symbols == y[rows]], minlength=len(y))
            p = (count + self.trust * p) / (total + self.trust)
        return p

    def probabilities(self, windows: Tensor) -> Tensor:
        """(M, W) windows -> (M, V)."""
        p = torch.full((len(windows), self.vocabulary), 1 / self.vocabulary, dtype=torch.float64)
        for rows, symbols in self.matches(windows):
            count = torch.bincount(rows * self.vocabulary + symbols, minlength=p.numel()).reshape(
                p.shape
            )
            p = (count + self.trust * p) / (count.sum(1, keepdim=True) + self.trust)
        return p


def recurrences(gram: np.ndarray, earliest: np.ndarray, here: np.ndarray) -> np.ndarray:
    """(N,) how often the number at each place stands at places from `earliest` up to, and without,
    itself."""
    bits = len(gram).bit_length()
    order = np.sort(gram << bits | here)  # (N,) equal numbers side by side, in order
    return np.maximum(
        np.searchsorted(order, gram << bits | here)
        - np.searchsorted(order, gram << bits | np.minimum(earliest, here)),
        0,
    )


class Cached(Distribution):
    """What a cache expects after given windows, counted when asked."""

    def __init__(self, model: Cache, windows: Tensor):
        self.model, self.windows = model, windows  # (..., W)

    def pieces(self) -> Iterator[tuple[slice, Tensor]]:
        """The windows as rows, a few at a time, without the columns where nothing stands."""
        windows = (
            self.windows.reshape(-1, self.windows.shape[-1])
            if self.windows.dim() < 3
            else self.windows.flatten(0, -2)
        )
        step = max(1, CELLS // windows.shape[1])
        for begin in range(0, len(windows), step):
            some = windows[begin : begin + step]
            filled = int((some >= 0).sum(1).max()) if len(some) else 0
            yield slice(begin, begin + step), some[:, some.shape[1] - filled :]

    def log_prob(self, y: Tensor) -> Tensor:
        """(...) symbols -> (...), counted for these alone."""
        flat = y.reshape(-1)
        return torch.cat(
            [self.model.probability(windows, flat[rows]).log() for rows, windows in self.pieces()]
        ).reshape(y.shape)

    def log_probs(self) -> Tensor:
        """(..., V)."""
        rows = torch.cat([self.model.probabilities(windows).log() for _, windows in self.pieces()])
        return rows.reshape(*self.windows.shape[:-1], self.model.vocabulary)

    def __getitem__(self, index: Any) -> Self:
        return type(self)(self.model, self.windows[index])

    @classmethod
    def concatenate(cls, parts: Sequence[Self], axis: int) -> Self:
        """Their windows side by side; all are of one model."""
        return cls(parts[0].model, torch.cat([part.windows for part in parts], axis))
