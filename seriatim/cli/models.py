"""`seriatim models`: the ladders, and the settings of a rung with the defaults it really has."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from rich.table import Table
from rich.text import Text

from seriatim.errors import ConfigError, nearest
from seriatim.models.ladder import choose
from seriatim.models.recipe import TrainingOptions
from seriatim.records import Record, record
from seriatim.tasks import TASKS, check_models, task, tasks
from seriatim.tasks.base import Task


def models_record(model: str | None, name: str) -> tuple[Record, list[str]]:
    """The record, and what is to be said besides."""
    if model is None:
        rooms = [task(name)] if name else list(tasks())
        ladders = {r.name: {key: rung.summary for key, rung in r.rungs.items()} for r in rooms}
        return record("models", tasks=ladders), []
    room, notes = home_of(model, name)
    check_models(room, model)
    rungs = {key: settings_of(room, key) for key in model.split("+")}
    return record("settings", task=room.name, models=rungs), notes


def home_of(model: str, name: str) -> tuple[Task, list[str]]:
    """The room of a model: the one that is named, or the first that has it."""
    first = model.split("+")[0]
    having = [room.name for room in tasks() if first in room.rungs]
    if name:
        return task(name), []
    if not having:
        known = dict.fromkeys(key for room in tasks() for key in room.rungs)
        raise ConfigError(f"there is no model {first!r}", do=nearest(first, known))
    others = ", ".join(having[1:])
    words = (
        f"these are its settings for {having[0]}; {first} is also a model of {others}: add --task"
    )
    return task(having[0] or next(iter(TASKS))), [words] if others else []


def settings_of(room: Task, name: str) -> dict[str, Any]:
    """Every setting of a rung: its default, its help, its choices."""
    rung = room.rung(name)
    groups: list[tuple[type, dict[str, Any]]] = [(rung.options, rung.settings), (room.coding, {})]
    groups += [] if rung.counts else [(TrainingOptions, rung.training)]
    found = {}
    for cls, own in groups:
        chosen = choose(cls, own, {}, name)
        for each in fields(cls):
            found[each.name] = {
                "default": getattr(chosen, each.name),
                "help": each.metadata["help"],
                "choices": each.metadata["choices"],
            }
    if room.usual_unit and "unit" in found:
        found["unit"]["default"] = room.usual_unit
    return found


def models_table(found: Record) -> Table:
    """The record as a table."""
    table = Table(box=None, show_header=False, pad_edge=False)
    if found["kind"] == "models":
        for room, rungs in found["tasks"].items():
            table.add_row(Text(room, "dim"), "")
            for name, summary in rungs.items():
                table.add_row(Text(name, "bold"), summary)
        table.add_row("a+b", "a mixture of models, weights fitted on validation data")
        return table
    for name, settings in found["models"].items():
        for key, each in settings.items():
            value = "" if each["default"] is None else str(each["default"])
            choices = f" ({', '.join(map(str, each['choices']))})" if each["choices"] else ""
            first = [name] if len(found["models"]) > 1 else []
            table.add_row(*first, f"--{key.replace('_', '-')}", value, each["help"] + choices)
    return table
