"""Generated sentences of a small grammar, whose entropy is known.

    S -> NP VP . | does NP VERB NP ? | if NP VP , NP VP .

Each symbol is replaced by one of its rules, drawn by its weight. No sentence has two derivations,
so that the nats of a sentence are those of its choices, and the mean over all sentences is

    H(A) = sum_rules p (-log p + sum_B in rule H(B))

divided by the mean number of words, the end counted as one. Tokens are words and marks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from seriatim.data.corpora.sources import MOST_SEED, settings_of
from seriatim.data.sequences import Field, Sequences
from seriatim.settings import build, option


def one_of(several: str) -> tuple[tuple[float, str], ...]:
    """Words, each as likely as the other."""
    return tuple((1 / len(several.split()), word) for word in several.split())


RULES: dict[
    str, tuple[tuple[float, str], ...]
] = {  # weight, what it is replaced by; words in lower case
    "S": ((0.7, "NP VP ."), (0.15, "does NP BARE NP ?"), (0.15, "if NP VP , NP VP .")),
    "NP": (
        (0.55, "DET NOUN"),
        (0.2, "DET ADJ NOUN"),
        (0.15, "NAME"),
        (0.1, "DET NOUN near DET NOUN"),
    ),
    "VP": ((0.6, "VERB NP"), (0.2, "RESTS"), (0.2, "VERB NP ADV")),
    "DET": ((0.5, "the"), (0.3, "a"), (0.2, "every")),
    "ADJ": one_of("old small red happy quiet clever"),
    "NOUN": one_of("cat dog bird child farmer teacher horse king queen painter sailor fox"),
    "NAME": one_of("anna boris clara david"),
    "VERB": one_of("sees likes finds follows hears paints calls helps"),
    "BARE": one_of("see like find follow hear paint call help"),
    "RESTS": one_of("sleeps sings waits laughs dances"),
    "ADV": one_of("today often again slowly here"),
}


@dataclass(frozen=True)
class Grammar:
    """What can be set: "sentences:count=5000,seed=1"."""

    count: int = option(5000, "sentences", least=1, most=1_000_000)
    seed: int = option(0, "random numbers: which rules are taken", least=0, most=MOST_SEED)


def sentences(description: str = "sentences") -> Sequences:
    """Sentences drawn from the grammar, each a sequence of tokens."""
    options = build(Grammar, settings_of(description), where="sentences")
    rng = np.random.default_rng(options.seed)
    rows = [sentence(rng) for _ in range(options.count)]
    return Sequences(
        {"tokens": Field.of_symbols(rows)},
        by="line",
        unit="token",
        origin=description,
        entropy=nats("S") / (words("S") + 1),
    )


def sentence(rng: np.random.Generator, symbol: str = "S") -> list[str]:
    """The words of a symbol, by rules drawn at random."""
    if symbol not in RULES:
        return [symbol]
    weights, rules = zip(*RULES[symbol])
    rule = rules[rng.choice(len(rules), p=np.array(weights) / sum(weights))]
    return [word for part in rule.split() for word in sentence(rng, part)]


@cache
def nats(symbol: str) -> float:
    """The mean number of nats that it takes to say what became of a symbol."""
    return sum(
        weight * (-math.log(weight) + sum(map(nats, rule.split())))
        for weight, rule in RULES.get(symbol, ())
    )


@cache
def words(symbol: str) -> float:
    """The mean number of words that a symbol becomes."""
    return (
        sum(weight * sum(map(words, rule.split())) for weight, rule in RULES[symbol])
        if symbol in RULES
        else 1.0
    )
