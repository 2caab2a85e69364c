"""Shared by all tests: where the public data is, and small models of every rung."""

from __future__ import annotations

import os

os.environ.setdefault("GOMP_SPINCOUNT", "2000")  # before torch is there, as the command line does

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import settings

from seriatim.data.sequences import SYMBOLS, Field, offsets_of

torch.set_num_threads(
    1
)  # the tests run side by side, and a process that forks must not have threads
settings.register_profile(
    "fresh", deadline=None
)  # `make test-fresh` draws new cases; machines are busy, so none has to be quick
settings.register_profile(
    "repeatable", settings.get_profile("fresh"), derandomize=True
)  # the same ones in every run
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def public_data() -> Path:
    """The folder of public data sets, or a skip with a clear word."""
    folder = Path(
        os.environ.get("SERIATIM_DATA", Path(__file__).parent.parent.parent / "shared" / "data")
    )
    if not folder.is_dir():
        pytest.skip("public data not found: set SERIATIM_DATA to its folder")
    return folder


@pytest.fixture(autouse=True)
def wide(monkeypatch) -> None:
    """Tables in files are as wide as is usual, whatever a library (readline) says of the screen."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def bfloat16() -> None:
    """A machine on which a process may compute in bfloat16, or a skip with a clear word."""
    from seriatim.training.trials import survives_bfloat16

    if not survives_bfloat16():
        pytest.skip("this machine ends processes that compute in bfloat16")


def symbols(rows) -> Field:
    """Rows of numbers as a field of encoded symbols."""
    rows = [np.asarray(row, np.int32) for row in rows]
    return Field(np.concatenate(rows), offsets_of(map(len, rows)), SYMBOLS)
