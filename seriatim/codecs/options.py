"""The options of codecs. Nothing here imports torch, so that help answers at once."""

from __future__ import annotations

from dataclasses import dataclass

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
