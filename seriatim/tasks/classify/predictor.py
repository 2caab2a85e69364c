"""A Predictor of labels: one for each sequence.

model = fit("classify", "naive-bayes", "messages.tsv")
model.predict("new.txt");   model.evaluate("test.tsv");   model.explain("free entry")
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from seriatim.data.sequences import TEXT, Field, Sequences, names_of
from seriatim.errors import ConfigError
from seriatim.measuring.measured import Measured
from seriatim.records import Record
from seriatim.runs.predictor import Source
from seriatim.settings import build
from seriatim.tasks.classify.explain import explain
from seriatim.tasks.classify.options import CalibrateOptions, ThresholdOptions
from seriatim.tasks.labels.answers import answers
from seriatim.tasks.labels.cut import ClassifyLesson
from seriatim.tasks.labels.metrics import (
    area,
    at_threshold,
    precision_curve,
    temperature,
    threshold,
)
from seriatim.tasks.labels.predictor import Labeller

USUAL = 0.5  # the probability from which on a label is found that is asked for
CHOSEN_HERE = (
    "the threshold was chosen on this very file, so its recall and precision are too good: "
    "measure it on other data with --threshold"
)

NOTHING: dict[str, Any] = {"label": None, "probabilities": []}  # what is said of nothing
OF_BLANKS = "what is blank has nothing to be labelled: its label is left empty"


class Classifier(Labeller):
    """One label for each sequence."""

    counted = "linear", {"strength": 1.0}

    def measure(self, data: Source, **options: Any) -> Measured:
        """Every answer beside the truth; with `positive`, `summarise` finds a threshold for that
        label. Options: see `ThresholdOptions`."""
        asked = build(ThresholdOptions, options, "evaluate")
        if asked.positive:
            self.label_number(asked.positive)
        elif asked.most_false != ThresholdOptions().most_false or asked.threshold is not None:
            raise ConfigError(
                "a threshold is chosen for one label", got="no label", do="Name it with --positive"
            )
        measured = super().measure(data)
        measured.facts |= {
            "positive": asked.positive,
            "most_false": asked.most_false,
            "threshold": asked.threshold,
        }
        return measured

    def summarise(self, measured: Measured) -> Record:
        """With `positive`, also the lowest probability from which on that label may be found, if at
        most the share `most_false` of the others is to be taken for it; or what a threshold chosen
        elsewhere comes to."""
        found, positive = super().summarise(measured), measured["positive"]
        found["curve"] = self.curve(measured)
        if positive:
            number, given = measured["names"].index(positive), measured["threshold"]
            scores = np.exp(measured["log_probs"][:, number])
            true = measured["truth"] == number
            if given is None:
                chosen = threshold(scores, true, measured["most_false"])
                found["notes"].append(CHOSEN_HERE)
            else:
                chosen = at_threshold(scores, true, given)
            found["threshold"] = {"positive": positive, **chosen}
        return found

    def curve(self, measured: Measured) -> Record | None:
        """What every threshold of one label comes to: of the one that is asked for, or of two the
        rarer. None where there are more labels, or all examples are alike."""
        known = self.codec.labels.names
        positive = measured["positive"]
        if not positive and len(known) == 2:
            positive = next(name for name in known if name != (self.commonest or known[0]))
        if not positive:
            return None
        number = measured["names"].index(positive)
        scores, true = np.exp(measured["log_probs"][:, number]), measured["truth"] == number
        if true.all() or not true.any():
            return None
        return {
            "positive": positive,
            "share": float(true.mean()),
            "average_precision": area(scores, true)["average_precision"],
            "at_half": at_threshold(scores, true, USUAL),
            "points": precision_curve(scores, true),
        }

    def predict(
        self,
        data: Source,
        *,
        top: int = 5,
        probabilities: bool = False,
        positive: str = "",
        threshold: float | None = None,
    ) -> Record:
        """For each sequence its label and the likeliest labels with their probabilities, or all
        `probabilities`; with `positive`, that label from the probability `threshold` on. What is
        blank has none."""
        if top < 1:
            raise ConfigError(
                "at least one label is shown", got=top, do="Choose a --top of 1 or more"
            )
        if threshold is not None and (positive == "" or not 0 <= threshold <= 1):
            raise ConfigError(
                "a threshold is the probability of one label",
                got=f"{threshold} of {'no label' if positive == '' else positive}",
                do="Choose one between 0 and 1, and name the label with --positive",
            )
        chosen = None if positive == "" else self.label_number(positive)
        least = USUAL if threshold is None else threshold
        labels = self.codec.labels.values
        top, whole = (len(labels), {"labels": labels}) if probabilities else (top, {})
        given = self.data(data, gaps=True)
        found, blank = self.answers(self.codec.encode(given, labelled=False)), blanks(given.main)
        items = [
            dict(NOTHING) if empty else self.item(log_probs, top, chosen, least)
            for log_probs, empty in zip(found.log_probs, blank, strict=True)
        ]
        notes = [OF_BLANKS] if any(blank) else []
        items = self.named(items, given)
        return self.record("predictions", **whole, items=items, notes=notes)

    def item(
        self, log_probs: np.ndarray, top: int, chosen: int | None, least: float
    ) -> dict[str, Any]:
        """(K,) -> the label of one sequence, and the likeliest ones."""
        names, order = self.codec.labels.values, np.argsort(-log_probs, kind="stable")
        label = order[0]
        if chosen is not None:
            sure = np.exp(log_probs[chosen]) >= least
            label = chosen if sure else next(i for i in order if i != chosen)
        likeliest = [
            {"label": names[i], "probability": float(np.exp(log_probs[i]))} for i in order[:top]
        ]
        return {"label": names[label], "probabilities": likeliest}

    def explain(self, text: str, *, label: str = "", method: str = "") -> Record:
        """What each symbol contributed to a label: see `seriatim.tasks.classify.explain`."""
        return explain(self, text, label, method)

    def label_number(self, name: Any) -> int:
        """The number of a label, which may be a number or a truth value."""
        name = names_of([name])[0][0]
        if name not in self.codec.labels.number:
            raise ConfigError(
                "there is no such label",
                got=name,
                do="Known labels: " + ", ".join(self.codec.labels.names[:20]),
            )
        return self.codec.labels.number[name]

    def conclude(
        self, lesson: ClassifyLesson, valid: Sequences | None, asked: CalibrateOptions
    ) -> Iterator[str]:
        """If it is asked for, the temperature at which probabilities mean what they say."""
        yield from super().conclude(lesson, valid, asked)
        if asked.calibrate:
            held = lesson.held
            said = answers(self.model, held, self.tags).log_probs
            self.metrics["temperature"] = temperature(said, held.y.flat, doubt=True)


def blanks(column: Field) -> list[bool]:
    """(S,) whether a sequence holds nothing, or nothing but blanks."""
    if column.kind != TEXT:
        return (column.lengths == 0).tolist()
    return [not str(column.raw(s)).strip() for s in range(len(column))]
