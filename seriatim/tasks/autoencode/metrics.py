"""How good vectors of sequences are, and what is written from them.

    nats per symbol    -log p(x) of all sequences / their symbols, the end of each included: exact
                       without a vector, estimated by draws of a vector that is variational
    written again      the sequence from its own vector, greedily; and from another's, to know what
                       chance does

Shapes: S sequences.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from seriatim.data.sequences import Sequences
from seriatim.errors import DataError
from seriatim.measuring.measured import Measured, check_paired
from seriatim.measuring.resampling import drawn_means, interval, two_sided
from seriatim.measuring.texts import bleu_counts, bleu_score, token_errors, whole
from seriatim.records import Record
from seriatim.tasks.autoencode.codec import Samples
from seriatim.tasks.autoencode.likelihood import bound, likelihood, report, vectors

if TYPE_CHECKING:
    from seriatim.tasks.autoencode.predictor import Autoencoding

MOST_REWRITTEN = 1000  # sequences that an evaluation writes again
SHORT = 8  # symbols of a short one


def measure(predictor: Autoencoding, data: Sequences, draws: int) -> Measured:
    """What each sequence costs, what its vector says, and what is written from that."""
    samples, begin = predictor.codec.encode(data), time.perf_counter()
    if not len(samples.x.flat):
        raise DataError(
            f"{data.origin} has nothing to score", got=f"{len(samples)} sequences, all empty"
        )
    model, codec = predictor.model, predictor.codec
    found = bound(model, samples)
    nats = found.written if predictor.plain else -likelihood(model, samples, draws)
    seconds = time.perf_counter() - begin
    arrays = {
        "loss": nats,  # (S,)
        "symbols": found.symbols,
        "bound": found.written + found.said.sum(1),
    }
    facts = {
        "origin": data.origin,
        "entropy": data.entropy,
        "draws": draws,
        "seconds": seconds,
        "unknown": codec.unknown(samples),
        "seen": predictor.seen(data),
        "report": report(model, samples) if predictor.latent else None,
        "rewritten": None,
        "classified": None,
    }
    if predictor.latent and not codec.numeric:
        facts |= rewritten(predictor, samples)
    if len(codec.conditions) == 1 and not predictor.latent:
        facts |= classified(predictor, samples)
    return Measured(arrays, facts)


def rewritten(predictor: Autoencoding, samples: Samples) -> dict[str, Any]:
    """Sequences written again from their vectors; and, to know what chance does, from those of
    others."""
    some = samples.take(slice(0, MOST_REWRITTEN))
    mean, _ = vectors(predictor.model, some)
    texts = [predictor.codec.decode(samples.x.row(s)) for s in range(len(samples))]
    true, short = texts[: len(some)], np.flatnonzero(some.x.lengths <= SHORT)
    own, others = (
        [each["text"] for each in predictor.write(latents, some.labels, predictor.greedy())]
        for latents in (mean, np.roll(mean, 1, 0))
    )
    figures = written_figures(own, true, short)
    by_chance = written_figures(others, true, short)
    return {
        "truth": texts,
        "answers": own + [None] * (len(texts) - len(own)),
        "rewritten": figures | {"by_chance": by_chance},
    }


def written_figures(found: list[str], true: list[str], short: np.ndarray) -> dict[str, Any]:
    """Texts against what they should be: all, and the short ones."""
    tokens = token_errors([text.split() for text in found], [[text.split()] for text in true])
    brief = None
    if len(short):
        few = agreement([found[s] for s in short], [true[s] for s in short])
        brief = few | {"sequences": len(short)}
    return agreement(found, true) | {
        "word_error": float(tokens[:, 0].sum() / max(1, tokens[:, 1].sum())),
        "short": brief,
    }


def agreement(found: list[str], true: list[str]) -> dict[str, float]:
    """The share of texts that are the same, and BLEU, 0 to 100."""
    same = [text == other for text, other in zip(found, true, strict=True)]
    references = [[text] for text in true]
    bleu = whole(bleu_counts(found, references), bleu_score)
    return {"exact": float(np.mean(same)), "bleu": bleu}


def classified(predictor: Autoencoding, samples: Samples) -> dict[str, Any]:
    """As a classifier, by Bayes' rule."""
    posterior, true = predictor.posterior(samples), samples.labels[:, 0]
    ((name, labels),) = predictor.codec.conditions.items()
    found = posterior.argmax(1)
    return {
        "truth": labels.decode(true),
        "answers": labels.decode(found),
        "classified": {
            "field": name,
            "accuracy": float((found == true).mean()),
            "log_loss": float(-posterior[np.arange(len(true)), true].mean()),
        },
    }


def summarise(predictor: Autoencoding, measured: Measured) -> Record:
    """Nats per symbol, what the vectors say, and how well sequences are written again."""
    nats, symbols, entropy = measured.loss, measured["symbols"], measured["entropy"]
    per = float(nats.sum() / symbols.sum())
    bounds = list(interval(np.stack([nats, symbols], 1)))
    known = {"seen_in_training": measured["seen"]}
    return predictor.record(
        "evaluation",
        data=measured["origin"],
        nats_per_symbol=per,
        perplexity=math.exp(min(700.0, per)),
        interval={"confidence": 0.95, "nats_per_symbol": bounds},
        entropy=entropy,
        excess=None if entropy is None else per - entropy,
        nats_per_sequence=float(nats.mean()),
        bound_per_symbol=float(measured["bound"].sum() / symbols.sum()),
        report=measured["report"],
        rewritten=measured["rewritten"],
        classified=measured["classified"],
        sequences=len(nats),
        symbols=int(symbols.sum()),
        unknown=measured["unknown"],
        seconds=measured["seconds"],
        symbols_per_second=int(symbols.sum()) / max(measured["seconds"], 1e-9),
        parameters=predictor.model.size(),
        protocol=protocol(predictor, measured["draws"]) | known,
    )


def protocol(predictor: Autoencoding, draws: int) -> dict[str, Any]:
    """What the figures rest on."""
    codec = predictor.codec
    how = f"importance weighted, {draws} draws of the vector: never below the truth, on average"
    if not predictor.latent:
        how = "exact"
    elif predictor.plain:
        how = (
            "of what is written given its own vector: no likelihood, "
            "and not to be compared with one"
        )
    if codec.moves is not None:
        symbols: dict[str, Any] = {"states": codec.size, "channels": codec.moves.channels}
    else:
        symbols = {"vocabulary": codec.size, "unknown": "scored like any other symbol"}
    again = f"written again greedily, of the first {MOST_REWRITTEN:,} sequences"
    return {
        "unit": codec.unit,
        **symbols,
        "end": "scored",
        "nats": how,
        "condition": ", ".join(codec.conditions) or "nothing",
        "text": "not written again" if codec.numeric or not predictor.latent else again,
    }


def row(predictor: Autoencoding, measured: Measured) -> dict[str, Any]:
    """A row of a comparison."""
    record = summarise(predictor, measured)
    said = record["report"] or {"said": None, "active": None, "shuffled": None}
    kept = (
        "nats_per_symbol perplexity interval parameters symbols unknown symbols_per_second protocol"
    )
    return {key: record[key] for key in kept.split()} | {
        "said": said["said"],
        "active": said["active"],
        "shuffled": said["shuffled"],
        "exact": record["rewritten"] and record["rewritten"]["exact"],
    }


def p_of_difference(first: Measured, second: Measured) -> float:
    """How probable so large a difference of what two models pay for the same sequences is by chance:
    a paired bootstrap, two-sided."""
    check_paired(first, second)
    return two_sided(drawn_means(np.stack([first.loss - second.loss, first["symbols"]], 1)))


def drawn_nats(several: Sequence[Measured]) -> np.ndarray:
    """(M, R) nats per symbol of several models, if other sequences had been drawn."""
    pairs = (np.stack([each.loss, each["symbols"]], 1) for each in several)
    return np.stack([drawn_means(each) for each in pairs])
