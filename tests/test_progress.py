"""Loops that may take long tell how far they are."""

from __future__ import annotations

import pytest

from seriatim.cli.commands import Command
from seriatim.cli.printing import Printer
from seriatim.progress import LISTENER, listening, passing
from seriatim.show import progress as display


def test_all_items_pass_and_the_shares_rise():
    heard = []
    with listening(heard.append):
        assert list(passing("reading", [7, 8, 9, 10])) == [7, 8, 9, 10]
    assert [event["share"] for event in heard] == [0.25, 0.5, 0.75] and all(
        event["remaining"] >= 0 for event in heard
    )
    assert list(passing("reading", range(3))) == [0, 1, 2] and len(heard) == 3


def test_whoever_fails_is_no_longer_listened_to():
    with pytest.raises(KeyError), listening(print):
        raise KeyError
    assert LISTENER.get() is None


def test_what_takes_long_is_shown_and_gives_its_result(monkeypatch, capsys):
    monkeypatch.setattr(display, "PLAIN_SECONDS", -1.0)
    monkeypatch.setattr("seriatim.progress.time.perf_counter", iter(range(0, 900, 60)).__next__)
    with Printer(Command("evaluate"), passing=True) as printer, listening(printer.see):
        assert sum(passing("scoring", [1, 2, 3])) == 6
    shown = capsys.readouterr()
    assert "evaluate: 67 %  scoring  90 s left" in shown.err and not shown.out


def test_a_loop_within_a_loop_tells_how_far_the_outer_one_is():
    heard = []
    with listening(heard.append):
        for _ in passing("reading", range(2)):
            assert list(passing("scoring", "ab")) == ["a", "b"]
    assert [event["share"] for event in heard] == [0.25, 0.5, 0.5, 0.75]
