"""Batches: every row and every symbol exactly once, padding never counts, a stream goes on where it stopped."""

from itertools import pairwise

import numpy as np
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from seriatim.batches import buckets, line_epoch, of_lines, pad, pieces, prompts, stream_epoch
from seriatim.codecs.symbols import PADDING, STOP
from seriatim.data.sequences import SYMBOLS, Field, offsets_of

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # machines are busy
ROWS = some.lists(some.lists(some.integers(2, 9), max_size=6), max_size=8)
LENGTHS = (
    some.lists(some.integers(0, 40), max_size=60)
    .map(np.array)
    .map(lambda lengths: lengths.astype(np.int64))
)
SEEDS = some.integers(0, 1000)
STREAMS = (
    some.integers(1, 120),
    some.integers(1, 9),
    some.integers(1, 20),
    SEEDS,
)  # symbols, rows, length, seed


def arrays(rows) -> list[np.ndarray]:
    return [np.array(row, np.int32) for row in rows]


def field(rows, before=()) -> Field:
    """Sequences of numbers, behind some that were sliced away."""
    whole = Field(
        np.concatenate([np.zeros(0, np.int32), *arrays(before), *arrays(rows)]),
        offsets_of(map(len, [*before, *rows])),
        SYMBOLS,
    )
    return whole.take(slice(len(before), None))


def same(one, other) -> bool:
    return all(
        (a is None and b is None) or (isinstance(a, tuple) and a == b) or torch.equal(a, b)
        for a, b in zip(vars(one).values(), vars(other).values(), strict=True)
    )


# Rectangles


@patient
@given(ROWS)
def test_padding_fills_behind_each_row_and_the_mask_tells_it(rows):
    filled, mask = pad(arrays(rows))
    assert (
        filled.shape == mask.shape == (len(rows), max(map(len, rows), default=0))
        and filled.dtype == torch.long
        and mask.dtype == torch.bool
    )
    assert [filled[i][mask[i]].tolist() for i in range(len(rows))] == rows
    assert all(
        mask[i].tolist() == [t < len(row) for t in range(filled.shape[1])]
        for i, row in enumerate(rows)
    )
    assert (filled[~mask] == PADDING).all()


@patient
@given(ROWS)
def test_prompts_are_a_condition_with_nothing_to_predict(rows):
    batch = prompts(arrays(rows))
    assert batch.x_lengths.tolist() == [
        len(row) for row in rows
    ] and batch.y.shape == batch.y_mask.shape == (len(rows), 0)
    assert [batch.x[i, :n].tolist() for i, n in enumerate(batch.x_lengths)] == rows and len(
        batch
    ) == len(rows)


@patient
@given(ROWS, ROWS, some.data())
def test_lines_are_whole_and_end_in_stop(before, rows, data):
    chosen = np.array(data.draw(some.permutations(range(len(rows)))), np.int64)
    batch = of_lines(field(rows, before), chosen)
    assert [batch.y[i][batch.y_mask[i]].tolist() for i in range(len(batch))] == [
        [*rows[s], STOP] for s in chosen
    ]
    assert batch.x.shape == (len(rows), 0) and batch.before is None


# Buckets


@settings(patient, max_examples=300)
@given(LENGTHS, some.integers(1, 200), some.one_of(some.none(), SEEDS))
def test_buckets_hold_every_row_once_and_respect_the_size(lengths, symbols, seed):
    groups = buckets(lengths, symbols, None if seed is None else np.random.default_rng(seed))
    assert sorted(np.concatenate([np.zeros(0, int), *groups]).tolist()) == list(range(len(lengths)))
    assert all(len(group) for group in groups)
    for group in groups:
        assert (
            len(group) == 1 or len(group) * (lengths[group].max() + 1) <= symbols
        )  # + 1: its STOP
        assert (
            len(group) > 1
            or lengths[group[0]] + 1 > symbols
            or len(groups) > 1
            or len(lengths) == 1
        )


@patient
@given(LENGTHS, some.integers(1, 200), SEEDS)
def test_buckets_hold_rows_of_similar_length(lengths, symbols, seed):
    groups = sorted(
        buckets(lengths, symbols, np.random.default_rng(seed)),
        key=lambda group: (lengths[group].min(), lengths[group].max()),
    )
    assert all(lengths[a].max() <= lengths[b].min() for a, b in pairwise(groups))


def test_buckets_are_filled_as_far_as_they_go():
    assert [group.tolist() for group in buckets(np.array([3, 1, 1, 3, 1, 9]), 8)] == [
        [1, 2, 4],
        [0, 3],
        [5],
    ]


def test_buckets_of_pairs_are_alike_in_both_lengths():
    dice = np.random.default_rng(0)
    lengths = dice.integers(1, 12, (2000, 2))
    groups = buckets(lengths, 128, np.random.default_rng(1))
    assert sorted(np.concatenate(groups)) == list(range(2000))
    assert all(
        len(group) * (lengths[group].max() + 1) <= 128 or len(group) == 1 for group in groups
    )

    def padded(groups):
        return sum(len(group) * lengths[group, side].max() for group in groups for side in (0, 1))

    assert (
        lengths.sum() / padded(groups)
        > 0.8
        > lengths.sum() / padded(buckets(lengths.max(1), 128, np.random.default_rng(1)))
    )


def test_buckets_are_shuffled_by_the_generator_and_only_by_it():
    lengths = np.full(50, 4)
    plain, again = buckets(lengths, 20), buckets(lengths, 20)
    shuffled = [buckets(lengths, 20, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    as_lists = [[group.tolist() for group in groups] for groups in (plain, again, *shuffled)]
    assert (
        as_lists[0] == as_lists[1]
        and as_lists[2] == as_lists[3]
        and as_lists[2] != as_lists[4]
        and as_lists[0] != as_lists[2]
    )


@patient
@given(ROWS, some.integers(1, 30), SEEDS)
def test_a_pass_over_lines_shows_each_line_once(rows, symbols, seed):
    seen = [
        batch.y[i][batch.y_mask[i]].tolist()
        for batch in line_epoch(field(rows), symbols, np.random.default_rng(seed))
        for i in range(len(batch))
    ]
    assert sorted(seen) == sorted([*row, STOP] for row in rows)


@patient
@given(ROWS, some.integers(1, 30), SEEDS)
def test_the_same_seed_gives_the_same_lines(rows, symbols, seed):
    one, other = (
        list(line_epoch(field(rows), symbols, np.random.default_rng(seed))) for _ in range(2)
    )
    assert len(one) == len(other) and all(map(same, one, other))


@patient
@given(ROWS, some.integers(1, 9))
def test_long_lines_come_in_pieces_that_continue_each_other(rows, length):
    whole = of_lines(field(rows), np.arange(len(rows)))
    parts = list(pieces(whole, length))
    assert all(
        torch.equal(torch.cat([getattr(part, name) for part in parts], 1), getattr(whole, name))
        for name in ("y", "y_mask")
        if parts
    )
    assert bool(parts) == bool(rows) and all(
        1 <= part.y.shape[1] <= length and part.y_mask.any() for part in parts
    )
    assert all(
        part.before is None if t == 0 else torch.equal(part.before, whole.y[:, t * length - 1])
        for t, part in enumerate(parts)
    )


# Streams: symbol i of the stream is i + 2, so that each can be followed


def numbered(size: int) -> Field:
    return field([list(range(2, size + 2))], before=[[0, 0, 0]])


@settings(patient, max_examples=300)
@given(*STREAMS)
def test_every_symbol_of_a_stream_is_read_and_hardly_any_twice(size, rows, length, seed):
    epoch = list(stream_epoch(numbered(size), rows, length, np.random.default_rng(seed)))
    seen = np.concatenate([batch.y.numpy().ravel() for batch in epoch]) - 2
    assert set(seen.tolist()) == set(range(size))
    assert len(seen) - size < len(epoch[0])
    assert all(
        batch.y_mask.all()
        and batch.y_mask.shape == batch.y.shape
        and batch.x.shape == (len(batch), 0)
        for batch in epoch
    )


@settings(patient, max_examples=300)
@given(*STREAMS)
def test_each_row_goes_on_exactly_where_it_stopped(size, rows, length, seed):
    epoch = list(stream_epoch(numbered(size), rows, length, np.random.default_rng(seed)))
    assert (
        epoch[0].before is None
        and len({len(batch) for batch in epoch}) == 1
        and 1 <= len(epoch[0]) <= rows
    )
    assert (
        all(batch.y.shape[1] == length for batch in epoch[:-1])
        and 1 <= epoch[-1].y.shape[1] <= length
    )
    for earlier, later in pairwise(epoch):
        assert torch.equal(later.before, earlier.y[:, -1])
    joined = torch.cat([batch.y for batch in epoch], 1) - 2  # (rows, span)
    assert ((joined[:, 1:] - joined[:, :-1]) % size == 1 % size).all()
    assert (
        torch.equal((joined[:, -1] + 1) % size, joined.roll(-1, 0)[:, 0])
        or len(joined) == 1
        or joined.numel() > size
    )


@patient
@given(*STREAMS)
def test_the_same_seed_gives_the_same_stream(size, rows, length, seed):
    one, other = (
        list(stream_epoch(numbered(size), rows, length, np.random.default_rng(seed)))
        for _ in range(2)
    )
    assert len(one) == len(other) and all(map(same, one, other))


def test_another_seed_begins_at_another_place():
    begins = {
        int(next(stream_epoch(numbered(1000), 4, 10, np.random.default_rng(seed))).y[0, 0])
        for seed in range(20)
    }
    assert len(begins) > 10


def test_several_sequences_are_one_stream():
    pieces = field([[2, 3], [], [4, 5, 6]])
    seen = torch.cat([batch.y for batch in stream_epoch(pieces, 1, 2, np.random.default_rng(0))], 1)
    assert sorted(seen.ravel().tolist()) == [2, 3, 4, 5, 6]
