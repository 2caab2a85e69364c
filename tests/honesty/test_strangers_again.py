"""What strangers met in comparisons: words that were not shown, winners that the clock chose."""

from __future__ import annotations

import numpy as np
import pytest

import seriatim as st
from seriatim.comparison import trials
from seriatim.comparison.budget import CHEAP, Budget
from seriatim.comparison.judgement import Judgement, recommended
from seriatim.comparison.running import Comparison
from seriatim.comparison.trials import FIRST
from seriatim.fitting_options import CompareOptions
from seriatim.leaderboard import (
    cells_of,
    columns,
    footnotes,
    stopped_by_patience,
    without_intervals,
)
from seriatim.measuring.judging import judged
from seriatim.measuring.laws import fitted
from seriatim.measuring.measured import Measured
from seriatim.prospects import more_data
from seriatim.show.curves import said_of_marks, with_intervals
from seriatim.show.tables import in_letters
from seriatim.tasks import task
from seriatim.tasks.forecast.tables import forecast_figures
from seriatim.tasks.language.metrics import cost_of_beginnings
from seriatim.verdict import verdict
from tests.honesty import seriatim
from tests.honesty.test_comparison import scored

CARD = task("classify")
ACCURACY, LOG_LOSS = CARD.figures[0], CARD.figure("log_loss")
WORSE = {"word": "worse", "difference": -0.1, "low": -0.2, "high": -0.05}


def rare(many: int, often: int) -> tuple[list[str], list[str]]:
    """Sentences, one of so many with the rare label, which a word gives away."""
    found = [i % often == 0 for i in range(many)]
    texts = [f"{'proxy' if each else 'plain'} order {i % 89}" for i, each in enumerate(found)]
    return texts, ["fraud" if each else "ok" for each in found]


# -- what is equivalent


def test_a_perfect_detector_of_a_rare_label_is_better_than_the_floor():
    """99.5 % of the test are one label: 100 % were "equivalent, within 1 %"."""
    record = st.compare("classify", rare(2000, 200), "majority,naive-bayes", test=rare(2001, 180))
    assert record["rows"][0]["model"] == "naive-bayes" and record["margin_of"] == "majority"
    assert record["rows"][1]["against"]["word"] == "better"
    assert "Nothing here is shown" not in record["verdict"]


def test_the_margin_is_of_what_there_is_to_be_gained():
    judge = Judgement(ACCURACY, 0.01)
    assert judge.within(0.9, None) == pytest.approx(0.009)
    assert judge.within(0.9, 0.4) == pytest.approx(0.006)
    assert judge.within(0.4, 0.3) == pytest.approx(0.004)
    assert Judgement(LOG_LOSS, 0.01).within(2.0, 2.1) == pytest.approx(0.02)  # of no bound
    draws = np.random.default_rng(0).normal([[-1.0], [-0.995]], 1e-4, (2, 400))
    words = [judged(draws, draws.mean(1), 0, 0.01, 2000, each)[1]["word"] for each in (None, 5e-5)]
    assert words == ["equivalent", "better"]
    rows = [scored("naive-bayes", 0.9), scored("linear", 0.9001, against={"word": "equivalent"})]
    said = verdict(rows, ACCURACY, 900, margin=0.01, margin_of="majority")
    assert "Equivalent, within 1 % of what majority leaves to be gained: linear" in said


# -- who wins among equals


def row(model: str, value: float, valid: float | None, loss: float, **more) -> dict:
    """A row that was measured."""
    found = scored(model, value, valid=valid, valid_ties=loss, log_loss=loss, weights=None)
    found |= {"against": None, "by_seed": None, "interval": {}, "symbols_per_second": 1e3}
    return found | more


def test_among_equals_the_next_figure_decides_and_then_the_ladder_but_never_seconds():
    order = {name: place for place, name in enumerate(CARD.rungs)}
    judge = Judgement(ACCURACY, 0.01, LOG_LOSS, "majority", order)
    rows = [
        row("linear", 0.9, 0.8, 0.3, seconds=0.1),
        row("naive-bayes", 0.9, 0.8, 0.2, seconds=9.0),
        row("markov-bayes", 0.9, 0.8, 0.2, seconds=1.0),
    ]
    for shuffled in (rows, rows[::-1]):
        assert judge.chosen(shuffled, "valid")["model"] == "naive-bayes"
        assert set(judge.equals) == {"linear", "markov-bayes"}
        assert judge.equals_by == "the order of the ladder"
    assert judge.chosen(rows[:2], "valid")["model"] == "naive-bayes"
    assert judge.equals_by == "log loss"


def test_a_verdict_says_that_the_winner_was_chosen_among_equals():
    asked = {"models": "markov-bayes,naive-bayes", "minutes": 1}
    first, again = (st.compare("classify", rare(400, 3), **asked) for _ in range(2))
    assert len(first["chosen_among"]) > 1 and first["chosen_by"]
    assert "tied there with" in first["verdict"] and "decided" in first["verdict"]
    order = [[each["model"] for each in record["rows"]] for record in (first, again)]
    assert order[0] == order[1]


def test_a_winner_that_is_less_sure_of_the_truth_than_the_floor_is_said_to_be():
    rows = [
        row("linear", 0.9, 0.9, 0.8),
        row("majority", 0.8, 0.8, 0.5, against={"word": "better"}),
    ]
    words = verdict(rows, ACCURACY, 900, floor="majority", ties=LOG_LOSS)
    assert (
        "Its log loss is worse than that of majority, the floor (0.8000 against 0.5000)." in words
    )
    rows[0]["log_loss"] = 0.4
    assert "worse" not in verdict(rows, ACCURACY, 900, floor="majority", ties=LOG_LOSS)


# -- what the test contradicts


def kept(rows: list[dict], chosen_on: str = "validation") -> dict:
    """What is recommended of these rows, the first of which is the winner."""
    judge = Judgement(ACCURACY, 0.01, LOG_LOSS, "majority", {"majority": 0})
    judge.winner, judge.chosen_on = rows[0]["model"], chosen_on
    return recommended(rows, ACCURACY, CompareOptions(), judge)


def test_the_floor_is_recommended_where_the_test_contradicts_what_was_chosen():
    rows = [row("linear", 0.7, 0.9, 0.5), row("majority", 0.8, 0.8, 0.5, against=WORSE)]
    found = kept(rows)
    assert found["best"] == "majority" and "the test contradicts" in found["why"]
    words = verdict(rows, ACCURACY, 900, "validation", floor="majority")
    assert words.startswith(found["why"]) and "worse than majority" not in words


def test_a_mixture_is_not_recommended_over_a_part_that_is_better_or_where_it_is_unfinished():
    parts = [row("linear", 0.8, 0.8, 0.5), row("gru", 0.7, 0.7, 0.5)]
    mixed = row("linear+gru", 0.75, 0.9, 0.5, weights=[0.5, 0.5])
    assert kept([mixed, *parts])["best"] == "linear"
    better = mixed | {"accuracy": 0.85}
    assert kept([better, *parts])["best"] == "linear+gru"
    assert kept([better | {"unfinished": True}, *parts])["best"] == "linear"


def test_nothing_is_recommended_where_none_got_a_single_one_right():
    """Two translators of 0.00 quality: the quicker one was recommended."""
    rows = [row("linear", 0.0, 0.0, 0.5), row("majority", 0.0, 0.0, 0.6)]
    assert kept(rows)["best"] is None
    words = verdict(rows, ACCURACY, 900, ties=LOG_LOSS)
    assert words.startswith("None got a single one right") and "None is recommended" in words


# -- what more data would change


def coin(many: int, seed: int) -> tuple[list[str], list[str]]:
    """Words, and labels that have nothing to do with them."""
    rng = np.random.default_rng(seed)
    words = np.array(["sun", "moon", "star", "tree", "river", "stone", "wind", "cloud"])
    texts = [" ".join(rng.choice(words, 5)) for _ in range(many)]
    return texts, [str(each) for each in rng.choice(["A", "B"], many)]


def test_nothing_is_promised_of_more_data_where_nothing_beats_the_floor():
    """Coin flips: "with 10 times the data ... 63.55 %, still ahead of majority"."""
    record = st.compare("classify", coin(300, 0), "majority,naive-bayes", curve=True)
    assert "so nothing is said of more data" in record["verdict"]
    assert "times the data" not in record["verdict"]
    assert not any("with more data" in words for words in footnotes(record, CARD))


def rung(model: str, value: float, low: float, high: float) -> dict:
    """A rung of a curve, with what ten times the data would give."""
    predicted = [{"times": 10, "value": value, "low": low, "high": high}]
    return {"model": model, "predicted": predicted, "why": None}


def test_still_ahead_names_only_those_whose_interval_lies_below():
    curve = {"rungs": [rung("linear", 0.9, 0.85, 0.95), rung("naive-bayes", 0.86, 0.8, 0.92)]}
    curve["rungs"].append(rung("markov-bayes", 0.7, 0.6, 0.8))
    cross = {"first": "linear", "second": "naive-bayes", "at": 900, "sure": 0.9, "lead": True}
    curve |= {"crossings": [cross | {"told": False, "words": "WORDS"}], "sizes": [100]}
    rows = [scored(each, 0.8, above_floor=True) for each in ("linear", "naive-bayes")]
    said = more_data(curve, rows, ACCURACY, "majority")
    assert said.endswith("still ahead of markov-bayes.") and "naive-bayes" not in said
    curve["crossings"][0]["told"] = True
    assert "WORDS" in more_data(curve, rows, ACCURACY, "majority")
    rows[0]["above_floor"] = False
    assert "with 10 times" not in more_data(curve, rows, ACCURACY, "majority").lower()


def test_a_prediction_has_the_chance_in_the_test():
    law = fitted([10, 20, 40, 80], [0.5, 0.4, 0.33, 0.29], [0.01, 0.01, 0.01, 0.01])
    alone, with_test = law.predicted(160), law.predicted(160, 0.1)
    assert alone.value == with_test.value
    assert with_test.high - with_test.low > 0.2 > alone.high - alone.low


# -- a test that is given


def table(path, many: int, seed: int):
    """A file of coin flips."""
    rows = zip(*coin(many, seed))
    path.write_text("text\tlabel\n" + "".join(f"{a}\t{b}\n" for a, b in rows))
    return path


def test_of_a_given_test_a_part_of_the_training_data_chooses_and_it_is_repeated(tmp_path):
    """It chose on the test; --repeat said "Received: test"; the command had lost --test."""
    train, test = table(tmp_path / "a.tsv", 400, 0), table(tmp_path / "b.tsv", 90, 1)
    test.write_text(test.read_text() + "".join(test.read_text().splitlines(True)[1:21]))
    asked = ("classify", train, "--test", test, "--models", "majority,naive-bayes")
    first = seriatim("compare", *asked, "--format", "json", "--out", tmp_path / "out").record
    assert first["chosen_on"] == "validation" and first["validated_on"] >= 20
    assert "It was chosen on the validation data" in first["verdict"]
    assert f"--test {test}" in first["command"]
    assert first["test_copies"] >= 20 and first["test_sequences"] == 110
    assert any("of the 110 sequences of the test" in each for each in footnotes(first, CARD))
    again = seriatim("compare", "--repeat", tmp_path / "out", "--out", tmp_path / "b")
    assert again.code == 0 and "Received" not in again.err
    other = seriatim("compare", "--repeat", tmp_path / "out", "--test", train)
    assert other.code and "another test_fingerprint" in other.err
    few = st.compare("classify", (["a"] * 40, ["x", "y"] * 20), "majority", test=coin(40, 0))
    assert few["chosen_on"] == "test"  # nothing can be held out


# -- what is tried, and what is a part


def test_a_first_trial_that_compiles_has_time_to_and_is_no_measure(monkeypatch):
    """`joint` takes a second and "would take more than 4 s, and has 2.0 s here": it compiled."""
    options = CompareOptions(models="majority,naive-bayes", minutes=0.7)
    under_way = Comparison(CARD, options, {})
    under_way.budget = Budget(0.7, -41.0, 0, clock=lambda: 0.0)  # no time is left
    asked = []

    def tried(name, parts, share, limit):
        """The first time takes seven seconds."""
        asked.append(limit)
        return share, 7.0 if len(asked) == 1 else 0.01

    monkeypatch.setattr(under_way, "tried", tried)
    assert under_way.too_slow("naive-bayes", [(None, None, None)]) == ""
    assert asked[0] == FIRST and set(asked[1:]) == {CHEAP}
    under_way.budget = Budget(0.7, 0.0, 0, clock=lambda: 0.0)
    assert under_way.first_time(2.0) > 9  # a quarter of what is left


def test_scoring_is_timed_when_it_is_warm(monkeypatch):
    """A first call that compiled was taken for the speed, and 5 % of the test were scored."""
    clock = [0.0]
    under_way = Comparison(task("language"), CompareOptions(models="rnn", minutes=1), {})
    under_way.budget = Budget(1.0, 0.0, 1, clock=lambda: clock[0])

    class Slow:
        """It takes three seconds the first time, then a microsecond a symbol."""

        def measure(self, data):
            clock[0] += 3.0 if clock[0] == 0 else 1e-6 * len(data.main.flat)

    monkeypatch.setattr(trials, "untrained", lambda *given: Slow())
    text = st.read("markov:length=60000")
    ((_, _, test),) = under_way.affordable([(None, text, text)])
    assert under_way.test_share == 1.0 and len(test.main.flat) == 60_000


def test_the_interval_of_a_part_knows_what_its_beginnings_cost():
    """Ten pieces of a log, each begun in the middle of a line, were dearer than all of it."""
    rng = np.random.default_rng(0)
    loss = rng.normal(1.0, 0.05, 10_000)
    for begin in range(0, 10_000, 1000):
        loss[begin : begin + 20] += 2.0
    cost = cost_of_beginnings(loss, 10)
    assert cost == pytest.approx(10 * 20 * 2.0 / 10_000, rel=0.05)
    assert cost_of_beginnings(loss, 1) == 0 and cost_of_beginnings(np.tile(loss, 10), 10) == 0
    assert cost_of_beginnings(np.ones(10_000), 10) == 0


# -- what counts, and what counts once


def test_neighbouring_symbols_of_a_stream_are_no_items():
    """30 characters were "30 items", and stood in training word for word: "seen in training 0.0"."""
    once = "It was late, and the rain had stopped. A dog looked at the clock as if it could read; "
    record = st.compare("language", (once * 4)[:300], "unigram,markov", minutes=1)
    assert record["measured_on"] == 1 and record["measured_in"] == "blocks of 20 symbols"
    assert record["verdict"].startswith(
        "Too little test data for a verdict (1 block of 20 symbols)"
    )
    assert record["rows"][0]["protocol"]["seen_in_training"] is None
    assert record["rows"][1]["against"]["word"] == "undecided"


def test_networks_that_are_counting_alone_are_counted_once():
    """Eight networks answered with `linear` alone, and stood there as eight models."""
    alone = {
        "beside": "linear",
        "beside_alone": True,
        "unfinished": True,
        "updates": 3,
        "epochs": 1,
    }
    rows = [scored("linear", 0.9, log_loss=0.2)]
    rows += [scored(each, 0.9, log_loss=0.2, **alone) for each in ("mean", "gru")]
    rows += [scored("majority", 0.5, log_loss=0.7, against={"word": "better"})]
    words = verdict(rows, ACCURACY, 900, floor="majority")
    assert "mean, gru: linear alone, the same model, counted once." in words
    assert words.startswith("linear predicts this data best") and "Unfinished" not in words
    more = dict.fromkeys(("interval", "seconds", "parameters", "size_bytes"), 1)
    more |= {"interval": {"accuracy": None}, "symbols_per_second": 1, "tied": False}
    cell = cells_of(2, rows[1] | more, CARD.figures)
    assert cell["model"].plain == "mean (linear alone)" and cell[""] == "~"


def test_what_patience_ended_before_its_updates_is_said():
    rows = [scored("gru", 0.9, stopped="patience", updates=12), scored("linear", 0.9)]
    record = {"minutes": None, "rows": rows}
    assert stopped_by_patience(record) == ["stopped by patience: gru after 12 updates"]
    assert not stopped_by_patience(record | {"minutes": 3})


def test_of_equal_accuracies_the_log_loss_is_told():
    """The interval of the difference had no width, and nothing more was said."""
    data = rare(300, 3)
    first, second = (st.fit("classify", "naive-bayes", data, add=add) for add in (1.0, 0.1))
    found = first.evaluate(data, against=second)["against"]
    assert found["difference"] == 0 and found["word"] == "undecided"
    assert "accuracy +0.00% (the same on every part of the data)" in found["words"]
    assert "; log loss +0." in found["words"]


def test_the_record_has_no_verdict_on_what_is_unfinished():
    rows = [row("linear", 0.9, 0.9, 0.1), row("gru", 0.5, 0.5, 0.7, unfinished=True)]
    judge = Judgement(ACCURACY, 0.01, LOG_LOSS)
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=200)
    for each, wrong in (("linear", 0.1), ("gru", 0.5)):
        answers = np.where(rng.random(200) < wrong, 1 - truth, truth)
        arrays = {"loss": np.ones(200), "truth": truth, "answers": answers}
        judge.measured[each] = [Measured(arrays, {"by": "line"})]
    judge.judge(rows)
    assert rows[1]["against"]["word"] == "unfinished" and rows[1]["against"]["difference"] > 0


def test_where_there_are_no_intervals_nothing_speaks_of_them():
    """Three series: "value low high" with three equal numbers, and "as a line" of no lines."""
    more = {"parameters": 1, "size_bytes": 1, "symbols_per_second": 1, "weights": None}
    rows = [scored(each, 0.9, interval={}, log_loss=0.1, **more) for each in ("linear", "majority")]
    record = {"figure": "accuracy", "higher_is_better": True, "rows": rows, "measured_on": 3}
    assert not with_intervals(record)
    assert without_intervals(record) == ["no intervals: 3 items are too few"]
    assert "95 %" not in columns(record, CARD.figures, 160)
    assert "interval" not in said_of_marks(record, [{"state": "", "model": "linear", "value": 0.9}])
    rows[0]["interval"] = {"accuracy": [0.8, 0.95]}
    assert "95 %" in columns(record, CARD.figures, 160) and not without_intervals(record)


def test_the_naive_forecast_is_not_tested_against_itself():
    """Rounding alone gave a Diebold-Mariano statistic of -0.77."""
    x = np.cumsum(np.random.default_rng(0).normal(size=120))
    model = st.fit("forecast", "persistence", x[:90], horizon=3)
    record = model.evaluate(x, begin="90")
    assert record["against_naive"] == {"skill": 0.0, "diebold_mariano": 0.0, "p": 1.0}
    assert "it is the naive forecast" in in_letters(forecast_figures(record))


def test_a_network_that_had_nothing_to_add_is_not_chosen_before_what_answers():
    figures = task("classify")
    rows = [
        scored("mean", 0.85) | {"beside": "linear", "beside_alone": True, "valid_ties": 0.51947},
        scored("linear", 0.85) | {"valid_ties": 0.51953},
    ]
    rows = [row | {"valid": 0.85, "weights": None} for row in rows]
    judgement = Judgement(
        figures.figures[0], 0.01, ties=figures.figure("log_loss"), ladder={"linear": 1, "mean": 2}
    )
    assert judgement.chosen(rows, "valid")["model"] == "linear"
    assert judgement.equals == ["mean"] and "ladder" in judgement.equals_by
