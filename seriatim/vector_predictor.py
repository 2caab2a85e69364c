"""A Predictor of vectors: it reads a sequence into one, and writes sequences from vectors, from labels, or from nothing.

    model = fit("autoencode", "lstm", "sentences.txt")
    model.predict("others.txt");   model.between("one sentence", "another", count=7);   model.generate(count=3);   model.neighbours("a text", "others.txt")
    model = fit("autoencode", "decoder", "sms.tsv", given="label");   model.generate(label="spam");   model.predict("new.txt")

With labels given, p(label | x) follows from p(x | label) p(label), by Bayes' rule: a writer is a classifier, too.
Shapes: S sequences, L latent, G fields given.
"""
from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from seriatim.agreement import drawn_means, interval, two_sided
from seriatim.autoencoding import bound, drawn, likelihood, report, vectors
from seriatim.batches import Batch, empty, prompts
from seriatim.beams import Result
from seriatim.codecs.conditioned import Samples
from seriatim.config import DecodingOptions
from seriatim.data import read
from seriatim.data.sequences import Field, Sequences
from seriatim.decoding import decode, sample
from seriatim.errors import ConfigError, DataError
from seriatim.evaluation import fingerprint
from seriatim.models.autoencoder import Writer
from seriatim.predictor import Predictor
from seriatim.tasks import Autoencode
from seriatim.texts import token_errors
from seriatim.translating import quality

DRAWS = 64                                 # of the vector, for the likelihood of a sequence
MOST_LEARNED = 2000                        # sequences whose vectors say where plain ones lie
MOST_REWRITTEN = 1000                      # sequences that an evaluation writes again
SHORT = 8                                  # symbols of a short one
ROWS = 256                                 # sequences that are written side by side
GREEDY = {"temperature": 0.0, "length": 200}


class VectorPredictor(Predictor):
    """A fitted model that reads sequences into vectors, and writes sequences from them."""

    figure, higher = "nats_per_symbol", False

    # -- data
    def data(self, source: Sequences | str | Path | list[str]) -> Sequences:
        if isinstance(source, list):
            return Autoencode.given(Sequences.of(source))
        return Autoencode.given(source if isinstance(source, Sequences) else read(source, by="line"))

    def samples(self, data: Sequences | str | Path | list[str], labelled: bool = True) -> Samples:
        return self.codec.encode(self.data(data), labelled)

    @property
    def latent(self) -> int:
        return self.model.options.latent

    def conclude(self, task: Autoencode) -> list[str]:
        """How frequent labels are, where vectors lie, and whether they are used."""
        counts = [np.bincount(column, minlength=labels.size) for column, labels in zip(task.train.labels.T, self.codec.given.values(), strict=True)]
        self.metrics["per"] = "nats per symbol" + ("" if not self.latent else ", the vector's included," if self.model.options.variational else
                                                   " given its vector")
        self.metrics["shares"] = {name: (each / each.sum()).tolist() for name, each in zip(self.codec.given, counts, strict=True)}
        if not self.latent:
            return []
        mean, _ = vectors(self.model, task.train.take(slice(0, MOST_LEARNED)))
        self.metrics["vectors"] = {"mean": mean.mean(0).tolist(), "deviation": mean.std(0).tolist()}
        self.metrics["report"] = report(self.model, task.valid)
        return [self.metrics["report"]["words"]]

    # -- from sequences to vectors and labels
    def predict(self, data: Sequences | str | Path | list[str], top: int = 5) -> list[dict[str, Any]]:
        """For each sequence its vector, and what is written from it; of a model without vectors the label, by Bayes' rule."""
        if not self.latent:
            return self.labels_of(self.samples(data, labelled=False), top)
        data = self.data(data)
        known = all(name in data.fields for name in self.codec.given)                # what is given is needed to write, not to read
        samples = self.samples(data, known)
        mean, _ = vectors(self.model, samples)
        again = self.write(mean, samples.labels, GREEDY) if known else [{}] * len(mean)
        return [{"vector": row.tolist(), **record} for row, record in zip(mean, again, strict=True)]

    def posterior(self, samples: Samples, draws: int = DRAWS) -> np.ndarray:
        """(S, N) log-probability of each label of the field that is given."""
        if len(self.codec.given) != 1 or (self.latent and not self.model.options.variational):
            raise ConfigError("a label is found by models of one field that is given, with a probability for each sequence",
                              got=f"given: {', '.join(self.codec.given) or 'nothing'}", do="Fit one with --given label, and --latent 0 or variational")
        (name, labels), = self.codec.given.items()
        columns = [likelihood(self.model, Samples(samples.x, np.full((len(samples), 1), number)), draws) + math.log(max(share, 1e-12))
                   for number, share in zip(range(labels.size), self.metrics["shares"][name], strict=True)]
        joint = np.stack(columns, 1)
        return joint - np.logaddexp.reduce(joint, 1, keepdims=True)

    def labels_of(self, samples: Samples, top: int) -> list[dict[str, Any]]:
        names = next(iter(self.codec.given.values())).names if self.codec.given else []
        return [{"label": names[order[0]], "probabilities": [{"label": names[i], "probability": float(np.exp(row[i]))} for i in order[:top]]}
                for row in self.posterior(samples) for order in [np.argsort(-row, kind="stable")]]

    def neighbours(self, text: str | np.ndarray, data: Sequences | str | Path | list[str], top: int = 5) -> list[tuple[Any, float]]:
        """The sequences of the data whose vectors point most nearly as that of the text does, with the cosines."""
        data = self.data(data)
        mine, (others, _) = self.vector_of(text), vectors(self.model, self.samples(data, labelled=False))
        cosine = others @ mine / np.maximum(np.linalg.norm(others, axis=1) * np.linalg.norm(mine), 1e-12)
        return [(self.shown(data, int(s)), float(cosine[s])) for s in np.argsort(-cosine, kind="stable")[:top]]

    def shown(self, data: Sequences, s: int) -> Any:
        """A sequence of the data as a person would write it; of numbers its place, counted from 1."""
        raw = data.main.raw(s)
        return s + 1 if self.codec.numeric else raw if isinstance(raw, str) else " ".join(raw)

    def vector_of(self, text: str | np.ndarray) -> np.ndarray:
        """(L,) of one sequence."""
        self.needs_vectors()
        if self.codec.numeric == isinstance(text, str):
            raise ConfigError("this is not a sequence of the kind the model reads", got=repr(text)[:60],
                              do="Give an array of numbers; on the command line a --file and the number of one of its sequences" if self.codec.numeric else
                              "Give a text")
        x = self.codec.inputs.encode(Field.of_numbers([text]) if self.codec.numeric else Field.of_text([text]))
        return vectors(self.model, Samples(x, np.zeros((1, len(self.codec.given)), np.int64)))[0][0]

    def needs_vectors(self) -> None:
        if not self.latent:
            raise ConfigError("this model has no vectors", got=f"{self.spec} with latent 0", do="Fit gru, lstm or transformer, or add --latent 32")

    # -- from vectors and labels to sequences
    @torch.inference_mode()
    def write(self, told: np.ndarray, labels: np.ndarray, settings: dict[str, Any], begun: list[np.ndarray] | None = None) -> list[dict[str, Any]]:
        """(R, L) vectors and (R, G) labels -> R sequences, each with its own dice."""
        options, stops, forbidden = self.decoding(settings)
        found: list[Any] = []
        for at in range(0, len(told), ROWS):
            some = slice(at, at + ROWS)
            conditions = self.model.told(torch.from_numpy(told[some]), torch.from_numpy(labels[some]))
            seeds, begin = [options.seed + at + i for i in range(len(conditions))], None if begun is None else begun[some]
            which = [{name: names.names[row[i]] for i, (name, names) in enumerate(self.codec.given.items())} for row in labels[some]]
            if self.codec.numeric:
                start = None if begin is None else begun_numbers(begin)
                rest = drawn(self.model, conditions, seeds, options.temperature, start, *([options.length] if "length" in settings else []))
                found += [self.number_record(each if begin is None else np.concatenate([begin[i], each]), seeds[i], which[i]) for i, each in enumerate(rest)]
                continue
            batch = replace(prompts(begin if begin is not None else [np.zeros(0, np.int64)] * len(conditions)), labels=conditions)
            writer = Writer(self.model)
            results = [each[0] for each in decode(writer, batch, replace(options, count=1), stops, forbidden)] if options.beam else \
                sample(writer, batch, options, seeds, stops, forbidden)
            found += [self.record(result, () if begin is None else begin[i], seeds[i] if options.temperature and not options.beam else None, which[i])
                      for i, result in enumerate(results)]
        return found

    def record(self, result: Result, begun: Any, seed: int | None, given: dict[str, str]) -> dict[str, Any]:
        return {"text": self.codec.decode([*begun, *result.symbols]), "log_prob": result.log_prob if result.log_prob > -math.inf else None,
                "tokens": len(result.symbols), "ended": result.ended, "seed": seed} | ({"given": given} if given else {})

    def number_record(self, rows: np.ndarray, seed: int, given: dict[str, str]) -> dict[str, Any]:
        return {"numbers": self.codec.inputs.decode(rows).tolist(), "points": len(rows), "ended": bool(rows[-1, -1] == self.codec.inputs.end),
                "seed": seed} | ({"given": given} if given else {})

    def decoding(self, settings: Any) -> tuple[DecodingOptions, tuple[int, ...], tuple[int, ...]]:
        options, stops, forbidden = super().decoding(settings)
        refused = [name for name in ("exact", "draft", "must", "never", "risk", "coverage") if getattr(options, name)]
        if refused or (self.codec.numeric and options.beam):
            raise ConfigError("this is not for models of autoencode", got=", ".join(refused) or "a beam for numbers", do="Leave it out")
        return options, stops, forbidden

    def given_labels(self, label: str, rows: int, seed: int) -> np.ndarray:
        """(R, G) the labels that are asked for, as "spam" or "author=Poe,style=verse"; others drawn as often as they were in training."""
        if label and not self.codec.given:
            raise ConfigError("this model was given no labels in training", got=label, do="Fit one with --given, and the name of the field")
        asked = dict(each.split("=", 1) for each in label.split(",") if "=" in each) if "=" in label else {next(iter(self.codec.given)): label} if label else {}
        wrong = [name for name in asked if name not in self.codec.given]
        if wrong or ("," in label and "=" not in label and len(self.codec.given) > 1):
            raise ConfigError("labels of several fields are named", got=label, do=f"Write {','.join(f'{name}=...' for name in self.codec.given)}")
        columns = [np.full(rows, self.codec.number_of(name, asked[name])) if name in asked else
                   np.array([np.random.default_rng([seed + i, place]).choice(labels.size, p=self.metrics["shares"][name]) for i in range(rows)])
                   for place, (name, labels) in enumerate(self.codec.given.items())]
        return np.stack(columns, 1).astype(np.int64) if columns else np.zeros((rows, 0), np.int64)

    def prior(self, rows: int, seed: int) -> np.ndarray:
        """(R, L) vectors drawn at random: from the prior; of plain models from a normal where those of the training data lie."""
        each = np.stack([np.random.default_rng(seed + i).standard_normal(self.latent) for i in range(rows)])
        if self.latent and not self.model.options.variational:
            each = np.array(self.metrics["vectors"]["mean"]) + each * np.array(self.metrics["vectors"]["deviation"])
        return each.astype(np.float32)

    def generate_records(self, several: list[str], label: str = "", **settings: Any) -> list[list[dict[str, Any]]]:
        """For each beginning so many sequences, of vectors drawn at random."""
        options, _, _ = self.decoding(settings)
        if self.codec.numeric and any(several):
            raise ConfigError("drawings and numbers do not begin with text", got=several[0], do="Complete one: --file FILE --complete NUMBER")
        if options.beam and options.count > 1 and not self.latent and not self.codec.numeric:
            return self.best(several, self.given_labels(label, 1, options.seed), settings)
        found = []
        for prompt in several:
            labels, told = self.given_labels(label, options.count, options.seed), self.prior(options.count, options.seed)
            begun = [self.codec.inputs.encode_text(prompt)] * options.count if prompt else None
            found.append([{"prompt": prompt} | each for each in self.write(told, labels, settings, begun)])
        return found

    def best(self, several: list[str], labels: np.ndarray, settings: dict[str, Any]) -> list[list[dict[str, Any]]]:
        """For each beginning the best sequences of a beam: without a vector there is nothing else by which they could differ."""
        options, stops, forbidden = self.decoding(settings)
        rows = [self.codec.inputs.encode_text(prompt) for prompt in several]
        with torch.inference_mode():
            told = self.model.told(torch.zeros(1, 0), torch.from_numpy(labels)).expand(len(rows), -1)
            found = decode(Writer(self.model), replace(prompts(rows), labels=told), options, stops, forbidden)
        given = {name: names.names[labels[0, i]] for i, (name, names) in enumerate(self.codec.given.items())}
        return [[{"prompt": prompt} | self.record(result, row, None, given) for result in results]
                for prompt, row, results in zip(several, rows, found, strict=True)]

    def generate(self, prompt: str = "", **settings: Any) -> Any:
        """A text, or an array of numbers; a list of them when `count` is above one."""
        found = [each["text"] if "text" in each else np.array(each["numbers"]) for each in self.generate_records([prompt], **settings)[0]]
        return found if settings.get("count", 1) != 1 else found[0]

    def stream(self, prompt: str = "", **settings: Any) -> Iterator[str]:
        yield self.generate_records([prompt], **settings)[0][0].get("text", "")

    def between(self, *ends: str | np.ndarray, count: int = 7, label: str = "", **settings: Any) -> list[dict[str, Any]]:
        """Sequences on the way from one vector to another; with four ends a grid of count x count, row by row, between its corners."""
        if len(ends) not in (2, 4) or count < 2:
            raise ConfigError("the way leads between two sequences, or a grid between four, in at least two steps", got=f"{len(ends)} ends, {count} steps")
        corners, way = np.stack([self.vector_of(end) for end in ends]), np.linspace(0, 1, count, dtype=np.float32)[:, None]
        line = lambda first, last: first + way * (last - first)                                   # (count, L)
        told = line(*corners) if len(ends) == 2 else np.concatenate([line(a, b) for a, b in zip(line(*corners[:2]), line(*corners[2:]), strict=True)])
        labels = np.repeat(self.given_labels(label, 1, settings.get("seed", 0)), len(told), 0)
        return self.write(told, labels, GREEDY | settings)

    def combine(self, expression: str, ends: dict[str, Any] | None = None, label: str = "", **settings: Any) -> dict[str, Any]:
        """Add and subtract vectors: "the cat sleeps - the cat + the dog"; `ends` are the sequences of names that stand for them."""
        parts = terms(expression)
        told = sum((1 if sign == "+" else -1) * self.vector_of(text if ends is None else ends[text]) for sign, text in parts)
        return self.write(told[None].astype(np.float32), self.given_labels(label, 1, 0), GREEDY | settings)[0]

    def complete(self, numbers: np.ndarray, part: float = 1.0, count: int = 1, label: str = "", **settings: Any) -> list[dict[str, Any]]:
        """Go on with the first part of a sequence of numbers: with a vector, that of what is there."""
        if not self.codec.numeric:
            raise ConfigError("sequences of numbers are completed", got=f"a model of {self.codec.unit}s", do="Of text, --prompt is the beginning")
        if not 0 < part <= 1:
            raise ConfigError("a part is a share of the whole", got=f"part {part:g}", do="Choose one above 0 and up to 1")
        begin = np.asarray(numbers)[:max(1, round(part * len(numbers)))]
        rows = self.codec.inputs.encode(Field.of_numbers([begin])).row(0).copy()
        rows[-1, -1] = begin[-1, -1] if self.codec.inputs.pen else 0                              # it is not over yet
        told = np.repeat(self.vector_of(begin)[None], count, 0) if self.latent else np.zeros((count, 0), np.float32)
        return self.write(told, self.given_labels(label, count, settings.get("seed", 0)), settings, [rows] * count)

    # -- figures
    def score(self, data: Sequences | str | Path) -> list[dict[str, Any]]:
        """For each sequence its log-probability, estimated from below where there is a vector."""
        if self.latent and not self.model.options.variational:
            raise ConfigError("a plain autoencoder gives sequences no probability", do="Fit it with --variational true, or use `evaluate`")
        samples = self.samples(data)
        found = likelihood(self.model, samples, DRAWS)
        ends = 0 if self.codec.numeric else 1
        unknown = [0 if self.codec.numeric else int((samples.x.row(s) == 0).sum()) for s in range(len(samples))]
        return [{"log_prob": float(value), "tokens": int(length) + ends, "unknown": number}
                for value, length, number in zip(found, samples.x.lengths, unknown, strict=True)]

    def measure(self, data: Sequences | str | Path, draws: int = DRAWS) -> dict[str, Any]:
        data = self.data(data)
        samples, begin = self.codec.encode(data), time.perf_counter()
        if not len(samples.x.flat):
            raise DataError(f"{data.origin} has nothing to score", got=f"{len(samples)} sequences, all empty")
        found = bound(self.model, samples)
        plain = bool(self.latent) and not self.model.options.variational
        nats = found.written if plain else -likelihood(self.model, samples, draws)
        return {"nats": nats, "symbols": found.symbols, "bound": found.written + found.said.sum(1), "samples": samples, "data": data, "draws": draws,
                "seconds": time.perf_counter() - begin}

    def evaluate(self, data: Sequences | str | Path, draws: int = DRAWS) -> dict[str, Any]:
        """Nats per symbol, what the vectors say, and how well sequences are written again."""
        return self.summarise(self.measure(data, draws))

    def summarise(self, measured: dict[str, Any]) -> dict[str, Any]:
        nats, symbols, samples, data = (measured[name] for name in ("nats", "symbols", "samples", "data"))
        per = float(nats.sum() / symbols.sum())
        record = {"version": 1, "task": self.task, "model": self.spec, "data": data.origin, "nats_per_symbol": per, "perplexity": math.exp(min(700.0, per)),
                  "interval": {"confidence": 0.95, "nats_per_symbol": list(interval(np.stack([nats, symbols], 1)))},
                  "entropy": data.entropy, "excess": None if data.entropy is None else per - data.entropy,
                  "nats_per_sequence": float(nats.mean()), "bound_per_symbol": float(measured["bound"].sum() / symbols.sum())}
        record["report"] = report(self.model, samples) if self.latent else None
        record["rewritten"] = self.rewritten(samples) if self.latent and not self.codec.numeric else None
        record["classified"] = self.classified(samples) if len(self.codec.given) == 1 and not self.latent else None
        return record | {"sequences": len(samples), "symbols": int(symbols.sum()), "unknown": self.codec.unknown(samples), "seconds": measured["seconds"],
                         "parameters": self.model.size(), "protocol": self.protocol(measured["draws"]) | {
                             "seen_in_training": self.metrics.get("fingerprint") == fingerprint(data.main)}}

    def protocol(self, draws: int) -> dict[str, Any]:
        how = "exact" if not self.latent else f"importance weighted, {draws} draws of the vector: never below the truth, on average" \
            if self.model.options.variational else "of what is written given its own vector: no likelihood, and not to be compared with one"
        symbols = {"states": self.codec.size, "channels": self.codec.inputs.channels} if self.codec.numeric else \
            {"vocabulary": self.codec.size, "unknown": "scored like any other symbol"}
        again = "not written again" if self.codec.numeric or not self.latent else f"written again greedily, of the first {MOST_REWRITTEN:,} sequences"
        return {"unit": self.codec.unit, **symbols, "end": "scored", "nats": how, "given": ", ".join(self.codec.given) or "nothing", "text": again}

    def rewritten(self, samples: Samples) -> dict[str, Any]:
        """Sequences written again from their vectors; and, to know what chance does, from those of others."""
        some = samples.take(slice(0, MOST_REWRITTEN))
        mean, _ = vectors(self.model, some)
        true = [self.codec.decode(some.x.row(s)) for s in range(len(some))]
        short, found = np.flatnonzero(some.x.lengths <= SHORT), {}
        for name, told in (("own", mean), ("others", np.roll(mean, 1, 0))):
            again = [each["text"] for each in self.write(told, some.labels, GREEDY)]
            tokens = token_errors([text.split() for text in again], [[text.split()] for text in true])
            found[name] = figures(again, true) | {"word_error": float(tokens[:, 0].sum() / max(1, tokens[:, 1].sum()))}
            found[name]["short"] = figures([again[s] for s in short], [true[s] for s in short]) | {"sequences": len(short)} if len(short) else None
        return found["own"] | {"by_chance": found["others"]}

    def classified(self, samples: Samples) -> dict[str, Any]:
        """As a classifier, by Bayes' rule."""
        posterior, true = self.posterior(samples), samples.labels[:, 0]
        return {"field": next(iter(self.codec.given)), "accuracy": float((posterior.argmax(1) == true).mean()),
                "log_loss": float(-posterior[np.arange(len(true)), true].mean())}

    def row(self, measured: dict[str, Any]) -> dict[str, Any]:
        if self.latent and not self.model.options.variational:
            raise ConfigError("a plain autoencoder has no likelihood to be compared by", do="Compare variational ones, and `evaluate` the plain ones")
        record = self.summarise(measured)
        said = record["report"] or {"said": None, "active": None, "shuffled": None}
        return {key: record[key] for key in ("nats_per_symbol", "perplexity", "parameters", "symbols", "unknown", "protocol")} | {
            "interval": record["interval"]["nats_per_symbol"], "said": said["said"], "active": said["active"], "shuffled": said["shuffled"],
            "exact": record["rewritten"] and record["rewritten"]["exact"], "symbols_per_second": record["symbols"] / max(measured["seconds"], 1e-9),
            "sample": str(self.generate_records([""], seed=1)[0][0].get("text", ""))[:60]}

    @staticmethod
    def told(row: dict[str, Any]) -> str:
        return f"{row['nats_per_symbol']:.3f} nats per symbol"

    @staticmethod
    def apart(first: dict[str, Any], second: dict[str, Any]) -> float:
        return two_sided(drawn_means(np.stack([first["nats"] - second["nats"], first["symbols"]], 1)))


def terms(expression: str) -> list[tuple[str, str]]:
    """The signs and texts of "a - b + c"."""
    parts = re.split(r"\s([+-])(?:\s|$)", f" + {expression.strip()}")[1:]
    if not all(text.strip() for text in parts[1::2]):
        raise ConfigError("an empty text is added or subtracted", got=repr(expression), do='Write it as "one text - another + a third"')
    return [(sign, text.strip()) for sign, text in zip(parts[::2], parts[1::2], strict=True)]


def figures(found: list[str], true: list[str]) -> dict[str, float]:
    references = [[text] for text in true]
    return {"exact": quality("exact", found, references), "bleu": 100 * quality("bleu", found, references)}


def begun_numbers(rows: list[np.ndarray]) -> Batch:
    """Beginnings (P, C + 1) of equal length as a batch."""
    x = torch.from_numpy(np.stack(rows))
    return Batch(x, torch.full((len(rows),), x.shape[1]), empty(len(rows)), empty(len(rows)).bool())
