"""Found values against the true ones."""

from __future__ import annotations

import math

import numpy as np

from seriatim.measuring.measured import Measured, check_paired
from seriatim.measuring.resampling import (
    Record,
    interval,
    paired_bootstrap,
    side_by_side,
    sums_between,
)

WITHOUT_UNIT = ("r_squared", "skill", "nats_per_value", "coverage")
WITHIN = 1.2815515655446004  # 80 % of a normal distribution lie within so many standard deviations


def value_report(
    truth: np.ndarray, mean: np.ndarray, deviation: np.ndarray, floor: float, within: float
) -> Record:
    """Every figure of (N,) normal distributions against (N,) true values; `skill` is against always
    saying `floor`, `coverage` the share of the truth no more than so many deviations (`within`)
    from the mean. What all values being equal leaves undefined is None.

    >>> figures = value_report(np.array([1.0, 3.0]), np.array([1.0, 2.0]), np.ones(2), 1.5, 1.28)
    >>> figures["mae"], figures["r_squared"], figures["skill"], figures["coverage"]
    (0.5, 0.5, 0.5, 1.0)
    """
    truth, mean, deviation = (
        column.astype(np.float64) for column in side_by_side(truth, mean, deviation)
    )
    absolute, z = np.abs(truth - mean), (truth - mean) / deviation  # (N,) both
    simple, spread = float(np.abs(truth - floor).mean()), float(((truth - truth.mean()) ** 2).sum())
    nats = z**2 / 2 + np.log(deviation) + math.log(2 * math.pi) / 2
    bounds = list(interval(sums_between(absolute, np.arange(len(truth)))))
    return {
        "mae": float(absolute.mean()),
        "rmse": math.sqrt(float((absolute**2).mean())),
        "interval": {"confidence": 0.95, "mae": bounds},
        "r_squared": 1 - float((absolute**2).sum()) / spread if spread else None,
        "skill": 1 - float(absolute.mean()) / simple if simple else None,
        "floor_mae": simple,
        "nats_per_value": float(nats.mean()),
        "coverage": float((np.abs(z) <= within).mean()),
        "width": 2 * within * float(deviation.mean()),
    }


def vector_report(
    truth: np.ndarray,
    mean: np.ndarray,
    deviation: np.ndarray,
    floor: np.ndarray,
    scale: np.ndarray,
    within: float,
) -> Record:
    """Every figure of (N, K) normal distributions against (N, K) true values, output by output;
    `scaled_mae` is the mean over outputs of MAE / (K,) scale. What has a unit is told of each output
    alone, None of all together.

    >>> truth, mean = np.array([[1.0, 10.0], [3.0, 30.0]]), np.array([[1.0, 20.0], [2.0, 30.0]])
    >>> figures = vector_report(truth, mean, np.ones((2, 2)), np.zeros(2), np.array([1.0, 10.0]), 1.28)
    >>> figures["scaled_mae"], [each["mae"] for each in figures["by_output"]], figures["mae"]
    (0.5, [0.5, 5.0], None)
    """
    columns = zip(truth.T, mean.T, deviation.T, floor.tolist(), strict=True)
    each = [value_report(*column, within) for column in columns]
    loss = scaled_errors(truth, mean, scale)
    together = {name: mean_of([one[name] for one in each]) for name in WITHOUT_UNIT}
    bounds = list(interval(sums_between(loss, np.arange(len(loss)))))
    return {
        "scaled_mae": float(loss.mean()),
        "interval": {"confidence": 0.95, "scaled_mae": bounds},
        **dict.fromkeys(("mae", "rmse", "floor_mae", "width")),
        **together,
        "by_output": [{"output": k + 1, **one} for k, one in enumerate(each)],
    }


def scaled_errors(truth: np.ndarray, mean: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """(N, K), (N, K) and (K,) -> (N,) the mean over outputs of absolute errors, each in units of its
    scale."""
    return (np.abs(mean - truth) / scale).mean(1)


def mean_of(figures: list[float | None]) -> float | None:
    """The mean; None if one is undefined."""
    known = [each for each in figures if each is not None]
    return sum(known) / len(known) if len(known) == len(figures) else None


def pairs_of_outputs(
    truth: np.ndarray, mean: np.ndarray, deviation: np.ndarray, floor: np.ndarray, scale: np.ndarray
) -> list[Record]:
    """The pairs of every output, of (N, K) each, in units of its scale from its floor."""
    several = ((truth - floor) / scale, (mean - floor) / scale, deviation / scale)
    most = 1000 // truth.shape[1]
    return [
        pair | {"output": k + 1}
        for k, columns in enumerate(zip(*(each.T for each in several), strict=True))
        for pair in pairs(columns[0], columns[1], columns[2], max(1, most))
    ]


def pairs(
    truth: np.ndarray, mean: np.ndarray, deviation: np.ndarray, most: int = 1000
) -> list[Record]:
    """(N,) true values, each beside what was found; of many, `most` evenly spread over the data.

    >>> pairs(np.array([1.0, 3.0]), np.array([1.5, 2.0]), np.ones(2), most=1)
    [{'truth': 1.0, 'value': 1.5, 'deviation': 1.0}]
    """
    some = np.linspace(0, len(truth) - 1, min(most, len(truth))).round().astype(int)
    columns = (each[some].tolist() for each in (truth, mean, deviation))
    return [dict(zip(("truth", "value", "deviation"), each)) for each in zip(*columns)]


def p_of_difference(first: Measured, second: Measured) -> float:
    """How probable so large a difference of absolute errors is by chance: a bootstrap over
    sequences."""
    check_paired(first, second)
    return paired_bootstrap(first.loss, second.loss)["p"]
