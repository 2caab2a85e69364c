"""Predictors of labels: one label for a sequence (Classifier), one tag for each element (Tagger).

    model = fit("classify", "naive-bayes", "messages.tsv");   model.predict("new.txt");   model.evaluate("test.tsv");   model.explain("free entry")
"""
from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from seriatim.agreement import calibration, cooled, report, span_report, threshold
from seriatim.codecs.symbols import UNKNOWN
from seriatim.data import read
from seriatim.data.sequences import Sequences
from seriatim.errors import ConfigError, DataError
from seriatim.evaluation import fingerprint
from seriatim.explaining import explain
from seriatim.labelling import Answers, answers
from seriatim.predictor import Predictor


class Labeller(Predictor):
    """What both have in common."""

    tags = False

    def data(self, source: Sequences | str | Path) -> Sequences:
        return source if isinstance(source, Sequences) else read(source, by="line", unit=self.codec.options.unit)

    def answers(self, data: Sequences, labelled: bool) -> Answers:
        if data.by == "stream":
            raise DataError(f"{data.origin} is one stream of text, and labels are of sequences", do="Give a table, tagged sentences, or lines with --by line")
        found = answers(self.model, self.codec.encode(data, labelled), self.tags)
        return Answers(found.found, cooled(found.log_probs, self.temperature), found.offsets, found.loss) if self.temperature != 1 else found

    @property
    def temperature(self) -> float:
        """Above 1: the model is less sure than its numbers say; found by `fit --calibrate` on validation data."""
        return float(self.metrics.get("temperature", 1.0))

    def measure(self, data: Sequences) -> dict[str, Any]:
        """Every answer beside the truth, and what it cost."""
        data, begin = self.data(data), time.perf_counter()
        truth, found = self.codec.encode(data).y.flat, self.answers(data, labelled=True)
        if not len(truth):
            raise DataError(f"{data.origin} has nothing to evaluate", got=f"{len(data)} sequences without a label")
        return {"truth": truth, "answers": found, "seconds": time.perf_counter() - begin, "data": data}

    def evaluate(self, data: Sequences | str | Path, **settings: Any) -> dict[str, Any]:
        return self.summarise(self.measure(data), **settings)

    def summarise(self, measured: dict[str, Any]) -> dict[str, Any]:
        truth, found, data, names = measured["truth"], measured["answers"], measured["data"], self.codec.labels.names
        ids = self.codec.encode(data, labelled=False).x
        return {"version": 1, "task": self.task, "model": self.spec, "data": data.origin, **report(truth, found.found, names),
                "nats_per_label": found.loss, "calibration": calibration(found.log_probs, truth), "sequences": len(data), "labels": len(truth),
                "unknown": int((ids.flat == UNKNOWN).sum()), "symbols": len(ids.flat), "seconds": measured["seconds"],
                "symbols_per_second": len(ids.flat) / max(measured["seconds"], 1e-9), "parameters": self.model.size(),
                "protocol": {"unit": self.codec.options.unit, "vocabulary": self.codec.size, "labels": len(names), "temperature": self.temperature,
                             "unknown": "looked for in lower case, then read as <unk>",
                             "seen_in_training": self.metrics.get("fingerprint") == fingerprint(data.main)}}

    def score(self, data: Sequences | str | Path) -> list[dict[str, Any]]:
        raise self.silent()

    def generate_records(self, several: list[str], **settings: Any) -> list[list[dict[str, Any]]]:
        raise self.silent()

    def stream(self, prompt: str = "", **settings: Any):
        raise self.silent()

    def silent(self) -> ConfigError:
        return ConfigError(f"a model of {self.task} labels sequences, and neither writes nor scores them", got=self.spec, do="Fit a model of `language` for that")

    def export(self, file: str | Path) -> dict[str, Any]:
        raise ConfigError("there is no file format of others for this model", got=self.spec, do="Keep its run folder")

    def explain(self, text: str, label: str | None = None, method: str | None = None) -> dict[str, Any]:
        """What each symbol contributed to a label: see `seriatim.explaining`."""
        return explain(self, text, label, method)


class Classifier(Labeller):
    """One label for each sequence."""

    def predict(self, data: Sequences | str | Path, top: int = 5, positive: str | None = None, at: float | None = None) -> list[dict[str, Any]]:
        """For each sequence its label and the likeliest labels with their probabilities; with `positive`, that label from the probability `at` on."""
        if top < 1:
            raise ConfigError("at least one label is shown", got=top, do="Choose a --top of 1 or more")
        found = self.answers(self.data(data), labelled=False)
        names, records = self.codec.labels.names, []
        chosen = None if positive is None else self.label_number(positive)
        for log_probs in found.log_probs:
            order = np.argsort(-log_probs, kind="stable")
            label = order[0]
            if chosen is not None:
                sure = np.exp(log_probs[chosen]) >= (0.5 if at is None else at)
                label = chosen if sure else next(i for i in order if i != chosen)
            records.append({"label": names[label], "probabilities": [{"label": names[i], "probability": float(np.exp(log_probs[i]))} for i in order[:top]]})
        return records

    def summarise(self, measured: dict[str, Any], positive: str | None = None, most_false: float | None = None) -> dict[str, Any]:
        """With `positive` and `most_false`, also the threshold at which at most that share of the others is taken for it."""
        record = super().summarise(measured)
        if positive is None and most_false is None:
            return record
        if positive is None:
            raise ConfigError("a threshold is chosen for one label", got="no label", do="Name it with --positive")
        number = self.label_number(positive)
        chosen = threshold(np.exp(measured["answers"].log_probs[:, number]), measured["truth"] == number, 0.001 if most_false is None else most_false)
        return record | {"threshold": {"positive": positive} | chosen}

    def label_number(self, name: str) -> int:
        if name not in self.codec.labels.number:
            raise ConfigError("there is no such label", got=name, do="Known labels: " + ", ".join(self.codec.labels.names[:20]))
        return self.codec.labels.number[name]


class Tagger(Labeller):
    """One tag for each element."""

    tags = True

    def predict(self, data: Sequences | str | Path, top: int = 1) -> list[dict[str, Any]]:
        """For each sequence its symbols with their tags and how probable each is."""
        data = self.data(data)
        found, names = self.answers(data, labelled=False), self.codec.labels.names
        records = []
        for tokens, begin, end in zip(self.codec.pieces(data.main), found.offsets[:-1], found.offsets[1:], strict=True):
            tags, sure = found.found[begin:end], found.log_probs[np.arange(begin, end), found.found[begin:end]]
            records.append({"tokens": tokens, "tags": [names[i] for i in tags], "probabilities": np.exp(sure).tolist()})
        return records

    def summarise(self, measured: dict[str, Any]) -> dict[str, Any]:
        """Known and unknown words apart; of B-I-O tags also the spans."""
        record, found, truth, names = super().summarise(measured), measured["answers"], measured["truth"], self.codec.labels.names
        known = self.codec.encode(measured["data"], labelled=False).x.flat != UNKNOWN
        right = found.found == truth
        record |= {f"{name}_words": {"accuracy": float(right[some].mean()) if some.any() else None, "words": int(some.sum())}
                   for name, some in (("known", known), ("unknown", ~known))}
        whole = [bool(right[begin:end].all()) for begin, end in zip(found.offsets[:-1], found.offsets[1:], strict=True)]
        record["whole_sequences"] = float(np.mean(whole))
        if any(name.startswith(("B-", "I-")) for name in names):
            rows = [[[names[i] for i in values[begin:end]] for begin, end in zip(found.offsets[:-1], found.offsets[1:], strict=True)] for values in (truth, found.found)]
            record["spans"] = span_report(*rows)
        return record
