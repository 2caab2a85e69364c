"""The contact sheet: every picture of every room, drawn from models of built-in corpora.

    python -m tests.sheet [NAME ...]     # pictures or rooms, or all: into docs/pictures/sheet, light and dark

A literal table, as in tests/examples.py: a picture without a row makes a test fail. Budgets are
updates, so that the sheet is the same on every machine.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import seriatim as st
from seriatim.plotting import COMMON, DATA
from seriatim.show.charts import Chart
from seriatim.tasks import TASKS, task

SHEET = Path(__file__).parent.parent / "docs" / "pictures" / "sheet"
PAGE, BEGIN, END = SHEET.parent.parent / "pictures.md", "<!-- sheet -->", "<!-- end -->"
WIDTH, SCALE = 420, 1
PROSE = (
    "The module provides a function that returns the name of each file in the list of directories."
)


def lengths() -> tuple[list[str], list[float]]:
    """Lines of code, and how many letters each has, blanks apart."""
    texts = [row["text"] for row in st.read("python-lines:lines=2000")]
    return texts, [float(len("".join(text.split()))) for text in texts]


def two_modules() -> tuple[list[str], list[str]]:
    """Lines of code of two modules, one of them rarer."""
    rows = [row for row in st.read("python-lines") if row["label"][0] in ("typing", "statistics")]
    return [row["text"] for row in rows], [row["label"][0] for row in rows]


def dated(folder: Path) -> Path:
    """A table of generated sentences, and a year for each: those with a cat become fewer."""
    dice = random.Random(1)
    rows = ["year,text"]
    for row in st.read("sentences:count=4000"):
        year, text = dice.randrange(1990, 2020), " ".join(row["tokens"])
        if "cat" not in text or dice.random() < (2020 - year) / 30:
            rows.append(f'{year},"{text}"')
    path = folder / "news.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def nothing(folder: Path) -> None:
    """What a picture is of that reads nothing."""


@dataclass(frozen=True)
class Fit:
    """A model of a built-in corpus, or of what a function makes of one; the part of it that is held
    out is asked about."""

    task: str
    model: str
    corpus: Any
    settings: dict[str, Any] = field(default_factory=dict)

    def run(self, folder: Path) -> Path:
        """Its folder, fitted when it is first wanted."""
        out = folder / f"{self.task}-{self.model}"
        if not out.exists():
            train, valid, _ = self.parts
            st.fit(self.task, self.model, train, valid, out=out, **self.settings)
        return out

    @cached_property
    def parts(self) -> Any:
        """To learn from, to choose by, held out."""
        return st.split(self.task, self.corpus() if callable(self.corpus) else self.corpus)


HELD = object()  # what the models did not see


@dataclass(frozen=True)
class Shot:
    """A picture: of which models, and of what."""

    fits: tuple[Fit, ...]
    data: Any = HELD
    options: dict[str, Any] = field(default_factory=dict)

    def draw(self, name: str, folder: Path) -> Chart:
        """The chart."""
        if not self.fits:
            return st.plot(self.data(folder), what=name, **self.options)
        runs = [each.run(folder) for each in self.fits]
        data = self.fits[0].parts[2] if self.data is HELD else self.data
        return st.plot(runs if len(runs) > 1 else runs[0], data, what=name, **self.options)


SMALL = {"width": 96, "rows": 16, "seed": 1}
LSTM = Fit("language", "lstm", "python-docs", SMALL | {"updates": 250, "length": 64})
RNN = Fit("language", "rnn", "python-docs", SMALL | {"updates": 250, "length": 64})
TRANSFORMER = Fit(
    "language",
    "transformer",
    "python-docs",
    SMALL | {"updates": 250, "length": 64, "layers": 2, "heads": 4, "positions": "sinusoidal"},
)
COUNTS = Fit("language", "kneser-ney", "python-docs", {"order": 6})
LABELS = Fit("classify", "linear", "python-lines", {"calibrate": True})
LENGTHS = Fit("regress", "linear", lengths)
TWO = Fit("classify", "naive-bayes", two_modules)
TAGS = Fit("tag", "hmm", "python-tokens")
DATES = Fit(
    "translate", "gru", "dates:count=4000", SMALL | {"updates": 400, "heads": 1, "rows": 64}
)
ATTENDING = Fit(
    "translate", "transformer", "dates:count=4000", SMALL | {"updates": 400, "heads": 2, "rows": 64}
)
READER = Fit("classify", "transformer", "python-lines", SMALL | {"updates": 200, "heads": 2})
LOAD = Fit("forecast", "lags-ridge", "seasonal", {"horizon": 24})
WORDS = Fit("words", "skip-gram", "python-docs", {"width": 50, "epochs": 5, "seed": 1})
SHAPES = Fit(
    "autoencode", "lstm", "drawings:count=1200", SMALL | {"updates": 500, "latent": 8, "rows": 64}
)
TUNES = Fit("autoencode", "gru", "tunes:count=400", SMALL | {"updates": 300, "latent": 16})
CHORDS = Fit("sets", "gru", "piano", SMALL | {"updates": 300})

SHOTS: dict[tuple[str, str], Shot] = {
    ("", "learning"): Shot((LSTM,), None),
    ("language", "surprisal"): Shot((COUNTS,), [PROSE]),
    ("language", "attention"): Shot((TRANSFORMER,), ["returns the name of the file"]),
    ("language", "head"): Shot((TRANSFORMER,), ["returns the name of the file"]),
    ("language", "lines"): Shot((TRANSFORMER,), ["returns the name of the file"]),
    ("language", "positions"): Shot((TRANSFORMER,), None),
    ("language", "gates"): Shot((LSTM,), PROSE),
    ("language", "units"): Shot((LSTM,), PROSE, {"marker": "word", "count": 2}),
    ("language", "impulse"): Shot((), nothing),
    ("language", "gradient"): Shot((RNN, LSTM)),
    ("language", "influence"): Shot((RNN, LSTM)),
    ("language", "frequencies"): Shot((), dated, {"phrases": "cat,dog,the fox", "date": "year"}),
    ("classify", "confusion"): Shot((LABELS,)),
    ("classify", "reliability"): Shot((LABELS,)),
    ("classify", "precision"): Shot((TWO,), options={"positive": "statistics"}),
    ("classify", "explanation"): Shot((LABELS,), "self.assertEqual(path.name, 'x')"),
    ("regress", "scatter"): Shot((LENGTHS,)),
    ("tag", "confusion"): Shot((TAGS,)),
    ("tag", "reliability"): Shot((TAGS,)),
    ("classify", "attention"): Shot((READER,), ["self.assertEqual(path.name, 'x')"]),
    ("translate", "attention"): Shot((ATTENDING,), "12. März 2019"),
    ("translate", "alignment"): Shot((DATES,), "12. März 2019"),
    ("translate", "tree"): Shot((DATES,), "12. März 2019", {"beam": 3}),
    ("translate", "lengths"): Shot((DATES,)),
    ("forecast", "forecast"): Shot((LOAD,)),
    ("forecast", "origins"): Shot((LOAD,)),
    ("forecast", "horizon"): Shot((LOAD,)),
    ("forecast", "coverage"): Shot((LOAD,)),
    ("words", "map"): Shot((WORDS,), None),
    ("autoencode", "latent"): Shot((SHAPES,)),
    ("autoencode", "interpolation"): Shot((SHAPES,)),
    ("autoencode", "drawings"): Shot((SHAPES,), None, {"count": 12}),
    ("autoencode", "reconstruction"): Shot((SHAPES,)),
    ("autoencode", "completion"): Shot((SHAPES,), options={"count": 6}),
    ("autoencode", "roll"): Shot((TUNES,), None, {"count": 2}),
    ("sets", "roll"): Shot((CHORDS,), None, {"length": 32, "count": 2}),
}
OF_COMPARISONS = [name for name, each in COMMON.items() if each.verb == "comparison"]
COMPARED = {"models": "unigram,markov,kneser-ney,rnn,lstm", "minutes": 4, "curve": True}


def file_of(room: str, name: str) -> str:
    """What a picture is called here: with its room where several rooms draw one of that name."""
    several = sum(each == name for _, each in SHOTS) > 1
    return f"{room}-{name}" if several else name


def charts(wanted: list[str]) -> Iterator[tuple[str, Chart]]:
    """Every picture that is wanted, by the name of its file."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for (room, name), shot in SHOTS.items():
            if not wanted or {room, name, file_of(room, name)} & set(wanted):
                yield file_of(room, name), shot.draw(name, folder)
        if not wanted or set(wanted) & set(OF_COMPARISONS):
            found = st.compare("language", "python-docs", out=folder / "compared", **COMPARED)
            for name in OF_COMPARISONS:
                yield name, found.plot(name)
        if not wanted or set(wanted) & set(DATA):
            yield "audit", st.plot(st.split("classify", "python-lines"), what="audit")


def shown(name: str, says: str) -> str:
    """A picture on the page, light or dark as the page is."""
    light, dark = (f"pictures/sheet/{name}-{theme}.png" for theme in ("light", "dark"))
    return (
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="{dark}">'
        f'<img src="{light}" width="260" alt="{name}: {says}" title="{name}: {says}"></picture>\n'
    )


def page() -> str:
    """The sheet as docs/pictures.md has it: room by room, each with what it shows."""
    parts = ["**Every run, every comparison, all data**\n"]
    parts += [shown(name, each.summary) for name, each in (COMMON | DATA).items()]
    for room in TASKS:
        own = task(room).pictures
        parts += [f"\n**{room}**\n"] * bool(own)
        for name, each in own.items():
            if (room, name) in SHOTS:
                parts.append(shown(file_of(room, name), each.summary))
    return "\n".join(parts)


def write_page() -> None:
    """The page with the sheet of today."""
    before, rest = PAGE.read_text().split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{page()}\n{END}{after}")


def main() -> None:
    """Draw them."""
    write_page()
    for name, chart in charts(sys.argv[1:]):
        for theme in ("light", "dark"):
            path = SHEET / f"{name}-{theme}.png"
            path.write_bytes(chart.png(theme, WIDTH, SCALE))
        print(f"{name}: {chart.title}. {chart.says}")


if __name__ == "__main__":
    main()
