"""How data with labels, tags or values become lessons: what is read, and what is said about it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import MOST_READ, Batch, buckets, refuse_long
from seriatim.codecs.brackets import check_brackets, refuse_unbalanced
from seriatim.codecs.options import CodecOptions
from seriatim.codecs.units import said, words_alone
from seriatim.data import read
from seriatim.data.objects import MEMORY
from seriatim.data.options import LabelledOptions
from seriatim.data.sequences import NUMBERS, TEXT, Field, Sequences
from seriatim.data.series import series_tagged, series_with
from seriatim.distributions.numbers import log_normal
from seriatim.errors import ConfigError, DataError
from seriatim.models.base import Model
from seriatim.models.ladder import Part
from seriatim.models.recipe import TrainingOptions
from seriatim.models.stack import read_as_trees
from seriatim.progress import note
from seriatim.tasks.base.cut import MOST_JUDGED, Cut, Settings, are_whole, in_symbols
from seriatim.tasks.labels.answers import answers, estimates
from seriatim.tasks.labels.codec import STEP, Examples, LabelCodec, cut_once, of_examples, target_of
from seriatim.tasks.labels.metrics import f1_of, marks_spans, span_counts
from seriatim.tasks.labels.models.beside import BesideCounting
from seriatim.tasks.labels.models.network import SequenceLabeller
from seriatim.training.lesson import FINEST, Judged, Lesson

Event = dict[str, Any]
# settings that say something of the unit, or of words
TOLD = ("unit", "method", "vocabulary", "phrases", "letters", "spelling", "word_vectors", "encoder")


# -- what training sees


class ClassifyLesson(Lesson):
    """One label for each sequence: x is the sequence, y its label."""

    tags = False  # an answer for each element, not for the whole

    def __init__(self, train: Examples, valid: Examples | None):
        self.train, self.valid, self.symbols = train, valid, len(train.x.flat)

    @property
    def held(self) -> Examples:
        """The validation data, which a lesson with a network or a mixture has."""
        if self.valid is None:
            raise DataError("there is nothing to validate on", do="Give validation data")
        return self.valid

    def counting(self, model: Model) -> Iterator[Event]:
        """Let a count model read sequences and labels."""
        return model.counting(self.train)

    def begin(self, model: Model) -> None:
        """Let what counts beside a network read the data, and hear what it says of them."""
        self.forget()
        if isinstance(model, BesideCounting):
            self.train, self.valid = model.learn_beside(self.train, self.held, self.tags)

    def end(self, model: Model) -> float | None:
        """How much of a network stays beside what counts; what was said there is not needed any
        more."""
        found = None
        if isinstance(model, BesideCounting) and model.counted is not None:
            some = self.held.evenly(self.some(len(self.held), least=MOST_JUDGED))
            if model.settle(some, self.tags):
                found = self.validate(model)
        self.forget()
        return found

    def forget(self) -> None:
        """Nothing was said beside anything."""
        self.train = replace(self.train, beside=None)
        self.valid = None if self.valid is None else replace(self.valid, beside=None)

    def epoch(self, number: int, options: TrainingOptions) -> Iterator[Batch]:
        """Whole sequences of similar length; the same batches for the same seed and number."""
        generator = np.random.default_rng([options.seed, number])
        for rows in buckets(self.train.x.lengths, self.places(options), generator):
            yield of_examples(self.train, rows)

    def steps_per_epoch(self, options: TrainingOptions) -> int:
        """How many batches a pass has."""
        return len(buckets(self.train.x.lengths, self.places(options)))

    def places(self, options: TrainingOptions) -> int:
        """How many symbols a batch has room for: `rows` sequences of `length`; of small data a
        hundredth, but `rows` sequences of usual length, so that few sequences, too, make many
        updates."""
        usual = math.ceil(self.train.x.lengths.mean()) + 1 if len(self.train) else 1
        least = options.rows * min(usual, options.length)
        return min(options.rows * options.length, max(least, self.symbols // 100))

    @property
    def looked_at(self) -> Examples:
        """As much of the validation data as a look reads."""
        return self.held.evenly(self.some(len(self.held)))

    def judged(self, model: Model) -> Judged:
        """What `validate` looks at."""
        words = "share of tags wrong" if self.tags else "share of labels wrong"
        return Judged(words, items=None if self.valid is None else len(self.looked_at.y.flat))

    def validate(self, model: Model) -> float:
        """The share of labels that are wrong; between equals a trace of the nats per label decides.

        Nats alone would stop a network long before its labels are best: it becomes too sure of its
        mistakes, which a temperature repairs.
        """
        some = self.looked_at
        found = answers(model, some, self.tags)
        return float((found.found != some.y.flat).mean()) + 1e-6 * min(10.0, found.loss)

    def floor(self, label: int) -> float:
        """What `validate` gives if every answer is this label."""
        return float((self.held.y.flat != label).mean())

    def opinions(self, models: Sequence[Model]) -> tuple[Tensor, ...]:
        """What the powers of a pool are found from: (N, M, K) log-probabilities of the validation
        data, and its (N,) labels."""
        said = [answers(model, self.held, self.tags).log_probs for model in models]
        return torch.from_numpy(np.stack(said, 1)), torch.from_numpy(self.held.y.flat)


class TagLesson(ClassifyLesson):
    """One tag for each element: y is as long as x. Where tags mark spans, spans are what counts:
    of all tags outside of any nine in ten are right, and nothing is found."""

    tags = True

    def __init__(self, train: Examples, valid: Examples | None, names: Sequence[str]):
        super().__init__(train, valid)
        self.names, self.spans = names, marks_spans(names)

    def judged(self, model: Model) -> Judged:
        """What `validate` looks at."""
        return Judged("span F1", True, FINEST) if self.spans else super().judged(model)

    def validate(self, model: Model) -> float:
        """What is missing to an F1 of one where tags mark spans, else the share of tags that are
        wrong; between equals a trace of the nats decides."""
        if not self.spans:
            return super().validate(model)
        some = self.looked_at
        found = answers(model, some, self.tags)
        counts = span_counts(some.y.flat, found.found, found.offsets, self.names)
        return 1 - float(f1_of(counts.sum(0))) + 1e-6 * min(10.0, found.loss)

    def floor(self, label: int) -> float:
        """What `validate` gives if every answer is this tag."""
        if not self.spans:
            return super().floor(label)
        truth, offsets = self.held.y.flat, self.held.y.offsets
        counts = span_counts(truth, np.full_like(truth, label), offsets, self.names)
        return 1 - float(f1_of(counts.sum(0)))


class RegressLesson(ClassifyLesson):
    """One value for each sequence, or K: x is the sequence, y its values."""

    def __init__(self, train: Examples, valid: Examples | None, deviations: Sequence[float]):
        super().__init__(train, valid)
        # that the scale takes from every value
        self.scale_nats = sum(map(math.log, deviations)) / len(deviations)

    def judged(self, model: Model) -> Judged:
        """What `validate` looks at."""
        return Judged("nats per value")

    def validate(self, model: Model) -> float:
        """Nats per value of the validation data."""
        some = self.looked_at
        mean, deviation = map(torch.from_numpy, estimates(model, some))
        truth = torch.from_numpy(some.y.flat)  # (S, K)
        return self.scale_nats - float(log_normal(truth, mean, deviation).mean())

    def opinions(self, models: Sequence[Model]) -> tuple[Tensor, ...]:
        """What the weights of a mean are found from: (N, M) means and (N, M) deviations of the
        validation data, and its (N,) values; of several a sequence each counts by itself."""
        said = np.stack([estimates(model, self.held) for model in models], -1)  # (2, S, K, M)
        means, deviations = torch.from_numpy(said).flatten(1, 2)
        return means, deviations, torch.from_numpy(self.held.y.flat.reshape(-1))


# -- from data to lessons


def reads_vectors(parts: Sequence[Part]) -> bool:
    """Whether all parts take rows of equally many numbers for vectors."""
    return bool(parts) and all(part.rung.vectors for part in parts)


def features_in(data: Sequences) -> str:
    """The way out where every column is a number a row, and none of them a sequence; else nothing."""
    said = ("label", "value")
    columns = {name: each for name, each in data.fields.items() if name not in said}
    single = all(x.kind == NUMBERS and bool((x.lengths == 1).all()) for x in columns.values())
    if len(columns) < 2 or not single:
        return ""
    way = "Columns of single numbers are features: give (X, y), X an array with a row of them each"
    return way if data.origin == MEMORY else f"{way}, from Python; or a column of lists, `values`"


def read_beside(data: Sequences, settings: Settings) -> Sequences:
    """The same data, which know what is to be read beside the words."""
    names = str(settings.get("also") or "").split(",")
    return replace(data, also=tuple(name.strip() for name in names if name.strip()))


class ClassifyCut(Cut):
    """Sequences of symbols or numbers, with a label each."""

    held_share = 0.1
    how: str | None = "stratify"
    by = "line"
    folded, audited = True, True
    target = wants = "label"

    # -- reading
    def asked(self, reading: Any) -> dict[str, Any]:
        """What `read` is asked for, the field with the labels too."""
        return super().asked(reading) | {"label": reading.label or None}

    def read(self, paths: list[Any], reading: Any, unit: str | None, gaps: bool) -> Sequences:
        """Files as Sequences; with `series`, each series of a long table is one."""
        if reading.series:
            data = self.read_series(paths, reading)
            if reading.label:
                data = replace(data, read_as=data.read_as | {"label": reading.label})
            return data.distinct() if reading.distinct else data
        for_series = {
            "--time": reading.time,
            "--series": reading.series,
            "--channels": reading.channels,
            "--fill": reading.fill != "refuse",
        }
        chosen = [name for name, value in for_series.items() if value]
        if chosen:
            raise ConfigError(
                "these options are for series",
                got=f"{', '.join(chosen)} with {self.task.name}",
                do="Leave them out; or, for labels and values, add --series",
            )
        return super().read(paths, reading, unit, gaps)

    def read_series(self, paths: list[Any], reading: LabelledOptions) -> Sequences:
        """A long table: series, each with a label or a value, or with tags."""
        if len(paths) > 1:
            raise ConfigError(
                f"one file is read for {self.task.name}", got=" ".join(paths), do="Give one"
            )
        if reading.field:
            raise ConfigError(
                "the numbers of series are read by their channels",
                got=f"--field {reading.field}",
                do="Choose columns with --channels",
            )
        format, columns = reading.input_format or None, reading.columns or None
        encoding = reading.encoding or None
        table = read(
            *paths,
            input_format=format,
            columns=columns,
            decimal=reading.decimal or None,
            gaps=True,
            encoding=encoding,
        )
        return self.series_in(table, reading)

    def series_in(self, table: Sequences, reading: LabelledOptions) -> Sequences:
        """The series of a long table, with what is said of the whole."""
        name = reading.label or self.target
        channels = reading.channels.split(",") if reading.channels else None
        data = series_with(
            table, name, reading.series, reading.time or None, channels, reading.fill
        )
        return data.labelled(name) if reading.label and name in data.fields else data

    # -- from data to numbers
    def united(
        self, several: Sequence[Sequences | None], settings: Settings
    ) -> Sequence[Sequences | None]:
        """Texts that are single words are read by character, unless something was said of units or
        of words."""
        several = [None if each is None else read_beside(each, settings) for each in several]
        train = several[0]
        assert train is not None
        free = train.unit is None and not any(settings.get(name) for name in TOLD)
        if not free or train.main.kind != TEXT or not words_alone(train.main):
            return several
        note(said("character", "texts have no blanks"))
        return [None if each is None else replace(each, unit="character") for each in several]

    def prepare(self, data: Sequences, settings: Settings) -> Sequences:
        """The data with its labels as names, whatever they were."""
        alone = data.main_name() is None and bool(features_in(data))
        if alone or data.fields.get(self.target) is data.main:
            raise DataError(
                f"{data.origin} has labels and nothing to be labelled",
                got=f"fields: {', '.join(data.fields)}",
                do=features_in(data)
                or "Give texts or tokens, too; the field that holds them is named with --field",
            )
        return replace(data, fields=data.fields | {self.target: target_of(data, self.target)})

    def coding(self, data: Sequences, settings: Settings) -> CodecOptions:
        """How text is cut; numbers are scaled, and have nothing to cut."""
        if data.main.kind != NUMBERS:
            return CodecOptions(**asdict(super().coding(data, settings)))
        if settings:
            raise ConfigError(
                "numbers are not cut into symbols",
                got=", ".join(settings),
                do="Leave that out; they are scaled by the training data",
            )
        return CodecOptions()

    def cut(self, data: Sequences, settings: Settings) -> Sequences:
        """The data with its text cut into words, once for all that look at them."""
        return cut_once(data, self.coding(data, settings))

    def fit_codec(
        self, train: Sequences, settings: Settings, more: list[str]
    ) -> tuple[LabelCodec, Examples]:
        """The vocabulary and the labels of the training data."""
        codec = LabelCodec.fit(train, self.coding(train, settings), self.target, more)
        self.check_different(codec, train)
        return codec, codec.encode(train)

    def check_different(self, codec: LabelCodec, train: Sequences) -> None:
        """Refuse training data in which there is nothing to be told apart."""
        if codec.labels.size < 2:
            raise DataError(
                "all of the training data has the same label",
                got=repr(codec.labels.names[0]),
                file=train.origin,
                do="Give sequences of at least two labels",
            )

    def could_be(self, data: Sequences, parts: Sequence[Part] = ()) -> str:
        """Rows of equally many numbers are sequences, or vectors."""
        wide = self.numbers_a_row(data)
        if not wide:
            return ""
        steps, features = f"{wide} steps, one number each", f"{wide} features of one step each"
        memory = data.origin == MEMORY
        if reads_vectors(parts):
            other = f"; sequences of {steps}: X[:, :, None]" if memory else ""
            return f"{len(data):,} vectors, {features.replace(' of one step each', '')} each{other}"
        told = f"{len(data):,} sequences of {steps}; {features}: X[:, None, :]"
        return told if memory else ""

    def codec_for(self, parts: Sequence[Part], codec: LabelCodec, train: Sequences) -> LabelCodec:
        """Rungs that read vectors take rows of equally many numbers for these."""
        several = reads_vectors(parts) and self.numbers_a_row(train)
        return codec.reading_vectors(train) if several else codec

    def numbers_a_row(self, data: Sequences) -> int:
        """How many numbers every sequence has, one after another; 0 if they are no such rows."""
        if self.target == "tags" or data.main_kind() != NUMBERS or not len(data):
            return 0
        lengths = data.main.lengths
        alike = data.main.flat.ndim == 1 and bool((lengths == lengths[0]).all())
        return int(lengths[0]) if alike and lengths[0] > 1 else 0

    def encode(self, codec: LabelCodec, data: Sequences) -> Examples:
        """Validation data in numbers, without sequences that have a label never seen in training:
        whatever is learned, they are wrong."""
        column = target_of(data, self.target)
        names = column.names or ()
        strange = np.array([name not in codec.labels.number for name in names], bool)[column.flat]
        known = np.ones(len(data), bool)
        known[np.repeat(np.arange(len(data)), column.lengths)[strange]] = False
        if len(data) and not known.any():
            raise DataError(
                "every sequence to validate on has a label that the training data does not have",
                got=repr(names[column.flat[0]]),
                file=data.origin,
                do="Known labels: " + ", ".join(codec.labels.names[:20]),
            )
        return codec.encode(data if known.all() else data[known])

    def lesson(
        self, train: Examples, valid: Examples | None, by: str, codec: LabelCodec
    ) -> ClassifyLesson:
        """What label?"""
        return ClassifyLesson(train, valid)

    # -- refusals
    def check_parts(self, parts: Sequence[Part]) -> None:
        """What counts reads one field."""
        further = next((x for x in (getattr(p.options, "also", "") for p in parts) if x), "")
        counting = [part.name for part in parts if part.counts]
        if further and counting:
            raise ConfigError(
                "a model that counts reads no further fields",
                got=f"--also {further} with {'+'.join(part.name for part in parts)}",
                do="Mix networks alone, or leave out --also",
            )

    def check(
        self, model: Model, parts: Sequence[Part], codec: LabelCodec, train: Examples, origin: str
    ) -> None:
        """Networks read a sequence as a whole, so it must not be too long."""
        if not all(part.counts for part in parts):
            refuse_long(train.x, MOST_READ)

    def readable(self, parts: Sequence[Part], codec: LabelCodec, data: Sequences) -> None:
        """Trees need brackets that belong together."""
        if read_as_trees(parts) and not codec.channels:
            check_brackets(codec.text, data.origin)
            refuse_unbalanced(codec.text, data, data.main)


class TagCut(ClassifyCut):
    """Sequences of symbols or numbers, with a tag for each element."""

    how, target, wants = None, "tags", "tags"
    untokenized = "tags are given to elements as they stand"

    def in_kind(self, data: Sequences, unit: str | None) -> Sequences:
        """In memory, whole numbers, one an element, are symbols, unless numbers are what is read."""
        name = data.main_name()
        column = None if name is None else data.fields[name]
        if column is None or column.kind != NUMBERS or unit == STEP or not are_whole(column):
            return data
        return in_symbols(data, self.task.name)

    def series_in(self, table: Sequences, reading: LabelledOptions) -> Sequences:
        """The series of a long table, with the tag of each row."""
        if reading.fill != "refuse":
            raise ConfigError(
                "what is put into gaps has no tags", got=f"--fill {reading.fill}", do="Leave it out"
            )
        named = next((name for name in ("tags", "tag", "label") if name in table.fields), "")
        name = reading.label or named
        channels = reading.channels.split(",") if reading.channels else None
        return series_tagged(table, name, reading.series, reading.time or None, channels)

    def united(
        self, several: Sequence[Sequences | None], settings: Settings
    ) -> Sequence[Sequences | None]:
        """As they are: what is tagged is what has a tag."""
        return [None if each is None else read_beside(each, settings) for each in several]

    def lesson(
        self, train: Examples, valid: Examples | None, by: str, codec: LabelCodec
    ) -> TagLesson:
        """What tag has each element?"""
        return TagLesson(train, valid, codec.labels.names)

    def check_parts(self, parts: Sequence[Part]) -> None:
        """Tags that are judged together have no targets of their own; a tree has one answer."""
        super().check_parts(parts)
        if read_as_trees(parts):
            raise ConfigError(
                "a tree has one answer, and not a tag for each symbol",
                got="--mixer tree",
                do="Choose another --mixer",
            )
        for part in parts:
            smoothing = part.training.label_smoothing
            if smoothing and getattr(part.options, "chain", False):
                raise ConfigError(
                    "tags that are judged together have no targets of their own to smooth",
                    got=f"label_smoothing {smoothing}",
                    do="Leave out --label-smoothing or --chain",
                )

    def check(
        self, model: Model, parts: Sequence[Part], codec: LabelCodec, train: Examples, origin: str
    ) -> None:
        """Refuse tags that break the rules of the chain that is to learn them."""
        for each in model.parts:
            broken = each.broken_rule(train.y) if isinstance(each, SequenceLabeller) else None
            if broken:
                first, second = (codec.labels.names[tag] for tag in broken)
                raise DataError(
                    "the tags of the training data break the rules of B-I-O",
                    got=f"{second} after {first}",
                    file=origin,
                    do="Correct them, or add --constrained false",
                )
        super().check(model, parts, codec, train, origin)


class RegressCut(ClassifyCut):
    """Sequences of symbols or numbers, with a value each, or as many values each."""

    how, target, wants = "shuffle", "value", "value"
    audited = False

    def in_sequences(self, data: Sequences) -> Sequences:
        """The same; lists of values stand behind what is read, which may be lists of numbers, too."""
        data = super().in_sequences(data)
        lists = {
            name: column
            for name, column in data.fields.items()
            if name in ("label", "value") and column.kind == NUMBERS and (column.lengths != 1).any()
        }
        if not lists:
            return data
        rest = {name: column for name, column in data.fields.items() if name not in lists}
        return replace(data, fields=rest | lists)

    def prepare(self, data: Sequences, settings: Settings) -> Sequences:
        """The data with its values as numbers, whatever they were."""
        values = target_of(data, self.target)
        rest = {
            name: column for name, column in data.fields.items() if name not in ("label", "value")
        }
        if Sequences(rest).main_name() is None:
            raise DataError(
                f"{data.origin} has values and nothing to be read",
                got=f"fields: {', '.join(data.fields)}",
                do=features_in(data)
                or "Give texts, tokens or rows of numbers, too; "
                "the field that holds them is named with --field",
            )
        wide = values.values.shape[1] if values.values.ndim > 1 else 1
        values = Field(values.flat.reshape(-1), np.arange(len(data) + 1) * wide, NUMBERS)
        return replace(data, fields=rest | {self.target: values})

    def check_different(self, codec: LabelCodec, train: Sequences) -> None:
        """Refuse training data in which there is nothing to be told apart."""
        values = target_of(train, self.target).flat.reshape(len(train), -1)  # (S, K)
        same = np.flatnonzero((values == values[0]).all(0))
        if len(same):
            where = f" in place {same[0] + 1} of its list" if values.shape[1] > 1 else ""
            raise DataError(
                f"all of the training data has the same value{where}",
                got=values[0, same[0]],
                file=train.origin,
                do="Leave that place out" if where else "Give sequences of different values",
            )

    def encode(self, codec: LabelCodec, data: Sequences) -> Examples:
        """Validation data in numbers, its values on the scale of those of training."""
        return codec.encode(data)

    def lesson(
        self, train: Examples, valid: Examples | None, by: str, codec: LabelCodec
    ) -> RegressLesson:
        """What value?"""
        return RegressLesson(train, valid, codec.scale.deviation)

    def check_parts(self, parts: Sequence[Part]) -> None:
        """Values are not smoothed as labels are."""
        super().check_parts(parts)
        if any(part.training.label_smoothing for part in parts):
            raise ConfigError(
                "values are not smoothed", got="label_smoothing", do="Leave out --label-smoothing"
            )
