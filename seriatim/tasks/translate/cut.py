"""How translators read data: pairs of source and target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.batches import MOST_PAIRED, Batch, buckets, refuse_long
from seriatim.codecs.options import CodecOptions
from seriatim.data.options import TextOptions
from seriatim.data.sequences import SYMBOLS, Field, Sequences
from seriatim.errors import DataError, SeriatimError
from seriatim.models.base import Model
from seriatim.models.recipe import TrainingOptions
from seriatim.settings import build
from seriatim.tasks.base.cut import MOST_JUDGED, Cut, Settings
from seriatim.tasks.translate.codec import SOURCE, TARGET, EncodedPairs, PairCodec, of_pairs
from seriatim.tasks.translate.metrics import score_pairs
from seriatim.tasks.translate.models.counted import CountedPairs
from seriatim.tasks.translate.models.encoder_decoder import EncoderDecoder
from seriatim.tasks.translate.search import GREEDY, alike, distinct, judge_of, quality, translations
from seriatim.training.lesson import Judged, Lesson

MOST_PLACES = 1 << 21  # of sources whose n-grams are counted
JUDGES = {  # what validation looks at, by the setting `judge`
    "loss": Judged("nats per token"),
    "exact": Judged("share of exact targets", higher=True),
    "bleu": Judged("BLEU / 100", higher=True),
    "chrf": Judged("chrF / 100", higher=True),
}
FEW = 20  # different sources; fewer, if they come again and again, are labels rather than texts


class TranslateLesson(Lesson):
    """Write a target given a source: x is the source, y the target, both to their end."""

    def __init__(self, train: EncodedPairs, valid: EncodedPairs | None, codec: PairCodec):
        if not len(train.y.flat):
            raise DataError(
                "the training data has no targets", do="Give pairs of a source and a target"
            )
        for pairs in (train, valid):
            for column in (pairs.x, pairs.y) if pairs else ():
                refuse_long(column, MOST_PAIRED)
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
        lengths = np.stack([self.train.x.lengths, self.train.y.lengths], 1)
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
        some = self.held.take(slice(0, MOST_JUDGED))
        nats, judge = float(-score_pairs(model, some).values.mean()), judge_of(model)
        if judge == "loss":
            return nats
        first, owner = distinct(alike(some.x, s) for s in range(len(some)))
        references: list[list[str]] = [[] for _ in first]
        for s, number in enumerate(owner.tolist()):
            references[number].append(self.codec.decode(some.y.row(s)))
        sources = some.take(first)
        room = self.codec.room(sources.x.lengths)
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
    by, parallel = "line", True

    def remarks(self, data: Sequences, reading: TextOptions, paths: list[str]) -> list[str]:
        """A first line that may be a pair itself."""
        named = {SOURCE, TARGET} & data.fields.keys()
        if named or len(data.fields) != 2 or len(paths) > 1:
            return []
        names = ", ".join(map(repr, data.fields))
        return [
            f"the first line is taken for the names of the columns: {names}; "
            "if it is a pair, add --columns source,target"
        ]

    def prepare(self, data: Sequences, settings: Settings) -> Sequences:
        """The data with its fields called source and target: by name, or else the first two. Where
        the source is a label, or one of a few texts that come again and again, the target stands
        first, so that equal targets are kept together when the data is divided, and not equal
        sources."""
        named = SOURCE in data.fields and TARGET in data.fields
        if not named and len(data.fields) != 2:
            raise DataError(
                f"{data.origin} has no pairs of source and target",
                got=f"fields: {', '.join(data.fields)}",
                do="Give two files whose lines belong together, or a table with the columns source "
                "and target: --columns source,target"
                + (" --input-format tsv" if data.origin == "-" else ""),
            )
        pair = dict(zip((SOURCE, TARGET), data.fields.values(), strict=False))
        fields = data.fields if named else pair
        source = fields[SOURCE]
        label = source.kind == SYMBOLS and bool((source.lengths == 1).all())
        label = label or different(source, FEW) < min(FEW, len(data) / 2)
        return replace(data, fields={TARGET: fields[TARGET]} | fields if label else fields)

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

    def fit_codec(
        self, train: Sequences, settings: Settings, more: list[str]
    ) -> tuple[PairCodec, EncodedPairs]:
        """The vocabularies of both sides, and how long targets are."""
        options = build(CodecOptions, asdict(self.coding(train, settings)), "codec")
        codec = PairCodec.fit(train, options)
        pairs = codec.encode(train)
        codec.learn_lengths(pairs)
        return codec, pairs

    def lesson(
        self, train: EncodedPairs, valid: EncodedPairs | None, by: str, codec: PairCodec
    ) -> TranslateLesson:
        """What is written for this source?"""
        return TranslateLesson(train, valid, codec)


def different(column: Field, most: int) -> int:
    """How many different sequences there are; no further than `most` is counted."""
    found: set[bytes] = set()
    for s in range(len(column)):
        found.add(column.row(s).tobytes())
        if len(found) >= most:
            break
    return len(found)
