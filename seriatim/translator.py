"""A Predictor of targets: it translates, in the widest sense, from any source to a sequence.

    model = fit("translate", "gru", "train.tsv");   model.predict("new.txt", beam=5);   model.evaluate("test.tsv");   model.generate("a source")

Sources that are equal have several references, and any of them is right. Shapes: S sources.
"""
from __future__ import annotations

import re
import time
from collections.abc import Hashable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch

from seriatim.batches import of_pairs
from seriatim.beams import Demands, Result, beam
from seriatim.codecs.pairs import SOURCE, TARGET, Pairs
from seriatim.codecs.symbols import STOP, UNKNOWN
from seriatim.config import DecodingOptions
from seriatim.data import read
from seriatim.data.sequences import NUMBERS, SYMBOLS, TEXT, Field, Sequences
from seriatim.decoding import sampling
from seriatim.errors import ConfigError, DataError, nearest
from seriatim.evaluation import fingerprint
from seriatim.models.mixture import Mixture
from seriatim.predictor import Predictor, load
from seriatim.scoring import score_pairs
from seriatim.settings import build
from seriatim.tasks import Translate
from seriatim.texts import paired, text_report, token_errors
from seriatim.translating import attention, distinct, judge_of, least_risk, quality, translations, without_targets

SEARCH = {"beam": 4, "length_penalty": 1.0, "length": 10_000, "temperature": 0.0}
SAMPLED = {"temperature", "top_k", "top_p", "min_p", "risk"}       # whoever sets one of these wants samples, not a search
RERANKED = {"coverage", "count", "seed"}                           # what has no part in a beam search itself
REFUSED = {"exact", "draft", "ahead", "repetition_penalty", "stop"}
WIDTHS, PENALTIES = (1, 4, 8), (0.0, 0.5, 1.0, 1.5)                # what `tune` tries
MOST_TUNED = 300                                                   # sources it tries them on
BINS = 8                                                           # groups of sources by length


class Translator(Predictor):
    """A fitted model that writes a target for a source."""

    figure, higher = "chrf", True

    # -- data
    def data(self, source: Sequences | str | Path | list[str]) -> Sequences:
        """Pairs, or sources alone; a list of texts is that of sources."""
        if isinstance(source, list):
            return self.of_text(source)
        data = source if isinstance(source, Sequences) else read(source, by="line")
        if len(data.fields) == 1:
            return replace(data, fields={SOURCE: next(iter(data.fields.values()))})
        if SOURCE in data.fields:
            return data
        return Translate.given(data)

    def sources(self, data: Sequences) -> Pairs:
        return without_targets(Pairs(self.codec.encode_source(data.field(SOURCE)), data.field(SOURCE)))

    def pairs(self, data: Sequences | str | Path) -> tuple[Sequences, Pairs]:
        data = self.data(data)
        if TARGET not in data.fields:
            raise DataError(f"{data.origin} has sources and no targets", got=f"fields: {', '.join(data.fields)}",
                            do="Give pairs of a source and a target" + ("; of a table on standard input say --input-format tsv" if data.origin == "-" else ""))
        return data, self.codec.encode(data)

    # -- writing
    def searching(self, settings: dict[str, Any]) -> tuple[DecodingOptions, Demands]:
        """How to search: what was found best on validation data, and what is asked for."""
        refused = sorted(REFUSED & settings.keys())
        if refused:
            raise ConfigError("this is not for translation", got=", ".join(refused), do="Leave it out")
        known = SEARCH | self.metrics.get("search", {}) | ({"beam": 0, "temperature": 1.0} if SAMPLED & settings.keys() else {})
        options = build(DecodingOptions, known | settings, "predict")
        if options.risk and (options.beam or options.count > 1 or not options.temperature):
            raise ConfigError("the least risk is found among samples, and is one result", do="Leave out the other",
                              got=f"--beam {options.beam} --count {options.count} --temperature {options.temperature:g} --risk {options.risk}")
        if (options.must or options.coverage) and not options.beam:
            raise ConfigError("what must appear, and coverage, are for a beam", got="samples", do="Add --beam 5, or more for several words")
        prefix = tuple(self.codec.target.encode_text(options.prefix).tolist())
        if UNKNOWN in prefix:
            raise self.not_known(options.prefix)
        must = self.phrases(options.must)
        demands = Demands(prefix, tuple(phrase for phrase, _ in must), tuple(opening for _, opening in must),
                          tuple(way for ways in self.phrases(options.never, never=True) for way in ways if way))
        wanted = max(len(prefix), sum(map(len, demands.must)))
        if wanted > options.length:
            raise ConfigError("what every result must have is longer than a result may be", got=f"{wanted} symbols, and --length {options.length}",
                              do="Allow a greater --length")
        if any(contains(phrase, never) for never in demands.never for phrase in (prefix, *demands.must)):
            raise ConfigError("what every result must have is what none may have", got=f"--prefix {options.prefix!r} --must {options.must!r} "
                              f"--never {options.never!r}", do="Leave out one of them")
        return options, demands

    def not_known(self, phrase: str) -> ConfigError:
        return ConfigError("the model does not know this phrase", got=phrase, do=nearest(phrase, self.codec.symbols[2:5000]))

    def phrases(self, words: str, never: bool = False) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
        """Phrases with commas between as rows of symbols, each as it is written within a text and, if that is different, where a text begins; () if the
        model could not write it."""
        found: dict[tuple[tuple[int, ...], tuple[int, ...]], None] = {}
        for phrase in filter(None, (each.strip() for each in words.split(","))):
            ways = [f" {phrase}", phrase] if self.codec.target.options.unit == "subword" else [phrase]
            within, opening = (*(tuple(self.codec.target.encode_text(text).tolist()) for text in ways), ())[:2]
            within, opening = (() if UNKNOWN in way else way for way in (within, opening))
            if not (within or never):
                raise self.not_known(phrase)
            found[within, () if opening == within else opening] = None
        return tuple(found)

    def room(self, pairs: Pairs, settings: dict[str, Any], demands: Demands) -> np.ndarray:
        """(S,) how many symbols each target may have: what was asked for, or what such sources need, and what must come besides."""
        if "length" in settings:
            return np.full(len(pairs), int(settings["length"]))
        return self.codec.room(pairs.x.lengths) + len(demands.prefix) + sum(map(len, demands.must))

    def results(self, pairs: Pairs, settings: dict[str, Any], rows: int = 64) -> list[list[Result]]:
        options, demands = self.searching(settings)
        room = self.room(pairs, settings, demands)
        if not options.risk:
            found = translations(self.model, pairs, room, options, demands, rows)
            for result in chain(*found) if not options.beam else ():
                result.score = result.ranked(options.length_penalty)
            return found
        drawn = translations(self.model, pairs, room, replace(options, count=options.risk), demands, rows)
        chosen = []
        for several in drawn:
            place, worth = least_risk([self.codec.decode(result.symbols) for result in several])
            chosen.append([replace(several[place], score=worth)])
        return chosen

    def predict(self, data: Sequences | str | Path, top: int = 1, rows: int = 64, **settings: Any) -> list[dict[str, Any]]:
        """For each source its target, with `count` all results, best first."""
        data = self.data(data)
        sources = self.sources(data)
        found = self.results(sources, settings, rows)
        unknown = [0 if sources.x.kind == NUMBERS else int((sources.x.row(s) == UNKNOWN).sum()) for s in range(len(sources))]
        return [{"source": written(data.field(SOURCE), s), **self.record(results[0]), "unknown": unknown[s],
                 "results": [self.record(result) for result in results]} for s, results in enumerate(found)]

    def record(self, result: Result) -> dict[str, Any]:
        """A result; one that cannot be, since nothing meets all demands, has no log-probability."""
        possible = result.log_prob > -np.inf
        return {"target": self.codec.decode(result.symbols), "log_prob": result.log_prob if possible else None, "score": result.score if possible else None,
                "tokens": len(result.symbols), "ended": result.ended}

    def of_text(self, texts: list[str]) -> Sequences:
        if not hasattr(self.codec.source, "options"):
            raise ConfigError("the sources of this model are numbers", got=self.spec, do="Give them as a table, to `predict`")
        return Sequences({SOURCE: Field.of_text(texts)}, origin="text")

    def generate_records(self, several: list[str], **settings: Any) -> list[list[dict[str, Any]]]:
        """For each source its results."""
        found = self.results(self.sources(self.of_text(several)), settings)
        return [[{"prompt": prompt, "text": self.codec.decode(result.symbols), "log_prob": result.log_prob, "tokens": len(result.symbols),
                  "ended": result.ended, "seed": None} for result in results] for prompt, results in zip(several, found, strict=True)]

    def stream(self, prompt: str = "", **settings: Any) -> Iterator[str]:
        """The target as it is written where it is drawn; at once where it is searched for."""
        options, demands = self.searching(settings)
        if options.beam or options.risk:
            yield self.generate_records([prompt], **settings)[0][0]["text"]
            return
        pairs, shown = self.sources(self.of_text([prompt])), ""
        limits = replace(demands, most=torch.from_numpy(self.room(pairs, settings, demands)))
        with torch.inference_mode():
            for (result,) in sampling(self.model, of_pairs(pairs, np.zeros(1, np.int64)), options, [options.seed], (STOP,), (UNKNOWN,), limits):
                text = self.codec.decode(result.symbols).rstrip("\ufffd")
                if text.startswith(shown):
                    yield text[len(shown):]
                    shown = text
        yield self.codec.decode(result.symbols)[len(shown):]

    # -- figures
    def score(self, data: Sequences | str | Path) -> list[dict[str, Any]]:
        """For each pair the log-probability of its target."""
        data, pairs = self.pairs(data)
        scored = score_pairs(self.model, pairs)
        return [{"log_prob": float(scored.row(s).sum()), "tokens": len(scored.row(s)), "unknown": int((pairs.y.row(s) == UNKNOWN).sum())}
                for s in range(len(pairs))]

    def measure(self, data: Sequences | str | Path, **settings: Any) -> dict[str, Any]:
        data, pairs = self.pairs(data)
        scored = score_pairs(self.model, pairs)
        first, right = self.gathered(data)
        begin = time.perf_counter()
        found = [results[0] for results in self.results(without_targets(pairs.take(first)), settings)]
        seconds = time.perf_counter() - begin
        return {"log_prob": scored, "found": [result.symbols for result in found], "texts": [self.codec.decode(result.symbols) for result in found],
                "pairs": pairs, "first": first, "targets": [pairs.y, *(self.codec.target.encode(data.fields[name]) for name in further(data))],
                "references": self.references(data, right), "right": right, "cut_off": sum(not result.ended and result.log_prob > -np.inf for result in found),
                "seconds": seconds, "data": data, "settings": settings}

    def gathered(self, data: Sequences) -> tuple[np.ndarray, list[list[tuple[int, int]]]]:
        """(S',) the first place of each different source, and for each of these its references: column and place. Empty cells of further columns are none."""
        first, owner = distinct(key_of(data.field(SOURCE), s) for s in range(len(data)))
        right: list[list[tuple[int, int]]] = [[] for _ in first]
        lengths = [data.fields[name].lengths for name in further(data)]
        for s, number in enumerate(owner):
            right[number] += [(0, s), *((column, s) for column, each in enumerate(lengths, 1) if each[s])]
        return first, right

    def references(self, data: Sequences, right: list[list[tuple[int, int]]]) -> list[list[str]]:
        columns = [self.rewritten(data.fields[name]) for name in (TARGET, *further(data))]
        return [[written(columns[column], s) for column, s in several] for several in right]

    def rewritten(self, column: Field) -> Field:
        """References as this codec would write them, where it does not keep every blank."""
        target = self.codec.target
        if target.lossless or column.kind != TEXT:
            return column
        ids = target.encode(column)
        return Field.of_text(str(column.raw(s)) if UNKNOWN in ids.row(s) else target.decode(ids.row(s)) for s in range(len(column)))

    def evaluate(self, data: Sequences | str | Path, **settings: Any) -> dict[str, Any]:
        """Cross-entropy of the references, and what the translations are worth: see `seriatim.texts`."""
        return self.summarise(self.measure(data, **settings))

    def summarise(self, measured: dict[str, Any]) -> dict[str, Any]:
        pairs, data, found = measured["pairs"], measured["data"], measured["found"]
        nats = float(-measured["log_prob"].values.mean())
        names = self.codec.symbols
        tokens = [[[names[i] if i != UNKNOWN else f"<unk {s}>" for i in measured["targets"][column].row(s)] for column, s in several]
                  for several in measured["right"]]
        errors = token_errors([[names[i] for i in symbols] for symbols in found], tokens)                     # (S, 2)
        exact = np.array([text in references for text, references in zip(measured["texts"], measured["references"], strict=True)])
        lengths = pairs.x.lengths[measured["first"]] - (pairs.x.kind != NUMBERS)                              # without STOP
        options, _ = self.searching(measured["settings"])
        report = text_report(measured["texts"], measured["references"])
        return {"version": 1, "task": self.task, "model": self.spec, "data": data.origin, "nats_per_token": nats, "perplexity": float(np.exp(min(nats, 700))),
                **report, "token_error": float(errors[:, 0].sum() / max(1, errors[:, 1].sum())), "by_length": by_length(lengths, exact, errors),
                "sources": len(found), "pairs": len(pairs), "cut_off": measured["cut_off"], "tokens": len(measured["log_prob"].values),
                "unknown": int((pairs.y.flat == UNKNOWN).sum()),
                "seconds": measured["seconds"], "sources_per_second": len(found) / max(measured["seconds"], 1e-9), "parameters": self.model.size(),
                "protocol": {"unit": self.codec.options.unit, "target_unit": self.codec.target.options.unit, "vocabulary": self.codec.size,
                             "source_vocabulary": self.codec.sizes[0], "end": "scored", "search": searched(options),
                             "references": "equal sources have several, any of which is right; nats are those of the first column",
                             "text": "as written, against the references as given" if self.codec.target.lossless else
                             "as written, against the references with blanks as this codec puts them",
                             "seen_in_training": self.metrics.get("fingerprint") == fingerprint(data.main)}}

    def row(self, measured: dict[str, Any]) -> dict[str, Any]:
        record = self.summarise(measured)
        kept = ("nats_per_token", "exact", "token_error", "parameters", "tokens", "unknown", "protocol")
        return {key: record[key] for key in kept} | {"chrf": record["chrf"]["score"], "bleu": record["bleu"]["score"], "interval": record["interval"]["chrf"],
                                                     "symbols_per_second": record["tokens"] / max(record["seconds"], 1e-9),
                                                     "sample": measured["texts"][0][:60] if measured["texts"] else ""}

    @staticmethod
    def told(row: dict[str, Any]) -> str:
        return f"chrF {row['chrf']:.2f}, {100 * row['exact']:.1f} % exact"

    @staticmethod
    def apart(first: dict[str, Any], second: dict[str, Any]) -> float:
        return paired(first["texts"], second["texts"], first["references"], others=second["references"])["p"]

    def tune(self, data: Sequences) -> list[dict[str, Any]]:
        """Find the width of the beam and the penalty for length that do best on validation data, and keep them: by the model's own judge, or by chrF."""
        data, pairs = self.pairs(data)
        first, right = (each[:MOST_TUNED] for each in self.gathered(data))
        some, texts = pairs.take(first), self.references(data, right)
        judge, tried = judge_of(self.model).replace("loss", "chrf"), []
        for width in WIDTHS:
            for penalty in PENALTIES if width > 1 else (1.0,):
                found = self.results(without_targets(some), {"beam": width, "length_penalty": penalty})
                tried.append({"beam": width, "length_penalty": penalty, "judge": judge,
                              "worth": quality(judge, [self.codec.decode(each[0].symbols) for each in found], texts)})
        best = max(tried, key=lambda each: (round(each["worth"], 6), -each["beam"]))
        self.metrics["search"] = {name: best[name] for name in ("beam", "length_penalty")}
        return tried

    # -- looking inside
    def attended(self, text: str, target: str | None = None) -> dict[str, Any]:
        """How much of each symbol of the source was heard when each of the target was written: the model's own, or the one given."""
        pairs = self.sources(self.of_text([text]))
        symbols = self.results(pairs, {})[0][0].symbols if target is None else self.codec.target.encode_text(target).tolist()
        heard = attention(self.model, pairs.x.row(0), [symbols])[0]                                           # (H, T, P)
        return {"version": 1, "kind": "alignment", "source": self.codec.source_pieces(pairs.x.row(0)),
                "target": [*(self.codec.symbols[i] for i in symbols), self.codec.symbols[STOP]], "text": self.codec.decode(symbols),
                "heads": heard.tolist(), "weights": heard.mean(0).tolist(), "notes": []}

    def tree(self, text: str, **settings: Any) -> dict[str, Any]:
        """Every candidate of a beam search, kept, pruned or ended, with its log-probability."""
        options, demands = self.searching({"beam": 4} | settings)
        if not options.beam or settings.keys() & (SAMPLED | RERANKED):
            raise ConfigError("a tree is drawn of a beam search alone", got=", ".join(f"--{name} {value}" for name, value in settings.items()),
                              do="Choose a --beam of 1 or more, and no samples or coverage")
        pairs, nodes = self.sources(self.of_text([text])), []
        limits = replace(demands, most=torch.from_numpy(self.room(pairs, settings, demands)))
        with torch.inference_mode():
            results = beam(self.model, of_pairs(pairs, np.zeros(1, np.int64)), options, (STOP,), (UNKNOWN,), limits, nodes)
        for node in nodes:
            node["symbol"] = self.codec.symbols[node["symbol"]]
        return {"version": 1, "kind": "tree", "source": text, "beam": options.beam, "length_penalty": options.length_penalty, "nodes": nodes,
                "results": [self.record(result) for result in results[0]], "notes": []}


def ensemble(runs: list[str], bits: int = 32) -> Predictor:
    """Several runs as one: the mean of their probabilities. They must have one vocabulary, as runs on the same data have."""
    first, *others = predictors = [load(run, bits=bits) for run in runs]
    for run, other in zip(runs[1:], others, strict=True):
        if other.task != first.task:
            raise ConfigError("models of one task are mixed", got=f"{first.task} and {other.task}", do="Give runs of the same task")
        if other.codec.to_json().get("pair") != first.codec.to_json().get("pair"):
            raise ConfigError("models are mixed that know the same symbols", got=f"{runs[0]} and {run}",
                              do="Fit both on the same data with the same --unit and --valid; without --valid, a network sets some of the data aside")
    model = Mixture([each.model for each in predictors])
    together = type(first)("+".join(each.spec for each in predictors), first.parts, first.codec, model, first.by, dict(first.metrics), first.task)
    together.bits = bits
    return together


def searched(options: DecodingOptions) -> str:
    """How targets were found, in words."""
    if options.beam:
        return f"beam {options.beam}, length penalty {options.length_penalty:g}" + (f", coverage {options.coverage:g}" if options.coverage else "")
    return f"least risk of {options.risk} samples" if options.risk else "one sample" if options.temperature else "greedy"


def written(column: Field, s: int) -> str:
    """A sequence as text: symbols with blanks between."""
    raw = column.raw(s)
    return raw if column.kind == TEXT else " ".join(map(str, raw if column.kind == SYMBOLS else np.asarray(raw).tolist()))


def key_of(column: Field, s: int) -> Hashable:
    """What equal sequences share, as they were given: to a codec others may look alike."""
    raw = column.raw(s)
    return raw if column.kind == TEXT else tuple(raw) if column.kind == SYMBOLS else np.asarray(raw).tobytes()


def further(data: Sequences) -> list[str]:
    """The columns of further references: target2, target3, ..."""
    return [name for name in data.fields if re.fullmatch(rf"{TARGET}\d+", name)]


def by_length(lengths: np.ndarray, exact: np.ndarray, errors: np.ndarray) -> list[dict[str, Any]]:
    """Figures of sources of similar length, in groups of about equal size."""
    edges = np.unique(np.quantile(lengths, np.linspace(0, 1, BINS + 1)).astype(int)) if len(lengths) else np.zeros(0, int)
    group = np.clip(np.searchsorted(edges, lengths, "right") - 1, 0, max(0, len(edges) - 2))
    found = []
    for number in np.unique(group):
        some = group == number
        found.append({"from": int(lengths[some].min()), "to": int(lengths[some].max()), "sources": int(some.sum()), "exact": float(exact[some].mean()),
                      "token_error": float(errors[some, 0].sum() / max(1, errors[some, 1].sum()))})
    return found


def contains(symbols: tuple[int, ...], phrase: tuple[int, ...]) -> bool:
    return any(symbols[place:place + len(phrase)] == phrase for place in range(len(symbols) - len(phrase) + 1))
