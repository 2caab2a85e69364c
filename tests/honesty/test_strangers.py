"""What strangers met later: words that a table did not bear out, columns taken for what they are not."""

from __future__ import annotations

import json

import numpy as np
import pytest

import seriatim as st
from seriatim.comparison.time_curve import course_of
from seriatim.errors import DataError
from seriatim.leaderboard import beside_networks, footnotes
from seriatim.measuring.judging import judged
from seriatim.tasks import task
from seriatim.training.ending import Ending
from seriatim.verdict import not_above, verdict
from tests.honesty import seriatim
from tests.honesty.test_comparison import scored

MODELS = "persistence,seasonal,mean"


def walk(path, rows=150, header="day,price"):
    """A random walk, with a column that counts the rows."""
    steps = np.random.default_rng(0).normal(size=rows).cumsum() + 100
    lines = [f"{i},{value:.3f}" for i, value in enumerate(steps)]
    path.write_text(f"{header}\n" + "\n".join(lines) + "\n")
    return path


def test_a_column_that_counts_the_rows_is_no_channel(tmp_path):
    said = seriatim(
        "fit", "forecast", "persistence", walk(tmp_path / "a.csv"), "--out", tmp_path / "run"
    )
    assert "column 'day' counts the rows and is left out" in said.err
    assert "channels 'price'" in said.err and "150 rows" in said.err
    alone = tmp_path / "b.csv"
    alone.write_text("day\n" + "\n".join(map(str, range(150))) + "\n")
    assert "channels 'day'" in seriatim("check", alone).err + said.err.replace("price", "day")


def test_series_are_found_where_times_repeat(tmp_path):
    rows = [f"{s},2024-01-{d:02d},{d + len(s)}" for s in ("north", "south") for d in range(1, 29)]
    (tmp_path / "a.csv").write_text("shop,date,sold\n" + "\n".join(rows) + "\n")
    said = seriatim("fit", "forecast", "drift", tmp_path / "a.csv", "--horizon", 3)
    assert "series 'shop', channels 'sold', 2 series" in said.err


def test_gaps_are_counted_over_all_series_and_what_fills_them_is_told(tmp_path):
    rows = [
        f"{s},2024-01-{d:02d},{d}" for s in ("a", "b") for d in range(1, 29) if d not in (5, 6, 17)
    ]
    (tmp_path / "a.csv").write_text("series,date,sold\n" + "\n".join(rows) + "\n")
    asked = ("fit", "forecast", "drift", tmp_path / "a.csv", "--horizon", 3)
    said = seriatim(*asked)
    assert said.code and "6 rows are missing of 2 series" in said.err
    said = seriatim(*asked, "--fill", "linear")
    assert "6 of 56 values were missing and are filled" in said.err
    assert "knows the next value" in said.err


def test_what_never_changes_is_named(tmp_path):
    rows = [f"2024-01-{d:02d},5" for d in range(1, 32)] + [
        f"2024-02-{d:02d},5" for d in range(1, 29)
    ]
    (tmp_path / "a.csv").write_text("date,level\n" + "\n".join(rows) + "\n")
    said = seriatim(
        "compare", "forecast", tmp_path / "a.csv", "--models", MODELS, "--out", tmp_path / "out"
    )
    assert "never changing: level" in said.err
    assert "No model has a MASE on this data" in said.out


def test_check_understands_numbers_over_time(tmp_path):
    said = seriatim("check", walk(tmp_path / "a.csv"))
    assert not said.code and "one series of 150 steps" in said.out and "copies" not in said.out


def test_a_short_series_is_enough_for_lags(tmp_path):
    months = [
        f"{2010 + i // 12}-{i % 12 + 1:02d},{100 + i + 20 * np.sin(i * np.pi / 6):.2f}"
        for i in range(120)
    ]
    (tmp_path / "a.csv").write_text("month,sold\n" + "\n".join(months) + "\n")
    asked = {"models": "seasonal,lags-ridge", "horizon": 6, "minutes": 1}
    record = st.compare("forecast", str(tmp_path / "a.csv"), **asked)
    assert [row["status"] for row in record["rows"]] == ["ok", "ok"]
    assert record["rows"][0]["model"] == "lags-ridge"


def row(model: str, value: float, word: str = "", **more) -> dict:
    against = {"word": word, "difference": 0.1, "low": -0.1, "high": 0.2} if word else None
    found = {"model": model, "status": "ok", "accuracy": value, "seconds": 1.0, "tied": False}
    return found | {"against": against} | more


@pytest.mark.parametrize(
    ("rows", "items", "begins", "says"),
    [
        ([row("gru", 0.9), row("majority", 0.8, "undecided", tied=True)], 200,
         "gru comes first, and others may be as good", "better than majority, the floor"),
        ([row("majority", 0.9), row("gru", 0.8, "undecided")], 200, "majority", "majority is the floor"),
        ([row("hmm", 1.0), row("gru", 1.0, "equivalent")], 200, "All 2 models have the same", ""),
        ([row("hmm", 0.9), row("gru", 0.90001, "equivalent"), row("mean", 0.5, "better")], 200,
         "hmm comes first, level with gru", ""),
        ([row("gru", 0.9, unfinished=True, updates=1, stopped="minutes"), row("majority", 0.5, "undecided")],
         12, "Too little test data for a verdict (12): gru, unfinished,", "no verdict: gru"),
        ([row("majority", 0.9), row("gru", 0.8, "better", unfinished=True, updates=1, stopped="minutes")],
         200, "majority is ahead so far, and no other model is finished", ""),
    ],
)  # fmt: skip
def test_a_verdict_says_no_more_than_was_shown(rows, items, begins, says):
    words = verdict(rows, task("classify").figures[0], items, floor="majority")
    assert words.startswith(begins) and says in words
    if items < 30:
        assert "better than" not in words


def test_few_items_tell_nothing_apart_and_same_answers_are_named(tmp_path):
    rows = [
        f"{'good' if i % 2 else 'bad'} word{i % 7}\t{'yes' if i % 2 else 'no'}" for i in range(80)
    ]
    (tmp_path / "a.tsv").write_text("text\tlabel\n" + "\n".join(rows) + "\n")
    record = st.compare("classify", str(tmp_path / "a.tsv"), models="majority,naive-bayes")
    assert record["measured_on"] < 30 and record["validated_on"] < 30
    assert {each["against"]["word"] for each in record["rows"] if each["against"]} == {"undecided"}
    assert f"({record['validated_on']} items)" in record["verdict"]
    assert any("too few for a verdict" in words for words in footnotes(record, task("classify")))


def test_a_network_tells_what_counts_beside_it(tmp_path):
    """Where counting is right of everything, the network has nothing to add, and that is said."""
    rows = [
        f"{'good' if i % 2 else 'bad'} word{i % 97}\t{'yes' if i % 2 else 'no'}" for i in range(300)
    ]
    (tmp_path / "a.tsv").write_text("text\tlabel\n" + "\n".join(rows) + "\n")
    asked = ("classify", tmp_path / "a.tsv", "--models", "majority,linear,mean", "--updates", 3)
    said = seriatim("compare", *asked, "--out", tmp_path / "out")
    assert "mean: linear answers alone" in said.out
    record = json.loads((tmp_path / "out" / "table.json").read_text())
    beside = {each["model"]: each.get("beside") for each in record["rows"]}
    assert beside["mean"] == "linear" and beside["linear"] is None
    said = seriatim("fit", "classify", "mean", tmp_path / "a.tsv", "--updates", 3)
    assert "linear answers alone" in said.err and "linear alone: " in said.err
    several = [{"model": "mean", "beside": "linear"}, {"model": "gru", "beside": "linear"}]
    (words,) = beside_networks(several)
    assert words.startswith("mean, gru: what linear counts is added to what the network says")
    assert "no mixture of the best two" not in said.out


def test_figures_that_round_to_zero_have_no_sign():
    figure = task("classify").figure("log_loss")
    assert figure.write(-1e-9) == "0.0000" and figure.write(-0.25) == "-0.2500"
    assert figure.beside(-0.0) == "0.0000"


def test_a_clock_that_ends_a_fit_after_a_few_updates_leaves_it_unfinished():
    assert Ending(27, 9.0, 1000, "minutes", False).unfinished(1000)
    assert not Ending(27, 9.0, 1000, "patience", False).unfinished(1000)


def test_the_floor_is_no_floor_where_others_are_better_on_the_test():
    """ "nothing here has found more to go by" stood beside "worse than autoregression"."""
    worse = {"word": "worse", "difference": -0.1, "low": -0.2, "high": -0.05}
    best = scored("persistence", 1.0)
    other = scored("autoregression", 0.9, against=worse)
    assert "found more" not in not_above([best, other], "persistence", 100)
    assert "found more" in not_above([best, scored("theta", 1.1)], "persistence", 100)
    floor = scored("persistence", 0.9, against=worse)
    good, figure = [scored("theta", 0.7), floor], task("classify").figures[0]
    assert not not_above(good, "persistence", 100)
    words = verdict(good, figure, 100, floor="persistence")
    assert words.startswith("theta was chosen on validation data, and the test contradicts")
    assert "persistence, the floor, is better there" in words and "rely on neither" not in words


def test_the_same_answers_on_few_items_are_not_equivalence():
    """40 identical answers were "equivalent, within 1 %": three of a hundred may still differ."""
    draws, values = (
        np.tile(np.random.default_rng(0).normal(-0.9, 0.05, 50), (2, 1)),
        np.full(2, -0.9),
    )
    words = [judged(draws, values, 0, 0.01, items)[1]["word"] for items in (40, 299, 301)]
    assert words == ["undecided", "undecided", "equivalent"]


def test_a_share_is_never_predicted_above_one():
    """quality of a translator "to about 111.25" of 100."""
    points = [{"share": s, "value": v} for s, v in ((1 / 16, 60.0), (1 / 8, 80.0), (1.0, 97.0))]
    figure = task("translate").figures[0]
    found = course_of(points, figure, 97.0)["predicted"]
    assert all(97 < each["value"] <= each["high"] <= 100 for each in found)


def test_series_of_counts_have_whole_quantiles_that_hold(tmp_path):
    """Three values of four are 0: bands that ended a trace above 0 held 29 % instead of 80."""
    rng = np.random.default_rng(0)
    demand = ((rng.random(400) < 0.25) * rng.poisson(4, 400)).astype(float)
    mean = st.fit("forecast", "mean", demand[:300], horizon=5)
    found = mean.evaluate(demand, begin="300")
    assert 0.75 <= found["coverage"]["80"] <= 0.97
    assert any("to say 0 each time has MAE" in words for words in found["notes"])
    quantiles = mean.predict(demand)["items"][0]["channels"]["value"]["quantiles"]
    low = np.array(quantiles["0.1"])
    assert (low == 0).all()
    assert st.fit("forecast", "mean", demand[:300] + 0.5, horizon=5).codec.counts == []


def test_what_went_before_may_be_any_data_and_infinite_numbers_are_named():
    x = np.cumsum(np.random.default_rng(0).normal(size=120))
    model = st.fit("forecast", "persistence", x[:90], horizon=3)
    given = model.evaluate(x[90:], past=x[:90])
    assert given["mase"] == model.evaluate(x, begin="90", stride=3)["mase"]
    with pytest.raises(DataError, match="infinite number in column 'value'"):
        st.fit("forecast", "persistence", np.append(x, np.inf), horizon=3)


@pytest.mark.slow  # it takes the time it is given, and needs some of it on a busy machine, too
def test_a_network_that_its_epochs_ended_learns_on_in_the_time_that_is_left(tmp_path, monkeypatch):
    """After 200 updates in 1 s of 10 networks were ranked as if that were all they could."""
    rng = np.random.default_rng(0)
    promo = (rng.random(300) < 0.3).astype(float)
    sales = 20 + 15 * promo + rng.normal(0, 0.5, 300)
    rows = [f"{a:.3f},{b:g}" for a, b in zip(sales, promo)]
    (tmp_path / "a.csv").write_text("sales,promo\n" + "\n".join(rows) + "\n")
    asked = ("--known", "promo", "--horizon", 3, "--context", 8, "--models", "persistence,linear")
    out = tmp_path / "out"
    seriatim("compare", "forecast", tmp_path / "a.csv", *asked, "--minutes", 0.7, "--out", out)
    row = next(
        e for e in json.loads((out / "table.json").read_text())["rows"] if e["model"] == "linear"
    )
    assert row["updates"] > 200  # what the recipe of a network of little data has
    kept = json.loads((out / "runs" / "linear" / "metrics.json").read_text())
    assert kept["updates"] == row["updates"]


def test_a_comparison_that_goes_on_mixes_what_it_has(tmp_path):
    """--resume left out the mixture, with an untrue reason."""
    (tmp_path / "a.txt").write_text("the quick brown fox jumps over the lazy dog\n" * 200)
    asked = ("compare", "language", tmp_path / "a.txt", "--updates", 2, "--out", tmp_path / "out")
    seriatim(*asked)
    first = json.loads((tmp_path / "out" / "table.json").read_text())
    mixed = [row["model"] for row in first["rows"] if row["weights"]]
    seriatim(*asked, "--resume")
    again = json.loads((tmp_path / "out" / "table.json").read_text())
    assert mixed and [row["model"] for row in again["rows"] if row["weights"]] == mixed


# -- what is read, and what is said of it


def test_of_several_fields_the_longest_is_read_and_later_files_are_read_so(tmp_path):
    """A column of dates was taken for the text: nothing but the majority was learned."""
    words = ["gut und schnell", "nie wieder dort", "alles bestens hier", "kaputt und teuer"]
    lines = [f"{day:02d}.03.2024;{words[day % 4]};{day % 2}" for day in range(1, 29)]
    (tmp_path / "a.csv").write_text("Datum;Bewertung;Note\n" + "\n".join(lines) + "\n")
    found = seriatim(
        "fit",
        "classify",
        "naive-bayes",
        tmp_path / "a.csv",
        "--label",
        "Note",
        "--out",
        tmp_path / "r",
    )
    assert "of the fields 'Datum', 'Bewertung' the longest is read, 'Bewertung'" in found.err
    model = st.load(tmp_path / "r")
    assert model.reading.field == "Bewertung"
    (tmp_path / "b.csv").write_text("Datum;Bewertung\n1. Januar des Jahres 2024;gut\n3;nie\n")
    labels = [each["label"] for each in model.predict(str(tmp_path / "b.csv"))["items"]]
    assert [each["label"] for each in model.predict(["gut", "nie"])["items"]] == labels


def test_labels_and_words_that_training_never_had_are_said_in_a_comparison(tmp_path):
    train = [
        f"{word} {i % 3},{label}"
        for i in range(30)
        for word, label in (("gut", "ja"), ("arg", "nein"))
    ]
    (tmp_path / "a.csv").write_text("text,label\n" + "\n".join(train) + "\n")
    (tmp_path / "b.csv").write_text("text,label\n" + "gut 1,ja\narg 2,nein\nfein,Ja\n" * 12)
    out = tmp_path / "out"
    asked = ("--models", "majority,naive-bayes", "--minutes", 3, "--out", out)
    found = seriatim(
        "compare", "classify", tmp_path / "a.csv", "--test", tmp_path / "b.csv", *asked
    )
    assert (
        "12 of 36 labels of the test were never in training ('Ja' 12) and count as wrong"
        in found.out
    )
    assert "of the others 100.0 % are right" in found.out
    names = [
        f"die {first}{last},{'de' if i % 2 else 'en'}"
        for i, first in enumerate("abcdefgh")
        for last in "uvwxyz"
    ]
    (tmp_path / "c.csv").write_text("text,label\n" + "\n".join(names) + "\n")
    model = st.fit("classify", "naive-bayes", str(tmp_path / "c.csv"))
    notes = model.evaluate((["neu da", "alt da"], ["de", "en"]))["notes"]
    assert any(
        "100 % of the words were never in training; --unit character" in each for each in notes
    )


def test_a_table_of_words_and_tags_is_one_whatever_its_ending(tmp_path):
    lines = ["the\tD", "cat\tN", "sat\tV", "", "a\tD", "dog\tN", "ran\tV", ""] * 5
    (tmp_path / "a.tsv").write_text("\n".join(lines))
    found = seriatim("fit", "tag", "hmm", tmp_path / "a.tsv", "--out", tmp_path / "r")
    assert "a table of words and their tags" in found.err and "10 sequences" in found.err


@pytest.mark.parametrize(
    "rows, words",
    [
        ([(0.9, None)], "linear is the only model with a figure"),
        ([(0.7, None), (0.9, "worse")], "linear was ahead on the validation data, and the test contradicts"),
        ([(0.9, None), (0.7, "better")], "linear predicts this data best"),
    ],
)  # fmt: skip
def test_who_comes_first_is_said_as_the_test_has_it(rows, words):
    names = ("linear", "hmm")
    made = [
        {"model": name, "status": "ok", "accuracy": value, "tied": word == "worse", "seconds": 1.0}
        | ({} if word is None else {"against": {"word": word}})
        for name, (value, word) in zip(names, rows)
    ]
    figure = task("classify").figures[0]
    assert verdict(made, figure, 1000).startswith(words)
    beyond = verdict(made, figure, 1000, references=[{"name": "xz", "value": 0.95}])
    assert "Better than any model here: xz (95.00%)." in beyond
    assert "xz" not in verdict(made, figure, 1000, references=[{"name": "xz", "value": 0.1}])
