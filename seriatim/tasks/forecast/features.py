"""Features of the past, for classic learning: none sees the present or the future.

    lag k       y_{t-k}
    last n      mean, deviation, least and largest of y_{t-n} .. y_{t-1}
    whole       the same of all that came before

    X, y, names = feature_table(values, lags=12, windows=(3, 12), whole=True)           # for any regressor of scikit-learn
    Ridge().fit(X[:900], y[:900]).score(X[900:], y[900:])

Shapes: N times, P past values, F features, B rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from seriatim.errors import DataError


def past_features(past: np.ndarray, windows: Sequence[int]) -> np.ndarray:
    """(B, P) values, oldest first -> (B, 4 W): mean, deviation, least and largest of the last so
    many, for each window."""
    parts = []
    for many in windows:
        last = past[:, -many:]
        parts += [last.mean(1), last.std(1), last.min(1), last.max(1)]
    return np.stack(parts, 1) if parts else np.zeros((len(past), 0))


def feature_table(
    values: np.ndarray,
    lags: int = 12,
    windows: Sequence[int] = (),
    whole: bool = False,
    known: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """(N,) values -> (N - lags, F) features of what came before each, (N - lags,) the values, and
    the names of the features.

    `known` (N, K) are inputs known in advance, the calendar for instance; they are those of the
    present.

    >>> X, y, names = feature_table(np.arange(6.0), lags=2, windows=(2,))
    >>> X[0].tolist(), float(y[0]), names
    ([1.0, 0.0, 0.5, 0.5, 0.0, 1.0], 2.0, ['lag 1', 'lag 2', 'mean of 2', 'deviation of 2', 'least of 2', 'largest of 2'])
    """
    values = np.asarray(values, np.float64)
    reach = max([lags, *windows])
    if values.ndim != 1 or len(values) <= reach:
        raise DataError(
            "there is too little to look back on",
            got=f"{values.shape} values, {reach} steps back",
            do="Give one longer series",
        )
    past = sliding_window_view(values, reach)[:-1]  # (N - reach, reach), none of them the present
    parts, names = [past[:, ::-1][:, :lags]], [f"lag {k}" for k in range(1, lags + 1)]
    parts.append(past_features(past, windows))
    names += [
        f"{what} of {many}"
        for many in windows
        for what in ("mean", "deviation", "least", "largest")
    ]
    if whole:
        count = np.arange(1, len(values) + 1)
        mean = np.cumsum(values) / count
        deviation = np.sqrt(np.maximum(0, np.cumsum(values**2) / count - mean**2))
        so_far = np.stack(
            [mean, deviation, np.minimum.accumulate(values), np.maximum.accumulate(values)], 1
        )
        parts.append(so_far[reach - 1 : -1])
        names += [f"{what} so far" for what in ("mean", "deviation", "least", "largest")]
    if known is not None:
        parts.append(np.asarray(known, np.float64)[reach:])
        names += [f"known {k + 1}" for k in range(parts[-1].shape[1])]
    return np.concatenate(parts, 1), values[reach:], names
