"""Regress: one value for each sequence, of symbols or of numbers; or as many for each."""

from __future__ import annotations

from seriatim.data.options import LabelledSamplesOptions
from seriatim.models.ladder import Rung
from seriatim.tasks.base import Figure, Picture, Task, Verb
from seriatim.tasks.base.attention import ATTENTION_PICTURES, attention_verb
from seriatim.tasks.base.options import EvaluateOptions, SampleCoding
from seriatim.tasks.base.units import UNITS_PICTURES, units_verb
from seriatim.tasks.classify import RUNGS as CLASSIFY
from seriatim.tasks.labels.options import (
    AverageOptions,
    EncoderOptions,
    PooledOptions,
    RidgeOptions,
)
from seriatim.tasks.labels.recipes import NEURAL

VALUES = NEURAL | {"epochs": 20.0, "rate": 2e-3, "patience": 5, "validations": 20}


SUMMARIES = {
    "mean": "the mean of vectors, one for each word or step",
    "mlp": "the mean of vectors, one for each word or step, under hidden layers",
    "convolution": "filters over a few words or steps, the mean answer of each",
}


RUNGS: dict[str, Rung] = {
    "average": Rung(
        "the mean of all values: the floor",
        "seriatim.tasks.labels.models.ridge:Average",
        AverageOptions,
        counts=True,
    ),
    "linear": Rung(
        "n-grams of symbols or traits of numbers, ridge regression",
        "seriatim.tasks.labels.models.ridge:Ridge",
        RidgeOptions,
        counts=True,
    ),
    "pretrained": Rung(
        "vectors of a pretrained encoder, frozen, under ridge regression",
        "seriatim.tasks.labels.models.pretrained:PretrainedRidge",
        EncoderOptions,
        counts=True,
        needs="pretrained",
    ),
} | {
    name: Rung(
        SUMMARIES.get(name, each.summary),
        "seriatim.tasks.labels.models.network:SequenceRegressor",
        PooledOptions,
        {key: value for key, value in each.settings.items() if key != "beside"}
        | {"pool": "last" if name == "tree" else "mean", "dropout": 0.1},
        VALUES,
        symbols=each.symbols,
        usual=each.usual,
        vectors=each.vectors,
    )
    for name, each in CLASSIFY.items()
    if not each.counts
}

HERE, LABELS = "seriatim.tasks.regress.", "seriatim.tasks.labels."
TABLES, PICTURES = LABELS + "tables:", LABELS + "pictures:"

VERBS: dict[str, Verb] = {
    "evaluate": Verb(
        "How well it estimates the values of other data: errors, skill, coverage.",
        "evaluate",
        "evaluation",
        options=EvaluateOptions,
        table=TABLES + "value_figures",
        example="seriatim evaluate runs/age test.jsonl",
    ),
    "predict": Verb(
        "The value of each sequence, or its values, with deviation and interval of 80 %.",
        "predict",
        "predictions",
        table=TABLES + "value_lines",
        rows=TABLES + "value_rows",
        pieces=True,
        gaps=True,
        example="seriatim predict runs/age new.jsonl",
    ),
    "graph": Verb(
        "How the loss of one example is computed, with all values and gradients: a small network's.",
        "graph",
        "graph",
        table=TABLES + "graph",
        rows=TABLES + "graph_rows",
        example="seriatim graph runs/mlp one.jsonl",
    ),
    "attention": attention_verb("seriatim attention runs/transformer new.jsonl"),
    "units": units_verb('seriatim units runs/gru "not terrible"'),
}

TASK = Task(
    name="regress",
    question="what value has each sequence?",
    example="seriatim fit regress gru engines.jsonl --out runs/age",
    rungs=RUNGS,
    figures=(
        Figure(
            "mae",
            "MAE",
            "{:.4g}",
            "mean absolute error",
            test=HERE + "metrics:p_of_difference",
            test_name="paired bootstrap, 95 %",
        ),
        Figure("rmse", "RMSE", "{:.4g}"),
        Figure("r_squared", "R²"),
        Figure("skill", "skill", "{:.1%}"),
        Figure("nats_per_value", "nats/value", wide=True),
        Figure("coverage", "in 80 %", "{:.0%}"),
        Figure(
            "scaled_mae",
            "scaled MAE",
            "{:.4f}",
            "scaled mean absolute error",
            test=HERE + "metrics:p_of_difference",
            test_name="paired bootstrap, 95 %",
            shown=False,
            told="scaled_mae",
        ),
    ),
    ranking=HERE + "predictor:ranking",
    cut_by=LABELS + "cut:RegressCut",
    predictor=HERE + "predictor:Regressor",
    codec=LABELS + "codec:LabelCodec.from_json",
    verbs=VERBS,
    pictures={
        "scatter": Picture("evaluate", PICTURES + "scatter", "found values over the true ones"),
        **ATTENTION_PICTURES,
        **UNITS_PICTURES,
    },
    reading=LabelledSamplesOptions,
    coding=SampleCoding,
    mixture="seriatim.models.mixture:MeanOfNormals",
    usual_unit="word",
    floor="average",
    kept="seriatim predict {run} FILE",
)
