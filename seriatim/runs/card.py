"""The model card of a run, `card.md`: what it is, what it was trained on, how well it did and by what
protocol, how to use it, what it cannot do. Made of what the run knows of itself; names from data are
escaped.

It is written for people: `verify` notices if it is another, and the run opens all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seriatim import __version__
from seriatim.runs.folder import events_of
from seriatim.settings import changed

if TYPE_CHECKING:
    from seriatim.runs.predictor import Predictor

SPECIAL = "\\`*_{}[]()#+|~!"  # letters that mean something in Markdown
MOST_NOTES = 20
ENDED = {
    "said": "on validation data",
    "updates": "updates",
    "epochs": "epochs",
    "symbols_seen": "symbols seen",
    "ending": "how it ended",
    "seconds": "seconds of fitting",
    "parameters": "parameters",
    "device": "computed on",
}


def card_of(predictor: Predictor, folder: Path) -> str:
    """The card as Markdown."""
    events = told(folder, predictor.folder)
    data = next((event for event in events if event["event"] == "data"), {})
    sections = {
        "Trained on": trained_on(predictor, data),
        "Figures": figures(predictor),
        "Settings": settings(predictor),
        "How to use it": usage(predictor),
        "Limits": limits(predictor, events),
    }
    title = f"# {escaped(predictor.spec)}, a model of {escaped(predictor.task.name)}"
    first = f"{escaped(predictor.task.question).capitalize()} Fitted by Seriatim {__version__}."
    parts = [f"## {name}\n\n" + "\n".join(lines) for name, lines in sections.items()]
    return "\n\n".join([title, first, *parts]) + "\n"


def told(*folders: Path | None) -> list[dict[str, Any]]:
    """The events of the fit, from the first of these folders that has any."""
    for folder in folders:
        if folder is not None and (folder / "events.jsonl").is_file():
            several = list(events_of(folder))
            return [each for each in several if isinstance(each, dict) and "event" in each]
    return []


def escaped(words: Any) -> str:
    """Words from anywhere as one line of Markdown that means nothing else."""
    line = " ".join(str(words).encode("utf-8", "replace").decode().split())
    line = "".join(letter if letter.isprintable() else "·" for letter in line)
    line = "".join("\\" + letter if letter in SPECIAL else letter for letter in line)
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def table(rows: Mapping[str, Any]) -> Iterator[str]:
    """Names and values."""
    if rows:
        yield from ("| | |", "|---|---|")
    for name, value in rows.items():
        words = f"{value:,.6g}" if isinstance(value, float) else value
        words = f"{value:,}" if isinstance(value, int) else words
        yield f"| {escaped(name)} | {escaped(words)} |"


def trained_on(predictor: Predictor, data: Mapping[str, Any]) -> Iterator[str]:
    """What is known of the data: no more than the name of its file."""
    if not data:
        yield f"Data in memory, by {escaped(predictor.by)}; the fit kept no log."
        return
    yield from table(
        {
            "data": Path(str(data.get("train"))).name,
            "cut by": data.get("by"),
            "sequences": data.get("sequences"),
            f"{data.get('unit')}s": data.get("symbols"),
            f"{data.get('unit')}s held out for validation": data.get("valid_symbols"),
            "vocabulary": data.get("vocabulary"),
        }
    )


def figures(predictor: Predictor) -> Iterator[str]:
    """How the fit ended, and what that says."""
    metrics = predictor.metrics
    yield from table({words: metrics[key] for key, words in ENDED.items() if metrics.get(key)})
    judged = f" ({escaped(metrics['per'])})" if metrics.get("per") else ""
    yield ""
    if metrics.get("valid") is not None:
        yield (
            f"The figure on validation data{judged} chose among updates, so that it is a little too "
            "good. No figure on a test stands here: `seriatim evaluate RUN FILE` measures one, with "
            "its interval and its protocol."
        )
    else:
        yield (
            "Nothing was held out, so that no figure is known: `seriatim evaluate RUN FILE` measures "
            "one, with its interval and its protocol."
        )


def settings(predictor: Predictor) -> Iterator[str]:
    """What differs from the defaults of all models; config.toml has everything."""
    found: dict[str, Any] = {}
    records = [("reading", predictor.reading), ("codec", predictor.codec.options)]
    for part in predictor.parts:
        records += [(part.name, part.options), (f"{part.name}, training", part.training)]
    for name, options in records:
        found |= {f"{name}: {key}": value for key, value in changed(options).items()}
    yield "What differs from the defaults; `config.toml` has every setting.\n"
    yield from table(found)


def usage(predictor: Predictor) -> Iterator[str]:
    """The verbs of its room."""
    yield "RUN stands for this folder.\n\n```python"
    yield 'import seriatim as st\n\nmodel = st.load("RUN")\n```\n'
    for name, verb in predictor.task.verbs.items():
        if verb.runs:
            yield f"- `model.{name}(...)`, `seriatim {name} RUN ...`: {escaped(verb.summary)}"


def limits(predictor: Predictor, events: list[dict[str, Any]]) -> Iterator[str]:
    """What the run itself says against it, and what it cannot know."""
    metrics = predictor.metrics
    if metrics.get("unfinished"):
        yield "- Unfinished: it learned too little for its figures to be a verdict."
    elif metrics.get("improving"):
        yield "- It was still improving when the fit ended."
    said = [event.get("words") for event in events if event["event"] in ("warning", "note")]
    yield from (f"- {escaped(words)}" for words in list(dict.fromkeys(said))[:MOST_NOTES])
    yield (
        "- It knows what its training data show, and may repeat it: whose data these are, and "
        "whether they may be shared, is not written down here. Say so before you pass it on."
    )
    yield "- On data of another kind its figures do not hold; measure them there."
