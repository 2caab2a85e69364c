"""Pictures of who attends to whom inside a model, from the record of the verb `attention`.

attention      a small map for each head
head, lines    one head: as a map with names, and as lines between symbols
"""

from __future__ import annotations

from typing import Any

from rich.table import Table

from seriatim.records import Record, array_of
from seriatim.show.charts import Chart, Row, short, values
from seriatim.show.tables import visible
from seriatim.show.weights import (
    LEAST,
    MOST,
    cells_of,
    colours,
    heat,
    hints,
    plain_cells,
    symbol,
    whole_range,
)

SMALL = 100  # pixels of a map in an overview
FAINT = 0.05  # weights below are no lines
ROW = 16  # pixels of a symbol in a column


def attention(record: Record) -> Chart:
    """Who attends to whom: a small map for each head; each row of a map sums to one."""
    import altair as alt

    tokens, maps = record["tokens"], record["maps"]
    each_map = [(each, cells_of(array_of(each["weights"]), tokens, tokens)) for each in maps]
    most = max(1, 2 * MOST // len(maps))  # marks of a map
    cut = any(len(cells) > most for _, cells in each_map)
    size = SMALL if len(maps) > 2 else 2 * SMALL
    views = []
    for each, cells in each_map:
        cells = sorted(cells, key=lambda cell: -cell["weight"])[:most]
        views.append(small_map(each, cells, len(tokens), size))
    many = max(each["head"] for each in maps) + 1
    view = alt.concat(*views, columns=many, spacing=16).resolve_scale(color="shared")
    says = (
        "Rows attend to columns, from the start in the corner on; the stronger, the larger the share "
        "of a row. Under each name: places away in the mean, and symbols that a row is spread over."
    )
    if cut:
        says += f" Of each map the {most:,} largest weights are drawn."
    rows = [
        {"layer": each["layer"] + 1, "head": each["head"] + 1, **cell}
        for each, cells in each_map
        for cell in plain_cells(sorted(cells, key=lambda cell: -cell["weight"])[:most])
    ]
    return Chart(view, f"{record['model']}: {text_of(record)}", says, rows)


def small_map(each: Record, cells: list[Row], many: int, size: int) -> Any:
    """One head of an overview."""
    import altair as alt

    title = alt.TitleParams(
        f"layer {each['layer'] + 1}, head {each['head'] + 1}", fontSize=11, offset=4
    )
    title.subtitle = f"{each['distance']:.1f} away, over {2 ** each['entropy_bits']:.1f}"
    title.subtitleFontSize, title.subtitlePadding, title.fontWeight = 10, 2, "normal"
    return (
        alt.Chart(values(cells), title=title, width=size, height=size)
        .mark_rect(stroke=None)
        .encode(
            x=alt.X("column:O", scale=whole_range(many), axis=None),
            y=alt.Y("row:O", scale=whole_range(many), axis=None),
            color=colours(),
            tooltip=hints(),
        )
        .properties(view=alt.ViewBackground(style="hair-line", strokeWidth=1))
    )


def text_of(record: Record) -> str:
    """The beginning of the text that was attended to."""
    blank = " " if record["unit"] in ("word", "token") else ""
    tokens = record["tokens"]
    return short(visible(blank.join(tokens[tokens[0] == "<s>" :])), 36)


def head(record: Record) -> Chart:
    """One head, symbol by symbol: the first of the record."""
    each, tokens = record["maps"][0], record["tokens"]
    view, rows = heat(array_of(each["weights"]), tokens, tokens)
    says = (
        "The symbol of a row attends to those of the columns; a row sums to 100 %, and what is under "
        f"{100 * LEAST:.0f} % is left out.{others(record)}"
    )
    return Chart(view, name_of_head(record, each), says, rows)


def lines(record: Record) -> Chart:
    """One head, the first of the record: from each symbol a line to those that it attends to, the
    wider the more."""
    import altair as alt

    each, tokens = record["maps"][0], record["tokens"]
    cells = [
        cell
        for cell in cells_of(array_of(each["weights"]), tokens, tokens)
        if cell["weight"] >= FAINT
    ]
    for cell in cells:
        cell |= {"left": 0, "right": 1}
    hover = alt.selection_point(on="pointerover", fields=["row"], nearest=False, name="symbol")
    tall = ROW * len(tokens)
    y = alt.Y("row:Q", axis=None, scale=alt.Scale(domain=[-0.6, len(tokens) - 0.4], reverse=True))
    x = alt.X("left:Q", axis=None, scale=alt.Scale(domain=[0, 1]))
    drawn = (
        alt.Chart(values(cells))
        .mark_rule(style="accent-line", strokeCap="round")
        .encode(
            x=x,
            x2="right:Q",
            y=y,
            y2="column:Q",
            strokeWidth=alt.StrokeWidth(
                "weight:Q", scale=alt.Scale(domain=[0, 1], range=[0.4, 5]), legend=None
            ),
            opacity=alt.condition(
                hover,
                alt.Opacity(
                    "weight:Q", scale=alt.Scale(domain=[0, 1], range=[0.15, 0.95]), legend=None
                ),
                alt.value(0.04),
            ),
            tooltip=hints(),
        )
    )
    view = alt.layer(drawn.add_params(hover), *two_columns(tokens, y), height=tall)
    says = (
        "From each symbol on the left a line to those that it attends to, the wider the more; "
        f"weights under {100 * FAINT:.0f} % are left out.{others(record)}"
    )
    rows = [
        {key: value for key, value in cell.items() if key not in ("left", "right")}
        for cell in plain_cells(cells)
    ]
    return Chart(view, name_of_head(record, each), says, rows)


def two_columns(tokens: list[str], y: Any) -> list[Any]:
    """The symbols on either side of the lines, and what each side does."""
    import altair as alt

    words = [{"row": t, "name": symbol(name)} for t, name in enumerate(tokens)]
    column = alt.Chart(values(words)).encode(y=y, text="name:N")
    above = alt.Chart(values([{}]))
    begin = above.mark_text(style="soft-text", baseline="bottom", align="left")
    end = above.mark_text(style="soft-text", baseline="bottom", align="right")
    return [
        column.mark_text(align="right", style="ink-text").encode(x=alt.value(-8)),
        column.mark_text(align="left", style="ink-text", dx=8).encode(x=alt.value("width")),
        begin.encode(x=alt.value(0), y=alt.value(-2), text=alt.value("attends")),
        end.encode(x=alt.value("width"), y=alt.value(-2), text=alt.value("is attended to")),
    ]


def name_of_head(record: Record, each: Record) -> str:
    """Which head it is."""
    return f"{record['model']}: layer {each['layer'] + 1}, head {each['head'] + 1}"


def others(record: Record) -> str:
    """How to see another head, where there are more."""
    many = len(record["maps"]) - 1
    return f" There are {many} more: choose by layer and head." if many else ""


def heads(record: dict[str, Any]) -> Table:
    """A row for each head: how far back and how widely it looks."""
    table = Table(header_style="bold", box=None, pad_edge=False)
    for name in ("layer", "head", "mean distance", "bits", "perplexity"):
        table.add_column(name, justify="right")
    for each in record["maps"]:
        bits = each["entropy_bits"]
        table.add_row(
            str(each["layer"] + 1),
            str(each["head"] + 1),
            f"{each['distance']:.1f}",
            f"{bits:.2f}",
            f"{2**bits:.1f}",
        )
    return table
