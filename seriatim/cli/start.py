"""The process of the command line: what holds before anything is imported and after all else has failed.

    Ctrl-C while starting   one line, 130
    stdout or stderr closed no traceback; a result that cannot be written is an error, a message is not
    a mistake of ours       its traceback goes to a file that only the user can read; one line, 70

Nothing that takes time is imported here at the top.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections import namedtuple
from contextlib import suppress
from types import FrameType
from typing import Any

INTERRUPTED, BROKEN = 130, 70
struck: list[int] = []  # that Ctrl-C was pressed, whatever became of it


def start() -> int:
    """What `seriatim` and `python -m seriatim` run: the exit code."""
    signal.signal(signal.SIGINT, leave_at_once)
    try:
        mend_streams()
        sys.excepthook = lambda kind, error, trace: leave(error)
        from seriatim.cli.main import main

        signal.signal(signal.SIGINT, interrupt)
        code = main()
    except SystemExit:
        raise
    except BaseException as error:  # a panic of a library is not even an Exception
        code = last_resort(error)
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # the work is done; not every system has all
        with suppress(OSError, ValueError, AttributeError):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    forget_interrupt()
    return flushed(code)


# -- interrupts
def leave_at_once(number: int, frame: FrameType | None) -> None:
    """Ctrl-C before there is anything to be kept."""
    with suppress(OSError):
        os.write(2, b"seriatim: interrupted\n")
    os._exit(INTERRUPTED)


def interrupt(number: int, frame: FrameType | None) -> None:
    """Ctrl-C: what Python does, and remembered, since a library may make another error of it."""
    struck.append(number)
    raise KeyboardInterrupt


def forget_interrupt() -> None:
    """Python remembers an interrupt that came while it compiled some text of a library, and ends the
    process by a signal, whatever the exit code; compiling another text makes it forget."""
    namedtuple("Nothing", ())


# -- streams
class Patient(io.TextIOWrapper):
    """Messages: one that nobody reads any more is no reason to stop."""

    def __init__(self, beneath: Any):
        super().__init__(beneath.buffer, beneath.encoding, "backslashreplace", line_buffering=True)
        self.beneath = beneath  # which would close the file if it were forgotten

    def write(self, text: str) -> int:
        """Write, or forget it."""
        try:
            return super().write(text)
        except (OSError, ValueError):
            self.close_eyes()
            return len(text)

    def flush(self) -> None:
        """Write what waits, or forget it."""
        try:
            super().flush()
        except (OSError, ValueError):
            self.close_eyes()

    def close_eyes(self) -> None:
        """What comes goes nowhere."""
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)


def mend_streams() -> None:
    """Every number from 0 to 2 is open, so that no file of ours gets one of them. A closed stdout is
    one that cannot be written: that is an error when there is a result, and not before."""
    for number, name, way in (
        (0, "stdin", os.O_RDONLY),
        (1, "stdout", os.O_RDONLY),
        (2, "stderr", os.O_WRONLY),
    ):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, way)  # the lowest number that is free
            if handle > number and not taken(number):
                os.dup2(handle, number)
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(handle, mode, encoding="utf-8"))  # noqa: SIM115 (for good)
    sys.stderr = Patient(sys.stderr)


def taken(number: int) -> bool:
    """Whether a file is open under this number."""
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def flushed(code: int) -> int:
    """The exit code, when all is written; what cannot be is an error, unless there is one already."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.close(nowhere)
            sys.stdout.flush()
        if not isinstance(error, BrokenPipeError):
            code = code or 1
    return code


# -- when all else has failed
def last_resort(error: BaseException) -> int:
    """A line instead of a traceback, which is kept in a file; the exit code."""
    if struck or isinstance(error, KeyboardInterrupt):
        with suppress(OSError, ValueError):
            print("seriatim: interrupted", file=sys.stderr)
        numbers = error.args if isinstance(error, KeyboardInterrupt) else ()
        return 128 + numbers[0] if numbers else INTERRUPTED
    with suppress(BaseException):
        print(words_of(error, kept(error)), file=sys.stderr)
    return BROKEN


def words_of(error: BaseException, place: str) -> str:
    """What is said of a mistake of ours, in the format that was asked for."""
    import json

    from seriatim.errors import shorten
    from seriatim.show.letters import harmless

    what = "this should not have happened, and is a mistake in seriatim"
    got = shorten(f"{type(error).__name__}: {error}", 100)
    do = f"Please report it with the command and the file {place}" if place else "Please report it"
    if "--format=json" in sys.argv or " --format json" in " ".join(sys.argv):
        record = {"kind": "Mistake", "what": what, "received": got, "do": do}
        return json.dumps({"error": record | {"file": place or None, "line": None}})
    return harmless(f"seriatim: {what}. Received: {got}. {do}")


def kept(error: BaseException) -> str:
    """The traceback in a file of the temporary folder that only the user can read; its name, or
    nothing if it cannot be written."""
    import platform
    import tempfile
    import traceback

    from seriatim import __version__

    with suppress(Exception):
        handle, place = tempfile.mkstemp(".txt", "seriatim-mistake-")  # mode 0600
        with open(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            system = f"Python {platform.python_version()}, {platform.platform()}"
            file.write(f"seriatim {__version__}, {system}\n{sys.argv!r}\n\n")
            file.writelines(traceback.format_exception(error))
        return place
    return ""


def leave(error: BaseException) -> Any:
    """The same for what is raised after everything has ended."""
    last_resort(error)
