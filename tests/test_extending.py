"""docs/extending.md: the task it adds is written to a folder as it stands there, and every verb runs on it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import seriatim as st
from seriatim import tasks
from tests.terminal import call, good

PAGE = Path(__file__).parents[1] / "docs" / "extending.md"
LINES = [
    first + letter * length + last
    for first, length in (("a", 9), ("b", 2), ("c", 4))
    for letter in "uvwxyz"
    for last in ("", "k", "lm", "nop")
]


@pytest.fixture
def room(tmp_path, monkeypatch) -> Path:
    """The files of the page in a folder beside the other rooms, and the row."""
    folder = tmp_path / "rooms" / "lengths"
    folder.mkdir(parents=True)
    blocks = re.findall(r"```python lengths/(\w+\.py)\n(.*?)```", PAGE.read_text(), re.S)
    for name, text in blocks:
        (folder / name).write_text(text)
    monkeypatch.setattr(tasks, "__path__", [*tasks.__path__, str(folder.parent)])
    monkeypatch.setitem(tasks.TASKS, "lengths", "seriatim.tasks.lengths:TASK")
    yield folder
    for name in [name for name in sys.modules if name.startswith("seriatim.tasks.lengths")]:
        del sys.modules[name]


@pytest.fixture
def file(tmp_path) -> Path:
    """Lines whose length depends on how they begin."""
    (tmp_path / "lines.txt").write_text("\n".join(LINES) + "\n")
    return tmp_path / "lines.txt"


def test_the_page_shows_a_task_of_four_files(room):
    assert sorted(each.name for each in room.glob("*.py")) == [
        "__init__.py",
        "cut.py",
        "models.py",
        "predictor.py",
    ]


def test_a_new_task_has_every_verb_in_python(room, file, tmp_path):
    model = st.fit("lengths", "by-beginning", str(file), add=0.5, out=tmp_path / "run")
    assert repr(model).startswith("Predictor(lengths, by-beginning")
    record = st.evaluate(model, LINES)
    assert record["kind"] == "evaluation" and record["mae"] > 0 and record["task"] == "lengths"
    again = st.load(tmp_path / "run")
    assert again.evaluate(LINES)["mae"] == record["mae"]
    assert len(st.predict(again, ["aaa", "b"])["items"]) == 2
    other = st.fit("lengths", "average", str(file))
    assert other.evaluate(LINES, against=again)["against"]["p"] <= 1
    table = st.compare("lengths", str(file), out=tmp_path / "table")
    assert {row["model"] for row in table["rows"]} == {"average", "by-beginning"}
    assert (tmp_path / "table" / "report.html").exists()
    drawn = st.plot(model, LINES, what="errors", out=tmp_path / "errors.svg")
    assert Path(drawn.written).read_bytes().startswith(b"<svg")
    assert st.evaluate(model, LINES).plot().rows == drawn.rows


def test_a_new_task_has_every_verb_on_the_command_line(room, file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    helped = good("fit", "lengths", "by-beginning", "--help").out
    assert "--add" in helped and "default 1.0" in helped
    good("fit", "lengths", "by-beginning", file, "--out", "run")
    assert good("evaluate", "run", file, "--format", "json").json()["kind"] == "evaluation"
    assert good("predict", "run", "--text", "abc", "--format", "json").json()["items"]
    assert "by-beginning" in good("compare", "lengths", file, "--out", "table").out
    good("plot", "run", "--what", "errors", "--file", file, "--out", "errors.png")
    refused = call("fit", "lengths", "by-beginning", file, "--width", "3")
    assert refused.code == 2 and "--width" in refused.err
