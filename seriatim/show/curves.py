"""Pictures that every task has: the leaderboard, quality against time and data, how a fit learned."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

from seriatim.errors import RunError
from seriatim.records import Record
from seriatim.show.charts import (
    Chart,
    Row,
    domain_of,
    letters,
    powers,
    readable,
    short,
    spread,
    values,
)
from seriatim.show.marks import (
    BESIDE,
    FINISHED,
    HEIGHT,
    UNFINISHED,
    by_colour,
    coloured,
    dots,
    leaders,
    limit,
    limit_across,
    limits_of,
    lines_under,
    place_names,
    plain_rows,
)

STEP = 26  # pixels of a row of the leaderboard
PANEL = 90  # pixels of a small panel under a curve
BETTER = {True: "higher is better", False: "lower is better"}
BEFORE, THEN = "a short fit", "predicted"  # marks of a curve against time, besides the fits
ABBREVIATED = {each.lower(): each for each in ("MASE", "MAE", "RMSE", "CRPS", "BLEU", "chrF", "F1")}
WATCHED = {
    "analogies": "share of analogies that are right",
    "similarity": "correlation with human similarity",
}


def words_of(figure: str) -> str:
    """A figure by its key, its abbreviations written as in tables.

    >>> words_of("mase"), words_of("bits_per_character"), words_of("macro_f1")
    ('MASE', 'bits per character', 'macro F1')
    """
    return " ".join(ABBREVIATED.get(word, word) for word in figure.split("_"))


def with_intervals(record: Record) -> bool:
    """Whether any row of a comparison has an interval of its figure."""
    several = [(row.get("interval") or {}).get(record["figure"]) for row in record["rows"]]
    return any(each and None not in each for each in several)


def told_rows(record: Record, rows: list[Row]) -> list[Row]:
    """The rows behind a picture; bounds only where there are intervals."""
    left = () if with_intervals(record) else ("low", "high")
    return plain_rows([{k: v for k, v in row.items() if k not in left} for row in rows])


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
                "learned": updates_of(row),
                "state": UNFINISHED if row.get("unfinished") else FINISHED,
                "best": not found,
            }
        )
    if not found:
        raise RunError("there is nothing to draw", got="no model that was measured")
    return found


def updates_of(row: Row) -> str:
    """How many updates a model made, in words."""
    updates = row.get("updates")
    return "none: it counts" if updates is None else f"{updates:,}"


def leaderboard(record: Record) -> Chart:
    """Each rung a dot with its interval, the best on top; a rung that is unfinished is hollow."""
    import altair as alt

    rows, words = scored(record), words_of(record["figure"])
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
            alt.Tooltip("learned:N", title="updates"),
            alt.Tooltip("state:N"),
        ],
    )
    ranges = base.mark_rule(strokeWidth=2, style="soft-line").encode(x="low:Q", x2="high:Q")
    text = base.mark_text(align="left", dx=6, style="ink-text", clip=False)
    text = text.encode(x=alt.value("width"), text="written:N")  # where no line crosses it
    view = alt.layer(
        *limit_across(limits_of(record, rows), (low, high)),
        ranges,
        *dots(base, 70),
        text,
        height=STEP * len(rows),
        padding={"left": 10, "top": 10, "bottom": 10, "right": letters(r["written"] for r in rows)},
    )
    return Chart(view, title_of(record), said_of_marks(record, rows), told_rows(record, rows))


def quality(record: Record) -> Chart:
    """Each rung's figure over the seconds it was fitted for, its name beside its mark."""
    import altair as alt

    rows, words = scored(record), words_of(record["figure"])
    for row in rows:
        row["seconds"] = max(row["seconds"], 0.01)
    low, high = domain_of([each for row in rows for each in (row["low"], row["high"])], 0.1)
    lines = limits_of(record, rows)
    place_names(rows, rows, lines, seconds_of(rows), (low, high))
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
            alt.Tooltip("learned:N", title="updates"),
            "state:N",
        ],
    )
    ranges = base.mark_rule(strokeWidth=1.5, style="soft-line").encode(y="low:Q", y2="high:Q")
    named = base.encode(y="name_at:Q", text="model:N")
    others = named.mark_text(align="left", dx=BESIDE, style="ink-text")
    best = named.mark_text(align="left", dx=BESIDE, style="accent-text", fontWeight="bold")
    view = alt.layer(
        *limit(lines, rows, seconds_of(rows), (low, high)),
        leaders(base),
        ranges,
        *dots(base, 60),
        others.transform_filter("!datum.best"),
        best.transform_filter("datum.best"),
        height=HEIGHT,
    )
    return Chart(view, title_of(record), said_of_marks(record, rows), told_rows(record, rows))


def time_curve(record: Record) -> Chart:
    """What each network had reached after which time, and what more would give, dotted with 80 %
    intervals; models that count, and networks without short fits, are marks."""
    import altair as alt

    rows, words = over_time(record), words_of(record["figure"])
    ends = [row for row in rows if row.pop("last")]
    low, high = domain_of([each for row in rows for each in (row["low"], row["high"])], 0.1)
    coloured(rows, ends)
    lines, seconds = limits_of(record, rows), seconds_of(rows)
    place_names(ends, rows, lines, seconds, (low, high))
    x = alt.X(
        "seconds:Q",
        title="seconds of fitting",
        scale=alt.Scale(type="log", domain=seconds, nice=False),
        axis=alt.Axis(values=powers(*seconds), format="~g"),
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
    colour = by_colour()
    line = alt.Chart(values(networks)).encode(x, y, colour, tooltip=tips, detail="model:N")
    future = line.transform_filter(f"datum.what == '{THEN}'")
    named = alt.Chart(values(ends)).encode(x, alt.Y("name_at:Q"), text="model:N")
    bold = alt.expr("datum.best ? 'bold' : 'normal'")
    text = named.mark_text(align="left", dx=BESIDE, fontWeight=bold)
    told = named.mark_text(align="left", dx=BESIDE, style="ink-text", fontWeight=bold)
    view = alt.layer(
        *limit(lines, ends, seconds, (low, high)),
        leaders(alt.Chart(values(ends)).encode(x, y)),
        future.mark_rule(strokeWidth=6, opacity=0.3).encode(y="low:Q", y2="high:Q"),
        line.mark_line(strokeWidth=1.5).transform_filter(f"datum.what != '{THEN}'"),
        line.mark_line(strokeWidth=1.5, strokeDash=[2, 3]).transform_filter(
            f"datum.what != '{BEFORE}'"
        ),
        line.mark_point(size=18, filled=True, opacity=1).transform_filter("datum.what != 'a fit'"),
        *(each.transform_filter("datum.what == 'a fit'") for each in dots(base, 60)),
        text.encode(colour).transform_filter(f"datum.what == '{THEN}'"),
        told.transform_filter(f"datum.what != '{THEN}' && !datum.best"),
        named.mark_text(
            align="left", dx=BESIDE, style="accent-text", fontWeight="bold"
        ).transform_filter(f"datum.what != '{THEN}' && datum.best"),
        height=HEIGHT,
    )
    return Chart(view, title_of(record), said_of_time(record, rows), plain_rows(rows))


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
    return [
        {key: each for key, each in row.items() if key not in ("updates", "learned")}
        for row in found
    ]


def said_of_time(record: Record, rows: list[Row]) -> str:
    """What one sees in it."""
    words = words_of(record["figure"])
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


def seconds_of(rows: list[Row]) -> tuple[float, float]:
    """From a little before the quickest to room for the name of the slowest, as logarithms go."""
    known = [row["seconds"] for row in rows]
    low, high = min(known), max(known)
    factor = max(high / low, 10.0)
    return low / factor**0.04, high * factor ** (0.9 * max(len(r["model"]) for r in rows) / 40)


def number_form(numbers: list[float]) -> str:
    """How many digits tell these numbers apart."""
    most = max(map(abs, numbers), default=1.0)
    return "{:.3f}" if most < 100 else "{:,.1f}" if most < 10_000 else "{:,.0f}"


def title_of(record: Record) -> str:
    """What was compared."""
    return f"{Path(record['data']).name}: {record['task']} by {record['unit']}"


def said_of_marks(record: Record, rows: list[Row]) -> str:
    """What one sees in a picture of a comparison."""
    words = words_of(record["figure"])
    hollow = " Hollow: unfinished, no verdict." * any(r["state"] == UNFINISHED for r in rows)
    better = BETTER[record["higher_is_better"]].capitalize()
    line = ", its 95 % interval as a line" if with_intervals(record) else ""
    return (
        f"A mark for each model's {words} on the test{line}. {better}. "
        f"{said_of_winner(record, rows)}{hollow}"
    )


def said_of_winner(record: Record, rows: list[Row]) -> str:
    """What the mark in the accent is, and which others are better on the test, where it was not the
    test that chose."""
    best = rows[0]
    on = "the test itself" if record.get("chosen_on") == "test" else "the validation data"
    sign = -1 if record["higher_is_better"] else 1
    ahead = [row for row in rows[1:] if sign * row["value"] < sign * best["value"]]
    says = f"Orange: {short(best['model'], 40)}, the winner, which was chosen on {on}"
    if not ahead:
        return f"{says}."
    names = [
        short(row["model"], 40) + ", unfinished," * (row["state"] == UNFINISHED) for row in ahead
    ]
    several = "have" if len(names) > 1 else "has"
    return f"{says}; on the test {' and '.join(names)} {several} the better figure."


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
        {"step": each["step"], "kind": kind, "value": each[key]}
        for kind, key in (("validation", "valid"), ("training", "train"))
        for each in seen
        if kind in kinds and each[key] is not None
    ]
    low, high = domain_of([row["value"] for row in rows], least=record["least"])
    scale, ends = (high - low) / HEIGHT, []
    for kind in ("validation", "training"):
        some = [row for row in rows if row["kind"] == kind]
        ends += some[-1:]
    places = spread([(high - end["value"]) / scale for end in ends], 13, 6, HEIGHT - 6)
    for end, place in zip(ends, places):
        end["name_at"] = high - place * scale
    base = alt.Chart(values(rows)).encode(
        x=alt.X("step:Q", title="updates"),
        y=alt.Y(
            "value:Q",
            title=record["per"],
            scale=alt.Scale(domain=[low, high], zero=False, nice=False),
        ),
        tooltip=[
            *("kind:N", alt.Tooltip("step:Q", title="updates", format=",")),
            alt.Tooltip("value:Q", title=record["per"], format=".4g"),
        ],
    )
    seen_in = {row["kind"] for row in rows}
    both = (("training", "soft"), ("validation", "accent"))
    styles = [(kind, style) for kind, style in both if kind in seen_in]
    lines = [
        base.mark_line(point={"size": 22, "style": style}, style=f"{style}-line").transform_filter(
            f"datum.kind == '{kind}'"
        )
        for kind, style in styles  # a layer without rows would have no extent
    ]
    names = [
        base.mark_text(align="left", dx=8, style=f"{style}-text", clip=False)
        .encode(y="name_at:Q", text="kind:N")
        .transform_filter(f"datum.kind == '{kind}' && isValid(datum.name_at)")
        for kind, style in styles
    ]
    return alt.layer(*lines, *names, height=HEIGHT).encode(x="step:Q")


def panel(seen: list[Row], name: str, words: str, alt: Any) -> Any:
    """A small curve under the losses; of a share that is always zero, the whole axis."""
    rows = [{"step": each["step"], "value": each.get(name)} for each in seen]
    known = {row["value"] for row in rows} - {None}
    scale: Any = alt.Scale(domain=[0, 1]) if known == {0} else alt.Undefined
    return (
        alt.Chart(values(rows))
        .mark_line(point={"size": 14, "style": "ink"}, style="ink-line", strokeWidth=1.5)
        .encode(
            x=alt.X("step:Q", title="updates"),
            y=alt.Y("value:Q", title=words, axis=alt.Axis(tickCount=3), scale=scale),
            tooltip=[
                alt.Tooltip("step:Q", title="updates", format=","),
                alt.Tooltip("value:Q", title=words, format=".3g"),
            ],
        )
        .properties(height=PANEL)
    )


def courses(runs: list[Record], winner: str = "") -> Chart:
    """What several fits reached on validation over the seconds, a line each with its name; that of
    the winner, where it is among them, in the accent."""
    import altair as alt

    rows = [
        {"model": readable(run["model"]), "seconds": look["seconds"], "value": look["valid"]}
        | {"updates": look["step"], "best": run["model"] == winner}
        for run in runs
        for look in run["looks"]
        if look["valid"] is not None and look["seconds"] is not None
    ]
    coloured(rows)
    low, high = domain_of([row["value"] for row in rows], least=max(r["least"] for r in runs))
    ends = [[row for row in rows if row["model"] == readable(run["model"])][-1:] for run in runs]
    last = [row for end in ends for row in end]
    scale = (high - low) / HEIGHT
    places = spread([(high - row["value"]) / scale for row in last], 13, 6, HEIGHT - 6)
    names = [row | {"name_at": high - place * scale} for row, place in zip(last, places)]
    colour = by_colour()
    x = alt.X("seconds:Q", title="seconds of learning")
    y = alt.Y(
        "value:Q",
        title=f"validation, {runs[0]['per']}",
        scale=alt.Scale(domain=[low, high], zero=False, nice=False),
    )
    told = alt.Tooltip("value:Q", title=runs[0]["per"], format=".4g")
    tips: list[Any] = ["model:N", alt.Tooltip("updates:Q", format=","), told]
    base = alt.Chart(values(rows)).encode(x, y, colour, tooltip=tips, detail="model:N")
    lines = base.mark_line(point={"size": 18})
    words = alt.Chart(values(names)).mark_text(align="left", dx=8)
    view = alt.layer(
        lines,
        words.encode(x=x, y="name_at:Q", text="model:N", color=colour),
        height=HEIGHT,
        padding={"left": 10, "top": 10, "bottom": 10, "right": letters(n["model"] for n in names)},
    )
    better = BETTER[runs[0]["higher"]]
    says = f"What each network reached on the validation data over the time it learned; {better}."
    says += f" Orange: {short(winner, 40)}, the winner." * any(row["best"] for row in rows)
    return Chart(view, "Validation over time", says, plain_rows(rows))


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
    points = points_of(record)
    beyond = beyond_of(curve, {row["model"] for row in points if row["best"]})
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
        title=f"{words_of(record['figure'])} ({BETTER[record['higher_is_better']]})",
        scale=alt.Scale(domain=[low, high], zero=False, nice=False),
    )
    coloured(points, beyond)
    names = names_at(points + beyond, right, low, high)
    view = alt.layer(
        *all_of_it(curve, alt),
        *lines_under(limits_of(record, [{"low": low, "high": high}]), (high - low) / HEIGHT),
        *curve_lines(points, beyond, x, y, alt),
        *rings(curve, x, y, alt),
        *name_marks(names, alt),
        height=HEIGHT,
        padding={"left": 10, "top": 10, "bottom": 10, "right": letters(n["name"] for n in names)},
    )
    table = plain_rows(points + beyond)
    return Chart(view, title_of(record), said_of_curve(record, points), table)


def points_of(record: Record) -> list[Row]:
    """What was measured: a row for each rung and size."""
    unfinished = {row["model"] for row in record["rows"] if row.get("unfinished")}
    winner = scored(record)[0]["model"]
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
            "best": readable(rung["model"]) == winner,
            "law": bool(rung["predicted"]),
        }
        for rung in record["curve"]["rungs"]
        for point in rung["points"]
    ]


def beyond_of(curve: Record, best: set[str]) -> list[Row]:
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
                | {"state": FINISHED, "kind": "predicted", "law": True}
                | {"best": readable(rung["model"]) in best}
            )
    return found


def curve_lines(points: list[Row], beyond: list[Row], x: Any, y: Any, alt: Any) -> list[Any]:
    """Lines through what was measured, dotted where a law goes on, with intervals as rules."""
    colour = by_colour()
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
    each: dict[str, Any] = {"x": x, "y": y, "color": colour, "detail": "model:N", "tooltip": tips}
    base = alt.Chart(values(points)).encode(**each)
    later = alt.Chart(values(beyond)).encode(**each)
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
    """The names of the lines at the right end, moved where they would meet; a model without a law is
    said to have none."""
    ends = {row["model"]: row for row in rows}  # the last of each
    scale = (high - low) / HEIGHT
    places = spread([(high - end["value"]) / scale for end in ends.values()], 13, 6, HEIGHT - 6)
    return [
        {"model": name, "size": right, "name_at": high - place * scale, "value": end["value"]}
        | {"from": end["size"], "far": end["size"] < right, "colour": end["colour"]}
        | {"name": name if end["law"] else f"{name} (no law)", "best": end["best"]}
        for (name, end), place in zip(ends.items(), places)
    ]


def name_marks(names: list[Row], alt: Any) -> list[Any]:
    """The names, and to those of curves that end early a faint line, which is no law."""
    base = alt.Chart(values(names))
    bold = alt.expr("datum.best ? 'bold' : 'normal'")
    words = base.mark_text(align="left", dx=6, clip=False, fontWeight=bold).encode(by_colour())
    lead = base.mark_rule(strokeWidth=0.7, opacity=0.45, style="soft-line", xOffset=6, x2Offset=3)
    return [
        lead.transform_filter("datum.far").encode(
            x="from:Q", x2="size:Q", y="value:Q", y2="name_at:Q"
        ),
        words.encode(x="size:Q", y="name_at:Q", text="name:N"),
    ]


def said_of_curve(record: Record, points: list[Row]) -> str:
    """What one sees in a picture of the curve against data."""
    curve = record["curve"]
    words = "Each model by how much data it had; dotted: what its law says of more, bars 80 %."
    if any(row["best"] for row in points):
        words += " Orange: the winner."
    lead = [each["words"] for each in curve["crossings"] if each["lead"]]
    if lead:
        words += f" Rings: the best changes, {'; '.join(lead[-2:])}."
    if not all(row["law"] for row in points):
        words += " No law: nothing is said of more data."
    hollow = " Hollow: unfinished, no curve." * any(r["state"] == UNFINISHED for r in points)
    return words + hollow
