"""Generated series: no forecast can beat their best error, and the true conditional mean reaches it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from seriatim.data import read
from seriatim.data.corpora.signals import (
    SIGNALS,
    Autoregressive,
    LinearTrend,
    Oscillator,
    RandomWalk,
    Seasonal,
    Signal,
    parse_signal,
)
from seriatim.data.steps import season_of, step_of
from seriatim.errors import ConfigError

H = 12  # steps ahead


def best_forecasts(signal: Signal, values: np.ndarray) -> np.ndarray:
    """The conditional mean of what comes 1 .. H steps after each time, given the times up to it: (T, H, D)."""
    if isinstance(signal, Seasonal):
        ahead = np.arange(len(values))[:, None] + np.arange(1, H + 1)
        return signal.pattern[ahead % signal.period][:, :, None]
    past = [np.roll(values, lag, 0) for lag in range(len(signal.transition) // signal.channels)]
    state, forecasts = np.concatenate(past, 1), []  # (T, S)
    for _ in range(H):
        state = state @ signal.transition.T
        forecasts.append(state[:, : signal.channels])
    return np.stack(forecasts, 1)


@pytest.mark.parametrize(
    "signal",
    [
        Seasonal(length=40_000),
        Seasonal(length=40_000, period=7, noise=2.0, seed=3),
        Autoregressive(length=40_000),
        Autoregressive(length=40_000, order=1, seed=2),
        Autoregressive(length=40_000, order=5, noise=0.1, seed=4),
        RandomWalk(length=40_000, noise=3.0),
        Oscillator(length=40_000),
        Oscillator(length=40_000, noise=2.0, period=7.5, damping=0.9),
    ],
    ids=str,
)
def test_the_conditional_mean_has_the_best_error_and_the_last_value_no_better_one(signal):
    values = signal.sample(np.random.default_rng(5)).main.row(0)  # (T, D)
    origins = np.arange(20, len(values) - H)
    truth = values[origins[:, None] + np.arange(1, H + 1)]  # (O, H, D)
    reached = np.sqrt(((best_forecasts(signal, values)[origins] - truth) ** 2).mean(0))
    np.testing.assert_allclose(reached, signal.best_error(H), rtol=0.04)
    assert (
        np.sqrt(((values[origins][:, None] - truth) ** 2).mean(0)) > 0.96 * signal.best_error(H)
    ).all()


@given(weight=some.floats(-0.99, 0.99), noise=some.floats(0.1, 10), horizon=some.integers(1, 40))
def test_an_autoregression_of_order_one_has_the_error_of_the_textbook(weight, noise, horizon):
    class First(LinearTrend):
        transition = np.array([[weight]])

    First.noise = noise
    expected = [
        noise * np.sqrt(sum(weight ** (2 * j) for j in range(h))) for h in range(1, horizon + 1)
    ]
    np.testing.assert_allclose(First().best_error(horizon)[:, 0], expected, rtol=1e-9)
    np.testing.assert_allclose(First().stationary, noise**2 / (1 - weight**2))


@given(horizon=some.integers(1, 50))
def test_the_error_of_a_random_walk_grows_as_the_root_of_time(horizon):
    np.testing.assert_allclose(
        RandomWalk(noise=2.0).best_error(horizon)[:, 0], 2 * np.sqrt(np.arange(1, horizon + 1))
    )


@settings(max_examples=30)
@given(order=some.integers(1, 16), seed=some.integers(0, 100))
def test_every_autoregression_is_stationary(order, seed):
    signal = Autoregressive(order=order, seed=seed)
    assert np.abs(np.linalg.eigvals(signal.transition)).max() < 1
    np.testing.assert_allclose(
        signal.transition @ signal.stationary @ signal.transition.T + signal.covariance,
        signal.stationary,
        rtol=1e-6,
        atol=1e-6,
    )


@pytest.mark.parametrize(
    "signal", [Autoregressive(length=3, order=3), Oscillator(length=2)], ids=str
)
def test_the_beginning_is_as_spread_as_what_follows(signal):
    begins = np.array(
        [signal.sample(np.random.default_rng(seed)).main.row(0)[:2] for seed in range(2000)]
    )  # (2000, 2, D)
    spread = np.sqrt(np.diag(signal.stationary)[: signal.channels])
    np.testing.assert_allclose(begins.std(0), [spread, spread], rtol=0.06)


@pytest.mark.parametrize("period", [2, 7, 24, 96, 1440])
def test_the_season_of_a_seasonal_signal_is_its_period(period):
    data = read(f"seasonal:period={period},length=4000")
    assert season_of(step_of(data.field("time").row(0))) == period
    assert abs(Seasonal(period=period).pattern.std() - 1) < 1e-9


@pytest.mark.parametrize("name", SIGNALS)
def test_a_signal_is_read_by_its_name_always_the_same_and_cut_in_order(name):
    data, same, other = (
        read(f"{name}:length=100,seed=1"),
        read(f"{name}:length=100,seed=1"),
        read(f"{name}:length=100,seed=1,draw=2"),
    )
    assert (data.by, data.unit, data.is_series, data.main is data.field("values")) == (
        "stream",
        None,
        True,
        True,
    )
    assert (data.main.values == same.main.values).all() and not (
        data.main.values == other.main.values
    ).any()
    assert data.main.names == (
        ("value1", "value2") if name == "oscillator" else ("value",)
    ) and data.main.row(0).shape == (100, len(data.main.names))
    first, second = data.split(0.75, 0.25)
    for field in ("values", "time"):
        assert np.array_equal(
            np.concatenate([first.field(field).row(0), second.field(field).row(0)]),
            data.field(field).row(0),
        )
    assert (
        len(second.main.flat) == 25
        and second.part(5, 10).field("time").row(0).tolist()
        == data.field("time").values[80:85].tolist()
    )


def test_wrong_settings_are_refused():
    for description, words in (
        ("seasonal:periods=3", "Did you mean 'period'"),
        ("oscillator:damping=1", "at most"),
        ("random-walk:noise=-1", "at least 0"),
    ):
        with pytest.raises(ConfigError, match=words):
            parse_signal(description)
    with pytest.raises(ConfigError, match="no lines"):
        read("random-walk", by="line")
