"""What a model says about each set of a sequence, and whether two models differ.

    nats per step   -(1/N) sum_t log p(S_t | S_1 .. S_{t-1}),  the end of a sequence not included
    F1              of all elements taken for likelier than not, against those that are in the sets
    exact           share of steps at which these are all of the set and nothing else

Shapes: N sets, V elements, B rows, T' steps of a piece.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from seriatim.batches import buckets
from seriatim.data.sequences import NUMBERS, Field
from seriatim.distributions.symbols import Bernoulli
from seriatim.measuring.likelihood import PLACES, walking
from seriatim.measuring.measured import Measured, check_paired
from seriatim.measuring.ratios import quotients
from seriatim.measuring.resampling import (
    drawn_means,
    drawn_together,
    group_starts,
    grouped,
    interval,
    two_sided,
)
from seriatim.models.base import Model, evaluating
from seriatim.progress import passing
from seriatim.tasks.sets.codec import of_sets

BITS = 1 / math.log(2)


@dataclass(frozen=True)
class SetScores:
    """What a model says about each of N sets."""

    log_prob: Field  # (N,) natural-log probability, sequence by sequence
    found: np.ndarray  # (N,) how many elements it takes for likelier than not
    right: np.ndarray  # (N,) how many of these are in the set
    true: np.ndarray  # (N,) how many are in the set
    answers: np.ndarray  # (N, V) which elements it takes for likelier than not


def score_sets(model: Model, sets: Field) -> SetScores:
    """Every set of every sequence, each sequence from its beginning; the end is not scored."""
    offsets = sets.offsets - sets.offsets[0]
    log_prob, answers = np.zeros(offsets[-1]), np.zeros(sets.values.shape, bool)
    with evaluating(model):
        for rows in passing("scoring", buckets(sets.lengths, PLACES)):
            batch = of_sets(sets, rows)
            values, found = [], []
            for following, y in walking(model, batch, batch.y):
                assert isinstance(following, Bernoulli)
                values.append(following.log_prob(y))  # (B, T')
                found.append(following.mode() > 0)  # (B, T', V)
            places = np.concatenate([np.arange(offsets[s], offsets[s + 1]) for s in rows])
            log_prob[places] = torch.cat(values, 1)[batch.y_mask].numpy()
            answers[places] = torch.cat(found, 1)[batch.y_mask].numpy()
    true = sets.values > 0
    found, right = answers.sum(1), (answers & true).sum(1)
    return SetScores(Field(log_prob, offsets, NUMBERS), found, right, true.sum(1), answers)


def logits_of(model: Model, sets: Field) -> np.ndarray:
    """(N, V) what a model says of every element of every set, each sequence from its beginning."""
    offsets = sets.offsets - sets.offsets[0]
    found = np.zeros(sets.values.shape, np.float32)
    with evaluating(model):
        for rows in passing("scoring", buckets(sets.lengths, PLACES)):
            batch, said = of_sets(sets, rows), []
            for following, _ in walking(model, batch, batch.y):
                assert isinstance(following, Bernoulli)
                said.append(following.logits)  # (B, T', V)
            places = np.concatenate([np.arange(offsets[s], offsets[s + 1]) for s in rows])
            found[places] = torch.cat(said, 1)[batch.y_mask].numpy()
    return found


def figures(measured: Measured) -> dict[str, Any]:
    """Bits per step with their interval, F1 of the elements, and how many sets are met exactly."""
    layout = Field(measured.loss, measured["offsets"], NUMBERS)
    nats, bounds = float(measured.loss.mean()), interval(grouped(measured.loss, layout, "line"))
    right, found, true = (measured[name] for name in ("right", "found", "true"))
    return {
        "nats_per_step": nats,
        "bits_per_step": nats * BITS,
        "interval": {
            "confidence": 0.95,
            "nats_per_step": list(bounds),
            "bits_per_step": [end * BITS for end in bounds],
        },
        **quotients(*(int(each.sum()) for each in (right, found, true))),
        "exact": float(((right == found) & (right == true)).mean()),
        "steps": len(true),
        "elements": int(true.sum()),
    }


def p_of_difference(first: Measured, second: Measured) -> float:
    """How probable so large a difference of two models' losses on the same sets is by chance: a
    paired bootstrap over sequences, two-sided."""
    check_paired(first, second)
    layout = Field(first.loss, first["offsets"], NUMBERS)
    return two_sided(drawn_means(grouped(second.loss - first.loss, layout, "line")))


def drawn_bits(several: Sequence[Measured]) -> np.ndarray:
    """(M, R) bits per step of several models, if other sequences had been drawn."""
    cuts = group_starts(several[0]["offsets"])
    return BITS * drawn_together([each.loss for each in several], cuts)
