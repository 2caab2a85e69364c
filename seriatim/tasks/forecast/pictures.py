"""Pictures of forecasts, each a Chart from the record of a verb.

forecast   what was and what comes: the mean, and intervals as a fan
origins    what came, and what was forecast of it from origin after origin
horizon    the error over the number of steps ahead
coverage   how much of what came lies inside each interval, of all and of each series
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from seriatim.records import Record
from seriatim.show.charts import Chart, Row, domain_of, letters, readable, short, spread, values
from seriatim.show.times import time_axis

# the shares that bands hold, the widest first, and the levels of their ends
BANDS = (("95 %", "0.025", "0.975"), ("80 %", "0.1", "0.9"), ("50 %", "0.25", "0.75"))
MEAN = "mean"
MOST_CHANNELS = 4
MOST_MARKS = 5000
MOST_SERIES = 500
ONE, SEVERAL = 280, 170  # pixels of a panel, by itself or above others
GAP = 12  # pixels between names at the ends of lines
DATED = re.compile(r"\d{4,}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?)?")
ERRORS = {"rmse": ("RMSE", "ink"), "mae": ("MAE", "accent"), "crps": ("CRPS", "soft")}
UNIT = "error, in the unit of the data"
SCALED = {"mase": ("MASE", "accent")}
SCALED_UNIT = "MASE (1: usual change before the test)"
ROW = 74  # pixels of an interval in the picture of coverage
ABOVE = 20  # pixels of its words above
WITHIN = 22  # pixels that its dots take above and below the middle


# -- time
def places_of(moments: Sequence[str]) -> list[float] | None:
    """Moments as numbers for an axis: thousandths of seconds of dates, rows as they are; None where
    they are neither."""
    try:
        if moments and all(DATED.fullmatch(each) for each in moments):
            days = (datetime.fromisoformat(each).replace(tzinfo=UTC) for each in moments)
            return [1000 * day.timestamp() for day in days]
        return [float(each) for each in moments]
    except (ValueError, OverflowError):  # years before 1 or after 9999
        return None


class Clock:
    """The axis of time of some moments: dates where they are dates, else rows."""

    def __init__(self, moments: Sequence[str], first_row: int):
        found = places_of(moments)
        self.dated = found is not None and DATED.fullmatch(moments[0]) is not None
        rows = [float(first_row + i) for i in range(len(moments))]
        self.places = dict(zip(moments, rows if found is None else found, strict=True))

    def __call__(self, moment: str) -> float:
        return self.places[moment]

    def axis(self, labelled: bool = True) -> Any:
        """Along the bottom; only the lowest of several panels has its labels."""
        import altair as alt

        low, high = min(self.places.values()), max(self.places.values())
        kind: Any = "utc" if self.dated else "linear"
        scale = alt.Scale(type=kind, domain=[low, high], nice=False, zero=False)
        if not labelled:
            look = alt.Axis(labels=False, ticks=False, title=None)
        elif self.dated:
            look = time_axis(low, high)
        else:
            look = alt.Axis(labelOverlap=True, tickCount=6, title="row")
        return alt.X(f"at:{'T' if self.dated else 'Q'}", scale=scale, axis=look)


def chosen(record: Record, name: str) -> str:
    """Which series is drawn, of how many."""
    many = record.get("sequences", 1)
    if many < 2:
        return ""
    return f" Series {short(name, 40)!r}, one of {many:,}; `only` names another."


# -- what comes
def fan(record: Record) -> Chart:
    """What was and what comes, of the first series of a record of `predict`."""
    import altair as alt

    item = record["items"][0]
    names = list(item["channels"])[:MOST_CHANNELS]
    past = item.get("past_time") or [str(i) for i in range(-len(item["past"][names[0]]) + 1, 1)]
    before = item["rows"] - len(past) + 1
    clock = Clock([*past, *item["time"]], before)
    rows: list[Row] = []
    paths: list[Row] = []
    panels = []
    for place, name in enumerate(names):
        some = fan_rows(item, name, past, clock, MOST_MARKS // len(names))
        drawn = path_rows(item, name, clock, MOST_MARKS // len(names))
        rows += [{"channel": readable(name), **row} for row in some]
        paths += [{"channel": readable(name), **row} for row in drawn]
        last = place == len(names) - 1
        panels.append(fan_panel(some, drawn, readable(name), clock, len(names), last))
    more = len(item["channels"]) - len(names)
    left = f" {more:,} more channel{'s' * (more > 1)} not drawn." if more else ""
    horizon = len(item["time"])
    says = (
        f"What came last, and the next {horizon:,} step{'s' * (horizon != 1)} as {record['model']} sees "
        "them: the coloured line is the mean, bands hold what comes with 50, 80 and 95 %."
    )
    if paths:
        many = max(row["path"] for row in paths)
        says += f" Thin: {many:,} sample path{'s' * (many > 1)}."
    if len(rows) < len(names) * (len(past) + horizon):
        left += " Some steps, evenly spaced, are drawn."
    said = says + chosen(record, item["series"]) + left
    return Chart(alt.vconcat(*panels), title_of(record), said, without_places(rows + paths))


def path_rows(item: Record, name: str, clock: Clock, most: int) -> list[Row]:
    """A row for each step of each sample path of one channel, where paths were asked for; as many
    paths as there is room for."""
    found = item["channels"][name].get("paths") or []
    return [
        {"time": moment, "at": clock(moment), "path": number, "value": value}
        for number, path in enumerate(found[: max(1, most // len(item["time"]))], 1)
        for moment, value in zip(item["time"], path, strict=True)
    ]


def fan_rows(item: Record, name: str, past: Sequence[str], clock: Clock, most: int) -> list[Row]:
    """A row for each moment of one channel: what was, or what comes with its intervals; so many at
    most."""
    channel = item["channels"][name]
    found: list[Row] = [
        {"time": moment, "at": clock(moment), "was": value, "mean": None}
        for moment, value in thinned(list(zip(past, item["past"][name], strict=True)), most // 2)
    ]
    for h, moment in thinned(list(enumerate(item["time"])), most // 2):
        ends = {level: channel["quantiles"][level][h] for _, *two in BANDS for level in two}
        row = {"time": moment, "at": clock(moment), "was": None, "mean": channel["mean"][h]}
        found.append(row | {f"q{level.replace('.', '_')}": value for level, value in ends.items()})
    return found


def fan_panel(
    some: list[Row], paths: list[Row], name: str, clock: Clock, panels: int, last: bool
) -> Any:
    """One channel: the past as a line of ink, the fan in the accent, what is what at its end."""
    import altair as alt

    height = ONE if panels == 1 else SEVERAL
    drawn = [number for row in some for number in numbers_of(row)]
    low, high = domain_of([*drawn, *(row["value"] for row in paths)])
    scale = alt.Scale(domain=[low, high], zero=False, nice=False)
    y = alt.Y("mean:Q", title=None, scale=scale)
    coming = [row for row in some if row["mean"] is not None]
    tips = [
        alt.Tooltip("time:N"),
        alt.Tooltip("mean:Q", format=",.5~g"),
        *(
            alt.Tooltip(f"q{level.replace('.', '_')}:Q", title=f"{words} {end}", format=",.5~g")
            for words, *two in BANDS
            for level, end in zip(two, ("from", "to"))
        ),
    ]
    x = clock.axis(labelled=last)
    fan_base = alt.Chart(values(coming)).encode(x=x, tooltip=tips)
    alone = len(coming) == 1  # an area of one point has no width
    layers = [
        (
            fan_base.mark_bar(width=14, style="band") if alone else fan_base.mark_area(style="band")
        ).encode(
            y=alt.Y(f"q{down.replace('.', '_')}:Q", scale=scale, title=None),
            y2=f"q{up.replace('.', '_')}:Q",
        )
        for _, down, up in BANDS
    ]
    layers.append(
        alt.Chart(values(row for row in some if row["mean"] is None))
        .mark_line(style="ink-line", strokeWidth=1.3)
        .encode(
            x=x,
            y=alt.Y("was:Q", scale=scale, title=None),
            tooltip=[alt.Tooltip("time:N"), alt.Tooltip("was:Q", format=",.5~g")],
        )
    )
    mark: Any = {"point": {"size": 40, "style": "accent"}} if alone else {}
    layers.append(fan_base.mark_line(style="accent-line", strokeWidth=1.8, **mark).encode(y=y))
    if paths:
        layers.append(path_lines(paths, x, scale))
    layers.append(names_at_the_end(coming[-1], low, high, height, x))
    title = alt.TitleParams(name, anchor="start", frame="group", fontSize=11, offset=5)
    return alt.layer(*layers, height=height, title=title)


def path_lines(paths: list[Row], x: Any, scale: Any) -> Any:
    """Sample paths as thin lines."""
    import altair as alt

    return (
        alt.Chart(values(paths))
        .mark_line(style="ink-line", strokeWidth=0.9, opacity=0.65)
        .encode(
            x=x,
            y=alt.Y("value:Q", scale=scale, title=None),
            detail="path:N",
            tooltip=["path:Q", "time:N", alt.Tooltip("value:Q", format=",.5~g")],
        )
    )


def names_at_the_end(row: Row, low: float, high: float, height: int, x: Any) -> Any:
    """What the mean and the upper ends of the bands are, to the right of the last step."""
    import altair as alt

    ends = [(words, row[f"q{up.replace('.', '_')}"]) for words, _, up in BANDS]
    ends = [(words, value) for words, value in [*ends, (MEAN, row["mean"])] if value is not None]
    scale = (high - low) / height
    places = spread([(high - value) / scale for _, value in ends], GAP, 4, height - 4)
    rows = [
        {"at": row["at"], "name": words, "level": high - place * scale}
        for (words, _), place in zip(ends, places)
    ]
    return (
        alt.Chart(values(rows))
        .mark_text(align="left", dx=5, style="accent-text", fontSize=10)
        .encode(x=x, y=alt.Y("level:Q", title=None), text="name:N")
    )


def numbers_of(row: Row) -> list[float | None]:
    """All that is drawn of a row."""
    return [each for key, each in row.items() if key not in ("time", "at")]


def without_places(rows: list[Row]) -> list[Row]:
    """Rows without where they stand on an axis."""
    return [
        {
            key.replace("_", ".") if key[0] == "q" else key: each
            for key, each in row.items()
            if key != "at"
        }
        for row in rows
    ]


# -- what was forecast
def walked(record: Record) -> Chart:
    """What came, and what was forecast of it, of the first series of a record of `backtest`."""
    import altair as alt

    series, names = record["series"][0], record["channel_names"][:MOST_CHANNELS]
    items = [item for item in record["items"] if item["series"] == series["series"]]
    most = max(1, MOST_MARKS // (record["horizon"] * len(names)))
    drawn = thinned(items, most)
    moments = series.get("time") or [
        str(series["first"] + i) for i in range(len(series["values"][names[0]]))
    ]
    clock = clock_of(series, drawn, moments)
    spans = [(clock(item["time"][0]), clock(item["time"][-1])) for item in drawn]
    apart = all(before[1] < after[0] for before, after in pairwise(spans))
    rows: list[Row] = []
    panels = []
    for place, name in enumerate(names):
        came = [
            {"time": moment, "at": clock(moment), "came": value}
            for moment, value in thinned(
                list(zip(moments, series["values"][name], strict=True)), MOST_MARKS
            )
        ]
        said = walk_rows(drawn, name, clock)
        rows += [{"channel": readable(name), **row} for row in said]
        last = place == len(names) - 1
        panels.append(walk_panel(came, said, readable(name), clock, len(names), last, apart))
    says = f"What came, and in colour the forecasts of {record['model']} from {len(items):,} origins, a dot where each begins"
    says += "; bands hold what comes with 80 %." if apart else "."
    if len(drawn) < len(items):
        says += f" {len(drawn):,} of the origins are drawn."
    if len(record["channel_names"]) > len(names):
        says += f" {len(names)} of {len(record['channel_names']):,} channels are drawn."
    says += chosen(record, series["series"])
    return Chart(alt.vconcat(*panels), title_of(record), says, without_places(rows))


def thinned(items: list[Any], most: int) -> list[Any]:
    """So many at most, evenly spaced, the last one among them."""
    if len(items) <= most:
        return items
    return [items[round(i * (len(items) - 1) / max(1, most - 1))] for i in range(most)]


def clock_of(series: Record, items: list[Record], moments: list[str]) -> Clock:
    """The time of a series and of forecasts that reach beyond its end."""
    known = dict.fromkeys(moments)
    beyond = dict.fromkeys(moment for item in items for moment in item["time"])
    return Clock([*known, *(each for each in beyond if each not in known)], series["first"])


def walk_rows(items: list[Record], name: str, clock: Clock) -> list[Row]:
    """A row for each step of each forecast of one channel."""
    found: list[Row] = []
    for item in items:
        channel = item["channels"][name]
        low, high = (channel["quantiles"][level] for level in BANDS[1][1:])
        for h, moment in enumerate(item["time"]):
            found.append(
                {
                    "origin": item["origin"],
                    "steps": h + 1,
                    "time": moment,
                    "at": clock(moment),
                    "mean": channel["mean"][h],
                    "low": low[h],
                    "high": high[h],
                    "came": channel["truth"][h],
                }
            )
    return found


def walk_panel(
    came: list[Row], said: list[Row], name: str, clock: Clock, panels: int, last: bool, apart: bool
) -> Any:
    """One channel: the truth in ink, forecasts in the accent, each beginning with a dot."""
    import altair as alt

    keys = ("mean", "low", "high") if apart else ("mean",)
    numbers = [row["came"] for row in came] + [row[key] for row in said for key in keys]
    low, high = domain_of(numbers)
    scale = alt.Scale(domain=[low, high], zero=False, nice=False)
    x, y = clock.axis(labelled=last), alt.Y("mean:Q", title=None, scale=scale)
    tips = [
        alt.Tooltip("time:N"),
        alt.Tooltip("origin:Q", title="origin, row", format=","),
        alt.Tooltip("steps:Q", title="steps ahead"),
        alt.Tooltip("mean:Q", format=",.5~g"),
        alt.Tooltip("low:Q", title="80 % from", format=",.5~g"),
        alt.Tooltip("high:Q", title="80 % to", format=",.5~g"),
        alt.Tooltip("came:Q", format=",.5~g"),
    ]
    base = alt.Chart(values(said)).encode(x=x, tooltip=tips, detail="origin:N")
    truth = (
        alt.Chart(values(came))
        .mark_line(style="ink-line", strokeWidth=1.3)
        .encode(
            x=x,
            y=alt.Y("came:Q", title=None, scale=scale),
            tooltip=[alt.Tooltip("time:N"), alt.Tooltip("came:Q", format=",.5~g")],
        )
    )
    band = base.mark_area(style="band").encode(
        y=alt.Y("low:Q", title=None, scale=scale), y2="high:Q"
    )
    line = base.mark_line(style="accent-line", strokeWidth=1.6, opacity=0.9 if apart else 0.6)
    dot = base.mark_point(style="accent", filled=True, size=14 if apart else 6, opacity=1)
    layers = [band] if apart else []
    layers += [truth, line.encode(y=y), dot.encode(y=y).transform_filter("datum.steps == 1")]
    title = alt.TitleParams(name, anchor="start", frame="group", fontSize=11, offset=5)
    return alt.layer(*layers, height=ONE if panels == 1 else SEVERAL, title=title)


# -- how far off
def by_horizon(record: Record) -> Chart:
    """The error over the number of steps ahead: a record of `evaluate`."""
    import altair as alt

    over = ["series"] * (record.get("sequences", 1) > 1)
    over += ["channels"] * (record.get("channels", 1) > 1)
    # of several in a unit that is that of none, or the largest would decide
    shown = SCALED if over and any(each.get("mase") for each in record["by_horizon"]) else ERRORS
    unit = SCALED_UNIT if shown is SCALED else UNIT
    steps = thinned(record["by_horizon"], MOST_MARKS // len(shown))
    rows = horizon_rows(steps, shown)
    high = domain_of([0.0, *(row["error"] for row in rows)])[1]
    ends = {row["figure"]: row for row in rows}  # the last of each
    scale = (high or 1.0) / ONE
    places = spread([(high - end["error"]) / scale for end in ends.values()], GAP + 1, 6, ONE - 6)
    names = [{**end, "level": high - place * scale} for end, place in zip(ends.values(), places)]
    dots, ahead = len(steps) < 30, [each["h"] for each in steps] or [1]
    x = alt.X(
        "steps:Q",
        title="steps ahead",
        scale=alt.Scale(domain=[min(ahead), max(max(ahead), min(ahead) + 1)], nice=False),
        axis=alt.Axis(tickMinStep=1, format="d", tickCount=min(8, len(ahead))),
    )
    y = alt.Y("error:Q", title=unit, scale=alt.Scale(domain=[0, high], nice=False))
    tips: Any = ["figure:N", "steps:Q", alt.Tooltip("error:Q", format=",.5~g"), "origins:Q"]
    base = alt.Chart(values(rows)).encode(x=x, y=y, tooltip=tips)
    named = alt.Chart(values(names)).encode(x=x, y=alt.Y("level:Q", title=unit), text="figure:N")
    layers = horizon_layers(base, named, [role for _, role in shown.values()], dots)
    room = {"left": 10, "top": 10, "bottom": 10, "right": letters(ends)}
    view = alt.layer(*layers, height=ONE, padding=room)
    says = (
        f"How far {record['model']} is off, over the number of steps ahead, from "
        f"{record['origins']:,} origin{'s' * (record['origins'] != 1)}; lower is better."
        + means_over(over, shown is SCALED)
    )
    table = [{key: row[key] for key in ("steps", "figure", "error", "origins")} for row in rows]
    return Chart(view, title_of(record), says, table)


def means_over(over: list[str], scaled: bool) -> str:
    """What errors are means of, where there are several series or channels."""
    if not over:
        return ""
    each = (
        ", each error in units of how much the same usually changed from one season, or step, to the "
        "next before the test, so that units and sizes do not matter"
    )
    return f" Means over {' and '.join(over)}{each if scaled else ''}."


def horizon_rows(steps: list[Record], shown: dict[str, tuple[str, str]]) -> list[Row]:
    """A row for each figure that is shown and each number of steps at which it is known."""
    return [
        {"steps": each["h"], "figure": title, "role": role, "error": each[key]}
        | {"origins": each.get("origins")}
        for key, (title, role) in shown.items()
        for each in steps
        if each.get(key) is not None
    ]


def horizon_layers(base: Any, named: Any, roles: list[str], dots: bool) -> list[Any]:
    """The line of each role, with dots if they are few, and its name at the end."""
    layers = []
    for role in roles:
        point: Any = {"point": {"size": 26, "style": role}} if dots else {}
        test = f"datum.role == '{role}'"
        layers.append(base.mark_line(style=f"{role}-line", **point).transform_filter(test))
        layers.append(
            named.mark_text(align="left", dx=8, style=f"{role}-text").transform_filter(test)
        )
    return layers


# -- how much lies inside
def coverage(record: Record) -> Chart:
    """The share of what came that lies inside each interval beside what the interval promises, of
    all together and of each series: a record of `evaluate`."""
    import altair as alt

    levels = list(record["coverage"])
    several = [each for each in record.get("by_series") or () if each.get("coverage")]
    drawn = thinned(several, MOST_SERIES)
    marks: list[Row] = []
    series: list[Row] = []
    for place, level in enumerate(levels):
        share = record["coverage"][level]
        row = {"interval": f"{level} %", "place": place, "promised": float(level) / 100}
        written = f"{level} % interval: {100 * share:.1f} % inside"
        marks.append(row | {"share": share, "written": written})
        series += swarm(row, [(each["series"], each["coverage"].get(level)) for each in drawn])
    view = alt.layer(*coverage_layers(marks, series), height=ROW * len(levels))
    says = (
        f"How much of what came lies inside each interval of {record['model']}: the line is what the "
        "interval promises, the large dot what it holds; nearer is better, left of the line it is too sure."
    )
    if several:
        says += f" Small dots: {len(drawn):,}"
        says += f" of {len(several):,}" * (len(drawn) < len(several)) + " series, each by itself."
    keys = ("interval", "promised", "share")
    rows = [{"series": "all", **{key: row[key] for key in keys}} for row in marks]
    rows += [{"series": row["series"], **{key: row[key] for key in keys}} for row in series]
    return Chart(view, title_of(record), says, rows)


def swarm(row: Row, found: list[tuple[str, float | None]]) -> list[Row]:
    """Dots of one interval, those of about the same share above and below each other."""
    rows: list[Row] = []
    stacks: dict[int, int] = {}
    for name, share in found:
        if share is None:
            continue
        bin = round(100 * share)
        order = stacks.get(bin, 0)
        stacks[bin] = order + 1
        rows.append(row | {"series": readable(name), "share": share, "bin": bin, "order": order})
    tallest = max(stacks.values(), default=1)
    gap = min(5.0, 2 * WITHIN / max(1, tallest - 1))
    for each in rows:
        centred = each.pop("order") - (stacks[each.pop("bin")] - 1) / 2
        each["place"] = row["place"] + centred * gap / ROW
    return rows


def coverage_layers(marks: list[Row], series: list[Row]) -> list[Any]:
    """What is promised as a line, each series as a small dot, all together as a large one."""
    import altair as alt

    x = alt.X(
        "share:Q",
        title="share of what came that lies inside",
        scale=alt.Scale(domain=[0, 1], nice=False),
        axis=alt.Axis(format="~%"),
    )
    bounds = [-0.5 - ABOVE / ROW, len(marks) - 0.5 - ABOVE / 2 / ROW]
    scale = alt.Scale(domain=bounds, reverse=True, nice=False, zero=False)
    y = alt.Y("place:Q", title=None, scale=scale, axis=None)
    percent = alt.Tooltip("share:Q", title="lies inside", format=".1%")
    promised = alt.Tooltip("promised:Q", title="promised", format="~%")
    base = alt.Chart(values(marks)).encode(y=y, tooltip=["interval:N", promised, percent])
    words = base.mark_text(align="left", baseline="middle", dy=-ROW / 2 + 2, style="ink-text")
    tick = base.mark_tick(style="ink", thickness=2, size=2 * WITHIN, orient="vertical")
    layers = [words.encode(x=alt.value(5), text="written:N"), tick.encode(x=alt.X("promised:Q"))]
    layers.append(base.mark_point(style="accent", filled=True, size=110, opacity=1).encode(x=x))
    if series:  # above the large ones, which would hide them
        layers.append(
            alt.Chart(values(series))
            .mark_point(style="ink", filled=True, size=14, opacity=0.7)
            .encode(x=x, y=y, tooltip=["series:N", "interval:N", promised, percent])
        )
    return layers


def title_of(record: Record) -> str:
    """What was forecast by what."""
    name = str(record.get("data") or "").rstrip("/").rsplit("/", 1)[-1]
    return f"{name}: {record['model']}" if name else str(record["model"])
