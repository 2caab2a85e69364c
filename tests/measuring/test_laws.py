"""A law of diminishing returns: found again where it is true, sure as often as it says, and refused where
there is none."""

from __future__ import annotations

import numpy as np
import pytest

from seriatim.errors import DataError
from seriatim.measuring import laws
from seriatim.measuring.laws import crossing, errors_of, fitted, last_slope, last_value, refused

SIZES = [1000 * 2**i for i in range(6)]
EXACT = [1e-6] * 6


def law_of(a, b, c):
    return lambda n: a + b * n**-c


def test_a_known_law_is_found_again(monkeypatch):
    monkeypatch.setattr(laws, "MISFIT", 0.0)
    for a, b, c in ((1.5, 20.0, 0.4), (0.0, 9.0, 0.2), (0.08, 30.0, 0.8)):
        true = law_of(a, b, c)
        law = fitted(SIZES, [true(n) for n in SIZES], EXACT)
        far = law.predicted(10 * SIZES[-1])
        gained = true(SIZES[-1]) - true(10 * SIZES[-1])
        assert far.value == pytest.approx(true(10 * SIZES[-1]), abs=0.1 * gained)
        assert law.parameters[0, 2] == pytest.approx(c, rel=0.12)  # the grid is this coarse


def test_the_slow_twin_finds_the_same_parameters():
    """One row and one exponent at a time, by the solver for non-negative least squares."""
    from scipy.optimize import nnls

    generator = np.random.default_rng(3)
    sizes = np.array(SIZES) / SIZES[-1]
    errors = generator.uniform(0.01, 0.1, 6)
    points = 1.2 + 0.4 * sizes**-0.5 + errors * generator.standard_normal((6, 6))
    points[3:] = 0.3 * sizes**-0.5 + 0.1 * errors * generator.standard_normal((3, 6))
    found = laws.least_squares(sizes, points, errors, 0.0)
    for row, (a, b, c) in zip(points, found):
        left = (a + b * sizes**-c - row) / errors
        least = min(
            nnls(np.stack([1 / errors, sizes**-each / errors], 1), row / errors)[1]
            for each in laws.EXPONENTS
        )
        assert np.sqrt((left**2).sum()) == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize(("misfit", "doubt"), [(0.0, 0.0), (laws.MISFIT, laws.DOUBT)])
def test_intervals_hold_as_often_as_they_say(misfit, doubt, monkeypatch):
    """Of points around a law that is true, and where what comes is off by as much as is doubted."""
    monkeypatch.setattr(laws, "MISFIT", misfit)
    monkeypatch.setattr(laws, "DOUBT", doubt)
    generator, held = np.random.default_rng(0), []
    sizes, size = np.array(SIZES), 4 * SIZES[-1]
    for _ in range(120):
        a, c = generator.uniform(0.5, 2.0), generator.uniform(0.2, 0.7)
        law = law_of(a, generator.uniform(0.5, 2.0) * SIZES[0] ** c, c)
        exact = law(sizes)
        last = doubt * (exact[-1] - law(size)) * generator.standard_normal()
        spread = 0.04 * (exact[0] - exact[-1]) * np.sqrt(SIZES[0])  # of a fit to one element
        subsets = [
            value + spread / np.sqrt(n) * generator.standard_normal(count)
            for n, value, count in zip(SIZES, exact, (4, 3, 2, 1, 1, 1))
        ]
        values, errors = [each.mean() for each in subsets], errors_of(SIZES, subsets)
        if refused(SIZES, values, errors):
            continue
        measured = law(size) + last + spread / np.sqrt(size) * generator.standard_normal()
        told = fitted(SIZES, values, errors).predicted(size)
        held.append(told.low <= measured <= told.high)
    assert len(held) > 100 and 0.7 <= np.mean(held) <= 0.9


@pytest.mark.parametrize(
    ("values", "errors", "words"),
    [
        ([3.0, 2.5, 2.2], [0.01] * 3, "3 sizes measured, 4 are needed"),
        ([3.0, 2.5, 2.7, 2.2, 2.1], [0.01] * 5, "it is worse with 4,000 than with 2,000"),
        ([3.0, 2.5, np.inf, 2.2], [0.01] * 4, "infinite"),
    ],
)
def test_what_is_no_law_is_refused_in_words(values, errors, words):
    sizes = SIZES[: len(values)]
    assert words in refused(sizes, values, errors)
    with pytest.raises(DataError, match="no law of diminishing returns"):
        fitted(sizes, values, errors)


def test_a_rise_that_errors_allow_is_none():
    assert not refused(SIZES[:4], [3.0, 2.5, 2.52, 2.2], [0.02] * 4)
    assert not refused(SIZES[:4], [3.0] * 4, [0.0] * 4)


def test_what_is_flat_stays_flat():
    law = fitted(SIZES, [4.858] * 6, [0.0] * 6)
    far = law.predicted(10 * SIZES[-1])
    assert far.value == pytest.approx(4.858, abs=1e-4)
    assert far.high - far.low < 1e-3


def test_accuracies_have_a_floor_of_minus_one():
    true = law_of(-0.99, 4.0, 0.5)
    law = fitted(SIZES, [true(n) for n in SIZES], [1e-4] * 6, least=-1.0)
    assert law.predicted(10 * SIZES[-1]).value >= -1
    assert law.predicted(1e9).value == pytest.approx(-0.99, abs=0.01)


def test_two_known_laws_cross_where_they_do():
    simple, rich = law_of(2.0, 10.0, 0.4), law_of(1.2, 60.0, 0.4)
    where = (50 / 0.8) ** 2.5  # behind the sizes that were measured, about 31,000
    first, second = (
        fitted(SIZES[:5], [f(n) for n in SIZES[:5]], EXACT[:5]) for f in (simple, rich)
    )
    found = crossing(first, second, 10 * SIZES[4])
    assert found is not None and found.low < where < found.high
    assert found.at == pytest.approx(where, rel=0.1) and found.sure > 0.8
    assert crossing(second, first, 10 * SIZES[4]) is None  # the other way round there is none
    assert crossing(first, second, 1.2 * SIZES[4]) is None  # not so early


def test_a_crossing_between_sizes_is_where_the_lines_meet():
    first = fitted(SIZES, [3.0] * 6, [0.001] * 6)
    second = fitted(SIZES, [3.4, 3.2, 2.8, 2.6, 2.5, 2.45], [0.001] * 6)
    found = crossing(first, second, 10 * SIZES[-1])
    assert found is not None and found.sure == 1.0
    assert found.at == pytest.approx(np.sqrt(SIZES[1] * SIZES[2]), rel=0.1)


def test_chance_in_the_test_makes_a_crossing_less_sure():
    first = fitted(SIZES, [3.0] * 6, [0.001] * 6)
    second = fitted(SIZES, [3.4, 3.2, 3.1, 3.05, 3.01, 2.98], [0.001] * 6)
    far = 2 * SIZES[-1]
    sure = crossing(first, second, far)
    apart = 0.1 * np.random.default_rng(0).standard_normal(1000)
    less = crossing(first, second, far, apart)
    assert sure is not None and less is not None and less.sure < sure.sure - 0.1


def test_errors_of_single_fits_come_from_the_sizes_with_several():
    errors = errors_of([100, 400], [[1.0, 3.0], [2.0]])
    assert errors[0] == pytest.approx(1.0)  # variance 2, two of them
    assert errors[1] == pytest.approx(np.sqrt(2 / 4))


def test_the_rivals_are_what_they_are_called():
    sizes, values = [100, 200], [3.0, 2.8]
    assert last_value(sizes, values).predicted(800).value == 2.8
    told = last_slope(sizes, values, width=2.0).predicted(800)
    assert told.value == pytest.approx(2.4)
    assert told.high - told.value == pytest.approx(0.4)
