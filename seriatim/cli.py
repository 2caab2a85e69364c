"""The command line: the verbs, with flags derived from the option records.

Results go to stdout, everything else to stderr; `--format json` everywhere. Parsing imports neither torch
nor anything slow, so that help answers at once.
"""
from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any

from seriatim import __version__
from seriatim.config import UNITS, CacheOptions, CodecOptions, DecodingOptions, MarkovOptions, NetworkOptions, NgramOptions, TrainingOptions
from seriatim.errors import ConfigError, RunError, SeriatimError, TrainingError, nearest
from seriatim.models import MODELS, choose, parse, rung

OVERVIEW = """\
seriatim: sequence models from counting to attention, on your own data.

  seriatim compare  language FILE            which model does this data deserve? a leaderboard
  seriatim fit      language MODEL FILE      fit one model, keep it in a run folder
  seriatim evaluate RUN FILE                 how well does it predict other data?
  seriatim score    RUN FILE                 the log-probability of each sequence
  seriatim generate RUN --prompt P           let it write
  seriatim predict  RUN FILE                 what comes next after each sequence?
  seriatim ngrams   RUN "won a *"            what follows a phrase, and how the counts came to it
  seriatim ngrams   FILE "a, b" --date D     how often phrases occur, over the years
  seriatim export   RUN FILE                 its n-grams as an ARPA file, for KenLM; a transformer as a GPT-2 folder
  seriatim plot     RUN                      its learning curve, or a comparison's picture; --what looks inside
  seriatim models   [MODEL]                  all models, or all settings of one

FILE is text, csv, tsv, jsonl, parquet or CoNLL-U, plain, .gz or .xz; or a built-in corpus: python-docs,
python-code, independent, markov, hidden-markov, brackets, remember. `seriatim VERB --help` tells more.
"""


class Parser(argparse.ArgumentParser):
    """argparse, with our own errors and no abbreviations."""

    def __init__(self, *arguments: Any, **settings: Any):
        super().__init__(*arguments, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **settings)

    def error(self, message: str) -> None:
        raise ConfigError(message, do=f"See `{self.prog} --help`")


def add_flags(parser: argparse.ArgumentParser, cls: type, shown: Iterable[str] = (), title: str | None = None, group: Any = None) -> None:
    """A flag for every field of an option record; those not shown still work. In a group for several models defaults would mislead."""
    defaults = group is None
    group = group or (parser.add_argument_group(title) if title else parser)
    taken = {action.dest for action in parser._actions}
    for each in fields(cls):
        if each.name in taken:
            continue
        rule = each.metadata
        default = "" if each.default in (None, "") or not defaults else f" (default {each.default})"
        choices = f": {', '.join(map(str, rule['choices']))}" if rule["choices"] else ""
        words = (rule["help"] + choices + default).replace("%", "%%")
        boolean = {"nargs": "?", "const": "true"} if isinstance(each.default, bool) else {}
        group.add_argument("--" + each.name.replace("_", "-"), default=argparse.SUPPRESS, metavar="X",
                           help=words if each.name in shown else argparse.SUPPRESS, **boolean)


def data_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("data")
    group.add_argument("--unit", default=argparse.SUPPRESS, metavar="UNIT", help=f"what counts as one symbol: {', '.join(UNITS)}")
    group.add_argument("--by", choices=("line", "stream"), help="text: a sequence a line, or all of it one stream (default)")
    group.add_argument("--field", help="which field of a table to model")
    group.add_argument("--columns", help="names of the columns of a table without a header: label,text")
    group.add_argument("--input-format", metavar="NAME", help="text, csv, tsv, jsonl, parquet, conllu, columns; by the ending if not given")
    add_flags(parser, CodecOptions)


def setting_flags(parser: argparse.ArgumentParser) -> None:
    """All settings of all models and of training; the usual ones are shown."""
    add_flags(parser, TrainingOptions, ("minutes", "steps", "epochs", "seed"), "training")
    group = parser.add_argument_group("model (all settings and their defaults: seriatim models MODEL)")
    add_flags(parser, MarkovOptions, ("order",), group=group)
    add_flags(parser, NgramOptions, ("smoothing", "memory"), group=group)
    add_flags(parser, CacheOptions, ("window",), group=group)
    add_flags(parser, NetworkOptions, ("width", "layers", "dropout"), group=group)


def build_parser() -> Parser:
    parser = Parser(prog="seriatim", usage="seriatim VERB ...", description=OVERVIEW, add_help=False)
    parser.add_argument("-h", "--help", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--version", action="version", version=f"seriatim {__version__}", help=argparse.SUPPRESS)
    parser.verbs = verbs = parser.add_subparsers(dest="verb", parser_class=Parser, metavar="VERB", prog="seriatim")

    def verb(name: str, summary: str, example: str) -> Parser:
        added = verbs.add_parser(name, description=summary, epilog=f"example:\n  {example}")
        added.add_argument("--format", choices=("table", "json"), default="table", help="how the result is printed")
        return added

    each = verb("compare", "Fit every model with an equal budget and rank them on held-out data.",
                "seriatim compare language book.txt --minutes 3")
    each.add_argument("task", help="language")
    each.add_argument("file", metavar="FILE", help="the data; a tenth of it is the test (of a stream its end)")
    each.add_argument("--models", help="names with commas between (default: all usual ones); a+b is a mixture")
    each.add_argument("--out", help="folder for table, picture, report and runs (default: under runs/)")
    data_flags(each)
    setting_flags(each)

    each = verb("fit", "Fit one model and keep it in a run folder. Ctrl-C keeps the best so far.",
                "seriatim fit language lstm book.txt --minutes 3 --out runs/book")
    each.add_argument("task", help="language")
    each.add_argument("model", metavar="MODEL", help=", ".join(MODELS) + "; or a mixture: markov+lstm")
    each.add_argument("file", metavar="FILE", help="training data")
    each.add_argument("--valid", help="validation data (default: a twentieth of FILE)")
    each.add_argument("--out", help="run folder (default: under runs/)")
    each.add_argument("--resume", action="store_true", help="go on with a fit that was killed")
    each.add_argument("--overwrite", action="store_true", help="replace the run that is there")
    data_flags(each)
    setting_flags(each)

    for name, summary, example in (
            ("evaluate", "Nats per token, bits per character, perplexity, with intervals and protocol.", "seriatim evaluate runs/book other.txt --format json"),
            ("score", "One line a sequence: natural-log probability, number of tokens, number unknown.", "seriatim score runs/book sentences.txt"),
            ("predict", "The likeliest next symbols after each sequence.", "seriatim predict runs/book beginnings.txt --top 3")):
        each = verb(name, summary, example)
        each.add_argument("run", metavar="RUN", help="a run folder, or an ARPA file")
        each.add_argument("file", metavar="FILE", help="the data")
        each.add_argument("--field", help="which field of a table to read")
        each.add_argument("--columns", help="names of the columns of a table without a header")
        each.add_argument("--input-format", metavar="NAME", help="the format, if the ending does not tell")
        if name == "predict":
            each.add_argument("--top", type=int, default=5, help="how many symbols (default 5)")

    each = verb("generate", "Let a fitted model write.", 'seriatim generate runs/book --prompt "Call me" --length 200 --temperature 0.8 --seed 1')
    each.add_argument("run", metavar="RUN", help="a run folder, or an ARPA file")
    each.add_argument("--prompt", default="", help="what it goes on from")
    add_flags(each, DecodingOptions, [f.name for f in fields(DecodingOptions)], "decoding")

    each = verb("ngrams", "Explore n-grams: what stands at the * of a pattern, by a run of a model that counts; or how often phrases occur over time.",
                'seriatim ngrams runs/book "won a *"\n  seriatim ngrams news.csv "steam engine, telegraph" --date year --out frequency.png')
    each.add_argument("source", metavar="RUN|FILE", help="a run folder; or a table with dates: csv, tsv, jsonl, parquet")
    each.add_argument("pattern", metavar="PATTERN", help='"won a *", "won * prize", or a phrase; with a FILE, phrases with commas between')
    each.add_argument("--top", type=int, help="RUN: how many symbols (default 20)")
    group = each.add_argument_group("FILE")
    group.add_argument("--date", help="the field with the dates: 1843, 1843-05, 1843-05-01, ...")
    group.add_argument("--field", help="the field with the text")
    group.add_argument("--every", metavar="PERIOD", help="year (default), month or day")
    group.add_argument("--smooth", type=int, metavar="N", help="moving average over so many periods on each side (default 3)")
    group.add_argument("--out", help="picture to write: .png, .svg or .pdf")
    group.add_argument("--unit", metavar="UNIT", help="what phrases are made of: word (default), token, character")
    group.add_argument("--lower", nargs="?", const="true", metavar="X", help="lower-case text and phrases first")
    group.add_argument("--columns", help="names of the columns of a table without a header")
    group.add_argument("--input-format", metavar="NAME", help="the format, if the ending does not tell")

    each = verb("export", "Write the n-grams of a run as an ARPA file, which KenLM, SRILM and others read; or a transformer as the folder of a GPT-2,\n"
                "which Hugging Face's transformers reads.", "seriatim export runs/book book.arpa.gz\n  seriatim export runs/transformer gpt2/")
    each.add_argument("run", metavar="RUN", help="the run folder of a model of n-grams or of a transformer, or whatever else can be loaded")
    each.add_argument("file", metavar="FILE", help="what to write: .arpa, .arpa.gz or .arpa.xz; or, ending in / or in nothing, a folder")

    each = verb("plot", "Draw a run's learning curve, or a comparison's quality against time; or look inside, on some text.",
                'seriatim plot runs/book --out curve.png\n  seriatim plot runs/rnn runs/lstm --what gradient --file other.txt --out gradient.png')
    each.add_argument("run", metavar="FOLDER", nargs="+", help="a run folder or that of a comparison; several for gradient and influence")
    each.add_argument("--what", choices=("learning", "gradient", "influence", "attention", "surprisal"), default="learning", help="what to look at")
    each.add_argument("--text", help="to look inside: the text that is read")
    each.add_argument("--file", metavar="FILE", help="the same from a file")
    each.add_argument("--out", help="picture to write: .png, .svg or .pdf (default: plot.png or WHAT.png in the folder; of surprisal none)")

    each = verb("models", "All models with one line each, or all settings of one.", "seriatim models lstm")
    each.add_argument("model", nargs="?", metavar="MODEL")
    return parser


# ---------------------------------------------------------------- the verbs
OWN = {"verb", "help", "format", "task", "model", "file", "valid", "models", "out", "resume", "overwrite", "by", "field", "columns",
       "input_format", "run", "prompt", "top"}


def settings_of(given: argparse.Namespace) -> dict[str, Any]:
    """The flags that are settings of a codec, a model, training or decoding."""
    return {key: value for key, value in vars(given).items() if key not in OWN}


def read_data(given: argparse.Namespace, path: str, by: str | None, unit: str | None) -> Any:
    from seriatim.data import read
    return read(path, format=given.input_format, by=by, unit=unit, columns=given.columns, field=given.field)


def free_folder(name: str) -> Path:
    """The first of runs/NAME, runs/NAME-2, ... that does not exist."""
    folder, number = Path("runs") / name, 1
    while folder.exists():
        number += 1
        folder = Path("runs") / f"{name}-{number}"
    return folder


def show(record: Any, given: argparse.Namespace, table: Any) -> None:
    """A result: JSON, or whatever rich can print."""
    if given.format == "json":
        print(json.dumps(record, indent=1, allow_nan=False))
    elif isinstance(table, str):
        print(table)
    else:
        from seriatim.display import write
        write(table)


def compare(given: argparse.Namespace) -> int:
    from seriatim.comparison import compare_events
    from seriatim.display import follow, leaderboard, output
    settings = settings_of(given)
    minutes = convert_minutes(settings.pop("minutes", 3.0))
    data = read_data(given, given.file, given.by, settings.get("unit"))
    out = given.out or free_folder("compare-" + Path(given.file.split(":")[0]).name.split(".")[0])
    record = follow(compare_events(given.task, data, given.models, minutes=minutes, out=out, settings=settings), show=True)
    show(record, given, leaderboard(record, wide=output().width >= 120))
    say(f"{record['seconds']:.0f} s in all. Written: {out}/report.html, table.json, table.csv, quality.png, runs/")
    good = [row for row in record["rows"] if row["status"] == "ok"]
    if good:
        say(f"Try: seriatim generate {out}/{good[0]['run']} --length 300")
    return 130 if record["interrupted"] else 0


def convert_minutes(value: Any) -> float:
    from seriatim.config import build
    return build(TrainingOptions, {"minutes": value}, "compare").minutes


def fit(given: argparse.Namespace) -> None:
    if given.resume and not given.out:
        raise ConfigError("--resume needs the folder of the fit to go on with", do="Add --out RUN")
    settings = settings_of(given)
    parse(given.model, {key: value for key, value in settings.items() if key not in {f.name for f in fields(CodecOptions)}})
    train = read_data(given, given.file, given.by, settings.get("unit"))
    valid = None if given.valid is None else read_data(given, given.valid, given.by, settings.get("unit"))
    from seriatim.display import follow
    from seriatim.predictor import fit_events
    out = Path(given.out) if given.out else free_folder(given.model)
    predictor = follow(fit_events(given.task, given.model, train, valid, out=out, resume=given.resume, overwrite=given.overwrite,
                                  settings=settings), show=True)
    record = {"version": 1, "out": str(out), "task": given.task, "model": given.model, **predictor.metrics}
    held = "" if record.get("valid") is None else f", {record['valid']:.4f} nats per token on validation"
    show(record, given, f"{out}: {given.model}, {record['parameters']:,} parameters, {record['seconds']:.1f} s{held}")


def run_and_data(given: argparse.Namespace) -> tuple[Any, Any]:
    from seriatim.predictor import load
    predictor = load(given.run)
    return predictor, read_data(given, given.file, predictor.by if predictor.by == "line" else None, predictor.codec.options.unit)


def evaluate(given: argparse.Namespace) -> None:
    from seriatim.display import figures
    predictor, data = run_and_data(given)
    record = predictor.evaluate(data)
    if record["protocol"]["seen_in_training"] and given.format == "table":
        say("note: this is the data it was trained on; figures on it flatter")
    show(record, given, figures(record))


def note_stream(predictor: Any, given: argparse.Namespace) -> None:
    if predictor.by == "stream" and given.format == "table":
        say("note: this model was fitted by stream, so the file is one sequence; fit with --by line to have each line on its own")


def score(given: argparse.Namespace) -> None:
    predictor, data = run_and_data(given)
    records = predictor.score(data)
    note_stream(predictor, given)
    if given.format == "json":
        print(json.dumps([row | {"log_prob": row["log_prob"] if row["log_prob"] > -1e308 else None} for row in records]))
    else:
        sys.stdout.writelines(f"{row['log_prob']:.6f}\t{row['tokens']}\t{row['unknown']}\n" for row in records)


def predict(given: argparse.Namespace) -> None:
    predictor, data = run_and_data(given)
    records = predictor.predict(data, given.top)
    note_stream(predictor, given)
    if given.format == "json":
        print(json.dumps(records))
    else:
        for record in records:
            print("\t".join(f"{each['symbol']!r} {each['probability']:.3f}" for each in record["next"]))


def generate(given: argparse.Namespace) -> None:
    from seriatim.predictor import load
    predictor = load(given.run)
    unknown = [symbol for symbol in predictor.codec.pieces_of(given.prompt) if symbol not in predictor.codec.number]
    if unknown:
        say(f"note: the model does not know {', '.join(map(repr, dict.fromkeys(unknown)))} in the prompt")
    settings = settings_of(given)
    if given.format == "table" and not {"beam", "exact", "count"} & settings.keys():
        for piece in predictor.stream(given.prompt, **settings):
            print(piece, end="", flush=True)
        print()
        return
    results = predictor.generate_records([given.prompt], **settings)[0]
    if given.format == "json":
        print(json.dumps(results, indent=1))
    else:
        for number, result in enumerate(results):
            if len(results) > 1:
                print(f"--- {number + 1}  log p {result['log_prob']:.2f}")
            print(result["text"])


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
    show(record, given, f"{record['out']}: " + (f"{sum(record['ngrams']):,} n-grams up to length {len(record['ngrams'])}" if "ngrams" in record
                                                else f"a GPT-2 with {record['parameters']:,} parameters"))


def plot(given: argparse.Namespace) -> None:
    from seriatim.figures import draw_inside
    from seriatim.figures import plot as draw
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
        record: Any = {name: each.summary for name, each in MODELS.items()}
        for name, summary in record.items():
            table.add_row(f"[bold]{name}[/bold]", summary)
        table.add_row("a+b", "a mixture of models, weights fitted on validation data")
    else:
        record = {}
        for name in given.model.split("+"):
            each = rung(name)
            groups = [(each.options, each.settings), (CodecOptions, {})] + ([] if each.counts else [(TrainingOptions, each.training)])
            for cls, own in groups:
                chosen = choose(cls, own, {}, name)
                for f in fields(cls):
                    value, choices = getattr(chosen, f.name), f.metadata["choices"]
                    record.setdefault(name, {})[f.name] = {"default": value, "help": f.metadata["help"], "choices": choices}
                    table.add_row(*([name] if "+" in given.model else []), f"--{f.name.replace('_', '-')}", "" if value is None else str(value),
                                  f.metadata["help"] + (f" ({', '.join(map(str, choices))})" if choices else ""))
    show(record, given, table)


VERBS = {"compare": compare, "fit": fit, "evaluate": evaluate, "score": score, "predict": predict, "generate": generate, "ngrams": ngrams,
         "export": export, "plot": plot, "models": models}


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Like argparse, but an unknown flag is answered with the nearest known one."""
    parser = build_parser()
    given, unknown = parser.parse_known_args(arguments)
    if unknown:
        known = parser.verbs.choices[given.verb]._option_string_actions if given.verb else ["--help", "--version"]
        raise ConfigError(f"unknown: {' '.join(unknown)}", do=nearest(unknown[0].split("=")[0], known) if unknown[0].startswith("-") else "")
    return given


def say(words: str) -> None:
    print(words, file=sys.stderr)


def tell(error: SeriatimError, as_json: bool) -> int:
    say(json.dumps(error.record()) if as_json else f"seriatim: {error}")
    return 2 if isinstance(error, ConfigError) else 1


def main(arguments: list[str] | None = None) -> int:
    """The exit code: 0 well, 1 wrong data or run, 2 wrong command or setting, 130 interrupted."""
    arguments = sys.argv[1:] if arguments is None else arguments
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
