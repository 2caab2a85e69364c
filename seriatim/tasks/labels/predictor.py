"""What predictors of labels, tags and values have in common: answers beside the truth."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from torch import Tensor

from seriatim.batches import Batch
from seriatim.codecs.brackets import brackets_in, refuse_unbalanced
from seriatim.codecs.symbols import UNKNOWN
from seriatim.data.objects import at_hand
from seriatim.data.sequences import Sequences, offsets_of
from seriatim.errors import ConfigError, DataError
from seriatim.layers.devices import to
from seriatim.measuring.measured import Measured
from seriatim.models import contextual
from seriatim.models.attending import MOST_SHOWN, maps_of, refusal
from seriatim.models.base import Model, asked, evaluating
from seriatim.models.graph import graph_of_model
from seriatim.models.ladder import Part
from seriatim.models.stack import by_trees
from seriatim.models.units import told_units
from seriatim.records import Record
from seriatim.runs.predictor import Predictor, Source, one_text, shortened
from seriatim.settings import build
from seriatim.shapes import Shape, optional, plain, real, table, text
from seriatim.show.texts import APART
from seriatim.tasks.base import NoOptions, Task
from seriatim.tasks.base.options import UnitOptions
from seriatim.tasks.labels.answers import Answers, answers
from seriatim.tasks.labels.codec import STEP, Examples, LabelCodec, of_examples
from seriatim.tasks.labels.cut import ClassifyLesson
from seriatim.tasks.labels.metrics import calibration, cooled, report
from seriatim.tasks.labels.models.beside import BesideCounting
from seriatim.tasks.labels.models.network import SequenceLabeller

TOGETHER = 64  # sequences whose vectors are computed at a time
AROUND = 8  # elements shown on either side of one whose tag is told
NOT_SEEN = (
    "never seen in training: wrong, whatever is found, and of probability 0, "
    "so that the log loss is infinite"
)
QUICKLY_COUNTED = 300_000  # symbols of training data that are counted, too, beside a network
SHOWN = 5  # labels that training did not have
UNKNOWN_SHARE = 0.5  # of the symbols of a test, from which on that is said
UNBALANCED = 0.75  # the share of the commonest label from which on that is said


class OfSequences(Predictor):
    """A model that says something about sequences, each by itself: of symbols or of numbers."""

    codec: LabelCodec
    said = "labels"  # what is said, in words

    def __init__(
        self, task: Task, spec: str, parts: list[Part], codec: LabelCodec, model: Model, *rest: Any
    ):
        """What reads trees is told which symbols are brackets."""
        super().__init__(task, spec, parts, codec, model, *rest)
        for each in by_trees(model):
            each.brackets = brackets_in(codec.text)

    @property
    def unit(self) -> str:
        """What one element of a sequence is called."""
        return self.codec.unit

    def data(self, source: Source, gaps: bool = False) -> Sequences:
        """Sequences, read as the training data were; not a single stream."""
        of_numbers = STEP if self.codec.target == "tags" else None
        unit = of_numbers if self.codec.channels else self.codec.options.unit
        source = at_hand(source)
        data = self.task.cut.sequences(source, self.reading_of(source), unit=unit, gaps=gaps)
        if data.by == "stream":
            raise DataError(
                f"{data.origin} is one stream of text, and {self.said} are of sequences",
                do="Give a table, tagged sentences, or lines with --by line",
            )
        if by_trees(self.model):
            refuse_unbalanced(self.codec.text, data, data.main)
        return data

    def named(self, items: list[dict[str, Any]], given: Sequences) -> list[dict[str, Any]]:
        """What is said of each sequence, with the name of the series that it is, if it is one."""
        column = given.fields.get("name")
        if not getattr(self.reading, "series", "") or column is None or column.names is None:
            return items
        names = [column.names[number] for number in column.flat]
        return [{"series": name} | item for name, item in zip(names, items, strict=True)]

    def attention(self, data: Source, *, layer: int = 0, head: int = 0) -> Record:
        """Who attends to whom in the first sequence that is given: of all layers and heads, or of
        one, counted from 1."""
        given = self.data(data)
        first = next((s for s in range(len(given)) if given.main.lengths[s]), None)
        if first is None:
            raise DataError("there is nothing to attend to", got="nothing", do="Give a text")
        given = given[first : first + 1]
        examples = self.codec.encode(given, labelled=False)
        longest, notes = int(examples.x.lengths[0]), []
        tokens = self.codec.pieces(given.main)[0]
        with evaluating(self.model):
            batch = of_examples(examples, np.arange(1))
            traced = [each for part in self.model.parts for each in attention_of(part, batch)]
        if not traced:
            raise refusal(self.spec)
        if traced[0].shape[-1] > longest:
            tokens = [*tokens, "<unit>"]
        if len(tokens) > MOST_SHOWN:
            notes.append(f"only the first {MOST_SHOWN} symbols are shown")
        shown = [each[0, :, :MOST_SHOWN, :MOST_SHOWN] for each in traced]
        return self.record(
            "attention",
            data=given.origin,
            unit=self.unit,
            tokens=tokens[:MOST_SHOWN],
            maps=maps_of(shown, layer, head),
            notes=notes,
        )

    def embed(self, data: Source, *, layer: int = 0, each: str = "position") -> Record:
        """The vectors of the positions of each sequence in a layer, or their mean."""
        given = self.data(data, gaps=True)
        network = next((m for m in self.model.parts if isinstance(m, SequenceLabeller)), None)
        if network is None:
            raise contextual.refusal(self.spec)
        part = contextual.layer_of(network.stack, layer, self.spec)
        examples, items = self.codec.encode(given, labelled=False), []
        lengths = examples.x.lengths
        tokens = [] if self.codec.channels else self.codec.text.pieces(given.main)
        for rows in np.array_split(np.arange(len(given)), max(1, -(-len(given) // TOGETHER))):
            batch = to(of_examples(examples, rows), network.device)
            with evaluating(network):
                run = partial(network.answer, network.embedded(batch), batch.x_lengths, batch.x)
                found = contextual.outputs(part, run).cpu().float().numpy()  # (B, P, D)
            for place, s in enumerate(rows.tolist()):
                begin, many = int(examples.x.offsets[s]), int(lengths[s])
                steps = [str(step + 1) for step in range(many)]
                names = steps if self.codec.channels else tokens[begin : begin + many]
                text = {} if self.codec.channels else {"text": spelled(given.main.raw(s))}
                items.append(text | contextual.told(found[place, :many], names, each))
        return self.record("vectors", items=items)

    def units(self, text: str, **settings: Any) -> Record:
        """What hidden units say along a text, and which follow a marker of it. Settings: see
        `UnitOptions`."""
        options = build(UnitOptions, settings, "units")
        if self.codec.channels:
            raise ConfigError(
                "units are followed along a text", got="a model of numbers", do="Ask for embed"
            )
        network = next((m for m in self.model.parts if isinstance(m, SequenceLabeller)), None)
        if network is None or not len(network.stack.blocks):
            raise contextual.refusal(self.spec)
        contextual.layer_of(network.stack, options.layer, self.spec)
        given = self.data([one_text(text, "a text")])
        codec = self.codec.text
        symbols = [codec.shown(piece) for piece in codec.pieces(given.main)]
        if not symbols:
            raise DataError("there is nothing to read", got=repr(text), do="Give a longer text")
        examples = self.codec.encode(given, labelled=False)
        batch = to(of_examples(examples, np.arange(1)), network.device)
        layers = []
        for layer in range(1, len(network.stack.blocks) + 1):
            if options.layer not in (0, layer):
                continue
            part = contextual.layer_of(network.stack, layer, self.spec)
            with evaluating(network):
                run = partial(network.answer, network.embedded(batch), batch.x_lengths)
                found = contextual.outputs(part, run)[0, : len(symbols)]  # (T, D)
            layers.append((layer, found.cpu().float().numpy()))
        apart = self.unit in APART
        asked_for = (options.marker, options.unit, options.count)
        told = told_units(layers, symbols, apart, *asked_for)
        return self.record("units", unit=self.unit, **told, notes=[])

    def graph(self, data: Source) -> Record:
        """How the loss of the first sequence is computed: every operation of the network, with
        values and gradients."""
        given = self.data(data)[:1]
        examples = self.codec.encode(given)
        if not len(examples.y.flat):
            raise DataError(
                "a loss needs the truth", got="a sequence without", do="Give one with its label"
            )
        batch = of_examples(examples, np.arange(1))
        nodes = graph_of_model(self.model, batch, self.spec)
        return self.record("graph", data=given.origin, loss=nodes[-1]["value"], nodes=nodes)

    def matching(self, other: Predictor) -> Model:
        """The model of another run, if it was fitted to the same symbols and labels."""
        same = other.task.name == self.task.name and other.codec.to_json() == self.codec.to_json()
        if not same:
            raise ConfigError(
                "models are mixed that know the same symbols and labels",
                got=f"{self.spec} of {self.task.name} and {other.spec} of {other.task.name}",
                do="Fit both on the same data with the same --unit and --valid",
            )
        return other.model


def spelled(raw: Any) -> str:
    """A sequence of symbols as text."""
    return raw if isinstance(raw, str) else " ".join(map(str, raw))


def attention_of(part: Model, batch: Batch) -> list[Tensor]:
    """(1, H, P, P) what each layer of a part attends to, where it is a network that attends."""
    traced = asked(part).trace(batch) if isinstance(part, SequenceLabeller) else {}
    return [value for name, value in traced.items() if name.startswith("attention.")]


class Labeller(OfSequences):
    """What Classifier and Tagger have in common."""

    tags = False  # an answer for each element, not for the whole
    counted: tuple[str, dict[str, Any]]  # the rung that counts, and settings, beside networks

    def answers(self, examples: Examples) -> Answers:
        """What is found, with probabilities as sure as they may be."""
        found = answers(self.model, examples, self.tags)
        if self.temperature == 1:
            return found
        return replace(found, log_probs=cooled(found.log_probs, self.temperature))

    def kept(self) -> Shape:
        """How sure it may be, and the commonest label."""
        known = {"temperature": real(1e-6, 1e6), "majority_label": optional(text())}
        return table({}, known, others=plain)

    @property
    def temperature(self) -> float:
        """Above 1: the model is less sure than its numbers say; `fit` finds it on validation data
        if it is asked to `calibrate`."""
        return float(self.metrics.get("temperature", 1.0))

    # -- how well
    def measure(self, data: Source, **options: Any) -> Measured:
        """Every answer beside the truth, and what it cost.

        A label never seen in training is wrong, whatever is found, and has probability 0.
        """
        build(NoOptions, options, "evaluate")
        given, begin, own = self.data(data), time.perf_counter(), self.codec.labels
        codec = self.codec.with_unseen(given)
        examples, names = codec.encode(given), codec.labels.names
        truth = examples.y.flat
        if not len(truth):
            raise DataError(
                f"{given.origin} has nothing to evaluate",
                got=f"{len(given)} sequences without a label",
            )
        unseen = truth >= own.size  # (N,)
        found = self.answers(self.codec.encode(given, labelled=False) if unseen.any() else examples)
        log_probs, place = renumbered(found.log_probs, own.names, names)
        symbols = len(examples.x.flat)
        arrays = {
            "loss": -log_probs[np.arange(len(truth)), truth],  # (N,) nats of the true label
            "truth": truth,
            "answers": place[found.found],
            "log_probs": log_probs,  # (N, K)
            "offsets": found.offsets,  # (S + 1,) where the answers for each sequence begin
            "unseen": unseen,
            "floor": truth == (names.index(self.commonest) if self.commonest else -1),
            "unknown": np.zeros(symbols, bool)
            if self.codec.channels
            else examples.x.flat == UNKNOWN,
        }
        facts = {
            "names": names,
            "seconds": time.perf_counter() - begin,
            "origin": given.origin,
            "seen": self.seen(given),
        }
        return Measured(arrays, facts)

    def told(self, test: Sequences, measured: Measured, item: int) -> tuple[str, str | None, str]:
        """A label of a test: its sequence (of a tag, with its element marked), the true one, and the
        one found with the probability of the true one."""
        names, offsets = measured["names"], measured["offsets"]
        owner = int(np.searchsorted(offsets, item, "right")) - 1
        given = test.main.raw(owner)
        if len(measured.loss) != len(test) and not isinstance(given, str):
            words, place = list(map(str, given)), item - int(offsets[owner])
            begin = max(0, place - AROUND)
            marked = [*words[begin:place], f"[{words[place]}]", *words[place + 1 :][:AROUND]]
            given = " ".join(marked)
        chance = float(np.exp(-measured.loss[item]))
        truth, answer = (names[int(measured[name][item])] for name in ("truth", "answers"))
        return shortened(given), truth, f"{answer} (the true one {chance:.1%})"

    def merged(self, measured: list[Measured]) -> Measured:
        """The answers of several folds as one; a label that only some know is impossible for the
        others."""
        names = sorted({name for each in measured for name in each["names"]})
        several = [under_names(each, names) for each in measured]
        arrays = {
            name: np.concatenate([each[name] for each in several]) for name in several[0].arrays
        }
        sizes = [np.diff(each["offsets"]) for each in several]
        arrays["offsets"] = offsets_of(np.concatenate(sizes))
        seconds = sum(each["seconds"] for each in several)
        return Measured(arrays, several[0].facts | {"names": names, "seconds": seconds})

    def summarise(self, measured: Measured) -> Record:
        """Figures with intervals, label by label, and the protocol."""
        truth, log_probs, names = measured["truth"], measured["log_probs"], measured["names"]
        unseen, symbols = measured["unseen"], len(measured["unknown"])
        of_seen = None
        if not unseen.all():
            of_seen = calibration(log_probs[~unseen], truth[~unseen])["log_loss"]
        sure = calibration(log_probs, truth)
        figures = report(truth, measured["answers"], names)
        floor = None if self.commonest is None else float(measured["floor"].mean())
        unknown = int(measured["unknown"].sum())
        return self.record(
            "evaluation",
            data=measured["origin"],
            **figures,
            majority=floor,
            majority_label=self.commonest,
            log_loss=sure.pop("log_loss"),
            calibration=sure,
            sequences=len(measured["offsets"]) - 1,
            unseen_labels=dict(Counter(names[i] for i in truth[unseen])),
            log_loss_of_seen=of_seen,
            unknown=unknown,
            symbols=symbols,
            seconds=measured["seconds"],
            symbols_per_second=symbols / max(measured["seconds"], 1e-9),
            parameters=self.model.size(),
            protocol=self.protocol() | {"seen_in_training": measured["seen"]},
            notes=[
                *self.beside_the_floor(figures, floor, self.always(measured)),
                *self.unbalanced(floor),
                *self.mostly_unknown(unknown, symbols),
            ],
        )

    # -- the floor
    @property
    def commonest(self) -> str | None:
        """The most frequent label of the training data."""
        name = self.metrics.get("majority_label")
        return name if isinstance(name, str) and name in self.codec.labels.number else None

    def always(self, measured: Measured) -> str:
        """What the floor says, in words: of several folds each may have another commonest label."""
        if self.commonest is not None:
            place = measured["names"].index(self.commonest)
            if np.array_equal(measured["floor"], measured["truth"] == place):
                return f"{str(self.commonest)!r}, the commonest {self.said[:-1]} of training"
        return f"the commonest {self.said[:-1]} of each training part"

    def beside_the_floor(self, figures: Record, floor: float | None, always: str) -> list[str]:
        """What to say of a model that knows no more than which label is most frequent."""
        if floor is None or figures["interval"]["accuracy"][0] > floor:
            return []
        if figures["accuracy"] <= floor:
            return [f"no better than always saying {always} ({floor:.4f})"]
        return [
            f"on so few {self.said} it cannot be told from always saying {always} ({floor:.4f})"
        ]

    def unbalanced(self, floor: float | None) -> list[str]:
        """What to say where one label is nearly all there is: accuracy hides the others."""
        if floor is None or floor < UNBALANCED:
            return []
        always = f"{str(self.commonest)!r} alone is right in {100 * floor:.1f} % of cases"
        return [
            f"unbalanced {self.said}: {always}, so accuracy says little of the others; "
            f"macro F1 weighs every {self.said[:-1]} the same"
        ]

    def never_seen(self, measured: Measured) -> list[str]:
        """What to say of labels that training did not have: they cannot be right."""
        truth, unseen = measured["truth"], measured["unseen"]
        if not unseen.any():
            return []
        names = Counter(str(measured["names"][i]) for i in truth[unseen]).most_common(SHOWN)
        words = ", ".join(f"{name!r} {count:,}" for name, count in names)
        others = measured["answers"][~unseen] == truth[~unseen]
        rest = f"; of the others {100 * others.mean():.1f} % are right" if len(others) else ""
        return [
            f"{int(unseen.sum()):,} of {len(truth):,} {self.said} of the test were never in training "
            f"({words}) and count as wrong{rest}"
        ]

    def mostly_unknown(self, unknown: int, symbols: int) -> list[str]:
        """What to say where hardly any word of the test was in training."""
        if self.codec.channels or unknown < UNKNOWN_SHARE * symbols:
            return []
        letters = "; --unit character reads letters" if self.unit in ("word", "token") else ""
        return [
            f"{100 * unknown / symbols:.0f} % of the {self.unit}s were never in training{letters}"
        ]

    def conclude(
        self, lesson: ClassifyLesson, valid: Sequences | None, asked: Any
    ) -> Iterator[str]:
        """Keep the commonest label; say so if what was learned is no better on validation data."""
        names, best = self.codec.labels.names, self.metrics.get("valid")
        number = int(np.bincount(lesson.train.y.flat, minlength=len(names)).argmax())
        self.metrics["majority_label"] = names[number]
        yield from self.told_beside(lesson)
        judged = lesson.judged(self.model)
        if lesson.valid is None or best is None:
            return
        if best >= judged.rounded(lesson.floor(number)):
            words = judged.said(best)
            yield (
                f"no better than always saying {str(names[number])!r}, the commonest "
                f"{self.said[:-1]} of training: {words} on validation data"
            )
        elif not self.in_comparison:
            yield from self.beside_counting(lesson, best)

    def told_beside(self, lesson: ClassifyLesson) -> Iterator[str]:
        """Say which models count beside networks: their figures are not those of networks alone."""
        for part in self.model.parts:
            if not isinstance(part, BesideCounting) or part.counted is None:
                continue
            name, model = part.counted
            self.metrics |= {"beside": name, "beside_alone": not part.says}
            alone = ""
            if lesson.valid is not None:
                found = lesson.judged(model).said(lesson.validate(model))
                alone = f" ({name} alone: {found})"
            yield (
                f"what {name} counts is added to what the network says{alone}; "
                "--beside no fits the network alone"
                if part.says
                else f"{name} answers alone: on validation data the network added nothing to what it "
                f"counts that is more than chance{alone}; --beside no fits the network alone"
            )

    def beside_counting(self, lesson: ClassifyLesson, best: float) -> Iterator[str]:
        """Say so if a network is no better than what counting finds in the same data at once."""
        if any(part.counts for part in self.parts) or lesson.symbols > QUICKLY_COUNTED:
            return
        name, settings = self.counted
        rung, codec = self.task.rungs[name], self.codec
        sizes = codec.sizes[:4]  # what counts reads no further fields
        other = rung.code(codec.size, rung.options(**settings), *sizes)
        for _ in lesson.counting(other):
            pass
        judged = lesson.judged(self.model)
        counted = judged.rounded(lesson.validate(other))
        if best >= counted:
            yield (
                f"no better than {name}, which counts and takes seconds: {judged.said(best)}, "
                f"{name} {judged.said(counted)} on validation data; longer training or "
                f"--word-vectors may change that, compare {self.task.name} tells"
            )

    def protocol(self) -> dict[str, Any]:
        """What the figures rest on."""
        symbols = {
            "vocabulary": self.codec.size,
            "unknown": "looked for in lower case, then read as <unk>",
        }
        channels = {"channels": self.codec.channels}
        return {
            "unit": self.unit,
            "temperature": self.temperature,
            **(channels if self.codec.channels else symbols),
            "text": "labels are predicted, not the text",
            "unseen_labels": NOT_SEEN,
        }

    def row(self, measured: Measured) -> dict[str, Any]:
        """A row of a comparison, with what was taken for what."""
        found = self.in_row(self.summarise(measured))
        return found | {"notes": [*found["notes"], *self.never_seen(measured)]}

    def in_row(self, found: Record) -> dict[str, Any]:
        """What a comparison keeps of an evaluation."""
        kept = (
            "accuracy interval log_loss parameters unknown symbols_per_second protocol matthews "
            "classes confusion notes"
        )
        return {key: found[key] for key in kept.split()} | {
            "macro_f1": found["macro"]["f1"],
            "calibration_error": found["calibration"]["error"],
        }


def renumbered(
    log_probs: np.ndarray, names: list[str], others: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """(N, K) by the numbers of some names -> (N, K') by those of another list, which has all of
    them, and (K,) the new number of each; what else the list has is impossible."""
    number = {name: i for i, name in enumerate(others)}
    place = np.array([number[name] for name in names])
    if np.array_equal(place, np.arange(len(others))):
        return log_probs, place
    wider = np.full((len(log_probs), len(others)), -np.inf)
    wider[:, place] = log_probs
    return wider, place


def under_names(measured: Measured, names: list[str]) -> Measured:
    """The same answers by the numbers of another list of names."""
    log_probs, place = renumbered(measured["log_probs"], measured["names"], names)
    arrays = measured.arrays | {
        "truth": place[measured["truth"]],
        "answers": place[measured["answers"]],
        "log_probs": log_probs,
    }
    return Measured(arrays, measured.facts | {"names": names})
