"""The options of decoding."""

from __future__ import annotations

from dataclasses import dataclass

from seriatim.errors import ConfigError
from seriatim.settings import option


@dataclass(frozen=True)
class DecodingOptions:
    """From distributions to sequences."""

    length: int = option(200, "symbols to write at most", least=0)
    temperature: float = option(
        1.0, "below 1 is bolder towards the likely, above 1 more varied; 0 is greedy", least=0
    )
    top_k: int = option(0, "sample among the k most likely symbols; 0 is all", least=0)
    top_p: float = option(
        1.0,
        "sample among the most likely symbols that together have this probability",
        above=0,
        most=1,
    )
    min_p: float = option(
        0.0, "leave out symbols below this share of the most likely one", least=0, most=1
    )
    repetition_penalty: float = option(
        1.0, "above 1 makes symbols already written less likely", above=0
    )
    beam: int = option(
        0, "width of beam search, at least as many as --count; 0: none", least=0, most=4096
    )
    length_penalty: float = option(1.0, "beam: scores are divided by length to this power", least=0)
    coverage: float = option(
        0.0,
        "translate, beam: how much it counts that all of the source was attended to (Wu et al. 2016)",
        least=0,
    )
    prefix: str = option("", "what every result begins with")
    must: str = option(
        "", "translate, beam: words or phrases, with commas between, that every result has"
    )
    never: str = option("", "words or phrases, with commas between, that no result has")
    min_bayes_risk: int = option(
        0,
        "translate: of so many samples the one nearest to all others (minimum Bayes risk)",
        least=0,
        most=10_000,
    )
    exact: bool = option(
        False, "the most probable sequence of all of this length, for count models of low order"
    )
    draft: str = option(
        "",
        "run folder of a cheap model that guesses ahead: the same text, sooner (see docs/decoding.md)",
    )
    ahead: int = option(4, "draft: how many symbols it guesses ahead", least=1, most=64)
    count: int = option(
        1, "how many results (with --beam: the n best, at most its width)", least=1, most=100_000
    )
    seed: int = option(0, "random numbers of the first result; each further one adds 1", least=0)
    stop: str = option("", "end a result at this symbol, which is not written")

    def __post_init__(self) -> None:
        if self.beam and self.count > self.beam:
            raise ConfigError(
                "a beam gives no more results than it is wide",
                got=f"--beam {self.beam} --count {self.count}",
                do=f"Ask for fewer, or raise --beam to {self.count}",
            )
