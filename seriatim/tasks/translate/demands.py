"""What every target must have, and what none may have: phrases as they were typed -> symbols."""

from __future__ import annotations

from seriatim.codecs.symbols import UNKNOWN, Codec
from seriatim.decoding.constraints import Demands
from seriatim.decoding.options import DecodingOptions
from seriatim.errors import ConfigError, nearest

Symbols = tuple[int, ...]


def demands_of(codec: Codec, options: DecodingOptions) -> Demands:
    """The demands on a target in numbers, checked against each other."""
    prefix = tuple(codec.encode_text(options.prefix).tolist())
    if UNKNOWN in prefix:
        raise not_known(codec, options.prefix)
    must = phrases(codec, options.must)
    never = phrases(codec, options.never, never=True)
    demands = Demands(
        prefix,
        tuple(within for within, _ in must),
        tuple(opening for _, opening in must),
        tuple(way for ways in never for way in ways if way),
    )
    wanted = max(len(prefix), sum(map(len, demands.must)))
    if wanted > options.length:
        raise ConfigError(
            "what every result must have is longer than a result may be",
            got=f"{wanted} symbols, and --length {options.length}",
            do="Allow a greater --length",
        )
    required = (prefix, *demands.must)
    if any(contains(phrase, each) for each in demands.never for phrase in required):
        raise ConfigError(
            "what every result must have is what none may have",
            got=f"--prefix {options.prefix!r} --must {options.must!r} --never {options.never!r}",
            do="Leave out one of them",
        )
    return demands


def phrases(codec: Codec, words: str, never: bool = False) -> tuple[tuple[Symbols, Symbols], ...]:
    """Phrases with commas between as rows of symbols, each as it is written within a text and, if
    that is different, where a text begins; () if the model could not write it."""
    found: dict[tuple[Symbols, Symbols], None] = {}
    for phrase in filter(None, (each.strip() for each in words.split(","))):
        within = symbols_of(codec, f" {phrase}" if codec.options.unit == "subword" else phrase)
        opening = symbols_of(codec, phrase)
        if not (within or never):
            raise not_known(codec, phrase)
        found[within, () if opening == within else opening] = None
    return tuple(found)


def symbols_of(codec: Codec, text: str) -> Symbols:
    """The symbols of a text; none if one of them is unknown."""
    symbols = tuple(codec.encode_text(text).tolist())
    return () if UNKNOWN in symbols else symbols


def not_known(codec: Codec, phrase: str) -> ConfigError:
    """Why this cannot be asked for."""
    return ConfigError(
        "the model does not know this phrase", got=phrase, do=nearest(phrase, codec.symbols[2:5000])
    )


def contains(symbols: Symbols, phrase: Symbols) -> bool:
    """Whether a phrase stands somewhere in a row of symbols."""
    places = range(len(symbols) - len(phrase) + 1)
    return any(symbols[place : place + len(phrase)] == phrase for place in places)
