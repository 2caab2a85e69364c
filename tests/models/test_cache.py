"""The cache: the equation with plain loops, and what it is for."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

import seriatim
from seriatim.batches import prompts
from seriatim.models.ngrams.cache import Cache
from seriatim.models.ngrams.options import CacheOptions

V = 4


def slow(seen: list[int], w: int, window: int, match: int, trust: float) -> float:
    seen, p = seen[-window:], 1 / V
    for length in range(min(match, len(seen)) + 1):
        places = [
            j
            for j in range(length, len(seen))
            if seen[j - length : j] == seen[len(seen) - length :]
        ]
        p = (sum(seen[j] == w for j in places) + trust * p) / (len(places) + trust)
    return p


@settings(max_examples=60, deadline=None)
@given(
    some.lists(some.integers(0, V - 1), max_size=25),
    some.integers(1, 12),
    some.integers(0, 4),
    some.sampled_from([0.5, 2.0]),
)
def test_it_counts_what_followed_the_same_symbols_in_the_window(seen, window, match, trust):
    model = Cache(V, CacheOptions(window=window, match=match, trust=trust))
    p = model.start(prompts([np.array(seen, int)]))[0].log_probs()[0].exp()
    assert torch.allclose(
        p,
        torch.tensor([slow(seen, w, window, match, trust) for w in range(V)], dtype=torch.float64),
    )


def test_names_that_come_up_are_expected_again():
    """A text that speaks of someone the training never heard of."""
    rng = np.random.default_rng(0)
    names = ["".join(rng.choice(list("abcdefghij"), 8)) for _ in range(60)]
    told = [
        f"{name} is here and {name} is there, and where {name} is, {name} stays. " for name in names
    ]
    train, test = (seriatim.Sequences.of(part, by="stream") for part in (told[:50], told[50:]))
    alone, mixed = (
        seriatim.fit("language", spec, train).evaluate(test)["nats_per_token"]
        for spec in ("kneser-ney", "kneser-ney+cache")
    )
    assert mixed < 0.8 * alone


def test_tiny_shakespeare_with_a_cache(public_data):
    train, test = seriatim.read(str(public_data / "text/tinyshakespeare.txt")).split(0.9, 0.1)
    assert (
        seriatim.fit("language", "kneser-ney+cache", train, order=7).evaluate(test)[
            "nats_per_token"
        ]
        <= 1.48
    )


def test_arrays_of_another_model_are_refused():
    with pytest.raises(ValueError):
        Cache(V, CacheOptions()).load_arrays({"keys": torch.zeros(1)})
