"""Names beside marks in a plane, where there is room: placed for a wide and for a narrow picture.

    place_names(rows, names, domains)                 rows have x, y and size; the rest is noted there
    alt.layer(marks, *name_texts(base, "ink-text"))   the names that have room at the width drawn

Shapes: K marks, M places a name may go to, O boxes that are taken. All sizes are pixels.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

from seriatim.show.charts import NARROW, WIDTH, Row

HEIGHT = 440
MARGIN = 24  # beside the view of a picture
VIEWS = {"wide": WIDTH - MARGIN, "narrow": NARROW - MARGIN}  # how wide the view is
BETWEEN = 520  # a view that is wider has the names of a wide one
LETTER = 0.56  # of the size of letters: how wide one is
GAPS, GAPS_OF_ENDS = (0.5, 4.5), (1, 6, 12)  # from a mark to its name; from the end of an arrow
REACH, REACH_OF_ENDS = 2.5, 5.0  # half the size of a mark
TURNS = np.linspace(0, 2 * np.pi, 16, endpoint=False)

Domains = tuple[tuple[float, float], tuple[float, float]]


def name_texts(base: Any, style: str, test: str = "true", **mark: Any) -> list[Any]:
    """The names of marks, each moved beside its own: those of the width that is drawn."""
    import altair as alt

    return [
        base.mark_text(
            style=style,
            dx=alt.ExprRef(f"datum.{view}_dx"),
            dy=alt.ExprRef(f"datum.{view}_dy"),
            fontSize=alt.ExprRef("datum.size"),
            **mark,
        )
        .transform_filter(f"datum.{view} && (width > {BETWEEN}) == {str(view == 'wide').lower()}")
        .transform_filter(test)
        for view in VIEWS
    ]


def place_names(
    rows: list[Row],
    names: Sequence[str],
    domains: Domains,
    arrows: Sequence[tuple[int, int]] = (),
    reach: float = REACH,
) -> None:
    """Note in each row where its name stands beside its mark, and whether it has room there: one
    after the other, each where it covers least of other names, of marks and of arrows."""
    for view, wide in VIEWS.items():
        place_in(rows, names, domains, arrows, reach, view, wide)


def place_in(
    rows: list[Row],
    names: Sequence[str],
    domains: Domains,
    arrows: Sequence[tuple[int, int]],
    reach: float,
    view: str,
    wide: float,
) -> None:
    """The same in a view of this width."""
    (left, right), (low, high) = domains
    points = np.array([[row["x"], row["y"]] for row in rows]).reshape(-1, 2)
    points = (points - [left, high]) / [right - left, low - high] * [wide, HEIGHT]  # (K, 2)
    sizes = np.array([extent(name, row["size"]) for name, row in zip(names, rows, strict=True)])
    ahead = {end: points[end] - points[begin] for begin, end in arrows}
    ahead |= {begin: points[begin] - points[end] for begin, end in arrows}
    ways = [np.linspace(points[begin], points[end], 25) for begin, end in arrows]
    lines = boxes_around(np.concatenate(ways) if ways else np.zeros((0, 2)), 1.5)
    reaches = np.array([REACH_OF_ENDS if i in ahead else reach for i in range(len(rows))])
    dots = boxes_around(points, reaches[:, None])
    taken = np.zeros((0, 4))
    for place, row in enumerate(rows):
        gaps = GAPS_OF_ENDS if place in ahead else GAPS
        moves = moves_of(sizes[place], reaches[place] + np.array(gaps))  # (M, 2)
        centres = points[place] + moves
        boxes = np.concatenate([centres - sizes[place] / 2, centres + sizes[place] / 2], 1)
        others = np.delete(dots, place, 0)
        hidden = covered(boxes, taken) + covered(boxes, others) + outside(boxes, wide)
        cost = 20 * hidden + covered(boxes, lines) + 0.8 * np.hypot(*moves.T)
        if place in ahead:
            wish = ahead[place] / max(1e-9, float(np.hypot(*ahead[place])))
            cost = cost - 0.4 * (moves @ wish)
        best = int(np.argmin(cost))
        row[view] = bool(hidden[best] < 1.0)
        row[f"{view}_dx"], row[f"{view}_dy"] = moves[best].round(1).tolist()
        if row[view]:
            taken = np.concatenate([taken, boxes[best : best + 1]])


def extent(name: str, size: float) -> tuple[float, float]:
    """How wide and high a name is, about."""
    letters = sum(1.8 if unicodedata.east_asian_width(each) in "WF" else 1 for each in name)
    return LETTER * size * letters + 3, 0.95 * size


def moves_of(size: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """(2,) width and height of a name -> (M, 2) from its mark to its middle, near ones first."""
    ways = np.stack([np.cos(TURNS), np.sin(TURNS)], 1)  # (16, 2)
    return np.concatenate([ways * (size / 2 + gap) for gap in gaps])


def boxes_around(points: np.ndarray, reach: float | np.ndarray) -> np.ndarray:
    """(K, 2) -> (K, 4) boxes: left, top, right, bottom."""
    return np.concatenate([points - reach, points + reach], 1)


def covered(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(M, 4) boxes, (O, 4) others -> (M,) how much of the others each box covers."""
    ends = np.minimum(boxes[:, None, 2:], others[:, 2:])
    sides = ends - np.maximum(boxes[:, None, :2], others[:, :2])  # (M, O, 2)
    return np.clip(sides, 0, None).prod(2).sum(1)


def outside(boxes: np.ndarray, wide: float) -> np.ndarray:
    """(M, 4) -> (M,) how far each box reaches out of the view."""
    over = np.maximum(-boxes[:, :2], boxes[:, 2:] - [wide, HEIGHT])
    return 10 * np.clip(over, 0, None).sum(1)
