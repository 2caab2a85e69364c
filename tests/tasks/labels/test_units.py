"""Hidden units along a text, of models that label it."""

from __future__ import annotations

import numpy as np
import pytest

import seriatim as st
from seriatim.errors import ConfigError, DataError
from seriatim.models.markers import marked
from tests.labels import pairs, sentences

TINY = {"updates": 2, "width": 8, "rows": 4}
TEXT = "the old dog (a good dog) barks at home and the cat sleeps on a mat"


def model_of(task: str, model: str = "gru", **settings):
    data = {
        "classify": lambda: (
            [text for _, text in pairs(30, 1)],
            [label for label, _ in pairs(30, 1)],
        ),
        "regress": lambda: ([text for _, text in pairs(30, 1)], [len(t) for _, t in pairs(30, 1)]),
        "tag": lambda: sentences(30, 1),
    }[task]()
    return st.fit(task, model, data, **TINY, **settings)


@pytest.mark.parametrize("task", ["classify", "regress", "tag"])
def test_units_of_a_labeller_are_the_outputs_of_its_layers(task):
    unit = {} if task == "tag" else {"unit": "character"}
    model = model_of(task, layers=2, **unit)
    record = model.units(TEXT, count=16)
    assert record["kind"] == "units" and record["task"] == task and record["searched"] == 16
    assert "".join(record["symbols"]).replace(" ", "") == TEXT.replace(" ", "")
    if task != "regress":  # which has no verb for vectors
        for layer in (1, 2):
            vectors = np.array(model.embed([TEXT], layer=layer)["items"][0]["vectors"])
            for each in (item for item in record["items"] if item["layer"] == layer):
                assert each["values"] == pytest.approx(
                    vectors[:, each["unit"] - 1].tolist(), abs=1e-6
                )
    assert record.plot().svg().startswith("<svg")


def test_units_of_a_classifier_follow_a_marker():
    record = model_of("classify", unit="character").units(TEXT, marker="bracket", count=2)
    series = np.array(marked(list(TEXT), "bracket"))  # though it knows no brackets
    assert record["marked"] == series.tolist() and record["halves"] is None  # it ends in the first
    for each in record["items"]:
        assert each["correlation"] == pytest.approx(np.corrcoef(each["values"], series)[0, 1])


def test_what_has_no_units_along_a_text_is_refused():
    with pytest.raises(ConfigError, match="counts makes no vectors"):
        model_of_counts().units(TEXT)
    numbers = [np.arange(n, n + 4.0) for n in range(30)]
    model = st.fit("regress", "gru", (numbers, [float(n) for n in range(30)]), **TINY)
    with pytest.raises(ConfigError, match="along a text"):
        model.units(TEXT)
    with pytest.raises(DataError, match="nothing to read"):
        model_of("classify").units(" ")


def model_of_counts():
    rows = pairs(30, 1)
    return st.fit("classify", "naive-bayes", ([t for _, t in rows], [label for label, _ in rows]))
