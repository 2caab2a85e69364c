"""The options of models that mark."""

from __future__ import annotations

from dataclasses import dataclass

from seriatim.settings import option
from seriatim.tasks.base.options import TopOptions


@dataclass(frozen=True)
class FrequenciesOptions:
    """How frequent each label is, whatever is read."""

    add: float = option(1.0, "pseudo-count added to both, being true and not being true", above=0)


@dataclass(frozen=True)
class PredictOptions(TopOptions):
    """Labels and their probabilities."""

    threshold: float = option(0.5, "a label is found from this probability on", least=0, most=1)
