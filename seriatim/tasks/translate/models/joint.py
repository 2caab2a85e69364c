"""A translator that counts units: a symbol of the source together with what is written for it, and
which units follow each other.

    p(x, y) = sum over all ways u to cut y for x  prod_i p(u_i | u_{i-n+1} .. u_{i-1})
    p(y | x) = p(x, y) / sum_y' p(x, y')

Joint n-grams, known from spelling and pronunciation as graphones (Bisani and Ney 2008). The units
come from `alignment`, the n-grams are those of the Kneser-Ney rung. Unlike the lexicon it knows
each symbol of the source in its context, with what was written before; unlike an encoder-decoder it
cannot change the order, and what it knows it has seen. The sums are over the `best` ways that a
beam search along the source finds; whatever else is written is left to n-grams of the target, which
have a small share throughout. Shapes: B rows, P source, H hypotheses, C candidates a source, T
time, V symbols of the target, K units, L symbols that a unit writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch
from seriatim.codecs.symbols import STOP, UNKNOWN
from seriatim.data.sequences import SYMBOLS, Field, offsets_of
from seriatim.distributions.symbols import Categorical, Distribution
from seriatim.errors import ConfigError, DataError
from seriatim.models.base import Shared, State
from seriatim.models.ngrams.ngram import Ngram
from seriatim.models.ngrams.options import NgramOptions
from seriatim.tasks.translate.codec import EncodedPairs
from seriatim.tasks.translate.models.counted import CountedPairs, refuse_further
from seriatim.tasks.translate.options import JointOptions

MOST_CELLS = 30_000_000  # of the training data that are aligned


FLOOR = 0.005  # share of each symbol that n-grams of the target explain


AT_ONCE = 1 << 22  # units that hypotheses hold, or go on by, in one search


SPECIAL = STOP + 1  # numbers of units below this have their usual meaning


CHUNKS = "chunks"  # the name of what `trace` gives


class Joint(CountedPairs):
    """State: what was found for the source (Shared: (M, C, T + 1) targets with their STOP, (M, C)
    their log-probabilities), how many symbols were written, which candidates (B, C) begin with
    them, and the state of the n-grams of the target."""

    special = SPECIAL

    def __init__(
        self,
        vocabulary: int,
        options: JointOptions,
        sources: int,
        numbers: int = 0,
        shared: bool = False,
        seen: int = 0,
        further: tuple[tuple[int, int], ...] = (),
    ):
        refuse_further(further)
        if numbers:
            raise ConfigError(
                "joint n-grams need symbols", got="a source of numbers", do="Use an encoder-decoder"
            )
        self.vocabulary, self.options, self.sources = vocabulary, options, sources
        self.language = Ngram(vocabulary, NgramOptions(order=3))
        self.lay([], [])

    def lay(self, source: list[int] | np.ndarray, written: list | np.ndarray) -> None:
        """(K,) the source of each unit and (K, L) what it writes, -1 where nothing; sorted by
        source."""
        self.source, self.written = (
            np.asarray(source, np.int64),
            np.asarray(written, np.int64).reshape(len(source), self.options.longest),
        )
        self.units = Ngram(SPECIAL + len(self.source), NgramOptions(order=self.options.order))
        self.first = np.searchsorted(
            self.source, np.arange(self.sources + 1)
        )  # where the units of each symbol begin

    # -- learning
    def counting_pairs(self, pairs: EncodedPairs) -> Iterator[dict[str, Any]]:
        """Find the units of both sides, then count which follow which."""
        o, base = self.options, self.vocabulary + 1
        if self.sources * float(base) ** o.longest >= 2**62:
            raise ConfigError(
                "there are too many symbols for units of this size",
                got=f"{self.sources:,} and {self.vocabulary:,} symbols, --longest {o.longest}",
                do="Choose a smaller --longest, or cut the text into smaller symbols",
            )
        sizes = pairs.x.lengths.astype(np.int64) * (pairs.y.lengths + 1) * (o.longest + 1)
        fit = (sizes <= MOST_CELLS // 10) & (
            pairs.y.lengths <= o.longest * pairs.x.lengths
        )  # not too long, and there is a way to cut it
        kept = np.flatnonzero(fit & (np.cumsum(sizes * fit) <= MOST_CELLS))
        if len(kept) < len(pairs):
            yield {
                "note": f"joint n-grams are learned from {len(kept):,} of {len(pairs):,} pairs: "
                "others are too long, or cannot be cut"
            }
        x, y = pairs.x.take(kept), pairs.y.take(kept)
        from seriatim.tasks.translate.models.alignment import align

        keys, units = yield from align(x, y, base, o.longest, o.rounds)
        yield from self.count_units(x, keys, units, base)
        yield from self.language.counting(pairs.y, stop=True)

    def count_units(
        self, x: Field, keys: np.ndarray, units: np.ndarray, base: int
    ) -> Iterator[dict[str, Any]]:
        """From the unit of each symbol (N,), by number among (K,) keys, to n-grams of those units
        that occur often enough and write nothing unknown. Pairs with others, and those that were
        not aligned, are left out."""
        written = (
            np.stack(
                [keys // base**place % base for place in reversed(range(self.options.longest))], 1
            )
            - 1
        )  # (K, L)
        often = (np.bincount(units[units >= 0], minlength=len(keys)) >= self.options.rarest) & (
            written != UNKNOWN
        ).all(1)
        known = np.append(often, False)[units]  # (N,) -1 is the last
        unknown = np.append(0, np.cumsum(~known))[
            x.offsets - x.offsets[0]
        ]  # how many there are before each pair
        whole = unknown[1:] == unknown[:-1]
        if not (whole & (x.lengths > 0)).any():
            raise DataError(
                "no target can be cut into pieces that occur often enough, one for each symbol of "
                "its source",
                got=f"{len(whole):,} pairs that can be cut at all, "
                f"--longest {self.options.longest}, --rarest {self.options.rarest}",
                do="Give more pairs, use a smaller --rarest or a larger --longest, or an "
                "encoder-decoder such as gru",
            )
        number = np.cumsum(often) - 1 + SPECIAL
        self.lay(keys[often] // base**self.options.longest, written[often])
        kept = np.repeat(whole, x.lengths)
        if not whole.all():
            yield {
                "note": f"{np.count_nonzero(~whole):,} of {len(whole):,} pairs have units that are "
                "too rare, and are not counted"
                + (
                    ": --rarest 1, smaller symbols or an encoder-decoder such as gru may serve better"
                    if whole.mean() < 0.5
                    else ""
                )
            }
        sequences = Field(
            number[units[kept]].astype(np.int32), offsets_of(x.lengths[whole]), SYMBOLS
        )
        yield from self.units.counting(sequences, stop=True)

    # -- searching
    def candidates(self, x: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(B, P) sources -> (B, C, T + 1) their likeliest targets, best first, STOP at and behind
        the end; (B, C) log p(x, y), -inf where there are fewer."""
        targets = np.full((len(x), self.options.best, self.options.longest * x.shape[1] + 1), STOP)
        scores = np.full((len(x), self.options.best), -np.inf)
        for length in np.unique(lengths):  # those of one length side by side
            rows, room = (
                np.flatnonzero(lengths == length),
                max(int(length) + 1, int(np.diff(self.first).max(initial=1))),
            )
            for some in np.array_split(
                rows, min(len(rows), -(-len(rows) * self.options.best * room // AT_ONCE))
            ):
                owner, written, score = self.gathered(*self.search(x[some, :length]))
                place = np.arange(len(owner)) - np.searchsorted(owner, owner)
                targets[some[owner], place, : written.shape[1]], scores[some[owner], place] = (
                    written,
                    score,
                )
        return targets, scores

    def search(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Beam search along (R, P) sources: for each hypothesis (H,) its source, (H, P) its units,
        -1 where none was known, and (H,) its log-probability."""
        nobody = torch.zeros(len(x), 0, dtype=torch.long)
        owner, score, way = np.arange(len(x)), np.zeros(len(x)), []
        nodes = self.units.start(
            Batch(nobody, torch.zeros(len(x), dtype=torch.long), nobody, nobody.bool())
        )[1]
        for symbols in x.T:
            row, unit, score = self.further(owner, nodes.numpy(), score, symbols[owner])
            owner, nodes, known = owner[row], nodes[row], torch.from_numpy(unit >= 0)
            nodes[known] = self.units.advance(
                torch.from_numpy(unit + SPECIAL)[known, None], nodes[known]
            )[:, 0]
            way.append((row, unit))
        units, at = np.full((len(owner), len(way)), -1), np.arange(len(owner))
        for place, (row, unit) in reversed(list(enumerate(way))):  # back to where each came from
            units[:, place], at = unit[at], row[at]
        return owner, units, score + self.units.look_up(nodes.numpy(), np.full(len(owner), STOP))[0]

    def further(
        self, owner: np.ndarray, nodes: np.ndarray, score: np.ndarray, symbols: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Each hypothesis goes on by every unit of its next symbol, and the best of each source are
        kept: (H',) which it was, its unit, its score. A symbol that has no units is passed over."""
        many = np.maximum(1, self.first[symbols + 1] - self.first[symbols])  # (H,)
        row = np.repeat(np.arange(len(many)), many)  # (H',)
        unit = (
            self.first[symbols[row]] + np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many)
        )
        unit = np.where(self.first[symbols[row]] < self.first[symbols[row] + 1], unit, -1)
        score, known = score[row], unit >= 0
        score[known] += self.units.look_up(nodes[row[known]], unit[known] + SPECIAL)[0]
        order = np.lexsort((-score, owner[row]))  # stable: equal ones stay as they stand
        place = np.arange(len(order)) - np.searchsorted(owner[row[order]], owner[row[order]])
        best = order[place < self.options.best]
        return row[best], unit[best], score[best]

    def gathered(
        self, owner: np.ndarray, units: np.ndarray, score: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What the hypotheses have written, those of each source together, best first: several ways
        to cut the same target are one."""
        written = np.append(self.written, np.full((1, self.options.longest), -1), 0)[units].reshape(
            len(units), -1
        )  # (H, P L), the last row for none
        written = np.take_along_axis(written, np.argsort(written < 0, 1, "stable"), 1)
        different, which = np.unique(
            np.column_stack([owner, np.where(written < 0, STOP, written)]),
            axis=0,
            return_inverse=True,
        )
        which, top = which.reshape(-1), np.full(len(different), -np.inf)
        np.maximum.at(top, which, score)
        total = top + np.log(np.bincount(which, np.exp(score - top[which]), len(different)))
        order = np.lexsort((-total, different[:, 0]))
        return different[order, 0], different[order, 1:], total[order]

    # -- answering
    def start(self, batch: Batch) -> tuple[Distribution, State]:
        """The targets that the search finds for each source, and what they begin with."""
        rows = len(batch.x)
        targets, scores = (
            torch.from_numpy(each)
            for each in self.candidates(batch.x.numpy(), batch.x_lengths.numpy())
        )
        following, inner = self.language.start(
            Batch(batch.x[:, :0], torch.zeros_like(batch.x_lengths), batch.y, batch.y_mask)
        )
        memory = Shared((torch.arange(rows), targets, scores.log_softmax(1)))
        state = (
            memory,
            torch.zeros(rows, dtype=torch.long),
            torch.ones(rows, self.options.best, dtype=torch.bool),
            inner,
        )
        return self.together(state, following), state

    def step(self, y: Tensor, state: State) -> tuple[Distribution, State]:
        """What goes on after y in the targets that still agree with it."""
        memory, place, alive, inner = state
        following, inner = self.language.step(y, inner)
        state = (memory, place + 1, alive & (self.due(memory, place) == y[:, None]), inner)
        return self.together(state, following), state

    def due(self, memory: Shared, place: Tensor) -> Tensor:
        """(B,) places -> (B, C) the symbol of each candidate there."""
        owner, targets, _ = memory
        return targets[
            owner[:, None],
            torch.arange(targets.shape[1]),
            place.clamp(max=targets.shape[2] - 1)[:, None],
        ]

    def together(self, state: State, following: Distribution) -> Categorical:
        """What the candidates that are left expect, each as likely as it is; and the n-grams of the
        target."""
        memory, place, alive, _ = state
        share = memory[2][memory[0]].masked_fill(~alive, -torch.inf)  # (B, C)
        some = share.isfinite().any(1)
        expected = torch.zeros(len(place), self.vocabulary, dtype=torch.float64)
        expected[some] = expected[some].scatter_add_(
            1, self.due(memory, place)[some], share[some].double().softmax(1)
        )
        spelled = following.log_probs().double().exp()
        return Categorical(
            torch.where(some[:, None], (1 - FLOOR) * expected + FLOOR * spelled, spelled)
            .log()
            .float()
        )

    def trace(self, batch: Batch) -> dict[str, Tensor]:
        """chunks (B, 1, T, P): 1 where a symbol of the source writes one of the target, in the
        likeliest way to cut it; the end belongs to the last one. All 0 where there is no such way."""
        from seriatim.tasks.translate.models.cuts import chunks

        found = torch.zeros(len(batch.x), 1, batch.y.shape[1], batch.x.shape[1])
        for s, many in enumerate(batch.x_lengths.tolist()):
            y = batch.y[s][batch.y_mask[s]][:-1].numpy()  # without STOP
            cut = chunks(self, batch.x[s, :many].numpy(), y)
            if cut is not None and many:
                owner = np.append(np.repeat(np.arange(many), cut), many - 1)
                found[s, 0, np.arange(len(owner)), owner] = 1.0
        return {CHUNKS: found}

    # -- keeping it
    def arrays(self) -> dict[str, Tensor]:
        """The units, and both n-gram models."""
        own = {"source": torch.from_numpy(self.source), "written": torch.from_numpy(self.written)}
        return own | {
            f"{part}.{name}": array
            for part in ("units", "language")
            for name, array in getattr(self, part).arrays().items()
        }

    def load_arrays(self, arrays: dict[str, Tensor]) -> None:
        """Take back what `arrays` gave; raises ValueError if it does not fit."""
        source, written = arrays.get("source"), arrays.get("written")
        if source is None or written is None:
            raise ValueError("it has no units")
        sound = (
            source.dtype == written.dtype == torch.int64
            and source.dim() == 1
            and written.shape == (len(source), self.options.longest)
        )
        if not sound or (
            len(source)
            and (
                bool((source[1:] < source[:-1]).any())
                or int(source[0]) < 0
                or int(source[-1]) >= self.sources
                or int(written.min()) < -1
                or int(written.max()) >= self.vocabulary
            )
        ):
            raise ValueError("its units are not a table")
        self.lay(source.numpy(), written.numpy())
        for part in ("units", "language"):
            getattr(self, part).load_arrays(
                {
                    name.removeprefix(f"{part}."): array
                    for name, array in arrays.items()
                    if name.startswith(f"{part}.")
                }
            )

    def size(self) -> int:
        """Units, and the values of both n-gram models."""
        return len(self.source) + self.units.size() + self.language.size()
