"""Fit a model by name: read, divide, encode, train, and keep what came of it. Any task, by its card.

for event in fit_events(card, "lstm", data): ...
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable, Generator, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from seriatim.audit.check import findings
from seriatim.codecs.options import unit_in_words, with_unit
from seriatim.codecs.symbols import STOP
from seriatim.data.sequences import NUMBERS, Sequences
from seriatim.errors import ConfigError, DataError, RunError
from seriatim.fitting_options import FitOptions
from seriatim.layers.randomness import seeded
from seriatim.measuring.fingerprint import Seen, fingerprint
from seriatim.models.ladder import Part, create, planned
from seriatim.models.reader import Reader
from seriatim.parallel import settle, threads, throughout
from seriatim.progress import note
from seriatim.runs.folder import Log, start_folder
from seriatim.runs.places import PLAN, Place, standing
from seriatim.runs.predictor import Predictor, Source
from seriatim.settings import build, names_of
from seriatim.storage import read_bytes
from seriatim.tasks.base import Task
from seriatim.tasks.opening import load
from seriatim.training import loop
from seriatim.training.ending import ENDING, together
from seriatim.training.lesson import Lesson

Event = dict[str, Any]
KEPT = ("valid", "said", "weights", "device")  # of the events of training, in the metrics of a run


@dataclass
class Asked:
    """What a fit was asked for, each group by the record it belongs to."""

    reading: Any
    coding: dict[str, Any]  # settings of the codec
    model: dict[str, Any]  # settings of the parts and of training
    fitting: Any  # what this room's fits may be asked for besides
    options: FitOptions = field(default_factory=FitOptions)


def sorted_out(room: Task, settings: Mapping[str, Any]) -> Asked:
    """Each setting to the record that has it; what no record has is left to the model's parts."""
    rest = {k.replace("-", "_"): v for k, v in settings.items() if v is not None}

    def taken(cls: type) -> dict[str, Any]:
        """The settings that this record has, taken out of the rest."""
        names = [each.name for each in fields(cls) if each.name in rest]
        return {name: rest.pop(name) for name in names}

    options = build(FitOptions, taken(FitOptions), "fit")
    fitting: Any = build(room.fitting, taken(room.fitting), "fit")
    reading: Any = build(room.reading, taken(room.reading), "reading")
    coding = taken(room.coding)
    told = with_unit(coding, room.cut.untokenized)
    if "unit" not in coding and "unit" in told:
        note(unit_in_words(told))
    return Asked(reading, told, rest, fitting, options)


def fit_events(
    room: Task,
    spec: str,
    train: Source,
    valid: Source | None = None,
    settings: Mapping[str, Any] | None = None,
    budget: Callable[[Predictor], float] | None = None,
    compared: bool = False,
    before: Callable[[Fit], Generator[Event, None, None]] | None = None,
) -> Generator[Event, None, Predictor]:
    """Fit a model by name, as a generator of events whose return value is the Predictor. A `budget`
    says, when all is ready to learn, for how many minutes; one that is `compared` has others fitted
    beside it. What is done `before` it learns is no part of its seconds."""
    asked = sorted_out(room, settings or {})
    fit = Fit(room, spec, asked)
    fit.read(train, valid)
    fit.encode()
    fit.build()
    fit.predictor.in_comparison = compared
    if before is not None:
        begin = time.perf_counter()
        yield from before(fit)
        fit.begin += time.perf_counter() - begin
    if budget is not None:
        fit.allow(budget)
    return (yield from fit.run())


def untrained(
    room: Task, spec: str, train: Source, settings: Mapping[str, Any] | None = None
) -> Predictor:
    """A model that has learned nothing, with the codec of some data: to see how fast it is."""
    fit = Fit(room, spec, sorted_out(room, settings or {}))
    fit.read(train, None)
    fit.encode()
    fit.build()
    return fit.predictor


class Fit:
    """One fit, from data to a Predictor: each step leaves what the next one needs."""

    train: Sequences
    valid: Sequences | None
    predictor: Predictor
    lesson: Lesson

    def __init__(self, room: Task, spec: str, asked: Asked):
        self.room, self.spec, self.asked, self.cut = room, spec, asked, room.cut
        self.notes: list[str] = []
        self.audited = self.cut.audited
        self.begin = time.perf_counter()
        self.parts = self.planned(numbers=False)
        self.parts, self.vectors = with_word_vectors(self.parts)
        self.encoder = encoder_of(self.parts, self.asked.coding)

    def planned(self, numbers: bool) -> list[Part]:
        """The parts with their recipes, checked."""
        parts = self.room.parts(self.spec, self.asked.model, numbers, names_of(FitOptions))
        self.cut.check_parts(parts)
        return planned(parts, settle())

    def read(self, train: Source, valid: Source | None) -> None:
        """The data as the task needs them, divided."""
        unit, reading = self.asked.coding.get("unit"), self.asked.reading
        several = [
            None if each is None else self.cut.sequences(each, reading, unit=unit)
            for each in (train, valid)
        ]
        prepared = [
            None if each is None else self.cut.prepare(each, self.asked.coding) for each in several
        ]
        data, held = self.cut.united(prepared, self.asked.coding | self.asked.model)
        assert several[0] is not None and data is not None
        if not isinstance(train, Sequences):
            note(self.cut.could_be(data, self.parts))
        self.asked.reading = replace(reading, **several[0].read_as)
        if data.main_kind() == NUMBERS:
            self.parts = self.planned(numbers=True)
        if held is None and self.validates:
            data, held = self.cut.hold_out(data, self.parts)
        if held is not None and held.by != data.by:
            raise DataError(
                "training and validation data are cut differently",
                got=f"by {data.by} and by {held.by}",
                do="Use the same --by for both",
            )
        self.train, self.valid = data, held
        self.trained_on = Seen.of(self.cut.pieces(data))  # as it is, before it is cut

    @property
    def validates(self) -> bool:
        """Whether something is found on validation data: what a network learns, the weights of a
        mixture, or what was asked for besides."""
        besides = any(getattr(self.asked.fitting, f.name) for f in fields(self.asked.fitting))
        return besides or len(self.parts) > 1 or not self.parts[0].counts

    def encode(self) -> None:
        """The codec, and the data in numbers."""
        coding = self.asked.coding
        self.train = self.cut.cut(self.train, coding)
        self.valid = None if self.valid is None else self.cut.cut(self.valid, coding)
        more = self.vectors.words if self.vectors else []
        self.codec, self.encoded = self.cut.fit_codec(self.train, coding, more)
        codec = self.cut.codec_for(self.parts, self.codec, self.train)
        if codec is not self.codec:
            self.codec, self.encoded = codec, codec.encode(self.train)
        if self.encoder is not None:
            self.codec = self.codec.reading_with(self.encoder.codec, self.train)
            self.encoded = self.codec.encode(self.train)
        for each in (self.train, self.valid):
            if each is not None:
                self.cut.readable(self.parts, self.codec, each)
        self.held = None if self.valid is None else self.cut.encode(self.codec, self.valid)

    def build(self) -> None:
        """The model, untrained, and the lesson."""
        with seeded(self.parts[0].training.seed) as self.generator:
            sizes = (self.codec.size, *self.codec.sizes)
            model = create(self.parts, *sizes, mixture=self.room.mixture)
            if self.encoder is not None:
                self.begin_reading(self.encoder, model)
        reading = self.asked.reading
        if "distinct" in vars(reading):  # it was for learning; later every sequence has its answer
            reading = replace(reading, distinct=False)
        self.predictor = self.room.predictor_class(
            self.room, self.spec, self.parts, self.codec, model, self.train.by, reading
        )
        self.predictor.trained_on = self.trained_on
        for each, part in zip(model.parts, self.parts, strict=True):
            if getattr(part.options, "word_vectors", ""):
                words = begin_with(each, part.options.word_vectors, self.codec, self.vectors)
                self.notes.append(words)
        self.cut.check(model, self.parts, self.codec, self.encoded, self.train.origin)
        self.lesson = self.cut.lesson(self.encoded, self.held, self.train.by, self.codec)

    def begin_reading(self, encoder: Predictor, model: Any) -> None:
        """Let copies of the encoder read for the networks of a model."""
        for each, part in zip(model.parts, self.parts, strict=True):
            each.read_by(Reader.of(encoder.reader(), part.options.encoder_frozen))
        self.notes.append(f"{encoder.folder} reads first: {encoder.spec}, by {encoder.unit}")

    def allow(self, budget: Callable[[Predictor], float]) -> None:
        """So many minutes for this fit; one that is resumed keeps those it began with."""
        file = standing(Path(self.asked.options.out), self.asked.options.overwrite) / PLAN
        begun = self.asked.options.resume and self.asked.options.out and file.is_file()
        minutes = (
            begun_minutes(file)
            if begun
            else budget(self.predictor) / sum(not part.counts for part in self.parts)
        )
        self.limit(minutes=minutes)

    def limit(self, **training: Any) -> None:
        """Networks learn with these options of training instead of their own."""
        self.parts = [
            part if part.counts else replace(part, training=replace(part.training, **training))
            for part in self.parts
        ]
        self.predictor.parts = self.parts

    def shorter(self, **training: Any) -> Generator[Event, None, Predictor]:
        """Another fit of the same model from the same beginning, with other limits: its schedule
        ends with them. Nothing of it is kept, and this one is as it was."""
        other = copy(self)
        other.begin, other.notes, other.audited = time.perf_counter(), [], False
        other.asked = replace(self.asked, options=FitOptions())
        other.build()
        other.predictor.in_comparison = self.predictor.in_comparison
        other.limit(**training)
        return other.run()

    def run(self) -> Generator[Event, None, Predictor]:
        """Train, conclude, keep."""
        last: dict[str, Any] = {}
        endings: list[dict[str, Any]] = []
        place = self.start_folder()
        folder = None if place is None else place.folder
        log = Log(folder)

        def noted(event: Event) -> Event:
            """Log an event, and keep what the metrics of the run will say."""
            last.update({key: event[key] for key in KEPT if key in event})
            if event["event"] == "interrupted":
                last["interrupted"] = True
            if event["event"] == "end":
                endings.append({name: event[name] for name in ENDING})
            return log.add(event)

        own = partial(threads, self.parts[0].training.threads)
        try:
            yield from map(log.add, self.opening())
            model = self.predictor.model
            training = loop.fit(model, self.parts, self.lesson, folder, self.generator)
            yield from loop.relay(throughout(training, own), noted)
            seconds, size = time.perf_counter() - self.begin, model.size()
            known = {"seconds": seconds, "parameters": size}
            last |= together(endings)
            judged = self.lesson.judged(model)
            told = {"per": judged.words, "higher": judged.higher, "judged_on": judged.items}
            self.predictor.metrics = last | told | known
            with own():
                asked = self.asked.fitting
                words = list(self.predictor.conclude(self.lesson, self.valid, asked))
            yield from (log.add({"event": "note", "words": each}) for each in words)
            out = None if place is None else str(place.out)
            done = log.add({"event": "done", "out": out, **self.predictor.metrics})
            if place is not None:
                self.predictor.finish(place.folder)
                place.settle()
                self.predictor.folder = place.out
            yield done
            return self.predictor
        except (ConfigError, DataError):
            if place is not None:
                place.abandon()
            raise
        finally:
            if place is not None:
                place.lock.release()

    def opening(self) -> Iterator[Event]:
        """What is said before training: the data, notes, and what looks wrong with them."""
        yield {
            "event": "data",
            "train": self.train.origin,
            "symbols": self.lesson.symbols,
            "sequences": len(self.encoded),
            "vocabulary": self.codec.size,
            "unit": self.predictor.unit,
            "by": self.train.by,
            "valid_symbols": 0 if self.held is None else len(self.held.columns[0].flat),
        }
        del self.encoded  # the lesson keeps what it needs
        for words in self.notes:
            yield {"event": "note", "words": words}
        for each in findings(self.train, self.valid) if self.audited else ():
            words = f"{each['what']}: {each['got']}" if each["got"] else each["what"]
            yield {"event": "warning", "words": words}

    def start_folder(self) -> Place | None:
        """The run folder with the plan of this fit, if one is kept."""
        options = self.asked.options
        if not options.out:
            if options.resume:
                raise ConfigError(
                    "--resume needs the folder of the fit to go on with", do="Add --out RUN"
                )
            return None
        out = Path(options.out)
        if options.resume and not (standing(out, options.overwrite) / PLAN).exists():
            self.notes.append(f"there is no fit in {out} to go on with: this one begins")
        held = () if self.held is None else self.held.columns
        return start_folder(
            self.predictor.settings(),
            self.codec.to_json(),
            out,
            options.resume,
            options.overwrite,
            fingerprint(*self.encoded.columns, *held),
        )


def begun_minutes(file: Path) -> float:
    """The budget of a fit that was begun."""
    try:
        trainings = tomllib.loads(read_bytes(file).decode())["training"].values()
        return max(float(each["minutes"]) for each in trainings if "minutes" in each)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise RunError(
            f"{file} does not say for how long the fit was to go on", do="Choose another --out"
        ) from None


def encoder_of(parts: list[Part], coding: dict[str, Any]) -> Predictor | None:
    """The language model that reads for networks; its unit, and how it cuts, are taken over."""
    names = {getattr(part.options, "encoder", "") for part in parts}
    if names <= {""}:
        return None
    if len(names) > 1:
        raise ConfigError(
            "all parts are read for by the same encoder",
            got=", ".join(sorted(filter(None, names))) + " and none" * ("" in names),
            do="Name one, for models that are all networks",
        )
    encoder = load(names.pop())
    encoder.reader()
    own = {"unit": encoder.unit, "lower": encoder.codec.options.lower}
    other = [f"{key} {value}" for key, value in coding.items() if own.get(key) != value]
    if other:
        raise ConfigError(
            "with an encoder sequences are cut as it cuts them",
            got=", ".join(other),
            do=f"Leave that out; it was fitted by {encoder.unit}",
        )
    coding.update(own)
    return encoder


def with_word_vectors(parts: list[Part]) -> tuple[list[Part], Any]:
    """The word vectors that networks are to begin with, from a file or a run; a network that may
    choose its size of embeddings takes theirs."""
    names = {getattr(part.options, "word_vectors", "") for part in parts} - {""}
    if not names:
        return parts, None
    if len(names) > 1:
        raise ConfigError(
            "all parts begin with the same word vectors",
            got=", ".join(sorted(names)),
            do="Name one file",
        )
    vectors = load(names.pop()).word_vectors()
    width = vectors.vectors.shape[1]

    def fitted(part: Part) -> Part:
        """A part whose embeddings are as wide as the vectors."""
        known = {each.name for each in fields(part.options)}
        if not getattr(part.options, "word_vectors", "") or "embedding" not in known:
            return part
        return replace(part, options=replace(part.options, embedding=width))

    return [fitted(part) for part in parts], vectors


def begin_with(model: Any, file: str, codec: Any, vectors: Any) -> str:
    """Let a network begin with word vectors, those of lower case where there are no others; says
    for how many symbols there were any."""
    wide = vectors.vectors.shape[1]
    known = []
    for number, word in enumerate(codec.symbols):
        row = vectors.find(word) if vectors.find(word) is not None else vectors.find(word.lower())
        if number > STOP and row is not None:
            known.append((number, row))
    size = model.embedding.embedding_dim
    if not known or wide != size:
        raise ConfigError(
            "these word vectors do not fit the model",
            got=f"{wide} wide, not {size}; for {len(known)} of {codec.size} symbols",
            do=f"Set --width {wide}, and --unit word",
        )
    numbers, rows = map(list, zip(*known, strict=True))
    model.begin_with(numbers, torch.from_numpy(vectors.vectors[rows]))
    return f"{len(known):,} of {codec.size:,} symbols begin with vectors of {file}"
