"""What a model says of each label of a sequence, and whether two models differ.

    bits per sequence   -(1/S) sum_s sum_m log2 p(y_sm),  a coin for each of K labels
    micro F1            of all labels found (p >= 1/2), against those that are true
    macro F1            the mean over labels that are true or found
    exact               share of sequences whose labels are all found, and no others

Shapes: S sequences, K labels, B rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch

from seriatim.batches import MOST_READ, buckets, refuse_long
from seriatim.distributions.symbols import Bernoulli
from seriatim.measuring.measured import Measured, check_paired, drawn_losses
from seriatim.measuring.ratios import quotients
from seriatim.measuring.resampling import interval, paired_bootstrap, sums_between
from seriatim.models.base import Model, asked, evaluating
from seriatim.progress import passing
from seriatim.records import Record
from seriatim.tasks.labels.answers import PLACES
from seriatim.tasks.labels.codec import Examples, of_examples

BITS = 1 / math.log(2)
HALF = 0.5  # the probability from which on a label is found


def logits_of(model: Model, examples: Examples) -> np.ndarray:
    """(S, K) what a model says of every label of every sequence."""
    if any(isinstance(part, torch.nn.Module) for part in model.parts):
        refuse_long(examples.x, MOST_READ)
    several: list[np.ndarray] = []
    order: list[np.ndarray] = []
    with evaluating(model):
        for rows in passing("asking", buckets(examples.x.lengths, PLACES)):
            found = asked(model).unroll(of_examples(examples, rows))[0]
            assert isinstance(found, Bernoulli)
            several.append(found.logits[:, 0].numpy())  # (B, K)
            order.append(rows)
    if not several:
        return np.zeros((0, 0), np.float32)
    together = np.concatenate(several)
    together[np.concatenate(order)] = together.copy()
    return together


def nats_of(logits: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """(S, K) logits and (S, K) marks -> (S,) nats of each sequence, summed over labels.

    >>> nats_of(np.array([[0.0, 0.0]]), np.array([[1, 0]])).round(4).tolist()
    [1.3863]
    """
    signed = np.where(truth > 0, -logits, logits).astype(np.float64)
    return np.logaddexp(0, signed).sum(-1)


def mark_report(truth: np.ndarray, found: np.ndarray, names: Sequence[str]) -> Record:
    """Figures of (S, K) labels found against (S, K) true ones.

    >>> truth, found = np.array([[1, 1], [0, 1], [0, 0]]) > 0, np.array([[1, 0], [1, 1], [0, 0]]) > 0
    >>> figures = mark_report(truth, found, ["a", "b"])
    >>> figures["micro_f1"], round(figures["macro_f1"], 4), figures["exact"]
    (0.6666666666666666, 0.6667, 0.3333333333333333)
    """
    right, called, true = (truth & found).sum(0), found.sum(0), truth.sum(0)  # (K,) each
    classes = [
        {"name": name, **quotients(*counts), "support": counts[2]}
        for name, *counts in zip(names, right.tolist(), called.tolist(), true.tolist(), strict=True)
    ]
    seen = [each["f1"] for each, some in zip(classes, (called + true) > 0, strict=True) if some]
    micro = quotients(int(right.sum()), int(called.sum()), int(true.sum()))
    return {
        "micro": micro,
        "micro_f1": micro["f1"],
        "macro_f1": sum(seen) / len(seen) if seen else 0.0,
        "exact": float((truth == found).all(1).mean()),
        "classes": classes,
    }


def bits_of(losses: np.ndarray) -> Record:
    """(S,) nats -> bits per sequence with their interval."""
    bounds = interval(sums_between(losses, np.arange(len(losses))))
    return {
        "bits_per_sequence": float(losses.mean()) * BITS,
        "interval": {"confidence": 0.95, "bits_per_sequence": [end * BITS for end in bounds]},
    }


def p_of_difference(first: Measured, second: Measured) -> float:
    """How probable so large a difference of losses is by chance: a bootstrap over sequences."""
    check_paired(first, second)
    return paired_bootstrap(first.loss, second.loss)["p"]


def drawn_bits(several: Sequence[Measured]) -> np.ndarray:
    """(M, R) bits per sequence of several models, if other sequences had been drawn."""
    return BITS * drawn_losses(several)
