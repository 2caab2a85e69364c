"""The options of taggers."""

from __future__ import annotations

from dataclasses import dataclass

from seriatim.settings import option
from seriatim.tasks.labels.options import LabellerOptions


@dataclass(frozen=True)
class MostFrequentOptions:
    """The tags a word has had, and those of words that end alike."""

    suffix: int = option(
        7, "words are also judged by their last letters, up to this many", least=0, most=32
    )
    rare: int = option(10, "endings are learned from words seen at most this often", least=1)
    ending_trust: float = option(2.0, "weight of a shorter ending, in words seen", above=0)
    word_trust: float = option(
        0.3, "weight of what its ending says about a known word, in times seen", above=0
    )


@dataclass(frozen=True)
class HmmOptions(MostFrequentOptions):
    """The same, and which tags follow each other."""

    order: int = option(
        1,
        "how many tags back a tag depends on; 2 is a little better and ten times slower",
        choices=(1, 2),
    )
    tag_trust: float = option(20.0, "weight of a shorter context, in tags seen", above=0)


@dataclass(frozen=True)
class TagOptions(LabellerOptions):
    """One tag for each element."""

    chain: bool = option(False, "tags are judged together, by how they follow each other (CRF)")
    constrained: bool = option(True, "chain: of B-I-O tags only sequences that make sense")
    beside: str = option(
        "found",
        "what counts beside the network and is added to what it says; found: of the rungs "
        "`most-frequent` and `hmm` the one that tells held-out tags better",
        choices=("found", "most-frequent", "hmm", "no"),
    )


@dataclass(frozen=True)
class BestOptions:
    """The best rows of tags."""

    count: int = option(5, "how many rows of tags, of models that judge them together", least=1)


@dataclass(frozen=True)
class AnnotateOptions:
    """A file written again with the tags that are found."""

    out: str = option("", "the file to write")
    input_format: str = option("", "conllu or columns, if the ending does not tell")
