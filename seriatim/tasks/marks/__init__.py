"""Marks: which of several things are true of each sequence, of symbols or of numbers?"""

from __future__ import annotations

from seriatim.data.options import LabelledSamplesOptions
from seriatim.models.ladder import Rung
from seriatim.tasks.base import Figure, Task, Verb
from seriatim.tasks.base.options import EvaluateOptions, SampleCoding
from seriatim.tasks.classify import RUNGS as CLASSIFY
from seriatim.tasks.labels.options import PooledOptions, RidgeOptions
from seriatim.tasks.marks.options import FrequenciesOptions, PredictOptions

HERE, LABELS = "seriatim.tasks.marks.", "seriatim.tasks.labels."

RUNGS: dict[str, Rung] = {
    "frequencies": Rung(
        "every label by its own frequency, whatever is read: the floor",
        HERE + "models:Frequencies",
        FrequenciesOptions,
        counts=True,
    ),
    "linear": Rung(
        "n-grams of symbols or traits of numbers, a logistic regression for each label",
        HERE + "models:OneAgainstRest",
        RidgeOptions,
        counts=True,
    ),
} | {
    name: Rung(
        each.summary,
        HERE + "network:MarksNetwork",
        PooledOptions,
        {key: value for key, value in each.settings.items() if key != "beside"},
        each.training,
        each.numbers,
        usual=each.usual,
    )
    for name, each in CLASSIFY.items()
    if not each.counts
}

TASK = Task(
    name="marks",
    question="which of several things are true of each sequence?",
    example="seriatim fit marks linear articles.jsonl --out runs/topics",
    rungs=RUNGS,
    figures=(
        Figure(
            "bits_per_sequence",
            "bits/sequence",
            words="bits per sequence",
            test=HERE + "metrics:p_of_difference",
            draws=HERE + "metrics:drawn_bits",
            test_name="paired bootstrap, 95 %",
        ),
        Figure("micro_f1", "micro F1", higher=True),
        Figure("macro_f1", "macro F1", higher=True),
        Figure("exact", "exact", "{:.2%}", higher=True),
    ),
    cut_by=HERE + "cut:MarksCut",
    predictor=HERE + "predictor:Marker",
    codec=HERE + "codec:MarksCodec.from_json",
    verbs={
        "evaluate": Verb(
            "How well it tells what is true of other data: bits per sequence, F1, whole sets.",
            "evaluate",
            "evaluation",
            options=EvaluateOptions,
            table=HERE + "tables:mark_figures",
            example="seriatim evaluate runs/topics test.jsonl",
        ),
        "predict": Verb(
            "The labels of each sequence, and the likeliest with their probabilities.",
            "predict",
            "predictions",
            options=PredictOptions,
            table=HERE + "tables:mark_lines",
            rows=HERE + "tables:mark_rows",
            pieces=True,
            gaps=True,
            example="seriatim predict runs/topics new.txt --threshold 0.3",
        ),
        "score": Verb(
            "One line a sequence: natural-log probability of its labels, how many there are to "
            "choose from, unknown labels.",
            "score",
            "scores",
            table="seriatim.show.tables:score_lines",
            example="seriatim score runs/topics test.jsonl",
        ),
    },
    reading=LabelledSamplesOptions,
    coding=SampleCoding,
    mixture="seriatim.tasks.sets.models:PooledCoins",
    usual_unit="word",
    floor="frequencies",
    kept="seriatim predict {run} FILE",
)
