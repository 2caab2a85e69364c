"""Predictors of labels: one label for a sequence (Classifier), one tag for each element (Tagger).

    model = fit("classify", "naive-bayes", "messages.tsv");   model.predict("new.txt");   model.evaluate("test.tsv");   model.explain("free entry")
"""
from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch

from seriatim.agreement import calibration, cooled, mcnemar, paired_bootstrap, report, span_report, temperature, threshold
from seriatim.batches import of_examples
from seriatim.chains import Chain
from seriatim.codecs.labelled import Examples, Labelled
from seriatim.codecs.symbols import UNKNOWN
from seriatim.data import read
from seriatim.data.conllu import read_document
from seriatim.data.sequences import Sequences, offsets_of
from seriatim.errors import ConfigError, DataError
from seriatim.evaluation import fingerprint, finite
from seriatim.explaining import explain
from seriatim.labelling import Answers, answers
from seriatim.models import Part
from seriatim.models.base import Model
from seriatim.models.labeller import Labeller as Network
from seriatim.predictor import Silent


class Labeller(Silent):
    """What both have in common."""

    tags, figure, higher = False, "accuracy", True

    def __init__(self, spec: str, parts: list[Part], codec: Labelled, model: Model, by: str, metrics: dict[str, Any] | None = None, task: str = "classify"):
        super().__init__(spec, parts, codec, model, by, metrics, task)
        for part in getattr(model, "parts", [model]):
            if isinstance(part, Network):
                part.constrain(codec.labels.names)

    def data(self, source: Sequences | str | Path) -> Sequences:
        data = source if isinstance(source, Sequences) else read(source, by="line", unit=self.codec.options.unit)
        if data.by == "stream":
            raise DataError(f"{data.origin} is one stream of text, and labels are of sequences", do="Give a table, tagged sentences, or lines with --by line")
        return data

    def answers(self, examples: Examples) -> Answers:
        found = answers(self.model, examples, self.tags)
        return replace(found, log_probs=cooled(found.log_probs, self.temperature)) if self.temperature != 1 else found

    @property
    def temperature(self) -> float:
        """Above 1: the model is less sure than its numbers say; found by `fit --calibrate` on validation data."""
        return float(self.metrics.get("temperature", 1.0))

    def calibrate(self, examples: Examples) -> None:
        """Find the temperature on validation data."""
        self.metrics["temperature"] = temperature(answers(self.model, examples, self.tags).log_probs, examples.y.flat)

    def measure(self, data: Sequences | str | Path) -> dict[str, Any]:
        """Every answer beside the truth, and what it cost. A label never seen in training is wrong, whatever is found, and has probability 0."""
        data, begin, own = self.data(data), time.perf_counter(), self.codec.labels
        codec = self.codec.with_unseen(data)
        examples, names = codec.encode(data), codec.labels.names
        if not len(examples.y.flat):
            raise DataError(f"{data.origin} has nothing to evaluate", got=f"{len(data)} sequences without a label")
        unseen = examples.y.flat >= own.size                                                                # (N,)
        unknown = np.zeros(len(examples.x.flat), bool) if self.codec.channels else examples.x.flat == UNKNOWN
        found = self.answers(self.codec.encode(data, labelled=False) if unseen.any() else examples)
        if unseen.any():
            found = renumbered(replace(found, loss=np.inf), own.names, names)
        return {"truth": examples.y.flat, "answers": found, "names": names, "unseen": unseen, "unknown": unknown,
                "seconds": time.perf_counter() - begin, "origin": data.origin, "seen": self.metrics.get("fingerprint") == fingerprint(data.main)}

    def merged(self, measured: list[dict[str, Any]]) -> dict[str, Any]:
        """The answers of several folds as one."""
        names = sorted({name for each in measured for name in each["names"]})
        truth = [np.array([names.index(name) for name in each["names"]])[each["truth"]] for each in measured]
        found = [renumbered(each["answers"], each["names"], names) for each in measured]
        sizes = np.concatenate([np.diff(each.offsets) for each in found])
        loss = sum(each.loss * len(each.found) for each in found) / sum(len(each.found) for each in found)
        together = Answers(np.concatenate([each.found for each in found]), np.concatenate([each.log_probs for each in found]), offsets_of(sizes), loss)
        return measured[0] | {"truth": np.concatenate(truth), "answers": together, "names": names, "seconds": sum(each["seconds"] for each in measured)} | {
            key: np.concatenate([each[key] for each in measured]) for key in ("unseen", "unknown")}

    def row(self, measured: dict[str, Any]) -> dict[str, Any]:
        record = self.summarise(measured)
        kept = ("accuracy", "interval", "parameters", "unknown", "symbols_per_second", "protocol")
        return {key: record[key] for key in kept} | {"macro_f1": record["macro"]["f1"], "log_loss": record["calibration"]["log_loss"],
                                                     "calibration_error": record["calibration"]["error"], "matthews": record["matthews"],
                                                     "classes": record["classes"], "confusion": record["confusion"]}

    @staticmethod
    def told(row: dict[str, Any]) -> str:
        return f"{100 * row['accuracy']:.2f} % right"

    @classmethod
    def apart(cls, first: dict[str, Any], second: dict[str, Any]) -> float:
        """How probable so large a difference is by chance: McNemar's test for labels, a bootstrap over sequences for tags."""
        right = [each["answers"].found == each["truth"] for each in (first, second)]
        return paired_bootstrap(*right, first["answers"].offsets)["p"] if cls.tags else mcnemar(*right)["p"]

    def evaluate(self, data: Sequences | str | Path, **settings: Any) -> dict[str, Any]:
        """Figures with intervals, class by class, and the protocol: see `seriatim.agreement`."""
        return self.summarise(self.measure(data), **settings)

    def summarise(self, measured: dict[str, Any]) -> dict[str, Any]:
        truth, found, names, symbols = measured["truth"], measured["answers"], measured["names"], len(measured["unknown"])
        unseen = measured["unseen"]
        return {"version": 1, "task": self.task, "model": self.spec, "data": measured["origin"], **report(truth, found.found, names),
                "nats_per_label": finite(found.loss), "calibration": calibration(found.log_probs, truth), "sequences": len(found.offsets) - 1,
                "unseen_labels": dict(Counter(names[i] for i in truth[unseen])),
                "log_loss_of_seen": None if unseen.all() else calibration(found.log_probs[~unseen], truth[~unseen])["log_loss"],
                "unknown": int(measured["unknown"].sum()), "symbols": symbols, "seconds": measured["seconds"],
                "symbols_per_second": symbols / max(measured["seconds"], 1e-9), "parameters": self.model.size(),
                "protocol": {"unit": self.codec.unit, "temperature": self.temperature,
                             **({"channels": self.codec.channels} if self.codec.channels else
                                {"vocabulary": self.codec.size, "unknown": "looked for in lower case, then read as <unk>"}),
                             "text": "labels are predicted, not the text",
                             "unseen_labels": "never seen in training: wrong, whatever is found, and of probability 0, so that the log loss is infinite",
                             "seen_in_training": measured["seen"]}}

    def silent(self) -> ConfigError:
        return ConfigError(f"a model of {self.task} labels sequences, and neither writes nor scores them", got=self.spec,
                           do="Fit a model of `language` for that")

    def export(self, file: str | Path) -> dict[str, Any]:
        raise ConfigError("there is no file format of others for this model", got=self.spec, do="Keep its run folder")

    def explain(self, text: str, label: str | None = None, method: str | None = None) -> dict[str, Any]:
        """What each symbol contributed to a label: see `seriatim.explaining`."""
        return explain(self, text, label, method)


def renumbered(found: Answers, names: list[str], others: list[str]) -> Answers:
    """The same answers by the numbers of another list, which has all of these names; what else it has is impossible."""
    place = np.array([others.index(name) for name in names])
    log_probs = np.full((len(found.log_probs), len(others)), -np.inf)                                       # (N, K)
    log_probs[:, place] = found.log_probs
    return replace(found, found=place[found.found], log_probs=log_probs)


class Classifier(Labeller):
    """One label for each sequence."""

    def predict(self, data: Sequences | str | Path, top: int = 5, positive: str | None = None, at: float | None = None) -> list[dict[str, Any]]:
        """For each sequence its label and the likeliest labels with their probabilities; with `positive`, that label from the probability `at` on."""
        if top < 1:
            raise ConfigError("at least one label is shown", got=top, do="Choose a --top of 1 or more")
        if at is not None and (positive is None or not 0 <= at <= 1):
            raise ConfigError("a threshold is the probability of one label", got=f"{at} of {positive or 'no label'}",
                              do="Choose one between 0 and 1, and name the label with --positive")
        found = self.answers(self.codec.encode(self.data(data), labelled=False))
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
        self.label_number(positive)
        number = measured["names"].index(positive)
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
        found, names = self.answers(self.codec.encode(data, labelled=False)), self.codec.labels.names
        records = []
        for tokens, begin, end in zip(self.codec.pieces(data.main), found.offsets[:-1], found.offsets[1:], strict=True):
            tags, sure = found.found[begin:end], found.log_probs[np.arange(begin, end), found.found[begin:end]]
            records.append({"tokens": tokens, "tags": [names[i] for i in tags], "probabilities": np.exp(sure).tolist()})
        return records

    def best(self, data: Sequences | str | Path, count: int = 5) -> list[list[dict[str, Any]]]:
        """For each sequence the most probable rows of tags, best first, where tags are judged together: hmm, and networks with a chain."""
        examples, names, found = self.codec.encode(self.data(data), labelled=False), self.codec.labels.names, []
        for s in range(len(examples)):
            with torch.inference_mode():
                chain = self.model.unroll(of_examples(examples, np.array([s])))[0]
            if not isinstance(chain, Chain):
                raise ConfigError("tags that are judged one by one, as in a mixture, have no best rows", got=self.spec,
                                  do="Use hmm, or a network fitted with --chain")
            found.append([{"tags": [names[i] for i in tags], "log_prob": log_prob} for tags, log_prob in chain.best(count)[0]])
        return found

    def rewrite(self, file: str | Path, out: str | Path, format: str | None = None) -> dict[str, Any]:
        """Write a file of tagged sentences again with the tags that are found, and everything else as it is."""
        document = read_document(file, format)
        fields, lines = document.fields()
        records = self.predict(Sequences(fields, unit="token", origin=str(file), lines=lines))
        document.with_column(document.layout.pair[1], [record["tags"] for record in records]).write(out)
        return {"version": 1, "out": str(out), "sequences": len(records), "tags": sum(len(record["tags"]) for record in records)}

    def summarise(self, measured: dict[str, Any]) -> dict[str, Any]:
        """Known and unknown words apart; of B-I-O tags also the spans."""
        record, found, truth, names = super().summarise(measured), measured["answers"], measured["truth"], measured["names"]
        known = ~measured["unknown"]
        right = found.found == truth
        record |= {f"{name}_words": {"accuracy": float(right[some].mean()) if some.any() else None, "words": int(some.sum())}
                   for name, some in (("known", known), ("unknown", ~known))}
        whole = [bool(right[begin:end].all()) for begin, end in pairwise(found.offsets)]
        record["whole_sequences"] = float(np.mean(whole))
        if any(name.startswith(("B-", "I-")) for name in names):
            cuts = list(pairwise(found.offsets))
            record["spans"] = span_report(*([[names[i] for i in values[begin:end]] for begin, end in cuts] for values in (truth, found.found)))
        return record
