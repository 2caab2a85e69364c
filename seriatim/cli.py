"""The command line: the verbs. Their flags are in `seriatim.flags`.

Results go to stdout, everything else to stderr; `--format json` everywhere. Each verb imports what it needs when it is called.
"""
from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any

from seriatim.applying import decoding_of, evaluate, flags_of, generate, predict, read_data, say, score, settings_of, show
from seriatim.config import DEFAULT_BY, CodecOptions, TrainingOptions
from seriatim.errors import ConfigError, RunError, SeriatimError, TrainingError
from seriatim.flags import OVERVIEW, parse_arguments
from seriatim.models import MODELS, choose, parse, rung


# ---------------------------------------------------------------- the verbs
def free_folder(name: str) -> Path:
    """The first of runs/NAME, runs/NAME-2, ... that does not exist."""
    folder, number = Path("runs") / name, 1
    while folder.exists():
        number += 1
        folder = Path("runs") / f"{name}-{number}"
    return folder


def compare(given: argparse.Namespace) -> int:
    from seriatim.comparison import compare_events
    from seriatim.display import follow, output
    from seriatim.leaderboard import leaderboard
    settings = settings_of(given)
    minutes = convert_minutes(settings.pop("minutes", 3.0))
    data = read_data(given, given.file, given.by or DEFAULT_BY.get(given.task), settings.get("unit"), given.task)
    out = given.out or free_folder("compare-" + Path(given.file[0].split(":")[0]).name.split(".")[0])
    record = follow(compare_events(given.task, data, given.models, minutes=minutes, out=out, folds=given.folds, settings=settings), show=True)
    show(record, given, leaderboard(record, wide=output().width >= 120))
    say(f"{record['seconds']:.0f} s in all. Written: {out}/report.html, table.json, table.csv, quality.png, runs/")
    good = [row for row in record["rows"] if row["status"] == "ok"]
    if good and good[0]["run"]:
        say(f"Try: seriatim generate {out}/{good[0]['run']} --length 300" if given.task == "language" else f"Try: seriatim predict {out}/{good[0]['run']} FILE")
    return 130 if record["interrupted"] else 0 if good else 1


PER = {"language": "nats per token", "sets": "nats per step", "translate": "nats per token", "forecast": "nats per value",
       "regress": "nats per value", "autoencode": "nats per symbol, the vector's included,"}                      # what validation measures


def convert_minutes(value: Any) -> float:
    from seriatim.settings import build
    return build(TrainingOptions, {"minutes": value}, "compare").minutes


def fit(given: argparse.Namespace) -> None:
    if given.resume and not given.out:
        raise ConfigError("--resume needs the folder of the fit to go on with", do="Add --out RUN")
    settings = settings_of(given)
    parse(given.model, {key: value for key, value in settings.items() if key not in {f.name for f in fields(CodecOptions)}}, given.task)
    by = given.by or DEFAULT_BY.get(given.task)
    train = read_data(given, given.file, by, settings.get("unit"), given.task)
    valid = None if given.valid is None else read_data(given, given.valid, by, settings.get("unit"), given.task)
    from seriatim.display import follow
    from seriatim.fitting import fit_events
    from seriatim.translating import judge_of
    out = Path(given.out) if given.out else free_folder(given.model)
    predictor = follow(fit_events(given.task, given.model, train, valid, out=out, resume=given.resume, overwrite=given.overwrite,
                                  calibrate=given.calibrate, tune=given.tune, settings=settings), show=True)
    record = {"version": 1, "out": str(out), "task": given.task, "model": given.model, **predictor.metrics}
    judge = judge_of(predictor.model)
    per = f"short of a perfect {judge}" if judge != "loss" else record.get("per") or PER.get(given.task, "of the labels wrong")
    held = "" if record.get("valid") is None else f", {record['valid']:.4f} {per} on validation"
    show(record, given, f"{out}: {given.model}, {record['parameters']:,} parameters, {record['seconds']:.1f} s{held}")


DATED = ("date", "field", "every", "smooth", "out", "unit", "lower", "columns", "input_format")     # flags of `ngrams FILE`


def ngrams(given: argparse.Namespace) -> None:
    path, dated = Path(given.source), ["--" + name.replace("_", "-") for name in DATED if getattr(given, name) is not None]
    if path.is_dir() or ".arpa" in path.suffixes or not (dated or path.exists()):
        if dated:
            raise ConfigError("a run has no dates", got=" ".join(dated), do="Leave that out, or give a csv, tsv, jsonl or parquet file with dates")
        from seriatim.display import continuations
        from seriatim.verbs import ngrams as explore
        record = explore(given.source, given.pattern, 20 if given.top is None else given.top)
        show(record, given, continuations(record))
    else:
        if given.date is None or given.top is not None:
            raise ConfigError(f"{given.source} is a table, in which phrases are counted over time", got="no --date" if given.date is None else "--top",
                              do="Name the field of the dates with --date, and leave out --top; or give a run folder to see what follows a phrase")
        record = frequencies_of(given)
    for note in record["notes"] if given.format == "table" else ():
        say(f"note: {note}")


def frequencies_of(given: argparse.Namespace) -> dict[str, Any]:
    from seriatim.data import read
    from seriatim.display import frequencies
    from seriatim.exploring import over_time
    from seriatim.figures import draw_frequency, format_of
    if given.out is not None:
        format_of(given.out)
    chosen = {name: getattr(given, name) for name in ("every", "smooth", "unit", "lower", "field") if getattr(given, name) is not None}
    record = over_time(read(given.source, format=given.input_format, columns=given.columns), given.pattern, given.date, **chosen)
    if given.out is not None:
        record["picture"] = str(draw_frequency(record, given.out))
        record["notes"].append(f"written: {given.out}")
    show(record, given, frequencies(record))
    return record


def export(given: argparse.Namespace) -> None:
    from seriatim.predictor import load
    record = load(given.run).export(given.file)
    if "words" in record:
        return show(record, given, f"{record['out']}: {record['words']:,} words, {record['width']} wide")
    show(record, given, f"{record['out']}: " + (f"{sum(record['ngrams']):,} n-grams up to length {len(record['ngrams'])}" if "ngrams" in record
                                                else f"a GPT-2 with {record['parameters']:,} parameters"))


def plot(given: argparse.Namespace) -> None:
    from seriatim.figures import draw_inside, draw_map
    from seriatim.figures import plot as draw
    if given.what == "map":
        if given.text or given.file or len(given.run) > 1:
            raise ConfigError("a map is drawn of one run, without a text", got=f"{len(given.run)} runs", do="Name the words with --words")
        record = draw_map(given.run[0], given.words, given.by, given.out)
        return show(record, given, record["picture"])
    if given.words is not None or given.by != "pca":
        raise ConfigError("--words and --by are for a map", got=f"--what {given.what}", do="Add --what map, or leave them out")
    search = decoding_of(given)
    if search and given.what != "tree":
        raise ConfigError("a search is drawn as a tree", got=f"--what {given.what}", do="Add --what tree, or leave out " + flags_of(search))
    if given.what in ("attention", "tree") and given.text is not None and len(given.run) == 1 and not given.file:
        from seriatim.predictor import load
        predictor = load(given.run[0])
        if predictor.task == "translate":
            from seriatim.translation_figures import draw_inside as draw_translation
            record = draw_translation(predictor, given.run[0], given.what, given.text, given.out, search)
            return show(record, given, record["picture"])
    if given.what in ("forecast", "origins", "horizon"):
        if len(given.run) != 1 or given.file is None:
            raise ConfigError("forecasts are drawn of one run on one file", got=f"{len(given.run)} runs", do="Add --file FILE")
        from seriatim.forecast_figures import draw_run
        record = draw_run(given.run[0], given.what, given.file, given.out)
        return show(record, given, record["picture"])
    if given.what == "tree":
        raise ConfigError("a tree is drawn of one run of translate and one text", got=f"{len(given.run)} runs", do="Add --text SOURCE")
    learning, texts = given.what == "learning", [text for text in (given.text, given.file and Path(given.file)) if text is not None]
    if len(texts) != (not learning) or (learning and len(given.run) > 1):
        raise ConfigError("a learning curve is drawn of one folder, without a text" if learning else f"to see the {given.what}, one text is read",
                          got=f"{len(given.run)} folders and {len(texts)} texts", do="Add --what" if learning else "Give either --text or --file")
    if learning:
        path = draw(given.run[0], given.out)
        return show({"picture": str(path)}, given, str(path))
    from seriatim.display import inside
    record = draw_inside(given.run, given.what, texts[0], given.out)
    show(record, given, inside(record))
    for note in record["notes"] if given.format == "table" else ():
        say(f"note: {note}")


def models(given: argparse.Namespace) -> None:
    from rich.table import Table
    table = Table(box=None, show_header=False, pad_edge=False)
    if given.model is None:
        tasks = [given.task] if given.task else list(MODELS)
        record: Any = {task: {name: each.summary for name, each in MODELS[task].items()} for task in tasks}
        for task, rungs in record.items():
            table.add_row(f"[dim]{task}[/dim]", "")
            for name, summary in rungs.items():
                table.add_row(f"[bold]{name}[/bold]", summary)
        table.add_row("a+b", "a mixture of models, weights fitted on validation data")
    else:
        record = {}
        first = given.model.split("+")[0]
        task = given.task or next((task for task, rungs in MODELS.items() if first in rungs), "language")
        also = [other for other, rungs in MODELS.items() if first in rungs and other != task]
        if also and not given.task:
            say(f"note: these are its settings for {task}; {first} is also a model of {', '.join(also)}: add --task")
        for name in given.model.split("+"):
            each = rung(name, task)
            groups = [(each.options, each.settings), (CodecOptions, {})] + ([] if each.counts else [(TrainingOptions, each.training)])
            for cls, own in groups:
                chosen = choose(cls, own, {}, name)
                for f in fields(cls):
                    value, choices = getattr(chosen, f.name), f.metadata["choices"]
                    record.setdefault(name, {})[f.name] = {"default": value, "help": f.metadata["help"], "choices": choices}
                    table.add_row(*([name] if "+" in given.model else []), f"--{f.name.replace('_', '-')}", "" if value is None else str(value),
                                  f.metadata["help"] + (f" ({', '.join(map(str, choices))})" if choices else ""))
    show(record, given, table)


def check(given: argparse.Namespace) -> int:
    from seriatim.audit_display import audit
    from seriatim.auditing import check as look
    from seriatim.display import output
    record = look(given.file, label=given.label, unit=given.unit, field=given.field, format=given.input_format, columns=given.columns, by=given.by)
    show(record, given, audit(record, wide=output().width >= 120))
    return int(any(each["severity"] == "error" for each in record["findings"]))


VERBS = {"check": check, "compare": compare, "fit": fit, "evaluate": evaluate, "score": score, "predict": predict, "generate": generate, "ngrams": ngrams,
         "export": export, "plot": plot, "models": models}


def tell(error: SeriatimError, as_json: bool) -> int:
    say(json.dumps(error.record()) if as_json else f"seriatim: {error}")
    return 2 if isinstance(error, ConfigError) else 1


def main(arguments: list[str] | None = None) -> int:
    """The exit code: 0 well, 1 wrong data or run, 2 wrong command or setting, 130 interrupted."""
    alone, arguments = arguments is None, sys.argv[1:] if arguments is None else arguments
    as_json = "--format=json" in arguments or any(pair == ("--format", "json") for pair in pairwise(arguments))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")             # a terminal that cannot show a character is no reason to stop
    try:
        given = parse_arguments(arguments)
        if given.help or given.verb is None:
            print(OVERVIEW, end="")
            return 0 if given.help or not arguments else 2
        code = VERBS[given.verb](given)
        sys.stdout.flush()
        return code or 0
    except SeriatimError as error:
        return tell(error, as_json)
    except KeyboardInterrupt:
        if alone:
            signal.signal(signal.SIGINT, signal.SIG_IGN)              # whoever presses twice means the same
        say("seriatim: interrupted")
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return tell(RunError("cannot write the result", got=error.strerror or error, do="Check where the output goes"), as_json)
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "allocate memory" not in str(error):
            raise
        return tell(TrainingError("out of memory", do="Use less data, a smaller --width or fewer --rows"), as_json)


if __name__ == "__main__":
    sys.exit(main())
