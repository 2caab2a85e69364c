"""A Predictor of vectors: it reads a sequence into one, and writes sequences from vectors, from
labels, or from nothing.

    model = fit("autoencode", "lstm", "sentences.txt")
    model.embed("others.txt")
    model.interpolate(["one sentence", "another"], count=7)
    model.generate(count=3)
    model.neighbours("others.txt", to="a text")
    model = fit("autoencode", "decoder", "sms.tsv", condition="label")
    model.generate(label="spam")
    model.predict("new.txt")

Conditioned on labels, p(label | x) follows from p(x | label) p(label), by Bayes' rule: a writer is a
classifier, too. Shapes: S sequences, R results, L latent, N labels, G conditions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from seriatim import shapes
from seriatim.batches import evenly
from seriatim.data.objects import at_hand, is_file
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import ConfigError, DataError
from seriatim.measuring.measured import Measured
from seriatim.progress import passing
from seriatim.records import Record
from seriatim.runs.predictor import Predictor, Source, one_text
from seriatim.settings import build
from seriatim.shapes import Shape
from seriatim.tasks.autoencode import metrics
from seriatim.tasks.autoencode.codec import Conditioned, Samples
from seriatim.tasks.autoencode.cut import AutoencodeLesson
from seriatim.tasks.autoencode.likelihood import MOST_READ_AGAIN, likelihood, report, vectors
from seriatim.tasks.autoencode.models import Autoencoder
from seriatim.tasks.autoencode.options import (
    CombineOptions,
    CompleteOptions,
    GenerateOptions,
    InterpolateOptions,
    LikelihoodOptions,
    WritingOptions,
)
from seriatim.tasks.autoencode.writing import Item, Plan, best_texts, plan_of, write
from seriatim.tasks.base import Figure

DRAWS = 64  # of the vector, for the likelihood of a sequence
MOST_LEARNED = 2000  # sequences whose vectors say where plain ones lie
GREEDY: dict[str, Any] = {"temperature": 0.0, "length": 200}
SAMPLE_CHARACTERS = 60


class Autoencoding(Predictor):
    """A fitted model that reads sequences into vectors, and writes sequences from them."""

    model: Autoencoder
    codec: Conditioned

    # -- data
    @property
    def unit(self) -> str:
        """What one element of a sequence is called."""
        return self.codec.unit

    @property
    def latent(self) -> int:
        """L, the numbers of a vector; 0 where there is none."""
        return self.model.options.latent

    @property
    def plain(self) -> bool:
        """Whether there are vectors that have no probability."""
        return bool(self.latent) and not self.model.options.variational

    def data(self, source: Source, gaps: bool = False) -> Sequences:
        """Sequences to apply this predictor to; of a list each text, or array, is one."""
        cut, source = self.task.cut, at_hand(source)
        reading = self.reading if is_file(source) else self.reading_in_memory(source)
        read = cut.sequences(source, reading, unit=self.codec.options.unit, gaps=gaps)
        return cut.prepare(read, {})

    def samples(self, data: Source, labelled: bool = True) -> Samples:
        """The sequences in numbers, with what they are conditioned on."""
        return self.codec.encode(self.data(data), labelled)

    def conclude(
        self, lesson: AutoencodeLesson, valid: Sequences | None, asked: Any
    ) -> Iterator[str]:
        """How frequent labels are, where vectors lie, and whether they are used."""
        conditions = self.codec.conditions
        self.metrics["shares"] = {}
        for (name, labels), column in zip(conditions.items(), lesson.train.labels.T, strict=True):
            counts = np.bincount(column, minlength=labels.size)
            self.metrics["shares"][name] = (counts / counts.sum()).tolist()
        if not self.latent:
            return
        given = " given its vector" if self.plain else " with the vector's included"
        self.metrics["per"] = "nats per symbol" + given
        train = lesson.train
        some = train.take(evenly(train.x.lengths, MOST_LEARNED, MOST_READ_AGAIN))
        for what in passing("looking at the vectors", ("where they lie", "what they say")):
            if what == "what they say":
                self.metrics["report"] = report(self.model, lesson.valid)
            else:
                mean, _ = vectors(self.model, some)
                known = {"mean": mean.mean(0).tolist(), "deviation": mean.std(0).tolist()}
                self.metrics["vectors"] = known
        yield self.metrics["report"]["words"]

    def kept(self) -> Shape:
        """A share for each label of each condition, and where vectors lie."""
        conditions, wide = self.codec.conditions.items(), self.latent
        shares = {name: shapes.shares(labels.size) for name, labels in conditions}
        needed = {"shares": shapes.table(shares)} if shares else {}
        places = {
            "mean": shapes.listed(shapes.real(-1e30, 1e30), wide, wide),
            "deviation": shapes.listed(shapes.real(0, 1e30), wide, wide),
        }
        needed |= {"vectors": shapes.table(places)} if wide else {}
        return shapes.table(needed, others=shapes.plain)

    # -- from sequences to vectors and labels
    def embed(self, data: Source) -> Record:
        """A vector for each sequence, beside its text and its label where it has them."""
        self.needs_vectors()
        given = self.data(data)
        mean, _ = vectors(self.model, self.codec.encode(given, labelled=False))
        items = [{"vector": row.tolist()} | self.told_of(given, s) for s, row in enumerate(mean)]
        return self.record("vectors", items=items)

    def told_of(self, data: Sequences, s: int) -> dict[str, Any]:
        """What a person would call a sequence of the data by."""
        told = {} if self.codec.numeric else {"text": str(sequence(data, s))}
        if "label" in data.fields and data.field("label") is not data.main:
            label = data.field("label").raw(s)
            told["label"] = " ".join(label) if isinstance(label, list) else str(label)
        return told

    def reconstruct(self, data: Source) -> Record:
        """Each sequence as it was, and written again from its vector, with the conditions that the
        data have."""
        self.needs_vectors()
        given = self.data(data)
        samples = self.codec.encode(given)
        mean, _ = vectors(self.model, samples)
        again = self.write(mean, samples.labels, self.greedy())
        items = [each | {"original": listed(given, s)} for s, each in enumerate(again)]
        return self.record("reconstructions", items=items)

    def predict(self, data: Source, *, top: int = 5) -> Record:
        """The label of each sequence, by Bayes' rule, of models conditioned on one."""
        if not self.codec.conditions:
            raise ConfigError(
                "this model was conditioned on no labels, and so finds none",
                got=self.spec,
                do="Fit one with --condition label; vectors are given by `embed`",
            )
        posterior = self.posterior(self.samples(data, labelled=False))
        ((_, labels),) = self.codec.conditions.items()
        return self.record(
            "predictions", items=[likeliest(row, labels.names, top) for row in posterior]
        )

    def posterior(self, samples: Samples, draws: int = DRAWS) -> np.ndarray:
        """(S, N) log-probability of each label of the condition."""
        if len(self.codec.conditions) != 1 or self.plain:
            raise ConfigError(
                "a label is found by models of one --condition, with a probability for each "
                "sequence",
                got=f"conditions: {', '.join(self.codec.conditions) or 'nothing'}",
                do="Fit one with --condition label, and --latent 0 or variational",
            )
        ((name, labels),) = self.codec.conditions.items()
        shares = self.metrics["shares"][name]
        columns = []
        for number, share in zip(range(labels.size), shares, strict=True):
            told = Samples(samples.x, np.full((len(samples), 1), number))
            columns.append(likelihood(self.model, told, draws) + math.log(max(share, 1e-12)))
        joint = np.stack(columns, 1)
        return joint - np.logaddexp.reduce(joint, 1, keepdims=True)

    def neighbours(self, data: Source, *, to: str | np.ndarray = "", top: int = 5) -> Record:
        """The sequences of the data whose vectors point most nearly as another's does, with the
        cosines: that of a text; of numbers the sequence of the data with this number, or an
        array."""
        if isinstance(to, str) and not to:
            raise ConfigError(
                "neighbours of what?", do="Give a text with --to, or the number of a sequence"
            )
        others = self.data(data)
        named = self.codec.numeric and isinstance(to, str)
        mine = self.vector_of(chosen(others, to) if named and isinstance(to, str) else to)
        found, _ = vectors(self.model, self.codec.encode(others, labelled=False))
        lengths = np.linalg.norm(found, axis=1) * np.linalg.norm(mine)
        cosine = found @ mine / np.maximum(lengths, 1e-12)  # (S,)
        nearest = np.argsort(-cosine, kind="stable")[:top].tolist()
        items = [{"sequence": self.shown(others, s), "cosine": float(cosine[s])} for s in nearest]
        notes = self.unknown_in([to] if isinstance(to, str) and not named else [])
        return self.record("neighbours", items=items, notes=notes)

    def shown(self, data: Sequences, s: int) -> str | int:
        """A sequence of the data as a person would write it; of numbers its place, counted from
        1."""
        return s + 1 if self.codec.numeric else str(sequence(data, s))

    def vector_of(self, text: str | np.ndarray) -> np.ndarray:
        """(L,) of one sequence."""
        self.needs_vectors()
        moves, written = self.codec.moves, self.codec.text
        if moves is not None and not isinstance(text, str):
            x = moves.encode(Field.of_numbers([text]))
        elif written is not None and isinstance(text, str):
            x = written.encode(Field.of_text([text]))
        else:
            raise ConfigError(
                "this is not a sequence of the kind the model reads",
                got=repr(text)[:60],
                do="Give a text"
                if moves is None
                else "Give an array of numbers, or the number of a sequence of a file",
            )
        none = np.zeros((1, len(self.codec.conditions)), np.int64)
        return vectors(self.model, Samples(x, none))[0][0]

    def needs_vectors(self) -> None:
        """Refuse what a model without vectors cannot do."""
        if not self.latent:
            raise ConfigError(
                "this model has no vectors",
                got=f"{self.spec} with latent 0",
                do="Fit gru, lstm or transformer, or add --latent 32",
            )

    # -- from vectors and labels to sequences
    def write(
        self,
        latents: np.ndarray,
        labels: np.ndarray,
        plan: Plan,
        begun: list[np.ndarray] | None = None,
        prompt: str = "",
    ) -> list[Item]:
        """(R, L) vectors and (R, G) labels -> R sequences, each with its own dice."""
        return write(self.model, self.codec, latents, labels, plan, begun, prompt)

    def greedy(self) -> Plan:
        """The likeliest at every step."""
        return plan_of(self.codec, WritingOptions, GREEDY, "reconstruct")

    def condition_labels(self, label: str, rows: int, seed: int) -> np.ndarray:
        """(R, G) the labels that are asked for, as "spam" or "author=Poe,style=verse"; others drawn
        as often as they were in training."""
        asked = self.asked_labels(label)
        columns = []
        for place, (name, labels) in enumerate(self.codec.conditions.items()):
            if name in asked:
                columns.append(np.full(rows, self.codec.number_of(name, asked[name])))
                continue
            dice = [np.random.default_rng([seed + i, place]) for i in range(rows)]
            shares = self.metrics["shares"][name]
            columns.append(np.array([each.choice(labels.size, p=shares) for each in dice]))
        return np.stack(columns, 1).astype(np.int64) if columns else np.zeros((rows, 0), np.int64)

    def asked_labels(self, label: str) -> dict[str, str]:
        """The labels that are asked for by the fields they belong to."""
        conditions = list(self.codec.conditions)
        if not label:
            return {}
        if not conditions:
            raise ConfigError(
                "this model was conditioned on no labels in training",
                got=label,
                do="Fit one with --condition, and the name of the field",
            )
        asked = {conditions[0]: label}
        if "=" in label:
            pairs = (each.split("=", 1) for each in label.split(",") if "=" in each)
            asked = {name: value for name, value in pairs}
        unnamed = "," in label and "=" not in label and len(conditions) > 1
        if unnamed or any(name not in conditions for name in asked):
            raise ConfigError(
                "labels of several fields are named",
                got=label,
                do=f"Write {','.join(f'{name}=...' for name in conditions)}",
            )
        return asked

    def prior(self, rows: int, seed: int) -> np.ndarray:
        """(R, L) vectors drawn at random: from the prior; of plain models from a normal where those
        of the training data lie."""
        dice = (np.random.default_rng(seed + i) for i in range(rows))
        each = np.stack([one.standard_normal(self.latent) for one in dice])
        if self.plain:
            known = self.metrics["vectors"]
            each = np.array(known["mean"]) + each * np.array(known["deviation"])
        return each.astype(np.float32)

    def generate(self, prompt: str = "", **settings: Any) -> Record:
        """Sequences of vectors drawn at random, after a prompt. Settings: see `GenerateOptions`."""
        options = build(GenerateOptions, settings, "generate")
        prompt = one_text(prompt, "a prompt")
        count, label, seed = options.count, options.label, options.seed
        if self.codec.text is None and prompt:
            raise ConfigError(
                "drawings and numbers do not begin with text",
                got=prompt,
                do="Go on with one by `complete`",
            )
        single = bool(options.beam) and count > 1 and not self.latent
        plan = plan_of(self.codec, GenerateOptions, settings, "generate", many=single)
        if single:
            labels = self.condition_labels(label, 1, seed)
            items = best_texts(self.model, self.codec, labels, plan, prompt)
        else:
            begun = None
            if prompt and self.codec.text is not None:
                begun = [self.codec.text.encode_text(prompt)] * count
            labels = self.condition_labels(label, count, seed)
            items = self.write(self.prior(count, seed), labels, plan, begun, prompt)
        items = [{"prompt": prompt} | each for each in items]
        notes = self.unknown_in([prompt])
        return self.record("generated", label=label or None, items=items, notes=notes)

    def interpolate(self, data: Source, **settings: Any) -> Record:
        """Sequences on the way from one to another of the data; with four `ends` a grid of count x
        count, row by row, between its corners. Settings: see `InterpolateOptions`."""
        options = build(InterpolateOptions, settings, "interpolate")
        sequences = self.data(data)
        numbers = [each.strip() for each in options.ends.split(",")] if options.ends else ["1", "2"]
        if len(numbers) not in (2, 4) or len(sequences) < 2:
            raise ConfigError(
                "the way leads between two sequences, or a grid between four",
                got=f"{len(numbers)} ends, {len(sequences)} sequences",
                do="Name two or four by their numbers, such as --ends 1,2",
            )
        ends = [chosen(sequences, number) for number in numbers]
        corners, count = np.stack([self.vector_of(end) for end in ends]), options.count
        latents = line(corners[0], corners[1], count)  # (count, L)
        if len(ends) == 4:
            pairs = zip(latents, line(corners[2], corners[3], count), strict=True)
            latents = np.concatenate([line(a, b, count) for a, b in pairs])
        labels = self.condition_labels(options.label, 1, options.seed)
        plan = plan_of(self.codec, InterpolateOptions, GREEDY | settings, "interpolate")
        items = self.write(latents, np.repeat(labels, len(latents), 0), plan)
        return self.record(
            "interpolation",
            label=options.label or None,
            columns=count if len(ends) == 4 else None,
            items=items,
            notes=self.unknown_in([end for end in ends if isinstance(end, str)]),
        )

    def analogy(self, text: str, *, of: Source = "", **settings: Any) -> Record:
        """Vectors added and subtracted: "the cat sleeps - the cat + the dog"; or "1 - 2 + 3", where
        the numbers name sequences of the data `of`. Settings: see `CombineOptions`."""
        options = build(CombineOptions, settings, "analogy")
        named = not isinstance(of, str) or bool(of)
        sequences = self.data(of) if named else None
        latent = np.zeros(self.latent, np.float32)
        parts = terms(text)
        for sign, part in parts:
            vector = self.vector_of(part if sequences is None else chosen(sequences, part))
            latent = latent + vector if sign == "+" else latent - vector
        plan = plan_of(self.codec, CombineOptions, GREEDY | settings, "analogy")
        labels = self.condition_labels(options.label, 1, 0)
        return self.record(
            "analogy",
            label=options.label or None,
            items=self.write(latent[None].astype(np.float32), labels, plan),
            notes=[] if named else self.unknown_in([part for _, part in parts]),
        )

    def complete(self, data: Source, **settings: Any) -> Record:
        """Go on with the first part of a sequence of numbers: with a vector, that of what is there.
        Settings: see `CompleteOptions`."""
        options = build(CompleteOptions, settings, "complete")
        moves, count = self.codec.moves, options.count
        if moves is None:
            raise ConfigError(
                "sequences of numbers are completed",
                got=f"a model of {self.codec.unit}s",
                do="Of text, the prompt of `generate` is the beginning",
            )
        numbers = np.asarray(chosen(self.data(data), str(options.number)))
        begin = numbers[: max(1, round(options.part * len(numbers)))]
        rows = moves.encode(Field.of_numbers([begin])).row(0).copy()
        rows[-1, -1] = begin[-1, -1] if moves.pen else 0  # it is not over yet
        latents = np.zeros((count, 0), np.float32)
        if self.latent:
            latents = np.repeat(self.vector_of(begin)[None], count, 0)
        labels = self.condition_labels(options.label, count, options.seed)
        plan = plan_of(self.codec, CompleteOptions, settings, "complete")
        items = self.write(latents, labels, plan, [rows] * count)
        return self.record("completion", label=options.label or None, begun=len(rows), items=items)

    def unknown_in(self, texts: list[str]) -> list[str]:
        """A note on the symbols of some texts that the model does not know."""
        pieces = (symbol for text in texts for symbol in self.codec.pieces_of(text))
        unknown = dict.fromkeys(each for each in pieces if each not in self.codec.number)
        return [f"the model does not know {', '.join(map(repr, unknown))}"] if unknown else []

    # -- figures
    def score(self, data: Source) -> Record:
        """For each sequence its log-probability, estimated from below where there is a vector."""
        if self.plain:
            raise ConfigError(
                "a plain autoencoder gives sequences no probability",
                do="Fit it with --variational true, or use `evaluate`",
            )
        samples = self.samples(data)
        found = likelihood(self.model, samples, DRAWS)
        ends = 0 if self.codec.numeric else 1
        items = [
            {
                "log_prob": float(value),
                "tokens": int(length) + ends,
                "unknown": self.codec.unknown(samples.take(slice(s, s + 1))),
            }
            for s, (value, length) in enumerate(zip(found, samples.x.lengths, strict=True))
        ]
        return self.record("scores", by=self.by, items=items)

    def measure(self, data: Source, **options: Any) -> Measured:
        """What each sequence costs, and what is written again. Options: see
        `LikelihoodOptions`."""
        asked = build(LikelihoodOptions, options, "evaluate")
        return metrics.measure(self, self.data(data), asked.draws)

    def summarise(self, measured: Measured) -> Record:
        """Nats per symbol, what the vectors say, and how well sequences are written again."""
        return metrics.summarise(self, measured)

    def row(self, measured: Measured) -> dict[str, Any]:
        """A row of a comparison."""
        if self.plain:
            raise ConfigError(
                "a plain autoencoder has no likelihood to be compared by",
                do="Compare variational ones, and `evaluate` the plain ones",
            )
        return metrics.row(self, measured)

    def value(self, measured: Measured, figure: Figure) -> float | None:
        """A figure of what was measured; a plain autoencoder is told apart by what it writes again."""
        found: float | None = metrics.row(self, measured)[figure.key]
        return found

    def sample(self, test: Sequences) -> str | None:
        """The beginning of a text it writes."""
        if self.codec.numeric:
            return None
        return str(self.generate(seed=1)["items"][0]["text"])[:SAMPLE_CHARACTERS]


def likeliest(row: np.ndarray, names: list[str], top: int) -> Item:
    """(N,) log-probabilities -> the likeliest labels."""
    order = np.argsort(-row, kind="stable").tolist()
    return {
        "label": names[order[0]],
        "probabilities": [
            {"label": names[i], "probability": float(np.exp(row[i]))} for i in order[:top]
        ],
    }


def line(first: np.ndarray, last: np.ndarray, count: int) -> np.ndarray:
    """(L,), (L,) -> (count, L) from one to the other in equal steps."""
    way = np.linspace(0, 1, count, dtype=np.float32)[:, None]
    return first + way * (last - first)


def terms(expression: str) -> list[tuple[str, str]]:
    """The signs and texts of "a - b + c"."""
    parts = re.split(r"\s([+-])(?:\s|$)", f" + {expression.strip()}")[1:]
    if not all(text.strip() for text in parts[1::2]):
        raise ConfigError(
            "an empty text is added or subtracted",
            got=repr(expression),
            do='Write it as "one text - another + a third"',
        )
    return [(sign, text.strip()) for sign, text in zip(parts[::2], parts[1::2], strict=True)]


def sequence(data: Sequences, s: int) -> str | np.ndarray:
    """A sequence of the data: a text, or numbers."""
    raw = data.main.raw(s)
    return " ".join(raw) if isinstance(raw, list) else raw


def listed(data: Sequences, s: int) -> str | list[list[float]]:
    """The same as JSON has it."""
    raw = sequence(data, s)
    return raw if isinstance(raw, str) else raw.tolist()


def chosen(data: Sequences, number: str) -> str | np.ndarray:
    """The sequence of the data with this number, counted from 1."""
    if not number.isdigit():
        raise ConfigError(
            "sequences of the data are named by their numbers",
            got=number,
            do="Give numbers, counted from 1",
        )
    if not 1 <= int(number) <= len(data):
        raise DataError(
            f"{data.origin} has no sequence {number}",
            got=f"{len(data):,} sequences",
            do="They are counted from 1",
        )
    return sequence(data, int(number) - 1)
