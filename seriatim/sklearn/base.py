"""What all estimators have: a fit by the settings' names, and pickles that hold the files of a run."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from seriatim.data.cells import plain
from seriatim.data.objects import at_hand, is_column, is_frame
from seriatim.data.sequences import missing
from seriatim.errors import ConfigError, DataError
from seriatim.tasks import task

Settings = Mapping[str, Any]
SEEDS = 2**31 - 1
KEPT = "predictor_"


class RunEstimator(BaseEstimator):
    """What all of them have: settings of a fit by their names, and a run in place of a pickle.

    Settings that are None are the recipe's own; `settings` holds any others by their names, as
    `seriatim fit TASK MODEL --help` lists them.
    """

    _task = ""
    _own: tuple[str, ...] = ("unit", "width", "layers", "updates", "epochs", "minutes")
    model: str
    random_state: Any
    settings: Settings | None
    predictor_: Any

    def _asked(self) -> dict[str, Any]:
        """The settings of the fit; what counts has no seed."""
        if not isinstance(self.settings, Mapping | None):
            raise ConfigError(
                "settings are a dict of names and values",
                got=repr(self.settings),
                do="Give for instance settings={'strength': 1.0}",
            )
        own = {name: getattr(self, name) for name in self._own}
        own = {name: value for name, value in own.items() if value is not None}
        card = task(self._task)
        learns = not all(card.rung(part).counts for part in self.model.split("+"))
        if learns and self.random_state is not None:
            own["seed"] = int(check_random_state(self.random_state).randint(SEEDS))
        return {**own, **(self.settings or {})}

    def _learn(self, data: Any, **more: Any) -> Self:
        """Fit the model."""
        from seriatim.api import fit

        self.predictor_ = fit(self._task, self.model, data, **self._asked(), **more)
        return self

    # -- pickles hold the files of the run
    def __getstate__(self) -> dict[str, Any]:
        """The settings, and the run as its files."""
        state = dict(super().__getstate__())
        if KEPT in state:
            with tempfile.TemporaryDirectory() as folder:
                run = self.predictor_.save(Path(folder) / "run")
                state[KEPT] = {each.name: each.read_bytes() for each in run.iterdir()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """The same again; the files are checked as those of any run."""
        from seriatim.tasks.opening import load

        files = state.get(KEPT)
        if files is not None:
            with tempfile.TemporaryDirectory() as folder:
                for name, content in files.items():
                    (Path(folder) / Path(name).name).write_bytes(content)
                predictor = load(folder)
                predictor.remembered()
                predictor.folder = None
            state = {**state, KEPT: predictor}
        super().__setstate__(state)


# -- what X is
def is_symbols(X: Any) -> bool:
    """Whether these are texts or lists of tokens, and not numbers: by the first that is there."""
    rows = rows_in(X)
    first = None if rows is None else next((each for each in rows if not gone(each)), None)
    if isinstance(first, (list, tuple)):
        first = first[0] if len(first) else None
    return isinstance(first, str)


def rows_in(X: Any) -> Sequence[Any] | np.ndarray | None:
    """What may be texts: a list, an array, a column; a frame or an array of one column is its column.
    None if it is something else."""
    if isinstance(X, (str, bytes)):
        raise DataError(
            "X has a text for each row", got=X, do="Give a list of texts: ['great food', ...]"
        )
    if issparse(X) or isinstance(X, Iterator):
        return None
    found = at_hand(X)
    if is_frame(found):
        return found.get_column(found.columns[0]).to_list() if len(found.columns) == 1 else None
    if is_column(found):
        return found.to_list()
    if isinstance(found, np.ndarray):
        alone = found.ndim == 2 and found.shape[1] == 1 and found.dtype.kind in "OUT"
        return found[:, 0] if alone else found
    return found if isinstance(found, Sequence) else None


def gone(value: Any) -> bool:
    """Whether a cell is missing: None, nan, or what pandas has for it."""
    return not isinstance(value, (str, list, tuple, np.ndarray)) and missing(plain(value))


def symbols_in(X: Any) -> list[Any]:
    """Texts or lists of tokens; none of them may be missing."""
    rows = rows_in(X)
    if rows is None:
        raise DataError(
            "texts are wanted, or lists of tokens", got=type(X).__name__, do="Give a list of texts"
        )
    for number, row in enumerate(rows):
        within = next((each for each in row if gone(each)), row) if isinstance(row, list) else row
        if gone(within):
            raise DataError(
                f"row {number} of X is missing, counted from 0",
                got=repr(row),
                do="Fill it in, or leave the row out",
            )
    return list(rows)
