"""How translators read data: pairs of source and target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import Batch, buckets, evenly
from seriatim.codecs.brackets import check_brackets, refuse_unbalanced
from seriatim.codecs.options import CodecOptions
from seriatim.codecs.symbols import Codec
from seriatim.data.objects import FORMS, MEMORY
from seriatim.data.options import TextOptions
from seriatim.data.sequences import NUMBERS, SYMBOLS, TEXT, Field, Sequences
from seriatim.errors import DataError, SeriatimError
from seriatim.measuring.fingerprint import whole_rows
from seriatim.models.base import Model
from seriatim.models.ladder import Part
from seriatim.models.recipe import TrainingOptions
from seriatim.models.stack import read_as_trees
from seriatim.progress import note
from seriatim.settings import build
from seriatim.tasks.base import Task
from seriatim.tasks.base.cut import MOST_JUDGED, Cut, Settings, Source
from seriatim.tasks.translate.codec import EncodedPairs, PairCodec, of_pairs
from seriatim.tasks.translate.metrics import score_pairs
from seriatim.tasks.translate.models.counted import CountedPairs
from seriatim.tasks.translate.models.encoder_decoder import EncoderDecoder
from seriatim.tasks.translate.references import further
from seriatim.tasks.translate.rows import (
    SHOWN,
    tell_long,
    too_long,
    with_both_sides,
    without_header,
)
from seriatim.tasks.translate.search import GREEDY, alike, distinct, judge_of, quality, translations
from seriatim.tasks.translate.sources import (
    ALSO,
    SOURCE,
    TARGET,
    further_source,
    further_sources,
    with_further,
)
from seriatim.tasks.translate.units import Units, units_of
from seriatim.training.lesson import FINEST, Judged, Lesson

MOST_LOOKED = 30_000  # symbols of the validation data that are looked at while fitting
MOST_PLACES = 1 << 21  # of sources whose n-grams are counted
JUDGES = {  # what validation looks at, by the setting `judge`
    "loss": Judged("nats per token"),
    "exact": Judged("share of exact targets", True, FINEST),
    "bleu": Judged("BLEU / 100", True, FINEST),
    "chrf": Judged("chrF / 100", True, FINEST),
}
KEY = "text"  # the field by which data are divided, whatever its kind
TOLD = {"target_unit", "shared", "vocabulary", "method"}  # settings that say something of the unit
FEW = 20  # different sources; fewer, if they come again and again, are labels rather than texts


class TranslateLesson(Lesson):
    """Write a target given a source: x is the source, y the target, both to their end."""

    def __init__(self, train: EncodedPairs, valid: EncodedPairs | None, codec: PairCodec):
        if not len(train.y.flat):
            raise DataError(
                "the training data has no targets", do="Give pairs of a source and a target"
            )
        self.train, self.valid, self.codec = train, valid, codec
        self.symbols = len(train.y.flat)

    def counting(self, model: Model) -> Iterator[dict[str, Any]]:
        """Let a count model read the pairs."""
        if not isinstance(model, CountedPairs):
            raise TypeError(f"{type(model).__name__} does not count pairs")
        return model.counting_pairs(self.train)

    def begin(self, model: Model) -> None:
        """A table of n-grams of the source is told which are frequent, in all of the data or in some
        that is evenly spread."""
        if not isinstance(model, EncoderDecoder) or model.source_ngrams is None:
            return
        step = -(-len(self.train.x.flat) // MOST_PLACES)
        some = self.train.take(np.arange(0, len(self.train), step))
        groups = buckets(some.x.lengths, MOST_PLACES // 16)
        batches = (of_pairs(some, rows) for rows in groups)
        model.source_ngrams.count((batch.x, batch.x_lengths) for batch in batches)

    def groups(
        self, options: TrainingOptions, generator: np.random.Generator | None = None
    ) -> list[np.ndarray]:
        """Pairs of similar lengths, as many to a batch as it has room for."""
        lengths = np.stack([self.train.lengths, self.train.y.lengths], 1)
        return buckets(lengths, options.rows * options.length, generator)

    def epoch(self, number: int, options: TrainingOptions) -> Iterator[Batch]:
        """The batches of one pass; the same for the same seed and number."""
        for rows in self.groups(options, np.random.default_rng([options.seed, number])):
            yield of_pairs(self.train, rows)

    def steps_per_epoch(self, options: TrainingOptions) -> int:
        """How many batches a pass has."""
        return len(self.groups(options))

    @property
    def held(self) -> EncodedPairs:
        """The validation data, which a lesson with a network or a mixture has."""
        if self.valid is None:
            raise DataError("there is nothing to validate on", do="Give validation data")
        return self.valid

    def judged(self, model: Model) -> Judged:
        """What `validate` looks at."""
        return JUDGES[judge_of(model)]

    def validate(self, model: Model) -> float:
        """Nats per symbol of the targets; or, if that is the judge, what is missing to a perfect
        translation, between equals by a trace of these."""
        lengths = self.held.lengths + self.held.y.lengths
        some = self.held.take(evenly(lengths, self.some(MOST_JUDGED), self.some(MOST_LOOKED)))
        nats, judge = float(-score_pairs(model, some).values.mean()), judge_of(model)
        if judge == "loss":
            return nats
        first, owner = distinct(alike(some, s) for s in range(len(some)))
        references: list[list[str]] = [[] for _ in first]
        for s, number in enumerate(owner.tolist()):
            references[number].append(self.codec.decode(some.y.row(s)))
        sources = some.take(first)
        room = self.codec.room(sources.lengths)
        results = translations(model, sources, room, GREEDY)
        found = [self.codec.decode(result.symbols) for (result,) in results]
        return 1 - quality(judge, found, references) + 1e-6 * min(10.0, nats)

    def opinions(self, models: Sequence[Model]) -> tuple[Tensor, ...]:
        """What the weights of a mixture are found from: (N, M) log-probabilities of held symbols."""
        several = [torch.from_numpy(score_pairs(each, self.held).values) for each in models]
        return (torch.stack(several, 1),)


class TranslateCut(Cut):
    """Two files whose lines belong together, or a table with a source and a target in each row."""

    held_share, how = 0.05, "shuffle"
    by, parallel, wants = "line", True, "pair"

    def __init__(self, task: Task, problems: list[DataError] | None = None):
        super().__init__(task)
        self.problems = problems  # takes the lines that are wrong, while a file is read

    # -- reading
    def sequences(
        self, source: Source, reading: Any = None, *, unit: str | None = None, gaps: bool = False
    ) -> Sequences:
        """Anything as Sequences, in which further sources are known."""
        data = super().sequences(source, reading, unit=unit, gaps=gaps)
        return data if reading is None else with_further(data, reading.also)

    def read(self, paths: list[Any], reading: Any, unit: str | None, gaps: bool) -> Sequences:
        """Files as Sequences. Rows that are no pairs are left out and said, unless each row is to
        have its answer."""
        if gaps or self.problems is not None:
            data = super().read(paths, reading, unit, gaps)
            return without_header(data) if reading.columns and data.lines is not None else data
        once = TranslateCut(self.task, [])
        try:
            return once.read(paths, reading, unit, gaps)
        except DataError as error:
            raise (once.problems or [error])[0] from None
        finally:
            once.tell_problems()

    def asked(self, reading: TextOptions) -> dict[str, Any]:
        """What `read` is asked for: to go on after a line that is wrong."""
        return super().asked(reading) | {"problems": self.problems}

    def tell_problems(self) -> None:
        """Say which lines are no pairs, the first of them with what is wrong."""
        if self.problems:
            first, many = self.problems[0], len(self.problems)
            lines = ", ".join(f"{each.line:,}" for each in self.problems[:SHOWN] if each.line)
            more = f" and {many - SHOWN:,} more" if many > SHOWN else ""
            several = f"{many:,} lines are" if many > 1 else "1 line is"
            note(f"{several} no pair, left out: {first.file}, {lines}{more} ({first.what})")

    def remarks(self, data: Sequences, reading: TextOptions, paths: list[str]) -> list[str]:
        """A first line that may be a pair itself."""
        named = {SOURCE, TARGET} & data.fields.keys()
        if named or len(data.fields) < 2 or len(paths) > 1 or not isinstance(paths[0], str):
            return []
        names = ", ".join(map(repr, data.fields))
        return [
            f"the first line is taken for the names of the columns: {names}; "
            "if it is a pair, add --columns source,target"
        ]

    def one_field(self, data: Sequences, reading: TextOptions, notes: list[str]) -> Sequences:
        """Both sides are read."""
        return data

    # -- pairs
    def prepare(self, data: Sequences, settings: Settings) -> Sequences:
        """The pairs that have both sides, under these names; and their unit, where what was asked
        for leaves no choice."""
        pairs = with_both_sides(self.named(data))
        if not len(pairs):
            raise DataError(f"{data.origin} has no pair with a source and a target")
        if data.unit or not settings.keys() & TOLD:
            return pairs
        several = settings.keys() & {"vocabulary", "method"}
        unit = "subword" if several else units_of(pairs, bool(settings.get("shared"))).source
        return replace(pairs, unit=unit)

    def named(self, data: Sequences) -> Sequences:
        """The data with its fields called source and target, and further references: by name, or
        else the first two. What stands first is what equal pairs share, which are kept together
        when the data is divided: the source; or the target, where the source is a label, or one of
        a few texts that come again and again."""
        fields = pair_of(data)
        if further_sources(data):  # what equal pairs share is all that is read: see `keyed`
            return replace(data, fields=fields)
        source = fields[SOURCE]
        label = source.kind == SYMBOLS and bool((source.lengths == 1).all())
        label = label or different(source, FEW) < min(FEW, len(data) / 2)
        first = TARGET if label else SOURCE
        return replace(data, fields={first: fields[first]} | fields)

    def hold_out(self, data: Sequences, parts: list[Part]) -> tuple[Sequences, Sequences]:
        """Training and validation data; pairs with equal sources stay together."""
        train, valid = super().hold_out(keyed(data), parts)
        return unkeyed(train), unkeyed(valid)

    def divide(self, data: Sequences) -> tuple[Sequences | None, Sequences, Sequences]:
        """Validation, training and test, for a comparison, all models of which have one unit."""
        several = [unkeyed(each) for each in super().divide(keyed(data)) if each is not None]
        if data.unit is None:
            units = units_of(several[1])
            note(units.said())
            several = [cut_into(each, units) for each in several]
        valid, train, test = several
        return valid, train, test

    def too_short(self, data: Sequences, error: SeriatimError) -> DataError:
        """Why nothing can be held out: there are too few different pairs."""
        kinds = (
            f"{different(data.field(name), len(data)):,} different {name}s"
            for name in (SOURCE, TARGET)
        )
        return DataError(
            f"{data.origin} has too few different pairs to set {100 * self.held_share:.0f} % aside "
            "for validation",
            got=f"{len(data):,} pairs of " + " and ".join(kinds),
            do="Give more pairs, or validation data with --valid; equal ones stay together, lest "
            "answers be known by heart",
        )

    def by_key(self, data: Sequences) -> Sequences:
        """Pairs with what equal ones share as the main field."""
        return keyed(data)

    def subset(self, train: Sequences, share: float, seed: int) -> Sequences:
        """About this share of the pairs; those with equal sources stay together."""
        if not further_sources(train):
            return super().subset(train, share, seed)
        return unkeyed(super().subset(keyed(train), share, seed))

    def unable(self, data: Sequences) -> list[str]:
        """What counts reads one source, of symbols."""
        counting = [name for name, rung in self.task.rungs.items() if rung.counts]
        one = not further_sources(data) and pair_of(data)[SOURCE].kind != NUMBERS
        return [] if one else counting

    def pieces(self, data: Sequences) -> np.ndarray:
        """Hashes of pairs, with all that is read beside their sources."""
        names = further_sources(data)
        if not names:
            return super().pieces(data)
        several = [data.field(name) for name in (SOURCE, TARGET)]
        return whole_rows([*several, *(further_source(data, name) for name in names)])

    # -- from data to numbers
    def coding(self, data: Sequences, settings: Settings) -> CodecOptions:
        """The options of the codec: as asked for, as the data say, or as pairs call for, which is
        said."""
        build(self.task.coding, settings, "codec")  # only what this room has
        assumed: dict[str, Any] = {"unit": data.unit}
        if data.unit is None and "unit" not in settings:
            units = units_of(data)
            note(units.said())
            assumed = {"unit": units.source, "target_unit": units.target}
        return build(CodecOptions, assumed | dict(settings), "codec")

    def fit_codec(
        self, train: Sequences, settings: Settings, more: list[str]
    ) -> tuple[PairCodec, EncodedPairs]:
        """The vocabularies of both sides, and how long targets are."""
        codec = PairCodec.fit(train, self.coding(train, settings))
        pairs = self.encode(codec, train)
        codec.learn_lengths(pairs)
        return codec, pairs

    def encode(self, codec: PairCodec, data: Sequences) -> EncodedPairs:
        """Pairs in numbers; those that are too long are left out, which is said."""
        pairs = codec.encode(data)
        long = too_long(*pairs.columns)
        if not long.any():
            return pairs
        tell_long(data, np.flatnonzero(long), "pair", "left out")
        return pairs.take(np.flatnonzero(~long))

    def readable(self, parts: Sequence[Part], codec: PairCodec, data: Sequences) -> None:
        """Trees need brackets that belong together, in the sources that have some."""
        if read_as_trees(parts):
            if isinstance(codec.source, Codec):
                check_brackets(codec.source, data.origin)
            refuse_unbalanced_sources(codec, data)

    def lesson(
        self, train: EncodedPairs, valid: EncodedPairs | None, by: str, codec: PairCodec
    ) -> TranslateLesson:
        """What is written for this source?"""
        return TranslateLesson(train, valid, codec)


def refuse_unbalanced_sources(codec: PairCodec, data: Sequences) -> None:
    """An error that names the first sequence whose brackets do not belong together."""
    columns = {SOURCE: codec.source}
    columns |= {ALSO + name: each for name, each in codec.also.items()}
    for name, each in columns.items():
        if isinstance(each, Codec):
            refuse_unbalanced(each, data, data.field(name))


def pair_of(data: Sequences) -> dict[str, Field]:
    """Source and target by their names, or the first two columns; further references and sources."""
    named = {SOURCE, TARGET} <= data.fields.keys()
    beside = {name: each for name, each in data.fields.items() if name.startswith(ALSO)}
    own = [name for name in data.fields if name not in beside]
    if not named and len(own) < 2:
        raise DataError(
            f"{data.origin} has no pairs of source and target",
            got=f"fields: {', '.join(own)}",
            do=f"Give {FORMS['pair']}"
            if data.origin == MEMORY
            else "Give two files whose lines belong together, or a table with the columns source "
            "and target: --columns source,target"
            + (" --input-format tsv" if data.origin == "-" else ""),
        )
    names = [SOURCE, TARGET] if named else own[:2]
    more = further(data) if named else []
    others = [name for name in own if name not in (*names, *more)]
    if others:
        kept, rest = (", ".join(map(repr, each)) for each in (names, others))
        hint = "" if beside else "; --also reads more beside the source"
        note(f"{data.origin}: {kept} are source and target, and {rest} not read{hint}")
    fields = [data.fields[name] for name in names]
    references = {name: data.fields[name] for name in more}
    return dict(zip((SOURCE, TARGET), fields, strict=True)) | references | beside


def keyed(data: Sequences) -> Sequences:
    """The data with what equal pairs share as the main field, numbers too; of several sources a
    number for each different combination of them."""
    first = next(iter(data.fields.values()))
    names = further_sources(data)
    if names:
        several = [data.field(SOURCE), *(further_source(data, name) for name in names)]
        first = Field.of_labels([f"{each:x}" for each in whole_rows(several).tolist()])
    return replace(data, fields={KEY: first} | data.fields)


def unkeyed(data: Sequences) -> Sequences:
    """The data without that field."""
    return replace(data, fields={k: v for k, v in data.fields.items() if k != KEY})


def cut_into(data: Sequences, units: Units) -> Sequences:
    """The data with its unit; targets that are tokens where sources are not become symbols."""
    target, fields = data.field(TARGET), data.fields
    if units.target == "token" != units.source and target.kind == TEXT:
        rows = (str(target.raw(s)).split() for s in range(len(target)))
        fields = fields | {TARGET: Field.of_symbols(rows)}
    return replace(data, fields=fields, unit=units.source)


def different(column: Field, most: int) -> int:
    """How many different sequences there are; no further than `most` is counted."""
    found: set[bytes] = set()
    for s in range(len(column)):
        found.add(column.row(s).tobytes())
        if len(found) >= most:
            break
    return len(found)
