"""Pictures, drawn from the plain records that the verbs return."""
from __future__ import annotations

import io
import math
import warnings
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from seriatim.display import BITS, SHADES, WATCHED, run_names, shade, surprise_of_all, visible
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
    """Quality against time: each rung's figure over the seconds it was fitted for."""
    figure, axes = new_axes()
    name, better = record["figure"], "higher" if record["higher_is_better"] else "lower"
    rows = [row for row in record["rows"] if row["status"] == "ok" and row[name] is not None]
    taken: list[tuple[float, float]] = []
    for place, row in enumerate(rows):
        seconds, bits = max(row["seconds"], 0.01), row[name]
        low, high = row["interval"]
        colour = ACCENT if place == 0 else INK
        low, high = (bits, bits) if low is None else (low, high)
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
    axes.set_ylabel(f"{name.replace('_', ' ')} ({better} is better)")
    entitle(axes, Path(record["data"]).name)
    return rendered(figure, format)


def learning_curve(events: list[dict[str, Any]], title: str, format: str = "svg") -> bytes:
    """Training and validation loss over the updates; what else was watched, on an axis of its own."""
    seen = [event for event in events if event["event"] == "validation"]
    if not seen:
        raise RunError(f"{title} has no learning curve", got="a model that counts, or a fit without validations", do="Plot a run of a neural model")
    figure, axes = new_axes()
    steps = [event["step"] for event in seen]
    axes.plot(steps, [event["train"] for event in seen], color=SOFT, label="training")
    axes.plot(steps, [event["valid"] for event in seen], color=ACCENT, marker="o", markersize=3, label="validation")
    axes.set_xlabel("updates")
    axes.set_ylabel(next((event["per"] for event in events if "per" in event), "nats per symbol"))
    more = [watched_line(axes, name, steps, [event[name] for event in seen]) for name in WATCHED if name in seen[0]]
    axes.legend(handles=[*axes.get_lines(), *more], frameon=False, loc="center right" if more else "best")
    entitle(axes, title)
    return rendered(figure, format)


def watched_line(axes, name: str, steps: list[int], values: list[float | None]):
    """Another curve over the same updates, its scale on the right."""
    other = axes.twinx()
    other.spines[["top", "left"]].set_visible(False)
    line, = other.plot(steps, [math.nan if value is None else value for value in values], color=LINES[2], marker="s", markersize=3, label=name)
    other.set_ylabel({"analogies": "share of analogies that are right", "similarity": "correlation with human similarity"}[name], color=LINES[2])
    other.tick_params(axis="y", colors=LINES[2])
    return line


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


def gradient(record: dict[str, Any], format: str = "svg") -> bytes:
    """How the gradient fares on its way back: a line for each run; what shrinks by the same factor at each step is straight."""
    figure, axes = new_axes()
    for place, (each, name) in enumerate(zip(record["runs"], run_names(record))):
        radius = ", ".join(f"{one['radius']:.2f}" for one in each["radii"])
        told = ("" if each["factor"] is None else f"  ×{each['factor']:.2f} a place") + (f"  (radius {radius})" if len(each["radii"]) == 1 else "")
        axes.plot(each["distances"], [value or math.nan for value in each["values"]], color=LINES[place % len(LINES)], linewidth=2, marker=".",
                  markersize=4, label=readable(name + told))
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(plain_power)
    axes.set_xlabel(f"{record['runs'][0]['unit']}s back")
    axes.set_ylabel("norm of d loss / d x")
    entitle(axes, "How far back the gradient reaches")
    axes.legend(frameon=False, fontsize=9, loc="lower left", labelcolor="linecolor")
    return rendered(figure, format)


def influence(record: dict[str, Any], format: str = "svg") -> bytes:
    """How much a symbol matters for what comes so many places later: a line for each run, which ends where there is no influence any more."""
    figure, axes = new_axes()
    positive = [value for each in record["runs"] for value in each["values"] if value]
    floor = max(1e-6, min(positive, default=0.1) / 2)
    for place, (each, name) in enumerate(zip(record["runs"], run_names(record))):
        heights = [math.nan if value is None else max(value, floor / 100) for value in each["values"]]     # nothing at all is far below the picture
        axes.plot(each["distances"], heights, color=LINES[place % len(LINES)], linewidth=2, marker=".", markersize=5, label=readable(name))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylim(floor, 2 * max(positive, default=1.0))
    axes.yaxis.set_major_formatter(plain_power)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xlabel(f"{record['runs'][0]['unit']}s back")
    axes.set_ylabel("nats by which the prediction changes")
    entitle(axes, "How far back a symbol matters")
    axes.legend(frameon=False, fontsize=9, labelcolor="linecolor")
    return rendered(figure, format)


def plain_power(value: float, _: int) -> str:
    return f"{value:g}" if 0.001 <= value <= 1000 else f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")


def attention(record: dict[str, Any], format: str = "svg") -> bytes:
    """Who hears whom: a small map for each head, a row of them for each layer; each row of a map sums to one."""
    from matplotlib.colors import LinearSegmentedColormap
    layers, many = (1 + max(each[key] for each in record["maps"]) for key in ("layer", "head"))
    size = max(1.7, min(5.0 if layers * many <= 2 else 2.6, 0.07 * len(record["tokens"])))
    figure, _ = new_axes(0.6 + size * many, 0.6 + size * layers)
    figure.clear()
    names, colours = [visible(name).replace(" ", "␣") for name in record["tokens"]], LinearSegmentedColormap.from_list("heat", ("#ffffff", *SHADES[1:]))
    grid, spelled = figure.subplots(layers, many, squeeze=False), record["unit"] in ("word", "token", "subword")
    for each in record["maps"]:
        axes, shown = grid[each["layer"]][each["head"]], len(names) * 4.5 < 72 * size
        drawn = axes.imshow(each["weights"], cmap=colours, vmin=0, vmax=1, interpolation="nearest")
        axes.spines[:].set_color(SOFT)
        below = names if spelled else ["", *names[1:]]                            # upright there is no room for START
        axes.set_xticks(range(len(names)) if shown else [], [readable(name) for name in below] if shown else [], fontsize=5, parse_math=False)
        axes.set_yticks(range(len(names)) if shown else [], [readable(name) for name in names] if shown else [], fontsize=5, parse_math=False)
        axes.tick_params(length=0, pad=1, colors=INK, labelrotation=0)
        if spelled:
            axes.tick_params(axis="x", labelrotation=90)
        axes.set_title(f"layer {each['layer'] + 1}, head {each['head'] + 1}", fontsize=7, color=INK, pad=3)
    figure.supxlabel("is heard", fontsize=8, color=INK)
    figure.supylabel("hears", fontsize=8, color=INK)
    bar = figure.colorbar(drawn, ax=grid, shrink=0.6, pad=0.02, aspect=30)
    bar.ax.tick_params(labelsize=7, length=2)
    bar.outline.set_visible(False)
    return rendered(figure, format)


def word_map(record: dict[str, Any], format: str = "svg") -> bytes:
    """Words in a plane. Pairs are dots with an arrow between; other words are written where they lie, frequent ones larger."""
    where = np.array([[each["x"], each["y"]] for each in record["points"]])                    # (K, 2)
    span = np.maximum(np.ptp(where, axis=0), 1e-9)
    figure, axes = new_axes(9.0, 9.0 * min(0.9, max(0.55, span[1] / span[0])))
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.06)
    ends, paired = {end for _, end in record["arrows"]}, {place for arrow in record["arrows"] for place in arrow}
    for begin, end in record["arrows"]:
        axes.annotate("", where[end], where[begin], arrowprops={"arrowstyle": "-|>", "color": SOFT, "linewidth": 1, "shrinkA": 4, "shrinkB": 4})
    colours = [ACCENT if place in ends else INK for place in range(len(where))]
    axes.scatter(*where.T, s=[18.0 * (place in paired) for place in range(len(where))], c=colours, linewidths=0)
    names = [axes.annotate(readable(each["word"]), where[place], (0, 0), textcoords="offset points", color=colours[place], ha="center", va="center",
                           parse_math=False, fontsize=10 if record["arrows"] else 12 - 5 * place / len(where)) for place, each in enumerate(record["points"])]
    told = "t-SNE: near words are alike, far ones lie anywhere" if record["shares"] is None else \
        f"principal components, {100 * sum(record['shares']):.0f} % of the variance"
    axes.set_title(told, loc="right", fontsize=8, color=SOFT)
    entitle(axes, Path(record["run"]).name)
    make_way(figure, axes, where, names, record["arrows"])
    return rendered(figure, format)


def make_way(figure, axes, where: np.ndarray, names: list[Any], arrows: list[list[int]]) -> None:
    """Move names beside their dots, or a little from where they lie: one after the other, each to where it covers least. In points."""
    figure.draw_without_rendering()
    points = axes.transData.transform(where) * 72 / figure.dpi                                 # (K, 2)
    sizes = np.array([(box.width, box.height) for box in (name.get_window_extent() for name in names)]) * 72 / figure.dpi + (2, -1)
    ahead = {end: points[end] - points[begin] for begin, end in arrows} | {begin: points[begin] - points[end] for begin, end in arrows}
    lines = [points[begin] + share * (points[end] - points[begin]) for begin, end in arrows for share in np.linspace(0, 1, 25)]
    taken = [np.concatenate([point - 2, point + 2]) for point in lines]                        # boxes: left, low, right, high
    turns = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    for place, name in enumerate(names):
        gaps, wish = ((4, 9, 16), ahead[place] / max(1e-9, np.hypot(*ahead[place]))) if place in ahead else ((-4, 0, 6, 12), np.zeros(2))
        rings = [np.stack([np.cos(turns), np.sin(turns)], 1) * (sizes[place] / 2 + gap) for gap in gaps]
        moves = np.concatenate([np.zeros((1, 2)), *rings])                                     # (number of places to go to, 2)
        boxes = np.concatenate([points[place] + moves - sizes[place] / 2, points[place] + moves + sizes[place] / 2], 1)
        cost = covered(boxes, np.array(taken).reshape(-1, 4)) + 0.15 * np.hypot(*moves.T) - 0.25 * np.minimum(moves @ wish, 8)
        name.set_position(moves[np.argmin(cost)])
        taken.append(boxes[np.argmin(cost)])


def covered(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(M, 4) boxes, (O, 4) others -> (M,) how much of the others each box covers."""
    sides = np.minimum(boxes[:, None, 2:], others[:, 2:]) - np.maximum(boxes[:, None, :2], others[:, :2])      # (M, O, 2)
    return np.clip(sides, 0, None).prod(2).sum(1)


COLUMNS, MOST_LINES = 80, 60              # letters in a line of a picture of text, and lines


def surprisal(record: dict[str, Any], format: str = "svg") -> bytes:
    """The text itself, each symbol on a ground that is the stronger the more it surprised."""
    from matplotlib.patches import Rectangle
    cells, line, column, apart = [], 0, 0, record["unit"] in ("word", "token")
    for row in record["tokens"]:
        ends = row["symbol"] == "\n" or (record["by"] == "line" and row["symbol"] == "</s>")
        name = "⏎" if ends else visible(row["symbol"])[:COLUMNS]
        if column + len(name) > COLUMNS:
            line, column = line + 1, 0
        cells.append((line, column, name, shade(row["bits"])))
        line, column = (line + 1, 0) if ends else (line, column + len(name) + apart)
    cells = [cell for cell in cells if cell[0] < MOST_LINES]
    lines = cells[-1][0] + 1
    figure, axes = new_axes(8.6, 0.75 + 0.2 * lines)
    axes.set_axis_off()
    axes.set(xlim=(0, COLUMNS), ylim=(lines + 1.6, 0))
    for at, column, name, number in cells:
        write_cell(axes, Rectangle, column, at, name, number)
    legend = [f"{low} to {high}" if low and high else f"under {high}" if high else f"{low} or more bits" for low, high in zip(("", *BITS), (*BITS, ""))]
    for number, told in enumerate(legend):
        write_cell(axes, Rectangle, 11 * number, lines + 0.6, "  ", number)
        axes.text(11 * number + 2.5, lines + 1.1, told, fontsize=7, color=INK, va="center_baseline")
    entitle(axes, surprise_of_all(record) + (f"; the first {lines} lines" if line >= MOST_LINES else ""))
    return rendered(figure, format)


def write_cell(axes, rectangle: type, column: int, line: float, name: str, number: int) -> None:
    """Letters in their boxes on the ground of a shade."""
    axes.add_patch(rectangle((column, line), len(name), 0.92, facecolor=SHADES[number], edgecolor="none"))
    for place, letter in enumerate(readable(name)):
        axes.text(column + place + 0.5, line + 0.5, letter, ha="center", va="center_baseline", fontsize=10.5, family="monospace",
                  color=INK if number < 4 else "white", parse_math=False)


def draw_map(run: str | Path, words: str | None = None, by: str = "pca", out: str | Path | None = None) -> dict[str, Any]:
    """The record of a map of words and its picture: in the run's folder if `out` is not given."""
    from seriatim.word_predictor import word_vectors
    out = beside(run, "map.png") if out is None else out
    format = format_of(out)
    record = {"run": str(run)} | word_vectors(run, "a map").map(words, by)
    write_bytes(Path(out), word_map(record, format))
    return record | {"picture": str(out)}


def beside(run: str | Path, name: str) -> Path:
    """A file in a run's folder, or next to the file that takes its place."""
    return (Path(run) if Path(run).is_dir() else Path(run).parent) / name


def draw_inside(runs: list[str], what: str, text: Any, out: str | Path | None = None) -> dict[str, Any]:
    """The record of `inspect` and its picture: in the first run's folder if `out` is not given, of surprisal only where it is."""
    from seriatim.verbs import inspect
    if out is None and what != "surprisal":
        out = beside(runs[0], f"{what}.png")
    format = "" if out is None else format_of(out)
    record = inspect(list(runs), what, text)
    if out is None:
        return record
    write_bytes(Path(out), {"gradient": gradient, "influence": influence, "attention": attention, "surprisal": surprisal}[what](record, format))
    return record | {"picture": str(out), "notes": [*record["notes"], f"written: {out}"]}


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
            from seriatim.folders import events_of
            picture = learning_curve(list(events_of(folder)), folder.name, format)
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        raise RunError(f"{folder} holds nothing that can be drawn", got=error, do="Give a folder that fit or compare wrote") from None
    write_bytes(out, picture)
    return out
