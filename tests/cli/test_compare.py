"""The command line compares: table, picture, report and runs; a rung that fails keeps its row; any text and any name will do."""

import csv
import json
import os
import re
import shutil
import string
from html.parser import HTMLParser
from pathlib import Path

import pytest

import seriatim
from seriatim.tasks import task
from tests.terminal import SMALL, Answer, Screen, call, good, prose

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    (folder / "book.txt").write_text(prose(60, 1))
    return folder


@pytest.fixture(scope="module")
def compared(home) -> tuple[Path, Answer]:
    out = home / "compared"
    return out, good(
        "compare",
        "language",
        home / "book.txt",
        "--models",
        "uniform,unigram,markov,lstm",
        "--minutes",
        "0.05",
        *SMALL,
        "--out",
        out,
        "--format",
        "json",
    )


def test_compare_writes_table_picture_report_and_runs(compared):
    out, answer = compared
    record = json.loads(answer.out)
    assert sorted(path.name for path in out.iterdir()) == [
        ".seriatim",
        "comparison.json",
        "measured",
        "quality.png",
        "report.html",
        "rows",
        "runs",
        "table.csv",
        "table.json",
    ]
    assert json.loads((out / "table.json").read_text()) == record and (
        out / "quality.png"
    ).read_bytes().startswith(PNG)
    rows = list(csv.DictReader((out / "table.csv").read_text().splitlines()))
    assert [row["model"] for row in rows] == [row["model"] for row in record["rows"]] and {
        row["status"] for row in rows
    } == {"ok"}
    assert [float(row["bits_per_character"]) for row in rows] == [
        row["bits_per_character"] for row in record["rows"]
    ]


def test_compare_ranks_the_best_first_and_markov_above_unigram_above_uniform(compared):
    rows = json.loads(compared[1].out)["rows"]
    bits = [row["bits_per_character"] for row in rows]
    names = [row["model"] for row in rows]
    assert bits == sorted(bits) and sorted(names) == ["lstm", "markov", "uniform", "unigram"]
    assert (
        names.index("markov") < names.index("unigram") < names.index("uniform") and rows[0]["tied"]
    )


def test_every_run_of_a_comparison_loads_and_gives_its_figures_again(compared, home):
    cut = task("language").cut
    test = cut.divide(cut.sequences(str(home / "book.txt")))[2]
    for row in json.loads(compared[1].out)["rows"]:
        found = seriatim.load(compared[0] / row["run"]).evaluate(test)
        assert (
            found["bits_per_character"] == pytest.approx(row["bits_per_character"], rel=1e-6)
            and found["tokens"] == row["tokens"]
        )


class Addresses(HTMLParser):
    """Whatever a browser might fetch, or run, for a page."""

    def __init__(self, page: str):
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found += [tag] if tag in ("link", "iframe", "img", "object", "embed") else []
        self.found += ["script"] if tag == "script" and "src" in dict(attributes) else []
        self.found += [
            value
            for name, value in attributes
            if value
            and not name.startswith(("xmlns", "rdf:"))
            and ("//" in value or name.startswith("on"))
        ]


def test_the_report_needs_no_network_and_names_every_model(compared):
    page = (compared[0] / "report.html").read_text()
    assert "<svg" in page and all(
        f">{name}" in page for name in ("uniform", "unigram", "markov", "lstm")
    )
    assert "@import" not in page and "url(http" not in page and "url(//" not in page
    assert Addresses(page).found == []


def test_the_report_mentions_no_address_but_names_of_formats(compared):
    """The drawing scripts of Vega name formats and its own pages; nothing of it can be fetched: the
    policy forbids it, and a browser says so in tests/show/test_pages.py."""
    page = (compared[0] / "report.html").read_text()
    own = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert set(re.findall(r"https?://[^\s\"'<]+", own)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert "default-src 'none'" in page


def test_a_rung_that_fails_keeps_its_row_with_the_reason(home, here):
    answer = call(
        "compare",
        "language",
        home / "book.txt",
        "--models",
        "markov,transformer",
        "--width",
        7,
        "--minutes",
        "0.05",
        "--out",
        "out",
        "--format",
        "json",
    )
    assert answer.code == 1 and "Failed: transformer" in answer.err
    rows = answer.json()["rows"]
    assert [(row["model"], row["status"]) for row in rows] == [
        ("markov", "ok"),
        ("transformer", "failed"),
    ] and "width 7" in rows[1]["reason"]
    assert (
        "width 7" in (here / "out/report.html").read_text()
        and "width 7" in (here / "out/table.csv").read_text()
    )
    assert good("evaluate", "out/runs/markov", home / "book.txt")


@pytest.mark.parametrize(
    "models, terminal",
    [
        ("markov,unigram", True),
        ("markov,unigram,transformer", False),
        ("markov,unigram,transformer", True),
    ],
    ids=["80 columns", "one failed", "one failed, 80 columns"],
)
def test_the_leaderboard_shows_every_name_and_figure(home, here, monkeypatch, models, terminal):
    monkeypatch.setenv("TERM", "dumb")
    table = call(
        "compare",
        "language",
        home / "book.txt",
        "--models",
        models,
        *(("--width", 7) if "trans" in models else ()),
        "--minutes",
        "0.05",
        "--out",
        "out",
        out=Screen() if terminal else None,
    ).out
    rows = json.loads((here / "out/table.json").read_text())["rows"]
    for row in rows:
        assert row["model"] in table and (
            f"{row['bits_per_character']:.3f}" in table
            if row["status"] == "ok"
            else "width 7" in table
        )
    assert all(len(line) <= (80 if terminal else 160) for line in table.splitlines())


def test_a_text_full_of_square_brackets_can_be_compared(here):
    (here / "wiki[b].txt").write_text("[/b] [red]x[/red] :cat: " * 60)
    answer = good("compare", "language", "wiki[b].txt", "--models", "markov", "--out", "out")
    assert (
        "wiki[b].txt" in answer.out
        and "[red]x[/" in answer.out
        and not set(answer.out) - set(string.printable) - {"…"}
    )
    fit = good("fit", "language", "markov", "wiki[b].txt", "--out", "run[b]")
    assert "wiki[b].txt" in fit.err and fit.out.startswith("run[b]: ")


def test_a_short_text_that_is_not_ascii_can_be_compared(here):
    (here / "a.txt").write_text("Müßig älter übt. " * 12)
    assert (
        good("compare", "language", "a.txt", "--models", "markov", "--format", "json").json()[
            "rows"
        ][0]["status"]
        == "ok"
    )


@pytest.mark.parametrize(
    "name",
    [b"cost$^$.txt", "猫.txt".encode(), b"caf\xe9.txt"],
    ids=["dollars", "no such letter", "not UTF-8"],
)
def test_a_file_of_any_name_can_be_compared(home, here, name):
    name = os.fsdecode(name)
    shutil.copy(home / "book.txt", here / name)
    comparison = good(
        "compare", "language", name, "--models", "markov", "--out", "out", "--format", "json"
    )
    assert comparison.json()["data"] == name and "Warning" not in comparison.err


@pytest.mark.parametrize("what", ["leaderboard", "quality"])
def test_plot_draws_a_comparison(compared, here, what):
    answer = good("plot", compared[0], "--what", what, "--out", "x.png", "--format", "json").json()
    assert (answer["kind"], answer["what"], answer["written"]) == ("picture", what, "x.png")
    assert answer["says"] and answer["specification"]["config"] and answer["notes"] == []
    assert (here / "x.png").read_bytes().startswith(PNG)
