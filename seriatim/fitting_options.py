"""What a fit, a comparison and a run that is opened may be asked for, whatever the task. Nothing here imports torch."""

from __future__ import annotations

from dataclasses import dataclass

from seriatim.layers.devices import CHOICES, HELP
from seriatim.settings import option

TRACKED = ("", "tensorboard")


@dataclass(frozen=True)
class FitOptions:
    """Where a fit is kept."""

    out: str = option("", "run folder; on the command line by default one under runs/")
    resume: bool = option(False, "go on with a fit that was killed")
    overwrite: bool = option(False, "replace the run that is there")
    report: str = option("", "page to write about the fit: .html")
    track: str = option("", "also write curves for this program, into the folder", choices=TRACKED)


@dataclass(frozen=True)
class OpeningOptions:
    """How a run is opened."""

    verify: bool = option(True, "check every file; false: only sizes, and every record says so")
    int8: bool = option(False, "networks compute in 8 bits: faster, a little less exact")
    device: str = option("auto", HELP, choices=CHOICES)
    mute: str = option(
        "",
        "attention heads that are switched off, layer.head from 0 with commas between, "
        "such as 0.1,1.3; every record says so",
    )


@dataclass(frozen=True)
class CompareOptions:
    """What a comparison may be asked for."""

    models: str = option(
        "", "names with commas between (default: all usual ones); a+b is a mixture"
    )
    minutes: float = option(
        3.0,
        "wall-clock time of all of it, from start to report, in equal shares",
        above=0,
        most=1e6,
    )
    folds: int | None = option(
        None, "every so many-th part of the data is the test in turn", least=2
    )
    seeds: int = option(
        1,
        "fits of each network from so many seeds: intervals then cover seeds, too",
        least=1,
        most=100,
    )
    margin: float = option(
        0.01, "share of the best figure below which a difference does not matter", least=0, most=1
    )
    units: str = option(
        "", "units with commas between: one table of all, on the same raw text (language)"
    )
    curve: bool = option(
        False, "fit six sizes of the data, too: what more of it would give, and where models cross"
    )
    pretrained: str = option(
        "",
        "local folder of a pretrained model, in Hugging Face's layout: one more row, marked; nothing"
        " is downloaded",
    )
    max_size: int | None = option(None, "bytes of a model to be recommended, at most", least=1)
    min_speed: float | None = option(
        None, "symbols per second of a model to be recommended, at least", above=0
    )
    out: str = option("", "folder for table, picture, report and runs")
    resume: bool = option(False, "go on with a comparison that was killed: rows it has are kept")
    track: str = option("", "also write curves for this program, into the folder", choices=TRACKED)
    repeat: str = option(
        "", "folder or table.json of a comparison to do again: same data, models, settings, seeds"
    )
