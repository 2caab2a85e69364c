"""Fitting word vectors: the text in rounds, a piece for each thread, the inner loop compiled.

Threads change the same vectors without waiting for each other (Recht et al. 2011); two rarely touch the same word at the same
time, and where they do an update may be lost. With `deterministic` each thread changes a copy, and after a round the changes
are added up: each thread works with what the others knew a round ago. The same seed and number of threads then give the same bits.

    for event in WordLoop(model, task, training, checkpoint).run(): ...
"""
from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from seriatim.config import TrainingOptions
from seriatim.errors import DataError, RunError, TrainingError
from seriatim.models.glove import Glove, pairs_of
from seriatim.models.vectors import FIRST, Vectors
from seriatim.storage import on_disk, read_arrays, write_arrays

PIECE = 100_000                           # words of text a thread reads between two looks at the clock
LEAST_PIECE = 2_000
SMALLEST_RATE = 1e-4                      # share of the rate that is left at the end
HELD = 200_000                            # words of validation data looked at


@dataclass
class Progress:
    """Where a fit is: plain numbers, saved with every checkpoint."""
    epoch: int = 0
    place: int = 0                        # words of this epoch already read
    step: int = 0                         # rounds
    seconds: float = 0.0
    loss: float = 0.0
    best: float = math.inf
    worse: int = 0
    validations: int = 0
    done: bool = False


class WordLoop:
    """The loop of one model of word vectors. The task gives `text` (N,) and `held` with -1 between sequences, `counts` (V,) and `words`."""

    per = "nats per place"                                            # what a loss is

    def __init__(self, model: Vectors, task: Any, options: TrainingOptions, checkpoint: Path | None):
        self.model, self.task, self.options, self.checkpoint = model, task, options, checkpoint
        self.progress, self.threads = Progress(), max(1, options.threads)
        self.dice = np.random.default_rng(options.seed).integers(1, 2**63, (self.threads, 1)).astype(np.uint64)
        self.best: dict[str, torch.Tensor] = {}
        self.more: list[np.ndarray] = []                              # changed by threads besides the vectors
        self.size, self.falling = len(task.text), True                # words to read in an epoch; whether the rate falls

    def share(self) -> float:
        """How much of the budget is spent: the nearest of the limits given."""
        o, p = self.options, self.progress
        spent = [p.seconds / (60 * o.minutes)] if o.minutes else []
        spent += [p.step / o.steps] if o.steps else []
        spent += [(p.epoch * self.size + p.place) / (o.epochs * self.size)] if o.epochs else []
        return min(1.0, max(spent))

    def run(self) -> Iterator[dict[str, Any]]:
        o, p, resumed = self.options, self.progress, self.restore()
        if not resumed:
            self.model.begin(self.task.counts, o.seed)
        if self.checkpoint is not None:
            self.task.text = on_disk(self.checkpoint.with_name("ids.npy"), self.task.text)
        yield from self.prepare()
        most = PIECE // 2 if self.model.options.deterministic else PIECE
        piece = max(LEAST_PIECE, min(most, self.size // (8 * self.threads)))
        yield {"event": "begin", "step": p.step, "steps_per_epoch": math.ceil(self.size / (piece * self.threads)), "resumed": resumed, "per": self.per,
               "parameters": self.model.inputs.numel() + self.model.outputs.numel()}
        zero, reported, saved = time.perf_counter() - p.seconds, 0.0, time.perf_counter()
        try:
            with ThreadPoolExecutor(self.threads) as pool:
                while not p.done:
                    before = self.share()
                    self.round(pool, piece, np.float32(o.rate * max(SMALLEST_RATE, 1 - before) if self.falling else o.rate))
                    p.seconds = time.perf_counter() - zero
                    share = self.share()
                    if int(share * o.validations) > int(before * o.validations) or share >= 1:
                        yield self.validate()
                        p.seconds = time.perf_counter() - zero
                    p.done = share >= 1 or bool(o.patience and p.worse >= o.patience)
                    if time.perf_counter() - reported > 0.25:
                        reported = time.perf_counter()
                        yield {"event": "step", "step": p.step, "epoch": p.epoch + p.place / self.size, "loss": p.loss, "share": share,
                               "seconds": p.seconds, "remaining": p.seconds / share * (1 - share), "rate": o.rate * (1 - share),
                               "words_per_second": (p.epoch * self.size + p.place) / max(p.seconds, 1e-9)}
                    if time.perf_counter() - saved > o.checkpoint_seconds:
                        self.save()
                        saved = time.perf_counter()
            self.save()
        except KeyboardInterrupt:
            yield {"event": "interrupted", "step": p.step, "seconds": p.seconds}
        if self.best and o.patience:
            self.model.load_arrays(self.best)
        yield {"event": "end", "step": p.step, "epoch": p.epoch + p.place / self.size, "seconds": p.seconds,
               "valid": p.best if math.isfinite(p.best) else None}

    def prepare(self) -> Iterator[dict[str, Any]]:
        """Look-up tables and the compiled loop."""
        from seriatim.models import kernels
        self.tables, self.loop = self.model.tables(self.task.words), kernels.read
        yield from ()

    def arrays(self) -> list[np.ndarray]:
        """What threads change."""
        return [self.model.inputs.numpy(), self.model.outputs.numpy()]

    def round(self, pool: ThreadPoolExecutor, piece: int, rate: np.float32) -> None:
        """A piece of text for each thread."""
        p, size = self.progress, self.size
        begins = [begin for begin in range(p.place, min(size, p.place + piece * self.threads), piece)]
        ours, totals = self.arrays(), np.zeros((len(begins), 3))
        alone = self.model.options.deterministic and len(begins) > 1
        copies = [[each.copy() for each in ours] if alone else ours for _ in begins]
        work = [pool.submit(self.read, begin, min(size, begin + piece), mine, rate, self.dice[i], totals[i])
                for i, (begin, mine) in enumerate(zip(begins, copies, strict=True))]
        for each in work:
            each.result()
        if alone:
            for each, theirs in zip(ours, zip(*copies, strict=True), strict=True):
                put_together(each, theirs)
        loss = float(totals[:, 0].sum() / max(1.0, totals[:, 2].sum()))
        p.loss += (loss - p.loss) * max(0.05, 1 / (p.step + 1))
        p.step, p.place = p.step + 1, min(size, p.place + piece * self.threads)
        if not math.isfinite(loss):
            raise TrainingError(f"training left the finite numbers after {p.step} rounds", got=f"loss {loss}", do="Lower --rate")
        if p.place >= size:
            p.epoch, p.place = p.epoch + 1, 0

    def read(self, begin: int, end: int, vectors: list[np.ndarray], rate: np.float32, dice: np.ndarray, totals: np.ndarray,
             text: np.ndarray | None = None) -> None:
        """One thread's piece of the text; of another text, only its loss."""
        o, t, learn = self.model.options, self.tables, text is None
        self.loop(self.task.text if learn else text, begin, end, *vectors, self.model.number, o.window, o.shrink, t.keep, t.part_offsets, t.parts, t.chance,
                  t.other, o.negatives if o.output == "negative" else 0, t.path_offsets, t.nodes, t.codes, rate, o.exact, learn, dice, totals)

    def held(self) -> float:
        """The loss of a place of held-out text, always with the same windows and the same words drawn."""
        text, totals = self.task.held[:HELD], np.zeros(3)
        self.read(0, len(text), self.arrays(), np.float32(0), np.array([1], np.uint64), totals, text)
        return float(totals[0] / max(1.0, totals[2]))

    def validate(self) -> dict[str, Any]:
        p, loss = self.progress, self.held()
        p.validations += 1
        p.worse = 0 if loss < p.best else p.worse + 1
        if loss < p.best:
            p.best = loss
            if self.options.patience:
                self.best = {name: array.clone() for name, array in self.model.arrays().items()}
        return {"event": "validation", "step": p.step, "seconds": p.seconds, "train": p.loss, "valid": loss, "best": p.best, **self.task.watched(self.model)}

    # -- checkpoints
    def save(self) -> None:
        if self.checkpoint is not None:
            arrays = {f"weights.{name}": array for name, array in self.model.arrays().items()} | {f"best.{name}": array for name, array in self.best.items()}
            arrays |= {f"more.{i}": torch.from_numpy(each) for i, each in enumerate(self.arrays()[2:])}
            arrays["dice"] = torch.from_numpy(self.dice.view(np.int64).copy())
            write_arrays(self.checkpoint, arrays, asdict(self.progress) | {"best": None if self.progress.best == math.inf else self.progress.best})

    def restore(self) -> bool:
        if self.checkpoint is None or not self.checkpoint.exists():
            return False
        try:
            arrays, record = read_arrays(self.checkpoint)
            self.progress.__dict__.update(record | {"best": math.inf if record["best"] is None else record["best"]})
            self.model.load_arrays({name[8:]: array.clone() for name, array in arrays.items() if name.startswith("weights.")})
            self.best = {name[5:]: array.clone() for name, array in arrays.items() if name.startswith("best.")}
            self.more = [arrays[name].numpy().copy() for name in sorted(arrays) if name.startswith("more.")]
            self.dice = arrays["dice"].numpy().copy().view(np.uint64)
        except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            raise RunError(f"{self.checkpoint} is not a checkpoint of this fit", got=error, do="Begin anew with --overwrite") from None
        return True


class SoftmaxLoop(WordLoop):
    """The same windows, each guess judged against all words: exact, and as slow as the vocabulary is large. torch shares the work among threads."""

    def __init__(self, model: Vectors, task: Any, options: TrainingOptions, checkpoint: Path | None):
        super().__init__(model, task, replace(options, threads=1), checkpoint)
        self.together = max(1, min(64, model.vocabulary // 16))       # places whose gradients are added up for one step: few share a word

    def prepare(self) -> Iterator[dict[str, Any]]:
        from seriatim.models import kernels
        self.tables, self.loop = self.model.tables(self.task.words), kernels.windows
        yield from ()

    def read(self, begin: int, end: int, vectors: list[np.ndarray], rate: np.float32, dice: np.ndarray, totals: np.ndarray,
             text: np.ndarray | None = None) -> None:
        o, t, learn = self.model.options, self.tables, text is None
        centres, (members, owners) = np.zeros(end - begin, np.int32), np.zeros((2, 2 * o.window * (end - begin)), np.int32)
        places, many = self.loop(self.task.text if learn else text, begin, end, self.model.number, o.window, o.shrink, t.keep, dice, centres, members, owners)
        inputs, outputs = map(torch.from_numpy, vectors)
        borders = np.searchsorted(owners[:many], np.arange(0, places + self.together, self.together))
        for first, low, high in zip(range(0, places, self.together), borders[:-1], borders[1:], strict=False):
            around, owner = members[low:high], owners[low:high] - first
            if self.model.kind == "skip-gram":                                      # each word around is a guess of its own
                targets, owner = centres[first + owner], np.arange(len(around))
            else:
                targets = centres[first:min(places, first + self.together)]
            pieces = t.part_offsets[around + 1] - t.part_offsets[around]
            starts = np.repeat(t.part_offsets[around] - np.cumsum(pieces) + pieces, pieces)
            rows = torch.from_numpy(t.parts[starts + np.arange(pieces.sum())].astype(np.int64))
            owner = torch.from_numpy(np.repeat(owner, pieces).astype(np.int64))
            shares = (1.0 / torch.bincount(owner, minlength=len(targets)))[owner, None] if not o.subwords else torch.from_numpy(
                np.repeat(1.0 / (pieces * np.bincount(owner[np.cumsum(pieces) - pieces], minlength=len(targets))[owner[np.cumsum(pieces) - pieces]]),
                          pieces).astype(np.float32))[:, None]
            hidden = torch.zeros(len(targets), inputs.shape[1]).index_add_(0, owner, inputs[rows] * shares)       # (guesses, D)
            scores = hidden @ outputs.T
            scores[:, :FIRST] = -torch.inf
            scores, there = torch.log_softmax(scores, 1), torch.from_numpy(targets.astype(np.int64))[:, None]
            totals += [-scores.gather(1, there).sum().item(), len(targets), min(places, first + self.together) - first]
            if learn:
                miss = scores.exp_().neg_().scatter_add_(1, there, torch.ones(len(there), 1))                     # onehot - p, (guesses, V)
                error = miss @ outputs
                outputs.addmm_(miss.T, hidden, alpha=float(rate))
                inputs.index_add_(0, rows, error[owner] * (shares if o.exact else 1.0), alpha=float(rate))


class GloveLoop(WordLoop):
    """The same rounds over the table of pairs, in an order drawn anew for each epoch."""

    per = "squared error per pair"

    def prepare(self) -> Iterator[dict[str, Any]]:
        from seriatim.models import kernels
        begin, self.loop, self.falling = time.perf_counter(), kernels.weigh, False
        for share, pairs in pairs_of(self.task.text, self.model.options.window, self.model.vocabulary):
            yield {"event": "pass", "words": "counting pairs", "share": share, "seconds": time.perf_counter() - begin}
            self.first, self.second, self.weight = pairs or (np.zeros(0, np.int32),) * 3
        if not len(self.first):
            raise DataError("no two words of the text stand together", do="Give a longer text")
        self.size, self.ordered = len(self.first), None
        if not self.more:
            self.more = [np.ones((2, *self.model.inputs.shape), np.float32).reshape(2 * len(self.model.inputs), -1)]
        first, second, weight = deque(pairs_of(self.task.held[:HELD], self.model.options.window, self.model.vocabulary), maxlen=1)[0][1]
        self.unseen = first, second, weight * np.float32(len(self.task.text) / max(1, len(self.task.held[:HELD])))

    def arrays(self) -> list[np.ndarray]:
        return [*super().arrays(), *self.more]

    def read(self, begin: int, end: int, vectors: list[np.ndarray], rate: np.float32, dice: np.ndarray, totals: np.ndarray,
             pairs: tuple[np.ndarray, ...] | None = None) -> None:
        inputs, outputs, sums = vectors
        o, learn = self.model.options, pairs is None
        order = self.order() if learn else np.arange(end)
        self.loop(*((self.first, self.second, self.weight) if learn else pairs), order, begin, end, inputs, outputs, sums.reshape(2, len(inputs), -1),
                  np.float32(o.most), np.float32(o.fading), rate, learn, totals)

    def order(self) -> np.ndarray:
        """(P,) the order of this epoch."""
        epoch = self.progress.epoch
        if self.ordered is None or self.ordered[0] != epoch:
            self.ordered = epoch, np.random.default_rng([self.options.seed, epoch]).permutation(self.size)
        return self.ordered[1]

    def round(self, pool: ThreadPoolExecutor, piece: int, rate: np.float32) -> None:
        self.order()                                                  # before threads ask for it
        super().round(pool, piece, rate)

    def held(self) -> float:
        """The loss of the pairs of held-out text, their counts brought to the size of the whole."""
        totals = np.zeros(3)
        self.read(0, len(self.unseen[0]), self.arrays(), np.float32(0), self.dice[0].copy(), totals, self.unseen)
        return float(totals[0] / max(1.0, totals[2]))


def loop_of(model: Vectors, *rest: Any) -> WordLoop:
    kind = GloveLoop if isinstance(model, Glove) else SoftmaxLoop if model.options.output == "softmax" else WordLoop
    return kind(model, *rest)


def put_together(ours: np.ndarray, theirs: tuple[np.ndarray, ...]) -> None:
    """(rows, D) before, and what each thread made of it: all their changes, one after the other."""
    before = ours.copy()
    for each in theirs:
        each -= before
        ours += each
