"""Beam search: the W likeliest beginnings at each step, of many rows at once.

    score = log p(y) / length^penalty                                a finished one is ranked by this

A row ends when W results are finished and no beginning, at its present length, is better than the
worst of them. Phrases that a result must have are met by keeping beginnings apart by how much of
them they have (Post and Vilar 2018); where nothing has them all, there is no result. A row's result
does not depend on its neighbours. Knows start, step, select and nothing else. Shapes: A rows that
are not finished, W beams, V symbols, K candidates of a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from seriatim.batches import Batch
from seriatim.decoding.constraints import Allowed, Demands, Met, Way
from seriatim.decoding.options import DecodingOptions
from seriatim.decoding.results import Result, ranked
from seriatim.distributions.symbols import Distribution
from seriatim.errors import ConfigError
from seriatim.models.base import Model, asked, select


@dataclass
class Beam:
    """A beginning."""

    symbols: list[int] = field(default_factory=list)
    log_prob: float = 0.0
    met: Met = Met(())
    node: int = -1  # its place in the tree, if one is kept


Candidate = tuple[float, int, int]  # log-probability, which beam of its row it goes on from, symbol


def beam(
    model: Model,
    batch: Batch,
    options: DecodingOptions,
    stops: Sequence[int],
    forbidden: Sequence[int],
    demands: Demands | None = None,
    tree: list[dict[str, Any]] | None = None,
) -> list[list[Result]]:
    """For each row its `options.count` best results; of a single row also the tree of all
    candidates."""
    if tree is not None and len(batch.x) != 1:
        raise ConfigError(
            "the tree is shown of one sequence", got=f"{len(batch.x)} of them", do="Give one"
        )
    model, demands = asked(model), demands or Demands()
    search = Search(options, demands, options.beam, set(stops), list(forbidden), tree)
    most = demands.room(len(batch.x), options.length)
    following, state = model.start(batch)
    front = Front(
        list(range(len(batch.x))),
        [[Beam(met=Met((0,) * len(search.ways)))] for _ in batch.x],
        [[] for _ in batch.x],
    )
    for step in range(max(most, default=0)):
        before = len(front.every())
        parents = search.advance_all(front, search.allowed(following, front), step, most)
        if not front.alive:
            break
        if parents != list(range(before)):
            state = select(state, torch.tensor(parents))
        symbols = [each.symbols[-1] for each in front.every()]
        following, state = model.step(torch.tensor(symbols), state)
    return [
        sorted(each, key=lambda result: -result.score)[: options.count]
        or [Result([], -np.inf if most[row] else 0.0)]
        for row, each in enumerate(front.results)
    ]


@dataclass
class Front:
    """How far all rows are."""

    alive: list[int]  # rows that are not finished
    beams: list[list[Beam]]  # of each row
    results: list[list[Result]]

    def every(self) -> list[Beam]:
        """The beginnings of all rows that are not finished."""
        return [each for row in self.alive for each in self.beams[row]]


@dataclass
class Search:
    """How each row is searched."""

    options: DecodingOptions
    demands: Demands
    width: int
    stops: set[int]
    forbidden: list[int]
    tree: list[dict[str, Any]] | None

    def __post_init__(self) -> None:
        self.ways: tuple[Way, ...] = self.demands.ways

    def allowed(self, following: Distribution, front: Front) -> Distribution:
        """What may follow each beginning."""
        if not (self.demands.prefix or self.demands.never):
            return following
        written = [each.symbols for each in front.every()]
        return Allowed(self.demands.apply(following.log_probs(), written))

    def advance_all(
        self, front: Front, following: Distribution, step: int, most: list[int]
    ) -> list[int]:
        """One more symbol for all rows; which of all beginnings before it each one now goes on
        from."""
        rows = [front.beams[row] for row in front.alive]
        alive, parents, begin = [], [], 0
        for row, before, candidates in zip(
            front.alive, rows, self.candidates(following, rows), strict=True
        ):
            last = step + 1 >= most[row]
            front.beams[row], came = self.advance(before, candidates, front.results[row], last)
            if front.beams[row]:
                alive.append(row)
                parents += [begin + parent for parent in came]
            begin += len(before)
        front.alive = alive
        return parents

    def candidates(
        self, following: Distribution, beams: list[list[Beam]]
    ) -> Iterator[list[Candidate]]:
        """For each row the best ways to go on, best first."""
        # each beam may end in as many ways as there are stops
        enough = self.width * (len(self.stops) + 1) + len(self.forbidden)
        values, symbols = following.best(enough)  # (A W, K)
        many, widest = values.shape[1], max(map(len, beams))
        # (A, W): not all rows have as many beams
        there = np.arange(widest) < np.array([len(row) for row in beams])[:, None]
        totals = np.full((*there.shape, many), -np.inf)
        numbers = np.zeros((*there.shape, many), np.int64)
        numbers[there] = symbols
        before = np.array([each.log_prob for row in beams for each in row])[:, None]
        totals[there] = np.where(np.isin(symbols, self.forbidden), -np.inf, values + before)
        totals, numbers = (each.reshape(len(beams), -1) for each in (totals, numbers))  # (A, W K)
        kept = None if self.demands.must else enough
        order = np.argsort(-totals, axis=1, kind="stable")[:, :kept]
        columns = (
            np.take_along_axis(totals, order, 1).tolist(),
            (order // many).tolist(),
            np.take_along_axis(numbers, order, 1).tolist(),
        )
        found = (
            [candidate for candidate in zip(*row, strict=True) if candidate[0] > -np.inf]
            for row in zip(*columns, strict=True)
        )
        return self.with_wanted(found, following, beams) if self.demands.must else found

    def with_wanted(
        self, found: Iterator[list[Candidate]], following: Distribution, beams: list[list[Beam]]
    ) -> Iterator[list[Candidate]]:
        """The same, and for each beginning the symbols that bring it further with what it must
        have."""
        log_probs, begin = following.log_probs(), 0
        for row, candidates in zip(beams, found, strict=True):
            have = {(parent, symbol) for _, parent, symbol in candidates}
            more = [
                (each.log_prob + float(log_probs[begin + parent, symbol]), parent, symbol)
                for parent, each in enumerate(row)
                for symbol in each.met.wanted(self.ways)
                if (parent, symbol) not in have and symbol not in self.forbidden
            ]
            candidates += [candidate for candidate in more if candidate[0] > -np.inf]
            yield sorted(candidates, key=lambda candidate: -candidate[0])
            begin += len(row)

    def advance(
        self, row: list[Beam], candidates: list[Candidate], results: list[Result], last: bool
    ) -> tuple[list[Beam], list[int]]:
        """The beginnings of a row after one more symbol, and which ones they come from; none if the
        row is finished."""
        live, parents = self.extended(row, candidates, results)
        if self.tree is not None:
            self.note_pruned(self.tree, row, candidates)
        worst = sorted((result.score for result in results), reverse=True)[
            self.width - 1 : self.width
        ]  # of as many as the beam is wide, if there are so many
        if live and not last and not (worst and worst[0] >= self.bound(row, live)):
            return live, parents
        if not worst:  # the room is used up, or nothing may follow
            self.leave_off(live or (row if not results else []), results)
        return [], []

    def extended(
        self, row: list[Beam], candidates: list[Candidate], results: list[Result]
    ) -> tuple[list[Beam], list[int]]:
        """The best beginnings that go on, and those they come from; what ends on the way is a
        result."""
        must, live, parents = self.demands.must, list[Beam](), list[int]()
        for value, number, symbol in self.spread(row, candidates) if must else candidates:
            parent = row[number]
            if value == -np.inf or len(live) == self.width:
                break
            if symbol not in self.stops:
                met = parent.met.after(symbol, self.ways) if must else parent.met
                node = self.note(parent, symbol, value, "kept")
                live.append(Beam([*parent.symbols, symbol], value, met, node))
                parents.append(number)
            elif self.has_all(parent):
                self.finish(results, parent.symbols, value, True)
                self.note(parent, symbol, value, "ended", results[-1].score)
        return live, parents

    def has_all(self, each: Beam) -> bool:
        """Whether a beginning has every phrase that it must have."""
        return not self.demands.must or len(each.met.done) == len(self.demands.must)

    def bound(self, row: list[Beam], live: list[Beam]) -> float:
        """What the best beginning would be ranked by at its present length; without phrases the
        first is the best."""
        best = max(each.log_prob for each in live) if self.demands.must else live[0].log_prob
        return ranked(best, len(row[0].symbols) + 2, self.options.length_penalty)

    def leave_off(self, beginnings: list[Beam], results: list[Result]) -> None:
        """Beginnings that have what they must are results, though they did not come to their
        end."""
        for each in beginnings:
            if self.has_all(each) and len(each.symbols) >= len(self.demands.prefix):
                self.finish(results, each.symbols, each.log_prob, False)

    def spread(self, row: list[Beam], candidates: list[Candidate]) -> list[Candidate]:
        """Candidates in turn from those that have all phrases to those that have none of them, so
        that each kind keeps some room."""
        banks: dict[int, list[Candidate]] = {}
        for candidate in candidates:
            _, parent, symbol = candidate
            met = row[parent].met
            banks.setdefault(
                (met if symbol in self.stops else met.after(symbol, self.ways)).count(self.ways), []
            ).append(candidate)
        ordered = [banks[number] for number in sorted(banks, reverse=True)]
        return [
            bank[turn]
            for turn in range(max(map(len, ordered), default=0))
            for bank in ordered
            if turn < len(bank)
        ]

    def finish(
        self, results: list[Result], symbols: list[int], log_prob: float, ended: bool
    ) -> None:
        """One more result."""
        results.append(Result(symbols, log_prob, ended))
        results[-1].score = results[-1].ranked(self.options.length_penalty)

    def note(
        self, parent: Beam, symbol: int, log_prob: float, fate: str, score: float | None = None
    ) -> int:
        """A node of the tree."""
        if self.tree is None:
            return -1
        self.tree.append(
            {
                "node": len(self.tree),
                "parent": parent.node,
                "step": len(parent.symbols),
                "symbol": symbol,
                "log_prob": log_prob,
                "fate": fate,
                "score": score,
            }
        )
        return len(self.tree) - 1

    def note_pruned(
        self, tree: list[dict[str, Any]], row: list[Beam], candidates: list[Candidate]
    ) -> None:
        """The candidates that were neither kept nor ended."""
        there = {(each["parent"], each["symbol"]) for each in tree}
        for value, parent, symbol in candidates:
            if value > -np.inf and (row[parent].node, symbol) not in there:
                self.note(row[parent], symbol, value, "pruned")
                there.add((row[parent].node, symbol))
