"""A short form of each part of the campaign."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.campaign.__main__ import BEGIN, END, PARTS, write
from tests.campaign.disk import disks
from tests.campaign.flips import flips
from tests.campaign.threads import threads

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")


@needs_fork
def test_kills():
    """In a process of its own: other tests leave threads that do not survive a fork."""
    command = [sys.executable, "-m", "tests.campaign", "points", "kills", "sigterm"]
    command += ["--count", "2", "--cases", "gru, accumulate 4"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.count("0 different") == 3, done.stdout + done.stderr


def test_flips():
    found = flips(12, names="lstm;kneser-ney")
    assert found["detected"] == found["flips"] == 12 and not found["missed"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of processes")
@pytest.mark.parametrize("act", ["fit", "save", "overwrite", "export"])
def test_a_full_disk(act):
    found = disks(3, names=act)
    assert found["errors"] > 0 and not found["problems"]


def test_threads():
    found = threads(24, names="sets;classify")
    assert found["different"] == 0


def test_a_row_is_replaced_and_others_stay(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"above\n{BEGIN}\n{END}\nbelow\n")
    for name in reversed(PARTS):
        write(page, name, ["a", "b", "c"])
    write(page, "threads", ["more", "b", "c"])
    text = page.read_text()
    assert text.startswith("above\n") and text.endswith("below\n") and "| threads | more |" in text
    found = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")]
    assert found == ["part", *PARTS]


def test_the_page_has_a_place_for_the_figures():
    page = Path(__file__).parent.parent.parent / "docs" / "reliability.md"
    assert page.read_text().count(BEGIN) == page.read_text().count(END) == 1
