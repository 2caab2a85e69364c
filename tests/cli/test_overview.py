"""Help without cards says what the cards say."""

from textwrap import wrap

from seriatim.cli.overview import ROOMS
from seriatim.tasks import tasks

COMMON = ("evaluate", "predict", "generate", "score")  # told in the list above
WIDE = 118


def test_the_overview_has_every_task_and_every_verb():
    lines = []
    for room in tasks():
        lines.append(f"  {room.name:<12} {room.question}")
        more = ", ".join(name for name in room.verbs if name not in COMMON)
        lines += [f"{'':15}{line}" for line in wrap(more, WIDE - 15)]
    assert "\n".join(lines) + "\n" == ROOMS
