"""Networks that forecast by squared error, and in units of their window."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import seriatim
from seriatim.codecs.options import CodecOptions
from seriatim.data import read
from seriatim.distributions.numbers import Normal
from seriatim.tasks.forecast.codec import SeriesCodec, of_windows
from seriatim.tasks.forecast.models.network import Rescaled
from tests.forecasters import made, noise, series


def test_a_density_in_another_unit_is_the_one_of_numbers_in_that_unit():
    generator = torch.Generator().manual_seed(0)
    mean, deviation, by, unit, y = torch.rand(5, 3, 2, generator=generator)
    scaled, plain = (
        Rescaled(Normal(mean, deviation), by, unit),
        Normal(by + unit * mean, unit * deviation),
    )
    levels = torch.tensor([0.1, 0.5, 0.9])
    assert torch.allclose(scaled.log_prob(y), plain.log_prob(y), atol=1e-5) and torch.allclose(
        scaled.crps(y), plain.crps(y), atol=1e-5
    )
    assert torch.allclose(scaled.mean(), plain.mean()) and torch.allclose(
        scaled.quantile(levels), plain.quantile(levels), atol=1e-6
    )
    draws = [each.sample(torch.Generator().manual_seed(1)) for each in (scaled[1:], plain[1:])]
    assert torch.allclose(*draws) and torch.allclose(
        scaled.cooled(0.5).log_prob(y), plain.cooled(0.5).log_prob(y), atol=1e-5
    )
    y[0, 1] = torch.nan
    assert torch.allclose(scaled.log_prob(y), plain.log_prob(y), atol=1e-5)


def test_squared_error_is_learned_and_deviations_are_those_of_the_errors_after_it():
    torch.manual_seed(0)
    data = series(noise(200, 2) * [1.0, 3.0])
    signals = SeriesCodec.fit(data, CodecOptions(scale="none")).encode(data)
    model, batch = (
        made("linear", density="square").eval(),
        of_windows(signals, np.arange(20, 190), 12, 5),
    )
    wrong = (batch.y - model.forecast(batch, 1, 0)[0]).double()  # (B, H, C)
    assert model.loss(batch)[0].item() == pytest.approx(
        wrong.square().mean().item() / 2 + np.log(2 * np.pi) / 2, rel=1e-4
    )
    for _ in range(2):  # once more changes nothing
        model.settle(
            [
                of_windows(signals, places, 12, 5)
                for places in (np.arange(20, 100), np.arange(100, 190))
            ]
        )
        assert np.allclose(
            model.deviation.numpy(), wrong.square().mean(0).sqrt().numpy(), rtol=1e-3
        )
    _, quantiles, _ = model.forecast(batch, 1, 0)
    assert np.allclose(
        (quantiles[..., 19] - quantiles[..., 1]).numpy() / 2,
        1.6449 * wrong.square().mean(0).sqrt().numpy(),
        rtol=1e-3,
    )


def test_step_by_step_each_channel_has_its_deviation():
    torch.manual_seed(0)
    data = series(noise(200, 2) * [1.0, 50.0])
    signals = SeriesCodec.fit(data, CodecOptions(scale="none")).encode(data)
    model = made("rnn by steps").eval()
    model.settle([of_windows(signals, np.arange(20, 190), 12, 5)])
    assert model.deviation.shape == (1, 2) and model.deviation[0, 1] > 10 * model.deviation[0, 0]
    paths = model.forecast(of_windows(signals, np.array([50, 90]), 12, 5), 400, 0)[
        2
    ]  # (B, S, H, C)
    assert torch.allclose(paths[:, :, 0].std(1), model.deviation.expand(2, 2), rtol=0.15)
    assert torch.allclose(paths.diff(dim=2).std((1, 2)), model.deviation.expand(2, 2), rtol=0.15)


def test_a_fit_by_squared_error_has_intervals_that_hold():
    data = read("autoregressive:length=3000,order=2,seed=3")
    model = seriatim.fit(
        "forecast", "linear", data.part(0, 2400), horizon=3, context=8, density="square", epochs=3
    )
    coverage = model.evaluate(data, begin="2400")["coverage"]
    assert all(
        abs(coverage[name] - int(name) / 100) < 0.06 for name in coverage
    ) and not torch.equal(model.model.deviation, torch.ones(3, 1))


@pytest.mark.parametrize("normalise", ["last", "mean"])
def test_another_level_or_unit_of_the_window_is_no_surprise(normalise):
    torch.manual_seed(0)
    model = made("linear", density="square", normalise=normalise).eval()
    torch.nn.init.normal_(model.lags.weight)
    batch = of_windows(
        SeriesCodec.fit(series(noise(60, 2)), CodecOptions()).encode(series(noise(60, 2))),
        np.array([20, 40]),
        12,
        5,
    )
    mean = model.forecast(batch, 1, 0)[0]
    moved, stretched = (
        model.forecast(replace(batch, x=x), 1, 0)[0] for x in (batch.x + 7.0, 100.0 * batch.x)
    )
    assert torch.allclose(moved, mean + 7.0, atol=1e-4)
    if normalise == "mean":
        assert torch.allclose(stretched / 100.0, mean, atol=0.2) and not torch.allclose(
            mean, batch.x[:, -1:], atol=0.2
        )  # but for what is added
