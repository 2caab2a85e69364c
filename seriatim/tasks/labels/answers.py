"""What does a model say about these sequences? The labels it finds and the probability of every
label, or the values and how sure they are.

Sequences are read in batches of similar length; the answer for one never depends on its neighbours.
Shapes: S sequences, N labels or tags, K different ones, B rows, P time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import MOST_READ, Batch, buckets, refuse_long
from seriatim.data.sequences import Field, offsets_of
from seriatim.distributions.chains import Chain
from seriatim.distributions.numbers import Normal
from seriatim.distributions.symbols import Distribution
from seriatim.models.base import Model, asked, evaluating
from seriatim.progress import passing
from seriatim.tasks.labels.codec import Examples, of_examples

PLACES = 8192  # padded places in a batch


@dataclass(frozen=True)
class Answers:
    """What was found, label by label or tag by tag."""

    found: np.ndarray  # (N,)
    log_probs: (
        np.ndarray
    )  # (N, K) of every label; where tags are judged together, of each tag whatever the others are
    offsets: np.ndarray  # (S + 1,) where the answers for each sequence begin
    loss: float  # nats per label of the truth, if it was given


def offsets_between(examples: Examples, tags: bool) -> np.ndarray:
    """(S + 1,) where the answers for each sequence begin."""
    return offsets_of(examples.x.lengths) if tags else np.arange(len(examples) + 1)


def questions(examples: Examples, tags: bool) -> Iterator[tuple[Batch, Tensor, np.ndarray]]:
    """Batches of sequences of similar length, with the (B, P) places in each that have an answer,
    and where the answers belong."""
    offsets = offsets_between(examples, tags)
    for rows in passing("asking", buckets(examples.x.lengths, PLACES)):
        batch = of_examples(examples, rows)
        real = torch.ones(len(rows), 1, dtype=torch.bool)
        if tags:
            real = torch.arange(batch.x.shape[1]) < batch.x_lengths[:, None]
        yield batch, real, np.concatenate([np.arange(offsets[s], offsets[s + 1]) for s in rows])


def of_each(found: Distribution) -> Tensor:
    """(..., K) log-probabilities of every label or tag, each whatever the others are."""
    return found.log_marginals() if isinstance(found, Chain) else found.log_probs()


def answers(model: Model, examples: Examples, tags: bool) -> Answers:
    """Ask about every sequence; with `tags` there is an answer for each symbol, otherwise one for
    the whole."""
    if tags or any(isinstance(part, torch.nn.Module) for part in model.parts):
        refuse_long(examples.x, MOST_READ)
    offsets = offsets_between(examples, tags)
    found, log_probs, total = np.zeros(offsets[-1], np.int32), None, 0.0
    with evaluating(model):
        for batch, real, places in questions(examples, tags):
            distribution = asked(model).unroll(batch)[0]
            together = isinstance(distribution, Chain)
            scores = of_each(distribution)  # (B, P, K)
            best = distribution.mode()  # (B, P)
            log_probs = (
                np.zeros((offsets[-1], scores.shape[-1])) if log_probs is None else log_probs
            )
            log_probs[places], found[places] = scores[real].numpy(), best[real].numpy()
            if len(examples.y):
                total += float(
                    distribution.log_prob(batch.y).sum()
                    if together
                    else scores[batch.y_mask].gather(1, batch.y[batch.y_mask][:, None]).sum()
                )
    return Answers(
        found,
        np.zeros((0, 0)) if log_probs is None else log_probs,
        offsets,
        -total / max(1, len(found)),
    )


def estimates(model: Model, examples: Examples) -> tuple[np.ndarray, np.ndarray]:
    """(S, K) means and (S, K) deviations of the values of every sequence, on the scale of the
    codec."""
    if any(isinstance(part, torch.nn.Module) for part in model.parts):
        refuse_long(examples.x, MOST_READ)
    several: list[np.ndarray] = []
    order: list[np.ndarray] = []
    with evaluating(model):
        for rows in passing("asking", buckets(examples.x.lengths, PLACES)):
            normal = asked(model).unroll(of_examples(examples, rows))[0]
            assert isinstance(normal, Normal)
            both = torch.stack([normal.location, normal.deviation])[:, :, 0]  # (2, B, K)
            several.append(both.numpy())
            order.append(rows)
    if not several:
        return np.zeros((0, 1)), np.zeros((0, 1))
    found = np.zeros((2, len(examples), several[0].shape[-1]))
    found[:, np.concatenate(order)] = np.concatenate(several, 1)
    return found[0], found[1]


def as_field(answered: Answers, found: np.ndarray | None = None) -> Field:
    """The answers, sequence by sequence."""
    return Field(answered.found if found is None else found, answered.offsets, "symbols")
