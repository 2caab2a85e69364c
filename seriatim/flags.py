"""The flags of the command line, derived from the option records. Nothing slow is imported, so that help answers at once."""
from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from seriatim import __version__
from seriatim.config import (
    UNITS,
    AutoencodeOptions,
    AutoregressionOptions,
    BacktestOptions,
    CacheOptions,
    ClassifyOptions,
    CodecOptions,
    DecodingOptions,
    ForecastOptions,
    GloveOptions,
    HiddenOptions,
    HmmOptions,
    JointOptions,
    LagsOptions,
    LanguageOptions,
    LexiconOptions,
    LinearOptions,
    MarkovBayesOptions,
    MarkovOptions,
    NaiveBayesOptions,
    NgramOptions,
    RidgeOptions,
    SmoothingOptions,
    TagOptions,
    TrainingOptions,
    TranslateOptions,
    VectorsOptions,
)
from seriatim.errors import ConfigError, nearest
from seriatim.models import MODELS

OVERVIEW = """\
seriatim: sequence models from counting to attention, on your own data.

  seriatim check    FILE [FILE ...]          what is wrong with this data? copies, leaks, contradictions, broken lines
  seriatim compare  TASK FILE                which model does this data deserve? a leaderboard
  seriatim fit      TASK MODEL FILE          fit one model, keep it in a run folder
  seriatim evaluate RUN FILE                 how well does it predict other data?
  seriatim score    RUN FILE                 the log-probability of each sequence
  seriatim generate RUN --prompt P           let it write
  seriatim predict  RUN FILE                 what comes next after each sequence? what label or tags has it? how is it translated?
  seriatim predict  RUN --explain "some text"     why this label?
  seriatim predict  RUN --analogy "paris - france + japan"     also --neighbours, --direction, --odd, --missing
  seriatim ngrams   RUN "won a *"            what follows a phrase, and how the counts came to it
  seriatim ngrams   FILE "a, b" --date D     how often phrases occur, over the years
  seriatim export   RUN FILE                 its n-grams as an ARPA file, for KenLM; a transformer as a GPT-2 folder
  seriatim plot     RUN                      its learning curve, or a comparison's picture; --what looks inside
  seriatim models   [MODEL]                  all models, or all settings of one

TASK is language (what comes next?), classify (a label for each sequence, of symbols or of numbers), regress (a value
for each sequence), tag (a tag for each element), sets (which elements are in the next set?), translate (a target for
each source; two FILEs whose lines belong together, or a table), forecast (the next numbers of series), autoencode (a
vector for each sequence, and sequences from vectors, labels or nothing) or words (a vector for each word). FILE is
text, csv, tsv, jsonl, parquet, CoNLL-U, MIDI, drawings, plain, .gz or .xz; - for standard input; or a built-in corpus:
python-docs, python-code, python-lines, python-tokens, independent, markov, hidden-markov, brackets, remember, piano,
reverse, copy, sort, dates, roman, sentences, tunes, drawings. `seriatim VERB --help` tells more.
"""


TRANSLATING = ("beam", "length_penalty", "length", "coverage", "count", "prefix", "must", "never", "risk", "temperature", "top_k", "top_p", "seed")
TREE = ("beam", "length_penalty", "length", "prefix", "must", "never")
EIGHT = "8: networks compute in 8 bits, faster and a little less exact (default 32)"


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
        choices = f": {', '.join(filter(None, map(str, rule['choices'])))}" if rule["choices"] else ""
        words = (rule["help"] + choices + default).replace("%", "%%")
        boolean = {"nargs": "?", "const": "true"} if isinstance(each.default, bool) else {}
        group.add_argument("--" + each.name.replace("_", "-"), default=argparse.SUPPRESS, metavar="X",
                           help=words if each.name in shown else argparse.SUPPRESS, **boolean)


def data_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("data")
    group.add_argument("--unit", default=argparse.SUPPRESS, metavar="UNIT", help=f"what counts as one symbol: {', '.join(UNITS)}")
    group.add_argument("--by", choices=("line", "stream"), help="text: a sequence a line, or all of it one stream (default; of sets a sequence a line)")
    group.add_argument("--field", help="which field of a table to model")
    group.add_argument("--label", help="which field of a table holds the labels (default: label), or the values (default: value)")
    group.add_argument("--distinct", action="store_true", help="of equal sequences keep the first only")
    group.add_argument("--columns", help="names of the columns of a table without a header: label,text; of CoNLL-U: form,xpos")
    group.add_argument("--input-format", metavar="NAME", help="text, csv, tsv, jsonl, parquet, conllu, columns, midi, svg, strokes, quickdraw; or as it ends")
    group = parser.add_argument_group("series: the table")
    series_flags(group)
    add_flags(parser, CodecOptions, ("vocabulary", "minimum_count", "lower", "target_unit", "shared", "log", "difference", "calendar", "given"),
              "symbols and numbers")


def series_flags(group: Any) -> None:
    """Which columns of a table are what, for series."""
    group.add_argument("--time", metavar="COLUMN", help="the moments (default: found by name, or because it holds dates)")
    group.add_argument("--series", metavar="COLUMN", help="which series a row belongs to, of long tables; with classify or regress each series is a sequence")
    group.add_argument("--channels", metavar="A,B", help="the columns to be forecast or read (default: all of numbers)")
    group.add_argument("--known", metavar="A,B", help="forecast: columns that are known in advance")
    group.add_argument("--fill", choices=("refuse", "previous", "linear", "mean", "keep"), help="what becomes of gaps (default: refuse)")


def setting_flags(parser: argparse.ArgumentParser) -> None:
    """All settings of all models and of training; the usual ones are shown."""
    add_flags(parser, TrainingOptions, ("minutes", "steps", "epochs", "seed", "threads", "label_smoothing", "average", "patience"), "training")
    group = parser.add_argument_group("model (all settings and their defaults: seriatim models MODEL)")
    add_flags(parser, MarkovOptions, ("order",), group=group)
    add_flags(parser, NgramOptions, ("smoothing", "memory"), group=group)
    add_flags(parser, CacheOptions, ("window",), group=group)
    add_flags(parser, LanguageOptions, ("width", "layers", "dropout", "direct"), group=group)
    add_flags(parser, VectorsOptions, ("window", "negatives", "subwords"), group=group)
    for cls in (GloveOptions, ClassifyOptions, TagOptions, NaiveBayesOptions, MarkovBayesOptions, LinearOptions, RidgeOptions, HmmOptions, HiddenOptions,
                TranslateOptions, LexiconOptions, JointOptions, AutoencodeOptions, ForecastOptions, SmoothingOptions, AutoregressionOptions, LagsOptions):
        add_flags(parser, cls, ("pool", "letters", "chain", "ngram", "memory", "encoder", "judge", "scheduled", "horizon", "context", "density",
                               "latent", "variational", "free", "annealing", "word_dropout"), group=group)


def build_parser() -> Parser:
    parser = Parser(prog="seriatim", usage="seriatim VERB ...", description=OVERVIEW, add_help=False)
    parser.add_argument("-h", "--help", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--version", action="version", version=f"seriatim {__version__}", help=argparse.SUPPRESS)
    parser.verbs = verbs = parser.add_subparsers(dest="verb", parser_class=Parser, metavar="VERB", prog="seriatim")

    def verb(name: str, summary: str, example: str) -> Parser:
        added = verbs.add_parser(name, description=summary, epilog=f"example:\n  {example}")
        added.add_argument("--format", choices=("table", "json"), default="table", help="how the result is printed")
        return added

    each = verb("check", "What is wrong with data, before a model is fitted to it: one file, or the parts of a data set, the one to learn from first.",
                "seriatim check train.tsv dev.tsv test.tsv --columns label,text")
    each.add_argument("file", metavar="FILE", nargs="+", help="the data; text is read by line")
    each.add_argument("--label", metavar="FIELD", help="the field of the labels (default: label, class or category)")
    each.add_argument("--unit", help="what is counted: word, token, character, byte (default: words of text, tokens as given)")
    each.add_argument("--by", choices=("line", "stream"), help="text: a sequence a line (default), or all of it one stream")
    each.add_argument("--field", help="which field to look at (default: text or tokens)")
    each.add_argument("--columns", help="names of the columns of a table without a header: label,text; of CoNLL-U: form,xpos")
    each.add_argument("--input-format", metavar="NAME", help="text, csv, tsv, jsonl, parquet, conllu, columns, midi, svg, strokes, quickdraw; or as it ends")

    each = verb("compare", "Fit every model with an equal budget and rank them on held-out data.",
                "seriatim compare language book.txt --minutes 3")
    each.add_argument("task", help="language, classify, regress, tag, sets, translate, forecast or autoencode")
    each.add_argument("file", metavar="FILE", nargs="+", help="the data (- is standard input); a tenth is the test, of a stream its end; translate: also two")
    each.add_argument("--folds", type=int, metavar="K", help="labels and values: every K-th part is the test in turn")
    each.add_argument("--models", help="names with commas between (default: all usual ones); a+b is a mixture")
    each.add_argument("--out", help="folder for table, picture, report and runs (default: under runs/)")
    data_flags(each)
    setting_flags(each)

    each = verb("fit", "Fit one model and keep it in a run folder. Ctrl-C keeps the best so far.",
                "seriatim fit language lstm book.txt --minutes 3 --out runs/book")
    each.add_argument("task", help=", ".join(MODELS))
    each.add_argument("model", metavar="MODEL", help="; ".join(f"{task}: {', '.join(rungs)}" for task, rungs in MODELS.items()) + "; or a mixture: markov+lstm")
    each.add_argument("file", metavar="FILE", nargs="+", help="training data (- is standard input); translate: also two files, of sources and of targets")
    each.add_argument("--valid", nargs="+", metavar="FILE",
                      help="validation data (default: a part of FILE: a twentieth, for labels, tags and sets a tenth, for words a hundredth)")
    each.add_argument("--out", help="run folder (default: under runs/)")
    each.add_argument("--calibrate", action="store_true",
                      help="on validation data: classify: the temperature at which probabilities are true; forecast: intervals that hold (conformal)")
    each.add_argument("--tune", action="store_true", help="translate: find the best beam and length penalty on validation data, and keep them")
    each.add_argument("--resume", action="store_true", help="go on with a fit that was killed")
    each.add_argument("--overwrite", action="store_true", help="replace the run that is there")
    data_flags(each)
    setting_flags(each)

    for name, summary, example in (
            ("evaluate", "How well it does on other data: the figures of its task, with intervals and protocol.",
             "seriatim evaluate runs/book other.txt --format json"),
            ("score", "One line a sequence: natural-log probability, number of tokens, number unknown.", "seriatim score runs/book sentences.txt"),
            ("predict", "What comes next after each sequence, its label or tags, its translation, or the next numbers of a series.",
             "seriatim predict runs/book beginnings.txt --top 3")):
        each = verb(name, summary, example)
        each.add_argument("run", metavar="RUN", help="a run folder, or an ARPA file")
        each.add_argument("file", metavar="FILE", nargs="*" if name == "predict" else "+",
                          help="the data (- is standard input)" + "; word vectors: analogies or similarities; translate: also two files" * (name == "evaluate"))
        each.add_argument("--field", help="which field of a table to read")
        each.add_argument("--label", help="which field of a table holds the labels (default: label), or the values (default: value)")
        each.add_argument("--distinct", action="store_true", help="of equal sequences keep the first only")
        each.add_argument("--columns", help="names of the columns of a table without a header")
        each.add_argument("--input-format", metavar="NAME", help="the format, if the ending does not tell")
        each.add_argument("--bits", type=int, choices=(8, 32), default=32, help=EIGHT)
        if name != "score":
            each.add_argument("--with", dest="others", nargs="+", action="extend", metavar="RUN", help="translate: further runs; the mean of all decides")
            add_flags(each, DecodingOptions, TRANSLATING, "translate: how to search (default: beam 4, or what --tune found)")
            series_flags(each.add_argument_group("series: the table"))
        if name == "evaluate":
            add_flags(each, BacktestOptions, [f.name for f in fields(BacktestOptions)], "forecast: walking forward")
            each.add_argument("--against", metavar="RUN", help="translate: is it better than this run? a paired bootstrap")
            each.add_argument("--positive", metavar="LABEL", help="classify: choose a threshold for this label")
            each.add_argument("--most-false", type=float, metavar="SHARE", help="such that at most this share of the others is taken for it (default 0.001)")
            each.add_argument("--out", help="labels: also a picture of the confusion matrix: .png, .svg or .pdf")
            each.add_argument("--draws", type=int, metavar="K", help="autoencode: draws of the vector for the likelihood of a sequence (default 64)")
            each.add_argument("--column", metavar="NAME", help="word vectors: the column of the scores in a file of similarities (default: the third)")
        if name == "predict":
            each.add_argument("--top", type=int, help="how many symbols or labels (default 5)")
            each.add_argument("--paths", type=int, metavar="N", help="forecast: also N sample paths, of models that go step by step")
            group = each.add_argument_group("labels")
            group.add_argument("--positive", metavar="LABEL", help="classify: this label ...")
            group.add_argument("--threshold", type=float, metavar="P", help="... from this probability on (see `evaluate --positive`)")
            group.add_argument("--best", type=int, metavar="N", help="tag: the N most probable rows of tags, of models that judge them together")
            group.add_argument("--explain", metavar="TEXT", help="classify: what each word of this text contributed")
            group.add_argument("--why", metavar="LABEL", help="explain: to this label (default: the one that is found)")
            group.add_argument("--how", choices=("exact", "occlusion", "gradient"), help="explain: by which method (default: the best this model has)")
            group.add_argument("--out", help="tag: write FILE again with these tags, all else as it is (CoNLL-U, columns)")
            group = each.add_argument_group("word vectors")
            for flag, words in (("analogy", '"paris - france + japan"'), ("neighbours", "the nearest words of this one"),
                                ("direction", '"man king, uncle prince : woman": where the mean way of the pairs leads from the last word'),
                                ("odd", '"cat dog car": the one that does not belong'), ("missing", '"the * of france": what stands at the gap')):
                group.add_argument(f"--{flag}", metavar="WORDS", help=words)
            group.add_argument("--analogies", metavar="FILE", help="many analogies, one a line")
            group.add_argument("--method", choices=("add", "mul"), default="add", help="analogies: sum of cosines, or their product (3CosMul)")

    each = verb("generate", "Let a fitted model write.", 'seriatim generate runs/book --prompt "Call me" --length 200 --temperature 0.8 --seed 1')
    each.add_argument("run", metavar="RUN", help="a run folder, or an ARPA file")
    each.add_argument("--prompt", default="", help="what it goes on from")
    each.add_argument("--out", help="write the results: drawings as .svg, melodies as .mid, texts as .txt, anything as .json")
    each.add_argument("--bits", type=int, choices=(8, 32), default=32, help=EIGHT)
    add_flags(each, DecodingOptions, [f.name for f in fields(DecodingOptions)], "decoding")

    group = each.add_argument_group("autoencode")
    group.add_argument("--between", nargs="+", metavar="TEXT", help="two sequences: --count steps on the way from one to the other; or four: a grid")
    group.add_argument("--analogy", metavar="TEXTS", help='"the cat sleeps - the cat + the dog": vectors are added and subtracted')
    group.add_argument("--label", metavar="NAME", help="what is given: spam, or author=Poe,style=verse")
    group.add_argument("--file", metavar="FILE", help="drawings or other sequences; --between and --complete name them by their numbers, from 1")
    group.add_argument("--input-format", metavar="NAME", help="of --file, if the ending does not tell: quickdraw, strokes, svg, midi, ...")
    group.add_argument("--complete", type=int, metavar="NUMBER", help="go on with this sequence of numbers")
    group.add_argument("--part", type=float, metavar="SHARE", help="complete: after this part of it (default: all)")

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
    each.add_argument("file", metavar="FILE", help="what to write: .arpa, .arpa.gz, .arpa.xz; ending in / or in nothing, a folder; word vectors: .txt, .bin")

    each = verb("plot", "Draw a run's learning curve, or a comparison's quality against time; or look inside, on some text.",
                'seriatim plot runs/book --out curve.png\n  seriatim plot runs/rnn runs/lstm --what gradient --file other.txt --out gradient.png\n'
                '  seriatim plot runs/vectors --what map --words "paris france, tokyo japan" --out map.png')
    each.add_argument("run", metavar="FOLDER", nargs="+", help="a run folder or that of a comparison; several for gradient and influence")
    each.add_argument("--what", default="learning", choices=("learning", "gradient", "influence", "attention", "surprisal", "map", "tree", "forecast",
                                                             "origins", "horizon"),
                      help="what to look at; of a translator attention to the source, or the tree of its search; of a forecaster, on a --file, its fan, "
                      "its forecasts from every origin, its error by horizon")
    each.add_argument("--text", help="to look inside: the text that is read; of a translator the source")
    each.add_argument("--file", metavar="FILE", help="the same from a file")
    add_flags(each, DecodingOptions, TREE, "translate: how to search, for a tree (default: beam 4)")
    each.add_argument("--words", help='map: "paris france, tokyo japan": pairs with an arrow each, or words (default: the 200 most frequent)')
    each.add_argument("--by", choices=("pca", "tsne"), default="pca", help="map: principal components (default), or t-SNE, which keeps near words near")
    each.add_argument("--out", help="picture to write: .png, .svg or .pdf (default: plot.png or WHAT.png in the folder; of surprisal none)")

    each = verb("models", "All models of a task with one line each, or all settings of one.", "seriatim models lstm\n  seriatim models lstm --task tag")
    each.add_argument("model", nargs="?", metavar="MODEL")
    each.add_argument("--task", choices=tuple(MODELS), help="the task (default: language, or the one that has this model)")
    return parser


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Like argparse, but an unknown flag is answered with the nearest known one."""
    parser = build_parser()
    given, unknown = parser.parse_known_args(arguments)
    if unknown:
        known = parser.verbs.choices[given.verb]._option_string_actions if given.verb else ["--help", "--version"]
        raise ConfigError(f"unknown: {' '.join(unknown)}", do=nearest(unknown[0].split("=")[0], known) if unknown[0].startswith("-") else "")
    return given
