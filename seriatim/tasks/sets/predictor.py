"""A Predictor of sets: sequences whose every step is a set of elements, such as the notes that sound.

    model = fit("sets", "lstm", "roll.txt")
    model.evaluate("test.txt");   model.text("60+64 . 62", length=8)

Shapes: R results, V elements, N steps.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seriatim.data.formats.midi import STEPS
from seriatim.data.sequences import Sequences
from seriatim.decoding.options import DecodingOptions
from seriatim.distributions.symbols import Bernoulli, Distribution
from seriatim.errors import ConfigError, DataError
from seriatim.measuring.measured import Measured
from seriatim.measuring.resampling import RESAMPLES
from seriatim.models.base import Model, asked
from seriatim.progress import note
from seriatim.records import Record
from seriatim.runs.predictor import Predictor, Source, one_text
from seriatim.settings import build
from seriatim.tasks.sets.codec import SetCodec, set_prompts
from seriatim.tasks.sets.cut import filled
from seriatim.tasks.sets.metrics import BITS, figures, score_sets
from seriatim.tasks.sets.options import CompleteOptions, GenerateOptions

SAMPLE_STEPS = 12


class SetPredictor(Predictor):
    """A fitted model that reads and writes sequences of sets."""

    codec: SetCodec

    def matching(self, other: Predictor) -> Model:
        """The model of another run, if it knows the same elements by the same numbers."""
        same = other.task.name == self.task.name and other.codec.to_json() == self.codec.to_json()
        if not same:
            raise ConfigError(
                "models are mixed that know the same elements",
                got=f"{self.spec} and {other.spec}",
                do="Fit both on the same data with the same --valid",
            )
        return other.model

    # -- how well
    def measure(self, data: Source, **options: Any) -> Measured:
        """What the model says about every set, and what it cost to ask."""
        sequences = self.data(data)
        sets = filled(self.codec.encode(sequences.main, sequences.lines, sequences.origin))
        if not len(sets):
            raise DataError(
                f"{sequences.origin} has nothing to score",
                got=f"{len(sequences)} sequences without a step",
            )
        begin = time.perf_counter()
        scores = score_sets(self.model, sets)
        seconds = time.perf_counter() - begin
        arrays = {
            "loss": -scores.log_prob.values,  # (N,) nats
            "offsets": scores.log_prob.offsets,
            "found": scores.found,
            "right": scores.right,
            "true": scores.true,
        }
        facts = {
            "truth": self.written(sets.values > 0),
            "answers": self.written(scores.answers),
            "seconds": seconds,
            "origin": sequences.origin,
            "sequences": len(sets),
            "unknown": int(self.codec.unknown(sequences.main).sum()),
            "entropy": sequences.entropy,
            "seen": self.seen(sequences),
        }
        return Measured(arrays, facts)

    def written(self, sets: np.ndarray) -> list[str]:
        """(N, V) -> N sets as text."""
        packed, number = np.unique(np.packbits(sets, 1), axis=0, return_inverse=True)
        names = [
            self.codec.decode(row[None]) for row in np.unpackbits(packed, 1, count=self.codec.size)
        ]
        return [names[i] for i in number.reshape(-1)]

    def summarise(self, measured: Measured) -> Record:
        """Figures and protocol; with the true entropy where the data have one."""
        found, entropy, seconds = figures(measured), measured["entropy"], measured["seconds"]
        rate = found["steps"] / max(seconds, 1e-9)
        excess = None if entropy is None else (found["nats_per_step"] - entropy) * BITS
        return self.record(
            "evaluation",
            data=measured["origin"],
            **found,
            unknown=measured["unknown"],
            sequences=measured["sequences"],
            seconds=seconds,
            symbols_per_second=rate,
            parameters=self.model.size(),
            entropy_bits=None if entropy is None else entropy * BITS,
            excess_bits=excess,
            protocol=self.protocol() | {"seen_in_training": measured["seen"]},
        )

    def protocol(self) -> dict[str, Any]:
        """What the figures rest on."""
        return {
            "unit": self.codec.options.unit,
            "vocabulary": self.codec.size,
            "by": self.by,
            "steps": "every set; the end of a sequence is not predicted",
            "unknown": "elements that training did not have are left out of their sets, "
            "and counted",
            "context": "each sequence from its beginning",
            "text": "sets are predicted, whatever the order their elements are written in",
            "interval": f"95 % bootstrap, {RESAMPLES} resamples of sequences",
        }

    def row(self, measured: Measured) -> dict[str, Any]:
        """A row of a comparison."""
        record = self.summarise(measured)
        kept = (
            "bits_per_step nats_per_step f1 exact excess_bits parameters steps unknown "
            "interval symbols_per_second protocol"
        )
        return {key: record[key] for key in kept.split()}

    def sample(self, test: Sequences) -> str:
        """A few sets in the model's own voice."""
        return self.text(length=SAMPLE_STEPS, seed=1)

    def score(self, data: Source) -> Record:
        """For each sequence its natural-log probability, number of steps and number of unknown
        elements."""
        sequences = self.data(data)
        sets = self.codec.encode(sequences.main, sequences.lines, sequences.origin)
        values = score_sets(self.model, filled(sets)).log_prob.values
        before = np.concatenate([np.zeros(1), np.cumsum(values)])
        log_prob, unknown = np.diff(before[sets.offsets]), self.codec.unknown(sequences.main)
        items = [
            {"log_prob": value if steps else None, "tokens": steps, "unknown": number}
            for value, steps, number in zip(
                log_prob.tolist(), sets.lengths.tolist(), unknown.tolist(), strict=True
            )
        ]
        return self.record("scores", by=self.by, items=items)

    def predict(self, data: Source, *, top: int = 5) -> Record:
        """For each sequence the elements that are likeliest in the next set, each with its own
        probability, and how many of its own are unknown."""
        if top < 1:
            raise ConfigError(
                "at least one element is predicted", got=top, do="Choose a --top of 1 or more"
            )
        sequences, items = self.data(data), []
        sets = self.codec.encode(sequences.main, sequences.lines, sequences.origin)
        with torch.inference_mode():
            for s, unknown in enumerate(self.codec.unknown(sequences.main).tolist()):
                following = coins(asked(self.model).start(set_prompts([sets.row(s)]))[0])
                best = following.mean()[0].topk(min(top, self.codec.size))
                pairs = zip(best.values.tolist(), best.indices.tolist(), strict=True)
                likely = [{"symbol": self.codec.symbols[i], "probability": p} for p, i in pairs]
                items.append({"next": likely, "unknown": unknown})
        return self.record("predictions", by=self.by, items=items)

    # -- writing
    def generate(self, prompt: str = "", **settings: Any) -> Record:
        """Sets after a prompt: a record whose items have text and log-probability each. Settings:
        see `GenerateOptions`."""
        build(GenerateOptions, settings, "generate")  # sets know fewer of them than texts
        options = build(DecodingOptions, settings, "generate")
        names = dict.fromkeys(self.codec.pieces_of(one_text(prompt, "a prompt")))
        unknown = [name for name in names if name not in self.codec.number]
        if unknown:
            note(f"the model does not know {', '.join(map(repr, unknown))}")
        before = self.codec.encode_text(prompt)
        seeds = range(options.seed, options.seed + options.count)
        sets, log_prob = self.draw(before, options, list(seeds))
        items = [
            {
                "prompt": prompt,
                "text": self.codec.decode(np.concatenate([before, drawn])),
                "log_prob": value,
                "tokens": len(drawn),
                "ended": False,
                "seed": seed if options.temperature else None,
            }
            for drawn, value, seed in zip(sets.numpy(), log_prob.tolist(), seeds, strict=True)
        ]
        return self.record("generated", roll=self.as_music(), items=items)

    def complete(self, data: Source, **settings: Any) -> Record:
        """Go on with the first part of a sequence. Settings: see `CompleteOptions`."""
        options: Any = build(CompleteOptions, settings, "complete")
        sequences = self.data(data)
        if options.number > len(sequences):
            raise ConfigError(
                f"there is no sequence {options.number}",
                got=f"{len(sequences)} sequences",
                do="Choose a smaller --number",
            )
        rows = self.codec.encode(sequences[options.number - 1 : options.number].main).values
        begin = rows[: max(1, round(options.part * len(rows)))]
        more = {key: settings[key] for key in settings if key not in ("number", "part")}
        return self.generate(self.codec.decode(begin), **more)

    def as_music(self) -> dict[str, Any]:
        """How sets are written as MIDI, if they are notes: as such files are read."""
        reading = self.reading
        return {"grid": reading.grid or STEPS, "struck": reading.struck}

    def text(self, prompt: str = "", **settings: Any) -> str:
        """The text of one result."""
        return self.generate(prompt, **settings)["items"][0]["text"]

    @torch.inference_mode()
    def draw(
        self, before: np.ndarray, options: DecodingOptions, seeds: list[int]
    ) -> tuple[Tensor, Tensor]:
        """A result for each seed, whatever the others are: (R, length, V) sets and (R,)
        log-probabilities."""
        dice = [torch.Generator().manual_seed(seed) for seed in seeds]
        model = asked(self.model)
        following, state = model.start(set_prompts([before] * len(seeds)))
        sets = torch.zeros(len(seeds), options.length, self.codec.size)
        log_prob = torch.zeros(len(seeds))
        for t in range(options.length):
            y = sets[:, t] = thrown(coins(following), options.temperature, dice)
            log_prob += following.log_prob(y)
            following, state = model.step(y, state)
        return sets, log_prob


def coins(following: Distribution) -> Bernoulli:
    """What every model of sets says: a coin for each element."""
    assert isinstance(following, Bernoulli)
    return following


def thrown(following: Bernoulli, temperature: float, dice: list[torch.Generator]) -> Tensor:
    """(R, V) the next sets, each row by its own dice; at temperature 0 what is likelier than not."""
    if not temperature:
        return following.mode()
    warmed = Bernoulli(following.logits / temperature)
    return torch.cat([warmed[row : row + 1].sample(each) for row, each in enumerate(dice)])
