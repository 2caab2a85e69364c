"""Networks of tags, with a tagger that counts beside them.

Unlike a network alone, which has to learn from a few hundred sentences what tags each word has had,
it is told, and learns what the words around it add.
"""

from __future__ import annotations

from seriatim.models.base import Model
from seriatim.tasks.labels.models.beside import BesideCounting
from seriatim.tasks.tag.models.hmm import HmmTagger, MostFrequent
from seriatim.tasks.tag.options import HmmOptions, MostFrequentOptions, TagOptions


class TagNetwork(BesideCounting):
    """One tag for each element."""

    options: TagOptions
    least = -8.0  # counting may be surer than it should of a word that it has seen once or twice

    def candidates(self) -> tuple[str, ...]:
        """The taggers that count, or the one that is asked for; of numbers only where it is asked
        for."""
        if self.options.beside == "no" or (self.options.beside == "found" and self.channels):
            return ()
        return (
            ("most-frequent", "hmm") if self.options.beside == "found" else (self.options.beside,)
        )

    def tried(self) -> tuple[str, ...]:
        """A network that hears nothing of what comes later has no hmm beside it, which does, unless
        that is asked for."""
        one_way = self.options.beside == "found" and not self.options.bidirectional
        return tuple(each for each in self.candidates() if not (one_way and each == "hmm"))

    def made(self, name: str) -> Model:
        """A tagger with nothing but the data."""
        vocabulary, *more = self.sizes
        if name == "hmm":
            return HmmTagger(vocabulary, HmmOptions(), *more)
        return MostFrequent(vocabulary, MostFrequentOptions(), *more)
