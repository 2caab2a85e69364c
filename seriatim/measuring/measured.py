"""What a model said about data, item by item: what was true, what was answered, how likely it was.

Records are summaries of this; tests that tell two models apart, folds that are put together and
examples on which two rungs disagree need it whole. It is arrays and plain values, so it can be kept
beside a run and read again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from seriatim.errors import DataError
from seriatim.measuring.resampling import drawn_together
from seriatim.records import plain
from seriatim.storage import read_arrays, write_arrays


@dataclass
class Measured:
    """Arrays and plain values by name; `loss` is (N,) what each item costs, the less the better."""

    arrays: dict[str, np.ndarray]
    facts: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.arrays[name] if name in self.arrays else self.facts[name]

    def __contains__(self, name: str) -> bool:
        return name in self.arrays or name in self.facts

    @property
    def loss(self) -> np.ndarray:
        """(N,) what each item costs: nats, an error, or 1 where the answer is wrong."""
        return self.arrays["loss"]

    def item(self, number: int) -> dict[str, Any]:
        """One item: what was true and what was answered, where there is more than a probability."""
        found = {"item": number, "loss": float(self.loss[number])}
        for name in ("truth", "answers"):
            if name in self:
                found[name] = self[name][number]
        return found

    def save(self, file: Path) -> None:
        """Write all of it into one file."""
        import torch

        arrays = {
            name: torch.from_numpy(np.ascontiguousarray(a)) for name, a in self.arrays.items()
        }
        write_arrays(file, arrays, plain(self.facts))

    @classmethod
    def load(cls, file: Path) -> Measured:
        """What `save` wrote."""
        arrays, facts = read_arrays(file)
        return cls({name: array.numpy() for name, array in arrays.items()}, facts)


def merged(several: Sequence[Measured]) -> Measured:
    """The items of several one after another; facts that are counts or seconds are added up."""
    first = several[0]
    if len(several) == 1:
        return first
    odd = [name for name, array in first.arrays.items() if len(array) != len(first.loss)]
    if odd:
        raise TypeError(f"not one value an item: {', '.join(odd)}; the room merges these itself")
    arrays = {name: np.concatenate([each[name] for each in several]) for name in first.arrays}
    sums = {
        name: sum(each[name] for each in several)
        for name in ("symbols", "seconds")
        if name in first.facts
    }
    return Measured(arrays, first.facts | sums)


Test = Callable[[Measured, Measured], float]


def check_paired(first: Measured, second: Measured) -> None:
    """Two models are told apart on the same items only."""
    if len(first.loss) != len(second.loss):
        raise DataError(
            "two models are compared on the same items",
            got=f"{len(first.loss):,} and {len(second.loss):,}",
            do="Measure both on the same data, cut in the same way",
        )


def drawn_losses(several: Sequence[Measured]) -> np.ndarray:
    """(M, R) mean losses of several models, if other items had been drawn: the same for all."""
    cuts = np.arange(len(several[0].loss))
    return drawn_together([each.loss for each in several], cuts)


def disagreements(first: Measured, second: Measured, most: int = 10) -> list[dict[str, Any]]:
    """The items on which the losses of two models differ most, with what each of them said."""
    check_paired(first, second)
    apart = np.abs(np.nan_to_num(first.loss) - np.nan_to_num(second.loss))
    order = np.argsort(-apart, kind="stable")[:most]
    return [
        {"item": int(i), "first": first.item(int(i)), "second": second.item(int(i))}
        for i in order
        if apart[i] > 0
    ]
