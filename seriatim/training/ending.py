"""What a fit saw, and why it ended: without it a figure cannot be judged.

    74 updates, 0.15 epochs; still improving when its minutes were over: more --minutes would help

A network that made a few updates, or that did not see small data once, is *unfinished*: its figure
says how far it came in the time, not what it can do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

FEW_UPDATES = 100  # fewer are no verdict, unless patience was at its end
SMALL_DATA = 5_000_000  # symbols: of less, a network should have seen all
HALF = 0.5  # of the epochs of a recipe
GAIN = 0.002  # a share: what the last looks must have gained to be called an improvement


ENDING = ("updates", "epochs", "symbols_seen", "stopped", "improving", "unfinished", "ending")


@dataclass(frozen=True)
class Ending:
    """Where a fit ended."""

    updates: int
    epochs: float
    symbols_seen: int
    stopped: str  # by "minutes", "updates", "epochs", "patience" or "interrupted"
    improving: bool | None  # None: it was not looked at often enough to say
    planned: float | None = None  # epochs that its recipe has for it, if it has

    @property
    def cut_short(self) -> bool:
        """Whether the clock ended it before half of what its recipe has for it."""
        return self.stopped == "minutes" and self.epochs < HALF * (self.planned or 0)

    def unfinished(self, symbols: int) -> bool:
        """Whether its figure is no verdict; `symbols` is how much there is to learn from."""
        if self.cut_short:
            return True
        if self.stopped == "patience" or (self.stopped == "epochs" and self.improving is False):
            return False
        if self.updates < FEW_UPDATES:
            return True
        little = self.epochs < 1 and self.stopped != "epochs" and symbols <= SMALL_DATA
        return little and self.improving is not False

    def words(self) -> str:
        """One line."""
        seen = f"{self.updates:,} update{'s' * (self.updates != 1)}, {self.epochs:.3g} epochs"
        if self.stopped == "patience":
            return f"{seen}; stopped early: validation was no better for as long as --patience says"
        if self.stopped == "interrupted":
            return f"{seen}; interrupted: the best so far is kept"
        if self.cut_short:
            return f"{seen} of {self.planned:g}; its time was over: more --minutes would help"
        if self.improving is None:
            return f"{seen}; looked at too seldom to say whether more --{self.stopped} would help"
        if self.improving:
            return f"{seen}; still improving: more --{self.stopped} would help"
        return f"{seen}; no longer improving"

    def record(self, symbols: int) -> dict[str, Any]:
        """The same for a record."""
        known = {key: value for key, value in asdict(self).items() if key != "planned"}
        return {**known, "unfinished": self.unfinished(symbols), "ending": self.words()}


def ended_in_words(metrics: Mapping[str, Any]) -> str:
    """How a fit ended, as its record says it; and, if its figure is no verdict, that and why.

    >>> ended_in_words({"ending": "9 updates, 3 epochs; no longer improving", "unfinished": True}
    ...                | {"updates": 9, "improving": False})
    '9 updates, 3 epochs; no longer improving, which so few updates do not prove: unfinished'
    """
    words = metrics.get("ending") or ""
    if not words or not metrics.get("unfinished"):
        return words
    if metrics.get("improving") is False and metrics.get("stopped") != "interrupted":
        return f"{words}, which so few updates do not prove: unfinished"
    return f"{words}; unfinished, no verdict"


def improving(looks: list[float]) -> bool | None:
    """Whether the last of the looks at validation data (less is better) is better than all before
    the last quarter of them by more than a trace."""
    if len(looks) < 3:
        return None
    late = max(1, len(looks) // 4)
    before, last = min(looks[:-late]), min(looks[-late:])
    return before - last > GAIN * abs(before)


def together(endings: list[dict[str, Any]]) -> dict[str, Any]:
    """The parts of a mixture as one: all updates, the fewest epochs, unfinished if one of them is."""
    if len(endings) < 2:
        return dict(*endings) if endings else {}
    worst = next((each for each in endings if each["unfinished"]), endings[-1])
    return {
        **worst,
        "updates": sum(each["updates"] for each in endings),
        "epochs": min(each["epochs"] for each in endings),
        "symbols_seen": sum(each["symbols_seen"] for each in endings),
    }
