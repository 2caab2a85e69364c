"""The options of the gradient loop."""

from __future__ import annotations

from dataclasses import dataclass

from seriatim.layers.devices import CHOICES, HELP
from seriatim.settings import option


@dataclass(frozen=True)
class TrainingOptions:
    """The gradient loop."""

    minutes: float | None = option(
        None,
        "wall-clock budget; the schedule ends when it does (3 if no limit is given)",
        above=0,
        most=1e6,
    )
    updates: int | None = option(
        None, "number of updates (repeatable to the bit, unlike --minutes)", least=1, most=10**12
    )
    epochs: float | None = option(
        None, "number of passes over the training data", above=0, most=1e6
    )
    least_updates: int = option(
        0, "with --epochs: as many more as it takes for so many updates, of small data", least=0
    )
    rows: int = option(
        16,
        "sequences side by side in a batch; 0: under --minutes as many as a short trial finds worth it",
        least=0,
    )
    length: int = option(64, "stream: symbols between two updates", least=1)
    bptt: int = option(
        0, "stream: how far back gradients flow, in symbols; 0: as far as --length", least=0
    )
    accumulate: int = option(1, "batches whose gradients are added up for one update", least=1)
    stateful: bool = option(True, "stream: keep the state from one update to the next")
    optimiser: str = option(
        "adamw", "how gradients become updates", choices=("muon", "adamw", "sgd")
    )
    rate: float = option(3e-3, "highest learning rate", above=0)
    warmup: float = option(0.02, "share of the schedule spent rising to that rate", least=0, most=1)
    decay: str = option(
        "linear",
        "how the rate falls afterwards; plateau: to a quarter whenever validation has not improved twice",
        choices=("linear", "cosine", "inverse-square-root", "plateau", "constant"),
    )
    momentum: float = option(0.9, "sgd: share of the last update kept", least=0, most=0.9999)
    weight_decay: float = option(0.01, "pull of the weight matrices towards zero", least=0)
    clip: float = option(1.0, "largest gradient norm; 0 lets it grow", least=0)
    clip_value: float = option(0.0, "largest value of a single gradient; 0 lets it grow", least=0)
    label_smoothing: float = option(
        0.0, "share of each target spread over all symbols", least=0, most=0.9
    )
    average: str = option(
        "no",
        "keep a mean of the weights: a moving one, all since validation stopped improving "
        "(as in ASGD), or those at the last few validations",
        choices=("no", "moving", "plateau", "checkpoints"),
    )
    checkpoints: int = option(5, "average checkpoints: of how many", least=1, most=1000)
    average_decay: float = option(
        0.99, "moving average: share of the old mean kept at each update", least=0, most=0.99999
    )
    precision: str = option(
        "auto",
        "numbers in forward and backward; auto: bfloat16 under --minutes if a short trial shows "
        "that it is faster",
        choices=("auto", "float32", "bfloat16"),
    )
    compile: str = option(
        "auto",
        "compile the model; auto: if the budget is 10 minutes or more and a trial shows that it pays",
        choices=("auto", "yes", "no"),
    )
    validations: int = option(
        12, "how often to look at the validation data in the whole schedule", least=1
    )
    patience: int = option(
        0, "stop after this many validations without a better one; 0 never does", least=0
    )
    checkpoint_seconds: float = option(
        20.0,
        "time between two checkpoints, more where they take long; 0: after every update",
        least=0,
    )
    seed: int = option(
        0, "random numbers: initial weights, order of the data, dropout", least=0, most=2**31 - 1
    )
    threads: int = option(
        0, "processor threads; 0 takes as many as torch would", least=0, most=4096
    )
    device: str = option("auto", HELP, choices=CHOICES)


DEFAULT_MINUTES = 3.0  # the budget when neither minutes, updates nor epochs is given
