"""How well language is predicted: the same figures for every rung, with the protocol behind them.

    nats per token      -(1/N) sum log p(symbol | past), the end of each sequence included by line
    bits per character  (the same sum + the price of what the symbols do not tell) / characters of
                        the raw text

What symbols do not tell are the letters of unknown ones, the blanks between words, and capitals where
text is lower-cased: see `seriatim.codecs.side`. So models of different units compare, and `compress`
proves it: its file has this size. Intervals are 95 % bootstrap intervals over sequences, or
over consecutive blocks of a stream; of several regions of a stream, over these. Shapes: N symbols,
G groups, R draws.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from seriatim.codecs.symbols import UNKNOWN
from seriatim.data.sequences import SYMBOLS, TEXT, Field, Sequences
from seriatim.errors import DataError
from seriatim.measuring.likelihood import BLOCK, score
from seriatim.measuring.measured import Measured, check_paired
from seriatim.measuring.resampling import (
    FIRST_BLOCK,
    RESAMPLES,
    block_length,
    blocks_in_words,
    drawn_means,
    drawn_over_regions,
    group_starts,
    grouped,
    halves_of,
    middle_of,
    sums_between,
    two_sided,
)
from seriatim.records import Record, finite, safe_exp

if TYPE_CHECKING:
    from seriatim.tasks.language.predictor import LanguagePredictor

BITS = 1 / math.log(2)
LONG_REGION = 5_000  # symbols of a region: of a longer one its beginning is nothing
BEGINNING = 32  # symbols of a region, whose past was not read


NOISE = 1e-4  # share of the loss below which a difference is rounding, or the weight of nothing


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
    side = side_nats(predictor, column, ids, log_prob)
    characters, size = raw_size(column)
    arrays = {
        "loss": -log_prob.values,  # (N,) nats
        "side": side,  # (N,) nats of what the symbol does not tell
        "offsets": log_prob.offsets - log_prob.offsets[0],
    }
    facts = {
        "seconds": seconds,
        "origin": data.origin,
        "by": predictor.by,
        "regions": regions_in(data, len(ids.flat)) if predictor.by == "stream" else 1,
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
    loss, side, by = measured.loss, measured["side"], measured["by"]
    tokens, impossible = len(loss), int(np.isposinf(loss).sum())
    ends = measured["sequences"] if by == "line" else 0  # a line's end is a character, too
    characters, size = measured["characters"] + ends, measured["bytes"] + ends
    nats = float(loss.sum()) / tokens
    per_character = (nats * tokens + float(side.sum())) / characters
    bounds: dict[str, list[float | None]] = {
        "nats_per_token": [None, None],
        "bits_per_character": [None, None],
    }
    if not impossible:
        scale = BITS * tokens / characters
        less = cost_of_beginnings(loss, measured.facts.get("regions", 1))
        low, high = middle_of(drawn(loss, measured))
        bounds["nats_per_token"] = [low - less, high]
        low, high = middle_of(drawn(side + loss, measured))
        bounds["bits_per_character"] = [(low - less) * scale, high * scale]
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
        protocol=protocol(predictor, measured) | {"seen_in_training": measured["seen"]},
    )


def protocol(predictor: LanguagePredictor, measured: Measured) -> dict[str, Any]:
    """What the figures rest on."""
    lines, options, warm = predictor.by == "line", predictor.codec.options, predictor.model.warm
    carried = (
        f"carried; blocks of {BLOCK * warm} symbols side by side, "
        f"each after {warm} read and not scored"
    )
    return {
        "unit": options.unit,
        "vocabulary": predictor.codec.size,
        "by": predictor.by,
        "tokens": "every symbol" + (" and the end of every sequence" if lines else ""),
        "end_counts": lines,
        "unknown": "scored as <unk>, never dropped; bits per character add its letters",
        "context": "each sequence from its beginning" if lines else carried,
        "text": restored_from(predictor),
        "interval": drawn_in_words(measured),
    }


def drawn_in_words(measured: Measured) -> str:
    """How the intervals were made."""
    regions = measured.facts.get("regions", 1)
    if regions > 1:
        words = f"95 %, Student's t over {regions} regions, their halves and how neighbours differ"
        short = len(measured.loss) // regions <= LONG_REGION
        return words + "; less what their beginnings cost, before which nothing was read" * short
    lines = measured["by"] == "line"
    return f"95 % bootstrap, {RESAMPLES} resamples of " + (
        "sequences" if lines else blocks_in_words(whole_loss(measured))
    )


def restored_from(predictor: LanguagePredictor) -> str:
    """What is charged so that the text can be restored."""
    codec, charged = predictor.codec, []
    if not codec.lossless:
        charged.append(codec.left_out)
    if codec.options.lower:
        charged.append("capitals, since it is lower-cased first")
    return (
        "restorable: its symbols tell all of it"
        if not charged
        else (f"restorable: bits per character add {' and '.join(charged)}")
    )


def side_nats(predictor: LanguagePredictor, column: Field, ids: Field, scored: Field) -> np.ndarray:
    """(N,) nats of what each symbol that was scored does not tell; what is left of a sequence is
    charged at its end."""
    side = np.zeros(len(scored.values))
    symbols, rest = predictor.codec.side_nats(column, ids)
    side[token_places(scored, predictor.by)] = symbols
    np.add.at(side, np.maximum(scored.offsets[1:] - scored.offsets[0] - 1, 0), rest)
    return side


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


def whole_loss(measured: Measured) -> np.ndarray:
    """(N,) nats of each symbol, and of what it does not tell, where that was measured."""
    return measured.loss + measured.arrays.get("side", np.zeros(1))


def regions_in(data: Sequences, tokens: int) -> int:
    """Of how many regions a stream was put together; 1 if their halves are shorter than a block."""
    return data.regions if tokens >= 2 * data.regions * FIRST_BLOCK else 1


def cost_of_beginnings(loss: np.ndarray, regions: int) -> float:
    """Nats a symbol by which short regions are dearer than the same symbols are within their text:
    what their first symbols cost beyond the others, for what stands before them was not read."""
    size = len(loss) // max(1, regions)
    if regions == 1 or size > LONG_REGION:
        return 0.0
    first = np.concatenate(
        [np.arange(BEGINNING) + r * len(loss) // regions for r in range(regions)]
    )
    among = np.ones(len(loss), bool)
    among[first] = False
    return max(0.0, float(loss[first].mean() - loss[among].mean())) * len(first) / len(loss)


def drawn(values: np.ndarray, measured: Measured) -> np.ndarray:
    """(N,) values of what was measured -> (R,) their mean, if other sequences had been drawn, other
    regions of a stream, or other blocks where it is in one piece."""
    regions = measured.facts.get("regions", 1)
    if regions > 1:
        return drawn_over_regions(halves_of(values, regions))
    return drawn_means(grouped(values, layout_of(measured), measured["by"]))


def drawn_bits(several: Sequence[Measured]) -> np.ndarray:
    """(M, R) bits per character of several models, if other sequences had been drawn, or other
    regions or blocks of a stream. Models of different units have as many of these, which then meet
    but for a few symbols. What calls something impossible is infinite."""
    found = np.full((len(several), RESAMPLES), np.inf)
    possible = [m for m, each in enumerate(several) if np.isfinite(each.loss).all()]
    stream = several[0]["by"] == "stream"
    regions = min(each.facts.get("regions", 1) for each in several)
    many = fewest_blocks([several[m] for m in possible]) if stream and regions == 1 else 0
    for m in possible:
        each, loss = several[m], whole_loss(several[m])
        cuts = np.arange(many) * len(loss) // many if many else group_starts(each["offsets"])
        ends = 0 if stream else each["sequences"]  # a line's end is a character, too
        found[m] = (
            drawn_over_regions(halves_of(loss, regions))
            if regions > 1
            else drawn_means(sums_between(loss, cuts))
        )
        found[m] *= BITS * len(loss) / (each["characters"] + ends)
    return found


def fewest_blocks(several: Sequence[Measured]) -> int:
    """Into how many blocks a stream is cut for all of these models: those of the one, or of the
    difference of two, whose neighbours are alike for longest."""
    losses = [whole_loss(each) for each in several]
    series = [*losses, *(each - losses[0] for each in losses[1:] if len(each) == len(losses[0]))]
    return min((max(1, len(each) // block_length(each)) for each in series), default=1)


def p_of_difference(first: Measured, second: Measured) -> float:
    """How probable so large a difference of two models' losses on the same symbols is by chance: a
    paired bootstrap, two-sided. Below a ten-thousandth of the loss there is none to speak of: p is 1,
    however many symbols agree on it."""
    check_paired(first, second)
    if not (np.isfinite(first.loss).all() and np.isfinite(second.loss).all()):
        return 0.0
    difference = whole_loss(second) - whole_loss(first)
    if abs(difference.sum()) < NOISE * first.loss.sum():
        return 1.0
    return two_sided(drawn(difference, first))
