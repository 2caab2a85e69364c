"""The picture of an audit: how long sequences are, how fast new symbols come, how often each label
or tag occurs, and what comes again; a panel each, those left out that do not apply."""

from __future__ import annotations

import math
from typing import Any

from seriatim.errors import RunError
from seriatim.records import Record
from seriatim.show.charts import NARROW, Chart, Row, powers, readable, short, spread, values

MOST_FILES = 6  # that have a colour each
MOST_CLASSES = 20
MOST_PAIRS = 12  # bars of copies
LENGTHS, GROWTH = 84, 190  # pixels of panels
BAR = 11  # pixels of a bar
NAME, FILE, TIGHT = (
    14,
    20,
    10,
)  # letters of a label beside its bars, of a file, of one beside others
ALL = "or longer"


def audit(record: Record) -> Chart:
    """What data are like, of a record of `check`."""
    import altair as alt

    files = files_of(record)
    kind = classes_of(files)
    parts = {
        "how long sequences are": lengths(files),
        "how the vocabulary grows": growth(files),
        f"how often each {noun_of(kind)} occurs": balance(files, kind),
        "what comes again": copies(record, files),
    }
    panels = [panel for found, _ in parts.values() for panel in found]
    rows = [row for _, some in parts.values() for row in some]
    shown = [words for words, (found, _) in parts.items() if found]
    told = ", ".join(shown[:-1]) + " and " * (len(shown) > 1) + shown[-1]
    says = f"{told[0].upper()}{told[1:]}"
    says += "; each file has its colour." if len(files) > 1 else "."
    if not parts["what comes again"][0]:
        says += " There are no copies."
    if len(record["files"]) > len(files):
        says += f" {len(files)} of {len(record['files']):,} files are drawn."
    title = ", ".join(each["name"] for each in record["files"])
    return Chart(alt.vconcat(*panels, spacing=18), title, says, rows)


def files_of(record: Record) -> list[Row]:
    """The files that are drawn, each with its place and a name as long as there is room."""
    found: list[Row] = []
    for place, each in enumerate(record["files"][:MOST_FILES]):
        label = apart(both_ends(each["name"]), [other["label"] for other in found], FILE)
        found.append(each | {"place": place, "label": label})
    if not found:
        raise RunError(
            "there is nothing to draw",
            got="no file that could be read",
            do="See `seriatim check FILE` for what is wrong",
        )
    return found


def both_ends(name: str, longest: int = FILE) -> str:
    """The name of a file as long as there is room: files of one set differ at the end."""
    name, end = readable(name), longest // 2
    return name if len(name) <= longest else f"{name[: longest - end - 1]}…{name[-end:]}"


def classes_of(files: list[Row]) -> str:
    """Whether files have labels or tags; "" for neither."""
    return next((kind for kind in ("classes", "tags") for each in files if each.get(kind)), "")


def coloured(files: list[Row]) -> Any:
    """A colour for each file, the same in all panels."""
    import altair as alt

    domain = [each["place"] for each in files]
    return alt.Color("place:N", scale=alt.Scale(domain=domain), legend=None)


def headed(words: str) -> Any:
    """What a panel shows, above it."""
    import altair as alt

    return alt.TitleParams(words, anchor="start", frame="group", fontSize=11, offset=5)


# -- lengths
def lengths(files: list[Row]) -> tuple[list[Any], list[Row]]:
    """A histogram for each file, along the same axis; the last bar takes all that is longer."""
    rows = [row for each in files for row in histogram(each)]
    low, high = (
        (min(row["from"] for row in rows), max(row["to"] for row in rows)) if rows else (0, 1)
    )
    panels = [length_panel(each, files, rows, (low, high)) for each in files]
    table = [
        {"panel": "lengths", "file": row["file"], "what": row["length"], "value": row["share"]}
        for row in rows
    ]
    return panels, table


def histogram(each: Row) -> list[Row]:
    """The bars of one file."""
    edges, counts = (each["length"]["histogram"][key] for key in ("edges", "counts"))
    step, total = edges[1] - edges[0], max(1, sum(counts))
    rows = []
    for begin, end, count in zip(edges, edges[1:], counts):
        rest = end - begin > step
        last = min(end, begin + step)
        words = (
            f"{begin:,} {ALL}"
            if rest
            else f"{begin:,}"
            if step == 1
            else f"{begin:,} to {end - 1:,}"
        )
        rows.append(
            {
                "place": each["place"],
                "file": each["label"],
                "length": words,
                "from": begin - 0.5,
                "to": last - 0.5,
                "sequences": count,
                "share": count / total,
                "zero": 0,
                "rest": rest,
            }
        )
    while rows and not rows[-1]["sequences"]:
        rows.pop()
    return rows


def length_panel(each: Row, files: list[Row], rows: list[Row], domain: tuple[float, float]) -> Any:
    """The histogram of one file, its name in its corner."""
    import altair as alt

    own = [row for row in rows if row["place"] == each["place"]]
    last = each is files[-1]
    unit = f"{each['unit']}s of a sequence"
    x = alt.X(
        "from:Q",
        title=unit if last else None,
        scale=alt.Scale(domain=list(domain), nice=False, zero=False),
        axis=alt.Axis(tickMinStep=1) if last else alt.Axis(labels=False, ticks=False),
    )
    most = max((row["share"] for row in own), default=1.0)
    scale = alt.Scale(domain=[0, most * 1.35], nice=False)  # room for the name
    bars = (
        alt.Chart(values(own))
        .mark_rect()
        .encode(
            x=x,
            x2="to:Q",
            y=alt.Y("share:Q", title=None, scale=scale, axis=alt.Axis(format="~%", tickCount=2)),
            y2="zero:Q",
            color=coloured(files),
            opacity=alt.condition("datum.rest", alt.value(0.5), alt.value(0.9)),
            tooltip=[
                "file:N",
                alt.Tooltip("length:N", title=unit),
                alt.Tooltip("sequences:Q", format=","),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
    )
    median = each["length"]["median"]
    words = f"{each['label']}: {each['sequences']:,} sequences, median {median:,.0f}"
    corner = [{"place": each["place"], "words": words, "median": median}]
    name = (
        alt.Chart(values(corner))
        .mark_text(align="right", baseline="top", fontSize=11)
        .encode(x=alt.value("width"), y=alt.value(0), text="words:N", color=coloured(files))
    )
    settings = {"title": headed("How long sequences are")} if each is files[0] else {}
    return alt.layer(bars, name, height=LENGTHS, **settings)


# -- vocabulary
def growth(files: list[Row]) -> tuple[list[Any], list[Row]]:
    """Different symbols over symbols read, both as logarithms, with names at the ends."""
    import altair as alt

    rows, begin, most = growth_rows(files)
    if len(rows) < 2 or most < 2:
        return [], []
    unit = files[0]["unit"]
    top = max(row["different"] for row in rows)
    low = min(row["different"] for row in rows)
    wide = (begin, most * (most / begin) ** 0.2)  # room for the names
    tall = (max(1, low * 0.8), max(top, 2) * 1.25)
    x = alt.X(
        "read:Q",
        title=f"{unit}s read",
        scale=alt.Scale(type="log", domain=list(wide), nice=False),
        axis=alt.Axis(values=powers(begin, most), format="~s"),
    )
    y = alt.Y(
        "different:Q",
        title=None,
        scale=alt.Scale(type="log", domain=list(tall), nice=False),
        axis=alt.Axis(values=powers(*tall), format="~s"),
    )
    tips: Any = [
        "file:N",
        alt.Tooltip("read:Q", format=","),
        alt.Tooltip("different:Q", format=","),
    ]
    lines = (
        alt.Chart(values(rows)).mark_line().encode(x=x, y=y, color=coloured(files), tooltip=tips)
    )
    ends = [
        row
        for row, after in zip(rows, [*rows[1:], None])
        if not after or after["place"] != row["place"]
    ]
    place_names(ends, wide, tall, len(files) > 1)
    base = alt.Chart(values(ends)).encode(x=x, color=coloured(files), tooltip=tips)
    dots = base.mark_point(filled=True, size=26, opacity=1).encode(y=y)
    leaders = base.mark_rule(strokeWidth=0.6).encode(
        x=alt.X("read:Q"), x2="name_at_x:Q", y=y, y2="name_at:Q"
    )
    names = base.mark_text(align="left", baseline="middle", dx=3, fontSize=11).encode(
        x=alt.X("name_at_x:Q"), y=alt.Y("name_at:Q"), text="written:N"
    )
    panel = alt.layer(
        lines, leaders, dots, names, height=GROWTH, title=headed(f"Different {unit}s after so many")
    )
    table = [
        {"panel": "vocabulary", "file": row["file"], "what": row["read"], "value": row["different"]}
        for row in rows
    ]
    return [panel], table


def growth_rows(files: list[Row]) -> tuple[list[Row], int, int]:
    """The points of each file, from how many symbols on they are shown, and up to how many."""
    most = max((max(each["growth"]["symbols"], default=0) for each in files), default=0)
    begin = 10 if most >= 1000 else 1
    rows = [
        {"place": each["place"], "file": each["label"], "read": read, "different": different}
        for each in files
        for read, different in zip(each["growth"]["symbols"], each["growth"]["different"])
        if read >= begin
    ]
    return rows, begin, most


def place_names(
    ends: list[Row], wide: tuple[float, float], tall: tuple[float, float], named: bool
) -> None:
    """The name of each line a little to the right of its end and below it, none upon another."""
    deep = math.log(tall[1] / tall[0]) / GROWTH  # of a pixel
    across = math.log(wide[1] / wide[0]) / (NARROW - 130)
    wished = [math.log(tall[1] / row["different"]) / deep + 12 for row in ends]
    for row, place in zip(ends, spread(wished, 13, 8, GROWTH - 8)):
        row["name_at"] = tall[1] / math.exp(place * deep)
        row["name_at_x"] = row["read"] * math.exp(9 * across)
        row["written"] = f"{both_ends(row['file'], TIGHT)} " * named + f"{row['different']:,}"


# -- labels and tags
def noun_of(kind: str) -> str:
    """What is counted: one of the classes is a label, one of the tags a tag."""
    return "label" if kind in ("classes", "") else kind.removesuffix("s")


def class_rows(some: list[Row], kind: str, names: list[str]) -> list[Row]:
    """How often each of some labels occurs in each file, under a name that no other is shown as."""
    written: list[str] = []
    for name in names:
        written.append(apart(short(name, NAME), written))
    rows = [
        {
            "place": each["place"],
            "file": each["label"],
            "label": words,
            "name": readable(name),
            "times": each[kind].get(name, 0),
            "share": each[kind].get(name, 0) / max(1, sum(each[kind].values())),
        }
        for name, words in zip(names, written)
        for each in some
    ]
    return [row | {"written": f"{100 * row['share']:.1f} %"} for row in rows]


def balance(files: list[Row], kind: str) -> tuple[list[Any], list[Row]]:
    """How often each label or tag occurs, bars of each file below each other."""
    import altair as alt

    some = [each for each in files if kind and each.get(kind)]
    if not some:
        return [], []
    names = list(dict.fromkeys(name for each in some for name in each[kind]))
    shown = names[:MOST_CLASSES]
    rows = class_rows(some, kind, shown)
    most = max(row["share"] for row in rows) or 1.0
    order = alt.YOffset("place:N", scale=alt.Scale(domain=[each["place"] for each in some]))
    base = alt.Chart(values(rows)).encode(
        y=alt.Y(
            "label:N",
            sort=None,
            title=None,
            scale=alt.Scale(paddingInner=0.3, paddingOuter=0.1),
            axis=alt.Axis(ticks=False, domain=False, labelLimit=96),
        ),
        yOffset=order,
        color=coloured(files),
        tooltip=[
            "file:N",
            alt.Tooltip("name:N", title=noun_of(kind)),
            alt.Tooltip("times:Q", format=","),
            alt.Tooltip("share:Q", format=".2%"),
        ],
    )
    x = alt.X(
        "share:Q",
        title=None,
        scale=alt.Scale(domain=[0, most * 1.2], nice=False),
        axis=alt.Axis(format="~%", tickCount=5),
    )
    bars = base.mark_bar(opacity=0.9).encode(x=x)
    text = base.mark_text(align="left", dx=4, fontSize=9).encode(x=x, text="written:N")
    noun = noun_of(kind)
    words = f"How often each {noun} occurs"
    if len(names) > len(shown):
        words += f": the first {len(shown)} of {len(names):,}"
    height = len(shown) * (BAR * len(some) + 6)
    table = [
        {"panel": noun, "file": row["file"], "what": row["name"], "value": row["share"]}
        for row in rows
    ]
    return [alt.layer(bars, text, height=height, title=headed(words))], table


def apart(words: str, taken: list[str], longest: int = NAME) -> str:
    """Words that no other label is shown as: shortened alike, they are numbered."""
    found, number = words, 1
    while found in taken:
        number += 1
        found = f"{words[: longest - 3]} {number}"
    return found


# -- copies
def copies(record: Record, files: list[Row]) -> tuple[list[Any], list[Row]]:
    """The share of sequences that come again in a file, and of those that an earlier file has."""
    import altair as alt

    found = [row for row in copied(record, files) if row["copies"] or row["nearly"]][:MOST_PAIRS]
    if not found:
        return [], []
    for place, row in enumerate(found):
        row["row"] = place
    bars: list[Row] = []
    for row in found:
        bars.append(row | {"kind": "copies", "begin": 0.0, "end": row["copies"]})
        end = row["copies"] + row["nearly"]
        bars.append(row | {"kind": "near copies", "begin": row["copies"], "end": end})
    most = max(bar["end"] for bar in bars)
    y = alt.Y("row:O", title=None, axis=None, scale=alt.Scale(paddingInner=0.64, paddingOuter=0.32))
    x = alt.X(
        "begin:Q",
        title="share of the sequences of a file",
        scale=alt.Scale(domain=[0, most * 1.02], nice=False),
        axis=alt.Axis(format="~%", tickCount=5),
    )
    tips = [
        alt.Tooltip("words:N", title="file"),
        alt.Tooltip("kind:N"),
        alt.Tooltip("copies:Q", format=".2%"),
        alt.Tooltip("nearly:Q", title="near copies", format=".2%"),
    ]
    base = alt.Chart(values(bars)).encode(x=x, x2="end:Q", y=y, tooltip=tips)
    layers = [
        base.mark_bar(style=style).transform_filter(f"datum.kind == '{kind}'")
        for kind, style in (("copies", "accent"), ("near copies", "soft"))
    ]
    text = alt.Chart(values(found)).mark_text(
        align="left", baseline="bottom", dy=-8, fontSize=11, style="ink-text"
    )
    layers.append(text.encode(x=alt.value(0), y=y, text="words:N"))
    title = headed("What comes again; grey: nearly the same")
    table = [
        {"panel": kind, "file": row["words"].split(":")[0], "what": row["words"], "value": row[key]}
        for row in found
        for kind, key in (("copies", "copies"), ("near copies", "nearly"))
    ]
    return [alt.layer(*layers, height=32 * len(found), title=title)], table


def copied(record: Record, files: list[Row]) -> list[Row]:
    """What comes again within each file, then in a later file what an earlier one has."""
    rows: list[Row] = []
    for each in files:
        again = each["duplicates"]
        words = f"{each['label']}: {percent(again['share'])} come again"
        rows.append(row_of(words, again["share"], again["near_share"]))
    sizes = {each["name"]: each["sequences"] for each in record["files"]}
    names = {each["name"] for each in files}
    for each in record["across"]:
        if each["file"] in names and each["other"] in names:
            nearly = each["near_copies"] / max(1, sizes[each["file"]])
            inside, outside = both_ends(each["other"]), both_ends(each["file"])
            words = f"{outside}: {percent(each['share'])} are in {inside}"
            rows.append(row_of(words, each["share"], nearly))
    return rows


def row_of(words: str, share: float, nearly: float) -> Row:
    """A bar of copies."""
    more = f", {percent(nearly)} nearly" if nearly else ""
    return {"words": words + more, "copies": share, "nearly": nearly}


def percent(share: float) -> str:
    """A share as people say it."""
    return f"{100 * share:.1f} %" if share >= 0.0005 or not share else "under 0.1 %"
