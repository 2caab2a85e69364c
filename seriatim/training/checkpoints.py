"""A checkpoint: all that the rest of a fit depends on, in one file that is written whole or not at
all."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from torch import Tensor

from seriatim.errors import RunError, SeriatimError
from seriatim.storage import read_arrays, write_arrays
from seriatim.training.schedule import Progress

SAVES = 30  # of the time, at most one part in so many goes into checkpoints


class Checkpoint:
    """The file of one fit, or none."""

    def __init__(self, path: Path | None):
        self.path = path
        self.saving = 0.0  # how long the last time took

    def every(self, seconds: float) -> float:
        """How often to save where it is asked for every so many seconds: less often where it takes
        long; 0 is always."""
        return seconds and max(seconds, SAVES * self.saving)

    def write(self, arrays: dict[str, Tensor], progress: Progress) -> None:
        """Replace what was there."""
        if self.path is not None:
            best = None if progress.best == math.inf else progress.best
            write_arrays(self.path, arrays, asdict(progress) | {"best": best})

    def read(self, take_up: Callable[[dict[str, Tensor], dict[str, Any]], None]) -> bool:
        """Let a fit go on from it, if there is one."""
        if self.path is None or not self.path.exists():
            return False
        try:
            arrays, record = read_arrays(self.path)
            take_up(
                arrays, record | {"best": math.inf if record["best"] is None else record["best"]}
            )
        except SeriatimError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            raise RunError(
                f"{self.path} is not a checkpoint of this fit",
                got=error,
                do="Begin anew with --overwrite",
            ) from None
        return True


def named(kind: str, arrays: dict[str, Tensor]) -> dict[str, Tensor]:
    """Arrays of one kind, as they are called in a checkpoint."""
    return {f"{kind}.{name}": array for name, array in arrays.items()}


def of_kind(kind: str, arrays: dict[str, Tensor]) -> dict[str, Tensor]:
    """And back."""
    begin = f"{kind}."
    return {name[len(begin) :]: each for name, each in arrays.items() if name.startswith(begin)}


def numbered(arrays: dict[str, Tensor]) -> dict[int, dict[str, Tensor]]:
    """Arrays called NUMBER.NAME, by number, then by name."""
    found: dict[int, dict[str, Tensor]] = {}
    for name, array in arrays.items():
        number, _, rest = name.partition(".")
        found.setdefault(int(number), {})[rest] = array
    return {number: found[number] for number in sorted(found)}
