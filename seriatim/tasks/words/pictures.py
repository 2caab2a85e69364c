"""Maps of words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from seriatim.show.charts import ACCENT, INK, SOFT, entitle, new_axes, readable, rendered


def word_map(record: dict[str, Any], format: str = "svg") -> bytes:
    """Words in a plane. Pairs are dots with an arrow between; other words are written where they lie,
    frequent ones larger."""
    where = np.array([[each["x"], each["y"]] for each in record["points"]])  # (K, 2)
    span = np.maximum(np.ptp(where, axis=0), 1e-9)
    figure, axes = new_axes(9.0, 9.0 * min(0.9, max(0.55, span[1] / span[0])))
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.06)
    ends, paired = (
        {end for _, end in record["arrows"]},
        {place for arrow in record["arrows"] for place in arrow},
    )
    for begin, end in record["arrows"]:
        axes.annotate(
            "",
            where[end],
            where[begin],
            arrowprops={
                "arrowstyle": "-|>",
                "color": SOFT,
                "linewidth": 1,
                "shrinkA": 4,
                "shrinkB": 4,
            },
        )
    colours = [ACCENT if place in ends else INK for place in range(len(where))]
    axes.scatter(
        *where.T,
        s=[18.0 * (place in paired) for place in range(len(where))],
        c=colours,
        linewidths=0,
    )
    names = [
        axes.annotate(
            readable(each["word"]),
            where[place],
            (0, 0),
            textcoords="offset points",
            color=colours[place],
            ha="center",
            va="center",
            parse_math=False,
            fontsize=10 if record["arrows"] else 12 - 5 * place / len(where),
        )
        for place, each in enumerate(record["points"])
    ]
    told = (
        "t-SNE: near words are alike, far ones lie anywhere"
        if record["shares"] is None
        else f"principal components, {100 * sum(record['shares']):.0f} % of the variance"
    )
    axes.set_title(told, loc="right", fontsize=8, color=SOFT)
    entitle(axes, Path(record["run"]).name if record.get("run") else record["model"])
    make_way(figure, axes, where, names, record["arrows"])
    return rendered(figure, format)


def make_way(figure, axes, where: np.ndarray, names: list[Any], arrows: list[list[int]]) -> None:
    """Move names beside their dots, or a little from where they lie: one after the other, each to
    where it covers least. In points."""
    figure.draw_without_rendering()
    points = axes.transData.transform(where) * 72 / figure.dpi  # (K, 2)
    sizes = np.array(
        [(box.width, box.height) for box in (name.get_window_extent() for name in names)]
    ) * 72 / figure.dpi + (2, -1)
    ahead = {end: points[end] - points[begin] for begin, end in arrows} | {
        begin: points[begin] - points[end] for begin, end in arrows
    }
    lines = [
        points[begin] + share * (points[end] - points[begin])
        for begin, end in arrows
        for share in np.linspace(0, 1, 25)
    ]
    taken = [
        np.concatenate([point - 2, point + 2]) for point in lines
    ]  # boxes: left, low, right, high
    turns = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    for place, name in enumerate(names):
        gaps, wish = (
            ((4, 9, 16), ahead[place] / max(1e-9, np.hypot(*ahead[place])))
            if place in ahead
            else ((-4, 0, 6, 12), np.zeros(2))
        )
        rings = [
            np.stack([np.cos(turns), np.sin(turns)], 1) * (sizes[place] / 2 + gap) for gap in gaps
        ]
        moves = np.concatenate([np.zeros((1, 2)), *rings])  # (number of places to go to, 2)
        boxes = np.concatenate(
            [points[place] + moves - sizes[place] / 2, points[place] + moves + sizes[place] / 2], 1
        )
        cost = (
            covered(boxes, np.array(taken).reshape(-1, 4))
            + 0.15 * np.hypot(*moves.T)
            - 0.25 * np.minimum(moves @ wish, 8)
        )
        name.set_position(moves[np.argmin(cost)])
        taken.append(boxes[np.argmin(cost)])


def covered(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(M, 4) boxes, (O, 4) others -> (M,) how much of the others each box covers."""
    sides = np.minimum(boxes[:, None, 2:], others[:, 2:]) - np.maximum(
        boxes[:, None, :2], others[:, :2]
    )  # (M, O, 2)
    return np.clip(sides, 0, None).prod(2).sum(1)
