"""Pictures of found labels and values against true ones, and of what an answer rests on.

    confusion     a row for each true label, a column for each found one: counts, on a ground that
                  tells their share of the row
    reliability   how often labels found with a probability were right, over that probability; on
                  the diagonal, it means what it says
    precision     what a threshold does: precision and recall of one label, over the probability
                  from which on it is found, and against each other
    explanation   what each symbol of a text adds to a label
    scatter       found values over true ones, with the interval that each was said to lie in

Shapes: K labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from seriatim.errors import RunError
from seriatim.measuring.resampling import wilson
from seriatim.records import Record
from seriatim.show.charts import NARROW, Chart, Row, domain_of, short, spread, values
from seriatim.show.tables import visible
from seriatim.tasks.labels.tables import END

MOST_LABELS, MOST_SYMBOLS = 60, 40  # rows of a picture
LETTER, CAPITAL, BETWEEN = 6.4, 8.0, 6  # pixels: of a letter, and between names side by side
HEIGHT, PANEL, STEP = 300, 90, 20
QUARTERS = [0, 0.25, 0.5, 0.75, 1]  # ticks of shares
STRONG = 0.5  # the share of a row from which on letters stand on a dark ground
WITHIN = 1.2815515655446004  # deviations of the central 80 % of a normal distribution
SAID = {
    "exact": "exactly, by a model that adds",
    "occlusion": "by how much it falls if the symbol is unknown",
    "gradient": "by integrated gradients",
}


def title_of(record: Record, words: str) -> str:
    """What was measured, and of which model."""
    names = [Path(str(record[key])).name for key in ("data", "run") if record.get(key)]
    return f"{' by '.join(names) or record.get('model', '')}: {words}".lstrip(": ")


def percent(share: float) -> str:
    """A share as it stands in a sentence."""
    return f"{100 * share:.1f} %"


def apart(names: Iterable[Any], longest: int = 24) -> list[str]:
    """Names of rows, as long as there is room, no two the same.

    >>> apart(["ham", "spam", "ham"])
    ['ham', 'spam', 'ham (2)']
    """
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        written = short(visible(str(name)), longest)
        seen[written] += 1
        found.append(written if seen[written] == 1 else f"{written} ({seen[written]})")
    return found


def as_text(symbol: str) -> str:
    """A symbol as it can be seen, with its blanks.

    >>> as_text(" free"), as_text("\\n")
    ('␣free', '⏎')
    """
    return visible(symbol.replace(" ", "␣").replace("\n", "⏎"))


def room_of(name: str) -> float:
    """Pixels that a name needs beside another; capitals are wider."""
    return BETWEEN + sum(CAPITAL if letter.isupper() else LETTER for letter in name)


def noun_of(record: Record) -> str:
    """What was found: a tag, where words are told apart, or a label."""
    return "tag" if "known_words" in record else "label"


# -- confusion
def confusion(record: Record) -> Chart:
    """The most frequent labels in the order of the record; what never happened is left blank."""
    import altair as alt

    cells, names = cells_of(record)
    digits = max(len(str(cell["count"])) for cell in cells)
    step = max(18, 6 * digits + 7, 76 - 6 * len(names))
    turned = 0 if max(map(room_of, names)) < step else -90
    base = alt.Chart(values(cells)).encode(
        x=alt.X(
            "found:N",
            sort=None,
            title="found",
            axis=alt.Axis(labelAngle=turned, orient="top", ticks=False, domain=False),
        ),
        y=alt.Y("true:N", sort=None, title="true", axis=alt.Axis(ticks=False, domain=False)),
        tooltip=["true:N", "found:N", "count:Q", alt.Tooltip("share:Q", format=".1%")],
    )
    grounds = [
        base.mark_rect(style="hair-line", strokeWidth=0.7)
        .encode(
            color=alt.Color(
                "share:Q",
                legend=None,
                scale=alt.Scale(type="sqrt", domain=[0, 1], range=colours, interpolate="rgb"),
            )
        )
        .transform_filter(test)
        for colours, test in (("ramp", "datum.right"), ("heatmap", "!datum.right"))
    ]
    counts = [
        base.mark_text(style=style, fontSize=10)
        .encode(text="count:Q")
        .transform_filter(f"datum.count > 0 && {test}")
        for style, test in (
            ("ink-text", f"datum.share <= {STRONG}"),
            ("over-text", f"datum.share > {STRONG}"),
        )
    ]
    view = alt.layer(*grounds, *counts, width={"step": step}, height={"step": max(18, step // 2)})
    view = view.resolve_scale(color="independent")
    rows = [{k: v for k, v in cell.items() if k != "right"} for cell in cells if cell["count"]]
    return Chart(view, title_of(record, "confusion"), said_of_cells(record, len(names)), rows)


def cells_of(record: Record) -> tuple[list[Row], list[str]]:
    """A row for each cell, and the names of the labels that are drawn."""
    classes = record["classes"]
    by_support = sorted(range(len(classes)), key=lambda k: -classes[k]["support"])
    shown = sorted(by_support[:MOST_LABELS])
    names = apart(classes[k]["name"] for k in shown)
    counts = np.array(record["confusion"])[np.ix_(shown, shown)]  # (K, K)
    support = np.array([max(1, classes[k]["support"]) for k in shown])
    shares = counts / support[:, None]
    cells = [
        {
            "true": true,
            "found": found,
            "count": int(counts[i, j]),
            "share": float(shares[i, j]),
            "right": i == j,
        }
        for i, true in enumerate(names)
        for j, found in enumerate(names)
    ]
    return cells, names


def said_of_cells(record: Record, shown: int) -> str:
    """How many are right, and of how many labels the picture is."""
    low, high = record["interval"]["accuracy"]
    many, noun = len(record["classes"]), noun_of(record)
    part = f" The {shown} most frequent of {many} {noun}s." if shown < many else ""
    return (
        f"How often each true {noun} (rows) was found to be each {noun} (columns): blue is right, "
        f"orange mistaken, stronger for a larger share of the row. {percent(record['accuracy'])} of "
        f"{record['labels']:,} are right (95 % interval {100 * low:.1f} to {percent(high)}).{part}"
    )


# -- reliability
def reliability(record: Record) -> Chart:
    """Accuracy with its 95 % interval over mean confidence, bin by bin, and below how many labels
    each bin holds."""
    import altair as alt

    sure = record["calibration"]
    rows = bins_of(sure)
    across = alt.X(
        "confidence:Q",
        title=None,
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(values=QUARTERS, labels=False, ticks=False),
    )
    tooltip = [
        alt.Tooltip("confidence:Q", title="mean probability", format=".3f"),
        alt.Tooltip("right:Q", title="share that is right", format=".3f"),
        alt.Tooltip("low:Q", format=".3f"),
        alt.Tooltip("high:Q", format=".3f"),
        alt.Tooltip("labels:Q", format=","),
    ]
    base = alt.Chart(values(rows)).encode(x=across, tooltip=tooltip)
    up = alt.Y(
        "right:Q", title="share that is right", scale=alt.Scale(domain=[0, 1]), axis=percents()
    )
    above = alt.layer(
        *diagonal(),
        base.mark_rule(strokeWidth=1.5, style="soft-line").encode(y="low:Q", y2="high:Q"),
        base.mark_line(style="accent-line").encode(y=up),
        base.mark_point(size=50, filled=True, opacity=1, style="accent").encode(y=up),
        height=HEIGHT,
    )
    axis = alt.X(
        "from:Q",
        title="probability of the label found",
        scale=alt.Scale(domain=[0, 1]),
        axis=percents(),
    )
    below = (
        alt.Chart(values(rows))
        .mark_rect(style="soft", stroke=None, xOffset=1, x2Offset=-1)
        .encode(
            x=axis,
            x2="to:Q",
            y2=alt.datum(0),
            y=alt.Y("labels:Q", title="labels", axis=alt.Axis(tickCount=3, format=",d")),
            tooltip=tooltip,
        )
        .properties(height=PANEL)
    )
    view = alt.vconcat(above, below, spacing=8)
    return Chart(view, title_of(record, "reliability"), said_of_bins(record), rows)


def bins_of(sure: Record) -> list[Row]:
    """Bins that hold something, each with its 95 % interval."""
    found, width = [], 1 / len(sure["bins"])
    for place, each in enumerate(sure["bins"]):
        if not each["count"]:
            continue
        low, high = wilson(round(each["accuracy"] * each["count"]), each["count"])
        found.append(
            {
                "confidence": each["confidence"],
                "right": each["accuracy"],
                "low": low,
                "high": high,
                "labels": each["count"],
                "from": round(width * place, 6),
                "to": round(width * (place + 1), 6),
            }
        )
    return found


def diagonal() -> list[Any]:
    """Where probabilities mean what they say, and what it means to be beside it."""
    import altair as alt

    ends = alt.Chart(values([{"x": 0, "y": 0}, {"x": 1, "y": 1}]))
    line = ends.mark_line(strokeDash=[4, 4], strokeWidth=1, style="soft-line").encode(
        x="x:Q", y="y:Q"
    )
    sides: list[tuple[str, float, float, Any]]
    sides = [("too modest", 0.02, 0.97, "left"), ("too sure", 0.98, 0.04, "right")]
    told = [
        alt.Chart(values([{"x": x, "y": y, "words": words}]))
        .mark_text(align=align, style="soft-text")
        .encode(x="x:Q", y="y:Q", text="words:N")
        for words, x, y, align in sides
    ]
    return [line, *told]


def said_of_bins(record: Record) -> str:
    """The figures of calibration."""
    sure = record["calibration"]
    loss = "infinite" if record["log_loss"] is None else f"{record['log_loss']:.4f}"
    return (
        f"How often {noun_of(record)}s found with a probability are right (lines: 95 % intervals; "
        "dashed: where probabilities mean what they say), and below how many there are. Calibration "
        f"error {sure['error']:.4f}, log loss {loss}, Brier {sure['brier']:.4f}; lower is better."
    )


# -- thresholds
def precision(record: Record) -> Chart:
    """Precision and recall of one label over the threshold, and against each other, with the
    threshold that is chosen, or 0.5."""
    import altair as alt

    curve = record.get("curve")
    if curve is None:
        raise RunError(
            "there is no threshold to be drawn",
            got=f"{len(record['classes'])} labels, none of them named",
            do="Name one with --positive; the data must hold it, and others",
        )
    chosen = record.get("threshold") or curve["at_half"]
    rows = [
        {name: each[name] for name in ("threshold", "precision", "recall")}
        for each in curve["points"]
    ]
    view = alt.vconcat(over_thresholds(rows, chosen), traded(rows, chosen, curve), spacing=18)
    name = f"'{short(visible(curve['positive']))}'"
    says = (
        f"Above, precision and recall of {name} if it is found from a probability on; below, one "
        f"against the other (up and right is better; average precision "
        f"{curve['average_precision']:.3f}). Marked: from {chosen['threshold']:.3g} on, precision "
        f"{percent(chosen['precision'])}, recall {percent(chosen['recall'])}."
    )
    return Chart(view, title_of(record, f"threshold of {name}"), says, rows)


def over_thresholds(rows: list[Row], chosen: Record) -> Any:
    """Two lines with their names in them, and where the threshold is."""
    import altair as alt

    long = [
        {"threshold": row["threshold"], "figure": figure, "value": row[figure]}
        for row in rows
        for figure in ("precision", "recall")
    ]
    base = alt.Chart(values(long)).encode(
        x=alt.X("threshold:Q", title="threshold (probability)", scale=alt.Scale(domain=[0, 1])),
        y=alt.Y("value:Q", title="share", scale=alt.Scale(domain=[0, 1]), axis=percents()),
        tooltip=[
            "figure:N",
            alt.Tooltip("threshold:Q", format=".4f"),
            alt.Tooltip("value:Q", title="share", format=".1%"),
        ],
    )
    lines = [
        base.mark_line(interpolate="step-before", style=style).transform_filter(
            f"datum.figure == '{figure}'"
        )
        for figure, style in (("precision", "accent-line"), ("recall", "ink-line"))
    ]
    at = alt.Chart(values([chosen | {"words": f"{chosen['threshold']:.3g}"}])).encode(
        x="threshold:Q"
    )
    rule = at.mark_rule(strokeDash=[4, 4], style="soft-line")
    left = chosen["threshold"] > 0.9
    told = at.mark_text(
        align="right" if left else "left", dx=-4 if left else 4, style="soft-text"
    ).encode(y=alt.value(0.7 * HEIGHT - 8), text="words:N")
    return alt.layer(rule, told, *lines, *names_in(rows, chosen), height=round(0.7 * HEIGHT))


def names_in(rows: list[Row], chosen: Record) -> list[Any]:
    """The names of both lines, under or over them where they are level and apart."""
    import altair as alt

    tall, at = 0.7 * HEIGHT, level_place(rows, chosen["threshold"])
    sides = (("precision", "accent-text"), ("recall", "ink-text"))
    heights = [(1 - value) * tall for value in values_at(rows, at)]
    upper = heights.index(min(heights))
    near = abs(heights[0] - heights[1]) < 26 and heights[upper] > 20
    wished = [y + (-10 if near and i == upper else 12) for i, y in enumerate(heights)]
    found = spread(wished, 13, 8, tall - 8)
    return [
        alt.Chart(values([{"x": at, "y": 1 - y / tall, "words": figure}]))
        .mark_text(style=style, fontWeight="bold")
        .encode(x="x:Q", y="y:Q", text="words:N")
        for y, (figure, style) in zip(found, sides)
    ]


def values_at(rows: list[Row], threshold: float) -> tuple[float, float]:
    """Precision and recall at a threshold: those of the lowest point that is not below it."""
    above = [row for row in rows if row["threshold"] >= threshold]
    return (above[-1]["precision"], above[-1]["recall"]) if above else (1.0, 0.0)


def level_place(rows: list[Row], chosen: float) -> float:
    """A threshold about which both lines are level, apart, and away from the chosen one."""

    def score(at: float) -> float:
        """How good a place it is: both level, and apart from each other."""
        around = [values_at(rows, at + move) for move in (-0.14, -0.07, 0, 0.07, 0.14)]
        steep = sum(max(each) - min(each) for each in zip(*around))
        apart = min(0.25, abs(around[2][0] - around[2][1]))
        return apart - steep - (1.0 if abs(at - chosen) < 0.16 else 0.0)

    return max((round(0.15 + 0.05 * i, 2) for i in range(15)), key=score)


def traded(rows: list[Row], chosen: Record, curve: Record) -> Any:
    """Precision over recall, the mark of the threshold, and what guessing would reach."""
    import altair as alt

    base = alt.Chart(values(rows)).encode(
        x=alt.X("recall:Q", title="recall", scale=alt.Scale(domain=[0, 1]), axis=percents()),
        y=alt.Y("precision:Q", title="precision", scale=alt.Scale(domain=[0, 1]), axis=percents()),
        tooltip=[
            alt.Tooltip("threshold:Q", format=".4f"),
            alt.Tooltip("precision:Q", format=".1%"),
            alt.Tooltip("recall:Q", format=".1%"),
        ],
    )
    share = curve["share"]
    floor = alt.Chart(values([{"share": share, "words": f"guessing: {percent(share)}"}])).encode(
        y="share:Q"
    )
    mark = alt.Chart(values([chosen])).encode(
        x="recall:Q",
        y="precision:Q",
        tooltip=[
            alt.Tooltip("threshold:Q", format=".4f"),
            alt.Tooltip("precision:Q", format=".1%"),
            alt.Tooltip("recall:Q", format=".1%"),
        ],
    )
    return alt.layer(
        floor.mark_rule(strokeDash=[4, 4], style="soft-line"),
        floor.mark_text(align="left", dx=4, dy=-8 if share < 0.9 else 9, style="soft-text").encode(
            x=alt.value(0), text="words:N"
        ),
        base.mark_line(style="accent-line").encode(order="recall:Q"),
        mark.mark_point(size=90, opacity=1, style="accent-hollow"),
        height=round(0.8 * HEIGHT),
    )


def percents() -> Any:
    """An axis of shares."""
    import altair as alt

    return alt.Axis(format="%", values=QUARTERS)


# -- explanation
def explanation(record: Record) -> Chart:
    """A bar for each symbol in the order of the text, for the label to the right, against it to the
    left; of many symbols those that weigh most."""
    import altair as alt

    rows = weights_of(record)
    low, high = room_for(rows)
    base = alt.Chart(values(rows)).encode(
        y=alt.Y("place:O", axis=None),
        x=alt.X(
            "adds:Q",
            title="added to the logit",
            scale=alt.Scale(domain=[low, high], nice=False),
            axis=alt.Axis(format="~g"),
        ),
        tooltip=["symbol:N", alt.Tooltip("adds:Q", format="+.4f")],
    )
    side = alt.Color(
        "side:N", scale=alt.Scale(domain=["for", "against"], range="category"), legend=None
    )
    layers = [
        alt.Chart(values([{"adds": 0}])).mark_rule(style="soft-line").encode(x="adds:Q"),
        base.mark_bar(height=13, style="soft").transform_filter("datum.side == 'neither'"),
        base.mark_bar(height=13).encode(color=side).transform_filter("datum.side != 'neither'"),
    ]
    for sign, test in ((1, "datum.adds >= 0"), (-1, "datum.adds < 0")):
        away: Any
        toward: Any
        away, toward = ("left", "right") if sign > 0 else ("right", "left")
        some = base.transform_filter(test)
        layers.append(
            some.mark_text(align=away, dx=4 * sign, style="soft-text", fontSize=10).encode(
                text="written:N"
            )
        )
        layers.append(
            some.mark_text(align=toward, dx=-5 * sign, style="ink-text").encode(
                x=alt.datum(0), text="symbol:N"
            )
        )
    view = alt.layer(*layers, height=STEP * len(rows))
    shown = [{"symbol": row["symbol"], "adds": row["adds"]} for row in rows]
    label = f"'{short(visible(record['label']))}'"
    title = f"{Path(str(record.get('run') or record.get('model', ''))).name}: why {label}?"
    return Chart(view, title.lstrip(": "), said_of_weights(record, label), shown)


def weights_of(record: Record) -> list[Row]:
    """A row for each symbol that is drawn, one for what was there before any, and one for the end of
    the text, where it counts."""
    symbols = record["symbols"]
    by_weight = sorted(range(len(symbols)), key=lambda i: -abs(symbols[i]["contribution"]))
    chosen = sorted(by_weight[:MOST_SYMBOLS])
    found = [(as_text(symbols[i]["symbol"]), symbols[i]["contribution"], False) for i in chosen]
    end = [] if record["end"] is None else [(END, record["end"], True)]
    found = [("before any symbol", record["before"], True), *found, *end]
    return [
        {
            "place": place,
            "symbol": short(name, 20),
            "adds": weight,
            "written": f"{weight:+.2f}".replace("-", "−"),
            "side": "neither" if beside else "for" if weight >= 0 else "against",
        }
        for place, (name, weight, beside) in enumerate(found)
    ]


def room_for(rows: list[Row]) -> tuple[float, float]:
    """From where to where: bars, their figures, and names on the other side of zero have room in a
    picture as narrow as they get."""
    low, high = min(0.0, *(row["adds"] for row in rows)), max(0.0, *(row["adds"] for row in rows))
    wide, figure = NARROW - 50, 42
    names = [
        max(
            [LETTER * len(row["symbol"]) + 12 for row in rows if (row["adds"] >= 0) == to],
            default=0,
        )
        for to in (True, False)
    ]
    least, most = 0.0, wide / max(high - low, 1e-9)  # pixels of a unit

    def sides(scale: float) -> tuple[float, float]:
        """Pixels to the left and to the right of zero."""
        return max(-low * scale + figure, names[0]), max(high * scale + figure, names[1])

    for _ in range(40):
        scale = (least + most) / 2
        least, most = (scale, most) if sum(sides(scale)) < wide else (least, scale)
    scale = max(least, 1e-9)
    left, right = sides(scale)
    return -left / scale, right / scale


def said_of_weights(record: Record, label: str) -> str:
    """What is added up, and whether it comes to the whole."""
    many = len(record["symbols"])
    shown = min(many, MOST_SYMBOLS)
    part = f" The {shown} of {many} symbols that weigh most." if shown < many else ""
    gap = "" if abs(record["gap"]) < 0.01 else f" They leave a gap of {record['gap']:+.2f}."
    return (
        f"What each symbol adds to {label} (probability {record['probability']:.3g}, logit "
        f"{record['logit']:+.2f}), in the order of the text, {SAID[record['method']]}: to the right "
        f"for it, to the left against it.{gap}{part}"
    )


# -- values
def scatter(record: Record) -> Chart:
    """Found values over the true ones, each with the interval that holds 80 % of such values."""
    import altair as alt

    rows = [
        each
        | {
            "low": each["value"] - WITHIN * each["deviation"],
            "high": each["value"] + WITHIN * each["deviation"],
        }
        for each in record["pairs"]
        if None not in each.values()
    ]
    if not rows:
        raise RunError("there is nothing to draw", got="no values")
    low, high = domain_of([row[key] for row in rows for key in ("truth", "value")])
    scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    ends = alt.Chart(values([{"truth": low, "value": low}, {"truth": high, "value": high}]))
    base = alt.Chart(values(rows)).encode(
        x=alt.X("truth:Q", title="true value", scale=scale),
        y=alt.Y("value:Q", title="value found", scale=scale),
        tooltip=[
            alt.Tooltip(f"{key}:Q", title=words, format=".4g")
            for key, words in (
                ("truth", "true"),
                ("value", "found"),
                ("low", "80 %: from"),
                ("high", "to"),
            )
        ],
    )
    view = alt.layer(
        base.mark_rule(style="soft-line", opacity=0.25, clip=True).encode(y="low:Q", y2="high:Q"),
        ends.mark_line(strokeDash=[4, 4], strokeWidth=1, style="soft-line").encode(
            x="truth:Q", y="value:Q"
        ),
        base.mark_point(size=22, filled=True, opacity=0.75, style="accent"),
        height=round(1.2 * HEIGHT),
    )
    return Chart(view, title_of(record, "values"), said_of_values(record, len(rows)), rows)


def all_of(record: Record) -> int:
    """How many values were measured."""
    return record["sequences"] * len(record.get("by_output", [None]))


def said_of_values(record: Record, shown: int) -> str:
    """How far off values are."""
    part = f" {shown:,} of {all_of(record):,} are drawn." if shown < all_of(record) else ""
    several = "by_output" in record
    key = "scaled_mae" if several else "mae"
    low, high = record["interval"][key]
    what = "A mark for each sequence"
    if several:
        what = "In deviations of the training values from their mean, a mark for each value"
    return (
        f"{what}, its line the interval said to hold 80 % of such values (it holds "
        f"{percent(record['coverage'])}); on the dashed line, found is true. Mean absolute error "
        f"{record[key]:.4g} (95 % interval {low:.4g} to {high:.4g}).{part}"
    )
