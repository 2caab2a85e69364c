"""A Predictor of targets: it translates, in the widest sense, from any source to a sequence.

model = fit("translate", "gru", "train.tsv")
model.predict("new.txt", beam=5);   model.evaluate("test.tsv");   model.generate("a source")

Sources that are equal have several references, and any of them is right. Shapes: S sources.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, cast

import numpy as np
import torch

from seriatim.codecs.brackets import brackets_in
from seriatim.codecs.scaled import Scaled
from seriatim.codecs.symbols import STOP, UNKNOWN, Codec
from seriatim.data.formats import format_of
from seriatim.data.objects import at_hand, files_in
from seriatim.data.sequences import Field, Sequences
from seriatim.decoding.beam import beam
from seriatim.decoding.constraints import Demands
from seriatim.decoding.options import DecodingOptions
from seriatim.decoding.results import Result
from seriatim.decoding.sampling import sampling
from seriatim.errors import ConfigError, DataError
from seriatim.layers.attention import Attention
from seriatim.layers.devices import home, to
from seriatim.measuring.measured import Measured
from seriatim.models.attending import MOST_SHOWN, attending, maps_of, refusal
from seriatim.models.base import Model, evaluating
from seriatim.models.ladder import Part
from seriatim.models.renumbered import Renumbered, numbering
from seriatim.models.stack import by_trees
from seriatim.progress import exhausted, note, passing
from seriatim.records import Record
from seriatim.runs.against import told_apart
from seriatim.runs.predictor import Predictor, Source
from seriatim.settings import build
from seriatim.shapes import Shape, plain, real, table, whole
from seriatim.tasks.base import Task
from seriatim.tasks.translate.codec import EncodedPairs, PairCodec, of_pairs
from seriatim.tasks.translate.cut import TranslateCut, refuse_unbalanced_sources
from seriatim.tasks.translate.demands import demands_of
from seriatim.tasks.translate.metrics import (
    difference,
    measure,
    score_pairs,
    single_words,
    summarise,
)
from seriatim.tasks.translate.models.encoder_decoder import EncoderDecoder
from seriatim.tasks.translate.options import DEFAULTS, SearchOptions, TreeOptions
from seriatim.tasks.translate.references import gathered, references, written
from seriatim.tasks.translate.rows import counted, empty, places, tell_long, too_long
from seriatim.tasks.translate.search import (
    ROWS,
    alignment,
    judge_of,
    least_risk,
    quality,
    translations,
)
from seriatim.tasks.translate.sources import ALSO, SOURCE, TARGET

Event = dict[str, Any]
One = str | Mapping[str, Any]  # one source: a text, or the fields of one row
# whoever sets one of these wants samples, not a search
SAMPLED = {"temperature", "top_k", "top_p", "min_p", "min_bayes_risk"}
WIDTHS, PENALTIES = (1, 4, 8), (0.0, 0.5, 1.0, 1.5)  # what `tune_search` tries
SEARCHES = [(width, p) for width in WIDTHS for p in (PENALTIES if width > 1 else (1.0,))]
MOST_TUNED, FEWEST_TUNED = 300, 20  # sources it tries them on
TUNED_SHARE = 0.1  # of the time of a fit
SAMPLE_CHARACTERS = 60
NOTHING = {"target": "", "log_prob": None, "score": None, "tokens": 0, "ended": True}
JUDGES = {"chrf": "chrF", "bleu": "BLEU", "exact": "% exact"}


class Translator(Predictor):
    """A fitted model that writes a target for a source."""

    codec: PairCodec

    def __init__(
        self, task: Task, spec: str, parts: list[Part], codec: PairCodec, model: Model, *rest: Any
    ):
        """What the data decided, such as the width, is among the settings that are kept."""
        kept = list(parts)
        for i, (part, each) in enumerate(zip(parts, model.parts, strict=False)):
            if isinstance(each, EncoderDecoder) and not part.options.width:
                kept[i] = replace(part, options=each.options)
        super().__init__(task, spec, kept, codec, model, *rest)
        for each in model.parts:  # what reads trees is told which symbols are brackets
            if isinstance(each, EncoderDecoder) and each.encoder.by_trees:
                tell_brackets(each, codec)

    # -- data
    def data(self, source: Source, gaps: bool = False) -> Sequences:
        """Pairs, or sources alone, under these names; a list of texts is that of sources."""
        source = at_hand(source)
        data = self.task.cut.sequences(source, self.reading_of(source), unit=self.unit, gaps=gaps)
        own = [name for name in data.fields if not name.startswith(ALSO)]
        if len(own) == 1:
            beside = {name: each for name, each in data.fields.items() if name not in own}
            return replace(data, fields={SOURCE: data.fields[own[0]]} | beside)
        return data if SOURCE in data.fields else self.cut.named(data)

    @property
    def cut(self) -> TranslateCut:
        """How its data are read."""
        return cast(TranslateCut, self.task.cut)

    def reading_of(self, source: Source) -> Any:
        """How to read this: as in training, but sources alone may be a text where the pairs were a
        table with columns to be named, and two files are read as what they are."""
        files = None if isinstance(source, Sequences) else files_in(source)
        if files is None:
            return self.reading_in_memory(source)
        if len(files) > 1:
            return replace(self.reading, input_format="", columns="")
        formats = [self.reading.input_format or format_of(file) for file in files]
        return replace(self.reading, columns="") if formats == ["text"] else self.reading

    def sources(self, data: Sequences) -> EncodedPairs:
        """The sources in numbers."""
        if by_trees(self.model):
            refuse_unbalanced_sources(self.codec, data)
        return self.codec.encode(data, paired=False)

    def pairs(self, source: Source, every: bool = False) -> Sequences:
        """Data that has targets, too; with `every`, those with an empty side are among them."""
        data = self.data(source)
        if TARGET not in data.fields:
            standard = "; of a table on standard input say --input-format tsv"
            raise DataError(
                f"{data.origin} has sources and no targets",
                got=f"fields: {', '.join(data.fields)}",
                do="Give pairs of a source and a target" + (standard if data.origin == "-" else ""),
            )
        data = replace(data, unit=data.unit or self.unit)
        if by_trees(self.model):
            refuse_unbalanced_sources(self.codec, data)
        return self.cut.named(data) if every else self.cut.prepare(data, {})

    def of_text(self, text: One) -> EncodedPairs:
        """One source in numbers."""
        return self.sources(self.one(text))

    def one(self, text: One) -> Sequences:
        """One source: a text; or a dict of the source and all that is read beside it."""
        if isinstance(text, Mapping):
            return self.data({name: [value] for name, value in text.items()})
        numbers, beside = isinstance(self.codec.source, Scaled), list(self.codec.also)
        if numbers or beside:
            raise ConfigError(
                "the sources of this model are numbers"
                if numbers
                else "this model reads more than one text: beside the source "
                + ", ".join(map(repr, beside)),
                got=f"a text, to {self.spec}",
                do="Give them as a table, to `predict`; or, in Python, a dict: "
                + "{"
                + ", ".join(f"{name!r}: ..." for name in (SOURCE, *beside))
                + "}",
            )
        return Sequences({SOURCE: Field.of_text([text])}, origin="text")

    # -- searching
    def kept(self) -> Shape:
        """What was found best on validation data."""
        found = table({}, {"beam": whole(0, 1000), "length_penalty": real(-100, 100)})
        return table({}, {"search": found}, others=plain)

    def searching(self, settings: Mapping[str, Any]) -> tuple[DecodingOptions, Demands]:
        """How to search: what was found best on validation data, and what is asked for."""
        build(SearchOptions, settings, "predict")
        sampled = {"beam": 0, "temperature": 1.0} if SAMPLED & settings.keys() else {}
        known = DEFAULTS | self.metrics.get("search", {}) | sampled
        options = build(DecodingOptions, known | dict(settings), "predict")
        one = options.beam or options.count > 1 or not options.temperature
        if options.min_bayes_risk and one:
            raise ConfigError(
                "the minimum Bayes risk is found among samples, and is one result",
                got=f"--beam {options.beam} --count {options.count} --temperature "
                f"{options.temperature:g} --min-bayes-risk {options.min_bayes_risk}",
                do="Leave out the other",
            )
        if (options.must or options.coverage) and not options.beam:
            raise ConfigError(
                "what must appear, and coverage, are for a beam",
                got="samples",
                do="Add --beam 5, or more for several words",
            )
        return options, demands_of(self.codec.target, options)

    def room(
        self, pairs: EncodedPairs, settings: Mapping[str, Any], demands: Demands
    ) -> np.ndarray:
        """(S,) how many symbols each target may have: what was asked for, or what such sources need,
        and what must come besides."""
        if "length" in settings:
            return np.full(len(pairs), int(settings["length"]))
        return self.codec.room(pairs.lengths) + len(demands.prefix) + sum(map(len, demands.must))

    def results(
        self, pairs: EncodedPairs, settings: Mapping[str, Any], rows: int = ROWS
    ) -> list[list[Result]]:
        """For each source its results, the best first; at most `rows` sources side by side."""
        options, demands = self.searching(settings)
        room = self.room(pairs, settings, demands)
        if not options.min_bayes_risk:
            found = translations(self.model, pairs, room, options, demands, rows)
            for result in chain(*found) if not options.beam else ():
                result.score = result.ranked(options.length_penalty)
            return found
        many = replace(options, count=options.min_bayes_risk)
        chosen = []
        for several in translations(self.model, pairs, room, many, demands, rows):
            place, worth = least_risk([self.codec.decode(result.symbols) for result in several])
            chosen.append([replace(several[place], score=worth)])
        return chosen

    # -- writing
    def predict(self, data: Source, **settings: Any) -> Record:
        """For each source its target, with `count` all results, best first. Settings: see
        `SearchOptions`."""
        given = self.data(data, gaps=True)
        sources, (options, _) = self.sources(given), self.searching(settings)
        asked = np.flatnonzero(self.answerable(given, sources))
        found = dict(zip(asked.tolist(), self.results(sources.take(asked), settings), strict=True))
        items = []
        for s in range(len(given)):
            answers = [self.answer(result) for result in found.get(s, [])]
            unknown = self.codec.unknown(sources, s)
            best = {"source": written(given.field(SOURCE), s), **(answers or [NOTHING])[0]}
            items.append(best | {"unknown": unknown, "results": answers})
        self.remark(items)
        return self.record("predictions", count=options.count, items=items)

    def answerable(self, given: Sequences, sources: EncodedPairs) -> np.ndarray:
        """(S,) which sources are answered: an empty one is not, nor one too long to be read."""
        blank, long = empty(given.field(SOURCE)), too_long(*sources.sources)
        for which, what in ((blank, "nothing to translate"), (long, "too many symbols to be read")):
            rows = np.flatnonzero(which)
            if len(rows):
                note(
                    f"{counted(rows, 'source')} {what}, and an empty target: {places(given, rows)}"
                )
        return ~(blank | long)

    def answer(self, result: Result) -> dict[str, Any]:
        """A result; one that cannot be, since nothing meets all demands, has no log-probability."""
        possible = result.log_prob > -np.inf
        return {
            "target": self.codec.decode(result.symbols),
            "log_prob": result.log_prob if possible else None,
            "score": result.score if possible else None,
            "tokens": len(result.symbols),
            "ended": result.ended,
        }

    def remark(self, items: list[dict[str, Any]]) -> None:
        """Tell what a reader of many targets might not see."""
        unknown = sum(item["unknown"] for item in items)
        impossible = sum(item["log_prob"] is None for item in items if item["results"])
        if unknown:
            note(f"{unknown:,} symbols of the sources are unknown to the model")
        if impossible:
            note(
                f"for {impossible:,} sources nothing meets all that was asked for; "
                "their lines are empty"
            )

    def generate(self, prompt: One, **settings: Any) -> Record:
        """The target of one source, a text or a dict of all that is read: a record whose items have
        text and log-probability each. Settings: see `SearchOptions`."""
        return exhausted(self.generation(prompt, **settings))

    def generation(self, prompt: One, **settings: Any) -> Generator[Event, None, Record]:
        """The same as a generator of events: the pieces of a target as it is written, where a single
        one is drawn; one that is searched for comes at once."""
        options, _ = self.searching(settings)
        given = self.one(prompt)
        pairs, shown = self.sources(given), written(given.field(SOURCE), 0)
        if not shown.strip():
            note("an empty source has an empty target")
            found = [Result([], ended=True)]
        elif options.beam or options.min_bayes_risk or options.count > 1:
            found = self.results(pairs, settings)[0]
        else:
            found = yield from self.written_down(pairs, settings)
        drawn = not (options.beam or options.min_bayes_risk) and options.temperature > 0
        items = [
            {
                "prompt": shown,
                "text": self.codec.decode(result.symbols),
                "log_prob": result.log_prob,
                "tokens": len(result.symbols),
                "ended": result.ended,
                "seed": options.seed + i if drawn else None,
            }
            for i, result in enumerate(found)
        ]
        return self.record("generated", items=items, notes=self.unknown_in(given))

    def unknown_in(self, given: Sequences) -> list[str]:
        """A note on the symbols of a source that the model does not know."""
        codecs = {SOURCE: self.codec.source}
        codecs |= {ALSO + name: codec for name, codec in self.codec.also.items()}
        unknown = [
            repr(piece)
            for name, codec in codecs.items()
            if not isinstance(codec, Scaled)
            for piece in dict.fromkeys(codec.pieces_of(written(given.field(name), 0)))
            if piece not in codec.number
        ]
        return [f"the model does not know {', '.join(unknown)}"] if unknown else []

    def written_down(
        self, pairs: EncodedPairs, settings: Mapping[str, Any]
    ) -> Generator[Event, None, list[Result]]:
        """Events with the pieces of a target as it grows; all together are the target."""
        options, demands = self.searching(settings)
        limits = replace(demands, most=torch.from_numpy(self.room(pairs, settings, demands)))
        batch, seeds, shown = of_pairs(pairs, np.zeros(1, np.int64)), [options.seed], ""
        results: list[Result] = []
        with torch.inference_mode():
            for results in sampling(self.model, batch, options, seeds, (STOP,), (UNKNOWN,), limits):
                text = self.codec.decode(results[0].symbols).rstrip("\ufffd")
                if text.startswith(shown) and len(text) > len(shown):
                    yield {"event": "text", "text": text[len(shown) :]}
                    shown = text
        yield {"event": "text", "text": self.codec.decode(results[0].symbols)[len(shown) :]}
        return results

    def sample(self, test: Sequences) -> str:
        """The target of the first source of the test."""
        found = self.results(self.sources(self.data(test[:1])), {})
        return self.codec.decode(found[0][0].symbols)[:SAMPLE_CHARACTERS]

    # -- how well
    def score(self, data: Source) -> Record:
        """For each pair the natural-log probability of its target, its tokens and how many are
        unknown."""
        given = self.pairs(data, every=True)
        pairs = self.codec.encode(given)
        long = too_long(*pairs.columns)
        if long.any():
            tell_long(given, np.flatnonzero(long), "pair", "not scored")
        short = np.flatnonzero(~long)
        scored = score_pairs(self.model, pairs.take(short))
        found = {s: float(scored.row(i).sum()) for i, s in enumerate(short.tolist())}
        items = [
            {
                "log_prob": found.get(s),
                "tokens": len(pairs.y.row(s)) + 1,
                "unknown": int((pairs.y.row(s) == UNKNOWN).sum()),
            }
            for s in range(len(pairs))
        ]
        return self.record("scores", items=items)

    def measure(self, data: Source, **settings: Any) -> Measured:
        """What is written for each different source. Settings: see `SearchOptions`."""
        return measure(self, self.pairs(data), settings)

    def summarise(self, measured: Measured) -> Record:
        """Cross-entropy of the references, and what the translations are worth: see
        `seriatim.measuring.texts`."""
        return summarise(self, measured)

    def compared(self, measured: Measured, other: Measured) -> dict[str, Any]:
        """By how much the quality of two models differs on the same sources, and whether that could
        be chance."""
        found = difference(measured, other)
        title = "exact %" if single_words(measured["truth"]) else "chrF"
        figure = replace(self.judged_by(), title=title)
        bounds = (found["low"], found["high"])
        return told_apart(figure, found["difference"], bounds, found["p"], len(measured.loss))

    def row(self, measured: Measured) -> dict[str, Any]:
        """A row of a comparison."""
        record = self.summarise(measured)
        kept = (
            "quality chrf bleu nats_per_token exact cer token_error interval parameters tokens "
            "unknown symbols_per_second protocol"
        )
        return {key: record[key] for key in kept.split()}

    # -- after a fit
    def conclude(self, lesson: Any, valid: Sequences | None, asked: Any) -> Iterator[str]:
        """Tune the search, if that was asked for."""
        if asked.tune_search and valid is not None:
            yield tuned(self.tune_search(valid), self.metrics["search"])

    def tune_search(self, data: Sequences) -> list[dict[str, Any]]:
        """Find the width of the beam and the penalty for length that do best on validation data, and
        keep them: by the model's own judge, by chrF, or of single words by exact ones. Of a fit by
        the clock it takes a tenth of the time at most, by looking at fewer sources."""
        given = self.pairs(data)
        first, right = gathered(given)
        first, right = first[:MOST_TUNED], right[:MOST_TUNED]
        sources = self.codec.encode(given).take(first).alone()
        truth = references(self.codec.target, given, right)
        judge = judge_of(self.model)
        judge = judge if judge != "loss" else "exact" if single_words(truth) else "chrf"
        tried: list[dict[str, Any]] = []
        begin, many = time.perf_counter(), len(sources)
        for width, penalty in passing("tuning the search", SEARCHES):
            search = {"beam": width, "length_penalty": penalty}
            found = self.results(sources.take(slice(0, many)), search)
            texts = [self.codec.decode(each[0].symbols) for each in found]
            worth = quality(judge, texts, truth[:many])
            tried.append({**search, "judge": judge, "worth": worth})
            if width == 1:  # from now on as many as there is time for
                many = self.affordable(many, time.perf_counter() - begin)
                texts = texts[:many]
                tried[-1]["worth"] = quality(judge, texts, truth[:many])
        best = max(tried, key=lambda each: (round(each["worth"], 6), -each["beam"]))
        self.metrics["search"] = {name: best[name] for name in ("beam", "length_penalty")}
        return tried

    def affordable(self, many: int, seconds: float) -> int:
        """How many sources all searches together may look at, if one by one took so many seconds
        for this many. A fit of so many updates is to be the same on every machine."""
        if not any(part.training.minutes for part in self.parts if not part.counts):
            return many
        work = sum(width for width, _ in SEARCHES)
        room = TUNED_SHARE * self.metrics["seconds"] / max(1e-9, work * seconds)
        return max(1, min(many, max(FEWEST_TUNED, int(many * room))))

    # -- looking inside
    def alignment(self, text: One, *, target: str = "") -> Record:
        """How much each symbol of the target attended to each of the source when it was written: of
        the model's own target, or the one given. Of a lexicon how probably it is its translation,
        of joint n-grams whether it was written by it. Of several sources `origins` says which each
        position is of."""
        pairs = self.of_text(text)
        if target:
            symbols = self.codec.target.encode_text(target).tolist()
        else:
            symbols = self.results(pairs, {})[0][0].symbols
        weights = alignment(self.model, pairs, symbols)  # (H, T, P)
        return self.record(
            "alignment",
            source=self.codec.source_pieces(pairs),
            origins=self.codec.origins(pairs),
            target=self.codec.target_pieces([*symbols, STOP]),
            text=self.codec.decode(symbols),
            heads=weights.tolist(),
            weights=weights.mean(0).tolist(),
            notes=[],
        )

    def attention(self, text: One, *, layer: int = 0, head: int = 0) -> Record:
        """Who attends to whom in the source, as the encoder reads it: of all layers and heads, or
        of one, counted from 1."""
        pairs = self.of_text(text)
        batch = of_pairs(pairs, np.arange(1))
        parts = [each for each in self.model.parts if isinstance(each, EncoderDecoder)]
        with evaluating(self.model):
            traced = [
                home(maps) for each in parts for maps in each.encoder_maps(to(batch, each.device))
            ]
        if not traced:
            raise refusal(self.spec)
        alone = self.codec.source_pieces(pairs)
        tokens = alone[: max(1, len(pairs.x.row(0)))]
        cut = [f"only the first {MOST_SHOWN} symbols are shown"] * (len(tokens) > MOST_SHOWN)
        return self.record(
            "attention",
            data="text",
            unit=self.unit,
            tokens=tokens[:MOST_SHOWN],
            maps=maps_of([each[0, :, :MOST_SHOWN, :MOST_SHOWN] for each in traced], layer, head),
            notes=cut,
        )

    def tree(self, text: One, **settings: Any) -> Record:
        """Every candidate of a beam search, kept, pruned or ended, with its log-probability.
        Settings: see `TreeOptions`."""
        build(TreeOptions, settings, "tree")
        options, demands = self.searching({"beam": DEFAULTS["beam"]} | settings)
        if not options.beam:
            raise ConfigError(
                "a tree is drawn of a beam search alone",
                got="--beam 0",
                do="Choose a --beam of 1 or more",
            )
        given = self.one(text)
        pairs = self.sources(given)
        limits = replace(demands, most=torch.from_numpy(self.room(pairs, settings, demands)))
        batch, nodes = of_pairs(pairs, np.zeros(1, np.int64)), list[dict[str, Any]]()
        with torch.inference_mode():
            results = beam(self.model, batch, options, (STOP,), (UNKNOWN,), limits, nodes)
        names = self.codec.target_pieces([node["symbol"] for node in nodes])
        for node, name in zip(nodes, names, strict=True):
            node["symbol"] = name
        return self.record(
            "tree",
            source=written(given.field(SOURCE), 0),
            beam=options.beam,
            length_penalty=options.length_penalty,
            nodes=nodes,
            results=[self.answer(result) for result in results[0]],
            notes=[],
        )

    # -- several runs as one
    def attends(self) -> list[Attention]:
        """Those of the encoder, which `attention` shows."""
        parts = [each for each in self.model.parts if isinstance(each, EncoderDecoder)]
        return next((found for each in parts if (found := attending(each.encoder))), [])

    def matching(self, other: Predictor) -> Model:
        """The model of another run, if it knows the same symbols on both sides, by our numbers."""
        if not isinstance(other, Translator):
            return super().matching(other)
        number = renumbering(other.codec.target, self.codec.target)
        source = renumbering(other.codec.source, self.codec.source)
        same_names = list(other.codec.also) == list(self.codec.also)
        several = zip(other.codec.also.values(), self.codec.also.values(), strict=same_names)
        also = [renumbering(theirs, ours) for theirs, ours in several]
        if number is None or source is None or None in also or not same_names:
            raise ConfigError(
                "models are mixed that know the same symbols",
                got=f"{self.spec} and {other.spec}",
                do="Fit both on the same data with the same --unit and --valid; without --valid, a "
                "network sets some of the data aside",
            )
        every = [number, source, *(each for each in also if each is not None)]
        same = all(each == list(range(len(each))) for each in every)
        return other.model if same else Renumbered(other.model, number, source, every[2:])


def tell_brackets(network: EncoderDecoder, codec: PairCodec) -> None:
    """Which symbols of each source are brackets; numbers have none."""
    encoders = (network.encoder, *(each.encoder for each in network.further))
    for encoder, each in zip(encoders, (codec.source, *codec.also.values()), strict=True):
        encoder.brackets = brackets_in(each) if isinstance(each, Codec) else None


def renumbering(theirs: Codec | Scaled, ours: Codec | Scaled) -> list[int] | None:
    """The number that each of our symbols has with them; None if they are not the same symbols, or
    text is not cut into them in the same way. Numbers are the same if their scale is."""
    if isinstance(theirs, Scaled) or isinstance(ours, Scaled):
        return [] if theirs.to_json() == ours.to_json() else None
    if cutting(theirs) != cutting(ours):
        return None
    return numbering(theirs.symbols, ours.symbols)


def cutting(codec: Codec) -> dict[str, Any]:
    """All that decides into which symbols a text is cut, but these symbols themselves."""
    apart = ("symbols", "spelling")
    return {key: value for key, value in codec.to_json().items() if key not in apart}


def tuned(tried: list[dict[str, Any]], best: Mapping[str, Any]) -> str:
    """What was tried, in a sentence."""
    worth = ", ".join(
        f"{each['beam']} / {each['length_penalty']:g}: {100 * each['worth']:.2f}" for each in tried
    )
    return (
        f"beam {best['beam']} with length penalty {best['length_penalty']:g} does best on "
        f"validation data ({JUDGES[tried[0]['judge']]} by beam / penalty: {worth})"
    )
