"""Marks of a comparison's models, their names beside them, and lines to be held against.

coloured(rows); by_colour()              the accent is the winner's alone
place_names(ends, rows, lines, x, y)     where names stand, in rows that have seconds and value
alt.layer(*limit(...), leaders(base), *dots(base, 60))
"""

from __future__ import annotations

import math
from typing import Any

from seriatim.records import Record
from seriatim.show.charts import NARROW, Row, values

HEIGHT = 300
VIEW = NARROW - 90  # pixels across, beside the axis, of a picture as narrow as they get
SMALL = 180  # pixels across, where names stand on both sides
BESIDE = 9  # pixels from a mark to its name
RAISED = 3  # pixels from a line to the name above it
LETTER = 6.2  # pixels
COLOURS = 7  # that can be told apart; the first is the winner's
FINISHED, UNFINISHED = "finished", "unfinished"
Box = tuple[float, float, float, float]  # left, top, right, bottom
Domain = tuple[float, float]  # from where to where an axis goes


def dots(base: Any, size: int) -> list[Any]:
    """Marks in ink, hollow where a fit is unfinished; the winner in the accent, above the others and
    a little smaller, so that a mark at the same place is seen around it."""
    kinds = [
        ("ink-hollow", "!datum.best && datum.state != 'finished'", size),
        ("ink", "!datum.best && datum.state == 'finished'", size),
        ("accent-hollow", "datum.best && datum.state != 'finished'", 0.7 * size),
        ("accent", "datum.best && datum.state == 'finished'", 0.7 * size),
    ]
    return [
        base.mark_point(
            size=large, opacity=1, filled="hollow" not in style, style=style
        ).transform_filter(test)
        for style, test, large in kinds
    ]


def leaders(base: Any) -> Any:
    """Faint lines from marks to names that stand elsewhere than beside them."""
    thin = base.mark_rule(strokeWidth=0.7, opacity=0.6, style="soft-line", x2Offset=BESIDE - 2)
    return thin.encode(x2="seconds:Q", y2="name_at:Q").transform_filter("datum.moved")


# -- colours: the first of all is the winner's
def coloured(rows: list[Row], *others: list[Row]) -> None:
    """Note in each row the number of its colour: 0, the accent, of the winner alone; the others in
    the order in which they come, again from the second on where there are many."""
    names = dict.fromkeys(row["model"] for row in rows if not row["best"])
    number = {name: str(1 + place % (COLOURS - 1)) for place, name in enumerate(names)}
    for row in [*rows, *(row for some in others for row in some)]:
        row["colour"] = "0" if row["best"] else number[row["model"]]


def by_colour() -> Any:
    """The colours by their numbers."""
    import altair as alt

    known = [str(i) for i in range(COLOURS)]
    return alt.Color("colour:N", legend=None, scale=alt.Scale(domain=known, range="category"))


# -- lines to be held against
def limits_of(record: Record, rows: list[Row]) -> list[Row]:
    """Lines to be held against: the entropy of a source, where it is known, than which no model can be
    better, and what tools from outside the ladder reach, where that is among the figures drawn."""
    low, high = min(row["low"] for row in rows), max(row["high"] for row in rows)
    at = [
        {"value": each["value"], "words": each["name"]}
        for each in record.get("references") or ()
        if each["value"] is not None and low <= each["value"] <= high
    ]
    if record.get("entropy_bits") is not None:
        at.append({"value": record["entropy_bits"], "words": "true entropy of the source"})
    return at


def limit_across(at: list[Row], across: Domain) -> list[Any]:
    """Such lines from top to bottom, their names above, and above each other where they would meet;
    `across` is the domain of the axis."""
    import altair as alt

    if not at:
        return []
    rule = alt.Chart(values(at)).encode(x="value:Q")
    found: list[Any] = [rule.mark_rule(strokeDash=[4, 4], style="soft-line")]
    ends: list[float] = []  # of the last name on each level, in pixels
    for line in sorted(at, key=lambda line: line["value"]):
        begin = SMALL * (line["value"] - across[0]) / (across[1] - across[0])
        level = next((i for i, end in enumerate(ends) if end <= begin), len(ends))
        ends[level : level + 1] = [begin + LETTER * len(line["words"]) + 4]
        told = alt.Chart(values([line])).encode(x="value:Q", text="words:N")
        text = told.mark_text(align="left", baseline="bottom", style="soft-text")
        found.append(text.encode(y=alt.value(-6 - 13 * level)))
    return found


def limit(at: list[Row], ends: list[Row], across: Domain, up: Domain) -> list[Any]:
    """Such lines from left to right, their names above them on the side on which there are fewer
    marks and names; `ends` are the marks with names, the others the domains of both axes."""
    import altair as alt

    if not at:
        return []
    rule = alt.Chart(values(at)).mark_rule(strokeDash=[4, 4], style="soft-line").encode(y="value:Q")
    scale = (up[1] - up[0]) / HEIGHT
    found: list[Any] = [rule]
    boxes = [box for each in ends for box in boxes_of(each, across, up)]
    for name in named_together(at, 13 * scale):
        bottom, long = (up[1] - name["value"]) / scale, LETTER * len(name["words"]) + 4
        left, right = (
            covering((begin, bottom - 14, begin + long, bottom - 1), boxes)
            for begin in (4, VIEW - long)
        )
        side: Any = "right" if right < left else "left"
        place = alt.value("width") if right < left else alt.value(4)
        words = alt.Chart(values([name]))
        told = words.mark_text(align=side, baseline="bottom", dy=-RAISED, style="soft-text")
        found.append(told.encode(y="value:Q", x=place, text="words:N"))
    return found


def named_together(lines: list[Row], gap: float) -> list[Row]:
    """The names of lines, those nearer to each other than a gap in one, above the highest of them."""
    found: list[Row] = []
    lowest = math.inf
    for line in sorted(lines, key=lambda line: -line["value"]):
        if found and lowest - line["value"] < gap:
            found[-1]["words"] += f", {line['words']}"
        else:
            found.append(dict(line))
        lowest = line["value"]
    return found


def place_names(
    ends: list[Row], rows: list[Row], lines: list[Row], across: Domain, up: Domain
) -> None:
    """Where the name of each end stands: beside its mark, moved up or down as little as may be where
    it would meet another name, a mark or a line, in a picture as narrow as they get. In a wider one
    names only come further apart."""
    scale = (up[1] - up[0]) / HEIGHT
    marks = [(row["model"], around(place_of(row, across, up))) for row in rows]
    crossing = [(up[1] - line["value"]) / scale for line in lines]
    taken: list[Box] = []
    for end in sorted(ends, key=lambda end: -end["value"]):
        x, y = place_of(end, across, up)
        others = [box for name, box in marks if name != end["model"]]
        heights = [min(max(y + move, 6), HEIGHT - 6) for move in range(-HEIGHT, HEIGHT + 1)]
        costs = []
        for at in heights:
            box = box_of_name(end, x, at)
            hidden = 1000 * covering(box, taken) + 2 * covering(box, others)
            costs.append(hidden + 20 * sum(abs(at - each) < 6 for each in crossing) + abs(at - y))
        at = heights[costs.index(min(costs))]
        taken.append(box_of_name(end, x, at))
        end["name_at"], end["moved"] = up[1] - at * scale, abs(at - y) > BESIDE


def box_of_name(end: Row, x: float, at: float) -> Box:
    """What a name covers."""
    return x + BESIDE, at - 6.4, x + BESIDE + LETTER * len(end["model"]), at + 6.4


def around(place: tuple[float, float]) -> Box:
    """What a mark covers."""
    return place[0] - 5, place[1] - 5, place[0] + 5, place[1] + 5


def place_of(row: Row, across: Domain, up: Domain) -> tuple[float, float]:
    """The pixels of a mark in a picture as narrow as they get."""
    begin, end = (math.log(each) for each in across)
    x = VIEW * (math.log(row["seconds"]) - begin) / (end - begin)
    return x, HEIGHT * (up[1] - row["value"]) / (up[1] - up[0])


def boxes_of(end: Row, across: Domain, up: Domain) -> list[Box]:
    """What a mark and its name cover."""
    x, y = place_of(end, across, up)
    at = HEIGHT * (up[1] - end["name_at"]) / (up[1] - up[0])
    return [around((x, y)), box_of_name(end, x, at)]


def covering(box: Box, others: list[Box]) -> float:
    """How much of other boxes a box covers, in pixels."""
    found = 0.0
    for other in others:
        wide = min(box[2], other[2]) - max(box[0], other[0])
        tall = min(box[3], other[3]) - max(box[1], other[1])
        found += max(0.0, wide) * max(0.0, tall)
    return found


def lines_under(at: list[Row], scale: float) -> list[Any]:
    """Lines to be held against, their names above them at the left."""
    import altair as alt

    if not at:
        return []
    rule = alt.Chart(values(at)).mark_rule(strokeDash=[4, 4], style="soft-line").encode(y="value:Q")
    told = alt.Chart(values(named_together(at, 13 * scale)))
    text = told.mark_text(align="left", baseline="bottom", dy=-RAISED, style="soft-text")
    return [rule, text.encode(y="value:Q", x=alt.value(4), text="words:N")]


def plain_rows(rows: list[Row]) -> list[Row]:
    """Rows without what only the drawing needs."""
    drawn = ("name_at", "moved", "colour", "learned")
    return [{k: v for k, v in row.items() if k not in drawn} for row in rows]
