"""Pictures, drawn from the plain records that the verbs return."""
from __future__ import annotations

import io
import math
import warnings
from datetime import date
from pathlib import Path
from typing import Any

from seriatim.errors import RunError
from seriatim.storage import read_json, write_bytes

INK, ACCENT, SOFT = "#22333b", "#c1440e", "#9aa5ab"
LINES = (ACCENT, INK, "#3a86a8", "#b8860b", "#6a994e", "#7b5ea7", "#a05a72", SOFT)


def new_axes(width: float = 7.0, height: float = 4.2):
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
    return name.encode("utf-8", "replace").decode()


def rendered(figure, format: str) -> bytes:
    buffer = io.BytesIO()
    import matplotlib
    unsigned = dict.fromkeys(("Creator", "Date", "Format", "Type")) if format == "svg" else None
    with matplotlib.rc_context({"svg.hashsalt": "seriatim", "svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure.savefig(buffer, format=format, dpi=130, metadata=unsigned)
    return buffer.getvalue()


def quality(record: dict[str, Any], format: str = "svg") -> bytes:
    """Quality against time: each rung's bits per character over the seconds it was fitted for."""
    figure, axes = new_axes()
    rows = [row for row in record["rows"] if row["status"] == "ok" and row["bits_per_character"] is not None]
    taken: list[tuple[float, float]] = []
    for place, row in enumerate(rows):
        seconds, bits = max(row["seconds"], 0.01), row["bits_per_character"]
        low, high = row["interval"]
        colour = ACCENT if place == 0 else INK
        axes.errorbar(seconds, bits, yerr=[[max(0, bits - low)], [max(0, high - bits)]], fmt="o", color=colour, capsize=2, markersize=5)
        near = sum(abs(seconds - x) < 0.5 * x and abs(bits - y) < 0.08 * y for x, y in taken)
        axes.annotate(row["model"], (seconds, bits), xytext=(7, 4 - 11 * near), textcoords="offset points", color=colour, fontsize=9)
        taken.append((seconds, bits))
    if record.get("entropy_bits") is not None:
        axes.axhline(record["entropy_bits"], color=SOFT, linestyle="--", linewidth=1)
        axes.annotate("true entropy of the source", (0.99, record["entropy_bits"]), xycoords=("axes fraction", "data"), ha="right",
                      va="bottom", color=SOFT, fontsize=8)
    axes.set_xscale("log")
    axes.margins(x=0.18, y=0.12)
    axes.set_xlabel("seconds of fitting")
    axes.set_ylabel("bits per character (lower is better)")
    entitle(axes, Path(record["data"]).name)
    return rendered(figure, format)


def learning_curve(events: list[dict[str, Any]], title: str, format: str = "svg") -> bytes:
    """Training and validation loss over the updates."""
    seen = [event for event in events if event["event"] == "validation"]
    if not seen:
        raise RunError(f"{title} has no learning curve", got="a model that counts, or a fit without validations", do="Plot a run of a neural model")
    figure, axes = new_axes()
    steps = [event["step"] for event in seen]
    axes.plot(steps, [event["train"] for event in seen], color=SOFT, label="training")
    axes.plot(steps, [event["valid"] for event in seen], color=ACCENT, marker="o", markersize=3, label="validation")
    axes.set_xlabel("updates")
    axes.set_ylabel("nats per symbol")
    axes.legend(frameon=False)
    entitle(axes, title)
    return rendered(figure, format)


def frequency(record: dict[str, Any], format: str = "svg") -> bytes:
    """How often phrases occur over time: a line each, broken where there is no text, with its name at its end."""
    figure, axes = new_axes(8.0)
    axes.grid(visible=False, axis="x")
    where = [int(name) for name in record["periods"]] if record["every"] == "year" else days(record["periods"])
    ends = []
    for place, each in enumerate(record["phrases"]):
        colour, course = LINES[place % len(LINES)], [math.nan if value is None else value for value in each["smoothed"]]
        alone = [not math.isnan(y) and all(math.isnan(y) for y in (*course[max(0, i - 1):i], *course[i + 1:i + 2])) for i, y in enumerate(course)]
        axes.plot(where, course, color=colour, linewidth=2, solid_capstyle="round", marker=".", markevery=alone)       # a point has no line
        if record["smooth"]:
            axes.plot(where, [math.nan if value is None else value for value in each["frequency"]], ".", color=colour, markersize=3, alpha=0.35)
        last = max(i for i, y in enumerate(course) if not math.isnan(y))
        ends.append((course[last], where[last], each["phrase"], colour))
    axes.set_ylim(bottom=0)
    axes.margins(x=0.02)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    write_ends(figure, axes, ends)
    if len(where) == 1:
        axes.set_xticks(where, record["periods"])
    elif record["every"] == "year":
        axes.xaxis.get_major_locator().set_params(integer=True)
    else:
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
        axes.xaxis.set_major_locator(AutoDateLocator())
        axes.xaxis.set_major_formatter(ConciseDateFormatter(axes.xaxis.get_major_locator()))
    axes.set_ylabel(f"per million {record['unit']}s")
    entitle(axes, Path(record["data"]).name)
    if record["smooth"]:
        axes.set_title(f"lines: mean of {2 * record['smooth'] + 1} {record['every']}s; points: each {record['every']}", loc="right", fontsize=8, color=SOFT)
    return rendered(figure, format)


def draw_frequency(record: dict[str, Any], out: str | Path) -> Path:
    """Write that picture; the ending of `out` chooses the format."""
    write_bytes(Path(out), frequency(record, format_of(out)))
    return Path(out)


def days(periods: list[str]) -> list[float]:
    """Months and days as matplotlib's numbers of days."""
    from matplotlib.dates import date2num
    return date2num([date.fromisoformat(name if len(name) > 7 else f"{name}-01") for name in periods]).tolist()


def write_ends(figure, axes, ends: list[tuple[float, float, str, str]]) -> None:
    """Names at the ends of their lines, moved apart where they would cover each other."""
    height = 72 * 0.8 * figure.get_figheight() / axes.get_ylim()[1]              # points a unit of the axis
    lowest = 5.0                                                                 # points above the axis that are still free
    for y, x, name, colour in sorted(ends, key=lambda end: end[0]):
        lowest = max(y * height, lowest)
        axes.annotate(readable(name), (x, y), xytext=(8, lowest - y * height), textcoords="offset points", va="center", color=colour,
                      fontsize=9, annotation_clip=False, parse_math=False)
        lowest += 11


def format_of(out: str | Path) -> str:
    """The format that the ending of a picture's name asks for."""
    format = Path(out).suffix.lstrip(".") or "png"
    if format not in ("png", "svg", "pdf"):
        raise RunError("pictures are written as png, svg or pdf", got=Path(out).name, do="Choose another --out")
    return format


def plot(folder: str | Path, out: str | Path | None = None) -> Path:
    """Draw a run folder's learning curve, or a comparison's quality against time; the ending of `out` chooses the format."""
    folder = Path(folder)
    out = Path(out) if out is not None else folder / "plot.png"
    format = format_of(out)
    try:
        if (folder / "table.json").is_file():
            picture = quality(read_json(folder / "table.json"), format)
        else:
            from seriatim.predictor import events_of
            picture = learning_curve(list(events_of(folder)), folder.name, format)
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        raise RunError(f"{folder} holds nothing that can be drawn", got=error, do="Give a folder that fit or compare wrote") from None
    write_bytes(out, picture)
    return out
