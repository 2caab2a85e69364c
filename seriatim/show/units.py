"""Pictures and tables of hidden units along a text, from the record of the verb `units`.

units     the text itself, once for each unit, each symbol on a ground that tells what the unit says
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from seriatim.records import Record
from seriatim.show.charts import MONOSPACE, Chart, Row, short, values
from seriatim.show.tables import sparkline
from seriatim.show.texts import APART, COLUMNS, HIGH, LETTER, laid, named_in_text
from seriatim.show.weights import symbol, whole_range

ROWS = 72  # lines of all blocks together
STRONG = 0.72  # of the largest: grounds so strong that letters on them have another colour
STEPS = (-1.0, -0.5, 0.0, 0.5, 1.0)  # grounds that are explained, of the largest
MARKED = {
    "quote": "inside quotation marks",
    "bracket": "inside brackets",
    "line": "place in the line",
    "word": "place in the word",
    "capital": "capital letters",
    "digit": "digits",
}


def units(record: Record) -> Chart:
    """The text, a block for each unit, coloured by what it says; above them the marker, if units
    were looked for that follow one."""
    blocks = list(blocks_of(record))
    many = max(1, ROWS // len(blocks) - 2)  # lines of a block
    names = [named_in_text(each) for each in record["symbols"]]
    boxes = [box for box in laid(names, record["unit"] in APART) if box["line"] < many]
    tall = max(box["line"] for box in boxes) + 1
    shown = [symbol(each, 40) for each in record["symbols"]]
    boxes = [box | {"symbol": shown[box["place"] - 1]} for box in boxes]
    rows = [row for place, each in enumerate(blocks) for row in block(each, boxes, place, tall)]
    end = len(blocks) * (tall + 2)
    above = [{"line": n * (tall + 2), "words": each["words"]} for n, each in enumerate(blocks)]
    view = drawn(rows, list(legend(end, largest_of(record))), above, end + 1)
    says = said_of(record)
    last = boxes[-1]["place"]
    if last < len(names):
        says += f" The first {last:,} of {len(names):,} symbols are drawn."
    title = f"{record['model']}: {short(text_of(record), 40)}"
    return Chart(view, title, says, plain_rows(record, last))


def text_of(record: Record) -> str:
    """The text that was read, on one line."""
    whole = (" " if record["unit"] in APART else "").join(record["symbols"])
    return " ".join(whole.split())


def blocks_of(record: Record) -> Iterator[Row]:
    """What is drawn one below the other: a heading, the values, and their share of the largest."""
    if record["marked"] is not None:
        top = max(map(abs, record["marked"])) or 1.0
        shares = [value / top for value in record["marked"]]
        heading = f"the marker: {MARKED[record['marker']]}"
        yield {"words": heading, "values": record["marked"], "shares": shares}
    largest = largest_of(record)
    for each in record["items"]:
        shares = [value / largest for value in each["values"]]
        yield {"words": heading_of(each, record), "values": each["values"], "shares": shares}


def largest_of(record: Record) -> float:
    """The furthest from 0 that any of the units says."""
    return max(abs(value) for each in record["items"] for value in each["values"]) or 1.0


def heading_of(each: Record, record: Record) -> str:
    """Which unit, and how well it follows."""
    name = f"layer {each['layer']}, unit {each['unit']}"
    if not record["marker"]:
        return f"{name}: deviation {each['deviation']:.2f}"
    found = each["correlation"]
    return f"{name}: always the same" if found is None else f"{name}: r = {found:+.2f}"


def block(each: Row, boxes: Sequence[Row], place: int, tall: int) -> Iterator[Row]:
    """The boxes of the text, with what one unit says of each symbol."""
    for box in boxes:
        t = box["place"] - 1
        yield box | {
            "line": place * (tall + 2) + 1 + box["line"],
            "value": round(each["values"][t], 4),
            "share": round(each["shares"][t], 4),
            "block": each["words"],
        }


def legend(line: int, largest: float) -> Iterator[Row]:
    """What the grounds mean."""
    column = 0
    for share in STEPS:
        for letter in f" {share * largest:+.2f} " if share else " 0 ":
            yield {"line": line, "column": column, "letter": letter, "share": share}
            column += 1


def drawn(rows: list[Row], below: list[Row], above: list[Row], lines: int) -> Any:
    """The boxes, what their grounds mean, and the headings."""
    import altair as alt

    x = alt.X("column:O", axis=None, scale=whole_range(COLUMNS + 1))
    y = alt.Y("line:O", axis=None, scale=whole_range(lines))
    shade = alt.Scale(domain=[-1, 1], range="diverging", interpolate="rgb")
    kind: dict[str, Any] = {"font": MONOSPACE, "fontSize": 10, "baseline": "middle"}
    layers = []
    hint = ["place:Q", "symbol:N", "block:N", alt.Tooltip("value:Q", format="+.3f")]
    for some, hints in ((rows, hint), (below, [])):
        base = alt.Chart(values(some)).encode(x=x, y=y)
        ground = base.mark_rect(stroke=None).encode(
            color=alt.Color("share:Q", scale=shade, legend=None), tooltip=hints
        )
        light = base.mark_text(style="ink-text", **kind).encode(text="letter:N")
        strong = base.mark_text(style="over-text", fontWeight="bold", **kind)
        layers += [
            ground,
            light.transform_filter(f"abs(datum.share) < {STRONG}"),
            strong.transform_filter(f"abs(datum.share) >= {STRONG}").encode(text="letter:N"),
        ]
    told = alt.Chart(values(above)).mark_text(style="ink-text", fontWeight="bold", align="left")
    layers.append(told.encode(x=alt.value(0), y=y, text="words:N"))
    return alt.layer(*layers, width={"step": LETTER}, height={"step": HIGH})


def said_of(record: Record) -> str:
    """What one sees, and how far it can be believed."""
    says = (
        "Each block is the text, coloured by what one unit says once a symbol was read: "
        "the stronger the ground, the further from 0."
    )
    if not record["marker"]:
        return f"{says} Of {record['searched']:,} units those that change most."
    return f"{says} {luck_of(record)}"


def luck_of(record: Record) -> str:
    """How many units were searched, and what the search is worth on text that it did not see."""
    many = f"{record['searched']:,} unit{'s' * (record['searched'] != 1)}"
    words = f"r: correlation with the marker over {len(record['symbols']):,} symbols, of {many}."
    halves = record["halves"]
    if halves is None:
        return f"{words} The marker does not change in one half of the text: luck cannot be told."
    first, second = halves["symbols"]
    name = f"layer {halves['layer']}, unit {halves['unit']}"
    return (
        f"{words} The best on the first {first:,} alone is {name}, with {signed(halves['first'])}; "
        f"on the other {second:,} it has {signed(halves['second'])}."
    )


def signed(value: float | None) -> str:
    """A correlation; a unit that always says the same has none."""
    return "none" if value is None else f"{value:+.2f}"


def plain_rows(record: Record, last: int) -> list[Row]:
    """The table behind the picture: a row for each symbol that is drawn, of each unit."""
    return [
        {
            "layer": each["layer"],
            "unit": each["unit"],
            "symbol": symbol(record["symbols"][t], 40),
            "value": each["values"][t],
            **({} if record["marked"] is None else {"marker": record["marked"][t]}),
        }
        for each in record["items"]
        for t in range(last)
    ]


def listed(record: Record) -> Group:
    """A row for each unit: where it stands, how well it follows, and its course along the text."""
    table = Table(header_style="bold", box=None, pad_edge=False)
    follows = bool(record["marker"])
    for name in ("layer", "unit", *["r"] * follows, "mean", "deviation"):
        table.add_column(name, justify="right")
    table.add_column("along the text", no_wrap=True)
    if follows:
        blank = [""] * 3
        course = sparkline(record["marked"])
        table.add_row("", "", *blank, Text(f"{course}  {MARKED[record['marker']]}"))
    for each in record["items"]:
        cells = [signed(each["correlation"])] if follows else []
        cells += [f"{each['mean']:+.2f}", f"{each['deviation']:.2f}"]
        course = sparkline(each["values"], zero=False)
        table.add_row(str(each["layer"]), str(each["unit"]), *cells, Text(course))
    many = f"{len(record['symbols']):,} symbols, {record['searched']:,} units"
    told = luck_of(record) if follows else f"{many}: those that change most"
    return Group(Text(f"{record['model']}: {told}", style="dim"), table)
