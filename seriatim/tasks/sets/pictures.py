"""Pictures of sets: a row for each element over the steps, a piano roll where elements are pitches."""

from __future__ import annotations

from pathlib import Path

from seriatim.errors import RunError
from seriatim.records import Record
from seriatim.show.charts import Chart, Row
from seriatim.show.rolls import MOST_ROLLS, are_pitches, bars_of_sets, cut_short, rolls
from seriatim.tasks.sets.codec import EMPTY, PLUS


def roll(record: Record) -> Chart:
    """The sets that were generated; what was given before them is grey."""
    if not record["items"]:
        raise RunError("there is nothing to draw", got="no sequences")
    sequences = [[elements(step) for step in each["text"].split()] for each in record["items"]]
    given = [len(each["prompt"].split()) for each in record["items"]]
    pitched = are_pitches([name for steps in sequences for step in steps for name in step])
    pieces = [bars_of_sets(steps, many) for steps, many in zip(sequences, given)]
    names = [f"sequence {place}" for place in range(1, len(pieces) + 1)]
    view = rolls(pieces, names, "steps", pitched)
    rows = rows_of(names[:MOST_ROLLS], pieces)
    what = "Each note a bar over its steps, pitch upwards" if pitched else "A row for each element"
    grey = "; grey is what was given" if any(given) else ""
    says = f"{what}: a bar is as long as it stays in the sets{grey}.{cut_short(pieces, 'steps')}"
    title = f"{Path(str(record.get('run') or record['model'])).name}: sets"
    return Chart(view, title, says, rows)


def rows_of(names: list[str], pieces: list[list[Row]]) -> list[Row]:
    """The bars of each sequence as the rows of a table."""
    return [
        {"sequence": name} | {key: bar[key] for key in ("note", "from", "to", "given")}
        for name, bars in zip(names, pieces)
        for bar in bars
    ]


def elements(step: str) -> list[str]:
    """The elements of a set as it is written.

    >>> elements("60+64"), elements(".")
    (['60', '64'], [])
    """
    return [] if step == EMPTY else step.split(PLUS)
