"""Fit a model by name: read, divide, encode, train, and keep what came of it."""
from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import torch

from seriatim import training
from seriatim.auditing import findings
from seriatim.batches import MOST_READ, refuse_long
from seriatim.codecs.conditioned import Samples
from seriatim.codecs.labelled import Examples
from seriatim.codecs.numbers import Signals
from seriatim.codecs.pairs import Pairs
from seriatim.codecs.symbols import STOP, Codec
from seriatim.config import DEFAULT_BY, CodecOptions
from seriatim.data import read
from seriatim.data.questions import check_questions
from seriatim.data.sequences import NUMBERS, Sequences
from seriatim.errors import ConfigError, DataError, SeriatimError, nearest
from seriatim.evaluation import fingerprint
from seriatim.folders import Log, abandon, start_folder
from seriatim.models import Part, create, parse, planned, rung
from seriatim.models.base import Model
from seriatim.models.labeller import Labeller
from seriatim.predictor import Predictor, kind_of, load
from seriatim.tasks import TASKS


def fit(task: str, model: str, train: Sequences | str | Path, valid: Sequences | str | Path | None = None, *, out: str | Path | None = None,
        resume: bool = False, overwrite: bool = False, progress: bool = False, calibrate: bool = False, tune: bool = False, **settings: Any) -> Predictor:
    """Fit a model by name and give back a Predictor.

    `settings` are those of the codec (`unit`, ...), the model (`order`, `width`, ...) and the training
    (`minutes`, `seed`, ...). With `out`, a run folder is kept and a killed fit can be resumed. With `calibrate`,
    the probabilities of labels are made true on validation data; with `tune`, the search of a translator is set by it.

    >>> model = fit("language", "markov", read("markov:length=5000"), order=2)
    >>> model
    Predictor(language, markov, 29 characters, 1,702 parameters)
    """
    from seriatim.display import follow
    events = fit_events(task, model, train, valid, out=out, resume=resume, overwrite=overwrite, calibrate=calibrate, tune=tune, settings=settings)
    return follow(events, show=progress)


def fit_events(task: str, spec: str, train: Sequences | str | Path, valid: Sequences | str | Path | None = None, *, out: str | Path | None = None,
               resume: bool = False, overwrite: bool = False, calibrate: bool = False, tune: bool = False,
               settings: Mapping[str, Any] | None = None) -> Generator[training.Event, None, Predictor]:
    """The same as a generator of events, whose return value is the Predictor."""
    check_task(task, spec)
    settings = {key.replace("-", "_"): value for key, value in (settings or {}).items() if value is not None}
    chosen = {key: settings.pop(key) for key in [f.name for f in fields(CodecOptions)] if key in settings}
    parts, kind = planned(parse(spec, settings, task), torch.get_num_threads()), TASKS[task]
    parts, vectors = with_vectors(parts)
    train, valid = (read(each, by=DEFAULT_BY.get(task)) if isinstance(each, (str, Path)) else Sequences.of(each) if isinstance(each, list) else each
                    for each in (train, valid))
    for name in filter(None, (each.strip() for each in str(chosen.get("given", "")).split(","))):
        train.field(name)                                             # before the data is divided
    train, valid = kind.given(train), None if valid is None else kind.given(valid)
    if train.main_kind() == NUMBERS:
        parts = planned(parse(spec, settings, task, numbers=True), torch.get_num_threads())
    whole = fingerprint(train.main)
    if calibrate and task not in ("classify", "forecast"):
        raise ConfigError("probabilities are calibrated for labels of sequences and for forecasts", got=f"the task {task}", do="Leave out calibrate")
    if tune and task != "translate":
        raise ConfigError("a search is tuned for translation", got=f"the task {task}", do="Leave out tune")
    if valid is None and (calibrate or tune or len(parts) > 1 or not parts[0].counts):
        train, valid = kind.hold_out(train, parts) if hasattr(kind, "hold_out") else hold_out(train, kind.held_share, kind.how)
    if valid is not None and valid.by != train.by:
        raise DataError("training and validation data are cut differently", got=f"by {train.by} and by {valid.by}", do="Use the same --by for both")
    train, valid = kind.cut(train, chosen), None if valid is None else kind.cut(valid, chosen)
    codec, ids = kind.learn_codec(train, chosen, vectors.words.words if vectors else [])
    held = None if valid is None else kind.encode(codec, valid)
    torch.manual_seed(parts[0].training.seed)
    predictor = kind_of(task)(spec, parts, codec, create(parts, codec.size, *getattr(codec, "sizes", ())), train.by, task=task)
    notes = [given_vectors(each, part.options, codec, vectors)
             for each, part in zip(getattr(predictor.model, "parts", [predictor.model]), parts, strict=True) if getattr(part.options, "vectors", "")]
    for each in getattr(predictor.model, "parts", [predictor.model]):
        broken = each.broken_rule(ids.y) if isinstance(each, Labeller) else None
        if broken:
            first, second = (codec.labels.names[tag] for tag in broken)
            raise DataError("the tags of the training data break the rules of B-I-O", got=f"{second} after {first}", file=train.origin,
                            do="Correct them, or add --constrained false")
    asked = kind(ids, held, train.by, codec)
    for part in parts:
        if getattr(part.options, "watch", ""):
            check_questions(part.options.watch)                       # now, not when some of the work is done
    if task in ("classify", "regress", "tag", "autoencode") and not all(part.counts for part in parts):
        refuse_long(ids.x, MOST_READ)
    if resume and out is not None and not (Path(out) / "config.toml").exists():
        notes.append(f"there is no fit in {out} to go on with: this one begins")
    folder, lock = (None, None) if out is None else start_folder(
        predictor.settings(), codec.to_json(), Path(out), resume, overwrite, fingerprint(*arrays_of(ids), *arrays_of(held)))
    begin, last, log = time.perf_counter(), {}, Log(folder)

    def note(event: training.Event) -> training.Event:
        last.update({key: event[key] for key in ("step", "epoch", "valid", "per", "weights") if key in event})
        if event["event"] == "interrupted":
            last["interrupted"] = True
        return log.add(event)

    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(parts[0].training.threads)
        yield log.add({"event": "data", "train": train.origin, "symbols": asked.symbols, "sequences": len(ids), "vocabulary": codec.size,
                       "unit": getattr(codec, "unit", codec.options.unit), "by": train.by,
                       "valid_symbols": sum(len(column.flat) for column in arrays_of(held)[:1])})
        for words in notes:
            yield log.add({"event": "note", "words": words})
        for each in findings(train, valid) if task in ("classify", "tag") else ():
            yield log.add({"event": "warning", "words": f"{each['what']}: {each['got']}" if each["got"] else each["what"]})
        del ids                                                       # the task keeps what it needs
        yield from training.relay(training.fit(predictor.model, parts, asked, folder), note)
        predictor.metrics = last | {"seconds": time.perf_counter() - begin, "parameters": predictor.model.size(), "fingerprint": whole}
        for words in predictor.conclude(asked):
            yield log.add({"event": "note", "words": words})
        if calibrate:
            predictor.calibrate(asked.valid)
        if tune:
            yield log.add({"event": "note", "words": tuned(predictor.tune(valid), predictor.metrics["search"])})
        if folder is not None:
            predictor.finish(folder)
        yield log.add({"event": "done", "out": None if folder is None else str(folder), **predictor.metrics})
        return predictor
    except (ConfigError, DataError):
        if folder is not None:
            abandon(folder)
        raise
    finally:
        torch.set_num_threads(threads)
        if lock is not None:
            lock.release()


def tuned(tried: list[dict[str, Any]], best: dict[str, Any]) -> str:
    """What was tried, in a sentence."""
    worth = ", ".join(f"{each['beam']} / {each['length_penalty']:g}: {100 * each['worth']:.2f}" for each in tried)
    judge = {"chrf": "chrF", "bleu": "BLEU", "exact": "% exact"}[tried[0]["judge"]]
    return f"beam {best['beam']} with length penalty {best['length_penalty']:g} does best on validation data ({judge} by beam / penalty: {worth})"


def arrays_of(ids: Any) -> tuple[Any, ...]:
    """The columns that make up encoded data."""
    if ids is None:
        return ()
    return (ids.x, ids.y) if isinstance(ids, (Examples, Pairs)) else (ids.x,) if isinstance(ids, (Signals, Samples)) else (ids,)


def with_vectors(parts: list[Part]) -> tuple[list[Part], Predictor | None]:
    """The word vectors that networks are to begin with, from a file or a run; a network that may choose takes their size."""
    names = {part.options.vectors for part in parts if getattr(part.options, "vectors", "")}
    if not names:
        return parts, None
    if len(names) > 1:
        raise ConfigError("all parts begin with the same word vectors", got=", ".join(sorted(names)), do="Name one file")
    source = load(names.pop())
    if source.task != "words":
        raise ConfigError("the vectors are to be word vectors", got=f"a model of {source.task}", do="Fit some with `seriatim fit words`")
    width = source.words.vectors.shape[1]
    return [replace(part, options=replace(part.options, embedding=width)) if getattr(part.options, "vectors", "") and hasattr(part.options, "embedding")
            else part for part in parts], source


def given_vectors(model: Model, options: Any, codec: Codec, source: Predictor) -> str:
    """Let a network begin with word vectors, those of lower case where there are no others; says for how many symbols there were any."""
    find, wide = source.words.find, source.words.vectors.shape[1]
    rows = {number: find(word) if find(word) is not None else find(word.lower()) for number, word in enumerate(codec.symbols) if number > STOP}
    known = [(number, row) for number, row in rows.items() if row is not None]
    if not known or wide != model.embedding.embedding_dim:
        raise ConfigError("these word vectors do not fit the model", do=f"Set --width {wide}, and --unit word",
                          got=f"{wide} wide, not {model.embedding.embedding_dim}; for {len(known)} of {codec.size} symbols")
    numbers, rows = map(list, zip(*known, strict=True))
    model.begin_with(numbers, torch.from_numpy(source.words.vectors[rows]))
    return f"{len(known):,} of {codec.size:,} symbols begin with vectors of {options.vectors}"


def check_task(task: str, spec: str) -> None:
    if task not in TASKS:
        raise ConfigError(f"there is no task {task!r}", do=nearest(task, TASKS))
    for name in spec.split("+"):
        rung(name, task)
    if task in ("words", "sets", "forecast", "regress", "autoencode") and "+" in spec:
        raise ConfigError(f"models of {task} are not mixed", got=spec, do="Fit one model")


def hold_out(data: Sequences, share: float, how: str | None = None) -> tuple[Sequences, Sequences]:
    """Some of the training data for validation, when none is given: of a stream its beginning, so that training reaches up to the end."""
    try:
        valid, train = data.split(share, 1 - share, how=how)
        return train, valid
    except SeriatimError as error:
        raise DataError(f"{data.origin} is too short to set {100 * share:.0f} % aside for validation", got=error.got,
                        do="Give more that is different (equal sequences stay together), or validation data with --valid") from None
