"""A Predictor of numbers: what comes over the next steps, how sure that is, and how well it would have done.

    model = fit("forecast", "lags-ridge", "load.csv", horizon=24);   model.predict("load.csv");   model.evaluate("load.csv", begin="2024-06-01")

Shapes: O origins, H horizon, C channels, Q levels, N times.
"""
from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from seriatim import training
from seriatim.backtesting import forecast, naive, naive_scale, origins, overlapping, sample_paths
from seriatim.batches import of_windows
from seriatim.codecs.numbers import NumberCodec, Signals
from seriatim.config import BacktestOptions
from seriatim.data import read
from seriatim.data.sequences import NUMBERS, Field, Sequences, offsets_of
from seriatim.data.series import series_of
from seriatim.data.steps import Step
from seriatim.deviations import Forecasts, conformal, diebold_mariano, report
from seriatim.errors import ConfigError, DataError
from seriatim.models import create
from seriatim.models.rules import LEVELS, origins_of
from seriatim.predictor import Silent
from seriatim.settings import build
from seriatim.tasks import Forecast

COMPARED = 400                             # origins of a comparison, at most


class ForecastPredictor(Silent):
    """A fitted model that forecasts series."""

    figure, higher = "mase", False

    def __repr__(self) -> str:
        return f"Predictor({self.task}, {self.spec}, {self.codec.size} channels, {self.horizon} steps ahead, {self.model.size():,} parameters)"

    @property
    def horizon(self) -> int:
        return self.model.options.horizon

    def data(self, source: Sequences | str | Path) -> Sequences:
        return series_of(source if isinstance(source, Sequences) else read(source, gaps=True))

    def silent(self) -> ConfigError:
        return ConfigError("a model of forecast neither writes nor scores texts", got=self.spec, do="Use predict for what comes next, evaluate for how well")

    # -- intervals that hold
    @property
    def offsets(self) -> np.ndarray | None:
        """(H, C, Q) from the mean, of `fit --calibrate`; None: the model's own quantiles."""
        return np.array(self.metrics["conformal"]) if "conformal" in self.metrics else None

    def calibrate(self, signals: Signals) -> None:
        """Take intervals from the errors on validation data (split conformal prediction), whatever the model itself says."""
        places = origins_of(signals, self.horizon, min(self.model.options.context, max(1, int(signals.x.lengths.max()) - self.horizon)))
        batch = of_windows(signals, places[np.linspace(0, len(places) - 1, min(2000, len(places))).astype(np.int64)], self.model.options.context, self.horizon)
        with torch.inference_mode():
            mean = self.model.forecast(batch, 100, 0)[0]
        self.metrics["conformal"] = conformal((batch.y - mean).double().numpy(), LEVELS).tolist()

    # -- how well
    def measure(self, data: Sequences | str | Path, **settings: Any) -> dict[str, Any]:
        data, begin = self.data(data), time.perf_counter()
        options = build(BacktestOptions, settings, "evaluate")
        signals, places = self.codec.encode(data), origins(data, options)
        if not settings and len(places) > COMPARED:
            places = places[np.linspace(0, len(places) - 1, COMPARED).astype(np.int64)]
        if options.refit:
            truth, mean, quantiles = self.refitted(data, signals, places, options)
        else:
            truth, mean, quantiles = forecast(self.model, self.codec, data, signals, places, options, self.offsets)
        seconds = time.perf_counter() - begin
        scale = naive_scale(data_before(data, options), self.codec.season)
        moments = data.field("time").flat[np.minimum(places, len(signals.x.flat) - 1)]
        simple, overlap = naive(self.codec, data, signals, places, self.horizon, options), overlapping(signals, places, self.horizon)
        return {"forecasts": Forecasts(truth, mean, LEVELS, quantiles, scale, moments, overlap),
                "naive": Forecasts(truth, simple, LEVELS, None, scale, moments, overlap),
                "data": data, "options": options, "seconds": seconds, "places": places}

    def refitted(self, data: Sequences, signals: Signals, places: np.ndarray, options: BacktestOptions) -> tuple[np.ndarray, ...]:
        """Fitted again after every so many origins, on what is known then."""
        if len(data) > 1:
            raise ConfigError("a model is fitted again on one series at a time", got=f"{len(data)} series", do="Leave out --refit, or give one series")
        found = []
        for first in range(0, len(places), options.refit):
            some = places[first:first + options.refit]
            known = data.part(max(0, int(some[0]) - options.sliding) if options.sliding else 0, int(some[0]))
            codec = NumberCodec.fit(known, self.codec.options)
            torch.manual_seed(self.parts[0].training.seed)
            model = create(self.parts, codec.size, *codec.sizes)
            train, valid = (known, None) if self.parts[0].counts else Forecast.hold_out(known, self.parts)
            task = Forecast(codec.encode(train), None if valid is None else codec.encode(valid), known.by, codec)
            for _ in training.fit(model, self.parts, task):
                pass
            found.append(forecast(model, codec, data, codec.encode(data), some, options))
        return tuple(np.concatenate([each[i] for each in found]) for i in range(3))

    def evaluate(self, data: Sequences | str | Path, **settings: Any) -> dict[str, Any]:
        """Walk-forward figures: see `seriatim.deviations`. Settings: see `BacktestOptions`."""
        return self.summarise(self.measure(data, **settings))

    def summarise(self, measured: dict[str, Any]) -> dict[str, Any]:
        options, forecasts, data = measured["options"], measured["forecasts"], measured["data"]
        deviation = self.codec.means[""][1][:self.codec.size]
        scaled = None
        if not self.codec.options.log and not self.codec.options.difference:
            wrong = (forecasts.truth - forecasts.mean) / deviation
            scaled = {"mse": float(np.nanmean(wrong ** 2)), "mae": float(np.nanmean(np.abs(wrong)))}
        return {"version": 1, "task": self.task, "model": self.spec, "data": data.origin, **report(forecasts, measured["naive"]), "scaled": scaled,
                "channel_names": self.codec.channels, "seconds": measured["seconds"], "parameters": self.model.size(),
                "protocol": {"step": self.codec.step.words, "season": self.codec.season, "horizon": self.horizon, "context": self.model.options.context,
                             "origins": f"from {options.begin or 'the last fifth'} to {options.end or 'the end'}, stride {options.stride}",
                             "gap": options.gap, "refit": f"every {options.refit} origins, on {options.sliding or 'all'} steps" if options.refit else "never",
                             "intervals": "conformal, from validation data" if self.offsets is not None else "the model's own quantiles",
                             "scaled": "errors in units of the training data's deviation", "naive": f"the value {self.codec.season} steps ago",
                             "text": "numbers are forecast", "unit": "value", "seen_in_training": False}}

    def row(self, measured: dict[str, Any]) -> dict[str, Any]:
        record = self.summarise(measured)
        low, high = record["interval"]["mae"] if record["interval"] and record["interval"].get("mae") else (None, None)
        share = None if record["mase"] is None or not record["mae"] else record["mase"] / record["mae"]
        bounds = (None, None) if low is None or share is None else (low * share, high * share)
        kept = ("mase", "mae", "rmse", "crps", "parameters", "protocol")
        values = measured["forecasts"].mean.size
        return {key: record[key] for key in kept} | {"interval": bounds, "skill": (record["against_naive"] or {}).get("skill"),
                                                     "coverage": record["coverage"].get("80"), "symbols_per_second": values / max(record["seconds"], 1e-9)}

    @staticmethod
    def told(row: dict[str, Any]) -> str:
        return "nothing to compare" if row["mase"] is None else f"MASE {row['mase']:.3f}"

    @staticmethod
    def apart(first: dict[str, Any], second: dict[str, Any]) -> float:
        """The test of Diebold and Mariano, on the absolute errors of each origin, in the unit of MASE."""
        several = [each["forecasts"] for each in (first, second)]
        losses = [np.nanmean(np.abs(each.truth - each.mean) / np.where(each.scale > 0, each.scale, np.nan), (1, 2)) for each in several]
        overlap = several[0].overlap
        return diebold_mariano(*losses, overlap)[1] if len(losses[0]) > overlap else 1.0

    # -- what comes
    def predict(self, data: Sequences | str | Path, top: int = 1, paths: int = 0) -> list[dict[str, Any]]:
        """For each series the next H steps: times, means and quantiles of each channel, and so many sample paths."""
        data = self.data(data)
        longer, places = self.extended(data)
        signals = self.codec.encode(longer)
        _, mean, quantiles = forecast(self.model, self.codec, longer, signals, places, BacktestOptions(), self.offsets)
        drawn, records = sample_paths(self.model, self.codec, longer, signals, places, paths) if paths else None, []
        for s, place in enumerate(places):
            moments = longer.field("time").flat[place:place + self.horizon]
            channels = {name: {"mean": mean[s, :, c].tolist(), "quantiles": {f"{level:g}": quantiles[s, :, c, q].tolist() for q, level in enumerate(LEVELS)}}
                        for c, name in enumerate(self.codec.channels)}
            for c, channel in enumerate(channels.values() if paths else ()):
                channel["paths"] = drawn[s, :, :, c].tolist()
            records.append({"series": self.codec.name_of(data, s), "time": [written(moment, self.codec.step) for moment in moments], "channels": channels})
        return records

    def extended(self, data: Sequences) -> tuple[Sequences, np.ndarray]:
        """The series with H more steps, of which nothing is known but the time and the inputs known in advance; and where each goes on."""
        values, moments, parts, places = data.field("values"), data.field("time"), [], []
        for s in range(len(data)):
            rows, when = values.row(s), moments.row(s)
            filled = np.flatnonzero(np.isfinite(rows).any(1))
            if not len(filled):
                raise DataError("a series has no values to go on from", got=f"series {s + 1}", file=data.origin)
            end, coming = int(filled[-1]) + 1, self.codec.step.after(float(when[filled[-1]]), self.horizon)
            known = None
            if self.codec.known:
                given = data.field("known").row(s)
                if len(given) < end + self.horizon or np.isnan(given[end:end + self.horizon]).any():
                    raise DataError("what is known in advance is not given for all of the horizon", got=f"{len(given) - end} of {self.horizon} steps",
                                    file=data.origin, do="Add rows with these inputs and without values behind the last one, and --fill keep")
                known = given[:end + self.horizon]
            places.append(sum(len(part[0]) for part in parts) + end)
            parts.append((np.concatenate([rows[:end], np.full((self.horizon, rows.shape[1]), np.nan)]), np.concatenate([when[:end], coming]), known))
        offsets = offsets_of(len(part[0]) for part in parts)
        fields = {"values": Field(np.concatenate([part[0] for part in parts]), offsets, NUMBERS, values.names),
                  "time": Field(np.concatenate([part[1] for part in parts]), offsets, NUMBERS)}
        if self.codec.known:
            fields["known"] = Field(np.concatenate([part[2] for part in parts]), offsets, NUMBERS, data.field("known").names)
        if "name" in data.fields:
            fields["name"] = data.fields["name"]
        return Sequences(fields, by=data.by, unit=data.unit, origin=data.origin), np.array(places)


def data_before(data: Sequences, options: BacktestOptions) -> Sequences:
    """What was there before the first origin: the scale of MASE is taken from it."""
    from seriatim.backtesting import moment
    begin = moment(data, options.begin, 0.8)
    offsets = data.field("values").offsets - data.field("values").offsets[0]
    rows = np.concatenate([np.arange(offset, offset + max(2, first)) for offset, first in zip(offsets[:-1], begin, strict=True)])
    values = data.field("values")
    return Sequences({"values": Field(values.flat[rows], offsets_of(np.maximum(2, begin)), NUMBERS, values.names)}, origin=data.origin)


def written(moment: float, step: Step) -> str:
    """A moment as people write it; a row as its number."""
    if step.kind == "row":
        return f"{moment:g}"
    days = step.kind in ("month", "weekday") or (step.kind == "second" and step.size % 86400 == 0)
    text = str(np.datetime64(round(moment), "s"))
    return text.removesuffix("T00:00:00") if days else text
