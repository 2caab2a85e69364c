"""What is the vector of a sequence, what does it say, and is it heard at all?

    bound        E_q log p(x | z) - KL(q(z | x) || p(z))             never above log p(x)
    likelihood   log (1/K) sum_k p(x | z_k) p(z_k) / q(z_k | x)      Burda et al. 2016
                 z_k drawn from q: the bound with K = 1, exact as K grows
    information  E log q(z | x) / q(z)                               Hoffman and Johnson 2016
                 q(z) the mean over all sequences: how many nats the vectors tell apart
    active       numbers of the vector whose mean varies over the data by more than 0.01
                                                                     Burda et al. 2016

Every figure of a sequence is its own: neither its neighbours nor the size of a batch change it.
Shapes: S sequences, B rows, L latent, K draws, T time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch, buckets, evenly
from seriatim.distributions.numbers import Density
from seriatim.layers.devices import home, to
from seriatim.models.base import asked, evaluating, select
from seriatim.progress import passing
from seriatim.tasks.autoencode.codec import Samples, of_samples
from seriatim.tasks.autoencode.models import Autoencoder, divergence

Vectors = tuple[np.ndarray, np.ndarray]  # (S, L) means, and logarithms of variances


PLACES = 8192  # padded places in a batch


ACTIVE = 0.01  # variance from which on a number of the vector says something


# sequences, and symbols of them, that a report looks at: information is told up to the log of the
# first
MOST_REPORTED, MOST_READ_AGAIN = 500, 50_000


MOST_POINTS = 1000  # that a sequence of numbers may have


@dataclass(frozen=True)
class Bound:
    """What it takes to write each sequence, and what its vector costs, in nats."""

    written: np.ndarray  # (S,)
    said: np.ndarray  # (S, L) KL of each number
    symbols: np.ndarray  # (S,) how many were written, the end included


def groups(model: Autoencoder, samples: Samples) -> Iterator[tuple[np.ndarray, Batch]]:
    """All sequences in batches of similar length."""
    with evaluating(model):
        for rows in passing("scoring", buckets(samples.x.lengths, PLACES)):
            yield rows, of_samples(samples, rows)


def noise(samples: Samples, latent: int, seed: int, draw: int = 0) -> Tensor:
    """(S, L) the same for the same seed, whatever the batches are."""
    return torch.from_numpy(
        np.random.default_rng([seed, draw]).standard_normal((len(samples), latent), np.float32)
    )


def nats(model: Autoencoder, batch: Batch, vectors: Tensor) -> Tensor:
    """(B,) to write each sequence given its vector (B, L)."""
    batch, vectors = to((batch, vectors), model.device)
    return -home((model.rewrite(batch, vectors).log_prob(batch.y) * batch.y_mask).sum(1))


def read(model: Autoencoder, batch: Batch) -> tuple[Tensor, Tensor]:
    """(B, L) the vector of each sequence, and the logarithm of its variance, on the CPU."""
    return home(model.encode(to(batch, model.device)))


def vectors(model: Autoencoder, samples: Samples) -> Vectors:
    """(S, L) the vector of each sequence, and the logarithm of its variance."""
    mean, spread = (np.zeros((len(samples), model.options.latent), np.float32) for _ in range(2))
    for rows, batch in groups(model, samples):
        mean[rows], spread[rows] = (each.numpy() for each in read(model, batch))
    return mean, spread


def bound(
    model: Autoencoder,
    samples: Samples,
    seed: int = 0,
    shuffled: bool = False,
    known: Vectors | None = None,
) -> Bound:
    """One draw for each sequence; shuffled, each is written with the vector of another. Vectors
    that are known need not be found again."""
    latent, variational = model.options.latent, model.options.variational
    written, said, symbols = (
        np.zeros(len(samples)),
        np.zeros((len(samples), latent)),
        np.zeros(len(samples), np.int64),
    )
    mean, spread = map(torch.from_numpy, known or vectors(model, samples))
    drawn = mean + torch.exp(spread / 2) * noise(samples, latent, seed) if variational else mean
    drawn = drawn.roll(1, 0) if shuffled else drawn
    for rows, batch in groups(model, samples):
        written[rows] = nats(model, batch, drawn[rows])
        said[rows] = divergence(mean[rows], spread[rows]) if variational else 0.0
        symbols[rows] = batch.y_mask.sum(1)
    return Bound(written, said, symbols)


def likelihood(model: Autoencoder, samples: Samples, draws: int, seed: int = 0) -> np.ndarray:
    """(S,) log p(x), from below; without a vector it is exact, and one draw is enough."""
    found = np.full(len(samples), -np.inf)
    if not model.options.latent:
        return -bound(model, samples).written
    several = [noise(samples, model.options.latent, seed, draw) for draw in range(draws)]
    for rows, batch in groups(model, samples):
        mean, spread = read(model, batch)
        total = torch.full((len(rows),), -torch.inf, dtype=torch.float64)
        for each in several:
            z = mean + torch.exp(spread / 2) * each[rows]
            ratio = (each[rows].square() + spread - z.square()).sum(
                1
            ) / 2  # log p(z) - log q(z | x)
            total = torch.logaddexp(total, ratio.double() - nats(model, batch, z).double())
        found[rows] = total.numpy() - math.log(draws)
    return found


def judged(model: Autoencoder, samples: Samples) -> float:
    """What training looks at: nats per symbol, of what is written and of what is said beyond what
    is free."""
    known = vectors(model, samples)
    found = bound(model, samples, known=known)
    said = (
        float(model.charged(*map(torch.from_numpy, known)))
        if model.options.variational and model.options.latent
        else 0.0
    )
    return float((found.written.sum() + said * len(samples)) / found.symbols.sum())


# Is the vector used?


def report(model: Autoencoder, samples: Samples, seed: int = 0) -> dict[str, Any]:
    """What the vectors of some sequences say, and a plain sentence about it."""
    samples = samples.take(evenly(samples.x.lengths, MOST_REPORTED, MOST_READ_AGAIN))
    mean, spread = known = vectors(model, samples)
    found, other = (bound(model, samples, seed, shuffled, known) for shuffled in (False, True))
    variation = mean.var(0)
    record = {
        "sequences": len(samples),
        "written": float(found.written.mean()),
        "said": float(found.said.sum(1).mean()),
        "symbols": float(found.symbols.mean()),
        "active": int((variation > ACTIVE).sum()),
        "latent": model.options.latent,
        "shuffled": float((other.written - found.written).mean()),
        "information": information(mean, spread, noise(samples, model.options.latent, seed).numpy())
        if model.options.variational
        else None,
    }
    return record | {"words": verdict(record, model.options.variational)}


def information(mean: np.ndarray, spread: np.ndarray, drawn: np.ndarray) -> float:
    """Nats: how much more likely a vector is under its own sequence than under a sequence drawn at
    random. At most log S."""
    z = mean + np.exp(spread / 2) * drawn  # (S, L)
    each = np.stack(
        [
            (-((row - mean) ** 2) / np.exp(spread) - spread).sum(1) / 2
            for row in z.astype(np.float64)
        ]
    )  # (S, S)
    own, most = np.diag(each), each.max(1)
    return float((own - most - np.log(np.exp(each - most[:, None]).mean(1))).mean())


def verdict(record: dict[str, Any], variational: bool) -> str:
    """Whether the vector is used, in a sentence, and what to change if not."""
    if record["sequences"] < 2:
        return "one sequence alone does not tell whether its vector is used"
    worth, share = max(0.0, record["shuffled"]), record["shuffled"] / max(1e-9, record["written"])
    if worth < max(0.1, 0.01 * record["written"]) or not record["active"]:
        unused = (
            "the vector is not used: with that of another sequence, writing costs only "
            f"{worth:.2f} nats more"
        )
        if not variational:
            return unused + ". Train longer, or leave out inputs: --word-dropout 0.5"
        return (
            f"{unused}, and the KL is {record['said']:.2f} nats. "
            "Try --free-bits 0.5, --annealing cyclic or --word-dropout 0.5"
        )
    used = (
        f"{record['active']} of its {record['latent']} numbers are active, "
        f"and with the vector of another sequence writing costs {worth:.1f} nats more"
    )
    told = (
        f"; it says {record['said']:.1f} nats, "
        f"of which about {record['information']:.1f} tell sequences apart"
        if variational
        else ""
    )
    if record["active"] < record["latent"] / 4 or share < 0.05:
        return f"the vector is used a little: {used}{told}" + (
            ". For more, raise --free-bits or --word-dropout" if variational else ""
        )
    return f"the vector is used: {used}{told}"


# Numbers are drawn


def drawn(
    model: Autoencoder,
    condition: Tensor,
    seeds: Sequence[int],
    temperature: float = 1.0,
    begun: Batch | None = None,
    most: int = MOST_POINTS,
) -> list[np.ndarray]:
    """For each row (B, K) of what is told, a sequence (T, C + 1) with its end, after how it was
    begun; each row has its own dice."""
    rows: list[list[np.ndarray]] = [[] for _ in seeds]
    dice, alive = [torch.Generator().manual_seed(seed) for seed in seeds], list(range(len(seeds)))
    with torch.inference_mode():
        following, state = model.begin_writing(*to((condition, begun), model.device))
        following = following.home()
        for _ in range(most):
            assert isinstance(following, Density)
            cool = following.cooled(max(temperature, 1e-3))
            y = torch.cat(
                [cool[i : i + 1].sample(dice[row]) for i, row in enumerate(alive)]
            )  # (B, C + 1)
            for i, row in enumerate(alive):
                rows[row].append(y[i].numpy())
            kept = torch.nonzero(y[:, -1] != model.vocabulary - 1)[:, 0]
            if not len(kept):
                break
            alive, y, state = [alive[i] for i in kept.tolist()], y[kept], select(state, kept)
            following, state = asked(model).step(y, state)
    return [np.array(each, np.float32).reshape(len(each), -1) for each in rows]
