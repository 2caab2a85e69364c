"""A recursive network over bracketed sequences: the vector of a tree from those of its parts.

    base case        a word        h_p = tanh(W x_p + b)
    inductive step   a bracket     h_p = tanh(W x_p + U sum_{c in children(p)} h_c + b)

Unlike recurrence, in which what comes next joins what was read, vectors join as brackets say: the
children of a bracket are the words and brackets directly inside. It stands at its `)`, whose x is
0 in the first layer; at `(` there is the zero from which a sum begins. Socher et al. 2011; the sum of
children is that of Tai et al. 2015, through a plain cell, and does not see their order.

    ( and ( or T F ) T )        or, T, F -> ) ;  and, ) , T -> )          two levels above the words

Which positions belong together is found from the symbols by `trees_of`, on the CPU, and passed in:
a value, which no module keeps. All nodes of one height are computed at once, in all rows.
Shapes: B rows, T time, D width, N = B T places, M nodes of a height, C children of these.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from seriatim.layers.linear import Linear
from seriatim.layers.mixer import Mixer


@dataclass(frozen=True)
class Level:
    """All nodes of one height."""

    nodes: Tensor  # (M,) their places among all (N,)
    children: Tensor  # (C,) the places of their children
    owner: Tensor  # (C,) which of the nodes each is a child of


@dataclass(frozen=True)
class Trees:
    """Which places belong together."""

    openings: Tensor  # (B, T) True at `(`
    closings: Tensor  # (B, T) True at `)` that closes one
    levels: tuple[Level, ...]  # from below


def trees_of(
    symbols: Tensor | None, lengths: Tensor, time: int, brackets: tuple[int, int] | None
) -> Trees:
    """(B, P) symbols, (B,) lengths -> the trees among `time` >= P places. Without symbols or
    brackets every place is a word. A bracket that has no partner joins nothing."""
    device, rows = lengths.device, len(lengths)
    opening, closing = np.zeros((2, rows, time), bool)
    if symbols is not None and brackets is not None:
        x = symbols.cpu().numpy()
        real = np.arange(x.shape[1]) < lengths.cpu().numpy()[:, None]  # (B, P)
        opening[:, : x.shape[1]] = (x == brackets[0]) & real
        closing[:, : x.shape[1]] = (x == brackets[1]) & real
    parent, height, closing = related(opening, closing)
    levels = []
    for level in range(1, int(height.max(initial=0)) + 1):
        nodes = np.flatnonzero(height == level)
        number = np.full(height.size, -1)
        number[nodes] = np.arange(len(nodes))
        children = np.flatnonzero((parent >= 0) & (number[parent] >= 0))
        found = (nodes, children, number[parent[children]])
        levels.append(Level(*(torch.as_tensor(each, device=device) for each in found)))
    openings, closings = (torch.as_tensor(each, device=device) for each in (opening, closing))
    return Trees(openings, closings, tuple(levels))


def related(opening: np.ndarray, closing: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(B, T) where brackets open and close -> (N,) the place of the bracket that each place is
    directly inside, -1 for none; (N,) the height of each, 0 of words; (B, T) those that close one."""
    rows, time = opening.shape
    depth = np.cumsum(opening.astype(np.int64) - closing, 1)  # (B, T)
    lowest = np.minimum(np.minimum.accumulate(depth, 1), 0) if time else depth
    alone = np.diff(lowest, axis=1, prepend=0) < 0  # it closes nothing
    closing, depth = closing & ~alone, depth - lowest
    # a word stands at the depth inside of its bracket, a node at that outside of itself
    place = np.arange(rows * time)
    key = (np.repeat(np.arange(rows), time) * (time + 1) + depth.ravel()) * time + place % max(
        1, time
    )
    ends = np.flatnonzero(closing.ravel())
    inside = key[ends] + time  # one deeper
    order = np.argsort(inside)
    found = np.searchsorted(inside[order], key, "right")  # the next end at this depth
    there = found < len(ends)
    next_end = (
        np.where(there, inside[order][np.minimum(found, len(ends) - 1)], 0) if len(ends) else key
    )
    there &= next_end // max(1, time) == key // max(1, time)  # of the same row and depth
    there &= (depth.ravel() > 0) & ~opening.ravel() & ~alone.ravel()
    parent = np.full(rows * time, -1)
    if len(ends):
        parent[there] = ends[order][found[there]]
    height = closing.ravel().astype(np.int64)
    for level in range(int(depth.max(initial=0)), 0, -1):  # from the innermost outwards
        some = ends[depth.ravel()[ends] == level]
        some = some[parent[some] >= 0]
        np.maximum.at(height, parent[some], height[some] + 1)
    return parent, height, closing


class Tree(Mixer):
    """One layer; the state is empty."""

    def __init__(self, width: int):
        super().__init__()
        self.inward = Linear(width, width)  # W, b
        self.upward = Linear(width, width, bias=False)  # U

    def empty(self, rows: int, device: torch.device | None = None) -> Tensor:
        """Nothing is carried."""
        return torch.zeros(rows, 0, device=device)

    def forward(
        self, x: Tensor, state: Tensor, lengths: Tensor | None, trees: Trees
    ) -> tuple[Tensor, Tensor]:
        """(B, T, D), and which places belong together -> (B, T, D)."""
        own = self.inward(x).flatten(0, 1)  # (N, D)
        h = torch.tanh(own) * ~trees.openings.flatten()[:, None]
        for level in trees.levels:
            total = own.new_zeros(len(level.nodes), own.shape[1])  # (M, D)
            total = total.index_add(0, level.owner, h[level.children].to(total.dtype))
            above = torch.tanh(own[level.nodes] + self.upward(total))
            h = h.index_copy(0, level.nodes, above.to(h.dtype))
        return h.unflatten(0, x.shape[:2]), state
