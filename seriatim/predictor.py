"""A Predictor is what you keep: codec, model and settings, in a run folder that is plain and pickle-free.

    config.toml          every setting, complete
    codec.json           the vocabulary
    weights.safetensors  all that was learned, counts too
    events.jsonl         what happened while fitting, one record a line
    metrics.json         how it ended
    manifest.json        checksums, written last: a folder that has it is finished
    checkpoint-*.safetensors   only while a fit is under way; of word vectors also the text, ids.npy
"""
from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from seriatim import __version__
from seriatim.batches import prompts
from seriatim.codecs.symbols import STOP, UNKNOWN, Codec, Tokens, load_codec
from seriatim.config import CodecOptions, DecodingOptions, TrainingOptions
from seriatim.data import read
from seriatim.data.sequences import Sequences
from seriatim.decoding import decode, sampling, speculating
from seriatim.errors import ConfigError, DataError, RunError, nearest
from seriatim.evaluation import apart, evaluate, measure, summarise
from seriatim.folders import start_folder
from seriatim.models import MODELS, Part, create, parse, rung
from seriatim.models.arpa import ENDINGS, read_arpa, write_arpa
from seriatim.models.base import Model
from seriatim.models.ngram import Markov, Ngram
from seriatim.scoring import score
from seriatim.settings import build, from_toml
from seriatim.storage import checksum, read_arrays, read_bytes, read_json, write_arrays, write_json

SAMPLE_CHARACTERS = 60


class Predictor:
    """A fitted model that reads and writes text."""

    figure, higher = "bits_per_character", False                      # what a comparison ranks by, and whether more of it is better

    def __init__(self, spec: str, parts: list[Part], codec: Codec, model: Model, by: str, metrics: dict[str, Any] | None = None, task: str = "language"):
        self.task, self.spec, self.parts, self.codec, self.model, self.by = task, spec, parts, codec, model, by
        self.metrics, self.bits = metrics or {}, 32

    def __repr__(self) -> str:
        return f"Predictor({self.task}, {self.spec}, {self.codec.size} {self.codec.options.unit}s, {self.model.size():,} parameters)"

    def data(self, source: Sequences | str | Path) -> Sequences:
        """Data to apply this predictor to, cut as it was trained."""
        if not isinstance(source, Sequences):
            source = read(source, by=self.by if self.by == "line" else None, unit=self.codec.options.unit)
        if source.by != self.by:
            raise DataError(f"{source.origin} is read by {source.by}, but this model was trained by {self.by}", do="Give data of the same kind")
        return source

    def evaluate(self, data: Sequences | str | Path) -> dict[str, Any]:
        """Figures and protocol: see `seriatim.evaluation`."""
        return evaluate(self, self.data(data))

    def conclude(self, task: Any) -> list[str]:
        """What is to be kept and said when training is over."""
        return []

    # -- for a comparison: measure, once or fold by fold; a row of the table; and whether two models differ
    def measure(self, data: Sequences) -> dict[str, Any]:
        return measure(self, data)

    def merged(self, measured: list[dict[str, Any]]) -> dict[str, Any]:
        return measured[0]

    def row(self, measured: dict[str, Any]) -> dict[str, Any]:
        record = summarise(self, measured)
        kept = ("bits_per_character", "nats_per_token", "perplexity", "excess_bits", "parameters", "tokens", "unknown", "impossible", "protocol")
        return {key: record[key] for key in kept} | {"interval": record["interval"]["bits_per_character"], "sample": self.sample(measured["data"]),
                                                     "symbols_per_second": record["tokens_per_second"]}

    @staticmethod
    def told(row: dict[str, Any]) -> str:
        return f"{row['bits_per_character'] or float('inf'):.3f} bits per character"

    @staticmethod
    def apart(first: dict[str, Any], second: dict[str, Any]) -> float:
        return apart(first, second)

    def sample(self, test: Sequences) -> str:
        """A few words in the model's own voice, after the beginning of the test text."""
        ids = self.codec.encode(test[:1].main if test.by == "line" else test.part(0, 200).main)
        prompt = self.codec.decode(ids.row(0)[:12]) if test.by == "stream" else ""
        text = self.generate(prompt, length=SAMPLE_CHARACTERS, temperature=0.8, seed=1)
        return text[len(prompt):][:SAMPLE_CHARACTERS].strip()

    def score(self, data: Sequences | str | Path) -> list[dict[str, Any]]:
        """For each sequence its natural-log probability, number of tokens and number of unknown ones."""
        ids = self.codec.encode(self.data(data).main)
        scored = score(self.model, ids, self.by)
        filled = np.flatnonzero(scored.lengths)
        log_prob, unknown = np.zeros(len(ids)), np.zeros(len(ids), np.int64)
        log_prob[filled] = np.add.reduceat(scored.values, scored.offsets[filled]) if len(filled) else 0.0
        np.add.at(unknown, np.searchsorted(ids.offsets, np.flatnonzero(ids.flat == UNKNOWN), "right") - 1, 1)
        return [{"log_prob": value, "tokens": tokens, "unknown": number}
                for value, tokens, number in zip(log_prob.tolist(), scored.lengths.tolist(), unknown.tolist(), strict=True)]

    def generate(self, prompt: str = "", **settings: Any) -> str | list[str]:
        """Text after a prompt; a list when `count` is above one. Settings: see `DecodingOptions`."""
        texts = [result["text"] for result in self.generate_records([prompt], **settings)[0]]
        return texts if settings.get("count", 1) != 1 else texts[0]

    def generate_records(self, several: list[str], **settings: Any) -> list[list[dict[str, Any]]]:
        """For each prompt its results, with their log-probabilities."""
        options, stops, forbidden = self.decoding(settings)
        rows = [self.codec.encode_text(prompt) for prompt in several]
        found = decode(self.model, prompts(rows), options, stops, forbidden, self.drafting(options))
        return [[{"prompt": prompt, "text": self.written(row, result.symbols), "log_prob": result.log_prob, "tokens": len(result.symbols),
                  "ended": result.ended, "seed": None if options.beam or options.exact or not options.temperature else options.seed + i}
                 for i, result in enumerate(results)]
                for prompt, row, results in zip(several, rows, found, strict=True)]

    def stream(self, prompt: str = "", **settings: Any) -> Iterator[str]:
        """The text of one sample as it is written, the prompt first; all pieces together are what `generate` gives."""
        options, stops, forbidden = self.decoding(settings | {"count": 1})
        if options.beam or options.exact:
            raise ConfigError("a search knows its text only at the end", got="beam or exact", do="Sample, or generate without streaming")
        row, shown, text, draft = self.codec.encode_text(prompt), "", "", self.drafting(options)
        batch = prompts([row])
        with torch.inference_mode():
            for number, results in enumerate(sampling(self.model, batch, options, [options.seed], stops, forbidden) if draft is None else
                                             speculating(self.model, draft, batch, options, options.seed, stops, forbidden)):
                if number < 256 or number % 32 == 0:                      # each look at the whole text takes time
                    text = self.written(row, results[0].symbols)
                    whole = text.rstrip("\ufffd")                        # a character whose bytes are not all there yet
                    if whole.startswith(shown) and len(whole) > len(shown):
                        yield whole[len(shown):]
                        shown = whole
        text = self.written(row, results[0].symbols)
        yield text[len(shown):]

    def decoding(self, settings: Mapping[str, Any]) -> tuple[DecodingOptions, tuple[int, ...], tuple[int, ...]]:
        """The options, the symbols that end a result, and those that are never written."""
        misplaced = [name for name in ("prefix", "must", "never", "coverage", "risk") if settings.get(name)]
        if misplaced:
            raise ConfigError("this is for models of translate", got=f"{', '.join(misplaced)}, and a model of {self.task}",
                              do="Leave it out; to go on from a text, use --prompt")
        options = build(DecodingOptions, settings, "generate")
        stops, forbidden = ({STOP}, {UNKNOWN}) if self.by == "line" else (set(), {UNKNOWN, STOP})
        if options.stop:
            if options.stop not in self.codec.number:
                raise ConfigError("the stop symbol is not in the vocabulary", got=repr(options.stop),
                                  do=nearest(options.stop, map(repr, self.codec.symbols[2:50])))
            stops.add(self.codec.number[options.stop])
        return options, tuple(stops), tuple(forbidden)

    def drafting(self, options: DecodingOptions) -> Model | None:
        """The model that guesses ahead, if one is asked for."""
        if not options.draft:
            return None
        if options.beam or options.exact:
            raise ConfigError("a draft guesses ahead of a sample, not of a search", got="beam or exact", do="Leave out --draft, or sample")
        draft = load(options.draft)
        if draft.codec.symbols != self.codec.symbols:
            raise ConfigError("the draft knows other symbols", got=f"{options.draft}: {draft.codec.size}, not {self.codec.size}",
                              do="Fit both on the same data with the same --unit and the same --valid")
        return draft.model

    def written(self, prompt: np.ndarray, symbols: list[int]) -> str:
        return self.codec.decode([*prompt.tolist(), *symbols])

    def predict(self, data: Sequences | str | Path, top: int = 5) -> list[dict[str, Any]]:
        """For each sequence the likeliest next symbols with their probabilities."""
        if top < 1:
            raise ConfigError("at least one symbol is predicted", got=top, do="Choose a --top of 1 or more")
        ids = self.codec.encode(self.data(data).main)
        records = []
        with torch.inference_mode():
            for s in range(len(ids)):
                p = self.model.start(prompts([ids.row(s)[-4096:]]))[0].log_probs()[0].exp()
                best = p.topk(min(top, self.codec.size))
                records.append({"next": [{"symbol": self.codec.symbols[i], "probability": value}
                                         for value, i in zip(best.values.tolist(), best.indices.tolist(), strict=True)]})
        return records

    def export(self, file: str | Path) -> dict[str, Any]:
        """Write n-grams as an ARPA file, which KenLM and others read: .arpa, .arpa.gz or .arpa.xz; or a transformer as a GPT-2, which Hugging
        Face's transformers reads: a folder, that is a name without ending or one with a slash behind. Returns what was written."""
        if not str(file).lower().endswith(ENDINGS):
            if isinstance(self.model, Ngram) or (Path(file).suffix and not str(file).endswith(("/", os.sep))):
                raise ConfigError("the ending says what is written", got=file,
                                  do=f"Choose for n-grams a name that ends in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}, for a transformer one that ends in /")
            from seriatim.models.gpt2 import write_gpt2
            return write_gpt2(Path(file), self.codec, self.model)
        if not isinstance(self.model, Ngram) or isinstance(self.model, Markov):
            able = [name for name, each in MODELS["language"].items() if each.implementation == "ngram:Ngram"]
            raise ConfigError("an ARPA file holds n-grams and back-off weights, which this model has not", got=self.spec,
                              do=f"Models that can be exported: {', '.join(able)}")
        write_arpa(Path(file), self.model.tables, self.codec.symbols)
        return {"out": str(file), "ngrams": [len(keys) for keys in self.model.tables.keys]}

    # -- the run folder
    def settings(self) -> dict[str, Any]:
        """Everything that config.toml says."""
        tables: dict[str, Any] = {"run": {"version": 1, "seriatim": __version__, "task": self.task, "model": self.spec, "by": self.by},
                                  "codec": self.codec.options}
        for i, part in enumerate(self.parts):
            tables |= {f"model.{i}": part.options, f"training.{i}": part.training}
        return tables

    def save(self, folder: str | Path, overwrite: bool = False) -> Path:
        """Write a finished run folder."""
        if self.bits != 32:
            raise ConfigError("weights in 8 bits are for inference and cannot be saved", do="Save or copy the run they were loaded from")
        folder, lock = start_folder(self.settings(), self.codec.to_json(), Path(folder), resume=False, overwrite=overwrite)
        self.finish(folder)
        lock.release()
        return folder

    def finish(self, folder: Path) -> None:
        """Weights, metrics, and last of all the manifest; then the checkpoints have served."""
        known = {"weights.safetensors": write_arrays(folder / "weights.safetensors", self.model.arrays())}
        write_json(folder / "metrics.json", self.metrics)
        files = {name: {"sha256": known.get(name) or checksum(folder / name), "bytes": (folder / name).stat().st_size}
                 for name in ("config.toml", "codec.json", "weights.safetensors", "metrics.json")}
        write_json(folder / "manifest.json", {"version": 1, "seriatim": __version__, "files": files})
        for leftover in [*folder.glob("checkpoint-*"), *folder.glob("*.partial"), *folder.glob("ids.npy")]:
            leftover.unlink()


class Silent(Predictor):
    """One that neither writes nor scores texts."""

    def score(self, data: Sequences | str | Path) -> list[dict[str, Any]]:
        raise self.silent()

    def generate_records(self, several: list[str], **settings: Any) -> list[list[dict[str, Any]]]:
        raise self.silent()

    def stream(self, prompt: str = "", **settings: Any):
        raise self.silent()

    def silent(self) -> ConfigError:
        """Why, and what does."""
        raise TypeError(f"{type(self).__name__} says why it is silent")


MAPPED = 1 << 26                          # bytes; larger weights are mapped and read as they are needed


def load(folder: str | Path, verify: bool = False, bits: int = 32) -> Predictor:
    """A finished run folder -> Predictor; every file is checked against the manifest. Or an ARPA file, as KenLM and SRILM write it,
    or the folder of a GPT-2, as Hugging Face's transformers writes it.

    Of weights above 64 MB only the size is checked, so that they open at once whatever their size; `verify` reads them through.
    With `bits=8` the linear maps of networks compute in 8 bits: faster, a little less exact (docs/decoding.md).
    """
    if bits not in (8, 32):
        raise ConfigError("weights have 8 or 32 bits", got=bits, do="Choose one of these")
    if bits == 8:
        predictor = load(folder, verify)
        predictor.model.shrink()
        predictor.bits = 8
        return predictor
    folder = Path(folder)
    if os.path.isfile(folder):
        if str(folder).lower().endswith(ENDINGS):
            return of_arpa(folder)
        from seriatim.word_predictor import of_vectors
        try:
            return of_vectors(folder)
        except DataError as error:
            raise RunError(f"{folder} is not a run folder, and not a file of n-grams or word vectors either", got=error,
                           do="Give the folder that fit or compare wrote, an ARPA file, or word vectors") from None
    if not os.path.isfile(folder / "manifest.json"):
        if os.path.isfile(folder / "config.toml"):
            raise RunError(f"{folder} holds an unfinished fit", do="Repeat the fit command with --resume to finish it")
        if os.path.isfile(folder / "config.json"):
            return of_gpt2(folder)
        raise RunError(f"{folder} is not a run folder", got="no manifest.json" if os.path.isdir(folder) else "no such folder",
                       do="Give the folder that fit or compare wrote, an ARPA file, or the folder of a GPT-2")
    manifest = read_json(folder / "manifest.json")
    files = manifest.get("files") if isinstance(manifest, dict) else None
    if not isinstance(files, dict) or not {"config.toml", "codec.json", "weights.safetensors"} <= files.keys():
        raise RunError(f"{folder / 'manifest.json'} is damaged", do="Restore it or fit again")
    for name, entry in files.items():
        if Path(name).name != name or not isinstance(entry, dict):
            raise RunError(f"{folder / 'manifest.json'} is damaged", do="Restore it or fit again")
        size = os.path.getsize(folder / name) if os.path.isfile(folder / name) else None
        wrong = "another size" if size != entry.get("bytes") else ""
        if not wrong and (verify or size <= MAPPED) and checksum(folder / name) != entry.get("sha256"):
            wrong = "another checksum"
        if wrong:
            raise RunError(f"{folder / name} is not the file that was written", got=wrong, do="Restore it or fit again")
    settings = from_toml(read_bytes(folder / "config.toml").decode("utf-8", "replace"), str(folder / "config.toml"))
    try:
        run, codec = settings["run"], load_codec(read_json(folder / "codec.json"), str(folder / "codec.json"))
        names, task = run["model"].split("+"), run["task"]
        if run["by"] not in ("stream", "line"):
            raise ValueError(f"by {run['by']!r}")
        parts = [Part(name, build(rung(name, task).options, settings["model"][str(i)], str(folder)),
                      build(TrainingOptions, settings["training"][str(i)], str(folder)), task) for i, name in enumerate(names)]
        arrays, _ = read_arrays(folder / "weights.safetensors")
        if os.path.getsize(folder / "weights.safetensors") <= MAPPED:
            arrays = {name: array.clone() for name, array in arrays.items()}     # where kernels find memory as it was when it was fitted: the same bits
        with torch.device("meta"):                                    # no memory is taken before the shapes agree
            model = create(parts, codec.size, *getattr(codec, "sizes", ()))
        model.load_arrays(arrays)
        for part in getattr(model, "parts", [model]):
            if isinstance(part, torch.nn.Module):
                part.eval()
        return kind_of(task)(run["model"], parts, codec, model, run["by"], read_json(folder / "metrics.json"), task)
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        raise RunError(f"{folder} does not fit together", got=error, do="Restore it or fit again") from None


def of_gpt2(folder: Path) -> Predictor:
    """The transformer in a folder of Hugging Face, for a stream of subwords."""
    from seriatim.models.gpt2 import read_gpt2
    codec, options, model = read_gpt2(folder)
    return Predictor("transformer", [Part("transformer", options, parse("transformer", {})[0].training)], codec, model, "stream")


def of_arpa(path: Path) -> Predictor:
    """The n-grams of an ARPA file, for lines of tokens."""
    symbols, tables = read_arpa(str(path))
    parts, codec = parse("kneser-ney", {"order": len(tables.keys)}), Tokens(CodecOptions(unit="token"), symbols)
    model = create(parts, codec.size)
    model.tables = tables
    return Predictor("kneser-ney", parts, codec, model, "line")


def kind_of(task: str) -> type[Predictor]:
    """The class of predictors of a task."""
    if task == "words":
        from seriatim.word_predictor import WordPredictor
        return WordPredictor
    if task in ("classify", "tag"):
        from seriatim.label_predictor import Classifier, Tagger
        return Classifier if task == "classify" else Tagger
    if task == "regress":
        from seriatim.value_predictor import Regressor
        return Regressor
    if task == "translate":
        from seriatim.translator import Translator
        return Translator
    if task == "forecast":
        from seriatim.forecast_predictor import ForecastPredictor
        return ForecastPredictor
    if task == "autoencode":
        from seriatim.vector_predictor import VectorPredictor
        return VectorPredictor
    if task == "sets":
        from seriatim.set_predictor import SetPredictor
        return SetPredictor
    return Predictor
