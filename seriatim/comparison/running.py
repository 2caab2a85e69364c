"""The main job: which rung of the ladder does this data deserve?

Every rung is fitted on the same training part with an equal budget. The winner is chosen on the same
validation part and measured on the same test part, with intervals that cover the test and, of several
seeds, those; where the room allows, every part is the test in turn (`folds`). The best that counts and
the best network are mixed. A rung that fails keeps its row with the reason.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from seriatim import __version__
from seriatim.codecs.options import unit_in_words, with_unit
from seriatim.comparison.budget import Budget
from seriatim.comparison.data_curve import HALF, DataCurve, check_curve
from seriatim.comparison.fits import Fits
from seriatim.comparison.folder import new_folder, resumed, write_pages, write_tables
from seriatim.comparison.judgement import Judgement, nothing_right, recommended
from seriatim.comparison.mixing import Mixing
from seriatim.comparison.repeating import PARTS, differences, provenance, recorded
from seriatim.comparison.rows import copies, over_seeds, units_of
from seriatim.comparison.time_curve import Short, TimeCurves
from seriatim.comparison.trials import Round, Trials, spec_of
from seriatim.data.objects import MEMORY
from seriatim.data.sequences import NUMBERS, Sequences
from seriatim.errors import ConfigError, SeriatimError, nearest, told_by
from seriatim.fitting import fit_events
from seriatim.fitting_options import CompareOptions
from seriatim.measuring.fingerprint import fingerprint
from seriatim.measuring.judging import BLOCK, items_of
from seriatim.measuring.measured import Measured
from seriatim.models.ladder import known_settings
from seriatim.progress import began, exhausted, listening, note
from seriatim.prospects import more_data
from seriatim.records import Record, record
from seriatim.report import call_of, call_with, command_of
from seriatim.runs.predictor import Predictor, Source
from seriatim.settings import build, named, names_of
from seriatim.show.pages import can_draw, warm
from seriatim.storage import read_json, write_json
from seriatim.tasks.base import Figure, Task
from seriatim.tasks.opening import load
from seriatim.training.ending import ENDING
from seriatim.training.loop import relay
from seriatim.verdict import equals_in_words, verdict

Event = dict[str, Any]
Row = dict[str, Any]
WITHOUT_PICTURES = "no picture and no report: pip install 'seriatim[pictures]'"
WRITTEN = 0.3  # of the seconds that the first page takes, whatever the machine: those of the report
MIXED = 0.35  # of a slot, for the mixture of the best two
RESUME = "what it learned is kept, and --resume goes on with it"
NOT_KEPT = "its figures are kept and no run: a run folder holds no code, and it is your own class"
KEPT_OF_FIT = ("beside", "beside_alone", *ENDING)


class Comparison(Trials, Fits, TimeCurves, Mixing):
    """One comparison under way: what was asked for, and what has come of it."""

    def __init__(self, room: Task, options: CompareOptions, settings: Mapping[str, Any]):
        self.room, self.options, self.begin = room, options, began()
        asked = {key.replace("-", "_"): value for key, value in settings.items()}
        if options.units and asked.get("tokenizer"):
            raise ConfigError(
                "a tokenizer made elsewhere says the unit",
                got="--tokenizer and --units",
                do="Leave one out",
            )
        self.settings = with_unit(asked, room.cut.untokenized)
        if not room.figures:
            raise ConfigError(
                f"models of {room.name} are not compared by what they predict",
                do="Fit each, and evaluate it",
            )
        # a pretrained model is a rung of its own, or opened as it is and held against the others
        fitted = any(each.needs == "pretrained" for each in room.rungs.values())
        if options.pretrained and fitted:
            self.settings["pretrained"] = options.pretrained
        self.guest = "" if fitted else options.pretrained
        if self.guest and room.figures[0].key not in room.across_units:
            raise ConfigError(
                f"{room.name} has no place for a pretrained model",
                got=self.guest,
                do="Leave out --pretrained",
            )
        check_curve(room, options)
        self.curve: Record | None = None
        self.specs = chosen(room, options.models, self.settings)
        self.units = units_of(options.units, self.settings, room)
        self.names = [
            spec + (f"@{unit}" if unit else "") for unit in self.units for spec in self.specs
        ]
        self.plans = {name: self.relevant(name) for name in self.names}
        self.counting = [
            name
            for name in self.names
            if all(room.rung(part).counts for part in spec_of(name).split("+"))
        ]
        self.learning = [name for name in self.names if name not in self.counting]
        self.limited = bool({"updates", "epochs"} & self.settings.keys())  # instead of by the clock
        self.figure = room.figures[0]  # until the data are known
        self.rows: list[Row] = []
        self.split, self.test_share = "folds", 1.0
        self.test_copies = 0, 0  # of a test that was given, and how many sequences it has
        self.measuring: dict[str, Any] = {}  # what the test is measured with
        ladder = {name: place for place, name in enumerate(room.rungs)}
        ties = self.tie_breaker()
        self.judgement = Judgement(self.figure, options.margin, ties, room.floor, ladder)
        # the best that counts and the best network, each with its validation figure and its name
        self.best: dict[str, tuple[tuple[float, ...], str, Callable[[], Predictor]]] = {}
        self.mixes = room.mixture is not None and not (
            options.models or options.folds or options.seeds > 1 or len(self.units) > 1
        )
        self.unmixed = ""  # why nothing is mixed, if that was meant to be
        self.references: list[Record] = []
        self.short: dict[str, Short] = {}  # fits of each network, before its own
        self.last: Predictor | None = None  # which can tell what an item of the test is
        self.interrupted = False
        self.files: dict[str, list[str] | None] = {}  # that were named: data, valid, test
        self.provenance: Record = {}
        self.budget: Budget | None = None  # none: networks learn for so many updates or epochs

    def relevant(self, name: str) -> dict[str, Any]:
        """The settings that this model has; one that no model of the comparison has is an error."""
        spec, _, unit = name.partition("@")
        kept = {"unit": unit} if unit else {}
        for key, value in self.settings.items():
            users = [other for other in self.specs if self.accepts(other, key)]
            if not users:
                raise self.unknown(key)
            if spec in users:
                kept[key] = value
        known = known_settings(spec, self.room.rungs)
        self.room.parts(spec, {key: value for key, value in kept.items() if key in known})
        return kept

    def accepts(self, name: str, key: str) -> bool:
        """Whether a model, its codec or the way its data are read has this setting."""
        for part in name.split("+"):
            self.room.rung(part)
        return key in self.room.shared or key in known_settings(name, self.room.rungs)

    def unknown(self, key: str) -> ConfigError:
        """The error of a setting that nothing here has: what it may have been meant to be."""
        if key == "overwrite":
            return ConfigError(
                "a comparison replaces no other one",
                got="--overwrite true",
                do="Choose another --out, delete the folder, or go on with what is in it: --resume",
            )
        of_models = (known_settings(each, self.room.rungs) for each in self.specs)
        known = names_of(CompareOptions) | self.room.shared | {"valid", "test"}
        return ConfigError(
            f"{key!r} is not a setting of any of these models",
            got=", ".join(self.specs),
            do=nearest(key, sorted(known.union(*of_models))),
        )

    def tie_breaker(self) -> Figure | None:
        """The figure that decides among models of the same."""
        return self.room.figure(self.figure.ties) if self.figure.ties else None

    def leave_out(self, names: Sequence[str]) -> None:
        """Compare without these."""
        for several in (self.names, self.counting, self.learning):
            several[:] = [name for name in several if name not in names]

    # -- the run
    def run(
        self, source: Source, valid: Source | None = None, test: Source | None = None
    ) -> Generator[Event, None, Record]:
        """Fit and measure every rung; the record is what is returned."""
        data, rounds = self.divided(source, valid, test)
        numbers = data.main_kind() == NUMBERS
        if numbers and not self.options.models:
            self.leave_out([name for name in self.names if self.room.rung(spec_of(name)).symbols])
        if not self.options.models:
            self.leave_out(self.room.cut.unable(data))
        yield from self.compared_with_before()
        self.figure = self.judgement.figure = self.room.ranking_figure(rounds[0][1])
        self.judgement.ties = self.tie_breaker()
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
        drawing = folder is not None and can_draw()
        if drawing:
            begin = time.perf_counter()
            warm()  # before slots are dealt out
            if self.budget is not None:
                self.budget.report += WRITTEN * (time.perf_counter() - begin)
        elif folder is not None:
            yield {"event": "note", "words": WITHOUT_PICTURES}
        rounds = self.affordable(self.warmed(rounds))
        result = self.record(data, folder)
        for name in self.counting + self.learning:
            yield from self.rung(name, rounds, folder, numbers)
            self.rank()
            result = self.record(data, folder)
            if folder is not None:
                write_tables(folder, result, self.room)
        yield from self.mixture(rounds, folder)
        yield from self.refer(rounds)
        self.judgement.judge(self.rows)
        if self.options.curve:
            self.curve = yield from DataCurve(self, rounds[0], folder, numbers).measured()
        self.rank()
        result = self.record(data, folder)
        result["disagreements"] = self.disagreements(rounds)
        if folder is not None:
            if drawing:
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
        if self.settings.get("tokenizer"):
            note(unit_in_words(self.settings))
        prepared = [
            None if each is None else cut.prepare(cut.sequences(each, reading, unit=unit), coding)
            for each in (source, valid, test)
        ]
        data, held, tested = cut.united(prepared, self.settings)
        assert data is not None
        note(cut.could_be(data))
        self.provenance = provenance(self.asked(), data, held, tested) | {
            f"{part}_files": self.files.get(part) for part in PARTS
        }
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
            self.test_copies = round(copies(cut.by_key(tested)) * len(tested)), len(tested)
            return data, [(*self.held_out(data, held), tested)]
        parts = cut.divide(data)
        return data, [parts if held is None else (held, *parts[1:])]

    def held_out(
        self, data: Sequences, held: Sequences | None
    ) -> tuple[Sequences | None, Sequences]:
        """Validation and training data beside a test that was given: as given, or a part of the
        training data, as a fit holds it out. None where nothing can be held out, or where measuring
        walks through the end of the training data."""
        if held is not None or self.room.cut.walks:
            return held, data
        try:
            with listening(lambda event: None):
                parts = self.room.parts(spec_of(self.names[0]), {})
                train, held = self.room.cut.hold_out(data, parts)
        except SeriatimError:
            return None, data
        return (None, data) if held is data else (held, train)

    def asked(self) -> dict[str, Any]:
        """All that this comparison was asked for, and no default."""
        own = {each.name: getattr(self.options, each.name) for each in fields(self.options)}
        usual = {each.name: each.default for each in fields(self.options)}
        return {k: v for k, v in own.items() if v != usual[k]} | self.settings

    def compared_with_before(self) -> Iterator[Event]:
        """Of a comparison that is done again: what is another than it was, if anything; other data
        are refused."""
        if not self.options.repeat:
            return
        before = recorded(self.options.repeat)["provenance"]
        for words in differences(before, self.provenance):
            yield {"event": "note", "words": f"{words}: figures may differ"}

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
            "seeds": options.seeds,
            "units": options.units,
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
        mixed = MIXED * (self.mixes and len(todo) > 0)
        minutes = self.options.minutes * (HALF if self.options.curve else 1)
        return Budget(minutes, self.begin, len(todo) + mixed, share)

    def kept(self, name: str) -> bool:
        """Whether a comparison that is resumed has the row of this model already; one of the
        caller's own may have been changed, and is fitted again."""
        if not (self.options.resume and self.options.out) or self.own(name):
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
                self.remember(name, partial(load, folder / "runs" / name), self.rows[-1])
                self.judgement.measured[name] = [
                    Measured.load(folder / "measured" / f"{part}.safetensors")
                    for part in self.runs_of(name)
                ]
            elif why := self.too_slow(name, rounds):
                self.rows.append(self.without(name, "not run", why))
                yield {"event": "rung", "model": name, "words": f"not run: {why}"}
            else:
                yield from self.measure_rung(name, rounds, folder, numbers)
        except KeyboardInterrupt:
            self.interrupted = True
            why = f"before it was measured; {self.again(name)}"
            self.rows.append(self.without(name, "interrupted", why))
        except Exception as error:
            told = isinstance(error, (SeriatimError, MemoryError, RuntimeError))
            if not (told or self.own(name)):
                raise
            status = "interrupted" if self.interrupted else "failed"
            why = str(error) or type(error).__name__
            self.rows.append(self.without(name, status, why if told else told_by(error)))
            words = f"{status}: {self.rows[-1]['reason']}"
            yield {"event": "rung", "model": name, "words": words}

    def again(self, name: str) -> str:
        """How a fit that was interrupted is gone on with."""
        return "it is fitted from the beginning again" if self.own(name) else RESUME

    def runs_of(self, name: str) -> list[str]:
        """The names of the runs of a model, one for each seed: of counting there is one."""
        seeds = self.options.seeds if name in self.learning else 1
        return [name, *(f"{name}-seed{number}" for number in range(2, seeds + 1))]

    def measure_rung(
        self, name: str, rounds: list[Round], folder: Path | None, numbers: bool
    ) -> Generator[Event, None, None]:
        """The fits of one rung, seed by seed and fold by fold, and its row."""
        several: list[Measured] = []
        rows: list[Row] = []
        learns, runs = name in self.learning, self.runs_of(name)
        if learns and self.budget is not None:
            self.budget.begin()
            self.keep_share(folder)
        for number, run in enumerate(runs):
            found: list[Measured] = []
            spent, predictor, kept = 0.0, None, None
            for fold, (valid, train, test) in enumerate(rounds):
                part = run if len(rounds) == 1 else f"{run}-{fold + 1}"
                kept = None if folder is None or self.own(name) else folder / "runs" / part
                left = (len(runs) - number) * len(rounds) - fold
                seen: list[str] = []
                fitting = self.fit(name, number, (valid, train, test), kept, numbers, left)
                predictor = yield from relay(fitting, partial(under, name, seen))
                self.interrupted = "interrupted" in seen
                if self.interrupted:
                    after = f"after {predictor.metrics['updates']:,} updates; {self.again(name)}"
                    self.rows.append(self.without(name, "interrupted", after))
                    return
                if learns and self.budget is not None:
                    self.budget.learned()
                found.append(predictor.measure(test, **self.measuring))
                spent += predictor.metrics["seconds"]
            assert predictor is not None
            several.append(predictor.merged(found))
            chosen = self.before_the_test(name, predictor, rounds)
            rows.append(self.row_of(name, predictor, several[-1], rounds, spent, kept))
            rows[-1] |= self.chosen_by(chosen, predictor, rounds)
            if number == 0:
                rows[0] = self.curved(name, predictor, rows[0])
                self.last = predictor
                self.remember(name, partial(itself, chosen), rows[0])
            if folder is not None:
                several[-1].save(folder / "measured" / f"{run}.safetensors")
        row = over_seeds(rows, [each.key for each in self.room.figures])
        self.judgement.measured[name] = several
        self.rows.append(row)
        if learns and self.budget is not None:
            self.budget.scored()
        if folder is not None:
            write_json(folder / "rows" / f"{name}.json", row)
        if folder is not None and self.own(name):
            yield {"event": "note", "words": f"{name}: {NOT_KEPT}"}
        yield {"event": "rung", "model": name, "words": self.said(row)}

    def said(self, row: Row) -> str:
        """What is said of a rung that has its row."""
        words = self.figure.words or self.figure.title
        return f"{self.figure.write(row[self.figure.key])} {words}"

    def before_the_test(self, name: str, predictor: Predictor, rounds: list[Round]) -> Predictor:
        """The model by which a rung is chosen: the one that was fitted. Where validation data are the
        end of the training data, a network has held them out; what counts has not, and is fitted
        once more, without them."""
        valid, train, _ = rounds[-1]
        walks = self.room.cut.walks and valid is None and len(rounds) == 1
        if not walks or name not in self.counting:
            return predictor
        with suppress(SeriatimError), listening(lambda event: None):
            less, _ = self.room.cut.hold_out(train, predictor.parts)
            return exhausted(
                fit_events(self.room, spec_of(name), less, None, self.plans[name], compared=True)
            )
        return predictor

    def chosen_by(
        self, chosen: Predictor, predictor: Predictor, rounds: list[Round]
    ) -> dict[str, float | None]:
        """The figure on the validation data and the one that breaks ties, or none: folds have none,
        and of what counts none is left where the data were too short to hold out some."""
        valid, train, _ = rounds[-1]
        if len(rounds) > 1:
            return {}
        if valid is not None:
            return self.validated(chosen, self.room.cut.some_of(valid, self.test_share))
        counts = all(part.counts for part in predictor.parts)
        if not self.room.cut.walks or (counts and chosen is predictor):
            return {}
        with suppress(SeriatimError):
            return self.validated(chosen, train)
        return {}

    def validated(self, chosen: Predictor, valid: Sequences) -> dict[str, float | None]:
        """Figures on validation data, of which is remembered how many items they have."""
        measured = chosen.measure(valid)
        self.judgement.validated_on = items_of(measured)
        row, ties = chosen.row(measured), self.judgement.ties
        second = None if ties is None else row.get(ties.key)
        return {"valid": row[self.figure.key], "valid_ties": second}

    def row_of(
        self,
        name: str,
        predictor: Predictor,
        measured: Measured,
        rounds: list[Round],
        seconds: float,
        run: Path | None,
    ) -> Row:
        """The row of a model: its figures, what it cost, and a sample where it writes; that of the
        validation data, by which the winner is chosen, is still to come."""
        arrays = predictor.model.arrays().values()
        sample = predictor.sample(rounds[-1][2])
        return {
            "model": name,
            "status": "ok",
            **predictor.row(measured),
            **({} if sample is None else {"sample": sample}),
            **{key: predictor.metrics.get(key) for key in KEPT_OF_FIT},
            "pretrained": pretrained_in(predictor),
            "valid": None,
            "valid_ties": None,
            "by_seed": None,
            "weights": None,
            "seconds": seconds,
            "size_bytes": sum(array.numel() * array.element_size() for array in arrays),
            "run": None if run is None or len(rounds) > 1 else f"runs/{run.name}",
            "tied": False,
            "against": None,
            "above_floor": None,
            "course": None,
        }

    # -- the result
    def without(self, name: str, status: str, reason: str) -> Row:
        """The row of a model that has no figure, and why."""
        row = {"model": name, "status": status, "reason": reason, "tied": False}
        return row | {self.figure.key: None}

    def rank(self) -> None:
        """Best first, equal ones by the figure that breaks ties; the winner, where it is known,
        before all others."""
        figures = [each for each in (self.figure, self.judgement.ties) if each is not None]
        figures = self.telling() or figures

        def place(row: Row) -> tuple[bool, bool, list[float]]:
            """What rows are sorted by; of equal ones the simpler comes first."""
            behind = row["model"] != self.judgement.winner and not self.telling()
            values = [each.signed(row.get(each.key)) for each in figures]
            return row["status"] != "ok", behind, [*values, *self.judgement.simple(row["model"])]

        self.rows.sort(key=place)

    def telling(self) -> list[Figure]:
        """Where no model got anything right: the other figures, from the first that tells some apart."""
        good = [row for row in self.rows if row["status"] == "ok"]
        if not good or not nothing_right(good, self.figure):
            return []
        others = self.room.ranked_by(self.figure.key)[1:]
        told = [len({row.get(each.key) for row in good}) > 1 for each in others]
        return list(others[told.index(True) :]) if True in told else []

    def refer(self, rounds: list[Round]) -> Iterator[Event]:
        """What tools from outside the ladder reach on the same parts, and a pretrained model."""
        for name, function in self.room.references.items() if len(rounds) == 1 else ():
            _, train, test = rounds[0]
            with suppress(SeriatimError):
                found = named(function)(train, test)
                self.references.append({"name": name, "pretrained": None, **found})
        if self.guest and len(rounds) == 1:
            try:
                self.references.append(self.visited(rounds[0][2]))
            except SeriatimError as error:
                yield {"event": "note", "words": f"{self.guest} is not in the table: {error}"}

    def visited(self, test: Sequences) -> Record:
        """The figure of a pretrained model, opened as it is."""
        guest = load(self.guest)
        if guest.task.name != self.room.name:
            raise ConfigError(f"{self.guest} is a model of {guest.task.name}")
        guest.by = test.by
        value = guest.row(guest.measure(test))[self.figure.key]
        return {"name": Path(self.guest).name, "value": value, "pretrained": self.guest}

    def record(self, data: Sequences, folder: Path | None) -> Record:
        """All of it as one record."""
        protocols = [row["protocol"] for row in self.rows if row["status"] == "ok"]
        unit = self.settings.get("unit") or data.unit or self.room.cut.unit
        entropy = None if data.entropy is None else data.entropy / math.log(2)
        items = self.judgement.items
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
            copies=copies(self.room.cut.by_key(data)),
            test_copies=self.test_copies[0],
            test_sequences=self.test_copies[1],
            measured_on=items,
            measured_in=f"blocks of {BLOCK} symbols" if self.judgement.of_stream else "items",
            margin=self.options.margin,
            seeds=self.options.seeds,
            margin_of=self.judgement.margin_of or None,
            chosen_on=self.judgement.chosen_on,
            chosen_among=[self.judgement.winner, *self.judgement.equals]
            if self.judgement.equals
            else [],
            chosen_by=self.judgement.equals_by if self.judgement.equals else None,
            validated_on=self.judgement.validated_on,
            unmixed=self.unmixed,
            references=self.references,
            curve=self.curve,
            verdict=verdict(
                self.rows,
                self.figure,
                items,
                self.judgement.chosen_on,
                self.options.margin,
                self.room.floor,
                self.judgement.validated_on,
                self.references,
                equals=equals_in_words(self.judgement.equals, self.judgement.equals_by),
                ties=next(iter(self.telling()), self.judgement.ties),
                margin_of=self.judgement.margin_of,
                measured_in=f"blocks of {BLOCK} symbols" if self.judgement.of_stream else "items",
            )
            + more_data(self.curve, self.rows, self.figure, self.room.floor),
            recommendation=recommended(self.rows, self.figure, self.options, self.judgement),
            disagreements=None,
            command=self.command(data),
            provenance=self.provenance,
        )

    def command(self, data: Sequences) -> str:
        """What would be typed to do this again; of data in memory, in Python."""
        asked = {k: v for k, v in self.asked().items() if k not in ("out", "resume", "repeat")}
        if any(map(self.own, self.specs)):
            return call_with(self.room, self.files, self.specs, asked)
        if self.files.get("data") is None and data.origin == MEMORY:
            return call_of(self.room.name, self.files, self.options.out, asked)
        named = {part: self.files[part] for part in PARTS[1:] if self.files.get(part)}
        return command_of("compare", [self.room.name, data.origin], named | asked)

    def disagreements(self, rounds: list[Round]) -> Record | None:
        """The items of the test on which the two best rungs differ most, with what each said."""
        measured = self.judgement.measured
        good = [row["model"] for row in self.rows if row["model"] in measured]
        if len(good) < 2 or len(rounds) > 1 or self.last is None:
            return None
        first, second = good[:2]
        if len(measured[first][0].loss) != len(measured[second][0].loss):
            return None  # of different units
        found = self.last.examples(rounds[0][2], measured[first][0], measured[second][0])
        return {"first": first, "second": second, "items": found} if found else None


def pretrained_in(predictor: Predictor) -> str | None:
    """The folder of the pretrained model that a model stands on, if any."""
    return next((part.pretrained for part in predictor.model.parts if part.pretrained), None)


def itself(predictor: Predictor) -> Predictor:
    """A model that is at hand."""
    return predictor


def chosen(room: Task, models: str | Sequence[str], settings: Mapping[str, Any]) -> list[str]:
    """The names of the models to be compared, each once."""
    usual = [
        name
        for name, each in room.rungs.items()
        if each.usual and (not each.needs or each.needs in settings)
    ]
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
