"""Every task has a codec that is found by its name, and encoded data whose columns nobody has to ask for."""

from __future__ import annotations

import numpy as np
import pytest

from seriatim.data.sequences import NUMBERS, SYMBOLS, Field
from seriatim.errors import ConfigError, DataError
from seriatim.settings import named
from seriatim.tasks import task, tasks
from seriatim.tasks.autoencode.codec import Samples
from seriatim.tasks.forecast.codec import Signals
from seriatim.tasks.labels.codec import Examples
from seriatim.tasks.translate.codec import EncodedPairs


def test_every_task_has_a_codec_that_refuses_what_is_none():
    for room in tasks():
        for record in ({}, {"options": {}}, {"options": {}, "symbols": "ab"}):
            with pytest.raises(DataError, match=r"codec\.json is not a codec"):
                named(room.codec)(record, "codec.json")
    with pytest.raises(ConfigError, match="translate"):
        task("translation")


def test_encoded_data_names_its_columns():
    x = Field(np.arange(3, dtype=np.int32), np.array([0, 3]), SYMBOLS)
    y = Field(np.zeros((3, 1)), np.array([0, 3]), NUMBERS)
    assert x.columns == (x,)
    assert Examples(x, y).columns == EncodedPairs(x, y).columns == (x, y)
    signals = Signals(x, y, y, y.flat, np.zeros((1, 1)), np.ones((1, 1)))
    assert Samples(x, np.zeros((1, 0))).columns == signals.columns == (x,)
