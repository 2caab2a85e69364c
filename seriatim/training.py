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
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from seriatim.batches import Batch
from seriatim.config import TrainingOptions
from seriatim.errors import RunError, TrainingError
from seriatim.models import Part, rung
from seriatim.models.base import Model, State, detach, leaves, regrow
from seriatim.storage import read_arrays, write_arrays
from seriatim.tasks import Language

Event = dict[str, Any]                    # "event" names its kind; the progress bar, the log and the page read the same ones
Returned = TypeVar("Returned")
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
        if rung(part.name).counts:
            begin = time.perf_counter()
            for progress in task.counting(each):
                if "note" in progress:
                    yield {"event": "note", "words": progress["note"]}
                else:
                    yield {"event": "pass", "words": progress["words"], "share": progress["share"], "seconds": time.perf_counter() - begin}
            yield {"event": "counted", "seconds": time.perf_counter() - begin, "symbols": len(task.train.flat)}
        else:
            file = None if checkpoint is None else checkpoint / f"checkpoint-{i}.safetensors"
            yield from Loop(each, task, part.training, file).run()
    if len(parts) > 1:
        model.weigh(torch.stack([task.valid_scores(each) for each in models], 1))
        yield {"event": "weighed", "weights": model.log_weights.exp().tolist()}


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
    done: bool = False


class Loop:
    """The gradient loop of one network."""

    def __init__(self, model: nn.Module, task: Language, options: TrainingOptions, checkpoint: Path | None):
        self.model, self.task = model, task
        self.options = options
        self.checkpoint, self.progress = checkpoint, Progress()
        self.optimiser = make_optimiser(model, options)
        self.carried: State = None
        self.best: dict[str, Tensor] = {}
        self.looked = self.looking = 0.0  # when the last validation ended, and how long it took
        self.steps_per_epoch = task.steps_per_epoch(options)

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
        fall = {"linear": 1 - rest, "cosine": (1 + math.cos(math.pi * rest)) / 2, "constant": 1.0}[o.decay]
        return o.rate * fall

    # -- the loop
    def run(self) -> Iterator[Event]:
        p = self.progress
        resumed = self.restore()
        yield {"event": "begin", "step": p.step, "steps_per_epoch": self.steps_per_epoch, "resumed": resumed,
               "parameters": sum(each.numel() for each in self.model.parameters())}
        clock = Clock(p.seconds)
        torch.set_flush_denormal(True)                                # numbers next to zero would slow a recurrent network down
        try:
            while not p.done:
                for batch in self.remaining():
                    yield from self.advance(batch, clock)
                    if p.done:
                        break
                else:
                    p.epoch, p.batch, self.carried = p.epoch + 1, 0, None
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
        if clock.due("checkpoint", o.checkpoint_seconds):
            self.save()

    def affordable(self) -> bool:
        """Under a wall-clock budget, looking at the validation data takes at most a twentieth of the time."""
        return not self.options.minutes or self.progress.seconds - self.looked >= 20 * self.looking

    def update(self, batch: Batch, rate: float) -> float:
        """Forward, backward, clip, step. Nothing is changed unless loss and gradient are finite."""
        self.model.train()
        carried = self.carried if batch.before is not None and self.options.carry else None
        if carried is None and batch.before is not None:
            batch = replace(batch, before=None)
        loss, state = self.model.loss(batch, carried)
        self.optimiser.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.options.clip or math.inf)
        if not math.isfinite(loss.item()) or not math.isfinite(norm.item()):
            raise self.not_finite(loss.item(), norm.item())
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.step()
        self.carried = detach(state) if self.options.carry else None
        return loss.item()

    def not_finite(self, loss: float, norm: float) -> TrainingError:
        bad = [name for name, each in self.model.named_parameters() if each.grad is not None and not each.grad.isfinite().all()]
        where = f", first in the gradient of {bad[0]}" if bad else ""
        p = self.progress
        return TrainingError(f"training left the finite numbers at update {p.step + 1} (epoch {p.epoch}, batch {p.batch}){where}",
                             got=f"loss {loss:.4g}, gradient norm {norm:.4g}",
                             do="The weights were not touched by it. Lower --rate or --clip, or look at the data there")

    def validate(self) -> Event:
        p = self.progress
        loss = self.task.valid_loss(self.model)
        p.validations += 1
        p.worse = 0 if loss < p.best else p.worse + 1
        if loss < p.best:
            p.best, self.best = loss, {name: array.clone() for name, array in self.model.arrays().items()}
        return {"event": "validation", "step": p.step, "seconds": p.seconds, "train": p.loss, "valid": loss, "best": p.best}

    # -- checkpoints
    def save(self) -> None:
        if self.checkpoint is None:
            return
        arrays = {f"weights.{name}": array for name, array in self.model.arrays().items()}
        arrays |= {f"best.{name}": array for name, array in self.best.items()}
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
        parts: dict[str, dict[str, Tensor]] = {"weights": {}, "best": {}, "optimiser": {}}
        for name, array in arrays.items():
            kind, _, rest = name.partition(".")
            if kind in parts:
                parts[kind][rest] = array
        self.model.load_arrays(parts["weights"])
        self.best = parts["best"]
        state: dict[int, dict[str, Tensor]] = {}
        for name, array in parts["optimiser"].items():
            number, _, rest = name.partition(".")
            state.setdefault(int(number), {})[rest] = array
        self.optimiser.load_state_dict({"state": state, "param_groups": self.optimiser.state_dict()["param_groups"]})
        self.carried = regrow(arrays)
        torch.set_rng_state(arrays["random"])


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


def make_optimiser(model: nn.Module, options: TrainingOptions) -> torch.optim.Optimizer:
    """AdamW or SGD with momentum; only matrices are pulled towards zero."""
    matrices = [each for each in model.parameters() if each.dim() > 1]
    vectors = [each for each in model.parameters() if each.dim() <= 1]
    groups = [{"params": matrices, "weight_decay": options.weight_decay}, {"params": vectors, "weight_decay": 0.0}]
    if options.optimiser == "sgd":
        return torch.optim.SGD(groups, lr=options.rate, momentum=options.momentum)
    return torch.optim.AdamW(groups, lr=options.rate, betas=(0.9, 0.99), fused=True)
