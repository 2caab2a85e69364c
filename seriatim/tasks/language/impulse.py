"""What a push leaves in a recurrence, step by step: the three cases of the spectral radius.

    h_t = g(U h_{t-1} + x_t),   h'_t the same with x_0 pushed by e, |e| = 1:   |h'_t - h_t|

g is nothing (linear) or tanh, x_t and the entries of U are normal, and U is scaled so that its
largest absolute eigenvalue, the spectral radius, is R. Linear, the difference is U^t e, whatever
the inputs are: sooner or later it goes like R^t, so that it vanishes below 1, stays at 1 and
explodes above. It need not keep to R^t from the first step on, since U is not symmetric. With
inputs of full size tanh is flat in places, the push is damped at each of them, and what is kept for
long needs a radius well above 1. `--initial orthogonal`, which networks here begin with, is the case
in which |U e| is exactly |e|. Shapes: T steps, D width.
"""

from __future__ import annotations

import math

import numpy as np
from rich.console import Group
from rich.table import Table
from rich.text import Text

from seriatim.errors import ConfigError
from seriatim.records import Record, finite, record
from seriatim.tasks.language import TASK

MOST_RADII = 8


def radii_of(words: str) -> list[float]:
    """The radii that are asked for.

    >>> radii_of("0.9, 1,1.1")
    [0.9, 1.0, 1.1]
    """
    try:
        found = [float(word) for word in str(words).split(",")]
    except ValueError:
        found = []
    sound = all(math.isfinite(each) and 0 < each <= 100 for each in found)
    if not found or not sound or len(found) > MOST_RADII or len(set(found)) < len(found):
        raise ConfigError(
            f"radii are up to {MOST_RADII} different numbers above 0, 100 at most",
            got=repr(words),
            do="Write for instance --radius 0.9,1,1.1",
        )
    return found


def impulse(
    *,
    radius: str = "0.9,1,1.1",
    width: int = 64,
    steps: int = 60,
    activation: str = "linear",
    seed: int = 0,
) -> Record:
    """The verb: the norm of the difference after 0 to `steps` steps, for each radius. The matrix, the
    inputs and the push are the same for all, but for the scale of the matrix."""
    dice = np.random.default_rng(seed)
    matrix = dice.standard_normal((width, width))  # (D, D)
    matrix /= np.abs(np.linalg.eigvals(matrix)).max()
    push = dice.standard_normal(width)
    push /= np.linalg.norm(push)
    inputs = dice.standard_normal((steps + 1, width))  # (T, D)
    items = []
    for each in radii_of(radius):
        norms = differences(each * matrix, inputs, push, activation)
        items.append(
            {
                "radius": each,
                "norms": [finite(value) for value in norms],
                "powers": [finite(power(each, t)) for t in range(steps + 1)]
                if activation == "linear"
                else None,
                "factor": factor_of(norms),
            }
        )
    asked = {"activation": activation, "width": width, "steps": steps, "seed": seed}
    return record("impulse", task=TASK.name, **asked, items=items, notes=[])


def differences(
    matrix: np.ndarray, inputs: np.ndarray, push: np.ndarray, activation: str
) -> list[float]:
    """|h'_t - h_t| for t from 0 on; linear, the inputs cancel each other."""
    if activation == "linear":
        apart, found = push, []
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in inputs:
                found.append(float(np.linalg.norm(apart)))
                apart = matrix @ apart
        return found
    state, pushed, found = np.zeros(len(push)), np.zeros(len(push)), []
    for t, x in enumerate(inputs):
        pushed = np.tanh(matrix @ pushed + x + (push if t == 0 else 0.0))
        state = np.tanh(matrix @ state + x)
        found.append(float(np.linalg.norm(pushed - state)))
    return found


def power(radius: float, t: int) -> float:
    """radius^t, infinite where that is too large."""
    try:
        return radius**t
    except OverflowError:
        return math.inf


def factor_of(norms: list[float]) -> float | None:
    """By what a step changes it in the second half, in the geometric mean; None where nothing is left
    to be told, or too much."""
    half = len(norms) // 2
    begin, end = norms[half], norms[-1]
    if not (0 < begin < math.inf and 0 < end < math.inf) or len(norms) - 1 == half:
        return None
    return (end / begin) ** (1 / (len(norms) - 1 - half))


def table(found: Record) -> Group:
    """A row for each radius: what is left after 0, 1, 2, 4, ... steps."""
    steps = found["steps"]
    shown = [0, *(2**i for i in range(steps.bit_length()) if 2**i <= steps)]
    shown += [steps] * (shown[-1] != steps)
    grid = Table(header_style="bold", box=None, pad_edge=False)
    for name in ("radius", *map(str, shown), "a step"):
        grid.add_column(name, justify="right")
    for each in found["items"]:
        norms = [each["norms"][t] for t in shown]
        told = ["inf" if norm is None else f"{norm:.2g}" for norm in norms]
        factor = "" if each["factor"] is None else f"×{each['factor']:.3f}"
        grid.add_row(f"{each['radius']:g}", *told, factor)
    about = (
        f"{found['activation']}, width {found['width']}: norm of what a push of 1 leaves in the state "
        "so many steps later"
    )
    return Group(Text(about, style="dim"), grid)
