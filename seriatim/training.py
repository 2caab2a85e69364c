"""Fitting: any model, as a generator of events. The one gradient loop lives here.

A count model reads the data once. A network goes round: batch, loss, gradient, clip, update, with a
learning rate that rises, then falls to zero exactly when the budget (minutes, steps or epochs) ends. A
mixture fits its parts one after another, then its weights.

    for event in fit(model, parts, task): ...

A checkpoint holds all that the rest of a fit depends on (weights, best weights, optimiser, random
numbers, place in the data, carried state), so that a killed fit resumes to the same bits.
"""
from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from seriatim.batches import Batch
from seriatim.config import TrainingOptions
from seriatim.errors import ConfigError, RunError, TrainingError
from seriatim.gradients import add_gradients
from seriatim.models import Part
from seriatim.models.base import Model, State, detach, leaves, regrow
from seriatim.models.vectors import Vectors
from seriatim.optimisers import make_optimiser
from seriatim.parallel import keep_memory, one_thread_each
from seriatim.storage import read_arrays, write_arrays
from seriatim.tasks import Language
from seriatim.word_training import loop_of

Event = dict[str, Any]                    # "event" names its kind; the progress bar, the log and the page read the same ones
Returned = TypeVar("Returned")
FIRST_ROWS = 16                           # where a trial of the number of rows begins, and what is taken without one
SLOWER = 1.1                              # parts side by side may take so much longer: beside another busy program the whole would take five times as long
SAVES = 30                                # of the time, at most one part in so many goes into checkpoints
REPORT_SECONDS = 0.25                     # time between two "step" events


def relay(events: Generator[Event, None, Returned], change: Callable[[Event], Event | None]) -> Generator[Event, None, Returned]:
    """Pass events on, changed or (None) left out; an interrupt that strikes here is thrown on to where they come from."""
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


def fit(model: Model, parts: list[Part], task: Language, checkpoint: Path | None = None) -> Iterator[Event]:
    """Fit a model of one or more parts; each part's checkpoint stands in the folder given."""
    models = getattr(model, "parts", [model])
    for i, (each, part) in enumerate(zip(models, parts, strict=True)):
        yield {"event": "part", "model": part.name, "part": i, "parts": len(parts)}
        if part.counts:
            begin = time.perf_counter()
            for progress in task.counting(each):
                if "note" in progress:
                    yield {"event": "note", "words": progress["note"]}
                else:
                    yield {"event": "pass", "words": progress["words"], "share": progress["share"], "seconds": time.perf_counter() - begin}
            yield {"event": "counted", "seconds": time.perf_counter() - begin, "symbols": task.symbols}
        else:
            file = None if checkpoint is None else checkpoint / f"checkpoint-{i}.safetensors"
            yield from (loop_of if isinstance(each, Vectors) else Loop)(each, task, part.training, file).run()
    if len(parts) > 1:
        model.weigh(*task.opinions(models))
        yield {"event": "weighed", "weights": model.weights(), "valid": task.valid_loss(model)}


@dataclass
class Progress:
    """Where a fit is: plain numbers, saved with every checkpoint."""
    step: int = 0
    epoch: int = 0
    batch: int = 0                        # batches of this epoch already used
    seconds: float = 0.0                  # wall-clock time spent so far, over all sessions
    validations: int = 0
    best: float = math.inf
    worse: int = 0                        # validations since the best one
    loss: float = 0.0                     # running mean of the training loss
    cuts: int = 0                         # how often a plateau has cut the rate
    averaged: int = 0                     # updates in the mean of the weights
    rows: int = 0                         # sequences side by side, once that is settled
    precision: str = "float32"
    compiled: bool = False
    parts: int = 1                        # of a batch, computed side by side
    done: bool = False


class Loop:
    """The gradient loop of one network."""

    def __init__(self, model: nn.Module, task: Language, options: TrainingOptions, checkpoint: Path | None):
        keep_memory()
        self.model, self.task = model, task
        self.options, self.open = options, options.rows == 0
        self.checkpoint, self.progress = checkpoint, Progress()
        self.optimiser = make_optimiser(model, options)
        self.carried: State = None
        self.behind: list[Batch] = []     # with a longer reach: the batches before, through which gradients still flow
        self.best: dict[str, Tensor] = {}
        self.mean: dict[str, Tensor] = {}  # of the weights
        self.recent: list[dict[str, Tensor]] = []     # average checkpoints: the weights at the last few validations
        self.loss: Callable = model.loss
        if hasattr(task, "begin"):
            task.begin(model)
        self.saving = 0.0                 # how long the last checkpoint took
        self.looked = self.looking = 0.0  # when the last validation ended, and how long it took
        self.settle(options.rows or FIRST_ROWS)

    def settle(self, rows: int) -> None:
        self.options, self.progress.rows = replace(self.options, rows=rows), rows
        self.steps_per_epoch = self.task.steps_per_epoch(self.options)

    # -- the schedule
    def share(self) -> float:
        """How much of the budget is spent, 0 to 1: the nearest of the limits given."""
        o, p = self.options, self.progress
        spent = [p.seconds / max(1e-3, 60 * o.minutes - self.looking)] if o.minutes else []    # the last look at the validation data included
        spent += [p.step / o.steps] if o.steps else []
        spent += [p.step / max(1, round(o.epochs * self.steps_per_epoch))] if o.epochs else []
        return min(1.0, max(spent))

    def rate(self, share: float) -> float:
        o = self.options
        if share < o.warmup:
            return o.rate * (share + 1e-3) / (o.warmup + 1e-3)
        rest = (share - o.warmup) / (1 - o.warmup) if o.warmup < 1 else 1.0
        fall = {"linear": 1 - rest, "cosine": (1 + math.cos(math.pi * rest)) / 2, "constant": 1.0, "plateau": 0.25 ** self.progress.cuts,
                "inverse-square-root": (max(o.warmup, 0.01) / max(share, o.warmup, 0.01)) ** 0.5}[o.decay]
        return o.rate * fall

    # -- the loop
    def run(self) -> Iterator[Event]:
        p = self.progress
        resumed = self.restore()
        yield {"event": "begin", "step": p.step, "steps_per_epoch": self.steps_per_epoch, "resumed": resumed,
               "parameters": sum(each.numel() for each in self.model.parameters())}
        clock = Clock(p.seconds)
        yield from self.prepare(resumed)
        torch.set_flush_denormal(True)                                # numbers next to zero would slow a recurrent network down
        try:
            while not p.done:
                for batch in self.remaining():
                    yield from self.advance(batch, clock)
                    if p.done:
                        break
                else:
                    p.epoch, p.batch, self.carried, self.behind = p.epoch + 1, 0, None, []
            if not resumed or p.step:
                self.save()
        except KeyboardInterrupt:
            yield {"event": "interrupted", "step": p.step, "seconds": p.seconds}
            if p.step:
                yield self.validate()
        finally:
            torch.set_flush_denormal(False)
        if self.best:
            self.model.load_arrays(self.best)
        self.model.eval()
        if hasattr(self.task, "end"):
            self.task.end(self.model)
        yield {"event": "end", "step": p.step, "epoch": p.epoch + p.batch / self.steps_per_epoch, "seconds": p.seconds,
               "valid": p.best if math.isfinite(p.best) else None}

    def remaining(self) -> Iterator[Batch]:
        """The batches of this epoch that are still to come."""
        for number, batch in enumerate(self.task.epoch(self.progress.epoch, self.options)):
            if number >= self.progress.batch:
                yield batch

    def advance(self, batch: Batch, clock: Clock) -> Iterator[Event]:
        """One update, and whatever is due after it."""
        o, p = self.options, self.progress
        before = self.share()
        self.model.spent = before
        loss = self.update(batch, self.rate(before))
        p.step, p.batch, p.seconds = p.step + 1, p.batch + 1, clock.now()
        p.loss += (loss - p.loss) * max(0.02, 1 / p.step)
        share = self.share()
        if share >= 1 or (int(share * o.validations) > int(before * o.validations) and self.affordable()):
            yield self.validate()
            self.looking, p.seconds = clock.now() - p.seconds, clock.now()
            self.looked = p.seconds
        p.done = share >= 1 or bool(o.patience and p.worse >= o.patience)
        if clock.due("report", REPORT_SECONDS):
            yield {"event": "step", "step": p.step, "epoch": p.epoch + p.batch / self.steps_per_epoch, "loss": p.loss, "share": share,
                   "seconds": p.seconds, "remaining": p.seconds / share * (1 - share), "rate": self.rate(share)}
        if clock.due("checkpoint", o.checkpoint_seconds and max(o.checkpoint_seconds, SAVES * self.saving)):
            begin = clock.now()
            self.save()
            self.saving = clock.now() - begin

    def affordable(self) -> bool:
        """Under a wall-clock budget, looking at the validation data takes at most a twentieth of the time."""
        return not self.options.minutes or self.progress.seconds - self.looked >= 20 * self.looking

    def prepare(self, resumed: bool) -> Iterator[Event]:
        """Choose rows, numbers and compilation: what was asked for, what a resumed fit began with, or what a short trial finds faster."""
        o, p = self.options, self.progress
        if self.open and o.minutes and not resumed:
            speeds = {rows: self.speed(rows) for rows in (FIRST_ROWS, 2 * FIRST_ROWS, 4 * FIRST_ROWS)}
            worth = [rows for rows in speeds if rows == FIRST_ROWS or speeds[rows] > 1.2 * speeds[rows // 2]]
            self.settle(next(rows for rows in reversed(speeds) if all(each in worth for each in speeds if each <= rows)))
            yield {"event": "trial", "rows": p.rows, **{f"{rows}_rows_symbols_per_second": each for rows, each in speeds.items()}}
            o = self.options
        batch = next(iter(self.task.epoch(0, o)))
        if not resumed:
            if o.precision != "auto":
                p.precision = o.precision
            elif o.minutes and has_bfloat16():
                seconds = {kind: self.trial(batch, kind) for kind in ("float32", "bfloat16")}
                p.precision = "bfloat16" if seconds["bfloat16"] < 0.87 * seconds["float32"] else "float32"
                yield {"event": "trial", "precision": p.precision, **{f"{kind}_seconds": each for kind, each in seconds.items() if math.isfinite(each)}}
            if o.minutes and self.model.divisible and torch.get_num_threads() > 1:
                whole, p.parts = self.trial(batch, p.precision), torch.get_num_threads()
                apart = self.trial(batch, p.precision)
                p.parts = p.parts if apart < SLOWER * whole else 1
                yield {"event": "trial", "parts": p.parts, "whole_seconds": whole, "apart_seconds": apart}
        steady = getattr(self.task, "by", "line") == "stream"         # batches of one shape: each other shape would be compiled anew
        wanted = p.compiled if resumed else o.compile == "yes" or (o.compile == "auto" and steady and (o.minutes or 0) >= 10)
        if wanted:
            plain = self.trial(batch, p.precision)
            self.loss = torch.compile(self.model.loss)
            compiled = self.trial(batch, p.precision)
            p.compiled = math.isfinite(compiled) and (resumed or o.compile == "yes" or compiled < 0.95 * plain)
            if o.compile == "yes" and not math.isfinite(compiled):
                raise TrainingError("the model cannot be compiled here", do="Leave --compile out, or install a C++ compiler")
            self.loss = self.loss if p.compiled else self.model.loss
            yield {"event": "trial", "compiled": p.compiled, "eager_seconds": plain, "compiled_seconds": compiled if math.isfinite(compiled) else None}

    def speed(self, rows: int) -> float:
        """Symbols a second with so many rows."""
        batch = next(iter(self.task.epoch(0, replace(self.options, rows=rows))))
        return int(batch.y_mask.sum()) / self.trial(batch, "float32")

    def trial(self, batch: Batch, precision: str) -> float:
        """Seconds of a forward and backward pass, the better of two after a first; infinite if it cannot be done."""
        times, generator = [], torch.get_rng_state()
        try:
            for _ in range(3):
                begin = time.perf_counter()
                with numbers(precision):
                    self.descend(replace(batch, before=None))
                times.append(time.perf_counter() - begin)
        except (RuntimeError, ImportError, OSError):
            return math.inf
        finally:
            self.optimiser.zero_grad()
            torch.set_rng_state(generator)
        return min(times[1:])

    def update(self, batch: Batch, rate: float) -> float:
        """Forward, backward, clip, step. Nothing is changed unless loss and gradient are finite."""
        o, p = self.options, self.progress
        self.model.train()
        if p.batch % o.accumulate == 0:
            self.optimiser.zero_grad()
        try:
            with numbers(p.precision):
                loss = self.backward(batch)
        except RuntimeError as error:
            if p.precision == "bfloat16" and "primitive" in str(error):
                raise ConfigError("this processor cannot train this model in bfloat16", do="Use --precision float32") from None
            raise
        if (p.batch + 1) % o.accumulate:
            return loss
        with one_thread_each() if p.parts > 1 else nullcontext():
            self.change(loss, rate)
        return loss

    def change(self, loss: float, rate: float) -> None:
        """Clip, step, and keep the mean."""
        o = self.options
        dense = [each for each in self.model.parameters() if each.grad is not None and not each.grad.is_sparse]
        if o.clip_value:
            nn.utils.clip_grad_value_(dense, o.clip_value)
        norm = nn.utils.clip_grad_norm_(dense, o.clip or math.inf)
        if not math.isfinite(loss) or not math.isfinite(norm.item()):
            raise self.not_finite(loss, norm.item())
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.parts = self.progress.parts
        self.optimiser.step()
        self.take_mean()

    def backward(self, batch: Batch) -> float:
        """Gradients of the loss of a batch; with a longer reach they flow on through the batches before it, which are run once more."""
        o = self.options
        if batch.before is None or not o.carry or (self.carried is None and not self.behind):
            batch, self.carried, self.behind = replace(batch, before=None), None, []
        state, states = self.carried, []
        for each in self.behind:
            state = self.model.unroll(each, state)[1]
            states.append(state)
        loss, state = self.descend(batch, state)
        if o.carry and state is not None:
            self.behind.append(batch)
            states.append(state)
            while len(self.behind) > max(0, math.ceil(o.reach / o.length) - 1):
                self.behind.pop(0)
                self.carried = detach(states.pop(0))                  # the state before those that are left
        return loss

    def descend(self, batch: Batch, state: State = None) -> tuple[float, State]:
        """The loss of a batch, whose gradients are added to those there, and the state to carry on; none if parts of it were side by side."""
        o, p = self.options, self.progress
        if p.parts > 1 and len(batch) >= p.parts:
            return o.accumulate * add_gradients(lambda rows: self.loss(rows, None, o.label_smoothing)[0] / o.accumulate, batch,
                                                list(self.model.parameters()), p.parts, lambda: numbers(p.precision)), None
        loss, state = self.loss(batch, state, o.label_smoothing)
        (loss / o.accumulate).backward()
        return loss.item(), state

    def take_mean(self) -> None:
        """The mean of the weights, if one is kept."""
        o, p = self.options, self.progress
        if o.average in ("no", "checkpoints") or (o.average == "plateau" and not p.averaged and p.worse < 2):
            return
        keep = o.average_decay if o.average == "moving" else p.averaged / (p.averaged + 1)
        p.averaged += 1
        with torch.no_grad():
            for name, value in self.model.arrays().items():
                learned = name in self.mean and value.is_floating_point()
                self.mean[name] = value.clone() if not learned else self.mean[name].mul_(keep).add_(value, alpha=1 - keep)

    def not_finite(self, loss: float, norm: float) -> TrainingError:
        bad = [name for name, each in self.model.named_parameters() if each.grad is not None and not each.grad.is_sparse and not each.grad.isfinite().all()]
        where = f", first in the gradient of {bad[0]}" if bad else ""
        p = self.progress
        return TrainingError(f"training left the finite numbers at update {p.step + 1} (epoch {p.epoch}, batch {p.batch}){where}",
                             got=f"loss {loss:.4g}, gradient norm {norm:.4g}",
                             do="The weights were not touched by it. Lower --rate or --clip, or look at the data there")

    def validate(self) -> Event:
        p = self.progress
        weights = {name: array.clone() for name, array in self.model.arrays().items()}
        if self.options.average == "checkpoints":
            self.recent = [*self.recent, weights][-self.options.checkpoints:]
            self.mean = {name: torch.stack([each[name] for each in self.recent]).mean(0) if value.is_floating_point() else value
                         for name, value in weights.items()}
        if self.mean:
            self.model.load_arrays(self.mean)
        loss = self.task.valid_loss(self.model)
        p.validations += 1
        p.worse = 0 if loss < p.best else p.worse + 1
        p.cuts += self.options.decay == "plateau" and p.worse > 0 and p.worse % 2 == 0
        if loss < p.best:
            p.best, self.best = loss, {name: array.clone() for name, array in self.mean.items()} if self.mean else weights
        if self.mean:
            self.model.load_arrays(weights)
        return {"event": "validation", "step": p.step, "seconds": p.seconds, "train": p.loss, "valid": loss, "best": p.best}

    # -- checkpoints
    def save(self) -> None:
        if self.checkpoint is None:
            return
        arrays = {f"weights.{name}": array for name, array in self.model.arrays().items()}
        arrays |= {f"best.{name}": array for name, array in self.best.items()} | {f"mean.{name}": array for name, array in self.mean.items()}
        arrays |= {f"recent.{number}.{name}": array for number, each in enumerate(self.recent) for name, array in each.items()}
        for number, batch in enumerate(self.behind):
            arrays |= {f"behind.{number}.y": batch.y, f"behind.{number}.mask": batch.y_mask}
            arrays |= {} if batch.before is None else {f"behind.{number}.before": batch.before}
        for number, values in self.optimiser.state_dict()["state"].items():
            arrays |= {f"optimiser.{number}.{name}": value for name, value in values.items() if isinstance(value, Tensor)}
        if self.carried is not None:
            arrays |= leaves(self.carried)
        arrays["random"] = torch.get_rng_state()
        write_arrays(self.checkpoint, arrays, asdict(self.progress) | {"best": None if self.progress.best == math.inf else self.progress.best})

    def restore(self) -> bool:
        """Go on from the checkpoint, if there is one."""
        if self.checkpoint is None or not self.checkpoint.exists():
            return False
        try:
            self.take_up(*read_arrays(self.checkpoint))
        except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            raise RunError(f"{self.checkpoint} is not a checkpoint of this fit", got=error, do="Begin anew with --overwrite") from None
        return True

    def take_up(self, arrays: dict[str, Tensor], record: dict[str, Any]) -> None:
        self.progress.__dict__.update(record | {"best": math.inf if record["best"] is None else record["best"]})
        self.settle(self.progress.rows)
        parts: dict[str, dict[str, Tensor]] = {"weights": {}, "best": {}, "mean": {}, "optimiser": {}, "behind": {}, "recent": {}}
        for name, array in arrays.items():
            kind, _, rest = name.partition(".")
            if kind in parts:
                parts[kind][rest] = array
        self.model.load_arrays(parts["weights"])
        self.best, self.mean, past = parts["best"], parts["mean"], parts["behind"]
        for number in range(len({name.split(".")[0] for name in past})):
            y = past[f"{number}.y"]
            self.behind.append(Batch(y[:, :0], torch.zeros(len(y), dtype=torch.long), y, past[f"{number}.mask"], past.get(f"{number}.before")))
        state, recent = numbered(parts["optimiser"]), numbered(parts["recent"])
        self.recent = [recent[number] for number in sorted(recent)]
        self.optimiser.load_state_dict({"state": state, "param_groups": self.optimiser.state_dict()["param_groups"]})
        self.carried = regrow(arrays)
        torch.set_rng_state(arrays["random"])


def numbered(arrays: dict[str, Tensor]) -> dict[int, dict[str, Tensor]]:
    """Arrays called NUMBER.NAME, by number, then by name."""
    found: dict[int, dict[str, Tensor]] = {}
    for name, array in arrays.items():
        number, _, rest = name.partition(".")
        found.setdefault(int(number), {})[rest] = array
    return found


def numbers(precision: str) -> Any:
    """The context in which a forward pass is computed."""
    return torch.autocast("cpu", torch.bfloat16) if precision == "bfloat16" else nullcontext()


def has_bfloat16() -> bool:
    """Whether the processor computes in bfloat16; where it does not, a single trial may take minutes."""
    try:
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    except (AttributeError, RuntimeError):
        return False


class Clock:
    """Wall-clock time of a fit over all its sessions, and what is due."""

    def __init__(self, before: float):
        self.zero, self.begin = time.perf_counter() - before, before
        self.last: dict[str, float] = {}

    def now(self) -> float:
        return time.perf_counter() - self.zero

    def due(self, what: str, every: float) -> bool:
        if self.now() - self.last.get(what, self.begin) < every:
            return False
        self.last[what] = self.now()
        return True
