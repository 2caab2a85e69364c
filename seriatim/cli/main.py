"""The command line: parse, run, print.

Results go to stdout, everything else to stderr; `--format json` everywhere. What is slow is
imported when a verb is run, not before.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any

from seriatim import __version__
from seriatim.cli.overview import OVERVIEW
from seriatim.errors import (
    ConfigError,
    RunError,
    SeriatimError,
    TrainingError,
    command_line,
    nearest,
)
from seriatim.progress import began, since
from seriatim.show.letters import harmless

if TYPE_CHECKING:
    from seriatim.cli.commands import Command


START = time.perf_counter()  # of this module; that of the process was before: see `process_began`
INTERRUPTED = 130  # the exit code
LONGEST_START = 600  # seconds that a process may have taken to start: more is no clock to believe
AGAIN = 0.02  # seconds until a signal that struck where nothing can be raised comes again
NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # not every system has all
SIGNALS = [getattr(signal, name) for name in NAMES if hasattr(signal, name)]


def main(arguments: list[str] | None = None) -> int:
    """The exit code: 0 well, 1 wrong data or run, 2 wrong command or setting; 130 interrupted, 143
    terminated, 129 hung up: all three save what there is and end."""
    with command_line():
        return answered(arguments)


def answered(arguments: list[str] | None) -> int:
    """The same; whatever goes wrong is told."""
    alone, arguments = arguments is None, sys.argv[1:] if arguments is None else arguments
    struck = heeded() if alone else []
    as_json = "--format=json" in arguments or ("--format", "json") in pairwise(arguments)
    write_anything()
    try:
        with since(process_began() if alone else time.perf_counter()):
            code = done(arguments, alone)
        sys.stdout.flush()
        return code_of(struck) if code == INTERRUPTED else code
    except SeriatimError as error:
        return tell(error, as_json)
    except KeyboardInterrupt:
        if alone:
            ignore_signals()
        say("seriatim: interrupted")
        return code_of(struck)
    except BrokenPipeError:  # whoever reads the result has read enough
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        words = error.strerror or error
        return tell(
            RunError("cannot write the result", got=words, do="Check where the output goes"),
            as_json,
        )
    except (MemoryError, RuntimeError) as error:
        if not lacks_memory(error):
            raise
        do = "Use less data, a smaller --width or fewer --rows"
        return tell(TrainingError("out of memory", do=do), as_json)


def process_began() -> float:
    """When the process began, by `time.perf_counter`: Python itself and its imports take time, too.
    Where the system does not tell, when this module was imported."""
    with suppress(OSError, ValueError, IndexError):
        after_name = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        ticks = float(after_name[19])  # since the system began
        running = float(Path("/proc/uptime").read_text().split()[0])
        age = running - ticks / os.sysconf("SC_CLK_TCK")
        if 0 <= age < LONGEST_START:
            return min(START, time.perf_counter() - age)
    return START


def write_anything() -> None:
    """What a terminal cannot show is no reason to stop: it is written with backslashes."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def code_of(struck: list[int]) -> int:
    """The exit code after an interruption, by the signal that came first, if one is known."""
    return 128 + struck[0] if struck else INTERRUPTED


def ignore_signals() -> None:
    """Whoever presses twice means the same."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def lacks_memory(error: Exception) -> bool:
    """Whether an error says that there is no memory left."""
    return isinstance(error, MemoryError) or "allocate memory" in str(error)


def heeded() -> list[int]:
    """Let every signal that asks this process to end do what Ctrl-C does, unless it is to be
    ignored (nohup); those that came."""
    struck: list[int] = []

    def strike(number: int, frame: object) -> None:
        """Remember which it was."""
        struck.append(number)
        raise KeyboardInterrupt(number)

    def strike_again(unraisable: sys.UnraisableHookArgs) -> None:
        """A signal that came where nothing can be raised (while an object is deleted, say) comes
        again."""
        if isinstance(unraisable.exc_value, KeyboardInterrupt) and struck:
            Timer(AGAIN, os.kill, (os.getpid(), struck[0])).start()
        else:
            sys.__unraisablehook__(unraisable)

    for number in SIGNALS:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, strike)
            sys.unraisablehook = strike_again
    return struck


def done(arguments: list[str], alone: bool) -> int:
    """Do what was typed."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(OVERVIEW, end="")
        return 0
    if arguments[0] == "--version":
        print(f"seriatim {__version__}")
        return 0
    if arguments[0].startswith("-"):
        hint = nearest(arguments[0], ["--help", "--version"])
        raise ConfigError(f"a verb comes first, and this is none: {arguments[0]}", do=hint)
    check_place()
    from seriatim.cli.commands import parse

    command = parse(arguments)
    if command.help:
        print(command.help, end="")
        return 0
    if command.verb == "models":
        return models(command)
    if command.verb == "completion":
        return completion(command)
    if alone:
        own_process()
    own = {"fit": fit, "compare": compare, "leaderboard": leaderboard, "plot": plot}
    return own.get(command.verb, others)(command)


def check_place() -> None:
    """The folder that one is in may have been deleted; libraries end the process there."""
    try:
        os.getcwd()
    except OSError as error:
        raise RunError(
            "the working folder does not exist any more",
            got=error.strerror,
            do="Change to another one: cd",
        ) from None


def own_process() -> None:
    """What only a process of its own may set: memory that is kept, threads that give way."""
    os.environ.setdefault("GOMP_SPINCOUNT", "2000")  # before torch is there: see docs/log.md
    from seriatim.parallel import keep_memory

    keep_memory()


def tell(error: SeriatimError, as_json: bool) -> int:
    """Print an error; the exit code."""
    say(json.dumps(error.record()) if as_json else f"seriatim: {error}")
    return 2 if isinstance(error, ConfigError) else 1


def say(words: str) -> None:
    """Something that is no result."""
    print(harmless(words), file=sys.stderr)


# -- verbs
def followed(command: Command, passing: bool, **more: Any) -> Any:
    """Run a command to its end, with bars on stderr, and pieces of results as they come."""
    from seriatim.cli.printing import Printer
    from seriatim.verbs import follow, run

    with Printer(command, passing) as printer:
        work = run(command.verb, command.subject, command.data, **command.asked | more)
        return follow(work, printer.see)


def fit(command: Command) -> int:
    """Fit one model; a line about it."""
    from seriatim.cli.printing import show

    if command.asked.get("resume") and not command.asked.get("out"):
        raise ConfigError("--resume needs the folder of the fit to go on with", do="Add --out RUN")
    out = command.asked.pop("out", "") or str(free_folder(command.asked["model"]))
    predictor = followed(command, passing=False, out=out)
    model = command.asked["model"]
    record = predictor.record("fit", out=out, **predictor.metrics)
    held = f", {record['said']} on validation" if record.get("said") else ""
    seconds = time.perf_counter() - began()
    words = f"{out}: {model}, {record['parameters']:,} parameters, {seconds:.1f} s in all{held}"
    show(record, command, words)
    if command.format == "table":
        for line in learned(Path(out)):
            say(line)
    if record.get("ending"):
        say(record["ending"])
    if record.get("interrupted"):
        say(f"The same command with --out {out} --resume goes on from the last checkpoint")
    return INTERRUPTED if record.get("interrupted") else 0


def learned(folder: Path) -> Iterator[str]:
    """How the loss on validation data went, in a line; of a model that counts nothing."""
    from seriatim.plotting import learning_of
    from seriatim.show.tables import course

    try:
        record = learning_of(folder)
    except RunError:  # it was never looked at
        return
    known = [look for look in record["looks"] if look["valid"] is not None]
    row = course([look["valid"] for look in known])
    if row:
        best = (max if record["higher"] else min)(known, key=lambda look: look["valid"])
        ends = f"{known[0]['valid']:.4g} to {known[-1]['valid']:.4g} {record['per']}"
        yield f"validation {row} {ends}, best after {best['step']:,} of {known[-1]['step']:,} updates"


def compare(command: Command) -> int:
    """The leaderboard."""
    from seriatim.cli.printing import show
    from seriatim.leaderboard import leaderboard
    from seriatim.show.tables import output
    from seriatim.tasks import task

    first = str(command.data if isinstance(command.data, Path) else command.data[0])
    name = "compare-" + Path(first.split(":")[0]).name.split(".")[0]
    out = command.asked.pop("out", "") or str(free_folder(name))
    on = f"The same command with --out {out} --resume goes on with what there is"
    try:
        record = followed(command, passing=False, out=out)
    except KeyboardInterrupt:
        if (Path(out) / "comparison.json").is_file():
            say(on)
        raise
    room = task(command.subject)
    show(record, command, leaderboard(record, room, output().width))
    names = ("report.html", "table.json", "table.csv", "quality.png", "runs/")
    written = ", ".join(name for name in names if (Path(out) / name).exists())
    seconds = max(record["seconds"], time.perf_counter() - began())  # the table is printed, too
    say(f"{seconds:.0f} s in all. Written: {out}/{written}")
    good = [row for row in record["rows"] if row["status"] == "ok"]
    failed = [row["model"] for row in record["rows"] if row["status"] == "failed"]
    if record["interrupted"]:
        say(on)
    if failed:
        say(f"Failed: {', '.join(failed)}: see the table")
    best = (record["recommendation"] or {"best": None})["best"]
    kept = (
        row["run"] for row in good if row["model"] == best and row[record["figure"]] is not None
    )
    if run := next(kept, None):
        say("Try: " + room.kept.format(run=f"{out}/{run}"))
    return INTERRUPTED if record["interrupted"] else int(bool(failed) or not good)


def leaderboard(command: Command) -> int:
    """Runs of others, ranked."""
    from seriatim.cli.printing import show
    from seriatim.leaderboard import leaderboard as ranked
    from seriatim.leaderboard import ranked_csv
    from seriatim.show.tables import output
    from seriatim.tasks import task

    record = followed(command, passing=True)
    room = task(record["task"])
    as_csv = command.format == "csv"
    table = ranked_csv(record, room).rstrip("\n") if as_csv else None
    show(record, command, table if as_csv else ranked(record, room, output().width))
    failed = [row["author"] for row in record["rows"] if row["status"] != "ok"]
    if failed:
        say(f"Failed: {', '.join(failed)}: see the table")
    return int(bool(failed))


def others(command: Command) -> int:
    """Every other verb: its record, as its room prints it."""
    from seriatim.cli.printing import show_record

    record = followed(command, passing=True)
    return show_record(record, command)


def plot(command: Command) -> int:
    """A picture, in a file."""
    from seriatim.cli.printing import show_chart

    return show_chart(followed(command, passing=True), command)


def models(command: Command) -> int:
    """All models, or all settings of one."""
    from seriatim.cli.models import models_record, models_table
    from seriatim.cli.printing import show

    record, notes = models_record(command.subject, command.asked.get("task", ""))
    for words in notes:
        say(f"note: {words}")
    show(record, command, models_table(record))
    return 0


def completion(command: Command) -> int:
    """A script for a shell."""
    from seriatim.cli.completion import completion as script
    from seriatim.records import record

    found = script(command.subject)
    as_json = command.format == "json"
    print(json.dumps(record("completion", script=found)) if as_json else found.rstrip())
    return 0


def free_folder(name: str) -> Path:
    """The first of runs/NAME, runs/NAME-2, ... that does not exist."""
    folder, number = Path("runs") / name, 1
    while folder.exists():
        number += 1
        folder = Path("runs") / f"{name}-{number}"
    return folder
