"""Autoencode: a vector for each sequence, and sequences from vectors, labels or nothing."""

from __future__ import annotations

from seriatim.data.options import SampledOptions
from seriatim.models.ladder import Rung
from seriatim.tasks.autoencode.options import (
    AutoencodeOptions,
    CombineOptions,
    CompleteOptions,
    GenerateOptions,
    InterpolateOptions,
    LikelihoodOptions,
    NeighbourOptions,
    SampleCoding,
)
from seriatim.tasks.base import Figure, Picture, Task, Verb
from seriatim.tasks.base.options import TopOptions

VECTOR = {"width": 256, "dropout": 0.2, "free_bits": 0.2}


SELVES = {
    "rows": 32,
    "length": 32,
    "optimiser": "muon",
    "rate": 4e-3,
    "warmup": 0.05,
    "epochs": 12.0,
    "least_updates": 200,
    "patience": 4,
    "validations": 24,
}


RUNGS: dict[str, Rung] = {
    "decoder": Rung(
        "no vector: an lstm alone, a language model, with or without a condition",
        "seriatim.tasks.autoencode.models:Autoencoder",
        AutoencodeOptions,
        VECTOR | {"mixer": "lstm", "latent": 0},
        SELVES,
    ),
    "rnn": Rung(
        "recurrent network with tanh units, through one vector",
        "seriatim.tasks.autoencode.models:Autoencoder",
        AutoencodeOptions,
        VECTOR | {"mixer": "rnn"},
        SELVES | {"rate": 2e-3},
    ),
    "gru": Rung(
        "gated recurrent unit, through one vector",
        "seriatim.tasks.autoencode.models:Autoencoder",
        AutoencodeOptions,
        VECTOR | {"mixer": "gru"},
        SELVES,
    ),
    "lstm": Rung(
        "long short-term memory, through one vector",
        "seriatim.tasks.autoencode.models:Autoencoder",
        AutoencodeOptions,
        VECTOR | {"mixer": "lstm"},
        SELVES,
    ),
    "transformer": Rung(
        "self-attention, through one vector",
        "seriatim.tasks.autoencode.models:Autoencoder",
        AutoencodeOptions,
        VECTOR
        | {"mixer": "attention", "width": 128, "layers": 2, "residual": True, "feed_forward": 4.0},
        SELVES,
    ),
}

HERE = "seriatim.tasks.autoencode."
TABLES, PICTURES = HERE + "tables:", HERE + "pictures:"

VERBS: dict[str, Verb] = {
    "evaluate": Verb(
        "Nats per symbol, what the vectors say, and how well sequences are written again.",
        "evaluate",
        "evaluation",
        options=LikelihoodOptions,
        table=TABLES + "vector_figures",
        example="seriatim evaluate runs/vae test.txt",
    ),
    "embed": Verb(
        "A vector for each sequence.",
        "embed",
        "vectors",
        table="seriatim.show.vectors:vector_lines",
        rows="seriatim.show.vectors:vector_rows",
        pieces=True,
        gaps=True,
        example="seriatim embed runs/vae sentences.txt",
    ),
    "reconstruct": Verb(
        "Each sequence written again from its vector.",
        "reconstruct",
        "reconstructions",
        table=TABLES + "written_lines",
        pieces=True,
        example="seriatim reconstruct runs/vae sentences.txt",
    ),
    "predict": Verb(
        "The label of each sequence, by Bayes' rule, of models conditioned on one.",
        "predict",
        "predictions",
        options=TopOptions,
        table=TABLES + "label_lines",
        rows="seriatim.show.frames:label_rows",
        pieces=True,
        gaps=True,
        example="seriatim predict runs/decoder new.txt",
    ),
    "score": Verb(
        "One line a sequence: its log-probability, number of symbols, number unknown.",
        "score",
        "scores",
        table=TABLES + "score_lines",
        gaps=True,
        example="seriatim score runs/vae sentences.txt",
    ),
    "neighbours": Verb(
        "The sequences of the data whose vectors are nearest to that of another.",
        "neighbours",
        "neighbours",
        options=NeighbourOptions,
        table=TABLES + "neighbour_lines",
        gaps=True,
        example='seriatim neighbours runs/vae sentences.txt --to "a text"',
    ),
    "generate": Verb(
        "Let it write, from vectors drawn at random.",
        "generate",
        "generated",
        reads="text",
        argument="prompt",
        optional=True,
        options=GenerateOptions,
        table=TABLES + "written_lines",
        example="seriatim generate runs/vae --count 3",
    ),
    "interpolate": Verb(
        "Sequences on the way from one vector to another, or a grid between four.",
        "interpolate",
        "interpolation",
        options=InterpolateOptions,
        table=TABLES + "written_lines",
        gaps=True,
        example='seriatim interpolate runs/vae --text "one sentence" --text another',
    ),
    "analogy": Verb(
        "Vectors added and subtracted, and what is written from that.",
        "analogy",
        "analogy",
        reads="text",
        argument="text",
        options=CombineOptions,
        table=TABLES + "written_lines",
        example='seriatim analogy runs/vae "the cat sleeps - the cat + the dog"',
    ),
    "complete": Verb(
        "Go on with the first part of a sequence of numbers.",
        "complete",
        "completion",
        options=CompleteOptions,
        table=TABLES + "written_lines",
        gaps=True,
        example="seriatim complete runs/drawings new.svg --part 0.5",
    ),
}

TASK = Task(
    name="autoencode",
    question="what lies between these two?",
    example="seriatim fit autoencode lstm sentences.txt --out runs/vae",
    rungs=RUNGS,
    figures=(
        Figure(
            "nats_per_symbol",
            "nats/symbol",
            words="nats per symbol",
            test=HERE + "metrics:p_of_difference",
            draws=HERE + "metrics:drawn_nats",
            test_name="paired bootstrap, 95 %",
        ),
        Figure("perplexity", "perplexity", "{:.2f}", shown=False),
        Figure("said", "KL", "{:.2f}"),
        Figure("active", "active", "{}"),
        Figure("shuffled", "shuffled", "{:.3f}", shown=False),
        Figure("exact", "exact", "{:.2%}"),
    ),
    cut_by=HERE + "cut:AutoencodeCut",
    predictor=HERE + "predictor:Autoencoding",
    codec=HERE + "codec:Conditioned.from_json",
    verbs=VERBS,
    pictures={
        "latent": Picture("embed", PICTURES + "latent", "vectors in a plane, with their labels"),
        "interpolation": Picture(
            "interpolate", PICTURES + "interpolation", "what lies between two, or in a grid of four"
        ),
        "drawings": Picture("generate", PICTURES + "drawings", "what is generated, side by side"),
        "roll": Picture("generate", PICTURES + "roll", "melodies that are generated, note by note"),
        "reconstruction": Picture(
            "reconstruct", PICTURES + "reconstruction", "sequences, and the same written again"
        ),
        "completion": Picture(
            "complete", PICTURES + "completion", "how the beginning of a drawing goes on"
        ),
    },
    reading=SampledOptions,
    coding=SampleCoding,
    mixture=None,
    usual_unit="word",
    kept="seriatim generate {run}",
    extra="texts",
)
