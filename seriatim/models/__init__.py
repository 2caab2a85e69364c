"""The ladder: every model by name, in one literal dict. Nothing here imports torch.

A rung is a class, the settings that make it this rung, and the recipe it is trained by. A mixture is
written with a plus: `markov+lstm`.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from seriatim.config import (
    DEFAULT_MINUTES,
    AutoencodeOptions,
    AutoregressionOptions,
    AverageOptions,
    BigramOptions,
    CacheOptions,
    ClassifyOptions,
    ForecastOptions,
    FrequenciesOptions,
    GloveOptions,
    HiddenOptions,
    HmmOptions,
    JointOptions,
    LagsOptions,
    LanguageOptions,
    LexiconOptions,
    LinearOptions,
    MajorityOptions,
    MarkovBayesOptions,
    MarkovOptions,
    MostFrequentOptions,
    NaiveBayesOptions,
    NetworkOptions,
    NgramOptions,
    RidgeOptions,
    RuleOptions,
    SmoothingOptions,
    TagOptions,
    TrainingOptions,
    TranslateOptions,
    UniformOptions,
    UnigramOptions,
    VectorsOptions,
)
from seriatim.errors import ConfigError, nearest
from seriatim.settings import build

if TYPE_CHECKING:
    from seriatim.models.base import Model


@dataclass(frozen=True)
class Rung:
    """One row of the ladder."""
    summary: str
    implementation: str                                       # module:Class
    options: type
    settings: dict[str, Any] = field(default_factory=dict)    # how it differs from the defaults of its options
    training: dict[str, Any] = field(default_factory=dict)    # how its recipe differs from TrainingOptions; empty: it counts
    numbers: dict[str, Any] = field(default_factory=dict)     # and how again, where sequences are numbers
    counts: bool = False                                      # it counts, and is not trained by gradients
    usual: bool = True                                        # compared unless models are named

    def recipe(self, numbers: bool) -> dict[str, Any]:
        return self.training | (self.numbers if numbers else {})


RECURRENT = {"optimiser": "muon", "rate": 1e-2, "rows": 32}
WORDS = {"epochs": 5.0, "rate": 0.025, "validations": 10}


LANGUAGE: dict[str, Rung] = {
    "uniform": Rung("every symbol equally likely: the floor", "ngram:Uniform", UniformOptions, counts=True),
    "unigram": Rung("how frequent each symbol is", "ngram:Unigram", UnigramOptions, counts=True),
    "markov": Rung("what followed the last few symbols, with a pseudo-count", "ngram:Markov", MarkovOptions, counts=True),
    "kneser-ney": Rung("counts of all orders at once, discounted (modified Kneser-Ney)", "ngram:Ngram", NgramOptions, counts=True),
    "witten-bell": Rung("the same, lending by the number of different continuations", "ngram:Ngram", NgramOptions, {"smoothing": "witten-bell"},
                        counts=True, usual=False),
    "absolute": Rung("the same, with one discount and plain counts", "ngram:Ngram", NgramOptions, {"smoothing": "absolute"}, counts=True, usual=False),
    "good-turing": Rung("the same, discounted by Good and Turing's estimate (Katz)", "ngram:Ngram", NgramOptions, {"smoothing": "good-turing"},
                        counts=True, usual=False),
    "cache": Rung("what was read just now is read again; to be mixed in: kneser-ney+cache", "cache:Cache", CacheOptions, counts=True, usual=False),
    "hmm": Rung("states that are never seen, found by expectation and maximisation", "hidden:HiddenMarkov", HiddenOptions, counts=True, usual=False),
    "bigram": Rung("linear: logits from the last symbol alone", "network:Bigram", BigramOptions, {}, {"rate": 0.1, "weight_decay": 0.0}, usual=False),
    "neural-ngram": Rung("the last few symbols embedded side by side, one hidden layer", "voting:network", LanguageOptions,
                         {"mixer": "convolution", "gated": False, "kernel": 7, "width": 256}, {"rate": 4e-3, "length": 32}),
    "convolution": Rung("causal dilated convolutions, gated", "voting:network", LanguageOptions,
                        {"mixer": "convolution", "width": 128, "layers": 5, "residual": True},
                        {"rate": 4e-3, "rows": 8}),
    "rnn": Rung("recurrent network with tanh units", "voting:network", LanguageOptions,
                {"mixer": "rnn", "width": 512}, {"rate": 1.5e-3, "length": 32}),
    "gru": Rung("gated recurrent unit", "voting:network", LanguageOptions, {"mixer": "gru", "width": 256}, RECURRENT),
    "lstm": Rung("long short-term memory", "voting:network", LanguageOptions, {"mixer": "lstm", "width": 256}, RECURRENT),
    "transformer": Rung("self-attention over a window, with rotary positions", "voting:network", LanguageOptions,
                        {"mixer": "attention", "width": 128, "layers": 2, "residual": True, "feed_forward": 4.0, "context": 64},
                        {"optimiser": "muon", "rate": 1e-2, "rows": 32, "carry": False, "warmup": 0.05}),
}

VECTORS: dict[str, Rung] = {
    "predictor": Rung("word vectors: one word predicts the next", "vectors:Before", VectorsOptions, {"window": 1}, WORDS),
    "cbow": Rung("word vectors: the words around predict the one between them", "vectors:Bag", VectorsOptions, {}, WORDS | {"rate": 0.05}),
    "glove": Rung("word vectors: from counts of which words stand together", "glove:Glove", GloveOptions, {},
                  {"epochs": 25.0, "rate": 0.05, "validations": 10}),
    "skip-gram": Rung("word vectors: each word around predicts the one between them", "vectors:SkipGram", VectorsOptions, {}, WORDS),
}

NEURAL = {"epochs": 6.0, "rows": 32, "length": 32, "rate": 1e-3, "validations": 12}      # labels: small data, read several times
NUMERIC = {"epochs": 20.0, "rows": 8, "rate": 4e-3}                                      # numbers say less each than words, and need more updates

CLASSIFY: dict[str, Rung] = {
    "majority": Rung("the most frequent label: the floor", "bayes:Majority", MajorityOptions, counts=True),
    "naive-bayes": Rung("which words each label uses, whatever their order", "bayes:NaiveBayes", NaiveBayesOptions, counts=True),
    "markov-bayes": Rung("a language model for each label, turned round by Bayes' rule", "bayes:MarkovBayes", MarkovBayesOptions, counts=True),
    "linear": Rung("n-grams weighed by how they tell labels apart, logistic regression", "linear:Linear", LinearOptions, counts=True),
    "mean": Rung("the mean of word vectors", "labeller:Labeller", ClassifyOptions, {"mixer": "none", "width": 100, "pool": "mean", "dropout": 0.3},
                 NEURAL | {"rate": 3e-3}, NUMERIC),
    "convolution": Rung("filters over a few words, the strongest answer of each", "labeller:Labeller", ClassifyOptions,
                        {"mixer": "convolution", "width": 128, "gated": False, "activation": "relu", "pool": "max", "dropout": 0.3}, NEURAL, NUMERIC),
    "rnn": Rung("recurrent network with tanh units, both ways", "labeller:Labeller", ClassifyOptions,
                {"mixer": "rnn", "width": 128, "pool": "max", "dropout": 0.3}, NEURAL, NUMERIC | {"rate": 1e-3}),
    "gru": Rung("gated recurrent unit, both ways", "labeller:Labeller", ClassifyOptions,
                {"mixer": "gru", "width": 128, "pool": "max", "dropout": 0.3}, NEURAL, NUMERIC),
    "lstm": Rung("long short-term memory, both ways", "labeller:Labeller", ClassifyOptions,
                 {"mixer": "lstm", "width": 128, "pool": "max", "dropout": 0.3}, NEURAL, NUMERIC),
    "transformer": Rung("self-attention over the whole sequence", "labeller:Labeller", ClassifyOptions,
                        {"mixer": "attention", "width": 128, "layers": 2, "residual": True, "feed_forward": 2.0, "both": True, "pool": "mean",
                         "dropout": 0.3, "context": 1024}, NEURAL, NUMERIC | {"rate": 1e-3}),
}

VALUES = NEURAL | {"epochs": 20.0, "rate": 2e-3, "patience": 5, "validations": 20}
SUMMARIES = {"mean": "the mean of vectors, one for each word or step", "convolution": "filters over a few words or steps, the mean answer of each"}

REGRESS: dict[str, Rung] = {
    "average": Rung("the mean of all values: the floor", "values:Average", AverageOptions, counts=True),
    "linear": Rung("n-grams of symbols or traits of numbers, ridge regression", "values:Ridge", RidgeOptions, counts=True),
} | {name: Rung(SUMMARIES.get(name, each.summary), "labeller:Regressor", ClassifyOptions, each.settings | {"pool": "mean", "dropout": 0.1}, VALUES)
     for name, each in CLASSIFY.items() if not each.counts}

STACK = {"width": 256, "embedding": 100, "both": True, "letters": "affixes", "dropout": 0.4, "word_dropout": 0.05}
TAGGING = {"epochs": 10.0, "rows": 32, "length": 32, "rate": 3e-3, "validations": 12}
GATED = TAGGING | {"optimiser": "muon", "rate": 4e-3}

TAG: dict[str, Rung] = {
    "most-frequent": Rung("every word its most frequent tag", "hmm:MostFrequent", MostFrequentOptions, counts=True),
    "hmm": Rung("hidden Markov model: words given tags, tags given the tag before", "hmm:HmmTagger", HmmOptions, counts=True),
    "window": Rung("word vectors side by side, one hidden layer", "labeller:Labeller", TagOptions,
                   STACK | {"mixer": "convolution", "gated": False, "activation": "relu", "kernel": 5}, TAGGING),
    "convolution": Rung("gated convolutions over words and their letters", "labeller:Labeller", TagOptions,
                        STACK | {"mixer": "convolution", "layers": 3, "residual": True}, TAGGING),
    "rnn": Rung("recurrent network with tanh units, both ways", "labeller:Labeller", TagOptions, STACK | {"mixer": "rnn"}, TAGGING | {"rate": 1e-3}),
    "gru": Rung("gated recurrent unit, both ways", "labeller:Labeller", TagOptions, STACK | {"mixer": "gru", "dropout": 0.5}, GATED),
    "lstm": Rung("long short-term memory, both ways", "labeller:Labeller", TagOptions, STACK | {"mixer": "lstm", "dropout": 0.5}, GATED),
    "transformer": Rung("self-attention over the whole sequence", "labeller:Labeller", TagOptions,
                        STACK | {"mixer": "attention", "width": 192, "layers": 2, "residual": True, "feed_forward": 2.0, "dropout": 0.2, "context": 1024},
                        TAGGING | {"rate": 1e-3}),
}

ROLLS = {"epochs": 40.0, "rows": 16, "length": 64, "rate": 4e-3, "patience": 5, "validations": 40}        # sets: small data, read many times

SETS: dict[str, Rung] = {
    "frequencies": Rung("every element by its own frequency, whatever came before: the floor", "sets:Frequencies", FrequenciesOptions, counts=True),
    "convolution": Rung("causal dilated convolutions, gated", "sets:SetNetwork", NetworkOptions,
                        {"mixer": "convolution", "width": 64, "layers": 4, "residual": True, "dropout": 0.1}, ROLLS),
    "rnn": Rung("recurrent network with tanh units", "sets:SetNetwork", NetworkOptions, {"mixer": "rnn", "width": 128, "dropout": 0.2}, ROLLS | {"rate": 2e-3}),
    "gru": Rung("gated recurrent unit", "sets:SetNetwork", NetworkOptions, {"mixer": "gru", "width": 128, "dropout": 0.2}, ROLLS),
    "lstm": Rung("long short-term memory", "sets:SetNetwork", NetworkOptions, {"mixer": "lstm", "width": 128, "dropout": 0.2}, ROLLS),
    "transformer": Rung("self-attention over a window, with rotary positions", "sets:SetNetwork", NetworkOptions,
                        {"mixer": "attention", "width": 64, "layers": 2, "residual": True, "feed_forward": 4.0, "dropout": 0.1},
                        ROLLS | {"rate": 2e-3, "warmup": 0.05, "carry": False}),
}

ATTENDING = {"width": 256, "heads": 4, "dropout": 0.1}
PAIRS = {"rows": 64, "length": 32, "optimiser": "muon", "rate": 4e-3, "warmup": 0.05, "validations": 10}

TRANSLATE: dict[str, Rung] = {
    "lexicon": Rung("counted: which symbols go with which, near the diagonal, and which follow each other", "lexicon:Lexicon", LexiconOptions, counts=True),
    "joint": Rung("counted: n-grams of symbols of the source, each with what is written for it", "joint:Joint", JointOptions, counts=True),
    "vector": Rung("gru that keeps one vector of the source, without attention", "encoder_decoder:EncoderDecoder", TranslateOptions,
                   ATTENDING | {"mixer": "gru", "memory": "vector"}, PAIRS),
    "rnn": Rung("recurrent network with tanh units, attending to the source", "encoder_decoder:EncoderDecoder", TranslateOptions,
                ATTENDING | {"mixer": "rnn"}, PAIRS | {"rate": 2e-3}),
    "gru": Rung("gated recurrent unit, attending to the source", "encoder_decoder:EncoderDecoder", TranslateOptions, ATTENDING | {"mixer": "gru"}, PAIRS),
    "lstm": Rung("long short-term memory, attending to the source", "encoder_decoder:EncoderDecoder", TranslateOptions, ATTENDING | {"mixer": "lstm"}, PAIRS),
    "transformer": Rung("self-attention and attention to the source in every block", "encoder_decoder:EncoderDecoder", TranslateOptions,
                        {"mixer": "attention", "width": 128, "layers": 3, "residual": True, "feed_forward": 4.0, "dropout": 0.1}, PAIRS),
}

VECTOR = {"width": 256, "dropout": 0.2, "free": 0.2}
SELVES = {"rows": 32, "length": 32, "optimiser": "muon", "rate": 4e-3, "warmup": 0.05, "epochs": 12.0, "patience": 4, "validations": 24}

AUTOENCODE: dict[str, Rung] = {
    "decoder": Rung("no vector: an lstm alone, a language model of what is given, or of nothing", "autoencoder:Autoencoder", AutoencodeOptions,
                    VECTOR | {"mixer": "lstm", "latent": 0}, SELVES),
    "rnn": Rung("recurrent network with tanh units, through one vector", "autoencoder:Autoencoder", AutoencodeOptions, VECTOR | {"mixer": "rnn"},
                SELVES | {"rate": 2e-3}),
    "gru": Rung("gated recurrent unit, through one vector", "autoencoder:Autoencoder", AutoencodeOptions, VECTOR | {"mixer": "gru"}, SELVES),
    "lstm": Rung("long short-term memory, through one vector", "autoencoder:Autoencoder", AutoencodeOptions, VECTOR | {"mixer": "lstm"}, SELVES),
    "transformer": Rung("self-attention, through one vector", "autoencoder:Autoencoder", AutoencodeOptions,
                        VECTOR | {"mixer": "attention", "width": 128, "layers": 2, "residual": True, "feed_forward": 4.0}, SELVES),
}

WINDOWS = {"rows": 32, "rate": 1e-3, "epochs": 10.0, "patience": 4, "validations": 20}
SQUARE = {"density": "square"}             # networks learn means; a likelihood would weigh calm channels and windows most

FORECAST: dict[str, Rung] = {
    "mean": Rung("the mean of the past: the floor", "rules:Mean", RuleOptions, counts=True),
    "persistence": Rung("the last value", "rules:Persistence", RuleOptions, {"context": 1}, counts=True),
    "drift": Rung("the last value, and on along the line through the first", "rules:Drift", RuleOptions, counts=True, usual=False),
    "seasonal": Rung("the value a season ago", "rules:Seasonal", RuleOptions, {"context": 1024}, counts=True),
    "smoothing": Rung("level, trend and season, each a mean that forgets (Holt and Winters)", "rules:Smoothing", SmoothingOptions, {"context": 200},
                      counts=True),
    "autoregression": Rung("a weighted sum of the last values, step by step", "rules:Autoregression", AutoregressionOptions, counts=True),
    "lags-ridge": Rung("ridge regression on the past, every horizon directly", "lags:LagsRidge", LagsOptions, counts=True),
    "lags-boosting": Rung("boosted trees on the past, step by step", "lags:LagsBoosting", LagsOptions, {"context": 24, "windows": (7, 24)}, counts=True),
    "linear": Rung("a linear map of the past, trained by gradients, with a density", "forecaster:Forecaster", ForecastOptions,
                   SQUARE | {"mixer": "none", "width": 16}, WINDOWS),
    "convolution": Rung("causal dilated convolutions, gated", "forecaster:Forecaster", ForecastOptions,
                        SQUARE | {"mixer": "convolution", "width": 32, "layers": 4, "residual": True, "dropout": 0.2}, WINDOWS),
    "rnn": Rung("recurrent network with tanh units", "forecaster:Forecaster", ForecastOptions, SQUARE | {"mixer": "rnn", "width": 32, "dropout": 0.1}, WINDOWS),
    "gru": Rung("gated recurrent unit", "forecaster:Forecaster", ForecastOptions, SQUARE | {"mixer": "gru", "width": 32, "dropout": 0.1}, WINDOWS),
    "lstm": Rung("long short-term memory", "forecaster:Forecaster", ForecastOptions, SQUARE | {"mixer": "lstm", "width": 32, "dropout": 0.1}, WINDOWS),
    "transformer": Rung("self-attention over the past", "forecaster:Forecaster", ForecastOptions,
                        SQUARE | {"mixer": "attention", "width": 32, "layers": 2, "residual": True, "feed_forward": 2.0, "dropout": 0.2}, WINDOWS),
}

MODELS: dict[str, dict[str, Rung]] = {                             # by task, then by name
    "language": LANGUAGE, "words": VECTORS, "classify": CLASSIFY, "regress": REGRESS, "tag": TAG, "sets": SETS, "translate": TRANSLATE,
    "forecast": FORECAST, "autoencode": AUTOENCODE}


LIMITS = {"minutes", "steps", "epochs"}
COMMON = {"minutes", "seed", "threads"}                            # settings of training that one may give whatever the model


def rung(name: str, task: str = "language") -> Rung:
    if task not in MODELS:
        raise ConfigError(f"there is no task {task!r}", do=nearest(task, MODELS))
    if name not in MODELS[task]:
        others = [other for other, rungs in MODELS.items() if name in rungs]
        raise ConfigError(f"there is no model {name!r} for the task {task}" if others else f"there is no model {name!r}",
                          got=f"one of {others[0]}" if others else None, do=nearest(name, MODELS[task]))
    return MODELS[task][name]


@dataclass(frozen=True)
class Part:
    """A model by name with its settings and its recipe, complete and checked."""
    name: str
    options: Any
    training: TrainingOptions
    task: str = "language"

    @property
    def counts(self) -> bool:
        return rung(self.name, self.task).counts


def parse(spec: str, settings: Mapping[str, Any], task: str = "language", numbers: bool = False) -> list[Part]:
    """'lstm' or 'markov+lstm', with settings for whichever part has them -> the parts, by their recipe for symbols or for numbers.

    A setting that no part has is an error.
    """
    names = spec.split("+")
    rungs = [rung(name, task) for name in names]
    known, trained = known_settings(spec, task), {f.name for f in fields(TrainingOptions)}
    given = {key.replace("-", "_"): value for key, value in settings.items()}
    limited = bool(given.keys() & LIMITS)                             # a limit that is given takes the place of the rung's own
    problems = [f"{key!r} is not a setting of {spec}" + (", which counts and is not trained" if key in trained else f": {nearest(key, sorted(known))}")
                for key in given if key not in known]
    chosen = []
    for name, each in zip(names, rungs, strict=True):
        recipe = {key: value for key, value in each.recipe(numbers).items() if not (limited and key in LIMITS)}
        for cls, own in ((each.options, each.settings), (TrainingOptions, recipe)):
            try:
                chosen.append(choose(cls, own, given, name))
            except ConfigError as error:
                problems.append(error.what)
    if problems:
        raise ConfigError("; ".join(dict.fromkeys(problems)), do=f"See `seriatim models {names[0]}{'' if task == 'language' else f' --task {task}'}`")
    for options, training in zip(chosen[::2], chosen[1::2], strict=True):
        if getattr(options, "chain", False) and training.label_smoothing:
            raise ConfigError("tags that are judged together have no targets of their own to smooth", got=f"label_smoothing {training.label_smoothing}",
                              do="Leave out --label-smoothing or --chain")
    if task == "regress" and any(training.label_smoothing for training in chosen[1::2]):
        raise ConfigError("values are not smoothed", got="label_smoothing", do="Leave out --label-smoothing")
    return [Part(name, options, training, task) for name, options, training in zip(names, chosen[::2], chosen[1::2], strict=True)]


def known_settings(spec: str, task: str) -> set[str]:
    """The settings of any part of a model; those of training only if one of them is trained."""
    rungs = [rung(name, task) for name in spec.split("+")]
    shared = COMMON if all(each.counts for each in rungs) else {f.name for f in fields(TrainingOptions)}
    return shared.union(*({f.name for f in fields(each.options)} for each in rungs))


def choose(cls: type, defaults: Mapping[str, Any], given: Mapping[str, Any], where: str) -> Any:
    """An options record: the class's defaults, then the rung's, then what was given."""
    known = {f.name for f in fields(cls)}
    return build(cls, {**defaults, **{key: value for key, value in given.items() if key in known}}, where)


def create(parts: list[Part], vocabulary: int, *more: int) -> Model:
    """The model itself, untrained: one part, or a mixture of several. Some models are told more than the size of the vocabulary: of how many
    labels there are, and letters."""
    made = []
    for part in parts:
        module, name = rung(part.name, part.task).implementation.split(":")
        made.append(getattr(import_module(f"seriatim.models.{module}"), name)(vocabulary, part.options, *more))
    if len(made) == 1:
        return made[0]
    from seriatim.models.mixture import Mixture, Pool
    return (Pool if parts[0].task in ("classify", "tag") else Mixture)(made)


def planned(parts: list[Part], threads: int) -> list[Part]:
    """The same parts with what was left open filled in: the number of threads, and a wall-clock budget shared by those that learn."""
    many = max(1, sum(not part.counts for part in parts))
    filled = []
    for part in parts:
        options = replace(part.training, threads=part.training.threads or threads)
        if options.minutes or not (options.steps or options.epochs):
            options = replace(options, minutes=(options.minutes or DEFAULT_MINUTES) / many)
        filled.append(replace(part, training=options))
    return filled
