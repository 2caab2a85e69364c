"""A translator that counts units: a symbol of the source together with what is written for it, and which units follow each other.

    p(x, y) = sum over all ways u to cut y for x  prod_i p(u_i | u_{i-n+1} .. u_{i-1}),   p(y | x) = p(x, y) / sum_y' p(x, y')

Joint n-grams, known from spelling and pronunciation as graphones (Bisani and Ney 2008). The units come from `alignment`, the n-grams are those
of the Kneser-Ney rung. Unlike the lexicon it knows each symbol of the source in its context, with what was written before; unlike an
encoder-decoder it cannot change the order, and what it knows it has seen. The sum over y' is over the `best` targets that a beam search along the source
finds; whatever else is written is left to n-grams of the target, which have a small share throughout.
Shapes: B rows, H hypotheses, C candidates a source, T time, V symbols of the target, K units.
"""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.codecs.pairs import Pairs
from seriatim.codecs.symbols import STOP
from seriatim.config import JointOptions, NgramOptions
from seriatim.data.sequences import SYMBOLS, Field, offsets_of
from seriatim.distributions import Categorical, Distribution
from seriatim.errors import ConfigError
from seriatim.models.base import Model, Shared, State
from seriatim.models.ngram import Ngram

MOST_CELLS = 40_000_000                    # of the training data that are aligned
FLOOR = 0.005                              # share of each symbol that n-grams of the target explain
SPECIAL = STOP + 1                         # numbers of units below this have their usual meaning


@dataclass
class Hypotheses:
    """Beginnings of targets, for many sources side by side."""
    owner: np.ndarray                      # (H,) whose
    nodes: np.ndarray                      # (H, n - 1) state of the n-grams of units
    score: np.ndarray                      # (H,) log-probability
    written: np.ndarray                    # (H, T) symbols
    length: np.ndarray                     # (H,) how many of them

    def take(self, rows: np.ndarray) -> Hypotheses:
        return Hypotheses(self.owner[rows], self.nodes[rows], self.score[rows], self.written[rows], self.length[rows])


class Joint(Model):
    """State: what was found for the source (Shared: (M, C, T + 1) targets with their STOP, (M, C) their log-probabilities), how many symbols were
    written, which candidates (B, C) begin with them, and the state of the n-grams of the target."""

    def __init__(self, vocabulary: int, options: JointOptions, sources: int, numbers: int = 0, shared: bool = False):
        if numbers:
            raise ConfigError("joint n-grams need symbols", got="a source of numbers", do="Use an encoder-decoder")
        self.vocabulary, self.options, self.sources = vocabulary, options, sources
        self.language = Ngram(vocabulary, NgramOptions(order=3))
        self.lay([], [])

    def lay(self, source: list[int] | np.ndarray, written: list | np.ndarray) -> None:
        """(K,) the source of each unit and (K, L) what it writes, -1 where nothing; sorted by source."""
        self.source, self.written = np.asarray(source, np.int64), np.asarray(written, np.int64).reshape(len(source), self.options.longest)
        self.units = Ngram(SPECIAL + len(self.source), NgramOptions(order=self.options.order))
        self.first = np.searchsorted(self.source, np.arange(self.sources + 1))      # where the units of each symbol begin
        self.length = (self.written >= 0).sum(1)

    # -- learning
    def counting(self, pairs: Pairs) -> Iterator[dict[str, Any]]:
        o, base = self.options, self.vocabulary + 1
        if self.sources * float(base) ** o.longest >= 2 ** 62:
            raise ConfigError("there are too many symbols for units of this size", got=f"{self.sources:,} and {self.vocabulary:,} symbols, "
                              f"--longest {o.longest}", do="Choose a smaller --longest, or cut the text into smaller symbols")
        sizes = np.cumsum(pairs.x.lengths.astype(np.int64) * (pairs.y.lengths + 1) * (o.longest + 1))
        kept = max(1, int(np.searchsorted(sizes, MOST_CELLS, "right")))
        if kept < len(pairs):
            yield {"note": f"joint n-grams are learned from the first {kept:,} of {len(pairs):,} pairs"}
        x, y = pairs.x.take(slice(0, kept)), pairs.y.take(slice(0, kept))
        from seriatim.models.alignment import align  # compiled code is loaded by those who need it
        keys, units = yield from align(x, y, base, o.longest, o.rounds)
        yield from self.count_units(x, keys, units, base)
        yield from self.language.counting(pairs.y, stop=True)

    def count_units(self, x: Field, keys: np.ndarray, units: np.ndarray, base: int) -> Iterator[dict[str, Any]]:
        """From the unit of each symbol (N,), by number among (K,) keys, to n-grams of those units that occur often enough. What is rarer, or was not
        aligned, ends the sequence for those around it: it is left out with its pair."""
        often = np.bincount(units[units >= 0], minlength=len(keys)) >= self.options.least
        known = np.append(often, False)[units]                                      # (N,) -1 is the last
        begin = x.offsets - x.offsets[0]
        whole = np.array([known[a:b].all() for a, b in pairwise(begin)], bool)
        number = np.cumsum(often) - 1 + SPECIAL
        digits = [keys[often] // base ** place % base for place in reversed(range(self.options.longest))]
        self.lay(keys[often] // base ** self.options.longest, np.stack(digits, 1) - 1)
        kept = np.repeat(whole, x.lengths)
        if not whole.all():
            yield {"note": f"{np.count_nonzero(~whole):,} of {len(whole):,} pairs are cut in a way that is too rare, and are not counted"}
        sequences = Field(number[units[kept]].astype(np.int32), offsets_of(x.lengths[whole]), SYMBOLS)
        yield from self.units.counting(sequences, stop=True)

    # -- searching
    def candidates(self, x: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(B, P) sources -> (B, C, T + 1) their likeliest targets, STOP at and behind the end; (B, C) log-probabilities, -inf where there are fewer."""
        rows, start = len(x), self.units.start(Batch(*(torch.zeros(1, *more, dtype=torch.long) for more in ((0,), (), (0,), (0,)))))[1].numpy()
        room = self.options.longest * x.shape[1]
        live = Hypotheses(np.arange(rows), np.repeat(start, rows, 0), np.zeros(rows), np.full((rows, room), STOP), np.zeros(rows, np.int64))
        ended = []
        for place in range(x.shape[1] + 1):
            over = lengths[live.owner] == place
            ended.append(live.take(np.flatnonzero(over)))
            live = live.take(np.flatnonzero(~over))
            if len(live.owner):
                live = self.further(live, x[live.owner, place])
        all_ended = Hypotheses(*(np.concatenate(each) for each in zip(*(vars(part).values() for part in ended), strict=True)))
        all_ended.score = all_ended.score + self.units.look_up(all_ended.nodes, np.full(len(all_ended.owner), STOP))[0]
        return self.gathered(all_ended, rows)

    def further(self, live: Hypotheses, symbols: np.ndarray) -> Hypotheses:
        """Each hypothesis goes on by all units of its next symbol, and the best of each source are kept. A symbol that has none is passed over."""
        many = self.first[symbols + 1] - self.first[symbols]                        # (H,)
        row = np.repeat(np.arange(len(many)), np.maximum(1, many))                  # (H',)
        inside = np.arange(len(row)) - np.repeat(np.cumsum(np.maximum(1, many)) - np.maximum(1, many), np.maximum(1, many))
        unit, new = self.first[symbols[row]] + inside, many[row] > 0
        score = live.score[row].copy()
        score[new] += self.units.look_up(live.nodes[row[new]], unit[new] + SPECIAL)[0]
        order = np.lexsort((unit, row, -score, live.owner[row]))
        owner = live.owner[row[order]]
        best = order[np.arange(len(order)) - np.searchsorted(owner, owner) < self.options.best]
        row, unit, new = row[best], unit[best], new[best]
        after = live.take(row)
        after.score = score[best]
        if new.any():
            numbers = torch.from_numpy(unit[new] + SPECIAL)[:, None]
            after.nodes[new] = self.units.advance(numbers, torch.from_numpy(after.nodes[new]))[:, 0].numpy()
            for place in range(self.options.longest):
                writing = np.flatnonzero(new)[self.written[unit[new], place] >= 0]
                after.written[writing, after.length[writing] + place] = self.written[unit[writing], place]
            after.length[new] += self.length[unit[new]]
        return after

    def gathered(self, ended: Hypotheses, rows: int) -> tuple[np.ndarray, np.ndarray]:
        """The candidates of each source, best first: several ways to cut the same target are one."""
        columns = np.concatenate([ended.owner[:, None], ended.length[:, None], ended.written], 1)
        different, which = np.unique(columns, axis=0, return_inverse=True)
        which = which.reshape(-1)
        top = np.full(len(different), -np.inf)
        np.maximum.at(top, which, ended.score)
        total = top + np.log(np.bincount(which, np.exp(ended.score - top[which]), len(different)))
        order = np.lexsort((-total, different[:, 0]))
        owner = different[order, 0]
        place = np.arange(len(order)) - np.searchsorted(owner, owner)
        targets = np.full((rows, self.options.best, ended.written.shape[1] + 1), STOP)
        scores = np.full((rows, self.options.best), -np.inf)
        targets[owner, place, :-1], scores[owner, place] = different[order, 2:], total[order]
        return targets, scores

    # -- answering
    def start(self, batch: Batch) -> tuple[Distribution, State]:
        rows = len(batch.x)
        targets, scores = (torch.from_numpy(each) for each in self.candidates(batch.x.numpy(), batch.x_lengths.numpy()))
        following, inner = self.language.start(Batch(batch.x[:, :0], torch.zeros_like(batch.x_lengths), batch.y, batch.y_mask))
        memory = Shared((torch.arange(rows), targets, scores.log_softmax(1)))
        state = (memory, torch.zeros(rows, dtype=torch.long), torch.ones(rows, self.options.best, dtype=torch.bool), inner)
        return self.together(state, following), state

    def step(self, y: Tensor, state: State) -> tuple[Distribution, State]:
        memory, place, alive, inner = state
        following, inner = self.language.step(y, inner)
        state = (memory, place + 1, alive & (self.due(memory, place) == y[:, None]), inner)
        return self.together(state, following), state

    def due(self, memory: Shared, place: Tensor) -> Tensor:
        """(B,) places -> (B, C) the symbol of each candidate there."""
        owner, targets, _ = memory
        return targets[owner[:, None], torch.arange(targets.shape[1]), place.clamp(max=targets.shape[2] - 1)[:, None]]

    def together(self, state: State, following: Distribution) -> Categorical:
        """What the candidates that are left expect, each as likely as it is; and the n-grams of the target."""
        memory, place, alive, _ = state
        share = memory[2][memory[0]].masked_fill(~alive, -torch.inf)                # (B, C)
        some = share.isfinite().any(1)
        expected = torch.zeros(len(place), self.vocabulary, dtype=torch.float64)
        expected[some] = expected[some].scatter_add_(1, self.due(memory, place)[some], share[some].double().softmax(1))
        spelled = following.log_probs().double().exp()
        return Categorical(torch.where(some[:, None], (1 - FLOOR) * expected + FLOOR * spelled, spelled).log().float())

    # -- keeping it
    def arrays(self) -> dict[str, Tensor]:
        own = {"source": torch.from_numpy(self.source), "written": torch.from_numpy(self.written)}
        return own | {f"{part}.{name}": array for part in ("units", "language") for name, array in getattr(self, part).arrays().items()}

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        source, written = arrays["source"], arrays["written"]
        sound = source.dtype == written.dtype == torch.int64 and source.dim() == 1 and written.shape == (len(source), self.options.longest)
        if not sound or (len(source) and (bool((source[1:] < source[:-1]).any()) or int(source[0]) < 0 or int(source[-1]) >= self.sources
                                          or int(written.min()) < -1 or int(written.max()) >= self.vocabulary)):
            raise ValueError("its units are not a table")
        self.lay(source.numpy(), written.numpy())
        for part in ("units", "language"):
            getattr(self, part).load_arrays({name.removeprefix(f"{part}."): array for name, array in arrays.items() if name.startswith(f"{part}.")})

    def size(self) -> int:
        return len(self.source) + self.units.size() + self.language.size()
