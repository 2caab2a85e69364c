"""Generated tunes: phrases that walk on the notes of a key, one of them heard again and again.

    tune = A A B A        A ends on the first note of the key, B on the fifth

The phrases are two to four bars long. A bar has one of a few rhythms, and from note to note the
melody stays or moves by one or two degrees of the scale. Tokens are those of
`seriatim.data.melodies`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from seriatim.data.corpora.sources import MOST_SEED, settings_of
from seriatim.data.formats.midi import written
from seriatim.data.sequences import Field, Sequences
from seriatim.settings import build, option

SCALES = {
    "major": (0, 2, 4, 5, 7, 9, 11),
    "minor": (0, 2, 3, 5, 7, 8, 10),
}  # half tones above the first note of the key


RHYTHMS = (
    (2, 2, 2, 2),
    (4, 2, 2),
    (2, 2, 4),
    (3, 1, 2, 2),
    (2, 1, 1, 2, 2),
    (1, 1, 1, 1, 2, 2),
    (4, 4),
)  # bars, in eighths


CLOSES = ((4, 4), (2, 2, 4), (8,))  # bars that end a phrase


BARS = (2, 3, 4)  # of a phrase: 8 to 16 of a tune


MOVES = {-2: 0.12, -1: 0.33, 0: 0.1, 1: 0.33, 2: 0.12}  # degrees of the scale, and how likely


LOWEST, HIGHEST = -3, 8  # degrees, from the first note of the key


MIDDLE = 60  # C4; keys lie above it


REST = 0.05  # how likely a note inside a phrase is left out


@dataclass(frozen=True)
class Tunes:
    """What can be set: "tunes:count=2000,seed=1"."""

    count: int = option(2000, "tunes", least=1, most=1_000_000)
    seed: int = option(0, "random numbers: keys, rhythms and notes", least=0, most=MOST_SEED)


def tunes(description: str = "tunes") -> Sequences:
    """Tunes in any key, major or minor, each a sequence of tokens."""
    options = build(Tunes, settings_of(description), where="tunes")
    rng = np.random.default_rng(options.seed)
    rows = [tune(rng) for _ in range(options.count)]
    return Sequences(
        {"tokens": Field.of_symbols(rows)}, by="line", unit="token", origin=description
    )


def tune(rng: np.random.Generator) -> list[str]:
    """One of them: A A B A."""
    scale, first, bars = (
        list(SCALES.values())[rng.integers(2)],
        MIDDLE + int(rng.integers(12)),
        int(rng.choice(BARS)),
    )
    a, b = (phrase(bars, close, rng) for close in (0, 4))
    return [
        written(None if degree is None else first + pitch(scale, degree), Fraction(eighths, 8))
        for degree, eighths in [*a, *a, *b, *a]
    ]


def pitch(scale: tuple[int, ...], degree: int) -> int:
    """Half tones above the first note of the key; degree 7 is the octave."""
    return 12 * (degree // 7) + scale[degree % 7]


def phrase(bars: int, close: int, rng: np.random.Generator) -> list[tuple[int | None, int]]:
    """Degrees, None for a rest, and durations in eighths; the last degree is `close`."""
    rhythm = [
        eighths for _ in range(bars - 1) for eighths in RHYTHMS[rng.integers(len(RHYTHMS))]
    ] + list(CLOSES[rng.integers(len(CLOSES))])
    moves = rng.choice(list(MOVES), len(rhythm), p=list(MOVES.values())).tolist()
    degree = int(rng.choice((0, 2, 4)))
    notes: list[tuple[int | None, int]] = []
    for eighths, move in zip(rhythm, moves):
        notes.append((None if notes and rng.random() < REST else degree, eighths))
        degree = min(max(degree + move, LOWEST), HIGHEST)
    return [*notes[:-1], (close, rhythm[-1])]
