"""Pictures of vectors and of what is written from them.

    latent          a mark for each sequence where its vector lies, by principal components
    interpolation   what lies between two sequences, or in the grid between four: drawings, numbers,
                    melodies or texts
    drawings        what was generated: drawings side by side, numbers as lines, melodies as rolls
    roll            melodies that were generated, one above the other
    reconstruction  each sequence as it was, and written again under it
    completion      the ways in which the beginning of a drawing went on

Shapes: S sequences, L latent, T points of a drawing.
"""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np

from seriatim.data.formats.strokes import resized, strokes_of
from seriatim.errors import RunError
from seriatim.records import Record, array_of
from seriatim.show.charts import MONOSPACE, Chart, Row, domain_of, readable, short, values
from seriatim.show.files import MELODY
from seriatim.show.places import BETWEEN, HEIGHT, VIEWS, name_texts, place_names
from seriatim.show.rolls import MOST_ROLLS, bars_of_melody, cut_short, rolls

MOST_MARKS, MOST_DRAWINGS, MOST_POINTS = 3000, 64, 5000
CELL, LARGEST = 110, 180  # pixels at most; of one or two
SIDE, MARGIN = 0.84, 0.08  # of a cell: the drawing, and what is left free around it
LINE, LETTERS, LETTER, LEFT = 17, 44, 6.65, 44  # of texts: heights and widths in pixels
SHAPES = ("circle", "cross", "triangle-up", "square")
PLURALS = ("circles", "crosses", "triangles", "squares")
COLOURS = 7  # that can be told apart
OTHERS = "others"

Item = dict[str, Any]


def title_of(record: Record, words: str) -> str:
    """Whose sequences, and what they are."""
    return f"{Path(str(record.get('run') or record['model'])).name}: {words}"


def kind_of(record: Record) -> str:
    """What was written: drawings, other numbers, melodies, or texts."""
    items = record["items"]
    if not items:
        raise RunError("there is nothing to draw", got="no sequences")
    if "numbers" in items[0]:
        return "drawings" if all(is_drawing(each["numbers"]) for each in items) else "numbers"
    return "melodies" if are_melodies(each["text"] for each in items) else "texts"


def are_melodies(texts: Iterable[str]) -> bool:
    """Whether all that is written are notes."""
    some = [text for text in texts if text.strip()]
    return bool(some) and all(MELODY.fullmatch(text) for text in some)


def is_drawing(rows: Any) -> bool:
    """Whether numbers are movements of a pen: (dx, dy, lifted)."""
    rows = array_of(rows)
    return bool(rows.ndim == 2 and rows.shape[1] == 3 and np.isin(rows[:, 2], (0, 1)).all())


# -- vectors
def latent(record: Record) -> Chart:
    """Vectors in the plane of their first two principal components, with labels where the data
    have them; otherwise some of the texts."""
    import altair as alt

    rows, shares = marks_of(record)
    across, up = (domain_of([row[key] for row in rows], 0.08) for key in ("x", "y"))
    labels = [
        name for name, _ in Counter(row["label"] for row in rows if row["label"]).most_common()
    ]
    known = labels[: COLOURS * len(SHAPES)]
    for row in rows:
        place = known.index(row["label"]) if row["label"] in known else -1
        row["colour"] = str(place % COLOURS) if place >= 0 else OTHERS
        row["shape"] = SHAPES[place // COLOURS] if place >= 0 else "circle"
    x = alt.X("x:Q", scale=alt.Scale(domain=list(across), nice=False, zero=False), axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=list(up), nice=False, zero=False), axis=None)
    base = alt.Chart(values(rows)).encode(x=x, y=y, tooltip=["label:N", "text:N", "number:Q"])
    view = alt.layer(
        alt.layer(*marks_by_label(base, 26 if len(known) <= COLOURS else 44)),
        *(names_of_labels(rows, known, x, y, (across, up)) if known else []),
        *([] if known else names_of_texts(rows, x, y, (across, up))),
        height=HEIGHT,
    )
    shown = [{key: row[key] for key in ("number", "label", "text", "x", "y")} for row in rows]
    return Chart(
        view, title_of(record, "vectors"), said_of_vectors(record, rows, known, shares), shown
    )


def marks_of(record: Record) -> tuple[list[Row], list[float]]:
    """A row for each sequence where its vector lies, and the share of the variance along both
    directions; of very many sequences some, evenly spread."""
    items = record["items"]
    if not items:
        raise RunError("there is nothing to draw", got="no sequences")
    vectors = np.array([each["vector"] for each in items])  # (S, L)
    vectors = np.pad(vectors - vectors.mean(0), ((0, 0), (0, 2)))
    _, size, right = np.linalg.svd(vectors, full_matrices=False)
    plane = vectors @ np.pad(right, ((0, 2), (0, 0)))[:2].T  # (S, 2)
    shares = np.append(size**2, [0, 0])[:2] / max(float((size**2).sum()), 1e-12)
    some = np.unique(
        np.linspace(0, len(items) - 1, min(MOST_MARKS, len(items))).round().astype(int)
    )
    rows = [
        {
            "number": s + 1,
            "x": round(float(plane[s, 0]), 5),
            "y": round(float(plane[s, 1]), 5),
            "label": short(items[s].get("label", "")),
            "text": short(items[s].get("text", ""), 60),
        }
        for s in some.tolist()
    ]
    return rows, shares.tolist()


def marks_by_label(base: Any, size: int, opacity: float = 0.7) -> list[Any]:
    """Marks by colour and shape; those without a label of their own in grey."""
    grey = base.mark_point(size=size, filled=True, opacity=opacity, style="soft")
    coloured = [
        base.mark_point(size=size, filled=True, opacity=opacity, shape=shape)
        .encode(color=by_label())
        .transform_filter(f"datum.shape == '{shape}' && datum.colour != '{OTHERS}'")
        for shape in SHAPES
    ]
    return [grey.transform_filter(f"datum.colour == '{OTHERS}'"), *coloured]


def by_label() -> Any:
    """The colour of a label."""
    import altair as alt

    numbers = [str(n) for n in range(COLOURS)]
    return alt.Color("colour:N", scale=alt.Scale(domain=numbers, range="category"), legend=None)


def names_of_labels(rows: list[Row], labels: list[str], x: Any, y: Any, domains: Any) -> list[Any]:
    """Each label where its marks are densest, on a ground that keeps it legible."""
    import altair as alt

    found = [densest([row for row in rows if row["label"] == label]) for label in labels]
    found = [row | {"size": 12.5} for row in found]
    place_names(found, labels, domains, reach=5)
    base = alt.Chart(values(found)).encode(x=x, y=y)
    told = base.encode(text="label:N")
    ground = name_texts(told, "paper", strokeWidth=4, strokeJoin="round", fontWeight="bold")
    names = name_texts(told.encode(color=by_label()), "ink-text", fontWeight="bold")
    return [alt.layer(*marks_by_label(base, 90, 1.0), *ground, *names)]


def densest(rows: list[Row]) -> Row:
    """The mark whose nearest others are nearest."""
    rows = rows[:: 1 + len(rows) // 500]
    points = np.array([[row["x"], row["y"]] for row in rows])
    far = np.hypot(*(points[:, None] - points).transpose(2, 0, 1))  # (S, S)
    near = np.sort(far, 1)[:, : 1 + max(1, len(rows) // 4)]
    return rows[int(near.mean(1).argmin())]


def names_of_texts(rows: list[Row], x: Any, y: Any, domains: Any) -> list[Any]:
    """Some of the texts, where there is room."""
    import altair as alt

    some = [row | {"size": 10.5, "name": short(row["text"], 26)} for row in rows if row["text"]]
    if not some:
        return []
    some = some[:: max(1, len(some) // 150)]
    place_names(some, [row["name"] for row in some], domains)
    base = alt.Chart(values(some)).encode(x=x, y=y, text="name:N")
    return name_texts(base, "ink-text")


def said_of_vectors(record: Record, rows: list[Row], labels: list[str], shares: list[float]) -> str:
    """What is near and what is far."""
    many = len(record["items"])
    part = f" {len(rows):,} of {many:,} are drawn." if len(rows) < many else ""
    told = " Each label is named where its marks are densest, in their colour." if labels else ""
    if len(labels) > COLOURS:
        shapes = ", ".join(PLURALS[: math.ceil(len(labels) / COLOURS)])
        told += f" Colours come again every {COLOURS} labels, with other marks: {shapes}."
    if any(row["label"] and row["colour"] == OTHERS for row in rows):
        told += f" The {len(labels)} most frequent labels are drawn so, the rest in grey."
    return (
        f"The vectors of {many:,} sequences in the plane in which they differ most "
        f"({100 * sum(shares):.0f} % of the variance): near ones are alike.{told}{part}"
    )


# -- what was written
def interpolation(record: Record) -> Chart:
    """The way from one sequence to another, or the grid between four."""
    kind, columns = kind_of(record), record.get("columns")
    many = len(record["items"])
    if kind == "texts":
        return strip(record)
    way = (
        f"A grid between four sequences at its corners, {columns} by {many // columns}: "
        "each is written from a vector between theirs."
        if columns
        else f"From the first of two sequences to the second in {many} equal steps: each is "
        "written from a vector between theirs."
    )
    if kind == "drawings":
        return sheet(record, record["items"], way, "between", columns=columns)
    names = [f"{100 * i / max(1, many - 1):.0f} % of the way" for i in range(many)]
    if kind == "melodies":
        return melodies(record, "between", f"{way} {SAID_OF_ROLLS}", names)
    return curves(record, f"{way} Numbers over their steps.", "between")


def drawings(record: Record) -> Chart:
    """What was generated, as it is best seen."""
    return written(record, "generated from vectors drawn at random", "generated")


def completion(record: Record) -> Chart:
    """The ways in which a beginning went on; what was there is grey."""
    return written(record, "with the same beginning (grey)", "completed")


def written(record: Record, words: str, title: str) -> Chart:
    """Drawings, numbers or melodies; texts are read, not looked at."""
    kind, many = kind_of(record), len(record["items"])
    end = "s" * (many != 1)
    if kind == "drawings":
        return sheet(record, record["items"], f"{many} drawing{end} {words}.", title)
    if kind == "numbers":
        return curves(record, f"{many} sequence{end} of numbers {words}, over their steps.", title)
    return roll(record)


def roll(record: Record) -> Chart:
    """Melodies, one above the other."""
    if kind_of(record) != "melodies":
        raise RunError(
            "only melodies have a roll",
            got=f"{kind_of(record)}",
            do="Fit a model to tunes; drawings are drawn by --what drawings, and texts are read",
        )
    labels = labels_of(record["items"])
    names = [label or f"melody {i}" for i, label in enumerate(labels, 1)]
    return melodies(record, "melodies", SAID_OF_ROLLS, names)


def labels_of(items: Sequence[Item]) -> list[str]:
    """What each sequence is conditioned on; blank where it is on nothing."""
    return [", ".join(map(readable, each.get("condition", {}).values())) for each in items]


SAID_OF_ROLLS = "Each note a bar: time runs across in whole notes, pitch upwards."


def melodies(record: Record, title: str, says: str, names: list[str]) -> Chart:
    """Rolls of all melodies, of many the first."""
    pieces = [bars_of_melody(each["text"]) for each in record["items"]]
    view = rolls(pieces, names, "whole notes", pitched=True)
    rows = [
        {"melody": name} | {key: bar[key] for key in ("note", "from", "to")}
        for name, bars in zip(names[:MOST_ROLLS], pieces)
        for bar in bars
    ]
    return Chart(view, title_of(record, title), says + cut_short(pieces, "whole notes"), rows)


def reconstruction(record: Record) -> Chart:
    """Sequences as they were and, below each, written again."""
    kind = kind_of(record)
    if kind == "drawings":
        pairs = [
            half
            for each in record["items"]
            for half in ({"numbers": each["original"], "original_of": True}, each)
        ]
        says = "Drawings as they were (grey) and, below each, drawn again from its vector."
        return sheet(record, pairs, says, "written again", tall=2)
    both = [
        {"text": text}
        for each in record["items"]
        for text in (each.get("original", ""), each.get("text", ""))
    ]
    if kind == "melodies" and are_melodies(each["text"] for each in both):
        names = [f"melody {i // 2 + 1}{', again' if i % 2 else ''}" for i in range(len(both))]
        says = (
            f"Melodies as they were and, below each, written again from its vector. {SAID_OF_ROLLS}"
        )
        return melodies(record | {"items": both}, "written again", says, names)
    if kind == "numbers":
        return curves(
            record, "Sequences of numbers written again from their vectors.", "written again"
        )
    return strip(record | {"items": both}, again=True)


# -- drawings
def sheet(record: Record, items: Sequence[Item], says: str, title: str, **layout: Any) -> Chart:
    """Drawings side by side, in one view: each in its cell, as large as that allows."""
    import altair as alt

    plan = Sheet(len(items), **layout)
    points = points_of(items[: plan.many], plan.tall, record.get("begun") or 0)
    base = plan.placed(alt.Chart(values(points))).encode(
        detail="stroke:N", order="order:Q", tooltip="drawing:Q"
    )
    layers = [
        mark.transform_filter(f"datum.given == {given}")
        for given, style in (("true", "soft"), ("false", "ink"))
        for mark in (
            base.mark_line(style=f"{style}-line", strokeWidth=1.6).transform_filter("!datum.dot"),
            base.mark_point(style=style, filled=True, size=6).transform_filter("datum.dot"),
        )
    ]
    labels = labels_of(items[: plan.many])
    if len(set(labels)) > 1:
        names = [
            {"unit": unit, "u": 0.5, "v": 0.97, "label": short(label, 14)}
            for unit, label in enumerate(labels)
        ]
        text = plan.placed(alt.Chart(values(names))).encode(text="label:N")
        layers.append(text.mark_text(style="soft-text", fontSize=10))
    view = alt.layer(alt.layer(*layers[:4]), *layers[4:], height=plan.height)
    part = f" The first {plan.many} of {len(items)}." if plan.many < len(items) else ""
    rows = [{key: point[key] for key in ("drawing", "stroke", "u", "v")} for point in points]
    return Chart(view, title_of(record, title), says + part, rows)


class Sheet:
    """Where drawings stand: some cells above each other are a unit, units run in rows. A narrow
    picture has fewer in a row, so that it is about as high as a wide one."""

    def __init__(self, items: int, tall: int = 1, columns: int | None = None):
        self.tall = tall
        self.many = min(items, MOST_DRAWINGS // tall * tall)
        if columns:  # a grid stays one
            self.many = items if items <= 2 * MOST_DRAWINGS else columns * columns
        units = -(-self.many // tall)
        wide = columns or units if units <= 8 else 6 if units <= 24 else 8
        self.columns = {"wide": columns or wide, "narrow": columns or wide}
        largest = 1.15 * VIEWS["narrow"] / columns if columns else LARGEST
        self.largest = min(CELL if units > 2 else LARGEST, largest)
        self.height = self.high(units, "wide")
        if not columns:
            fits = [n for n in range(2, wide + 1) if self.high(units, "narrow", n) <= self.height]
            self.columns["narrow"] = min(fits, default=wide)
        self.units = units

    def high(self, units: int, view: str, columns: int | None = None) -> int:
        """Pixels from the first row to the last."""
        columns = columns or self.columns[view]
        side = min(self.largest, VIEWS[view] / columns)
        return round(-(-units // columns) * self.tall * side)

    def placed(self, chart: Any) -> Any:
        """A chart whose marks stand in their cells: `unit` says in which, `u` and `v` where."""
        import altair as alt

        columns = f"(width > {BETWEEN} ? {self.columns['wide']} : {self.columns['narrow']})"
        side = f"min({self.largest:.1f}, width / {columns})"
        moved = chart.transform_calculate(
            x=f"(datum.unit % {columns} + datum.u) * {side}",
            y=f"(floor(datum.unit / {columns}) * {self.tall} + datum.v) * {side}",
        )
        return moved.encode(
            x=alt.X("x:Q", scale=None, axis=None), y=alt.Y("y:Q", scale=None, axis=None)
        )


def points_of(items: Sequence[Item], tall: int, begun: int) -> list[Row]:
    """The points of all drawings, each in its cell; a dot is a stroke of one point."""
    found: list[Row] = []
    for place, item in enumerate(items):
        drawing = array_of(item["numbers"]).reshape(-1, 3)
        if not len(drawing) or not np.isfinite(drawing).all():
            continue
        seen, given = 0, bool(item.get("original_of"))
        for number, stroke in enumerate(strokes_of(resized(drawing, SIDE)), 1):
            name = f"{place + 1}.{number}"
            corner = (MARGIN, MARGIN + place % tall)
            for order, (u, v) in enumerate((stroke + corner).round(4).tolist()):
                seen += 1
                point = {"unit": place // tall, "drawing": place + 1, "u": u, "v": v}
                point |= {"stroke": name, "order": order, "dot": len(stroke) == 1}
                found.append(point | {"given": given or seen <= begun})
                if seen == begun and order + 1 < len(stroke):  # the pen goes on from here
                    name = f"{name}+"
                    found.append(point | {"stroke": name, "given": given})
    return found


# -- other numbers
def curves(record: Record, says: str, title: str) -> Chart:
    """A line for each sequence over its steps, a panel for each channel; the first in the accent."""
    import altair as alt

    arrays = [array_of(each["numbers"]) for each in record["items"]]
    arrays = [each.reshape(len(each), -1) for each in arrays][:MOST_ROLLS]
    channels = min(4, arrays[0].shape[1])
    panels, rows = [], []
    for channel in range(channels):
        some = [
            {"sequence": i + 1, "step": t + 1, "channel": channel + 1, "value": value}
            for i, array in enumerate(arrays)
            for t, value in enumerate(array[: MOST_POINTS // len(arrays), channel].tolist())
        ]
        rows += some
        base = alt.Chart(values(some)).encode(
            x=alt.X("step:Q", title="step"),
            y=alt.Y("value:Q", title=f"channel {channel + 1}", scale=alt.Scale(zero=False)),
            detail="sequence:N",
            tooltip=["sequence:Q", "step:Q", alt.Tooltip("value:Q", format=".4g")],
        )
        panels.append(
            alt.layer(
                base.mark_line(style="soft-line", strokeWidth=1).transform_filter(
                    "datum.sequence > 1"
                ),
                base.mark_line(style="accent-line").transform_filter("datum.sequence == 1"),
                height=max(90, 240 // channels),
            )
        )
    more = f" The first {len(arrays)} of {len(record['items'])}." * (
        len(arrays) < len(record["items"])
    )
    view = panels[0] if len(panels) == 1 else alt.vconcat(*panels, spacing=10)
    return Chart(view, title_of(record, title), f"{says} The first in colour.{more}", rows)


# -- texts
def strip(record: Record, again: bool = False) -> Chart:
    """Texts below each other; words that the one before does not have are in colour."""
    import altair as alt

    texts = [readable(each["text"]) for each in record["items"]][:MOST_DRAWINGS]
    many = len(texts)
    pieces: list[Row] = []
    lines = 0.0
    for place, text in enumerate(texts):
        before = texts[place - 1] if place and (not again or place % 2) else None
        words = new_words(before, text)
        told = (
            ("again" if place % 2 else f"{place // 2 + 1}")
            if again
            else f"{100 * place / max(1, many - 1):.0f} %"
        )
        pieces.append({"x": LEFT - 10, "y": (lines + 0.5) * LINE, "word": told, "role": "place"})
        laid, lines = laid_out(words, lines)
        pieces += laid
        lines += 0.3 if not again or place % 2 == 0 else 0.8
    base = alt.Chart(values(pieces)).encode(
        x=alt.X("x:Q", scale=None, axis=None), y=alt.Y("y:Q", scale=None, axis=None), text="word:N"
    )
    view = alt.layer(
        base.mark_text(align="right", style="soft-text").transform_filter("datum.role == 'place'"),
        *(
            base.mark_text(align="left", style=style, font=MONOSPACE).transform_filter(
                f"datum.role == '{role}'"
            )
            for style, role in (("ink-text", "old"), ("accent-text", "new"))
        ),
        height=round(lines * LINE),
    )
    says = (
        "Texts as they were and, below each, written again from its vector; words that differ are "
        "in colour."
        if again
        else "What is written from the vectors between two texts, in equal steps; words that the "
        "text before does not have are in colour."
    )
    rows = [{"place": i + 1, "text": text} for i, text in enumerate(texts)]
    return Chart(view, title_of(record, "written again" if again else "between"), says, rows)


def new_words(before: str | None, text: str) -> list[tuple[str, bool]]:
    """The words of a text, and whether each is new against the text before.

    >>> new_words("the cat sleeps", "the dog sleeps")
    [('the', False), ('dog', True), ('sleeps', False)]
    """
    words = text.split()
    if before is None:
        return [(word, False) for word in words]
    kept: set[int] = set()
    for block in SequenceMatcher(None, before.split(), words, autojunk=False).get_matching_blocks():
        kept |= set(range(block.b, block.b + block.size))
    return [(word, place not in kept) for place, word in enumerate(words)]


def laid_out(words: list[tuple[str, bool]], line: float) -> tuple[list[Row], float]:
    """Words in lines of so many letters, from this line on; and the line after them."""
    found: list[Row] = []
    at = 0
    for word, new in words:
        for part in textwrap.wrap(word, LETTERS) or [""]:
            if at and at + len(part) > LETTERS:
                at, line = 0, line + 1
            where = {"x": round(LEFT + at * LETTER, 1), "y": (line + 0.5) * LINE}
            found.append(where | {"word": part, "role": "new" if new else "old"})
            at += len(part) + 1
    return found, line + 1
