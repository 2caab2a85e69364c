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
    BigramOptions,
    CacheOptions,
    GloveOptions,
    MarkovOptions,
    NetworkOptions,
    NgramOptions,
    TrainingOptions,
    UniformOptions,
    UnigramOptions,
    VectorsOptions,
    build,
)
from seriatim.errors import ConfigError, nearest

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
    counts: bool = False                                      # it counts, and is not trained by gradients
    usual: bool = True                                        # compared unless models are named
    task: str = "language"                                    # what it is for


RECURRENT = {"optimiser": "muon", "rate": 6e-3, "rows": 32, "length": 32}
WORDS = {"epochs": 5.0, "rate": 0.025, "validations": 10}


MODELS: dict[str, Rung] = {
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
    "bigram": Rung("linear: logits from the last symbol alone", "network:Bigram", BigramOptions, {}, {"rate": 0.1, "weight_decay": 0.0}, usual=False),
    "neural-ngram": Rung("the last few symbols embedded side by side, one hidden layer", "network:Network", NetworkOptions,
                         {"mixer": "convolution", "gated": False, "kernel": 7, "width": 256}, {"rate": 4e-3, "length": 32}),
    "convolution": Rung("causal dilated convolutions, gated", "network:Network", NetworkOptions,
                        {"mixer": "convolution", "width": 128, "layers": 5, "residual": True},
                        {"rate": 4e-3, "rows": 8}),
    "rnn": Rung("recurrent network with tanh units", "network:Network", NetworkOptions,
                {"mixer": "rnn", "width": 512}, {"rate": 1.5e-3, "length": 32}),
    "gru": Rung("gated recurrent unit", "network:Network", NetworkOptions, {"mixer": "gru", "width": 256}, RECURRENT),
    "lstm": Rung("long short-term memory", "network:Network", NetworkOptions, {"mixer": "lstm", "width": 256}, RECURRENT),
    "transformer": Rung("self-attention over a window, with rotary positions", "network:Network", NetworkOptions,
                        {"mixer": "attention", "width": 128, "layers": 4, "residual": True, "feed_forward": 4.0, "context": 64},
                        {"optimiser": "muon", "rate": 4e-3, "rows": 16, "carry": False, "warmup": 0.05}),
    "predictor": Rung("word vectors: one word predicts the next", "vectors:Before", VectorsOptions, {"window": 1}, WORDS, task="words"),
    "cbow": Rung("word vectors: the words around predict the one between them", "vectors:Bag", VectorsOptions, {}, WORDS | {"rate": 0.05}, task="words"),
    "glove": Rung("word vectors: from counts of which words stand together", "glove:Glove", GloveOptions, {},
                  {"epochs": 25.0, "rate": 0.05, "validations": 10}, task="words"),
    "skip-gram": Rung("word vectors: each word around predicts the one between them", "vectors:SkipGram", VectorsOptions, {}, WORDS, task="words"),
}


LIMITS = {"minutes", "steps", "epochs"}


def rung(name: str) -> Rung:
    if name not in MODELS:
        raise ConfigError(f"there is no model {name!r}", do=nearest(name, MODELS))
    return MODELS[name]


@dataclass(frozen=True)
class Part:
    """A model by name with its settings and its recipe, complete and checked."""
    name: str
    options: Any
    training: TrainingOptions


def parse(spec: str, settings: Mapping[str, Any]) -> list[Part]:
    """'lstm' or 'markov+lstm', with settings for whichever part has them -> the parts.

    A setting that no part has is an error.
    """
    names = spec.split("+")
    rungs = [rung(name) for name in names]
    shared = {f.name for f in fields(TrainingOptions)}
    known = shared.union(*({f.name for f in fields(each.options)} for each in rungs))
    given = {key.replace("-", "_"): value for key, value in settings.items()}
    limited = bool(given.keys() & LIMITS)                             # a limit that is given takes the place of the rung's own
    problems = [f"{key!r} is not a setting of {spec}: {nearest(key, sorted(known))}" for key in given if key not in known]
    chosen = []
    for name, each in zip(names, rungs, strict=True):
        recipe = {key: value for key, value in each.training.items() if not (limited and key in LIMITS)}
        for cls, own in ((each.options, each.settings), (TrainingOptions, recipe)):
            try:
                chosen.append(choose(cls, own, given, name))
            except ConfigError as error:
                problems.append(error.what)
    if problems:
        raise ConfigError("; ".join(dict.fromkeys(problems)), do=f"See `seriatim models {names[0]}`")
    return [Part(name, options, training) for name, options, training in zip(names, chosen[::2], chosen[1::2], strict=True)]


def choose(cls: type, defaults: Mapping[str, Any], given: Mapping[str, Any], where: str) -> Any:
    """An options record: the class's defaults, then the rung's, then what was given."""
    known = {f.name for f in fields(cls)}
    return build(cls, {**defaults, **{key: value for key, value in given.items() if key in known}}, where)


def create(parts: list[Part], vocabulary: int) -> Model:
    """The model itself, untrained: one part, or a mixture of several."""
    made = []
    for part in parts:
        module, name = rung(part.name).implementation.split(":")
        made.append(getattr(import_module(f"seriatim.models.{module}"), name)(vocabulary, part.options))
    if len(made) == 1:
        return made[0]
    from seriatim.models.mixture import Mixture
    return Mixture(made)


def planned(parts: list[Part], threads: int) -> list[Part]:
    """The same parts with what was left open filled in: the number of threads, and a wall-clock budget shared by those that learn."""
    many = max(1, sum(not rung(part.name).counts for part in parts))
    filled = []
    for part in parts:
        options = replace(part.training, threads=part.training.threads or threads)
        if options.minutes or not (options.steps or options.epochs):
            options = replace(options, minutes=(options.minutes or DEFAULT_MINUTES) / many)
        filled.append(replace(part, training=options))
    return filled
