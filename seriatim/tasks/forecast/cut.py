"""How forecasters read data: tables of numbers over time as series, and windows of these."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.lib.stride_tricks import sliding_window_view
from torch import Tensor

from seriatim.batches import Batch
from seriatim.codecs.options import CodecOptions
from seriatim.data import read
from seriatim.data.corpora.table import is_corpus
from seriatim.data.formats import format_of
from seriatim.data.formats.delimited import SEPARATORS
from seriatim.data.options import SeriesOptions
from seriatim.data.rows import series_in_rows
from seriatim.data.sequences import Sequences
from seriatim.data.series import common_step, cut_series, rows_of, series_of
from seriatim.data.steps import ROWS, season_of
from seriatim.errors import ConfigError, DataError
from seriatim.models.base import Model, asked, evaluating
from seriatim.models.ladder import Part
from seriatim.models.recipe import TrainingOptions
from seriatim.progress import note
from seriatim.settings import build
from seriatim.tasks.base.cut import MOST_JUDGED, Cut, Settings, Source, own_options
from seriatim.tasks.forecast.codec import SeriesCodec, Signals, judged_windows, of_windows
from seriatim.tasks.forecast.models.mixture import MeanOfForecasts, latest
from seriatim.tasks.forecast.models.network import ForecastNetwork
from seriatim.tasks.forecast.models.rules import Rule, least_past, origins_of, some_of
from seriatim.tasks.forecast.options import KNOWN
from seriatim.training.lesson import Judged, Lesson

TOGETHER = 64  # windows of the validation data that are looked at at a time
MOST_CELLS = 1_000_000  # values of the validation data by which a mixture is weighed
PATHS = 100  # that are drawn of models that go step by step, to know their means
OF_FILES = ("input_format", "encoding", "decimal")  # options that only files have
IN_A_ROW = 8  # values by which a series without times is known again
ODD = np.uint64(0x9E3779B97F4A7C15)

MOST_TOLD = 20  # channels that are named


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
        self.context, self.horizon = model.options.context, model.options.reach

    def epoch(self, number: int, options: TrainingOptions) -> Iterator[Batch]:
        """The windows of one pass, shuffled; the same for the same seed and number."""
        places = np.random.default_rng([options.seed, number]).permutation(self.places(self.train))
        for begin in range(0, len(places), options.rows):
            some = places[begin : begin + options.rows]
            yield of_windows(self.train, some, self.context, self.horizon)

    def places(self, signals: Signals) -> np.ndarray:
        """Where windows may be cut: with a whole context where series are long enough."""
        return origins_of(signals, self.horizon, least_past(signals, self.context, self.horizon))

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
        mixed = isinstance(model, MeanOfForecasts)
        return Judged("absolute error, scaled" if mixed else "nats per value")

    def validate(self, model: Model) -> float:
        """Nats per value of the validation data, or what stands for them."""
        total, count = 0.0, 0
        with evaluating(model):
            for batch in self.windows_judged(self.some(MOST_JUDGED)):
                total += len(batch.x) * float(asked(model).loss(batch)[0])
                count += len(batch.x)
        return total / count

    def windows_judged(
        self, most: int = MOST_JUDGED, cut: Callable[..., Batch] = of_windows
    ) -> Iterator[Batch]:
        """Windows of the validation data, evenly spaced if there are many."""
        places = some_of(self.places(self.held), most)
        for begin in range(0, len(places), TOGETHER):
            some = places[begin : begin + TOGETHER]
            yield cut(self.held, some, self.context, self.horizon)

    def opinions(self, models: Sequence[Model]) -> tuple[Tensor, ...]:
        """What the weights of a mean are found from: (N, M) point forecasts, scaled, and the (N,)
        values that came, of windows of the validation data."""
        together = MeanOfForecasts(models)
        self.context, self.horizon = together.options.context, together.options.reach
        each = self.horizon * together.vocabulary
        said, came = [], []
        with evaluating(together):
            for batch in self.windows_judged(max(TOGETHER, min(MOST_JUDGED, MOST_CELLS // each))):
                parts = [
                    part.forecast(latest(batch, part.options.context), PATHS, 0)[0]
                    for part in together.forecasters
                ]
                gap = together.options.gap
                said.append(torch.stack(parts, -1)[:, gap:].flatten(0, 2))  # (B H C, M)
                came.append(batch.y[:, gap:].flatten())
        return torch.cat(said), torch.cat(came)

    def end(self, model: Model) -> None:
        """How wide squared errors are is found when they are learned, where nothing was filled."""
        assert isinstance(model, ForecastNetwork)
        if model.deviation is not None:
            model.settle(self.windows_judged(cut=judged_windows))


class ForecastCut(Cut):
    """Series: the end of each is held out, and a comparison walks forward through the last fifth."""

    held_share = 0.2
    wants = "series"
    grows = False  # less of a past is another question
    walks = True

    # -- the one way in
    def sequences(
        self, source: Source, reading: Any = None, *, unit: str | None = None, gaps: bool = False
    ) -> Sequences:
        """Anything as series: these, a table whose columns are read as asked for, or a file of one."""
        reading = build(SeriesOptions, {}) if reading is None else reading
        data = super().sequences(source, reading, unit=unit, gaps=gaps)
        return data if data.is_series else as_series(data, reading, gaps)

    def read(
        self, paths: list[Any], reading: SeriesOptions, unit: str | None, gaps: bool
    ) -> Sequences:
        """A table of numbers over time, or a generated signal."""
        if not isinstance(paths[0], str):
            return self.read_memory(paths[0], reading, gaps)
        if len(paths) > 1:
            raise ConfigError(
                f"one file is read for {self.task.name}",
                got=" ".join(paths),
                do="Give one; several series may stand in one table, with a column for --series",
            )
        generated = is_corpus(paths[0]) and not Path(paths[0]).exists()
        format, columns = reading.input_format or None, reading.columns or None
        notes: list[str] = []
        separator = SEPARATORS.get(format or format_of(paths[0]))
        named = (columns, reading.time, reading.series, reading.channels, reading.known)
        data = None
        if separator and not generated and not any(named):
            data = series_in_rows(paths[0], separator, reading.fill, notes, reading.encoding)
        if data is None:
            cells: Any = {"columns": columns, "decimal": reading.decimal or None}
            text: Any = {"input_format": format, "encoding": reading.encoding or None}
            own = own_options(reading)
            table = read(paths[0], **text, **cells, **own, notes=notes, gaps=not generated)
            found = {name: how for name, how in table.read_as.items() if name == "decimal"}
            data = replace(as_series(table, reading, gaps, notes), read_as=found)
        for words in notes:
            note(words)
        note(data.told, "read")
        return data

    def read_memory(self, thing: Any, reading: SeriesOptions, gaps: bool) -> Sequences:
        """Numbers over time that are in memory."""
        notes: list[str] = []
        of_files: Any = {name: getattr(reading, name) or None for name in OF_FILES}
        columns = reading.columns or None
        table = read(thing, columns=columns, notes=notes, gaps=True, wants=self.wants, **of_files)
        data = as_series(table, reading, gaps, notes)
        for words in notes:
            note(words)
        return data

    # -- from data to numbers
    def prepare(self, data: Sequences, settings: Settings) -> Sequences:
        """The series, of which is said once what is not known of them."""
        if data.unit == self.unit:  # said already
            return data
        step = common_step(data)
        if season_of(step) > 1 and not settings.get("season"):
            note(
                f"a season of {season_of(step)} steps is taken, as usual of {step.words} data: "
                "--season says otherwise, --season 1 none"
            )
        elif season_of(step) == 1 and not settings.get("season"):
            note(
                f"no season is known of these series ({step.words}), so none is looked for; "
                "if there is one, give its steps: --season 24, for instance"
            )
        for words in [*never_changing(data), *several_channels(data)]:
            note(words)
        return replace(data, unit=self.unit)

    def coding(self, data: Sequences, settings: Settings) -> CodecOptions:
        """How numbers are scaled and bent."""
        usual: Any = build(self.task.coding, settings, "codec")  # only what this room has
        return build(CodecOptions, vars(usual), "codec")

    def pieces(self, data: Sequences) -> np.ndarray:
        """What may have been seen in training: see `pieces_of`."""
        return pieces_of(data)

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
        return None, cut_series(data, 0.0, KNOWN), data

    def some_of(self, data: Sequences, share: float) -> Sequences:
        """All of it: a test holds its own past, and every series is judged."""
        return data

    def tried_on(
        self, train: Sequences, test: Sequences, share: float
    ) -> tuple[Sequences, Sequences]:
        """Some of the series, evenly spaced; of one alone its end."""
        if len(train) == 1:
            few = [cut_series(each, 1 - share, 1.0) for each in (train, test)]
            return few[0], few[1]
        rows = np.linspace(0, len(train) - 1, max(1, int(share * len(train)))).astype(int)
        names = train.field("name").flat[rows] if "name" in train.fields else rows
        if "name" not in test.fields or "name" not in train.fields:
            return train[rows], test[rows]
        known = {train.field("name").symbol_names[i] for i in names}
        there = [test.field("name").symbol_names[i] in known for i in test.field("name").flat]
        return train[rows], test[np.flatnonzero(there)]

    def official(self, train: Sequences) -> dict[str, Any]:
        """A test that was given apart goes on where the training data ends."""
        return {"past": train}

    def hold_out(self, data: Sequences, parts: list[Part]) -> tuple[Sequences, Sequences]:
        """The end of every series for validation, a horizon at least of several, with as much before
        it as a window looks back."""
        context, horizon = (
            max(getattr(part.options, name) for part in parts) for name in ("context", "reach")
        )
        lengths = data.field("values").lengths
        keep = np.floor(lengths * (1 - self.held_share) + 1e-9).astype(np.int64)  # (S,)
        if len(data) > 1:
            keep = np.maximum(0, np.minimum(keep, lengths - horizon))
        first = data.field("values").offsets[:-1] - data.field("values").offsets[0]
        train = rows_of(data, first, first + keep)
        valid = rows_of(data, first + np.maximum(0, keep - context), first + lengths)
        if int((lengths - keep).max()) < horizon or int(keep.max()) <= horizon + 1:
            raise DataError(
                f"{data.origin} is too short to set {100 * self.held_share:.0f} % aside "
                "for validation",
                got=f"{len(data.field('values').flat)} steps",
                do="Give a longer series, a smaller --horizon or --context, or --valid",
            )
        return train, valid


def as_series(
    table: Sequences, reading: SeriesOptions, ahead: bool = False, notes: list[str] | None = None
) -> Sequences:
    """A table as series, its columns as asked for, or as they are found; with `ahead`, rows that are
    still to come are kept."""
    known = names_in(reading.known)
    channels = names_in(reading.channels) or None
    time, series = reading.time or None, reading.series or None
    return series_of(table, time, series, channels, known, reading.fill, ahead, notes)


def never_changing(data: Sequences) -> list[str]:
    """What to say of series that have one value throughout: any rule forecasts them, and scaled
    errors divide by how much they change."""
    values, names = data.field("values"), data.fields.get("name")
    found = []
    for s in range(len(data)):
        rows = values.row(s)  # (n, C)
        still = np.nanmin(rows, 0) == np.nanmax(rows, 0) if len(rows) > 1 else np.zeros(0, bool)
        for c in np.flatnonzero(still):
            series = "" if names is None else f" of {names.symbol_names[int(names.row(s)[0])]}"
            found.append(f"{(values.names or ())[c]}{series}")
    if not found:
        return []
    more = f" and {len(found) - 5:,} more" if len(found) > 5 else ""
    return [
        f"never changing: {', '.join(found[:5])}{more}; every rule forecasts that, no MASE can be had, "
        "and figures over all channels look better for it"
    ]


def several_channels(data: Sequences) -> list[str]:
    """What to say of tables with several channels: that all are judged, and which look as if they were
    known in advance, for they have two values."""
    values = data.field("values")
    names = list(values.names or ())
    if len(names) < 2 or len(names) > MOST_TOLD:
        return []
    flags = [
        name
        for name, column in zip(names, values.flat.T, strict=True)
        if len(np.unique(column[~np.isnan(column)])) == 2
    ]
    told = (
        f"{len(names)} channels are forecast ({', '.join(names)}), and figures are means over them"
    )
    if not flags or len(flags) == len(names):
        return [told]
    two = f"{', '.join(flags)} ha{'s' if len(flags) == 1 else 've'} two values only"
    return [f"{told}; {two}: --known {','.join(flags)}, if that is known in advance"]


def pieces_of(data: Sequences) -> np.ndarray:
    """Hashes of what series are made of: of each time and value together, or, where rows are
    numbered, of every few values in a row, so that a series is known again that begins elsewhere."""
    values, time = data.field("values"), data.field("time")
    found = []
    for s in range(len(data)):
        rows, when = values.row(s).astype(np.float32), time.row(s)
        kept = np.isfinite(rows).all(1)
        rows, when = rows[kept], when[kept]
        mixed = [
            hashed(column.view(np.uint32).astype(np.uint64) + np.uint64(c))
            for c, column in enumerate(np.ascontiguousarray(rows.T))
        ]
        if not mixed or not len(when):
            continue
        each = mixed[0]
        for column in mixed[1:]:
            each = hashed(each * ODD + column)
        if np.abs(when).max() < ROWS and (np.diff(when) == 1).all():  # rows are numbered
            found.append(in_a_row(each))
        else:
            found.append(hashed(each * ODD + np.round(when).astype(np.int64).view(np.uint64)))
    return np.concatenate(found) if found else np.zeros(0, np.uint64)


def in_a_row(each: np.ndarray) -> np.ndarray:
    """(n,) hashes of values -> those of every few of them in a row; runs of one value say nothing."""
    many = min(IN_A_ROW, len(each))
    windows = sliding_window_view(each, many)  # (n - many + 1, many)
    total = np.zeros(len(windows), np.uint64)
    for column in windows.T:
        total = hashed(total * ODD + column)
    moving = (windows != windows[:, :1]).any(1)
    return total[moving] if moving.any() else total[:1]


def hashed(numbers: np.ndarray) -> np.ndarray:
    """Numbers of 64 bits, well mixed (Steele, Lea and Flood 2014)."""
    with np.errstate(over="ignore"):
        mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))


def names_in(words: str) -> list[str]:
    """Names with commas between -> a list of them."""
    return [name.strip() for name in words.split(",") if name.strip()]
