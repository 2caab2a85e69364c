"""Typed: what an editor and mypy know of settings agrees with the option records, 60 typical lines
are right and every typical mistake is found."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import seriatim as st
from seriatim import api
from seriatim.errors import ConfigError
from tests import typed

HERE = Path(__file__).parent / "typing"


def found_by_mypy(file: Path, folder: Path) -> dict[int, str]:
    """The lines on which mypy finds something wrong, and what."""
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--no-color-output", str(file)]
    place = {"cwd": HERE.parent.parent, "capture_output": True, "text": True, "check": False}
    done = subprocess.run([*command, "--cache-dir", str(folder)], **place)
    lines = [line.split(":", 3) for line in done.stdout.splitlines() if ": error:" in line]
    assert done.returncode in (0, 1) and not done.stderr
    assert all(Path(line[0]).name == file.name for line in lines), done.stdout
    return {int(line[1]): line[3] for line in lines}


def test_what_is_typed_agrees_with_the_option_records():
    known = typed.FILE.read_text()
    assert known == typed.text(), "write it anew: python -m tests.typed"


def test_functions_have_the_arguments_that_they_are_said_to_have():
    for node in ast.parse(typed.FILE.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            own = inspect.signature(getattr(api, node.name)).parameters.values()
            named = [each.name for each in own if each.kind not in (each.VAR_KEYWORD,)]
            given = [*node.args.args, *([node.args.vararg] * bool(node.args.vararg))]
            assert [each.arg for each in (*given, *node.args.kwonlyargs)] == named, node.name


def test_a_typo_is_told_with_the_nearest_name_when_it_runs():
    with pytest.raises(ConfigError, match=r"'widht' is not a setting.*Did you mean 'width'"):
        st.fit("language", "lstm", "markov:length=500", widht=8)
    with pytest.raises(ConfigError, match=r"no task 'langauge'.*Did you mean 'language'"):
        st.fit("langauge", "lstm", "markov:length=500")


def test_kinds_of_settings_are_written_as_they_are_taken():
    assert typed.type_of(int | None, None) == "int | None"
    assert typed.type_of(str, ("", "a")) == "Literal['', 'a']"
    assert "minutes" in typed.common() and "horizon" not in typed.common()


@pytest.mark.slow
def test_lines_as_users_write_them_are_right_and_mistakes_are_found(tmp_path):
    lines = (HERE / "user.py").read_text().splitlines()
    assert sum(line.startswith("    ") and "# " not in line for line in lines) >= 60
    assert found_by_mypy(HERE / "user.py", tmp_path) == {}
    wrong = (HERE / "mistakes.py").read_text().splitlines()
    expected = {i for i, line in enumerate(wrong, 1) if line.endswith("# wrong")}
    assert len(expected) >= 20 and found_by_mypy(HERE / "mistakes.py", tmp_path).keys() == expected
