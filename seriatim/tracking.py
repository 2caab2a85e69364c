"""Who hears of events besides the person waiting: functions of the user's, TensorBoard, a logger.

A sink is a function that is given each event, a dict. One that fails is warned about once and not
asked again: what is watched goes on.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from seriatim.errors import ConfigError, nearest, require

Event = dict[str, Any]
Hear = Callable[[Event], None]

LOGGER = logging.getLogger("seriatim")
LOGGER.addHandler(logging.NullHandler())
LEVELS = {"note": logging.INFO, "read": logging.INFO, "warning": logging.WARNING}
CURVES = ("step", "validation")  # events that have figures of an update
NO_FIGURES = ("step", "share", "remaining")


def logged(event: Event) -> None:
    """Notes and warnings to the logger `seriatim`; nothing happens unless somebody set it up."""
    if event["event"] in LEVELS:
        whose = f"{event['model']}: " if "model" in event else ""
        LOGGER.log(LEVELS[event["event"]], "%s", whose + event["words"])


def guarded(sink: Hear, name: str) -> Hear:
    """The same sink, whose failure is no failure of what it watches."""
    if not callable(sink):
        raise ConfigError(
            f"{name} is a function that is given each event", got=repr(sink), do="Give a function"
        )
    failed = False

    def hear(event: Event) -> None:
        """Pass a copy on, until that fails."""
        nonlocal failed
        if failed:
            return
        try:
            sink(dict(event))
        except Exception as error:
            failed = True
            words = f"{name} failed and hears no more: {type(error).__name__}: {error}"
            LOGGER.warning("%s", words)
            with suppress(Warning):  # even where warnings are errors
                warnings.warn(words, RuntimeWarning, stacklevel=2)

    return hear


class Tensorboard:
    """Losses, rates and validations of every update, for TensorBoard; of a comparison each model in
    a folder of its own. Nothing is written before there is something to draw."""

    def __init__(self, folder: Path):
        require("tracking")
        self.folder, self.part = folder / "tensorboard", ""
        self.writers: dict[str, Any] = {}

    def __call__(self, event: Event) -> None:
        """Write the figures of one event."""
        if event["event"] == "part":
            self.part = event["model"] if event["parts"] > 1 else ""
            return
        if event["event"] not in CURVES:
            return
        writer = self.writer(event.get("model") or self.part)
        kind = "" if event["event"] == "step" else "validation/"
        for name, value in event.items():
            if isinstance(value, (int, float)) and name not in NO_FIGURES:
                writer.add_scalar(kind + name, value, event["step"])

    def writer(self, name: str) -> Any:
        """The file of a model."""
        from torch.utils.tensorboard import SummaryWriter

        if name not in self.writers:
            self.writers[name] = SummaryWriter(str(self.folder / name))
        return self.writers[name]

    def close(self) -> None:
        """Write down what is left."""
        for each in self.writers.values():
            each.close()


TRACKERS: dict[str, Callable[[Path], Any]] = {"tensorboard": Tensorboard}


def tracker(name: str, out: str) -> Any:
    """The tracker of a fit or a comparison that is kept in a folder."""
    if name not in TRACKERS:
        raise ConfigError("there is no such tracker", got=name, do=nearest(name, TRACKERS))
    if not out:
        raise ConfigError(
            f"{name} is written into the folder that is kept", got="no folder", do="Add --out"
        )
    return TRACKERS[name](Path(out))
