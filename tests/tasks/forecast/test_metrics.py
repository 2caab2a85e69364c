"""Figures for forecasts: by hand, against scikit-learn, scipy and closed forms, against slow twins, and by simulation."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from numpy.lib.stride_tricks import sliding_window_view
from scipy import stats
from sklearn import metrics

from seriatim.errors import ConfigError, DataError
from seriatim.tasks.forecast.metrics import (
    Forecasts,
    bounds,
    conformal,
    diebold_mariano,
    mase_scale,
    report,
    standard_error,
)

LEVELS = np.array([0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975])
SIZES = some.tuples(some.integers(1, 12), some.integers(1, 4), some.integers(1, 3))
SEEDS = some.integers(0, 10_000)
BY = ("by_horizon", "by_channel")


def forecasts_of(
    seed: int, shape: tuple[int, int, int] = (20, 3, 2), missing: float = 0.2
) -> Forecasts:
    """Forecasts in eighths, so that truth and forecast are often equal, some of the truth unknown but never the first cell."""
    generator = np.random.default_rng(seed)
    truth, mean = np.round(8 * generator.normal(0, 2, (2, *shape))) / 8
    quantiles = np.sort(np.round(8 * generator.normal(0, 2, (*shape, len(LEVELS)))) / 8, -1)
    unknown = generator.random(shape) < missing
    unknown[0, 0, 0] = False
    return Forecasts(
        np.where(unknown, np.nan, truth), mean, LEVELS, quantiles, generator.random(shape[2]) + 0.1
    )


def overlapping(
    generator: np.random.Generator, origins: int, horizon: int, noise: float = 1.0
) -> np.ndarray:
    """(O, H, 1) errors of origins one step apart, each of which meets the same noise as its neighbours."""
    return sliding_window_view(noise * generator.standard_normal(origins + horizon - 1), horizon)[
        ..., None
    ].copy()


def of_errors(errors: np.ndarray) -> Forecasts:
    return Forecasts(errors, np.zeros_like(errors), np.array([]), None, np.ones(errors.shape[2]))


# Figures


def slow_figures(forecasts: Forecasts, places) -> dict:
    """The figures of some cells (o, h, c), one after another."""
    absolute, squared, scaled, symmetric, scores = [], [], [], [], []
    for o, h, c in places:
        y, m = float(forecasts.truth[o, h, c]), float(forecasts.mean[o, h, c])
        if math.isnan(y):
            continue
        absolute.append(abs(y - m))
        squared.append((y - m) ** 2)
        scaled.append(abs(y - m) / forecasts.scale[c])
        symmetric.append(2 * abs(y - m) / (abs(y) + abs(m)) if y or m else 0.0)
        losses = [
            q * (y - x) if y >= x else (1 - q) * (x - y)
            for q, x in zip(forecasts.levels, forecasts.quantiles[o, h, c])
        ]
        scores.append(2 * sum(losses) / len(losses))
    if not absolute:
        return dict.fromkeys(("mae", "rmse", "mse", "mase", "smape", "crps"))
    mae, mse, mase, smape, crps = (
        sum(column) / len(column) for column in (absolute, squared, scaled, symmetric, scores)
    )
    return {
        "mae": mae,
        "rmse": math.sqrt(mse),
        "mse": mse,
        "mase": mase,
        "smape": smape,
        "crps": crps,
    }


@settings(max_examples=60, deadline=None)
@given(SEEDS, SIZES, some.sampled_from([0.0, 0.3, 0.95]))
def test_figures_are_those_of_a_slow_twin(seed, shape, missing):
    forecasts = forecasts_of(seed, shape, missing)
    record, places = report(forecasts), list(np.ndindex(shape))
    expected = slow_figures(forecasts, places)
    assert {name: record[name] for name in expected} == pytest.approx(expected)
    for h, row in enumerate(record["by_horizon"]):
        here = [place for place in places if place[1] == h]
        known = {o for o, _, c in here if not math.isnan(forecasts.truth[o, h, c])}
        assert row == pytest.approx(
            {"h": h + 1, "origins": len(known), **slow_figures(forecasts, here)}
        )
    for c, row in enumerate(record["by_channel"]):
        assert row == pytest.approx(
            {"channel": c, **slow_figures(forecasts, [place for place in places if place[2] == c])}
        )
    assert record["by_origin"] == pytest.approx(
        [slow_figures(forecasts, [p for p in places if p[0] == o])["mae"] for o in range(shape[0])]
    )
    assert (
        (record["origins"], record["horizon"], record["channels"])
        == shape
        == tuple(map(len, (record["by_origin"], *map(record.get, BY))))
    )
    assert json.loads(json.dumps(record, allow_nan=False)) == record


@settings(max_examples=40, deadline=None)
@given(SEEDS, SIZES)
def test_intervals_are_counted_as_by_a_slow_twin(seed, shape):
    forecasts = forecasts_of(seed, shape)
    record = report(forecasts)
    for name, low, high in (("50", 3, 5), ("80", 2, 6), ("90", 1, 7), ("95", 0, 8)):
        hits, widths = [], []
        for place in np.ndindex(shape):
            if not math.isnan(forecasts.truth[place]):
                hits.append(
                    forecasts.quantiles[place][low]
                    <= forecasts.truth[place]
                    <= forecasts.quantiles[place][high]
                )
                widths.append(forecasts.quantiles[place][high] - forecasts.quantiles[place][low])
        assert record["coverage"][name] == pytest.approx(sum(hits) / len(hits)) and record["width"][
            name
        ] == pytest.approx(sum(widths) / len(widths))


def test_figures_are_those_of_scikit_learn():
    forecasts = forecasts_of(1)
    record, known = report(forecasts), ~np.isnan(forecasts.truth)
    truth, mean = forecasts.truth[known], forecasts.mean[known]
    assert record["mae"] == pytest.approx(metrics.mean_absolute_error(truth, mean))
    assert record["mse"] == pytest.approx(metrics.mean_squared_error(truth, mean))
    assert record["rmse"] == pytest.approx(metrics.root_mean_squared_error(truth, mean))
    pinball = [
        metrics.mean_pinball_loss(truth, forecasts.quantiles[known][:, q], alpha=level)
        for q, level in enumerate(LEVELS)
    ]
    assert record["crps"] == pytest.approx(2 * sum(pinball) / len(LEVELS))


def test_crps_of_many_quantiles_is_that_of_the_normal_distribution():
    levels, truth = (np.arange(2000) + 0.5) / 2000, np.array([-2.0, 0.0, 0.3, 4.0]).reshape(4, 1, 1)
    quantiles = np.broadcast_to(stats.norm.ppf(levels, 0.5, 1.5), (4, 1, 1, 2000))
    z = (truth.ravel() - 0.5) / 1.5
    expected = 1.5 * (
        z * (2 * stats.norm.cdf(z) - 1) + 2 * stats.norm.pdf(z) - 1 / math.sqrt(math.pi)
    )  # Gneiting and Raftery 2007
    for o in range(4):
        one = Forecasts(
            truth[o : o + 1], np.full((1, 1, 1), 0.5), levels, quantiles[o : o + 1], np.ones(1)
        )
        assert report(one)["crps"] == pytest.approx(expected[o], abs=2e-3)


@settings(max_examples=50, deadline=None)
@given(SEEDS, SIZES, some.floats(1e-6, 1e6))
def test_another_unit_changes_only_figures_that_have_one(seed, shape, factor):
    forecasts = forecasts_of(seed, shape)
    scaled = Forecasts(
        *(factor * values for values in (forecasts.truth, forecasts.mean)),
        LEVELS,
        factor * forecasts.quantiles,
        factor * forecasts.scale,
    )
    before, after = report(forecasts), report(scaled)
    for name in ("mae", "rmse", "crps"):
        assert after[name] == pytest.approx(factor * before[name])
    assert after["mse"] == pytest.approx(factor**2 * before["mse"])
    assert after["width"] == pytest.approx(
        {name: factor * width for name, width in before["width"].items()}
    )
    assert after["coverage"] == before["coverage"]
    assert (after["mase"], after["smape"]) == pytest.approx((before["mase"], before["smape"]))


def test_a_perfect_forecast_has_no_error():
    truth = forecasts_of(2).truth
    known = np.nan_to_num(truth)
    perfect = Forecasts(
        truth, known, LEVELS, np.repeat(known[..., None], len(LEVELS), -1), np.ones(2)
    )
    record = report(perfect, replace(perfect, mean=known + 1))
    assert not any(record[name] for name in ("mae", "rmse", "mse", "mase", "smape", "crps"))
    assert set(record["coverage"].values()) == {1.0} and set(record["width"].values()) == {
        0.0
    } == set(record["by_origin"])
    assert record["interval"] == {key: [0.0, 0.0] for key in ("mae", "rmse", "mase")}
    assert record["against_naive"] == {
        "skill": 1.0,
        "diebold_mariano": None,
        "p": 0.0,
    }  # minus infinity, which JSON does not know
    assert report(perfect, perfect)["against_naive"] == {
        "skill": None,
        "diebold_mariano": 0.0,
        "p": 1.0,
    }


def test_one_origin_and_one_step_are_enough_for_figures_but_not_for_certainty():
    forecasts = forecasts_of(3, (1, 1, 1))
    record = report(forecasts, replace(forecasts, mean=forecasts.truth + 4))
    assert (
        record["mae"] == record["rmse"] == abs(forecasts.truth - forecasts.mean).item()
        and len(record["coverage"]) == 4
    )
    assert record["interval"] == dict.fromkeys(("mae", "rmse", "mase"))
    assert record["against_naive"] == {
        "skill": pytest.approx(1 - record["mae"] / 4),
        "diebold_mariano": None,
        "p": None,
    }


def test_what_is_missing_is_left_out():
    forecasts = forecasts_of(4)
    some_levels = report(
        replace(
            forecasts, levels=LEVELS[[2, 4, 6, 7]], quantiles=forecasts.quantiles[..., [2, 4, 6, 7]]
        )
    )
    assert list(some_levels["coverage"]) == list(some_levels["width"]) == ["80"]
    without = report(replace(forecasts, quantiles=None))
    assert (
        without["crps"] is None
        and without["coverage"] == without["width"] == {}
        and without["against_naive"] is None
    )
    unscaled = report(replace(forecasts, scale=np.array([0.0, forecasts.scale[1]])))
    assert (
        unscaled["by_channel"][0]["mase"] is None
        and unscaled["mase"] == unscaled["by_channel"][1]["mase"] > 0
    )
    assert report(replace(forecasts, scale=np.full(2, np.nan)))["mase"] is None


def test_forecasts_of_what_is_not_known_do_not_matter():
    forecasts = forecasts_of(5, (40, 2, 2))
    unknown = np.isnan(forecasts.truth)
    wild = replace(
        forecasts,
        mean=np.where(unknown, np.nan, forecasts.mean),
        quantiles=np.where(unknown[..., None], 1e9, forecasts.quantiles),
    )
    naive = replace(forecasts, mean=forecasts.mean[::-1])
    assert report(wild, naive) == report(forecasts, naive) and unknown.any()


def test_an_origin_of_which_nothing_is_known_does_not_count():
    forecasts = forecasts_of(6, (40, 2, 2), missing=0.0)
    naive, gone = replace(forecasts, mean=forecasts.mean[::-1]), np.arange(40) % 7 == 3
    holes, rest = (
        [
            replace(each, truth=np.where(gone[:, None, None], np.nan, each.truth))
            for each in (forecasts, naive)
        ],
        [
            replace(
                each,
                truth=each.truth[~gone],
                mean=each.mean[~gone],
                quantiles=each.quantiles[~gone],
            )
            for each in (forecasts, naive)
        ],
    )
    first, second = report(*holes), report(*rest)
    assert [error for error in first.pop("by_origin") if error is not None] == second.pop(
        "by_origin"
    )
    assert (first.pop("origins"), second.pop("origins")) == (40, 34)
    assert (
        first == second
        and first["interval"]["mae"] is not None
        and first["against_naive"]["p"] is not None
    )


def test_single_precision_costs_nothing_but_its_rounding():
    forecasts = forecasts_of(7)
    single = replace(
        forecasts,
        **{
            name: getattr(forecasts, name).astype(np.float32)
            for name in ("truth", "mean", "quantiles")
        },
    )
    assert report(single) == report(forecasts)  # eighths are exact


# How sure


def slow_error(values: list[float], overlap: int) -> float:
    """The standard error of a mean of values of which so many in a row overlap, pair by pair."""
    count, mean = len(values), sum(values) / len(values)
    plain = weighted = 0.0
    for s in range(count):
        for t in range(count):
            product = (values[s] - mean) * (values[t] - mean) / count
            plain += product if abs(s - t) < overlap else 0.0
            weighted += max(0, 1 - abs(s - t) / overlap) * product
    correction = (count + 1 - 2 * overlap + overlap * (overlap - 1) / count) / count
    return math.sqrt(max(plain, weighted) / count / correction)


@settings(max_examples=60, deadline=None)
@given(SEEDS, some.integers(2, 30), some.integers(1, 29))
def test_standard_errors_are_those_of_a_slow_twin(seed, origins, overlap):
    values, overlap = np.random.default_rng(seed).random(origins), min(overlap, origins - 1)
    assert standard_error(values, overlap) == pytest.approx(
        (slow_error(values.tolist(), overlap), max(1, origins / overlap - 1)), rel=1e-6
    )


@pytest.mark.parametrize(
    "origins, horizon, overlap", [(20, 3, None), (200, 2, None), (30, 1, None), (40, 6, 2)]
)
def test_intervals_are_those_of_a_slow_twin(origins, horizon, overlap):
    forecasts = replace(forecasts_of(8, (origins, horizon, 2)), overlap=overlap)
    errors, overlap = forecasts.truth - forecasts.mean, overlap or horizon
    known = [each[~np.isnan(each)] for each in errors if not np.isnan(each).all()]
    for name, power in (("mae", 1), ("rmse", 2)):
        cells = [abs(each) ** power for each in known]
        mean, size = np.concatenate(cells).mean(), np.mean([len(each) for each in cells])
        error = (
            slow_error([(each.sum() - len(each) * mean) / size for each in cells], overlap) / mean
        )
        reach = stats.t.ppf(0.975, len(cells) / overlap - 1) * error
        assert report(forecasts)["interval"][name] == pytest.approx(
            [(mean * math.exp(sign * reach)) ** (1 / power) for sign in (-1, 1)]
        )


@pytest.mark.parametrize("origins, horizon", [(40, 1), (160, 4), (96, 24), (16, 4)])
def test_intervals_hold_the_true_error_though_neighbours_overlap(origins, horizon):
    generator, hits = np.random.default_rng(9), []
    for _ in range(300):
        errors = overlapping(generator, origins, horizon)
        cells = {"mae": abs(errors), "mse": errors**2, "mase": abs(errors)}
        low, high = bounds(cells, horizon, np.zeros(len(errors), int))["mae"]
        hits.append(low <= math.sqrt(2 / math.pi) <= high)
    assert 0.9 < np.mean(hits) < 0.99


def test_an_interval_needs_four_origins_that_do_not_overlap():
    errors = overlapping(np.random.default_rng(10), 15, 4)
    assert report(of_errors(errors))["interval"] == dict.fromkeys(("mae", "rmse", "mase"))
    assert report(of_errors(np.vstack([errors, errors[:1]])))["interval"]["mae"] is not None
    assert report(replace(of_errors(errors), overlap=3))["interval"]["mae"] is not None


def test_diebold_mariano_by_hand():
    first, second = (
        np.array([1.0, 5.0, 2.0, 4.0]),
        np.array([1.0, 3.0, 1.0, 1.0]),
    )  # differences 0, 2, 1, 3; mean 1.5
    variance = (
        1.25 + 2 * 0.5 * -0.4375
    )  # of lag 0; of lag 1, with weight 1/2, for without one it is less
    expected = 1.5 / math.sqrt(variance / 4) * math.sqrt((4 + 1 - 2 * 2 + 2 * 1 / 4) / 4)
    p = 1 - 2 / math.pi * math.atan(expected)  # Student's t with 4 / 2 - 1 degrees in closed form
    assert diebold_mariano(first, second, 2) == pytest.approx(
        (expected, p)
    ) and expected == pytest.approx(2.0381, abs=1e-4)
    assert diebold_mariano(second, first, 2) == pytest.approx((-expected, p))


@settings(max_examples=40, deadline=None)
@given(SEEDS, some.integers(3, 30))
def test_one_step_ahead_it_is_the_paired_t_test(seed, origins):
    first, second = np.random.default_rng(seed).random((2, origins))
    expected = stats.ttest_rel(first, second)
    assert diebold_mariano(first, second, 1) == pytest.approx((expected.statistic, expected.pvalue))


@settings(max_examples=60, deadline=None)
@given(SEEDS, some.integers(2, 30), some.integers(1, 29))
def test_diebold_mariano_is_that_of_a_slow_twin(seed, origins, overlap):
    first, second = np.random.default_rng(seed).random((2, origins))
    overlap = min(overlap, origins - 1)
    apart = [a - b for a, b in zip(first, second)]
    statistic = sum(apart) / origins / slow_error(apart, overlap)
    assert diebold_mariano(first, second, overlap) == pytest.approx(
        (statistic, 2 * stats.t.sf(abs(statistic), max(1, origins / overlap - 1))), rel=1e-6
    )


def share_below(horizon: int, noise: float, trials: int = 800) -> float:
    """How often two forecasters with errors of 1 and `noise` differ with p < 0.05, from 60 origins."""
    generator, found = np.random.default_rng(11), 0
    for _ in range(trials):
        first, second = (
            abs(overlapping(generator, 60, horizon, each)).mean((1, 2)) for each in (1.0, noise)
        )
        found += diebold_mariano(first, second, horizon)[1] < 0.05
    return found / trials


def test_equal_forecasters_seldom_differ_and_unequal_ones_often():
    assert 0.03 < share_below(1, 1.0) < 0.07  # 5 % expected
    assert (
        0.02 < share_below(4, 1.0) < 0.07 and 0.01 < share_below(15, 1.0) < 0.07
    )  # as much overlap as can be
    assert share_below(1, 1.5) > 0.75 and share_below(4, 1.5) > 0.7


def test_differences_that_never_vary():
    losses = np.array([1.0, 2.0, 3.0])
    assert diebold_mariano(losses, losses, 2) == (0.0, 1.0)
    assert diebold_mariano(losses, losses + 1, 2) == (-math.inf, 0.0)
    assert diebold_mariano(losses + 1, losses, 1) == (math.inf, 0.0)


def test_losses_that_are_not_known_are_left_out():
    first, second = np.random.default_rng(12).random((2, 9))
    assert diebold_mariano(
        np.insert(first, 4, np.nan), np.insert(second, 4, np.nan), 2
    ) == diebold_mariano(first, second, 2)
    assert diebold_mariano(
        np.insert(first, 4, 7.0), np.insert(second, 4, np.nan), 2
    ) == diebold_mariano(first, second, 2)


def test_a_report_compares_the_errors_of_each_origin():
    generator = np.random.default_rng(13)
    truth = overlapping(generator, 50, 3)
    forecasts, naive = replace(of_errors(truth), mean=truth / 2), of_errors(truth)
    record = report(forecasts, naive)["against_naive"]
    statistic, p = diebold_mariano(abs(truth / 2).mean((1, 2)), abs(truth).mean((1, 2)), 3)
    assert (
        record
        == {
            "skill": pytest.approx(0.5),
            "diebold_mariano": pytest.approx(statistic),
            "p": pytest.approx(p),
        }
        and statistic < 0
        and p < 0.01
    )
    with pytest.raises(DataError, match="same truth"):
        report(forecasts, of_errors(truth[1:]))
    with pytest.raises(DataError, match="same truth"):
        report(forecasts, of_errors(truth + 1))


# What is needed beforehand


@settings(max_examples=40, deadline=None)
@given(SEEDS, some.integers(2, 12), some.integers(1, 11))
def test_the_scale_is_that_of_a_slow_twin(seed, times, season):
    generator, season = np.random.default_rng(seed), min(season, times - 1)
    values = np.where(generator.random((times, 2)) < 0.3, np.nan, generator.normal(size=(times, 2)))
    for c, found in enumerate(mase_scale(values, season)):
        errors = [abs(values[t, c] - values[t - season, c]) for t in range(season, times)]
        errors = [error for error in errors if not math.isnan(error)]
        assert found == pytest.approx(sum(errors) / len(errors)) if errors else math.isnan(found)


def test_the_naive_forecast_of_the_training_data_has_a_mase_of_one():
    values = np.random.default_rng(14).normal(size=(50, 2)).cumsum(0)
    record = report(
        Forecasts(values[1:, None], values[:-1, None], np.array([]), None, mase_scale(values, 1))
    )
    assert record["mase"] == pytest.approx(1.0)


@settings(max_examples=40, deadline=None)
@given(
    SEEDS,
    some.integers(5, 40),
    some.sampled_from([(0.2, 0.5, 0.8), (0.5,), (0.25, 0.29, 0.57, 0.71)]),
)
def test_conformal_offsets_are_those_of_a_slow_twin(seed, origins, levels):
    generator = np.random.default_rng(seed)
    residuals = generator.normal(size=(origins, 2, 3))
    residuals[generator.permutation(origins)[: origins - 5], 1, 2] = np.nan  # 5 are left
    found = conformal(residuals, levels)
    for h, c, q in np.ndindex(2, 3, len(levels)):
        ordered = sorted(value for value in residuals[:, h, c] if not math.isnan(value))
        hundredths = (len(ordered) + 1) * round(100 * levels[q])  # in whole numbers
        floor, ceiling = ordered[hundredths // 100 - 1], ordered[-(-hundredths // 100) - 1]
        assert found[h, c, q] == (
            floor if levels[q] < 0.5 else ceiling if levels[q] > 0.5 else (floor + ceiling) / 2
        )
    assert found.shape == (2, 3, len(levels)) and (np.diff(found, axis=-1) >= 0).all()


@pytest.mark.parametrize("origins, expected", [(39, 38 / 40), (50, 49 / 51), (100, 97 / 101)])
def test_conformal_intervals_cover_what_they_promise_in_each_tail(origins, expected):
    trials, generator = 4000, np.random.default_rng(15)
    offsets = conformal(generator.exponential(size=(origins, trials, 1)), [0.025, 0.975])[
        :, 0
    ]  # (trials, 2), lopsided
    truth = generator.exponential(size=trials)
    deviation = math.sqrt(expected * (1 - expected) / trials)
    assert (
        np.mean((offsets[:, 0] <= truth) & (truth <= offsets[:, 1]))
        == pytest.approx(expected, abs=3 * deviation)
        and expected >= 0.95
    )
    assert np.mean(truth < offsets[:, 0]) == pytest.approx((1 - expected) / 2, abs=3 * deviation)


def test_ranks_of_residuals_are_exact():
    residuals = np.arange(1.0, 100.0)[
        :, None, None
    ]  # 0.29 * 100 is less than 29 in binary, 0.55 * 100 more than 55
    assert conformal(residuals, [0.29, 0.55])[0, 0].tolist() == [29, 55]


def test_too_few_residuals_for_a_level_are_refused():
    assert conformal(np.zeros((39, 1, 1)), [0.025, 0.975]).shape == (1, 1, 2)
    for levels in ([0.025], [0.975]):
        with pytest.raises(DataError, match="39 origins at least"):
            conformal(np.zeros((38, 1, 1)), levels)
    with pytest.raises(DataError, match="too few"):
        conformal(np.full((38, 1, 1), np.nan), [0.5])


# Refusals


@pytest.mark.parametrize(
    "change, words",
    [
        ({"truth": np.zeros((20, 3))}, "origins x horizon"),
        ({"truth": np.zeros((0, 3, 2))}, "origins x horizon"),
        ({"mean": np.zeros((20, 3, 1))}, "mean must"),
        ({"scale": np.ones(3)}, "scale must"),
        ({"levels": LEVELS[1:]}, "quantiles must"),
        ({"time": np.arange(3)}, "time must"),
        ({"truth": np.full((20, 3, 2), np.nan)}, "truth must"),
        ({"truth": np.full((20, 3, 2), np.inf)}, "truth must"),
        ({"mean": np.full((20, 3, 2), np.nan)}, "forecasts must"),
        ({"quantiles": np.full((20, 3, 2, 9), np.inf)}, "quantiles must"),
        ({"levels": LEVELS[::-1]}, "levels rise"),
        ({"levels": LEVELS + 0.5}, "levels rise"),
        ({"levels": LEVELS.round(1)}, "levels rise"),
    ],
)
def test_forecasts_that_do_not_fit_together_are_refused(change, words):
    with pytest.raises((DataError, ConfigError), match=words):
        replace(forecasts_of(16), **change)


def test_arrays_that_make_no_sense_are_refused():
    losses = np.arange(4.0)
    for error, words, call in (
        (DataError, "more origins", lambda: diebold_mariano(losses, losses, 4)),
        (ConfigError, "horizon", lambda: diebold_mariano(losses, losses, 0)),
        (DataError, "one value for each", lambda: diebold_mariano(losses, losses[1:], 1)),
        (ConfigError, "season", lambda: mase_scale(losses[:, None], 0)),
        (DataError, "times x channels", lambda: mase_scale(losses, 1)),
        (DataError, "more times", lambda: mase_scale(losses[:, None], 4)),
        (DataError, "origins x horizon", lambda: conformal(losses, [0.5])),
        (ConfigError, "levels", lambda: conformal(np.zeros((9, 1, 1)), [0.5, 0.5])),
        (ConfigError, "levels", lambda: conformal(np.zeros((9, 1, 1)), [])),
    ):
        with pytest.raises(error, match=words):
            call()
