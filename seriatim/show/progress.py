"""What a person sees while waiting: live bars in a terminal, a plain line now and then elsewhere. Reads events, computes nothing."""

from __future__ import annotations

import sys
import time
from html import escape
from typing import Any

from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.text import Text

from seriatim.errors import ConfigError
from seriatim.show.console import CarefulConsole

Event = dict[str, Any]


PLAIN_SECONDS = 15.0  # between two lines where there is no terminal


STALE = 0.12  # of the schedule: a look at validation data that is older says when it was


WATCHED = (
    "analogies",
    "similarity",
)  # what may be looked at with every validation, besides the loss


class Watcher:
    """One bar for each model under way."""

    def __init__(self, passing: bool = False, live: bool | None = None) -> None:
        self.console = CarefulConsole(stderr=True, soft_wrap=True)
        self.live = self.console.is_terminal if live is None else live
        self.progress = Progress(
            TextColumn("{task.description:<14}", markup=False),
            BarColumn(bar_width=28),
            TextColumn("{task.fields[words]}", markup=False),
            console=self.console,
            transient=passing,
            redirect_stdout=False,  # results are not for stderr
        )
        self.bars: dict[str, TaskID] = {}
        self.model, self.printed, self.held, self.looked = "", 0.0, "", 0.0
        if self.console.is_terminal:
            self.progress.start()

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def see(self, event: Event) -> None:
        """Show an event, if it is of a kind that is shown."""
        handler = getattr(self, "on_" + event["event"], None)
        if handler:
            handler(event)

    def on_plan(self, event: Event) -> None:
        """A bar for each model that will come."""
        for model in event["models"]:
            self.bar(model, 0.0, "waiting")

    def on_data(self, event: Event) -> None:
        """What is learned from."""
        self.model = event.get("model", self.model)
        if not event.get("quiet"):
            size = "channels" if event["unit"] in ("step", "value") else "vocabulary"
            self.say(
                f"{event['train']}: {event['symbols']:,} {event['unit']}s, {event['sequences']:,} "
                f"sequence{'s' * (event['sequences'] != 1)}, {size} {event['vocabulary']:,}",
                "dim",
            )

    def on_part(self, event: Event) -> None:
        """Another part of a mixture begins."""
        if event["parts"] > 1 or not self.model:
            self.model = event["model"]
        self.printed, self.held = 0.0, ""

    def on_begin(self, event: Event) -> None:
        """A resumed fit says where it goes on."""
        if event.get("resumed"):
            self.say(f"{self.model}: resumed after {event['step']:,} updates", "dim")

    def on_step(self, event: Event) -> None:
        """The loss, and how long it will take."""
        old = bool(self.held) and event["share"] - self.looked > STALE
        held = f"{self.held} (at {100 * self.looked:.0f} %)" if old else self.held
        words = f"loss {event['loss']:.3f}{held}  {clock(event['remaining'])} left"
        self.bar(self.model, event["share"], words)
        if not self.live and event["seconds"] - self.printed > PLAIN_SECONDS:
            self.printed = event["seconds"]
            self.say(f"{self.model}: {100 * event['share']:.0f} %  {words}")

    def on_validation(self, event: Event) -> None:
        """What validation found, to stand beside the loss."""
        watched = "".join(
            f"  {name} {event[name]:.3f}" for name in WATCHED if event.get(name) is not None
        )
        said = event.get("said") or f"valid {event['best']:.3f}"
        self.held, self.looked = f"  {said}{watched}", event.get("share", 1.0)

    def on_pass(self, event: Event) -> None:
        """How far a loop is."""
        if event["seconds"] > 0.5:
            words = event["words"] + (
                f"  {clock(event['remaining'])} left" if "remaining" in event else ""
            )
            self.bar(self.model, event["share"], words)
            self.printed = min(self.printed, event["seconds"])  # another loop has begun
            if not self.live and event["seconds"] - self.printed > PLAIN_SECONDS:
                self.printed = event["seconds"]
                self.say(f"{self.model}: {100 * event['share']:.0f} %  {words}")

    def on_note(self, event: Event) -> None:
        """Something worth knowing."""
        whose = f"{event['model']}: " if "model" in event else ""  # in a comparison
        self.say(whose + event["words"], "dim")

    def on_trial(self, event: Event) -> None:
        """What a short trial chose."""
        if "looks" in event:
            self.say(
                f"{self.model}: {event['looks']} looks at {share_of(event['judged_share'])} "
                "of the validation data, a twentieth of the time",
                "dim",
            )
            return
        if "rows" in event:
            self.say(f"{self.model}: {event['rows']} rows", "dim")
            return
        if "parts" in event:
            chosen = (
                f"batches in {event['parts']} parts side by side"
                if event["parts"] > 1
                else "batches whole"
            )
        else:
            chosen = event.get("precision") or ("compiled" if event["compiled"] else "not compiled")
        times = ", ".join(
            f"{name.removesuffix('_seconds')} {1000 * value:.0f} ms"
            for name, value in event.items()
            if name.endswith("_seconds") and value
        )
        self.say(f"{self.model}: {chosen} ({times} a batch)", "dim")

    def on_counted(self, event: Event) -> None:
        """A model has counted."""
        self.bar(
            self.model, 1.0, f"counted {event['symbols']:,} symbols in {event['seconds']:.1f} s"
        )

    def on_end(self, event: Event) -> None:
        """A network has learned."""
        valid = f"{event['said']}  " if event.get("said") else ""
        self.bar(self.model, 1.0, f"{valid}{event['ending']} ({clock(event['seconds'])})")

    def on_interrupted(self, event: Event) -> None:
        """Somebody pressed Ctrl-C."""
        self.say(f"interrupted after {event['step']:,} updates: keeping the best so far", "yellow")

    def on_rung(self, event: Event) -> None:
        """A rung of a comparison was measured."""
        self.bar(event["model"], 1.0, event["words"])
        if not self.live:
            self.say(f"{event['model']}: {event['words']}")

    def on_warning(self, event: Event) -> None:
        """Something looks wrong."""
        self.say(event["words"], "yellow")

    def say(self, words: str, style: str = "") -> None:
        """A line above the bars."""
        self.console.print(Text(words, style), highlight=False)

    def bar(self, model: str, share: float, words: str) -> None:
        """Move the bar of a model."""
        if model not in self.bars:
            self.bars[model] = self.progress.add_task(model, total=1.0, words=words)
        self.progress.update(self.bars[model], completed=share, words=words)

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self.console.is_terminal:
            self.progress.stop()


REDRAWN_SECONDS = 0.2  # between two drawings of the same bar in a notebook


def share_of(share: float) -> str:
    """A share in whole per cent."""
    return "all" if share >= 1 else f"{100 * share:.0f} %" if share >= 0.01 else "under 1 %"


class Notebook(Watcher):
    """The same in a notebook: one output of plain HTML, drawn anew in its place."""

    def __init__(self) -> None:
        super().__init__(live=True)
        self.lines: list[str] = []
        self.shares: dict[str, tuple[float, str]] = {}
        self.handle: Any = None
        self.drawn = 0.0

    def say(self, words: str, style: str = "") -> None:
        """A line below the bars."""
        self.lines.append(words)
        self.draw()

    def bar(self, model: str, share: float, words: str) -> None:
        """Move the bar of a model."""
        self.shares[model] = (share, words)
        self.draw(whole=share >= 1)

    def draw(self, whole: bool = False) -> None:
        """Show how far it is, unless it was shown a moment ago."""
        if not whole and time.monotonic() - self.drawn < REDRAWN_SECONDS:
            return
        from IPython.display import display

        self.drawn = time.monotonic()
        shown = {"text/html": self.html(), "text/plain": self.plain()}
        if self.handle is None:
            self.handle = display(shown, raw=True, display_id=True)
        else:
            self.handle.update(shown, raw=True)

    def html(self) -> str:
        """The bars and lines as HTML."""
        rows = "".join(
            f'<tr><td>{escape(model)}</td><td><progress max="1" value="{share:.3f}"></progress></td>'
            f"<td>{escape(words)}</td></tr>"
            for model, (share, words) in self.shares.items()
        )
        below = "".join(f"<div><small>{escape(line)}</small></div>" for line in self.lines)
        return f'<div class="seriatim"><table>{rows}</table>{below}</div>'

    def plain(self) -> str:
        """The same as lines."""
        bars = (f"{m}: {100 * s:.0f} %  {words}" for m, (s, words) in self.shares.items())
        return "\n".join([*bars, *self.lines])

    def close(self) -> None:
        """Show the last of it."""
        if self.shares or self.lines:
            self.draw(whole=True)


def in_notebook() -> bool:
    """Whether a kernel of Jupyter runs this."""
    shells = sys.modules.get("IPython")
    shell = None if shells is None else shells.get_ipython()
    return any(each.__name__ == "ZMQInteractiveShell" for each in type(shell).__mro__)


def watcher_of(progress: bool | None) -> Watcher | None:
    """Who shows progress: by default somebody where it can be seen live, and nobody elsewhere."""
    if progress is not None and not isinstance(progress, bool):
        raise ConfigError(
            "progress is shown or not",
            got=f"progress={progress!r}",
            do="Give True, False or None (shown where it can be seen); a function that is to hear "
            "of events is on_event=",
        )
    if progress is False:
        return None
    if in_notebook():
        return Notebook()
    return Watcher() if progress or sys.stderr.isatty() else None


def clock(seconds: float) -> str:
    """Seconds as people say them."""
    return (
        f"{seconds:.0f} s"
        if seconds < 100
        else f"{int(seconds // 60)} min {int(seconds % 60):02d} s"
    )
