"""JSON Schemas of all records, found by looking at records: `python -m tests.schemas` writes them.

Every verb of every task is asked what `tests.examples` has, and a fit, a comparison and an audit are
made; what all records of a task and verb have in common is their schema. What an example cannot
show (a value that is null in all of them) stands in tables here.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from seriatim.comparison.running import Comparison
from seriatim.conforming import conform
from seriatim.fitting_options import CompareOptions
from seriatim.records import Record, plain
from seriatim.tasks import task as card_of
from seriatim.verbs import call
from tests.examples import EXAMPLES, Ask, Workshop
from tests.own import Again, Stumbling

FOLDER = Path(__file__).parent.parent / "docs" / "schemas"
DRAFT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]

# objects whose keys are data: labels, channels, levels, names of models
MAPS = {
    "unseen_labels",
    "classes",
    "channels",
    "condition",
    "quantiles",
    "coverage",
    "width",
    "past",
    "values",
    "shares",
    "tags",
    "signatures",
}
# floats that may be infinite, not a number or without meaning, and are null then
INFINITE = re.compile(
    "log_prob|score|nats_.*|bits.*|.*_bits|perplexity|excess|log_loss.*|interval|valid|mase|rmsse"
    "|r_squared|skill|crps|difference|bound_per_symbol|truth|mean|p|bleu.*|chrf|meteor|rouge.*|wer|seen_in_training|slot_seconds|test_share"
)
SOMETIMES = {
    "disagreements",
    "interval_errors",
    "best",
    "chosen_by",
    "margin_of",
    "above_floor",
    "valid_ties",
}  # null where there is nothing to tell, whatever the examples show
EACH = "each of "  # the key of what such an object holds
# what is null or empty in every example of some task and verb
UNSEEN: dict[str, Schema] = {
    "disagreements": {"type": "object"},
    "beside": {"type": "string"},
    "beside_alone": {"type": "boolean"},
    "pretrained": {"type": "string"},
    "unmixed": {"type": "string"},
    "curve": {"type": "object"},
    "by_seed": {"type": "array", "items": {"type": "number"}},
    "weights": {"type": "array", "items": {"type": "number"}},
    "references": {"type": "object"},
    "limits": {"type": "object"},
    "within_limits": {"type": "string"},
    "cheapest_equivalent": {"type": "string"},
    "recommendation": {"type": "object"},
    "against": {"type": "object"},
    "best": {"type": "string"},
    "margin_of": {"type": "string"},
    "chosen_by": {"type": "string"},
    "chosen_among": {"type": "array", "items": {"type": "string"}},
    "valid_ties": {"type": "number"},
    "above_floor": {"type": "boolean"},
    "course": {"type": "object"},
    "points": {"type": "object"},
    "moved": {"type": "number"},
    "last_doubling": {"type": "number"},
    "predicted": {"type": "array", "items": {"type": "object"}},
    "why": {"type": "string"},
    "chosen_on": {"type": "string"},
    "valid": {"type": "number"},
    "judged_on": {"type": "integer"},
    "end": {"type": "number"},
    EACH + "shares": {"type": "array", "items": {"type": "number"}},
    EACH + "unseen_labels": {"type": "integer"},
    "ending": {"type": "string"},
    "epochs": {"type": "number"},
    "improving": {"type": "boolean"},
    "slot_seconds": {"type": "number"},
    "symbols_seen": {"type": "integer"},
    "unfinished": {"type": "boolean"},
    "updates": {"type": "integer"},
    "entropy": {"type": "number"},
    "entropy_bits": {"type": "number"},
    "excess": {"type": "number"},
    "excess_bits": {"type": "number"},
    "folds": {"type": "integer"},
    "label": {"type": "string"},
    "minutes": {"type": "number"},
    "notes": {"type": "string"},
    "out": {"type": "string"},
    "pooled": {"type": "object"},
    "run": {"type": "string"},
    "seen_in_training": {"type": "number"},
    "syntactic": {"type": "number"},
    "valid_fingerprint": {"type": "string"},
    "test_fingerprint": {"type": "string"},
    "data_files": {"type": "array", "items": {"type": "string"}},
    "valid_files": {"type": "array", "items": {"type": "string"}},
    "test_files": {"type": "array", "items": {"type": "string"}},
}

BY_TIME = {"cheapest_equivalent", "why"}  # there or not by how long something took


LABELLED = {"classify": ("naive-bayes", ["predict"]), "tag": ("hmm", ["predict", "best"])}
LABELS = ((0, 1), (False, True), (0.5, 1.5))


# -- records
def records(workshop: Workshop, task: str) -> Iterator[tuple[str, Record]]:
    """All records of a task, each under its verb."""
    room, example = card_of(task), EXAMPLES[task]
    for verb, asks in example.asks.items():
        for ask in asks:
            roles = workshop.roles(task, ask) if room.verbs[verb].runs else ("",)
            yield from ((verb, asked(workshop, task, verb, ask, role)) for role in roles)
    yield from labelled(task)
    yield from further(task)
    for role in example.models:
        yield "fit", fitted(workshop, task, role)
    if room.figures:
        yield from (("compare", each) for each in compared(workshop, task))
        yield "leaderboard", ranked(workshop, task)


def labelled(task: str) -> Iterator[tuple[str, Record]]:
    """What is said with labels that are no texts, which only data in memory have."""
    for first, second in LABELS if task in LABELLED else ():
        several = [[first, second], [second, first]] * 2
        said = several if task == "tag" else [labels[0] for labels in several]
        model, verbs = LABELLED[task]
        predictor = call("fit", task, ([["a", "b"], ["b", "c"]] * 2, said), model=model)
        whole = {"probabilities": True} if task == "classify" else {}
        yield from ((verb, call(verb, predictor, ["a b"], **whole)) for verb in verbs)


def further(task: str) -> Iterator[tuple[str, Record]]:
    """What the files of the examples do not have: tags of numbers, and values that are vectors."""
    rows = [[[(s * 7 + t * 5) % 11 / 4, 0.5 * s] for t in range(1 + s % 3)] for s in range(60)]
    said: dict[str, tuple[str, list[Any]]] = {
        "tag": ("hmm", [["a" if row[0] < 1.2 else "b" for row in each] for each in rows]),
        "regress": ("linear", [[sum(row[0] for row in x), x[0][1], x[-1][0]] for x in rows]),
    }
    if task not in said:
        return
    model, targets = said[task]
    predictor = call("fit", task, (rows, targets), model=model)
    yield "predict", call("predict", predictor, rows[:3])
    yield "evaluate", call("evaluate", predictor, (rows, targets))
    if task == "regress":
        yield "compare", call("compare", task, (rows, targets), models="average,linear")


def asked(workshop: Workshop, task: str, verb: str, ask: Ask, role: str) -> Record:
    """What a verb gives."""
    data, options = workshop.data(task, ask.data), workshop.options(task, ask)
    if not role:
        return call(verb, data, **options)
    return call(verb, workshop.predictor(task, role), data, **options)


def fitted(workshop: Workshop, task: str, role: str) -> Record:
    """What `seriatim fit --format json` prints."""
    predictor = workshop.predictor(task, role)
    return predictor.record("fit", out=str(predictor.folder), **predictor.metrics)


def compared(workshop: Workshop, task: str) -> Iterator[Record]:
    """A comparison, with a model that failed besides."""
    role, room = next(iter(EXAMPLES[task].models)), card_of(task)
    settings = EXAMPLES[task].compared
    found = call("compare", task, workshop.train(task, role), **settings)
    bare = Comparison(room, CompareOptions(models=settings["models"]), {})
    without = bare.without(settings["models"].split(",")[0], "failed", "too little data")
    yield found | {"rows": [*found["rows"], plain(without)]}


def ranked(workshop: Workshop, task: str) -> Record:
    """Runs of others, one of which is not there."""
    ask = EXAMPLES[task].asks["evaluate"][0]
    runs = [workshop.run(task, role) for role in workshop.roles(task, ask)[:2]]
    several = [*runs, workshop.place(task) / "nobody"]
    return call(
        "leaderboard", several, workshop.data(task, ask.data), **workshop.options(task, ask)
    )


def audits(workshop: Workshop) -> Iterator[Record]:
    """Audits of one file, and of two parts."""
    for task in ("language", "classify", "tag"):
        train = workshop.train(task, "counted")
        yield call("check", [train])
        yield call("check", [train, workshop.file(task, "test")])
    copies = workshop.file("classify", "copies.tsv")
    yield call("check", [copies, workshop.train("classify", "counted")])
    yield call("check", [copies, copies])


def verifications(workshop: Workshop) -> Iterator[Record]:
    """Of a run that is whole, and of one that is not."""
    folder = workshop.run("language", "counted")
    yield call("verify", folder)
    copy = workshop.folder / "damaged"
    shutil.copytree(folder, copy, dirs_exist_ok=True)
    (copy / "codec.json").write_bytes(b"{}")
    (copy / "notes.txt").touch()
    (copy / "ids.npy").touch()
    yield call("verify", copy)


def conformances() -> Iterator[Record]:
    """Of a model that conforms, and of one that does not."""
    for cls in (Again, Stumbling):
        yield conform(cls)


# -- from records to schemas
def schema_of(kind: str, several: list[Record]) -> Schema:
    """The schema of all records of a task and verb."""
    wrong = {each["kind"] for each in several} - {kind}
    assert not wrong, f"{kind} expected, {wrong} found"
    return {"$schema": DRAFT, **inferred(several, "")}


def inferred(values: list[Any], key: str) -> Schema:
    """What all of these values are; `key` is what they stand under."""
    filled = [value for value in values if value is not None]
    if not filled or key in BY_TIME:
        return nullable(unseen(key))
    if key in ("kind", "version"):
        assert len(set(filled)) == 1, (key, set(filled))
        return {"const": filled[0]}
    kinds = {kind_of(value) for value in filled}
    if {"integer", "number"} <= kinds:
        kinds.remove("integer")
    found = [MAKERS[kind](of_kind(filled, kind), key) for kind in sorted(kinds)]
    schema = found[0] if len(found) == 1 else {"anyOf": found}
    infinite = "number" in kinds and INFINITE.fullmatch(key)
    missing = len(filled) < len(values) or key in SOMETIMES
    return nullable(schema) if missing or infinite else schema


def unseen(key: str) -> Schema:
    """What an example would show if it had any."""
    assert key in UNSEEN, f"{key!r} is null or empty in every example: see UNSEEN"
    return UNSEEN[key]


def nullable(schema: Schema) -> Schema:
    """The same, or null."""
    if "anyOf" in schema:
        return {"anyOf": [*schema["anyOf"], {"type": "null"}]}
    return {**schema, "type": [schema["type"], "null"]}


def kind_of(value: Any) -> str:
    """What JSON calls it."""
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}
    return names.get(type(value), "object")


def of_kind(values: list[Any], kind: str) -> list[Any]:
    """Those of this kind; whole numbers are numbers, too."""
    kinds = {kind, "integer"} if kind == "number" else {kind}
    return [value for value in values if kind_of(value) in kinds]


def array(values: list[list[Any]], key: str) -> Schema:
    """A list; the ends of an interval are two."""
    items = [each for value in values for each in value]
    lists = any(isinstance(each, list) for each in items)  # of several values one each
    pair = {"minItems": 2, "maxItems": 2} if key == "interval" and not lists else {}
    schema = inferred(items, key) if items else unseen(key)
    return {"type": "array", "items": schema, **pair}


def mapping(values: list[dict[str, Any]], key: str) -> Schema:
    """An object: of fixed keys, or of keys that are data."""
    if key == "asked":  # whatever settings there are
        return {"type": "object"}
    if key in MAPS:
        inside = [each for value in values for each in value.values()]
        more = inferred(inside, EACH + key) if inside else unseen(EACH + key)
        return {"type": "object", "additionalProperties": more}
    names = list(dict.fromkeys(name for value in values for name in value))
    under = {name: name if key != "interval" else inside_interval(name) for name in names}
    properties = {
        name: inferred([value[name] for value in values if name in value], under[name])
        for name in names
    }
    return {
        "type": "object",
        "properties": dict(sorted(properties.items())),
        "required": sorted(name for name in names if all(name in value for value in values)),
        "additionalProperties": False,
    }


def inside_interval(name: str) -> str:
    """The bounds of every figure are a pair."""
    return name if name == "confidence" else "interval"


def scalar(kind: str) -> Callable[[list[Any], str], Schema]:
    """A value without parts."""
    return lambda values, key: {"type": kind}


MAKERS: dict[str, Callable[[list[Any], str], Schema]] = {
    "array": array,
    "object": mapping,
    **{kind: scalar(kind) for kind in ("boolean", "integer", "number", "string")},
}


# -- files
def kinds() -> dict[tuple[str, str], str]:
    """The kind of record that each task and verb gives, as the cards say."""
    found = {("check", ""): "audit", ("verify", ""): "verification"}
    found |= {("conform", ""): "conformance"}
    for task in EXAMPLES:
        room = card_of(task)
        found |= {(task, verb): each.gives for verb, each in room.verbs.items()}
        found |= {(task, "fit"): "fit"}
        found |= {(task, "compare"): "comparison"} if room.figures else {}
        found |= {(task, "leaderboard"): "leaderboard"} if room.figures else {}
    return found


def schemas(workshop: Workshop) -> dict[str, Schema]:
    """All schemas by the names of their files."""
    known, seen = kinds(), dict[tuple[str, str], list[Record]]()
    for task in EXAMPLES:
        for verb, record in records(workshop, task):
            seen.setdefault((task, verb), []).append(record)
    seen["check", ""] = list(audits(workshop))
    seen["verify", ""] = list(verifications(workshop))
    seen["conform", ""] = list(conformances())
    return {
        file_of(*key): titled(key, unverified(key, schema_of(known[key], seen[key])))
        for key in known
    }


def unverified(key: tuple[str, str], schema: Schema) -> Schema:
    """The schema of what a run gives, which says so if its files were not checked, and in a note
    if heads were switched off."""
    task, verb = key
    if verb and verb not in ("fit", "compare", "leaderboard") and card_of(task).verbs[verb].runs:
        notes = {"notes": {"type": "array", "items": {"type": "string"}}}
        properties = notes | schema["properties"] | {"verified": {"const": False}}
        schema["properties"] = dict(sorted(properties.items()))
    return schema


def titled(key: tuple[str, str], schema: Schema) -> Schema:
    """With a title."""
    name = " ".join(filter(None, key))
    return {"$schema": schema.pop("$schema"), "title": f"seriatim: {name}", **schema}


def file_of(task: str, verb: str) -> str:
    """The name of its file."""
    return ".".join(filter(None, (task, verb))) + ".json"


def overview() -> str:
    """The table of all schemas."""
    rows = "\n".join(
        f"| {task if verb else ''} | {verb or task} | {kind} | [{file_of(task, verb)}]({file_of(task, verb)}) |"
        for (task, verb), kind in kinds().items()
    )
    return f"""# Schemas of records

What every verb gives, through every door, as JSON Schema (draft 2020-12), written by
`python -m tests.schemas`. `null` stands for infinity and for what is not a number, and an array of
more than 10,000 numbers is written as `{{"dtype", "shape", "base64"}}`.

| task | verb | kind | schema |
| --- | --- | --- | --- |
{rows}
"""


def texts(workshop: Workshop) -> dict[str, str]:
    """All files and what they hold."""
    found = {name: json.dumps(each, indent=1) + "\n" for name, each in schemas(workshop).items()}
    return found | {"README.md": overview()}


@cache
def workshop(which: int) -> Workshop:
    """One for all tests of a process; its folder goes when the process does."""
    kept = tempfile.TemporaryDirectory(prefix="seriatim-")
    made = Workshop(Path(kept.name), which)
    made.kept = kept
    return made


def main() -> None:
    """Write them."""
    made = texts(workshop(0))  # first, so that a mistake leaves what is there
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.json"):
        old.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    main()
