"""What a person sees while waiting, and the tables afterwards. Reads events and records, computes nothing.

Progress goes to stderr: live bars in a terminal, a plain line now and then elsewhere.
"""
from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Table
from rich.text import Text

Returned = TypeVar("Returned")
Event = dict[str, Any]
PLAIN_SECONDS = 15.0                      # between two lines where there is no terminal


def follow(events: Generator[Event, None, Returned], show: bool) -> Returned:
    """Run a fit or a comparison to its end; Ctrl-C reaches the fit wherever it strikes."""
    watcher = Watcher() if show else None
    try:
        while True:
            try:
                event = next(events)
                if watcher:
                    watcher.see(event)
            except KeyboardInterrupt:
                event = events.throw(KeyboardInterrupt())
                if watcher:
                    watcher.see(event)
    except StopIteration as end:
        return end.value
    finally:
        if watcher:
            watcher.close()


class Watcher:
    """One bar for each model under way."""

    def __init__(self) -> None:
        self.console = Console(stderr=True, soft_wrap=True)
        self.live = self.console.is_terminal
        self.progress = Progress(TextColumn("{task.description:<14}"), BarColumn(bar_width=28), TextColumn("{task.fields[words]}"),
                                 console=self.console)
        self.bars: dict[str, TaskID] = {}
        self.model, self.printed, self.best = "", 0.0, None
        if self.live:
            self.progress.start()

    def see(self, event: Event) -> None:
        handler = getattr(self, "on_" + event["event"], None)
        if handler:
            handler(event)

    def on_plan(self, event: Event) -> None:
        for model in event["models"]:
            self.bar(model, 0.0, "waiting")

    def on_data(self, event: Event) -> None:
        self.model = event.get("model", self.model)
        if not event.get("quiet"):
            self.console.print(f"[dim]{escape(event['train'])}: {event['symbols']:,} {event['unit']}s, {event['sequences']:,} "
                               f"sequence{'s' * (event['sequences'] != 1)}, vocabulary {event['vocabulary']:,}[/dim]", highlight=False)

    def on_part(self, event: Event) -> None:
        if event["parts"] > 1 or not self.model:
            self.model = event["model"]
        self.printed, self.best = 0.0, None

    def on_step(self, event: Event) -> None:
        held = "" if self.best is None else f"  valid {self.best:.3f}"
        words = f"loss {event['loss']:.3f}{held}  {clock(event['remaining'])} left"
        self.bar(self.model, event["share"], words)
        if not self.live and event["seconds"] - self.printed > PLAIN_SECONDS:
            self.printed = event["seconds"]
            self.console.print(f"{self.model}: {100 * event['share']:.0f} %  {words}", highlight=False)

    def on_validation(self, event: Event) -> None:
        self.best = event["best"]

    def on_pass(self, event: Event) -> None:
        if event["seconds"] > 0.5:
            self.bar(self.model, event["share"], event["words"])
            if not self.live and event["seconds"] - self.printed > PLAIN_SECONDS:
                self.printed = event["seconds"]
                self.console.print(f"{self.model}: {event['words']}, {100 * event['share']:.0f} %", highlight=False)

    def on_note(self, event: Event) -> None:
        self.console.print(f"[dim]{event['words']}[/dim]", highlight=False)

    def on_counted(self, event: Event) -> None:
        self.bar(self.model, 1.0, f"counted {event['symbols']:,} symbols in {event['seconds']:.1f} s")

    def on_end(self, event: Event) -> None:
        valid = "" if event["valid"] is None else f"valid {event['valid']:.3f}  "
        self.bar(self.model, 1.0, f"{valid}{event['step']:,} updates in {clock(event['seconds'])}")

    def on_interrupted(self, event: Event) -> None:
        self.console.print(f"[yellow]interrupted after {event['step']:,} updates: keeping the best so far[/yellow]")

    def on_rung(self, event: Event) -> None:
        self.bar(event["model"], 1.0, event["words"])
        if not self.live:
            self.console.print(f"{event['model']}: {event['words']}", highlight=False)

    def on_warning(self, event: Event) -> None:
        self.console.print(f"[yellow]{event['words']}[/yellow]", highlight=False)

    def bar(self, model: str, share: float, words: str) -> None:
        if model not in self.bars:
            self.bars[model] = self.progress.add_task(model, total=1.0, words=words)
        self.progress.update(self.bars[model], completed=share, words=words)

    def close(self) -> None:
        if self.live:
            self.progress.stop()


def clock(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{int(seconds // 60)} min {int(seconds % 60):02d} s"


def output() -> Console:
    """Where results go: stdout, as wide as the terminal, or wide enough when it is a file."""
    return Console() if sys.stdout.isatty() else Console(width=160, no_color=True, highlight=False)


def write(table: Table) -> None:
    """Print a table; in a file without the blanks that fill its lines."""
    console = output()
    if sys.stdout.isatty():
        console.print(table)
    else:
        with console.capture() as captured:
            console.print(table)
        sys.stdout.writelines(line.rstrip() + "\n" for line in captured.get().splitlines())


def short(number: float | None) -> str:
    """1234567 -> 1.2M."""
    if number is None:
        return ""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= size:
            return f"{number / size:.1f}{letter}"
    return f"{number:.0f}"


def footnotes(record: dict[str, Any]) -> list[str]:
    """What a reader of the table must know, where it applies."""
    notes = []
    if any(row["tied"] for row in record["rows"][1:]):
        notes.append("= not significantly different from the best (paired bootstrap, 95 %)")
    if record["protocol"] and "not modelled" in record["protocol"]["text"]:
        notes.append("blanks are not modelled: bits per character do not compare with those of characters, bytes or subwords")
    return notes


COLUMNS = (("", "left"), ("model", "left"), ("bits/char", "right"), ("95 %", "left"), ("nats/token", "right"), ("fit s", "right"),
           ("parameters", "right"), ("size", "right"), ("symbols/s", "right"), ("sample", "left"))
WIDE = {"nats/token", "size", "symbols/s"}      # left out where there are fewer than 120 columns; table.json has them all


def leaderboard(record: dict[str, Any], wide: bool = True) -> Table:
    """The table of a comparison: best first."""
    notes = footnotes(record) + [f"{row['model']} {row['status']}: {row['reason']}" for row in record["rows"] if row["status"] != "ok"]
    table = Table(title=Text(f"{Path(record['data']).name}: {record['task']} by {record['unit']}"), title_justify="left", caption_justify="left",
                  caption=Text("\n".join(notes)), header_style="bold", box=None, pad_edge=False)
    shown = [column for column in COLUMNS if wide or column[0] not in WIDE]
    for name, justify in shown:
        table.add_column(name, justify=justify, no_wrap=name != "sample")
    for place, row in enumerate(record["rows"], 1):
        if row["status"] != "ok":
            table.add_row("", row["model"], row["status"], style="red")
            continue
        low, high = row["interval"]
        bounds = "" if low is None else f"{low:.3f}-{high:.3f}"
        figure = "impossible" if row["bits_per_character"] is None else f"{row['bits_per_character']:.3f}"
        nats = "" if row["nats_per_token"] is None else f"{row['nats_per_token']:.4f}"
        cells = {"": "=" if row["tied"] and place > 1 else str(place), "model": row["model"], "bits/char": figure, "95 %": bounds, "nats/token": nats,
                 "fit s": f"{row['seconds']:.1f}", "parameters": short(row["parameters"]), "size": short(row["size_bytes"]) + "B",
                 "symbols/s": short(row["symbols_per_second"]), "sample": Text(repr(row["sample"])[1:-1], no_wrap=True, overflow="ellipsis")}
        table.add_row(*(cells[name] for name, _ in shown), style="bold" if place == 1 else None)
    return table


def figures(record: dict[str, Any]) -> Table:
    """An evaluation as two columns: name and value, with the protocol below."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    low, high = record["interval"]["bits_per_character"]
    bounds = "" if low is None else f"   (95 % interval {low:.4f} to {high:.4f})"
    for name in ("bits_per_character", "nats_per_token", "perplexity"):
        value = record[name]
        words = f"infinite: {record['impossible']} symbols have probability 0" if value is None else f"{value:.4f}"
        table.add_row(name.replace("_", " "), words + (bounds if name == "bits_per_character" and value is not None else ""))
    table.add_row("tokens", f"{record['tokens']:,}, {record['unknown']:,} unknown, in {record['sequences']:,} sequence{'s' * (record['sequences'] != 1)}")
    table.add_row("speed", f"{record['tokens_per_second']:,.0f} tokens/s")
    if record["excess_bits"] is not None:
        table.add_row("source", f"true entropy {record['entropy_bits']:.4f} bits per token; this model is {record['excess_bits']:+.4f} away")
    for name, value in record["protocol"].items():
        table.add_row(f"protocol: {name.replace('_', ' ')}", str(value))
    return table
