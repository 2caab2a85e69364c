"""Tag: one tag for each element of a sequence, of symbols or of numbers."""

from __future__ import annotations

from seriatim.data.options import LabelledOptions
from seriatim.models.ladder import Rung
from seriatim.tasks.base import Figure, Picture, Task, Verb
from seriatim.tasks.base.attention import ATTENTION_PICTURES, attention_verb
from seriatim.tasks.base.embedding import embed_verb
from seriatim.tasks.base.options import EvaluateOptions, TextCoding
from seriatim.tasks.base.units import UNITS_PICTURES, units_verb
from seriatim.tasks.tag.options import (
    AnnotateOptions,
    BestOptions,
    HmmOptions,
    MostFrequentOptions,
    TagOptions,
)

STACK = {
    "width": 256,
    "embedding": 100,
    "bidirectional": True,
    "letters": "affixes",
    "dropout": 0.4,
    "word_dropout": 0.05,
}
# numbers are no words: they have neither letters nor others that are unknown
NUMBERS = {"letters": "no", "word_dropout": 0.0}


# many small updates: of tags that are mostly O, large batches learn the O and nothing else
TAGGING = {
    "epochs": 10.0,
    "least_updates": 200,
    "rows": 8,
    "length": 32,
    "rate": 3e-3,
    "validations": 12,
}


GATED = TAGGING | {"optimiser": "muon", "rate": 4e-3}


RUNGS: dict[str, Rung] = {
    "most-frequent": Rung(
        "every word its most frequent tag; numbers the most frequent of all",
        "seriatim.tasks.tag.models.hmm:MostFrequent",
        MostFrequentOptions,
        counts=True,
    ),
    "hmm": Rung(
        "hidden Markov model: words or numbers given tags, tags given the tag before",
        "seriatim.tasks.tag.models.hmm:HmmTagger",
        HmmOptions,
        counts=True,
    ),
    "window": Rung(
        "word vectors side by side, one hidden layer",
        "seriatim.tasks.tag.models.network:TagNetwork",
        TagOptions,
        STACK | {"mixer": "convolution", "gated": False, "activation": "relu", "kernel": 5},
        TAGGING,
        settings_of_numbers=NUMBERS,
    ),
    "convolution": Rung(
        "gated convolutions over words and their letters",
        "seriatim.tasks.tag.models.network:TagNetwork",
        TagOptions,
        STACK | {"mixer": "convolution", "layers": 3, "residual": True},
        TAGGING,
        settings_of_numbers=NUMBERS,
    ),
    "rnn": Rung(
        "recurrent network with tanh units, both ways",
        "seriatim.tasks.tag.models.network:TagNetwork",
        TagOptions,
        STACK | {"mixer": "rnn"},
        TAGGING | {"rate": 1e-3},
        settings_of_numbers=NUMBERS,
    ),
    "gru": Rung(
        "gated recurrent unit, both ways",
        "seriatim.tasks.tag.models.network:TagNetwork",
        TagOptions,
        STACK | {"mixer": "gru", "dropout": 0.5},
        GATED,
        settings_of_numbers=NUMBERS,
    ),
    "lstm": Rung(
        "long short-term memory, both ways",
        "seriatim.tasks.tag.models.network:TagNetwork",
        TagOptions,
        STACK | {"mixer": "lstm", "dropout": 0.5},
        GATED,
        settings_of_numbers=NUMBERS,
    ),
    "transformer": Rung(
        "self-attention over the whole sequence",
        "seriatim.tasks.tag.models.network:TagNetwork",
        TagOptions,
        STACK
        | {
            "mixer": "attention",
            "width": 192,
            "layers": 2,
            "residual": True,
            "feed_forward": 2.0,
            "dropout": 0.2,
            "context": 1024,
        },
        TAGGING | {"rate": 1e-3},
        settings_of_numbers=NUMBERS,
    ),
}

HERE, LABELS = "seriatim.tasks.tag.", "seriatim.tasks.labels."
TABLES, PICTURES = LABELS + "tables:", LABELS + "pictures:"

VERBS: dict[str, Verb] = {
    "evaluate": Verb(
        "How well it tags other data: accuracy, by tag, known and unknown words, spans.",
        "evaluate",
        "evaluation",
        options=EvaluateOptions,
        table=TABLES + "label_figures",
        example="seriatim evaluate runs/tagger test.conllu",
    ),
    "predict": Verb(
        "A tag for each element of each sequence.",
        "predict",
        "predictions",
        table=TABLES + "tag_lines",
        rows=TABLES + "tag_rows",
        pieces=True,
        gaps=True,
        example="seriatim predict runs/tagger new.txt",
    ),
    "best": Verb(
        "The most probable rows of tags, of models that judge them together.",
        "best",
        "rows-of-tags",
        options=BestOptions,
        table=TABLES + "best_lines",
        rows="seriatim.show.frames:listed_rows",
        pieces=True,
        gaps=True,
        example="seriatim best runs/tagger new.txt --count 3",
    ),
    "annotate": Verb(
        "A file of sentences written again with the tags that are found, all else as it is.",
        "annotate",
        "annotated",
        reads="file",
        argument="file",
        options=AnnotateOptions,
        table=TABLES + "annotated",
        example="seriatim annotate runs/tagger test.conllu --out tagged.conllu",
    ),
    "embed": embed_verb("seriatim embed runs/tagger new.txt"),
    "attention": attention_verb("seriatim attention runs/transformer new.txt --layer 1"),
    "units": units_verb('seriatim units runs/tagger "the old dog barks"'),
}

TASK = Task(
    name="tag",
    question="what tag has each element?",
    example="seriatim fit tag lstm train.conllu --out runs/tagger",
    rungs=RUNGS,
    figures=(
        Figure(
            "accuracy",
            "accuracy",
            "{:.2%}",
            "right",
            higher=True,
            most=1.0,
            test=LABELS + "metrics:p_of_tags",
            draws=LABELS + "metrics:drawn_tag_accuracy",
            test_name="paired bootstrap, 95 %",
            ties="log_loss",
        ),
        Figure("macro_f1", "macro F1", higher=True),
        Figure("log_loss", "log loss", "{:.4f}"),
        Figure("calibration_error", "calibration error", "{:.4f}", shown=False),
        Figure(
            "span_f1",
            "span F1",
            "{:.4f}",
            "span F1",
            higher=True,
            most=1.0,
            test=LABELS + "metrics:p_of_spans",
            draws=LABELS + "metrics:drawn_span_f1",
            test_name="paired bootstrap, 95 %",
            shown=False,
            ties="log_loss",
        ),
    ),
    ranking=HERE + "predictor:ranking",
    cut_by=LABELS + "cut:TagCut",
    predictor=HERE + "predictor:Tagger",
    codec=LABELS + "codec:LabelCodec.from_json",
    verbs=VERBS,
    pictures={
        "confusion": Picture(
            "evaluate", PICTURES + "confusion", "which tags are mistaken for which"
        ),
        "reliability": Picture(
            "evaluate", PICTURES + "reliability", "how often it is right when it is so sure"
        ),
        **ATTENTION_PICTURES,
        **UNITS_PICTURES,
    },
    reading=LabelledOptions,
    coding=TextCoding,
    mixture="seriatim.models.mixture:ProductOfExperts",
    usual_unit="word",
    kept="seriatim predict {run} FILE",
)
