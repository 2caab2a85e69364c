"""The one door behind every door: what the command line, Python, HTTP and pages do is done here.

    run(verb, subject, data, **asked)     yields events and pieces as they come, returns the record
    call(verb, subject, data, **asked)    runs it to its end

The subject of `fit` and `compare` is the name of a task, of all other verbs a run: its folder, an
opened Predictor, or several that answer together. What a verb may be asked for is on the card of
its room, so nothing here names a task.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from inspect import isgenerator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seriatim.errors import ConfigError, extras, nearest, require
from seriatim.faces import Result
from seriatim.fitting_options import CompareOptions, FitOptions, OpeningOptions
from seriatim.progress import listening, passing
from seriatim.records import Record
from seriatim.settings import build, named, names_of
from seriatim.tasks import check_models, task, tasks
from seriatim.tasks.base import Task, Verb
from seriatim.tracking import guarded, logged, tracker

if TYPE_CHECKING:
    from seriatim.data.sequences import Sequences
    from seriatim.runs.predictor import Predictor, Source
    from seriatim.show.charts import Chart

Event = dict[str, Any]
Run = "Predictor | str | Path"
REPORT = "report"  # a page, which every evaluation may be asked for besides
TOGETHER = 512  # sequences that are asked about at a time, at least


# -- the door
def run(
    verb: str, subject: Any = None, data: Any = None, **asked: Any
) -> Generator[Event, None, Any]:
    """Do it: a generator of events, which returns a record; of `fit` the Predictor."""
    asked = {name: value for name, value in asked.items() if value is not None}
    if verb in STARTS:
        return (yield from STARTS[verb](subject, data, asked))
    found = standing_alone(verb)
    if found is not None:
        options: Any = build(found.options, asked, verb)
        if found.reads == "text" and not (subject is None or isinstance(subject, str)):
            raise ConfigError(f"{verb} reads one text", got=subject, do="Give the text")
        if found.reads == "nothing" and subject is not None:
            raise ConfigError(f"{verb} reads nothing", got=subject, do="Leave it out")
        given = () if found.reads == "nothing" else (subject,)
        return named(found.method)(
            *given, **{f.name: getattr(options, f.name) for f in fields(options)}
        )
    others = asked.pop("with_runs", ())
    names = [each.name for each in fields(OpeningOptions) if each.name in asked]
    how = build(OpeningOptions, {name: asked.pop(name) for name in names}, verb)
    predictor = opened(subject, others, how)
    if not predictor.verified:
        yield {"event": "note", "words": "the files of the run were not checked"}
    return (yield from ask(predictor, verb, data, asked))


def call(
    verb: str,
    subject: Any = None,
    data: Any = None,
    listen: Callable[[Event], None] | None = None,
    **asked: Any,
) -> Any:
    """Do it to its end; `listen` hears of every event. A record is given a face, and so are those
    that a fitted model will give."""
    return with_face(follow(run(verb, subject, data, **asked), listen), data)


def with_face(found: Any, data: Any = None) -> Any:
    """What a verb gave, as Python's door hands it out."""
    if isinstance(found, dict):
        return Result(found, data)
    from seriatim.runs.predictor import Predictor

    if isinstance(found, Predictor):
        found.face = Result
    return found


def follow(events: Generator[Event, None, Any], listen: Callable[[Event], None] | None) -> Any:
    """Run a generator of events to its end; an interrupt reaches it wherever it strikes."""

    def hear(event: Event) -> None:
        """Log it, and pass it on."""
        logged(event)
        if listen is not None:
            listen(event)

    with listening(hear), extras:
        try:
            event = next(events)
            while True:
                try:
                    hear(event)
                    event = next(events)
                except KeyboardInterrupt:
                    event = events.throw(KeyboardInterrupt())
        except StopIteration as end:
            return end.value


# -- verbs on a run
def opened(
    subject: Any, others: Sequence[Any] = (), how: OpeningOptions | None = None
) -> Predictor:
    """A run: its folder, an opened Predictor, or several whose models answer together."""
    from seriatim.runs.predictor import Predictor
    from seriatim.tasks.opening import load

    several = [*(subject if isinstance(subject, (list, tuple)) else [subject]), *others]
    asked = vars(how or OpeningOptions())
    found = [each if isinstance(each, Predictor) else load(each, **asked) for each in several]
    return found[0] if len(found) == 1 else found[0].joined(found[1:])


def ask(
    predictor: Predictor, name: str, data: Any, asked: Mapping[str, Any]
) -> Generator[Event, None, Record]:
    """One verb of an opened run."""
    verb = verb_of(predictor.task, name)
    reading, options = sorted_out(predictor, verb, name, asked)
    page = page_of(options.pop(REPORT, None))
    reader = reading_so(predictor, reading)
    if isinstance(options.get("against"), (str, Path)):
        options["against"] = opened(options["against"])
    method, given = getattr(reader, verb.method), material(reader, verb, name, data)
    found: Any = in_pieces(method, given[0], options) if verb.pieces else method(*given, **options)
    if isgenerator(found):
        found = yield from found
    result: Record = found
    folder = predictor.folder
    result = {**result, "run": None if folder is None else str(folder)}
    if page is not None:
        from seriatim.report import evaluation_page, write_page

        write_page(page, evaluation_page(result, predictor.task))
    return result


def reading_so(predictor: Predictor, reading: Mapping[str, Any]) -> Predictor:
    """The same one, which reads as it was told to."""
    if not reading:
        return predictor
    reader = copy.copy(predictor)  # others may be asking the same one
    whole = {**vars(predictor.reading), **reading}
    reader.reading = build(predictor.task.reading, whole, "data")
    return reader


def page_of(name: Any) -> Path | None:
    """The file of a report, if one is wanted."""
    if not name:
        return None
    if Path(name).suffix.lower() not in (".html", ".htm"):
        raise ConfigError("a report is a page", got=name, do="Give a name that ends in .html")
    require("pictures")
    return Path(name)


def verb_of(room: Task, name: str) -> Verb:
    """A verb of a room; another's is refused with the room it belongs to."""
    if name in room.verbs:
        return room.verbs[name]
    others = [each.name for each in tasks() if name in each.verbs]
    if others:
        raise ConfigError(
            f"models of {room.name} have no verb {name!r}",
            got=f"a verb of {', '.join(others)}",
            do="They have: " + ", ".join(room.verbs),
        )
    known = [*STARTS, *room.verbs]
    raise ConfigError(f"there is no verb {name!r}", do=nearest(name, known))


def standing_alone(name: str) -> Verb | None:
    """A verb that is asked of data and not of a run."""
    for room in tasks():
        if name in room.verbs and not room.verbs[name].runs:
            return room.verbs[name]
    return None


def sorted_out(
    predictor: Predictor, verb: Verb, name: str, asked: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """How the data are to be read, and what the verb is asked for, checked."""
    own = {each.name for each in fields(verb.options)}
    own |= {REPORT} if verb.gives == "evaluation" else set()
    known = (
        {each.name for each in fields(predictor.task.reading)} if verb.reads == "data" else set()
    )
    reading, options = {}, {}
    for key, value in asked.items():
        if key in own:
            options[key] = value
        elif key in known:
            reading[key] = value
        else:
            raise unknown_option(predictor.task, name, key, own | known)
    plain = {
        key: value
        for key, value in options.items()
        if isinstance(value, (str, int, float)) and key != REPORT
    }
    checked: Any = build(verb.options, plain, name)
    return reading, options | {key: getattr(checked, key) for key in plain}


def unknown_option(room: Task, verb: str, key: str, known: set[str]) -> ConfigError:
    """Why this cannot be asked for, and of what it can."""
    homes = [
        f"{each.name} {name}"
        for each in tasks()
        for name, other in each.verbs.items()
        if key in {f.name for f in fields(other.options)} and (each.name, name) != (room.name, verb)
    ]
    return ConfigError(
        f"{verb} of models of {room.name} has no option {key!r}",
        got=f"an option of {', '.join(homes[:4])}" if homes else None,
        do=nearest(key, sorted(known)) if known else "Leave it out: there are no options",
    )


def material(predictor: Predictor, verb: Verb, name: str, data: Any) -> tuple[Any, ...]:
    """What the method of a verb is given besides its options."""
    if verb.reads == "nothing":
        if data is not None:
            raise ConfigError(f"{name} reads no data", got=data, do="Leave it out")
        return ()
    if verb.reads in ("text", "file"):
        if data is None and verb.optional:
            return ()
        if not isinstance(data, (str, Path)) and not (verb.fields and isinstance(data, Mapping)):
            what = verb.argument or verb.reads
            raise ConfigError(f"{name} reads one {what}", got=data, do=f"Give the {what}")
        return (data,)
    if data is None:
        raise ConfigError(
            f"{name} reads data", got="nothing", do="Give a file, or what is in memory"
        )
    return (predictor.data(data, gaps=verb.gaps),)


def in_pieces(
    method: Callable[..., Record], data: Sequences, options: Mapping[str, Any]
) -> Generator[Event, None, Record]:
    """The same, some sequences at a time: items come as they are found."""
    many = max(TOGETHER, len(data) // 100)
    cuts = range(0, max(1, len(data)), many)
    whole: Record | None = None
    for begin in passing("asking", cuts):
        found = method(data[begin : begin + many], **options)
        yield {"event": "items", "items": found["items"], "record": found}
        if whole is None:
            whole = found
        else:
            whole["items"] += found["items"]
            known = whole.setdefault("notes", [])
            known += [words for words in found.get("notes", ()) if words not in known]
    assert whole is not None
    return whole


# -- verbs on a task
def fit(room: Any, data: Source, asked: dict[str, Any]) -> Generator[Event, None, Predictor]:
    """Fit one model; the Predictor is returned."""
    from seriatim.fitting import fit_events

    card = room if isinstance(room, Task) else task(room)
    given, valid = asked.pop("model", ""), asked.pop("valid", None)
    if not given:
        raise ConfigError("no model was named", do="Name one: " + ", ".join(card.rungs))
    card, (model,) = with_own(card, [given])
    check_models(card, model)
    check_there("fit", data)
    if valid is not None:
        refuse_apart(card, data, valid)
    page = page_of(asked.get("report"))
    fitting = fit_events(card, model, data, valid, asked)
    if page is None:
        return (yield from tracked(fitting, asked))
    from seriatim.report import fit_page, write_page
    from seriatim.training.loop import relay

    read: Event = {}

    def noted(event: Event) -> Event:
        """The same event; the one that says what is read is kept for the page."""
        read.update(event if event["event"] == "data" else {})
        return event

    predictor = yield from tracked(relay(fitting, noted), asked)
    name = Path(str(data)).name if isinstance(data, (str, Path)) else "data in memory"
    write_page(page, fit_page(predictor, name, read))
    return predictor


def with_own(card: Task, models: Iterable[Any]) -> tuple[Task, list[str]]:
    """The card with classes of the caller's own beside its rungs, and all names."""
    several = list(models)
    if all(isinstance(each, str) for each in several):
        return card, several
    from seriatim.models.own import own_rungs

    shared = {"model", "models", "train", "valid", "test", "data", "progress", "on_event"}
    shared |= card.shared | names_of(FitOptions) | names_of(CompareOptions)
    names, own = own_rungs(several, card.rungs, shared)
    return replace(card, rungs={**card.rungs, **own}), names


def refuse_apart(room: Task, data: Any, valid: Any) -> None:
    """Refuse X and y that were given one after the other: the second is validation data."""
    from seriatim.data.objects import said_apart

    if said_apart(data, valid, room.cut.wants):
        raise ConfigError(
            "data and what is said of them are given together, as one",
            got="two things of the same length, one after the other",
            do="Give (X, y); validation data are valid=(X, y)",
        )


def check_there(verb: str, data: Any) -> None:
    """Refuse to begin without data."""
    if data is None:
        raise ConfigError(
            f"{verb} reads data", got="nothing", do="Give a file, or what is in memory"
        )


def compare(room: Any, data: Source, asked: dict[str, Any]) -> Generator[Event, None, Record]:
    """Fit every rung with an equal budget and rank them on held-out data."""
    from seriatim.comparison.repeating import repeated
    from seriatim.comparison.running import Comparison

    card = room if isinstance(room, Task) else task(room)
    require(card.extra)
    models = asked.get("models", "")
    if not isinstance(models, str):
        several = (
            models if isinstance(models, Iterable) and not isinstance(models, type) else [models]
        )
        card, names = with_own(card, several)
        asked["models"] = ",".join(names)
    if asked.get("repeat"):
        asked = repeated(card.name, asked)
    for name in filter(None, asked.get("models", "").split(",")):
        check_models(card, name.strip())
    check_there("compare", data)
    names = [each.name for each in fields(CompareOptions)]
    own = {name: asked.pop(name) for name in names if name in asked}
    options = build(CompareOptions, own, "compare")
    valid, test = asked.pop("valid", None), asked.pop("test", None)
    comparison = Comparison(card, options, asked)
    given = {"data": data, "valid": valid, "test": test}
    comparison.files = files_of(**{name: each for name, each in given.items() if each is not None})
    comparing = comparison.run(data, valid, test)
    return (yield from tracked(comparing, vars(options)))


def files_of(**sources: Any) -> dict[str, list[str] | None]:
    """The files that sources name; None of what is in memory, or not there."""
    from seriatim.data.objects import at_hand, files_in
    from seriatim.data.sequences import Sequences

    return {
        name: None if each is None or isinstance(each, Sequences) else files_in(at_hand(each))
        for name, each in sources.items()
    }


def tracked(
    events: Generator[Event, None, Any], asked: Mapping[str, Any]
) -> Generator[Event, None, Any]:
    """The same events, which a tracker hears, too, if one was asked for."""
    if not asked.get("track"):
        return (yield from events)
    from seriatim.training.loop import relay

    to = tracker(asked["track"], asked.get("out", ""))
    hear = guarded(to, asked["track"])

    def heard(event: Event) -> Event:
        """Tell the tracker of an event."""
        hear(event)
        return event

    try:
        return (yield from relay(events, heard))
    finally:
        guarded(lambda event: to.close(), asked["track"])({})


def check(files: Any, data: Any, asked: dict[str, Any]) -> Generator[Event, None, Record]:
    """What is wrong with data, before a model is fitted to it."""
    from seriatim.audit.check import check as look
    from seriatim.audit.options import CheckOptions

    options = build(CheckOptions, asked, "check")
    yield {"event": "checking"}
    several = files if isinstance(files, list) else [files]
    said = {name: value or None for name, value in vars(options).items()}
    return look(several, **said)


def leaderboard(runs: Any, data: Any, asked: dict[str, Any]) -> Generator[Event, None, Record]:
    """Rank runs that others made on one file: what is asked for is what evaluations may be asked."""
    from seriatim.comparison.board import Board

    check_there("leaderboard", data)
    names = names_of(OpeningOptions) & asked.keys()
    how = build(OpeningOptions, {name: asked.pop(name) for name in names}, "leaderboard")
    if "against" in asked:
        raise ConfigError("all are held against the first", got="--against", do="Leave it out")

    def read(predictor: Predictor) -> tuple[Predictor, dict[str, Any]]:
        """A run as it reads, and what its measuring is asked for besides."""
        verb = verb_of(predictor.task, "evaluate")
        reading, options = sorted_out(predictor, verb, "evaluate", asked)
        return reading_so(predictor, reading), options

    yield {"event": "measuring"}
    several = list(runs) if isinstance(runs, (list, tuple)) else [runs]
    return Board(several, lambda run: opened(run, how=how), read).filled(data)


def plot(subject: Any, data: Any, asked: dict[str, Any]) -> Generator[Event, None, Chart]:
    """Draw a picture: how a run learned, a comparison's leaderboard, or what a verb's record shows."""
    from seriatim.plotting import plot as draw

    return (yield from draw(run, subject, data, asked))


def verify(folder: Any, data: Any, asked: dict[str, Any]) -> Generator[Event, None, Record]:
    """Whether a run, or every run of a comparison, is what was written."""
    from seriatim.tasks.verifying import verify as look

    if asked:
        raise ConfigError("verify has no options", got=", ".join(asked), do="Leave them out")
    yield {"event": "checking"}
    return look(getattr(folder, "folder", folder))


STARTS: dict[str, Callable[..., Generator[Event, None, Any]]] = {
    "fit": fit,
    "compare": compare,
    "check": check,
    "leaderboard": leaderboard,
    "plot": plot,
    "verify": verify,
}
