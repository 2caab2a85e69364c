"""How well language is predicted: the same figures for every rung, with the protocol behind them.

    nats per token      -(1/N) sum log p(symbol | past), the end of each sequence included by line
    bits per character  (the same sum + the price of spelling out unknown symbols) / characters of
                        the raw text

so that models of different units compare. Intervals are 95 % bootstrap intervals over sequences, or
over consecutive blocks of a stream. Shapes: N symbols, G groups.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from seriatim.codecs.symbols import UNKNOWN
from seriatim.data.sequences import SYMBOLS, TEXT, Field, Sequences
from seriatim.errors import DataError
from seriatim.measuring.likelihood import BLOCK, score
from seriatim.measuring.measured import Measured, check_paired
from seriatim.measuring.resampling import (
    GROUP,
    RESAMPLES,
    drawn_means,
    grouped,
    interval,
    two_sided,
)
from seriatim.records import Record, finite, safe_exp

if TYPE_CHECKING:
    from seriatim.tasks.language.predictor import LanguagePredictor

BITS = 1 / math.log(2)


def measure(predictor: LanguagePredictor, data: Sequences) -> Measured:
    """The log-probability of every symbol, and what it cost to compute."""
    column = data.main
    ids = predictor.codec.encode(column)
    if not len(ids.flat):
        raise DataError(
            f"{data.origin} has nothing to score",
            got=f"{len(column)} sequences without a {predictor.unit}",
        )
    begin = time.perf_counter()
    log_prob = score(predictor.model, ids, predictor.by)
    seconds = time.perf_counter() - begin
    spelling = np.zeros(len(log_prob.values))
    spelling[token_places(log_prob, predictor.by)] = predictor.codec.unknown_nats(column, ids)
    characters, size = raw_size(column)
    arrays = {
        "loss": -log_prob.values,  # (N,) nats
        "spelling": spelling,  # (N,) nats that spelling out an unknown symbol takes
        "offsets": log_prob.offsets - log_prob.offsets[0],
    }
    facts = {
        "seconds": seconds,
        "origin": data.origin,
        "by": predictor.by,
        "sequences": len(data),
        "characters": characters,
        "bytes": size,
        "unknown": int((ids.flat == UNKNOWN).sum()),
        "entropy": data.entropy,
        "seen": predictor.seen(data),
    }
    return Measured(arrays, facts)


def figures(measured: Measured) -> dict[str, Any]:
    """Nats per token and bits per character, with their intervals."""
    loss, spelling, by = measured.loss, measured["spelling"], measured["by"]
    tokens, impossible = len(loss), int(np.isposinf(loss).sum())
    ends = measured["sequences"] if by == "line" else 0  # a line's end is a character, too
    characters, size = measured["characters"] + ends, measured["bytes"] + ends
    nats = float(loss.sum()) / tokens
    per_character = (nats * tokens + float(spelling.sum())) / characters
    bounds: dict[str, list[float | None]] = {
        "nats_per_token": [None, None],
        "bits_per_character": [None, None],
    }
    if not impossible:
        layout, scale = layout_of(measured), BITS * tokens / characters
        bounds["nats_per_token"] = list(interval(grouped(loss, layout, by)))
        whole = interval(grouped(spelling + loss, layout, by))
        bounds["bits_per_character"] = [end * scale for end in whole]
    return {
        "nats_per_token": finite(nats),
        "bits_per_token": finite(nats * BITS),
        "perplexity": finite(safe_exp(nats)),
        "bits_per_character": finite(per_character * BITS),
        "bits_per_byte": finite(per_character * BITS * characters / size),
        "interval": {"confidence": 0.95, **bounds},
        "tokens": tokens,
        "characters": characters,
        "bytes": size,
        "impossible": impossible,
    }


def summarise(predictor: LanguagePredictor, measured: Measured) -> Record:
    """A plain record: figures, counts and protocol."""
    found, entropy = figures(measured), measured["entropy"]
    nats = found["nats_per_token"]
    excess = None if entropy is None or nats is None else (nats - entropy) * BITS
    return predictor.record(
        "evaluation",
        data=measured["origin"],
        **found,
        sequences=measured["sequences"],
        unknown=measured["unknown"],
        seconds=measured["seconds"],
        symbols_per_second=found["tokens"] / max(measured["seconds"], 1e-9),
        parameters=predictor.model.size(),
        entropy_bits=None if entropy is None else entropy * BITS,
        excess_bits=excess,
        protocol=protocol(predictor) | {"seen_in_training": measured["seen"]},
    )


def protocol(predictor: LanguagePredictor) -> dict[str, Any]:
    """What the figures rest on."""
    lines, options, warm = predictor.by == "line", predictor.codec.options, predictor.model.warm
    carried = (
        f"carried; blocks of {BLOCK * warm} symbols side by side, "
        f"each after {warm} read and not scored"
    )
    lossless = predictor.codec.lossless
    caution = {
        "caution": "blanks are not modelled: bits per character do not compare with those of "
        "characters, bytes or subwords"
    }
    return {
        "unit": options.unit,
        "vocabulary": predictor.codec.size,
        "by": predictor.by,
        "tokens": "every symbol" + (" and the end of every sequence" if lines else ""),
        "end_counts": lines,
        "unknown": "scored as <unk>, never dropped; "
        "bits per character add the price of spelling it out",
        "context": "each sequence from its beginning" if lines else carried,
        "text": ("lower-cased first; " if options.lower else "")
        + ("lossless" if lossless else "blanks are not modelled, but counted as characters"),
        "interval": f"95 % bootstrap, {RESAMPLES} resamples of "
        + ("sequences" if lines else f"blocks of {GROUP} symbols"),
        **({} if lossless else caution),
    }


def layout_of(measured: Measured) -> Field:
    """Where the sequences of what was measured begin and end."""
    return Field(measured.loss, measured["offsets"], SYMBOLS)


def raw_size(column: Field) -> tuple[int, int]:
    """Characters and bytes of the raw text; given tokens count as joined by blanks."""
    if column.kind == TEXT:
        return int((column.flat & 0xC0 != 0x80).sum()), len(column.flat)
    names = column.names or ()
    counts = np.bincount(column.flat, minlength=len(names)).tolist()
    blanks = int(np.maximum(column.lengths - 1, 0).sum())
    characters = sum(len(name) * n for name, n in zip(names, counts, strict=True))
    sizes = (len(name.encode("utf-8", "surrogatepass")) for name in names)
    return characters + blanks, sum(s * n for s, n in zip(sizes, counts, strict=True)) + blanks


def token_places(layout: Field, by: str) -> np.ndarray:
    """(N,) where the symbols of the text stand among what was scored: not at the ends of lines."""
    symbols = np.ones(len(layout.values), bool)
    if by == "line":
        symbols[layout.offsets[1:] - 1] = False
    return symbols


def p_of_difference(first: Measured, second: Measured) -> float:
    """How probable so large a difference of two models' losses on the same symbols is by chance: a
    paired bootstrap, two-sided."""
    check_paired(first, second)
    if not (np.isfinite(first.loss).all() and np.isfinite(second.loss).all()):
        return 0.0
    groups = grouped(second.loss - first.loss, layout_of(first), first["by"])
    return two_sided(drawn_means(groups))
