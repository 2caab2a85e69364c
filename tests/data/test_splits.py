"""Splits: nothing is lost or repeated, copies stay together, labels keep their shares, time runs one way."""

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as some

from seriatim.data.formats import read_files
from seriatim.data.sequences import Field, Sequences, joined
from seriatim.data.splits import folds, passages, split, spread, subset
from seriatim.errors import ConfigError, DataError

PUBLIC = Path(os.environ.get("SERIATIM_DATA") or Path(__file__).parents[3] / "shared" / "data")
FRACTIONS = some.sampled_from(
    [(0.5, 0.5), (0.8, 0.1, 0.1), (0.7, 0.2), (0.1,), (1 / 3, 1 / 3, 1 / 3)]
)
SEEDS = some.integers(0, 5)


def lines(texts, labels=None, **fields) -> Sequences:
    """Sequences whose `lines` number them, so that each can be followed."""
    columns = {
        "text": Field.of_text(texts),
        **({"label": Field.of_labels(labels)} if labels else {}),
        **fields,
    }
    return Sequences(columns, lines=np.arange(len(texts)))


def stream(text: str) -> Sequences:
    return Sequences({"text": Field.of_text([text])}, by="stream")


def numbers(parts) -> list[list[int]]:
    return [part.lines.tolist() for part in parts]


def all_numbers(parts) -> list[int]:
    return sorted(number for part in parts for number in part.lines.tolist())


def copies_are_together(parts) -> bool:
    texts = [{part[s]["text"] for s in range(len(part))} for part in parts]
    return sum(map(len, texts)) == len(set().union(*texts))


@settings(deadline=None)
@given(
    some.lists(some.sampled_from("abcdefghijklmnopqrstuvwxyz"), min_size=10, max_size=80),
    FRACTIONS,
    SEEDS,
    some.sampled_from(["order", "shuffle", "stratify"]),
)
def test_parts_partition_the_data_and_keep_copies_together(texts, fractions, seed, how):
    data = lines(texts, [text if text < "c" else "z" for text in texts])
    try:
        parts = split(data, fractions, how=how, seed=seed)
    except DataError as error:
        assert "empty" in str(error)
        return
    found = all_numbers(parts)
    assert len(found) == len(set(found)) and (
        sum(fractions) < 0.99 or found == list(range(len(texts)))
    )
    assert how == "order" or copies_are_together(parts)
    assert all(row == sorted(row) for row in numbers(parts))
    slack = 0 if how == "order" else max(Counter(texts).values())
    for part, fraction in zip(parts, fractions):
        assert abs(len(part) - fraction * len(texts)) <= 1 + slack


@settings(deadline=None)
@given(some.lists(some.integers(1, 60), min_size=1, max_size=5), FRACTIONS, SEEDS)
def test_stratified_parts_keep_the_share_of_each_label(counts, fractions, seed):
    labels = [str(i) for i, count in enumerate(counts) for _ in range(count)]
    assume(len(labels) > 20)
    parts = split(
        lines([str(s) for s in range(len(labels))], labels), fractions, how="stratify", seed=seed
    )
    for part, fraction in zip(parts, fractions):
        found = Counter(part[s]["label"][0] for s in range(len(part)))
        for label, count in Counter(labels).items():
            assert abs(found[label] - fraction * count) <= 2 * (
                1 + len(counts) * count / len(labels)
            )


@settings(deadline=None)
@given(
    some.lists(some.sampled_from("abcdefghijklmnop"), min_size=4, max_size=60),
    some.integers(2, 5),
    SEEDS,
    some.sampled_from(["order", "shuffle", "stratify"]),
)
def test_folds_test_every_sequence_once_and_never_on_a_copy(texts, k, seed, how):
    data = lines(texts, [text if text < "c" else "z" for text in texts])
    try:
        pairs = folds(data, k, how=how, seed=seed)
    except DataError as error:
        assert "too few" in str(error)
        return
    assert all_numbers(test for _, test in pairs) == list(range(len(texts)))
    for train, test in pairs:
        assert all_numbers([train, test]) == list(range(len(texts)))
        assert how == "order" or copies_are_together([train, test])
        assert abs(len(test) - len(texts) / k) <= 1 + (
            0 if how == "order" else max(Counter(texts).values())
        )


def test_folds_of_labelled_data_are_stratified_and_those_of_dated_data_in_order():
    texts, labels = [str(s) for s in range(100)], ["spam" if s < 20 else "ham" for s in range(100)]
    for seed in range(10):
        spam = [
            sum(test[s]["label"] == ["spam"] for s in range(len(test)))
            for _, test in folds(lines(texts, labels), 5, seed)
        ]
        assert (
            sum(spam) == 20 and 3 <= min(spam) <= max(spam) <= 5
        )  # at random, some fold of fifty would have 1 or 7
    dated = folds(lines(texts, labels, date=Field.of_text(texts)), 5)
    assert [number for _, test in dated for number in test.lines] == list(range(100))


def test_sizes_are_exact_where_no_sequence_is_repeated():
    data = lines([str(s) for s in range(1000)])
    assert [len(part) for part in split(data, (0.7, 0.2, 0.1))] == [700, 200, 100]
    assert [len(test) for _, test in folds(data, 3)] == [333, 333, 334]


def test_a_seed_repeats_a_split_and_another_one_changes_it():
    data = lines([str(s) for s in range(100)])
    first, again, other = (numbers(split(data, (0.5, 0.5), seed=seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_every_sequence_is_as_likely_in_each_part():
    data = lines([str(s) for s in range(10)], ["a"] * 9 + ["rare"])
    for how in ("shuffle", "stratify"):
        tested = [split(data, (0.8, 0.2), how=how, seed=seed)[1].lines for seed in range(1000)]
        hits = np.bincount(np.concatenate(tested), minlength=10)
        assert hits.sum() == 2000 and (abs(hits - 200) < 70).all()


def test_time_and_streams_are_split_in_order_and_the_rest_at_random():
    texts = [str(s) for s in range(100)]
    dated = lines(texts, date=Field.of_text(texts))
    assert numbers(split(dated, (0.9, 0.1))) == [list(range(90)), list(range(90, 100))]
    assert numbers(split(lines(texts), (0.9, 0.1)))[1] != list(range(90, 100))
    assert [test.lines.tolist() for _, test in folds(dated, 4)][1] == list(range(25, 50))


def test_a_single_stream_is_cut_inside_and_never_inside_a_character():
    assert [part[0]["text"] for part in split(stream("abcdefghij"), (0.7, 0.2, 0.1))] == [
        "abcdefg",
        "hi",
        "j",
    ]
    assert [part[0]["text"] for part in split(stream("aé日本語"), (0.5, 0.5))] == ["aé日", "本語"]
    assert split(stream("abcd"), (0.5, 0.5))[0].main.values.base is not None  # a view


def test_tiny_shakespeare_is_cut_where_everyone_cuts_it():
    path = PUBLIC / "text" / "tinyshakespeare.txt"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    assert [len(part.main.flat) for part in split(read_files(str(path)), (0.9, 0.1))] == [
        1_003_854,
        111_540,
    ]


def test_tables_of_numbers_are_split_too():
    data = Sequences({"x": Field.of_numbers([[float(s)] for s in range(10)])}, lines=np.arange(10))
    assert all_numbers(split(data, (0.5, 0.5))) == list(range(10))


@pytest.mark.parametrize(
    "fractions", [(), (0.5, 0.6), (1.5,), (0.5, 0), (0.5, -0.1), (float("nan"),)]
)
def test_fractions_that_make_no_sense_are_refused(fractions):
    with pytest.raises(ConfigError, match="fractions"):
        split(lines(["a", "b"]), fractions)


@pytest.mark.parametrize(
    "data, fractions, options, words",
    [
        (lines(["a", "b"]), (0.9, 0.05, 0.05), {}, "part 2 of 3 would be empty"),
        (lines(["a", "a"]), (0.5, 0.5), {}, "would be empty"),
        (stream("ab"), (0.9, 0.05, 0.05), {}, "part 2 of 3 would be empty"),
        (stream("ab"), (0.5, 0.5), {"how": "shuffle"}, "in order"),
        (lines(["a", "b"]), (0.5, 0.5), {"how": "stratify"}, "no field 'label'"),
        (lines(["a", "b"]), (0.5, 0.5), {"how": "stratify", "label": "text"}, "one label"),
    ],
)
def test_data_that_cannot_be_split_say_why(data, fractions, options, words):
    with pytest.raises(DataError, match=words):
        split(data, fractions, **options)


def test_settings_that_make_no_sense_are_refused():
    data = lines(["a", "b"])
    for call in (
        lambda: split(data, (0.5, 0.5), how="shufle"),
        lambda: split(data, (0.5, 0.5), seed=-1),
        lambda: folds(data, 1),
    ):
        with pytest.raises(ConfigError):
            call()


def test_folds_refuse_a_single_stream_and_too_few_sequences():
    with pytest.raises(DataError, match="future"):
        folds(stream("abcdef"), 3)
    with pytest.raises(DataError, match="too few"):
        folds(lines(["a", "b", "b"]), 3)


def test_a_subset_of_a_stream_comes_from_all_of_it_and_another_seed_gives_another():
    data = stream("".join(chr(97 + i * 20 // 40_000) for i in range(40_000)))
    part = subset(data, 1 / 4, seed=0)
    assert len(part.main.flat) == 10_000 and len(np.unique(part.main.flat)) >= 10
    assert part.main.flat.tobytes() == subset(data, 1 / 4, seed=0).main.flat.tobytes()
    assert part.main.flat.tobytes() != subset(data, 1 / 4, seed=1).main.flat.tobytes()
    few = subset(data, 1 / 32, seed=3)  # so little is one passage
    assert len(few.main.flat) == 1250 and (np.diff(few.main.flat.astype(int)) >= 0).all()
    assert subset(data, 1.0, seed=0) is data


def test_labels_keep_their_shares_in_a_subset():
    data = lines([str(s) for s in range(416)], ["spam" if s < 96 else "ham" for s in range(416)])
    part = subset(data, 1 / 8, seed=2)
    spam = sum(part[s]["label"] == ["spam"] for s in range(len(part)))
    assert len(part) == 52 and 11 <= spam <= 13
    assert numbers([part]) != numbers([subset(data, 1 / 8, seed=3)])


def test_a_test_of_several_regions_knows_how_many():
    """Passages put end to end are counted; a piece of them, or of a text as it is, is in one piece."""
    text = stream("abcdefghij" * 30_000)
    valid, train, test = spread(text, (0.05, 0.85, 0.1))
    assert (text.regions, valid.regions, train.regions, test.regions) == (1, 6, 7, 6)
    assert passages(text, 0.5).regions == 10 and passages(text, 0.0001).regions == 1
    assert test.part(0, 100).regions == 1 and joined([test, test]).regions == 1
