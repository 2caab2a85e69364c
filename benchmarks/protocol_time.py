"""What more time would give: is what a comparison predicts from its short fits true?

    python benchmarks/protocol_time.py [--updates 1280] [--cells 72] [--models NAMES] [--kept FILE]

A cell is a data set and a network. Each is fitted for a sixty-fourth, a thirty-second, a quarter, a half
and all of so many updates, every time with a schedule of its own. The quarter is a comparison's whole
fit, the two before it its short ones; what twice and four times as much would give is predicted and
looked up. The width of the intervals is found on half of the data sets and scored on the other half:
the share that 80 % intervals hold, and their interval score beside those of "the last value" and "a law of
diminishing returns", which get a width in the same way. Cells are kept, one line each: a run that was killed
goes on. The peers need no installing.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from record import write_row

import seriatim as st
from seriatim.comparison.time_curve import SPREAD, Scale, course_through
from seriatim.tasks import task

DATA = Path(os.environ.get("SERIATIM_DATA", Path(__file__).parent.parent.parent / "shared/data"))
SHARES = (1 / 64, 1 / 32, 1 / 4, 1 / 2, 1.0)
TIMES = (2, 4)
LETTERS, SEQUENCES = 200_000, 3_000  # of a data set, at most
TABLE = {"input_format": "tsv", "columns": "label,text"}

# the task, the file or corpus, how it is read; those on which the width is found are marked
SETS: dict[str, tuple[str, str, dict[str, Any], bool]] = {
    "shakespeare": ("language", "text/tinyshakespeare.txt", {}, True),
    "sms": ("classify", "classify/SMSSpamCollection", TABLE, False),
    "ewt": ("tag", "tag/en_ewt-ud-train.conllu.xz", {"input_format": "conllu"}, True),
    "docs": ("language", "python-docs", {}, False),
    "polarity": ("classify", "classify/rt-polarity.tsv", TABLE, True),
    "wiki": ("language", "text/wiki100.txt.xz", {}, False),
}
RUNGS = {
    "language": ("gru", "transformer", "neural-ngram", "convolution", "lstm", "rnn"),
    "classify": ("gru", "transformer", "mean", "convolution", "lstm", "rnn"),
    "tag": ("gru", "transformer", "window", "convolution", "lstm", "rnn"),
}
WIDTHS = (24, 48)
SMALL = {"threads": 1, "validations": 2}
STREAM = {"rows": 8, "length": 32}


def cells() -> Iterator[tuple[str, str, int]]:
    """Data set, network and width, so that a few cells are of many data sets."""
    for width in WIDTHS:
        for place in range(6):
            for name, (room, *_) in SETS.items():
                yield name, RUNGS[room][place], width


@cache
def source_of(name: str) -> Any:
    """A data set, or its beginning."""
    room, file, reading, _ = SETS[name]
    path = DATA / file
    if room == "language":
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as plain:
            if path.exists():
                opener = lzma.open if path.suffix == ".xz" else open
                with opener(path, "rt", encoding="utf-8") as text:
                    plain.write(text.read(LETTERS))
                plain.flush()
            return st.read(plain.name if path.exists() else file)
    found = st.read(str(path), **reading)
    found = found.distinct() if room == "classify" else found
    some = np.linspace(0, len(found) - 1, min(SEQUENCES, len(found))).astype(int)
    return found[some]


def measured(name: str, model: str, width: int, most: int) -> dict[str, Any]:
    """The figure on validation data after each share of the updates."""
    room = task(SETS[name][0])
    data = room.cut.prepare(room.cut.sequences(source_of(name)), {})
    valid, train, _ = room.cut.divide(data)
    if room.name == "language" and len(train.main.flat) > LETTERS:
        train, valid = (room.cut.some_of(e, LETTERS / len(train.main.flat)) for e in (train, valid))
    figure = room.ranking_figure(train)
    asked = SMALL | {"width": width} | (STREAM if room.name == "language" else {})
    found = []
    for share in SHARES:
        fitted = st.fit(
            room.name, model, train, valid=valid, updates=max(1, round(share * most)), **asked
        )
        found.append(fitted.row(fitted.measure(valid))[figure.key])
    cell = {"data": name, "model": model, "width": width, "updates": most}
    return cell | {"figure": figure.key, "higher": figure.higher, "values": found}


# -- what is predicted, each on the scale of the law: the middle; all have the same unit of width
Way = Callable[[list[float], int], float]
POINTS = (1 / 16, 1 / 8, 1.0)


def by_course(values: list[float], times: int) -> float:
    """What a comparison says: that it goes on as it went, in the logarithm of time."""
    course = course_through(POINTS, values)
    assert course is not None
    return course.at(times)


def by_law(values: list[float], times: int) -> float:
    """A law of diminishing returns through the three points, where there is one."""
    course = course_through(POINTS, values)
    assert course is not None
    if not course.power:
        return course.at(times)
    return course.last + course.height * (times**-course.power - 1)


def by_value(values: list[float], times: int) -> float:
    """More time changes nothing."""
    return values[-1]


WAYS: dict[str, Way] = {"last slope": by_course, "last value": by_value, "law": by_law}


@dataclass
class Outcome:
    """What was predicted of a cell, on the scale of the law, and what came."""

    scale: Scale
    middle: float
    unit: float
    came: float  # as a figure
    size: float  # of the figure that it was predicted from

    def needed(self) -> float:
        """The multiple of the unit that holds what came."""
        return abs(self.scale.to(self.came) - self.middle) / max(self.unit, 1e-9)

    def score(self, factor: float, level: float = 0.8) -> float:
        """The interval score by the size of the figure, less is better: the width, and what lies
        outside ten times."""
        ends = (self.middle - factor * self.unit, self.middle + factor * self.unit)
        low, high = sorted(map(self.scale.back, ends))
        outside = max(low - self.came, 0) + max(self.came - high, 0)
        return (high - low + 2 / (1 - level) * outside) / self.size


def outcomes(kept: list[dict[str, Any]], way: Way, chosen: bool | None = None) -> list[Outcome]:
    """Of the cells of the data sets on which the width is found, of the others, or of all."""
    found = []
    for cell in kept:
        room, *_, own = SETS[cell["data"]]
        if chosen is not None and own != chosen:
            continue
        whole = cell["values"][2]
        scale = Scale.of(task(room).figure(cell["figure"]), cell["values"][:3])
        values = [scale.to(each) for each in cell["values"][:3]]
        course = scale.course(POINTS, cell["values"][:3])
        if course is None:  # nothing is predicted
            continue
        for times, came in zip(TIMES, cell["values"][3:]):
            middle, unit = way(values, times), course.unsure(times)
            found.append(Outcome(scale, middle, unit, came, abs(whole)))
    return found


def width_of(found: list[Outcome]) -> float:
    """The multiple that 80 % of these outcomes need."""
    return float(np.quantile([each.needed() for each in found], 0.8))


def scored(found: list[Outcome], factor: float) -> tuple[float, float]:
    """The share of outcomes inside, and the mean interval score."""
    inside = np.mean([each.needed() <= factor for each in found])
    return float(inside), float(np.mean([each.score(factor) for each in found]))


def told(kept: list[dict[str, Any]]) -> None:
    """The figures, and the row."""
    said = {}
    for name, way in WAYS.items():
        chosen, other = (outcomes(kept, way, each) for each in (True, False))
        factor = width_of(chosen)
        said[name] = scored(other, factor)
        held, score = said[name]
        print(f"{name}: width {factor:.3f} x, holds {100 * held:.0f} %, score {score:.4f}")
    every = outcomes(kept, by_course)
    held, score = scored(every, SPREAD)
    print(f"all cells need {width_of(every):.3f} x; {SPREAD:g} x holds {100 * held:.0f} %")
    held, ours = said["last slope"]
    peers = ", ".join(f"{name} {said[name][1]:.4f}" for name in list(WAYS)[1:])
    write_row(
        "protocol_time.py",
        "2 and 4 times the time predicted from a quarter, 80 % intervals",
        f"hold {100 * held:.0f} % of {len(outcomes(kept, by_course, False))}; interval score {ours:.4f}",
        f"interval score: {peers}",
        f"{len(kept)} cells of {len({cell['data'] for cell in kept})} data sets, width found on the others",
    )


def main() -> None:
    """As many cells as asked for, then the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=1280)
    parser.add_argument("--cells", type=int, default=72)
    parser.add_argument("--models", default="", help="only these, with commas between")
    parser.add_argument("--kept", type=Path, default=Path("protocol_time.jsonl"))
    given = parser.parse_args()
    kept = [json.loads(line) for line in given.kept.open()] if given.kept.exists() else []
    kept = [cell for cell in kept if cell["data"] in SETS]
    done = {(cell["data"], cell["model"], cell["width"], cell["updates"]) for cell in kept}
    for cell in list(cells())[: given.cells]:
        asked = not given.models or cell[1] in given.models.split(",")
        if (*cell, given.updates) in done or not asked:
            continue
        kept.append(measured(*cell, given.updates))
        with given.kept.open("a") as file:
            file.write(json.dumps(kept[-1]) + "\n")
        print(json.dumps(kept[-1]), flush=True)
    told(kept)


if __name__ == "__main__":
    main()
