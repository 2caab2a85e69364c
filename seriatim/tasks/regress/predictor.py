"""A Predictor of values: a number for each sequence, or several, with how sure that is.

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
from seriatim.tasks.base import Figure, NoOptions
from seriatim.tasks.labels.answers import estimates
from seriatim.tasks.labels.codec import target_of
from seriatim.tasks.labels.predictor import OfSequences
from seriatim.tasks.regress.metrics import (
    WITHIN,
    pairs,
    pairs_of_outputs,
    scaled_errors,
    value_report,
    vector_report,
)


class Regressor(OfSequences):
    """One number for each sequence, or K: a normal distribution of each."""

    said = "values"

    def estimates(self, data: Sequences) -> tuple[np.ndarray, np.ndarray]:
        """(S,) means and deviations, in the unit of the values; (S, K) of K a sequence."""
        mean, deviation = estimates(self.model, self.codec.encode(data, labelled=False))
        scale, moved = np.array(self.codec.scale.deviation), np.array(self.codec.scale.mean)
        mean, deviation = mean * scale + moved, deviation * scale
        return (mean, deviation) if self.outputs > 1 else (mean[:, 0], deviation[:, 0])

    @property
    def outputs(self) -> int:
        """K, how many values a sequence has."""
        return self.codec.scale.size

    def predict(self, data: Source) -> Record:
        """For each sequence its value, the deviation, and the interval that holds 80 % of such
        values; of K values lists of them."""
        given = self.data(data, gaps=True)
        mean, deviation = self.estimates(given)
        ends = np.stack([mean - WITHIN * deviation, mean + WITHIN * deviation], -1)
        items = [
            {"value": value, "deviation": spread, "interval": {"confidence": 0.8, "value": both}}
            for value, spread, both in zip(
                mean.tolist(), deviation.tolist(), ends.tolist(), strict=True
            )
        ]
        return self.record("predictions", items=self.named(items, given))

    def measure(self, data: Source, **options: Any) -> Measured:
        """Every estimate beside the truth, and what it cost."""
        build(NoOptions, options, "evaluate")
        given, begin = self.data(data), time.perf_counter()
        truth = self.truth(given)
        mean, deviation = self.estimates(given)
        arrays = {
            # (N,) absolute errors, of K values their mean in units of the training deviations
            "loss": scaled_errors(truth, mean, np.array(self.codec.scale.deviation))
            if self.outputs > 1
            else np.abs(mean - truth),
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

    def truth(self, given: Sequences) -> np.ndarray:
        """(N,) true values, or (N, K); an error if there are none, or not as many as were learned."""
        truth = target_of(given, "value").flat
        if not len(truth):
            raise DataError(f"{given.origin} has nothing to evaluate", got="no sequences")
        wide = truth.shape[1] if truth.ndim > 1 else 1
        if wide != self.outputs:
            raise DataError(
                "these sequences have not as many values as those that were learned from",
                got=f"{wide} each, not {self.outputs}",
                file=given.origin,
                do="Give every sequence as many values, in the same order",
            )
        return truth

    def summarise(self, measured: Measured) -> Record:
        """Figures with an interval, and the protocol."""
        symbols, seconds = measured["symbols"], measured["seconds"]
        return self.record(
            "evaluation",
            data=measured["origin"],
            **self.figures(measured),
            sequences=len(measured["truth"]),
            symbols=symbols,
            seconds=seconds,
            symbols_per_second=symbols / max(seconds, 1e-9),
            parameters=self.model.size(),
            protocol=self.protocol() | {"seen_in_training": measured["seen"]},
        )

    def figures(self, measured: Measured) -> Record:
        """All that is told of errors; of several outputs of each by itself, too."""
        truth, mean, deviation = (measured[name] for name in ("truth", "answers", "deviation"))
        scale = self.codec.scale
        if self.outputs == 1:
            found = value_report(truth, mean, deviation, scale.mean[0], WITHIN)
            return found | {"pairs": pairs(truth, mean, deviation)}
        floor, spread = np.array(scale.mean), np.array(scale.deviation)
        found = vector_report(truth, mean, deviation, floor, spread, WITHIN)
        return found | {"pairs": pairs_of_outputs(truth, mean, deviation, floor, spread)}

    def protocol(self) -> dict[str, Any]:
        """What the figures rest on."""
        means = ", ".join(f"{each:.6g}" for each in self.codec.scale.mean)
        several = "s" * (self.outputs > 1)
        found = {
            "unit": self.unit,
            "floor": f"the mean{several} of the training values, {means}",
            "coverage": "of the central 80 % of the normal distribution that is said",
            "text": "values are predicted, not the text",
        }
        if self.outputs == 1:
            return found
        return found | {
            "outputs": self.outputs,
            "scaled_mae": "the mean over outputs of MAE / (deviation of the training values), which "
            "is what ranks",
            "pairs": "in deviations of the training values from their mean",
        }

    def row(self, measured: Measured) -> dict[str, Any]:
        """A row of a comparison."""
        found = self.summarise(measured)
        kept = (
            "mae rmse r_squared skill nats_per_value coverage interval "
            "parameters symbols_per_second protocol"
        )
        row = {key: found[key] for key in kept.split()}
        if self.outputs == 1:
            return row
        return row | {key: found[key] for key in ("scaled_mae", "by_output")}

    def judged_by(self) -> Figure:
        """The figure by which models are told apart."""
        return self.task.figure("mae" if self.outputs == 1 else "scaled_mae")


def ranking(train: Sequences) -> str:
    """The key of the figure that ranks models of these data."""
    return "mae" if target_of(train, "value").values.ndim == 1 else "scaled_mae"
