"""Figures for labels: by hand, against scikit-learn and scipy where they are installed, and against slow twins."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as some

from seriatim.data.sequences import SYMBOLS, Field
from seriatim.errors import ConfigError, DataError
from seriatim.measuring.resampling import (
    FIRST_BLOCK,
    MOST_GROUPS,
    RESAMPLES,
    block_length,
    blocks_in_words,
    drawn_over_regions,
    freedom,
    grouped,
    halves_of,
    interval,
    mcnemar,
    middle_of,
    paired_bootstrap,
    sums_between,
    wilson,
)
from seriatim.tasks.labels.metrics import (
    area,
    calibration,
    confusion,
    cooled,
    report,
    span_report,
    spans,
    temperature,
    threshold,
)

PAIRS = some.lists(some.tuples(some.integers(0, 4), some.integers(0, 4)), min_size=1, max_size=60)
SCORED = some.lists(some.tuples(some.integers(-3, 3), some.booleans()), min_size=2, max_size=40)
TAGS = some.lists(
    some.sampled_from(["O", *(f"{scheme}-{kind}" for scheme in "BIES" for kind in "XY")]),
    max_size=12,
)


def columns(pairs) -> tuple[np.ndarray, np.ndarray]:
    first, second = zip(*pairs)
    return np.array(first), np.array(second)


def both_classes(pairs) -> tuple[np.ndarray, np.ndarray]:
    scores, positive = columns(pairs)
    assume(0 < positive.sum() < len(positive))
    return scores / 4, positive


def random_scores(
    seed: int, sharpness: float, rows: int = 400, labels: int = 4
) -> tuple[np.ndarray, np.ndarray]:
    """Log-probabilities that are `sharpness` times as sure as they should be, and labels drawn from the right ones."""
    generator = np.random.default_rng(seed)
    honest = cooled(generator.normal(0, 2, (rows, labels)), 1.0)
    truth = (np.exp(honest).cumsum(1) < generator.random((rows, 1))).sum(1).clip(max=labels - 1)
    return cooled(honest, 1 / sharpness), truth


# Labels


def test_figures_by_hand():
    record = report(
        np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 1, 1]), ["a", "b", "c", "never"]
    )
    assert record["confusion"] == [[2, 1, 0, 0], [0, 2, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert record["accuracy"] == pytest.approx(4 / 6) and record["labels"] == 6
    assert record["classes"][1] == {
        "name": "b",
        "precision": 0.5,
        "recall": 1.0,
        "f1": pytest.approx(2 / 3),
        "support": 2,
    }
    assert record["classes"][2] == {
        "name": "c",
        "precision": 0.0,
        "recall": 0.0,
        "f1": 0.0,
        "support": 1,
    }
    assert record["macro"]["recall"] == pytest.approx(
        (2 / 3 + 1 + 0) / 3
    )  # the label that never occurs does not count
    assert record["matthews"] == pytest.approx(
        (6 * 4 - (3 * 2 + 2 * 4)) / math.sqrt((36 - 14) * (36 - 20))
    )
    assert record["interval"]["accuracy"] == pytest.approx([0.29999, 0.90323], abs=1e-5)
    assert json.loads(json.dumps(record)) == record


@pytest.mark.filterwarnings("ignore:A single label was found")
@settings(max_examples=60, deadline=None)
@given(PAIRS)
def test_figures_are_those_of_scikit_learn(pairs):
    oracle = pytest.importorskip("sklearn.metrics")
    truth, found = columns(pairs)
    record = report(truth, found, "abcde")
    for mean in ("macro", "micro"):
        expected = oracle.precision_recall_fscore_support(
            truth, found, average=mean, zero_division=0
        )[:3]
        assert list(record[mean].values()) == pytest.approx(expected)
    expected = oracle.precision_recall_fscore_support(
        truth, found, labels=range(5), zero_division=0
    )
    assert np.array([list(each.values())[1:] for each in record["classes"]]) == pytest.approx(
        np.stack(expected, 1)
    )
    assert record["weighted_f1"] == pytest.approx(
        oracle.f1_score(truth, found, average="weighted", zero_division=0)
    )
    assert record["matthews"] == pytest.approx(oracle.matthews_corrcoef(truth, found))
    assert (record["confusion"] == oracle.confusion_matrix(truth, found, labels=range(5))).all()


def test_correlation_of_very_many_labels_does_not_overflow():
    truth = np.repeat([0, 1], 100_000)
    assert (
        report(truth, truth, ["a", "b"])["matthews"] == 1.0
        and report(truth, 1 - truth, ["a", "b"])["matthews"] == -1.0
    )


def test_intervals_of_shares_are_those_of_scipy():
    stats = pytest.importorskip("scipy.stats")
    for correct, count in ((0, 1), (0, 30), (7, 30), (30, 30), (999, 1000)):
        expected = stats.binomtest(correct, count).proportion_ci(method="wilson")
        assert wilson(correct, count) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(
    "truth, found, words",
    [
        ([], [], "one example"),
        ([0, 1], [0], "one example"),
        ([[0]], [[0]], "one example"),
        ([0, 2], [0, 0], "from 0 to 1"),
        ([0, 0], [0, -1], "from 0 to 1"),
        ([0.0], [0.0], "whole numbers"),
        (["a"], ["a"], "whole numbers"),
    ],
)
def test_columns_that_are_no_labels_are_refused(truth, found, words):
    with pytest.raises(DataError, match=words):
        confusion(np.array(truth), np.array(found), 2)


# Probabilities


def test_calibration_by_hand():
    probs = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.5, 0.5]])
    record = calibration(np.log(probs), np.array([0, 1, 1, 0]), bins=2)
    assert record["bins"][0] == {
        "confidence": 0.5,
        "accuracy": 1.0,
        "count": 1,
    }  # 0.5 belongs to the lower bin
    assert record["bins"][1] == {
        "confidence": pytest.approx(0.8),
        "accuracy": pytest.approx(2 / 3),
        "count": 3,
    }
    assert record["error"] == pytest.approx((0.5 + 3 * (0.8 - 2 / 3)) / 4)
    assert record["log_loss"] == pytest.approx(-math.log(0.9 * 0.2 * 0.7 * 0.5) / 4)
    assert record["brier"] == pytest.approx(2 * (0.01 + 0.64 + 0.09 + 0.25) / 4)


@pytest.mark.parametrize("labels", [2, 5])
def test_losses_are_those_of_scikit_learn(labels):
    oracle = pytest.importorskip("sklearn.metrics")
    log_probs, truth = random_scores(0, 2.0, labels=labels)
    record, probs = calibration(log_probs, truth), np.exp(log_probs)
    assert record["log_loss"] == pytest.approx(oracle.log_loss(truth, probs))
    assert record["brier"] == pytest.approx(
        oracle.brier_score_loss(truth, probs, scale_by_half=False)
    )


def test_calibration_error_is_that_of_a_slow_twin():
    log_probs, truth = random_scores(1, 3.0)
    record, probs, error = calibration(log_probs, truth, bins=7), np.exp(log_probs), 0.0
    for b in range(7):
        inside = [n for n in range(len(truth)) if b / 7 < probs[n].max() <= (b + 1) / 7]
        assert record["bins"][b]["count"] == len(inside) and (
            inside or record["bins"][b]["confidence"] is None
        )
        error += abs(sum(probs[n].max() - (probs[n].argmax() == truth[n]) for n in inside)) / len(
            truth
        )
    assert record["error"] == pytest.approx(error) and error > 0.05
    assert json.loads(json.dumps(record)) == record


def test_an_impossible_truth_has_no_log_loss_but_a_brier_score():
    record = calibration(np.array([[0.0, -np.inf]]), np.array([1]))
    assert record["log_loss"] is None and record["brier"] == 2 and record["error"] == 1


@pytest.mark.parametrize("sharpness", [0.2, 1.0, 3.0, 60.0])
def test_temperature_undoes_what_made_a_model_too_sure(sharpness):
    log_probs, truth = random_scores(2, sharpness, rows=4000)
    t = temperature(log_probs, truth)
    assert t == pytest.approx(sharpness, rel=0.1)
    assert calibration(cooled(log_probs, t), truth)["error"] < 0.03


@settings(max_examples=30, deadline=None)
@given(some.integers(0, 10_000), some.floats(0.1, 20), some.floats(0.5, 2))
def test_no_other_temperature_has_a_smaller_loss(seed, sharpness, factor):
    log_probs, truth = random_scores(seed, sharpness, rows=50)
    t = temperature(log_probs, truth)
    best, other = (
        calibration(cooled(log_probs, each), truth)["log_loss"] for each in (t, t * factor)
    )
    assert best <= other + 1e-9


def test_temperature_stays_finite_where_the_loss_has_no_minimum():
    right = np.array([[0.0, -2.0], [-2.0, 0.0]])
    assert 1e-3 <= temperature(right, np.array([0, 1])) < 0.2  # always right: as sure as can be
    assert temperature(right, np.array([1, 0])) == pytest.approx(
        1000
    )  # always wrong: not sure at all
    assert temperature(np.zeros((2, 2)), np.array([0, 1])) == 1.0  # always undecided


def test_an_impossible_truth_does_not_count_for_the_temperature():
    log_probs, truth = random_scores(3, 2.0)
    more = np.vstack([log_probs, [[0.0, -np.inf, -1.0, -2.0]]])
    assert temperature(more, np.append(truth, 1)) == temperature(log_probs, truth)
    assert temperature(more[-1:], np.array([1])) == 1.0
    assert np.isfinite(temperature(more, np.append(truth, 0)))


def test_cooling_keeps_the_order_and_sums_to_one():
    log_probs, _ = random_scores(4, 1.0)
    for t in (0.01, 1.0, 50.0):
        again = cooled(log_probs, t)
        assert (
            np.exp(again).sum(1) == pytest.approx(1)
            and (again.argsort(1) == log_probs.argsort(1)).all()
        )
    assert cooled(log_probs, 1.0) == pytest.approx(log_probs)


def test_probabilities_that_make_no_sense_are_refused():
    good, truth = np.log([[0.5, 0.5]]), np.array([0])
    for log_probs, words in (
        (good + 1, "sum to one"),
        (good[0], "examples x labels"),
        (good * np.nan, "numbers"),
        (good - np.inf, "numbers"),
        (np.repeat(good, 2, 0), "one true label"),
    ):
        with pytest.raises(DataError, match=words):
            calibration(log_probs, truth)
    with pytest.raises(DataError, match="from 0 to 1"):
        temperature(good, truth + 2)
    for call in (
        lambda: cooled(good, 0.0),
        lambda: cooled(good, math.nan),
        lambda: calibration(good, truth, bins=0),
    ):
        with pytest.raises(ConfigError):
            call()


# Thresholds


@settings(deadline=None)
@given(SCORED, some.sampled_from([0.0, 0.001, 0.1, 0.29, 0.5, 1.0]))
def test_no_lower_threshold_keeps_the_promise(pairs, most_false):
    scores, positive = both_classes(pairs)
    record = threshold(scores, positive, most_false)
    called = scores >= record["threshold"]
    allowed = [bound for bound in scores if (scores[~positive] >= bound).mean() <= most_false]
    assert record["threshold"] == min(allowed) if allowed else not called.any()
    assert (
        record["false"] == called[~positive].mean() <= most_false
        and record["recall"] == called[positive].mean()
    )
    assert record["precision"] == (pytest.approx(positive[called].mean()) if called.any() else 0)


def test_a_threshold_of_float32_scores_holds_for_float32_scores():
    scores = np.array([0.3, 0.7], np.float32)
    assert not (scores >= threshold(scores, np.array([True, False]), 0.0)["threshold"]).any()


def test_shares_of_negatives_are_counted_exactly():
    scores, positive = np.arange(101), np.arange(101) == 100
    assert (
        threshold(scores, positive, 0.29)["threshold"] == 71
    )  # 0.29 * 100 is less than 29 in binary


@settings(max_examples=60, deadline=None)
@given(SCORED)
def test_areas_are_those_of_scikit_learn(pairs):
    oracle = pytest.importorskip("sklearn.metrics")
    scores, positive = both_classes(pairs)
    found = area(scores, positive)
    assert found["roc"] == pytest.approx(oracle.roc_auc_score(positive, scores))
    assert found["average_precision"] == pytest.approx(
        oracle.average_precision_score(positive, scores)
    )


@given(SCORED)
def test_the_area_is_the_share_of_pairs_in_the_right_order(pairs):
    scores, positive = both_classes(pairs)
    apart = scores[positive][:, None] - scores[~positive]
    assert area(scores, positive)["roc"] == pytest.approx(((apart > 0) + (apart == 0) / 2).mean())


def test_one_class_alone_has_no_threshold():
    for positive in ([True, True], [False, False]):
        for call in (area, lambda *columns: threshold(*columns, 0.1)):
            with pytest.raises(DataError, match="both classes"):
                call(np.array([0.1, 0.2]), np.array(positive))
    with pytest.raises(DataError, match="numbers"):
        area(np.array([0.1, np.nan]), np.array([True, False]))
    with pytest.raises(ConfigError, match="share"):
        threshold(np.array([0.1, 0.2]), np.array([True, False]), 5)


# Two models


@settings(max_examples=50, deadline=None)
@given(some.integers(0, 400), some.integers(0, 400))
def test_p_is_that_of_the_exact_binomial_test(only_first, only_second):
    stats = pytest.importorskip("scipy.stats")
    first = np.repeat([True, False, True, False], [only_first, only_second, 9, 4])
    second = np.repeat([False, True, True, False], [only_first, only_second, 9, 4])
    record = mcnemar(first, second)
    assert (record["only_first"], record["only_second"]) == (only_first, only_second)
    expected = (
        stats.binomtest(only_first, only_first + only_second).pvalue
        if only_first + only_second
        else 1.0
    )
    assert record["p"] == pytest.approx(expected, rel=1e-9)


def test_p_by_hand_and_where_powers_of_two_overflow():
    assert mcnemar(np.arange(6) > 0, np.arange(6) < 1)["p"] == pytest.approx(2 * (1 + 6) / 2**6)
    first = np.arange(5000) < 2450
    assert mcnemar(first, ~first)["p"] == pytest.approx(
        math.erfc(99 / math.sqrt(2 * 5000)), rel=1e-3
    )  # normal, with continuity


def test_a_paired_bootstrap_sees_what_is_steady_and_not_what_is_chance():
    generator = np.random.default_rng(0)
    hard = generator.random(2000)
    steady = paired_bootstrap(hard + 0.01, hard)
    assert steady["difference"] == pytest.approx(0.01) and steady["p"] == 2 / (RESAMPLES + 1)
    assert steady["interval"] == pytest.approx([0.01, 0.01])
    chance = paired_bootstrap(hard, generator.permutation(hard))
    assert chance["interval"][0] < 0 < chance["interval"][1] and chance["p"] > 0.05
    assert paired_bootstrap(hard > 0.5, hard > 0.5) == {
        "difference": 0.0,
        "interval": [0.0, 0.0],
        "p": 1.0,
    }


def test_under_the_null_small_values_of_p_are_rare():
    generator = np.random.default_rng(1)
    small = sum(paired_bootstrap(*generator.normal(size=(2, 100)))["p"] < 0.05 for _ in range(200))
    assert 2 <= small <= 22  # 10 expected


def test_what_is_drawn_together_counts_once():
    """Ten copies of each example in its group tell no more than one copy; as examples of their own they would seem to."""
    generator = np.random.default_rng(2)
    first, second = generator.normal(size=(2, 50))
    once = paired_bootstrap(first, second)
    tenfold = np.repeat(first, 10), np.repeat(second, 10)
    grouped = paired_bootstrap(*tenfold, np.arange(0, 501, 10))
    assert grouped["interval"] == pytest.approx(once["interval"]) and grouped["p"] == once["p"]
    width, without = (
        np.diff(record["interval"])[0] for record in (once, paired_bootstrap(*tenfold))
    )
    assert width > 2 * without


def test_empty_groups_change_nothing_and_wrong_offsets_are_refused():
    first, second = np.random.default_rng(3).normal(size=(2, 6))
    assert paired_bootstrap(first, second, np.array([0, 0, 2, 2, 6, 6])) == paired_bootstrap(
        first, second, np.array([0, 2, 6])
    )
    for offsets in ([0, 3], [1, 6], [0, 4, 2, 6]):
        with pytest.raises(DataError, match="offsets"):
            paired_bootstrap(first, second, np.array(offsets))


@given(some.integers(1, 50_000), some.integers(1, 3))
def test_very_many_groups_are_joined_and_lose_nothing(count, step):
    values = np.arange(count) % 7
    groups = sums_between(values, np.arange(0, count, step))
    assert len(groups) < 2 * MOST_GROUPS and groups.sum(0).tolist() == [values.sum(), count]


# Spans


@pytest.mark.parametrize(
    "tags, expected",
    [
        ("", []),
        ("O O", []),
        ("B-X I-X O B-Y", [(0, 2, "X"), (3, 4, "Y")]),  # IOB2
        (
            "I-X I-X B-X I-Y",
            [(0, 2, "X"), (2, 3, "X"), (3, 4, "Y")],
        ),  # IOB1: B- only between neighbours of the same type
        ("B-X I-X E-X S-X S-X", [(0, 3, "X"), (3, 4, "X"), (4, 5, "X")]),  # BIOES
        ("O I-X O", [(1, 2, "X")]),  # an I- without B- begins a span
        ("B-X I-Y", [(0, 1, "X"), (1, 2, "Y")]),
        ("B-X E-X I-X", [(0, 2, "X"), (2, 3, "X")]),  # after an E- the span is over
        ("E-X E-X", [(0, 1, "X"), (1, 2, "X")]),
        ("B-X-1 I-X-1 I-X-2", [(0, 2, "X-1"), (2, 3, "X-2")]),  # a type may hold a hyphen
        ("B I O", [(0, 2, "")]),
    ],
)
def test_spans_by_hand(tags, expected):
    assert sorted(spans(tags.split())) == expected


def slow_spans(tags) -> set:
    """conlleval.pl, function by function: does a chunk end between two tags, and does one start?"""

    def ends(before, before_type, tag, kind) -> bool:
        return (
            before in "ES"
            or (before in "BI" and tag in "BSO")
            or (before != "O" and before_type != kind)
        )

    def starts(before, before_type, tag, kind) -> bool:
        return (
            tag in "BS" or (before in "ESO" and tag in "IE") or (tag != "O" and before_type != kind)
        )

    found, begin, last = set(), None, ("O", "")
    for place, tag in enumerate([*tags, "O"]):
        now = (tag[0], tag[2:])
        if begin is not None and ends(*last, *now):
            found.add((begin, place, last[1]))
            begin = None
        begin = place if starts(*last, *now) else begin
        last = now
    return found


@settings(max_examples=300)
@given(TAGS)
def test_spans_are_those_of_conlleval(tags):
    assert spans(tags) == slow_spans(tags)


def test_span_figures_by_hand():
    truth = [["B-X", "I-X", "O", "B-Y"], ["B-X", "O"]]
    found = [["B-X", "I-X", "O", "B-X"], ["O", "B-X"]]  # right: the first; wrong type; wrong place
    record = span_report(truth, found)
    assert (record["precision"], record["recall"], record["f1"]) == pytest.approx(
        (1 / 3, 1 / 3, 1 / 3)
    )
    assert record["types"] == [
        {
            "name": "X",
            "precision": pytest.approx(1 / 3),
            "recall": 0.5,
            "f1": pytest.approx(0.4),
            "support": 2,
        },
        {"name": "Y", "precision": 0.0, "recall": 0.0, "f1": 0.0, "support": 1},
    ]
    assert record["support"] == record["found"] == 3 and json.loads(json.dumps(record)) == record


def test_spans_of_other_sequences_do_not_count():
    assert span_report([["B-X"], ["O"]], [["O"], ["B-X"]])["f1"] == 0.0
    assert (
        span_report([["B-X"], ["O"]], [["S-X"], ["O"]])["f1"] == 1.0
    )  # the same span in another scheme


@given(some.lists(TAGS, max_size=4))
def test_the_truth_agrees_with_itself(rows):
    record = span_report(rows, rows)
    assert (
        record["f1"] == bool(record["support"])
        and sum(each["support"] for each in record["types"]) == record["support"]
    )


def test_tags_that_mark_no_spans_are_refused():
    for tags in (["NOUN"], ["X-PER"], [""]):
        with pytest.raises(DataError, match="marks spans"):
            spans(tags)
    with pytest.raises(DataError, match="as many"):
        span_report([["O", "O"]], [["O"]])


def autoregressive(count: int, memory: float, seed: int) -> np.ndarray:
    """Losses whose neighbours are alike, around 3."""
    noise = np.random.default_rng(seed).normal(size=(2, count))
    found = np.zeros(count)
    for t in range(1, count):
        found[t] = memory * found[t - 1] + noise[0, t]
    return 3 + found + noise[1]


def test_blocks_grow_with_the_memory_of_a_stream_and_intervals_hold():
    layout = Field(np.zeros(20_000), np.array([0, 20_000]), SYMBOLS)
    held = {"grown": 0, "first": 0}
    for seed in range(60):
        values = autoregressive(20_000, 0.99, seed)
        low, high = interval(grouped(values, layout, "stream"))
        held["grown"] += low <= 3 <= high
        low, high = interval(sums_between(values, np.arange(0, 20_000, FIRST_BLOCK)))
        held["first"] += low <= 3 <= high
    assert held["grown"] >= 52 > held["first"]  # of 60; 57 would be 95 %
    lengths = [block_length(autoregressive(20_000, m, 1)) for m in (0.0, 0.99, 0.999)]
    assert lengths[0] <= 2 * FIRST_BLOCK and lengths == sorted(lengths) and lengths[-1] >= 800


def test_few_groups_are_wider_than_resampling_alone_says():
    """Five groups: the 95 % interval of a mean is Student's, 2.78 standard errors to each side."""
    groups = np.stack([[1.0, 2.0, 3.0, 4.0, 5.0], np.ones(5)], 1)
    low, high = interval(groups)
    error = np.std([1, 2, 3, 4, 5], ddof=1) / np.sqrt(5)
    assert (high - low) / 2 == pytest.approx(2.776 * error, rel=0.1)


def test_regions_are_compared_with_their_neighbours():
    """A slow twin of the variance, with halves of unlike size, and the degrees of freedom by hand."""
    generator = np.random.default_rng(0)
    halves = np.stack([generator.normal(size=8), [3, 5, 4, 4, 2, 6, 5, 3]], 1)
    total, count = halves.sum(0)
    rest = [(each - total / count * n) / count for each, n in halves]
    both = [rest[i] + rest[i + 1] for i in range(0, 8, 2)]
    variance = 1 / 3 * 8 / 7 * sum(e**2 for e in rest)
    variance += 2 / 3 * 4 / 6 * sum((b - a) ** 2 for a, b in itertools.pairwise(both))
    draws = drawn_over_regions(halves)
    wider = scipy.stats.t(freedom(4)).ppf(0.975) / scipy.stats.norm.ppf(0.975)
    assert draws.mean() == pytest.approx(total / count, abs=0.1 * math.sqrt(variance))
    assert draws.std() == pytest.approx(wider * math.sqrt(variance), rel=0.07)
    assert freedom(2) == pytest.approx(1 / (1 / 27 + 4 / 9))  # of 3 and of 1
    assert freedom(10) == pytest.approx(12.96, abs=0.01)  # of 19 and of 6.23


def test_values_of_equal_regions_give_the_same_as_their_means():
    """Two regions of means 1 and 3, each alike throughout: halves say 1, their difference 2, of the variance."""
    halves = halves_of(np.repeat([1.0, 3.0], 6), 2)
    assert halves.tolist() == [[3, 3], [3, 3], [9, 3], [9, 3]]
    wider = scipy.stats.t(freedom(2)).ppf(0.975) / scipy.stats.norm.ppf(0.975)
    variance = (1 / 3) * (4 / 3) * 4 * 0.25**2 + (2 / 3) * (2 / 2) * 1**2
    assert drawn_over_regions(halves).std() == pytest.approx(wider * math.sqrt(variance), rel=0.07)


def test_over_regions_intervals_hold_though_the_text_is_alike_for_longer_than_a_region():
    """Each region has a level of its own, and the text rises: blocks inside regions are blind to the
    levels, and what all tests have in common, the rise, widens nothing."""
    held = {"regions": 0, "blocks": 0}
    for seed in range(100):
        generator = np.random.default_rng(seed)
        levels = np.arange(10) + generator.normal(size=10)
        values = np.repeat(levels, 500) + generator.normal(size=5000)
        low, high = middle_of(drawn_over_regions(halves_of(values, 10)))
        held["regions"] += low <= 4.5 <= high
        narrow, wide = interval(
            sums_between(values - np.repeat(np.arange(10), 500), np.arange(0, 5000, 200))
        )
        held["blocks"] += narrow <= 0 <= wide
    assert 90 <= held["regions"] > held["blocks"] and held["blocks"] < 85


def test_a_text_too_short_for_long_blocks_says_so():
    assert "may be too narrow" in blocks_in_words(np.ones(4000))
    steady = np.random.default_rng(0).normal(size=200_000)
    assert "narrow" not in blocks_in_words(steady)
    assert block_length(np.array([1.0, np.inf, 2.0])) == 1
