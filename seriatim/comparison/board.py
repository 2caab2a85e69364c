"""A leaderboard of runs that others made, over a file that they do not have: a class, a competition.

Each run is somebody's, called by the name of its folder, and is opened as a stranger's. All are
measured on the same file, ranked by the figure of their task, with intervals and the word that the
first is against each other one. Nothing of what stands in the file is in the record.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from seriatim import __version__
from seriatim.comparison.judgement import Judgement
from seriatim.comparison.repeating import fingerprint_of
from seriatim.data.sequences import Sequences
from seriatim.errors import ConfigError, RunError, SeriatimError
from seriatim.measuring.measured import Measured
from seriatim.progress import LISTENER, listening, passing
from seriatim.records import Record, record
from seriatim.runs.predictor import Predictor
from seriatim.runs.task import task_of
from seriatim.settings import named
from seriatim.tasks.base import Figure, Task
from seriatim.verdict import verdict

Row = dict[str, Any]
MARGIN = 0.01  # share of the best figure below which a difference does not matter
OF_PROTOCOL = ("unit", "seen_in_training", "seen_of", "caution")  # nothing of the data


class Board:
    """One leaderboard: who is on it, and what has come of each.

    `open` gives the Predictor of a run; `read` the Predictor as it reads, and what its measuring is
    asked for besides.
    """

    room: Task
    figure: Figure

    def __init__(
        self,
        runs: Sequence[Any],
        open: Callable[[Any], Predictor],
        read: Callable[[Predictor], tuple[Predictor, Mapping[str, Any]]],
    ):
        self.runs = dict(zip(authors(runs), runs, strict=True))
        self.open, self.read = open, read
        refuse_mixed({name: room_of(run) for name, run in self.runs.items()})
        self.rows: list[Row] = []
        self.errors: list[Exception] = []
        self.measured: dict[str, Measured] = {}
        self.data: dict[str, tuple[str, Sequences]] = {}  # what each has read, and its fingerprint

    def filled(self, data: Any) -> Record:
        """Measure all, rank them, and say who is first."""
        begin, rooms = time.perf_counter(), dict[str, str]()
        for name, run in passing("measuring", list(self.runs.items())):
            predictor = self.opened(name, run)
            if predictor is not None:
                rooms[name] = predictor.task.name
                refuse_mixed(rooms)
                self.room = predictor.task
                refuse_unranked(self.room)
                self.measure(name, predictor, data)
        if not rooms:
            reasons = " ".join(row["reason"] for row in self.rows)
            raise RunError("none of these runs can be opened", got=reasons, do="Give run folders")
        first = self.errors[0] if self.errors and not self.measured else None
        alike = len({row["reason"] for row in self.rows if row["status"] != "ok"}) == 1
        if (
            isinstance(first, SeriatimError) and alike
        ):  # it is about the file, or what was asked for
            raise type(first)(first.what, do=first.do) from None
        self.refuse_other_data()
        self.figure = self.ranking()
        self.refuse_unpaired()
        self.judge()
        return self.record(time.perf_counter() - begin)

    def opened(self, name: str, run: Any) -> Predictor | None:
        """A run, or a row that says why it cannot be opened."""
        try:
            return self.open(run)
        except (SeriatimError, MemoryError, RuntimeError) as error:
            self.fail(name, str(error) or type(error).__name__, error)
        return None

    def measure(self, name: str, predictor: Predictor, data: Any) -> None:
        """One run on the file; what goes wrong is told without what stands in the file."""
        reader, options = self.read(predictor)
        try:
            with quietly() if self.measured else nullcontext():  # how it is read is said once
                given = reader.data(data)
                measured = reader.measure(given, **options)
                row = reader.row(measured)
        except Exception as error:
            kind = type(error).__name__  # what else it says may stand in the file, too
            self.fail(
                name, without_data(error) if isinstance(error, SeriatimError) else kind, error
            )
            return
        self.measured[name], self.data[name] = measured, (fingerprint_of(given) or "", given)
        arrays = predictor.model.arrays().values()
        keys = {each.key for each in self.room.figures}
        bounds = {key: each for key, each in row["interval"].items() if key in keys}
        known = {*OF_PROTOCOL, *(each.told for each in self.room.figures if each.told)}
        self.rows.append(
            {
                "model": name,
                "spec": predictor.spec,
                "status": "ok",
                **{key: row[key] for key in row.keys() & keys},
                "interval": {"confidence": 0.95} | bounds,
                "parameters": row["parameters"],
                "size_bytes": sum(each.numel() * each.element_size() for each in arrays),
                "symbols_per_second": row["symbols_per_second"],
                "protocol": {k: v for k, v in row["protocol"].items() if k in known},
                "tied": False,
                "against": None,
            }
        )

    def fail(self, name: str, reason: str, error: Exception | None = None) -> None:
        """A row without a figure, and why."""
        spec = next((row["spec"] for row in self.rows if row["model"] == name), None)
        self.rows = [row for row in self.rows if row["model"] != name]
        self.measured.pop(name, None)
        failed = {"model": name, "spec": spec, "status": "failed", "reason": reason, "tied": False}
        self.rows.append(failed)
        self.errors += [] if error is None else [error]

    # -- the same file, the same items
    def refuse_other_data(self) -> None:
        """Who has read the file otherwise than most has no figure: its settings say how a run reads,
        and what is not the same is not compared."""
        if not self.measured:
            return
        usual = Counter(self.data[name][0] for name in self.measured).most_common(1)[0][0]
        first, most = next(each for each in self.data.items() if each[1][0] == usual)
        for name in [each for each in self.measured if self.data[each][0] != usual]:
            sizes = [sized(each) for each in (self.data[name][1], most[1])]
            words = f"it reads the file as {sizes[0]}, and {first} as {sizes[1]}"
            if sizes[0] == sizes[1]:
                words = f"it reads other parts of the file than {first}"
            self.fail(name, f"{words}: say how it is read, the same for all")

    def ranking(self) -> Figure:
        """The figure that ranks: of these data, where that depends on them."""
        if not self.measured:
            return self.room.figures[0]
        return self.room.ranking_figure(self.data[next(iter(self.measured))][1])

    def refuse_unpaired(self) -> None:
        """Items are paired, by the test of the task, unless the figure is the same for every unit."""
        names = list(self.measured)
        for name in names[1:]:
            first, other = self.measured[names[0]], self.measured[name]
            if self.figure.key in self.room.across_units and len(first.loss) != len(other.loss):
                continue
            try:
                named(self.room.figures[0].test)(first, other)
            except SeriatimError as error:
                self.fail(name, f"not on the same items as {names[0]}: {without_data(error)}")

    # -- the result
    def judge(self) -> None:
        """Rank, and find the words for what the first is against each other."""
        judgement = Judgement(self.figure, MARGIN)
        judgement.measured = {name: [each] for name, each in self.measured.items()}
        judged = [row | dict.fromkeys(("valid", "by_seed", "weights")) for row in self.rows]
        for row in judged:
            row.setdefault(self.figure.key, None)
            row["seconds"] = 0.0  # what it took its author is no part of it
        judgement.judge(judged)
        words = {row["model"]: (row["against"], row["tied"]) for row in judged if "against" in row}
        for row in self.rows:
            if row["model"] in words:
                row["against"], row["tied"] = words[row["model"]]
        keys = [self.figure.key, self.figure.ties] if self.figure.ties else [self.figure.key]
        figures = [self.room.figure(key) for key in keys]

        def place(row: Row) -> tuple[bool, bool, list[float], str]:
            """What rows are sorted by; equal ones by their names."""
            values = [each.signed(row.get(each.key)) for each in figures]
            return row["status"] != "ok", row["model"] != judgement.winner, values, row["model"]

        self.rows.sort(key=place)
        self.items = judgement.items

    def record(self, seconds: float) -> Record:
        """All of it."""
        good = [row for row in self.rows if row["status"] == "ok"]
        units = list(dict.fromkeys(row["protocol"]["unit"] for row in good))
        origin = self.data[good[0]["model"]][1].origin if good else None
        told = [row | {"seconds": None} for row in self.rows]
        words = verdict(told, self.figure, self.items, "test", MARGIN, self.room.floor)
        return record(
            "leaderboard",
            seriatim=__version__,
            task=self.room.name,
            data=origin,
            unit=", ".join(units),
            figure=self.figure.key,
            higher_is_better=self.figure.higher,
            margin=MARGIN,
            measured_on=self.items,
            rows=[{"author": row["model"], **row, "model": row["spec"]} for row in self.rows],
            verdict=words,
            seconds=seconds,
        )


def refuse_unranked(room: Task) -> None:
    """Refuse a task that has no figure."""
    if not room.figures:
        raise ConfigError(
            f"models of {room.name} are not ranked by what they predict", do="Evaluate each"
        )


@contextmanager
def quietly() -> Iterator[None]:
    """In the meantime nothing is said but how far it is."""
    hear = LISTENER.get()

    def far(event: dict[str, Any]) -> None:
        """Pass on how far it is."""
        if hear is not None and event["event"] == "pass":
            hear(event)

    with listening(far):
        yield


def authors(runs: Sequence[Any]) -> list[str]:
    """Who made each run: the name of its folder; where two have the same, as much of the path as
    tells them apart."""
    if not runs:
        raise ConfigError("no run was named", do="Give run folders after the file")
    paths = [None if (at := place_of(run)) is None else at.resolve() for run in runs]
    twice = [str(path) for path, many in Counter(paths).items() if path and many > 1]
    if twice:
        raise ConfigError("each run is measured once", got=", ".join(twice), do="Name it once")
    names = [run.spec if path is None else path.name for run, path in zip(runs, paths, strict=True)]
    for depth in range(2, 8):
        many = Counter(names)
        names = [
            "/".join(path.parts[-depth:]) if path is not None and many[name] > 1 else name
            for name, path in zip(names, paths, strict=True)
        ]
    for number, name in enumerate(names):  # models in memory
        if name in names[:number]:
            names[number] = f"{name}-{number + 1}"
    return names


def place_of(run: Any) -> Path | None:
    """Where a run lies; one that is in memory lies nowhere."""
    return run.folder if isinstance(run, Predictor) else Path(run)


def room_of(run: Any) -> str | None:
    """Of which task a run is, if that is told without opening it."""
    return run.task.name if isinstance(run, Predictor) else task_of(run)


def refuse_mixed(rooms: Mapping[str, str | None]) -> None:
    """Runs of one task are ranked together."""
    several: dict[str, list[str]] = {}
    for name, room in rooms.items():
        if room is not None:
            several.setdefault(room, []).append(name)
    if len(several) > 1:
        raise ConfigError(
            "runs of one task are ranked together",
            got="; ".join(f"{room}: {', '.join(names)}" for room, names in several.items()),
            do="Give those of one task",
        )


def sized(data: Sequences) -> str:
    """How many sequences were read, and how."""
    return f"{len(data):,} sequence{'s' * (len(data) != 1)} by {data.by}"


def without_data(error: SeriatimError) -> str:
    """What is wrong and what to do, without what was received: that may stand in the file."""
    what, _, do = error.told()
    return f"{what}. {do}".rstrip(". ")
