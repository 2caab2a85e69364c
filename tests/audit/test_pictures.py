"""The picture of an audit: what is in it is what is in the record."""

from __future__ import annotations

import numpy as np
import pytest

from seriatim.audit.check import check
from seriatim.audit.parts import POINTS, growth
from seriatim.audit.pictures import MOST_CLASSES, audit
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import RunError
from seriatim.verbs import call

HOSTILE = ["<script>", "$x$", "half \ud800", "y" * 300, "שלום", "[/red]"]


def mail(rows: list[tuple[str, str]]) -> Sequences:
    return Sequences(
        {
            "text": Field.of_text(text for text, _ in rows),
            "label": Field.of_labels(label for _, label in rows),
        }
    )


@pytest.fixture(scope="module")
def record():
    """Two files with labels, copies within, and copies across."""
    lines = [f"line number {i} of the {'x ' * (i % 9)}file" for i in range(60)]
    train = mail([(line, HOSTILE[i % 6]) for i, line in enumerate([*lines, lines[0]])])
    test = mail(
        [(line, HOSTILE[i % 3]) for i, line in enumerate([*lines[:5], "LINE number 7 of the file"])]
    )
    return check([train, test], names=["train", "<b>test</b>"])


def of(chart, panel: str, file: str) -> dict:
    return {
        row["what"]: row["value"]
        for row in chart.rows
        if (row["panel"], row["file"]) == (panel, file)
    }


def test_every_panel_shows_the_figures_of_the_record(record):
    chart = audit(record)
    for each in record["files"]:
        name, counts = each["name"], each["length"]["histogram"]["counts"]
        shares = list(of(chart, "lengths", name).values())
        assert shares == [count / each["sequences"] for count in counts[: len(shares)]]
        assert not any(counts[len(shares) :])
        grown = dict(zip(each["growth"]["symbols"], each["growth"]["different"]))
        shown = of(chart, "vocabulary", name)
        assert (
            shown and shown.items() <= grown.items() and shown[each["symbols"]] == each["different"]
        )
        total = sum(each["classes"].values())
        known = {name: count / total for name, count in each["classes"].items()}
        assert sorted(filter(None, of(chart, "label", name).values())) == sorted(known.values())
    again = [row for row in chart.rows if row["panel"] == "copies"]
    assert [row["value"] for row in again] == [
        *(each["duplicates"]["share"] for each in record["files"]),
        record["across"][0]["share"],
    ]
    nearly = [row["value"] for row in chart.rows if row["panel"] == "near copies"]
    assert nearly == [
        *(each["duplicates"]["near_share"] for each in record["files"]),
        record["across"][0]["near_copies"] / record["files"][1]["sequences"],
    ]
    assert chart.svg().startswith("<svg") and chart.svg("dark", 390).startswith("<svg")
    assert len(chart.body["vconcat"]) == 2 + 1 + 1 + 1


def test_panels_that_do_not_apply_are_left_out():
    plain = check([Sequences({"text": Field.of_text(["one", "two words", "and three words"])})])
    chart = audit(plain)
    assert len(chart.body["vconcat"]) == 2 and "no copies" in chart.says
    single = audit(check([Sequences({"text": Field.of_text(["one"])})]))
    assert single.svg().startswith("<svg") and len(single.body["vconcat"]) == 1
    with pytest.raises(RunError, match="nothing to draw"):
        audit(check(["/nowhere/at/all.txt"]))


def test_labels_that_are_shortened_alike_stay_apart():
    rows = [(f"text {i}", "z" * 50 + str(i)) for i in range(30)]
    chart = audit(check([mail(rows)]))
    shown = of(chart, "label", chart.rows[0]["file"])
    assert len(shown) == MOST_CLASSES
    (values,) = [
        chart.data_of(view)
        for panel in chart.body["vconcat"]
        for view in panel["layer"][:1]
        if panel.get("title", {}).get("text", "").startswith("How often")
        for view in [view if "data" in view else panel]
    ]
    assert len({row["label"] for row in values}) == MOST_CLASSES


def test_growth_counts_what_came_first():
    dice = np.random.default_rng(3)
    words = [[f"w{int(n)}" for n in dice.zipf(1.4, 50) % 5000] for _ in range(40)]
    found = growth(Field.of_symbols(words))
    flat = [word for row in words for word in row]
    assert found["symbols"][0] == 1 and found["symbols"][-1] == 2000
    assert len(found["symbols"]) <= POINTS
    assert found["different"] == [len(set(flat[:n])) for n in found["symbols"]]
    assert growth(Field.of_symbols([[]])) == {"symbols": [], "different": []}


def test_it_is_drawn_by_plot_and_by_the_record(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.tsv").write_text("label\ttext\nx\tone two\ny\tthree\nx\tone two\n")
    chart = call("plot", ["a.tsv"], None, what="audit", out=str(tmp_path / "a.svg"))
    assert (tmp_path / "a.svg").read_text().startswith("<svg")
    assert call("check", ["a.tsv"]).plot().rows == chart.rows
