"""docs/extending.md: the task it adds is written to a folder as it stands there, and every verb runs on it."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import seriatim as st
from seriatim import tasks
from seriatim.data.formats import FORMATS
from seriatim.data.formats.midi import write_midi
from seriatim.errors import RunError
from tests.ladder import fit_events
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


def test_the_page_shows_a_task_of_five_files(room):
    assert sorted(each.name for each in room.glob("*.py")) == [
        "__init__.py",
        "cut.py",
        "models.py",
        "network.py",
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
    table = st.compare("lengths", str(file), out=tmp_path / "table", updates=20)
    assert {row["model"] for row in table["rows"]} == {"average", "by-beginning", "network"}
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
    table = good("compare", "lengths", file, "--out", "table", "--updates", "20").out
    assert "by-beginning" in table and "network" in table
    good("plot", "run", "--what", "errors", "--file", file, "--out", "errors.png")
    refused = call("fit", "lengths", "by-beginning", file, "--width", "3")
    assert refused.code == 2 and "--width" in refused.err


SHORT = {"updates": 30, "rows": 8, "validations": 6, "seed": 3, "threads": 1}


def stopped(events, after: int):
    """The events of a fit up to the first look at the validation data after so many updates."""
    for event in events:
        if event["event"] == "validation" and event["step"] >= after:
            return event
    raise AssertionError("it came to its end")


def test_a_network_of_a_new_task_learns_and_is_kept(room, file, tmp_path):
    model = st.fit(
        "lengths", "network", str(file), out=tmp_path / "run", **SHORT | {"updates": 300}
    )
    floor = st.fit("lengths", "average", str(file))
    record = st.evaluate(model, LINES)
    assert record["mae"] < floor.evaluate(LINES)["mae"] / 2
    again = st.load(tmp_path / "run", verify=True)
    assert again.evaluate(LINES)["mae"] == record["mae"]
    assert st.predict(again, ["au", "b", ""]) == st.predict(model, ["au", "b", ""])
    assert "symbols off" in model.metrics["said"]
    other = model.save(tmp_path / "copy")
    assert (other / "weights.safetensors").read_bytes() == (
        tmp_path / "run/weights.safetensors"
    ).read_bytes()


def test_a_killed_network_of_a_new_task_resumes_to_the_same_bits(room, file, tmp_path):
    settings = SHORT | {"checkpoint_seconds": 0.0}
    st.fit("lengths", "network", str(file), out=tmp_path / "whole", **settings)
    events = fit_events("lengths", "network", str(file), out=tmp_path / "halves", settings=settings)
    stopped(events, 12)
    events.close()  # as if the process had gone
    with pytest.raises(RunError, match="unfinished"):
        st.load(tmp_path / "halves")
    st.fit("lengths", "network", str(file), out=tmp_path / "halves", resume=True, **settings)
    whole, halves = (
        (tmp_path / name / "weights.safetensors").read_bytes() for name in ("whole", "halves")
    )
    assert whole == halves


def test_an_interrupted_network_of_a_new_task_keeps_its_best(room, file, tmp_path):
    settings = SHORT | {"updates": 10_000, "validations": 2000}
    events = fit_events("lengths", "network", str(file), out=tmp_path / "run", settings=settings)
    event = stopped(events, 20)
    assert events.throw(KeyboardInterrupt())["event"] == "interrupted"
    assert all(True for _ in events)
    assert st.load(tmp_path / "run").metrics["valid"] <= event["valid"]


OWN = """
    def load_arrays(self, arrays):
        self.load_state_dict(arrays)
"""
UNKEPT = """
        self.register_buffer("scale", torch.ones(1), persistent=False)
"""


@pytest.mark.filterwarnings("ignore:for .*:UserWarning")  # torch says so, too, and goes on
@pytest.mark.parametrize(
    "before, more, missing",
    [
        ("    def expect(self, row):", OWN, "embedding.weight"),
        ("    def forward(self, batch):", UNKEPT, "scale"),
    ],
    ids=["parameters", "buffers"],
)
def test_a_network_that_takes_back_too_little_is_refused_when_it_is_opened(
    room, file, tmp_path, before, more, missing
):
    text = (room / "network.py").read_text()
    (room / "network.py").write_text(text.replace(before, f"{more}\n{before}"))
    st.fit("lengths", "network", str(file), out=tmp_path / "run", **SHORT)
    with pytest.raises(RunError, match=f"LengthNetwork did not take back all.*{missing}"):
        st.load(tmp_path / "run")


def test_the_row_of_a_format_says_that_files_are_one_sequence_each_and_read_as_sets(
    tmp_path, monkeypatch
):
    monkeypatch.setitem(FORMATS, "tune", replace(FORMATS["midi"], endings=(".tune",)))
    files = [tmp_path / "a.tune", tmp_path / "b.tune"]
    for file in files:
        write_midi(["C4:1/4", "E4:1/4"], file)
    tunes = tasks.task("language").cut.sequences(files)
    assert len(tunes) == 2 and "C4:1/4" in tunes.main.symbol_names
    sets = tasks.task("sets").cut.sequences(files)
    assert len(sets) == 2 and "60" in sets.main.symbol_names
