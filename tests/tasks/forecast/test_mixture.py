"""Forecasts of several models together, and winners that are chosen before the test."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import seriatim as st
from seriatim.codecs.options import CodecOptions
from seriatim.errors import ConfigError
from seriatim.tasks.forecast.codec import SeriesCodec, of_windows
from seriatim.tasks.forecast.models.mixture import MeanOfForecasts, latest
from tests import forecasters


def waves(length: int = 200, seed: int = 0) -> np.ndarray:
    """A season of 24 steps, and noise."""
    noise = np.random.default_rng(seed).normal(size=length)
    return 10 + 3 * np.sin(np.arange(length) * 2 * np.pi / 24) + 0.5 * noise


def fitted(name: str, context: int):
    """A rule with a context of its own, fitted to waves."""
    series = forecasters.series(waves())
    signals = SeriesCodec.fit(series, CodecOptions()).encode(series)
    rule = forecasters.made(name, channels=1, context=context)
    for _ in rule.fitting(signals):
        pass
    return rule, signals


def test_quantile_functions_are_averaged_level_by_level():
    (one, signals), (two, _) = fitted("mean", 48), fitted("persistence", 1)
    mixed = MeanOfForecasts([one, two])
    mixed.log_weights = torch.tensor([0.25, 0.75]).double().log()
    assert mixed.options.context == 48
    batch = of_windows(signals, np.array([60, 90]), 48, 5)
    mean, quantiles, paths = mixed.forecast(batch, 1, 0)
    alone = [
        each.forecast(of_windows(signals, np.array([60, 90]), each.options.context, 5), 1, 0)
        for each in (one, two)
    ]
    assert torch.allclose(mean, 0.25 * alone[0][0] + 0.75 * alone[1][0], atol=1e-5)
    assert torch.allclose(quantiles, 0.25 * alone[0][1] + 0.75 * alone[1][1], atol=1e-5)
    assert (quantiles.diff(dim=-1) >= 0).all() and paths is None


def test_each_part_sees_as_much_of_a_window_as_by_itself():
    _, signals = fitted("persistence", 1)
    for place in (3, 100):  # the former has fewer values before it
        long, short = (of_windows(signals, np.array([place]), n, 5) for n in (30, 7))
        cut = latest(long, 7)
        assert torch.equal(cut.x, short.x) and torch.equal(cut.x_lengths, short.x_lengths)
        assert torch.equal(cut.known, short.known)


def test_other_horizons_are_not_mixed():
    with pytest.raises(ConfigError, match="same steps"):
        MeanOfForecasts([forecasters.made("mean"), forecasters.made("mean", horizon=4)])


def test_a_useless_part_gets_no_weight_and_runs_come_back(tmp_path):
    series = forecasters.series(waves(400))
    settings = {"horizon": 6, "context": 48, "season": 24}
    model = st.fit("forecast", "persistence+lags-ridge", series, out=tmp_path / "run", **settings)
    assert model.model.weights()[1] > 0.8
    again = st.load(tmp_path / "run")
    assert again.predict(series)["items"] == model.predict(series)["items"]
    alone = st.fit("forecast", "persistence", series, **settings)
    assert model.evaluate(series)["mase"] < 0.8 * alone.evaluate(series)["mase"]
    other = st.fit("forecast", "lags-ridge", forecasters.series(waves(200, 1)), **settings)
    with pytest.raises(ConfigError, match="same series"):
        alone.joined([other])


def test_a_comparison_chooses_on_the_walk_before_the_test():
    """A rule that is right until the test begins, and wrong from there on, wins all the same: the
    winner is not the luckiest on the test."""
    values = waves(400)
    values[320:] = 10 + 0.05 * np.random.default_rng(3).normal(size=80)  # the season is over
    record = st.compare(
        "forecast",
        forecasters.series(values),
        "mean,seasonal,persistence",
        horizon=6,
        context=48,
        season=24,
    )
    rows = {row["model"]: row for row in record["rows"]}
    assert record["chosen_on"] == "validation"
    assert record["rows"][0]["model"] == "seasonal"
    assert rows["mean"]["mase"] < rows["seasonal"]["mase"]
    assert rows["seasonal"]["valid"] < rows["mean"]["valid"]


def test_a_rule_is_chosen_without_the_windows_it_is_chosen_on():
    """Its figure is that of one fitted to the first four fifths of the training part."""
    data, settings = forecasters.series(waves(400)), {"horizon": 6, "context": 48, "season": 24}
    record = st.compare("forecast", data, "mean,lags-ridge", **settings)
    train, _, _ = st.split("forecast", data)
    less = train.part(0, int(0.8 * len(train.main.flat)))
    alone = st.fit("forecast", "lags-ridge", less, **settings)
    row = next(row for row in record["rows"] if row["model"] == "lags-ridge")
    expected = alone.row(alone.measure(train))["mase"]
    assert row["valid"] == pytest.approx(expected, rel=1e-6)


def test_the_best_rule_and_the_best_network_have_a_row():
    data = forecasters.series(waves(300))
    record = st.compare(
        "forecast", data, horizon=4, context=24, season=24, updates=5, width=8, layers=1
    )
    rows = {row["model"]: row for row in record["rows"]}
    mixed = [row for name, row in rows.items() if "+" in name]
    assert len(mixed) == 1 and abs(sum(mixed[0]["weights"]) - 1) < 1e-6
    assert all(row["valid"] is not None for row in rows.values() if row["status"] == "ok")
    first, second = mixed[0]["model"].split("+")
    assert mixed[0]["valid"] <= 1.05 * min(rows[first]["valid"], rows[second]["valid"])
