"""A Predictor of sets: sequences whose every step is a set of elements, such as the notes that sound.

    nats per step   -(1/N) sum_t log p(S_t | S_1 .. S_{t-1}),  the end of a sequence not included
    F1              of all elements taken for likelier than not, against those that are in the sets
    exact           share of steps at which these are all of the set and nothing else

    model = fit("sets", "lstm", "roll.txt");   model.evaluate("test.txt");   model.generate("60+64 . 62", length=8)

Shapes: R results, V elements.
"""
from __future__ import annotations

import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.agreement import RESAMPLES, interval, quotients
from seriatim.batches import set_prompts
from seriatim.config import DecodingOptions
from seriatim.data.sequences import Sequences
from seriatim.distributions import Bernoulli
from seriatim.errors import ConfigError, DataError
from seriatim.evaluation import fingerprint, grouped
from seriatim.predictor import Predictor
from seriatim.scoring import score_sets
from seriatim.settings import build, changed
from seriatim.tasks import filled

BITS = 1 / math.log(2)
DRAWN = {"length", "temperature", "count", "seed"}            # what can be said about how sets are drawn
SAMPLE_STEPS = 12


class SetPredictor(Predictor):
    """A fitted model that reads and writes sequences of sets."""

    figure, higher = "bits_per_step", False

    def evaluate(self, data: Sequences | str | Path) -> dict[str, Any]:
        """Figures and protocol; with the true entropy where the data has one."""
        return self.summarise(self.measure(self.data(data)))

    def measure(self, data: Sequences) -> dict[str, Any]:
        """What the model says about every set, and what it cost to ask."""
        sets = filled(self.codec.encode(data.main, data.lines, data.origin))
        if not len(sets):
            raise DataError(f"{data.origin} has nothing to score", got=f"{len(data)} sequences without a step")
        begin = time.perf_counter()
        scores = score_sets(self.model, sets)
        return {"scores": scores, "log_prob": scores.log_prob, "data": data, "seconds": time.perf_counter() - begin}

    def summarise(self, measured: dict[str, Any]) -> dict[str, Any]:
        scores, data, seconds = measured["scores"], measured["data"], measured["seconds"]
        losses, steps, entropy = -scores.log_prob.values, len(scores.true), data.entropy
        nats, bounds = float(losses.mean()), interval(grouped(losses, scores.log_prob, "line"))
        exact = (scores.right == scores.found) & (scores.right == scores.true)
        return {"version": 1, "task": self.task, "model": self.spec, "data": data.origin, "nats_per_step": nats, "bits_per_step": nats * BITS,
                "interval": {"confidence": 0.95, "nats_per_step": list(bounds), "bits_per_step": [end * BITS for end in bounds]},
                **quotients(*(int(each.sum()) for each in (scores.right, scores.found, scores.true))), "exact": float(exact.mean()),
                "steps": steps, "elements": int(scores.true.sum()), "unknown": int(self.codec.unknown(data.main).sum()),
                "sequences": len(scores.log_prob), "seconds": seconds, "steps_per_second": steps / max(seconds, 1e-9), "parameters": self.model.size(),
                "entropy_bits": None if entropy is None else entropy * BITS, "excess_bits": None if entropy is None else (nats - entropy) * BITS,
                "protocol": self.protocol() | {"seen_in_training": self.metrics.get("fingerprint") == fingerprint(data.main)}}

    def protocol(self) -> dict[str, Any]:
        return {"unit": self.codec.options.unit, "vocabulary": self.codec.size, "by": self.by, "steps": "every set; the end of a sequence is not predicted",
                "unknown": "elements that training did not have are left out of their sets, and counted",
                "context": "each sequence from its beginning", "text": "sets are predicted, whatever the order their elements are written in",
                "interval": f"95 % bootstrap, {RESAMPLES} resamples of sequences"}

    def row(self, measured: dict[str, Any]) -> dict[str, Any]:
        record = self.summarise(measured)
        kept = ("bits_per_step", "nats_per_step", "f1", "exact", "excess_bits", "parameters", "steps", "unknown", "protocol")
        return {key: record[key] for key in kept} | {"interval": record["interval"]["bits_per_step"], "symbols_per_second": record["steps_per_second"],
                                                     "sample": self.generate(length=SAMPLE_STEPS, seed=1)}

    @staticmethod
    def told(row: dict[str, Any]) -> str:
        return f"{row['bits_per_step']:.3f} bits per step"

    def score(self, data: Sequences | str | Path) -> list[dict[str, Any]]:
        """For each sequence its natural-log probability, number of steps and number of unknown elements."""
        data = self.data(data)
        sets = self.codec.encode(data.main, data.lines, data.origin)
        before = np.concatenate([np.zeros(1), np.cumsum(score_sets(self.model, filled(sets)).log_prob.values)])
        log_prob, unknown = np.diff(before[sets.offsets]), self.codec.unknown(data.main)
        return [{"log_prob": value, "tokens": steps, "unknown": number}
                for value, steps, number in zip(log_prob.tolist(), sets.lengths.tolist(), unknown.tolist(), strict=True)]

    def predict(self, data: Sequences | str | Path, top: int = 5) -> list[dict[str, Any]]:
        """For each sequence the elements that are likeliest in the next set, each with its own probability, and how many of its own are unknown."""
        if top < 1:
            raise ConfigError("at least one element is predicted", got=top, do="Choose a --top of 1 or more")
        data, records = self.data(data), []
        sets = self.codec.encode(data.main, data.lines, data.origin)
        with torch.inference_mode():
            for s, unknown in enumerate(self.codec.unknown(data.main).tolist()):
                best = self.model.start(set_prompts([sets.row(s)]))[0].mean()[0].topk(min(top, self.codec.size))
                records.append({"next": [{"symbol": self.codec.symbols[i], "probability": value}
                                         for value, i in zip(best.values.tolist(), best.indices.tolist(), strict=True)], "unknown": unknown})
        return records

    def generate_records(self, several: list[str], **settings: Any) -> list[list[dict[str, Any]]]:
        """For each prompt its results, set by set, with their log-probabilities."""
        options = build(DecodingOptions, settings, "generate")
        foreign = sorted(changed(options).keys() - DRAWN)
        if foreign:
            raise ConfigError("sets are drawn element by element, which these settings know nothing of", got=", ".join(foreign), do="Leave them out")
        seeds = [options.seed + i for i in range(options.count)]
        records = []
        for prompt in several:
            before = self.codec.encode_text(prompt)
            sets, log_prob = self.draw(before, options, seeds)
            records.append([{"prompt": prompt, "text": self.codec.decode(np.concatenate([before, drawn])), "log_prob": value, "tokens": len(drawn),
                             "ended": False, "seed": seed if options.temperature else None}
                            for drawn, value, seed in zip(sets.numpy(), log_prob.tolist(), seeds, strict=True)])
        return records

    @torch.inference_mode()
    def draw(self, before: np.ndarray, options: DecodingOptions, seeds: list[int]) -> tuple[Tensor, Tensor]:
        """A result for each seed, whatever the others are: (R, length, V) sets and (R,) log-probabilities."""
        dice = [torch.Generator().manual_seed(seed) for seed in seeds]
        following, state = self.model.start(set_prompts([before] * len(seeds)))
        sets, log_prob = torch.zeros(len(seeds), options.length, self.codec.size), torch.zeros(len(seeds))
        for t in range(options.length):
            y = sets[:, t] = thrown(following, options.temperature, dice)
            log_prob += following.log_prob(y)
            following, state = self.model.step(y, state)
        return sets, log_prob

    def stream(self, prompt: str = "", **settings: Any) -> Iterator[str]:
        """The text of one sample, all at once."""
        yield self.generate_records([prompt], **settings | {"count": 1})[0][0]["text"]

    def export(self, file: str | Path) -> dict[str, Any]:
        raise ConfigError("there is no file format of others for this model", got=self.spec, do="Keep its run folder")


def thrown(following: Bernoulli, temperature: float, dice: list[torch.Generator]) -> Tensor:
    """(R, V) the next sets, each row by its own dice; at temperature 0 what is likelier than not."""
    if not temperature:
        return following.mode()
    warmed = Bernoulli(following.logits / temperature)
    return torch.cat([warmed[row:row + 1].sample(each) for row, each in enumerate(dice)])
