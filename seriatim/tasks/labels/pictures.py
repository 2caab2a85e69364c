"""Pictures of found labels against true ones, drawn from the records of evaluations.

    confusion     a row for each true label, a column for each found one: counts, on a ground that
                  tells their share of the row
    reliability   how often labels found with a probability were right, over that probability; on
                  the diagonal, it means what it says

Shapes: K labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seriatim.measuring.resampling import wilson
from seriatim.records import Record
from seriatim.show.charts import ACCENT, INK, SOFT, entitle, new_axes, readable, rendered
from seriatim.show.tables import SHADES, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LABELS, LONGEST = 60, 24  # rows of a picture, and letters of a name


RIGHT = ("#ffffff", "#d5e5ec", "#3a86a8", "#27607a")


def confusion(record: Record, format: str = "svg") -> bytes:
    """The most frequent labels in the order of the record; what never happened is left blank."""
    shown = sorted(
        sorted(range(len(record["classes"])), key=lambda k: -record["classes"][k]["support"])[
            :MOST_LABELS
        ]
    )
    names = [short_name(record["classes"][k]["name"]) for k in shown]
    counts = np.array(record["confusion"])[np.ix_(shown, shown)]  # (K, K)
    support = np.array([max(1, record["classes"][k]["support"]) for k in shown])
    digits = len(str(counts.max()))
    inches = max(0.26, 0.055 * digits, 0.85 - 0.03 * len(shown))  # the side of a cell
    figure, axes = new_axes(max(5.0, 2.0 + inches * len(shown)), 1.4 + inches * len(shown))
    fill_cells(
        axes, counts, counts / support[:, None], min(10.0, 72 * inches / (0.62 * (digits + 0.8)))
    )
    frame_cells(axes, len(shown))
    size = min(9.0, 30 * inches)
    axes.set_xticks(
        range(len(shown)),
        names,
        fontsize=size,
        rotation=90 if max(map(len, names)) * size * 0.6 > 72 * inches else 0,
        parse_math=False,
    )
    axes.set_yticks(range(len(shown)), names, fontsize=size, parse_math=False)
    axes.set_xlabel("found", color=INK)
    axes.set_ylabel("true", color=INK)
    entitle(axes, headline(record, len(shown)))
    return rendered(figure, format)


def fill_cells(axes: Axes, counts: np.ndarray, shares: np.ndarray, size: float) -> None:
    """(K, K) counts on their grounds: blue where label and truth agree, orange elsewhere; the root
    of the share, so that rare mistakes show."""
    from matplotlib.colors import LinearSegmentedColormap, PowerNorm

    agree = np.eye(len(counts), dtype=bool)
    for colours, hidden in ((RIGHT, ~agree), (("#ffffff", *SHADES[1:]), agree)):
        axes.imshow(
            np.ma.array(shares, mask=hidden),
            cmap=LinearSegmentedColormap.from_list("heat", colours),
            norm=PowerNorm(0.5, 0, 1),
        )
    for row, column in zip(*np.nonzero(counts)):
        colour = "white" if shares[row, column] > 0.45 else INK
        axes.text(
            column,
            row,
            str(counts[row, column]),
            ha="center",
            va="center",
            fontsize=size,
            color=colour,
        )


def frame_cells(axes: Axes, labels: int) -> None:
    """Hair lines between cells, so that the eye keeps its row and column."""
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.set_xticks([place - 0.5 for place in range(labels + 1)], minor=True)
    axes.set_yticks([place - 0.5 for place in range(labels + 1)], minor=True)
    axes.grid(which="minor", color="#e7eaec", linewidth=0.6)
    axes.tick_params(which="both", length=0, colors=INK)


def short_name(name: str) -> str:
    """The name of a label, as long as there is room."""
    name = readable(visible(name))
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def headline(record: Record, shown: int) -> str:
    """How many are right, and of how many labels the picture is."""
    low, high = record["interval"]["accuracy"]
    part = (
        f"; the {shown} most frequent of {len(record['classes'])} labels"
        if shown < len(record["classes"])
        else ""
    )
    right = f"{100 * record['accuracy']:.1f} % right ({100 * low:.1f} to {100 * high:.1f})"
    return f"{right} of {record['labels']:,}{part}"


def reliability(record: Record, format: str = "svg") -> bytes:
    """Accuracy with its 95 % interval over mean confidence, bin by bin, and below how many labels
    each bin holds."""
    sure = record["calibration"]
    figure, _ = new_axes(5.2, 6.0)
    figure.clear()
    axes, below = figure.subplots(2, 1, height_ratios=[4, 1], sharex=True)
    axes.plot([0, 1], [0, 1], color=SOFT, linestyle="--", linewidth=1)
    axes.text(0.03, 0.95, "more often right than it says", color=SOFT, fontsize=8)
    axes.text(0.97, 0.03, "surer than it should be", color=SOFT, fontsize=8, ha="right")
    bins = [each for each in sure["bins"] if each["count"]]
    for each in bins:
        low, high = wilson(round(each["accuracy"] * each["count"]), each["count"])
        axes.plot(
            [each["confidence"]] * 2,
            [low, high],
            color=ACCENT,
            linewidth=1.2,
            alpha=0.5,
            solid_capstyle="round",
        )
    axes.plot(
        [each["confidence"] for each in bins],
        [each["accuracy"] for each in bins],
        color=ACCENT,
        marker="o",
        markersize=5,
        linewidth=1.5,
        clip_on=False,
    )
    axes.set(xlim=(0, 1), ylim=(0, 1), ylabel="share that is right")
    width = 1 / len(sure["bins"])
    below.bar(
        [width * place for place in range(len(sure["bins"]))],
        [each["count"] for each in sure["bins"]],
        0.92 * width,
        align="edge",
        color=SOFT,
    )
    below.set(xlabel="probability of the label found", ylabel="labels")
    below.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    for each in (axes, below):
        each.spines[["top", "right"]].set_visible(False)
        each.grid(color="#e7eaec", linewidth=0.8)
        each.set_axisbelow(True)
    loss = "infinite" if record["log_loss"] is None else f"{record['log_loss']:.4f}"
    entitle(
        axes, f"calibration error {sure['error']:.4f}, log loss {loss}, Brier {sure['brier']:.4f}"
    )
    return rendered(figure, format)
