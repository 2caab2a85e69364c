"""Sets: which elements are in the next set? Chords, baskets, notes that sound."""

from __future__ import annotations

from seriatim.data.options import RollOptions
from seriatim.models.ladder import Rung
from seriatim.models.options import NetworkOptions
from seriatim.tasks.base import Figure, Picture, Task, Verb
from seriatim.tasks.base.options import EvaluateOptions, TextCoding, TopOptions
from seriatim.tasks.sets.options import CompleteOptions, FrequenciesOptions, GenerateOptions

ROLLS = {
    "epochs": 40.0,
    "least_updates": 200,
    "rows": 16,
    "length": 64,
    "rate": 4e-3,
    "patience": 5,
    "validations": 40,
}  # sets: small data, read many times


RUNGS: dict[str, Rung] = {
    "frequencies": Rung(
        "every element by its own frequency, whatever came before: the floor",
        "seriatim.tasks.sets.models:Frequencies",
        FrequenciesOptions,
        counts=True,
    ),
    "convolution": Rung(
        "causal dilated convolutions, gated",
        "seriatim.tasks.sets.models:SetNetwork",
        NetworkOptions,
        {"mixer": "convolution", "width": 64, "layers": 4, "residual": True, "dropout": 0.1},
        ROLLS,
    ),
    "rnn": Rung(
        "recurrent network with tanh units",
        "seriatim.tasks.sets.models:SetNetwork",
        NetworkOptions,
        {"mixer": "rnn", "width": 128, "dropout": 0.2},
        ROLLS | {"rate": 2e-3},
    ),
    "gru": Rung(
        "gated recurrent unit",
        "seriatim.tasks.sets.models:SetNetwork",
        NetworkOptions,
        {"mixer": "gru", "width": 128, "dropout": 0.2},
        ROLLS,
    ),
    "lstm": Rung(
        "long short-term memory",
        "seriatim.tasks.sets.models:SetNetwork",
        NetworkOptions,
        {"mixer": "lstm", "width": 128, "dropout": 0.2},
        ROLLS,
    ),
    "transformer": Rung(
        "self-attention over a window, with rotary positions",
        "seriatim.tasks.sets.models:SetNetwork",
        NetworkOptions,
        {
            "mixer": "attention",
            "width": 64,
            "layers": 2,
            "residual": True,
            "feed_forward": 4.0,
            "dropout": 0.1,
        },
        ROLLS | {"rate": 2e-3, "warmup": 0.05, "stateful": False},
    ),
}

HERE = "seriatim.tasks.sets."
TABLES, PICTURES = HERE + "tables:", HERE + "pictures:"

VERBS: dict[str, Verb] = {
    "evaluate": Verb(
        "How well it predicts sets: bits per step, F1 of elements, whole sets.",
        "evaluate",
        "evaluation",
        options=EvaluateOptions,
        table=TABLES + "set_figures",
        example="seriatim evaluate runs/piano test.txt",
    ),
    "score": Verb(
        "One line a sequence: natural-log probability, number of steps, unknown elements.",
        "score",
        "scores",
        table=TABLES + "score_lines",
        gaps=True,
        example="seriatim score runs/piano rolls.txt",
    ),
    "predict": Verb(
        "The elements that are likeliest in the set after each sequence.",
        "predict",
        "predictions",
        options=TopOptions,
        table=TABLES + "next_lines",
        rows="seriatim.show.frames:listed_rows",
        pieces=True,
        gaps=True,
        example="seriatim predict runs/piano beginnings.txt --top 3",
    ),
    "generate": Verb(
        "Let it write sets, after a prompt.",
        "generate",
        "generated",
        reads="text",
        argument="prompt",
        optional=True,
        options=GenerateOptions,
        table=TABLES + "generated_lines",
        example='seriatim generate runs/piano "60+64 . 62" --length 8',
    ),
    "complete": Verb(
        "Go on with the first part of a sequence.",
        "complete",
        "generated",
        options=CompleteOptions,
        table=TABLES + "generated_lines",
        example="seriatim complete runs/piano tune.mid --part 0.5 --out whole.mid",
    ),
}

TASK = Task(
    name="sets",
    question="which elements are in the next set?",
    example="seriatim fit sets lstm roll.txt --out runs/piano",
    rungs=RUNGS,
    figures=(
        Figure(
            "bits_per_step",
            "bits/step",
            words="bits per step",
            test=HERE + "metrics:p_of_difference",
            draws=HERE + "metrics:drawn_bits",
            test_name="paired bootstrap, 95 %",
        ),
        Figure("nats_per_step", "nats/step", "{:.4f}", shown=False),
        Figure("f1", "F1"),
        Figure("exact", "exact", "{:.2%}"),
    ),
    cut_by=HERE + "cut:SetsCut",
    predictor=HERE + "predictor:SetPredictor",
    codec=HERE + "codec:SetCodec.from_json",
    verbs=VERBS,
    pictures={"roll": Picture("generate", PICTURES + "roll", "which elements are in which step")},
    reading=RollOptions,
    coding=TextCoding,
    mixture=HERE + "models:PooledCoins",
    usual_unit="token",
    floor="frequencies",
    kept="seriatim generate {run}",
)
