"""Small fitted models of labels and tags, with data that they have not seen."""

from __future__ import annotations

from functools import cache

from seriatim import fit
from seriatim.data.sequences import Sequences
from seriatim.tasks.classify.predictor import Classifier
from seriatim.tasks.labels.predictor import Labeller
from tests.labels import messages, sentences

TRAIN, TEST = messages(60), messages(40, seed=1)


SPOKEN, HEARD = sentences(60), sentences(30, seed=1)


SMALL = {"width": 8, "updates": 4}


TINY = SMALL | {"embedding": 6, "letter_width": 4}


KINDS = {
    "majority": ("classify", "majority", {}),
    "naive-bayes": ("classify", "naive-bayes", {"ngram": 2}),
    "markov-bayes": ("classify", "markov-bayes", {}),
    "linear": ("classify", "linear", {"weighting": "tf-idf"}),
    "gru": ("classify", "gru", SMALL | {"letters": "convolution", "letter_width": 4}),
    "subwords": ("classify", "mean", SMALL | {"unit": "subword", "vocabulary": 300}),
    "mixture": ("classify", "naive-bayes+linear+mean", {"updates": 3}),
    "tag": ("tag", "gru", TINY),
    "chain": ("tag", "window", TINY | {"chain": True}),
    "taggers": ("tag", "window+rnn", TINY),
}


@cache
def fitted(name: str) -> Labeller:
    task, spec, settings = KINDS[name]
    return fit(task, spec, TRAIN if task == "classify" else SPOKEN, **settings)


def other(name: str) -> Sequences:
    """Data that it has not seen."""
    return TEST if KINDS[name][0] == "classify" else HEARD


def truth_of(name: str) -> list[str]:
    column = other(name).fields["label" if KINDS[name][0] == "classify" else "tags"]
    return [column.names[i] for i in column.flat]


def found_by(predictor: Labeller, data: Sequences) -> list[str]:
    records = predictor.predict(data)["items"]
    return (
        [record["label"] for record in records]
        if isinstance(predictor, Classifier)
        else [tag for record in records for tag in record["tags"]]
    )
