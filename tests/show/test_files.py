"""Results in files: what the ending says, and nothing else."""

from __future__ import annotations

import json

import numpy as np
import pytest

import seriatim as st
from seriatim.data.formats.svg import read_svg
from seriatim.errors import ConfigError
from seriatim.show.files import keep

DRAWING = [[5.0, 0.0, 0.0], [0.0, 5.0, 0.0], [-5.0, 0.0, 1.0]]
TEXTS = {"items": [{"text": "one"}, {"text": "two"}]}


def test_texts_are_lines(tmp_path):
    assert keep(TEXTS, tmp_path / "out.txt") == [str(tmp_path / "out.txt")]
    assert (tmp_path / "out.txt").read_text() == "one\ntwo\n"


def test_anything_is_json(tmp_path):
    for items in (TEXTS["items"], [{"numbers": [[1.0, 2.0]]}]):
        keep({"items": items}, str(tmp_path / "out.json"))
        assert json.loads((tmp_path / "out.json").read_text()) == items


def test_drawings_stand_in_a_grid(tmp_path):
    for columns in (None, 2):
        record = {"items": [{"numbers": DRAWING}] * 4, "columns": columns}
        keep(record, tmp_path / "out.svg")
        fields, *_ = read_svg(str(tmp_path / "out.svg"))
        assert np.asarray(fields["strokes"].flat).shape[1] == 3


def test_a_melody_each_has_a_file(tmp_path):
    one, two = {"text": "C4:1/4 D4:1/4"}, {"text": "E4:1/2"}
    assert keep({"items": [one]}, tmp_path / "a.mid") == [str(tmp_path / "a.mid")]
    several = keep({"items": [one, two]}, tmp_path / "a.mid")
    assert several == [str(tmp_path / "a-1.mid"), str(tmp_path / "a-2.mid")]
    assert st.read(several[1])[0]["tokens"] == ["E4:1/2"]


@pytest.mark.parametrize(
    "record, name, words",
    [
        (TEXTS, "x.svg", "only drawings"),
        (TEXTS, "x.mid", "only melodies"),
        ({"items": [{"numbers": DRAWING}]}, "x.txt", "the ending says"),
        ({"items": [{"numbers": [[1.0, 2.0]]}]}, "x.svg", "only drawings"),
        (TEXTS, "x.pdf", "the ending says"),
    ],
)
def test_what_a_format_cannot_hold_is_refused(record, name, words, tmp_path):
    with pytest.raises(ConfigError, match=words):
        keep(record, tmp_path / name)
    assert not list(tmp_path.iterdir())
