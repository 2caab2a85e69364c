"""The picture of gates while a text is read, from the record of the verb `gates`.

gates     the text, and below each of its lines a row for each gate: how far it stands open
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from seriatim.records import Record
from seriatim.show.charts import MONOSPACE, Chart, Row, values
from seriatim.show.texts import APART, COLUMNS, HIGH, LETTER, LINES, laid, named_in_text
from seriatim.show.weights import symbol, whole_range

STRONG = 0.6  # means from which on letters have the colour that stands on strong grounds
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)  # grounds that are explained


def gates(record: Record) -> Chart:
    """The text, run on, and below each line a row for each gate: the stronger, the further open."""
    import altair as alt

    high = len(record["items"]) + 2  # the letters, the gates, a gap
    names = [named_in_text(each) for each in record["symbols"]]
    many = max(1, LINES // high)
    every = laid(names, record["unit"] in APART, breaks=False)
    boxes = [box | {"line": box["line"] * high} for box in every if box["line"] < many]
    tall = max(box["line"] for box in boxes) + high
    x = alt.X("column:O", axis=None, scale=whole_range(COLUMNS + 1))
    y = alt.Y("line:O", axis=None, scale=whole_range(tall + 1))
    shades = alt.Scale(domain=[0, 1], range="heatmap", interpolate="rgb")
    colour = alt.Color("mean:Q", scale=shades, legend=None)
    cells = alt.Chart(values([cell for box in boxes for cell in gate_cells(record, box)]))
    shares = [alt.Tooltip(f"{name}:Q", format=".2f") for name in ("mean", "closed", "open")]
    ground = cells.mark_rect(stroke=None).encode(
        x=x, y=y, color=colour, tooltip=["place:Q", "symbol:N", "gate:N", *shares]
    )
    text: dict[str, Any] = {"font": MONOSPACE, "fontSize": 10, "baseline": "middle"}
    letters = alt.Chart(values(boxes)).mark_text(style="ink-text", **text)
    told = alt.Chart(values(gate_legend(tall))).encode(x=x, y=y, text="letter:N")
    left = alt.Chart(values(names_beside(record, boxes)))
    named = left.mark_text(style="ink-text", align="right")
    view = alt.layer(
        ground,
        letters.encode(x=x, y=y, text="letter:N"),
        named.encode(x=alt.value(-6), y=y, text="name:N"),
        told.mark_rect(stroke=None).encode(color=colour),
        told.mark_text(style="ink-text", **text).transform_filter(f"datum.mean < {STRONG}"),
        told.mark_text(style="over-text", **text).transform_filter(f"datum.mean >= {STRONG}"),
        width={"step": LETTER},
        height={"step": HIGH},
    )
    last = boxes[-1]["place"]
    says = (
        "Below each line of the text how far the gates stand open once a symbol is read, in the mean "
        "over their units: the stronger, the further open."
    )
    if last < len(names):
        says += f" The first {last:,} of {len(names):,} symbols are drawn."
    return Chart(view, f"{record['model']}: gates while reading", says, gate_rows(record, last))


def gate_name(each: Record, record: Record) -> str:
    """A gate, with its layer where there are several."""
    several = len({row["layer"] for row in record["items"]}) > 1
    return f"{each['layer']} {each['gate']}" if several else each["gate"]


def names_beside(record: Record, boxes: list[Row]) -> list[Row]:
    """The name of each gate at the left of each of its rows."""
    return [
        {"line": line + place, "name": gate_name(each, record)}
        for line in sorted({box["line"] for box in boxes})
        for place, each in enumerate(record["items"], 1)
    ]


def gate_cells(record: Record, box: Row) -> Iterator[Row]:
    """Below a letter a cell for each gate."""
    t = box["place"] - 1
    for place, each in enumerate(record["items"], 1):
        told = {key: round(series[t], 4) for key, series in each["by_symbol"].items()}
        about = {"symbol": symbol(record["symbols"][t], 40), "gate": gate_name(each, record)}
        at = {"place": t + 1, "line": box["line"] + place, "column": box["column"]}
        yield at | about | told


def gate_legend(line: int) -> Iterator[Row]:
    """What each ground means, under the text."""
    column = 0
    for share in SHARES:
        for letter in f" {share:g}{' closed' * (share == 0)}{' open' * (share == 1)} ":
            yield {"line": line, "column": column, "letter": letter, "mean": share}
            column += 1


def gate_rows(record: Record, last: int) -> list[Row]:
    """The table behind the rows: each symbol that is drawn, each gate."""
    return [
        {
            "layer": each["layer"],
            "gate": each["gate"],
            "symbol": symbol(record["symbols"][t], 40),
            **{key: series[t] for key, series in each["by_symbol"].items()},
        }
        for each in record["items"]
        for t in range(last)
    ]
