"""Completion in a shell: what the cards say, without starting Python."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from seriatim.cli.completion import SHELLS, completion, names
from seriatim.errors import ConfigError
from seriatim.tasks import tasks
from tests.terminal import good

TRY = """
words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _seriatim; echo "${COMPREPLY[@]}"; }
words seriatim ev
words seriatim fit cla
words seriatim fit classify naive
words seriatim compare ta
words seriatim fit tag lstm words.conllu --chai
words seriatim predict runs/spam --probab
words seriatim fit language lstm book.txt --unit by
words seriatim completion z
words seriatim evaluate runs/spam test
"""
FOUND = [
    "evaluate",
    "classify",
    "naive-bayes",
    "tag",
    "--chain",
    "--probabilities",
    "byte",
    "zsh",
    "",
]


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash here")
def test_bash_completes_verbs_tasks_models_flags_and_their_values():
    script = completion("bash") + TRY
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:-1] == FOUND and not done.stderr


def test_every_verb_and_model_is_completed():
    known = names()
    for room in tasks():
        assert set(room.verbs) <= known.verbs.keys() and known.models[room.name] == [*room.rungs]
    assert "--track" in known.flags["fit language"] and "--folds" in known.flags["compare tag"]
    for shell in SHELLS:
        script = good("completion", shell).out
        assert good("completion", shell, "--format", "json").json()["script"] == script
        assert "kneser-ney" in script and "length-penalty" in script and "explain" in script


def test_another_shell_is_refused():
    with pytest.raises(ConfigError, match="bash"):
        completion("bsh")
