"""A task is what a model is asked to do: how x and y are cut from the data, and what is measured while fitting.

Training knows no task by name; it asks one of these for batches and for the loss on held-out data. A new
task is a class with the same methods and a row in TASKS.
"""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim import batches
from seriatim.autoencoding import judged
from seriatim.batches import MOST_PAIRED, Batch, refuse_long
from seriatim.codecs.conditioned import Conditioned, Samples
from seriatim.codecs.numbers import NumberCodec, Signals
from seriatim.codecs.pairs import SOURCE, TARGET, PairCodec, Pairs
from seriatim.codecs.sets import Sets as SetCodec
from seriatim.codecs.symbols import UNKNOWN, Codec, fit_and_encode
from seriatim.config import CodecOptions, TrainingOptions
from seriatim.data.corpora import is_corpus
from seriatim.data.sequences import NUMBERS, SYMBOLS, Field, Sequences
from seriatim.data.series import cut_series, series_of
from seriatim.errors import ConfigError, DataError, SeriatimError
from seriatim.label_tasks import Classify, Regress, Settings, Tag
from seriatim.models import Part
from seriatim.models.base import Model
from seriatim.models.rules import origins_of
from seriatim.scoring import mean_loss, score, score_pairs, score_sets
from seriatim.settings import build
from seriatim.translating import GREEDY, alike, distinct, judge_of, quality, translations
from seriatim.words import Words as WordVectors

MOST_PLACES = 1 << 21                      # of sources whose n-grams are counted
MOST_JUDGED = 1000                         # pairs that validation looks at
FEW = 20                                   # different sources; fewer, if they come again and again, are labels rather than texts


class Language:
    """Predict the next symbol, from nothing or a prompt: x is empty, y the sequence itself.

    By line, each sequence ends in STOP; by stream, the text goes on and on and its state is carried.
    """

    held_share, how = 0.05, None           # share of the data held out where no validation data is given, and in which way

    def __init__(self, train: Field, valid: Field | None, by: str, codec: Codec | None = None):
        self.train, self.valid, self.by, self.symbols = train, valid, by, len(train.flat)
        if not len(train.flat):
            raise DataError("the training data is empty", do="Give a longer text")
        if valid is not None and not len(valid.flat):
            raise DataError("there is nothing to validate on", do="Give longer validation data")

    @classmethod
    def given(cls, data: Sequences) -> Sequences:
        """The data as the task needs it, checked before it is divided."""
        return data

    @classmethod
    def cut(cls, data: Sequences, settings: Settings) -> Sequences:
        """The data cut into symbols, where more than one look at them."""
        return data

    @classmethod
    def learn_codec(cls, train: Sequences, settings: Settings, more: list[str]) -> tuple[Codec, Field]:
        """The codec, fitted on the training data, and these in numbers."""
        return fit_and_encode(train.main, build(CodecOptions, ({"unit": train.unit} if train.unit else {}) | settings, "codec"))

    @classmethod
    def encode(cls, codec: Codec, data: Sequences) -> Field:
        return codec.encode(data.main)

    def counting(self, model: Model) -> Iterator[dict[str, Any]]:
        """Let a count model read the data, telling how far it is."""
        return model.counting(self.train, stop=self.by == "line")

    def epoch(self, number: int, options: TrainingOptions) -> Iterator[Batch]:
        """The batches of one pass; the same for the same seed and number."""
        generator = np.random.default_rng([options.seed, number])
        if self.by == "stream":
            return batches.stream_epoch(self.train, options.rows, options.length, generator)
        return batches.line_epoch(self.train, options.rows * options.length, generator)

    def steps_per_epoch(self, options: TrainingOptions) -> int:
        if self.by == "line":
            groups = batches.buckets(self.train.lengths, options.rows * options.length)
            return sum(math.ceil((self.train.lengths[rows].max() + 1) / batches.LONGEST) for rows in groups)
        rows = batches.readers(len(self.train.flat), options.rows, options.length)
        return math.ceil(math.ceil(len(self.train.flat) / rows) / options.length)

    def valid_loss(self, model: Model) -> float:
        """What training looks at: nats per symbol of the validation data."""
        return mean_loss(model, self.valid, self.by)

    def opinions(self, models: Sequence[Model]) -> tuple[Tensor, ...]:
        """What the weights of a mixture are found from: (N, M) log-probabilities of held-out symbols."""
        return torch.stack([self.valid_scores(each) for each in models], 1),

    def valid_scores(self, model: Model) -> Tensor:
        """(N,) log-probability of each held-out symbol."""
        return torch.from_numpy(score(model, self.valid, self.by).values)


class Words(Language):
    """Find a vector for each word: the text itself, without words that are unknown, and with a mark between its sequences."""

    held_share = 0.01

    def __init__(self, train: Field, valid: Field | None, by: str, codec: Codec):
        self.by, self.words, self.symbols = by, codec.symbols, len(train.flat)
        self.text, self.held = between(train), between(valid)
        self.counts = np.bincount(train.flat, minlength=codec.size)                 # (V,)
        if not len(self.text):
            raise DataError("the training data has no known words", do="Give a longer text, or lower --minimum-count")

    @classmethod
    def learn_codec(cls, train: Sequences, settings: Settings, more: list[str]) -> tuple[Codec, Field]:
        """A word seen less than five times has no company to be known by."""
        unit = "word" if train.unit in (None, "character") else train.unit
        return super().learn_codec(train, {"unit": unit, "minimum_count": 5} | settings, more)

    def watched(self, model: Model) -> dict[str, float | None]:
        """What is looked at while fitting, besides the loss: how well the vectors do on a file of analogies or of similarities."""
        if not model.options.watch:
            return {}
        record = WordVectors(*model.ranked(self.words)).evaluate(model.options.watch)
        return {"analogies": record["accuracy"]} if record["kind"] == "analogies" else {"similarity": record["spearman"]}


def between(ids: Field) -> np.ndarray:
    """(N,) int32 numbers of the known words, with -1 between sequences; read-only, as it is when it lies on disk."""
    marked = ids.flat if len(ids) == 1 else np.insert(ids.flat, (ids.offsets - ids.offsets[0])[1:-1], -1)
    text = marked[marked != UNKNOWN]
    text.flags.writeable = False                                                    # so that loops are compiled once for both
    return text


class Sets(Language):
    """Predict the next set, a probability for each element: x is empty, y the sequence itself, without an end."""

    held_share = 0.1

    def __init__(self, train: Field, valid: Field | None, by: str, codec: SetCodec):
        super().__init__(filled(train), None if valid is None else filled(valid), by)

    @classmethod
    def learn_codec(cls, train: Sequences, settings: Settings, more: list[str]) -> tuple[SetCodec, Field]:
        if train.by == "stream":
            raise DataError(f"{train.origin} is one stream of text, and sets are read a sequence a line", do="Read it by line: --by line")
        if more or settings.get("unit", "token") != "token":
            raise ConfigError("a step of sets is a token, and begins with no word vectors", got="--vectors" if more else settings["unit"],
                              do="Leave out --unit and --vectors")
        codec = SetCodec.fit(train.main, build(CodecOptions, settings | {"unit": "token"}, "codec"), train.lines, train.origin)
        return codec, cls.encode(codec, train)

    @classmethod
    def encode(cls, codec: SetCodec, data: Sequences) -> Field:
        return codec.encode(data.main, data.lines, data.origin)

    def epoch(self, number: int, options: TrainingOptions) -> Iterator[Batch]:
        generator = np.random.default_rng([options.seed, number])
        for rows in batches.buckets(self.train.lengths, options.rows * options.length, generator):
            yield from batches.pieces(batches.of_sets(self.train, rows), batches.LONGEST)

    def steps_per_epoch(self, options: TrainingOptions) -> int:
        groups = batches.buckets(self.train.lengths, options.rows * options.length)
        return sum(math.ceil(self.train.lengths[rows].max() / batches.LONGEST) for rows in groups)

    def valid_loss(self, model: Model) -> float:
        """Nats per step of the validation data."""
        return float(-score_sets(model, self.valid).log_prob.values.mean())


class Translate(Language):
    """Write a target given a source: x is the source, y the target, both to their end."""

    held_share, how = 0.05, "shuffle"

    def __init__(self, train: Pairs, valid: Pairs | None, by: str, codec: PairCodec):
        if not len(train.y.flat):
            raise DataError("the training data has no targets", do="Give pairs of a source and a target")
        for pairs in (train, valid):
            for column in (pairs.x, pairs.y) if pairs else ():
                refuse_long(column, MOST_PAIRED)
        self.train, self.valid, self.by, self.codec, self.symbols = train, valid, "line", codec, len(train.y.flat)

    @classmethod
    def given(cls, data: Sequences) -> Sequences:
        """The data with its fields called source and target: by name, or else the first two. Where the source is a label, or one of a few texts that
        come again and again, the target stands first, so that equal targets are kept together when the data is divided, and not equal sources."""
        named = SOURCE in data.fields and TARGET in data.fields
        if not named and len(data.fields) != 2:
            raise DataError(f"{data.origin} has no pairs of source and target", got=f"fields: {', '.join(data.fields)}",
                            do="Give two files whose lines belong together, or a table with the columns source and target: --columns source,target"
                               + (" --input-format tsv" if data.origin == "-" else ""))
        fields = data.fields if named else dict(zip((SOURCE, TARGET), data.fields.values(), strict=True))
        label = fields[SOURCE].kind == SYMBOLS and bool((fields[SOURCE].lengths == 1).all())
        label = label or different(fields[SOURCE], FEW) < min(FEW, len(data) / 2)
        return replace(data, fields={TARGET: fields[TARGET]} | fields if label else fields)

    @classmethod
    def hold_out(cls, data: Sequences, parts: list[Part]) -> tuple[Sequences, Sequences]:
        """Some of the pairs for validation; those that are equal in what stands first stay together."""
        try:
            valid, train = data.split(cls.held_share, 1 - cls.held_share, how=cls.how)
            return train, valid
        except SeriatimError:
            many = f"{len(data):,} pairs of " + " and ".join(f"{different(data.field(name), len(data)):,} different {name}s" for name in (SOURCE, TARGET))
            raise DataError(f"{data.origin} has too few different pairs to set {100 * cls.held_share:.0f} % aside for validation", got=many,
                            do="Give more pairs, or validation data with --valid; equal ones stay together, lest answers be known by heart") from None

    @classmethod
    def learn_codec(cls, train: Sequences, settings: Settings, more: list[str]) -> tuple[PairCodec, Pairs]:
        """Text is cut into subwords if nothing else is said."""
        unit = "subword" if train.unit in (None, "character") and not is_corpus(train.origin) else train.unit
        codec = PairCodec.fit(train, build(CodecOptions, {"unit": unit} | settings, "codec"))
        pairs = codec.encode(train)
        codec.learn_lengths(pairs)
        return codec, pairs

    @classmethod
    def encode(cls, codec: PairCodec, data: Sequences) -> Pairs:
        return codec.encode(data)

    def counting(self, model: Model) -> Iterator[dict[str, Any]]:
        return model.counting(self.train)

    def begin(self, model: Model) -> None:
        """A table of n-grams of the source is told which are frequent, in all of the data or in some that is evenly spread."""
        if getattr(model, "grams", None) is not None:
            some = self.train.take(np.arange(0, len(self.train), -(-len(self.train.x.flat) // MOST_PLACES)))
            rows = batches.buckets(some.x.lengths, MOST_PLACES // 16)
            model.grams.count((batch.x, batch.x_lengths) for batch in (batches.of_pairs(some, each) for each in rows))

    def groups(self, options: TrainingOptions, generator: np.random.Generator | None = None) -> list[np.ndarray]:
        """Pairs of similar lengths, as many to a batch as it has room for."""
        return batches.buckets(np.stack([self.train.x.lengths, self.train.y.lengths], 1), options.rows * options.length, generator)

    def epoch(self, number: int, options: TrainingOptions) -> Iterator[Batch]:
        for rows in self.groups(options, np.random.default_rng([options.seed, number])):
            yield batches.of_pairs(self.train, rows)

    def steps_per_epoch(self, options: TrainingOptions) -> int:
        return len(self.groups(options))

    def valid_loss(self, model: Model) -> float:
        """Nats per symbol of the targets; or, if that is the judge, what is missing to a perfect translation, between equals by a trace of these."""
        some = self.valid.take(slice(0, MOST_JUDGED))
        nats, judge = float(-score_pairs(model, some).values.mean()), judge_of(model)
        if judge == "loss":
            return nats
        first, owner = distinct(alike(some.x, s) for s in range(len(some)))
        references = [[self.codec.decode(some.y.row(s)) for s in np.flatnonzero(owner == number)] for number in range(len(first))]
        sources = some.take(first)
        found = [self.codec.decode(result.symbols) for (result,) in translations(model, sources, self.codec.room(sources.x.lengths), GREEDY)]
        return 1 - quality(judge, found, references) + 1e-6 * min(10.0, nats)

    def valid_scores(self, model: Model) -> Tensor:
        return torch.from_numpy(score_pairs(model, self.valid).values)


class Forecast(Language):
    """What happens over the next H steps? x is the past, y the future, of windows of series."""

    held_share, how = 0.2, None

    def __init__(self, train: Signals, valid: Signals | None, by: str, codec: NumberCodec):
        self.train, self.valid, self.by, self.codec, self.symbols = train, valid, by, codec, len(train.x.flat)

    @classmethod
    def given(cls, data: Sequences) -> Sequences:
        return series_of(data)

    @classmethod
    def parts(cls, data: Sequences) -> tuple[None, Sequences, Sequences]:
        """For a comparison: the first four fifths to fit, all of it to walk forward through the last."""
        return None, cut_series(data, 0.0, 0.8), data

    @classmethod
    def hold_out(cls, data: Sequences, parts: list[Part]) -> tuple[Sequences, Sequences]:
        """The end of every series for validation, with as much before it as a window looks back."""
        context, horizon = parts[0].options.context, parts[0].options.horizon
        train, valid = cut_series(data, 0.0, 1 - cls.held_share), cut_series(data, 1 - cls.held_share, 1.0, before=context)
        if int((valid.field("values").lengths).max()) <= context + horizon or int(train.field("values").lengths.max()) <= horizon + 1:
            raise DataError(f"{data.origin} is too short to set {100 * cls.held_share:.0f} % aside for validation",
                            got=f"{len(data.field('values').flat)} steps", do="Give a longer series, a smaller --horizon or --context, or --valid")
        return train, valid

    @classmethod
    def learn_codec(cls, train: Sequences, settings: Settings, more: list[str]) -> tuple[NumberCodec, Signals]:
        codec = NumberCodec.fit(train, build(CodecOptions, settings, "codec"))
        return codec, codec.encode(train)

    @classmethod
    def encode(cls, codec: NumberCodec, data: Sequences) -> Signals:
        return codec.encode(data)

    def counting(self, model: Model) -> Iterator[dict[str, Any]]:
        return model.counting(self.train)

    def begin(self, model: Model) -> None:
        """What windows look like is the model's business."""
        self.context, self.horizon = model.options.context, model.options.horizon

    def epoch(self, number: int, options: TrainingOptions) -> Iterator[Batch]:
        places = np.random.default_rng([options.seed, number]).permutation(self.places(self.train))
        for begin in range(0, len(places), options.rows):
            yield batches.of_windows(self.train, places[begin:begin + options.rows], self.context, self.horizon)

    def places(self, signals: Signals) -> np.ndarray:
        """Where windows may be cut: with a whole context where series are long enough."""
        least = max(1, min(self.context, int(signals.x.lengths.max()) - self.horizon))
        return origins_of(signals, self.horizon, least)

    def steps_per_epoch(self, options: TrainingOptions) -> int:
        return max(1, math.ceil(len(self.places(self.train)) / options.rows))

    def valid_loss(self, model: Model) -> float:
        """Nats per value of the validation data, or what stands for them."""
        training, total, count = model.training, 0.0, 0
        model.eval()
        with torch.inference_mode():
            for batch in self.judged():
                total, count = total + len(batch.x) * float(model.loss(batch)[0]), count + len(batch.x)
        model.train(training)
        return total / count

    def judged(self) -> Iterator[Batch]:
        """Windows of the validation data, evenly spaced if there are many."""
        places = self.places(self.valid)
        places = places[np.linspace(0, len(places) - 1, min(MOST_JUDGED, len(places))).astype(np.int64)]
        return (batches.of_windows(self.valid, places[begin:begin + 64], self.context, self.horizon) for begin in range(0, len(places), 64))

    def end(self, model: Model) -> None:
        """How wide squared errors are is found when they are learned."""
        if model.deviation is not None:
            model.settle(self.judged())


def different(column: Field, most: int) -> int:
    """How many different sequences there are; no further than `most` is counted."""
    found: set[bytes] = set()
    for s in range(len(column)):
        found.add(column.row(s).tobytes())
        if len(found) >= most:
            break
    return len(found)


class Autoencode(Language):
    """Write a sequence again from one vector, or from what is given: x is the sequence, and so is y."""

    held_share, how = 0.05, "shuffle"

    def __init__(self, train: Samples, valid: Samples | None, by: str, codec: Conditioned):
        if not len(train.x.flat):
            raise DataError("the training data is empty", do="Give sequences, one a line")
        self.train, self.valid, self.by, self.codec, self.symbols = train, valid, "line", codec, len(train.x.flat)

    @classmethod
    def given(cls, data: Sequences) -> Sequences:
        if data.by == "stream":
            raise DataError(f"{data.origin} is one stream, and each sequence has a vector of its own", do="Read it by line: --by line")
        alone = all(column.kind == NUMBERS or name in ("label", "tags") for name, column in data.fields.items())
        single = {name: replace(column, values=column.values[:, None]) for name, column in data.fields.items()
                  if alone and column.kind == NUMBERS and column.values.ndim == 1 and name not in ("label", "time")}
        return replace(data, fields=data.fields | single)                           # numbers of one channel are numbers in channels, too

    @classmethod
    def learn_codec(cls, train: Sequences, settings: Settings, more: list[str]) -> tuple[Conditioned, Samples]:
        """Text is cut into words if nothing else is said."""
        unit = "word" if train.unit in (None, "character") else train.unit
        codec = Conditioned.fit(train, build(CodecOptions, {"unit": unit} | settings, "codec"))
        return codec, codec.encode(train)

    @classmethod
    def encode(cls, codec: Conditioned, data: Sequences) -> Samples:
        return codec.encode(data)

    def groups(self, options: TrainingOptions, generator: np.random.Generator | None = None) -> list[np.ndarray]:
        return batches.buckets(self.train.x.lengths, options.rows * options.length, generator)

    def epoch(self, number: int, options: TrainingOptions) -> Iterator[Batch]:
        for rows in self.groups(options, np.random.default_rng([options.seed, number])):
            yield batches.of_samples(self.train, rows)

    def steps_per_epoch(self, options: TrainingOptions) -> int:
        return len(self.groups(options))

    def valid_loss(self, model: Model) -> float:
        """Nats per symbol: the bound, with what may be said for nothing."""
        return judged(model, self.valid.take(slice(0, MOST_JUDGED)))


def filled(sequences: Field) -> Field:
    """Those sequences that have steps."""
    return sequences.take(sequences.lengths > 0)


TASKS = {"language": Language, "words": Words, "classify": Classify, "regress": Regress, "tag": Tag, "sets": Sets, "translate": Translate,
         "forecast": Forecast, "autoencode": Autoencode}
