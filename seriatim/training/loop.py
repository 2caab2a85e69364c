"""Fitting: any model, as a generator of events. The one gradient loop lives here.

A count model reads the data once. A network goes round: batch, loss, gradient, clip, update, with a
learning rate that rises, then falls to zero exactly when the budget (minutes, updates or epochs)
ends. A mixture fits its parts one after another, then its weights.

    for event in fit(model, parts, lesson): ...

A checkpoint holds all that the rest of a fit depends on (weights, best weights, optimiser, random
numbers, place in the data, carried state), so that a killed fit resumes to the same bits on the same
device. Random
numbers come from a generator of the fit's own; what is set for a thread (see `Loop.bracket`) is set
between two events, and put back.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from seriatim.batches import Batch
from seriatim.errors import ConfigError, TrainingError
from seriatim.layers.devices import chosen, dice, place, to
from seriatim.layers.randomness import borrowed, drawn_from
from seriatim.models.base import Model, NeuralModel, State
from seriatim.models.ladder import Part
from seriatim.models.mixture import Mixture
from seriatim.models.recipe import TrainingOptions
from seriatim.parallel import Workers, flushed, throughout
from seriatim.training.averaging import RunningMean
from seriatim.training.checkpoints import Checkpoint, named, numbered, of_kind
from seriatim.training.ending import Ending, improving
from seriatim.training.gradients import add_gradients
from seriatim.training.lesson import Event, Lesson
from seriatim.training.optimisers import Rules, make_optimiser
from seriatim.training.schedule import Clock, Progress, Schedule
from seriatim.training.trials import (
    FIRST_ROWS,
    check_precision,
    choose_compilation,
    choose_looks,
    choose_parts,
    choose_precision,
    choose_rows,
)
from seriatim.training.truncated import Past

Returned = TypeVar("Returned")


REPORT_SECONDS = 0.25  # time between two "step" events


def relay(
    events: Generator[Event, None, Returned], change: Callable[[Event], Event | None]
) -> Generator[Event, None, Returned]:
    """Pass events on, changed or (None) left out; an interrupt that strikes here is thrown on to
    where they come from."""
    try:
        event = next(events)
        while True:
            try:
                changed = change(event)
                if changed is not None:
                    yield changed
                event = next(events)
            except KeyboardInterrupt:
                event = events.throw(KeyboardInterrupt())
    except StopIteration as end:
        return end.value


def fit(
    model: Model,
    parts: list[Part],
    lesson: Lesson,
    checkpoint: Path | None = None,
    generator: torch.Generator | None = None,
) -> Generator[Event, None, None]:
    """Fit a model of one or more parts; each part's checkpoint stands in the folder given. What is
    drawn comes from the generator: usually the one that initial weights were drawn from."""
    for i, (each, part) in enumerate(zip(model.parts, parts, strict=True)):
        yield {"event": "part", "model": part.name, "part": i, "parts": len(parts)}
        file = None if checkpoint is None else checkpoint / f"checkpoint-{i}.safetensors"
        last = partial(ended, i + 1 == len(parts))
        if isinstance(each, NeuralModel):
            yield from relay(Loop(each, lesson, part.training, file, generator).run(), last)
        elif each.learns == "by counting":
            yield from counted(each, lesson)
        else:
            yield from relay(each.learning(lesson, part.training, file), last)
    if isinstance(model, Mixture):
        model.weigh(*lesson.opinions(model.parts))
        found, judged = lesson.validate(model), lesson.judged(model)
        valid, said = judged.rounded(found), judged.said(found)
        yield {"event": "weighed", "weights": model.weights(), "valid": valid, "said": said}


def ended(last: bool, event: Event) -> Event:
    """The same event; an interrupt ends a mixture whose other parts have learned nothing yet, which
    can only be gone on with."""
    if event["event"] == "interrupted" and not last:
        raise KeyboardInterrupt
    return event


def counted(model: Model, lesson: Lesson) -> Iterator[Event]:
    """A count model reads the data."""
    begin = time.perf_counter()
    for progress in lesson.counting(model):
        if "note" in progress:
            yield {"event": "note", "words": progress["note"]}
        else:
            seconds = time.perf_counter() - begin
            told = {"words": progress["words"], "share": progress["share"]}
            yield {"event": "pass", **told, "seconds": seconds}
    seconds = time.perf_counter() - begin
    yield {"event": "counted", "seconds": seconds, "symbols": lesson.symbols}


class Loop:
    """The gradient loop of one network."""

    def __init__(
        self,
        model: NeuralModel,
        lesson: Lesson,
        options: TrainingOptions,
        checkpoint: Path | None,
        generator: torch.Generator | None = None,
    ):
        self.model, self.lesson = model, lesson
        self.options, self.open = options, options.rows == 0
        self.device = chosen(options.device)
        self.generators = {"random": generator or dice(torch.device("cpu"), options.seed)}
        if self.device.type != "cpu":  # what is drawn while it learns is drawn where it learns
            self.generators[f"random.{self.device.type}"] = dice(self.device, options.seed)
        self.generator = list(self.generators.values())[-1]
        self.checkpoint, self.progress = Checkpoint(checkpoint), Progress()
        self.schedule = Schedule(options, self.progress)
        self.average = RunningMean(options, self.progress)
        begin = time.perf_counter()
        lesson.begin(model)  # which may give the model parts that learn, too
        self.progress.seconds = time.perf_counter() - begin  # part of the budget
        place(model, self.device)
        self.optimiser = make_optimiser(model, options)
        self.past = Past()
        self.best: dict[str, Tensor] = {}
        self.loss: Callable[..., tuple[Tensor, State]] = model.loss
        self.workers: Workers | None = None
        self.settle(options.rows or FIRST_ROWS)

    def settle(self, rows: int) -> None:
        """So many rows it is."""
        self.options, self.progress.rows = replace(self.options, rows=rows), rows
        self.schedule.steps_per_epoch = self.lesson.steps_per_epoch(self.options)

    # -- the loop
    def run(self) -> Generator[Event, None, None]:
        """Learn until the budget is spent, and end with the best weights."""
        return throughout(self.rounds(), self.bracket)

    @contextmanager
    def bracket(self) -> Iterator[None]:
        """What holds in the thread that computes: no numbers next to zero, and random numbers of
        its own."""
        with flushed(), drawn_from(self.generator):
            yield

    def rounds(self) -> Generator[Event, None, None]:
        """The same, in whatever state the thread is."""
        p, resumed = self.progress, self.checkpoint.read(self.take_up)
        yield {
            "event": "begin",
            "step": p.step,
            "steps_per_epoch": self.schedule.steps_per_epoch,
            "resumed": resumed,
            "parameters": sum(each.numel() for each in self.model.parameters()),
            "device": self.device.type,
        }
        clock = Clock(p.seconds)
        yield from self.prepare(resumed)
        try:
            if self.model.knows and not p.step:
                p.seconds = clock.now()
                yield self.validate() | {"share": 0.0}
                self.schedule.validated(clock)
            while not p.done:
                yield from self.one_epoch(clock)
            if not resumed or p.step:
                self.save()
        except KeyboardInterrupt:
            if not p.step:  # nothing was learned that could be kept
                raise
            yield {"event": "interrupted", "step": p.step, "seconds": p.seconds}
            yield self.validate()
        finally:
            self.dismiss()
        if self.best:
            self.model.load_arrays(self.best)
        self.model.eval()
        settled = self.lesson.end(self.model)
        p.best = p.best if settled is None else settled
        judged = self.lesson.judged(self.model)
        ending = Ending(
            p.step,
            self.schedule.epochs(),
            round(self.schedule.epochs() * self.lesson.symbols),
            p.stopped or "interrupted",
            improving(p.looks),
            self.options.epochs,
        )
        yield {
            "event": "end",
            **ending.record(self.lesson.symbols),
            "seconds": p.seconds,
            "valid": judged.rounded(p.best) if math.isfinite(p.best) else None,
            "said": judged.said(p.best) if math.isfinite(p.best) else "",
        }

    def one_epoch(self, clock: Clock) -> Iterator[Event]:
        """What is left of this pass over the data, or of the budget."""
        p = self.progress
        for number, batch in enumerate(self.lesson.epoch(p.epoch, self.options)):
            if number >= p.batch:
                yield from self.advance(batch, clock)
            if p.done:
                return
        p.epoch, p.batch = p.epoch + 1, 0
        self.past.forget()

    def advance(self, batch: Batch, clock: Clock) -> Iterator[Event]:
        """One update, and whatever is due after it."""
        o, p, schedule = self.options, self.progress, self.schedule
        before = self.model.spent = schedule.share()
        loss = self.update(batch, schedule.rate(before))
        p.step, p.batch, p.seconds = p.step + 1, p.batch + 1, clock.now()
        p.loss += (loss - p.loss) * max(0.02, 1 / p.step)
        share = schedule.share()
        if schedule.over(before, share):
            share = 1.0
        if schedule.validation_due(before, share):
            yield self.validate() | {"share": share}
            schedule.validated(clock)
        p.stopped = schedule.limit() if share >= 1 else ""
        if o.patience and p.worse >= o.patience:
            p.stopped = "patience"
        p.done = bool(p.stopped)
        if clock.due("report", REPORT_SECONDS):
            yield {
                "event": "step",
                "step": p.step,
                "epoch": schedule.epochs(),
                "loss": p.loss,
                "share": share,
                "seconds": p.seconds,
                "remaining": p.seconds / share * (1 - share),
                "rate": schedule.rate(share),
            }
        whole = p.batch % o.accumulate == 0  # within a group its gradients would have to be kept
        if whole and clock.due("checkpoint", self.checkpoint.every(o.checkpoint_seconds)):
            begin = clock.now()
            self.save()
            self.checkpoint.saving = clock.now() - begin

    def prepare(self, resumed: bool) -> Iterator[Event]:
        """Choose rows, numbers, parts and compilation: what was asked for, what a resumed fit began
        with, or what a short trial finds faster."""
        if self.open and self.options.minutes and not resumed:
            yield from choose_rows(self)
        batch = next(iter(self.lesson.epoch(0, self.options)))
        if not resumed:
            yield from choose_precision(self, batch)
        check_precision(self.progress.precision, self.device)
        if not resumed:
            yield from choose_parts(self, batch)
        yield from choose_compilation(self, batch, resumed)
        if not resumed:
            yield from choose_looks(self)
        self.lesson.judged_share = self.progress.judged_share

    def trial(self, batch: Batch, precision: str) -> float:
        """Seconds of a forward and backward pass, the better of two after a first; infinite if it
        cannot be done."""
        times, before = [], self.generator.get_state()
        try:
            for _ in range(3):
                begin = time.perf_counter()
                with self.numbers(precision):
                    self.descend(replace(to(batch, self.device), before=None))
                times.append(time.perf_counter() - begin)
        except (RuntimeError, ImportError, OSError):
            return math.inf
        finally:
            self.optimiser.zero_grad()
            self.generator.set_state(before)
        return min(times[1:])

    # -- an update
    def update(self, batch: Batch, rate: float) -> float:
        """Forward, backward, clip, step. Nothing is changed unless loss and gradient are finite."""
        o, p = self.options, self.progress
        self.model.train()
        if p.batch % o.accumulate == 0:
            self.optimiser.zero_grad()
        try:
            with self.numbers(p.precision):
                loss = self.backward(to(batch, self.device))
        except RuntimeError as error:
            if p.precision == "bfloat16" and "primitive" in str(error):
                raise ConfigError(
                    "this processor cannot train this model in bfloat16",
                    do="Use --precision float32",
                ) from None
            raise
        if (p.batch + 1) % o.accumulate:
            return loss
        if p.parts > 1:
            self.helpers().call(self.change, loss, rate)
        else:
            self.change(loss, rate)
        return loss

    @flushed()
    def change(self, loss: float, rate: float) -> None:
        """Clip, step, and keep the mean."""
        o = self.options
        learned = [each for each in self.model.parameters() if each.grad is not None]
        dense = [each for each in learned if each.grad is not None and not each.grad.is_sparse]
        if o.clip_value:
            nn.utils.clip_grad_value_(dense, o.clip_value)
        norm = nn.utils.clip_grad_norm_(dense, o.clip or math.inf).item()
        if not math.isfinite(loss) or not math.isfinite(norm):
            raise self.not_finite(loss, norm)
        p = self.progress
        p.norms, p.changes = p.norms + norm, p.changes + 1
        p.clipped += bool(o.clip) and norm > o.clip
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        if isinstance(self.optimiser, Rules):
            self.optimiser.workers = self.workers if p.parts > 1 else None
            self.optimiser.shares = p.parts
        self.optimiser.step()
        self.average.updated(self.model.arrays())

    def backward(self, batch: Batch) -> float:
        """Gradients of the loss of a batch; with a longer reach they flow on through the batches
        before it."""
        batch, state = self.past.enter(self.model, batch, self.options)
        loss, state = self.descend(batch, state)
        self.past.leave(batch, state, self.options)
        return loss

    def descend(self, batch: Batch, state: State = None) -> tuple[float, State]:
        """The loss of a batch, whose gradients are added to those there, and the state to carry on;
        none if parts of it were side by side."""
        o, p = self.options, self.progress
        with borrowed() if p.compiled else nullcontext():
            if p.parts > 1 and len(batch) >= p.parts:
                return o.accumulate * add_gradients(
                    lambda rows: self.loss(rows, None, o.label_smoothing)[0] / o.accumulate,
                    batch,
                    list(self.model.parameters()),
                    p.parts,
                    self.helpers(),
                    lambda: self.numbers(p.precision),
                ), None
            loss, state = self.loss(batch, state, o.label_smoothing)
            (loss / o.accumulate).backward()
        return loss.item(), state

    def helpers(self) -> Workers:
        """A thread for each part of a batch, and one to bring them together."""
        if self.workers is None:
            self.workers = Workers(self.progress.parts + 1)
        return self.workers

    def dismiss(self) -> None:
        """Nobody helps any more."""
        if self.workers is not None:
            self.workers.close()
            self.workers = None

    def not_finite(self, loss: float, norm: float) -> TrainingError:
        """What to say where the next update would spoil the weights."""
        bad = [
            name
            for name, each in self.model.named_parameters()
            if each.grad is not None and not each.grad.is_sparse and not each.grad.isfinite().all()
        ]
        where = f", first in the gradient of {bad[0]}" if bad else ""
        p = self.progress
        return TrainingError(
            f"training left the finite numbers at update {p.step + 1} (epoch {p.epoch}, batch {p.batch}){where}",
            got=f"loss {loss:.4g}, gradient norm {norm:.4g}",
            do="The weights were not touched by it. Lower --rate or --clip, or look at the data there",
        )

    def validate(self) -> Event:
        """Look at the validation data, with the mean of the weights if there is one; keep what is
        best."""
        p = self.progress
        weights = copied(self.model.arrays())
        self.average.validated(weights)
        mean = self.average.mean
        if mean:
            self.model.load_arrays(mean)
        loss = self.lesson.validate(self.model)
        p.looks.append(loss)
        p.worse = 0 if loss < p.best else p.worse + 1
        p.cuts += self.options.decay == "plateau" and p.worse > 0 and p.worse % 2 == 0
        if loss < p.best:
            p.best, self.best = loss, copied(mean) if mean else weights
        if mean:
            self.model.load_arrays(weights)
        changes, judged = max(1, p.changes), self.lesson.judged(self.model)
        norm, clipped = p.norms / changes, p.clipped / changes
        p.norms, p.clipped, p.changes = 0.0, 0, 0
        return {
            "event": "validation",
            "step": p.step,
            "seconds": p.seconds,
            "train": p.loss,
            "rate": self.schedule.rate(self.schedule.share()),
            "gradient_norm": norm,
            "clipped": clipped,
            "valid": judged.rounded(loss),
            "best": judged.rounded(p.best),
            "said": judged.said(p.best),
        }

    # -- checkpoints
    def save(self) -> None:
        """Write down where it is."""
        arrays = named("weights", self.model.arrays()) | named("best", self.best)
        arrays |= named("mean", self.average.mean)
        for number, each in enumerate(self.average.recent):
            arrays |= named(f"recent.{number}", each)
        for number, values in self.optimiser.state_dict()["state"].items():
            kept = {name: value for name, value in values.items() if isinstance(value, Tensor)}
            arrays |= named(f"optimiser.{number}", kept)
        arrays |= self.past.arrays()
        arrays |= {name: each.get_state() for name, each in self.generators.items()}
        self.checkpoint.write(arrays, self.progress)

    def take_up(self, arrays: dict[str, Tensor], record: dict[str, Any]) -> None:
        """Go on from there."""
        self.progress.__dict__.update(record)
        self.settle(self.progress.rows)
        for name, each in self.generators.items():
            if name in arrays or name == "random":  # else it was begun on another device
                each.set_state(arrays[name])
        arrays = to(arrays, self.device)
        self.model.load_arrays(of_kind("weights", arrays))
        self.best, self.average.mean = of_kind("best", arrays), of_kind("mean", arrays)
        self.average.recent = list(numbered(of_kind("recent", arrays)).values())
        self.past.take_up(arrays, list(numbered(of_kind("behind", arrays)).values()))
        state = numbered(of_kind("optimiser", arrays))
        self.optimiser.load_state_dict(
            {"state": state, "param_groups": self.optimiser.state_dict()["param_groups"]}
        )

    def numbers(self, precision: str) -> AbstractContextManager[Any]:
        """The context in which a forward pass is computed."""
        half = precision == "bfloat16"
        return torch.autocast(self.device.type, torch.bfloat16) if half else nullcontext()


def copied(arrays: dict[str, Tensor]) -> dict[str, Tensor]:
    """Arrays that nobody else changes."""
    return {name: array.clone() for name, array in arrays.items()}
