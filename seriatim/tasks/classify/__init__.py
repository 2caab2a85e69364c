"""Classify: one label for each sequence, of symbols or of numbers."""

from __future__ import annotations

from seriatim.data.options import LabelledSamplesOptions
from seriatim.models.ladder import Rung
from seriatim.tasks.base import Figure, Picture, Task, Verb
from seriatim.tasks.base.attention import ATTENTION_PICTURES, attention_verb
from seriatim.tasks.base.embedding import embed_verb
from seriatim.tasks.base.options import SampleCoding
from seriatim.tasks.base.units import UNITS_PICTURES, units_verb
from seriatim.tasks.classify.options import (
    CalibrateOptions,
    ExplainOptions,
    PredictOptions,
    ThresholdOptions,
)
from seriatim.tasks.labels.options import (
    ClassifyOptions,
    EncoderOptions,
    LinearOptions,
    MajorityOptions,
    MarkovBayesOptions,
    NaiveBayesOptions,
)
from seriatim.tasks.labels.recipes import NEURAL, NUMERIC

RUNGS: dict[str, Rung] = {
    "majority": Rung(
        "the most frequent label: the floor",
        "seriatim.tasks.labels.models.bayes:Majority",
        MajorityOptions,
        counts=True,
    ),
    "naive-bayes": Rung(
        "which words each label uses, whatever their order",
        "seriatim.tasks.labels.models.bayes:NaiveBayes",
        NaiveBayesOptions,
        counts=True,
        symbols=True,
    ),
    "markov-bayes": Rung(
        "a language model for each label, turned round by Bayes' rule",
        "seriatim.tasks.labels.models.bayes:MarkovBayes",
        MarkovBayesOptions,
        counts=True,
        symbols=True,
    ),
    "linear": Rung(
        "n-grams weighed by how they tell labels apart, support vector machines",
        "seriatim.tasks.labels.models.linear:LinearClassifier",
        LinearOptions,
        counts=True,
    ),
    "pretrained": Rung(
        "vectors of a pretrained encoder, frozen, under a linear model",
        "seriatim.tasks.labels.models.pretrained:PretrainedClassifier",
        EncoderOptions,
        counts=True,
        needs="pretrained",
    ),
    "mean": Rung(
        "the mean of word vectors",
        "seriatim.tasks.classify.network:LabelNetwork",
        ClassifyOptions,
        {"mixer": "none", "width": 100, "pool": "mean", "dropout": 0.3},
        NEURAL | {"rate": 3e-3},
        NUMERIC,
    ),
    "mlp": Rung(
        "the mean of word vectors, or of feature vectors, under hidden layers",
        "seriatim.tasks.classify.network:LabelNetwork",
        ClassifyOptions,
        {
            "mixer": "none",
            "width": 64,
            "pool": "mean",
            "hidden": 1,
            "activation": "relu",
            "dropout": 0.1,
            "beside": "no",
        },
        NEURAL | {"rate": 3e-3},
        NUMERIC,
        usual=False,
        vectors=True,
    ),
    "tree": Rung(
        "recursive network: the vector of a bracket from those of its parts",
        "seriatim.tasks.classify.network:LabelNetwork",
        ClassifyOptions,
        {"mixer": "tree", "width": 64, "pool": "last", "dropout": 0.1, "beside": "no"},
        NEURAL | {"rate": 3e-3},
        symbols=True,
        usual=False,
    ),
    "convolution": Rung(
        "filters over a few words, the strongest answer of each",
        "seriatim.tasks.classify.network:LabelNetwork",
        ClassifyOptions,
        {
            "mixer": "convolution",
            "width": 128,
            "gated": False,
            "activation": "relu",
            "pool": "max",
            "dropout": 0.3,
        },
        NEURAL,
        NUMERIC,
    ),
    "rnn": Rung(
        "recurrent network with tanh units, both ways",
        "seriatim.tasks.classify.network:LabelNetwork",
        ClassifyOptions,
        {"mixer": "rnn", "width": 128, "pool": "max", "dropout": 0.3},
        NEURAL,
        NUMERIC | {"rate": 1e-3},
    ),
    "gru": Rung(
        "gated recurrent unit, both ways",
        "seriatim.tasks.classify.network:LabelNetwork",
        ClassifyOptions,
        {"mixer": "gru", "width": 128, "pool": "max", "dropout": 0.3},
        NEURAL,
        NUMERIC,
    ),
    "lstm": Rung(
        "long short-term memory, both ways",
        "seriatim.tasks.classify.network:LabelNetwork",
        ClassifyOptions,
        {"mixer": "lstm", "width": 128, "pool": "max", "dropout": 0.3},
        NEURAL,
        NUMERIC,
    ),
    "transformer": Rung(
        "self-attention over the whole sequence",
        "seriatim.tasks.classify.network:LabelNetwork",
        ClassifyOptions,
        {
            "mixer": "attention",
            "width": 128,
            "layers": 2,
            "residual": True,
            "feed_forward": 2.0,
            "bidirectional": True,
            "pool": "mean",
            "dropout": 0.3,
            "context": 1024,
        },
        NEURAL,
        NUMERIC | {"rate": 1e-3},
    ),
}

HERE, LABELS = "seriatim.tasks.classify.", "seriatim.tasks.labels."
TABLES, PICTURES = LABELS + "tables:", LABELS + "pictures:"

VERBS: dict[str, Verb] = {
    "evaluate": Verb(
        "How well it labels other data: accuracy, by label, with interval and calibration.",
        "evaluate",
        "evaluation",
        options=ThresholdOptions,
        table=TABLES + "label_figures",
        example="seriatim evaluate runs/spam test.tsv",
    ),
    "predict": Verb(
        "A label for each sequence, with the likeliest labels and their probabilities.",
        "predict",
        "predictions",
        options=PredictOptions,
        table=TABLES + "label_lines",
        rows="seriatim.show.frames:label_rows",
        pieces=True,
        gaps=True,
        example="seriatim predict runs/spam new.txt --top 2",
    ),
    "explain": Verb(
        "Why this label? What each symbol of a text contributed.",
        "explain",
        "explanation",
        reads="text",
        argument="text",
        options=ExplainOptions,
        table=TABLES + "explanation",
        example='seriatim explain runs/spam "free entry"',
    ),
    "graph": Verb(
        "How the loss of one example is computed, with all values and gradients: a small network's.",
        "graph",
        "graph",
        table=TABLES + "graph",
        rows=TABLES + "graph_rows",
        example="seriatim graph runs/mlp one.jsonl",
    ),
    "embed": embed_verb("seriatim embed runs/gru new.txt --each sequence"),
    "attention": attention_verb('seriatim attention runs/transformer --text "not terrible"'),
    "units": units_verb('seriatim units runs/lstm "not terrible"'),
}

TASK = Task(
    name="classify",
    question="what label has each sequence?",
    example="seriatim fit classify linear messages.tsv --out runs/spam",
    rungs=RUNGS,
    figures=(
        Figure(
            "accuracy",
            "accuracy",
            "{:.2%}",
            "right",
            higher=True,
            most=1.0,
            test=LABELS + "metrics:p_of_labels",
            draws=LABELS + "metrics:drawn_accuracy",
            test_name="McNemar's test, 95 %",
            ties="log_loss",
            also="macro_f1",
        ),
        Figure("macro_f1", "macro F1", higher=True),
        Figure("log_loss", "log loss", "{:.4f}"),
        Figure("calibration_error", "calibration error", "{:.4f}", shown=False),
    ),
    cut_by=LABELS + "cut:ClassifyCut",
    predictor=HERE + "predictor:Classifier",
    codec=LABELS + "codec:LabelCodec.from_json",
    verbs=VERBS,
    pictures={
        "confusion": Picture(
            "evaluate", PICTURES + "confusion", "which labels are mistaken for which"
        ),
        "reliability": Picture(
            "evaluate", PICTURES + "reliability", "how often it is right when it is so sure"
        ),
        "precision": Picture(
            "evaluate", PICTURES + "precision", "precision and recall of a label by its threshold"
        ),
        "explanation": Picture(
            "explain", PICTURES + "explanation", "what each symbol adds to a label"
        ),
        **ATTENTION_PICTURES,
        **UNITS_PICTURES,
    },
    reading=LabelledSamplesOptions,
    coding=SampleCoding,
    fitting=CalibrateOptions,
    mixture="seriatim.models.mixture:ProductOfExperts",
    usual_unit="word",
    floor="majority",
    kept="seriatim predict {run} FILE",
)
