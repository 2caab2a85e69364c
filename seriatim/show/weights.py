"""Pictures of weights between named things: as a map, or as lines from one column to another.

Names come from outside and may be equal: they are written as marks, at their places, and are not
the values of an axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seriatim.show.charts import Row, short, values
from seriatim.show.tables import visible

LONGEST = 14  # letters of a name beside a picture
FEW = 24  # names up to which cells are large, with figures in them
LARGE, SMALL = 27, 17  # pixels of a cell
LEAST = 0.02  # weights below are not drawn: nobody sees them
MOST = 5_000  # marks of a picture


def symbol(name: str, longest: int = LONGEST) -> str:
    """A symbol as it stands in a picture: with its blanks, in what room there is.

    >>> symbol(" fährt"), symbol(" "), symbol("\\n"), symbol("Donaudampfschifffahrt")
    ('·fährt', '␣', '⏎', 'Donaudampfsch…')
    """
    blank = "␣" if not name.strip(" ") else "·"
    return short(visible(name).replace(" ", blank), longest)


def cells_of(weights: Any, rows: Sequence[str], columns: Sequence[str]) -> list[Row]:
    """(T, P) weights as one row a cell, those that can be seen; the strongest where they are many."""
    cells: list[Row] = [
        {
            "row": t,
            "column": s,
            "attends": symbol(rows[t], 40),
            "attended to": symbol(columns[s], 40),
            "weight": round(float(weights[t][s]), 4),
        }
        for t in range(len(rows))
        for s in range(len(columns))
        if weights[t][s] >= LEAST
    ]
    if len(cells) > MOST:
        cells = sorted(cells, key=lambda cell: -cell["weight"])[:MOST]
    return cells


def plain_cells(cells: Sequence[Row]) -> list[Row]:
    """The cells as a table, without what only the drawing needs."""
    return [{k: v for k, v in each.items() if k not in ("row", "column")} for each in cells]


def colours(title: str | None = None) -> Any:
    """From nothing to all: small weights are told apart, too."""
    import altair as alt

    legend = None if title is None else alt.Legend(title=title, format=".0%")
    scale = alt.Scale(type="sqrt", domain=[0, 1], range="heatmap")
    return alt.Color("weight:Q", scale=scale, legend=legend)


def hints() -> list[Any]:
    """What is told of a cell or a line."""
    import altair as alt

    return ["attends:N", "attended to:N", alt.Tooltip("weight:Q", format=".1%")]


def ranks(many: int, axis: Any, name: str) -> Any:
    """An axis of places, the first on the left or above, with lines between them."""
    import altair as alt

    scale = alt.Scale(domain=list(range(many)), paddingInner=0, paddingOuter=0)
    lines: dict[str, Any] = {"grid": True, "bandPosition": 0, "labels": False, "ticks": False}
    lines["title"] = None
    lines["orient"] = "bottom" if axis is alt.X else "right"
    return axis(f"{name}:O", scale=scale, axis=lines)


def heat(weights: Any, rows: Sequence[str], columns: Sequence[str]) -> tuple[Any, list[Row]]:
    """A map with a name at each row and each column, and the cells behind it. Few cells have their
    weights written in them, in hundredths."""
    import altair as alt

    cells, few = cells_of(weights, rows, columns), max(len(rows), len(columns)) <= FEW
    for cell in cells:
        cell["hundredths"] = f"{100 * cell['weight']:.0f}"
    x, y = ranks(len(columns), alt.X, "column"), ranks(len(rows), alt.Y, "row")
    base = alt.Chart(values(cells)).encode(x=x, y=y, tooltip=hints())
    inside: list[Any] = [base.mark_rect(stroke=None).encode(color=colours())]
    for style, test in (
        ("ink-text", "datum.weight >= 0.1 && datum.weight < 0.5"),
        ("over-text", "datum.weight >= 0.5"),
    ):
        figures = base.mark_text(fontSize=10, style=style).encode(text="hundredths:N")
        inside += [figures.transform_filter(test)] * few
    layers: list[Any] = [alt.layer(*inside)]
    left: list[Row] = [{"row": t, "name": symbol(name)} for t, name in enumerate(rows)]
    top: list[Row] = [{"column": s, "name": symbol(name)} for s, name in enumerate(columns)]
    layers.append(
        alt.Chart(values(left))
        .mark_text(align="right", style="ink-text")
        .encode(y=y, x=alt.value(-6), text="name:N")
    )
    turned: dict[str, Any] = {"align": "left", "angle": 270}
    for kind, some in (
        ({"baseline": "bottom"}, [each for each in top if len(each["name"]) <= 2]),
        (turned, [each for each in top if len(each["name"]) > 2]),
    ):
        layers.append(
            alt.Chart(values(some))
            .mark_text(style="ink-text", **kind)
            .encode(x=x, y=alt.value(-6), text="name:N")
        )
    step = {"step": LARGE if few else SMALL}
    view = alt.layer(*layers, width=step, height=step)
    return view, plain_cells(cells)


def whole_range(many: int) -> Any:
    """A scale with a step for each of so many places, used or not."""
    import altair as alt

    return alt.Scale(domain=list(range(many)), paddingInner=0, paddingOuter=0)
