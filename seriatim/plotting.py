"""Pictures of runs, comparisons and data: the record of a verb, described by the room it comes from.

plot(run, subject, data, {"what": ...})    the verb: asks for the record, gives the Chart
drawn(record, what)                        the Chart of a record that is there
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seriatim.errors import ConfigError, RunError, SeriatimError, nearest
from seriatim.records import Record, record
from seriatim.settings import named
from seriatim.tasks import task, tasks
from seriatim.tasks.base import Picture

if TYPE_CHECKING:  # help names pictures, and must be light
    from seriatim.show.charts import Chart
    from seriatim.training.lesson import Judged

Event = dict[str, Any]
CURVES, AUDIT = "seriatim.show.curves:", "seriatim.audit.pictures:"
LEARNING, LEADERBOARD, CURVE = "learning", "leaderboard", "curve"

# Of every run, of every comparison, of all data: the kind of record each is drawn from.
COMMON: dict[str, Picture] = {
    LEARNING: Picture(LEARNING, CURVES + "learning", "how a fit learned"),
    LEADERBOARD: Picture("comparison", CURVES + "leaderboard", "each model with its interval"),
    "quality": Picture("comparison", CURVES + "quality", "quality against time"),
    CURVE: Picture("comparison", CURVES + "data_curve", "quality against data: --curve"),
    "time-curve": Picture("comparison", CURVES + "time_curve", "what more time would give"),
}
DATA = {"audit": Picture("check", AUDIT + "audit", "what data are like: lengths, symbols, labels")}
LOOKED = ("step", "seconds", "train", "valid", "rate", "gradient_norm", "clipped")
LEARNED = ("train", "gradient_norm", "clipped")  # what is known of updates that were made
WATCHED = ("analogies", "similarity")


def plot(
    do: Callable[..., Generator[Event, None, Any]], subject: Any, data: Any, asked: dict[str, Any]
) -> Generator[Event, None, Chart]:
    """Draw what is asked for (`what`), into a file where one is named (`out`), whose ending chooses
    the format; `do` is what gives the records: `seriatim.verbs.run`."""
    from seriatim.show.charts import beside, format_of

    what, out = asked.pop("what", ""), asked.pop("out", None)
    if out:
        format_of(out)  # before anything is computed
    runs = several_of(subject)
    if what in DATA:
        runs = [*parts_of(subject), *([] if data is None else [data])]
    else:
        check_kept(what, runs[0])
    what = what or usual(subject)
    if what in COMMON:
        yield {"event": "drawing"}
        chart = of_folder(what, runs, data, asked)
    elif what in DATA:
        chart = named(DATA[what].draw)((yield from do(DATA[what].verb, runs, None, **asked)))
    else:
        runs, picture = runs_of(what, runs)
        if len(runs) > 1 and not picture.several:
            raise ConfigError(f"{what} is drawn of one run", got=f"{len(runs)} runs", do="Give one")
        records = []
        for each in runs:
            records.append((yield from do(picture.verb, each, data, **asked)))
        chart = cautioned(named(picture.draw)(joined(records)), records[0])
        chart.notes = list(records[0].get("notes", ()))
    chart.what, chart.place = what, beside(folder_of(runs[0]), f"{what}.png")
    if out:
        chart.save(out)
    return chart


def drawn(found: Record, what: str = "") -> Chart:
    """The picture of a record; of several that it has the first, unless one is named."""
    pictures = pictures_of(found)
    if not pictures:
        others = ", ".join(task(found["task"]).pictures) if "task" in found else ""
        raise ConfigError(
            "there is no picture of this record",
            got=found.get("kind"),
            do=f"Draw one of these with `plot(run, data, what=NAME)`: {others}" if others else "",
        )
    if what and what not in pictures:
        raise ConfigError(
            "there is no such picture of this record", got=what, do=nearest(what, list(pictures))
        )
    chart = cautioned(named(pictures[what or next(iter(pictures))].draw)(found), found)
    chart.what = what or next(iter(pictures))
    return chart


def cautioned(chart: Chart, found: Record) -> Chart:
    """A picture that says what its figures are not about, where the record says so."""
    from seriatim.measuring.fingerprint import ALL, caution

    protocol = found.get("protocol") or {}
    for words in caution(protocol.get("seen_in_training"), protocol.get("seen_of", ALL)):
        chart.says += f" {words[:1].upper()}{words[1:]}."
    return chart


def pictures_of(found: Record) -> dict[str, Picture]:
    """The pictures of a record, by its kind and its task."""
    kind = found.get("kind")
    shared = {name: each for name, each in COMMON.items() if each.verb == kind}
    if not found.get("curve"):
        shared.pop(CURVE, None)
    shared |= DATA if kind == "audit" else {}
    if "task" not in found:
        return shared
    room = task(found["task"])
    return shared | {
        name: each
        for name, each in room.pictures.items()
        if room.verbs[each.verb].gives == found["kind"]
    }


def joined(records: list[Record]) -> Record:
    """The records of several runs as one, which has all of their lines."""
    found = records[0]
    for more in records[1:]:
        found["runs"] += more["runs"]
        found["notes"] += [words for words in more["notes"] if words not in found["notes"]]
    return found


def check_kept(what: str, subject: Any) -> None:
    """How a model learned is told by its folder, which one in memory has not."""
    if what in ("", *COMMON) and getattr(subject, "folder", subject) is None:
        raise RunError(
            f"there is no folder that tells what is drawn as {what or LEARNING}",
            got="a model in memory",
            do="fit(..., out=FOLDER) keeps how it learned; pictures of data are named by what=: "
            + ", ".join(subject.task.pictures),
        )


def several_of(subject: Any) -> list[Any]:
    """One run, or several."""
    return list(subject) if isinstance(subject, (list, tuple)) else [subject]


def parts_of(subject: Any) -> list[Any]:
    """Data: files, tables or sequences that were read, each a part; any other list is one thing, whose
    items are sequences."""
    from seriatim.data.objects import holds_columns
    from seriatim.data.sequences import Sequences

    if not isinstance(subject, (list, tuple)) or all(isinstance(each, Mapping) for each in subject):
        return [subject]
    whole = (str, Path, Sequences)
    apart = all(isinstance(each, whole) or holds_columns(each) for each in subject)
    return list(subject) if apart else [subject]


def usual(subject: Any) -> str:
    """What is drawn of a folder unless it is said."""
    folder = folder_of(several_of(subject)[0])
    return LEADERBOARD if (folder / "table.json").is_file() else LEARNING


def folder_of(subject: Any) -> Path:
    """The folder of a run or of a comparison; of what is in memory, the one we are in."""
    if isinstance(subject, (str, Path)):
        return Path(subject or ".")
    from seriatim.runs.predictor import Predictor

    return Path((subject.folder if isinstance(subject, Predictor) else None) or ".")


def runs_of(name: str, runs: list[Any]) -> tuple[list[Any], Picture]:
    """The runs, opened, and the picture on the card of their room; others' are refused with whose
    they are. A picture of data alone needs no run."""
    from seriatim.runs.predictor import Predictor
    from seriatim.tasks.opening import load

    known = {key: (room, each) for room in tasks() for key, each in room.pictures.items()}
    if name not in known:
        raise ConfigError(
            "there is no such picture", got=name, do=nearest(name, offered(runs, list(known)))
        )
    room, picture = known[name]
    if not room.verbs[picture.verb].runs:
        return runs, picture
    predictors = [each if isinstance(each, Predictor) else load(each) for each in runs]
    for each in predictors:
        if name not in each.task.pictures:
            homes = [other.name for other in tasks() if name in other.pictures]
            raise ConfigError(
                f"models of {each.task.name} have no picture {name!r}",
                got=f"a picture of models of {', '.join(homes)}",
                do="They have: " + ", ".join([LEARNING, *each.task.pictures]),
            )
    return predictors, predictors[0].task.pictures[name]


def offered(runs: list[Any], known: list[str]) -> list[str]:
    """The names of the pictures of these runs, or of a comparison; of data alone all that are
    known."""
    from seriatim.runs.predictor import Predictor
    from seriatim.tasks.opening import load

    if (folder_of(runs[0]) / "table.json").is_file():
        return [name for name in COMMON if name != LEARNING]
    try:
        opened = [each if isinstance(each, Predictor) else load(each) for each in runs]
    except SeriatimError:
        return [*COMMON, *DATA, *known]
    return [LEARNING, *dict.fromkeys(name for each in opened for name in each.task.pictures)]


# -- what a folder tells without being asked
def of_folder(what: str, runs: list[Any], data: Any, asked: dict[str, Any]) -> Chart:
    """How a run learned, or what a comparison found."""
    from seriatim.storage import read_json

    if len(runs) != 1 or data is not None or asked:
        raise ConfigError(
            f"{what} is drawn of one folder, without data",
            got=f"{len(runs)} folders" + (f", {', '.join(asked)}" if asked else ""),
            do="Say what else to draw with --what",
        )
    folder = folder_of(runs[0])
    try:
        if what == LEARNING:
            return named(COMMON[what].draw)(learning_of(folder))
        return named(COMMON[what].draw)(read_json(folder / "table.json"))
    except SeriatimError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        raise RunError(
            f"{folder} holds nothing that can be drawn as {what}",
            got=error,
            do="Give a folder that fit or compare wrote",
        ) from None


def learning_of(folder: Path) -> Record:
    """How a run learned: what every look at the validation data found, and how the fit ended. Of a
    mixture, the network that learned last."""
    from seriatim.runs.folder import events_of
    from seriatim.storage import read_json

    looks: list[dict[str, Any]] = []
    per, model, data = "nats per symbol", "", ""
    for event in events_of(folder):
        data = event.get("train", data) if event["event"] == "data" else data
        if event["event"] == "part":
            looks, model = [], event.get("model", "")
        if event["event"] == "validation":
            if event.get("step") is None:
                raise RunError(
                    f"the log of {folder.name} is damaged",
                    got="a look at the validation data without its update",
                    do="Fit the run again",
                )
            keys = [*LOOKED, *(name for name in WATCHED if name in event)]
            unknown = () if event["step"] else LEARNED  # before the first update
            looks.append({key: None if key in unknown else event.get(key) for key in keys})
        per = event.get("per", per)
    if not looks:
        raise RunError(
            f"{folder.name} has no learning curve",
            got="a model that counts, or a fit without validations",
            do="Plot a run of a neural model",
        )
    file = folder / "metrics.json"
    metrics = read_json(file) if file.is_file() else {}
    metrics = metrics if isinstance(metrics, dict) else {}
    judged = judged_in(metrics, per)
    for look in looks:
        look["valid"] = None if look["valid"] is None else judged.shown(look["valid"])
    told = {"per": judged.words, "higher": judged.higher, "least": judged.least}
    title = f"{model} on {Path(str(data)).name}" if model and data else folder.name
    return record(LEARNING, title=title, **told, ending=metrics.get("ending") or "", looks=looks)


def judged_in(metrics: dict[str, Any], per: str = "nats per symbol") -> Judged:
    """How the figure on validation data is said, as the metrics of a run keep it."""
    from seriatim.training.lesson import Judged

    words = metrics.get("per", per)
    return Judged(words, bool(metrics.get("higher")), metrics.get("judged_on"))
