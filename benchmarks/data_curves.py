"""Would ten times the data change the answer? Back-tested from a quarter of the data to the whole.

    python benchmarks/protocol.py data [NAME ...]

Each cell is a rung on a data set. A quarter of its training data is taken for all there is: six sizes
of it, several subsets at the small ones, as `compare --curve` has them. The law says what the whole,
four times as much, would give, and the whole is then measured. How wide the intervals are was decided
on the data sets of CHOSEN; the others score it. (A first law was decided on four of these and failed on
the other five, see docs/log.md; so all nine decided the second, and nine new ones score it. Some of
the new ones are made of texts of the first nine, with other labels.) What is measured is kept beside,
in a JSON, so that it can be gone on with.
"""

from __future__ import annotations

import gzip
import itertools
import json
import lzma
import os
import re
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from record import write_row

from seriatim.comparison.data_curve import SHARES, SURE, seeds_of
from seriatim.fitting import fit_events
from seriatim.measuring.laws import (
    Expected,
    Law,
    crossing,
    errors_of,
    fitted,
    last_slope,
    last_value,
    refused,
)
from seriatim.progress import exhausted, listening
from seriatim.tasks import task

DATA = Path(os.environ.get("SERIATIM_DATA", Path(__file__).parent.parent.parent / "shared/data"))
KEPT = Path(os.environ.get("SERIATIM_KEPT", tempfile.gettempdir())) / "data_curves.json"
QUARTER = 1 / 4
MOST = 4_000_000  # characters of a text
LEVEL = 0.2  # of error: 80 % intervals
WIDTHS = np.geomspace(0.05, 4, 30)  # of the intervals of rivals, in last steps

Cell = dict[str, Any]
SETS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "shakespeare": ("language", "text/tinyshakespeare.txt", {}),
    "wiki": ("language", "text/wiki100.txt.xz", {}),
    "docs": ("language", "python-docs", {}),
    "sms": (
        "classify",
        "classify/SMSSpamCollection",
        {"columns": "label,text", "input_format": "tsv", "distinct": True},
    ),
    "polarity": ("classify", "classify/rt-polarity.tsv", {}),
    "lines": ("classify", "python-lines", {}),
    "ewt": ("tag", "tag/en_ewt-ud-train.conllu.xz", {}),
    "wnut": ("tag", "tag/wnut17train.conll.gz", {"input_format": "columns"}),
    "tokens": ("tag", "python-tokens", {}),
    "code": ("language", "python-code", {}),
    "english": ("language", "translate/multi30k.train.en.gz", {}),
    "german": ("language", "translate/multi30k.train.de.gz", {}),
    "genres": ("classify", "tag/en_ewt-ud-train.conllu.xz", {"input_format": "tsv"}),
    "entities": ("classify", "tag/wnut17train.conll.gz", {"input_format": "tsv"}),
    "syllables": ("classify", "translate/cmudict.train.tsv.gz", {"input_format": "tsv"}),
    "relations": ("tag", "tag/en_ewt-ud-train.conllu.xz", {"input_format": "columns"}),
    "fine": ("tag", "tag/en_ewt-ud-train.conllu.xz", {"input_format": "columns"}),
    "later": ("tag", "tag/wnut17test.conll.gz", {"input_format": "columns"}),
}
CHOSEN = tuple(SETS)[:9]  # by which the law was decided; the others score it
RUNGS: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {
    "language": {
        "unigram": ("unigram", {}),
        "markov 1": ("markov", {"order": 1}),
        "markov 2": ("markov", {"order": 2}),
        "markov 3": ("markov", {"order": 3}),
        "markov 5": ("markov", {"order": 5}),
        "kneser-ney 3": ("kneser-ney", {"order": 3}),
        "kneser-ney": ("kneser-ney", {}),
        "absolute": ("absolute", {}),
    },
    "classify": {
        "majority": ("majority", {}),
        "naive-bayes": ("naive-bayes", {}),
        "naive-bayes 2": ("naive-bayes", {"ngram": 2}),
        "naive-bayes letters": ("naive-bayes", {"unit": "character", "ngram": 4}),
        "markov-bayes": ("markov-bayes", {}),
        "markov-bayes letters": ("markov-bayes", {"unit": "character"}),
        "linear": ("linear", {"ngram": 1, "strength": 1.0}),
        "linear letters": ("linear", {"unit": "character", "ngram": 4, "strength": 1.0}),
    },
    "tag": {
        "most-frequent": ("most-frequent", {}),
        "most-frequent 0": ("most-frequent", {"suffix": 0}),
        "most-frequent 3": ("most-frequent", {"suffix": 3}),
        "hmm": ("hmm", {}),
        "hmm 0": ("hmm", {"suffix": 0}),
        "hmm 3": ("hmm", {"suffix": 3}),
    },
}


# -- data sets made of others
def rows_of(path: Path) -> list[list[list[str]]]:
    """The sentences of a file in columns, a list of cells for each token."""
    blocks = path.read_text(encoding="utf-8").strip().split("\n\n")
    return [
        [line.split("\t") for line in block.split("\n") if line.strip() and line[0] != "#"]
        for block in blocks
    ]


def written(path: Path, lines: list[str]) -> Path:
    """Lines in a file beside another."""
    made = path.with_name(f"{path.stem}-made.tsv")
    made.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return made


def genres(path: Path) -> Path:
    """Which kind of text is this sentence from? Weblogs, mails, reviews, ..."""
    kinds = re.findall(r"^# sent_id = (\w+)", path.read_text(encoding="utf-8"), re.M)
    texts = re.findall(r"^# text = (.*)$", path.read_text(encoding="utf-8"), re.M)
    lines = [f"{kind}\t{text}" for kind, text in zip(kinds, texts, strict=True)]
    return written(path, ["label\ttext", *lines])


def entities(path: Path) -> Path:
    """Does a name stand in this sentence?"""
    lines = []
    for rows in rows_of(path):
        label = "some" if any(row[-1] != "O" for row in rows) else "none"
        lines.append(f"{label}\t{' '.join(row[0] for row in rows)}")
    return written(path, ["label\ttext", *lines])


def syllables(path: Path) -> Path:
    """How many syllables has this word, by its letters? Every eighth word of a dictionary."""
    pairs = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[::8]]
    counts = [sum(sound[0] in "AEIOU" for sound in sounds.split()) for _, sounds in pairs]
    lines = [f"{min(5, count)}\t{' '.join(word)}" for (word, _), count in zip(pairs, counts)]
    return written(path, ["label\ttext", *lines])


def column(path: Path, place: int) -> Path:
    """Tags from another column of a treebank."""
    lines = []
    for rows in rows_of(path):
        lines += [
            f"{row[1]}\t{row[place].split(':')[0] or row[place]}"
            for row in rows
            if row[0].isdigit()
        ]
        lines.append("")
    return written(path, lines)


MADE = {
    "genres": genres,
    "entities": entities,
    "syllables": syllables,
    "relations": partial(column, place=7),
    "fine": partial(column, place=4),
}


# -- measured
def opened(name: str, folder: Path) -> Any:
    """A data set; compressed files are laid open, of long texts the beginning."""
    room, source, asked = SETS[name]
    path = DATA / source
    if path.suffix in (".gz", ".xz"):
        plain = folder / path.stem.replace(".conll", ".tsv").replace(".tsvu", ".conllu")
        with (gzip.open if path.suffix == ".gz" else lzma.open)(path) as file:
            content = file.read()
        plain.write_bytes(content[:MOST] if room == "language" else content)
        path = MADE[name](plain) if name in MADE else plain
    card = task(room)
    found = card.cut.sequences(str(path) if path.exists() else source, card.reading(**asked))
    return card.cut.prepare(found, {})


def measure(name: str, there: set[str]) -> None:
    """The cells of a data set that are not there yet: of each rung the figures at every size and
    subset of a quarter, and of the whole."""
    card = task(SETS[name][0])
    with tempfile.TemporaryDirectory() as folder, listening(lambda event: None):
        valid, train, test = card.cut.divide(opened(name, Path(folder)))
        figure = card.ranking_figure(train)
        quarter = card.cut.subset(train, QUARTER, 0)
        parts = [
            [card.cut.subset(quarter, share, seed) for seed in seeds_of(share)] for share in SHARES
        ]
        for rung, (spec, settings) in RUNGS[card.name].items():
            if f"{name} {rung}" in there:
                continue
            every = [
                [figure_of(card, figure.key, spec, settings, valid, part, test) for part in several]
                for several in [*parts, [train]]
            ]
            cell = {
                "data": name,
                "rung": rung,
                "task": card.name,
                "higher": figure.higher,
                "sizes": [card.cut.amount(several[0])[0] for several in parts],
                "values": every[:-1],
                "whole": every[-1][0],
                "whole_size": card.cut.amount(train)[0],
            }
            keep(cell)
            print(
                f"{name} {rung}: {np.mean(every[-2]):.4f}, of the whole {cell['whole']:.4f}",
                flush=True,
            )


def figure_of(
    card: Any, key: str, spec: str, settings: Any, valid: Any, train: Any, test: Any
) -> float:
    """The figure of a rung fitted to some data."""
    predictor = exhausted(fit_events(card, spec, train, valid, settings, compared=True))
    return float(predictor.row(predictor.measure(test))[key])


def kept() -> dict[str, Cell]:
    """What was measured before."""
    return json.loads(KEPT.read_text()) if KEPT.exists() else {}


def keep(cell: Cell) -> None:
    """Put a cell beside those that are there."""
    KEPT.write_text(json.dumps(kept() | {f"{cell['data']} {cell['rung']}": cell}, indent=1))


# -- scored
class Back:
    """A cell with what is known of it from a quarter, smaller is better."""

    def __init__(self, cell: Cell):
        sign = -1.0 if cell["higher"] else 1.0
        several = [[sign * each for each in values] for values in cell["values"]]
        self.data, self.rung, self.sizes = cell["data"], cell["rung"], cell["sizes"]
        self.task = cell["task"]
        self.values = [float(np.mean(each)) for each in several]
        errors = errors_of(self.sizes, several).tolist()
        self.whole, self.whole_size = sign * cell["whole"], cell["whole_size"]
        self.refused = refused(self.sizes, self.values, errors)
        self.law: Law | None = None
        if not self.refused:
            floor = -1.0 if cell["higher"] else 0.0
            self.law = fitted(self.sizes, self.values, errors, floor)

    def score(self, told: Expected) -> float:
        """The interval score of Gneiting and Raftery (2007), as a share of the figure: its width, and
        what lies outside of it ten times."""
        outside = max(0.0, told.low - self.whole) + max(0.0, self.whole - told.high)
        return (told.high - told.low + 2 / LEVEL * outside) / abs(self.values[-1])

    def predicted(self) -> Expected:
        """What the law says of the whole."""
        assert self.law is not None
        return self.law.predicted(self.whole_size)

    def rival(self, kind: Any, width: float) -> Expected:
        """What a simpler guess says of the whole."""
        return kind(self.sizes, self.values, width).predicted(self.whole_size)


def width_of(kind: Any, cells: list[Back]) -> float:
    """The width of a rival's intervals by which it scores best on some cells."""
    return min(WIDTHS, key=lambda width: np.mean([c.score(c.rival(kind, width)) for c in cells]))


def claims(cells: list[Back]) -> list[tuple[str, bool]]:
    """Crossings that a quarter of the data claims to come before the whole, and whether they did."""
    found = []
    for first, second in itertools.permutations(cells, 2):
        if first.data != second.data or first.law is None or second.law is None:
            continue
        cross = crossing(first.law, second.law, first.whole_size)
        if cross is not None and cross.sure >= SURE and cross.at > first.sizes[-1]:
            words = f"{first.data}: {second.rung} ahead of {first.rung}"
            found.append((words, second.whole < first.whole))
    return found


def main(names: list[str]) -> None:
    """Measure what is missing, and score what there is."""
    for name in names or SETS:
        measure(name, set(kept()))
    cells = [Back(cell) for cell in kept().values() if cell["rung"] in RUNGS[cell["task"]]]
    known = [cell for cell in cells if cell.law is not None]
    for cell in cells:
        if cell.refused:
            print(f"{cell.data} {cell.rung}: no law, {cell.refused}")
    chosen = [cell for cell in known if cell.data in CHOSEN]
    scored = [cell for cell in known if cell.data not in CHOSEN]
    rivals = {kind: width_of(kind, chosen) for kind in (last_value, last_slope)}
    for title, some in (("decided", chosen), ("scored", scored)):
        several = [cell.predicted() for cell in some]
        held = np.mean([t.low <= c.whole <= t.high for c, t in zip(some, several)])
        ours = np.mean([cell.score(told) for cell, told in zip(some, several)])
        value, slope = (
            np.mean([cell.score(cell.rival(kind, width)) for cell in some])
            for kind, width in rivals.items()
        )
        for room in RUNGS:
            own = [t.low <= c.whole <= t.high for c, t in zip(some, several) if c.task == room]
            print(f"{title}, {room}: {sum(own)} of {len(own)} inside")
        right = claims(some)
        sets = len({cell.data for cell in some})
        told = f"{sum(ok for _, ok in right)} of {len(right)} crossings right"
        told += " (2 of 6 before they were doubted, see docs/log.md)" * (title == "scored")
        print("\n".join(f"{words}: {'right' if ok else 'wrong'}" for words, ok in right))
        write_row(
            "protocol.py data",
            f"what 4 times the data give, {title} on {len(some)} cells of {sets} data sets",
            f"{100 * held:.0f} % inside 80 % intervals, interval score {ours:.4f}",
            f"last value {value:.4f}, last slope {slope:.4f}",
            f"{ours / min(value, slope):.2f} of the better; {told}",
            ("numpy", "scipy"),
        )
