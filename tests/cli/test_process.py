"""The process of the command line: closed streams, deleted folders, early interrupts, mistakes of ours.

Each case is a process of its own, as a shell would start it; none may show a traceback.
"""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import stat
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "seriatim"]
ROOT = Path(__file__).parent.parent.parent
SURROUNDINGS = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


def shell(line: str, folder: Path) -> tuple[int, str]:
    """A line of a shell, in which `seriatim` is ours: its exit code, and all that was printed."""
    line = line.replace("seriatim", " ".join(COMMAND))
    found = subprocess.run(
        ["bash", "-c", line], cwd=folder, env=SURROUNDINGS, capture_output=True, text=True
    )
    said = found.stdout + found.stderr
    assert "Traceback" not in said and "Exception ignored" not in said, said
    return found.returncode, said


@pytest.mark.parametrize(
    "line, code, words",
    [
        ("seriatim models >&-", 1, "cannot write the result"),
        ("seriatim --help >&-", 1, "cannot write the result"),
        ("seriatim models >/dev/full", 1, "cannot write the result"),
        ("seriatim models --format json >&-", 1, '"cannot write the result"'),
        ("seriatim models >&- 2>&-", 1, ""),
        ("seriatim models 2>&-", 0, "kneser-ney"),
        ("seriatim modelz 2>&-", 2, ""),  # and nothing of it on stdout
        ("seriatim modelz 2>/dev/full", 2, ""),
        ("seriatim check - <&-", 1, "the file is empty"),
        ("seriatim models | head -c 1; exit ${PIPESTATUS[0]}", 0, ""),
        ("mkdir gone; cd gone; rmdir ../gone; seriatim check x.txt", 1, "working folder"),
        ("mkdir gone; cd gone; rmdir ../gone; seriatim fit language markov x", 1, "working folder"),
        ("mkdir gone; cd gone; rmdir ../gone; seriatim --version", 0, "seriatim"),
    ],
)
def test_streams_and_folders_that_are_not_there(tmp_path, line, code, words):
    found, said = shell(line, tmp_path)
    assert found == code and words in said
    if code == 2:
        assert said == ""


def caught(process: int) -> bool:
    """Whether a process has set its own way to be interrupted: Python has one, and ours is another, so
    the first module of ours must be there."""
    return "seriatim" in Path(f"/proc/{process}/cmdline").read_text() and bool(
        int(Path(f"/proc/{process}/status").read_text().split("SigCgt:")[1].split()[0], 16)
        & 1 << (signal.SIGINT - 1)
    )


@pytest.mark.parametrize("seconds", [0.12, 0.2, 0.35])
def test_an_interrupt_while_starting_is_one_line(tmp_path, seconds):
    (tmp_path / "x.txt").write_text("a b c\n" * 1000)
    child = subprocess.Popen(
        [*COMMAND, "fit", "language", "lstm", "x.txt"],
        cwd=tmp_path,
        env=SURROUNDINGS,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not caught(child.pid):  # Python's own start is not ours
        time.sleep(0.005)
    time.sleep(seconds)
    child.send_signal(signal.SIGINT)
    said = child.communicate(timeout=60)[1]
    assert child.returncode == 130 and said == "seriatim: interrupted\n"


def test_a_mistake_of_ours_is_one_line_and_a_file(tmp_path):
    code = (
        "import seriatim.cli.main as main; main.done = lambda *_: 1 / 0\n"
        "from seriatim.cli.start import start; raise SystemExit(start())"
    )
    for arguments in ([], ["--format=json"]):
        found = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=tmp_path,
            env=SURROUNDINGS | {"TMPDIR": str(tmp_path)},
            capture_output=True,
            text=True,
        )
        assert found.returncode == 70 and len(found.stderr.splitlines()) == 1
        (file,) = tmp_path.glob("seriatim-mistake-*.txt")
        assert str(file) in found.stderr and "ZeroDivisionError" in found.stderr
        assert "Traceback" in file.read_text() and stat.S_IMODE(file.stat().st_mode) == 0o600
        file.unlink()
    assert json.loads(found.stderr)["error"]["file"] == str(file)


EACH = """
import json, sys
from seriatim.cli.main import main
for arguments in json.loads(sys.argv[1]):
    print("-----", main(arguments), flush=True)
"""


def on_terminal(commands: list[list[str]], folder: Path) -> list[str]:
    """What each of several commands shows where stdout and stderr are a terminal, one process for all."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", EACH, json.dumps(commands)],
        cwd=folder,
        env=SURROUNDINGS,
        stdout=theirs,
        stderr=theirs,
    ):
        os.close(theirs)
        pieces = []
        with suppress(OSError):  # the other end is closed
            while piece := os.read(ours, 1 << 16):
                pieces.append(piece)
    os.close(ours)
    shown = b"".join(pieces).decode("utf-8", "replace")
    assert "Traceback" not in shown
    return re.split(r"----- \d+", shown)[:-1]


HOSTILE = "\x1b]0;gone\x07 \x9b31m \u202e [/red] [bold]"


def test_a_terminal_obeys_nothing_that_comes_from_data(tmp_path):
    rows = "".join(f"{HOSTILE}{i % 2}\tx y {'ab'[i % 2]} {i}\n" for i in range(40))
    (tmp_path / "train.tsv").write_text("label\ttext\n" + rows)
    (tmp_path / "x.txt").write_text("\x1b[31m\u202e" * 300)
    generate = ["generate", "runs/text", "--length", "14", "--seed", "1", "--temperature", "0.01"]
    commands = [
        ["fit", "classify", "naive-bayes", "train.tsv", "--out", "run"],
        ["predict", "run", "train.tsv"],
        ["evaluate", "run", "train.tsv"],
        ["check", "train.tsv"],
        ["explain", "run", "x y a"],
        ["predict", "run", HOSTILE],
        ["fit", "language", "markov", "x.txt", "--order", "5", "--out", "runs/text"],
        generate,
        ["evaluate", "run", "train.tsv", "--format", "json"],
    ]
    shown = on_terminal(commands, tmp_path)
    assert len(shown) == len(commands), shown
    for each in shown:
        assert "\x1b]0;" not in each and "\x9b" not in each and "\u202e" not in each
        assert "\x1b[31m\u202e" not in each
    assert "\\x1b[31m\\u202e" in shown[-2] and "[/red]" in shown[2]
    record = json.loads(shown[-1][shown[-1].index("{") :])
    assert HOSTILE + "0" in json.dumps(record, ensure_ascii=False).replace(
        "\\u001b", "\x1b"
    ).replace("\\u0007", "\x07")
    code, said = shell("seriatim " + " ".join(generate), tmp_path)
    assert code == 0 and "\x1b[31m\u202e" in said  # a pipe gets the exact text
