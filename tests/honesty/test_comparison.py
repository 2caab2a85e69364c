"""Findings 1, 17 and 20: what a fit saw, time that is kept, comparisons that go on."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial

import pytest

import seriatim as st
from seriatim.comparison import running, trials
from seriatim.comparison.budget import CHEAP, SHORTEST, Budget, projected
from seriatim.comparison.running import Comparison
from seriatim.errors import ConfigError
from seriatim.fitting_options import CompareOptions
from seriatim.models.ngrams.ngram import Ngram
from seriatim.progress import exhausted
from seriatim.show.progress import Watcher
from seriatim.tasks import task
from seriatim.tasks.autoencode import likelihood
from seriatim.tasks.autoencode import predictor as autoencode
from seriatim.training.ending import Ending, improving
from seriatim.training.trials import choose_looks
from seriatim.verdict import verdict
from tests.honesty import seriatim
from tests.training.test_loop import loop

TINY = ("--width", 8, "--validations", 4)
BOOK = "the cat sat on the mat and the dog ate the hat of a man who ran to the van\n"


@pytest.fixture
def book(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "book.txt").write_text(BOOK * 100)
    return tmp_path / "book.txt"


class FakeClock:
    """Time that passes only where the test says so."""

    def __init__(self):
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_network_after_two_updates_is_marked_everywhere(book):
    """Finding 1: gru and transformer were ranked after 2 updates, and nothing told."""
    said = seriatim(
        *("compare", "language", book, "--models", "unigram,lstm", "--updates", 2, *TINY),
        *("--out", "out", "--format", "json"),
    )
    rows = {row["model"]: row for row in said.record["rows"]}
    assert rows["lstm"]["updates"] == 2 and rows["lstm"]["unfinished"] is True
    assert 0 < rows["lstm"]["epochs"] < 1 and rows["lstm"]["symbols_seen"] > 0
    assert rows["unigram"]["unfinished"] is None
    assert "Unfinished" in said.record["verdict"] and "lstm" in said.record["verdict"]
    assert "lstm (unfinished)" in (book.parent / "out/report.html").read_text()


def test_the_table_shows_updates_and_marks_what_is_unfinished(book):
    """Finding 1: neither the table nor the report had updates or epochs."""
    table = seriatim(
        *("compare", "language", book, "--models", "unigram,lstm", "--updates", 2, *TINY)
    ).out
    row = next(line for line in table.splitlines() if " lstm " in line)
    assert row.startswith("~") and " 2 " in row and "updates" in table.splitlines()[1]


def test_a_fit_ends_with_what_it_saw_and_why_it_ended(book):
    """Finding 17: a fit of 35 updates ended like a success."""
    said = seriatim(*("fit", "language", "lstm", book, "--updates", 5, *TINY, "--out", "run"))
    assert said.err.splitlines()[-1].startswith("5 updates, ")
    assert "still improving: more --updates would help" in said.err
    record = json.loads((book.parent / "run/metrics.json").read_text())
    assert record["updates"] == 5 and record["stopped"] == "updates" and record["unfinished"]


def test_a_fit_that_patience_ended_says_so(book):
    """Finding 17: patience ended a fit at 68 % without a word."""
    said = seriatim(
        *("fit", "language", "lstm", book, "--updates", 4000, "--patience", 1, "--rate", 3),
        *("--optimiser", "sgd", "--clip", 0, "--validations", 400, "--width", 8, "--out", "run"),
    )
    assert "stopped early" in said.err.splitlines()[-1] and "--patience" in said.err


def test_what_validation_looks_at_has_a_name(book):
    """Finding 20: progress said `valid 0.342`, without saying of what."""
    said = seriatim(*("fit", "language", "lstm", book, "--updates", 5, *TINY, "--out", "run"))
    assert "nats per token" in said.out and "valid " not in said.out


def test_an_old_look_at_validation_data_says_when_it_was():
    """Finding 17: "valid 6.290" was shown from 10 % to 93 %."""
    watcher = Watcher()
    watcher.see({"event": "part", "model": "gru", "parts": 1})
    watcher.see({"event": "validation", "best": 6.29, "said": "nats per token 6.290", "share": 0.1})
    step = {"event": "step", "loss": 2.0, "remaining": 9.0, "seconds": 1.0}
    for share, told in ((0.15, ""), (0.93, " (at 10 %)")):
        watcher.see(step | {"share": share})
        words = f"loss 2.000  nats per token 6.290{told}  9 s left"
        assert watcher.progress.tasks[0].fields["words"] == words


def test_what_an_autoencoder_does_after_its_time_is_announced_and_bounded(monkeypatch):
    """Finding 17: `--minutes 6` took 8 min 18 s: what came after 100 % was silent, and read all."""
    heard: list[dict] = []
    read: list[int] = []
    vectors = likelihood.vectors

    def counted(model, samples):
        read.append(len(samples))
        return vectors(model, samples)

    for module in (likelihood, autoencode):
        monkeypatch.setattr(module, "vectors", counted)
        monkeypatch.setattr(module, "MOST_READ_AGAIN", 300)
    asked = {"model": "gru", "updates": 2, "width": 8, "latent": 2}
    st.call("fit", "autoencode", "sentences:count=400", listen=heard.append, **asked)
    end = next(i for i, event in enumerate(heard) if event["event"] == "end")
    assert "looking at the vectors" in {event.get("words") for event in heard[end:]}
    assert max(read[-2:]) <= 150  # of 380 that were learned from


def test_seconds_in_all_are_those_of_the_clock(book):
    """Finding 20: "4 s in all" when the clock said 45 s: start-up was left out."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "seriatim", "fit", "language", "unigram", "book.txt"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=book.parent, check=True)
    whole = time.perf_counter() - begin
    told = float(done.stdout.split(" s in all")[0].split()[-1])
    assert 0.6 * whole < told + 0.3 and told <= whole + 0.1


@pytest.mark.parametrize(
    ("ending", "symbols", "unfinished"),
    [
        (Ending(2, 0.01, 10, "minutes", None), 10**5, True),
        (Ending(5000, 0.4, 10, "minutes", True), 10**5, True),  # has not seen small data once
        (Ending(5000, 0.4, 10, "minutes", True), 10**8, False),  # much data need not be seen whole
        (Ending(5000, 4.0, 10, "minutes", True), 10**5, False),
        (Ending(40, 20.0, 10, "epochs", False), 10**3, False),  # tiny data, seen often enough
        (Ending(40, 20.0, 10, "epochs", True), 10**3, True),
        (Ending(60, 0.2, 10, "patience", False), 10**5, False),
    ],
)
def test_when_a_network_is_unfinished(ending, symbols, unfinished):
    assert ending.unfinished(symbols) is unfinished


def test_improving_is_what_the_last_looks_gained():
    assert improving([3.0, 2.0]) is None
    assert improving([3.0, 2.5, 2.2, 2.0]) is True
    assert improving([3.0, 2.5, 2.2, 2.2]) is False
    assert improving([3.0, 2.0, 2.2, 2.4]) is False


@pytest.mark.parametrize("slowness", [1.0, 3.0])
def test_a_comparison_ends_in_time_whoever_else_uses_the_machine(slowness):
    """Finding 1: 372 s for 180; gru 71 s for its 25."""
    clock = FakeClock()
    clock.now = 9.0  # start-up, reading and counting
    budget, slots = Budget(3.0, 0.0, 6, clock=clock), []
    for _ in range(6):
        budget.begin()
        begin = clock.now
        clock.now += 0.4 * slowness  # building, and the trial
        clock.now += 60 * budget.minutes(scoring=1.1 * slowness)
        budget.learned()
        clock.now += 1.3 * slowness
        budget.scored()
        slots.append(clock.now - begin)
    clock.now += 2.0  # the page
    assert 0.9 * 180 <= clock.now <= 1.1 * 180
    assert max(slots) < 1.1 * budget.share and min(slots) > 0.9 * budget.share


def test_a_test_that_takes_too_long_to_score_is_cut_for_all():
    """Finding 1: on a busy machine scoring took longer than learning."""
    clock = FakeClock()
    budget = Budget(3.0, 0.0, 6, clock=clock)
    assert budget.affordable(2.0) == 1.0
    share = budget.affordable(58.0)
    assert 0.05 < share < 0.2 and 58.0 * share < 0.21 * 30
    assert budget.affordable(10_000.0) == 0.05  # and that is said under the table


def test_what_a_network_leaves_unused_is_not_given_to_the_next():
    clock = FakeClock()
    budget = Budget(3.0, 0.0, 3, clock=clock)
    budget.begin()
    clock.now += 5.0  # patience
    budget.begin()
    assert budget.slot[1] - budget.slot[0] == pytest.approx(budget.share)


def test_fewer_networks_learn_where_slots_would_be_too_short():
    """Beside busy programs counting left half a second to each: fits took twice their share."""
    clock = FakeClock()
    clock.now = 48.0
    budget, slots = Budget(1.0, 0.0, 6.35, clock=clock), 0  # 60 s, 8.2 left before the report
    while not budget.dealt_out():
        budget.begin()
        assert budget.slot[1] - budget.slot[0] >= SHORTEST
        clock.now = budget.slot[1]
        slots += 1
    assert slots == 3 and clock.now <= 60 - budget.report + 1e-9
    roomy = Budget(1.0, 0.0, 6.35, clock=FakeClock())
    roomy.begin()
    assert roomy.left == pytest.approx(5.35)


def test_a_trial_of_counting_ends_when_it_has_told_enough(monkeypatch):
    """`lags-boosting` was tried for 182 s of a comparison of 60, to say that it takes too long."""
    clock, seen = FakeClock(), []

    def endless(*given, **asked):
        try:
            while True:
                clock.now += 1.0
                seen.append("one more")
                yield {"event": "progress"}
        finally:
            seen.append("closed")

    monkeypatch.setattr(trials, "fit_events", endless)
    found = Comparison(task("classify"), CompareOptions(minutes=1.0), {})
    found.budget = Budget(1.0, 0.0, 6, clock=clock)
    data = st.read("python-lines:lines=1000")
    share, seconds = found.tried("naive-bayes", (None, data, data), 0.25, 4.0)
    assert 0.2 < share < 0.3 and seconds == 5.0
    assert seen == [*["one more"] * 5, "closed"]


@pytest.mark.parametrize(
    ("trials", "seconds"),
    [
        ([(1 / 64, 0.5)], 32.0),
        ([(1 / 64, 0.5), (1 / 16, 0.5)], 0.5),  # nothing but its start
        ([(0.0625, 1.0), (0.25, 1.75)], 4.75),
        ([(0.0625, 1.0), (0.25, 16.0)], 256.0),  # grows with the square
        ([(0.0625, 0.0), (0.25, 1.0)], 5.0),
    ],
)
def test_how_long_counting_would_take(trials, seconds):
    assert projected(trials) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("start", "reading", "status"),
    [(0.0, 2.0, "ok"), (4.0, 6.0, "ok"), (0.0, 90.0, "not run"), (1.0, 40.0, "not run")],
)
def test_counting_keeps_its_share_of_the_time(book, monkeypatch, start, reading, status):
    """lags-boosting took 25 s of a comparison of 24 s: models that count had no limit."""
    clock = FakeClock()
    counting = Ngram.counting
    begun: list[bool] = []

    def slow(self, train, **options):
        clock.now += 0.0 if begun else start  # compiling, importing
        begun.append(True)
        clock.now += reading * len(train.flat) / (0.85 * len(BOOK) * 100)
        return counting(self, train, **options)

    monkeypatch.setattr(Ngram, "counting", slow)
    monkeypatch.setattr(running, "Budget", partial(Budget, clock=clock))
    options = CompareOptions(models="uniform,kneser-ney", minutes=0.7)
    found = Comparison(task("language"), options, {})
    found.begin = 0.0
    rows = {row["model"]: row for row in exhausted(found.run(book))["rows"]}
    assert rows["uniform"]["status"] == "ok"
    assert rows["kneser-ney"]["status"] == status and clock.now < 1.1 * 42
    if status != "ok":
        reason = rows["kneser-ney"]["reason"]
        assert re.search(rf"about {reading:.0f} s, and has \d", reason)
        assert "--minutes" in reason and "--models kneser-ney" in reason
    for alone in ({"epochs": 1}, {}):  # not by the clock; not beside others
        models = "kneser-ney,lstm" if alone else "kneser-ney"
        free = Comparison(task("language"), CompareOptions(models=models, minutes=0.1), alone)
        assert free.limited or len(free.names) == 1
        free.budget = free.planned_budget(None)
        assert free.too_slow("kneser-ney", []) == ""


def test_cheap_counting_is_never_refused():
    """However little time is left: the simple rules are what all others are measured by."""
    clock = FakeClock()
    budget = Budget(0.4, 0.0, 6, clock=clock)
    clock.now = 30.0  # a busy machine: reading took longer than all was to
    assert budget.counting(8) == CHEAP


def test_slow_counting_of_series_is_tried_on_some_of_them(tmp_path):
    rows = [
        f"{name},2024-{m:02}-{d:02},{d}" for name in range(40) for m in (4, 5) for d in range(1, 31)
    ]
    (tmp_path / "a.csv").write_text("\n".join(["unique_id,ds,y", *rows]))
    data = st.read(str(tmp_path / "a.csv"), series="unique_id")
    cut = task("forecast").cut
    _, train, test = cut.divide(cut.sequences(data))
    few, some = cut.tried_on(train, test, 1 / 16)
    names = [
        {each.field("name").symbol_names[i] for i in each.field("name").flat}
        for each in (few, some)
    ]
    assert len(few) == len(some) == 2 and names[0] == names[1]
    few, some = cut.tried_on(train[:1], test[:1], 1 / 4)
    assert len(few.main.flat) == 12 and len(some.main.flat) == 15


def test_looking_at_validation_data_takes_a_twentieth_of_the_time(monkeypatch):
    """Finding 1: two looks took 55 of 71 s; the first came after update 1 whatever it cost."""
    clock, looking = FakeClock(), []
    trial = loop(minutes=2.0, validations=12)
    update = trial.update

    def validate(model):
        trial.lesson.share_read = trial.lesson.judged_share
        cost = 20.0 * trial.lesson.judged_share  # seconds of a look at all of it
        looking.append(cost)
        clock.now += cost
        return 1.0

    def slow(batch, rate):
        clock.now += 2.0
        return update(batch, rate)

    monkeypatch.setattr(time, "perf_counter", clock)
    monkeypatch.setattr(trial.lesson, "validate", validate)
    monkeypatch.setattr(trial, "update", slow)
    events = list(trial.run())
    looks = [event for event in events if event["event"] == "validation"]
    assert len(looks) == trial.progress.many_looks >= 4
    assert sum(looking) < 0.1 * 120 and clock.now < 1.05 * 120
    assert events[-1]["stopped"] == "minutes"


def test_of_little_validation_data_looks_are_not_thought_dearer_than_they_are(monkeypatch):
    """Half of the data was read where a 64th was asked for, and taken for a 64th."""
    clock, trial = FakeClock(), loop(minutes=2.0, validations=12)

    def validate(model):
        trial.lesson.share_read = max(0.5, trial.lesson.judged_share)
        clock.now += 1.6 * trial.lesson.share_read  # of all of it 1.6 s
        return 1.0

    monkeypatch.setattr(time, "perf_counter", clock)
    monkeypatch.setattr(trial.lesson, "validate", validate)
    (chosen,) = choose_looks(trial)
    assert chosen["looks"] == 12 and chosen["judged_share"] == 0.5
    assert trial.schedule.looking == pytest.approx(0.8)


def test_a_comparison_that_was_left_goes_on_and_keeps_its_rows(book, tmp_path):
    """Findings 1 and 31: a comparison could not be resumed, and its folder was refused."""
    out = tmp_path / "out"
    settings = {"updates": 6, "width": 8}
    options = CompareOptions(models="unigram,lstm,rnn", out=str(out))
    events = Comparison(task("language"), options, settings).run(book)
    for event in events:
        if (event["event"], event.get("model")) == ("begin", "rnn"):
            break
    events.close()
    rows = json.loads((out / "table.json").read_text())["rows"]  # there is a table at every moment
    assert {row["model"] for row in rows} == {"unigram", "lstm"}
    kept = (out / "runs/lstm/weights.safetensors").stat().st_mtime_ns
    asked = ("compare", "language", book, "--models", "unigram,lstm,rnn", "--width", 8)
    assert seriatim(*asked, "--updates", 6, "--out", out).code == 1  # not silently over it
    assert "other settings" in seriatim(*asked, "--updates", 7, "--out", out, "--resume").err
    said = seriatim(*asked, "--updates", 6, "--out", out, "--resume", "--format", "json")
    assert said.code == 0 and {row["status"] for row in said.record["rows"]} == {"ok"}
    assert len(said.record["rows"]) == 3
    assert (out / "runs/lstm/weights.safetensors").stat().st_mtime_ns == kept


@pytest.mark.slow
def test_a_comparison_that_was_killed_goes_on(book, tmp_path):
    asked = [sys.executable, "-m", "seriatim", "compare", "language", str(book), "--out", "out"]
    asked += ["--models", "unigram,lstm,rnn", "--minutes", "0.4", "--width", "16"]
    process = subprocess.Popen(asked, cwd=tmp_path, stderr=subprocess.DEVNULL)
    while not (tmp_path / "out/rows/lstm.json").exists():
        time.sleep(0.1)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    rows = json.loads((tmp_path / "out/table.json").read_text())["rows"]
    assert "unigram" in {row["model"] for row in rows}
    done = subprocess.run([*asked, "--resume"], cwd=tmp_path, capture_output=True, check=True)
    assert b"rnn" in done.stdout


def test_official_parts_are_taken_as_they_are(book, tmp_path):
    (tmp_path / "valid.txt").write_text(BOOK * 5)
    (tmp_path / "test.txt").write_text("the man ate the mat\n" * 7)
    said = seriatim(
        *("compare", "language", book, "--valid", "valid.txt", "--test", "test.txt"),
        *("--models", "unigram,kneser-ney", "--out", "out", "--format", "json"),
    )
    assert said.record["split"] == "given"
    (row, *_) = [row for row in said.record["rows"] if row["model"] == "unigram"]
    alone = st.fit("language", "unigram", book).evaluate(tmp_path / "test.txt")
    assert row["bits_per_character"] == pytest.approx(alone["bits_per_character"])


def test_python_and_the_command_line_cut_a_text_alike(book):
    """The README's Python order moved kneser-ney on tiny Shakespeare from 2.200 to 2.427."""
    rows = seriatim(
        *("compare", "language", book, "--models", "kneser-ney", "--out", "out"),
        *("--format", "json"),
    ).record["rows"]
    train, _, test = st.split("language", book)
    found = st.fit("language", "kneser-ney", train).evaluate(test)
    assert found["bits_per_character"] == pytest.approx(rows[0]["bits_per_character"])


def scored(model: str, value: float, **more) -> dict:
    return {"model": model, "status": "ok", "accuracy": value, "seconds": 1.0, "tied": False} | more


def test_a_verdict_rests_on_enough_and_recommends_nobody_who_was_not_shown_equal():
    """A stranger: 12 test items, 'linear predicts this data best ... the quickest is majority'."""
    figure = task("classify").figures[0]
    alike = {"word": "undecided", "difference": 0.1, "low": -0.1, "high": 0.3}
    rows = [scored("linear", 0.9), scored("majority", 0.8, tied=True, against=alike)]
    few, many = (verdict(rows, figure, items) for items in (12, 1200))
    assert few.startswith("Too little test data for a verdict (12)")
    assert many.startswith("linear comes first, and others may") and "quickest" not in few + many
    apart = [rows[0], scored("majority", 0.8, against=alike | {"word": "better"})]
    assert verdict(apart, figure, 1200).startswith("linear predicts this data best")
    assert "Undecided on this test, a larger one might tell: majority" in many
    missing = {"model": "hmm", "status": "not run", "reason": "slow", "accuracy": None}
    assert "Without a figure: hmm (not run)" in verdict([*rows, missing], figure, 1200)
    ahead = [scored("gru", 0.9, unfinished=True, updates=7, stopped="epochs")]
    assert "gru, unfinished, is the only model with a figure" in verdict(ahead, figure, 1200)
    words = verdict([*ahead, scored("linear", 0.8)], figure, 1200)
    assert words.startswith("gru, unfinished, is ahead so far") and "more --epochs" in words
    still = [scored("gru", 0.9, improving=True, updates=700)]
    assert "Still improving when they ended: gru" in verdict(still, figure, 1200)


def test_a_fit_that_the_clock_ended_long_before_its_recipe_is_unfinished():
    """A stranger: networks after 1.02 of 20 epochs stood at the majority's figure as finished."""
    short = Ending(900, 1.02, 10_000, "minutes", False, 20.0)
    assert short.unfinished(10_000) and "1.02 epochs of 20" in short.words()
    assert not Ending(900, 15.0, 10_000, "minutes", False, 20.0).unfinished(10_000)
    assert not Ending(900, 1.02, 10_000, "patience", False, 20.0).unfinished(10_000)


def test_a_slow_first_trial_is_no_slow_model(monkeypatch):
    """A stranger: 'most-frequent not run: it would take about 274 s', and it takes 0.0 s: the first
    trial paid for the start-up."""
    options = CompareOptions(models="majority,naive-bayes", minutes=0.5)
    under_way = Comparison(task("classify"), options, {})
    seconds = iter([4.3, 0.02, 0.03, 0.05])
    monkeypatch.setattr(
        under_way, "tried", lambda name, parts, share, limit: (share, next(seconds))
    )
    seconds, about = under_way.expected("majority", [None], 2.0)
    assert seconds <= 2.0 and about == "about"
    slow = iter([5.0, 5.0, 20.0])
    monkeypatch.setattr(under_way, "tried", lambda name, parts, share, limit: (share, next(slow)))
    assert under_way.expected("majority", [None], 2.0) == (5.0, "more than")  # not 64 times that


def test_examples_on_which_two_models_disagree_are_no_copies_and_no_agreements(book):
    """A stranger: rows where both said the same, and one of them twice."""
    lines = [("good", "fine nice day"), ("bad", "dark cold night"), ("good", "cold but nice")] * 30
    text = "label\ttext\n" + "".join(
        f"{label}\t{words} {i % 7}\n" for i, (label, words) in enumerate(lines)
    )
    file = book.parent / "mail.tsv"
    file.write_text(text)
    found = st.compare("classify", str(file), "majority,naive-bayes")["disagreements"]
    given = [each["given"] for each in found["items"]] if found else []
    assert len(set(given)) == len(given)
    for each in found["items"] if found else []:
        assert each["first"].split(" (")[0] != each["second"].split(" (")[0]


def test_the_test_of_a_long_text_comes_from_all_of_it(tmp_path):
    """A referee: one place of the text, so that the last chapter decides."""
    lines = [f"chapter {i // 1000} line {i % 1000} says {i * 7919 % 1000}\n" for i in range(20_000)]
    file = tmp_path / "long.txt"
    file.write_text("".join(lines))
    train, valid, test = st.split("language", str(file))
    whole, parts = file.read_text(), [each[0]["text"] for each in (valid, train, test)]
    for part in (parts[0], parts[2]):
        assert len(set(re.findall(r"chapter (\d+)", part))) >= 10
    assert sum(map(len, parts)) < len(whole)  # gaps that nobody reads
    asked = re.findall(r"chapter \d+ line \d+ says \d+\n", parts[2])
    known = set(re.findall(r"chapter \d+ line \d+ says \d+\n", parts[1]))
    assert len(asked) > 1000 and not known & set(asked)
    assert (
        st.fit("language", "kneser-ney", train).evaluate(test)["protocol"]["seen_in_training"] == 0
    )


def test_the_winner_is_chosen_on_validation_data_and_mixed(book):
    """A referee: the best was chosen on the test and then tested against all."""
    record = st.compare("language", book, updates=30, width=16, threads=1)
    rows = {row["model"]: row for row in record["rows"]}
    mixed = [row for row in record["rows"] if row["weights"]]
    assert len(mixed) == 1 and "+" in mixed[0]["model"]
    assert sum(mixed[0]["weights"]) == pytest.approx(1)
    assert record["chosen_on"] == "validation"
    alone = {name: row["valid"] for name, row in rows.items() if not row["weights"]}
    best, mixture = min(alone, key=lambda name: alone[name]), mixed[0]
    margin = record["margin"] * alone[best]
    expected = mixture["model"] if mixture["valid"] < alone[best] - margin else best
    assert record["rows"][0]["model"] == expected
    kept = record["recommendation"]["best"]  # no mixture that is unfinished, or worse on the test
    assert kept == expected or (kept in expected.split("+") and record["recommendation"]["why"])
    assert {each["name"] for each in record["references"]} == {"bz2", "xz"}
    finished = [row for row in record["rows"][1:] if not row["unfinished"]]
    assert all(row["against"]["word"] for row in finished)


def test_seeds_and_units_are_compared_in_one_table(book):
    asked = {"updates": 12, "width": 8, "threads": 1}
    record = st.compare("language", book, "unigram,rnn", seeds=3, **asked)
    rows = {row["model"]: row for row in record["rows"]}
    assert rows["unigram"]["by_seed"] is None and len(set(rows["rnn"]["by_seed"])) == 3
    mean = sum(rows["rnn"]["by_seed"]) / 3
    assert rows["rnn"]["bits_per_character"] == pytest.approx(mean)
    low, high = rows["rnn"]["interval"]["bits_per_character"]
    assert low < min(rows["rnn"]["by_seed"]) and high > max(rows["rnn"]["by_seed"])
    record = st.compare("language", book, "unigram,kneser-ney", units="character,word")
    names = {row["model"] for row in record["rows"]}
    assert names == {
        f"{model}@{unit}" for model in ("unigram", "kneser-ney") for unit in ("character", "word")
    }
    with pytest.raises(ConfigError, match="not the same for every unit"):
        st.compare("translate", "dates:count=100", units="character,word")
