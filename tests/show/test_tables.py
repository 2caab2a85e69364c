"""Tables in a terminal: narrow and wide, with bars and sparklines, names as they are, no number cut."""

from __future__ import annotations

import io
import json
import re
import sys

import numpy as np
import pytest
from rich.console import Console

import seriatim
from seriatim.audit.check import check
from seriatim.audit.tables import audit
from seriatim.data.sequences import Field, Sequences
from seriatim.leaderboard import leaderboard
from seriatim.show.progress import Watcher
from seriatim.show.tables import course, output, sparkline, strip, trend
from seriatim.tasks import task
from seriatim.tasks.forecast.tables import forecast_table
from seriatim.tasks.labels.tables import label_figures
from tests.terminal import Screen, good, prose

LABELS = ["[/red]", "[bold]loud[/bold]", "a label that is far too long to stand in any column " * 3]


def printed(table, width: int, colours: bool = False) -> str:
    file = io.StringIO()
    Console(file=file, width=width, height=50, force_terminal=colours, no_color=not colours).print(
        table
    )
    return file.getvalue()


def comparison(models: int = 3) -> dict:
    """The record of a comparison by bits, of networks with samples."""
    rows = [
        {
            "model": "+".join(["kneser-ney", "cache", "lstm", "transformer"][: 1 + i]),
            "status": "ok",
            "bits_per_character": 2.0 + i / 2,
            "nats_per_token": 1.38629 + i,
            "interval": {"bits_per_character": [1.9 + i / 2, 2.2 + i / 2]},
            "tied": i == 0,
            "unfinished": i == 1,
            "seconds": 123.4,
            "updates": 12345,
            "epochs": 1.25,
            "parameters": 16_216_605,
            "size_bytes": 64_900_000,
            "symbols_per_second": 87_000.0,
            "sample": "To be, or not to be, that is the question: [/red]",
        }
        for i in range(models)
    ]
    return {
        "task": "language",
        "data": "[red].txt",
        "unit": "character",
        "figure": "bits_per_character",
        "verdict": "The first is best.",
        "rows": rows,
        "protocol": None,
        "measured_on": None,
        "copies": 0.0,
        "test_share": 1.0,
        "folds": 0,
        "chosen_on": "validation",
        "validated_on": 100,
        "unmixed": "",
        "minutes": None,
        "seconds": 1.0,
        "recommendation": None,
        "references": [{"name": "bz2", "value": 2.25}, {"name": "xz", "value": 9.0}],
    }


@pytest.mark.parametrize("width", [80, 100, 120, 160])
def test_a_leaderboard_has_room_for_all_of_its_numbers(width):
    record = comparison()
    words = printed(leaderboard(record, task("language"), width), width)
    assert all(len(line) <= width for line in words.splitlines()) and "[red].txt" in words
    for row in record["rows"]:
        low, high = row["interval"]["bits_per_character"]
        assert f"{row['bits_per_character']:.3f}" in words and f"{low:.3f}-{high:.3f}" in words
    assert not re.search(r"\d…", re.sub("To be.*", "", words))
    assert ("●" in words) == (width >= 100)


def test_a_strip_puts_value_and_interval_on_one_scale():
    rows = [strip(2.0, (1.0, 3.0), (0.0, 8.0), 9), strip(8.0, (8.0, 8.0), (0.0, 8.0), 9)]
    assert rows == [" ─●─     ", "        ●"]
    assert "●" not in printed(leaderboard(comparison(1), task("language"), 160), 160)
    words = printed(leaderboard(comparison(2), task("language"), 120), 120)
    first, second = (line.index("●") for line in words.splitlines() if "●" in line)
    assert first < second


def test_what_others_reach_stands_at_its_place():
    words = printed(leaderboard(comparison(), task("language"), 120), 120)
    names = re.findall(r"(?m)^[~=\d-]+ +(\S+)", words)
    assert names[:2] == ["kneser-ney", "bz2"] and names[4] == "xz" and "2.250" in words


def test_colours_only_where_there_are_any(monkeypatch):
    table = leaderboard(comparison(), task("language"), 120)
    assert "\x1b[" in printed(table, 120, colours=True) and "\x1b[" not in printed(table, 120)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setenv("COLUMNS", "77")
    assert output().width == 77 and output().no_color
    monkeypatch.delenv("COLUMNS")
    assert output().width == 160
    monkeypatch.setattr(sys, "stdout", Screen())
    for name, value in (("TERM", "dumb"), ("NO_COLOR", "1")):
        monkeypatch.setenv(name, value)
        console = output()
        with console.capture() as captured:
            console.print(table)
        assert "\x1b[3" not in captured.get()


@pytest.mark.parametrize("width", [80, 160])
def test_labels_are_shown_as_they_are_beside_whole_figures(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    texts = [
        f"{word} {line}" for line in prose(12, 1).splitlines() for word in ("cat", "dog", "emu")
    ]
    data = Sequences(
        {
            "text": Field.of_text(texts),
            "label": Field.of_labels(LABELS[i % 3] for i in range(len(texts))),
        }
    )
    record = seriatim.fit("classify", "naive-bayes", data).evaluate(data)
    words = printed(label_figures(record), width)
    assert "[/red]" in words and "[bold]loud" in words and "█" in words
    for each in record["classes"]:
        assert f"{each['precision']:.4f}  {each['recall']:.4f}  {each['f1']:.4f}" in words
    found = printed(audit(check([data] * 3, names=["[/red]", "b" * 50, "c"])), width)
    assert found.count("[/red]") > 2 and "33.3 %" in found
    assert not re.search(r"\d…", words + found)
    assert all(len(line) <= width for line in (words + found).splitlines())


def forecasts() -> dict:
    """A record of `predict` of two series with four channels each."""
    names = ["[/red]", "b", "c", "d"]
    dice = np.random.default_rng(0)
    channel = {
        "mean": [12345.678, 12346.5],
        "quantiles": {"0.025": [12000.125, 12000.5], "0.975": [13000.25, 13001.5]},
    }
    item = {
        "time": ["2024-01-01", "2024-01-02"],
        "channels": {name: channel for name in names},
        "past": {name: [*dice.normal(12000, 9, 40).tolist(), None] for name in names},
    }
    return {"items": [{**item, "series": "[/b]"}, {**item, "series": "two"}]}


@pytest.mark.parametrize("width", [80, 160])
def test_forecasts_in_a_terminal_have_a_course_and_columns(width, monkeypatch):
    record = forecasts()
    assert isinstance(forecast_table(record), str)  # a file is read by programs
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys, "stdout", Screen())
    words = printed(forecast_table(record), width)
    assert "[/b] [/red]" in words and "│" in words and words.count("12345.7") == 8
    assert "13000.2" in words and "…" not in words
    assert all(len(line) <= width for line in words.splitlines())


def test_sparklines_have_heights_of_their_values():
    assert (
        sparkline([0, 1, 2, 4]) == "▁▃▅█" and sparkline([]) == "" and sparkline([None, 1]) == " █"
    )
    assert sparkline([100, 101], zero=False) == "▁█" and sparkline([5, 5], zero=False) == "▁▁"
    assert len(sparkline(list(range(1000)), 30)) <= 30
    assert trend([None], [1.0], 12) == [" ", "▁"] and trend([], [1.0, 2.0], 12) == ["", "▁█"]
    assert course([3.0, None, 1.0]) == "█▁" and course([1.0]) == ""


def test_a_fit_ends_with_the_course_of_its_validation(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "book.txt").write_text(prose(60, 1))
    small = (
        "--updates",
        "12",
        "--validations",
        "4",
        "--width",
        "8",
        "--rows",
        "2",
        "--length",
        "8",
    )
    said = good("fit", "language", "rnn", "book.txt", *small, "--out", "run").err
    (line,) = [each for each in said.splitlines() if each.startswith("validation ")]
    looks = [
        json.loads(each)["valid"]
        for each in (tmp_path / "run" / "events.jsonl").read_text().splitlines()
        if json.loads(each)["event"] == "validation"
    ]
    assert line.split()[1] == course(looks) and f"{looks[0]:.4g} to {looks[-1]:.4g} nats" in line
    assert "of 12 updates" in line
    assert (
        "validation " not in good("fit", "language", "markov", "book.txt", "--out", "counted").err
    )


def test_warnings_and_words_of_progress_are_no_markup(capsys):
    watcher = Watcher()
    watcher.see({"event": "warning", "words": "labels that differ: '[/red]'"})
    watcher.see({"event": "rung", "model": "markov", "words": "[/b] 2.0"})
    assert "'[/red]'" in capsys.readouterr().err
