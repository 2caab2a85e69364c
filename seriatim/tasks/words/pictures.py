"""Maps of words: a mark for each where it lies, its name beside it where there is room."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seriatim.records import Record
from seriatim.show.charts import Chart, Row, domain_of, short, values
from seriatim.show.places import HEIGHT, name_texts, place_names

LARGE, SMALL = 12.5, 9.5  # letters of the most and of the least frequent word
MOST_WORDS = 1000


def word_map(record: Record) -> Chart:
    """Words in a plane. Pairs have an arrow from the first to the second; two of them are a
    parallelogram if they differ in the same."""
    import altair as alt

    rows, arrows = points_of(record), arrows_of(record)
    across, up = (domain_of([row[key] for row in rows], 0.09) for key in ("x", "y"))
    place_names(rows, [row["word"] for row in rows], (across, up), arrows)
    x = alt.X("x:Q", scale=alt.Scale(domain=list(across), nice=False, zero=False), axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=list(up), nice=False, zero=False), axis=None)
    base = alt.Chart(values(rows)).encode(x=x, y=y, tooltip=["word:N", "pair:N"])
    marks = [
        base.mark_point(size=size, filled=True, opacity=1, style=style).transform_filter(test)
        for style, size, test in (
            ("soft", 9, "datum.role == 'word'"),
            ("ink", 26, "datum.role == 'first'"),
            ("accent", 26, "datum.role == 'second' && !datum.pointed"),
        )
    ]
    told = base.encode(text="word:N")
    names = name_texts(told, "ink-text", "datum.role != 'second'")
    names += name_texts(told, "accent-text", "datum.role == 'second'")
    lines = arrow_lines(rows, arrows, (across, up), x, y)
    view = alt.layer(*lines, *marks, *names, height=HEIGHT)
    shown = [{key: row[key] for key in ("word", "x", "y", "pair")} for row in rows]
    title = f"{Path(str(record['run'])).name if record.get('run') else record['model']}: words"
    return Chart(view, title, said(record, rows), shown)


def points_of(record: Record) -> list[Row]:
    """A row for each word: where it lies, its role, how large it is written."""
    points = record["points"][:MOST_WORDS]
    firsts = {begin: end for begin, end in record["arrows"]}
    seconds = {end: begin for begin, end in record["arrows"]}
    names = [short(each["word"]) for each in record["points"]]
    falls = 0.0 if record["arrows"] else (LARGE - SMALL) / max(1, len(points) - 1)
    rows = []
    for place, each in enumerate(points):
        other = firsts.get(place, seconds.get(place))
        rows.append(
            {
                "word": names[place],
                "x": each["x"],
                "y": each["y"],
                "role": "second" if place in seconds else "first" if place in firsts else "word",
                "pointed": place in seconds,
                "pair": "" if other is None else names[other],
                "size": round(11.5 if record["arrows"] else LARGE - falls * place, 2),
            }
        )
    return rows


def arrows_of(record: Record) -> list[tuple[int, int]]:
    """From which word to which."""
    return [(begin, end) for begin, end in record["arrows"] if max(begin, end) < MOST_WORDS]


def arrow_lines(
    rows: list[Row],
    arrows: list[tuple[int, int]],
    domains: tuple[tuple[float, float], tuple[float, float]],
    x: Any,
    y: Any,
) -> list[Any]:
    """Lines with heads; between two of them, what would be the other sides of a parallelogram."""
    import altair as alt

    if not arrows:
        return []
    spans = [high - low for low, high in domains]
    ways = [way(rows[begin], rows[end], spans) for begin, end in arrows]
    base = alt.Chart(values(ways)).encode(x=x, y=y, tooltip=["word:N", "pair:N"])
    turned = alt.ExprRef("atan2(datum.down * height, datum.across * width) * 180 / PI")
    found = [
        base.mark_rule(style="soft-line", strokeWidth=1.2).encode(x2="x2:Q", y2="y2:Q"),
        base.mark_point(
            shape="triangle-right", size=60, filled=True, opacity=1, style="accent", angle=turned
        ).encode(x=of_field(x, "x2:Q"), y=of_field(y, "y2:Q")),
    ]
    if len(arrows) == 2:
        sides = [way(rows[a], rows[b], spans) for a, b in zip(*arrows)]
        dashed = alt.Chart(values(sides)).encode(x=x, y=y, x2="x2:Q", y2="y2:Q")
        found.insert(0, dashed.mark_rule(style="soft-line", strokeDash=[3, 4], strokeWidth=0.8))
    return found


def of_field(channel: Any, field: str) -> Any:
    """The same axis, of another field."""
    again = channel.copy()
    again.shorthand = field
    return again


def way(begin: Row, end: Row, spans: list[float]) -> Row:
    """From a word to another, and how steep that is in shares of the view."""
    return {
        "word": begin["word"],
        "pair": end["word"],
        "x": begin["x"],
        "y": begin["y"],
        "x2": end["x"],
        "y2": end["y"],
        "across": (end["x"] - begin["x"]) / spans[0],
        "down": (begin["y"] - end["y"]) / spans[1],
    }


def said(record: Record, rows: list[Row]) -> str:
    """What is near and what is far."""
    plane = (
        "t-SNE: near words are alike, far ones lie anywhere."
        if record["shares"] is None
        else f"principal components, {100 * sum(record['shares']):.0f} % of the variance: near "
        "words are alike."
    )
    hidden = any(not row["wide"] or not row["narrow"] for row in rows)
    pairs = (
        " Arrows lead from the first to the second word of a pair; if pairs differ in the same, "
        "their arrows are alike."
    )
    left = " Names are left out where there is no room: point at a mark." if hidden else ""
    return f"Words in a plane by {plane}{pairs if record['arrows'] else ''}{left}"
