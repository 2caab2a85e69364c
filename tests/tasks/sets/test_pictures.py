"""Rolls of sets show which elements are in which step."""

from __future__ import annotations

import pytest

import seriatim as st
from seriatim.errors import RunError
from seriatim.tasks.sets.pictures import roll
from tests.drawn import HOSTILE, data_in, sound, texts_in


def generated(*texts: str, prompt: str = "") -> dict:
    """What a model of sets gives."""
    items = [{"prompt": prompt, "text": text} for text in texts]
    return {"kind": "generated", "task": "sets", "model": "lstm", "items": items}


def bars(chart) -> list[tuple]:
    return [(row["note"], row["from"], row["to"], row["given"]) for row in chart.rows]


def test_what_stays_in_the_sets_is_one_bar_and_what_was_given_is_grey():
    chart = sound(roll(generated("60+64 60 . 60", prompt="60+64")))
    assert bars(chart) == [
        ("C4", 0, 1, True),
        ("E4", 0, 1, True),
        ("C4", 1, 2, False),
        ("C4", 3, 4, False),
    ]
    assert [row["row"] for row in data_in(chart)] == [60, 64, 60, 60]
    assert "pitch upwards" in chart.says and "grey is what was given" in chart.says
    assert "C4" in texts_in(chart.svg())


def test_other_elements_have_a_row_each():
    chart = sound(roll(generated("milk+bread milk 200", "beer")))
    assert "A row for each element" in chart.says
    names = texts_in(chart.svg())
    assert {"milk", "bread", "200", "beer"} <= set(names)
    assert {row["sequence"] for row in chart.rows} == {"sequence 1", "sequence 2"}


def test_names_are_values_and_empty_sets_are_drawn():
    odd = "+".join("".join(name.split())[:60] for name in HOSTILE if "+" not in name)
    sound(roll(generated(odd)))
    sound(roll(generated(".", "")))
    with pytest.raises(RunError, match="nothing to draw"):
        roll(generated())


def test_long_sequences_and_many_are_drawn_in_part():
    chart = sound(roll(generated(*[" ".join(["60", "62"] * 100)] * 9)))
    assert "The first 8 of 9" in chart.says and "first 128 steps" in chart.says


def test_what_a_model_writes_is_drawn(tmp_path):
    model = st.fit("sets", "frequencies", "piano:length=400")
    chart = st.plot(model, "60", what="roll", length=16, count=2, out=tmp_path / "roll.svg")
    record = st.call("generate", model, "60", length=16, count=2)
    assert chart.rows == record.plot().rows == roll(record).rows
    assert (tmp_path / "roll.svg").read_text().startswith("<svg")
    steps = record["items"][0]["text"].split()
    sounding = sum(b["to"] - b["from"] for b in chart.rows if b["sequence"] == "sequence 1")
    assert sounding == sum(len(step.split("+")) for step in steps if step != ".")
