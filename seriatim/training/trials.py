"""What a short trial finds out before a fit by the clock: rows, precision, parts side by side,
compilation.

Nothing is tried unless there is a wall-clock budget (or compilation is asked for): a fit of so many
updates is the same on every machine. A resumed fit goes on with what it began with.
"""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import torch

from seriatim.batches import Batch
from seriatim.errors import ConfigError, TrainingError
from seriatim.training.lesson import Event

if TYPE_CHECKING:
    from seriatim.training.loop import Loop


FIRST_ROWS = 16  # where a trial of the number of rows begins, and what is taken without one


# parts side by side may take so much longer: beside another busy program the whole would take five
# times as long
SLOWER = 1.1


LOOKING = 0.05  # of the budget, for all looks at the validation data together


WORTH_LOOKING = 0.25  # of the validation data: rather fewer looks than at less of it


LONGEST_TRY = 60  # seconds for a child to compute in bfloat16


COMPILED_MINUTES = 10  # the least budget for which compiling is tried


def choose_rows(loop: Loop) -> Iterator[Event]:
    """Twice as many rows, and again, as long as that gives a fifth more symbols a second."""
    speeds = {rows: speed(loop, rows) for rows in (FIRST_ROWS, 2 * FIRST_ROWS, 4 * FIRST_ROWS)}
    chosen = FIRST_ROWS
    while 2 * chosen in speeds and speeds[2 * chosen] > 1.2 * speeds[chosen]:
        chosen *= 2
    loop.settle(chosen)
    found = {f"{rows}_rows_symbols_per_second": each for rows, each in speeds.items()}
    yield {"event": "trial", "rows": chosen, **found}


def speed(loop: Loop, rows: int) -> float:
    """Symbols a second with so many rows."""
    batch = next(iter(loop.lesson.epoch(0, replace(loop.options, rows=rows))))
    return int(batch.y_mask.sum()) / loop.trial(batch, "float32")


def choose_precision(loop: Loop, batch: Batch) -> Iterator[Event]:
    """What was asked for, or bfloat16 where the processor has it and it saves an eighth of the
    time."""
    o, p = loop.options, loop.progress
    if o.precision != "auto":
        p.precision = o.precision
    elif o.minutes and can_bfloat16(loop.device):
        seconds = {kind: loop.trial(batch, kind) for kind in ("float32", "bfloat16")}
        faster = seconds["bfloat16"] < 0.87 * seconds["float32"]
        p.precision = "bfloat16" if faster else "float32"
        found = {f"{kind}_seconds": each for kind, each in seconds.items() if math.isfinite(each)}
        yield {"event": "trial", "precision": p.precision, **found}


def can_bfloat16(device: torch.device) -> bool:
    """Whether it is worth a trial to compute in bfloat16 there."""
    if device.type == "cpu":
        return has_bfloat16() and survives_bfloat16()
    return device.type == "cuda" and torch.cuda.is_bf16_supported()


def has_bfloat16() -> bool:
    """Whether the processor computes in bfloat16; where it does not, a single trial may take
    minutes."""
    try:
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    except (AttributeError, RuntimeError):
        return False


BFLOAT16 = """
import torch
a = torch.randn(32, 64, 160, dtype=torch.bfloat16)
torch.nn.functional.linear(a, torch.randn(160, 160, dtype=torch.bfloat16))
"""


@cache
def survives_bfloat16() -> bool:
    """Whether a process that computes in bfloat16 lives on. Some virtual machines promise matrix
    instructions (AMX) and end whoever uses them, so that where they are promised a child tries."""
    if not getattr(torch.cpu, "_is_amx_tile_supported", bool)():
        return True
    try:
        tried = subprocess.run(
            [sys.executable, "-c", BFLOAT16], capture_output=True, timeout=LONGEST_TRY
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return tried.returncode == 0


def check_precision(precision: str, device: torch.device) -> None:
    """Refuse numbers that would end this process, asked for or begun with elsewhere."""
    if precision == "bfloat16" and device.type == "cpu" and not survives_bfloat16():
        raise ConfigError(
            "this machine ends processes that compute in bfloat16",
            got="a processor that promises AMX and a system that does not let it be used",
            do="Use --precision float32",
        )


def choose_parts(loop: Loop, batch: Batch) -> Iterator[Event]:
    """A part of each batch for every thread, unless the whole is faster."""
    p, threads = loop.progress, torch.get_num_threads()
    if loop.device.type != "cpu":  # which computes side by side itself
        return
    if not (loop.options.minutes and loop.model.divisible and threads > 1):
        return
    whole, p.parts = loop.trial(batch, p.precision), threads
    apart = loop.trial(batch, p.precision)
    if apart >= SLOWER * whole:
        p.parts = 1
        loop.dismiss()
    yield {"event": "trial", "parts": p.parts, "whole_seconds": whole, "apart_seconds": apart}


def choose_looks(loop: Loop) -> Iterator[Event]:
    """How much of the validation data each look reads, so that all looks together, the first one
    included, take at most a twentieth of the time; rather fewer looks than at too little of it."""
    o, p, lesson = loop.options, loop.progress, loop.lesson
    if not o.minutes:
        return
    allowed, costs = LOOKING * 60 * o.minutes, {}
    lesson.judged_share = 1 / 64
    lesson.validate(loop.model)  # the first time takes longer
    least = lesson.share_read  # of little data more is read than was asked for
    for asked in (1 / 64, 1 / 8, 1.0):
        lesson.judged_share, begin = asked, time.perf_counter()
        lesson.validate(loop.model)
        costs[lesson.share_read] = took = time.perf_counter() - begin
        if took > allowed / 8:
            break
    share, seconds = list(costs.items())[-1]
    whole = max(seconds / share, 1e-9)
    for many in (o.validations, o.validations // 2, o.validations // 3):
        p.many_looks = max(1, many)
        p.judged_share = max(1 / 64, min(1.0, allowed / (p.many_looks + 1) / whole))
        if p.judged_share >= WORTH_LOOKING:
            break
    read = max(p.judged_share, least)
    loop.schedule.looking = read * whole
    if p.judged_share < 1 or p.many_looks < o.validations:
        yield {"event": "trial", "judged_share": read, "looks": p.many_looks}


def choose_compilation(loop: Loop, batch: Batch, resumed: bool) -> Iterator[Event]:
    """Compile the loss where that is asked for, or pays. Every shape of a batch would be compiled
    anew."""
    o, p = loop.options, loop.progress
    if loop.device.type != "cpu":
        return refuse_compilation(loop)
    long = loop.lesson.steady and (o.minutes or 0) >= COMPILED_MINUTES
    if not (p.compiled if resumed else o.compile == "yes" or (o.compile == "auto" and long)):
        return
    p.compiled = False
    plain = loop.trial(batch, p.precision)
    loop.loss, p.compiled = torch.compile(loop.model.loss), True
    compiled = loop.trial(batch, p.precision)
    possible = math.isfinite(compiled)
    if o.compile == "yes" and not possible:
        raise TrainingError(
            "the model cannot be compiled here", do="Leave --compile out, or install a C++ compiler"
        )
    p.compiled = possible and (resumed or o.compile == "yes" or compiled < 0.95 * plain)
    if not p.compiled:
        loop.loss = loop.model.loss
    yield {
        "event": "trial",
        "compiled": p.compiled,
        "eager_seconds": plain,
        "compiled_seconds": compiled if possible else None,
    }


def refuse_compilation(loop: Loop) -> None:
    """Compiled code draws random numbers of the CPU: elsewhere nothing is compiled."""
    if loop.options.compile == "yes":
        raise ConfigError(
            "models are compiled on the CPU alone",
            got=f"--compile yes --device {loop.device.type}",
            do="Leave out one of them",
        )
