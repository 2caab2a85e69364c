"""What the rungs that count have in common: they read pairs, not one sequence."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

from seriatim.errors import ConfigError
from seriatim.models.base import Model
from seriatim.tasks.translate.codec import EncodedPairs


class CountedPairs(Model):
    """A model that learns from pairs by counting."""

    @abstractmethod
    def counting_pairs(self, pairs: EncodedPairs) -> Iterator[dict[str, Any]]:
        """Learn from these pairs, telling how far it is."""


def refuse_further(further: tuple[tuple[int, int], ...]) -> None:
    """What counts which symbols go with which reads one source."""
    if further:
        raise ConfigError(
            "a model that counts reads one source",
            got=f"{1 + len(further)} sources, by --also",
            do="Use vector, rnn, gru, lstm or transformer; or leave out --also",
        )
