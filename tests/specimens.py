"""A small, fitted model of every rung of every room, and the room's own batches for it.

A `Specimen` is what `tests/conformance.py` asks: a model, made again on demand, batches of its room
and what the model says about them. A new rung of a card is here by itself; a variant is a row.
Shapes: B rows, T time or answers, V symbols.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import seriatim as st
from seriatim.batches import Batch, empty, prompts
from seriatim.codecs.brackets import brackets_in
from seriatim.codecs.options import CodecOptions
from seriatim.codecs.symbols import STOP
from seriatim.data.sequences import NUMBERS, SYMBOLS, Field, Sequences, offsets_of
from seriatim.decoding.decode import decode
from seriatim.decoding.options import DecodingOptions
from seriatim.distributions.chains import Chain
from seriatim.distributions.numbers import Density
from seriatim.distributions.symbols import Bernoulli, Distribution
from seriatim.measuring.likelihood import score, score_lines, score_stream
from seriatim.models.base import Model
from seriatim.models.ladder import create
from seriatim.models.options import NetworkOptions
from seriatim.models.reader import Reader
from seriatim.models.recipe import TrainingOptions
from seriatim.models.stack import by_trees
from seriatim.runs.predictor import Predictor
from seriatim.tasks import task as room
from seriatim.tasks.autoencode.codec import Samples, of_samples
from seriatim.tasks.autoencode.likelihood import likelihood
from seriatim.tasks.forecast.backtest import forecast
from seriatim.tasks.forecast.codec import SeriesCodec, of_windows
from seriatim.tasks.forecast.options import BacktestOptions
from seriatim.tasks.labels.answers import answers, estimates
from seriatim.tasks.labels.codec import Examples, LabelCodec, of_examples
from seriatim.tasks.marks.codec import MarksCodec
from seriatim.tasks.marks.metrics import logits_of
from seriatim.tasks.sets.codec import of_sets, set_prompts
from seriatim.tasks.sets.metrics import score_sets
from seriatim.tasks.translate.codec import EncodedPairs, of_pairs
from seriatim.tasks.translate.metrics import score_pairs
from seriatim.training.optimisers import make_optimiser
from tests import forecasters, ladder
from tests.conftest import symbols
from tests.labels import labelled, messages, pairs, sentences, tagged, tags_of
from tests.pretrained import encoder

MANY = 4000  # samples that are drawn


def values(distribution: Distribution, y: Tensor | None = None) -> Tensor:
    """What a distribution says, to be compared: log-probabilities, logits of sets, marginals of
    chains, and of densities that of y."""
    if isinstance(distribution, Chain):
        return distribution.log_marginals().double()
    if isinstance(distribution, Bernoulli):
        return distribution.logits.double()
    if isinstance(distribution, Density):
        return distribution.log_prob(y).double()
    return distribution.log_probs().double()


def alike(a: Tensor, b: Tensor, tolerance: float = 2e-5) -> bool:
    """The same up to rounding."""
    return a.shape == b.shape and bool(
        torch.allclose(a.double(), b.double(), atol=tolerance, rtol=tolerance, equal_nan=True)
    )


class Specimen:
    """One model of a room."""

    task: str
    rows = 5  # of its batch
    noise = 0.3  # added to the weights, so that they are not small
    learning: dict[str, Any] = {}  # settings under which it learns by heart
    rounds, rate, goal = 150, 1e-2, 0.2
    quick: dict[str, Any] = {"updates": 2, "threads": 1}  # a fit of a run

    def __init__(self, name: str, spec: str, settings: dict[str, Any], variant: bool = True):
        self.name, self.spec, self.settings, self.variant = name, spec, settings, variant

    def __repr__(self) -> str:
        return f"{self.task}: {self.name}"

    @property
    def parts(self) -> list:
        return room(self.task).parts(self.spec, {})

    @property
    def counts(self) -> bool:
        """Whether nothing of it is trained by gradients."""
        return all(part.counts for part in self.parts)

    @property
    def network(self) -> bool:
        """Whether all of it is."""
        return not any(part.counts for part in self.parts)

    def known(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Those of the settings that a part has."""
        return {
            key: value
            for key, value in settings.items()
            if any(hasattr(part.options, key) for part in self.parts)
        }

    # -- the model
    sizes: tuple = ()

    def made(self, **more: Any) -> Model:
        """Untrained."""
        parts = room(self.task).parts(self.spec, self.known(self.settings | more))
        return create(parts, *self.sizes, mixture=room(self.task).mixture)

    def count(self, part: Model) -> None:
        """Let a part count the room's data."""
        raise NotImplementedError

    def learned(self) -> Model:
        """Counts are counted, weights are random but not small."""
        torch.manual_seed(0)
        model = self.made()
        for part in model.parts:
            if isinstance(part, nn.Module):
                part.eval()
                for parameter in part.parameters():
                    parameter.data += self.noise * torch.randn_like(parameter)
            else:
                self.count(part)
        return model

    @cached_property
    def model(self) -> Model:
        return self.learned()

    def reborn(self) -> Model:
        """Made again, with the arrays of the model."""
        again = self.made()
        again.load_arrays({key: array.clone() for key, array in self.model.arrays().items()})
        return asking(again)

    # -- batches
    def batch(self, rows: Sequence[int] | None = None) -> Batch:
        """The room's own batch, or some of its rows by themselves."""
        raise NotImplementedError(f"{self.task} has no batches")

    def ragged(self) -> Batch:
        """A batch whose rows are padded."""
        return self.batch()

    def repadded(self, batch: Batch) -> Batch:
        """The same batch with something else in its padding."""
        raise NotImplementedError(f"batches of {self.task} are not padded")

    def real(self, batch: Batch) -> Tensor:
        """(B, T) where there is an answer."""
        return batch.y_mask

    def distribution(self, model: Model, batch: Batch) -> Distribution:
        """Every answer at once."""
        return model.predict(batch)

    def worth(self, model: Model, batch: Batch) -> Tensor:
        """The mean log-probability of what counts; of tags that are judged together, (B,) rows."""
        log_prob = self.distribution(model, batch).log_prob(batch.y).double()
        total = log_prob.sum() if log_prob.ndim == 1 else log_prob[batch.y_mask].sum()
        return total / batch.y_mask.sum()

    @torch.no_grad()
    def said(self, model: Model, batch: Batch) -> Tensor:
        """(B, T, ...) what the model says about a batch."""
        return values(self.distribution(model, batch), batch.y)

    # -- step by step
    def outputs(self, batch: Batch) -> Tensor:
        """(R, T, ...) what is given step by step."""
        return batch.y

    def whole(self, model: Model, batch: Batch) -> Tensor:
        """(R, T, ...) what is said of the outputs all at once."""
        return self.said(model, batch)

    def prompted(self) -> tuple[Batch, list[Batch]]:
        """Conditions of different lengths in one batch, and each by itself."""
        return self.ragged(), [self.batch([row]) for row in range(self.rows)]

    # -- the rest of the room
    def future(self) -> tuple[Tensor, Tensor]:
        """What is said up to a moment, of two batches that differ only after it."""
        batch, time = self.batch(), self.batch().y.shape[1] // 2
        other = batch.y.clone()
        other[:, time:] = batch.y[:, time:].flip(0)
        # of a density only what it says of y is compared, and there y differs
        last = time + (not isinstance(self.distribution(self.model, batch), Density))
        return tuple(
            self.whole(self.model, each)[:, :last] for each in (batch, replace(batch, y=other))
        )

    def at_once(self) -> tuple[Tensor, Tensor]:
        """A corpus scored at once, and row by row."""
        raise NotImplementedError(f"{self.task} scores no corpus")

    def nothing(self) -> Tensor:
        """What is said about sequences of nothing."""
        raise NotImplementedError(f"{self.task} is not asked about sequences")

    def drawn(self) -> tuple[Tensor, Tensor]:
        """How often each was drawn of MANY samples, and how often it should be."""
        raise NotImplementedError(f"{self.task} draws nothing")

    # -- fits
    def optimiser(self, model: Model) -> torch.optim.Optimizer:
        return make_optimiser(model, TrainingOptions(rate=self.rate, weight_decay=0.0))

    def lesson(self) -> Batch:
        """What is learned by heart."""
        return self.batch()

    def trained(self, seed: int) -> dict[str, Tensor]:
        """The arrays after two steps of training, or after counting."""
        torch.manual_seed(seed)
        model = self.made()
        for part in model.parts:
            if isinstance(part, nn.Module):
                optimiser = self.optimiser(part)
                for _ in range(2):
                    optimiser.zero_grad()
                    part.loss(self.batch())[0].backward()
                    optimiser.step()
            else:
                self.count(part)
        return model.arrays()

    def data(self) -> Any:
        """What a run is fitted on."""
        raise NotImplementedError

    def fit(self, out: Any) -> Predictor:
        """A run, fitted for a moment."""
        quick = {} if self.counts else self.quick
        return st.fit(
            self.task, self.spec, self.data(), out=out, **self.known(self.settings), **quick
        )

    def records(self, predictor: Predictor) -> list[Any]:
        """What a run says."""
        return [predictor.predict(self.data())]


def asking(model: Model) -> Model:
    """The model, not in training."""
    for part in model.parts:
        if isinstance(part, nn.Module):
            part.eval()
    return model


def shares(drawn: Tensor, many: int) -> Tensor:
    """How often each of so many was drawn."""
    return torch.bincount(drawn.reshape(-1).long(), minlength=many).double() / drawn.numel()


def some_lines() -> Sequences:
    """Forty short lines, all different."""
    dice = np.random.default_rng(0)
    rows = {"".join(dice.choice(list("abc "), dice.integers(3, 9))).strip() for _ in range(60)}
    return Sequences.of(sorted(rows)[:40], by="line")


# Language


class LanguageSpecimen(Specimen):
    """Rows of seven symbols."""

    task, sizes, time = "language", (ladder.VOCABULARY,), 17
    learning = {"width": 32, "dropout": 0.0, "context": 16}
    rounds = 300

    def made(self, **more: Any) -> Model:
        settings = ladder.settings_for(self.name) | self.known(more)
        return create(ladder.parts_of(self.spec, settings), ladder.VOCABULARY)

    def learned(self) -> Model:
        return ladder.small_model(self.name)

    def count(self, part: Model) -> None:
        part.count(ladder.training(), stop=True)

    def batch(self, rows=None) -> Batch:
        return self.of(ladder.random_rows(self.rows, self.time)[list(rows or range(self.rows))])

    def of(self, y: Tensor, mask: Tensor | None = None) -> Batch:
        every = torch.ones_like(y, dtype=torch.bool)
        lengths = torch.zeros(len(y), dtype=torch.long)
        return Batch(empty(len(y)), lengths, y, every if mask is None else mask)

    def ragged(self) -> Batch:
        mask = torch.arange(self.time) < torch.tensor([17, 4, 9, 1, 12])[:, None]
        return self.of(ladder.random_rows(self.rows, self.time), mask)

    def repadded(self, batch: Batch) -> Batch:
        return replace(batch, y=batch.y.where(batch.y_mask, ladder.random_rows(5, 17, seed=1)))

    def lesson(self) -> Batch:
        return self.of(ladder.random_rows(4, 12))

    def prompted(self) -> tuple[Batch, list[Batch]]:
        y = self.batch().y.numpy()
        rows = [y[row, :length] for row, length in enumerate((0, 3, 9, 16, 12))]
        return prompts(rows), [prompts([row]) for row in rows]

    def at_once(self) -> tuple[Tensor, Tensor]:
        found: list[list[np.ndarray]] = [[], []]
        for by, lengths in (("line", (7, 0, 1, 12)), ("stream", (300,))):
            ids = symbols(
                np.random.default_rng(each).integers(0, ladder.VOCABULARY, each) for each in lengths
            )
            with torch.no_grad():
                walked = (score_lines if by == "line" else score_stream)(self.model, ids)
            found[0].append(score(self.model, ids, by).values)
            found[1].append(walked.values)
        return tuple(torch.from_numpy(np.concatenate(each)) for each in found)

    @torch.no_grad()
    def nothing(self) -> Tensor:
        none = np.zeros(0, np.int64)
        first = values(self.model.start(prompts([none, none]))[0])
        line = torch.from_numpy(score(self.model, symbols([none]), "line").values)
        return torch.cat([first.reshape(-1), line.double()])

    def drawn(self) -> tuple[Tensor, Tensor]:
        return decoded(self.model, prompts([ladder.random_rows(1, 4)[0].numpy()]))

    def data(self) -> Any:
        return some_lines()

    def records(self, predictor: Predictor) -> list[Any]:
        return [predictor.score(self.data()), predictor.generate("ab", length=5, seed=2)]


def decoded(model: Model, batch: Batch) -> tuple[Tensor, Tensor]:
    """What decoding draws first, and what is expected first."""
    results = decode(model, batch, DecodingOptions(length=1, count=MANY, seed=5))[0]
    with torch.no_grad():
        p = values(model.start(batch)[0])[0].exp()
    return shares(torch.tensor([each.symbols[0] for each in results]), len(p)), p


# Labels, tags and values


STRANGE = "Zebra " * 12 + "the dog"
TEXTS = labelled([*pairs(14), ("ham", ""), ("work", STRANGE), ("spam", "NOW")])
WORDS = [
    ["the", "dog"],
    [],
    STRANGE.split(),
    *(
        row.split()
        for row in (
            "the run",
            "walk the dog quickly",
            "Mum sees old dog",
            "talk",
            "a walk",
            "a dog",
        )
    ),
] + [["run"] * n for n in range(1, 9)]
TOKENS = tagged(
    WORDS, [tags_of([word if word != "Zebra" else "Mum" for word in row]) for row in WORDS]
)
TARGETS = {"classify": "label", "tag": "tags", "regress": "value", "marks": "labels"}


def listed(data: Sequences) -> Sequences:
    """The same texts, each with the labels that are true of it."""
    texts = [str(data.field("text").raw(s)) for s in range(len(data))]
    marks = [[name for name in ("a", "e", "i") if name in text] for text in texts]
    return Sequences({"text": data.field("text"), "labels": Field.of_symbols(marks)})


CODECS: dict[str, type[LabelCodec]] = dict.fromkeys(TARGETS, LabelCodec) | {"marks": MarksCodec}


def valued(data: Sequences) -> Sequences:
    """The same texts, each with a value: how long it is, and where it stands."""
    lengths = data.field("text").lengths
    cells = [[float(length) / 10 + s % 3] for s, length in enumerate(lengths)]
    return Sequences({"text": data.field("text"), "value": Field.of_numbers(cells)})


def measured_numbers(task: str, several: int = 1) -> Sequences:
    """Seventeen sequences of three channels, one of them empty; of values each has `several`."""
    dice = np.random.default_rng(1)
    rows = [dice.standard_normal((length, 3)) for length in (0, 1, 2, 30, *range(3, 16))]
    if task == "tag":
        said = Field.of_symbols(dice.choice(["a", "b", "c"], len(row)).tolist() for row in rows)
    elif task == "classify":
        said = Field.of_labels(dice.choice(["a", "b"], 17))
    elif task == "marks":
        said = Field.of_symbols(dice.choice(["a", "b", "c"], dice.integers(0, 4)) for _ in rows)
    else:
        said = Field.of_numbers(dice.standard_normal((17, several)))
    return Sequences({"values": Field.of_numbers(rows), TARGETS[task]: said})


def bracketed(data: Sequences) -> Sequences:
    """The same texts as trees: all of it in brackets, and so are some of its words."""

    def tree(text: str) -> str:
        words = text.split()
        inner = " ".join(
            f"( {' '.join(words[i : i + 3])} )" if i % 2 else " ".join(words[i : i + 3])
            for i in range(0, len(words), 3)
        )
        return f"( {inner} )" if words else text

    texts = data.field("text")
    fields = {"text": Field.of_text(tree(str(texts.raw(s))) for s in range(len(data)))}
    return replace(data, fields=data.fields | fields)


@cache
def data_of(
    task: str, numbers: bool = False, several: int = 1, trees: bool = False
) -> tuple[LabelCodec, Sequences, Sequences]:
    """A codec, its training data, and seventeen sequences that it has not seen (numbers: the same):
    one of them empty, of words one long and full of unknown ones."""
    if numbers:
        data = measured_numbers(task, several)
        return CODECS[task].fit(data, CodecOptions(), TARGETS[task]), data, data
    if task == "tag":
        train, data, unit = sentences(40), TOKENS, "token"
    else:
        train, data, unit = messages(40, seed=1), TEXTS, "word"
        if task == "regress":
            train, data = valued(train), valued(data)
        if task == "marks":
            train, data = listed(train), listed(data)
    if trees:
        train, data = bracketed(train), bracketed(data)
    return CODECS[task].fit(train, CodecOptions(unit=unit), TARGETS[task]), train, data


class LabelSpecimen(Specimen):
    """Seventeen sequences of words or of numbers."""

    rows = 17
    learning = {"dropout": 0.0, "word_dropout": 0.0, "width": 16, "layers": 1}
    rounds, rate, goal = 100, 0.04, 0.05
    settings_of_all = {
        "width": 8,
        "layers": 2,
        "heads": 2,
        "context": 64,
        "kernel": 3,
        "dropout": 0.3,
        "word_dropout": 0.3,
        "embedding": 6,
        "letter_width": 4,
    }

    def __init__(
        self, task: str, name: str, spec: str, own: dict, variant=True, numbers=False, several=1
    ):
        folder = {"pretrained": encoder()} if spec == "pretrained" else {}
        super().__init__(name, spec, self.settings_of_all | folder | own, variant)
        self.task, self.numbers = task, numbers
        self.codec, self.train, self.asked = data_of(task, numbers, several, spec == "tree")
        self.sizes = (self.codec.size, *self.codec.sizes)

    def made(self, **more: Any) -> Model:
        model = super().made(**more)
        for part in model.parts:
            if isinstance(part, nn.Module) and self.task == "tag":
                part.constrain(self.codec.labels.names)
            if getattr(part.options, "encoder", ""):
                torch.manual_seed(1)
                options = NetworkOptions(width=6, mixer="gru")
                part.read_by(Reader(self.codec.size, options, part.options.encoder_frozen))
        for each in by_trees(model):
            each.brackets = brackets_in(self.codec.text)
        return model

    @cached_property
    def examples(self) -> Examples:
        return self.codec.encode(self.asked)

    def count(self, part: Model) -> None:
        for _ in part.counting(self.codec.encode(self.train)):
            pass

    def batch(self, rows=None) -> Batch:
        return of_examples(self.examples, np.array(range(17) if rows is None else rows))

    def repadded(self, batch: Batch) -> Batch:
        padding = torch.arange(batch.x.shape[1]) >= batch.x_lengths.clamp(min=1)[:, None]
        if self.numbers:
            return replace(batch, x=torch.where(padding[..., None], 7.0, batch.x))
        words = None if batch.words is None else torch.where(padding, 2, batch.words)
        return replace(batch, x=torch.where(padding, 5, batch.x), words=words)

    def real(self, batch: Batch) -> Tensor:
        if self.task == "tag":
            return torch.arange(batch.x.shape[1]) < batch.x_lengths[:, None]
        return torch.ones(len(batch.x), 1, dtype=torch.bool)

    def distribution(self, model: Model, batch: Batch) -> Distribution:
        return model.unroll(batch)[0]

    @torch.no_grad()
    def said(self, model: Model, batch: Batch) -> Tensor:
        found = self.distribution(model, batch)
        if isinstance(found, Density):
            return torch.cat([found.mean(), found.log_prob(batch.y)[..., None]], -1).double()
        return values(found)

    def lesson(self) -> Batch:
        return self.batch([0, 3, 4, 5, 7, 8, 12, 13])

    def optimiser(self, model: Model) -> torch.optim.Optimizer:
        return torch.optim.Adam(model.parameters(), lr=self.rate)

    def future(self) -> tuple[Tensor, Tensor]:
        batch = self.batch([7, 16])
        t, x, words = int(batch.x_lengths[1]) // 2, batch.x.clone(), batch.words
        x[1, t:] = 5
        if words is not None:
            words = words.clone()
            words[1, t:] = batch.words[0, 0]
        other = replace(batch, x=x, words=words)
        return tuple(self.said(self.model, each)[1, :t] for each in (batch, other))

    def at_once(self) -> tuple[Tensor, Tensor]:
        batches = [self.batch([row]) for row in range(17)]
        alone = [self.said(self.model, each)[0][self.real(each)[0]] for each in batches]
        if self.task == "regress":
            mean, _ = estimates(self.model, self.examples)
            return torch.from_numpy(mean), torch.cat(alone)[:, :-1]
        found = answers(self.model, self.examples, self.task == "tag")
        with torch.inference_mode():
            assert abs(found.loss - float(asking(self.model).loss(self.batch())[0])) < 1e-5
            together = isinstance(self.distribution(self.model, self.batch()), Chain)
        assert together or np.array_equal(found.found, found.log_probs.argmax(1))
        return torch.from_numpy(found.log_probs), torch.cat(alone)

    def nothing(self) -> Tensor:
        if self.numbers:
            return self.said(self.model, self.batch([0]))
        if self.task == "tag":
            none = self.codec.encode(tagged([[], []], [[], []]))
        else:
            none = labelled([("ham", ""), ("spam", " ")])
            none = self.codec.encode(valued(none) if self.task == "regress" else none)
        if self.task == "regress":
            return torch.from_numpy(np.concatenate(estimates(self.model, none)))
        found = answers(self.model, none, self.task == "tag")
        assert len(found.found) == (0 if self.task == "tag" else 2)
        no_rows = self.codec.encode(self.asked[:0])
        assert answers(self.model, no_rows, self.task == "tag").loss == 0
        return torch.from_numpy(np.append(found.log_probs.reshape(-1), found.loss))

    def drawn(self) -> tuple[Tensor, Tensor]:
        with torch.no_grad():
            found = self.distribution(self.model, self.batch([3]))
            if isinstance(found, Density):
                return below_quantiles(found)
            drawn = found[torch.zeros(MANY, dtype=torch.long)].sample(
                torch.Generator().manual_seed(1)
            )
            p = values(found)[0, 0].exp()
        return shares(drawn[:, 0], len(p)), p

    def data(self) -> Any:
        return self.train

    def fit(self, out: Any) -> Predictor:
        quick = {} if self.counts else self.quick
        unit = {} if self.numbers or self.task == "tag" else {"unit": "word"}
        known = self.known(self.settings)
        if known.get("encoder"):  # by its name: the run of a language model of the same texts
            known["encoder"] = str(Path(out).with_name(known["encoder"]))
            texts, own = self.train.only("text"), {"width": 6, **self.quick, **unit}
            st.fit("language", "gru", texts, out=known["encoder"], **own)
        return st.fit(self.task, self.spec, self.train, out=out, **known, **quick, **unit)

    def records(self, predictor: Predictor) -> list[Any]:
        figures = predictor.evaluate(self.train)
        timeless = {key: value for key, value in figures.items() if "second" not in key}
        return [predictor.predict(self.train), timeless, repr(predictor)]


class MarkSpecimen(LabelSpecimen):
    """The same sequences, under a coin for each of three labels."""

    goal = 0.3

    def at_once(self) -> tuple[Tensor, Tensor]:
        alone = [self.said(self.model, self.batch([row]))[0, 0] for row in range(17)]
        return torch.from_numpy(logits_of(self.model, self.examples)), torch.stack(alone)

    def nothing(self) -> Tensor:
        if self.numbers:
            return self.said(self.model, self.batch([0]))
        none = self.codec.encode(listed(labelled([("ham", ""), ("spam", " ")])))
        return torch.from_numpy(logits_of(self.model, none))

    def drawn(self) -> tuple[Tensor, Tensor]:
        with torch.no_grad():
            found = self.distribution(self.model, self.batch([3]))
            drawn = found[torch.zeros(MANY, dtype=torch.long)].sample(
                torch.Generator().manual_seed(1)
            )
        return drawn[:, 0].double().mean(0), found.mean()[0, 0].double()


def below_quantiles(density: Density) -> tuple[Tensor, Tensor]:
    """The share of samples below some quantiles of the first place, and what it should be."""
    levels = torch.tensor([0.1, 0.3, 0.5, 0.7, 0.9])
    generator = torch.Generator().manual_seed(1)
    first = density[:1]
    drawn = torch.stack([first.sample(generator).reshape(-1)[0] for _ in range(MANY)])
    limits = first.quantile(levels).reshape(-1, len(levels))[0]
    return (drawn[:, None] < limits).double().mean(0), levels.double()


# Sets


ELEMENTS = 4


def random_sets(*lengths: int) -> Field:
    """Sets of four elements, some frequent and some rare."""
    dice = np.random.default_rng(len(lengths))
    drawn = (dice.random((sum(lengths), ELEMENTS)) < [0.1, 0.4, 0.6, 0.9]).astype(np.float32)
    return Field(drawn, np.concatenate([[0], np.cumsum(lengths)]), "numbers")


class SetSpecimen(Specimen):
    """Five sequences of eleven sets."""

    task, sizes, time = "sets", (ELEMENTS,), 11
    learning = {"dropout": 0.0, "width": 32, "context": 16}
    goal = 0.4  # nats for four coins; which row it is, only its first set tells

    def lesson(self) -> Batch:
        return self.batch([0, 1])

    def count(self, part: Model) -> None:
        part.count(random_sets(30, 7), stop=False)

    def batch(self, rows=None) -> Batch:
        sets = random_sets(*[self.time] * self.rows)
        return of_sets(sets, np.array(range(self.rows) if rows is None else rows))

    def ragged(self) -> Batch:
        return of_sets(random_sets(9, 3, 11, 1, 5), np.arange(5))

    def repadded(self, batch: Batch) -> Batch:
        return replace(batch, y=batch.y.where(batch.y_mask[..., None], 1 - batch.y))

    def prompted(self) -> tuple[Batch, list[Batch]]:
        y = self.batch().y.numpy()
        rows = [y[row, :length] for row, length in enumerate((0, 3, 9, 10, 1))]
        return set_prompts(rows), [set_prompts([row]) for row in rows]

    def future(self) -> tuple[Tensor, Tensor]:
        batch = self.batch()
        other = batch.y.clone()
        other[:, 6:] = 1 - other[:, 6:]
        return tuple(
            self.said(self.model, each)[:, :7] for each in (batch, replace(batch, y=other))
        )

    def at_once(self) -> tuple[Tensor, Tensor]:
        sets = random_sets(9, 3, 300, 1)
        found, alone, rows = score_sets(self.model, sets), [], []
        for row in range(4):
            batch = of_sets(sets, np.array([row]))
            with torch.no_grad():
                following = self.model.predict(batch)
            alone.append(following.log_prob(batch.y)[0])
            guessed, true = following.logits[0].numpy() > 0, sets.row(row) > 0
            rows.append(np.stack([guessed.sum(1), true.sum(1), (guessed & true).sum(1)]))
        counted = np.stack([found.found, found.true, found.right])
        assert np.array_equal(counted, np.concatenate(rows, 1))
        return torch.from_numpy(found.log_prob.values), torch.cat(alone)

    @torch.no_grad()
    def nothing(self) -> Tensor:
        return values(self.model.start(set_prompts([np.zeros((0, ELEMENTS), np.float32)] * 2))[0])

    def drawn(self) -> tuple[Tensor, Tensor]:
        with torch.no_grad():
            first = self.model.start(self.batch([2]))[0]
        drawn = first[torch.zeros(MANY, dtype=torch.long)].sample(torch.Generator().manual_seed(3))
        return drawn.double().mean(0), first.mean()[0].double().detach()

    def data(self) -> Any:
        ends = ("", " 60", " 64", " 67", " .", " 60+64", " 64+67", " . 60", " 67 67", " 72")
        rows = [first + end for first in ("60 60+64 . 64", "60+67 . . 67+72") for end in ends]
        return Sequences({"text": Field.of_text(rows)}, unit="token")

    def records(self, predictor: Predictor) -> list[Any]:
        return [predictor.score(self.data()), predictor.generate(length=5, seed=2)]


# Pairs


SOURCES = 9


def source_rows(seed: int = 0, count: int = 6) -> list[np.ndarray]:
    """Sources of one to eight symbols."""
    rng = np.random.default_rng(seed)
    return [rng.integers(0, SOURCES, rng.integers(1, 9)) for _ in range(count)]


def filled(x: Tensor, lengths: Tensor, value: int) -> Tensor:
    """(B, P) or (B, P, C) with another value in the padding."""
    real = torch.arange(x.shape[1]) < lengths[:, None]
    return x.where(real[..., None] if x.dim() > 2 else real, value)


class PairSpecimen(Specimen):
    """Six sources and their targets."""

    task, rows, noise = "translate", 6, 0.2
    learning = {"width": 32, "dropout": 0.0}
    goal = 0.05
    kinds = {"shared": (7, 7, 0, True), "numbers": (7, 0, 3, False)}

    def __init__(self, name: str, spec: str, settings: dict, variant: bool = True):
        super().__init__(name, spec, settings, variant)
        self.several = name.endswith("three sources")  # besides one of symbols and one of numbers
        self.sizes = self.kinds.get(name, (7, SOURCES, 0, False))
        if self.several:
            self.sizes = (*self.sizes, 0, ((SOURCES, 0), (0, 2)))

    def made(self, **more: Any) -> Model:
        model = super().made(**more)
        for each in by_trees(model):
            each.brackets = (7, 0)  # some with a partner, most without
        for part in model.parts:
            if getattr(part, "source_ngrams", None) is not None:
                pairs = EncodedPairs(symbols(source_rows(3, 200)), symbols([[0]] * 200))
                counted = of_pairs(pairs, np.arange(200))
                part.source_ngrams.count([(counted.x, counted.x_lengths)])
        return model

    def count(self, part: Model) -> None:
        rng = np.random.default_rng(0)
        pairs = EncodedPairs(
            symbols(rng.integers(0, SOURCES, rng.integers(1, 6)) for _ in range(40)),
            symbols(rng.integers(0, 7, rng.integers(0, 6)) for _ in range(40)),
        )
        for _ in part.counting_pairs(pairs):
            pass

    def source(self, rows: list[np.ndarray]) -> Field:
        """Rows of symbols, or for a model of numbers some numbers for each of them."""
        if self.name != "numbers":
            return symbols(row % (7 if self.name == "shared" else SOURCES) for row in rows)
        numbers = [
            np.random.default_rng(len(row)).normal(size=(len(row), 3)).astype(np.float32)
            for row in rows
        ]
        return Field(np.concatenate(numbers), offsets_of(map(len, numbers)), NUMBERS)

    @cached_property
    def pairs(self) -> EncodedPairs:
        rng = np.random.default_rng(0)
        targets = symbols(rng.integers(0, 7, (6, 6)))
        return EncodedPairs(self.source(source_rows()), targets, self.beside(source_rows(7)))

    def beside(self, rows: list[np.ndarray]) -> tuple[Field, ...]:
        """Further sources: other symbols, and sequences of two numbers."""
        if not self.several:
            return ()
        numbers = [np.stack([row, row[::-1]], 1).astype(np.float32) / 5 for row in rows[::-1]]
        steps = np.concatenate(numbers).reshape(-1, 2)
        return symbols(rows), Field(steps, offsets_of(map(len, numbers)), NUMBERS)

    def batch(self, rows=None) -> Batch:
        return of_pairs(self.pairs, np.array(range(6) if rows is None else rows))

    def repadded(self, batch: Batch) -> Batch:
        sources = [(batch.x, batch.x_lengths), *batch.also]
        (x, _), *also = [(filled(x, lengths, 3), lengths) for x, lengths in sources]
        return replace(batch, x=x, also=tuple(also))

    def at_once(self) -> tuple[Tensor, Tensor]:
        alone = [score_pairs(self.model, self.pairs.take(slice(s, s + 1))).values for s in range(6)]
        together = score_pairs(self.model, self.pairs).values
        return torch.from_numpy(together), torch.from_numpy(np.concatenate(alone))

    def nothing(self) -> Tensor:
        none = symbols([[STOP], [STOP]])  # every source of symbols has its end
        if self.name == "numbers":
            none = Field(np.zeros((0, 3), np.float32), np.zeros(3, np.int64), NUMBERS)
        also = (none, Field(np.zeros((0, 2), np.float32), np.zeros(3, np.int64), NUMBERS))
        pairs = EncodedPairs(none, symbols([[], []]), also if self.several else ())
        return self.said(self.model, of_pairs(pairs, np.arange(2)))

    def drawn(self) -> tuple[Tensor, Tensor]:
        batch = self.batch([0])
        return decoded(self.model, replace(batch, y=batch.y[:, :0], y_mask=batch.y_mask[:, :0]))

    def data(self) -> Any:
        dice = np.random.default_rng(0)
        rows = ["".join(dice.choice(list("abc"), dice.integers(1, 5))) for _ in range(30)]
        tree = self.settings.get("encoder_mixer") == "tree"
        given = [f"({row})" for row in rows] if tree else rows
        fields = {"source": Field.of_text(given), "target": Field.of_text(map(str.upper, rows))}
        return Sequences(fields, unit="character")


# Series


class SeriesSpecimen(Specimen):
    """Windows of two noisy channels."""

    task, rows = "forecast", 3
    learning = {"width": 32}
    rounds = 60

    def made(self, **more: Any) -> Model:
        return forecasters.made(self.name, **self.known(more))

    def learned(self) -> Model:
        torch.manual_seed(0)
        model = self.made()
        for part in model.parts:
            if isinstance(part, nn.Module):
                part.eval()
            else:
                self.count(part)
        return model

    @cached_property
    def codec(self) -> SeriesCodec:
        return SeriesCodec.fit(self.series, CodecOptions())

    @cached_property
    def series(self) -> Sequences:
        return forecasters.series(forecasters.noise(80, 2))

    def count(self, part: Model) -> None:
        for _ in part.fitting(self.codec.encode(self.series)):
            pass

    def windows(self, data: Sequences, rows: Sequence[int] | None = None) -> Batch:
        places = np.array([20, 33, 40])[list(range(3) if rows is None else rows)]
        return of_windows(self.codec.encode(data), places, 12, 5)

    def batch(self, rows=None) -> Batch:
        return self.windows(self.series, rows)

    @property
    def by_steps(self) -> bool:
        return "by steps" in self.name

    def real(self, batch: Batch) -> Tensor:
        return torch.ones(len(batch), 1, dtype=torch.bool)

    def distribution(self, model: Model, batch: Batch) -> Distribution:
        return model.judged(batch)[0]

    def outputs(self, batch: Batch) -> Tensor:
        return self.model.fold(batch.y)

    def worth(self, model: Model, batch: Batch) -> Tensor:
        found, y = model.judged(batch)
        return found.log_prob(y).double().sum() / y.numel()

    @torch.no_grad()
    def whole(self, model: Model, batch: Batch) -> Tensor:
        found, y = model.judged(batch)
        return found.log_prob(y).double()[:, 11:]

    @torch.no_grad()
    def said(self, model: Model, batch: Batch) -> Tensor:
        if self.by_steps:  # its paths share their throws, its densities do not
            return self.whole(model, batch).reshape(len(batch), 1, -1)
        mean, quantiles, _ = model.forecast(batch, 20, 0)
        return torch.cat([mean[..., None], quantiles], -1).double().reshape(len(batch), 1, -1)

    def future(self) -> tuple[Tensor, Tensor]:
        changed = forecasters.noise(80, 2)
        changed[40:] += 50.0
        found = []
        for data in (self.series, forecasters.series(changed)):
            mean, quantiles, _ = self.model.forecast(self.windows(data), 20, 0)
            assert mean.shape == (3, 5, 2) and quantiles.shape == (3, 5, 2, 21)
            found.append(torch.cat([mean[..., None], quantiles], -1))
        return tuple(found)

    def prompted(self) -> tuple[Batch, list[Batch]]:
        raise NotImplementedError("windows have one length")

    def at_once(self) -> tuple[Tensor, Tensor]:
        signals, options = self.codec.encode(self.series), BacktestOptions(begin="30")
        several = [np.array([30, 41, 55, 78]), *([place] for place in (30, 41, 55, 78))]
        found = [
            forecast(self.model, self.codec, signals, np.array(places), options)
            for places in several
        ]
        whole, *alone = (
            np.concatenate(
                [each[0].reshape(len(each[0]), -1), each[1].reshape(len(each[0]), -1)], 1
            )
            for each in found
        )
        return torch.from_numpy(whole), torch.from_numpy(np.concatenate(alone))

    def nothing(self) -> Tensor:
        """After one value, the least that a series has."""
        batch = of_windows(self.codec.encode(self.series), np.array([1]), 12, 5)
        return self.said(self.model, batch)

    def drawn(self) -> tuple[Tensor, Tensor]:
        with torch.no_grad():
            found = (
                self.model.start(self.batch())[0]
                if self.by_steps
                else self.model.spread(self.batch())
            )
        return below_quantiles(found)

    def optimiser(self, model: Model) -> torch.optim.Optimizer:
        return torch.optim.Adam(model.parameters(), self.rate)

    def data(self) -> Any:
        return self.series

    def fit(self, out: Any) -> Predictor:
        own = forecasters.SMALL | forecasters.NETWORKS.get(self.name, {})
        quick = {} if self.counts else self.quick | {"width": 8}
        return st.fit(self.task, self.spec, self.series, out=out, **self.known(own), **quick)

    def records(self, predictor: Predictor) -> list[Any]:
        return [predictor.predict(self.series)]


# Sequences through one vector


class VectorSpecimen(Specimen):
    """Five sequences, written again."""

    task, vocabulary = "autoencode", 9
    rounds, goal = 200, None
    lengths = (4, 1, 7, 3, 6)

    def __init__(self, name: str, spec: str, own: dict, variant: bool = True):
        own = dict(own)
        self.labels, self.channels = own.pop("labels", ()), own.pop("channels", 0)
        small = {"width": 16, "latent": 0 if spec == "decoder" else 4, "dropout": 0.0}
        heads = {"heads": 2} if spec == "transformer" else {}
        super().__init__(name, spec, small | heads | own, variant)
        self.sizes = (3 if self.channels else self.vocabulary, self.channels, self.labels)
        self.noise = 0.0

    def learned(self) -> Model:
        torch.manual_seed(1)
        return self.made().eval()

    def samples(self, lengths: Sequence[int] = lengths) -> Samples:
        rng = np.random.default_rng(3)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        labels = np.array(
            [[rng.integers(many) for many in self.labels] for _ in lengths], np.int64
        ).reshape(len(lengths), -1)
        if not self.channels:
            drawn = rng.integers(2, self.vocabulary, offsets[-1]).astype(np.int32)
            return Samples(Field(drawn, offsets, SYMBOLS), labels)
        drawn = np.column_stack(
            [rng.standard_normal((offsets[-1], self.channels)), rng.integers(0, 2, offsets[-1])]
        ).astype(np.float32)
        drawn[offsets[1:][np.array(lengths) > 0] - 1, -1] = 2
        return Samples(Field(drawn, offsets, NUMBERS), labels)

    def batch(self, rows=None) -> Batch:
        return of_samples(self.samples(), np.array(range(5) if rows is None else rows))

    def repadded(self, batch: Batch) -> Batch:
        read = torch.arange(batch.x.shape[1]) < batch.x_lengths[:, None]
        if self.channels:
            x = batch.x.where(read[..., None], 1.0)
            return replace(batch, x=x, y=batch.y.where(batch.y_mask[..., None], 1.0))
        return replace(batch, x=batch.x.where(read, 5), y=batch.y.where(batch.y_mask, 5))

    def lesson(self) -> Batch:
        return self.batch()

    def at_once(self) -> tuple[Tensor, Tensor]:
        """The same row among shorter ones, so that the dice are the same and the padding is not."""
        samples, alone = self.samples(), []
        for s, length in enumerate(self.lengths):
            rows = [row if self.lengths[row] <= length else s for row in range(5)]
            alone.append(likelihood(self.model, samples.take(np.array(rows)), 3)[s])
        return torch.from_numpy(likelihood(self.model, samples, 3)), torch.tensor(alone).double()

    def nothing(self) -> Tensor:
        batch = of_samples(self.samples((0, 0)), np.arange(2))
        return self.said(self.model, batch)[batch.y_mask]

    def drawn(self) -> tuple[Tensor, Tensor]:
        if self.channels:
            raise NotImplementedError("strokes are several numbers and a state of the pen")
        with torch.no_grad():
            first = self.model.start(self.batch([2]))[0]
        drawn = first[torch.zeros(MANY, dtype=torch.long)].sample(torch.Generator().manual_seed(3))
        p = values(first)[0].exp().detach()  # the readout is lazy, and was asked only now
        return shares(drawn, len(p)), p

    def data(self) -> Any:
        return some_lines()

    def fit(self, out: Any) -> Predictor:
        known = self.known(self.settings)
        return st.fit(self.task, self.spec, self.data(), out=out, **known, **self.quick)

    def records(self, predictor: Predictor) -> list[Any]:
        if self.settings.get("variational", True):
            return [predictor.score(self.data())]
        return [predictor.embed(self.data()), predictor.reconstruct(self.data())]


# Words


class WordSpecimen(Specimen):
    """Two worlds of words that never meet: animals and tools."""

    task = "words"

    def data(self) -> Any:
        rng = np.random.default_rng(0)
        worlds = (["cat", "dog", "cow", "hen", "eats"], ["saw", "axe", "drill", "file", "cuts"])
        rows = [" ".join(rng.choice(worlds[rng.integers(2)], 8)) for _ in range(200)]
        return Sequences.of(rows, by="line", unit="word")

    def fit(self, out: Any = None, seed: int = 0) -> Predictor:
        own = {"width": 6, "epochs": 1, "threads": 1, "deterministic": True, "seed": seed}
        own |= self.known({"subsample": 0.0, "rate": 0.1})
        return st.fit("words", self.spec, self.data(), out=out, **own, **self.settings)

    @cached_property
    def run(self) -> Predictor:
        return self.fit()

    def learned(self) -> Model:
        return self.run.model

    def made(self, **more: Any) -> Model:
        settings = {"width": 6} | self.settings
        parts = room("words").parts(self.spec, self.known(settings))
        return create(parts, self.run.model.vocabulary)

    def trained(self, seed: int) -> dict[str, Tensor]:
        return self.fit(seed=seed).model.arrays()

    def batch(self, rows=None) -> Batch:
        """Two places, each with the numbers of the words around it."""
        if rows is not None:
            raise NotImplementedError("a word is looked up")
        x = torch.tensor([[2, 3], [4, 5], [6, 7]])
        return Batch(x, torch.full((3,), 2), empty(3), empty(3).bool())

    def real(self, batch: Batch) -> Tensor:
        return torch.ones(len(batch.x), 1, dtype=torch.bool)

    def said(self, model: Model, batch: Batch) -> Tensor:
        """(B, 1, V) log-probabilities of the word between them."""
        words = self.run.codec.symbols
        rows = [model.missing(list(model.vectors(words)[row])) for row in batch.x.tolist()]
        return torch.from_numpy(np.stack(rows)).double()[:, None]

    def records(self, predictor: Predictor) -> list[Any]:
        return [predictor.neighbours("cat")]


# All of them


HEARING = {
    f"{mixer}, {'both ways' if both else 'one way'}": (
        "lstm",
        {"mixer": mixer, "bidirectional": both},
    )
    for mixer in ("rnn", "gru", "lstm", "coupled", "convolution", "attention")
    for both in (False, True)
}
CLASSIFIERS = {
    **HEARING,
    "mean, encoder": ("mean", {"encoder": "reader", "encoder_frozen": False}),
    "gru, hidden": ("gru", {"hidden": 2, "activation": "gelu"}),
    "tree, all positions": ("tree", {"pool": "attention", "residual": True, "feed_forward": 2.0}),
    "mlp, sigmoid": ("mlp", {"hidden": 2, "activation": "sigmoid"}),
    **{
        f"{name}, {pool}": (name, {"pool": pool})
        for name in ("gru", "transformer")
        for pool in ("last", "mean", "max", "attention", "unit")
    },
    "one way, unit": ("gru", {"bidirectional": False, "pool": "unit"}),
    "letters by convolution": ("mean", {"letters": "convolution"}),
    "letters by recurrence": ("gru", {"letters": "lstm"}),
    "near positions": (
        "transformer",
        {"context": 2, "positions": "sinusoidal", "norm_place": "after"},
    ),
    "sigmoid": ("rnn", {"activation": "sigmoid", "initial": "uniform", "weight_dropout": 0.3}),
}
TAGGERS = {
    **HEARING,
    "gru-before, both ways": ("gru", {"mixer": "gru-before"}),
    "letters by recurrence": ("window", {"letters": "lstm"}),
    "no letters": ("gru", {"letters": "no", "embedding": 0}),
    "alone": ("gru", {"mixer": "none"}),
    "chain": ("gru", {"chain": True}),
    "chain, one way": ("window", {"chain": True, "bidirectional": False, "constrained": False}),
    "near positions": ("transformer", {"context": 2, "score": "mlp", "positions": "none"}),
    "learned places": (
        "transformer",
        {"positions": "learned", "norm": "rms", "feed_forward_activation": "gated"},
    ),
    "not dilated, both ways": ("convolution", {"dilation": 1, "layers": 2}),
    "concatenated places, both ways": (
        "transformer",
        {"positions": "concatenated", "head_width": 6},
    ),
    "dilated": ("convolution", {"layers": 3, "kernel": 4}),
    "hmm, first order": ("hmm", {"order": 1}),
}
TRANSLATORS = {
    "gru, lectures": ("gru", {"heads": 1, "score": "bilinear", "maps": False}),
    "gru, attends before": (
        "gru",
        {"attends": "before", "heads": 1, "score": "bilinear", "maps": False},
    ),
    "lstm, attends before": (
        "lstm",
        {"attends": "before", "score": "mlp", "layers": 1, "tied": True},
    ),
    "lstm, fed": ("lstm", {"input_feeding": True, "heads": 1}),
    "rnn, mlp": ("rnn", {"score": "mlp", "maps": True}),
    "gru, several heads": ("gru", {"score": "scaled", "maps": True}),
    "lstm, one way, dot": ("lstm", {"bidirectional": False, "score": "dot", "heads": 1}),
    "gru, stacked vectors": ("gru", {"encoder_mixer": "none", "heads": 1}),
    "gru, convolution, vector": (
        "gru",
        {"encoder_mixer": "convolution", "attends": False, "encoder_layers": 3},
    ),
    "coupled, attention": (
        "lstm",
        {"mixer": "coupled", "encoder_mixer": "attention", "score": "scaled", "maps": True},
    ),
    "lstm, no output gate": (
        "lstm",
        {"mixer": "no-output-gate", "encoder_mixer": "additive", "heads": 1},
    ),
    "convolution, gru": (
        "gru",
        {"mixer": "convolution", "encoder_mixer": "gru", "heads": 1, "residual": True},
    ),
    "transformer, vector": ("transformer", {"attends": False}),
    "transformer, after, mlp": (
        "transformer",
        {"norm_place": "after", "score": "mlp", "tied": True},
    ),
    "lstm, n-grams": ("lstm", {"source_ngrams": 4, "cells": 500}),
    "transformer, n-grams": ("transformer", {"source_ngrams": 3, "cells": 500}),
    "transformer, recurrent encoder": (
        "transformer",
        {"encoder_mixer": "lstm", "positions": "sinusoidal"},
    ),
    "transformer, uniform": ("transformer", {"score": "uniform", "heads": 1}),
    "transformer, wide heads": ("transformer", {"head_width": 6, "positions": "concatenated"}),
    "shared": ("transformer", {}),
    "numbers": ("transformer", {}),
    "gru, trees": ("gru", {"encoder_mixer": "tree", "heads": 1}),
    "transformer, trees, three sources": ("transformer", {"encoder_mixer": "tree"}),
    "gru, three sources": ("gru", {"heads": 1}),
    "gru, vector, three sources": ("gru", {"attends": False}),
    "lstm, before, three sources": ("lstm", {"attends": "before", "layers": 1}),
    "transformer, three sources": ("transformer", {}),
}
AUTOENCODERS = {
    "decoder, labels": ("decoder", {"labels": (3, 2)}),
    "rnn, state": ("rnn", {"into": "state"}),
    "gru, every": ("gru", {"into": "every"}),
    "lstm, no output gate": (
        "lstm",
        {"mixer": "no-output-gate", "into": "state", "variational": False},
    ),
    "lstm, plain": ("lstm", {"variational": False}),
    "lstm, labels": ("lstm", {"labels": (3,)}),
    "lstm, without inputs": ("lstm", {"teacher_forcing": False}),
    "transformer, state": ("transformer", {"into": "state"}),
    "convolution": ("gru", {"mixer": "convolution", "layers": 2}),
    "transformer reads, gru writes": ("gru", {"encoder_mixer": "attention", "heads": 2}),
    "numbers": ("lstm", {"channels": 2}),
    "numbers, transformer": ("transformer", {"channels": 3}),
    "numbers, decoder": ("decoder", {"channels": 1}),
}
MIXTURES = {
    "language": ("unigram+markov", "kneser-ney+cache", "markov+lstm+transformer"),
    "classify": ("naive-bayes+gru",),
    "tag": ("hmm+gru",),
    "regress": ("linear+gru",),
    "sets": ("frequencies+gru",),
    "marks": ("linear+gru",),
    "forecast": ("seasonal+gru",),
    "translate": ("lexicon+gru+transformer", "joint+lstm"),
}
WORDS_VARIANTS = {
    "skip-gram, subwords": ("skip-gram", {"subwords": "2,3", "buckets": 50}),
    "cbow, hierarchical": ("cbow", {"output": "hierarchical"}),
    "cbow, softmax": ("cbow", {"output": "softmax"}),
}
NO_SYMBOLS = (
    "naive-bayes",
    "markov-bayes",
    "pretrained",
    "tree",
)  # they read symbols, and no numbers
TRANSLATING = {"width": 16, "layers": 2, "heads": 2, "dropout": 0.3}
READING_SETS = {"width": 16, "layers": 2, "heads": 2, "context": 6, "dropout": 0.3}


def rungs_of(task: str) -> list[str]:
    """The rungs of its card and its mixtures, which are runs too."""
    return [*room(task).rungs, *MIXTURES.get(task, ())]


def labellers(task: str, variants: dict[str, tuple[str, dict]]) -> list[Specimen]:
    """Models of labels, tags or values, of symbols and of numbers."""
    kind = MarkSpecimen if task == "marks" else LabelSpecimen
    plain = [kind(task, name, name, {}, variant=False) for name in rungs_of(task)]
    several = [LabelSpecimen(task, name, *each) for name, each in variants.items()]
    vectors = ("average", "linear", "gru", "linear+gru") if task == "regress" else ()
    numbers = {"layers": 1, "word_dropout": 0.0} | ({"letters": "no"} if task == "tag" else {})
    return [
        *plain,
        *several,
        *(
            kind(task, f"{name}, numbers", name, numbers, variant=False, numbers=True)
            for name in room(task).rungs
            if name not in NO_SYMBOLS
        ),
        *(
            LabelSpecimen(task, f"{name}, vectors", name, numbers, numbers=True, several=2)
            for name in vectors
        ),
    ]


def translators() -> list[Specimen]:
    """Rungs, mixtures and variants."""
    mixed = {"maps": True}
    plain = [
        PairSpecimen(name, name, TRANSLATING | (mixed if "+" in name else {}), variant=False)
        for name in rungs_of("translate")
    ]
    several = [
        PairSpecimen(name, spec, TRANSLATING | own) for name, (spec, own) in TRANSLATORS.items()
    ]
    return plain + several


@cache
def specimens(task: str) -> list[Specimen]:
    """All models of a room that are looked at."""
    rungs = rungs_of(task)
    if task == "language":
        plain = [LanguageSpecimen(name, name, ladder.SMALL, variant=False) for name in rungs]
        return plain + [
            LanguageSpecimen(name, spec, ladder.SMALL | own)
            for name, (spec, own) in ladder.VARIANTS.items()
        ]
    if task == "classify":
        return labellers(task, CLASSIFIERS)
    if task == "tag":
        return labellers(task, TAGGERS)
    if task in ("regress", "marks"):
        return labellers(task, {})
    if task == "sets":
        return [SetSpecimen(name, name, READING_SETS, variant=False) for name in rungs]
    if task == "translate":
        return translators()
    if task == "forecast":
        more = [name for name in forecasters.NETWORKS if name not in rungs]
        plain = [SeriesSpecimen(name, name, {}, variant=False) for name in rungs]
        return plain + [SeriesSpecimen(name, name.removesuffix(" by steps"), {}) for name in more]
    if task == "autoencode":
        plain = [VectorSpecimen(name, name, {}, variant=False) for name in rungs]
        return plain + [VectorSpecimen(name, *each) for name, each in AUTOENCODERS.items()]
    if task == "words":
        plain = [WordSpecimen(name, name, {}, variant=False) for name in rungs]
        return plain + [WordSpecimen(name, *each) for name, each in WORDS_VARIANTS.items()]
    raise LookupError(f"tests/specimens.py knows no small models of {task}")


def specimen(task: str, name: str) -> Specimen:
    """One of them by name."""
    return next(each for each in specimens(task) if each.name == name)
