"""Predictors of values: a number for each sequence, with how sure that is.

    model = fit("regress", "gru", "engines.jsonl");   model.predict("new.jsonl");   model.evaluate("test.jsonl")
"""
from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from seriatim.agreement import paired_bootstrap, value_report
from seriatim.codecs.labelled import target_of
from seriatim.data import read
from seriatim.data.sequences import Sequences
from seriatim.errors import ConfigError, DataError
from seriatim.evaluation import fingerprint
from seriatim.labelling import estimates
from seriatim.predictor import Silent

WITHIN = 1.2815515655446004                # 80 % of a normal distribution lie within so many standard deviations


class Regressor(Silent):
    """One number for each sequence: a normal distribution of it."""

    figure, higher = "mae", False

    def __repr__(self) -> str:
        return f"Predictor({self.task}, {self.spec}, {self.codec.size} {self.codec.unit}s, {self.model.size():,} parameters)"

    def data(self, source: Sequences | str | Path) -> Sequences:
        return source if isinstance(source, Sequences) else read(source, by="line", unit=self.codec.options.unit)

    def silent(self) -> ConfigError:
        return ConfigError("a model of regress gives a value to sequences, and neither writes nor scores them", got=self.spec,
                           do="Fit a model of `language` for that")

    def estimates(self, data: Sequences) -> tuple[np.ndarray, np.ndarray]:
        """(S,) means and deviations, in the unit of the values."""
        if data.by == "stream":
            raise DataError(f"{data.origin} is one stream of text, and values are of sequences", do="Give a table, or lines with --by line")
        mean, deviation = estimates(self.model, self.codec.encode(data, labelled=False))
        scale = self.codec.labels
        return mean * scale.deviation[0] + scale.mean[0], deviation * scale.deviation[0]

    def predict(self, data: Sequences | str | Path, top: int = 1) -> list[dict[str, Any]]:
        """For each sequence its value, the deviation, and the interval that holds 80 % of such values."""
        mean, deviation = self.estimates(self.data(data))
        return [{"value": value, "deviation": spread, "interval": [value - WITHIN * spread, value + WITHIN * spread]}
                for value, spread in zip(mean.tolist(), deviation.tolist(), strict=True)]

    def measure(self, data: Sequences | str | Path) -> dict[str, Any]:
        """Every estimate beside the truth, and what it cost."""
        data, begin = self.data(data), time.perf_counter()
        truth = target_of(data, "value").flat
        if not len(truth):
            raise DataError(f"{data.origin} has nothing to evaluate", got="no sequences")
        mean, deviation = self.estimates(data)
        return {"truth": truth, "mean": mean, "deviation": deviation, "symbols": len(data.main.flat), "seconds": time.perf_counter() - begin,
                "origin": data.origin, "seen": self.metrics.get("fingerprint") == fingerprint(data.main)}

    def merged(self, measured: list[dict[str, Any]]) -> dict[str, Any]:
        """The estimates of several folds as one."""
        together = {name: np.concatenate([each[name] for each in measured]) for name in ("truth", "mean", "deviation")}
        return measured[0] | together | {name: sum(each[name] for each in measured) for name in ("symbols", "seconds")}

    def evaluate(self, data: Sequences | str | Path) -> dict[str, Any]:
        """Figures with an interval, and the protocol: see `seriatim.agreement`."""
        return self.summarise(self.measure(data))

    def summarise(self, measured: dict[str, Any]) -> dict[str, Any]:
        figures = value_report(measured["truth"], measured["mean"], measured["deviation"], self.codec.labels.mean[0], WITHIN)
        return {"version": 1, "task": self.task, "model": self.spec, "data": measured["origin"], **figures, "symbols": measured["symbols"],
                "seconds": measured["seconds"], "symbols_per_second": measured["symbols"] / max(measured["seconds"], 1e-9),
                "parameters": self.model.size(),
                "protocol": {"unit": self.codec.unit, "floor": f"the mean of the training values, {self.codec.labels.mean[0]:.6g}",
                             "coverage": "of the central 80 % of the normal distribution that is said", "text": "values are predicted, not the text",
                             "seen_in_training": measured["seen"]}}

    def row(self, measured: dict[str, Any]) -> dict[str, Any]:
        record = self.summarise(measured)
        return {key: record[key] for key in ("mae", "interval", "rmse", "r_squared", "skill", "nats_per_value", "coverage", "parameters",
                                             "symbols_per_second", "protocol")}

    @staticmethod
    def told(row: dict[str, Any]) -> str:
        return f"MAE {row['mae']:.4g}"

    @staticmethod
    def apart(first: dict[str, Any], second: dict[str, Any]) -> float:
        """How probable so large a difference of absolute errors is by chance: a bootstrap over sequences."""
        return paired_bootstrap(*(np.abs(each["mean"] - each["truth"]) for each in (first, second)))["p"]

    def export(self, file: str | Path) -> dict[str, Any]:
        raise ConfigError("there is no file format of others for this model", got=self.spec, do="Keep its run folder")
