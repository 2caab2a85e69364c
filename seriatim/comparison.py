"""The main job: which rung of the ladder does this data deserve?

Every rung is fitted on the same training part with an equal budget, chosen on the same validation part and
measured on the same test part, with intervals; of labels and values also on every part in turn (`folds`). A rung that fails keeps its row with the reason.
"""
from __future__ import annotations

import csv
import io
import math
import time
from collections.abc import Generator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from seriatim import __version__
from seriatim.config import DEFAULT_BY, CodecOptions
from seriatim.data import read
from seriatim.data.sequences import NUMBERS, Sequences
from seriatim.data.splits import folds as folds_of
from seriatim.errors import ConfigError, DataError, RunError, SeriatimError, nearest
from seriatim.fitting import check_task, fit_events
from seriatim.models import MODELS, known_settings, parse, rung
from seriatim.predictor import Predictor, kind_of
from seriatim.settings import build
from seriatim.storage import write_bytes, write_json
from seriatim.tasks import TASKS
from seriatim.training import relay

SPLIT = (0.05, 0.85, 0.10)                # validation, training, test: of a stream in this order, so that training reaches up to the test
MOST_TEST = 200_000                       # characters of the test part that are scored
OVERHEAD = 0.15                           # share of the time kept for scoring, samples and the report

Event = dict[str, Any]


def compare(task: str, data: Sequences | str | Path, models: str | Sequence[str] | None = None, *, minutes: float = 3.0,
            out: str | Path | None = None, progress: bool = False, folds: int | None = None, **settings: Any) -> dict[str, Any]:
    """The leaderboard as a plain record; with `out`, also a folder with table, picture, report and every run.

    >>> record = compare("language", "markov:length=5000", "uniform,unigram,markov", order=2)
    >>> [row["model"] for row in record["rows"]]
    ['markov', 'unigram', 'uniform']
    """
    from seriatim.display import follow
    return follow(compare_events(task, data, models, minutes=minutes, out=out, folds=folds, settings=settings), show=progress)


def compare_events(task: str, data: Sequences | str | Path, models: str | Sequence[str] | None = None, *, minutes: float = 3.0,
                   out: str | Path | None = None, folds: int | None = None, settings: dict[str, Any] | None = None) -> Generator[Event, None, dict[str, Any]]:
    """The same as a generator of events, whose return value is the record."""
    begin = time.perf_counter()
    names = chosen(task, models)
    for name in names:
        check_task(task, name)
    if task == "words":
        raise ConfigError("word vectors are not compared by what they predict", do="Fit each, and evaluate it on analogies or similarities")
    build(CodecOptions, {key: value for key, value in (settings or {}).items() if codec_setting(key)}, "codec")
    plans = {name: relevant(name, names, settings or {}, task) for name in names}
    data = TASKS[task].given(read(data, by=DEFAULT_BY.get(task)) if isinstance(data, (str, Path)) else data)
    rounds = [TASKS[task].parts(data) if hasattr(TASKS[task], "parts") else parts_of(data, task)] if folds is None else folded(data, task, folds)
    figure, kind = kind_of(task).figure, kind_of(task)
    folder = None if out is None else new_folder(Path(out))
    yield {"event": "plan", "models": names, "minutes": minutes}
    yield {"event": "data", "train": data.origin, "symbols": len(data.main.flat), "sequences": len(data), "unit": data.unit or "character",
           "by": data.by, "vocabulary": 0, "quiet": True}
    counting = [name for name in names if all(rung(part, task).counts for part in name.split("+"))]
    learning = [name for name in names if name not in counting]
    rows, measures, budget, interrupted = [], {}, None, False
    limited = any(key in ("steps", "epochs") for key in settings or {})           # by the user, instead of by the clock
    for name in counting + learning:
        if budget is None and name in learning and not limited:
            left = minutes * 60 - (time.perf_counter() - begin)
            budget = max(0.5, left * (1 - OVERHEAD) / len(learning) / len(rounds)) / 60
        if interrupted:
            rows.append(without_figure(name, "not run", "the comparison was interrupted before", figure))
            continue
        try:
            found, spent = [], 0.0
            for number, (valid, train, test) in enumerate(rounds):
                run = None if folder is None else folder / "runs" / (name if len(rounds) == 1 else f"{name}-{number + 1}")
                limits = {"minutes": budget, **own_epochs(name, task, data.main_kind() == NUMBERS)} if name in learning else {}
                fitting = fit_events(task, name, train, valid, out=run, settings=limits | plans[name])
                seen: list[str] = []
                predictor = yield from relay(fitting, lambda event, name=name, seen=seen: under(name, event, seen))
                interrupted = "interrupted" in seen
                if interrupted:
                    break
                found.append(predictor.measure(test))
                spent += predictor.metrics["seconds"]
            if interrupted:
                rows.append(without_figure(name, "interrupted", f"after {predictor.metrics['step']:,} updates; what it learned is kept", figure))
                continue
            measures[name] = predictor.merged(found)
            rows.append(row_of(predictor, measures[name], spent, run if len(rounds) == 1 else None))
            yield {"event": "rung", "model": name, "words": predictor.told(rows[-1])}
        except (SeriatimError, MemoryError, RuntimeError) as error:
            rows.append(without_figure(name, "failed", str(error) or type(error).__name__, figure))
            yield {"event": "rung", "model": name, "words": f"failed: {rows[-1]['reason']}"}
    rank(rows, measures, kind)
    unit = next((row["protocol"]["unit"] for row in rows if row["status"] == "ok"), (settings or {}).get("unit") or data.unit or "character")
    record = {"version": 1, "seriatim": __version__, "task": task, "data": data.origin, "unit": unit, "by": data.by,
              "figure": figure, "higher_is_better": kind.higher, "folds": folds,
              "minutes": None if limited else minutes, "interrupted": interrupted,
              "budget_seconds": None if budget is None else budget * 60, "split": list(SPLIT),
              "entropy_bits": None if data.entropy is None else data.entropy / math.log(2),
              "rows": rows, "protocol": next((row["protocol"] for row in rows if row["status"] == "ok"), None),
              "seconds": time.perf_counter() - begin, "out": None if folder is None else str(folder)}
    if folder is not None:
        write_folder(folder, record)
    yield {"event": "done", "out": record["out"], "seconds": record["seconds"]}
    return record


def folded(data: Sequences, task: str, k: int) -> list[tuple[None, Sequences, Sequences]]:
    """k times training and test; equal sequences stay together, and labels keep their shares. A model that needs validation data
    sets some of its training data aside."""
    if task not in ("classify", "regress", "tag"):
        raise ConfigError("folds are for labels and values", got=task, do="Leave out --folds")
    return [(None, train, test) for train, test in folds_of(data, k, how=TASKS[task].how)]


def chosen(task: str, models: str | Sequence[str] | None) -> list[str]:
    if task not in MODELS:
        raise ConfigError(f"there is no task {task!r}", do=nearest(task, MODELS))
    usual = [name for name, each in MODELS[task].items() if each.usual]
    names = usual if models is None else models.split(",") if isinstance(models, str) else list(models)
    names = list(dict.fromkeys(name.strip() for name in names if name.strip()))
    if not names:
        raise ConfigError("no model was named", do="Name some with --models, or leave it out for all")
    return names


def relevant(name: str, names: Sequence[str], settings: dict[str, Any], task: str) -> dict[str, Any]:
    """The settings that this model has; one that no model of the comparison has is an error."""
    kept = {}
    for key, value in settings.items():
        users = [other for other in names if accepts(other, key, task)]
        if not users:
            raise ConfigError(f"{key!r} is not a setting of any of these models", got=", ".join(names))
        if name in users:
            kept[key] = value
    parse(name, {key: value for key, value in kept.items() if not codec_setting(key)}, task)
    return kept


def accepts(name: str, key: str, task: str) -> bool:
    return codec_setting(key) or key.replace("-", "_") in known_settings(name, task)


def own_epochs(name: str, task: str, numbers: bool) -> dict[str, Any]:
    """How often a rung reads small data at most, however much time there is."""
    limits = [rung(part, task).recipe(numbers).get("epochs") for part in name.split("+")]
    return {"epochs": max(filter(None, limits))} if any(limits) else {}


def codec_setting(key: str) -> bool:
    return key.replace("-", "_") in {f.name for f in fields(CodecOptions)}


def parts_of(data: Sequences, task: str) -> tuple[Sequences, Sequences, Sequences]:
    """Validation, training and test."""
    try:
        valid, train, test = data.split(*SPLIT, how=TASKS[task].how)
    except SeriatimError as error:
        raise DataError(f"{data.origin} is too short to be divided into validation, training and test", got=error.got,
                        do="Give a longer text, or more sequences that are different: equal ones stay together") from None
    if test.by == "stream" and len(test.main.flat) > MOST_TEST:
        test = test.part(0, MOST_TEST)
    elif test.by == "line" and task == "language":
        most = int((test.main.offsets - test.main.offsets[0] <= MOST_TEST).sum()) - 1
        test = test[:max(1, most)]
    return valid, train, test


def under(name: str, event: Event, seen: list[str]) -> Event | None:
    """A fit's event under the model's name; what belongs to the single fit alone is left out."""
    seen.append(event["event"])
    return None if event["event"] in ("done", "part", "warning") else event | {"model": name} | ({"quiet": True} if event["event"] == "data" else {})


def row_of(predictor: Predictor, measured: dict[str, Any], seconds: float, folder: Path | None) -> dict[str, Any]:
    arrays = predictor.model.arrays().values()
    size = sum(array.numel() * array.element_size() for array in arrays)
    return {"model": predictor.spec, "status": "ok", **predictor.row(measured), "seconds": seconds, "size_bytes": size,
            "run": None if folder is None else f"runs/{predictor.spec}", "tied": False}


def without_figure(name: str, status: str, reason: str, figure: str) -> dict[str, Any]:
    """The row of a model that has no figure, and why."""
    return {"model": name, "status": status, "reason": reason, figure: None, "tied": False}


def rank(rows: list[dict[str, Any]], measures: dict[str, dict[str, Any]], kind: type[Predictor]) -> None:
    """Best first; those not significantly different from the best are marked."""
    sign = -1 if kind.higher else 1
    rows.sort(key=lambda row: (row["status"] != "ok", math.inf if row[kind.figure] is None else sign * row[kind.figure]))
    if not rows or rows[0]["status"] != "ok":
        return
    best = measures[rows[0]["model"]]
    for row in rows:
        if row["status"] == "ok":
            row["p"] = None if row is rows[0] else kind.apart(measures[row["model"]], best)
            row["tied"] = row["p"] is None or row["p"] >= 0.05


def new_folder(folder: Path) -> Path:
    try:
        if folder.is_dir() and any(folder.iterdir()):
            raise RunError(f"{folder} is not empty", do="Choose another --out")
        (folder / "runs").mkdir(parents=True)
    except OSError as error:
        raise RunError(f"cannot make the folder {folder}", got=error.strerror, do="Choose another --out") from None
    return folder


COLUMNS = {"bits_per_character": ("nats_per_token", "perplexity"), "accuracy": ("macro_f1", "log_loss", "calibration_error"),
           "bits_per_step": ("nats_per_step", "f1", "exact"), "chrf": ("bleu", "exact", "token_error", "nats_per_token"),
           "mae": ("rmse", "r_squared", "skill", "nats_per_value", "coverage"), "mase": ("mae", "rmse", "crps", "skill"),
           "nats_per_symbol": ("perplexity", "said", "active", "shuffled", "exact")}


def write_folder(folder: Path, record: dict[str, Any]) -> None:
    """table.json, table.csv, quality.png and report.html, beside the runs."""
    from seriatim.figures import quality
    from seriatim.report import report
    write_json(folder / "table.json", record)
    text = io.StringIO()
    columns = ("model", "status", record["figure"], "low", "high", *COLUMNS[record["figure"]], "seconds", "parameters", "size_bytes",
               "symbols_per_second", "tied", "reason")
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in record["rows"]:
        low, high = row.get("interval") or (None, None)
        writer.writerow(row | {"low": low, "high": high})
    write_bytes(folder / "table.csv", text.getvalue().encode())
    write_bytes(folder / "quality.png", quality(record, "png"))
    write_bytes(folder / "report.html", report(record).encode("utf-8", "xmlcharrefreplace"))
