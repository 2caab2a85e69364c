"""By which chunks joint n-grams write a target: the likeliest way to cut it for its source.

    best = argmax over all ways u to cut y for x  prod_i p(u_i | u_{i-n+1} .. u_{i-1})

The model itself sums over many ways; this is the largest of its terms. As in the search for a
target (`joint`), only that a hypothesis must write the target that is given: hypotheses that have
written as much, and stand at the same n-gram, go on alike, so that the best of them is enough.
Shapes: P source, T target without its STOP, K units, L symbols that a unit writes, H hypotheses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from seriatim.batches import Batch
from seriatim.codecs.symbols import STOP

if TYPE_CHECKING:
    from seriatim.tasks.translate.models.joint import Joint

MOST_WAYS = 4096  # hypotheses that are kept after each symbol of the source
BEYOND = -9  # behind the end of a target: no unit writes it


def chunks(model: Joint, x: np.ndarray, y: np.ndarray) -> np.ndarray | None:
    """(P,) source, (T,) target -> (P,) how many symbols of the target each of the source writes; None
    where no units that are known write it."""
    nobody = torch.zeros(1, 0, dtype=torch.long)
    start = Batch(nobody, torch.zeros(1, dtype=torch.long), nobody, nobody.bool())
    nodes = model.units.start(start)[1].numpy()  # (H, N) where they stand among the n-grams
    done, score = np.zeros(1, np.int64), np.zeros(1)  # (H,) symbols written, log-probability
    way: list[tuple[np.ndarray, np.ndarray]] = []
    for place, symbol in enumerate(x):
        row, unit = candidates(model, done, int(symbol), y, len(x) - place - 1)
        if not len(row):
            return None
        long, known = lengths_of(model, unit), unit >= 0
        nodes, done, score = nodes[row], done[row] + long, score[row]
        score[known] += model.units.look_up(nodes[known], unit[known] + model.special)[0]
        following = torch.from_numpy(unit[known] + model.special)[:, None]
        nodes = nodes.copy()
        nodes[known] = model.units.advance(following, torch.from_numpy(nodes[known]))[:, 0].numpy()
        best = bests(done, nodes, score)
        nodes, done, score = nodes[best], done[best], score[best]
        way.append((row[best], long[best]))
    score = score + model.units.look_up(nodes, np.full(len(nodes), STOP))[0]
    score[done < len(y)] = -np.inf
    here = int(np.argmax(score))
    if not np.isfinite(score[here]):
        return None
    found = np.zeros(len(x), np.int64)
    for place, (row, long) in reversed(list(enumerate(way))):  # back to where each came from
        found[place], here = long[here], row[here]
    return found


def candidates(
    model: Joint, done: np.ndarray, symbol: int, y: np.ndarray, left: int
) -> tuple[np.ndarray, np.ndarray]:
    """How hypotheses that have written so much may go on by one symbol of the source, of which so many
    are left: (H',) which it was, its unit; a symbol that has no units is passed over, unit -1."""
    longest = model.options.longest
    begin, end = model.first[symbol], model.first[symbol + 1]
    if begin == end:
        row, unit = np.arange(len(done)), np.full(len(done), -1)
        return row[len(y) - done <= longest * left], unit[len(y) - done <= longest * left]
    written = model.written[begin:end]  # (K, L), -1 where nothing
    rest = np.concatenate([y, np.full(longest, BEYOND)])
    ahead = rest[done[:, None] + np.arange(longest)]  # (H, L) what is to be written next
    fits = ((written[None] == ahead[:, None]) | (written[None] < 0)).all(-1)  # (H, K)
    long = (written >= 0).sum(-1)
    reach = (len(y) - done)[:, None] - long[None] <= longest * left
    row, unit = np.nonzero(fits & reach)
    return row, unit + begin


def lengths_of(model: Joint, unit: np.ndarray) -> np.ndarray:
    """(H,) units -> how many symbols each writes; -1: none."""
    return (model.written[unit] >= 0).sum(-1) * (unit >= 0)


def bests(done: np.ndarray, nodes: np.ndarray, score: np.ndarray) -> np.ndarray:
    """The best of those that go on alike; of many the likeliest."""
    where = np.column_stack([done, nodes])  # (H, 1 + N)
    order = np.lexsort((-score, *where.T))
    alike = (np.diff(where[order], axis=0) == 0).all(1)
    kept = order[np.concatenate([[True], ~alike])]
    return kept[np.argsort(-score[kept], kind="stable")[:MOST_WAYS]]
