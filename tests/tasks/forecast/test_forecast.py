"""Forecasts: codecs of numbers, features, models, walking forward, the predictor and its run folder."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table

import seriatim
from seriatim.codecs.options import CodecOptions
from seriatim.data import read
from seriatim.data.corpora.signals import parse_signal
from seriatim.data.options import SeriesOptions
from seriatim.data.sequences import Sequences
from seriatim.data.series import cut_series
from seriatim.data.steps import step_of
from seriatim.distributions.numbers import Bins, Normal, Shifted
from seriatim.errors import ConfigError, DataError
from seriatim.measuring.measured import Measured
from seriatim.models.ladder import create
from seriatim.progress import listening
from seriatim.tasks.forecast import TASK
from seriatim.tasks.forecast.backtest import forecast, origins, overlapping, what_came
from seriatim.tasks.forecast.codec import SeriesCodec, of_windows
from seriatim.tasks.forecast.cut import ForecastCut
from seriatim.tasks.forecast.features import feature_table
from seriatim.tasks.forecast.metrics import forecasts_in
from seriatim.tasks.forecast.models.lags import STRENGTHS
from seriatim.tasks.forecast.models.smoothing import begun, smoothed
from seriatim.tasks.forecast.options import BacktestOptions
from seriatim.tasks.forecast.tables import add_parts, forecast_figures, forecast_lines
from seriatim.verbs import call
from tests.forecasters import SMALL, made, noise, series


# -- the codec
@given(
    st.lists(st.floats(0.5, 100), min_size=12, max_size=30),
    st.booleans(),
    st.integers(0, 4),
    st.sampled_from(["standard", "none"]),
    st.integers(1, 5),
)
@settings(max_examples=60, deadline=None)
def test_what_is_encoded_is_decoded_exactly(values, log, difference, scale, horizon):
    data = series(values)
    codec = SeriesCodec.fit(data, CodecOptions(log=log, difference=difference, scale=scale))
    signals, cut = codec.encode(data), len(values) - horizon
    past, scale = np.array(values)[:cut, None], (signals.mean, signals.unit)
    back = codec.decode(signals.x.flat[cut:].astype(np.float64), past, *scale)
    assert np.allclose(back[:, 0], values[cut:], rtol=2e-4, atol=2e-4)


def test_it_is_fitted_on_training_data_only_and_kept_as_json():
    data = series(noise(50, 2), known=np.arange(50.0))
    codec = SeriesCodec.fit(data, CodecOptions(calendar=True))
    again = SeriesCodec.from_json(json.loads(json.dumps(codec.to_json())), "codec.json")
    assert again.to_json() == codec.to_json() and again.sizes == codec.sizes == (
        len(codec.means[""][0]) - 2,
        24,
    )
    later = series(np.concatenate([noise(50, 2), 1000 + noise(20, 2)]), known=np.arange(70.0))
    assert np.array_equal(again.encode(later).x.flat[:50], codec.encode(data).x.flat)
    with pytest.raises(DataError, match="not the channels"):
        codec.encode(series(noise(9, 1), known=np.arange(9.0)))
    with pytest.raises(DataError, match="logarithms"):
        SeriesCodec.fit(series([1.0, -1.0, 2.0]), CodecOptions(log=True))


def test_each_series_may_have_a_scale_of_its_own():
    """In units of its own naive error, so that equal errors are equally wrong."""
    data = series(noise(40), 1000 * noise(40, seed=1))
    codec = SeriesCodec.fit(data, CodecOptions(each=True, season=1))
    signals = codec.encode(data)
    for s in (0, 1):
        row = signals.x.row(s)
        assert abs(row.mean()) < 1e-3 and abs(np.diff(row, axis=0)).mean() == pytest.approx(1)
    values = data.field("values").row(1)
    z, scale = signals.x.row(1)[-5:].astype(np.float64), (signals.mean[1:], signals.unit[1:])
    assert np.allclose(codec.decode(z, values[:-5], *scale), values[-5:], rtol=1e-4)


def test_a_series_that_training_had_not_is_scaled_by_what_is_known_of_it():
    codec = SeriesCodec.fit(series(noise(40), 9 * noise(40, seed=1)), CodecOptions(each=True))
    other = 1e6 * noise(60, seed=2)
    changed = other.copy()
    changed[50:] *= 3
    one, two = (codec.encode(series(each), np.array([50])) for each in (other, changed))
    assert np.array_equal(one.mean, two.mean) and np.array_equal(one.unit, two.unit)
    assert one.unit[0, 0] > 1e5 and abs(one.x.flat[:50]).max() < 100


# -- features and windows
@given(st.integers(0, 19), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_no_feature_sees_the_present_or_the_future(place, lags):
    """Whatever is changed from a moment on, features up to that moment stay."""
    values = np.random.default_rng(0).normal(size=20)
    changed = values.copy()
    changed[place:] += 100.0
    first, second = (feature_table(each, lags, (3,), whole=True)[0] for each in (values, changed))
    reach = max(lags, 3)
    rows = max(0, place - reach + 1)  # row i belongs to moment reach + i
    assert np.array_equal(first[:rows], second[:rows])
    assert rows >= len(first) or not np.array_equal(first[rows:], second[rows:])


def test_features_are_what_their_names_say():
    values = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0])
    table, y, names = feature_table(values, 2, (3,), whole=True, known=np.arange(6.0)[:, None])
    row = dict(zip(names, table[1], strict=True))  # the moment 4, value 5
    assert (
        y[1] == 5
        and row["lag 1"] == 1
        and row["lag 2"] == 4
        and row["mean of 3"] == 2
        and row["largest of 3"] == 4
        and row["known 1"] == 4
    )
    assert row["mean so far"] == pytest.approx(np.mean(values[:4])) and row[
        "deviation so far"
    ] == pytest.approx(np.std(values[:4]))


def test_windows_never_reach_into_another_series():
    data = series(np.arange(10.0), 100 + np.arange(8.0))
    codec = SeriesCodec.fit(data, CodecOptions(scale="none"))
    batch = of_windows(codec.encode(data), np.array([2, 10, 12]), 4, 3)
    assert batch.x[:, :, 0].tolist() == [[0, 0, 0, 1], [6, 7, 8, 9], [100, 100, 100, 101]]
    assert (
        torch.equal(batch.y[0, :, 0], torch.tensor([2.0, 3.0, 4.0]))
        and batch.y[1].isnan().all()
        and batch.y[2, :, 0].tolist() == [102, 103, 104]
    )
    parts = cut_series(data, 0.5, 1.0, before=2)
    assert (
        parts.field("values").row(0)[:, 0].tolist() == [3, 4, 5, 6, 7, 8, 9]
        and parts.field("values").row(1)[0, 0] == 102
    )


# -- models


def test_rules_are_what_they_say():
    data = series(np.arange(40.0))
    codec = SeriesCodec.fit(data, CodecOptions(scale="none"))
    batch = of_windows(codec.encode(data), np.array([20]), 12, 5)

    def said(name: str, **more) -> list[float]:
        season = more.pop("season", 4)
        return create(TASK.parts(name, SMALL | more), 1, 0, season).rule(batch)[0, :, 0].tolist()

    assert (
        said("persistence") == [19] * 5
        and said("mean") == [13.5] * 5
        and said("drift") == [20, 21, 22, 23, 24]
    )
    assert said("seasonal") == [16, 17, 18, 19, 16] and said("seasonal", season=3) == [
        17,
        18,
        19,
        17,
        18,
    ]


def test_smoothing_equals_the_textbook_written_out():
    x, speeds = np.random.default_rng(0).normal(size=17), np.array([0.3, 0.2, 0.4, 0.9])
    first, begin, cycle = begun(x, 4, True)
    now, slope, season, total = first, begin, list(cycle), 0.0
    level, trend, wrong = smoothed(x, speeds, 4, first, begin, cycle)
    for t in range(17):
        error = x[t] - (now + 0.9 * slope + season[t % 4])
        total += error**2
        before = now
        now = 0.3 * (x[t] - season[t % 4]) + 0.7 * (before + 0.9 * slope)
        slope = 0.2 * (now - before) + 0.8 * 0.9 * slope
        season[t % 4] += 0.4 * 0.7 * error
    assert level == pytest.approx(now) and trend == pytest.approx(slope)
    assert np.allclose(cycle, season) and wrong == pytest.approx(total)


def test_smoothing_and_theta_find_a_line_and_a_season():
    """Without noise, what goes on is known; theta keeps half the slope."""
    data = series(np.arange(48) * 0.5 + np.tile([3.0, -1.0, 0.0, -2.0], 12))
    codec = SeriesCodec.fit(data, CodecOptions(scale="none"))
    batch = of_windows(codec.encode(data), np.array([40]), 40, 5)
    steps = np.arange(1, 6)
    for name, lost in (("smoothing", np.zeros(5)), ("theta", 0.25 * steps)):
        model = create(TASK.parts(name, {"horizon": 5, "context": 40}), 1, 0, 4)
        for _ in model.fitting(codec.encode(data)):
            pass
        said = model.rule(batch)[0, :, 0].numpy()
        assert np.allclose(said + lost, batch.y[0, :, 0], atol=0.2), name


def test_theta_equals_its_definition_written_out():
    """The mean of the line through all, and of simple smoothing of twice the distances from it."""
    values = noise(60)[:, 0]
    line = np.polyval(np.polyfit(np.arange(60), values, 1), np.arange(65))
    bent = 2 * values - line[:60]

    def smooth(alpha: float) -> tuple[float, float]:
        level, wrong = bent[0], 0.0
        for each in bent[1:]:
            wrong += (each - level) ** 2
            level += alpha * (each - level)
        return wrong, level

    level = min(smooth(alpha) for alpha in np.linspace(0.01, 0.999, 500))[1]
    codec = SeriesCodec.fit(series(values), CodecOptions(scale="none"))
    batch = of_windows(codec.encode(series(values)), np.array([60]), 200, 5)
    model = create(TASK.parts("theta", {"horizon": 5, "context": 200}), 1, 0, 1)
    assert np.allclose(model.rule(batch)[0, :, 0], (line[60:] + level) / 2, atol=0.02)


def test_what_lies_before_a_series_is_not_smoothed():
    """A window longer than the series says what one as long as it says."""
    values = noise(40)
    for name in ("smoothing", "theta", "mean", "drift"):
        found = []
        for context in (30, 200):
            codec = SeriesCodec.fit(series(values), CodecOptions())
            batch = of_windows(codec.encode(series(values)), np.array([30]), context, 5)
            model = create(TASK.parts(name, {"horizon": 5, "context": context}), 1, 0, 4)
            for _ in model.learn(codec.encode(series(values))):
                pass
            found.append(model.rule(batch).numpy())
        assert np.allclose(*found, atol=1e-4), name


def test_ridge_equals_scikit_learns():
    from sklearn.linear_model import Ridge

    data = series(noise(120))
    signals = SeriesCodec.fit(data, CodecOptions()).encode(data)
    model = made("lags-ridge", channels=1, strength=2.0)
    for _ in model.fitting(signals):
        pass
    batch = of_windows(signals, np.arange(12, 116), 12, 5)
    x, last = batch.x[..., 0].double().numpy(), batch.x[:, -1:, 0].double().numpy()
    features = x[:, :-1] - last
    twin = Ridge(alpha=2.0).fit(features, batch.y[..., 0].double().numpy() - last)
    assert np.allclose(model.rule(batch)[..., 0].numpy(), twin.predict(features) + last, atol=1e-4)


@pytest.mark.parametrize("loud, better", [(3.0, True), (30.0, False)])
def test_ridge_chooses_penalty_and_weights_as_a_slow_twin_does(loud, better):
    """Every penalty, with windows weighed or not, by scikit-learn's Ridge; the least absolute error on the last fifth wins."""
    from sklearn.linear_model import Ridge

    rng = np.random.default_rng(4)
    values = np.sin(np.arange(160) / 3) + rng.normal(size=160) * np.where(
        np.arange(160) // 20 % 2, loud, 0.1
    )
    signals = SeriesCodec.fit(series(values), CodecOptions()).encode(series(values))
    model = made("lags-ridge", channels=1)
    for _ in model.fitting(signals):
        pass
    batch = of_windows(signals, np.arange(12, 156), 12, 5)
    x, y = batch.x[..., 0].double().numpy(), batch.y[..., 0].double().numpy()
    features, targets, weights = x[:, :-1] - x[:, -1:], y - x[:, -1:], (x.std(1) + 0.05) ** -2
    cut, tried = int(144 * 0.8), {}
    for weighed in (False, True):
        for strength in STRENGTHS:
            twin = Ridge(alpha=strength).fit(
                features[: cut - 5], targets[: cut - 5], weights[: cut - 5] if weighed else None
            )
            tried[weighed, strength] = abs(twin.predict(features[cut:]) - targets[cut:]).mean()
    weighed, strength = min(tried, key=tried.get)
    assert weighed == better
    twin = Ridge(alpha=strength).fit(features, targets, weights if weighed else None)
    assert np.allclose(
        model.rule(batch)[..., 0].numpy(), twin.predict(features) + x[:, -1:], atol=1e-4
    )


def test_boosting_equals_scikit_learns_trees():
    from sklearn.ensemble import HistGradientBoostingRegressor

    data = series(noise(300))
    signals = SeriesCodec.fit(data, CodecOptions()).encode(data)
    model = made("lags-boosting", channels=1, trees=20, horizon=1, windows=(4,))
    for _ in model.fitting(signals):
        pass
    batch = of_windows(signals, np.arange(1, 300), 12, 1)
    x, y = batch.x.double().numpy()[..., 0], batch.y.double().numpy()[:, 0, 0]
    features = model.features(x, np.zeros((len(x), 0)))
    twin = HistGradientBoostingRegressor(max_iter=20, early_stopping=False, random_state=0).fit(
        features, y - x[:, -1]
    )
    assert np.allclose(
        model.rule(batch)[:, 0, 0].numpy(), twin.predict(features) + x[:, -1], atol=1e-4
    )


def test_autoregression_equals_least_squares_and_draws_paths():
    data = read("autoregressive:length=3000,order=2,seed=1")
    model = seriatim.fit("forecast", "autoregression", data.part(0, 2500), order=2, horizon=4)
    values = (
        data.field("values").flat[:2500, 0] - model.codec.means[""][0][0]
    ) / model.codec.means[""][1][0]
    table = np.stack([values[:-2], values[1:-1], np.ones(2498)], 1)
    assert np.allclose(
        model.model.weights[0].numpy(), np.linalg.lstsq(table, values[2:], rcond=None)[0], atol=1e-4
    )
    batch = of_windows(model.codec.encode(data), np.array([2600]), model.model.options.context, 4)
    mean, _, paths = model.model.forecast(batch, 4000, 0)
    assert np.allclose(paths.mean(1), mean, atol=0.1)


def test_bins_and_shifted_densities():
    density = Bins(torch.tensor([-1.0, 0.0, 2.0]), torch.tensor([[0.25, 0.75]]).log())
    assert density.log_prob(torch.tensor([-0.5])).exp() == pytest.approx(0.25) and density.log_prob(
        torch.tensor([1.0])
    ).exp() == pytest.approx(0.375)
    assert density.mean().item() == pytest.approx(0.25 * -0.5 + 0.75)
    assert density.quantile(torch.tensor([0.125, 0.25, 0.625]))[0].tolist() == pytest.approx(
        [-0.5, 0.0, 1.0]
    )
    drawn = Bins(density.edges, density.logits.expand(4000, 1, 2)).sample(
        torch.Generator().manual_seed(0)
    )
    assert (
        float((drawn < 0).float().mean()) == pytest.approx(0.25, abs=0.03)
        and density.log_prob(torch.tensor([float("nan")])).item() == 0
    )
    plain = Normal(torch.zeros(1), torch.ones(1))
    moved = Shifted(plain, torch.tensor([3.0]))
    assert moved.mean().item() == 3 and moved.log_prob(torch.tensor([3.0])) == plain.log_prob(
        torch.zeros(1)
    )
    assert moved.quantile(torch.tensor([0.5])).item() == pytest.approx(3) and moved.crps(
        torch.tensor([4.0])
    ) == plain.crps(torch.ones(1))


# -- walking forward
@pytest.mark.parametrize("name", ["lags-ridge", "convolution"])
def test_walking_forward_does_not_depend_on_the_size_of_batches(name, monkeypatch):
    data = series(noise(200))
    model = seriatim.fit(
        "forecast",
        name,
        data.part(0, 150),
        **SMALL,
        **({} if name == "lags-ridge" else {"updates": 3, "width": 8}),
    )
    options, places = BacktestOptions(begin="150"), np.arange(150, 200)
    signals = model.codec.encode(data)
    whole = forecast(model.model, model.codec, signals, places, options)
    monkeypatch.setattr("seriatim.tasks.forecast.backtest.CELLS", 40)
    parts = forecast(model.model, model.codec, signals, places, options)
    assert all(np.allclose(a, b, atol=1e-4) for a, b in zip(whole, parts, strict=True))
    truth = what_came(signals, places, (0, 5))
    assert whole[0].shape == truth.shape == (50, 5, 1) and np.isnan(truth[-1, 1:]).all()
    assert truth[-1, 0, 0] == data.field("values").flat[-1, 0]


def test_origins_by_row_share_date_stride_and_gap():
    data = series(noise(100))

    def places(ahead: tuple[int, int] = (0, 5), **asked) -> list[int]:
        return origins(data, BacktestOptions(**{"whole": False} | asked), ahead).tolist()

    assert places(begin="90") == list(range(90, 100)) == places(begin="0.9")
    first = str(np.datetime64(int(1.7e9 + 3600 * 95), "s"))
    assert places(begin=first) == list(range(95, 100))
    assert places(begin="90", end="96", stride=3) == [90, 93]
    assert places((2, 5), begin="90", end="92") == [88, 89]
    assert places(begin="90", whole=True) == list(range(90, 96))
    assert places((2, 5), begin="90", whole=True) == list(range(88, 94))
    assert places(begin="97", whole=True) == [97]  # no room for a horizon: what there is
    with pytest.raises(ConfigError, match="neither"):
        places(begin="soon")
    with pytest.raises(DataError, match="nothing to forecast"):
        places(begin="99", end="98")


def test_origins_overlap_where_their_horizons_meet():
    data = series(noise(60), noise(40, seed=1))
    signals = SeriesCodec.fit(data, CodecOptions()).encode(data)
    assert (
        overlapping(signals, np.arange(20, 50), 6) == 6
        and overlapping(signals, np.arange(20, 50, 4), 6) == 2
    )
    assert (
        overlapping(signals, np.arange(20, 50, 6), 6)
        == 1
        == overlapping(signals, np.array([58, 62]), 6)
        == overlapping(signals, np.array([9]), 6)
    )
    model = seriatim.fit("forecast", "persistence", data, **SMALL)
    assert [model.measure(data, begin="30", stride=stride)["overlap"] for stride in (1, 2, 5)] == [
        5,
        3,
        1,
    ]


def test_after_a_gap_the_same_steps_are_forecast_from_less():
    data = series(noise(120))
    plain, later = (
        forecasts_in(
            seriatim.fit("forecast", "drift", data.part(0, 100), **SMALL, gap=gap).measure(
                data, begin="100"
            )
        )
        for gap in (0, 2)
    )
    assert np.array_equal(plain.truth, later.truth, equal_nan=True)
    assert plain.mean.shape == later.mean.shape and not np.allclose(plain.mean, later.mean)


def test_fitted_again_at_every_origin_nothing_of_the_future_is_used():
    values = noise(120)
    changed = values.copy()
    changed[105:] += 30
    model = seriatim.fit("forecast", "lags-ridge", series(values).part(0, 100), **SMALL)
    one, other = (
        model.measure(series(each), begin="100", end="106", refit=1, sliding=60, whole=False)[
            "answers"
        ]
        for each in (values, changed)
    )
    assert np.allclose(one, other) and len(one) == 6


def test_conformal_intervals_hold():
    data = read("autoregressive:length=4000,order=2,seed=2")
    model = seriatim.fit("forecast", "persistence", data.part(0, 3000), horizon=3, calibrate=True)
    assert np.array(model.metrics["conformal"]).shape == (3, 1, 21)
    assert model.evaluate(data, begin="3000")["coverage"]["90"] == pytest.approx(0.9, abs=0.05)


@pytest.mark.parametrize(
    ("source", "name", "more"),
    [
        ("seasonal:length=3000,period=24,seed=1", "lags-ridge", {"context": 240}),
        ("autoregressive:length=6000,order=2,seed=1", "autoregression", {"order": 2}),
        ("random-walk:length=3000,seed=1", "persistence", {}),
        ("oscillator:length=6000,seed=1", "autoregression", {"order": 1, "cross": True}),
    ],
)
def test_on_generated_signals_the_right_rung_is_near_the_best_error(source, name, more):
    data = read(source)
    cut = len(data.field("values").flat) // 2
    model = seriatim.fit("forecast", name, data.part(0, cut), horizon=4, **more)
    measured = forecasts_in(model.measure(data, begin=str(cut)))
    found = np.sqrt(np.nanmean((measured.truth - measured.mean) ** 2, 0))
    best = parse_signal(source).best_error(4)
    assert (found / best).mean() < 1.06 and (
        found / best
    ).mean() > 0.94  # this sample's own spread; benchmarks/series.py looks closer


# -- the predictor
def test_what_comes_next_has_times_and_rising_quantiles_and_a_run_is_kept(tmp_path):
    data = series(noise(150, 2))
    model = seriatim.fit(
        "forecast", "gru", data, **SMALL, updates=5, width=8, out=tmp_path / "run", calendar=True
    )
    (record,) = model.predict(data)["items"]
    assert record["time"][0] == str(np.datetime64(int(1.7e9 + 3600 * 150), "s")) and list(
        record["channels"]
    ) == ["a", "b"]
    table = np.array(list(record["channels"]["a"]["quantiles"].values()))
    assert table.shape == (21, 5) and (np.diff(table, axis=0) >= -1e-6).all()
    (again,) = seriatim.load(tmp_path / "run").predict(data)["items"]
    assert again["time"] == record["time"] and np.allclose(
        list(again["channels"]["a"]["quantiles"].values()), table, rtol=1e-6
    )  # arrays lie elsewhere
    with pytest.raises(ConfigError, match="no verb 'generate'"):
        call("generate", model, "x")


def test_inputs_known_in_advance_are_used_and_asked_for():
    rng = np.random.default_rng(0)
    known = rng.normal(size=300)
    values = 5 * known + 0.1 * rng.normal(size=300)
    data = series(values, known=known)
    model = seriatim.fit("forecast", "lags-ridge", data.part(0, 250), horizon=2, context=4)
    assert model.evaluate(data, begin="250")["mae"] < 0.5
    with pytest.raises(DataError, match="known in advance"):
        model.predict(data)
    longer = series(
        np.concatenate([values, [np.nan, np.nan]]), known=np.concatenate([known, [1.0, -1.0]])
    )
    means = model.predict(longer)["items"][0]["channels"]["a"]["mean"]
    assert means[0] == pytest.approx(5, abs=0.5) and means[1] == pytest.approx(-5, abs=0.5)


def test_several_series_are_forecast_each_by_itself():
    data = series(noise(100), noise(80, seed=1))
    model = seriatim.fit("forecast", "lags-ridge", data, **SMALL)
    records = model.predict(data)["items"]
    assert [record["series"] for record in records] == ["s0", "s1"]
    alone = Sequences(
        {name: column.take(slice(1, 2)) for name, column in data.fields.items()},
        by="line",
        origin="one",
    )
    assert np.allclose(
        model.predict(alone)["items"][0]["channels"]["a"]["mean"],
        records[1]["channels"]["a"]["mean"],
    )


def test_a_difference_needs_paths_and_is_summed_along_them():
    data = series(noise(300))
    model = seriatim.fit(
        "forecast", "autoregression", data.part(0, 250), difference=1, order=2, horizon=3
    )
    assert model.evaluate(data, begin="250")["mase"] < 2.5
    with pytest.raises(ConfigError, match="paths"):
        seriatim.fit("forecast", "lags-ridge", data.part(0, 250), difference=1, **SMALL).evaluate(
            data, begin="250"
        )


def test_sample_paths_are_given_when_asked_for():
    data = series(50 + noise(300), 500 + noise(200, seed=1))
    model = seriatim.fit(
        "forecast", "autoregression", data, horizon=5, order=2, difference=1, log=True
    )
    records = model.predict(data, paths=300)["items"]
    drawn = np.array([record["channels"]["a"].pop("paths") for record in records])  # (series, S, H)
    assert drawn.shape == (2, 300, 5) and records == model.predict(data)["items"]
    means, deviation = (
        np.array([record["channels"]["a"]["mean"] for record in records]),
        drawn.std(1),
    )
    assert (abs(drawn.mean(1) - means) < 0.3 * deviation).all() and drawn[1].min() > drawn[0].max()
    with pytest.raises(ConfigError, match="draws no paths"):
        seriatim.fit("forecast", "lags-ridge", data, **SMALL).predict(data, paths=1)


def test_a_random_split_of_one_series_is_refused():
    with pytest.raises(DataError, match="in order"):
        series(noise(50)).split(0.5, 0.5, how="shuffle")


# -- what was measured, and records
def test_what_was_measured_is_kept_and_read_again_to_the_same_record(tmp_path):
    data = series(noise(150, 2), noise(90, 2, seed=1))
    model = seriatim.fit("forecast", "lags-ridge", cut_series(data, 0.0, 0.8), **SMALL)
    measured = model.measure(data)
    measured.save(tmp_path / "measured.safetensors")
    again = Measured.load(tmp_path / "measured.safetensors")
    assert model.summarise(again) == model.summarise(measured)
    assert model.row(again) == model.row(measured) and again.item(3)["truth"].shape == (5, 2)
    assert json.loads(json.dumps(model.summarise(again))) == model.summarise(measured)


def test_a_comparison_looks_at_some_origins_and_an_evaluation_at_all():
    data = series(noise(2300))
    model = seriatim.fit("forecast", "persistence", data.part(0, 1800), **SMALL)
    assert len(model.measure(data).loss) == 400
    assert model.evaluate(data)["origins"] == 456 == len(model.measure(data, stride=1).loss)


def test_two_forecasters_are_told_apart_on_the_same_truth():
    data = read("autoregressive:length=1500,order=2,seed=1")
    train = data.part(0, 1200)
    good, poor = (
        seriatim.fit("forecast", name, train, horizon=2) for name in ("autoregression", "mean")
    )
    record = good.evaluate(data, against=poor)["against"]
    assert record["model"] == "mean" and record["p"] < 0.01
    assert good.evaluate(data, against=good)["against"]["p"] == 1.0
    other = seriatim.fit("forecast", "mean", train, horizon=3)
    with pytest.raises(DataError, match="on the same items"):
        good.evaluate(data, against=other)


def test_a_model_is_fitted_again_with_random_numbers_of_its_own():
    known = series(noise(120))
    model = seriatim.fit("forecast", "gru", known, **SMALL, updates=3, width=8, threads=1)
    torch.manual_seed(5)
    before = torch.get_rng_state()
    one, other = (model.fitted_on(known)[0].arrays() for _ in range(2))
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert torch.equal(torch.get_rng_state(), before)
    rule = seriatim.fit("forecast", "lags-ridge", known, **SMALL)
    again, codec = rule.fitted_on(known)
    assert codec.to_json() == rule.codec.to_json()
    assert torch.equal(again.arrays()["weights"], rule.model.arrays()["weights"])


def test_a_backtest_stands_beside_what_came():
    values = noise(200, 2)
    data = series(values)
    model = seriatim.fit("forecast", "lags-ridge", data.part(0, 150), **SMALL)
    record = model.backtest(data)
    assert [item["origin"] for item in record["items"]] == list(range(140, 200, 5))
    (shown,) = record["series"]
    assert shown["first"] == 130 and shown["values"]["b"] == values[130:, 1].tolist()
    for item in record["items"]:
        row = item["origin"]
        assert item["channels"]["a"]["truth"] == values[row : row + 5, 0].tolist()
        assert item["time"][0] == str(np.datetime64(int(1.7e9 + 3600 * row), "s"))
    model = seriatim.fit("forecast", "lags-ridge", data.part(0, 150), **SMALL, gap=2)
    asked = {"begin": "180", "stride": 4, "whole": True}
    one, measured = model.backtest(data, **asked), model.measure(data, **asked)
    assert one["items"][0]["time"][0] == str(np.datetime64(int(1.7e9 + 3600 * 180), "s"))
    means = [item["channels"]["b"]["mean"] for item in one["items"]]
    assert np.array_equal(means, measured["answers"][..., 1])
    several = series(values, values[:100] + 5)
    found = model.backtest(several)
    assert {item["series"] for item in found["items"]} == {"s0", "s1"}
    with pytest.raises(ConfigError, match="backtest"):
        model.backtest(data, stride=-1)


def test_every_record_is_plain_and_every_picture_is_drawn(tmp_path):
    data = series(noise(150, 2))
    model = seriatim.fit("forecast", "autoregression", data, horizon=5, order=2)
    for what, verb in (
        ("forecast", "predict"),
        ("origins", "backtest"),
        ("horizon", "evaluate"),
        ("coverage", "evaluate"),
    ):
        out = tmp_path / f"{what}.svg"
        chart = call("plot", model, data, what=what, out=str(out))
        assert out.read_text().startswith("<svg")
        record = call(verb, model, data)
        json.dumps(record, allow_nan=False)
        assert record["task"] == "forecast" and record.plot(what).body.keys() == chart.body.keys()


# -- how tables are read
@pytest.fixture
def table(tmp_path):
    """A long table with a column that must not be taken for a channel."""
    path = tmp_path / "load.csv"
    rows = [
        f"{np.datetime64('2024-01-01') + i},{name},{value:.3f},{i % 7},{i}\n"
        for name, seed in (("north", 0), ("south", 1))
        for i, value in enumerate(noise(120, seed=seed)[:, 0])
    ]
    path.write_text("day,where,load,week,serial\n" + "".join(rows))
    return path


def test_a_run_reads_as_it_was_fitted(table, tmp_path):
    asked = {"time": "day", "series": "where", "channels": "load", "known": "week"}
    run = tmp_path / "run"
    seriatim.fit("forecast", "lags-ridge", str(table), **asked, **SMALL, out=str(run))
    model = seriatim.load(run)
    assert {key: getattr(model.reading, key) for key in asked} == asked
    record = call("evaluate", run, str(table), begin="2024-04-01")
    assert record["sequences"] == 2 and record["channel_names"] == ["load"]
    assert record["origins"] == 2 * 25 and record["protocol"]["step"] == "daily"
    with pytest.raises(DataError, match="known in advance"):
        call("predict", run, str(table))
    rows = table.read_text().splitlines()
    more = [
        f"{np.datetime64('2024-04-30') + i},{name},,{i % 7},"
        for name in ("north", "south")
        for i in range(5)
    ]
    longer = tmp_path / "longer.csv"
    longer.write_text("\n".join([*rows, *more]) + "\n")
    answer = call("predict", run, str(longer))
    assert [item["series"] for item in answer["items"]] == ["north", "south"]
    assert answer["items"][0]["time"][0] == "2024-04-30"
    with pytest.raises(ConfigError, match="one file"):
        model.data([table, longer])


def test_a_table_in_memory_is_read_as_a_file_is(table):
    asked = {"time": "day", "series": "where", "channels": "load"}
    one, other = (
        seriatim.fit("forecast", "drift", source, **asked, **SMALL).predict(source)["items"]
        for source in (str(table), read(str(table)))
    )
    assert one == other and len(one) == 2


# -- lines, tables, comparisons
@pytest.fixture
def load(tmp_path):
    """A file of daily values."""
    path = tmp_path / "load.csv"
    days = np.datetime64("2024-01-01") + np.arange(200)
    rows = (f"{day},{value:.3f}\n" for day, value in zip(days, noise(200)[:, 0], strict=True))
    path.write_text("date,load\n" + "".join(rows))
    return path


def shown(record) -> str:
    """A table as it is printed."""
    console = Console(width=160, no_color=True, record=True, file=io.StringIO())
    console.print(forecast_figures(record))
    return console.export_text()


@pytest.mark.parametrize("horizon", [5, 12, 14, 24, 25])
def test_steps_ahead_are_all_shown_or_a_choice_that_is_said(horizon):
    """Of fourteen twelve were shown, without the fourth and the eleventh and without a word."""
    each = {"mae": 1.0, "rmse": 2.0, "crps": 0.5, "mase": 1.0}
    record = {"by_horizon": [{"h": h, **each} for h in range(1, horizon + 1)], "channels": 1}
    table = Table()
    add_parts(table, record)
    cells = [str(cell) for column in table.columns for cell in column.cells]
    seen = [int(cell.split()[0]) for cell in cells if cell.endswith("ahead")]
    said = [cell for cell in cells if "and the last" in cell]
    every = -(-horizon // 12)
    rest = {h for h in range(1, horizon + 1) if h % every == 0}
    assert seen == sorted({1, horizon} | rest)
    assert bool(said) == (horizon > 12) and all(f"every {every} steps" in cell for cell in said)


def test_forecasts_are_printed_as_lines_and_figures_as_a_table(load, tmp_path):
    run = str(tmp_path / "run")
    seriatim.fit("forecast", "lags-ridge", str(load), **SMALL, out=run)
    record = call("evaluate", run, str(load), begin="2024-06-01")
    assert record["protocol"]["step"] == "daily" and record["against_naive"]["p"] is not None
    assert "MASE" in shown(record) and "5 steps ahead" in shown(record)
    lines = forecast_lines(call("predict", run, str(load))).splitlines()
    assert lines[0].split("\t") == ["time", "load", "load 2.5 %", "load 97.5 %"]
    assert len(lines) == 6 and lines[1].startswith("2024-07-19\t")
    with pytest.raises(ConfigError, match="draws no paths"):
        call("predict", run, str(load), paths=2)
    model = seriatim.fit("forecast", "autoregression", str(load), horizon=5, order=2)
    lines = forecast_lines(call("predict", model, str(load), paths=2)).splitlines()
    titles = ["time", "load", "load 2.5 %", "load 97.5 %", "load path 1", "load path 2"]
    assert lines[0].split("\t") == titles and len(set(lines[1].split("\t"))) == 6
    load.write_text(
        "date,load\n" + "".join(f"{np.datetime64('2024-01-01') + i},5\n" for i in range(60))
    )
    words = shown(call("evaluate", run, str(load)))  # the naive forecast makes no error at all
    assert any(line.split()[:3] == ["against", "naive", "-"] for line in words.splitlines())
    load.write_text("date,load\n2024-01-01,1\n2024-01-02,\n2024-01-03,3\n")
    with pytest.raises(DataError, match="missing") as caught:
        seriatim.fit("forecast", "lags-ridge", str(load))
    assert "load.csv" in str(caught.value)


def test_rungs_are_compared_by_mase(load, tmp_path):
    record = seriatim.compare(
        "forecast",
        str(load),
        "persistence,lags-ridge,linear",
        **SMALL,
        epochs=1,
        out=str(tmp_path / "compared"),
    )
    assert record["figure"] == "mase" and all(row["status"] == "ok" for row in record["rows"])
    assert all(row["mase"] is not None and row["valid"] is not None for row in record["rows"])
    assert record["chosen_on"] == "validation"
    kept = Measured.load(tmp_path / "compared" / "measured" / "linear.safetensors")
    assert kept["truth"].shape == (36, 5, 1)


def test_from_the_command_line(load, tmp_path, capsys):
    from seriatim.cli.main import main

    run, path = str(tmp_path / "run"), str(load)
    sizes = ["--horizon", "5", "--context", "12"]
    assert main(["fit", "forecast", "lags-ridge", path, *sizes, "--out", run]) == 0
    capsys.readouterr()
    assert main(["evaluate", run, path, "--begin", "2024-06-01", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["protocol"]["step"] == "daily"
    assert main(["predict", run, path]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6 and lines[1].startswith("2024-07-19\t")
    assert main(["predict", run, path, "--paths", "2"]) == 2
    for what in ("forecast", "origins", "horizon", "coverage"):
        out = str(tmp_path / f"{what}.png")
        assert main(["plot", run, path, "--what", what, "--out", out]) == 0
    names = "persistence,lags-ridge,linear"
    compared = ["--models", names, *sizes, "--epochs", "1", "--out", str(tmp_path / "compared")]
    assert main(["compare", "forecast", path, *compared]) == 0
    assert "MASE" in capsys.readouterr().out
    load.write_text("date,load\n2024-01-01,1\n2024-01-02,\n2024-01-03,3\n")
    assert main(["fit", "forecast", "lags-ridge", path, "--out", run + "2"]) == 1
    assert "load.csv" in capsys.readouterr().err
    assert main(["fit", "language", "markov", path, "--time", "date", "--out", run + "3"]) == 2


def test_a_series_too_short_for_training_is_scaled_by_its_own_values(tmp_path):
    """None of the five values of `tiny` is left for training, and two of `short`: neither is
    forecast in the unit of the others."""
    rows, dice = ["unique_id,ds,y"], np.random.default_rng(0)
    for name, many, level in (("large", 60, 1e6), ("other", 60, 5.0), ("short", 10, 1200.0)):
        rows += [
            f"{name},{2000 + i // 12}-{i % 12 + 1:02},{level * (1 + 0.1 * dice.normal())}"
            for i in range(many)
        ]
    rows += [f"tiny,2000-{i + 1:02},{1190 + 10 * i}" for i in range(5)]
    (tmp_path / "panel.csv").write_text("\n".join(rows))
    fitted = seriatim.fit(
        "forecast", "linear", str(tmp_path / "panel.csv"), horizon=8, context=8, updates=1
    )
    assert set(fitted.codec.means) == {"", "large", "other"}
    items = fitted.predict(str(tmp_path / "panel.csv"))["items"]
    said = {item["series"]: item["channels"]["y"]["mean"] for item in items}
    assert all(abs(value - 1200) < 600 for name in ("tiny", "short") for value in said[name])


def test_a_scale_is_found_whatever_little_is_known_of_a_series():
    codec = SeriesCodec(
        CodecOptions(),
        ["y"],
        [],
        step_of(np.arange(3.0)),
        12,
        {"": (np.zeros(1), np.ones(1))},
        True,
    )
    cases = [([7.0], 7.0), ([0.0], 1.0), ([50.0] * 9, 0.05), ([4.0, 6.0, 4.0], 2.0)]
    for values, unit in cases:
        assert codec.own_scale(np.array(values)[:, None])[1].tolist() == [unit]
    year = np.tile(np.arange(12.0), 3)[:, None]  # the same every year: no error of a season before
    assert codec.own_scale(year)[1][0] > 0.9


@pytest.mark.parametrize("wide", [True, False])
def test_series_in_another_encoding_are_read_as_asked_or_guessed(tmp_path, wide):
    """A row for each series, or for each time."""
    rows = ["Käse,5,3,8,1"] if wide else ["Käse", *map(str, range(9))]
    path = tmp_path / "a.csv"
    path.write_bytes("\n".join([*rows, *(["Öl,1,2,7,4"] if wide else [])]).encode("latin-1"))
    said: list[str] = []
    cut = ForecastCut(TASK)
    with listening(lambda event: said.append(event["words"])):
        guessed = cut.sequences(str(path))
    assert any("windows-1252" in words for words in said)
    asked = cut.sequences(str(path), SeriesOptions(encoding="latin-1"))
    for data in (guessed, asked):
        names = data.field("name").symbol_names if wide else data.field("values").names
        assert names[0] == "Käse"
