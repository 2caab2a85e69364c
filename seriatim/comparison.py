"""The main job: which rung of the ladder does this data deserve?

Every rung is fitted on the same training part with an equal budget, chosen on the same validation
part and measured on the same test part, with intervals; where the room allows, also on every part
in turn (`folds`). A rung that fails keeps its row with the reason.
"""

from __future__ import annotations

import csv
import io
import math
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from seriatim import __version__
from seriatim.data.sequences import NUMBERS, Sequences
from seriatim.errors import ConfigError, RunError, SeriatimError
from seriatim.fitting import fit_events
from seriatim.fitting_options import CompareOptions
from seriatim.measuring.measured import Measured
from seriatim.models.ladder import known_settings
from seriatim.records import Record, record
from seriatim.report import report
from seriatim.runs.predictor import Predictor, Source
from seriatim.settings import build, named
from seriatim.show.charts import quality
from seriatim.storage import write_bytes, write_json
from seriatim.tasks.base import Task
from seriatim.tasks.base.cut import SPLIT
from seriatim.training.loop import relay

Event = dict[str, Any]
Row = dict[str, Any]
OVERHEAD = 0.15  # share of the time kept for scoring, samples and the report
SIGNIFICANT = 0.05


class Comparison:
    """One comparison under way: what was asked for, and what has come of it."""

    def __init__(self, room: Task, options: CompareOptions, settings: Mapping[str, Any]):
        self.room, self.options, self.begin = room, options, time.perf_counter()
        self.settings = {key.replace("-", "_"): value for key, value in settings.items()}
        if not room.figures:
            raise ConfigError(
                f"models of {room.name} are not compared by what they predict",
                do="Fit each, and evaluate it",
            )
        self.names = chosen(room, options.models)
        self.plans = {name: self.relevant(name) for name in self.names}
        self.counting = [
            name for name in self.names if all(room.rung(n).counts for n in name.split("+"))
        ]
        self.learning = [name for name in self.names if name not in self.counting]
        self.limited = bool({"steps", "epochs"} & self.settings.keys())  # instead of by the clock
        self.figure = room.figures[0]
        self.rows: list[Row] = []
        self.measured: dict[str, Measured] = {}
        self.interrupted = False
        self.budget: float | None = None  # minutes of a network

    def relevant(self, name: str) -> dict[str, Any]:
        """The settings that this model has; one that no model of the comparison has is an error."""
        kept = {}
        for key, value in self.settings.items():
            users = [other for other in self.names if self.accepts(other, key)]
            if not users:
                raise ConfigError(
                    f"{key!r} is not a setting of any of these models", got=", ".join(self.names)
                )
            if name in users:
                kept[key] = value
        known = known_settings(name, self.room.rungs)
        self.room.parts(name, {key: value for key, value in kept.items() if key in known})
        return kept

    def accepts(self, name: str, key: str) -> bool:
        """Whether a model, its codec or the way its data are read has this setting."""
        for part in name.split("+"):
            self.room.rung(part)
        records = (self.room.reading, self.room.coding, self.room.fitting)
        shared = {each.name for cls in records for each in fields(cls)}
        return key in shared or key in known_settings(name, self.room.rungs)

    # -- the run
    def run(self, source: Source) -> Generator[Event, None, Record]:
        """Fit and measure every rung; the record is what is returned."""
        cut, folds = self.room.cut, self.options.folds
        names = [each.name for each in fields(self.room.reading)]
        asked = {key: value for key, value in self.settings.items() if key in names}
        reading: Any = build(self.room.reading, asked, "reading")
        data = cut.sequences(source, reading, unit=self.settings.get("unit"))
        data = cut.prepare(data, self.coding())
        rounds = [cut.divide(data)] if folds is None else cut.folds(data, folds)
        folder = new_folder(Path(self.options.out)) if self.options.out else None
        yield {"event": "plan", "models": self.names, "minutes": self.options.minutes}
        yield {
            "event": "data",
            "train": data.origin,
            "symbols": len(data.main.flat),
            "sequences": len(data),
            "unit": data.unit or cut.unit,
            "by": data.by,
            "vocabulary": 0,
            "quiet": True,
        }
        numbers = data.main_kind() == NUMBERS
        for name in self.counting + self.learning:
            yield from self.rung(name, rounds, folder, numbers)
        self.rank()
        result = self.record(data, folder)
        if folder is not None:
            write_folder(folder, result, self.room)
        yield {"event": "done", "out": result["out"], "seconds": result["seconds"]}
        return result

    def coding(self) -> dict[str, Any]:
        """The settings of the codec."""
        names = [each.name for each in fields(self.room.coding)]
        asked = {key: value for key, value in self.settings.items() if key in names}
        build(self.room.coding, asked, "codec")
        return asked

    def rung(
        self, name: str, rounds: list[Any], folder: Path | None, numbers: bool
    ) -> Generator[Event, None, None]:
        """One rung: fitted and measured once, or fold by fold."""
        if self.interrupted:
            self.rows.append(self.without(name, "not run", "the comparison was interrupted before"))
            return
        try:
            yield from self.fitted(name, rounds, folder, numbers)
        except (SeriatimError, MemoryError, RuntimeError) as error:
            self.rows.append(self.without(name, "failed", str(error) or type(error).__name__))
            words = f"failed: {self.rows[-1]['reason']}"
            yield {"event": "rung", "model": name, "words": words}

    def fitted(
        self, name: str, rounds: list[Any], folder: Path | None, numbers: bool
    ) -> Generator[Event, None, None]:
        """The fits of one rung, and its row."""
        found: list[Measured] = []
        spent, limits = 0.0, self.limits(name, len(rounds), numbers)
        predictor, run = None, None
        for number, (valid, train, test) in enumerate(rounds):
            part = name if len(rounds) == 1 else f"{name}-{number + 1}"
            run = None if folder is None else folder / "runs" / part
            asked = limits | self.plans[name] | ({} if run is None else {"out": str(run)})
            seen: list[str] = []
            fitting = fit_events(self.room, name, train, valid, asked)
            predictor = yield from relay(fitting, partial(under, name, seen))
            self.interrupted = "interrupted" in seen
            if self.interrupted:
                after = f"after {predictor.metrics['step']:,} updates; what it learned is kept"
                self.rows.append(self.without(name, "interrupted", after))
                return
            found.append(predictor.measure(test))
            spent += predictor.metrics["seconds"]
        assert predictor is not None
        measured = self.measured[name] = predictor.merged(found)
        test = rounds[-1][2]
        row = row_of(predictor, measured, test, spent, run if len(rounds) == 1 else None)
        self.rows.append(row)
        if folder is not None:
            measured.save(folder / "measured" / f"{name}.safetensors")
        words = (
            f"{self.figure.write(row[self.figure.key])} {self.figure.words or self.figure.title}"
        )
        yield {"event": "rung", "model": name, "words": words}

    def limits(self, name: str, rounds: int, numbers: bool) -> dict[str, Any]:
        """How long a network learns: its share of the time, and no more epochs than its own."""
        if name not in self.learning or self.limited:
            return self.own_epochs(name, numbers) if name in self.learning else {}
        if self.budget is None:
            left = self.options.minutes * 60 - (time.perf_counter() - self.begin)
            share = left * (1 - OVERHEAD) / len(self.learning) / rounds
            self.budget = max(0.5, share) / 60
        return {"minutes": self.budget, **self.own_epochs(name, numbers)}

    def own_epochs(self, name: str, numbers: bool) -> dict[str, Any]:
        """How often a rung reads small data at most, however much time there is."""
        if {"steps", "epochs"} & self.settings.keys():
            return {}
        several = [self.room.rung(part).recipe(numbers).get("epochs") for part in name.split("+")]
        limits = [each for each in several if each]
        return {"epochs": max(limits)} if limits else {}

    # -- the result
    def without(self, name: str, status: str, reason: str) -> Row:
        """The row of a model that has no figure, and why."""
        row = {"model": name, "status": status, "reason": reason, "tied": False}
        return row | {self.figure.key: None}

    def rank(self) -> None:
        """Best first; those not significantly different from the best are marked."""
        sign, key = -1 if self.figure.higher else 1, self.figure.key

        def place(row: Row) -> tuple[bool, float]:
            """What rows are sorted by."""
            return row["status"] != "ok", math.inf if row[key] is None else sign * row[key]

        self.rows.sort(key=place)
        good = [row for row in self.rows if row["status"] == "ok"]
        for row in good:
            row["p"] = None if row is good[0] else self.p(row["model"], good[0]["model"])
            row["tied"] = row["p"] is None or row["p"] >= SIGNIFICANT

    def p(self, name: str, best: str) -> float:
        """How probable so large a difference is by chance."""
        return named(self.figure.test)(self.measured[name], self.measured[best])

    def record(self, data: Sequences, folder: Path | None) -> Record:
        """All of it as one record."""
        protocols = [row["protocol"] for row in self.rows if row["status"] == "ok"]
        unit = self.settings.get("unit") or data.unit or self.room.cut.unit
        entropy = None if data.entropy is None else data.entropy / math.log(2)
        return record(
            "comparison",
            seriatim=__version__,
            task=self.room.name,
            data=data.origin,
            unit=protocols[0]["unit"] if protocols else unit,
            by=data.by,
            figure=self.figure.key,
            higher_is_better=self.figure.higher,
            folds=self.options.folds,
            minutes=None if self.limited else self.options.minutes,
            interrupted=self.interrupted,
            budget_seconds=None if self.budget is None else self.budget * 60,
            split=list(SPLIT),
            entropy_bits=entropy,
            rows=self.rows,
            protocol=protocols[0] if protocols else None,
            seconds=time.perf_counter() - self.begin,
            out=None if folder is None else str(folder),
        )


def chosen(room: Task, models: str | Sequence[str]) -> list[str]:
    """The names of the models to be compared, each once."""
    usual = [name for name, each in room.rungs.items() if each.usual]
    asked = models.split(",") if isinstance(models, str) else list(models)
    names = list(dict.fromkeys(name.strip() for name in asked if name.strip()))
    if models and not names:
        raise ConfigError("no model was named", do="Name some, or leave it out for all")
    for name in names:
        room.parts(name, {})
    return names or usual


def under(name: str, seen: list[str], event: Event) -> Event | None:
    """A fit's event under the model's name; what belongs to the single fit alone is left out."""
    seen.append(event["event"])
    if event["event"] in ("done", "part", "warning"):
        return None
    return event | {"model": name} | ({"quiet": True} if event["event"] == "data" else {})


def row_of(
    predictor: Predictor, measured: Measured, test: Sequences, seconds: float, folder: Path | None
) -> Row:
    """The row of a model: its figures, what it cost, and a sample where it writes."""
    arrays = predictor.model.arrays().values()
    size = sum(array.numel() * array.element_size() for array in arrays)
    sample = predictor.sample(test)
    return {
        "model": predictor.spec,
        "status": "ok",
        **predictor.row(measured),
        **({} if sample is None else {"sample": sample}),
        "seconds": seconds,
        "size_bytes": size,
        "run": None if folder is None else f"runs/{predictor.spec}",
        "tied": False,
    }


def new_folder(folder: Path) -> Path:
    """A folder that is there for this comparison alone."""
    try:
        if folder.is_dir() and any(folder.iterdir()):
            raise RunError(f"{folder} is not empty", do="Choose another --out")
        for name in ("runs", "measured"):
            (folder / name).mkdir(parents=True)
    except OSError as error:
        raise RunError(
            f"cannot make the folder {folder}", got=error.strerror, do="Choose another --out"
        ) from None
    return folder


def write_folder(folder: Path, result: Record, room: Task) -> None:
    """table.json, table.csv, quality.png and report.html, beside the runs."""
    write_json(folder / "table.json", result)
    text = io.StringIO()
    first, *others = (figure.key for figure in room.figures)
    after = ("seconds", "parameters", "size_bytes", "symbols_per_second", "tied", "reason")
    columns = ("model", "status", first, "low", "high", *others, *after)
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in result["rows"]:
        low, high = row.get("interval", {}).get(first) or (None, None)
        writer.writerow(row | {"low": low, "high": high})
    write_bytes(folder / "table.csv", text.getvalue().encode())
    write_bytes(folder / "quality.png", quality(result, "png"))
    page = report(result, room)
    write_bytes(folder / "report.html", page.encode("utf-8", "xmlcharrefreplace"))
