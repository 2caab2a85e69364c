"""Who ends a fit politely (Ctrl-C, SIGTERM, SIGHUP) finds what it learned, and can go on to the same bits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from seriatim import fit, load
from seriatim.errors import RunError
from tests.ladder import fit_events
from tests.terminal import call, prose

SMALL = {"width": 8, "rows": 2, "length": 8, "updates": 40, "checkpoint_seconds": 0.0}
LSTM = ("fit", "language", "lstm", "book.txt", "--width", "8", "--rows", "2", "--length", "8")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("book.txt").write_text(prose(30, 1))


def weights(folder: str) -> bytes:
    return Path(folder, "weights.safetensors").read_bytes()


def strike(events, until, then=KeyboardInterrupt) -> list[dict]:
    """Run a fit until something is so, and interrupt it; what came after."""
    while not until(next(events)):
        pass
    seen = [events.throw(then())]
    seen.extend(events)
    return seen


@pytest.mark.parametrize("stop", [1, 2, 3, 5, 6, 7])
@pytest.mark.parametrize("how", ["killed", "interrupted"])
def test_a_stop_within_a_group_of_batches_resumes_to_the_same_bits(stop, how):
    asked = SMALL | {"updates": 12, "accumulate": 4, "validations": 12}
    fit("language", "lstm", "book.txt", out="whole", **asked)
    events = fit_events("language", "lstm", "book.txt", out="run", settings=asked)

    def here(event):
        return event["event"] == "validation" and event["step"] >= stop

    if how == "killed":
        while not here(next(events)):
            pass
        events.close()
    else:
        strike(events, here)
        assert load("run").metrics["interrupted"]
    fit("language", "lstm", "book.txt", out="run", resume=True, **asked)
    assert weights("run") == weights("whole") and "interrupted" not in load("run").metrics
    assert not list(Path("run").glob("checkpoint-*"))


def test_an_interrupted_fit_is_used_and_gone_on_with():
    fit("language", "lstm", "book.txt", out="whole", **SMALL)
    events = fit_events("language", "lstm", "book.txt", out="run", settings=SMALL)
    seen = strike(events, lambda event: event.get("step", 0) > 9)
    assert seen[0]["event"] == "interrupted" and load("run").metrics["interrupted"]
    with pytest.raises(RunError, match="resume= to go on"):
        fit("language", "lstm", "book.txt", out="run", **SMALL)
    with pytest.raises(RunError, match="other settings"):
        fit("language", "lstm", "book.txt", out="run", resume=True, **SMALL | {"width": 9})
    load("run")  # which is as it was
    fit("language", "lstm", "book.txt", out="run", resume=True, **SMALL)
    assert weights("run") == weights("whole")


@pytest.mark.parametrize("task, model", [("language", "lstm"), ("words", "skip-gram")])
def test_a_fit_without_an_update_is_not_finished_by_an_interrupt(task, model):
    asked = {"updates": 3, "width": 8}
    fit(task, model, "book.txt", out="whole", **asked)
    events = fit_events(task, model, "book.txt", out="run", settings=asked)
    with pytest.raises(KeyboardInterrupt):
        strike(events, lambda event: event["event"] == "begin")
    with pytest.raises(RunError, match="unfinished"):
        load("run")
    fit(task, model, "book.txt", out="run", resume=True, **asked)
    assert weights("run") == weights("whole")


@pytest.mark.parametrize("part", [0, 1])
def test_an_interrupt_ends_a_mixture_and_not_only_one_of_its_parts(part):
    fit("language", "lstm+gru", "book.txt", out="whole", **SMALL)
    events = fit_events("language", "lstm+gru", "book.txt", out="run", settings=SMALL)
    at = [-1]

    def until(event):
        at[0] = event.get("part", at[0])
        return at[0] == part and event.get("step", 0) > 9

    if part == 0:
        with pytest.raises(KeyboardInterrupt):
            strike(events, until)
        with pytest.raises(RunError, match="unfinished"):
            load("run")
    else:
        strike(events, until)
        assert load("run").metrics["interrupted"]
    fit("language", "lstm+gru", "book.txt", out="run", resume=True, **SMALL)
    assert weights("run") == weights("whole")


def test_a_second_interrupt_leaves_a_fit_that_resumes():
    fit("language", "lstm", "book.txt", out="whole", **SMALL)
    events = fit_events("language", "lstm", "book.txt", out="run", settings=SMALL)
    while next(events).get("step", 0) < 9:
        pass
    assert events.throw(KeyboardInterrupt())["event"] == "interrupted"
    with pytest.raises(KeyboardInterrupt):
        events.throw(KeyboardInterrupt())
    with pytest.raises(RunError, match="unfinished"):
        load("run")
    fit("language", "lstm", "book.txt", out="run", resume=True, **SMALL)
    assert weights("run") == weights("whole")


def started(*arguments: str) -> subprocess.Popen:
    """The command line in a process of its own."""
    home = Path(__file__).parent.parent
    return subprocess.Popen(
        [sys.executable, "-m", "seriatim", *arguments],
        env=os.environ | {"PYTHONPATH": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # which nohup ignores
    )


def struck(process: subprocess.Popen, number: int, file: str) -> str:
    """Send a signal when a file is there; what was said on stderr."""
    while not list(Path().glob(file)) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(number)
    return process.communicate(timeout=60)[1]


@pytest.mark.parametrize("name, code", [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_every_signal_that_asks_to_end_saves_and_ends(name, code):
    process = started(*LSTM, "--updates", "90000", "--checkpoint-seconds", "0", "--out", "run")
    said = struck(process, getattr(signal, name), "run/checkpoint-*")
    assert process.returncode == code and "Traceback" not in said, said
    assert "--out run --resume goes on" in said and load("run").metrics["interrupted"]


@pytest.mark.slow
def test_a_comparison_that_is_ended_is_gone_on_with():
    asked = ("compare", "language", "book.txt", "--models", "markov,lstm,gru", "--updates", "400")
    asked += ("--width", "8", "--rows", "2", "--length", "8", "--checkpoint-seconds", "0")
    process = started(*asked, "--out", "table")
    said = struck(process, signal.SIGTERM, "table/runs/lstm/checkpoint-*")
    assert process.returncode == 143 and "Traceback" not in said, said
    assert call(*asked, "--out", "table", "--resume").code == 0
    assert call(*asked, "--out", "whole").code == 0
    for model in ("markov", "lstm", "gru"):
        assert weights(f"table/runs/{model}") == weights(f"whole/runs/{model}")


SLOW_DEATH = """
import os, signal, sys, time
from seriatim.cli import main

class Struck:
    def __del__(self):  # where Python can raise nothing
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(1000):  # the handler runs between two lines
            pass

def work(arguments, alone):
    del [Struck()][0]
    time.sleep(90)

main.done = work
sys.exit(main.main())
"""


def test_a_signal_that_strikes_where_nothing_can_be_raised_ends_the_command_all_the_same():
    done = subprocess.run(
        [sys.executable, "-c", SLOW_DEATH],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 143 and done.stderr == "seriatim: interrupted\n"
