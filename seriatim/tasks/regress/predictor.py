"""A Predictor of values: a number for each sequence, with how sure that is.

model = fit("regress", "gru", "engines.jsonl")
model.predict("new.jsonl");   model.evaluate("test.jsonl")
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from seriatim.data.sequences import Sequences
from seriatim.errors import DataError
from seriatim.measuring.measured import Measured
from seriatim.records import Record
from seriatim.runs.predictor import Source
from seriatim.settings import build
from seriatim.tasks.base import NoOptions
from seriatim.tasks.labels.answers import estimates
from seriatim.tasks.labels.codec import target_of
from seriatim.tasks.labels.predictor import OfSequences
from seriatim.tasks.regress.metrics import WITHIN, pairs, value_report


class Regressor(OfSequences):
    """One number for each sequence: a normal distribution of it."""

    said = "values"

    def estimates(self, data: Sequences) -> tuple[np.ndarray, np.ndarray]:
        """(S,) means and deviations, in the unit of the values."""
        mean, deviation = estimates(self.model, self.codec.encode(data, labelled=False))
        scale = self.codec.scale
        return mean * scale.deviation[0] + scale.mean[0], deviation * scale.deviation[0]

    def predict(self, data: Source) -> Record:
        """For each sequence its value, the deviation, and the interval that holds 80 % of such
        values."""
        given = self.data(data, gaps=True)
        mean, deviation = self.estimates(given)
        items = [
            {
                "value": value,
                "deviation": spread,
                "interval": {
                    "confidence": 0.8,
                    "value": [value - WITHIN * spread, value + WITHIN * spread],
                },
            }
            for value, spread in zip(mean.tolist(), deviation.tolist(), strict=True)
        ]
        return self.record("predictions", items=self.named(items, given))

    def measure(self, data: Source, **options: Any) -> Measured:
        """Every estimate beside the truth, and what it cost."""
        build(NoOptions, options, "evaluate")
        given, begin = self.data(data), time.perf_counter()
        truth = target_of(given, "value").flat
        if not len(truth):
            raise DataError(f"{given.origin} has nothing to evaluate", got="no sequences")
        mean, deviation = self.estimates(given)
        arrays = {
            "loss": np.abs(mean - truth),  # (N,) absolute errors
            "truth": truth,
            "answers": mean,
            "deviation": deviation,
        }
        facts = {
            "symbols": len(given.main.flat),
            "seconds": time.perf_counter() - begin,
            "origin": given.origin,
            "seen": self.seen(given),
        }
        return Measured(arrays, facts)

    def summarise(self, measured: Measured) -> Record:
        """Figures with an interval, and the protocol."""
        truth, mean, deviation = (measured[name] for name in ("truth", "answers", "deviation"))
        symbols, seconds = measured["symbols"], measured["seconds"]
        floor = self.codec.scale.mean[0]
        protocol = {
            "unit": self.unit,
            "floor": f"the mean of the training values, {floor:.6g}",
            "coverage": "of the central 80 % of the normal distribution that is said",
            "text": "values are predicted, not the text",
            "seen_in_training": measured["seen"],
        }
        return self.record(
            "evaluation",
            data=measured["origin"],
            **value_report(truth, mean, deviation, floor, WITHIN),
            pairs=pairs(truth, mean, deviation),
            sequences=len(truth),
            symbols=symbols,
            seconds=seconds,
            symbols_per_second=symbols / max(seconds, 1e-9),
            parameters=self.model.size(),
            protocol=protocol,
        )

    def row(self, measured: Measured) -> dict[str, Any]:
        """A row of a comparison."""
        found = self.summarise(measured)
        kept = (
            "mae rmse r_squared skill nats_per_value coverage interval "
            "parameters symbols_per_second protocol"
        )
        return {key: found[key] for key in kept.split()}
