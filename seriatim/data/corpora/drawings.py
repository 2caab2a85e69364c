"""Generated drawings: a dozen shapes, each time with another size, tilt and starting point, by an
unsteady hand.

    positions = size (shape turned by the tilt + noise)

A field `strokes` of rows (dx, dy, lifted), see `seriatim.data.strokes`, and the name of the shape as `label`.
Shapes: K points of one stroke.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seriatim.data.corpora.sources import MOST_SEED, settings_of
from seriatim.data.formats.strokes import drawing_of
from seriatim.data.sequences import Field, Sequences
from seriatim.settings import build, option

SIZES = (0.5, 1.0)  # of a drawing, from its middle


TILT = 0.4  # radians at most, to either side


def turns(points: int, many: float = 1) -> np.ndarray:
    """Angles from the top around and back, as often as this: (points,)."""
    return np.linspace(0, 2 * np.pi * many, points) - np.pi / 2


def polar(angle: np.ndarray, radius: float | np.ndarray) -> np.ndarray:
    """(K,) angles and distances from the middle -> (K, 2) positions."""
    return np.column_stack([np.cos(angle) * radius, np.sin(angle) * radius])


def heart(angle: np.ndarray) -> np.ndarray:
    """x = 16 sin^3 t, y = 13 cos t - 5 cos 2t - 2 cos 3t - cos 4t, made as small as the others."""
    up = 13 * np.cos(angle) - 5 * np.cos(2 * angle) - 2 * np.cos(3 * angle) - np.cos(4 * angle)
    return np.column_stack([16 * np.sin(angle) ** 3, -up]) / 17


SHAPES: dict[
    str, Sequence[np.ndarray | list[tuple[float, float]]]
] = {  # strokes of positions; y grows downwards
    "spiral": [polar(turns(28, 2.5), np.linspace(0.1, 1, 28))],
    "star": [polar(turns(11), np.array([1, 0.4] * 5 + [1]))],
    "house": [
        [(-0.7, 0), (-0.7, 0.9), (0.7, 0.9), (0.7, 0), (-0.7, 0)],
        [(-0.9, 0), (0, -0.9), (0.9, 0)],
        [(-0.2, 0.9), (-0.2, 0.4), (0.2, 0.4), (0.2, 0.9)],
    ],
    "wave": [
        np.column_stack([np.linspace(-1, 1, 25), 0.35 * np.sin(np.linspace(0, 4 * np.pi, 25))])
    ],
    "circle": [polar(turns(21), 1.0)],
    "square": [[(-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8), (-0.8, -0.8)]],
    "triangle": [polar(turns(4), 1.0)],
    "zigzag": [[(-1, 0.3), (-0.6, -0.3), (-0.2, 0.3), (0.2, -0.3), (0.6, 0.3), (1, -0.3)]],
    "heart": [heart(np.linspace(0, 2 * np.pi, 25))],
    "arrow": [[(-1, 0), (1, 0)], [(0.5, -0.4), (1, 0), (0.5, 0.4)]],
    "cross": [[(-0.8, -0.8), (0.8, 0.8)], [(0.8, -0.8), (-0.8, 0.8)]],
    "flower": [polar(turns(41), 0.7 + 0.3 * np.cos(5 * turns(41))), polar(turns(9), 0.2)],
}


@dataclass(frozen=True)
class Drawings:
    """What can be set: "drawings:count=3000,noise=0.02,seed=1"."""

    count: int = option(3000, "drawings", least=1, most=1_000_000)
    noise: float = option(
        0.02, "how far the hand strays at each point, as a share of the size", least=0, most=1
    )
    seed: int = option(
        0, "random numbers: which shapes, and how each is drawn", least=0, most=MOST_SEED
    )


def drawings(description: str = "drawings") -> Sequences:
    """Drawings of the shapes, each as likely as the others."""
    options = build(Drawings, settings_of(description), where="drawings")
    rng = np.random.default_rng(options.seed)
    names = [list(SHAPES)[i] for i in rng.integers(len(SHAPES), size=options.count)]
    rows = [drawn(SHAPES[name], options.noise, rng) for name in names]
    return Sequences(
        {"strokes": Field.of_numbers(rows), "label": Field.of_labels(names)}, origin=description
    )


def drawn(
    shape: Sequence[np.ndarray | list[tuple[float, float]]], noise: float, rng: np.random.Generator
) -> np.ndarray:
    """A shape drawn once: (T, 3)."""
    size, tilt = rng.uniform(*SIZES), rng.uniform(-TILT, TILT)
    turn = np.array([[np.cos(tilt), np.sin(tilt)], [-np.sin(tilt), np.cos(tilt)]])
    strokes = [begun(np.array(stroke, np.float64), rng) for stroke in shape]
    return drawing_of(
        [size * (stroke @ turn + noise * rng.standard_normal(stroke.shape)) for stroke in strokes]
    )


def begun(stroke: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A stroke from any of its points if it ends where it began, else from either end: (K, 2)."""
    if np.allclose(stroke[0], stroke[-1]):
        around = np.roll(stroke[:-1], rng.integers(len(stroke) - 1), axis=0)
        stroke = np.concatenate([around, around[:1]])
    return stroke[::-1] if rng.integers(2) else stroke
