"""Would ten times the data change the answer? Back-tested from a quarter of the data to the whole.

    python benchmarks/protocol.py data [NAME ...]

Each cell is a rung on a data set. A quarter of its training data is taken for all there is: six sizes
of it, several subsets at the small ones, as `compare --curve` has them. The law says what the whole,
four times as much, would give, and the whole is then measured. How wide the intervals are was decided
on the data sets of CHOSEN; the others score it. What is measured is kept beside, in a JSON, so that it
can be gone on with.
"""

from __future__ import annotations

import gzip
import itertools
import json
import lzma
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from record import write_row

from seriatim.comparison.data_curve import SHARES, seeds_of
from seriatim.data import read
from seriatim.fitting import fit_events
from seriatim.measuring.laws import LastSlope, LastValue, Law, NoLaw, crossing, errors_of
from seriatim.progress import exhausted, listening
from seriatim.tasks import task

DATA = Path(os.environ.get("SERIATIM_DATA", Path(__file__).parent.parent.parent / "shared/data"))
KEPT = Path(os.environ.get("SERIATIM_KEPT", tempfile.gettempdir())) / "data_curves.json"
QUARTER, TIMES = 1 / 4, 4
MOST = 4_000_000  # characters of a text
LEVEL = 0.2  # of error: 80 % intervals
SURE = 0.8  # from which on a crossing is claimed

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
}
CHOSEN = ("shakespeare", "docs", "sms", "ewt")  # by which the law was decided
RUNGS: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {
    "language": {
        "unigram": ("unigram", {}),
        "markov 1": ("markov", {"order": 1}),
        "markov 2": ("markov", {"order": 2}),
        "markov 3": ("markov", {"order": 3}),
        "markov 5": ("markov", {"order": 5}),
        "kneser-ney 3": ("kneser-ney", {"order": 3}),
        "kneser-ney": ("kneser-ney", {}),
        "witten-bell": ("witten-bell", {}),
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
        path = plain
    card = task(room)
    unit, reading = None, card.reading(**asked)
    return card.cut.prepare(
        card.cut.sequences(str(path) if path.exists() else source, reading, unit=unit), {}
    )


def measured(name: str, only: set[str]) -> list[Cell]:
    """The cells of a data set: of each rung the figures at every size and subset, and of the whole."""
    card = task(SETS[name][0])
    with tempfile.TemporaryDirectory() as folder, listening(lambda event: None):
        valid, train, test = card.cut.divide(opened(name, Path(folder)))
        figure = card.ranking_figure(train)
        quarter = card.cut.subset(train, QUARTER, 0)
        found = []
        for rung, (spec, settings) in RUNGS[card.name].items():
            if f"{name} {rung}" in only:
                continue

            def value(part: Any, spec: str = spec, settings: Any = settings) -> float:
                """The figure of this rung fitted to a part."""
                fitting = fit_events(card, spec, part, valid, settings, compared=True)
                predictor = exhausted(fitting)
                return float(predictor.row(predictor.measure(test))[figure.key])

            parts = [
                [card.cut.subset(quarter, share, seed) for seed in seeds_of(share)]
                for share in SHARES
            ]
            found.append(
                {
                    "data": name,
                    "rung": rung,
                    "task": card.name,
                    "higher": figure.higher,
                    "sizes": [card.cut.amount(several[0])[0] for several in parts],
                    "values": [[value(part) for part in several] for several in parts],
                    "whole": value(train),
                    "whole_size": card.cut.amount(train)[0],
                }
            )
            print(json.dumps(found[-1]), flush=True)
            keep(found[-1:])
    return found


def kept() -> dict[str, Cell]:
    """What was measured before."""
    return json.loads(KEPT.read_text()) if KEPT.exists() else {}


def keep(cells: list[Cell]) -> None:
    """Put cells beside those that are there."""
    known = kept() | {f"{each['data']} {each['rung']}": each for each in cells}
    KEPT.write_text(json.dumps(known, indent=1))
