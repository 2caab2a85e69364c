"""Smaller models: all still sums to one, what goes is what matters least, and 8 bits lose little."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

import seriatim
from seriatim.batches import prompts
from seriatim.models.ngrams.ngram import Ngram
from seriatim.models.ngrams.options import NgramOptions
from seriatim.models.ngrams.pruning import by_count, by_entropy, prune
from seriatim.models.ngrams.smoothing import SMOOTHING
from seriatim.models.ngrams.tables import Quantised, every
from tests.conftest import symbols

V = 9


def fitted(rows, **options) -> Ngram:
    model = Ngram(V, NgramOptions(**options))
    model.count(symbols(rows), stop=True)
    return model


def some_rows(seed: int = 0, many: int = 60) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.zipf(1.5, rng.integers(1, 15)).clip(2, V - 1) for _ in range(many)]


def sums(model: Ngram, contexts: list[list[int]]) -> np.ndarray:
    return (
        model.start(prompts([np.array(context, int) for context in contexts]))[0]
        .log_probs()
        .exp()
        .sum(-1)
        .numpy()
    )


@pytest.mark.parametrize("smoothing", SMOOTHING)
@settings(max_examples=25, deadline=None)
@given(seed=some.integers(0, 10**6), share=some.floats(0, 1))
def test_whatever_goes_the_rest_sums_to_one(smoothing, seed, share):
    model = fitted(some_rows(seed), order=4, smoothing=smoothing)
    rng = np.random.default_rng(seed)
    prune(
        model,
        [rng.random(len(keys)) >= (share if n else 0) for n, keys in enumerate(model.tables.keys)],
    )
    assert np.allclose(sums(model, [[], [2], [2, 3], [4, 2, 2], [2, 2, 2], [8, 7]]), 1, atol=1e-4)


def test_what_stays_keeps_its_probability_and_what_longer_ones_begin_with_stays():
    model, before = (fitted(some_rows(), order=3) for _ in range(2))
    prune(model, by_count(model.tables, [1, 2, 3]))
    for n in (2, 3):
        grams = model.tables.spelled(n, np.arange(len(model.tables.keys[n - 1])))
        place = before.tables.find(grams)
        assert np.all(place >= 0) and np.array_equal(
            model.tables.log_p[n - 1], before.tables.log_p[n - 1][place]
        )
        assert np.array_equal(model.tables.counts[n - 1], before.tables.counts[n - 1][place])
    kept = {tuple(gram) for gram in model.tables.spelled(3, np.arange(len(model.tables.keys[2])))}
    everything = before.tables.spelled(3, np.arange(len(before.tables.keys[2])))
    assert kept == {
        tuple(gram)
        for gram, count in zip(everything, before.tables.counts[2], strict=True)
        if count >= 3
    }


def test_relative_entropy_is_that_of_leaving_one_out():
    """Stolcke's formula against the Kullback-Leibler divergence of really taking the n-gram out."""
    model = fitted(some_rows(), order=2)
    places, n = model.tables.counts[0].sum(), len(model.tables.keys[1])
    for gram in range(0, n, 7):
        smaller = fitted(some_rows(), order=2)
        kept = [np.ones(len(keys), bool) for keys in smaller.tables.keys]
        kept[1][gram] = False
        prune(smaller, kept)
        context = int(model.tables.keys[1][gram] // model.tables.base)
        p, q = (each.log_probs(np.array([[context]]))[0].astype(float) for each in (model, smaller))
        with np.errstate(invalid="ignore"):
            divergence = np.nansum(np.exp(p) * (p - q)) * model.tables.counts[0][context] / places
        threshold = np.expm1(divergence)
        assert (
            by_entropy(model, threshold * 0.98)[1][gram]
            and not by_entropy(model, threshold * 1.02 + 1e-9)[1][gram]
        )


def test_a_higher_threshold_keeps_less_and_predicts_worse():
    train, test = seriatim.read("python-docs").part(0, 200_000).split(0.9, 0.1)
    found = [
        seriatim.fit("language", "kneser-ney", train, order=5, threshold=threshold)
        for threshold in (0, 1e-6, 1e-5, 1e-4)
    ]
    sizes, losses = (
        [each.model.size() for each in found],
        [each.evaluate(test)["nats_per_token"] for each in found],
    )
    assert sizes == sorted(sizes, reverse=True) and sizes[-1] < sizes[0] / 8
    assert losses[1:] == sorted(losses[1:])


def test_eight_bits_change_little_and_take_a_quarter(tmp_path):
    train, test = seriatim.read("python-docs").part(0, 200_000).split(0.9, 0.1)
    plain, small = (
        seriatim.fit("language", "kneser-ney", train, order=5, bits=bits) for bits in (32, 8)
    )
    assert small.evaluate(test)["nats_per_token"] == pytest.approx(
        plain.evaluate(test)["nats_per_token"], abs=0.005
    )
    sizes = [
        (each.save(tmp_path / name) / "weights.safetensors").stat().st_size
        for name, each in (("plain", plain), ("small", small))
    ]
    assert sizes[1] < 0.6 * sizes[0]
    again = seriatim.load(tmp_path / "small")
    assert again.score(test) == small.score(test) and again.generate(
        "def ", length=20
    ) == small.generate("def ", length=20)


@settings(max_examples=60, deadline=None)
@given(
    some.lists(
        some.one_of(some.floats(-30, -0.125, width=32), some.just(0.0), some.just(-np.inf)),
        max_size=600,
    )
)
def test_a_value_in_eight_bits_is_near_itself_and_zero_and_nothing_are_exact(values):
    values = np.array(values, np.float32)
    found = Quantised.of(values)[np.arange(len(values))]
    special = ~np.isfinite(values) | (values == 0)
    assert np.array_equal(found[special], values[special])
    if len(set(values[~special])) <= 200:
        assert np.allclose(found[~special], values[~special], atol=0.6)
    assert every(Quantised.of(values)).tolist() == found.tolist()
