"""`compare --curve`: six sizes, laws and crossings where there are some, and words where there are none."""

from __future__ import annotations

import json

import pytest

import seriatim as st
from seriatim.comparison.data_curve import LIMITED, SHARES, DataCurve, in_words, seeds_of, told_of
from seriatim.errors import ConfigError
from tests.honesty import seriatim

SOURCE = "markov:length=24000,order=3"
COUNTING = "uniform,unigram,markov"


@pytest.fixture(scope="module")
def record():
    return st.compare("language", SOURCE, COUNTING, curve=True)


def rung(record, name):
    return next(each for each in record["curve"]["rungs"] if each["model"] == name)


def test_every_rung_is_measured_at_six_sizes(record):
    """Several subsets at the small ones; the last is the figure of the table."""
    curve = record["curve"]
    whole = curve["sizes"][-1]
    assert [round(whole / size) for size in curve["sizes"]] == [32, 16, 8, 4, 2, 1]
    assert curve["unit"] == "characters"
    for row in record["rows"]:
        if row["model"] == "uniform":
            assert "learns nothing" in rung(record, "uniform")["why"]
            continue
        points = rung(record, row["model"])["points"]
        assert [point["size"] for point in points] == curve["sizes"]
        assert [len(point["subsets"]) for point in points] == [4, 3, 2, 1, 1, 1]
        assert points[-1]["value"] == pytest.approx(row["bits_per_character"])
        assert all(point["low"] <= point["value"] <= point["high"] for point in points)


def test_laws_predict_and_rungs_cross(record):
    """Few contexts are ahead on little data, many on much, and the picture and the words say where."""
    markov = rung(record, "markov")
    assert [told["times"] for told in markov["predicted"]] == [2, 10]
    for told in markov["predicted"]:
        assert told["low"] < told["value"] < told["high"]
        assert told["value"] < markov["points"][-1]["value"]
    assert not rung(record, "uniform")["predicted"]
    assert markov["points"][0]["value"] > rung(record, "unigram")["points"][0]["value"]
    lead = [each for each in record["curve"]["crossings"] if each["lead"]]
    assert [(each["first"], each["second"]) for each in lead] == [("unigram", "markov")]
    assert lead[0]["low"] <= lead[0]["at"] <= lead[0]["high"] and lead[0]["sure"] > 0.9
    assert " characters on markov is ahead of unigram (in 99 % of draws)" in lead[0]["words"]
    assert "With 10 times the data markov would have about" in record["verdict"]
    assert "Rings" in record.plot("curve").says


def test_without_it_there_is_no_curve(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    record = st.compare("language", "markov:length=3000", "uniform,unigram")
    assert record["curve"] is None
    with pytest.raises(ConfigError, match="no such picture"):
        record.plot("curve")


def test_the_command_line_prints_it_draws_it_and_goes_on_with_it(tmp_path, monkeypatch):
    """Under the table, as curve.png, in the report; what a comparison has kept is not fitted again."""
    monkeypatch.chdir(tmp_path)
    asked = ("compare", "language", "markov:length=8000", "--models", "unigram,markov", "--curve")
    said = seriatim(*asked, "--out", "out")
    assert "markov with more data, 80 %: x 2: " in said.out
    assert (tmp_path / "out/curve.png").is_file()
    assert "What more data would change" in (tmp_path / "out/report.html").read_text()
    first = json.loads((tmp_path / "out/table.json").read_text())
    assert "--curve" in first["command"]
    monkeypatch.setattr(DataCurve, "fit", None)
    again = seriatim(*asked, "--out", "out", "--resume", "--format", "json").record
    assert again["curve"] == first["curve"]


def test_a_network_that_is_unfinished_has_no_curve(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = {"updates": 2, "width": 8, "validations": 1, "curve": True}
    record = st.compare("language", "markov:length=3000", "unigram,lstm", **asked)
    found = rung(record, "lstm")
    assert found["why"] == LIMITED and found["law"] is None and len(found["points"]) == 1
    assert "Hollow: unfinished, no curve" in record.plot("curve").says


def test_a_size_at_which_a_network_is_unfinished_is_enough(monkeypatch):
    """The whole was finished, a part was not: what its time limits says nothing about data."""
    asked = {"updates": 2, "width": 8, "validations": 1, "curve": True}
    whole = DataCurve.rung
    monkeypatch.setattr(
        DataCurve, "rung", lambda self, row, left: whole(self, row | {"unfinished": None}, left)
    )
    record = st.compare("language", "markov:length=3000", "lstm", **asked)
    assert rung(record, "lstm")["why"] == LIMITED and rung(record, "lstm")["law"] is None


def test_what_there_is_no_time_for_is_left_out_and_said(monkeypatch):
    """Small sizes come first: four of them are enough for a law."""
    monkeypatch.setattr(DataCurve, "too_late", lambda self, row, share, left: share > 1 / 8)
    record = st.compare("language", "markov:length=9000", "markov", curve=True)
    found = rung(record, "markov")
    assert len(found["points"]) == 4 and found["law"] is not None
    assert "more --minutes would help" in found["why"]
    monkeypatch.setattr(DataCurve, "too_late", lambda self, row, share, left: True)
    record = st.compare("language", "markov:length=9000", "markov", curve=True)
    assert rung(record, "markov")["why"].startswith("no law: 1 size measured, 4 are needed")


def test_labels_are_counted_in_sequences_and_better_is_higher(tmp_path):
    lines = [
        f"{'spam' if i % 3 else 'ham'}\t{'w' if i % 3 else 'v'}{i % 40} x{i}" for i in range(400)
    ]
    (tmp_path / "x.tsv").write_text("label\ttext\n" + "\n".join(lines))
    record = st.compare("classify", str(tmp_path / "x.tsv"), "majority,naive-bayes", curve=True)
    assert record["curve"]["unit"] == "sequences"
    found = rung(record, "naive-bayes")
    values = [point["value"] for point in found["points"]]
    assert values[0] < values[-1] <= 1 and found["law"]["b"] <= 0
    assert found["predicted"][1]["low"] <= found["predicted"][1]["value"] <= 1
    assert found["predicted"][1]["high"] <= 1


@pytest.mark.parametrize(
    ("task", "data", "asked", "words"),
    [
        ("forecast", "signals", {"horizon": 2}, "no curve against data for forecast"),
        ("classify", "python-lines", {"folds": 2}, "measured on one test"),
    ],
)
def test_a_curve_that_would_mean_nothing_is_refused(task, data, asked, words):
    with pytest.raises(ConfigError, match=words):
        st.compare(task, data, curve=True, **asked)


def test_a_crossing_beyond_the_data_is_no_more_than_possible():
    """In the back-test too few of those came about."""
    assert "b is ahead of a (in 90 %" in told_of("a", "b", 900.0, 0.9, 1000, "characters")
    assert "b may be ahead of a" in told_of("a", "b", 1100.0, 0.9, 1000, "characters")
    assert "b may be ahead of a" in told_of("a", "b", 900.0, 0.6, 1000, "characters")


def test_sizes_and_seeds_are_as_written():
    assert [len(seeds_of(share)) for share in SHARES] == [4, 3, 2, 1, 1, 1]
    assert [in_words(n) for n in (3_217_000, 45_210, 87)] == ["3.2 M", "45,000", "87"]
