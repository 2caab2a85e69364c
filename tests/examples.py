"""A small example of every task: data, quick models, and what every verb is asked.

Literal tables: a task or a verb without a row makes a test fail. Each model is a pair: records of
the first give the schemas (`python -m tests.schemas`), those of the second are held against them.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import seriatim as st
from seriatim.runs.predictor import Predictor
from tests.labels import pairs, sentences
from tests.terminal import prose

Files = dict[str, str]
Model = tuple[str, dict[str, Any]]  # its name and settings
TINY = {"updates": 2, "width": 8, "rows": 4}
TEST = "test"  # the file that the example holds out


@dataclass(frozen=True)
class Named:
    """A file of the example, by its name."""

    name: str


@dataclass(frozen=True)
class Ask:
    """What a verb is asked: data, and options."""

    data: Any = None  # a text, a list of texts, or a file of the example
    options: dict[str, Any] = field(default_factory=dict)
    models: tuple[str, ...] = ()  # of which models; all, if none is named


@dataclass(frozen=True)
class Example:
    """One task: files by seed, models by the part they play, and what its verbs are asked."""

    files: Callable[[int], Files]  # the first to learn from, the second to be asked about
    models: dict[str, tuple[Model, Model]]
    asks: dict[str, list[Ask]]
    shared: dict[str, Any] = field(default_factory=dict)  # settings of all its models
    compared: dict[str, Any] = field(default_factory=dict)  # settings of a comparison


HELD = Named(TEST)
LONG = " ".join(["WIN free cash NOW", *["tea at home"] * 10])  # capitals in its first half alone
COMPRESSED = "held.srt"  # the same, as `compress` writes it


# -- files
def books(seed: int) -> Files:
    """Lines of prose; a table with dates."""
    years = "".join(
        f"{1840 + i % 5},{line}\n" for i, line in enumerate(prose(10, seed).split("\n"))
    )
    return {
        "train.txt": prose(40, seed),
        "test.txt": prose(6, seed + 1),
        "news.csv": "year,text\n" + years,
    }


def labelled_lines(count: int, seed: int) -> str:
    """A label and a text a line."""
    return "".join(f"{label}\t{text}\n" for label, text in pairs(count, seed))


def mail(seed: int) -> Files:
    """Messages with their labels."""
    title = "label\ttext\n"
    return {
        "train.tsv": title + labelled_lines(40, seed),
        "test.tsv": title + labelled_lines(9, seed + 1),
    }


def letters(seed: int) -> Files:
    """The same; a label that training does not have; copies, and texts that nearly are."""
    found, long = mail(seed), "a dog and a desk and then a letter from home on a Monday"
    copies = f"ham\t{long}\nham\t{long}\nwork\t{long}\nham\t{long.upper()}\n"
    return found | {
        "unseen.tsv": found["test.tsv"] + "note\ta dog and a desk\n",
        "copies.tsv": found["test.tsv"] + copies,
    }


def valued_lines(count: int, seed: int) -> str:
    """A value and a text a line: the value is how long the text is."""
    return "value\ttext\n" + "".join(f"{len(text)}.5\t{text}\n" for _, text in pairs(count, seed))


def lengths(seed: int) -> Files:
    """Messages with a value each."""
    return {"train.tsv": valued_lines(40, seed), "test.tsv": valued_lines(9, seed + 1)}


def tagged_lines(count: int, seed: int) -> str:
    """Sentences in columns: a word, and where a noun begins and goes on."""
    data, rows = sentences(count, seed), []
    for s in range(count):
        tags = ["B-N" if tag == "NOUN" else "O" for tag in data.field("tags").raw(s)]
        rows += [f"{w}\t{t}\n" for w, t in zip(data.field("tokens").raw(s), tags, strict=True)]
        rows.append("\n")
    return "".join(rows)


def tagged(seed: int) -> Files:
    """Words with their tags, in columns."""
    unknown = "Zorro\tB-N\nsees\tO\n\n"
    return {
        "train.conll": tagged_lines(40, seed),
        "test.conll": tagged_lines(9, seed + 1) + unknown,
    }


def marked_lines(count: int, seed: int) -> str:
    """A text and which words it has, between bars."""
    texts = [text for _, text in pairs(count, seed)]
    marks = [[word for word in ("free", "tea", "desk", "the") if word in text] for text in texts]
    rows = (f"{text}\t{'|'.join(found)}\n" for text, found in zip(texts, marks, strict=True))
    return "text\tlabels\n" + "".join(rows)


def marked(seed: int) -> Files:
    """Texts with lists of labels; one that training does not have."""
    unknown = "free tea\tfree|strange\n"
    return {"train.tsv": marked_lines(40, seed), "test.tsv": marked_lines(9, seed + 1) + unknown}


def rolled(count: int, seed: int) -> str:
    """Lines of chords."""
    dice = random.Random(seed)
    chords = ["60", "60+64", "64+67", ".", "62", "62+65"]
    return "".join(
        " ".join(dice.choices(chords, k=dice.randint(4, 9))) + "\n" for _ in range(count)
    )


def rolls(seed: int) -> Files:
    """Notes that sound together."""
    return {"train.txt": rolled(30, seed), "test.txt": rolled(5, seed + 1)}


def paired_lines(count: int, seed: int) -> str:
    """A source and a target: the same letters, large."""
    dice = random.Random(seed)
    sources = [" ".join(dice.choices("abc", k=dice.randint(1, 4))) for _ in range(count)]
    return "source\ttarget\n" + "".join(f"{source}\t{source.upper()}\n" for source in sources)


def translated(seed: int) -> Files:
    """Pairs, and sources alone."""
    return {
        "train.tsv": paired_lines(60, seed),
        "test.tsv": paired_lines(8, seed + 1),
        "sources.txt": "a b\n\nc\n",
        "words.tsv": "source\ttarget\na\tA\nb\tB\n",
    }


def measured_lines(count: int, seed: int) -> str:
    """Two channels, hour by hour."""
    dice = random.Random(seed)
    rows = (
        f"2024-01-{1 + i // 24:02d} {i % 24:02d}:00,{10 + i % 6 + dice.random():.3f},{dice.random():.3f}\n"
        for i in range(count)
    )
    return "time,load,wind\n" + "".join(rows)


def loads(seed: int) -> Files:
    """Series: one, and several in one table."""
    pair = [measured_lines(60, seed + 1), measured_lines(50, seed + 2)]
    head, *_ = pair[0].splitlines()
    rows = [f"{name},{line}" for name, text in zip("ab", pair) for line in text.splitlines()[1:]]
    several = "\n".join([f"series,{head}", *rows]) + "\n"
    return {"train.csv": measured_lines(120, seed), "test.csv": pair[0], "several.csv": several}


def drawn(count: int, seed: int) -> str:
    """Drawings of one stroke, as those of Quick, Draw!"""
    dice = random.Random(seed)
    rows = ([[dice.randint(0, 255) for _ in range(5)] for _ in "xy"] for _ in range(count))
    return "".join(json.dumps({"word": "knot", "drawing": [row]}) + "\n" for row in rows)


def pictured(seed: int) -> Files:
    """Texts with a label each, and drawings."""
    more = {"drawings.ndjson": drawn(24, seed), "more.ndjson": drawn(3, seed + 1)}
    short = "label\ttext\n" + labelled_lines(4, seed + 1)
    return mail(seed) | {"test.tsv": short} | more


def spoken(seed: int) -> Files:
    """Lines of words, and questions about them."""
    return {
        "train.txt": prose(80, seed),
        "test.txt": "the * sat on\na dog * home\n",
        "questions.txt": ": animals\ncat dog mat log\ndog cat log mat\n",
        "similar.tsv": "cat\tdog\t8.5\nmat\tlog\t4\ntree\tran\t1\nbird\tcat\t6\n",
        "sums.txt": "cat - dog + mat\ntree - log + mat\n",
    }


# -- every task, every model that is tried, every verb
COUNTED, NEURAL, MIXED = ("counted",), ("neural",), ("mixed",)
NETWORK = ("neural", "attending")
ARPA = "of others.arpa"  # n-grams in a file, which have no counts
GPT2 = TINY | {
    "length": 8,
    "context": 16,
    "unit": "subword",
    "positions": "learned",
    "tied": True,
    "feed_forward_activation": "gelu-tanh",
    "output_bias": False,
}
LANGUAGE = Example(
    books,
    {
        "counted": (("kneser-ney", {"order": 3}), ("witten-bell", {"order": 2})),
        "neural": (("lstm", TINY | {"length": 8}), ("gru", TINY | {"length": 8})),
        "attending": (
            ("transformer", GPT2 | {"heads": 2}),
            ("transformer", GPT2 | {"heads": 1, "layers": 1}),
        ),
        "mixed": (
            ("unigram+rnn", TINY | {"length": 8, "by": "line", "unit": "word"}),
            ("markov+gru", TINY | {"length": 8, "by": "line", "unit": "word"}),
        ),
    },
    {
        "evaluate": [Ask(HELD), Ask(HELD, {"against": Named("neural")}, COUNTED)],
        "score": [Ask(HELD), Ask(["a cat", "Zorro"])],
        "predict": [Ask(HELD, {"top": 2}, ("counted", "neural", "mixed")), Ask(["the ", "a "])],
        "generate": [
            Ask("the ", {"length": 5, "seed": 1}),
            Ask("a ", {"length": 4, "beam": 2, "count": 2}),
        ],
        "ngrams": [
            Ask("\u03a9a*", {"top": 3}, COUNTED),
            Ask("c*t", {"top": 2}, (*COUNTED, ARPA)),
            Ask("ca", models=(*COUNTED, ARPA)),
        ],
        "frequencies": [Ask(Named("news.csv"), {"phrases": "cat, the dog", "date": "year"})],
        "surprisal": [Ask(["The cat sat."])],
        "embed": [
            Ask(["The cat sat."], {"layer": 1}, NETWORK),
            Ask(["a cat"], {"each": "sequence"}, NETWORK),
        ],
        "attention": [Ask(["The cat sat."], models=("attending",))],
        "positions": [Ask(None, {"most": 3}, ("attending",)), Ask(None, {}, ("attending",))],
        "gates": [Ask("The cat sat.", models=NEURAL), Ask("a cat", {"layer": 1}, NEURAL)],
        "units": [
            Ask("The cat sat on a mat, and the dog.", {"marker": "word"}, NEURAL),
            Ask("The cat (a cat) sat on the old mat.", {"marker": "bracket", "unit": 3}, NEURAL),
            Ask("a cat", {"count": 2}, NETWORK),
        ],
        "gradient": [Ask(HELD, models=NETWORK)],
        "influence": [Ask(HELD, models=NETWORK)],
        "impulse": [
            Ask(None, {"steps": 5, "width": 3}),
            Ask(None, {"activation": "tanh", "radius": "2", "steps": 1, "width": 3}),
        ],
        "compress": [Ask(HELD, {"out": COMPRESSED}, COUNTED)],
        "restore": [Ask(Named(COMPRESSED), {"out": "again.txt"}, COUNTED)],
        "export": [
            Ask(None, {"out": "book.arpa"}, COUNTED),
            Ask(None, {"out": "gpt/"}, ("attending",)),
        ],
    },
    compared={"models": "uniform,unigram,rnn", **TINY, "length": 8},
)
CLASSIFY = Example(
    letters,
    {
        "counted": (("naive-bayes", {}), ("markov-bayes", {})),
        "linear": (("linear", {"calibrate": True}), ("linear", {"ngram": 1, "calibrate": True})),
        "neural": (("gru", TINY), ("mean", TINY)),
        "mixed": (("naive-bayes+mean", TINY), ("naive-bayes+lstm", TINY)),
        "attending": (("transformer", TINY), ("transformer", TINY | {"layers": 1})),
        "small": (("mlp", TINY | {"width": 4}), ("mlp", TINY | {"width": 3})),
    },
    {
        "evaluate": [
            Ask(HELD),
            Ask(Named("unseen.tsv"), models=COUNTED),
            Ask(HELD, {"positive": "spam", "most_false": 0.2}, COUNTED),
            Ask(HELD, {"against": Named("neural")}, COUNTED),
        ],
        "predict": [
            Ask(HELD, {"top": 2}),
            Ask(["free cash", ""], {"positive": "spam", "threshold": 0.4}),
            Ask(["free cash"], {"probabilities": True}, COUNTED),
        ],
        "explain": [Ask("win free cash NOW"), Ask("tea at home", {"label": "ham"})],
        "attention": [Ask(["win free cash"], models=("attending",))],
        "units": [
            Ask("win free cash", models=("attending", "neural")),
            Ask(LONG, {"marker": "line", "count": 2}, ("neural",)),
            Ask(LONG, {"marker": "capital", "unit": 3}, ("neural",)),
        ],
        "embed": [
            Ask(["win free cash"], models=("attending",)),
            Ask(["win free cash"], {"each": "sequence"}, ("neural",)),
        ],
        "graph": [Ask(HELD, models=("small",))],
    },
    compared={"models": "majority,naive-bayes,mean", **TINY},
)
REGRESS = Example(
    lengths,
    {
        "counted": (("average", {}), ("linear", {"ngram": 1})),
        "linear": (("linear", {}), ("average", {})),
        "neural": (("gru", TINY), ("rnn", TINY)),
        "attending": (("transformer", TINY), ("transformer", TINY | {"layers": 1})),
        "small": (("mlp", TINY | {"width": 4}), ("mlp", TINY | {"width": 3})),
    },
    {
        "evaluate": [Ask(HELD), Ask(HELD, {"against": Named("linear")}, COUNTED)],
        "predict": [Ask(HELD), Ask(["free cash"])],
        "graph": [Ask(HELD, models=("small",))],
        "attention": [Ask(["free cash"], models=("attending",))],
        "units": [
            Ask("free cash", models=("attending", "neural")),
            Ask(LONG, {"marker": "line", "count": 2}, ("neural",)),
            Ask(LONG, {"marker": "capital", "unit": 3}, ("neural",)),
        ],
    },
    compared={"models": "average,linear,mean", **TINY},
)
TAG = Example(
    tagged,
    {
        "counted": (("hmm", {}), ("hmm", {"order": 2})),
        "plain": (("most-frequent", {}), ("most-frequent", {"suffix": 2})),
        "neural": (("rnn", TINY | {"chain": True}), ("gru", TINY | {"chain": True})),
        "mixed": (("hmm+rnn", TINY), ("hmm+window", TINY)),
        "attending": (("transformer", TINY), ("transformer", TINY | {"layers": 1})),
    },
    {
        "evaluate": [Ask(HELD), Ask(HELD, {"against": Named("neural")}, COUNTED)],
        "predict": [Ask(HELD), Ask(["the old dog"])],
        "best": [Ask(HELD, {"count": 2}, ("counted", "neural"))],
        "annotate": [Ask(HELD, {"out": "tagged.conll"})],
        "embed": [
            Ask(["the old dog"], models=("attending",)),
            Ask(["the old dog"], {"each": "sequence"}, ("neural",)),
        ],
        "attention": [Ask(["the old dog"], models=("attending",))],
        "units": [
            Ask("the old dog", models=("attending", "neural")),
            Ask(LONG, {"marker": "line", "count": 2}, ("neural",)),
            Ask(LONG, {"marker": "capital", "unit": 3}, ("neural",)),
        ],
    },
    compared={"models": "most-frequent,hmm,rnn", **TINY},
)
SETS = Example(
    rolls,
    {
        "counted": (("frequencies", {}), ("frequencies", {"add": 0.5})),
        "neural": (("rnn", TINY), ("gru", TINY)),
    },
    {
        "evaluate": [Ask(HELD), Ask(HELD, {"against": Named("neural")}, COUNTED)],
        "score": [Ask(HELD), Ask(["60+64 . 99"])],
        "predict": [Ask(HELD, {"top": 2}), Ask(["60 62"])],
        "generate": [
            Ask("60+64 .", {"length": 3, "count": 2, "seed": 1}),
            Ask(None, {"length": 2}),
        ],
        "complete": [
            Ask(HELD, {"length": 3, "count": 2, "part": 0.5}),
            Ask(["60+64 ."], {"length": 2, "number": 1}),
        ],
    },
    compared={"models": "frequencies,rnn", **TINY},
)
MARKS = Example(
    marked,
    {
        "counted": (("frequencies", {}), ("frequencies", {"add": 0.5})),
        "linear": (("linear", {}), ("linear", {"ngram": 1})),
        "neural": (("gru", TINY), ("mlp", TINY)),
        "mixed": (("linear+gru", TINY), ("linear+mean", TINY)),
    },
    {
        "evaluate": [Ask(HELD), Ask(HELD, {"against": Named("neural")}, COUNTED)],
        "predict": [Ask(HELD, {"top": 2}), Ask(["free tea", ""], {"threshold": 0.2})],
        "score": [Ask(HELD)],
    },
    compared={"models": "frequencies,linear,mean", **TINY},
)
TRANSLATE = Example(
    translated,
    {
        "counted": (
            ("lexicon", {"tune_search": True}),
            ("lexicon", {"order": 1, "tune_search": True}),
        ),
        "neural": (("gru", TINY | {"heads": 1}), ("transformer", TINY | {"heads": 1})),
        "mixed": (("lexicon+gru", TINY | {"heads": 1}), ("lexicon+rnn", TINY | {"heads": 1})),
        "attending": (("transformer", TINY), ("transformer", TINY | {"layers": 1})),
        "cut": (("joint", {}), ("joint", {"order": 2})),
    },
    {
        "evaluate": [
            Ask(HELD, {"beam": 2}),
            Ask(Named("words.tsv"), {"beam": 2}, COUNTED),
            Ask(HELD, {"against": Named("neural"), "beam": 1, "length": 5}, COUNTED),
        ],
        "predict": [
            Ask(Named("sources.txt"), {"beam": 2, "count": 2, "length": 5}),
            Ask(["a b", "z"], {"temperature": 1.0, "seed": 1, "length": 5}),
        ],
        "score": [Ask(HELD)],
        "generate": [
            Ask("a b", {"beam": 2, "length": 5}),
            Ask("a b", {"beam": 0, "temperature": 1.0, "seed": 1, "length": 5}),
        ],
        "alignment": [
            Ask("a b c", models=(*NEURAL, "counted", "cut")),
            Ask("a b", {"target": "A B"}, NEURAL),
        ],
        "tree": [Ask("a b", {"beam": 2, "length": 4})],
        "attention": [Ask("a b", models=("attending",))],
    },
    shared={"unit": "token"},
    compared={"models": "lexicon,gru", **TINY, "heads": 1, "unit": "token"},
)
AHEAD = {"horizon": 3, "context": 8}
FORECAST = Example(
    loads,
    {
        "counted": (("persistence", AHEAD), ("seasonal", AHEAD | {"season": 6})),
        "linear": (("lags-ridge", AHEAD), ("autoregression", AHEAD | {"order": 3})),
        "neural": (
            ("rnn", TINY | AHEAD | {"strategy": "recursive", "calibrate": True}),
            ("gru", TINY | AHEAD | {"strategy": "recursive"}),
        ),
    },
    {
        "evaluate": [
            Ask(HELD, {"begin": "40", "stride": 3}),
            Ask(HELD, {"begin": "50", "against": Named("linear")}, COUNTED),
            Ask(Named("several.csv"), {"begin": "40"}, COUNTED),
        ],
        "predict": [Ask(HELD), Ask(HELD, {"paths": 2}, NEURAL)],
        "backtest": [Ask(HELD, {"begin": "48"})],
        "lags": [
            Ask(HELD, {"lags": 3}),
            Ask(HELD, {"lags": 2, "horizon": 2, "windows": "4", "out": "lags.csv"}),
        ],
    },
    compared={"models": "mean,persistence,rnn", **TINY, **AHEAD},
)
THROUGH = TINY | {"latent": 2, "length": 8}
WRITING = ("neural", "conditioned")
AUTOENCODE = Example(
    pictured,
    {
        "neural": (("gru", THROUGH), ("rnn", THROUGH)),
        "conditioned": (
            ("lstm", THROUGH | {"condition": "label"}),
            ("gru", THROUGH | {"condition": "label"}),
        ),
        "decoder": (
            ("decoder", TINY | {"condition": "label"}),
            ("decoder", TINY | {"condition": "label", "layers": 2}),
        ),
        "drawing": (("lstm", THROUGH), ("gru", THROUGH | {"components": 3})),
    },
    {
        "evaluate": [
            Ask(HELD, {"draws": 2}, (*WRITING, "decoder")),
            Ask(Named("more.ndjson"), {"draws": 2}, ("drawing",)),
            Ask(HELD, {"draws": 2, "against": Named("neural")}, ("decoder",)),
        ],
        "embed": [
            Ask(HELD, models=WRITING),
            Ask(["free cash"], models=WRITING),
            Ask(Named("more.ndjson"), models=("drawing",)),
        ],
        "reconstruct": [Ask(HELD, models=WRITING), Ask(Named("more.ndjson"), models=("drawing",))],
        "predict": [Ask(HELD, {"top": 2}, ("decoder",))],
        "score": [
            Ask(HELD, models=(*WRITING, "decoder")),
            Ask(Named("more.ndjson"), models=("drawing",)),
        ],
        "neighbours": [
            Ask(HELD, {"to": "free cash", "top": 2}, WRITING),
            Ask(Named("more.ndjson"), {"to": "1", "top": 2}, ("drawing",)),
        ],
        "generate": [
            Ask(None, {"count": 2, "length": 4, "seed": 1}),
            Ask("free", {"length": 4, "beam": 2}, (*WRITING, "decoder")),
            Ask("free", {"length": 4, "label": "spam"}, ("decoder",)),
        ],
        "interpolate": [
            Ask(["free cash", "tea home"], {"count": 3, "length": 4}, WRITING),
            Ask(Named("more.ndjson"), {"ends": "1,2,3,1", "count": 2, "length": 4}, ("drawing",)),
        ],
        "analogy": [
            Ask("free cash - free + tea", {"length": 4}, WRITING),
            Ask("1 - 2 + 3", {"of": Named("more.ndjson"), "length": 4}, ("drawing",)),
        ],
        "complete": [
            Ask(Named("more.ndjson"), {"number": 2, "part": 0.5, "length": 4}, ("drawing",))
        ],
    },
    compared={"models": "decoder,gru", **THROUGH},
)
VECTORS = {"width": 4, "epochs": 1, "deterministic": True, "threads": 1}
WORDS = Example(
    spoken,
    {
        "neural": (("skip-gram", VECTORS), ("cbow", VECTORS | {"subwords": "3,4"})),
        "counted": (("glove", VECTORS), ("glove", VECTORS | {"window": 2})),
    },
    {
        "evaluate": [
            Ask(Named("questions.txt"), {"most": 100}),
            Ask(Named("questions.txt"), {"method": "mul"}, NEURAL),
            Ask(Named("similar.tsv")),
        ],
        "predict": [Ask(HELD, {"top": 2}, NEURAL), Ask(["the * sat"], models=NEURAL)],
        "neighbours": [Ask("cat", {"top": 3})],
        "analogy": [Ask("cat - dog + mat", {"top": 2}), Ask("cat - dog + mat", {"method": "mul"})],
        "direction": [Ask("cat dog, mat log : tree", {"top": 2})],
        "odd": [Ask("cat dog tree")],
        "pairs": [Ask("the cat sat", {"window": 1, "start": True})],
        "missing": [Ask("the * sat on", {"top": 2}, NEURAL)],
        "analogies": [Ask(Named("sums.txt"), {"top": 2})],
        "map": [Ask("cat dog, mat log"), Ask(None)],
        "export": [Ask(None, {"out": "vectors.txt"}), Ask(None, {"out": "vectors.bin"})],
    },
)
EXAMPLES: dict[str, Example] = {
    "language": LANGUAGE,
    "classify": CLASSIFY,
    "regress": REGRESS,
    "tag": TAG,
    "sets": SETS,
    "marks": MARKS,
    "translate": TRANSLATE,
    "forecast": FORECAST,
    "autoencode": AUTOENCODE,
    "words": WORDS,
}


# -- put to use
class Workshop:
    """The models of all examples, each fitted once, when it is first asked for."""

    def __init__(self, folder: Path, which: int):
        self.folder, self.which = folder, which
        self.seed = 10 + 7 * which
        self.fitted: dict[tuple[str, str], Path] = {}
        self.opened: dict[tuple[str, str], Predictor] = {}
        self.kept: Any = None  # what keeps the folder alive

    def place(self, task: str) -> Path:
        """The folder of a task, furnished with its files."""
        folder = self.folder / task
        if not folder.exists():
            folder.mkdir(parents=True)
            for name, text in EXAMPLES[task].files(self.seed).items():
                (folder / name).write_text(text)
        return folder

    def file(self, task: str, name: str) -> Path:
        """A file of the example; `test` is the second, whatever its ending."""
        names = list(EXAMPLES[task].files(self.seed))
        found = self.place(task) / (names[1] if name == TEST else name)
        if name == COMPRESSED and not found.exists():
            st.call("compress", self.run(task, "counted"), self.file(task, TEST), out=str(found))
        return found

    def train(self, task: str, role: str) -> Path:
        """What a model learns from."""
        drawings = task == "autoencode" and role == "drawing"
        name = "drawings.ndjson" if drawings else next(iter(EXAMPLES[task].files(self.seed)))
        return self.place(task) / name

    def model(self, task: str, role: str) -> Model:
        """The name and settings of a model."""
        example = EXAMPLES[task]
        spec, settings = example.models[role][self.which]
        more = {"input_format": "quickdraw"} if role == "drawing" else {}
        return spec, example.shared | settings | more

    def run(self, task: str, role: str) -> Path:
        """The run folder of a model, fitted if it is not there yet."""
        if (task, role) not in self.fitted:
            out = self.place(task) / "runs" / role
            if role == ARPA:
                st.call("export", self.run(task, "counted"), out=str(out))
                return self.fitted.setdefault((task, role), out)
            spec, settings = self.model(task, role)
            st.fit(task, spec, self.train(task, role), out=out, **settings)
            self.fitted[task, role] = out
        return self.fitted[task, role]

    def roles(self, task: str, ask: Ask) -> tuple[str, ...]:
        """The models that are asked."""
        return ask.models or tuple(EXAMPLES[task].models)

    def data(self, task: str, data: Any) -> Any:
        """What is asked about, its files found."""
        return self.file(task, data.name) if isinstance(data, Named) else data

    def options(self, task: str, ask: Ask) -> dict[str, Any]:
        """What is asked for, its runs and files found."""
        found: dict[str, Any] = {}
        for key, value in ask.options.items():
            if key == "against":
                value = str(self.run(task, value.name))
            elif isinstance(value, Named):
                value = str(self.file(task, value.name))
            elif key == "out":
                value = f"{self.place(task)}/{value}"
                shutil.rmtree(value, ignore_errors=True)  # some write into new folders only
            found[key] = value
        return found

    def predictor(self, task: str, role: str) -> Predictor:
        """An opened run."""
        if (task, role) not in self.opened:
            self.opened[task, role] = st.load(self.run(task, role))
        return self.opened[task, role]
