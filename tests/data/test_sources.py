"""The entropies are true: by the law of large numbers, by sums to one, and by slower computations."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim.data.corpora.sources import (
    ALPHABET,
    BRACKETS,
    CHORDS,
    SOURCES,
    Brackets,
    HiddenMarkov,
    Independent,
    MarkovSource,
    Piano,
    Remember,
    Source,
    generate,
    parse_source,
)
from seriatim.data.sequences import TEXT
from seriatim.errors import ConfigError, DataError

SMALL = [
    Independent(symbols=2, length=20_000),
    Independent(length=20_000, seed=1),
    Independent(symbols=95, length=20_000, seed=2),
    MarkovSource(length=20_000),
    MarkovSource(order=1, symbols=2, successors=2, length=20_000, seed=1),
    MarkovSource(order=3, symbols=5, successors=2, length=20_000, seed=2),
    MarkovSource(order=5, symbols=2, successors=2, length=20_000),
    HiddenMarkov(length=20_000),
    HiddenMarkov(states=1, length=20_000),
    HiddenMarkov(states=2, symbols=2, length=20_000, seed=1),
    HiddenMarkov(states=5, symbols=3, length=20_000, seed=2),
    HiddenMarkov(states=8, symbols=8, length=20_000, seed=3),
    Brackets(length=20_000),
    Brackets(kinds=1, depth=2, length=20_000),
    Brackets(kinds=4, depth=1, length=20_000),
    Brackets(kinds=2, depth=20, length=20_000),
    Remember(sequences=1000),
    Remember(distance=1, symbols=26, sequences=1000),
    Remember(distance=50, symbols=2, sequences=500),
]
sources = pytest.mark.parametrize("source", SMALL, ids=repr)


@cache
def texts(source: Source, seed: int = 0) -> list[str]:
    data = source.sample(np.random.default_rng(seed))
    return [data[s]["text"] for s in range(len(data))]


@sources
def test_mean_surprise_is_the_entropy(source):
    """Within four standard errors; neighbours depend on each other, so errors come from the means of 100 blocks."""
    surprise = -np.concatenate([source.log_prob(text) for text in texts(source)])
    blocks = np.array([block.mean() for block in np.array_split(surprise, 100)])
    assert (
        abs(surprise.mean() - source.entropy) < 4 * blocks.std(ddof=1) / np.sqrt(len(blocks)) + 1e-9
    )


@sources
@settings(max_examples=10, deadline=None)
@given(length=st.integers(0, 60), seed=st.integers(0, 2))
def test_probabilities_sum_to_one(source, length, seed):
    prefix = texts(source, seed)[0][:length]
    chance = sum(
        np.exp(source.log_prob(prefix + symbol)[len(prefix)]) for symbol in source.alphabet
    )
    if isinstance(source, Remember):
        chance += np.exp(source.log_prob(prefix)[-1])
    assert chance == pytest.approx(1, abs=1e-9)


@sources
def test_sample_is_text_of_the_alphabet(source):
    data = source.sample(np.random.default_rng(0))
    assert data.main.kind == TEXT and data.unit == "character" and data.entropy == source.entropy
    assert data.by == ("line" if isinstance(source, Remember) else "stream")
    assert len(data) == getattr(source, "sequences", 1)
    assert len(data.main.flat) == (
        source.length if data.by == "stream" else source.sequences * (source.distance + 1)
    )
    assert set(data.main.flat.tobytes().decode()) <= set(source.alphabet)
    assert all(np.isfinite(source.log_prob(text)).all() for text in texts(source)[:100])


@sources
def test_one_seed_one_text(source):
    twin = replace(source).sample(np.random.default_rng(1)).main.flat.tobytes().decode()
    assert "".join(texts(source, 1)) == twin != "".join(texts(source, 2))


@sources
def test_log_prob_of_nothing_and_of_strangers(source):
    assert len(source.log_prob("")) == isinstance(source, Remember)
    with pytest.raises(DataError, match="alphabet"):
        source.log_prob("é")


@settings(max_examples=40, deadline=None)
@given(
    order=st.integers(1, 4),
    symbols=st.integers(2, 6),
    successors=st.integers(2, 6),
    seed=st.integers(0, 99),
)
def test_markov_visits_every_context(order, symbols, successors, seed):
    """One closed class, no transient context; the stationary distribution solves the linear system."""
    source = MarkovSource(
        order=order, symbols=symbols, successors=min(successors, symbols), seed=seed
    )
    contexts = symbols**order
    transition = np.zeros((contexts, contexts))
    np.add.at(
        transition,
        (np.arange(contexts)[:, None], source.chain.destinations),
        source.chain.probability,
    )
    assert ((transition > 0).sum(0) == source.successors).all() and (
        (transition > 0).sum(1) == source.successors
    ).all()
    reached = frontier = np.arange(contexts) == 0
    while frontier.any():
        frontier = (frontier @ transition > 0) & ~reached
        reached = reached | frontier
    assert reached.all()
    exact = np.linalg.solve(transition.T - np.eye(contexts) + 1, np.ones(contexts))
    assert np.allclose(source.chain.stationary, exact, atol=1e-7)


def test_markov_context_is_the_last_symbols():
    """Counts of a long sample agree with log_prob, and every context is followed by `successors` symbols."""
    source = MarkovSource(order=2, symbols=4, successors=2, length=50_000)
    [text] = texts(source)
    chance = np.exp(source.log_prob(text))
    following: dict[str, list[int]] = {}
    for t in range(2, len(text)):
        following.setdefault(text[t - 2 : t], []).append(t)
    for places in following.values():
        nexts = [text[t] for t in places]
        assert len(set(nexts)) == 2
        for t in places[:20]:
            share, error = (
                nexts.count(text[t]) / len(nexts),
                np.sqrt(chance[t] * (1 - chance[t]) / len(nexts)),
            )
            assert abs(share - chance[t]) < 5 * error


def test_counting_comes_close_to_the_default_markov_entropy():
    """A trigram with relative frequencies, counted on 85 % and tested on the last 10 %, is within 0.01 bits."""
    source, text = MarkovSource(), generate("markov")[0]["text"]
    symbols = source.as_symbols(text)
    triples = symbols[:-2], symbols[1:-1], symbols[2:]
    train, test = slice(0, 170_000), slice(180_000, None)
    counts = np.full((27, 27, 27), 0.01)
    np.add.at(counts, tuple(part[train] for part in triples), 1)
    model = np.log(counts / counts.sum(2, keepdims=True))[tuple(part[test] for part in triples)]
    excess = (source.log_prob(text)[2:][test] - model).mean() / np.log(2)
    assert 0 < excess < 0.01
    assert 1 < source.entropy / np.log(2) < 1.4


def test_hidden_markov_bounds_meet():
    for seed in range(5):
        low, high = HiddenMarkov(seed=seed).entropy_bounds
        assert 0 <= high - low < 1e-4
    low, high = HiddenMarkov(states=8, symbols=8).entropy_bounds
    assert 0 <= high - low < 0.01


def test_hidden_markov_filter_equals_the_sum_over_paths():
    source, text = HiddenMarkov(states=2, symbols=3), "abca"
    paths = np.stack(np.meshgrid(*[[0, 1]] * 4)).reshape(4, -1)
    chance = source.chain.stationary[paths[0]]
    for t, symbol in enumerate(source.as_symbols(text)):
        chance = chance * source.emission[paths[t], symbol]
        chance = chance * (source.chain.probability[paths[t], paths[t + 1]] if t < 3 else 1)
    assert source.log_prob(text).sum() == pytest.approx(np.log(chance.sum()))


@pytest.mark.parametrize("kinds, depth", [(1, 1), (2, 1), (3, 2), (3, 6), (4, 9)])
def test_brackets_entropy_from_the_depth_chain(kinds, depth):
    """The closed form equals the linear system for the stationary distribution of the depth."""
    up = np.array([1.0] + [0.5] * (depth - 1) + [0.0])
    transition = np.diag(up[:-1], 1) + np.diag(1 - up[1:], -1)
    share = np.linalg.solve(transition.T - np.eye(depth + 1) + 1, np.ones(depth + 1))
    coin = np.where((up > 0) & (up < 1), np.log(2), 0)
    assert Brackets(kinds, depth).entropy == pytest.approx(share @ (coin + up * np.log(kinds)))


@settings(max_examples=20, deadline=None)
@given(kinds=st.integers(1, 4), depth=st.integers(1, 8), seed=st.integers(0, 99))
def test_brackets_are_balanced_and_bounded(kinds, depth, seed):
    [text] = texts(Brackets(kinds, depth, length=500), seed)
    stack = []
    for symbol in text:
        if symbol in BRACKETS[::2]:
            stack.append(symbol)
        else:
            assert stack.pop() + symbol in BRACKETS
        assert len(stack) <= depth


def test_brackets_impossible():
    source = Brackets(kinds=2, depth=2)
    for wrong in (")", "(]", "((("):
        assert source.log_prob(wrong)[-1] == -np.inf


@settings(max_examples=20, deadline=None)
@given(distance=st.integers(1, 30), symbols=st.integers(2, 26), seed=st.integers(0, 99))
def test_remember_repeats(distance, symbols, seed):
    source = Remember(distance, symbols, sequences=20)
    for text in texts(source, seed):
        assert len(text) == distance + 1 and text[0] == text[-1] and text[0] in ALPHABET[:symbols]
        assert set(text[1:-1]) <= set("0123")
        score = source.log_prob(text)
        assert len(score) == distance + 2 and score[-1] == score[-2] == 0
        assert -score.mean() == pytest.approx(
            source.entropy
        )  # every line is as surprising as any other


def test_remember_impossible():
    source = Remember(distance=2, symbols=3)
    for wrong, place in (("0", 0), ("ab", 1), ("a0b", 2), ("a0", 2), ("a0aa", 3), ("a0aa", 4)):
        assert source.log_prob(wrong)[place] == -np.inf


def steps(source: Piano, seed: int = 0) -> list[str]:
    return source.sample(np.random.default_rng(seed))[0]["tokens"]


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 99), sounding=st.floats(0.01, 0.99))
def test_the_entropy_of_a_piano_equals_that_of_the_chain_of_its_tokens(seed, sounding):
    """The slow way: all pairs of the 49 tokens, their probabilities from log_prob, the stationary share from a linear system."""
    source = Piano(seed=seed, sounding=sounding)
    text = [token for one in source.alphabet for other in source.alphabet for token in (one, other)]
    pairs = source.log_prob(text)[1::2].reshape(49, 49)
    transition = np.exp(pairs)
    assert np.allclose(transition.sum(1), 1) and np.isclose(
        sum(np.exp(source.log_prob([token])[0]) for token in source.alphabet), 1
    )
    share = np.linalg.solve(transition.T - np.eye(49) + 1, np.ones(49))
    assert source.entropy == pytest.approx(-(share[:, None] * transition * pairs).sum(), abs=1e-7)


@pytest.mark.parametrize(
    "source", [Piano(length=20_000), Piano(length=20_000, seed=2, sounding=0.1)], ids=repr
)
def test_the_mean_surprise_of_a_piano_is_its_entropy(source):
    surprise = -source.log_prob(steps(source))
    blocks = np.array([block.mean() for block in np.array_split(surprise, 100)])
    assert abs(surprise.mean() - source.entropy) < 4 * blocks.std(ddof=1) / 10


def test_the_bass_of_a_piano_sounds_whenever_its_chord_does():
    source, chords = Piano(length=2000, sounding=0.5), {notes[0]: set(notes) for notes in CHORDS}
    for token in set(steps(source)) - {"."}:
        notes = [int(note) for note in token.split("+")]
        assert notes == sorted(notes) and set(notes) <= chords[notes[0]]
    assert len(set(steps(source))) == len(source.alphabet) == 49 and steps(source) == steps(
        source
    ) != steps(source, 1)
    with pytest.raises(DataError, match="alphabet"):
        source.log_prob(["60+64+67"])


@pytest.mark.parametrize("name", SOURCES)
def test_generate(name):
    description = name + ":seed=3"
    data, source = generate(description), parse_source(description)
    assert type(source) is SOURCES[name] and source.seed == 3
    assert (
        data.origin == description
        and data.unit == ("token" if name == "piano" else "character")
        and data.entropy == source.entropy
    )
    assert (
        data.main.flat.tobytes()
        == generate(description).main.flat.tobytes()
        != generate(name).main.flat.tobytes()
    )


def test_parse_source():
    assert parse_source("markov") == MarkovSource()
    assert parse_source("markov:order=3, symbols=5,seed=2") == MarkovSource(
        order=3, symbols=5, seed=2
    )


@pytest.mark.parametrize(
    "description, words",
    [
        ("markoff", "Did you mean 'markov'"),
        ("", "Choose from"),
        ("markov:ordr=2", "Did you mean 'order'"),
        ("markov:", "unknown"),
        ("markov:order", "whole number"),
        ("markov:order=", "whole number"),
        ("markov:order=two", "whole number"),
        ("markov:order=1.5", "whole number"),
        ("markov:seed=1,seed=2", "twice"),
        ("markov:order=0", "at least 1"),
        ("markov:symbols=96", "at most 95"),
        ("markov:seed=-1", "at least 0"),
        ("markov:symbols=2,successors=3", "at most symbols"),
        ("markov:order=9", "Lower the order"),
        ("independent:symbols=1", "at least 2"),
        ("independent:length=0", "at least 1"),
        ("hidden-markov:states=9", "at most 8"),
        ("brackets:kinds=5", "at most 4"),
        ("brackets:depth=0", "at least 1"),
        ("remember:symbols=27", "at most 26"),
        ("piano:sounding=1", "at most 0.99"),
        ("piano:length=x", "whole number"),
        ("remember:distance=10000,sequences=1000000", "must be at most"),
    ],
)
def test_bad_descriptions(description, words):
    with pytest.raises(ConfigError) as caught:
        generate(description)
    assert words in str(caught.value)
