"""The contact sheet has every picture, and the page shows the files that are there."""

from __future__ import annotations

import re

from seriatim.plotting import COMMON, DATA
from seriatim.tasks import TASKS, task
from tests.sheet import BEGIN, END, OF_COMPARISONS, PAGE, SHEET, SHOTS, file_of, page


def test_every_picture_of_every_room_is_drawn():
    rooms = {(room, name) for room in TASKS for name in task(room).pictures}
    drawn = {name for _, name in SHOTS}
    assert {name for _, name in rooms} <= drawn
    assert {(room, name) for room, name in SHOTS if room} <= rooms
    assert set(COMMON) <= drawn | set(OF_COMPARISONS)


def test_the_page_has_them_all_and_each_has_its_two_files():
    assert PAGE.read_text().split(BEGIN)[1].split(END)[0].strip() == page().strip()
    named = set(re.findall(r"sheet/([\w-]+\.png)", page()))
    assert named == {path.name for path in SHEET.glob("*.png")}
    assert {f"{file_of(*each)}-dark.png" for each in SHOTS} <= named
    assert {f"{name}-light.png" for name in DATA} <= named
