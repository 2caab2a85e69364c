"""Options that verbs of several rooms have."""

from __future__ import annotations

from dataclasses import dataclass

from seriatim.codecs.options import UNITS, CodecOptions
from seriatim.models.markers import MARKERS
from seriatim.settings import option, some_of

TEXT = "unit tokenizer vocabulary minimum_count lower method phrases phrase_score"
TextCoding = some_of(CodecOptions, "TextCoding", TEXT)


@dataclass(frozen=True)
class SampleCoding(TextCoding):  # type: ignore[misc, valid-type]
    """The same of samples, each with an answer of its own, which may be single words."""

    unit: str = option(
        "word", "what counts as one symbol; character where texts have no blanks", choices=UNITS
    )


@dataclass(frozen=True)
class EvaluateOptions:
    """What can be asked of an evaluation."""

    against: str = option("", "another run: is this one better? by the test of the task's figure")


@dataclass(frozen=True)
class TopOptions:
    """How many of the likeliest."""

    top: int = option(5, "how many of the likeliest are shown", least=1)


@dataclass(frozen=True)
class OutOptions:
    """Where to write."""

    out: str = option("", "the file to write")


@dataclass(frozen=True)
class EmbedOptions:
    """Which vectors."""

    layer: int = option(0, "of this layer, counted from 1; 0: behind the last", least=0)
    each: str = option(
        "position",
        "a vector for each position, or for each sequence their mean",
        choices=("position", "sequence"),
    )


@dataclass(frozen=True)
class AttentionOptions:
    """Which of the maps."""

    layer: int = option(0, "only the heads of this layer, counted from 1; 0: of all", least=0)
    head: int = option(0, "only this head of each layer, counted from 1; 0: all", least=0)


@dataclass(frozen=True)
class UnitOptions:
    """Which hidden units."""

    layer: int = option(0, "only units of this layer, counted from 1; 0: of all", least=0)
    unit: int = option(0, "only this unit of each layer, counted from 1; 0: of all", least=0)
    count: int = option(5, "how many units, those first that are worth most", least=1, most=1000)
    marker: str = option(
        "",
        "the units that follow this best, as it stands in the text (default: those that change most)",
        choices=("", *MARKERS),
    )


@dataclass(frozen=True)
class LayerOptions:
    """Which layer."""

    layer: int = option(0, "only this layer, counted from 1, the lowest; 0: all", least=0)
