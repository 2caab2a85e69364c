"""A Predictor of numbers: what comes over the next steps, how sure that is, and how well it would
have done.

    model = fit("forecast", "lags-ridge", "load.csv", horizon=24)
    model.predict("load.csv");   model.evaluate("load.csv", begin="2024-06-01")

Shapes: O origins, H horizon, C channels, Q levels, S paths, N times.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from seriatim.data.sequences import NUMBERS, Field, Sequences, offsets_of
from seriatim.data.series import rows_of
from seriatim.data.steps import Step
from seriatim.errors import ConfigError, DataError, nearest
from seriatim.layers.randomness import seeded
from seriatim.measuring.measured import Measured
from seriatim.models.base import Model, evaluating
from seriatim.models.ladder import create
from seriatim.records import Record
from seriatim.runs.predictor import Predictor, Source, shortened
from seriatim.settings import build
from seriatim.shapes import Shape, listed, optional, plain, real, table, whole
from seriatim.tasks.forecast.backtest import (
    FEWEST_APART,
    Span,
    forecast,
    last_values,
    naive,
    naive_scale,
    origins,
    overlapping,
    owners_of,
    sample_paths,
    scale_lags,
    some_origins,
    what_came,
)
from seriatim.tasks.forecast.codec import SeriesCodec, Signals, judged_windows
from seriatim.tasks.forecast.cut import ForecastLesson
from seriatim.tasks.forecast.joining import gone_on
from seriatim.tasks.forecast.metrics import (
    Forecasts,
    conformal,
    conformal_offsets,
    fewest_for,
    fewest_known,
    forecasts_in,
    measured_forecasts,
    mostly_nothing,
    naive_in,
    over_naive,
    report,
)
from seriatim.tasks.forecast.models.mixture import ForecastModel, MeanOfForecasts
from seriatim.tasks.forecast.models.rules import LEVELS, Rule, least_past, origins_of, some_of
from seriatim.tasks.forecast.notes import (
    channels_judged,
    of_part_of_the_horizon,
    origins_in_words,
    with_all_steps,
)
from seriatim.tasks.forecast.options import (
    BacktestOptions,
    ConformalOptions,
    MeasureOptions,
    WalkOptions,
)
from seriatim.tasks.forecast.past import enough_of, left_out, part_of, past_at, too_little
from seriatim.training import loop

COMPARED = 400  # origins of a comparison, at most
CALIBRATING = 2000  # windows of the validation data from which intervals are taken, at most
SHOWN = 12  # horizons, one after another, that are walked through to be looked at
BEFORE = 3  # horizons of the past that stand beside a forecast
LEAST = 16  # steps that count as a horizon there, at least


@dataclass(frozen=True)
class Walk:
    """Forecasts from some origins, and what came."""

    places: np.ndarray  # (O,) origins, in all series one after another
    truth: np.ndarray  # (O, H, C), nan where it is not known
    mean: np.ndarray  # (O, H, C)
    quantiles: np.ndarray  # (O, H, C, Q)


class Forecaster(Predictor):
    """A fitted model that forecasts series."""

    model: ForecastModel
    codec: SeriesCodec

    def __repr__(self) -> str:
        several, ahead = ("s" * (n != 1) for n in (self.codec.size, self.horizon))
        size = f"{self.codec.size} channel{several}, {self.horizon} step{ahead} ahead"
        name = f"{self.task.name}, {self.spec}"
        return f"Predictor({name}, {size}, {self.model.size():,} parameters)"

    @property
    def unit(self) -> str:
        """What counts as one symbol: a value."""
        return self.codec.unit

    @property
    def horizon(self) -> int:
        """H, how many steps it forecasts."""
        return self.model.options.horizon

    @property
    def ahead(self) -> tuple[int, int]:
        """After how many steps it begins to forecast, and how many."""
        return self.model.options.gap, self.horizon

    def told(self, test: Sequences, measured: Measured, item: int) -> tuple[str, str | None, str]:
        """A forecast of a test: of which series from which row on, what came, what was said."""
        owner, time = (int(measured[name].reshape(-1)[item]) for name in ("series", "time"))
        came = np.isfinite(measured["truth"][item]).reshape(-1)
        truth, answer = (
            shortened([f"{value:.4g}" for value in measured[name][item].reshape(-1)[came]])
            for name in ("truth", "answers")
        )
        row = "row " * (self.codec.step.kind == "row")
        name = measured["names"][owner]
        given = f"{name}{', ' * bool(name)}from {row}{written(time, self.codec.step)} on"
        return given, truth, f"{answer} (scaled error {measured.loss[item]:.3g})"

    # -- intervals that hold
    def kept(self) -> Shape:
        """(H, C, Q) offsets, if they were taken from validation data."""
        levels, channels, steps = len(LEVELS), len(self.codec.channels), self.horizon
        each = listed(listed(real(), levels, levels), channels, channels)
        known = {
            "conformal": listed(each, steps, steps),
            "interval_errors": optional(whole(least=0)),
            "least_past": whole(least=1),
        }
        return table({}, known, others=plain)

    @property
    def reads(self) -> int:
        """How many values of the past a forecast takes."""
        return self.model.reads(int(self.metrics.get("least_past", self.model.options.context)))

    @property
    def offsets(self) -> np.ndarray | None:
        """(H, C, Q) from the mean, of `fit --calibrate`; None: the model's own quantiles."""
        return np.array(self.metrics["conformal"]) if "conformal" in self.metrics else None

    def conclude(
        self, lesson: ForecastLesson, valid: Sequences | None, asked: ConformalOptions
    ) -> Iterator[str]:
        """Take intervals from errors on validation data, if that is asked for; and say what this
        model does not look at."""
        options = self.model.options
        self.metrics["least_past"] = least_past(lesson.train, options.context, options.reach)
        counted = isinstance(self.model, Rule | MeanOfForecasts)
        self.metrics["interval_errors"] = self.model.rests_on if counted else None
        if asked.calibrate:
            self.calibrate(lesson.held)
        yield from self.from_few_errors()
        unseen = [*self.codec.known, *(["the calendar"] if self.codec.options.calendar else [])]
        if unseen and not self.model.hears:
            yield (
                f"{self.spec} does not look at what is known in advance ({', '.join(unseen)}): "
                "lags-ridge, lags-boosting and networks do"
            )

    def calibrate(self, signals: Signals) -> None:
        """Take intervals from the errors on validation data (split conformal prediction), whatever
        the model itself says."""
        context, reach = self.model.options.context, self.model.options.reach
        longest = int(signals.x.lengths.max())
        places = origins_of(signals, reach, min(context, max(1, longest - reach)))
        batch = judged_windows(signals, some_of(places, CALIBRATING), context, reach)
        with evaluating(self.model):
            mean = self.model.forecast(batch, 100, 0)[0]
        wrong = (batch.y - mean).double().numpy()  # (W, H, C)
        conformal(wrong, LEVELS[1:-1])  # an error if they are too few for these
        self.metrics["conformal"] = conformal_offsets(wrong, LEVELS).tolist()
        self.metrics["interval_errors"] = fewest_known(wrong)

    def from_few_errors(self) -> list[str]:
        """A note on intervals that rest on fewer errors than their levels take."""
        few = self.metrics.get("interval_errors")
        if few is None or few >= fewest_for(LEVELS):
            return []
        which = (
            "intervals rest on" if self.codec.size == 1 else "intervals of some channels rest on"
        )
        return [
            f"{which} {few:,} error{'s' * (few != 1)} of each step, too few to count: they are those of"
            f" Student's t, and rough; from {fewest_for(LEVELS)} on they are quantiles"
        ]

    def matching(self, other: Predictor) -> Model:
        """The model of another run, if it sees series in the same way."""
        same = other.task.name == self.task.name and other.codec.to_json() == self.codec.to_json()
        if not same:
            raise ConfigError(
                "models are mixed that were fitted to the same series, in the same scale",
                got=f"{self.spec} and {other.spec}",
                do="Fit them together, as a+b, or both on the same data with --valid",
            )
        return other.model

    # -- how well
    def measure(self, data: Source, **options: Any) -> Measured:
        """Forecasts from every origin, beside what came and what the seasonal naive forecast says;
        from some of the origins, evenly spaced, if they are many and nothing was asked for."""
        series, begin = self.data(data), time.perf_counter()
        past = options.pop("past", None)
        goes_on = past is not None and not (isinstance(past, str) and not past)
        earlier = self.data(past) if goes_on else None
        walking = build(
            MeasureOptions,
            options | {"past": "" if earlier is None else earlier.origin},
            "evaluate",
        )
        span = Span.of(series, walking)
        if earlier is not None:
            series, span, walking = self.going_on(earlier, series, walking)
        signals = self.codec.encode(series, span.begin)
        asked = bool(options or goes_on)
        places = every = origins(series, walking, self.ahead, span)
        if not asked:
            places = (
                some_of(every, COMPARED)
                if len(series) == 1
                else some_origins(series, self.ahead, span, COMPARED)
            )
        walk = self.walk(series, signals, places, walking, span)
        seconds = time.perf_counter() - begin
        owners = owners_of(signals, walk.places)
        scale = naive_scale(signals, span.begin, self.codec.season)[owners]  # (O, C)
        moments = series.field("time").flat[np.minimum(walk.places, len(signals.x.flat) - 1)]
        overlap = overlapping(signals, walk.places, self.horizon)
        simple = naive(self.codec.season, signals, walk.places, self.ahead)
        last = last_values(signals, walk.places)
        facts = {
            "last_value": over_naive(walk.truth, last, simple, scale, owners),
            "origin": series.origin,
            "sequences": len(series),
            "names": [self.codec.name_of(series, s) for s in range(len(series))],
            "seconds": seconds,
            "walking": asdict(walking),
            "of_origins": len(every),
            "whole": int(np.isfinite(walk.truth[:, -1]).any(1).sum()),
            "short": self.short(signals, span),
            "reads": self.reads,
            "seen": None if walking.refit else self.seen(rows_between(series, span)),
        }
        found = Forecasts(
            walk.truth, walk.mean, LEVELS, walk.quantiles, scale, moments, overlap, owners
        )
        measured = measured_forecasts(found, simple, facts)
        measured.arrays["past"] = past_at(signals, walk.places)
        return measured

    def short(self, signals: Signals, span: Span) -> int:
        """How many series are too short for a scale of their seasonal differences."""
        return int((scale_lags(signals, span.begin, self.codec.season) < self.codec.season).sum())

    def going_on(
        self, past: Sequences, data: Sequences, walking: MeasureOptions
    ) -> tuple[Sequences, Span, MeasureOptions]:
        """The series of the data behind those that they go on from, of which only what was added is
        judged, one horizon after another."""
        if walking.begin or walking.end:
            raise ConfigError(
                "with --past all of the data is judged, and nothing else",
                got=f"--begin {walking.begin} --end {walking.end}".replace("-- ", ""),
                do="Leave out --begin and --end",
            )
        whole, begin = gone_on(past, data, self.codec.step, self.reading.fill)
        lengths = whole.field("values").lengths
        stride = self.horizon if walking.stride == 1 else walking.stride
        return whole, Span(begin, lengths), replace(walking, stride=stride)

    def walk(
        self,
        data: Sequences,
        signals: Signals,
        places: np.ndarray,
        options: BacktestOptions,
        span: Span,
    ) -> Walk:
        """Forecasts from these origins, of a model that may be fitted again on the way."""
        offsets = signals.x.offsets - signals.x.offsets[0]
        ends = (offsets[:-1] + span.end)[owners_of(signals, places)]
        truth = what_came(signals, places, self.ahead, ends)
        if options.refit:
            return Walk(places, truth, *self.refitted(data, places, options))
        found = forecast(self.model, self.codec, signals, places, options, self.offsets)
        return Walk(places, truth, *found)

    def refitted(
        self, data: Sequences, places: np.ndarray, options: BacktestOptions
    ) -> tuple[np.ndarray, np.ndarray]:
        """Fitted again after every so many origins, on what is known then."""
        if len(data) > 1:
            raise ConfigError(
                "a model is fitted again on one series at a time",
                got=f"{len(data)} series",
                do="Leave out --refit, or give one series",
            )
        found = []
        for first in range(0, len(places), options.refit):
            some = places[first : first + options.refit]
            last = int(some[0])
            known = data.part(max(0, last - options.sliding) if options.sliding else 0, last)
            model, codec = self.fitted_on(known)
            found.append(forecast(model, codec, codec.encode(data), some, options))
        mean, quantiles = (np.concatenate([each[i] for each in found]) for i in range(2))
        return mean, quantiles

    def fitted_on(self, known: Sequences) -> tuple[ForecastModel, SeriesCodec]:
        """The same model with the same settings, fitted on other data."""
        cut, counts = self.task.cut, len(self.parts) == 1 and self.parts[0].counts
        codec = SeriesCodec.fit(known, self.codec.options)
        with seeded(self.parts[0].training.seed) as generator:
            model = create(self.parts, codec.size, *codec.sizes, mixture=self.task.mixture)
        train, valid = (known, None) if counts else cut.hold_out(known, self.parts)
        held = None if valid is None else cut.encode(codec, valid)
        lesson = cut.lesson(cut.encode(codec, train), held, known.by, codec)
        for _ in loop.fit(model, self.parts, lesson, None, generator):
            pass
        assert isinstance(model, ForecastModel)
        return model, codec

    def evaluate(
        self, data: Source, *, against: Predictor | str | None = None, **options: Any
    ) -> Record:
        """Walk-forward figures from every origin: see `seriatim.tasks.forecast.metrics`. Options:
        see `BacktestOptions`; `against` another model, whether the two differ."""
        past = options.pop("past", None)
        walking = asdict(build(BacktestOptions, options, "evaluate"))
        further = {} if past is None else {"past": past}
        return super().evaluate(data, against=against, **walking, **further)

    def summarise(self, measured: Measured) -> Record:
        """Errors by horizon and channel, intervals, coverage, and how much better than naive; of the
        forecasts with enough of the past, where there are any."""
        judged = part_of(measured, enough_of(measured))
        found = self.reported(judged)
        found["notes"] += left_out(measured, judged)
        return found

    def compared(self, measured: Measured, other: Measured) -> dict[str, Any]:
        """Whether two models differ, by the forecasts for which both have enough of the past."""
        if len(measured.loss) == len(other.loss):
            both = enough_of(measured) & enough_of(other)
            measured, other = (part_of(each, both) for each in (measured, other))
        return super().compared(measured, other)

    def reported(self, measured: Measured) -> Record:
        """The figures of all forecasts."""
        forecasts = forecasts_in(measured)
        found = report(forecasts, naive_in(measured))
        seconds, values = measured["seconds"], forecasts.mean.size
        for each in found["by_series"] or ():
            each["series"] = measured["names"][each["series"]]
        return self.record(
            "evaluation",
            data=measured["origin"],
            **found | {"interval": {"confidence": 0.95, **found["interval"]}},
            scaled=self.scaled(forecasts),
            channel_names=self.codec.channels,
            sequences=measured["sequences"],
            seconds=seconds,
            symbols_per_second=values / max(seconds, 1e-9),
            parameters=self.model.size(),
            protocol=self.protocol(
                measured["walking"], (len(forecasts.truth), measured["of_origins"])
            )
            | {
                "naive": self.naive_in_words(measured.facts.get("last_value")),
                "scale": self.scale_in_words(measured),
                "seen_in_training": measured["seen"],
            },
            notes=[
                *channels_judged(found["by_channel"]),
                *self.other_scales(measured),
                *self.without_mase(found),
                *with_all_steps(found["by_horizon"], len(found["by_series"] or ())),
                *of_part_of_the_horizon(measured, self.horizon),
                *mostly_nothing(forecasts),
                *self.from_few_errors(),
            ],
        )

    def scale_in_words(self, measured: Measured) -> str:
        """What MASE is in units of."""
        season = self.codec.season
        words = f"mean |y(t) - y(t-{season})| of each series before the first origin"
        short = measured.facts.get("short", 0)
        return words + f"; of {short:,}, too short for it, |y(t) - y(t-1)|" * bool(short)

    def other_scales(self, measured: Measured) -> list[str]:
        """A note on series that are too short for the scale of the others."""
        short, many = measured.facts.get("short", 0), measured["sequences"]
        if not short:
            return []
        are = (
            "series is"
            if many == 1
            else f"{short:,} of {many:,} series {'is' if short == 1 else 'are'}"
        )
        return [
            f"MASE: {are} too short for seasonal differences ({self.codec.season} steps apart) before the"
            " first origin and scaled by the mean difference from one step to the next"
        ]

    def without_mase(self, found: Record) -> list[str]:
        """A note on the series that have no MASE, if some have none."""
        figures = found["by_series"] or [found]
        some = sum(each["mase"] is not None for each in figures)
        if some == len(figures):
            return []
        return [
            f"MASE: {some:,} of {len(figures):,} series have one; the others did not change before"
            f" the first origin, had fewer than {FEWEST_APART} differences there, or no value after it"
        ]

    def scaled(self, forecasts: Forecasts) -> dict[str, float] | None:
        """Errors in units of the training data's deviation; None where that is not their unit."""
        if self.codec.options.log or self.codec.options.difference or self.codec.by_itself:
            return None
        deviation = self.codec.means[""][1][: self.codec.size]
        wrong = (forecasts.truth - forecasts.mean) / deviation
        return {"mse": float(np.nanmean(wrong**2)), "mae": float(np.nanmean(np.abs(wrong)))}

    def protocol(
        self, walking: dict[str, Any], origins: tuple[int, int] | None = None
    ) -> dict[str, Any]:
        """What the figures rest on; `origins` are how many were walked, of how many."""
        options = build(MeasureOptions, {"stride": 1} | walking)
        refit = f"every {options.refit} origins, on {options.sliding or 'all'} steps"
        behind = self.metrics.get("interval_errors")
        of_errors = "" if behind is None else f", from {behind:,} errors of each step"
        own = (
            "the model's own quantiles"
            if self.offsets is None
            else "conformal, from validation data"
        )
        return {
            "step": self.codec.step.words,
            "season": self.codec.season,
            "horizon": self.horizon,
            "context": self.model.options.context,
            "origins": origins_in_words(options, origins, self.horizon),
            "gap": self.model.options.gap,
            "refit": refit if options.refit else "never",
            "intervals": own + of_errors,
            "scaled": "errors in units of the training data's deviation",
            "naive": self.naive_in_words(),
            "several_series": "figures are means over series; `pooled`: over all origins alike",
            "text": "numbers are forecast",
            "unit": "value",
            "seen_of": "the values that are judged",
        }

    def naive_in_words(self, last: float | None = None) -> str:
        """What the naive forecast says, and how much better the last value is, if it is."""
        season = self.codec.season
        words = f"the value {season:,} step{'s' * (season > 1)} ago"
        if season > 1:
            asked = (
                "as was asked for"
                if self.codec.options.season
                else f"as usual of {self.codec.step.words} data"
            )
            words += f", a season {asked}"
        if last is not None and season > 1 and last > 0:
            words += f"; on these data the last value is better than that by {100 * last:.3g} %"
        return words

    def row(self, measured: Measured) -> dict[str, Any]:
        """A row of a comparison."""
        record = self.reported(measured)  # of the same forecasts as of all other models
        record["notes"] += left_out(measured, measured)
        kept = "mase mae rmse crps pooled interval parameters symbols_per_second protocol notes"
        return {key: record[key] for key in kept.split()} | {
            "skill": (record["against_naive"] or {}).get("skill"),
            "coverage": record["coverage"].get("80"),
        }

    def backtest(self, data: Source, **options: Any) -> Record:
        """Forecasts from origin after origin, beside what came. Options: see `WalkOptions`."""
        whole, asked = self.data(data), build(WalkOptions, options, "backtest")
        series = self.only(whole, asked.only)
        lengths = series.field("values").lengths
        longest = int(lengths.max())
        first = max(1, longest // 2, longest - SHOWN * self.horizon)
        usual = str(first) if len(series) == 1 else f"{first / longest:.6f}"  # a row, or a share
        walking = replace(asked, begin=asked.begin or usual, stride=asked.stride or self.horizon)
        span = Span.of(series, walking)
        signals = self.codec.encode(series, span.begin)
        places = origins(series, walking, self.ahead, span)
        walk = self.walk(series, signals, places, walking, span)
        offsets = offsets_of(lengths)
        owner = np.searchsorted(offsets, walk.places, "left") - 1  # (O,) which series it is of
        items = [
            self.walked(series, int(s), int(place - offsets[s]), walk, o)
            for o, (s, place) in enumerate(zip(owner, walk.places, strict=True))
        ]
        shown = [self.shown(series, s, items) for s in range(len(series))]
        return self.record(
            "backtest",
            data=series.origin,
            channel_names=self.codec.channels,
            horizon=self.horizon,
            sequences=len(whole),
            series=shown,
            items=items,
            protocol=self.protocol({k: v for k, v in asdict(walking).items() if k != "only"})
            | {"seen_in_training": self.seen(rows_between(series, span))},
            notes=too_little(past_at(signals, walk.places), self.reads),
        )

    def walked(self, data: Sequences, s: int, row: int, walk: Walk, o: int) -> dict[str, Any]:
        """What was forecast from one origin, a row of its series, and what came."""
        first = float(data.field("time").row(s)[row - 1])
        gap, horizon = self.ahead
        moments = self.codec.step.after(first, gap + horizon)[gap:]
        channels = self.channels(walk.mean[o], walk.quantiles[o])
        for c, channel in enumerate(channels.values()):
            channel["truth"] = walk.truth[o, :, c].tolist()
        return {
            "series": self.codec.name_of(data, s),
            "origin": row,
            "time": [written(moment, self.codec.step) for moment in moments],
            "channels": channels,
        }

    def shown(self, data: Sequences, s: int, items: list[dict[str, Any]]) -> dict[str, Any]:
        """A series from a little before the first of its origins on."""
        name, values = self.codec.name_of(data, s), data.field("values").row(s)
        rows = [item["origin"] for item in items if item["series"] == name]
        first = max(0, min(rows, default=len(values)) - 2 * self.horizon)
        columns = {each: values[first:, c].tolist() for c, each in enumerate(self.codec.channels)}
        moments = [written(each, self.codec.step) for each in data.field("time").row(s)[first:]]
        return {"series": name, "first": first, "time": moments, "values": columns}

    def only(self, data: Sequences, name: str) -> Sequences:
        """One series of several by its name; all of them if none is named."""
        if not name:
            return data
        names = [self.codec.name_of(data, s) for s in range(len(data))]
        if name not in names:
            raise ConfigError(
                "there is no series of this name",
                got=name,
                do=nearest(name, names[:SHOWN]) if any(names) else "Leave out --only: there is one",
            )
        return data[np.array([names.index(name)])]

    # -- what comes
    def predict(self, data: Source, *, paths: int = 0, only: str = "") -> Record:
        """For each series, or the one that is named, the next H steps: times, means and quantiles of
        each channel, beside what came last, and so many sample paths."""
        whole = self.data(data, gaps=True)
        series = self.only(whole, only)
        longer, places = self.extended(series)
        offsets = longer.field("values").offsets
        signals = self.codec.encode(longer, places - offsets[:-1])
        mean, quantiles = forecast(
            self.model, self.codec, signals, places, BacktestOptions(), self.offsets
        )
        drawn = None  # (O, S, H, C)
        if paths:
            drawn = sample_paths(self.model, self.codec, signals, places, paths)
        items = []
        gap, horizon = self.ahead
        for s, place in enumerate(places):
            moments = longer.field("time").flat[place + gap : place + gap + horizon]
            channels = self.channels(mean[s], quantiles[s])
            for c, channel in enumerate(channels.values()):
                if drawn is not None:
                    channel["paths"] = drawn[s, :, :, c].tolist()
            items.append(
                {
                    "series": self.codec.name_of(series, s),
                    "time": [written(moment, self.codec.step) for moment in moments],
                    "channels": channels,
                    "past": self.past(longer, s),
                    "past_time": self.past_time(longer, s),
                    "rows": len(longer.field("values").row(s)) - gap - horizon,
                }
            )
        notes = [*self.from_few_errors(), *too_little(past_at(signals, places), self.reads)]
        known = {"data": series.origin, "sequences": len(whole)}
        return self.record("predictions", **known, items=items, notes=notes)

    def channels(self, mean: np.ndarray, quantiles: np.ndarray) -> dict[str, dict[str, Any]]:
        """(H, C) means and (H, C, Q) quantiles, by the names of the channels and of the levels."""
        return {
            name: {
                "mean": mean[:, c].tolist(),
                "quantiles": {
                    f"{level:g}": quantiles[:, c, q].tolist() for q, level in enumerate(LEVELS)
                },
            }
            for c, name in enumerate(self.codec.channels)
        }

    def past(self, longer: Sequences, s: int) -> dict[str, list[float]]:
        """The last values of each channel before the future begins."""
        values = longer.field("values").row(s)[: -self.model.options.reach]
        last = values[-BEFORE * max(self.horizon, LEAST) :]
        return {name: last[:, c].tolist() for c, name in enumerate(self.codec.channels)}

    def past_time(self, longer: Sequences, s: int) -> list[str]:
        """The moments of these values."""
        moments = longer.field("time").row(s)[: -self.model.options.reach]
        last = moments[-BEFORE * max(self.horizon, LEAST) :]
        return [written(moment, self.codec.step) for moment in last]

    def extended(self, data: Sequences) -> tuple[Sequences, np.ndarray]:
        """The series with H more steps, of which nothing is known but the time and the inputs known
        in advance; and where each goes on."""
        pieces = [self.longer(data, s) for s in range(len(data))]
        offsets = offsets_of(len(moments) for _, moments, _ in pieces)
        values = np.concatenate([rows for rows, _, _ in pieces])
        moments = np.concatenate([moments for _, moments, _ in pieces])
        fields = {
            "values": Field(values, offsets, NUMBERS, data.field("values").names),
            "time": Field(moments, offsets, NUMBERS),
        }
        if self.codec.known:
            known = np.concatenate([known for _, _, known in pieces])
            fields["known"] = Field(known, offsets, NUMBERS, data.field("known").names)
        if "name" in data.fields:
            fields["name"] = data.fields["name"]
        longer = Sequences(fields, by=data.by, unit=data.unit, origin=data.origin)
        return longer, offsets[1:] - self.model.options.reach

    def longer(self, data: Sequences, s: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """One series with H more steps, or as many as it takes to reach the last: values (N + H, C),
        times (N + H,) and what is known in advance (N + H, K)."""
        rows, when = data.field("values").row(s), data.field("time").row(s)
        filled = np.flatnonzero(np.isfinite(rows).any(1))
        if not len(filled):
            raise DataError(
                "a series has no values to go on from", got=f"series {s + 1}", file=data.origin
            )
        end, reach = int(filled[-1]) + 1, self.model.options.reach
        coming = self.codec.step.after(float(when[end - 1]), reach)
        nothing = np.full((reach, rows.shape[1]), np.nan)
        values, moments = (
            np.concatenate([rows[:end], nothing]),
            np.concatenate([when[:end], coming]),
        )
        if not self.codec.known:
            return values, moments, np.zeros((len(moments), 0))
        given = data.field("known").row(s)[: end + reach]
        if len(given) < end + reach or np.isnan(given[end:]).any():
            raise DataError(
                "what is known in advance is not given for all of the horizon",
                got=f"{len(data.field('known').row(s)) - end} of {reach} steps",
                file=data.origin,
                do=f"Add rows with {', '.join(self.codec.known)} and without values behind the last",
            )
        return values, moments, given


def rows_between(data: Sequences, span: Span) -> Sequences:
    """The rows of each series that are judged."""
    offsets = data.field("values").offsets - data.field("values").offsets[0]
    return rows_of(data, offsets[:-1] + span.begin, offsets[:-1] + np.maximum(span.begin, span.end))


def written(moment: float, step: Step) -> str:
    """A moment as people write it; a row as its number."""
    if step.kind == "row":
        return f"{moment:.12g}"
    days = step.kind in ("month", "weekday") or (step.kind == "second" and step.size % 86400 == 0)
    text = str(np.datetime64(round(moment), "s"))
    return text.removesuffix("T00:00:00") if days else text
