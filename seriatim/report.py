"""Results as one HTML page each that needs no network: of a comparison, of a fit, of an evaluation.

The answer stands on the first screen; then pictures with the tables behind them, samples, examples
on which the two best rungs disagree, what the figures rest on, and the commands that do it again.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

from seriatim import __version__
from seriatim.errors import SeriatimError
from seriatim.leaderboard import WINNER, alone_of, footnotes, learned, mark_of
from seriatim.measuring.fingerprint import seen_in_words
from seriatim.plotting import LEARNING, drawn, learning_of, pictures_of
from seriatim.records import Record
from seriatim.runs.predictor import Predictor
from seriatim.settings import named
from seriatim.show.charts import Chart
from seriatim.show.curves import (
    courses,
    data_curve,
    leaderboard,
    quality,
    time_curve,
    with_intervals,
)
from seriatim.show.pages import Section, page, table, text, written
from seriatim.show.progress import clock
from seriatim.show.tables import in_letters, short
from seriatim.storage import write_bytes
from seriatim.tasks.base import Figure, Task
from seriatim.training.ending import ended_in_words


def write_page(file: Path, content: str) -> None:
    """A page in a file, whatever names stand in it."""
    write_bytes(file, content.encode("utf-8", "xmlcharrefreplace"))


# -- a comparison
def comparison_page(record: Record, room: Task, folder: Path | None = None) -> str:
    """The page of a comparison; of one that is kept, with how its networks learned."""
    figures = room.ranked_by(record["figure"])
    scored = [r for r in record["rows"] if r["status"] == "ok" and r[record["figure"]] is not None]
    sections: list[Section] = []
    if scored:
        sections += [("Leaderboard", leaderboard(record))]
    sections += [("", standing(record, figures)), ("", notes_of(footnotes(record, room)))]
    if scored:
        sections += [("Quality against time", quality(record))]
    if record.get("curve"):
        sections += [("What more data would change", data_curve(record))]
    if any((row.get("course") or {}).get("predicted") for row in scored):
        sections += [("What more time would give", time_curve(record))]
    course = None if folder is None else course_of(record, folder)
    if course is not None:
        sections += [("How they learned", course)]
    sections += (
        [("In their own voice", voices(scored))] if any("sample" in r for r in scored) else []
    )
    if record["disagreements"]:
        sections += [("Where the two best disagree", disagreements(record))]
    sections += [
        ("Protocol", protocol(record["protocol"] or {})),
        ("Do it again", again(record, room)),
    ]
    return page(f"{Path(record['data']).name}: which model?", sections, head_of(record))


def head_of(record: Record) -> str:
    """What a comparison asked, how it was measured, and its answer."""
    name, minutes = Path(record["data"]).name, record["minutes"]
    budget = f"{minutes:g} minutes asked for" if minutes else "a fixed number of updates"
    return (
        f"<h1>Which model does {text(name)} deserve?</h1>"
        f'<p class="soft">{text(record["task"])} by {text(record["unit"])}, {budget}, '
        f"{record['seconds']:.0f} s taken, measured on held-out data; seriatim {text(record['seriatim'])}</p>"
        f'<p class="answer">{text(record["verdict"])}</p>'
    )


def standing(record: Record, figures: tuple[Figure, ...]) -> str:
    """The leaderboard as a table, with all that each rung cost."""
    rows, bounds = record["rows"], ["95 % interval"] if with_intervals(record) else []
    first, *others = figures[0], *(each for each in figures[1:] if each.shown)
    heads = ["", "model", first.title, *bounds, WINNER, *(each.title for each in others)]
    heads += ["fit", "updates", "epochs", "parameters", "size", "symbols / s"]
    words = {"model", "95 % interval", WINNER, ""}
    titles = "".join(
        f'<th scope="col" class="{"" if name in words else "number"}">{text(name) or "rank"}</th>'
        for name in heads
    )
    body = "\n".join(standing_row(i, row, first, others, heads) for i, row in enumerate(rows, 1))
    return (
        '<div class="wide broad" role="group" tabindex="0" aria-label="Leaderboard as a table">'
        f'<table class="whole"><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def standing_row(
    place: int, row: dict[str, Any], first: Figure, others: list[Figure], heads: list[str]
) -> str:
    """A row of it."""
    if row["status"] != "ok":
        words = f"{text(row['status'])}: {text(row['reason'])}"
        return (
            f'<tr class="failed"><td></td><td>{text(row["model"])}</td>'
            f'<td class="words" colspan="{len(heads) - 2}">{words}</td></tr>'
        )
    low, high = row["interval"][first.key] or (None, None)
    state = " (unfinished)" if row.get("unfinished") else ""
    state += alone_of(row)
    between = "" if low is None else f"{first.write(low)} to {first.write(high)}"
    cells = [
        ("", mark_of(place, row)),
        ("", row["model"] + state),
        ("number", first.write(row[first.key])),
        *([("", between)] if "95 % interval" in heads else []),
        ("", "" if row.get("unfinished") or not row["against"] else row["against"]["word"]),
        *(("number", each.beside(row.get(each.key))) for each in others),
        ("number", f"{row['seconds']:.1f} s"),
        *(("number", words) for words in learned(row)),
        ("number", short(row["parameters"])),
        ("number", short(row["size_bytes"]) + "B"),
        ("number", short(row["symbols_per_second"])),
    ]
    filled = "".join(f'<td class="{kind}">{text(words)}</td>' for kind, words in cells)
    return f'<tr class="{"best" if place == 1 else ""}">{filled}</tr>'


def course_of(record: Record, folder: Path) -> Chart | None:
    """How the networks of a comparison learned, on one picture; None where none did."""
    found = []
    for row in record["rows"]:
        if row["status"] != "ok" or not row.get("run") or row.get("updates") is None:
            continue
        try:
            found.append({"model": row["model"], **learning_of(folder / row["run"])})
        except (SeriatimError, OSError):
            continue
    return courses(found, record["rows"][0]["model"]) if found else None


def voices(rows: list[dict[str, Any]]) -> str:
    """What each model writes."""
    return "\n".join(
        f'<p class="soft">{text(row["model"])}</p><pre>{text_lines(row["sample"])}</pre>'
        for row in rows
        if row.get("sample")
    )


def text_lines(words: str) -> str:
    """A text of several lines as HTML."""
    return "\n".join(text(line) for line in words.split("\n"))


def disagreements(record: Record) -> str:
    """The items on which the two best rungs differ most."""
    found = record["disagreements"]
    first, second = found["first"], found["second"]
    titles = {"given": "given", "truth": "true", "first": first, "second": second}
    rows = [{titles[key]: words for key, words in each.items()} for each in found["items"]]
    return (
        '<div class="wide" role="group" tabindex="0" aria-label="Examples on which the two best '
        f'disagree">{table(rows, "whole")}</div>'
    )


def notes_of(words: list[str]) -> str:
    """Notes below a table."""
    return "".join(f'<p class="soft">{text(each)}</p>' for each in words)


def protocol(found: Mapping[str, Any]) -> str:
    """What the figures rest on."""
    rows = []
    for name, value in found.items():
        words = seen_in_words(value) if name == "seen_in_training" else str(value)
        rows.append(f"<dt>{text(name.replace('_', ' '))}</dt><dd>{text(words)}</dd>")
    return f"<dl>{''.join(rows)}</dl>"


def again(record: Record, room: Task) -> str:
    """The commands that do it again, and those that go on from here."""
    lines = [record["command"]]
    best = (record["recommendation"] or {"best": None})["best"]
    run = next((row.get("run") for row in record["rows"] if row["model"] == best), None)
    if run and record["out"]:
        lines.append(room.kept.format(run=shlex.quote(f"{record['out']}/{run}")))
    return f"<pre>{text_lines(chr(10).join(lines))}</pre>"


def command_of(verb: str, words: list[str], asked: Mapping[str, Any]) -> str:
    """What would be typed for this."""
    flags = []
    for name, value in asked.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False or value == "":
            continue
        several = value if isinstance(value, list) else [value]
        flags += [flag] if value is True else [flag, *map(str, several)]
    return shlex.join(["seriatim", verb, *words, *flags])


def call_of(
    room: str, files: Mapping[str, list[str] | None], out: str, asked: Mapping[str, Any]
) -> str:
    """What would be written in Python to compare data in memory again: by the record, if it was
    kept."""
    more = {"repeat": out} if out else asked
    parts = [f"{part}={part}" for part in ("valid", "test") if part in files]
    words = [repr(room), "data", *parts, *(f"{name}={value!r}" for name, value in more.items())]
    return f"st.compare({', '.join(words)})  # in Python: the data came from memory"


def call_with(
    room: Task, files: Mapping[str, list[str] | None], specs: list[str], asked: Mapping[str, Any]
) -> str:
    """What would be written in Python for a comparison in which classes of the caller's own are."""
    own = {name: rung.code.__name__ for name, rung in room.rungs.items() if rung.own}
    models = ", ".join(own.get(name) or repr(name) for name in specs)
    named = {part: code_of(each) if each else part for part, each in files.items()}
    parts = [f"{part}={named[part]}" for part in ("valid", "test") if part in named]
    parts += [f"{name}={value!r}" for name, value in asked.items() if name != "models"]
    words = [repr(room.name), named.get("data", "data"), f"[{models}]", *parts]
    return f"st.compare({', '.join(words)})  # in Python, with your own {', '.join(own.values())}"


def code_of(files: list[str]) -> str:
    """Files as they are written in Python: one by its name."""
    return repr(files[0] if len(files) == 1 else files)


# -- a fit
FIGURE = {"valid", "said", "per", "higher", "judged_on"}  # said in one
ENDED_HOW = {"ending", "stopped", "improving", "unfinished", "interrupted"}  # said in one, too


def fit_page(predictor: Predictor, data: str, read: Mapping[str, Any]) -> str:
    """The page of a fit: what it is, how it learned, what it cost, with what settings; `read` is the
    event that says what was read."""
    metrics, task = predictor.metrics, predictor.task
    folder = predictor.folder
    sections: list[Section] = []
    if folder is not None and metrics.get("updates"):
        with suppress(SeriatimError):  # a fit without a look at validation data has no curve
            sections.append(("How it learned", drawn(learning_of(folder), LEARNING)))
    sections.append(("How it ended", protocol(ended(metrics))))
    sections += settings_of(predictor)
    if folder is not None:
        line = task.kept.format(run=shlex.quote(str(folder)))
        sections.append(("Go on", f"<pre>{text(line)}</pre>"))
    head = (
        f"<h1>{text(predictor.spec)}</h1>"
        f'<p class="soft">{text(what_it_is(predictor))}</p>'
        f'<p class="soft">{text(task.name)}: {text(task.question)} '
        f"Fitted on {text(data)}{text(amount(read))} in {seconds_of(metrics)}.</p>"
        f'<p class="answer">{text(answer_of(metrics, folder))}</p>'
    )
    return page(f"{predictor.spec} on {data}", sections, head)


def what_it_is(predictor: Predictor) -> str:
    """The ladder's words for each part of a model."""
    parts = predictor.parts
    several = [f"{part.name}: {part.rung.summary}" for part in parts]
    return "; ".join(several) if len(parts) > 1 else parts[0].rung.summary


def amount(read: Mapping[str, Any]) -> str:
    """': 1,200 words, 30 sequences', as far as it is known."""
    if not read:
        return ""
    several = "s" * (read["sequences"] != 1)
    return f": {read['symbols']:,} {read['unit']}s, {read['sequences']:,} sequence{several},"


def seconds_of(metrics: Mapping[str, Any]) -> str:
    """How long the fit took, all in all."""
    return f"{metrics['seconds']:.1f} s" if metrics["seconds"] < 100 else clock(metrics["seconds"])


def answer_of(metrics: Mapping[str, Any], folder: Path | None) -> str:
    """The figure on validation data, if there is one, and how the fit ended."""
    said = f"{metrics['said']} on validation data" if metrics.get("said") else ""
    ending = ended_in_words(metrics) or "It read all of its data at once, without updates"
    run = "RUN" if folder is None else shlex.quote(str(folder))
    none = f"No figure was measured: seriatim evaluate {run} FILE gives one"
    several = (said, ending) if said else (ending, none)
    return ". ".join(several) + "."


def ended(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """What a fit reached and cost, each figure as it is said elsewhere."""
    known: dict[str, Any] = {}
    if metrics.get("said"):
        known["on validation data"] = metrics["said"]
    if metrics.get("ending"):
        known["how it ended"] = ended_in_words(metrics)
    plain = {k: v for k, v in metrics.items() if isinstance(v, (str, int, float))}
    left = {k: v for k, v in plain.items() if k not in FIGURE | ENDED_HOW}
    if isinstance(left.get("seconds"), float):
        left["seconds"] = round(
            float(left["seconds"]), 3
        )  # a quick fit is not timed to microseconds
    return known | {k: written(v) for k, v in left.items()}


def settings_of(predictor: Predictor) -> Iterator[Section]:
    """The settings that this model has, group by group: of the codec those of its task, and of
    training none where a model counts."""
    coding = {each.name for each in fields(predictor.task.coding)}
    groups = [
        ("run", {"seriatim": __version__, "model": predictor.spec, "cut by": predictor.by}),
        ("reading", vars(predictor.reading)),
        ("codec", {k: v for k, v in vars(predictor.codec.options).items() if k in coding}),
    ]
    for part in predictor.parts:
        groups.append((part.name, vars(part.options)))
        if not part.counts:
            groups.append((f"{part.name}, training", vars(part.training)))
    for name, values in groups:
        given = {k: each for k, each in values.items() if each not in ("", None, (), [])}
        if given:
            yield (name, protocol(given))


# -- an evaluation
def evaluation_page(record: Record, room: Task) -> str:
    """The page of an evaluation: figures, every picture of its record, what they rest on."""
    sections: list[Section] = [("Figures", figures_of(record, room))]
    for name, picture in pictures_of(record).items():
        try:
            chart = drawn(record, name)
        except (SeriatimError, KeyError, TypeError):
            continue  # this record has not what the picture needs
        sections.append((picture.summary[:1].upper() + picture.summary[1:], chart))
    sections.append(("Protocol", protocol(record.get("protocol") or {})))
    figure = ranking_in(record, room)
    answer = ""
    if figure is not None:
        bounds = (record.get("interval") or {}).get(figure.key)
        between = (
            f", 95 % interval {figure.write(bounds[0])} to {figure.write(bounds[1])}"
            if bounds
            else ""
        )
        answer = f"{figure.write(record[figure.key])} {figure.words or figure.title}{between}"
    head = (
        f"<h1>{text(record['model'])} on {text(Path(str(record.get('data', ''))).name)}</h1>"
        f'<p class="soft">{text(record["task"])}: {text(room.question)}</p>'
        f'<p class="answer">{text(answer)}</p>{notes_of(record.get("notes", []))}'
    )
    return page(f"{record['model']}: evaluation", sections, head)


def ranking_in(record: Record, room: Task) -> Figure | None:
    """The figure that such a model is judged by: where the record has one that names a test of its
    own besides the first, that one (spans of tags), else the first."""
    known = [each for each in room.figures if record.get(each.key) is not None]
    tested = [each for each in known if each.test]
    return tested[-1] if tested else known[0] if known else None


def figures_of(record: Record, room: Task) -> str:
    """The figures of an evaluation, as the terminal shows them."""
    maker = next((each.table for each in room.verbs.values() if each.gives == record["kind"]), "")
    if not maker:
        return protocol({k: v for k, v in record.items() if isinstance(v, (int, float))})
    shown = named(maker)(record)
    words = shown if isinstance(shown, str) else in_letters(shown)
    inside = f"<pre>{text_lines(words)}</pre>"
    return f'<div class="wide" role="group" tabindex="0" aria-label="Figures">{inside}</div>'
