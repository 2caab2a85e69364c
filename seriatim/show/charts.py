"""Parts of pictures, and those that every task has: quality against time, learning curves."""

from __future__ import annotations

import io
import math
import warnings
from pathlib import Path
from typing import Any

from seriatim.errors import RunError
from seriatim.show.progress import WATCHED

INK, ACCENT, SOFT = "#22333b", "#c1440e", "#9aa5ab"


LINES = (ACCENT, INK, "#3a86a8", "#b8860b", "#6a994e", "#7b5ea7", "#a05a72", SOFT)


def new_axes(width: float = 7.0, height: float = 4.2):
    """A figure of this size in inches, in the style of the house."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#e7eaec", linewidth=0.8)
    axes.set_axisbelow(True)
    return figure, axes


def entitle(axes, title: str) -> None:
    """A name from outside is shown as it is: no formula between dollars, no byte that is not Unicode."""
    axes.set_title(readable(title), loc="left", fontsize=10, color=INK, parse_math=False)


def readable(name: str) -> str:
    """A name that can be written: no halves of surrogate pairs."""
    return name.encode("utf-8", "replace").decode()


def rendered(figure, format: str) -> bytes:
    """The figure as bytes; the same figure gives the same bytes."""
    buffer = io.BytesIO()
    import matplotlib

    unsigned = dict.fromkeys(("Creator", "Date", "Format", "Type")) if format == "svg" else None
    with (
        matplotlib.rc_context({"svg.hashsalt": "seriatim", "svg.fonttype": "none"}),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure.savefig(buffer, format=format, dpi=130, metadata=unsigned)
    return buffer.getvalue()


def quality(record: dict[str, Any], format: str = "svg") -> bytes:
    """Quality against time: each rung's figure over the seconds it was fitted for."""
    figure, axes = new_axes()
    name, better = record["figure"], "higher" if record["higher_is_better"] else "lower"
    rows = [row for row in record["rows"] if row["status"] == "ok" and row[name] is not None]
    marks: list[tuple[str, float, float, str]] = []
    for place, row in enumerate(rows):
        seconds, bits = max(row["seconds"], 0.01), row[name]
        low, high = row["interval"][name] or (None, None)
        colour = ACCENT if place == 0 else INK
        low, high = (bits, bits) if low is None else (low, high)
        axes.errorbar(
            seconds,
            bits,
            yerr=[[max(0, bits - low)], [max(0, high - bits)]],
            fmt="o",
            color=colour,
            capsize=2,
            markersize=5,
        )
        marks.append((row["model"], seconds, bits, colour))
    if record.get("entropy_bits") is not None:
        axes.axhline(record["entropy_bits"], color=SOFT, linestyle="--", linewidth=1)
        axes.annotate(
            "true entropy of the source",
            (0.99, record["entropy_bits"]),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="bottom",
            color=SOFT,
            fontsize=8,
        )
    axes.set_xscale("log")
    axes.margins(x=0.18, y=0.12)
    name_marks(axes, marks)
    axes.set_xlabel("seconds of fitting")
    axes.set_ylabel(f"{name.replace('_', ' ')} ({better} is better)")
    entitle(axes, Path(record["data"]).name)
    return rendered(figure, format)


def name_marks(axes: Any, marks: list[tuple[str, float, float, str]]) -> None:
    """A name beside each mark, from the lowest up, each above the names it would meet."""
    axes.figure.canvas.draw()  # now data have places on the paper
    scale = axes.figure.dpi / 72
    heights = {mark: axes.transData.transform(mark[1:3]) for mark in marks}
    taken: list[tuple[float, float, float]] = []  # left, right and height of the names so far
    for mark in sorted(marks, key=lambda mark: float(heights[mark][1])):
        model, x, y, colour = mark
        left, own = heights[mark]
        begin, end = left + 12 * scale, left + (12 + 5.4 * len(model)) * scale
        met = [at for low, high, at in taken if begin < high and low < end]
        height = max([own, *(at + 11 * scale for at in met if at + 11 * scale > own)])
        taken.append((begin, end, height))
        moved = (height - own) / scale
        line = {"arrowstyle": "-", "color": SOFT, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 3}
        axes.annotate(
            model,
            (x, y),
            xytext=(12, moved - 3),
            textcoords="offset points",
            color=colour,
            fontsize=9,
            arrowprops=line | {"relpos": (0, 0.4)} if moved > 5 else None,
        )


def learning_curve(events: list[dict[str, Any]], title: str, format: str = "svg") -> bytes:
    """Training and validation loss over the updates; what else was watched, on an axis of its own."""
    seen = [event for event in events if event["event"] == "validation"]
    if not seen:
        raise RunError(
            f"{title} has no learning curve",
            got="a model that counts, or a fit without validations",
            do="Plot a run of a neural model",
        )
    figure, axes = new_axes()
    steps = [event["step"] for event in seen]
    axes.plot(steps, [event["train"] for event in seen], color=SOFT, label="training")
    axes.plot(
        steps,
        [event["valid"] for event in seen],
        color=ACCENT,
        marker="o",
        markersize=3,
        label="validation",
    )
    axes.set_xlabel("updates")
    axes.set_ylabel(next((event["per"] for event in events if "per" in event), "nats per symbol"))
    more = [
        watched_line(axes, name, steps, [event[name] for event in seen])
        for name in WATCHED
        if name in seen[0]
    ]
    axes.legend(
        handles=[*axes.get_lines(), *more], frameon=False, loc="center right" if more else "best"
    )
    entitle(axes, title)
    return rendered(figure, format)


def watched_line(axes, name: str, steps: list[int], values: list[float | None]):
    """Another curve over the same updates, its scale on the right."""
    other = axes.twinx()
    other.spines[["top", "left"]].set_visible(False)
    (line,) = other.plot(
        steps,
        [math.nan if value is None else value for value in values],
        color=LINES[2],
        marker="s",
        markersize=3,
        label=name,
    )
    other.set_ylabel(
        {
            "analogies": "share of analogies that are right",
            "similarity": "correlation with human similarity",
        }[name],
        color=LINES[2],
    )
    other.tick_params(axis="y", colors=LINES[2])
    return line


def plain_power(value: float, _: int) -> str:
    """A number beside a logarithmic axis."""
    return (
        f"{value:g}"
        if 0.001 <= value <= 1000
        else f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")
    )


def beside(run: str | Path, name: str) -> Path:
    """A file in a run's folder, or next to the file that takes its place."""
    return (Path(run) if Path(run).is_dir() else Path(run).parent) / name


def format_of(out: str | Path) -> str:
    """The format that the ending of a picture's name asks for."""
    format = Path(out).suffix.lstrip(".") or "png"
    if format not in ("png", "svg", "pdf"):
        raise RunError(
            "pictures are written as png, svg or pdf", got=Path(out).name, do="Choose another --out"
        )
    return format
