"""Networks of labels, with the rung `linear` beside them.

Unlike a network alone, which has to learn from a few thousand sequences what each word says, it is
told, and learns what the order of words adds.
"""

from __future__ import annotations

from seriatim.models.base import Model
from seriatim.tasks.labels.models.beside import BesideCounting
from seriatim.tasks.labels.models.linear import LinearClassifier
from seriatim.tasks.labels.options import ClassifyOptions, LinearOptions


class LabelNetwork(BesideCounting):
    """One label for each sequence."""

    options: ClassifyOptions

    def candidates(self) -> tuple[str, ...]:
        """Linear, unless it is not wanted; of numbers only where it is asked for."""
        wanted = self.options.beside
        return () if wanted == "no" or (wanted == "found" and self.channels) else ("linear",)

    def made(self, name: str) -> Model:
        """The rung `linear` with nothing but the data."""
        vocabulary, *more = self.sizes
        return LinearClassifier(vocabulary, LinearOptions(), *more)
