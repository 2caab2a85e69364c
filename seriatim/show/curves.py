"""Pictures that every task has: the leaderboard, quality against time and data, how a fit learned."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

from seriatim.errors import RunError
from seriatim.records import Record
from seriatim.show.charts import (
    NARROW,
    Chart,
    Row,
    domain_of,
    letters,
    powers,
    readable,
    spread,
    values,
)

STEP = 26  # pixels of a row of the leaderboard
HEIGHT = 300
PANEL = 90  # pixels of a small panel under a curve
BETTER = {True: "higher is better", False: "lower is better"}
FINISHED, UNFINISHED = "finished", "unfinished"
BEFORE, THEN = "a short fit", "predicted"  # marks of a curve against time, besides the fits
WATCHED = {
    "analogies": "share of analogies that are right",
    "similarity": "correlation with human similarity",
}


def scored(record: Record) -> list[Row]:
    """The rows of a comparison that have a figure, with its interval."""
    found: list[Row] = []
    name = record["figure"]
    for row in record["rows"]:
        if row["status"] != "ok" or row[name] is None:
            continue
        low, high = row["interval"].get(name) or (None, None)
        found.append(
            {
                "model": readable(row["model"]),
                "value": row[name],
                "low": row[name] if low is None else low,
                "high": row[name] if high is None else high,
                "seconds": row["seconds"],
                "updates": row.get("updates"),
                "state": UNFINISHED if row.get("unfinished") else FINISHED,
                "best": not found,
            }
        )
    if not found:
        raise RunError("there is nothing to draw", got="no model that was measured")
    return found


def leaderboard(record: Record) -> Chart:
    """Each rung a dot with its interval, the best on top; a rung that is unfinished is hollow."""
    import altair as alt

    rows, words = scored(record), record["figure"].replace("_", " ")
    form = number_form([row["value"] for row in rows])
    for row in rows:
        row["written"] = form.format(row["value"])
    low, high = domain_of([each for row in rows for each in (row["low"], row["high"])])
    base = alt.Chart(values(rows)).encode(
        y=alt.Y("model:N", sort=None, title=None, axis=alt.Axis(ticks=False, domain=False)),
        x=alt.X(
            "value:Q",
            title=f"{words} ({BETTER[record['higher_is_better']]})",
            scale=alt.Scale(domain=[low, high], zero=False, nice=False),
        ),
        tooltip=[
            alt.Tooltip("model:N"),
            alt.Tooltip("written:N", title=words),
            alt.Tooltip("low:Q", format=".4g"),
            alt.Tooltip("high:Q", format=".4g"),
            alt.Tooltip("seconds:Q", title="seconds of fitting", format=".3g"),
            alt.Tooltip("updates:Q"),
            alt.Tooltip("state:N"),
        ],
    )
    ranges = base.mark_rule(strokeWidth=2, style="soft-line").encode(x="low:Q", x2="high:Q")
    text = base.mark_text(align="left", dx=6, style="ink-text").encode(x="high:Q", text="written:N")
    view = alt.layer(
        *limit(record, rows, across=True),
        ranges,
        *dots(base, 70),
        text,
        height=STEP * len(rows),
        padding={"left": 10, "top": 10, "bottom": 10, "right": letters(r["written"] for r in rows)},
    )
    return Chart(view, title_of(record), said_of_marks(record, rows), rows)


def quality(record: Record) -> Chart:
    """Each rung's figure over the seconds it was fitted for, its name beside its mark."""
    import altair as alt

    rows, words = scored(record), record["figure"].replace("_", " ")
    for row in rows:
        row["seconds"] = max(row["seconds"], 0.01)
    low, high = domain_of([each for row in rows for each in (row["low"], row["high"])], 0.1)
    place_names(rows, low, high)
    base = alt.Chart(values(rows)).encode(
        x=alt.X(
            "seconds:Q",
            title="seconds of fitting",
            scale=alt.Scale(type="log", domain=seconds_of(rows), nice=False),
            axis=alt.Axis(values=powers(*seconds_of(rows)), format="~g"),
        ),
        y=alt.Y(
            "value:Q",
            title=f"{words} ({BETTER[record['higher_is_better']]})",
            scale=alt.Scale(domain=[low, high], zero=False, nice=False),
        ),
        tooltip=[
            "model:N",
            alt.Tooltip("value:Q", title=words, format=".4g"),
            alt.Tooltip("low:Q", format=".4g"),
            alt.Tooltip("high:Q", format=".4g"),
            alt.Tooltip("seconds:Q", format=".3g"),
            "updates:Q",
            "state:N",
        ],
    )
    ranges = base.mark_rule(strokeWidth=1.5, style="soft-line").encode(y="low:Q", y2="high:Q")
    leaders = base.mark_rule(strokeWidth=0.6, strokeDash=[2, 2], style="soft-line").encode(
        x2="name_x:Q", y2="name_at:Q"
    )
    named = base.encode(x="name_x:Q", y="name_at:Q", text="model:N")
    others = named.mark_text(align="left", dx=9, style="ink-text")
    best = named.mark_text(align="left", dx=9, style="accent-text", fontWeight="bold")
    view = alt.layer(
        *limit(record, rows, across=False),
        leaders.transform_filter("datum.moved"),
        ranges,
        *dots(base, 60),
        others.transform_filter("!datum.best"),
        best.transform_filter("datum.best"),
        height=HEIGHT,
    )
    return Chart(view, title_of(record), said_of_marks(record, rows), plain_rows(rows))


def time_curve(record: Record) -> Chart:
    """What each network had reached after which time, and what more would give, dotted with 80 %
    intervals; models that count, and networks without short fits, are marks."""
    import altair as alt

    rows, words = over_time(record), record["figure"].replace("_", " ")
    ends = [row for row in rows if row.pop("last")]
    low, high = domain_of([each for row in rows for each in (row["low"], row["high"])], 0.1)
    place_names(ends, low, high)
    x = alt.X(
        "seconds:Q",
        title="seconds of fitting",
        scale=alt.Scale(type="log", domain=seconds_of(rows), nice=False),
        axis=alt.Axis(values=powers(*seconds_of(rows)), format="~g"),
    )
    y = alt.Y(
        "value:Q",
        title=f"{words} ({BETTER[record['higher_is_better']]})",
        scale=alt.Scale(domain=[low, high], zero=False, nice=False),
    )
    tips: list[Any] = [
        *("model:N", "what:N", alt.Tooltip("value:Q", title=words, format=".4g")),
        *(alt.Tooltip(f"{name}:Q", format=".4g") for name in ("low", "high", "seconds")),
        "state:N",
    ]
    base = alt.Chart(values(rows)).encode(x, y, tooltip=tips)
    networks = [
        row for row in rows if row["model"] in {r["model"] for r in rows if r["what"] == THEN}
    ]
    colour = alt.Color("model:N", sort=None, legend=None)
    line = alt.Chart(values(networks)).encode(x, y, colour, tooltip=tips)
    future = line.transform_filter(f"datum.what == '{THEN}'")
    named = alt.Chart(values(ends)).encode(alt.X("name_x:Q"), alt.Y("name_at:Q"), text="model:N")
    text = named.mark_text(
        align="left", dx=9, fontWeight=alt.expr("datum.best ? 'bold' : 'normal'")
    )
    told = named.mark_text(
        align="left", dx=9, style="ink-text", fontWeight=alt.expr("datum.best ? 'bold' : 'normal'")
    )
    view = alt.layer(
        *limit(record, rows, across=False),
        future.mark_rule(strokeWidth=6, opacity=0.3).encode(y="low:Q", y2="high:Q"),
        line.mark_line(strokeWidth=1.5).transform_filter(f"datum.what != '{THEN}'"),
        line.mark_line(strokeWidth=1.5, strokeDash=[2, 3]).transform_filter(
            f"datum.what != '{BEFORE}'"
        ),
        line.mark_point(size=18, filled=True, opacity=1).transform_filter("datum.what != 'a fit'"),
        *(
            base.mark_point(size=60, opacity=1, filled=style == "ink", style=style)
            .transform_filter("datum.what == 'a fit'")
            .transform_filter(f"datum.state == '{state}'")
            for style, state in (("ink", FINISHED), ("ink-hollow", UNFINISHED))
        ),
        text.encode(colour).transform_filter(f"datum.what == '{THEN}'"),
        told.transform_filter(f"datum.what != '{THEN}'"),
        height=HEIGHT,
    )
    return Chart(view, title_of(record), said_of_time(record, rows), rows)


def over_time(record: Record) -> list[Row]:
    """A row for each mark: short fits, the fits of the table, and what is predicted. Short fits are
    measured on validation data, and moved as the figure on the test is from theirs."""
    found: list[Row] = []
    known = {readable(row["model"]): row for row in record["rows"]}
    for mark in scored(record):
        course = known[mark["model"]].get("course") or {}
        later: list[Row] = course.get("predicted") or []
        whole = max(mark["seconds"], 0.01)
        for point in course["points"][:-1] if later else []:
            value = point["value"] + course["moved"]
            at = {"value": value, "low": value, "high": value, "seconds": point["seconds"]}
            found.append(mark | at | {"what": BEFORE, "last": False})
        found.append(mark | {"what": "a fit", "last": not later, "seconds": whole})
        for each in later:
            at = {key: each[key] for key in ("value", "low", "high")}
            at |= {"seconds": whole * each["times"], "last": each is later[-1]}
            found.append(mark | at | {"what": THEN})
    for row in found:
        row.pop("updates")
    return found


def said_of_time(record: Record, rows: list[Row]) -> str:
    """What one sees in it."""
    words = record["figure"].replace("_", " ")
    says = f"Each model's {words} over the seconds it was fitted for."
    if any(row["what"] == THEN for row in rows):
        says += (
            " Lines go through short fits of the same network; dotted, with 80 % intervals, what two "
            "and four times the time would give."
        )
    else:
        says += " There was too little time for short fits: nothing is predicted."
    hollow = " Hollow: unfinished." * any(row["state"] == UNFINISHED for row in rows)
    return f"{says} {BETTER[record['higher_is_better']].capitalize()}.{hollow}"


def dots(base: Any, size: int) -> list[Any]:
    """Marks: the best in the accent, others in ink, hollow where a fit is unfinished."""
    kinds = [
        ("accent", "datum.best && datum.state == 'finished'"),
        ("ink", "!datum.best && datum.state == 'finished'"),
        ("accent-hollow", "datum.best && datum.state != 'finished'"),
        ("ink-hollow", "!datum.best && datum.state != 'finished'"),
    ]
    return [
        base.mark_point(
            size=size, opacity=1, filled="hollow" not in style, style=style
        ).transform_filter(test)
        for style, test in kinds
    ]


def limit(record: Record, rows: list[Row], across: bool) -> list[Any]:
    """Lines to be held against: the entropy of a source, where it is known, than which no model can be
    better, and what tools from outside the ladder reach, where that is among the figures drawn."""
    import altair as alt

    low, high = min(row["low"] for row in rows), max(row["high"] for row in rows)
    at = [
        {"value": each["value"], "words": each["name"]}
        for each in record.get("references") or ()
        if each["value"] is not None and low <= each["value"] <= high
    ]
    if record.get("entropy_bits") is not None:
        at.append({"value": record["entropy_bits"], "words": "true entropy of the source"})
    if not at:
        return []
    names = at if across else named_together(at, 13 * (high - low) / HEIGHT)
    axis = {"x": alt.X("value:Q")} if across else {"y": alt.Y("value:Q")}
    rule = alt.Chart(values(at)).mark_rule(strokeDash=[4, 4], style="soft-line").encode(**axis)
    place = {"y": alt.value(-6)} if across else {"x": alt.value(4)}
    told = (
        alt.Chart(values(names))
        .mark_text(align="left", baseline="bottom", style="soft-text")
        .encode(**axis, **place, text="words:N")
    )
    return [rule, told]


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


def place_names(rows: list[Row], low: float, high: float) -> None:
    """Where the name of each mark stands: moved up or down where it would meet another's, in a
    picture as narrow as they get. In a wider one names only come further apart."""
    begin, end = (math.log(each) for each in seconds_of(rows))
    wide, scale = NARROW - 90, (high - low) / HEIGHT
    lefts = [wide * (math.log(row["seconds"]) - begin) / (end - begin) + 9 for row in rows]
    rights = [left + 6.2 * len(row["model"]) for left, row in zip(lefts, rows)]
    marks = [left - 15 for left in lefts]  # a name keeps clear of marks, too
    aside = math.exp(16 * (end - begin) / wide)  # a little to the right, in a narrow picture
    for group in meeting(marks, rights):
        wished = [(high - rows[i]["value"]) / scale for i in group]
        clear = all(b - a >= 13 for a, b in pairwise(sorted(wished)))
        right = max(rows[i]["seconds"] for i in group) * aside
        for i, place in zip(group, spread(wished, 13, 6, HEIGHT - 6)):
            rows[i]["name_at"] = high - place * scale
            rows[i]["name_x"] = rows[i]["seconds"] if clear else right
            rows[i]["moved"] = not clear


def meeting(lefts: list[float], rights: list[float]) -> list[list[int]]:
    """Groups of names that share some of their width, one after another."""
    groups: list[list[int]] = []
    reach = -math.inf
    for i in sorted(range(len(lefts)), key=lambda i: lefts[i]):
        if lefts[i] < reach:
            groups[-1].append(i)
        else:
            groups.append([i])
        reach = max(reach, rights[i])
    return groups


def seconds_of(rows: list[Row]) -> tuple[float, float]:
    """From a little before the quickest to room for the name of the slowest, as logarithms go."""
    known = [row["seconds"] for row in rows]
    low, high = min(known), max(known)
    factor = max(high / low, 10.0)
    return low / factor**0.04, high * factor ** (0.9 * max(len(r["model"]) for r in rows) / 40)


def plain_rows(rows: list[Row]) -> list[Row]:
    """Rows without what only the drawing needs."""
    return [
        {k: v for k, v in row.items() if k not in ("name_at", "name_x", "moved")} for row in rows
    ]


def number_form(numbers: list[float]) -> str:
    """How many digits tell these numbers apart."""
    most = max(map(abs, numbers), default=1.0)
    return "{:.3f}" if most < 100 else "{:,.1f}" if most < 10_000 else "{:,.0f}"


def title_of(record: Record) -> str:
    """What was compared."""
    return f"{Path(record['data']).name}: {record['task']} by {record['unit']}"


def said_of_marks(record: Record, rows: list[Row]) -> str:
    """What one sees in a picture of a comparison."""
    words = record["figure"].replace("_", " ")
    hollow = " Hollow: unfinished, no verdict." * any(r["state"] == UNFINISHED for r in rows)
    better = BETTER[record["higher_is_better"]].capitalize()
    return f"A mark for each model's {words}, its 95 % interval as a line. {better}.{hollow}"


# -- how a fit learned
def learning(record: Record) -> Chart:
    """Training and validation over the updates; below, the rate and the norm of the gradient, with
    how often it was clipped. A record of kind `learning`."""
    import altair as alt

    seen = record["looks"]
    nats = record["per"].startswith("nats")  # as the training loss is
    panels = [losses(record, seen, ("validation", "training") if nats else ("validation",))]
    panels += [] if nats else [panel(seen, "train", "training loss, nats", alt)]
    panels += [
        panel(seen, name, words, alt)
        for name, words in WATCHED.items()
        if any(each.get(name) is not None for each in seen)
    ]
    if any(each.get("rate") is not None for each in seen):
        panels.append(panel(seen, "rate", "learning rate", alt))
    if any(each.get("gradient_norm") is not None for each in seen):
        panels.append(panel(seen, "gradient_norm", "gradient norm", alt))
        panels.append(panel(seen, "clipped", "share clipped", alt))
    for each in panels[:-1]:
        each.encoding.x.axis = alt.Axis(labels=False, ticks=False, title=None)
    view = alt.vconcat(*panels) if len(panels) > 1 else panels[0]
    what = f"{record['per'][:1].upper()}{record['per'][1:]}"
    says = f"{what} over the updates ({BETTER[record['higher']]})"
    known = [each for each in seen if each["valid"] is not None]
    if known:
        best = (max if record["higher"] else min)(known, key=lambda each: each["valid"])
        says += f": best on validation {best['valid']:.4g} after {best['step']:,} updates"
    says += f". {record['ending'].removesuffix('.')}." if record["ending"] else "."
    return Chart(view, record["title"], says, seen)


def losses(record: Record, seen: list[Row], kinds: tuple[str, ...]) -> Any:
    """Lines with their names at their ends."""
    import altair as alt

    rows = [
        {"step": each["step"], "kind": kind, "loss": each[key]}
        for kind, key in (("validation", "valid"), ("training", "train"))
        for each in seen
        if kind in kinds and each[key] is not None
    ]
    low, high = domain_of([row["loss"] for row in rows])
    scale, ends = (high - low) / HEIGHT, []
    for kind in ("validation", "training"):
        some = [row for row in rows if row["kind"] == kind]
        ends += some[-1:]
    places = spread([(high - end["loss"]) / scale for end in ends], 13, 6, HEIGHT - 6)
    for end, place in zip(ends, places):
        end["name_at"] = high - place * scale
    base = alt.Chart(values(rows)).encode(
        x=alt.X("step:Q", title="updates"),
        y=alt.Y(
            "loss:Q",
            title=record["per"],
            scale=alt.Scale(domain=[low, high], zero=False, nice=False),
        ),
        tooltip=["kind:N", "step:Q", alt.Tooltip("loss:Q", format=".4g")],
    )
    lines = [
        base.mark_line(point={"size": 22, "style": style}, style=f"{style}-line").transform_filter(
            f"datum.kind == '{kind}'"
        )
        for kind, style in (("training", "soft"), ("validation", "accent"))
    ]
    names = [
        base.mark_text(align="left", dx=8, style=f"{style}-text", clip=False)
        .encode(y="name_at:Q", text="kind:N")
        .transform_filter(f"datum.kind == '{kind}' && isValid(datum.name_at)")
        for kind, style in (("training", "soft"), ("validation", "accent"))
    ]
    return alt.layer(*lines, *names, height=HEIGHT).encode(x="step:Q")


def panel(seen: list[Row], name: str, words: str, alt: Any) -> Any:
    """A small curve under the losses."""
    rows = [{"step": each["step"], "value": each.get(name)} for each in seen]
    return (
        alt.Chart(values(rows))
        .mark_line(point={"size": 14, "style": "ink"}, style="ink-line", strokeWidth=1.5)
        .encode(
            x=alt.X("step:Q", title="updates"),
            y=alt.Y("value:Q", title=words, axis=alt.Axis(tickCount=3)),
            tooltip=["step:Q", alt.Tooltip("value:Q", title=words, format=".3g")],
        )
        .properties(height=PANEL)
    )


def courses(runs: list[Record]) -> Chart:
    """What several fits reached on validation over the seconds, a line each with its name."""
    import altair as alt

    rows = [
        {"model": readable(run["model"]), "seconds": look["seconds"], "loss": look["valid"]}
        | {"updates": look["step"]}
        for run in runs
        for look in run["looks"]
        if look["valid"] is not None and look["seconds"] is not None
    ]
    low, high = domain_of([row["loss"] for row in rows])
    ends = [[row for row in rows if row["model"] == readable(run["model"])][-1:] for run in runs]
    last = [row for end in ends for row in end]
    scale = (high - low) / HEIGHT
    places = spread([(high - row["loss"]) / scale for row in last], 13, 6, HEIGHT - 6)
    names = [row | {"name_at": high - place * scale} for row, place in zip(last, places)]
    colour = alt.Color("model:N", sort=None, legend=None)
    x = alt.X("seconds:Q", title="seconds of learning")
    y = alt.Y(
        "loss:Q",
        title=f"validation, {runs[0]['per']}",
        scale=alt.Scale(domain=[low, high], zero=False, nice=False),
    )
    tips = ["model:N", "updates:Q", alt.Tooltip("loss:Q", format=".4g")]
    lines = alt.Chart(values(rows)).mark_line(point={"size": 18}).encode(x, y, colour, tooltip=tips)
    words = alt.Chart(values(names)).mark_text(align="left", dx=8)
    view = alt.layer(
        lines,
        words.encode(x=x, y="name_at:Q", text="model:N", color=colour),
        height=HEIGHT,
        padding={"left": 10, "top": 10, "bottom": 10, "right": letters(n["model"] for n in names)},
    )
    says = "What each network reached on the validation data over the time it learned; lower is better."
    return Chart(view, "validation over time", says, rows)


# -- the curve against data
def data_curve(record: Record) -> Chart:
    """Each rung's figure over the size of its training data; beyond all of the data what its law says,
    dotted, with 80 % intervals; rings where the lead changes."""
    import altair as alt

    curve = record.get("curve")
    if not curve:
        raise RunError(
            "there is no curve against data in this comparison",
            got="one without --curve",
            do="Compare with --curve",
        )
    points, beyond = points_of(record), beyond_of(curve)
    wide = [each for row in points + beyond for each in (row["low"], row["high"])]
    low, high = domain_of([*wide, record.get("entropy_bits")])
    right = max(row["size"] for row in points + beyond)
    x = alt.X(
        "size:Q",
        title=f"{curve['unit']} of training data",
        scale=alt.Scale(type="log", domain=[curve["sizes"][0] / 1.15, right], nice=False),
        axis=alt.Axis(values=powers(curve["sizes"][0] / 1.15, right), format="~s"),
    )
    y = alt.Y(
        "value:Q",
        title=f"{record['figure'].replace('_', ' ')} ({BETTER[record['higher_is_better']]})",
        scale=alt.Scale(domain=[low, high], zero=False, nice=False),
    )
    names = names_at(points + beyond, right, low, high)
    view = alt.layer(
        *all_of_it(curve, alt),
        *limit(record, [{"low": low, "high": high}], across=False),
        *curve_lines(points, beyond, x, y, alt),
        *rings(curve, x, y, alt),
        *name_marks(names, alt),
        height=HEIGHT,
        padding={"left": 10, "top": 10, "bottom": 10, "right": letters(n["model"] for n in names)},
    )
    return Chart(view, title_of(record), said_of_curve(record, points), points + beyond)


def points_of(record: Record) -> list[Row]:
    """What was measured: a row for each rung and size."""
    unfinished = {row["model"] for row in record["rows"] if row.get("unfinished")}
    return [
        {
            "model": readable(rung["model"]),
            "size": point["size"],
            "value": point["value"],
            "low": point["low"],
            "high": point["high"],
            "subsets": len(point["subsets"]),
            "state": UNFINISHED if rung["model"] in unfinished else FINISHED,
            "kind": "measured",
        }
        for rung in record["curve"]["rungs"]
        for point in rung["points"]
    ]


def beyond_of(curve: Record) -> list[Row]:
    """What laws say of more data than there are; the interval stands at what was predicted."""
    found: list[Row] = []
    for rung in curve["rungs"]:
        if not rung["predicted"]:
            continue
        whole, law = rung["points"][-1]["size"], rung["law"]
        told = {round(each["times"] * whole): each for each in rung["predicted"]}
        steps = [round(whole * (max(told) / whole) ** (i / 16)) for i in range(17)]
        for size in sorted({*steps, *told}):
            value = law["a"] + law["b"] * size ** -law["c"]
            ends = told.get(size, {"low": value, "high": value})
            found.append(
                {"model": readable(rung["model"]), "size": size, "value": value}
                | {"low": ends["low"], "high": ends["high"], "subsets": 0}
                | {"state": FINISHED, "kind": "predicted"}
            )
    return found


def curve_lines(points: list[Row], beyond: list[Row], x: Any, y: Any, alt: Any) -> list[Any]:
    """Lines through what was measured, dotted where a law goes on, with intervals as rules."""
    colour = alt.Color("model:N", sort=None, legend=None)
    tips = [
        "model:N",
        alt.Tooltip("size:Q", format=","),
        alt.Tooltip("value:Q", format=".4g"),
        alt.Tooltip("low:Q", format=".4g"),
        alt.Tooltip("high:Q", format=".4g"),
        alt.Tooltip("subsets:Q"),
        "kind:N",
        "state:N",
    ]
    base = alt.Chart(values(points)).encode(x=x, y=y, color=colour, tooltip=tips)
    later = alt.Chart(values(beyond)).encode(x=x, y=y, color=colour, tooltip=tips)
    rule = {"y": "low:Q", "y2": "high:Q"}
    return [
        later.mark_line(strokeDash=[2, 4]),
        later.mark_rule(strokeWidth=5, opacity=0.3)
        .encode(**rule)
        .transform_filter("datum.low < datum.high"),
        base.mark_rule(strokeWidth=1.2, opacity=0.6).encode(**rule),
        base.mark_line().transform_filter("datum.state == 'finished'"),
        base.mark_point(size=34, opacity=1, filled=True).transform_filter(
            "datum.state == 'finished'"
        ),
        base.mark_point(size=44, opacity=1, filled=False).transform_filter(
            "datum.state != 'finished'"
        ),
    ]


def all_of_it(curve: Record, alt: Any) -> list[Any]:
    """A line where the data end, beyond which nothing was measured."""
    at = alt.Chart(values([{"size": curve["sizes"][-1], "words": "all of the data"}]))
    rule = at.mark_rule(style="hair-line", strokeWidth=1).encode(x="size:Q")
    told = at.mark_text(align="left", dx=4, baseline="top", style="soft-text")
    return [rule, told.encode(x="size:Q", y=alt.value(-8), text="words:N")]


def rings(curve: Record, x: Any, y: Any, alt: Any) -> list[Any]:
    """Rings around the places where the best of all changes."""
    rungs = {rung["model"]: rung for rung in curve["rungs"]}
    rows = [
        {"size": each["at"], "value": figure_at(rungs[each["second"]], each["at"])}
        | {"words": readable(each["words"])}
        for each in curve["crossings"]
        if each["lead"]
    ]
    if not rows:
        return []
    marks = alt.Chart(values(rows)).mark_point(
        size=170, filled=False, opacity=1, style="ink-line", strokeWidth=1.5
    )
    return [marks.encode(x=x, y=y, tooltip=["words:N"])]


def figure_at(rung: Record, size: float) -> float:
    """The figure of a rung between the sizes that were measured, or beyond them by its law."""
    law = rung["law"]
    for before, after in pairwise(rung["points"]):
        if before["size"] <= size <= after["size"]:
            share = math.log(size / before["size"]) / math.log(after["size"] / before["size"])
            return before["value"] + share * (after["value"] - before["value"])
    return law["a"] + law["b"] * size ** -law["c"]


def names_at(rows: list[Row], right: float, low: float, high: float) -> list[Row]:
    """The names of the lines at the right end, moved where they would meet."""
    ends = {row["model"]: row for row in rows}  # the last of each
    scale = (high - low) / HEIGHT
    places = spread([(high - end["value"]) / scale for end in ends.values()], 13, 6, HEIGHT - 6)
    return [
        {"model": name, "size": right, "name_at": high - place * scale, "value": end["value"]}
        | {"from": end["size"], "far": end["size"] < right}
        for (name, end), place in zip(ends.items(), places)
    ]


def name_marks(names: list[Row], alt: Any) -> list[Any]:
    """The names, and thin lines to them from where a curve ends early."""
    base = alt.Chart(values(names)).encode(color=alt.Color("model:N", sort=None, legend=None))
    words = base.mark_text(align="left", dx=6, clip=False)
    leaders = base.mark_rule(strokeWidth=0.7, strokeDash=[1, 4]).transform_filter("datum.far")
    return [
        words.encode(x="size:Q", y="name_at:Q", text="model:N"),
        leaders.encode(x="from:Q", x2="size:Q", y="value:Q", y2="name_at:Q"),
    ]


def said_of_curve(record: Record, points: list[Row]) -> str:
    """What one sees in a picture of the curve against data."""
    curve = record["curve"]
    words = "Each model by how much data it had; dotted: what its law says of more, bars 80 %."
    lead = [each["words"] for each in curve["crossings"] if each["lead"]]
    if lead:
        words += f" Rings: the best changes, {'; '.join(lead[-2:])}."
    hollow = " Hollow: unfinished, no curve." * any(r["state"] == UNFINISHED for r in points)
    return words + hollow
