"""Joint n-grams: cuts of a target against all cuts written out, the search against all targets
written out, and what is learned and kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

import seriatim as st
from seriatim.codecs.symbols import STOP, UNKNOWN
from seriatim.errors import ConfigError, DataError
from seriatim.models.ladder import create
from seriatim.tasks.translate.codec import EncodedPairs, of_pairs
from seriatim.tasks.translate.models.alignment import align, cells_a_row, expect, lay_out, likeliest
from seriatim.tasks.translate.models.cuts import chunks
from seriatim.tasks.translate.models.joint import FLOOR, SPECIAL, Joint
from tests.conftest import symbols
from tests.ladder import parts_of

SOURCES, VOCABULARY, BASE = 5, 6, 7
pair = some.tuples(
    some.lists(some.integers(0, SOURCES - 1), max_size=4),
    some.lists(some.integers(2, VOCABULARY - 1), max_size=5),
)
rows = some.lists(pair, min_size=1, max_size=5)


def unit_key(source: int, written: tuple[int, ...], base: int, longest: int) -> int:
    """The number of a unit: the source, then what it writes."""
    key = source
    for digit in [symbol + 1 for symbol in written] + [0] * (longest - len(written)):
        key = key * base + digit
    return key


def written_of(key: int, base: int, longest: int) -> tuple[int, ...]:
    digits = [key // base ** (longest - 1 - place) % base for place in range(longest)]
    return tuple(digit - 1 for digit in digits if digit)


def cuts(length: int, written: tuple[int, ...], longest: int) -> Iterator[list[tuple[int, ...]]]:
    """All ways to give the symbols of a target to so many symbols of a source, in order."""
    if not length:
        yield from [[]] if not written else []
        return
    for k in range(min(longest, len(written)) + 1):
        for rest in cuts(length - 1, written[k:], longest):
            yield [written[:k], *rest]


def laid(pairs: list, longest: int) -> tuple:
    x, y = (symbols(np.array(each, np.int64) for each in side) for side in zip(*pairs, strict=True))
    begins = [column.offsets.astype(np.int64) for column in (x, y)]
    keys = np.empty(
        lay_out(x.flat, begins[0], y.flat, begins[1], BASE, longest, np.zeros(0, np.int64)),
        np.int64,
    )
    if len(keys):
        lay_out(x.flat, begins[0], y.flat, begins[1], BASE, longest, keys)
    return x, y, begins, *np.unique(keys, return_inverse=True)


@settings(deadline=None)  # the first case compiles
@given(rows, some.integers(1, 3))
def test_expected_counts_are_those_of_all_cuts_written_out(pairs, longest):
    _, _, begins, keys, where = laid(pairs, longest)
    values = np.random.default_rng(len(keys)).uniform(0.1, 1, len(keys))
    by_key, wanted, likelihood = (
        dict(zip(keys.tolist(), values, strict=True)),
        defaultdict(float),
        0.0,
    )
    for x, y in pairs:
        ways = [
            [unit_key(a, b, BASE, longest) for a, b in zip(x, cut, strict=True)]
            for cut in cuts(len(x), tuple(y), longest)
        ]
        weights = [np.prod([by_key[key] for key in way]) for way in ways]
        for way, weight in zip(ways, weights, strict=True):
            for key in way:
                wanted[key] += weight / sum(weights)
        likelihood += np.log(sum(weights)) if ways else 0.0
    counts = np.zeros(len(keys))
    assert np.isclose(expect(*begins, longest, where, values, counts), likelihood)
    assert np.allclose(counts, [wanted[key] for key in keys.tolist()])


@settings(deadline=None)  # the first case compiles
@given(rows, some.integers(1, 3))
def test_the_likeliest_cut_is_the_best_of_all(pairs, longest):
    x, _, begins, keys, where = laid(pairs, longest)
    values = np.random.default_rng(len(keys)).uniform(0.1, 1, len(keys))
    units, by_key = np.full(len(x.flat), -7), dict(zip(keys.tolist(), np.log(values), strict=True))
    likeliest(*begins, longest, where, np.log(values), units)
    for s, (source, target) in enumerate(pairs):
        ways = [
            [unit_key(a, b, BASE, longest) for a, b in zip(source, cut, strict=True)]
            for cut in cuts(len(source), tuple(target), longest)
        ]
        found = units[begins[0][s] : begins[0][s + 1]]
        if ways and source:
            assert tuple(
                sum((written_of(key, BASE, longest) for key in keys[found].tolist()), ())
            ) == tuple(target)
            assert np.isclose(
                sum(by_key[key] for key in keys[found].tolist()),
                max(sum(by_key[key] for key in way) for way in ways),
            )
        else:
            assert (found == -1).all()  # more than the source can write


def test_cells_of_a_row_are_counted():
    assert [cells_a_row(m, 2) for m in range(5)] == [
        sum(min(2, m - j) + 1 for j in range(m + 1)) for m in range(5)
    ]


@pytest.mark.slow
def test_long_sequences_are_aligned_without_running_out_of_numbers():
    x = symbols([np.arange(3000) % 5])
    y = symbols([2 + np.arange(3000) % 5])
    keys, units = finished(align(x, y, 8, 2, 3))
    assert [written_of(key, 8, 2) for key in keys[units].tolist()] == [
        (2 + i % 5,) for i in range(3000)
    ]


def finished(events):
    """What a generator returns in the end."""
    while True:
        try:
            next(events)
        except StopIteration as end:
            return end.value


def fitted(pairs: list, **own) -> Joint:
    model = create(
        parts_of("joint", {"rarest": 1} | own, "translate"), VOCABULARY, SOURCES, 0, False
    )
    for _ in model.counting_pairs(
        EncodedPairs(
            *(
                symbols(np.array(each, np.int64) for each in side)
                for side in zip(*pairs, strict=True)
            )
        )
    ):
        pass
    return model


def doubled(count: int, seed: int = 0) -> list:
    """A source symbol s is written s + 2; but 0 twice before a 1, and not at all at the end."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        x = rng.integers(0, 4, rng.integers(1, 5)).tolist()
        y = []
        for a, b in zip(x, [*x[1:], None], strict=True):
            y += [] if a == 0 and b is None else [2, 2] if a == 0 and b == 1 else [a + 2]
        found.append((x, y))
    return found


def test_the_search_finds_all_targets_with_their_probabilities():
    model = fitted(doubled(60), order=3, best=4000)
    x = [0, 1, 3, 0]
    units = [[u for u in range(len(model.source)) if model.source[u] == symbol] for symbol in x]
    wanted = defaultdict(float)
    for path in np.array(np.meshgrid(*units)).reshape(len(x), -1).T:
        sequence = symbols([path + SPECIAL])
        target = tuple(int(each) for u in path for each in model.written[u] if each >= 0)
        wanted[target] += np.exp(
            float(model.units.sweep(sequence, stop=True).astype(np.float64).sum())
        )
    targets, scores = (each[0] for each in model.candidates(np.array([x]), np.array([len(x)])))
    found = {
        tuple(row[: row.tolist().index(STOP)].tolist()): np.exp(score)
        for row, score in zip(targets, scores, strict=True)
        if np.isfinite(score)
    }
    assert found.keys() == wanted.keys() and all(
        np.isclose(found[key], wanted[key], rtol=1e-4) for key in wanted
    )
    assert (np.diff(scores[np.isfinite(scores)]) <= 1e-9).all()  # best first


def test_the_chunks_of_a_target_are_the_best_of_all_ways_to_cut_it():
    model, x = (
        create(parts_of("joint", {"order": 3}, "translate"), VOCABULARY, SOURCES),
        [0, 1, 3, 0],
    )
    writes = ((-1, -1), (3, -1), (3, 3), (3, 5))  # each of 0, 1 and 3 may write each of these
    model.lay([symbol for symbol in (0, 1, 3) for _ in writes], [*writes] * 3)
    dice = np.random.default_rng(0)
    for _ in model.units.counting(symbols(dice.integers(0, 12, (200, 4)) + SPECIAL), stop=True):
        pass
    units = [[u for u in range(len(model.source)) if model.source[u] == symbol] for symbol in x]
    best: dict = {}
    for path in np.array(np.meshgrid(*units)).reshape(len(x), -1).T:
        score = float(model.units.sweep(symbols([path + SPECIAL]), stop=True).sum())
        parts = [tuple(each for each in model.written[u].tolist() if each >= 0) for u in path]
        best.setdefault(sum(parts, ()), []).append((score, [len(part) for part in parts]))
    assert max(map(len, best.values())) > 1  # some can be cut in several ways
    for target, ways in best.items():
        found = chunks(model, np.array(x), np.array(target, np.int64))
        scores = {tuple(cut): score for score, cut in ways}
        assert np.isclose(scores[tuple(found.tolist())], max(scores.values()), rtol=1e-5)
    assert chunks(model, np.array(x), np.array([3] * 20)) is None
    assert chunks(model, np.array([1, 4]), np.array([3, 5])).tolist() == [2, 0]


def test_it_learns_what_depends_on_neighbours_and_writes_none_one_or_two():
    model = fitted(doubled(800))
    unseen = [pair for pair in doubled(300, seed=1) if len(pair[0]) > 2]
    for x, y in unseen:
        target = model.candidates(np.array([x]), np.array([len(x)]))[0][0, 0].tolist()
        assert target[: target.index(STOP)] == y


def test_what_no_candidate_begins_with_is_left_to_n_grams_of_the_target():
    model = fitted(doubled(200), best=2)
    batch = of_pairs(
        EncodedPairs(symbols([np.array([1, 2])]), symbols([np.array([5, 5, 5, 5])])), np.arange(1)
    )
    found, language = (
        each.log_probs() for each in (model.predict(batch), model.language.predict(replaced(batch)))
    )
    assert torch.allclose(found[0, 1:], language[0, 1:].float(), atol=1e-5)
    assert torch.isclose(found[0, 0, 5].exp(), FLOOR * language[0, 0, 5].exp().float(), rtol=1e-3)


def replaced(batch):
    """The same targets, of no source."""
    from dataclasses import replace

    return replace(batch, x=batch.x[:, :0], x_lengths=torch.zeros_like(batch.x_lengths))


def test_symbols_that_were_never_seen_are_passed_over():
    model = fitted(doubled(200))
    known, other = (
        model.candidates(np.array([x]), np.array([len(x)]))[0][0, 0].tolist()
        for x in ([1, 2], [1, 4, 2])
    )
    assert known[: known.index(STOP)] == other[: other.index(STOP)] == [3, 4]
    assert model.candidates(np.zeros((1, 0), np.int64), np.zeros(1, np.int64))[0][
        0, 0
    ].tolist() == [STOP]


def test_it_is_kept_whole_and_what_does_not_fit_is_refused():
    model, other = (
        fitted(doubled(200)),
        create(parts_of("joint", {}, "translate"), VOCABULARY, SOURCES, 0, False),
    )
    other.load_arrays(model.arrays())
    batch = of_pairs(
        EncodedPairs(symbols([np.array([0, 1])]), symbols([np.array([2, 2, 3])])), np.arange(1)
    )
    assert torch.equal(other.predict(batch).log_probs(), model.predict(batch).log_probs())
    source, written = (model.arrays()[name] for name in ("source", "written"))
    for wrong in (
        {"source": source + SOURCES},
        {"written": written[:-1]},
        {"source": source.flip(0)},
        {"written": written + VOCABULARY},
    ):
        with pytest.raises(ValueError, match="not a table"):
            other.load_arrays(model.arrays() | wrong)


def test_rare_units_and_what_cannot_be_cut_are_told():
    pairs = [*doubled(100), ([1], [3, 3, 3, 3]), ([2], [5])]
    model = create(parts_of("joint", {"rarest": 3}, "translate"), VOCABULARY, SOURCES, 0, False)
    notes = [
        each["note"]
        for each in model.counting_pairs(
            EncodedPairs(
                *(
                    symbols(np.array(each, np.int64) for each in side)
                    for side in zip(*pairs, strict=True)
                )
            )
        )
        if "note" in each
    ]
    assert any("101 of 102 pairs: others are too long" in words for words in notes) and any(
        "1 of 101 pairs" in words for words in notes
    )


def test_a_pair_far_longer_than_it_should_be_does_not_spoil_the_others():
    """A cut is there, but its probability at first is beyond the smallest number."""
    pairs = [*doubled(300), ([1] * 204, [3] * 408)]
    model = fitted(pairs)
    assert model.candidates(np.array([[1, 2, 3]]), np.array([3]))[0][0, 0].tolist()[:4] == [
        3,
        4,
        5,
        STOP,
    ]


def test_a_pair_too_large_to_be_aligned_does_not_take_the_others_with_it(monkeypatch):
    monkeypatch.setattr("seriatim.tasks.translate.models.joint.MOST_CELLS", 20_000)
    model = fitted([([1] * 200, [3] * 200), *doubled(300)])
    assert model.candidates(np.array([[1, 2, 3]]), np.array([3]))[0][0, 0].tolist()[:4] == [
        3,
        4,
        5,
        STOP,
    ]


def test_units_that_write_the_unknown_are_not_used():
    model = fitted([*doubled(300), *[([4, 1], [UNKNOWN, 3])] * 5])
    assert not (model.written == UNKNOWN).any() and 4 not in model.source


def test_the_search_takes_as_few_sources_at_a_time_as_it_must(monkeypatch):
    model = fitted(doubled(200))
    x, lengths = np.array([[1, 2, 3], [0, 1, 2], [2, 2, 0]]), np.array([3, 3, 3])
    whole = model.candidates(x, lengths)
    monkeypatch.setattr("seriatim.tasks.translate.models.joint.AT_ONCE", 1)
    assert all(
        np.array_equal(a, b) for a, b in zip(model.candidates(x, lengths), whole, strict=True)
    )


def test_pairs_that_cannot_be_cut_are_refused():
    with pytest.raises(DataError, match="larger longest="):
        fitted([([1], [3, 3, 3, 3]), ([2], [4, 4, 4])])


def test_numbers_and_too_many_symbols_are_refused():
    with pytest.raises(ConfigError, match="need symbols"):
        create(parts_of("joint", {}, "translate"), VOCABULARY, 0, 3, False)
    model = create(parts_of("joint", {"longest": 6}, "translate"), 50_000, 50_000, 0, False)
    with pytest.raises(ConfigError, match="smaller longest="):
        next(model.counting_pairs(EncodedPairs(symbols([np.array([1])]), symbols([np.array([2])]))))


def test_fitted_by_name_it_translates_and_mixes(tmp_path):
    data = st.read("copy:count=400,length=5,symbols=5")
    train, test = data.split(0.9, 0.1)
    alone = st.fit("translate", "joint", train, out=tmp_path / "joint")
    assert (
        alone.evaluate(test)["exact"] > 0.95
        and st.load(tmp_path / "joint").evaluate(test)["exact"] == alone.evaluate(test)["exact"]
    )
    both = st.fit("translate", "joint+gru", train, updates=5, width=8, heads=1)
    assert both.evaluate(test)["nats_per_token"] < 0.2 and both.model.weights()[0] > 0.9
