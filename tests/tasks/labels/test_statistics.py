"""Traits of sequences against a slow twin."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seriatim.tasks.labels.models.statistics import count_of, pieces_of, traits

numbers = st.lists(st.integers(-1000, 1000).map(lambda n: n / 8), min_size=1, max_size=20)


def twin(row: list[float]) -> list[float]:
    """One channel, sum by sum."""
    count, mean = len(row), sum(row) / len(row)
    variance = sum((x - mean) ** 2 for x in row) / count
    steps = [b - a for a, b in pairwise(row)]
    together = sum((a - mean) * (b - mean) for a, b in pairwise(row))
    fine = [x for x in row for _ in range(8)]  # every step in eight, so that a piece is whole
    return [
        mean,
        variance**0.5,
        min(row),
        max(row),
        row[-1] - row[0],
        sum(map(abs, steps)) / max(1, len(steps)),
        together / (variance * count) if variance > 1e-12 else 0.0,
        *(sum(fine[i * count : (i + 1) * count]) / count for i in range(8)),
        np.log(1 + count),
    ]


@given(numbers)
def test_traits_are_those_of_the_slow_twin(row):
    assert np.allclose(traits([np.array(row)[:, None]], 1)[0], twin(row), atol=1e-9)


@given(numbers, st.floats(-5, 5))
def test_channels_do_not_hear_each_other(row, shift):
    first = np.array(row)
    both = traits([np.stack([first, first[::-1] + shift], 1)], 2)[0]
    assert np.allclose(both[:-1:2], traits([first[:, None]], 1)[0][:-1]) and np.allclose(
        both[1:-1:2], traits([first[::-1, None] + shift], 1)[0][:-1]
    )


@given(numbers)
def test_pieces_have_the_mean_of_the_whole(row):
    assert pieces_of(np.array(row)[:, None]).mean() == pytest.approx(np.mean(row), abs=1e-9)


def test_nothing_at_all_has_traits_of_zero():
    assert not traits([np.zeros((0, 3))], 3).any() and traits([], 3).shape == (0, count_of(3))
