"""The verbs on a run, from the command line: evaluate, score, predict, generate. The others are in `seriatim.cli`.

Results go to stdout, everything else to stderr. Each verb imports what it needs when it is called.
"""
from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from seriatim.config import BacktestOptions, DecodingOptions
from seriatim.errors import ConfigError

OWN = {"verb", "help", "format", "task", "model", "file", "valid", "models", "out", "resume", "overwrite", "by", "field", "columns",
       "input_format", "run", "prompt", "top", "label", "distinct", "folds", "calibrate", "tune", "time", "series", "channels", "known", "fill"}
SINGLE = (".svg", ".mid", ".midi")         # files of a single sequence: several are read one after another


def settings_of(given: argparse.Namespace) -> dict[str, Any]:
    """The flags that are settings of a codec, a model, training or decoding."""
    return {key: value for key, value in vars(given).items() if key not in OWN}


def read_data(given: argparse.Namespace, paths: list[str], by: str | None, unit: str | None, task: str) -> Any:
    from seriatim.data import read
    from seriatim.data.files import bare_ending
    from seriatim.data.sequences import joined
    single = len(paths) > 1 and all(bare_ending(path) in SINGLE for path in paths)
    if len(paths) > 1 and task != "translate" and not single:
        raise ConfigError(f"one file is read for {task}", got=" ".join(paths), do="Give one; two files whose lines belong together are for translate")
    if task == "forecast":
        return read_series(given, paths)
    if task in ("classify", "regress") and getattr(given, "series", None):
        return read_said_series(given, paths, "label" if task == "classify" else "value")
    chosen = [f"--{name}" for name in ("time", "series", "channels", "known", "fill") if getattr(given, name, None)]
    if chosen:
        raise ConfigError("these flags are for series", got=f"{', '.join(chosen)} with {task}", do="Leave them out; or, for labels and values, add --series")
    notes: list[str] = []
    told = [name.strip() for name in str(getattr(given, "given", "")).split(",") if name.strip()]
    chosen = {"format": given.input_format, "by": by, "unit": unit, "columns": given.columns, "label": given.label, "notes": notes,
              "field": None if told else given.field, "gaps": given.verb == "predict"}
    data = joined([read(path, **chosen) for path in paths]) if single else read(*paths, **chosen)
    if told and given.field is not None:                              # the field that is written, beside those that are given
        data = replace(data, fields={"text": data.field(given.field)} | {name: data.field(name) for name in told})
    readable = [name for name, column in data.fields.items() if column.kind != "numbers" and name not in ("label", "tags")]
    if task != "translate" and given.field is None and len(readable) > 1 and not {"text", "tokens"} & data.fields.keys():
        notes.append(f"of the fields {', '.join(map(repr, readable))} the first is read; name another with --field")
    for note in notes:
        say(f"note: {note}")
    if task == "translate" and len(data.fields) == 2 and len(paths) == 1 and not {"source", "target"} & data.fields.keys():
        say(f"note: the first line is taken for the names of the columns: {', '.join(map(repr, data.fields))}; if it is a pair, add --columns source,target")
    return data.distinct() if given.distinct else data


def read_series(given: argparse.Namespace, paths: list[str]) -> Any:
    """A table of numbers over time, or a generated signal."""
    from seriatim.data import read
    from seriatim.data.corpora import is_corpus
    from seriatim.data.series import series_of
    table = read(*paths, format=given.input_format, columns=given.columns, gaps=not (is_corpus(paths[0]) and not Path(paths[0]).exists()))
    names = {name: None if not getattr(given, name, None) else getattr(given, name).split(",") for name in ("channels", "known")}
    return series_of(table, given.time, given.series, names["channels"], names["known"] or (), given.fill or "refuse")


def read_said_series(given: argparse.Namespace, paths: list[str], target: str) -> Any:
    """A long table: series, each with a label or a value."""
    from seriatim.data import read
    from seriatim.data.series import series_with
    if given.known or given.field:
        raise ConfigError("the numbers of series are read by their channels", got="--known or --field", do="Choose columns with --channels")
    table = read(*paths, format=given.input_format, columns=given.columns, gaps=True)
    name = given.label or target
    data = series_with(table, name, given.series, given.time, given.channels and given.channels.split(","), given.fill or "refuse")
    return data.labelled(name) if given.label and name in data.fields else data


def show(record: Any, given: argparse.Namespace, table: Any) -> None:
    """A result: JSON, or whatever rich can print."""
    if given.format == "json":
        print(json.dumps(record, indent=1, allow_nan=False, ensure_ascii=False))
    elif isinstance(table, str):
        print(table)
    else:
        from seriatim.display import write
        write(table)


def say(words: str) -> None:
    print(words, file=sys.stderr)


def run_and_data(given: argparse.Namespace) -> tuple[Any, Any]:
    from seriatim.predictor import load
    if getattr(given, "others", None):
        from seriatim.translator import ensemble
        predictor = ensemble([given.run, *given.others], given.bits)
    else:
        predictor = load(given.run, bits=given.bits)
    if predictor.task == "words" and given.verb != "predict":
        return predictor, given.file[0]
    by = "line" if predictor.by == "line" or predictor.task == "words" else None
    return predictor, read_data(given, given.file, by, predictor.codec.options.unit, predictor.task)


def decoding_of(given: argparse.Namespace) -> dict[str, Any]:
    return {f.name: getattr(given, f.name) for f in fields(DecodingOptions) if hasattr(given, f.name)}


def flags_of(names: Iterable[str]) -> str:
    return ", ".join("--" + name.replace("_", "-") for name in names)


def searching(given: argparse.Namespace, task: str) -> dict[str, Any]:
    """How a translator is to search, from the flags."""
    chosen = decoding_of(given)
    used = [*chosen, *(["with"] if given.others else []), *(["against"] if getattr(given, "against", None) else [])]
    if task != "translate" and used:
        raise ConfigError("searching is for models of translate", got=f"a model of {task}", do=f"Leave out {flags_of(used)}")
    return chosen


def evaluate(given: argparse.Namespace) -> None:
    from seriatim.display import figures, set_figures, watched, word_figures
    predictor, data = run_and_data(given)
    search = searching(given, predictor.task)
    if predictor.task == "translate":
        return evaluate_translations(given, predictor, data, search)
    walking = {f.name: getattr(given, f.name) for f in fields(BacktestOptions) if hasattr(given, f.name)}
    if predictor.task == "forecast":
        return evaluate_forecasts(given, predictor, data, walking)
    if predictor.task == "autoencode":
        return evaluate_vectors(given, predictor, data)
    if walking:
        raise ConfigError("walking forward is for models of forecast", got=f"a model of {predictor.task}",
                          do="Leave out " + ", ".join(f"--{name}" for name in walking))
    chosen = {name: getattr(given, name) for name in ("positive", "most_false") if getattr(given, name) is not None}
    if (chosen or given.out) and predictor.task not in ("classify", *(["tag"] if not chosen else [])):
        raise ConfigError("thresholds are for models of classify, and pictures of what is mistaken for what for models of labels",
                          got=f"a model of {predictor.task}", do="Leave out --positive, --most-false and --out")
    if predictor.task == "words":
        record = predictor.evaluate(data, column=given.column)
        return show(record, given, word_figures(record))
    if given.column is not None:
        raise ConfigError("--column is for word vectors and similarities", got=given.column, do="Name the field to be read with --field")
    record = watched("evaluate", predictor.evaluate, data, **chosen)
    if given.out is not None:
        from seriatim.label_figures import draw_confusion
        record["picture"] = str(draw_confusion(record, given.out))
    note_seen(record, given)
    if predictor.task in ("language", "sets"):
        return show(record, given, figures(record) if predictor.task == "language" else set_figures(record))
    from seriatim.label_display import label_figures, value_figures
    show(record, given, (value_figures if predictor.task == "regress" else label_figures)(record))


def evaluate_translations(given: argparse.Namespace, predictor: Any, data: Any, search: dict[str, Any]) -> None:
    from seriatim.display import watched
    from seriatim.translation_display import translation_figures
    measured = watched("evaluate", predictor.measure, data, **search)
    record = predictor.summarise(measured)
    if given.against is not None:
        from seriatim.predictor import load
        from seriatim.texts import paired
        against = load(given.against, bits=given.bits)
        if against.task != "translate":
            raise ConfigError("a translator is compared with a translator", got=f"{given.against}, a model of {against.task}",
                              do="Give a run of `fit translate`")
        other = watched("against", against.measure, data, **search)
        record["against"] = {"run": given.against} | paired(measured["texts"], other["texts"], measured["references"], others=other["references"])
    if given.out is not None:
        from seriatim.translation_figures import draw_lengths
        record["picture"] = str(draw_lengths([record], given.out))
    note_seen(record, given)
    if record["cut_off"] and given.format == "table":
        say(f"note: {record['cut_off']:,} of {record['sources']:,} targets were cut off at their greatest length; --length sets another")
    show(record, given, translation_figures(record))


def evaluate_vectors(given: argparse.Namespace, predictor: Any, data: Any) -> None:
    from seriatim.display import watched
    from seriatim.vector_display import vector_figures
    record = watched("evaluate", predictor.evaluate, data, **({} if given.draws is None else {"draws": given.draws}))
    note_seen(record, given)
    show(record, given, vector_figures(record))


def evaluate_forecasts(given: argparse.Namespace, predictor: Any, data: Any, walking: dict[str, Any]) -> None:
    from seriatim.display import watched
    from seriatim.forecast_display import forecast_figures
    record = watched("evaluate", predictor.evaluate, data, **(walking or {"stride": 1}))
    if given.out is not None:
        from seriatim.forecast_figures import draw
        record["picture"] = str(draw("horizon", record, given.out))
    show(record, given, forecast_figures(record))


def note_seen(record: dict[str, Any], given: argparse.Namespace) -> None:
    if record["protocol"]["seen_in_training"] and given.format == "table":
        say("note: this is the data it was trained on; figures on it flatter")


def note_stream(predictor: Any, given: argparse.Namespace) -> None:
    if predictor.by == "stream" and given.format == "table":
        say("note: this model was fitted by stream, so the file is one sequence; fit with --by line to have each line on its own")


def score(given: argparse.Namespace) -> None:
    from seriatim.display import watched
    predictor, data = run_and_data(given)
    records = watched("score", predictor.score, data)
    note_stream(predictor, given)
    if given.format == "json":
        print(json.dumps([row | {"log_prob": row["log_prob"] if row["log_prob"] > -1e308 else None} for row in records]))
    else:
        sys.stdout.writelines(f"{row['log_prob']:.6f}\t{row['tokens']}\t{row['unknown']}\n" for row in records)


TOGETHER, EVERY = 512, 1.0                 # sequences that are asked about at a time, at least, and seconds between words on how far it is
MANY = {"translate": "Use --count for several targets", "tag": "Use --best for several rows of tags", "forecast": "Leave it out", "regress": "Leave it out"}

BELONGS = {                                # flags, the task they are for, and what to say to others
    "positive": ("classify", "a threshold is for one label of sequences"), "threshold": ("classify", "a threshold is for one label of sequences"),
    "best": ("tag", "the best rows of tags are asked of taggers; use --top for labels"), "out": ("tag", "only tags are written into a file"),
    "paths": ("forecast", "paths are drawn by models of forecast"), "why": ("", "--why is for --explain"),
    "how": ("", "--how is for --explain"),
}


def top_of(given: argparse.Namespace) -> int:
    return 5 if given.top is None else given.top


def pieces(data: Any) -> Iterator[Any]:
    """Data some sequences at a time; where that takes long, a terminal is told how far it is."""
    told, many = time.perf_counter(), max(TOGETHER, len(data) // 100)
    for end in range(many, len(data) + many, many):
        yield data[end - many:end]
        if sys.stderr.isatty() and end < len(data) and time.perf_counter() - told > EVERY:
            say(f"{end:,} of {len(data):,}")
            told = time.perf_counter()


ASKED = ("analogy", "analogies", "neighbours", "direction", "odd", "missing")               # what word vectors are asked for


def predict(given: argparse.Namespace) -> None:
    asked = [name for name in (*ASKED, "explain") if getattr(given, name) is not None]
    if asked == ["neighbours"] and len(given.file) == 1:
        predictor, data = run_and_data(given)
        if predictor.task != "autoencode":
            raise ConfigError("neighbours in a file are for models of autoencode", got=f"a model of {predictor.task}", do="Leave out the FILE")
        return predict_vectors(given, predictor, data)
    if len(asked) + len(given.file) != 1:
        raise ConfigError("one thing is predicted at a time", got=" ".join([*(given.file or ["no FILE"]), *(f"--{name}" for name in asked)]),
                          do="Give one FILE (to translate: of sources), for labels --explain TEXT, or for word vectors one of "
                          + ", ".join(f"--{name}" for name in ASKED))
    if asked == ["explain"]:
        return explain(given)
    if asked:
        return ask(given, asked[0])
    predictor, data = run_and_data(given)
    search = searching(given, predictor.task)
    if given.top is not None and predictor.task in MANY:
        raise ConfigError("--top is for symbols and labels", got=f"a model of {predictor.task}", do=MANY[predictor.task])
    for name, (task, reason) in BELONGS.items():
        if getattr(given, name) is not None and predictor.task != task:
            raise ConfigError(reason, got=f"--{name}, and a model of {predictor.task}", do="Leave it out")
    if predictor.task == "translate":
        return translate(given, predictor, data, search)
    if predictor.task == "forecast":
        from seriatim.forecast_display import forecast_lines
        records = [record for some in pieces(data) for record in predictor.predict(some, paths=given.paths or 0)]
        return print(json.dumps(records) if given.format == "json" else "\n".join(forecast_lines(records)))
    if predictor.task == "regress":
        return predict_values(given, predictor, data)
    if predictor.task == "autoencode":
        return predict_vectors(given, predictor, data)
    if predictor.task in ("classify", "tag"):
        return predict_labels(given, predictor, data)
    records = [record for some in pieces(data) for record in predictor.predict(some, top_of(given))]
    if predictor.task != "words":
        note_stream(predictor, given)
    if given.format == "json":
        print(json.dumps(records))
    else:
        for record in records:
            print("\t".join(f"{each['symbol']!r} {each['probability']:.3f}" for each in record["next"]))


def translate(given: argparse.Namespace, predictor: Any, data: Any, search: dict[str, Any]) -> None:
    """A target for each source, a line each; with --count all results, with their log-probabilities."""
    records, several, unknown, impossible = [], int(search.get("count", 1)) > 1, 0, 0
    for sources in pieces(data):
        some = predictor.predict(sources, **search)
        records += some if given.format == "json" else []
        unknown, impossible = unknown + sum(each["unknown"] for each in some), impossible + sum(each["log_prob"] is None for each in some)
        for record in some if given.format == "table" else ():
            ranked = [f"{each['score']:.4f}\t{each['target']}" for each in record["results"] if each["score"] is not None]
            lines = [*ranked, ""] if several else [record["target"]]
            sys.stdout.writelines(line.replace("\n", " ") + "\n" for line in lines)
        sys.stdout.flush()
    if unknown:
        say(f"note: {unknown:,} symbols of the sources are unknown to the model")
    if impossible:
        say(f"note: for {impossible:,} sources nothing meets all that was asked for; their lines are empty")
    if given.format == "json":
        print(json.dumps(records, ensure_ascii=False))


def predict_labels(given: argparse.Namespace, predictor: Any, data: Any) -> None:
    """A label for each sequence, or its tags."""
    if given.out is not None:
        record = predictor.rewrite(given.file[0], given.out, given.input_format)
        return show(record, given, f"{record['out']}: {record['tags']:,} tags in {record['sequences']:,} sequences")
    if given.best is not None:
        return best_tags(given, predictor, data)
    chosen = {} if predictor.task == "tag" else {"top": top_of(given), "positive": given.positive, "at": given.threshold}
    records = [record for some in pieces(data) for record in predictor.predict(some, **chosen)]
    if given.format == "json":
        print(json.dumps(records))
    elif predictor.task == "tag":
        sys.stdout.writelines("".join(f"{token}\t{tag}\n" for token, tag in zip(row["tokens"], row["tags"], strict=True)) + "\n" for row in records)
    else:
        sys.stdout.writelines("\t".join([row["label"], *(f"{each['label']} {each['probability']:.4f}" for each in row["probabilities"])]) + "\n"
                              for row in records)


def predict_values(given: argparse.Namespace, predictor: Any, data: Any) -> None:
    """A line for each sequence: its value, the deviation, and the ends of the interval of 80 %."""
    records = [record for some in pieces(data) for record in predictor.predict(some)]
    if given.format == "json":
        print(json.dumps(records))
    else:
        sys.stdout.writelines("\t".join(f"{number:.6g}" for number in (row["value"], row["deviation"], *row["interval"])) + "\n" for row in records)


def best_tags(given: argparse.Namespace, predictor: Any, data: Any) -> None:
    if given.best < 1:
        raise ConfigError("at least one row of tags is asked for", got=f"--best {given.best}", do="Choose 1 or more")
    found = [rows for some in pieces(data) for rows in predictor.best(some, given.best)]
    if given.format == "json":
        print(json.dumps(found))
    else:
        sys.stdout.writelines("".join(f"{row['log_prob']:.4f}\t{' '.join(row['tags'])}\n" for row in rows) + "\n" for rows in found)


def explain(given: argparse.Namespace) -> None:
    from seriatim.predictor import load
    predictor = load(given.run)
    if predictor.task != "classify":
        raise ConfigError("labels of sequences are explained", got=f"{given.run}, a model of {predictor.task}", do="Give a run of `fit classify`")
    from seriatim.label_display import explanation
    record = predictor.explain(given.explain, given.why, given.how)
    show(record, given, explanation(record))


def ask(given: argparse.Namespace, what: str) -> None:
    """A question to word vectors."""
    from seriatim.word_predictor import word_vectors
    predictor, words, top = word_vectors(given.run, f"--{what}"), getattr(given, what), top_of(given)
    if what == "analogies":
        return answer_all(given, predictor.analogies(words, top, given.method))
    found = {"analogy": lambda: predictor.analogy(words, top, given.method), "neighbours": lambda: predictor.neighbours(words, top),
             "direction": lambda: predictor.direction(words, top), "odd": lambda: predictor.odd(words),
             "missing": lambda: predictor.missing(words, top)}[what]()
    if given.format == "json":
        print(json.dumps({"version": 1, "run": given.run, what: words, "found": ranked(found, "probability" if what == "missing" else "cosine")}))
    else:
        sys.stdout.writelines(f"{score:8.4f}  {word}\n" for word, score in found)


def answer_all(given: argparse.Namespace, answers: list[tuple[str, list[tuple[str, float]]]]) -> None:
    """Many analogies: a line each."""
    if given.format == "json":
        print(json.dumps({"version": 1, "run": given.run, "analogies": given.analogies,
                          "found": [{"analogy": text, "found": ranked(found, "cosine")} for text, found in answers]}))
    else:
        sys.stdout.writelines("\t".join([text, *(f"{word} {score:.4f}" for word, score in found)]) + "\n" for text, found in answers)


def ranked(found: list[tuple[str, float]], value: str) -> list[dict[str, Any]]:
    return [{"word": word, value: score} for word, score in found]


def say_unknown(predictor: Any, texts: list[str]) -> None:
    """Tell which symbols of some texts a model does not know."""
    known = getattr(getattr(predictor.codec, "source", predictor.codec), "number", {})
    unknown = [symbol for text in texts for symbol in predictor.codec.pieces_of(text) if symbol not in known and symbol not in ("+", "-")]
    if unknown:
        say(f"note: the model does not know {', '.join(map(repr, dict.fromkeys(unknown)))}")


def generate(given: argparse.Namespace) -> None:
    from seriatim.creating import VECTORS, created, grid, keep, told
    from seriatim.predictor import load
    predictor = load(given.run, bits=given.bits)
    misplaced = [f"--{name}" for name in VECTORS if getattr(given, name) is not None]
    if misplaced and predictor.task != "autoencode":
        raise ConfigError("this is for models of autoencode", got=f"{' '.join(misplaced)} with a model of {predictor.task}", do="Leave it out")
    say_unknown(predictor, [given.prompt, *([] if given.file else [*(given.between or ()), *([given.analogy] if given.analogy else [])])])
    settings = {f.name: getattr(given, f.name) for f in fields(DecodingOptions) if hasattr(given, f.name)}
    if predictor.task == "autoencode":
        results = created(predictor, given, settings)
    elif given.format == "table" and not given.out and not {"beam", "exact", "count"} & settings.keys():
        for piece in predictor.stream(given.prompt, **settings):
            print(piece, end="", flush=True)
        print()
        return
    else:
        results = predictor.generate_records([given.prompt], **settings)[0]
    if given.out is not None:
        written = keep(results, given.out, grid(given, results))
        return show({"written": written, "results": results}, given, "\n".join(written))
    if given.format == "json":
        return print(json.dumps(results, indent=1))
    for number, result in enumerate(results):
        if len(results) > 1 and predictor.task != "autoencode":
            print(f"--- {number + 1}  log p {result['log_prob']:.2f}")
        drawn = "" if getattr(given, "label", None) or not result.get("given") else ",".join(result["given"].values()) + "\t"
        print(drawn + told(result))


def predict_vectors(given: argparse.Namespace, predictor: Any, data: Any) -> None:
    """A vector for each sequence; of models without one the label; or the neighbours of a text."""
    if given.neighbours is not None:
        from seriatim.creating import end_of
        say_unknown(predictor, [given.neighbours])
        found = predictor.neighbours(end_of(predictor, data, given.neighbours) if predictor.codec.numeric else given.neighbours, data, top_of(given))
        if given.format == "json":
            return print(json.dumps([{"sequence": text, "cosine": cosine} for text, cosine in found], ensure_ascii=False))
        return sys.stdout.writelines(f"{cosine:8.4f}  {text}\n" for text, cosine in found)
    records = [record for some in pieces(data) for record in predictor.predict(some, top_of(given))]
    if given.format == "json":
        print(json.dumps(records, ensure_ascii=False))
    else:
        sys.stdout.writelines("\t".join([row["label"], *(f"{each['label']} {each['probability']:.4f}" for each in row["probabilities"])] if "label" in row
                                        else [f"{value:.6g}" for value in row["vector"]]) + "\n" for row in records)
