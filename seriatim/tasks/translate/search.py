"""What does a model write for these sources? Searched in batches of similar length; the answer for
one never depends on its neighbours.

    coverage   score + c sum_p log(min(sum_t a_tp, 1))     has every position p been attended to?
    risk       argmax_y sum_y' p(y') utility(y, y')        of many samples the one nearest to all

Coverage is that of Wu et al. 2016, risk that of Kumar and Byrne 2004.

Shapes: S sources, B rows, T time, P source.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import MOST_PAIRED, buckets, refuse_long
from seriatim.codecs.symbols import STOP, UNKNOWN
from seriatim.data.sequences import SYMBOLS
from seriatim.decoding.constraints import Demands
from seriatim.decoding.decode import decode
from seriatim.decoding.options import DecodingOptions
from seriatim.decoding.results import Result
from seriatim.errors import ConfigError, DataError
from seriatim.measuring.texts import (
    References,
    bleu_counts,
    bleu_score,
    chrf_counts,
    chrf_score,
    sentence_chrf,
    whole,
)
from seriatim.models.base import Model, asked, evaluating
from seriatim.progress import passing
from seriatim.tasks.translate.codec import EncodedPairs, of_pairs
from seriatim.tasks.translate.models.encoder_decoder import EncoderDecoder
from seriatim.tasks.translate.models.joint import CHUNKS
from seriatim.tasks.translate.models.lexicon import ALIGNMENT

GREEDY = DecodingOptions(length=10_000, temperature=0.0)
PLACES, ROWS = 4096, 64  # padded places of sources in a batch, and most sources


def translations(
    model: Model,
    pairs: EncodedPairs,
    room: np.ndarray,
    options: DecodingOptions,
    demands: Demands | None = None,
    rows: int = ROWS,
) -> list[list[Result]]:
    """For each source `options.count` results of at most `room` symbols, (S,), the best first; at
    most `rows` sources side by side."""
    for column in pairs.sources:
        refuse_long(column, MOST_PAIRED)
    sources, found = pairs.alone(), dict[int, list[Result]]()
    wide = replace(options, count=max(options.count, options.beam)) if options.coverage else options
    groups = [
        some
        for group in buckets(pairs.lengths, PLACES)
        for some in np.split(group, range(rows, len(group), rows))
    ]
    with evaluating(model):
        for some in passing("translating", groups):
            limits = replace(demands or Demands(), most=torch.from_numpy(room[some]))
            batch = of_pairs(sources, some)
            several = decode(model, batch, wide, (STOP,), (UNKNOWN,), demands=limits)
            for s, results in zip(some.tolist(), several, strict=True):
                if options.coverage:
                    one = sources.take(slice(s, s + 1))
                    results = covered(model, one, results, options)[: options.count]
                found[s] = results
    return [found[s] for s in range(len(pairs))]


def distinct(keys: Iterable[Hashable]) -> tuple[np.ndarray, np.ndarray]:
    """(S',) the first place of each different key, in order; (S,) which of these each is."""
    number: dict[Hashable, int] = {}
    owner = np.array([number.setdefault(key, len(number)) for key in keys], np.int64)
    return np.unique(owner, return_index=True)[1], owner


def alike(pairs: EncodedPairs, s: int) -> Hashable:
    """What pairs with equal sources share; of symbols that are unknown nobody can tell whether they
    are equal."""
    rows = [column.row(s) for column in pairs.sources]
    for column, row in zip(pairs.sources, rows, strict=True):
        if column.kind == SYMBOLS and UNKNOWN in row:
            return s
    return tuple(row.tobytes() for row in rows)


def judge_of(model: Model) -> str:
    """What a model is judged by on validation data: what it was told, or one of its parts was."""
    told = [part.options.judge for part in model.parts if isinstance(part, EncoderDecoder)]
    return next((each for each in told if each != "loss"), "loss")


HEARD = ("attention.", ALIGNMENT)  # what `trace` gives of attention, and of translations by symbol


def attention(
    model: Model, pair: EncodedPairs, several: Sequence[Sequence[int]], kinds: Sequence[str] = HEARD
) -> Tensor:
    """(B, H, T, P): what each of several targets of one source hears of it, STOP last, in the last
    part that attends; of a lexicon, of which symbol each is the translation."""
    with torch.inference_mode():
        traced = asked(model).trace(of_pairs(pair.with_targets(several), np.arange(len(several))))
    for kind in kinds:
        found = [value for name, value in traced.items() if name.startswith(kind)]
        if found:
            return found[-1]
    aligned = "lexicon" if CHUNKS not in kinds else "lexicon or joint"
    raise ConfigError(
        "this model attends to nothing",
        got="one that keeps a vector of the source, or counts without aligning",
        do=f"Use gru, lstm or transformer, with --attends after; or {aligned}, aligning as it counts",
    )


def alignment(model: Model, pair: EncodedPairs, symbols: Sequence[int]) -> Tensor:
    """(H, T, P): the same of one target; of joint n-grams, by which symbol each was written."""
    weights = attention(model, pair, [symbols], (*HEARD, CHUNKS))[0]
    if not weights.any():
        raise DataError(
            "this target cannot be cut into chunks that the model knows, one for each symbol of its "
            "source",
            got=f"{len(symbols)} symbols of a target, {len(pair.x.row(0))} of a source",
            do="Give another target, or leave it out for the model's own",
        )
    return weights


def covered(
    model: Model, pair: EncodedPairs, results: list[Result], options: DecodingOptions
) -> list[Result]:
    """The results in the order that their coverage of the source gives them."""
    heard = attention(model, pair, [result.symbols for result in results]).mean(1)  # (B, T, P)
    for row, result in zip(heard, results, strict=True):
        reached = row[: len(result.symbols) + 1].sum(0).clamp(1e-9, 1.0)  # (P,)
        result.score += options.coverage * float(reached.log().sum())
    return sorted(results, key=lambda result: -result.score)


def least_risk(
    texts: Sequence[str], utility: Callable[[str, str], float] = sentence_chrf
) -> tuple[int, float]:
    """Which of several samples is nearest to all of them, and how near."""
    times = Counter(texts)
    worth = {
        text: sum(
            many * (100.0 if text == other else utility(text, other))
            for other, many in times.items()
        )
        / len(texts)
        for text in times
    }
    best = max(times, key=lambda text: worth[text])  # the first of equals
    return list(texts).index(best), worth[best]


def quality(judge: str, found: list[str], references: References) -> float:
    """One figure of many texts, 0 to 1, more being better: "bleu", "chrf" or "exact"."""
    if judge == "exact":
        return float(
            np.mean([text in several for text, several in zip(found, references, strict=True)])
        )
    counts, score = {"bleu": (bleu_counts, bleu_score), "chrf": (chrf_counts, chrf_score)}[judge]
    return whole(counts(found, references), score) / 100
