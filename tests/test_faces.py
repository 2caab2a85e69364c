"""Records with a face: dicts that show themselves, become frames and are drawn; whatever stands in
them is escaped. That every verb gives one is seen in `tests/test_doors.py`."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from rich.console import Group
from rich.table import Column, Table
from rich.text import Text

import seriatim as st
from seriatim.errors import ConfigError
from seriatim.faces import Result
from seriatim.show.frames import figure_rows, flat, item_rows, moments
from seriatim.show.notebook import MOST_ROWS, html_of, rows_html
from tests.faces import Tags

SPAM = [("win cash now", "spam"), ("tea at home", "ham"), ("free cash", "spam"), ("see you", "ham")]
MAIL = [(f"{text} {i}", label) for i in range(12) for text, label in SPAM]


@pytest.fixture(scope="module")
def mail(tmp_path_factory):
    """A small classifier, and its data."""
    file = tmp_path_factory.mktemp("mail") / "mail.tsv"
    file.write_text("text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in MAIL))
    return st.fit("classify", "naive-bayes", file), file


def test_a_predictor_of_the_inner_house_gives_plain_records(tmp_path):
    from seriatim.tasks.opening import load

    st.fit("sets", "frequencies", ["a b", "b a+b"] * 9, out=tmp_path / "run")
    assert type(load(tmp_path / "run").score(["a b"])) is dict
    assert type(st.load(tmp_path / "run").score(["a b"])) is Result


def test_a_comparison_is_a_row_for_each_model(mail):
    record = st.compare("classify", mail[1], "naive-bayes,majority")
    frame = record.to_frame("polars")
    assert frame["model"].to_list() == [row["model"] for row in record["rows"]]
    assert frame["rank"].to_list() == [1, 2] and {"accuracy", "accuracy_low"} <= set(frame.columns)
    page = record._repr_html_()
    assert "naive-bayes" in page and "<caption>" in page and record["verdict"][:20] in page
    assert record.plot().what == "leaderboard"


def test_an_evaluation_is_a_row_for_each_figure_with_its_interval(mail):
    record = mail[0].evaluate(mail[1])
    rows = {row["figure"]: row for row in record.to_frame("polars").to_dicts()}
    low, high = record["interval"]["accuracy"]
    assert rows["accuracy"] == {
        "figure": "accuracy",
        "value": record["accuracy"],
        "low": low,
        "high": high,
    }
    assert rows["macro_f1"]["value"] == record["macro"]["f1"] and rows["macro_f1"]["low"] is None
    assert next(iter(rows)) == "accuracy" and "version" not in rows
    page = record._repr_html_()
    assert page.count("<table>") == 3 and "precision" in page, "figures, labels, confusions"


def test_all_probabilities_are_given_when_asked_for(tmp_path):
    file = tmp_path / "many.tsv"
    file.write_text("text\tlabel\n" + "".join(f"word{i % 9}\tlabel{i % 9}\n" for i in range(90)))
    model = st.fit("classify", "naive-bayes", file)
    few, all_ = model.predict(["word1"]), model.predict(["word1"], probabilities=True)
    assert len(few["items"][0]["probabilities"]) == 5
    assert sum(each["probability"] for each in all_["items"][0]["probabilities"]) == pytest.approx(
        1
    )
    assert few.to_frame("polars").columns == ["label", "probability"]
    frame = all_.to_frame("polars")
    assert frame.width == 2 + 9 and frame["label"].to_list() == ["label1"]
    assert frame["probability of label1"][0] == frame["probability"][0]
    assert st.predict(model, ["word1"], probabilities=True)["items"] == all_["items"]


def test_a_blank_text_has_a_row_without_a_label(mail):
    frame = mail[0].predict(["win cash", ""]).to_frame("polars")
    assert frame["label"].to_list() == ["spam", None] and frame["probability"][1] is None


def test_a_forecast_has_dates_series_and_quantiles(tmp_path):
    file = tmp_path / "load.csv"
    days = [f"2024-01-{day:02d}" for day in range(1, 29)]
    lines = [f"{name},{day},{i % 7}\n" for name in "ab" for i, day in enumerate(days)]
    file.write_text("unique_id,ds,y\n" + "".join(lines))
    model = st.fit("forecast", "seasonal", file, series="unique_id", time="ds", horizon=3, season=7)
    frame = model.predict(file).to_frame("polars")
    assert frame["series"].to_list() == ["a"] * 3 + ["b"] * 3
    assert str(frame["time"][0]) == "2024-01-29 00:00:00" and frame["channel"][0] == "y"
    levels = [float(name.split()[1]) for name in frame.columns if name.startswith("quantile")]
    assert levels == sorted(levels) and 0.5 in levels and "mean" in frame.columns
    assert frame["quantile 0.025"][0] <= frame["mean"][0] <= frame["quantile 0.975"][0]
    walked = model.backtest(file).to_frame("polars")
    assert {"origin", "truth"} <= set(walked.columns)


def test_pandas_is_taken_where_it_is_installed(mail):
    frame = mail[0].predict(["win cash"]).to_frame()
    wanted = "pandas" if find_spec("pandas") else "polars"
    assert type(frame).__module__.split(".")[0] == wanted
    with pytest.raises(ConfigError, match="pandas or of polars"):
        mail[0].predict(["win cash"]).to_frame("arrow")


def test_a_frame_that_cannot_be_made_says_what_to_install(mail, monkeypatch):
    monkeypatch.setattr("seriatim.show.frames.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="pip install polars"):
        mail[0].predict(["win"]).to_frame("polars")


def test_what_stands_in_a_record_is_escaped(tmp_path):
    evil = "<script>alert(1)</script>"
    file = tmp_path / "evil.tsv"
    file.write_text(
        "text\tlabel\n"
        + "".join(f"win [bold]cash {i} {evil}\t{evil}\ntea [/] {i}\tham\n" for i in range(30))
    )
    model = st.fit("classify", "naive-bayes", file)
    shown = [model.evaluate(file), model.predict([evil]), model.explain(f"cash {evil}")]
    shown += [st.check(file), st.compare("classify", file, "majority")]
    for record in shown:
        page = record._repr_html_()
        assert "<script" not in page and "script" not in Tags(page).seen
    assert "&lt;script&gt;" in shown[1]._repr_html_()


def test_tables_of_the_terminal_become_html():
    table = Table("[bold]a[/bold]", "b", title="t [1]", caption="c")
    table.add_row("<x>", "[red]3[/red]", style="bold")
    page = html_of(table)
    Tags(page)
    assert "&lt;x&gt;" in page and "color:#800000" in page and "<b>" in page
    assert "<caption>t [1]</caption>" in page and "[/" not in page


def test_styles_and_what_is_drawn_with_letters_are_kept():
    table = Table("", Column(Text("low    high"), no_wrap=True))
    table.add_row(Text("soft", "dim"), Text("──●──", "#c1440e"))
    page = html_of(Group(table, Text("note", "bold")))
    Tags(page)
    assert '<span class="soft">soft</span>' in page and "<p><b>note</b></p>" in page
    assert '<span class="drawn"><span style="color:#c1440e">──●──</span></span>' in page
    assert 'class="whole"' in page and '<span class="drawn">low    high</span>' in page


def test_many_rows_are_told_and_not_shown():
    page = rows_html([{"n": i} for i in range(MOST_ROWS + 5)])
    assert page.count("<tr>") == MOST_ROWS + 1 and "and 5 more rows" in page


def test_rows_have_single_values():
    record = {"kind": "x", "version": 1, "items": [{"a": 1, "b": {"c": 2}, "d": [1, 2]}]}
    assert item_rows(record) == [{"a": 1, "b_c": 2}]
    assert item_rows({"kind": "x", "n": 3}) == [{"n": 3}]
    assert flat({"interval": {"confidence": 0.9, "f": None}}) == {}
    assert [row["figure"] for row in figure_rows({"b": 1, "a": 2, "c": "no"}, ["a"])] == ["a", "b"]
    assert moments(["1", "2"]) == [1, 2] and moments(["x"]) == ["x"]
    assert moments(["2024-01-01"])[0].year == 2024


# -- pictures
def test_data_in_memory_are_drawn_as_files_are(mail):
    import pandas

    text, label = zip(*MAIL, strict=True)
    whole = pandas.DataFrame({"text": text, "label": label})
    first, second = whole[:30], whole[30:]
    one = st.plot(first, what="audit")
    assert one.what == "audit" and one.rows
    for subject, data in ((first, second), ([first, second], None)):
        assert st.plot(subject, data, what="audit").rows == st.check(first, second).plot().rows
    assert st.plot(mail[1], what="audit").rows == st.check(mail[1]).plot().rows
    for thing in (MAIL, list(text), iter(text), whole.to_dict("records")):
        assert st.plot(thing, what="audit").rows


def test_a_theme_and_a_width_that_there_are_not(mail, tmp_path):
    chart = mail[0].evaluate(mail[1]).plot()
    for ask in (
        lambda: chart.save(tmp_path / "x.png", theme="drak"),
        lambda: chart.save(tmp_path / "x.pdf", theme="drak"),
        lambda: chart.svg("drak"),
        lambda: chart.png("drak"),
    ):
        with pytest.raises(ConfigError, match=r"no such theme. Received: drak. .*'dark'"):
            ask()
    with pytest.raises(ConfigError, match=r"no such theme. .*Choose from: light, dark"):
        chart.svg("blue")
    for width in ("wide", None, True):
        with pytest.raises(ConfigError, match="a width is a number of pixels"):
            chart.svg("dark", width=width)


# -- what is asked of one text
def test_one_prompt_is_a_text(mail):
    import numpy

    names = st.fit("language", "markov", ["Ada", "Grace", "Alan"], order=1)
    sets = st.fit("sets", "frequencies", ["a b", "b a+b"] * 9)
    for verb in (names.generate, names.text, sets.generate):
        for thing, words in ((["Ada", "Grace"], "Call it for each"), (None, "Give a text")):
            with pytest.raises(ConfigError, match=f"a prompt is one text.*{words}"):
                verb(thing)
        for thing in (5, b"a"):
            with pytest.raises(ConfigError, match="a prompt is one text"):
                verb(thing)
    assert names.generate(numpy.str_("A"), length=2)["items"]
    for thing in (["win cash", "bad"], 3, None):
        with pytest.raises(ConfigError, match="what is explained is one text"):
            mail[0].explain(thing)
