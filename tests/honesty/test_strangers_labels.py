"""What strangers met with labels, tags and tables: probabilities that no data can bear out, columns
and rows taken for what they are not, refusals that name no way out."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import seriatim as st
from seriatim.errors import SeriatimError
from seriatim.tasks.labels.metrics import calibration, cooled, least_sure, temperature
from tests.honesty import seriatim


# -- how sure


def endings(count: int = 180, seed: int = 0) -> tuple[list[str], list[str]]:
    """Names of three languages, which their ends tell for sure."""
    dice = np.random.default_rng(seed)
    ends = {"de": "mann", "fi": "nen", "it": "ini"}
    labels = [list(ends)[i % 3] for i in range(count)]
    letters = list("abdeghklmorstu")
    return ["".join(dice.choice(letters, 5)) + ends[each] for each in labels], labels


def test_what_is_always_right_is_not_certain():
    names, labels = endings()
    model = st.fit("classify", "linear", (names, labels))
    unknown = model.predict(["smith"], probabilities=True)["items"][0]["probabilities"]
    assert max(each["probability"] for each in unknown) < 0.999
    fresh, true = endings(60, seed=1)
    found = model.evaluate((fresh, true))
    assert found["accuracy"] == 1.0 and 0.0 < found["log_loss"] < 2 / 180
    said = model.explain("smith")["items"][0]
    assert abs(said["logit"]) < 20


def test_the_least_sure_temperature_loses_no_more_than_can_be_told():
    dice = np.random.default_rng(0)
    scores, truth = dice.normal(size=(400, 3)), dice.integers(0, 3, 400)
    scores[np.arange(400), truth] += 1.5
    best, t = temperature(scores, truth), least_sure(scores, truth)
    losses = [-cooled(scores, each)[np.arange(400), truth].mean() for each in (best, t)]
    assert best < t < 1.3 * best and math.isclose(losses[1] - losses[0], 1 / 400, rel_tol=1e-3)


def test_a_loss_of_nothing_is_zero():
    sure = np.log(np.array([[1.0, 1e-300], [1e-300, 1.0]]))
    assert str(calibration(sure, np.array([0, 1]))["log_loss"]) == "0.0"
