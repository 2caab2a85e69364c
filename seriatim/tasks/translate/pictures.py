"""Pictures of translation: what of the source was attended to, the beam as a tree, and how errors
grow with length.

alignment   the source across, the target down: how much each symbol of the source was attended to
            when each of the target was written
tree        candidates of a beam search from left to right: kept ones strong, pruned ones faint, ended
            ones in the accent, with their score
lengths     the share of exact targets, and edits per symbol, over the length of the source
"""

from __future__ import annotations

from typing import Any

from seriatim.errors import RunError
from seriatim.measuring.resampling import wilson
from seriatim.records import Record, array_of
from seriatim.show.charts import Chart, Row, short, values
from seriatim.show.weights import LEAST, heat, symbol

DEEP, MOST = 12, 400  # steps of a tree that are drawn, and candidates
STEP = 16  # pixels between two candidates
LETTER, BETWEEN, WIDE = 6.0, 26, 580  # pixels of a letter, between two steps, and of some steps
HEIGHT = 280
BELOW = 120  # pixels of the panel under it
EXACT, EDITS = "share of exact targets", "edits per symbol"


def alignment(record: Record) -> Chart:
    """What of the source each symbol of the target attended to: a record of `alignment`."""
    weights = array_of(record["weights"])  # (T, P)
    view, rows = heat(weights, record["target"], read_in(record))
    heads = len(record["heads"])
    mean = f", the mean of {heads} heads" if heads > 1 else ""
    says = (
        "What was written, downwards, and how much of it comes from each symbol of the source, "
        f"across{mean}. A row sums to 100 %; what is under {100 * LEAST:.0f} % is left out."
    )
    several = list(dict.fromkeys(record["origins"]))
    says += f" Read are {', '.join(several)}." * (len(several) > 1)
    return Chart(view, f"{record['model']}: {short(record['text'], 40)}", says, rows)


def read_in(record: Record) -> list[str]:
    """What was read, position by position; of another source than the first with its name behind."""
    several = zip(record["source"], record["origins"], strict=True)
    first = record["origins"][0]
    return [
        piece if origin == first or piece.startswith(origin) else f"{piece} ({origin})"
        for piece, origin in several
    ]


# -- the tree of a beam search
def tree(record: Record) -> Chart:
    """The candidates of a beam search: a record of `tree`."""
    import altair as alt

    nodes = [node for node in record["nodes"] if node["step"] < DEEP][:MOST]
    if not nodes:
        raise RunError("there is nothing to draw", got="a search without candidates")
    bands = placed(nodes, best_path(nodes))
    view = alt.concat(*map(band_of, bands), columns=1, spacing=28)
    rows = [mark for band in bands for mark in band if not mark["again"]]
    return Chart(view, title_of(record), said_of_tree(record), plain_marks(rows))


def band_of(marks: list[Row]) -> Any:
    """A few steps of the tree, from left to right."""
    import altair as alt

    tall = STEP * (1 + max(mark["height"] for mark in marks))
    x = alt.Scale(domain=[0, WIDE], nice=False)
    y = alt.Scale(domain=[0, tall], nice=False, reverse=True)
    base = alt.Chart(values(marks)).encode(
        x=alt.X("x:Q", axis=None, scale=x),
        y=alt.Y("y:Q", axis=None, scale=y),
        tooltip=[
            alt.Tooltip("symbol:N"),
            alt.Tooltip("step:Q"),
            alt.Tooltip("log_prob:Q", title="log p so far", format=".3f"),
            alt.Tooltip("score:Q", format=".3f"),
            alt.Tooltip("fate:N"),
        ],
    )
    layers = []
    for style, test, thick in (
        ("hair", "datum.fate == 'pruned'", 1),
        ("soft", "datum.fate != 'pruned' && !datum.best", 1.2),
        ("accent", "datum.best", 2),
    ):
        line = base.transform_filter("isValid(datum.to_x)").transform_filter(test)
        begin = {"x": alt.X("from_x:Q", axis=None), "y": alt.Y("from_y:Q", axis=None)}
        rule = line.mark_rule(style=f"{style}-line", strokeWidth=thick)
        layers.append(rule.encode(**begin, x2="to_x:Q", y2="y:Q"))
    for style, test, weight in (
        ("soft", "datum.fate == 'pruned'", "normal"),
        ("ink", "datum.fate == 'kept' && !datum.best", "normal"),
        ("accent", "datum.fate == 'ended' && !datum.best", "normal"),
        ("ink", "datum.fate == 'kept' && datum.best", "bold"),
        ("accent", "datum.fate == 'ended' && datum.best", "bold"),
    ):
        kind: dict[str, Any] = {"style": f"{style}-text", "fontWeight": weight}
        text = base.mark_text(align="left", **kind)
        layers.append(text.transform_filter(test).encode(text="words:N"))
    return alt.layer(*layers, width=WIDE, height=tall)


def best_path(nodes: list[Record]) -> set[int]:
    """The ended candidate with the best score, and those that it came from."""
    ended = [node for node in nodes if node["score"] is not None]
    found: set[int] = set()
    by_number = {node["node"]: node for node in nodes}
    here = max(ended, key=lambda node: node["score"], default=None)
    while here is not None:
        found.add(here["node"])
        here = by_number.get(here["parent"])
    return found


def placed(nodes: list[Record], best: set[int]) -> list[list[Row]]:
    """Bands of steps, as many in each as there is room for: each candidate with what is written of
    it and where, those of a step below each other, the likeliest first. A band begins with the ones
    that were kept in the step before it."""
    bands: list[list[Row]] = [[]]
    before: dict[int, Row] = {}  # the candidates of the step before
    left = 0.0
    for step in sorted({node["step"] for node in nodes}):
        some = sorted(
            (node for node in nodes if node["step"] == step), key=lambda node: -node["log_prob"]
        )
        wide = LETTER * max(len(words_of(node)) for node in some) + BETWEEN
        if left + wide - BETWEEN > WIDE:
            kept = [mark for mark in before.values() if mark["fate"] == "kept"]
            again = [
                mark | {"x": 0.0, "end": mark["end"] - mark["x"], "to_x": None, "again": True}
                for mark in kept
            ]
            before = dict(zip((mark["node"] for mark in kept), again))
            bands.append(again)
            left = max((mark["end"] for mark in again), default=0.0) + BETWEEN
        here = {
            node["node"]: mark_of(node, height, left, before.get(node["parent"]), best)
            for height, node in enumerate(some)
        }
        bands[-1] += here.values()
        before, left = here, left + wide
    return bands


def mark_of(node: Record, height: int, left: float, parent: Row | None, best: set[int]) -> Row:
    """A candidate at its place, with the line that leads to it."""
    words = words_of(node)
    return {
        "node": node["node"],
        "symbol": symbol(node["symbol"], 40),
        "words": words,
        "step": node["step"] + 1,
        "log_prob": node["log_prob"],
        "score": node["score"],
        "fate": node["fate"],
        "best": node["node"] in best,
        "again": False,
        "height": height,
        "x": left,
        "y": STEP * (height + 0.5),
        "end": left + LETTER * len(words) + 4,
        "from_x": None if parent is None else parent["end"],
        "from_y": None if parent is None else parent["y"],
        "to_x": None if parent is None else left - 3,
    }


def words_of(node: Record) -> str:
    """A candidate: its symbol and the log-probability up to it, or that it ended and its score."""
    if node["score"] is not None:
        return f"end: score {node['score']:.2f}"
    return f"{symbol(node['symbol'], 12)} ({node['log_prob']:.2f})"


def title_of(record: Record) -> str:
    """What was searched, and what was found."""
    target = record["results"][0]["target"] if record["results"] else "nothing"
    return f"Beam of {record['beam']}: {short(target, 40)}"


def said_of_tree(record: Record) -> str:
    """What one sees, and what is left out."""
    says = (
        "Step by step, each candidate (its log-probability so far), the likeliest on top: kept "
        "ones strong, pruned ones faint, ended ones with their score; the path of the best is thick."
    )
    deep = 1 + max(node["step"] for node in record["nodes"])
    many = len([node for node in record["nodes"] if node["step"] < DEEP])
    if deep > DEEP:
        says += f" The first {DEEP} of {deep} steps are drawn."
    if many > MOST:
        says += f" The first {MOST} of {many} candidates are drawn."
    return says


def plain_marks(marks: list[Row]) -> list[Row]:
    """The candidates as a table."""
    kept = ("step", "symbol", "log_prob", "score", "fate")
    return [{key.replace("_", " "): mark[key] for key in kept} for mark in marks]


# -- errors by length
def lengths(record: Record) -> Chart:
    """How many targets are exact, and below how many edits a symbol of the others needs, by the
    length of the source: a record of `evaluate`."""
    import altair as alt

    rows = [row for each in record["by_length"] for row in length_rows(each)]
    if not rows:
        raise RunError("there is nothing to draw", got="no source that was measured")
    panels = []
    bare = alt.Axis(labels=False, ticks=False, title=None)
    under = {EXACT: bare, EDITS: alt.Axis(title="symbols of the source")}
    for kind, style, form in ((EXACT, "accent", ".1%"), (EDITS, "ink", ".3g")):
        some = [row for row in rows if row["kind"] == kind]
        share = kind == EXACT
        top = 1.04 if share else 1.04 * max(0.1, *(row["figure"] for row in some), 0.0)
        axis = alt.Axis(format=".0%") if share else alt.Axis(tickCount=4)
        scale = alt.Scale(domain=[0, top], nice=False)
        bounds = [alt.Tooltip(f"{name}:Q", format=form) for name in ("low", "high")]
        base = alt.Chart(values(some)).encode(
            x=alt.X("length:Q", axis=under[kind], scale=alt.Scale(zero=False)),
            y=alt.Y("figure:Q", title=kind, axis=axis, scale=scale),
            tooltip=[
                alt.Tooltip("lengths:N", title="symbols of the source"),
                alt.Tooltip("figure:Q", title=kind, format=form),
                *(bounds if share else []),
                alt.Tooltip("sources:Q", format=","),
            ],
        )
        rule = base.mark_rule(style=f"{style}-line", strokeWidth=1.5)
        layers = [rule.encode(y="low:Q", y2="high:Q")] if share else []
        layers += [base.mark_line(style=f"{style}-line")]
        layers += [base.mark_point(filled=True, size=36, opacity=1, style=style)]
        panels.append(alt.layer(*layers, height=HEIGHT if share else BELOW))
    many = sum(each["sources"] for each in record["by_length"])
    says = (
        f"Of {many:,} sources, by their length: the share of exact targets with its 95 % interval "
        "(higher is better); below, edits per symbol of the target (lower is better; above 1 where "
        "what is written is longer than the target)."
    )
    title = f"{record['model']}: {short(record['data'], 36)}"
    return Chart(alt.vconcat(*panels), title, says, plain_lengths(record))


def length_rows(each: Record) -> list[Row]:
    """Two marks for sources of similar length."""
    about = {
        "length": (each["from"] + each["to"]) / 2,
        "lengths": f"{each['from']} to {each['to']}",
        "sources": each["sources"],
    }
    low, high = wilson(round(each["exact"] * each["sources"]), each["sources"])
    exact = {"kind": EXACT, "figure": each["exact"], "low": low, "high": high}
    return [about | exact, about | {"kind": EDITS, "figure": each["token_error"]}]


def plain_lengths(record: Record) -> list[Row]:
    """The shares as a table."""
    rows = []
    for each in record["by_length"]:
        low, high = wilson(round(each["exact"] * each["sources"]), each["sources"])
        rows.append(
            {
                "from": each["from"],
                "to": each["to"],
                "sources": each["sources"],
                "exact": each["exact"],
                "low": low,
                "high": high,
                "edits per symbol": each["token_error"],
            }
        )
    return rows
