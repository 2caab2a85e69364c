"""A Predictor of text: it scores, predicts what comes next, writes, and can be looked into.

model = fit("language", "lstm", "book.txt")
model.evaluate("other.txt");   model.generate("Call me", length=200, seed=1)
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from seriatim.batches import prompts
from seriatim.codecs.options import CodecOptions
from seriatim.codecs.symbols import STOP, UNKNOWN, Tokens
from seriatim.data.sequences import SYMBOLS, Field, Sequences, offsets_of
from seriatim.decoding.beam import Result
from seriatim.decoding.decode import decode, refuse_beyond
from seriatim.decoding.options import DecodingOptions
from seriatim.decoding.sampling import sampling
from seriatim.decoding.speculative import speculating
from seriatim.errors import ConfigError, DataError, nearest
from seriatim.measuring.likelihood import score
from seriatim.measuring.measured import Measured, check_paired
from seriatim.models.base import Model, asked
from seriatim.models.ladder import Part, create
from seriatim.models.network import Network
from seriatim.models.ngrams.arpa import ENDINGS, read_arpa, write_arpa
from seriatim.models.ngrams.ngram import Markov, Ngram
from seriatim.models.renumbered import matched
from seriatim.progress import exhausted
from seriatim.records import Record
from seriatim.runs.predictor import EXAMPLES, Predictor, Source, one_text, shortened
from seriatim.settings import build
from seriatim.storage import read_json
from seriatim.tasks.base.options import UnitOptions
from seriatim.tasks.language import TASK
from seriatim.tasks.language.metrics import BITS, measure, summarise, token_places
from seriatim.tasks.language.options import GenerateOptions

Event = dict[str, Any]
SAMPLE_CHARACTERS = 60
PASSAGE = 60  # symbols of a passage on which two models are compared
PROMPT = 200  # characters of a text in which the place is looked for where a sample begins
MOST_PROMPT = 4096  # symbols of a beginning that are looked at for what comes next
OFTEN, SELDOM = 256, 32  # results up to which every text is looked at, and how often afterwards


class LanguagePredictor(Predictor):
    """A fitted model that reads and writes text."""

    def data(self, source: Source, gaps: bool = False) -> Sequences:
        """Data to apply this predictor to, cut as it was trained; texts of a list are a sequence
        each, or follow each other in a stream."""
        data = super().data(source, gaps)
        if data.by != self.by:
            raise DataError(
                f"{data.origin} is read by {data.by}, but this model was trained by {self.by}",
                do="Give data of the same kind",
            )
        return data

    # -- how well
    def measure(self, data: Source, **options: Any) -> Measured:
        """The log-probability of every symbol."""
        return measure(self, self.data(data))

    def summarise(self, measured: Measured) -> Record:
        """Bits per character and nats per token: see `seriatim.tasks.language.metrics`."""
        return summarise(self, measured)

    def row(self, measured: Measured) -> dict[str, Any]:
        """A row of a comparison, with a few words in the model's own voice."""
        record = self.summarise(measured)
        kept = (
            "bits_per_character nats_per_token perplexity excess_bits interval parameters tokens "
            "unknown impossible symbols_per_second protocol"
        )
        return {key: record[key] for key in kept.split()}

    def sample(self, test: Sequences) -> str:
        """A few words in the model's own voice: a line, or what it writes after the beginning of the
        test text, from where a line begins there, or a word."""
        prompt = "" if test.by == "line" else self.beginning(test)
        text = self.text(prompt, length=SAMPLE_CHARACTERS, temperature=0.8, seed=1)
        return text[len(prompt) :][:SAMPLE_CHARACTERS].strip()

    def examples(
        self, test: Sequences, first: Measured, second: Measured, most: int = EXAMPLES
    ) -> list[dict[str, str]]:
        """The passages on which two models differ most, with the bits that each needs for them."""
        check_paired(first, second)
        ids = self.codec.encode(test.main)
        apart = np.nan_to_num(first.loss - second.loss, posinf=0.0, neginf=0.0)
        if self.by != "stream" or len(ids.flat) != len(apart):
            return super().examples(test, first, second, most)
        starts = np.arange(0, len(apart), PASSAGE)
        sums = np.abs(np.add.reduceat(apart, starts))
        found: list[dict[str, str]] = []
        for place in np.argsort(-sums, kind="stable")[:most].tolist():
            some = slice(starts[place], starts[place] + PASSAGE)
            one, other = (f"{each.loss[some].sum() * BITS:.1f} bits" for each in (first, second))
            given = shortened(self.codec.decode(ids.flat[some]))
            found.append({"given": given, "first": one, "second": other})
        return found

    def beginning(self, test: Sequences) -> str:
        """The beginning of a stream up to the end of a line in it, or of a word."""
        text = next(self.codec.raw_texts(test.part(0, PROMPT).main))
        ends = text.rfind("\n") + 1 or text.rfind(" ") + 1 or len(text)
        prompt = text[max(0, ends - SAMPLE_CHARACTERS) : ends]
        return prompt.rstrip(" ") if self.unit == "subword" else prompt

    def score(self, data: Source) -> Record:
        """For each sequence its natural-log probability, its tokens and how many are unknown; a
        blank line is a sequence that ends at once. A model without ends says nothing of them."""
        ids = self.codec.encode(self.data(data).main)
        scored = score(self.model, ids, self.by)
        if self.by == "line" and not self.model.ends:
            inside = token_places(scored, self.by)
            scored = Field(scored.values[inside], offsets_of(ids.lengths), SYMBOLS)
        filled = np.flatnonzero(scored.lengths)
        log_prob, unknown = np.zeros(len(ids)), np.zeros(len(ids), np.int64)
        if len(filled):
            log_prob[filled] = np.add.reduceat(scored.values, scored.offsets[filled])
        places = np.searchsorted(ids.offsets, np.flatnonzero(ids.flat == UNKNOWN), "right") - 1
        np.add.at(unknown, places, 1)
        items = [
            {"log_prob": value, "tokens": tokens, "unknown": number}
            for value, tokens, number in zip(
                log_prob.tolist(), scored.lengths.tolist(), unknown.tolist(), strict=True
            )
        ]
        return self.record("scores", items=items, notes=self.as_one())

    def as_one(self) -> list[str]:
        """A stream has no lines of its own."""
        words = (
            "this model was fitted by stream, so the file is one sequence; "
            "fit with --by line to have each line on its own"
        )
        return [words] if self.by == "stream" else []

    def predict(self, data: Source, *, top: int = 5) -> Record:
        """For each sequence the likeliest next symbols with their probabilities."""
        ids = self.codec.encode(self.data(data).main)
        items = []
        with torch.inference_mode():
            for s in range(len(ids)):
                beginning = prompts([ids.row(s)[-MOST_PROMPT:]])
                p = asked(self.model).start(beginning)[0].log_probs()[0].exp()
                items.append({"next": self.likeliest(p, top)})
        return self.record("predictions", items=items, notes=self.as_one())

    def likeliest(self, p: torch.Tensor, top: int) -> list[dict[str, Any]]:
        """(V,) probabilities -> the likeliest symbols."""
        if top < 1:
            raise ConfigError(
                "at least one symbol is shown", got=top, do="Choose a top of 1 or more"
            )
        best = p.topk(min(top, self.codec.size))
        pairs = zip(best.values.tolist(), best.indices.tolist(), strict=True)
        names, shown = self.codec.symbols, self.codec.shown
        return [{"symbol": shown(names[i]), "probability": value} for value, i in pairs]

    # -- writing
    def generate(self, prompt: str = "", **settings: Any) -> Record:
        """Text after a prompt: a record whose items have text and log-probability each. Settings:
        see `GenerateOptions`."""
        return exhausted(self.generation(prompt, **settings))

    def text(self, prompt: str = "", **settings: Any) -> str:
        """The text of one result."""
        return self.generate(prompt, **settings)["items"][0]["text"]

    def stream(self, prompt: str = "", **settings: Any) -> Iterator[str]:
        """The text of one sample as it is written, the prompt first."""
        if settings.get("beam") or settings.get("exact"):
            raise ConfigError(
                "a search knows its text only at the end",
                got="beam or exact",
                do="Sample, or generate without streaming",
            )
        for event in self.generation(prompt, **settings | {"count": 1}):
            yield event["text"]

    def generation(self, prompt: str = "", **settings: Any) -> Generator[Event, None, Record]:
        """The same as a generator of events: the pieces of a single sample as they are written."""
        options, stops, forbidden = self.decoding(settings)
        row = self.codec.encode_text(one_text(prompt, "a prompt"))
        draft = self.drafting(options)
        refuse_beyond(self.model, prompts([row]), options)
        if options.beam or options.exact or options.count > 1:
            found = decode(self.model, prompts([row]), options, stops, forbidden, draft)[0]
        else:
            walk = self.walk(row, options, stops, forbidden, draft)
            found = yield from self.written_down(prompt, row, walk)
        drawn = not (options.beam or options.exact or not options.temperature)
        items = [
            {
                "prompt": prompt,
                "text": self.written(prompt, row, result.symbols),
                "log_prob": result.log_prob,
                "tokens": len(result.symbols),
                "ended": result.ended,
                "seed": options.seed + i if drawn else None,
            }
            for i, result in enumerate(found)
        ]
        return self.record("generated", items=items, notes=self.unknown_in(prompt))

    def unknown_in(self, text: str) -> list[str]:
        """A note on the symbols of a text that the model does not know."""
        pieces = dict.fromkeys(self.codec.pieces_of(text))
        unknown = [repr(each) for each in pieces if each not in self.codec.number]
        return [f"the model does not know {', '.join(unknown)}"] if unknown else []

    def walk(
        self,
        row: np.ndarray,
        options: DecodingOptions,
        stops: tuple[int, ...],
        forbidden: tuple[int, ...],
        draft: Model | None,
    ) -> Iterator[list[Result]]:
        """One sample, longer from step to step."""
        batch = prompts([row])
        if draft is None:
            return sampling(self.model, batch, options, [options.seed], stops, forbidden)
        return speculating(self.model, draft, batch, options, options.seed, stops, forbidden)

    def written_down(
        self, prompt: str, row: np.ndarray, walk: Iterator[list[Result]]
    ) -> Generator[Event, None, list[Result]]:
        """Events with the pieces of a text as it grows; all together are the text."""
        shown: str = ""
        results: list[Result] = []
        with torch.inference_mode():
            for number, results in enumerate(walk):
                if number < OFTEN or number % SELDOM == 0:  # each look at the whole takes time
                    text = self.written(prompt, row, results[0].symbols)
                    whole = text.rstrip("\ufffd")  # a character whose bytes are not all there yet
                    if whole.startswith(shown) and len(whole) > len(shown):
                        yield {"event": "text", "text": whole[len(shown) :]}
                        shown = whole
        text = self.written(prompt, row, results[0].symbols)
        yield {"event": "text", "text": text[len(shown) :]}
        return results

    def decoding(
        self, settings: Mapping[str, Any]
    ) -> tuple[DecodingOptions, tuple[int, ...], tuple[int, ...]]:
        """The options, the symbols that end a result, and those that are never written."""
        build(GenerateOptions, settings, "generate")  # only what this room has
        options = build(DecodingOptions, settings, "generate")
        lines = self.by == "line"
        stops, forbidden = ({STOP}, {UNKNOWN}) if lines else (set(), {UNKNOWN, STOP})
        if options.stop:
            if options.stop not in self.codec.number:
                raise ConfigError(
                    "the stop symbol is not in the vocabulary",
                    got=repr(options.stop),
                    do=nearest(options.stop, map(repr, self.codec.symbols[2:50])),
                )
            stops.add(self.codec.number[options.stop])
        return options, tuple(stops), tuple(forbidden)

    def drafting(self, options: DecodingOptions) -> Model | None:
        """The model that guesses ahead, if one is asked for."""
        if not options.draft:
            return None
        if options.beam or options.exact:
            raise ConfigError(
                "a draft guesses ahead of a sample, not of a search",
                got="beam or exact",
                do="Leave out --draft, or sample",
            )
        from seriatim.tasks.opening import load

        draft = load(options.draft)
        model = matched(draft.model, draft.codec.symbols, self.codec.symbols)
        if model is None:
            raise ConfigError(
                "the draft knows other symbols",
                got=f"{options.draft}: {draft.codec.size}, not the same {self.codec.size}",
                do="Fit both on the same data with the same --unit and the same --valid",
            )
        return model

    def written(self, prompt: str, row: np.ndarray, symbols: list[int]) -> str:
        """The prompt as it was typed, and what was written after it."""
        return self.codec.continue_text(prompt, row.tolist(), symbols)

    # -- looking inside: see `seriatim.tasks.language.ngrams` and `.inside`
    def ngrams(self, pattern: str, *, top: int = 20) -> Record:
        """What stands at the * of a pattern such as "won a *", with counts and back-off."""
        from seriatim.tasks.language.ngrams import continuations

        return self.record("continuations", **continuations(self, pattern, top))

    def gradient(self, data: Source) -> Record:
        """How strongly the loss of a symbol pulls at each of the symbols before it."""
        from seriatim.tasks.language.inside import gradient_by_distance

        return self.by_distance("gradient", gradient_by_distance(self, data))

    def influence(self, data: Source) -> Record:
        """How much a symbol matters for what is expected so many places later."""
        from seriatim.tasks.language.inside import influence_by_distance

        return self.by_distance("influence", influence_by_distance(self, data))

    def by_distance(self, kind: str, found: Record) -> Record:
        """A record that those of other runs can be added to."""
        run = {"run": None if self.folder is None else str(self.folder), **found}
        return self.record(kind, runs=[run], notes=found["notes"])

    def positions(self, *, most: int = 64) -> Record:
        """What each position is told: the vectors that are added, concatenated or turned by."""
        from seriatim.tasks.language.inside import position_vectors

        return self.record(**position_vectors(self, most))

    def attention(self, data: Source, *, layer: int = 0, head: int = 0) -> Record:
        """How much each position attends to each of the others, by layer and head: of all, or of
        one layer or head, counted from 1."""
        from seriatim.tasks.language.inside import attention_maps

        return self.record(**attention_maps(self, data, layer=layer, head=head))

    def gates(self, text: str, *, layer: int = 0) -> Record:
        """How far the gates of recurrent layers stand open while a text is read: of all layers, or
        of one, counted from 1."""
        from seriatim.tasks.language.inside import gates_while_reading

        return self.record(**gates_while_reading(self, text, layer))

    def units(self, text: str, **settings: Any) -> Record:
        """What hidden units say along a text, and which follow a marker of it. Settings: see
        `UnitOptions`."""
        from seriatim.tasks.language.inside import units_while_reading

        options = build(UnitOptions, settings, "units")
        return self.record(**units_while_reading(self, text, options))

    def embed(self, data: Source, *, layer: int = 0, each: str = "position") -> Record:
        """The vector of each symbol once it has been read, in a layer, or for each sequence their
        mean."""
        from seriatim.tasks.language.inside import vectors_of

        return self.record("vectors", items=vectors_of(self, self.data(data), layer, each))

    def surprisal(self, data: Source) -> Record:
        """How many bits each symbol of a text costs."""
        from seriatim.tasks.language.inside import surprisal

        return self.record(**surprisal(self, data))

    # -- the proof of bits per character
    def compress(self, data: str | Path, *, out: str | Path = "") -> Record:
        """Write a text file in as many bits as it scores, and a header."""
        from seriatim.tasks.language.compressing import compress

        return self.record("compressed", **compress(self, str(data), str(out)))

    def restore(self, data: str | Path, *, out: str | Path = "") -> Record:
        """The text of a compressed file, to the byte."""
        from seriatim.tasks.language.compressing import restore

        return self.record("restored", **restore(self, str(data), str(out)))

    # -- for other models and programs
    def reader(self) -> Network:
        """The network that reads for another one."""
        one = self.model.parts[0] if len(self.model.parts) == 1 else None
        if isinstance(one, Network) and any(each.numel() for each in one.blocks.parameters()):
            return one
        raise ConfigError(
            "an encoder is a network that reads symbols in their context",
            got=self.spec,
            do="Fit one, for instance gru, lstm or transformer",
        )

    def export(self, *, out: str | Path = "") -> Record:
        """Write n-grams as an ARPA file, which KenLM and others read: .arpa, .arpa.gz or .arpa.xz; or
        a transformer as a GPT-2, which Hugging Face's transformers reads: a folder, that is a name
        without ending or one with a slash behind."""
        if str(out).lower().endswith(ENDINGS):
            return self.export_arpa(Path(out))
        ending = Path(out).suffix and not str(out).endswith(("/", os.sep))
        if isinstance(self.model, Ngram) or ending or not str(out):
            raise ConfigError(
                "the ending says what is written",
                got=out,
                do=f"Choose for n-grams a name that ends in {', '.join(ENDINGS[:-1])} or "
                f"{ENDINGS[-1]}, for a transformer one that ends in /",
            )
        from seriatim.tasks.language.models.gpt2 import write_gpt2

        return self.record("exported", **write_gpt2(Path(out), self.codec, self.model))

    def export_arpa(self, out: Path) -> Record:
        """N-grams and back-off weights."""
        if not isinstance(self.model, Ngram) or isinstance(self.model, Markov):
            rungs = self.task.rungs.items()
            able = [name for name, each in rungs if str(each.implementation).endswith(":Ngram")]
            raise ConfigError(
                "an ARPA file holds n-grams and back-off weights, which this model has not",
                got=self.spec,
                do=f"Models that can be exported: {', '.join(able)}",
            )
        write_arpa(out, self.model.tables, self.codec.symbols)
        counts = [len(keys) for keys in self.model.tables.keys]
        return self.record("exported", out=str(out), ngrams=counts)


def of_arpa(path: Path) -> LanguagePredictor | None:
    """The n-grams of an ARPA file, as KenLM and SRILM write it, for lines of tokens."""
    if not (os.path.isfile(path) and str(path).lower().endswith(ENDINGS)):
        return None
    symbols, tables = read_arpa(str(path))
    room = TASK
    parts = room.parts("kneser-ney", {"order": len(tables.keys)})
    codec = Tokens(CodecOptions(unit="token"), symbols)
    model = create(parts, codec.size)
    assert isinstance(model, Ngram)
    model.tables = tables
    return LanguagePredictor(room, "kneser-ney", parts, codec, model, "line")


def of_gpt2(folder: Path) -> LanguagePredictor | None:
    """The transformer in a folder of Hugging Face, for a stream of subwords: a GPT-2 as our own, any
    other causal model by the library."""
    if not os.path.isfile(folder / "config.json"):
        return None
    from seriatim.tasks.language.models.gpt2 import read_gpt2
    from seriatim.tasks.language.models.pretrained import is_causal, read_causal

    room = TASK
    if is_causal(read_json(folder / "config.json")):
        found, causal = read_causal(folder)
        return LanguagePredictor(room, folder.name, [], found, causal, "stream")
    codec, options, model = read_gpt2(folder)
    recipe = room.parts("transformer", {})[0]
    part = Part("transformer", recipe.rung, options, recipe.training)
    return LanguagePredictor(room, "transformer", [part], codec, model, "stream")
