"""A comparison that is done again from its record."""

from __future__ import annotations

import json

import pytest

import seriatim as st
from seriatim.cli.main import main
from seriatim.errors import ConfigError, DataError, RunError

DATA = "markov:length=6000"
ASKED = {"order": 2, "updates": 2, "width": 8, "seed": 3}


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repeat") / "first"
    return folder, st.compare("language", DATA, "unigram,markov,rnn", out=folder, **ASKED)


def figures(record):
    return {row["model"]: (row["bits_per_character"], row["valid"]) for row in record["rows"]}


def test_what_it_rests_on_stands_in_the_record(before):
    found = before[1]["provenance"]
    assert found["protocol"] == 2 and found["seed"] == 3
    assert found["asked"] == {"models": "unigram,markov,rnn", **ASKED}
    assert {"seriatim", "torch", "numpy", "python", "threads"} <= found.keys()
    assert len(found["data_fingerprint"]) == 64 and found["data_files"] == [DATA]


@pytest.mark.parametrize("what", ["folder", "file"])
def test_done_again_it_has_the_same_figures(before, what):
    folder, record = before
    path = folder if what == "folder" else folder / "table.json"
    again = st.compare("language", DATA, repeat=str(path))
    assert figures(again) == figures(record)
    assert again["provenance"] == record["provenance"]
    assert again["command"] == record["command"]


def test_on_the_command_line_neither_task_nor_file_is_needed(before, tmp_path, capsys):
    folder, record = before
    main(["compare", "--repeat", str(folder), "--out", str(tmp_path / "again")])
    capsys.readouterr()
    again = json.loads((tmp_path / "again" / "table.json").read_text())
    assert figures(again) == figures(record)


def test_other_data_settings_and_tasks_are_refused(before, tmp_path):
    folder = str(before[0])
    with pytest.raises(DataError, match="not the data"):
        st.compare("language", "markov:length=6000,draw=2", repeat=folder)
    with pytest.raises(ConfigError, match="from its record"):
        st.compare("language", DATA, repeat=folder, order=3)
    with pytest.raises(ConfigError, match="its own task"):
        st.compare("sets", DATA, repeat=folder)
    with pytest.raises(RunError, match="no comparison"):
        st.compare("language", DATA, repeat=str(tmp_path / "nowhere"))
    (tmp_path / "table.json").write_text('{"kind": "comparison", "task": "language"}')
    with pytest.raises(RunError, match="done again"):
        st.compare("language", DATA, repeat=str(tmp_path))


def test_another_version_is_said(before, tmp_path):
    record = json.loads((before[0] / "table.json").read_text())
    record["provenance"]["torch"] = "1.0"
    (tmp_path / "table.json").write_text(json.dumps(record))
    heard = []
    st.compare("language", DATA, repeat=str(tmp_path), on_event=heard.append)
    words = [event["words"] for event in heard if event["event"] == "note"]
    assert any(each.startswith("torch 1.0 then") for each in words)


def test_data_from_memory_are_compared_again_in_python(tmp_path, capsys):
    pairs = [(f"{word} {number}", word) for number in range(20) for word in ("yes", "no")]
    first = tmp_path / "first"
    record = st.compare("classify", pairs, ["naive-bayes", "majority"], out=first, margin=0.02)
    told = f"st.compare('classify', data, repeat={str(first)!r})  # in Python: the data came from memory"
    assert record["command"] == told
    assert "repeat=" in (first / "report.html").read_text()
    assert "seriatim compare" not in (first / "report.html").read_text()
    st.compare("classify", pairs, repeat=first, out=tmp_path / "again")
    kept = [json.loads((each / "table.json").read_text()) for each in (first, tmp_path / "again")]
    assert [row["accuracy"] for row in kept[0]["rows"]] == [
        row["accuracy"] for row in kept[1]["rows"]
    ]
    assert kept[0]["provenance"] == kept[1]["provenance"]
    with pytest.raises(DataError, match="not the data"):
        st.compare("classify", pairs[:-2], repeat=first)
    assert main(["compare", "--repeat", str(first)]) == 2
    said = capsys.readouterr().err
    assert "came from memory" in said and "st.compare('classify', data, repeat=" in said
    loose = st.compare("classify", pairs, ["naive-bayes"], valid=pairs[:10])["command"]
    assert loose.startswith("st.compare('classify', data, valid=valid, models='naive-bayes')")
