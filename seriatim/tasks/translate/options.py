"""The options of translators."""

from __future__ import annotations

from dataclasses import dataclass

from seriatim.codecs.options import UNITS, CodecOptions
from seriatim.data.options import TextOptions
from seriatim.decoding.options import DecodingOptions
from seriatim.models.options import WHOLE_MIXERS, WholeOptions
from seriatim.settings import Way, option, some_of
from seriatim.tasks.base.options import TEXT, EvaluateOptions


class Attends(Way):
    """When the decoder attends: after its own step, before it, or not at all."""

    usual = "after"


@dataclass(frozen=True)
class PairReading(TextOptions):
    """Pairs of texts and symbols, and what is read beside the source."""

    also: str = option(
        "",
        "further columns that are read beside the source, with commas between: texts, symbols or "
        "numbers, each by an encoder of its own",
    )


@dataclass(frozen=True)
class TranslateOptions(WholeOptions):
    """Two stacks: one reads the source, the other writes the target and attends to what was read."""

    width: int = option(
        0,
        "size of the vector at each position; 0: as the symbols of the training data call for, 64 "
        "up to 100,000, 128 up to 500,000 (or more, of a transformer), else 256",
        least=0,
        most=65536,
    )
    context: int = option(1024, "attention: how many positions back, itself included", least=1)
    encoder_mixer: str = option(
        "",
        "how a position of the source sees the others (default: as --mixer); tree: as brackets say",
        choices=("", *WHOLE_MIXERS),
    )
    encoder_layers: int = option(
        0, "number of blocks that read the source; 0: as --layers", least=0, most=1000
    )
    bidirectional: bool = option(True, "each position of the source sees what comes after it, too")
    attends: Attends = option(
        Attends("after"),
        "the decoder attends to the vectors of all positions of the source, after each step as Luong "
        "or before it as Bahdanau; no: it is conditioned on one vector",
        choices=("after", "before", "no"),
    )
    source_ngrams: int = option(
        0,
        "each symbol of the source is also known by frequent n-grams around it, "
        "up to this long, such as 6; 0: none",
        least=0,
        most=24,
    )
    source_ngrams_dropout: float = option(
        0.5, "source n-grams: share of them that are dropped in training", least=0, most=0.95
    )
    cells: int = option(
        1 << 16,
        "source n-grams: how many of the most frequent have a vector",
        least=1,
        most=1 << 27,
    )
    input_feeding: bool = option(
        False,
        "what was attended to at one step is an input of the next (input feeding); "
        "recurrent decoders, slower to train",
    )
    scheduled_sampling: float = option(
        0.0,
        "share of inputs that are the model's own guesses at the end of training, "
        "rising from none (scheduled sampling)",
        least=0,
        most=1,
    )
    judge: str = option(
        "loss",
        "what validation looks at: nats per symbol of the references, or what greedy translations are worth",
        choices=("loss", "bleu", "chrf", "exact"),
    )

    def mixers(self) -> set[str]:
        """That of the encoder, too, and attention across."""
        across = {"attention"} if self.attends else set()
        return {self.mixer, self.encoder_mixer or self.mixer, *across}


@dataclass(frozen=True)
class LexiconOptions:
    """Which symbols of the target go with which of the source, and which follow each other."""

    rounds: int = option(8, "rounds of expectation and maximisation", least=1, most=1000)
    spread: float = option(
        0.15,
        "how far from the diagonal a symbol looks for its source, as a share of the length",
        above=0,
        most=10,
    )
    least: float = option(
        1e-4, "translations less probable than this are forgotten", least=0, most=0.5
    )
    order: int = option(2, "length of the n-grams of the target", least=1, most=12)


@dataclass(frozen=True)
class JointOptions:
    """Units of a symbol of the source with what is written for it, and n-grams of them."""

    order: int = option(7, "length of the n-grams of units", least=1, most=12)
    longest: int = option(2, "most symbols that are written for one of the source", least=1, most=6)
    rounds: int = option(12, "rounds of expectation and maximisation", least=1, most=1000)
    rarest: int = option(2, "units that occur less often are not used", least=1, most=10**9)
    best: int = option(
        32, "how many ways to write a target are kept while a source is read", least=1, most=10_000
    )


@dataclass(frozen=True)
class PairCoding(some_of(CodecOptions, "PairText", f"{TEXT} shared")):  # type: ignore[misc]
    """From sources and targets to symbols and back."""

    unit: str | None = option(
        None,
        "what counts as one symbol; default: character where targets have no blanks, token where "
        "they are made of a few pieces, else subword",
        choices=UNITS,
    )
    target_unit: str | None = option(
        None, "what counts as one symbol of the target; default: as --unit", choices=UNITS
    )


SEARCH = (
    "beam length_penalty length coverage count prefix must never min_bayes_risk temperature top_k "
    "top_p min_p seed"
)
DEFAULTS = {"beam": 4, "temperature": 0.0, "length": 10_000}
SearchOptions = some_of(DecodingOptions, "SearchOptions", SEARCH, **DEFAULTS)
TreeOptions = some_of(
    DecodingOptions, "TreeOptions", "beam length_penalty length prefix must never", **DEFAULTS
)


@dataclass(frozen=True)
class EvaluateTranslationOptions(EvaluateOptions, SearchOptions):  # type: ignore[valid-type, misc]
    """How to search, and what to compare with."""


@dataclass(frozen=True)
class AlignmentOptions:
    """What was attended to."""

    target: str = option("", "this target instead of the model's own")


@dataclass(frozen=True)
class TuneOptions:
    """What a fit may be asked for besides."""

    tune_search: bool = option(False, "find the best beam and length penalty on validation data")
