"""The options of classifiers."""

from __future__ import annotations

from dataclasses import dataclass

from seriatim.settings import option
from seriatim.tasks.base.options import EvaluateOptions, TopOptions

METHODS = ("", "exact", "occlusion", "gradient")


@dataclass(frozen=True)
class ThresholdOptions(EvaluateOptions):
    """A threshold for one label: chosen on the data, or given."""

    positive: str = option("", "choose a threshold for this label")
    threshold: float | None = option(
        None, "positive: measure at this probability, chosen elsewhere", least=0, most=1
    )
    most_false: float = option(
        0.001, "such that at most this share of the others is taken for it", least=0, most=1
    )


@dataclass(frozen=True)
class PredictOptions(TopOptions):
    """Labels and their probabilities."""

    probabilities: bool = option(False, "the probabilities of all labels, whatever --top is")
    positive: str = option("", "this label is found from the probability --threshold on")
    threshold: float | None = option(None, "positive: the probability (0.5)", least=0, most=1)


@dataclass(frozen=True)
class ExplainOptions:
    """Why this label?"""

    label: str = option("", "the label that is explained (default: the one that is found)")
    method: str = option("", "by which method (default: the best this model has)", choices=METHODS)


@dataclass(frozen=True)
class CalibrateOptions:
    """What a fit may be asked for besides."""

    calibrate: bool = option(False, "find on validation data how sure it may be (a temperature)")
