"""Beam search: the W likeliest beginnings at each step, of many rows at once, and what results must or must not have.

    score = log p(y) / length^penalty                                a finished one is ranked by this

A row ends when W results are finished and no beginning, at its present length, is better than the worst of them. Words that a result must have
are met by keeping beginnings apart by how much of them they have (Post and Vilar 2018); where nothing has them all, there is no result. A row's result
does not depend on its neighbours.
Knows start, step, select and nothing else. Shapes: A rows that are not finished, W beams, V symbols, K candidates of a row.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.config import DecodingOptions
from seriatim.distributions import Distribution
from seriatim.errors import ConfigError
from seriatim.models.base import Model, select


@dataclass
class Result:
    """A sequence written by a model."""
    symbols: list[int]
    log_prob: float = 0.0                  # of all its symbols, under the model itself
    ended: bool = False                    # by a stop symbol, which is not among the symbols
    score: float = 0.0                     # what it is ranked by

    def ranked(self, penalty: float) -> float:
        return self.log_prob / max(1, len(self.symbols) + self.ended) ** penalty

    def take(self, symbol: int, log_prob: float, stops: Sequence[int]) -> bool:
        """Write one more symbol; False if that ends it, or if nothing may follow."""
        if log_prob == -np.inf:
            return False
        self.log_prob += log_prob
        self.ended = symbol in stops
        if not self.ended:
            self.symbols.append(symbol)
        return not self.ended


@dataclass(frozen=True)
class Demands:
    """What results are to be like, besides likely. Phrases are rows of symbols."""
    prefix: tuple[int, ...] = ()
    must: tuple[tuple[int, ...], ...] = ()
    openings: tuple[tuple[int, ...], ...] = ()     # how each of these is written where a result begins, if that is different
    never: tuple[tuple[int, ...], ...] = ()
    most: Tensor | None = None             # (B,) how many symbols each row may have

    @property
    def ways(self) -> tuple[Way, ...]:
        """All ways to write what must come: each phrase anywhere, then each at the beginning."""
        every = [(self.must, False), (self.openings, True)]
        return tuple(Way(i, phrase, opening) for phrases, opening in every for i, phrase in enumerate(phrases) if phrase)

    def apply(self, log_probs: Tensor, written: Sequence[Sequence[int]]) -> Tensor:
        """(R, V) log-probabilities, what each row has written -> the same, minus infinity where a symbol may not follow."""
        if not (self.prefix or self.never) or not len(written):
            return log_probs
        log_probs, place = log_probs.clone(), len(written[0])
        if place < len(self.prefix):
            kept = log_probs[:, self.prefix[place]].clone()
            log_probs[:] = -torch.inf
            log_probs[:, self.prefix[place]] = kept
        for phrase in self.never:
            rows = [row for row, symbols in enumerate(written) if tuple(symbols[len(symbols) - len(phrase) + 1:]) == phrase[:-1]]
            log_probs[rows, phrase[-1]] = -torch.inf
        return log_probs


class Way(NamedTuple):
    """How a phrase may be written."""
    phrase: int                            # its number
    symbols: tuple[int, ...]
    opening: bool                          # only where a result begins

    def after(self, place: int, symbol: int) -> int:
        """How many of its symbols stand at the end of a beginning that had `place` of them, after one more; -1 if it can never come."""
        if self.opening:
            return place + 1 if 0 <= place < len(self.symbols) and self.symbols[place] == symbol else -1
        seen = (*self.symbols[:place], symbol)
        return next(many for many in range(min(len(seen), len(self.symbols)), -1, -1) if seen[len(seen) - many:] == self.symbols[:many])


@dataclass(frozen=True)
class Met:
    """How far a beginning has come with the phrases it must have. They may overlap."""
    places: tuple[int, ...]                # for each way how many of its symbols it ends with
    done: frozenset[int] = frozenset()

    def after(self, symbol: int, ways: Sequence[Way]) -> Met:
        places = tuple(way.after(place, symbol) for way, place in zip(ways, self.places, strict=True))
        return Met(places, self.done | {way.phrase for way, place in zip(ways, places, strict=True) if place == len(way.symbols)})

    def open(self, ways: Sequence[Way]) -> list[tuple[Way, int]]:
        """The ways that may still bring it further, and how far each has come."""
        return [(way, place) for way, place in zip(ways, self.places, strict=True) if way.phrase not in self.done and place >= 0]

    def wanted(self, ways: Sequence[Way]) -> list[int]:
        """The symbols that would bring it further."""
        return list(dict.fromkeys(way.symbols[place] for way, place in self.open(ways)))

    def count(self, ways: Sequence[Way]) -> int:
        """How many symbols of the phrases it has, and of the one it is in the middle of."""
        return sum(len(way.symbols) for way in ways if way.phrase in self.done and not way.opening) + max((place for _, place in self.open(ways)), default=0)


@dataclass
class Beam:
    """A beginning."""
    symbols: list[int] = field(default_factory=list)
    log_prob: float = 0.0
    met: Met = Met(())
    node: int = -1                         # its place in the tree, if one is kept


class Allowed(Distribution):
    """What is left of distributions where some symbols may not follow."""

    def __init__(self, log_probs: Tensor):
        self.left = log_probs                                                                     # (R, V)

    def log_probs(self) -> Tensor:
        return self.left


WIDEST = 4096                              # beams
Candidate = tuple[float, int, int]         # log-probability, which beam of its row it goes on from, symbol


def beam(model: Model, batch: Batch, options: DecodingOptions, stops: Sequence[int], forbidden: Sequence[int], demands: Demands | None = None,
         tree: list[dict] | None = None) -> list[list[Result]]:
    """For each row its `options.count` best results; of a single row also the tree of all candidates."""
    demands, width = demands or Demands(), max(options.beam, options.count)
    if width > WIDEST:
        raise ConfigError("a beam is not so wide", got=f"{width} for --beam {options.beam} --count {options.count}", do=f"Choose at most {WIDEST}, or sample")
    search = Search(options, demands, width, set(stops), list(forbidden), tree)
    if tree is not None and len(batch.x) != 1:
        raise ConfigError("the tree is shown of one sequence", got=f"{len(batch.x)} of them", do="Give one")
    following, state = model.start(batch)
    most = [options.length] * len(batch.x) if demands.most is None else demands.most.clamp(max=options.length).tolist()
    alive, beams = list(range(len(batch.x))), [[Beam(met=Met((0,) * len(search.ways)))] for _ in batch.x]
    results: list[list[Result]] = [[] for _ in batch.x]
    for step in range(max(most, default=0)):
        every = [each for row in alive for each in beams[row]]
        if demands.prefix or demands.never:
            following = Allowed(demands.apply(following.log_probs(), [each.symbols for each in every]))
        kept, parents, begin = [], [], 0
        for row, candidates in zip(alive, search.candidates(following, [beams[row] for row in alive]), strict=True):
            before = beams[row]
            beams[row], from_ = search.advance(before, candidates, results[row], last=step + 1 >= most[row])
            if beams[row]:
                kept.append(row)
                parents += [begin + parent for parent in from_]
            begin += len(before)
        alive = kept
        if not alive:
            break
        symbols = [each.symbols[-1] for row in alive for each in beams[row]]
        rows = torch.tensor(parents)
        state = state if parents == list(range(len(every))) else select(state, rows)
        following, state = model.step(torch.tensor(symbols), state)
    return [sorted(each, key=lambda result: -result.score)[:options.count] or [Result([], -np.inf if most[row] else 0.0)]
            for row, each in enumerate(results)]


@dataclass
class Search:
    options: DecodingOptions
    demands: Demands
    width: int
    stops: set[int]
    forbidden: list[int]
    tree: list[dict] | None

    def __post_init__(self) -> None:
        self.ways = self.demands.ways

    def candidates(self, following: Distribution, beams: list[list[Beam]]) -> Iterator[list[Candidate]]:
        """For each row the best ways to go on, best first."""
        enough = self.width * (len(self.stops) + 1) + len(self.forbidden)                         # each beam may end in as many ways as there are stops
        values, symbols = following.best(enough)                                                  # (A W, K)
        many, widest = values.shape[1], max(map(len, beams))
        there = np.arange(widest) < np.array([len(row) for row in beams])[:, None]                # (A, W): not all rows have as many beams
        totals, numbers = np.full((*there.shape, many), -np.inf), np.zeros((*there.shape, many), np.int64)
        numbers[there] = symbols
        totals[there] = np.where(np.isin(symbols, self.forbidden), -np.inf, values + np.array([each.log_prob for row in beams for each in row])[:, None])
        totals, numbers = totals.reshape(len(beams), -1), numbers.reshape(len(beams), -1)         # (A, W K)
        order = np.argsort(-totals, axis=1, kind="stable")[:, :None if self.demands.must else enough]
        ways = (each.tolist() for each in (np.take_along_axis(totals, order, 1), order // many, np.take_along_axis(numbers, order, 1)))
        log_probs, begin = following.log_probs() if self.demands.must else None, 0
        for row, *columns in zip(beams, *ways, strict=True):
            found = [candidate for candidate in zip(*columns, strict=True) if candidate[0] > -np.inf]
            if self.demands.must:
                have = {(parent, symbol) for _, parent, symbol in found}
                found += [(each.log_prob + float(log_probs[begin + parent, symbol]), parent, symbol) for parent, each in enumerate(row)
                          for symbol in each.met.wanted(self.ways) if (parent, symbol) not in have and symbol not in self.forbidden]
                found = sorted((candidate for candidate in found if candidate[0] > -np.inf), key=lambda candidate: -candidate[0])
            yield found
            begin += len(row)

    def advance(self, row: list[Beam], candidates: list[Candidate], results: list[Result], last: bool) -> tuple[list[Beam], list[int]]:
        """The beginnings of a row after one more symbol, and which ones they come from; none if the row is finished."""
        must, prefix, live = self.demands.must, len(self.demands.prefix), []
        spread = self.spread(row, candidates) if must else candidates
        for value, parent, symbol in spread:
            if value == -np.inf or len(live) == self.width:
                break
            if symbol in self.stops and (not must or len(row[parent].met.done) == len(must)):
                self.finish(results, row[parent].symbols, value, True)
                self.note(row[parent], symbol, value, "ended", results[-1].score)
            elif symbol not in self.stops:
                node = self.note(row[parent], symbol, value, "kept")
                live.append((Beam([*row[parent].symbols, symbol], value, row[parent].met.after(symbol, self.ways) if must else row[parent].met, node), parent))
        for value, parent, symbol in candidates if self.tree is not None else ():
            if value > -np.inf and not any(each["parent"] == row[parent].node and each["symbol"] == symbol for each in self.tree):
                self.note(row[parent], symbol, value, "pruned")
        good = sorted((result.score for result in results), reverse=True)[self.width - 1:self.width]
        best = -np.inf if not live else max(each.log_prob for each, _ in live) if must else live[0][0].log_prob      # without phrases the first is the best
        bound = best / (len(row[0].symbols) + 2) ** self.options.length_penalty
        if live and not last and not (good and good[0] >= bound):
            return [each for each, _ in live], [parent for _, parent in live]
        if not good:                                                                              # the room is used up, or nothing may follow
            for each in [each for each, _ in live] or (row if not results else []):
                if len(each.met.done) == len(must) and len(each.symbols) >= prefix:
                    self.finish(results, each.symbols, each.log_prob, False)
        return [], []

    def spread(self, row: list[Beam], candidates: list[Candidate]) -> list[Candidate]:
        """Candidates in turn from those that have all phrases to those that have none of them, so that each kind keeps some room."""
        banks: dict[int, list[Candidate]] = {}
        for candidate in candidates:
            _, parent, symbol = candidate
            met = row[parent].met
            banks.setdefault((met if symbol in self.stops else met.after(symbol, self.ways)).count(self.ways), []).append(candidate)
        ordered = [banks[number] for number in sorted(banks, reverse=True)]
        return [bank[turn] for turn in range(max(map(len, ordered), default=0)) for bank in ordered if turn < len(bank)]

    def finish(self, results: list[Result], symbols: list[int], log_prob: float, ended: bool) -> None:
        results.append(Result(symbols, log_prob, ended))
        results[-1].score = results[-1].ranked(self.options.length_penalty)

    def note(self, parent: Beam, symbol: int, log_prob: float, fate: str, score: float | None = None) -> int:
        """A node of the tree."""
        if self.tree is None:
            return -1
        self.tree.append({"node": len(self.tree), "parent": parent.node, "step": len(parent.symbols), "symbol": symbol, "log_prob": log_prob,
                          "fate": fate, "score": score})
        return len(self.tree) - 1
