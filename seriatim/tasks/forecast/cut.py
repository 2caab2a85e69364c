"""How forecasters read data: tables of numbers over time as series, and windows of these."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from seriatim.batches import Batch
from seriatim.codecs.options import CodecOptions
from seriatim.data import read
from seriatim.data.corpora.table import is_corpus
from seriatim.data.options import SeriesOptions
from seriatim.data.sequences import Sequences
from seriatim.data.series import cut_series, series_of
from seriatim.errors import ConfigError, DataError
from seriatim.models.base import Model, evaluating
from seriatim.models.ladder import Part
from seriatim.models.recipe import TrainingOptions
from seriatim.settings import build
from seriatim.tasks.base.cut import MOST_JUDGED, Cut, Settings, Source
from seriatim.tasks.forecast.codec import SeriesCodec, Signals, of_windows
from seriatim.tasks.forecast.models.network import ForecastNetwork
from seriatim.tasks.forecast.models.rules import Rule, origins_of
from seriatim.training.lesson import Judged, Lesson

TOGETHER = 64  # windows of the validation data that are looked at at a time


class ForecastLesson(Lesson):
    """What happens over the next H steps? x is the past, y the future, of windows of series."""

    def __init__(self, train: Signals, valid: Signals | None):
        self.train, self.valid, self.symbols = train, valid, len(train.x.flat)
        self.context, self.horizon = 1, 1  # of the model that learns: see `begin`

    def counting(self, model: Model) -> Iterator[dict[str, Any]]:
        """Let a rule read the series."""
        assert isinstance(model, Rule)
        return model.fitting(self.train)

    def begin(self, model: Model) -> None:
        """What windows look like is the model's business."""
        assert isinstance(model, ForecastNetwork)
        self.context, self.horizon = model.options.context, model.options.horizon

    def epoch(self, number: int, options: TrainingOptions) -> Iterator[Batch]:
        """The windows of one pass, shuffled; the same for the same seed and number."""
        places = np.random.default_rng([options.seed, number]).permutation(self.places(self.train))
        for begin in range(0, len(places), options.rows):
            some = places[begin : begin + options.rows]
            yield of_windows(self.train, some, self.context, self.horizon)

    def places(self, signals: Signals) -> np.ndarray:
        """Where windows may be cut: with a whole context where series are long enough."""
        least = max(1, min(self.context, int(signals.x.lengths.max()) - self.horizon))
        return origins_of(signals, self.horizon, least)

    def steps_per_epoch(self, options: TrainingOptions) -> int:
        """How many batches of windows a pass has."""
        return max(1, math.ceil(len(self.places(self.train)) / options.rows))

    @property
    def held(self) -> Signals:
        """The validation data, which a lesson with a network or a calibration has."""
        if self.valid is None:
            raise DataError("there is nothing to validate on", do="Give validation data")
        return self.valid

    def judged(self, model: Model) -> Judged:
        """What `validate` looks at."""
        return Judged("nats per value")

    def validate(self, model: Model) -> float:
        """Nats per value of the validation data, or what stands for them."""
        total, count = 0.0, 0
        with evaluating(model):
            for batch in self.windows_judged():
                total += len(batch.x) * float(model.loss(batch)[0])
                count += len(batch.x)
        return total / count

    def windows_judged(self) -> Iterator[Batch]:
        """Windows of the validation data, evenly spaced if there are many."""
        places = spaced(self.places(self.held), MOST_JUDGED)
        for begin in range(0, len(places), TOGETHER):
            some = places[begin : begin + TOGETHER]
            yield of_windows(self.held, some, self.context, self.horizon)

    def opinions(self, models: Sequence[Model]) -> tuple[Tensor, ...]:
        """Forecasts are not mixed: they are densities, of which each model has its own kind."""
        raise ConfigError("models of forecast are not mixed", do="Fit one model")

    def end(self, model: Model) -> None:
        """How wide squared errors are is found when they are learned."""
        assert isinstance(model, ForecastNetwork)
        if model.deviation is not None:
            model.settle(self.windows_judged())


class ForecastCut(Cut):
    """Series: the end of each is held out, and a comparison walks forward through the last fifth."""

    held_share = 0.2

    # -- the one way in
    def sequences(
        self, source: Source, reading: Any = None, *, unit: str | None = None, gaps: bool = False
    ) -> Sequences:
        """Anything as series: these, a table whose columns are read as asked for, or a file of one."""
        reading = build(SeriesOptions, {}) if reading is None else reading
        data = super().sequences(source, reading, unit=unit, gaps=gaps)
        return data if data.is_series else as_series(data, reading)

    def read(
        self, paths: list[str], reading: SeriesOptions, unit: str | None, gaps: bool
    ) -> Sequences:
        """A table of numbers over time, or a generated signal."""
        if len(paths) > 1:
            raise ConfigError(
                f"one file is read for {self.task.name}",
                got=" ".join(paths),
                do="Give one; several series may stand in one table, with a column for --series",
            )
        generated = is_corpus(paths[0]) and not Path(paths[0]).exists()
        format, columns = reading.input_format or None, reading.columns or None
        table = read(paths[0], format=format, columns=columns, gaps=not generated)
        return as_series(table, reading)

    # -- from data to numbers
    def coding(self, data: Sequences, settings: Settings) -> CodecOptions:
        """How numbers are scaled and bent."""
        return build(CodecOptions, settings, "codec")

    def fit_codec(
        self, train: Sequences, settings: Settings, more: list[str]
    ) -> tuple[SeriesCodec, Signals]:
        """Step, season and scale of the training data."""
        codec = SeriesCodec.fit(train, self.coding(train, settings))
        return codec, codec.encode(train)

    def lesson(
        self, train: Signals, valid: Signals | None, by: str, codec: SeriesCodec
    ) -> ForecastLesson:
        """What comes after each window?"""
        return ForecastLesson(train, valid)

    # -- parts of the data
    def divide(self, data: Sequences) -> tuple[None, Sequences, Sequences]:
        """For a comparison: the first four fifths to fit, all of it to walk through the last."""
        return None, cut_series(data, 0.0, 0.8), data

    def hold_out(self, data: Sequences, parts: list[Part]) -> tuple[Sequences, Sequences]:
        """The end of every series for validation, with as much before it as a window looks back."""
        context, horizon = parts[0].options.context, parts[0].options.horizon
        train = cut_series(data, 0.0, 1 - self.held_share)
        valid = cut_series(data, 1 - self.held_share, 1.0, before=context)
        longest, held = (int(each.field("values").lengths.max()) for each in (train, valid))
        if held <= context + horizon or longest <= horizon + 1:
            raise DataError(
                f"{data.origin} is too short to set {100 * self.held_share:.0f} % aside "
                "for validation",
                got=f"{len(data.field('values').flat)} steps",
                do="Give a longer series, a smaller --horizon or --context, or --valid",
            )
        return train, valid


def as_series(table: Sequences, reading: SeriesOptions) -> Sequences:
    """A table as series, its columns as asked for, or as they are found."""
    known = names_in(reading.known)
    channels = names_in(reading.channels) or None
    time, series = reading.time or None, reading.series or None
    return series_of(table, time, series, channels, known, reading.fill)


def names_in(words: str) -> list[str]:
    """Names with commas between -> a list of them."""
    return [name.strip() for name in words.split(",") if name.strip()]


def spaced(places: np.ndarray, most: int) -> np.ndarray:
    """At most so many of these places, evenly spaced."""
    return places[np.linspace(0, len(places) - 1, min(most, len(places))).astype(np.int64)]
