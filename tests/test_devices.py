"""Networks on a second device: tests/on_second_device.py, in a process of its own.

Torch learns of a device once and for all, and may count its devices when it first finds a gradient:
neither is to be so in the process of the other tests.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def passes_there(which: str) -> None:
    """All of its tests pass, and there are some."""
    file = Path(__file__).with_name("on_second_device.py")
    words = [sys.executable, "-m", "pytest", str(file), "-m", which, "-n", "0", "--tb", "short"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=file.parent.parent)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout


def test_one_network_of_each_mixer_and_what_a_device_must_refuse():
    passes_there("not slow")


@pytest.mark.slow
def test_every_network_and_every_verb_of_every_room():
    passes_there("slow")
