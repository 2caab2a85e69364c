"""A scatter of found values over true ones shows the pairs of its record."""

from __future__ import annotations

import numpy as np
import pytest

import seriatim as st
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import RunError
from seriatim.tasks.labels.pictures import scatter
from seriatim.tasks.regress.metrics import WITHIN, pairs, value_report
from tests.drawn import data_in, sound


def evaluated(many: int, deviation: float = 0.5) -> dict:
    """The record of an evaluation."""
    generator = np.random.default_rng(0)
    truth = generator.normal(size=many)
    mean, spread = truth + deviation * generator.normal(size=many), np.full(many, deviation)
    figures = value_report(truth, mean, spread, 0.0, WITHIN)
    more = {"pairs": pairs(truth, mean, spread), "sequences": many, "model": "gru"}
    return figures | more | {"data": "days.jsonl"}


def test_every_pair_is_a_mark_with_its_interval():
    record = evaluated(30)
    chart = sound(scatter(record))
    for row, pair in zip(chart.rows, record["pairs"], strict=True):
        assert (row["truth"], row["value"]) == (pair["truth"], pair["value"])
        assert row["high"] - row["low"] == pytest.approx(2 * WITHIN * pair["deviation"])
    assert all(row in data_in(chart) for row in chart.rows)
    assert f"{record['mae']:.4g}" in chart.says and "are drawn" not in chart.says


def test_of_many_values_a_thousand_are_kept_and_that_is_said():
    record = evaluated(2500)
    assert len(record["pairs"]) == 1000
    assert "1,000 of 2,500 are drawn" in scatter(record).says


def test_one_value_is_drawn_and_none_is_refused():
    sound(scatter(evaluated(1)))
    none = evaluated(2) | {"pairs": [{"truth": 1.0, "value": None, "deviation": 1.0}]}
    with pytest.raises(RunError, match="nothing to draw"):
        scatter(none)


def test_an_evaluation_is_drawn():
    generator = np.random.default_rng(1)
    rows = [generator.normal(size=(6, 1)) for _ in range(40)]
    value = Field.of_numbers([np.array([row.mean()]) for row in rows])
    data = Sequences({"values": Field.of_numbers(rows), "value": value})
    model = st.fit("regress", "linear", data)
    record = st.evaluate(model, data)
    assert [each["truth"] for each in record["pairs"]] == pytest.approx([r.mean() for r in rows])
    assert st.plot(model, data, what="scatter").rows == record.plot().rows
