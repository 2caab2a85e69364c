"""A task is what a model is asked to do: how x and y are cut from the data, and what is measured while fitting.

Training knows no task by name; it asks one of these for batches and for the loss on held-out data. A new
task is a class with the same methods and a row in TASKS.
"""
from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim import batches
from seriatim.batches import Batch
from seriatim.codecs.labelled import Examples, Labelled, cut_once, target_of
from seriatim.codecs.numbers import NumberCodec, Signals
from seriatim.codecs.pairs import SOURCE, TARGET, PairCodec, Pairs
from seriatim.codecs.sets import Sets as SetCodec
from seriatim.codecs.symbols import UNKNOWN, Codec, fit_and_encode
from seriatim.config import CodecOptions, TrainingOptions
from seriatim.data.corpora import is_corpus
from seriatim.data.sequences import SYMBOLS, Field, Sequences
from seriatim.data.series import cut_series, series_of
from seriatim.errors import ConfigError, DataError
from seriatim.labelling import answers
from seriatim.models import Part
from seriatim.models.base import Model
from seriatim.models.rules import origins_of
from seriatim.scoring import mean_loss, score, score_pairs, score_sets
from seriatim.settings import build
from seriatim.translating import GREEDY, quality, translations
from seriatim.words import Words as WordVectors

Settings = dict[str, Any]
MOST_JUDGED = 1000                         # pairs that validation looks at


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

    def valid_scores(self, model: Model) -> Tensor:
        """(N,) log-probability of each held-out symbol, for the weights of a mixture."""
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


class Classify:
    """One label for each sequence: x is the sequence, y its label."""

    held_share, how, target = 0.1, "stratify", "label"

    def __init__(self, train: Examples, valid: Examples | None, by: str, codec: Labelled):
        self.train, self.valid, self.symbols = train, valid, len(train.x.flat)

    @classmethod
    def given(cls, data: Sequences) -> Sequences:
        """The data with its labels as names, whatever they were."""
        if data.fields.get(cls.target) is data.main:
            raise DataError(f"{data.origin} has labels and nothing to be labelled", got=f"fields: {', '.join(data.fields)}",
                            do="Give texts or tokens, too; the field that holds them is named with --field")
        return replace(data, fields=data.fields | {cls.target: target_of(data, cls.target)})

    @classmethod
    def codec_options(cls, data: Sequences, settings: Settings) -> CodecOptions:
        return build(CodecOptions, {"unit": "word" if data.unit in (None, "character") else data.unit} | settings, "codec")

    @classmethod
    def cut(cls, data: Sequences, settings: Settings) -> Sequences:
        """The data with its text cut into words, once for all that look at them."""
        return cut_once(data, cls.codec_options(data, settings))

    @classmethod
    def learn_codec(cls, train: Sequences, settings: Settings, more: list[str]) -> tuple[Labelled, Examples]:
        codec = Labelled.fit(train, cls.codec_options(train, settings), cls.target, more)
        if codec.labels.size < 2:
            raise DataError("all of the training data has the same label", got=repr(codec.labels.names[0]), file=train.origin,
                            do="Give sequences of at least two labels")
        return codec, codec.encode(train)

    @classmethod
    def encode(cls, codec: Labelled, data: Sequences) -> Examples:
        return codec.encode(data)

    def counting(self, model: Model) -> Iterator[dict[str, Any]]:
        return model.counting(self.train)

    def epoch(self, number: int, options: TrainingOptions) -> Iterator[Batch]:
        generator = np.random.default_rng([options.seed, number])
        for rows in batches.buckets(self.train.x.lengths, options.rows * options.length, generator):
            yield batches.of_examples(self.train, rows)

    def steps_per_epoch(self, options: TrainingOptions) -> int:
        return len(batches.buckets(self.train.x.lengths, options.rows * options.length))

    def valid_loss(self, model: Model) -> float:
        """The share of labels that are wrong; between equals a trace of the nats per label decides. Nats alone would stop a network long
        before its labels are best: it becomes too sure of its mistakes, which a temperature repairs."""
        found = answers(model, self.valid, self.target == "tags")
        return float((found.found != self.valid.y.flat).mean()) + 1e-6 * min(10.0, found.loss)

    def valid_scores(self, model: Model) -> Tensor:
        """(N,) log-probability of each label of the validation data, for the weights of a mixture."""
        found = answers(model, self.valid, self.target == "tags").log_probs
        return torch.from_numpy(found[np.arange(len(found)), self.valid.y.flat])


class Tag(Classify):
    """One tag for each element: y is as long as x."""

    how, target = None, "tags"


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
        self.train, self.valid, self.by, self.codec, self.symbols = train, valid, "line", codec, len(train.y.flat)

    @classmethod
    def given(cls, data: Sequences) -> Sequences:
        """The data with its fields called source and target: by name, or else the first two. Where the source is a label, which comes again and
        again, the target stands first, so that equal targets are kept together when the data is divided, and not all of a label."""
        named = SOURCE in data.fields and TARGET in data.fields
        if not named and len(data.fields) != 2:
            raise DataError(f"{data.origin} has no pairs of source and target", got=f"fields: {', '.join(data.fields)}",
                            do="Give two files whose lines belong together, or a table with the columns source and target: --columns source,target")
        fields = data.fields if named else dict(zip((SOURCE, TARGET), data.fields.values(), strict=True))
        label = fields[SOURCE].kind == SYMBOLS and bool((fields[SOURCE].lengths == 1).all())
        return replace(data, fields={TARGET: fields[TARGET]} | fields if label else fields)

    @classmethod
    def learn_codec(cls, train: Sequences, settings: Settings, more: list[str]) -> tuple[PairCodec, Pairs]:
        """Text is cut into subwords if nothing else is said."""
        unit = "subword" if train.unit in (None, "character") and not is_corpus(train.origin) else train.unit
        codec = PairCodec.fit(train, build(CodecOptions, {"unit": unit} | settings, "codec"))
        return codec, codec.encode(train)

    @classmethod
    def encode(cls, codec: PairCodec, data: Sequences) -> Pairs:
        return codec.encode(data)

    def counting(self, model: Model) -> Iterator[dict[str, Any]]:
        return model.counting(self.train)

    def groups(self, options: TrainingOptions, generator: np.random.Generator | None = None) -> list[np.ndarray]:
        """Pairs of similar lengths, as many to a batch as it has room for."""
        return batches.buckets(np.maximum(self.train.x.lengths, self.train.y.lengths), options.rows * options.length, generator)

    def epoch(self, number: int, options: TrainingOptions) -> Iterator[Batch]:
        for rows in self.groups(options, np.random.default_rng([options.seed, number])):
            yield batches.of_pairs(self.train, rows)

    def steps_per_epoch(self, options: TrainingOptions) -> int:
        return len(self.groups(options))

    def valid_loss(self, model: Model) -> float:
        """Nats per symbol of the targets; or, if that is the judge, what is missing to a perfect translation, between equals by a trace of these."""
        some = self.valid.take(slice(0, MOST_JUDGED))
        nats = float(-score_pairs(model, some).values.mean())
        judge = getattr(getattr(model, "options", None), "judge", "loss")
        if judge == "loss":
            return nats
        references = [[self.codec.decode(some.y.row(s))] for s in range(len(some))]
        found = [self.codec.decode(result.symbols) for (result,) in translations(model, some, GREEDY)]
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


def filled(sequences: Field) -> Field:
    """Those sequences that have steps."""
    return sequences.take(sequences.lengths > 0)


TASKS = {"language": Language, "words": Words, "classify": Classify, "tag": Tag, "sets": Sets, "translate": Translate, "forecast": Forecast}
