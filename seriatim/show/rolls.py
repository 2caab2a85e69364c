"""Piano rolls: what sounds when. Time runs across, pitch upwards; or a row for each element.

rolls([[bar_of("C4", 60, 0, 0.25), ...], ...], ["first", ...], "whole notes")
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seriatim.data.formats.midi import HIGHEST, NAMES, note_in
from seriatim.show.charts import Row, short, values

MOST_ROLLS, MOST_BARS, MOST_ROWS = 8, 4000, 60
LONGEST = {"whole notes": 24, "steps": 128}  # what is drawn
PITCH, STEP = 6, 14  # pixels of a pitch, and of the row of an element
LABELLED = (0, 7)  # C and G of each octave
PITCHES = "['" + "','".join(NAMES) + "'][datum.value % 12] + (floor(datum.value / 12) - 1)"


def name_of(pitch: int) -> str:
    """A note of MIDI by its name.

    >>> name_of(60), name_of(69)
    ('C4', 'A4')
    """
    return f"{NAMES[pitch % 12]}{pitch // 12 - 1}"


def bar_of(name: str, row: int, begin: float, end: float, given: bool = False) -> Row:
    """A bar: its name and its row, from when to when, and whether it was given before anything was
    written."""
    return {"note": name, "row": row, "from": begin, "to": end, "given": given}


def bars_of_melody(text: str) -> list[Row]:
    """The notes of a melody, one after another, in whole notes; rests have no bar."""
    found, now = [], 0.0
    for token in text.split():
        pitch, duration = note_in(token)
        end = now + float(duration)
        if pitch is not None:
            found.append(bar_of(name_of(pitch), pitch, round(now, 6), round(end, 6)))
        now = end
    return found


def bars_of_sets(steps: Sequence[Sequence[str]], given: int) -> list[Row]:
    """Sets one after another, in steps: what is in several of them in a row is one bar. Elements
    are rows by their pitch where all are notes of MIDI, otherwise as they come."""
    names = list(dict.fromkeys(name for step in steps for name in step))
    pitched = are_pitches(names)
    rows = {name: int(name) if pitched else place for place, name in enumerate(names)}
    began: dict[str, int] = {}
    found = []
    for now, step in enumerate([*steps, ()]):
        cut = now == given  # what was given ends here, and what is written begins
        for name in list(began):
            if name not in step or cut:
                begin = began.pop(name)
                words = name_of(rows[name]) if pitched else short(name)
                found.append(bar_of(words, rows[name], begin, now, begin < given))
        for name in step:
            began.setdefault(name, now)
    return sorted(found, key=lambda bar: (bar["from"], bar["row"]))


def are_pitches(names: Sequence[str]) -> bool:
    """Whether all are numbers of notes of MIDI."""
    return all(name.isascii() and name.isdigit() and int(name) <= HIGHEST for name in names)


def rolls(pieces: Sequence[list[Row]], titles: Sequence[str], unit: str, pitched: bool) -> Any:
    """One above the other, all of the same length and height."""
    import altair as alt

    pieces = [[bar for bar in bars if bar["to"] <= LONGEST[unit]] for bars in pieces[:MOST_ROLLS]]
    bars = [bar for bars in pieces for bar in bars]
    end = max([bar["to"] for bar in bars], default=1.0)
    rows = [bar["row"] for bar in bars] or [60]
    domain = [min(rows) - 1, max(rows) + 1]
    views = [roll(bars[:MOST_BARS], end, domain, unit, pitched) for bars in pieces]
    if len(views) == 1:
        return views[0]
    for view, title in zip(views, titles):
        view.title = alt.Title(short(title, 48), fontSize=11, fontWeight="normal", offset=4)
    for view in views[:-1]:
        for layer in view.layer:
            layer.encoding.x.axis = alt.Axis(labels=False, ticks=False, title=None)
    return alt.vconcat(*views, spacing=10)


def roll(bars: list[Row], end: float, domain: list[int], unit: str, pitched: bool) -> Any:
    """One roll: bars in the accent, what was given before them in grey."""
    import altair as alt

    x = alt.X("from:Q", title=unit, scale=alt.Scale(domain=[0, end], nice=False))
    tooltip: list[Any] = [
        "note:N",
        alt.Tooltip("from:Q", format=".5~g"),
        alt.Tooltip("to:Q", format=".5~g"),
    ]
    drawn = [
        bar
        | {"low": bar["row"] - 0.45, "high": bar["row"] + 0.45}
        | {"end": bar["to"] - min(0.12 * (bar["to"] - bar["from"]), 0.003 * end)}
        for bar in bars
    ]
    if pitched:
        labelled = [each for each in range(domain[0], domain[1] + 1) if each % 12 in LABELLED] or [
            domain[0] + 1
        ]
        up = alt.Y(
            "low:Q",
            title=None,
            scale=alt.Scale(domain=domain, nice=False, zero=False),
            axis=alt.Axis(values=labelled, labelExpr=PITCHES),
        )
        base = alt.Chart(values(drawn)).encode(x=x, x2="end:Q", y=up, y2="high:Q", tooltip=tooltip)
        height = max(70, min(300, PITCH * (domain[1] - domain[0])))
        wide: dict[str, Any] = {}
    else:
        shown = set(sorted({bar["row"] for bar in bars})[:MOST_ROWS])
        drawn = [bar for bar in drawn if bar["row"] in shown]
        order = list(dict.fromkeys(b["note"] for b in sorted(drawn, key=lambda b: b["row"])))
        up = alt.Y("note:N", title=None, sort=order, axis=alt.Axis(ticks=False))
        base = alt.Chart(values(drawn)).encode(x=x, x2="end:Q", y=up, tooltip=tooltip)
        height, wide = STEP * max(1, len(order)), {"height": STEP - 4}
    layers = [
        base.mark_rect(style=style, stroke=None, **wide).transform_filter(test)
        for style, test in (("soft", "datum.given"), ("accent", "!datum.given"))
    ]
    return alt.layer(*layers, height=height)


def cut_short(pieces: Sequence[list[Row]], unit: str) -> str:
    """What is said of rolls that are not drawn whole."""
    said = f" The first {MOST_ROLLS} of {len(pieces)}." if len(pieces) > MOST_ROLLS else ""
    if any(bar["to"] > LONGEST[unit] for bars in pieces for bar in bars):
        said += f" Only the first {LONGEST[unit]} {unit} are drawn."
    return said
