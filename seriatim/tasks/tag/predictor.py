"""A Predictor of tags: one for each element of a sequence.

model = fit("tag", "lstm", "train.conllu")
model.predict("new.txt");   model.evaluate("test.conllu")
model.annotate("new.conllu", out="tagged.conllu")
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch

from seriatim.data.formats.conllu import read_document
from seriatim.data.sequences import Sequences, names_of
from seriatim.distributions.chains import Chain
from seriatim.errors import ConfigError
from seriatim.measuring.measured import Measured
from seriatim.models.base import Model, asked
from seriatim.models.ladder import Part
from seriatim.records import Record, plain
from seriatim.runs.predictor import Source
from seriatim.tasks.base import Figure, Task
from seriatim.tasks.labels.codec import LabelCodec, of_examples, target_of
from seriatim.tasks.labels.metrics import (
    counts_in,
    in_scheme,
    interval_of_f1,
    marks_spans,
    span_report,
)
from seriatim.tasks.labels.models.network import SequenceLabeller
from seriatim.tasks.labels.predictor import Labeller


class Tagger(Labeller):
    """One tag for each element."""

    tags, said = True, "tags"
    counted = "most-frequent", {}

    def __init__(
        self,
        task: Task,
        spec: str,
        parts: list[Part],
        codec: LabelCodec,
        model: Model,
        by: str = "line",
        reading: Any = None,
        metrics: dict[str, Any] | None = None,
    ):
        super().__init__(task, spec, parts, codec, model, by, reading, metrics)
        for part in model.parts:
            if isinstance(part, SequenceLabeller):
                part.constrain(codec.labels.names)

    def predict(self, data: Source) -> Record:
        """For each sequence its symbols with their tags and how probable each is."""
        given = self.data(data, gaps=True)
        names = self.codec.labels.values
        found = self.answers(self.codec.encode(given, labelled=False))
        places = np.arange(len(found.found))
        sure = np.exp(found.log_probs[places, found.found] if len(places) else np.zeros(0))
        cuts = pairwise(found.offsets.tolist())
        items = [
            {
                "tokens": tokens,
                "tags": [names[i] for i in found.found[begin:end]],
                "probabilities": sure[begin:end].tolist(),
            }
            for tokens, (begin, end) in zip(self.codec.pieces(given.main), cuts, strict=True)
        ]
        return self.record("predictions", items=items)

    def best(self, data: Source, *, count: int = 5) -> Record:
        """For each sequence the most probable rows of tags, best first, where tags are judged
        together: hmm, and networks with a chain."""
        if count < 1:
            raise ConfigError(
                "at least one row of tags is asked for", got=count, do="Choose 1 or more"
            )
        examples = self.codec.encode(self.data(data, gaps=True), labelled=False)
        model, names, items = asked(self.model), self.codec.labels.values, []
        for s in range(len(examples)):
            with torch.inference_mode():
                chain = model.unroll(of_examples(examples, np.array([s])))[0]
            if not isinstance(chain, Chain):
                raise ConfigError(
                    "tags that are judged one by one, as in a mixture, have no best rows",
                    got=self.spec,
                    do="Use hmm, or a network fitted with --chain",
                )
            rows = [
                {"tags": [names[i] for i in tags], "log_prob": log_prob}
                for tags, log_prob in chain.best_rows(count)[0]
            ]
            items.append({"results": rows})
        return self.record("rows-of-tags", items=items)

    def annotate(self, file: str | Path, *, out: str | Path = "", input_format: str = "") -> Record:
        """Write a file of tagged sentences again with the tags that are found, and everything else
        as it is."""
        if not str(out):
            raise ConfigError("tags are written into a file", do="Name it with --out")
        document = read_document(file, input_format or self.reading.input_format or None)
        further = [name for name in self.codec.also if name in document.layout.place]
        fields, lines = document.fields((*document.layout.pair, *further))
        data = Sequences(fields, unit="token", origin=str(file), lines=lines)
        found = [names_of(item["tags"])[0] for item in self.predict(data)["items"]]
        document.with_column(document.layout.pair[1], found).write(out)
        tags = sum(map(len, found))
        return self.record("annotated", out=str(out), sequences=len(found), tags=tags)

    def summarise(self, measured: Measured) -> Record:
        """Known and unknown words apart; of B-I-O tags also the spans."""
        found, truth, answers = super().summarise(measured), measured["truth"], measured["answers"]
        right, unknown = answers == truth, measured["unknown"]
        words = np.full(len(right), not self.codec.channels)
        for name, some in (("known_words", words & ~unknown), ("unknown_words", unknown)):
            accuracy = float(right[some].mean()) if some.any() else None
            found[name] = {"accuracy": accuracy, "words": int(some.sum())}
        cuts = list(pairwise(measured["offsets"].tolist()))
        found["whole_sequences"] = float(np.mean([right[i:j].all() for i, j in cuts]))
        if self.spans:
            names = [name if in_scheme(name) else "O" for name in measured["names"]]
            rows = [
                [[names[tag] for tag in values[i:j]] for i, j in cuts]
                for values in (truth, answers)
            ]
            found["spans"] = plain(span_report(*rows))
            found["span_f1"] = found["spans"]["f1"]
            found["interval"]["span_f1"] = list(interval_of_f1(counts_in(measured)))
            if found["spans"]["support"] and not found["spans"]["f1"]:
                found["notes"].append(f"not one of {found['spans']['support']:,} spans was found")
        return found

    def beside_the_floor(self, figures: Record, floor: float | None, always: str) -> list[str]:
        """Of spans, tags that are right say little: what is told is whether any was found."""
        return [] if self.spans else super().beside_the_floor(figures, floor, always)

    def unbalanced(self, floor: float | None) -> list[str]:
        """Spans are judged by their F1, which does not count what is outside of all."""
        return [] if self.spans else super().unbalanced(floor)

    def in_row(self, found: Record) -> dict[str, Any]:
        """What a comparison keeps of an evaluation; of spans their F1, too."""
        return super().in_row(found) | {"span_f1": found["spans"]["f1"] if self.spans else None}

    @property
    def spans(self) -> bool:
        """Whether the tags it knows mark spans."""
        return marks_spans(self.codec.labels.names)

    def judged_by(self) -> Figure:
        """The figure by which models are told apart: of spans where tags mark them."""
        return self.task.figure(ranks(self.codec.labels.names))


def ranks(names: Sequence[str]) -> str:
    """The key of the figure that ranks models of these tags."""
    return "span_f1" if marks_spans(names) else "accuracy"


def ranking(train: Sequences) -> str:
    """The key of the figure that ranks models of these data."""
    return ranks(target_of(train, "tags").names or ())
