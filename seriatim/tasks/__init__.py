"""The rooms: one literal row each, loaded when used. A new task is one folder and one row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from seriatim.errors import ConfigError, nearest
from seriatim.settings import named

if TYPE_CHECKING:
    from seriatim.tasks.base import Task

TASKS: dict[str, str] = {  # name -> its card
    "language": "seriatim.tasks.language:TASK",
    "classify": "seriatim.tasks.classify:TASK",
    "regress": "seriatim.tasks.regress:TASK",
    "tag": "seriatim.tasks.tag:TASK",
    "sets": "seriatim.tasks.sets:TASK",
    "marks": "seriatim.tasks.marks:TASK",
    "translate": "seriatim.tasks.translate:TASK",
    "forecast": "seriatim.tasks.forecast:TASK",
    "autoencode": "seriatim.tasks.autoencode:TASK",
    "words": "seriatim.tasks.words:TASK",
}


def task(name: str) -> Task:
    """The card of a room."""
    if name not in TASKS:
        raise ConfigError(f"there is no task {name!r}", do=nearest(name, TASKS))
    return named(TASKS[name])


def tasks() -> Iterator[Task]:
    """All cards."""
    return map(task, TASKS)


def check_models(room: Task, spec: str) -> None:
    """Refuse models that this room does not have, and tell which room has them."""
    for name in spec.split("+"):
        if name in room.rungs:
            continue
        others = [each.name for each in tasks() if name in each.rungs]
        if others:
            raise ConfigError(
                f"there is no model {name!r} for the task {room.name}",
                got=f"one of {others[0]}",
                do=nearest(name, room.rungs),
            )
        room.rung(name)
