"""An audit of sequences of numbers with labels or values, as classify and regress read them."""

from __future__ import annotations

import json

import numpy as np

import seriatim as st
from tests.honesty import seriatim


def written(path, rows):
    """Rows as lines of JSON."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def drawn(count: int, steps: int = 30) -> list[list[float]]:
    """Noise."""
    return np.random.default_rng(0).normal(size=(count, steps)).round(3).tolist()


def told(record, words: str) -> dict:
    """The finding that says this."""
    return next(each for each in record["findings"] if words in each["what"])


def test_numbers_with_labels_are_looked_at(tmp_path):
    rows = [{"values": v, "label": "ok" if i % 3 else "fault"} for i, v in enumerate(drawn(60))]
    rows += [{"values": rows[0]["values"], "label": "ok"}, {"values": [1.0, 2.0], "label": "odd"}]
    path = written(tmp_path / "a.jsonl", rows)
    said = seriatim("check", path)
    assert said.code == 0 and "not text" not in said.out
    record = st.check(str(path))
    assert "62 of 2 to 30 steps" in told(record, "sequences of numbers")["what"]
    assert "'ok' 41" in told(record, "3 labels")["got"]
    assert told(record, "fewer than 5")["got"] == "'odd' 1"
    assert told(record, "copies of an earlier")["lines"] == [61]
    assert told(record, "another label")["lines"] == [61]


def test_numbers_with_values_are_looked_at(tmp_path):
    rows = [{"values": v, "value": float(i)} for i, v in enumerate(drawn(20))]
    record = st.check(str(written(tmp_path / "a.jsonl", rows)))
    assert told(record, "a value for each")["got"].startswith("0 to 19, mean 9.5")
    assert {each["severity"] for each in record["findings"]} == {"note"}
    same = [{**row, "value": 3.0} for row in rows]
    record = st.check(str(written(tmp_path / "b.jsonl", same)))
    assert told(record, "all sequences have the same value")["severity"] == "error"


def test_channels_and_what_is_not_finite():
    values = np.random.default_rng(1).normal(size=(12, 5, 2))
    values[:, :, 1] = 7
    values[3, 2, 0] = np.inf
    record = st.check((values, ["a", "b"] * 6))
    assert "12 of 5 steps, 2 channels" in told(record, "sequences of numbers")["what"]
    assert "1 of 120" in told(record, "not finite")["what"]
    assert told(record, "never change")["got"] == "2"
