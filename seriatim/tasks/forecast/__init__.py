"""Forecast: the next numbers of series."""

from __future__ import annotations

from seriatim.data.options import SeriesOptions
from seriatim.models.ladder import Rung
from seriatim.tasks.base import Figure, Picture, Task, Verb
from seriatim.tasks.forecast.options import (
    AutoregressionOptions,
    ConformalOptions,
    EvaluateForecastOptions,
    ForecastOptions,
    LagsOptions,
    LagTableOptions,
    PathOptions,
    RuleOptions,
    SeriesCoding,
    SmoothingOptions,
    ThetaOptions,
    WalkOptions,
)

WINDOWS = {
    "rows": 32,
    "rate": 1e-3,
    "epochs": 10.0,
    "least_updates": 200,
    "patience": 4,
    "validations": 20,
}


SQUARE = {
    "density": "square"
}  # networks learn means; a likelihood would weigh calm channels and windows most


RUNGS: dict[str, Rung] = {
    "mean": Rung(
        "the mean of the past: the floor",
        "seriatim.tasks.forecast.models.rules:Mean",
        RuleOptions,
        counts=True,
        always=True,
    ),
    "persistence": Rung(
        "the last value",
        "seriatim.tasks.forecast.models.rules:Persistence",
        RuleOptions,
        {"context": 1},
        counts=True,
        always=True,
    ),
    "drift": Rung(
        "the last value, and on along the line through the first",
        "seriatim.tasks.forecast.models.rules:Drift",
        RuleOptions,
        counts=True,
        always=True,
        usual=False,
    ),
    "seasonal": Rung(
        "the value a season ago",
        "seriatim.tasks.forecast.models.rules:SeasonalNaive",
        RuleOptions,
        {"context": 1024},
        counts=True,
        always=True,
    ),
    "smoothing": Rung(
        "level, trend and season, each a mean that forgets (Holt and Winters)",
        "seriatim.tasks.forecast.models.smoothing:ExponentialSmoothing",
        SmoothingOptions,
        {"context": 200},
        counts=True,
    ),
    "theta": Rung(
        "a mean that forgets, moved along half the slope of all (Assimakopoulos and Nikolopoulos)",
        "seriatim.tasks.forecast.models.smoothing:Theta",
        ThetaOptions,
        {"context": 1024},
        counts=True,
    ),
    "autoregression": Rung(
        "a weighted sum of the last values, step by step",
        "seriatim.tasks.forecast.models.rules:Autoregression",
        AutoregressionOptions,
        counts=True,
    ),
    "lags-ridge": Rung(
        "ridge regression on the past, every horizon directly",
        "seriatim.tasks.forecast.models.lags:LagsRidge",
        LagsOptions,
        counts=True,
    ),
    "lags-boosting": Rung(
        "boosted trees on the past, step by step",
        "seriatim.tasks.forecast.models.lags:LagsBoosting",
        LagsOptions,
        {"context": 24, "windows": (7, 24)},
        counts=True,
    ),
    "linear": Rung(
        "a linear map of the past, trained by gradients, with a density",
        "seriatim.tasks.forecast.models.network:ForecastNetwork",
        ForecastOptions,
        SQUARE | {"mixer": "none", "width": 16},
        WINDOWS,
    ),
    "convolution": Rung(
        "causal dilated convolutions, gated",
        "seriatim.tasks.forecast.models.network:ForecastNetwork",
        ForecastOptions,
        SQUARE
        | {"mixer": "convolution", "width": 32, "layers": 4, "residual": True, "dropout": 0.2},
        WINDOWS,
    ),
    "rnn": Rung(
        "recurrent network with tanh units",
        "seriatim.tasks.forecast.models.network:ForecastNetwork",
        ForecastOptions,
        SQUARE | {"mixer": "rnn", "width": 32, "dropout": 0.1},
        WINDOWS,
    ),
    "gru": Rung(
        "gated recurrent unit",
        "seriatim.tasks.forecast.models.network:ForecastNetwork",
        ForecastOptions,
        SQUARE | {"mixer": "gru", "width": 32, "dropout": 0.1},
        WINDOWS,
    ),
    "lstm": Rung(
        "long short-term memory",
        "seriatim.tasks.forecast.models.network:ForecastNetwork",
        ForecastOptions,
        SQUARE | {"mixer": "lstm", "width": 32, "dropout": 0.1},
        WINDOWS,
    ),
    "transformer": Rung(
        "self-attention over the past",
        "seriatim.tasks.forecast.models.network:ForecastNetwork",
        ForecastOptions,
        SQUARE
        | {
            "mixer": "attention",
            "width": 32,
            "layers": 2,
            "residual": True,
            "feed_forward": 2.0,
            "dropout": 0.2,
        },
        WINDOWS,
    ),
}

HERE = "seriatim.tasks.forecast."
TABLES, PICTURES = HERE + "tables:", HERE + "pictures:"

VERBS: dict[str, Verb] = {
    "evaluate": Verb(
        "How well it would have forecast: walking forward, errors by horizon, coverage.",
        "evaluate",
        "evaluation",
        options=EvaluateForecastOptions,
        table=TABLES + "forecast_figures",
        example="seriatim evaluate runs/load later.csv --past load.csv",
    ),
    "predict": Verb(
        "The next numbers of each series, with quantiles.",
        "predict",
        "predictions",
        options=PathOptions,
        table=TABLES + "forecast_table",
        rows=TABLES + "forecast_rows",
        gaps=True,
        example="seriatim predict runs/load load.csv",
    ),
    "backtest": Verb(
        "Forecasts from every origin, beside what came.",
        "backtest",
        "backtest",
        options=WalkOptions,
        rows=TABLES + "forecast_rows",
        example="seriatim backtest runs/load load.csv --begin 0.9",
    ),
    "lags": Verb(
        "A table of the values before each, for any regressor.",
        HERE + "lag_tables:lags",
        "lags",
        reads="file",
        options=LagTableOptions,
        table=TABLES + "lag_lines",
        rows=TABLES + "lag_rows",
        runs=False,
        example="seriatim lags load.csv --lags 12 --horizon 1 --out table.csv",
    ),
}

TASK = Task(
    name="forecast",
    question="what happens over the next steps?",
    example="seriatim fit forecast lags-ridge load.csv --horizon 24 --out runs/load",
    rungs=RUNGS,
    figures=(
        Figure(
            "mase",
            "MASE",
            words="MASE",
            test=HERE + "metrics:p_of_difference",
            draws=HERE + "metrics:drawn_mase",
            test_name="Diebold and Mariano's test, 95 %",
        ),
        Figure("mae", "MAE", "{:.4g}"),
        Figure("rmse", "RMSE", "{:.4g}"),
        Figure("crps", "CRPS", "{:.4g}"),
        Figure("skill", "over naive", "{:.1%}", told="naive"),
        Figure("coverage", "in 80 %", "{:.0%}"),
    ),
    cut_by=HERE + "cut:ForecastCut",
    predictor=HERE + "predictor:Forecaster",
    codec=HERE + "codec:SeriesCodec.from_json",
    verbs=VERBS,
    pictures={
        "forecast": Picture("predict", PICTURES + "fan", "what comes, as a fan of quantiles"),
        "origins": Picture("backtest", PICTURES + "walked", "forecasts from every origin"),
        "horizon": Picture("evaluate", PICTURES + "by_horizon", "the error by horizon"),
        "coverage": Picture(
            "evaluate", PICTURES + "coverage", "what lies inside intervals, of each series"
        ),
    },
    reading=SeriesOptions,
    coding=SeriesCoding,
    fitting=ConformalOptions,
    mixture=HERE + "models.mixture:MeanOfForecasts",
    usual_unit="value",
    floor="persistence",
    kept="seriatim predict {run} FILE",
)
