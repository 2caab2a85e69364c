"""Pictures, drawn from the plain records that the verbs return."""
from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

from seriatim.errors import RunError
from seriatim.storage import read_json, write_bytes

INK, ACCENT, SOFT = "#22333b", "#c1440e", "#9aa5ab"


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
    axes.set_title(title.encode("utf-8", "replace").decode(), loc="left", fontsize=10, color=INK, parse_math=False)


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


def plot(folder: str | Path, out: str | Path | None = None) -> Path:
    """Draw a run folder's learning curve, or a comparison's quality against time; the ending of `out` chooses the format."""
    folder = Path(folder)
    out = Path(out) if out is not None else folder / "plot.png"
    format = out.suffix.lstrip(".") or "png"
    if format not in ("png", "svg", "pdf"):
        raise RunError("pictures are written as png, svg or pdf", got=out.name, do="Choose another --out")
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
