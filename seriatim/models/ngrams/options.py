"""The options of models that count n-grams."""

from __future__ import annotations

from dataclasses import dataclass

from seriatim.models.options import KEEP_ALL, NO_LIMIT
from seriatim.settings import MemorySize, Numbers, option


@dataclass(frozen=True)
class UniformOptions:
    """Every symbol is equally likely."""


@dataclass(frozen=True)
class UnigramOptions:
    """How frequent each symbol is, whatever came before."""

    add: float = option(
        1.0, "pseudo-count added to every symbol; 0 gives plain relative frequencies", least=0
    )


@dataclass(frozen=True)
class MarkovOptions:
    """Relative frequencies of what followed the last `order` symbols."""

    order: int = option(
        3, "how many previous symbols are looked at: 1 counts pairs, 2 triples", least=0, most=16
    )
    add: float | None = option(
        None,
        "pseudo-count added to every symbol; 0 gives plain relative frequencies (default: none; a "
        "context leans on the next shorter one as often as something new came after it)",
        least=0,
    )
    first: str = option(
        "start",
        "what the first symbols of a sequence follow: its start, a symbol of its own, or nothing, "
        "so that the first is as likely as anywhere (unigram)",
        choices=("start", "unigram"),
    )
    ends: bool = option(True, "the end of a sequence is a symbol, too; false: it has no factor")
    closed: bool = option(
        False,
        "the vocabulary is what was seen and nothing is kept for what is unknown; with `add` every "
        "symbol has 1 / V after a context never seen",
    )
    memory: MemorySize = option(
        NO_LIMIT,
        "count in about this much memory, for instance 1GB, and on disk what does not fit; "
        "0 is no limit",
        least=0,
    )


@dataclass(frozen=True)
class NgramOptions:
    """Counts of all lengths up to this one, each leaning on the shorter."""

    order: int = option(
        6,
        "length of the longest n-gram: 2 looks at one previous symbol, 6 at five",
        least=1,
        most=24,
    )
    smoothing: str = option(
        "modified-kneser-ney",
        "how counts become probabilities",
        choices=("modified-kneser-ney", "kneser-ney", "absolute", "witten-bell", "good-turing"),
    )
    closed: bool = option(
        False, "nothing is unknown: <unk> is impossible unless the training data has it"
    )
    memory: MemorySize = option(
        NO_LIMIT,
        "count in about this much memory, for instance 1GB, and on disk what does not fit; "
        "0 is no limit",
        least=0,
    )
    prune: Numbers = option(
        KEEP_ALL,
        "leave out n-grams seen at most this often, a number for each length: "
        "0,0,1 drops triples and longer seen once",
        least=0,
    )
    threshold: float = option(
        0.0,
        "leave out n-grams without which perplexity rises by less than this share: "
        "1e-8 to 1e-6 are usual",
        least=0,
    )
    bits: int = option(32, "store probabilities in this many bits", choices=(8, 32))


@dataclass(frozen=True)
class CacheOptions:
    """Counts of the last symbols read, and of nothing else."""

    window: int = option(5000, "how many symbols back are remembered", least=1, most=1_000_000)
    match: int = option(
        5, "longest context that is compared with what was just read", least=0, most=64
    )
    trust: float = option(2.0, "weight of a shorter context, in symbols seen", above=0)
