"""Fitting word vectors: the text in rounds, a piece for each thread, the inner loop compiled.

Threads change the same vectors without waiting for each other (Recht et al. 2011); two rarely touch
the same word at the same time, and where they do an update may be lost. With `deterministic` each
thread changes a copy, and after a round the changes are added up: each thread works with what the
others knew a round ago. The same seed and number of threads then give the same bits.

    for event in WordLoop(model, lesson, training, checkpoint).run(): ...
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from seriatim.errors import DataError, RunError, SeriatimError, TrainingError
from seriatim.models.recipe import TrainingOptions
from seriatim.progress import note
from seriatim.storage import on_disk, read_arrays, write_arrays
from seriatim.tasks.words.models.glove import Glove, pairs_of
from seriatim.tasks.words.models.vectors import FIRST, Vectors, VectorTables
from seriatim.training.ending import Ending, improving

if TYPE_CHECKING:
    from seriatim.tasks.words.cut import WordsLesson

PIECE = 100_000  # words of text a thread reads between two looks at the clock


LEAST_PIECE = 2_000


SMALLEST_RATE = 1e-4  # share of the rate that is left at the end


HELD = 200_000  # words of validation data looked at


NOTHING_HELD = (
    "there is nothing to validate on: of the text held out no two words stand together, once those that "
    "are everywhere are thinned out; give more with --valid, or a larger --subsample"
)


Guess = tuple[Tensor, Tensor, Tensor]  # rows of inputs, the guess of each, and its share
Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]  # (P,) first and second words, and weights
NO_PAIRS: Pairs = (np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32))


@dataclass
class WordProgress:
    """Where a fit is: plain numbers, saved with every checkpoint."""

    epoch: int = 0
    place: int = 0  # words of this epoch already read
    step: int = 0  # rounds, which are the updates of `--updates` and of all that is reported
    seconds: float = 0.0
    loss: float = 0.0
    best: float = math.inf
    worse: int = 0
    looks: list[float] = field(default_factory=list)  # what validation found, each time
    done: bool = False


class WordLoop:
    """The loop of one model of word vectors. The lesson gives `text` (N,) and `held` with -1 between
    sequences, `counts` (V,) and `words`."""

    tables: VectorTables
    loop: Callable[..., Any]  # compiled: see `kernels`

    def __init__(
        self, model: Vectors, lesson: WordsLesson, options: TrainingOptions, checkpoint: Path | None
    ):
        self.model, self.lesson, self.options, self.checkpoint = model, lesson, options, checkpoint
        self.progress, self.threads = WordProgress(), max(1, options.threads)
        self.dice = (
            np.random.default_rng(options.seed)
            .integers(1, 2**63, (self.threads, 1))
            .astype(np.uint64)
        )
        self.best: dict[str, torch.Tensor] = {}
        self.more: list[np.ndarray] = []  # changed by threads besides the vectors
        self.empty = False  # whether it was said that nothing is held out
        self.size, self.falling = (
            len(lesson.text),
            True,
        )  # words to read in an epoch; whether the rate falls

    def share(self) -> float:
        """How much of the budget is spent: the nearest of the limits given."""
        return min(1.0, max(self.spent().values()))

    def spent(self) -> dict[str, float]:
        """How much of each limit is spent."""
        o, p, read = self.options, self.progress, self.progress.epoch * self.size
        limits = {
            "minutes": (p.seconds, 60 * (o.minutes or 0)),
            "updates": (p.step, o.updates or 0),
            "epochs": (read + p.place, (o.epochs or 0) * self.size),
        }
        return {name: done / most for name, (done, most) in limits.items() if most}

    def stopped(self) -> str:
        """Why it is over."""
        spent = self.spent()
        if not self.progress.done:
            return "interrupted"
        return max(spent, key=lambda name: spent[name]) if self.share() >= 1 else "patience"

    def run(self) -> Generator[dict[str, Any], None, None]:
        """Train until the budget is spent, patience is, or the user interrupts; yields events."""
        o, p, resumed = self.options, self.progress, self.restore()
        if not resumed:
            self.model.begin(self.lesson.counts, o.seed)
        if self.checkpoint is not None:
            self.lesson.text = on_disk(self.checkpoint.with_name("ids.npy"), self.lesson.text)
        yield from self.prepare()
        most = PIECE // 2 if self.model.options.deterministic else PIECE
        piece = max(LEAST_PIECE, min(most, self.size // (8 * self.threads)))
        yield {
            "event": "begin",
            "step": p.step,
            "steps_per_epoch": math.ceil(self.size / (piece * self.threads)),
            "resumed": resumed,
            "per": self.model.per,
            "parameters": self.model.inputs.numel() + self.model.outputs.numel(),
        }
        try:
            yield from self.rounds(piece)
            self.save()
        except KeyboardInterrupt:
            if not p.step:  # nothing was learned that could be kept
                raise
            yield {"event": "interrupted", "step": p.step, "seconds": p.seconds}
        if self.best and o.patience:
            self.model.load_arrays(self.best)
        epochs = p.epoch + p.place / self.size
        read = round(epochs * self.size)
        ending = Ending(p.step, epochs, read, self.stopped(), improving(p.looks))
        few = replace(ending, updates=read)  # each word of a round changes vectors of its own
        yield {
            "event": "end",
            **ending.record(self.size),
            "unfinished": few.unfinished(self.size),
            "seconds": p.seconds,
            "valid": p.best if math.isfinite(p.best) else None,
            "said": self.said(),
        }

    def rounds(self, piece: int) -> Iterator[dict[str, Any]]:
        """Round after round, with validations, reports and checkpoints in between."""
        o, p = self.options, self.progress
        zero, reported, saved = time.perf_counter() - p.seconds, 0.0, time.perf_counter()
        with ThreadPoolExecutor(self.threads) as pool:
            while not p.done:
                before = self.share()
                rate = o.rate * max(SMALLEST_RATE, 1 - before) if self.falling else o.rate
                self.round(pool, piece, np.float32(rate))
                p.seconds = time.perf_counter() - zero
                share = self.share()
                if int(share * o.validations) > int(before * o.validations) or share >= 1:
                    yield self.validate()
                    p.seconds = time.perf_counter() - zero
                p.done = share >= 1 or bool(o.patience and p.worse >= o.patience)
                if time.perf_counter() - reported > 0.25:
                    reported = time.perf_counter()
                    yield self.reached(share)
                if time.perf_counter() - saved > o.checkpoint_seconds:
                    self.save()
                    saved = time.perf_counter()

    def reached(self, share: float) -> dict[str, Any]:
        """How far it is, as an event."""
        p = self.progress
        return {
            "event": "step",
            "step": p.step,
            "epoch": p.epoch + p.place / self.size,
            "loss": p.loss,
            "share": share,
            "seconds": p.seconds,
            "remaining": p.seconds / share * (1 - share),
            "rate": self.options.rate * (1 - share),
            "words_per_second": (p.epoch * self.size + p.place) / max(p.seconds, 1e-9),
        }

    def prepare(self) -> Iterator[dict[str, Any]]:
        """Look-up tables and the compiled loop."""
        from seriatim.tasks.words.models import kernels

        self.tables, self.loop = self.model.tables(self.lesson.words), kernels.read
        yield from ()

    def arrays(self) -> list[np.ndarray]:
        """What threads change."""
        return [self.model.inputs.numpy(), self.model.outputs.numpy()]

    def round(self, pool: ThreadPoolExecutor, piece: int, rate: np.float32) -> None:
        """A piece of text for each thread."""
        p, size = self.progress, self.size
        begins = [
            begin for begin in range(p.place, min(size, p.place + piece * self.threads), piece)
        ]
        ours, totals = self.arrays(), np.zeros((len(begins), 3))
        alone = self.model.options.deterministic and len(begins) > 1
        copies = [[each.copy() for each in ours] if alone else ours for _ in begins]
        work = [
            pool.submit(
                self.read, begin, min(size, begin + piece), mine, rate, self.dice[i], totals[i]
            )
            for i, (begin, mine) in enumerate(zip(begins, copies, strict=True))
        ]
        for each in work:
            each.result()
        if alone:
            for mine, theirs in zip(ours, zip(*copies, strict=True), strict=True):
                put_together(mine, theirs)
        loss = float(totals[:, 0].sum() / max(1.0, totals[:, 2].sum()))
        p.loss += (loss - p.loss) * max(0.05, 1 / (p.step + 1))
        p.step, p.place = p.step + 1, min(size, p.place + piece * self.threads)
        if not math.isfinite(loss):
            raise TrainingError(
                f"training left the finite numbers after {p.step} rounds",
                got=f"loss {loss}",
                do="Lower --rate",
            )
        if p.place >= size:
            p.epoch, p.place = p.epoch + 1, 0

    def read(
        self,
        begin: int,
        end: int,
        vectors: list[np.ndarray],
        rate: np.float32,
        dice: np.ndarray,
        totals: np.ndarray,
        text: np.ndarray | None = None,
    ) -> None:
        """One thread's piece of the text; of another text, only its loss."""
        o, t, learn = self.model.options, self.tables, text is None
        self.loop(
            self.lesson.text if learn else text,
            begin,
            end,
            *vectors,
            self.model.number,
            o.window,
            o.dynamic_window,
            t.keep,
            t.part_offsets,
            t.parts,
            t.chance,
            t.other,
            o.negatives if o.output == "negative" else 0,
            t.path_offsets,
            t.nodes,
            t.codes,
            rate,
            o.exact,
            learn,
            dice,
            totals,
        )

    def held(self) -> float | None:
        """The loss of a place of held-out text, always with the same windows and the same words
        drawn; None where no two of its words are left to stand together."""
        text, totals = self.lesson.held[:HELD], np.zeros(3)
        self.read(
            0, len(text), self.arrays(), np.float32(0), np.array([1], np.uint64), totals, text
        )
        return float(totals[0] / totals[2]) if totals[2] else None

    def said(self) -> str:
        """The best look at held-out text in words; none where there was nothing to look at."""
        best = self.progress.best
        return f"{self.model.per} {best:.3f}" if math.isfinite(best) else ""

    def judge(self, loss: float) -> None:
        """Keep the best so far."""
        p = self.progress
        p.looks.append(loss)
        p.worse = 0 if loss < p.best else p.worse + 1
        if loss < p.best:
            p.best = loss
            if self.options.patience:
                self.best = {name: array.clone() for name, array in self.model.arrays().items()}

    def validate(self) -> dict[str, Any]:
        """Look at held-out text, and say so in an event."""
        p, loss = self.progress, self.held()
        if loss is not None:
            self.judge(loss)
        elif not self.empty:
            self.empty = True
            note(NOTHING_HELD)
        return {
            "event": "validation",
            "step": p.step,
            "seconds": p.seconds,
            "train": p.loss,
            "valid": loss,
            "best": p.best if math.isfinite(p.best) else None,
            "share": self.share(),
            "said": self.said() or "nothing to validate on",
            **self.lesson.watched(self.model),
        }

    # -- checkpoints
    def save(self) -> None:
        """Write the checkpoint, if there is to be one."""
        if self.checkpoint is not None:
            arrays = {f"weights.{name}": array for name, array in self.model.arrays().items()} | {
                f"best.{name}": array for name, array in self.best.items()
            }
            arrays |= {
                f"more.{i}": torch.from_numpy(each) for i, each in enumerate(self.arrays()[2:])
            }
            arrays["dice"] = torch.from_numpy(self.dice.view(np.int64).copy())
            write_arrays(
                self.checkpoint,
                arrays,
                asdict(self.progress)
                | {"best": None if self.progress.best == math.inf else self.progress.best},
            )

    def restore(self) -> bool:
        """Go on from the checkpoint; False if there is none."""
        if self.checkpoint is None or not self.checkpoint.exists():
            return False
        try:
            arrays, record = read_arrays(self.checkpoint)
            self.progress.__dict__.update(
                record | {"best": math.inf if record["best"] is None else record["best"]}
            )
            self.model.load_arrays(
                {
                    name[8:]: array.clone()
                    for name, array in arrays.items()
                    if name.startswith("weights.")
                }
            )
            self.best = {
                name[5:]: array.clone()
                for name, array in arrays.items()
                if name.startswith("best.")
            }
            self.more = [
                arrays[name].numpy().copy() for name in sorted(arrays) if name.startswith("more.")
            ]
            self.dice = arrays["dice"].numpy().copy().view(np.uint64)
        except SeriatimError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            raise RunError(
                f"{self.checkpoint} is not a checkpoint of this fit",
                got=error,
                do="Begin anew with --overwrite",
            ) from None
        return True


class SoftmaxLoop(WordLoop):
    """The same windows, each guess judged against all words: exact, and as slow as the vocabulary
    is large. torch shares the work among threads."""

    def __init__(
        self, model: Vectors, lesson: WordsLesson, options: TrainingOptions, checkpoint: Path | None
    ):
        super().__init__(model, lesson, replace(options, threads=1), checkpoint)
        self.together = max(
            1, min(64, model.vocabulary // 16)
        )  # places whose gradients are added up for one step: few share a word

    def prepare(self) -> Iterator[dict[str, Any]]:
        """Look-up tables, and the loop that only finds windows."""
        from seriatim.tasks.words.models import kernels

        self.tables, self.loop = self.model.tables(self.lesson.words), kernels.windows
        yield from ()

    def read(
        self,
        begin: int,
        end: int,
        vectors: list[np.ndarray],
        rate: np.float32,
        dice: np.ndarray,
        totals: np.ndarray,
        text: np.ndarray | None = None,
    ) -> None:
        """A piece of the text, some places at a time: one step down the exact loss of each
        group."""
        o, t, learn = self.model.options, self.tables, text is None
        centres = np.zeros(end - begin, np.int32)
        members, owners = np.zeros((2, 2 * o.window * (end - begin)), np.int32)
        places, many = self.loop(
            self.lesson.text if learn else text,
            begin,
            end,
            self.model.number,
            o.window,
            o.dynamic_window,
            t.keep,
            dice,
            centres,
            members,
            owners,
        )
        inputs, outputs = map(torch.from_numpy, vectors)
        begins = np.arange(0, places + self.together, self.together)
        borders = np.searchsorted(owners[:many], begins)
        for first, low, high in zip(begins[:-1].tolist(), borders[:-1], borders[1:], strict=True):
            last = min(places, first + self.together)
            around, owner = members[low:high], owners[low:high] - first
            if self.model.kind == "skip-gram":  # each word around is a guess of its own
                targets, owner = centres[first + owner], np.arange(len(around))
            else:
                targets = centres[first:last]
            guess = self.guess_of(around, owner, len(targets))
            loss = self.descend(inputs, outputs, guess, targets, float(rate) if learn else 0.0)
            totals += [loss, len(targets), last - first]

    def guess_of(self, around: np.ndarray, owner: np.ndarray, many: int) -> Guess:
        """Words around, and the guess that each belongs to -> rows of `inputs`, the guess of each
        row, and its share (rows, 1) in it."""
        t = self.tables
        pieces = t.part_offsets[around + 1] - t.part_offsets[around]
        starts = np.repeat(t.part_offsets[around] - np.cumsum(pieces) + pieces, pieces)
        rows = torch.from_numpy(t.parts[starts + np.arange(pieces.sum())].astype(np.int64))
        whose = torch.from_numpy(np.repeat(owner, pieces).astype(np.int64))
        if not self.model.options.subwords:
            return rows, whose, (1.0 / torch.bincount(whose, minlength=many))[whose, None]
        words = np.bincount(owner, minlength=many)[owner]  # how many share the guess of each
        shares = np.repeat(1.0 / (pieces * words), pieces).astype(np.float32)
        return rows, whose, torch.from_numpy(shares)[:, None]

    def descend(
        self, inputs: Tensor, outputs: Tensor, guess: Guess, targets: np.ndarray, rate: float
    ) -> float:
        """The loss of some guesses; where there is a rate, one step down its gradient."""
        rows, owner, shares = guess
        hidden = torch.zeros(len(targets), inputs.shape[1])
        hidden.index_add_(0, owner, inputs[rows] * shares)  # (guesses, D)
        scores = hidden @ outputs.T
        scores[:, :FIRST] = -torch.inf
        scores = torch.log_softmax(scores, 1)
        there = torch.from_numpy(targets.astype(np.int64))[:, None]
        loss = -scores.gather(1, there).sum().item()
        if rate:
            ones = torch.ones(len(there), 1)
            miss = scores.exp_().neg_().scatter_add_(1, there, ones)  # onehot - p, (guesses, V)
            error = miss @ outputs
            outputs.addmm_(miss.T, hidden, alpha=rate)
            each = error[owner] * (shares if self.model.options.exact else 1.0)
            inputs.index_add_(0, rows, each, alpha=rate)
        return loss


class GloveLoop(WordLoop):
    """The same rounds over the table of pairs, in an order drawn anew for each epoch."""

    model: Glove
    seen: Pairs = NO_PAIRS  # of the text
    unseen: Pairs = NO_PAIRS  # of the held-out text, their counts brought to the size of the whole
    ordered: tuple[int, np.ndarray] | None = None  # an epoch, and its order

    def prepare(self) -> Iterator[dict[str, Any]]:
        """Count the pairs of both texts."""
        from seriatim.tasks.words.models import kernels

        begin, self.loop, self.falling = time.perf_counter(), kernels.weigh, False
        for share, pairs in pairs_of(
            self.lesson.text, self.model.options.window, self.model.vocabulary
        ):
            yield {
                "event": "pass",
                "words": "counting pairs",
                "share": share,
                "seconds": time.perf_counter() - begin,
            }
            if pairs is not None:
                self.seen = pairs
        if not len(self.seen[0]):
            raise DataError("no two words of the text stand together", do="Give a longer text")
        self.size = len(self.seen[0])
        if not self.more:
            shape = (2 * len(self.model.inputs), self.model.inputs.shape[1])
            self.more = [np.ones(shape, np.float32)]
        held = self.lesson.held[:HELD]
        for _, pairs in pairs_of(held, self.model.options.window, self.model.vocabulary):
            if pairs is not None:
                first, second, weight = pairs
                scale = np.float32(len(self.lesson.text) / max(1, len(held)))
                self.unseen = first, second, weight * scale

    def arrays(self) -> list[np.ndarray]:
        """The vectors, and the squares of past gradients."""
        return [*super().arrays(), *self.more]

    def read(
        self,
        begin: int,
        end: int,
        vectors: list[np.ndarray],
        rate: np.float32,
        dice: np.ndarray,
        totals: np.ndarray,
        text: np.ndarray | None = None,
    ) -> None:
        """One thread's share of the pairs."""
        self.weigh(self.seen, self.order(), begin, end, vectors, rate, True, totals)

    def weigh(
        self,
        pairs: Pairs,
        order: np.ndarray,
        begin: int,
        end: int,
        vectors: list[np.ndarray],
        rate: np.float32,
        learn: bool,
        totals: np.ndarray,
    ) -> None:
        """Some pairs in this order: learn from them, or only find their loss."""
        inputs, outputs, sums = vectors
        o = self.model.options
        self.loop(
            *pairs,
            order,
            begin,
            end,
            inputs,
            outputs,
            sums.reshape(2, len(inputs), -1),
            np.float32(o.most),
            np.float32(o.fading),
            rate,
            learn,
            totals,
        )

    def order(self) -> np.ndarray:
        """(P,) the order of this epoch."""
        epoch = self.progress.epoch
        if self.ordered is None or self.ordered[0] != epoch:
            self.ordered = (
                epoch,
                np.random.default_rng([self.options.seed, epoch]).permutation(self.size),
            )
        return self.ordered[1]

    def round(self, pool: ThreadPoolExecutor, piece: int, rate: np.float32) -> None:
        """A round over the pairs in this epoch's order."""
        self.order()  # before threads ask for it
        super().round(pool, piece, rate)

    def held(self) -> float | None:
        """The loss of the pairs of held-out text, their counts brought to the size of the whole; None
        where it has none."""
        totals, size = np.zeros(3), len(self.unseen[0])
        order = np.arange(size)
        self.weigh(self.unseen, order, 0, size, self.arrays(), np.float32(0), False, totals)
        return float(totals[0] / totals[2]) if totals[2] else None


def loop_of(
    model: Vectors, lesson: WordsLesson, options: TrainingOptions, checkpoint: Path | None
) -> WordLoop:
    """The loop that fits this kind of vectors."""
    if isinstance(model, Glove):
        return GloveLoop(model, lesson, options, checkpoint)
    kind = SoftmaxLoop if model.options.output == "softmax" else WordLoop
    return kind(model, lesson, options, checkpoint)


def put_together(ours: np.ndarray, theirs: tuple[np.ndarray, ...]) -> None:
    """(rows, D) before, and what each thread made of it: all their changes, one after the other."""
    before = ours.copy()
    for each in theirs:
        each -= before
        ours += each
