"""How well targets are written: likelihood of the references, and what the translations are worth.

    nats per token   -(1/N) sum log p(symbol of a reference | source, symbols before), STOP included
    chrF, BLEU, ...  by the field's own libraries: see `seriatim.measuring.texts`

    exact            the share of targets that are right to the letter: what ranks models where targets
                     are single words, for which chrF, BLEU and their kind mean nothing and are none

Sources that are equal have several references, and any of them is right. Two models are told apart by
a paired bootstrap over sources, of chrF or of exact ones. Shapes: S sources, N symbols of targets.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from seriatim.batches import MOST_PAIRED, buckets, refuse_long
from seriatim.codecs.symbols import UNKNOWN
from seriatim.codecs.units import one_word_each
from seriatim.data.sequences import NUMBERS, SYMBOLS, Field, Sequences, offsets_of
from seriatim.decoding.options import DecodingOptions
from seriatim.errors import DataError
from seriatim.measuring.likelihood import PLACES
from seriatim.measuring.measured import Measured, check_paired
from seriatim.measuring.resampling import drawn_together, paired_bootstrap
from seriatim.measuring.texts import (
    chrf_counts,
    chrf_score,
    drawn,
    paired,
    text_report,
    token_errors,
)
from seriatim.models.base import Model, asked, evaluating
from seriatim.models.mixture import Mixture
from seriatim.progress import note, passing
from seriatim.records import Record, finite, safe_exp
from seriatim.tasks.translate.codec import EncodedPairs, of_pairs
from seriatim.tasks.translate.references import gathered, reference_symbols, references
from seriatim.tasks.translate.rows import tell_long, too_long

if TYPE_CHECKING:
    from seriatim.tasks.translate.predictor import Translator

BINS = 8  # groups of sources by length
# figures that mean nothing for single words
OF_SENTENCES = ("chrf", "bleu", "bleu_lower", "meteor", "rouge1", "rouge2", "rougeL", "wer")


def score_pairs(model: Model, pairs: EncodedPairs) -> Field:
    """Natural-log probability of each symbol of the targets given their sources, STOP last."""
    offsets = offsets_of(pairs.y.lengths + 1)
    if isinstance(model, Mixture):
        parts = [
            score_pairs(part, pairs).values + weight
            for part, weight in zip(model.parts, model.log_weights.tolist(), strict=True)
        ]
        return Field(np.logaddexp.reduce(parts), offsets, SYMBOLS)
    for column in pairs.columns:
        refuse_long(column, MOST_PAIRED)
    values = np.zeros(offsets[-1])
    with evaluating(model):
        for rows in passing(
            "scoring", buckets(np.maximum(pairs.lengths, pairs.y.lengths), PLACES // 4)
        ):
            batch = of_pairs(pairs, rows)
            log_prob = asked(model).predict(batch).log_prob(batch.y).numpy()  # (B, T)
            places = np.concatenate([np.arange(offsets[s], offsets[s + 1]) for s in rows])
            values[places] = log_prob[batch.y_mask.numpy()]
    return Field(values, offsets, SYMBOLS)


def measure(predictor: Translator, data: Sequences, settings: dict[str, Any]) -> Measured:
    """What is written for each different source, beside what would be right."""
    pairs = predictor.codec.encode(data)
    long = too_long(*pairs.columns)
    if long.any():
        tell_long(data, np.flatnonzero(long), "pair", "left out")
        data, pairs = data[~long], pairs.take(np.flatnonzero(~long))
    if not len(pairs):
        raise DataError(f"{data.origin} has no pair to be measured by")
    log_prob = score_pairs(predictor.model, pairs)
    first, right = gathered(data)
    options, _ = predictor.searching(settings)
    begin = time.perf_counter()
    several = predictor.results(pairs.take(first).alone(), settings)
    seconds = time.perf_counter() - begin
    found = [results[0] for results in several]
    target = predictor.codec.target
    texts = [target.decode(result.symbols) for result in found]
    truth = references(target, data, right)
    cut_off = sum(not result.ended and result.log_prob > -np.inf for result in found)
    if cut_off:
        note(
            f"{predictor.spec}: {cut_off:,} of {len(found):,} targets were cut off at their "
            "greatest length; --length sets another"
        )
    written = [[target.symbols[i] for i in result.symbols] for result in found]
    arrays = {
        "loss": sentence_losses(texts, truth),  # (S,) 1 - chrF of the source's own target
        "exact": np.array([text in right for text, right in zip(texts, truth, strict=True)]),
        "errors": token_errors(written, reference_symbols(target, data, right)),  # (S, 2)
        "lengths": pairs.x.lengths[first] - (pairs.x.kind != NUMBERS),  # (S,) without STOP
        "log_prob": log_prob.values,  # (N,)
    }
    facts = {
        "answers": texts,
        "truth": truth,
        "search": searched(options),
        "cut_off": cut_off,
        "seconds": seconds,
        "origin": data.origin,
        "pairs": len(pairs),
        "unknown": int((pairs.y.flat == UNKNOWN).sum()),
        "seen": predictor.seen(data),
    }
    return Measured(arrays, facts)


def sentence_losses(texts: list[str], truth: list[list[str]]) -> np.ndarray:
    """(S,) what each text lacks: 1 minus its chrF, by the reference that serves it best."""
    counts = chrf_counts(texts, truth) if texts else np.zeros((0, 18), np.int64)
    return np.array([1 - chrf_score(row) / 100 for row in counts.tolist()])


def summarise(predictor: Translator, measured: Measured) -> Record:
    """A plain record: figures, counts and protocol."""
    report = figures(measured["answers"], measured["truth"])
    nats = float(-measured["log_prob"].mean())
    errors, sources = measured["errors"], len(measured.loss)
    return predictor.record(
        "evaluation",
        data=measured["origin"],
        nats_per_token=finite(nats),
        perplexity=finite(safe_exp(nats)),
        **report,
        token_error=rate_of(errors),
        by_length=by_length(measured["lengths"], measured["exact"], errors),
        sources=sources,
        pairs=measured["pairs"],
        cut_off=measured["cut_off"],
        tokens=len(measured["log_prob"]),
        unknown=measured["unknown"],
        seconds=measured["seconds"],
        symbols_per_second=len(measured["log_prob"]) / max(measured["seconds"], 1e-9),
        parameters=predictor.model.size(),
        protocol=protocol(predictor, measured),
    )


def figures(texts: list[str], truth: list[list[str]]) -> dict[str, Any]:
    """What translations are worth. Of single words, figures of sentences mean nothing and are none:
    what ranks models is the share of exact ones then, and chrF otherwise."""
    report = text_report(texts, truth)
    alone = single_words(truth)
    within = report["interval"]
    exact = 100 * report["exact"], [100 * bound for bound in within["exact"]]
    quality, bounds = exact if alone else (report["chrf"], within["chrf"])
    if alone:
        report |= dict.fromkeys(OF_SENTENCES)
        within = within | {name: [None, None] for name in within.keys() & set(OF_SENTENCES)}
    interval = {"confidence": 0.95, "quality": bounds, **within}
    return report | {"quality": quality, "interval": interval}


def single_words(truth: list[list[str]]) -> bool:
    """Whether what is right is a word without a blank each, but for a few."""
    return one_word_each([text.strip() for several in truth for text in several])


def protocol(predictor: Translator, measured: Measured) -> dict[str, Any]:
    """What the figures rest on."""
    codec = predictor.codec
    alone = single_words(measured["truth"])
    blanks = "as given" if codec.target.lossless else "with blanks as this codec puts them"
    return {
        "caution": "quality: "
        + ("% of exact targets, which are single words" if alone else "chrF of all targets"),
        "unit": codec.options.unit,
        "target_unit": codec.target.options.unit,
        "vocabulary": codec.size,
        "source_vocabulary": codec.sizes[0],
        "end": "scored",
        "search": measured["search"],
        "references": "equal sources have several, any of which is right; "
        "nats are those of the first column",
        "text": f"as written, against the references {blanks}",
        "seen_in_training": measured["seen"],
    }


def searched(options: DecodingOptions) -> str:
    """How targets were found, in words."""
    if options.beam:
        coverage = f", coverage {options.coverage:g}" if options.coverage else ""
        return f"beam {options.beam}, length penalty {options.length_penalty:g}{coverage}"
    if options.min_bayes_risk:
        return f"minimum Bayes risk of {options.min_bayes_risk} samples"
    return "one sample" if options.temperature else "greedy"


def rate_of(errors: np.ndarray) -> float:
    """(S, 2) edits and tokens -> the error rate of all."""
    return float(errors[:, 0].sum() / max(1, errors[:, 1].sum()))


def by_length(lengths: np.ndarray, exact: np.ndarray, errors: np.ndarray) -> list[dict[str, Any]]:
    """Figures of sources of similar length, in groups of about equal size."""
    if not len(lengths):
        return []
    edges = np.unique(np.quantile(lengths, np.linspace(0, 1, BINS + 1)).astype(int))
    group = np.clip(np.searchsorted(edges, lengths, "right") - 1, 0, max(0, len(edges) - 2))
    found = []
    for number in np.unique(group):
        some = group == number
        found.append(
            {
                "from": int(lengths[some].min()),
                "to": int(lengths[some].max()),
                "sources": int(some.sum()),
                "exact": float(exact[some].mean()),
                "token_error": rate_of(errors[some]),
            }
        )
    return found


def difference(first: Measured, second: Measured) -> dict[str, float]:
    """By how much more the first is worth, from where to where with 95 % confidence, and how
    probable so large a difference is by chance: of chrF, or of single words in % that are exact.
    References may be written in another way by each codec."""
    check_paired(first, second)
    if not single_words(first["truth"]):
        return paired(first["answers"], second["answers"], first["truth"], others=second["truth"])
    found = paired_bootstrap(100.0 * first["exact"], 100.0 * second["exact"])
    low, high = found["interval"]
    return {"difference": found["difference"], "low": low, "high": high, "p": found["p"]}


def p_of_difference(first: Measured, second: Measured) -> float:
    """How probable so large a difference of two models on the same sources is by chance: a paired
    bootstrap, two-sided."""
    return difference(first, second)["p"]


def drawn_quality(several: Sequence[Measured]) -> np.ndarray:
    """(M, R) chrF of several models, or of single words in % that are exact, if other sources had
    been drawn."""
    if single_words(several[0]["truth"]):
        cuts = np.arange(len(several[0]["exact"]))
        return 100 * drawn_together([each["exact"] for each in several], cuts)
    counts = (chrf_counts(each["answers"], each["truth"]) for each in several)
    return np.stack([drawn(each, chrf_score) for each in counts])
