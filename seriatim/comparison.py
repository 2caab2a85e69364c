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
from contextlib import suppress
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from seriatim import __version__
from seriatim.budget import CHEAP, Budget, projected
from seriatim.data.sequences import NUMBERS, Sequences
from seriatim.data.splits import equal_groups
from seriatim.errors import ConfigError, RunError, SeriatimError
from seriatim.fitting import fit_events, untrained
from seriatim.fitting_options import CompareOptions
from seriatim.leaderboard import verdict
from seriatim.measuring.fingerprint import fingerprint
from seriatim.measuring.measured import Measured
from seriatim.models.ladder import known_settings
from seriatim.progress import began, exhausted, listening
from seriatim.records import Record, plain, record
from seriatim.report import command_of, comparison_page, write_page
from seriatim.runs.places import COMPARISON, MANIFEST, PLAN, claim, interrupted, kind_of
from seriatim.runs.predictor import Predictor, Source
from seriatim.settings import build, named
from seriatim.show.curves import quality
from seriatim.show.pages import warm
from seriatim.storage import read_json, write_bytes, write_json
from seriatim.tasks.base import Task
from seriatim.tasks.opening import load
from seriatim.training.loop import relay
from seriatim.training.trials import survives_bfloat16

Event = dict[str, Any]
Row = dict[str, Any]
Round = tuple[Sequences | None, Sequences, Sequences]  # validation, training, test
SIGNIFICANT = 0.05
FEW_SYMBOLS = 5_000  # of a test part: so little is always scored whole
FEW_ITEMS = 500  # sequences of a test: fewer are never left
SLICE = 20_000  # symbols of training data, by which an untrained network gets its vocabulary
TRIALS = (1 / 64, 1 / 16, 1 / 4)  # shares of the data, by which slow counting is known before
WARM = 0.1  # seconds of a first trial that say nothing about how long reading takes
TRIED = 1 / 32  # of the test part, scored before a network learns, to know how long that takes
RESUME = "what it learned is kept, and --resume goes on with it"
KEPT_OF_FIT = ("updates", "epochs", "symbols_seen", "stopped", "improving", "unfinished", "ending")


class Comparison:
    """One comparison under way: what was asked for, and what has come of it."""

    def __init__(self, room: Task, options: CompareOptions, settings: Mapping[str, Any]):
        self.room, self.options, self.begin = room, options, began()
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
        self.limited = bool({"updates", "epochs"} & self.settings.keys())  # instead of by the clock
        self.figure = room.figures[0]
        self.rows: list[Row] = []
        self.split, self.test_share = "folds", 1.0
        self.measuring: dict[str, Any] = {}  # what the test is measured with
        self.measured: dict[str, Measured] = {}
        self.last: Predictor | None = None  # which can tell what an item of the test is
        self.interrupted = False
        self.budget: Budget | None = None  # none: networks learn for so many updates or epochs

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
    def run(
        self, source: Source, valid: Source | None = None, test: Source | None = None
    ) -> Generator[Event, None, Record]:
        """Fit and measure every rung; the record is what is returned."""
        data, rounds = self.divided(source, valid, test)
        self.figure = self.room.ranking_figure(rounds[0][1])
        folder = self.open_folder(data)
        yield {"event": "plan", "models": self.names, "minutes": self.options.minutes}
        yield {
            "event": "data",
            "train": data.origin,
            "symbols": len(data.main.flat),
            "sequences": len(data),
            "unit": data.unit or self.room.cut.unit,
            "by": data.by,
            "vocabulary": 0,
            "quiet": True,
        }
        numbers = data.main_kind() == NUMBERS
        if folder is not None:
            warm()  # before slots are dealt out
        rounds = self.affordable(self.warmed(rounds))
        result = self.record(data, folder)
        for name in self.counting + self.learning:
            yield from self.rung(name, rounds, folder, numbers)
            self.rank()
            result = self.record(data, folder)
            if folder is not None:
                write_tables(folder, result, self.room)
        result["disagreements"] = self.disagreements(rounds)
        if folder is not None:
            write_pages(folder, result, self.room)
            result["seconds"] = time.perf_counter() - self.begin
            write_tables(folder, result, self.room)
        yield {"event": "done", "out": result["out"], "seconds": result["seconds"]}
        return result

    def divided(
        self, source: Source, valid: Source | None, test: Source | None
    ) -> tuple[Sequences, list[Round]]:
        """The data, and each time validation, training and test: parts of it, or as they were
        given."""
        cut, folds = self.room.cut, self.options.folds
        names = [each.name for each in fields(self.room.reading)]
        asked = {key: value for key, value in self.settings.items() if key in names}
        reading: Any = build(self.room.reading, asked, "reading")
        coding, unit = self.coding(), self.settings.get("unit")
        data, held, tested = (
            None if each is None else cut.prepare(cut.sequences(each, reading, unit=unit), coding)
            for each in (source, valid, test)
        )
        assert data is not None
        if folds is not None:
            if held is not None or tested is not None:
                raise ConfigError(
                    "folds are parts of one file",
                    got="--valid or --test besides",
                    do="Leave out --folds, or the other files",
                )
            return data, cut.folds(data, folds)
        self.split = "given" if tested is not None else "parts of the data"
        if tested is not None:
            self.measuring = cut.official(data)
            return data, [(held, data, tested)]
        parts = cut.divide(data)
        return data, [parts if held is None else (held, *parts[1:])]

    def open_folder(self, data: Sequences) -> Path | None:
        """The folder of this comparison, new or gone on with, and the plan in it."""
        options = self.options
        if not options.out:
            if options.resume:
                raise ConfigError(
                    "--resume needs the folder of the comparison to go on with", do="Add --out"
                )
            self.budget = self.planned_budget(None)
            return None
        plan = {
            "task": self.room.name,
            "data": fingerprint(data.main),
            "settings": {key: str(value) for key, value in sorted(self.settings.items())},
            "minutes": options.minutes,
            "folds": options.folds,
        }
        folder = Path(options.out)
        found = resumed(folder, plan) if options.resume else None
        if found is None:
            new_folder(folder, options.resume)
            write_json(folder / "comparison.json", plan)
        self.budget = self.planned_budget(found)
        return folder

    def planned_budget(self, found: Record | None) -> Budget | None:
        """The time of the networks; a resumed comparison goes on with the shares it began with."""
        if self.limited:
            return None
        share = found.get("slot_seconds") if found else None
        todo = [name for name in self.learning if not self.kept(name)]
        return Budget(self.options.minutes, self.begin, len(todo), share)

    def kept(self, name: str) -> bool:
        """Whether a comparison that is resumed has the row of this model already."""
        if not (self.options.resume and self.options.out):
            return False
        return (Path(self.options.out) / "rows" / f"{name}.json").is_file()

    def coding(self) -> dict[str, Any]:
        """The settings of the codec."""
        names = [each.name for each in fields(self.room.coding)]
        asked = {key: value for key, value in self.settings.items() if key in names}
        build(self.room.coding, asked, "codec")
        return asked

    def rung(
        self, name: str, rounds: list[Round], folder: Path | None, numbers: bool
    ) -> Generator[Event, None, None]:
        """One rung: fitted and measured once, or fold by fold, or found where it was kept."""
        if self.interrupted:
            self.rows.append(self.without(name, "not run", "the comparison was interrupted before"))
            return
        try:
            if folder is not None and self.kept(name):
                self.rows.append(read_json(folder / "rows" / f"{name}.json"))
                self.measured[name] = Measured.load(folder / "measured" / f"{name}.safetensors")
            elif why := self.too_slow(name, rounds):
                self.rows.append(self.without(name, "not run", why))
                yield {"event": "rung", "model": name, "words": f"not run: {why}"}
            else:
                yield from self.fitted(name, rounds, folder, numbers)
        except KeyboardInterrupt:
            self.interrupted = True
            self.rows.append(self.without(name, "interrupted", f"before it was measured; {RESUME}"))
        except (SeriatimError, MemoryError, RuntimeError) as error:
            self.rows.append(self.without(name, "failed", str(error) or type(error).__name__))
            words = f"failed: {self.rows[-1]['reason']}"
            yield {"event": "rung", "model": name, "words": words}

    def fitted(
        self, name: str, rounds: list[Round], folder: Path | None, numbers: bool
    ) -> Generator[Event, None, None]:
        """The fits of one rung, and its row."""
        found: list[Measured] = []
        spent, learns = 0.0, name in self.learning
        if learns and self.budget is not None:
            self.budget.begin()
            self.keep_share(folder)
        predictor, run = None, None
        for number, (valid, train, test) in enumerate(rounds):
            part = name if len(rounds) == 1 else f"{name}-{number + 1}"
            run = None if folder is None else folder / "runs" / part
            seen: list[str] = []
            fitting = self.fit(name, train, valid, test, run, numbers, len(rounds) - number)
            predictor = yield from relay(fitting, partial(under, name, seen))
            self.interrupted = "interrupted" in seen
            if self.interrupted:
                after = f"after {predictor.metrics['updates']:,} updates; {RESUME}"
                self.rows.append(self.without(name, "interrupted", after))
                return
            if learns and self.budget is not None:
                self.budget.learned()
            found.append(predictor.measure(test, **self.measuring))
            spent += predictor.metrics["seconds"]
        assert predictor is not None
        self.last = predictor
        measured = self.measured[name] = predictor.merged(found)
        test = rounds[-1][2]
        row = row_of(predictor, measured, test, spent, run if len(rounds) == 1 else None)
        self.rows.append(row)
        if learns and self.budget is not None:
            self.budget.scored()
        if folder is not None:
            measured.save(folder / "measured" / f"{name}.safetensors")
            write_json(folder / "rows" / f"{name}.json", row)
        words = (
            f"{self.figure.write(row[self.figure.key])} {self.figure.words or self.figure.title}"
        )
        yield {"event": "rung", "model": name, "words": words}

    def fit(
        self,
        name: str,
        train: Sequences,
        valid: Sequences | None,
        test: Sequences,
        run: Path | None,
        numbers: bool,
        rounds: int,
    ) -> Generator[Event, None, Predictor]:
        """One fit, within what is left of its slot; of a comparison that was killed, gone on with."""
        whole = run is not None and (run / MANIFEST).is_file() and not interrupted(run)
        if run is not None and self.options.resume and whole:
            return load(run)
        asked = self.plans[name] | ({} if run is None else {"out": str(run)})
        if self.options.resume and run is not None:
            asked["resume"] = (run / PLAN).is_file()
        if name in self.learning:
            asked = self.own_epochs(name, numbers) | asked
        budget = partial(self.minutes, test, rounds) if self.by_clock(name) else None
        return (yield from fit_events(self.room, name, train, valid, asked, budget, compared=True))

    def by_clock(self, name: str) -> bool:
        """Whether this model learns until its time is over."""
        return name in self.learning and self.budget is not None

    def minutes(self, test: Sequences, rounds: int, predictor: Predictor) -> float:
        """How long a network may learn: what is left of its slot when it will have been scored."""
        assert self.budget is not None
        begin, some = time.perf_counter(), self.room.cut.some_of(test, TRIED)
        predictor.measure(some, **self.measuring)
        scoring = (time.perf_counter() - begin) * len(test.main.flat) / max(1, len(some.main.flat))
        return self.budget.minutes(scoring * rounds) / rounds

    def warmed(self, rounds: list[Round]) -> list[Round]:
        """The same, when what takes seconds the first time (compiled code, what the processor can
        do) has been done once: otherwise the first network would pay for all."""
        if self.budget is not None and self.learning and not self.options.resume:
            few = self.room.cut.some_of(rounds[0][1], self.slice_of(rounds[0][1]))
            asked = self.plans[self.learning[0]] | {"updates": 1}
            with suppress(SeriatimError, RuntimeError), listening(lambda event: None):
                survives_bfloat16()
                exhausted(fit_events(self.room, self.learning[0], few, None, asked, compared=True))
        return rounds

    def slice_of(self, train: Sequences) -> float:
        """The share of the training data by which an untrained network gets its vocabulary."""
        return min(1.0, SLICE / max(1, len(train.main.flat)))

    def affordable(self, rounds: list[Round]) -> list[Round]:
        """The same with as much of the test as can be scored in a fifth of a slot, by an untrained
        network that has seen a little of the data: on a busy machine scoring may take longer than
        learning. All rungs are measured on the same part."""
        if self.budget is None or not self.learning or self.options.resume:
            return rounds
        (_, train, test), cut = rounds[0], self.room.cut
        if len(test.main.flat) < FEW_SYMBOLS:
            return rounds
        try:
            few = cut.some_of(train, self.slice_of(train))
            predictor = untrained(self.room, self.learning[-1], few, self.plans[self.learning[-1]])
            for share in (TRIED, TRIED, 4 * TRIED):  # the first time takes longer; little is slower
                some, begin = cut.some_of(test, share), self.budget.clock()
                predictor.measure(some, **self.measuring)
        except SeriatimError:  # the fit itself will say what is wrong
            return rounds
        if len(some.main.flat) == len(test.main.flat):  # of some tasks all is always scored
            return rounds
        each = (self.budget.clock() - begin) / max(1, len(some.main.flat))
        share = self.budget.affordable(each * len(test.main.flat) * len(rounds))
        least = FEW_ITEMS / len(test) if len(test) > 1 else FEW_SYMBOLS / len(test.main.flat)
        self.test_share = min(1.0, max(share, least))
        if self.test_share == 1:
            return rounds
        return [(v, t, cut.some_of(tested, self.test_share)) for v, t, tested in rounds]

    # -- counting that would take too long
    def too_slow(self, name: str, rounds: list[Round]) -> str:
        """Why a model that counts is not run beside others: it would take more than its slot."""
        if self.budget is None or name in self.learning or len(self.names) == 1:
            return ""
        to_come = self.counting[self.counting.index(name) :]
        limit = self.budget.counting(len(to_come))
        seconds = self.expected(name, rounds, limit)
        if seconds <= max(CHEAP, limit):
            return ""
        return (
            f"it would take about {seconds:.0f} s, and has {limit:.1f} s here; "
            f"give more --minutes, or run it alone: --models {name}"
        )

    def expected(self, name: str, rounds: list[Round], limit: float) -> float:
        """Seconds that a model that counts would take, by growing parts of the data, until that can
        be told from the limit; 0 if it can learn from none of them: then there is little data."""
        trials: list[tuple[float, float]] = []
        for part in TRIALS:
            share, seconds = self.tried(name, rounds[0], part)
            if not share or (trials and share <= trials[-1][0]):
                continue
            if not trials and seconds > WARM and projected([(share, seconds)]) > limit:
                share, seconds = self.tried(name, rounds[0], part)  # the first time takes longer
            trials.append((share, seconds * len(rounds)))
            if projected(trials) <= limit or seconds * len(rounds) > limit:
                break
            if len(trials) > 1 and projected(trials, 4 * share) > limit / 2:
                break
        return projected(trials) if trials else 0.0

    def tried(self, name: str, parts: Round, share: float) -> tuple[float, float]:
        """A fit to a part of the data, and its measuring: the share it really was, 0 if that is too
        little for this model, and how many seconds it took."""
        assert self.budget is not None
        (_, train, test), begin = parts, self.budget.clock()
        try:
            few, some = self.room.cut.tried_on(train, test, share)
            with listening(lambda event: None):
                predictor = exhausted(
                    fit_events(self.room, name, few, None, self.plans[name], compared=True)
                )
                predictor.measure(some, **self.measuring)
        except (SeriatimError, MemoryError, RuntimeError):
            return 0.0, 0.0
        return len(few.main.flat) / len(train.main.flat), self.budget.clock() - begin

    def keep_share(self, folder: Path | None) -> None:
        """Write down how long a slot is, for a comparison that goes on with this one."""
        if folder is not None and self.budget is not None:
            plan = read_json(folder / "comparison.json")
            write_json(folder / "comparison.json", plan | {"slot_seconds": self.budget.share})

    def own_epochs(self, name: str, numbers: bool) -> dict[str, Any]:
        """How often a rung reads small data at most, however much time there is."""
        if {"updates", "epochs"} & self.settings.keys():
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
        """Best first, equal ones by the figure that breaks ties; those not significantly different
        from the best are marked."""
        figures = [self.figure]
        if self.figure.ties:
            figures.append(self.room.figure(self.figure.ties))

        def place(row: Row) -> tuple[bool, list[float]]:
            """What rows are sorted by."""
            return row["status"] != "ok", [each.signed(row.get(each.key)) for each in figures]

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
        items = max((len(each.loss) for each in self.measured.values()), default=0)
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
            slot_seconds=None if self.budget is None else self.budget.share,
            split=self.split,
            test_share=self.test_share,
            entropy_bits=entropy,
            rows=self.rows,
            protocol=protocols[0] if protocols else None,
            seconds=time.perf_counter() - self.begin,
            out=None if folder is None else str(folder),
            copies=copies(data),
            measured_on=items,
            verdict=verdict(self.rows, self.figure, items),
            disagreements=None,
            command=self.command(data),
        )

    def command(self, data: Sequences) -> str:
        """What would be typed to do this again."""
        own = {each.name: getattr(self.options, each.name) for each in fields(self.options)}
        usual = {each.name: each.default for each in fields(self.options)}
        asked = {k: v for k, v in own.items() if v != usual[k] and k not in ("out", "resume")}
        return command_of("compare", [self.room.name, data.origin], asked | self.settings)

    def disagreements(self, rounds: list[Round]) -> Record | None:
        """The items of the test on which the two best rungs differ most, with what each said."""
        good = [row["model"] for row in self.rows if row["model"] in self.measured]
        if len(good) < 2 or len(rounds) > 1 or self.last is None:
            return None
        first, second = good[:2]
        found = self.last.examples(rounds[0][2], self.measured[first], self.measured[second])
        return {"first": first, "second": second, "items": found} if found else None


def copies(data: Sequences) -> float:
    """The share of sequences that are copies of one before; 0 for a stream or a series."""
    if data.by == "stream" or data.is_series or len(data) < 2:
        return 0.0
    return 1 - len(np.unique(equal_groups(data))) / len(data)


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
        **{key: predictor.metrics.get(key) for key in KEPT_OF_FIT},
        "seconds": seconds,
        "size_bytes": size,
        "run": None if folder is None else f"runs/{predictor.spec}",
        "tied": False,
    }


def new_folder(folder: Path, resume: bool) -> None:
    """A folder that is there for this comparison alone; one that was marked when the process died
    is gone on with."""
    try:
        begun = kind_of(folder) == COMPARISON and not resume
        if begun or (kind_of(folder) is None and folder.is_dir() and any(folder.iterdir())):
            raise RunError(
                f"{folder} is not empty",
                do="Choose another --out, or go on with the comparison in it: --resume",
            )
        claim(folder, COMPARISON)
        for name in ("runs", "measured", "rows"):
            (folder / name).mkdir(exist_ok=True)
    except OSError as error:
        raise RunError(
            f"cannot make the folder {folder}", got=error.strerror, do="Choose another --out"
        ) from None


def resumed(folder: Path, plan: Record) -> Record | None:
    """The plan of the comparison that is gone on with, if it is the same; none was begun: None."""
    file = folder / "comparison.json"
    if not file.is_file() or kind_of(folder) != COMPARISON:
        return None
    found, wanted = read_json(file), plain(plan)
    changed = [
        key for key in wanted if not isinstance(found, dict) or found.get(key) != wanted[key]
    ]
    if changed:
        raise RunError(
            f"the comparison in {folder} was begun with other settings or data",
            got=", ".join(changed),
            do="Repeat the first command and add --resume, or choose another --out",
        )
    return found


def write_tables(folder: Path, result: Record, room: Task) -> None:
    """table.json and table.csv, beside the runs: there is one at every moment."""
    write_json(folder / "table.json", result)
    text = io.StringIO()
    first, *others = (figure.key for figure in room.ranked_by(result["figure"]))
    after = ("seconds", "updates", "epochs", "unfinished", "parameters", "size_bytes")
    more = ("symbols_per_second", "tied", "reason")
    columns = ("model", "status", first, "low", "high", *others, *after, *more)
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in result["rows"]:
        low, high = row.get("interval", {}).get(first) or (None, None)
        writer.writerow(row | {"low": low, "high": high})
    write_bytes(folder / "table.csv", text.getvalue().encode())


def write_pages(folder: Path, result: Record, room: Task) -> None:
    """quality.png and report.html."""
    if any(row["status"] == "ok" and row[result["figure"]] is not None for row in result["rows"]):
        quality(result).save(folder / "quality.png")
    write_page(folder / "report.html", comparison_page(result, room, folder))
