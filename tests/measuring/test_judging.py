"""Better, equivalent, undecided; and the set of models that may be best, held against `arch`."""

import numpy as np
import pytest

from seriatim.measuring.judging import judged, may_be_best, over_seeds
from seriatim.measuring.resampling import drawn_together


def losses(means, correlation=0.9, items=400, seed=0) -> np.ndarray:
    """(M, N) losses of models that find the same items hard."""
    generator = np.random.default_rng(seed)
    common = generator.normal(size=items)
    own = generator.normal(size=(len(means), items))
    mixed = correlation**0.5 * common + (1 - correlation) ** 0.5 * own
    return np.array(means)[:, None] + mixed


def words(values, winner=0, margin=0.01):
    draws = drawn_together(list(values), np.arange(values.shape[1]))
    found = judged(draws, values.mean(1), winner, margin)
    return [None if each is None else each["word"] for each in found]


def test_three_words_for_a_difference():
    steady = losses([10.0, 10.0, 10.5, 10.0], items=2000, correlation=0.999)
    steady[1] = steady[0] + 1e-6  # surely different, and it does not matter
    wide = losses([10.0, 10.2], correlation=0.0, items=50)
    assert words(steady)[:3] == [None, "equivalent", "better"]
    assert words(wide) == [None, "undecided"]
    assert words(steady, winner=2)[0] == "worse"  # the test may disagree with the choice
    assert words(steady, margin=0.0)[1] == "better"  # with no margin every difference matters
    assert words(np.stack([steady[0], steady[0]])) == [None, "equivalent"]


def test_a_model_without_a_figure_gets_no_word():
    draws = np.array([[1.0, 1.1, 0.9], [np.inf] * 3])
    assert judged(draws, np.array([1.0, np.inf]), 0, 0.01) == [None, None]
    assert may_be_best(draws, np.array([1.0, np.inf])).tolist() == [True, False]


def test_better_is_seldom_said_of_equals():
    """At most one comparison in twenty says it of any of nine equal rivals."""
    equals = (losses([10.0] * 10, seed=seed, items=80) for seed in range(60))
    assert sum("better" in words(each, margin=0.0) for each in equals) <= 7


def test_the_confidence_set_is_that_of_arch():
    arch = pytest.importorskip("arch.bootstrap")
    agreed = 0
    for seed in range(12):
        values = losses(np.linspace(10, 10.4, 6), seed=seed, items=300)
        draws = drawn_together(list(values), np.arange(300))
        ours = set(np.flatnonzero(may_be_best(draws, values.mean(1))))
        peer = arch.MCS(
            values.T, size=0.1, reps=1000, block_size=1, method="R", bootstrap="circular", seed=1
        )
        peer.compute()
        theirs = set(peer.included)
        assert 0 in ours and (ours <= theirs or theirs <= ours)
        agreed += ours == theirs
    assert agreed >= 9  # the rest by a draw


def test_seeds_widen_what_a_test_alone_says():
    draws = np.random.default_rng(0).normal([[1.0], [1.2], [0.9]], 0.01, (3, 1000))
    values = np.array([1.0, 1.2, 0.9])
    together = over_seeds(draws, values)
    assert together.mean() == pytest.approx(values.mean(), abs=0.02)
    assert together.std() > 5 * draws[0].std()
    assert over_seeds(draws[:1], values[:1]) is not None and np.array_equal(
        over_seeds(draws[:1], values[:1]), draws[0]
    )
