"""Pictures of language models: phrases over time, gradient and influence by distance, surprisal.
Those of attention and of hidden units, which other rooms have, too, stand in `seriatim.show`, that
of gates in `gate_pictures`.

frequency              how often phrases occur over time, a line each
gradient, influence    how far back a model reaches, a line for each run
positions              what each position is told, a row each, feature by feature
impulse                what a push leaves in a recurrence, a line for each spectral radius
surprisal              the text itself, each symbol on a ground that tells its bits
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from seriatim.errors import RunError
from seriatim.records import Record, array_of
from seriatim.show.charts import MONOSPACE, Chart, Row, domain_of, powers, short, spread, values
from seriatim.show.tables import BITS
from seriatim.show.texts import APART, COLUMNS, HIGH, LETTER, LINES, laid, named_in_text
from seriatim.show.times import time_axis
from seriatim.show.weights import MOST, symbol, whole_range
from seriatim.tasks.language.tables import run_names

HEIGHT = 300
LINE = 13  # pixels between two names
FLOOR = 1e-6  # nats; what is less is not far from rounding
TICKS = "datum.value < 0.001 ? format(datum.value, '~e') : format(datum.value, '~g')"


# -- lines and their names
def in_parts(rows: Sequence[Row]) -> list[Row]:
    """Rows of a line without its gaps, where a value is None: each stretch has a number, and a row
    that is a stretch by itself is `alone`."""
    found: list[Row] = []
    part = 0
    for row in rows:
        if row["value"] is None:
            part += 1
        else:
            found.append(row | {"part": part})
    numbers = [row["part"] for row in found]
    for row in found:
        row["alone"] = numbers.count(row["part"]) == 1
    return found


def named_ends(ends: list[Row], at: Any, tall: float, back: Any, gap: float = LINE) -> list[Row]:
    """The last rows of lines with the place of their names, moved apart where lines end at the same
    x; `at` is the pixel of a value, and `back` the value of a pixel."""
    for x in {end["x"] for end in ends}:
        some = [end for end in ends if end["x"] == x]
        places = spread([at(end["value"]) for end in some], gap, 6, max(tall - 6, gap * len(some)))
        for end, place in zip(some, places):
            end["name_at"] = back(place)
    return ends


def with_names(ends: list[Row], dy: float = 0.0, field: str = "name", **marks: Any) -> list[Any]:
    """Names at the ends of lines, in the colours of these, with a thin halo that leaves other lines
    to be seen."""
    import altair as alt

    base = alt.Chart(values(ends)).encode(x="x:Q", y="name_at:Q", text=f"{field}:N")
    kind: dict[str, Any] = {"align": "left", "baseline": "middle", "dx": 7, "dy": dy, **marks}
    ground = base.mark_text(style="paper", strokeWidth=2, strokeJoin="round", **kind)
    return [ground, base.mark_text(**kind).encode(color=by_name())]


def by_name() -> Any:
    """A colour for each line, in the order in which they come."""
    import altair as alt

    return alt.Color("name:N", sort=None, legend=None, scale=alt.Scale(range="category"))


# -- phrases over time
def frequency(record: Record) -> Chart:
    """How often phrases occur over time: a line each, broken where there is no text, with its name
    at its end; where lines are means, each period as a point."""
    import altair as alt

    years, unit = record["every"] == "year", record["unit"]
    rows = [row for each in record["phrases"] for row in course(record, each, years)]
    if not rows:
        raise RunError("there is nothing to draw", got="no period with any text")
    top = 1.06 * max(max(row["value"], row["each"]) for row in rows) or 1.0
    ends = [
        [row for row in rows if row["place"] == place][-1]
        for place in sorted({row["place"] for row in rows})
    ]
    tall = max(HEIGHT, LINE * len(ends))
    scale = top / tall
    ends = named_ends(
        [end | {"x": end["time"]} for end in ends],
        lambda value: tall - value / scale,
        tall,
        lambda place: (tall - place) * scale,
    )
    for end in ends:
        end["time"] = end["x"]
    x = over_time(rows, years)
    base = alt.Chart(values(rows)).encode(
        x=x,
        y=alt.Y(
            "value:Q", title=f"per million {unit}s", scale=alt.Scale(domain=[0, top], nice=False)
        ),
        color=by_name(),
        detail="part:N",
        tooltip=[
            alt.Tooltip("name:N", title="phrase"),
            alt.Tooltip("period:N", title=record["every"]),
            alt.Tooltip("each:Q", title=f"per million {unit}s", format=",.1f"),
            alt.Tooltip("count:Q", format=","),
            alt.Tooltip("value:Q", title="drawn", format=",.1f"),
        ],
    )
    layers = [base.mark_line()]
    layers.append(base.mark_point(filled=True, size=30, opacity=1).transform_filter("datum.alone"))
    if record["smooth"]:
        points = base.mark_point(filled=True, size=16, opacity=0.35)
        layers.insert(0, points.encode(y="each:Q"))
    names = [each.encode(x=x) for each in with_names(ends)]
    view = alt.layer(alt.layer(*layers), *names, height=tall)
    return Chart(view, Path(record["data"]).name, said_of_phrases(record), plain_courses(rows))


def course(record: Record, phrase: Record, years: bool) -> list[Row]:
    """The rows of a phrase, without periods that have no text."""
    place = record["phrases"].index(phrase)
    rows = [
        {
            "place": place,
            "name": short(phrase["phrase"]),
            "period": period,
            "time": int(period) if years else (period if len(period) > 7 else f"{period}-01"),
            "value": drawn,
            "each": each,
            "count": count,
        }
        for period, drawn, each, count in zip(
            record["periods"], phrase["smoothed"], phrase["frequency"], phrase["counts"]
        )
    ]
    for row in rows:
        row["each"] = row["value"] if row["each"] is None else row["each"]
    return in_parts(rows)


def over_time(rows: list[Row], years: bool) -> Any:
    """Years as numbers, months and days as dates."""
    import altair as alt

    if not years:
        begin, end = (1000 * stamp_of(each(row["time"] for row in rows)) for each in (min, max))
        return alt.X("time:T", scale=alt.Scale(type="utc"), axis=time_axis(begin, end, grid=False))
    times = [row["time"] for row in rows]
    low, high = min(times), max(times)
    axis = alt.Axis(format="d", tickMinStep=1, grid=False)
    domain = [low, high] if low < high else [low - 1, high + 1]
    return alt.X("time:Q", title="year", scale=alt.Scale(domain=domain, nice=False), axis=axis)


def stamp_of(day: str) -> float:
    """Seconds since 1970 of a day, such as 1969-07-20."""
    return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()


def said_of_phrases(record: Record) -> str:
    """What one sees, and how it was smoothed."""
    every, many = record["every"], 2 * record["smooth"] + 1
    says = f"How often each phrase occurs, per million {record['unit']}s"
    if record["smooth"]:
        return f"{says}. Lines: the mean of {many} {every}s; points: each {every} by itself."
    return f"{says}, {every} by {every}; a line is broken where there is no text."


def plain_courses(rows: list[Row]) -> list[Row]:
    """What is drawn, as a table."""
    return [
        {
            "phrase": row["name"],
            "period": row["period"],
            "per million": row["each"],
            "drawn": row["value"],
            "count": row["count"],
        }
        for row in rows
    ]


# -- by distance
def gradient(record: Record) -> Chart:
    """How the gradient fares on its way back: a line for each run; what shrinks by the same factor
    at each step is straight."""
    told = [told_of_gradient(each) for each in record["runs"]]
    unit = record["runs"][0]["unit"]
    says = (
        f"How strongly the loss of a {unit} pulls at each one before it: straight where it changes "
        "by the same factor, ×, at every place; the flatter, the further back can be learned from."
    )
    if any(len(each["radii"]) == 1 for each in record["runs"]):
        says += " Radius: the largest absolute eigenvalue of the recurrent matrix."
    title = "How far back the gradient reaches"
    chart = by_distance(record, title, says, "norm of d loss / d x", told, 0.0, across="linear")
    return with_layers(chart, record)


def with_layers(chart: Chart, record: Record) -> Chart:
    """Below the distances the depths, where there are several layers: the norm of the gradient with
    respect to all that the embedding says, 0, and to the outputs of each layer."""
    import altair as alt

    rows = [
        {"name": name, "layer": layer, "value": value}
        for name, each in zip(shown_names(record), record["runs"])
        for layer, value in enumerate(each["by_layer"])
        if value
    ]
    deepest = max((row["layer"] for row in rows), default=0)
    if deepest < 2:
        return chart
    measure, small = "norm of d loss / d layer", alt.Axis(tickCount=4, labelExpr=TICKS)
    base = alt.Chart(values(rows)).encode(
        x=alt.X("layer:Q", title="layer (0: embedding)", axis=whole_numbers(deepest)),
        y=alt.Y("value:Q", title=measure, scale=alt.Scale(type="log"), axis=small),
        color=by_name(),
        tooltip=["name:N", "layer:Q", alt.Tooltip("value:Q", title=measure, format=".3g")],
    )
    below = alt.layer(base.mark_line(), base.mark_point(filled=True, size=9, opacity=1), height=130)
    says = f"{chart.says} Below: how it fares from layer to layer, the last one on the right."
    table = [{"model": row["name"], "layer": row["layer"], measure: row["value"]} for row in rows]
    views = [chart.body, below.to_dict()]
    datasets = {name: rows for view in views for name, rows in view.pop("datasets", {}).items()}
    both = {"vconcat": views, "spacing": 18, "datasets": datasets}
    return Chart(both, chart.title, says, [*chart.rows, *table])


def whole_numbers(most: int) -> Any:
    """An axis of layers."""
    import altair as alt

    return alt.Axis(values=list(range(most + 1)), format="d", grid=False)


def told_of_gradient(run: Record) -> str:
    """The factor of a run, and the spectral radius of its matrix where it has one."""
    words = [] if run["factor"] is None else [f"×{run['factor']:.2f}"]
    if len(run["radii"]) == 1:
        words.append(f"radius {run['radii'][0]['radius']:.2f}")
    return ", ".join(words)


TOLD = {
    "rotary": "by which queries and keys are turned: cosines on the left, sines on the right",
    "sinusoidal": "that are added to the embedded symbols",
    "learned": "that are added to the embedded symbols, as they were learned",
    "concatenated": "that are put beside the embedded symbols",
}


def positions(record: Record) -> Chart:
    """What each position is told: a row for each, a cell for each feature."""
    import altair as alt

    vectors = array_of(record["vectors"])  # (N, D)
    many = max(1, min(len(vectors), MOST // vectors.shape[1]))
    cells = [
        {"position": place, "feature": feature, "value": round(float(value), 4)}
        for place, row in enumerate(vectors[:many])
        for feature, value in enumerate(row, 1)
    ]
    largest = max(abs(cell["value"]) for cell in cells) or 1.0
    axes = [
        axis(f"{name}:O", axis=alt.Axis(labelOverlap=True, grid=False, labelAngle=0), title=name)
        for axis, name in ((alt.X, "feature"), (alt.Y, "position"))
    ]
    shade = alt.Scale(domain=[-largest, largest], range="diverging")
    tall = max(2 * LINE, min(HEIGHT, LINE * many))
    view = (
        alt.Chart(values(cells), height=tall)
        .mark_rect(stroke=None)
        .encode(x=axes[0], y=axes[1], color=alt.Color("value:Q", scale=shade))
        .encode(tooltip=["position:O", "feature:O", "value:Q"])
    )
    says = f"The numbers {TOLD[record['positions']]}; rows that are alike are hard to tell apart."
    if many < len(vectors):
        says += f" The first {many} of {len(vectors)} positions."
    return Chart(view, f"{record['model']}: {record['positions']} positions", says, cells)


def influence(record: Record) -> Chart:
    """How much a symbol matters for what comes so many places later: a line for each run, which ends
    where there is no influence any more."""
    told = []
    for each in record["runs"]:
        some = [d for d, value in zip(each["distances"], each["values"]) if value != 0]
        ends = bool(some) and some[-1] < each["distances"][-1]
        told.append(f"nothing beyond {some[-1]}" if ends else "")
    unit = record["runs"][0]["unit"]
    says = (
        f"How much the prediction changes when the {unit} so many places back is another one: the "
        f"higher, the more it matters. Less than {FLOOR:f} nats is not drawn."
    )
    measure = "nats by which the prediction changes"
    title = "How far back a symbol matters"
    return by_distance(record, title, says, measure, told, FLOOR, across="log")


def by_distance(
    record: Record, title: str, says: str, measure: str, told: list[str], floor: float, across: str
) -> Chart:
    """A line for each run over the distance, on a logarithmic axis, what there is to tell of it
    under its name; values at or below the floor are not drawn."""
    import altair as alt

    table = distance_rows(record, told)
    lines = lines_above(table, floor)
    rows = [row for line in lines for row in line]
    if not rows:
        raise RunError("there is nothing to draw", got="no distance with any effect")
    low, high = (
        math.log(row["value"]) for row in (min(rows, key=value_of), max(rows, key=value_of))
    )
    low, high = domain_of([low, high], 0.04)
    gap, scale = LINE * (2 if any(told) else 1), (high - low) / HEIGHT
    tall = max(HEIGHT, gap * len(lines))
    ends = named_ends(
        [dict(line[-1]) for line in lines if line],
        lambda value: tall - (math.log(value) - low) / scale,
        tall,
        lambda place: math.exp(low + (tall - place) * scale),
        gap,
    )
    limits = [math.exp(low), math.exp(high)]
    ticks = powers(*limits)
    furthest = max(row["x"] for row in table)
    x = distances(furthest, across, record["runs"][0]["unit"])
    base = alt.Chart(values(rows)).encode(
        x=x,
        y=alt.Y(
            "value:Q",
            title=measure,
            scale=alt.Scale(type="log", domain=limits, nice=False),
            axis=alt.Axis(values=ticks, tickCount=len(ticks), labelExpr=TICKS),
        ),
        color=by_name(),
        detail="part:N",
        tooltip=[
            alt.Tooltip("name:N", title="model"),
            alt.Tooltip("x:Q", title="distance"),
            alt.Tooltip("value:Q", title=measure, format=".3g"),
            alt.Tooltip("told:N", title="in short"),
        ],
    )
    view = alt.layer(
        alt.layer(base.mark_line(), base.mark_point(filled=True, size=9, opacity=1)),
        *with_names(ends, dy=-6 if any(told) else 0, fontWeight="bold"),
        *(with_names(ends, dy=7, field="told") if any(told) else []),
        height=tall,
    )
    kept = [
        {"model": row["name"], "distance": row["x"], measure: row["value"], "in short": row["told"]}
        for row in table
    ]
    return Chart(view, title, says, kept)


# -- a push
def impulse(record: Record) -> Chart:
    """What a push leaves in a recurrence: a line for each spectral radius on a logarithmic axis, and
    where the recurrence is linear the powers of the radius, dashed."""
    import altair as alt

    rows = [row for each in record["items"] for row in impulse_rows(each)]
    if not rows:
        raise RunError("there is nothing to draw", got="no difference that is left")
    low, high = (math.log(end(row["value"] for row in rows)) for end in (min, max))
    low, high = domain_of([low, high], 0.04)
    scale = (high - low) / HEIGHT
    lines = [[row for row in rows if row["name"] == name] for name in radius_names(record)]
    lasts = [[row for row in line if row["kind"] == LEFT][-1] for line in lines if line]
    ends = named_ends(
        [dict(last) for last in lasts],
        lambda value: HEIGHT - (math.log(value) - low) / scale,
        HEIGHT,
        lambda place: math.exp(low + (HEIGHT - place) * scale),
    )
    limits = [math.exp(low), math.exp(high)]
    ticks = powers(*limits)
    axis = alt.Axis(values=ticks, tickCount=len(ticks), labelExpr=TICKS)
    y_scale = alt.Scale(type="log", domain=limits, nice=False)
    domain = alt.Scale(domain=[0, record["steps"]], nice=False)
    base = alt.Chart(values(rows)).encode(
        x=alt.X("x:Q", title="steps after the push", scale=domain, axis=alt.Axis(grid=False)),
        y=alt.Y("value:Q", title="norm of the difference", scale=y_scale, axis=axis),
        color=by_name(),
        tooltip=["name:N", "kind:N", "x:Q", alt.Tooltip("value:Q", format=".3g")],
    )
    view = alt.layer(
        base.mark_line().transform_filter(f"datum.kind == '{LEFT}'"),
        base.mark_line(strokeDash=[2, 4], strokeWidth=1).transform_filter(
            f"datum.kind != '{LEFT}'"
        ),
        *with_names(ends, fontWeight="bold"),
        height=HEIGHT,
    )
    kept = [{"radius": row["radius"], "step": row["x"], row["kind"]: row["value"]} for row in rows]
    dashed = " Dashed: the powers of the radius." if record["activation"] == "linear" else ""
    says = (
        "What one push of size 1 leaves in the state, step by step: below radius 1 it vanishes, above "
        f"it explodes.{dashed}"
        if dashed
        else "What one push of size 1 leaves in the state, step by step, where each step goes through "
        "tanh and inputs of full size make that flat: the radius alone does not decide."
    )
    title = f"A push in a {record['activation']} recurrence of width {record['width']}"
    return Chart(view, title, says, kept)


LEFT = "what is left"


def radius_names(record: Record) -> list[str]:
    """What the lines are called."""
    return [f"radius {each['radius']:g}" for each in record["items"]]


def impulse_rows(each: Record) -> Iterator[Row]:
    """The points of a radius that a logarithmic axis has a place for."""
    told = {"name": f"radius {each['radius']:g}", "radius": each["radius"]}
    for kind, series in ((LEFT, each["norms"]), ("power of the radius", each["powers"] or [])):
        for step, value in enumerate(series):
            if value:  # neither nought nor too large
                yield told | {"kind": kind, "x": step, "value": value}


def lines_above(table: list[Row], floor: float) -> list[list[Row]]:
    """The rows of each run, in parts where a value is at or below the floor."""
    drawable = [
        row | {"value": row["value"] if (row["value"] or 0) > floor else None} for row in table
    ]
    names = list(dict.fromkeys(row["name"] for row in table))
    return [in_parts([row for row in drawable if row["name"] == name]) for name in names]


def distance_rows(record: Record, told: list[str]) -> list[Row]:
    """A row for each distance of each run."""
    return [
        {"name": name, "told": words, "x": distance, "value": value}
        for name, words, each in zip(shown_names(record), told, record["runs"])
        for distance, value in zip(each["distances"], each["values"])
    ]


def shown_names(record: Record) -> list[str]:
    """The names of the runs; those that are the same when shortened are numbered."""
    names: list[str] = []
    for name in run_names(record):
        name = short(name, 28)
        names.append(f"{name} {names.count(name) + 1}" if name in names else name)
    return names


def value_of(row: Row) -> float:
    """What is drawn."""
    return row["value"]


def distances(furthest: int, across: str, unit: str) -> Any:
    """The axis of distances; of a logarithmic one powers of two are named."""
    import altair as alt

    title = f"{unit}s back"
    if across == "linear":
        scale = alt.Scale(domain=[0, furthest], nice=False)
        return alt.X("x:Q", title=title, scale=scale, axis=alt.Axis(grid=False))
    scale = alt.Scale(type="log", base=2, domain=[0.9, max(2, furthest)], nice=False)
    ticks = [2**i for i in range(furthest.bit_length())]
    axis = alt.Axis(values=ticks, format="d", grid=False)
    return alt.X("x:Q", title=title, scale=scale, axis=axis)


# -- surprisal
def surprisal(record: Record) -> Chart:
    """The text itself, each symbol on a ground that is the stronger the more it surprised."""
    import altair as alt

    boxes = [box for box in boxes_of(record) if box["line"] < LINES]
    tall = max(box["line"] for box in boxes) + 1
    base = alt.Chart(values([*boxes, *legend_boxes(tall + 1)])).encode(
        x=alt.X("column:O", axis=None, scale=whole_range(COLUMNS + 1)),
        y=alt.Y("line:O", axis=None, scale=whole_range(tall + 2)),
        tooltip=[
            alt.Tooltip("place:Q"),
            alt.Tooltip("symbol:N"),
            alt.Tooltip("bits:Q", format=".2f"),
            alt.Tooltip("side_bits:Q", title="of them beside the symbol", format=".2f"),
            alt.Tooltip("unknown:N"),
        ],
    )
    shades = alt.Scale(type="threshold", domain=list(BITS), range="heatmap")
    ground = base.mark_rect(stroke=None).encode(
        color=alt.Color("ground:Q", scale=shades, legend=None)
    )
    text: dict[str, Any] = {"font": MONOSPACE, "fontSize": 10, "baseline": "middle"}
    light = base.mark_text(style="ink-text", **text).encode(text="letter:N")
    strong = base.mark_text(style="over-text", fontWeight="bold", **text).encode(text="letter:N")
    view = alt.layer(
        ground,
        light.transform_filter("datum.ground < 4"),
        strong.transform_filter("datum.ground >= 4"),
        width={"step": LETTER},
        height={"step": HIGH},
    )
    drawn = boxes[-1]["place"]
    says = f"{per_character(record)} The stronger the ground of a symbol, the more bits it takes."
    if drawn < len(record["tokens"]):
        says += f" The first {drawn:,} of {len(record['tokens']):,} symbols are drawn."
    return Chart(view, bits_of_all(record), says, bits_by_symbol(record))


def bits_of_all(record: Record) -> str:
    """Whose surprise it is, and how much in all."""
    many = f"{len(record['tokens']):,} symbols"
    if record["bits"] is None:
        return f"{record['model']}: impossible, {many}"
    return f"{record['model']}: {record['bits']:,.1f} bits for {many}"


def per_character(record: Record) -> str:
    """What a character costs, and how much of that the symbols do not tell."""
    if record["bits_per_character"] is None:
        return f"{record['impossible']:,} symbols have probability 0."
    beside = f", {record['side_bits']:,.1f} bits of all beside the symbols"
    rest = beside if record["side_bits"] else ""
    return f"{record['bits_per_character']:.3f} bits per character{rest}."


def legend_boxes(line: int) -> Iterator[Row]:
    """What each ground means, under the text."""
    column = 0
    for low, high in zip((0, *BITS), (*BITS, None)):
        name = f" {low:g}–{high:g} " if high else f" {low:g} or more bits "
        for letter in name:
            yield {"line": line, "column": column, "letter": letter, "ground": low}
            column += 1


def boxes_of(record: Record) -> Iterator[Row]:
    """A box for each letter, in lines that are as long as there is room."""
    names = [
        "⏎" if record["by"] == "line" and row["symbol"] == "</s>" else named_in_text(row["symbol"])
        for row in record["tokens"]
    ]
    for box in laid(names, record["unit"] in APART):
        yield box | told_of(box["place"], record["tokens"][box["place"] - 1])


def told_of(place: int, row: Row) -> Row:
    """What is told of a symbol when it is pointed at, and how strong its ground is."""
    return {
        "place": place,
        "symbol": symbol(row["symbol"], 40),
        "bits": row["bits"],
        "side_bits": row["side_bits"],
        "unknown": "yes" if row["unknown"] else "no",
        "ground": 2.0 * BITS[-1] if row["bits"] is None else row["bits"],
    }


def bits_by_symbol(record: Record) -> list[Row]:
    """The table behind the text: its bits add up to those of the title, whatever is left out."""
    tokens = record["tokens"]
    rows: list[Row] = [
        {"symbol": symbol(row["symbol"], 40), "bits": row["bits"], "side bits": row["side_bits"]}
        for row in tokens[:MOST]
    ]
    rest = tokens[MOST:]
    if rest:
        possible = all(row["bits"] is not None for row in rest)
        rows.append(
            {
                "symbol": f"{len(rest):,} more",
                "bits": sum(row["bits"] for row in rest) if possible else None,
                "side bits": sum(row["side_bits"] for row in rest),
            }
        )
    return rows
