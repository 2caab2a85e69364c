"""What more time would change: the law, short fits within their share, and what is said of them."""

from __future__ import annotations

import time
from functools import partial

import pytest

import seriatim as st
from seriatim.comparison import running
from seriatim.comparison.budget import Budget
from seriatim.comparison.running import Comparison
from seriatim.comparison.time_curve import SHORT, course_of, course_through, limits_of, too_short
from seriatim.fitting import Fit, sorted_out
from seriatim.fitting_options import CompareOptions
from seriatim.leaderboard import unfinished_means
from seriatim.progress import exhausted
from seriatim.tasks import task
from seriatim.training.loop import Loop
from seriatim.verdict import verdict
from tests.honesty.test_comparison import BOOK, FakeClock, book, scored  # noqa: F401

TIMES = (1 / 16, 1 / 8, 1.0)
BITS, ACCURACY = task("language").figures[0], task("classify").figures[0]
TINY = {"width": 8, "rows": 4, "length": 16, "validations": 2, "threads": 1}


def points(*values: float, times=TIMES) -> list[dict]:
    return [
        {"share": t, "seconds": 60 * t, "updates": round(640 * t), "value": value}
        for t, value in zip(times, values)
    ]


@pytest.mark.parametrize("power", [0.1, 0.5, 1.5])
@pytest.mark.parametrize("times", [TIMES, (0.03, 0.2, 1.0)])
def test_the_law_goes_through_three_points_of_it_and_between(power, times):
    def law(t: float) -> float:
        return 2.0 + 0.3 * t**-power

    course = course_through(times, [law(t) for t in times])
    for t in (0.3, 0.5, 1):
        assert course.at(t) == pytest.approx(law(t), rel=1e-6)


def test_more_time_gains_what_doublings_gained_or_nothing():
    course = course_through(TIMES, [5.0, 3.6, 3.0])
    assert course.at(2) == pytest.approx(2.8) and course.at(4) == pytest.approx(2.6)
    faster = course_through(TIMES, [5.0, 4.9, 3.0])  # it has only begun to learn
    assert faster.at(2) == pytest.approx(3.0 - 1.9 / 3) and faster.at(0.5) > 3.0
    worse = course_through(TIMES, [3.0, 2.5, 2.6])
    assert worse.at(4) == worse.at(1) == worse.at(0.5) == 2.6 and worse.unsure(2) > 0
    ended = course_through(TIMES, [3.0, 2.5, 2.5], noise=0.01)
    assert ended.at(4) == 2.5 and ended.unsure(2) == pytest.approx(0.01)  # fits differ all the same


def test_a_course_is_told_where_the_figure_of_the_test_is():
    found = course_of(points(3.3, 2.9, 2.3), BITS, 2.4)
    assert found["moved"] == pytest.approx(0.1) and found["why"] is None
    twice, four = found["predicted"]
    assert (twice["times"], four["times"]) == (2, 4)
    assert four["value"] < twice["value"] < 2.4
    assert all(each["low"] < each["value"] < each["high"] for each in found["predicted"])
    assert four["high"] - four["low"] > twice["high"] - twice["low"]


def test_of_a_figure_that_grows_more_is_better_and_a_share_is_one_at_most():
    found = course_of(points(0.5, 0.7, 0.99), ACCURACY, 0.98)
    assert found["last_doubling"] > 0
    for each in found["predicted"]:
        assert 0.9 < each["low"] <= each["value"] <= each["high"] <= 1.0 and each["value"] > 0.98


def test_bits_are_never_predicted_below_zero():
    found = course_of(points(3.64, 3.16, 0.62), BITS, 0.61)
    assert all(each["low"] > 0 for each in found["predicted"])


@pytest.mark.parametrize(
    ("given", "reached", "why"),
    [
        (points(3.0, float("inf"), 2.0), 2.0, "no figure"),
        (points(3.0, 2.5, 2.0), None, "no figure"),
        (points(2.0, 2.1, 2.0), 2.0, "not begun to learn"),
        (points(3.0, 2.5, 2.4, times=(0.1, 0.9, 1.0)), 2.4, "as much as the whole"),
    ],
)
def test_nothing_is_predicted_from_points_that_say_nothing(given, reached, why):
    found = course_of(given, BITS, reached)
    assert found["predicted"] is found["last_doubling"] is None and why in found["why"]


# -- short fits
def ready(**asked) -> Fit:
    fit = Fit(task("language"), "rnn", sorted_out(task("language"), TINY | asked))
    fit.read([BOOK] * 20 + [BOOK[::-1]] * 20, [BOOK, BOOK[::-1]])
    fit.encode()
    fit.build()
    return fit


def test_a_short_fit_has_a_sixteenth_of_each_limit():
    assert sum(SHORT) < 1 / 5
    limit = limits_of(ready(epochs=32), SHORT[0], 48.0)
    assert limit == {"minutes": pytest.approx(3 / 60), "epochs": 2.0} and not too_short(limit)
    assert "1.0 s" in too_short(limits_of(ready(epochs=32), SHORT[0], 16.0))
    assert limits_of(ready(updates=320), SHORT[0], None)["updates"] == 20
    assert "19 updates" in too_short(limits_of(ready(updates=319), SHORT[0], None))
    fit = ready(epochs=16)
    each = fit.lesson.steps_per_epoch(fit.parts[0].training)
    assert limits_of(fit, SHORT[0], None)["updates"] == each


def test_a_short_fit_ends_its_own_schedule_and_leaves_the_whole_one_as_it_was():
    fit, alone = ready(updates=24), ready(updates=24)
    events = list(fit.shorter(updates=6))
    rates = [event["rate"] for event in events if event["event"] == "validation"]
    assert rates[-1] == 0 and rates[0] > 0
    assert exhausted(fit.run()).metrics["valid"] == exhausted(alone.run()).metrics["valid"]


def compared(book, models: str, **asked) -> dict:  # noqa: F811
    return st.compare("language", book, models, **TINY, **asked)


def test_a_comparison_tells_the_course_of_its_networks(book, monkeypatch):  # noqa: F811
    monkeypatch.setattr("seriatim.comparison.time_curve.LEAST_UPDATES", 2)
    record = compared(book, "unigram,rnn", updates=48)
    rows = {row["model"]: row for row in record["rows"]}
    assert rows["unigram"]["course"] is None
    course = rows["rnn"]["course"]
    assert [point["updates"] for point in course["points"]] == [3, 6, 48]
    assert [point["share"] for point in course["points"]] == pytest.approx(list(TIMES), rel=0.2)
    assert course["points"][-1]["value"] == pytest.approx(rows["rnn"]["valid"])
    assert rows["rnn"]["unfinished"] and course["last_doubling"] > record["margin"]
    assert "Twice the time would bring rnn to about" in record["verdict"]
    alone = compared(book, "rnn", updates=48, margin=1.0)["rows"][0]
    assert alone["bits_per_character"] == rows["rnn"]["bits_per_character"]
    assert alone["unfinished"] is False  # though it made fewer than 100 updates


def test_where_time_is_too_little_the_record_says_why(book):  # noqa: F811
    rows = {row["model"]: row for row in compared(book, "unigram,rnn", updates=8)["rows"]}
    course = rows["rnn"]["course"]
    assert course["predicted"] is None and course["points"] == []
    assert course["why"] == "a sixteenth is 0 updates, too few for a fit"
    assert rows["rnn"]["unfinished"] is True  # by the rule for a single fit


def test_only_the_first_seed_has_short_fits(book, monkeypatch):  # noqa: F811
    monkeypatch.setattr("seriatim.comparison.time_curve.LEAST_UPDATES", 1)
    fits = []
    shorter = Fit.shorter
    monkeypatch.setattr(
        Fit, "shorter", lambda self, **limits: fits.append(limits) or shorter(self, **limits)
    )
    compared(book, "rnn", updates=16, seeds=2)
    assert [each["updates"] for each in fits] == [1, 2]


def test_short_fits_are_within_the_slot(book, monkeypatch):  # noqa: F811
    """By a clock that only updates and measuring move."""
    clock, shorts = FakeClock(), []
    update, shorter = Loop.update, Fit.shorter

    def slow(self, batch, rate):
        clock.now += 0.25
        return update(self, batch, rate)

    def timed(self, **limits):
        begin = clock.now
        predictor = yield from shorter(self, **limits)
        shorts.append(clock.now - begin)
        return predictor

    monkeypatch.setattr(time, "perf_counter", clock)
    monkeypatch.setattr(Loop, "update", slow)
    monkeypatch.setattr(Fit, "shorter", timed)
    monkeypatch.setattr(running, "Budget", partial(Budget, clock=clock))
    options = CompareOptions(models="unigram,rnn,gru", minutes=2.0)
    found = Comparison(task("language"), options, TINY | {"precision": "float32"})
    found.begin = 0.0
    record = exhausted(found.run(book))
    rows = {row["model"]: row for row in record["rows"]}
    assert len(shorts) == 4 and sum(shorts[:2]) < record["slot_seconds"] / 5
    assert shorts[1] == pytest.approx(2 * shorts[0], rel=0.2)
    assert 0.85 * 120 < clock.now <= 1.1 * 120
    for name in ("rnn", "gru"):
        assert rows[name]["course"]["predicted"] and rows[name]["stopped"] == "minutes"
        assert rows[name]["seconds"] < 0.85 * record["slot_seconds"]  # those of its own fit


def test_interrupting_a_short_fit_ends_the_comparison(book, monkeypatch):  # noqa: F811
    monkeypatch.setattr("seriatim.comparison.time_curve.LEAST_UPDATES", 1)

    def pressed(self, batch, rate):
        raise KeyboardInterrupt

    monkeypatch.setattr(Loop, "update", pressed)
    record = compared(book, "unigram,rnn,gru", updates=16)
    assert record["interrupted"]
    status = {row["model"]: row["status"] for row in record["rows"]}
    assert status == {"unigram": "ok", "rnn": "interrupted", "gru": "not run"}


# -- what is said
def network(model: str, value: float, then: tuple[float, float, float] | None, unfinished=True):
    low, middle, high = then or (0.0, 0.0, 0.0)
    twice = {"times": 2, "value": middle, "low": low, "high": high}
    course = {"predicted": [twice] if then else None, "why": None if then else "too little"}
    more = {"unfinished": unfinished, "updates": 500, "weights": None, "course": course}
    return scored(model, value, **more)


@pytest.mark.parametrize(
    ("then", "words"),
    [
        ((0.92, 0.94, 0.96), "gru to about 94.00% (92.00% to 96.00%): that would overtake linear"),
        ((0.88, 0.94, 0.96), "that would probably overtake linear"),
        ((0.84, 0.88, 0.92), "that may overtake linear"),
        ((0.84, 0.86, 0.88), "that would not overtake linear"),
    ],
)
def test_a_verdict_says_what_twice_the_time_would_change(then, words):
    rows = [scored("linear", 0.9), network("gru", 0.85, then)]
    assert words in verdict(rows, ACCURACY, 1200)


def test_a_best_network_has_twice_the_time_as_well():
    rows = [network("lstm", 0.9, (0.94, 0.95, 0.96)), network("gru", 0.85, (0.91, 0.92, 0.93))]
    told = verdict(rows, ACCURACY, 1200)
    assert "it is the best already" in told and "would not overtake lstm" in told


def test_a_verdict_says_that_more_time_would_change_little_where_that_is_known():
    known = network("gru", 0.85, (0.84, 0.85, 0.86), unfinished=False)
    unknown = network("rnn", 0.8, None, unfinished=False)
    said = "More time would change little"
    assert said in verdict([scored("linear", 0.9), known], ACCURACY, 1200, margin=0.01)
    assert said not in verdict([scored("linear", 0.9), known, unknown], ACCURACY, 1200)


def test_the_mark_of_the_unfinished_says_by_what():
    told = network("gru", 0.85, (0.84, 0.85, 0.86))
    old = network("rnn", 0.85, None)
    doubling, few = "last doubling of its time gained more than 1 %", "too few updates"
    both = unfinished_means({"rows": [told, old], "margin": 0.01})
    assert doubling in both and few in both
    assert few not in unfinished_means({"rows": [told], "margin": 0.01})
    assert doubling not in unfinished_means({"rows": [old], "margin": 0.01})
