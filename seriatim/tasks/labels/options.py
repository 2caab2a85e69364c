"""The options of models of labels and values."""

from __future__ import annotations

import os
from dataclasses import dataclass

from seriatim.models.options import WHOLE_MIXERS, WholeOptions
from seriatim.settings import option


@dataclass(frozen=True)
class LabellerOptions(WholeOptions):
    """The same stack, saying something about the sequences instead of going on with them."""

    mixer: str = option("lstm", "how a position sees the others", choices=WHOLE_MIXERS)
    bidirectional: bool = option(True, "each position sees what comes after it, too")
    embedding: int = option(0, "size of the word vectors; 0: as --width", least=0, most=65536)
    word_dropout: float = option(
        0.05,
        "share of words that are unknown in training, so that unknown ones are known",
        least=0,
        most=0.95,
    )
    letters: str = option(
        "no",
        "words are also read letter by letter",
        choices=("no", "convolution", "lstm", "affixes"),
    )
    letter_width: int = option(
        64, "letters: size of what they say about the word", least=2, most=65536
    )
    also: str = option(
        "",
        "further fields that are read beside the words, element by element, with commas between: "
        "upos,lemma",
    )
    also_width: int = option(
        32, "also: size of the vectors of further symbols", least=1, most=65536
    )
    encoder: str = option(
        "",
        "a run of `fit language` that reads first: its vectors in context stand for the word "
        "vectors, its unit and its vocabulary are used; copied into the run",
    )
    encoder_frozen: bool = option(True, "encoder: it stays as it is; false: it learns on")

    def __post_init__(self) -> None:
        """A fit is done again from elsewhere, too: the path is kept from the root."""
        if self.encoder:
            object.__setattr__(self, "encoder", os.path.abspath(self.encoder))


@dataclass(frozen=True)
class PooledOptions(LabellerOptions):
    """One answer for a sequence."""

    pool: str = option(
        "max",
        "how the vectors of all positions become one: the last, their mean or largest values, "
        "a mean weighed by attention, or the vector of an extra position (unit)",
        choices=("last", "mean", "max", "attention", "unit"),
    )
    hidden: int = option(
        0, "hidden layers between that one vector and the answer", least=0, most=1000
    )
    activation: str = option(
        "tanh",
        "rnn, plain convolution and hidden layers: the nonlinearity",
        choices=("tanh", "sigmoid", "relu", "gelu"),
    )


@dataclass(frozen=True)
class ClassifyOptions(PooledOptions):
    """One label for a sequence."""

    beside: str = option(
        "found",
        "what counts beside the network and is added to what it says: the rung `linear`, or "
        "nothing; found: linear, of numbers nothing",
        choices=("found", "linear", "no"),
    )


@dataclass(frozen=True)
class MajorityOptions:
    """How frequent each label is."""


@dataclass(frozen=True)
class AverageOptions:
    """The mean and the deviation of the training values."""


@dataclass(frozen=True)
class NaiveBayesOptions:
    """How frequent each symbol is under each label."""

    add: float = option(1.0, "pseudo-count added to every symbol", above=0)
    ngram: int = option(1, "also runs of up to this many symbols", least=1, most=8)
    presence: bool = option(
        False, "a symbol counts once in a sequence, however often it stands there"
    )
    prior: str = option(
        "counts", "probability of the labels beforehand", choices=("counts", "uniform")
    )


@dataclass(frozen=True)
class MarkovBayesOptions:
    """A model that counts for each label."""

    counts: str = option(
        "markov",
        "which model is counted for each label",
        choices=("unigram", "markov", "kneser-ney", "witten-bell", "absolute", "good-turing"),
    )
    order: int = option(
        1,
        "as of that model: markov looks at so many symbols, "
        "the others count n-grams of that length",
        least=0,
        most=16,
    )
    add: float = option(0.1, "unigram and markov: pseudo-count added to every symbol", above=0)
    first: str = option(
        "start",
        "markov: what the first symbols follow: the start, or nothing, so that the first is as "
        "likely as anywhere (unigram)",
        choices=("start", "unigram"),
    )
    ends: bool = option(
        True, "unigram and markov: the end of a sequence counts like a symbol; false: not at all"
    )
    closed: bool = option(
        False,
        "unigram and markov: the vocabulary is what was seen under any label; what is unknown adds "
        "nothing",
    )
    prior: str = option(
        "counts", "probability of the labels beforehand", choices=("counts", "uniform")
    )


@dataclass(frozen=True)
class LinearOptions:
    """A weight for each n-gram and label. What is left open is found on sequences held out of
    training."""

    ngram: int = option(0, "runs of up to this many symbols; 0: found", least=0, most=8)
    weighting: str = option(
        "tf-idf",
        "what an n-gram weighs: its count, tf-idf, "
        "or presence times the log-ratio of naive Bayes (NBSVM)",
        choices=("counts", "tf-idf", "bayes"),
    )
    strength: float = option(
        0.0,
        "how far weights may grow: the inverse of the penalty on their squares; 0: found",
        least=0,
    )
    spelling: str = option(
        "found", "also runs of three to five letters inside words", choices=("found", "yes", "no")
    )
    least: int = option(1, "n-grams seen in fewer training sequences are left out", least=1)


@dataclass(frozen=True)
class EncoderOptions:
    """A pretrained encoder, frozen, under a linear model."""

    pretrained: str = option(
        "", "local folder of a pretrained encoder, in Hugging Face's layout; nothing is downloaded"
    )
    strength: float = option(
        0.0,
        "how far weights may grow: the inverse of the penalty on their squares; 0: found",
        least=0,
    )

    def __post_init__(self) -> None:
        """A run is opened from elsewhere, too: the path is kept from the root."""
        if self.pretrained:
            object.__setattr__(self, "pretrained", os.path.abspath(self.pretrained))


@dataclass(frozen=True)
class RidgeOptions:
    """A weight for each n-gram, or for each trait of a sequence of numbers."""

    ngram: int = option(2, "runs of up to this many symbols", least=1, most=8)
    weighting: str = option(
        "tf-idf", "what an n-gram weighs: its count, or tf-idf", choices=("counts", "tf-idf")
    )
    strength: float = option(
        0.0,
        "how far weights may grow: the inverse of the penalty on their squares; "
        "0: found on the training data",
        least=0,
    )
    least: int = option(1, "n-grams seen in fewer training sequences are left out", least=1)
