"""Results on stdout, as tables or as JSON; bars, notes and warnings on stderr."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from seriatim.cli.commands import Command
from seriatim.faces import verb_of as verb_giving
from seriatim.records import Record, plain
from seriatim.settings import named
from seriatim.show.letters import harmless, harmless_json, shown_on
from seriatim.show.progress import Watcher
from seriatim.show.tables import captioned, write
from seriatim.tasks.base import Verb

if TYPE_CHECKING:
    from seriatim.show.charts import Chart

Event = dict[str, Any]
TABLES = {  # of verbs that no room has
    "check": "seriatim.audit.tables:audit",
    "verify": "seriatim.tasks.verifying:table",
}


class Printer:
    """Shows what happens while a command runs, and prints what is already there."""

    def __init__(self, command: Command, passing: bool):
        self.command, self.watcher = command, Watcher(passing=passing)
        self.passing = passing  # nothing of what is shown is to stay
        self.watcher.model = command.verb if passing else ""
        self.printed = False  # whether some of the result is on stdout

    def __enter__(self) -> Printer:
        return self

    def __exit__(self, *error: object) -> None:
        self.watcher.close()
        if self.printed and self.command.verb == "generate":
            print()
        self.command.asked["printed"] = self.printed

    def make_way(self) -> None:
        """No bar on the screen that results are written on."""
        if not self.printed and sys.stdout.isatty():
            self.watcher.close()

    def see(self, event: Event) -> None:
        """One event."""
        as_table = self.command.format == "table" and not self.command.out
        if event["event"] == "text" and as_table:
            self.make_way()
            put(event["text"], end="")
            self.printed = True
        elif event["event"] == "items" and as_table and table_of(self.command):
            words = named(table_of(self.command))(event["record"])
            if event["items"]:
                self.make_way()
                put(words)
            self.printed = True
        elif event["event"] == "read":
            if self.command.format == "table":  # JSON is read by programs
                say("note: " * self.passing + event["words"])
        elif event["event"] == "note" and self.passing:
            say(f"note: {event['words']}")
        else:
            self.watcher.see(event)


def put(words: str, end: str = "\n") -> None:
    """A piece of the result: as it is in a file, harmless on a terminal."""
    print(shown_on(sys.stdout, words), end=end, flush=True)


def say(words: str) -> None:
    """Something that is no result."""
    print(harmless(words), file=sys.stderr)


def table_of(command: Command) -> str:
    """What makes a table of this command's record."""
    if command.verb in TABLES:
        return TABLES[command.verb]
    verb = verb_of(command)
    return "" if verb is None else verb.table


def verb_of(command: Command) -> Verb | None:
    """The verb on the card of the command's room."""
    return None if command.room is None else command.room.verbs.get(command.verb)


def show(record: Any, command: Command, table: Any) -> None:
    """A result: JSON, or whatever rich can print."""
    if command.format == "json":
        words = json.dumps(plain(record), indent=1, allow_nan=False, ensure_ascii=False)
        print(harmless_json(words) if sys.stdout.isatty() else words)
    elif isinstance(table, str):
        put(table)
    else:
        write(table)


def show_record(record: Record, command: Command) -> int:
    """The record of a verb, and what is to be said about it; the exit code."""
    printed = command.asked.pop("printed", False)
    if command.out:
        from seriatim.show.files import keep

        written = keep(record, command.out)
        show({**record, "written": written}, command, "\n".join(written))
    elif command.format == "json" or not printed:
        maker = table_of(command) or made_by(record)
        table = named(maker)(record) if maker and command.format == "table" else pretty(record)
        if record["kind"] == "evaluation" and not isinstance(table, str):
            table = captioned(table, notes_of(record))  # it is kept where figures are
        show(record, command, table)
    if command.format == "table":
        for words in notes_of(record):
            say(f"note: {words}")
    wrong = any(each["severity"] == "error" for each in record.get("findings", ()))
    return int(wrong or record.get("whole") is False)


def show_chart(chart: Chart, command: Command) -> int:
    """A picture: written to a file, whose name is printed."""
    if chart.written is None:
        assert chart.place is not None
        chart.save(chart.place)
    show(chart.record(), command, str(chart.written))
    if command.format == "table":
        for words in chart.notes:
            say(f"note: {words}")
    return 0


def made_by(record: Record) -> str:
    """What makes a table of a record of this kind, wherever it comes from."""
    verb = verb_giving(record)
    return "" if verb is None else verb.table


def pretty(record: Record) -> str:
    """A record that has no table of its own."""
    return json.dumps(record, indent=1, ensure_ascii=False)


def notes_of(record: Record) -> list[str]:
    """What a reader of the result must know."""
    return list(record.get("notes", ()))
