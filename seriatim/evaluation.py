"""One evaluator for every rung: the same figures, each with the protocol it was measured by.

    nats per token      -(1/N) sum log p(symbol | past), end of sequence included where sequences are lines
    bits per character  (the same sum + the price of spelling out unknown symbols) / characters of the raw text

so that models of different units compare. Intervals are 95 % bootstrap intervals over sequences, or over
consecutive blocks of a stream. Shapes: G groups.
"""
from __future__ import annotations

import hashlib
import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from seriatim.agreement import RESAMPLES, drawn_means, interval, sums_between, two_sided
from seriatim.codecs.symbols import UNKNOWN
from seriatim.data.sequences import TEXT, Field, Sequences
from seriatim.errors import DataError
from seriatim.scoring import BLOCK, score

if TYPE_CHECKING:
    from seriatim.predictor import Predictor

GROUP = 200    # symbols of a stream that go together in a resample


def evaluate(predictor: Predictor, data: Sequences) -> dict[str, Any]:
    """A plain record: figures, counts and protocol."""
    return summarise(predictor, measure(predictor, data))


def measure(predictor: Predictor, data: Sequences) -> dict[str, Any]:
    """The log-probability of every symbol, and what it cost to compute."""
    column = data.main
    ids = predictor.codec.encode(column)
    if not len(ids.flat):
        raise DataError(f"{data.origin} has nothing to score", got=f"{len(column)} sequences without a {predictor.codec.options.unit}")
    begin = time.perf_counter()
    log_prob = score(predictor.model, ids, predictor.by)
    return {"log_prob": log_prob, "ids": ids, "seconds": time.perf_counter() - begin, "data": data,
            "spelling": predictor.codec.unknown_nats(column, ids)}


def summarise(predictor: Predictor, measured: dict[str, Any]) -> dict[str, Any]:
    log_prob, codec, data = measured["log_prob"], predictor.codec, measured["data"]
    tokens = len(log_prob.values)
    impossible = int(np.isneginf(log_prob.values).sum())
    nats = -float(log_prob.values.sum()) / tokens
    characters, size = raw_size(data.main)
    ends = len(data) if predictor.by == "line" else 0              # a line's end is a character of the text too
    per_character = (nats * tokens + float(measured["spelling"].sum())) / (characters + ends)
    bits = 1 / math.log(2)
    bounds: dict[str, list[float | None]] = {"nats_per_token": [None, None], "bits_per_character": [None, None]}
    if not impossible:
        spelled = np.zeros(tokens)
        spelled[token_places(log_prob, predictor.by)] = measured["spelling"]
        bounds["nats_per_token"] = list(interval(grouped(-log_prob.values, log_prob, predictor.by)))
        scale = bits * tokens / (characters + ends)
        bounds["bits_per_character"] = [end * scale for end in interval(grouped(spelled - log_prob.values, log_prob, predictor.by))]
    entropy = data.entropy
    return {
        "version": 1, "task": "language", "model": predictor.spec, "data": data.origin,
        "nats_per_token": finite(nats), "bits_per_token": finite(nats * bits), "perplexity": finite(safe_exp(nats)),
        "bits_per_character": finite(per_character * bits), "bits_per_byte": finite(per_character * bits * (characters + ends) / (size + ends)),
        "interval": {"confidence": 0.95, **bounds},
        "tokens": tokens, "characters": characters + ends, "bytes": size + ends, "sequences": len(data),
        "unknown": int((measured["ids"].flat == UNKNOWN).sum()), "impossible": impossible,
        "seconds": measured["seconds"], "tokens_per_second": tokens / max(measured["seconds"], 1e-9),
        "parameters": predictor.model.size(),
        "entropy_bits": None if entropy is None else entropy * bits,
        "excess_bits": None if entropy is None else finite((nats - entropy) * bits),
        "protocol": protocol(predictor, codec.lossless) | {"seen_in_training": predictor.metrics.get("fingerprint") == fingerprint(data.main)},
    }


def fingerprint(*columns: Field | None) -> str:
    """What the data was: a fit is not resumed on other data, and a text is known again when it is scored."""
    digest = hashlib.sha256()
    for column in columns:
        if column is not None:
            digest.update(np.ascontiguousarray(column.flat).tobytes())
            digest.update(np.ascontiguousarray(column.offsets - column.offsets[0]).tobytes())
    return digest.hexdigest()


def protocol(predictor: Predictor, lossless: bool) -> dict[str, Any]:
    lines = predictor.by == "line"
    return {
        "unit": predictor.codec.options.unit, "vocabulary": predictor.codec.size, "by": predictor.by,
        "tokens": "every symbol" + (" and the end of every sequence" if lines else ""),
        "end_counts": lines,
        "unknown": "scored as <unk>, never dropped; bits per character add the price of spelling it out",
        "context": "each sequence from its beginning" if lines else
                   f"carried; blocks of {BLOCK * predictor.model.warm} symbols side by side, each after {predictor.model.warm} read and not scored",
        "text": ("lower-cased first; " if predictor.codec.options.lower else "")
                + ("lossless" if lossless else "blanks are not modelled, but counted as characters"),
        "interval": f"95 % bootstrap, {RESAMPLES} resamples of " + ("sequences" if lines else f"blocks of {GROUP} symbols"),
    }


def raw_size(column: Field) -> tuple[int, int]:
    """Characters and bytes of the raw text; given tokens count as joined by blanks."""
    if column.kind == TEXT:
        return int((column.flat & 0xC0 != 0x80).sum()), len(column.flat)
    names = column.names or ()
    counts = np.bincount(column.flat, minlength=len(names))
    blanks = int(np.maximum(column.lengths - 1, 0).sum())
    characters = sum(len(name) * int(n) for name, n in zip(names, counts, strict=True))
    size = sum(len(name.encode("utf-8", "surrogatepass")) * int(n) for name, n in zip(names, counts, strict=True))
    return characters + blanks, size + blanks


def grouped(values: np.ndarray, layout: Field, by: str) -> np.ndarray:
    """(G, 2): the sum of the values and their number, for each group that is resampled together."""
    cuts = np.arange(0, len(values), max(1, min(GROUP, len(values) // 20))) if by == "stream" else (layout.offsets - layout.offsets[0])[:-1]
    return sums_between(values, cuts)


def token_places(layout: Field, by: str) -> np.ndarray:
    """Where the symbols of the text stand among what was scored: everywhere but at the ends of lines."""
    symbols = np.ones(len(layout.values), bool)
    if by == "line":
        symbols[layout.offsets[1:] - 1] = False
    return symbols


def apart(first: dict[str, Any], second: dict[str, Any]) -> float:
    """How probable so large a difference of two models' losses on the same symbols is by chance: a paired bootstrap, two-sided."""
    one, other = first["log_prob"], second["log_prob"]
    if not (np.isfinite(one.values).all() and np.isfinite(other.values).all()):
        return 0.0
    return two_sided(drawn_means(grouped(one.values - other.values, one, first["data"].by)))


def finite(value: float) -> float | None:
    """JSON has no infinity: an impossible text has no figure, and `impossible` counts the symbols that made it so."""
    return value if math.isfinite(value) else None


def safe_exp(value: float) -> float:
    return math.exp(value) if value < 700 else math.inf
