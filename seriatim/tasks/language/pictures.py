"""Pictures of language models: frequencies over time, gradient and influence by distance, attention, surprisal."""

from __future__ import annotations

import math
from datetime import date
from pathlib import Path
from typing import Any

from seriatim.records import array_of
from seriatim.show.charts import (
    INK,
    LINES,
    SOFT,
    entitle,
    new_axes,
    plain_power,
    readable,
    rendered,
)
from seriatim.show.tables import BITS, SHADES, shade, visible
from seriatim.tasks.language.tables import run_names, surprise_of_all


def frequency(record: dict[str, Any], format: str = "svg") -> bytes:
    """How often phrases occur over time: a line each, broken where there is no text, with its name
    at its end."""
    figure, axes = new_axes(8.0)
    axes.grid(visible=False, axis="x")
    years, names = record["every"] == "year", record["periods"]
    where = [int(name) for name in names] if years else days(names)
    ends = [draw_course(axes, place, each, where) for place, each in enumerate(record["phrases"])]
    if record["smooth"]:
        draw_points(axes, record, where)
    axes.set_ylim(bottom=0)
    axes.margins(x=0.02)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    write_ends(figure, axes, ends)
    if len(where) == 1:
        axes.set_xticks(where, names)
    elif years:
        axes.xaxis.get_major_locator().set_params(integer=True)
    else:
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        axes.xaxis.set_major_locator(AutoDateLocator())
        axes.xaxis.set_major_formatter(ConciseDateFormatter(axes.xaxis.get_major_locator()))
    axes.set_ylabel(f"per million {record['unit']}s")
    entitle(axes, Path(record["data"]).name)
    return rendered(figure, format)


def drawable(values: list[float | None]) -> list[float]:
    """Values as matplotlib has them: a gap is not a number."""
    return [math.nan if value is None else value for value in values]


def draw_course(
    axes: Any, place: int, phrase: dict[str, Any], where: list[Any]
) -> tuple[float, float, str, str]:
    """The line of a phrase; a period between two gaps is a point. Returns where its name goes."""
    colour, course = LINES[place % len(LINES)], drawable(phrase["smoothed"])
    known = [not math.isnan(y) for y in course]
    padded = [False, *known, False]
    alone = [here and not (padded[i] or padded[i + 2]) for i, here in enumerate(known)]
    kind = {"linewidth": 2, "solid_capstyle": "round", "marker": ".", "markevery": alone}
    axes.plot(where, course, color=colour, **kind)
    last = max(i for i, here in enumerate(known) if here)
    return course[last], where[last], phrase["phrase"], colour


def draw_points(axes: Any, record: dict[str, Any], where: list[Any]) -> None:
    """Each period by itself, behind the lines, which are means."""
    for place, each in enumerate(record["phrases"]):
        kind = {"color": LINES[place % len(LINES)], "markersize": 3, "alpha": 0.35}
        axes.plot(where, drawable(each["frequency"]), ".", **kind)
    every, many = record["every"], 2 * record["smooth"] + 1
    words = f"lines: mean of {many} {every}s; points: each {every}"
    axes.set_title(words, loc="right", fontsize=8, color=SOFT)


def gradient(record: dict[str, Any], format: str = "svg") -> bytes:
    """How the gradient fares on its way back: a line for each run; what shrinks by the same factor at each step is straight."""
    figure, axes = new_axes()
    for place, (each, name) in enumerate(zip(record["runs"], run_names(record))):
        radius = ", ".join(f"{one['radius']:.2f}" for one in each["radii"])
        told = ("" if each["factor"] is None else f"  ×{each['factor']:.2f} a place") + (
            f"  (radius {radius})" if len(each["radii"]) == 1 else ""
        )
        axes.plot(
            each["distances"],
            [value or math.nan for value in each["values"]],
            color=LINES[place % len(LINES)],
            linewidth=2,
            marker=".",
            markersize=4,
            label=readable(name + told),
        )
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
        heights = [
            math.nan if value is None else max(value, floor / 100) for value in each["values"]
        ]  # nothing at all is far below the picture
        axes.plot(
            each["distances"],
            heights,
            color=LINES[place % len(LINES)],
            linewidth=2,
            marker=".",
            markersize=5,
            label=readable(name),
        )
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


def attention(record: dict[str, Any], format: str = "svg") -> bytes:
    """Who attends to whom: a small map for each head, a row of them for each layer; each row of a map sums to one."""
    from matplotlib.colors import LinearSegmentedColormap

    layers, many = (1 + max(each[key] for each in record["maps"]) for key in ("layer", "head"))
    size = max(1.7, min(5.0 if layers * many <= 2 else 2.6, 0.07 * len(record["tokens"])))
    figure, _ = new_axes(0.6 + size * many, 0.6 + size * layers)
    figure.clear()
    names, colours = (
        [visible(name).replace(" ", "␣") for name in record["tokens"]],
        LinearSegmentedColormap.from_list("heat", ("#ffffff", *SHADES[1:])),
    )
    grid, spelled = (
        figure.subplots(layers, many, squeeze=False),
        record["unit"] in ("word", "token", "subword"),
    )
    for each in record["maps"]:
        axes, shown = grid[each["layer"]][each["head"]], len(names) * 4.5 < 72 * size
        drawn = axes.imshow(
            array_of(each["weights"]), cmap=colours, vmin=0, vmax=1, interpolation="nearest"
        )
        axes.spines[:].set_color(SOFT)
        below = names if spelled else ["", *names[1:]]  # upright there is no room for START
        axes.set_xticks(
            range(len(names)) if shown else [],
            [readable(name) for name in below] if shown else [],
            fontsize=5,
            parse_math=False,
        )
        axes.set_yticks(
            range(len(names)) if shown else [],
            [readable(name) for name in names] if shown else [],
            fontsize=5,
            parse_math=False,
        )
        axes.tick_params(length=0, pad=1, colors=INK, labelrotation=0)
        if spelled:
            axes.tick_params(axis="x", labelrotation=90)
        axes.set_title(
            f"layer {each['layer'] + 1}, head {each['head'] + 1}", fontsize=7, color=INK, pad=3
        )
    figure.supxlabel("is attended to", fontsize=8, color=INK)
    figure.supylabel("attends", fontsize=8, color=INK)
    bar = figure.colorbar(drawn, ax=grid, shrink=0.6, pad=0.02, aspect=30)
    bar.ax.tick_params(labelsize=7, length=2)
    bar.outline.set_visible(False)
    return rendered(figure, format)


COLUMNS, MOST_LINES = 80, 60  # letters in a line of a picture of text, and lines


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
    legend = [
        f"{low} to {high}" if low and high else f"under {high}" if high else f"{low} or more bits"
        for low, high in zip(("", *BITS), (*BITS, ""))
    ]
    for number, told in enumerate(legend):
        write_cell(axes, Rectangle, 11 * number, lines + 0.6, "  ", number)
        axes.text(11 * number + 2.5, lines + 1.1, told, fontsize=7, color=INK, va="center_baseline")
    entitle(
        axes, surprise_of_all(record) + (f"; the first {lines} lines" if line >= MOST_LINES else "")
    )
    return rendered(figure, format)


def write_cell(axes, rectangle: type, column: int, line: float, name: str, number: int) -> None:
    """Letters in their boxes on the ground of a shade."""
    axes.add_patch(
        rectangle((column, line), len(name), 0.92, facecolor=SHADES[number], edgecolor="none")
    )
    for place, letter in enumerate(readable(name)):
        axes.text(
            column + place + 0.5,
            line + 0.5,
            letter,
            ha="center",
            va="center_baseline",
            fontsize=10.5,
            family="monospace",
            color=INK if number < 4 else "white",
            parse_math=False,
        )


def days(periods: list[str]) -> list[float]:
    """Months and days as matplotlib's numbers of days."""
    from matplotlib.dates import date2num

    return date2num(
        [date.fromisoformat(name if len(name) > 7 else f"{name}-01") for name in periods]
    ).tolist()


def write_ends(figure, axes, ends: list[tuple[float, float, str, str]]) -> None:
    """Names at the ends of their lines, moved apart where they would cover each other."""
    height = 72 * 0.8 * figure.get_figheight() / axes.get_ylim()[1]  # points a unit of the axis
    lowest = 5.0  # points above the axis that are still free
    for y, x, name, colour in sorted(ends, key=lambda end: end[0]):
        lowest = max(y * height, lowest)
        axes.annotate(
            readable(name),
            (x, y),
            xytext=(8, lowest - y * height),
            textcoords="offset points",
            va="center",
            color=colour,
            fontsize=9,
            annotation_clip=False,
            parse_math=False,
        )
        lowest += 11
