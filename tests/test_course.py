"""The course: what its pages show is what their commands print, and its tables lead somewhere."""

from __future__ import annotations

import re

import pytest

from tests.course import COURSE, agree, commands_of, differences, same

PAGES = sorted(COURSE.glob("*.md"))


@pytest.mark.parametrize(
    ("shown", "found", "agrees"),
    [
        ("lstm  1.234  ██", "lstm 1.25 ████▏", True),
        ("lstm  1.234", "lstm 1.40", False),
        ("lstm  1.234", "gru 1.234", False),
        ("9,130 parameters, 6.1 s", "9,130 parameters, 12.0 s", True),
        ("the cat ... .", "the cat sees a dog .", True),
        ("p = 1e-09", "p = 1.02e-09", True),
        ("p = 1e-09", "p = 1e-05", False),
    ],
)
def test_lines_agree_but_for_what_varies(shown, found, agrees):
    assert same(shown, found) == agrees


def test_dots_stand_for_lines():
    assert agree(["a", "...", "d"], ["a", "b", "c", "d"]) and agree(["a", "..."], ["a"])
    assert not agree(["a"], ["a", "b"]) and not agree(["a", "...", "d"], ["a", "b"])


def test_commands_are_found():
    [first, second] = commands_of("```console\n$ one \\\n  more\nout\n$ two\n```\nno\n")
    assert (first.typed, first.shown) == ("one \\\n  more", ["out"]) and second.shown == []


def test_answers_stand_apart():
    exercises = re.compile(r"\*\*Exercise (\d\.\d+)")
    asked = [each for page in PAGES for each in exercises.findall(page.read_text())]
    answered = re.findall(r"\*\*(\d\.\d+)", (COURSE / "answers.md").read_text())
    assert asked == answered and len(set(asked)) == len(asked) > 20


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_what_is_printed(page):
    """Every command does what the page says of it; what networks write may be other words on another
    processor, so of ten commands one may print something else."""
    wrong = [(command.line, why, found) for command, found, why in differences(page) if why]
    assert [each for each in wrong if each[1].startswith("fails")] == []
    shown = [command for command in commands_of(page.read_text()) if command.shown]
    assert len(wrong) <= -(-len(shown) // 10), wrong
