"""Sequences of numbers with a label: what is learned, and how long tables are read."""

from __future__ import annotations

import json

import pytest

from seriatim import compare, fit, load
from seriatim.errors import ConfigError, RunError
from tests.labels import processes
from tests.ladder import parts_of
from tests.terminal import call, good

QUICK = {"width": 16, "rate": 2e-2, "dropout": 0.0, "validations": 4}


COUNT_SYMBOLS = ("naive-bayes", "markov-bayes")


@pytest.mark.parametrize("rung", COUNT_SYMBOLS)
def test_models_that_count_symbols_say_so_and_a_comparison_goes_on_without_them(rung):
    with pytest.raises(ConfigError, match=r"counts symbols.*gru"):
        fit("classify", rung, processes(20))
    record = compare("classify", processes(80), ["majority", rung])
    assert [(row["model"], row["status"]) for row in record["rows"]] == [
        ("majority", "ok"),
        (rung, "failed"),
    ] and "symbols" in record["rows"][1]["reason"]


def test_numbers_have_a_recipe_of_their_own_unless_something_else_is_asked_for():
    words, numbers, asked_for = (
        parts_of("gru", settings, "classify", kind)[0].training
        for settings, kind in (({}, False), ({}, True), ({"updates": 9}, True))
    )
    assert (
        numbers.rows < words.rows
        and numbers.rate > words.rate
        and (asked_for.updates, asked_for.epochs, asked_for.rate) == (9, None, numbers.rate)
    )
    assert (
        fit("classify", "gru", processes(20), updates=1, width=8).parts[0].training.rows
        == numbers.rows
    )


@pytest.mark.parametrize(
    ("rung", "settings"), [("linear", {}), ("gru", QUICK | {"updates": 60, "pool": "mean"})]
)
def test_two_processes_are_told_apart(rung, settings):
    record = fit("classify", rung, processes(300), **settings).evaluate(processes(200, seed=1))
    assert (
        record["accuracy"] > 0.95
        and record["protocol"]["unit"] == "step"
        and record["protocol"]["channels"] == 1
    )


def test_drawings_are_known_by_their_shape():
    model = fit("classify", "linear", "drawings:count=400")
    record = model.evaluate("drawings:count=200,seed=1")
    assert record["accuracy"] > 0.9 and len(record["classes"]) == 12
    with pytest.raises(ConfigError, match="numbers"):
        model.explain("a square")


def test_weights_of_other_channels_do_not_fit(tmp_path):
    fit("classify", "gru", processes(30), out=tmp_path / "run", updates=1, width=8)
    record = json.loads((tmp_path / "run" / "codec.json").read_text())
    record["numbers"] = {"mean": [0.0, 0.0], "deviation": [1.0, 1.0], "vector": False}
    (tmp_path / "run" / "codec.json").write_text(json.dumps(record))
    with pytest.raises(RunError, match="not the file"):
        load(tmp_path / "run")


def test_long_tables_from_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = processes(40)
    lines = [
        f"s{s},{t},{value},{data.fields['label'].raw(s)[0]}"
        for s in range(40)
        for t, value in enumerate(data.main.raw(s))
    ]
    (tmp_path / "long.csv").write_text("\n".join(["who,time,pulse,state", *lines]) + "\n")
    table = ("long.csv", "--series", "who", "--label", "state")
    good("fit", "classify", "linear", *table, "--out", "run")
    assert good("evaluate", "run", *table, "--format", "json").json()["labels"] == 40
    assert len(good("predict", "run", *table).out.splitlines()) == 40
    assert (
        call("fit", "classify", "linear", "long.csv", "--series", "whom", "--out", "other").code
        == 1
    )
