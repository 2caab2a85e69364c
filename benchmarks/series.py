"""Forecasts on public series and on generated ones whose best error is known, and the speed of walking forward.

    pip install -c constraints.txt -e '.[test,benchmark]'
    python benchmarks/series.py [etth1] [networks] [sunspots] [stocks] [passengers] [m4] [signals] [speed]

Peers: scikit-learn's Ridge on the same lags, statsforecast, what others have published, and the true process. Figures of ETTh1 are in units of the training data's deviation,
the standard split: 8,640 hours to train, then 2,880 by which networks stop and which others leave alone, then 2,880 to test, every window of the test that is
whole.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from record import write_row

from seriatim.api import compare, fit
from seriatim.data import read
from seriatim.data.corpora.signals import parse_signal
from seriatim.data.sequences import Sequences
from seriatim.data.series import series_of
from seriatim.tasks.forecast import TASK

DATA = (
    Path(os.environ.get("SERIATIM_DATA", Path(__file__).parent.parent.parent / "shared" / "data"))
    / "series"
)
PACKAGES = ("torch", "numpy", "scikit-learn")


def series(name: str) -> Sequences:
    return series_of(read(str(DATA / f"{name}.csv"), gaps=True))


def tested(
    data: Sequences, model: str, horizon: int, valid: Sequences | None = None, **settings
) -> tuple[dict, float, float]:
    """Fitted on the first 8,640 hours; every whole window of the test."""
    begin = time.perf_counter()
    predictor = fit("forecast", model, data.part(0, 8640), valid, horizon=horizon, **settings)
    fitted = time.perf_counter() - begin
    begin = time.perf_counter()
    measured = predictor.measure(data.part(0, 14400), begin="11520", whole=True)
    walked = time.perf_counter() - begin
    return predictor.summarise(measured), fitted, walked


def ridge_of_scikit(data: Sequences, horizon: int, context: int = 336) -> tuple[float, float]:
    """The same with scikit-learn's Ridge: scaled mean squared error, and seconds to fit."""
    from sklearn.linear_model import Ridge

    values = data.field("values").flat[:14400]
    z = (values - values[:8640].mean(0)) / values[:8640].std(0)
    begin = time.perf_counter()
    windows = np.concatenate(
        [sliding_window_view(z[:8640, c], context + horizon) for c in range(z.shape[1])]
    )
    last = windows[:, context - 1 : context]
    model = Ridge(alpha=100.0).fit(windows[:, :context] - last, windows[:, context:] - last)
    seconds = time.perf_counter() - begin
    errors = []
    for c in range(z.shape[1]):
        test = sliding_window_view(z[11520 - context :, c], context + horizon)
        errors.append(
            (
                (
                    model.predict(test[:, :context] - test[:, context - 1 : context])
                    + test[:, context - 1 : context]
                    - test[:, context:]
                )
                ** 2
            ).mean()
        )
    return float(np.mean(errors)), seconds


def etth1() -> None:
    data = series("ETTh1")
    for horizon in (96, 720):
        record, fitted, walked = tested(data, "lags-ridge", horizon, context=336)
        error, seconds = ridge_of_scikit(data, horizon)
        mse, mae = (record["scaled"][name] for name in ("mse", "mae"))
        ours = f"MSE {mse:.4f}, MAE {mae:.4f}; fitted in {fitted:.1f} s, {record['origins']:,} origins in {walked:.1f} s"
        write_row(
            "series.py",
            f"ETTh1, 336 to {horizon}: lags-ridge",
            ours,
            f"scikit-learn's Ridge: MSE {error:.4f}, fitted in {seconds:.1f} s"
            + ("; published: DLinear .375, PatchTST .370" if horizon == 96 else ""),
            f"{record['scaled']['mse'] - error:+.4f}",
            PACKAGES,
        )


def networks() -> None:
    data = series("ETTh1")
    record, fitted, _ = tested(data, "linear", 96, data.part(8640 - 336, 11520), context=336)
    write_row(
        "series.py",
        "ETTh1, 336 to 96: linear",
        f"MSE {record['scaled']['mse']:.4f}, MAE {record['scaled']['mae']:.4f}; {fitted:.0f} s",
        "published: DLinear .375/.399, PatchTST .370/.400",
        f"{record['scaled']['mse'] - 0.375:+.4f}",
        PACKAGES,
    )


def sunspots() -> None:
    data = series("sunspot.month")
    for model, settings in (
        ("persistence", {}),
        ("autoregression", {"order": 12}),
        ("lags-ridge", {"context": 24}),
        ("gru", {"context": 48, "epochs": 10}),
    ):
        record = fit("forecast", model, data.part(0, 3000), horizon=1, **settings).evaluate(
            data, begin="3000"
        )
        write_row(
            "series.py",
            f"monthly sunspots, 3,000 to learn from, one step ahead: {model}",
            f"MAE {record['mae']:.2f}",
            "published: persistence 16.13, dense network 15.08, AR(12) 14.53",
            f"{record['mae'] - 14.53:+.2f}",
            PACKAGES,
        )


def stocks() -> None:
    """Nothing is to be won, by any rung: log returns of the last 372 days against the random walk, which forecasts zero. Networks from five seeds; with
    each row, the largest t of Diebold and Mariano's test among all seeds and markets."""
    data = series("EuStockMarkets")
    cut = len(data.field("values").flat) - 372
    returns = np.diff(np.log(data.field("values").flat), axis=0)[-372:]
    walk = np.sqrt((returns**2).mean(0))
    for model, rung in TASK.rungs.items():
        settings = (
            {"order": 5, "difference": 1}
            if model == "autoregression"
            else {}
            if model == "persistence"
            else {"context": 20}
        )
        errors, tests = [], []
        for chosen in [{}] if rung.counts else [{"epochs": 5, "seed": seed} for seed in range(5)]:
            measured = fit(
                "forecast", model, data.part(0, cut), horizon=1, log=True, **settings | chosen
            ).measure(data, begin=str(cut))
            wrong = (np.log(measured["truth"]) - np.log(measured["answers"]))[:, 0]  # (372, 4)
            gained = returns**2 - wrong**2
            errors.append(np.sqrt((wrong**2).mean(0)))
            tests.append(
                gained.mean(0)
                / np.maximum(gained.std(0, ddof=1) / np.sqrt(len(gained)), 1e-4 * walk**2)
            )  # rounding is no gain
        gains = 100 * (1 - np.array(errors) / walk)  # (seeds, 4), percent
        write_row(
            "series.py",
            f"EuStockMarkets, log returns of 372 days: {model}"
            + f", mean of {len(errors)} seeds" * (len(errors) > 1),
            "RMSE x 1000: " + " / ".join(f"{1000 * each:.2f}" for each in np.mean(errors, 0)),
            "random walk: " + " / ".join(f"{1000 * each:.2f}" for each in walk),
            f"best market {gains.mean(0).max():+.2f} %"
            + f" (of one seed {gains.max():+.2f} %)" * (len(errors) > 1)
            + f", largest t {np.max(tests):.2f}",
            PACKAGES,
        )


def passengers() -> None:
    data = series("AirPassengers")
    for model, settings in (
        ("seasonal", {}),
        ("smoothing", {"context": 60, "log": True}),
        ("lags-ridge", {"context": 36, "log": True}),
        ("autoregression", {"order": 13, "log": True}),
    ):
        record = fit("forecast", model, data.part(0, 115), horizon=12, **settings).evaluate(
            data, begin="115"
        )
        write_row(
            "series.py",
            f"air passengers, 12 months ahead: {model}",
            f"MASE {record['mase']:.3f}",
            "1: the seasonal naive forecast in training",
            f"{record['mase'] - 1:+.3f}",
            PACKAGES,
        )


def m4(minutes: float = 3.0) -> None:
    """The 359 weekly series of the M4 competition as published: the rung that a comparison on the training file names first, fitted to all of it, then judged
    once on the official test, 13 weeks ahead. MASE as the competition counts it: the mean over series, with a season of 1 for weeks."""
    from statsforecast.models import SeasonalNaive, Theta

    train, test = (
        TASK.cut.sequences(DATA / f"m4-weekly-{name}.csv.xz") for name in ("train", "test")
    )
    begin = time.perf_counter()
    winner = compare("forecast", train, horizon=13, minutes=minutes)["rows"][0]
    compared = time.perf_counter() - begin
    begin = time.perf_counter()
    model = fit("forecast", winner["model"], train, horizon=13)
    record = model.summarise(model.measure(test, past=train))
    ours = time.perf_counter() - begin
    peers = {}
    for peer in (SeasonalNaive(season_length=1), Theta(season_length=1)):
        begin, errors = time.perf_counter(), []
        for s in range(len(test)):
            past, truth = (each.field("values").row(s)[:, 0] for each in (train, test))
            wrong = np.abs(truth - peer.forecast(past, h=13)["mean"]).mean()
            errors.append(wrong / np.abs(np.diff(past)).mean())
        peers[repr(peer)] = float(np.mean(errors)), time.perf_counter() - begin
    write_row(
        "series.py",
        "M4 weekly, official test: the winner of a comparison on the training file",
        f"{winner['model']}: mean MASE {record['mase']:.3f}, inside 95 %: {100 * record['coverage']['95']:.1f} %;"
        f" compared in {compared:.0f} s, fitted and judged in {ours:.1f} s",
        "statsforecast: "
        + ", ".join(f"{name} {mase:.3f} in {s:.1f} s" for name, (mase, s) in peers.items()),
        f"{record['mase'] - min(mase for mase, _ in peers.values()):+.3f}",
        (*PACKAGES, "statsforecast"),
    )


def signals() -> None:
    for source, model, settings in (
        ("seasonal:length=20000,period=24", "lags-ridge", {"context": 480}),
        ("autoregressive:length=20000,order=2", "autoregression", {"order": 2}),
        ("random-walk:length=20000", "persistence", {}),
        ("oscillator:length=20000", "autoregression", {"order": 1, "cross": True}),
    ):
        data = read(source)
        measured = fit("forecast", model, data.part(0, 12000), horizon=8, **settings).measure(
            data, begin="12000"
        )
        found, best = (
            np.sqrt(np.nanmean((measured["truth"] - measured["answers"]) ** 2, 0)),
            parse_signal(source).best_error(8),
        )
        write_row(
            "series.py",
            f"{source}, 8 steps ahead: {model}",
            f"RMSE {found.mean():.4f}",
            f"the best possible: {best.mean():.4f}",
            f"{(found / best).mean():.4f} times",
            PACKAGES,
        )


def speed() -> None:
    data = series("sunspot.month")
    model = fit("forecast", "lstm", data.part(0, 2000), horizon=12, context=48, updates=20)
    begin = time.perf_counter()
    model.measure(data, begin="2300", end="3300")
    walked = time.perf_counter() - begin
    begin = time.perf_counter()
    fit("forecast", "lags-ridge", data.part(0, 3000), horizon=12, context=48).measure(
        data, begin="3000", end="3200", refit=1
    )
    write_row(
        "series.py",
        "walking forward: 1,000 origins of an lstm; lags-ridge fitted again at each of 200",
        f"{walked:.2f} s; {time.perf_counter() - begin:.2f} s",
        "",
        "",
        PACKAGES,
    )


if __name__ == "__main__":
    PARTS = {
        "etth1": etth1,
        "networks": networks,
        "sunspots": sunspots,
        "stocks": stocks,
        "passengers": passengers,
        "m4": m4,
        "signals": signals,
        "speed": speed,
    }
    for name in sys.argv[1:] or PARTS:
        PARTS[name]()
