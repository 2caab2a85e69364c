"""What can be typed: for each verb its words and flags, and what they come to.

    parse(["predict", "runs/spam", "new.txt", "--top", "2"])
        -> Command("predict", subject="runs/spam", data=Path("new.txt"), asked={"top": "2"})

Verbs of runs are found on the card of the run's task; the folder tells which that is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from seriatim.audit.options import CheckOptions
from seriatim.cli.drawing import files_of, overview_of_pictures, picture_data, picture_flags
from seriatim.cli.flags import (
    Flag,
    Group,
    Parser,
    add_groups,
    group_of,
    merged,
    positionals,
    spelled_out,
)
from seriatim.errors import ConfigError, nearest
from seriatim.fitting_options import CompareOptions, FitOptions, OpeningOptions
from seriatim.models.ladder import OF_ANY
from seriatim.models.recipe import TrainingOptions
from seriatim.settings import names_of
from seriatim.tasks import TASKS, check_models, task, tasks
from seriatim.tasks.base import Task, Verb

FORMAT = Flag("format", "how the result is printed: table or json", "table", choices=())
RANKED_FORMAT = Flag("format", "how the result is printed: table, json or csv", "table", choices=())
STARTS = ("check", "compare", "completion", "fit", "leaderboard", "plot", "verify", "models")
KEEPING = {"fit": FitOptions, "compare": CompareOptions}
SUMMARIES = {
    "check": "What is wrong with data, before a model is fitted to it: one file, or the parts of a "
    "data set,\nthe one to learn from first.",
    "compare": "Which model does this data deserve? Fit every one with an equal budget and rank "
    "them on held-out data.",
    "completion": "A script that completes verbs, tasks, models and flags in a shell: bash, fish or zsh.",
    "leaderboard": "Rank runs that others made on one file that they do not have: a class, a competition.\n"
    "Each is called by the name of its folder. Nothing of what stands in the file is shown.",
    "fit": "Fit one model and keep it in a run folder. Ctrl-C keeps the best so far.",
    "plot": "Draw a run's learning curve, a comparison's quality against time, or what another "
    "verb shows (--what).",
    "verify": "Whether a run folder, or every run of a comparison, is what was written: checksums, "
    "and the model\nthat the files make. Nothing is changed.",
    "models": "All models of a task with one line each, or all settings of one.",
}


@dataclass
class Command:
    """A command that was understood."""

    verb: str
    subject: Any = None
    data: Any = None
    asked: dict[str, Any] = field(default_factory=dict)
    format: str = "table"
    out: str = ""  # where the results of a verb are written
    room: Task | None = None
    help: str = ""  # asked for instead of the deed


def all_verbs() -> dict[str, list[Task]]:
    """The verbs of all rooms, and whose they are."""
    found: dict[str, list[Task]] = {}
    for room in tasks():
        for name in room.verbs:
            found.setdefault(name, []).append(room)
    return found


def parse(arguments: list[str]) -> Command:
    """What a command line means. Nothing is read, opened or computed but the card of its task."""
    verb, *rest = arguments
    wants_help = "--help" in rest or "-h" in rest
    if verb in STARTS:
        return BUILDERS[verb](verb, rest, wants_help)
    rooms = all_verbs().get(verb)
    if rooms is None:
        raise ConfigError(f"there is no verb {verb!r}", do=nearest(verb, [*STARTS, *all_verbs()]))
    return of_run(verb, rooms, rest, wants_help)


def understood(
    parser: Parser, groups: list[Group], rest: list[str], format: Flag = FORMAT
) -> dict[str, Any]:
    """The arguments by name; a flag that is not known is refused with where it belongs."""
    flags = add_groups(parser, [*groups, Group("output", [format])])
    found, unknown = parser.parse_known_intermixed_args(spelled_out(rest, flags))
    if unknown:
        raise unknown_flag(unknown, flags)
    given = vars(found)
    forms = ("table", "json", *["csv"] * (format is RANKED_FORMAT))
    if given.get("format", "table") not in forms:
        ways = "as a table, JSON or csv" if "csv" in forms else "as a table or as JSON"
        raise ConfigError(f"results are printed {ways}", got=given["format"])
    return given


def unknown_flag(unknown: list[str], flags: Mapping[str, Flag]) -> ConfigError:
    """What is not understood, and what may have been meant."""
    word = unknown[0].split("=")[0]
    if not word.startswith("-"):
        hint = "A file to write is named with --out" if "--out" in flags else "Leave it out"
        return ConfigError("nothing more is read here", got=" ".join(unknown), do=hint)
    verb = word.removeprefix("--")
    if verb in (*STARTS, *all_verbs()):
        do = f"{verb} is a verb of its own: see `seriatim {verb} --help`"
        return ConfigError(f"{word} is not a flag here", got=" ".join(unknown), do=do)
    homes = homes_of(word)
    if homes:
        do = f"It belongs to {homes}{beside(word, flags)}"
        return ConfigError(f"{word} is not a flag here", got=" ".join(unknown), do=do)
    return ConfigError(f"unknown: {' '.join(unknown)}", do=nearest(word, [*flags, "--help"]))


def homes_of(flag: str) -> str:
    """Where a flag belongs, in words; nothing if nowhere."""
    name, found = flag.removeprefix("--").replace("-", "_"), []
    for room in tasks():
        models = [m for m, rung in room.rungs.items() if name in names_of(rung.options)]
        if models:
            found.append(f"fit {room.name} {models[0]}")
        elif any(name in names_of(cls) for cls in (room.reading, room.coding, room.fitting)):
            found.append(f"fit {room.name}")
        for verb, each in room.verbs.items():
            if name in names_of(each.options):
                found.append(f"{verb} of models of {room.name}")
    if name in names_of(TrainingOptions):
        found.insert(0, "models that are trained")
    found[:0] = [verb for verb, cls in KEEPING.items() if name in names_of(cls)]
    return ", ".join(found[:4])


def beside(flag: str, flags: Mapping[str, Flag]) -> str:
    """Of the flags by which a fit is kept, when it is one of them: which there are here."""
    kept = [f"--{name}" for name in sorted(names_of(FitOptions))]
    here = [each for each in kept if each in flags]
    return f"; here there are {', '.join(here)}" if flag in kept and here else ""


def ladder_flags(room: Task, spec: str) -> list[Group]:
    """The settings of a model, or of all models of a room, with their real defaults."""
    several = [room.rungs[name] for name in spec.split("+")] if spec else list(room.rungs.values())
    own = merged("model", ((each.options, each.settings) for each in several))
    trained = [each for each in several if not each.counts]
    if not trained:
        shared = [f for f in group_of("training", TrainingOptions).flags if f.name in OF_ANY]
        return [own, Group("training", shared)]
    return [own, merged("training", ((TrainingOptions, each.training) for each in trained))]


def data_flags(room: Task) -> list[Group]:
    """How data are read and become numbers, in this room."""
    unit = {"unit": room.usual_unit} if room.usual_unit else {}
    return [group_of("data", room.reading), group_of("symbols and numbers", room.coding, unit)]


def fit_command(verb: str, rest: list[str], wants_help: bool) -> Command:
    """fit TASK MODEL FILE [FILE] ..."""
    leading = leading_words(rest)
    room = task(leading[0]) if leading else None
    spec = leading[1] if len(leading) > 1 else ""
    if room is not None and spec:
        check_models(room, spec)
        room.parts(spec, {})
    parser = Parser(
        prog=" ".join(["seriatim", verb, *leading[:2]]),
        usage=f"seriatim {verb} TASK MODEL FILE [FILE] [flags]",
        description=about(verb, room, spec),
        epilog=f"example:\n  {room.example}" if room else overview_of_tasks(),
        add_help=False,
    )
    parser.add_argument("task", metavar="TASK", nargs="?", help=", ".join(TASKS))
    models = ", ".join(room.rungs) if room else "see `seriatim models`"
    parser.add_argument("model", metavar="MODEL", nargs="?", help=f"{models}; a+b is a mixture")
    parser.add_argument(
        "file", metavar="FILE", nargs="*", help="training data; - is standard input"
    )
    groups = [
        Group("fit", [Flag("valid", "validation data (default: a part of FILE)", None, many=True)])
    ]
    groups[0].flags += group_of("fit", FitOptions).flags
    if room is not None:
        groups[0].flags += group_of("fit", room.fitting).flags
        groups += data_flags(room) + ladder_flags(room, spec)
    if wants_help:
        add_groups(parser, [*groups, Group("output", [FORMAT])])
        return Command(verb, help=parser.format_help(), room=room)
    given = understood(parser, groups, rest)
    name, model, files = (given.pop(key) for key in ("task", "model", "file"))
    if not (name and model and files):
        raise ConfigError(
            "fit needs a task, a model and data",
            got=" ".join(rest) or "nothing",
            do="Type `seriatim fit TASK MODEL FILE`; see `seriatim fit --help`",
        )
    if "valid" in given:
        given["valid"] = files_of(given["valid"])
    form = given.pop("format", "table")
    return Command(verb, name, files_of(files), given | {"model": model}, form, room=room)


def compare_command(verb: str, rest: list[str], wants_help: bool) -> Command:
    """compare TASK FILE [FILE] ..."""
    leading = leading_words(rest)
    room = task(leading[0]) if leading else None
    parser = Parser(
        prog=" ".join(["seriatim", verb, *leading[:1]]),
        usage=f"seriatim {verb} TASK FILE [FILE] [flags]",
        description=about(verb, room, ""),
        epilog="example:\n  seriatim compare language book.txt --minutes 3",
        add_help=False,
    )
    compared = [each.name for each in tasks() if each.figures]
    parser.add_argument("task", metavar="TASK", nargs="?", help=", ".join(compared))
    parser.add_argument("file", metavar="FILE", nargs="*", help="the data; a tenth is the test")
    others = [
        Flag("valid", "validation data (default: a part of FILE)", None, many=True),
        Flag("test", "test data: all of FILE is then for training", None, many=True),
    ]
    groups = [Group("compare", [*others, *group_of("compare", CompareOptions).flags])]
    if room is not None:
        own = [flag for flag in ladder_flags(room, "")[1].flags if flag.name != "minutes"]
        groups += [group_of("fit", room.fitting), *data_flags(room)]
        groups += [ladder_flags(room, "")[0], Group("training", own)]
    if wants_help:
        add_groups(parser, [*groups, Group("output", [FORMAT])])
        return Command(verb, help=parser.format_help(), room=room)
    given = understood(parser, groups, rest)
    name, files = given.pop("task"), given.pop("file")
    if given.get("repeat"):
        name, files = repeated_words(given, name, files)
    if not (name and files):
        raise ConfigError(
            "compare needs a task and data",
            got=" ".join(rest) or "nothing",
            do="Type `seriatim compare TASK FILE`; see `seriatim compare --help`",
        )
    for part in ("valid", "test"):
        if part in given:
            given[part] = files_of(given[part])
    form = given.pop("format", "table")
    return Command(verb, name, files_of(files), given, form, room=room)


def repeated_words(given: dict[str, Any], name: str | None, files: list[str]) -> tuple[str, Any]:
    """The task and the files of a comparison that is done again, as said, or as its record says."""
    from seriatim.comparison.repeating import recorded

    found = recorded(given["repeat"])
    before = found["provenance"]
    for part in ("valid", "test"):
        named = before.get(f"{part}_files")
        if named and part not in given:
            given[part] = named
    if not files and not before.get("data_files"):
        raise ConfigError(
            "the data of this comparison came from memory, and are in no file",
            got=given["repeat"],
            do=f"In Python, `st.compare({found['task']!r}, data, repeat={given['repeat']!r})` repeats it;"
            " or name a file with the same data",
        )
    return name or found["task"], files or before.get("data_files") or []


def check_command(verb: str, rest: list[str], wants_help: bool) -> Command:
    """check FILE [FILE ...]"""
    parser = Parser(
        prog=f"seriatim {verb}",
        description=SUMMARIES[verb],
        epilog="example:\n  seriatim check train.tsv dev.tsv test.tsv --columns label,text",
        add_help=False,
    )
    parser.add_argument("file", metavar="FILE", nargs="*", help="the data; text is read by line")
    groups = [group_of("data", CheckOptions)]
    if wants_help:
        add_groups(parser, [*groups, Group("output", [FORMAT])])
        return Command(verb, help=parser.format_help())
    given = understood(parser, groups, rest)
    files, form = given.pop("file"), given.pop("format", "table")
    if not files:
        raise ConfigError("check reads data", got="nothing", do="Type `seriatim check FILE ...`")
    return Command(verb, [Path(file) for file in files], None, given, form)


def completion_command(verb: str, rest: list[str], wants_help: bool) -> Command:
    """completion SHELL"""
    parser = Parser(
        prog=f"seriatim {verb}",
        description=SUMMARIES[verb],
        epilog="example:\n  source <(seriatim completion bash)",
        add_help=False,
    )
    parser.add_argument("shell", metavar="SHELL", nargs="?", help="bash, fish or zsh")
    if wants_help:
        add_groups(parser, [Group("output", [FORMAT])])
        return Command(verb, help=parser.format_help())
    given = understood(parser, [], rest)
    if given["shell"] is None:
        raise ConfigError("no shell was named", do="Name one: bash, fish, zsh")
    return Command(verb, given["shell"], format=given.get("format", "table"))


def verify_command(verb: str, rest: list[str], wants_help: bool) -> Command:
    """verify RUN"""
    parser = Parser(
        prog=f"seriatim {verb}",
        description=SUMMARIES[verb],
        epilog="example:\n  seriatim verify runs/lstm",
        add_help=False,
    )
    parser.add_argument("run", metavar="RUN", nargs="?", help="a run folder, or a comparison's")
    if wants_help:
        add_groups(parser, [Group("output", [FORMAT])])
        return Command(verb, help=parser.format_help())
    given = understood(parser, [], rest)
    run, form = given.pop("run"), given.pop("format", "table")
    if run is None:
        raise ConfigError("verify looks at a run", got="nothing", do="Type `seriatim verify RUN`")
    return Command(verb, run, None, given, form)


def leaderboard_command(verb: str, rest: list[str], wants_help: bool) -> Command:
    """leaderboard FILE RUN [RUN ...]"""
    from seriatim.runs.task import task_of

    _, *runs = [*leading_words(rest), ""]
    name = next(filter(None, map(task_of, filter(None, runs))), None)
    rooms = [room for room in tasks() if room.figures] if name is None else [task(name)]
    parser = Parser(
        prog=f"seriatim {verb}",
        usage=f"seriatim {verb} FILE RUN [RUN ...] [flags]",
        description=SUMMARIES[verb],
        epilog="example:\n  seriatim leaderboard hidden.txt handed-in/anna handed-in/ben",
        add_help=False,
    )
    parser.add_argument("file", metavar="FILE", nargs="?", help="the data that all are measured on")
    parser.add_argument("run", metavar="RUN", nargs="*", help="run folders")
    groups = leaderboard_flags(rooms)
    if wants_help:
        add_groups(parser, [*groups, Group("output", [RANKED_FORMAT])])
        return Command(verb, help=parser.format_help())
    given = understood(parser, groups, rest, RANKED_FORMAT)
    file, several, form = given.pop("file"), given.pop("run"), given.pop("format", "table")
    if not (file and several):
        raise ConfigError(
            "a leaderboard needs a file and runs",
            got=" ".join(rest) or "nothing",
            do="Type `seriatim leaderboard FILE RUN [RUN ...]`",
        )
    return Command(verb, several, Path(file), given, form)


def leaderboard_flags(rooms: list[Task]) -> list[Group]:
    """How the file is read, what evaluations may be asked for, and how runs are opened."""
    asked = merged("evaluate", ((room.verbs["evaluate"].options, {}) for room in rooms))
    asked.flags = [flag for flag in asked.flags if flag.name != "against"]
    reading = merged("data (default: as each fit read its own)", ((r.reading, {}) for r in rooms))
    return [asked, reading, group_of("run", OpeningOptions)]


def models_command(verb: str, rest: list[str], wants_help: bool) -> Command:
    """models [MODEL] [--task TASK]"""
    parser = Parser(
        prog=f"seriatim {verb}",
        description=SUMMARIES[verb],
        epilog="example:\n  seriatim models lstm --task tag",
        add_help=False,
    )
    parser.add_argument("model", metavar="MODEL", nargs="?")
    groups = [Group("task", [Flag("task", f"one of {', '.join(TASKS)}", "")])]
    if wants_help:
        add_groups(parser, [*groups, Group("output", [FORMAT])])
        return Command(verb, help=parser.format_help())
    given = understood(parser, groups, rest)
    form = given.pop("format", "table")
    return Command(verb, given.pop("model"), None, given, form)


def plot_command(verb: str, rest: list[str], wants_help: bool) -> Command:
    """plot RUN [RUN ...] [FILE] --what PICTURE"""
    from seriatim.plotting import DATA
    from seriatim.runs.task import task_of

    leading = leading_words(rest)
    name = task_of(leading[0]) if leading else None
    rooms = list(tasks()) if name is None else [task(name)]
    known = {key: (room, p) for room in rooms for key, p in room.pictures.items()}
    parser = Parser(
        prog=f"seriatim {verb}",
        usage=f"seriatim {verb} RUN [RUN ...] [FILE] --what PICTURE [flags]",
        description=SUMMARIES[verb],
        epilog=overview_of_pictures(rooms),
        add_help=False,
    )
    parser.add_argument(
        "run", metavar="RUN", nargs="*", help="a run folder or that of a comparison; data, if any"
    )
    verbs = [room.verbs[p.verb] for room in rooms for p in room.pictures.values()]
    groups = picture_flags(rooms, list(known), verbs)
    if wants_help:
        add_groups(parser, [*groups, Group("output", [FORMAT])])
        return Command(verb, help=parser.format_help())
    given = understood(parser, groups, rest)
    words, form = given.pop("run"), given.pop("format", "table")
    what = given.get("what", "")
    room, picture = known.get(what, (None, None))
    card = None if room is None or picture is None else room.verbs[picture.verb]
    if not words and card is not None and not card.runs and card.reads == "nothing":
        return Command(verb, None, None, given, form)
    if not words:
        raise ConfigError("no run was named", got="nothing", do="Give a run folder")
    if what in DATA:
        return Command(verb, words, None, given, form)
    data, runs = picture_data(card, given), words
    if data is None and card is not None and card.reads == "data":
        runs, others = runs_and_files(words)
        data = files_of(others)
    return Command(verb, runs if len(runs) > 1 else runs[0], data, given, form)


def runs_and_files(words: list[str]) -> tuple[list[str], list[str]]:
    """Which words name runs, the first of them always, and which files of data."""
    from seriatim.runs.task import task_of

    files = [word for word in words[1:] if task_of(word) is None]
    return [word for word in words if word not in files], files


# -- verbs of runs
def of_run(verb: str, rooms: list[Task], rest: list[str], wants_help: bool) -> Command:
    """VERB RUN [FILE ...] or VERB RUN TEXT, with the flags of the run's task."""
    leading = leading_words(rest)
    room = room_of(verb, leading[0] if leading else None, rooms)
    chosen = [room] if room is not None else rooms
    card = chosen[0].verbs[verb]
    parser = Parser(
        prog=f"seriatim {verb}",
        usage=usage(verb, card),
        description="\n".join(
            f"{each.verbs[verb].summary} ({each.name})"
            if len(chosen) > 1
            else each.verbs[verb].summary
            for each in chosen
        ),
        epilog="example:\n" + "\n".join(f"  {each.verbs[verb].example}" for each in chosen),
        add_help=False,
    )
    add_words(parser, card)
    groups = verb_flags(verb, chosen)
    if wants_help:
        add_groups(parser, [*groups, Group("output", [FORMAT])])
        return Command(verb, help=parser.format_help(), room=room)
    given = understood(parser, groups, rest)
    form, out = given.pop("format", "table"), ""
    if "out" in given and "out" not in names_of(card.options):
        out = given.pop("out")
    if "with" in given:
        given["with_runs"] = given.pop("with")
    subject = given.pop("run", None) if card.runs else alone(card, verb, given)
    if subject is None and (card.runs or card.reads != "nothing"):
        raise ConfigError(
            f"{verb} is asked of a {'run' if card.runs else card.reads}",
            got="nothing",
            do=f"See `seriatim {verb} --help`",
        )
    return Command(verb, subject, words_of(card, verb, given), given, form, out, room)


def usage(verb: str, card: Verb) -> str:
    """How the verb is typed."""
    after = {"data": "[FILE ...]", "text": f"[{(card.argument or 'text').upper()}]", "file": "FILE"}
    words = ["RUN" if card.runs else "", after.get(card.reads, "")]
    return " ".join(["seriatim", verb, *filter(None, words), "[flags]"])


def add_words(parser: Parser, card: Verb) -> None:
    """The words of a verb: a run, and what it reads."""
    if card.runs:
        parser.add_argument(
            "run", metavar="RUN", nargs="?", help="a run folder, or a file that can be opened"
        )
    if card.reads == "text":
        name = (card.argument or "text").upper()
        parser.add_argument("typed", metavar=name, nargs="*", help="the text")
    elif card.reads in ("data", "file"):
        parser.add_argument("file", metavar="FILE", nargs="*", help="the data; - is standard input")


def verb_flags(verb: str, rooms: list[Task]) -> list[Group]:
    """The flags of a verb in some rooms."""
    cards = [each.verbs[verb] for each in rooms]
    groups = [merged(verb, ((each.options, {}) for each in cards))]
    first = cards[0]
    if first.reads == "text":
        groups[0].flags.append(Flag(first.argument or "text", "the text, as a flag", None))
    if first.reads == "data":
        groups[0].flags.append(
            Flag("text", "a text instead of a file; may be repeated", None, many=True)
        )
        groups.append(
            merged("data (default: as the fit read its own)", ((r.reading, {}) for r in rooms))
        )
    if first.runs:
        more = group_of("run", OpeningOptions).flags
        more.append(Flag("with", "further runs: the mean of all decides", None, many=True))
        if "out" not in {flag.name for flag in groups[0].flags}:
            more.append(Flag("out", "write the results: .json, .txt, .svg, .png, .mid", ""))
        if first.gives == "evaluation":
            more.append(Flag("report", "page to write about the evaluation: .html", ""))
        groups.append(Group("run", more))
    return groups


def alone(card: Verb, verb: str, given: dict[str, Any]) -> str | None:
    """What a verb that needs no run is asked of: a file, a text, or nothing."""
    if card.reads == "nothing":
        return None
    return only_file(verb, given.pop("file")) if card.reads == "file" else typed_in(card, given)


def typed_in(card: Verb, given: dict[str, Any]) -> str | None:
    """A text, as words or as a flag."""
    words, flag = given.pop("typed", []), given.pop(card.argument or "text", None)
    return flag if flag is not None else " ".join(words) if words else None


def words_of(card: Verb, verb: str, given: dict[str, Any]) -> Any:
    """What a verb reads, from words and flags."""
    if card.reads == "nothing" or not card.runs:
        return None
    if card.reads == "text":
        return typed_in(card, given)
    files, texts = given.pop("file", []), given.pop("text", None)
    if files and texts:
        raise ConfigError(
            "one thing is read at a time", got="a file and --text", do="Give one of them"
        )
    if card.reads == "file":
        return only_file(verb, files)
    return texts if texts else files_of(files)


def only_file(verb: str, files: list[str]) -> str:
    """The one file that a verb reads."""
    if len(files) != 1:
        got = " ".join(files) or "nothing"
        raise ConfigError(f"{verb} reads one file", got=got, do="Give one")
    return files[0]


def room_of(verb: str, run: str | None, rooms: list[Task]) -> Task | None:
    """The room of a run; None where there is no run yet, or it is not told by its folder."""
    if not rooms[0].verbs[verb].runs:
        return rooms[0]
    if run is None:
        return rooms[0] if len(rooms) == 1 else None
    from seriatim.runs.task import task_of

    name = task_of(run)
    if name is None:
        from seriatim.tasks.opening import load

        name = load(run).task.name
    room = task(name)
    if verb not in room.verbs:
        raise ConfigError(
            f"models of {room.name} have no verb {verb!r}",
            got=f"{run}, a model of {room.name}",
            do=f"They have: {', '.join(room.verbs)}. {verb} is for models of "
            + ", ".join(each.name for each in rooms),
        )
    return room


def leading_words(rest: list[str]) -> list[str]:
    """The words before the first flag; all words, if a flag comes first."""
    first = next((i for i, word in enumerate(rest) if word.startswith("-") and word != "-"), None)
    if first is None or first > 0:
        return rest[:first]
    switches = {
        "--" + each.name.replace("_", "-"): Flag(each.name, "", False, switch=True)
        for cls in all_records()
        for each in fields(cls)
        if isinstance(each.default, bool)
    }
    return positionals(rest, switches)


def all_records() -> Iterator[Any]:
    """Every record of options that a command may fill."""
    yield from (FitOptions, CompareOptions, OpeningOptions, CheckOptions, TrainingOptions)
    for room in tasks():
        yield from (room.reading, room.coding, room.fitting)
        yield from (rung.options for rung in room.rungs.values())
        yield from (verb.options for verb in room.verbs.values())


def about(verb: str, room: Task | None, spec: str) -> str:
    """What a command does, for its help."""
    words = SUMMARIES[verb]
    if room is not None:
        words += f"\n\n{room.name}: {room.question}"
        for name in filter(None, spec.split("+")):
            words += f"\n{name}: {room.rungs[name].summary}"
    return words


def overview_of_tasks() -> str:
    """The tasks, a line each."""
    rows = "\n".join(f"  {room.name:11} {room.question}" for room in tasks())
    more = "`seriatim fit TASK --help` and `seriatim fit TASK MODEL --help` tell more."
    return f"tasks:\n{rows}\n\n{more}\n\nexample:\n  {next(tasks()).example}"


BUILDERS = {
    "fit": fit_command,
    "compare": compare_command,
    "check": check_command,
    "completion": completion_command,
    "leaderboard": leaderboard_command,
    "models": models_command,
    "plot": plot_command,
    "verify": verify_command,
}
