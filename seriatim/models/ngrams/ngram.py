"""Models that count: uniform, unigram, Markov, and smoothed n-grams of all orders at once.

An n-gram model is two tables: log p(w | c) for every n-gram seen, and log g(c) for every context,
which is what a symbol not seen after c must add before it asks the next shorter context:

    log p(w | c) = table(c w)                        if c w was seen
                   log g(c) + log p(w | c')          otherwise;  c': c without its oldest symbol

The state is the node of every ending of what was seen, the longest last: a step is one look-up for
each length, whatever the order. Whole texts are scored in one sweep over sorted queries.
Shapes: B rows, T time, M queries, K nodes of a level, V symbols, n order.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.codecs.symbols import STOP, UNKNOWN
from seriatim.data.sequences import Field
from seriatim.distributions.symbols import Categorical, Distribution
from seriatim.models.base import Model, State
from seriatim.models.ngrams.counts import Counts, Progress, laid_out
from seriatim.models.ngrams.options import (
    MarkovOptions,
    NgramOptions,
    UniformOptions,
    UnigramOptions,
)
from seriatim.models.ngrams.pruning import by_count, by_entropy, prune, quantise
from seriatim.models.ngrams.smoothing import SMOOTHING, STATISTICS, Level, Smoothing, add
from seriatim.models.ngrams.tables import Tables
from seriatim.parallel import side_by_side
from seriatim.storage import Space

STRETCH = 1 << 19  # symbols scored at once


class Uniform(Model):
    """Below the ladder: every symbol is equally likely, whatever came before. The state is
    empty."""

    def __init__(self, vocabulary: int, options: UniformOptions):
        self.vocabulary = vocabulary

    def start(self, batch: Batch) -> tuple[Distribution, State]:
        """1 / V for every symbol."""
        state = torch.zeros(len(batch.x), 0)
        return Categorical(torch.zeros(len(batch.x), self.vocabulary)), state

    def step(self, y: Tensor, state: State) -> tuple[Distribution, State]:
        """The same again."""
        return Categorical(torch.zeros(len(y), self.vocabulary)), state

    def counting(self, ids: Field, stop: bool) -> Iterator[Progress]:
        """There is nothing to count."""
        return iter(())

    def arrays(self) -> dict[str, Tensor]:
        """Nothing was learned."""
        return {}

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Refuse whatever is given."""
        if arrays:
            raise ValueError(f"a uniform model has no arrays, received {sorted(arrays)}")


@dataclass(frozen=True)
class Edges:
    """What is counted at the edges of sequences and of the vocabulary: see `MarkovOptions`."""

    first: str = "start"
    ends: bool = True
    closed: bool = False

    @classmethod
    def of(cls, options: MarkovOptions) -> Edges:
        """Those of a Markov model."""
        return cls(options.first, options.ends, options.closed)


class Ngram(Model):
    """Counts of all lengths up to `order`, each leaning on the shorter: see `smoothing`."""

    def __init__(self, vocabulary: int, options: NgramOptions, edges: Edges | None = None):
        self.vocabulary, self.reach, self.options = vocabulary, options.order - 1, options
        self.edges = edges or Edges()
        self.ends = self.edges.ends
        self.many = vocabulary  # symbols that something is kept for; found by counting
        self.method = SMOOTHING[options.smoothing]
        self.tables = Tables.nothing(vocabulary + 1, options.order)
        self.discounts: list[np.ndarray] = []  # of level n at [n - 1], by count

    # -- learning
    def counting(
        self, ids: Field, stop: bool, known: np.ndarray | None = None
    ) -> Iterator[Progress]:
        """Learn: count, then smooth from the shortest n-grams to the longest. `known` (V,): what
        else belongs to a closed vocabulary than what is seen here."""
        places = len(ids.flat) + len(ids) * (1 + stop)
        # bytes of all that counting and smoothing hold
        space = Space(on_disk=0 < self.options.memory < places * (40 + 40 * self.reach))
        counts = Counts(self.vocabulary + 1)
        yield from counts.counting(ids, self.reach + 1, stop and self.ends, space)
        if self.edges.first == "unigram":
            counts.leave_beginnings()
        self.tables, self.discounts = Tables(counts.base, [], [], [], [], []), []
        nothing = np.flatnonzero(self.nothing_for(counts.counts[0][:-1] > 0, known))
        self.many = self.vocabulary - len(nothing)
        self.prepare(counts)
        lower = np.full(1, 1 / self.many, np.float32)  # p of the level before
        for n in range(1, self.reach + 2):
            lower = yield from self.smooth_level(counts, n, lower, space)
            if n == 1:
                lower[nothing], self.tables.log_p[0][nothing] = 0.0, -np.inf
        yield from self.reduce()

    def nothing_for(self, seen: np.ndarray, known: np.ndarray | None = None) -> np.ndarray:
        """(V,) whether a symbol was seen -> (V,) whether it is impossible."""
        nothing = np.zeros(self.vocabulary, bool)
        if self.edges.closed:
            nothing = ~seen if known is None else ~(seen | known)
        elif self.options.closed:
            nothing[UNKNOWN] = not seen[UNKNOWN]
        nothing[STOP] |= not self.ends
        return nothing

    def prepare(self, counts: Counts) -> None:
        """What is done to the counts before they are smoothed."""

    def even(self) -> float:
        """1 / V, of the symbols that are possible: p where nothing was counted."""
        seen = ~np.isneginf(self.tables.log_p[0][np.arange(self.vocabulary)])
        return 1 / (self.vocabulary - int(self.nothing_for(seen).sum()))

    def reduce(self) -> Iterator[Progress]:
        """Leave out and round what the options say."""
        if any(self.options.prune):
            yield {"words": "pruning by count", "share": 0.0}
            prune(self, by_count(self.tables, [1 + least for least in self.options.prune]))
        if self.options.threshold:
            yield {"words": "pruning by relative entropy", "share": 0.0}
            prune(self, by_entropy(self, self.options.threshold))
        if self.options.bits == 8:
            quantise(self.tables)

    def smooth_level(
        self, counts: Counts, n: int, lower: np.ndarray, space: Space
    ) -> Generator[Progress, None, np.ndarray]:
        """Turn the counts of one level into its tables, a block of contexts at a time."""
        keys, base = counts.keys[n - 1], counts.base
        a = counts.amounts(n, self.method.continuation)
        t = np.bincount(np.minimum(a, STATISTICS), minlength=STATISTICS + 1)[:STATISTICS]
        estimated = self.method.discounts(t)
        discount = np.array(self.method.fallback) if estimated is None else estimated
        if estimated is None:
            used = ", ".join(f"{d:.3g}" for d in discount[1:])
            yield {"note": f"too few {n}-grams to estimate their discounts: {used} are used"}
        p, log_p, log_g = (
            space.empty(length, np.float32) for length in (len(keys), len(keys), len(lower))
        )

        def weigh(block: tuple[int, int, int, int]) -> tuple:
            """The answers of a block of contexts."""
            first, last, begin, end = block  # contexts, and the places of their n-grams
            context = keys[begin:end] // base - first if n > 1 else np.zeros(end - begin, np.int64)
            level = Level(
                a[begin:end],
                context,
                np.bincount(context, a[begin:end], last - first),
                lower[counts.endings[n - 1][begin:end]].astype(np.float64),
                discount,
            )
            with np.errstate(invalid="ignore", divide="ignore"):
                some_p, some_g = self.method.weigh(level)
                return block, *self.settled(level, some_p, some_g)

        for (first, last, begin, end), some_p, some_log_p, some_log_g in side_by_side(
            weigh, counts.context_blocks(n)
        ):
            p[begin:end], log_p[begin:end], log_g[first:last] = some_p, some_log_p, some_log_g
            space.leave(p, log_p, log_g, keys, counts.endings[n - 1])
            yield {"words": f"smoothing {n}-grams", "share": end / max(1, len(keys))}
        if n == 1:
            p[-1], log_p[-1] = 0.0, -np.inf  # START is never predicted
        self.discounts.append(discount)
        self.tables.take_level(
            keys, log_p, log_g, counts.counts[n - 1], np.minimum(a, 255).astype(np.uint8)
        )
        space.leave(counts.counts[n - 1])
        counts.endings[n - 1] = np.zeros(0, np.int32)  # they have served
        return p

    def settled(
        self, level: Level, p: np.ndarray, g: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """p, log p and log g; a context that was never followed leaves all to the shorter one."""
        g = np.where(level.total > 0, g, 1.0)
        p = np.where(level.total[level.context] > 0, p, level.lower)
        return p, np.log(p), np.log(g)

    def lean(self, shorter: np.ndarray, log_g: np.ndarray) -> np.ndarray:
        """What a context makes of the shorter one's answer, for a symbol it has not seen."""
        return shorter + log_g

    # -- answering: the state of a row is its nodes of level 1 to n - 1, with -1 where that ending
    # was never seen
    def start(self, batch: Batch) -> tuple[Distribution, State]:
        """The nodes of the last n - 1 symbols of START and the prompt."""
        begin = torch.full((len(batch.x), self.reach), self.vocabulary)  # START everywhere
        seen = torch.cat([begin, batch.x], 1)  # (B, n - 1 + P)
        last = seen.gather(1, batch.x_lengths[:, None] + torch.arange(self.reach))  # (B, n - 1)
        state = torch.full((len(batch.x), self.reach), -1)
        for t in range(self.reach):
            state = self.advance(last[:, t : t + 1], state)[:, 0]
        return Counted(self, state), state

    def extend(self, y: Tensor, state: State) -> tuple[Distribution, State]:
        """The nodes after each of y."""
        nodes = self.advance(y, state)
        return Counted(self, nodes), nodes[:, -1]

    def advance(self, y: Tensor, state: Tensor, reach: int | None = None) -> Tensor:
        """(B, T) symbols after a state -> (B, T, n - 1) the nodes after each, up to level
        `reach`."""
        nodes, symbols = torch.full((*y.shape, self.reach), -1), y.numpy().reshape(-1)
        before = np.zeros(len(symbols), np.int64)
        for level in range(self.reach if reach is None else reach):
            if level:
                before = (
                    torch.cat([state[:, None, level - 1], nodes[:, :-1, level - 1]], 1)
                    .numpy()
                    .reshape(-1)
                )  # (B T,) nodes of `level`
            child = self.tables.child(level, before, symbols)
            reached = self.reached(level, before, symbols, child)
            nodes[..., level] = torch.from_numpy(reached).reshape(y.shape)
        return nodes

    def reached(
        self, level: int, before: np.ndarray, symbols: np.ndarray, child: np.ndarray
    ) -> np.ndarray:
        """(M,) the contexts that stand for `child`, nodes of level + 1, each a node `before`
        followed by a symbol; -1 where there is none. Where the first symbol is a unigram START is
        no context."""
        if level or self.edges.first == "start":
            return child
        return np.where(symbols == self.vocabulary, -1, child)

    def look_up(
        self, nodes: np.ndarray, y: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(M, n - 1) nodes, (M,) symbols -> (M,) log-probabilities; the length of the n-gram that
        gave each, and its node."""
        found, used, node = self.tables.log_p[0][y], np.ones(len(y), np.int64), y.copy()
        for level in range(1, self.reach + 1):
            known = np.flatnonzero(nodes[:, level - 1] >= 0)
            if not len(known):
                break
            context = nodes[known, level - 1]
            child = self.tables.child(level, context, y[known])
            seen = child >= 0
            found[known] = self.lean(found[known], self.tables.log_g[level][context])
            found[known[seen]] = self.tables.log_p[level][child[seen]]
            used[known[seen]], node[known[seen]] = level + 1, child[seen]
        return found, used, node

    def log_probs(self, nodes: np.ndarray) -> np.ndarray:
        """(M, n - 1) nodes -> (M, V)."""
        rows = np.tile(self.tables.log_p[0][np.arange(self.vocabulary)], (len(nodes), 1))
        for level in range(1, self.reach + 1):
            known = np.flatnonzero(nodes[:, level - 1] >= 0)
            rows[known] = self.lean(
                rows[known], self.tables.log_g[level][nodes[known, level - 1]][:, None]
            )
            row, symbol, place = self.tables.children_of(level, nodes[:, level - 1])
            rows[row, symbol] = self.tables.log_p[level][place]
        return rows

    def sweep(self, ids: Field, stop: bool) -> np.ndarray:
        """(N,) log-probability of every symbol of a corpus, and of STOP: long stretches at once,
        side by side."""
        symbols = laid_out(ids, self.vocabulary, stop)[:-1]

        def stretch(begin: int) -> np.ndarray:
            """The scores of some symbols, with those before them looked at."""
            before = min(begin, self.reach)  # the symbols that the first ones look back at
            return self.swept(symbols[begin - before : begin + STRETCH].astype(np.int64))[before:]

        scores = np.concatenate(
            [np.zeros(0, np.float32), *side_by_side(stretch, range(0, len(symbols), STRETCH))]
        )
        return scores[symbols != self.vocabulary]

    def swept(self, symbols: np.ndarray) -> np.ndarray:
        """(M,) symbols one after another -> (M,) log-probability of each."""
        # the n-gram that ends at each place, and what is known so far
        node, score = (self.reached(0, symbols, symbols, symbols), self.tables.log_p[0][symbols])
        for level in range(1, self.reach + 1):
            known = np.flatnonzero(node[:-1] >= 0) + 1  # places whose context was seen
            context = node[known - 1]
            child = self.tables.child(level, context, symbols[known])
            found = self.lean(score[known], self.tables.log_g[level][context])
            seen = child >= 0
            found[seen] = self.tables.log_p[level][child[seen]]
            score[known] = found
            node = np.full(len(symbols), -1)
            node[known] = self.reached(level, context, symbols[known], child)
        return score

    def trace(self, batch: Batch) -> dict[str, Tensor]:
        """For each place of y: the length of the n-gram that answered, what was taken from its
        count, and the log g it went through."""
        nodes, y = self.nodes_before(batch), batch.y.reshape(-1).numpy()
        found, order, node = self.look_up(nodes, y)
        own, discount = np.zeros(len(y), np.float32), np.zeros(len(y), np.float32)
        for n in np.unique(order):
            rows = order == n
            own[rows] = self.tables.log_p[n - 1][node[rows]]
            if len(self.tables.amounts[n - 1]):
                discount[rows] = self.taken(n, self.tables.amounts[n - 1][node[rows]])
        return {
            name: torch.from_numpy(array).reshape(batch.y.shape)
            for name, array in (("order", order), ("discount", discount), ("back_off", found - own))
        }

    def nodes_before(self, batch: Batch) -> np.ndarray:
        """(B T, n - 1) the nodes of what stands before each place of y."""
        found = self.predict(batch)
        if not isinstance(found, Counted):
            raise TypeError(f"{type(found).__name__} was not counted")
        return found.nodes.reshape(-1, self.reach).numpy()

    def taken(self, n: int, amounts: np.ndarray) -> np.ndarray:
        """(M,) what smoothing took from n-grams of length n that count so much."""
        if len(self.discounts) < n or len(self.discounts[n - 1]) < 2:
            return np.zeros(len(amounts))
        return self.method.taken(self.discounts[n - 1], amounts.astype(np.int64))

    # -- keeping
    def arrays(self) -> dict[str, Tensor]:
        """The tables, and the discounts of each level."""
        return self.tables.arrays() | {
            f"discounts.{n}": torch.from_numpy(discount)
            for n, discount in enumerate(self.discounts, 1)
        }

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave; raises ValueError if it does not fit."""
        discounts = {name: array for name, array in arrays.items() if name.startswith("discounts.")}
        if any(
            array.dtype != torch.float64 or array.dim() != 1 or not len(array)
            for array in discounts.values()
        ):
            raise ValueError("the discounts are not numbers")
        # of every level, or (a model that was not counted here) of none
        if discounts and len(discounts) != self.reach + 1:
            raise ValueError(f"discounts of {len(discounts)} levels, not of {self.reach + 1}")
        self.tables = Tables.of_arrays(
            self.vocabulary + 1,
            self.reach + 1,
            {name: array for name, array in arrays.items() if name not in discounts},
        )
        levels = [f"discounts.{n}" for n in range(1, len(discounts) + 1)]
        if discounts.keys() != set(levels):
            raise ValueError(f"discounts that do not fit: {', '.join(sorted(discounts)[:5])}")
        self.discounts = [discounts[name].numpy() for name in levels]

    def size(self) -> int:
        """Number of probabilities and of back-off weights."""
        return sum(map(len, self.tables.log_p)) + sum(map(len, self.tables.log_g))


class Markov(Ngram):
    """What followed the last `order` symbols in training: unlike Ngram, a context that was seen
    answers alone.

        p(w | c) = (#(c w) + k) / (#(c) + k V)          k: the pseudo-count

    With k = 0 these are relative frequencies. A context never followed has none, and with k > 0 the
    formula would forget all and say 1 / V; its longest ending that was followed answers instead.
    Not so where the vocabulary is `closed`: there the formula holds for every context, and all that
    were never seen share one node, the n-gram of STARTs alone, which nothing follows.
    """

    def __init__(self, vocabulary: int, options: MarkovOptions):
        lengths = NgramOptions(order=options.order + 1, memory=options.memory)
        super().__init__(vocabulary, lengths, Edges.of(options))
        k = options.add or 0.0
        self.method = Smoothing(lambda level: add(level, k, self.many))
        self.strict = options.closed and k > 0

    def prepare(self, counts: Counts) -> None:
        """A node of each level for the contexts that were never seen."""
        if self.strict:
            for n in range(2, self.reach + 1):
                counts.add_never(n)

    def reached(
        self, level: int, before: np.ndarray, symbols: np.ndarray, child: np.ndarray
    ) -> np.ndarray:
        """As of every n-gram; a context never seen is the last node of its level."""
        found = super().reached(level, before, symbols, child)
        if not (self.strict and 0 < level < self.reach):
            return found
        new = (before >= 0) & (child < 0) & (symbols != self.vocabulary)
        return np.where(new, len(self.tables.keys[level]) - 1, found)

    def settled(
        self, level: Level, p: np.ndarray, g: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """p, log p, and log g only where the context was followed by anything, or all count."""
        return p, np.log(p), np.where(self.strict | (level.total > 0), np.log(g), np.nan)

    def lean(self, shorter: np.ndarray, log_g: np.ndarray) -> np.ndarray:
        """A context that was followed by anything does not ask; here log g is its own answer. What
        is impossible alone is impossible after anything."""
        return np.where(np.isnan(log_g) | np.isneginf(shorter), shorter, log_g)

    def trace(self, batch: Batch) -> dict[str, Tensor]:
        """The number of symbols looked at, at each place of y."""
        nodes = self.nodes_before(batch)
        order = np.zeros(len(nodes), np.int64)
        for level in range(1, self.reach + 1):
            known = np.flatnonzero(nodes[:, level - 1] >= 0)
            order[known[~np.isnan(self.tables.log_g[level][nodes[known, level - 1]])]] = level
        return {"order": torch.from_numpy(order).reshape(batch.y.shape)}

    def size(self) -> int:
        """Number of different n-grams of the longest kind."""
        return int(np.count_nonzero(self.tables.counts[-1]))


def markov(vocabulary: int, options: MarkovOptions) -> Ngram:
    """What followed the last `order` symbols. With a pseudo-count for every symbol, if one is asked
    for; if not, a context leans on the next shorter one (Witten and Bell). Of many symbols, such as
    words, equal shares would say little else than that any of them may follow."""
    if options.add is not None:
        return Markov(vocabulary, options)
    lending = NgramOptions(order=options.order + 1, smoothing="witten-bell", memory=options.memory)
    return Ngram(vocabulary, lending, Edges.of(options))


class Unigram(Markov):
    """Markov of order 0: unlike Uniform, frequent symbols are likely."""

    def __init__(self, vocabulary: int, options: UnigramOptions):
        super().__init__(vocabulary, MarkovOptions(order=0, add=options.add))


class Counted(Distribution):
    """What a count model says after given contexts, looked up when asked."""

    def __init__(self, model: Ngram, nodes: Tensor):
        self.model, self.nodes = model, nodes  # (..., n - 1)

    def log_prob(self, y: Tensor) -> Tensor:
        """(...) symbols -> (...), looked up for these alone."""
        nodes = self.nodes.reshape(math.prod(y.shape), self.nodes.shape[-1])
        return torch.from_numpy(
            self.model.look_up(nodes.numpy(), y.reshape(-1).numpy())[0]
        ).reshape(y.shape)

    def log_probs(self) -> Tensor:
        """(..., V)."""
        shape = self.nodes.shape[:-1]
        nodes = self.nodes.reshape(math.prod(shape), self.nodes.shape[-1])
        return torch.from_numpy(self.model.log_probs(nodes.numpy())).reshape(
            *shape, self.model.vocabulary
        )

    def __getitem__(self, index: Any) -> Self:
        return type(self)(self.model, self.nodes[index])

    @classmethod
    def concatenate(cls, parts: Sequence[Self], axis: int) -> Self:
        """Their nodes side by side; all are of one model."""
        return cls(parts[0].model, torch.cat([part.nodes for part in parts], axis))
