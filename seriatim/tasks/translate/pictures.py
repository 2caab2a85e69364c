"""Pictures of translation: what of the source was attended to, the beam as a tree, and how errors
grow with length.

alignment   the source across, the target down: how much each symbol of the source was attended to
            when each of the target was written
tree        candidates of a beam search from left to right: kept ones dark, pruned ones pale, ended
            ones with their score
lengths     share of exact targets over the length of the source
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seriatim.records import Record, array_of
from seriatim.show.charts import ACCENT, INK, SOFT, entitle, new_axes, readable, rendered
from seriatim.show.tables import SHADES, visible

LONGEST = 16  # letters of a symbol that are shown
DEEP = 12  # steps of a tree that are drawn
COLOURS = ("#27607a", "#c8553d", "#5b8c5a", "#8f5fa8", "#d3a04d", "#555b6e")


def short(symbol: str) -> str:
    """A symbol as it has room beside a picture."""
    symbol = readable(visible(symbol))
    return symbol if len(symbol) <= LONGEST else symbol[: LONGEST - 1] + "…"


def alignment(record: Record, format: str = "svg") -> bytes:
    """What of the source each symbol of the target attended to: a record of `alignment`."""
    from matplotlib.colors import LinearSegmentedColormap

    weights = array_of(record["weights"])  # (T, P)
    figure, axes = new_axes(2.0 + 0.3 * weights.shape[1], 1.6 + 0.28 * weights.shape[0])
    axes.imshow(
        weights,
        cmap=LinearSegmentedColormap.from_list("heat", ("#ffffff", *SHADES[1:])),
        vmin=0,
        vmax=1,
        aspect="auto",
    )
    axes.grid(visible=False)
    axes.set_xticks(
        range(weights.shape[1]),
        [short(each) for each in record["source"]] or None,
        rotation=90,
        fontsize=9,
        parse_math=False,
    )
    axes.set_yticks(
        range(weights.shape[0]),
        [short(each) for each in record["target"]],
        fontsize=9,
        parse_math=False,
    )
    axes.tick_params(length=0, colors=INK)
    axes.xaxis.tick_top()
    axes.set_xlabel(
        "what of the source was attended to, over what was written", color=SOFT, fontsize=9
    )
    return rendered(figure, format)


def placed(nodes: list[dict[str, Any]]) -> dict[int, float]:
    """The height of each node: below each other in a step, best first."""
    heights: dict[int, float] = {-1: 0.0}
    for step in sorted({node["step"] for node in nodes}):
        some = sorted(
            (node for node in nodes if node["step"] == step), key=lambda node: -node["log_prob"]
        )
        heights |= {node["node"]: float(place) for place, node in enumerate(some)}
    return heights


def tree(record: Record, format: str = "svg") -> bytes:
    """The candidates of a beam search: a record of `tree`."""
    nodes = [node for node in record["nodes"] if node["step"] < DEEP]
    heights, deep = placed(nodes), 1 + max((node["step"] for node in nodes), default=0)
    figure, axes = new_axes(2.0 + 1.25 * deep, 1.5 + 0.3 * max(heights.values(), default=0))
    for node in nodes:
        colour = {"kept": INK, "ended": ACCENT, "pruned": SOFT}[node["fate"]]
        axes.plot(
            [node["step"], node["step"] + 1],
            [-heights[node["parent"]], -heights[node["node"]]],
            color=colour,
            linewidth=0.5 if node["fate"] == "pruned" else 1.2,
            alpha=0.5,
            zorder=1,
        )
        score = f" [{node['score']:.2f}]" if node["score"] is not None else ""
        axes.text(
            node["step"] + 1,
            -heights[node["node"]],
            f"{short(node['symbol'])} {node['log_prob']:.2f}{score}",
            fontsize=7.5,
            color=colour,
            va="center",
            parse_math=False,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
            zorder=2,
        )
    axes.set(xlim=(-0.1, deep + 0.9), ylim=(-max(heights.values(), default=0) - 0.8, 0.8))
    axes.axis("off")
    best = record["results"][0]["target"] if record["results"] else ""
    entitle(axes, f"beam of {record['beam']}: {readable(visible(best))[:70]}")
    return rendered(figure, format)


def lengths(record: Record, format: str = "svg") -> bytes:
    """How many targets are exact, by the length of the source: a record of `evaluate`."""
    return lengths_of([record], format)


def lengths_of(records: Sequence[Record], format: str = "svg") -> bytes:
    """The same of one or more models on the same data, a line for each."""
    figure, axes = new_axes(7.0, 4.2)
    for place, record in enumerate(records):
        some = record["by_length"]
        axes.plot(
            [(each["from"] + each["to"]) / 2 for each in some],
            [100 * each["exact"] for each in some],
            color=COLOURS[place % len(COLOURS)],
            marker="o",
            markersize=4,
            label=readable(record.get("name") or record["model"]),
        )
    axes.set(ylim=(-2, 102), xlabel="symbols of the source", ylabel="exact targets, %")
    axes.legend(frameon=False, fontsize=9, labelcolor=INK)
    sources = sum(each["sources"] for each in records[0]["by_length"])
    entitle(axes, f"{sources:,} sources of {readable(records[0]['data'])[:50]}")
    return rendered(figure, format)
