"""The next numbers of series, as those who come from sktime ask for them.

    Forecaster("lags-ridge", horizon=24).fit(y).predict(fh=[1, 2, 3])

Shapes: S series, H steps of the model, h steps that are asked for, C channels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Self

import numpy as np
import polars
from sklearn.utils.validation import check_is_fitted

from seriatim.data.objects import at_hand, is_column, is_frame, with_index
from seriatim.errors import ConfigError, DataError
from seriatim.show.frames import moments
from seriatim.sklearn.base import KEPT, RunEstimator, Settings


class Forecaster(RunEstimator):
    """The next numbers of series, in the habits of sktime: y first, and a horizon `fh` in steps.

    `fh` is a step ahead or several of them: 3 is the third step, [1, 2, 3] the first three, and
    nothing all that the model was fitted for. y is whatever the forecasts of this library take.

    >>> y = [10.0, 20.0, 30.0, 20.0] * 12
    >>> model = Forecaster("seasonal", horizon=4, settings={"season": 4}).fit(y)
    >>> model.predict([1, 2, 3]).round(3).tolist(), model.predict(3).round(3).tolist()
    ([10.0, 20.0, 30.0], [30.0])
    """

    _task = "forecast"
    _own = ("context", "width", "layers", "updates", "epochs", "minutes")

    def __init__(
        self,
        model: str = "lags-ridge",
        *,
        horizon: int | None = None,
        context: int | None = None,
        width: int | None = None,
        layers: int | None = None,
        updates: int | None = None,
        epochs: float | None = None,
        minutes: float | None = None,
        random_state: Any = None,
        settings: Settings | None = None,
    ):
        self.model, self.horizon, self.context = model, horizon, context
        self.width, self.layers, self.updates = width, layers, updates
        self.epochs, self.minutes = epochs, minutes
        self.random_state, self.settings = random_state, settings

    def fit(self, y: Any, X: Any = None, fh: Any = None) -> Self:
        """Learn from series, and from X, which is known in advance and has a row for each of y.

        The horizon is `horizon`, or the farthest step of `fh`.
        """
        steps = {} if fh is None else {"horizon": int(steps_of(fh).max())}
        steps = steps if self.horizon is None else {"horizon": self.horizon}
        self.y_: Any = y
        self.known_: list[str] = []
        if X is not None:
            self.y_, self.known_ = joined(y, X)
        known = {"known": ",".join(self.known_)} if self.known_ else {}
        self._learn(self.y_, **steps, **known)
        self.like_ = Like.of(y)
        return self

    def predict(self, fh: Any = None, X: Any = None) -> Any:
        """The forecast of each step, in the form that y had; with X, what is known of these steps."""
        items, steps = self._coming(fh, X)
        found = [[channel["mean"] for channel in item["channels"].values()] for item in items]
        values = np.array(found).transpose(0, 2, 1)[:, steps - self._first]  # (S, h, C)
        return self.like_.form(values, items, steps, self._first)

    def predict_quantiles(self, fh: Any = None, X: Any = None, alpha: Any = None) -> Any:
        """A frame of pandas with the columns (channel, alpha)."""
        levels = [0.05, 0.95] if alpha is None else np.atleast_1d(alpha).tolist()
        return self._framed(fh, X, [((each,), each) for each in levels])

    def predict_interval(self, fh: Any = None, X: Any = None, coverage: Any = 0.9) -> Any:
        """A frame of pandas with the columns (channel, coverage, lower or upper)."""
        shares = np.atleast_1d(coverage).tolist()
        sides = (("lower", -1), ("upper", 1))
        asked = [((c, side), 0.5 + sign * c / 2) for c in shares for side, sign in sides]
        return self._framed(fh, X, asked)

    @property
    def _first(self) -> int:
        """The first step that is forecast."""
        return self.predictor_.ahead[0] + 1

    def _coming(self, fh: Any, X: Any) -> tuple[list[dict[str, Any]], np.ndarray]:
        """What the model says of every series, and the steps that are asked for."""
        check_is_fitted(self, KEPT)
        last = self._first + self.predictor_.horizon - 1
        steps = np.arange(self._first, last + 1) if fh is None else steps_of(fh)
        if steps.min() < self._first or steps.max() > last:
            raise ConfigError(
                f"this model forecasts the steps {self._first} to {last}",
                got=f"fh={fh!r}",
                do=f"Fit it for more: Forecaster(horizon={max(1, int(steps.max()))})",
            )
        data = self.y_ if not self.known_ else lengthened(self.y_, X, self.known_)
        return self.predictor_.predict(data)["items"], steps

    def _framed(self, fh: Any, X: Any, asked: list[tuple[tuple[Any, ...], float]]) -> Any:
        """Quantiles as columns."""
        pandas = with_pandas()
        items, steps = self._coming(fh, X)
        columns = {}
        for name in items[0]["channels"]:
            for words, level in asked:
                cells = [quantile(item["channels"][name], level) for item in items]  # (S, H)
                found = np.array(cells)[:, steps - self._first].ravel()
                columns[(self.like_.title(name), *words)] = found
        index = self.like_.index(items, steps, self._first)
        found = pandas.DataFrame(dict(enumerate(columns.values())), index=index)
        found.columns = pandas.MultiIndex.from_tuples(list(columns))
        return found


# -- series
def steps_of(fh: Any) -> np.ndarray:
    """(h,) steps ahead, from 1 on."""
    steps = np.atleast_1d(np.asarray(fh))
    if steps.ndim != 1 or not len(steps) or steps.dtype.kind not in "iu" or steps.min() < 1:
        raise ConfigError("fh is a number of steps, or several", got=repr(fh), do="Write fh=[1, 2]")
    return steps


def quantile(channel: Mapping[str, Any], level: float) -> list[float]:
    """(H,) one of the quantiles that a forecast has."""
    found = {float(each): values for each, values in channel["quantiles"].items()}
    nearest = min(found, key=lambda each: abs(each - level))
    if abs(nearest - level) > 1e-9:
        raise ConfigError(
            "a forecast has quantiles in steps of 0.05, and 0.025 and 0.975",
            got=f"{level:g}",
            do=f"Ask for {nearest:g}",
        )
    return found[nearest]


def columns_in(thing: Any, word: str) -> dict[str, list[Any]]:
    """A table as columns: those of a frame, with an index that tells the time; those of an array."""
    found = at_hand(thing)
    if is_column(found):
        found = found.alias(str(found.name or word)).to_frame()
    if is_frame(found):
        found = with_index(found)
        return {str(name): found.get_column(name).to_list() for name in found.columns}
    if isinstance(found, Mapping):
        return {str(name): list(column) for name, column in found.items()}
    array = np.asarray(found, np.float64)
    if array.ndim == 1:
        return {word: array.tolist()}
    return {f"{word} {c + 1}": column.tolist() for c, column in enumerate(array.T)}


def joined(y: Any, X: Any) -> tuple[dict[str, list[Any]], list[str]]:
    """One table of both, and the columns that only X has."""
    table, known = columns_in(y, "y"), columns_in(X, "x")
    rows = [len(next(iter(each.values()))) for each in (table, known)]
    if rows[0] != rows[1]:
        raise DataError("X has a row for each of y", got=f"{rows[1]} and {rows[0]} rows")
    shared = [name for name in table if name in known]
    numbers = [name for name, cells in table.items() if isinstance(cells[0], (int, float))]
    if any(table[name] != known[name] for name in shared) or {*table} - {*shared, *numbers}:
        raise DataError(
            "X has the same times as y",
            got=f"the columns {', '.join(known)}",
            do="Give it y's index",
        )
    return table | known, [name for name in known if name not in shared]


def lengthened(
    table: Mapping[str, list[Any]], X: Any, known: Sequence[str]
) -> dict[str, list[Any]]:
    """The table, and behind it the steps to come, of which only X is known."""
    if X is None:
        raise DataError("this model was fitted with X", do="Give X of the steps to come")
    later = columns_in(X, "x")
    if not {*known} <= {*later}:
        gone, new = (
            ", ".join(name for name in some if name not in others)
            for some, others in ((known, later), (later, table))
        )
        raise DataError(
            f"X has no column {gone}, which it had in fit",
            got=", ".join(later),
            do=f"Give it; new {'are' if ',' in new else 'is'} {new}" if new else "Give it",
        )
    rows = len(next(iter(later.values())))
    return {name: [*cells, *later.get(name, [None] * rows)] for name, cells in table.items()}


def with_pandas() -> Any:
    """The library pandas, which is an extra."""
    if not find_spec("pandas"):
        raise ConfigError("pandas is not installed", do="pip install 'seriatim[frames]'")
    return import_module("pandas")


@dataclass(frozen=True)
class Like:
    """The form that y had, so that forecasts have it, too."""

    library: str = ""  # pandas, polars, or none: an array
    one: bool = False  # a column
    name: Any = None
    index_: Any = None  # of pandas, its last step

    @classmethod
    def of(cls, y: Any) -> Self:
        """The form of y."""
        found = at_hand(y)
        if not (is_column(found) or is_frame(found)):
            rows = isinstance(found, (np.ndarray, list, tuple)) and len(found)
            return cls(one=bool(rows) and np.ndim(found[0]) == 0)
        native = found.to_native()
        library = found.implementation.value
        name = found.name if is_column(found) else None
        index = native.index[-1:] if library == "pandas" else None
        return cls(library, is_column(found), name or None, index)

    def title(self, channel: str) -> Any:
        """What a column is called: 0 where y has no name, as sktime has it."""
        return (self.name or 0) if self.one else channel

    def form(
        self, values: np.ndarray, items: list[dict[str, Any]], steps: np.ndarray, first: int
    ) -> Any:
        """(S, h, C) forecasts as y was given."""
        names = [self.title(name) for name in items[0]["channels"]]
        if self.library == "pandas":
            index = self.index(items, steps, first)
            flat = values.reshape(-1, len(names))
            pandas = with_pandas()
            if self.one:
                return pandas.Series(flat[:, 0], index=index, name=self.name)
            return pandas.DataFrame(flat, index=index, columns=names)
        if self.library == "polars":
            flat = values.reshape(-1, len(names))
            if self.one:
                return polars.Series(str(self.name or ""), flat[:, 0])
            times = [item["time"][step - first] for item in items for step in steps]
            about = {"series": [item["series"] for item in items for _ in steps]}
            about = about if len(items) > 1 else {}
            return polars.DataFrame({**about, "time": moments(times), **dict(zip(names, flat.T))})
        if len(items) > 1:
            return values
        return values[0, :, 0] if self.one else values[0]

    def index(self, items: list[dict[str, Any]], steps: np.ndarray, first: int) -> Any:
        """The index of pandas: moments, periods or numbers behind the last of y; before them the
        names of series, if there are several."""
        pandas = with_pandas()
        if len(items) > 1:
            names = [item["series"] for item in items for _ in steps]
            whole = moments([item["time"][step - first] for item in items for step in steps])
            return pandas.MultiIndex.from_arrays([names, whole], names=["series", "time"])
        times = moments([items[0]["time"][step - first] for step in steps])
        last = self.index_
        if isinstance(last, pandas.PeriodIndex):
            return pandas.PeriodIndex(times, freq=last.freq, name=last.name)
        if isinstance(last, pandas.DatetimeIndex) and last.tz is not None:
            return pandas.DatetimeIndex(times, tz="UTC", name=last.name).tz_convert(last.tz)
        if last is not None and last.dtype.kind in "iu" and not isinstance(times[0], datetime):
            return pandas.Index(last[0] + steps, name=last.name)
        return pandas.Index(times, name=None if last is None else last.name)
