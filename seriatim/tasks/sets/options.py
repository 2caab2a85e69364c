"""The options of models of sets."""

from __future__ import annotations

from dataclasses import dataclass

from seriatim.decoding.options import DecodingOptions
from seriatim.settings import option, some_of


@dataclass(frozen=True)
class FrequenciesOptions:
    """How frequent each element is, whatever came before."""

    add: float = option(
        1.0, "pseudo-count added to both, being in a set and not being in it", above=0
    )


GenerateOptions = some_of(DecodingOptions, "GenerateOptions", "length temperature count seed")


@dataclass(frozen=True)
class CompleteOptions(GenerateOptions):  # type: ignore[valid-type, misc]
    """How a sequence goes on."""

    number: int = option(1, "which sequence of the data, counted from 1", least=1)
    part: float = option(1.0, "after this part of it", above=0, most=1)
