"""Records with a face: what every verb gives in Python is a dict, which also shows itself in a
notebook, becomes a frame, and is drawn.

The face is made of what the cards say: the table that the terminal shows, rows, pictures. So nothing
here names a task.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from seriatim.errors import extras
from seriatim.records import Record
from seriatim.settings import named
from seriatim.show.named_rows import names_of_rows
from seriatim.tasks import task
from seriatim.tasks.base import Task, Verb

if TYPE_CHECKING:
    from seriatim.show.charts import Chart

TABLES = {  # of records that no room gives
    "audit": "seriatim.audit.tables:audit",
    "conformance": "seriatim.conforming:table",
}
RANKED = ("comparison", "leaderboard")
WIDE = 200  # letters of a leaderboard: a notebook scrolls


class Result(dict[str, Any]):
    """A record with a face: a dict like any other. Of data in memory it knows what their rows and
    moments are called, so that its frames have the same."""

    def __init__(self, found: Mapping[str, Any] | Iterable[Any] = (), of: Any = None):
        super().__init__(found)
        self.rows = names_of_rows(of)

    @extras
    def plot(self, what: str = "") -> Chart:
        """Its picture; of several that it has the first, unless one is named."""
        from seriatim.plotting import drawn

        return drawn(self, what)

    def to_frame(self, kind: str = "") -> Any:
        """The same as a frame of "pandas" or "polars", by default of pandas if it is installed: of a
        comparison a row for each model, of an evaluation a row for each figure, otherwise a row for
        each item."""
        from seriatim.show.frames import frame

        return self.rows.given_to(frame(rows_of(self), kind), len(self.get("items") or ()))

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from rich.text import Text

        from seriatim.show.notebook import framed, html_of

        notes = [Text(f"note: {each}", "dim") for each in self.get("notes") or ()]
        return framed([html_body(self), *map(html_of, notes)])


def verb_of(found: Record) -> Verb | None:
    """The verb that gives such a record."""
    room = room_of(found)
    verbs = () if room is None else room.verbs.values()
    return next((each for each in verbs if each.gives == found.get("kind")), None)


def room_of(found: Record) -> Task | None:
    """The room that it comes from."""
    return task(found["task"]) if "task" in found else None


def rows_of(found: Record) -> list[dict[str, Any]]:
    """A record as rows of single values."""
    from seriatim.show.frames import figure_rows, item_rows, ranked_rows

    room, verb = room_of(found), verb_of(found)
    if found.get("kind") in RANKED:
        return ranked_rows(found)
    if verb is not None and verb.rows:
        return named(verb.rows)(found)
    if found.get("kind") == "evaluation":
        return figure_rows(found, () if room is None else [each.key for each in room.figures])
    return item_rows(found)


def shown_of(found: Record) -> Any:
    """What the terminal shows of a record: a table, or lines; nothing where it has neither."""
    from seriatim.leaderboard import leaderboard

    room, verb, kind = room_of(found), verb_of(found), found.get("kind")
    if kind in RANKED and room is not None:
        return leaderboard(found, room, WIDE)
    if kind in TABLES:
        return named(TABLES[kind])(found)
    return named(verb.table)(found) if verb is not None and verb.table else None


def html_body(found: Record) -> str:
    """The terminal's table as HTML; instead of lines, and where there is nothing, its rows."""
    from seriatim.show.notebook import html_of, rows_html, words_html

    shown = shown_of(found)
    listed = any(isinstance(each, list) and each for each in found.values())
    if isinstance(shown, str) and not listed:
        return words_html(shown)
    lines = shown is None or isinstance(shown, str)
    return rows_html(rows_of(found)) if lines else html_of(shown)
