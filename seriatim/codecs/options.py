"""The options of codecs. Nothing here imports torch, so that help answers at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seriatim.errors import ConfigError
from seriatim.settings import option

UNITS = ("character", "byte", "word", "token", "subword")


@dataclass(frozen=True)
class CodecOptions:
    """From raw text to symbols and back."""

    unit: str = option("character", "what counts as one symbol", choices=UNITS)
    vocabulary: int | None = option(
        None, "keep at most this many symbols (subword: how many to learn, default 1000)", least=3
    )
    minimum_count: int = option(
        1, "a symbol seen less often than this in training is unknown", least=1
    )
    lower: bool = option(False, "lower-case the text first")
    method: str = option("byte-pair", "how subwords are learned", choices=("byte-pair", "unigram"))
    tokenizer: str = option(
        "",
        "a tokenizer made elsewhere: a file tokenizer.json or a sentencepiece .model; the unit is "
        "then subword",
    )
    phrases: int = option(
        0,
        "word: join pairs of words that stand together more often than chance, in so many rounds:"
        " 1 gives pairs, 2 up to four words",
        least=0,
        most=4,
    )
    phrase_score: float = option(10.0, "phrases: how much more often; higher joins fewer", above=0)
    target_unit: str | None = option(
        None,
        "translate: what counts as one symbol of the target (default: as of the source)",
        choices=UNITS,
    )
    shared: bool = option(False, "translate: one vocabulary for source and target")
    scale: str = option(
        "standard",
        "numbers: mean 0 and variance 1 by the training data, or as they are",
        choices=("standard", "none"),
    )
    each: bool = option(
        False,
        "numbers: several series are scaled each by itself, in units of its own naive error;"
        " false: all alike",
    )
    season: int = option(
        0,
        "numbers: steps of a season; 0: what the calendar suggests (24 hours, 12 months)",
        least=0,
        most=100_000,
    )
    log: bool = option(False, "numbers: their logarithms; all must be positive")
    difference: int = option(
        0,
        "numbers: differences to the value so many steps before; 0: the values themselves",
        least=0,
        most=100_000,
    )
    calendar: bool = option(False, "numbers: hour, day and month of each moment are inputs, too")
    condition: str = option(
        "",
        "autoencode: fields that the writer is conditioned on, with commas between, such as label:"
        " a class, an author, a style",
    )


LEARNED = ("vocabulary", "minimum_count", "lower", "method", "phrases", "phrase_score")


def with_unit(settings: Mapping[str, Any], untokenized: str = "") -> dict[str, Any]:
    """The settings of a codec; a tokenizer made elsewhere says the unit, and nothing is learned
    besides. Where none makes sense, `untokenized` says why.

    >>> with_unit({"tokenizer": "bert/tokenizer.json"})
    {'tokenizer': 'bert/tokenizer.json', 'unit': 'subword'}
    """
    if not settings.get("tokenizer"):
        return dict(settings)
    if untokenized:
        raise ConfigError(
            f"a tokenizer made elsewhere has no use here: {untokenized}",
            got=settings["tokenizer"],
            do="Leave out --tokenizer",
        )
    other = [
        f"--{name.replace('_', '-')} {settings[name]}"
        for name in ("unit", "target_unit")
        if settings.get(name) not in (None, "subword")
    ]
    other += [
        f"--{name.replace('_', '-')} {settings[name]}" for name in LEARNED if name in settings
    ]
    if other:
        raise ConfigError(
            "a tokenizer made elsewhere says what a symbol is, and nothing is learned besides",
            got=" ".join(other),
            do="Leave that out, or --tokenizer",
        )
    return {**settings, "unit": "subword"}


def unit_in_words(settings: Mapping[str, Any]) -> str:
    """What is said of a unit that nobody asked for."""
    return f"unit: subword, since {Path(settings['tokenizer']).name} says how text is cut"
