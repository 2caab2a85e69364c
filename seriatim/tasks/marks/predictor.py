"""A Predictor of several things that may be true: a list of labels for each sequence.

model = fit("marks", "linear", "articles.jsonl")
model.predict("new.txt");   model.evaluate("test.jsonl")
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from seriatim.data.sequences import Sequences
from seriatim.errors import DataError
from seriatim.measuring.measured import Measured
from seriatim.measuring.resampling import RESAMPLES
from seriatim.records import Record
from seriatim.runs.predictor import Source, shortened
from seriatim.settings import build
from seriatim.tasks.base import NoOptions
from seriatim.tasks.labels.predictor import OfSequences
from seriatim.tasks.marks.codec import MarksCodec
from seriatim.tasks.marks.metrics import HALF, bits_of, logits_of, mark_report, nats_of
from seriatim.tasks.marks.options import PredictOptions


class Marker(OfSequences):
    """A probability for each label of each sequence."""

    codec: MarksCodec
    said = "labels"

    def probabilities(self, data: Sequences) -> np.ndarray:
        """(S, K) of every label."""
        logits = logits_of(self.model, self.codec.encode(data, labelled=False))
        return 1 / (1 + np.exp(-logits.astype(np.float64)))

    def predict(self, data: Source, *, top: int = 5, threshold: float = HALF) -> Record:
        """For each sequence the labels from the probability `threshold` on, and the likeliest with
        their probabilities."""
        build(PredictOptions, {"top": top, "threshold": threshold}, "predict")
        names, items = self.codec.labels.values, []
        for row in self.probabilities(self.data(data, gaps=True)):
            order = np.argsort(-row, kind="stable")
            likeliest = [{"label": names[i], "probability": float(row[i])} for i in order[:top]]
            found = [names[i] for i in range(len(names)) if row[i] >= threshold]
            items.append({"labels": found, "probabilities": likeliest})
        return self.record("predictions", threshold=threshold, items=items)

    def score(self, data: Source) -> Record:
        """For each sequence the natural-log probability of its labels, how many labels there are to
        choose from, and how many of its own are unknown."""
        given = self.data(data)
        examples, unknown = self.codec.encode(given), self.codec.unknown(given)
        nats = nats_of(logits_of(self.model, examples), examples.y.flat)
        many = self.codec.labels.size
        items = [
            {"log_prob": -loss, "tokens": many, "unknown": number}
            for loss, number in zip(nats.tolist(), unknown.tolist(), strict=True)
        ]
        return self.record("scores", by=self.by, items=items)

    # -- how well
    def measure(self, data: Source, **options: Any) -> Measured:
        """What the model says of every label beside the truth, and what it cost."""
        build(NoOptions, options, "evaluate")
        given, begin = self.data(data), time.perf_counter()
        if not len(given):
            raise DataError(f"{given.origin} has nothing to evaluate", got="no sequences")
        examples = self.codec.encode(given)
        logits = logits_of(self.model, examples)
        arrays = {
            "loss": nats_of(logits, examples.y.flat),  # (S,) nats
            "truth": examples.y.flat > 0,  # (S, K)
            "answers": logits >= 0,  # (S, K)
            "unknown": self.codec.unknown(given),  # (S,)
        }
        facts = {
            "names": self.codec.labels.names,
            "symbols": len(examples.x.flat),
            "seconds": time.perf_counter() - begin,
            "origin": given.origin,
            "seen": self.seen(given),
        }
        return Measured(arrays, facts)

    def merged(self, measured: list[Measured]) -> Measured:
        """The answers of several folds as one; a label that only some know is false for the
        others."""
        names = sorted({name for each in measured for name in each["names"]})
        return super().merged([under_names(each, names) for each in measured])

    def told(self, test: Sequences, measured: Measured, item: int) -> tuple[str, str | None, str]:
        """A sequence of a test, its true labels, and those found with what the truth cost."""
        truth, answer = (
            ", ".join(np.array(measured["names"])[measured[name][item]]) or "none"
            for name in ("truth", "answers")
        )
        cost = f"{measured.loss[item]:.3g} nats"
        return shortened(test.main.raw(item)), truth, f"{answer} ({cost})"

    def summarise(self, measured: Measured) -> Record:
        """Figures with intervals, label by label, and the protocol."""
        symbols, seconds, truth = measured["symbols"], measured["seconds"], measured["truth"]
        return self.record(
            "evaluation",
            data=measured["origin"],
            **bits_of(measured.loss),
            **mark_report(truth, measured["answers"], measured["names"]),
            sequences=len(truth),
            labels=int(truth.sum()),
            unknown=int(measured["unknown"].sum()),
            symbols=symbols,
            seconds=seconds,
            symbols_per_second=symbols / max(seconds, 1e-9),
            parameters=self.model.size(),
            protocol=self.protocol() | {"seen_in_training": measured["seen"]},
        )

    def protocol(self) -> dict[str, Any]:
        """What the figures rest on."""
        return {
            "unit": self.unit,
            "labels": self.codec.labels.size,
            "bits": "of all labels of a sequence together, true or not",
            "found": f"labels of probability {HALF} or more",
            "macro_f1": "the mean over labels that are true or found",
            "unknown": "labels that training did not have are left out of their lists, and counted",
            "text": "labels are predicted, not the text",
            "interval": f"95 % bootstrap, {RESAMPLES} resamples of sequences",
        }

    def row(self, measured: Measured) -> dict[str, Any]:
        """A row of a comparison."""
        record = self.summarise(measured)
        kept = (
            "bits_per_sequence micro_f1 macro_f1 exact interval unknown parameters "
            "symbols_per_second protocol"
        )
        return {key: record[key] for key in kept.split()}


def under_names(measured: Measured, names: list[str]) -> Measured:
    """The same answers by the numbers of another list of names, which has all of them."""
    place = [names.index(name) for name in measured["names"]]
    arrays = dict(measured.arrays)
    for key in ("truth", "answers"):
        arrays[key] = np.zeros((len(measured.loss), len(names)), bool)
        arrays[key][:, place] = measured[key]
    return Measured(arrays, measured.facts | {"names": names})
