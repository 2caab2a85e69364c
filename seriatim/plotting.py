"""Pictures of runs and comparisons: the record of a verb, drawn by the room it comes from."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

from seriatim.errors import ConfigError, RunError, nearest
from seriatim.records import Record, record
from seriatim.runs.folder import events_of
from seriatim.settings import named
from seriatim.show.charts import beside, format_of, learning_curve, quality
from seriatim.storage import read_json, write_bytes
from seriatim.tasks import tasks
from seriatim.tasks.base import Picture

Event = dict[str, Any]
LEARNING = "learning"  # what every run and every comparison has


def plot(
    do: Callable[..., Generator[Event, None, Record]],
    subject: Any,
    data: Any,
    asked: dict[str, Any],
) -> Generator[Event, None, Record]:
    """Draw what is asked for (`what`) into a file (`out`), whose ending chooses the format; `do` is
    what gives the records: `seriatim.verbs.run`."""
    what, out = asked.pop("what", LEARNING), asked.pop("out", None)
    runs = list(subject) if isinstance(subject, (list, tuple)) else [subject]
    if what == LEARNING:
        yield {"event": "drawing"}
        return learning(runs, data, asked, out)
    runs, picture = runs_of(what, runs)
    if len(runs) > 1 and not picture.several:
        raise ConfigError(f"{what} is drawn of one run", got=f"{len(runs)} runs", do="Give one")
    where = getattr(runs[0], "folder", runs[0]) or "."
    place = Path(out) if out else beside(where, f"{what}.png")
    format = format_of(place)
    records = []
    for each in runs:
        records.append((yield from do(picture.verb, each, data, **asked)))
    found = records[0]
    for more in records[1:]:
        found["runs"] += more["runs"]
        found["notes"] += [words for words in more["notes"] if words not in found["notes"]]
    write_bytes(place, named(picture.draw)(found, format))
    return found | {"picture": str(place)}


def runs_of(name: str, runs: list[Any]) -> tuple[list[Any], Picture]:
    """The runs, opened, and the picture on the card of their room; others' are refused with whose
    they are. A picture of data alone needs no run."""
    from seriatim.runs.predictor import Predictor
    from seriatim.tasks.opening import load

    known = {key: (room, each) for room in tasks() for key, each in room.pictures.items()}
    if name not in known:
        raise ConfigError(
            "there is no such picture", got=name, do=nearest(name, [LEARNING, *known])
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


def learning(runs: list[Any], data: Any, asked: dict[str, Any], out: Any) -> Record:
    """A run's learning curve, or a comparison's quality against time."""
    if len(runs) != 1 or data is not None or asked:
        raise ConfigError(
            "a learning curve is drawn of one folder, without data",
            got=f"{len(runs)} folders" + (f", {', '.join(asked)}" if asked else ""),
            do="Say what else to draw with --what",
        )
    folder = Path(getattr(runs[0], "folder", None) or runs[0])
    place = Path(out) if out else folder / "plot.png"
    format = format_of(place)
    try:
        if (folder / "table.json").is_file():
            drawn = quality(read_json(folder / "table.json"), format)
        else:
            drawn = learning_curve(list(events_of(folder)), folder.name, format)
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        raise RunError(
            f"{folder} holds nothing that can be drawn",
            got=error,
            do="Give a folder that fit or compare wrote",
        ) from None
    write_bytes(place, drawn)
    return record("picture", picture=str(place), notes=[])
